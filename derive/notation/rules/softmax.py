"""softmax(z) of a whole vector, written out entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.notation.rules.trees import (
    Run,
    all_statements,
    by_statement,
    called,
    equals,
    free,
    indexed,
    letters,
    name,
    sides,
    sign,
)
from derive.notation.tree import Command, Group, Item, Items, Scripted, Token, base_of, is_token, normal


def _is_softmax(run: Items, n: int) -> Group | None:
    """The bracket of the softmax at n."""
    return called(tuple(run), n) if str(base_of(run[n])).lower() == "softmax" else None


def _is_defined(formulas: list[Formula]) -> bool:
    return any(_is_softmax(head, 0) for part in all_statements(formulas) for head in sides(part)[:-1] if head)


def as_factors(formulas: list[Formula]) -> list[Formula]:
    r"""c = V^\top softmax(z) as a = softmax(z) and c = V^\top a, with a letter that nothing else has."""
    taken = letters(formulas)
    found: list[Formula] = []
    for formula in formulas:
        new: list[Formula] = []

        def apart(part: Run, formula: Formula = formula, new: list[Formula] = new) -> Run:
            call = part[-2:]
            before = part[-3] if len(part) > 4 else None
            spare = next((c for c in "apruvz" if c not in taken), None)
            factor = before is not None and len(sides(part)) > 1 and not is_token(
                before, "REL", "PLUS", "MINUS", "TIMES", "ODOT", "STAR", "COMMA", "SEMI")
            if not factor or spare is None or len(call) < 2 or _is_softmax(call, 0) is None:
                return part
            taken.add(spare)
            own = replace(name(spare, call[0]), bold=True)
            new.append(replace(formula, tree=(own, equals(call[0]), *call)))
            return *part[:-2], own

        whole = formula if formula.tree is None else replace(formula, tree=by_statement(tuple(formula.tree), apart))
        found += [*new, whole]
    return found


def of_vectors(formulas: list[Formula]) -> list[Formula]:
    """p = softmax(z) as p_i = e^{z_i} / Σ_j e^{z_j}; z = … in front where it is not a letter."""
    if _is_defined(formulas):
        return formulas
    indices = [*free(formulas, "ijklmn")]
    i, j = indices[:2] if len(indices) > 1 else ("i", "j")
    logits = free(formulas, "zasuvo")
    return [new for formula in formulas for new in _written_out(formula, (i, j), logits)]


def _written_out(formula: Formula, indices: tuple[str, str], logits: Iterator[str]) -> Iterator[Formula]:
    new: list[Formula] = []

    def written(part: Run) -> Run:
        *heads, value = sides(part)
        inner = _is_softmax(value, 0) if len(value) == 2 and heads and heads[-1] else None
        if inner is None:
            return part
        z = _letter(inner.items)
        if z is None:
            z = replace(name(next(logits), inner), bold=True)
            new.append(replace(formula, tree=(z, equals(inner), *inner.items)))
        last = heads[-1][-1]
        base = last.base if isinstance(last, Scripted) else last
        i, j = (name(c, inner) for c in indices)
        out = Scripted(base, ((i,),), (), 0, last.start, last.end)
        before = part[: len(part) - len(value) - 2]
        return *before, out, equals(inner), Command("FRAC", ((_power(z, i),), (
            Scripted(sign("BIG", "sum", inner), ((j,),), (), 0, inner.start, inner.end), _power(z, j))),
            value[0].start, inner.end)

    tree = None if formula.tree is None else by_statement(tuple(formula.tree), written)
    yield from new
    yield replace(formula, tree=tree)


def _letter(items: Items) -> Token | None:
    """z of z and of z_t."""
    item = normal(items[0]) if len(items) == 1 else None
    plain = not isinstance(item, Scripted) or (not item.sups and not item.primes and all(
        len(s) == 1 and len(str(s[0])) == 1 for s in item.subs))
    base = base_of(item) if item is not None else None
    return base if plain and is_token(base, "NAME") else None


def _power(z: Token, index: Item) -> Item:
    """e^{z_i}."""
    return Scripted(name("e", z), (), ((indexed(z, index),),), 0, z.start, z.end)
