"""Equations, cases and ranges of sums that stand in words: «$q$ is the softmax of the logits $z$»."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.notation.pieces import running
from derive.notation.rules.trees import Run, all_statements, changed, each, equals, letter, sides, spelt
from derive.notation.symbols import name_of
from derive.notation.tree import Env, Item, Scripted, Token, base_of, has, is_token, split, unwrap
from derive.question.naming import bare_letters
from derive.question.prose import GAP, Gap, Prose
from derive.records import dataclass

_FUNCTIONS = {"softmax": "softmax", "sigmoid": "sigmoid", "logistic function": "sigmoid", "relu": "relu",
              "rectifier": "relu", "softplus": "softplus", "hyperbolic tangent": "tanh"}  # fmt: skip
_SAID = re.compile(
    rf"{GAP}\s*,?\s*(?:of (?:the |a )?(?:[a-z-]+ ){{1,3}})?(?:is|are|be|being|denotes?|=)\s+"
    r"(?:(?:given|obtained|computed|defined) (?:by|as|from) )?(?:the |a )?"
    rf"(?:logistic (?!function))?(?P<name>{'|'.join(_FUNCTIONS)})(?: function| activation| transform(?:ation)?)?"
    rf"\s+(?:of|applied to|at)\s+(?:[a-z-]+ ){{0,4}}{GAP}"
)


def equations_said(prose: Prose, written: Sequence[Formula]) -> Iterator[Formula]:
    """q = softmax(z) for such words, where no formula defines q."""
    gaps = {gap.start: gap for gap in prose.gaps}
    heads = {str(base_of(side[0])) for part in all_statements(written) for side in sides(part)[:-1] if side}
    for match in prose.matches(_SAID):
        ends = gaps.get(match.start()), gaps.get(match.end() - 1)
        letters = [letter for gap in ends if gap is not None and (letter := _letter(gap))]
        if len(letters) == 2 and ends[0] is not None and name_of(letters[0]) not in heads:
            place = ends[0].formula
            latex = rf"{letters[0]} = \mathrm{{{_FUNCTIONS[match['name']]}}}({letters[1]})"
            yield Formula(latex, place.line, place.column, False)


def _letter(gap: Gap) -> str | None:
    found = bare_letters(gap.formula)
    return found[0] if len(found) == 1 else None


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


_OVER = re.compile(
    r"\bsums? (?:runs?|is taken|are taken|extends?|goes|ranges?|is|are) over (?:all )?"
    rf"(?:(?:indices|index|positions|values|terms|those|the) )*(?P<letter>{GAP})"
    rf"(?:\s*,?\s*(?:with|such that|for which|where|satisfying|that satisfy)\s+(?P<range>{GAP}))?"
)


def with_ranges_said(formulas: Sequence[Formula], prose: Prose) -> list[Formula]:
    r"""The formulas with \sum_{k : 0 \le t - 2k < A} for a \sum_k whose range the words give."""
    gaps = {gap.start: gap for gap in prose.gaps}
    found = list(formulas)
    for match in prose.matches(_OVER):
        said = _said(gaps.get(match.start("letter")), gaps.get(match.start("range")) if match["range"] else None)
        if said is not None:
            found = changed(found, lambda tree, said=said: each(tree, lambda item: _ranged(item, *said)))  # type: ignore[misc]
    return found


def _ranged(item: Item, own: str, range_: Run) -> Item:
    big = isinstance(item, Scripted) and is_token(item.base, "BIG") and item.base.text == "sum" and not item.sups
    bare = big and isinstance(item, Scripted) and len(item.subs) == 1 and spelt(unwrap(item.subs[0])) == own
    return replace(item, subs=(range_,)) if bare and isinstance(item, Scripted) else item


def _said(gap: Gap | None, range_: Gap | None) -> tuple[str, Run] | None:
    """The letter and what stands below the sum, where the words give its range."""
    if gap is None:
        return None
    tree = _tree(gap)
    if range_ is None:
        running_ = next((r for r in running(tree) if r.listed and len(r.names) == 1), None)
        two = sides(split(tree, "COMMA")[0]) if tree else []
        if running_ is None or len(two) != 2 or len(running_.ends) != 1:
            return None
        at = tree[0]
        return running_.names[0], (*two[1], Token("REL", "≤", at.start, at.end), *two[0],
                                   Token("REL", "≤", at.start, at.end), *running_.ends[0])
    own = letter(tree[0]) if len(tree) == 1 else None
    colon = Token("COLON", ":", tree[0].start, tree[0].end) if tree else None
    return None if own is None or colon is None else (own, (tree[0], colon, *_tree(range_)))
