"""What is asked for in entries and, beside it, in whole vectors and matrices: first where the card writes vectors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from derive.axes import extent
from derive.calculus.linear_maps import has_rest, moves
from derive.calculus.matrix_form import matrix_form
from derive.calculus.one_window import MASK, WHOLE
from derive.calculus.selection import selected
from derive.calculus.whole_arrays import by_entries, lettered, product, transposed
from derive.errors import DeriveError
from derive.exposition.builder import Builder
from derive.exposition.printed import equation, printed, with_limits
from derive.exposition.subject import Subject
from derive.expr import (
    ONE,
    Add,
    Entry,
    Expr,
    Fn,
    Mul,
    Node,
    Num,
    Partial,
    Rel,
    Star,
    eq,
    joined,
    mul,
    tuple_of,
    walk,
)
from derive.lines import WIDTH, width, write_lines
from derive.module import Module
from derive.notation import read, write
from derive.notation.shapes import COLUMN
from derive.notation.symbols import is_own
from derive.receptive_field import window_facts
from derive.sheet import Math

_LONGER = 2  # than the form in entries: no shorter, but still worth its line


def stated(b: Builder, subject: Subject, name: str, before: Expr, value: Expr, brief: bool = False) -> None:
    """before = value, and its matrix form; ``brief``: or its matrix form."""
    form, first = _form(b, subject, before, value), subject.module.table.vectors
    if form is not None and brief:
        b.blocks.append(replace(form, name=name))
        return
    if form is not None and first:
        b.blocks.append(form)
    b.math(name, equation(before, printed(value, before, subject.module)), general=subject.is_window)
    if form is not None and not first and width(form.latex) <= _LONGER * width(cast(Math, b.blocks[-1]).latex):
        b.blocks.append(form)


def defined(b: Builder, subject: Subject, definitions: Iterable[Rel]) -> None:
    """Definitions, all in vectors and matrices where the card writes these and each can be so written."""
    forms = [(each, written(b, subject, each)) for each in definitions]
    whole = [form for _, form in forms if form is not None]
    if len(whole) == len(forms):
        b.blocks += whole
        return
    for each, _ in forms:
        b.math("definition", each, definition=True)


def written(b: Builder, subject: Subject, definition: Rel) -> Math | None:
    """A definition in vectors and matrices, where the card writes these."""
    form = _form(b, subject, *definition.terms) if subject.module.table.vectors else None
    return None if form is None else replace(form, name="definition", definition=True)


def _form(b: Builder, subject: Subject, before: Expr, value: Expr) -> Math | None:
    """The matrix form as it reads back; None where it is wider than two lines, or its shapes are not those stated."""
    found = matrix_form(before, value, subject.module, subject.in_matrices)
    found = None if found is None else with_limits(found, subject.module)
    if found is None or width(write(found, b.tables[WHOLE])) > 2 * WIDTH:
        return None
    spread = _spread(found)
    if _torn(write_lines(found, b.tables[WHOLE])) and not _torn(write_lines(spread, b.tables[WHOLE])):
        found = spread
    try:
        return _read_back(b, found)
    except DeriveError:
        return None


def _torn(latex: str) -> bool:
    """A line ends within brackets."""
    return any(row.count("(") != row.count(")") for row in latex.split(r"\\"))


def _spread(statement: Rel) -> Rel:
    """A (B − C) multiplied out: A B − A C."""
    left, right = statement.terms
    terms = right.terms if isinstance(right, Add) else (right,)
    parts = [term.factors if isinstance(term, Mul) and isinstance(term.factors[-1], Add) else (term,) for term in terms]
    return eq(left, Add(tuple(_numbers_first(product(*before, each)) for *before, last in parts
                              for each in (last.terms if before and isinstance(last, Add) else (last,)))))


def _numbers_first(value: Expr) -> Expr:
    factors = value.factors if isinstance(value, Mul) else ()
    number = mul(*(f for f in factors if isinstance(f, Num)))
    return value if number is ONE else Mul((number, *(f for f in factors if not isinstance(f, Num))))


def _read_back(b: Builder, found: Node) -> Math:
    latex = write_lines(found, b.tables[WHOLE])
    return Math(latex, read(latex, b.tables[WHOLE]), "matrix_form", WHOLE)


def masked(b: Builder, subject: Subject, wrt: str, gradient: Expr) -> None:
    """The derivatives of a maximum over windows as a matrix of zeros and ones, by which δ_f goes back to ``gradient``.

    Of more axes than one all entries stand below one another. Nothing where a window may have none.
    """
    if _may_be_empty(subject.module):
        return
    output, source = subject.output, _source(subject, wrt)
    b.prose("answer_mask", matrix=b.m(Entry(MASK, ()), WHOLE), column=len(output.indices) > 1,
            rows=b.m(tuple_of(output.indices)), columns=b.m(tuple_of(source.indices)),
            sizes=[b.m(cells(subject, e.tensor)) for e in (output, source)])
    _carries(b, subject, cast(Expr, subject.messages.jacobian(wrt).premises[0].after), source, gradient)


def linear(b: Builder, subject: Subject, wrt: str, gradient: Expr) -> None:
    """y = A x + b of what is linear in x: its derivatives as a matrix, by which δ_y goes back to ``gradient``."""
    module = subject.module
    if module.table.named(MASK) is None or not moves(module) or wrt not in module.inputs or _may_be_empty(module):
        return
    output, source = subject.output, _source(subject, wrt)
    column = max(len(output.indices), len(source.indices)) > 1
    b.prose("answer_matrix", matrix=b.m(Entry(MASK, ()), WHOLE), column=column, rows=b.m(tuple_of(output.indices)),
            columns=b.m(tuple_of(source.indices)))
    jacobian = subject.messages.jacobian(wrt)
    before = cast(Partial, jacobian.before)
    known = any(isinstance(m, Math) and isinstance(m.expr, Rel) and m.expr.terms[0] is before for m in b.blocks)
    derivative = before if known else printed(cast(Expr, jacobian.after), before, module)
    _carries(b, subject, derivative, source, gradient, not has_rest(module))


def _may_be_empty(module: Module) -> bool:
    """A window may lie wholly in padding."""
    field = module.receptive_field
    return field is not None and bool(window_facts(field, module.input_size).missed)


def _source(subject: Subject, wrt: str) -> Entry:
    return cast(Entry, cast(Partial, subject.messages.jacobian(wrt).before).wrt)


def _carries(b: Builder, subject: Subject, derivative: Expr, source: Entry, gradient: Expr, forward: bool = True
             ) -> None:
    """S_{ki} = ∂f_k/∂x_i, f = S x where nothing is added to it, δ_x = S^⊤ δ_f; arrays of more axes as columns."""
    output, matrix = subject.output, Entry(MASK, ())
    b.math("mask_matrix", eq(Entry(MASK, (*output.indices, *source.indices)), derivative), definition=True)

    def stacked(of: Entry, whole: Expr) -> Expr:
        return Fn(COLUMN, (whole,)) if len(of.indices) > 1 else whole

    f, x, delta = (stacked(of, Entry(name, ())) for of, name in (
        (output, output.tensor), (source, source.tensor), (output, f"delta_{output.tensor}")))
    forms = (eq(f, product(matrix, x)), eq(stacked(source, gradient), product(transposed(matrix), delta)))
    b.blocks.append(_read_back(b, joined(forms if forward else forms[1:])))


def cells(subject: Subject, tensor: str) -> Expr:
    """H W, the number of a tensor's entries."""
    symbol = subject.module.table.named(tensor)
    return mul(*map(extent, symbol.sizes if symbol is not None else ()))


def picked(b: Builder, subject: Subject) -> None:
    """What the letters of the matrix forms pick of the card's: W_{kr^*j}."""
    used = {n.tensor for m in b.blocks if isinstance(m, Math) and m.scope == WHOLE for n in walk(m.expr)
            if isinstance(n, Entry)}
    own = [s for s in selected(subject.module) if s.symbol.name in used]
    if own:
        stars = dict.fromkeys(n for s in own for n in walk(s.definition) if isinstance(n, Star))
        b.prose("answer_picked", letters=[b.m(Entry(s.symbol.name, ()), WHOLE) for s in own], stars=[*map(b.m, stars)])
        b.joined("picked", (s.definition for s in own), definition=True)


def shapes(b: Builder, subject: Subject) -> set[str]:
    """The shapes of the letters in the matrix forms, and what their signs mean; the names of the letters."""
    forms = [block for block in b.blocks if isinstance(block, Math) and block.scope == WHOLE and not subject.is_window
             and r"\mathrm{vec}" not in block.latex]
    table, found = b.tables[WHOLE], dict[tuple[str, ...], list[str]]()
    names = {(n.tensor, f.latex): None for f in forms for n in walk(f.expr) if isinstance(n, Entry)}
    letters = dict(filter(None, (lettered(name, table, latex) for name, latex in names)))
    for letter, axes in letters.items():
        found.setdefault(tuple(b.m(extent(size)) for size in axes), []).append(b.m(letter, WHOLE))
    signs = {sign: any(latex in form.latex for form in forms) for sign, latex in (
        ("hadamard", r"\odot"), ("diagonal", r"\mathrm{diag}"), ("ones", r"\mathbf{1}"))}
    signs["functions"] = any(by_entries(form.expr, table, form.latex) for form in forms)
    if forms:
        b.prose("answer_shapes", shapes=list(found.items()), rows=subject.module.table.rows, letter=b.gradient,
                deltas=any(name.startswith("delta_") and not is_own(table.named(name)) for name, _ in names), **signs)
    return {entry.tensor for entry in letters}
