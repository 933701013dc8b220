"""The letters, axes and shapes of a telling's values."""

from __future__ import annotations

from collections.abc import Iterator

from derive.notation.symbols import name_of
from derive.question.emitted.geometry import Geometry
from derive.question.told.telling import Telling
from derive.question.told.values import INDICES, Axis, Unread, Value, space
from derive.receptive_field import ReceptiveField

_SIZES = ("D", "M", "K", "H", "P", "Q", "R", "S")


class Lettered:
    """A telling, and what of its statement is written so far."""

    def __init__(self, told: Telling) -> None:
        self.told = told
        self.forward: list[str] = []
        self.said: dict[str, tuple[int, str]] = {}  # the words of each formula
        self.shaped: list[tuple[str, list[Axis]]] = []
        self.inputs: list[str] = []
        self.parameters: list[str] = []
        self.constants: list[str] = []
        self.weights: list[str] = []
        self.biases: list[str] = []
        self.ranges: list[str] = []
        self.shaped_besides: list[str] = []
        self.sets: list[str] = []  # the letters of windows
        self.geometries: list[Geometry] = []
        self.fields: list[tuple[str, ReceptiveField]] = []
        self.input_size: tuple[str, ...] | None = None
        self.used = {s.name for s in told.table.symbols} | set(told.letters)
        self.indices = (c for c in INDICES if c not in self.used)
        if told.explained is not None:
            raise Unread("the mask of the dropout")
        output = told.loss or self._last()
        if output is None or output.made is None:
            raise Unread("what the layer computes")
        self.output = output
        self.batch_axis = self._batch() if told.batch else None
        self.loss_letter = "L"

    def _batch(self) -> Axis:
        """The axis of the samples; it is the first one of what the card declares with two."""
        told = self.told
        axis = Axis("n" if "n" not in self.used else next(self.indices), told.batch)
        for value in told.values:
            if value.axes and (value is told.input or value is told.target or value.made == "formula"):
                declared = value.axes[0].size
                if value is told.input and len(value.axes) != 2:
                    raise Unread("a batch of what has no rows")
                if declared is not None and declared.isalnum():
                    axis.size = declared
                value.axes = [axis, *value.axes[1:]]
        return axis

    def _last(self) -> Value | None:
        """What nothing else is made of; what was told last, where that is no use elsewhere."""
        last, seen = self.told.current, set[int]()
        while (uses := self._uses(last)) and id(uses[-1]) not in seen:
            last = uses[-1]
            seen.add(id(last))
        return last

    def _uses(self, value: Value | None) -> list[Value]:
        told = self.told
        name = name_of(value.letter) if value is not None and value.letter else None
        uses = [told.letters[head] for head, needs in told.needs.items() if name in needs and head in told.letters]
        return [*uses, *(v for v in told.values if value in v.of)]

    def _free(self, letters: tuple[str, ...]) -> str:
        taken = self.used | set(self.told.letters)
        letter = next((c for c in letters if name_of(c) not in taken), None)
        if letter is None:
            raise Unread("a free letter")
        self.used.add(name_of(letter))
        return letter

    def _given(self, value: Value) -> None:
        """The letter, the role and the axes of what no layer makes."""
        told = self.told
        if value.letter is None:
            value.letter = self._free(("t", "y", "d") if value is told.target else ("x", "u", "v"))
            told.letters[name_of(value.letter)] = value
        if name_of(value.letter) not in told.roles:
            role = self.constants if value is told.target else self.inputs
            declared = told.table.named(name_of(value.letter))
            if role is self.constants or value is told.input or declared is None:
                role.append(value.letter)
        if value.axes is None and value is not told.target:
            value.axes = [Axis(next(self.indices), value.options.get("size"))]
            if self.batch_axis:
                value.axes = [self.batch_axis, *value.axes]
            self.shaped.append((value.letter, value.axes))
        elif value.axes:
            if (size := value.options.get("size")) and value.axes[-1].size is None:
                value.axes[-1].size = size
            if told.table.named(name_of(value.letter)) is None or value.letter not in told.in_formulas:
                self.shaped.append((value.letter, value.axes))

    def _shapes(self) -> Iterator[str]:
        """The shapes of which something is known; sizes that nothing names get letters."""
        for letter, axes in self.shaped:
            if any(a.size for a in axes) or "_" in letter:
                for axis in axes:
                    axis.size = axis.size or self._free(_SIZES)
                yield space(letter, axes) or ""

    def _axes(self, value: Value) -> list[Axis]:
        """The axes, with indices where the card's formulas gave it some."""
        if value.axes is None:
            raise Unread(f"the axes of {value.letter}")
        return self._indexed(value.axes)

    def _indexed(self, axes: list[Axis]) -> list[Axis]:
        for axis in axes:
            axis.index = axis.index or next(self.indices)
        return axes

    def _name(self, value: Value, *letters: str) -> str:
        if value.letter is None:
            if value is self.output and value.made != "loss":
                letters = ("y", "z", "o", *letters)
            value.letter = self._free(letters)
            self.told.letters[name_of(value.letter)] = value
        return value.letter

