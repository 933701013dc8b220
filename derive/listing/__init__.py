"""A layer in code: NumPy functions of its forward value and its messages, from its formulas, executed before use."""

from __future__ import annotations

import re

from derive.calculus.messages import Messages
from derive.errors import UnsupportedError
from derive.listing import layer, loops, operations
from derive.listing.run import Trial, executed
from derive.records import dataclass


@dataclass(frozen=True)
class Listed:
    """A listing that agreed with the derivation; ``style``: loops or arrays."""

    style: str
    source: str
    trial: Trial


def listings(messages: Messages) -> tuple[tuple[Listed, ...], str]:
    """The layer in plain loops and in array operations, each executed, and why one is missing.

    Raises :class:`derive.errors.VerificationError` where a listing does not give what the formulas give.
    """
    found: list[Listed] = []
    reason = ""
    for style, lines in (("loops", loops.lines), ("arrays", operations.lines)):
        try:
            source = module_source(layer.functions(messages, lines))
            trial = executed(source, messages)
        except UnsupportedError as error:
            reason = str(error)
            continue
        if source not in [f.source for f in found]:
            found.append(Listed(style, source, trial))
    return tuple(found), reason


_WIDTH = 88


def module_source(functions: str) -> str:
    """The functions below their imports, lines broken where a bracket allows it."""
    imports = [line for name, line in (("math.", "import math\n"), ("np.", "import numpy as np")) if name in functions]
    if "sliding_window_view" in functions:
        imports.append("from numpy.lib.stride_tricks import sliding_window_view")
    body = "\n".join(part for line in functions.rstrip("\n").split("\n") for part in broken(line))
    return "\n".join(imports) + ("\n\n\n" if imports else "") + body + "\n"


def broken(line: str) -> list[str]:
    """The line, or one bracket of it on lines of its own."""
    if len(line) <= _WIDTH:
        return [line]
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    start, stop = _longest(text)
    if stop - start > len(text) // 2 and len(indent + text[stop:]) <= _WIDTH:
        return _opened(text, start, stop, indent)
    head = re.match(r"(return |[^=(]* [-+*/]?= )(.*)", text)
    if head is None:
        return [line]
    return [f"{indent}{head[1]}(", *_pieces(head[2], indent + "    "), f"{indent})"]


def _opened(text: str, start: int, stop: int, indent: str) -> list[str]:
    """Text with what stands between two places on lines of its own."""
    return [f"{indent}{text[: start + 1]}", *_pieces(text[start + 1 : stop], indent + "    "), f"{indent}{text[stop:]}"]


def _longest(text: str) -> tuple[int, int]:
    """Where the longest of the outermost round brackets opens and closes."""
    found, opened, depth = [(0, 0)], 0, 0
    for n, sign in enumerate(text):
        if sign in "([":
            opened = n if depth == 0 else opened
            depth += 1
        elif sign in ")]":
            depth -= 1
            if depth == 0 and sign == ")":
                found.append((opened, n))
    return max(found, key=lambda pair: pair[1] - pair[0])


def _pieces(text: str, indent: str) -> list[str]:
    """What stands in a bracket, on lines that end before an operator, `for`, `if`, `else` or behind a comma."""
    if len(indent + text) <= _WIDTH:
        return [indent + text]
    for signs in (r" (for|if|else) |(?<=,) ", r" [-+] ", r" [*/@&] "):
        places = _places(text, signs)
        if places:
            at = max((n for n in places if len(indent) + n <= _WIDTH), default=places[0])
            return [*_pieces(text[:at].rstrip(), indent), *_pieces(text[at:].strip(), indent)]
    start, stop = _longest(text)
    return [indent + text] if stop - start < 2 else _opened(text, start, stop, indent)


def _places(text: str, signs: str) -> list[int]:
    """Where one of the signs stands outside all brackets."""
    places, depth = [], 0
    for n, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and n > 0 and re.compile(signs).match(text, n):
            places.append(n)
    return places
