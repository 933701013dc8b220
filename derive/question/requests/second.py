"""Second derivatives, which are not answered: where a question asks for them."""

from __future__ import annotations

import re

from derive.notation.formulas import Formula
from derive.question.words.lexicon import ends, named
from derive.question.words.prose import Prose

_TWICE = re.compile(  # a squared letter d is none: d^2 stands above another d
    r"\\nabla\s*(?:_\s*(?:\{[^{}]*\}|\\?\w+))?\s*\^\s*\{?\s*2|\\partial\s*\^\s*\{?\s*2"
    r"|(?<![a-z])d\s*\^\s*(?:2|\{\s*2\s*\})\s*\\?\w*\s*(?:\}\s*\{|/\s*\{?)\s*d"
)


def asked_second(prose: Prose) -> tuple[str, int] | None:
    """What the question says or writes of second derivatives, and in which line; None where it does not."""
    for found in named(prose.text, "topic.second"):
        return f"“{prose.plain.quote(found.start, found.stop)}”", prose.plain.line(found.start)
    squared = next((gap.formula for gap in prose.gaps if twice(gap.formula)), None)
    return None if squared is None else (f"${squared.latex.strip()}$", squared.line)


def twice(formula: Formula) -> bool:
    return _TWICE.search(formula.latex) is not None


def begins_second(text: str, at: int) -> bool:
    """The word at this place is the derivative of «second derivative»."""
    return ends(text[:at], "slot.second")


def alone(words: str) -> bool:
    """The words speak of second derivatives and of no first one."""
    return bool(named(words, "topic.second")) and not named(words, "request.gradient", "request.jacobian")
