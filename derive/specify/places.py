"""Where a formula stands, as messages and readings say it."""

from __future__ import annotations

import re

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


def spot(formula: Formula) -> str:
    """line 12: $f_{kl} = …$; of several formulas under each other the line alone."""
    return f"line {formula.line}" if _UNDER.search(formula.latex) else place(formula)


_UNDER = re.compile(r"\\begin\{(?:aligned|alignedat|gathered|split)\}.*\\\\", re.DOTALL)
