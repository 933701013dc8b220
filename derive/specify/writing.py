"""A layer as the statement from which it can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import derive.expr as ex
from derive.axes import axes, stands, stepping, unused, with_axes
from derive.module import ROLES, Module, Update
from derive.notation import write
from derive.notation.symbols import Kind, Symbol, SymbolTable, latex_of, split_label
from derive.notation.term_writer import decimal, ends
from derive.pointers import pointers
from derive.receptive_field import ReceptiveField
from derive.specify.declared import UNKNOWN
from derive.statement import Statement
from derive.window_axis import AdaptiveAxis, WindowAxis


def statement_of(module: Module) -> Statement:
    """The statement of a module: written as front matter it gives the module again."""
    table = module.table
    values: dict[str, Any] = {
        "forward": [write(_ranged(module, equation), table) for equation in module.equations],
        "functions": [write(ex.eq(ex.Fn(f.name, tuple(ex.Entry(p, ()) for p in f.parameters)), f.body), table)
                      for f in module.functions],
        **{role: [_latex(table, name) for name in getattr(module, role)] for role in ROLES},
        "shapes": list(_shapes(module)),
        "ranges": list(_pointed(module)),
        "facts": [write(fact, table) for fact in module.facts],
    }
    values = {key: value for key, value in values.items() if value}
    loss, message = table.named("loss"), table.named(f"delta_{module.output}")
    if loss is None and not module.fields:  # as the sheet calls it
        loss = Symbol("loss", unused(with_axes(module).table, "LEJCQ")[0], Kind.TENSOR)
        table = table.extended([loss])
    if loss is not None and (loss.latex != "L" or module.fields):
        values["loss"] = loss.latex
    values["derive"] = [*_kinds(module), *_steps(module, table), *(["mask"] if module.masks else [])]
    if message is not None and message.latex != _usual(table, module.output):
        values["upstream"] = message.latex
    if split_label(_latex(table, module.output))[1] is not None:
        values["output"] = _latex(table, module.output)
    if module.fields:
        values |= _geometry(module.fields[0][1])
    if module.input_size is not None:
        values["input_size"] = module.input_size
    if module.tie_rule != "first":
        values["tie_rule"] = module.tie_rule
    if module.values:
        usual = _usual(table, module.output)
        letters = {f"delta_{module.output}": usual if message is None else message.latex}
        sizes = {u.rate: (((), u.size),) for u in module.updates if u.size is not None}
        values["values"] = [f"{letters.get(name) or _latex(table, name)} = {_literal(dict(entries), module.decimals)}"
                            for name, entries in (*module.values, *sizes.items())]
    return Statement(**values)


def _latex(table: SymbolTable, name: str) -> str:
    known = table.named(name)
    return known.latex if known is not None else latex_of(name) if name.isidentifier() else name


def _pointed(module: Module) -> Iterator[str]:
    r"""y \in \{1, \dots, K\} of a label, an index of s."""
    sized = with_axes(module).table
    for name, (tensor, axis) in pointers(module).items():
        symbol, first = sized.named(tensor), axes(module).origin(tensor, axis)
        if symbol is not None and symbol.sizes and not (module.table.named(name) or symbol).axes:
            size = symbol.sizes[axis]
            last = size - 1 + first if isinstance(size, int) else _latex(sized, size) + ("" if first else " - 1")
            yield rf"{_latex(module.table, name)} \in \{{{first}, \dots, {last}\}}"


def _steps(module: Module, table: SymbolTable) -> Iterator[str]:
    r"""The derivatives that are named, and W \leftarrow W - \eta \frac{∂ℓ}{∂W} for each step."""
    taken = {(u.of, u.wrt): u for u in module.updates}
    for wanted in module.wanted:
        ends_ = tuple(e.tensor for e in (wanted.of, wanted.wrt) if isinstance(e, ex.Entry))
        update = taken.pop(ends_, None) if len(ends_) > 1 else None  # type: ignore[arg-type]
        yield write(wanted, table) if update is None else _step(update, wanted, table)
    for update in taken.values():  # whose messages are asked for as such
        yield _step(update, ex.Partial(ex.Entry(update.of, ()), ex.Entry(update.wrt, ())), table)


def _step(update: Update, gradient: ex.Partial, table: SymbolTable) -> str:
    letter = _latex(table, update.wrt)
    return rf"{letter} \leftarrow {letter} - {_latex(table, update.rate)} {write(gradient, table)}"


def _literal(entries: Mapping[tuple[int, ...], Fraction], decimals: bool) -> str:
    """A number, or a matrix; a vector as a column."""
    def number(n: Fraction) -> str:
        return "-" * (n < 0) + decimal(abs(n)) if decimals and ends(n) else str(n)

    if () in entries:
        return number(entries[()])
    rows = r" \\ ".join(" & ".join(number(n) for at, n in sorted(entries.items()) if at[0] == row)
                       for row in sorted({at[0] for at in entries}))
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"


def _usual(table: SymbolTable, output: str) -> str:
    r"""\delta_f, \delta_{y}."""
    script = _latex(table, output)
    return rf"\delta_{script if len(script) == 1 else f'{{{script}}}'}"


def _kinds(module: Module) -> Iterator[str]:
    """The kinds of messages asked for, of those that derivatives say only the forward one."""
    asked = [kind for kind in module.asked if kind == "forward" or not module.wanted]
    both = [kind for kind in asked if kind in ("jacobian", "vjp")]  # their order counts where there are windows
    if both == ["jacobian", "vjp"] or ("vjp" in both and not module.fields):
        asked = [*(kind for kind in asked if kind not in both), "backward"]
    return (kind for kind in ("forward", "vjp", "jacobian", "backward", "parameters") if kind in asked)


def _ranged(module: Module, equation: ex.Rel) -> ex.Node:
    """The equation as the question counts it, with the range of each index that has one of its own."""
    head, value = equation.terms
    assert isinstance(head, ex.Entry) and isinstance(value, ex.Expr)
    first: dict[int, ex.Expr] = {}
    if module.recounted is not None and module.recounted[0].tensor == head.tensor:
        here, there = module.recounted
        for d, (i, t) in enumerate(zip(here.indices, there.indices, strict=True)):
            if i is not t:
                first[d] = _collected(ex.add(t, ex.mul(ex.MINUS_ONE, i)))
                value = ex.transform(ex.subst(value, {i: ex.add(i, ex.mul(ex.MINUS_ONE, first[d]))}), _reindexed)
    bounds = []
    for tensor, axis, length in module.ranges:
        if tensor == head.tensor:
            origin = ex.Num(axes(module).origin(tensor, axis))
            low = _collected(ex.add(origin, first.get(axis, ex.Num(0))))
            high = ex.add(low, length, ex.MINUS_ONE)
            bounds.append(ex.Rel((low, head.indices[axis], _collected(high) if first else high), ("≤", "≤")))
    if module.first is not None and not bounds:
        stepped = (v for v in head.indices if isinstance(v, ex.Idx) and (stepping(v, value) or stands(v, value)))
        bounds = [ex.Rel((v, ex.Num(module.first)), ("≥",)) for v in stepped]
    return ex.And((ex.eq(head, value), *bounds)) if bounds else ex.eq(head, value)


def _reindexed(node: ex.Node) -> ex.Node | None:
    return ex.Entry(node.tensor, tuple(map(_collected, node.indices))) if isinstance(node, ex.Entry) else None


def _collected(term: ex.Expr) -> ex.Expr:
    """The sum with like terms together: k of n + k − n."""
    counts: dict[ex.Expr, Fraction] = {}
    waiting = [(term, Fraction(1))]
    while waiting:
        part, factor = waiting.pop(0)
        if isinstance(part, ex.Add):
            waiting = [*((t, factor) for t in part.terms), *waiting]
        elif isinstance(part, ex.Mul) and isinstance(part.factors[0], ex.Num):
            waiting.insert(0, (ex.mul(*part.factors[1:]), factor * part.factors[0].value))
        else:
            key, number = (ex.ONE, part.value) if isinstance(part, ex.Num) else (part, Fraction(1))
            counts[key] = counts.get(key, Fraction(0)) + factor * number
    return ex.add(*(ex.mul(ex.Num(n), key) for key, n in counts.items() if n))


def _shapes(module: Module) -> Iterator[str]:
    """The shapes of all tensors; a number's only where its letter has a label."""
    table = module.table if module.fields else with_axes(module).table
    for name in (*module.inputs, *module.parameters, *module.constants, *module.defined):
        symbol = table.named(name)
        if symbol is None or symbol.above or (not symbol.axes and split_label(symbol.latex)[1] is None):
            continue
        sizes = symbol.sizes or ("",) * len(symbol.axes)
        if module.fields and not any(sizes) and split_label(symbol.latex)[1] is None:
            continue  # its indices say as much
        extents = r" \times ".join(str(n) if isinstance(n, int) else _latex(table, n) if n else UNKNOWN for n in sizes)
        yield rf"{symbol.latex} \in \mathbb{{R}}" + (f"^{{{extents}}}" if extents else "")


def _geometry(field: ReceptiveField) -> dict[str, Any]:
    """The keys of the windows, those with their usual value left out."""
    adaptive = [a.outputs for a in field.axes if isinstance(a, AdaptiveAxis)]
    if adaptive:
        return {"output_size": adaptive}
    windows = [a for a in field.axes if isinstance(a, WindowAxis)]
    found: dict[str, Any] = {"kernel_size": [a.kernel_size for a in windows], "stride": [a.stride for a in windows]}
    if any(a.padding or a.padding_after for a in windows):
        found["padding"] = [a.padding if a.padding == a.padding_after else (a.padding, a.padding_after)
                            for a in windows]
    if any(a.dilation > 1 for a in windows):
        found["dilation"] = [a.dilation for a in windows]
    if any(a.ceil_mode for a in windows):
        found["ceil_mode"] = True
    return found
