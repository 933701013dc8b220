"""Phrases and what is read from them; more phrases are one line each."""

from __future__ import annotations

import pytest

from derive.question.windows.wording import words_of
from derive.question.words.prose import plain_text

CASES = r"""
(Figure 1 shows a 2x2 max pooling with stride 2). | kernel_size 2,2 | stride 2
a max pooling layer with kernel size 3, stride 2 and padding 1 | kernel_size 3 | stride 2 | padding 1
a $3\times 3$ max-pooling layer with stride $s=2$ and zero padding of 1 | kernel_size 3,3 | stride 2 | padding 1
windows of size 2 × 2 which do not overlap | kernel_size 2,2 | disjoint
non-overlapping 2 by 2 windows | kernel_size 2,2 | disjoint
kernel of size $2 \times 3$, strides 2 and 1, no padding | kernel_size 2,3 | stride 2,1 | padding 0
strides 2 and 1 and padding $(0, 1)$ | stride 2,1 | padding 0,1
stride $(2,1)$, the kernel is $3\times2$ | kernel_size 3,2 | stride 2,1
kernel_size=3, stride=1, padding=1 | kernel_size 3 | stride 1 | padding 1
a 4x4 input is pooled with 2x2 windows | kernel_size 2,2 | input_size 4,4
the input of size 6×6 is padded by one pixel on each side | input_size 6,6 | padding 1
padded with a border of one zero; pool size 3; stride two | kernel_size 3 | stride 2 | padding 1
max pooling oknem velikosti 2x2 s krokem 2 bez doplnění | kernel_size 2,2 | stride 2 | padding 0
windows of length 3 and stride 2 | length 3 | stride 2
windows of 3 consecutive elements | length 3
pooling window of 2x2 and stride of two pixels | kernel_size 2,2 | stride 2
receptive field of size $3 \times 3$ and unit stride | kernel_size 3,3 | stride 1
max pooling (2x2, stride 2) | kernel_size 2,2 | stride 2
stride equal to the kernel size, window size 2 | kernel_size 2 | stride kernel_size
A pooling layer with a pool size of 2 for a 6x6 feature map | kernel_size 2 | input_size 6,6
max pooling with a 3 x 3 filter and a stride of 1 | kernel_size 3,3 | stride 1
3×3/2 max pooling | kernel_size 3,3 | stride 2
each receptive field is $2\times2$, moved by 2 | kernel_size 2,2 | stride 2
the windows $\Omega(k,l)$ being $2 \times 2$ with stride 2 | kernel_size 2,2 | stride 2
The receptive fields $\Omega(k,l)$ are $2 \times 3$ and the stride is 2 | kernel_size 2,3 | stride 2
where $\Omega(k, l)$ is the receptive field of the output $(k, l)$, here $2 \times 2$ with stride 1 | kernel_size 2,2 | stride 1
the window of each output $y_k$, here of size $3 \times 2$, slides | kernel_size 3,2
the receptive field of the output, here $2 \times 2$ | number
the receptive field of the output $y_{kl}$, here the $4 \times 4$ input, is whole | input_size 4,4
The windows $\Omega(k,l)$ are non-overlapping of size $2 \times 2$. | kernel_size 2,2 | disjoint
where $\Omega(t)$ contains three consecutive inputs, stride 3 | length 3 | stride 3
a square window of side 2, moved by 2 | kernel_size 2 | stride 2
padding of zero and stride 2 | stride 2 | padding 0
zero-padding of one cell | padding 1
valid padding | padding 0
An input of length 8 | input_size 8
a 5x5 input gives a 2x2 output | input_size 5,5 | output_size 2,2
stride 0, padding -1 | stride 0 | padding -1
kernel size (3, 3) stride (2, 2) | kernel_size 3,3 | stride 2,2
the maximum over 2 × 2 regions | kernel_size 2,2
the stride is 2 in both directions | stride 2
maxima over 3x3 neighbourhoods, shifted by one | kernel_size 3,3 | stride 1
a window of size $K = 2$ and stride $S=2$ | kernel_size 2 | stride 2
stride-2 pooling over **2x2** windows | kernel_size 2,2 | stride 2
stride 2 and 3 channels | stride 2
windows of 2 rows and 3 columns | kernel_size 2,3
the windows are three columns wide and two rows high | kernel_size 2,3
the image $x$ has 7 rows and 9 columns | input_size 7,9
the output $y$ has three rows and two columns | output_size 3,2
an image 4 pixels high and 6 pixels wide | input_size 4,6
the window moves by two rows | stride 2 | extent
one pixel can win in several windows, only one pixel learns, and at exactly one pixel | nothing
a 28 × 28 image with 3 channels | input_size 28,28
Step 1: derive. Figure (2). In 2 steps. | nothing
the output $(k, l)$ of a two dimensional input | nothing
$x_{2k}$ and $\frac{1}{2}$ | nothing
the input is padded with zeros | padding without number
with zero padding | padding without number
stride 2 horizontally and 1 vertically | stride 2 | direction
same padding | same
padding of one cell on the left | padding at ends
the input is padded with one row at the top and two columns on the right | padding at ends
stride 1 and padding ((0, 1), 2) | stride 1 | padding at ends
dilation 2 | dilation 2
windows of size 3x3, dilated by 2 | kernel_size 3,3 | dilation 2
a dilation rate of (2, 1) | dilation 2,1
no dilation | dilation 1
dilated windows | dilation without number
in ceil mode | ceil_mode
ceil_mode=False, stride 2 | stride 2
the last window may run beyond the end of the input | ceil_mode
global average pooling | whole
adaptive max pooling to 3x3 | adaptive | target 3,3
adaptive pooling to 3 outputs | adaptive | target 3
velikost okna je $3\times 3$, krok 1, bez doplnění nulami | kernel_size 3,3 | stride 1 | padding 0
the size of the pooling window is 2×2 | kernel_size 2,2
max pooling with kernel $K=3$, stride $S=2$ and padding $P=1$ | kernel_size 3 | stride 2 | padding 1
a receptive field of 2 by 2 inputs and a stride of two | kernel_size 2,2 | stride 2
max pooling of a 4x4 input | input_size 4,4
windows of $2\times 2$ pixels, moving with a step of 2 pixels | kernel_size 2,2 | stride 2
two-by-two blocks of a six-by-six image | kernel_size 2,2 | input_size 6,6
a 3-by-3 max-pool | kernel_size 3,3
$2\times2\times2$ cubes | kernel_size 2,2,2
max pooling, $2\times2$, stride 2 | kernel_size 2,2 | stride 2
the hidden map is pooled (2x2, stride 2) | kernel_size 2,2 | stride 2
maps a 7x7 input to a 4x4 output | input_size 7,7 | output_size 4,4
Fenster der Größe $2\times2$, Schrittweite 2 | kernel_size 2,2 | stride 2
convolution with 3x3 kernels and stride 1, padding 1; max pooling with 2x2 windows and stride 2 | kernel_size 2,2 | stride 2 | which layer
the window slides two cells at a time | stride 2
windows of size 3 that overlap by one cell | kernel_size 3 | overlap 1
neighbouring windows are two pixels apart | stride 2
max pooling with window 2 and stride 2 | kernel_size 2 | stride 2
a 3x3 thing | number
after a convolution: windows of size 2x2 with stride 2 | kernel_size 2,2 | stride 2
""".strip().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_phrases(case: str) -> None:
    phrase, *expected = case.split(" | ")
    sized = {(what, f.value) for what, f in words_of(phrase).found if what not in ("pooling", "other layer")}
    found = {
        f"{what} {','.join(map(str, v)) if isinstance(v, tuple) else v}"
        if what in ("kernel_size", "stride", "padding", "input_size", "output_size", "length", "dilation", "target", "overlap")
        else what
        for what, v in sized
    }
    assert found == set(expected) - {"nothing"}


def test_quotes_and_lines() -> None:
    words = words_of("First line.\n\nThe **kernel**\nsize is $3 \\times\n3$.", 10)
    (found,) = words.about("kernel_size")
    assert (found.value, found.line) == ((3, 3), 12)
    assert found.quote == r"kernel size is $3 \times 3$"


def test_tables() -> None:
    table = "| parameter | value |\n|---|---|\n| kernel size | 3 × 3 |\n| stride | 2 |\n| padding | 1 |\n"
    assert {(what, f.value) for what, f in words_of(table).found} == {
        ("kernel_size", (3, 3)), ("stride", (2,)), ("padding", (1,))
    }  # fmt: skip


def test_letters_of_known_sizes() -> None:
    text = r"a $K \times K$ window with stride $s$, an \(n \times m\) input, at $k$"
    found = {(what, f.value, f.quote) for what, f in words_of(text, 1, {"K": 3, "s": 12}).found}
    assert found == {("kernel_size", (3, 3), r"$K \times K$ window"), ("stride", (12,), "stride $s$")}


def test_displayed_formulas_code_and_links_are_no_prose() -> None:
    text = "$$ \\max \\text{2x2 pooling} $$ ```2x2 pooling``` ![[2x2 pooling.png]] \\[ stride 2 \\]"
    assert words_of(text).found == ()
    assert "2x2" not in plain_text(text).text
