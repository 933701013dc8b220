"""At ties: active sets, directional derivatives, and whether a gradient is one of the Clarke subdifferential."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import derive
from derive.errors import CardError, UnsupportedError
from derive.layers import POOLINGS
from derive.layers.catalogue import Pooling
from derive.numbers import Numbers
from derive.numeric.evaluator import evaluate
from tests.layers.reference import windows

SELECTING = [s for s in POOLINGS if any(w in s.name for w in ("max", "min", "median")) and "soft" not in s.name]
OVERLAPPING: dict[str, dict[str, Any]] = {"window": {"kernel_size": (3,), "stride": 1}, "global": {"dims": 1},
                                          "adaptive": {"output_size": (3,)}}


def numbers(spec: Pooling | str, **more: Any) -> Numbers:
    found = next(s for s in POOLINGS if s.name == spec) if isinstance(spec, str) else spec
    geometry = {"output_size": (1,)} if found.name == "adaptive_median_pool" else OVERLAPPING[found.form]
    return Numbers(derive.layer(found.name, **geometry, **more))


def test_the_example_of_independent_choices_is_outside() -> None:
    layer, x, upstream = numbers("max_pool"), [0, 0, 0, 0], [1, -1]
    assert layer.ties(x=x) == {(0,): ((0,), (1,), (2,)), (1,): ((1,), (2,), (3,))}
    assert not layer.is_subgradient([0, 1, -1, 0], upstream=upstream, x=x)  # windows that choose 1 and 2
    assert layer.is_subgradient([0, 0, 0, 0], upstream=upstream, x=x)
    assert layer.is_subgradient([1, 0, 0, -1], upstream=upstream, x=x)
    assert not layer.is_subgradient([1, 0, 0, 0], upstream=upstream, x=x)


@pytest.mark.parametrize("spec", SELECTING, ids=lambda spec: spec.name)
@pytest.mark.parametrize("rule", ["first", "last", "split"])
def test_what_a_tie_rule_takes_lies_in_the_subdifferential(spec: Pooling, rule: str) -> None:
    if rule not in spec.tie_rules:
        with pytest.raises(CardError, match="can leave the subdifferential"):
            numbers(spec, tie_rule=rule)
        return
    layer = numbers(spec, tie_rule=rule)
    for x in ([0, 0, 0, 0, 0], [1, 1, -1, 1, 0], [2, -2, 2, 2, -2]):
        size = layer.forward(x=x).size
        for upstream in ([1, -1, 2][:size], [-3, 0, 1][:size]):
            weights = upstream if layer.forward(x=x).ndim else upstream[0]
            gradient = layer.backward("x", upstream=weights, x=x)
            exact = [Fraction(float(g)).limit_denominator(1000) for g in gradient]
            assert layer.is_subgradient(exact, upstream=weights, x=x), (x, upstream)
            assert not layer.is_subgradient([e + 5 for e in exact], upstream=weights, x=x)


def test_first_fails_for_a_median() -> None:
    """Beside the tie one window takes the smaller of the two entries and the other the larger: never both the same."""
    layer, x = numbers("median_pool"), [-1, 0, 0, 1]
    assert layer.ties(x=x) == {(0,): ((1,), (2,)), (1,): ((1,), (2,))}
    assert not layer.is_subgradient([0, 2, 0, 0], upstream=[1, 1], x=x)
    assert layer.is_subgradient([0, 1, 1, 0], upstream=[1, 1], x=x)
    assert layer.backward("x", upstream=[1, 1], x=x).tolist() == [0, 1, 1, 0]


def test_active_sets_of_fractions_and_floats_are_exact() -> None:
    layer = numbers("max_pool", tie_rule="last")
    third = Fraction(1, 3)
    assert layer.ties(x=[third, 0.1, third, Fraction(2, 6)])[(0,)] == ((0,), (2,))
    assert layer.ties(x=[0.1 + 0.2, 0.3, 0, 0]) == {(0,): ((0,),), (1,): ((1,),)}
    assert numbers("max_abs_pool").ties(x=[-2, 2, 1])[(0,)] == ((0,), (1,))
    with pytest.raises(UnsupportedError, match="maximum, minimum or median"):
        numbers("avg_pool").ties(x=[1, 2, 3])
    with pytest.raises(CardError, match=r"NaN\) at \(1\)"):
        layer.ties(x=[0, float("nan"), 0])


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_the_directional_derivative_is_the_one_sided_quotient(spec: Pooling) -> None:
    """Exact for what is linear near the point along the direction; else against a small step."""
    layer = numbers(spec)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.integers(-1, 1), min_size=5, max_size=5), st.lists(st.integers(-3, 3), min_size=5, max_size=5))
    def check(x: list[int], v: list[int]) -> None:
        found = layer.directional("x", v=v, x=x)
        h = Fraction(1, 10**7)
        cells = [{(i,): n + s * c for i, (n, c) in enumerate(zip(x, v, strict=True))} for s in (0, h)]
        numbers_ = [{k: float(n) for k, n in c.items()} for c in cells]
        before, after = (evaluate(layer.module, {"x": c}, {"x": (5,)})["f"] for c in numbers_)
        quotients = [(after[k] - before[k]) / float(h) for k in before]
        np.testing.assert_allclose(np.ravel(found), quotients, atol=2e-5, rtol=1e-5)

    check()


def test_the_directional_derivative_of_fractions_is_exact() -> None:
    found = numbers("max_pool").directional("x", v=[1, Fraction(1, 3), -2, 5], x=[0, 0, 0, 0])
    assert found.tolist() == [1, 5] and all(isinstance(n, Fraction) for n in found)
    norm = numbers("lp_pool", norm=2)
    assert norm.directional("x", v=[3, 4, 0, 0], x=[0, 0, 0, 0]).tolist() == [5, 4]
    with pytest.raises(CardError, match=r"`v` has shape \(2,\), but `x` has \(4,\)"):
        norm.directional("x", v=[3, 4], x=[0, 0, 0, 0])


def test_a_one_sided_limit_that_is_infinite_is_said_to_be() -> None:
    """A root at 0, and what jumps, have no generalised derivatives there; what has no value is an error."""
    root, jump = (derive.solve(formula=f) for f in (
        r"y_k = \sqrt{|x_k|}", r"y_k = \begin{cases} x_k & x_k > 1 \\ 0 & x_k \le 1 \end{cases}"))
    assert root.directional("x", v=[[1, -1], [0, 2]], x=[[0, 0], [0, 1]]).tolist() == [[np.inf, np.inf], [0, 1]]
    assert jump.directional("x", v=[1, -1], x=[1, 1]).tolist() == [np.inf, 0]
    for solution, at in ((root, 0), (jump, 1)):
        with pytest.raises(UnsupportedError, match="infinite"):
            solution.subdifferential("x", upstream=[1], x=[at])
        with pytest.raises(UnsupportedError, match="infinite"):
            solution.is_subgradient([0], upstream=[1], x=[at])
    for formula in (r"y_k = \sqrt{x_k}", r"y_k = \ln(x_k)"):
        with pytest.raises(UnsupportedError, match="no value"):
            derive.solve(formula=formula).directional("x", v=[-1], x=[0])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, 1), min_size=6, max_size=6), st.integers(0, 10**6), st.sampled_from(["max_pool", "min_pool"]))
def test_gradients_beside_a_tie_are_subgradients_at_it(x: list[int], seed: int, name: str) -> None:
    """∇L(x + ε v) for a generic v, and convex combinations of such."""
    layer, rng = numbers(name), np.random.default_rng(seed)
    upstream = rng.integers(-3, 4, 4).tolist()
    gradients = []
    for _ in range(2):
        beside = np.array(x) + rng.permutation(6) * 1e-3
        gradients.append(layer.backward("x", upstream=upstream, x=beside))
        assert layer.is_subgradient(gradients[-1].astype(int), upstream=upstream, x=x)
    mean = [Fraction(int(a + b), 2) for a, b in zip(*gradients, strict=True)]
    assert layer.is_subgradient(mean, upstream=upstream, x=x)


@pytest.mark.parametrize("spec", SELECTING, ids=lambda spec: spec.name)
def test_active_sets_are_those_of_the_definition(spec: Pooling) -> None:
    layer = numbers(spec)
    for x in itertools.product((0, 1), repeat=5):
        if "abs" in spec.name:
            continue
        shape, cells = windows(layer.module, (5,))
        value = {"max": max, "min": min, "med": lambda z: sorted(z)[len(z) // 2]}[
            spec.name.removeprefix("global_").removeprefix("adaptive_")[:3]]
        places = list(itertools.product(*map(range, shape)))
        expected = {k: tuple(c for c in own if x[c[0]] == value([x[d[0]] for d in own]))
                    for k, (own, _) in zip(places, cells, strict=True)}
        if "median" in spec.name and any(len(own) % 2 == 0 for own, _ in cells):
            continue
        assert layer.ties(x=x) == expected


def test_the_vertices_of_a_window_are_the_unit_vectors_of_its_ties() -> None:
    found = numbers("max_pool").subdifferential("x", upstream=[1, 0], x=[2, 2, 1, 2])
    assert sorted(map(tuple, found)) == [(0, 1, 0, 0), (1, 0, 0, 0)]
    joint = numbers("max_pool").subdifferential("x", upstream=[1, -1], x=[0, 0, 0, 0])
    assert sorted(map(tuple, joint)) == [(-1, 0, 0, 0)] or (0, 1, -1, 0) not in set(map(tuple, joint))


@pytest.mark.parametrize(("formula", "x", "vertices"), [
    (r"y_k = \max(0, x_k)", [0, 1, -1], [(0, 1, 0), (1, 1, 0)]),
    (r"y_k = |x_k|", [0, 0], [(-1, -1), (-1, 1), (1, -1), (1, 1)]),
    (r"y_k = \max(0, x_k) - \max(0, -x_k)", [0], [(1,)]),
    (r"\ell = \sum_k |x_k|", [0, 2], [(-1, 1), (1, 1)]),
])
def test_the_vertices_of_single_entries_are_the_ends_of_their_slopes(formula: str, x: list[int],
                                                                     vertices: list[tuple[int, ...]]) -> None:
    layer = derive.solve(formula=formula)
    upstream = None if formula.startswith(r"\ell") else np.ones(len(x), int)
    found = layer.subdifferential("x", upstream=upstream, x=x)
    assert sorted(map(tuple, found)) == vertices
    assert layer.is_subgradient(found.mean(axis=0), upstream=upstream, x=x)
    assert not layer.is_subgradient(found.mean(axis=0) + 3, upstream=upstream, x=x)


def test_batch_axes_come_first() -> None:
    layer, x = numbers("max_pool"), np.array([[0, 0, 0, 0], [1, 2, 3, 4]])
    ties = layer.ties(x=x)
    assert ties[0, 0] == ((0, 0), (0, 1), (0, 2)) and ties[1, 1] == ((1, 3),)
    good = np.array([[1, 0, 0, -1], [0, 0, 1, -1]])
    assert layer.is_subgradient(good, upstream=np.array([1, -1]), x=x)
    assert not layer.is_subgradient(good[::-1], upstream=np.array([1, -1]), x=x)


def test_the_vertices_of_a_batch_are_those_of_its_samples_in_all_combinations() -> None:
    """Ties of 0 and 2 in the first sample, none in the second, of 1 and 2 in the third, whose weights are 1, 5, −2."""
    layer = Numbers(derive.layer("global_max_pool", dims=1))
    x, upstream = np.array([[3, 1, 3], [0, 1, 2], [0, 4, 4]]), np.array([1, 5, -2])
    found = layer.subdifferential("x", upstream=upstream, x=x)
    assert found.shape == (4, 3, 3)
    assert {tuple(map(tuple, row.astype(int).tolist())) for row in found} == {
        (one, (0, 0, 5), other) for one in ((1, 0, 0), (0, 0, 1)) for other in ((0, -2, 0), (0, 0, -2))}
    assert all(layer.is_subgradient(row, upstream=upstream, x=x) for row in (*found, found.mean(axis=0)))
    third = [[Fraction(1, 3), 0, Fraction(2, 3)], [0, 0, 5], [0, -1, -1]]
    assert layer.is_subgradient(third, upstream=upstream, x=x)
    assert not layer.is_subgradient([third[0], [0, 5, 0], third[2]], upstream=upstream, x=x)


def test_a_slope_that_a_batch_shares_has_a_vertex_of_each_sample() -> None:
    """max(x, a x) at a = 1: beside x = 3 it goes from 0 to 3, beside −2 from −2 to 0; as `backward` has it, by sample."""
    layer = derive.solve(formula=r"y_k = \max(x_k, a x_k)")
    given: dict[str, Any] = {"x": np.array([[3], [-2]]), "a": 1, "upstream": np.ones((2, 1), int)}
    assert sorted(map(tuple, layer.subdifferential("a", **given))) == [(0, -2), (0, 0), (3, -2), (3, 0)]
    assert layer.backward("a", **given).shape == (2,)
    exact = layer.subdifferential("a", upstream=[Fraction(1, 2)], x=[Fraction(1, 3)], a=1)
    assert sorted(exact.tolist()) == [0, Fraction(1, 6)]


def test_layers_that_mix_entries_have_no_list_of_vertices() -> None:
    with pytest.raises(UnsupportedError):
        derive.solve(formula=r"y_k = \max(0, \sum_j W_{kj} x_j)").subdifferential(
            "x", upstream=[1.0], x=[0.0, 0.0], W=[[1.0, 1.0]])


def test_a_maximum_of_entries_that_count_from_1_has_its_tied_example() -> None:
    solution = derive.solve(formula=r"y = \max(x_1, x_2, \dots, x_4)")
    assert solution.report.ok
    assert Numbers(solution.module).ties(x=[3, 1, 3, 0]) == {(): ((1,), (3,))}
