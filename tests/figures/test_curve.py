"""Sampled curves: where they bend, how steep they are, and which layers have one."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.axes import with_axes
from derive.figures.curve import Curve, curve, elementwise, given
from derive.sheet import Dot
from tests.calculus.zoo import ZOO


def sampled(name: str) -> Curve | None:
    return curve(with_axes(ZOO[name].module()))


@pytest.mark.parametrize(("name", "kinks"), [
    ("relu", [(0, 0, 1)]), ("leaky_relu", [(0, 0.1, 1)]), ("prelu", [(0, 0.25, 1)]), ("elu", [(0, 0.25, 1)]),
    ("sigmoid", []), ("tanh", []), ("softplus", []), ("huber", []),
])
def test_kinks_and_the_slopes_beside_them(name: str, kinks: list[tuple[float, float, float]]) -> None:
    found = sampled(name)
    assert found is not None
    assert [(k.at, k.before, k.after) for k in found.kinks] == [pytest.approx(k, abs=1e-4) for k in kinks]
    assert len(found.pieces) == len(kinks) + 1


@pytest.mark.parametrize(("name", "value"), [("prelu", "1/4"), ("elu", "1/4"), ("huber", "1")])
def test_the_letters_have_the_value_that_shows_most(name: str, value: str) -> None:
    found = sampled(name)
    assert found is not None and str(found.given) == value


@pytest.mark.parametrize(("name", "slope"), [
    ("tanh", lambda s: 1 - np.tanh(s) ** 2), ("softplus", lambda s: 1 / (1 + np.exp(-s))), ("relu", lambda s: (s > 0) * 1.0),
])
def test_slopes_are_the_derivative(name: str, slope: object) -> None:
    found = sampled(name)
    assert found is not None
    s, _, slopes = np.concatenate(found.pieces, axis=1)
    assert np.allclose(slopes, slope(s), atol=1e-5)  # type: ignore[operator]


@pytest.mark.parametrize("name", ["softmax", "linear", "two_norm", "conv1d", "attention"])
def test_no_curve_where_entries_mix(name: str) -> None:
    assert elementwise(ZOO[name].module()) is None


def test_the_picture_marks_the_kink_in_both_panels_and_names_what_is_given() -> None:
    module = ZOO["prelu"].module()
    scene = elementwise(module)
    assert scene is not None
    assert [i.role for i in scene.items if isinstance(i, Dot)] == ["kink", "open", "open"]
    assert given(module) == ("$a = 1/4$",)
    assert "At 0 it has a kink: the slope changes from 0.25 to 1" in scene.description


@pytest.mark.parametrize(("formula", "at"), [(r"y_k = \max(0, 9 x_k - 4)", 4 / 9), (r"y_k = \max(0, 7 x_k - 9)", 9 / 7),
                                             (r"y_k = |6 x_k - 0.99997|", 0.166661666), (r"y_k = \max(0, 31 x_k - 87)", 87 / 31)])
def test_a_kink_at_no_short_number_parts_the_slope(formula: str, at: float) -> None:
    """Its place is rounded: a sample within the rounding would stand on its other side, or on it."""
    solution = derive.solve(formula=formula)
    found = curve(solution.module)
    assert found is not None
    (kink,) = found.kinks
    assert kink.at == pytest.approx(at, abs=1e-5) and solution.report.ok


@pytest.mark.parametrize("formula", [r"y_k = \tanh(93 x_k + 43)", r"y_k = \tanh(73 x_k + 89)"])
def test_a_steep_function_has_more_samples_where_it_is_steep(formula: str) -> None:
    solution = derive.solve(formula=formula)
    found = curve(solution.module)
    assert found is not None and solution.report.ok
    assert 241 < sum(piece.shape[1] for piece in found.pieces) < 500


@pytest.mark.parametrize("formula", [r"y_k = (60 x_k + 6)^2", r"y_k = (90 x_k - 9)^4"])
def test_a_strong_bend_is_no_kink(formula: str) -> None:
    solution = derive.solve(formula=formula)
    found = curve(solution.module)
    assert found is not None and found.kinks == () and solution.report.ok


@pytest.mark.parametrize("formula", [r"y_k = \begin{cases} x_k^2 & x_k \neq 2 \\ 5 & x_k = 2 \end{cases}",
                                     r"y_k = \begin{cases} 1 & x_k > 0 \\ 0 & x_k = 0 \\ -1 & x_k < 0 \end{cases}"])
def test_no_curve_of_a_function_with_a_case_for_one_place(formula: str) -> None:
    assert curve(derive.solve(formula=formula).module) is None
