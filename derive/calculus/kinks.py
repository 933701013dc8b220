"""Where a forward formula is not differentiable: the boundaries between its branches, and the slopes that meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from derive.calculus.algebra import monomial
from derive.calculus.boundaries import Border, borders, compared, solve, unclipped, zero
from derive.calculus.brackets import possible
from derive.calculus.dependence import reached
from derive.calculus.derivation import differentiate
from derive.calculus.extremum import letters
from derive.calculus.form import simplified
from derive.calculus.points import vanishes
from derive.calculus.ranges import Range, entry_ranges
from derive.expr import (
    ONE,
    ZERO,
    Add,
    Cases,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Idx,
    Iff,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    Rel,
    free_indices,
    mul,
    open_as,
    rel,
    sub,
    subst,
    transform,
    walk,
)
from derive.functions import known
from derive.module import Module
from derive.notation.term_writer import is_negative
from derive.records import dataclass


@dataclass(frozen=True)
class Jump:
    """Where ``boundary`` holds, the slopes by ``wrt`` on its two sides, and the one that the formulas take on it."""

    boundary: Rel
    wrt: Entry
    slopes: tuple[Expr, Expr]
    chosen: Expr


@dataclass(frozen=True)
class Kink:
    """The boundaries of a node in the definition of ``of``.

    On those in ``broken`` the value itself jumps, on those in ``smooth`` value and slopes agree.
    ``meaning`` says what the node's comparison comes to, by the sign of a parameter.
    """

    of: Entry
    node: Expr
    boundaries: tuple[Rel, ...]
    jumps: tuple[Jump, ...]
    broken: tuple[Rel, ...] = ()
    smooth: tuple[Rel, ...] = ()
    meaning: tuple[Given, ...] = ()


def kinks(tensor: str, module: Module) -> tuple[Kink, ...]:
    """The kinks in the definition of a tensor: of max(u, v) and min, of cases, of |u|."""
    entry, value = module.definition(tensor)
    here = _Here(entry, module.holding(module.defined))
    return tuple(filter(None, map(here.of, _nodes(value, here.module))))


def _nodes(value: Expr, module: Module) -> Iterator[Expr]:
    """The nodes with branches, from outside in; not those that only one branch of cases holds.

    Of |u|^p and max(0, u)^p with p > 1 only what is inside: their slopes, p |u|^{p−1} sign(u), have no jump.
    """
    if isinstance(value, Pow) and _above_one(value.exponent, module) and (
            _is_abs(value.base) or (isinstance(value.base, Extremum) and ZERO in value.base.args
                                    and len(value.base.args) == 2)):
        for part in value.base.children():
            if isinstance(part, Expr):
                yield from _nodes(part, module)
        return
    if isinstance(value, (Extremum, Cases)) or _is_bent(value):
        yield value
    if isinstance(value, Cases):
        return
    parts = (open_as(value, letters(value, module, free_indices(value)))[1],) if isinstance(value, Reduce) else (
        value.children())
    for part in parts:
        if isinstance(part, Expr):
            yield from _nodes(part, module)


def _is_abs(node: Expr) -> bool:
    return isinstance(node, Fn) and node.name == "abs"


def _is_bent(node: Expr) -> bool:
    """A function with a kink; not one whose value jumps."""
    function = known(node.name) if isinstance(node, Fn) else None
    return function is not None and any(vanishes(sub(*c.sides(c.at))) for c in function.corners)


def _above_one(exponent: Expr, module: Module) -> bool:
    """A number above 1, or a letter of which the question says so."""
    if isinstance(exponent, Num):
        return exponent.value > 1
    return isinstance(exponent, Entry) and not possible(rel(exponent, "≤", ONE), module)


def norm(tensor: str, module: Module) -> Rel | None:
    """f = 0 for f = (Σ |u|^p)^{1/p}: the tip of a norm, where all that is summed is 0; None for other definitions."""
    entry, value = module.definition(tensor)
    if not isinstance(value, Pow):
        return None
    degree = _degree(value.base)
    if degree is None or not _above_one(degree, module):
        return None
    root = Num(1 / degree.value) if isinstance(degree, Num) else Pow(degree, Num(-1))
    return zero(entry) if value.exponent is root else None


def _degree(node: Expr) -> Expr | None:
    """p where the node is a sum of |u|^p, times a number above 0, and so is 0 only where every u is."""
    match node:
        case Pow(base, exponent) if _is_abs(base):
            return exponent
        case Pow(Entry() | Add(), Num(p) as exponent) if p > 0 and p % 2 == 0:
            return exponent
        case Reduce("sum", _, body):
            return _degree(body)
        case Mul(factors):
            found = [d for f in factors if (d := _degree(f)) is not None]
            others = [f for f in factors if _degree(f) is None]
            positive = all(not any(isinstance(n, Entry) for n in walk(f)) and not is_negative(f) for f in others)
            return found[0] if len(found) == 1 and positive else None
        case Add(terms):
            degrees = {_degree(t) for t in terms}
            return degrees.pop() if len(degrees) == 1 else None
    return None


class _Here:
    """The definition that is looked at; its other tensors are held."""

    def __init__(self, entry: Entry, module: Module) -> None:
        self.entry, self.module = entry, module
        self.ranges: dict[Idx, Range] = entry_ranges(entry, module)

    def of(self, node: Expr) -> Kink | None:
        """All borders of a node; None where it has none that a letter of the layer can cross."""
        boundaries: list[Rel] = []
        jumps: list[Jump] = []
        broken: list[Rel] = []
        smooth: list[Rel] = []
        meaning: tuple[Given, ...] = ()
        for border in borders(node, self.simple):
            gap = self.simple(border.gap)
            inner = unclipped(gap)
            parts = [] if inner is None else self.parts(inner)
            for part in parts:
                stated = border.stated if inner is gap and len(parts) == 1 else None
                boundary = stated if stated is not None else zero(part)
                if not possible(boundary, self.module):
                    continue
                boundaries.append(boundary)
                if not border.told:
                    continue
                step = self.is_zero(self.at(sub(*border.sides), part)) if isinstance(node, Cases) else True
                if step is False and solve(part) is not None:
                    broken.append(boundary)
                elif step is True and (not isinstance(node, Extremum) or len(node.args) == 2):
                    found, told = self.jumps(node, boundary, part, border)
                    jumps += found
                    smooth += [boundary] if told and not found else []
                meaning = meaning or self.meaning(node, border.gap, part, [p for p in parts if p is not part])
        if not boundaries:
            return None
        return Kink(self.entry, node, tuple(dict.fromkeys(boundaries)), tuple(jumps), tuple(broken), tuple(smooth),
                    meaning)

    def parts(self, gap: Expr) -> list[Expr]:
        """The factors of a gap that may be 0, those of the entries with an index first."""
        found = [a for a, e in monomial(self.simple(gap)).powers.items() if isinstance(e, Num) and e.value > 0]
        moving = [p for p in found if any(True for _ in self.letters(p))]
        return sorted(moving, key=lambda p: not free_indices(p))

    def jumps(self, node: Expr, boundary: Rel, part: Expr, border: Border) -> tuple[list[Jump], bool]:
        """For each letter in the boundary, the slopes on both sides of it, where they differ; if all could be told."""
        found, told = [], True
        for wrt in self.letters(part):
            left, right = (self.at(self.slope(s, wrt), part) for s in border.sides)
            same = self.is_zero(sub(left, right))
            told = told and same is not None
            if same is False:
                found.append(Jump(boundary, wrt, (left, right), self.taken(node, (left, right), wrt, border)))
        return found, told

    def taken(self, node: Expr, slopes: tuple[Expr, Expr], wrt: Entry, border: Border) -> Expr:
        """The slope that the rules give on the boundary: sign(0) = 0; of two terms the one free of x, or the second."""
        if border.bend is not None:
            slope, inner = border.bend
            return mul(slope, self.slope(inner, wrt))
        if isinstance(node, Extremum) and not all(wrt.tensor in reached(s, self.module) for s in border.sides):
            return ZERO
        return slopes[0] if border.chosen is border.sides[0] else slopes[1]

    def is_zero(self, value: Expr) -> bool | None:
        """Identically 0: after simplifying, or at random points; None where that cannot be told."""
        return True if value is ZERO or self.simple(value) is ZERO else vanishes(value)

    def slope(self, side: Expr, wrt: Entry) -> Expr:
        return self.simple(cast(Expr, differentiate(side, wrt, self.module).after))

    def at(self, value: Expr, part: Expr) -> Expr:
        """The value on the boundary, where the boundary can be solved for an entry."""
        solved = solve(part)
        if solved is not None:
            value = subst(value, {solved[0]: solved[1]})
        return self.simple(transform(self.simple(value), _sign, Pow, Mul))

    def simple(self, value: Expr) -> Expr:
        return simplified(value, self.ranges, self.module, fold=False)

    def letters(self, part: Expr) -> Iterator[Entry]:
        """The entries that stand in it, free of bound indices."""
        found = (n for n in walk(part) if isinstance(n, Entry))
        yield from dict.fromkeys(n for n in found if not any(i.name.startswith("§") for i in free_indices(n)))

    def meaning(self, node: Expr, gap: Expr, part: Expr, others: list[Expr]) -> tuple[Given, ...]:
        """u > v ⟺ f > 0 where g > 0, and f < 0 where g < 0, for u − v = f g."""
        if not isinstance(node, Extremum) or len(others) != 1 or any(True for _ in free_indices(others[0])):
            return ()
        if not free_indices(part):
            return ()
        whole = monomial(self.simple(gap))
        if any(e is not ONE for e in whole.powers.values()):
            return ()
        wins = ">" if node.op == "max" else "<"
        u, v = node.args
        found = []
        for op in (">", "<"):
            positive = (op == ">") == (whole.number > 0)
            sign = wins if positive else {">": "<", "<": ">"}[wins]
            where = compared(others[0], op)
            if possible(where, self.module):
                found.append(Given(Iff(rel(u, wins, v), rel(part, sign, ZERO)), where))
        return tuple(found)


def _sign(node: Node) -> Node | None:
    """|u| sign(u) = u, |u|² = u²."""
    if isinstance(node, Pow) and isinstance(node.base, Fn) and node.base.name == "abs" and node.exponent == Num(2):
        return Pow(node.base.args[0], node.exponent)
    if not isinstance(node, Mul):
        return None
    for factor in node.factors:
        if isinstance(factor, Fn) and factor.name == "abs" and (sign := Fn("sign", factor.args)) in node.factors:
            return mul(*(factor.args[0] if f is factor else f for f in node.factors if f is not sign))
    return None

