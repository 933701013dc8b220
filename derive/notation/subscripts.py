"""Subscripts and arguments as index terms: ``ij`` is two, ``2k+1`` is one, ``k,l`` is two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from derive.expr import Expr
from derive.notation.cursor import normal
from derive.notation.names import latex_of
from derive.notation.symbols import Symbol
from derive.notation.tree import Group, Item, Items, Scripted, is_token, split, unwrap

if TYPE_CHECKING:
    from derive.notation.reader import Reader


def _simple(item: Item) -> bool:
    """A letter (with primes or a star), a number, a floor or a ceiling: one index by itself."""
    item = normal(item)
    if isinstance(item, Scripted):
        stars = all(len(s) == 1 and is_token(s[0], "STAR") for s in item.sups)
        return is_token(item.base, "NAME") and not item.subs and stars
    return is_token(item, "NAME", "NUMBER") or (isinstance(item, Group) and item.bracket in ("LFLOOR", "LCEIL"))


def _units(part: Items) -> list[Items]:
    """The items of a subscript; a star and its arguments are one."""
    found: list[Items] = []
    for item in part:
        before = found[-1] if found else ()
        starred = len(before) == 1 and isinstance(before[0], Scripted) and bool(before[0].sups)
        if isinstance(item, Group) and item.bracket == "LPAREN" and starred:
            found[-1] = [*before, item]
        else:
            found.append([item])
    return found


def _juxtaposed(part: Items) -> bool:
    units = _units(part)
    return len(units) > 1 and all(_simple(unit[0]) for unit in units)


def _leads_with_number(part: Items) -> bool:
    return is_token(normal(part[0]), "NUMBER")


def split_runs(sub: Items, rank: int | None) -> list[Items]:
    """The items of each index; a leading number makes one index of what follows, unless the rank says two."""
    sub = unwrap(sub)
    parts = split(sub, "COMMA", "SEMI")
    if len(parts) == 1 and _juxtaposed(parts[0]) and len(_units(parts[0])) == rank:
        return _units(parts[0])
    found: list[Items] = []
    for part in parts:
        if _juxtaposed(part) and not _leads_with_number(part):
            found += _units(part)
        else:
            found.append(part)
    return found


def runs(r: Reader, sub: Items, rank: int | None, end: int) -> list[Items]:
    """The items of each index; none may be empty."""
    found = split_runs(sub, rank)
    if not all(found):
        raise r.error(sub[0] if sub else end, "an index is missing here")
    return found


def natural(r: Reader, sub: Items, end: int) -> tuple[Expr, ...]:
    """Index terms where no declaration says how many there are."""
    inner = replace(r, in_index=True)
    return tuple(inner.value(run, end) for run in runs(r, sub, None, end))


def indices(r: Reader, sub: Items, rank: int, of: Symbol, item: Item) -> tuple[Expr, ...]:
    """The index terms of a subscript.

    Raises :class:`NotationError` where their number is not the symbol's.
    """
    found = runs(r, sub, rank, item.end)
    if len(found) != rank and not (of.unwritten and len(found) == rank - of.unwritten):
        number = len(found) == 1 and rank == len(r.shown(*found[0])) and is_token(found[0][0], "NUMBER")
        hint = f"; write `{','.join(r.shown(*found[0]))}` for {rank} indices" if number else ""
        raise _wrong_number(r, of, rank, len(found), item, hint)
    inner = replace(r, in_index=True)
    return tuple(inner.value(run, item.end) for run in found)


def arguments(r: Reader, group: Group, rank: int | None = None, of: Symbol | None = None) -> tuple[Expr, ...]:
    """The index terms in ``(k, l)``, each parted by a comma."""
    parts = split(group.items, "COMMA", "SEMI") if group.items else []
    if of is not None and rank is not None and len(parts) != rank:
        raise _wrong_number(r, of, rank, len(parts), group, "")
    inner = replace(r, in_index=True)
    return tuple(inner.value(part, group.end - 1) for part in parts)


def _wrong_number(r: Reader, of: Symbol, rank: int, found: int, item: Item, hint: str) -> Exception:
    axes = "".join(map(latex_of, of.axes))
    usual = f" (`{of.latex}` with {axes})" if axes else ""
    return r.error(item, f"`{r.shown(item)}` has {found} ind{'ex' if found == 1 else 'ices'}, "
                         f"`{of.latex}` has {rank}{usual}{hint}")
