"""The worked example of a layer's sheet: numbers that follow, exactly or rounded, and are checked at their point."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest

from derive.calculus.messages import Messages
from derive.card import Card
from derive.errors import VerificationError
from derive.exposition.example import in_rows
from derive.exposition.sheet import compose
from derive.exposition.subject import Subject
from derive.exposition.worked import following, worked
from derive.expr import And, Entry, Matrix, Node, Num, Partial, Rel, conditions, walk
from derive.magnitudes import distributions, expected, targets
from derive.numeric.arithmetic import DECIMAL, EXACT, precision
from derive.sheet import Math, Sheet, Table
from derive.solve import Solution, solve, stated
from derive.statement import Statement
from derive.verify.points.claims import Compiler
from derive.verify.points.draw import Draws, Pool
from derive.verify.points.sizes import choices
from derive.verify.report import Verdict
from derive.verify.sheet import verify
from tests.bank import composed, derived, solved, understood
from tests.calculus.zoo import ZOO, messages_of
from tests.calculus.zoo import composed as composed_layer


def numbers(sheet: Sheet) -> list[Math]:
    return [b for b in sheet.formulas() if b.scope == "example"]


def given(sheet: Sheet) -> dict[str, Node]:
    """The numbers given to the first example, by letter."""
    said = [s for m in numbers(sheet) if m.definition for s in (m.expr.conds if isinstance(m.expr, And) else (m.expr,))]
    return {s.terms[0].tensor: s.terms[1] for s in said if isinstance(s, Rel) and isinstance(s.terms[0], Entry)}


def table(sheet: Sheet) -> dict[str, str]:
    return {row[0]: row[1] for b in sheet.details if isinstance(b, Table) for row in b.rows}


def test_derivatives_by_whole_tensors_are_proved_entry_by_entry() -> None:
    solution = solved("linear_squared")
    (found,) = [m for m in numbers(solution.sheet) if m.name == "example_derivatives"]
    assert found.latex.startswith(r"\frac{\partial E}{\partial W} = \begin{pmatrix}")
    other = replace(found, latex=re.sub(r"\d+ \\end", r"77 \\end", found.latex))
    for math, verdict in ((found, Verdict.PROVED), (other, Verdict.REFUTED)):
        sheet = replace(solution.sheet, details=tuple(math if b == found else b for b in solution.sheet.details))
        assert [c.verdict for c in verify(sheet, solution.messages).checks if c.latex == math.latex] == [verdict]


@pytest.mark.parametrize("name", ["linear", "conv_relu", "linear_prelu_squared", "hinge", "window_mean_1d", "absolute"])
def test_exact_numbers_of_rational_layers_are_proved(name: str) -> None:
    messages, sheet = messages_of(name), composed_layer(name)
    claims = [m for m in numbers(sheet) if not m.definition]
    checks = {c.latex: c.verdict for c in verify(sheet, messages).checks}
    assert claims and all(checks[m.latex] is Verdict.PROVED for m in claims)


def test_a_wrong_number_is_refuted() -> None:
    messages = Messages(ZOO["linear"].module())
    sheet = compose(messages)
    right = next(m for m in numbers(sheet) if not m.definition)
    assert isinstance(right.expr, Rel) and isinstance(right.expr.terms[1], Matrix)
    latex = right.latex.replace(r"\begin{pmatrix} ", r"\begin{pmatrix} 1", 1)
    wrong = replace(sheet, details=tuple(replace(b, latex=latex) if b is right else b for b in sheet.details))
    verdicts = {c.latex: c.verdict for c in verify(wrong, messages).checks}
    assert verdicts[latex] is Verdict.REFUTED


@pytest.mark.parametrize("name", ["softmax_cross_entropy", "batch_norm", "attention", "neuron_bce", "elu"])
def test_other_layers_have_a_table_of_rounded_numbers(name: str) -> None:
    sheet = composed_layer(name)
    assert all(m.definition for m in numbers(sheet))
    assert "rounded to 4 decimals" in " ".join(getattr(b, "text", "") for b in sheet.details)
    assert all(len(n.strip("()").split(".")[1]) == 4 for v in table(sheet).values() for n in v.split(", "))


def test_given_numbers_keep_to_the_facts() -> None:
    matrix = given(composed_layer("softmax_cross_entropy"))["t"]
    assert isinstance(matrix, Matrix)
    assert sum(n.value for n in matrix.rows[0] if isinstance(n, Num)) == 1


def test_crowded_layers_have_the_smallest_sizes_and_what_does_not_fit_a_page_no_example(
        monkeypatch: pytest.MonkeyPatch) -> None:
    (found, *_), module = (worked(Subject(m := Messages(ZOO["maxout"].module())), EXACT), m.module)
    assert {*found.point.shapes.values()} == {(2,), (2, 2), (2, 2, 2)}
    assert table(composed_layer("maxout"))["$W$"].count(";") == 1
    assert in_rows({at: sum(at) for at in product(range(2), repeat=4)}) == (
        "(0, 1), (1, 2); (1, 2), (2, 3) / (1, 2), (2, 3); (2, 3), (3, 4)")
    monkeypatch.setattr("derive.exposition.worked.MOST_NUMBERS", 10)
    assert not worked(Subject(Messages(module)), EXACT)


def test_probabilities_are_drawn_in_the_order_of_the_formula() -> None:
    """Not in that of a set, which changes from one run to the next."""
    letters = "pqrsuvw"
    logs = " + ".join(rf"{a}_k \log({b}_k)" for a, b in pairwise(letters))
    module = stated(Statement(), rf"y = \sum_{{k=1}}^{{n}} ({logs})", None)
    assert "".join(distributions(module)) == "qprsuvw"


def test_the_numbers_follow_from_the_card_s_id() -> None:
    module = ZOO["linear"].module()
    first, again, other = (numbers(compose(Messages(replace(module, key=key)))) for key in ("a", "a", "b"))
    assert first == again != other


def test_a_derived_formula_that_disagrees_with_the_forward_formula_stops_the_sheet() -> None:
    messages = Messages(ZOO["linear"].module())
    subject = Subject(messages)
    sizes = choices(messages.module, 1)
    point = Draws(messages.module, EXACT, sizes, Pool.of(EXACT, frozenset()), ()).point(0)
    with pytest.raises(VerificationError, match="the derived formula gives 10"):
        list(following(subject, point, lambda indices, value: lambda p, at: 10**6))


def test_a_message_of_zeros_is_not_what_an_example_shows() -> None:
    solution = composed("network_shapes")
    assert any(digit in table(solution.sheet)[r"$\partial L / \partial W_1$"] for digit in "123456789")


@pytest.mark.parametrize(("card", "letters"), [
    ("huber_bank", {"delta"}), ("contrastive", {"m"}), ("triplet", {"alpha"}), ("insensitive", {"varepsilon"}),
    ("elu_layer", {"a"}), ("layer_norm_bank", {"epsilon"}), ("batch_norm_words", {"varepsilon"}),
    ("softmax_temperature", {"T"}), ("regression_ridge", {"lambda"}), ("leaky_cases", set()),
])  # fmt: skip
def test_thresholds_margins_and_slopes_are_above_0(card: str, letters: set[str]) -> None:
    solution = composed(card)
    assert set(expected(solution.module)) == letters
    shown = {name: number.value for name, number in given(solution.sheet).items() if isinstance(number, Num)}
    assert all(shown[name] > 0 for name in letters & set(shown))


def shown_of(solution: Solution) -> dict[str, list[Fraction]]:
    """The numbers given to the first example, by letter."""
    return {name: [n.value for n in walk(value) if isinstance(n, Num)] for name, value in given(solution.sheet).items()}


@pytest.mark.parametrize(("card", "letter"), [("contrastive_pairs", "t"), ("mlp_words_cz", "y"), ("svm_hinge", "t")])
def test_labels_are_labels(card: str, letter: str) -> None:
    shown = shown_of(composed(card))[letter]
    assert {*shown} <= ({-1, 1} if card == "svm_hinge" else {0, 1})
    assert len(shown) == 1 or sum(shown) == 1


def test_a_constant_that_only_weighs_two_terms_is_no_label() -> None:
    assert not targets(solve(formula=r"y = \lambda u + (1 - \lambda) v", statement=Statement(
        inputs=("u", "v"), constants=(r"\lambda",))).module)


def test_probabilities_sum_to_1() -> None:
    shown = shown_of(composed("divergence"))
    assert all(sum(values) == 1 and min(values) > 0 for values in shown.values())


@pytest.mark.parametrize("card", ["huber", "prelu_network", "pinball_cz", "svm_hinge", "elu_alpha", "hinge_plain"])
def test_every_branch_is_visited(card: str) -> None:
    kind = DECIMAL if card == "elu_alpha" else EXACT
    with precision():
        found = worked(Subject(derived(card)), kind)
    compiler = Compiler.of(derived(card), kind)
    claims = [c for e in understood(card).equations for c in compiler.claims(e) if c.marks]
    hits: list[set[int]] = [set() for _ in claims]
    for (point, _), (claim, seen) in product(found, zip(claims, hits, strict=True)):
        with precision():
            claim.holds(point, seen, tied=True)
    assert claims and all(len(seen) == len(claim.marks) for claim, seen in zip(claims, hits, strict=True))


def test_other_branches_stand_in_a_table_of_a_column_each() -> None:
    tables = [b for b in composed("huber").sheet.details if isinstance(b, Table)]
    assert len(tables[-1].header) == 3 and tables[-1].header[0] == "quantity"


def test_each_output_s_derivative_is_shown_where_there_are_few() -> None:
    shown = {n.of for m in numbers(composed("dilated_causal").sheet) if m.name == "example_derivatives"
             for n in walk(m.expr) if isinstance(n, Partial)}
    assert len(shown) == 3


def test_upstream_numbers_differ_and_integers_stand_where_roots_alone_do() -> None:
    shown = shown_of(composed("l2_pooling"))
    assert len({*shown["delta_y"]}) == len(shown["delta_y"])
    assert all(n.denominator == 1 for n in shown["x"])


def test_a_single_size_leaves_more_than_a_pair() -> None:
    assert len(shown_of(composed("softmax_cross_entropy"))["s"]) == 3


@pytest.mark.parametrize("name", ["one_neuron_step", "two_layers_numbers", "max_pooling_numbers"])
def test_the_example_of_a_question_with_numbers_repeats_nothing_of_its_answer(name: str) -> None:
    sheet = solved(name).sheet
    answer = {b.latex for b in sheet.answer if isinstance(b, Math)} | {r for b in sheet.answer if isinstance(b, Table) for r in b.rows}
    assert answer & {(r"$p$", "0.5622")} or name != "one_neuron_step"
    shown = [b for b in sheet.details if isinstance(b, Math) and b.scope == "example" and not b.definition]
    tables = [r for b in sheet.details if isinstance(b, Table) for r in b.rows]
    lefts = {c.terms[0] for b in sheet.answer if isinstance(b, Math) and b.name == "numbers" for c in conditions(b.expr) if isinstance(c, Rel)}
    assert not lefts & {c.terms[0] for b in shown for c in conditions(b.expr) if isinstance(c, Rel)}
    assert not answer & {*tables}
    assert shown or tables or name == "max_pooling_numbers"


def test_targets_whose_sum_the_card_states_are_probabilities_and_a_gradient_flows() -> None:
    numbers_of, found = given(composed("conv_relu_pool_ce").sheet), table(composed("conv_relu_pool_ce").sheet)
    target = numbers_of["t"]
    assert isinstance(target, Matrix)
    entries = [n.value for row in target.rows for n in row if isinstance(n, Num)]
    assert len(entries) == 3 and min(entries) >= 0 and sum(entries) == 1
    assert any(c in "123456789" for c in found[r"$\partial L / \partial w$"])


def test_numbers_beyond_a_threshold_are_drawn_to_visit_its_branch() -> None:
    entry = given(solve(formula=r"y_i = \min(6, \max(0, x_i))").sheet)["x"]
    assert isinstance(entry, Matrix)
    drawn = [n.value for row in entry.rows for n in row if isinstance(n, Num)]
    assert any(n > 6 for n in drawn) and any(0 < n < 6 for n in drawn) and any(n < 0 for n in drawn)


@pytest.mark.parametrize("name", ["margin_signs", "two_constants", "tanh_named"])
def test_no_single_number_hides_what_it_multiplies(name: str) -> None:
    """±1 is drawn where labels are: not for a slope, a margin, a weight of a penalty."""
    given = [c for m in solved(name).sheet.formulas() if m.name == "example_given" for c in conditions(m.expr)]
    single = [c.terms[1] for c in given if isinstance(c, Rel) and isinstance(c.terms[1], Num)]
    assert single and not {Num(1), Num(-1)} & {*single}


def test_computed_entries_that_are_compared_leave_the_given_numbers_small() -> None:
    sheet = composed("conv_relu_pool").sheet
    for name in ("x", "w"):
        entries = given(sheet)[name]
        assert isinstance(entries, Matrix) and all(abs(n.value) <= 3 for r in entries.rows for n in r if isinstance(n, Num))


@pytest.mark.parametrize("name", ["alexnet", "kxk", "overlapping", "rectangular"])
def test_what_adds_up_at_an_entry_is_seen(name: str) -> None:
    """An entry that two windows select does not get 0, as the entries do that none selects."""
    (forward,) = (m.expr for m in numbers(solved(name).sheet) if m.name == "example_output")
    (back,) = (m.expr for m in numbers(solved(name).sheet) if m.name == "example_gradient")
    selected, moved = ([n.value for row in expr.terms[1].rows for n in row if isinstance(n, Num)]
                       for expr in (forward, back) if isinstance(expr, Rel) and isinstance(expr.terms[1], Matrix))
    assert len(selected) > len({*selected}) == sum(n != 0 for n in moved)


def test_a_branch_that_holds_where_numbers_are_close_is_visited_and_no_example_is_all_zeros() -> None:
    sheet = composed("contrastive_pairs").sheet
    (first,) = [m.latex for m in numbers(sheet) if m.name == "example_derivatives"]
    rows = [row[1] for b in sheet.details if isinstance(b, Table) for row in b.rows if r"\partial" in row[0]]
    assert len(rows) == 2 and all(re.search("[1-9]", numbers_of) for numbers_of in (first, *rows))


SIZED = [
    (r"A convolution $y_{ij} = \sum_{p=0}^{1} \sum_{q=0}^{1} w_{pq} x_{i+p,j+q}$ with the kernel $w$ of an input of size $5 \times 4$.", "x", (5, 4)),
    (r"A signal $x$ of length 7 is filtered with the weights $w$: $y_t = \sum_{a=0}^{2} w_a x_{t+a}$.", "x", (7, 1)),
    (r"Average pooling of a $4 \times 6$ input: $y_{kl} = \frac{1}{4} \sum_{(i, j) \in \Omega(k, l)} x_{ij}$ with "
     r"$2 \times 2$ windows and stride 2.", "x", (4, 6)),
]


@pytest.mark.parametrize(("text", "letter", "size"), SIZED)
def test_an_input_has_the_size_that_the_question_names(text: str, letter: str, size: tuple[int, int]) -> None:
    card = Card.parse(f"---\nid: sized\n---\n\n# Question\n{text} Derive the backward message.\n")
    matrix = given(solve(card).sheet)[letter]
    assert isinstance(matrix, Matrix)
    assert (len(matrix.rows), len(matrix.rows[0])) == size
