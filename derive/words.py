"""Where the templates are, the Jinja environments that fill them, and whether somebody has read their words."""

from __future__ import annotations

import hashlib
import re
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.errors import RenderError

if TYPE_CHECKING:
    from jinja2 import Environment

# A wheel carries the templates inside the package; a checkout and an editable install keep them beside it.
_PLACES = ("templates", "../templates")
_SHEET = ("layer", "windows", "geometry", "common", "figures")  # the files whose macros word a sheet
# between two sentences, the second of which begins with a capital, in bold or with a formula
SENTENCE = re.compile(rf"(?<=[.:])\s+(?=[{''.join(c for c in map(chr, range(0x180)) if c.isupper())}*$])")
_SIGNS = re.compile(r"[()\[\].*+?|^$\\]")
_HOLE = re.compile(r"\{(\w)\}")
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


@cache
def languages() -> tuple[str, ...]:
    """The languages that sheets are written in: a folder of words that somebody has read, each."""
    return tuple(sorted(file.parent.name for file in templates().glob("*/read.txt")))


@cache
def wording(language: str, file: str) -> Any:
    """The macros of ``templates/<language>/<file>.j2``; the filter ``told`` gives a phrase of the program its words."""
    made = environment(language)
    made.filters.setdefault("told", partial(told, language))
    return made.get_template(f"{file}.j2").module


@cache
def words(language: str, file: str, macro: str) -> str:
    """What a macro without facts says."""
    return str(getattr(wording(language, file), macro)())


@cache
def pattern(language: str, file: str, macro: str, /, **facts: str) -> re.Pattern[str]:
    """What a macro says as a regular expression, with one for each of its facts; those in ``=…`` stand as they are."""
    marks = {name: found[1:] if found[:1] == "=" else f"<{name}>" for name, found in facts.items()}
    text = re.escape(" ".join(str(getattr(wording(language, file), macro)(**marks)).split()))
    for name, found in facts.items():
        text = text.replace(re.escape(f"<{name}>"), found)
    return re.compile(text)


def told(language: str, phrase: str) -> str:
    """A phrase that the program says of a layer (how it was read, how an equation was proved) in a language.

    Phrases are English where they are made; ``templates/<language>/phrases.txt`` holds pairs of lines, the phrase and
    its words, with ``{a}`` for what stands between and is itself told. Quotations stay, and what
    has no words of its own.
    """
    for form, template in _phrases(language) if not phrase.startswith("“") else ():
        if found := form.fullmatch(phrase):
            parts = {name: told(language, part) for name, part in found.groupdict().items()}
            return template.format(**parts)
    return phrase


@cache
def _phrases(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    file = templates() / language / "phrases.txt"
    written = file.read_text("utf-8").splitlines() if file.is_file() else []
    lines = [line for line in written if line and line[0] != "#"]
    patterns = (_HOLE.sub(r"(?P<\1>.+?)", _SIGNS.sub(r"\\\g<0>", phrase)) for phrase in lines[::2])
    return tuple((re.compile(p, re.DOTALL), said) for p, said in zip(patterns, lines[1::2], strict=True))


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


def digests(folder: str) -> dict[str, str]:
    """Of each macro that words a sheet a digest of its text; of a file's first lines and of the phrases, too."""
    found = {}
    for file in _SHEET:
        parts = ["", *_MACRO.split((templates() / folder / f"{file}.j2").read_text(encoding="utf-8"))]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            found[f"{file}.{name}".rstrip(".")] = _digest(text)
    phrases = templates() / folder / "phrases.txt"
    return found | ({"phrases": _digest(phrases.read_text(encoding="utf-8"))} if phrases.is_file() else {})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def unread(folder: str) -> tuple[str, ...]:
    """The macros whose words are others than those that somebody read and found true; ``read.txt`` holds these."""
    lines = (templates() / folder / "read.txt").read_text(encoding="utf-8").splitlines()
    known = dict(line.split() for line in lines)
    return tuple(name for name, digest in digests(folder).items() if known.get(name) != digest)


def mark_read() -> None:
    """Somebody has read the words of all macros, whatever is put into them, and found them true; in each language."""
    for folder in (file.parent for file in templates().glob("*/layer.j2")):
        lines = (f"{name} {digest}\n" for name, digest in digests(folder.name).items())
        (folder / "read.txt").write_text("".join(lines), encoding="utf-8")


def _cache() -> Any:
    """Jinja's cache of compiled templates; none where its folder cannot be had."""
    from jinja2 import FileSystemBytecodeCache

    try:
        return FileSystemBytecodeCache()
    except (OSError, RuntimeError):
        return None
