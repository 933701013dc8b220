"""The layer at concrete sizes in SymPy: every non-zero entry of the Jacobian, and the backward messages.

The places that are compared follow from the shape of a window alone, so one
template a shape serves all windows; its nodes are made by ``Basic.__new__``,
since SymPy's constructors compare all pairs of a window again for every entry.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter, or_
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.functions.elementary.piecewise import ExprCondPair

from derive.module import Module
from derive.symbolic.lower import EXTREMA, Index, WindowReduction, entry_symbol
from derive.symbolic.window import raw

Entry = tuple[Index, Index, sympy.Expr]
_new = sympy.Basic.__new__
_MIRROR: dict[Any, Any] = {
    sympy.StrictGreaterThan: sympy.StrictLessThan, sympy.StrictLessThan: sympy.StrictGreaterThan,
    sympy.GreaterThan: sympy.LessThan, sympy.LessThan: sympy.GreaterThan,
}
_OTHERWISE = ExprCondPair(sympy.S.Zero, sympy.true)


@dataclass(frozen=True)
class _Comparison:
    """x_t relation Max(others) in the form that SymPy keeps: x_0 < x_1, never x_1 > x_0."""

    relation: type[Relational]
    others: Callable[[Any], Any]  # picks them from the window's terms, in SymPy's order of arguments
    count: int
    earlier: bool
    reverse: bool

    @property
    def place(self) -> tuple[int, str]:
        """Where And lists it: fewer nodes first, then by the name of the class."""
        return self.count, self.relation.__name__


@lru_cache(maxsize=4096)
def _template(order: tuple[int, ...], before: type[Relational], after: type[Relational]
              ) -> list[list[_Comparison]]:
    """What to compare each term with, for terms that SymPy sorts in this order."""
    rank = {t: r for r, t in enumerate(order)}

    def comparison(relation: type[Relational], t: int, others: list[int]) -> _Comparison:
        reverse = len(others) == 1 and rank[others[0]] < rank[t]
        kept = _MIRROR[relation] if reverse else relation
        return _Comparison(kept, itemgetter(*others), len(others), others[0] < t, reverse)

    return [sorted((comparison(relation, t, others) for relation, others in
                    ((before, [q for q in order if q < t]), (after, [q for q in order if q > t])) if others),
                   key=lambda c: c.place) for t in range(len(order))]


class Indicators:
    """[entry t is the one chosen] · slope, for every entry of a window, under a tie rule."""

    def __init__(self, op: str, tie_rule: str) -> None:
        self.extremum, self.tie_rule = EXTREMA[op], tie_rule
        strict = sympy.StrictGreaterThan if op == "max" else sympy.StrictLessThan
        weak = sympy.GreaterThan if op == "max" else sympy.LessThan
        # rule `first`: strictly above what comes earlier, at least what comes later
        self.relations = (strict, weak) if tie_rule == "first" else (weak, strict)

    def entries(self, terms: Sequence[sympy.Expr], slopes: Sequence[sympy.Expr]) -> Iterator[sympy.Expr]:
        """One Piecewise a term; the slope itself where the window has one term."""
        if len(terms) == 1:
            yield slopes[0]
        elif self.tie_rule == "split":
            yield from self.shared(terms, slopes)
        else:
            yield from self.chosen(terms, slopes)

    def chosen(self, terms: Sequence[sympy.Expr], slopes: Sequence[sympy.Expr]) -> Iterator[sympy.Expr]:
        """Rules `first` and `last`: x_t > Max(earlier) and x_t >= Max(later), or mirrored."""
        order = tuple(sorted(range(len(terms)), key=[_key(t) for t in terms].__getitem__))
        single = [frozenset((t,)) for t in terms]
        # unions of sets keep the hashes: a set of terms would call for each term's own again
        upto, onwards = list(accumulate(single, or_)), list(accumulate(single[::-1], or_))[::-1]
        for t, comparisons in enumerate(_template(order, *self.relations)):
            conds = []
            for c in comparisons:
                bound = c.others(terms)
                if c.count > 1:
                    node = _new(self.extremum, *bound)
                    node._argset = upto[t - 1] if c.earlier else onwards[t + 1]
                    bound = node
                conds.append(_new(c.relation, bound, terms[t]) if c.reverse else _new(c.relation, terms[t], bound))
            cond = conds[0] if len(conds) == 1 else raw(sympy.And, *conds)
            yield _new(sympy.Piecewise, _new(ExprCondPair, slopes[t], cond), _OTHERWISE)

    def shared(self, terms: Sequence[sympy.Expr], slopes: Sequence[sympy.Expr]) -> Iterator[sympy.Expr]:
        """Rule `split`: 1/(number of maximisers) where x_t is one of them."""
        best = self.extremum(*terms, evaluate=False)
        active = [_new(sympy.Equality, term, best) for term in terms]
        ones = [_new(sympy.Piecewise, _new(ExprCondPair, sympy.S.One, a), _OTHERWISE) for a in active]
        part = sympy.Pow(sympy.Add(*ones), -1)
        for a, slope in zip(active, slopes, strict=True):
            share = part if slope is sympy.S.One else slope * part
            yield _new(sympy.Piecewise, _new(ExprCondPair, share, a), _OTHERWISE)


def _key(term: sympy.Expr) -> Any:
    return term.name if isinstance(term, sympy.Symbol) else str(sympy.default_sort_key(term))


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection while many nodes are made: they hold no cycles, and each pass would visit them all."""
    if not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # the new nodes join the oldest generation without a visit to each
        gc.unfreeze()
        gc.enable()


def symbolic_jacobian(module: Module, shape: Index) -> list[Entry]:
    """(output index, input index, ∂f/∂x as SymPy) for every entry that is not identically zero.

    Right at ties too, under the module's tie rule.  Input entries are the symbols
    of :func:`entry_symbol`.
    """
    reduction = WindowReduction(module)
    axes = reduction.field.axes
    reach = [[a.covered(k, n) for k in range(a.output_size(n))] for a, n in zip(axes, shape, strict=True)]
    indicators = Indicators(reduction.op, module.tie_rule)
    found: list[Entry] = []
    with _no_collection():
        symbols = {at: entry_symbol(reduction.tensor, at) for at in itertools.product(*map(range, shape))}
        terms = {at: reduction.term(z) for at, z in symbols.items()}
        slopes = {at: sympy.S.One if terms[at] is z else terms[at].diff(z) for at, z in symbols.items()}
        for out in itertools.product(*(range(len(r)) for r in reach)):
            window = list(itertools.product(*(r[k] for r, k in zip(reach, out, strict=True))))
            entries = indicators.entries([terms[at] for at in window], [slopes[at] for at in window])
            found += [(out, at, entry) for at, entry in zip(window, entries, strict=True)]
    return found


def instance_backward(module: Module, shape: Index, upstream: str = "g") -> dict[Index, sympy.Expr]:
    """δ_x of every input entry: Σ over the windows that contain it of g_k · ∂f_k/∂x_i."""
    messages: dict[Index, list[sympy.Expr]] = {at: [] for at in itertools.product(*map(range, shape))}
    for out, at, entry in symbolic_jacobian(module, shape):
        messages[at].append(sympy.Mul(entry_symbol(upstream, out), entry, evaluate=False))
    return {at: sympy.Add(*parts, evaluate=False) if parts else sympy.S.Zero for at, parts in messages.items()}
