"""How the card was read, as the sheet tells it: all of it, and each letter as it was read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from derive.magnitudes import held

_ROLE = re.compile(r"((?:taken as )?(?:input|parameter|constant)s?) ((?:`\w+`|\$[^$]+\$)(?:, \$[^$]+\$)*) (\(.*\))")
_LETTERS = re.compile(r"`\w+`|\$[^$]+\$")
_LINE = re.compile(r"line (\d+)")
Said = Any  # what is known of a layer, see derive.verify.said


def _roles(layer: Said, readings: Iterable[str]) -> set[tuple[str, str, str]]:
    """Who is said to be what, and why, letter by letter."""
    found = set[tuple[str, str, str]]()
    for role in filter(None, map(_ROLE.fullmatch, readings)):
        kind, names, why = role.groups()
        letters = {names.strip("`")} if names[0] == "`" else layer.named(names.split(", "))
        found |= {(kind.removeprefix("taken as ").rstrip("s"), name, _LETTERS.sub("", why)) for name in letters}
    return found


def placed(layer: Said, readings: list[str]) -> bool:
    """All that was read stands there, and nothing else: as it is, or by kind and line where letters stand for names.

    Each letter is what it was read as, but for those that are held fixed.
    """
    def kind(reading: str) -> tuple[str, ...]:
        return _LETTERS.sub("", reading).split()[0].rstrip("s:"), *_LINE.findall(reading)

    known, said = ({r for r in rs if not _ROLE.fullmatch(r)} for rs in (layer.module.readings, readings))
    exact, lettered = {r for r in known if "`" not in r}, {r for r in known if "`" in r}
    expected = {r for r in _roles(layer, layer.module.readings) if r[1] not in held(layer.module)}
    others = sorted(map(kind, said - exact)) == sorted(map(kind, lettered))
    return exact <= said and others and _roles(layer, readings) == expected
