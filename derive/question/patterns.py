"""Lists of phrases as one pattern."""

from __future__ import annotations

import re


def one_of(*phrases: str) -> re.Pattern[str]:
    """Any of the phrases, each a pattern over text in lower case."""
    return re.compile("|".join(phrases))
