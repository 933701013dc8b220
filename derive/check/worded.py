"""Conditions in words: «if the input is positive», «for negative inputs», of what an equation differentiates by."""

from __future__ import annotations

import re
from functools import cache

from derive.expr import ZERO, Cond, Entry, Fn, Partial, Rel
from derive.question.sentences.grammar import grammar

_SIGNS = {"NONNEGATIVE": "≥", "NONPOSITIVE": "≤", "POSITIVE": ">", "NEGATIVE": "<"}
_OPENS = r"(?:if|when|whenever|where|for|provided)\s+"


@cache
def rows(name: str) -> str:
    """The phrases of a name as a pattern."""
    found = (" ".join(f"(?:{'|'.join(sorted(p.choices))})" for p in row.pieces) for row in grammar("en")[name])
    return r"\b(?:" + "|".join(re.sub(r"[ ]", r"[\\s-]+", row) for row in found) + r")\b"


@cache
def phrase() -> re.Pattern[str]:
    """If the input is positive; for all negative inputs; when it is negative."""
    signs = "|".join(f"(?P<{{0}}{name}>{rows(f'CLAIM_{name}')})" for name in _SIGNS)
    subject = rows("CLAIM_SUBJECT")
    return re.compile(
        rf"{_OPENS}(?:(?:the|its|this|an|a|all|any|every)\s+)?(?:(?:{subject}|(?P<it>\bit\b))\s+(?:is|are)\s+"
        rf"(?:{signs.replace('{0}', 'is_')})|(?:{signs.replace('{0}', 'of_')})\s+{subject})", re.IGNORECASE)


def condition(found: re.Match[str], equation: Rel) -> Cond | None:
    """x_k > 0 beside ∂y_k/∂x_k = … and δ_{x,k} = …, s > 0 beside f'(s) = …."""
    sign = next(op for name, op in _SIGNS.items() if found[f"is_{name}"] or found[f"of_{name}"])
    head = equation.terms[0]
    about = head.wrt if isinstance(head, Partial) else head.args[0] if isinstance(head, Fn) and head.args else None
    if isinstance(head, Entry) and head.tensor.startswith("delta_"):
        about = Entry(head.tensor.removeprefix("delta_"), head.indices)
    return Rel((about, ZERO), (sign,)) if isinstance(about, Entry) else None
