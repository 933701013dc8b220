"""A solution before the checker: the verdict on each of its lines, as it reads them."""

from __future__ import annotations

from collections.abc import Sequence

from derive.card import Card
from derive.check import Judged, Report, check
from derive.dataset.steps import Line
from derive.records import dataclass
from derive.verify.report import Verdict


@dataclass(frozen=True)
class Told:
    """What the checker says of a solution: of each line the worst verdict; what is asked for and missing."""

    verdicts: tuple[str, ...]
    missing: tuple[str, ...]
    refuted: tuple[tuple[int, Judged], ...] = ()  # number of the line, the first first
    follows: tuple[int | None, ...] = ()  # of a wrong line, the wrong one from which it follows

    @property
    def right(self) -> bool:
        """Every line is proved or tested, and nothing is missing."""
        return not self.missing and {*self.verdicts} <= {Verdict.PROVED, Verdict.TESTED, ""}


_WORST = (Verdict.REFUTED, Verdict.NOT_READ, "off ties", Verdict.TESTED, Verdict.PROVED)


def text_of(lines: Sequence[Line]) -> str:
    """The solution as a card has it: one display after another."""
    return "".join(f"$$ {line.latex} $$\n\n" for line in lines)


def judged(header: str, lines: Sequence[Line]) -> Told:
    """The verdicts on a solution; ``header`` is the layer's statement. "" is the verdict on a definition."""
    before = f"---\nid: row\n{header}---\n# Question\nDerive.\n\n# Solution\n"
    first = before.count("\n") + 1
    report: Report = check(Card.parse(before + text_of(lines)))
    found: dict[int, list[Judged]] = {}
    for one in report.checks:
        found.setdefault((one.line - first) // 2, []).append(one)
    verdicts = tuple(_worst(found.get(n, [])) for n in range(len(lines)))
    refuted = tuple((n, one) for n in sorted(found) for one in found[n] if one.verdict == Verdict.REFUTED)
    earlier = [next((one.follows for one in found.get(n, []) if one.follows is not None), None)
               for n in range(len(lines))]
    follows = tuple(None if line is None else (line - first) // 2 for line in earlier)
    return Told(verdicts, report.missing, refuted, follows)


def _worst(of: Sequence[Judged]) -> str:
    return next((str(v) for v in _WORST if any(one.verdict == v for one in of)), "")
