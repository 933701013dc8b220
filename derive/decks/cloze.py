"""Numbers to be filled in, in Moodle's Cloze: each with its tolerance, and the numbers of known mistakes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from derive.decks.html import inline
from derive.exposition.worked import Result
from derive.numeric.point import Index
from derive.records import dataclass

Values = Mapping[Index, Any]
_USUAL = 1e-3  # of a number, and at least so much
_LEAST = 5e-5  # numbers are shown with four decimals: what is closer cannot be told apart
_SPECIAL = re.compile(r'[~{}#"\\/=%]')  # of Cloze
_BLANK = re.compile(r"\{1:NUMERICAL:=([^:]+):([^~}#]+)((?:~%0%[^~}]*)*)\}")
_WRONG = re.compile(r"~%0%([^:]+):([^#]+)#([^~}]*)")
_MOST = 8  # mistakes that are told of one number


@dataclass(frozen=True)
class Blank:
    """A number to be filled in, how far one may be off, and (number, what went wrong) of known mistakes."""

    right: float
    tolerance: float
    wrong: tuple[tuple[float, str], ...] = ()

    def __str__(self) -> str:
        told = "".join(f"~%0%{number(v)}:{number(self.tolerance)}#{_encoded(words)}" for v, words in self.wrong)
        return f"{{1:NUMERICAL:={number(self.right)}:{number(self.tolerance)}{told}}}"


def blank(right: Any, mistakes: Iterable[tuple[str, Any]], likely: Callable[[list[str]], str]) -> Blank:
    """A number's blank; ``likely`` words the mistakes that give a number.

    The tolerance is so small that no number of a mistake counts as right.
    """
    exact = float(right) + 0.0
    least = _LEAST * max(1.0, abs(exact))
    other = [(float(v) + 0.0, words) for words, v in mistakes if math.isfinite(float(v))]
    apart = [(v, words) for v, words in other if abs(v - exact) > 3 * least]
    gap = min((abs(v - exact) for v, _ in apart), default=math.inf)
    tolerance = max(least, min(_USUAL * max(1.0, abs(exact)), gap / 3))
    told: dict[float, list[str]] = {}
    for v, words in apart:
        told.setdefault(next((w for w in told if abs(w - v) <= 2 * tolerance), v), []).append(words)
    return Blank(exact, tolerance, tuple((v, likely(words)) for v, words in [*told.items()][:_MOST]))


def blanks(text: str) -> list[Blank]:
    """Those of a finished question, in order."""
    return [Blank(float(m[1]), float(m[2]), tuple((float(w[1]), unescape(w[3])) for w in _WRONG.finditer(m[3])))
            for m in _BLANK.finditer(text)]  # fmt: skip


def table(result: Result, found: Mapping[Index, Blank]) -> str:
    """The blanks of a tensor: one, a row, rows; of more axes the rows of each of its matrices."""
    if () in result.values:
        return str(found[()])
    rank = len(next(iter(result.values)))
    rows: dict[Index, list[str]] = {}
    for at in sorted(result.values):
        rows.setdefault(at[: max(0, rank - 1)], []).append(str(found[at]))
    body = "".join("<tr>" + _label(at, rank) + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
                   for at, row in rows.items())  # fmt: skip
    return f"<table><tbody>{body}</tbody></table>"


def _label(at: Index, rank: int) -> str:
    """Of more than two axes the places along all but the last."""
    return "<th>" + ", ".join(map(str, at)) + "</th>" if rank > 2 else ""


def decimals(found: Sequence[Blank]) -> int:
    """How many decimals tell each number as exactly as its tolerance asks; 0 where all numbers are whole."""
    if all(b.right == int(b.right) for b in found):
        return 0
    return max(math.ceil(-math.log10(2 * b.tolerance)) for b in found)


def number(value: float) -> str:
    """A number as Moodle reads it: a point, no sign before the exponent's digits but its own."""
    return f"{value:.10g}"


def _encoded(words: str) -> str:
    """Words as HTML, such that Moodle, which decodes them once, has that HTML."""
    html = inline(words).replace("&", "&amp;")
    return _SPECIAL.sub(lambda m: f"&#{ord(m[0])};", html)


def of_results(results: Sequence[Result], mistakes: Sequence[Sequence[tuple[str, Values]]],
               likely: Callable[[list[str]], str]) -> Iterator[tuple[Result, dict[Index, Blank]]]:  # fmt: skip
    """Each result with its blanks; none of a result that no number can be typed for."""
    for result, known in zip(results, mistakes, strict=True):
        if all(math.isfinite(float(v)) for v in result.values.values()):
            yield result, {at: blank(v, ((words, values[at]) for words, values in known), likely)
                           for at, v in result.values.items()}  # fmt: skip
