"""What an open question says, as far as it is understood: a statement in which ``?`` marks what is open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Fn, Node, Num, Rel
from derive.layers.families import find
from derive.module import ROLES, Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.symbols import latex_of, split_label
from derive.question.letters.claims import computes_nothing, is_claimed, without_claims
from derive.question.parts.chain import Chain
from derive.question.parts.recognised import Part
from derive.question.windows.pooling import Pooled
from derive.question.words.prose import Prose
from derive.question.words.reading import Read, question_prose
from derive.question.written import read_written
from derive.specify.definitions import statements
from derive.specify.writing import statement_of
from derive.statement import KEYS, MARK, SINGLE, Open, Source, Statement

_CHOICES: Mapping[str, tuple[str, ...]] = {  # that a key has, whatever a message says
    "derive": ("derive: [forward, backward, parameters]",),
    **dict.fromkeys(ROLES, ROLES),
}


def understood(card: Card, own: Statement, error: DeriveError, sources: Mapping[str, tuple[Source, ...]]) -> Statement:
    """The statement of a card that is refused with an ``error``: its ``own``, and what the question says.

    ``sources`` are those of the layer that the error carries.
    """
    module: Module | None = getattr(error, "found", None)
    if isinstance(error, UnsupportedError):
        return replace(own, open=tuple(Open("", p.message, (), p.line) for p in error.problems))
    try:
        found = _of_layer(module, sources) if module is not None else _of_question(card)
    except DeriveError:  # what it has cannot be read either
        found = Statement()
    if own.forward is not None or own.layers is not None:
        found = Statement()
    given: dict[str, Any] = {key: getattr(own, key) for key, _ in own.given()}
    found = replace(found, **given, sources={**found.sources, **own.sources})
    open_ = tuple(Open(_key_of(p), p.message, _choices(p), p.line) for p in error.problems)
    return _marked(found, open_, module is not None)


def _of_layer(module: Module, sources: Mapping[str, tuple[Source, ...]]) -> Statement:
    """The layer without what is taken for granted of its letters, and what lines that are to be added may change."""
    found = statement_of(module)
    loss = found.loss if module.table.named("loss") is not None else None
    values: dict[str, Any] = {"derive": found.derive or None, "loss": loss}
    defined = tuple(f"{symbol.latex} " for name in module.defined if (symbol := module.table.named(name)) is not None
                    and split_label(symbol.latex)[1] is None)
    values["shapes"] = tuple(text for text in found.shapes or () if not text.startswith(defined)) or None
    for role in ROLES:
        listed = zip(getattr(found, role) or (), sources.get(role, ()), strict=False)
        said = [(letter, source) for letter, source in listed
                if split_label(letter)[1] is not None or "nothing says otherwise" not in source.words]
        values[role] = [letter for letter, _ in said] or None
        sources = {**sources, role: tuple(source for _, source in said)}
    return replace(found, **values, sources=sources)


def _of_question(card: Card) -> Statement:
    """The layers that words name where all formulas are recalled; else the formulas."""
    own = read_written(card)
    found = _of_formulas(own.read, own.prose, False)
    if found.forward is None:
        name, source = _named(card, own.prose)
        found = replace(found, layers=name or None, functions=None, sources={**found.sources, "layers": (source,)})
    return _of_formulas(own.read, own.prose, True) if found.layers is None else found


def _of_formulas(read_: Read, prose: Prose, claims: bool) -> Statement:
    """The formulas as they stand, since some are not understood that may change the others; with ``claims``, too."""
    texts: dict[str, dict[str, Source]] = {}
    items = [*without_claims(read_.nodes, prose), *((f, None) for f, _ in read_.failures if equates(f))]
    for formula, node in sorted(items, key=lambda item: (item[0].line, item[0].column)):
        key = _key(formula, node)
        if key is not None and (claims or not is_claimed(formula, prose)):
            whole = formula.source.latex
            text = " ".join((whole if formula.latex in whole else formula.latex).split()).rstrip(".,; ")
            texts.setdefault(key, {}).setdefault(text, Source(formula.line, f"line {formula.line}: ${text}$"))
    forward = texts.get("forward", {})
    texts["functions"] = {t: s for t, s in texts.get("functions", {}).items() if t not in forward}  # of one formula
    values: dict[str, Any] = {key: list(found) for key, found in texts.items() if found}
    return Statement(**values, sources={key: tuple(found.values()) for key, found in texts.items()})


def _key(formula: Formula, node: Node | None) -> str | None:
    """Under which key a formula stands; None for one that says nothing of the layer."""
    kind = kind_of(formula)
    if kind in (Said.DECLARATION, Said.FACT):
        return "shapes" if kind is Said.DECLARATION else "facts"
    if computes_nothing(formula) or kind in (Said.SET, Said.NAMES):
        return None
    if node is None:
        return "functions" if kind is Said.FUNCTION else "forward"
    heads = [c.terms[0] for c in statements(node) if isinstance(c, Rel) and "=" in c.ops
             and (formula.display or not isinstance(c.terms[-1], Num))]  # «what follows for $c = 0$?»
    return "functions" if any(isinstance(head, Fn) for head in heads) else "forward" if any(
        isinstance(head, Entry) for head in heads) else None


def _named(card: Card, prose: Prose) -> tuple[str, Source]:
    """The layers that the words name, and where."""
    chain = Chain(question_prose(card))
    if len(chain.parts) < 2 and (name := _pooling(Pooled.of(card))):
        return name
    parts = [_part(chain, part) for part in chain.parts]
    said = "; ".join(prose.said(p.start, p.end) for p in chain.parts)
    return " -> ".join(parts), Source(prose.plain.line(chain.parts[0].start) if parts else None, said)


def _pooling(pooled: Pooled) -> tuple[str, Source] | None:
    """The one pooling that the question names."""
    found = pooled.catalogued
    if found is not None:
        return found.spec.name, Source(found.line, found.source)
    said = pooled.words.about("pooling")
    if not pooled.equations and pooled.is_extreme and said and said[0].value in ("max", "min"):
        return f"{said[0].value}_pool", Source(said[0].line, str(said[0]))
    return None


def _part(chain: Chain, part: Part) -> str:
    """The part by its catalogue's name, with its letters and options; ``?`` for one that is not there."""
    for name in (part.name, re.sub(r"\W+", "_", chain.prose.text[part.start : part.end])):
        try:
            spec = find(name)
        except CardError:
            continue
        letters = {"weights": part.letters.get("weight"), "bias": part.letters.get("bias"),
                   "slope": part.letters.get("slope") or part.options.get("slope")}
        given = ", ".join(f"{key}={value}" for key, value in letters.items() if value and re.fullmatch(
            r"\\?[A-Za-z]+|[\d.]+", value))
        return f"{spec.name}({given})" if given else spec.name
    return MARK


def _marked(found: Statement, open_: tuple[Open, ...], doubted: bool) -> Statement:
    """The statement with ``?`` where a line is open; formulas that are refused stand for themselves."""
    values: dict[str, Any] = {}
    for point in open_:
        key = "layers" if point.key == "forward" and found.layers else point.key
        if key in ROLES:
            letter = latex_of(point.message.split("`")[1]) + MARK
            items = values.get(key, getattr(found, key) or ())
            values[key] = items if letter in items else (*items, letter)
        elif key in SINGLE:
            value = values.get(key, getattr(found, key)) or ""
            values[key] = value if value.endswith(MARK) else f"{value} {MARK}".strip()
        elif key != "forward" or doubted or not found.forward:
            items = values.get(key, getattr(found, key) or ())
            values[key] = items if MARK in items else (*items, MARK)
    return replace(found, **values, open=open_)


def _key_of(problem: Problem) -> str:
    """The key that settles a problem: its own, that which its message names first, else that of formulas."""
    if problem.key is not None:
        return problem.key
    named = [text.partition(":")[0] for text in problem.message.split("`")[1::2]]
    return next((key for key in named if key in KEYS), "shapes" if "shape" in problem.message else
                "output" if "which is the layer's output" in problem.message else "forward")


def _choices(problem: Problem) -> tuple[str, ...]:
    """What settles a problem: what its message says can be written, behind its semicolon."""
    written = tuple(problem.message.partition(";")[2].split("`")[1::2])
    return _CHOICES.get(problem.key or "", written) or written
