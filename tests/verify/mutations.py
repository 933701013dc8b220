"""Every single-token change of a printed formula: operators, relations, indices, digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\\mathop\{\\mathrm\{[^}]*\}\}|\\text\{[^}]*\}|\\begin\{[a-z]+\}|\\end\{[a-z]+\}|\\(?:mathbb|mathcal|operatorname\*?)\{[^}]*\}"
                    r"|\\[A-Za-z]+|\\.|[A-Za-z]'*|\d|[=<>+\-*/]|.", re.S)  # fmt: skip
_SWAPS = {
    "=": (r"\ne ", "<"), "<": (">", r"\le "), ">": ("<", r"\ge "), r"\le": ("<", r"\ge "), r"\ge": (">", r"\le "),
    r"\ne": ("=",), "+": ("-",), "-": ("+",), r"\max": (r"\min",), r"\min": (r"\max",), r"\sum": (r"\prod",),
    r"\prod": (r"\sum",), "*": ("",),
}  # fmt: skip
_PAIRS = {r"\lfloor": (r"\rfloor", r"\lceil", r"\rceil"), r"\lceil": (r"\rceil", r"\lfloor", r"\rfloor")}


def mutants(latex: str, letters: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(what was changed, the changed formula); ``letters`` are the index letters in use."""
    tokens = _TOKEN.findall(latex)
    assert "".join(tokens) == latex
    for n, token in enumerate(tokens):
        for other in _others(token, letters):
            yield f"{token}→{other} at {n}", "".join((*tokens[:n], other, *tokens[n + 1:]))
        if token in _PAIRS:
            close, left, right = _PAIRS[token]
            end = tokens.index(close, n)
            yield f"{token}→{left} at {n}", "".join((*tokens[:n], left, *tokens[n + 1 : end], right, *tokens[end + 1:]))


def _others(token: str, letters: tuple[str, ...]) -> tuple[str, ...]:
    if token in _SWAPS:
        return _SWAPS[token]
    if token.isdigit():
        return (str(int(token) + 1),)
    base = token.rstrip("'")
    if base in letters:
        following = letters[(letters.index(base) + 1) % len(letters)]
        return (following + token[len(base):], *((base,) if token != base else (base + "'",)))
    return ()
