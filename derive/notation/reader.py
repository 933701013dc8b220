"""Flat tree → expression: sums, products, factors. Meanings come from the symbol table, never from a letter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from functools import cached_property

import derive.expr as ex
from derive.functions import known as elementary
from derive.notation import tree as tr
from derive.notation.formulas import NotationError, Source, TooHigh
from derive.notation.pieces import split_runs
from derive.notation.shapes import ALL, AT, HADAMARD, INNER, STARRED, TRANSPOSE
from derive.notation.symbols import Kind, Symbol, SymbolTable, lexicon
from derive.records import dataclass, replace

_MISSING = "something is missing here: a value is expected, as in `x_k` or `2`"
SETS = (ex.SetApp, ex.SetOf, ex.Without, ex.Hull, ex.Subdifferential)
Part = Callable[["Reader", tr.Cursor], ex.Expr | list[ex.Expr]]


@dataclass(frozen=True)
class Reader:
    """Reads runs of items under a symbol table; ``bound`` holds the names of bound variables."""

    table: SymbolTable
    source: Source
    parts: Mapping[str, Part]  # what reads a factor, by the kind of its first item
    bound: frozenset[str] = frozenset()
    in_index: bool = False
    undecided: bool = False  # any letter may still be a vector
    local: frozenset[str] = frozenset()  # the parameters of the function that is being defined
    outer: frozenset[str] = frozenset()  # the free indices of the left-hand side
    words: dict[str, Symbol] = field(default_factory=dict)
    places: dict[ex.Node, int] = field(default_factory=dict)  # where each value begins, the first of equal ones

    @staticmethod
    def of(table: SymbolTable, source: Source, parts: Mapping[str, Part], undecided: bool = False) -> Reader:
        return Reader(table, source, parts, undecided=undecided, words=lexicon(table))

    @property
    def inner(self) -> Reader:
        """What reads index terms."""
        return self if self.in_index else self._inner

    @cached_property
    def _inner(self) -> Reader:
        return replace(self, in_index=True)

    def binding(self, names: list[str]) -> Reader:
        return replace(self, bound=self.bound | set(names), in_index=False)

    def error(self, at: tr.Item | int, message: str) -> NotationError:
        return self.source.error(at if isinstance(at, int) else at.start, message)

    def shown(self, *items: tr.Item) -> str:
        return self.source.latex[items[0].start : items[-1].end].strip()

    def cursor(self, items: tr.Items, end: int) -> tr.Cursor:
        return tr.Cursor(items, items[-1].end if items else end)

    def value(self, items: tr.Items, end: int) -> ex.Expr:
        """All of the items as one value; ``end`` places the error where there are none."""
        if not items:
            raise self.error(end, _MISSING)
        cursor = self.cursor(items, end)
        found = self.sum(cursor)
        self.finish(cursor)
        return found

    def finish(self, c: tr.Cursor) -> None:
        """An error where items are left."""
        item = c.peek()
        if item is None:
            return
        shown = self.shown(item)
        raise self.error(item, {
            "TEXT": f"the words `{shown}` are outside the notation",
            "DOTS": r"dots are outside the notation here; write a range, `\sum_{k=1}^{n}` or `1 \le k`",
            "QUAD": "a wide space parts two formulas here; put a comma between them",
            "COMMA": "a comma does not belong here: one value is expected",
        }.get(getattr(item, "type", ""), f"`{shown}` does not belong here: an operator or the end is expected, as in "
                                         "`a + b`"))

    def sum(self, c: tr.Cursor) -> ex.Expr:
        """± term ± term …; ``a \\bmod b`` and ``S \\setminus T`` stand alone."""
        first, start = c.place, len(c.opened)
        terms: list[ex.Expr] = []
        negative = c.taken("MINUS") or (c.taken("PLUS") and False)
        signed = negative
        while True:
            known = c.opened[start:]
            at = c.place
            factors = self.factors(c)
            terms.append(product(negated(factors) if negative else factors))
            self.places.setdefault(terms[-1], at)
            self.within_reach(known, terms[-1], c)
            if not tr.is_token(c.peek(), "PLUS", "MINUS"):
                break
            negative = tr.is_token(c.take(), "MINUS")
        found = terms[0] if len(terms) == 1 else ex.Add(tuple(terms))
        self.places.setdefault(found, first)
        following = c.peek()
        if tr.is_token(following, "BMOD"):
            if signed or len(terms) > 1:
                raise self.error(first, r"what is taken `\bmod`: the last term or the whole sum? Put brackets")
            return self.modulo(found, c)
        if tr.is_token(following, "SETMINUS"):
            return self.without(found, c)
        return found

    def within_reach(self, opened: list[tuple[str, str]], term: ex.Expr, c: tr.Cursor) -> None:
        """max_r a_r + b_r: the b_r stands outside, where no r runs."""
        free = {i.name for i in ex.free_indices(term)} - self.bound - self.outer if opened else ()
        for name, sign in opened:
            if name in free:
                raise self.error(c.place, f"how far does `{sign}` reach? `{name}` runs only in its body, up to the "
                                          f"next + or −, and stands behind it too; put brackets around the whole body")

    def modulo(self, left: ex.Expr, c: tr.Cursor) -> ex.Expr:
        last = left.factors[-1] if isinstance(left, ex.Mul) else left
        if isinstance(last, (ex.Reduce, ex.Arg)) and not isinstance(c.items[c.at - 1], tr.Group):
            raise self.error(c.place, r"what is taken `\bmod`: the body or all of it? Put brackets")
        c.take()
        right = self.factor(c)
        goes_on = tr.is_token(c.peek(), "PLUS", "MINUS", "TIMES", "SLASH", "BMOD")
        if len(right) != 1 or tr.starts_factor(c.peek()) or goes_on:
            raise self.error(c.place, r"how far does `\bmod` reach? Put brackets")
        return ex.Fn("mod", (left, right[0]))

    def factors(self, c: tr.Cursor) -> list[ex.Expr]:
        """The factors of a product, as written; a quotient a/b is a, b^{-1}."""
        found: list[ex.Expr] = []
        operator: tr.Item | None = None
        cuts: list[tuple[int, str]] = []  # where each ⊙ and each * stands
        while True:
            item = c.peek()
            if tr.starts_factor(item):
                if tr.is_token(item, "NUMBER") and found and operator is None:
                    assert item is not None
                    raise self.error(item, rf"a number after a factor: write `\cdot {self.shown(item)}`, or move it")
                found = self.dotted(found, self.factor(c), operator)
                operator = None
            elif tr.is_token(item, "ODOT") and found and operator is None:
                operator = c.take()
                cuts.append((len(found), HADAMARD))
            elif tr.is_token(item, "TIMES", "STAR") and found and operator is None:
                cuts += [(len(found), STARRED)] if tr.is_token(item, "STAR") else []
                operator = c.take()
            elif tr.is_token(item, "SLASH") and found and operator is None:
                return self.slash(found, c)
            else:
                break
        if not found or operator is not None:
            raise self.missing(c)
        if len(found) > 1:
            self.multipliable(found, c)
        return self.entrywise(found, cuts)

    def entrywise(self, found: list[ex.Expr], cuts: list[tuple[int, str]]) -> list[ex.Expr]:
        """a ⊙ b; a * b where one of them may be a vector."""
        if not cuts:
            return found
        ends = [0, *(n for n, _ in cuts), len(found)]
        parts = tuple(product(found[a:b]) for a, b in itertools.pairwise(ends) if a < b)
        dotted = any(sign == HADAMARD for _, sign in cuts)
        whole = any(isinstance(n, ex.Entry) and len(n.indices) < max(self.rank(n), self.undecided)
                    for part in parts for n in ex.walk(part))
        return [ex.Fn(HADAMARD if dotted else STARRED, parts)] if dotted or whole else found

    def dotted(self, found: list[ex.Expr], new: list[ex.Expr], operator: tr.Item | None) -> list[ex.Expr]:
        r"""w \cdot x of two vectors is their inner product; of anything else a product."""
        if tr.is_token(operator, "TIMES") and found and len(new) == 1 and all(map(self.is_vector, (found[-1], *new))):
            return [*found[:-1], ex.Fn(INNER, (found[-1], new[0]))]
        return [*found, *new]

    def is_vector(self, node: ex.Expr) -> bool:
        if isinstance(node, ex.Add):
            return all(map(self.is_vector, node.terms))
        if isinstance(node, ex.Fn) and len(node.args) == 1 and elementary(node.name):  # \log p
            return self.is_vector(node.args[0])
        return isinstance(node, ex.Entry) and self.rank(node) - len(node.indices) == 1

    def multipliable(self, factors: list[ex.Expr], c: tr.Cursor) -> None:
        for factor in factors:
            if isinstance(factor, (ex.Tuple, ex.Matrix, ex.SetApp, ex.SetOf, ex.Without, ex.Star)) and (
                    not isinstance(factors[0], ex.Num)):
                raise self.error(c.place, r"a list, a table or a set cannot be a factor: write entries, as in "
                                          r"`\sum_j W_{kj} x_j + b_k`")

    def missing(self, c: tr.Cursor) -> NotationError:
        item = c.peek()
        if item is None:
            return self.error(c.place, _MISSING)
        if tr.is_token(item, "TEXT", "DOTS"):
            c.at = c.items.index(item) if item in c.items else c.at
            self.finish(c)
        return self.error(item, f"a value is expected before `{self.shown(item)}`, as in `a + b`")

    def slash(self, numerator: list[ex.Expr], c: tr.Cursor) -> list[ex.Expr]:
        slash = c.take()
        if not tr.starts_factor(c.peek()):
            raise self.missing(c)
        denominator = product(self.factor(c))
        if tr.starts_factor(c.peek()) or tr.is_token(c.peek(), "TIMES", "STAR", "SLASH"):
            raise self.error(slash, r"`a/b c` is `(a/b) c` or `a/(b c)`; write `\frac{…}{…}` or brackets")
        return self.quotient(numerator, denominator, slash)

    def quotient(self, above: list[ex.Expr], below: ex.Expr, at: tr.Item) -> list[ex.Expr]:
        if isinstance(below, ex.Num) and below.value == 0:
            raise self.error(at, "a division by zero")
        return quotient(above, below)

    def spread(self, items: tr.Items, end: int) -> list[ex.Expr]:
        """A value as factors; a product in brackets stays one factor."""
        found = self.value(items, end)
        if isinstance(found, ex.Mul) and not (len(items) == 1 and isinstance(items[0], tr.Group)):
            return list(found.factors)
        return [found]

    def factor(self, c: tr.Cursor) -> list[ex.Expr]:
        """One factor (a fraction can be several)."""
        item = c.peek()
        if item is None or not tr.starts_factor(item):
            raise self.missing(c)
        part = self.parts.get(_kind(item))
        if part is None:
            raise self.error(item, "put brackets around what carries this script")
        read = part(self, c)
        found = read if isinstance(read, list) else [read]
        for node in found:
            self.places.setdefault(node, item.start)
        return found

    def without(self, base: ex.Expr, c: tr.Cursor) -> ex.Expr:
        r"""S \setminus \{(i, j)\}."""
        sign = c.take()
        g = c.peek()
        if not isinstance(base, SETS) or not tr.is_group(g, "LSET"):
            raise self.error(sign, r"`\setminus` stands between a set and `\lbrace … \rbrace`")
        c.take()
        return ex.Without(base, tuple(self.value(part, g.end - 1) for part in tr.split(g.items, "COMMA")))

    def is_index(self, name: str) -> bool:
        if any(b.rstrip("'") == name for b in self.bound):
            return True
        known = self.words.get(name)
        return known.kind is Kind.INDEX if known is not None else self.in_index

    def rank(self, node: ex.Entry) -> int:
        known = self.table.named(node.tensor)
        return len(known.axes) if known is not None else 0

    def is_whole(self, node: ex.Expr) -> bool:
        """w where w ∈ R^n is stated: a vector or a matrix, which has no powers."""
        known = self.table.named(node.tensor) if isinstance(node, ex.Entry) else None
        return isinstance(node, ex.Entry) and known is not None and len(known.sizes) > len(node.indices)

    def terms(self, runs: list[tr.Items], end: int) -> tuple[ex.Expr, ...]:
        """The index terms of a subscript, a colon for all."""
        return tuple([ALL if len(run) == 1 and tr.is_token(run[0], "COLON") else self.inner.value(run, end)
                      for run in runs])

    def raised(self, base: ex.Expr, item: tr.Item | None) -> ex.Expr:
        """The base to the power that the item carries, if any."""
        if not isinstance(item, tr.Scripted):
            return base
        if item.subs:
            if len(item.subs) > 1 or not tr.is_group(item.base, "LPAREN", "LBRACK") or tr.has(item.subs[0], "REL"):
                raise self.error(item.subs[0][0], "this subscript is outside the notation")
            base = ex.Fn(AT, (base, *self.terms(split_runs(item.subs[0], None), item.end)))  # (W x)_k
        if item.primes:
            raise self.error(item, "this prime is outside the notation")
        return self.power(base, item)

    def power(self, base: ex.Expr, item: tr.Scripted) -> ex.Expr:
        if not item.sups:
            return base
        if len(item.sups) > 1:
            raise self.error(item, "two superscripts; put brackets")
        script = item.sups[0]
        if len(script) == 1 and (tr.is_token(script[0], "TOP") or str(script[0]) == "T" and (
                "T" not in self.words or self.undecided or self.is_whole(base))):
            return ex.Fn(TRANSPOSE, (base,))
        if len(script) == 1 and str(script[0]) == "T" and tr.is_token(item.base, "NAME"):
            raise self.error(script[0], f"`{self.shown(item)}`: transposed, or to the power `T`? Write `^\\top`, or "
                                        f"brackets around what has the power")
        if not script or tr.is_token(script[0], "STAR", "TOP", "TEXT", "PRIME"):
            raise self.error(item, f"the superscript of `{self.shown(item)}` is outside the notation")
        exponent = replace(self, in_index=False).value(script, item.end)
        if isinstance(exponent, ex.Entry) and self.rank(exponent) != len(exponent.indices):
            raise self.error(script[0], f"`{self.shown(item)}`: a whole tensor cannot be an exponent")
        if mentions_index(exponent):
            raise self.error(script[0], f"`{self.shown(item)}`: a power or a numbered sample? Put brackets for a power")
        if abs(_size(exponent)) > HIGHEST:
            raise TooHigh(*self.error(script[0], f"an exponent beyond {HIGHEST}").problems)
        return ex.Pow(base, exponent)


HIGHEST = 1000  # what is calculated exactly has that many times the digits of its base


def _size(node: ex.Expr) -> float:
    """What a number such as 2^{3^4} is, about; no number (NaN) for what is none."""
    try:
        match node:
            case ex.Num(value):
                return float(value)
            case ex.Mul(factors):
                return math.prod(map(_size, factors))
            case ex.Pow(base, exponent):
                return abs(_size(base)) ** _size(exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return math.nan


def _kind(item: tr.Item) -> str:
    """The kind of a factor that opens with the item: a token's type, GROUP, ENV, FRAC or SQRT."""
    base = item.base if isinstance(item, tr.Scripted) else item
    match base:
        case tr.Token(type="INFTY") | tr.Env() | tr.Command(type="FRAC" | "SQRT") if item is not base:
            return ""
        case tr.Token() | tr.Command():
            return base.type
    return "GROUP" if isinstance(base, tr.Group) else "ENV"


def infinity(r: Reader, c: tr.Cursor) -> ex.Expr:
    c.take()
    return ex.Infinity(1)


def number(r: Reader, c: tr.Cursor) -> ex.Expr:
    item = c.take()
    return r.raised(ex.Num(Fraction(str(item.base if isinstance(item, tr.Scripted) else item))), item)


def product(factors: list[ex.Expr]) -> ex.Expr:
    return factors[0] if len(factors) == 1 else ex.Mul(tuple(factors))


def negated(factors: list[ex.Expr]) -> list[ex.Expr]:
    """−(c · …) has the coefficient −c."""
    first = factors[0]
    if isinstance(first, ex.Num):
        return [ex.Num(-first.value), *factors[1:]]
    if isinstance(first, ex.Infinity) and len(factors) == 1:
        return [ex.Infinity(-first.sign)]
    return [ex.MINUS_ONE, *factors]


def quotient(above: list[ex.Expr], below: ex.Expr) -> list[ex.Expr]:
    """A number below becomes the coefficient in front; all else a power −1 behind."""
    if isinstance(below, ex.Num):
        first = above[0].value if isinstance(above[0], ex.Num) else Fraction(1)
        rest = above[1:] if isinstance(above[0], ex.Num) else above
        coefficient = first / below.value
        return rest if coefficient == 1 and rest else [ex.Num(coefficient), *rest]
    inverse = ex.Pow(below, ex.MINUS_ONE)
    return [inverse] if above == [ex.Num(1)] else [*above, inverse]


def mentions_index(node: ex.Expr) -> bool:
    """i of i + 1; not that of an entry p_i."""
    below = {i for n in ex.walk(node) if isinstance(n, ex.Entry) for i in n.indices}
    return any(isinstance(n, (ex.Idx, ex.Star)) and n not in below for n in ex.walk(node))
