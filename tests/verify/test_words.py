"""A claim in words that does not hold is refuted: each changed sentence turns the check of the words red."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import derive
import derive.verify.words
import derive.words
from derive.calculus.one_window import scope_tables
from derive.numeric.arithmetic import precision
from derive.receptive_field import WindowFacts
from derive.sheet import Bullets, Claim, Math, Prose, Sheet, Table
from derive.solve import Solution
from derive.verify.answered import answered
from derive.verify.pictures import routing
from derive.verify.report import Check, Verdict
from derive.verify.sheet import parsed_of, scopes_of
from derive.verify.words import words
from derive.words import templates, unread

POOLING, RELU, JUMP = "cards/max_pooling_backward.md", r"y_k = \max(0, s_k)", r"y = \begin{cases} x & x > 1 \\ 0 & x \le 1 \end{cases}"
OVERLAP, SLOPE = "cards/pooling/overlapping_max_pooling.md", r"y_k = \begin{cases} s_k & s_k > 0 \\ a s_k & s_k \le 0 \end{cases}"
AFFINE, NORM = "cards/linear/affine_layer.md", "cards/normalisations/layer_norm_by_name.md"
GATES = "cards/sequences/lstm_by_name.md"
STEP, SCORES, LEAK = "cards/numbers/one_neuron_step.md", "cards/losses/softmax_cross_entropy.md", "cards/linear/prelu_network.md"
RATIO = "cards/losses/logistic_regression.md"
SMOOTH, MISSED, STEEP = r"y_k = s_k |s_k|", r"y = 2 \max(0, x) - |x|", r"y = \sqrt{|x|}"


@cache
def solved(layer: str) -> Solution:
    return derive.solve(layer) if layer.endswith(".md") else derive.solve(formula=layer)


def checked(sheet: Sheet, solution: Solution) -> list[Check]:
    messages = solution.messages
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


ASKED = {"the gradient that comes in has a letter of its own": r"""
A layer computes $y_k = \sum_{i=1}^{n} \sum_{j=1}^{m} A_{kij} x_i u_j + b_k$ of two vectors $\mathbf x\in\mathbb R^n$ and
$\mathbf u\in\mathbb R^m$. Find $\frac{\partial L}{\partial b_k}$, given $\delta_k = \frac{\partial L}{\partial y_k}$.""",
         "some derivatives come by way of gradients between": r"""
With the sigmoid $\sigma$: $$z = \sigma(W_z x + U_z h),\quad r = \sigma(W_r x + U_r h),\quad
n = \tanh(W_n x + U_n (r \odot h)),\quad y = (1 - z) \odot h + z \odot n.$$ Given $\partial L/\partial y$, derive
$\partial L/\partial h$, $\partial L/\partial x$ and the gradients for $W_n$, $U_n$, $W_z$ and $U_r$.""",
         "parameters come first, by way of gradients between": r"""
Let $x_{nj}$ be the value of feature $j$ for sample $n$ of a mini-batch of size $N$. Batch normalisation is
$$ \mu_j=\frac1N\sum_{n}x_{nj},\qquad \sigma_j^2=\frac1N\sum_n (x_{nj}-\mu_j)^2,\qquad
\hat x_{nj}=\frac{x_{nj}-\mu_j}{\sqrt{\sigma_j^2+\varepsilon}},\qquad y_{nj}=\gamma_j\hat x_{nj}+\beta_j . $$
Starting from $g_{nj}=\partial\mathcal L/\partial y_{nj}$, derive the parameter gradients $\partial\mathcal L/\partial\gamma_j$
and $\partial\mathcal L/\partial\beta_j$ and the backward message $\partial\mathcal L/\partial x_{nj}$."""}


@pytest.mark.parametrize("name", ASKED)
def test_the_words_of_what_is_asked_hold(tmp_path: Path, name: str) -> None:
    card = tmp_path / "card.md"
    card.write_text(f"---\nid: card\n---\n\n# Question\n{ASKED[name]}\n", encoding="utf-8")
    assert derive.solve(card).report.failures == ()


# a number, a word, an order, a sign: in sentences of facts, and in those that are always the same
SENTENCES = [
    (POOLING, "slope 1 at the entry that attains it, slope 0", "slope 0 at the entry that attains it, slope 1"),
    (POOLING, "has slope 1 with respect to itself", "has slope 2 with respect to itself"),
    (POOLING, "`first`", "`last`"), (POOLING, "takes the first active", "takes the last active"),
    (POOLING, "the first of them if", "the last of them if"),
    (POOLING, "is the largest", "is the smallest"),
    (AFFINE, "is a column of length $n$", "is a row of length $n$"), (AFFINE, "column of length $n$", "column of length $K$"),
    (AFFINE, "$K$\u00a0×\u00a0$n$", "$n$\u00a0×\u00a0$K$"),
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


@pytest.mark.parametrize(("layer", "old", "new"), SENTENCES)
def test_a_sentence_that_no_facts_say_is_refuted(layer: str, old: str, new: str) -> None:
    found = checked(changed(solved(layer).sheet, old, new), solved(layer))
    assert "A sentence says what its facts say" in {c.evidence for c in found if c.verdict is Verdict.REFUTED}


PLACE = {"unless": (), "wrt": ("$s_{k}$",)}
FACTS: list[tuple[str, str, str, object]] = [
    (POOLING, "window_derivative", "slopes", ("0", "1")), (POOLING, "why_remark", "slopes", ("0", "1")),
    (POOLING, "answer_maximiser", "rule", "last"), (POOLING, "ties_rule", "rule", "last"), (POOLING, "title", "kinds", ["parameter"]),
    (POOLING, "window_maximum", "op", "min"), (POOLING, "routing_caption", "op", "min"), (POOLING, "title", "parts", ["Min pooling"]),
    (AFFINE, "title", "parts", ["Convolution"]), (RELU, "title", "formula", "$y_{k} = s_{k}$"), (RATIO, "title", "wrt", ["$x$"]),
    (RATIO, "title", "of", ["$p$"]),
    (POOLING, "routing_caption", "upstream", r"$\delta_x$"), (POOLING, "routing_caption", "output", "$x$"),
    (POOLING, "here", "stride", [3, 3]), (OVERLAP, "here", "kernel_size", [2, 2]), (OVERLAP, "here", "padding", [(1, 1), (1, 1)]),
    (POOLING, "here", "facts", WindowFacts(4, False, False, False, False)), (POOLING, "ties_message", "overlaps", True),
    (POOLING, "window_cases", "n", 5), (POOLING, "window_entries", "n", 3), (POOLING, "window_entries", "axes", 1),
    (POOLING, "window_entries", "padded", True), (POOLING, "message_windows", "padded", True), (POOLING, "edge", "ceil_mode", True),
    (POOLING, "message_inverse", "gaps", True), (POOLING, "message_inverse", "dilated", True), (POOLING, "here", "rank", 3),
    (POOLING, "upstream", "scalar", True), (AFFINE, "upstream", "scalar", True),
    (RELU, "jump", "chosen", "$1$"), (RELU, "jump", "slopes", ["$1$", "$0$"]), (RELU, "jump", "between", False),
    (SMOOTH, "kink", "smooth", []), (SMOOTH, "kink", "broken", ["$s_{k} = 0$"]), (MISSED, "missed", "chosen", "$1$"),
    (JUMP, "kink", "smooth", ["$x = 1$"]), (STEEP, "kink", "untold", []), (STEEP, "kink", "smooth", ["$x = 0$"]),
    (STEEP, "answer_off", "untold", []), (RELU, "answer_off", "untold", [("$y_{k}$", "$s_{k} = 0$")]),
    (GATES, "answer_between", "output", "$g_{k}$"), (GATES, "answer_between", "loss", "$x$"),
    (RELU, "answer_kinks", "alone", True), (SLOPE, "answer_kinks", "jumps", [SimpleNamespace(boundary="$s_{k} = 0$", of="$y_{k}$", **PLACE)]),
    (AFFINE, "answer_shapes", "shapes", [(("$n$", "$K$"), ["$W$"])]), (AFFINE, "answer_derivatives", "kind", "parameter"),
    (AFFINE, "answer_messages", "gradient", r"$\partial L / \partial x_{i}$"), (NORM, "answer_letters", "inputs", [r"$\gamma_{k}$"]),
    (NORM, "answer_letters", "constants", ["$x_{k}$"]), (NORM, "letters", "rows", [(["$x_{k}$"], "parameter", "")]),
    (AFFINE, "answer_parameters", "", None),
    (NORM, "stage_used", "used", ["$x_{k}$"]), (NORM, "stage_message", "users", ["$x_{k}$"]), (NORM, "cancels", "of", "$\\mu$"),
    (NORM, "answer_shapes", "hadamard", False), (AFFINE, "answer_shapes", "diagonal", True), (AFFINE, "answer_shapes", "rows", True),
    (AFFINE, "answer_bracket", "bracket", r"$\mathbb{I}[i = j]$"), (POOLING, "answer_maximiser", "stars", "$k^*$"),
    (POOLING, "answer_kinks", "tied", ["$k^*$"]), (POOLING, "windows", "ranges", [r"$k \le i \le k + 1$"]),
    (RELU, "kink", "boundaries", ["$s_{k} = 1$"]), (RELU, "kink", "node", "$s_{k}$"), (AFFINE, "answer_derivatives", "output", "$x_{i}$"),
    (AFFINE, "answer_messages", "staged", True), (AFFINE, "upstream", "delta", r"$\delta_{x,i}$"), (NORM, "upstream", "several", False),
    (AFFINE, "answer_messages", "delta", r"$\delta_{x,i}$"), (AFFINE, "answer_messages", "loss", "$x$"),
    (RATIO, "rule_elementwise", "name", "tanh"), (NORM, "rule_power", "kind", "general"), (POOLING, "here", "conditional", False),
    (RATIO, "chain", "through", ["$x_{i}$"]), (RATIO, "chain", "direct", True), (NORM, "rule_direct", "wrt", "$x_{i}$"),
    (GATES, "rule_alike", "like", [r"$\partial c'_{k} / \partial g_{k}$"]), (GATES, "stages_alike", "like", ["$x_{j}$"]),
    (POOLING, "receptive_fields_caption", "source", "$f$"), (POOLING, "upstream", "meant", True), (AFFINE, "upstream", "meant", True),
    (RATIO, "chain_by", "wrt", "$p$"), (RATIO, "chain", "through", ["$x$"]), (POOLING, "answer_derivatives", "kind", "output"),
    ("cards/linear/prelu_network.md", "example_elsewhere", "digits", 4), (GATES, "stages_alike", "here", ["$x_{j}$"]), (POOLING, "sizes", "own", [6, 6]),
    # letters that stand beside the right ones
    (POOLING, "here", "at", "$(k, l)$"), (POOLING, "window_entries", "entries", "$z_{1}$"), (POOLING, "why_rival", "z", "$z_{1}$"),
    (POOLING, "window_entries", "entries", "$z_{1}$, $z_{4}$"), (POOLING, "matrix_form", "z", "$z_{q}$"),
    (POOLING, "locally_constant", "name", r"$\mathcal{A}$"), (POOLING, "one_winner", "unique", "$z_{q}$"),
    (POOLING, "ties_directional", "v", r"$\mathcal{A}$"), (POOLING, "ties", "active", "$z_{q}$"),
    (POOLING, "example_mask", "mask", "$(i, j)$"), (STEP, "chain", "through", ["$p$"]), (SCORES, "rule_product", "quotient", False),
    (LEAK, "rule_alike", "like", [r"$\partial s / \partial w_{j}$"]), (GATES, "stages_alike", "like", [r"$\delta_{h'}$"]),
     (POOLING, "sizes", "outputs", [2, 2]),
]


@pytest.mark.parametrize(("layer", "macro", "name", "value"), FACTS, ids=[f"{f[1]}-{f[2]}" for f in FACTS])
def test_a_fact_that_does_not_hold_is_refuted(layer: str, macro: str, name: str, value: object) -> None:
    """A sentence that is made of it, whatever its words."""
    sheet = solved(layer).sheet
    claims = [c for c in sheet.claims if c.macro == macro] or [Claim(macro, {}, "")]
    wrong = tuple(replace(c, facts={**c.facts, name: value}) for c in claims)
    found = checked(replace(sheet, claims=(*(c for c in sheet.claims if c.macro != macro), *wrong)), solved(layer))
    assert Verdict.REFUTED in {c.verdict for c in found}


PARTS = "tests/cards/pooling/ab_parts.md"


@pytest.mark.parametrize("marks", [("(b)", "(a)"), ("(a)", "(a)"), ("(b)", "(b)"), ("(a)", "(c)")])
def test_each_part_of_the_answer_is_what_that_part_asks_for(marks: tuple[str, str]) -> None:
    solution = solved(PARTS)
    sheet, (first, second) = solution.sheet, marks
    assert [c.facts["part"] for c in sheet.claims if c.macro == "answer_part"] == ["(a)", "(b)"]
    assert [*answered(sheet, solution.module)] == []

    def marked(text: str) -> str:
        return text.replace("**(a)**", f"**{first}**") if "**(a)**" in text else text.replace("**(b)**", f"**{second}**")

    blocks = tuple(replace(b, text=marked(b.text)) if isinstance(b, Prose) else b for b in sheet.answer)
    renamed = {"(a)": first, "(b)": second}
    claims = tuple(replace(c, words=marked(c.words), facts={**c.facts, "part": renamed[c.facts["part"]]})
                   if c.macro == "answer_part" else c for c in sheet.claims)
    found = [c.evidence for c in answered(replace(sheet, answer=blocks, claims=claims), solution.module)]
    assert "Each part of the answer is what that part of the question asks for" in found


def test_what_is_said_in_a_part_of_the_answer_is_checked() -> None:
    solution = solved(PARTS)
    claims = tuple(replace(c, facts={**c.facts, "kind": "parameter" if c.facts["kind"] != "parameter" else "input"})
                   if c.macro == "answer_derivatives" else c for c in solution.sheet.claims)
    assert claims != solution.sheet.claims and checked(solution.sheet, solution) == []
    assert Verdict.REFUTED in {c.verdict for c in checked(replace(solution.sheet, claims=claims), solution)}


WORDS = [
    ("layer", "the {{ rule }} of them", "the last of them"), ("layer", "has no derivative", "has a derivative"),
    ("layer", "jumps between", "agrees between"), ("layer", "there the derivative exists", "there is a kink"),
    ("layer", "It is its own derivative", "It is its own square"), ("layer", "one over twice the root", "one over the root"),
    ("layer", "all others vanish", "the others remain"), ("layer", "is 1 where the condition", "is 0 where the condition"),
    ("windows", '{"max": "largest"', '{"max": "smallest"'), ("windows", '"up" if op', '"down" if op'),
    ("windows", "sum to 1", "sum to 2"), ("geometry", "in exactly one of them", "in two of them"),
    ("figures", "Solid arrows: forward", "Dashed arrows: forward"), ("common", '"no", "one"', '"one", "no"'),
]


@pytest.mark.parametrize(("file", "old", "new"), WORDS)
def test_other_words_are_read_before_a_sheet_says_them(
    file: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copied = tmp_path / "en"
    shutil.copytree(templates() / "en", copied)
    text = (copied / f"{file}.j2").read_text(encoding="utf-8")
    assert old in text
    (copied / f"{file}.j2").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(derive.words, "templates", lambda: tmp_path)
    changed = unread.__wrapped__("en")
    assert changed and all(name.startswith(file) for name in changed)
    monkeypatch.setattr(derive.verify.words, "unread", lambda _: changed)
    found = checked(solved(RELU).sheet, solved(RELU))
    assert {c.evidence for c in found} == {f"The words of `{name}` are those that were read" for name in changed}


@pytest.mark.parametrize("layer", [RELU, JUMP, SMOOTH])
def test_nothing_said_of_a_boundary_is_refuted(layer: str) -> None:
    sheet = solved(layer).sheet
    kept = tuple(b for b in sheet.details if not (isinstance(b, Prose) and ("where" in b.text or "jumps" in b.text)))
    front = tuple(b for b in sheet.answer if not isinstance(b, Prose))
    assert {c.verdict for c in checked(replace(sheet, answer=front, details=kept), solved(layer))} == {Verdict.REFUTED}


def test_a_formula_of_a_template_is_not_read() -> None:
    sheet = changed(solved(RELU).sheet, "; the formulas take", ", by $1 + 1$; the formulas take")
    assert Verdict.NOT_READ in {c.verdict for c in checked(sheet, solved(RELU))}


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


def test_the_cells_of_a_row_belong_together() -> None:
    """Whose rule it is at a tie: all words stay, and the rules stand beside other programs."""
    solution = solved(POOLING)
    table = next(b for b in solution.sheet.details if isinstance(b, Table) and "`first`" in b.rows[0][0])
    first, second, *others = table.rows
    wrong = replace(table, rows=((first[0], second[1]), (second[0], first[1]), *others))
    sheet = replace(solution.sheet, details=tuple(wrong if b is table else b for b in solution.sheet.details))
    assert {c.evidence for c in checked(sheet, solution)} == {"The cells of a row belong together"}


def test_an_example_s_number_on_which_no_other_depends_is_read_back() -> None:
    """One that is not the largest of its window: the picture shows what was drawn."""
    solution = solved(POOLING)
    given = next(b for b in solution.sheet.details if isinstance(b, Math) and b.name == "example_given")
    wrong = replace(given, latex=given.latex.replace("& 3 ", "& 2 "))
    sheet = replace(solution.sheet, details=tuple(wrong if b is given else b for b in solution.sheet.details))
    assert wrong != given and Verdict.NOT_READ in {c.verdict for c in parsed_of(
        sheet, scope_tables(solution.messages.module))[1]}


def test_the_closing_counts_are_those_of_the_report() -> None:
    solution = solved(POOLING)
    said = " ".join(i for b in solution.sheet.closing if isinstance(b, Bullets) for i in b.items)
    for word, verdict in (("Proved", Verdict.PROVED), ("Tested", Verdict.TESTED)):
        assert f"{word}: {len([c for c in solution.report.checks if c.latex and c.verdict is verdict])} equation" in said


def test_a_gradient_with_a_letter_of_its_own_has_the_shape_that_is_told() -> None:
    assert solved("tests/cards/words/words_batch_rows.md").report.ok


def test_one_message_by_way_of_several_tensors() -> None:
    """The displays behind the sentence are those of the tensors between."""
    layers = [rf"h^{{({n})}}_i = \tanh({x})^2 + {x}" for n, x in ((1, "x_i"), (2, "h^{(1)}_i"), (3, "h^{(2)}_i"))]
    solution = derive.solve(formula=layers)
    assert solution.report.ok and "product goes by way of the tensors between" in str(derive.render(solution, "md"))
