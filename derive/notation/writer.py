"""Expression → LaTeX, so that reading it back gives the same expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

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
    Listed,
    Matrix,
    Mul,
    Node,
    Num,
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
from derive.notation import condition_writer as conditions
from derive.notation import value_writer as values
from derive.notation.brackets import juxtaposed, parenthesised
from derive.notation.errors import NotationError
from derive.notation.names import latex_of, split_label
from derive.notation.product_writer import product
from derive.notation.symbols import SymbolTable


@lru_cache(maxsize=4096)
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
    local: frozenset[str] = frozenset()  # the parameters of the function that is being defined

    def write(self, node: Node) -> str:
        """The node at the outermost level of its brackets."""
        return _writers()[type(node)](self, node)

    def symbol(self, name: str) -> str:
        known = self.table.named(name)
        if name in self.local:
            return latex_of(name)
        if known is None:
            raise NotationError(f"`{name}` has no symbol in the table")
        return known.latex

    def above(self, name: str) -> str:
        known = self.table.named(name)
        return known.above if known is not None else ""

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
        known = self.table.named(name)
        if known is not None and known.above:
            style = "(i)" if isinstance(terms[0], Num) else known.above
            above = f"^{{{style.replace('i', self.index_term(terms[0]))}}}"
            if len(terms) == 1:
                return latex + above
            base, terms = base + above, terms[1:]
        inside = self.subscript(terms)
        return f"{base}_{{{inside}}}" if label is None else f"{base}_{{{label},{inside}}}"

    def round(self, inside: str) -> str:
        return parenthesised(inside)

    def items(self, terms: tuple[Expr, ...]) -> str:
        return ", ".join(map(self.write, terms))

    def base(self, node: Expr) -> str:
        """What carries an exponent."""
        raised = isinstance(node, Entry) and ("^" in self.symbol(node.tensor) or self.above(node.tensor))
        plain = (isinstance(node, (Entry, Size, Idx)) and not raised) or (
            isinstance(node, Num) and node.value >= 0 and node.value.denominator == 1) or (
            isinstance(node, Fn) and node.name == "abs")
        return self.write(node) if plain else self.round(self.write(node))


@cache
def _writers() -> dict[type, Callable[[Writer, Any], str]]:
    return {
        Add: values.total,
        And: conditions.conjunction,
        Arg: binder_writer.reduction,
        Cases: conditions.cases,
        Directional: values.directional,
        Fn: values.function,
        Given: conditions.given,
        Idx: Writer.idx,
        Matrix: values.matrix,
        Mul: product,
        Num: values.number,
        Partial: values.partial,
        Pow: values.power,
        Reduce: binder_writer.reduction,
        Rel: conditions.relation,
        SetApp: values.set_applied,
        SetOf: binder_writer.set_of,
        Star: Writer.star,
        Subdifferential: values.subdifferential,
        Unit: values.unit,
        Infinity: lambda w, n: r"\infty" if n.sign > 0 else r"-\infty",
        Size: lambda w, n: w.symbol(n.name),
        Entry: lambda w, n: w.indexed(n.tensor, n.indices),
        Extremum: lambda w, n: rf"\{n.op}{w.round(w.items(n.args))}",
        Tuple: lambda w, n: f"({w.items(n.items)})",
        Bracket: lambda w, n: rf"\mathbb{{I}}[{replace(w, tight=True).write(n.cond)}]",
        Listed: lambda w, n: rf"\lbrace {w.items(n.items)} \rbrace",
        Hull: lambda w, n: rf"\operatorname{{conv}} {w.write(n.of)}",
        Without: lambda w, n: rf"{w.write(n.base)} \setminus \lbrace {w.items(n.elements)} \rbrace",
        Cardinality: lambda w, n: rf"\left|{w.write(n.of)}\right|",
        In: lambda w, n: rf"{w.write(n.element)} \in {w.write(n.set)}",
        Iff: lambda w, n: rf"{w.write(n.left)} \iff {w.write(n.right)}",
    }
