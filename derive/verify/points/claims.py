"""A printed statement of a layer at a point: compiled once, evaluated for all values of its indices."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any

import derive.expr as ex
from derive.axes import counts, stands
from derive.calculus.messages import Messages
from derive.errors import UnsupportedError
from derive.module import Module
from derive.numeric.arithmetic import DECIMAL, EXACT, Arithmetic, close
from derive.numeric.coder import Coder, Mark
from derive.numeric.dual import dual
from derive.numeric.point import Definitions, Index, NoCase, TwoCases, Undefined
from derive.numeric.source import Places, window_places
from derive.numeric.statements import made, names, variables_of
from derive.records import dataclass
from derive.verify.points.point import Point

MOST = 400  # index assignments that are tried at one point


class Refuted(Exception):
    """A point at which the statement fails."""


class Undecided(Refuted):
    """A point at which two cases of a side hold, and differ."""


@dataclass(frozen=True)
class Claim:
    """t_0 op t_1 op … for all values of ``variables``; ``sides(P, at, hits)`` gives None where it claims nothing."""

    variables: tuple[ex.Idx, ...]
    slots: Mapping[ex.Idx, tuple[tuple[str, int], ...]]
    windows: Mapping[ex.Idx, tuple[tuple[str, int], ...]]
    applied: tuple[ex.SetApp, ...]
    marks: tuple[Mark, ...]
    ops: tuple[str, ...]
    sides: Callable[[Point, Index, set[int]], tuple[Any, ...] | None]
    same: Callable[[Any, Any], bool]

    def holds(self, point: Point, hits: set[int], tied: bool = False) -> int:
        """For how many indices it claims something here; raises :class:`Refuted` where that is false.

        At a ``tied`` point, the root of 0 among them, a side may have no value, nor of a window without entries.
        """
        count, plain, same = 0, self.ops == ("=",), self.same
        for at in self.assignments(point):
            try:
                sides = self.sides(point, at, hits)
            except NoCase:
                raise Refuted(self._describe(point, at, "no case applies")) from None
            except TwoCases:
                raise Undecided(self._describe(point, at, "two cases hold and differ")) from None
            except Undefined:
                sides = None
            except (LookupError, ArithmeticError, ValueError, TypeError, NameError, AttributeError) as error:
                if not isinstance(error, LookupError) and (tied or self._over_nothing(point, at)):
                    continue
                what = "an index is out of range" if isinstance(error, LookupError) else "a side has no value"
                raise Refuted(self._describe(point, at, what)) from None
            if sides is None:
                continue
            if plain and sides[0] is not Undefined and sides[1] is not Undefined and same(*sides):
                count += 1  # by far the most
                continue
            wrong = self.contradiction(sides)
            if wrong:
                raise Refuted(self._describe(point, at, wrong))
            count += sum(side is not Undefined for side in sides) > 1
        return count

    def _over_nothing(self, point: Point, at: Index) -> bool:
        """A window Ω(k, l) of these indices has no entry."""
        value = dict(zip(self.variables, at, strict=True))
        return any(not point.elements(s.name, tuple([value[a] for a in s.args if isinstance(a, ex.Idx)]))
                   for s in self.applied)

    def contradiction(self, sides: tuple[Any, ...]) -> str | None:
        """What two neighbouring sides contradict; a side that is undefined here is passed over."""
        known = [(n, side) for n, side in enumerate(sides) if side is not Undefined]
        for (m, left), (n, right) in itertools.pairwise(known):
            ops = set(self.ops[m:n])
            op = "=" if ops == {"="} else self.ops[m] if n == m + 1 else None
            if op is not None and not _related(left, op, right, self.same):
                left, right = shown(left), shown(right)
                return f"{left} and {right} differ" if op == "=" else f"{left} {op} {right} is false"
        return None

    def assignments(self, point: Point) -> Iterable[Index]:
        runs = self.runs(point)
        if math.prod(map(len, runs)) <= MOST:
            return itertools.product(*runs)
        return _selection(tuple(runs))

    def exhausts(self, point: Point) -> bool:
        """Whether all values of the indices are tried, not a selection."""
        return math.prod(map(len, self.runs(point))) <= MOST

    def runs(self, point: Point) -> list[range]:
        """The values of each free index."""
        return [self._run(v, point) for v in self.variables]

    def _run(self, variable: ex.Idx, point: Point) -> range:
        if self.slots[variable]:
            return point.span(self.slots[variable])
        if self.windows[variable]:
            return range(min(point.outputs(name)[d] for name, d in self.windows[variable]))
        raise UnsupportedError(f"the range of `{variable.name}` is not stated")

    def _describe(self, point: Point, at: Index, what: str) -> str:
        place = ", ".join(f"{v.name} = {n}" for v, n in zip(self.variables, at, strict=True))
        return f"{f'at {place} ' if place else ''}for {point.describe()}: {what}"


@lru_cache(maxsize=64)
def _selection(runs: tuple[range, ...]) -> frozenset[Index]:
    """MOST choices of a value of each index."""
    source = random.Random(len(runs))
    return frozenset([tuple(map(source.choice, runs)) for _ in range(MOST)])


def shown(value: Any) -> str:
    """A number to eight digits where it is not exact."""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    if type(value).__name__ != "Decimal":
        return str(value)
    return f"{value:.8g}" if value else "0"  # and not 0e-60


def _related(left: Any, op: str, right: Any, same: Callable[[Any, Any], bool]) -> bool:
    if isinstance(left, tuple) is not isinstance(right, tuple):  # a vector beside a number
        return op == "≠"
    if op in ("=", "≠"):
        return same(left, right) == (op == "=")
    return bool(ex.HOLDS[op](left, right)) or (op in "≤≥" and same(left, right))


@lru_cache(maxsize=16)
def same_in(kind: Arithmetic) -> Callable[[Any, Any], bool]:
    """Equality of numbers, vectors and matrices: exact, or up to rounding."""
    equal: Callable[[Any, Any], bool] = close if kind is DECIMAL else (lambda a, b: bool(a == b))

    def same(left: Any, right: Any) -> bool:
        if not (isinstance(left, tuple) or isinstance(right, tuple)):
            return equal(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right) and 1 in (len(left), len(right)):  # a row beside a column
                left, right = (tuple(x for row in side for x in row) for side in (left, right))
            if kind is EXACT:
                return left == right
            return len(left) == len(right) and all(itertools.starmap(same, zip(left, right, strict=True)))
        return False

    return same


_Written = tuple[str, Coder, tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Compiler:
    """Compiles the statements of one module in one arithmetic, with what the sheet defines."""

    module: Module
    kind: Arithmetic
    definitions: Definitions
    ranks: Mapping[str, int]
    _written: dict[tuple[ex.Cond, ex.Cond | None], _Written] = field(default_factory=dict)  # in whatever arithmetic
    _claims: dict[tuple[ex.Cond, ex.Cond | None, Arithmetic], Claim] = field(default_factory=dict)

    @staticmethod
    def of(messages: Messages, kind: Arithmetic) -> Compiler:
        """What compiles the formulas derived of a layer, whose stars are the layer's own."""
        module = messages.module
        stars = {name: (arg, place, module.parameters_of(arg))
                 for name, (arg, place) in messages.star_definitions.items()}
        return Compiler(module, kind, Definitions(stars, {}, {}), {s.name: len(s.axes) for s in module.table.symbols})

    def claims(self, node: ex.Node) -> tuple[Claim, ...]:
        claim, cond = (node.claim, node.cond) if isinstance(node, ex.Given) else (node, None)
        parts = ex.conditions(claim)
        return tuple(self._claim(part, cond) for part in parts)

    def same(self, left: Any, right: Any) -> bool:
        """Whether two numbers are equal in this arithmetic."""
        return same_in(self.kind)(left, right)

    def function(self, params: tuple[ex.Expr, ...], value: ex.Expr) -> Callable[[Point, Index], Any]:
        """A formula as a function of a point and of its indices."""
        coder = Coder(self.definitions, self.ranks, self.module)
        unpacked = "".join(coder.name(p) + "," for p in params if isinstance(p, ex.Idx))
        source = "def value(P, AT, HITS=set()):\n" + (f"    {unpacked} = AT\n" if unpacked else "")
        source += f"    return {coder.value(value)}\n"
        found: Callable[[Point, Index], Any] = self._made("value", source, coder)
        return found

    @cached_property
    def _names(self) -> dict[str, Any]:
        return {**names(dual(self.kind), same_in(self.kind)), "Undefined": Undefined}

    def _made(self, name: str, source: str, coder: Coder) -> Callable[..., Any]:
        return made(name, source, coder, self._names, dual(self.kind))

    def _claim(self, claim: ex.Cond, cond: ex.Cond | None) -> Claim:
        if (claim, cond, self.kind) not in self._claims:
            if (claim, cond) not in self._written:
                self._written[claim, cond] = self._source(claim, cond)
            source, coder, rest = self._written[claim, cond]
            sides = self._made("sides", source, coder)
            self._claims[claim, cond, self.kind] = Claim(*rest, sides, same_in(self.kind))  # type: ignore[call-arg]
        return self._claims[claim, cond, self.kind]

    def _source(self, claim: ex.Cond, cond: ex.Cond | None) -> _Written:
        """The source of a claim's ``sides``, and what does not depend on the arithmetic."""
        coder = Coder(self.definitions, self.ranks, self.module)
        whole: ex.Node = claim if cond is None else ex.Given(claim, cond)
        variables = variables_of(whole)
        params = "".join(coder.name(v) + "," for v in variables)
        source = "def sides(P, AT, HITS):\n" + (f"    {params} = AT\n" if params else "")
        if cond is not None:
            source += f"    if not {coder.value(cond)}: return None\n"
        first = claim.terms[0] if isinstance(claim, ex.Rel) else None
        if isinstance(first, ex.Fn) and first.name.endswith("'"):  # outside of its domain a function has no slope
            source += f"    try: {coder.value(first)}\n    except (ArithmeticError, ValueError): return None\n"
        ops: tuple[str, ...] = ("=",)
        terms: tuple[str, ...]
        if isinstance(claim, ex.Rel) and not isinstance(claim.terms[0], ex.Subdifferential):
            ops, terms = claim.ops, tuple(map(coder.value, claim.terms))
        elif isinstance(claim, ex.Iff):
            terms = tuple(f"bool({coder.value(side)})" for side in (claim.left, claim.right))
        else:
            terms = (f"bool({coder.value(claim)})", "True")
        for n, text in enumerate(terms):
            source += f"    try: t{n} = {text}\n    except Undefined: t{n} = Undefined\n"
        source += f"    return ({''.join(f't{n},' for n in range(len(terms)))})\n"
        left = claim.terms[0] if isinstance(claim, ex.Rel) else claim
        places = window_places(self.module.equations)
        windows = {v: counts(v, whole) for v in variables}
        heads = [equation.terms[0] for equation in self.module.equations]  # i of x_{i+m} alone runs as in a_i = …
        slots = {v: stands(v, left) or stands(v, whole) or elements(v, whole, places) or (
            () if windows[v] else stands(v, *heads)) for v in variables}
        applied = tuple(n for n in ex.walk(whole) if isinstance(n, ex.SetApp) and n.args
                        and set(n.args) <= set(variables))
        return source, coder, (variables, slots, windows, applied, tuple(coder.marks), ops)


def elements(variable: ex.Idx, whole: ex.Node, places: Places) -> tuple[tuple[str, int], ...]:
    """The tensor axes along which the windows run that a free index is said to be in."""
    found = []
    for node in ex.walk(whole):
        if isinstance(node, ex.In) and isinstance(node.set, ex.SetApp):
            found += [places[node.set.name, d] for d, item in enumerate(ex.items(node.element))
                      if item is variable and (node.set.name, d) in places]
    return tuple(dict.fromkeys(found))

