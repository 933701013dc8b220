"""Windows whose sides and steps are letters, against what words say of them: max over 0 ≤ p < P of x_{S k + p}."""

from __future__ import annotations

import re
from collections.abc import Sequence

from derive.expr import Node, Num, Rel, Size, subst, walk
from derive.layers.forward import window_form
from derive.question.windows.wording import Words
from derive.question.words.lexicon import named

_NUMBERED = ("kernel_size", "stride", "padding", "padding at ends", "dilation", "ceil_mode", "same", "whole",
             "adaptive")
_OF_WINDOWS = ("geometry.window", "geometry.stride", "geometry.move", "geometry.dilation", "geometry.padding")
_APART = (3, 5, 7, 11, 13, 17)


def _numbers_windows(sentence: str) -> bool:
    """«each window has 3 entries»"""
    numbers = [f"geometry.{n}" for n in range(2, 11)]
    return bool(named(sentence, *_OF_WINDOWS)) and bool(named(sentence, *numbers) or re.search(r"\b\d", sentence))


def says_other_windows(words: Words, equations: Sequence[Rel]) -> bool:
    """Words give windows by letters numbers, or say that they are disjoint where their step is not their side."""
    if any(map(words.about, _NUMBERED)) or any(map(_numbers_windows, re.split(r"[.;?!¶]", words.plain.text))):
        return True
    letters = dict.fromkeys(n for equation in equations for n in walk(equation) if isinstance(n, Size))
    apart: dict[Node, Node] = {size: Num(n) for size, n in zip(letters, _APART, strict=False)}
    found = [axis for equation in equations for axis in window_form(subst(equation, apart)).axes or ()]
    return len(letters) > len(_APART) or bool(words.about("disjoint")) and any(
        axis.size != axis.stride for axis in found if (axis.size, axis.stride) != (1, 1))
