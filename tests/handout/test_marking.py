"""Points of steps sum to the card's; what is listed as a mistake is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.card import Card
from derive.handout.apportioned import apportioned
from derive.handout.computed import computed
from derive.handout.marking import (
    HALF,
    UNSTATED,
    Item,
    Marking,
    Mistake,
    Share,
    impossible,
    items,
    marking,
    unfair,
)
from derive.sheet import Math, Prose
from derive.solve import Solution, solve
from derive.verify.report import Report
from tests.bank import composed
from tests.calculus.zoo import ZOO, messages_of
from tests.calculus.zoo import composed as composed_layer


@cache
def solution(name: str) -> Solution:
    """A card's solution, or a layer's sheet as it is composed."""
    if name not in ZOO:
        return composed(name)
    messages = messages_of(name)
    return Solution(None, messages.given, composed_layer(name), Report(()), messages)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 60))
def test_shares_sum_to_the_whole(weights: list[int], units: int) -> None:
    shares = apportioned(weights, units)
    assert sum(shares) == units and len(shares) == len(weights)
    assert min(shares) >= (1 if units >= len(weights) else 0)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 60))
def test_a_share_is_near_its_proportion_or_least(weights: list[int], units: int) -> None:
    for weight, share in zip(weights, apportioned(weights, units), strict=True):
        assert share <= max(1, Fraction(units * weight, sum(weights)) + 1)


@pytest.mark.parametrize("name", ["czech", "overlapping", "question_maxima", *ZOO])
def test_the_points_sum_to_those_of_the_card(name: str) -> None:
    for points in (*range(1, 13), 40):
        found = marking(solution(name), points)
        assert sum(share.points for share in found.shares) == points == found.points
        assert all(share.points >= HALF for share in found.shares)
        assert all(0 < mistake.cost <= points for mistake in found.mistakes)
        assert [*unfair(found, solution(name), points)] == []
        assert tuple(item for share in found.shares for item in share.items) == items(solution(name))


def kinds(name: str) -> list[str]:
    return [item.kind for item in items(solution(name))]


def test_points_are_for_what_is_asked_and_for_nothing_else() -> None:
    assert kinds("overlapping_max_pooling") == ["jacobian", "message"]  # the forward message is shown, and was not asked for
    sample = solution("max_pooling_backward")  # “the backward message ∂f/∂x”
    assert [item.kind for item in items(sample)] == ["either"]
    message = next(item for item in items(solution("lstm_by_name")) if item.kind != "forward")
    assert message.formulas[0].name == "between"  # what the gradients in it are
    assert kinds("logistic_regression") == ["jacobian", "jacobian"]
    assert kinds("prelu_network") == ["forward", *["jacobian"] * 4]
    assert kinds("mini_batch") == ["either"] * 3  # “the messages to X, W and b”
    assert kinds("average_pooling") == ["jacobian"] * 2  # “∂y/∂x and the backward message”


BOTH = r"$\frac{\partial y_t}{\partial x_i}$ %s"


@pytest.mark.parametrize(("asked", "found"), [
    (BOTH % "and the backward message", ["jacobian", "message"]), (BOTH % r"and the backward message $\delta_x$", ["jacobian", "message"]),
    (r"the backward message $\delta_x$ and " + BOTH % "", ["jacobian", "message"]),
    ("the backward message " + BOTH % "", ["either"]), ("the backward message", ["either"]),
    ("\n\n(1) the Jacobian " + (BOTH % "").strip() + ",\n(2) the backward message", ["jacobian", "message"]),
])  # fmt: skip
def test_of_a_derivative_and_a_message_that_are_both_asked_for_each_earns_points(asked: str, found: list[str]) -> None:
    question = rf"A max pooling layer computes $y_t = \max_{{0 \le a < 3}} x_{{t+a}}$. Derive {asked}."
    solved = solve(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n", "card.md"))
    guide = marking(solved, 6)
    assert [item.kind for share in guide.shares for item in share.items] == found
    assert [*unfair(guide, solved, 6)] == []


def test_what_earns_all_points_is_no_mistake() -> None:
    mask = [[m.words for m in marking(solution(name), 5).mistakes if "mask" in m.words]
            for name in ("max_pooling_backward", "overlapping_max_pooling")]
    assert mask == [[], ["the upstream gradient is left out: this is the mask"]]


def test_points_are_in_proportion_to_the_steps() -> None:
    shares = marking(solution("batch_normalisation"), 8).shares
    points = {item.formulas[0].name.removeprefix("jacobian_"): share.points for share in shares for item in share.items}
    assert points["x"] >= 5 and points["beta"] == points["gamma"] == 1


def test_whole_points_where_they_suffice_and_halves_where_they_do_not() -> None:
    found = {points: [share.points for share in marking(solution("overlapping_max_pooling"), points).shares] for points in (8, 3, 1)}
    assert found == {8: [3, 5], 3: [1, 2], 1: [HALF, HALF]}
    shares = marking(solution("prelu_network"), 1).shares
    assert [len(share.items) for share in shares] == [2, 3]


@pytest.mark.parametrize("name", ["words_numbered", "prelu_network", "residual_block", "words_slopes", "gru_step"])
def test_what_takes_as_many_steps_earns_as_much(name: str) -> None:
    for points in (5, 8):
        shares = marking(solution(name), points).shares
        earned = {(share.items[0].weight, share.points) for share in shares}
        assert len(earned) == len({weight for weight, _ in earned})


def test_the_forward_message_counts_more_where_its_formulas_are_not_given() -> None:
    named, given = (marking(solution(name), 12).shares for name in ("lstm_by_name", "elu_alpha"))
    assert named[0].points >= max(share.points for share in named[1:])
    assert given[0].points < given[1].points


def test_a_card_without_points_is_marked_out_of_a_usual_number() -> None:
    assert marking(solution("overlapping"), None).points == UNSTATED


def words(name: str) -> set[str]:
    return {mistake.words.split(":")[0] for mistake in marking(solution(name), 6).mistakes}


def test_an_overlap_can_only_be_lost_where_windows_overlap() -> None:
    lost = "where windows overlap only one contribution is kept"
    assert lost in words("overlapping") and lost not in words("czech")


def test_a_lost_overlap_leaves_the_derivative_right() -> None:
    costs = {m.words.split(":")[0]: m.cost for m in marking(solution("one_d"), 6).mistakes}
    assert costs["where windows overlap only one contribution is kept"] == 3 and costs["no gradient is passed back at all"] == 6


@pytest.mark.parametrize(("name", "between"), [("lstm_cell", [0, 3]), ("gru_step", [1, 0, 0, 0, 0, 0])])
def test_gradients_between_stand_with_what_goes_by_them(name: str, between: list[int]) -> None:
    shares = marking(solution(name), 12).shares
    assert [sum(f.name == "between" for f in item.formulas) for share in shares for item in share.items] == between


def test_mistakes_of_a_message_need_a_message() -> None:
    assert "the upstream gradient is left out" in words("overlapping_max_pooling")
    assert "the upstream gradient is left out" not in words("question_maxima")


def test_mistakes_are_listed_once_and_slips_cost_half() -> None:
    found = {m.words: m.cost for m in marking(solution("czech"), 10).mistakes}
    assert len(found) == len(marking(solution("czech"), 10).mistakes)
    assert found["the sign is wrong"] == Fraction(found["no gradient is passed back at all"], 2)


CASES = "the cases are not told apart, or their boundary is at the wrong place"
INNER = "the inner derivative is left out"
FACTOR = "a factor of the chain rule is left out"
DIAGONAL = "only the term of the same index is differentiated, not the other terms in which the entry stands"


def test_mistakes_follow_from_the_formulas() -> None:
    assert "a sum is lost" in words("linear")
    assert CASES in words("prelu") and CASES not in words("softmax")
    assert DIAGONAL in words("softmax") and DIAGONAL not in words("linear")


def test_a_sign_in_an_index_is_none_of_the_value() -> None:
    index = "a sign in an index is wrong"
    assert index in words("strided_convolution") and "the sign is wrong" not in words("strided_convolution")
    assert "the sign is wrong" in words("logistic_regression") and index not in words("logistic_regression")


def test_nothing_can_be_left_out_that_is_1() -> None:
    of_r = {mistake.words for mistake in marking(composed("huber"), 4).mistakes}  # r = y - t
    assert CASES in of_r and not {INNER, FACTOR} & of_r
    assert not {INNER, FACTOR} & words("elu_alpha")  # e^x
    assert {INNER, FACTOR} <= words("logistic_regression")


def _first(guide: Marking, **changes: object) -> Marking:
    """The guide with its first share changed."""
    return replace(guide, shares=(replace(guide.shares[0], **changes), *guide.shares[1:]))  # type: ignore[arg-type]


def _swapped(guide: Marking) -> Marking:
    """The first two shares with each other's points."""
    first, second, *rest = guide.shares
    return replace(guide, shares=(replace(first, points=second.points), replace(second, points=first.points), *rest))


def _called(guide: Marking) -> Marking:
    own = guide.shares[0].items[0]
    return _first(guide, items=(replace(own, kind="forward"), *guide.shares[0].items[1:]))


def _dearer(guide: Marking) -> Marking:
    own = guide.mistakes[0]
    return replace(guide, mistakes=(Mistake(own.words, own.cost + HALF), *guide.mistakes[1:]))


def _evened(guide: Marking) -> Marking:
    """As much for each, whatever the steps."""
    dearest = max(guide.shares, key=lambda s: s.points)
    spare, others = Fraction(len(guide.shares) - 1), len(guide.shares) - 1
    return replace(guide, shares=tuple(replace(s, points=s.points - 2 * spare if s is dearest else s.points + 2 * spare / others)
                                       for s in guide.shares))


def test_a_mistake_has_its_occasion_in_the_formulas() -> None:
    """No inner derivative can be left out where nothing is bent."""
    formulas = [f for item in items(solution("linear")) for f in item.formulas]
    assert "the inner derivative is left out" in impossible(solution("linear"), formulas)


POINTS, ASKED, CALLED = "The points sum to", "Each thing asked for", "What earns points is called"
STEPS, MISTAKE = "What takes more steps", "A mistake can be made here"
ALTERED: list[tuple[str, Callable[[Marking], Marking], str]] = [
    ("overlapping_max_pooling", lambda g: _first(g, points=g.shares[0].points + 1), POINTS),
    ("overlapping_max_pooling", lambda g: replace(g, points=g.points + 1), POINTS),
    ("overlapping_max_pooling", lambda g: replace(g, shares=g.shares[::-1]), ASKED),
    ("overlapping_max_pooling", lambda g: replace(g, shares=(Share(g.shares[0].items, Fraction(g.points)),)), ASKED),
    ("overlapping_max_pooling", lambda g: _first(g, items=g.shares[0].items * 2), ASKED),
    ("overlapping_max_pooling", _called, CALLED), ("prelu", _dearer, MISTAKE), ("overlapping_max_pooling", _dearer, MISTAKE),
    ("linear", lambda g: replace(g, mistakes=(*g.mistakes, Mistake(CASES, HALF))), MISTAKE),
    ("czech", lambda g: replace(g, mistakes=(Mistake("where windows overlap only one contribution is kept: the sum over them "
                                                     "is lost", HALF),)), MISTAKE),
    ("overlapping_max_pooling", _swapped, STEPS), ("batch_normalisation", _evened, "The points are in proportion"),
]


@pytest.mark.parametrize(("name", "altered", "what"), ALTERED)
def test_an_altered_guide_is_refuted(name: str, altered: Callable[[Marking], Marking], what: str) -> None:
    found = unfair(altered(marking(solution(name), 10)), solution(name), 10)
    assert any(check.evidence.startswith(what) for check in found)


NUMBERS = {"one_neuron_step": ["p", "ell", ("ell", "w"), ("ell", "b")], "two_layers_numbers": ["y", ("y", "W"), ("y", "v"), ("y", "x")],
           "max_pooling_numbers": ["Y", ("loss", "X")]}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_that_are_asked_for_earn_the_points_of_a_question_with_numbers(name: str) -> None:
    found = items(solution(name))
    assert [item.kind for item in found] == ["jacobian" if isinstance(asked, tuple) else "value" for asked in NUMBERS[name]]
    assert all(len(item.numbers) == 1 for item in found)
    assert all(bool(item.formulas) == (item.kind != "value") for item in found)


def test_numbers_on_a_line_of_their_own_stand_once() -> None:
    found = solution("two_layers_numbers")
    assert sum(isinstance(b, Math) and b.name == "numbers" for b in found.sheet.answer) > 1
    assert not any(formula.name == "numbers" for item in items(found) for formula in item.formulas)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_guide_to_other_numbers_is_unfair(name: str) -> None:
    guide = marking(solution(name), 6)
    (first, *_) = items(solution(name))
    def put(other: Item | None) -> Marking:
        return replace(guide, shares=tuple(replace(s, items=tuple(i for item in s.items if (i := other if item == first else item)))
                                           for s in guide.shares))

    (own,) = first.numbers
    wrong = replace(own, text="$p$: 0.5") if isinstance(own, Prose) else replace(own, latex=own.latex + "0")  # type: ignore[call-arg, union-attr]
    assert not [*unfair(guide, solution(name), 6)]
    assert [*unfair(put(replace(first, numbers=(wrong,))), solution(name), 6)]
    assert [*unfair(put(replace(first, numbers=())), solution(name), 6)]
    assert [*unfair(put(None), solution(name), 6)]


def test_what_is_asked_for_by_its_letter_or_as_the_output() -> None:
    module = solution("one_neuron_step").messages.module
    for question, asked in ((r"Compute $p$, $\ell$ and $x$.", ("p", "ell")), ("Find the output for $p = 1$. Then $p$ is known.", ("ell",)),
                            (r"Here $p$ is a number. Derive $\partial \ell / \partial p$.", ())):
        assert computed(question, module) == asked


def test_what_lies_on_the_way_to_other_things_asked_for_earns_its_steps_alone(tmp_path: Path) -> None:
    """∂ℓ/∂z takes the softmax and the cross-entropy; from there ∂ℓ/∂W and ∂ℓ/∂b are a step or two."""
    card = tmp_path / "card.md"
    card.write_text("---\nid: card\n---\n\n# Question\nLet $z_k = \\sum_j W_{kj} x_j + b_k$, $p_k = e^{z_k} / \\sum_i e^{z_i}$ and "
                    "$\\ell = -\\sum_k t_k \\log p_k$ with a one-hot target $t$. (1) Derive $\\frac{\\partial \\ell}{\\partial z_k}$. "
                    "(2) Derive $\\frac{\\partial \\ell}{\\partial W_{kj}}$ and $\\frac{\\partial \\ell}{\\partial b_k}$.\n", encoding="utf-8")
    guide = marking(solve(card), 5)
    assert [(share.items[0].wrt, share.points) for share in guide.shares] == [("z", 3), ("W", 1), ("b", 1)]


@pytest.mark.parametrize(("question", "lost"), [
    (r"The hinge loss is $\ell = \max(0, 1 - y \, w^\top x)$ with $y \in \{-1, 1\}$. Derive $\partial\ell/\partial w$.", False),
    (r"A layer computes $y_k = \max(0, \sum_j W_{kj} x_j)$. Given $\delta_k = \partial L/\partial y_k$ derive $\partial L/\partial x$.", True),
])
def test_no_sum_over_ways_is_lost_where_an_entry_has_but_one(question: str, lost: bool) -> None:
    """That of a condition, 1 - y Σ w_j x_j > 0, is none."""
    solved = solve(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))
    guide = marking(solved, 4)
    assert any("sum is lost" in m.words for m in guide.mistakes) == lost and not [*unfair(guide, solved, 4)]


def test_what_is_said_twice_of_a_maximum_is_one_thing_to_write() -> None:
    solved = solve(Card.parse("---\nid: q\n---\n# Question\nA max-pooling layer with 3×3 windows and stride 3 is applied to $x$. "
                              "Derive the forward message and the backward message.\n"))
    first, *rest = marking(solved, 8).shares
    assert first.items[0].kind == "forward" and first.points < sum(share.points for share in rest)
