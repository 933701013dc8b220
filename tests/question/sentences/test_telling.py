"""Descriptions in words and the formulas that they make; what changes the layer besides is not read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from derive.card import Card
from derive.notation.rules import LETTERS, rewritten
from derive.question.emitted.module import told_statement
from derive.question.sentences import grammar
from derive.question.told.telling import Unread
from derive.question.words.prose import prose_of
from derive.question.words.reading import question_formulas
from derive.statement import Statement

# A description, and behind the arrow the formulas in their order; lines belong together up to a blank one.
READ = r"""
A fully connected layer with three units and a bias is followed by a tanh.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \tanh(s_{j})

A fully connected layer receives five inputs and has two units, each with its own bias.
    => y_{j} = \sum_{k} W_{jk} x_{k} + b_{j}

A dense layer with four inputs, two units and no bias is followed by a softplus.
    => s_{j} = \sum_{k} W_{jk} x_{k} ; y_{j} = \log(1 + e^{s_{j}})

The input $x$ is passed through a dense layer with weights $A$ and bias $c$, and then through a sigmoid.
    => s_{j} = \sum_{k} A_{jk} x_{k} + c_{j} ; y_{j} = \frac{1}{1 + e^{-s_{j}}}

The input $x$ is put through a tanh, giving $h$, and $h$ is multiplied elementwise by $x$.
    => h_{k} = \tanh(x_{k}) ; y_{k} = h_{k} x_{k}

A neuron with three inputs and a bias has a tanh activation function.
    => s = \sum_{k} w_{k} x_{k} + b ; y = \tanh(s)

A hidden layer of four rectified linear units receives six inputs.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \max(0, s_{j})

A dense layer uses the sigmoid as its activation function.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \frac{1}{1 + e^{-s_{j}}}

A dense layer with weight matrix $W$ and bias vector $b$ acts on the input $u$ and is followed by a GELU.
    => s_{j} = \sum_{k} W_{jk} u_{k} + b_{j} ; y_{j} = \frac{s_{j}}{2} \left(1 +
    \operatorname{erf}\left(\frac{s_{j}}{\sqrt{2}}\right)\right)

A single logistic unit with four inputs and a bias is trained with the binary cross-entropy loss.
    => s = \sum_{k} w_{k} x_{k} + b ; h = \frac{1}{1 + e^{-s}} ; L = -(t \log(h) + (1 - t) \log(1 - h))

A linear softmax classifier with four inputs and three classes is trained with the cross-entropy loss.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; p_{j} = \frac{e^{s_{j}}}{\sum_{i} e^{s_{i}}} ; L = -\sum_{j} t_{j}
    \log(p_{j})

Softmax regression with two features and three classes is trained on a batch of six samples. The loss is the
cross-entropy, averaged over the batch.
    => s_{nj} = \sum_{k} W_{jk} x_{nk} + b_{j} ; p_{nj} = \frac{e^{s_{nj}}}{\sum_{i} e^{s_{ni}}} ; L = -\frac{1}{6}
    \sum_{n,j} t_{nj} \log(p_{nj})

A network has two inputs, one hidden layer of three tanh units and a single linear output unit. It is trained with
half the squared error.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \tanh(s_{j}) ; a = \sum_{j} w_{j} h_{j} + c ; L = \frac{1}{2}
    (a - t)^2

A linear model with a bias is trained with the squared error.
    => s = \sum_{k} w_{k} x_{k} + b ; L = (s - t)^2

A linear model is trained with half the squared error plus an L2 penalty: $\lambda$ times the squared norm of the
weights.
    => s = \sum_{k} w_{k} x_{k} ; L = \frac{1}{2} (s - t)^2 + \lambda \sum_{k} w_{k}^2

A linear layer with two outputs is followed by a tanh. The loss is the sum of squared errors between the outputs and
the targets.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \tanh(s_{j}) ; L = \sum_{j} (h_{j} - t_{j})^2

The scores $s=Wx+b$ go into a softmax, and the loss is the cross-entropy with the one-hot label $y$.
    => s=Wx+b ; p_{k} = \frac{e^{s_{k}}}{\sum_{j} e^{s_{j}}} ; L = -\sum_{k} y_{k} \log(p_{k})

The output of a dense layer $z=Wx+b$ is put through a softplus, and the result $a$ is compared with the target $t$
using half the squared error.
    => z=Wx+b ; a_{k} = \log(1 + e^{z_{k}}) ; L = \frac{1}{2} \sum_{k} (a_{k} - t_{k})^2

Consider an affine layer $z = Wx + b$. It is followed by a leaky ReLU with slope $0.1$.
    => z = Wx + b ; y_{k} = \begin{cases} z_{k} & \text{if } z_{k} > 0 \\ 0.1 z_{k} & \text{otherwise} \end{cases}

A leaky ReLU with negative slope $0.2$ is applied to the input $x$.
    => y_{k} = \begin{cases} x_{k} & \text{if } x_{k} > 0 \\ 0.2 x_{k} & \text{otherwise} \end{cases}

The pre-activations $z=Wx+b$ are passed through the activation function $f(s)=s\,e^{-s}$.
    => z=Wx+b ; y_{k} = f(z_{k})

In a residual block the input $x$ is passed through a dense layer with a tanh, and the result is added to the input.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \tanh(s_{j}) ; y_{j} = h_{j} + x_{j}

A residual block adds its input $x$ to the output of a network: a linear layer $A$, then a ReLU, and then a linear
layer $B$.
    => s_{j} = \sum_{k} A_{jk} x_{k} ; h_{j} = \max(0, s_{j}) ; a_{i} = \sum_{j} B_{ij} h_{j} ; y_{k} = x_{k} +
    a_{k}

The input vector is transformed by a dense layer with tanh activation and as many units as inputs. A second dense
layer with sigmoid activation looks at the same input and produces the gate. The output is the gate times the
transformed input plus one minus the gate times the input.
    => s_{j} = \sum_{k} W_{1,jk} x_{k} + b_{1,j} ; h_{j} = \tanh(s_{j}) ; a_{i} = \sum_{k} W_{2,ik} x_{k} + b_{2,i}
    ; g_{i} = \frac{1}{1 + e^{-a_{i}}} ; y_{i} = 1 - g_{i} ; u_{i} = g_{i} h_{i} ; q_{i} = y_{i} x_{i} ; z_{i} =
    u_{i} + q_{i}

The input $x$ is multiplied elementwise by a binary mask $m$ and divided by the keep probability $p$, giving $y$.
    => h_{k} = x_{k} m_{k} ; y_{k} = \frac{h_{k}}{p}

The hidden vector $h=\tanh(Wx)$ is put through inverted dropout: each component is multiplied by the corresponding
entry of a mask $m$ and divided by the keep probability $q$.
    => h=\tanh(Wx) ; y_{j} = h_{j} m_{j} ; z_{j} = \frac{y_{j}}{q}

A feature map with three channels of size $4\times 5$ is reduced by global average pooling. The result is fed into a
dense layer with two units.
    => s_{k} = \frac{1}{20} \sum_{j,i} x_{kji} ; y_{l} = \sum_{k} W_{lk} s_{k} + b_{l}

A network consists of global average pooling of a feature map with two channels of 3 by 3 pixels and a dense layer
with four units.
    => s_{k} = \frac{1}{9} \sum_{j,i} x_{kji} ; y_{l} = \sum_{k} W_{lk} s_{k} + b_{l}

A one-dimensional convolution layer with a kernel of length 3, stride 2 and a bias is applied to a signal of 9
samples.
    => y_{i} = \sum_{p=0}^{2} w_{p} x_{2i + p} + b

A one-dimensional convolution layer has a single filter of length 2, dilation 3 and no bias. It is applied to a
sequence of 8 numbers.
    => y_{i} = \sum_{p=0}^{1} w_{p} x_{i + 3p}

A $5\times 5$ image $X$ is convolved with a $3\times 3$ kernel $K$, a scalar bias $b$ is added, and the result is
passed through a ReLU.
    => z_{ij} = \sum_{p=0}^{2} \sum_{q=0}^{2} K_{pq} X_{i + p,j + q} + b ; y_{il} = \max(0, z_{il})

A one-dimensional convolution layer with a kernel of length 3, padding of 1 and no bias is applied to a signal of 6
samples. The kernel is not flipped.
    => y_{i} = \sum_{p : 0 \le i + p - 1 < 6} w_{p} x_{i + p - 1}

A batch of feature vectors, stored as the rows of a matrix, is passed through a dense layer with three units and a
sigmoid.
    => s_{nj} = \sum_{k} W_{jk} x_{nk} + b_{j} ; y_{nj} = \frac{1}{1 + e^{-s_{nj}}}

The input $x$ is sent through two affine maps, $a=Wx+b$ and $g=Vx+c$. The output is the elementwise product of $a$
and the sigmoid of $g$.
    => a=Wx+b ; g=Vx+c ; h_{k} = \frac{1}{1 + e^{-g_{k}}} ; y_{j} = a_{j} h_{j}

The input is sent through a dense layer and a softmax, giving the probabilities $p$. The loss is the negative
log-likelihood of the correct class.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; p_{j} = \frac{e^{s_{j}}}{\sum_{i} e^{s_{i}}} ; L = -\sum_{j} t_{j}
    \log(p_{j})

A single unit with weights $w$ and bias $b$ is followed by a sigmoid.
    => s = \sum_{k} w_{k} x_{k} + b ; y = \frac{1}{1 + e^{-s}}

A dense layer with three units is followed by a softplus. The outputs are compared with the targets by the absolute
error.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \log(1 + e^{s_{j}}) ; L = \sum_{j} |h_{j} - t_{j}|

A linear classifier with a weight vector and a bias is trained on a minibatch of four examples with two features
each and labels plus or minus one. The objective is the average hinge loss over the minibatch.
    => s_{n} = \sum_{k} w_{k} x_{nk} + b ; L = \frac{1}{4} \sum_{n} \max(0, 1 - t_{n} s_{n})

An ELU is applied to each component of the input $x$.
    => y_{k} = \begin{cases} x_{k} & \text{if } x_{k} > 0 \\ \alpha (e^{x_{k}} - 1) & \text{otherwise} \end{cases}

A dense layer with a softmax activation has four inputs and three units.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \frac{e^{s_{j}}}{\sum_{i} e^{s_{i}}}

Two-layer net: $h=\tanh(W_1x+b_1)$ and $z=W_2h+b_2$. Then softmax and cross-entropy with a one-hot label $y$.
    => h=\tanh(W_1x+b_1) ; z=W_2h+b_2 ; p_{k} = \frac{e^{z_{k}}}{\sum_{j} e^{z_{j}}} ; L = -\sum_{k} y_{k}
    \log(p_{k})

A linear layer with three units is applied to the input $x$. There is no bias.
    => y_{j} = \sum_{k} W_{jk} x_{k}

The transfer function $f(a)=a^3$ is applied to the input $x$.
    => y_{k} = f(x_{k})

Linear regression with a bias is trained with the mean squared error over a batch of $N$ samples.
    => s_{n} = \sum_{k} w_{k} x_{nk} + b ; L = \frac{1}{N} \sum_{n} (s_{n} - t_{n})^2

A logistic regression classifier with a bias is trained on a batch of $N$ feature vectors by minimising the average
binary cross-entropy plus a weight-decay term, equal to half the regularisation coefficient $\lambda$ times the
squared norm of the weights.
    => s_{n} = \sum_{k} w_{k} x_{nk} + b ; h_{n} = \frac{1}{1 + e^{-s_{n}}} ; L = -\frac{1}{N} \sum_{n} (t_{n}
    \log(h_{n}) + (1 - t_{n}) \log(1 - h_{n})) + \frac{1}{2} \lambda \sum_{k} w_{k}^2

A multilayer perceptron for regression has three inputs, one hidden layer with four units whose transfer function is
the hyperbolic tangent, and two linear output units. Both layers have biases. The loss is half the squared Euclidean
distance between output and target.
    => s_{j} = \sum_{k} W_{1,jk} x_{k} + b_{1,j} ; h_{j} = \tanh(s_{j}) ; a_{i} = \sum_{j} W_{2,ij} h_{j} + b_{2,i}
    ; L = \frac{1}{2} \sum_{i} (a_{i} - t_{i})^2

The inner product of $u$ and $v$ is put through a sigmoid.
    => s = \sum_{k} u_{k} v_{k} ; y = \frac{1}{1 + e^{-s}}

A layer of four ReLU units takes a vector of five pressures as its input. Every unit has a bias.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \max(0, s_{j})

A network for regression has two inputs, a hidden layer of four neurons with hyperbolic tangent and a single linear
output neuron; all neurons have biases. The loss is one half of the squared difference between the output and the
target.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \tanh(s_{j}) ; a = \sum_{j} w_{j} h_{j} + c ; L = \frac{1}{2}
    (a - t)^2

A fully connected layer with three units receives a measurement vector with five components. The weighted sums, with a
bias in every unit, go through a logistic sigmoid.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \frac{1}{1 + e^{-s_{j}}}

A single neuron with bias and sigmoidal activation is trained as a two-class classifier with the binary cross-entropy
error.
    => s = \sum_{k} w_{k} x_{k} + b ; h = \frac{1}{1 + e^{-s}} ; L = -(t \log(h) + (1 - t) \log(1 - h))

Logistic regression on a batch of six patients with three measurements each, with a bias, is trained with the binary
cross-entropy averaged over the batch. Labels are 0 (healthy) or 1 (ill).
    => s_{n} = \sum_{k} w_{k} x_{nk} + b ; h_{n} = \frac{1}{1 + e^{-s_{n}}} ; L = -\frac{1}{6} \sum_{n} (t_{n}
    \log(h_{n}) + (1 - t_{n}) \log(1 - h_{n}))

A minibatch of five samples, each with three features and stored as a row, is processed by a dense layer with two tanh
units (weights and biases). The training criterion is the sum of the squared differences between outputs and targets,
divided by the number of samples in the minibatch.
    => s_{nj} = \sum_{k} W_{jk} x_{nk} + b_{j} ; h_{nj} = \tanh(s_{nj}) ; L = \frac{1}{5} \sum_{n,j} (h_{nj} -
    t_{nj})^2

A linear model without bias predicts a real number for every row of a design matrix. The objective is the mean squared
error over the samples plus a penalty equal to a fixed coefficient times the sum of squares of the weights.
    => s_{n} = \sum_{k} w_{k} x_{nk} ; L = \frac{1}{N} \sum_{n} (s_{n} - t_{n})^2 + \lambda \sum_{k} w_{k}^2

Consider a layer joining a linear neuron with four inputs, the logistic sigmoid and the binary cross-entropy loss, the
label being zero or one.
    => s = \sum_{k} w_{k} x_{k} + b ; h = \frac{1}{1 + e^{-s}} ; L = -(t \log(h) + (1 - t) \log(1 - h))

We join a linear layer and a ReLU layer in one module with $n$ inputs and $m$ outputs.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \max(0, s_{j})

A residual block consists of a fully connected layer with the hyperbolic tangent as activation; the input of the block
is added to the result. The block has four inputs and four outputs.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \tanh(s_{j}) ; y_{k} = x_{k} + h_{k}

In a residual block the input $u$ passes through a fully connected layer (weights $A$, bias $a$), softplus and another
fully connected layer (weights $B$, bias $c$). The input of the block is added to the result.
    => s_{j} = \sum_{k} A_{jk} u_{k} + a_{j} ; h_{j} = \log(1 + e^{s_{j}}) ; z_{i} = \sum_{j} B_{ij} h_{j} + c_{i} ;
    y_{k} = u_{k} + z_{k}

The net inputs $a = Wx + b$ of a dense layer are put componentwise through a tanh, and the resulting outputs $y$ are
compared with the references $r$ using half of the sum of squared errors, $E$.
    => a = Wx + b ; y_{k} = \tanh(a_{k}) ; E = \frac{1}{2} \sum_{k} (y_{k} - r_{k})^2

A dense layer with three units is followed by a tanh. The output is multiplied elementwise by the vector $g$.
    => s_{i} = \sum_{k} W_{ik} x_{k} + b_{i} ; h_{i} = \tanh(s_{i}) ; y_{i} = h_{i} g_{i}

In a highway layer, the transform gate $t$ is the output of a dense layer (weights $U$, bias $c$) with logistic
activation, and the candidate $q$ is the output of another dense layer (weights $V$, bias $d$) with ReLU activation.
Both of them receive the same input $x$. The output of the layer is $y = t\odot q + (1-t)\odot x$.
    => y = t\odot q + (1-t)\odot x ; s_{j} = \sum_{k} U_{jk} x_{k} + c_{j} ; t_{j} = \frac{1}{1 + e^{-s_{j}}} ; a_{i}
    = \sum_{k} V_{ik} x_{k} + d_{i} ; q_{i} = \max(0, a_{i})

Your colleague trains a small network to recognise three species of iris. It has four inputs, one hidden layer with
five tanh units and an output layer with three units and softmax. Both layers have biases. The loss is the
cross-entropy with a one-hot target.
    => s_{j} = \sum_{k} W_{1,jk} x_{k} + b_{1,j} ; h_{j} = \tanh(s_{j}) ; a_{i} = \sum_{j} W_{2,ij} h_{j} + b_{2,i} ;
    p_{i} = \frac{e^{a_{i}}}{\sum_{l} e^{a_{l}}} ; L = -\sum_{i} t_{i} \log(p_{i})

Consider the following detector of leaks in a pipeline. A vector of four pressures is the input of a hidden layer with
three hyperbolic tangent neurons. A single output neuron with a sigmoid gives the probability of a leak, and the
network is trained with binary cross-entropy on one sample. All neurons have biases.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; h_{j} = \tanh(s_{j}) ; a = \sum_{j} w_{j} h_{j} + c ; g = \frac{1}{1 +
    e^{-a}} ; L = -(t \log(g) + (1 - t) \log(1 - g))

Three classes of ECG beats are recognised by a single linear layer with bias, applied to a vector of four features;
its outputs are turned into probabilities by a softmax, and the loss is the cross-entropy against the one-hot label.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; p_{j} = \frac{e^{s_{j}}}{\sum_{i} e^{s_{i}}} ; L = -\sum_{j} t_{j}
    \log(p_{j})

In a recurrent cell the old state $h$ and a candidate $c$ are mixed, $h' = (1-z)\odot h + z\odot c$. The gate $z$ is
the output of a layer of $n$ sigmoid neurons with the weights $U$ and biases $d$ whose input is the old state $h$.
    => h' = (1-z)\odot h + z\odot c ; s_{j} = \sum_{k} U_{jk} h_{k} + d_{j} ; z_{j} = \frac{1}{1 + e^{-s_{j}}}

A highway layer computes a transform gate $t=\sigma(W_T x+b_T)$ and a candidate, which is a dense layer with weights
$V$ and bias $d$ followed by a hyperbolic tangent. The output $y$ mixes the candidate (weighted by $t$) with the
unchanged input (weighted by $1-t$), elementwise.
    => t=\sigma(W_T x+b_T) ; s_{j} = \sum_{k} V_{jk} x_{k} + d_{j} ; h_{j} = \tanh(s_{j}) ; g_{i} = 1 - t_{i} ; a_{i}
    = t_{i} h_{i} ; u_{i} = g_{i} x_{i} ; y_{i} = a_{i} + u_{i}

The last feature tensor of a small convolutional network has two channels of three by four pixels. Global average
pooling reduces every channel to one number, and a linear classifier with bias followed by a softmax turns these
numbers into probabilities for three classes. The loss is the cross-entropy with a one-hot target.
    => s_{k} = \frac{1}{12} \sum_{j,i} x_{kji} ; a_{l} = \sum_{k} W_{lk} s_{k} + b_{l} ; p_{l} =
    \frac{e^{a_{l}}}{\sum_{m} e^{a_{m}}} ; L = -\sum_{l} t_{l} \log(p_{l})

At the end of a convolutional network there are three feature maps of size two by four. Global average pooling reduces
each map to one number, and a fully connected layer with bias and without activation converts the three numbers to two
outputs.
    => s_{k} = \frac{1}{8} \sum_{j,i} x_{kji} ; y_{l} = \sum_{k} W_{lk} s_{k} + b_{l}

In an activation layer every output is the corresponding input divided by one plus the absolute value of that input.
    => h_{k} = |x_{k}| ; y_{k} = 1 + h_{k} ; z_{k} = \frac{x_{k}}{y_{k}}

Inverted dropout with a fixed binary mask $m\in\{0,1\}^D$ and keep probability $q$ is applied to an input $x$: entries
with mask zero are removed, the others are divided by $q$. The thinned vector $v$ then enters the linear layer
$y=Wv+b$.
    => y=Wv+b ; h_{k} = x_{k} m_{k} ; v_{k} = \frac{h_{k}}{q}

The new state $h$ is the elementwise convex combination in which $z$ multiplies the candidate $c$ and $1-z$ multiplies
the old state $u$.
    => y_{k} = 1 - z_{k} ; g_{k} = z_{k} c_{k} ; a_{k} = y_{k} u_{k} ; h_{k} = g_{k} + a_{k}

A linear neuron $y_n = \sum_i w_i x_{ni} + b$ is trained on $N$ patterns. The cost $J$ is the mean squared error with
respect to the desired outputs $d_n$, plus $\lambda$ times the sum of the absolute values of the weights (the bias is
not penalised).
    => y_n = \sum_i w_i x_{ni} + b ; J = \frac{1}{N} \sum_{k} (y_{k} - d_{k})^2 + \lambda \sum_{j} |w_{j}|

The net inputs $a$, $b$ and $c$ pass through the logistic sigmoid to give $f$, $g$ and $h$ respectively. The output is
$y = f \odot g + h$.
    => y = f \odot g + h ; f_{k} = \frac{1}{1 + e^{-a_{k}}} ; g_{j} = \frac{1}{1 + e^{-b_{j}}} ; h_{i} = \frac{1}{1 +
    e^{-c_{i}}}

The hidden state is $s = \tanh(Ux + d)$. A linear output layer with weights $V$ and no bias gives the predictions $y$.
The loss is half the summed squared error between $y$ and the targets $t$.
    => s = \tanh(Ux + d) ; y_{j} = \sum_{k} V_{jk} s_{k} ; L = \frac{1}{2} \sum_{j} (y_{j} - t_{j})^2

The output of a dense layer with weights $W$ and biases $b$ is put componentwise through a tanh. Denote the input of
the layer by $x$ and its output by $y$.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; y_{j} = \tanh(s_{j})

A dense layer with three units and a bias is followed by a softmax. The loss is the cross-entropy with a one-hot
target, for one flower.
    => s_{j} = \sum_{k} W_{jk} x_{k} + b_{j} ; p_{j} = \frac{e^{s_{j}}}{\sum_{i} e^{s_{i}}} ; L = -\sum_{j} t_{j}
    \log(p_{j})

A batch of samples is passed through a dense layer with three units. The loss is the sum of squared errors between
outputs and targets, divided by the batch size $B$.
    => s_{nj} = \sum_{k} W_{jk} x_{nk} + b_{j} ; L = \frac{1}{B} \sum_{n,j} (s_{nj} - t_{nj})^2

"""

OPEN = r"""
The product of $u$ and $v$ plus $w$ is put through a tanh.

Twice $u$ plus $v$ is put through a tanh.

A dense layer is followed by a tanh, and the output is then squared twice.

Two dense layers with shared weights are followed by a tanh.

A dense layer with three units, except the bias, is followed by a ReLU.

A dense layer is followed by a tanh. The tanh has a gain of two.

A dense layer with four units and a tanh is applied twice.

A dense layer has three units. The weights are symmetric.

A dense layer with a tanh activation is applied to the input with the weights normalised.

The input is passed through a dense layer with three units whose bias is frozen at one.

The input is passed through a dense layer and a sigmoid with temperature two.

A dense layer with three units is followed by a sigmoid that is scaled by two.

A dense layer with three units is followed by a frobulator.

A fully connected layer with two units and a sparse weight matrix is followed by a sigmoid.

Two dense layers are followed by a softmax.

A dense layer with three units is followed by a ReLU and another layer.

A dense layer with three units is followed by a tanh. The output is multiplied by the mask.

A dense layer with inverted dropout is followed by a tanh.

A dense layer with three inputs and two units is followed by a sigmoid. The loss is the mean squared error.

A dense layer with three units is followed by a tanh. The loss is the cross-entropy with the target.

A dense layer with three units is followed by a softmax. The loss is the weighted cross-entropy with the target.

A dense layer with three units is followed by a softmax. The loss is the cross-entropy with label smoothing.

A dense layer with three units is followed by a softmax with temperature $\tau$.

A logistic regression classifier is trained with the focal loss.

A linear model with four inputs is trained with the squared error on a batch of ten samples.

A classifier has three inputs and a hidden layer of four units.

A dense layer with three units is followed by batch normalisation and a ReLU.

A dense layer with tied weights is followed by a tanh.

A dense layer with three units and a tanh activation uses the sigmoid as activation function.

A dense layer has three units and four units.

A residual block adds its input to the output of a dense layer with dropout.

A dense layer whose weights are clipped to one is followed by a tanh.

A leaky ReLU with a slope that depends on the unit is applied to the input $x$.

A dense layer without bias has a bias $b$.

The input $x$ is multiplied elementwise by the transpose of $W$.

A dense layer with three units is followed by a sigmoid. Noise is added to the output.

A dense layer with three units is followed by a ReLU. The gradient is stopped there.

A hidden layer of four tanh units is followed by a linear output unit. The hidden layer has no bias, the output unit
has one.

A dense layer with three units is followed by a tanh. The output is the maximum of both.

A dense layer is followed by a tanh. The result is added to the input and halved.

A neuron with three inputs uses the square of its weights.

A linear model with a bias is trained with the logistic loss.

The input $x$ is put through a tanh. The image is cropped.

A one-dimensional convolution layer with a kernel of length 3 is applied to a signal of 9 samples.

A one-dimensional convolution layer with a kernel of length 3, a bias and circular padding is applied to a signal of
9 samples.

A two-layer network has three inputs and a tanh layer.

A dense layer with three units is followed by a sigmoid. It is trained with the cross-entropy loss on a batch of
samples.

The input $x$ is multiplied elementwise by $x$. The result is divided by the sum.

A one-dimensional convolution layer with a kernel of length 3 and a bias is applied to a signal of 9 samples. The
kernel is flipped.

A dense layer with three units is followed by a ReLU, which is clipped at six.

A logistic neuron has three inputs. The first input is fixed to one.

Biases are used in the output layer. A network has two inputs, one hidden layer of three tanh units and a linear
output unit.

A network has two inputs, one hidden layer of three tanh units and a linear output unit. All hidden neurons have
biases.

A dense layer with three units receives a permuted vector with five components.

A dense layer with three units is followed by a ReLU. The output is multiplied by a calibration vector.

A dense layer with three units receives a measurement vector with five components, and a second one with two.

The loss is the mean squared error, divided by the batch size. A batch of five samples is processed by a dense layer
with two units.

A single neuron with bias and sigmoidal activation is trained as an ensemble with the binary cross-entropy error.

A dense layer with three units is followed by a ReLU. The input is added to it twice.

In a bidirectional layer the input is passed through a dense layer with a tanh.

Two dense layers receive the same input. The output is their product.

We join a linear layer and a ReLU layer in two modules with $n$ inputs.

A dense layer with three units is followed by a tanh, and the result is multiplied by its own transpose.

A network: linear layer, PReLU, squared error with targets $t_k$.

A dense layer with three units is followed by a softmax, which reduces each map to one number.

A dense layer with three units is followed by a ReLU. Your colleague doubles the output.

A Hopfield network is trained by your colleague. It has three inputs and two sigmoid units.

Three classes of beats are recognised by two linear layers.

The net inputs $a$ and $b$ pass through the logistic sigmoid to give $f$, $g$ and $h$ respectively. The output is $y =
f \odot g$.

Inverted dropout with a fixed binary mask $m\in\{0,1\}^D$ and keep probability $q$ is applied to an input $x$: entries
with mask zero are removed, the others are divided by $p$.

The new state $h$ is the elementwise convex combination in which $z$ multiplies the candidate $c$ and $1+z$ multiplies
the old state $u$.

A dense layer with three units reduces each map to one number.

A linear neuron $y_n = \sum_i w_i x_{ni} + b$ is trained on $N$ patterns. The cost $J$ is the mean squared error with
respect to the desired outputs $d_n$, plus $\lambda$ times the sum of the cubed absolute values of the weights.

In a recurrent cell the old state $h$ and a candidate $c$ are mixed twice, $h' = (1-z)\odot h + z\odot c$.

An input gate and an output gate are vectors. The state $c$ is the tanh of $u$, multiplied elementwise by the forget
gate.

The output layer is linear with tied weights. A hidden layer with three tanh units comes first.

A dense layer with three units is followed by a tanh. Denote the input of the layer by $x$ and its output by $x$.

A batch of ten samples is passed through a dense layer with three units. The loss is the sum of squared errors between
outputs and targets, divided by the batch size $B$.

A dense layer with three units is followed by a softmax. The loss is the cross-entropy with a one-hot target, for the
second flower.

"""


def _told(text: str, asked: str = "Derive the backward message.") -> Statement:
    card = Card.parse(f"---\nid: a\n---\n\n# Question\n{text} {asked}\n")
    prose = prose_of(card.question, card.question_line, rewritten(question_formulas(card), LETTERS))
    return told_statement(prose)[1]


def _joined(text: str) -> str:
    return " ".join(text.split())


def _rows() -> list[tuple[str, str]]:
    blocks = [_joined(block).partition(" => ") for block in READ.strip().split("\n\n")]
    return [(text, formulas) for text, _, formulas in blocks]


@pytest.mark.parametrize(("text", "formulas"), _rows(), ids=lambda value: value[:60])
def test_a_description_makes_formulas(text: str, formulas: str) -> None:
    assert " ; ".join(_told(text).forward or ()) == formulas


@pytest.mark.parametrize("text", [_joined(block) for block in OPEN.strip().split("\n\n")], ids=lambda value: value[:60])
def test_what_changes_the_layer_besides_is_not_read(text: str) -> None:
    with pytest.raises(Unread):
        _told(text)


def test_sizes_that_are_said_are_shapes() -> None:
    found = _told("A fully connected layer with four inputs and three units is followed by a sigmoid.")
    assert set(found.shapes or ()) == {r"x \in \mathbb{R}^{4}", r"W \in \mathbb{R}^{3 \times 4}"}


def test_a_batch_has_an_axis_of_samples() -> None:
    found = _told("Softmax regression with three classes is trained on a batch of $B$ samples. The loss is the "
                  "cross-entropy, averaged over the batch.")
    assert r"x \in \mathbb{R}^{B \times D}" in (found.shapes or ())
    assert found.constants == ("t",)


def test_letters_of_the_request_are_those_of_the_weights() -> None:
    found = _told("A dense layer with three units is followed by a tanh.",
                  r"Derive $\partial L/\partial U$ and $\partial L/\partial d$.")
    assert (found.forward or ())[0] == r"s_{j} = \sum_{k} U_{jk} x_{k} + d_{j}"
    assert found.parameters == ("U", "d")


def test_the_upstream_gradient_names_the_output() -> None:
    found = _told("The input $x$ is put through a softplus.", r"Given $\partial L/\partial v$, derive "
                  r"$\partial L/\partial x$.")
    assert found.output == "v"
    with pytest.raises(Unread):
        _told("The input $x$ is put through a softplus, giving $v$.", r"Given $\partial L/\partial w$, derive "
              r"$\partial L/\partial x$.")


def test_the_declared_shape_turns_the_weights() -> None:
    found = _told(r"A dense layer with weights $W\in\mathbb R^{4\times 3}$, four inputs and three units is followed by a "
                  "tanh.")
    assert (found.forward or ())[0] == r"s_{j} = \sum_{k} W_{kj} x_{k}"


def test_each_name_of_rows_stands_in_one_file() -> None:
    places: dict[str, set[str]] = {}
    for file in (Path(grammar.__file__).parent / "rows").glob("*.rows"):
        for name in re.findall(r"(?m)^(\w+):", file.read_text(encoding="utf-8")):
            places.setdefault(name, set()).add(file.name)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_labels_that_a_later_sentence_names_are_those_of_the_loss() -> None:
    found = _told("The scores $s$ go into a softmax, and the loss $L$ is the cross-entropy with the correct labels. The "
                  "labels are given as a one-hot vector $y$.", r"Derive $\partial L/\partial s$.")
    assert "y_" in (found.forward or ())[-1] and "x_" not in (found.forward or ())[-1]
