"""How the card was read: the letters, where their indices run, and the forward equations."""

from __future__ import annotations

import re

from derive.axes import axes, extent
from derive.calculus.messages import upstream as upstream_of
from derive.calculus.windows import covers, output_sizes
from derive.exposition.builder import Builder
from derive.exposition.pictures import pictures
from derive.exposition.subject import LOSS, Subject
from derive.expr import ZERO, Entry, Expr, Fn, Idx, Num, Partial, Rel, SetApp, conditions, eq, joined, tuple_of, walk
from derive.module import UNSAID, Function
from derive.notation.symbols import Symbol, is_own
from derive.sheet import Math

_ROLE = re.compile(r"(input|parameter|constant) (`\w+`) (\(.*\))")


def said(b: Builder, readings: tuple[str, ...]) -> None:
    """What was read from the card."""
    if readings:
        b.heading("heading_reading")
        b.bullets("readings", readings=list(map(b.lettered, together(readings))))


def together(readings: tuple[str, ...]) -> list[str]:
    """How each letter was read; several that were read alike stand together."""
    found: dict[tuple[str, str], list[str]] = {}
    for reading in readings:
        role = _ROLE.fullmatch(reading)
        found.setdefault((role[1], role[3]) if role else (reading, ""), []).extend([role[2]] if role else [])
    def said(kind: str, why: str, names: list[str]) -> str:
        taken = "taken as " if why == f"({UNSAID})" else ""
        return f"{taken}{kind}{'s' if len(names) > 1 else ''} {', '.join(names)} {why}" if names else kind

    return [said(kind, why, names) for (kind, why), names in found.items()]


def reading(b: Builder, subject: Subject) -> None:
    """What was read from the card, and its letters."""
    unsaid = {f"input `{name}` ({UNSAID})" for name in subject.held}
    said(b, tuple(r for r in subject.module.readings if r not in unsaid))
    if not subject.module.readings:
        b.heading("heading_reading")
    rows: dict[tuple[str, str], list[str]] = {}
    for name, role in _roles(subject).items():
        symbol = subject.module.table.named(name)
        if symbol is not None:
            letter = b.m(Entry(name, tuple(map(Idx, symbol.axes))))
            rows.setdefault((role, _ranges(b, subject, symbol)), []).append(letter)
    b.prose("letters", facts=[b.m(f) for f in subject.module.facts],
            rows=[(names, *row) for row, names in rows.items()])


def _roles(subject: Subject) -> dict[str, str]:
    module = subject.module
    kinds = {"input": module.inputs, "assumed": module.assumed, "parameter": module.parameters,
             "constant": (*subject.held, *module.constants), "intermediate": module.defined[:-1],
             "output": module.defined[-1:]}
    return {name: kind for kind, names in kinds.items() for name in names}


def _ranges(b: Builder, subject: Subject, symbol: Symbol) -> str:
    """0 ≤ k < K for each axis; a number for a scalar."""
    if not symbol.axes:
        return b.say("scalar")
    return ", ".join(b.m(run(subject, symbol, d)) for d in range(len(symbol.axes)))


def run(subject: Subject, symbol: Symbol, axis: int) -> Rel:
    """0 ≤ k < K, or 1 ≤ k ≤ K where the card counts from 1."""
    size: Expr = extent(symbol.sizes[axis])
    letter, origin = Idx(symbol.axes[axis]), axes(subject.module).origin(symbol.name, axis)
    return Rel((Num(1), letter, size), ("≤", "≤")) if origin else Rel((ZERO, letter, size), ("≤", "<"))


def sets(b: Builder) -> set[str]:
    """The windows that formulas speak of."""
    return {n.name for m in b.blocks if isinstance(m, Math) for n in walk(m.expr) if isinstance(n, SetApp)}


def windows(b: Builder, subject: Subject, among: set[str]) -> None:
    """2k ≤ i ≤ 2k + 1, …: what a window covers."""
    for name, field in subject.module.fields:
        symbol = subject.module.table.named(name)
        if name not in among or symbol is None or len(symbol.members) != len(symbol.axes):
            continue
        members, at = (tuple(map(Idx, letters)) for letters in (symbol.members, symbol.axes))
        b.prose("windows", window=b.m(SetApp(name, at)), members=b.m(tuple_of(members)), padded=field.padded,
                ranges=[b.m(c) for c in conditions(covers(members, at, subject.module, name).right)])


def sizes(b: Builder, subject: Subject) -> None:
    """How many outputs a layer of one equation over windows has."""
    module = subject.module
    if len(module.equations) > 1 or len(module.inputs) > 1 or len(module.fields) != 1:
        return
    source, output = module.table.named(module.inputs[0]), module.table.named(module.output)
    rank = len(module.fields[0][1].axes)
    if source is None or output is None or not len(source.sizes) == len(output.sizes) == rank:
        return
    found = output_sizes(module)
    if found and all(not isinstance(s.terms[1], Num) for s in found):
        own, axes_ = module.input_size or (), module.fields[0][1].axes
        b.prose("sizes", sizes=[b.m(s.terms[0]) for s in found], extents=[b.m(extent(n)) for n in source.sizes],
                own=list(own), outputs=[a.output_size(n) for a, n in zip(axes_, own, strict=False)])
        b.math("output_size", joined(found))


def forward(b: Builder, subject: Subject, told: set[str]) -> None:
    """The forward equations in order, the functions and windows in them but for those ``told``, and their pictures."""
    module, before = subject.module, len(b.blocks)
    b.heading("heading_forward")
    if "forward" not in module.asked:
        b.prose("forward", several=len(module.equations) > 1, functions=bool(module.functions))
        for equation in module.equations:
            b.math("forward", equation, definition=True)
    for each in module.functions:
        function(b, each)
    windows(b, subject, {name for name, _ in module.fields} - told)
    pictures(b, subject)
    if len(b.blocks) == before + 1:
        b.blocks.pop()


def function(b: Builder, known: Function) -> None:
    """σ(s) = …: a function that the card defines."""
    applied = Fn(known.name, tuple(Entry(p, ()) for p in known.parameters))
    b.prose("function")
    b.math("function", eq(applied, known.body), definition=True)


def upstream(b: Builder, subject: Subject) -> None:
    """δ_y = ∂L/∂y, and what the other δ mean."""
    loss = Entry(LOSS, ())
    delta = eq(upstream_of(subject.module), Partial(loss, subject.output))
    several = len(subject.module.equations) > 1
    said = any(i.messages and i.targets and not subject.is_named(i) for i in subject.items)  # above
    b.prose("upstream", letter=b.gradient, delta=b.m(delta), loss=b.m(loss), several=several, meant=several or not said,
            own=is_own(subject.module.table.named(f"delta_{subject.module.output}")))
