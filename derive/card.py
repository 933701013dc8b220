"""Cards of a question bank: front matter, question, solution; every byte of the file is kept."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from derive.errors import CardError, Problem
from derive.limits import MOST_BYTES
from derive.records import dataclass
from derive.sections import FrontMatter, Heading, bare, front_matter, header_end, headings, is_rule, lines_of

_MARK = re.compile(r"<!-- derive: generated ([0-9a-f]{16}) -->")
_WORTH = r"[(\[]\s*(\d{1,4})\s*(?:p|pts?|points?|b|body|bodů|bod)\.?\s*[)\]]"
_POINTS = re.compile(_WORTH, re.IGNORECASE)
_OPENING = re.compile(rf"\s*{_WORTH}\s*", re.IGNORECASE)
_INSIDE = re.compile(rf"(?im)(?:(?<=\s)|^)(?P<mark>\*\*|[*_]|){_WORTH}(?P=mark)(?=\s|[.,;:]|$)")
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)
# what note-taking programs keep at the end of a section: review dates and block names
_KEPT = re.compile(r"\s*(<!--SR:.*-->|\^[\w-]+)\s*")


def text_of(path: str | os.PathLike[str], what: str = "a card") -> str:
    """The text of a file; raises :class:`CardError` where it cannot be read, is larger than 1 MB or is not UTF-8."""
    name = os.fspath(path)
    try:
        refuse_streams(path)
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
            size = os.fstat(file.fileno()).st_size
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CardError(Problem(f"cannot be read: {reason}", name)) from None
    if len(data) > MOST_BYTES:
        raise CardError(Problem(f"{max(size, len(data)):,} bytes; {what} has at most {MOST_BYTES:,}", name))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CardError(
            Problem(f"byte 0x{data[error.start]:02x} is not UTF-8; save the {what.split()[-1]} as UTF-8", name, line)
        ) from None


_HALF = re.compile("[\ud800-\udfff]")  # of a pair of UTF-16, which no file holds as UTF-8


def refuse_streams(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a pipe or a device: opening it would wait for a writer, and reading it may never end."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(0, "it is a pipe" if stat.S_ISFIFO(mode) else "it is a device")


@dataclass(frozen=True)
class Card:
    """A card as read: ``text`` is the file's exact text; lines are counted from 1.

    ``question`` and ``solution`` are the sections' bodies (the solution without
    its mark), which begin at ``question_line`` and ``solution_line``.
    """

    text: str
    header: FrontMatter
    id: str
    path: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Card:
        """The card in a file.

        Raises :class:`CardError` where it cannot be read, is larger than 1 MB, is
        not UTF-8, or is no card: all problems at once.
        """
        return cls.parse(text_of(path), os.fspath(path))

    @classmethod
    def parse(cls, text: str, path: str | None = None) -> Card:
        """The card in a text; raises :class:`CardError` with all its problems."""
        for half in _HALF.finditer(text):
            raise CardError(Problem("half of a character stands there; write the whole", path,
                                    text.count("\n", 0, half.start()) + 1))
        lines = lines_of(text)
        if not text.strip("\ufeff \t\r\n"):
            raise CardError(Problem("the file is empty; a card has front matter and a `# Question`", path))
        problems: list[Problem] = []
        end = header_end(lines, path)
        try:
            header = front_matter(lines, path)
        except CardError as error:
            header, problems = FrontMatter(), list(error.problems)
        card = cls(text, header, header.written.get("id", "").strip(), path)
        problems += card._missing(named=not problems and end > 0)
        if problems:
            raise CardError(*problems)
        return card

    def _missing(self, named: bool) -> list[Problem]:
        problems = []
        if named and not self.id:
            line = self.header.lines.get("id", 1)
            problems.append(Problem("the front matter has no `id`; add a line `id: …`", self.path, line))
        points = self.front_matter.get("points")
        if isinstance(points, int | float) and points < 0:
            message = f"`points: {points}` is less than 0; write a whole number such as 5"
            problems.append(Problem(message, self.path, self.key_line("points")))
        if self._heading("question") is None:
            problems.append(Problem("there is no Question; add a heading `# Question`", self.path))
        elif not self.question.strip():
            problems.append(Problem("the Question is empty", self.path, self.question_line))
        return [*problems, *self._written_twice()]

    def _written_twice(self) -> Iterator[Problem]:
        """A second Question or Solution that is not part of the first: which one counts?"""
        for kind in ("question", "solution"):
            found = [h for h in self._headings if h.kind == kind]
            for other in found[1:]:
                if other.level <= found[0].level:
                    what = f"a second {kind.capitalize()}; the first is in line {found[0].start + 1}"
                    yield Problem(f"{what}: keep one in a card", self.path, other.start + 1)

    # --- the parts ---------------------------------------------------------

    @property
    def front_matter(self) -> Mapping[str, Any]:
        return self.header.values

    def key_line(self, key: str) -> int | None:
        """The line on which a front-matter key stands."""
        return self.header.lines.get(key)

    @property
    def stem(self) -> str:
        """The name of the card's files: its id, without what file systems or shells take amiss."""
        return file_stem(self.id)

    @property
    def title(self) -> str | None:
        value = self.front_matter.get("title")
        return None if value is None else str(value)

    @property
    def course(self) -> str:
        return str(self.front_matter.get("course") or "")

    @property
    def tags(self) -> tuple[str, ...]:
        """The card's tags, from a list or from a text with commas."""
        given = self.front_matter.get("tags") or ()
        found = given if isinstance(given, list | tuple) else str(given).split(",")
        return tuple(str(tag).strip().lstrip("#") for tag in found)

    @cached_property
    def points(self) -> int | None:
        """``points`` of the front matter; else what opens the question or is the sum of the rest; else the sum."""
        given = self.front_matter.get("points")
        if isinstance(given, int) and not isinstance(given, bool):
            return given
        found = list(_POINTS.finditer(self.question))
        if not found:
            return None
        opens = not self.question[: found[0].start()].strip(" \t\r\n*_>#-")
        first, *rest = (int(m[1]) for m in found)
        return first if opens or first == sum(rest) else first + sum(rest)

    @cached_property
    def question(self) -> str:
        start, stop = self._question_lines
        return "".join(self._lines[start:stop])

    @property
    def asked(self) -> tuple[str, int]:
        """The question without the mark that says what it is worth, and the line at which it begins."""
        opening = _OPENING.match(self.question) if self.points else None
        text = self.question[opening.end() :] if opening else self._without_mark()
        line = self.question_line + (self.question.count("\n", 0, opening.end()) if opening else 0)
        return text.replace("\r\n", "\n"), line

    def _without_mark(self) -> str:
        """The mark of the whole question left out, wherever it stands; those of its parts stay."""
        found = list(_INSIDE.finditer(_FORMULA.sub(lambda f: "x" * len(f[0]), self.question)))
        worth = [int(f[2]) for f in found]
        if not found or worth[0] != self.points or worth[1:] and sum(worth[1:]) != worth[0]:
            return self.question
        before, after = self.question[: found[0].start()], self.question[found[0].end() :]
        return before.rstrip(" \t") + after

    @property
    def question_line(self) -> int:
        return self._question_lines[0] + 1

    @cached_property
    def solution(self) -> str:
        start, stop = self._solution_lines
        return "".join(self._lines[start + (self._mark is not None) : stop])

    @property
    def solution_line(self) -> int | None:
        found = self._heading("solution")
        return None if found is None else self._solution_lines[0] + (self._mark is not None) + 1

    @property
    def generated(self) -> bool:
        """The solution carries our mark and nobody has edited it since."""
        return self._mark is not None and self._mark == _digest(self.solution)

    @cached_property
    def related(self) -> tuple[str, ...]:
        """The targets of the ``[[links]]`` under Related Concepts."""
        found = self._heading("related")
        if found is None:
            return ()
        return tuple(re.findall(r"\[\[([^\]|#]+)", "".join(self._lines[found.stop :])))

    @property
    def header_text(self) -> str:
        """The front matter as it stands, between its ``---``, with ``\\n`` at the end of each line."""
        return "".join(bare(line) + "\n" for line in self._lines[: header_end(self._lines)])

    # --- where they stand --------------------------------------------------

    @cached_property
    def _lines(self) -> list[str]:
        return lines_of(self.text)

    @cached_property
    def _headings(self) -> list[Heading]:
        return list(headings(self._lines, header_end(self._lines)))

    def _heading(self, kind: str) -> Heading | None:
        return next((h for h in self._headings if h.kind == kind), None)

    def _end_of(self, heading: Heading, *kinds: str) -> int:
        """The line of the next heading of these kinds, or as high as this one."""
        after = (h for h in self._headings if h.start >= heading.stop)
        ends = (h.start for h in after if h.kind in kinds or h.level <= heading.level)
        return next(ends, len(self._lines))

    @cached_property
    def _question_lines(self) -> tuple[int, int]:
        heading = self._heading("question")
        if heading is None:
            return 0, 0
        stop = self._end_of(heading, "solution", "related")
        while stop > heading.stop and not self._lines[stop - 1].strip():
            stop -= 1
        rule = stop > heading.stop and is_rule(self._lines[stop - 1])
        return heading.stop, stop - 1 if rule else stop

    @cached_property
    def _solution_lines(self) -> tuple[int, int]:
        heading = self._heading("solution")
        if heading is None:
            return 0, 0
        stop = end = self._end_of(heading, "related", "question")
        while stop > heading.stop and (not self._lines[stop - 1].strip() or _KEPT.fullmatch(self._lines[stop - 1])):
            stop -= 1
        return heading.stop, stop if any(_KEPT.fullmatch(line) for line in self._lines[stop:end]) else end

    @cached_property
    def _mark(self) -> str | None:
        start, stop = self._solution_lines
        found = _MARK.fullmatch(bare(self._lines[start])) if start < stop else None
        return found[1] if found else None

    # --- writing -----------------------------------------------------------

    def with_solution(self, markdown: str, title: str = "Solution") -> str:
        """The card's whole text with this solution, marked as generated.

        Only the Solution section changes; where the card has none, or no ``---``
        before it, they are added, under this ``title``.
        """
        ending = "\r\n" if self._lines[0].endswith("\r\n") else "\n"
        heading = self._heading("solution")
        if heading is None:
            asked = self._heading("question")
            start = stop = len(self._lines) if asked is None else self._end_of(asked, "solution", "related")
            level, opening = 1, [f"# {title}"]
        else:
            start, stop = heading.start, self._solution_lines[1]
            level, opening = heading.level, [bare(line) for line in self._lines[start : heading.stop]]
        before, after = self._lines[:start], self._lines[stop:]
        body = _deepened(lines_of(markdown), level - 1)
        new = [*_separator(before), *opening, f"<!-- derive: generated {_digest(body)} -->", "", *body.split("\n")]
        if after and after[0].strip():
            new.append("")
        joint = "" if not before or before[-1].endswith(("\n", "\r")) else ending
        return "".join(before) + joint + "".join(line + ending for line in new) + "".join(after)


def file_stem(card_id: str) -> str:
    """An id as the name of a file."""
    return re.sub(r"[^\w.-]+", "_", card_id).strip(".")[:100] or "card"


def _separator(before: list[str]) -> list[str]:
    """The ``---`` that is missing in front of a Solution; a blank line keeps it from being an underline."""
    last = next((line for line in reversed(before) if line.strip()), "")
    if is_rule(last):
        return []
    return [*([""] if before and before[-1].strip() else []), "---"]


def _deepened(lines: list[str], by: int) -> str:
    """The Markdown with headings ``by`` levels deeper, so that they stay inside their section."""
    levels = {h.start: h.level for h in headings(lines)} if by else {}
    return "\n".join(
        "#" * (min(6, levels[n] + by) - levels[n]) + bare(line) if n in levels else bare(line)
        for n, line in enumerate(lines)
    ).strip("\n")


def _digest(solution: str) -> str:
    plain = "\n".join(line.rstrip() for line in lines_of(solution)).strip()
    return hashlib.sha256(plain.encode()).hexdigest()[:16]
