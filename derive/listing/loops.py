"""A formula as plain loops: a ``for`` for each index of what is defined, a generator for each sum."""

from __future__ import annotations

from derive.errors import UnsupportedError
from derive.expr import Arg, Entry, Expr, Idx, Num, Reduce, Star, add, mul
from derive.listing.code import CHOICE, Code, Printer
from derive.listing.scope import Definition, Loop, Scope, star_name
from derive.listing.taps import Taps, taps

_REDUCTIONS = {"sum": "sum({})", "max": "max({})", "min": "min({})", "prod": "np.prod([{}])",
               "median": "np.median([{}])"}


class Scalars(Printer):
    """Values of single entries."""

    def __init__(self, scope: Scope, indices: tuple[Idx, ...]) -> None:
        super().__init__(scope.module)
        self.scope, self.indices = scope, list(indices)
        self.sizes: dict[str, None] = {}

    def index(self, node: Idx) -> Code:
        return Code(node.name)

    def size(self, name: str) -> str:
        self.sizes[name] = None
        return name

    def bound(self, node: Expr) -> Code:
        match node:
            case Entry(tensor):
                return self.subscripted(self.scope.name(tensor), self.scope.place(node))
            case Star(name):
                return self.subscripted(star_name(name), self.scope.star_place(node))
            case Reduce(op):
                loop = self.opened(node)
                body = self.value(loop.body).at(CHOICE)
                found = Code(_REDUCTIONS[op].format(f"{body} {self.clauses(loop)}"))
                del self.indices[-len(loop.variables):]
                return found
            case Arg():
                return self.selected(node)
        return super().bound(node)

    def opened(self, node: Reduce) -> Loop:
        """The loop of a sum, with that of a sum directly inside it."""
        loop = self.scope.opened(node, self.indices)
        self.indices += loop.variables
        inside = loop.body
        if node.op == "sum" and loop.cond is None and isinstance(inside, Reduce) and inside.op == "sum":
            inner = self.opened(inside)
            return Loop((*loop.variables, *inner.variables), (*loop.counts, *inner.counts), inner.cond, inner.body)
        return loop

    def subscripted(self, name: str, at: list[Expr]) -> Code:
        return Code(f"{name}[{', '.join(self.value(t).text for t in at)}]" if at else name)

    def clauses(self, loop: Loop) -> str:
        runs = [f"for {v.name} in range({self.value(n).text})"
                for v, n in zip(loop.variables, loop.counts, strict=True)]
        if loop.cond is not None:
            runs.append(f"if {self.condition(loop.cond).text}")
        return " ".join(runs)

    def selected(self, node: Arg) -> Code:
        """The index at which the body is largest, under the layer's tie rule."""
        if self.module.tie_rule == "split" or node.op == "median" or node.binder.cond is not None:
            raise UnsupportedError("shares among tied entries are written as code for windows only")
        loop = self.scope.opened(node, self.indices)
        (v,), (count,) = loop.variables, loop.counts
        self.indices.append(v)
        run = f"range({self.value(count).text})"
        run = f"reversed({run})" if self.module.tie_rule == "last" else run
        found = Code(f"{node.op}({run}, key=lambda {v.name}: {self.value(loop.body).text})")
        self.indices.pop()
        return found


def lines(definition: Definition, scope: Scope) -> tuple[list[str], list[str]]:
    """The lines of a definition, and the sizes that they name."""
    steps = taps(definition, scope)
    if steps is not None:
        return _spread(definition, *steps, scope)
    printer = Scalars(scope, definition.indices)
    value = printer.value(definition.value).text
    if not definition.indices:
        return [f"{definition.name} = {value}"], list(printer.sizes)
    found = [_zeros(definition, printer), *_nested(definition.indices, definition.counts, printer)]
    at = ", ".join(v.name for v in definition.indices)
    found.append("    " * len(definition.indices) + f"{definition.name}[{at}] = {value}")
    return found, list(printer.sizes)


def _spread(definition: Definition, steps: Taps, inner: Definition, scope: Scope) -> tuple[list[str], list[str]]:
    """A sum over k under 0 ≤ i − s k < A: each k and a add to the entry i = s k + a."""
    letters = [tap for tap, _, _ in steps.values()]
    printer = Scalars(scope, (*inner.indices, *letters))
    found = [_zeros(definition, printer)]
    variables = (*inner.indices, *letters)
    found += _nested(variables, (*inner.counts, *(n for _, _, n in steps.values())), printer)
    places = [add(mul(Num(steps[i][1]), k), steps[i][0]) if i in steps else k
              for i, k in zip(definition.indices, inner.indices, strict=True)]
    at = ", ".join(printer.value(p).text for p in places)
    found.append("    " * len(variables) + f"{definition.name}[{at}] += {printer.value(inner.value).text}")
    return found, list(printer.sizes)


def _zeros(definition: Definition, printer: Scalars) -> str:
    counts = [printer.value(n).text for n in definition.counts]
    size = counts[0] if len(counts) == 1 else f"({', '.join(counts)})"
    return f"{definition.name} = np.zeros({size}{', int' if isinstance(definition.value, Arg) else ''})"


def _nested(variables: tuple[Idx, ...], counts: tuple[Expr, ...], printer: Scalars) -> list[str]:
    return ["    " * depth + f"for {v.name} in range({printer.value(n).text}):"
            for depth, (v, n) in enumerate(zip(variables, counts, strict=True))]
