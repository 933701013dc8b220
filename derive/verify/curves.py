"""The graphs of a function and of its derivative, read back by the numbers at their axes; and what is told of kinks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from derive.axes import with_axes
from derive.errors import DeriveError
from derive.module import Module
from derive.numeric.dual import OneSided, one_sided
from derive.numeric.evaluator import evaluate
from derive.numeric.shapes import rank
from derive.sheet import Dot, Figure, Label, Line, Point, Scene
from derive.verify.report import Check, Verdict
from derive.words import pattern

GIVEN = re.compile(r"= (-?\d+(?:/\d+)?)\$")
_TOLD = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_KINK = {"at": _TOLD, "before": _TOLD, "after": _TOLD}
_SPAN = {"low": _TOLD, "high": _TOLD, "start": _TOLD, "end": _TOLD}
_ROUNDED, _DRAWN = 0.02, 0.02  # in parts of a number that is told, and in cells of the picture
_GAP = 0.1  # of a graph, around a kink
_JUMP = 1e-2  # a larger change of the value from one side to the other
_CHORD = 0.4  # of the rise between two points: how far from their line the graph may be
_PLACES, _KINKS, _BESIDE = 9, 5, 1e-5  # how exactly places are known, those of kinks, and what is close to one
Ends = tuple[float, float]  # before and after a place
Scale = Callable[[float], float]
Beside = Callable[[float], tuple[Ends, Ends]]  # the values and the derivatives


def curves(figure: Figure, module: Module, said: Mapping[str, Any] | None = None) -> list[Check]:
    """The checks of a picture of y(s) and y'(s) at the values in its caption; none where these cannot be computed.

    ``said`` are the facts of which the caption is made.
    """
    given = GIVEN.search(figure.caption)
    whole, letters = with_axes(module), float(Fraction(given[1])) if given else 0.0
    computed = cache(lambda s: _beside(whole, s, letters))

    def at(s: float) -> tuple[Ends, Ends]:
        return computed(round(s, _PLACES))

    scene, told = figure.scene, figure.scene.description.replace("−", "-")
    language = module.language
    kinks = pattern(language, "figures", "kinked", **_KINK).findall(told)
    try:
        spans = [tuple(map(float, s)) for s in pattern(language, "figures", "interval", **_SPAN).findall(told)]
        drawn = [*_graph(scene, "curve", lambda s: at(s)[0], spans),
                 *_graph(scene, "slope", lambda s: at(s)[1], spans)]
        slopes = [wrong for kink in kinks if (wrong := _misread_kink(kink, at, scene))]
        places = [float(s) for s in pattern(language, "figures", "place", at=_TOLD).findall(told)]
        drawn += _untold(scene, at, places, said)
    except (DeriveError, ArithmeticError, ValueError):
        return []
    points = sum(len(i.points) for i in scene.items if isinstance(i, Line) and i.role in ("curve", "slope"))
    found = [_verdict("The full sheet's picture: its curves are those of the function and of its derivative", drawn,
                      points)]
    if kinks:
        found.append(_verdict("The slopes that the picture shows before and after a kink", slopes, len(kinks)))
    return found


def _untold(scene: Scene, at: Beside, told: Sequence[float], said: Mapping[str, Any] | None) -> Iterator[str]:
    """Where the graph of the slope is broken, and the words of the picture or of its caption, or no dot, say so."""
    broken = _broken(scene)
    if broken is None:
        return
    dots = [i.x for i in scene.items if isinstance(i, Dot)]
    if any(all(abs(x - dot) > _GAP for dot in dots) for x in broken.values()):
        yield "a place without a derivative has no dot"
    places = [*broken]
    jumps = [s for s in places if abs(at(s + _BESIDE)[0][1] - at(s - _BESIDE)[0][0]) > _JUMP]
    captions = [] if said is None else [(said["jumps"], jumps), (said["kinks"], [s for s in places if s not in jumps])]
    for words, known in ((told, places), *captions):
        if len(words) != len(known) or any(abs(a - b) > _ROUNDED for a, b in zip(sorted(words), known, strict=True)):
            yield f"the words name {len(words)} places without a derivative, or of a jump, and there are {len(known)}"


def _broken(scene: Scene) -> dict[float, float] | None:
    """Where the graph of the function is broken: the place by the numbers at the axis, and in the picture."""
    lines = sorted(i.points for i in scene.items if isinstance(i, Line) and i.role == "curve")
    marks = [i for i in scene.items if isinstance(i, Label) and i.role == "coordinate" and i.anchor == "middle"
             and lines[0][0][0] - 1 < i.x < lines[-1][-1][0] + 0.5]
    across = _scale([(m.x, _number(m)) for m in marks])
    middles = [(one[-1][0] + other[0][0]) / 2 for one, other in pairwise(lines)]
    return None if across is None else {across(x): x for x in middles}


def _misread_kink(kink: Sequence[str], at: Beside, scene: Scene) -> str | None:
    """Whether other slopes are told than those beside the place that is drawn; the words round it."""
    told, *ends = map(float, kink)
    place = min(_broken(scene) or {}, key=lambda s: abs(s - told), default=told)
    if abs(place - told) > _ROUNDED:
        place = told
    slopes = at(place - _BESIDE)[1][0], at(place + _BESIDE)[1][1]
    wrong = any(abs(end - slope) > _ROUNDED * max(1, abs(slope)) for end, slope in zip(ends, slopes, strict=True))
    return f"at {place:g} they are {slopes[0]:.2f} and {slopes[1]:.2f}" if wrong else None


def _graph(scene: Scene, role: str, values: Callable[[float], Ends],
           told: Iterable[tuple[float, ...]]) -> Iterator[str]:
    """What is wrong with the axes, the lines and the marked points of a graph, and with its interval as it is told."""
    lines = sorted(i.points for i in scene.items if isinstance(i, Line) and i.role == role)
    left, right = lines[0][0][0], lines[-1][-1][0]
    marks = [i for i in scene.items if isinstance(i, Label) and i.role == "coordinate" and left - 1 < i.x < right + 0.5]
    across = _scale([(m.x, _number(m)) for m in marks if m.anchor == "middle"])
    up = _scale([(m.y, _number(m)) for m in marks if m.anchor == "end"])
    if across is None or up is None:
        yield "the numbers of an axis are not evenly apart"
        return
    cell = abs(up(1) - up(0))  # in units of y
    if any(other[0][0] - one[-1][0] > _GAP for one, other in pairwise(lines)):
        yield "a part of the graph is missing"
    for line in lines:
        yield from _misdrawn(line, across, up, values)
    for dot in (i for i in scene.items if isinstance(i, Dot) and left - _GAP < i.x < right + _GAP):
        s = round(across(dot.x), _KINKS)
        ends = [end for place in (s - _BESIDE, s, s + _BESIDE) for end in values(place)]
        if min(abs(up(dot.y) - end) for end in ends) > 5 * _DRAWN * cell:
            yield f"a point is marked at {s:.2f}, {up(dot.y):.2f}"
    for low, high, start, end in told:
        off = [across(left) - low, across(right) - high]
        spans = ((values(low)[1], start), (values(high)[0], end)) if role == "curve" else ()
        off += [(value - said) / max(1, abs(value)) for value, said in spans]
        if max(map(abs, off)) > _ROUNDED:
            yield "the words name another interval or other values"


def _misdrawn(line: Sequence[Point], across: Scale, up: Scale, values: Callable[[float], Ends]) -> Iterator[str]:
    """A point of the line, or a middle between two, that is off the graph."""
    cell = abs(up(1) - up(0))
    middles = [((a + c) / 2, (b + d) / 2, _CHORD * abs(up(d) - up(b))) for (a, b), (c, d) in pairwise(line)]
    for x, y, rise in (*((x, y, 0.0) for x, y in line), *middles):
        s, drawn = across(x), up(y)
        if min(abs(drawn - value) for value in values(s)) > _DRAWN * max(cell, abs(drawn)) + rise:
            yield f"{drawn:.2f} is drawn at {s:.2f}, where it is {values(s)[0]:.2f}"
            return


def _number(label: Label) -> float:
    return float(label.text.strip("$"))


def _scale(marks: Sequence[tuple[float, float]]) -> Scale | None:
    """The number at a place of an axis, by its marks; None where these are not evenly apart."""
    if len(marks) < 2:
        return None
    (first, low), (last, high) = min(marks), max(marks)
    slope = (high - low) / (last - first)
    rounded = 1e-12 * abs(high - low)  # of a function that reaches 10^100 the number at 0, too
    even = all(abs(low + slope * (place - first) - number) < 1e-6 * (1 + abs(number)) + rounded
               for place, number in marks)
    return (lambda place: low + slope * (place - first)) if even else None


def _beside(module: Module, at: float, given: float) -> tuple[Ends, Ends]:
    """The value and the derivative before and after a place, all other letters as given."""
    letters = (module.inputs[0], *(name for name in module.given if name != module.inputs[0]))
    shapes = {name: (1,) * rank(module, name) for name in letters}
    found = []
    for sign in (-1, 1):
        values = {name: {(0,) * len(shapes[name]): OneSided(at if name == letters[0] else given,
                                                            sign if name == letters[0] else 0)} for name in letters}
        (end,) = evaluate(module, values, shapes)[module.output].values()
        found.append((float(one_sided(end).value), sign * float(one_sided(end).derivative())))
    (low, before), (high, after) = found
    return (low, high), (before, after)


def _verdict(evidence: str, wrong: Sequence[str], count: int) -> Check:
    return Check("picture", "", Verdict.REFUTED if wrong else Verdict.TESTED, evidence, wrong[0] if wrong else None,
                 points=count)
