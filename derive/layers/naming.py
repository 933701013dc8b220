"""The module of a window form: every letter in its table, every window under one name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from derive.expr import Entry, Idx, In, Reduce, Rel, SetApp, eq, over, tuple_of
from derive.layers.forward import WindowForm
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable, message
from derive.receptive_field import ReceptiveField

_SETS = (("Omega", r"\Omega"), ("R_cal", r"\mathcal{R}"), ("Lambda", r"\Lambda"), ("Gamma", r"\Gamma"))
_MEMBERS = "ijuvpqrstabcdegh"


def module_over(form: WindowForm, table: SymbolTable, field: ReceptiveField, **rest: Any) -> Module:
    """y_K = op over I ∈ Ω(K) of x_I, with Ω the receptive field; ``rest`` as in :class:`Module`."""
    equation, name, table = normalised(form, table)
    return Module((equation,), table, form.output.tensor, (form.source,), fields=((name, field),), **rest)


def with_loss(table: SymbolTable, loss: str | None) -> SymbolTable:
    """The table in which the card's own letter for the loss has the name ``loss``."""
    known = None if loss is None else table.named(loss)
    if known is None:
        return table
    others = tuple(s for s in table.symbols if s is not known)
    return replace(table, symbols=(*others, Symbol("loss", known.latex, Kind.TENSOR)))


def normalised(form: WindowForm, table: SymbolTable) -> tuple[Rel, str, SymbolTable]:
    """(y_K = op over I ∈ Ω(K) of x_I, the name of Ω, the table with every letter of it).

    A window without a name gets one that the card does not use, Ω by preference.
    """
    outs = tuple(i.name for i in form.output.indices if isinstance(i, Idx))
    name, latex = _set_letter(form, table)
    ins = _member_letters(form, name, outs, table)
    variables = tuple([Idx(c) for c in ins])
    if form.axes is not None:  # the letters that counted a window's cells are gone
        meant = {letter for s in table.symbols for letter in (*s.axes, *s.members)} | {*outs, *ins}
        table = replace(table, symbols=tuple(s for s in table.symbols if s.kind is not Kind.INDEX or s.name in meant))
    applied = SetApp(name, form.output.indices)
    window = over(variables, In(tuple_of(variables), applied))
    equation = eq(form.output, Reduce(form.op, window, Entry(form.source, variables)))
    return equation, name, _with_letters(table, form, (name, latex), outs, ins)


def _set_letter(form: WindowForm, table: SymbolTable) -> tuple[str, str]:
    if form.set_name is not None:
        known = table.named(form.set_name)
        return form.set_name, known.latex if known else form.set_name
    free = ((n, w) for n, w in _SETS if table.named(n) is None and table.written(w) is None)
    return next(free, ("Omega_pool", r"\Omega_{\text{pool}}"))


def _member_letters(form: WindowForm, name: str, outs: tuple[str, ...], table: SymbolTable) -> tuple[str, ...]:
    """The card's own letters for Ω's members, else those of x's axes, else free ones."""
    of_set, of_input = table.named(name), table.named(form.source)
    for letters in (of_set.members if of_set else (), of_input.axes if of_input else ()):
        if len(set(letters)) == form.rank and not set(letters) & set(outs):
            return letters
    taken = {s.name for s in table.symbols if s.kind is not Kind.INDEX} | set(outs)
    return tuple([c for c in _MEMBERS if c not in taken][: form.rank])


def _with_letters(
    table: SymbolTable, form: WindowForm, named: tuple[str, str], outs: tuple[str, ...], ins: tuple[str, ...]
) -> SymbolTable:
    def tensor(name: str, axes: tuple[str, ...]) -> Symbol:
        known = table.named(name)
        # sizes in letters stay the card's own; those in numbers are the module's ``input_size``
        sizes = tuple(n for n in (known.sizes if known else ()) if isinstance(n, str))
        sizes = sizes if len(sizes) == len(axes) else ()
        return Symbol(name, known.latex if known else name, Kind.TENSOR, axes, (), sizes)

    output, source = tensor(form.output.tensor, outs), tensor(form.source, ins)
    letters = [table.named(c) or Symbol(c, c, Kind.INDEX) for c in (*outs, *ins)]
    window = Symbol(*named, Kind.SET, outs, ins)
    table = table.extended((output, source, message(output, table), message(source, table), window, *letters))
    stars = dict(table.stars) | dict.fromkeys(ins, outs)
    return replace(table, stars=tuple(stars.items()))
