"""Windows Ω(k, l) in code: along each axis a range of cells; and a sum over windows, seen from each window's cells."""

from __future__ import annotations

from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.errors import UnsupportedError
from derive.listing.code import flat
from derive.listing.scope import Cells, Definition, Loop, Scope
from derive.receptive_field import Axis, WindowAxis
from derive.records import dataclass
from derive.reductions import is_middle


def output_size(axis: Axis, n: ex.Expr) -> ex.Expr:
    """⌊(n + p + p' − d(K−1) − 1)/s⌋ + 1; with ``ceil_mode`` as many windows as begin before the input's end."""
    if not isinstance(axis, WindowAxis) or isinstance(n, ex.Num):
        return ex.Num(axis.output_size(int(n.value) if isinstance(n, ex.Num) else 1))
    s = axis.stride
    shift = axis.padding + axis.padding_after - axis.span + s
    if axis.ceil_mode:
        shift = min(shift + s - 1, axis.padding + s - 1)
    top = ex.add(n, ex.Num(shift)) if shift else n
    return top if s == 1 else ex.Fn("floor", (ex.Mul((top, ex.Pow(ex.Num(s), ex.Num(-1)))),))


@dataclass(frozen=True)
class Scatter:
    """t_I += body at I = ``places`` for all k, a and i: Σ_k [I = g(k, a)] v as each k has it.

    ``taps`` stand for differences i − s k, and ``cells`` are the axes along which i runs through a window.
    """

    counts: dict[ex.Idx, ex.Expr]  # of k, and of the indices that stay
    taps: dict[ex.Idx, ex.Expr]
    cells: dict[ex.Idx, Cells]
    places: tuple[ex.Expr, ...]
    body: ex.Expr


def scattered(definition: Definition, scope: Scope) -> Scatter | None:
    """A sum under 0 ≤ i − s k < A, (i, j) ∈ Ω(k, l) or (i, j) = (i^*_k, j^*_k) as what it adds to which entries."""
    factors = [*flat((definition.value,))]
    sums = [f for f in factors if isinstance(f, ex.Reduce) and f.op == "sum"]
    if len(sums) > 1:
        return None
    loop = scope.opened(sums[0], definition.indices) if sums else Loop((), (), None, ex.ONE)
    factors = [*(f for f in factors if f not in sums), *flat((loop.body,))]
    brackets = [f for f in factors if isinstance(f, ex.Bracket) and (
        isinstance(f.cond, ex.In) or any(isinstance(n, ex.Star) for n in ex.walk(f)))]
    body = ex.mul(*(f for f in factors if f not in brackets))
    conds = [*ex.conditions(loop.cond), *(c for f in brackets for c in ex.conditions(f.cond))]
    seen = _Places(definition.indices, loop.variables, body, scope)
    if not conds or not all(map(seen.read, conds)):
        return None
    places, cells = seen.places, {i: c for i, c in seen.cells.items() if i not in seen.places}
    located = {i: ex.free_indices(p) for i, p in places.items()} | {i: ex.free_indices(c.at) for i, c in cells.items()}
    if any({*located} & free for free in located.values()):
        return None
    counts = dict(zip(definition.indices, definition.counts, strict=True)) | dict(
        zip(loop.variables, loop.counts, strict=True))
    order = dict.fromkeys(v for i in definition.indices for v in counts if v in located.get(i, {i}))
    rest = tuple(v for v in loop.variables if v not in order)
    body = ex.subst(body, cast("dict[ex.Node, ex.Node]", places))
    if rest:
        ends = tuple(ex.sub(counts[v], ex.ONE) for v in rest)
        body = ex.Reduce("sum", ex.Binder(rest, (ex.ZERO,) * len(rest), ends, None), body)
    return Scatter({v: counts[v] for v in order}, seen.taps, cells, tuple(places.get(i, i) for i in definition.indices),
                   body)


class _Places:
    """Where conditions of a sum over k say that the entries i of what is defined stand."""

    def __init__(self, own: tuple[ex.Idx, ...], bound: tuple[ex.Idx, ...], body: ex.Expr, scope: Scope) -> None:
        self.own, self.bound, self.body, self.scope = own, bound, body, scope
        self.places: dict[ex.Idx, ex.Expr] = {}
        self.taps: dict[ex.Idx, ex.Expr] = {}
        self.cells: dict[ex.Idx, Cells] = {}

    def read(self, cond: ex.Cond) -> bool:
        """Whether the condition says where entries stand."""
        bounds = between(cond)
        if bounds is not None:
            return self.tap(*bounds)
        if isinstance(cond, ex.In):
            self.cells |= self.scope.cells(cond)
            return {*self.cells} <= {*self.own}
        if not isinstance(cond, ex.Rel) or cond.ops != ("=",):
            return False
        found = dict(zip(*map(ex.items, cond.terms), strict=True))
        self.places |= cast("dict[ex.Idx, ex.Expr]", found)
        return {*found} <= {*self.own}

    def tap(self, term: Affine, below: ex.Expr) -> bool:
        """i = s k + a for 0 ≤ i − s k < A."""
        own = [v for v in self.own if term.coefficients.get(v) == 1]
        others = [v for v in term.coefficients if v not in own]
        if len(own) != 1 or len(others) != 1 or term.constant or others[0] not in self.bound or own[0] in self.places:
            return False
        k, step = others[0], -term.coefficients[others[0]]
        if step < 1 or step.denominator != 1 or any(k in ex.free_indices(p) for p in self.places.values()):
            return False
        tap = self.scope.tap(term, self.body, {v.name for v in (*self.own, *self.bound, *self.taps)})
        self.taps[tap] = below
        self.places[own[0]] = ex.add(ex.mul(ex.Num(step), k), tap)
        return True


def between(cond: ex.Cond) -> tuple[Affine, ex.Expr] | None:
    """(t, A) of 0 ≤ t < A."""
    if not isinstance(cond, ex.Rel) or cond.ops != ("≤", "<") or cond.terms[0] != ex.ZERO:
        return None
    return Affine.of(cond.terms[1]), cond.terms[2]


def shared(value: ex.Expr, scope: Scope) -> ex.Expr:
    """[I = argmax u] as the share of one of several tied entries where these share alike: [u_I = max u]/|{u = max u}|.

    A median is shared by the entries that equal it under every tie rule.
    """
    def share(node: ex.Node) -> ex.Node | None:
        cond = cast(ex.Bracket, node).cond
        if not isinstance(cond, ex.Rel) or not all(isinstance(s, ex.Star) for s in ex.items(cond.terms[-1])):
            return None
        at, stars = ex.items(cond.terms[0]), cast("tuple[ex.Star, ...]", ex.items(cond.terms[-1]))
        arg, _ = scope.messages.star_definitions[stars[0].name]
        if len(arg.binder.variables) != len(at) or not (scope.module.tie_rule == "split" or is_middle(arg.op)):
            return None
        arg = ex.subst(arg, dict(zip(scope.module.parameters_of(arg), stars[0].at, strict=True)))
        best = ex.Reduce(arg.op, arg.binder, arg.body)
        value = next((ex.Entry(e.tensor, stars[0].at) for e, v in definitions if len(e.indices) == len(stars[0].at)
                      and ex.subst(v, dict(zip(e.indices, stars[0].at, strict=True))) == best), best)
        names = tuple(ex.fresh_index() for _ in at)
        binder, body = ex.open_as(arg, names)
        there: dict[ex.Node, ex.Node] = dict(zip(names, at, strict=True))
        conds = [*(ex.subst(c, there) for c in ex.conditions(binder.cond)), ex.eq(ex.subst(body, there), value)]
        ties = ex.Reduce("sum", binder, ex.Bracket(ex.eq(body, value)))
        return ex.mul(*map(ex.Bracket, conds), ex.Pow(ties, ex.MINUS_ONE))

    definitions = [cast("tuple[ex.Entry, ex.Expr]", e.terms) for e in scope.module.equations]
    return ex.transform(value, share, ex.Bracket)


def worst(op: str) -> str:
    """The maximum or minimum of nothing."""
    return "-np.inf" if op == "max" else "np.inf"


def refuse(loop: Loop, op: str, tie_rule: str) -> None:
    """Raises :class:`UnsupportedError` for a selection that has no code."""
    if is_middle(op) or loop.cond is not None or tie_rule == "split":
        raise UnsupportedError("this selection of an entry is not written as code yet")
    if loop.missed:
        raise UnsupportedError("a selection in windows that may lie wholly in padding is not written as code yet")
