"""A layer of formulas as functions: each definition in its order, in the lines of a style."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import derive.expr as ex
from derive.affine import Affine, Range
from derive.calculus.messages import Messages
from derive.calculus.ranges import natural
from derive.calculus.vanishing import at_kinks
from derive.errors import UnsupportedError
from derive.listing.loops import Scalars
from derive.listing.scope import Definition, Scope, star_name
from derive.listing.windows import output_size, scattered, shared

Lines = Callable[[Definition, Scope], tuple[list[str], list[str]]]


def functions(messages: Messages, style: Lines) -> str:
    """``def layer(x, W): …`` and ``def layer_backward(upstream, x, W): …`` in a style of lines.

    Raises :class:`UnsupportedError` where a formula has no code in that style.
    """
    scope = Scope(messages)
    name, given = function_name(messages), [scope.name(t) for t in messages.letters]
    output = scope.name(messages.module.output)
    backward = _messages(scope)
    kept = [scope.name(n.tensor) for d in backward for n in ex.walk(d.value) if isinstance(n, ex.Entry)]
    stars = [star_name(n.name) for d in backward for n in ex.walk(d.value) if isinstance(n, ex.Star)]
    again, first = _needed(scope, list(dict.fromkeys([*kept, *stars]))), []
    if [d.name for d in again if d.name in kept] == [output]:  # what it returns is all that is needed again
        again = _needed(scope, list(dict.fromkeys(stars)))
        first = [f"{output} = {name}({', '.join(given)})"]
    return "\n\n\n".join((
        _function(name, given, _needed(scope, [output]), output, scope, style, []),
        _function(f"{name}_backward", ["upstream", *given], [*again, *backward], ", ".join(results(messages)), scope,
                  style, first),
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


def _needed(scope: Scope, names: list[str]) -> list[Definition]:
    """The equations, and the maximisers, that lead to some names, in the order of evaluation."""
    definitions: dict[str, Definition] = {}
    for equation in scope.module.equations:
        entry, value = equation.terms
        assert isinstance(entry, ex.Entry)
        definitions[scope.name(entry.tensor)] = scope.definition(entry, value)
    definitions |= {star_name(s): scope.star(s) for s in scope.messages.star_definitions if star_name(s) in names}
    found: list[Definition] = []

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


def _messages(scope: Scope) -> list[Definition]:
    """δ of each tensor in between, and of each letter, in an order in which each follows from those before it."""
    steps = {s.before: s for t in targets(scope.messages) for s in scope.messages.stages(t)}
    order = {f"delta_{t}": n for n, t in enumerate((*reversed(scope.module.defined), *targets(scope.messages)))}
    found: list[Definition] = []
    for entry, step in sorted(steps.items(), key=lambda s: order[cast(ex.Entry, s[0]).tensor]):
        value = shared(at_kinks(cast(ex.Expr, step.after), scope.module), scope)
        terms = [scope.definition(cast(ex.Entry, entry), t)
                 for t in (value.terms if isinstance(value, ex.Add) else (value,))]
        apart = [d for d in terms if scattered(d, scope) is not None] if len(terms) > 1 else []
        rest = [d.value for d in terms if d not in apart]
        together = [replace(terms[0], value=ex.add(*rest))] if rest else []
        found += [replace(d, added=n > 0) for n, d in enumerate((*together, *apart))]
    return found


def _function(name: str, arguments: list[str], body: list[Definition], result: str, scope: Scope, style: Lines,
              first: list[str]) -> str:  # fmt: skip
    written, wanted = [*first], list[str]()
    for definition in body:
        lines, sizes = style(replace(definition, name="gradient") if definition.added else definition, scope)
        written += [*lines, f"{definition.name} = {definition.name} + gradient"] if definition.added else lines
        wanted += sizes
    written = _once(written)
    declared = _sizes(list(dict.fromkeys(wanted)), "upstream" in arguments, scope)
    lines = [f"def {name}({', '.join(arguments)}):", *(f"    {line}" for line in (*declared, *written))]
    last = written[-1] if written else ""
    single = last.startswith(f"{result} = ") and len(body) > 0 and result.isidentifier()
    if single:  # what is returned at once needs no name
        lines[-1] = f"    return {last.removeprefix(f'{result} = ')}"
    else:
        lines.append(f"    return {result}")
    return "\n".join(lines)


def _once(lines: list[str]) -> list[str]:
    """The lines without those that give a name what it has already."""
    found, held = list[str](), dict[str, str]()
    for line in lines:
        name, sign, text = line.partition(" = ")
        if sign and held.get(name) == text:
            continue
        if sign:  # what was made of the name's old value is another now
            held = {n: t for n, t in held.items() if not re.search(rf"\b{re.escape(name)}\b", t)}
            held |= {} if "np.zeros" in text else {name: text}
        for bound in re.findall(r"^for (.*) in ", line):
            held = {n: t for n, t in held.items() if n not in bound.split(", ")}
        found.append(line)
    return found


def _sizes(wanted: list[str], backward: bool, scope: Scope) -> list[str]:
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
        if stated:  # a whole number: (N - K) // 2 + 1
            form = Affine.of(stated[0])
            whole = math.lcm(*(c.denominator for c in (*form.coefficients.values(), form.constant)))
            return stated[0] if whole == 1 else ex.Fn("floor", (ex.Mul((form.times(whole).expr(), ex.Pow(
                ex.Num(whole), ex.MINUS_ONE))),))
        windows = [n for n in ex.walk(value) if isinstance(n, ex.SetApp) and v in n.args]
        if windows:
            d = windows[0].args.index(v)
            return output_size(scope.module.field(windows[0].name).axes[d],
                               scope.extent(*scope.windowed(windows[0].name)[d]))
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
