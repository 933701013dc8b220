"""Filters that are 0 before their first sample: outputs counted from 0 or 1, whatever the weights count from."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.card import Card

ZERO = ("$x_s = 0$ for $s < 0$", r"$x_s = 0$ for $s \le 0$")
RANGE = (r"0, \dots, T-1", r"1, \dots, T")
LAYERS = {
    "a sum": r"\sum_{k=0}^{2} w_k x_{t-2k}", "weights from 0": r"w_0 x_t + w_1 x_{t-2} + w_2 x_{t-4}",
    "weights from 1": r"w_1 x_t + w_2 x_{t-2} + w_3 x_{t-4}",
}
BRACKETS = {
    "at the samples": "w_0 x_t + w_1 x_{{t-2}} [t - 2 \\ge {0}] + w_2 x_{{t-4}} [t - 4 \\ge {0}]",
    "at the outputs": "w_0 x_t + w_1 x_{{t-2}} [t \\ge {2}] + w_2 x_{{t-4}} [t \\ge {4}]",
    "in a sum": "\\sum_{{k=0}}^{{2}} w_k x_{{t-2k}} [t - 2k \\ge {0}]",
}
W, X = np.array([2.0, -3.0, 5.0]), np.array([1.0, 7.0, -2.0, 4.0, 3.0, -5.0, 6.0])


def holds(layer: str, first: int, zero: str) -> None:
    question = (rf"Let $y_t = {layer}$ for $t = {RANGE[first]}$. {zero} Given $\partial L/\partial y_t$, find "
                r"$\partial L/\partial x_s$ and $\partial L/\partial w_k$.")
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    weights = {f"w_{k}": np.array(w) for k, w in enumerate(W, "w_3" in layer)} | {"w": W}
    arrays = {name: weights.get(name, X) for name in solution.module.passed}
    assert np.asarray(solution.forward(**arrays)) == pytest.approx(np.convolve(np.kron(W, [1, 0])[:5], X)[:7])
    upstream = X[::-1]
    expected = np.convolve(np.kron(W, [1, 0])[:5], upstream[::-1])[:7][::-1]
    assert np.asarray(solution.backward("x", upstream=upstream, **arrays), float) == pytest.approx(expected)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("layer", LAYERS)
def test_zeros_before_the_first_sample(layer: str, first: int) -> None:
    holds(LAYERS[layer], first, f"Here {ZERO[first]}.")


@pytest.mark.parametrize("first", [0, 1])
def test_zeros_at_any_other_index(first: int) -> None:
    holds(LAYERS["weights from 0"], first, f"Here $x_s$ is defined for $s = {RANGE[first]}$ and taken to be $0$ for any other $s$.")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("layer", BRACKETS)
def test_brackets_before_the_first_sample(layer: str, first: int) -> None:
    holds(BRACKETS[layer].format(*range(first, first + 5)), first, "")


@pytest.mark.parametrize("zero", ["where $x_{ij} = 0$ outside of the image", "with $x_{0j} = x_{H+1,j} = x_{i0} = x_{i,W+1} = 0$"])
@pytest.mark.parametrize("ranges", [r"$i = 1, \dots, H$, $j = 1, \dots, W$", r"$i = 1, \dots, H$ and $j = 1, \dots, W$"])
def test_an_image_that_is_0_outside(ranges: str, zero: str) -> None:
    question = (rf"Let $y_{{ij}} = \sum_{{a=-1}}^{{1}} \sum_{{b=-1}}^{{1}} k_{{ab}} x_{{i+a,j+b}}$ for {ranges}, {zero}. Given "
                r"$\partial L/\partial y_{ij}$, find $\partial L/\partial x_{mn}$.")
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    x, k = np.arange(20.0).reshape(5, 4) % 7, np.arange(9.0).reshape(3, 3) - 4
    padded, kernel = np.pad(x, 1), np.array(k)
    found = np.asarray(solution.forward(x=x, k=k))
    assert found == pytest.approx(np.array([[(kernel * padded[i : i + 3, j : j + 3]).sum() for j in range(4)] for i in range(5)]))
