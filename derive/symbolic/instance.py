"""The layer at concrete sizes in SymPy: every non-zero entry of the Jacobian, and the backward messages.

The places that are compared follow from the shape of a window alone, so one
template a shape serves all windows; its nodes are made as ``Basic.__new__`` does,
since SymPy's constructors compare all pairs of a window again for every entry.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod
from operator import itemgetter
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.functions.elementary.piecewise import ExprCondPair

from derive.collection import no_collection
from derive.module import Module
from derive.symbolic.window import EXTREMA, Index, WindowReduction, entry_symbol, node, raw, slopes

Entry = tuple[Index, Index, sympy.Expr]
_MIRROR: dict[Any, Any] = {
    sympy.StrictGreaterThan: sympy.StrictLessThan, sympy.StrictLessThan: sympy.StrictGreaterThan,
    sympy.GreaterThan: sympy.LessThan, sympy.LessThan: sympy.GreaterThan,
}
_OTHERWISE = ExprCondPair(sympy.S.Zero, sympy.true)


# (relation, picks the others from the window's terms in SymPy's order of arguments, how many, others first)
_Comparison = tuple[type[Relational], Callable[[Any], Any], int, bool]


@lru_cache(maxsize=4096)
def _template(order: tuple[int, ...], before: type[Relational], after: type[Relational]
              ) -> tuple[tuple[_Comparison, ...], ...]:
    """x_t relation Max(others), for each term x_t of a window whose terms SymPy sorts in this order.

    In the form that SymPy keeps: x_0 < x_1, never x_1 > x_0; And lists fewer nodes first, then by the class.
    """
    rank = {t: r for r, t in enumerate(order)}

    def comparison(relation: type[Relational], t: int, others: list[int]) -> _Comparison:
        reverse = len(others) == 1 and rank[others[0]] < rank[t]
        return _MIRROR[relation] if reverse else relation, itemgetter(*others), len(others), reverse

    return tuple(tuple(sorted((comparison(relation, t, others) for relation, others in
                               ((before, [q for q in order if q < t]), (after, [q for q in order if q > t])) if others),
                              key=lambda c: (c[2], c[0].__name__))) for t in range(len(order)))


class Indicators:
    """[entry t is the one chosen] · slope, for every entry of a window, under a tie rule."""

    def __init__(self, op: str, tie_rule: str) -> None:
        self.extremum, self.tie_rule = EXTREMA[op], tie_rule
        strict = sympy.StrictGreaterThan if op == "max" else sympy.StrictLessThan
        weak = sympy.GreaterThan if op == "max" else sympy.LessThan
        # rule `first`: strictly above what comes earlier, at least what comes later
        self.relations = (strict, weak) if tie_rule == "first" else (weak, strict)

    def entries(self, terms: Sequence[sympy.Expr], slopes: Sequence[sympy.Expr], keys: Sequence[Any]
                ) -> list[sympy.Expr]:
        """One Piecewise a term; the slope itself where the window has one term. SymPy sorts the terms by ``keys``."""
        if len(terms) == 1:
            return list(slopes)
        if self.tie_rule == "split":
            return list(self.shared(terms, slopes))
        return self.chosen(terms, slopes, _template(tuple(sorted(range(len(keys)), key=keys.__getitem__)),
                                                    *self.relations))

    def chosen(self, terms: Sequence[sympy.Expr], slopes: Sequence[sympy.Expr],
               template: tuple[tuple[_Comparison, ...], ...]) -> list[sympy.Expr]:
        """Rules `first` and `last`: x_t > Max(earlier) and x_t >= Max(later), or mirrored."""
        found = []
        for term, slope, comparisons in zip(terms, slopes, template, strict=True):
            conds = []
            for relation, others, count, reverse in comparisons:
                bound = others(terms)
                if count > 1:
                    bound = raw(self.extremum, bound)
                conds.append(node(relation, (bound, term) if reverse else (term, bound)))
            cond = conds[0] if len(conds) == 1 else raw(sympy.And, (*conds,))
            found.append(node(sympy.Piecewise, (node(ExprCondPair, (slope, cond)), _OTHERWISE)))
        return found

    def shared(self, terms: Sequence[sympy.Expr], slopes: Sequence[sympy.Expr]) -> Iterator[sympy.Expr]:
        """Rule `split`: 1/(number of maximisers) where x_t is one of them."""
        best = self.extremum(*terms, evaluate=False)
        active = [node(sympy.Equality, (term, best)) for term in terms]
        ones = [node(sympy.Piecewise, (node(ExprCondPair, (sympy.S.One, a)), _OTHERWISE)) for a in active]
        part = sympy.Pow(sympy.Add(*ones), -1)
        for a, slope in zip(active, slopes, strict=True):
            share = part if slope is sympy.S.One else slope * part
            yield node(sympy.Piecewise, (node(ExprCondPair, (share, a)), _OTHERWISE))


def sort_keys(terms: Sequence[sympy.Expr]) -> list[str]:
    """What SymPy sorts terms of one kind by."""
    return [t.name if isinstance(t, sympy.Symbol) else str(sympy.default_sort_key(t)) for t in terms]


def entry_symbols(tensor: str, places: Iterable[Index]) -> list[sympy.Symbol]:
    """:func:`entry_symbol` of every place; what SymPy derives from their being real is derived once."""
    real = entry_symbol(tensor, ())
    state = [(slot, getattr(real, slot)) for slot in ("_assumptions", *sympy.Symbol.__slots__) if slot != "name"]
    symbols = []
    for at in places:
        symbol = sympy.Basic.__new__(sympy.Symbol)
        symbol.name = "_".join((tensor, *map(str, at)))
        for slot, value in state:
            setattr(symbol, slot, value)
        symbols.append(symbol)
    return symbols


def symbolic_jacobian(module: Module, shape: Index) -> list[Entry]:
    """(output index, input index, ∂f/∂x as SymPy) for every entry that is not identically zero.

    Right at ties too, under the module's tie rule.  Input entries are the symbols
    of :func:`entry_symbol`.
    """
    reduction = WindowReduction(module)
    places = list(itertools.product(*map(range, shape)))
    strides = [prod(shape[d + 1:]) for d in range(len(shape))]
    # the places in the flat input that each window reaches, axis by axis
    reach = [[[i * stride for i in a.covered(k, n)] for k in range(a.output_size(n))]
             for a, n, stride in zip(reduction.field.axes, shape, strides, strict=True)]
    indicators = Indicators(reduction.op, module.tie_rule)
    found: list[Entry] = []
    with no_collection(stays=True):
        symbols = entry_symbols(reduction.tensor, places)
        terms = [reduction.term(z) for z in symbols]
        inner, keys = slopes(terms, symbols), sort_keys(terms)
        for out in itertools.product(*(range(len(r)) for r in reach)):
            window = [sum(at) for at in itertools.product(*(r[k] for r, k in zip(reach, out, strict=True)))]
            entries = indicators.entries([terms[n] for n in window], [inner[n] for n in window],
                                         [keys[n] for n in window])
            found += [(out, places[n], entry) for n, entry in zip(window, entries, strict=True)]
    return found
