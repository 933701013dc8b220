"""A convolution in words: which one, its kernel, stride, padding, channels and bias, as the catalogue's options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from derive.question.parts.chain import Chain
from derive.question.parts.layout import declared
from derive.question.parts.recognised import Part
from derive.question.words.lexicon import named
from derive.records import dataclass

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_N = rf"(?:\d+|{'|'.join(_NUMBERS)}|(?:a )?single|several)"
_SPAN = rf"{_N}(?: ?[×x] ?{_N})?"
_WHAT: dict[str, tuple[str, ...]] = {
    "kernel_size": (rf"({_N} ?[×x] ?{_N})(?= (?:depthwise |transposed )*(?:kernel|filter|convolution))",
                    rf"\b(?:kernel|filter) (?:size|length|width) (?:of |is )?({_SPAN})\b",
                    rf"\b(?:kernel|filter)s?(?: ∎)? (?:has|have|of|with) (?:size|length|width) ({_SPAN})\b"),
    "stride": (rf"\bstride (?:of |is )?({_N})\b(?! ?[×x])",),
    "dilation": (rf"\bdilation (?:of |is |rate )?({_N})\b(?! ?[×x])",),
    "padding": (rf"\b(?:zero )?padding (?:of |is |by )?({_N})\b(?: (?:pixel|zero|cell|entry|sample)s?)?"
                r"(?: on (?:each|either|every|both) sides?)?",
                rf"\bpadded (?:with|by) ({_N}) (?:zero|pixel|cell)s? (?:on|at) (?:each|either|both) (?:side|end)s?"),
    "inputs": (rf"\b({_N}) input channels?\b", rf"\bwith ({_N}) channels?\b(?=.* to {_N} channels)"),
    "outputs": (rf"\b((?:a )?single|one) {_N} ?[×x] ?{_N} (?:filter|kernel)\b",
                rf"\b({_N}) (?:output channels?|filters?)\b", rf"\bto ({_N}) channels?\b"),
    "both": (rf"\b({_N})[ -]channels?\b",),
}
_KINDS = {"transposed": "conv_transpose", "depthwise": "depthwise_conv", "": "conv"}
_SIZES = re.compile(rf"∎ has length {_N}\b|\b{_N} (?:rows|columns|pixels)\b|\b\d+[×x]\d+ (?:pixels|matrix)\b")
_GEOMETRY = re.compile(r"\b(?:strid|dilat|pad)\w*|\batrous\b")
_SAME = re.compile(r"\bsame padding\b")


@dataclass(frozen=True)
class _Said:
    what: str
    value: tuple[int, ...]
    place: tuple[int, int]


def convolution_said(chain: Chain, part: Part) -> Part:
    """The part by the catalogue's name, with the options that the words say; these words are understood.

    Raises :class:`CardError` where the words do not say one of them, or two of one.
    """
    if sum(p.name == "convolution" for p in chain.parts) > 1:
        raise chain.unclear(part, ": of several convolutions, write the forward formulas")
    values: dict[str, tuple[int, ...]] = {}
    for said in _all(chain.prose.text):
        if values.setdefault(said.what, said.value) != said.value:
            raise chain.unclear(part, f": two values of its {said.what.replace('_', ' ')}; keep one")
        chain.understood.append(said.place)
    for span in named(chain.prose.text, "geometry.no_padding"):
        if values.setdefault("padding", (0,)) != (0,):
            raise chain.unclear(part, ": with padding and without; keep one")
        chain.understood.append((span.start, span.stop))
    text = chain.prose.text
    chain.understood += [(s.start, s.stop) for s in named(text, "convolved", "convolving")]
    chain.understood += [m.span() for pattern in (_SIZES, _SAME) for m in pattern.finditer(text)]
    for word in _GEOMETRY.finditer(text):
        if not any(a <= word.start() < b for a, b in chain.understood):
            raise chain.unclear(part, f": “{chain.prose.plain.quote(*word.span())}” is not understood; write e.g. "
                                      "“stride 2” and “padding 1”, or the forward formula")
    return _part(chain, part, values)


def _all(text: str) -> Iterator[_Said]:
    """What numbers say, longer phrases first: «one input channel» says nothing of «one channel»."""
    taken: set[int] = set()
    for what, patterns in _WHAT.items():
        for found in (m for pattern in patterns for m in re.finditer(pattern, text)):
            if taken.isdisjoint(range(*found.span(1))):
                taken |= {*range(*found.span(1))}
                yield _Said(what, tuple(map(_number, re.split(r" ?[×x] ?", found[1]))), found.span())


def _number(word: str) -> int:
    """3 of «3» and «three», 1 of «a single», 0 of «several»: they are not told."""
    if word.isdecimal():
        return int(word)
    return _NUMBERS.index(word) if word in _NUMBERS else 0 if word == "several" else 1


def _part(chain: Chain, part: Part, values: dict[str, tuple[int, ...]]) -> Part:
    text = chain.prose.text
    kinds = {s.concept.partition(".")[2] for s in named(text, "convolving.transposed", "convolving.depthwise")}
    kernel = values.get("kernel_size", _declared(chain, part))
    flat = bool(named(text, "convolving.flat")) or kernel is not None and len(kernel) == 2
    line = bool(named(text, "convolving.line"))
    if len(kinds) > 1 or kernel is None or flat == line:
        raise chain.unclear(part, ": write its kernel's size and whether it is one- or two-dimensional, e.g. “a "
                                  "two-dimensional convolution with a 3×3 kernel”, or the forward formula")
    kind = next(iter(kinds), "")
    channels = kind == "depthwise" or _channels(chain, part, values)
    padding = values.get("padding", (0,) if kind == "transposed" or kernel == (1,) * len(kernel) else None)
    if padding is None and not _SAME.search(text):
        raise chain.unclear(part, ": write its padding, “no padding” or “padding 1”")
    if "no" not in part.options.get("bias", "") and "bias" not in part.letters and not named(text, "bias"):
        raise chain.unclear(part, ": with a bias, or without? Write it")
    name = f"{_KINDS[kind]}{2 if flat else 1}d"
    options: dict[str, Any] = {"kernel_size": kernel * (2 if flat and len(kernel) == 1 else 1)}
    if not kind and channels and flat and {*options["kernel_size"]} == {1}:
        name, options = "pointwise_conv2d", {}
    options |= {"stride": values.get("stride", (1,))[0]} if name != "pointwise_conv2d" else {}
    if name == "pointwise_conv2d" and (values.get("stride", (1,)) != (1,) or padding not in (None, (0,))):
        raise chain.unclear(part, ": with a stride or a padding; write its forward formula")
    if name != "pointwise_conv2d":
        options |= {"padding": "same" if padding is None else padding[0], "dilation": values.get("dilation", (1,))[0]}
        inputs, outputs = (values.get(what, values.get("both", (0,)))[0] for what in ("inputs", "outputs"))
        options |= {"input_channels": inputs or None} if channels else {}
        options |= {} if kind == "depthwise" else {"channels": channels, "filters": outputs or None}
    return replace(part, name=name, geometry=options)


def _declared(chain: Chain, part: Part) -> tuple[int, ...] | None:
    r"""2 × 3 of the kernel $K \in \mathbb{R}^{2 \times 3}$."""
    sizes = declared(chain, part.letters.get("weights", ""))
    return tuple(map(int, sizes)) if sizes and len(sizes) < 3 and all(s.isdecimal() for s in sizes) else None


def _channels(chain: Chain, part: Part, values: dict[str, tuple[int, ...]]) -> bool:
    """Whether the input and the output have channels."""
    inputs, outputs = (values.get(what, values.get("both")) for what in ("inputs", "outputs"))
    if inputs is None or outputs is None:
        raise chain.unclear(part, ": write how many input and output channels it has, e.g. “one input channel and one "
                                  "output channel”")
    if (inputs == (1,)) != (outputs == (1,)):
        raise chain.unclear(part, ": of one channel, or of several? Write its forward formula")
    return inputs != (1,)
