"""Questions with numbers: the layer is read without them, and the answer computes with them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derive import solve
from derive.card import Card
from derive.errors import CardError
from derive.expr import Entry
from derive.question import module_of
from derive.sheet import Math, Table
from derive.solve import Solution
from derive.specify.writing import statement_of

MATRIX = r"\begin{pmatrix} 1 & 3 & 2 & 0 \\ 4 & 2 & 1 & 5 \\ 0 & 1 & 7 & 3 \\ 2 & 8 & 4 & 6 \end{pmatrix}"
LINEAR = (r"Let $y = Wx + b$ and $z_k = \max(0, y_k)$ with $W = \begin{bmatrix} 1 & -2 \\ 0 & 3 \end{bmatrix}$, "
          r"$b = (1, -1)^\top$, $x = (2, 1)^\top$.")
QUESTIONS = {  # the question, and the numbers that its answer gives
    "pooling": (rf"Consider max pooling with 2×2 windows and stride 2 on $$X = {MATRIX}.$$ Compute the output and the gradient "
                r"with respect to the input for the upstream gradient $\delta = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$.",
                {"f": [[4, 5], [8, 7]], "delta_x": [[0, 0, 0, 0], [1, 0, 0, 2], [0, 0, 4, 0], [0, 3, 0, 0]]}),
    "a tie": (r"Consider max pooling with windows of length 2 and stride 2 on $x = (1, 1, 2, 3)$. Compute the backward "
              r"message for the upstream gradient $g = [5, 7]$.", {"f": [1, 3], "delta_x": [5, 0, 0, 7]}),
    "linear": (LINEAR + r" The upstream gradient is $\partial L/\partial z = (1, -1)^\top$. Compute $\partial L/\partial W$, "
               r"$\partial L/\partial b$ and $\partial L/\partial x$.",
               {"z": [1, 2], "delta_W": [[2, 1], [-2, -1]], "delta_b": [1, -1], "delta_x": [1, -5]}),
    "numbers alone": (r"Let $y = wx + b$. Compute $\partial y/\partial w$ for $w = 2$, $x = 3$, $b = 1$.", {"y": 7}),
    "one window": (r"Consider 2×2 max pooling of $$\begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}.$$ Compute the backward message "
                   r"for the upstream gradient $\delta = 5$.", {"f": [[4]], "delta_x": [[0, 0], [0, 5]]}),
    "scalars beside": (r"Let $y = \mathbf{w}^\top \mathbf{x} + b$ with $\mathbf w = (1,2)^\top$, $\mathbf x = (3, -1)^\top$, "
                       r"$b = 2$. Compute $\partial y/\partial \mathbf w$.", {"y": 3}),
    "convolution": (r"A convolution $y_t = \sum_{k=0}^{2} w_k x_{t+k}$ has the kernel $w = [1, 0, -1]$ and the input "
                    r"$x = [1, 2, 3, 4, 5]$. Given $\partial L/\partial y = [1, 1, 2]$ compute $\partial L/\partial w$ and "
                    r"$\partial L/\partial x$.", {"y": [-2, -2, -2], "delta_w": [9, 13, 17], "delta_x": [1, 1, 1, -1, -2]}),
    "without a letter": (r"Given the ReLU layer $y_k = \max(0, x_k)$ and the input $\begin{pmatrix} 1 \\ -2 \\ 3 \end{pmatrix}$ "
                         r"with upstream gradient $g = [2, 1, 1]$, compute the output and $\partial L/\partial x$.",
                         {"y": [1, 0, 3], "delta_x": [2, 0, 1]}),
}

JACOBIANS = (  # a layer, a point, a row of numbers for each output
    (r"p_k = \frac{e^{x_k}}{\sum_j e^{x_j}}", "(1, 0, 2)",
     ["(0.1848, −0.0220, −0.1628)", "(−0.0220, 0.0819, −0.0599)", "(−0.1628, −0.0599, 0.2227)"]),
    (r"p_k = x_k \sum_j x_j", "(1, 0, 2, 3)",
     [rf"\frac{{\partial p_{{{k}}}}}{{\partial x}} = \begin{{pmatrix}} {row} \end{{pmatrix}}" for k, row in enumerate(
         (r"7 \\ 1 \\ 1 \\ 1", r"0 \\ 6 \\ 0 \\ 0", r"2 \\ 2 \\ 8 \\ 2", r"3 \\ 3 \\ 3 \\ 9"))]),
)


def card(question: str, front: str = "") -> Card:
    return Card.parse(f"---\nid: numbers\n{front}---\n\n# Question\n{question}\n", "card.md")


def said(solution: Solution) -> dict[str, str]:
    return {m.latex.partition(" = ")[0]: m.latex for m in solution.sheet.answer if isinstance(m, Math) and m.name == "numbers"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_answer_holds_the_numbers(name: str) -> None:
    question, numbers = QUESTIONS[name]
    solution = solve(card(question))
    assert solution.report.ok, solution.report.checks
    module = solution.module
    given = {tensor: np.array([float(n) for _, n in entries]).reshape(
        [len({at[d] for at, _ in entries}) for d in range(len(entries[0][0]))]) for tensor, entries in module.values}
    upstream = given.pop(f"delta_{module.output}", None)
    shown = " ".join(said(solution).values())
    for tensor, expected in numbers.items():
        found = solution.forward(**given) if tensor == module.output else solution.backward(
            tensor.removeprefix("delta_"), upstream=upstream, **given)
        np.testing.assert_allclose(found, expected)
        for number in np.array(expected).ravel():
            assert str(number) in shown


def test_what_is_not_rational_is_rounded() -> None:
    solution = solve(card(r"Let $y_i = \tanh(x_i)$. Derive $\partial y_i/\partial x_j$ and evaluate it at $x = (0, 1)$."))
    assert "0.7616" in str(solution.sheet.answer)


def test_a_jacobian_at_a_point_has_the_row_of_each_output() -> None:
    for formula, point, rows in JACOBIANS:
        solution = solve(card(rf"A layer computes ${formula}$. Compute the Jacobian $\partial p / \partial x$ at $x = {point}$."))
        shown = str(solution.sheet.answer).replace(r"\\", "\\")
        assert all(row in shown for row in rows), shown
        assert solution.report.ok


def test_a_jacobian_beside_a_gradient_has_its_rows_where_it_is_asked_for_as_such() -> None:
    question = QUESTIONS["one window"][0]
    for words, rows in (("the backward message", 0), ("the Jacobian and the backward message", 1)):
        solution = solve(card(question.replace("the backward message", words)))
        shown = " ".join(m.latex for m in solution.sheet.answer if isinstance(m, Math) and m.name == "numbers")
        assert solution.report.ok and shown.count(r"\frac{\partial f_{0,0}}{\partial x}") == rows, shown


@pytest.mark.parametrize(("words", "letters"), [
    ("the gradients with respect to $w$ and $b$", ["w", "b"]), ("the gradient with respect to $w$", ["w"]),
    (r"$\partial \ell/\partial b$", ["b"])])
def test_numbers_behind_for_do_not_ask_for_derivatives(words: str, letters: list[str]) -> None:
    for joint in ("for", "at", "where"):
        module = module_of(card(rf"Let $s = w x + b$ and $\ell = (s - t)^2$. Compute {words} {joint} $w = 0.5$, $b = 1$, $x = 2$ and $t = 1$."))
        assert [w.wrt.tensor for w in module.wanted if isinstance(w.wrt, Entry)] == letters


DECIMALS = {  # numbers as the card writes them, and what the answer has
    (r"x = (0.5, 1.25, -2, 4)", r"\delta = (1.5, 0.25, 1)"): [r"\frac{0.875", r"0.75 \\ 0.875"],
    (r"x = (\frac12, 1, -2, 4)", r"\delta = (1, \frac12, 1)"): [r"\frac{3}{4}"],
}


@pytest.mark.parametrize("numbers", DECIMALS)
def test_numbers_are_decimals_where_the_question_has_decimals(numbers: tuple[str, str]) -> None:
    x, delta = numbers
    solution = solve(card(rf"Consider average pooling with windows of length 2 and stride 1 on ${x}$. Compute the output and the "
                          rf"gradient with respect to the input for the upstream gradient ${delta}$."))
    shown = " ".join(m.latex for m in solution.sheet.formulas() if m.scope == "example")
    assert solution.report.ok and (r"\frac{1}{" in shown) != solution.module.decimals
    assert DECIMALS[numbers][-1] in shown, shown


def test_decimals_that_do_not_end_are_fractions_and_rounded_beside() -> None:
    solution = solve(card("Consider average pooling with windows of length 3 and stride 1 on $x = (0.5, 1.25, -2, 4)$. Compute the "
                          r"output and the gradient with respect to the input for the upstream gradient $\delta = (1.5, 0.25)$."))
    assert solution.report.ok and r"\frac{13}{12}" in str(solution.sheet.answer).replace("\\\\", "\\")
    (table,) = (b for b in solution.sheet.answer if isinstance(b, Table))
    assert table.rows[0][1] == "(−0.0833, 1.0833)"


def test_the_front_matter_gives_numbers() -> None:
    front = "values:\n  - 'x = (1, -2)'\n  - '\\delta = (3, 4)'\n"
    module = module_of(card(r"Let $y_k = \max(0, x_k)$. Derive the backward message.", front))
    assert dict(module.values)["delta_y"] == (((0,), Fraction(3)), ((1,), Fraction(4)))


REFUSED = {
    r"Let $y_k = \max(0, x_k)$ with $x = (1, 2)$ and $Q = (3, 4, 5)$. Derive $\partial y_k/\partial x_i$.":
        "`Q = (3, 4, 5)`: `Q` is no letter of the layer",
    LINEAR.replace("$b = (1, -1)^\\top$, ", "") + r" Compute $\partial z/\partial x$.": "and none for `b`",
    LINEAR + r" Compute $\partial L/\partial b$.": "none for the gradient that comes in",
    LINEAR + r" Compute $\partial z/\partial b$ and the updated bias for $\eta = 0.1$.": "does not say which letters",
    "Consider 2×2 max pooling. The input is\n\n```\n1 3\n2 4\n```\n\nDerive the backward message.": "code block are not read",
    "Consider 2×2 max pooling. The input is\n\n| 1 | 3 |\n|---|---|\n| 2 | 4 |\n\nDerive the backward message.":
        "numbers in a table",
    r"Let $y_k = \max(0, x_k)$ with $x = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$. Derive $\partial y_k/\partial x_i$.":
        "",
}


@pytest.mark.parametrize("question", REFUSED)
def test_numbers_that_do_not_fit_are_open(question: str) -> None:
    with pytest.raises(CardError) as error:
        module_of(card(question))
    assert REFUSED[question] in str(error.value) and "card.md:" in str(error.value)


def test_a_gradient_of_another_shape_is_refused() -> None:
    with pytest.raises(CardError, match="the shape .2,. at the numbers of the question, and its gradient .3,."):
        solve(card(r"Let $y_k = \max(0, x_k)$ with $x = (1, 2)$ and the upstream gradient $g = (3, 4, 5)$. "
                   r"Derive $\partial L/\partial x$."))


def test_numbers_hold_what_the_question_states_of_its_letters() -> None:
    question = (r"Let $\ell = -\sum_k t_k \ln p_k$ with $p_k = e^{z_k}/\sum_j e^{z_j}$ and $\sum_k t_k = 1$. Compute "
                r"$\partial \ell/\partial z_i$ for $z = (0, 1, 2)$ and $t = (1, 1, 1)$.")
    with pytest.raises(CardError, match="contradict what it states"):
        solve(card(question))
    assert solve(card(question.replace("(1, 1, 1)", "(0, 1, 0)"))).report.ok


def test_the_front_matter_counts_over_the_question() -> None:
    front = "values:\n  - 'x = (5, 6)'\n"
    module = module_of(card(r"Let $y_k = \max(0, x_k)$. Derive $\partial y_k/\partial x_i$ for $x = (1, 2)$.", front))
    assert dict(module.values)["x"] == (((0,), Fraction(5)), ((1,), Fraction(6)))


@pytest.mark.parametrize("name", ["pooling", "linear", "scalars beside", "convolution", "one window"])
def test_the_statement_of_a_card_has_its_numbers(name: str) -> None:
    module = module_of(card(QUESTIONS[name][0]))
    again = module_of(card("Derive.", statement_of(module).text))
    assert (dict(again.values), again.output) == (dict(module.values), module.output)


def test_results_that_no_table_holds_are_refused() -> None:
    with pytest.raises(CardError, match="beyond 1,000,000,000,000"):
        solve(card(r"Let $y_k = e^{x_k}$. Derive $\partial y_k/\partial x_i$ for $x = (100000, 3)$."))


def test_a_kink_is_refused() -> None:
    with pytest.raises(CardError, match="not differentiable"):
        solve(card(r"Let $y_k = \max(0, x_k)$. Compute the backward message for $x = (0, 2)$ and $\delta = (3, 4)$."))


def test_strides_and_sizes_are_no_numbers_of_letters() -> None:
    module = module_of(card("Consider max pooling with kernel size $K = (2, 2)$ and stride $s = (2, 2)$. Derive the backward message."))
    assert module.values == () and module.name == "max_pool"


@pytest.mark.parametrize(("text", "numbers"), [
    (r"Suppose $z = (0, 1)^T$ and $g = \partial L/\partial s = (1, 2)^T$. Compute $s$ and $\partial L/\partial z$.", [1, 2]),
    (r"The input is $z = [0, 1]$. Let $q = (3, 4)$ be the derivative of the loss with respect to the output. Evaluate "
     r"$\partial L/\partial z$ numerically.", [3, 4]),
    ("Compute the backward message for the upstream gradient\n\n$$\\begin{pmatrix} 5 \\\\ 6 \\end{pmatrix}$$\n\nand the input $z = (0, 1)$.",
     [5, 6]),
])
def test_manners_of_giving_numbers(text: str, numbers: list[int]) -> None:
    module = module_of(card(rf"Let $s_i = \frac{{1}}{{1 + e^{{-z_i}}}}$. {text}"))
    assert [int(n) for _, n in dict(module.values)["delta_s"]] == numbers
    assert [int(n) for _, n in dict(module.values)["z"]] == [0, 1]


def test_a_learning_rate_is_no_gradient_that_comes_in() -> None:
    module = module_of(card(r"A neuron computes $s = w x$ and the loss $\ell = (s - t)^2$ and is trained by gradient descent with the "
                            r"learning rate $\eta = 0.1$. Compute $\partial \ell/\partial w$ for $x = 2$, $w = 3$ and $t = 1$."))
    assert {*dict(module.values)} == {"x", "w", "t"}


def test_a_capital_beside_a_letter_is_no_number_in_silence() -> None:
    question = r"Let $z = Wx + b$ and $J = (z - y)^2$. Derive $\partial J/\partial W$."
    with pytest.raises(CardError, match="numbers, or a matrix and a vector"):
        module_of(card(question))
    assert module_of(card(question.replace("Derive", r"Here $W \in \mathbb{R}$. Derive"))).given == ("W", "x", "b", "y")


SOFTMAX = (r"Let $p_k = e^{z_k} / \sum_{j=1}^K e^{z_j}$ for $z \in \mathbb{R}^K$ and $L = -\log p_c$ for the class %s. "
           r"Compute $\partial L/\partial z_k$. Evaluate it for %s.")


@pytest.mark.parametrize(("label", "numbers"), [
    ("$c$", "$c = 2$ and $z = (0, 0, 0)$"), (r"$c \in \{1, \dots, K\}$", "$K = 3$, $c = 2$ and $z = (0, 0, 0)$"),
    (r"$c \in \{1, 2, 3\}$", "$z = (0, 0, 0)$ and $c = 2$"),
])
def test_labels_and_sizes_have_numbers(label: str, numbers: str) -> None:
    values = dict(solve(card(SOFTMAX % (label, numbers))).module.values)
    assert [n for _, n in values["c"]] == [2] and [n for _, n in values["z"]] == [0, 0, 0]


def test_a_size_that_is_not_that_of_its_numbers_is_open() -> None:
    with pytest.raises(CardError, match="`z` has 3 numbers"):
        solve(card(SOFTMAX % ("$c$", "$K = 4$, $c = 2$ and $z = (0, 0, 0)$")))
