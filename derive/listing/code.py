"""Formulas as Python expressions: pieces of source with the strength of their binding."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import derive.expr as ex
from derive.affine import Affine
from derive.errors import UnsupportedError
from derive.functions import known
from derive.module import Module
from derive.records import dataclass

CHOICE, AND, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(8)


@dataclass(frozen=True)
class Code:
    """A piece of source; ``level``: how strongly its outermost operator binds; ``axes``: what an array runs along."""

    text: str
    level: int = ATOM
    axes: tuple[ex.Idx, ...] = ()

    def at(self, level: int) -> str:
        """The text, bracketed where it binds less strongly than ``level``."""
        return self.text if self.level >= level else f"({self.text})"


class Printer:
    """Values and conditions as source; how entries, binders and cases look is for its kinds to say."""

    choices = "{yes} if {test} else {no}"

    def __init__(self, module: Module) -> None:
        self.module = module
        self.sizes: dict[str, None] = {}  # that were named

    def align(self, parts: Iterable[Code]) -> tuple[list[Code], tuple[ex.Idx, ...]]:
        """The parts such that they can be combined entry by entry, and the axes of what comes out."""
        return list(parts), ()

    def value(self, node: ex.Expr) -> Code:
        """The source of a value; raises :class:`UnsupportedError` for what has none here."""
        match node:
            case ex.Num(value):
                return _number(value)
            case ex.Infinity(sign):
                return Code("np.inf") if sign > 0 else Code("-np.inf", SIGN)
            case ex.Idx():
                return self.index(node)
            case ex.Size(name):
                return Code(self.size(name))
            case ex.Add(terms):
                return self.sum(terms)
            case ex.Mul(factors):
                return self.product(factors)
            case ex.Pow(base, exponent):
                return self.power(base, exponent)
            case ex.Fn() if (written_out := self.module.applied(node)) is not None:
                return self.value(written_out)
            case ex.Fn("floor", (ex.Mul(factors),)):
                return self.floor(factors)
            case ex.Fn("pi", ()):
                return Code("np.pi")
            case ex.Fn(name, (body,)) if (record := known(name)) is not None:
                return self.applied(record.numpy, self.value(body))
            case ex.Extremum(op, args):
                return self.extremum(op, [self.value(a) for a in args])
            case ex.Cases(branches):
                return self.cases([(self.value(v), c) for v, c in branches])
            case ex.Bracket(cond):
                return self.bracket(cond)
        return self.bound(node)

    def floor(self, factors: tuple[ex.Expr, ...]) -> Code:
        """⌊a/b⌋ as a // b."""
        below = [f.base for f in factors if isinstance(f, ex.Pow) and f.exponent == ex.Num(-1)]
        below += [ex.Num(f.value.denominator) for f in factors if isinstance(f, ex.Num) and f.value.denominator != 1]
        above = [f for f in factors if not isinstance(f, (ex.Pow, ex.Num))]
        above += [ex.Num(f.value.numerator) for f in factors if isinstance(f, ex.Num) and f.value.numerator != 1]
        if not below:
            raise UnsupportedError("a floor of no quotient is not written as code yet")
        parts = [self.value(ex.mul(*above)), self.value(ex.mul(*below))]
        return self.joined(" // ", PRODUCT, parts, SIGN)

    def index(self, node: ex.Idx) -> Code:
        raise NotImplementedError

    def shape(self, counts: Iterable[ex.Expr]) -> str:
        """n, or (n, m)."""
        return tuple_text([self.value(n).text for n in counts])

    def size(self, name: str) -> str:
        self.sizes[name] = None
        return name

    def bound(self, node: ex.Expr) -> Code:
        """Entries, binders and all else."""
        if isinstance(node, ex.Cardinality) and isinstance(node.of, ex.SetApp):  # the sum of 1 over a window
            at = tuple(ex.fresh_index() for _ in node.of.args)
            return self.value(ex.Reduce("sum", ex.over(at, ex.In(ex.tuple_of(at), node.of)), ex.ONE))
        what = node.name if isinstance(node, ex.Fn) else type(node).__name__
        raise UnsupportedError(f"`{what}` is not written as code yet")

    def joined(self, sign: str, level: int, parts: list[Code], right: int | None = None) -> Code:
        """a sign b sign c; ``right``: how strongly those after the first must bind."""
        aligned, axes = self.align(parts)
        first, *rest = aligned
        return Code(sign.join([first.at(level), *(p.at(right or level) for p in rest)]), level, axes)

    def called(self, name: str, parts: list[Code]) -> Code:
        aligned, axes = self.align(parts)
        return Code(f"{name}({', '.join(p.text for p in aligned)})", ATOM, axes)

    def applied(self, template: str, part: Code) -> Code:
        """f(a), or a quotient such as 1 / f(a)."""
        (aligned,), axes = self.align([part])
        whole = template.endswith("({})") and " " not in template.replace(", ", "")
        return Code(template.format(aligned.text), ATOM if whole else PRODUCT, axes)

    def sum(self, terms: tuple[ex.Expr, ...]) -> Code:
        """a + b − c, a positive term first where there is one."""
        signed = sorted(map(_signed, terms), key=lambda t: t[0] < 0)
        aligned, axes = self.align(self.value(t) for _, t in signed)
        text = ("-" if signed[0][0] < 0 else "") + aligned[0].at(SUM if signed[0][0] > 0 else PRODUCT)
        for (sign, _), part in zip(signed[1:], aligned[1:], strict=True):
            text += (" + " if sign > 0 else " - ") + part.at(PRODUCT)
        return Code(text, SUM, axes)

    def product(self, factors: tuple[ex.Expr, ...]) -> Code:
        """a b / c; a bracket [c] among the factors chooses between the rest and 0."""
        factors = tuple(flat(factors))
        conds = [f.cond for f in factors if isinstance(f, ex.Bracket)]
        if conds:
            rest = ex.mul(*(f for f in factors if not isinstance(f, ex.Bracket)))
            return self.guarded(rest, ex.joined(conds))
        above: list[ex.Expr] = []
        below: list[ex.Expr] = []
        sign = 1
        for factor in factors:
            match factor:
                case ex.Num(value):
                    sign = sign if value > 0 else -sign
                    above += [ex.Num(abs(value.numerator))] if abs(value.numerator) != 1 else []
                    below += [ex.Num(value.denominator)] if value.denominator != 1 else []
                case ex.Pow(base, ex.Num(value)) if value < 0:
                    below.append(base if value == -1 else ex.Pow(base, ex.Num(-value)))
                case _:
                    above.append(factor)
        found = self.times(above)
        if below:
            found = self.joined(" / ", PRODUCT, [found, self.times(below)], SIGN)
        return found if sign > 0 else Code(f"-{found.at(PRODUCT)}", SIGN, found.axes)

    def guarded(self, value: ex.Expr, cond: ex.Cond) -> Code:
        """The value where the condition holds, else 0."""
        return self.cases([(self.value(value), cond), (Code("0"), ex.OTHERWISE)])

    def times(self, factors: list[ex.Expr]) -> Code:
        parts = [self.value(f) for f in factors]
        return Code("1") if not parts else parts[0] if len(parts) == 1 else self.joined(" * ", PRODUCT, parts, SIGN)

    def power(self, base: ex.Expr, exponent: ex.Expr) -> Code:
        if isinstance(exponent, ex.Num):
            if exponent.value < 0:
                return self.product((ex.Pow(base, exponent),))
            if exponent.value == Fraction(1, 2):
                return self.called("np.sqrt", [self.value(base)])
        return self.joined(" ** ", POWER, [self.atom(self.value(base)), self.value(exponent)], ATOM)

    def atom(self, code: Code) -> Code:
        return Code(code.at(ATOM), ATOM, code.axes)

    def extremum(self, op: str, parts: list[Code]) -> Code:
        return self.called(op, parts)

    def cases(self, branches: list[tuple[Code, ex.Cond]]) -> Code:
        """The value of the first branch that holds; NaN where none does."""
        *first, (last, cond) = branches
        if cond is not ex.OTHERWISE:
            first, last = branches, Code("np.nan")
        found = last
        for value, test in reversed(first):
            aligned, axes = self.align([value, self.condition(test), found])
            yes, check, no = (p.at(CHOICE if n == 2 and p.level == CHOICE else AND) for n, p in enumerate(aligned))
            found = Code(self.choices.format(yes=yes, test=check, no=no), CHOICE, axes)
        return self.chosen(found)

    def chosen(self, code: Code) -> Code:
        return code

    def counted(self, op: str, body: ex.Expr) -> Code:
        """What a reduction runs over: a sum of brackets counts truth values."""
        return self.condition(body.cond) if op == "sum" and isinstance(body, ex.Bracket) else self.value(body)

    def bracket(self, cond: ex.Cond) -> Code:
        return self.cases([(Code("1"), cond), (Code("0"), ex.OTHERWISE)])

    def condition(self, node: ex.Cond) -> Code:
        match node:
            case ex.And(conds):
                return self.joined(" and ", AND, list(map(self.condition, conds)), COMPARE)
            case ex.Rel(terms, ops):
                return self.compared(list(map(self.value, _lowered(terms))), [ex.PYTHON[op] for op in ops])
        raise UnsupportedError(f"a condition of the kind `{type(node).__name__}` is not written as code yet")

    def compared(self, parts: list[Code], ops: list[str]) -> Code:
        aligned, axes = self.align(parts)
        text = aligned[0].at(SUM) + "".join(f" {op} {p.at(SUM)}" for op, p in zip(ops, aligned[1:], strict=True))
        return Code(text, COMPARE, axes)


class ArrayPrinter(Printer):
    """Values of whole arrays, where a condition is an array of truth values."""

    choices = "np.where({test}, {yes}, {no})"

    def chosen(self, code: Code) -> Code:
        return Code(code.text, ATOM, code.axes)

    def extremum(self, op: str, parts: list[Code]) -> Code:
        first, *rest = parts
        for part in rest:
            first = self.called(f"np.{op}imum", [first, part])
        return first

    def guarded(self, value: ex.Expr, cond: ex.Cond) -> Code:
        """A product with true and false as 1 and 0, where the value is a number everywhere.

        Alone they stay no truth values: NumPy adds these to a truth value.
        """
        if value == ex.ONE or any(isinstance(n, ex.Pow) or (isinstance(n, ex.Fn) and n.name == "log")
                                  for n in ex.walk(value)):
            return super().guarded(value, cond)
        return self.joined(" * ", PRODUCT, [self.value(value), self.condition(cond)], SIGN)


def _lowered(terms: tuple[ex.Expr, ...]) -> tuple[ex.Expr, ...]:
    """i + 1 = j + 1 as i = j."""
    forms = [Affine.of(t) for t in terms]
    shared = {f.constant for f in forms if f.coefficients}
    if len(shared) != 1 or not all(f.coefficients for f in forms) or shared == {0}:
        return terms
    return tuple(Affine(f.coefficients, Fraction(0)).expr() for f in forms)


def _signed(term: ex.Expr) -> tuple[int, ex.Expr]:
    """(−1, t) for −t."""
    if isinstance(term, ex.Num) and term.value < 0:
        return -1, ex.Num(-term.value)
    if isinstance(term, ex.Mul):
        negative = sum(isinstance(f, ex.Num) and f.value < 0 for f in term.factors) % 2
        if negative:
            return -1, ex.mul(*(ex.Num(abs(f.value)) if isinstance(f, ex.Num) else f for f in term.factors))
    return 1, term


def flat(factors: Iterable[ex.Expr]) -> Iterable[ex.Expr]:
    """The factors of products among them, in their place."""
    for factor in factors:
        if isinstance(factor, ex.Mul):
            yield from flat(factor.factors)
        else:
            yield factor


def tuple_text(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"({', '.join(items)})"


def _number(value: Fraction) -> Code:
    """3, 0.5, 1 / 3."""
    if value < 0:
        return Code(f"-{_number(-value).at(PRODUCT)}", SIGN)
    if value.denominator == 1:
        return Code(str(value.numerator))
    if 1000 % value.denominator == 0:
        return Code(repr(float(value)))
    return Code(f"{value.numerator} / {value.denominator}", PRODUCT)


