"""Equations in words: «$q$ is the softmax of the logits $z$»."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.notation.formulas import Formula
from derive.question.naming import bare_letters
from derive.question.plain_text import GAP
from derive.question.prose import Gap, Prose

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
