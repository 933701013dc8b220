"""Listings in code: executed against the derivation, for every layer and every geometry."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import derive
from derive.calculus.messages import Messages
from derive.errors import CardError, VerificationError
from derive.listing import broken, listings
from derive.listing.run import executed
from derive.question import module_of
from derive.receptive_field import ReceptiveField, receptive_field
from derive.testing import assert_backward
from tests.bank import named
from tests.calculus.zoo import ZOO, Layer, messages_of, module_from

GEOMETRIES: list[dict[str, Any]] = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": ((0, 1), (2, 0)), "dilation": (2, 1)},
    {"kernel_size": 3, "stride": 2, "dims": 1, "ceil_mode": True},
    {"kernel_size": 3, "stride": 3, "padding": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 1, "dims": 3},
    {"kernel_size": 3, "stride": 2, "padding": 2, "dilation": 2, "ceil_mode": True, "dims": 1},
]
ODD: list[dict[str, Any]] = [  # windows that a median accepts
    {"kernel_size": 3}, {"kernel_size": (3, 1), "stride": 1, "dilation": (2, 1)}, {"kernel_size": 5, "stride": 2, "dims": 1},
]  # fmt: skip
POOLS = ("max", "min", "avg", "sum", "lp", "lse", "lme", "softmax", "max_abs", "median")
RULES = {"max": ("first", "last", "split"), "min": ("last",), "max_abs": ("first", "split")}


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ZOO)
def test_every_layer_has_listings_that_agree_with_its_derivation(name: str) -> None:
    found, reason = listings(messages_of(name))
    assert found[0].style == "loops" and found[0].trial.points >= 20
    assert (reason == "") == (not name.startswith(("differences", "mean")))
    for listed in found:
        assert max(map(len, listed.source.split("\n"))) <= 88


@pytest.mark.parametrize("pool", POOLS)
def test_every_reduction_over_geometries_and_every_geometry(pool: str) -> None:
    geometries = ODD if pool == "median" else GEOMETRIES if pool == "max" else GEOMETRIES[POOLS.index(pool) % 3 :: 3]
    for geometry, rule in zip(geometries, cycle(RULES.get(pool, (None,))), strict=False):
        found, reason = listings(Messages(derive.layer(f"{pool}_pool", tie_rule=rule, **geometry)))
        assert [f.style for f in found] == ["loops", "arrays"], (geometry, reason)
        assert all(f.trial.points >= 20 and f.trial.tied and len(f.trial.shapes) >= 2 for f in found), geometry


@pytest.mark.parametrize("pool", POOLS)
def test_global_and_adaptive_pooling(pool: str) -> None:
    for name, options in ((f"global_{pool}_pool", {}), (f"adaptive_{pool}_pool", {"output_size": (3, 2)})):
        if name == "adaptive_median_pool":
            continue
        for rule in RULES.get(pool, (None,)):
            found, reason = listings(Messages(derive.layer(name, tie_rule=rule, **options)))
            styles = ["loops", "arrays"] if "global" in name else ["loops"]
            assert [f.style for f in found] == styles, (name, reason)
            assert ("windows of different sizes" in reason) == ("adaptive" in name)


def functions(name: str, style: str, **options: Any) -> dict[str, Any]:
    found, _ = listings(Messages(derive.layer(name, **options)))
    space: dict[str, Any] = {}
    exec(next(f.source for f in found if f.style == style), space)
    return space


@pytest.mark.parametrize("style", ["loops", "arrays"])
@pytest.mark.parametrize("options", [GEOMETRIES[1], GEOMETRIES[3]])
def test_a_listing_passes_as_anybody_s_function_would(style: str, options: dict[str, Any]) -> None:
    assert_backward(functions("max_pool", style, **options)["max_pool_backward"], "max_pool", **options)


def test_a_listing_is_what_one_would_write() -> None:
    loops, arrays = listings(Messages(derive.layer("max_pool", kernel_size=2)))[0]
    assert loops.source.endswith("""
    for k in range(M):
        for l in range(N):
            i_star[k, l], j_star[k, l] = max(
                (
                    (i, j) for i in range(2 * k, 2 * k + 2)
                    for j in range(2 * l, 2 * l + 2)
                ),
                key=lambda at: x[at]
            )
    dx = np.zeros((H, W))
    for k in range(M):
        for l in range(N):
            dx[i_star[k, l], j_star[k, l]] += upstream[k, l]
    return dx
""")
    assert "sliding_window_view(x, (2, 2))[::2, ::2]" in arrays.source
    assert "np.add.at(dx, (i_star, j_star), upstream)" in arrays.source
    attention = listings(Messages(ZOO["attention"].module()))[0][1].source
    assert "s = K @ q / np.sqrt(d)" in attention and "dV = np.outer(a, upstream)" in attention
    convolution = listings(Messages(ZOO["conv2d"].module()))[0][1].source
    assert "dx[p:p + 2 * n:2, q:q + 2 * m:2] += upstream * w[p, q]" in convolution


def test_lines_break_where_a_bracket_allows_it() -> None:
    line = "    y = " + " + ".join(f"f(alpha_{n}, beta_{n})" for n in range(8))
    assert max(map(len, broken(line))) <= 88
    assert "".join(p.strip() + " " for p in broken(line)).replace("( ", "(").replace(" )", ")").strip() == (
        line.strip().replace("y = ", "y = (") + ")")


@pytest.mark.parametrize(("right", "wrong"), [
    ("+= upstream[k, l]", "= upstream[k, l]"), ("key=lambda at: x", "key=lambda at: -x"),
    ("2 * k + 3", "2 * k + 2"), ("f[k, l] = max(", "f[k, l] = min("), ("return dx", "return -dx"),
    ("+= upstream", "+= no_such_name"),
])  # fmt: skip
def test_a_wrong_listing_is_never_printed(right: str, wrong: str) -> None:
    messages = Messages(derive.layer("max_pool", kernel_size=3, stride=2))
    source = listings(messages)[0][0].source
    assert right in source
    with pytest.raises(VerificationError, match="the listing in code"):
        executed(source.replace(right, wrong), messages)


@pytest.mark.parametrize(("name", "styles"), [
    ("conv1d_half_range", ["loops", "arrays"]),  # i = 0, …, (N - K)/2
    ("shorter_range", ["loops", "arrays"]),  # n = 0, …, N - M - 1, one fewer than the input has windows
    ("response_normalisation", ["loops"]),  # a sum whose limits depend on the output's index
    ("max_over_relu", ["loops"]),  # an index that leaves its array where a condition does not hold
    ("pooled_twice", ["loops", "arrays"]), ("conv_relu_pool_ce", ["loops", "arrays"]),
])  # fmt: skip
def test_what_a_card_asks_has_listings(name: str, styles: list[str]) -> None:
    found, _ = listings(Messages(module_of(derive.Card.read(named(name)))))
    assert [f.style for f in found] == styles


CARD = """---
id: mse
{key}
---

# Question
Derive the backward message of $\\ell = \\frac{{1}}{{2}} \\sum_k (y_k - t_k)^2$ with target $t$.

---
# Solution
"""


def solved(key: str, **options: Any) -> derive.Solution:
    return derive.solve(derive.Card.parse(CARD.format(key=key)), **options)


def test_the_sheet_carries_the_code_where_it_is_asked_for() -> None:
    assert "```python" not in str(derive.render(solved("status: new"), "md"))
    for solution in (solved("code: true"), solved("status: new", code=True)):
        text = str(derive.render(solution, "md"))
        assert "## In code" in text and "def layer_backward(upstream, y, t):" in text
        assert "The listings were executed" in text
        assert "return upstream * (y - t)" in text
        assert r"\begin{listing}" in str(derive.render(solution, "tex"))
        assert "<pre><code>" in str(derive.render(solution, "html"))
    assert "```python" not in str(derive.render(solved("code: true", code=False), "md"))


def test_the_key_is_true_or_false() -> None:
    with pytest.raises(CardError, match="line 3: `code: numpy` is neither `true` nor `false`"):
        solved("code: numpy")


def test_an_integer_input_loses_nothing() -> None:
    backward = functions("avg_pool", "loops", kernel_size=2)["avg_pool_backward"]
    assert np.array_equal(backward(np.array([[1]]), np.array([[1, 2], [3, 4]])), np.full((2, 2), 0.25))


POOL2, POOL3 = receptive_field((2, 2)), receptive_field((3, 3), (2, 2), (1, 1))
LARGER = [  # formulas, shapes, windows
    ((r"h_{ij} = \max(0, x_{ij} + b)", r"f_{kl} = \max_{(i,j)\in\Omega(k,l)} h_{ij}"), {"x": (6, 6), "b": ()}, POOL2),
    ((r"f_{kl} = \max_{(i,j)\in\Omega(k,l)} x_{ij}", r"y_{kl} = c f_{kl}"), {"x": (6, 6), "c": ()}, POOL3),
    ((r"h_{ij} = \sum_{a=0}^{1} \sum_{b=0}^{1} w_{ab} x_{i+a,j+b}", r"f_{kl} = \min_{(i,j)\in\Omega(k,l)} h_{ij}",
      r"y_m = \sum_{k,l} W_{mkl} f_{kl} + c_m"), {"x": (6, 6), "w": (2, 2), "W": (3, 2, 2), "c": (3,)}, POOL2),
    ((r"h_{kl} = \max_{(i,j)\in\Omega(k,l)} x_{ij}", r"f_{mn} = \max_{(k,l)\in\Psi(m,n)} h_{kl}"), {"x": (8, 8)}, POOL2),
    ((r"f_{kl} = \frac{1}{4} \sum_{(i,j)\in\Omega(k,l)} x_{ij}", r"\ell = \sum_{k,l} f_{kl}^2 + \sum_{i,j} x_{ij}^2"),
     {"x": (6, 6)}, POOL2),
    ((r"f_{kl} = \sqrt{\sum_{(i,j)\in\Omega(k,l)} x_{ij}^2}", r"y_{kl} = f_{kl}^2 + c"), {"x": (7, 7), "c": ()}, POOL3),
    ((r"h_k = \max_{0 \le a < 2} x_{2k+a}", r"y_k = \max_{0 \le a < 3} h_{k+2a}"), {"x": (20,)}, POOL2),
    ((r"f_{kl} = c \max_{(i,j)\in\Omega(k,l)} x_{ij}", r"\ell = \sum_{k,l} c f_{kl}^2"), {"x": (6, 6), "c": ()}, POOL2),
]  # fmt: skip


@pytest.mark.parametrize(("formulas", "shapes", "field", "rule"), [
    *((*layer, ("first", "last")[n % 2]) for n, layer in enumerate(LARGER)),
    *((*LARGER[n], "split") for n in (0, 1, 7)),  # shares behind further sums have no values to compare with
])  # fmt: skip
def test_windows_within_a_larger_layer(formulas: tuple[str, ...], shapes: dict[str, Any], field: ReceptiveField,
                                       rule: str) -> None:  # fmt: skip
    module = module_from(Layer("larger", formulas, shapes, fields=(("Omega", field), ("Psi", POOL2))))
    found, reason = listings(Messages(replace(module, tie_rule=rule)))
    assert [f.style for f in found] == ["loops", "arrays"], reason
    assert all(f.trial.points >= 20 for f in found)


@pytest.mark.parametrize("pool", [p for p in POOLS if p != "median"])
def test_windows_wholly_in_padding(pool: str) -> None:
    for geometry in ({"kernel_size": 2, "stride": 1, "padding": 2, "dims": 1},
                     {"kernel_size": 2, "stride": 2, "padding": ((3, 0), (0, 2))}):
        for rule in RULES.get(pool, (None,)):
            found, reason = listings(Messages(derive.layer(f"{pool}_pool", tie_rule=rule, **geometry)))
            selects = rule in ("first", "last")  # nothing is selected there
            assert [f.style for f in found] == ([] if selects else ["loops", "arrays"]), (geometry, reason)
            assert ("wholly in padding" in reason) == selects


def test_a_value_without_end_is_compared_too() -> None:
    messages = Messages(derive.layer("max_pool", kernel_size=2, stride=1, padding=2, dims=1, tie_rule="split"))
    for listed, empty in zip(listings(messages)[0], ("default=-np.inf", "initial=-np.inf"), strict=True):
        assert empty in listed.source
        with pytest.raises(VerificationError, match="the listing in code is wrong"):
            executed(listed.source.replace("-np.inf", "-1e9"), messages)


def test_windows_along_some_axes() -> None:
    formula = r"f_{ckl} = \max_{(i,j)\in\Omega(k,l)} x_{cij}"
    module = module_from(Layer("channels", (formula,), {"x": (2, 6, 6)}, fields=(("Omega", POOL2),)))
    for rule in ("first", "last"):
        found, reason = listings(Messages(replace(module, tie_rule=rule)))
        assert [f.style for f in found] == ["loops", "arrays"], reason
    assert not listings(Messages(replace(module, tie_rule="split")))[0]


@pytest.mark.parametrize("rule", ["first", "split"])
def test_two_selections_in_one_window_have_no_listing(rule: str) -> None:
    formula = r"f_{kl} = \max_{(i,j)\in\Omega(k,l)} x_{ij} - \min_{(i,j)\in\Omega(k,l)} x_{ij}"
    module = module_from(Layer("range", (formula,), {"x": (6, 6)}, fields=(("Omega", POOL2),)))
    found, reason = listings(Messages(replace(module, tie_rule=rule)))
    assert not found and "is not written as code" in reason
