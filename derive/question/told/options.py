"""Layers of the catalogue with the options that words give them, y = layer(x; options), one behind the other."""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod
from typing import Any

from derive.layers.catalogue import Layer
from derive.layers.chain import Part
from derive.layers.families import find
from derive.question.emitted.geometry import CLAIMS, Geometry, geometry
from derive.question.sentences.actions import Say, extents
from derive.question.sentences.tokens import Token
from derive.question.told.state import pairs
from derive.question.told.values import Unread, Value

_POWER = re.compile(r"\s*(?:(?P<n>\d+(?:\.\d+)?)|10\^\s*\{?\s*-\s*(?P<e>\d+)\s*\}?)\s*")
_WINDOWED = CLAIMS | frozenset("kernel length stride padding dilation overlap disjoint overlapping square fill counted "
                               "divisor rank outchannels".split())
_OF_MEANS = frozenset({"counted", "divisor", "cells"})
_NORM = {"instance_norm": ({"channel", "image"}, {"pixels"}), "layer_norm": ({"token", "sample"}, {"features"}),
         "batch_norm": ({"feature", "channel"}, {"batch"})}  # for what by itself, and over what
_TAKES = {"pool": _WINDOWED | {"op", "global", "per"},
          "conv": (_WINDOWED - _OF_MEANS) | {"weights", "bias", "filters", "kernels"},
          "linear": frozenset({"weights", "bias", "units"}), "softmax": frozenset({"temperature", "tempered"}),
          **dict.fromkeys(_NORM, frozenset({"gain", "shift", "epsilon", "does", "per", "over"})),
          **dict.fromkeys(("leaky_relu", "prelu", "elu"), frozenset({"slope"}))}
_INPUT = frozenset({"on", "input", "channels", "area"})
Options = dict[str, Any]


class Named:
    """The layers that words name, their options, and the input."""

    def __init__(self) -> None:
        self.layers: list[tuple[str, Options]] = []
        self.waiting: list[tuple[str, Any]] = []  # said before any layer that has it
        self.input: Options = {}
        self.joined = False

    def phrase(self, said: Any, token: Token) -> None:
        told = [*pairs(said)]
        for key, value in told:
            if key == "kernels" and len(told) > 1:  # «with a 3×3 kernel»; a kernel of no size is a convolution's
                continue
            if key == "layer":
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
        if name in (known := [n for n, _ in self.layers]) and not self.joined:
            if known[-1] != name:
                raise Unread(f"“{name}” again")
            if name == "pool" and not described:
                self.layers[-1][1].pop("described", None)
            return
        if name not in _TAKES and not isinstance(find(name), Layer):
            raise Unread(f"“{name}”")
        if self.layers and not self.joined:
            raise Unread("two layers that nothing joins")
        self.layers.append((name, {"described": True} if described else {}))
        self.joined = False

    def option(self, key: str, value: Any, last: bool = False) -> None:
        """One thing said of the last layer that has such a thing."""
        if key == "bias" and self.layers and {name for name, _ in self.layers} <= {*_NORM}:
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
        elif key in ("weights", "bias", "gain", "shift", "temperature") and isinstance(value, Token):
            value = value.letters[0]
        elif key in ("per", "over", "does"):
            owner[key] = (*owner.get(key, ()), value)
            return
        elif key == "slope":
            value = next((v for k, v in pairs(value) if k == "slope"), value)
        elif key == "epsilon":
            value = _number(value)
        self.once(owner, key, value)

    @staticmethod
    def once(owner: Options, key: str, value: Any) -> None:
        """Nothing is said twice in two ways."""
        known = owner.setdefault(key, value)
        if known != value:
            if key == "bias" and "yes" in (known, value) and "no" not in (known, value):
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
        elif isinstance(value, Token):
            self.once(self.input, "letter", value.letters[0])

    # -- the chain -----------------------------------------------------------------------------------------------------

    @property
    def letters(self) -> dict[str, str]:
        return {"input": self.input["letter"]} if "letter" in self.input else {}

    @property
    def size(self) -> tuple[int, ...] | None:
        sizes = self.input.get("sizes", ())
        windowed = self.layers[0][0] == "pool"
        return tuple(map(int, sizes)) if windowed and sizes and all(n.isdigit() for n in sizes) else None

    @property
    def rank(self) -> int | None:
        """The number of the input's axes, where the words and not the layer say it."""
        first = self.layers[0][0]
        if first == "instance_norm":
            return 4 if "image" in self.layers[0][1].get("per", ()) else 3
        return None

    def chain(self) -> tuple[Part, ...]:
        """The layers with their options; raises :class:`Unread` where one of these is open."""
        if not self.layers:
            raise Unread("no layer")
        return tuple(self.part(*layer, n) for n, layer in enumerate(self.layers))

    def part(self, name: str, own: Options, n: int) -> Part:
        if name in ("pool", "conv"):
            return self.windowed(name, own, n)
        if name in _NORM:
            return self.normalised(name, own)
        given = {k: v for k, v in own.items() if v != "yes" or k not in ("bias", "tempered")}
        if "tempered" in own and "temperature" not in own:
            raise Unread("the temperature")
        if "slope" in given:
            slope = given["slope"]
            given["slope"] = slope.letters[0] if isinstance(slope, Token) else Fraction(str(slope))
        if given.get("bias") == "no":
            given["bias"] = False
        if name == "linear" and not {"weights", "bias"} & given.keys():
            raise Unread("the weights of a linear layer")
        if name in ("leaky_relu", "elu") and "slope" not in given:
            raise Unread("a slope")
        return Part(name, (), given)

    def windowed(self, name: str, own: Options, n: int) -> Part:
        """A pooling or a convolution, its windows checked as the words count them."""
        sizes = self.input.get("sizes") if not n else None
        rank = own.get("rank") or (len(sizes) if sizes else len(own.get("output", ())) or 0)
        if sizes and len(sizes) != rank or not rank:
            raise Unread("the axes of the windows")
        size: tuple[int | None, ...] = tuple(int(s) if s.isdigit() else None for s in sizes or ("n",) * rank)
        if "described" in own and not {"stride", "overlap", "disjoint"} & own.keys():
            raise Unread("the movement of the windows")
        channels = self.input.get("channels")
        if own.get("outchannels", channels) != channels or channels and name == "pool" and "channel" not in own.get(
                "per", ()):
            raise Unread("the channels")
        value = Value(None, name, (), {k: v for k, v in own.items() if k != "outchannels"} | {"rank": rank})
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

    def convolution(self, own: Options, given: Options, rank: int) -> Part:
        several = "filters" in own or "channels" in self.input
        if several and not (own.get("filters") and self.input.get("channels")):
            raise Unread("the channels")
        given |= {"filters": int(own["filters"])} if several else {"channels": False}
        given |= {key: own[key] for key in ("weights", "bias") if own.get(key, "yes") != "yes"}
        if own.get("bias") == "no" or "bias" not in own:
            given["bias"] = False
        return Part(f"conv{rank}d", (), given)

    def normalised(self, name: str, own: Options) -> Part:
        """A normalisation, of which the words say gain, shift and the number below the root, and do what it does."""
        per, over = _NORM[name]
        if not {*own.get("per", ())} <= per or not {*own.get("over", ())} <= over or {"gain", "shift", "epsilon"} - {
                *own} or len(own.get("does", ())) not in (0, 2):
            raise Unread("what is normalised")
        given = {what: False if own[what] == "no" else own[what] for what in ("gain", "shift", "epsilon")}
        return Part(name, (), given)


def _refuse_other_holdings(own: Options, found: Geometry, padded: bool) -> None:
    """Raise :class:`Unread` where the words divide by another number, or say of padding what a pooling does not do."""
    mean, fill = own["op"] == "avg", own.get("fill")
    if own.get("divisor", str(prod(found.kernel))) != str(prod(found.kernel)) or (
            mean and padded and own.get("counted") != "yes"):
        raise Unread("what the sum is divided by")
    if ("counted" in own and not (mean and padded)) or (fill == "never" and (mean or not padded)) or (
            fill == "zeros" and padded and not mean):
        raise Unread("what the windows hold")


def _number(said: Any) -> Fraction:
    """0.001 of 10^{-3}."""
    found = _POWER.fullmatch(said.formula.latex if isinstance(said, Token) else str(said))
    if found is None:
        raise Unread("the number below the root")
    return Fraction(found["n"]) if found["n"] else Fraction(1, 10 ** int(found["e"]))
