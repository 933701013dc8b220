"""Layers named by words, between values: what stands in “a dense layer with three units and a bias, then a sigmoid”."""

from __future__ import annotations

import re
from typing import Any

from derive.notation.symbols import latex_of, name_of
from derive.question.parts.recognised import SLOPED
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Token
from derive.question.told.convolutions import Convolutions
from derive.question.told.losses import Losses
from derive.question.told.poolings import Poolings
from derive.question.told.state import heads, pairs
from derive.question.told.values import Misread, Unread, Value

_ACTS = re.compile(r"\\(?:max|tanh|sigma|exp|log|mathrm|operatorname|text)|relu")


class Layers(Losses, Convolutions, Poolings):
    """The part of a telling that makes values of layers."""

    def through(self, value: Value, said: Any) -> Value:
        """The value behind the layers."""
        if said.kind == "parts":
            return self.through(value, said[0])
        if said.kind == "join":
            return self.through(self.through(value, said[0]), said[1])
        match said.kind:
            case "dense":
                return self.dense(value, pairs(said))
            case "act":
                return self.activation(value, said[0], dict(pairs(said[1])).get("slope"))
            case "own":
                return self.own(value, said[0])
            case "dropout":
                return self.dropout(value, said[0], said[1])
            case "losses" | "penalised":
                self.compute_loss(said, value)
                return value
            case "conv":
                return self.convolution(value, said.of)
            case "pool":
                return self.pooling(value, said.of)
            case "written":
                return self.written(value, said)
            case "module":
                return self.attributes(self.through(value, said[0]), said[1])
            case "residual":
                return self.new(None, "sum", value, self.through(value, said[0]))
        raise Unread(f"“{said.kind}”")

    def activation(self, value: Value, name: str, slope: str | None = None) -> Value:
        if name == "softmax":
            return self.new(None, "softmax", value)
        if slope is not None and name not in SLOPED:
            raise Unread(f"the slope of {name}")
        return self.new(None, "fn", value, name=name, slope=slope)

    def own(self, value: Value, token: Token) -> Value:
        """A function that the card writes."""
        function = heads(token.formula, functions=True)
        if len(function) != 1:
            raise Unread("a function")
        return self.new(None, "own", value, name=latex_of(function[0]))

    def written(self, value: Value, said: Say) -> Value:
        """«an affine layer, Z = XW + b»: the formula is the layer."""
        given = dict(pairs(said[0]))
        latex = self.raw["forward"][-1] if self.raw["forward"] else ""
        acts = not _ACTS.search(latex) if "act" in given else False
        if self.written_value is None or set(given) - {"units", "inputs", "bias", "act"} or acts:
            raise Unread("a layer and its formula")
        return self.written_value

    def dropout(self, value: Value, mask: Token | None, keep: Token | None) -> Value:
        if mask is None or keep is None:
            if mask is not keep or self.explained is not None:
                raise Unread("“dropout”")
            self.explained = value  # a product with a mask must follow
            return value
        given = self.lettered(mask), self.lettered(keep)
        self.roles |= {name_of(v.letter or ""): "constants" for v in given}
        given[1].axes = []
        self.nouns["keep"] = given[1]
        return self.new(None, "quotient", self.new(None, "product", value, given[0]), given[1])

    def on_masked(self, letter: Token) -> None:
        """«the others are divided by p»: what inverted dropout does."""
        if self.nouns.get("keep") is not self.lettered(letter):
            raise Unread("what is divided")

    def dense(self, value: Value, given: Any) -> Value:
        """W x + b with what is said of its units, and the activation behind."""
        units = self.new(None, "dense", value)
        acts = []
        for key, said in given:
            if key == "act":
                acts.append(said)
            elif key == "on":
                units.of = (self.value(said),)
            else:
                self.attribute(units, key, said)
        if len(acts) > 1:
            raise Unread("two activations")
        return self.activation(units, acts[0]) if acts else units

    def attribute(self, units: Value, key: str, said: Any) -> None:
        """What is said of a linear layer."""
        if key == "inputs":
            self.attribute_of_input(units.of[0], said)
        elif key == "units":
            if units.options.setdefault("units", said) != said:
                raise Unread("two numbers of units")
        elif key == "weights":
            units.options["weights"] = said.letters[0]
        elif key == "bias":
            own = said.letters[0] if isinstance(said, Token) else said == "yes"
            known = units.options.get("bias", own)
            if known != own and not (known is True and own):
                raise Unread("the bias")
            units.options["bias"] = own
        elif key == "more":
            for other, value in pairs(said):
                self.attribute(units, other, value)
        elif key in ("hidden", "same", "model"):
            units.options[key] = True
        elif key != "noact":
            raise Unread(f"“{key}”")

    def attributes(self, value: Value, attrs: Any) -> Value:
        """«the layer has three units and a bias», «… and a sigmoid activation»"""
        units, own = value, True
        while units.made in ("fn", "softmax"):
            units = units.of[0]
        if units.made != "dense":
            units, own = self.only_linear(), False
        for key, said in pairs(attrs):
            if not own and key not in ("inputs", "units", "bias"):
                raise Unread("“has”")
            if key == "act":
                if value.made != "dense":
                    raise Unread("two activations")
                value = self.activation(value, said)
            elif key == "on":
                raise Unread("“on”")
            else:
                self.attribute(units, key, said)
        return value

    def only_linear(self) -> Value:
        """The one linear layer of a block, whose inputs and outputs are those of the block."""
        found = [value for value in self.values if value.made == "dense"]
        if len(found) != 1 or any(value.made == "formula" for value in self.values):
            raise Misread("“has”")
        return found[0]

    def on_sharedinput(self, letter: Token | None) -> None:
        """«both of them receive the same input x»"""
        source = self.ref("input", letter)
        if len(found := self.linear()) != 2:
            raise Unread("which layers have the same input")
        for units in found:
            units.of = (self.input_of(units, source),)

    def input_of(self, units: Value, source: Value) -> Value:
        """The input, where a layer has none yet: not behind another layer."""
        if units.of[0] is not source and (units.of[0].made is not None or units.of[0].letter):
            raise Misread("the input of both layers")
        return source

    def on_sameinput(self, said: Any, count: str | None) -> None:
        """«both layers receive x as input and have n units»"""
        source = self.ref("input", said[1])
        for units in self.linear():
            if units.of[0] is not source:
                raise Unread("the input of both layers")
            if count is not None:
                self.attribute(units, "units", count)

    def verb_attrs_units(self, value: Value, count: str) -> Value:
        return self.attributes(value, (("units", count),))

    def on_nobias(self) -> None:
        kernels = [value for value in self.values if value.made == "conv"]
        for layer in kernels:
            self.option(layer, "bias", "no")
        for units in () if kernels and not any(v.made == "dense" for v in self.values) else self.linear():
            self.attribute(units, "bias", "no")

    def on_allbias(self) -> None:
        for units in self.linear():
            self.attribute(units, "bias", "yes") if "bias" not in units.options else None

    def on_absent(self, absent: Say) -> None:
        if absent.kind == "opts":
            self.on_nobias()

    def linear(self) -> list[Value]:
        found = [value for value in self.values if value.made == "dense"]
        if not found:
            raise Unread("the bias of what")
        return found
