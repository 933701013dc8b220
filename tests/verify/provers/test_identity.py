"""Derivatives of expressions are proved too, of what compares nothing; and only what holds."""

from __future__ import annotations

import pytest

from derive.notation import read
from derive.numeric.arithmetic import precision
from derive.verify.provers.cases import proofs
from derive.verify.report import Verdict
from tests.bank import solved
from tests.verify.sheets import messages_of, subject, table_of


def proved(name: str, latex: str) -> bool:
    node = read(latex, table_of(messages_of(name)))
    with precision():
        return any(p.of(node) for p in proofs(subject(name)))


@pytest.mark.parametrize("name, latex, wrong", [
    ("softmax_cross_entropy", r"\frac{\partial}{\partial z_{j}} (e^{z_{k}}) = e^{z_{k}} \, \mathbb{I}[j = k]",
     r"\frac{\partial}{\partial z_{j}} (e^{z_{k}}) = e^{z_{k}}"),
    ("softmax_cross_entropy", r"\frac{\partial}{\partial z_{j}} \left(\frac{1}{\sum_{k} e^{z_{k}}}\right) = "
                              r"-\frac{e^{z_{j}}}{\left(\sum_{k} e^{z_{k}}\right)^{2}}",
     r"\frac{\partial}{\partial z_{j}} \left(\frac{1}{\sum_{k} e^{z_{k}}}\right) = "
     r"\frac{e^{z_{j}}}{\left(\sum_{k} e^{z_{k}}\right)^{2}}"),
    ("softmax_cross_entropy", r"\frac{\partial}{\partial p_{j}} (\log(p_{k})) = \frac{1}{p_{k}} \, \mathbb{I}[j = k]",
     r"\frac{\partial}{\partial p_{j}} (\log(p_{k})) = \frac{1}{p_{j}}"),
    ("relu", r"\frac{\partial}{\partial s_{j}} (y_{k}^{2}) = 2 y_{k} \, \mathbb{I}[j = k]",
     r"\frac{\partial}{\partial s_{j}} (y_{k}^{2}) = 2 s_{k} \, \mathbb{I}[j = k]"),
])
def test_a_derivative_of_an_expression(name: str, latex: str, wrong: str) -> None:
    assert proved(name, latex)
    assert not proved(name, wrong)


def test_what_the_expression_itself_compares_is_not_decided_by_the_point() -> None:
    assert not proved("sigmoid", r"\frac{\partial}{\partial s_{j}} (\max(0, s_{k})) = \mathbb{I}[j = k]")


def test_shares_of_a_maximum_are_proved_at_ties() -> None:
    report = solved("tie_question").report
    assert [c.verdict for c in report.checks if c.name == "tie_membership"] == [Verdict.PROVED]
