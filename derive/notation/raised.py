"""Letters whose superscript is part of their name: σ^2 where it is defined so, numbered samples x^i and x^{(i)}."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.expr import Entry, Expr, Num, Pow
from derive.notation import application, letters, subscripts
from derive.notation.cursor import Cursor
from derive.notation.symbols import Symbol
from derive.notation.tree import Group, Item, Items, Scripted, Token, is_group, is_token, unwrap

if TYPE_CHECKING:
    from derive.notation.reader import Reader

def squared(r: Reader, name: str, scripts: Scripted) -> Scripted | None:
    """The scripts without the 2 of σ^2, where σ^2 is a symbol; None where it is not."""
    if not scripts.sups or len(scripts.sups[0]) != 1 or str(scripts.sups[0][0]) != "2":
        return None
    if not any(word == f"{name}^2" or word.startswith(f"{name}^2_") for word in r.words):
        return None
    return replace(scripts, sups=scripts.sups[1:])


def root(r: Reader, token: Token, scripts: Scripted | None, c: Cursor) -> Expr:
    """σ, where only σ^2 is defined: its root."""
    two = (Token("NUMBER", "2", token.start, token.end),)
    subs = scripts.subs if scripts is not None else ()
    if scripts is not None and scripts.primes:
        raise r.error(scripts, f"`{r.shown(scripts)}`: this prime is outside the notation")
    square = Scripted(token, subs, (two,), 0, token.start, token.end)
    found = letters.symbol(r, Cursor((square,), token.end))
    half = Pow(found, Num(Fraction(1, 2)))
    return half if scripts is None else r.power(half, scripts)


_RAISED = re.compile(r"^(.+)\^[(\[](.+)[)\]]$")
_PIECES = re.compile(r"[^\W\d]+|\d+|[+-]")


def raised_in(name: str, at: Token) -> tuple[str, tuple[Token, ...]]:
    """``x^(n-1)`` → x and the tokens of n − 1."""
    match = _RAISED.match(name)
    if match is None:
        return name, ()
    kinds = {"+": "PLUS", "-": "MINUS"}
    return match[1], tuple(Token(kinds.get(p) or ("NUMBER" if p.isdigit() else "NAME"), p, at.start, at.end)
                           for p in _PIECES.findall(match[2]))


def sample(r: Reader, found: Symbol, sub: Items | None, item: Item, c: Cursor) -> Expr:
    """x^i_j, x^{(i)}_j: the sample's number is the first index."""
    scripts = item if isinstance(item, Scripted) else None
    if scripts is None or not scripts.sups or scripts.primes:
        raise r.error(item, f"`{r.shown(item)}`: which sample? Write `{found.latex}` with its number above")
    up = unwrap(scripts.sups[0])
    if len(up) == 1 and is_group(up[0], "LPAREN", "LBRACK"):
        up = up[0].items
    elif len(up) == 1 and is_token(up[0], "NUMBER"):
        raise r.error(item, f"`{r.shown(item)}`: sample {r.shown(up[0])} or a power? Write `({found.latex}^"
                            f"{{{found.axes[0]}}})^{r.shown(up[0])}`, or `{found.latex}^{{({r.shown(up[0])})}}`")
    inner = replace(r, in_index=True)
    rank = len(found.axes) - 1
    rest = () if sub is None else subscripts.indices(r, sub, rank, found, item)
    if sub is None and rank - found.unwritten > 0:
        raise r.error(item, f"`{r.shown(item)}` has no subscript, `{found.latex}` has {rank}")
    node = Entry(found.name, (inner.value(up, item.end), *rest))
    following = c.peek()
    if isinstance(following, Group) and following.bracket == "LPAREN" and application.dependency(r, following):
        c.take()
    return r.power(node, replace(scripts, sups=scripts.sups[1:]))
