"""Layers that nobody thought of: random forward formulas against central differences."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.axes import axes
from derive.calculus.derivation import Step
from derive.calculus.messages import Messages
from derive.expr import Entry, Rel
from derive.module import Module
from derive.notation import gather, read
from derive.numeric import vectorised

EXTENTS = {"i": 3, "j": 4, "k": 2}
GIVEN = (("x", "j"), ("W", "kj"), ("b", "k"), ("a", ""), ("q", "j"), ("A", "ij"), ("c", "i"))
UNARY = (
    r"({})", r"\tanh({})", r"e^{{-({})^2}}", r"\log(1 + ({})^2)", r"\sqrt{{1 + ({})^2}}", r"|({})|", r"({})^3", r"(-({}))",
    r"\frac{{1}}{{1 + e^{{{}}}}}",
)  # fmt: skip
BINARY = (r"{} + {}", r"{} - ({})", r"({}) \cdot ({})", r"\frac{{{}}}{{2 + ({})^2}}", r"\max({}, {})", r"\min({}, {})",
          r"\left(\begin{{cases}} {} & \text{{if }} a > 0 \\ {} & \text{{otherwise}} \end{{cases}}\right)")
Known = tuple[tuple[str, str], ...]


def written(name: str, axes_: str) -> str:
    return f"{name}_{{{axes_}}}" if axes_ else name


@st.composite
def values(draw: st.DrawFn, free: str, known: Known, depth: int) -> str:
    """A formula whose free indices are among ``free``."""
    kind = draw(st.sampled_from(("atom", "unary", "binary", "binary", "sum", "max"))) if depth else "atom"
    rest = [letter for letter in EXTENTS if letter not in free]
    if kind == "unary":
        return draw(st.sampled_from(UNARY)).format(draw(values(free, known, depth - 1)))
    if kind == "binary":
        parts = [draw(values(free, known, depth - 1)) for _ in range(2)]
        return draw(st.sampled_from(BINARY)).format(*parts)
    if kind in ("sum", "max") and rest:
        v = draw(st.sampled_from(rest))
        weight = draw(st.sampled_from([written(*t) for t in known if v in t[1] and set(t[1]) <= {*free, v}]))
        return rf"\{kind}_{{{v}}} \left(({draw(values(free + v, known, depth - 1))}) \cdot {weight}\right)"
    return draw(st.sampled_from([written(*t) for t in known if set(t[1]) <= set(free)]))


@st.composite
def layers(draw: st.DrawFn) -> list[str]:
    """Definitions, each from what stands before it; every index of a left side stands on the right."""
    known: Known = GIVEN
    found = []
    for name in "shu"[: draw(st.integers(1, 3))]:
        free = draw(st.sampled_from(("", "k", "i", "j", "ik")))
        anchor = " + ".join(written(*next(t for t in GIVEN if t[1] == letter)) for letter in free)
        # A copy of one letter beside it is a tie everywhere: no point is off the kink.
        value = draw(values(free, known, 3) if free else values("", known, 3).filter(lambda v: not v.isalpha()))
        found.append(f"{written(name, free)} = {value}" + (f" + {anchor}" if anchor else ""))
        known = (*known, *((name, free),) * 6)
    return found


def module_of(formulas: list[str]) -> Module | None:
    table = gather(formulas)
    equations = [e for e in (read(f, table) for f in formulas) if isinstance(e, Rel)]
    defined = [e.terms[0].tensor for e in equations if isinstance(e.terms[0], Entry)]
    used = {s.name for s in table.symbols} & {name for name, _ in GIVEN}
    module = Module(tuple(equations), table, defined[-1], tuple(sorted(used)))
    return module if any(name in module.sources(t) for t in defined for name in used) else None


@settings(max_examples=40, deadline=None)
@given(layers(), st.integers(0, 2**32))
def test_every_message_of_a_random_layer_agrees_with_central_differences(formulas: list[str], seed: int) -> None:
    module = module_of(formulas)
    if module is None:
        return
    rng = np.random.default_rng(seed)
    known = dict(GIVEN)
    arrays = {n: rng.normal(size=tuple(EXTENTS[a] for a in known[n])) for n in module.inputs}
    found = Messages(module)
    assert axes(module)
    y = vectorised.forward(module, arrays)
    upstream = rng.normal(size=y.shape)
    for wrt in module.inputs:
        slopes = central(module, arrays, wrt, y.shape)
        if slopes is None:
            continue  # a kink lies too near
        expected = (np.tensordot(upstream, slopes, axes=y.ndim), slopes)
        jacobian = vectorised.jacobian(found.module, formula(found.jacobian(wrt)), wrt, arrays, False,
                                      found.star_definitions)
        message = vectorised.backward(found.module, formula(found.message(wrt)), wrt, upstream, arrays,
                                     found.star_definitions)
        stages = vectorised.stagewise(found.module, [formula(s) for s in found.stages(wrt)], upstream, arrays,
                                     found.star_definitions)[f"delta_{wrt}"]
        for got, value in zip((message, jacobian, stages), (*expected, expected[0]), strict=True):
            scale = 1 + np.abs(value).max()
            assert np.allclose(got, value, atol=1e-4 * scale), (wrt, formulas)


def formula(step: Step) -> tuple:  # type: ignore[type-arg]
    return step.before, step.after


def central(module: Module, arrays: dict, wrt: str, shape: tuple[int, ...]) -> np.ndarray | None:  # type: ignore[type-arg]
    """Central differences, or None where the one-sided ones disagree."""
    base, h = vectorised.forward(module, arrays), 1e-6
    slopes = np.zeros((*shape, *arrays[wrt].shape))
    for at in np.ndindex(*arrays[wrt].shape):
        sides = []
        for sign in (1, -1):
            moved = arrays[wrt].copy()
            moved[at] += sign * h
            sides.append((vectorised.forward(module, {**arrays, wrt: moved}) - base) * sign / h)
        scale = 1 + np.abs(base).max() + np.abs(sides[0]).max()
        if not np.allclose(*sides, atol=1e-2 * scale):
            return None
        slopes[(..., *at)] = (sides[0] + sides[1]) / 2
    return slopes
