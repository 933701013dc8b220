"""Of indices that nothing tells apart one choice stands for all; what counts, compares or shifts them is looked at whole."""

from __future__ import annotations

import pytest

from derive.expr import Idx
from derive.notation import read
from derive.verify.provers.symmetry import axes_of, representatives
from tests.verify.sheets import messages_of, subject, table_of


def chosen(name: str, latex: str) -> tuple[int, int]:
    """How many assignments of a statement are looked at, of how many."""
    scope, node = subject(name), read(latex, table_of(messages_of(name)))
    (claim,), point = scope.compiler.claims(node), scope.draws.point(0)
    runs: dict[Idx, range] = dict(zip(claim.variables, claim.runs(point), strict=True))
    axes = axes_of(scope.module, scope.definitions, point.sizes)
    every = 1
    for run in runs.values():
        every *= len(run)
    return len(list(representatives(runs, node, axes, point))), every


@pytest.mark.parametrize("latex, count", [
    (r"\frac{\partial p_{k}}{\partial z_{j}} = p_{k} (\mathbb{I}[j = k] - p_{j})", 2),
    (r"\frac{\partial p_{k}}{\partial z_{j}} = p_{k} \, \mathbb{I}[j \le k]", None),
    (r"\frac{\partial p_{k}}{\partial z_{j}} = k p_{k}", None),
    (r"p_{k} = p_{1}", None),
])
def test_softmax(latex: str, count: int | None) -> None:
    found, every = chosen("softmax_cross_entropy", latex)
    assert found == (every if count is None else count) and every > 1
