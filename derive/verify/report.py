"""What was checked, how far, and what was found."""

from __future__ import annotations

from enum import StrEnum

from derive.records import dataclass

ENOUGH = 20  # points, for a verdict of `tested`


class Verdict(StrEnum):
    PROVED = "proved"  # equal identically, at the sizes and geometries named
    TESTED = "tested"  # agrees with the evaluator at 20 or more points that visit every case
    REFUTED = "refuted"  # a counterexample is shown
    NOT_READ = "not read"  # outside the notation


@dataclass(frozen=True)
class Check:
    """One printed equation (``latex``) or one agreement of two routes (``latex`` empty)."""

    name: str
    latex: str
    verdict: Verdict
    evidence: str
    counterexample: str | None = None
    points: int = 0


@dataclass(frozen=True)
class Report:
    """All checks of a sheet; ``definitions`` are displayed equations that claim nothing."""

    checks: tuple[Check, ...]
    definitions: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Every check proved or tested."""
        return all(c.verdict in (Verdict.PROVED, Verdict.TESTED) for c in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(c for c in self.checks if c.verdict in (Verdict.REFUTED, Verdict.NOT_READ))

    def equations(self, verdict: str) -> tuple[Check, ...]:
        """The printed equations that ended so; whoever counts them counts these."""
        return tuple(c for c in self.checks if c.latex and c.verdict == verdict)
