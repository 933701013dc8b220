"""Where bound variables run: as written, else along the axes on which they stand."""

from __future__ import annotations

from derive.axes import axes, stands
from derive.calculus.affine import Affine, Range
from derive.errors import UnsupportedError
from derive.expr import (
    ONE,
    And,
    Binder,
    Cond,
    Entry,
    Expr,
    Idx,
    In,
    Node,
    Num,
    Rel,
    add,
    free_indices,
    rel,
    sub,
    tuple_of,
)
from derive.module import Module


def axis_range(tensor: str, axis: int, module: Module) -> Range | None:
    """All coordinates of a tensor's axis; None where its extent has no name."""
    found = axes(module)
    size, origin = found.size(tensor, axis), found.origin(tensor, axis)
    if size is None:
        return None
    return Range(Num(origin), Affine.of(sub(add(size, Num(origin)), ONE)).expr())


def natural(variable: Idx, body: Node, module: Module) -> Range | None:
    """Where an index without a written range runs: along the axes on which it stands."""
    found = (axis_range(tensor, d, module) for tensor, d in stands(variable, body))
    return next((r for r in found if r is not None), None)


def ranges_of(binder: Binder, body: Node, module: Module) -> dict[Idx, Range]:
    """The range of each bound variable; none for those that run through a condition."""
    found: dict[Idx, Range] = {}
    for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
        if low is not None and high is not None:
            found[v] = Range(low, high)
        elif not _through(v, binder.cond):
            run = natural(v, body, module)
            if run is None:
                raise UnsupportedError("an index has no range: no tensor axis and no set is indexed by it alone")
            found[v] = run
    return found


def _through(variable: Idx, cond: Cond | None) -> bool:
    """The variable runs through a set: v ∈ Ω(…), or Ω(v) ∋ …."""
    return any(isinstance(c, In) and variable in free_indices(c) for c in conditions(cond))


def binder_of(variables: tuple[Idx, ...], ranges: dict[Idx, Range], conds: tuple[Cond, ...], body: Expr,
              module: Module) -> Binder:
    """A binder; ranges are not written where all variables run there anyway."""
    needed = any(v in ranges and natural(v, body, module) != ranges[v] for v in variables)
    written = [ranges.get(v) if needed else None for v in variables]
    return Binder(variables, tuple(None if r is None else r.lower for r in written),
                  tuple(None if r is None else r.upper for r in written), joint(_in_order(variables, conds)))


def _in_order(variables: tuple[Idx, ...], conds: tuple[Cond, ...]) -> tuple[Cond, ...]:
    """What is said of k before what is said of l, in a sum over (k, l)."""
    def place(cond: Cond) -> int:
        return next((n for n, v in enumerate(variables) if v in free_indices(cond)), len(variables))

    return tuple(sorted(conds, key=place))


def kept_ranges(binder: Binder, body: Expr, inner: Expr, module: Module) -> Binder:
    """The binder for a new body: a variable still runs where it ran over the old one."""
    if all(low is not None or natural(v, body, module) == natural(v, inner, module)
           for v, low in zip(binder.variables, binder.lower, strict=True)):
        return binder
    ranges = ranges_of(binder, body, module)
    return Binder(binder.variables, tuple(ranges[v].lower if v in ranges else None for v in binder.variables),
                  tuple(ranges[v].upper if v in ranges else None for v in binder.variables), binder.cond)


def ranged(entry: Entry, body: Expr, module: Module) -> Binder:
    """The binder that runs through all entries of a tensor."""
    variables = tuple(i for i in entry.indices if isinstance(i, Idx))
    return binder_of(variables, entry_ranges(entry, module), (), body, module)


def entry_ranges(entry: Entry, module: Module) -> dict[Idx, Range]:
    """The ranges of an entry's own index letters."""
    found = ((i, axis_range(entry.tensor, d, module)) for d, i in enumerate(entry.indices) if isinstance(i, Idx))
    return {i: r for i, r in found if r is not None}


def different(left: tuple[Idx, ...], right: tuple[Idx, ...]) -> Rel:
    """(u, v) ≠ (s, t)."""
    return rel(tuple_of(left), "≠", tuple_of(right))


def restricted(binder: Binder, cond: Cond) -> Binder:
    """The binder with one more condition."""
    return Binder(binder.variables, binder.lower, binder.upper, joint((*conditions(binder.cond), cond)))


def conditions(cond: Cond | None) -> tuple[Cond, ...]:
    """The parts that all must hold."""
    return cond.conds if isinstance(cond, And) else () if cond is None else (cond,)


def joint(conds: tuple[Cond, ...]) -> Cond | None:
    """The conditions as one; None where there is none."""
    return None if not conds else conds[0] if len(conds) == 1 else And(conds)
