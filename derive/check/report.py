"""What a check of somebody's solution found: a verdict on each equation, in place."""

from __future__ import annotations

from typing import Any

from derive.records import dataclass
from derive.verify.report import Verdict

OFF_TIES = "off ties"  # a verdict: right wherever there is a derivative, and no generalised one at a kink


@dataclass(frozen=True)
class Judged:
    """An equation of a solution, ``latex`` as written in ``line``, and whether it holds."""

    line: int
    latex: str
    verdict: str
    reason: str = ""
    counterexample: str | None = None
    definition: bool = False

    def __str__(self) -> str:
        told = self.counterexample or self.reason
        return f"{self.line}: {self.verdict}: {' '.join(self.latex.split())}" + (f"; {told}" if told else "")


@dataclass(frozen=True)
class Report:
    """All equations of a solution in their order; ``definitions`` say what a letter is and claim nothing."""

    checks: tuple[Judged, ...]
    definitions: tuple[Judged, ...] = ()
    path: str | None = None

    @property
    def ok(self) -> bool:
        """Nothing is refuted."""
        return not any(c.verdict == Verdict.REFUTED for c in self.checks)

    @property
    def complete(self) -> bool:
        """Every equation is proved or tested."""
        return all(c.verdict in (Verdict.PROVED, Verdict.TESTED) for c in self.checks)

    def data(self) -> dict[str, Any]:
        """The report for programs."""
        checks = [{"line": c.line, "latex": c.latex, "verdict": str(c.verdict), "reason": c.reason,
                   "counterexample": c.counterexample} for c in self.checks]
        return {"file": self.path, "ok": self.ok, "checks": checks,
                "definitions": [{"line": d.line, "latex": d.latex} for d in self.definitions]}
