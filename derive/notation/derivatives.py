"""Derivatives: ∂f/∂x as a fraction or with a slash, df/dx, the gradient ∇_w L, the subdifferential ∂f."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.expr import Entry, Expr, Fn, Partial, Subdifferential
from derive.notation.cursor import Cursor, starts_factor
from derive.notation.products import product
from derive.notation.symbols import Kind
from derive.notation.tree import Command, Item, Items, Scripted, Token, is_token, unwrap

if TYPE_CHECKING:
    from derive.notation.reader import Reader

def total(r: Reader, above: Items, below: Items, at: Item) -> bool:
    """df/dx, where d is no symbol of its own."""
    letters = [i[0].text for i in (above, below) if i and isinstance(i[0], Token) and i[0].type == "NAME"]
    if letters != ["d", "d"] or len(below) < 2:
        return False
    if "d" in r.words:
        raise r.error(at, r"a derivative, or quotients with the factor `d`? Write `\partial` for a derivative")
    return True


def bare_function(r: Reader, items: Items) -> Expr | None:
    """σ of dσ/ds: the card's function at its own arguments."""
    known = r.words.get(items[0].text) if len(items) == 1 and isinstance(items[0], Token) else None
    if known is None or known.kind is not Kind.FUNCTION:
        return None
    return Fn(known.name, tuple(Entry(parameter, ()) for parameter in known.axes))


def is_operator(item: Item) -> bool:
    r"""\frac{d}{dx}, with what is differentiated behind it."""
    if not isinstance(item, Command) or item.type != "FRAC":
        return False
    above = unwrap(item.arguments[0])
    return len(above) == 1 and (is_token(above[0], "PARTIAL") or (is_token(above[0], "NAME") and above[0].text == "d"))


def variable(r: Reader, items: Items, at: Item) -> Expr:
    found = r.value(items, at.end - 1)
    if not isinstance(found, Entry):
        raise r.error(at, "a derivative is taken with respect to one entry, such as `x_{ij}`")
    return found


def partial(r: Reader, c: Cursor) -> Expr:
    r"""∂f_{kl} / ∂x_{ij}, \partial_{x_{ij}} f_{kl}, or ∂f alone: the subdifferential."""
    sign = c.take()
    if isinstance(sign, Scripted) and len(sign.subs) == 1 and not sign.sups and not sign.primes:
        return _by(r, sign, c, "derivative")
    if isinstance(sign, Scripted):
        raise r.error(sign, "a derivative of higher order, or without one letter, is outside the notation")
    if not starts_factor(c.peek()):
        raise r.error(sign, r"`\partial` of what?")
    of = product(r.factor(c))
    if is_token(c.peek(), "SLASH") and is_token(c.peek(1), "PARTIAL"):
        c.at += 2
        if not starts_factor(c.peek()):
            raise r.error(sign, "a derivative with respect to what?")
        wrt = product(r.factor(c))
        if not isinstance(wrt, Entry):
            raise r.error(sign, "a derivative is taken with respect to one entry, such as `x_{ij}`")
        return Partial(of, wrt)
    return Subdifferential(of)


def gradient(r: Reader, c: Cursor) -> Expr:
    r"""\nabla_w L: the derivatives by every entry of w."""
    sign = c.take()
    if not isinstance(sign, Scripted) or len(sign.subs) != 1 or sign.sups or sign.primes:
        raise r.error(sign, r"a gradient with respect to what? Write `\nabla_w L`")
    return _by(r, sign, c, "gradient")


def _by(r: Reader, sign: Scripted, c: Cursor, what: str) -> Expr:
    """The derivative of the next factor by the letter in the subscript."""
    wrt = variable(r, sign.subs[0], sign)
    if not starts_factor(c.peek()):
        raise r.error(sign, f"a {what} of what?")
    return Partial(product(r.factor(c)), wrt)
