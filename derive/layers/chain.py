"""The text of a chain of layers by name: ``conv2d(stride=2) -> relu -> max_pool(2)``.

    chain  = part { ("->" | "→") part }
    part   = name [ "(" [ given { "," given } ] ")" ]
    given  = [ option "=" ] value
    value  = number | true | false | same | letter | chain | "(" value { "," value } ")" | 3x3
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any

from derive.errors import CardError
from derive.layers.catalogue import Layer
from derive.records import dataclass

_TOKEN = re.compile(r"\s*(?:(?P<arrow>->|→)|(?P<sizes>\d+(?:\s*[x×]\s*\d+)+)|(?P<number>-?\d+(?:\.\d+)?(?:/\d+)?)"
                    r"|(?P<sign>[(),=])|(?P<word>\\?[^\W\d](?:[\w'-]*\w'*|'*)(?:\{[^{}]*\})?(?:_\{[^{}]*\})?))")
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Part:
    """A layer by its name, what stands in its brackets without a name, and its options and letters by theirs.

    A ``spec`` is one that the catalogue does not have: a formula of the card as a part.
    """

    name: str
    plain: tuple[Any, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)
    spec: Layer | None = None


def parse(text: str) -> tuple[Part, ...]:
    """The parts of a chain; raises :class:`CardError` for a text that is none."""
    tokens = list(_tokens(text))
    reader = _Reader(text, [*tokens, ("end", "")])
    parts = reader.chain()
    if reader.kind != "end":
        raise reader.error("` -> ` or the end")
    return parts


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CardError(f"`{text}`: `{text[at:].strip()[:1]}` is no part of a chain such as "
                            "`conv2d(stride=2) -> relu -> max_pool(2)`")
        at = match.end()
        assert match.lastgroup is not None
        yield match.lastgroup, match[match.lastgroup]


class _Reader:
    def __init__(self, text: str, tokens: list[tuple[str, str]]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    @property
    def kind(self) -> str:
        return self.tokens[self.at][0]

    def taken(self, kind: str, text: str | None = None) -> str | None:
        """The token, read, where it is of this kind."""
        found = self.tokens[self.at]
        if found[0] != kind or text not in (None, found[1]):
            return None
        self.at += 1
        return found[1]

    def error(self, wanted: str) -> CardError:
        found = self.tokens[self.at][1]
        return CardError(f"`{self.text}`: {wanted} should stand {f'where `{found}` does' if found else 'at its end'}")

    def chain(self) -> tuple[Part, ...]:
        parts = [self.part()]
        while self.taken("arrow"):
            parts.append(self.part())
        return tuple(parts)

    def part(self) -> Part:
        words = []
        while word := self.taken("word"):
            words.append(word)
        if not words:
            raise self.error("the name of a layer")
        plain: list[Any] = []
        given: dict[str, Any] = {}
        if self.taken("sign", "("):
            while not self.taken("sign", ")"):
                if plain or given:
                    self.comma()
                self.argument(" ".join(words), plain, given)
        return Part(" ".join(words), tuple(plain), given)

    def comma(self) -> None:
        if not self.taken("sign", ","):
            raise self.error("`,` or `)`")

    def argument(self, name: str, plain: list[Any], given: dict[str, Any]) -> None:
        if self.kind == "word" and self.tokens[self.at + 1] == ("sign", "="):
            key = self.tokens[self.at][1].replace("-", "_")
            self.at += 2
            if key in given:
                raise CardError(f"`{self.text}`: `{name}` has `{key}` twice")
            given[key] = self.value()
        elif given:
            raise self.error("an option and its name")
        else:
            plain.append(self.value())

    def value(self) -> Any:
        if (sizes := self.taken("sizes")) is not None:
            return tuple(map(int, re.findall(r"\d+", sizes)))
        if (number := self.taken("number")) is not None:
            return self.number(number)
        if self.kind == "word" and self.tokens[self.at + 1] in (("arrow", "->"), ("arrow", "→"), ("sign", "(")):
            return self.chain()
        if (word := self.taken("word")) is not None:
            return _WORDS.get(word, word)
        if self.taken("sign", "("):
            values = [self.value()]
            while not self.taken("sign", ")"):
                self.comma()
                values.append(self.value())
            return tuple(values)
        raise self.error("a value")

    def number(self, text: str) -> int | Fraction:
        try:
            value = Fraction(text)
        except ZeroDivisionError:
            raise CardError(f"`{self.text}`: `{text}` is not a number") from None
        return int(value) if value.denominator == 1 else value
