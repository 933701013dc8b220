"""Sums, products, maxima, minima, argmax and set-builders: what is bound, where it runs, how far the body goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.expr import Arg, Binder, Entry, Expr, Extremum, Idx, Reduce, SetApp, free_indices, walk
from derive.notation import ranges
from derive.notation.cursor import Cursor, starts_factor
from derive.notation.errors import NotationError
from derive.notation.pieces import divided
from derive.notation.products import negated, product
from derive.notation.tree import Command, Group, Item, Items, Scripted, Token, has, is_group, split, unwrap

if TYPE_CHECKING:
    from derive.notation.reader import Reader


def reduction(r: Reader, c: Cursor) -> Expr:
    r"""\sum_{…}^{…} body, \max_{…} body, \arg\max_{…} body, \max(a, b), \min\{r : …\}."""
    item = c.take()
    base = item.base if isinstance(item, Scripted) else item
    assert isinstance(base, Token)
    if not isinstance(item, Scripted):
        return _without_binder(r, base, c)
    if len(item.subs) != 1 or len(item.sups) > 1 or item.primes:
        raise r.error(item, f"`{r.shown(base)}` needs what it runs over below it")
    return _over(r, base, item.subs[0], item.sups[0] if item.sups else None, item, c)


def underset(r: Reader, command: Command, c: Cursor) -> Expr:
    r"""\underset{…}{\max} body."""
    below, above = command.arguments
    base = unwrap(above)[0] if len(unwrap(above)) == 1 else None
    if not isinstance(base, Token) or base.type != "BIG":
        raise r.error(command, r"`\underset` stands under `\max`, `\min` or `\arg\max` only")
    return _over(r, base, below, None, command, c)


def _over(r: Reader, base: Token, sub: Items, sup: Items | None, item: Item, c: Cursor) -> Expr:
    found = ranges.read(r, sub, sup, item)
    if found is None:
        return _over_set(r, base, sub, item, c)
    binder, names = found
    c.opened += [(name, r.shown(base)) for name in names]
    inside = body(r, base, names, c)
    if any(is_group(i, "LBRACK") for i in sub) and not _indexed(inside) >= {Idx(name) for name in names}:
        raise r.error(item, r"whole numbers or all numbers between the two? Write `j \in \{1, \dots, n\}` for an index")
    return _node(base.text, binder, inside)


def _indexed(inside: Expr) -> set[Idx]:
    """The letters that stand in indices."""
    terms = (term for n in walk(inside) if isinstance(n, Entry) for term in n.indices)
    return {i for term in terms for i in free_indices(term)}


def _node(op: str, binder: Binder, inside: Expr) -> Expr:
    return Arg(op[3:], binder, inside) if op.startswith("arg") else Reduce(op, binder, inside)


def _over_set(r: Reader, base: Token, sub: Items, item: Item, c: Cursor) -> Expr:
    r"""\max_{\Omega(k,l)} x_{ij}: the members' own letters are bound, or the body is a whole tensor."""
    over = r.value(unwrap(sub), item.end)
    known = r.table.named(over.name) if isinstance(over, SetApp) else None
    if not isinstance(over, SetApp) or known is None or not known.members:
        raise r.error(item, "which index runs here? Write `(i, j) \\in …` or `k = 1`")
    binder = ranges.members(over, known.members)
    inside = body(r, base, list(known.members), c, whole=True)
    if isinstance(inside, Entry) and not inside.indices:
        symbol = r.table.named(inside.tensor)
        if symbol is None or len(symbol.axes) != len(known.members):
            raise r.error(item, f"`{known.latex}` has elements of {len(known.members)} indices; the body does not fit")
        inside = Entry(inside.tensor, binder.variables)
    elif not free_indices(inside) & set(binder.variables):
        raise r.error(item, f"which index runs over `{r.shown(*sub)}`? Write `(i, j) \\in …`")
    return _node(base.text, binder, inside)


def body(r: Reader, base: Token, names: list[str], c: Cursor, whole: bool = False) -> Expr:
    """The product up to the next + or −; for max, min and argmax it must end with a bound variable."""
    inner = r.binding(names)
    negative = c.taken("MINUS")
    first = c.peek()
    if not starts_factor(first):
        raise r.error(c.place, f"`{r.shown(base)}` of what?")
    if isinstance(first, Group) and first.bracket == "LSET" and not starts_factor(c.peek(1)):
        c.take()  # \max_{…} \{ x_{ij} \}
        if has(first.items, "COMMA", "COLON", "MID"):
            raise r.error(first, f"`{r.shown(base)}` over an index and of a list: write one or the other")
        return inner.value(first.items, first.end - 1)
    factors = inner.factors(c)
    bound = {Idx(name) for name in names}
    if base.text != "sum" and len(factors) > 1 and not free_indices(factors[-1]) & bound:
        raise r.error(base, f"how far does `{r.shown(base)}` reach? Put brackets around its body")
    found = product(negated(factors) if negative else factors)
    if not whole and not free_indices(found) & bound and base.text.startswith("arg"):
        raise r.error(base, "the body does not depend on what runs")
    return found


def _without_binder(r: Reader, base: Token, c: Cursor) -> Expr:
    r"""\max(a, b, c), \max\{a, b\}, \max\{x_{ij} : …\}."""
    raised = c.peek()
    g = raised.base if isinstance(raised, Scripted) and not raised.subs and not raised.primes else raised
    if base.text in ("sum", "prod", "median") or base.text.startswith("arg") or not isinstance(g, Group):
        raise _nothing_below(r, base)
    if g.bracket == "LSET" and raised is g and divided(g.items):
        c.take()
        binder, element = ranges.set_builder(r, g)
        return Reduce(base.text, binder, element)
    parts = split(g.items, "COMMA")
    if len(parts) < 2 or g.bracket not in ("LPAREN", "LSET", "LBRACK"):
        raise _nothing_below(r, base)
    c.take()
    found = Extremum(base.text, tuple(r.value(part, g.end - 1) for part in parts))
    return r.raised(found, raised if raised is not g else None)


def _nothing_below(r: Reader, base: Token) -> NotationError:
    shown = r.shown(base)
    return r.error(base, f"`{shown}` over what? Write the indices below it, `{shown}_{{…}}`")
