"""Reports and statements in notebooks and shells: tables of the same cells in three forms, and one line."""

from fractions import Fraction

import derive
from derive.check.report import Answered, Judged, Points
from derive.check.report import Report as Judgement
from derive.verify.report import Check, Report, Verdict

REPORT = Report((Check("sum", r"|x| \le 1", Verdict.PROVED, "by Z3, a_b & 2% | 3"), Check("pair", "", Verdict.TESTED, "at 20 points")))
JUDGEMENT = Judgement(
    (Judged(7, "y\n= 1", Verdict.REFUTED, counterexample="2 < 3", mistake="the sign"), Judged(9, "z = y", Verdict.REFUTED, follows=7)),
    asked=(Answered("dy", "missing"),), points=Points(Fraction(1), Fraction(3, 2), 5))
STATEMENT = derive.Statement(layers="linear -> relu", forward=(r"y = \max(0, |s|)", "z = y?"), kernel_size=(3, 2), derive=("backward", r"\frac{\partial y}{\partial s}"))


def test_each_shows_itself_in_a_line() -> None:
    assert repr(REPORT) == "<Report: 1 proved; ok>"
    assert repr(JUDGEMENT) == "<Report: 2 refuted, 1 missing; 1 to 1.5 of 5 points>"
    assert repr(derive.Statement(inputs=("x",))) == "Statement(inputs=('x',))"
    assert len(repr(STATEMENT)) < 110 and repr(STATEMENT).endswith("…)")


def test_markdown_keeps_its_cells_apart() -> None:
    lines = REPORT._repr_markdown_().splitlines()
    assert lines[:3] == ["| checked | verdict | evidence |", "| :-- | :-- | :-- |",
                         r"| $\vert x\vert  \le 1$ | proved | by Z3, a_b & 2% \| 3 |"]
    assert lines[3] == "| pair | tested | at 20 points |"
    assert JUDGEMENT._repr_markdown_().splitlines()[2:] == [
        "| 7 | $y = 1$ | refuted | 2 < 3; likely mistake: the sign |", "| 9 | $z = y$ | refuted | follows from line 7 |", "|  | $dy$ | missing |  |"]


def test_a_page_takes_no_sign_for_its_own() -> None:
    assert '<td style="text-align: left">$y = 1$</td>' in JUDGEMENT._repr_html_() and "2 &lt; 3" in JUDGEMENT._repr_html_()


def test_mathematics_has_words_as_text() -> None:
    assert r"|x| \le 1 & \text{proved} & \text{by Z3, a\_b \& 2\% | 3} \\" in REPORT._repr_latex_()


def test_a_statement_says_what_is_a_formula_and_what_is_open() -> None:
    assert STATEMENT._repr_markdown_().splitlines()[2:] == [
        "| layers | linear -> relu |", r"| forward | $y = \max(0, \vert s\vert )$, $z = y$? |", r"| derive | backward, $\frac{\partial y}{\partial s}$ |",
        "| kernel_size | 3, 2 |"]
