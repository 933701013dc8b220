"""Known mistakes in derivatives, each in a layer that shows it, are refuted with numbers."""

import pytest

from derive.numeric.arithmetic import precision
from derive.verify.report import Verdict
from tests.verify.sheets import verdict

MISTAKES = [
    ("a > 1 forgotten", "prelu",
     r"\frac{\partial y_k}{\partial s_i} = \mathbb{I}[i = k] \begin{cases} 1 & \text{if } s_k > 0 \\ a & \text{otherwise} \end{cases}"),
    ("only 0 < a < 1", "prelu", r"\delta_a = \sum_k \delta_{y,k} s_k \, \mathbb{I}[s_k < 0]"),
    ("the factor 2 of a square lost", "differences", r"\frac{\partial y}{\partial x_{n-1}} = x_{n-1} - x_{n-2}"),
    ("the half kept", "squared", r"\frac{\partial \ell}{\partial y_k} = \frac{1}{2} (y_k - t_k)"),
    ("the sign of the target", "squared", r"\frac{\partial \ell}{\partial t_k} = y_k - t_k"),
    ("the diagonal alone", "softmax", r"\frac{\partial p_i}{\partial z_j} = p_i (1 - p_i) \, \mathbb{I}[i = j]"),
    ("the diagonal's p", "softmax", r"\frac{\partial p_i}{\partial z_j} = p_i (\mathbb{I}[i = j] - p_i)"),
    ("the softmax not summed over outputs", "softmax", r"\delta_{z,j} = p_j (1 - p_j) \delta_{p,j}"),
    ("the mean held constant", "batch_norm", r"\delta_{x,j} = \frac{\delta_{y,j} \gamma}{\sqrt{v + \epsilon}}"),
    ("the variance held constant", "batch_norm",
     r"\delta_{x,j} = \frac{\gamma}{\sqrt{v + \epsilon}} \left(\delta_{y,j} - \frac{1}{n} \sum_i \delta_{y,i}\right)"),
    ("the filter not turned round", "conv1d", r"\delta_{x,i} = \sum_{k : 0 \le k - i < A} \delta_{y,k} w_{k-i}"),
    ("the range lost", "conv1d", r"\delta_{x,i} = \sum_{k} \delta_{y,k} w_{i-k}"),
    ("the stride lost", "conv1d_stride", r"\delta_{x,i} = \sum_{k : 0 \le i - k < A} \delta_{y,k} w_{i-k}"),
    ("the sum over k lost", "neuron_bce", r"\frac{\partial \ell}{\partial w_j} = \hat{y} - t"),
    ("the sum over the outputs lost", "linear", r"\delta_{x,j} = \delta_{s,j} W_{jj}"),
    ("indices swapped", "linear", r"\delta_{W,ij} = \delta_{s,j} x_i"),
    ("the inner derivative lost", "two_layers", r"\delta_{x,j} = \sum_k \delta_{h,k} W_{kj}"),
    ("the whole window, not its mean", "window_mean_1d", r"\delta_{x,i} = \sum_{t : i \in \Omega(t)} \delta_{f,t}"),
    ("one window alone", "window_norm_1d", r"\delta_{x,i} = \frac{\delta_{f,0} x_i}{f_0}"),
    ("the values instead of the weights", "attention", r"\delta_{V,jm} = \delta_{o,m} V_{jm}"),
    ("the root of d lost", "attention", r"\delta_{q,j} = \sum_m \delta_{s,m} K_{mj}"),
    ("the denominator's power", "log_sum_exp", r"\frac{\partial y}{\partial x_j} = \frac{e^{x_j}}{(\sum_i e^{x_i})^2}"),
]


@pytest.mark.parametrize(("name", "latex"), [pytest.param(n, x, id=why) for why, n, x in MISTAKES])
def test_a_known_mistake_is_refuted(name: str, latex: str) -> None:
    with precision():
        found = verdict(name, latex)
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None and "for " in found.counterexample


def test_a_case_that_never_holds_is_refuted() -> None:
    latex = r"\frac{\partial y_k}{\partial s_k} = \begin{cases} 2 & \text{if } s_k > s_k + 1 \\ y_k (1 - y_k) & \text{otherwise} \end{cases}"
    with precision():
        found = verdict("sigmoid", latex)
    assert found.verdict is Verdict.REFUTED and "never holds" in (found.counterexample or "")


def test_two_sides_that_differ_at_a_kink_alone_are_refuted() -> None:
    latex = r"\frac{\partial y_k}{\partial s_k} = \mathbb{I}[s_k > 0] = \mathbb{I}[s_k \ge 0]"
    with precision():
        found = verdict("relu", latex)
    assert found.verdict is Verdict.REFUTED and "0 and 1 differ" in (found.counterexample or "")


@pytest.mark.parametrize("second", ["s_k < 1", r"s_k \le 0"])
def test_cases_that_contradict_each_other_are_refuted(second: str) -> None:
    latex = rf"\frac{{\partial y_k}}{{\partial s_k}} = \begin{{cases}} 1 & \text{{if }} s_k \ge 0 \\ 0 & \text{{if }} {second} \end{{cases}}"
    with precision():
        found = verdict("relu", latex)
    assert found.verdict is Verdict.REFUTED and "two cases hold and differ" in (found.counterexample or "")
