"""What a picture says, read back from what is drawn: the entries that arrows join, their numbers, the slopes."""

from __future__ import annotations

import re
from fractions import Fraction

from derive.axes import with_axes
from derive.errors import DeriveError
from derive.module import Module
from derive.numeric.dual import OneSided, one_sided
from derive.numeric.evaluator import evaluate
from derive.numeric.shapes import rank
from derive.sheet import Cell, Figure, Line, Point, Scene, Sheet
from derive.verify.report import Check, Verdict

_NEAR = 0.1  # how far beside its cell an arrow may end
_NUMBER = re.compile(r"-?\d+(?:/\d+)?")
_GIVEN = re.compile(r"= (-?\d+(?:/\d+)?)\$")
_KINK = re.compile(r"At (\S+) it has a kink: the slope changes from (\S+) to (\S+?)\.(?:\s|$)")


def pictures(sheet: Sheet, module: Module) -> list[Check]:
    """A check for each picture that claims something."""
    found = []
    for figure in sheet.figures():
        if figure.scene.name == "routing":
            found += routing(figure.scene)
        elif figure.scene.name == "curve":
            found += slopes(figure, module)
    return found


def routing(scene: Scene) -> list[Check]:
    """Each way forward joins equal numbers, and what comes back to an entry is the sum of the gradients sent to it."""
    ways = [(line, _cell(scene, line.points[0]), _cell(scene, line.points[-1])) for line in scene.items
            if isinstance(line, Line) and line.smooth]
    if not ways:
        return []  # one arrow for all
    evidence = f"The picture's {len(ways)} arrows join each output and the entry that it selected"
    wrong = next((f"an arrow from {line.points[0]} ends at no entry" for line, start, end in ways
                  if start is None or end is None), None)
    came: dict[Cell, list[Fraction]] = {}
    for line, start, end in ways:
        if start is None or end is None:
            continue
        if line.role == "forward" and _number(start) != _number(end):
            wrong = wrong or f"an arrow joins {_number(start)} and {_number(end)}"
        if line.role == "backward":
            came.setdefault(end, []).append(_number(start))
        if (start if line.role == "forward" else end).role not in ("chosen", "shared"):
            wrong = wrong or "an arrow ends at an entry that is not marked"
    for cell, parts in came.items():
        if sum(parts) != _number(cell):
            wrong = wrong or f"the gradients {', '.join(map(str, parts))} come to an entry with {_number(cell)}"
        if cell.role != ("chosen" if len(parts) == 1 else "shared"):
            wrong = wrong or f"an entry to which {len(parts)} gradients come is marked as {cell.role}"
    return [_verdict(evidence, wrong, len(ways))]


def slopes(figure: Figure, module: Module) -> list[Check]:
    """The slopes at the kinks of a curve are the one-sided derivatives there, at the values in its caption."""
    told = _KINK.findall(figure.scene.description.replace("−", "-"))
    given = _GIVEN.search(figure.caption)
    evidence = "The slopes that the picture shows before and after a kink"
    for at, *ends in told:
        try:
            derived = _one_sided(with_axes(module), float(at), float(Fraction(given[1])) if given else 0)
        except (DeriveError, ArithmeticError, ValueError):
            return []
        if any(abs(float(end) - slope) > 0.02 * max(1, abs(slope)) for end, slope in zip(ends, derived, strict=True)):
            return [_verdict(evidence, f"at {at} they are {derived[0]:.2f} and {derived[1]:.2f}", len(told))]
    return [_verdict(evidence, None, len(told))] if told else []


def _one_sided(module: Module, at: float, given: float) -> tuple[float, float]:
    """The derivatives before and after a place, all other letters as given."""
    letters = (module.inputs[0], *(name for name in module.given if name != module.inputs[0]))
    shapes = {name: (1,) * rank(module, name) for name in letters}
    found = []
    for sign in (-1, 1):
        values = {name: {(0,) * len(shapes[name]): OneSided(at if name == letters[0] else given,
                                                            sign if name == letters[0] else 0)} for name in letters}
        (end,) = evaluate(module, values, shapes)[module.output].values()
        found.append(sign * float(one_sided(end).derivative()))
    return found[0], found[1]


def _verdict(evidence: str, wrong: str | None, count: int) -> Check:
    return Check("picture", "", Verdict.TESTED if wrong is None else Verdict.REFUTED, evidence, wrong, points=count)


def _cell(scene: Scene, end: Point) -> Cell | None:
    """The cell with a number in or beside which an arrow ends."""
    return next((c for c in scene.items if isinstance(c, Cell) and _NUMBER.search(_tail(c))
                 and c.x - _NEAR <= end[0] <= c.x + c.width + _NEAR
                 and c.y - _NEAR <= end[1] <= c.y + c.height + _NEAR), None)


def _tail(cell: Cell) -> str:
    """The number of a cell: behind the equals sign, where it has one."""
    return cell.text.replace("−", "-").rpartition("=")[2]


def _number(cell: Cell) -> Fraction:
    found = _NUMBER.search(_tail(cell))
    assert found is not None
    return Fraction(found[0])
