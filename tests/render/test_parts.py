"""Long lists of formulas in lines; what stands in boxes is no place to break."""

import pytest

from derive.render.parts import in_lines, masked

LISTED = ", \\quad ".join(rf"z_{n} = x_{{2k+{n},2l+{n}}}" for n in range(1, 6))
CASES = [
    ("a = 1, \\quad b = 2", 1),
    (LISTED, 2),
    (LISTED.replace("=", "&="), 1),
    (r"f = \begin{cases} a_{bcdefgh}, \quad b_{cdefghi} \\ c_{defghij}, \quad d_{efghijk}, \quad e_{fghijkl} \end{cases}", 1),
    (r"a_{bcdefghi} \le \max(b_{cdefghi}, c_{defghijk}, d_{efghijkl}), \quad e_{fghijklm} \le \left(f, \quad g\right)", 2),
]


@pytest.mark.parametrize(("latex", "lines"), CASES)
def test_lines(latex: str, lines: int) -> None:
    found = in_lines(latex)
    assert (found == latex) == (lines == 1)
    assert lines == 1 or found.count(r" \\ ") == lines - 1
    inner = found.removeprefix(r"\begin{gathered} ").removesuffix(r" \end{gathered}")
    assert lines == 1 or inner.replace(r" \\ ", r" \quad ") == latex


def test_masked_keeps_the_places() -> None:
    assert masked(r"a_{b{c}} + \left(d, \frac{e}{f}\right), g") == "a_" + "x" * 6 + " + " + "x" * 27 + ", g"
