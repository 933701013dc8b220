"""Definitions and facts as rewriting rules: what a tensor's definition says, read from right to left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from derive.calculus.algebra import Monomial, monomial, size
from derive.calculus.matching import dividing
from derive.expr import (
    MINUS_ONE,
    ONE,
    Add,
    Cases,
    Entry,
    Expr,
    Extremum,
    Idx,
    Node,
    Num,
    Pow,
    Rel,
    Size,
    add,
    free_indices,
    mul,
    subst,
)
from derive.module import Module


@dataclass(frozen=True)
class Fold:
    """Π pattern = replacement, for all values of the letters; ``once``: not for powers of it."""

    pattern: tuple[tuple[Expr, Fraction], ...]
    letters: frozenset[Idx]
    replacement: Expr
    once: bool = False

    def apply(self, whole: Monomial) -> list[Expr] | None:
        """The factors of the monomial with the pattern replaced; None where it does not occur."""
        for binding, used, r in dividing(self.pattern, whole, self.letters, {}):
            if len(binding) < len(self.letters):
                continue
            times = 1 if self.once and r > 0 else r
            if self.once and r < 0:
                continue
            mapping: dict[Node, Node] = dict[Node, Node](binding.items())
            rest = Monomial(whole.number, dict(whole.powers))
            for atom, (_, e) in zip(used, self.pattern, strict=True):
                rest.times(atom, Num(-e * times))
            new = subst(self.replacement, mapping)
            first = rest.split(used)  # what is left of the pattern stays where it was: y(1 − y) w
            return [first.expr(), Pow(new, Num(times)) if times != 1 else new, rest.without(used).expr()]
        return None


def folds_of(module: Module, simplify: Callable[[Expr], Expr]) -> Iterable[Fold]:
    """y's definition F_k read as F_k = y_k; of y = 1/(c + u) also u y = 1 − c y; and what the card states."""
    for equation in module.equations:
        entry, value = equation.terms
        if isinstance(entry, Entry):
            yield from definition_folds(entry, simplify(value))
    for fact in module.facts:
        if isinstance(fact, Rel) and fact.ops == ("=",):
            yield from fact_folds(fact, simplify)


def definition_folds(entry: Entry, value: Expr) -> Iterable[Fold]:
    letters = frozenset(i for i in entry.indices if isinstance(i, Idx))
    whole = monomial(value)
    if size(value) <= size(entry) or any(isinstance(a, (Cases, Extremum)) for a in whole.powers):
        return
    pattern, scale = _pattern(whole)
    if pattern:
        yield Fold(pattern, letters, mul(scale, entry))
    (atom, exponent), *others = whole.powers.items()
    if isinstance(atom, Add) and exponent is MINUS_ONE and not others and whole.number == 1:
        yield from _inverted(atom, entry, letters)


def _pattern(whole: Monomial) -> tuple[tuple[tuple[Expr, Fraction], ...], Expr]:
    """The atoms of a definition c·Π a^e that must be found, and what the rest divides y by."""
    sizes: dict[Expr, Expr] = {a: e for a, e in whole.powers.items() if isinstance(a, Size)}
    atoms = [(a, e) for a, e in whole.powers.items() if a not in sizes]
    if not all(isinstance(e, Num) for _, e in atoms):
        return (), ONE
    scale = Pow(Monomial(whole.number, sizes).expr(), MINUS_ONE)
    plain = ONE if whole.number == 1 and not sizes else monomial(scale).expr()
    return tuple((a, e.value) for a, e in atoms if isinstance(e, Num)), plain


def _inverted(total: Add, entry: Entry, letters: frozenset[Idx]) -> Iterable[Fold]:
    """y (c + u) = 1, so u y = 1 − c y."""
    numbers = [t for t in total.terms if isinstance(t, Num)]
    rest = [t for t in total.terms if not isinstance(t, Num)]
    if len(numbers) != 1 or len(rest) != 1:
        return
    u = monomial(rest[0])
    if not all(isinstance(e, Num) for e in u.powers.values()):
        return
    pattern = ((entry, Fraction(1)), *((a, e.value) for a, e in u.powers.items() if isinstance(e, Num)))
    value = add(ONE, mul(MINUS_ONE, numbers[0], entry))
    yield Fold(pattern, letters, mul(Num(1 / u.number), value), once=True)


def fact_folds(fact: Rel, simplify: Callable[[Expr], Expr]) -> Iterable[Fold]:
    left, right = map(simplify, fact.terms)
    pattern, scale = _pattern(monomial(left))
    if pattern and size(right) < size(left):
        yield Fold(pattern, free_indices(left), mul(scale, right))
