"""What was checked, how far, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import StrEnum

from derive.records import dataclass
from derive.tabular import Table, Tabular, counted, formula

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
class Report(Tabular):
    """All checks of a sheet; ``definitions`` are displayed equations that claim nothing."""

    checks: tuple[Check, ...]
    definitions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """How many printed equations ended how; whether all else that was checked holds."""
        return f"<Report: {counted(c.verdict for c in self.checks if c.latex)}; {'ok' if self.ok else 'not ok'}>"

    def _table(self) -> Table:
        rows = ((formula(c.latex) if c.latex else c.name, str(c.verdict), c.counterexample or c.evidence)
                for c in self.checks)
        return Table(("checked", "verdict", "evidence"), tuple(rows))

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


_passed: dict[Hashable, Check] = {}  # verdicts of this process, by what is checked up to letters and what it rests on
_MOST = 20_000  # that are remembered: fifteen for a card


def remembered(key: Hashable, compute: Callable[[], Check]) -> Check:
    """The check, or its verdict on the same formulas of the same layer if it passed before."""
    found = _passed.get(key) or compute()  # another thread may empty it meanwhile
    if found.verdict in (Verdict.PROVED, Verdict.TESTED):
        if len(_passed) >= _MOST:
            _passed.clear()
        _passed[key] = found
    return found
