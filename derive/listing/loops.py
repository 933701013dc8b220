"""A definition in plain loops: each entry by itself, and what each window adds to its cells."""

from __future__ import annotations

import builtins

import derive.expr as ex
from derive.listing.code import CHOICE, PRODUCT, Code, Printer
from derive.listing.scope import Cells, Definition, Loop, Scope, star_name
from derive.listing.windows import Scatter, refuse, scattered, worst
from derive.receptive_field import WindowAxis
from derive.reductions import REDUCTIONS


class Scalars(Printer):
    """Values of single entries."""

    def __init__(self, scope: Scope, indices: tuple[ex.Idx, ...]) -> None:
        super().__init__(scope.module)
        self.scope, self.indices = scope, list(indices)

    def index(self, node: ex.Idx) -> Code:
        return Code(node.name)

    def bound(self, node: ex.Expr) -> Code:
        match node:
            case ex.Entry(tensor):
                return self.subscripted(self.scope.name(tensor), self.scope.place(node))
            case ex.Star(name):
                return self.subscripted(star_name(name), self.scope.star_place(node))
            case ex.Reduce(op):
                loop = self.opened(node)
                terms = f"{self.counted(op, loop.body).at(CHOICE)} {self.clauses(loop)}"
                if loop.missed and op in ("max", "min"):
                    terms = f"({terms}), default={worst(op)}"
                plain = hasattr(builtins, op) and not (loop.missed and op == "sum")  # NumPy's zero may be divided by
                found = Code(f"{op}({terms})" if plain else REDUCTIONS[op].numpy.format(f"[{terms}]"))
                del self.indices[-len(loop.variables):]
                return found
            case ex.Arg():
                return self.selected(node)
        return super().bound(node)

    def opened(self, node: ex.Reduce) -> Loop:
        """The loop of a sum, with that of a sum directly inside it."""
        loop = self.scope.opened(node, self.indices)
        self.indices += loop.variables
        inside = loop.body
        if node.op == "sum" and loop.cond is None and isinstance(inside, ex.Reduce) and inside.op == "sum":
            inner = self.opened(inside)
            return Loop((*loop.variables, *inner.variables), (*loop.counts, *inner.counts), inner.cond, inner.body,
                        loop.cells | inner.cells)
        return loop

    def subscripted(self, name: str, at: list[ex.Expr]) -> Code:
        return Code(f"{name}[{', '.join(self.value(t).text for t in at)}]" if at else name)

    def clauses(self, loop: Loop) -> str:
        runs = [f"for {v.name} in {run}" for v, run in zip(loop.variables, self.runs(loop), strict=True)]
        if loop.cond is not None:
            runs.append(f"if {self.condition(loop.cond).text}")
        return " ".join(runs)

    def runs(self, loop: Loop) -> list[str]:
        return [self.cells(loop.cells[v]) if v in loop.cells else f"range({self.value(n).text})"
                for v, n in zip(loop.variables, loop.counts, strict=True)]

    def cells(self, cells: Cells) -> str:
        """The range of a window's cells within the input."""
        axis, k, n = cells.axis, self.value(cells.at).at(PRODUCT), self.value(cells.extent).text
        if not isinstance(axis, WindowAxis):
            after = self.value(ex.add(cells.at, ex.ONE)).at(PRODUCT)
            return f"range({k} * {n} // {axis.output_size(1)}, -(-{after} * {n} // {axis.output_size(1)}))"
        first = ex.mul(ex.Num(axis.stride), cells.at)
        start, stop = (self.value(ex.add(first, ex.Num(by - axis.padding))).text for by in (0, axis.span))
        if axis.padding:
            start = f"max(0, {start})" if axis.dilation == 1 else f"max({start}, ({start}) % {axis.dilation})"
        stop = f"min({n}, {stop})" if axis.padded else stop
        return f"range({start}, {stop}" + (f", {axis.dilation})" if axis.dilation > 1 else ")")

    def selected(self, node: ex.Arg) -> Code:
        """The index, or tuple of indices, at which the body is largest, under the layer's tie rule."""
        loop = self.scope.opened(node, self.indices)
        refuse(loop, node.op, self.module.tie_rule)
        self.indices += loop.variables
        runs = self.runs(loop)
        if self.module.tie_rule == "last":
            runs = [f"reversed({run})" for run in runs]
        if len(runs) == 1:
            over, at, key = runs[0], loop.variables[0].name, self.value(loop.body).text
        else:
            letters, at = [v.name for v in loop.variables], "at"
            clauses = " ".join(f"for {v} in {run}" for v, run in zip(letters, runs, strict=True))
            over, parts = f"(({', '.join(letters)}) {clauses})", [f"at[{n}]" for n in range(len(letters))]
            body = ex.subst(loop.body, dict(zip(loop.variables, map(ex.Idx, parts), strict=True)))
            key = self.value(body).text.replace(f"[{', '.join(parts)}]", "[at]")
        del self.indices[-len(loop.variables):]
        return Code(f"{node.op}({over}, key=lambda {at}: {key})")


def lines(definition: Definition, scope: Scope) -> tuple[list[str], list[str]]:
    """The loops of a definition, and the sizes that they name."""
    scatter = scattered(definition, scope)
    if scatter is not None:
        return _spread(definition, scatter, scope)
    printer = Scalars(scope, definition.indices)
    value = printer.value(definition.value).text
    if not definition.indices:
        return [f"{definition.name} = {value}"], list(printer.sizes)
    at = ", ".join(v.name for v in definition.indices)
    entries = ", ".join(f"{name}[{at}]" for name in definition.name.split(", "))
    runs = dict(zip(definition.indices, definition.counts, strict=True))
    found = [_zeros(definition, printer), *_nested(runs, printer)]
    return [*found, "    " * len(definition.indices) + f"{entries} = {value}"], list(printer.sizes)


def _spread(definition: Definition, scatter: Scatter, scope: Scope) -> tuple[list[str], list[str]]:
    """What each k, and each a or cell of its window, adds to the entry at its place."""
    printer = Scalars(scope, (*scatter.counts, *scatter.taps, *scatter.cells))
    found = [_zeros(definition, printer), *_nested(scatter.counts | scatter.taps, printer)]
    for v, cells in scatter.cells.items():
        found.append("    " * (len(found) - 1) + f"for {v.name} in {printer.cells(cells)}:")
    at = ", ".join(printer.value(p).text for p in scatter.places)
    found.append("    " * (len(found) - 1) + f"{definition.name}[{at}] += {printer.value(scatter.body).text}")
    return found, list(printer.sizes)


def _zeros(definition: Definition, printer: Scalars) -> str:
    counts, parts = definition.counts, definition.name.count(",") + 1
    size = printer.shape(counts if parts == 1 else (ex.Num(parts), *counts))
    return f"{definition.name} = np.zeros({size}{', int' if isinstance(definition.value, ex.Arg) else ''})"


def _nested(runs: dict[ex.Idx, ex.Expr], printer: Scalars) -> list[str]:
    return ["    " * depth + f"for {v.name} in range({printer.value(n).text}):"
            for depth, (v, n) in enumerate(runs.items())]
