"""A layer told by phrases is read wherever they stand; a sentence that makes another layer of it is never passed over."""

from __future__ import annotations

import re

import numpy as np
import pytest

import derive
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of
from tests.bank import card_of

CARDS = {
    "max": "In a detector for rust, a single-channel picture of $5\\times 5$ pixels is reduced by max pooling with $3\\times 3$ "
           "windows and stride 2 in both directions, without padding. Derive the message which this layer sends back to "
           "the image for a given gradient with respect to its output.",
    "avg": "A series of length eight is padded with one zero at each end and then subjected to one-dimensional average "
           "pooling with windows of length four and stride two. Every window sum is divided by four, including those "
           "sums in which a padded zero takes part. Derive the gradient with respect to the series.",
    "ring": "A feature map $x$ with 4 rows and 4 columns is smoothed by an average pooling layer that uses $3\\times 3$ "
            "windows, stride 1, and a border of zeros of width one around the map. The zeros of the border count as "
            "ordinary values. Derive the gradient that this layer passes back to its input.",
    "instance": "For the restoration of paintings, an instance normalisation layer without trainable parameters is applied "
                "to an image $x$. In every channel separately, the mean over all pixels is subtracted and the result is "
                "divided by the square root of the (biased) variance over all pixels plus $10^{-5}$. Derive the backward "
                "pass of this layer.",
    "layer": "Inside of a chess engine, each vector is processed by layer normalisation with a gain $g$ and an offset $o$, "
             "where $10^{-5}$ is added to the variance under the root. Derive the backward pass: message to the vector, "
             "gradient of gain, gradient of offset.",
    "conv": "A single-channel sensor signal $x$ goes through a 1-D convolution layer of a neural network with a kernel $w$ of "
            "three taps, one bias $b$, stride one, and one zero padded on each end. Derive what the layer sends backward: "
            "to the signal, to the kernel, and to the bias.",
    "conv2": "An image with two channels enters a two-dimensional convolutional layer with three output channels, kernels "
             "of size $3\\times3$, unit stride, zero padding of one pixel on all four sides, and one bias per output "
             "channel. Write $x$ for the image, $\\theta$ for the kernels (axes: output channel, input channel, row, column) "
             "and $\\beta$ for the biases. Derive the gradients of the loss with respect to the image, the kernels and the "
             "biases.",
    "softmax": "The inputs are divided by a fixed positive temperature $\\tau$ before the usual softmax is taken over them. "
               "State the forward message of this layer and then derive its backward message.",
    "leaky": "Consider a fully connected layer with input vector $x$, weight matrix $W$ and bias vector $b$, followed by leaky "
             "rectified linear units whose slope is 0.1 for negative arguments. Give the forward message, the backward "
             "message and the parameter message.",
    "even": "A grey-scale picture $x$ with an even number of rows and columns passes an average pooling layer with windows of "
            "two by two pixels and a stride of two. There is no padding. State the forward message and the backward message.",
    "plain": "Consider a fully connected layer with weight matrix $W$, without bias and without "
             "activation function. State the forward message, the backward message and the parameter message of this layer for a "
             "single input vector $x$.",
}
POOLS, NORMS = ("max", "avg", "ring"), ("instance", "layer")
MORE = """
Afterwards everything is multiplied by a half.|The output is scaled by its largest entry.|The result is then squared.
It is applied twice.|The layer is then applied once more.|Its output is added to its input.|Each output is negated.
The outputs are sorted.|Finally, the mean of the output is subtracted.|The output is then transposed.
The gradient is stopped behind it.|Half of the entries are masked.|Every second output is discarded.
Only every second output is kept.|The first row is left out.|The last output is dropped.|The output is clipped at six.
Behind it stands a sigmoid.|A ReLU follows.|Before it, the input is mirrored.|The input is first reversed.
The input is first rotated.|Noise is added to the input.|In training the entries are dropped with probability 0.5.
Each entry is weighted by its position.|The border is treated differently.|At the border the values wrap around.
The array is periodic.|The output is normalised to length one.|It is scaled to unit length afterwards.
All this happens in the logarithm.|The roles of rows and columns are swapped.|The output is rounded.
The result is divided by the number of samples.|The outputs are summed up.|The whole is raised to the power three.
The absolute values of the input are used.|Negative inputs are set to zero first.|The layer is skipped for odd rows.
The output equals its transpose.|The second channel is ignored.|Channels are shuffled.|The largest output is removed.
The output is upsampled.|Then the process is repeated.|A skip connection leads around the layer.|Its input is halved.
Odd entries are exempt.|The upper half stays as it is.|The input diffuses beforehand.|We cube the output.
The layer acts in the Fourier domain.|Missing values are interpolated.|Entries above three saturate.
The exponential of the result is handed on.|Let the output be its square.|One obtains the output by cubing the result.
Edge entries take the value of their neighbours.|The constant is learned.|In the end one takes logarithms.
The input is centred beforehand.|Everything happens modulo seven.|It ignores the sign of its input.|Its result enters the same layer again.
What comes out is tripled.|The operation runs backwards.|Values near the edge are mirrored.|In odd positions the sign changes.
The array is treated as a ring.|The slope is learned.|The input comes from a softmax.|The layer acts on the differences of neighbours.
""".replace("\n", "|").strip("|").split("|")
OF_WINDOWS = """
The windows begin at the second column.|The first window begins at entry two.|They wrap around.|The windows are shifted by one.
Only every second window is used.|The last window is skipped.|Windows at the edge are left out.|The windows are circular.
Each window is weighted by a Gaussian.|The centre of each window is left out.|The corners of the windows do not count.
Only the diagonal of each window counts.|The zeros do not count.|Padded zeros are not counted.|The padding is reflected.
The border repeats the outermost values.|The windows are two rows apart.|The windows are dilated.|Within each window every other
entry is used.|The second largest entry is taken.|Each window moves diagonally.|Windows reach beyond the border.
""".replace("entry is used.", "entry is used.").replace("\n", "|").strip("|").split("|")
FUSED = """
, which is then halved|, followed by a scaling by three|, but only in the first channel|, each entry times its index
 in the complex domain| over random positions| under periodic boundary conditions| from right to left| at half resolution
 after whitening| followed by a residual connection| with shared entries|, beginning at the second entry|, damped at the edges
, save for the border| and squared|, then transposed|, modulo three| in the log domain|, up to a factor of two| plus a constant
 scaled by a constant| with the sign flipped|, in alternating order|, each time with other values| for odd rows| of rank one
 and their mirror images| of a magnified image|, whereby values below zero vanish|, diluted by a third|, whose sign is lost
 with sparse values| and a random shift| as long as the input is positive| unless the input is negative| for the most part
 with the exception of the border| amid noise| sparing the corners| barring the last row| bar the first entry| squared entrywise
 of the gradient| of the derivative image| of an image and its mirror image| and the layer is applied to the output
 with such a map in both| of the difference signal| of each pair|, the input being reversed| and of its inverse
""".replace("\n", "|").strip("|").split("|")
CHANGED = (
    ("max", "max pooling", "stochastic max pooling"), ("max", "max pooling", "fractional max pooling"),
    ("max", "max pooling", "median-max pooling"), ("max", "max pooling", "a max pooling or average pooling"),
    ("max", "windows and", "windows, from the second row on, and"), ("max", "windows and", "hexagonal windows and"),
    ("max", "windows and", "windows without their centre and"), ("max", "windows and", "windows except the last and"),
    ("max", "without padding", "with circular padding"), ("max", "without padding", "with wraparound"),
    ("max", "without padding", "with one row of padding at the bottom"), ("max", "without padding", "with mirrored edges"),
    ("max", "stride 2 in both directions", "stride 2 along the rows"), ("max", "stride 2 in both directions", "random stride 2"),
    ("max", "stride 2", "stride 2, beginning at the second pixel,"), ("max", "reduced by", "negated and reduced by"),
    ("max", "of $5\\times 5$ pixels", "of $5\\times 5$ inverted pixels"), ("max", "pixels is", "pixels minus its mean is"),
    ("max", "max pooling", "max pooling of the absolute values"), ("max", "max pooling", "max pooling of the logarithms"),
    ("max", "max pooling", "max pooling with a mask"), ("max", "max pooling", "max pooling and a ReLU"),
    ("max", "windows and", "windows, the first three of them, and"), ("max", "its output", "the square of its output"),
    ("max", "$3\\times 3$ windows", "$3\\times 3$ windows of every second pixel"),
    ("max", "with respect to its output", "with respect to its output. Derive the Hessian too"),
    ("avg", "divided by four", "divided by three"), ("avg", "divided by four", "multiplied by four"),
    ("avg", "including those", "excluding those"), ("avg", "average pooling", "weighted average pooling"),
    ("avg", "average pooling", "geometric average pooling"), ("avg", "one zero at each end", "one zero at the left end"),
    ("avg", "one zero at each end", "its last value at each end"), ("avg", "one zero at each end", "a one at each end"),
    ("avg", "Every window sum is divided by four", "Every window sum but the first is divided by four"),
    ("avg", "including those sums in which a padded zero takes part", "unless a padded zero takes part"),
    ("avg", "Every window sum is divided by four, including those sums in which a padded zero takes part. ", ""),
    ("avg", "with respect to the series", "with respect to the window length"),
    ("ring", "The zeros of the border count as ordinary values. ", ""), ("ring", "count as", "do not count as"),
    ("ring", "a border of zeros", "a border of ones"), ("ring", "a border of zeros", "a border of copies"),
    ("ring", "of width one", "of width one half"), ("ring", "smoothed by", "smoothed twice by"),
    ("instance", "(biased) variance", "(unbiased) variance"), ("instance", "(biased) variance", "variance of the batch"),
    ("instance", "the mean over all pixels", "the median over all pixels"), ("instance", "plus", "minus"),
    ("instance", "the mean over all pixels", "half the mean over all pixels"),
    ("instance", "In every channel separately", "Over all channels together"),
    ("instance", "the mean over all pixels", "the mean over all channels"),
    ("instance", "the square root of the (biased) variance over all pixels plus $10^{-5}$", "the range"),
    ("instance", "the square root of the (biased)", "the"), ("instance", "is subtracted", "is added"),
    ("instance", "the mean over all pixels is subtracted and the result", "the image"),
    ("instance", "without trainable parameters", "with trainable gains"), ("instance", "without trainable parameters ", ""),
    ("instance", "over all pixels plus", "over the first three pixels plus"),
    ("instance", " plus $10^{-5}$", ""), ("instance", "without trainable", "with two trainable"),
    ("layer", "under the root", "outside the root"), ("layer", "is added to the variance", "is subtracted from the variance"),
    ("layer", "with a gain $g$", "with a gain $1+g$"), ("layer", "variance under", "standard deviation under"),
    ("layer", "an offset $o$", "an offset $o$ in front of it"), ("layer", "layer normalisation", "unbiased layer normalisation"),
    ("layer", "each vector", "each column of the batch"), ("layer", "with a gain", "with running statistics and a gain"),
    ("conv", "a kernel", "a reversed kernel"),
    ("conv", "one zero padded on each end", "circular padding on each end"), ("conv", "one bias", "no bias"),
    ("conv", "three taps", "three shared taps"), ("conv", "convolution layer", "transposed convolution layer"),
    ("conv", "stride one", "stride one, starting at the second sample"), ("conv", "three taps", "three taps, the middle one zero"),
    ("conv", "convolution layer", "convolution layer, with the kernel flipped,"), ("conv", "three taps", "three positive taps"),
    ("conv2", "a two-dimensional", "a depthwise two-dimensional"), ("conv2", "one bias", "the same bias"),
    ("conv2", "output channels", "output channels in two groups"), ("conv2", "unit stride", "dilation"),
    ("conv2", "on all four sides", "on two sides"), ("conv2", "input channel, row", "row, input channel"),
    ("softmax", "divided by", "multiplied by"), ("softmax", "before", "after"), ("softmax", "softmax", "log-softmax"),
    ("softmax", "The inputs", "The squared inputs"), ("softmax", "taken over them", "taken over the first two of them"),
    ("softmax", "usual softmax", "masked softmax"), ("softmax", "of this layer", "of this layer without the temperature"),
    ("leaky", "followed by", "preceded by"), ("leaky", "negative arguments", "positive arguments"),
    ("leaky", "bias vector $b$", "bias vector $b$ added afterwards"), ("leaky", "slope is", "slope at the origin is"),
    ("leaky", "leaky rectified", "noisy leaky rectified"), ("leaky", "weight matrix $W$", "symmetric weight matrix $W$"),
    ("leaky", "for negative arguments", "for arguments below one"), ("leaky", "weight matrix $W$", "transposed weight matrix $W$"),
    ("leaky", "units whose", "units in every second place whose"), ("leaky", "bias vector $b$", "bias vector $-b$"),
    ("even", "an even number", "an odd number"), ("even", "with an even number of rows and columns", "with a masked number of rows"),
    ("even", "average pooling", "weighted average pooling"), ("even", "There is no padding", "There is no padding at the left"),
    ("plain", "and without activation function", "and with an unknown activation function"), ("plain", "weight matrix", "inverse weight matrix"), ("plain", "without activation", "without noisy activation"),
)


def _module(question: str) -> Module | None:
    try:
        return module_of(card_of(question))
    except DeriveError:
        return None


def _read(question: str) -> derive.Solution | None:
    try:
        return derive.solve(card_of(question))
    except DeriveError:
        return None


def _told(key: str, said: str) -> str:
    """The card with one more sentence in front of what is asked."""
    question = CARDS[key]
    at = next(n for word in (" State", " Give", " Derive") if (n := question.find(word)) >= 0)
    return f"{question[:at]} {said}{question[at:]}"


@pytest.mark.parametrize("key", CARDS)
def test_read(key):
    assert _read(CARDS[key]) is not None


@pytest.mark.parametrize("key", CARDS)
def test_a_sentence_that_says_more(key):
    own = {"plain": ("A ReLU follows.", "The constant is learned.", "The slope is learned.")}.get(key, ())  # true, or read
    more = (*MORE, *(OF_WINDOWS if key not in (*NORMS, "softmax", "leaky", "plain") else ()))
    assert [said for said in more if said not in own and _module(_told(key, said)) is not None] == []


@pytest.mark.parametrize("key", CARDS)
def test_a_clause_that_says_more(key):
    question = CARDS[key]
    ends = [stop.start() for stop in re.finditer(r"\.(?= [A-Z])", question)]
    own = (" of the gradient", " of the derivative image") if key == "plain" else ()  # no bias of it
    assert [(at, said) for said in FUSED for at in ends if said not in own and _module(question[:at] + said + question[at:]) is not None] == []


def test_words_that_make_another_layer():
    read = []
    for key, old, new in CHANGED:
        assert old in CARDS[key]
        if _module(CARDS[key].replace(old, new, 1)) is not None:
            read.append((key, old, new))
    assert read == []


@pytest.mark.parametrize("key, given, value", [
    ("max", {"x": np.arange(25.0).reshape(5, 5)}, [[12, 14], [22, 24]]),
    ("avg", {"x": np.arange(1.0, 9)}, [1.5, 3.5, 5.5, 5.25]),
    ("conv", {"x": np.array([1.0, 2, 3]), "w": np.array([1.0, 10, 100]), "b": np.array(0.5)}, [210.5, 321.5, 32.5]),
    ("softmax", {"x": np.array([0.0, 2 * np.log(3)]), "tau": np.array(2.0)}, [0.25, 0.75]),
    ("leaky", {"x": np.array([1.0, -1]), "W": np.array([[1.0, 2], [2, 1]]), "b": np.array([0.0, 1])}, [-0.1, 2]),
    ("even", {"x": np.arange(8.0).reshape(2, 4)}, [[2.5, 4.5]]),
    ("plain", {"x": np.array([1.0, -1]), "W": np.array([[1.0, 2], [2, 0]])}, [-1, 2]),
])
def test_value(key, given, value):
    assert np.allclose(_read(CARDS[key]).forward(**given), value)


@pytest.mark.parametrize("key, over", [("instance", (1, 2)), ("layer", 0)])
def test_normalised(key, over):
    x = np.random.default_rng(0).normal(size=(3, 4, 4) if key == "instance" else 5)
    own = {} if key == "instance" else {"g": np.full(5, 2.0), "o": np.full(5, 1.0)}
    expected = (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + 1e-5)
    found = _read(CARDS[key]).forward(x=x, **own)
    assert np.allclose(found, expected if key == "instance" else 2 * expected + 1)


def test_the_jacobian_matrix_of_a_layer_without_parameters():
    module = _module("Derive the Jacobian matrix of the softmax function with input $z$ and output $p$.")
    assert module is not None and [*module.given] == ["z"] and module.output == "p"
