"""Printed statements as Python source: a method for each kind of node, and ``for`` clauses for a binder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

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
from derive.functions import known
from derive.numeric.point import Definitions
from derive.reductions import REDUCTIONS, is_middle


class Clauses(ABC):
    """Writes the clauses of a binder; how values are written is the subclass's part."""

    @abstractmethod
    def value(self, node: Node) -> str:
        """Python source for a node."""

    @abstractmethod
    def name(self, variable: Idx) -> str:
        """The Python name of an index variable."""

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
        own = [e for e in element if isinstance(e, Idx) and e in left]
        if len(own) == len(element):
            names = ",".join(map(self.name, own))
            for variable in own:
                left.remove(variable)
            return f"for {names if len(own) == 1 else f'({names})'} in {self.value(cond.set)} "
        if isinstance(cond.set, SetApp) and cond.set.args and _distinct(cond.set.args, left):
            text = ""
            for place, argument in enumerate(cond.set.args):
                assert isinstance(argument, Idx)
                left.remove(argument)
                text += f"for {self.name(argument)} in range(P.outputs({cond.set.name!r})[{place}]) "
            return text
        return ""

    def _range(self, variable: Idx, low: Expr | None, high: Expr | None, conds: tuple[Cond, ...], body: Expr) -> str:
        if low is not None and high is not None:
            return f"range({self.value(low)},{self.value(high)}+1)"
        for cond in conds:
            found = self._bounds(variable, cond)
            if found:
                return found
        nodes = [n for part in (body, *conds) for n in walk(part)]
        places = [(e.tensor, n) for e in nodes if isinstance(e, Entry)
                  for n, index in enumerate(e.indices) if index is variable]
        if places:
            return self.spans(variable, list(dict.fromkeys(places)))
        windows = [(s.name, n) for s in nodes if isinstance(s, SetApp) for n, a in enumerate(s.args) if a is variable]
        if not windows:
            raise UnsupportedError("a summation index has no range")
        return self.windows(list(dict.fromkeys(windows)))

    def spans(self, variable: Idx, places: list[tuple[str, int]]) -> str:
        """The range of a variable from the tensor axes along which it stands."""
        extents = ",".join(f"P.extent({tensor!r},{axis})" for tensor, axis in places)
        return f"range(P.origin,P.origin+min(({extents},)))"

    def windows(self, places: list[tuple[str, int]]) -> str:
        """The range of a variable from the window sets of which it is an argument."""
        raise UnsupportedError("a summation index has no range")

    def _bounds(self, variable: Idx, cond: Cond) -> str | None:
        """range(a, b) from a chain a ≤ t < b."""
        if not (isinstance(cond, Rel) and len(cond.terms) == 3 and cond.terms[1] is variable):
            return None
        low = self.value(cond.terms[0]) + ("+1" if cond.ops[0] == "<" else "")
        high = self.value(cond.terms[2]) + ("+1" if cond.ops[1] == "≤" else "")
        return f"range({low},{high})"


def _distinct(args: tuple[Expr, ...], left: list[Idx]) -> bool:
    """Whether the arguments are different variables that still want a range."""
    return len(set(args)) == len(args) and all(a in left for a in args)



RELATIONS = {"=": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}


class Coder(Clauses):
    """Writes Python source for one statement; ``hits`` counts the case branches it has."""

    def __init__(self, definitions: Definitions, ranks: Mapping[str, int]) -> None:
        self.definitions = definitions
        self.ranks = ranks
        self.names: dict[Idx, str] = {}
        self.keys: dict[str, Any] = {}
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
            if len(params) != len(node.indices):
                raise UnsupportedError(f"{node.tensor} is defined entry by entry")
            text = self.value(subst(value, dict(zip(params, node.indices, strict=True))))
            return f"(P.inside({self.tuple_(node.indices)}) or {text})" if node.indices else text
        if not node.indices and self.ranks.get(node.tensor, 0):
            return f"whole(P.tensor({node.tensor!r}),P.shapes[{node.tensor!r}])"
        return f"P.tensor({node.tensor!r})[{self.tuple_(node.indices)}]"

    def _star(self, node: Star) -> str:
        if node.name not in self.definitions.stars:
            raise UnsupportedError(f"nothing defines {node.name}^*")
        arg, place, at = self.definitions.stars[node.name]
        if len(at) != len(node.at):
            raise UnsupportedError(f"{node.name}^* depends on {len(at)} indices, not on {len(node.at)}")
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
        if node.name in ("floor", "ceil"):
            return self._rounded(node)
        args = [self.value(a) for a in node.args]
        if node.name == "mod":
            return f"({args[0]}%{args[1]})"
        function = known(node.name)
        if function is not None and function.exact is not None:
            return f"EXACT[{node.name!r}]({args[0]})"
        raise UnsupportedError(f"{node.name} is not evaluated exactly")

    def _rounded(self, node: Fn) -> str:
        """⌊t/d⌋ by whole division, which is much faster than a fraction rounded."""
        inside = node.args[0]
        if isinstance(inside, Mul) and isinstance(inside.factors[0], Num) and inside.factors[0].value.numerator == 1:
            top, d = self.value(Mul(inside.factors[1:])), inside.factors[0].value.denominator
            return f"({top}//{d})" if node.name == "floor" else f"(-(-{top}//{d}))"
        return f"{node.name}({self.value(inside)})"

    def _extremum(self, node: Extremum) -> str:
        return f"{node.op}({','.join(map(self.value, node.args))},)" if len(node.args) > 1 else self.value(node.args[0])

    def _tuple(self, node: Tuple) -> str:
        return self.tuple_(node.items)

    def _matrix(self, node: Matrix) -> str:
        return "(" + "".join(self.tuple_(row) + "," for row in node.rows) + ")"

    def _cases(self, node: Cases) -> str:
        """All cases that hold must agree: cases on paper have no order."""
        branches, other = [], "no_case()"
        for value, cond in node.branches:
            if isinstance(cond, Otherwise):
                other = self.value(value)
                continue
            branches.append(f"({self.branches},{self.value(cond)},lambda: {self.value(value)})")
            self.branches += 1
        return f"choose(HITS,({','.join(branches)},),lambda: {other})"

    def _bracket(self, node: Bracket) -> str:
        return f"(1 if {self.value(node.cond)} else 0)"

    def _partial(self, node: Partial) -> str:
        if not isinstance(node.wrt, Entry):
            raise UnsupportedError("a derivative is taken with respect to an entry")
        if not isinstance(node.of, Entry) or node.of.tensor in self.definitions.tensors:
            return f"P.slope(lambda P: {self.value(node.of)},{node.wrt.tensor!r},{self.tuple_(node.wrt.indices)})"
        return (f"P.partial({node.of.tensor!r},{self.tuple_(node.of.indices)},"
                f"{node.wrt.tensor!r},{self.tuple_(node.wrt.indices)})")

    def _directional(self, node: Directional) -> str:
        if not isinstance(node.of, Entry):
            raise UnsupportedError("only the directional derivative of an entry is evaluated")
        return f"P.directional({node.of.tensor!r},{node.at!r},{node.direction!r})"

    def _reduce(self, node: Reduce) -> str:
        first = self.noted
        binder, inside = open_binder(node)
        loops = self.clauses(binder, inside)
        terms, source = f"[{self.value(inside)} {loops}]", REDUCTIONS[node.op].source
        text = source.format(terms) if source else f"reduced({node.op!r},{terms})"
        return self.remembered(node, text, first) if self.kept(node) else text

    def kept(self, node: Reduce) -> bool:
        """Whether its value is kept in the point."""
        return node.op not in ("sum", "prod")

    @property
    def noted(self) -> int:
        """How many numbers can be left in HITS so far."""
        return self.branches

    def _arg(self, node: Arg) -> str:
        first = self.noted
        binder, inside = open_binder(node)
        loops = self.clauses(binder, inside)
        at = self.tuple_(binder.variables) if len(binder.variables) > 1 else self.name(binder.variables[0])
        pick = "middle" if is_middle(node.op) else "best"
        text = f"{pick}([({self.value(inside)},{at}) {loops}],{1 if node.op == 'max' else -1})"
        return self.remembered(node, text, first)

    def remembered(self, node: Reduce | Arg, text: str, first: int) -> str:
        """The value kept in the point, with what it leaves in HITS: many statements ask for the same maximum."""
        free = sorted(free_indices(node), key=lambda v: v.name)
        key = subst(node, {v: Idx(f"#{n}") for n, v in enumerate(free)})
        used = list(walk(node))
        if any(isinstance(n, Entry) and n.tensor in self.definitions.tensors for n in used):
            return text
        # what the sheet defines is part of what is remembered: another sheet may define it otherwise
        sets = [self.definitions.sets.get(n.name) for n in used if isinstance(n, SetApp)]
        stars = [self.definitions.stars.get(n.name) for n in used if isinstance(n, Star)]
        name = f"K{len(self.keys)}"
        self.keys[name] = (key, *sets, *stars)
        place = f"({name},{''.join(self.name(v) + ',' for v in free)})"
        if self.noted > first:
            return f"noted(P,{place},HITS,{first},lambda HITS: {text})"
        return f"P.remember({place}, lambda: {text})"

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
            if node.ops != ("=",) or not isinstance(node.terms[1], Hull):
                raise UnsupportedError("a subdifferential is equal to the convex hull of a set")
            return f"P.supports({first.of.tensor!r},{self.value(node.terms[1])})"
        text = self.value(first)
        for op, term in zip(node.ops, node.terms[1:], strict=True):
            text += f" {RELATIONS[op]} {self.value(term)}"
        return f"({text})"

    def _in(self, node: In) -> str:
        return f"({self.value(node.element)} in {self.value(node.set)})"

    def _and(self, node: And) -> str:
        return "(" + " and ".join(map(self.value, node.conds)) + ")"

    def _iff(self, node: Iff) -> str:
        return f"({self.value(node.left)} == {self.value(node.right)})"

    def _otherwise(self, node: Otherwise) -> str:
        return "True"
