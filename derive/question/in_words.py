"""Equations, cases and ranges of sums that stand in words: «$q$ is the softmax of the logits $z$»."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
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
    for match in prose.matches(_SAID):
        ends = gaps.get(match.start()), gaps.get(match.end() - 1)
        letters = [letter for gap in ends if gap is not None and (letter := _letter(gap))]
        if len(letters) == 2 and ends[0] is not None and not any(_defines(letters[0], f.latex) for f in written):
            place = ends[0].formula
            latex = rf"{letters[0]} = \mathrm{{{_FUNCTIONS[match['name']]}}}({letters[1]})"
            yield Formula(latex, place.line, place.column, False)


def _letter(gap: Gap) -> str | None:
    found = bare_letters(gap.formula)
    return found[0] if len(found) == 1 else None


def _defines(letter: str, latex: str) -> bool:
    subscript = r"(?:_\s*(?:\{[^{}]*\}|\w))?"
    return re.search(rf"(?:^|[,;&{{}}\s]){re.escape(letter)}\}}?\s*{subscript}\s*&?\s*:?=", latex) is not None


_IF = rf"(?:,?\s*(?:if|for|when(?:ever)?|where|pro|pokud|když|je-li|jestliže)\s+(?:all\s+)?(?P<cond>{GAP}))"
_ELSE = r"(?:,?\s*(?:otherwise|else|elsewhere|jinak))"
_SAYS = r"(?:it (?:is|equals)\s+|by\s+|is\s+|equals?\s+|to\s+|je\s+)?"
_GIVEN = rf"{GAP}|zero\b|0\b|nul[au]\b"
_FIRST = re.compile(rf"(?P<value>{GAP})\s*{_IF}")
_NEXT = re.compile(
    rf"\s*[,;]?\s*(?:and|while|but|or|a|resp)?\s*,?\s*(?:{_ELSE}\s*,?\s*{_SAYS}(?P<later>{_GIVEN})"
    rf"|{_SAYS}(?P<value>{_GIVEN})\s*(?:{_IF}|{_ELSE}))"
)
_HEAD = re.compile(r"\s*(?P<head>[^=<>]+?)\s*&?\s*:?=\s*(?P<value>[^=]+)", re.DOTALL)
_RELATION = re.compile(r"[<>=]|\\(?:leq?|geq?|neq?|lt|gt|in)(?![A-Za-z])")


@dataclass(frozen=True)
class _Piece:
    """A value and its condition, None for all other cases; the formulas that it takes."""

    head: str | None
    value: str
    cond: str | None
    formulas: tuple[Formula, ...]

    def line(self) -> str:
        return rf"{self.value} & \text{{if }} {self.cond}" if self.cond else rf"{self.value} & \text{{otherwise}}"


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
            lines = r" \\ ".join(piece.line() for piece in pieces)
            whole = replace(place, latex=rf"{pieces[0].head} = \begin{{cases}} {lines} \end{{cases}}")
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
        if piece is None or (piece.head is not None and _bare(piece.head) != _bare(opening.head)):
            break
        found.append(piece)
        end = match.end()
    return found, end


def _piece(match: re.Match[str], gaps: dict[int, Gap]) -> _Piece | None:
    groups = match.groupdict()
    name = "value" if groups.get("value") else "later"
    at = match.start(name)
    value, cond = gaps.get(at), gaps.get(match.start("cond")) if groups.get("cond") else None
    if (groups.get("cond") and (cond is None or not _RELATION.search(cond.formula.latex))) or (
            value is None and groups[name] == GAP):
        return None
    latex, head = (value.formula.latex, None) if value is not None else ("0", None)
    stated = _HEAD.fullmatch(latex.strip(" .,;"))
    if stated:
        head, latex = stated["head"], stated["value"]
    taken = tuple(gap.formula for gap in (value, cond) if gap is not None)
    return _Piece(head, latex.strip(" .,;&"), cond.formula.latex.strip(" .,;") if cond else None, taken)


def _bare(latex: str) -> str:
    return re.sub(r"\s|\\(?:left|right|[,;:! ])(?![A-Za-z])", "", latex)


_OVER = re.compile(
    r"\bsums? (?:runs?|is taken|are taken|extends?|goes|ranges?|is|are) over (?:all )?"
    rf"(?:(?:indices|index|positions|values|terms|those|the) )*(?P<letter>{GAP})"
    rf"(?:\s*,?\s*(?:with|such that|for which|where|satisfying|that satisfy)\s+(?P<range>{GAP}))?"
)
_LETTER = r"\\?[A-Za-z]+"
_COUNTED = re.compile(
    rf"\s*(?P<letter>{_LETTER})\s*=\s*(?P<first>[^=,]+?)\s*,\s*(?:[^=,]+,)?\s*\\[lc]?dots[bc]?\s*,"
    r"\s*(?P<last>[^=,]+?)[\s.,]*")


def with_ranges_said(formulas: Sequence[Formula], prose: Prose) -> list[Formula]:
    r"""The formulas with \sum_{k : 0 \le t - 2k < A} for a \sum_k whose range the words give."""
    gaps = {gap.start: gap for gap in prose.gaps}
    found = list(formulas)
    for match in prose.matches(_OVER):
        said = _said(gaps.get(match.start("letter")), gaps.get(match.start("range")) if match["range"] else None)
        if said is not None:
            letter, below = said
            own = re.escape(letter)
            bare = re.compile(rf"\\sum\s*(?:\\limits\s*)?_\s*(?:\{{\s*{own}\s*\}}|{own}(?![A-Za-z]))(?!\s*\^)")
            found = [replace(f, latex=below.join(bare.split(f.latex))) for f in found]
    return found


def _said(letter: Gap | None, range_: Gap | None) -> tuple[str, str] | None:
    """The letter and the sum with its range, where the words give one."""
    if letter is None:
        return None
    counted = _COUNTED.fullmatch(letter.formula.latex)
    if range_ is None and counted:
        return counted["letter"], rf"\sum_{{{counted['letter']}={counted['first']}}}^{{{counted['last']}}}"
    name = letter.formula.latex.strip()
    if range_ is None or re.fullmatch(_LETTER, name) is None:
        return None
    return name, rf"\sum_{{{name} : {range_.formula.latex.strip(' .,;')}}}"
