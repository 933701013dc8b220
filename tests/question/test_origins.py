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
def test_zeros_at_one_end_in_words(first: int) -> None:
    holds(LAYERS["weights from 0"], first, f"Here $x_s$ is known for $s = {RANGE[first]}$ and is taken to be zero for $s < {first}$.")


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


PADDED = {
    "two ends": r"where $x_{cs} = 0$ for $s < 0$ and for $s \ge T$",
    "a last sample": r"where $x_{cs} = 0$ for $s < 0$ and for $s > T - 1$",
    "unless": r"with $x_{cs} = 0$ unless $0 \le s \le T - 1$",
    "any other": r"where $x_{cs}$ is defined for $s = 0, \dots, T-1$ and taken to be $0$ for any other $s$",
}
OUTPUTS = (r"t = 0, \dots, N - 1", r"0 \le t < N_y", r"t = 0, \dots, T' - 1, \quad T' = \lfloor (T + 2P - K) / S \rfloor + 1")


@pytest.mark.parametrize("signals", [False, True])
@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("zeros", PADDED)
def test_a_stride_and_zeros_at_both_ends(zeros: str, outputs: str, signals: bool) -> None:
    question = (rf"Let $$y_{{ot}} = b_o + \sum_{{c=0}}^{{C-1}} \sum_{{k=0}}^{{K-1}} w_{{ock}} x_{{c,St+k-P}}, \qquad {outputs},$$ "
                rf"{PADDED[zeros]}. Given $\partial L/\partial y_{{ot}}$, find $\partial L/\partial x_{{cs}}$ and "
                r"$\partial L/\partial w_{ock}$.")
    if signals:
        for before, after in {"y_{ot}": "y_o(t)", "x_{cs}": "x_c(s)", "w_{ock}": "w_{oc}(k)", "x_{c,St+k-P}": "x_c(St+k-P)"}.items():
            question = question.replace(before, after)
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    draw = np.random.default_rng(0)
    w, x, b = draw.normal(size=(2, 3, 4)), draw.normal(size=(3, 7)), draw.normal(size=2)
    stride, padding, length = 2, 1, 3
    free = [name for name in solution.module.passed if name in ("N", "N_y", "T_prime")]
    arrays = {"w": w, "x": x, "b": b, "S": stride, "P": padding} | dict.fromkeys(free, length)
    padded = np.pad(x, ((0, 0), (padding, padding)))
    windows = np.stack([padded[:, stride * t : stride * t + 4] for t in range(length)])
    assert np.asarray(solution.forward(**arrays)) == pytest.approx(np.einsum("ock,tck->ot", w, windows) + b[:, None])
    upstream = draw.normal(size=(2, length))
    back = np.zeros_like(padded)
    for t in range(length):
        back[:, stride * t : stride * t + 4] += np.einsum("o,ock->ck", upstream[:, t], w)
    assert np.asarray(solution.backward("x", upstream=upstream, **arrays), float) == pytest.approx(back[:, 1:-1])
    assert np.asarray(solution.backward("w", upstream=upstream, **arrays), float) == pytest.approx(
        np.einsum("ot,tck->ock", upstream, windows))
