"""Windows told by words: their size, movement, gaps and padding, and what they run over, in one sentence or several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from derive.question.sentences.actions import Say, extents
from derive.question.sentences.tokens import Token
from derive.question.told.state import Told, pairs
from derive.question.told.values import Axis, Misread, Unread, Value

_OF_WINDOWS = re.compile(r"\\(?:max|min)\s*_|\\in\s*\\?[A-Za-z{}\\]+\s*\(")  # a formula of windows
WINDOWED = ("conv", "pool")
_SIZES = ("kernel", "stride", "dilation", "overlap", "output")


class Windowed(Told):
    """The part of a telling that knows windows."""

    def over_windows(self, made: str, value: Value, given: Any) -> Value:
        """A layer of windows behind a value, with the padding that was said of it before."""
        if any(_OF_WINDOWS.search(latex) for latex in self.raw["forward"]):
            raise Unread("a layer and its formula")
        found = self.new(None, made, value)
        self.windows(found, (*value.options.pop("padded", ()), given))
        return found

    def windows(self, layer: Value, given: Any) -> None:
        """What is said of a layer's windows, nothing of it twice in two ways."""
        for key, said in pairs(given):
            if key in _SIZES and said != "half":
                said = extents(said)
                if len(said) > 1:
                    self._of_rank(layer, len(said))
            if key == "padding" and len(said) > 2:
                self._of_rank(layer, len(said) - 1)
            if key == "which":
                continue
            if key == "length":
                self._of_rank(layer, 1)
                key, said = "kernel", extents(said)
            if key == "rank":
                self._of_rank(layer, int(said))
            elif key == "on":
                self.run_over(layer, said)
            elif key == "name":
                self.named(layer, said)
            else:
                self.option(layer, key, said)

    def option(self, layer: Value, key: str, said: Any) -> None:
        """One thing said of the layer."""
        known = layer.options.setdefault(key, said)
        if known != said:
            if key not in _SIZES or len({*known, *said}) > 1:
                raise Unread(f"the {key} of the windows")
            layer.options[key] = max(known, said, key=len)

    def _of_rank(self, layer: Value, rank: int) -> None:
        if layer.options.setdefault("rank", rank) != rank:
            raise Unread("the axes of the windows")

    def run_over(self, layer: Value, said: Any) -> None:
        """The layer takes this."""
        before = layer.of[0]
        found = self.field(said) if _is_field(said) and before.made is None else self.value(said)
        if found is layer:
            raise Unread("what the windows run over")
        if found is not before:
            layer.of = (found,)
            if before.made is None:
                self.begins(before, found)

    def the_windowed(self, *made: str) -> Value:
        """The one layer with windows: that of the last sentence, or the only one."""
        if self.current is not None and self.current.made in made:
            return self.current
        found = [v for v in self.values if v.made in made]
        if len(found) != 1:
            raise Unread("which windows")
        return found[0]

    def verb_windows(self, value: Value, on: Any, *given: Any) -> Value:
        """«… slides a window of three samples over a signal»"""
        known = any(v.made in WINDOWED for v in self.values)
        if not known and any(key == "op" for key, _ in pairs(given)):  # «the layer averages over windows of …»
            value = self.over_windows("pool", value, ())
        layer = value if value.made in WINDOWED else self.the_windowed(*WINDOWED)
        if isinstance(on, Say):
            self.run_over(layer, on)
        elif layer is not value:
            raise Unread("of what the windows are")
        self.windows(layer, given)
        return layer

    def on_windows(self, *given: Any) -> None:
        layers = [v for v in self.values if v.made in WINDOWED]
        if not layers:
            raise Misread("which windows")
        named = all(isinstance(item, Say) and item.kind == "opts" and ("which", "pool") in item.of
                    for item in _each(given))
        if len(layers) > 1 and not named:
            raise Unread("which windows")
        self.windows(self.the_windowed("pool") if named else self.the_windowed(*WINDOWED), given)

    def field(self, said: Say) -> Value:
        """An image or a signal with its size: the input, or what has been computed so far."""
        letter, sizes = said[0], extents(said[1])
        value = self.lettered(letter) if isinstance(letter, Token) else self.source()
        if value.made is not None:
            raise Misread("what is given")
        known = None if value.axes is None else [a.size for a in value.axes]
        if known is not None and (len(known) != len(sizes) or any(
                a not in (None, b) for a, b in zip(known, sizes, strict=True))):
            raise Misread("the size of what is given")
        value.axes, self.input = [Axis("", size) for size in sizes], value
        return value

    def on_pipe(self, field: Say, layer: Say) -> None:
        """«a signal of nine samples, average pooling with windows of three»"""
        self.current = self.through(self.computed(field), layer)

    def on_field(self, said: Say) -> None:
        """«the input has length nine»"""
        if said.kind in ("mapped", "mapshape"):
            self.value(said)
        else:
            self.field(said)

    def computed(self, said: Say) -> Value:
        """A field in a sentence behind that of a layer is what the layer makes, of the size that is said."""
        start = self.start
        if start is None or start.made is None or said[2] == "input":
            return self.field(said)
        if start.made not in WINDOWED:
            raise Unread("what is given")
        self.windows(start, (("output", said[1]),))
        return self.named(start, said[0]) if isinstance(said[0], Token) else start


def _each(given: Any) -> Iterator[Any]:
    """The things said, one after the other."""
    for item in given:
        if isinstance(item, tuple):
            yield from _each(item)
        else:
            yield item


def _is_field(said: Any) -> bool:
    return isinstance(said, Say) and said.kind in ("image", "signal1")
