"""Convolutions and poolings as the catalogue writes them, with a telling's letters and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from derive.layers import Composed, compose
from derive.layers.chain import Part
from derive.notation.symbols import identifier, latex_of, name_of
from derive.question.emitted.geometry import CLAIMS, Geometry, geometry
from derive.question.emitted.lettered import Lettered
from derive.question.told.values import Axis, Unread, Value, entry

_REDUCED = {"avg": r"\sum", "sum": r"\sum", "max": r"\max", "min": r"\min"}


class WindowFormulas(Lettered):
    """The part of an emission that writes layers with windows, as the catalogue has them."""

    def _conv(self, value: Value) -> str:
        options = value.options
        if "bias" not in options:
            raise Unread("the bias of the convolution")
        found = self._geometry(value, channels=False)
        letters = {"weights": options.get("weights") or self._free(("w", "K", "k"))}
        self.weights.append(letters["weights"])
        if options["bias"]:
            letters["bias"] = options["bias"] if isinstance(options["bias"], str) else self._free(("b", "c", "d"))
            self.biases.append(letters["bias"])
        options["weights"] = letters["weights"]
        for letter in letters.values():
            self.told.letters.setdefault(name_of(letter), Value(letter, words=value.words))
        self.parameters += letters.values()
        given = {"channels": False, **({} if options["bias"] else {"bias": False})}
        return self._composed(value, f"conv{found.rank}d", found, given, letters).formulas[0]

    def _pool(self, value: Value) -> str:
        (source,) = value.of
        op = value.options.get("op")
        if op is None:
            raise Unread("what becomes of a window")
        if value.options.get("global"):
            if CLAIMS & value.options.keys():
                raise Unread("the windows of a pooling over the whole input")
            return self._global_pool(value, op)
        found = self._geometry(value, channels=len(self._pixels(value)) == 3)
        fill, counted = value.options.get("fill"), value.options.get("counted", "yes") == "yes"
        padded = any(b + a for b, a in found.padding)
        if padded and op in ("max", "min", "median") and fill != "never":
            raise Unread("what the padding of a maximum is")
        if op == "avg" and padded and fill == "never":
            counted = False
        given: dict[str, Any] = {"count_include_pad": counted} if op == "avg" and padded else {}
        divisor = value.options.get("divisor")
        if divisor is not None and (op != "avg" or divisor != str(prod(found.kernel))):
            raise Unread("the divisor of the mean")
        made = self._composed(value, f"{op}_pool", found, given, {}, ("y", "h"))
        self.fields += [(identifier(name_of(latex)), field) for latex, field in made.fields]
        if source is self.told.input and value is self.output and None not in found.sizes and (
                len(self._pixels(value)) == found.rank):
            self.input_size = tuple(str(n) for n in found.sizes)
            for axis in self._pixels(value):  # the size of an instance, not of every input
                axis.size = ""
        return made.formulas[0]

    def _pixels(self, value: Value) -> list[Axis]:
        """The axes of what goes in; an image or a signal of no said size has as many as the window."""
        (source,) = value.of
        if self.batch_axis is not None:
            raise Unread("windows over a batch")
        rank = value.options.get("rank")
        if source.made is None and source.axes and len(source.axes) == 1 and not source.axes[0].size and rank == 2:
            source.axes.append(Axis(next(self.indices)))
        return self._axes(source)

    def _geometry(self, value: Value, channels: bool) -> Geometry:
        axes = self._pixels(value)
        sizes = [int(a.size) if a.size and a.size.isdecimal() else None for a in axes]
        self.geometries.append(geometry(value, tuple(sizes[1:] if channels else sizes)))
        return self.geometries[-1]

    def _composed(self, value: Value, name: str, found: Geometry, given: Mapping[str, Any], letters: dict[str, str],
                  choices: tuple[str, ...] = ("z", "a", "s")) -> Composed:
        """The catalogue's formula in the letters of the telling, and what holds of them."""
        (source,) = value.of
        axes = self._axes(source)
        letters = {"input": source.letter or "", **letters, "output": self._name(value, *choices)}
        part = Part(name, (), {"kernel_size": found.kernel, "stride": found.stride, "padding": found.padding,
                               "dilation": found.dilation, **given})
        taken = [latex_of(name) for name in (*self.used, *self.told.letters) if latex_of(name) not in letters.values()]
        made = compose((part,), letters=letters, taken=[*taken, *self.sets], rank=len(axes),
                       channels=len(axes) > found.rank)
        self.sets += [latex for latex, _ in made.fields]
        sizes = [a.size for a in axes]
        ranges, shapes = list(made.ranges), [s for s in made.shapes if not s.startswith(rf"{source.letter} \in")]
        if ranges and None in sizes:
            shapes = list(made.shapes)
        elif None not in sizes:
            ranges = [_with_sizes(r, made.shapes, source.letter or "", sizes) for r in ranges]
            formula = _with_sizes(made.formulas[0], made.shapes, source.letter or "", sizes)
            made = Composed(made.parts, (formula,), made.output, fields=made.fields)
        self.ranges += ranges
        self.shaped_besides += shapes
        outputs = [None if n is None else str(n) for n in found.outputs]
        value.axes = [*axes[: len(axes) - found.rank], *(Axis(next(self.indices), n) for n in outputs)]
        return made

    def _global_pool(self, value: Value, op: str) -> str:
        """The mean of each channel, or of a signal or an image of one."""
        axes = self._pixels(value)
        (source,) = value.of
        if op not in _REDUCED or any(key in value.options for key in ("kernel", "stride", "padding", "disjoint")):
            raise Unread("a global pooling with windows")
        kept = axes[:-2] if len(axes) == 3 else []
        inner = axes[len(kept):]
        if value.options.get("size") not in (None, *[a.size for a in kept]):
            raise Unread("how many channels there are")
        for axis in inner if op == "avg" else ():
            axis.size = axis.size or self._free(("H", "W", "M", "P", "Q"))
        value.axes = list(kept)
        name = self._name(value, "s", "g", "h", "z", "u")
        inside = ",".join(a.index for a in inner)
        sizes = [a.size or "" for a in inner]
        count = str(prod(map(int, sizes))) if all(map(str.isdigit, sizes)) else " ".join(sizes)
        factor = rf"\frac{{1}}{{{count}}} " if op == "avg" else ""
        return rf"{entry(name, value.axes)} = {factor}{_REDUCED[op]}_{{{inside}}} {entry(source.letter or '', axes)}"


def _with_sizes(text: str, shapes: tuple[str, ...], source: str, sizes: list[str | None]) -> str:
    """0 ≤ i < n − 1 with the number that n is."""
    for shape in shapes:
        head, _, space = shape.partition(r" \in \mathbb{R}^{")
        if head == source:
            for letter, size in zip(space.rstrip("}").split(r" \times "), sizes, strict=True):
                text = re.sub(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])", size or letter, text)
    return text
