"""A layer of formulas as functions: each definition in its order, as plain loops or as the arrays have it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import cast

import derive.expr as ex
from derive.affine import Affine, Range
from derive.calculus.derivation import Step
from derive.calculus.messages import Messages
from derive.calculus.ranges import natural
from derive.calculus.vanishing import at_kinks
from derive.errors import UnsupportedError
from derive.listing import window_lines
from derive.listing.code import CHOICE, Code, Printer
from derive.listing.scope import Definition, Loop, Scope, Taps, star_name, taps
from derive.listing.windows import Pass, Windowed, field_of, output_size, windowed
from derive.module import Module
from derive.reductions import REDUCTIONS, is_middle


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
                body = self.value(loop.body).at(CHOICE)
                terms = f"{body} {self.clauses(loop)}"
                found = Code(f"{op}({terms})" if hasattr(builtins, op) else REDUCTIONS[op].numpy.format(f"[{terms}]"))
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
            return Loop((*loop.variables, *inner.variables), (*loop.counts, *inner.counts), inner.cond, inner.body)
        return loop

    def subscripted(self, name: str, at: list[ex.Expr]) -> Code:
        return Code(f"{name}[{', '.join(self.value(t).text for t in at)}]" if at else name)

    def clauses(self, loop: Loop) -> str:
        runs = [f"for {v.name} in range({self.value(n).text})"
                for v, n in zip(loop.variables, loop.counts, strict=True)]
        if loop.cond is not None:
            runs.append(f"if {self.condition(loop.cond).text}")
        return " ".join(runs)

    def selected(self, node: ex.Arg) -> Code:
        """The index at which the body is largest, under the layer's tie rule."""
        if self.module.tie_rule == "split" or is_middle(node.op) or node.binder.cond is not None:
            raise UnsupportedError("shares among tied entries are written as code for windows only")
        loop = self.scope.opened(node, self.indices)
        (v,), (count,) = loop.variables, loop.counts
        self.indices.append(v)
        run = f"range({self.value(count).text})"
        run = f"reversed({run})" if self.module.tie_rule == "last" else run
        found = Code(f"{node.op}({run}, key=lambda {v.name}: {self.value(loop.body).text})")
        self.indices.pop()
        return found


def loops(definition: Definition | Pass, scope: Scope) -> tuple[list[str], list[str]]:
    """The loops of a definition, and the sizes that they name."""
    if isinstance(definition, Pass):
        return window_lines.loops(definition)
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
    places = [ex.add(ex.mul(ex.Num(steps[i][1]), k), steps[i][0]) if i in steps else k
              for i, k in zip(definition.indices, inner.indices, strict=True)]
    at = ", ".join(printer.value(p).text for p in places)
    found.append("    " * len(variables) + f"{definition.name}[{at}] += {printer.value(inner.value).text}")
    return found, list(printer.sizes)


def _zeros(definition: Definition, printer: Scalars) -> str:
    size = printer.shape(definition.counts)
    return f"{definition.name} = np.zeros({size}{', int' if isinstance(definition.value, ex.Arg) else ''})"


def _nested(variables: tuple[ex.Idx, ...], counts: tuple[ex.Expr, ...], printer: Scalars) -> list[str]:
    return ["    " * depth + f"for {v.name} in range({printer.value(n).text}):"
            for depth, (v, n) in enumerate(zip(variables, counts, strict=True))]


Lines = Callable[[Definition | Pass, Scope], tuple[list[str], list[str]]]


def functions(messages: Messages, style: Lines) -> str:
    """``def layer(x, W): …`` and ``def layer_backward(upstream, x, W): …`` in a style of lines.

    Raises :class:`UnsupportedError` where a formula has no code in that style.
    """
    scope = Scope(messages)
    over = windowed(scope)
    name, given = function_name(messages), [scope.name(t) for t in messages.letters]
    output = scope.name(messages.module.output)
    forward = _needed(scope, [output], over)
    backward = _messages(scope, over)
    kept = [scope.name(n.tensor) for d in backward for n in ex.walk(d.value) if isinstance(n, ex.Entry)]
    stars = [star_name(n.name) for d in backward for n in ex.walk(d.value) if isinstance(n, ex.Star)]
    again = _needed(scope, list(dict.fromkeys([*kept, *stars])), over)
    value = []
    if messages.module.output in over and {d.name for d in again} & {*kept, *stars} == {output}:
        again, value = [], [f"{output} = {name}({', '.join(given)})"]  # all that is needed again is what it returns
    gradients = results(messages)
    return "\n\n\n".join((
        _function(name, given, forward, output, scope, style),
        _function(f"{name}_backward", ["upstream", *given], [*again, *backward], ", ".join(gradients), scope, style,
                  value),
    )) + "\n"


def targets(messages: Messages) -> tuple[str, ...]:
    """The letters whose gradients the backward function returns."""
    return (*messages.given.inputs, *messages.given.parameters)


def results(messages: Messages) -> tuple[str, ...]:
    """What the backward function returns, in order."""
    return tuple(Scope(messages).name(f"delta_{t}") for t in targets(messages))


def function_name(messages: Messages) -> str:
    name = messages.given.name or "layer"
    return name if name.isidentifier() else "layer"


def _needed(scope: Scope, names: list[str], over: dict[str, Windowed]) -> list[Definition | Pass]:
    """The equations, and the maximisers, that lead to some names, in the order of evaluation."""
    definitions: dict[str, Definition | Pass] = {}
    for equation in scope.module.equations:
        entry, value = equation.terms
        assert isinstance(entry, ex.Entry)
        windows = over.get(entry.tensor)
        definitions[scope.name(entry.tensor)] = Pass(windows) if windows else scope.definition(entry, value)
    definitions |= {star_name(s): scope.star(s) for s in scope.messages.star_definitions if star_name(s) in names}
    found: list[Definition | Pass] = []

    def visit(name: str) -> None:
        definition = definitions.get(name)
        if definition is None or definition in found:
            return
        for node in ex.walk(definition.value):
            if isinstance(node, ex.Entry):
                visit(scope.name(node.tensor))
        found.append(definition)

    for name in names:
        visit(name)
    return found


def _messages(scope: Scope, over: dict[str, Windowed]) -> list[Definition | Pass]:
    """δ of each tensor in between, and of each letter, in an order in which each follows from those before it."""
    module = scope.module
    steps = {s.before: s for t in targets(scope.messages) for s in scope.messages.stages(t)}
    order = {f"delta_{t}": n for n, t in enumerate((*reversed(module.defined), *targets(scope.messages)))}
    ordered = sorted(steps.values(), key=lambda s: order[cast(ex.Entry, s.before).tensor])
    rest = {cast(ex.Entry, s.before).tensor.removeprefix("delta_"): (cast(ex.Entry, s.before),
                                                                     _elsewhere(s, scope, over))
            for s in ordered}
    alone = [t for t, (_, value) in rest.items() if value is ex.ZERO and len(_readers(t, module)) == 1]
    found: list[Definition | Pass] = []
    for letter, (entry, value) in rest.items():
        layers = [over[t] for t in _readers(letter, module) if t in over]
        if value is not ex.ZERO or not layers:
            found.append(scope.definition(entry, value))
        for layer in layers:
            together = tuple(t for t in alone if t in module.sources(layer.output))  # in one loop, with the first
            if letter not in alone:
                found.append(Pass(layer, (letter,), value is not ex.ZERO or layer is not layers[0]))
            elif letter == together[0]:
                found.append(Pass(layer, together))
    return found


def _readers(letter: str, module: Module) -> list[str]:
    return [t for t in module.defined if letter in module.sources(t)]


def _elsewhere(message: Step, scope: Scope, over: dict[str, Windowed]) -> ex.Expr:
    """What a message has from formulas without windows."""
    value = at_kinks(cast(ex.Expr, message.after), scope.module)
    through = {f"delta_{t}"
               for t in _readers(cast(ex.Entry, message.before).tensor.removeprefix("delta_"), scope.module)}
    rest: list[ex.Expr] = []
    for term in value.terms if isinstance(value, ex.Add) else (value,):
        users = {n.tensor.removeprefix("delta_") for n in ex.walk(term) if isinstance(n, ex.Entry)
                 and n.tensor in through}
        if not users & set(over):
            rest.append(term)
        elif len(users) > 1:
            raise UnsupportedError("a gradient from windows and other formulas in one term is not written as code yet")
    return ex.add(*rest)


def _function(name: str, arguments: list[str], body: list[Definition | Pass], result: str, scope: Scope, style: Lines,
              first: Iterable[str] = ()) -> str:  # fmt: skip
    written, wanted = [*first], []
    for definition in body:
        lines, sizes = style(definition, scope)
        written += lines
        wanted += sizes
    declared = _sizes(list(dict.fromkeys(wanted)), "upstream" in arguments, scope, "\n".join(written))
    lines = [f"def {name}({', '.join(arguments)}):", *(f"    {line}" for line in (*declared, *written))]
    last = written[-1] if written else ""
    single = last.startswith(f"{result} = ") and len(body) > 0 and result.isidentifier()
    if single:  # what is returned at once needs no name
        lines[-1] = f"    return {last.removeprefix(f'{result} = ')}"
    else:
        lines.append(f"    return {result}")
    return "\n".join(lines)


def _sizes(wanted: list[str], backward: bool, scope: Scope, body: str) -> list[str]:
    """``n, m = W.shape`` and so on, in an order in which each is known when it is used."""
    holders = [(scope.name(t), t) for t in scope.messages.letters]
    if backward:
        holders.append(("upstream", scope.module.output))
    found: list[str] = []
    known: set[str] = set()

    def lookup(size: str) -> None:
        if size in known:
            return
        for name, tensor in holders:
            symbol = scope.module.table.named(tensor)
            sizes = symbol.sizes if symbol is not None else ()
            if size in sizes:
                fresh = [s for s in sizes if isinstance(s, str) and s not in known]
                if len(sizes) > 1 and len(fresh) == len(sizes) == len(set(sizes)) and set(fresh) <= set(wanted):
                    found.append(f"{', '.join(fresh)} = {name}.shape")
                    known.update(fresh)
                else:
                    axis = sizes.index(size)
                    found.append(f"{size} = len({name})" if axis == 0 else f"{size} = {name}.shape[{axis}]")
                    known.add(size)
                return
        expression = reached(size, scope)
        for part in ex.walk(expression):
            if isinstance(part, ex.Size):
                lookup(part.name)
        found.append(f"{size} = {Scalars(scope, ()).value(expression).text}")
        known.add(size)

    for size in wanted:
        lookup(size)
    return found


def reached(size: str, scope: Scope) -> ex.Expr:
    """How many values an output's index takes: all that keep x_{s k + a} in range."""
    for equation in scope.module.equations:
        entry, value = equation.terms
        assert isinstance(entry, ex.Entry)
        symbol = scope.module.table.named(entry.tensor)
        if symbol is None or size not in symbol.sizes:
            continue
        v = entry.indices[symbol.sizes.index(size)]
        own = (entry.tensor, symbol.sizes.index(size))
        stated = [length for *slot, length in scope.module.ranges if tuple(slot) == own]
        if stated:
            return stated[0]
        field = field_of(value, scope.module)
        if field is not None:
            axis, source = symbol.sizes.index(size), windowed(scope)[entry.tensor].source
            return output_size(field.axes[axis], scope.extent(source, axis))
        ranges = _ranges(value, scope)
        for node in ex.walk(value):
            if isinstance(node, ex.Rel) and node.ops == ("≤", "<") and node.terms[0] == ex.ZERO:
                form = Affine.of(node.terms[1])  # 0 ≤ v − p < A
                behind = form.without(v).times(-1).end(ranges, top=True)
                if form.coefficients.get(v) == 1 and behind is not None:
                    return Affine.of(node.terms[2]).plus(behind).expr()
            if not isinstance(node, ex.Entry):
                continue
            for d, term in enumerate(node.indices):
                form = Affine.of(term)
                step, top = form.coefficients.get(v, 0), form.without(v).end(ranges, top=True)
                if term is v or step <= 0 or step.denominator != 1 or top is None:
                    continue
                first = scope.origin(entry.tensor, symbol.sizes.index(size))
                last = ex.add(scope.extent(node.tensor, d), ex.Num(scope.origin(node.tensor, d) - 1 - step * first))
                room = Affine.of(last).minus(top).expr()
                if step == 1:
                    return Affine.of(ex.add(room, ex.ONE)).expr()
                return ex.add(ex.Fn("floor", (ex.Mul((room, ex.Pow(ex.Num(step), ex.MINUS_ONE))),)), ex.ONE)
    raise UnsupportedError(f"how large `{size}` is does not follow from one index term")


def _ranges(value: ex.Expr, scope: Scope) -> dict[ex.Idx, Range]:
    """Where each bound index runs."""
    found: dict[ex.Idx, Range] = {}
    for node in ex.walk(value):
        for v, low, high in zip(*node.binder.parts()[:3], strict=True) if isinstance(node, ex.Reduce) else ():
            run = Range(low or ex.ZERO, high) if high is not None else natural(v, node, scope.module)
            found |= {} if run is None else {v: run}
    return found
