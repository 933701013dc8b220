"""Printed statements at a point: a formula becomes a small Python function, exact over int and Fraction.

Used on what the reader read back.  Nothing here knows calculus: a derivative is
looked up in the point, which has it from difference quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import CodeType
from typing import Any

from derive.expr import (
    Expr,
    Given,
    Idx,
    Iff,
    Node,
    Rel,
    Subdifferential,
    free_indices,
)
from derive.numeric.coder import RELATIONS, Coder
from derive.numeric.point import Definitions, Index, Point, best, choose, median, middle, no_case, noted, whole


@dataclass(frozen=True)
class Statement:
    """A compiled claim: ``evaluate(P, assignment)`` gives (holds, sides), or None where it claims nothing."""

    variables: tuple[Idx, ...]
    branches: int
    evaluate: Callable[[Point, Index, set[int]], tuple[bool, tuple[Any, ...]] | None]


_GLOBALS: dict[str, Any] = {}


def _globals() -> dict[str, Any]:
    if not _GLOBALS:
        import math

        _GLOBALS.update(F=Fraction, INF=math.inf, floor=math.floor, ceil=math.ceil, prod=math.prod, best=best,
                        middle=middle, median=median, whole=whole, no_case=no_case,
                        choose=choose, noted=noted)
    return _GLOBALS


@lru_cache(maxsize=4096)
def bytecode(source: str) -> CodeType:
    """The compiled text of a function; the text is our own: names and numbers only."""
    return compile(source, "<statement>", "exec")


def compile_statement(node: Node, definitions: Definitions, ranks: Mapping[str, int]) -> Statement:
    """The statement as a function of a point and of its free indices.

    Raises :class:`UnsupportedError` where it holds something that has no exact value.
    """
    coder = Coder(definitions, ranks)
    variables = tuple(sorted(free_indices(node), key=lambda v: v.name))
    params = [coder.name(v) for v in variables]
    guard, claim = "", node
    if isinstance(node, Given):
        guard, claim = f"    if not {coder.value(node.cond)}: return None\n", node.claim
    source = (f"def evaluate(P, AT, HITS):\n    {''.join(p + ',' for p in params)} = AT\n" if params
              else "def evaluate(P, AT, HITS):\n") + guard + _body(claim, coder)
    space = {**_globals(), **coder.keys}
    exec(bytecode(source), space)
    return Statement(variables, coder.branches, space["evaluate"])


def _body(claim: Node, coder: Coder) -> str:
    """Statements that return (holds, sides)."""
    if isinstance(claim, Rel) and not isinstance(claim.terms[0], Subdifferential):
        lines = [f"    t{n} = {coder.value(term)}\n" for n, term in enumerate(claim.terms)]
        chain = "t0" + "".join(f" {RELATIONS[op]} t{n + 1}" for n, op in enumerate(claim.ops))
        return "".join(lines) + f"    return ({chain}), ({''.join(f't{n},' for n in range(len(claim.terms)))})\n"
    if isinstance(claim, Iff):
        return (f"    l, r = bool({coder.value(claim.left)}), bool({coder.value(claim.right)})\n"
                "    return l == r, (l, r)\n")
    return f"    return bool({coder.value(claim)}), ()\n"



def compile_value(params: tuple[Expr, ...], value: Expr, definitions: Definitions,
                  ranks: Mapping[str, int]) -> Callable[[Point, Index], Any]:
    """The value of a defined entry w_q as a function of a point and of its indices."""
    coder = Coder(definitions, ranks)
    names = "".join(coder.name(p) + "," for p in params if isinstance(p, Idx))
    head = f"def value(P, AT, HITS):\n    {names} = AT\n" if names else "def value(P, AT, HITS):\n"
    source = f"{head}    return {coder.value(value)}\n"
    space = {**_globals(), **coder.keys}
    exec(bytecode(source), space)
    function = space["value"]
    return lambda point, at: function(point, at, set())
