"""Where the letters of index terms run, and what follows from it."""

from __future__ import annotations

import derive.expr as ex
from derive.affine import Affine, Range, Ranges
from derive.axes import axes, stands
from derive.errors import UnsupportedError
from derive.module import Module


def solve(left: ex.Expr, right: ex.Expr, letters: tuple[ex.Idx, ...]) -> tuple[ex.Idx, ex.Expr] | None:
    """(v, e) with left = right ⟺ v = e, for one of the letters; None where none has the coefficient ±1."""
    difference = Affine.of(left).minus(Affine.of(right))
    whole = all(c.denominator == 1 for c in (*difference.coefficients.values(), difference.constant))
    for v in letters if whole else ():
        c = difference.coefficients.get(v)
        if c in (1, -1):
            rest = Affine({w: d for w, d in difference.coefficients.items() if w is not v}, difference.constant)
            return v, rest.times(-c).expr()
    return None


def within(term: ex.Expr, bounds: Range, ranges: Ranges) -> ex.Rel | None:
    """lower ≤ term ≤ upper, less what the ranges of the term's letters give already; None if nothing is left."""
    if isinstance(term, (ex.Star, ex.Entry)):
        return None  # a maximiser lies in its own domain, and an entry that is an index points into it
    value = Affine.of(term)
    low = value.minus(Affine.of(bounds.lower)).end(ranges, top=False)
    high = Affine.of(bounds.upper).minus(value).end(ranges, top=False)
    terms: list[ex.Expr] = [term]
    ops: list[str] = []
    if low is None or not low.never_negative:
        terms, ops = [bounds.lower, term], ["≤"]
    if high is None or not high.never_negative:
        beyond = Affine.of(ex.add(bounds.upper, ex.ONE)).expr()
        short = isinstance(beyond, (ex.Num, ex.Size))
        terms, ops = [*terms, beyond if short and bounds.lower != ex.ONE else bounds.upper], [
            *ops, "<" if short and bounds.lower != ex.ONE else "≤"]
    return ex.Rel(tuple(terms), tuple(ops)) if ops else None


def axis_range(tensor: str, axis: int, module: Module) -> Range | None:
    """All coordinates of a tensor's axis; None where its extent has no name."""
    found = axes(module)
    if (tensor, axis) not in found.ranges:
        size, origin = found.size(tensor, axis), found.origin(tensor, axis)
        found.ranges[tensor, axis] = None if size is None else Range(
            ex.Num(origin), Affine.of(ex.sub(ex.add(size, ex.Num(origin)), ex.ONE)).expr())
    return found.ranges[tensor, axis]


def natural(variable: ex.Idx, body: ex.Node, module: Module) -> Range | None:
    """Where an index without a written range runs: along the axes on which it stands."""
    found = (axis_range(tensor, d, module) for tensor, d in stands(variable, body))
    return next((r for r in found if r is not None), None)


def ranges_of(binder: ex.Binder, body: ex.Node, module: Module) -> dict[ex.Idx, Range]:
    """The range of each bound variable; none for those that run through a condition."""
    found: dict[ex.Idx, Range] = {}
    for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
        if low is not None and high is not None:
            found[v] = Range(low, high)
        elif not _through(v, binder.cond):
            run = natural(v, body, module)
            if run is None:
                raise UnsupportedError("an index has no range: no tensor axis and no set is indexed by it alone")
            found[v] = run
    return found


def _through(variable: ex.Idx, cond: ex.Cond | None) -> bool:
    """The variable runs through a set: v ∈ Ω(…), or Ω(v) ∋ …."""
    return any(isinstance(c, ex.In) and variable in ex.free_indices(c) for c in ex.conditions(cond))


def binder_of(variables: tuple[ex.Idx, ...], ranges: dict[ex.Idx, Range], conds: tuple[ex.Cond, ...], body: ex.Expr,
              module: Module) -> ex.Binder:
    """A binder; ranges are not written where all variables run there anyway."""
    needed = any(v in ranges and natural(v, body, module) != ranges[v] for v in variables)
    written = [ranges.get(v) if needed else None for v in variables]
    return ex.Binder(variables, tuple(None if r is None else r.lower for r in written),
                  tuple(None if r is None else r.upper for r in written), joint(_in_order(variables, conds)))


def _in_order(variables: tuple[ex.Idx, ...], conds: tuple[ex.Cond, ...]) -> tuple[ex.Cond, ...]:
    """What is said of k before what is said of l, in a sum over (k, l)."""
    def place(cond: ex.Cond) -> int:
        return next((n for n, v in enumerate(variables) if v in ex.free_indices(cond)), len(variables))

    return tuple(sorted(conds, key=place))


def kept_ranges(binder: ex.Binder, body: ex.Expr, inner: ex.Expr, module: Module) -> ex.Binder:
    """The binder for a new body: a variable still runs where it ran over the old one."""
    if all(low is not None or natural(v, body, module) == natural(v, inner, module)
           for v, low in zip(binder.variables, binder.lower, strict=True)):
        return binder
    ranges = ranges_of(binder, body, module)
    return ex.Binder(binder.variables, tuple(ranges[v].lower if v in ranges else None for v in binder.variables),
                  tuple(ranges[v].upper if v in ranges else None for v in binder.variables), binder.cond)


def ranged(entry: ex.Entry, body: ex.Expr, module: Module) -> ex.Binder:
    """The binder that runs through all entries of a tensor."""
    variables = tuple(i for i in entry.indices if isinstance(i, ex.Idx))
    return binder_of(variables, entry_ranges(entry, module), (), body, module)


def entry_ranges(entry: ex.Entry, module: Module) -> dict[ex.Idx, Range]:
    """The ranges of an entry's own index letters."""
    found = ((i, axis_range(entry.tensor, d, module)) for d, i in enumerate(entry.indices) if isinstance(i, ex.Idx))
    return {i: r for i, r in found if r is not None}


def joint(conds: tuple[ex.Cond, ...]) -> ex.Cond | None:
    """The conditions as one; None where there is none."""
    return None if not conds else ex.joined(conds)
