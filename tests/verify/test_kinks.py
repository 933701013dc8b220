"""What a sheet says of kinks holds: the slopes on both sides, and the one taken between them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from derive.calculus.kinks import Jump
from derive.expr import Expr, Num
from derive.numeric.arithmetic import precision
from derive.verify.kinks import jumping, slopes
from derive.verify.report import Check, Verdict
from tests.verify.sheets import messages_of, subject

LAYERS = ["relu", "prelu", "absolute", "linear_prelu_squared", "two_layers", "hinge"]


def check(name: str, node: Expr, jump: Jump) -> Check:
    with precision():
        return slopes(node, jump, subject(name))


@pytest.mark.parametrize("name", LAYERS)
def test_derived_slopes_meet_at_the_kink(name: str) -> None:
    found = jumping(messages_of(name).module)
    assert [check(name, node, jump).verdict for node, jump in found] == [Verdict.TESTED] * len(found)


@pytest.mark.parametrize(("change", "why"), [
    ({"chosen": Num(Fraction(7))}, "does not lie between"), ({"chosen": Num(Fraction(-1, 2))}, "does not lie between"),
    ({"slopes": (Num(Fraction(2)), Num(Fraction(0)))}, "meet, not"), ({"slopes": (Num(Fraction(1)), Num(Fraction(1)))}, "meet, not"),
])
def test_a_wrong_slope_or_convention_is_refuted(change: dict[str, object], why: str) -> None:
    (node, jump), = jumping(messages_of("relu").module)
    found = check("relu", node, replace(jump, **change))  # type: ignore[arg-type]
    assert found.verdict is Verdict.REFUTED and why in (found.counterexample or "")


def test_any_convention_between_the_slopes_will_do() -> None:
    (node, jump), = jumping(messages_of("relu").module)
    assert check("relu", node, replace(jump, chosen=Num(Fraction(1, 3)))).verdict is Verdict.TESTED
