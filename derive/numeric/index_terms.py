"""Index terms on a grid, exactly: an integer array over one common denominator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.errors import UnsupportedError
from derive.expr import Add, Expr, Extremum, Fn, Idx, Mul, Node, Num, Pow, Size, Star, walk
from derive.numeric.gather import Array, Indices
from derive.numeric.limits import size


@dataclass(frozen=True)
class Quotient:
    """top / bottom."""

    top: Indices
    bottom: int = 1

    def whole(self) -> Indices:
        if self.bottom != 1:
            if (self.top % self.bottom).any():
                raise UnsupportedError("an index is not a whole number: write its floor or ceil")
            return self.top // self.bottom
        return self.top

    def real(self) -> Array:
        return self.top / self.bottom


@lru_cache(maxsize=4096)
def is_index_term(node: Node) -> bool:
    """Made of numbers, sizes and index variables only, by steps that are exact."""
    return all(map(_is_exact, walk(node))) and not isinstance(node, Num)


def _is_exact(node: Node) -> bool:
    if isinstance(node, Pow):
        return isinstance(node.base, (Num, Size)) and node.base is not Num(0) and node.exponent is Num(-1)
    if isinstance(node, Fn):
        return node.name in ("floor", "ceil", "mod")
    return isinstance(node, (Num, Size, Idx, Star, Add, Mul, Extremum))


def evaluate(node: Expr, env: Mapping[Idx, Indices], sizes: Mapping[str, int],
             star: Callable[[Star], Indices]) -> Quotient:
    """An index term such as ⌊(i + p)/s⌋ at every point of the grid."""
    def go(part: Expr) -> Quotient:
        return evaluate(part, env, sizes, star)

    match node:
        case Idx():
            if node not in env:
                raise UnsupportedError("an index is not bound: it stands on the right only")
            return Quotient(env[node])
        case Num(value):
            return Quotient(np.asarray(value.numerator, np.int64), value.denominator)
        case Size(name):
            return Quotient(np.asarray(size(name, sizes), np.int64))
        case Star():
            return Quotient(star(node))
        case Mul(factors):
            parts = [go(f) for f in factors]
            return Quotient(math.prod((p.top for p in parts[1:]), start=parts[0].top),
                            math.prod(p.bottom for p in parts))
        case Pow(base, Num(exponent)) if exponent == -1 and isinstance(base, Num):
            inverse = 1 / base.value
            return Quotient(np.asarray(inverse.numerator, np.int64), inverse.denominator)
        case Pow(Size(name), Num(exponent)) if exponent == -1:
            return Quotient(np.asarray(1, np.int64), sizes[name])
        case Add(args) | Extremum(_, args):
            tops, bottom = _common([go(a) for a in args])
            join = {"max": np.maximum, "min": np.minimum}[node.op] if isinstance(node, Extremum) else np.add
            total = tops[0]
            for top in tops[1:]:
                total = join(total, top)
            return Quotient(total, bottom)
        case Fn("floor", (arg,)):
            inner = go(arg)
            return Quotient(inner.top // inner.bottom)
        case Fn("ceil", (arg,)):
            inner = go(arg)
            return Quotient(-(-inner.top // inner.bottom))
        case Fn("mod", (left, right)):
            tops, bottom = _common([go(left), go(right)])
            return Quotient(tops[0] % tops[1], bottom)
    raise UnsupportedError(f"`{type(node).__name__}` does not make an index")


def _common(parts: list[Quotient]) -> tuple[list[Indices], int]:
    bottom = math.lcm(*(p.bottom for p in parts))
    return [p.top * (bottom // p.bottom) for p in parts], bottom
