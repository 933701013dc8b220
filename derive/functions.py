"""What is known of the named functions of one number: one record each, and everything else loops over them.

A record without ``definition`` is elementary: its spellings are read as that function wherever a formula applies
it.  One with a ``definition`` is short for that formula: a question that applies it by name gets it written out,
and a card that defines a function of that name keeps its own.

``derivative`` and ``corners`` feed the index calculus alone.  What checks it takes its slopes from elsewhere: SymPy
from ``sympy``, dual numbers from ``slope`` (or from differences of ``mpmath`` to 60 digits), the proofs from SymPy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

from derive.errors import UnsupportedError
from derive.expr import (
    HOLDS,
    MINUS_ONE,
    ONE,
    PI,
    ZERO,
    Add,
    Bracket,
    Entry,
    Expr,
    Fn,
    Mul,
    Num,
    Pow,
    Rel,
    add,
    mul,
    sub,
    subst,
)
from derive.records import dataclass

U = Entry("u", ())  # the argument, in derivatives and branches
_HALF, _TWO = Num(Fraction(1, 2)), Num(2)
_T = TypeVar("_T")


@dataclass(frozen=True)
class Corner:
    """Where two branches of a function meet: ``below`` and ``above`` u = ``at``; they differ there in slope or value.

    The one-sided values and slopes are those of the branches; ``chosen`` is the slope in use at the corner.
    """

    at: Expr
    below: Expr
    above: Expr
    chosen: Expr = ZERO

    def sides(self, argument: Expr) -> tuple[Expr, Expr]:
        """The branches above and below, of f's argument."""
        return subst(self.above, {U: argument}), subst(self.below, {U: argument})


@dataclass(frozen=True)
class Function:
    """f(u) for a number u.

    ``domain`` is where it has a value: ``real``, ``positive`` or ``nonnegative``; ``grows`` tells one that floats do
    not hold for moderate u.  ``numpy`` is source text with ``{}`` for u.  ``slope`` gives f'(u) to dual numbers, from
    u, f(u) and their arithmetic; without it they take a difference of ``mpmath``.
    """

    name: str
    spellings: tuple[str, ...] = ()  # \tanh and \operatorname{tanh}
    latex: str = ""
    words: str = ""
    derivative: Expr | None = None  # in U, off the corners
    corners: tuple[Corner, ...] = ()
    domain: str = "real"
    edge: float | None = None  # the limit at the end of the domain
    grows: bool = False
    number: Callable[[float], float] | None = None
    exact: Callable[[Any], Any] | None = None  # of any ordered number, where fractions stay fractions
    decimal: Callable[[Decimal, Context], Decimal] | None = None  # where that is faster than mpmath
    numpy: str = ""
    sympy: str = ""
    mpmath: str = ""
    slope: Callable[[Any, Any, Any], Any] | None = None
    definition: str = ""  # LaTeX in u, for a function that is no more than this formula
    sloped: str = ""  # its definition where the card has an α

    @property
    def elementary(self) -> bool:
        return not self.definition and not self.sloped

    def derived(self, argument: Expr) -> Expr:
        """f'(argument); raises :class:`UnsupportedError` for a function of counts."""
        if self.derivative is None:
            raise UnsupportedError(f"the derivative of a {self.words} is not covered")
        return subst(self.derivative, {U: argument})

    def defined(self, argument: str, sloped: bool = False) -> str:
        """The definition with another letter for u; empty where there is none."""
        body = (sloped and self.sloped) or self.definition
        return re.sub(r"(?<![A-Za-z\\])u(?![A-Za-z])", lambda _: argument, body)


def _of(name: str) -> Expr:
    return Fn(name, (U,))


def _over_one_plus_square(u: Any, _: Any, kind: Any) -> Any:
    return kind.power(1 + u * u, -1)


_BELOW_0 = r"\begin{cases} u & \text{if } u > 0 \\ %s & \text{otherwise} \end{cases}"
_ALL = (
    Function("exp", ("exp",), r"\exp", "exponential function", _of("exp"), grows=True, number=math.exp,
             decimal=lambda u, c: u.exp(c), numpy="np.exp({})", sympy="exp", mpmath="exp", slope=lambda u, y, _: y),
    Function("log", ("log", "ln"), r"\log", "natural logarithm", Pow(U, MINUS_ONE), domain="positive", edge=-math.inf,
             number=math.log, decimal=lambda u, c: u.ln(c), numpy="np.log({})", sympy="log", mpmath="log",
             slope=lambda u, y, kind: kind.power(u, -1)),
    Function("sqrt", (), r"\sqrt", "square root", mul(_HALF, Pow(U, mul(MINUS_ONE, _HALF))), domain="nonnegative",
             number=math.sqrt, decimal=lambda u, c: u.sqrt(c), numpy="np.sqrt({})", sympy="sqrt", mpmath="sqrt",
             slope=lambda u, y, kind: kind.power(2 * y, -1)),
    Function("tanh", ("tanh",), r"\tanh", "hyperbolic tangent", sub(ONE, Pow(_of("tanh"), _TWO)), number=math.tanh,
             decimal=lambda u, c: ((e := (2 * u).exp(c)) - 1) / (e + 1),
             numpy="np.tanh({})", sympy="tanh", mpmath="tanh",
             slope=lambda u, y, _: 1 - y * y),
    Function("sinh", ("sinh",), r"\sinh", "hyperbolic sine", _of("cosh"), grows=True, number=math.sinh,
             decimal=lambda u, c: (u.exp(c) - (-u).exp(c)) / 2, numpy="np.sinh({})", sympy="sinh", mpmath="sinh",
             slope=lambda u, y, kind: kind.functions["cosh"](u)),
    Function("cosh", ("cosh",), r"\cosh", "hyperbolic cosine", _of("sinh"), grows=True, number=math.cosh,
             decimal=lambda u, c: (u.exp(c) + (-u).exp(c)) / 2, numpy="np.cosh({})", sympy="cosh", mpmath="cosh",
             slope=lambda u, y, kind: kind.functions["sinh"](u)),
    Function("sin", ("sin",), r"\sin", "sine", _of("cos"), number=math.sin, numpy="np.sin({})", sympy="sin",
             mpmath="sin", slope=lambda u, y, kind: kind.functions["cos"](u)),
    Function("cos", ("cos",), r"\cos", "cosine", mul(MINUS_ONE, _of("sin")), number=math.cos, numpy="np.cos({})",
             sympy="cos", mpmath="cos", slope=lambda u, y, kind: -kind.functions["sin"](u)),
    Function("arctan", ("arctan", "atan"), r"\arctan", "inverse tangent", Pow(add(Pow(U, _TWO), ONE), MINUS_ONE),
             number=math.atan, numpy="np.arctan({})", sympy="atan", mpmath="atan", slope=_over_one_plus_square),
    Function("erf", ("erf",), r"\mathop{\mathrm{erf}}", "error function",
             mul(_TWO, Pow(Pow(PI, _HALF), MINUS_ONE), Fn("exp", (mul(MINUS_ONE, Pow(U, _TWO)),))), number=math.erf,
             numpy="np.vectorize(math.erf, otypes=[float])({})", sympy="erf", mpmath="erf"),
    Function("abs", ("abs",), r"\left|{}\right|", "absolute value", _of("sign"),
             (Corner(ZERO, mul(MINUS_ONE, U), U),), number=abs, exact=abs, numpy="abs({})", sympy="Abs", mpmath="fabs"),
    Function("factorial", (), "{}!", "factorial", domain="nonnegative", grows=True, number=lambda u: math.gamma(u + 1),
             numpy="np.vectorize(lambda u: math.nan if u < 0 else math.inf if u > 170 else math.gamma(u + 1), "
                   "otypes=[float])({})",
             sympy="factorial", mpmath="factorial"),  # of a count: it has no derivative here
    Function("sign", ("sign", "sgn"), r"\mathop{\mathrm{sign}}", "sign", ZERO, (Corner(ZERO, MINUS_ONE, ONE),),
             number=lambda u: float((u > 0) - (u < 0)), exact=lambda u: (u > 0) - (u < 0), numpy="np.sign({})",
             sympy="sign", mpmath="sign"),
    # short for a formula
    Function("relu", ("relu", "rectifier"), definition=r"\max(0, u)"),
    Function("sigmoid", ("sigmoid", "sigm", "logistic"), definition=r"\frac{1}{1 + e^{-u}}"),
    Function("softplus", ("softplus",), definition=r"\log(1 + e^{u})"),
    Function("swish", ("swish", "silu"), definition=r"\frac{u}{1 + e^{-u}}"),
    Function("normcdf", ("normcdf",), definition=r"\frac{1}{2} (1 + \mathop{\mathrm{erf}}(\frac{u}{\sqrt{2}}))"),
    Function("gelu", ("gelu",), definition=r"\frac{u}{2} (1 + \mathop{\mathrm{erf}}(\frac{u}{\sqrt{2}}))"),
    Function("softsign", ("softsign",), definition=r"\frac{u}{1 + |u|}"),
    Function("mish", ("mish",), definition=r"u \tanh(\log(1 + e^{u}))"),
    Function("hardtanh", ("hardtanh",), definition=r"\max(-1, \min(1, u))"),
    Function("elu", ("elu",), definition=_BELOW_0 % "e^{u} - 1", sloped=_BELOW_0 % r"\alpha (e^{u} - 1)"),
    Function("leakyrelu", ("leakyrelu", "lrelu"), sloped=_BELOW_0 % r"\alpha u"),
    Function("prelu", ("prelu",), sloped=_BELOW_0 % r"\alpha u"),
    Function("expm1", ("expm1",), definition="e^{u} - 1"),
    Function("log1p", ("log1p",), definition=r"\log(1 + u)"),
    Function("identity", ("identity",), definition="u"),
)  # fmt: skip
FUNCTIONS: dict[str, Function] = {record.name: record for record in _ALL}
SPELLINGS: dict[str, str] = {}  # of the elementary ones
SHORT: dict[str, str] = {}  # of those with a definition, in small letters


class Table(dict[str, _T]):
    """By name, what ``make`` makes of an elementary record when first asked for; None is nothing.

    ``besides`` stands in it whatever the records are.
    """

    _known: ClassVar[WeakValueDictionary[int, Table[Any]]] = WeakValueDictionary()

    def __init__(self, make: Callable[[Function], _T | None], besides: Mapping[str, _T] | None = None) -> None:
        super().__init__(besides or {})
        self.make, self.besides = make, dict(besides or {})
        Table._known[id(self)] = self

    def __missing__(self, name: str) -> _T:
        record = FUNCTIONS.get(name)
        made = self.make(record) if record is not None and record.elementary else None
        if made is None:
            raise KeyError(name)
        self[name] = made
        return made

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except KeyError:
            return False

    @staticmethod
    def renew() -> None:
        """What was made of the records is made anew."""
        for table in Table._known.values():
            table.clear()
            table.update(table.besides)


def elementary() -> Iterator[Function]:
    """The functions that are not short for a formula."""
    return (record for record in FUNCTIONS.values() if record.elementary)


def value(node: Expr, at: Mapping[Expr, float]) -> float:
    """The value in floats of an expression of numbers, powers and elementary functions; ``at`` has its letters' values.

    For a guess at random numbers, in rooms that know no module: the evaluator of whole formulas is elsewhere.
    Raises :class:`KeyError` for anything else in it, :class:`ValueError` where it has no real value.
    """
    match node:
        case Num(number):
            return float(number)
        case Add(terms):
            return math.fsum(value(t, at) for t in terms)
        case Mul(factors):
            return math.prod(value(f, at) for f in factors)
        case Pow(base, exponent):
            return math.pow(value(base, at), value(exponent, at))
        case Fn(name, (argument,)) if (record := known(name)) is not None and record.number is not None:
            return float(record.number(value(argument, at)))
        case Bracket(Rel(terms, ops)):
            sides = [value(t, at) for t in terms]
            return float(all(HOLDS[op](a, b) for a, op, b in zip(sides, ops, sides[1:], strict=False)))
    return math.pi if node is PI else at[node]


def known(name: str) -> Function | None:
    """The elementary function of that name."""
    record = FUNCTIONS.get(name)
    return record if record is not None and record.elementary else None


def register(record: Function) -> None:
    """Add a record, or put it in the place of one with its name."""
    FUNCTIONS[record.name] = record
    _spell()


def forget(name: str) -> None:
    """Remove a record."""
    del FUNCTIONS[name]
    _spell()


def _spell() -> None:
    for spellings in (SPELLINGS, SHORT):
        spellings.clear()
    for record in FUNCTIONS.values():
        (SPELLINGS if record.elementary else SHORT).update(dict.fromkeys(record.spellings, record.name))
    Table.renew()


_spell()
