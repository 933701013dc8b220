"""What a check of somebody's solution found: a verdict on each equation, in place, what is missing, and the mark."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.records import dataclass
from derive.tabular import Table, Tabular, counted, formula
from derive.verify.report import Verdict

OFF_TIES = "off ties"  # a verdict: right wherever there is a derivative, and no generalised one at a kink
RIGHT = frozenset({Verdict.PROVED, Verdict.TESTED, OFF_TIES})


@dataclass(frozen=True)
class Judged:
    """An equation of a solution, ``latex`` as written in ``line``, and whether it holds.

    ``mistake`` names a known one; ``follows`` is the line of the first wrong step from which this one follows.
    """

    line: int
    latex: str
    verdict: str
    reason: str = ""
    counterexample: str | None = None
    mistake: str | None = None
    follows: int | None = None

    def __str__(self) -> str:
        told = self.counterexample or self.reason
        likely = f"; likely mistake: {self.mistake}" if self.mistake else ""
        if self.follows is not None:
            likely = f"; it follows from line {self.follows}"
        return f"{self.line}: {self.verdict}: {' '.join(self.latex.split())}" + (f"; {told}" if told else "") + likely

    def data(self) -> dict[str, Any]:
        return {"line": self.line, "latex": self.latex, "verdict": str(self.verdict), "reason": self.reason,
                "counterexample": self.counterexample, "mistake": self.mistake, "follows": self.follows}


@dataclass(frozen=True)
class Definition:
    """A letter that a solution defines."""

    line: int
    latex: str


@dataclass(frozen=True)
class Answered:
    """Something that the question asks for, and whether it is given, implied, open or missing."""

    latex: str
    status: str


@dataclass(frozen=True)
class Points:
    """A mark between what is certain and what is possible, out of ``total``."""

    low: Fraction
    high: Fraction
    total: int

    def __str__(self) -> str:
        span = f"{_plain(self.low)}" if self.low == self.high else f"{_plain(self.low)} to {_plain(self.high)}"
        return f"{span} of {self.total}"


def _plain(points: Fraction) -> str:
    return f"{float(points):g}"


@dataclass(frozen=True)
class Report(Tabular):
    """All equations of a solution in their order; ``definitions`` say what a letter is and claim nothing."""

    checks: tuple[Judged, ...]
    definitions: tuple[Definition, ...] = ()
    asked: tuple[Answered, ...] = ()
    points: Points | None = None
    path: str | None = None

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" if self.missing else ""
        mark = "" if self.points is None else f"; {self.points} points"
        return f"<Report: {counted(c.verdict for c in self.checks)}{missing}{mark}>"

    def _table(self) -> Table:
        rows = [(str(c.line), formula(c.latex), str(c.verdict), "; ".join(filter(None, (
            c.counterexample or c.reason, f"likely mistake: {c.mistake}" if c.mistake else "",
            f"follows from line {c.follows}" if c.follows is not None else "")))) for c in self.checks]
        rows += [("", formula(latex), "missing", "") for latex in self.missing]
        return Table(("line", "equation", "verdict", "why"), tuple(rows))

    @property
    def ok(self) -> bool:
        """Nothing is refuted."""
        return not any(c.verdict == Verdict.REFUTED for c in self.checks)

    @property
    def complete(self) -> bool:
        """Every equation is proved or tested, and nothing that is asked for is missing."""
        return all(c.verdict in (Verdict.PROVED, Verdict.TESTED) for c in self.checks) and not self.missing

    @property
    def missing(self) -> tuple[str, ...]:
        """What the question asks for and no equation gives or implies."""
        return tuple(a.latex for a in self.asked if a.status == "missing")

    def data(self) -> dict[str, Any]:
        """The report for programs: the schema of ``--format json``."""
        points = self.points and {"low": float(self.points.low), "high": float(self.points.high),
                                  "total": self.points.total}
        return {"file": self.path, "ok": self.ok, "complete": self.complete, "checks": [c.data() for c in self.checks],
                "definitions": [{"line": d.line, "latex": d.latex} for d in self.definitions],
                "asked": [{"latex": a.latex, "status": str(a.status)} for a in self.asked],
                "missing": list(self.missing), "points": points}
