"""The extent and the first coordinate of every tensor axis, from declarations and formulas, and letters for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import derive.expr as ex
from derive.affine import Affine
from derive.errors import CardError, LimitError
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable, message
from derive.records import dataclass, replace

Slot = tuple[str, int]  # (tensor, axis)
Limits = tuple[ex.Expr | None, ex.Expr | None]
_INDICES = "ijklpqruv"  # for entries and sums that the card has no letter for
_LETTERS = "nmNMdKHPQRSTUVABCDEFGJL"


@dataclass(frozen=True)
class Axes:
    """Which axes run alike; what each has for extent, and where its coordinates start."""

    classes: dict[Slot, Slot]
    sizes: dict[Slot, ex.Expr]
    origins: dict[Slot, int]
    ranges: dict[Slot, Any] = field(default_factory=dict, compare=False)  # those of the calculus, once they are asked

    def of(self, tensor: str, axis: int) -> Slot:
        """The class of an axis; a message has the axes of what it is the message of."""
        slot = (tensor, axis)
        if slot not in self.classes:
            slot = (tensor.removeprefix("delta_"), axis)
        return self.classes.get(slot, slot)

    def size(self, tensor: str, axis: int) -> ex.Expr | None:
        return self.sizes.get(self.of(tensor, axis))

    def origin(self, tensor: str, axis: int) -> int:
        return self.origins.get(self.of(tensor, axis), 0)


@lru_cache(maxsize=8192)
def stands(variable: ex.Idx, *nodes: ex.Node) -> tuple[Slot, ...]:
    """The tensor axes along which an index variable stands by itself."""
    return tuple(dict.fromkeys((e.tensor, d) for node in nodes for e in ex.walk(node) if isinstance(e, ex.Entry)
                               for d, t in enumerate(e.indices) if t is variable))


@lru_cache(maxsize=8192)
def counts(variable: ex.Idx, *nodes: ex.Node) -> tuple[Slot, ...]:
    """The window sets of which an index variable is an argument by itself, and which."""
    return tuple(dict.fromkeys((s.name, d) for node in nodes for s in ex.walk(node) if isinstance(s, ex.SetApp)
                               for d, t in enumerate(s.args) if t is variable))


def reaches_on(variable: ex.Idx, value: ex.Node) -> bool:
    """Whether x_{k+1} stands in the value, unguarded: k then ends before an axis does along which it stands."""
    if isinstance(value, ex.Entry):
        return any(reaches_on(variable, t) if isinstance(t, ex.Entry) else  # t of E_{w_t d}
                   t is not variable and variable in ex.free_indices(t)
                   and not any(isinstance(n, ex.Fn) for n in ex.walk(t))
                   for t in value.indices)
    guarded = isinstance(value, ex.Cases) or (isinstance(value, ex.Reduce) and value.binder.cond is not None) or (
        isinstance(value, ex.Mul) and any(isinstance(f, ex.Bracket) for f in value.factors))
    return not guarded and any(reaches_on(variable, child) for child in value.children())


class _Classes:
    """A union of axes that share an index."""

    def __init__(self) -> None:
        self.parent: dict[Slot, Slot] = {}

    def find(self, slot: Slot) -> Slot:
        while (above := self.parent.setdefault(slot, slot)) != slot:
            slot = above
        return slot

    def join(self, slots: Sequence[Slot]) -> None:
        for slot in slots:
            self.parent[self.find(slot)] = self.find(slots[0])


def axes(module: Module) -> Axes:
    """The axes of a module's tensors.

    Axes that one index runs along have one extent: as declared, or as a written
    range Σ_{j=1}^n says.  Coordinates start where written ranges start, else at 0.
    """
    free = module.holding(())
    if "_axes" not in free.__dict__:  # modules are compared field by field: not for each index
        free.__dict__["_axes"] = _axes(free)
    return cast(Axes, free.__dict__["_axes"])


@lru_cache(maxsize=64)
def _axes(module: Module) -> Axes:
    found = _Classes()
    for symbol in module.table.of_kind(Kind.TENSOR):
        for d in range(len(symbol.axes)):
            if not symbol.name.startswith("delta_"):
                found.find((symbol.name, d))
    ranges = []
    for lower, upper, slots in _runs(module):
        length = None if lower is None or upper is None else ex.sub(ex.add(upper, ex.Num(1)), lower)
        if slots and (length is None or isinstance(length, (ex.Num, ex.Size))):
            found.join(slots)
            if length is not None:
                ranges.append((slots[0], length))
    for equation in module.equations:
        found.join(_square(equation))
    classes = {slot: found.find(slot) for slot in list(found.parent)}
    sizes = _declared(module, classes)
    for slot, length in ranges:
        sizes.setdefault(classes[slot], length)
    origins = _origins(module, classes)
    for slot, length in _reached(module, classes, origins):
        sizes.setdefault(slot, length)
    return Axes(classes, sizes, origins)


def _square(equation: ex.Cond) -> list[Slot]:
    """Both axes of D_{ij} = d_i [i = j]: a diagonal matrix is square."""
    head, value = (equation.terms[0], equation.terms[-1]) if isinstance(equation, ex.Rel) else (None, None)
    if not isinstance(head, ex.Entry) or not isinstance(value, ex.Mul):
        return []
    within = {i for n in ex.walk(value) if isinstance(n, ex.Entry) for i in n.indices}
    pairs = [f.cond.terms for f in value.factors if isinstance(f, ex.Bracket) and isinstance(f.cond, ex.Rel)
             and f.cond.ops == ("=",) and {*f.cond.terms} <= {*head.indices} and not {*f.cond.terms} <= within]
    return [(head.tensor, d) for d, i in enumerate(head.indices) if any(i in pair for pair in pairs)]


def _reached(module: Module, classes: dict[Slot, Slot], origins: dict[Slot, int]) -> Iterator[tuple[Slot, ex.Size]]:
    """n along an axis whose last used coordinate is that of x_{k+1} for k up to n − 1."""
    last: dict[tuple[Slot, ex.Size], Fraction] = {}
    stated = {(tensor, axis): length for tensor, axis, length in module.ranges}
    for equation in module.equations:
        head = equation.terms[0]
        own = {v: (None, ex.add(length, ex.Num(origins.get(classes[head.tensor, d], 0) - 1)))
               for d, v in enumerate(head.indices) if isinstance(v, ex.Idx)
               and (length := stated.get((head.tensor, d))) is not None} if isinstance(head, ex.Entry) else {}
        for entry, limits in _entries(equation, own):
            for d, term in enumerate(entry.indices):
                slot, end = classes.get((entry.tensor, d)), _end(term, limits)
                if slot is not None and end is not None:
                    beyond = end[1] + 1 - origins.get(slot, 0)
                    last[slot, end[0]] = max(beyond, last.get((slot, end[0]), beyond))
    yield from (key for key, beyond in last.items() if beyond == 0)


def _entries(node: ex.Node, limits: Mapping[ex.Idx, Limits]) -> Iterator[tuple[ex.Entry, Mapping[ex.Idx, Limits]]]:
    """Every entry, with the written limits of the bound indices in whose scope it stands."""
    if isinstance(node, ex.Entry):
        yield node, limits
    if isinstance(node, ex.BINDING):
        binder = node.binder
        own = zip(binder.variables, zip(binder.lower, binder.upper, strict=True), strict=True)
        limits = {**limits, **dict(own)}
    for child in node.children():
        yield from _entries(child, limits)


def _end(term: ex.Expr, limits: Mapping[ex.Idx, Limits]) -> tuple[ex.Size, Fraction] | None:
    """(n, c) where the index term v − w + … reaches n + c as v and w run through their written ranges."""
    form = Affine.of(term)
    if not {*form.coefficients.values()} <= {1, -1}:
        return None
    reached = Affine({}, form.constant)
    for v, sign in form.coefficients.items():
        end = limits.get(v, (None, None))[sign > 0] if isinstance(v, ex.Idx) else None
        reached = reached.plus(Affine.of(v if end is None else end), sign)
    (size, times), *more = reached.coefficients.items() or ((None, 0),)
    return (size, reached.constant) if isinstance(size, ex.Size) and times == 1 and not more else None


def _origins(module: Module, classes: dict[Slot, Slot]) -> dict[Slot, int]:
    """The least coordinate that written ranges give along each axis, at most 1; 1 for the others if nothing is 0.

    Where no range says it, an entry u_{2j-1} that is there from j = 1 on only does.
    """
    found: dict[Slot, int] = {}
    for low, _, slots in _runs(module):
        if isinstance(low, ex.Num):
            for slot in slots:
                found[classes[slot]] = min(found.get(classes[slot], 1), int(low.value))
    for tensor, axis, start in module.starts:
        found[classes[tensor, axis]] = start
    for equation in (*module.equations, *module.facts):
        head = equation.terms[0] if isinstance(equation, ex.Rel) else None
        own = {head.indices[axis]: Fraction(start) for tensor, axis, start in module.starts
               if isinstance(head, ex.Entry) and head.tensor == tensor}
        guarded = {n for product in ex.walk(equation) if isinstance(product, ex.Mul) and any(
            isinstance(f, ex.Bracket) for f in product.factors) for n in ex.walk(product) if isinstance(n, ex.Entry)}
        for entry, limits in ((e, ends) for e, ends in _entries(equation, {}) if e not in guarded):
            lowest = own | {v: low.value for v, (low, _) in limits.items() if isinstance(low, ex.Num)}
            for d, term in enumerate(entry.indices):
                least = _least(term, lowest)
                of = classes.get((entry.tensor, d))
                if least is not None and of is not None:
                    found[of] = min(found.get(of, 1), max(0, int(least)))
    for slot, begins in _guarded(module):
        found.setdefault(classes[slot], begins)
    first = 1 if module.first is None and not found and _needs_one(module) else module.first
    centred = {slot: origin for slot, origin in found.items() if origin < 0}
    others = {*found.values()} - {*centred.values()}
    if not module.fields and (others == {1} or (not others and first == 1)):
        return dict.fromkeys(classes.values(), 1) | centred
    return found


def _guarded(module: Module) -> Iterator[tuple[Slot, int]]:
    """(x, 0) and 1 of [1 ≤ t − 2] x_{t−2} and of Σ_{k : 1 ≤ t − k} x_{t−k}: an axis begins beyond which all is 0."""
    for node in (n for equation in module.equations for n in ex.walk(equation)):
        conds: list[ex.Cond | None] = []
        if isinstance(node, ex.Mul):
            conds = [f.cond for f in node.factors if isinstance(f, ex.Bracket)]
        elif isinstance(node, ex.Reduce):
            conds = [node.binder.cond]
        lows = dict(low for cond in conds for low in _lows(cond))
        if lows:
            yield from (((n.tensor, d), lows[t]) for n in ex.walk(node) if isinstance(n, ex.Entry)
                        for d, t in enumerate(n.indices) if t in lows)


def _lows(cond: ex.Cond | None) -> Iterator[tuple[ex.Expr, int]]:
    """t − 2 and 1 of 1 ≤ t − 2, of t − 2 ≥ 1 and of 0 < t − 2 ≤ n: 0 or 1 alone."""
    for part in cond.conds if isinstance(cond, ex.And) else (cond,):
        terms, ops = (part.terms, part.ops) if isinstance(part, ex.Rel) else ((), ())
        for one, op, other in zip(terms, ops, terms[1:], strict=False):
            number, term = (one, other) if op in "≤<" else (other, one)
            low = number.value + (op in "<>") if isinstance(number, ex.Num) and op in "≤<≥>" else None
            if low in (0, 1) and not isinstance(term, ex.Idx):
                yield term, int(low)


def _needs_one(module: Module) -> bool:
    """Whether some entry is not there where an output's index is 0, and all are where it is 1."""
    stepped = [steps for equation in module.equations if isinstance(head := equation.terms[0], ex.Entry)
               for v in head.indices if isinstance(v, ex.Idx) for steps in stepping(v, equation.terms[1])]
    return any(c < 0 for _, c in stepped) and all(a + c > 0 for a, c in stepped)


def stepping(v: ex.Idx, value: ex.Node) -> list[tuple[Fraction, Fraction]]:
    """a and c of each index term a v + c in the value, but v itself."""
    entries = (e for e in ex.walk(value) if isinstance(e, ex.Entry))
    found = (affine(t) for e in entries for t in e.indices if t is not v and v in ex.free_indices(t))
    return [(a, c) for w, a, c in filter(None, found) if w is v]


def affine(term: ex.Expr) -> tuple[ex.Idx, Fraction, Fraction] | None:
    """v, a and c of a v + c."""
    form = Affine.of(term)
    (v, a), *more = form.coefficients.items() or ((None, Fraction(0)),)
    return (v, a, form.constant) if isinstance(v, ex.Idx) and not more else None


def _least(term: ex.Expr, lowest: Mapping[ex.Expr, Fraction]) -> Fraction | None:
    """The least value of a v + b w + c while v and w run from written numbers on; of a number, 0 or 1."""
    if isinstance(term, ex.Num):
        return min(term.value, Fraction(1))
    form = Affine.of(term)
    if not form.coefficients or not form.coefficients.keys() <= lowest.keys() or min(form.coefficients.values()) < 0:
        return None
    return form.constant + sum(c * lowest[v] for v, c in form.coefficients.items())


def _runs(module: Module) -> Iterator[tuple[ex.Expr | None, ex.Expr | None, Sequence[Slot]]]:
    """The written range of each index variable, and the axes along which it stands."""
    for equation in (*module.equations, *module.facts):
        head, value = equation.children()[:2]
        for letter in ex.free_indices(equation):
            if isinstance(head, ex.Entry) and letter in head.indices and reaches_on(letter, value):
                yield None, None, stands(letter, head)
                yield None, None, stands(letter, value)
            else:
                yield None, None, stands(letter, equation)
        for node in ex.walk(equation):
            if isinstance(node, ex.BINDING):
                binder = node.binder
                for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
                    yield low, high, stands(v, node)
                if isinstance(node, (ex.Reduce, ex.Arg)):
                    yield from _conditioned(node)


def _conditioned(node: ex.Reduce | ex.Arg) -> Iterator[tuple[ex.Expr, ex.Expr, list[Slot]]]:
    """0 ≤ k − p < n under a sum over x_{k−p}: the whole of that axis."""
    for cond in ex.walk(node.binder.cond) if node.binder.cond is not None else ():
        match cond:
            case ex.Rel((low, term, high), ("≤", ("<" | "≤") as op)) if not isinstance(term, ex.Idx):
                slots = [(e.tensor, d) for e in ex.walk(node.body) if isinstance(e, ex.Entry)
                         for d, t in enumerate(e.indices) if t is term]
                yield low, high if op == "≤" else ex.sub(high, ex.Num(1)), slots


def _declared(module: Module, classes: dict[Slot, Slot]) -> dict[Slot, ex.Expr]:
    sizes: dict[Slot, ex.Expr] = {}
    for symbol in module.table.of_kind(Kind.TENSOR):
        for d, size in enumerate(symbol.sizes):
            if size != "" and (symbol.name, d) in classes:
                known = sizes.setdefault(classes[symbol.name, d], extent(size))
                if known is not extent(size) and isinstance(known, ex.Num) and isinstance(size, int):
                    raise CardError(f"`{symbol.name}` has extent {size} along an axis that has {known.value}")
    return sizes


@lru_cache(maxsize=64)
def with_axes(module: Module, spare: bool = True) -> Module:
    """The module with a size for every axis of every tensor, and a symbol for every message.

    ``spare``: with letters to name bound indices by.  One that has all of this stays as it is: it keys the memos.
    """
    if _is_complete(module):
        return module
    if len(module.equations) == len(module.inputs) == 1:
        module = with_size_letters(module)
    found = axes(module)
    named = dict(found.sizes)
    unknown = [c for c in dict.fromkeys(found.classes.values()) if c not in named]
    letters = unused(module.table, _LETTERS, len(unknown))
    if len(letters) < len(unknown):
        raise LimitError("more axes than there are letters for their sizes: state the shapes")
    named |= {c: ex.Size(letter) for c, letter in zip(unknown, letters, strict=True)}
    new = [Symbol(letter, letter, Kind.SIZE) for letter in letters]
    entries = max([3, *(len(s.axes) for s in module.table.of_kind(Kind.TENSOR))])
    own = dict.fromkeys(a for s in module.table.of_kind(Kind.TENSOR) for a in s.axes if module.table.named(a) is None)
    new += [Symbol(letter, letter, Kind.INDEX) for letter in (*own, *unused(module.table, _INDICES, entries * spare))]
    for symbol in module.table.of_kind(Kind.TENSOR):
        if symbol.name.startswith("delta_"):
            continue
        extents = tuple(_plain(named[found.of(symbol.name, d)]) for d in range(len(symbol.axes)))
        sized = replace(symbol, sizes=extents)
        new += [sized, message(sized, module.table)]
    return replace(module, table=module.table.extended(new))


def _is_complete(module: Module) -> bool:
    """Every axis of a tensor has a size, and each of the layer's own tensors a message."""
    table = module.table
    sized = all(len(s.sizes) == len(s.axes) and "" not in s.sizes for s in table.of_kind(Kind.TENSOR)
                if not s.name.startswith("delta_"))
    return sized and all(table.named(f"delta_{name}") for name in (*module.given, *module.defined))


def _plain(size: ex.Expr) -> int | str:
    return int(size.value) if isinstance(size, ex.Num) else size.name if isinstance(size, ex.Size) else ""


INPUT_SIZES = "HWDUVAB"
OUTPUT_SIZES = "MNPQRST"


def unused(table: SymbolTable, pool: str, count: int = 1) -> tuple[str, ...]:
    """The first ``count`` letters of the pool that the table does not use in any form."""
    taken = {part for s in table.symbols for part in (s.name, s.latex.lstrip("\\"), *s.axes, *s.members)}
    taken |= {n for s in table.symbols for n in s.sizes if isinstance(n, str)}
    taken |= {s.latex[-2] for s in table.symbols if s.latex.endswith("}")}  # \mathcal{A}, \hat{y}
    taken |= {s.latex[0] for s in table.symbols if s.latex[1:2] in ("_", "^")}  # i_t
    return tuple([letter for letter in pool if letter not in taken][:count])


def with_size_letters(module: Module) -> Module:
    """The module with a letter for the extent of every axis of input and output, where windows lie over all of them."""
    table, field = module.table, module.receptive_field
    source, output = table.named(module.inputs[0]), table.named(module.output)
    if field is None or source is None or output is None or not (
            len(source.axes) == len(output.axes) == len(field.axes)):
        return module
    shapes: dict[str, tuple[int | str, ...]] = {}
    for symbol, letters in ((source, INPUT_SIZES), (output, OUTPUT_SIZES)):
        free = iter(unused(table, letters, len(symbol.axes)))
        shapes[symbol.name] = tuple([own or next(free) for own in symbol.sizes or [""] * len(symbol.axes)])
    named = [Symbol(s, s, Kind.SIZE) for sizes in shapes.values() for s in sizes if isinstance(s, str)]
    sized = [replace(s, sizes=shapes[of]) for s in table.symbols if (of := s.name.removeprefix("delta_")) in shapes]
    return replace(module, table=table.extended([*sized, *named]))


def extent(size: int | str) -> ex.Expr:
    """The size as an expression."""
    return ex.Num(size) if isinstance(size, int) else ex.Size(size)
