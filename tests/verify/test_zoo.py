"""Every layer's derived messages stand on a sheet and pass; nothing is refused."""

import pytest

from derive.verify.report import ENOUGH, Verdict
from derive.verify.sheet import verify
from tests.calculus.zoo import LAYERS, messages_of
from tests.verify.sheets import sheet_of


@pytest.mark.some(2)
@pytest.mark.parametrize("name", [layer.name for layer in LAYERS])
def test_every_equation_passes(name: str) -> None:
    messages = messages_of(name)
    report = verify(sheet_of(name), messages)
    assert [(c.verdict, c.latex, c.evidence, c.counterexample) for c in report.failures] == []
    assert len(report.checks) > len(messages.letters)
    assert all(c.points >= ENOUGH for c in report.checks
               if c.verdict is Verdict.TESTED and c.name != "geometry")
    assert any(c.latex and c.verdict is Verdict.PROVED for c in report.checks)
