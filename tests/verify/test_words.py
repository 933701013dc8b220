"""A claim in words that does not hold is refuted: each changed sentence turns the check of the words red."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import derive
from derive.calculus.one_window import scope_tables
from derive.numeric.arithmetic import precision
from derive.sheet import Bullets, Prose, Sheet
from derive.solve import Solution
from derive.verify.phrases import told
from derive.verify.pictures import routing
from derive.verify.report import Check, Verdict
from derive.verify.sheet import parsed_of, scopes_of
from derive.verify.words import words

POOLING, RELU, JUMP = "cards/max_pooling_backward.md", r"y_k = \max(0, s_k)", r"y = \begin{cases} x & x > 1 \\ 0 & x \le 1 \end{cases}"
OVERLAP, SLOPE = "cards/pooling/overlapping_max_pooling.md", r"y_k = \begin{cases} s_k & s_k > 0 \\ a s_k & s_k \le 0 \end{cases}"
AFFINE = "cards/linear/affine_layer.md"
SMOOTH, MISSED = r"y_k = s_k |s_k|", r"y = 2 \max(0, x) - |x|"


@cache
def solved(layer: str) -> Solution:
    return derive.solve(layer) if layer.endswith(".md") else derive.solve(formula=layer)


def checked(sheet: Sheet, solution: Solution) -> list[Check]:
    messages, sheet = solution.messages, replace(sheet, closing=())  # which is said after the checks
    with precision():
        parsed, _ = parsed_of(sheet, scope_tables(messages.module))
        return words(sheet, messages.module, scopes_of(parsed, messages))


def changed(sheet: Sheet, old: str, new: str) -> Sheet:
    def blocks(found: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(replace(b, text=b.text.replace(old, new)) if isinstance(b, Prose) else b for b in found)

    assert any(old in b.text for b in sheet.blocks() if isinstance(b, Prose))
    return replace(sheet, answer=blocks(sheet.answer), details=blocks(sheet.details))  # type: ignore[arg-type]


@pytest.mark.parametrize("layer", [POOLING, OVERLAP, RELU, SLOPE, JUMP, SMOOTH, MISSED, AFFINE])
def test_the_words_of_a_sheet_hold(layer: str) -> None:
    assert checked(solved(layer).sheet, solved(layer)) == []


MISTAKES = [
    (POOLING, "slope 1 at the entry that attains it, slope 0", "slope 0 at the entry that attains it, slope 1"),
    (POOLING, "has slope 1 with respect to itself", "has slope 2 with respect to itself"),
    (POOLING, "`first`", "`last`"), (POOLING, "takes the first active", "takes the last active"),
    (POOLING, "the first of them if", "the last of them if"),
    (POOLING, "is the largest", "is the smallest"),
    (AFFINE, "is a column of $n$", "is a row of $n$"), (AFFINE, "is a column of $n$", "is a column of $K$"),
    (AFFINE, "$K$ × $n$", "$n$ × $K$"),
    (RELU, "jumps between", "agrees: there the derivative exists, between"),
    (RELU, "jumps between", "is between"),
    (SMOOTH, "there the derivative exists", "there is no derivative of any kind"),
    (SMOOTH, "there the derivative exists", "there it jumps between two slopes"),
    (RELU, "the formulas take $0$", "the formulas take $1$"), (RELU, "has no derivative", "has a derivative"),
    (RELU, "between $0$ and $1$", "between $1$ and $0$"), (SLOPE, " unless $a = 1$", ""),
    (RELU, "one of its generalised", "none of its generalised"), (RELU, "take is one of these", "take is none of these"),
    (POOLING, "tile the input", "overlap"), (POOLING, "exactly one window", "at most two windows"),
    (POOLING, "at most one term", "at most two terms"), (POOLING, "No two windows share an entry", "Windows share entries"),
    (OVERLAP, "overlap, because", "tile the input, because"), (OVERLAP, "up to four windows", "up to two windows"),
    (POOLING, "stride 2", "stride 3"), (OVERLAP, "3\u00a0×\u00a03, stride", "2\u00a0×\u00a02, stride"),
    (POOLING, "four open regions", "five open regions"), (POOLING, "the four entries", "the three entries"),
    (JUMP, "no derivative of any kind", "a kink"), (MISSED, "and do not hold", "and hold"),
]


@pytest.mark.parametrize(("layer", "old", "new"), MISTAKES)
def test_a_sentence_that_is_not_so_is_refuted(layer: str, old: str, new: str) -> None:
    found = checked(changed(solved(layer).sheet, old, new), solved(layer))
    assert found and {c.verdict for c in found} == {Verdict.REFUTED}


@pytest.mark.parametrize("layer", [RELU, JUMP, SMOOTH])
def test_nothing_said_of_a_boundary_is_refuted(layer: str) -> None:
    sheet = solved(layer).sheet
    kept = tuple(b for b in sheet.details if not (isinstance(b, Prose) and ("where" in b.text or "jumps" in b.text)))
    front = tuple(b for b in sheet.answer if not isinstance(b, Prose))
    assert {c.verdict for c in checked(replace(sheet, answer=front, details=kept), solved(layer))} == {Verdict.REFUTED}


def test_a_formula_of_a_template_is_not_read() -> None:
    sheet = changed(solved(RELU).sheet, "; the formulas take", ", by $1 + 1$; the formulas take")
    assert [c.verdict for c in checked(sheet, solved(RELU))] == [Verdict.NOT_READ]


NORM, RATIO = "cards/normalisations/layer_norm_by_name.md", "cards/losses/logistic_regression.md"
SLIPS = [
    (AFFINE, "Backward message, the", "Parameter message, the"), (AFFINE, "derivatives of all outputs", "derivatives of some outputs"),
    (AFFINE, "Parameter message, the", "Backward message, the"),
    (NORM, "is the input", "is a parameter"), (NORM, "are parameters", "are the inputs"), (NORM, "is given", "is a parameter"),
    (NORM, "short for $\\partial L / \\partial y_{k}$", "short for $\\partial L / \\partial x_{i}$"),
    (NORM, "⊙ multiplies", "⊙ adds"), (NORM, "diag puts a vector on", "diag takes"), (NORM, "a column of ones", "a matrix of ones"),
    (NORM, "1 at one output and 0", "0 at one output and 1"), (NORM, "there the contributions cancel", "there the contributions add up"),
    (AFFINE, "is 1 where the condition in it holds, and 0", "is 0 where the condition in it holds, and 1"),
    (NORM, "minus one over its square", "one over its square"), (NORM, "one over twice the root", "one over the root"),
    (NORM, "down as a factor", "down as a summand"), (AFFINE, "all others vanish", "the others remain"),
    (AFFINE, "derivative may be exchanged", "derivative may not be exchanged"), (NORM, "so its derivative is its factor", "so it has none"),
    (RATIO, "It is its own derivative", "It is its own square"), (RATIO, "one over the argument", "the argument"),
    (RATIO, "cancels against", "is multiplied with"), (SLOPE, "all numbers between", "no numbers between"),
    (POOLING, "move that index", "leave that index"), (POOLING, "through every output", "through one output"),
    (POOLING, "moves up fastest", "moves down fastest"), (POOLING, "sum to 1", "sum to 2"), (POOLING, "not negative", "negative"),
    (POOLING, "convex hull", "span"), (POOLING, "have different effects", "have the same effect"),
    (POOLING, "Coordinates start at 0", "Coordinates start at 1"), (POOLING, "stride times its coordinate", "its coordinate"),
    (POOLING, "row by row", "column by column"), (POOLING, "an entry that it contains", "an entry that it lacks"),
    (POOLING, "as many as windows fit", "more than windows fit"), (POOLING, "without ties, and", "with ties, and"),
    (POOLING, "to the selected entry", "to all entries"), (OVERLAP, "kernel is larger than", "kernel is smaller than"),
    (OVERLAP, "send back adds up", "send back is averaged"), (OVERLAP, "adding up where", "averaged where"),
]


@pytest.mark.parametrize(("layer", "old", "new"), SLIPS)
def test_a_slip_in_a_fixed_sentence_is_found(layer: str, old: str, new: str) -> None:
    found = checked(changed(solved(layer).sheet, old, new), solved(layer))
    assert Verdict.REFUTED in {c.verdict for c in found}


@pytest.mark.parametrize("title", ["Min pooling: backward message", "Max pooling: parameter message", "Max pooling"])
def test_a_title_names_what_is_asked_for(title: str) -> None:
    assert checked(replace(solved(POOLING).sheet, title=title), solved(POOLING))


def test_the_words_of_a_picture_name_its_numbers() -> None:
    """The gradients that arrows bring, and the values that they come from."""
    sheet = solved(POOLING).sheet
    figure = next(f for f in sheet.figures() if f.scene.name == "routing")
    scene = figure.scene
    assert all(c.verdict is Verdict.TESTED for c in routing(scene))
    for old, new in (("maximum 18", "maximum 17"), ("gradient -2", "gradient 2")):
        assert old in scene.description
        wrong = replace(scene, description=scene.description.replace(old, new))
        assert [c.verdict for c in routing(wrong)] == [Verdict.REFUTED]


def test_the_closing_counts_are_those_of_the_report() -> None:
    solution = solved(POOLING)
    said = " ".join(i for b in solution.sheet.closing if isinstance(b, Bullets) for i in b.items)
    for word, verdict in (("Proved", Verdict.PROVED), ("Tested", Verdict.TESTED)):
        assert f"{word}: {len([c for c in solution.report.checks if c.latex and c.verdict is verdict])} equation" in said


@pytest.mark.parametrize(("pattern", "text"), [
    (r"(?:an? |the )?(\w+) of x{2,3}y, and so\?*", "one of xxy, and so"), (r"[a-z, ]+ing (up|down)", "adding up"),
    (r"one (is|are)|another", "another"), (r"\*Sum\.\* (both|all) terms?:$", "*Sum.* all term:"), (r"\d+", "12"),
])
def test_a_pattern_is_looked_for_where_its_letters_stand(pattern: str, text: str) -> None:
    assert [found[0] for found in told(pattern, ["x", text])] == [text]
