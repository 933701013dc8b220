"""Subexpressions with a letter of their own: where a derivative repeats them, and nowhere else."""

from __future__ import annotations

import pytest

import derive
from derive.notation import write
from derive.sheet import Math
from derive.verify.report import Verdict

GATE = [r"h_k = z_k \tanh(\sum_j W_{kj} x_j)", r"y_k = x_k + z_k \tanh(\sum_j W_{kj} x_j) + 1"]
NONE = [r"y_k = \tanh(\sum_j W_{kj} x_j)", r"y_k = 2 \tanh(\sum_j W_{kj} x_j)", r"y_k = z_k \tanh(x_k)",
        r"y_k = z_k e^{\sum_j W_{kj} x_j}", r"y = \sum_k z_k \tanh(\sum_j W_{kj} x_j)"]


@pytest.mark.parametrize("formula", GATE)
def test_a_candidate_has_a_name_and_derivatives_are_told_by_it(formula: str) -> None:
    solution = derive.solve(formula=formula)
    first = solution.messages.module.equations[0]
    assert write(first, solution.messages.module.table).split(" = ")[0] == rf"\tilde{{{formula[0]}}}_{{k}}"
    told = [b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.name.startswith("jacobian")]
    assert told and not any(r"\tanh" in latex for latex in told)
    assert {c.verdict for c in solution.report.checks} <= {Verdict.PROVED, Verdict.TESTED}


@pytest.mark.parametrize("formula", NONE)
def test_what_no_derivative_repeats_has_none(formula: str) -> None:
    assert len(derive.solve(formula=formula).messages.module.equations) == 1
