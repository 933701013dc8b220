"""The smallest counterexample that is found: few entries, most of them 0, 1 or -1, no letter that does not matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from derive.check.judging.equalities import PASSED, with_number
from derive.errors import DeriveError
from derive.expr import Cond, Entry, Partial, walk
from derive.module import Module
from derive.numeric.point import Index
from derive.verify.points.claims import Claim
from derive.verify.points.facts import Facts
from derive.verify.points.point import LOSS, Point, nested
from derive.verify.scope import Scope

_POINTS = 16
_TRIALS = 120
_SIMPLE = (0, 1, -1, 2)

Failure = tuple[Claim, Index, str]  # where, and what contradicts what


def smallest(node: Cond, scope: Scope) -> str | None:
    """Where both sides of a refuted statement have values that differ, None where no point drawn shows it."""
    try:
        points = sorted((*scope.tied, *islice(scope.points(), _POINTS)), key=_entries)
        first = next(((p, f) for p in points for f in _failures(node, p, scope)), None)
    except DeriveError:
        return None
    if first is None:
        return None
    point, (claim, at, _) = first
    facts = Facts.of(scope.module, scope.kind)
    for trial in (*_units(point), *islice(_simpler(point), _TRIALS), *islice(_simpler(point), _TRIALS)):
        found = trial(point)
        if found is not None and _fails(claim, at, found) and facts.hold(found):
            point = found
    place = ", ".join(f"{v.name} = {n}" for v, n in zip(claim.variables, at, strict=True))
    return f"{f'at {place} ' if place else ''}for {_described(node, point, scope.module)}: {_fails(claim, at, point)}"


def _entries(point: Point) -> int:
    return sum(map(len, point.given.values()))


def _failures(node: Cond, point: Point, scope: Scope) -> Iterator[Failure]:
    for claim in scope.compiler.claims(node):
        for at in claim.assignments(point):
            if wrong := _fails(claim, at, point):
                yield claim, at, wrong


def _fails(claim: Claim, at: Index, point: Point) -> str:
    try:
        sides = claim.sides(point, at, set())
    except PASSED:
        return ""
    return "" if sides is None else claim.contradiction(sides) or ""


def _units(first: Point) -> Iterator[Any]:
    """Ways to make a vector whose numbers sum to 1 one of a single 1."""
    for name, values in first.values.items():
        if name in first.given and sum(values.values()) == 1 and not set(values.values()) <= {0, 1}:
            for one in values:
                def put(point: Point, name: str = name, one: Index = one) -> Point | None:
                    for at, value in point.values[name].items():
                        try:
                            point = with_number(point, name, at, point.kind.number(int(at == one)) - value)
                        except PASSED:
                            return None
                    return point

                yield put


def _simpler(first: Point) -> Iterator[Any]:
    """Ways to put one number to 0, 1, -1 or 2."""
    upstream = f"delta_{first.module.output}"
    places = [(name, at) for name in (upstream, *first.given) for at in first.values[name]]
    for name, at in places:
        for simple in _SIMPLE:
            def put(point: Point, name: str = name, at: Index = at, simple: int = simple) -> Point | None:
                value = point.values[name][at]
                if value in _SIMPLE and _SIMPLE.index(value) <= _SIMPLE.index(simple):
                    return None
                try:
                    return with_number(point, name, at, point.kind.number(simple) - value)
                except PASSED:
                    return None

            yield put


def _described(node: Cond, point: Point, module: Module) -> str:
    """x = [1, 2], a = 3, without letters of the layer on which nothing depends that is said."""
    named = {n.tensor for n in walk(node) if isinstance(n, Entry)}
    own = {name for t in named for name in _sources(t.removeprefix("delta_"), module)}
    loss = any(t.startswith("delta_") or t == LOSS for t in named)
    if loss or any(isinstance(n, Partial) and not isinstance(n.of, Entry) for n in walk(node)):
        own |= {*module.given}
    letters = [*(n for n in point.given if n in own), *point.free, *([f"delta_{module.output}"] if loss else [])]
    return ", ".join(f"{name.removesuffix('_local')} = {nested(_whole(point.values[name]))}" for name in letters)


def _whole(values: Mapping[Index, Any]) -> dict[Index, Any]:
    return {at: int(v) if v == int(v) else v for at, v in values.items()}


def _sources(name: str, module: Module) -> Iterable[str]:
    """The given letters on which one depends."""
    if name not in module.defined:
        return (name,)
    return {s for source in module.sources(name) for s in _sources(source, module)}
