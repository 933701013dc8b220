"""Sizes, facts and points at which a layer is checked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from derive.axes import with_axes
from derive.errors import UnsupportedError
from derive.module import Module
from derive.notation import read
from derive.numeric.arithmetic import DECIMAL, EXACT, precision
from derive.numeric.point import Undefined
from derive.verify.points.draw import Draws, Pool, arithmetic_of
from derive.verify.points.point import Point
from derive.verify.points.sizes import choices
from tests.calculus.zoo import LAYERS, ZOO


def module(name: str, *facts: str) -> Module:
    found = with_axes(ZOO[name].module())
    return replace(found, facts=(*found.facts, *(read(f, found.table) for f in facts)))  # type: ignore[arg-type]


def draws(of: Module) -> Draws:
    kind = arithmetic_of(of.equations)
    return Draws(of, kind, choices(of, 2), Pool.of(kind, frozenset()), ())


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_sizes_differ_and_are_two_or_more(layer) -> None:  # type: ignore[no-untyped-def]
    found = choices(with_axes(layer.module()), 3)
    assert all(n >= 2 for sizes in found for shape in sizes.shapes.values() for n in shape)
    for a, b in combinations(found[0].chosen, 2):
        differ = [sizes.chosen[a] != sizes.chosen[b] for sizes in found]
        assert any(differ[:2]) and (all(differ) or len(found[0].chosen) > 3)  # two sets are what is proved at
    assert len({tuple(s.chosen.values()) for s in found}) == len(found)


@pytest.mark.parametrize(("name", "fact", "test"), [
    ("softmax_cross_entropy", r"t_i \in \{0, 1\}", lambda v: sorted(v["t"].values()) == [0] * (len(v["t"]) - 1) + [1]),
    ("softmax_cross_entropy", r"t_i \ge 0", lambda v: sum(v["t"].values()) == 1),
    ("hinge", r"t \in \{-1, 1\}", lambda v: v["t"][()] in (-1, 1)),
    ("batch_norm", r"\epsilon > 0", lambda v: v["epsilon"][()] > 0),
    ("prelu", r"0 < a < 1", lambda v: 0 < v["a"][()] < 1),
    ("prelu", r"a \ne 1", lambda v: v["a"][()] != 1),
    ("log_sum_exp", r"x_j > 0", lambda v: all(n > 0 for n in v["x"].values())),
    ("squared", r"y_k > t_k", lambda v: all(n > v["t"][at] for at, n in v["y"].items())),
])
def test_facts_are_met(name, fact, test) -> None:  # type: ignore[no-untyped-def]
    with precision():
        source = draws(module(name, fact))
        for n in range(10):
            assert test(source.point(n).values)


def test_a_fact_that_cannot_be_met_is_named() -> None:
    with precision(), pytest.raises(UnsupportedError, match="facts stated"):
        draws(module("prelu", r"a > 1000")).point(0)


@pytest.mark.parametrize(("name", "letter"), [("squared_log", "y"), ("power", "x"), ("generalised_mean", "x")])
def test_numbers_lie_where_the_formula_has_a_value(name: str, letter: str) -> None:
    with precision():
        source = draws(module(name))
        for n in range(10):
            assert source.point(n).values[letter]


def test_every_region_of_a_slope_is_drawn() -> None:
    source = draws(module("prelu"))
    slopes = [source.point(n).values["a"][()] for n in range(40)]
    assert {(a > 1) - (a < 0) for a in slopes} == {-1, 0, 1}
    assert any(0 < a < 1 for a in slopes)


def point(name: str, **values: object) -> Point:
    of = module(name)
    arrays = {n: {(i,): v for i, v in enumerate(x)} if isinstance(x, tuple) else {(): x} for n, x in values.items()}
    assert set(arrays) == set(of.given)
    shapes = {n: () if () in a else (len(a),) for n, a in arrays.items()}
    found = Point(of, arithmetic_of(of.equations), arrays, shapes, {})
    return found.with_upstream(dict.fromkeys(found.values[of.output], 1))


def test_derivatives_are_exact_and_undefined_at_a_kink() -> None:
    found = point("prelu", s=(2, -3), a=Fraction(1, 2))
    assert found.partial("y", (1,), "s", (1,)) == Fraction(1, 2)
    assert found.partial("y", (1,), "s", (0,)) == 0
    assert found.tensor("delta_a")[()] == -3
    tied = point("prelu", s=(2, 0), a=Fraction(1, 2))
    with pytest.raises(Undefined):
        tied.partial("y", (0,), "s", (0,))


def test_an_intermediate_tensor_is_free() -> None:
    with precision():
        of = module("neuron_bce")
        source = Draws(of, DECIMAL, choices(of, 1), Pool.of(DECIMAL, frozenset()), ())
        found = source.point(0)
        y, t = found.values["y_hat"][()], found.values["t"][()]
        expected = (y - t) / (y * (1 - y))
        assert abs(found.partial("ell", (), "y_hat", ()) - expected) < Fraction(1, 10**40)


def test_arithmetic_is_exact_where_it_can_be() -> None:
    assert arithmetic_of(module("batch_norm").equations) is DECIMAL
    assert arithmetic_of(module("linear_prelu_squared").equations) is EXACT
