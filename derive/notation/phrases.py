"""The words that stand inside formulas: if, otherwise, and, «is the maximum of»."""

from __future__ import annotations

import re

from derive.notation.tree import Item, Token

_KINDS: dict[str, tuple[str, ...]] = {
    "IF": ("if", "when", "where", "for", "whenever", "with", "provided", "provided that", "given", "given that",
           "such that", "in case", "pokud", "když", "pro", "kde", "jestliže"),
    "ELSE": ("otherwise", "else", "elsewhere", "or else", "in all other cases", "in other cases",
             "in every other case", "everywhere else", "if not",
             "for all other", "for all others", "for other", "in the other case", "in all others",
             "for all other values",
             "in any other case", "or otherwise", "jinak", "v ostatních případech"),
    "AND": ("and", "and also", "and if", "and where", "a", "a zároveň"),
    "IFF": ("iff", "if and only if", "exactly when", "exactly if", "právě když"),
    "ALL": ("for all", "for every", "for each", "for any", "pro všechna"),
    "IN": ("in", "is in", "lies in", "belongs to", "is an element of"),
}
_SUCH_THAT = ("s.t", "st", "such that", "subject to", "with", "where", "for which", "with the property that")
_KIND_OF = {phrase: kind for kind, phrases in _KINDS.items() for phrase in phrases}

_LARGEST = "max|maximum|maximal|largest|greatest|biggest|highest"
_SMALLEST = "min|minimum|minimal|smallest|least|lowest"
_EXTREMAL = re.compile(
    rf"(?:is|was|equals|has|attains|achieves|being)\s+(?:the|a|one of the)?\s*(?:(?P<max>{_LARGEST})|(?:{_SMALLEST}))"
    r"(?:\s+(?:element|entry|value|input|pixel|number))?\s+(?:in|of|within|over|inside|among|on|from)"
    r"(?:\s+(?:its|the|all|that|this|values|entries|elements|inputs|in|of|pooling|receptive|field|window|region|patch|"
    r"neighbou?rhood|set|coordinates))*"
)


def plain(text: str) -> str:
    """Lower case, single spaces, no punctuation at the ends."""
    return re.sub(r"(?:\s|~)+", " ", text).strip(" ,.;").lower()


def kind(item: Item | None) -> str | None:
    """IF, ELSE, AND, IFF, ALL or IN, where the item is such a word."""
    if not isinstance(item, Token):
        return None
    return {"AND": "AND", "IFF": "IFF", "FORALL": "ALL"}.get(item.type) if item.type != "TEXT" else _KIND_OF.get(
        plain(item.text)
    )


def defining(item: Item) -> bool:
    """«where», «with»: what follows may be a definition."""
    return isinstance(item, Token) and item.type == "TEXT" and plain(item.text) in ("where", "with", "kde", "s")


def such_that(item: Item) -> bool:
    """``:``, ``|`` or «such that» in a set or under a sum."""
    return isinstance(item, Token) and (
        item.type in ("COLON", "MID") or (item.type == "TEXT" and plain(item.text) in _SUCH_THAT)
    )


def extremal(item: Item | None) -> str | None:
    """'max' or 'min' where the words are «is the largest in its window» and the like."""
    if not isinstance(item, Token) or item.type != "TEXT":
        return None
    match = _EXTREMAL.fullmatch(plain(item.text))
    return None if match is None else "max" if match["max"] else "min"
