"""Printed statements at a point: a formula becomes a small Python function, exact over int and Fraction.

Used on what the reader read back.  Nothing here knows calculus: a derivative is
looked up in the point, which has it from difference quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from derive.errors import UnsupportedError
from derive.expr import (
    Add,
    And,
    Arg,
    Binder,
    Bracket,
    Cardinality,
    Cases,
    Cond,
    Directional,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Hull,
    Idx,
    Iff,
    In,
    Infinity,
    Matrix,
    Mul,
    Node,
    Num,
    Otherwise,
    Partial,
    Pow,
    Reduce,
    Rel,
    SetApp,
    SetOf,
    Size,
    Star,
    Subdifferential,
    Tuple,
    Unit,
    Without,
    free_indices,
    open_binder,
    subst,
    walk,
)

Index = tuple[int, ...]


class Undefined(Exception):
    """The statement claims nothing at this point: a tie in an argmax, a kink in a derivative."""


class NoCase(Exception):
    """No branch of the cases holds."""


class Point(Protocol):
    """Concrete values: what a statement may look up."""

    sizes: Mapping[str, int]
    shapes: Mapping[str, Index]
    origin: int  # the first index of every axis

    def extent(self, tensor: str, axis: int) -> int: ...
    def remember(self, key: Any, compute: Callable[[], Any]) -> Any: ...
    def tensor(self, name: str) -> Mapping[Index, Any]: ...
    def elements(self, set_name: str, at: Index) -> list[Any]: ...
    def outputs(self, set_name: str) -> Index: ...
    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any: ...
    def slope(self, value: Callable[[Any], Any], wrt: str, by: Index) -> Any: ...
    def directional(self, of: str, wrt: str, along: str) -> Any: ...
    def supports(self, of: str, active: frozenset[int]) -> bool: ...


@dataclass(frozen=True)
class Definitions:
    """What a statement's letters abbreviate: stars, and tensors and sets that the sheet defines."""

    stars: Mapping[str, tuple[Arg, int, tuple[Idx, ...]]]
    tensors: Mapping[str, tuple[tuple[Expr, ...], Expr]]
    sets: Mapping[str, SetOf]


def best(candidates: list[tuple[Any, Any]], sign: int) -> Any:
    """The one index with the largest (sign 1) or smallest (−1) value; :class:`Undefined` at a tie."""
    if not candidates:
        raise Undefined
    top = max(value * sign for value, _ in candidates)
    found = [at for value, at in candidates if value * sign == top]
    if len(found) != 1:
        raise Undefined
    return found[0]


def no_case() -> Any:
    raise NoCase


def whole(tensor: Mapping[Index, Any], shape: Index) -> Any:
    """A tensor of rank 1 (as one row) or 2 as nested tuples."""
    if len(shape) == 1:
        return (tuple(tensor[(i,)] for i in range(shape[0])),)
    return tuple(tuple(tensor[i, j] for j in range(shape[1])) for i in range(shape[0]))


_RELATIONS = {"=": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}


class Coder:
    """Writes Python source for one statement; ``hits`` counts the case branches it has."""

    def __init__(self, definitions: Definitions, ranks: Mapping[str, int]) -> None:
        self.definitions = definitions
        self.ranks = ranks
        self.names: dict[Idx, str] = {}
        self.keys: dict[str, Node] = {}
        self.branches = 0

    def name(self, variable: Idx) -> str:
        return self.names.setdefault(variable, f"v{len(self.names)}")

    # values

    def value(self, node: Node) -> str:
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise UnsupportedError(f"cannot evaluate {type(node).__name__}")
        return str(method(node))

    def tuple_(self, items: tuple[Expr, ...]) -> str:
        return "(" + "".join(self.value(item) + "," for item in items) + ")"

    def _num(self, node: Num) -> str:
        value = node.value
        return str(value.numerator) if value.denominator == 1 else f"F({value.numerator},{value.denominator})"

    def _infinity(self, node: Infinity) -> str:
        return f"({node.sign}*INF)"

    def _idx(self, node: Idx) -> str:
        return self.name(node)

    def _size(self, node: Size) -> str:
        return f"P.sizes[{node.name!r}]"

    def _entry(self, node: Entry) -> str:
        definition = self.definitions.tensors.get(node.tensor)
        if definition is not None:
            params, value = definition
            return self.value(subst(value, dict(zip(params, node.indices, strict=True))))
        if not node.indices and self.ranks.get(node.tensor, 0):
            return f"whole(P.tensor({node.tensor!r}),P.shapes[{node.tensor!r}])"
        return f"P.tensor({node.tensor!r})[{self.tuple_(node.indices)}]"

    def _star(self, node: Star) -> str:
        arg, place, at = self.definitions.stars[node.name]
        found = self.value(subst(arg, dict(zip(at, node.at, strict=True))))
        return f"{found}[{place}]" if len(arg.binder.variables) > 1 else found

    def _add(self, node: Add) -> str:
        return "(" + "+".join(map(self.value, node.terms)) + ")"

    def _mul(self, node: Mul) -> str:
        guards = [self.value(f.cond) for f in node.factors if isinstance(f, Bracket)]
        rest = "*".join(self.value(f) for f in node.factors if not isinstance(f, Bracket)) or "1"
        return f"(({rest}) if {' and '.join(guards)} else 0)" if guards else f"({rest})"

    def _pow(self, node: Pow) -> str:
        exponent = node.exponent
        if not isinstance(exponent, Num) or exponent.value.denominator != 1:
            raise UnsupportedError("only whole powers are evaluated exactly")
        base = self.value(node.base)
        return f"(F(1)/{base})" if exponent.value == -1 else f"(F({base})**{exponent.value.numerator})"

    def _fn(self, node: Fn) -> str:
        args = [self.value(a) for a in node.args]
        if node.name == "mod":
            return f"({args[0]}%{args[1]})"
        if node.name == "abs":
            return f"abs({args[0]})"
        if node.name in ("floor", "ceil"):
            return f"{node.name}({args[0]})"
        raise UnsupportedError(f"{node.name} is not evaluated exactly")

    def _extremum(self, node: Extremum) -> str:
        return f"{node.op}({','.join(map(self.value, node.args))},)" if len(node.args) > 1 else self.value(node.args[0])

    def _tuple(self, node: Tuple) -> str:
        return self.tuple_(node.items)

    def _matrix(self, node: Matrix) -> str:
        return "(" + "".join(self.tuple_(row) + "," for row in node.rows) + ")"

    def _cases(self, node: Cases) -> str:
        text = "no_case()"
        for value, cond in reversed(node.branches):
            if isinstance(cond, Otherwise):
                text = self.value(value)
                continue
            number = self.branches
            self.branches += 1
            text = f"({self.value(value)} if {self.value(cond)} and not HITS.add({number}) else {text})"
        return text

    def _bracket(self, node: Bracket) -> str:
        return f"(1 if {self.value(node.cond)} else 0)"

    def _partial(self, node: Partial) -> str:
        if not isinstance(node.wrt, Entry):
            raise UnsupportedError("a derivative is taken with respect to an entry")
        if not isinstance(node.of, Entry):
            return f"P.slope(lambda P: {self.value(node.of)},{node.wrt.tensor!r},{self.tuple_(node.wrt.indices)})"
        return (f"P.partial({node.of.tensor!r},{self.tuple_(node.of.indices)},"
                f"{node.wrt.tensor!r},{self.tuple_(node.wrt.indices)})")

    def _directional(self, node: Directional) -> str:
        if not isinstance(node.of, Entry):
            raise UnsupportedError("only the directional derivative of an entry is evaluated")
        return f"P.directional({node.of.tensor!r},{node.at!r},{node.direction!r})"

    def _reduce(self, node: Reduce) -> str:
        binder, inside = open_binder(node)
        loops = self.clauses(binder, inside)
        text = f"{node.op}([{self.value(inside)} {loops}])"
        return text if node.op in ("sum", "prod") else self.remembered(node, text)

    def _arg(self, node: Arg) -> str:
        binder, inside = open_binder(node)
        loops = self.clauses(binder, inside)
        at = self.tuple_(binder.variables) if len(binder.variables) > 1 else self.name(binder.variables[0])
        return self.remembered(node, f"best([({self.value(inside)},{at}) {loops}],{1 if node.op == 'max' else -1})")

    def remembered(self, node: Reduce | Arg, text: str) -> str:
        """The value kept in the point: many statements ask for the same window's maximum."""
        free = sorted(free_indices(node), key=lambda v: v.name)
        key = subst(node, {v: Idx(f"#{n}") for n, v in enumerate(free)})
        if any(isinstance(n, Entry) and n.tensor in self.definitions.tensors for n in walk(node)):
            return text
        name = f"K{len(self.keys)}"
        self.keys[name] = key
        return f"P.remember(({name},{''.join(self.name(v) + ',' for v in free)}), lambda: {text})"

    # sets

    def _setof(self, node: SetOf) -> str:
        binder, element = open_binder(node)
        return f"[{self.value(element)} {self.clauses(binder, element)}]"

    def _setapp(self, node: SetApp) -> str:
        if node.name in self.definitions.sets:
            return self.value(self.definitions.sets[node.name])
        return f"P.elements({node.name!r},{self.tuple_(node.args)})"

    def _without(self, node: Without) -> str:
        return f"[e for e in {self.value(node.base)} if e not in {self.tuple_(node.elements)}]"

    def _cardinality(self, node: Cardinality) -> str:
        return f"len({self.value(node.of)})"

    def _unit(self, node: Unit) -> str:
        return self.value(node.index)

    def _hull(self, node: Hull) -> str:
        return f"frozenset({self.value(node.of)})"

    # conditions

    def _rel(self, node: Rel) -> str:
        first = node.terms[0]
        if isinstance(first, Subdifferential) and isinstance(first.of, Entry):
            return f"P.supports({first.of.tensor!r},{self.value(node.terms[1])})"
        text = self.value(first)
        for op, term in zip(node.ops, node.terms[1:], strict=True):
            text += f" {_RELATIONS[op]} {self.value(term)}"
        return f"({text})"

    def _in(self, node: In) -> str:
        return f"({self.value(node.element)} in {self.value(node.set)})"

    def _and(self, node: And) -> str:
        return "(" + " and ".join(map(self.value, node.conds)) + ")"

    def _iff(self, node: Iff) -> str:
        return f"({self.value(node.left)} == {self.value(node.right)})"

    def _otherwise(self, node: Otherwise) -> str:
        return "True"

    # what bound variables run through

    def clauses(self, binder: Binder, body: Expr) -> str:
        """``for`` clauses for the variables and an ``if`` for the condition."""
        conds = binder.cond.conds if isinstance(binder.cond, And) else (binder.cond,) if binder.cond else ()
        text, left = "", list(binder.variables)
        for cond in conds:
            if isinstance(cond, In) and left:
                text += self._through(cond, left)
        for variable in left[:]:
            place = binder.variables.index(variable)
            low, high = binder.lower[place], binder.upper[place]
            text += f"for {self.name(variable)} in {self._range(variable, low, high, conds, body)} "
        test = " and ".join(map(self.value, conds))
        return text + (f"if {test}" if test else "")

    def _through(self, cond: In, left: list[Idx]) -> str:
        """The loop that a membership gives: over a set's elements, or over the windows themselves."""
        element = cond.element.items if isinstance(cond.element, Tuple) else (cond.element,)
        own = [e for e in element if e in left]
        if len(own) == len(element):
            names = ",".join(self.name(v) for v in own if isinstance(v, Idx))
            for variable in own:
                left.remove(variable)  # type: ignore[arg-type]
            return f"for {names} in {self.value(cond.set)} " if len(own) == 1 else f"for ({names}) in {self.value(cond.set)} "
        if isinstance(cond.set, SetApp) and cond.set.args and all(a in left for a in cond.set.args):
            text = ""
            for place, variable in enumerate(cond.set.args):
                assert isinstance(variable, Idx)
                left.remove(variable)
                text += f"for {self.name(variable)} in range(P.outputs({cond.set.name!r})[{place}]) "
            return text
        return ""

    def _range(self, variable: Idx, low: Expr | None, high: Expr | None, conds: tuple[Cond, ...], body: Expr) -> str:
        if low is not None and high is not None:
            return f"range({self.value(low)},{self.value(high)}+1)"
        for cond in conds:
            found = self._bounds(variable, cond)
            if found:
                return found
        places = [f"P.extent({e.tensor!r},{n})" for part in (body, *conds) for e in walk(part)
                  if isinstance(e, Entry) for n, index in enumerate(e.indices) if index is variable]
        if not places:
            raise UnsupportedError("a summation index has no range")
        return f"range(P.origin,P.origin+min(({','.join(places)},)))"

    def _bounds(self, variable: Idx, cond: Cond) -> str | None:
        """range(a, b) from a chain a ≤ t < b."""
        if not (isinstance(cond, Rel) and len(cond.terms) == 3 and cond.terms[1] is variable):
            return None
        low = self.value(cond.terms[0]) + ("+1" if cond.ops[0] == "<" else "")
        high = self.value(cond.terms[2]) + ("+1" if cond.ops[1] == "≤" else "")
        return f"range({low},{high})"


@dataclass(frozen=True)
class Statement:
    """A compiled claim: ``evaluate(P, assignment)`` gives (holds, sides), or None where it claims nothing."""

    variables: tuple[Idx, ...]
    branches: int
    evaluate: Callable[[Point, Index, set[int]], tuple[bool, tuple[Any, ...]] | None]


_GLOBALS: dict[str, Any] = {}


def _globals() -> dict[str, Any]:
    if not _GLOBALS:
        import math

        _GLOBALS.update(F=Fraction, INF=math.inf, floor=math.floor, ceil=math.ceil, prod=math.prod, best=best,
                        whole=whole, no_case=no_case)
    return _GLOBALS


def compile_statement(node: Node, definitions: Definitions, ranks: Mapping[str, int]) -> Statement:
    """The statement as a function of a point and of its free indices.

    Raises :class:`UnsupportedError` where it holds something that has no exact value.
    """
    coder = Coder(definitions, ranks)
    variables = tuple(sorted(free_indices(node), key=lambda v: v.name))
    params = [coder.name(v) for v in variables]
    guard, claim = "", node
    if isinstance(node, Given):
        guard, claim = f"    if not {coder.value(node.cond)}: return None\n", node.claim
    source = (f"def evaluate(P, AT, HITS):\n    {''.join(p + ',' for p in params)} = AT\n" if params
              else "def evaluate(P, AT, HITS):\n") + guard + _body(claim, coder)
    space = {**_globals(), **coder.keys}
    exec(compile(source, "<statement>", "exec"), space)  # our own text: names and numbers only
    return Statement(variables, coder.branches, space["evaluate"])


def _body(claim: Node, coder: Coder) -> str:
    """Statements that return (holds, sides)."""
    if isinstance(claim, Rel) and not isinstance(claim.terms[0], Subdifferential):
        lines = [f"    t{n} = {coder.value(term)}\n" for n, term in enumerate(claim.terms)]
        chain = "t0" + "".join(f" {_RELATIONS[op]} t{n + 1}" for n, op in enumerate(claim.ops))
        return "".join(lines) + f"    return ({chain}), ({''.join(f't{n},' for n in range(len(claim.terms)))})\n"
    if isinstance(claim, Iff):
        return (f"    l, r = bool({coder.value(claim.left)}), bool({coder.value(claim.right)})\n"
                "    return l == r, (l, r)\n")
    return f"    return bool({coder.value(claim)}), ()\n"



def compile_value(params: tuple[Expr, ...], value: Expr, definitions: Definitions,
                  ranks: Mapping[str, int]) -> Callable[[Point, Index], Any]:
    """The value of a defined entry w_q as a function of a point and of its indices."""
    coder = Coder(definitions, ranks)
    names = "".join(coder.name(p) + "," for p in params if isinstance(p, Idx))
    head = f"def value(P, AT, HITS):\n    {names} = AT\n" if names else "def value(P, AT, HITS):\n"
    source = f"{head}    return {coder.value(value)}\n"
    space = {**_globals(), **coder.keys}
    exec(compile(source, "<value>", "exec"), space)
    function = space["value"]
    return lambda point, at: function(point, at, set())
