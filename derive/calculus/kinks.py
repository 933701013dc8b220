"""Where a forward formula is not differentiable: the boundaries between its branches, and the slopes that meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, cast

from derive.axes import with_axes
from derive.calculus.algebra import monomial
from derive.calculus.boundaries import Border, borders, compared, crossed, solve, unclipped, zero
from derive.calculus.brackets import possible
from derive.calculus.derivation import differentiate
from derive.calculus.extremum import letters
from derive.calculus.form import simplified
from derive.calculus.points import between, vanishes
from derive.calculus.ranges import Range, entry_ranges
from derive.calculus.rules import taken
from derive.expr import (
    MINUS_ONE,
    ONE,
    ZERO,
    Add,
    Bracket,
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
    """Where ``boundary`` holds, the slopes of ``of`` by ``wrt`` on its two sides, and the one that the formulas take.

    ``of`` is a definition's left side, or a term of a sum in it.  ``between``: the slope taken is one of the
    generalised derivatives; None: that is not told.  Where one of ``equal`` holds, too, the slopes agree.
    """

    boundary: Rel
    wrt: Entry
    slopes: tuple[Expr, Expr]
    chosen: Expr
    of: Expr
    between: bool | None = True
    equal: tuple[Rel, ...] = ()


@dataclass(frozen=True)
class Kink:
    """The boundaries of a node in the definition of ``of``; what is said of them holds for all of the definition.

    On those in ``broken`` its value jumps, on those in ``smooth`` its value and slopes agree, in ``missed`` they agree
    on a slope that the formulas do not give.  ``meaning`` says what the node's comparison comes to, by the
    sign of a parameter.
    """

    of: Entry
    node: Expr
    boundaries: tuple[Rel, ...]
    jumps: tuple[Jump, ...] = ()
    broken: tuple[Rel, ...] = ()
    smooth: tuple[Rel, ...] = ()
    missed: tuple[Jump, ...] = ()
    meaning: tuple[Given, ...] = ()


@lru_cache(maxsize=256)
def kinks(tensor: str, module: Module) -> tuple[Kink, ...]:
    """The kinks in the definition of a tensor: of max(u, v) and min, of cases, of |u|, of brackets."""
    entry, value = module.definition(tensor)
    here = _Here(entry, module.holding(module.defined))
    found = [here.unit(of, whole, nodes) for of, whole, nodes in _units(entry, value, here.module)]
    return tuple(chain.from_iterable(found))


def settled(module: Module) -> Module:
    """The module with the terms that its maxima take at a tie which several of them share.

    By itself max(0, u) has the slope 0 there.  That of max(0, x) − max(0, −x) would be 0 at 0, where it is 1: all
    take the term of one side, whose slope is a generalised derivative, and the derivative where there is one.
    """
    found: dict[Expr, Expr] = {}
    whole_axes = with_axes(module)
    for tensor in module.defined:
        entry, value = whole_axes.definition(tensor)
        here = _Here(entry, whole_axes.holding(module.defined))
        for of, whole, nodes in _units(entry, value, here.module):
            for group in here.groups(nodes).values() if len(nodes) > 1 else ():
                told = here.told(of, whole, group) if len(group) > 1 else None
                if told is not None and any(not j.between for j in told.jumps):
                    found |= here.one_side(group)
    return replace(module, at_ties=tuple(found.items())) if found else module


def _units(of: Expr, value: Expr, module: Module) -> Iterator[tuple[Expr, Expr, list[Expr]]]:
    """The value and the terms of the sums in it, with the nodes with branches in each; ``of`` names it."""
    nodes: list[Expr] = []
    inside: list[Reduce] = []
    _gather(value, module, nodes, inside)
    yield of, value, nodes
    for node in inside:
        body = open_as(node, letters(node, module, free_indices(node)))[1]
        yield from _units(body, body, module)


def _gather(value: Expr, module: Module, nodes: list[Expr], inside: list[Reduce]) -> None:
    """The nodes with branches, from outside in; not those that only one branch of cases holds.

    Of |u|^p and max(0, u)^p with p > 1 only what is inside: their slopes, p |u|^{p−1} sign(u), have no jump.
    """
    if isinstance(value, Reduce):
        inside.append(value)
        return
    parts = value.children()
    if isinstance(value, Pow) and _above_one(value.exponent, module) and (
            _is_abs(value.base) or (isinstance(value.base, Extremum) and ZERO in value.base.args
                                    and len(value.base.args) == 2)):
        parts = value.base.children()
    elif isinstance(value, (Extremum, Cases)) or _is_bent(value) or (isinstance(value, Bracket) and _compares(value)):
        nodes.append(value)
    if not isinstance(value, (Cases, Bracket)):
        for part in parts:
            if isinstance(part, Expr):
                _gather(part, module, nodes, inside)


def _is_bent(node: Expr) -> bool:
    """A function with a kink or a jump."""
    function = known(node.name) if isinstance(node, Fn) else None
    return function is not None and bool(function.corners)


def _compares(node: Bracket) -> bool:
    """[u > v] of numbers, not of indices alone."""
    return any(isinstance(n, Entry) for n in walk(node))


def _steps(node: Expr) -> bool:
    """Its value may jump."""
    if isinstance(node, Fn):
        function = known(node.name)
        return function is not None and not all(vanishes(sub(*c.sides(c.at))) for c in function.corners)
    return not isinstance(node, Extremum)


def _is_abs(node: Expr) -> bool:
    return isinstance(node, Fn) and node.name == "abs"


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


class _Meeting(NamedTuple):
    """A node two of whose branches meet where part = 0; ``sign`` is that of the gap beside it, before and beyond.

    ``others`` are the further factors of the gap that may be 0.
    """

    node: Expr
    border: Border
    part: Expr
    boundary: Rel
    sign: tuple[int, int] | None
    others: list[Expr]

    def side(self, beyond: bool) -> Expr:
        """The branch where part < 0, or > 0."""
        above = beyond if self.sign is None else self.sign[beyond] > 0
        return self.border.above if above else self.border.below


class _Told(NamedTuple):
    """What holds on one boundary: a jump of the value, or the letters by which the slopes were compared."""

    broken: bool
    jumps: tuple[Jump, ...]


class _Here:
    """The definition that is looked at; its other tensors are held."""

    def __init__(self, entry: Entry, module: Module) -> None:
        self.entry, self.module = entry, module
        self.ranges: dict[Idx, Range] = entry_ranges(entry, module)

    def unit(self, of: Expr, whole: Expr, nodes: list[Expr]) -> list[Kink]:
        """A kink for each node that has a border which a letter of the layer can cross."""
        groups = self.groups(nodes)
        told = {part: self.told(of, whole, group) for part, group in groups.items()}
        found = []
        for node in nodes:
            own = [(part, m) for part, group in groups.items() for m in group if m.node is node]
            if not own:
                continue
            first = [told[part] for part, m in own if groups[part][0] is m]  # said once, of the first node
            places = [m.boundary for part, m in own if groups[part][0] is m]
            sure = [(t, place) for t, place in zip(first, places, strict=True) if t is not None]
            jumps = [j for t, _ in sure for j in t.jumps]
            bent = {j.boundary for j in jumps}
            found.append(Kink(
                self.entry, node, tuple(dict.fromkeys(m.boundary for _, m in own)),
                tuple(j for j in jumps if j.slopes[0] is not j.slopes[1]),
                tuple(place for t, place in sure if t.broken),
                tuple(place for t, place in sure if not t.broken and place not in bent),
                tuple(j for j in jumps if j.slopes[0] is j.slopes[1]),
                self.meant(node, [m for _, m in own])))
        return found

    def groups(self, nodes: list[Expr]) -> dict[Expr, list[_Meeting]]:
        """The borders of the nodes by what is 0 on them."""
        found: dict[Expr, list[_Meeting]] = {}
        for node in nodes:
            for border in borders(node, self.simple):
                for meeting in self.meetings(node, border):
                    part = self.simple(meeting.part)
                    turned = self.simple(mul(MINUS_ONE, part))
                    if turned in found and meeting.sign is not None:
                        meeting = meeting._replace(sign=meeting.sign[::-1])
                    found.setdefault(turned if turned in found else part, []).append(meeting)
        return found

    def meetings(self, node: Expr, border: Border) -> Iterator[_Meeting]:
        """Where a border can be crossed: at each factor of its gap that may be 0."""
        gap = self.simple(border.gap)
        inner, turn = unclipped(gap) or (None, 1)
        if inner is None:
            return
        sign, powers = crossed(inner, self.simple)
        parts = [a for a, e in powers.items() if isinstance(e, Num) and e.value > 0]
        moving = sorted((p for p in parts if any(True for _ in self.letters(p))), key=lambda p: not free_indices(p))
        for part in moving:
            stated = border.stated if inner is gap and len(moving) == 1 and not isinstance(part, Entry) else None
            boundary = zero(part) if stated is None else stated
            if possible(boundary, self.module):
                sure = self.sign(part, powers)
                yield _Meeting(node, border, part, boundary,
                               None if sure is None else (sign * turn * sure[0], sign * turn * sure[1]),
                               [p for p in moving if p is not part])

    def sign(self, part: Expr, powers: dict[Expr, Expr]) -> tuple[int, int] | None:
        """The signs of Π u^e where part < 0 and where part > 0; None where the other factors' signs are not known."""
        whole = 1
        for factor, exponent in powers.items():
            even = isinstance(exponent, Num) and exponent.value % 2 == 0
            if factor is part or even or (isinstance(factor, Fn) and factor.name == "exp"):
                continue
            above, below = (possible(compared(factor, op), self.module) for op in (">", "<"))
            if above and below:
                return None
            whole *= 1 if above else -1
        own = powers[part]
        return whole * (1 if isinstance(own, Num) and own.value % 2 == 0 else -1), whole

    def told(self, of: Expr, whole: Expr, group: list[_Meeting]) -> _Told | None:
        """On a boundary: whether the value jumps, else for each letter in it the slopes beside it and the one taken.

        None where that cannot be told; of a letter whose slopes agree and are taken nothing is said.
        """
        first = group[0]
        crowd = len(group) > 1 and any(m.sign is None for m in group)
        if crowd or any(not m.border.told or (isinstance(m.node, Extremum) and len(m.node.args) > 2) for m in group):
            return None
        part, boundary = first.part, first.boundary
        before, beyond = (_replaced(whole, {m.node: m.side(s) for m in group}) for s in (False, True))
        step = self.is_zero(self.at(sub(before, beyond), part)) if any(_steps(m.node) for m in group) else True
        if step is not True:
            return _Told(True, ()) if step is False and solve(part) is not None else None
        found = []
        for wrt in self.letters(part):
            slopes = self.at(self.slope(before, wrt), part), self.at(self.slope(beyond, wrt), part)
            same = self.is_zero(sub(*slopes))
            if same is None:
                return None
            taken = _replaced(whole, {m.node: self.taken(m, wrt) for m in group})
            chosen = self.at(self.slope(taken, wrt), part)
            if same and self.is_zero(sub(chosen, slopes[0])) is False:
                found.append(Jump(boundary, wrt, (slopes[0], slopes[0]), chosen, of, False))
            elif not same:
                equal = self.equal(part, sub(*slopes))
                found.append(Jump(boundary, wrt, slopes, chosen, of, between(chosen, *slopes), equal))
        return _Told(False, tuple(found))

    def equal(self, part: Expr, difference: Expr) -> tuple[Rel, ...]:
        """Where slopes that differ agree on the boundary after all: at each factor of the difference that may be 0."""
        found = []
        for factor, power in monomial(self.simple(difference)).powers.items():
            solved = solve(factor)
            if solved is None or (isinstance(power, Num) and power.value < 0):
                continue
            rest = self.simple(subst(part, {solved[0]: solved[1]}))
            if (not isinstance(rest, Num) or rest is ZERO) and possible(zero(factor), self.module):
                found.append(zero(factor))
        return tuple(found)

    def taken(self, m: _Meeting, wrt: Entry) -> Expr:
        """What has the slope there that the rules give."""
        if m.border.chosen is not None:
            return m.border.chosen
        assert isinstance(m.node, Extremum)
        return taken(m.node, wrt, self.module)

    def one_side(self, group: list[_Meeting]) -> dict[Expr, Expr]:
        """For each pair its term on one side: that of the cases which say what holds there, else of the first pair."""
        pairs = [m for m in group if isinstance(m.node, Extremum)]
        fixed = [m for m in group if isinstance(m.node, (Cases, Bracket))]
        wrt = next(self.letters(group[0].part))
        beyond = next((self.taken(m, wrt) is m.side(True) for m in (*fixed, *pairs)), False)
        return {m.node: m.side(beyond) for m in pairs}

    def meant(self, node: Expr, own: list[_Meeting]) -> tuple[Given, ...]:
        """What the node's comparison comes to, of the first border that has such a meaning."""
        for m in own:
            if m.border.told and (found := self.meaning(node, m.border.gap, m.part, m.others)):
                return found
        return ()

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


def _replaced(value: Expr, branches: dict[Expr, Expr]) -> Expr:
    """The value with nodes as one of their branches, in which others of them may stand."""
    for _ in branches:
        value = subst(value, cast(dict[Node, Node], branches))
    return value


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

