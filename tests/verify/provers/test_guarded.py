"""Numbers with cases: parts that count in one region are added, functions are taken in each case."""

from __future__ import annotations

from derive.verify.provers.algebra import Algebra
from derive.verify.provers.guarded import Guarded, Space
from derive.verify.provers.smt import Own

SPACE = Space(Algebra(4))
X, Y = (SPACE.of(SPACE.algebra.entry(name)) for name in "xy")


def same(left: Guarded, right: Guarded) -> bool:
    with Own().used():
        return SPACE.compare(left, "=", right) is True


def test_parts_of_one_region_are_added() -> None:
    above = SPACE.compare(X, ">", 0)
    assert not isinstance(above, bool)
    relu = X.where(above)
    assert same((relu - Y).where(above), X.where(above) - Y.where(above))
    assert not same((relu - Y).where(above), relu)


def test_a_function_is_taken_in_each_case() -> None:
    largest = SPACE.extremum("max", [X, Y])
    exp = SPACE.kind.functions["exp"]
    above = SPACE.compare(X, "≥", Y)
    assert same(exp(largest), SPACE.choose(above, exp(X), exp(Y)))
    assert same(SPACE.power(largest, 2), SPACE.choose(above, X * X, Y * Y))
    assert same(SPACE.power(largest, -1), SPACE.choose(above, SPACE.power(X, -1), SPACE.power(Y, -1)))
