"""Layers of the catalogue in words: their letters, channels, rows and slopes; what words change is never passed over."""

from __future__ import annotations

import re

import numpy as np
import pytest

import derive
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of
from tests.bank import card_of
from tests.question.test_words_only import FUSED, MORE

CARDS = {
    "conv":
       r"A convolutional layer has 2 input channels, 4 output channels, a $3\times 3$ kernel, stride 1 "
       r"and zero padding of 1. It has weights $W$ and biases $b$. Its input is $x$. Derive the parameter "
       r"message and the backward message.",
    "conv1":
       r"In our audio lecture we looked at a one-dimensional convolutional layer with one input channel "
       r"and one output channel. Its kernel $k$ has three taps, the stride is two, there is no padding "
       r"and no bias. Call the input signal $s$ and derive the backward messages to $s$ and $k$.",
    "bank":
       r"Take the standard convolutional layer of any deep-learning toolbox, that is, a cross-correlation "
       r"without flipping the kernel: an image $x$ with 3 channels and $8\times8$ pixels, a bank $w$ of 4 "
       r"kernels of size $3\times3$ (each of them spanning all 3 input channels), one bias per kernel "
       r"collected in $b$, stride 1, and zero padding by one pixel on every side, so that the 4 output "
       r"maps are again $8\times8$. Derive the backward messages to $x$, $w$ and $b$.",
    "transposed":
       r"In the decoder of a speech model, a transposed convolution with kernel $w$ of length 4 and "
       r"stride 2 upsamples a one-channel signal $x$; there is neither padding nor a bias. Derive the "
       r"backward message and the gradient of the kernel.",
    "batch":
       r"Batch normalisation in training mode is applied to a matrix $X$ with $N$ rows (samples) and $D$ "
       r"columns (features). For every feature, the batch mean is subtracted and the result is divided by "
       r"the square root of the batch variance (with divisor $N$) plus $\epsilon$. Then each feature is "
       r"scaled by $\gamma$ and shifted by $\beta$. Derive the gradients with respect to $X$, $\gamma$ "
       r"and $\beta$.",
    "instance":
       r"An instance normalisation layer with one gain and one shift per channel is applied to an image "
       r"$x$ with axes channel, row, column. A constant $\epsilon$ is added to the variance. Derive the "
       r"message to $x$ and the gradients of the gains $\gamma$ and the shifts $\beta$.",
    "rows":
       r"Layer normalisation is applied to each row of the matrix $X$ (one token per row), with "
       r"$\epsilon$ under the root and with a gain $\gamma$ and a bias $\beta$ per feature. Derive the "
       r"gradients with respect to $X$, $\gamma$ and $\beta$.",
    "rms":
       r"RMS normalisation divides the vector $x$ by its root mean square, with $\epsilon$ added to the "
       r"mean square under the root, and multiplies the result componentwise by a learned gain $g$. "
       r"Derive the backward message and the gradient of the gain.",
    "unnamed":
       r"Each feature vector $x$ is standardised: its mean over the components is subtracted, and the "
       r"result is divided by its standard deviation, where $\epsilon$ is added to the variance under the "
       r"root. There are no learnable parameters. Derive the backward message of this layer.",
    "prelu":
       r"Parametric ReLU in a CNN: positive values of the feature map pass unchanged, negative values are "
       r"multiplied by a learned slope, and there is exactly one slope per channel, collected in vector "
       r"$a$. Input is a map $x$ with axes channel, row, column. Derive the gradient with respect to the "
       r"input and the one with respect to the slopes.",
    "hinge":
       r"A linear classifier with weight vector $w$ and scalar bias $b$ scores all feature vectors of a "
       r"batch (matrix $X$, one row per item). The labels $t$ are $\pm 1$. The loss is the squared hinge "
       r"loss with margin one, averaged over the batch. Derive the gradients with respect to the weight "
       r"vector and the bias.",
    "dense":
       r"The rows of $X$ are samples. A fully connected layer with weight matrix $W$ (one row per output) "
       r"and bias vector $b$ is applied to each of them. Derive the gradients with respect to $X$, $W$ "
       r"and $b$.",
    "softmax":
       r"A softmax is taken over each row of the matrix $A$ of shape $N \times K$. Derive the backward "
       r"message.",
    "pooled":
       r"The head of our leaf disease classifier consists of global average pooling over the feature maps "
       r"$F$ (channel, row, column) and then a dense layer with weight matrix $M$ (one row per class, one "
       r"column per channel) and bias vector $b$. Derive gradients for $M$ and $b$ and the message to "
       r"$F$.",
}
# words put in the place of others, which make another layer of it, or say what it has not
CHANGED = (
    ("conv", r"zero padding of 1", r"zero padding of 1 on the left"),
    ("conv", r"stride 1", r"stride 1 along the rows"),
    ("conv", r"4 output channels", r"4 output channels in two groups"),
    ("conv", r"biases $b$", r"shared biases $b$"),
    ("conv", r"weights $W$", r"symmetric weights $W$"),
    ("conv", r"zero padding", r"circular padding"),
    ("conv", r"Its input is $x$.", r"Its input is $x^2$."),
    ("conv", r"Its input is $x$.", r"Its input is the square of $x$."),
    ("conv", r"a $3\times 3$ kernel", r"a $3\times 3$ kernel with zeros in its corners"),
    ("conv", r"a $3\times 3$ kernel", r"a flipped $3\times 3$ kernel"),
    ("conv", r"the backward message", r"the gradient with respect to $q$"),
    ("conv", r"It has weights $W$ and biases $b$.", r"It has weights $W$ and one bias per pixel."),
    ("conv", r"It has weights $W$ and biases $b$.", r"It has weights $W$ and one bias per input channel $b$."),
    ("conv", r"It has weights $W$ and biases $b$.", r"It has weights $W$, and $b$ is the bias of the next layer."),
    ("conv", r"4 output channels", r"as many output channels, each seeing one input channel"),
    ("conv", r"Its input is $x$.", r"Its input is called $x$, its transpose $z$."),
    ("conv1", r"kernel $k$ has three taps", r"kernel $k$ has three taps, the last one fixed"),
    ("conv1", r"stride is two", r"stride is two in the first half"),
    ("conv1", r"no bias", r"no bias but a gain"),
    ("conv1", r"one-dimensional", r"causal one-dimensional"),
    ("conv1", r"one-dimensional", r"circular one-dimensional"),
    ("conv1", r"Call the input signal $s$", r"Call the reversed input signal $s$"),
    ("conv1", r"Call the input signal $s$", r"Call the output signal $s$"),
    ("conv1", r"Call the input signal $s$", r"Call the padded input signal $s$"),
    ("bank", r"4 output maps", r"5 output maps"),
    ("bank", r"again $8\times8$", r"$6\times6$"),
    ("bank", r"all 3 input channels", r"all 2 input channels"),
    ("bank", r"one pixel on every side", r"two pixels on every side"),
    ("bank", r"one bias per kernel", r"one bias for all kernels"),
    ("bank", r"one bias per kernel", r"one bias per pixel"),
    ("bank", r"without flipping the kernel", r"with flipping the kernel"),
    ("bank", r"without flipping the kernel", r"flipping the kernel"),
    ("bank", r"each of them spanning all 3 input channels", r"each of them spanning one input channel"),
    ("bank", r"one bias per kernel collected in $b$", r"one bias per kernel, while the strides are collected in $b$"),
    ("transposed", r"neither padding nor a bias", r"padding and a bias"),
    ("transposed", r"transposed convolution", r"convolution"),
    ("transposed", r"stride 2", r"dilation 2"),
    ("transposed", r"upsamples", r"downsamples"),
    ("transposed", r"In the decoder of a speech model", r"In the reverse direction of a speech model"),
    ("batch", r"in training mode", r"in inference mode"),
    ("batch", r"in training mode", r"at test time"),
    ("batch", r"in training mode", r"with running averages"),
    ("batch", r"(samples)", r"(features)"),
    ("batch", r"$N$ rows (samples) and $D$ columns (features)", r"$D$ rows (features) and $N$ columns (samples)"),
    ("batch", r"(with divisor $N$)", r"(with divisor $N-1$)"),
    ("batch", r"(with divisor $N$)", r"(with divisor $D$)"),
    ("batch", r"batch variance", r"unbiased batch variance"),
    ("batch", r"For every feature", r"For every sample"),
    ("batch", r"the batch mean is subtracted", r"the running mean is subtracted"),
    ("batch", r"the batch mean", r"twice the batch mean"),
    ("batch", r"the batch mean is", r"the batch mean of the previous batch is"),
    ("batch", r"scaled by $\gamma$", r"scaled by $1+\gamma$"),
    ("batch", r"scaled by $\gamma$ and shifted by $\beta$", r"shifted by $\beta$ and scaled by $\gamma$"),
    ("batch", r"Then each feature is", r"Before that, each feature is"),
    ("batch", r"Then each feature", r"Then each sample"),
    ("batch", r"plus $\epsilon$", r"minus $\epsilon$"),
    ("batch", r"the square root of the batch variance", r"the batch variance"),
    ("batch", r"the square root of the batch variance (with divisor $N$) plus $\epsilon$",
     r"the batch standard deviation plus $\epsilon$"),
    ("batch", r"Batch normalisation", r"Layer normalisation"),
    ("batch", r"Batch normalisation", r"Instance normalisation"),
    ("batch", r"Batch normalisation", r"Ghost batch normalisation"),
    ("batch", r"Then each feature", r"Then every other feature"),
    ("batch", r"is applied to a matrix $X$", r"is applied to the transpose of a matrix $X$"),
    ("batch", r"is applied to a matrix $X$", r"is applied to the logarithm of a matrix $X$"),
    ("batch", r"with respect to $X$", r"with respect to $Z$"),
    ("batch", r"the result is divided", r"the input is divided"),
    ("instance", r"axes channel, row, column", r"axes row, column, channel"),
    ("instance", r"per channel", r"per pixel"),
    ("instance", r"one gain and one shift per channel", r"one gain per channel and one shift per pixel"),
    ("instance", r"is added to the variance", r"is added to the mean"),
    ("instance", r"is added to the variance", r"is added to the standard deviation"),
    ("instance", r"A constant $\epsilon$", r"A learned constant $\epsilon$"),
    ("instance", r"an image $x$", r"the gradient of an image $x$"),
    ("instance", r"one gain", r"one fixed gain"),
    ("instance", r"one gain and one shift per channel", r"one gain and one shift per channel, tied together,"),
    ("rows", r"each row", r"each column"),
    ("rows", r"one token per row", r"one feature per row"),
    ("rows", r"under the root", r"outside the root"),
    ("rows", r"per feature", r"per token"),
    ("rows", r"a gain $\gamma$", r"a positive gain $e^\gamma$"),
    ("rows", r"each row", r"every second row"),
    ("rows", r"each row", r"each block of rows"),
    ("rows", r"(one token per row)", r"(one token per column)"),
    ("rms", r"root mean square", r"mean square"),
    ("rms", r"root mean square", r"root sum of squares"),
    ("rms", r"the vector $x$", r"the centred vector $x$"),
    ("rms", r"under the root", r"outside the root"),
    ("rms", r"a learned gain $g$", r"a learned gain $1+g$"),
    ("rms", r"mean square, with", r"mean square of the first half, with"),
    ("rms", r"and multiplies", r"and divides"),
    ("unnamed", r"the components", r"the samples"),
    ("unnamed", r"its mean", r"its median"),
    ("unnamed", r"standard deviation", r"mean absolute deviation"),
    ("unnamed", r"variance under the root", r"variance of the batch"),
    ("unnamed", r"There are no learnable parameters.", r"There is a learnable gain."),
    ("unnamed", r"There are no learnable parameters. ", r""),
    ("unnamed", r"is subtracted", r"is added"),
    ("unnamed", r"Each feature vector", r"Each pair of feature vectors"),
    ("unnamed", r"under the root", r"after the root"),
    ("prelu", r"negative values are multiplied", r"negative values are divided"),
    ("prelu", r"positive values", r"negative values"),
    ("prelu", r"one slope per channel", r"one slope per pixel"),
    ("prelu", r"one slope per channel", r"one slope per row"),
    ("prelu", r"one slope per channel", r"one slope for two channels"),
    ("prelu", r"axes channel, row, column", r"axes row, column, channel"),
    ("prelu", r"pass unchanged", r"are doubled"),
    ("prelu", r"a learned slope", r"a learned slope of at most one"),
    ("prelu", r"a learned slope", r"the square of a learned slope"),
    ("prelu", r"Input is a map", r"Output is a map"),
    ("hinge", r"hinge loss with margin one", r"hinge loss with margin two"),
    ("hinge", r"averaged over the batch", r"averaged over the classes"),
    ("hinge", r", averaged over the batch", r""),
    ("hinge", r"are $\pm 1$", r"are $0$ and $1$"),
    ("hinge", r"and scalar bias $b$", r"without bias"),
    ("hinge", r"one row per item", r"one column per item"),
    ("hinge", r"squared hinge", r"smoothed hinge"),
    ("hinge", r"The loss is", r"Half the loss is"),
    ("hinge", r"The loss is", r"The loss is twice"),
    ("hinge", r"averaged over the batch", r"averaged over the batch plus a penalty on $w$"),
    ("hinge", r"scores all", r"scores the best of all"),
    ("dense", r"The rows of $X$ are samples", r"The columns of $X$ are samples"),
    ("dense", r"one row per output", r"one column per output"),
    ("dense", r"each of them", r"the first of them"),
    ("dense", r"each of them", r"their mean"),
    ("dense", r"is applied to each of them", r"is applied twice to each of them"),
    ("dense", r"weight matrix $W$", r"orthogonal weight matrix $W$"),
    ("dense", r"weight matrix $W$", r"weight matrix $W^\top$"),
    ("softmax", r"each row", r"each column"),
    ("softmax", r"softmax", r"log-softmax"),
    ("softmax", r"each row of", r"each row of the negative of"),
    ("softmax", r"each row of", r"each row of the upper triangle of"),
    ("softmax", r"is taken over", r"is not taken over"),
    ("softmax", r"of shape $N \times K$", r"of shape $N \times K \times M$"),
    ("pooled", r"average pooling", r"max pooling over halves"),
    ("pooled", r"(channel, row, column)", r"(row, column, channel)"),
    ("pooled", r"one row per class, one column per channel", r"one column per class, one row per channel"),
    ("pooled", r"and then", r"and before it"),
    ("pooled", r"global average pooling", r"global sum pooling"),
    ("pooled", r"over the feature maps", r"over the upper half of the feature maps"),
    ("pooled", r"bias vector $b$", r"bias vector $b$ and a sigmoid"),
)


def _module(question: str) -> Module | None:
    try:
        return module_of(card_of(question))
    except DeriveError:
        return None


def _normed(x, over, epsilon):
    return (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + epsilon)


def _convolved(x, w, b, padding, stride=1):
    x = np.pad(x, [(0, 0), *[(padding, padding)] * (x.ndim - 1)])
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[1:])[0]
    windows = windows[tuple(slice(None, None, stride) for _ in range(x.ndim - 1))]
    return np.tensordot(w, windows, [range(1, w.ndim), range(x.ndim - 1, 2 * x.ndim - 1)]) + b.reshape(-1, *[1] * (
        x.ndim - 1))


def _spread(x, w):
    y = np.zeros(2 * len(x) + 2)
    for n, value in enumerate(x):
        y[2 * n : 2 * n + 4] += value * w
    return y


# what goes in by its shape, and what comes out
FORWARD = {
    "conv": ({"x": (2, 4, 4), "W": (4, 2, 3, 3), "b": (4,)}, lambda x, W, b: _convolved(x, W, b, 1)),
    "conv1": ({"s": (9,), "k": (3,)}, lambda s, k: _convolved(s[None], k[None, None], np.zeros(1), 0, 2)[0]),
    "bank": ({"x": (3, 8, 8), "w": (4, 3, 3, 3), "b": (4,)}, lambda x, w, b: _convolved(x, w, b, 1)),
    "transposed": ({"x": (3,), "w": (4,)}, _spread),
    "batch": ({"X": (5, 3), "gamma": (3,), "beta": (3,), "epsilon": ()},
              lambda X, gamma, beta, epsilon: gamma * _normed(X, 0, epsilon) + beta),
    "instance": ({"x": (2, 3, 3), "gamma": (2,), "beta": (2,), "epsilon": ()}, lambda x, gamma, beta, epsilon: (
        gamma[:, None, None] * _normed(x, (1, 2), epsilon) + beta[:, None, None])),
    "rows": ({"X": (3, 5), "gamma": (5,), "beta": (5,), "epsilon": ()},
             lambda X, gamma, beta, epsilon: gamma * _normed(X, 1, epsilon) + beta),
    "rms": ({"x": (4,), "g": (4,), "epsilon": ()}, lambda x, g, epsilon: g * x / np.sqrt(np.mean(x**2) + epsilon)),
    "unnamed": ({"x": (4,), "epsilon": ()}, lambda x, epsilon: _normed(x, 0, epsilon)),
    "prelu": ({"x": (2, 3, 3), "a": (2,)}, lambda x, a: np.where(x > 0, x, a[:, None, None] * x)),
    "hinge": ({"X": (4, 3), "w": (3,), "b": (), "t": (4,)},
              lambda X, w, b, t: np.mean(np.maximum(0, 1 - t * (X @ w + b)) ** 2)),
    "dense": ({"X": (4, 3), "W": (2, 3), "b": (2,)}, lambda X, W, b: X @ W.T + b),
    "softmax": ({"A": (3, 4)}, lambda A: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    "pooled": ({"F": (3, 2, 2), "M": (4, 3), "b": (4,)}, lambda F, M, b: M @ F.mean((1, 2)) + b),
}


@pytest.mark.parametrize("key", CARDS)
def test_forward(key):
    shapes, expected = FORWARD[key]
    random = np.random.default_rng(0)
    given = {name: np.abs(random.normal(size=shape)) if shape == () else random.normal(size=shape)
             for name, shape in shapes.items()}
    given |= {"t": np.sign(given["t"])} if "t" in given else {}
    solution = derive.solve(card_of(CARDS[key]))
    assert np.allclose(solution.forward(**given), expected(**given))


@pytest.mark.parametrize("key", CARDS)
def test_parameters_are_asked_for(key):
    module = _module(CARDS[key])
    assert ("parameters" in module.asked) == bool(module.parameters)


def test_words_that_make_another_layer():
    assert all(old in CARDS[key] for key, old, _ in CHANGED)
    read = [change for change in CHANGED if _module(CARDS[change[0]].replace(*change[1:], 1)) is not None]
    assert read == []


@pytest.mark.parametrize("key", CARDS)
def test_more_that_is_said(key):
    question, at = CARDS[key], CARDS[key].find(" Derive")
    ends = [stop.start() for stop in re.finditer(r"\.(?= [A-Z])", question)][-1:]
    told = [f"{question[:at]} {said}{question[at:]}" for said in MORE[::4]]
    told += [question[:end] + said + question[end:] for end in ends for said in FUSED[::4]]
    assert [text for text in told if _module(text) is not None] == []
