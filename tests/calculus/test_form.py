"""The lecturer's form: what the messages of known layers must look like, and what the form may not do."""

from fractions import Fraction

import pytest

import derive
from derive.axes import with_axes
from derive.calculus.messages import jacobian, message
from derive.calculus.ranges import Affine, Range, solve, within
from derive.errors import CardError, UnsupportedError
from derive.expr import ONE, ZERO, Add, Idx, Mul, Num, Rel, Size, add, mul, sub, walk
from derive.notation import read, write
from derive.numeric import vectorised
from tests.calculus.zoo import ZOO, Layer, module_from

JACOBIANS = [
    ("sigmoid", "s", r"y_k (1 - y_k) [i = k]"),
    ("tanh", "s", r"(1 - y_k^2) [i = k]"),
    ("relu", "s", r"[i = k] [s_k > 0]"),
    ("softmax", "z", r"p_i ([j = i] - p_j)"),
    ("softmax_cross_entropy", "z", r"p_i - t_i"),
    ("softmax_regression", "x", r"\sum_k (p_k - t_k) W_{kj}"),
    ("attention", "q", r"\frac{1}{\sqrt{d}} \sum_j (V_{jc} - o_c) a_j K_{jm}"),
    ("neuron_bce", "w", r"(\hat{y} - t) x_j"),
    ("neuron_bce_function", "w", r"(\hat{y} - t) x_j"),
    ("two_norm", "x", r"\frac{x_j}{y}"),
    ("linear", "x", r"W_{kj}"),
    ("linear", "W", r"x_j [i = k]"),
    ("conv1d", "x", r"w_{i-k} [0 \le i - k < A]"),
    ("conv1d_stride", "w", r"x_{2k+a}"),
    ("batch_norm", "x", r"\frac{\gamma ([j = i] - \frac{1}{n} - \frac{\hat{x}_j \hat{x}_i}{n})}{\sqrt{v + \epsilon}}"),
]
MESSAGES = [
    ("softmax", "z", r"p_j \left(\delta_{p,j} - \sum_i \delta_{p,i} p_i\right)"),
    ("linear", "x", r"\sum_k \delta_{s,k} W_{kj}"),
    ("linear", "W", r"\delta_{s,i} x_j"),
    ("conv1d_stride", "x", r"\sum_{k : 0 \le i - 2k < A} \delta_{y,k} w_{i-2k}"),
    ("conv2d", "w", r"\sum_{k,l} \delta_{y,kl} x_{2k+p,2l+q}"),
    ("window_mean_1d", "x", r"\sum_{t : i \in \Omega(t)} \frac{\delta_{f,t}}{\left|\Omega(t)\right|}"),
    ("conv1d_transposed", "w", r"\sum_{j : k + 2j < n} \delta_{y,k+2j} x_j"),
    ("instance_norm", "x", r"\frac{1}{\sqrt{v_k + \epsilon}} \left(\delta_{y,klp} - \frac{1}{H} \frac{1}{W} \sum_{i,j} \delta_{y,kij}"
                           r" - \frac{y_{klp}}{H} \frac{1}{W} \sum_{i,j} \delta_{y,kij} y_{kij}\right)"),
    ("batch_norm", "x", r"\frac{\gamma}{\sqrt{v + \epsilon}} \left(\delta_{y,j} - \frac{1}{n} \sum_i \delta_{y,i}"
                        r" - \frac{\hat{x}_j}{n} \sum_i \delta_{y,i} \hat{x}_i\right)"),
]


@pytest.mark.parametrize(("name", "wrt", "expected"), JACOBIANS)
def test_jacobians_are_as_a_lecturer_writes_them(name: str, wrt: str, expected: str) -> None:
    module = with_axes(ZOO[name].module())
    assert jacobian(module, wrt).after is read(expected, module.table)


def test_quotients_by_powers_of_a_letter_have_one_denominator() -> None:
    """No fraction stands in a fraction."""
    module = derive.solve(formula=r"L = -\frac{1}{2} \ln(v) - \frac{(t - m)^2}{2 v}").messages.module
    assert write(jacobian(module, "v").after, module.table) == r"\frac{1}{2} \frac{(t - m)^{2} - v}{v^{2}}"


@pytest.mark.parametrize(("name", "wrt", "expected"), MESSAGES)
def test_messages_are_as_a_lecturer_writes_them(name: str, wrt: str, expected: str) -> None:
    module = with_axes(ZOO[name].module())
    found = message(module, wrt).after
    assert write(found, module.table) == write(read(expected, module.table), module.table)


I, K = Idx("i"), Idx("k")
N, A = Size("n"), Size("A")
RANGES = {I: Range(ZERO, sub(N, ONE)), K: Range(ZERO, sub(A, ONE))}


@pytest.mark.parametrize(("term", "bounds", "expected"), [
    (I, Range(ZERO, sub(N, ONE)), None),
    (I, Range(ONE, N), Rel((ONE, I), ("≤",))),
    (add(I, ONE), Range(ONE, N), None),
    (sub(I, K), Range(ZERO, sub(N, ONE)), Rel((ZERO, sub(I, K)), ("≤",))),
    (add(I, K), Range(ZERO, sub(N, ONE)), Rel((add(I, K), N), ("<",))),
    (sub(I, mul(Num(2), K)), Range(ZERO, sub(A, ONE)), Rel((ZERO, sub(I, mul(Num(2), K)), A), ("≤", "<"))),
])
def test_only_what_the_ranges_do_not_say_is_left_of_a_condition(term: object, bounds: Range, expected: object) -> None:
    assert within(term, bounds, RANGES) is expected  # type: ignore[arg-type]


def test_a_delta_is_solved_for_a_letter_with_the_coefficient_one() -> None:
    assert solve(I, add(mul(Num(2), K), Idx("a")), (Idx("a"),)) == (Idx("a"), sub(I, mul(Num(2), K)))
    assert solve(I, mul(Num(2), K), (K,)) is None
    assert solve(I, mul(Num(Fraction(1, 2)), K), (I,)) is None
    assert Affine.of(Add((sub(I, ONE), ONE))).expr() is I
    assert Affine.of(Mul((Num(2), Add((I, K))))).expr() is add(mul(Num(2), I), mul(Num(2), K))


REFUSED = [
    (r"y_i = \sum_{k=0}^{2} w_k x_{i-k}", {"w": (3,), "x": (6,)}, CardError, "state the range of `i`"),
    (r"s_k = \sum_j W_{kj} x_j", {"W": (3, 4), "x": (5,)}, CardError, "axis 1 has extent 5, but that of `W` has 4"),
    (r"y_k = \sum_{a=0}^{2} w_a x_{k+a}", {"w": (4,), "x": (6,)}, CardError, "axis 1 has extent 4, but the formula says 3"),
    (r"y = \sum_j a", {"a": ()}, UnsupportedError, "no range"),
]


@pytest.mark.parametrize(("formula", "shapes", "error", "text"), REFUSED)
def test_what_has_no_value_is_refused(formula: str, shapes: dict[str, tuple[int, ...]], error: type, text: str) -> None:
    import numpy as np

    module = module_from(Layer("refused", (formula,), shapes))
    with pytest.raises(error, match=text):
        vectorised.forward(module, {n: np.ones(s) for n, s in shapes.items()})


def test_a_letter_that_the_layer_does_not_have_is_refused() -> None:
    with pytest.raises(CardError, match="no tensor `z`"):
        jacobian(ZOO["linear"].module(), "z")


@pytest.mark.parametrize("depth", [4, 8])
def test_definitions_are_never_written_out(depth: int) -> None:
    letters = "bcdfghuv"[:depth]
    formulas = [rf"{new} = \max({old}, a {old}) + \tanh({old})" for old, new in zip("x" + letters, letters, strict=False)]
    found = jacobian(module_from(Layer("deep", tuple(formulas), {"x": (), "a": ()})), "a").after
    assert sum(1 for _ in walk(found)) < 60 * depth


def test_the_derivative_by_an_intermediate_tensor_is_there_too() -> None:
    module = with_axes(ZOO["neuron_bce"].module())
    assert jacobian(module, "s").after is read(r"\hat{y} - t", module.table)
    assert jacobian(module, "ell").after is ONE


def test_a_root_of_an_even_power_is_not_the_letter_itself() -> None:
    module = module_from(Layer("even", (r"y = \sqrt{x^2}",), {"x": ()}))
    arrays = {"x": -2.0}
    found = jacobian(module, "x")
    assert vectorised.jacobian(module, (found.before, found.after), "x", arrays) == -1.0  # type: ignore[arg-type]
