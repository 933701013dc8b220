"""Windows Ω(k, l) in code: the equations that reduce over them, and NumPy on the entries of windows."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.calculus.messages import Messages
from derive.calculus.vanishing import at_kinks
from derive.errors import UnsupportedError
from derive.listing.code import PRODUCT, SIGN, ArrayPrinter, Code
from derive.listing.scope import Scope, symbol
from derive.module import Module
from derive.receptive_field import Axis, ReceptiveField, WindowAxis, window_facts
from derive.records import dataclass
from derive.reductions import REDUCTIONS, is_middle, is_short, selects


@dataclass(frozen=True)
class Windowed:
    """t_K = a reduction of u over Ω(K), with scalar letters besides u; without Ω, u is the one window.

    ``messages`` are those of this equation alone, ``scope`` is of the layer in which it stands.
    Raises :class:`UnsupportedError` for any other equation.
    """

    messages: Messages
    scope: Scope
    field: ReceptiveField | None

    def __post_init__(self) -> None:
        entry, value = self.messages.module.definition(self.messages.module.output)
        read = [n for n in ex.walk(value) if isinstance(n, ex.Entry) and n.indices]
        if len({n.tensor for n in read}) != 1 or any(len(n.indices) != len(read[0].indices) for n in read):
            raise UnsupportedError("windows of several tensors at once are not written as code yet")
        if len(entry.indices) != len(self.axes) or (self.axes and len(read[0].indices) != len(self.axes)):
            raise UnsupportedError("windows along some axes of a tensor are not written as code yet")

    @property
    def module(self) -> Module:
        return self.messages.module

    @property
    def output(self) -> str:
        return self.module.output

    @property
    def value(self) -> ex.Expr:
        return self.module.definition(self.output)[1]

    @cached_property
    def source(self) -> str:
        return next(t for t in self.module.sources(self.output) if symbol(self.module, t).axes)

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.field.axes if self.field else ()

    @cached_property
    def extents(self) -> tuple[ex.Expr, ...]:
        return tuple(self.scope.extent(self.source, d) for d in range(len(self.axes)))

    @cached_property
    def counts(self) -> tuple[ex.Expr, ...]:
        """How many windows there are; under their own names in a layer of several equations."""
        if len(self.scope.module.equations) > 1:
            return tuple(self.scope.extent(self.output, d) for d in range(len(self.axes)))
        return tuple(map(output_size, self.axes, self.extents))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The letters of the output's axes."""
        entry, _ = self.module.definition(self.output)
        return tuple(self.scope.name(i.name) for i in entry.indices if isinstance(i, ex.Idx))

    @cached_property
    def x(self) -> str:
        return self.scope.name(self.source)

    @cached_property
    def f(self) -> str:
        return self.scope.name(self.output)

    @cached_property
    def upstream(self) -> str:
        return self.scope.name(f"delta_{self.output}")

    def gradient(self, wrt: str) -> str:
        return self.scope.name(f"delta_{wrt}")

    def slope(self, wrt: str) -> Slope:
        """∂t_K/∂u_I within a window, or ∂t_K/∂r."""
        return Slope.of(at_kinks(cast(ex.Expr, self.messages.jacobian(wrt).after), self.module), self)

    @cached_property
    def clipped(self) -> bool:
        """Some window can have fewer cells than others: it reaches beyond the input, or windows differ."""
        return any(not isinstance(a, WindowAxis) or a.padding or a.padding_after or a.ceil_mode for a in self.axes)

    @cached_property
    def missed(self) -> bool:
        """Some window can lie wholly in padding."""
        return self.field is not None and window_facts(self.field, None).missed


def windowed(scope: Scope) -> dict[str, Windowed]:
    """The equations of a layer that reduce over windows, or select among all entries of a tensor."""
    found: dict[str, Windowed] = {}
    for written in scope.module.equations:
        equation, over = _in_ranges(written, scope) or (written, None)
        entry, value = cast("tuple[ex.Entry, ex.Expr]", equation.terms)
        over = over or field_of(value, scope.module)
        if over is not None or (not entry.indices and any(_whole(n, scope.module) for n in ex.walk(value))):
            found[entry.tensor] = Windowed(_alone(equation, over, scope), scope, over)
    return found


def _in_ranges(equation: ex.Rel, scope: Scope) -> tuple[ex.Rel, ReceptiveField] | None:
    """max_{0≤a<K} u_{s k + d a}, alone on its side, as max_{i∈Ω(k)} u_i."""
    entry, value = cast("tuple[ex.Entry, ex.Expr]", equation.terms)
    if not isinstance(value, ex.Reduce) or not selects(value.op) or not isinstance(value.body, ex.Entry):
        return None
    binder, axes = value.binder, list[Axis]()
    if binder.cond is not None or len(binder.variables) != len(entry.indices) or (
            not len(value.body.indices) == len(entry.indices) == len({*entry.indices})):
        return None
    for k, a, low, high, at in zip(entry.indices, binder.variables, binder.lower, binder.upper, value.body.indices,
                                   strict=True):
        form = Affine.of(at)
        s, d = form.coefficients.get(k, 0), form.coefficients.get(a, 0)
        if not isinstance(low, ex.Num) or not isinstance(high, ex.Num) or {*form.coefficients} != {k, a} or (
                s < 1 or d < 1 or s.denominator * d.denominator != 1 or form.constant + d * low.value != 0):
            return None
        axes.append(WindowAxis(int(high.value - low.value) + 1, int(s), 0, int(d)))
    if any(scope.origin(t.tensor, n) for t in (entry, value.body) for n in range(len(axes))) or scope.module.ranges:
        return None
    over = ex.Binder(binder.variables, (None,) * len(axes), (None,) * len(axes),
                  ex.In(ex.tuple_of(binder.variables), ex.SetApp(_SET, entry.indices)))
    body = ex.Entry(value.body.tensor, binder.variables)
    return ex.Rel((entry, ex.Reduce(value.op, over, body)), equation.ops), ReceptiveField(tuple(axes))


_SET = "Omega_ranges"


def _alone(equation: ex.Rel, over: ReceptiveField | None, scope: Scope) -> Messages:
    """The equation's own derivation."""
    module, (entry, _) = scope.module, cast("tuple[ex.Entry, ex.Expr]", equation.terms)
    if module.equations == (equation,):
        return scope.messages
    if over is not None and over not in dict(module.fields).values():
        module = replace(module, fields=((_SET, over),))
    alone = replace(module, equations=(equation,), inputs=tuple(module.sources(entry.tensor)), parameters=(),
                    constants=(), output=entry.tensor, facts=(), held=(), wanted=(), recounted=None, ranges=())
    return Messages(alone)


def field_of(value: ex.Expr, module: Module) -> ReceptiveField | None:
    """The windows over which a value reduces; raises :class:`UnsupportedError` where these are of several kinds."""
    fields = dict(module.fields)
    names = {n.name for n in ex.walk(value) if isinstance(n, ex.SetApp) and n.name in fields}
    if len(names) > 1:
        raise UnsupportedError("windows of two kinds in one formula are not written as code yet")
    return fields[names.pop()] if names else None


def _whole(node: ex.Node, module: Module) -> bool:
    """A selection that takes several indices, or shares among tied entries."""
    if not isinstance(node, ex.Reduce) or not selects(node.op) or node.binder.cond is not None:
        return False
    return len(node.binder.variables) > 1 or is_middle(node.op) or module.tie_rule == "split"


def output_size(axis: Axis, n: ex.Expr) -> ex.Expr:
    """⌊(n + p + p' − d(K−1) − 1)/s⌋ + 1; with ``ceil_mode`` as many windows as begin before the input's end."""
    if not isinstance(axis, WindowAxis) or isinstance(n, ex.Num):
        return ex.Num(axis.output_size(int(n.value) if isinstance(n, ex.Num) else 1))
    s = axis.stride
    shift = axis.padding + axis.padding_after - axis.span + s
    if axis.ceil_mode:
        shift = min(shift + s - 1, axis.padding + s - 1)
    top = ex.add(n, ex.Num(shift)) if shift else n
    return top if s == 1 else ex.Fn("floor", (ex.Mul((top, ex.Pow(ex.Num(s), ex.Num(-1)))),))


@dataclass(frozen=True)
class Pass:
    """t over all windows; or δ of each of ``targets`` from δ_t, ``added`` to what the name holds."""

    layer: Windowed
    targets: tuple[str, ...] = ()
    added: bool = False

    @property
    def name(self) -> str:
        return self.layer.f

    @property
    def value(self) -> ex.Expr:
        """What it reads."""
        if not self.targets:
            return self.layer.value
        factors = [self.layer.slope(t).factors for t in self.targets]
        read = {n for f in factors for n in ex.walk(f) if isinstance(n, ex.Entry)}
        return ex.Tuple((ex.Entry(f"delta_{self.layer.output}", ()), ex.Entry(self.layer.source, ()), *read))


@dataclass(frozen=True)
class Slope:
    """A product of ``factors``, and of [I = argmax] where there is a ``selected`` one."""

    factors: ex.Expr
    selected: ex.Arg | None

    @staticmethod
    def of(node: ex.Expr, layer: Windowed) -> Slope:
        rest: list[ex.Expr] = []
        selected: list[ex.Arg] = []
        for factor in node.factors if isinstance(node, ex.Mul) else (node,):
            cond = factor.cond if isinstance(factor, ex.Bracket) else None
            match factor:
                case ex.Cases(((ex.Num(value), case), (other, _))) if value == 1 and other == ex.ZERO:
                    cond = case
            if isinstance(cond, ex.In):
                continue  # entries of the window alone are asked for
            arg = _selected(cond, layer) if isinstance(cond, ex.Rel) and cond.ops == ("=",) else None
            if arg is None:
                rest.append(factor)
            else:
                selected.append(arg)
        if len(selected) > 1 or any(isinstance(n, (ex.Star, ex.Arg)) for f in rest for n in ex.walk(f)):
            raise UnsupportedError("two selections in one window are not written as code yet")
        return Slope(ex.mul(*rest), selected[0] if selected else None)


def _selected(cond: ex.Rel, layer: Windowed) -> ex.Arg | None:
    """The argmax in I = argmax, or in I = (i^*, j^*)."""
    for side in cond.terms:
        items = ex.items(side)
        if isinstance(side, ex.Arg):
            return side
        if all(isinstance(i, ex.Star) for i in items):
            return layer.messages.star_definitions[cast(ex.Star, items[0]).name][0]
    return None


@dataclass
class Entries(ArrayPrinter):
    """A reduction's source over ``name``, the array of a window's entries or of all windows' entries.

    ``axis`` is what numpy reduces ("": all); ``inside`` marks the entries within the input
    where not all are, ``count`` is how many all are; ``kept``: reductions keep their axes, and letters ``behind``
    get one.  ``entry``: what a free entry is called, if it is not ``name``.
    """

    layer: Windowed
    name: str
    f: str
    axis: str = ""
    inside: str = ""
    count: str = ""
    kept: bool = False
    behind: str = ""
    entry: str = ""
    used: set[str] = field(default_factory=set)
    sizes: dict[str, None] = field(default_factory=dict)

    @property
    def module(self) -> Module:  # type: ignore[override]
        return self.layer.module

    def extremum(self, op: str, parts: list[Code]) -> Code:
        return super().extremum(op, parts) if self.axis else self.called(op, parts)  # of numbers: max and min

    def index(self, node: ex.Idx) -> Code:
        return Code(self.taken(self.layer.scope.name(node.name)).text + self.behind)

    def bound(self, node: ex.Expr) -> Code:
        match node:
            case ex.Entry(tensor) if tensor == self.layer.source:
                return self.taken(self.entry or self.name)
            case ex.Entry(tensor) if tensor == self.layer.output:
                return self.taken(self.f)
            case ex.Entry(tensor, ()):
                return Code(self.layer.scope.name(tensor))
            case ex.Cardinality() if self.inside:
                return Code(f"np.sum({self.taken(self.inside).text}{self.options(self.kept)})")
            case ex.Cardinality():
                return Code(self.count) if self.count else Code(f"{self.taken(self.name).text}.size")
            case ex.Reduce(op):
                return self.reduced(op, node)
        return super().bound(node)

    def taken(self, name: str) -> Code:
        self.used.add(name)
        return Code(name)

    def options(self, kept: bool) -> str:
        return (f", axis={self.axis}" if self.axis else "") + (", keepdims=True" if kept and self.axis else "")

    def reduced(self, op: str, node: ex.Reduce) -> Code:
        cond = node.binder.cond
        if is_short(op):
            raise UnsupportedError(f"a {REDUCTIONS[op].words} over a window is not written as code yet")
        if cond is not None and not (isinstance(cond, ex.In) and isinstance(cond.set, ex.SetApp)):
            raise UnsupportedError("a sum under a condition inside a window is not written as code yet")
        if any(low is not None for low in node.binder.lower) and self.layer.field is not None:
            raise UnsupportedError("a sum within a sum over a window is not written as code yet")
        outer = self.kept, self.entry
        self.kept, self.entry = True, ""
        text = self.value(node.body).text
        self.kept, self.entry = outer
        if self.name not in text:
            raise UnsupportedError("a sum that does not run over the window's entries is not written as code yet")
        return Code(self.over(op, text, self.kept))

    def over(self, op: str, text: str, kept: bool) -> str:
        """np.max(text) over the entries within the input."""
        options = self.options(kept)
        inside = self.taken(self.inside).text if self.inside else ""
        if inside and is_middle(op):
            return f"np.nanmedian(np.where({inside}, {text}, np.nan){options})"
        if inside:
            options += f", where={inside}"
        if (inside or self.layer.missed) and op in ("max", "min"):
            options += f", initial={worst(op)}"
        return f"np.{op}({text}{options})"

    def tied(self, arg: ex.Arg) -> str:
        """All entries at which the body is as large as anywhere in the window."""
        score = self.value(arg.body).text
        test = f"{score} == {self.over(arg.op, score, True)}"
        return f"{self.inside} & ({test})" if self.inside else test


def worst(op: str) -> str:
    return "-np.inf" if op == "max" else "np.inf"


def times(upstream: str, slope: Code) -> str:
    if slope.text == "1":
        return upstream
    first, _, rest = slope.text.partition(" / ")
    if first == "1" and slope.level == PRODUCT:
        return f"{upstream} / {rest}"
    return f"{upstream} * {slope.at(SIGN)}" if slope.level != PRODUCT else f"{upstream} * {slope.text}"
