"""Verification inside other people's tests: what passes, and how failures help."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import derive
from derive.fixtures import derived  # noqa: F401  # a checkout that is not installed has no entry points
from derive.testing import assert_backward, assert_equation
from tests.calculus.zoo import ZOO

Array = NDArray[np.float64]
CARD = "cards/max_pooling_backward.md"
NORM = r"""---
id: norm
constants: epsilon
---

# Question
A layer scales its input, $y_i = x_i / \sqrt{\epsilon + \sum_{j=1}^n x_j^2}$ with $%s$. Derive the backward message.
"""
LOSS = r"""---
id: loss
constants: t
---

# Question
The loss is $\ell = -\sum_{k=1}^n t_k \log p_k$ with $p_k = e^{z_k} / \sum_{j=1}^n e^{z_j}$ and targets $t_k$,
$\sum_{k=1}^n t_k = 1$. Derive $\partial \ell / \partial z_i$.
"""


def max_pool_backward(d_output: Array, input: Array, pool_size: int) -> Array:
    """The published NumPy answer to "how to back-propagate through max pooling", its layout mended."""
    d_input = np.zeros_like(input)
    input_height, input_width = input.shape  # noqa: RUF059  # as published
    pool_height, pool_width = pool_size, pool_size
    output_height, output_width = d_output.shape

    for i in range(output_height):
        for j in range(output_width):
            # Identify the region in the input corresponding to the current output value
            region = input[i * pool_height : (i + 1) * pool_height, j * pool_width : (j + 1) * pool_width]
            # Find the index of the max value in the region
            max_index = np.unravel_index(np.argmax(region), region.shape)
            # Assign the gradient from d_output to the position of the max value in d_input
            d_input[i * pool_height + max_index[0], j * pool_width + max_index[1]] = d_output[i, j]

    return d_input


def published(upstream: Array, x: Array) -> Array:
    return max_pool_backward(upstream, x, 2)


def windows(upstream: Array, x: Array, rule) -> Array:  # type: ignore[no-untyped-def]
    """2×2/2 with a rule for what each window passes back."""
    result = np.zeros_like(x)
    for k, l in np.ndindex(upstream.shape):
        region = x[2 * k : 2 * k + 2, 2 * l : 2 * l + 2]
        result[2 * k : 2 * k + 2, 2 * l : 2 * l + 2] += rule(region) * upstream[k, l]
    return result


def one_hot(region: Array, at: int) -> Array:
    mask = np.zeros(region.size)
    mask[at] = 1
    return mask.reshape(region.shape)


MUTANTS = {
    "every entry of the window": lambda r: np.ones_like(r),
    "opposite extreme": lambda r: one_hot(r, int(np.argmin(r))),
    "value stands where": lambda r: one_hot(r, int(np.argmax(r))) * r,
    "last tied entry": lambda r: one_hot(r, r.size - 1 - int(np.argmax(r.ravel()[::-1]))),
    "every tied entry gets": lambda r: (r == r.max()).astype(float),
    "sign is wrong": lambda r: -one_hot(r, int(np.argmax(r))),
    "a factor": lambda r: 3 * one_hot(r, int(np.argmax(r))),
}


def test_the_published_answer_is_right_where_windows_tile() -> None:
    assert_backward(published, "max_pool", kernel_size=2, stride=2)
    assert_backward(published, CARD)


@pytest.mark.parametrize("hint", MUTANTS)
def test_a_wrong_answer_is_told_what_is_wrong(hint: str) -> None:
    def wrong(upstream: Array, x: Array) -> Array:
        return windows(upstream, x, MUTANTS[hint])

    with pytest.raises(AssertionError, match=hint) as error:
        assert_backward(wrong, "max_pool", kernel_size=2, stride=2)
    assert "expected" in str(error.value) and "found" in str(error.value)


def test_a_lost_sum_shows_where_windows_overlap() -> None:
    def assigned(upstream: Array, x: Array) -> Array:
        result = np.zeros_like(x)
        for k, l in np.ndindex(upstream.shape):
            region = x[k : k + 2, l : l + 2]
            i, j = np.unravel_index(np.argmax(region), region.shape)
            result[k + i, l + j] = upstream[k, l]
        return result

    with pytest.raises(AssertionError, match="sum over them is lost"):
        assert_backward(assigned, "max_pool", kernel_size=2, stride=1)


def test_a_wrong_shape_and_an_exception_are_answers_too() -> None:
    with pytest.raises(AssertionError, match=r"returned shape \(1,\)"):
        assert_backward(lambda upstream, x: np.zeros(1), "max_pool", kernel_size=2)
    with pytest.raises(AssertionError, match="raised ZeroDivisionError"):
        assert_backward(lambda upstream, x: 1 / 0, "max_pool", kernel_size=2)


def test_the_input_shown_is_small() -> None:
    with pytest.raises(AssertionError) as error:
        assert_backward(lambda upstream, x: np.zeros_like(x), "max_pool", kernel_size=2, stride=2)
    assert "x =\n[[0. 0.]\n [0. 0.]]" in str(error.value)


RIGHT = [
    r"\frac{\partial f_{kl}}{\partial x_{ij}} = \begin{cases} 1 & \text{if } (i,j) = (i^*,j^*) \\"
    r" 0 & \text{otherwise} \end{cases}",
    r"f_{kl} = x_{i^*j^*}",
    r"\delta_{x,ij} = \sum_{(k,l) : (i,j) \in \Omega(k,l)} \delta_{f,kl}"
    r" \mathbb{I}[(i,j) = \arg\max_{(i',j') \in \Omega(k,l)} x_{i'j'}]",
    r"\delta_{x,ij} = \sum_{k,l} \delta_{f,kl} \frac{\partial f_{kl}}{\partial x_{ij}}",
]
WRONG = {
    "every entry of the window": r"\frac{\partial f_{kl}}{\partial x_{ij}} = \mathbb{I}[(i,j) \in \Omega(k,l)]",
    "value stands where": r"\frac{\partial f_{kl}}{\partial x_{ij}} = \begin{cases} x_{ij} &"
                          r" \text{if } (i,j) = (i^*,j^*) \\ 0 & \text{otherwise} \end{cases}",
    "sign is wrong": r"\frac{\partial f_{kl}}{\partial x_{ij}} = \begin{cases} -1 &"
                     r" \text{if } (i,j) = (i^*,j^*) \\ 0 & \text{otherwise} \end{cases}",
    "mask": r"\delta_{x,ij} = \sum_{(k,l) : (i,j) \in \Omega(k,l)}"
            r" \mathbb{I}[(i,j) = \arg\max_{(i',j') \in \Omega(k,l)} x_{i'j'}]",
}  # fmt: skip


@pytest.mark.parametrize("latex", RIGHT)
def test_a_right_equation_passes(latex: str) -> None:
    assert_equation(latex, CARD)


@pytest.mark.parametrize("hint", WRONG)
def test_a_wrong_equation_is_refuted_at_a_point(hint: str) -> None:
    with pytest.raises(AssertionError, match=hint) as error:
        assert_equation(WRONG[hint], CARD)
    assert "x = [[" in str(error.value)


def test_an_equation_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(derive.CardError):
        assert_equation(r"\frac{\partial f_{kl}}{\partial x_{ij}} = \heartsuit", CARD)


# --- any layer ----------------------------------------------------------------


def layer_of(name: str) -> derive.Module:
    return ZOO[name].module()


def relu_backward(upstream: Array, s: Array) -> Array:
    return upstream * (s > 0)


def softmax_backward(upstream: Array, z: Array) -> Array:
    p = np.exp(z) / np.exp(z).sum()
    return p * (upstream - (upstream * p).sum())


def linear_weights(upstream: Array, x: Array, W: Array, b: Array) -> Array:
    return np.outer(upstream, x)


@pytest.mark.parametrize(("function", "name", "wrt"), [
    (relu_backward, "relu", None), (softmax_backward, "softmax", None), (linear_weights, "linear", "W"),
])
def test_right_functions_of_any_layer_pass(function, name, wrt) -> None:  # type: ignore[no-untyped-def]
    assert_backward(function, layer_of(name), wrt=wrt)


@pytest.mark.parametrize(("function", "name", "wrt", "words"), [
    (lambda upstream, s: upstream * (s < 0), "relu", None, "the two differ"),
    (lambda upstream, s: upstream * np.sign(s), "relu", None, "expected"),
    (lambda upstream, z: upstream, "softmax", None, "the two differ"),
    (lambda upstream, x, W, b: np.outer(x, upstream), "linear", "W", "has shape"),
    (lambda upstream, x, W, b: 1 / 0, "linear", "x", "raised ZeroDivisionError"),
])
def test_wrong_functions_of_any_layer_are_found(function, name, wrt, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AssertionError, match=words):
        assert_backward(function, layer_of(name), wrt=wrt)


def shown(error: pytest.ExceptionInfo[AssertionError], letter: str) -> Array:
    """The array of a letter in a message."""
    text = str(error.value).partition(f"\n{letter} =\n")[2].split("=")[0].rpartition("\n")[0]
    return np.array(text.replace("[", " ").replace("]", " ").split(), float)


def test_a_wrong_batch_normalisation_is_shown_where_it_has_a_value() -> None:
    with pytest.raises(AssertionError, match="the two differ") as error:
        assert_backward(lambda upstream, x, gamma, beta, epsilon: upstream * gamma, layer_of("batch_norm"))
    assert "expected" in str(error.value)


@pytest.mark.parametrize("fact", [r"\epsilon > 0", r"0 < \epsilon < 1"])
def test_the_input_shown_keeps_what_the_card_states(fact: str, tmp_path: Path) -> None:
    card = tmp_path / "norm.md"
    card.write_text(NORM % fact, "utf-8")
    with pytest.raises(AssertionError, match="the two differ") as error:
        assert_backward(lambda upstream, x, epsilon: upstream, card)
    assert shown(error, "epsilon")[0] > 0


def test_the_targets_shown_sum_to_1(tmp_path: Path) -> None:
    card = tmp_path / "loss.md"
    card.write_text(LOSS, "utf-8")
    with pytest.raises(AssertionError, match="the two differ") as error:
        assert_backward(lambda upstream, z, t: upstream * z, card)
    assert shown(error, "t").sum() == pytest.approx(1)


@pytest.mark.parametrize(("name", "latex"), [
    ("relu", r"\delta_{s,i} = \delta_{y,i} \, \mathbb{I}[s_i > 0]"),
    ("softmax", r"\frac{\partial p_i}{\partial z_j} = p_i (\mathbb{I}[i = j] - p_j)"),
    ("maxout", r"\frac{\partial y_k}{\partial x_j} = W_{r^*(k),k,j}"),
    ("softmax_cross_entropy", r"\frac{\partial \ell}{\partial z_i} = p_i - t_i"),
])
def test_right_equations_of_any_layer_pass(name: str, latex: str) -> None:
    assert_equation(latex, layer_of(name))


@pytest.mark.parametrize(("name", "latex", "words"), [
    ("softmax_cross_entropy", r"\frac{\partial \ell}{\partial z_i} = t_i - p_i", "the sign is wrong"),
    ("squared", r"\delta_{y,k} = 2 \delta_\ell \cdot (y_k - t_k)", "the right side is 2 times the left one"),
    ("relu", r"\frac{\partial y_k}{\partial s_k} = \mathbb{I}[s_k < 0]", "for s = "),
    ("relu", r"\frac{\partial y_k}{\partial s_k} = \mathbb{I}[s_j > 0]", "j is free on the right"),
])
def test_wrong_equations_of_any_layer_are_refuted(name: str, latex: str, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        assert_equation(latex, layer_of(name))


# --- batches, tensors, messages of several letters ---------------------------


def linear_messages(upstream: Array, x: Array, W: Array, b: Array) -> dict[str, Array]:
    return {"b": upstream.sum(0), "x": upstream @ W, "W": upstream.T @ x}


def test_messages_of_several_letters_and_of_batches() -> None:
    linear = layer_of("linear")
    assert_backward(lambda upstream, x, W, b: (W.T @ upstream, np.outer(upstream, x)), linear, wrt=("x", "W"))
    assert_backward(linear_messages, linear, wrt=("x", "W", "b"), batch="x")
    assert_backward(lambda upstream, z: np.stack([softmax_backward(*s) for s in zip(upstream, z, strict=True)]), layer_of("softmax"), batch=True)
    assert_backward(lambda upstream, x: np.stack([published(*s) for s in zip(upstream, x, strict=True)]), "max_pool", kernel_size=2, stride=2, batch=True)


@pytest.mark.parametrize(("function", "words"), [
    (lambda upstream, **a: {**linear_messages(upstream, **a), "b": upstream.mean(0)}, "message of `b` is wrong: the two differ"),
    (lambda upstream, **a: {**linear_messages(upstream, **a), "W": upstream[:, :, None] * a["x"][:, None]}, r"of `W` is wrong: .* shape \(3, \d, \d\)"),
    (lambda upstream, **a: {"x": upstream @ a["W"]}, "of `W` is wrong: the function returned no message of it"),
    (lambda upstream, **a: list(linear_messages(upstream, **a).values())[:2], "of `x` is wrong: the function returned no message of it"),
])
def test_what_is_wrong_of_several_letters_is_named(function, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AssertionError, match=words):
        assert_backward(function, layer_of("linear"), wrt=("x", "W", "b"), batch=("x",))


def test_of_a_batch_of_images_the_mistake_is_named() -> None:
    with pytest.raises(AssertionError, match="likely mistake: the sign is wrong"):
        assert_backward(lambda upstream, x: -np.stack([published(*s) for s in zip(upstream, x, strict=True)]), "max_pool", kernel_size=2, stride=2, batch=True)


def test_a_letter_that_the_layer_lacks_is_an_error() -> None:
    with pytest.raises(derive.CardError, match="`w` is no input"):
        assert_backward(linear_messages, layer_of("linear"), wrt=("x", "w"))


def test_pytorch_s_tensors_go_in_and_come_out() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")

    def backward(upstream, s):  # type: ignore[no-untyped-def]
        s.requires_grad_()
        torch.relu(s).backward(upstream)
        return s.grad.requires_grad_()

    assert_backward(backward, layer_of("relu"), tensor=torch.from_numpy)
    assert_backward(backward, layer_of("relu"), tensor=lambda a: torch.tensor(a, dtype=torch.float32), batch=True)


def test_jax_s_arrays_go_in_and_come_out(derived) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    jax = pytest.importorskip("jax", reason="JAX is the oracle here")
    softmax = derived("softmax")
    assert derived("softmax") is softmax
    assert_backward(lambda upstream, x: jax.vjp(jax.nn.softmax, x)[1](upstream)[0], softmax, tensor=jax.numpy.asarray)
    with pytest.raises(AssertionError, match="the two differ"):
        assert_backward(lambda upstream, x: jax.vjp(jax.nn.log_softmax, x)[1](upstream)[0], softmax, tensor=jax.numpy.asarray)
