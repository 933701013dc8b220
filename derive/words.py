"""Where the templates are, the Jinja environments that fill them, and whether somebody has read their words."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.errors import RenderError

if TYPE_CHECKING:
    from jinja2 import Environment

# A wheel carries the templates inside the package; a checkout and an editable install keep them beside it.
_PLACES = ("templates", "../templates")
_SHEET = ("layer", "windows", "geometry", "common", "figures")  # the files whose macros word a sheet
_MACRO = re.compile(r"\{%-? macro (\w+)")


@cache
def templates() -> Path:
    """The folder ``templates/`` of this installation; raises :class:`RenderError` if there is none."""
    package = Path(__file__).resolve().parent
    for place in _PLACES:
        folder = (package / place).resolve()
        if folder.is_dir():
            return folder
    raise RenderError(f"the folder `templates` is missing beside `{package}`; install the package again")


def languages() -> tuple[str, ...]:
    """The languages that sheets are written in: a folder of words that have been read, each."""
    return tuple(sorted(file.parent.name for file in templates().glob("*/read.txt")))


@cache
def environment(folder: str, **syntax: Any) -> Environment:
    """A Jinja environment over ``templates/<folder>/``; one per folder and syntax.

    Undefined names raise, blocks leave no blank lines. ``syntax`` overrides Jinja's
    options (delimiters, ``finalize``). Raises :class:`RenderError` where the folder is missing.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    path = templates() / folder
    if not path.is_dir():
        raise RenderError(f"the folder `templates/{folder}` is missing; install the package again")
    # compiled templates are kept in the user's own temporary folder: half of a cold start's words
    options: dict[str, Any] = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True,
                               "bytecode_cache": _cache()}
    return Environment(loader=FileSystemLoader(path), auto_reload=False, **(options | syntax))


def digests(folder: str = "en") -> dict[str, str]:
    """Of each macro that words a sheet a digest of its text; of a file's first lines, too."""
    found = {}
    for file in _SHEET:
        parts = ["", *_MACRO.split((templates() / folder / f"{file}.j2").read_text(encoding="utf-8"))]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            found[f"{file}.{name}".rstrip(".")] = hashlib.sha256(text.encode()).hexdigest()[:12]
    return found


@cache
def unread(folder: str = "en") -> tuple[str, ...]:
    """The macros whose words are others than those that somebody read and found true; ``read.txt`` holds these."""
    lines = (templates() / folder / "read.txt").read_text(encoding="utf-8").splitlines()
    known = dict(line.split() for line in lines)
    return tuple(name for name, digest in digests(folder).items() if known.get(name) != digest)


def mark_read(folder: str = "en") -> None:
    """Somebody has read the words of all macros, whatever is put into them, and found them true."""
    lines = (f"{name} {digest}\n" for name, digest in digests(folder).items())
    (templates() / folder / "read.txt").write_text("".join(lines), encoding="utf-8")


def _cache() -> Any:
    """Jinja's cache of compiled templates; none where its folder cannot be had."""
    from jinja2 import FileSystemBytecodeCache

    try:
        return FileSystemBytecodeCache()
    except (OSError, RuntimeError):
        return None
