r"""How far a function without brackets reaches, said where the notation decides it: \log \frac{1}{n} \sum_i e^{x_i}."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derive.notation.formulas import Formula
from derive.question.places import place

_BRACED = r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\d)"
_SHARED = re.compile(
    rf"(\\(?:log|ln|exp|tanh|sinh|cosh|sin|cos))(?![a-z])[^+\-=()]*?\\[dtc]?frac\s*{_BRACED}\s*{_BRACED}"
    r"(?:\s|\\[,;:! ]|\\limits)*\\sum")


def reaches_said(formulas: Iterable[Formula]) -> Iterator[str]:
    """How each function before a fraction and a sum was read."""
    for formula in formulas:
        for match in _SHARED.finditer(formula.latex):
            yield f"`{match[1]}` is of the whole product of the fraction and the sum behind it ({place(formula)})"
