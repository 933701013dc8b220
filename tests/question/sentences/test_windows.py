"""Poolings and convolutions in words: the windows that they mean; what changes a window besides is not read."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.question import module_of
from derive.question.emitted.module import told_statement
from derive.question.emitted.statement import Emitted
from derive.question.told.telling import Unread
from derive.question.words.prose import prose_of
from derive.question.words.reading import question_formulas

# A description, and behind the arrow what becomes of a window: its size, stride, padding, dilation, the input's size.
READ = r"""
The layer averages over non-overlapping windows of four samples of a signal of length 12. => avg 4 stride 4 of 12
An image of size 6x6 is downsampled with 3x3 max pooling and stride 3. => max 3×3 stride 3×3 of 6×6
A pooling layer replaces each non-overlapping 2×2 block of a 4×6 image by its mean. => avg 2×2 stride 2×2 of 4×6
In a mean-pooling layer the input signal of length 10 is split into windows of length 2 without overlap; the mean of
every window is the output. => avg 2 stride 2 of 10
A 4 × 4 feature map is pooled with a 2 × 2 max pooling window (stride 2). => max 2×2 stride 2×2 of 4×4
Every output of a pooling layer is the maximum of a 2x2 block of the input image, the blocks do not overlap, and the
image has 4x6 pixels. => max 2×2 stride 2×2 of 4×6
Consider a layer that outputs the maximum of every three consecutive samples of a signal of length 9, moving by three
samples. => max 3 stride 3 of 9
A signal of length nine is divided into three windows of three samples; the layer keeps the largest value of each
window. => max 3 stride 3 of 9
A 3x3 kernel is convolved with a 6x6 image (no padding, stride 1), and a bias is added. => conv 3×3 of 6×6
A single-channel feature map of size 4 × 4 goes through a max pooling layer with a 2 × 2 window and stride 2 (see the
figure: four non-overlapping blocks, coloured red, green, blue and yellow; no padding). => max 2×2 stride 2×2 of 4×4
A min-pooling layer works on a sequence of eight values. Each output is the smallest of three inputs; the window is
dilated by a factor of two, i.e. between two inputs seen by the same output one value is skipped. The window is moved
by one position from output to output, no padding is used. => min 3 stride 1 dilation 2 of 8
A grey-scale picture of five by six pixels is filtered by a convolutional layer with one 3×3 kernel and one bias (stride
one, no padding; as usual in deep learning the kernel is not flipped). A ReLU follows. => conv 3×3 of 5×6
Max pooling 2x2 with stride 2 on a 4x4 feature map. => max 2×2 stride 2×2 of 4×4
A $4\times 6$ feature map is reduced by max pooling over non-overlapping $2\times2$ windows.
=> max 2×2 stride 2×2 of 4×6
A signal of length nine passes through a one-dimensional average-pooling layer with a window of three and a stride of
two; there is no padding. => avg 3 stride 2 of 9
A layer performs average pooling of a one-dimensional signal of length 9. The window covers three neighbouring values
and is shifted by two positions, no padding is used. => avg 3 stride 2 of 9
A pooling layer takes the minimum instead of the maximum. Its window has the size two by three (two rows, three
columns), it moves by one row in the vertical and by two columns in the horizontal direction, no padding. The input
image has four rows and seven columns. => min 2×3 stride 1×2 of 4×7
An image with four rows and six columns goes through an average pooling layer with a window of two by two pixels; the
window moves two pixels at a time, so that no pixel is used twice. => avg 2×2 stride 2×2 of 4×6
A layer of minimum pooling scans a sequence of eight samples with a window of length two; consecutive windows do not
overlap. => min 2 stride 2 of 8
A signal of eight samples is reduced by average pooling. The pooling window covers four samples and is moved two
samples at a time, so that neighbouring windows overlap by half. => avg 4 stride 2 of 8
Average pooling: a feature map with three rows and four columns is pooled by a $2\times 2$ window which moves one
pixel at a time in both directions, so that the windows overlap; nothing is padded. => avg 2×2 stride 1×1 of 3×4
A max pooling layer has a $3 \times 3$ window, stride 2 and padding 1 on all sides; padded positions never win. Its
input is one $5 \times 5$ feature map. => max 3×3 stride 2×2 padding 1,1×1,1 of 5×5
1D average pooling, window 3, stride 1, one zero padded on both sides (the zeros count in the average, so always
divide by 3). Input of length 6. => avg 3 stride 1 padding 1,1 of 6
A max-pooling layer divides the image $X\in\mathbb{R}^{4\times 6}$ into non-overlapping windows of $2\times 2$ pixels
and sends the largest value of each of them to the output. => max 2×2 stride 2×2 of 4×6
A min-pooling layer works on a sequence of eight values. Each output is the smallest of three inputs; the window is
dilated by a factor of two and is moved by one position. => min 3 stride 1 dilation 2 of 8
A one-dimensional max pooling layer slides a window of length three over a signal of seven samples. The stride is two.
Neighbouring windows share one sample. => max 3 stride 2 of 7
A 3x4 input (3 rows, 4 columns), min pooling with a 2x2 window that moves by one step in both directions. So the
windows overlap and the output is 2x3. => min 2×2 stride 1×1 of 3×4
A signal $x_0,\dots,x_8$ with nine samples enters a max pooling layer with window length 3 and stride 2.
=> max 3 stride 2 of 9
A one-dimensional convolutional layer (deep learning convention, i.e. the kernel is not flipped) has one input
channel, one output channel, a kernel of size three, stride one, no padding and a scalar bias. The input has length
seven. => conv 3 of 7
A causal one-dimensional convolution layer has a filter with three taps, dilation 2 and no bias. The input sequence
has 10 samples and it is padded with zeros on the left only, so that the output also has 10 samples.
=> conv 3 dilation 2 padding 4,0 of 10
A $5\times 5$ image $x_{ij}$ is padded with zeros by one pixel on every side. It is then correlated (kernel not
flipped) with a $3\times3$ kernel $w_{pq}$ using a stride of 2 in both directions, and a scalar bias $b$ is added.
=> conv 3×3 stride 2×2 padding 1,1×1,1 of 5×5
A dilated one-dimensional convolution with kernel $w_0,w_1,w_2$, bias $b$ and dilation 2 is applied without padding
and with stride 1 to the sequence $x_0,\dots,x_7$; the kernel is not reversed. => conv 3 dilation 2 of 8
Consider a one-dimensional convolution layer. The filter has three taps and the dilation is 2. The input, a signal of
eight samples, is padded with two zeros on both ends so that the output is as long as the input. A scalar bias is
added. => conv 3 dilation 2 padding 2,2 of 8
"""

OPEN = r"""
The layer averages over overlapping windows of four samples of a signal of length 12.

The layer averages the signal of length 12 and its windows of four samples.

A pooling layer replaces each 2×2 block of a 4×6 image by its mean and its maximum.

A signal of length nine is divided into four windows of three samples; the max pooling layer keeps the largest value
of each window.

A 2x2 average pooling (stride 2) is applied to a 4x4 input image and to its transpose.

Every output of a pooling layer is twice the maximum of a 2x2 block of the 4x4 input image.

A pooling layer keeps the largest value of every second window of length 3 of a signal of length 9.

A 5x5 image is convolved with two 2x2 kernels, and a bias is added.

A max pooling layer with windows of three is applied to a batch of four signals of length 9.

A max pooling layer takes the maximum of two inputs.

Max pooling with windows of three, shifted by one position to the left, on a signal of length 9.

Max pooling with windows of three on a signal of length 9. The window starts at the second sample.

Max pooling with windows of three on a signal of length 10. The last window is incomplete.

Max pooling with windows of three on a signal of length 10. Incomplete windows are kept.

Max pooling over the absolute values with windows of three on a signal of length 9.

Max pooling with windows of length three, dilated by a factor of two, on a signal of nine samples. Between two inputs of
the same window two samples are skipped.

The three feature maps of size $2\times 4$ are put through global average pooling. A linear layer converts the four
numbers to two outputs.

Max pooling 2x2 with stride 2 on a 4x4 feature map, applied twice.

Max pooling with windows of length three on a signal of nine samples. The last window covers two samples.

Max pooling with windows of length three and stride three on a signal of nine samples. Neighbouring windows overlap.

Max pooling with non-overlapping windows of length three and stride two on a signal of nine samples.

Max pooling with windows of length three and stride two on a signal of nine samples. Neighbouring windows share two
samples.

Max pooling with windows of three pixels on a $6\times 6$ image.

Pooling with windows of length three on a signal of nine samples.

Max pooling with overlapping windows of length three on a signal of nine samples.

Max pooling with windows of length three and one zero padded on both sides on a signal of nine samples.

Max pooling with windows of length three on a signal of nine samples, so that the output has four samples.

Max pooling with windows of length ten on a signal of nine samples.

Max pooling with windows of length $K$ on a signal of nine samples.

Max pooling with two windows on a signal of nine samples.

Max pooling with windows of length three on a signal of nine samples. It keeps only the smallest value of every
window.

Average pooling, window 3, one zero padded on both sides (the zeros count in the average, so always divide by 2).
Input of length 6.

Average pooling with windows of three on a padded signal of nine samples.

Average pooling with windows of three on a mirrored signal of nine samples.

Average pooling with weighted windows of three on a signal of nine samples.

Average pooling of the feature map.

Stochastic pooling with windows of length three on a signal of nine samples.

Max pooling with windows of size $2\times 2$ on a feature map with four rows and five columns (five rows, four
columns).

Max pooling with circular padding and windows of length three on a signal of nine samples.

A transposed convolution with a kernel of length 3 and a bias is applied to a signal of nine samples.

A one-dimensional convolution layer has two filters with three taps and a bias. The input has length seven.

A dilated one-dimensional convolution with a kernel of length 3 and a bias is applied to a signal of nine samples.

A one-dimensional convolution with a kernel of length 3, stride 2 and a bias is applied to a signal of nine samples,
padded with zeros.

A convolution with a $3\times 3$ kernel and a bias is applied to an RGB image of $5\times 5$ pixels.

A one-dimensional convolution with a kernel of length 3 and a bias is applied to a signal of nine samples. A ReLU
follows, then max pooling with windows of two. The stride is 1.
"""


def _emitted(text: str) -> Emitted:
    card = Card.parse(f"---\nid: a\n---\n\n# Question\n{text} Derive the backward message.\n")
    prose = prose_of(card.question, card.question_line, question_formulas(card))
    return told_statement(prose)[0]


def _window(text: str) -> str:
    """What becomes of a window, its geometry and the size of the input, as the table writes it."""
    emitted = _emitted(text)
    layer = next(v for v in emitted.told.values if v.made in ("pool", "conv"))
    found = emitted.geometries[-1]

    def times(sizes: object) -> str:
        return "×".join(map(str, sizes))  # type: ignore[call-overload]

    parts = [str(layer.options.get("op", "conv")), times(found.kernel)]
    parts += [f"stride {times(found.stride)}"] if layer.made == "pool" or max(found.stride) > 1 else []
    parts += [f"dilation {times(found.dilation)}"] if max(found.dilation) > 1 else []
    parts += [f"padding {times(f'{a},{b}' for a, b in found.padding)}"] if any(map(any, found.padding)) else []
    return " ".join((*parts, f"of {times(found.sizes)}"))


def _rows() -> list[tuple[str, str]]:
    text, rows = "", []
    for line in READ.strip().splitlines():
        told, arrow, window = line.partition("=> ")
        text = f"{text} {told}".strip()
        if arrow:
            rows.append((text, window))
            text = ""
    return rows


@pytest.mark.parametrize(("text", "window"), _rows(), ids=lambda value: value[:60])
def test_windows(text: str, window: str) -> None:
    assert _window(text) == window


@pytest.mark.parametrize("text", [" ".join(b.split()) for b in OPEN.strip().split("\n\n")],
                         ids=lambda value: value[:90])
def test_what_changes_the_windows_is_not_read(text: str) -> None:
    with pytest.raises(Unread):
        _emitted(text)


def test_a_window_that_moves_by_what_nothing_says_is_open() -> None:
    text = ("A max pooling layer slides a window of three samples along a signal of length seven{}. "
            "Derive the backward message.")
    card = "---\nid: q\n---\n\n# Question\n{}\n"
    with pytest.raises(CardError, match="“slides”: by how much"):
        module_of(Card.parse(card.format(text.format(", one leap at a time"))))
    assert module_of(Card.parse(card.format(text.format(" with stride 2")))).fields[0][1].stride == (2,)
