"""Inputs at which a formula decides in a given way, by Z3; or that there are none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import z3
from sympy.polys.rings import PolyElement

from derive.expr import Num
from derive.verify.facts import Facts
from derive.verify.layer.algebra import Algebra, TooLarge
from derive.verify.layer.formal import Path
from derive.verify.smt import number, product, related, total

_RLIMIT = 50_000  # of Z3, so that what is proved does not depend on the machine


class Searcher:
    """Z3 over the generators of an algebra: functions are free but for their relations.

    Z3's nlsat decides, not its SMT core: the core's patches of products can grow their
    fractions for hours without a look at any limit.  In a context of its own the answer
    does not depend on what was asked before.
    """

    def __init__(self, algebra: Algebra, facts: Facts | None = None) -> None:
        self.algebra, self.facts = algebra, facts
        self._terms: dict[PolyElement, Any] = {}
        self._variables: list[Any] = []

    def values(self, path: Path, generic: Iterable[PolyElement]) -> dict[int, Fraction] | None:
        """A value of each generator that these decisions are about; None where no values lead to them.

        The differences in ``generic`` are not 0 there.  Raises :class:`TooLarge` where Z3 gives up.
        """
        generic = sorted(set(generic), key=PolyElement.terms)
        claims = [*self._relations(), *self._stated(),
                  *(related(self._term(p), ">" if above else "<", number(0)) for p, above in path)]
        if self._model(claims) is None:
            return None
        model = self._model([*claims, *(related(self._term(p), "≠", number(0)) for p in generic)])
        if model is None:
            raise TooLarge("every point lies on a boundary")
        about = (*generic, *(p for p, _ in path))
        used = {g for poly in about for m in poly.monoms() for g, power in enumerate(m) if power} | self._bound()
        return {g: _fraction(model.eval(self._variable(g).translate(self._own), model_completion=True)) for g in used}

    def _model(self, claims: Iterable[Any]) -> Any:
        """A model of the claims, None where there is none; raises :class:`TooLarge` where Z3 gives up."""
        solver = z3.Tactic("qfnra-nlsat", ctx=self._own).solver()
        solver.set("rlimit", _RLIMIT)
        solver.add(*(claim.translate(self._own) for claim in claims))
        found = solver.check()
        if found not in (z3.sat, z3.unsat):
            raise TooLarge("Z3 gives up")
        return solver.model() if found == z3.sat else None

    @cached_property
    def _own(self) -> Any:
        return z3.Context()

    def _relations(self) -> Iterator[Any]:
        for g, generator in enumerate(self.algebra.generators):
            if g in self.algebra.positive:
                yield related(self._variable(g), ">", number(0))
            if generator.kind == "inverse" and generator.of is not None:
                yield related(product([self._variable(g), self._term(generator.of)]), "=", number(1))
            if generator.kind == "root" and generator.of is not None:
                yield related(product([self._variable(g)] * generator.degree), "=", self._term(generator.of))

    def _bound(self) -> set[int]:
        """The generators of which the card states something: their values must come from here."""
        facts = self.facts
        return set() if facts is None else {
            g for (name, _), g in self.algebra.entries() if name in facts.single or name in facts.listed}

    def _stated(self) -> Iterator[Any]:
        """What the card states of single entries: 0 < a < 1, t ∈ {0, 1}."""
        if self.facts is None:
            return
        for (name, _), g in self.algebra.entries():
            mine = self._variable(g)
            for fact in self.facts.single.get(name, ()):
                terms = [number(t.value) if isinstance(t, Num) else mine for t in fact.terms]
                yield from (related(a, op, b) for a, op, b in zip(terms, fact.ops, terms[1:], strict=False))
            if name in self.facts.listed:
                yield z3.Or(*(mine == number(v) for v in self.facts.listed[name]))

    def _variable(self, g: int) -> Any:
        while len(self._variables) <= g:
            self._variables.append(z3.Real(f"g{len(self._variables)}"))
        return self._variables[g]

    def _term(self, poly: PolyElement) -> Any:
        if poly not in self._terms:
            parts = []
            for monomial, coefficient in poly.terms():
                factors = [self._variable(g) for g, power in enumerate(monomial) for _ in range(power)]
                parts.append(product([number(Fraction(str(coefficient))), *factors]))
            self._terms[poly] = total(parts) if parts else number(0)
        return self._terms[poly]


def _fraction(value: Any) -> Fraction:
    return Fraction(str((value if z3.is_rational_value(value) else value.approx(20)).as_fraction()))
