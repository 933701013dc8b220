"""Readable names for bound variables: the letters of the axes where they stand, primed if taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from derive.expr import Arg, Entry, Expr, Idx, In, Node, Reduce, SetApp, SetOf, Star, free_indices, walk
from derive.notation.names import lexicon
from derive.notation.symbols import Kind, SymbolTable

_POOL = "abcpqrstuvmnijkl"


def choose(
    node: Reduce | Arg | SetOf, table: SymbolTable, names: Mapping[Idx, str], taken: frozenset[str]
) -> dict[Idx, str]:
    """A name for each variable of the node's binder; ``taken`` are the names in scope around it.

    A letter that is taken gets primes (all of a binder's the same number, so that a pair
    stays a pair), or gives way to a declared index that is the letter of no axis.  A name
    that is free in the node, bound around it or declared as something else is never used.
    """
    free = {names.get(i, i.name) for i in free_indices(node)} | taken
    declared = lexicon(table)
    others = {name for name, symbol in declared.items() if symbol.kind is not Kind.INDEX}
    of_axes = {letter for s in table.symbols for letter in (*s.axes, *s.members)}
    loose = [s.name for s in table.of_kind(Kind.INDEX) if s.name not in of_axes]
    pool = [*loose, *_POOL, *(s.name for s in table.of_kind(Kind.INDEX))]
    hints = _hints(node, table)
    letters: list[str] = []
    for variable in node.binder.variables:
        hint = hints.get(variable)
        if hint is None or hint in others or hint in letters:
            usable = [c for c in pool if c not in others and c not in letters]
            hint = next((c for c in usable if c not in free), usable[0])
        letters.append(hint)
    spare = [c for c in loose if c not in free]
    if any(letter in free for letter in letters) and len(spare) >= len(letters):
        letters = spare[: len(letters)]
    primes = ""
    while any(letter + primes in free for letter in letters):
        primes += "'"
    return {v: letter + primes for v, letter in zip(node.binder.variables, letters, strict=True)}


def _hints(node: Reduce | Arg | SetOf, table: SymbolTable) -> dict[Idx, str]:
    """The letter of the first place where each variable stands; membership of a set says more than the body."""
    found: dict[Idx, str] = {}
    inside = node.element if isinstance(node, SetOf) else node.body
    for part in (node.binder.cond, inside):
        for below in walk(part) if part is not None else ():
            for term, letter in _places(below, table):
                if isinstance(term, Idx):
                    found.setdefault(term, letter.rstrip("'"))
    return found


def _places(node: Node, table: SymbolTable) -> Iterator[tuple[Expr, str]]:
    """The terms that stand where a symbol's own letters usually do."""
    match node:
        case Entry(name, terms) | SetApp(name, terms):
            known = table.named(name)
            letters = known.axes if known is not None else ()
        case Star(name, terms):
            letters = dict(table.stars).get(name, ())
        case In(element, SetApp(name, _)):
            known = table.named(name)
            letters = known.members if known is not None else ()
            terms = getattr(element, "items", (element,))
        case _:
            return
    yield from zip(terms, letters, strict=False)
