"""Single-token changes of a layer's equations are refuted, unreadable, or proved to hold all the same."""

import pytest

from derive.errors import DeriveError
from derive.notation import read
from derive.numeric.arithmetic import precision
from derive.sheet import Math
from derive.verify.provers.cases import proofs
from derive.verify.report import Verdict
from tests.calculus.zoo import messages_of
from tests.verify.mutations import mutants
from tests.verify.sheets import sheet_of, subject, table_of, verdict

LAYERS = ["relu", "prelu", "sigmoid", "softmax", "softmax_cross_entropy", "linear", "conv1d_stride", "batch_norm",
          "attention", "log_sum_exp", "linear_prelu_squared", "window_mean_1d", "maxout_stages", "two_norm"]


def statements(name: str) -> list[Math]:
    return list({m.latex: m for m in sheet_of(name).formulas() if not m.definition}.values())


@pytest.mark.parametrize("name", LAYERS)
def test_every_change_is_found(name: str) -> None:
    table = table_of(messages_of(name))
    letters = tuple(dict.fromkeys(a for s in table.symbols for a in s.axes))[:4]
    survivors = []
    refuted = 0
    with precision():
        able = proofs(subject(name))
        assert able
        for math in statements(name):
            original = read(math.latex, table)
            for n, (change, latex) in enumerate(mutants(math.latex, letters)):
                if change[0].isalnum() and n % 2:  # of letters and digits every other one
                    continue
                try:
                    if read(latex, table) is original:
                        continue
                except DeriveError:
                    continue
                found = verdict(name, latex, able)
                refuted += found.verdict is Verdict.REFUTED
                if found.verdict is Verdict.TESTED:
                    survivors.append((change, latex))
    assert survivors == []
    assert refuted >= 5


@pytest.mark.parametrize("name", ["sigmoid", "softmax_cross_entropy", "batch_norm", "conv1d_stride", "hinge", "maxout",
                                  "maxima_of_one_input"])
def test_no_proof_of_what_a_point_refutes(name: str) -> None:
    """The prover by itself, without the points that come before it."""
    table = table_of(messages_of(name))
    letters = tuple(dict.fromkeys(a for s in table.symbols for a in s.axes))[:4]
    with precision():
        able = proofs(subject(name))
        for math in statements(name)[:5]:
            for change, latex in mutants(math.latex, letters):
                try:
                    node = read(latex, table)
                except DeriveError:
                    continue
                if verdict(name, latex).verdict is Verdict.REFUTED:
                    assert not any(p.of(node) for p in able), (change, latex)
