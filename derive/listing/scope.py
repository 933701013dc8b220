"""What the letters of a layer are called in code, where its indices run, and how large its axes are."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.axes import Axes, Slot, axes, stands
from derive.calculus.messages import Messages
from derive.errors import UnsupportedError
from derive.module import Module
from derive.receptive_field import Axis, ReceptiveField, window_facts
from derive.records import dataclass

_SPARE = "ijkpqruvabcd"
_LOCAL = "at best cells chosen columns count gradient inside layers places region rows slopes upstream window windows"
_TAKEN = {*keyword.kwlist, *dir(builtins), *_LOCAL.split(), "np", "sliding_window_view"}


@dataclass(frozen=True)
class Cells:
    """The cells of window ``at`` along an axis of ``extent`` cells."""

    axis: Axis
    at: ex.Expr
    extent: ex.Expr


@dataclass(frozen=True)
class Loop:
    """v = 0, …, count − 1 for each variable, or the cells of a window; ``cond`` and ``body`` in terms of these."""

    variables: tuple[ex.Idx, ...]
    counts: tuple[ex.Expr, ...]
    cond: ex.Cond | None
    body: ex.Expr
    cells: dict[ex.Idx, Cells] = field(default_factory=dict)

    @property
    def padded(self) -> bool:
        """A window may have cells outside the input."""
        return any(c.axis.padded for c in self.cells.values())

    @property
    def missed(self) -> bool:
        """A window may lie wholly in padding."""
        field = ReceptiveField(tuple(c.axis for c in self.cells.values()))
        return self.padded and window_facts(field, None).missed


@dataclass(frozen=True)
class Definition:
    """name[indices] = value for indices that count from 0, or ``added`` to what the name holds.

    A value of kind Arg is where its body is largest; the name lists its components.
    """

    name: str
    indices: tuple[ex.Idx, ...]
    counts: tuple[ex.Expr, ...]
    value: ex.Expr
    added: bool = False


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
        """(i^*, j^*)(k) = argmax of its body, counted from 0: an array for each component."""
        arg, _ = self.messages.star_definitions[name]
        slots = self._star_axes(arg)
        at = [ex.Idx(_plain(i.name)) for i in slots]
        shifted: dict[ex.Node, ex.Node] = {old: ex.add(new, ex.Num(self.origin(*slot)))
                                           for new, (old, slot) in zip(at, slots.items(), strict=True)}
        names = sorted((n for n, s in self.messages.star_definitions.items() if s[0] == arg),
                       key=lambda n: self.messages.star_definitions[n][1])
        return Definition(", ".join(map(star_name, names)), tuple(at), tuple(self.extent(*s) for s in slots.values()),
                          ex.subst(arg, shifted))

    def _star_axes(self, arg: ex.Arg) -> dict[ex.Idx, Slot]:
        """The indices of a maximiser, and the axis of a tensor along which each runs."""
        part, found = ex.Reduce(arg.op, arg.binder, arg.body), dict[ex.Idx, Slot]()
        heads = [e.terms[0] for e in self.module.equations if part in ex.walk(e.terms[1])]
        for i in self.module.parameters_of(arg):
            slot = next(iter(stands(i, arg.body, *heads)), None)
            if slot is None:
                raise UnsupportedError("a maximiser whose index stands alone in no tensor is not written as code yet")
            found[i] = slot
        return found

    def star_place(self, star: ex.Star) -> list[ex.Expr]:
        """Where r^*(k) stands in its array."""
        slots = self._star_axes(self.messages.star_definitions[star.name][0]).values()
        return [Affine.of(ex.sub(t, ex.Num(self.origin(*slot)))).expr() for t, slot in zip(star.at, slots, strict=True)]

    def _stars(self, value: ex.Expr) -> ex.Expr:
        """Each r^*(k), which code counts from 0, with the first value of r added."""
        def counted(node: ex.Node) -> ex.Node | None:
            if not isinstance(node, ex.Star):
                return None
            return ex.add(node, ex.Num(self._star_start(node.name)))

        return ex.transform(value, counted)

    def _star_start(self, name: str) -> int:
        arg, component = self.messages.star_definitions[name]
        low = arg.binder.lower[component]
        if isinstance(low, ex.Num):
            return int(low.value)
        return next((self.origin(*slot) for slot in stands(arg.binder.variables[component], arg.body)), 0)

    def opened(self, node: ex.Reduce | ex.Arg, taken: Iterable[ex.Idx]) -> Loop:
        """A binder's variables under readable names, each counted from 0."""
        names = self._letters(node, {v.name for v in (*taken, *ex.free_indices(node))})
        binder, body = ex.open_as(node, names)
        shifted: dict[ex.Node, ex.Node] = {}
        counts: list[ex.Expr] = []
        inside = ex.Tuple((body,
                           *(n for n in (ex.walk(binder.cond) if binder.cond else ()) if isinstance(n, ex.Entry))))
        conds = ex.conditions(binder.cond)
        cells = {v: c for cond in conds if isinstance(cond, ex.In) for v, c in self.cells(cond).items()}
        if not {*cells} <= {*names}:  # windows that hold a cell
            cells = {}
        for v, low, high in zip(names, binder.lower, binder.upper, strict=True):
            slots = stands(v, inside)
            if v in cells:
                counts.append(cells[v].extent)
                continue
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
        left = [ex.subst(c, shifted) for c in conds if not (cells and isinstance(c, ex.In))]
        return Loop(names, tuple(counts), ex.joined(left) if left else None, ex.subst(body, shifted), cells)

    def cells(self, cond: ex.In) -> dict[ex.Idx, Cells]:
        """The cells of Ω(k, l) along which i and j run under (i, j) ∈ Ω(k, l)."""
        if not isinstance(cond.set, ex.SetApp):
            raise UnsupportedError("membership in a set that is no window is not written as code yet")
        axes, slots = self.module.field(cond.set.name).axes, self.windowed(cond.set.name)
        return {cast(ex.Idx, v): Cells(axis, at, self.extent(*slot)) for v, axis, at, slot in
                zip(ex.items(cond.element), axes, cond.set.args, slots, strict=True)}

    def windowed(self, name: str) -> list[Slot]:
        """The axes of a tensor along which windows Ω lie."""
        for node in (n for e in self.module.equations for n in ex.walk(e) if isinstance(n, ex.Reduce)):
            cond = node.binder.cond
            if isinstance(cond, ex.In) and isinstance(cond.set, ex.SetApp) and cond.set.name == name:
                found = [next(iter(stands(v, node.body)), None) for v in cast("list[ex.Idx]", ex.items(cond.element))]
                known = [slot for slot in found if slot is not None]
                if len(known) == len(found) and not any(self.origin(*slot) for slot in known):
                    return known
        raise UnsupportedError("windows along no axis of a tensor that counts from 0 are not written as code yet")

    def tap(self, term: Affine, body: ex.Expr, taken: set[str]) -> ex.Idx:
        """The letter of the axis along which i − s k stands; another where that is taken."""
        for entry in (n for n in ex.walk(body) if isinstance(n, ex.Entry)):
            symbol = self.module.table.named(entry.tensor)
            for d, place in enumerate(self.place(entry)):
                letter = symbol.axes[d] if symbol is not None else ""
                if Affine.of(place) == term and letter.isidentifier() and letter not in taken:
                    return ex.Idx(letter)
        return self.spare(taken)

    def spare(self, taken: set[str]) -> ex.Idx:
        return ex.Idx(next(n for n in "abcdpquv" if n not in taken and self.module.table.named(n) is None))

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


def star_name(name: str) -> str:
    return _plain(name) + "_star"


def _plain(letter: str) -> str:
    """i' as i_."""
    return re.sub(r"\W", "_", letter)
