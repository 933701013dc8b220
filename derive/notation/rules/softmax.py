"""softmax(…): what it is taken of has a letter, and so has the softmax itself where it is a part of a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.records import replace


def _is_softmax(run: tr.Items, n: int) -> tr.Group | None:
    """The bracket of the softmax at n."""
    return trees.called(tuple(run), n) if str(tr.base_of(run[n])).lower() == "softmax" else None


def with_letters(formulas: list[Formula]) -> list[Formula]:
    r"""c = V^\top softmax(Wx) as z = W x, a = softmax(z), c = V^\top a, with letters that nothing else has."""
    if any(_is_softmax(head, 0) for part in trees.all_statements(formulas) for head in trees.sides(part)[:-1] if head):
        return formulas
    equations = (two for part in trees.all_statements(formulas) if len(two := trees.sides(part)) == 2)
    known = {_key(two[1]): two[0] for two in equations if len(two[0]) == 1 and tr.is_token(two[0][0], "NAME")}
    small, capital = (trees.free(formulas, letters) for letters in ("zasuvopr", "SAUTGHP"))
    return [new for formula in formulas for new in _named(formula, known, small, capital)]


def _key(items: tr.Items) -> str:
    """Q K^\\top / d as \\frac{Q K^\\top}{d} is spelt."""
    parts = tr.split(items, "SLASH")
    quotient = len(parts) == 2 and not trees.is_sum(items)
    return f"FRAC[{trees.spelt(parts[0])}][{trees.spelt(parts[1])}]" if quotient else trees.spelt(items)


def _named(
    formula: Formula, known: Mapping[str, trees.Run], small: Iterator[str], capital: Iterator[str]
) -> Iterator[Formula]:
    new: list[Formula] = []

    def letter(at: tr.Item, like: tr.Item) -> trees.Run:
        free = next(capital if str(tr.base_of(like))[:1].isupper() else small, None)
        return () if free is None else (trees.name(free, at),)

    def named(part: trees.Run) -> trees.Run:
        *heads, value = trees.sides(part)
        at = next((n for n in range(len(value) - 1) if _is_softmax(value, n)), None)
        bracket = _is_softmax(value, at) if at is not None else None
        if not heads or not heads[0] or bracket is None or at is None:
            return part
        call, after = value[at : at + 2], value[at + 2 :]
        if not _is_letter(bracket.items):
            own = known.get(_key(bracket.items)) or letter(bracket, heads[0][0])
            if not own:
                return part
            if own not in known.values():
                new.append(replace(formula, tree=(*own, trees.equals(bracket), *bracket.items)))
            inner = replace(bracket, items=own)
            call = call[0], replace(call[1], base=inner) if isinstance(call[1], tr.Scripted) else inner
        before = part[: len(part) - len(value) + at]
        joined = _joins(before[-1]) or (after and _joins(after[0]))
        if joined and (a := letter(call[0], heads[0][0])):
            of, stands = call[1], a
            if isinstance(of, tr.Scripted):  # a^\top of softmax(z)^\top
                of, stands = of.base, (replace(of, base=a[0]),)
            new.append(replace(formula, tree=(*a, trees.equals(call[0]), call[0], of)))
            return *before, *stands, *after
        return *before, *call, *after

    tree = None if formula.tree is None else trees.by_statement(tuple(formula.tree), named)
    yield from new
    yield replace(formula, tree=tree)


def _joins(item: tr.Item) -> bool:
    """Whether the item is a factor beside what follows or precedes it."""
    return not tr.is_token(item, "REL", "PLUS", "MINUS", "TIMES", "ODOT", "STAR", "COMMA", "SEMI", "BIG", "FN", "SLASH")


def _is_letter(items: tr.Items) -> bool:
    """z, z_t and z^{(2)}."""
    item = tr.normal(items[0]) if len(items) == 1 else None
    return item is not None and tr.is_token(tr.base_of(item), "NAME") and not getattr(item, "primes", 0)
