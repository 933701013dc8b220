"""What rows make of what they read: an action's name and what it was given, or a value of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from derive.question.sentences import request_atoms
from derive.question.sentences.tokens import Token
from derive.records import dataclass


@dataclass(frozen=True)
class Say:
    """What a row makes: its action's name, and what it was given."""

    kind: str
    of: tuple[Any, ...] = ()

    def __getitem__(self, n: int) -> Any:
        return self.of[n] if n < len(self.of) else None


class Actions(dict[str, Callable[..., Any]]):
    """The few that make something of their own; every other action is what it says."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda *of: Say(name, of)


def flat(*values: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    for value in values:
        if value is not None:
            found += flat(*value) if isinstance(value, tuple) else [value]
    return tuple(found)


def _case(one: Token, other: Token) -> Say | None:
    return Say("case", (one, other)) if request_atoms.complementary(one, other) else None


def extents(said: Any) -> tuple[str, ...]:
    """The numbers of a size, one an axis."""
    if isinstance(said, tuple):
        return said
    return tuple(said.of) if isinstance(said, Say) else tuple(getattr(said, "text", str(said)).split("×"))


def _agree(one: Any, other: Any) -> Any:
    return one if extents(one) == extents(other) else None


def _counted(field: Say, count: str) -> Say | None:
    return field if field[1] == count else None


def _dimensional(letter: Any, count: str) -> Say | None:
    """A signal of as many values; one that is one- or two-dimensional has axes."""
    return None if count in ("1", "2", "3") else Say("signal1", (letter, count))


def _taps(field: Say) -> Say:
    return Say("opts", (("weights", field[0]), ("length", field[1])))


def _pad(cells: Any, side: str | None = None, fill: str | None = None) -> Say:
    """Cells around the input: on which side, how many, what is in them."""
    where = side if side in ("left", "right") else "both"
    known = (("padding", (where, *(extents(cells) if cells not in (None, "none") else ()))),)
    return Say("opts", (*known, ("fill", fill)) if fill else known)


def _keyed(key: str, value: Any = None, each: str | None = None) -> Say:
    """What a layer has of its own: its letter, yes or no, and for each of what there is one."""
    return Say("opts", ((key, value or "yes"), *((("each", each),) if each else ())))


def _array(kind: str, letter: Token) -> Say:
    return Say("opts", (("array", (kind, letter)),))


def _rows_of(rows: str | None = None, columns: str | None = None) -> Say:
    shape = (("shape", (rows, columns)),) if rows and columns else ()
    return Say("opts", (("kind", "matrix"), ("rows", "yes"), *shape))


def _none_of(*keys: str) -> Say:
    return Say("opts", tuple((key, "no") for key in keys))


ACTIONS = Actions(noneof=_none_of, keyed=_keyed, array=_array, rowsof=_rows_of,
                  unpadded=lambda: Say("opts", (("bias", "no"), *_pad("0").of)),
                  threeaxes=lambda c, h, w: Say("opts", (("channels", c), ("shape", (c, h, w)))),
                  asks=lambda *of: Say("asks", (flat(*of),)), case=_case, one=lambda value: value, many=flat,
                  both=flat, agree=_agree, counted=_counted, dimensional=_dimensional, pad=_pad, taps=_taps,
                  never=lambda *_: None, say=lambda name: Say(name))
