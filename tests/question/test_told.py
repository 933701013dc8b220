"""Networks, convolutions and dropout that words alone tell: the card's letters and sizes, or the question is open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of

ASKED = "Derive the backward message and the parameter messages."
HIDDEN = r"s_k = \sum_j W_{kj} x_j + b_k, \quad h_k = \tanh(s_k), \quad z_k = \sum_j V_{kj} h_j + c_k, \quad "
HEAD = "A network has 4 inputs $x$, one hidden layer with 5 tanh units (weights $W$, bias $b$) and an output layer with "
CONV = "Consider a one-dimensional convolution layer (cross-correlation) with 3 input channels, 4 output channels, kernel size 5, "
NAMED = " Denote the kernel by $W$, the bias by $b$, the input by $x$ and the output by $y$. "
FLAT = "Consider a two-dimensional convolution with a 3×3 kernel $w$, one input channel and one output channel, "
DROP = "A dropout layer (inverted dropout) with drop probability $p$ has drawn the mask $m$ for the current training step; "
MESSAGES = " Derive the forward message and the backward message for the input $x$."
SPAM = ("A classifier for mails consists of a fully connected layer with five inputs $x$ and a single output unit (weight vector $w$, bias "
        "$b$), followed by the logistic sigmoid. It is trained with the binary cross-entropy loss $L$ {} a label $t$, which is {}. "
        "Determine the gradients of $L$ with respect to the weights.")


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))


TOLD = [
    (HEAD + "3 units (weights $V$, bias $c$). The loss $L$ is the squared error with the target $t$. " + ASKED,
     HIDDEN + r"L = \sum_k (z_k - t_k)^2"),
    (HEAD + "one unit (weights $v$, bias $c$). The loss $L$ is the squared error with the target $t$. " + ASKED,
     HIDDEN.replace(r"z_k = \sum_j V_{kj} h_j + c_k", r"z = \sum_j v_j h_j + c") + "L = (z - t)^2"),
    (HEAD + "3 units (weights $V$, bias $c$). The weight matrices have one column for each unit of their layer. The loss $L$ is the "
     "squared error with the target $t$. " + ASKED,
     HIDDEN.replace("W_{kj}", "W_{jk}").replace("V_{kj}", "V_{jk}") + r"L = \sum_k (z_k - t_k)^2"),
    ("A linear layer has weights $w_{ij}$ and biases $b_j$. Its output is $y$. Derive $\\frac{\\partial y_j}{\\partial x_i}$.",
     r"y_k = \sum_j w_{jk} x_j + b_k"),
    ("We have a linear layer with the biases $b_i$. The weight $w_{ij}$ goes from the input $j$ to the output $i$. "
     r"Derive $\frac{\partial y_i}{\partial x_j}$.", r"y_k = \sum_j w_{kj} x_j + b_k"),
    (SPAM.format("against", "1 for spam and 0 otherwise"),
     r"s = \sum_j w_j x_j + b, \quad h = \frac{1}{1 + e^{-s}}, \quad L = -(t \log(h) + (1 - t) \log(1 - h))"),
    (CONV + "stride 2, a bias per output channel and no padding." + NAMED + ASKED,
     r"y_{ki} = \sum_c \sum_{p=0}^{4} W_{kcp} x_{c,2i+p} + b_k, \quad W \in \mathbb{R}^{4 \times 3 \times 5}"),
    (CONV + "stride 2, dilation 2, a bias per output channel and no padding." + NAMED + ASKED,
     r"y_{ki} = \sum_c \sum_{p=0}^{4} W_{kcp} x_{c,2i+2p} + b_k, \quad W \in \mathbb{R}^{4 \times 3 \times 5}"),
    ("Consider a two-dimensional depthwise convolution with a 3×3 kernel $w$, stride 2, no padding and without bias. The input is $x$ and "
     "the output $y$. " + ASKED, r"y_{cij} = \sum_{p=0}^{2} \sum_{q=0}^{2} w_{cpq} x_{c,2i+p,2j+q}"),
    ("A one-dimensional convolution with kernel size 3, same padding, kernel $w$ and no bias, one channel. The input is $x$. " + ASKED,
     r"y_i = \sum_{p : 0 \le i + p - 1 < n} w_p x_{i+p-1}, \quad x \in \mathbb{R}^n, \quad 0 \le i < n, \quad w \in \mathbb{R}^3"),
    (DROP + "$m_i=1$ means that neuron $i$ is kept, and kept neurons are scaled by $1/(1-p)$." + MESSAGES,
     r"y_k = \frac{m_k x_k}{1 - p}"),
    (DROP.replace("drop prob", "keep prob") + "$m_i=1$ means that neuron $i$ is kept, and kept neurons are scaled by $1/p$." + MESSAGES,
     r"y_k = \frac{m_k x_k}{p}"),
    ("The output layer is softmax, $z$ are its inputs, and the loss $L$ is the cross-entropy with the one-hot target vector $t$. "
     r"Derive $\partial L / \partial z_j$.", r"h_k = \frac{e^{z_k}}{\sum_j e^{z_j}}, \quad L = -\sum_k t_k \log(h_k)"),
]


def test_channels_that_are_told_are_sizes() -> None:
    module = read(CONV + "stride 2, a bias per output channel and no padding." + NAMED + ASKED)
    assert module.table.named("W").sizes == (4, 3, 5)


@pytest.mark.parametrize(("words", "formulas"), TOLD)
def test_words_are_formulas(words: str, formulas: str) -> None:
    written = read(f"Let ${formulas}$. Derive the backward message for the input ${'z' if 'z$ are' in words else 'x'}$.")
    assert read(words).equations == written.equations


@pytest.mark.parametrize("words", [
    HEAD + "3 units with the same weights. The loss $L$ is the squared error with the target $t$. " + ASKED,
    HEAD.replace("one hidden layer with 5 tanh units", "two hidden layers with 5 tanh units each")
    + "3 units (weights $V$, bias $c$). The loss $L$ is the squared error with the target $t$. " + ASKED,
    HEAD.replace("bias $b$", "bias $b$, not trained") + "3 units (weights $V$, bias $c$). The loss $L$ is the squared error. " + ASKED,
    "A fully connected layer with 5 inputs and 3 outputs is followed by the softmax, which is applied to each output separately. " + ASKED,
    "A fully connected layer with 5 inputs is followed by the sigmoid, which is applied to the first output separately. " + ASKED,
    "A linear layer with noisy weights $W$ and bias $b$ takes $x$ and gives $y$. " + ASKED,
    "A linear layer with standardised weights $W$ and bias $b$ is followed by a ReLU. " + ASKED,
    r"A linear layer has weights $w_{ij}$ and no bias. Derive the backward message $\frac{\partial y_j}{\partial x_i}$.",
    "We have a linear layer with the biases $b_i$. The weight $w_{ij}$ goes from the input $i$ to the output $j$. "
    r"Derive $\frac{\partial y_j}{\partial x_i}$.",
    SPAM.format("against", "1 for spam and $-1$ otherwise"), SPAM.format("(logarithm to base 2) against", "1 for spam and 0 otherwise"),
    "The output layer is softmax with weights $W$, $z$ are its inputs, and the loss $L$ is the cross-entropy with the one-hot target "
    r"vector $t$. Derive $\partial L / \partial z_j$.",
    CONV.replace("cross-correlation", "the kernel is flipped") + "stride 2, a bias per output channel and no padding." + NAMED + ASKED,
    CONV.replace("convolution", "causal convolution") + "stride 2, a bias per output channel and no padding." + NAMED + ASKED,
    CONV + "stride 2, a bias per output channel and circular padding." + NAMED + ASKED,
    CONV + "stride 2, a bias shared by all output channels and no padding." + NAMED + ASKED,
    CONV + "stride 2, a bias per output channel and padding of 2 zeros on the left." + NAMED + ASKED,
    CONV + "stride 2, a bias per output channel." + NAMED + ASKED, CONV + "stride 2 and no padding. The input is $x$. " + ASKED,
    CONV + "stride 2, a bias per output channel and no padding. It has kernel size 3." + NAMED + ASKED,
    FLAT + "padding 1 and a bias $b$, applied twice. The input is $x$. " + ASKED,
    "A one-dimensional convolution with kernel size 3, stride 2, kernel $w$ and no bias, one channel. The input is $x$. " + ASKED,
    FLAT.replace("kernel $w$", "symmetric kernel $w$") + "no padding and a bias $b$. The input is $x$. " + ASKED,
    FLAT + "stride 2×1, no padding and a bias $b$. The input is $x$. " + ASKED,
    FLAT.replace("convolution", "separable convolution") + "no padding and a bias $b$. The input is $x$. " + ASKED,
    FLAT.replace("kernel $w$", "kernel $w$ of which the weights are shared") + "no padding and a bias $b$. The input is $x$. " + ASKED,
    DROP + "$m_i=1$ means that neuron $i$ is dropped, and kept neurons are scaled by $1/(1-p)$." + MESSAGES,
    DROP + "$m_i=1$ means that neuron $i$ is not kept, and kept neurons are scaled by $1/(1-p)$." + MESSAGES,
    DROP + "$m_i=1$ means that neuron $i$ is kept, and kept neurons are scaled by $1-p$." + MESSAGES,
    DROP.replace("drop prob", "keep prob") + "kept neurons are scaled by $1/(1-p)$." + MESSAGES,
    "A dropout layer with drop probability $p$ has drawn the mask $m$." + MESSAGES,
    "Inverted dropout at test time with the mask $m$ and drop probability $p$." + MESSAGES,
    "Inverted dropout with the mask $m$ and drop probability $p$ is applied twice." + MESSAGES,
])  # fmt: skip
def test_a_word_that_changes_the_layer_is_open(words: str) -> None:
    with pytest.raises(DeriveError):
        read(words)
