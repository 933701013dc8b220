"""Index terms with exact coefficients: read, added, written again, and the ends between which they lie."""

from __future__ import annotations

from fractions import Fraction

from derive.affine import Affine, Range
from derive.expr import TURNED, And, Fn, Idx, Num, Size, Tuple, add, conditions, items, joined, mul, rel, sub

I, J, N = Idx("i"), Idx("j"), Size("n")  # type: ignore[call-arg]


def test_terms_are_gathered_and_what_is_not_affine_is_a_letter() -> None:
    half = Fn("floor", (mul(Num(Fraction(1, 2)), I),))
    found = Affine.of(add(mul(Num(2), I), J, half, sub(I, Num(3))))
    assert found == Affine({I: Fraction(3), J: Fraction(1), half: Fraction(1)}, Fraction(-3))
    assert found.minus(found) == Affine({}, Fraction(0)) and found.without(half).times(2).coefficients[I] == 6
    assert Affine.of(sub(J, I)).expr() is sub(J, I)


def test_the_ends_follow_from_the_ranges_of_the_letters() -> None:
    ranges = {I: Range(Num(0), sub(N, Num(1))), J: Range(Num(1), Num(3))}
    term = Affine.of(sub(mul(Num(2), I), J))
    assert term.end(ranges, top=True) == Affine({N: Fraction(2)}, Fraction(-3))
    assert term.end(ranges, top=False) == Affine({}, Fraction(-3))
    assert term.end({I: ranges[I]}, top=True) is None
    assert ranges[I].length is N and Affine.of(sub(N, Num(1))).never_negative


def test_tuples_and_conditions_have_parts() -> None:
    first, second = rel(I, "<", J), rel(J, "≤", N)
    assert items(Tuple((I, J))) == (I, J) and items(I) == (I,)  # type: ignore[call-arg]
    assert conditions(None) == () and conditions(first) == (first,)
    assert joined([first]) is first and joined([first, second]) is And((first, second))  # type: ignore[call-arg]
    assert all(TURNED[TURNED[op]] == op for op in TURNED)
