"""Settings of a bank of cards: ``derive.toml``, or ``[tool.derive]`` of a ``pyproject.toml``, at or above the cards."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from derive.card import text_of
from derive.errors import CardError, Problem, known
from derive.module import TIE_RULES
from derive.records import dataclass
from derive.sheet import DETAILS
from derive.words import languages

_FILES = ("derive.toml", "pyproject.toml")  # of one folder the first that has settings


@dataclass(frozen=True)
class Settings:
    """What the command line takes where no option is given; ``tie_rule`` where the card says none, either.

    ``format`` is as in ``--format``; ``output`` is a folder, seen from that of the file.
    """

    format: str | None = None
    output: Path | None = None
    detail: str | None = None
    tie_rule: str | None = None
    language: str | None = None


KEYS = tuple(f.name for f in fields(Settings))


def settings_of(paths: Iterable[Path]) -> Settings:
    """The nearest settings at or above all that is named; raises :class:`CardError` with each wrong line."""
    places = [os.path.realpath(path) for path in paths]
    if not places:
        return Settings()
    shared = Path(os.path.commonpath(places))
    for folder in (shared, *shared.parents):
        for file in (folder / name for name in _FILES):
            table = _table(file) if file.is_file() else None
            if table is not None:
                return _settings(file, table)
    return Settings()


def _table(file: Path) -> Mapping[str, Any] | None:
    """The table of settings in a file; of another program's file, broken or not, None."""
    own = file.name == _FILES[0]
    try:
        text = text_of(file, "a file of settings")
        table: Any = tomllib.loads(text) if own or "derive" in text else {}
    except CardError:
        if own:
            raise
        return None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if not own and "tool.derive" not in text:
            return None
        at = re.search(r"line (\d+)", str(error))
        raise CardError(Problem(f"is no TOML: {error}", str(file), int(at[1]) if at else None)) from None
    if own:
        return table
    tools = table.get("tool")
    return tools.get("derive") if isinstance(tools, dict) else None


def _settings(file: Path, table: Mapping[str, Any]) -> Settings:
    if not isinstance(table, dict):
        raise CardError(Problem("`tool.derive` is no table; write `[tool.derive]`", str(file)))
    lines = file.read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for key, value in table.items():
        line = next((n for n, text in enumerate(lines, 1) if text.split("=")[0].strip(" \t\"'") == key), None)
        try:
            known("setting", key, KEYS)
            found[key] = _checked(key, value)
        except CardError as error:
            problems += error.located(str(file), line).problems
    if problems:
        raise CardError(*problems)
    folder = found.pop("output", None)
    return Settings(**found, output=None if folder is None else file.parent / folder)


def _checked(key: str, value: object) -> str:
    """The value of a setting as the option has it; raises :class:`CardError`."""
    if key == "format" and isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ",".join(value)
    if not isinstance(value, str) or not value:
        raise CardError(f"`{key}` is a text in quotes" + (", or a list of them" if key == "format" else ""))
    for item in value.split(",") if key == "format" else [value]:
        if key != "output":
            known(key.replace("_", " "), item.strip(), _choices(key))
    return value


def _choices(key: str) -> tuple[str, ...]:
    from derive.render import FORMATS

    return {"format": FORMATS, "detail": DETAILS, "tie_rule": TIE_RULES, "language": languages()}[key]
