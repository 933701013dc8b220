"""Expression → LaTeX, so that reading it back gives the same expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

from derive.expr import (
    Add,
    And,
    Arg,
    Bracket,
    Cardinality,
    Cases,
    Directional,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Hull,
    Idx,
    Iff,
    In,
    Infinity,
    Matrix,
    Mul,
    Node,
    Num,
    Otherwise,
    Partial,
    Pow,
    Reduce,
    Rel,
    SetApp,
    SetOf,
    Size,
    Star,
    Subdifferential,
    Tuple,
    Unit,
    Without,
    free_indices,
)
from derive.notation import binder_writer
from derive.notation.errors import NotationError
from derive.notation.names import latex_of, split_label
from derive.notation.product_writer import is_negative, product, signed
from derive.notation.symbols import SymbolTable

RELATIONS = {"=": "=", "≠": r"\ne", "<": "<", "≤": r"\le", ">": ">", "≥": r"\ge"}
_TALL = (r"\frac", r"\sum", r"\prod", r"\begin", r"\max_", r"\min_")


def write(node: Node, table: SymbolTable, *, display: bool = True) -> str:
    """The LaTeX of an expression, with the symbols of the table; ``read`` gives the expression back.

    ``display=False`` writes for a line of text.  Raises :class:`NotationError` where a
    symbol is not in the table.
    """
    free = frozenset(i.name for i in free_indices(node))
    return Writer(table, display, taken=free).write(node)


@dataclass(frozen=True)
class Writer:
    """``names`` holds the names of bound variables, ``taken`` all names in scope."""

    table: SymbolTable
    display: bool = True
    tight: bool = False  # inside cases and conditions: small fractions, small gaps
    names: dict[Idx, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    in_index: bool = False

    def write(self, node: Node) -> str:
        """The node at the outermost level of its brackets."""
        return _writers()[type(node)](self, node)

    def symbol(self, name: str) -> str:
        known = self.table.named(name)
        if known is None:
            raise NotationError(f"`{name}` has no symbol in the table")
        return known.latex

    def index_name(self, name: str) -> str:
        letter = name.rstrip("'")
        known = self.table.named(letter)
        return (known.latex if known is not None else latex_of(letter)) + name[len(letter) :]

    def idx(self, node: Idx) -> str:
        return self.index_name(self.names.get(node, node.name))

    def star(self, node: Star) -> str:
        shown = self.index_name(node.name) + "^*"
        usual = dict(self.table.stars).get(node.name)
        at = tuple(self.names.get(a, a.name) if isinstance(a, Idx) else "" for a in node.at)
        return shown if usual == at else f"{shown}({', '.join(map(self.index_term, node.at))})"

    def index_term(self, term: Expr) -> str:
        return replace(self, in_index=True).write(term)

    def subscript(self, terms: tuple[Expr, ...]) -> str:
        """``ij``, ``2k+1``, ``2k,2l``: what :mod:`derive.notation.subscripts` reads apart."""
        inner = replace(self, in_index=True)
        written = [inner.write(term) for term in terms]
        simple = all(isinstance(t, Idx) or (isinstance(t, Star) and not w.endswith(")"))
                     for t, w in zip(terms, written, strict=True))
        if simple:
            return juxtaposed(written)
        return ",".join(w.replace(" + ", "+").replace(" - ", "-") for w in written)

    def indexed(self, name: str, terms: tuple[Expr, ...]) -> str:
        latex = self.symbol(name)
        if not terms:
            return latex
        base, label = split_label(latex)
        inside = self.subscript(terms)
        return f"{base}_{{{inside}}}" if label is None else f"{base}_{{{label},{inside}}}"

    def round(self, inside: str) -> str:
        return parenthesised(inside)

    def items(self, terms: tuple[Expr, ...]) -> str:
        return ", ".join(map(self.write, terms))

    def base(self, node: Expr) -> str:
        """What carries an exponent."""
        plain = isinstance(node, (Entry, Size, Idx)) or (
            isinstance(node, Num) and node.value >= 0 and node.value.denominator == 1)
        return self.write(node) if plain else self.round(self.write(node))


def parenthesised(inside: str) -> str:
    return rf"\left({inside}\right)" if any(t in inside for t in _TALL) else f"({inside})"


def juxtaposed(pieces: list[str]) -> str:
    """Pieces side by side, with a space where a command would swallow the next letter."""
    out = ""
    for piece in pieces:
        space = out and piece[:1].isalpha() and out.rsplit("\\", 1)[-1].isalpha() and "\\" in out
        out += (" " if space else "") + piece
    return out


def _add(w: Writer, node: Add) -> str:
    out = ""
    for n, term in enumerate(node.terms):
        negative = is_negative(term)
        shown = signed(w, term) if negative else w.write(term)
        if isinstance(term, Add) or (isinstance(term, Fn) and term.name == "mod"):
            shown = w.round(shown)
        out += ("-" if negative else "") if n == 0 else " - " if negative else " + "
        out += shown
    return out


def _number(w: Writer, node: Num) -> str:
    value = abs(node.value)
    sign = "-" if node.value < 0 else ""
    if value.denominator == 1:
        return f"{sign}{value.numerator}"
    return rf"{sign}\frac{{{value.numerator}}}{{{value.denominator}}}"


def _pow(w: Writer, node: Pow) -> str:
    if node.exponent == Num(-1) and not isinstance(node.base, Num):
        return rf"\frac{{1}}{{{replace(w, display=True).write(node.base)}}}"
    if isinstance(node.exponent, Num) and node.exponent.value * 2 == 1:
        return rf"\sqrt{{{w.write(node.base)}}}"
    return f"{w.base(node.base)}^{{{w.write(node.exponent)}}}"


def _function(w: Writer, node: Fn) -> str:
    if node.name == "mod":
        left, right = (w.write(a) if _atomic(a) else w.round(w.write(a)) for a in node.args)
        return rf"{left} \bmod {right}"
    inside = w.items(node.args)
    tall = any(t in inside for t in _TALL)
    if node.name == "abs":
        return rf"\left|{inside}\right|"
    if node.name in ("floor", "ceil"):
        left, right = (rf"\{side}{node.name}" for side in "lr")
        return rf"\left{left} {inside} \right{right}" if tall else f"{left} {inside} {right}"
    if node.name == "exp":
        return f"e^{{{inside}}}"
    command = rf"\{node.name}" if node.name != "sign" else r"\operatorname{sign}"
    return command + w.round(inside)


def _atomic(node: Expr) -> bool:
    return isinstance(node, (Idx, Size, Entry)) or (isinstance(node, Num) and node.value >= 0 and
                                                    node.value.denominator == 1)


def _cases(w: Writer, node: Cases) -> str:
    rows = []
    w = replace(w, tight=True)
    for value, cond in node.branches:
        test = r"\text{otherwise}" if isinstance(cond, Otherwise) else rf"\text{{if }} {w.write(cond)}"
        rows.append(f"{w.write(value)} & {test}")
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def _partial(w: Writer, node: Partial) -> str:
    wrt = w.write(node.wrt)
    if isinstance(node.of, Entry):
        of = w.write(node.of)
        if not w.display:
            return rf"\partial {of} / \partial {wrt}"
        return rf"\frac{{\partial {of}}}{{\partial {wrt}}}"
    return rf"\frac{{\partial}}{{\partial {wrt}}} {w.round(w.write(node.of))}"


def _rel(w: Writer, node: Rel) -> str:
    out = w.write(node.terms[0])
    for op, term in zip(node.ops, node.terms[1:], strict=True):
        out += f" {RELATIONS[op]} {w.write(term)}"
    return out


def _and(w: Writer, node: And) -> str:
    out = ""
    for n, cond in enumerate(node.conds):
        shown = w.round(w.write(cond)) if isinstance(cond, (And, Iff, Given)) else w.write(cond)
        gap = r",\ " if w.tight or w.in_index else r",\quad "
        joint = "" if n == 0 else r" \land " if _shares_bounds(node.conds[n - 1], cond) else gap
        out += joint + shown
    return out


def _shares_bounds(first: Node, second: Node) -> bool:
    """``0 \\le i,\\ j < n`` would read as bounds of both."""
    return (isinstance(first, Rel) and isinstance(second, Rel) and len(first.ops) == len(second.ops) == 1
            and isinstance(first.terms[1], Idx) and isinstance(second.terms[0], Idx))


def _given(w: Writer, node: Given) -> str:
    return rf"{w.write(node.claim)} \quad \text{{if }} {replace(w, tight=True).write(node.cond)}"


def _subdifferential(w: Writer, node: Subdifferential) -> str:
    return rf"\partial {w.write(node.of) if isinstance(node.of, Entry) else w.round(w.write(node.of))}"


def _directional(w: Writer, node: Directional) -> str:
    of = w.write(node.of)
    return f"{of}'({w.symbol(node.at)}; {w.symbol(node.direction)})"


def _unit(w: Writer, node: Unit) -> str:
    terms = node.index.items if isinstance(node.index, Tuple) else (node.index,)
    return f"e_{{{w.subscript(terms)}}}"


def _matrix(w: Writer, node: Matrix) -> str:
    rows = (" & ".join(map(w.write, row)) for row in node.rows)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def _set(w: Writer, node: SetApp) -> str:
    return w.symbol(node.name) + (f"({', '.join(map(w.index_term, node.args))})" if node.args else "")


@cache
def _writers() -> dict[type, Callable[[Writer, Node], str]]:
    table = {
        Num: _number, Add: _add, Pow: _pow, Fn: _function, Cases: _cases, Partial: _partial, Rel: _rel, And: _and,
        Given: _given, Subdifferential: _subdifferential, Directional: _directional, Unit: _unit, Matrix: _matrix,
        SetApp: _set, Mul: product, Idx: Writer.idx, Star: Writer.star,
        Reduce: binder_writer.reduction, Arg: binder_writer.reduction, SetOf: binder_writer.set_of,
        Infinity: lambda w, n: r"\infty" if n.sign > 0 else r"-\infty",
        Size: lambda w, n: w.symbol(n.name),
        Entry: lambda w, n: w.indexed(n.tensor, n.indices),
        Extremum: lambda w, n: rf"\{n.op}{w.round(w.items(n.args))}",
        Tuple: lambda w, n: f"({w.items(n.items)})",
        Bracket: lambda w, n: rf"\mathbb{{I}}[{replace(w, tight=True).write(n.cond)}]",
        Hull: lambda w, n: rf"\operatorname{{conv}} {w.write(n.of)}",
        Without: lambda w, n: rf"{w.write(n.base)} \setminus \lbrace {w.items(n.elements)} \rbrace",
        Cardinality: lambda w, n: rf"\left|{w.write(n.of)}\right|",
        In: lambda w, n: rf"{w.write(n.element)} \in {w.write(n.set)}",
        Iff: lambda w, n: rf"{w.write(n.left)} \iff {w.write(n.right)}",
    }
    return table  # type: ignore[return-value]


