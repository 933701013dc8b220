"""A question about several functions, none of them part of another: what is claimed of each is judged by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.card import Card
from derive.check.answered import Given
from derive.check.report import RIGHT, Judged, Report
from derive.errors import CardError
from derive.formulas import formulas
from derive.notation.symbols import name_of
from derive.verify.report import Verdict

_OPEN = "none is computed from the other: which is the layer's output?"
_NAMES = re.compile(r"`(\w+)` \(")
_HEAD = re.compile(r"\s*(\\?[A-Za-z]+)\s*(?:\\left)?\(\s*(\\?[A-Za-z]+)\s*(?:\\right)?\)\s*&?=")  # f(x) = …


def is_of_several(error: CardError, card: Card) -> bool:
    """Whether nothing is open but which of the functions of a number it is that the question is about."""
    heads = {name_of(m[1]) for f in formulas(card.question) if (m := _HEAD.match(f.latex)) is not None}
    return all(_OPEN in p.message and heads.issuperset(_NAMES.findall(p.message)) for p in error.problems)


def each(card: Card, error: CardError) -> Iterator[Card]:
    """The card with each of the functions as the output."""
    told = [(m, f.latex.rstrip(" .,;")) for f in formulas(card.question) if (m := _HEAD.match(f.latex)) is not None]
    forward = "".join(f"  - '{latex.replace(chr(39), chr(39) * 2)}'\n" for _, latex in told if "\n" not in latex)
    names = {name for p in error.problems for name in _NAMES.findall(p.message)}
    for head in (m for m, _ in told if name_of(m[1]) in names):
        keys = (f"---\nforward:\n{forward}output: '{head[1]}'\n"
                f"derive: ['\\frac{{\\partial {head[1]}}}{{\\partial {head[2]}}}']\n")
        yield Card.parse(card.text.replace("---\n", keys, 1), card.path)


def united(reports: Sequence[Report]) -> Report:
    """What is judged beside one of the functions is judged; what holds beside one and fails beside another is not."""
    rows: dict[tuple[int, str, int], list[Judged]] = {}
    for report in reports:
        seen: dict[tuple[int, str], int] = {}
        for check in report.checks:
            place = check.line, check.latex
            seen[place] = seen.get(place, 0) + 1
            rows.setdefault((*place, seen[place]), []).append(check)
    checks = tuple(map(_one, rows.values()))
    defined = {d: None for r in reports for d in r.definitions if d.latex not in {c.latex for c in checks}}
    unread = any(c.verdict == Verdict.NOT_READ for c in checks)
    asked = (a if unread or a.status != Given.OPEN else replace(a, status=Given.MISSING)
             for a in dict.fromkeys(a for r in reports for a in r.asked))
    return replace(reports[0], checks=tuple(sorted(checks, key=lambda c: c.line)), definitions=tuple(defined),
                   asked=tuple(asked), points=None)


def _one(found: Sequence[Judged]) -> Judged:
    decided = [c for c in found if c.verdict != Verdict.NOT_READ]
    if decided and len({c.verdict in RIGHT for c in decided}) > 1:
        return replace(decided[0], verdict=Verdict.NOT_READ, counterexample=None, mistake=None,
                       reason="it holds beside one of the functions, and fails beside another")
    return (decided or found)[0]
