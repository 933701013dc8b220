"""A question's sentences, each inline formula a gap that knows its formula."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from derive.notation.formulas import Formula
from derive.question.plain_text import GAP, PlainText, plain_text

_ABBREVIATION = re.compile(
    r"\b(?:w\.\s?r\.\s?t|e\.\s?g|i\.\s?e|s\.\s?t|resp|cf|eq|fig|no|vs|tzn|tj|např)\.|(?<=\d)\.(?=\d)"
)
_END = re.compile(r"[.?!;¶]")


@dataclass(frozen=True)
class Gap:
    """A formula within the prose, at ``start`` of its text."""

    formula: Formula
    start: int


@dataclass(frozen=True)
class Prose:
    """The prose in lower case, a gap for each inline formula, a break for each displayed one."""

    plain: PlainText
    formulas: tuple[Formula, ...]

    @cached_property
    def text(self) -> str:
        """The text without the full stops of abbreviations."""
        return _ABBREVIATION.sub(lambda m: re.sub(r"\.", " ", m[0]), self.plain.text)

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """The inline formulas in their order."""
        places = {self.place(f): f for f in self.formulas}
        found = []
        for start, char in enumerate(self.text):
            if char == GAP and (formula := self._at(self.plain.origin[start], places)) is not None:
                found.append(Gap(formula, start))
        return tuple(found)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        return (0, *(m.end() for m in _END.finditer(self.text)), len(self.text))

    def sentence(self, start: int) -> tuple[int, int]:
        """Where the sentence around a place begins and ends."""
        n = bisect_right(self.ends, start)
        return self.ends[n - 1], self.ends[min(n, len(self.ends) - 1)]

    def said(self, start: int, stop: int) -> str:
        """The place and the words: line 12: “the bias $b$”."""
        while start < stop - 1 and self.text[start].isspace():
            start += 1
        return f"line {self.plain.line(start)}: “{self.plain.quote(start, stop)}”"

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        yield from pattern.finditer(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.plain.source))]

    def place(self, formula: Formula) -> int:
        """Where the formula begins in the source."""
        return self._starts[formula.line - self.plain.first_line] + formula.column

    @staticmethod
    def _at(origin: int, places: dict[int, Formula]) -> Formula | None:
        """The formula that begins behind the sign $ or \\( at this place of the source."""
        return next((places[at] for at in range(origin + 1, origin + 8) if at in places), None)


def prose_of(source: str, first_line: int, formulas: Iterable[Formula]) -> Prose:
    """The prose of a Markdown text and the formulas that stand in it."""
    return Prose(plain_text(source, first_line, None, gaps=True), tuple(formulas))
