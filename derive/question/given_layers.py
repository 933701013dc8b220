"""Layers that a statement gives by name: the catalogue's formulas, and what the statement says besides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from derive.card import Card
from derive.errors import CardError, Problem
from derive.expr import Entry, Node, Rel, SetApp, subst, transform, walk
from derive.layers import Composed, compose
from derive.layers.catalogue import Pooling
from derive.layers.chain import Part, parse
from derive.layers.families import find
from derive.module import Module
from derive.notation.symbols import identifier, name_of
from derive.question.given import given_module, said
from derive.specify.stated import formulas_of
from derive.statement import LETTERS, SIZES, Source, Statement


def layers_module(card: Card, statement: Statement) -> Module | None:
    """The layers of ``layers`` or ``layer``; formulas beside them must compute the same.

    None for one pooling whose windows stand under keys of their own, or in the question: as ``layer`` alone names it.
    Raises :class:`CardError` for unknown names, for windows that stand outside the brackets of their layer, and
    where ``forward``, ``layer`` and ``layers`` say different things.
    """
    line = statement.line("layers") or card.key_line("layer")
    try:
        parts = _parts(card, statement)
        if parts is None:
            return None
        composed = compose(parts, taken=_taken(statement))
    except CardError as error:
        raise error.located(card.path, line) from None
    named = _stated(composed, statement, line).overlaid(replace(statement, layers=None, forward=None))
    fields = tuple((identifier(name_of(latex)), field) for latex, field in composed.fields)
    module = given_module(card, named, fields)
    words = " → ".join(part.spec.words for part in composed.parts)
    if statement.forward is not None:
        own = given_module(card, replace(statement, layers=None), fields)
        if _alike(own) != _alike(module):
            message = f"{words} and `forward` do not compute the same, letter by letter; keep one"
            raise CardError(Problem(message, line=line))
        return own
    name = " → ".join(part.spec.name for part in composed.parts)
    readings = (f"layers: {words} (line {line or 1}: `layers`)", *map(_of_the_names(composed), module.readings[:-1]),
                *said(statement))
    return replace(module, name=module.name or name, readings=readings)


def _of_the_names(composed: Composed) -> Callable[[str], str]:
    """What a reading is where the names, and no list of the front matter, say what a letter is."""
    listed = [f"`{role}: {letter}`)" for role in LETTERS for letter in getattr(composed, role)]
    return lambda reading: next((reading.removesuffix(text) + "`layers`)" for text in listed if reading.endswith(text)),
                                reading)


def _parts(card: Card, statement: Statement) -> tuple[Part, ...] | None:
    """The parts of ``layers``, with the options that stand under keys where there is one; None as above."""
    named = None if card.front_matter.get("layer") is None else str(card.front_matter["layer"])
    parts = parse(statement.layers if statement.layers is not None else named or "")
    spec = find(parts[0].name)
    if named is not None and (len(parts) > 1 or find(named) is not spec):
        raise CardError(f"`layer: {named}` and `layers: {statement.layers}` differ; keep one of them")
    outside = {key: statement.values[key] for key in (*SIZES, "ceil_mode") if key != "input_size"
               and getattr(statement, key) is not None}
    if len(parts) == 1 and not parts[0].plain and not parts[0].given:
        if isinstance(spec, Pooling) and statement.forward is None:
            return None
        options = {key: card.front_matter[key] for key in spec.options if key in card.front_matter}
        return (Part(parts[0].name, (), {**outside, **options}),)
    if outside:
        key = next(iter(outside))
        raise CardError(Problem(f"`{key}` stands beside `layers: {statement.layers}`: write it in the brackets of its "
                                "layer, as in `max_pool(kernel_size=2)`", line=statement.line(key)))
    return parts


def _taken(statement: Statement) -> set[str]:
    """The letters of the functions that the statement defines."""
    return {f.latex.split("(")[0].strip() for f in formulas_of(statement, "functions")}


def _stated(composed: Composed, statement: Statement, line: int | None) -> Statement:
    """The composed chain as a statement; the roles of the letters that the statement lists are its own."""
    listed = {text for role in LETTERS for text in getattr(statement, role) or ()}
    roles = {role: tuple(c for c in getattr(composed, role) if c not in listed) + (getattr(statement, role) or ())
             for role in LETTERS}
    keys: dict[str, Any] = {"forward": composed.formulas, **{key: getattr(composed, key) or None for key in (
        "facts", "shapes", "ranges")}, **{role: letters or None for role, letters in roles.items()}}
    sources = {key: (Source(line),) * len(texts) for key, texts in keys.items() if texts}
    return Statement(**keys, output=composed.output, sources=sources)


def _alike(module: Module) -> Node:
    """The output in terms of what is given, its letters numbered as they occur."""
    done: dict[str, Rel] = {}

    def written_out(node: Node) -> Node | None:
        if isinstance(node, Entry) and node.tensor in done:
            head, value = done[node.tensor].terms
            assert isinstance(head, Entry)
            return subst(value, dict(zip(head.indices, node.indices, strict=True)))
        return None

    for equation in module.equations:
        head, value = equation.terms
        assert isinstance(head, Entry)
        done[head.tensor] = Rel((head, transform(value, written_out)), equation.ops)
    final = done[module.output]
    names: dict[str, str] = {}
    for node in walk(final):
        if isinstance(node, (Entry, SetApp)):
            names.setdefault(node.tensor if isinstance(node, Entry) else node.name, f"letter{len(names)}")

    def renamed(node: Node) -> Node | None:
        if isinstance(node, Entry):
            return Entry(names[node.tensor], node.indices)
        return SetApp(names[node.name], node.args) if isinstance(node, SetApp) else None

    return transform(final, renamed)
