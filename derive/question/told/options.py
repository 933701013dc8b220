"""Layers of the catalogue with the options that words give them, y = layer(x; options), one behind the other."""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod
from typing import Any

from derive.layers.catalogue import Layer
from derive.layers.chain import Part
from derive.layers.families import find
from derive.layers.samples import Samples
from derive.question.emitted.geometry import CLAIMS, Geometry, geometry
from derive.question.sentences.actions import Say, extents
from derive.question.sentences.runs import LOSSES as _LOSSES
from derive.question.sentences.tokens import Token
from derive.question.told.normalised import NORMS, below_the_root, normalised, unnamed
from derive.question.told.state import pairs
from derive.question.told.values import Unread, Value

Options = dict[str, Any]
LOSSES = _LOSSES | {"squared_hinge"}
_WINDOWED = CLAIMS | frozenset("kernel length stride padding dilation overlap disjoint overlapping square fill counted "
                               "divisor rank outchannels".split())
_OF_MEANS = frozenset({"counted", "divisor", "cells"})
_NORMED = frozenset("gain shift epsilon does per over each share extent mode square".split())
_CONVOLVED = frozenset("weights bias filters kernels each sort dilated strided side upsamples".split())
_TAKES = {"pool": _WINDOWED | {"op", "global", "per", "shortens"},
          "conv": (_WINDOWED - _OF_MEANS) | _CONVOLVED,
          "linear": frozenset({"weights", "bias", "units", "per"}),
          "softmax": frozenset({"temperature", "tempered", "per"}), "prelu": frozenset({"slope", "each"}),
          **dict.fromkeys(LOSSES, frozenset({"target", "reduce", "half"})),
          **dict.fromkeys(("hinge", "squared_hinge"), frozenset({"target", "reduce", "margin"})),
          **dict.fromkeys(NORMS, _NORMED), **dict.fromkeys(("leaky_relu", "elu"), frozenset({"slope"}))}
_SLOPES: dict[tuple[str, str], tuple[int, Options]] = {  # one for each of what, of what: the input's axes, the options
    ("entry", "vector"): (1, {"shared": False}), ("channel", "image"): (3, {"channels": True})}
_SORTS = {"": "conv", "depthwise": "depthwise_conv", "transposed": "conv_transpose"}
_INPUT = frozenset({"on", "input", "channels", "area", "kind", "shape", "rows"})
_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?R\}?\s*\^\s*\{?([^{}]+)\}?")
_OWN = ("weights", "bias", "gain", "shift", "slope", "temperature", "target")  # what a letter may be of


class Named:
    """The layers that words name, their options, and the input."""

    def __init__(self) -> None:
        self.layers: list[tuple[str, Options]] = []
        self.waiting: list[tuple[str, Any]] = []  # said before any layer that has it
        self.input: Options = {}
        self.result: str | None = None
        self.arrays: list[tuple[str, Token]] = []  # «the matrix $X$»: of what, the whole says
        self.collected: list[tuple[Token, ...]] = []  # … in which letters, what is told without one
        self.joined = False
        self.rank: int | None = None  # the number of the input's axes, where the words and not the layer say it

    def phrase(self, said: Any, token: Token) -> None:
        if collected := tuple(value for key, value in pairs(said) if key == "collected"):
            self.collected.append(collected)
        told = [*pairs(said)]
        for key, value in told:
            if key == "collected":
                continue
            if key == "kernels" and len(told) > 1:  # «with a 3×3 kernel»; a kernel of no size is a convolution's
                continue
            if key == "array":
                self.arrays.append(value)
            elif key == "result":
                self.result = self.result or value.letters[0]
                if self.result != value.letters[0]:
                    raise Unread("two letters of the output")
            elif key == "layer":
                self.layer(value)
            elif key == "join":
                self.joined = True
            elif key == "which":
                continue
            elif key in _INPUT:
                self.of_input(key, value)
            else:
                self.option(key, value)

    def layer(self, name: str) -> None:
        """A layer by its name; one that is told by what becomes of its windows is a pooling, its stride not usual."""
        described, name = name == "windows", "pool" if name == "windows" else name
        if name == "mean_squared_error":
            self.waiting.append(("reduce", "mean"))
            name = "squared_error"
        if name in (known := [n for n, _ in self.layers]) and not self.joined:
            if known[-1] != name:
                raise Unread(f"“{name}” again")
            if name == "pool" and not described:
                self.layers[-1][1].pop("described", None)
            return
        if name not in _TAKES and not isinstance(find(name), Layer):
            raise Unread(f"“{name}”")
        if self.layers and not self.joined and name not in LOSSES:
            raise Unread("two layers that nothing joins")
        self.layers.append((name, {"described": True} if described else {}))
        self.joined = False

    def option(self, key: str, value: Any, last: bool = False) -> None:
        """One thing said of the last layer that has such a thing."""
        if key == "bias" and self.layers and {name for name, _ in self.layers} <= NORMS:
            key = "shift"
        owner = next((own for name, own in reversed(self.layers) if key in _TAKES.get(name, ())), None)
        if owner is None:
            if last:
                raise Unread(f"the {key} of what")
            self.waiting.append((key, value))
            return
        if key == "length":
            key, value = "kernel", extents(value)
            self.once(owner, "rank", 1)
        elif key in ("kernel", "stride", "dilation", "output") or key == "overlap" and value != "half":
            value = extents(value)
            if len(value) > 1:
                self.once(owner, "rank", len(value))
        elif key == "rank":
            value = int(value)
        elif key in _OWN and key != "slope" and isinstance(value, Token):
            value = value.letters[0]
        elif key in ("per", "over", "does", "each"):
            owner[key] = (*owner.get(key, ()), value)
            return
        elif key == "slope":
            value = next((v for k, v in pairs(value) if k == "slope"), value)
            value = value.letters[0] if isinstance(value, Token) else value
        elif key == "epsilon":
            value = below_the_root(value)
        self.once(owner, key, value)

    @staticmethod
    def once(owner: Options, key: str, value: Any) -> None:
        """Nothing is said twice in two ways."""
        known = owner.setdefault(key, value)
        if known != value:
            if key in _OWN and "yes" in (known, value) and "no" not in (known, value):
                owner[key] = known if value == "yes" else value
            elif isinstance(known, tuple) and isinstance(value, tuple) and len({*known, *value}) == 1:
                owner[key] = max(known, value, key=len)
            else:
                raise Unread(f"two values of {key}")

    def of_input(self, key: str, value: Any) -> None:
        """An image or a signal, its letter, its size."""
        if key == "on" and isinstance(value, str):
            value = Say("signal1", (None, value))
        if key == "on" and value.kind in ("image", "signal1"):
            self.once(self.input, "sizes", extents(value[1]))
            value = value[0]
        elif key == "on" and value.kind not in ("ref", "mapped"):
            raise Unread("what the layer takes")
        elif key == "on":
            value, *more = (value[1],) if value.kind == "ref" else value.of
            for also, known in zip(("channels", "area"), more, strict=False):
                if known is not None:
                    self.of_input(also, known)
        if key == "area":
            self.once(self.input, "sizes", extents(value))
        elif key == "channels":
            self.once(self.input, "channels", value)
        elif key in ("kind", "rows"):
            self.once(self.input, key, value)
        elif key == "shape":
            self.once(self.input, "shape", value)
            self.once(self.input, "kind", ("vector", "matrix", "image", "images")[min(len(value), 4) - 1])
        elif isinstance(value, Token):
            self.once(self.input, "letter", value.letters[0])
            if space := _SPACE.search(value.formula.latex):
                self.of_input("shape", tuple(space[1].replace(r"\times", " ").split()))

    def settled(self) -> None:
        """What the whole says of a phrase: which array is the input, whose letter is one in which values stand."""
        if not self.layers:
            own: Options = {}
            for key, value in self.waiting:
                if key in ("per", "over", "does", "each"):
                    own[key] = (*own.get(key, ()), value)
            if "does" in own and (name := unnamed(own, self.kinds)):
                self.layer(name)
        for key, value in self.waiting:
            self.option(key, value, last=True)
        lacking = next((own for name, own in self.layers if "weights" in _TAKES.get(name, ()) and "weights" not in own
                        and any(kind == "matrix" for kind, _ in self.arrays)), None)
        for kind, token in sorted(self.arrays, key=lambda array: array[0] == "batch"):
            if lacking is not None and kind == "matrix" and token.letters[0] != self.input.get("letter"):
                self.once(lacking, "weights", token.letters[0])
                continue
            self.of_input("input", token)
            if kind != "batch" or self.input.get("kind") not in ("matrix", "images"):
                self.once(self.input, "kind", "matrix" if kind == "batch" else kind)
        for letters in self.collected:
            bare = [(own, key) for _, own in self.layers for key in own if key in _OWN and own[key] == "yes"]
            if len(bare) != len(letters):
                raise Unread(f"what is collected in {letters[0]}")
            for (own, key), token in zip(bare, letters, strict=True):
                own[key] = token.letters[0]

    @property
    def kinds(self) -> set[str]:
        """What the input is called."""
        return {kind for kind, _ in self.arrays} | {v for k, v in self.input.items() if k == "kind"}

    # -- the chain -----------------------------------------------------------------------------------------------------

    @property
    def letters(self) -> dict[str, str]:
        own = {"input": self.input.get("letter"), "output": self.result}
        return {key: letter for key, letter in own.items() if letter is not None}

    @property
    def size(self) -> tuple[int, ...] | None:
        sizes = self.input.get("sizes", ())
        windowed = self.layers[0][0] == "pool"
        return tuple(map(int, sizes)) if windowed and sizes and all(n.isdecimal() for n in sizes) else None

    @property
    def samples(self) -> Samples | None:
        """The rows of a matrix, where the layers are applied to each of them."""
        per = {one for name, own in self.layers if name not in NORMS for one in own.get("per", ())}
        losses = [own.get("reduce", "") for name, own in self.layers if name in LOSSES]
        if any(name in NORMS for name, _ in self.layers) or self.input.get("kind") != "matrix":
            if losses != [""] * len(losses):
                raise Unread("the mean or the sum of what")
            return None
        if not per and (self.layers[0][0] != "linear" or "rows" not in self.input):
            raise Unread("the axes of the input")
        single = losses and "softmax" not in [name for name, _ in self.layers]  # one unit, unless the words say more
        if single and any(name == "linear" and "units" not in own and str(own.get("weights", "w"))[0].isupper()
                          for name, own in self.layers):
            raise Unread("how many units there are")
        if losses == [""]:
            raise Unread("the mean or the sum of the losses")
        return Samples(self.input.get("shape", ("",))[0], "".join(losses))

    def chain(self) -> tuple[Part, ...]:
        """The layers with their options; raises :class:`Unread` where one of these is open."""
        if not self.layers:
            raise Unread("no layer")
        if self.result is not None and len(self.layers) > 1:
            raise Unread("the output of which layer")
        return tuple(self.part(*layer, n) for n, layer in enumerate(self.layers))

    def part(self, name: str, own: Options, n: int) -> Part:
        if name in ("pool", "conv"):
            return self.windowed(name, own, n)
        if name in NORMS:
            part, rank = normalised(name, own, self.input.get("kind"))
            if n and rank != self.rank:
                raise Unread("the axes of the normalisation")
            self.rank = rank
            return part
        given = {k: v for k, v in own.items() if v != "yes" or k not in ("bias", "tempered", "slope")}
        if "tempered" in own and "temperature" not in own:
            raise Unread("the temperature")
        if "slope" in given:
            slope = given["slope"]
            given["slope"] = Fraction(slope) if slope[0].isdecimal() else slope
        if given.get("bias") == "no":
            given["bias"] = False
        if each := given.pop("each", ()):
            self.rank, how = _SLOPES.get((each[0], self.input.get("kind", "")), (None, {}))
            given |= how
            if n or self.rank is None or len({*each}) > 1:
                raise Unread("the slopes")
        per = {*given.pop("per", ())}
        if not per <= {"row", "sample", "vector"} or per & {"row", "sample"} and self.input.get("kind") != "matrix":
            raise Unread("of what each")
        if name in ("linear", "softmax") and not n and ({"sizes", "channels"} & {*self.input} or self.input.get(
                "kind") in ("image", "images", "array")):
            raise Unread("the axes of the input")
        given |= {"half": True} if "half" in given else {}
        given.pop("margin", None)
        given.pop("reduce", None)
        if name in LOSSES and "target" not in given:
            raise Unread("the target of the loss")
        if name == "linear" and not {"weights", "bias"} & given.keys():
            raise Unread("the weights of a linear layer")
        if name in ("leaky_relu", "elu") and "slope" not in given:
            raise Unread("a slope")
        return Part(name, (), given)

    def windowed(self, name: str, own: Options, n: int) -> Part:
        """A pooling or a convolution, its windows checked as the words count them."""
        if own.get("global"):
            return self.pooled_whole(own, n)
        sizes = self.input.get("sizes") if not n else None
        rank = own.get("rank") or len(sizes or own.get("output", ())) or {"image": 2, "signal": 1}.get(
            self.input.get("kind", ""), 0)
        if sizes and len(sizes) != rank or not rank:
            raise Unread("the axes of the windows")
        size: tuple[int | None, ...] = tuple(int(s) if s.isdecimal() else None for s in sizes or ("n",) * rank)
        if "described" in own and not {"stride", "overlap", "disjoint"} & own.keys():
            raise Unread("the movement of the windows")
        channels = self.input.get("channels")
        if own.get("outchannels", channels) != channels or channels and name == "pool" and "channel" not in own.get(
                "per", ()):
            raise Unread("the channels")
        plain = {k: v for k, v in own.items() if k not in ("outchannels", "shortens")}
        value = Value(None, name, (), plain | {"rank": rank})
        found = geometry(value, size)
        padded = any(p for ends in found.padding for p in ends)
        given: Options = {"kernel_size": found.kernel, "stride": found.stride, "dilation": found.dilation}
        if padded:
            given["padding"] = found.padding
        if name == "conv":
            return self.convolution(own, given, rank)
        if own.get("global") or own.get("op") not in ("max", "min", "avg"):
            raise Unread("which pooling")
        _refuse_other_holdings(own, found, padded)
        return Part(f"{own['op']}_pool", (), given)

    def pooled_whole(self, own: Options, n: int) -> Part:
        """The mean or the largest of each channel."""
        if n or self.input.get("kind") != "image" or own.get("op") not in ("max", "avg") or {*own} - {"op", "global"}:
            raise Unread("over what is pooled")
        self.rank = 3
        return Part(f"global_{own['op']}_pool", (), {"axes": 2})

    def convolution(self, own: Options, given: Options, rank: int) -> Part:
        """A convolution, over all channels or, ``depthwise``, over each by itself."""
        sort = own.get("sort", "")
        several = "filters" in own or "channels" in self.input
        whole = bool(own.get("filters")) and bool(self.input.get("channels"))
        if several and whole is bool(sort) or not {*own.get("each", ())} <= {"output", "channel"}:
            raise Unread("the channels")
        if sort == "transposed" and "padding" in given or sort and "output" in own:
            raise Unread("the padding of a transposed convolution")
        if "upsamples" in own and sort != "transposed":
            raise Unread("“upsamples”")
        if several and not sort:
            given |= {"filters": int(own["filters"])} if own["filters"].isdecimal() else {}
        elif sort != "depthwise":
            given["channels"] = False
        given |= {key: own[key] for key in ("weights", "bias") if own.get(key, "yes") != "yes"}
        if own.get("bias") == "no" or "bias" not in own:
            given["bias"] = False
        return Part(f"{_SORTS[sort]}{rank}d", (), given)


def _refuse_other_holdings(own: Options, found: Geometry, padded: bool) -> None:
    """Raise :class:`Unread` where the words divide by another number, or say of padding what a pooling does not do."""
    mean, fill = own["op"] == "avg", own.get("fill")
    if own.get("divisor", str(prod(found.kernel))) != str(prod(found.kernel)) or (
            mean and padded and own.get("counted") != "yes"):
        raise Unread("what the sum is divided by")
    if ("counted" in own and not (mean and padded)) or (fill == "never" and (mean or not padded)) or (
            fill == "zeros" and padded and not mean):
        raise Unread("what the windows hold")
