"""Text of several lines set side by side on a common baseline, for formulas in a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# one line, and the pieces of a tall one: top, extension, bottom, middle (where it has one)
_FENCES = {
    "(": "⎛⎜⎝", ")": "⎞⎟⎠", "[": "⎡⎢⎣", "]": "⎤⎥⎦", "{": "⎧⎪⎩⎨", "}": "⎫⎪⎭⎬", "|": "│││", "‖": "‖‖‖",
    "⌊": "⎢⎢⎣", "⌋": "⎥⎥⎦", "⌈": "⎡⎢⎢", "⌉": "⎤⎥⎥",
}  # fmt: skip


def width(line: str) -> int:
    """The cells that a line takes: a mark over a letter takes none, a wide letter two."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def padded(line: str, to: int, align: str = "l") -> str:
    """The line filled up with spaces; ``align`` is l, c or r."""
    gap = max(0, to - width(line))
    left = {"l": 0, "c": gap // 2, "r": gap}[align]
    return " " * left + line + " " * (gap - left)


@dataclass(frozen=True)
class Box:
    """Lines, and the number of the one that stands on the baseline."""

    lines: tuple[str, ...]
    baseline: int = 0

    @property
    def width(self) -> int:
        return max(map(width, self.lines), default=0)

    @property
    def below(self) -> int:
        return len(self.lines) - 1 - self.baseline


def text(line: str) -> Box:
    return Box((line,))


def beside(boxes: Iterable[Box]) -> Box:
    """Boxes in a row, their baselines at one height."""
    row = list(boxes)
    if all(len(box.lines) == 1 for box in row):
        return text("".join(box.lines[0] for box in row))
    above = max(box.baseline for box in row)
    below = max(box.below for box in row)
    columns = []
    for box in row:
        lines = [""] * (above - box.baseline) + list(box.lines) + [""] * (below - box.below)
        columns.append([padded(line, box.width) for line in lines])
    return Box(tuple("".join(parts).rstrip() for parts in zip(*columns, strict=True)), above)


def stacked(base: Box, over: Box | None = None, under: Box | None = None) -> Box:
    """A sign with its limits above and below, centred."""
    wide = max(box.width for box in (over, base, under) if box is not None)
    lines = [padded(line, wide, "c") for box in (over, base, under) if box is not None for line in box.lines]
    return Box(tuple(lines), (len(over.lines) if over is not None else 0) + base.baseline)


def grid(rows: Sequence[Sequence[Box]], align: str = "", gap: int = 2, *, centred: bool = False) -> Box:
    """Cells in aligned columns; the baseline in the middle.

    ``centred`` makes the number of lines odd, for a fence with a middle.
    """
    columns = max((len(row) for row in rows), default=0)
    wide = [max((row[n].width for row in rows if n < len(row)), default=0) for n in range(columns)]
    made = []
    for row in rows:
        cells = [Box(tuple(padded(line, wide[n], align[n] if n < len(align) else "l") for line in cell.lines),
                     cell.baseline) for n, cell in enumerate(row)]  # fmt: skip
        made.append(beside([part for cell in cells for part in (text(" " * gap), cell)][1:] or [text("")]))
    if centred and sum(len(box.lines) for box in made) % 2 == 0:
        made.insert((len(made) + 1) // 2, text(""))
    lines = tuple(line.rstrip() for box in made for line in box.lines) or ("",)
    return Box(lines, (len(lines) - 1) // 2)


def fenced(inside: Box, left: str, right: str) -> Box:
    """The box between brackets as tall as it is; an empty bracket draws nothing."""
    return beside([_fence(left, inside), inside, _fence(right, inside)])


def _fence(sign: str, inside: Box) -> Box:
    if not sign:
        return text("")
    height = len(inside.lines)
    pieces = _FENCES.get(sign)
    if height == 1 or pieces is None:
        return text(sign)
    top, extension, bottom = pieces[0], pieces[1], pieces[2]
    lines = [top, *[extension] * (height - 2), bottom]
    if len(pieces) > 3 and height > 2:
        lines[inside.baseline if 0 < inside.baseline < height - 1 else height // 2] = pieces[3]
    return Box(tuple(lines), inside.baseline)
