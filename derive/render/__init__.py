"""A format is a file with one function, and a line here."""

from __future__ import annotations

from importlib import import_module

from derive.errors import known
from derive.render.guard import Solved, refuse_failures
from derive.sheet import DETAILS, rank

# The format's name, and the module whose ``render(solution, detail)`` makes it.
_WRITERS = {
    "md": "derive.render.markdown",
    "tex": "derive.render.latex",
    "pdf": "derive.render.pdf",
    "html": "derive.render.html",
}
FORMATS = tuple(_WRITERS)
__all__ = ["DETAILS", "FORMATS", "available", "files", "render"]


def available() -> tuple[str, ...]:
    """The formats that this machine can make: ``pdf`` only where a TeX with the packages is found."""
    from derive.render.pdf import engine

    return tuple(name for name in FORMATS if name != "pdf" or engine() is not None)


def files(solution: Solved, format: str = "md", detail: str = "standard") -> dict[str, str | bytes]:
    """What lies beside the finished file of a format, by name: the figures that Markdown refers to."""
    known("format", format, FORMATS)
    rank(detail)
    made: dict[str, str | bytes] = getattr(import_module(_WRITERS[format]), "files", lambda *_: {})(solution, detail)
    return made


def render(solution: Solved, format: str = "md", detail: str = "standard") -> str | bytes:
    """The finished file of a solution: text, or bytes for ``pdf``; ``detail`` is one of :data:`DETAILS`.

    Raises :class:`CardError` for an unknown format or detail, :class:`VerificationError`
    if an equation was refuted or not read, :class:`RenderError` if a tool fails.
    """
    known("format", format, FORMATS)
    rank(detail)
    refuse_failures(solution.report)
    result: str | bytes = import_module(_WRITERS[format]).render(solution, detail)
    return result
