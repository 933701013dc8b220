"""A pooling whose windows the question leaves open: what is claimed of it is judged over several geometries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.card import Card
from derive.check.report import OFF_TIES, Judged, Report
from derive.errors import CardError
from derive.verify.report import Verdict

_OPEN = "the window's size is not stated"
_GEOMETRIES = {"that tile": (2, 2, 0), "that overlap": (3, 2, 0), "with gaps": (2, 3, 0), "with padding": (3, 2, 1)}
_APART = re.compile(r"non-?\s*overlapping|\bdisjoint\b|do(?:es)?\s+not\s+overlap", re.IGNORECASE)
_TOLD = re.compile(r"overlap|stride|tile|padd|\d\s*(?:x|×|\\times)\s*\d", re.IGNORECASE)
_STATUS = ("given", "implied", "open", "missing")
_WEAKEST: tuple[str, ...] = (Verdict.NOT_READ, OFF_TIES, Verdict.TESTED, Verdict.PROVED)


def is_open(error: CardError) -> bool:
    """Whether nothing but the size of the windows is missing."""
    return all(_OPEN in p.message for p in error.problems)


def geometries(card: Card, text: str) -> Iterator[tuple[str, Card]]:
    """The card with windows of each kind; with those that do not overlap where the words say so."""
    apart = _APART.search(f"{card.question}\n{text}") is not None
    for words, (size, stride, padding) in _GEOMETRIES.items():
        if stride >= size or not apart:
            keys = f"---\nkernel_size: {size}\nstride: {stride}\npadding: {padding}\n"
            yield f"windows {words} ({size} wide, stride {stride}, padding {padding})", Card.parse(
                card.text.replace("---\n", keys, 1), card.path)


def merged(reports: Sequence[tuple[str, Report]], text: str) -> Report:
    """What holds for all windows holds; what fails for some is refuted, where the text does not speak of windows."""
    first = reports[0][1]
    rows = zip(*(r.checks for _, r in reports), strict=False)
    told = _TOLD.search(text) is not None
    asked = tuple(max((r.asked[n] for _, r in reports), key=lambda a: _STATUS.index(a.status))
                  for n in range(len(first.asked)))
    return replace(first, asked=asked, checks=tuple(
        _one([*zip((w for w, _ in reports), row, strict=True)], told) for row in rows))


def _one(found: Sequence[tuple[str, Judged]], told: bool) -> Judged:
    refuted = [(words, c) for words, c in found if c.verdict == Verdict.REFUTED]
    if not refuted:
        return min((c for _, c in found), key=lambda c: _WEAKEST.index(c.verdict))
    words, worst = refuted[0]
    if told and len(refuted) < len(found):
        return replace(worst, verdict=Verdict.NOT_READ, reason=f"it does not hold for {words}", counterexample=None)
    return replace(worst, counterexample=f"for {words}, {worst.counterexample}")
