"""Strides, dilations and sides of windows by a letter: read, passed as numbers, held against words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derive
from derive.errors import CardError, DeriveError

CONVOLUTION = (r"A convolution computes $y_n = \sum_{k=0}^{K-1} w_k x_{s n + d k}$ with stride $s$ and dilation $d$. Derive "
               r"$\partial y_n / \partial x_m$, $\partial y_n / \partial w_k$ and the backward message $\delta_x$.")


def card(question: str) -> derive.Card:
    return derive.Card.parse(f"---\nid: steps\n---\n\n# Question\n{question}\n")


@pytest.fixture(scope="module")
def convolution() -> derive.Solution:
    return derive.solve(card(CONVOLUTION))


def test_every_equation_holds_and_the_sheet_says_at_which_numbers(convolution: derive.Solution) -> None:
    assert convolution.report.ok and [name for name, _ in convolution.module.steps] == ["s", "d"]
    assert any("s\u00a0=\u00a0" in c.evidence and "d\u00a0=\u00a0" in c.evidence for c in convolution.report.checks)


@pytest.mark.parametrize(("s", "d"), [(1, 1), (2, 1), (1, 3), (2, 3), (3, 2)])
def test_numbers_are_those_of_pytorch(convolution: derive.Solution, s: int, d: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(s * 10 + d)
    x, w = rng.normal(size=13), rng.normal(size=3)
    tensors = [torch.tensor(v[None, None], requires_grad=True) for v in (x, w)]
    y = torch.nn.functional.conv1d(*tensors, stride=s, dilation=d)
    upstream = rng.normal(size=y.shape[-1])
    y.backward(torch.tensor(upstream[None, None]))
    arrays: dict[str, Any] = {"x": x, "w": w, "s": s, "d": d}
    np.testing.assert_allclose(convolution.forward(**arrays), y.detach().numpy()[0, 0])
    for name, tensor in zip("xw", tensors, strict=True):
        np.testing.assert_allclose(convolution.backward(name, upstream=upstream, **arrays), tensor.grad[0, 0].numpy())


@pytest.mark.parametrize(("numbers", "message"), [
    ({"s": 2}, "`d` is missing"), ({"s": 2, "d": 0}, "`d` is not a positive integer"),
    ({"s": 2.5, "d": 1}, "`s` is not a positive integer")])
def test_a_step_is_a_positive_whole_number(convolution: derive.Solution, numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(CardError, match=message):
        convolution.forward(x=np.ones(9), w=np.ones(2), **numbers)


def test_a_message_by_its_letter_is_answered_beside_derivatives(convolution: derive.Solution) -> None:
    assert convolution.derived == "∂y_n/∂x_m, ∂y_n/∂w_k, ∂L/∂x_m"


@pytest.mark.parametrize("words", ["The windows have stride 2.", "The windows do not overlap.", "Each window has 3 entries."])
def test_words_that_say_other_windows_than_the_letters_leave_it_open(words: str) -> None:
    with pytest.raises(DeriveError):
        derive.solve(card(rf"Max pooling: $y_k = \max_{{0 \le p < P}} x_{{S k + p}}$. {words} Derive $\partial y_k / \partial x_i$."))


def test_a_letter_with_two_numbers_is_open() -> None:
    with pytest.raises(CardError, match="said to be 2 and 3"):
        derive.solve(card(r"A layer with $s = 2$ computes $y_k = \sum_{p=0}^{1} x_{s k + p}$, another one has $s = 3$. Derive "
                          r"$\partial y_k / \partial x_i$."))
