"""Where a forward formula is not differentiable: the boundaries between its branches, and the slopes that meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, cast

import derive.expr as ex
from derive.affine import Range
from derive.axes import with_axes
from derive.calculus.algebra import monomial
from derive.calculus.boundaries import Border, borders, compared, crossed, solve, unclipped, zero
from derive.calculus.brackets import possible
from derive.calculus.derivation import differentiate
from derive.calculus.extremum import letters
from derive.calculus.form import simplified
from derive.calculus.points import between, unbounded, vanishes
from derive.calculus.ranges import entry_ranges
from derive.calculus.rules import taken
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

    boundary: ex.Rel
    wrt: ex.Entry
    slopes: tuple[ex.Expr, ex.Expr]
    chosen: ex.Expr
    of: ex.Expr
    between: bool | None = True
    equal: tuple[ex.Rel, ...] = ()


@dataclass(frozen=True)
class Kink:
    """The boundaries of a node in the definition of ``of``; what is said of them holds for all of the definition.

    On those in ``broken`` its value jumps, on those in ``smooth`` its value and slopes agree, in ``missed`` they agree
    on a slope that the formulas do not give; of those in ``untold`` nothing is known.  ``meaning`` says what the
    node's comparison comes to, by the sign of a parameter.
    """

    of: ex.Entry
    node: ex.Expr
    boundaries: tuple[ex.Rel, ...]
    jumps: tuple[Jump, ...] = ()
    broken: tuple[ex.Rel, ...] = ()
    smooth: tuple[ex.Rel, ...] = ()
    missed: tuple[Jump, ...] = ()
    untold: tuple[ex.Rel, ...] = ()
    meaning: tuple[ex.Given, ...] = ()
    term: ex.Expr | None = None  # of a sum in the definition, in which the node stands

    @property
    def places(self) -> Iterator[tuple[str, ex.Rel, ex.Expr]]:
        """What is so on each boundary: of which kind it is, where, of what."""
        for kind, jumps in (("jump", self.jumps), ("missed", self.missed)):
            yield from ((kind, j.boundary, j.of) for j in jumps)
        for kind, places in (("broken", self.broken), ("smooth", self.smooth), ("untold", self.untold)):
            yield from ((kind, place, self.of) for place in places)


@lru_cache(maxsize=256)
def kinks(tensor: str, module: Module) -> tuple[Kink, ...]:
    """The kinks in the definition of a tensor: of max(u, v) and min, of cases, of |u|, of brackets."""
    entry, value = module.definition(tensor)
    here = _Here(entry, module.holding(module.defined))
    found = [here.unit(*unit) for unit in _units(entry, value, here.module)]
    return tuple(chain.from_iterable(found))


def settled(module: Module) -> Module:
    """The module with the terms that its maxima take at a tie which several of them share.

    By itself max(0, u) has the slope 0 there.  That of max(0, x) − max(0, −x) would be 0 at 0, where it is 1: all
    take the term of one side, whose slope is a generalised derivative, and the derivative where there is one.
    """
    found: dict[ex.Expr, ex.Expr] = {}
    whole_axes = with_axes(module)
    for tensor in module.defined:
        entry, value = whole_axes.definition(tensor)
        here = _Here(entry, whole_axes.holding(module.defined))
        for of, whole, nodes, under in _units(entry, value, here.module):
            here.under = under
            for group in here.groups(nodes).values() if len(nodes) > 1 else ():
                told = here.told(of, whole, group) if len(group) > 1 else None
                if told is not None and any(not j.between for j in told.jumps):
                    found |= here.one_side(group)
    return replace(module, at_ties=tuple(found.items())) if found else module


def _units(of: ex.Expr, value: ex.Expr, module: Module, under: frozenset[ex.Cond] = frozenset(),
           ) -> Iterator[tuple[ex.Expr, ex.Expr, list[ex.Expr], set[ex.Cond]]]:
    """The value and the terms of the sums in it, with the nodes with branches in each; ``of`` names it.

    ``under``: the conditions of the sums that it stands in.
    """
    nodes: list[ex.Expr] = []
    inside: list[ex.Reduce] = []
    _gather(value, module, nodes, inside)
    yield of, value, nodes, {*under}
    for node in inside:
        binder, body = ex.open_as(node, letters(node, module, ex.free_indices(node)))
        yield from _units(body, body, module, under | {*ex.conditions(binder.cond)})


def _gather(value: ex.Expr, module: Module, nodes: list[ex.Expr], inside: list[ex.Reduce]) -> None:
    """The nodes with branches, from outside in; not those that only one branch of cases holds.

    Of |u|^p and max(0, u)^p with p > 1 only what is inside: their slopes, p |u|^{p−1} sign(u), have no jump.
    """
    if isinstance(value, ex.Reduce):
        inside.append(value)
        return
    parts = value.children()
    if isinstance(value, ex.Pow) and _above_one(value.exponent, module) and (
            _is_abs(value.base) or (isinstance(value.base, ex.Extremum) and ex.ZERO in value.base.args
                                    and len(value.base.args) == 2)):
        parts = value.base.children()
    elif isinstance(value, (ex.Extremum, ex.Cases)) or _is_bent(value) or (
            isinstance(value, ex.Bracket) and _compares(value)):
        nodes.append(value)
    if not isinstance(value, (ex.Cases, ex.Bracket)):
        for part in parts:
            if isinstance(part, ex.Expr):
                _gather(part, module, nodes, inside)


def _is_bent(node: ex.Expr) -> bool:
    """A function with a kink or a jump."""
    function = known(node.name) if isinstance(node, ex.Fn) else None
    return function is not None and bool(function.corners)


def _compares(node: ex.Bracket) -> bool:
    """[u > v] of numbers, not of indices alone."""
    return any(isinstance(n, ex.Entry) for n in ex.walk(node))


def _steps(node: ex.Expr) -> bool:
    """Its value may jump."""
    if isinstance(node, ex.Fn):
        function = known(node.name)
        return function is not None and not all(vanishes(ex.sub(*c.sides(c.at))) for c in function.corners)
    return not isinstance(node, ex.Extremum)


def _is_abs(node: ex.Expr) -> bool:
    return isinstance(node, ex.Fn) and node.name == "abs"


def _above_one(exponent: ex.Expr, module: Module) -> bool:
    """A number above 1, or a letter of which the question says so."""
    if isinstance(exponent, ex.Num):
        return exponent.value > 1
    return isinstance(exponent, ex.Entry) and not possible(ex.rel(exponent, "≤", ex.ONE), module)


def norm(tensor: str, module: Module) -> ex.Rel | None:
    """f = 0 for f = (Σ |u|^p)^{1/p}: the tip of a norm, where all that is summed is 0; None for other definitions."""
    entry, value = module.definition(tensor)
    if not isinstance(value, ex.Pow):
        return None
    degree = _degree(value.base)
    if degree is None or not _above_one(degree, module):
        return None
    root = ex.Num(1 / degree.value) if isinstance(degree, ex.Num) else ex.Pow(degree, ex.Num(-1))
    return zero(entry) if value.exponent is root else None


def _degree(node: ex.Expr) -> ex.Expr | None:
    """p where the node is a sum of |u|^p, times a number above 0, and so is 0 only where every u is."""
    match node:
        case ex.Pow(base, exponent) if _is_abs(base):
            return exponent
        case ex.Pow(ex.Entry() | ex.Add(), ex.Num(p) as exponent) if p > 0 and p % 2 == 0:
            return exponent
        case ex.Reduce("sum", _, body):
            return _degree(body)
        case ex.Mul(factors):
            found = [d for f in factors if (d := _degree(f)) is not None]
            others = [f for f in factors if _degree(f) is None]
            positive = all(not any(isinstance(n, ex.Entry) for n in ex.walk(f)) and not is_negative(f) for f in others)
            return found[0] if len(found) == 1 and positive else None
        case ex.Add(terms):
            degrees = {_degree(t) for t in terms}
            return degrees.pop() if len(degrees) == 1 else None
    return None


class _Meeting(NamedTuple):
    """A node two of whose branches meet where part = 0; ``sign`` is that of the gap beside it, before and beyond.

    ``others`` are the further factors of the gap that may be 0.
    """

    node: ex.Expr
    border: Border
    part: ex.Expr
    boundary: ex.Rel
    sign: tuple[int, int] | None
    others: list[ex.Expr]

    def side(self, beyond: bool) -> ex.Expr:
        """The branch where part < 0, or > 0."""
        above = beyond if self.sign is None else self.sign[beyond] > 0
        return self.border.above if above else self.border.below


class _Told(NamedTuple):
    """What holds on one boundary: a jump of the value, or the letters by which the slopes were compared."""

    broken: bool
    jumps: tuple[Jump, ...]


class _Here:
    """The definition that is looked at; its other tensors are held."""

    def __init__(self, entry: ex.Entry, module: Module) -> None:
        self.entry, self.module = entry, module
        self.under: set[ex.Cond] = set()  # what holds of the indices of a term
        self.ranges: dict[ex.Idx, Range] = entry_ranges(entry, module)
        self.listed = {f.element.tensor for f in module.facts  # t ∈ {−1, 1} has no neighbours
                       if isinstance(f, ex.In) and isinstance(f.element, ex.Entry) and isinstance(f.set, ex.Listed)}

    def unit(self, of: ex.Expr, whole: ex.Expr, nodes: list[ex.Expr], under: set[ex.Cond]) -> list[Kink]:
        """A kink for each node that has a border which a letter of the layer can cross."""
        self.under = under
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
            bent, many = {j.boundary for j in jumps}, isinstance(node, ex.Extremum) and len(node.args) > 2
            untold = [place for t, place in zip(first, places, strict=True) if t is None and not many]
            found.append(Kink(
                self.entry, node, tuple(dict.fromkeys(m.boundary for _, m in own)),
                tuple(j for j in jumps if j.slopes[0] is not j.slopes[1]),
                tuple(place for t, place in sure if t.broken),
                tuple(place for t, place in sure if not t.broken and place not in bent),
                tuple(j for j in jumps if j.slopes[0] is j.slopes[1]), tuple(dict.fromkeys(untold)),
                self.meant(node, [m for _, m in own]), None if of is self.entry else of))
        return found

    def groups(self, nodes: list[ex.Expr]) -> dict[ex.Expr, list[_Meeting]]:
        """The borders of the nodes by what is 0 on them."""
        found: dict[ex.Expr, list[_Meeting]] = {}
        for node in nodes:
            for border in borders(node, self.simple):
                for meeting in self.meetings(node, border):
                    part = self.simple(meeting.part)
                    turned = self.simple(ex.mul(ex.MINUS_ONE, part))
                    if turned in found and meeting.sign is not None:
                        meeting = meeting._replace(sign=meeting.sign[::-1])
                    found.setdefault(turned if turned in found else part, []).append(meeting)
        return found

    def meetings(self, node: ex.Expr, border: Border) -> Iterator[_Meeting]:
        """Where a border can be crossed: at each factor of its gap that may be 0."""
        gap = self.simple(border.gap)
        inner, turn = unclipped(gap) or (None, 1)
        if inner is None:
            return
        sign, powers = crossed(inner, self.simple)
        parts = [a for a, e in powers.items() if isinstance(e, ex.Num) and e.value > 0]
        moving = sorted((p for p in parts if any(True for _ in self.letters(p))), key=lambda p: not ex.free_indices(p))
        for part in moving:
            stated = border.stated if inner is gap and len(moving) == 1 and not isinstance(part, ex.Entry) else None
            boundary = zero(part) if stated is None else stated
            if possible(boundary, self.module):
                sure = self.sign(part, powers)
                yield _Meeting(node, border, part, boundary,
                               None if sure is None else (sign * turn * sure[0], sign * turn * sure[1]),
                               [p for p in moving if p is not part])

    def sign(self, part: ex.Expr, powers: dict[ex.Expr, ex.Expr]) -> tuple[int, int] | None:
        """The signs of Π u^e where part < 0 and where part > 0; None where the other factors' signs are not known."""
        whole = 1
        for factor, exponent in powers.items():
            even = isinstance(exponent, ex.Num) and exponent.value % 2 == 0
            if factor is part or even or (isinstance(factor, ex.Fn) and factor.name == "exp"):
                continue
            above, below = (possible(compared(factor, op), self.module) for op in (">", "<"))
            if above and below:
                return None
            whole *= 1 if above else -1
        own = powers[part]
        return whole * (1 if isinstance(own, ex.Num) and own.value % 2 == 0 else -1), whole

    def told(self, of: ex.Expr, whole: ex.Expr, group: list[_Meeting]) -> _Told | None:
        """On a boundary: whether the value jumps, else for each letter in it the slopes beside it and the one taken.

        None where that cannot be told of any letter; of one whose slopes agree and are taken nothing is said.
        """
        first = group[0]
        crowd = len(group) > 1 and any(m.sign is None for m in group)
        if crowd or any(not m.border.told or (isinstance(m.node, ex.Extremum) and len(m.node.args) > 2) for m in group):
            return None
        part, boundary = first.part, first.boundary
        before, beyond = (_replaced(whole, {m.node: m.side(s) for m in group}) for s in (False, True))
        step = self.is_zero(self.at(ex.sub(before, beyond), part)) if any(_steps(m.node) for m in group) else True
        if step is not True:
            return _Told(True, ()) if step is False and solve(part) is not None else None
        found, sure = list[Jump](), True
        for wrt in self.letters(part):
            slopes = self.at(self.slope(before, wrt), part), self.at(self.slope(beyond, wrt), part)
            same = self.is_zero(ex.sub(*slopes))
            if same is None or any(map(unbounded, slopes)) or (same is False and any(map(_depends, slopes))):
                sure = False
                continue
            taken = _replaced(whole, {m.node: self.taken(m, wrt) for m in group})
            chosen = self.at(self.slope(taken, wrt), part)
            if same and self.is_zero(ex.sub(chosen, slopes[0])) is False:
                found.append(Jump(boundary, wrt, (slopes[0], slopes[0]), chosen, of, False))
            elif not same:
                equal = self.equal(part, ex.sub(*slopes))
                found.append(Jump(boundary, wrt, slopes, chosen, of, between(chosen, *slopes), equal))
        return _Told(False, tuple(found)) if sure or found else None

    def equal(self, part: ex.Expr, difference: ex.Expr) -> tuple[ex.Rel, ...]:
        """Where slopes that differ agree on the boundary after all: at each factor of the difference that may be 0."""
        found = []
        for factor, power in monomial(self.simple(difference)).powers.items():
            solved = solve(factor)
            if solved is None or (isinstance(power, ex.Num) and power.value < 0):
                continue
            rest = self.simple(ex.subst(part, {solved[0]: solved[1]}))
            if (not isinstance(rest, ex.Num) or rest is ex.ZERO) and possible(zero(factor), self.module):
                found.append(zero(factor))
        return tuple(found)

    def taken(self, m: _Meeting, wrt: ex.Entry) -> ex.Expr:
        """What has the slope there that the rules give."""
        if m.border.chosen is not None:
            return m.border.chosen
        assert isinstance(m.node, ex.Extremum)
        return taken(m.node, wrt, self.module)

    def one_side(self, group: list[_Meeting]) -> dict[ex.Expr, ex.Expr]:
        """For each pair its term on one side: that of the cases which say what holds there, else of the first pair."""
        pairs = [m for m in group if isinstance(m.node, ex.Extremum)]
        fixed = [m for m in group if isinstance(m.node, (ex.Cases, ex.Bracket))]
        wrt = next(self.letters(group[0].part))
        beyond = next((self.taken(m, wrt) is m.side(True) for m in (*fixed, *pairs)), False)
        return {m.node: m.side(beyond) for m in pairs}

    def meant(self, node: ex.Expr, own: list[_Meeting]) -> tuple[ex.Given, ...]:
        """What the node's comparison comes to, of the first border that has such a meaning."""
        for m in own:
            if m.border.told and (found := self.meaning(node, m.border.gap, m.part, m.others)):
                return found
        return ()

    def is_zero(self, value: ex.Expr) -> bool | None:
        """Identically 0: after simplifying, or at random points; None where that cannot be told."""
        return True if value is ex.ZERO or self.simple(value) is ex.ZERO else vanishes(value)

    def slope(self, side: ex.Expr, wrt: ex.Entry) -> ex.Expr:
        return self.simple(cast(ex.Expr, differentiate(side, wrt, self.module).after))

    def at(self, value: ex.Expr, part: ex.Expr) -> ex.Expr:
        """The value on the boundary, where the boundary can be solved for an entry, or says |u| = c."""
        solved = solve(part)
        if solved is not None:
            value = ex.subst(value, {solved[0]: solved[1]})
        elif (level := _level(part)) is not None:
            value = ex.subst(value, _on_level(*level))
        plain = ex.transform(self.simple(value), _sign, ex.Pow, ex.Mul)
        return self.simple(ex.transform(plain, self.decided, ex.Bracket))

    def decided(self, node: ex.Node) -> ex.Node | None:
        """[−c > 0] of which the facts say that it never holds, [k = y] where the sum leaves y out."""
        if not (isinstance(node, ex.Bracket) and isinstance(node.cond, ex.Rel) and len(node.cond.ops) == 1):
            return None
        (left, right), (op,) = node.cond.terms, node.cond.ops
        apart = op == "=" and any(ex.rel(a, "≠", b) in self.under for a, b in ((left, right), (right, left)))
        whole = monomial(ex.sub(left, right))
        match [*whole.powers.items()]:
            case [(atom, ex.ONE)]:
                node = ex.Bracket(ex.rel(atom, op if whole.number > 0 else ex.TURNED[op], ex.ZERO))
        return ex.ZERO if apart or not possible(cast(ex.Rel, node.cond), self.module) else None

    def simple(self, value: ex.Expr) -> ex.Expr:
        return simplified(value, self.ranges, self.module, fold=False)

    def letters(self, part: ex.Expr) -> Iterator[ex.Entry]:
        """The entries that stand in it, not labels, thresholds and whatever else is given or of a few values.

        Of those that are summed over one for all of them, where there are no others.
        """
        found = dict.fromkeys(n for n in ex.walk(part) if isinstance(n, ex.Entry)
                              and n.tensor not in self.module.constants and n.tensor not in self.listed)
        free = [n for n in found if not any(i.name.startswith("§") for i in ex.free_indices(n))]
        yield from free or dict.fromkeys(self.any_of(n) for n in found)

    def any_of(self, entry: ex.Entry) -> ex.Entry:
        """w_i for the w_i that is summed over, with the letters of its axes."""
        symbol = self.module.table.named(entry.tensor)
        own = list(entry.indices)
        for place, index in enumerate(entry.indices):
            if any(j.name.startswith("§") for j in ex.free_indices(index)):
                letter = symbol.axes[place] if symbol is not None else ""
                own[place] = ex.Idx(letter + "'" if ex.Idx(letter) in own else letter)
        found = ex.Entry(entry.tensor, tuple(own))
        self.ranges |= entry_ranges(found, self.module)
        return found

    def meaning(self, node: ex.Expr, gap: ex.Expr, part: ex.Expr, others: list[ex.Expr]) -> tuple[ex.Given, ...]:
        """u > v ⟺ f > 0 where g > 0, and f < 0 where g < 0, for u − v = f g."""
        if not isinstance(node, ex.Extremum) or len(node.args) != 2 or len(others) != 1:
            return ()
        if any(True for _ in ex.free_indices(others[0])) or not ex.free_indices(part):
            return ()
        whole = monomial(self.simple(gap))
        if any(e is not ex.ONE for e in whole.powers.values()):
            return ()
        wins = ">" if node.op == "max" else "<"
        u, v = node.args
        found = []
        for op in (">", "<"):
            positive = (op == ">") == (whole.number > 0)
            sign = wins if positive else ex.TURNED[wins]
            where = compared(others[0], op)
            if possible(where, self.module):
                found.append(ex.Given(ex.Iff(ex.rel(u, wins, v), ex.rel(part, sign, ex.ZERO)), where))
        return tuple(found)


def _replaced(value: ex.Expr, branches: dict[ex.Expr, ex.Expr]) -> ex.Expr:
    """The value with nodes as one of their branches, in which others of them may stand."""
    for _ in branches:
        value = ex.subst(value, cast(dict[ex.Node, ex.Node], branches))
    return value


def _depends(slope: ex.Expr) -> bool:
    """By cases of a letter: two such may agree wherever the letter may lie."""
    return any(isinstance(n, ex.Bracket) and _compares(n) for n in ex.walk(slope))


def _level(part: ex.Expr) -> tuple[ex.Expr, ex.Num] | None:
    """(u, c) where part = 0 says |u| = c, a number above 0."""
    match part:
        case ex.Add((ex.Num(number), other) | (other, ex.Num(number))):
            m = monomial(other)
            match [*m.powers.items()]:
                case [(ex.Fn("abs", (inner,)), ex.ONE)] if m.number * number < 0:
                    return inner, ex.Num(-number / m.number)
    return None


def _on_level(inner: ex.Expr, level: ex.Num) -> dict[ex.Node, ex.Node]:
    """What |u| and its relatives are where |u| = c."""
    return {ex.Fn("abs", (inner,)): level, ex.Fn("sign", (inner,)): ex.mul(ex.Num(1 / level.value), inner),
            ex.Pow(inner, ex.Num(2)): ex.Num(level.value ** 2)}


def _sign(node: ex.Node) -> ex.Node | None:
    """|u| sign(u) = u, |u|² = u²."""
    if isinstance(node, ex.Pow) and isinstance(node.base, ex.Fn) and (
            node.base.name == "abs" and node.exponent == ex.Num(2)):
        return ex.Pow(node.base.args[0], node.exponent)
    if not isinstance(node, ex.Mul):
        return None
    for factor in node.factors:
        if isinstance(factor, ex.Fn) and factor.name == "abs" and (sign := ex.Fn("sign", factor.args)) in node.factors:
            return ex.mul(*(factor.args[0] if f is factor else f for f in node.factors if f is not sign))
    return None

