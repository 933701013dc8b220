"""Every window comes out of the same code: sheets of many geometries, all of them verified."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import derive
from derive.layers import POOLINGS
from derive.layers.catalogue import Pooling
from tests.bank import unchecked

GEOMETRIES = {
    "one entry": {"kernel_size": (1,)},
    "one entry, gaps": {"kernel_size": (1,), "stride": 2},
    "one entry, padded": {"kernel_size": 1, "stride": 1, "padding": (0, 1)},
    "a row": {"kernel_size": (1, 2), "stride": 1},
    "uneven": {"kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0)},
    "gaps": {"kernel_size": (2,), "stride": 3},
    "overlap": {"kernel_size": 3, "stride": 1},
    "shifted tiles": {"kernel_size": (2,), "stride": 2, "padding": 1},
    "many entries": {"kernel_size": (5,), "stride": 1},
    "one axis": {"kernel_size": (3,)},
    "one axis, padded": {"kernel_size": (2,), "stride": 1, "padding": 1},
    "three axes": {"kernel_size": (2, 2, 2)},
    "more outputs than inputs": {"kernel_size": (3, 1), "stride": 1, "padding": (2, 0)},
    "dilated": {"kernel_size": (2,), "dilation": 2},
    "dilated, overlap": {"kernel_size": (3, 2), "stride": (1, 2), "dilation": (2, 3)},
    "padding at one end": {"kernel_size": 2, "padding": ((0, 1), (1, 0))},
    "some windows wholly in padding": {"kernel_size": 2, "padding": 2},
    "one axis, windows wholly in padding": {"kernel_size": (2,), "stride": 3, "padding": 4},
    "clipped at the end": {"kernel_size": (3,), "stride": 2, "ceil_mode": True},
}


def assert_solved(solution: derive.Solution) -> None:
    assert [f"{c.name}: {c.counterexample or c.evidence}" for c in solution.report.failures] == []
    names = [c.name for c in solution.report.checks]
    assert {"routes", "adjointness", "derivation", "jacobian_x", "message_x", "message_here_x"} <= set(names)
    for form in ("md", "tex"):
        assert derive.render(solution, form)


@pytest.mark.parametrize(("geometry", "name"), [  # a minimum is a maximum of −x: its words are seen where all of them are
    *((geometry, "max_pool") for geometry in GEOMETRIES),
    *((geometry, "min_pool") for geometry in ("a row", "gaps", "dilated", "clipped at the end"))])
def test_a_sheet_of_each_geometry(geometry: str, name: str) -> None:
    assert_solved(derive.solve(derive.layer(name, **GEOMETRIES[geometry])))


sizes = st.tuples(st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(sizes, sizes, sizes, st.sampled_from(["first", "last", "split"]))
def test_a_sheet_of_any_small_geometry(
    kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int], rule: str
) -> None:
    inside = tuple(p - 1 for p in padding)
    layer = derive.layer("max_pool", kernel_size=kernel_size, stride=stride, padding=inside, tie_rule=rule)
    assert_solved(derive.solve(layer))


ALONG: dict[str, dict[str, Any]] = {"window": {"kernel_size": (3,), "stride": 2, "padding": 1}, "global": {"dims": 1},
                                    "adaptive": {"output_size": (2,)}}
ODD: dict[str, dict[str, Any]] = {"window": {"kernel_size": (3,), "stride": 1, "dilation": 2}, "global": {"dims": 1},
                                  "adaptive": {"output_size": (2,), "input_size": (5,)}}


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_a_sheet_of_every_layer(spec: Pooling) -> None:
    solution = derive.solve(derive.layer(spec.name, **(ODD if "median" in spec.name else ALONG)[spec.form]))
    assert [f"{c.name}: {c.counterexample or c.evidence}" for c in solution.report.failures] == []
    assert derive.render(solution, "md")


@pytest.mark.parametrize(("name", "options", "said"), [
    ("avg_pool", {}, "their value is $0$"), ("avg_pool", {"count_include_pad": False}, "the formula has no value for them"),
    ("sum_pool", {}, "their value is $0$"), ("lp_pool", {}, "their value is $0$"),
    ("lse_pool", {}, r"their value is $-\infty$"), ("lse_pool", {"sharpness": -2}, r"their value is $\infty$"),
    ("max_abs_pool", {}, r"their value is $-\infty$"), ("lme_pool", {}, "the formula has no value for them"),
    ("softmax_pool", {}, "the formula has no value for them"), ("max_pool", {}, r"their value is $-\infty$"),
])
def test_windows_wholly_in_padding(name: str, options: dict[str, Any], said: str) -> None:
    solution = derive.solve(derive.layer(name, kernel_size=(2,), padding=2, **options))
    assert solution.report.failures == ()
    text = derive.render(solution, "md")
    assert "lie wholly in padding" in text and said in text


REACHED: list[tuple[str, dict[str, Any]]] = [  # every case of the closed form is seen, at the stated size too
    ("avg_pool", {"kernel_size": 3, "input_size": (3, 3)}), ("sum_pool", {"kernel_size": (4,), "padding": 2}),
    ("max_abs_pool", {"kernel_size": (3, 1, 1), "stride": (3, 4, 1), "padding": 1}), ("lp_pool", {"kernel_size": (7,), "stride": 9, "padding": 3}),
    ("avg_pool", {"kernel_size": (4, 3), "stride": 3, "dilation": 2}), ("adaptive_avg_pool", {"output_size": (1, 1)}),
    ("adaptive_max_pool", {"output_size": (1, 3), "input_size": (1, 5)}), ("adaptive_max_abs_pool", {"output_size": (1,)}),
]


@pytest.mark.parametrize(("name", "arguments"), REACHED, ids=lambda part: str(part))
def test_sizes_that_show_every_case(name: str, arguments: dict[str, Any]) -> None:
    assert derive.solve(derive.layer(name, **arguments)).report.failures == ()


SELECTING: list[tuple[str, dict[str, Any]]] = [
    ("max_abs_pool", {"kernel_size": 2}), ("median_pool", {"kernel_size": 3}), ("adaptive_min_pool", {"output_size": (3,)}),
    ("global_max_pool", {"tie_rule": "split"}), ("adaptive_max_pool", {"output_size": 2, "tie_rule": "last"}),
]


@pytest.mark.parametrize(("name", "arguments"), SELECTING, ids=lambda part: str(part))
def test_every_layer_that_selects_has_a_tied_example(name: str, arguments: dict[str, Any]) -> None:
    solution = derive.solve(derive.layer(name, **arguments))
    tied = {m.name for m in solution.sheet.formulas() if m.scope == "tied"}
    assert tied == {"tied_input", "tied_output", "tied_gradient"}
    assert [c.verdict for c in solution.report.checks if c.name == "tied_gradient"] == ["proved"]


@pytest.mark.parametrize("name", ["max_pool", "global_median_pool"])
def test_three_axes_have_an_example(name: str) -> None:
    arguments: dict[str, Any] = {"dims": 3, "input_size": (3, 3, 3)} if name.startswith("global") else {"kernel_size": (2, 2, 2)}
    assert "for each value of the first index" in str(derive.render(unchecked(derive.layer(name, **arguments)), "md"))


def test_a_median_of_an_even_number() -> None:
    with pytest.raises(derive.CardError, match="even number of entries"):
        derive.solve(derive.layer("median_pool", kernel_size=2))
