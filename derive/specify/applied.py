"""Letters that formulas apply as functions and that nothing defines: g(x), σ(a + b)."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.notation.rules.trees import all_runs, letter, spelt
from derive.notation.symbols import Kind, SymbolTable, identifier, is_capital
from derive.notation.tree import Group, Items, Scripted, base_of, is_group, is_token, split, unwrap
from derive.notation.tree import below as runs_of


def refuse_unknown(formulas: Iterable[Formula], given: Iterable[str], tensors: Iterable[str]) -> None:
    """Raise :class:`CardError` where a letter that nothing defines stands before tensors: g(x), g(x, W)."""
    given, tensors = {*given}, {*tensors}
    for formula, items in _parsed(formulas):
        for name, arguments in _applied(items):
            if name in given and set(arguments) <= tensors - {name}:
                listed = ", ".join(arguments)
                raise CardError(Problem(
                    f"`{name}({listed})`: what does the function `{name}` compute? Define it, as in "
                    rf"`{name}(s) = \max(0, s)`, or write `\cdot` for a product", line=formula.line))


def refuse_unknown_outputs(aliases: Iterable[Formula], known: Iterable[str]) -> None:
    """Raise :class:`CardError` for y = a(f) where nothing defines a: what the layer's output goes through."""
    known = {*known}
    for formula, items in _parsed(aliases):
        for name, arguments in _applied(items):
            if name not in known and set(arguments) <= known:
                raise CardError(Problem(
                    f"`{name}({', '.join(arguments)})`: what does the function `{name}` compute? Define it, as in "
                    rf"`{name}(s) = \max(0, s)`", line=formula.line))


def arguments_of(name: str, formulas: Iterable[Formula]) -> tuple[str, ...]:
    """The letters that a letter is applied to: w of J(w), wherever it stands."""
    found = (arguments for _, items in _parsed(formulas) for letter, arguments in _applied(items) if letter == name)
    return tuple(dict.fromkeys(argument for arguments in found for argument in arguments))


def refuse_two_readings(formulas: Iterable[Formula], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for σ(a + b) where nothing defines σ, and it is a factor nowhere else."""
    parsed = list(_parsed(formulas))
    factors = {n for _, items in parsed for n, group in _letters(items) if group is None}
    suspects = _FUNCTIONS.intersection(given) - factors
    for formula, items in parsed:
        for name, group in _letters(items):
            if group is not None and name in suspects and any(_letters(group.items)):
                raise CardError(Problem(
                    f"`{name}(…)`: a function, or the number `{name}` times what stands in the bracket? Define the "
                    rf"function, as in `{name}(s) = \max(0, s)`, or write `\cdot` for a product", line=formula.line))


def refuse_indexed_matrices(formulas: Iterable[Formula], table: SymbolTable) -> None:
    r"""Raise :class:`CardError` for \sum_e g_e A_e x with a vector x: is A_e a number, or a matrix of its own?"""
    for formula, tree in _parsed(formulas):
        for run in all_runs(tree):
            for item, after in itertools.pairwise(run):
                name = letter(base_of(item)) if isinstance(item, Scripted) and not item.sups else None
                vector = table.named(letter(after) or "") if is_token(after, "NAME") else None
                own = table.named(name) if name is not None and is_capital(name) else None
                unsaid = own is not None and vector is not None and vector.kind is Kind.TENSOR and not own.sizes
                if own is not None and vector is not None and unsaid and len(own.axes) == len(vector.axes) == 1:
                    spelt = f"{own.latex}_{{…}} {vector.latex}"
                    raise CardError(Problem(
                        f"`{spelt}`: are the `{own.latex}` numbers or matrices? Write the indices of their entries, as "
                        rf"in `\sum_j {own.latex}_{{ekj}} {vector.latex}_j`, or a small letter for numbers",
                        line=formula.line))


def refuse_number_weights(formulas: Iterable[Formula], table: SymbolTable, known: Collection[str | None]) -> None:
    """Raise :class:`CardError` for W x of two numbers where their shapes are not ``known``: a capital acts on x.

    Of a matrix W and a number x, too.
    """
    for formula, tree in _parsed(formulas):
        for run in all_runs(tree):
            for item, after in itertools.pairwise(run):
                own, other = (table.named(letter(base_of(i)) or "") for i in (item, after))
                bare = is_token(after, "NAME") and (is_token(item, "NAME") or isinstance(item, Scripted))
                if not bare or own is None or other is None or not is_capital(own.name):
                    continue
                unsaid = {own.name, spelt((item,))}.isdisjoint(known)
                acts = len(own.axes) == 2 and {other.name, spelt((after,))}.isdisjoint(known)  # W ∈ R^{k×d}, and a?
                if own.kind is other.kind is Kind.TENSOR and not other.axes and (unsaid if not own.axes else acts):
                    raise CardError(Problem(
                        f"`{own.latex} {other.latex}`: are `{own.latex}` and `{other.latex}` numbers, or a matrix and "
                        rf"a vector? State the shapes, as in `{own.latex} \in \mathbb{{R}}` or "
                        rf"`{own.latex} \in \mathbb{{R}}^{{m \times n}}`", line=formula.line, key="shapes"))


def _parsed(formulas: Iterable[Formula]) -> Iterator[tuple[Formula, Items]]:
    return ((formula, formula.tree) for formula in formulas if formula.tree)


def _letters(items: Items, below: bool = False) -> Iterator[tuple[str, Group | None]]:
    """Every letter, with the parenthesis behind it; those in subscripts too where ``below`` says so."""
    for n, item in enumerate(items):
        base = base_of(item)
        if is_token(base, "NAME"):
            behind = base_of(items[n + 1]) if n + 1 < len(items) else None
            yield identifier(base.text), behind if is_group(behind, "LPAREN") else None
        scripts = (*(item.subs if below else ()), *item.sups) if isinstance(item, Scripted) else ()
        for run in (*runs_of(base), *scripts):
            yield from _letters(run, below)


_FUNCTIONS = frozenset("sigma phi varphi psi f g h".split())  # the field's letters for functions


def _applied(items: Items) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(letter, the letters in the parenthesis behind it) wherever only letters stand there."""
    for name, group in _letters(items, below=True):
        parts = [unwrap(p) for p in split(group.items, "COMMA", "SEMI")] if group is not None else []
        letters = [p[0].text for p in parts if len(p) == 1 and is_token(p[0], "NAME")]
        if parts and len(letters) == len(parts):
            yield name, tuple(map(identifier, letters))
