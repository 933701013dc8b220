"""A layer's forward formula at concrete sizes as SymPy expressions in pieces, for all of its inputs at once.

The evaluator runs on expressions.  A maximum becomes a symbol with its cases, and so does an entry that
is decided by a comparison: it is computed once for each way in which its comparisons can turn out.
Each case is one smooth expression on an open region, and SymPy differentiates that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add, mul
from typing import Any, Protocol

import sympy

from derive.errors import UnsupportedError
from derive.expr import Entry, eq
from derive.functions import Table, elementary, known
from derive.module import Module
from derive.numeric.arithmetic import EXACT, Arithmetic, Calculating
from derive.numeric.evaluator import evaluate
from derive.records import dataclass
from derive.symbolic.window import FUNCTIONS

Index = tuple[int, ...]
Tensor = Mapping[Index, Any]
MOST_CASES = 64  # of one entry
ANY = frozenset((-1, 0, 1))
Signs = frozenset[int]
Region = tuple[tuple[sympy.Expr, Signs], ...]  # the sign of each expression is one of these
Cases = tuple[tuple[Region, sympy.Expr], ...]


@dataclass(frozen=True)
class Piece:
    """What a symbol stands for: a value on each of some regions; ``extremum``: the largest or smallest of these."""

    cases: Cases
    extremum: tuple[str, tuple[sympy.Expr, ...]] | None = None

    @property
    def open_cases(self) -> Cases:
        """The values on the interiors of their regions; a region without interior is left out."""
        inside = ((tuple((d, signs - {0}) for d, signs in region), value) for region, value in self.cases)
        return tuple((region, value) for region, value in inside if all(signs for _, signs in region))


@lru_cache(maxsize=4096)
def symbol(tensor: str, index: Index) -> sympy.Symbol:
    """The real symbol of a tensor's entry; no two entries share one."""
    return sympy.Symbol(f"{tensor}[{','.join(map(str, index))}]", real=True)


class Pieces:
    """The layer at one choice of shapes, its tensors in terms of the given ones' entries."""

    def __init__(self, module: Module, given: Mapping[str, Iterable[Index]], shapes: Mapping[str, Index]) -> None:
        self.module, self.shapes = module, shapes
        self.given = {name: tuple(indices) for name, indices in given.items()}
        self.pieces: dict[sympy.Symbol, Piece] = {}
        self._names: dict[Any, sympy.Symbol] = {}
        self._forward: dict[str, Mapping[str, Tensor]] = {}
        self.gradient = Gradient(self.pieces)
        self._beneath: dict[sympy.Expr, frozenset[sympy.Symbol]] = {}
        self._signs: dict[sympy.Expr, Signs] = {}
        self._forks: list[tuple[sympy.Expr, Signs, Signs]] = []  # of one way: what was taken, what else there was

    def forward(self, free: str = "", indices: Iterable[Index] = ()) -> Mapping[str, Tensor]:
        """Every tensor in terms of the given ones, and of ``free`` where that is a defined one."""
        key = "" if free in self.given else free
        if key not in self._forward:
            names = {**self.given, **({key: tuple(indices)} if key else {})}
            arrays = self._letters(names)
            shapes = {name: self.shapes[name] for name in names}
            found = evaluate(self.module, arrays, shapes, KIND, self.entry)
            self._forward[key] = {name: {at: expression(value) for at, value in values.items()}
                                  for name, values in {**arrays, **found}.items()}
        return self._forward[key]

    def _letters(self, names: Mapping[str, Iterable[Index]]) -> dict[str, Tensor]:
        return {name: {at: Cased(symbol(name, at), self) for at in found} for name, found in names.items()}

    def named(self, expr: sympy.Expr) -> list[sympy.Symbol]:
        """The pieces that an expression names."""
        return sorted(self.gradient.letters(expr) & self.pieces.keys(), key=str)

    def beneath(self, expr: sympy.Expr) -> frozenset[sympy.Symbol]:
        """The pieces that an expression is made of, theirs too."""
        if expr not in self._beneath:
            own = self.gradient.letters(expr) & self.pieces.keys()
            parts = (e for p in own for region, value in self.pieces[p].cases for e in (value, *(d for d, _ in region)))
            self._beneath[expr] = own.union(*map(self.beneath, parts))
        return self._beneath[expr]

    def applied(self, function: str) -> tuple[sympy.Symbol, sympy.Expr]:
        """(u, f(u)) of a card's function of one argument."""
        own = self.module.function(function)
        assert own is not None
        parameter, = own.parameters
        u = sympy.Dummy(parameter, real=True)  # another for each argument
        one = replace(self.module, equations=(eq(Entry("value", ()), own.body),), output="value")
        arrays: dict[str, Tensor] = {**self._letters(self.given), parameter: {(): Cased(u, self)}}
        shapes = {**{name: self.shapes[name] for name in self.given}, parameter: ()}
        return u, expression(evaluate(one, arrays, shapes, KIND, self.entry)["value"][()])

    # what the evaluator's numbers ask for

    def extremum(self, op: str, values: Iterable[Any]) -> Any:
        """The largest or the smallest of these as a symbol with a case for each."""
        terms = tuple(dict.fromkeys(map(expression, values)))
        beyond = frozenset((0, 1) if op == "max" else (0, -1))
        return self._named(Piece(tuple(
            (tuple(_compared(a, b, beyond) for b in terms if b is not a), a) for a in terms), (op, terms)))

    def sign(self, left: sympy.Expr, right: sympy.Expr, asked: Signs) -> bool:
        """Whether the sign of left − right is one of these; where that is open, both ways are gone."""
        expr, asked = _compared(left, right, asked)
        if expr.is_Rational:
            return int(sympy.sign(expr)) in asked
        known = self._signs.get(expr, ANY)
        if known <= asked or not known & asked:
            return known <= asked
        self._forks.append((expr, known & asked, known - asked))
        self._signs[expr] = known & asked
        return True

    def entry(self, compute: Callable[[], Any]) -> Any:
        """An entry on each way through its comparisons."""
        cases: list[tuple[Region, sympy.Expr]] = []
        waiting: list[dict[sympy.Expr, Signs]] = [{}]
        while waiting:
            before = waiting.pop()
            self._signs, self._forks = dict(before), []
            value = expression(compute())
            cases.append((tuple(self._signs.items()), value))
            taken = dict(before)
            for expr, there, elsewhere in self._forks:
                waiting.append({**taken, expr: elsewhere})
                taken[expr] = there
            if len(cases) + len(waiting) > MOST_CASES:  # each that waits is one more at the least
                raise UnsupportedError("too many cases for a proof")
        return self._named(Piece(tuple(cases)))

    def _named(self, piece: Piece) -> Any:
        if len({value for _, value in piece.cases}) == 1:
            return Cased(piece.cases[0][1], self)
        key = (piece.extremum[0], frozenset(piece.extremum[1])) if piece.extremum else piece.cases
        if key not in self._names:
            self._names[key] = sympy.Symbol(f"piece{len(self._names)}", real=True)
            self.pieces[self._names[key]] = piece
        return Cased(self._names[key], self)


def _compared(left: sympy.Expr, right: sympy.Expr, signs: Signs) -> tuple[sympy.Expr, Signs]:
    """left − right, of which d and −d are compared with 0 as one; that of two letters SymPy need not work out."""
    if left.is_Symbol and right.is_Symbol and left is not right:
        turned = left.name > right.name
        expr = sympy.Add(*((right, -left) if turned else (left, -right)), evaluate=False)
    else:
        expr = left - right
        turned = expr.could_extract_minus_sign()
        expr = -expr if turned else expr
    return expr, frozenset(-s for s in signs) if turned else signs


class Cased(Calculating):
    """An expression whose comparisons are not decided by a value."""

    __slots__ = ("expr", "within")

    def __init__(self, expr: sympy.Expr, within: Pieces) -> None:
        self.expr, self.within = expr, within

    def __add__(self, other: Any) -> Cased:
        return Cased(self.expr + expression(other), self.within)

    def __neg__(self) -> Cased:
        return Cased(-self.expr, self.within)

    def __mul__(self, other: Any) -> Cased:
        return Cased(self.expr * expression(other), self.within)

    def __abs__(self) -> Any:
        return self.within.extremum("max", (self, -self))

    def _is(self, other: Any, *signs: int) -> bool:
        return self.within.sign(self.expr, expression(other), frozenset(signs))

    def __lt__(self, other: Any) -> bool:
        return self._is(other, -1)

    def __le__(self, other: Any) -> bool:
        return self._is(other, -1, 0)

    def __gt__(self, other: Any) -> bool:
        return self._is(other, 1)

    def __ge__(self, other: Any) -> bool:
        return self._is(other, 0, 1)

    def __eq__(self, other: object) -> bool:
        return self._is(other, 0)

    __hash__ = None  # type: ignore[assignment]


def expression(number: Any) -> sympy.Expr:
    if isinstance(number, Cased):
        return number.expr
    if isinstance(number, sympy.Expr):
        return number
    if isinstance(number, float):  # an infinity: the largest of nothing
        raise UnsupportedError("no proof over an empty maximum")
    return sympy.Rational(number.numerator, number.denominator)


def _power(x: Any, e: Any) -> Any:
    cased = next((n for n in (x, e) if isinstance(n, Cased)), None)
    if cased is None:
        rational = isinstance(x, (int, Fraction)) and Fraction(e).denominator == 1
        return EXACT.power(x, e) if rational else _raised(expression(x), expression(e))
    return Cased(_raised(expression(x), expression(e)), cased.within)


def _raised(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """A whole power of a sum SymPy leaves as it is, which it finds out by asking much of the sum."""
    stands = base.is_Add and exponent.is_Integer and exponent not in (0, 1) and not base.is_number
    return sympy.Pow(base, exponent, evaluate=not stands)


def _of(name: str) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        u = expression(x)
        value = FUNCTIONS[name](u, evaluate=False) if _stands(name, u) else FUNCTIONS[name](u)
        return Cased(value, x.within) if isinstance(x, Cased) else value

    return apply


def _stands(name: str, u: sympy.Expr) -> bool:
    """Whether SymPy leaves e^u or log u as it is, which it finds out by asking much of u."""
    return (name == "exp" or name == "log" and u.is_Add) and not u.is_number and not u.has(sympy.log)


def _extreme(op: str) -> Callable[..., Any]:
    def pick(*args: Any, **default: Any) -> Any:
        values = list(args[0] if len(args) == 1 else args)
        cased = next((v for v in values if isinstance(v, Cased)), None)
        if cased is None:
            return (max if op == "max" else min)(values, **default)
        return cased.within.extremum(op, values)

    return pick


KIND = Arithmetic(Fraction, lambda a, b: a * _power(b, -1), _power, Table(lambda f: f.exact or _of(f.name), {
    **{name: f for name, f in EXACT.functions.items() if known(name) is None}, "pi": lambda: sympy.pi,
    "max": _extreme("max"), "min": _extreme("min")}))


def evaluated(expr: sympy.Expr, known: dict[Any, Any], kind: Arithmetic) -> Any:
    """A SymPy expression over numbers of any kind; ``known`` holds its symbols' and keeps what is found."""
    found = known.get(expr)
    if found is None:
        found = known[expr] = _evaluated(expr, known, kind)
    return found


def _evaluated(expr: sympy.Expr, known: dict[Any, Any], kind: Arithmetic) -> Any:
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q))
    if expr is sympy.pi:
        return kind.functions["pi"]()
    args = [evaluated(a, known, kind) for a in expr.args]
    if isinstance(expr, sympy.Add):
        return sum(args[1:], args[0])
    if isinstance(expr, sympy.Mul):
        return math.prod(args[1:], start=args[0])
    if isinstance(expr, sympy.Pow):
        return kind.power(args[0], args[1])
    name = next((f.name for f in elementary() if f.sympy == type(expr).__name__), None)
    if name is None or name not in kind.functions:
        raise UnsupportedError(f"no proof over {type(expr).__name__}")
    return kind.functions[name](*args)


_U = sympy.Dummy("u", real=True)


@lru_cache(maxsize=256)
def _slope_by_u(function: Any, before: tuple[sympy.Expr, ...], after: tuple[sympy.Expr, ...]) -> sympy.Expr:
    return function(*before, _U, *after).diff(_U)


class Numbers(Protocol):
    """What expressions and their derivatives are here, and the derivatives that are known."""

    derived: dict[tuple[sympy.Expr, sympy.Symbol], Any]

    def number(self, expr: sympy.Expr) -> Any: ...

    def where(self, region: Region, value: Callable[[], Any]) -> Any:
        """A number on its region, 0 elsewhere."""


class Gradient:
    """∂e/∂s of any expressions by any symbols, some of which stand for ``pieces``.

    SymPy differentiates powers and functions; sums and products are taken apart, and each part's
    derivative by a symbol is kept.  :meth:`sympy.Expr.diff` gives the same expression, much later.
    """

    def __init__(self, pieces: Mapping[sympy.Symbol, Piece]) -> None:
        self._pieces = pieces
        self._letters: dict[sympy.Expr, frozenset[sympy.Symbol]] = {}
        self._beneath: dict[sympy.Expr, frozenset[sympy.Symbol]] = {}
        self._slopes: dict[tuple[sympy.Expr, int], sympy.Expr] = {}

    def __call__(self, expr: sympy.Expr, by: sympy.Symbol, within: Numbers) -> Any:
        """∂expr/∂by off the boundaries of the pieces."""
        if by not in self._below(expr):
            return 0
        if expr is by:
            return 1
        key = expr, by
        if key not in within.derived:
            if expr in self._pieces:
                parts = [within.where(region, lambda value=value: self(value, by, within))  # type: ignore[misc]
                         for region, value in self._pieces[expr].open_cases if by in self._below(value)]
            else:
                inside = [(n, self(a, by, within)) for n, a in enumerate(expr.args)]
                parts = [d if expr.is_Add else self._slope(expr, n, within) * d
                         for n, d in inside if type(d) is not int or d]
            within.derived[key] = reduce(add, parts, 0)
        return within.derived[key]

    def letters(self, expr: sympy.Expr) -> frozenset[sympy.Symbol]:
        """The symbols of an expression."""
        if expr not in self._letters:
            own = frozenset((expr,)) if isinstance(expr, sympy.Symbol) else frozenset()
            self._letters[expr] = own.union(*map(self.letters, expr.args))
        return self._letters[expr]

    def _below(self, expr: sympy.Expr) -> frozenset[sympy.Symbol]:
        """Its symbols and those of its pieces' values."""
        if expr not in self._beneath:
            own = self.letters(expr)
            self._beneath[expr] = own.union(*(self._below(value) for p in own & self._pieces.keys()
                                              for _, value in self._pieces[p].cases))
        return self._beneath[expr]

    def _slope(self, expr: sympy.Expr, n: int, within: Numbers) -> Any:
        """The derivative of a product, a power or a function by its n-th argument alone."""
        before, after = expr.args[:n], expr.args[n + 1:]
        if expr.is_Mul:
            return reduce(mul, map(within.number, (*before, *after)))
        if (expr, n) not in self._slopes:
            self._slopes[expr, n] = _slope_by_u(expr.func, before, after).xreplace({_U: expr.args[n]})
        return within.number(self._slopes[expr, n])
