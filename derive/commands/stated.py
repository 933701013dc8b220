"""A statement from the command line: a file of front-matter lines, or formulas with their letters by role."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from derive.card import refuse_streams
from derive.errors import CardError, Problem
from derive.limits import MOST_CHARACTERS
from derive.statement import Statement

_MOST_BYTES = 8 * MOST_CHARACTERS


def stated(source: str | None, formulas: tuple[str, ...], lists: Mapping[str, str | None]) -> Statement | None:
    """The statement of ``--statement`` and of ``--formula`` with its letters; None where there is neither."""
    given: dict[str, Any] = {key: _parted(text) for key, text in lists.items() if text is not None}
    if given and not formulas and source is None:
        raise CardError(f"`--{next(iter(given))}` stands with `--formula` or `--statement`")
    found = Statement() if source is None else _read(source)
    if formulas:
        found = found.overlaid(Statement(forward=formulas, origin="the command line"))
    return found.overlaid(Statement(**given, origin="the command line")) if source or formulas else None


def _parted(text: str) -> tuple[str, ...]:
    """W and b_{1,2} of ``W,b_{1,2}``."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "{(") - (char in "})")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(part.strip() for part in parts if part.strip())


def _read(source: str) -> Statement:
    name = "standard input" if source == "-" else source
    try:
        if source != "-":
            refuse_streams(source)
        with sys.stdin.buffer if source == "-" else Path(source).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise CardError(Problem(f"cannot be read: {getattr(error, 'strerror', None) or error}", name)) from None
    if len(data) > _MOST_BYTES:
        raise CardError(Problem(f"more than {_MOST_BYTES:,} bytes; a statement has fewer", name))
    found = Statement.parse(text, 1, name)
    if not any(True for _ in found.given()):
        raise CardError(Problem("says nothing of a layer; write e.g. `forward:` and below it `- 'y_k = x_k^2'`", name))
    return replace(found, origin=name)
