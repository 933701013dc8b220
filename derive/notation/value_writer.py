"""Sums, numbers, powers, functions, derivatives and matrices on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from derive.expr import (
    PI,
    Add,
    Directional,
    Entry,
    Expr,
    Fn,
    Idx,
    Matrix,
    Num,
    Partial,
    Pow,
    SetApp,
    Size,
    Subdifferential,
    Tuple,
    Unit,
)
from derive.notation.brackets import tall
from derive.notation.names import lexicon
from derive.notation.product_writer import is_negative, signed
from derive.notation.vocabulary import FUNCTIONS

if TYPE_CHECKING:
    from derive.notation.writer import Writer


_FINE = 200  # a finer fraction is written as a decimal: 0.044715
_PLACES = 8


def total(w: Writer, node: Add) -> str:
    out = ""
    for n, term in enumerate(node.terms):
        negative = is_negative(term)
        shown = signed(w, term) if negative else w.write(term)
        if isinstance(term, Add) or (isinstance(term, Fn) and term.name == "mod"):
            shown = w.round(shown)
        out += ("-" if negative else "") if n == 0 else " - " if negative else " + "
        out += shown
    return out


def number(w: Writer, node: Num) -> str:
    value = abs(node.value)
    sign = "-" if node.value < 0 else ""
    if value.denominator == 1:
        return f"{sign}{value.numerator}"
    if value.denominator > _FINE and value.denominator % 5 == 0 and 10**_PLACES % value.denominator == 0:
        whole, rest = divmod(value.numerator * (10**_PLACES // value.denominator), 10**_PLACES)
        return f"{sign}{whole}.{rest:0{_PLACES}d}".rstrip("0")
    return rf"{sign}\frac{{{value.numerator}}}{{{value.denominator}}}"


def power(w: Writer, node: Pow) -> str:
    if node.exponent == Num(-1) and not isinstance(node.base, Num):
        return rf"\frac{{1}}{{{replace(w, display=True).write(node.base)}}}"
    if isinstance(node.exponent, Num) and node.exponent.value * 2 == 1:
        return rf"\sqrt{{{w.write(node.base)}}}"
    of = node.base
    if isinstance(of, Fn) and of.name in NAMED and isinstance(node.exponent, Num) and node.exponent.value > 1:
        return f"{_command(w, of.name)}^{{{w.write(node.exponent)}}}{w.round(w.items(of.args))}"
    base, exponent = w.base(of), w.write(node.exponent)
    if exponent == "T" and isinstance(of, Entry):
        base = w.round(base)  # w^T would be transposed
    return f"{base}^{{{exponent}}}"


def function(w: Writer, node: Fn) -> str:
    if node.name == "mod":
        left, right = (w.write(a) if _atomic(a) else w.round(w.write(a)) for a in node.args)
        return rf"{left} \bmod {right}"
    if node is PI:
        return r"\pi"
    inside = w.items(node.args)
    if node.name == "abs":
        return rf"\left|{inside}\right|"
    if node.name in ("floor", "ceil"):
        left, right = (rf"\{side}{node.name}" for side in "lr")
        return rf"\left{left} {inside} \right{right}" if tall(inside) else f"{left} {inside} {right}"
    if node.name == "exp":
        letter = w.table.written("e")  # of the card: e^x would be its power
        return f"e^{{{inside}}}" if letter is None or letter.axes else rf"\exp{w.round(inside)}"
    return _command(w, node.name) + w.round(inside)


NAMED = frozenset(FUNCTIONS.values()) - {"exp", "abs"}


def _command(w: Writer, name: str) -> str:
    if name in NAMED:
        return rf"\{name}" if name != "sign" else r"\operatorname{sign}"
    bare = name.rstrip("'")
    return w.symbol(bare) + name[len(bare) :]


def _atomic(node: Expr) -> bool:
    return isinstance(node, (Idx, Size, Entry)) or (isinstance(node, Num) and node.value >= 0 and
                                                    node.value.denominator == 1)


def partial(w: Writer, node: Partial) -> str:
    wrt = w.write(node.wrt)
    if isinstance(node.of, Entry):
        of = w.write(node.of)
        if not w.display:
            return rf"\partial {of} / \partial {wrt}"
        return rf"\frac{{\partial {of}}}{{\partial {wrt}}}"
    return rf"\frac{{\partial}}{{\partial {wrt}}} {w.round(w.write(node.of))}"


def subdifferential(w: Writer, node: Subdifferential) -> str:
    return rf"\partial {w.write(node.of) if isinstance(node.of, Entry) else w.round(w.write(node.of))}"


def directional(w: Writer, node: Directional) -> str:
    of = w.write(node.of)
    if "^" in of:  # TeX takes no prime beside a superscript
        of = f"{{{of}}}"
    return f"{of}'({w.symbol(node.at)}; {w.symbol(node.direction)})"


def unit(w: Writer, node: Unit) -> str:
    terms = node.index.items if isinstance(node.index, Tuple) else (node.index,)
    letter = r"\hat{e}" if "e" in lexicon(w.table) else "e"
    return f"{letter}_{{{w.subscript(terms)}}}"


def matrix(w: Writer, node: Matrix) -> str:
    rows = (" & ".join(map(w.write, row)) for row in node.rows)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def set_applied(w: Writer, node: SetApp) -> str:
    return w.symbol(node.name) + (f"({', '.join(map(w.index_term, node.args))})" if node.args else "")
