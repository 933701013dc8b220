"""What a question's words say of its layer: window, stride, padding, input, kind of pooling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from derive.plain_text import PlainText, plain_text
from derive.word_patterns import ABOUT, DIRECTION, FIXED, NUMBERS, PADDING, POOLING, VALUED

Size = tuple[int, ...]
Span = tuple[int, int]
Match = tuple[str, Span, Size | str]


@dataclass(frozen=True)
class Found:
    """A value (sizes, or a word) with the words that say it and their line."""

    value: Size | str
    quote: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: “{self.quote}”"


@dataclass(frozen=True)
class Words:
    """All that was found, by what it is about, in the order of the text."""

    found: tuple[tuple[str, Found], ...]
    plain: PlainText

    def about(self, what: str) -> tuple[Found, ...]:
        return tuple(f for name, f in self.found if name == what)


def words_of(source: str, first_line: int = 1) -> Words:
    """The sizes and kinds that a question's prose names; nothing is decided here."""
    plain = plain_text(source, first_line)
    matches = list(dict.fromkeys(_matches(plain)))
    longest = [m for m in matches if not any(_inside(m, other) for other in matches)]
    longest.sort(key=lambda match: match[1])
    return Words(
        tuple((what, Found(value, plain.quote(*span), plain.line(span[0]))) for what, span, value in longest), plain
    )


def _inside(match: Match, other: Match) -> bool:
    """A longer match about the same thing holds this one: “strides 2 and 1” holds “strides 2”.

    And “windows of 2×2 inputs” says nothing of the input's size.
    """
    (a, b), (c, d) = match[1], other[1]
    same = match[0] == other[0] or (match[0], other[0]) == ("input_size", "kernel_size")
    return same and c <= a and b <= d and (a, b) != (c, d)


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str], Size | str | None], ...]:
    valued = [(what, re.compile(p), None) for what, patterns in VALUED.items() for p in patterns]
    fixed = [(ABOUT.get(what, what), re.compile(p), value) for what, (value, p) in FIXED.items()]
    return (*valued, *fixed)


def _matches(plain: PlainText) -> Iterator[Match]:
    padded = False
    for what, pattern, fixed in _compiled():
        for m in pattern.finditer(plain.text):
            value = _numbers(m[1]) if fixed is None else fixed
            yield what, m.span(), value
            padded = padded or what in ("padding", "same")
            around = plain.text[max(0, m.start() - 12) : m.end() + 16]
            if what in ("kernel_size", "stride", "padding") and DIRECTION.search(around):
                yield "direction", m.span(), value
    for m in POOLING.finditer(plain.text):
        yield "pooling", m.span(), m[1][:3] if m[1][:3] in ("max", "min") else m[1]
    if not padded:
        for m in PADDING.finditer(plain.text):
            yield "padding without number", m.span(), m[0]


def _numbers(text: str) -> Size:
    found = re.findall(rf"-?\d+|{'|'.join(NUMBERS)}", text)
    return tuple(NUMBERS[n] if n in NUMBERS else int(n) for n in found)
