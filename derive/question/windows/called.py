"""The letters that a card gives the input and the output of a pooling that words name."""

from __future__ import annotations

import re
from dataclasses import replace

from derive.card import Card
from derive.errors import CardError
from derive.expr import Entry, Idx, Node, Rel, transform
from derive.layers import forward_of
from derive.layers.catalogue import Pooling
from derive.layers.forward import WindowForm
from derive.module import Module
from derive.notation.symbols import SymbolTable, latex_of, name_of
from derive.question.letters.naming import bare_letters, mentions
from derive.question.parts.recognised import letters_said, role_of
from derive.question.words.lexicon import ends, named, only
from derive.question.words.prose import GAP, Prose, prose_of
from derive.question.words.reading import Read, lettered_prose
from derive.specify.wanted import partials

_IS_GIVEN = re.compile(r"\s*(?:is|are) (?:given|known)\b")


def letters_of(card: Card, read_: Read) -> tuple[Entry, Entry] | None:
    """The output and the input of a layer that words name, where derivatives have letters for them."""
    for _, derivative in partials(read_.nodes):
        output, source = _plain(derivative.of), _plain(derivative.wrt)
        if output and source and len(output.indices) == len(source.indices) and output.tensor != source.tensor:
            return output, source
    prose = prose_of(card.question, card.question_line, (f for f, _ in read_.nodes))
    return _of_losses(prose, read_) or _of_words(lettered_prose(card), read_)


def _of_words(prose: Prose, read_: Read) -> tuple[Entry, Entry] | None:
    """Y and X of «the image $X$ …, its output is called $Y$»; the catalogue's letter where only one is named."""
    nodes = {(f.line, f.column): node for f, node in read_.nodes}
    found = {"output": list[Entry](), "input": list[Entry]()}
    for mention in mentions(prose, letters_said):
        if (role := role_of(mention)) in found and len(mention.letters) == 1:
            named_ = nodes.get((mention.formula.line, mention.formula.column))
            entry = _plain(named_) if named_ is not None else None
            found[role].append(entry or Entry(name_of(mention.letters[0]), ()))
    ours = {"output": "f", "input": "x"}
    names = {role: {e.tensor for e in entries} for role, entries in found.items()}
    if not any(names.values()) or any(len(n) > 1 for n in names.values()):
        return None
    output, source = (max(found[role], key=lambda e: len(e.indices), default=Entry(ours[role], ())) for role in ours)
    return None if output.tensor == source.tensor else (output, source)


def _of_losses(prose: Prose, read_: Read) -> tuple[Entry, Entry] | None:
    r"""Y and X of «given $\partial L/\partial Y$, derive $\partial L/\partial X$»; None where it is not so clear."""
    losses = [(f, d.wrt) for f, d in partials(read_.nodes) if isinstance(d.of, Entry) and not d.of.indices
              and isinstance(d.wrt, Entry)]
    places = {(g.formula.line, g.formula.column): g.start for g in prose.gaps}
    given = {wrt for f, wrt in losses if any(
        only(prose.text, s.stop, places.get((f.line, f.column), -1), "small", "letter.loss", "request", "wrt")
        for s in named(prose.text, "upstream")) or _IS_GIVEN.match(prose.text, places.get((f.line, f.column), -2) + 1)}
    forward = {name for gap in prose.gaps for name in bare_letters(gap.formula)[:1] if ends(
        prose.text[: gap.start], "request.message") and named(prose.text[: gap.start].rpartition(GAP)[2],
                                                              "request.forward")}
    given |= {wrt for _, wrt in losses if latex_of(wrt.tensor) in forward}
    asked_ = {wrt for _, wrt in losses} - given
    if len(given) == 1 and not asked_:  # «over an input $x$ …, given $\partial L/\partial y_k$»
        places_ = next(iter(given)).indices
        letters = [Idx(c) for c in "ijab" if Idx(c) not in places_][: len(places_)]
        asked_ = {Entry(name_of(name), tuple(letters)) for gap in prose.gaps for name in bare_letters(gap.formula)
                  if ends(prose.text[: gap.start], "letter.input", over=("naming.article",))}
    if len(given) != 1 or len(asked_) != 1:
        return None
    (output,), (source,) = given, asked_
    return (output, source) if len(output.indices) == len(source.indices) else None


def _plain(node: Node) -> Entry | None:
    """The node if it is an entry at index letters."""
    plain = isinstance(node, Entry) and node.indices and all(isinstance(i, Idx) for i in node.indices)
    return node if plain and isinstance(node, Entry) else None


def channels_of(letters: tuple[Entry, Entry] | None, rank: int) -> int:
    """1 where the card's letters have one index more than the windows have axes: the map that they stand in.

    Raises :class:`CardError` where they have another number of indices than the windows.
    """
    given = [len(e.indices) for e in letters or () if e.indices]
    if not given or {*given} <= {rank}:
        return 0
    if max(given) == rank + 1:
        return 1
    raise CardError(f"the windows have {rank} axes, and the letters {max(given)} indices: say what the windows are "
                    "along each, or write the forward formula")


def with_letters(module: Module, letters: tuple[Entry, Entry] | None) -> Module:
    """The layer with these letters for its output and its input."""
    if letters is None:
        return module
    own = dict(zip((module.output, module.inputs[0]), (entry.tensor for entry in letters), strict=True))
    if own.keys() == {*own.values()} or any(module.table.named(n) for n in own.values() if n not in own):
        return module

    def renamed(node: Node) -> Node | None:
        return Entry(own[node.tensor], node.indices) if isinstance(node, Entry) and node.tensor in own else None

    symbols = tuple(replace(s, name=own[s.name], latex=latex_of(own[s.name])) if s.name in own else s
                    for s in module.table.symbols)
    equations = tuple(Rel(tuple(transform(t, renamed) for t in e.terms), e.ops) for e in module.equations)
    return replace(module, equations=equations, table=replace(module.table, symbols=symbols),
                   output=own[module.output], inputs=tuple(own.get(n, n) for n in module.inputs))


def in_letters(
    spec: Pooling, rank: int, letters: tuple[Entry, Entry] | None, read_: Read
) -> tuple[WindowForm, SymbolTable]:
    form, table = forward_of(spec, rank)
    if letters is None:
        return form, table
    output, source = letters
    if len(output.indices) == len(source.indices) > 0:
        return WindowForm(form.op, output, source.tensor, None, None), read_.table
    own = {form.output.tensor: output.tensor, form.source: source.tensor}
    symbols = tuple(replace(s, name=own[s.name], latex=latex_of(own[s.name])) if s.name in own else s
                    for s in table.symbols)
    return replace(form, output=Entry(output.tensor, form.output.indices), source=source.tensor), replace(
        table, symbols=symbols)
