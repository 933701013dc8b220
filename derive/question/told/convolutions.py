"""Convolutions told by words: their letters and their bias; what is said of their windows stands in the class above."""

from __future__ import annotations

from typing import Any

from derive.notation.symbols import name_of
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Token
from derive.question.told.values import Misread, Unread, Value
from derive.question.told.windowed import WINDOWED, Windowed


class Convolutions(Windowed):
    """The part of a telling that makes convolutions."""

    def convolution(self, value: Value, given: Any) -> Value:
        """The value behind a convolution."""
        return self.over_windows("conv", value, given)

    def option(self, layer: Value, key: str, said: Any) -> None:
        """One thing said of the layer; the kernel's letter says its size where it is declared."""
        if key == "weights":
            axes = self.axes_known(name_of(said.letters[0])) or []
            sizes = tuple(a.size for a in axes if a.size is not None)
            if sizes:
                self.windows(layer, (("kernel", sizes),))
                self._of_rank(layer, len(sizes))
            said = said.letters[0]
        elif key == "bias":
            said = said.letters[0] if isinstance(said, Token) else said == "yes"
            if layer.options.get("bias") is True and said is not False:
                layer.options["bias"] = said
                return
        super().option(layer, key, said)

    def on_convolves(self, image: Say, *given: Any) -> None:
        self.current = self.convolution(self.value(image), given)

    def verb_winattrs(self, value: Value, given: Any) -> Value:
        if value.made not in WINDOWED:
            raise Misread("“has”")
        self.windows(value, given)
        return value

    def on_convfact(self, *given: Any) -> None:
        layer = self.the_windowed("conv")
        self.windows(layer, tuple(g for g in given if not (isinstance(g, Say) and g.kind == "giving")))
        self.verb_giving(layer, given[-1] if given else None)

    def on_convbias(self, letter: Token | None = None, giving: Any = None) -> None:
        """«a scalar bias b is added»"""
        units = self.current
        if units is None or units.made not in ("conv", "dense") or units.options.get("bias") is False:
            raise Unread("the bias of what")
        units.options["bias"] = letter.letters[0] if isinstance(letter, Token) else True
        self.verb_giving(units, giving)

    def on_padded(self, field: Say, *given: Any) -> None:
        """«the input is padded with one zero on each side»: of the convolution that is told, or of the next one."""
        layers = [v for v in self.values if v.made in WINDOWED]
        if not layers:
            source = self.value(field)
            source.options["padded"] = given
            self.current = self.current or source
            return
        if len(layers) != 1 or layers[0].of[0].made is not None:
            raise Unread("what is padded")
        self.run_over(layers[0], field)
        self.windows(layers[0], given)
