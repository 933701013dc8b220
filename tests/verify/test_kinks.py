"""What a sheet says of kinks holds: the slopes on both sides, the one taken there, and what is smooth or jumps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import derive
from derive.calculus import rules
from derive.card import Card
from derive.expr import ONE, ZERO, Num
from derive.functions import FUNCTIONS
from derive.notation import read
from derive.numeric.arithmetic import precision
from derive.verify.kinks import Beside, borders, claims
from derive.verify.report import Check, Verdict
from tests.bank import solved
from tests.kept import forget_verdicts
from tests.verify.sheets import messages_of, subject

LAYERS = ["relu", "prelu", "absolute", "linear_prelu_squared", "two_layers", "hinge", "huber", "guarded_logarithm"]


def check(name: str, said: Beside) -> Check:
    with precision():
        return borders(said, subject(name))


@pytest.mark.parametrize("name", LAYERS)
def test_what_is_said_of_a_boundary_holds(name: str) -> None:
    found = claims(messages_of(name).module)
    assert [check(name, said).verdict for said in found] == [Verdict.TESTED] * len(found)


@pytest.mark.parametrize(("change", "why"), [
    ({"chosen": Num(Fraction(7))}, "does not lie between"), ({"chosen": Num(Fraction(-1, 2))}, "does not lie between"),
    ({"slopes": (Num(Fraction(2)), ZERO)}, "meet, not"), ({"slopes": (ONE, ONE)}, "meet, not"),
    ({"chosen": Num(Fraction(1, 3))}, "the formula takes a slope there other than"),
    ({"slopes": None, "chosen": None}, "differ"), ({"broken": True}, "does not jump"),
    ({"between": False}, "lies between them everywhere"),
])
def test_what_does_not_hold_is_refuted(change: dict[str, object], why: str) -> None:
    said, = claims(messages_of("relu").module)
    found = check("relu", replace(said, **change))  # type: ignore[arg-type]
    assert found.verdict is Verdict.REFUTED and why in (found.counterexample or "")


def test_a_jump_is_no_smooth_place() -> None:
    broken = next(c for c in claims(messages_of("guarded_logarithm").module) if c.broken)
    found = check("guarded_logarithm", replace(broken, broken=False))
    assert found.verdict is Verdict.REFUTED and "jumps from" in (found.counterexample or "")


KINDS = [  # formula, what the answer says, and what it does not
    (r"y = \max(0, x) + \min(0, \alpha (e^{x/\alpha} - 1))", "", "no derivative"),
    (r"y = x |x|", "", "no derivative"),
    (r"y = \frac{x}{1 + |x|}", "", "no derivative"),
    (r"y = \max(0, x) - \max(0, -x)", "", "no derivative"),
    (r"y = 2 \max(0, x) - |x|", "has the derivative $1$", "no derivative"),
    (r"y = \max(0, x) + 2 \min(0, x)", "one of its generalised derivatives", "none of"),
    (r"y = |x| + \max(0, x) - \max(0, -2 x)", "", "none of"),
    (r"y = \begin{cases} x & x > 1 \\ 0 & x \le 1 \end{cases}", "no derivative of any kind", "generalised"),
    (r"y = \operatorname{sign}(x)", "no derivative of any kind", "generalised"),
    (r"y = x \operatorname{sign}(x)", "one of its generalised derivatives", "jumps"),
    (r"y = \max(x, a x)", "with respect to $x$ unless $a = 1$", "jumps"),
    (r"y = \sqrt{|x|}", "Where $x = 0$, nothing is claimed of $y$", "generalised"),
    (r"y = \begin{cases} x & x \neq 0 \\ 0 & x = 0 \end{cases}", "Where $x = 0$, nothing is claimed of $y$", "jumps"),
    (r"y = \begin{cases} 1 & x \neq 0 \\ 0 & x = 0 \end{cases}", "Where $x = 0$, nothing is claimed of $y$", "jumps"),
    (r"y = \begin{cases} x & x > 0 \\ 2 & x = 0 \\ x & x < 0 \end{cases}", "Where $x = 0$, nothing is claimed", "jumps"),
    (r"y = \begin{cases} x^2 & x \neq 2 \\ 5 & x = 2 \end{cases}", "Where $x = 2$, nothing is claimed of $y$", "jumps"),
    (r"y = \begin{cases} w x & x \neq w \\ 0 & x = w \end{cases}", "nothing is claimed of $y$", "jumps"),
    (r"y = \max(\min(a, b), \min(\max(a, b), c))", "Where $a = b$, nothing is claimed of $y$", "generalised"),
]


@pytest.mark.parametrize(("formula", "said", "unsaid"), KINDS)
def test_what_the_answer_says_is_said_of_the_layer_and_not_of_an_operation_in_it(
        formula: str, said: str, unsaid: str) -> None:
    solution = derive.solve(formula=formula)
    assert solution.report.ok
    front = " ".join(block.text for block in solution.sheet.answer if hasattr(block, "text"))
    assert said in front and unsaid not in front


QUESTIONS = [  # what is so on a boundary that no letter alone is solved from, or that facts decide
    (r"$\ell = \max(0, 1 - y \, w^\top x)$ with $y \in \{-1, 1\}$. Derive $\partial\ell/\partial w$.",
     "has no derivative with respect to $w_{i}$ unless $x_{i} = 0$", "between $0$ and $-y x_{i}$"),
    (r"The loss is $\ell = \frac12 s^2$ for $|s| \le 1$ and $|s| - \frac12$ otherwise. Derive $\partial\ell/\partial s$.",
     "", "agree where $\\left|s\\right| = 1$"),
    (r"$\ell = \max(0, |y - f| - \delta)$ with a threshold $\delta > 0$. Derive $\partial\ell/\partial f$.",
     "no derivative with respect to $f$", "agree where $y = f$"),
    (r"For a label $y \in \{1, \dots, K\}$ let $\ell = \sum_{k \ne y} \max(0, 1 + s_k - s_y)$. Derive $\partial\ell/\partial s_k$.",
     "with respect to $s_{k}$ and $s_{y}$", "with respect to $s_{k}$ jumps between $0$ and $1$"),
]


@pytest.mark.parametrize(("question", "answered", "told"), QUESTIONS)
def test_what_is_so_on_a_boundary_is_told_and_tried(question: str, answered: str, told: str) -> None:
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))
    assert [c.verdict for c in solution.report.checks if c.name == "kinks"].count(Verdict.TESTED) >= 1
    assert answered in " ".join(block.text for block in solution.sheet.answer if hasattr(block, "text"))
    assert told in derive.render(solution, "md")


@pytest.mark.parametrize("change", [{"broken": True}, {"slopes": (ZERO, ONE), "chosen": ZERO}])
def test_a_smooth_place_that_no_letter_is_solved_from_is_tried(change: dict[str, object]) -> None:
    said, = claims(messages_of("huber").module)
    assert said.slopes is None and not said.broken
    assert check("huber", replace(said, **change)).verdict is Verdict.REFUTED  # type: ignore[arg-type]


def test_slopes_that_agree_wherever_the_letters_may_lie_are_no_kink() -> None:
    said, = claims(messages_of("huber").module)
    table = messages_of("huber").module.table
    slopes = tuple(read(s, table) for s in ("y - t", r"d \operatorname{sign}(y - t)"))
    found = check("huber", replace(said, slopes=slopes, chosen=slopes[0]))  # type: ignore[arg-type]
    assert found.verdict is Verdict.REFUTED and "agree everywhere" in (found.counterexample or "")


@pytest.mark.parametrize(("formula", "slope"), [
    (r"y = \max(0, x) - \max(0, -x)", 1), (r"y = \max(0, x) + \min(0, \alpha (e^{x/\alpha} - 1))", 1),
    (r"y = x |x|", 0), (r"y = \max(0, x) + 2 \min(0, x)", 2), (r"y = \max(0, x)", 0),
])
def test_where_terms_tie_the_formulas_give_a_generalised_derivative(formula: str, slope: int) -> None:
    solution = derive.solve(formula=formula)
    letters = {"alpha": 2.0} if r"\alpha" in formula else {}
    assert solution.backward("x", x=0.0, upstream=1.0, **letters) == slope


def test_a_changed_slope_at_a_kink_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_verdicts()
    corner, = FUNCTIONS["abs"].corners
    wrong = replace(FUNCTIONS["abs"], corners=(replace(corner, chosen=Num(Fraction(1, 2))),))
    monkeypatch.setitem(FUNCTIONS, "abs", wrong)
    solution = derive.solve(formula=r"u_k = |v_k|")
    assert [c.name for c in solution.report.failures] == ["kinks"]
    forget_verdicts()


def test_a_pair_rule_that_takes_the_other_term_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_verdicts()
    plain = rules.taken
    monkeypatch.setattr(rules, "taken", lambda of, wrt, module: next(a for a in of.args if a is not plain(of, wrt, module)))
    solution = derive.solve(formula=r"u_k = \max(0, 3 v_k)")
    assert [c.name for c in solution.report.failures] == ["kinks"]
    forget_verdicts()


def test_a_boundary_that_is_solved_for_no_letter_is_tried_too() -> None:
    """Σ w_j x_j = 0: an entry in which it is linear is moved onto it."""
    solution = derive.solve(formula=r"y = \max(0, \sum_j w_j x_j)")
    said = [c for c in solution.report.checks if c.name == "kinks"]
    assert [c.verdict for c in said] == [Verdict.TESTED] * 2
    assert any("has no derivative with respect to $w_{j}$ unless $x_{j} = 0$" in getattr(b, "text", "")
               for b in solution.sheet.answer)


def test_only_the_letters_on_the_way_to_what_is_asked_have_kinks() -> None:
    card = Card.parse("---\nid: q\n---\n# Question\nThe pinball loss is $\\ell = \\max(a (y - z), (a - 1) (y - z))$. Derive "
                      "$\\frac{\\partial \\ell}{\\partial z}$.\n")
    text = derive.render(derive.solve(card), "md")
    assert "with respect to $z$" in text and "with respect to $y$" not in text
    assert r"\begin{cases} -a & \text{if } y > z \\ 1 - a & \text{otherwise} \end{cases}" in text  # not -{a if …}


def test_a_maximum_of_more_than_a_pair_has_kinks() -> None:
    assert derive.solve(formula=r"y_i = \max(x_i, a_1 x_i, a_2 x_i, a_3 x_i)").report.ok


def test_a_smooth_place_of_a_term_of_a_sum_is_tried_by_its_letters() -> None:
    found = [c.evidence for c in solved("huber_samples").report.checks if c.name == "kinks"]
    assert found and all("by `r` agree" in evidence for evidence in found)
