"""The letters of a solution: those of the question, those that the solution defines, and further names of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import TypeVar, cast

from derive.axes import Axes, axes, stands
from derive.check.folding import folded
from derive.expr import (
    ZERO,
    Add,
    And,
    Arg,
    Binder,
    Bracket,
    Cond,
    Directional,
    Entry,
    Expr,
    Fn,
    Idx,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    SetApp,
    Size,
    Star,
    Unit,
    add,
    eq,
    free_indices,
    items,
    subst,
    transform,
    walk,
)
from derive.formulas import formulas
from derive.module import Function, Module
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.records import dataclass
from derive.verify.check import unbound
from derive.verify.points.point import LOSS

_C = TypeVar("_C", bound=Cond)
_N = TypeVar("_N", bound=Node)
_PAIR = 2  # indices, that Kronecker's δ has, too
_LOSSES = frozenset("L J E C ell L_cal J_cal".split())  # of a loss that only a solution names
_SPARE = "0"  # below the letter of an extent that the question gives no letter


@dataclass
class Letters:
    """The letters of the question, and those that question and solution define beside the layer."""

    module: Module
    kronecker: bool = False  # the words say that δ is Kronecker's
    parts: frozenset[str] = frozenset()  # what is said of functions in some cases only
    upstream: bool = False  # or that it is the gradient that comes in
    own: dict[str, Rel] = field(default_factory=dict)
    loose: dict[str, Rel] = field(default_factory=dict)  # those that are no part of the layer
    told: dict[str, Formula] = field(default_factory=dict)  # where the solution defines them
    sizes: dict[str, Expr] = field(default_factory=dict)  # further names of extents
    stars: list[Rel] = field(default_factory=list)  # maximisers that the solution defines

    def __post_init__(self) -> None:
        self.table = self.module.table

    def of_layer(self, tensor: str) -> bool:
        base = tensor.removeprefix("delta_")
        return base in self.module.given or base in self.module.defined

    def known(self, tensor: str) -> bool:
        return tensor in self.own or tensor == LOSS or self.of_layer(tensor)

    def first(self, index: Idx, node: Node) -> Expr:
        """The first coordinate of the axis along which an index runs."""
        found = axes(self.module)
        return next((Num(found.origin(t, d)) for t, d in stands(index, node)), ZERO)

    def unknown(self, node: Node) -> str:
        """A letter of which nothing is said."""
        module = self.module
        sizes = {*self.sizes} | {s for symbol in self.table.symbols for s in symbol.sizes if isinstance(s, str)} | {
            n.name for e in module.equations for n in walk(e) if isinstance(n, Size)}
        sets = {*self.own, *(name for name, _ in module.fields)}
        arguments = {a.tensor for n in walk(node) if isinstance(n, Fn) and module.function(n.name.rstrip("'"))
                     for a in n.args if isinstance(a, Entry)} if _of_function(node, module) else set()
        arguments |= {n.direction for n in walk(node) if isinstance(n, Directional)}
        if (number := free_number(node)) is not None:
            arguments |= {number.tensor}
        for n in walk(node):
            if isinstance(n, Entry) and not self.known(n.tensor) and n.tensor not in arguments:
                return n.tensor
            if isinstance(n, Size) and n.name not in sizes or isinstance(n, SetApp) and n.name not in sets:
                return n.name
        return ""

    def defines(self, link: Rel) -> bool:
        """Whether it says what a new letter is, in known ones."""
        head, value = link.terms
        if not isinstance(head, Entry) or self.known(head.tensor) or unbound(link):
            return False
        distinct = all(isinstance(i, Idx) for i in head.indices) and len({*head.indices}) == len(head.indices)
        return distinct and not self.unknown(value)

    def define(self, link: Rel) -> None:
        """The letter becomes one of the layer where the layer computes its value, else a name of that value."""
        head = link.terms[0]
        assert isinstance(head, Entry)
        self.own[head.tensor] = link
        if (wider := folded(self.module, link, self.table)) is not None:
            self.module = wider
        else:
            self.loose[head.tensor] = link


    def maximises(self, head: Expr, value: Arg) -> bool:
        """(i^*, j^*) = argmax …, of known letters: the stars mean that from here on."""
        if self.unknown(value) or any(not isinstance(a, Idx) for i in items(head) if isinstance(i, Star) for a in i.at):
            return False
        self.stars.append(Rel((head, value), ("=",)))
        return True


def numeric(value: Node) -> bool:
    """Whether no letter stands in it."""
    return not any(isinstance(n, (Entry, Idx, Size, Partial)) for n in walk(value))


def of_a_number(link: Rel) -> bool:
    """S = 2, m_k = 1 of a letter with indices: another S without them is meant, or what m_k is in some cases."""
    head, value = link.terms
    return isinstance(head, Entry) and bool(head.indices) and isinstance(value, Num)


def arrives(head: Node, module: Module) -> Entry | None:
    """δ_y for δ_y and ∂L/∂y of an output that is no loss: a solution may suppose it."""
    if module.output in _LOSSES:
        return None
    if isinstance(head, Partial) and isinstance(head.of, Entry) and head.of.tensor in {*_LOSSES, LOSS} and (
            isinstance(head.wrt, Entry) and head.wrt.tensor == module.output):
        return Entry(f"delta_{module.output}", head.wrt.indices)
    return head if isinstance(head, Entry) and head.tensor == f"delta_{module.output}" else None


def free_number(node: Node) -> Entry | None:
    """u of d tanh(u)/du = …, an equation about any number u."""
    head = node.terms[0] if isinstance(node, Rel) else None
    by = head.wrt if isinstance(head, Partial) and not isinstance(head.of, Entry) else None
    return by if isinstance(by, Entry) and not by.indices else None


def _of_function(node: Node, module: Module) -> bool:
    """σ'(u) = …, about the number u alone."""
    head = node.terms[0] if isinstance(node, Rel) else None
    return isinstance(head, Fn) and module.function(head.name.rstrip("'")) is not None


def told(node: Node, letters: Letters) -> None:
    """What the question says that a letter stands for, also ∂L/∂y = δ the other way round, and its functions."""
    for part in node.conds if isinstance(node, And) else (node,):
        if not isinstance(part, Rel) or part.ops != ("=",):
            continue
        if defines_function(part, letters):
            continue
        for head, value in (part.terms, part.terms[::-1]):
            link = own_letters(Rel((head, value), ("=",)), letters)
            ordered = isinstance(value, Partial) or head is part.terms[0]
            if ordered and letters.defines(link) and not of_a_number(link):
                letters.define(link)
                break


def runs(part: Rel, letters: Letters) -> None:
    """T of t = 0, …, T − 1 is the extent of the axis of y_t, if nothing else is known of it."""
    low, index, high = part.terms if part.ops == ("≤", "≤") else (None, None, None)
    if not isinstance(low, Num) or not isinstance(index, Idx) or not isinstance(high, Expr):
        return
    found, extent = axes(letters.module), add(high, Num(1 - low.value))
    slots = {slot for e in letters.module.equations for slot in stands(index, e)}
    sizes = {found.size(t, d) for t, d in slots}
    fits = len(sizes) == 1 and all(found.origin(t, d) == low.value for t, d in slots)
    if fits and isinstance(extent, Size) and letters.unknown(Bracket(eq(extent, ZERO))) and None not in sizes:
        letters.sizes[extent.name] = cast(Expr, sizes.pop())


def shaped(letters: Letters) -> None:
    """δ of δ = ∂L/∂y has the shape of y, and so has the letter without the name of its own."""
    known = letters.module.table
    for link in letters.loose.values():
        head, value = link.terms
        like = known.named(value.wrt.tensor) if isinstance(value, Partial) and isinstance(value.wrt, Entry) else None
        own = known.named(head.tensor.removeprefix("own_")) if isinstance(head, Entry) else None
        if like is not None and own is not None and len(like.axes) == len(own.axes):
            known = known.extended((replace(own, sizes=like.sizes),))
    letters.module = replace(letters.module, table=known)


def called(module: Module, written: Iterable[Formula]) -> Module:
    """f(x) of f(x) = … is f, where both are numbers of the layer."""
    symbols = {s.latex: s for s in module.table.of_kind(Kind.TENSOR) if not s.axes}
    heads = (re.match(r"(.+?)\s*\((.+?)\)\s*&?=", f.latex) for f in written)
    found = {symbols[m[1]].name: symbols[m[2]].name for m in heads if m and m[1] in symbols and m[2] in symbols}
    return replace(module, table=_with(module.table, [
        replace(s, members=(found[s.name],)) if s.name in found else s for s in module.table.symbols]))


def defines_function(part: Rel, letters: Letters) -> bool:
    """f(s) = …, of numbers that are no letters of the layer."""
    head, body = part.terms[0], part.terms[-1]
    if not isinstance(head, Fn) or "'" in head.name or letters.module.function(head.name) is not None:
        return False
    names = [a.tensor for a in head.args if isinstance(a, Entry) and not a.indices]
    symbol = letters.table.named(head.name)
    own = {n.tensor for n in walk(body) if isinstance(n, Entry)} - {*names}
    if len(names) != len(head.args) or symbol is None or symbol.kind is not Kind.FUNCTION or any(
            not letters.known(t) for t in own) or any(isinstance(n, Fn) and n.name == head.name for n in walk(body)):
        return False
    function = Function(head.name, tuple(names), body)
    letters.module = replace(letters.module, functions=(*letters.module.functions, function))
    return True


def upstream(link: Rel, latex: str, letters: Letters) -> tuple[Rel, str]:
    """A δ of which nothing is said is ∂L/∂y where that makes the equation true; where it does not, it is unknown."""
    output = letters.module.table.named(letters.module.output)
    own = {n.tensor for n in walk(link) if isinstance(n, Entry) and n.tensor == "delta" and not letters.known(n.tensor)
           and output is not None and len(n.indices) == len(output.axes)}
    if not own:
        said = letters.kronecker or "\\delta_" not in latex or output is None or len(output.axes) != _PAIR or any(
            s.latex.startswith("\\delta") for s in letters.module.table.symbols)
        return link, "" if said else "whose `delta` it is nothing says"
    name = f"delta_{letters.module.output}"
    return transform(link, lambda n: Entry(name, n.indices) if isinstance(n, Entry) and n.tensor in own else None,
                     Entry), "" if letters.upstream else "nothing says what `delta` is"


def kroneckers(link: Rel, module: Module) -> Rel:
    """Beside the gradient δ_{nk} that comes in: δ_{jk} of ∂y_{nk}/∂w_{ij} is Kronecker's, since no δ_y stands there."""
    head, value = link.terms
    if not isinstance(head, Partial) or not isinstance(head.of, Entry) or head.of.tensor in {LOSS, *_LOSSES} or (
            head.of.tensor.startswith("delta_")):
        return link
    of, wrt = free_indices(head.of), free_indices(head.wrt)
    return Rel((head, paired(value, module, lambda a, b: {a, b} <= of | wrt and not ({a, b} <= of or {a, b} <= wrt))),
               ("=",))


def paired(value: _N, module: Module, meant: Callable[[Node, Node], bool]) -> _N:
    """δ_{jk}, read as an entry of the gradient that comes in, as [j = k] where that is meant."""
    name = f"delta_{module.output}"

    def replaced(part: Node) -> Node | None:
        two = part.indices if isinstance(part, Entry) and part.tensor == name else ()
        return Bracket(eq(*two)) if len(two) == _PAIR and all(isinstance(i, Idx) for i in two) and two[0] is not (
            two[1]) and meant(*two) else None

    return transform(value, replaced, Entry)


def own_letters(node: _C, letters: Letters) -> _C:
    """The statement in letters of the layer alone.

    L has its name, whatever letter it has; a δ_t of no t of the layer is a letter of its own; what is no part of the
    layer is written out; n of Σ_{i=1}^{n} over all of an axis is no number; w_{j0} is the bias (w_0)_j.
    """
    def replaced(part: Node) -> Node | None:
        if isinstance(part, Entry) and ZERO in part.indices:
            bias = letters.module.table.named(f"{part.tensor}_0")
            if bias is not None and len(bias.axes) == len(part.indices) - 1:
                at = part.indices.index(ZERO)
                return Entry(bias.name, part.indices[:at] + part.indices[at + 1:])
        if isinstance(part, Partial) and isinstance(part.of, Entry) and not part.of.indices and not letters.known(
                part.of.tensor) and part.of.tensor in _LOSSES:
            return Partial(Entry(LOSS, ()), part.wrt)
        if isinstance(part, Entry) and part.tensor.startswith("delta_") and not letters.of_layer(part.tensor):
            part = Entry(f"own_{part.tensor}", part.indices)
        if isinstance(part, Entry) and part.tensor in letters.loose:
            head, value = letters.loose[part.tensor].terms
            assert isinstance(head, Entry)
            if len(head.indices) == len(part.indices):
                return subst(value, dict(zip(head.indices, part.indices, strict=True)))
        return part if isinstance(part, Entry) else None

    found = transform(_unlimited(entrywise(node), letters), replaced, Partial, Entry)
    return subst(found, {Size(name): extent for name, extent in letters.sizes.items()})  # in limits, too


def entrywise(node: _C) -> _C:
    """p_i - e_c of a vector equation as p_i - [i = c], by the index that the other terms have."""
    def replaced(part: Node) -> Node | None:
        if not isinstance(part, Add):
            return None
        plain = [t for t in part.terms if not any(isinstance(n, Unit) for n in walk(t))]
        own = {i for t in plain for i in free_indices(t)}
        if len(plain) == len(part.terms) or len(own) != 1:
            return None
        index = cast(Expr, own.pop())
        return Add(tuple(t if t in plain else transform(t, lambda n: Bracket(eq(index, n.index)) if isinstance(
            n, Unit) else None, Unit) for t in part.terms))

    return transform(node, replaced, Add)


def _unlimited(node: _C, letters: Letters) -> _C:
    """Σ_{i=1}^{m} over all of an axis without limits; m is its extent then, if nothing else is known of it."""
    found = axes(letters.module)

    def wide(part: Node) -> Node | None:
        if not isinstance(part, Reduce) or part.op != "sum" or part.binder.cond is not None:
            return None
        own = part.binder
        limits = [_whole(v, low, high, part.body, letters, found) for v, low, high in zip(
            own.variables, own.lower, own.upper, strict=True)]
        binder = Binder(own.variables,
                        tuple(None if whole else low for low, whole in zip(own.lower, limits, strict=True)),
                        tuple(None if whole else high for high, whole in zip(own.upper, limits, strict=True)), None)
        return Reduce("sum", binder, part.body) if any(limits) else None

    return transform(node, wide, Reduce)


def _whole(variable: Idx, low: Expr | None, high: Expr | None, body: Expr, letters: Letters, found: Axes) -> bool:
    """Whether the limits are 1 and n, or 0 and n − 1, of an axis of n entries along which the variable stands."""
    entries = [n for n in walk(body) if isinstance(n, Entry) and variable in free_indices(n)]
    slots = [(e.tensor, d) for e in entries for d, i in enumerate(e.indices) if i is variable]
    slots += [s for t, d in slots if t in letters.loose for s in _along(letters.loose[t], d)]
    moved = any(i is not variable and variable in free_indices(i) for e in entries for i in e.indices)
    if not isinstance(low, Num) or low.value not in (0, 1) or high is None or not slots or moved:
        return False
    if isinstance(high, Num) and any(e.tensor in letters.loose for e in entries):
        return False
    extent = add(high, Num(1)) if low.value == 0 else high
    size = next((s for t, d in slots if (s := found.size(t, d)) is not None), None)
    if size is None or extent is size:
        return size is not None
    if isinstance(extent, Size) and letters.unknown(Bracket(eq(extent, ZERO))) == extent.name:
        letters.sizes[extent.name] = size
        return True
    return letters.sizes.get(getattr(extent, "name", "")) is size


def _along(definition: Rel, d: int) -> tuple[tuple[str, int], ...]:
    """The axes of the layer along which an index of a letter that a solution defines runs."""
    head, value = definition.terms
    index = head.indices[d] if isinstance(head, Entry) and d < len(head.indices) else None
    return stands(index, value) if isinstance(index, Idx) else ()


def spared(sized: Module, module: Module, text: str) -> Module:
    """The module with extents by letters that the solution has no other use for."""
    taken = {c for f in formulas(text) for c in re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", f.latex))}
    new = {s.name for s in sized.table.of_kind(Kind.SIZE)} - {s.name for s in module.table.of_kind(Kind.SIZE)}
    names = {name: f"{name}_{_SPARE}" for name in new & taken}
    if not names:
        return sized
    symbols = [replace(s, name=names.get(s.name, s.name) if s.kind is Kind.SIZE else s.name,
                       latex=rf"{s.latex}_{{{_SPARE}}}" if s.kind is Kind.SIZE and s.name in names else s.latex,
                       sizes=tuple(names.get(n, n) if isinstance(n, str) else n for n in s.sizes))
               for s in sized.table.symbols]
    return replace(sized, table=_with(sized.table, symbols))


def sized(module: Module) -> Module:
    """The module with a symbol for each extent that a shape names: K of z ∈ ℝ^K."""
    names = dict.fromkeys(n for s in module.table.symbols for n in s.sizes if isinstance(n, str) and n)
    new = [Symbol(n, n, Kind.SIZE) for n in names if module.table.named(n) is None]
    return replace(module, table=module.table.extended(new)) if new else module


def squared(module: Module) -> Module:
    """The layer with all its axes of one length."""
    names = [n for s in module.table.symbols for n in s.sizes if isinstance(n, str)]

    def one(node: _N) -> _N:
        return subst(node, {Size(name): Size(names[0]) for name in names})

    symbols = [replace(s, sizes=tuple(names[0] if isinstance(n, str) else n for n in s.sizes))
               for s in module.table.symbols]
    return replace(module, table=_with(module.table, symbols), equations=tuple(map(one, module.equations)),
                   facts=tuple(map(one, module.facts)), ranges=tuple((t, d, one(e)) for t, d, e in module.ranges)
                   ) if names else module


def _with(table: SymbolTable, symbols: Iterable[Symbol]) -> SymbolTable:
    return replace(table, symbols=tuple(symbols))
