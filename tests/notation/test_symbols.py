"""Names in ASCII and in LaTeX."""

import pytest

from derive.notation.symbols import latex_of, name_of

CASES = [
    ("x", "x"), ("y_hat", r"\hat{y}"), ("alpha", r"\alpha"), ("R_cal", r"\mathcal{R}"), ("delta_f", r"\delta_f"),
    ("x_in", r"x_{\text{in}}"), ("theta_tilde", r"\tilde{\theta}"),
    ("delta_alpha", r"\delta_{\alpha}"),
]


@pytest.mark.parametrize(("name", "latex"), CASES)
def test_both_ways(name, latex):
    assert latex_of(name) == latex and name_of(latex) == name


@pytest.mark.parametrize(("latex", "name"), [
    (r"\boldsymbol{x}", "x"), (r"\mathbf{W}", "W"), (r"\delta_{f}", "delta_f"), ("Ω", "Omega"), (r"\widehat{y}", "y_hat"),
])
def test_other_spellings(latex, name):
    assert name_of(latex) == name
