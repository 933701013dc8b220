"""Every layer's derived messages, evaluated, against differences of its forward formula."""

import zlib

import numpy as np
import pytest

from derive.axes import axes, with_axes
from derive.calculus.derivation import Step
from derive.calculus.extremum import star_definitions
from derive.calculus.messages import jacobian, message, stages
from derive.numeric import vectorised
from derive.numeric.evaluator import evaluate
from tests.calculus.zoo import LAYERS, ZOO, Array, Layer, arrays_of

CASES = [pytest.param(layer, wrt, id=f"{layer.name}-{wrt}") for layer in LAYERS for wrt in layer.shapes]
H = 1e-6


def by_differences(layer: Layer, wrt: str, arrays: dict[str, Array]) -> Array:
    """∂y/∂x by central differences; output axes, then input axes."""
    module = layer.module()
    columns = []
    for at in np.ndindex(arrays[wrt].shape):
        up, down = arrays[wrt].copy(), arrays[wrt].copy()
        up[at] += H
        down[at] -= H
        columns.append((vectorised.forward(module, {**arrays, wrt: up}) - vectorised.forward(module, {**arrays, wrt: down})) / (2 * H))
    return np.stack(columns, axis=-1).reshape((*columns[0].shape, *arrays[wrt].shape))


def evaluated(layer: Layer, step: Step, wrt: str, arrays: dict[str, Array]) -> Array:
    module = layer.module()
    return vectorised.jacobian(module, (step.before, step.after), wrt, arrays, definitions=star_definitions(module))  # type: ignore


@pytest.mark.parametrize(("layer", "wrt"), CASES)
def test_the_messages_agree_with_differences(layer: Layer, wrt: str) -> None:
    module, rng = layer.module(), np.random.default_rng(zlib.crc32(layer.name.encode()))
    derived, back = jacobian(module, wrt), message(module, wrt)
    for _ in range(2):
        arrays = arrays_of(layer, rng)
        expected = by_differences(layer, wrt, arrays)
        if layer.ones and wrt not in layer.ones or not layer.ones:
            for step in (derived, *derived.premises):  # the simplified form and the raw one
                np.testing.assert_allclose(evaluated(layer, step, wrt, arrays), expected, rtol=1e-5, atol=1e-6)
        y = vectorised.forward(module, arrays)
        upstream = rng.normal(size=y.shape)
        wanted = np.tensordot(upstream, expected, upstream.ndim)
        for step in (back, *back.premises[:1]):
            found = vectorised.backward(module, (step.before, step.after), wrt, upstream, arrays, star_definitions(module))  # type: ignore
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("layer", "wrt"), CASES)
def test_every_step_concludes_again_what_it_says(layer: Layer, wrt: str) -> None:
    module = with_axes(layer.module())
    for step in (jacobian(module, wrt), message(module, wrt), *stages(module, wrt)):
        assert step.holds(module)


@pytest.mark.parametrize(("layer", "wrt"), CASES)
def test_the_stages_make_up_the_message(layer: Layer, wrt: str) -> None:
    module, rng = layer.module(), np.random.default_rng(1)
    arrays = arrays_of(layer, rng)
    y = vectorised.forward(module, arrays)
    upstream = rng.normal(size=y.shape)
    last = message(module, wrt)
    expected = vectorised.backward(module, (last.before, last.after), wrt, upstream, arrays, star_definitions(module))  # type: ignore
    found = vectorised.stagewise(module, [(s.before, s.after) for s in stages(module, wrt)], upstream, arrays,  # type: ignore
                                star_definitions(module))
    np.testing.assert_allclose(found[f"delta_{wrt}"], expected, rtol=1e-9, atol=1e-9)


def test_the_zoo_has_no_two_layers_of_one_name() -> None:
    assert len(ZOO) == len(LAYERS)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_the_loops_give_the_arrays_forward_values(layer: Layer) -> None:
    module, arrays = with_axes(layer.module()), arrays_of(layer, np.random.default_rng(2))
    places = axes(module)
    cells = {name: {tuple(i + places.origin(name, d) for d, i in enumerate(at)): float(a[at]) for at in np.ndindex(a.shape)}
             for name, a in arrays.items()}
    expected = vectorised.forward(module, arrays)
    found = evaluate(module, cells, {n: a.shape for n, a in arrays.items()})[module.output]
    assert len(found) == expected.size
    for at, value in found.items():
        place = tuple(i - places.origin(module.output, d) for d, i in enumerate(at))
        assert value == pytest.approx(expected[place])
