"""Every window comes out of the same code: sheets of many geometries, all of them verified."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import derive

GEOMETRIES = {
    "one entry": {"kernel_size": 1},
    "one entry, gaps": {"kernel_size": 1, "stride": 2},
    "a row": {"kernel_size": (1, 2), "stride": 1},
    "uneven": {"kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0)},
    "gaps": {"kernel_size": 2, "stride": 3},
    "overlap": {"kernel_size": 3, "stride": 1},
    "shifted tiles": {"kernel_size": 2, "stride": 2, "padding": 1},
    "many entries": {"kernel_size": 5, "stride": 1},
    "one axis": {"kernel_size": (3,)},
    "one axis, padded": {"kernel_size": (2,), "stride": 1, "padding": 1},
    "three axes": {"kernel_size": (2, 2, 2)},
}


def assert_solved(solution: derive.Solution) -> None:
    assert [f"{c.name}: {c.counterexample or c.evidence}" for c in solution.report.failures] == []
    names = [c.name for c in solution.report.checks]
    assert {"routes", "adjointness", "derivation", "jacobian", "message", "message_here"} <= set(names)
    for form in ("md", "tex"):
        assert derive.render(solution, form)


@pytest.mark.parametrize("name", ["max_pool", "min_pool"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_sheet_of_each_geometry(geometry: str, name: str) -> None:
    assert_solved(derive.solve(derive.layer(name, **GEOMETRIES[geometry])))


sizes = st.tuples(st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(sizes, sizes, sizes, st.sampled_from(["first", "last", "split"]))
def test_a_sheet_of_any_small_geometry(
    kernel_size: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int], rule: str
) -> None:
    inside = tuple(min(p - 1, k - 1) for p, k in zip(padding, kernel_size, strict=True))
    layer = derive.layer("max_pool", kernel_size=kernel_size, stride=stride, padding=inside, tie_rule=rule)
    assert_solved(derive.solve(layer))


def test_a_window_wholly_in_padding_is_declined() -> None:
    with pytest.raises(derive.UnsupportedError, match="wholly in padding"):
        derive.solve(derive.layer("max_pool", kernel_size=2, stride=2, padding=2))
