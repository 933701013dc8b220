"""A format is a file with one function, and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from derive.errors import known
from derive.render.guard import Solved, refuse_failures
from derive.sheet import DETAILS, rank

# The format's name, the module whose ``render(solution, detail)`` makes it, and how its files' names end.
_WRITERS = {
    "md": ("derive.render.markdown", "md"),
    "tex": ("derive.render.latex", "tex"),
    "pdf": ("derive.render.pdf", "pdf"),
    "html": ("derive.render.html", "html"),
    "obsidian": ("derive.render.obsidian", "obsidian.md"),
    "spaced-repetition": ("derive.render.spaced_repetition", "obsidian.md"),
    "qmd": ("derive.render.quarto", "qmd"),
    "ipynb": ("derive.render.notebook", "ipynb"),
    "anki": ("derive.decks.anki", "apkg"),
    "moodle": ("derive.decks.moodle", "xml"),
}
FORMATS = tuple(_WRITERS)
SUFFIXES = {name: suffix for name, (_, suffix) in _WRITERS.items()}
_SHEETS = ("md", "tex", "pdf", "html")
COLLECTED = ("anki", "moodle")  # one file holds the cards of a whole run
__all__ = ["COLLECTED", "DETAILS", "FORMATS", "SUFFIXES", "Part", "available", "collection", "files", "part", "ready",
           "render"]  # fmt: skip


class Part(NamedTuple):
    """What a collection needs of a solution, when its card was written in seconds, of a variant the card's id."""

    text: str
    written: int = 0
    group: str = ""


def available() -> tuple[str, ...]:
    """The formats of a sheet that this machine can make: ``pdf`` only where a TeX with the packages is found."""
    from derive.render.pdf import engine

    return tuple(name for name in _SHEETS if name != "pdf" or engine() is not None)


def files(solution: Solved, format: str = "md", detail: str = "standard") -> dict[str, str | bytes]:
    """What lies beside the finished file of a format, by name: the figures that Markdown refers to."""
    rank(detail)
    made: dict[str, str | bytes] = getattr(_writer(format), "files", lambda *_: {})(solution, detail)
    return made


def render(solution: Solved, format: str = "md", detail: str = "standard") -> str | bytes:
    """The finished file of a solution: text, or bytes; ``detail`` is one of :data:`DETAILS`.

    Raises :class:`CardError` for an unknown format or detail, :class:`VerificationError`
    if an equation was refuted or not read, :class:`RenderError` if a tool fails.
    """
    writer = _writer(format)
    rank(detail)
    refuse_failures(solution.report)
    result: str | bytes = writer.render(solution, detail)
    return result


def part(solution: Solved, format: str, detail: str = "standard") -> str:
    """What a :func:`collection` needs of a solution, as text; raises as :func:`render`."""
    writer = _writer(format)
    rank(detail)
    refuse_failures(solution.report)
    result: str = writer.part(solution, detail)
    return result


def collection(format: str, parts: Sequence[Part]) -> str | bytes:
    """The file of many cards: the :func:`part` of each."""
    result: str | bytes = _writer(format).collected(parts)
    return result


def ready(format: str) -> None:
    """Raise :class:`CardError` where a package that the format needs is not installed."""
    getattr(_writer(format), "ready", lambda: None)()


def _writer(format: str) -> Any:
    return import_module(_WRITERS[known("format", format, FORMATS)][0])
