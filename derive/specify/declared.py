r"""The letters that a statement declares by their shapes: W \in \mathbb{R}^{K \times n}, b_1 \in \mathbb{R}."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from derive.expr import Entry, Idx, Node, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, name_of, split_label
from derive.statement import Statement

_SHAPE = re.compile(r"(?P<letters>[^=]*?)\\in\s*\\mathbb\s*(?:\{\s*R\s*\}|R)\s*"
                    r"(?:\^\s*(?:\{(?P<many>[^{}]*)\}|(?P<one>\w)))?")
_SIZE = re.compile(r"\\?[A-Za-z]+(?:_(?:\w|\{\w+\}))?'?|\d{1,6}")
_WORD = re.compile(r"\{?(?:\d+|\\(?:text|mathrm)\{\w+\}|\w{2,}|[A-Z])\}?")
_LETTERS = "ijklmnpqrstuvwabcdgh"
UNKNOWN = r"\cdot"  # a size that nothing says


def declared_by(statement: Statement) -> SymbolTable:
    """The letters of the shapes, with an axis for each size; a size is a letter of its own.

    A letter with a subscript is one letter where the subscript is a number, a word or a capital, or where it stands
    among the roles: x_0, W_{out}; w_k of rows w_k ∈ R^n is not.
    """
    listed = {name_of(t) for key in ("inputs", "parameters", "constants") for t in getattr(statement, key) or ()}
    listed |= {name_of(t) for t in (statement.output,) if t}
    found: dict[str, Symbol] = {}
    for text in statement.shapes or ():
        for latex, sizes in _shapes(text):
            label = split_label(latex)[1]
            if label is None or _WORD.fullmatch(label) or name_of(latex) in listed:
                name = identifier(name_of(latex))
                found[name] = Symbol(name, latex, Kind.TENSOR, (), (), sizes)
    extents = dict.fromkeys(s for symbol in found.values() for s in symbol.sizes if isinstance(s, str) and s)
    heads = {m[1] for text in statement.forward or () if (m := re.match(r"\s*([A-Za-z])\s*_", text))}  # a gate i_k
    spare = [c for c in _LETTERS if c not in found and c not in extents and c not in listed | heads]
    along: dict[int | str, str] = {}
    for symbol in found.values():
        axes: list[str] = []
        for n, size in enumerate(symbol.sizes):
            letter = along.setdefault(size or f" {n}", spare[len(along) % len(spare)])
            axes.append(letter if letter not in axes else next(c for c in spare if c not in axes))
        found[symbol.name] = replace(symbol, axes=tuple(axes), sizes=symbol.sizes if any(symbol.sizes) else ())
    sizes_ = (Symbol(name, name if len(name) == 1 else _latex(name, statement), Kind.SIZE) for name in extents)
    return SymbolTable((*sizes_, *found.values()))


def declares(formula: Formula, declared: SymbolTable) -> bool:
    """Whether the table has all letters of a shape."""
    shapes = list(_shapes(formula.latex))
    return bool(shapes) and all(declared.written(latex) is not None for latex, _ in shapes)


def _shapes(text: str) -> Iterator[tuple[str, tuple[int | str, ...]]]:
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        return
    extents = match["many"] if match["many"] is not None else match["one"]
    parts = [] if extents is None else [p.strip() for p in re.split(r"\\times(?![A-Za-z])", extents)]
    if all(p == UNKNOWN or _SIZE.fullmatch(p) for p in parts):
        sizes = tuple(int(p) if p.isdecimal() else "" if p == UNKNOWN else name_of(p) for p in parts)
        for latex in re.split(r",(?![^{]*\})", match["letters"]):
            yield latex.strip(), sizes


def _latex(name: str, statement: Statement) -> str:
    parts = (p.strip() for text in statement.shapes or () for p in re.split(r"\\times(?![A-Za-z])|[{}^]", text))
    return next((p for p in parts if name_of(p) == name), name)


def with_own_axes(table: SymbolTable, declared: SymbolTable, nodes: Iterable[Node]) -> SymbolTable:
    """The table with the index letters at which declared tensors first stand."""
    changed: dict[str, Symbol] = {}
    for entry in (n for node in nodes for n in walk(node) if isinstance(n, Entry)):
        letters = tuple(i.name for i in entry.indices if isinstance(i, Idx))
        symbol = declared.named(entry.tensor)
        bound = any(c.startswith("§") for c in letters)
        if symbol is not None and len({*letters}) == len(letters) == len(symbol.axes) and not bound:
            changed.setdefault(entry.tensor, replace(table.named(entry.tensor) or symbol, axes=letters))
    return table.extended(changed.values()) if changed else table
