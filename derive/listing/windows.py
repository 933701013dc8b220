"""The functions of a layer that reduces windows: one window at a time, or all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from derive.calculus.messages import Messages
from derive.calculus.vanishing import at_kinks
from derive.errors import UnsupportedError
from derive.expr import (
    Arg,
    Bracket,
    Cardinality,
    Cases,
    Entry,
    Expr,
    Idx,
    In,
    Mul,
    Node,
    Num,
    Reduce,
    Rel,
    SetApp,
    Star,
    Tuple,
    mul,
    walk,
)
from derive.listing.code import ArrayPrinter, Code
from derive.listing.layer import function_name, targets
from derive.listing.scope import Scope, symbol
from derive.module import Module
from derive.receptive_field import Axis, ReceptiveField, WindowAxis
from derive.reductions import REDUCTIONS, is_middle, is_short


@dataclass(frozen=True)
class Windowed:
    """f_K = a reduction of x over Ω(K), with scalar letters besides x; without Ω, x is the one window.

    Raises :class:`UnsupportedError` for any other layer.
    """

    messages: Messages

    def __post_init__(self) -> None:
        module = self.module
        tensors = [t for t in self.messages.letters if symbol(module, t).axes]
        if len(module.equations) != 1 or len(tensors) != 1 or len(module.fields) > 1:
            raise UnsupportedError("windows inside a larger layer are not written as code yet")
        for axis in self.field.axes if self.field else ():
            if isinstance(axis, WindowAxis) and max(axis.padding, axis.padding_after) >= axis.span:
                raise UnsupportedError("windows that lie wholly in padding are not written as code yet")

    @property
    def module(self) -> Module:
        return self.messages.module

    @cached_property
    def scope(self) -> Scope:
        return Scope(self.messages)

    @cached_property
    def source(self) -> str:
        return next(t for t in self.messages.letters if symbol(self.module, t).axes)

    @property
    def field(self) -> ReceptiveField | None:
        return self.module.receptive_field

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        return self.field.axes if self.field else ()

    @cached_property
    def rank(self) -> int:
        return len(symbol(self.module, self.source).axes)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The letters of the output's axes."""
        entry, _ = self.module.definition(self.module.output)
        return tuple(self.scope.name(i.name) for i in entry.indices if isinstance(i, Idx))

    @cached_property
    def x(self) -> str:
        return self.scope.name(self.source)

    @cached_property
    def f(self) -> str:
        return self.scope.name(self.module.output)

    @cached_property
    def extents(self) -> tuple[str, ...]:
        return tuple(map(str, symbol(self.module, self.source).sizes))

    @cached_property
    def given(self) -> list[str]:
        return [self.scope.name(t) for t in self.messages.letters]

    @property
    def forward(self) -> Expr:
        return self.module.definition(self.module.output)[1]

    def slope(self, wrt: str) -> Slope:
        """∂f_K/∂x_I within a window, or ∂f_K/∂r."""
        step = self.messages.jacobian(wrt)
        return Slope.of(at_kinks(cast(Expr, step.after), self.module), self)

    @property
    def scalars(self) -> tuple[str, ...]:
        return tuple(t for t in targets(self.messages) if t != self.source)

    @cached_property
    def clipped(self) -> bool:
        """Some window can have fewer cells than others: it reaches beyond the input, or windows differ."""
        return any(not isinstance(a, WindowAxis) or a.padding or a.padding_after or a.ceil_mode for a in self.axes)


@dataclass(frozen=True)
class Slope:
    """A product of ``factors``, and of [I = argmax] where there is a ``selected`` one."""

    factors: Expr
    selected: Arg | None

    @staticmethod
    def of(node: Expr, layer: Windowed) -> Slope:
        rest: list[Expr] = []
        selected: list[Arg] = []
        for factor in node.factors if isinstance(node, Mul) else (node,):
            cond = factor.cond if isinstance(factor, Bracket) else None
            if isinstance(factor, Cases) and len(factor.branches) == 2 and factor.branches[0][0] == Num(1) and (
                    factor.branches[1][0] == Num(0)):
                cond = factor.branches[0][1]
            if isinstance(cond, In):
                continue  # entries of the window alone are asked for
            arg = layer_arg(cond, layer) if cond is not None else None
            if arg is None:
                rest.append(factor)
            else:
                selected.append(arg)
        if len(selected) > 1 or any(isinstance(n, (Star, Arg)) for f in rest for n in walk(f)):
            raise UnsupportedError("two selections in one window are not written as code yet")
        return Slope(mul(*rest), selected[0] if selected else None)

    def varies(self, layer: Windowed) -> bool:
        """It differs from entry to entry of a window."""
        return self.selected is not None or any(_free_entry(n, layer) for n in _outside_binders(self.factors))


def layer_arg(cond: Node, layer: Windowed) -> Arg | None:
    """The argmax in I = argmax, or in I = (i^*, j^*)."""
    if not isinstance(cond, Rel) or cond.ops != ("=",):
        return None
    definitions = layer.messages.star_definitions
    for side in cond.terms:
        items = side.items if isinstance(side, Tuple) else (side,)
        if isinstance(side, Arg):
            return side
        if all(isinstance(i, Star) for i in items):
            return definitions[cast(Star, items[0]).name][0]
    return None


def _outside_binders(node: Node) -> list[Node]:
    if isinstance(node, Reduce):
        return []
    return [node, *(n for child in node.children() for n in _outside_binders(child))]


def _free_entry(node: Node, layer: Windowed) -> bool:
    return isinstance(node, Entry) and node.tensor == layer.source


@dataclass
class Entries(ArrayPrinter):
    """A reduction's source over ``name``, the array of a window's entries or of all windows' entries.

    ``axis`` is what numpy reduces (None: all); ``inside`` marks the entries within the input
    where not all are; ``kept``: reductions keep their axes.  ``entry``: what a free entry
    is called, if it is not ``name``.
    """

    layer: Windowed
    name: str
    f: str
    axis: str = ""
    inside: str = ""
    count: str = ""
    kept: bool = False
    entry: str = ""
    used: set[str] = field(default_factory=set)

    @property
    def module(self) -> Module:  # type: ignore[override]
        return self.layer.module

    def extremum(self, op: str, parts: list[Code]) -> Code:
        first, *rest = parts
        numpy = f"np.{op}imum" if self.axis else op
        for part in rest:
            first = self.called(numpy, [first, part])
        return first

    def index(self, node: Idx) -> Code:
        self.used.add(node.name)
        return Code(node.name)

    def size(self, name: str) -> str:
        self.used.add(name)
        return name

    def bound(self, node: Expr) -> Code:
        match node:
            case Entry(tensor) if tensor == self.layer.source:
                name = self.entry or self.name
                self.used.add(name)
                return Code(name)
            case Entry(tensor) if tensor == self.layer.module.output:
                self.used.add(self.f)
                return Code(self.f)
            case Entry(tensor, ()):
                return Code(self.layer.scope.name(tensor))
            case Cardinality():
                return self.size_of_window()
            case Reduce(op):
                return self.reduced(op, node)
        return super().bound(node)

    def size_of_window(self) -> Code:
        if self.inside:
            self.used.add(self.inside)
            return Code(f"np.sum({self.inside}{self.options(self.kept)})")
        return Code(self.count or f"{self.name}.size")

    def options(self, kept: bool) -> str:
        return (f", axis={self.axis}" if self.axis else "") + (", keepdims=True" if kept and self.axis else "")

    def reduced(self, op: str, node: Reduce) -> Code:
        cond = node.binder.cond
        if is_short(op):
            raise UnsupportedError(f"a {REDUCTIONS[op].words} over a window is not written as code yet")
        if cond is not None and not (isinstance(cond, In) and isinstance(cond.set, SetApp)):
            raise UnsupportedError("a sum under a condition inside a window is not written as code yet")
        if any(low is not None for low in node.binder.lower) and self.layer.field is not None:
            raise UnsupportedError("a sum within a sum over a window is not written as code yet")
        outer, self.kept = self.kept, True
        entry, self.entry = self.entry, ""
        body = self.value(node.body)
        self.kept, self.entry = outer, entry
        text, options = body.text, self.options(outer)
        if is_middle(op) and self.inside:
            self.used.add(self.inside)
            return Code(f"np.nanmedian(np.where({self.inside}, {text}, np.nan){options})")
        if self.inside and not is_middle(op):
            self.used.add(self.inside)
            neutral = {"max": ", initial=-np.inf", "min": ", initial=np.inf"}.get(op, "")
            options += f", where={self.inside}{neutral}"
        if self.name not in text:
            raise UnsupportedError("a sum that does not run over the window's entries is not written as code yet")
        return Code(f"np.{op}({text}{options})")


def tuple_text(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def unpacked(names: list[str], value: str) -> str:
    return f"{', '.join(names)}{',' if len(names) == 1 else ''} = {value}"


def head(layer: Windowed, backward: bool) -> str:
    name = function_name(layer.messages)
    return (f"def {name}_backward({', '.join(['upstream', *layer.given])}):" if backward
            else f"def {name}({', '.join(layer.given)}):")


def output_size(axis: Axis, n: str) -> str:
    """⌊(n + p + p' − d(K−1) − 1)/s⌋ + 1; with ``ceil_mode`` as many windows as begin before the input's end."""
    if not isinstance(axis, WindowAxis):
        return str(axis.output_size(1))
    s = axis.stride
    shift = axis.padding + axis.padding_after - axis.span + s
    if axis.ceil_mode:
        shift = min(shift + s - 1, axis.padding + s - 1)
    top = n if not shift else f"{n} {'+' if shift > 0 else '-'} {abs(shift)}"
    return top if s == 1 else f"{top} // {s}" if not shift else f"({top}) // {s}"
