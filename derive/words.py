"""Where the templates are, and the Jinja environments that fill them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.errors import RenderError

if TYPE_CHECKING:
    from jinja2 import Environment

# A wheel carries the templates inside the package; a checkout and an editable install keep them beside it.
_PLACES = ("templates", "../templates")


@cache
def templates() -> Path:
    """The folder ``templates/`` of this installation; raises :class:`RenderError` if there is none."""
    package = Path(__file__).resolve().parent
    for place in _PLACES:
        folder = (package / place).resolve()
        if folder.is_dir():
            return folder
    raise RenderError(f"the folder `templates` is missing beside `{package}`; install the package again")


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


def _cache() -> Any:
    """Jinja's cache of compiled templates; none where its folder cannot be had."""
    from jinja2 import FileSystemBytecodeCache

    try:
        return FileSystemBytecodeCache()
    except (OSError, RuntimeError):
        return None
