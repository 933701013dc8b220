"""From Python: the public interface, against PyTorch, hand-worked values and the other routes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sympy import Integer

import derive
from derive.calculus.messages import Messages, message
from derive.numeric.evaluator import evaluate
from derive.render.guard import displayed
from derive.sheet import Sheet
from derive.solve import Solution
from derive.verify.report import Check, Report, Verdict

CARD = "cards/max_pooling_backward.md"
GEOMETRIES = [
    ((2, 2), (2, 2), (0, 0)),
    ((3, 3), (2, 2), (1, 1)),
    ((3, 3), (1, 1), (0, 0)),
    ((2, 2), (3, 3), (0, 0)),
    ((1, 4), (1, 2), (0, 0)),
]


@cache
def solved(geometry: tuple[tuple[int, int], ...], name: str = "max_pool", rule: str = "first") -> Solution:
    """The layer's numbers; its sheet and what checks it are :mod:`tests.test_geometries`' matter."""
    kernel_size, stride, padding = geometry
    module = derive.layer(name, kernel_size=kernel_size, stride=stride, padding=padding, tie_rule=rule)
    return Solution(None, module, Sheet("", (), ()), Report(()), Messages(module))


@pytest.fixture(scope="module")
def card() -> Solution:
    return derive.solve(CARD)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("ties", [False, True])
def test_forward_and_backward_agree_with_pytorch(geometry: tuple[tuple[int, int], ...], ties: bool) -> None:
    torch = pytest.importorskip("torch")
    solution = solved(geometry)
    source = np.random.default_rng(1)
    for shape in ((2, 3, 6, 7), (1, 1, 5, 8), (9, 9)):
        x = source.integers(0, 3, shape).astype(float) if ties else source.standard_normal(shape)
        batched = torch.tensor(x.reshape((-1, 1, *shape[-2:])), requires_grad=True)
        y = torch.nn.functional.max_pool2d(batched, *map(tuple, geometry))
        upstream = source.standard_normal(tuple(y.shape))
        y.backward(torch.tensor(upstream))
        out = (*shape[:-2], *y.shape[-2:])
        np.testing.assert_array_equal(solution.forward(x=x), y.detach().numpy().reshape(out))
        found = solution.backward("x", upstream=upstream.reshape(out), x=x)
        np.testing.assert_allclose(found, batched.grad.numpy().reshape(shape), atol=1e-12)


@pytest.mark.parametrize(("geometry", "name", "rule"), [
    *((GEOMETRIES[1], name, rule) for name in ("max_pool", "min_pool") for rule in ("first", "last", "split")),
    *zip(GEOMETRIES[::-1], ["max_pool"] * 3, ("first", "last", "split"), strict=False)])
def test_the_routes_agree_at_ties(geometry: tuple[tuple[int, int], ...], name: str, rule: str) -> None:
    """The derived formula in NumPy, SymPy's instance, and the sparse form; the message is the transpose of all."""
    solution = solved(geometry, name, rule)
    source = np.random.default_rng(2)
    x = source.integers(0, 2, (5, 6)).astype(float)
    dense = solution.jacobian("x", x=x)
    outputs, inputs, values = solution.jacobian("x", x=x, sparse=True)
    rebuilt = np.zeros_like(dense)
    rebuilt[(*outputs.T, *inputs.T)] = values
    np.testing.assert_array_equal(rebuilt, dense)
    symbolic = np.zeros_like(dense)
    for out, cell, expression in solution.symbolic_jacobian(input_size=(5, 6)):
        point = {symbol: x[tuple(map(int, symbol.name.split("_")[1:]))] for symbol in expression.free_symbols}
        symbolic[(*out, *cell)] = float(expression.xreplace({symbol: Integer(int(v)) for symbol, v in point.items()}))
    np.testing.assert_allclose(symbolic, dense)
    upstream = source.standard_normal(dense.shape[:2])
    np.testing.assert_allclose(solution.backward("x", upstream=upstream, x=x), np.tensordot(upstream, dense, 2))


def test_hand_worked_values() -> None:
    """3×3 of ones, 2×2 windows with stride 1, upstream 1, 10, 100, 1000."""
    ones, upstream = np.ones((3, 3)), np.array([[1.0, 10.0], [100.0, 1000.0]])
    first = solved(((2, 2), (1, 1), (0, 0)))
    split = solved(((2, 2), (1, 1), (0, 0)), rule="split")
    np.testing.assert_array_equal(first.backward("x", upstream=upstream, x=ones), [[1, 10, 0], [100, 1000, 0], [0, 0, 0]])
    np.testing.assert_array_equal(split.backward("x", upstream=upstream, x=ones),
                                  [[0.25, 2.75, 2.5], [25.25, 277.75, 252.5], [25, 275, 250]])


def test_what_a_solution_offers(card: Solution) -> None:
    module = card.module
    assert (module.inputs, module.parameters, module.constants, module.output) == (("x",), (), (), "f")
    assert module.receptive_field is not None
    assert module.receptive_field.kernel_size == module.receptive_field.stride == (2, 2)
    assert str(card.window()) == "Max(z_1, z_2, z_3, z_4)"
    assert len(card.cases().args) == 4
    assert card.report.ok
    assert {c.verdict for c in card.report.checks} == {"proved", "tested"}
    assert all(c.name and c.evidence for c in card.report.checks)
    assert any(r"\arg\max" in latex for latex in card.report.definitions)


def test_a_path_a_card_and_a_module_give_the_same_derivation(card: Solution) -> None:
    read = derive.Card.read(CARD)
    again, bare = derive.solve(read), derive.solve(card.module)
    assert again.sheet == card.sheet
    assert {m.latex for m in bare.sheet.formulas()} == {m.latex for m in card.sheet.formulas()}


@pytest.mark.parametrize("detail", ["short", "full"])
@pytest.mark.parametrize("form", ["md", "tex"])
def test_the_same_card_gives_the_same_bytes(card: Solution, form: str, detail: str) -> None:
    assert derive.render(card, form, detail) == derive.render(derive.solve(CARD), form, detail)


def test_a_wrong_name_is_told() -> None:
    solution = derive.solve(CARD)
    with pytest.raises(derive.CardError, match="`w` is no input"):
        solution.jacobian("w", x=np.zeros((4, 4)))
    with pytest.raises(derive.CardError, match="tie rule"):
        derive.solve(CARD, tie_rule="frist")


def test_a_refuted_sheet_is_not_rendered(card: Solution) -> None:
    from dataclasses import replace

    from derive.verify.report import Check, Report, Verdict

    bad = Check("jacobian", "f = 0", Verdict.REFUTED, "a counterexample", "at x = 1")
    broken = replace(card, report=Report((*card.report.checks, bad)))
    with pytest.raises(derive.VerificationError, match="jacobian"):
        derive.render(broken, "md")


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_each_step_of_the_message_is_right(geometry: tuple[tuple[int, int], ...]) -> None:
    """The covering and the closed form give the same message as the slope of Σ δ f."""
    from derive.axes import with_size_letters
    from derive.numeric.vectorised import backward

    solution = solved(geometry)
    module = with_size_letters(solution.module)
    x = np.random.default_rng(3).permutation(42).reshape(6, 7).astype(float)
    step = message(module, "x")
    upstream = np.arange(1.0, 1 + solution.forward(x=x).size).reshape(solution.forward(x=x).shape)
    arrays = {at: x[at] for at in itertools.product(range(6), range(7))}

    def loss(shifted: dict[tuple[int, ...], float]) -> float:
        values = evaluate(module, {"x": shifted}, {"x": (6, 7)})["f"]
        return sum(upstream[out] * v for out, v in values.items())

    expected = np.array([[loss({**arrays, (i, j): x[i, j] + 0.5}) - loss(arrays) for j in range(7)] for i in range(6)]) * 2
    for rule in ("inserted", "covering", "geometry"):
        found = step.last(rule)
        result = backward(module, (found.before, found.after), "x", upstream, {"x": x},
                          solution.derivation.star_definitions)
        np.testing.assert_allclose(result, expected, err_msg=rule)


def test_a_solution_shows_itself_in_a_line_and_as_its_sheet_in_a_notebook(card: Solution) -> None:
    assert repr(card).startswith("<Solution: ∂f_kl/∂x_ij, δ_x; ") and repr(card).endswith(" checks, ok>")
    markdown, html, latex = card._repr_markdown_(), card._repr_html_(), card._repr_latex_()
    assert markdown.startswith("# Max pooling") and "![" not in markdown
    assert displayed(markdown) == displayed(html) == displayed(str(derive.render(card, "html")))
    assert html.count("<svg") == str(derive.render(card, "html")).count("<svg") > 0 and "<script" not in html
    assert latex.count("$$") == 2 * 8 and r"\delta_{x,ij} = \sum" in latex


def test_a_solution_that_failed_shows_what_failed(card: Solution) -> None:
    wrong = replace(card, report=Report((Check("sum", "a < b", Verdict.REFUTED, "", "a = 1"),)))
    assert "refuted: `a < b` a = 1" in wrong._repr_markdown_() and "a &lt; b" in wrong._repr_html_()
    assert wrong._repr_latex_() is None and repr(wrong).endswith("not ok>")
