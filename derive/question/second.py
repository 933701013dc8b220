"""Second derivatives, which are not derived: Hessians, ∂²ℓ/∂s², ∇²."""

from __future__ import annotations

import re

from derive.notation.formulas import Formula
from derive.question.patterns import one_of
from derive.question.prose import Prose

_SAID = one_of(
    r"\bhessians?\b", r"\bsecond(?:[- ]order)? (?:partial )?derivatives?", r"\bhesián\w*", r"\bdruh\w+ derivac\w*"
)
_BEFORE = re.compile(r"\bsecond(?:[- ]order)? (?:partial )?$|\bdruh\w+ $")
_FIRST = re.compile(r"\bgradients?\b|\bjacobian|(?<!second )(?<!order )(?<!partial )\bderivatives?\b")
_WRITTEN = re.compile(
    r"\\nabla\s*(?:_\s*(?:\{[^{}]*\}|\\?\w+))?\s*\^\s*\{?\s*2|(?:\\partial|(?<![a-z])d)\s*\^\s*\{?\s*2"
)


def asked(prose: Prose) -> tuple[str, int] | None:
    """What the question says or writes of second derivatives, and in which line; None where it does not."""
    found = _SAID.search(prose.text)
    if found is not None:
        return f"“{prose.plain.quote(*found.span())}”", prose.plain.line(found.start())
    squared = next((gap.formula for gap in prose.gaps if written(gap.formula)), None)
    return None if squared is None else (f"${squared.latex.strip()}$", squared.line)


def written(formula: Formula) -> bool:
    return _WRITTEN.search(formula.latex) is not None


def begins(text: str, at: int) -> bool:
    """The word at this place is the derivative of «second derivative»."""
    return _BEFORE.search(text, 0, at) is not None


def alone(words: str) -> bool:
    """The words speak of second derivatives and of no first one."""
    return _SAID.search(words) is not None and _FIRST.search(words) is None
