"""Small numbers for a layer and all that follows from them, by the derived formulas and by the evaluator."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import count, islice
from typing import Any, NamedTuple, cast

from derive.calculus.derivation import Step
from derive.errors import UnsupportedError, VerificationError
from derive.exposition.subject import Subject
from derive.expr import Entry, Expr, Idx, Num, Partial, Reduce, walk
from derive.magnitudes import expected
from derive.module import Module
from derive.numeric.arithmetic import EXACT, Arithmetic, close
from derive.numeric.point import Index, Undefined
from derive.numeric.shapes import extents
from derive.receptive_field import shares
from derive.verify.points.claims import Compiler
from derive.verify.points.draw import Draws, Pool
from derive.verify.points.extents import LARGEST
from derive.verify.points.point import Point, Values
from derive.verify.points.sizes import Sizes, choices
from derive.window_axis import Axis, WindowAxis

MOST_CELLS = 36  # of an input that is still read
_SIDES = {1: 6, 2: 4, 3: 2}  # of the input, by its axes
MOST_ENTRIES, MOST_AXES, MOST_TENSORS = 12, 2, 12  # what fits a page
_DRAWN, _MOST_DRAWN = 4, 16  # points to choose from, and those tried for them
_LARGEST, _FINEST = 10**4, 500  # numbers and denominators that can be read
_NUMBERS = {"any": (-3, -2, -1, 1, 2, 3), "positive": (1, 2, 3), "unit": (Fraction(1, 2), Fraction(1, 4)),
            "small": (Fraction(-1, 2), Fraction(1, 2))}
_GENTLE = (-1, Fraction(-1, 2), Fraction(1, 2), 1, 2)  # where e^{s} may stand, which grows fast
Formula = Callable[[Point, Index], Any]
Compiled = Callable[[tuple[Expr, ...], Expr], Formula]


class Result(NamedTuple):
    """The numbers of a tensor, of its δ, or of ∂y_k/∂x for one k; where its formula stands in the derivation."""

    node: Expr
    values: Values
    part: str


def worked(subject: Subject, kind: Arithmetic) -> tuple[Point, list[Result]] | None:
    """The point and what follows, the least dull of a few; None where nothing fits a page or avoids the kinks."""
    module = subject.module
    symbols = [s for name in (*module.given, *module.defined) if (s := module.table.named(name))]
    own = window_sizes(module)
    large = own is None and any(isinstance(n, int) and n > LARGEST for s in symbols for n in s.sizes)
    if any(s.above for s in symbols):  # x^i: x alone does not say which sample
        return None
    if large or len(symbols) > MOST_TENSORS or own is None and any(len(s.axes) > MOST_AXES for s in symbols):
        return None
    try:
        sizes = own or choices(module, 1)[0]
        if own is None and any(math.prod(shape) > MOST_ENTRIES for shape in sizes.shapes.values()):
            return None
        draws, compiled = _Draws(subject, kind, sizes), cache(Compiler.of(subject.messages, kind).function)
        drawn = ((point, _off_kinks(subject, point, compiled)) for point in map(draws.point, range(_MOST_DRAWN)))
        found = list(islice(((point, results) for point, results in drawn if results), _DRAWN))
    except UnsupportedError:
        return None
    return min(found, key=lambda f: _dull(*f)) if found else None


def _dull(point: Point, found: list[Result]) -> int:
    """How many results are 0 throughout, how many rounded ones small or large, how many given numbers are repeated."""
    repeated = sum(len(values) - len(set(values.values())) for values in point.given.values())
    rounded = (v for r in found for v in r.values.values() if v and not isinstance(v, (int, Fraction)))
    extreme = sum(not 0.005 < abs(float(v)) < 100 for v in rounded)
    return 12 * sum(not any(r.values.values()) for r in found) + 2 * extreme + repeated


class _Draws(Draws):
    """Small numbers that follow from the card's id."""

    def __init__(self, subject: Subject, kind: Arithmetic, sizes: Sizes) -> None:
        numbers_of = _NUMBERS if kind is EXACT else _NUMBERS | {"any": _GENTLE}
        pool = Pool({mode: tuple(map(kind.number, numbers)) for mode, numbers in numbers_of.items()})
        super().__init__(subject.module, kind, (sizes,), pool, ())
        seed = hashlib.sha256(subject.module.key.encode()).digest()
        self._source = random.Random(int.from_bytes(seed[:8], "big"))
        self._tried = 0
        self._expected = expected(subject.module)

    def _modes(self) -> dict[str, str]:
        """Whole numbers of both signs, unless they fail: then now and again numbers elsewhere."""
        self._tried += 1
        if self._tried % 3:
            return {name: self._expected.get(name, "any") for name in self.module.given}
        modes = dict(super()._modes())  # above 0 what is expected there, but perhaps elsewhere
        return modes | {name: "positive" if mode == "unit" and modes[name] != "unit" else mode
                        for name, mode in self._expected.items()}

    def _apart(self, number: Callable[[], Any]) -> Callable[[], Any]:
        """Whole numbers no two of which have the same size, of the sign that the mode gives."""
        most = max(math.prod(shape) for shape in self.sizes[0].shapes.values())
        sizes = iter(self._source.sample(range(1, most + max(3, 10 - most)), most))
        return lambda: self.kind.number((1 if number() > 0 else -1) * next(sizes))

    def _upstream(self, point: Point) -> dict[Any, Any]:
        output = point.values[self.module.output]
        return dict.fromkeys(output, self.kind.number(1)) if len(output) == 1 else super()._upstream(point)


def _off_kinks(subject: Subject, point: Point, compiled: Compiled) -> list[Result]:
    """All results; nothing at a kink, or where a number is too large or too fine to be read."""
    try:
        found = list(following(subject, point, compiled))
    except (Undefined, ArithmeticError, ValueError):
        return []
    numbers = [v for r in found for v in r.values.values()]
    fine = any(isinstance(v, Fraction) and v.denominator > _FINEST for v in numbers)
    return found if not fine and all(v == 0 or 1 / _LARGEST < abs(float(v)) < _LARGEST for v in numbers) else []


def following(subject: Subject, point: Point, compiled: Compiled) -> Iterator[Result]:
    """The tensors of the forward equations, the δ of each from the output back, the derivatives of the first output.

    Raises :class:`VerificationError` where a derived formula and the evaluator of the forward formula disagree.
    """
    for tensor in subject.module.defined:
        yield Result(Entry(tensor, ()), point.tensor(tensor), "forward")
    stages: dict[Entry, Step] = {}
    for target in subject.backward:
        stages |= {cast(Entry, s.before): s for s in subject.messages.stages(target.wrt)}
        stages[cast(Entry, subject.message(target).before)] = subject.message(target)
    for before, step in stages.items():
        value = compiled(before.indices, cast(Expr, step.after))
        known = point.tensor(before.tensor)
        values = {at: value(point, at) for at in known}
        yield Result(Entry(before.tensor, ()), _agreeing(values, known, point), "backward")
    for target in subject.forward:
        of, wrt = cast(Entry, target.before.of), cast(Entry, target.before.wrt)
        indices = (*of.indices, *wrt.indices)
        if len(set(indices)) == len(indices) and all(isinstance(i, Idx) for i in indices):
            first = min(point.tensor(of.tensor))
            value = compiled(indices, target.value)
            known = {by: point.partial(of.tensor, first, wrt.tensor, by) for by in point.tensor(wrt.tensor)}
            node = Partial(Entry(of.tensor, tuple(map(Num, first))), Entry(wrt.tensor, ()))
            values = {by: value(point, (*first, *by)) for by in known}
            yield Result(node, _agreeing(values, known, point), "derivatives")


def _agreeing(derived: Values, known: Values, point: Point) -> Values:
    for at, value in derived.items():
        if not close(value, known[at]):
            raise VerificationError(f"a worked example: the derived formula gives {value} and the forward formula"
                                    f" {known[at]} for {point.describe()}")
    return derived


def window_sizes(module: Module) -> Sizes | None:
    """The shapes of the example; None where the layer is no single reduction over windows of its input."""
    source = module.table.named(module.inputs[0]) if len(module.inputs) == 1 else None
    _, value = module.definition(module.output)
    reduced = any(isinstance(n, Reduce) and any(isinstance(e, Entry) and e.indices == n.binder.variables
                                                for e in walk(n.body)) for n in walk(value))
    if len(module.equations) > 1 or module.parameters or module.constants or source is None or not reduced:
        return None
    field, rank = module.receptive_field, len(source.axes)
    if rank not in _SIDES or (field is None and module.name is None):
        return None
    sides = tuple(_side(axis, rank) for axis in field.axes) if field else (min(3, _SIDES[rank]),) * rank
    known = module.input_size
    shape = known if known and math.prod(known) <= MOST_CELLS else sides
    if math.prod(shape) > MOST_CELLS:
        return None
    return Sizes({}, dict(extents(module, {source.name: shape}).shapes))


def _side(axis: Axis, rank: int) -> int:
    """The smallest extent with two windows that hold entries; of three axes with one."""
    least = 1 if rank > 2 else 2
    if not isinstance(axis, WindowAxis):
        return max(_SIDES[rank], axis.output_size(0) + 2)
    return next(n for n in count(_SIDES[rank])
                if sum(1 for k in range(axis.output_size(n)) if axis.covered(k, n)) >= least
                and (least == 1 or shares(axis, n)))
