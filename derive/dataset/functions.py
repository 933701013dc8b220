r"""Functions of one number, made of those that are known by name: f(s) = s \tanh(s), \sin(\arctan(2 s))."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from random import Random

from derive.functions import FUNCTIONS, Function

_WIDE = ("1 + {}^2", r"\frac{{1}}{{1 + {}^2}}", "e^{{-{}^2}}", r"\sqrt{{1 + {}^2}}", r"\log(1 + {}^2)", "{}^2", "{}^3")
_FLAT = ("sign",)  # whose slope is 0
_FACTORS = ("2", "3", r"\frac{1}{2}")


def _whole(record: Function) -> bool:
    """It has a value, and one that floats hold, for every number."""
    if record.elementary:
        return record.domain == "real" and not record.grows and record.name not in _FLAT
    return bool(record.definition) and record.name not in ("log1p", "identity", "expm1")


def _applied(record: Function) -> Callable[[str], str]:
    if not record.elementary:
        return record.defined
    return lambda s: f"|{s}|" if record.name == "abs" else rf"\operatorname{{{record.name}}}({s})" if (
        not re.fullmatch(r"\\[a-z]+", record.latex)) else f"{record.latex}({s})"


@cache
def _known() -> tuple[Callable[[str], str], ...]:
    """φ(s) of the table, and a few of powers; a record that is added is drawn, too."""
    return tuple(map(_applied, filter(_whole, FUNCTIONS.values())))


def _powers(pick: Random, s: str) -> str:
    return pick.choice(_WIDE).format(s if len(s) == 1 else f"({s})")


def drawn(pick: Random, s: str = "s") -> str:
    r"""The LaTeX of a function of ``s``: \tanh(s), s \sin(s), \arctan(2 s), \cos(\tanh(s)), \tanh(s) + \sin(s)."""
    def some(argument: str) -> str:
        return pick.choice(_known())(argument)

    match pick.randrange(7):
        case 0:
            return some(s)
        case 1:
            return f"{s} {_bracketed(some(s))}"
        case 2:
            return some(f"{pick.choice(_FACTORS)} {s}")
        case 3:
            return some(pick.choice((rf"\tanh({s})", rf"\sin({s})", rf"\arctan({s})", rf"\cos({s})")))
        case 4:
            return f"{_bracketed(some(s))} {_bracketed(some(s))}"
        case 5:
            return f"{s} + {pick.choice(_FACTORS)} {_bracketed(some(s))}"
        case _:
            return _powers(pick, s) if pick.random() < 0.5 else f"{_bracketed(some(s))} + {_powers(pick, s)}"


def _bracketed(latex: str) -> str:
    return rf"\left({latex}\right)" if re.search(r"[-+]|\\begin", re.sub(r"\{[^{}]*\}", "", latex)) else latex
