"""Cases that stand in words: «$y = 0$ if $x < 0$ and $x$ otherwise»."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.notation.rules.trees import Run, equals, sides, spelt
from derive.notation.tree import Env, Token, has, is_token
from derive.question.prose import GAP, Gap, Prose
from derive.records import dataclass

_IF = rf"(?:,?\s*(?:if|for|when(?:ever)?|where|pro|pokud|když|je-li|jestliže)\s+(?:all\s+)?(?P<cond>{GAP}))"
_ELSE = r"(?:,?\s*(?:otherwise|else|elsewhere|jinak))"
_SAYS = r"(?:it (?:is|equals)\s+|by\s+|is\s+|equals?\s+|to\s+|je\s+)?"
_GIVEN = rf"{GAP}|zero\b|0\b|nul[au]\b"
_FIRST = re.compile(rf"(?P<value>{GAP})\s*{_IF}")
_NEXT = re.compile(
    rf"\s*[,;]?\s*(?:and|while|but|or|a|resp)?\s*,?\s*(?:{_ELSE}\s*,?\s*{_SAYS}(?P<later>{_GIVEN})"
    rf"|{_SAYS}(?P<value>{_GIVEN})\s*(?:{_IF}|{_ELSE}))"
)


@dataclass(frozen=True)
class _Piece:
    """A value and its condition, None for all other cases; the formulas that it takes."""

    head: Run | None
    value: Run
    cond: Run | None
    formulas: tuple[Formula, ...]
    shown: tuple[str, str]  # its left side and its row, as written

    def row(self) -> Run:
        """value & if cond"""
        def sign(type_: str, text: str = "") -> Token:
            return Token(type_, text, self.value[-1].end, self.value[-1].end)

        said = (sign("TEXT", "otherwise"),) if self.cond is None else (sign("TEXT", "if"), *self.cond)
        return *self.value, sign("AMP"), *said, sign("CR")


def with_cases_said(written: Sequence[Formula], prose: Prose) -> list[Formula]:
    """The formulas, one with cases in place of those that stand in the pieces of such a sentence.

    Pieces with left sides of their own must agree in them; what does not fit is left as it is.
    """
    gaps = {gap.start: gap for gap in prose.gaps}
    found, at = list(written), 0
    while (first := _FIRST.search(prose.text, at)) is not None:
        pieces, at = _pieces(first, prose, gaps)
        if len(pieces) > 1:
            place = pieces[0].formulas[0]
            lines = r" \\ ".join(piece.shown[1] for piece in pieces)
            head, at_ = pieces[0].head or (), pieces[0].value[0]
            cases = Env("cases", tuple(i for piece in pieces for i in piece.row()), at_.start, at_.end)
            shown = rf"{pieces[0].shown[0]} = \begin{{cases}} {lines} \end{{cases}}"
            whole = replace(place, latex=shown, tree=(*head, equals(at_), cases), origin=place.source)
            taken = [f for piece in pieces for f in piece.formulas if f is not place]
            found = [whole if f is place else f for f in found if not any(f is t for t in taken)]
    return found


def _pieces(first: re.Match[str], prose: Prose, gaps: dict[int, Gap]) -> tuple[list[_Piece], int]:
    """The pieces that begin here, and where to go on; the first must be an equation."""
    opening = _piece(first, gaps)
    if opening is None or opening.head is None:
        return [], first.start() + 1
    found, end = [opening], first.end()
    while found[-1].cond is not None and (match := _NEXT.match(prose.text, end)) is not None:
        piece = _piece(match, gaps)
        if piece is None or (piece.head is not None and spelt(piece.head) != spelt(opening.head)):
            break
        found.append(piece)
        end = match.end()
    return found, end


def _piece(match: re.Match[str], gaps: dict[int, Gap]) -> _Piece | None:
    groups = match.groupdict()
    name = "value" if groups.get("value") else "later"
    at = match.start(name)
    value, cond = gaps.get(at), gaps.get(match.start("cond")) if groups.get("cond") else None
    condition = _tree(cond) if cond is not None else None
    if (groups.get("cond") and (condition is None or not has(condition, "REL", "IN"))) or (
            value is None and groups[name] == GAP):
        return None
    said: Run = _tree(value) if value is not None else (Token("NUMBER", "0", 0, 0),)
    stated = sides(said)
    head = stated[0] if len(stated) == 2 and all(stated) else None
    taken = tuple(gap.formula for gap in (value, cond) if gap is not None)
    if not said:
        return None
    body = said if head is None else stated[1]
    said_if = rf"\text{{if }} {_written(cond, condition)}" if condition else r"\text{otherwise}"
    shown = "" if head is None else _written(value, head), f"{_written(value, body)} & {said_if}"
    return _Piece(head, body, condition, taken, shown)


def _written(gap: Gap | None, items: Run) -> str:
    return "0" if gap is None else gap.formula.part(items, False).latex


def _tree(gap: Gap) -> Run:
    return tuple(item for item in gap.formula.tree or () if not is_token(item, "AMP"))
