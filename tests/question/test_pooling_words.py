"""Poolings told in words alone: sizes are read wherever they stand, what follows from them is held against them."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of

# the windows and the input's size, and a question that says them
READ = r"""
3×3 stride 2×2 of 7×7: Consider max pooling of a single-channel $7\times7$ image with $3\times3$ windows and stride 2, without padding.
Derive the backward message to the image. You may assume that the maximum of each window is unique.

2×2 stride 2×2 of 6×6: A 6×6 image is reduced by 2×2 max pooling with stride 2, so the output is 3×3. Derive the backward message.

4 stride 3 of 10: A signal $x$ of 10 samples is reduced by average pooling with windows of length 4 and stride 3, without padding. So
there are three output samples. Derive the backward message to $x$.

3 stride 2 of 11: Max pooling with windows of 3 samples and stride 2 is applied to a signal of 11 samples. Derive the backward message.
"""
BASES = {
    "max": r"Consider max pooling of a single-channel $7\times7$ image with $3\times3$ windows and stride 2, without padding. {} Derive "
           "the backward message to the image for given upstream derivatives.",
    "mean": r"A signal $x$ of 10 samples is reduced by average pooling with windows of length 4 and stride 3, without padding. {} "
            "Derive the backward message to $x$.",
    "zeros": r"A feature map with 6 rows and 6 columns is smoothed by average pooling with $3\times3$ windows, stride 1 and a border of "
             "zeros of width one around the map. The zeros of the border count as ordinary values. {} Derive the gradient that "
             "the layer passes back to its input.",
}
# what is so, and what is not so: of the first base, of the second, of the third
TRUE = {"max": r"The output is a $3\times3$ map.", "mean": "So there are three output samples.", "zeros": ""}
UNTRUE = {
    "max": r"""Neighbouring windows share two rows or one column.|One pixel may belong to up to nine windows.|The output is a $4\times4$ map.
        There are four windows.|Each output is the maximum of four pixels.|Every pixel belongs to exactly one window.
        No two windows overlap.|Height and width are even.|A pixel belongs to one or two windows.|The output has one value.
        Height and width are halved.|The output keeps its size.|One pixel can be the maximum of five windows.""",
    "mean": """So there are four output samples.|Each output is the mean of three samples.|Consecutive windows share two samples.
        A sample can belong to three windows.|The output has ten samples.|Every sample belongs to exactly one window.
        Each output is the maximum of four samples.|Hence five values come out.|The windows do not overlap.""",
    "zeros": r"""A pixel can contribute to up to four outputs.|Adjacent windows overlap by one row.|The output is $4\times4$.
        Each output is the mean of four pixels.|Height and width are odd.|Height and width are halved.|We always divide by four.
        Windows that would overhang the map are not formed.|Padded zeros are not counted.""",
}
HARMFUL = r"""
The map is first doubled in size.|Every second window is skipped.|The winner's value is halved.|Only the left half is pooled.
The windows have one row.|Each window has one row only.|The maximum is taken over four of its pixels.|One row is left out.
Only one row of each window counts.|One pixel of each window is ignored.|Each output is half the maximum of nine pixels.
The last window is cut at the edge.|Windows that would overhang the image are cut off.|One of the windows is left out.
Windows that would overhang the image are padded.|The first row is repeated once.|Nine outputs remain, each of them doubled.
Each of the nine outputs is multiplied by four.|Nine windows result, of which four are used.|Up to four windows are merged.
One pixel may belong to up to four windows; then it is divided by four.|The output has 9 pixels, of which one is zero.
One pixel may be the winner of up to four of them, but only one counts.|This leaves a $3\times3$ map of the absolute values.
This leaves a $3\times3$ map, which is then transposed.|Neighbouring windows share a row, which is why the row is halved.
The number of channels is halved.|One channel is left out.|It takes the maximum over three channels.|The channels are summed.
A moving average of three pixels precedes it.|Since the windows overlap, one pixel may be counted only once.
The output is $3\times3$ as well, after a convolution.|Before it, the image is halved.|Each window has a weight of one.
""".replace("\n", "|").strip("|").split("|")

REFUSED = r"""
A signal of 12 samples is given. A layer keeps the maximum of three neighbouring samples. Derive the backward message.

Max pooling with $3	imes3$ windows and stride 2 is applied to a $7	imes7$ image, as in a torus. Derive the backward message.

Max pooling with windows of one row is applied to a $7	imes7$ image. Derive the backward message.

Max pooling with $3	imes3$ windows and stride 2 takes the largest of a $7	imes7$ image and its mirror image. Derive the backward message.

A $7	imes7$ image is first reduced to a $5	imes5$ image, then max pooling with $3	imes3$ windows is applied. Derive the backward message.

Max pooling with $2	imes2$ windows and stride 2 halves the values of a $4	imes4$ image. Derive the backward message.

Average pooling with window length 3 and stride 3 of a signal of 9 samples; each sample is counted twice. Derive the backward message.

Average pooling with window length 3 and stride 3 of a signal of 9 samples; always divide by $N$. Derive the backward message.

A signal of 12 samples is reduced by max pooling with window length 3 and stride 3 at every other place. Derive the backward message.

Max pooling with $2	imes2$ windows and stride 2 is applied to a map with three channels across all channels. Derive the backward message.
"""


def _module(question: str) -> Module | None:
    try:
        return module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n"))
    except DeriveError:
        return None


def _windows(module: Module) -> str:
    ((_, field),) = module.fields
    def of(numbers: object) -> str:
        return "×".join(map(str, numbers))  # type: ignore[call-overload]
    padding = {p for a in field.axes for p in (a.padding, a.padding_after)}
    assert len(padding) == 1
    around = f" padding {padding.pop()}" if any(padding) else ""
    return f"{of(a.kernel_size for a in field.axes)} stride {of(a.stride for a in field.axes)}{around}"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\n", "|").split("|")]


@pytest.mark.parametrize("text", [" ".join(block.split()) for block in READ.strip().split("\n\n")], ids=lambda text: text[:50])
def test_read(text):
    windows, _, question = text.partition(": ")
    module = _module(question)
    assert module is not None
    assert f"{_windows(module)} of {'×'.join(map(str, module.input_size))}" == windows


@pytest.mark.parametrize("base", BASES)
def test_what_follows_from_the_windows(base):
    refused = [said for said in filter(None, _lines(TRUE[base])) if _module(BASES[base].format(said)) is None]
    read = [said for said in _lines(UNTRUE[base]) if _module(BASES[base].format(said)) is not None]
    assert (refused, read) == ([], [])


@pytest.mark.parametrize("base", BASES)
def test_what_changes_the_layer_is_refused(base):
    assert [said for said in HARMFUL if _module(BASES[base].format(said)) is not None] == []


@pytest.mark.parametrize("question", REFUSED.strip().split("\n\n"), ids=lambda text: text[-60:])
def test_what_is_no_plain_pooling_is_refused(question):
    assert _module(question) is None


@pytest.mark.parametrize("given, shape, output", [
    (r"a $7\times7$ image without padding. Derive the gradient with respect to the image", (7, 7), (3, 3)),
])
def test_a_size_that_is_told_is_that_of_the_sheet(given, shape, output):
    """The derivative is asked for, and no message: the formulas hold for the size that the words give."""
    question = rf"Average pooling with $3\times3$ windows and stride 2 is applied to {given}."
    solution = derive.solve(Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n"))
    x = np.arange(float(np.prod(shape))).reshape(shape)
    assert np.asarray(solution.forward(x=x)).shape == output
    assert np.asarray(solution.backward("x", upstream=np.ones(output), x=x)).sum() == pytest.approx(np.prod(output))


@pytest.mark.parametrize("name", ["max", "average"])
@pytest.mark.parametrize("asked", [
    r"Write the forward message $y_{kl}$ and the backward message $\frac{\partial L}{\partial u_{ij}}$ (given all "
    r"$\frac{\partial L}{\partial y_{kl}}$) of the %s pooling layer with windows $2\times2$ and stride 2.",
    r"Given $\frac{\partial L}{\partial y_{kl}}$, derive the backward message $\frac{\partial L}{\partial u_{ij}}$ of the %s pooling "
    r"layer with windows $2\times2$ and stride 2.",
    r"Derive the backward message $\frac{\partial y_{kl}}{\partial u_{ij}}$ of the %s pooling layer with windows $2\times2$ and stride 2.",
    r"A %s pooling layer moves windows $2\times2$ with stride 2 over the input $u$. The output is called $\mathbf{y}$. Derive its backward "
    r"message, when $\frac{\partial L}{\partial y_{kl}}$ is given.",
    r"Consider %s pooling with windows $2\times2$ and stride 2 of the image $u$; its output is $y$. Derive the backward message.",
    r"Consider %s pooling with windows $2\times2$ and stride 2 with input $u_{pq}$ and output $y_{mn}$. Derive the backward message.",
])
def test_letters_of_what_is_asked_are_those_of_the_layer(name, asked):
    module = module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{asked % name}\n"))
    assert (module.output, module.inputs) == ("y", ("u",))


@pytest.mark.parametrize("name", ["max", "average"])
def test_an_index_more_in_the_letters_is_the_map_that_they_stand_in(name):
    question = f"Consider {name} pooling with windows 2×2 and stride 2 of the maps $x_{{cij}}$ with output $y_{{ckl}}$."
    module = module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question} Derive the backward message.\n"))
    assert [(a.kernel_size, a.stride) for _, f in module.fields for a in f.axes] == [(1, 1), (2, 2), (2, 2)]


@pytest.mark.parametrize("question", [
    r"The average pooling layer makes a picture smaller: windows 2×2, stride 2. Write the forward message $f_{kl}(\boldsymbol{x})$ and",
    "A feature map $x$ with 6 rows and 4 columns (one channel) goes through max pooling with windows 2×2 and stride 2.",
    "Consider 3×3 max pooling with stride 2. Mind that neighbouring windows overlap.",
])
def test_plain_words_around_a_pooling_are_read(question):
    assert module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question} derive the backward message.\n")).output == "f"


@pytest.mark.parametrize("question", [
    "Consider 3×3 max pooling with stride 3. Mind that neighbouring windows overlap.",
    "Consider 2×2 max pooling with stride 2. The picture was first made smaller by 2.",
    "Consider 2×2 max pooling with stride 2. Two numbers in the window are the maximum.",
])
def test_words_around_a_pooling_that_change_or_deny_it_are_refused(question):
    with pytest.raises(DeriveError):
        module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question} Derive the backward message.\n"))


@pytest.mark.parametrize("name", ["max", "average"])
def test_a_smooth_pooling_is_compared_with_others(name):
    formula = r"$y_k = \frac1b \log \sum_{i \in \Omega(k)} e^{b x_i}$ with $\Omega(k) = \{2k-1, 2k\}$, $k = 1, \dots, K$"
    question = rf"{name.capitalize()} pooling is simple. Log-sum-exp pooling has {formula}. Derive $\partial y_k/\partial x_i$."
    assert module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n")).output == "y"
    followed = question.replace("Derive", f"Then a {name} pooling follows. Derive")
    with pytest.raises(DeriveError, match=f"(?i){name} pooling"):
        module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{followed}\n"))


@pytest.mark.parametrize("question", [
    "The global average pooling layer has the input $x_{cij}$ and the output $y_c$.",
    "Consider max pooling with windows 2×2 and stride 2 of the signal $x_t$ with output $y_k$.",
])
def test_letters_with_other_indices_than_the_windows_have_axes_are_refused(question):
    with pytest.raises(DeriveError, match="indices"):
        module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question} Derive the backward message.\n"))


def test_a_comparison_names_no_layer():
    question = (r"$L_p$ pooling lies between sum pooling and max pooling. It computes $y_k = \left(\sum_{i \in \Omega(k)} |x_i|^p\right)^{1/p}$"
                r" with $\Omega(k) = \{2k-1, 2k\}$, $k = 1, \dots, K$. Derive the backward message.")
    assert module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n")).output == "y"


def test_czech_windows_have_a_size():
    question = r"Vrstva average pooling: okna mají velikost $2\times2$, krok je 2 v obou směrech. Odvoďte zpětnou zprávu."
    module = module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n"))
    assert [(a.kernel_size, a.stride) for _, f in module.fields for a in f.axes] == [(2, 2), (2, 2)]
