"""What can go wrong, each with its exit code and a message of one line per problem."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Sequence
from typing import Any, Self

from derive.records import dataclass


@dataclass(frozen=True)
class Problem:
    """One line for the user: ``file:line: what, why, what to do``."""

    message: str
    file: str | None = None
    line: int | None = None
    excerpt: str | None = None  # the source line and a caret under the place
    key: str | None = None  # of the front matter, that settles it

    def __str__(self) -> str:
        place = "" if self.file is None else self.file + ("" if self.line is None else f":{self.line}") + ": "
        if self.file is None and self.line is not None:
            place = f"line {self.line}: "
        excerpt = f"\n{self.excerpt}" if self.excerpt else ""
        return f"{place}{_within(self.message.removeprefix(f'line {self.line}: '))}{excerpt}"


_MOST_LINES = 20  # of what is wrong with a card
_MOST_CHARACTERS = 1_500  # of a line


def _within(message: str) -> str:
    """A message that quotes much of its card without the middle."""
    half = _MOST_CHARACTERS // 2
    return message if len(message) <= 2 * half else f"{message[:half]} … {message[-half:]}"


class DeriveError(Exception):
    """A problem of the input, of coverage, of a proof or of an output tool.

    Raised with one or more :class:`Problem` (a plain string makes one).
    """

    exit_code = 1

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = tuple(p if isinstance(p, Problem) else Problem(p) for p in problems)
        more = len(self.problems) - _MOST_LINES
        lines = [*map(str, self.problems[:_MOST_LINES])]
        lines += [f"… and {more:,} more lines like these"] if more > 0 else []
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.problems  # one process tells another

    def with_problems(self, problems: Iterable[Problem]) -> Self:
        """The same error with other problems."""
        return type(self)(*problems)

    def located(self, file: str | None, line: int | None = None) -> Self:
        """The same error with the file (and line) put where a problem lacks one."""
        return self.with_problems(Problem(p.message, p.file or file, p.line if p.line is not None else line, p.excerpt,
                                          p.key) for p in self.problems)


class CardError(DeriveError):
    """The input is wrong: the card, an option, a path."""

    exit_code = 2


class OpenError(CardError):
    """The question is understood in part: ``found`` is the layer as far as it is."""

    def __init__(self, *problems: Problem | str, found: Any = None) -> None:
        super().__init__(*problems)
        self.found = found

    def with_problems(self, problems: Iterable[Problem]) -> Self:
        return type(self)(*problems, found=self.found)


class RequestError(CardError):
    """Formulas are there, and what they mean or what is asked of them is open: words alone are no other way to it."""


class OutputError(CardError):
    """What was made cannot be written where it should go: the card is not at fault."""


class UnsupportedError(DeriveError):
    """The input is valid, and this program does not cover it."""

    exit_code = 3


class LimitError(UnsupportedError):
    """The input asks for more work than a card may: time, memory, terms."""


class VerificationError(DeriveError):
    """An equation was refuted or could not be read back; nothing is written."""

    exit_code = 1


class RenderError(DeriveError):
    """A template or an outside tool failed, or the disk is full."""

    exit_code = 4


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # no other path or card mends it


def unwritten(error: OSError, path: object) -> DeriveError:
    """That a file cannot be written: the path is wrong, or the disk is full."""
    kind = RenderError if error.errno in _FULL else OutputError
    return kind(Problem(f"cannot be written: {error.strerror or error}", str(path)))


def unexpected(error: Exception) -> DeriveError:
    """A fault of the program's own as one line."""
    return DeriveError(f"unexpected {type(error).__name__}: {' '.join(str(error).split())} (--debug shows where)")


def did_you_mean(given: str, names: Sequence[str], likeness: float = 0.5, otherwise: str = "there are") -> str:
    """The name that is most like the given one; all of them where none is like it."""
    near = difflib.get_close_matches(given, names, 1, likeness)
    return f"did you mean `{near[0]}`?" if near else f"{otherwise} " + ", ".join(f"`{name}`" for name in names)


def known(what: str, given: str, names: Sequence[str]) -> str:
    """``given``, if it is one of the names; else a :class:`CardError` that says which is meant."""
    if given not in names:
        raise CardError(f"unknown {what} `{given}`; {did_you_mean(given, names)}")
    return given
