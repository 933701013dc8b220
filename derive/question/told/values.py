"""The values of a network that words tell, and their formulas in index notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from derive.layers.catalogue import Layer
from derive.layers.families import find

INDICES = "kjilmpqrsuvhgcdf"


class Unread(Exception):
    """What of the words could not be understood."""


class Misread(Unread):
    """What a reading of a sentence says does not fit what was told: another reading of it may."""


class Untrue(Unread):
    """What the words say of windows is not so with the size, stride and padding that they give these."""


@dataclass
class Axis:
    """An index and the number of its values, where it is known."""

    index: str
    size: str | None = None


@dataclass(eq=False)
class Value:
    """A tensor: its letter, how it is made (None: it is given), its axes once they are known."""

    letter: str | None = None
    made: str | None = None
    of: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    axes: list[Axis] | None = None
    noun: str = ""
    words: tuple[int, str] = (0, "")


def entry(letter: str, axes: Sequence[Axis | str]) -> str:
    """W_{1,kj} of W_1 and k, j."""
    indices = [a.index if isinstance(a, Axis) else a for a in axes]
    if not indices:
        return letter
    base, _, label = letter.partition("_")
    inside = "".join(indices)
    if label:
        inside = label.strip("{}") + "," + inside
    return rf"{base}_{{{inside}}}"


def space(letter: str, axes: Iterable[Axis]) -> str | None:
    r"""W \in \mathbb{R}^{3 \times 4}, where all numbers are known."""
    sizes = [a.size for a in axes]
    if not sizes or None in sizes:
        return None
    times = r" \times ".join(str(s) for s in sizes)
    return rf"{letter} \in \mathbb{{R}}^{{{times}}}"


_LETTER = re.compile(r"(?<![A-Za-z\\])(?P<letter>[xt]|\\alpha|\\delta|\\tau|\\lambda)(?![A-Za-z])(?P<sub>_\{[^{}]*\})?")


def applied(name: str, argument: str, output: str, axes: Sequence[Axis], letters: dict[str, str]) -> str:
    """The catalogue's formula of an activation or a loss with these letters."""
    spec = find(name)
    assert isinstance(spec, Layer)
    assert isinstance(spec.forward, str) or callable(spec.forward)
    text = spec.forward if isinstance(spec.forward, str) else spec.forward(len(axes), dict(spec.options)).formulas[-1]
    indices = "".join(a.index for a in axes)
    text = text.replace(r"\sum_{\I} ", rf"\sum_{{{','.join(indices)}}} " if indices else "")
    text = re.sub(r"_\{\\I\}", rf"_{{{indices}}}" if indices else "", text)
    own = {**letters, "x": argument}

    def put(match: re.Match[str]) -> str:
        letter, sub = match["letter"], match["sub"] or ""
        if letter not in own:
            return match[0]
        base, _, label = own[letter].partition("_")
        if not label:
            return base + sub
        inside = sub[2:-1] if sub else ""
        return rf"{base}_{{{label.strip('{}')}{',' + inside if inside else ''}}}"

    return f"{output} = {_LETTER.sub(put, text.partition(' = ')[2])}"
