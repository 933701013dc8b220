"""Items of a formula in a row: the spaces between them, and brackets around a fraction that need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from derive.render.unicode.boxes import Box, beside, fenced, text

INDENT = 4
_LETTERS = ("ord", "word", "group", "frac", "op", "prefix")


@dataclass(frozen=True)
class Item:
    """A box and how it behaves in a row.

    ``kind``: ord (a letter), num, bin (+), rel (=), punct (,), open, close, op (max, ∑), prefix (∂),
    frac, group (in brackets), word, row (aligned lines) or space.
    """

    box: Box
    kind: str
    scripted: bool = False
    limits: bool = False  # its scripts stand above and below it


def bracketed(item: Item) -> Item:
    return replace(item, box=fenced(item.box, "(", ")"), kind="group")


def atomic(items: Sequence[Item]) -> list[Item]:
    """The items, in brackets unless they are one: x, ∂f, (a + b), not −x or a b."""
    seen = [item for item in items if item.kind != "space"]
    single = len(seen) == 1 and seen[0].kind not in ("frac", "row")
    single = single or (len(seen) == 2 and seen[0].kind == "prefix" and seen[1].kind in ("ord", "group"))
    return seen if single else [bracketed(Item(joined(seen), "row"))]


def joined(items: Sequence[Item], tight: bool = False, before: str = "") -> Box:
    """The items in a row; ``tight`` leaves out the spaces, ``before`` is the kind of what came first."""
    return beside(list(_spaced(items, tight, before))) if items else text("")


def _spaced(items: Sequence[Item], tight: bool, before: str) -> Iterator[Box]:
    settled = [replace(bracketed(item), kind="ord") if _mistakable(items, n) else item
               for n, item in enumerate(items)]  # fmt: skip
    last: Item | None = Item(text(""), before) if before else None
    for item in settled:
        if item.kind == "bin" and (last is None or last.kind in ("bin", "rel", "open", "punct", "op", "sign")):
            item = replace(item, kind="sign")  # −x
        if last is not None and last.box.lines != ("",) and _gap(last, item, tight):
            yield text(" ")
        yield item.box
        last = item


def _mistakable(items: Sequence[Item], n: int) -> bool:
    """A fraction beside which something stands that could be read into it."""
    if items[n].kind != "frac":
        return False
    last = items[n - 1].kind if n else ""
    following = items[n + 1].kind if n + 1 < len(items) else ""
    named = n > 0 and last == "op" and items[n - 1].box.lines[0].isalpha()  # log a/b
    return named or last in ("ord", "num", "close", "group", "frac", "prefix") or following in (
        "ord", "num", "open", "op", "group", "frac", "prefix")


def _gap(last: Item, item: Item, tight: bool) -> bool:
    one, two = last.kind, item.kind
    if "space" in (one, two):
        return False
    if "rel" in (one, two) or one == "bin" or two == "bin":
        return not tight
    if one == "punct":
        return not tight
    if two in ("punct", "close", "slash") or one in ("open", "sign", "prefix", "slash"):
        return False
    if "word" in (one, two):
        return not tight
    if two in ("open", "group"):
        tall = len(item.box.lines) > 1
        return (one in ("group", "frac", "close") or (one == "op" and last.scripted) or tall) and not tight
    if tight:
        return False
    if one == "num":
        return two == "num" or two == "op"
    return one in (*_LETTERS, "close") and two in (*_LETTERS, "num", "close")


def broken(items: Sequence[Item], columns: int) -> Box:
    """The items in as many rows as they need: broken after commas, and only within a part too wide before signs."""
    whole = joined(items)
    if whole.width <= columns:
        return whole
    rows: list[list[Item]] = [[]]
    for part in _parts(items):
        for piece in [part] if joined(part).width <= columns - INDENT else _pieces(part):
            _append(rows, piece, columns)
    lines: list[str] = []
    for n, row in enumerate(rows):
        box = joined(row, before="ord" if n else "")
        lines += (" " * (INDENT if n else 0) + line for line in box.lines)
    return Box(tuple(line.rstrip() for line in lines))


def _append(rows: list[list[Item]], piece: list[Item], columns: int) -> None:
    """Put the piece at the end of the last row, or into a new one where that helps."""
    limit = columns - (INDENT if len(rows) > 1 else 0)
    seen = piece[next((n for n, item in enumerate(piece) if item.kind != "space"), 0) :]
    helps = joined(seen).width <= columns - INDENT or joined(rows[-1]).width > columns // 3
    if rows[-1] and joined([*rows[-1], *piece]).width > limit and helps:
        rows.append([])
        piece = seen
    rows[-1] += piece


def _parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What commas outside brackets part; the comma and the space after it end a part."""
    part: list[Item] = []
    for n, item in enumerate(items):
        part.append(item)
        more = n + 1 < len(items) and items[n + 1].kind in ("punct", "space")
        if item.kind in ("punct", "space") and not more and _depth(items[:n]) == 0:
            yield part
            part = []
    if part:
        yield part


def _pieces(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What the signs outside brackets part; the sign begins a piece."""
    piece: list[Item] = []
    for n, item in enumerate(items):
        if item.kind in ("rel", "bin") and piece and _depth(items[:n]) == 0:
            yield piece
            piece = []
        piece.append(item)
    if piece:
        yield piece


def _depth(items: Sequence[Item]) -> int:
    return sum((item.kind == "open") - (item.kind == "close") for item in items)
