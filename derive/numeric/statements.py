"""Printed statements at a point: a formula becomes a small Python function, exact or over any number type.

Used on what the reader read back.  Nothing here knows calculus: a derivative is
looked up in the point, which has it from difference quotients or dual numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from operator import eq
from types import CodeType, SimpleNamespace
from typing import Any

from derive.expr import ONE, Entry, Idx, Mul, Node, Num, Reduce, Size, free_indices, ranging, transform, walk
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import EXACT, Arithmetic, in_full
from derive.numeric.coder import Coder
from derive.numeric.point import Definitions, TwoCases, first_best, median, middle, no_case, noted


@lru_cache(maxsize=4096)
def bytecode(source: str) -> CodeType:
    """The compiled text of a function; the text is our own: names and numbers only."""
    return compile(source, "<statement>", "exec")


def index_value(node: Node, at: Mapping[Idx, int], sizes: Mapping[str, int]) -> Any:
    """An index term, or a condition on indices, at values of its letters and sizes."""
    return _of_indices(node, tuple(at))(SimpleNamespace(sizes=sizes), tuple(at.values()))


@lru_cache(maxsize=1024)
def _of_indices(node: Node, letters: tuple[Idx, ...]) -> Callable[[Any, tuple[int, ...]], Any]:
    coder = Coder(Definitions({}, {}, {}), {}, None)
    params = "".join(coder.name(v) + "," for v in letters)
    source = f"def value(P, AT):\n    {params + ' = AT' if letters else 'pass'}\n    return {coder.index(node)}\n"
    found: Callable[[Any, tuple[int, ...]], Any] = made("value", source, coder, names(EXACT, eq), EXACT)
    return found


def made(name: str, source: str, coder: Coder, known: Mapping[str, Any], kind: Arithmetic) -> Callable[..., Any]:
    """The function that the source defines, run in an arithmetic; it does not know itself, as what holds itself is
    freed by the collector alone."""
    space = {**known, **coder.keys, **{name: kind.number(value) for name, value in coder.numbers.items()}}
    exec(bytecode(source), space)
    function: Callable[..., Any] = space.pop(name)
    return function


def names(kind: Arithmetic, same: Any) -> dict[str, Any]:
    """What the source refers to."""
    return {
        "F": Fraction, "EXACT": EXACT.functions, "INF": math.inf, "inf": math.inf, "reduced": in_full(kind),
        "floor": math.floor, "ceil": math.ceil,
        "prod": math.prod, "best": first_best, "middle": middle, "median": median, "noted": noted,
        "agreed": agreed, "no_case": no_case, "extreme": extreme, "side": side, "hit": hit, "Fraction": Fraction,
        "NUMBER": kind.number, "POWER": kind.power, "FUNCTIONS": kind.functions, "SAME": same,
    }


def hit(hits: set[int], number: int, value: Any) -> Any:
    """The value, noted as used."""
    hits.add(number)
    return value


def agreed(hits: set[int], branches: tuple[tuple[int, Any, Any], ...], other: Any, same: Any) -> Any:
    """The value of the cases that hold, else ``other``; :class:`TwoCases` where two of them differ."""
    values = [hit(hits, number, value()) for number, holds, value in branches if holds()]
    if not all(same(values[0], value) for value in values[1:]):
        raise TwoCases
    return values[0] if values else other()


def extreme(hits: set[int], first: int, pick: Any, values: tuple[Any, ...]) -> Any:
    """The extreme value; which of them it is is noted."""
    found = pick(values)
    hits.update(first + n for n, value in enumerate(values) if value is found)
    return found


def side(hits: set[int], above: int, below: int, value: Any, function: Any) -> Any:
    """|v| or sign v; on which side of 0 the argument lies is noted."""
    found = function(value)
    hits.add(above if value > 0 else below)
    return found


def variables_of(node: Node) -> tuple[Idx, ...]:
    return tuple(sorted(free_indices(node), key=lambda v: v.name))


# Matrix notation in components: S z is Σ_q S_q z_q.

@lru_cache(maxsize=4096)
def componentwise(node: Node, table: SymbolTable) -> Node:
    """The statement with each product of two whole vectors written as a sum over their components."""
    if all(_length(part, table) is None for part in walk(node)):
        return node

    def product(part: Node) -> Node | None:
        if not (isinstance(part, Mul) and len(part.factors) == 2):
            return None
        sizes = [_length(factor, table) for factor in part.factors]
        if sizes[0] is None or sizes[0] != sizes[1]:
            return None
        t, n = Idx("$component"), sizes[0]
        top = Num(n) if isinstance(n, int) else Size(n)
        entries = tuple(Entry(f.tensor, (t,)) for f in part.factors if isinstance(f, Entry))
        return Reduce("sum", ranging(t, ONE, top), Mul(entries))

    return transform(node, product, Mul)


def _length(factor: Node, table: SymbolTable) -> int | str | None:
    """The extent of a whole vector; None for anything else."""
    if not isinstance(factor, Entry) or factor.indices:
        return None
    symbol = table.named(factor.tensor)
    return symbol.sizes[0] if symbol is not None and len(symbol.axes) == 1 and symbol.sizes else None
