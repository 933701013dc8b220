"""One record per function: what checks a record does not come from the data that the calculus uses."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy
from rich.console import Console

import derive
from derive import functions
from derive.exposition.subject import Subject
from derive.exposition.worked import worked
from derive.expr import MINUS_ONE, ZERO, Fn, Num, mul
from derive.functions import FUNCTIONS, Corner, Function, U, elementary, value
from derive.numbers import Numbers
from derive.numeric.arithmetic import DECIMAL, FLOAT, difference, precision
from derive.numeric.compile import _FUNCTIONS as ARRAYS
from derive.numeric.dual import Dual, OneSided, dual
from derive.render import terminal
from derive.solve import stated
from derive.statement import Statement

NAMES = tuple(record.name for record in elementary())
SMOOTH = tuple(name for name in NAMES if FUNCTIONS[name].derivative is not None)
CARD = """---
type: question
id: {key}
---
# Question

Consider the layer with inputs $x_k$, $k = 1, \\dots, n$:

$$
{formula}
$$

Derive the backward message of this layer.
"""
SECH = Function(
    "sech", ("sech",), r"\operatorname{sech}", "hyperbolic secant", mul(MINUS_ONE, Fn("sech", (U,)), Fn("tanh", (U,))),
    number=lambda u: 1 / math.cosh(u), numpy="1 / np.cosh({})", sympy="sech", mpmath="sech")


def points(record: Function) -> tuple[float, ...]:
    return (0.3, 0.7, 1.9, 2.6) if record.domain != "real" else (-1.9, -0.7, 0.3, 1.6, 2.6)


def solve(tmp_path: Path, formula: str, key: str) -> derive.Solution:
    card = tmp_path / f"{key}.md"
    card.write_text(CARD.format(formula=formula, key=key), encoding="utf-8")
    return derive.solve(card, code=True)


def rendered(solution: derive.Solution) -> dict[str, str]:
    """The sheet in every text format, the terminal's among them."""
    console = Console(file=io.StringIO(), width=120)
    console.print(terminal.render(solution, "full"))
    return {kind: str(derive.render(solution, kind)) for kind in ("md", "tex", "html")} | {
        "terminal": console.file.getvalue()}  # type: ignore[attr-defined]


def refuted(solution: derive.Solution) -> set[str]:
    return {c.name for c in solution.report.checks if c.verdict == "refuted"}


@pytest.fixture
def planted() -> Iterator[None]:
    """Whatever a test registers goes again."""
    before = dict(FUNCTIONS)
    yield
    FUNCTIONS.clear()
    functions.register(before.pop("exp"))
    for record in before.values():
        functions.register(record)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_derivative_is_that_of_sympy_of_dual_numbers_and_of_differences(name: str) -> None:
    record, u = FUNCTIONS[name], sympy.Symbol("u", real=True)
    by_sympy = getattr(sympy, record.sympy)(u).diff(u)
    for at in points(record):
        stated = value(record.derived(U), {U: at})
        with precision():
            moved = dual(DECIMAL).functions[name](Dual(Decimal(at), {0: Decimal(1)}))
            slope = moved.slopes.get(0, 0) if isinstance(moved, Dual) else 0
            assert math.isclose(stated, float(slope), rel_tol=1e-12), (name, at)
            side = OneSided(at, 1.0).arithmetic().functions[name](OneSided(at, 1.0))
            assert math.isclose(stated, float(getattr(side, "slope", 0)), rel_tol=1e-9), (name, at)
            assert math.isclose(stated, float(difference(record.mpmath, Decimal(at))), rel_tol=1e-12), (name, at)
        assert math.isclose(stated, float(by_sympy.subs(u, at)), rel_tol=1e-9), (name, at)


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_record_is_the_same(name: str) -> None:
    record = FUNCTIONS[name]
    for at in points(record):
        with precision():
            found = [FLOAT.functions[name](at), DECIMAL.functions[name](Decimal(at)), ARRAYS[name](np.array([at]))[0],
                     getattr(mpmath, record.mpmath)(at), getattr(sympy, record.sympy)(at), value(Fn(name, (U,)), {U: at})]
        assert all(math.isclose(float(v), float(found[0]), rel_tol=1e-12) for v in found), (name, at, found)


@pytest.mark.parametrize("name", [n for n in NAMES if FUNCTIONS[n].corners])
def test_the_branches_at_a_corner_are_the_values_beside_it(name: str) -> None:
    record, h = FUNCTIONS[name], 1e-3
    assert record.number is not None
    for corner in record.corners:
        at = value(corner.at, {})
        for branch, side in zip(corner.sides(U), (h, -h), strict=True):
            for step in (side, side / 2):
                assert math.isclose(value(branch, {U: at + step}), record.number(at + step), rel_tol=1e-12)


def test_a_short_name_stands_for_a_formula_that_agrees_with_numpy() -> None:
    x, expected = np.linspace(-3, 3, 13), {
        "relu": lambda u: np.maximum(u, 0), "sigmoid": lambda u: 1 / (1 + np.exp(-u)),
        "softplus": lambda u: np.logaddexp(0, u), "expm1": np.expm1, "hardtanh": lambda u: np.clip(u, -1, 1)}
    for name, function in expected.items():
        layer = Numbers(stated(Statement(), rf"y_k = \mathrm{{{name}}}(x_k)"))
        np.testing.assert_allclose(layer.forward(x=x), function(x), atol=1e-12)


@pytest.mark.parametrize("formula", [
    r"y_k = \operatorname{erf}(x_k)", r"y_k = \operatorname{sigmoid}(x_k) + \mathrm{ReLU}(x_k)",
    r"y_k = \operatorname{softplus}(x_k) \arctan(x_k)", r"y_k = \sin(x_k) \cosh(x_k)",
    r"y_k = \operatorname{expm1}(x_k) \operatorname{log1p}(x_k)", r"y_k = \log_2(x_k)", r"y_k = \sinh(x_k) + \cos(x_k)",
])
def test_named_functions_are_read_derived_proved_listed_and_rendered(tmp_path: Path, formula: str) -> None:
    solution = solve(tmp_path, formula, "named")
    assert solution.report.ok
    verdicts = {c.name: c.verdict for c in solution.report.checks}
    assert verdicts["jacobian_x"] == verdicts["message_x"] == "proved"
    assert all("np." in text for text in rendered(solution).values())


def test_a_function_that_a_card_names_and_defines_is_its_own(tmp_path: Path) -> None:
    solution = solve(tmp_path, "\\mathrm{ReLU}(z) = \\max(0, 3 z)\n$$\n\n$$\ny_k = \\mathrm{ReLU}(x_k)", "own")
    assert any("3" in m.latex for m in solution.sheet.formulas() if m.name == "jacobian_x")


@pytest.mark.parametrize(("name", "wrong"), [
    ("tanh", Num(1)), ("exp", mul(Num(2), Fn("exp", (U,)))), ("sin", mul(MINUS_ONE, Fn("cos", (U,)))),
    ("erf", Fn("exp", (mul(MINUS_ONE, U, U),))), ("log", U), ("abs", mul(MINUS_ONE, Fn("sign", (U,))))])
def test_a_wrong_derivative_in_a_record_is_refuted(tmp_path: Path, planted: None, monkeypatch: pytest.MonkeyPatch,
                                                   name: str, wrong: Fn) -> None:
    functions.register(replace(FUNCTIONS[name], derivative=wrong))
    written = r"\left|x_k\right|" if name == "abs" else rf"{FUNCTIONS[name].latex}(x_k)"
    formula = rf"y_k = {written} x_k"
    with pytest.raises(derive.VerificationError, match="a worked example"):  # by differences or dual numbers
        solve(tmp_path, formula, f"planted_{name}")
    monkeypatch.setattr("derive.exposition.worked._agreeing", lambda derived, *_: derived)
    assert {"jacobian_x", "message_x"} <= refuted(solve(tmp_path, formula, f"planted_{name}_unchecked"))


@pytest.mark.parametrize(("key", "corner"), [
    ("slope", Corner(ZERO, mul(MINUS_ONE, U), mul(Num(2), U))), ("sides", Corner(ZERO, U, mul(Num(3), U))),
    ("chosen", Corner(ZERO, mul(MINUS_ONE, U), U, chosen=Num(3)))])
def test_a_wrong_corner_in_a_record_is_refuted(tmp_path: Path, planted: None, key: str, corner: Corner) -> None:
    functions.register(replace(FUNCTIONS["abs"], corners=(corner,)))
    assert "kinks" in refuted(solve(tmp_path, "y_k = 2 |x_k|", f"planted_{key}"))


def test_a_new_function_is_one_record(tmp_path: Path, planted: None) -> None:
    functions.register(SECH)
    solution = solve(tmp_path, r"y_k = x_k \operatorname{sech}(2 x_k)", "sech")
    assert solution.report.ok
    assert {c.verdict for c in solution.report.checks if c.name in ("jacobian_x", "message_x")} == {"proved"}
    x = np.linspace(-2, 2, 5)
    np.testing.assert_allclose(solution.forward(x=x), x / np.cosh(2 * x))
    pages = rendered(solution)
    assert all("sech" in page and "1 / np.cosh(" in page for page in pages.values())
    assert "sech(2" in pages["terminal"]
    functions.forget("sech")
    with pytest.raises(derive.DeriveError):
        solve(tmp_path, r"y_k = x_k \operatorname{sech}(2 x_k)", "sech_gone")


def test_a_count_has_a_factorial_and_no_derivative() -> None:
    text = CARD.format(key="count", formula=r"L = \sum_{k=1}^{n} (e^{x_k} - y_k x_k + \log(y_k!))")
    solution = derive.solve(derive.Card.parse(text))
    assert solution.report.ok and solution.module.constants == ("y",)
    at = {"x": np.array([0.5, -1.0]), "y": np.array([3, 0])}
    assert float(solution.forward(**at)) == pytest.approx(math.exp(0.5) - 1.5 + math.log(6) + math.exp(-1.0))
    with precision():
        drawn = worked(Subject(solution.messages), DECIMAL)[0].point.tensor("y").values()
    assert all(value == int(value) >= 0 for value in drawn)
    asked = text.replace("Derive the backward message of this layer", r"Derive $\partial L/\partial y_k$")
    with pytest.raises(derive.UnsupportedError, match="the derivative of a factorial is not covered"):
        derive.solve(derive.Card.parse(asked))
