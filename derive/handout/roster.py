"""Who takes an exam: names from a CSV file, which anybody may have written."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from derive.errors import CardError, DeriveError, Problem
from derive.records import dataclass
from derive.render import tex

MOST = 1000
_LONGEST = 80  # characters of a name
_NAME, _FIRST, _LAST = ("name", "full name", "student"), ("first name", "given name"), (
    "last name", "surname", "family name")  # fmt: skip
_ID = ("id", "id number", "number", "student id")


@dataclass(frozen=True)
class Student:
    """A name and, where the roster has one, a number."""

    name: str = ""
    id: str = ""


def roster(text: str, file: str) -> list[Student]:
    """The students in their order: from the columns that the first row names, else a name in each row.

    Raises :class:`CardError` with the line of each name that cannot be printed.
    """
    lines = text.removeprefix("\ufeff")
    first = lines.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [([" ".join(cell.split()) for cell in row], line) for row, line in _numbered(lines, delimiter)]
    except csv.Error as error:
        raise CardError(Problem(f"is not CSV: {error}", file)) from None
    rows = [(row, line) for row, line in rows if any(row)]
    if not rows:
        raise CardError(Problem("names nobody; write a name in each row", file))
    header = [cell.casefold() for cell in rows[0][0]]
    names = _columns(header, _NAME) or [*_columns(header, _FIRST), *_columns(header, _LAST)]
    ids = _columns(header, _ID)
    if not names and any(len(row) > 1 for row, _ in rows):
        raise CardError(Problem("which column has the names? Write a first row with `name` above it, and `id` above "
                                "the one with numbers", file, rows[0][1]))
    found = [(Student(_cells(row, names or [0]), _cells(row, ids)), line) for row, line in rows[bool(names):]]
    if not 0 < len(found) <= MOST:
        raise CardError(Problem(f"names {len(found):,} people; a roster has 1 to {MOST:,}", file))
    problems = [Problem(why, file, line) for student, line in found for why in _wrong(student)]
    if problems:
        raise CardError(*problems)
    return [student for student, _ in found]


def _numbered(text: str, delimiter: str) -> list[tuple[list[str], int]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [(row, reader.line_num) for row in reader]


def _columns(header: Sequence[str], wanted: Sequence[str]) -> list[int]:
    return [n for n, cell in enumerate(header) if cell in wanted][:1]


def _cells(row: Sequence[str], columns: Sequence[int]) -> str:
    return " ".join(row[n] for n in columns if n < len(row)).strip()


def _wrong(student: Student) -> list[str]:
    """Why it cannot be printed."""
    if not student.name:
        return ["there is no name in this row"]
    found = []
    for text in (student.name, student.id):
        if len(text) > _LONGEST:
            found.append(f"`{text[:20]} …` has {len(text):,} characters; a name has at most {_LONGEST}")
            continue
        try:
            tex.text(text)
        except DeriveError:
            found.append(f"`{text}` has letters that the exam's font lacks; write it in Latin ones")
    return found
