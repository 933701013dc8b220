"""Products on paper: the sign in front, quotients as fractions, brackets where a factor needs them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.expr import (
    Add,
    Arg,
    Bracket,
    Cases,
    Entry,
    Expr,
    Fn,
    Idx,
    Infinity,
    Mul,
    Num,
    Partial,
    Pow,
    Reduce,
    Size,
    Subdifferential,
    Without,
)

if TYPE_CHECKING:
    from derive.notation.writer import Writer


def is_negative(node: Expr) -> bool:
    """Whether the written term opens with a minus."""
    first = node.factors[0] if isinstance(node, Mul) else node
    return (isinstance(first, Num) and first.value < 0) or (isinstance(node, Infinity) and node.sign < 0)


def signed(w: Writer, node: Expr) -> str:
    """A negative term without its minus."""
    if isinstance(node, Mul):
        first = node.factors[0]
        assert isinstance(first, Num)
        rest = node.factors[1:]
        if first.value == -1 and not isinstance(rest[0], Num):
            return quotients(w, list(rest))
        return quotients(w, [Num(-first.value), *rest])
    if isinstance(node, Num):
        return w.write(Num(-node.value))
    return r"\infty"


def product(w: Writer, node: Mul) -> str:
    return "-" + signed(w, node) if is_negative(node) else quotients(w, list(node.factors))


def quotients(w: Writer, factors: list[Expr]) -> str:
    """The factors in order; those before a power −1 stand above it in a fraction."""
    w = replace(w, display=True)  # ∂f / ∂x is for a line of its own
    first = factors[0]
    if isinstance(first, Num) and first.value.denominator != 1 and len(factors) == 2 and _short(factors[1]):
        return _over_number(w, first.value, factors[1])
    pieces: list[tuple[str, Expr | None]] = []
    above: list[Expr] = []
    for factor in factors:
        below = factor.base if isinstance(factor, Pow) and factor.exponent == Num(-1) else None
        numeric = isinstance(below, Num)
        if below is None or numeric:
            above.append(factor)
            continue
        lead = above[:1] if above and isinstance(above[0], Num) and _kept_apart(above) else []
        pieces += [(factor_text(w, f), f) for f in lead]
        rest = above[len(lead) :]
        top = joined(w, [(factor_text(w, f, n == len(rest) - 1), f) for n, f in enumerate(rest)]) if rest else "1"
        if len(rest) == 1 and not isinstance(rest[0], Mul):
            top = w.write(rest[0])
        pieces.append((rf"\frac{{{top}}}{{{w.write(below)}}}", None))
        above = []
    pieces += [(factor_text(w, f, n == len(above) - 1), f) for n, f in enumerate(above)]
    return joined(w, pieces)


def _kept_apart(above: list[Expr]) -> bool:
    first = above[0]
    return isinstance(first, Num) and (first.value.denominator != 1 or first.value < 0 or (
        first.value == 1 and len(above) == 1))


def _short(node: Expr) -> bool:
    return isinstance(node, (Idx, Size, Add))


def _over_number(w: Writer, value: Fraction, node: Expr) -> str:
    """i/2 in an index, else a fraction."""
    if not (w.in_index or w.tight):
        top = w.write(node) if value.numerator == 1 else joined(
            w, [(str(value.numerator), None), (factor_text(w, node), node)])
        return rf"\frac{{{top}}}{{{value.denominator}}}"
    top = factor_text(w, node) if value.numerator == 1 else f"{value.numerator}{factor_text(w, node)}"
    return f"{top}/{value.denominator}"


def factor_text(w: Writer, node: Expr, last: bool = True) -> str:
    """One factor; a sum over indices swallows what follows, so it is bracketed unless it is last; cases too."""
    open_ended = isinstance(node, (Reduce, Arg)) and not last
    open_ended |= isinstance(node, Subdifferential) and not last
    open_ended |= isinstance(node, Partial) and not isinstance(node.of, Entry) and not last
    open_ended |= isinstance(node, Cases) and not last
    if isinstance(node, (Add, Mul, Without)) or is_negative(node) or open_ended or (
        isinstance(node, Fn) and node.name == "mod"
    ):
        return w.round(w.write(node))
    return w.write(node)


def joined(w: Writer, pieces: list[tuple[str, Expr | None]]) -> str:
    out, before = "", None
    for shown, node in pieces:
        if not out:
            out = shown
        elif shown[0].isdigit() or isinstance(node, Num) or _looks_applied(before, shown):
            out += rf" \cdot {shown}"
        elif isinstance(node, Bracket):
            out += rf" \, {shown}"
        elif out.isdigit() and isinstance(node, (Idx, Size)):
            out += shown
        else:
            out += f" {shown}"
        before = node
    return out


def _looks_applied(before: Expr | None, shown: str) -> bool:
    """A symbol without indices before a bracket: L (a) would be L at a."""
    base = before.base if isinstance(before, Pow) else before
    return isinstance(base, Entry) and not base.indices and shown.startswith(("(", r"\left("))
