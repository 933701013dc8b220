"""Products as monomials, a number times powers of atoms; and one expression as an instance of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any

import derive.expr as ex
from derive.affine import Affine
from derive.functions import known

_ONE = ex.ONE.value  # the number of most, known by identity: a product of fractions takes long


def _product(a: Fraction, b: Fraction) -> Fraction:
    return b if a is _ONE else a if b is _ONE else a * b


@dataclass
class Monomial:
    """number · Π atom^exponent, the atoms in the order in which they came."""

    number: Fraction = _ONE
    powers: dict[ex.Expr, ex.Expr] = field(default_factory=dict)

    def times(self, atom: ex.Expr, exponent: ex.Expr) -> None:
        """Multiply by atom^exponent; a bracket is its own square."""
        old = self.powers.get(atom)
        total = exponent if old is None else ex.add(old, exponent)
        if isinstance(total, ex.Add):
            total = Affine.of(total).expr()
        if total is ex.ZERO:
            self.powers.pop(atom, None)
        else:
            self.powers[atom] = ex.ONE if isinstance(atom, ex.Bracket) else total
        if atom is ex.PI or isinstance(atom, ex.Mul) and atom.factors[-1] is ex.PI:
            self._cancel_pi()

    def _cancel_pi(self) -> None:
        r"""\sqrt{2\pi} / (2\pi) is 1/\sqrt{2\pi}: a power of π goes into a root that it stands against."""
        by = self.powers.get(ex.PI)
        if not isinstance(by, ex.Num) or by.value.denominator > 1:
            return
        for atom, exponent in self.powers.items():
            match atom, exponent:
                case ex.Mul((ex.Num(scale), ex.PI)), ex.Num(root) if (root > 0) != (by.value > 0):
                    self.number = _product(self.number, scale ** -int(by.value))
                    self.powers[atom] = ex.add(exponent, by)
                    del self.powers[ex.PI]
                    return

    def product(self, other: Monomial) -> Monomial:
        found = Monomial(_product(self.number, other.number), dict(self.powers))
        for atom, exponent in other.powers.items():
            found.times(atom, exponent)
        return found

    def without(self, atoms: Iterable[ex.Expr]) -> Monomial:
        gone = set(atoms)
        return Monomial(self.number, {a: e for a, e in self.powers.items() if a not in gone})

    def split(self, atoms: Iterable[ex.Expr]) -> Monomial:
        """The powers of these atoms alone."""
        kept = set(atoms)
        return Monomial(_ONE, {a: e for a, e in self.powers.items() if a in kept})

    def expr(self) -> ex.Expr:
        """Messages, plain factors, exponentials, what is below a fraction bar, sums, brackets, cases (before sums)."""
        if self.number == 0:
            return ex.ZERO
        before_sum = any(has_sum(a) for a in self.powers if not isinstance(a, ex.Cases))
        ordered = sorted(self.powers.items(), key=lambda item: _place(item, before_sum))
        number = ex.ONE if self.number is _ONE else ex.Num(self.number)
        return ex.mul(number, *(_power(a, e) for a, e in ordered))


def _place(item: tuple[ex.Expr, ex.Expr], before_sum: bool) -> float:
    atom, exponent = item
    if isinstance(atom, ex.Entry) and atom.tensor.startswith("delta_") and exponent is ex.ONE:
        return -1
    if isinstance(atom, ex.Cases) and exponent is ex.ONE:
        return 1.5 if before_sum else 4
    if isinstance(atom, ex.Bracket):
        return 3
    if isinstance(atom, ex.Fn) and atom.name == "exp":
        return 0.5
    if has_sum(atom):
        return 2 if exponent is ex.ONE else 1
    return 1 if isinstance(exponent, ex.Num) and exponent.value < 0 else 0


@lru_cache(maxsize=8192)
def has_sum(node: ex.Node) -> bool:
    """A reduction stands somewhere in it."""
    return any(isinstance(n, ex.Reduce) for n in ex.walk(node))


@lru_cache(maxsize=8192)
def has_value(atom: ex.Expr, exponent: ex.Expr) -> bool:
    """atom^exponent exists for all numbers: no logarithm, root, quotient or shifted index in it."""
    if not isinstance(exponent, ex.Num) or exponent.value.denominator > 1 or exponent.value < 0:
        return isinstance(atom, ex.Size)
    for node in ex.walk(atom):
        if isinstance(node, ex.Pow) and not has_value(node.base, node.exponent):
            return False
        if isinstance(node, ex.Fn) and not _tame(node.name):
            return False
        if isinstance(node, ex.Entry) and not all(isinstance(i, (ex.Idx, ex.Star)) for i in node.indices):
            return False
    return True


def _tame(name: str) -> bool:
    """A function with a value at every number, which stays in the range of floats."""
    function = known(name)
    return function is not None and function.domain == "real" and not function.grows


def _power(atom: ex.Expr, exponent: ex.Expr) -> ex.Expr:
    if exponent is ex.ONE:
        return atom
    if isinstance(atom, ex.Fn) and atom.name == "exp":
        return ex.Fn("exp", (ex.mul(exponent, *atom.args),))
    if isinstance(exponent, ex.Num) and exponent.value < 0 and exponent is not ex.MINUS_ONE:
        return ex.Pow(ex.Pow(atom, ex.Num(-exponent.value)), ex.MINUS_ONE)
    return ex.Pow(atom, exponent)


def monomial(node: ex.Expr) -> Monomial:
    """The monomial that a node is."""
    found = Monomial()
    _gather(node, ex.ONE, found)
    return found


def _gather(node: ex.Expr, exponent: ex.Expr, into: Monomial) -> None:
    match node:
        case ex.Num(value) if isinstance(exponent, ex.Num) and exponent.value.denominator == 1 and (
                value or exponent.value > 0):
            into.number = _product(into.number, value if exponent is ex.ONE else value ** int(exponent.value))
        case ex.Mul(factors) if _whole(exponent):
            for factor in factors:
                _gather(factor, exponent, into)
        case ex.Pow(base, inner) if _whole(exponent) or (isinstance(inner, ex.Num) and not _whole(inner)):
            _gather(base, ex.mul(inner, exponent), into)
        case ex.Fn("exp", (arg,)):
            scale, rest = _scaled(arg)
            into.times(ex.Fn("exp", (rest,)), ex.mul(ex.Num(scale), exponent))
        case _:
            into.times(node, exponent)


def _whole(exponent: ex.Expr) -> bool:
    return isinstance(exponent, ex.Num) and exponent.value.denominator == 1


def _scaled(arg: ex.Expr) -> tuple[Fraction, ex.Expr]:
    """c and u with arg = c u, c a whole number or the sign."""
    first = arg.factors[0] if isinstance(arg, ex.Mul) else arg
    if not isinstance(first, ex.Num) or first is arg:
        return Fraction(1), arg
    scale = first.value if first.value.denominator == 1 else Fraction(1 if first.value > 0 else -1)
    return scale, ex.mul(ex.Num(1 / scale), arg)


@lru_cache(maxsize=32768)
def key(node: ex.Node) -> Hashable:
    """Equal for nodes that differ only in the order of their terms and factors."""
    if isinstance(node, (ex.Add, ex.Mul)):
        return type(node).__name__, frozenset(Counter(map(key, node.children())).items())
    if isinstance(node, ex.Rel) and node.ops == ("=",):
        return "=", frozenset(map(key, node.terms))
    if isinstance(node, (ex.Num, ex.Idx)):
        return node
    return type(node).__name__, *map(_part_key, node.parts())


def _part_key(part: Any) -> Hashable:
    if isinstance(part, ex.Node):
        return key(part)
    return tuple(map(_part_key, part)) if isinstance(part, tuple) else part


_WEIGHTS = {"Reduce": 5, "Cases": 3, "Fn": 2, "Entry": 2, "Bracket": 1, "Pow": 1, "Extremum": 2, "Rel": 1}


@lru_cache(maxsize=32768)
def size(node: ex.Node) -> int:
    """How much there is to read."""
    if isinstance(node, ex.Num):
        return 1 if node.value.denominator == 1 else 2
    own = _WEIGHTS.get(type(node).__name__, 0)
    if isinstance(node, (ex.Idx, ex.Entry)) or not node.parts():
        own += 1
    if isinstance(node, ex.Add):
        own += len(node.terms) - 1
    return own + sum(map(size, node.children()))


def smaller(first: ex.Expr, second: ex.Expr) -> ex.Expr:
    """The one that is less to read; the first where both are as much."""
    return second if size(second) < size(first) else first


Binding = dict[ex.Idx, ex.Expr]
_MOST = 4  # terms whose orders are all tried


def match(pattern: Any, node: Any, letters: frozenset[ex.Idx], binding: Binding) -> Iterator[Binding]:
    """The ways to replace the letters so that the pattern becomes the node."""
    if isinstance(pattern, ex.Idx) and pattern in letters:
        known = binding.get(pattern)
        if known is None and isinstance(node, ex.Expr) and not any(i.name.startswith("§")
                                                                   for i in ex.free_indices(node)):
            yield {**binding, pattern: node}
        elif known is node:
            yield binding
    elif isinstance(pattern, ex.Node) and pattern is node and not ex.free_indices(pattern) & letters:
        yield binding
    elif isinstance(pattern, tuple):
        if isinstance(node, tuple) and len(pattern) == len(node):
            yield from _in_order(pattern, node, letters, binding)
    elif isinstance(pattern, ex.Node):
        if type(pattern) is type(node):
            yield from _in_parts(pattern, node, letters, binding)
    elif pattern == node:
        yield binding


def _in_order(pattern: tuple[Any, ...], node: tuple[Any, ...], letters: frozenset[ex.Idx],
              binding: Binding) -> Iterator[Binding]:
    if not pattern:
        yield binding
        return
    for found in match(pattern[0], node[0], letters, binding):
        yield from _in_order(pattern[1:], node[1:], letters, found)


def _in_parts(pattern: ex.Node, node: ex.Node, letters: frozenset[ex.Idx], binding: Binding) -> Iterator[Binding]:
    if isinstance(pattern, (ex.Add, ex.Mul)):
        own, other = tuple(pattern.children()), tuple(node.children())
        if len(own) == len(other):
            for order in permutations(other) if len(own) <= _MOST else (other,):
                yield from _in_order(own, order, letters, binding)
    else:
        yield from _in_order(pattern.parts(), node.parts(), letters, binding)


def dividing(pattern: Sequence[tuple[ex.Expr, Fraction]], whole: Monomial, letters: frozenset[ex.Idx],
             binding: Binding, used: tuple[ex.Expr, ...] = ()) -> Iterator[tuple[Binding, tuple[ex.Expr, ...], int]]:
    """The ways in which pattern^r divides a monomial: letters, the atoms used, and r, as far from 0 as can be."""
    if len(used) == len(pattern):
        r = _ratio([whole.powers[a] for a in used], [e for _, e in pattern])
        if r:
            yield binding, used, r
        return
    atom, _ = pattern[len(used)]
    for other in whole.powers:
        if other not in used and type(other) is type(atom):
            for found in match(atom, other, letters, binding):
                yield from dividing(pattern, whole, letters, found, (*used, other))


def _ratio(exponents: list[ex.Expr], wanted: list[Fraction]) -> int:
    """The whole r with r·wanted within the exponents; alone, an exponent must be a multiple, and no root be undone."""
    ratios = [e.value / w if isinstance(e, ex.Num) else Fraction(0) for e, w in zip(exponents, wanted, strict=True)]
    if len(ratios) == 1:
        undone = wanted[0].denominator > 1 and exponents[0] in (ex.ONE, ex.MINUS_ONE)
        return int(ratios[0]) if ratios[0].denominator == 1 and not undone else 0
    least = int(min(map(abs, ratios)))
    return least if all(r > 0 for r in ratios) else -least if all(r < 0 for r in ratios) else 0
