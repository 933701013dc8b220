"""Definitions that leave something undecided, or nothing to calculate with: overlapping branches, open indices, ∞."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import (
    HOLDS,
    Add,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    In,
    Infinity,
    Listed,
    Matrix,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    Rel,
    conditions,
    free_indices,
    walk,
)
from derive.functions import known
from derive.limits import MOST_DIGITS
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.specify.definitions import Definition
from derive.specify.places import place


def refuse_branches(used: Iterable[Definition], table: SymbolTable, facts: Iterable[Node] = ()) -> None:
    """Raise :class:`CardError` where conditions on one value and numbers overlap, or leave an interval out.

    Of what ``facts`` say to be one of several numbers, y ∈ {0, 1}, only these count.
    """
    listed = {f.element.tensor: [n.value for n in f.set.items if isinstance(n, Num)] for f in facts if isinstance(f, In)
              and isinstance(f.element, Entry) and isinstance(f.set, Listed)}
    for definition in used:
        for cases in (n for n in walk(definition.value) if isinstance(n, Cases)):
            conds = [cond for _, cond in cases.branches]
            subjects = {s for cond in conds for s in _subjects(cond)}
            if len(subjects) != 1 or (subject := subjects.pop()) is None:
                continue
            ends = {n.value for cond in conds for n in walk(cond) if isinstance(n, Num)}
            numbers = [*_between(ends), *sorted(ends)]
            for value in listed.get(subject.tensor, numbers) if isinstance(subject, Entry) else numbers:
                holding = {v for v, cond in cases.branches if _holds(cond, value)}
                if len(holding) != 1:  # of two that have one value the derivatives may differ
                    what = "have two branches" if holding else "have no value"
                    where = f"{write(subject, table)} = {value}"
                    raise CardError(Problem(f"{place(definition.formula)}: the cases {what} at {where}; give every "
                                            "value exactly one branch", line=definition.formula.line))


def _subjects(cond: Cond) -> Iterator[Expr | None]:
    """What is compared with numbers; None for any other condition."""
    for part in conditions(cond):
        if not isinstance(part, Rel):
            yield None
            continue
        yield from (t for t in part.terms if not isinstance(t, (Num, Infinity)))


def _between(numbers: set[Fraction]) -> list[Fraction]:
    """A value inside each interval that the numbers part."""
    ends = sorted(numbers)
    middle = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
    return [ends[0] - 1, *middle, ends[-1] + 1] if ends else []


def _holds(cond: Cond, value: Fraction) -> bool:
    return all(HOLDS[op](_value(a, value), _value(b, value)) for part in conditions(cond) if isinstance(part, Rel)
               for a, op, b in zip(part.terms, part.ops, part.terms[1:], strict=False))


def _value(term: Expr, value: Fraction) -> Fraction | float:
    return term.value if isinstance(term, Num) else term.sign * float("inf") if isinstance(term, Infinity) else value


def refuse_open(used: Sequence[Definition]) -> None:
    """Raise :class:`CardError` for an index on the right that is neither summed over nor on the left."""
    for definition in used:
        left = free_indices(definition.value) - free_indices(definition.entry)
        if left:
            names = ", ".join(f"`{i.name}`" for i in sorted(left, key=lambda i: i.name))
            held = dict.fromkeys(f"`{n.tensor}`" for n in walk(definition.value) if isinstance(n, Entry)
                                 and left & {*n.indices})
            otherwise = (f"a label of {', '.join(held)}, state what it is one of, as in `c \\in \\{{1, \\dots, K\\}}`"
                         if held else "a number such as a stride, state its value, as in `s = 2`")
            raise CardError(Problem(
                f"{place(definition.formula)}: the index {names} stands on the right and not on the left; write it on "
                f"the left, or sum over it; if it is no index but {otherwise}", line=definition.formula.line))


def refuse_numbers(used: Iterable[Definition], table: SymbolTable) -> None:
    """Raise :class:`CardError` for ∞ in a calculation and for limits that are entries, :class:`UnsupportedError`
    for numbers beyond :data:`MOST_DIGITS`: what is derived from them could not be read as it is printed.
    """
    for definition in used:
        line, at = definition.formula.line, place(definition.formula)
        for node in walk(definition.value):
            if isinstance(node, _CALCULATED) and any(isinstance(c, Infinity) for c in node.children()):
                raise CardError(Problem(f"{at}: ∞ is no number to calculate with, as in `{write(node, table)}`; leave "
                                        "out what it decides nothing of", line=line))
            limits = (*node.binder.lower, *node.binder.upper) if isinstance(node, Reduce) else ()
            if any(isinstance(n, Entry) and n.indices for limit in limits if limit is not None for n in walk(limit)):
                raise CardError(Problem(f"{at}: a limit of `{write(node, table)}` is an entry; write whole numbers, "
                                        "sizes and indices", line=line))
            if isinstance(node, Matrix):
                raise CardError(Problem(f"{at}: a matrix of letters is nothing to compute with; write its entries, one "
                                        r"below the other by cases: `a_k = \begin{cases} h_k & \text{if } k < H \\ "
                                        r"x_{k-H} & \text{otherwise} \end{cases}`", line=line))
            if isinstance(node, Fn) and _outside(node):
                raise CardError(Problem(f"{at}: `{write(node, table)}` has no value", line=line))
            if _digits(node) > MOST_DIGITS:
                raise UnsupportedError(Problem(f"{at}: a number of more than {MOST_DIGITS} digits; give it a letter",
                                               line=line))
            if isinstance(node, Pow) and isinstance(node.exponent, Num) and 0 < abs(node.exponent.value) < _LOWEST:
                raise UnsupportedError(Problem(f"{at}: an exponent below {_LOWEST}; give it a letter", line=line))


def _outside(node: Fn) -> bool:
    """A function of a number that is not in its domain: log 0."""
    function = known(node.name)
    if function is None or not isinstance(argument := node.args[0], Num):
        return False
    return {"positive": argument.value <= 0, "nonnegative": argument.value < 0}.get(function.domain, False)


_CALCULATED = (Add, Mul, Pow, Extremum, Fn)
_LOWEST = Fraction(1, 1000)  # its reciprocal is an exponent of the derivative


def _digits(node: Node) -> float:
    """How many digits a product of numbers and their powers has, at most; 0 for any other factor.

    A factorial has those of the largest number in it; of powers and functions it may have any.
    """
    match node:
        case Num(value):
            return math.log10(max(abs(value.numerator), value.denominator, 1))
        case Pow(base, Num(exponent)):
            return _digits(base) * float(abs(exponent))
        case Mul(factors):
            return math.fsum(map(_digits, factors))
        case Fn("factorial", (count,)):
            inside = (*walk(count),)
            largest = max((abs(n.value) for n in inside if isinstance(n, Num)), default=0)
            return math.inf if any(isinstance(n, (Pow, Fn, Reduce)) for n in inside) else math.lgamma(
                float(largest) + 1) / math.log(10)
    return 0
