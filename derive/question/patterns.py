"""Patterns that several readers of a question share: lists of phrases, round brackets of any size."""

from __future__ import annotations

import re

# a round bracket with what may stand before it: \left( \big( \bigl( \!\left(
OPENED = r"(?:\s|\\!|\\(?:left|[bB]igg?l?)(?![a-zA-Z]))*\("
_SIZED = r"(?:\s|\\!|\\(?:right|[bB]igg?r?)(?![a-zA-Z]))*"
CLOSED = _SIZED + r"\)"
_CLOSING = re.compile(_SIZED + "$")


def inside(latex: str) -> str:
    r"""What stands before a closing bracket, without the \right of that bracket."""
    return _CLOSING.sub("", latex).strip()


def one_of(*phrases: str) -> re.Pattern[str]:
    """Any of the phrases, each a pattern over text in lower case."""
    return re.compile("|".join(phrases))
