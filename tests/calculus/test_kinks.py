"""Kinks: where they are, which slopes meet, and what is smooth after all."""

import pytest

from derive.calculus.brackets import bracket
from derive.calculus.kinks import kinks
from derive.calculus.messages import Messages
from derive.calculus.points import vanishes
from derive.expr import ZERO, Bracket, Num, Rel
from derive.notation import read, write
from tests.calculus.zoo import ZOO, Layer, module_from

JUMPS = [
    ("relu", "y", ["s_k = 0: s_k 0, 1 -> 0"]),
    ("leaky_relu", "y", [r"s_k = 0: s_k \frac{1}{10}, 1 -> \frac{1}{10}"]),
    ("elu", "y", [r"s_k = 0: s_k \alpha, 1 -> \alpha"]),
    ("prelu", "y", ["s_k = 0: s_k a, 1 -> a", "a = 1: a s_k, 0 -> 0"]),
    ("hinge", "ell", ["1 - t s = 0: t -s, 0 -> 0", "1 - t s = 0: s -t, 0 -> 0"]),
    ("absolute", "ell", ["y_k = t_k: y_k -1, 1 -> 0", "y_k = t_k: t_k 1, -1 -> 0"]),
    ("guarded_logarithm", "y", ["x_k = 1: x_k 2 a, a -> 2 a"]),
    ("huber", "ell", []),
    ("sigmoid", "y", []),
]


@pytest.mark.parametrize(("name", "tensor", "expected"), JUMPS)
def test_the_slopes_that_meet(name: str, tensor: str, expected: list[str]) -> None:
    module = Messages(ZOO[name].module()).module

    def tex(node: object) -> str:
        return write(node, module.table)  # type: ignore[arg-type]

    found = [f"{tex(j.boundary)}: {tex(j.wrt)} {tex(j.slopes[0])}, {tex(j.slopes[1])} -> {tex(j.chosen)}"
             for k in kinks(tensor, module) for j in k.jumps]
    assert [f.replace("{k}", "k") for f in found] == expected


@pytest.mark.parametrize("cases", [
    r"-1 & \text{if } x_k < -1 \\ x_k & \text{if } -1 \le x_k \le 1 \\ 1 & \text{otherwise}",
    r"x_k & \text{if } -1 \le x_k \le 1 \\ 1 & \text{if } x_k > 1 \\ -1 & \text{otherwise}",
    r"-1 & \text{if } x_k < -1 \\ 1 & \text{if } x_k > 1 \\ x_k & \text{otherwise}",
])
def test_each_end_of_an_interval_is_met_from_its_own_neighbour(cases: str) -> None:
    layer = Layer("clipped", (rf"y_k = \begin{{cases}} {cases} \end{{cases}}",), {"x": (4,)})
    module = Messages(module_from(layer)).module
    (kink,) = kinks("y", module)
    assert not kink.broken
    assert {write(j.boundary, module.table): {write(s, module.table) for s in j.slopes} for j in kink.jumps} == {
        "x_{k} = -1": {"0", "1"}, "x_{k} = 1": {"0", "1"}}


@pytest.mark.parametrize(("formula", "places"), [
    (r"y_k = \max(0, \min(1, \frac{1}{5} x_k + \frac{1}{2}))", [r"x_{k} = -\frac{5}{2}", r"x_{k} = \frac{5}{2}"]),
    (r"y_k = \min(\max(0, x_k), 6)", ["x_{k} = 6", "x_{k} = 0"]),
    (r"y_k = \max(-1, \min(1, x_k))", ["x_{k} = -1", "x_{k} = 1"]),
    (r"y_k = \max(2, \min(1, x_k))", []),  # 1 is never reached
])
def test_a_clipped_value_turns_where_it_is_clipped(formula: str, places: list[str]) -> None:
    module = Messages(module_from(Layer("clipped", (formula,), {"x": (4,)}))).module
    assert [write(j.boundary, module.table) for k in kinks("y", module) for j in k.jumps] == places


@pytest.mark.parametrize(("cond", "expected"), [
    (r"\min(1, x_1) > 0", "x_1 > 0"), (r"\max(0, x_1) < 6", "x_1 < 6"), (r"0 < \min(1, \max(-1, x_1))", "x_1 > 0"),
    (r"\min(1, x_1) > 2", None), (r"\max(x_1, x_2) > 0", r"\max(x_1, x_2) > 0"), (r"\min(1, x_1) \ge 1", r"x_1 \ge 1"),
])
def test_a_comparison_with_a_clipped_value(cond: str, expected: str | None) -> None:
    table = module_from(Layer("any", (r"y_k = x_k",), {"x": (4,)})).table
    found = bracket(read(cond, table), {})  # type: ignore[arg-type]
    assert found is (ZERO if expected is None else Bracket(read(expected, table)))  # type: ignore[arg-type]


def test_huber_is_smooth_where_its_cases_meet() -> None:
    module = Messages(ZOO["huber"].module()).module
    (kink,) = kinks("ell", module)
    assert kink.smooth == (read(r"|y - t| = d", module.table),) and not kink.broken


def test_a_value_that_jumps_has_no_slopes() -> None:
    module = Messages(ZOO["guarded_logarithm"].module()).module
    (kink,) = kinks("y", module)
    assert kink.broken == (read(r"x_k = \frac{1}{2}", module.table),)


def test_what_a_comparison_comes_to_by_the_sign_of_a_parameter() -> None:
    module = Messages(ZOO["prelu"].module()).module
    (kink,) = kinks("y", module)
    assert [write(m, module.table) for m in kink.meaning] == [
        r"s_{k} > a s_{k} \iff s_{k} > 0 \quad \text{if } a < 1", r"s_{k} > a s_{k} \iff s_{k} < 0 \quad \text{if } a > 1"]


def test_a_minimum_turns_the_comparison() -> None:
    module = Messages(module_from(Layer("lower", (r"y_k = \min(s_k, a s_k)",), {"s": (3,), "a": ()}))).module
    (kink,) = kinks("y", module)
    assert [write(m, module.table) for m in kink.meaning] == [
        r"s_{k} < a s_{k} \iff s_{k} < 0 \quad \text{if } a < 1", r"s_{k} < a s_{k} \iff s_{k} > 0 \quad \text{if } a > 1"]


@pytest.mark.parametrize(("formula", "expected"), [
    ("(x + y)^2 - x^2 - 2 x y - y^2", True), ("x - y", False), (r"|x| - \sqrt{x^2}", True), (r"\log(x) - \log(x)", True),
    ("[x > y]", False), (r"\sum_i v_i - x", False),
])
def test_whether_an_expression_vanishes(formula: str, expected: bool | None) -> None:
    table = Messages(module_from(Layer("two", (r"z = x y + \sum_i v_i",), {"x": (), "y": (), "v": (3,)}))).module.table
    assert vanishes(read(formula, table)) is expected  # type: ignore[arg-type]


def test_a_boundary_is_one_equation() -> None:
    module = Messages(ZOO["smallest_of_three"].module()).module
    (kink,) = kinks("y", module)
    assert len(kink.boundaries) == 3 and all(isinstance(b, Rel) and b.ops == ("=",) for b in kink.boundaries)


FACTS = [
    ("0 < a < 1", ["a < 1"], ["s_k = 0"]),
    ("a > 1", ["a > 1"], ["s_k = 0"]),
    (r"a \ne 1", ["a < 1", "a > 1"], ["s_k = 0"]),
    ("a > 0", ["a < 1", "a > 1"], ["s_k = 0", "a = 1"]),
    (r"a \le 1", ["a < 1"], ["s_k = 0", "a = 1"]),
]


@pytest.mark.parametrize(("fact", "meanings", "boundaries"), FACTS)
def test_what_the_facts_rule_out_is_not_said(fact: str, meanings: list[str], boundaries: list[str]) -> None:
    layer = Layer("prelu_with_fact", (r"y_k = \max(s_k, a s_k)",), {"s": (5,), "a": ()}, facts=(fact,))
    module = Messages(module_from(layer)).module
    (kink,) = kinks("y", module)
    assert [write(m.cond, module.table) for m in kink.meaning] == meanings
    assert [write(b, module.table).replace("{k}", "k") for b in kink.boundaries] == boundaries


ENDS = [  # the cases, where two of them meet, and the slopes there
    (r"-1 & \text{if } x_k < -1 \\ 1 & \text{if } x_k > 1 \\ x_k & \text{otherwise}", ("-1", "1"), (("0", "1"), ("1", "0"))),
    (r"-1 & \text{if } x_k < -1 \\ x_k & \text{if } -1 \le x_k \le 1 \\ 1 & \text{if } x_k > 1", ("-1", "1"), (("0", "1"), ("1", "0"))),
    (r"2 x_k & \text{if } 0 \le x_k < 1 \\ x_k + 1 & \text{if } x_k \ge 1 \\ 0 & \text{otherwise}", ("0", "1"), (("0", "2"), ("2", "1"))),
    (r"x_k & \text{if } x_k > 0 \\ 0 & \text{otherwise}", ("0",), (("0", "1"),)),
]


@pytest.mark.parametrize(("branches", "places", "slopes"), ENDS)
def test_cases_meet_where_one_takes_over_from_another(
    branches: str, places: tuple[str, ...], slopes: tuple[tuple[str, str], ...],
) -> None:
    layer = Layer("cases", (rf"y_k = \begin{{cases}} {branches} \end{{cases}}",), {"x": (4,)})
    module = Messages(module_from(layer)).module
    (kink,) = kinks("y", module)
    assert not kink.broken
    assert kink.boundaries == tuple(read(f"x_k = {place}", module.table) for place in places)
    assert [j.slopes for j in kink.jumps] == [tuple(Num(int(s)) for s in pair) for pair in slopes]


@pytest.mark.parametrize(("formula", "shapes", "expected"), [
    (r"y = \max(0, \sum_j w_j x_j)", {"w": (3,), "x": (3,)}, {"w_{j}": ["0", "x_{j}"], "x_{j}": ["0", "w_{j}"]}),
    (r"y = \max(0, 1 - t (\sum_j w_j x_j + b))", {"w": (3,), "x": (3,), "b": (), "t": ()},
     {"b": ["0", "-t"], "t": ["0", r"-\left(\sum_{j} w_{j} x_{j} + b\right)"]}),
])
def test_what_is_summed_over_crosses_a_boundary_too(formula: str, shapes: dict[str, tuple[int, ...]],
                                                    expected: dict[str, list[str]]) -> None:
    module = Messages(module_from(Layer("unit", (formula,), shapes))).module
    (kink,) = kinks("y", module)
    assert {write(j.wrt, module.table): [write(s, module.table) for s in j.slopes] for j in kink.jumps} == expected
