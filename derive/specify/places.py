"""Where a formula stands and how far its functions reach, as messages and readings say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derive.notation.formulas import Formula

_LAYOUT = re.compile(
    r"(?P<inner>\\begin\{(\w+)\}.*?\\end\{\2\})"  # its columns are its own
    r"|\\tag\*?\{[^}]*\}|(?:\\q?quad\s*)+\(\w+\)|\\label\{[^}]*\}|\\nonumber|\\notag|(?<!\\)&|\\\\(?=\s*$)",
    re.DOTALL,
)
_END = re.compile(r"(?:[\s,;~]|(?<!\\right)(?<!\\right )\.|\\[,;:! ])+$")  # the dot of \right. is no full stop


def place(formula: Formula) -> str:
    """line 12: $f_{kl} = …$, without equation number and full stop."""
    latex = _LAYOUT.sub(lambda found: found["inner"] or " ", formula.latex)
    return f"line {formula.line}: ${_END.sub('', ' '.join(latex.split()))}$"


_BRACED = r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\d)"
_SHARED = re.compile(
    rf"(\\(?:log|ln|exp|tanh|sinh|cosh|sin|cos))(?![a-z])[^+\-=()]*?\\[dtc]?frac\s*{_BRACED}\s*{_BRACED}"
    r"(?:\s|\\[,;:! ]|\\limits)*\\sum")


def reaches_said(formulas: Iterable[Formula]) -> Iterator[str]:
    """How each function before a fraction and a sum was read."""
    for formula in formulas:
        for match in _SHARED.finditer(formula.latex):
            yield f"`{match[1]}` is of the whole product of the fraction and the sum behind it ({place(formula)})"
