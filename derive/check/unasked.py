"""A question whose layer is understood, and whose request is not: what holds of the layer is said to hold."""

from __future__ import annotations

from dataclasses import replace

from derive.card import Card
from derive.check.report import Judged, Report
from derive.errors import DeriveError
from derive.module import Module
from derive.statement import Statement
from derive.verify.report import Verdict

_OF_LAYER = ("the layer has no", "column ")  # a part of it may not be understood


def layer_of(card: Card, error: DeriveError) -> Module | None:
    """The layer, where it is understood as soon as something else is asked of it."""
    from derive.question import module_of

    if card.front_matter.get("derive") is not None or any(o in p.message for p in error.problems for o in _OF_LAYER):
        return None
    try:
        return module_of(card, Statement(derive=("backward",)))
    except DeriveError:
        return None


def unrefuted(report: Report, error: DeriveError) -> Report:
    """Nothing is missing, and nothing refuted: words that are not understood may ask about a part of the inputs."""
    why = f"what is asked is not understood: {error.problems[0].message}"

    def one(check: Judged) -> Judged:
        return check if check.verdict != Verdict.REFUTED else replace(
            check, verdict=Verdict.NOT_READ, reason=why, counterexample=None, mistake=None, follows=None)

    return replace(report, checks=tuple(map(one, report.checks)), asked=(), points=None)
