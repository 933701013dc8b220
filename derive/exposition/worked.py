"""Small numbers for a layer and all that follows from them, by the derived formulas and by the evaluator."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import count, cycle, islice
from typing import Any, NamedTuple, cast

from derive.errors import CardError, UnsupportedError, VerificationError
from derive.exposition.subject import Subject
from derive.expr import Entry, Expr, Fn, Idx, Num, Partial, Reduce, walk
from derive.functions import known
from derive.magnitudes import distributions, expected, targets
from derive.module import Module, Update
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import EXACT, Arithmetic, close
from derive.numeric.point import Index, TwoCases, Undefined
from derive.numeric.shapes import extents
from derive.pointers import counts
from derive.receptive_field import shares
from derive.reductions import selects
from derive.verify.points.claims import Claim, Compiler, Refuted, shown
from derive.verify.points.draw import Draws, Pool, thresholds
from derive.verify.points.extents import LARGEST
from derive.verify.points.facts import Facts, Total
from derive.verify.points.point import Point, Values, shape_of
from derive.verify.points.sizes import Sizes, again, choices
from derive.window_axis import Axis, WindowAxis

MOST_CELLS = 64  # of an input that is still read
_SIDES = {1: 6, 2: 4, 3: 2}  # of the input, by its axes
MOST_ENTRIES, MOST_AXES, MOST_TENSORS = 12, 2, 12  # beyond which each size is as small as it can be
MOST_NUMBERS = 120  # of all tensors together: what fits a page
_DRAWN, _MOST_DRAWN = 6, 16  # points to choose from, and those tried for them
_GREATEST = 10**12  # result of given numbers that a table holds
_LARGEST, _FINEST = 10**4, 500  # numbers and denominators that can be read
_NUMBERS = {"any": (-3, -2, -1, 1, 2, 3), "positive": (1, 2, 3), "unit": (Fraction(1, 4), Fraction(3, 4)),
            "small": (Fraction(-1, 4), Fraction(1, 4), Fraction(-3, 4), Fraction(3, 4))}
_GENTLE = (-1, Fraction(-1, 2), Fraction(1, 2), 1, 2)  # where e^{s} stands, which grows fast
_UPSTREAM = (2, -1, 3, 1, -2, 5, -3, 4, 7, -4, 6, -5)
_BRANCH = 5  # repeated numbers are better than a branch less
_OTHERS = 3  # points for the branches that the first one leaves out
_CLASSES = 3  # of two, one is what the other leaves
_KINK = ("at the numbers of the question the layer is not differentiable (a tie or a kink): choose others, or leave "
         "them out")
Formula = Callable[[Point, Index], Any]
Compiled = Callable[[tuple[Expr, ...], Expr], Formula]


class Result(NamedTuple):
    """The numbers of a tensor, of its δ, or of ∂y_k/∂x for one k; where its formula stands in the derivation."""

    node: Expr
    values: Values
    part: str


_Seen = tuple[frozenset[tuple[int, int]], Point]  # a point, and the branches that hold there


class Worked(NamedTuple):
    """Numbers and what follows from them."""

    point: Point
    results: list[Result]


def worked(subject: Subject, kind: Arithmetic) -> list[Worked]:
    """The least dull of a few points; then one for each branch of the definitions that those before do not visit.

    Nothing where no numbers fit a page or avoid the kinks.
    """
    module = subject.module
    if module.values:
        return [_stated(subject, kind)]
    symbols = [s for name in (*module.given, *module.defined) if (s := module.table.named(name))]
    own = window_sizes(module)
    large = own is None and any(isinstance(n, int) and n > LARGEST for s in symbols for n in s.sizes)
    if any(s.above for s in symbols):  # x^i: x alone does not say which sample
        return []
    if large:
        return []
    try:
        sizes = own or _sizes(module)
        counts = [math.prod(shape) for shape in sizes.shapes.values()]
        if own is None and (max(counts) > MOST_CELLS or sum(counts) > MOST_NUMBERS):
            return []
        draws, compiler = _Draws(subject, kind, sizes), Compiler.of(subject.messages, kind)
        compiled = cache(compiler.function)
        branches = [c for equation in module.equations for c in compiler.claims(equation) if c.marks]
        points = _seen(draws, branches)
        return _chosen(points, lambda point: _off_kinks(subject, point, compiled))
    except UnsupportedError:
        return []


def _seen(draws: _Draws, branches: list[Claim]) -> list[_Seen]:
    """Points with the branches that hold there: more, whose numbers are closer, where these leave one out."""
    places = {(n, hit) for n, claim in enumerate(branches) for hit in range(len(claim.marks))}
    found: list[_Seen] = []
    for tried in range(2 * _MOST_DRAWN):
        if tried == _MOST_DRAWN and not places.difference(*(visited for visited, _ in found)):
            break
        if _ends(point := draws.point(tried)):
            found.append((_visited(branches, point), point))
    return found


def _ends(point: Point) -> bool:
    """What is given is as the page has it, to four decimals: 0.3333 is not 1/3, of which the rest is computed."""
    return point.kind is EXACT or all(
        v == round(v, 4) for name in point.module.given for v in point.values[name].values())


def stated(module: Module, kind: Arithmetic) -> Point:
    """The numbers of the question; δ of its output where it gives one, 1 of a single number.

    Raises :class:`CardError` where the formula has no value there.
    """
    numbers = {name: {at: kind.number(n) for at, n in entries} for name, entries in module.values}
    try:
        point = Point(module, kind, {name: numbers[name] for name in module.given})
    except (Undefined, ArithmeticError, ValueError):
        raise CardError("the formulas have no value for the numbers of the question") from None
    if not Facts.of(module, kind).hold(point):
        raise CardError("the numbers of the question contradict what it states of its letters")
    output = point.values[module.output]
    upstream = numbers.get(f"delta_{module.output}") or ({at: kind.number(1) for at in output}
                                                         if len(output) == 1 else None)
    if upstream is not None and upstream.keys() != output.keys():
        raise CardError(f"the output has the shape {shape_of(output)} at the numbers of the question, and its gradient "
                        f"{shape_of(upstream)}")
    return point if upstream is None else point.with_upstream(upstream)


def _stated(subject: Subject, kind: Arithmetic) -> Worked:
    """What follows from the numbers of the question; raises :class:`CardError` at a kink."""
    point = stated(subject.module, kind)
    try:
        compiled = cache(Compiler.of(subject.messages, kind).function)
        found = [*following(subject, point, compiled), *between(subject, point, compiled)]
        if kind is not EXACT and any(abs(v) >= _GREATEST for r in found for v in r.values.values()):
            raise CardError(f"at the numbers of the question a result is beyond {_GREATEST:,}: choose smaller ones")
        return Worked(point, found)
    except (Undefined, ArithmeticError, ValueError):
        raise CardError(_KINK) from None


def stepped(subject: Subject, point: Point) -> list[Result]:
    """θ_new = θ − η ∂ℓ/∂θ at the numbers of the question."""
    found = []
    for update in subject.module.updates:
        size, gradient = point.kind.number(cast(Fraction, update.size)), slopes(subject, point, update)
        found.append(Result(Entry(update.new, ()), {
            at: value - size * gradient[at] for at, value in point.tensor(update.wrt).items()}, "update"))
    return found


def slopes(subject: Subject, point: Point, update: Update) -> Values:
    """∂ℓ/∂θ by the derived formula.

    Raises :class:`CardError` at a kink, and :class:`VerificationError` where the evaluator disagrees.
    """
    messages = subject.messages
    scalar = update.of == subject.module.output
    step = messages.jacobian(update.wrt) if scalar else messages.message(update.wrt)
    entry = cast(Entry, cast(Partial, step.before).wrt if scalar else step.before)
    try:
        value = Compiler.of(messages, point.kind).function(entry.indices, cast(Expr, step.after))
        known = {at: point.partial(update.of, (), update.wrt, at) for at in point.tensor(update.wrt)}
        return _agreeing({at: value(point, at) for at in known}, known, point)
    except (Undefined, ArithmeticError, ValueError):
        raise CardError(_KINK) from None


def _sizes(module: Module) -> Sizes:
    """The smallest sizes; of a layer with a single one, enough for classes or a batch to differ from a pair."""
    (least,) = choices(module, 1)
    if [*least.chosen.values()] == [2]:
        return next(iter(again(module, [(_CLASSES,)])), least)
    if module.input_size is not None and math.prod(module.input_size) <= MOST_CELLS and (
            symbol := module.table.named(module.inputs[0])) is not None:
        stated = dict(zip(symbol.sizes, module.input_size, strict=True))
        return next(iter(again(module, [tuple(stated.get(n, k) for n, k in least.chosen.items())])), least)
    many = len(least.shapes) > MOST_TENSORS or any(
        len(shape) > MOST_AXES or math.prod(shape) > MOST_ENTRIES for shape in least.shapes.values())
    return _smallest(module, least) if many else least


def _smallest(module: Module, sizes: Sizes) -> Sizes:
    """Each size as small as the others let it be, also where two are then the same."""
    for place in range(len(sizes.chosen)):
        values = [*sizes.chosen.values()]
        smaller = ((*values[:place], n, *values[place + 1:]) for n in range(2, values[place]))
        sizes = next(iter(again(module, smaller)), sizes)
    return sizes


def _visited(branches: list[Claim], point: Point) -> frozenset[tuple[int, int]]:
    """The branches of cases, of a pair's maximum and of |u| that hold somewhere."""
    found: set[tuple[int, int]] = set()
    for number, claim in enumerate(branches):
        hits: set[int] = set()
        with suppress(Refuted):  # a definition that has no value everywhere
            claim.holds(point, hits, tied=True)
        found |= {(number, hit) for hit in hits}
    return frozenset(found)


def _chosen(points: list[_Seen],
            following: Callable[[Point], list[Result]]) -> list[Worked]:
    """First one that visits most branches, then others until every branch has been visited."""
    missing = frozenset().union(*(visited for visited, _ in points))
    found: list[Worked] = []
    while missing and len(found) <= _OTHERS or not found:
        most = sorted(points, key=lambda p: (-len(p[0] & missing), _repeated(p[1])))
        fit = ((v, Worked(p, r)) for v, p in most if (v & missing or not found) and (r := following(p)))
        good = list(islice(fit, _DRAWN))
        good += islice((g for g in fit if _shows(g[1])), not any(_shows(w) for _, w in good))
        if not good:
            return found
        visited, best = min(good, key=lambda g: _dull(*g[1]) - _BRANCH * len(g[0] & missing))
        found.append(best)
        missing -= visited
    return found


def _shows(example: Worked) -> bool:
    """A derivative is not 0."""
    return any(v for r in example.results if r.part != "forward" for v in r.values.values())


def _repeated(point: Point) -> int:
    """How many given numbers are repeated."""
    return sum(len(values) - len(set(values.values())) for values in point.given.values())


def _dull(point: Point, found: list[Result]) -> int:
    """How many results are 0 for the most part, rounded ones small or large, given numbers repeated.

    And how many single numbers are ±1, and tensors on the way 0, which hides what is multiplied by them.
    """
    rounded = (v for r in found for v in r.values.values() if v and not isinstance(v, (int, Fraction)))
    extreme = sum(not 0.005 < abs(float(v)) < 100 for v in rounded)
    zeros = sum(2 * sum(not v for v in r.values.values()) > len(r.values) for r in found)
    zeros += sum(not v for r in found if r.part == "forward" for v in r.values.values())
    labels = {*targets(point.module), *Facts.of(point.module, point.kind).listed}
    ones = sum(name not in labels and [*map(abs, values.values())] == [1] for name, values in point.given.items())
    return 12 * sum(not any(r.values.values()) for r in found) + 2 * (extreme + ones) + zeros + _repeated(point)


class _Draws(Draws):
    """Small numbers that follow from the card's id."""

    def __init__(self, subject: Subject, kind: Arithmetic, sizes: Sizes) -> None:
        self._gentle = _grows(subject.module)
        far = sorted(t for t in thresholds(subject.module.equations) if t > max(_NUMBERS["any"]))
        beyond = tuple(sign * (t + d) for t in far for sign in (1, -1) for d in (-1, 1))
        numbers_of = _NUMBERS | {"any": (_GENTLE if self._gentle else _NUMBERS["any"]) + beyond}
        pool = Pool({mode: tuple(map(kind.number, numbers)) for mode, numbers in numbers_of.items()})
        super().__init__(subject.module, kind, (sizes,), pool, ())
        seed = hashlib.sha256(subject.module.key.encode()).digest()
        self._source = random.Random(int.from_bytes(seed[:8], "big"))
        self._tried = 0
        module, facts = subject.module, self.facts
        stated = {*facts.single, *facts.listed, *(n for n, total in facts.totals.items() if total.value != 1)}
        labels = {name: label for name, label in targets(module).items() if name not in stated}
        chances = {name: axis for name, axis in distributions(module).items() if name not in stated}
        sums = {name: axis for name, (_, axis) in labels.items() if axis is not None} | chances
        sums = {name: axis for name, axis in sums.items() if name not in facts.totals}
        self._chances = tuple(chances)
        listed = {name: values for name, (values, _) in labels.items()} | dict.fromkeys(
            counts(module.equations), tuple(map(Fraction, range(5))))
        self.facts = replace(facts, listed=listed | {**facts.listed},
                             totals={**facts.totals} | {n: Total((d,), Fraction(1)) for n, d in sums.items()})
        fractions = (name for name in facts.single if not any(facts.fits(name, n) for n in (-2, -1, 1, 2)))
        self._expected = {**expected(module), **dict.fromkeys(chances, "positive"), **dict.fromkeys(fractions, "unit")}

    def _modes(self) -> dict[str, str]:
        """Whole numbers of both signs, unless they fail: then now and again numbers elsewhere."""
        self._tried += 1
        if self._tried % 3:
            near = "small" if self._tried > _MOST_DRAWN else "any"  # for branches that hold where these are close
            arrays = {name for name, shape in self.sizes[0].shapes.items() if shape}
            return {name: self._expected.get(name, near if name in arrays else "any") for name in self.module.given}
        modes = dict(super()._modes())  # above 0 what is expected there, but perhaps elsewhere
        return modes | {name: "positive" if mode == "unit" and modes[name] != "unit" else mode
                        for name, mode in self._expected.items()}

    def _apart(self, name: str, number: Callable[[], Any]) -> Callable[[], Any]:
        """Whole numbers, or quarters where e^{s} grows: no two of the same size, of the sign that the mode gives.

        Of what is compared as it is given; computed entries are seldom equal, and stay small only so.
        """
        if not any(isinstance(n, Reduce) and selects(n.op) and any(isinstance(e, Entry) and e.tensor == name
                                                                   for e in walk(n.body))
                   for equation in self.module.equations for n in walk(equation)):
            return number
        most = max(math.prod(shape) for shape in self.sizes[0].shapes.values())
        sizes = iter(self._source.sample(range(1, most + max(3, 10 - most)), most))
        unit = Fraction(1, 4) if self._gentle else 1
        return lambda: self.kind.number((1 if number() > 0 else -1) * next(sizes) * unit)

    def _arrays(self, sizes: Sizes, modes: Mapping[str, str], ties: bool) -> dict[str, dict[Any, Any]] | None:
        """Probabilities are 1/2, 1/4, … in some order."""
        found = super()._arrays(sizes, modes, ties)
        if found is None:
            return None
        for name in self._chances:
            for group in self.facts.groups(name, self._cells(name, sizes)):
                powers = [Fraction(1, 2**n) for n in range(1, len(group))]
                drawn = self._source.sample([*powers, *powers[-1:]], len(group))
                found[name].update(zip(group, map(self.kind.number, drawn), strict=True))
        return found

    def _number(self, mode: str, scalar: bool, ties: bool) -> Any:
        return self._source.choice(self.pool.numbers[mode])

    def _upstream(self, point: Point) -> dict[Any, Any]:
        """1 for a single output, else numbers that differ as long as there are such."""
        output = point.values[self.module.output]
        numbers = {(): 1} if len(output) == 1 else differing(output, self._source)
        return {at: self.kind.number(n) for at, n in zip(output, numbers.values(), strict=True)}


def differing(places: Collection[Index], source: random.Random) -> dict[Index, int]:
    """Small integers, no two of them the same as long as there are such."""
    few = _UPSTREAM[:max(6, len(places))]
    drawn = source.sample(few, min(len(places), len(few)))
    return dict(zip(places, cycle(drawn), strict=False))


def _grows(module: Module) -> bool:
    """e^s or the like stands in it: not only roots, logarithms and rational functions."""
    bodies = (*module.equations, *(f.body for f in module.functions))
    return any(f.exact is None and f.domain == "real" for body in bodies for n in walk(body)
               if isinstance(n, Fn) and (f := known(n.name)) is not None)


def _off_kinks(subject: Subject, point: Point, compiled: Compiled) -> list[Result]:
    """All results; nothing at a kink, or where a number is too large or too fine to be read."""
    try:
        found = list(following(subject, point, compiled))
    except (Undefined, TwoCases, ArithmeticError, ValueError):
        return []
    numbers = [v for r in found for v in r.values.values()]
    fine = any(isinstance(v, Fraction) and v.denominator > _FINEST for v in numbers)
    return found if not fine and all(v == 0 or 1 / _LARGEST < abs(v) < _LARGEST for v in numbers) else []


def following(subject: Subject, point: Point, compiled: Compiled) -> Iterator[Result]:
    """The tensors of the forward equations, the δ of each from the output back, the derivatives of the outputs, of
    many the first unless the question gives the numbers.

    Raises :class:`VerificationError` where a derived formula and the evaluator of the forward formula disagree.
    """
    for tensor in subject.module.defined:
        yield Result(Entry(tensor, ()), point.tensor(tensor), "forward")
    for before, step in subject.gradients.items() if f"delta_{subject.module.output}" in point.values else ():
        value = compiled(before.indices, cast(Expr, step.after))
        known = point.tensor(before.tensor)
        values = {at: value(point, at) for at in known}
        yield Result(Entry(before.tensor, ()), _agreeing(values, known, point), "backward")
    yield from rows(subject, point, compiled)


def rows(subject: Subject, point: Point, compiled: Compiled) -> Iterator[Result]:
    """∂y_k/∂x for each output, of many the first unless the question gives the numbers.

    Beside a gradient of the loss those that are asked for as such.
    """
    values, table = subject.module.values, subject.module.table
    beside = [t for t in subject.targets if t not in subject.forward and not t.loss]
    targets = (*subject.forward, *(beside if subject.module.rows else ()))
    most = max((len(point.tensor(t.of)) * len(point.tensor(t.wrt)) for t in targets), default=0)
    for target in targets:
        of, wrt = cast(Entry, target.before.of), cast(Entry, target.before.wrt)
        indices = (*of.indices, *wrt.indices)
        places, by = sorted(point.tensor(of.tensor)), point.tensor(wrt.tensor)
        several = len({*indices}) < len(indices) or not all(isinstance(i, Idx) for i in indices)
        mistaken = any(_written(table, f"{of.tensor}_{at[0]}", ()) == _written(table, of.tensor, at)
                       for at in places if at)  # c_0 beside c, not h_{t-1} beside h_{t,1}
        if several or mistaken:
            continue
        value = compiled(indices, target.value)
        every = values or most <= MOST_ENTRIES  # what is asked for is all of them
        for at in places if every else places[:1]:
            known = {i: point.partial(of.tensor, at, wrt.tensor, i) for i in by}
            node = Partial(Entry(of.tensor, tuple(map(Num, at))), Entry(wrt.tensor, ()))
            yield Result(node, _agreeing({i: value(point, (*at, *i)) for i in known}, known, point), "derivatives")


def _written(table: SymbolTable, tensor: str, at: Index) -> str:
    """An entry as it prints, or "" of a letter that is not known."""
    known = table.named(tensor) is not None
    return write(Entry(tensor, tuple(map(Num, at))), table).replace(" ", "") if known else ""


def between(subject: Subject, point: Point, compiled: Compiled) -> Iterator[Result]:
    """Of an output that is one number its derivatives by the tensors on the way to what is asked for, the last first.

    Raises :class:`VerificationError` like :func:`following`.
    """
    output, asked = subject.module.output, {t.wrt for t in subject.targets}
    ways = {t for target in subject.forward if target.of == output for t in subject.path(target)} - {output} - asked
    for tensor in (t for t in reversed(subject.module.defined) if t in ways and subject.is_scalar):
        step = subject.messages.jacobian(tensor)
        value = compiled(cast(Entry, cast(Partial, step.before).wrt).indices, cast(Expr, step.after))
        known = {at: point.partial(output, (), tensor, at) for at in point.tensor(tensor)}
        node = Partial(Entry(output, ()), Entry(tensor, ()))
        yield Result(node, _agreeing({at: value(point, at) for at in known}, known, point), "between")


def _agreeing(derived: Values, known: Values, point: Point) -> Values:
    for at, value in derived.items():
        if not close(value, known[at]):
            raise VerificationError(f"a worked example: the derived formula gives {shown(value)} and the forward "
                                    f"formula {shown(known[at])} for {point.describe()}")
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
