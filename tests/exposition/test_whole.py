"""The matrix form of what is asked for: found, printed where it belongs, and wrong ones refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest

import derive
from derive.calculus.one_window import WHOLE
from derive.card import Card
from derive.expr import Entry, Matrix, Node, Num, Rel, conditions, eq
from derive.sheet import Math
from derive.solve import Solution
from derive.statement import Statement
from derive.verify.report import Verdict
from derive.verify.sheet import verify
from tests.bank import solved


def forms(solution: Solution) -> list[str]:
    return [b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.scope == WHOLE]


FOUND = {
    "affine_layer": [r"\frac{\partial y}{\partial x} = W", r"\delta_x = W^\top \delta_y", r"\delta_W = \delta_y x^\top",
                     r"\delta_b = \delta_y"],
    "mini_batch": [r"\frac{\partial L}{\partial X} = \delta_Y W^\top", r"\frac{\partial L}{\partial W} = X^\top \delta_Y",
                   r"\frac{\partial L}{\partial b} = \delta_Y^\top \mathbf{1}"],
    "softmax_jacobian": [r"\frac{\partial p}{\partial s} = \mathop{\mathrm{diag}}(p) - p p^\top"],
    "logistic_regression": [r"\frac{\partial \ell}{\partial w} = (p - t) x"],
    "rows_plain": [r"\frac{\partial s}{\partial x} = W^\top", r"\delta_x = \delta_s W^\top"],
    "rows_declared": [r"\delta_W = x^\top \delta_y"],
    "glu": [r"\delta_W = (\delta_y \odot \tilde{y}) x^\top"],
    "max_pooling_backward": [r"\mathop{\mathrm{vec}}(f) = S \mathop{\mathrm{vec}}(x),\quad "
                             r"\mathop{\mathrm{vec}}(\delta_x) = S^\top \mathop{\mathrm{vec}}(\delta_f)"],
    "dl_dx": [r"\mathop{\mathrm{vec}}(y) = S \mathop{\mathrm{vec}}(x),\quad \mathop{\mathrm{vec}}\left("
              r"\frac{\partial L}{\partial x}\right) = S^\top \mathop{\mathrm{vec}}(\delta_y)"],
    "max_pooling_numbers": [],  # the numbers are the answer
    "one_d": [r"y = S x,\quad \delta_x = S^\top \delta_y"],
    "average_pooling": [r"\mathop{\mathrm{vec}}(y) = A \mathop{\mathrm{vec}}(x),\quad \mathop{\mathrm{vec}}\left("
                        r"\frac{\partial L}{\partial x}\right) = A^\top \mathop{\mathrm{vec}}(\delta_y)"],
    "signal_filter": [r"\delta_x = B^\top \delta_y"],  # with a bias
    "maxout_unit": [r"\frac{\partial y}{\partial x} = \bar{W}", r"\delta_x = \bar{W}^\top \delta_y"],
    # of vectors x_n of the card, one for each n
    "regression_bishop": [r"\frac{\partial E}{\partial w} = \sum_{n=1}^{N} (w^\top x_{n} - t_{n}) x_{n}"],
    "logistic_ng": [r"\frac{\partial J}{\partial \theta} = \frac{1}{m} \sum_{i=1}^{m} (\sigma(\theta^\top x^{(i)}) - y^{(i)}) "
                    "x^{(i)}"],
    "attention_transposed": [
        r"\frac{\partial L}{\partial q} = \frac{1}{\sqrt{d}} \sum_{t=1}^{T} \alpha_{t} (\delta_c^\top (v_{t} - c)) k_{t}",
        r"\frac{\partial L}{\partial k_{t}} = \frac{\alpha_{t}}{\sqrt{d}} (\delta_c^\top (v_{t} - c)) q",
        r"\frac{\partial L}{\partial v_{t}} = \alpha_{t} \delta_c"],
    "attention_listed": [r"\delta_{k,i} = a_{i} (\delta_y^\top (v^{i} - y)) q", r"\delta_{v,i} = a_{i} \delta_y"],
    "embeddings_averaged": [r"\frac{\partial \ell}{\partial e_{t}} = \frac{p - y}{T} w"],
}


@pytest.mark.parametrize("card", FOUND)
def test_what_is_contracted_makes_the_matrix_form(card: str) -> None:
    assert [f for f in forms(solved(card)) if f in FOUND[card] or not FOUND[card]] == FOUND[card]


@pytest.mark.parametrize("card", FOUND)
def test_matrix_forms_are_proved(card: str) -> None:
    found = [c for c in solved(card).report.checks if c.name == "matrix_form"]
    assert found
    assert {c.verdict for c in found} == {Verdict.PROVED}


def test_it_comes_first_where_the_card_writes_vectors_and_behind_the_entries_elsewhere() -> None:
    def scopes(card: str) -> list[str]:
        return [b.scope for b in solved(card).sheet.answer if isinstance(b, Math)][:2]

    assert scopes("logistic_regression") == [WHOLE, "layer"]
    assert scopes("softmax_jacobian") == ["layer", WHOLE]


def test_letters_that_a_card_lacks_have_their_sizes() -> None:
    card = Card.parse("---\nid: told\n---\n\n# Question\nA one-dimensional convolution has 3 input channels, 4 output channels, kernel "
                      "size 5, a bias per output channel and no padding. Derive the backward message.\n")
    words = " ".join(getattr(b, "text", "") for b in derive.solve(card).sheet.answer)
    assert "$W$ is $4$ × $3$ × $5$" in words.replace("\u00a0", " ")


@pytest.mark.parametrize(("card", "said"), [
    ("regression_bishop", "In the matrix form $w$ and $x_{n}$ are columns of length $m$."),
    ("embeddings_averaged", r"In the matrix form $e_{t}$, $w$ and $\bar{e}$ are columns of length $d$."),
])
def test_one_of_several_vectors_has_its_shape(card: str, said: str) -> None:
    assert said in [getattr(b, "text", "") for b in solved(card).sheet.answer]


def test_there_is_none_where_nothing_is_contracted_or_an_index_is_shifted() -> None:
    for layer in (r"y_{ij} = \tanh(x_{ij})", r"y_t = \sum_{k=0}^{K-1} w_k x_{t+k}", r"y_{ij} = \max(0, x_{ij})"):
        assert forms(derive.solve(formula=layer)) == []


def test_beside_a_product_with_a_matrix_all_are_told_of_vectors() -> None:
    assert r"\delta_b = \delta_y" in forms(solved("affine_layer"))
    assert any(r"\partial c}" in form and "(y - " in form for form in forms(solved("mlp_words_cz")))


def test_rows_are_rows_and_columns_columns() -> None:
    words = [getattr(b, "text", "").replace("\u00a0", " ") for b in solved("rows_plain").sheet.answer]
    assert any("$x$ is a row of length $m$, $W$ is $m$ × $n$" in w for w in words)
    words = [getattr(b, "text", "").replace("\u00a0", " ") for b in solved("affine_layer").sheet.answer]
    assert any("$y$ and $b$ are columns of length $K$, $x$ is a column of length $n$, $W$ is $K$ × $n$" in w for w in words)


MISTAKES = [
    ("affine_layer", r"W^\top \delta_y", r"W \delta_y"),  # shapes that do not fit
    ("residual_block", r"W^\top (\delta_y", r"W (\delta_y"),  # a square weight, transposed
    ("softmax_jacobian", r"\mathop{\mathrm{diag}}(p) - p p^\top", r"-p p^\top"),  # the diagonal is missing
    ("softmax_jacobian", r"\mathop{\mathrm{diag}}(p)", r"\mathop{\mathrm{diag}}(\mathbf{1})"),
    ("glu", r"\delta_y \odot \tilde{y}", r"\delta_y \odot y"),  # a swapped factor
    ("affine_layer", r"\delta_y x^\top", r"x \delta_y^\top"),
    ("mini_batch", r"X^\top \delta_Y", r"\delta_Y^\top X"),
    ("max_pooling_backward", r"S^\top", "S"),
    ("max_pooling_backward", r"S \mathop{\mathrm{vec}}(x)", r"S^\top \mathop{\mathrm{vec}}(x)"),
    ("one_d", r"S^\top \delta_y", r"S \delta_y"),
    ("maxout_unit", r"\bar{W}^\top", r"\bar{W}"),
]


@pytest.mark.parametrize(("card", "old", "new"), MISTAKES)
def test_a_wrong_matrix_form_is_never_passed(card: str, old: str, new: str) -> None:
    solution = solved(card)
    (form,) = [b for b in solution.sheet.answer if isinstance(b, Math) and b.scope == WHOLE and old in b.latex][:1]
    wrong = replace(form, latex=form.latex.replace(old, new))
    answer = tuple(wrong if b is form else b for b in solution.sheet.answer)
    report = verify(replace(solution.sheet, answer=answer), solution.messages)
    assert report.failures[0].name == "matrix_form"


DEFINED = [
    ("signal_filter", "mask_matrix", r"\frac{\partial y_{t}}{\partial x_{i}}", r"\frac{\partial y_{i}}{\partial x_{t}}", "matrix_form"),
    ("average_pooling", "mask_matrix", "= ", "= -", "matrix_form"),
    ("max_pooling_backward", "mask_matrix", "(i, j) = (i^*, j^*)", "i = i^*", "matrix_form"),
    ("max_pooling_backward", "mask_matrix", "(i, j) = ", "(j, i) = ", "matrix_form"),
    ("overlapping_max_pooling", "mask_matrix", "=", r"\ne", "matrix_form"),
    ("maxout_unit", "picked", "W_{kr^*j}", "W_{k0j}", "matrix_form"),
    ("maxout_unit", "picked", "W_{kr^*j}", "2 W_{kr^*j}", "matrix_form"),
]


@pytest.mark.parametrize(("card", "name", "old", "new", "check"), DEFINED)
def test_what_a_matrix_form_rests_on_is_what_it_says(card: str, name: str, old: str, new: str, check: str) -> None:
    sheet, messages = solved(card).sheet, solved(card).messages
    answer = tuple(replace(b, latex=new.join(b.latex.rsplit(old, 1))) if isinstance(b, Math) and b.name == name else b
                   for b in sheet.answer)
    assert answer != sheet.answer
    assert check in {c.name for c in verify(replace(sheet, answer=answer), messages).failures}


def test_the_mask_says_how_large_it_is() -> None:
    words = " ".join(getattr(b, "text", "") for b in solved("max_pooling_backward").sheet.answer)
    assert "it is $M N$ × $H W$" in words.replace("\u00a0", " ")


def test_transposed_ones_before_a_bracket_are_no_indicator() -> None:
    assert r"\frac{\partial J}{\partial b} = 2 \mathbf{1}^\top \cdot (X w + b \mathbf{1} - y)" in forms(
        solved("bias_times_ones"))


def test_a_letter_with_a_label_above_is_transposed_in_brackets_and_not_applied() -> None:
    assert r"\frac{\partial L}{\partial W^{[2]}} = \delta_{z^{[2]}} \cdot (a^{[1]})^\top" in forms(solved("square_layers"))


def test_slopes_by_cases_are_masks() -> None:
    leaky = r"y_k = \begin{cases} s_k & s_k > 0 \\ a s_k & s_k \le 0 \end{cases}"
    solution = derive.solve(Statement(forward=(r"s_k = \sum_j W_{kj} x_j", leaky), parameters=("W",), constants=("a",),
                                      derive=("backward",)))
    mask = r"(\mathbb{I}[s > 0] + a \, \mathbb{I}[s \le 0])"
    assert forms(solution) == [rf"\frac{{\partial y}}{{\partial x}} = \mathop{{\mathrm{{diag}}}}{mask} W",
                               rf"\delta_x = W^\top (\delta_y \odot {mask})"]
    assert solution.report.ok


@pytest.mark.parametrize("letter", ["g", "dy", r"\bar y"])
def test_a_gradient_with_a_letter_of_its_own_has_its_shape(letter: str) -> None:
    card = f"""---
id: own_letter
---

# Question
Let $y = W x$ with $W \\in \\mathbb{{R}}^{{m \\times n}}$. Given ${letter} = \\partial L / \\partial y$, derive $\\partial L / \\partial x$.
"""
    solution = derive.solve(Card.parse(card))
    assert solution.report.ok
    assert r"\frac{\partial L}{\partial x} = W^\top" in forms(solution)[0]


def vectors(solution: Solution) -> list[tuple[tuple[Node, ...], ...]]:
    """The rows of the numbers of x in the worked example."""
    return [c.terms[1].rows for m in solution.sheet.formulas() if m.scope == "example" for c in conditions(m.expr)
            if isinstance(c, Rel) and c.terms[0] == Entry("x", ()) and isinstance(c.terms[1], Matrix)]


@pytest.mark.parametrize(("card", "column"), [("affine_layer", True), ("two_layers_numbers", True), ("rows_plain", False), ("one_d", False)])
def test_the_numbers_of_columns_are_columns(card: str, column: bool) -> None:
    (rows,) = vectors(solved(card))
    assert len(rows[0] if column else rows) == 1 < len(rows if column else rows[0])


def test_numbers_in_rows_beside_columns_are_refuted() -> None:
    sheet, messages = solved("affine_layer").sheet, solved("affine_layer").messages
    old, new = r"y = \begin{pmatrix} -17 \\ 0 \end{pmatrix}", r"y = \begin{pmatrix} -17 & 0 \end{pmatrix}"
    turned = Matrix(((Num(-17), Num(0)),))
    details = tuple(replace(b, latex=new, expr=eq(Entry("y", ()), turned)) if isinstance(b, Math) and b.latex == old else b
                    for b in sheet.details)
    assert details != sheet.details
    assert "answer_shapes" in str(verify(replace(sheet, details=details), messages).failures)


@pytest.mark.parametrize("name", ["lstm_by_name", "layer_norm_by_name"])
def test_no_line_of_a_matrix_form_ends_within_brackets(name: str) -> None:
    """What stands before a sum in brackets is multiplied into it where a line would else break in it."""
    forms = [m.latex for m in solved(name).sheet.answer if isinstance(m, Math) and m.scope == WHOLE]
    assert forms and all(row.count("(") == row.count(")") for latex in forms for row in latex.split(r"\\"))
