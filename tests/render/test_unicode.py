"""Formulas as Unicode text: what is shown, and that two formulas never look the same."""

from __future__ import annotations

import pytest

from derive.render.unicode import display, inline
from tests.notation.fixtures import cases, groups
from tests.notation.mutations import mutations

INLINE = [
    (r"\frac{\partial f_{kl}}{\partial x_{ij}}", "∂f_kl/∂x_ij"),
    (r"\frac{\partial L}{\partial y} \frac{\partial y}{\partial s}", "(∂L/∂y) (∂y/∂s)"),
    (r"\frac{x_i - \mu}{\sqrt{v + \epsilon}}", "(x_i − μ)/√(v + ϵ)"),
    (r"\frac12 x", "(1/2) x"),
    (r"-\frac{1}{2}", "−1/2"),
    (r"\log \frac{a}{b}", "log (a/b)"),
    (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
    (r"\frac{a}{b c}", "a/(b c)"),
    (r"\left( \frac{a}{b} \right)^2", "(a/b)²"),
    (r"{\frac{a}{b}}^2", "(a/b)²"),
    (r"x_1^{-1} e^{-s_k} y^{(i)}", "x₁⁻¹ e^{−s_k} y^(i)"),
    (r"x_{2k+1,2l} x_{i^*j^*} \delta_{x,ij} W_{\text{out}}", "x_{2k+1,2l} x_{i*,j*} δ_{x,ij} W_out"),
    (r"x_{i'j'} y_{k'} h'_t W_{\text{out}}'", "x_{i′,j′} y_k′ h′_t W′_out"),
    (r"\hat{x}_i, \bar y, W^\top, f'(s)", "x\u0302_i, \u0233, Wᵀ, f′(s)"),
    (r"\sum_{i=1}^n (a_i)", "∑_{i = 1}^n (a_i)"),
    (r"a - b = -c", "a − b = −c"),
    (r"2 x_i s_k a", "2x_i s_k a"),
    (r"p_i(1-p_i) W_{ki}", "p_i(1 − p_i) W_ki"),
    (r"3.5 x = 0.01.", "3.5x = 0.01."),
    (r"\mathbb{R}^{n \times m}, \mathbb{I}[a > b], \mathcal{L}, \mathbb{1}", "ℝ^{n×m}, 𝕀[a > b], ℒ, 𝟙"),
    (r"\begin{cases} 1 & \text{if } s > 0 \\ 0 & \text{otherwise} \end{cases}", "{1 if s > 0; 0 otherwise}"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "(1, 2; 3, 4)"),
    (r"\operatorname{softmax}(z)_i \mathrm{relu}(s)", "softmax(z)_i relu(s)"),
    (r"2 \mathop{\mathrm{sign}}(r)", "2 sign(r)"),
    (r"\left| \mathcal{A} \right| \ne \lfloor i/2 \rfloor", "|𝒜| ≠ ⌊i/2⌋"),
    (r"x \not\in S, \; a \tag{2}", "x \u2209 S, a   (2)"),
    (r"\begin{aligned} a &= b(1 \\ & \quad {}- c) \\ &= d \\ e &= f \end{aligned}", "a = b(1 − c) = d; e = f"),
    (r"\begin{gathered} a = b \\ c = d \end{gathered}", "a = b; c = d"),
    (r"\unknown{x}", r"\unknown x"),
    (r"\frac{a", r"\frac{a"),
    (r"x } y", r"x } y"),
]  # fmt: skip
DISPLAYED = [
    (r"f_k = \max_{i \in \Omega(k)} x_i", 80, """
f_k =   max    x_i
      i ∈ Ω(k)"""),
    (r"y = \begin{cases} s & \text{if } s > 0 \\ a s & \text{otherwise} \end{cases}", 80, """
    ⎧s    if s > 0
y = ⎨
    ⎩a s  otherwise"""),
    (r"x = \begin{pmatrix} 1 & -20 \\ 3 & 4 \end{pmatrix}", 80, """
x = ⎛1  −20⎞
    ⎝3    4⎠"""),
    (r"\sum_{j=1}^{n} w_j", 80, """
  n
  ∑   w_j
j = 1"""),
    (r"\begin{aligned} a &= b \\ &= c \end{aligned}", 80, """
a = b
  = c"""),
    (r"\begin{aligned} a &= b c d(c + c \\ &\quad + d) \end{aligned}", 12, """
a = b c d(c
    + c + d)"""),
    (r"a_1 = b_1 + c_1, \quad a_2 = b_2 + c_2", 20, """
a₁ = b₁ + c₁,
    a₂ = b₂ + c₂"""),
    (r"a = b_{11} + b_{12} + b_{13} + b_{14}", 20, """
a = b₁₁ + b₁₂ + b₁₃
    + b₁₄"""),
    (r"y = \max_{i \in \Omega(k), \, j \in \Omega(l)} x_{ij}", 20, """
y = max_{i ∈ Ω(k), j
    ∈ Ω(l)} x_ij"""),
]  # fmt: skip
FORMULAS = [case.formula for case in cases("read.txt")] + [f for g in groups("layers.txt") for f in g.formulas]


@pytest.mark.parametrize(("latex", "shown"), INLINE)
def test_inline(latex: str, shown: str) -> None:
    assert inline(latex) == shown


@pytest.mark.parametrize(("latex", "columns", "shown"), DISPLAYED)
def test_displayed(latex: str, columns: int, shown: str) -> None:
    assert list(display(latex, columns)) == shown.strip("\n").splitlines()


def test_every_formula_of_the_fixtures_is_read() -> None:
    for formula in FORMULAS:
        assert "\\" not in inline(formula), formula
        assert max(map(len, display(formula, 60))) <= 60, formula


def test_two_formulas_that_differ_in_a_token_never_look_the_same() -> None:
    for formula in FORMULAS[::3]:
        shown, drawn = inline(formula), display(formula)
        for change, other in mutations(formula):
            assert inline(other) != shown, change
            assert display(other) != drawn, change


def test_hostile_formulas_end() -> None:
    for latex in ("{" * 5000, "x" + "_{x" * 3000, r"\left(" * 2000, r"\begin{cases}" * 500, "^" * 50, r"\text{$" * 99):
        assert inline(latex).strip() and any(line.strip() for line in display(latex)), latex[:20]


def test_a_wide_formula_is_broken_outside_its_brackets() -> None:
    one, two = (rf"\sum_{{{k} = \max(0, \lceil ({i} - 1)/2 \rceil)}}^{{\min({m} - 1, \lfloor ({i} + 1)/2 \rfloor)}}"
                for k, i, m in ("kiM", "ljN"))  # fmt: skip
    lines = display(rf"\delta_{{x,ij}} = {one} {two} \delta_{{f,kl}} \, [(i, j) = \arg\max_{{(p, q) \in \Omega(k, l)}} x_{{pq}}]", 70)
    assert len(lines) > 1 and max(map(len, lines)) <= 70
    assert all(line.count(a) == line.count(b) for line in lines for a, b in ("{}", "()", "[]"))
