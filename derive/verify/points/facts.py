"""What a card states of its letters: met by the numbers drawn, by construction where that is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from derive.errors import UnsupportedError
from derive.expr import HOLDS, Entry, Idx, In, Listed, Node, Num, Reduce, Rel, conditions
from derive.module import Module
from derive.numeric.arithmetic import Arithmetic, close, decimal_of
from derive.numeric.point import Definitions
from derive.records import dataclass
from derive.verify.points.claims import Claim, Compiler, Refuted
from derive.verify.points.point import Point

_TRIES = 60
Cells = list[tuple[int, ...]]


@dataclass(frozen=True)
class Total:
    """Σ of a tensor's entries over some of its axes is a number."""

    axes: tuple[int, ...]
    value: Fraction


@dataclass(frozen=True)
class Facts:
    """Facts of single entries (ε > 0, 0 < a < 1), lists of values (t ∈ {0, 1}), totals (Σ t = 1), and all of them."""

    single: Mapping[str, tuple[Rel, ...]]
    listed: Mapping[str, tuple[Fraction, ...]]
    totals: Mapping[str, Total]
    claims: tuple[Claim, ...]

    @staticmethod
    def of(module: Module, kind: Arithmetic) -> Facts:
        facts = [part for fact in module.facts for part in conditions(fact)]
        single: dict[str, tuple[Rel, ...]] = {}
        for fact in facts:
            name = _single(fact)
            if name is not None and isinstance(fact, Rel):
                single[name] = (*single.get(name, ()), fact)
        compiler = Compiler(module, kind, Definitions({}, {}, {}), {s.name: len(s.axes) for s in module.table.symbols})
        claims = tuple(c for fact in facts for c in _claims(fact, compiler))
        return Facts(single, dict(filter(None, map(_listed, facts))), dict(filter(None, map(_total, facts))), claims)

    def groups(self, tensor: str, cells: Cells) -> list[Cells]:
        """The entries of each sum of a tensor that a fact fixes."""
        return list(_groups(cells, self.totals[tensor]).values())

    def hold(self, point: Point) -> bool:
        """Every fact that can be evaluated holds."""
        for name, allowed in self.listed.items():
            values = map(decimal_of, point.given.get(name, {}).values())
            if not all(any(close(value, decimal_of(n)) for n in allowed) for value in values):
                return False
        for claim in self.claims:
            try:
                claim.holds(point, set())
            except Refuted:
                return False
        return True

    def draw(self, tensor: str, cells: Cells, number: Callable[[], Any], kind: Arithmetic,
             source: random.Random) -> dict[tuple[int, ...], Any] | None:
        """Numbers for a tensor, each as the facts of single entries want it; None where none were found."""
        if tensor in self.listed:
            return self._of_list(tensor, cells, kind, source)
        values = {}
        for cell in cells:
            found = next((n for n in (number() for _ in range(_TRIES)) if self.fits(tensor, n)), None)
            if found is None:
                return None
            values[cell] = found
        if tensor in self.totals:
            _rescale(values, self.totals[tensor], kind)
        return values

    def _of_list(self, tensor: str, cells: Cells, kind: Arithmetic,
                 source: random.Random) -> dict[tuple[int, ...], Any]:
        """One of the values listed for each entry; where they are 0 and 1 and sum to 1, a single 1."""
        values, total = self.listed[tensor], self.totals.get(tensor)
        if total is None or set(values) != {0, 1} or total.value != 1:
            return {cell: kind.number(source.choice(values)) for cell in cells}
        found = {cell: kind.number(0) for cell in cells}
        for group in _groups(cells, total).values():
            found[source.choice(group)] = kind.number(1)
        return found

    def fits(self, tensor: str, value: Any) -> bool:
        """Whether an entry of the tensor may have this value by the facts of single entries."""
        def number(term: Node) -> Any:
            return term.value if isinstance(term, Num) else value

        return all(HOLDS[op](number(a), number(b)) for fact in self.single.get(tensor, ())
                   for a, op, b in zip(fact.terms, fact.ops, fact.terms[1:], strict=False))


def _claims(fact: Node, compiler: Compiler) -> tuple[Claim, ...]:
    """The fact compiled; what cannot be is not made use of, which at worst refutes too much."""
    try:
        return compiler.claims(fact)
    except UnsupportedError:
        return ()


def _single(fact: Node) -> str | None:
    """The tensor of a relation between its entry and numbers."""
    if not isinstance(fact, Rel) or not all(isinstance(t, (Entry, Num)) for t in fact.terms):
        return None
    found = {t for t in fact.terms if isinstance(t, Entry)}
    return found.pop().tensor if len(found) == 1 else None


def _listed(fact: Node) -> tuple[str, tuple[Fraction, ...]] | None:
    """t_i ∈ {a, b, …}."""
    if isinstance(fact, In) and isinstance(fact.element, Entry) and isinstance(fact.set, Listed):
        numbers = tuple(i.value for i in fact.set.items if isinstance(i, Num))
        if len(numbers) == len(fact.set.items):
            return fact.element.tensor, numbers
    return None


def _total(fact: Node) -> tuple[str, Total] | None:
    """Σ_i t_i = c, each bound index along one axis of t."""
    if not (isinstance(fact, Rel) and fact.ops == ("=",) and len(fact.terms) == 2):
        return None
    left, right = fact.terms if isinstance(fact.terms[0], Reduce) else fact.terms[::-1]
    if not (isinstance(left, Reduce) and left.op == "sum" and isinstance(left.body, Entry) and isinstance(right, Num)):
        return None
    bound, indices = left.binder.variables, left.body.indices
    if left.binder.cond is not None or not all(isinstance(i, Idx) for i in indices) or not set(bound) <= set(indices):
        return None
    return left.body.tensor, Total(tuple(d for d, i in enumerate(indices) if i in bound), right.value)


def _groups(cells: Cells, total: Total) -> dict[tuple[int, ...], Cells]:
    """The cells of each sum, by the indices that are not summed over."""
    found: dict[tuple[int, ...], Cells] = {}
    for cell in cells:
        found.setdefault(tuple(i for d, i in enumerate(cell) if d not in total.axes), []).append(cell)
    return found


def _rescale(values: dict[tuple[int, ...], Any], total: Total, kind: Arithmetic) -> None:
    """Make each sum what it should be: by a factor where all are positive, else by the last entry."""
    for group in _groups(list(values), total).values():
        found = sum(values[c] for c in group)
        if all(values[c] > 0 for c in group) and total.value > 0:
            for c in group:
                values[c] = kind.quotient(values[c] * kind.number(total.value), found)
        last = group[-1]
        values[last] = kind.number(total.value) - sum(values[c] for c in group[:-1])

