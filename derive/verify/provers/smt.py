"""Z3 terms over reals without z3's coercion of every operand, which takes longer than most proofs here.

Z3's default context is not safe where threads share it, nor one for each thread: Python's collector frees
terms in whichever thread it runs.  So what belongs together has a context of its own (:class:`Own`), which is in
use in one thread only and keeps what has terms in it, and when those are freed nobody uses it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from threading import local
from typing import Any

import z3

from derive.expr import Num
from derive.ring import Monomial, Poly
from derive.verify.points.facts import Facts
from derive.verify.provers.algebra import Algebra


class Own:
    """A context, made when something is asked in it, its numbers, and what is ``kept`` as long as it is in use."""

    def __init__(self) -> None:
        self.numbers: dict[Any, Any] = {}
        self.kept: list[Any] = []

    @cached_property
    def context(self) -> Any:
        return z3.Context()

    @contextmanager
    def used(self) -> Iterator[None]:
        """In this thread all terms are made in this context."""
        before, _current.own = getattr(_current, "own", None), self
        try:
            yield
        finally:
            _current.own = before


_current = local()


def context() -> Any:
    """The context in use."""
    return _current.own.context


def _terms(items: Sequence[Any]) -> Any:
    return (z3.Ast * len(items))(*[item.as_ast() for item in items])


def number(value: int | Fraction) -> Any:
    """A rational number."""
    numbers = _current.own.numbers
    found = numbers.get(value)
    if found is None:
        found = numbers[value] = z3.RealVal(str(value), context())
    return found


def variable(name: str) -> Any:
    """A real of that name."""
    return z3.Real(name, context())


def _truth(cond: Any) -> Any:
    return z3.BoolVal(cond, context()) if isinstance(cond, bool) else cond


def every(conds: Sequence[Any]) -> Any:
    """c_1 ∧ … ∧ c_n, each a Z3 term or a Python bool."""
    conds, ctx = [_truth(c) for c in conds], context()
    return conds[0] if len(conds) == 1 else z3.BoolRef(z3.Z3_mk_and(ctx.ref(), len(conds), _terms(conds)), ctx)


def some(conds: Sequence[Any]) -> Any:
    """c_1 ∨ … ∨ c_n, each a Z3 term or a Python bool."""
    conds, ctx = [_truth(c) for c in conds], context()
    return conds[0] if len(conds) == 1 else z3.BoolRef(z3.Z3_mk_or(ctx.ref(), len(conds), _terms(conds)), ctx)


def when(cond: Any, then: Any, other: Any) -> Any:
    """``then`` where the condition holds, else ``other``, both real."""
    ctx = context()
    return z3.ArithRef(z3.Z3_mk_ite(ctx.ref(), cond.as_ast(), then.as_ast(), other.as_ast()), ctx)


def total(terms: Sequence[Any]) -> Any:
    """t_1 + … + t_n of reals."""
    ctx = context()
    return terms[0] if len(terms) == 1 else z3.ArithRef(z3.Z3_mk_add(ctx.ref(), len(terms), _terms(terms)), ctx)


def product(factors: Sequence[Any]) -> Any:
    """f_1 · … · f_n of reals."""
    ctx = context()
    return factors[0] if len(factors) == 1 else z3.ArithRef(z3.Z3_mk_mul(ctx.ref(), len(factors), _terms(factors)), ctx)


def opposite(cond: Any) -> Any:
    """¬c."""
    ctx = context()
    return z3.BoolRef(z3.Z3_mk_not(ctx.ref(), cond.as_ast()), ctx)


def assume(solver: Any, conds: Sequence[Any]) -> None:
    """Add conditions to a solver."""
    for cond in conds:
        z3.Z3_solver_assert(solver.ctx.ref(), solver.solver, cond.as_ast())


_RELATIONS: dict[str, Callable[..., Any]] = {
    "=": z3.Z3_mk_eq, "<": z3.Z3_mk_lt, "≤": z3.Z3_mk_le, ">": z3.Z3_mk_gt, "≥": z3.Z3_mk_ge,
}


def related(left: Any, op: str, right: Any) -> Any:
    """left op right, of two reals."""
    if op == "≠":
        return opposite(related(left, "=", right))
    ctx = context()
    return z3.BoolRef(_RELATIONS[op](ctx.ref(), left.as_ast(), right.as_ast()), ctx)


class Terms:
    """The polynomials of an algebra as Z3 terms: functions are free but for their relations.

    Each monomial is a letter of its own, so that nothing is multiplied: Z3's core, asked about products,
    can go on for hours without a look at any limit, also where it is told to leave them alone.
    """

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.monomials: dict[Monomial, Any] = {}
        self._terms: dict[Poly, Any] = {}
        self._letters: list[Any] = []

    def letter(self, g: int) -> Any:
        """A generator."""
        while len(self._letters) <= g:
            self._letters.append(variable(f"g{len(self._letters)}"))
        return self._letters[g]

    def of(self, poly: Poly) -> Any:
        """A polynomial."""
        if poly not in self._terms:
            parts = [product([number(c), *self._factors(monomial)]) for monomial, c in poly.terms()]
            self._terms[poly] = total(parts) if parts else number(0)
        return self._terms[poly]

    def _factors(self, monomial: Monomial) -> list[Any]:
        found = [self.letter(g) for g, power in monomial for _ in range(power)]
        if len(found) < 2:
            return found
        if monomial not in self.monomials:
            self.monomials[monomial] = variable(f"m{len(self.monomials)}")
        return [self.monomials[monomial]]

    def relations(self) -> Iterator[Any]:
        """What the algebra knows of its generators."""
        for g, generator in enumerate(self.algebra.generators):
            if g in self.algebra.positive:
                yield related(self.letter(g), ">", number(0))
            if generator.kind == "inverse" and generator.of is not None:
                yield related(self.of(self.algebra.generator(g) * generator.of), "=", number(1))
                mine, whole = self.letter(g), self.of(generator.of)  # what a product's own letter no longer tells
                yield from (z3.Implies(related(whole, op, number(0)), related(mine, op, number(0))) for op in "<>")
            if generator.kind == "root" and generator.of is not None:
                yield related(self.of(self.algebra.generator(g) ** generator.degree), "=", self.of(generator.of))

    def stated(self, facts: Facts) -> Iterator[Any]:
        """What the card states of single entries: 0 < a < 1, t ∈ {0, 1}."""
        for (name, _), g in self.algebra.entries():
            mine = self.letter(g)
            for fact in facts.single.get(name, ()):
                terms = [number(t.value) if isinstance(t, Num) else mine for t in fact.terms]
                yield from (related(a, op, b) for a, op, b in zip(terms, fact.ops, terms[1:], strict=False))
            if name in facts.listed:
                yield some([related(mine, "=", number(v)) for v in facts.listed[name]])
