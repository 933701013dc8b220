"""Layers that words put between a letter that is asked about and one that the formulas take."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.errors import OpenError
from derive.question import module_of
from tests.bank import card_of

CARDS = {
    "sigmoid": (r"A rectangular array of scores $u_{ab}$ goes through a logistic sigmoid, which produces the chances $q_{ab}$ of rain. "
                r"We pay $$J = -\sum_{a}\sum_{b} \bigl(r_{ab} \ln q_{ab} + (1 - r_{ab}) \ln(1 - q_{ab})\bigr).$$ "
                r"Find $\partial J/\partial u_{ab}$.", "J"),
    "dense": (r"The speed of $m$ tram lines is predicted from $n$ sensors $\mathbf v$ by a fully connected layer with weight matrix "
              r"$\mathbf A \in \mathbb{R}^{m\times n}$ and bias $\mathbf c$, followed by a tanh; call the result $\mathbf g$. The measured "
              r"speed is $\mathbf s$, and $$E = \sum_{k=1}^m (g_k - s_k)^4.$$ Derive the gradients of $E$ with respect to $\mathbf A$, "
              r"$\mathbf c$ and $\mathbf v$.", "E"),
    "shares": (r"A linear layer with weight matrix $\mathbf M$ and bias $\mathbf d$ is applied to $\mathbf f$, followed by a softmax with "
               r"output $\mathbf a$. For a distribution $\mathbf e$ the loss is $$L = -\sum_i e_i \log a_i .$$ Give $\partial L/\partial\mathbf M$, "
               r"$\partial L/\partial\mathbf d$ and $\partial L/\partial\mathbf f$.", "L"),
}
RNG = np.random.default_rng(7)
GIVEN = {
    "sigmoid": {"u": RNG.normal(size=(2, 3)), "r": np.array([[1.0, 0, 1], [0, 1, 0]])},
    "dense": {"v": RNG.normal(size=3), "A": RNG.normal(size=(2, 3)), "c": RNG.normal(size=2), "s": RNG.normal(size=2)},
    "shares": {"f": RNG.normal(size=3), "M": RNG.normal(size=(2, 3)), "d": RNG.normal(size=2), "e": np.array([0.25, 0.75])},
}
VALUES = {
    "sigmoid": lambda u, r: (np.log1p(np.exp(u)) - r * u).sum(),
    "dense": lambda v, A, c, s: ((np.tanh(A @ v + c) - s) ** 4).sum(),
    "shares": lambda f, M, d, e: np.log(np.exp(M @ f + d).sum()) - e @ (M @ f + d),
}


@pytest.mark.parametrize("key", CARDS)
def test_the_letters_say_what_goes_in_and_comes_out(key: str) -> None:
    question, output = CARDS[key]
    solution = derive.solve(card_of(question))
    assert solution.module.output == output
    assert np.allclose(float(solution.forward(**GIVEN[key])), VALUES[key](**GIVEN[key]))


TASK = r" The error is $$E = \frac12 \sum_i (o_i - t_i)^2.$$ Find $\partial E/\partial z_i$."


@pytest.mark.parametrize("said", [
    "Twice the inputs $z_i$ are sent through a sigmoid, giving $o_i$.", "The squares of $z_i$ are sent through a sigmoid, giving $o_i$.",
    "The absolute values of $z_i$ are sent through a sigmoid, giving $o_i$.", "A hard version of the sigmoid maps $z_i$ to $o_i$.",
    "The inputs $z_i$ are sent through a sigmoid of temperature $2$, giving $o_i$.", "A bipolar sigmoid maps $z_i$ to $o_i$.",
    "The inputs $z_i$ are sent through a sigmoid and doubled, giving $o_i$.", "A sigmoid maps $z_{i-1}$ to $o_i$.",
    "A sigmoid maps $z_i$ to $1 - o_i$.", "A sigmoid maps $o_i$ to $z_i$.", "A sigmoid and a skip connection map $z_i$ to $o_i$.",
    "A sigmoid with its own trainable bias maps $z_i$ to $o_i$.", "A sigmoid maps the sorted $z_i$ to $o_i$.",
    "A sigmoid applied to $z_i$ for even $i$ gives $o_i$.", "A sigmoid that ranges from $-1$ to $1$ maps $z_i$ to $o_i$.",
    "The reciprocal of the sigmoid of $z_i$ is called $o_i$.", "In place of a sigmoid the identity maps $z_i$ to $o_i$.",
])
def test_words_that_say_more_are_open(said: str) -> None:
    with pytest.raises(OpenError):
        module_of(card_of(said + TASK))
