"""Convolutions told by words: kernel, stride, padding, dilation and bias, in one sentence or in several."""

from __future__ import annotations

from typing import Any

from derive.notation.symbols import name_of
from derive.question.sentences.meaning import Say
from derive.question.sentences.state import Told, pairs
from derive.question.sentences.tokens import Token
from derive.question.sentences.values import Axis, Misread, Unread, Value


class Convolutions(Told):
    """The part of a telling that makes convolutions."""

    def convolution(self, value: Value, given: Any) -> Value:
        """The value behind a convolution."""
        found = self.new(None, "conv", value)
        self.convolved(found, given)
        return found

    def convolved(self, conv: Value, given: Any) -> None:
        """What is said of a convolution, nothing of it twice in two ways."""
        for key, said in pairs(given):
            if key == "kernel":
                said = _extents(said)
                self._of_rank(conv, len(said))
            elif key == "rank":
                self._of_rank(conv, int(said))
                continue
            elif key == "weights":
                self._declared(conv, said)
                said = said.letters[0]
            elif key == "bias":
                said = said.letters[0] if isinstance(said, Token) else said == "yes"
            if conv.options.setdefault(key, said) != said and not (key == "bias" and conv.options[key] is True):
                raise Unread(f"the {key} of the convolution")
            conv.options[key] = said

    def _of_rank(self, conv: Value, rank: int) -> None:
        if conv.options.setdefault("rank", rank) != rank:
            raise Unread("the axes of the convolution")

    def _declared(self, conv: Value, token: Token) -> None:
        """The kernel's size in its declaration: w ∈ R^3."""
        axes = self.axes_known(name_of(token.letters[0])) or []
        sizes = [a.size for a in axes if a.size is not None]
        if sizes:
            self.convolved(conv, (("kernel", Say("area", tuple(sizes))),))

    def the_convolution(self) -> Value:
        found = [v for v in self.values if v.made == "conv"]
        if len(found) != 1:
            raise Unread("which convolution")
        return found[0]

    def on_convolves(self, image: Say, *given: Any) -> None:
        self.current = self.convolution(self.convolved_input(image), given)

    def verb_convattrs(self, value: Value, given: Any) -> Value:
        if value.made != "conv":
            raise Misread("“has”")
        self.convolved(value, given)
        return value

    def on_convmoved(self, stride: str, giving: Any = None) -> None:
        self.convolved(self.the_convolution(), (("stride", stride),))
        self.verb_giving(self.the_convolution(), giving)

    def on_convinput(self, letter: Token | None, cells: Any, padding: str) -> None:
        conv = self.the_convolution()
        conv.of = (self.convolved_input(Say("image", (letter, cells))),)
        self.convolved(conv, (("padding", padding),))

    def convolved_input(self, said: Say) -> Value:
        """An image or a signal with its size."""
        value = self.lettered(said[0]) if isinstance(said[0], Token) else self.source()
        sizes = _extents(said[1]) if said.kind == "image" else tuple(said.of[1:])
        if value.made is not None or value.axes is not None and value.letter is None:
            raise Unread("what is convolved")
        value.axes, self.input = [Axis("", size) for size in sizes], value
        return value

    def on_convhas(self, _: Say, given: Any) -> None:
        self.convolved(self.the_convolution(), given)

    def on_convtaps(self, _: Say, cells: Any) -> None:
        self.convolved(self.the_convolution(), (("kernel", cells),))

    def on_convfact(self, *given: Any) -> None:
        self.convolved(self.the_convolution(), tuple(g for g in given if g is not None))

    def on_convinput2(self, image: Say, padding: str) -> None:
        conv = self.the_convolution()
        conv.of = (self.convolved_input(image),)
        self.convolved(conv, (("padding", padding),))

    def on_convbias(self, letter: Token | None = None, giving: Any = None) -> None:
        """«a scalar bias b is added»"""
        units = self.current
        if units is None or units.made not in ("conv", "dense") or units.options.get("bias") is False:
            raise Unread("the bias of what")
        units.options["bias"] = letter.letters[0] if isinstance(letter, Token) else True
        self.verb_giving(units, giving)


def _extents(said: Any) -> tuple[str, ...]:
    if isinstance(said, Say):
        return tuple(said.of)
    if isinstance(said, Token):
        return tuple(said.text.split("×"))
    return tuple(str(said).split("×"))
