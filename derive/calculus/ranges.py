"""Index terms c_0 + Σ c_v v with exact coefficients, where their letters run, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import derive.expr as ex
from derive.axes import axes, stands
from derive.errors import UnsupportedError
from derive.module import Module
from derive.records import dataclass


@dataclass(frozen=True)
class Range:
    """lower ≤ v ≤ upper."""

    lower: ex.Expr
    upper: ex.Expr

    @property
    def length(self) -> ex.Expr:
        """upper − lower + 1."""
        return Affine.of(ex.add(ex.sub(self.upper, self.lower), ex.ONE)).expr()


Ranges = Mapping[ex.Idx, Range]


@dataclass(frozen=True)
class Affine:
    """constant + Σ coefficients[v] · v; a part that is not affine is a letter of its own."""

    coefficients: dict[ex.Expr, Fraction]
    constant: Fraction

    @staticmethod
    def of(node: ex.Expr) -> Affine:
        match node:
            case ex.Num(value):
                return Affine({}, value)
            case ex.Add(terms):
                total = Affine({}, Fraction(0))
                for term in terms:
                    total = total.plus(Affine.of(term), Fraction(1))
                return total
            case ex.Mul(factors):
                parts = [Affine.of(f) for f in factors]
                numbers = [p.constant for p in parts if not p.coefficients]
                others = [p for p in parts if p.coefficients]
                if len(others) == 1:
                    scale = Fraction(1)
                    for number in numbers:
                        scale *= number
                    return Affine({}, Fraction(0)).plus(others[0], scale)
        return Affine({node: Fraction(1)}, Fraction(0))

    def plus(self, other: Affine, scale: Fraction) -> Affine:
        found = dict(self.coefficients)
        for letter, c in other.coefficients.items():
            found[letter] = found.get(letter, Fraction(0)) + scale * c
        return Affine({v: c for v, c in found.items() if c}, self.constant + scale * other.constant)

    def expr(self) -> ex.Expr:
        """Positive letters first, the constant last."""
        ordered = sorted(self.coefficients.items(), key=lambda item: item[1] < 0)
        return ex.add(*(ex.mul(ex.Num(c), v) for v, c in ordered), ex.Num(self.constant))

    def end(self, ranges: Ranges, top: bool) -> Affine | None:
        """The largest (smallest) value while the letters run through their ranges; None where one has none."""
        total = Affine({}, self.constant)
        for letter, c in self.coefficients.items():
            if isinstance(letter, ex.Size):
                total = total.plus(Affine({letter: Fraction(1)}, Fraction(0)), c)
            elif isinstance(letter, ex.Idx) and letter in ranges:
                bound = ranges[letter].upper if (c > 0) == top else ranges[letter].lower
                total = total.plus(Affine.of(bound), c)
            else:
                return None
        return total

    @property
    def never_negative(self) -> bool:
        """≥ 0 for all sizes ≥ 1."""
        known = all(isinstance(v, ex.Size) and c >= 0 for v, c in self.coefficients.items())
        return known and self.constant + sum(self.coefficients.values()) >= 0


def solve(left: ex.Expr, right: ex.Expr, letters: tuple[ex.Idx, ...]) -> tuple[ex.Idx, ex.Expr] | None:
    """(v, e) with left = right ⟺ v = e, for one of the letters; None where none has the coefficient ±1."""
    difference = Affine.of(left).plus(Affine.of(right), Fraction(-1))
    whole = all(c.denominator == 1 for c in (*difference.coefficients.values(), difference.constant))
    for v in letters if whole else ():
        c = difference.coefficients.get(v)
        if c in (1, -1):
            rest = Affine({w: d for w, d in difference.coefficients.items() if w is not v}, difference.constant)
            return v, Affine({}, Fraction(0)).plus(rest, -c).expr()
    return None


def within(term: ex.Expr, bounds: Range, ranges: Ranges) -> ex.Rel | None:
    """lower ≤ term ≤ upper, less what the ranges of the term's letters give already; None if nothing is left."""
    if isinstance(term, ex.Star):
        return None  # a maximiser lies in its own domain
    value = Affine.of(term)
    low = value.plus(Affine.of(bounds.lower), Fraction(-1)).end(ranges, top=False)
    high = Affine.of(bounds.upper).plus(value, Fraction(-1)).end(ranges, top=False)
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
    return any(isinstance(c, ex.In) and variable in ex.free_indices(c) for c in conditions(cond))


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


def different(left: tuple[ex.Idx, ...], right: tuple[ex.Idx, ...]) -> ex.Rel:
    """(u, v) ≠ (s, t)."""
    return ex.rel(ex.tuple_of(left), "≠", ex.tuple_of(right))


def restricted(binder: ex.Binder, cond: ex.Cond) -> ex.Binder:
    """The binder with one more condition."""
    return ex.Binder(binder.variables, binder.lower, binder.upper, joint((*conditions(binder.cond), cond)))


def conditions(cond: ex.Cond | None) -> tuple[ex.Cond, ...]:
    """The parts that all must hold."""
    return cond.conds if isinstance(cond, ex.And) else () if cond is None else (cond,)


def joint(conds: tuple[ex.Cond, ...]) -> ex.Cond | None:
    """The conditions as one; None where there is none."""
    return None if not conds else conds[0] if len(conds) == 1 else ex.And(conds)
