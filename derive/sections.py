"""Where the sections of a card begin and end: headings outside code fences and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")  # str.splitlines would also split at U+2028 and \f
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}=+[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}$")
_KINDS = {
    "question": re.compile(r"(question|otázka|zadání)( \d+)?:?", re.IGNORECASE),
    "solution": re.compile(r"(solution|solutions|řešení):?", re.IGNORECASE),
    "related": re.compile(r"(related concepts|related|související pojmy):?", re.IGNORECASE),
}


@dataclass(frozen=True)
class Heading:
    """A heading: its kind ('question', 'solution', 'related', 'other') and the lines it takes."""

    kind: str
    level: int
    start: int
    stop: int


def lines_of(text: str) -> list[str]:
    """The lines with their ends: their concatenation is the text."""
    return _LINE.findall(text)


def bare(line: str) -> str:
    """The line without its end."""
    return line.rstrip("\r\n")


def is_rule(line: str) -> bool:
    """A thematic break of dashes, as between question and solution."""
    return _RULE.match(bare(line)) is not None


def headings(lines: list[str], start: int = 0) -> Iterator[Heading]:
    """The headings from line ``start`` on, in order, numbered from 0."""
    skipped = _inside_code_or_comment(lines, start)
    for n in range(start, len(lines)):
        if n in skipped:
            continue
        line = bare(lines[n])
        atx = _ATX.match(line)
        if atx:
            yield Heading(_kind(atx[2] or ""), len(atx[1]), n, n + 1)
        elif line.strip() and n + 1 < len(lines) and _SETEXT.match(bare(lines[n + 1])):
            yield Heading(_kind(line), 1, n, n + 2)


def _kind(title: str) -> str:
    plain = " ".join(title.strip(" \t*_").split())
    return next((kind for kind, names in _KINDS.items() if names.fullmatch(plain)), "other")


def _inside_code_or_comment(lines: list[str], start: int) -> set[int]:
    inside = set()
    fence = ""
    comment = False
    last_close = {c: _last(n for n, line in enumerate(lines) if _closes(line, c * 3)) for c in "`~"}
    ended = _comments_that_end(lines)
    for n in range(start, len(lines)):
        line = bare(lines[n])
        mark = _FENCE.match(line)
        if fence:
            inside.add(n)
            fence = "" if _closes(line, fence) else fence
        elif comment:
            inside.add(n)
            comment = "-->" not in line
        elif mark and n < last_close[mark[1][0]]:  # an unclosed fence would swallow the rest: it opens nothing
            inside.add(n)
            fence = mark[1]
        else:
            comment = n in ended
    return inside


def _closes(line: str, fence: str) -> bool:
    mark = _FENCE.match(line)
    return mark is not None and mark[1].startswith(fence) and not line.strip(" \t`~\r\n")


def _comments_that_end(lines: list[str]) -> set[int]:
    """Lines that open a comment which a later line ends, before another comment opens."""
    found = set()
    ends = False
    for n in range(len(lines) - 1, -1, -1):
        if ends and "-->" not in lines[n].rpartition("<!--")[2] and "<!--" in lines[n]:
            found.add(n)
        opening, closing = lines[n].find("<!--"), lines[n].find("-->")
        if opening >= 0 or closing >= 0:
            ends = closing >= 0 and (opening < 0 or closing < opening)
    return found


def _last(numbers: Iterable[int]) -> int:
    return max(numbers, default=-1)
