"""What words say of all entries of a given letter: «$A$ is symmetric», «for a unit vector $u$», «the $t_i$ sum to one».

Each property is an equation of every entry, whose right side is a projection: the numbers that it gives fulfil it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache

from derive.axes import axes
from derive.check.judging.equalities import every
from derive.check.reading.worded import NAMING, rows
from derive.expr import (
    ONE,
    ZERO,
    Add,
    And,
    Binder,
    Bracket,
    Cond,
    Entry,
    Expr,
    Fn,
    Idx,
    Mul,
    Num,
    Pow,
    Reduce,
    Rel,
    Size,
    eq,
    sub,
    subst,
)
from derive.module import Module
from derive.notation.symbols import Kind, name_of
from derive.records import dataclass

_LETTER = r"\$\s*\\?[A-Za-z]+(?:\s*,\s*\\?[A-Za-z]+)*(?:_(?:\w|\{\w+\}))?\s*(?:\\in[^$]*)?\$"
_LETTERS = rf"(?P<letters>{_LETTER}(?:\s*(?:,|and|or)\s*{_LETTER}){{0,20}})"  # of a longer list from each of them on
_NAMES = re.compile(r"(?<![A-Za-z\\_{])\\?[A-Za-z]+")
_ENDS = (r"(?=[\s$]*(?:[.,;:()|\n]|\Z|\$|(?:and|but|we|it|this|then|so|in|the|all|both|only|holds?|because|since"
         r"|compute|derive)\b))")
_NOT = re.compile(r"\b(?:not|no|non|never|neither|nor|arbitrary|general|necessarily|if|when|unless)\b[\s$-]*"
                  r"(?:\w+\s+)?\Z", re.IGNORECASE)
_IN_FORMULAS = tuple((name, re.compile(pattern)) for name, pattern in (
    ("SYMMETRIC", r"(?<![A-Za-z\\])(?P<a>[A-Za-z])\s*(?:=\s*(?P=a)\s*\^\s*\{?\s*(?:\\top|T)\b\s*\}?"
                  r"|\^\s*\{?\s*(?:\\top|T)\s*\}?\s*=\s*(?P=a)(?![A-Za-z]))"),
    ("SYMMETRIC", r"(?<![A-Za-z\\])(?P<a>[A-Za-z])_\{(?P<i>\w)(?P<j>\w)\}\s*=\s*(?P=a)_\{(?P=j)(?P=i)\}"),
    ("UNIT_LENGTH", r"\\\|\s*(?P<a>\\?[A-Za-z]+)\s*\\\|(?:_2)?(?:\^2)?\s*=\s*"
                    r"(?:\\\|\s*(?P<b>\\?[A-Za-z]+)\s*\\\|(?:_2)?(?:\^2)?\s*=\s*)?1(?![\d.])"),
    ("IDENTITY", r"(?<![A-Za-z\\])(?P<a>[A-Z])\s*=\s*(?:I|\\mathbf\s*\{?I\}?)(?:_\w)?(?![A-Za-z])")))
_FRONT = 60  # characters in front of what is said, in which it may be denied or opened
_VECTOR, _MATRIX = 1, 2  # indices
_HALF = Num(Fraction(1, 2))
_RANKS = {"matrix": _MATRIX, "matrice": _MATRIX, "vector": _VECTOR}
_NUMBERS = frozenset("score logit number value component entrie".split())
_TOO = "_TOO"  # more than that is said


@dataclass(frozen=True)
class Property:
    """Where words say it, the condition that they state, and whether they say no more; ``known``: it is no case."""

    start: int
    stop: int
    cond: Cond
    exact: bool = True
    known: bool = False


def _sum(x: Entry, change: Callable[[Entry], Expr], *bound: Idx) -> Expr:
    """Over some of the indices of an entry."""
    free = (None,) * len(bound)
    own = tuple(Idx(f"{i.name}_all") for i in bound)
    return Reduce("sum", Binder(own, free, free, None), subst(change(x), dict(zip(bound, own, strict=True))))


def _over(value: Expr, divisor: Expr) -> Expr:
    return Mul((value, Pow(divisor, Num(-1))))


def _root(value: Expr) -> Expr:
    return Pow(value, _HALF)


def _mean(x: Entry, module: Module) -> Expr:
    size = axes(module).size(x.tensor, 0)
    return _over(_sum(x, lambda e: e, *_letters(x)), size) if size is not None else ZERO


def _centred(x: Entry, module: Module) -> Expr:
    return sub(x, _mean(x, module))


def _standardised(x: Entry, module: Module) -> Expr:
    size, mean = axes(module).size(x.tensor, 0), _mean(x, module)
    own = _sum(x, lambda e: Pow(sub(e, mean), Num(2)), *_letters(x))
    return _over(sub(x, mean), _root(_over(own, size))) if size is not None else x


def _swapped(x: Entry) -> Entry:
    return Entry(x.tensor, x.indices[::-1])


def _letters(x: Entry) -> tuple[Idx, ...]:
    return tuple(i for i in x.indices if isinstance(i, Idx))


def _absolute(x: Expr) -> Expr:
    return Fn("abs", (x,))


# of an entry of a letter with so many indices, what it is then
_PROJECTIONS: Mapping[str, tuple[tuple[int, ...], Callable[[Entry, Module], Expr]]] = {
    "SYMMETRIC": ((_MATRIX,), lambda x, _: Mul((_HALF, Add((x, _swapped(x)))))),
    "SKEW": ((_MATRIX,), lambda x, _: Mul((_HALF, sub(x, _swapped(x))))),
    "DIAGONAL": ((_MATRIX,), lambda x, _: Mul((Bracket(eq(*x.indices)), x))),
    "IDENTITY": ((_MATRIX,), lambda x, _: Bracket(eq(*x.indices))),
    "UNIT_LENGTH": ((_VECTOR,), lambda x, _: _over(x, _root(_sum(x, lambda e: Pow(e, Num(2)), *_letters(x))))),
    "TOTAL_ONE": ((_VECTOR,), lambda x, _: _over(_absolute(x), _sum(x, _absolute, *_letters(x)))),
    "ROWS_TO_ONE": ((_MATRIX,), lambda x, _: _over(_absolute(x), _sum(x, _absolute, *_letters(x)[1:]))),
    "CONSTANT": ((_VECTOR,), lambda x, m: Entry(x.tensor, (Num(axes(m).origin(x.tensor, 0)),))),
    "CENTRED": ((_VECTOR,), _centred),
    "STANDARDISED": ((_VECTOR,), _standardised),
    "POSITIVE": ((_VECTOR, _MATRIX), lambda x, _: _absolute(x)),
    "NEGATIVE": ((_VECTOR, _MATRIX), lambda x, _: Mul((Num(-1), _absolute(x)))),
    "ONES": ((_VECTOR, _MATRIX), lambda x, _: ONE),
    "ZERO": ((_VECTOR, _MATRIX), lambda x, _: ZERO),
}
_SQUARE = frozenset("SYMMETRIC SKEW DIAGONAL IDENTITY".split())
_SIGNS = {"POSITIVE": ">", "NEGATIVE": "<"}  # of a number


@cache
def _said() -> str:
    names = [*_PROJECTIONS, *(f"{name}{_TOO}" for name in ("SYMMETRIC", "TOTAL_ONE"))]
    return "|".join(f"(?P<{name}>{rows(f'PROPERTY_{name}')})" for name in names)


@cache
def _core() -> re.Pattern[str]:
    """What each of the phrases has in it."""
    return re.compile(rf"{_said()}|{rows('PROPERTY_EQUAL')}|unit", re.IGNORECASE)


@cache
def _phrases() -> tuple[re.Pattern[str], ...]:
    """A symmetric matrix $A$; $A$ is symmetric; all $x_i$ are equal; the targets sum to one."""
    said = _said()
    opens = rf"(?:\b(?:(?P<known>{rows('PROPERTY_KNOWN')})|{rows('CLAIM_WHERE')}|and|of|that)\s+){{0,4}}"
    article = r"(?:(?:all|any|every|both|the|an?)\s+){0,2}"
    noun, is_ = rf"(?P<noun>{rows('PROPERTY_NOUN')})", r"(?:is|are|be|being|has|have)"
    equal = rf"(?P<CONSTANT>{rows('PROPERTY_EQUAL')})"
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
        rf"{opens}{article}(?:{said})(?:\s+\$[^$]*\\times[^$]*\$)?(?:\s+{noun})?\s+{_LETTERS}",
        rf"{opens}{article}(?:{noun}\s+)?{_LETTERS},?\s+(?:(?:which|where|that)\s+)?{is_}?\s*{article}(?:{said})"
        rf"(?:\s+{rows('PROPERTY_NOUN')})?{_ENDS}",
        rf"{opens}{article}all\s+{article}(?:{noun}\s+)?{_LETTERS}\s+{is_}\s+{equal}{_ENDS}",
        rf"{opens}{article}all\s+{article}{noun}\s+{is_}\s+{equal}{_ENDS}",
        rf"{opens}{article}(?:{said})\s+{noun}{_ENDS}",
        rf"{opens}{article}(?P<UNIT_LENGTH>unit)\s+(?P<noun>vectors?){_ENDS}",
        rf"{opens}{article}{noun}\s+{is_}?\s*{article}(?:{said}){_ENDS}"))


def properties(text: str, module: Module, question: str = "") -> tuple[Property, ...]:
    """What the text says of letters that are given, in order; the question calls letters by words."""
    found = list[Property]()
    for pattern in _phrases() if _core().search(text) is not None else ():
        for m in pattern.finditer(text):
            parts = m.groupdict()
            name = next(n for n, words in parts.items() if words and n.isupper())
            letters = [*_named(parts["letters"])] if parts.get("letters") else [] if name in _SIGNS else _called(
                parts["noun"].lower(), question, module)
            if name in _SIGNS and "_" in (parts.get("letters") or "") and not re.search(r"\ball\b", m[0]):
                continue  # of that entry alone
            stated = [_stated(name.removesuffix(_TOO), letter, module) for letter in letters]
            if stated and all(stated) and not _NOT.search(text, max(0, m.start() - _FRONT), m.start()) and not any(
                    p.start < m.end() and m.start() < p.stop for p in found):
                found += (Property(m.start(), m.end(), c, not name.endswith(_TOO), bool(m["known"]))
                          for c in stated if c is not None)
    opener = re.compile(rf"(?:\b{rows('CLAIM_WHERE')}|{rows('PROPERTY_KNOWN')}|[,(:]|\band)[\s$]*\Z", re.IGNORECASE)
    for name, pattern in _IN_FORMULAS:  # with $\|x\| = 1$
        for m in re.finditer(rf"\$\s*{pattern.pattern}\s*[,.;]?\s*\$", text):
            opens = opener.search(text, max(0, m.start() - _FRONT), m.start())
            if opens is not None:
                known = re.match(rows("PROPERTY_KNOWN"), opens[0], re.IGNORECASE) is not None
                found += (Property(m.start() if opens[0][0] in ",(:" else opens.start(), m.end(), cond, True, known)
                          for cond in _in_formula(name, m, module))
    return tuple(sorted(found, key=lambda p: p.start))


def _in_formula(name: str, found: re.Match[str], module: Module) -> Iterator[Cond]:
    letters = [name_of(letter) for key in "ab" if (letter := found.groupdict().get(key))]
    stated = [_stated(name, letter, module) for letter in letters]
    yield from (c for c in stated if c is not None and all(stated))


def _called(noun: str, question: str, module: Module) -> list[str]:
    """The letter that a word means: the question calls it so, or no other has its role and is such."""
    one = noun.rstrip("s")
    named = {name_of(m[2]) for m in NAMING.finditer(question) if m[1].lower().rstrip("s") == one}
    if not named:
        ranks = {s.name: len(s.axes) for s in module.table.of_kind(Kind.TENSOR)}
        roles = {"input": module.inputs, "weight": module.parameters, "target": module.constants,
                 "label": module.constants}.get(one, module.given if one in _RANKS or (
                     one in _NUMBERS and len(module.given) == 1) else ())
        named = {t for t in roles if ranks.get(t) == _RANKS.get(one, ranks.get(t))}
    return [*named] if len(named) == 1 or noun == "vectors" else []


def told(question: str, module: Module) -> tuple[Property, ...]:
    """What the question says of its letters, in formulas, too."""
    found = [Property(m.start(), m.end(), cond) for name, pattern in _IN_FORMULAS
             for m in pattern.finditer(question) for cond in _in_formula(name, m, module)]
    return (*properties(question, module, question), *found)


def _named(letters: str) -> Iterator[str]:
    """A of $A \\in ℝ^{n×n}$, u and v of $u, v$ and of $u$ and $v$."""
    for formula in re.findall(r"\$([^$]*)\$", letters):
        yield from (name_of(m[0]) for m in _NAMES.finditer(re.sub(r"\\in(?![a-z]).*|_(?:\w|\{\w+\})", "", formula)))


def _stated(name: str, letter: str, module: Module) -> Cond | None:
    symbol = module.table.named(letter)
    if symbol is None or symbol.kind is not Kind.TENSOR or letter not in module.given:
        return None
    if not symbol.axes:
        return Rel((Entry(letter, ()), ZERO), (_SIGNS[name],)) if name in _SIGNS else None
    ranks, projection = _PROJECTIONS[name]
    if len(symbol.axes) not in ranks:
        return None
    x = Entry(letter, tuple(Idx(f"{a}_{n}") for n, a in enumerate("pq"[:len(symbol.axes)])))
    cond, sizes = every(eq(x, projection(x, module))), [axes(module).size(letter, d) for d in range(len(x.indices))]
    if name not in _SQUARE or sizes[0] is sizes[1]:
        return cond
    known = tuple(n for n in sizes if isinstance(n, Size))
    return And((Rel(known, ("=",)), cond)) if len(known) == _MATRIX else None
