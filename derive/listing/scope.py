"""What the letters of a layer are called in code, where its indices run, and how large its axes are."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from functools import cached_property
from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.axes import Axes, axes, stands
from derive.calculus.messages import Messages
from derive.errors import UnsupportedError
from derive.module import Module
from derive.notation.symbols import Symbol
from derive.records import dataclass

_SPARE = "ijkpqruvabcd"
_LOCAL = "at best cells chosen columns count gradient inside layers places region rows slopes upstream window windows"
_TAKEN = {*keyword.kwlist, *dir(builtins), *_LOCAL.split(), "np", "sliding_window_view"}


@dataclass(frozen=True)
class Loop:
    """v = 0, …, count − 1 for each variable; ``cond`` and ``body`` in terms of these."""

    variables: tuple[ex.Idx, ...]
    counts: tuple[ex.Expr, ...]
    cond: ex.Cond | None
    body: ex.Expr


@dataclass(frozen=True)
class Definition:
    """name[indices] = value for indices that count from 0; a value of kind Arg is where its body is largest."""

    name: str
    indices: tuple[ex.Idx, ...]
    counts: tuple[ex.Expr, ...]
    value: ex.Expr


@dataclass(frozen=True)
class Scope:
    """The letters of a layer's equations and messages."""

    messages: Messages

    @property
    def module(self) -> Module:
        return self.messages.module

    @cached_property
    def axes(self) -> Axes:
        return axes(self.module)

    def name(self, tensor: str) -> str:
        """x as itself, δ_x as dx, δ of the output as ``upstream``, r^* as r_star."""
        if tensor == f"delta_{self.module.output}":
            return "upstream"
        if tensor.startswith("delta_"):
            short, table = tensor.removeprefix("delta_"), self.module.table
            return self.name("d" + short) if table.named("d" + short) is None else self.name("d_" + short)
        plain = re.sub(r"\W", "_", tensor.replace("*", "_star"))
        return plain + "_" if plain in _TAKEN else plain

    def origin(self, tensor: str, axis: int) -> int:
        return self.axes.origin(tensor, axis)

    def extent(self, tensor: str, axis: int) -> ex.Expr:
        """The size of an axis; raises :class:`UnsupportedError` where it has no name."""
        symbol = self.module.table.named(tensor) or self.module.table.named(tensor.removeprefix("delta_"))
        size = symbol.sizes[axis] if symbol is not None and axis < len(symbol.sizes) else ""
        if size == "":
            raise UnsupportedError(f"the size of axis {axis + 1} of `{tensor}` has no name")
        return ex.Num(size) if isinstance(size, int) else ex.Size(size)

    def definition(self, entry: ex.Entry, value: ex.Expr) -> Definition:
        """An entry's equation with indices that count from 0."""
        indices = tuple(ex.Idx(_plain(i.name)) for i in entry.indices if isinstance(i, ex.Idx))
        if len(set(indices)) < len(entry.indices):
            raise UnsupportedError(f"the indices of `{entry.tensor}` are no letters that differ")
        shifted: dict[ex.Node, ex.Node] = {
            old: ex.add(new, ex.Num(self.origin(entry.tensor, d)))
            for d, (old, new) in enumerate(zip(entry.indices, indices, strict=True))}
        counts = tuple(self.extent(entry.tensor, d) for d in range(len(indices)))
        return Definition(self.name(entry.tensor), indices, counts, ex.subst(self._stars(value), shifted))

    def star(self, name: str) -> Definition:
        """r^*(k) = argmax of its body, counted from 0."""
        arg, _ = self.messages.star_definitions[name]
        if len(arg.binder.variables) != 1:
            raise UnsupportedError("a maximum over several indices at once is written as code for windows only")
        at = self.module.parameters_of(arg)
        slots = [next(iter(stands(i, arg.body)), None) for i in at]
        indices = tuple(ex.Idx(_plain(i.name)) for i in at)
        known = [slot for slot in slots if slot is not None]
        if len(known) < len(slots):
            raise UnsupportedError("the maximisers of windows are written as code for one layer of windows only")
        shifted: dict[ex.Node, ex.Node] = {old: ex.add(new, ex.Num(self.origin(*slot)))
                                     for old, new, slot in zip(at, indices, known, strict=True)}
        return Definition(star_name(name), indices, tuple(self.extent(*s) for s in known), ex.subst(arg, shifted))

    def star_place(self, star: ex.Star) -> list[ex.Expr]:
        """Where r^*(k) stands in its array."""
        arg, _ = self.messages.star_definitions[star.name]
        slots = [stands(i, arg.body)[0] for i in self.module.parameters_of(arg)]
        return [Affine.of(ex.sub(t, ex.Num(self.origin(*slot)))).expr() for t, slot in zip(star.at, slots, strict=True)]

    def _stars(self, value: ex.Expr) -> ex.Expr:
        """Each r^*(k), which code counts from 0, with the first value of r added."""
        def counted(node: ex.Node) -> ex.Node | None:
            if not isinstance(node, ex.Star):
                return None
            return ex.add(node, ex.Num(self._star_start(node.name)))

        return ex.transform(value, counted)

    def _star_start(self, name: str) -> int:
        arg, _ = self.messages.star_definitions[name]
        low = arg.binder.lower[0]
        if isinstance(low, ex.Num):
            return int(low.value)
        (variable, *_), body = arg.binder.variables, arg.body
        return next((self.origin(*slot) for slot in stands(variable, body)), 0)

    def opened(self, node: ex.Reduce | ex.Arg, taken: Iterable[ex.Idx]) -> Loop:
        """A binder's variables under readable names, each counted from 0."""
        names = self._letters(node, {v.name for v in (*taken, *ex.free_indices(node))})
        binder, body = ex.open_as(node, names)
        shifted: dict[ex.Node, ex.Node] = {}
        counts: list[ex.Expr] = []
        inside = ex.Tuple((body,
                           *(n for n in (ex.walk(binder.cond) if binder.cond else ()) if isinstance(n, ex.Entry))))
        for v, low, high in zip(names, binder.lower, binder.upper, strict=True):
            slots = stands(v, inside)
            if low is not None and high is not None:
                start: ex.Expr = low
                counts.append(Affine.of(ex.add(ex.sub(high, low), ex.ONE)).expr())
            elif slots:
                start = ex.Num(self.origin(*slots[0]))
                counts.append(self.extent(*slots[0]))
            else:
                raise UnsupportedError("a sum whose index stands alone in no tensor is not written as code yet")
            if start != ex.ZERO:
                shifted[v] = ex.add(v, start)
        cond = None if binder.cond is None else ex.subst(binder.cond, shifted)
        return Loop(names, tuple(counts), cond, ex.subst(body, shifted))

    def _letters(self, node: ex.Reduce | ex.Arg, taken: set[str]) -> tuple[ex.Idx, ...]:
        """The letters of the axes that the variables run along; others where those are taken."""
        found: list[ex.Idx] = []
        for variable in node.binder.variables:
            slots = stands(variable, node.body)
            symbols = [(self.module.table.named(t), d) for t, d in slots]
            wanted = [_plain(s.axes[d]) for s, d in symbols if s is not None and d < len(s.axes)]
            free = [n for n in (*wanted, *_SPARE) if n not in taken and not self._is_tensor(n)]
            found.append(ex.Idx(free[0]))
            taken = {*taken, free[0]}
        return tuple(found)

    def _is_tensor(self, name: str) -> bool:
        symbol = self.module.table.named(name)
        return symbol is not None and (bool(symbol.sizes) or str(symbol.kind) != "index")

    def place(self, entry: ex.Entry) -> list[ex.Expr]:
        """Where an entry stands in its array: each index less the first of its axis."""
        return [Affine.of(ex.sub(t, ex.Num(self.origin(entry.tensor, d)))).expr() for d, t in enumerate(entry.indices)]


def symbol(module: Module, tensor: str) -> Symbol:
    """What the table says of a tensor of the layer."""
    found = module.table.named(tensor)
    assert found is not None
    return found


def star_name(name: str) -> str:
    return _plain(name) + "_star"


def _plain(letter: str) -> str:
    """i' as i_."""
    return re.sub(r"\W", "_", letter)


Taps = dict[ex.Idx, tuple[ex.Idx, int, ex.Expr]]  # i -> a, s and how many a there are


def taps(definition: Definition, scope: Scope) -> tuple[Taps, Definition] | None:
    """The a that take the place of each i − s k, and what is added for them at (…, k, …)."""
    node = definition.value
    if not isinstance(node, ex.Reduce) or node.op != "sum" or node.binder.cond is None:
        return None
    loop = scope.opened(node, definition.indices)
    assert loop.cond is not None
    counts = dict(zip(loop.variables, loop.counts, strict=True))
    steps: Taps = {}
    along: dict[ex.Idx, ex.Idx] = {}
    shifted: dict[ex.Node, ex.Node] = {}
    for cond in ex.conditions(loop.cond):
        bounds = between(cond)
        if bounds is None:
            return None
        term, below = bounds
        own = [v for v in definition.indices if term.coefficients.get(v) == 1]
        others = [v for v in term.coefficients if v not in own]
        if len(own) != 1 or len(others) != 1 or term.constant or others[0] not in counts:
            return None
        (i,), (k,) = own, cast("list[ex.Idx]", others)
        step = -term.coefficients[k]
        if step < 1 or step.denominator != 1 or i in steps or k in along.values():
            return None
        taken = {*loop.variables, *definition.indices, *(t for t, _, _ in steps.values())}
        tap = _tap(term, loop.body, {v.name for v in taken}, scope)
        steps[i], along[i] = (tap, int(step), below), k
        shifted[i] = ex.add(ex.mul(ex.Num(step), k), tap)
    rest = tuple(v for v in loop.variables if v not in along.values())
    body = ex.subst(loop.body, shifted)
    if any(v not in steps and v in ex.free_indices(loop.cond) for v in definition.indices):
        return None
    if rest:
        ends = tuple(ex.sub(counts[v], ex.ONE) for v in rest)
        body = ex.Reduce("sum", ex.Binder(rest, (ex.ZERO,) * len(rest), ends, None), body)
    indices = tuple(along.get(v, v) for v in definition.indices)
    known = dict(zip(definition.indices, definition.counts, strict=True)) | counts
    return steps, Definition(definition.name, indices, tuple(known[v] for v in indices), body)


def between(cond: ex.Cond) -> tuple[Affine, ex.Expr] | None:
    """(t, A) of 0 ≤ t < A."""
    if not isinstance(cond, ex.Rel) or cond.ops != ("≤", "<") or cond.terms[0] != ex.ZERO:
        return None
    return Affine.of(cond.terms[1]), cond.terms[2]


def _tap(term: Affine, body: ex.Expr, taken: set[str], scope: Scope) -> ex.Idx:
    """The letter of the axis along which i − s k stands; another where that is taken."""
    for entry in ex.walk(body):
        if isinstance(entry, ex.Entry):
            symbol = scope.module.table.named(entry.tensor)
            for d, place in enumerate(scope.place(entry)):
                letter = symbol.axes[d] if symbol is not None else ""
                if Affine.of(place) == term and letter.isidentifier() and letter not in taken:
                    return ex.Idx(letter)
    return ex.Idx(next(n for n in "abcdpquv" if n not in taken and scope.module.table.named(n) is None))
