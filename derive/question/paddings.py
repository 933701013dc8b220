"""The padding of a card: as many cells at both ends, other numbers at each end, or as many as “same” needs."""

from __future__ import annotations

import ast
import re
from typing import Any

from derive.question.stated import Reader, Sizes, per_axis
from derive.question.wording import NUMBERS, Found
from derive.records import dataclass

_LOW = {"left": -1, "top": 0, "start": None, "beginning": None, "front": None}
_HIGH = {"right": -1, "bottom": 0, "end": None, "back": None}
_FLAT = ("left", "right", "top", "bottom")
_COUNT = re.compile(rf"\b(?:\d+|{'|'.join(NUMBERS)})\b|\b(?:{'|'.join((*_LOW, *_HIGH))})\b")


@dataclass(frozen=True)
class Padding:
    """The cells ``before`` and ``behind`` the input on each axis; ``same`` where the other sizes decide."""

    before: Sizes
    behind: Sizes
    source: str
    line: int | None
    same: bool = False

    @property
    def argument(self) -> Any:
        """As :func:`derive.layer` takes it."""
        return "same" if self.same else list(zip(self.before, self.behind, strict=True))

    @property
    def words(self) -> str:
        """1 in each axis, or where the ends differ: 0 before and 1 behind along the first axis, …"""
        if self.same:
            return "“same”"
        if self.before == self.behind:
            return per_axis(self.before)
        ends = zip(self.before, self.behind, ("first", "second", "third"), strict=False)
        return ", ".join(f"{a} before and {b} behind along the {axis} axis" for a, b, axis in ends)


def padding_of(reader: Reader) -> Padding | None:
    """What the front matter says, else the words; two different values are a problem that quotes both."""
    if "padding" in reader.card.front_matter:
        return _key(reader)
    plain = reader.said("padding", reader.words.about("padding"))
    found = [] if plain is None else [Padding(plain.value, plain.value, plain.source, plain.line)]
    found += [p for f in reader.words.about("padding at ends") if (p := _at_ends(reader, f))]
    found += [Padding((), (), str(f), f.line, same=True) for f in reader.words.about("same")[:1]]
    other = next((p for p in found[1:] if p.argument != found[0].argument), None)
    if other is not None:
        reader.refuse(f"two values of padding: {found[0].source} and {other.source}; keep one, or set `padding` in the "
                      "front matter", other.line)
    return found[0] if found else None


def _key(reader: Reader) -> Padding | None:
    """``padding: 1``, ``[1, 0]``, ``[[0, 1], [2, 0]]`` or ``same``."""
    value = reader.card.front_matter["padding"]
    line = reader.card.key_line("padding")
    source = f"line {line}: `padding: {value}`"
    if value == "same":
        return Padding((), (), source, line, same=True)
    if isinstance(value, str) and "(" in value:
        value = _literal(value)
    if not isinstance(value, list) or not any(isinstance(v, list) for v in value):
        stated = reader.key("padding")
        return None if stated is None else Padding(stated.value, stated.value, source, line)
    return _pairs(reader, value, source, line)


def _pairs(reader: Reader, value: list[Any], source: str, line: int | None) -> Padding | None:
    """[[0, 1], 2]: a pair (before, behind) or one number for each axis."""
    pairs = [v if isinstance(v, list) else [v, v] for v in value]
    if any(len(p) != 2 or not all(type(n) is int for n in p) for p in pairs):
        reader.refuse(f"`padding: {value}` is not a number, one an axis, or a pair [before, behind] an axis", line)
        return None
    if len(pairs) != reader.rank:
        axes = "one axis" if reader.rank == 1 else f"{reader.rank} axes"
        reader.refuse(f"`padding: {value}` is for {len(pairs)} axes, and the layer has {axes}", line)
        return None
    return Padding(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), source, line)


def _literal(text: str) -> Any:
    """((0, 1), 2) as lists."""
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return [list(v) if isinstance(v, tuple) else v for v in found] if isinstance(found, tuple) else text


def _at_ends(reader: Reader, found: Found) -> Padding | None:
    """«one cell on the left and two at the bottom»: columns are the last axis, rows the first."""
    text = str(found.value)
    if text.startswith("("):
        value = _literal(text)
        return _pairs(reader, value, str(found), found.line) if isinstance(value, list) else None
    before, behind = [0] * reader.rank, [0] * reader.rank
    count = 0
    for word in _COUNT.findall(text):
        if word not in _LOW and word not in _HIGH:
            count = NUMBERS[word] if word in NUMBERS else int(word)
            continue
        if reader.rank > 2 and word in _FLAT or reader.rank == 1 and word in ("top", "bottom"):
            reader.refuse(f"“{found.quote}”: of which axis? add `padding` to the front matter, a pair [before, behind] "
                          "for each axis", found.line)
            return None
        axis, side = (_LOW[word], before) if word in _LOW else (_HIGH[word], behind)
        for d in range(reader.rank) if axis is None else (axis,):
            side[d] = count
    return Padding(tuple(before), tuple(behind), str(found), found.line)
