"""Poolings told by words: what becomes of a window, where the windows are, what they run over."""

from __future__ import annotations

from typing import Any

from derive.question.sentences.values import Unread, Value
from derive.question.sentences.windowed import Windowed


class Poolings(Windowed):
    """The part of a telling that makes poolings."""

    def pooling(self, value: Value, given: Any) -> Value:
        """The value behind a pooling."""
        return self.over_windows("pool", value, given)

    def verb_pooledby(self, value: Value, *given: Any) -> Value:
        """«the image is pooled by a 2×2 window»"""
        layer = self.the_windowed("pool")
        if layer.of[0] is not value:
            raise Unread("what is pooled")
        self.windows(layer, given)
        return layer
