"""Poolings told by words: what becomes of a window, where the windows are, what they run over."""

from __future__ import annotations

from typing import Any

from derive.question.sentences.actions import Say
from derive.question.told.values import Unread, Value
from derive.question.told.windowed import Windowed


class Poolings(Windowed):
    """The part of a telling that makes poolings."""

    def pooling(self, value: Value, given: Any) -> Value:
        """The value behind a pooling."""
        return self.over_windows("pool", value, given)

    def verb_pooledby(self, value: Value, *given: Any) -> Value:
        """«the image is pooled by a 2×2 window»"""
        found = [v for v in self.values if v.made == "pool"]
        layer = self.the_windowed("pool") if found else self.pooling(value, ())
        if layer.of[0] is not value:
            raise Unread("what is pooled")
        self.windows(layer, given[:2])
        if len(given) > 2 and given[2] is not None:
            self.option(layer, "count", given[2])
        return layer

    def verb_opooled(self, value: Value, op: str, given: Any = None, giving: Any = None) -> Value:
        """«the map is max-pooled with 2×2 windows»"""
        return self.verb_giving(self.pooling(value, (("op", op), given)), giving)

    def on_pooldef(self, said: Any) -> None:
        """«each output is the smallest of three inputs»; «the mean of every window is the output»"""
        if not any(v.made == "pool" for v in self.values):
            self.current = self.pooling(self.current or self.source(), ())
        self.windows(self.the_windowed("pool"), (said if isinstance(said, Say) else ("op", said),))

    def on_fieldhas(self, said: Say) -> None:
        """«the image has 4×6 pixels»"""
        self.computed(said) if self.start is None else self.field(said)
