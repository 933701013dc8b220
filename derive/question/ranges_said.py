"""Ranges of sums that stand in words: «where the sum runs over all $k$ with $0 \\le t - 2k < A$»."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.question.plain_text import GAP
from derive.question.prose import Gap, Prose

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
