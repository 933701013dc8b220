"""What a question's words say of its layer: window, stride, padding, input, kind of pooling."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from derive.question.plain_text import PlainText, plain_text
from derive.question.word_patterns import (
    ABOUT,
    DIRECTION,
    FIXED,
    LAYER,
    NUMBERS,
    OTHER_LAYER,
    PADDING,
    POOLING,
    RANKS,
    STEMS,
    TEXTS,
    VALUED,
)

Size = tuple[int, ...]
Span = tuple[int, int]
Match = tuple[str, Span, Size | str]
_HOLDS = {"input_size": "kernel_size", "padding": "padding at ends", "dilation without number": "dilation"}


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


def rank_said(words: Words) -> int:
    """How many axes the sizes or the words give the input; two where they say nothing."""
    sizes = [f.value for what in ("kernel_size", "stride", "target", "input_size") for f in words.about(what)]
    counts = [len(value) for value in sizes if len(value) > 1]
    if counts:
        return counts[0]
    if words.about("length"):
        return 1
    return next((rank for rank, pattern in RANKS if pattern.search(words.plain.text)), 2)


def words_of(source: str, first_line: int = 1, known: Mapping[str, int] | None = None) -> Words:
    """The sizes and kinds that a question's prose names (``known`` as in :func:`plain_text`); nothing is decided."""
    plain = plain_text(source, first_line, known)
    matches = sorted(_of_pooling(plain, set(_matches(plain))), key=lambda m: (m[1][0], -m[1][1], m[0], str(m[2])))
    return Words(
        tuple((what, Found(value, plain.quote(*span), plain.line(span[0]))) for what, span, value in _longest(matches)),
        plain,
    )


def _longest(matches: list[Match]) -> Iterator[Match]:
    """Matches without those inside a longer one about the same: “strides 2 and 1” holds “strides 2”.

    And “windows of 2×2 inputs” says nothing of the input's size, “padding 1 on the left” nothing of the right.
    """
    reached: dict[str, Span] = {}
    for match in matches:
        what, span = match[0], match[1]
        outer = [reached[name] for name in (what, _HOLDS.get(what)) if name in reached]
        if all(span[1] > end or span == (start, end) for start, end in outer):
            yield match
        if span[1] > reached.get(what, (0, 0))[1]:
            reached[what] = span


def _patterns() -> Iterator[tuple[str, str, Size | str | None]]:
    yield from ((what, p, None) for what, patterns in VALUED.items() for p in patterns)
    yield from ((what, p, "") for what, patterns in TEXTS.items() for p in patterns)
    yield from ((what, p, value) for what, (value, p) in FIXED.items())


_compiled = cache(re.compile)


def _matches(plain: PlainText) -> Iterator[Match]:
    padded = False
    for name, source, fixed in _patterns():
        if name in STEMS and not any(stem in plain.text for stem in STEMS[name]):
            continue
        what, pattern = ABOUT.get(name, name), _compiled(source)
        for m in pattern.finditer(plain.text):
            value = _numbers(m[1]) if fixed is None else m[1] if what in TEXTS else fixed
            yield what, m.span(), value
            padded = padded or what in ("padding", "padding at ends", "same")
            around = plain.text[max(0, m.start() - 12) : m.end() + 16]
            if what in ("kernel_size", "stride", "padding") and DIRECTION.search(around):
                yield "direction", m.span(), value
    for m in POOLING.finditer(plain.text):
        if not OTHER_LAYER.search(plain.text, max(0, m.start() - 60), m.start()):
            yield "pooling", m.span(), m[1][:3] if m[1][:3] in ("max", "min") else m[1]
    if not padded:
        for m in PADDING.finditer(plain.text):
            yield "padding without number", m.span(), m[0]


def _of_pooling(plain: PlainText, matches: set[Match]) -> set[Match]:
    """Where a convolution's window is given besides the pooling's: the matches without those of the convolution."""
    sizes = {m for m in matches if m[0] in ("kernel_size", "stride", "padding", "padding at ends", "dilation")}
    named = _named_layers(plain.text)
    other = {m for m in sizes if named[bisect_right(named, (m[1][1], False)) - 1][1]}
    if {m in other for m in sizes if m[0] == "kernel_size"} != {True, False}:
        return matches
    given = {what for what, _, _ in sizes - other}
    unclear = {("which layer", span, what) for what, span, _ in other if what not in given}
    return (matches - other) | unclear


def _named_layers(text: str) -> list[tuple[int, bool]]:
    """(place, whether it is a convolution) from which on a sentence speaks of a layer; a sentence begins with none."""
    found = [(m.end(), m["convolution"] is not None) for m in LAYER.finditer(text)]
    return sorted([(0, False), *found, *((m.end(), False) for m in re.finditer(r"[.?!¶]", text))])


def _numbers(text: str) -> Size:
    found = re.findall(rf"(?<![a-z])-\d+|\d+|{'|'.join(NUMBERS)}", text)
    return tuple(NUMBERS[n] if n in NUMBERS else int(n) for n in found)
