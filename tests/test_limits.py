"""Formulas that are short and ask for too much: one line, at once."""

from __future__ import annotations

import operator
import re

import pytest

import derive
from derive.card import Card
from derive.errors import CardError, DeriveError, LimitError, UnsupportedError
from derive.expr import Idx
from derive.limits import MOST_IN_A_HEADER, MOST_TERMS
from derive.notation.shapes import ShapeError, axis_letters
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.numeric.compile import _joined
from derive.question import module_of
from derive.solve import stated
from derive.statement import Statement


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (r"y_i = x_i \sum_{k=1}^{100000000} k^2", "a sum of 100,000,000 terms: "),
        (r"y_i = x_i \prod_{k=1}^{100000000} k", "a product of 100,000,000 terms: "),
        (r"y = \sum_{a=1}^{30} \sum_{b=1}^{30} \sum_{c=1}^{30} x_a x_b x_c", "a sum of 27,000 terms: "),
        ("y_i = " + "".join(f"(x_i + {k})" for k in range(1, 60)), "a derivative of "),
        (r"y = \sum_i x_i + x_{999999}", "an entry of `x` beyond the 10,000th"),
    ],
)
def test_what_is_too_much_is_said_without_trying(formula: str, said: str) -> None:
    with pytest.raises(LimitError, match=said):
        derive.solve(formula=formula)


@pytest.mark.parametrize("formula", ["y_i = x_i^{999999999}", "y_i = 9^{9^{9^9}} x_i", "y_i = x_i^{9^{9^9}}"])
def test_exponents_are_small(formula: str) -> None:
    with pytest.raises(CardError, match="an exponent beyond 1000"):
        stated(Statement(), formula)


def test_the_largest_exponent_has_a_sheet() -> None:
    assert derive.solve(formula="y_i = x_i^{1000}").report.ok


@pytest.mark.parametrize(("formula", "error", "said"), [
    (r"y_i = 2^{1000} x_i", UnsupportedError, "a number of more than 40 digits"),
    (r"y_i = 10^{-400} x_i", UnsupportedError, "a number of more than 40 digits"),
    (r"y_i = 3^{30} 3^{30} 3^{30} x_i", UnsupportedError, "a number of more than 40 digits"),
    (r"y_i = (k + 200)! \, x_i", UnsupportedError, "a number of more than 40 digits"),
    (r"y_i = ((k!) + 1)! \, x_i", UnsupportedError, "a number of more than 40 digits"),
    (r"y_i = (k^{20})! \, x_i", UnsupportedError, "a number of more than 40 digits"),
    (r"y_i = x_i^{0.00000000001}", UnsupportedError, "an exponent below 1/1000"),
    (r"y_i = \infty x_i", CardError, r"∞ is no number to calculate with, as in `\infty x_{i}`"),
    (r"y_i = \max(x_i, -\infty)", CardError, "∞ is no number"),
    (r"y_i = \sum_{k=1}^{x_i} x_k", CardError, "a limit of .* is an entry"),
])
def test_numbers_that_nothing_is_derived_from(formula: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said if "*" in said else re.escape(said)) as found:
        derive.solve(formula=formula)
    assert str(found.value).count("line 1") == 1


@pytest.mark.parametrize("formula", [r"y_i = 3^{50} x_i", r"y_i = x_i / 10^{30}", r"y_i = x_i^{0.001}"])
def test_large_numbers_have_a_sheet(formula: str) -> None:
    assert derive.solve(formula=formula).report.ok


def test_many_layers_are_refused_before_they_are_differentiated() -> None:
    layers = [rf"h^{{({n})}}_i = \tanh({f'h^{{({n - 1})}}_i' if n > 1 else 'x_i'})" for n in range(1, 101)]
    with pytest.raises(LimitError, match="100 formulas lead to `h_100`, and at most 16 are differentiated"):
        derive.solve(formula=layers)


@pytest.mark.parametrize("text", ["a," * 1500, "…" * 2400, " " * 300_000])
def test_formulas_of_nothing_but_marks_are_read_through(text: str) -> None:
    with pytest.raises(DeriveError):
        module_of(Card.parse(f"---\nid: q\n---\n# Question\nLet $y_i = {text} x_i$. Derive the backward message.\n"))


def test_a_power_to_a_power_is_a_number() -> None:
    assert derive.solve(formula="y_i = x_i^{x_i^{x_i^{x_i^{x_i}}}}").report.ok


def test_a_product_of_a_thousand_numbers() -> None:
    assert _joined(operator.mul, [2] + [1] * 2000) == 2


def test_maxima_within_one_another() -> None:
    def nested(number: int) -> str:
        value = "x_i"
        for n in range(number):
            value = rf"\max({value}, x_i - {n + 1})"
        return f"y_i = {value}"

    assert derive.solve(formula=nested(10)).report.ok
    with pytest.raises(LimitError, match="20 maxima or cases stand within one another, and at most 10 are"):
        derive.solve(formula=nested(20))


def test_more_axes_than_letters() -> None:
    layer = "y = " + " + ".join(rf"\sum_i x^{{({n})}}_i" for n in range(1, 60))
    with pytest.raises(LimitError, match="more axes than there are letters"):
        derive.solve(formula=layer)


def test_deep_terms_are_recognised_as_matrices_once() -> None:
    """Each part was looked at anew for every way to its place: thirty functions in each other never ended."""
    nested = "x_i"
    for _ in range(16):
        nested = rf"\tanh({nested})"
    assert derive.solve(formula=f"y_i = {nested}").report.ok


def test_a_long_front_matter_is_refused() -> None:
    card = "---\nid: a\n" + "".join(f"key{n}: v\n" for n in range(MOST_IN_A_HEADER // 8)) + "---\n# Question\nQ\n"
    with pytest.raises(CardError, match="characters, and at most 20,000 are read"):
        derive.Card.parse(card)


def test_half_a_character_is_refused_where_it_stands() -> None:
    for card in ('---\nid: "a\\ud800"\n---\n# Question\nQ\n', "---\nid: \ud800\n---\n# Question\nQ\n"):
        with pytest.raises(CardError, match="line 2: half of a character"):
            derive.Card.parse(card)


def test_sums_of_the_largest_size_are_read() -> None:
    from derive.layers.refused import refuse_long_sums

    refuse_long_sums(stated(Statement(), rf"y_i = x_i \sum_{{k=1}}^{{{MOST_TERMS}}} k"))


_RELU = "---\nid: a\n---\n# Question\nConsider $y_k = \\max(0, x_k)$. Derive its backward message.\n"


@pytest.mark.parametrize("text", ["$" * 20_000, "<!--" * 14_000, "\n" * 190, "\n\n" + " \n" * 90, "a\n\n" * 19_000, "\\begin{cases}" * 4_000, "$x_i$ and " * 5_000])
def test_solutions_of_nothing_but_marks_are_read_through(text: str) -> None:
    """Words around formulas were looked for with cubic work."""
    assert not derive.check(derive.Card.parse(f"{_RELU}# Solution\n{text}a\n")).checks


def test_a_list_of_hundreds_of_items_is_read_through() -> None:
    assert derive.solve(derive.Card.parse(_RELU + "  - a\n" * 300)).report.ok


def test_a_solution_of_blanks_is_refused() -> None:
    card = derive.Card.parse(f"{_RELU}# Solution\nA line.\n{' ' * 201}and more\n")
    with pytest.raises(CardError, match="line 7: 202 blanks in a row, and at most 200 are read"):
        derive.check(card)


def test_a_list_of_what_is_wrong_ends() -> None:
    with pytest.raises(CardError, match="… and 980 more lines like these") as found:
        derive.Card.parse(_RELU + "# Question\n" * 1_000)
    assert len(str(found.value).split("\n")) == 21 and len(found.value.problems) == 1_000


def test_a_line_that_quotes_a_card_is_no_page() -> None:
    assert len(str(CardError("x" * 10_000))) < 2_000


@pytest.mark.parametrize(("formula", "said"), [
    (r"y_i = x_i \sum_{k=1}^{k} x_k", "`k` stands in its own limits"),
    (r"y_i = x_i \sum_{k=k}^{5} x_k", "`k` stands in its own limits"),
    (r"y_i = \exp(x_i)^{}", "the superscript of `(x_i)^{}`"),
    (r"y_k = \sum_{a=0}^{} w_a x_{k+a}", "the last value of `a` is missing above"),
])
def test_scripts_that_say_nothing(formula: str, said: str) -> None:
    with pytest.raises(CardError, match=re.escape(said)):
        derive.solve(formula=formula)


def test_more_letters_in_a_window_than_it_has_axes() -> None:
    card = ("---\nid: a\nkernel_size: 2\nstride: 2\n---\n# Question\nConsider average pooling, $y_{kl} = \\frac{1}{4} "
            "\\sum_{(i,lj) \\in \\Omega(k, l)} x_{ij}$. Derive its backward message.\n")
    with pytest.raises(CardError, match="3 letters are in `Omega`, and its windows have 2 axes"):
        derive.solve(derive.Card.parse(card))


def test_more_letters_than_entries_can_be_called_by() -> None:
    """A diagonal matrix was read at one index, with a ``TypeError``."""
    table = SymbolTable(tuple(Symbol(letter, letter, Kind.TENSOR) for letter in "jklmpqr"))
    assert axis_letters(1, [], table) == (Idx("i"),)
    with pytest.raises(ShapeError, match="more axes than there are letters for their entries"):
        axis_letters(2, [], table)
