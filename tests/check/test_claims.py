"""Equations as people write them, half of them wrong: no wrong one is accepted, no right one refuted."""

from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import derive
from derive.check.report import Judged
from derive.cli import main
from derive.verify.report import Verdict

D = r"\frac{\partial %s}{\partial %s} = "
QUESTIONS = {
    "relu": r"A layer computes $y_k = \max(0, s_k)$. Derive the backward message.",
    "prelu": r"A layer computes $y_k = \max(s_k, a s_k)$ with trainable $a$. Derive the backward and parameter messages.",
    "elu": r"A layer computes $y_k = \begin{cases} s_k & \text{if } s_k > 0 \\ e^{s_k} - 1 & \text{otherwise} \end{cases}$."
           r" Derive the backward message.",
    "linear": r"A layer computes $y_k = \sum_{j=1}^{n} W_{kj} x_j + b_k$ with trainable $W$, $b$."
              r" Derive the backward and parameter messages.",
    "loss": r"Let $\ell = \sum_{k=1}^{n} (y_k - t_k)^2$ with target $t$. Derive $\frac{\partial \ell}{\partial y_k}$.",
    "softmax": r"A layer computes $p_i = \frac{e^{z_i}}{\sum_{j=1}^n e^{z_j}}$. Derive the backward message.",
    "square": r"A layer computes $y_k = x_k^2$. Derive the backward message.",
}
CASES = r"\begin{cases} %s & \text{if } %s \\ %s & \text{otherwise} \end{cases}"
RELU, PRELU, ELU, SQUARE = (D % ("y_k", "s_k"),) * 3 + (D % ("y_k", "x_k"),)
DX, DW, DB = D % ("y_k", "x_j"), D % ("y_k", "W_{kj}"), D % ("y_k", "b_k")
SOFT, LOSS = D % ("p_i", "z_j"), D % (r"\ell", "y_k")
RIGHT = [
    ("relu", RELU + r"\mathbb{I}[s_k > 0]"), ("relu", RELU + r"\mathbb{I}[s_k \ge 0]"),
    ("relu", RELU + CASES % ("1", "s_k > 0", "0")), ("relu", RELU + CASES % ("0", "s_k < 0", "1")),
    ("relu", r"y_k = s_k \mathbb{I}[s_k > 0]"), ("relu", r"\delta_{s,k} = \delta_{y,k} \mathbb{I}[s_k > 0]"),
    ("prelu", PRELU + CASES % ("1", "s_k > a s_k", "a")), ("prelu", PRELU + r"a + (1 - a) \mathbb{I}[s_k > a s_k]"),
    ("prelu", D % ("y_k", "a") + CASES % ("0", "s_k > a s_k", "s_k")),
    ("elu", ELU + CASES % ("1", "s_k > 0", "e^{s_k}")), ("elu", ELU + CASES % ("1", r"s_k \ge 0", "e^{s_k}")),
    ("linear", DX + "W_{kj}"), ("linear", DW + "x_j"), ("linear", DB + "1"),
    ("linear", r"\delta_{x,j} = \sum_k \delta_{y,k} W_{kj}"), ("linear", r"\delta_{W,kj} = \delta_{y,k} x_j"),
    ("linear", r"\delta_{b,k} = \delta_{y,k}"),
    ("loss", LOSS + "2 (y_k - t_k)"), ("loss", LOSS + "-2 (t_k - y_k)"), ("loss", r"\delta_{y,k} = 2 (y_k - t_k)"),
    ("softmax", SOFT + r"p_i (\mathbb{I}[i = j] - p_j)"),
    ("softmax", r"\delta_{z,j} = p_j \left( \delta_{p,j} - \sum_i \delta_{p,i} p_i \right)"),
    ("square", SQUARE + "2 x_k"), ("square", SQUARE + "x_k + x_k"),
]  # fmt: skip
WRONG = [
    ("relu", RELU + r"\mathbb{I}[s_k < 0]"), ("relu", RELU + r"\mathbb{I}[s_k > 0.1]"), ("relu", RELU + "1"),
    ("relu", RELU + r"\mathbb{I}[0 < s_k < 1000]"), ("relu", RELU + r"\mathbb{I}[s_k > 0] + \mathbb{I}[s_k = 0.123]"),
    ("relu", RELU + r"\mathbb{I}[s_k > 0] + 5 \mathbb{I}[s_k = 0]"), ("relu", RELU + "s_k"),
    ("relu", RELU + r"\mathbb{I}[s_k > 0] \mathbb{I}[k < 5]"), ("relu", RELU + r"-\mathbb{I}[s_k > 0]"),
    ("relu", r"\delta_{s,k} = \mathbb{I}[s_k > 0]"), ("relu", RELU + r"\mathbb{I}[s_k > -10^{-6}]"),
    ("prelu", PRELU + CASES % ("1", "s_k > 0", "a")), ("prelu", D % ("y_k", "a") + "s_k"),
    ("prelu", PRELU + CASES % ("a", "s_k > a s_k", "1")),
    ("elu", ELU + r"\begin{cases} 1 & \text{if } s_k > 0 \\ e^{s_k} & \text{if } s_k < 0 \\ 0 & \text{otherwise} \end{cases}"),
    ("elu", ELU + CASES % ("1", "s_k > 0", "e^{s_k} - 1")),
    ("linear", DX + "W_{jk}"), ("linear", DW + "x_k"), ("linear", DB + "b_k"), ("linear", DX + "x_j"),
    ("linear", r"\delta_{x,j} = \sum_k \delta_{y,k} W_{jk}"), ("linear", r"\delta_{W,kj} = \delta_{y,j} x_k"),
    ("linear", r"\delta_{x,j} = \delta_{y,j} W_{jj}"), ("linear", r"\delta_{b,k} = \sum_k \delta_{y,k}"),
    ("loss", LOSS + "(y_k - t_k)"), ("loss", LOSS + "2 (t_k - y_k)"), ("loss", LOSS + "2 (y_k - t_k) + 1"),
    ("loss", LOSS + r"\sum_j 2 (y_j - t_j)"), ("loss", r"\delta_{y,k} = y_k - t_k"),
    ("softmax", SOFT + r"p_i (1 - p_i)"), ("softmax", SOFT + r"p_i (p_j - \mathbb{I}[i = j])"),
    ("softmax", SOFT + r"p_i - p_j"), ("softmax", r"\delta_{z,j} = p_j (1 - p_j) \delta_{p,j}"),
    ("square", SQUARE + "x_k"), ("square", SQUARE + "2 x_k^2"), ("square", SQUARE + "2 x_k + \\mathbb{I}[x_k = 0]"),
    ("square", SQUARE + r"2 x_k + \max(0, x_k - 50)"), ("square", SQUARE + r"2 x_k + \mathbb{I}[x_k = 0.123]"),
]  # fmt: skip


THRESHOLDS = [  # a network that no proof is found of at once
    (r"\mathbb{I}[W x + b \ge 1]", "refuted"), (r"\mathbb{I}[W x + b > \frac{1}{50}]", "refuted"),
    (r"\mathbb{I}[W x + b > 0]", "proved"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "verdict"), THRESHOLDS)
def test_points_lie_on_either_side_of_what_a_claim_compares(value: str, verdict: str) -> None:
    question = (r"A residual block computes $y = x + \max(0, W x + b)$ with $x, b \in \mathbb{R}^n$ and trainable $W$, $b$. "
                "Derive all messages.")
    found, = derive.check(derive.Card.parse(f"---\nid: block\n---\n\n# Question\n{question}\n"),
                          text=rf"$$ \frac{{\partial y}}{{\partial b}} = \mathrm{{diag}}({value}) $$").checks
    assert found.verdict == verdict, found


STRICT = r"\begin{cases} %s & \text{if } s_k > %s \\ e^{s_k} & \text{if } s_k < 0 \end{cases}"


@pytest.mark.parametrize(("value", "verdict"), [
    (STRICT % ("1", "0"), "proved"), (STRICT % ("2", "0"), "refuted"),
    (STRICT % ("1", "1"), "refuted"),  # nothing is said between 0 and 1
])
def test_cases_may_leave_out_a_tie_and_nothing_else(value: str, verdict: str) -> None:
    assert verdict_of("elu", ELU + value) == verdict


def test_what_the_question_says_is_no_claim_of_a_solution() -> None:
    question = r"A card counts from 1: $$ f_{kl} = \max_{1 \le a, b \le 2} x_{2(k-1)+a, 2(l-1)+b}. $$ Derive the messages."
    text = r"We have $f_{kl} = \max_{1 \le a, b \le 2} x_{2(k-1)+a, 2(l-1)+b}$."
    report = derive.check(derive.Card.parse(f"---\nid: one\n---\n\n# Question\n{question}\n"), text=text)
    assert report.ok and [c.verdict for c in report.checks] == ["proved"]
    slope = r"$\frac{\partial y_k}{\partial s_k} = 2$"
    asked = derive.Card.parse(PIECES.replace("Derive the", f"Is {slope} right? Derive the"))
    assert not derive.check(asked, text=f"The derivative is {slope}.").ok  # of derivatives it is


@cache
def card(name: str, answer: str = "") -> derive.Card:
    return derive.Card.parse(f"---\nid: {name}\n---\n\n# Question\n{QUESTIONS[name]}\n\n---\n# Solution\n{answer}\n")


def verdict(name: str, latex: str) -> Judged:
    found, = derive.check(card(name), text=f"The backward message is\n$$ {latex} $$").checks
    return found


def verdict_of(name: str, latex: str) -> str:
    return str(verdict(name, latex).verdict)


@pytest.mark.parametrize(("name", "latex"), RIGHT)
def test_what_is_right_is_not_refuted(name: str, latex: str) -> None:
    assert verdict(name, latex).verdict in (Verdict.PROVED, Verdict.TESTED)


@pytest.mark.parametrize(("name", "latex"), WRONG)
def test_what_is_wrong_is_not_accepted(name: str, latex: str) -> None:
    assert verdict(name, latex).verdict in (Verdict.REFUTED, Verdict.NOT_READ, "off ties")


PIECES = r"""---
id: pieces
---

# Question
A layer computes $y_k = \begin{cases} s_k & \text{if } s_k > 0 \\ a s_k & \text{otherwise} \end{cases}$ with trainable $a$.
Derive the backward and parameter messages.

---
# Solution
"""
ONE = r"$\frac{\partial y_k}{\partial s_k} = 1$"


@pytest.mark.parametrize("text", [
    f"Suppose $s_k > 0$. Then {ONE}.", f"Case 1.\n\n$${ONE}$$".replace("$$$", "$$"),
    f"The derivative is {ONE} (positive part).", f"| $s_k > 0$ |\n|--|\n| {ONE} |", f"## $s_k > 0$\nWe get {ONE}.",
    f"With $a = 1$:\n\nThe derivative is {ONE}.", f"$a = 1$.\n\nWe get {ONE}.", f"We get {ONE}. This holds if $s_k > 0$.",
    f"Let $s_k > 0$. The derivative is {ONE}.", f"It is not {ONE}.", f"If $s_k > 0$ is active, {ONE[:-2]}a$.", f"It would be wrong to write {ONE}.",
])
def test_words_and_formulas_that_may_restrict_an_equation_leave_it_open(text: str) -> None:
    report = derive.check(derive.Card.parse(PIECES + text))
    assert report.ok and not report.complete


A_HALF = ONE[:-2] + r"\frac{1}{2}$"


@pytest.mark.parametrize("text", [
    "For $s_k > 0$ we get {}.", "If $s_k > 0$, then {}; if $s_k < 0$, the slope is $a$.", "We get {} for $s_k > 0$.",
    "{}, \\quad s_k > 0$", "$s_k > 0 \\Rightarrow {}",
])
def test_a_condition_that_a_formula_says_is_part_of_the_equation(text: str) -> None:
    def written(equation: str) -> str:
        return text.format(equation[:-1] if text.startswith("{}, ") else equation.lstrip("$") if "Rightarrow" in text
                           else equation)

    assert derive.check(derive.Card.parse(PIECES + written(ONE))).checks[-1].verdict == Verdict.PROVED
    assert derive.check(derive.Card.parse(PIECES + written(A_HALF))).checks[-1].verdict == Verdict.REFUTED


def test_either_slope_at_a_kink_is_a_derivative() -> None:
    for sign in (">", r"\ge"):
        text = r"We get $\frac{\partial y_k}{\partial s_k} = " + CASES % ("1", f"s_k {sign} 0", "a") + "$."
        found, = derive.check(derive.Card.parse(PIECES + text)).checks
        assert found.verdict == Verdict.PROVED


def test_letters_of_the_solution_mean_what_it_defines_and_chains_are_judged_link_by_link() -> None:
    text = r"""Let $r_k = y_k - t_k$. Then
$$ \frac{\partial \ell}{\partial y_k} = 2 r_k = r_k $$
and $\frac{\partial \ell}{\partial y_k} = q_k$."""
    report = derive.check(card("loss"), text=text.replace("Then", "Therefore"))
    assert [d.latex for d in report.definitions] == ["r_k = y_k - t_k"]
    assert [c.verdict for c in report.checks] == [Verdict.PROVED, Verdict.REFUTED, Verdict.NOT_READ]
    assert report.checks[1].counterexample and "q" in report.checks[2].reason


@pytest.mark.parametrize(("told", "verdict"), [
    ("where $r_k = y_k - t_k$.", "proved"), ("where $r_k = t_k - y_k$.", "refuted"), ("with $r = y - t$.", "proved"),
    ("where $r$ is the residual.", "not read"),
])
def test_a_letter_may_be_defined_behind_the_formula(told: str, verdict: str) -> None:
    found, = derive.check(card("loss"), text=rf"We get $$ \frac{{\partial \ell}}{{\partial y_k}} = 2 r_k, $$ {told}").checks
    assert found.verdict == verdict


@pytest.mark.parametrize(("sign", "verdict"), [("", "not read"), ("-", "refuted")])
def test_a_letter_for_an_extent_that_is_not_told_saves_nothing_that_is_wrong_whatever_it_is(sign: str, verdict: str) -> None:
    text = rf"$$ \delta_{{x,j}} = {sign} \sum_{{k=1}}^{{q}} \delta_{{y,k}} W_{{kj}} $$"
    found, = derive.check(card("linear"), text=text).checks
    assert found.verdict in {"": ("proved", "tested", "not read"), "-": ("refuted",)}[sign]


def test_a_letter_of_the_solution_has_messages() -> None:
    question = r"A cell computes $h' = \tanh(U h + c)$ with trainable $U$ and $c$. Derive the backward and the parameter messages."
    told = r"Let $a = U h + c$. Then $\delta_{a,k} = \delta_{h',k} (1 - (h'_k)^2)$ and $\delta_{h,j} = \sum_k %s \delta_{a,k}$."
    for weights, verdict in (("U_{kj}", "proved"), ("U_{jk}", "refuted")):
        found = derive.check(derive.Card.parse(f"---\nid: cell\n---\n\n# Question\n{question}\n"), text=told % weights)
        assert [c.verdict for c in found.checks] == ["proved", verdict], found.checks


def test_the_command_says_where_and_goes_on_after_a_broken_card(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("no card", "utf-8")
    (tmp_path / "b.md").write_text(PIECES + f"The derivative is {ONE}.", "utf-8")
    found = CliRunner().invoke(main, ["check", str(tmp_path / "a.md"), str(tmp_path / "b.md")])
    assert found.exit_code == 1 and f"b.md:11: refuted: {ONE.strip('$')}; at k" in found.output
    assert CliRunner().invoke(main, ["check", str(tmp_path / "b.md"), "--format", "json"]).exit_code == 1


def test_the_gradient_that_comes_into_a_loss_is_no_derivative_of_it() -> None:
    name = r"$\delta_{\ell} = \frac{\partial L}{\partial \ell}$"
    report = derive.check(card("loss"), text=name + r" is 1, $\delta_{y,k} = 2 (y_k - t_k) \delta_{\ell}$.")
    assert [c.verdict for c in report.checks] == [Verdict.PROVED, Verdict.PROVED]


def test_ties_of_many_entries_refute_no_maximum() -> None:
    text = r"We get $\frac{\partial m_{kl}}{\partial x_{ij}} = " + CASES % ("1", "(i, j) = (i^*, j^*)", "0") + "$."
    assert derive.check("output/gallery/minimum_cz.md", text=text).ok


def test_a_formula_that_is_not_closed_has_its_file_and_a_solution_without_equations_is_told(tmp_path: Path) -> None:
    question = "---\nid: a\n---\n\n# Question\nLet $y_k = \\max(0, x_k)$. Derive $\\partial y_k/\\partial x_k$.\n\n---\n\n# Solution\n"
    (tmp_path / "open.md").write_text(question + "$$ y_k\n", "utf-8")
    (tmp_path / "words.md").write_text(question + "It is obvious.\n", "utf-8")
    found = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert f"{tmp_path / 'open.md'}:11: `$$` is not closed" in found.output
    assert f"{tmp_path / 'words.md'}: no equation to check in the Solution" in found.output
    assert found.exit_code == 2
