"""One quantity of a card after the other: the front matter's value, else that of the words, with its place."""

from __future__ import annotations

import re
from dataclasses import field
from fractions import Fraction
from typing import Any

from derive.card import Card
from derive.errors import Problem
from derive.layers.catalogue import Pooling
from derive.question.windows.wording import Found, Words, rank_said
from derive.records import dataclass

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Stated:
    """A value per axis, and where it was read."""

    value: Sizes
    source: str
    line: int | None


_NEUTRAL = {"kernel_size": 1, "stride": 1, "dilation": 1, "padding": 0}  # on an axis of channels


@dataclass
class Reader:
    """Reads one quantity after the other for ``rank`` axes, and gathers the problems and the readings."""

    card: Card
    words: Words
    rank: int
    line: int | None = None  # of the formula
    unread: tuple[Problem, ...] = ()  # formulas that could not be read: what is missing may stand there
    channels: int = 0  # how many axes, the first ones, windows do not move on
    first: int | None = None  # where the output's indices are said to begin, k = 1, …, K
    problems: list[Problem] = field(default_factory=list)
    readings: list[str] = field(default_factory=list)

    def refuse(self, message: str, line: int | None) -> None:
        self.problems.append(Problem(message, self.card.path, line if line is not None else self.line))

    def key(self, what: str) -> Stated | None:
        """What the front matter says: ``3``, ``[3, 2]`` or ``3x2``."""
        value = self.card.front_matter.get(what)
        if value is None:
            return None
        line = self.card.key_line(what)
        items = re.split(r"\s*(?:[x×,]|\s)\s*", value.strip(" ()[]")) if isinstance(value, str) else value
        items = items if isinstance(items, list) else [items]
        if not all(re.fullmatch(r"-?\d{1,6}", str(v)) and not isinstance(v, bool) for v in items) or not items:
            self.refuse(f"`{what}: {str(value)[:40]}` is not a number of at most six digits, `[3, 3]` or `3x3`", line)
            return None
        sizes = self._per_axis(what, tuple(int(v) for v in items), f"`{what}: {value}`", line)
        return None if sizes is None else Stated(sizes, f"line {line}: `{what}: {value}`", line)

    def said(self, what: str, found: tuple[Found, ...]) -> Stated | None:
        """What the words say; two different values are a problem that quotes both."""
        stated: list[tuple[Sizes, Found]] = []
        for item in found:
            value = (self._per_axis(what, item.value, f"“{item.quote}”", item.line)
                     if isinstance(item.value, tuple) else None)
            if value is not None and all(value != other for other, _ in stated):
                stated.append((value, item))
        if len(stated) > 1:
            (_, a), (_, b) = stated[:2]
            self.refuse(
                f"two values of {what}: “{a.quote}” (line {a.line}) and “{b.quote}” (line {b.line}); "
                f"keep one, or set `{what}` in the front matter",
                b.line,
            )
        return Stated(stated[0][0], str(stated[0][1]), stated[0][1].line) if stated else None

    def stated(self, what: str) -> Stated | None:
        """The front matter's value, else that of the words."""
        return self.key(what) if what in self.card.front_matter else self.said(what, self.words.about(what))

    def _per_axis(self, what: str, value: Sizes, quoted: str, line: int | None) -> Sizes | None:
        own = self.rank - (self.channels if what in _NEUTRAL else 0)
        if own < self.rank and len(value) in (1, own):
            return (_NEUTRAL[what],) * self.channels + (value * own if len(value) == 1 else value)
        if len(value) not in (1, self.rank):
            axes = "one axis" if self.rank == 1 else f"{self.rank} axes"
            self.refuse(f"{quoted} has {len(value)} numbers, and the layer has {axes}; write one for each", line)
            return None
        return value * self.rank if len(value) == 1 else value


def rank_of(card: Card, words: Words) -> int:
    """How many axes a layer has that no formula says: as the front matter's sizes, else as the words have it."""
    keys = (card.front_matter.get(k) for k in ("kernel_size", "stride", "padding", "dilation", "output_size",
                                               "input_size"))
    return next((len(v) for v in keys if isinstance(v, list) and v), 0) or rank_said(words)


def times(value: Sizes) -> str:
    """2×2."""
    return "×".join(map(str, value))


def per_axis(value: Sizes) -> str:
    """2 in each axis, or 2×1."""
    if len(value) == 1:
        return str(value[0])
    return f"{value[0]} in each axis" if len(set(value)) == 1 else times(value)


IS = (
    r"\s*(?:\(\s*)?(?:(?:is|are|be|of|to|a|the|equals?|equal|set|=|:|(?<=\w)-|with|has)\s*(?:\(\s*)?){0,4}"
    r"(?:[a-z]\w?\s*=\s*)?"
)
_NUMBER = r"(-?\d+(?:\.\d+)?(?:/\d+)?)"
_NUMBERED = {
    "norm": re.compile(rf"\bl(\d+)[ -]?(?:norm )?pool|\bnorm{IS}{_NUMBER}"
                       rf"|\bp\s*=\s*{_NUMBER}|\border{IS}{_NUMBER}|\bl(\d+)[- ]norm\b"),
    "sharpness": re.compile(rf"\bsharpness{IS}{_NUMBER}|\br\s*=\s*{_NUMBER}|\binverse temperature{IS}{_NUMBER}"),
    "divisor_override": re.compile(rf"\bdivisor{IS}{_NUMBER}|\bdivid(?:ed|ing|es?) by {_NUMBER}\b"),
}
_NOT_COUNTED = re.compile(
    r"\bcount[ _]include[ _]pad\w*\s*(?:=|:|is)?\s*(?:false|off|0)|\b(?:padding|padded (?:cells|entries|zero(?:e?s)?)) "
    r"(?:do(?:es)? not count|(?:is|are) not counted|(?:is|are) left out|(?:is|are) excluded)"
    r"|\bexclud\w+ (?:the )?padd\w+|\bonly (?:the )?(?:cells|entries) (?:in range|inside the input|that exist)"
)


def options(reader: Reader, spec: Pooling) -> dict[str, Any]:
    """The options of the layer that the card gives; their values are checked by :func:`derive.layer`."""
    found: dict[str, Any] = {}
    for name in spec.options:
        if name in reader.card.front_matter:
            value, line = reader.card.front_matter[name], reader.card.key_line(name)
            found[name] = _fraction(value)
            reader.readings.append(f"`{name}: {value}` (line {line})")
        elif name == "count_include_pad":
            match = _NOT_COUNTED.search(reader.words.plain.text)
            if match:
                found[name] = False
                reader.readings.append(f"padded cells do not count ({_said(reader, match)})")
        else:
            match = _NUMBERED[name].search(reader.words.plain.text)
            if match:
                text = next(g for g in match.groups() if g)
                found[name] = int(text) if name == "divisor_override" and text.isdecimal() else Fraction(text)
                reader.readings.append(f"{name.replace('_override', '')} {text} ({_said(reader, match)})")
    return found


def _fraction(value: Any) -> Any:
    """“5/2” as a number."""
    if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip()):
        return Fraction(value.strip())
    return value


def _said(reader: Reader, match: re.Match[str]) -> str:
    plain = reader.words.plain
    return f"line {plain.line(match.start())}: “{plain.quote(*match.span())}”"
