"""Printed statements as Python source: a method for each kind of node, and ``for`` clauses for a binder."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import derive.expr as ex
from derive.axes import counts, stands
from derive.errors import UnsupportedError
from derive.functions import known
from derive.module import Module
from derive.numeric.point import Definitions
from derive.records import dataclass
from derive.reductions import REDUCTIONS, is_middle


@lru_cache(maxsize=8192)
def is_index_term(node: ex.Node) -> bool:
    """Made of numbers, sizes and indices alone: its value is exact in every arithmetic."""
    return not any(isinstance(n, (ex.Entry, ex.Partial, ex.Bracket, ex.Cases))
                   or (isinstance(n, ex.Fn) and n.name not in ("floor", "ceil", "mod"))
                   or (isinstance(n, ex.Pow)
                       and not (isinstance(n.exponent, ex.Num) and n.exponent.value.denominator == 1))
                   for n in ex.walk(node))


@dataclass(frozen=True)
class Mark:
    """A part of a formula that holds at some points only; ``needed``: a claim whose part holds nowhere is no claim.

    Of cases inside a case some may hold nowhere: where x > x^2, x > x^3 does too.
    """

    words: str
    needed: bool
    inner: bool = False


class Coder:
    """Writes source in which index terms are exact and values belong to the point's arithmetic.

    ``marks`` tells the parts that hold at some points only, by the number that they leave in HITS.
    """

    def __init__(self, definitions: Definitions, ranks: Mapping[str, int], module: Module | None) -> None:
        self.definitions, self.ranks, self.module = definitions, ranks, module
        self.names: dict[ex.Idx, str] = {}
        self.keys: dict[str, Any] = {}
        self.numbers: dict[str, Fraction] = {}
        self.marks: list[Mark] = []
        self.exact = self.inner = False

    def name(self, variable: ex.Idx) -> str:
        """The Python name of an index variable."""
        return self.names.setdefault(variable, f"v{len(self.names)}")

    def number(self, value: Fraction) -> str:
        """The name of a constant, a number of whatever arithmetic the source is run in."""
        name = f"N{len(self.numbers)}"
        self.numbers[name] = value
        return name

    def mark(self, words: str, needed: bool = True) -> int:
        self.marks.append(Mark(words, needed and not self.inner, needed and self.inner))
        return len(self.marks) - 1

    # values

    def value(self, node: ex.Node) -> str:
        """Python source for a node."""
        if isinstance(node, ex.Expr) and not is_index_term(node):
            return self._under(node, exact=False)
        if self.exact or isinstance(node, ex.Idx) or not isinstance(node, ex.Expr):
            return self._written(node)
        if isinstance(node, ex.Num) and node.value.denominator != 1:
            return self.number(node.value)
        first, text = len(self.marks), self.index(node)
        if not isinstance(node, (ex.Add, ex.Mul, ex.Pow, ex.Fn, ex.Reduce)):
            return text
        return f"NUMBER({text})" if ex.free_indices(node) else self.remembered(node, f"NUMBER({text})", first)

    def index(self, node: ex.Node) -> str:
        """An index term: integers and fractions."""
        return self._under(node, exact=True)

    def _under(self, node: ex.Node, exact: bool) -> str:
        before, self.exact = self.exact, exact
        try:
            return self._written(node)
        finally:
            self.exact = before

    def _written(self, node: ex.Node) -> str:
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise UnsupportedError(f"cannot evaluate {type(node).__name__}")
        return str(method(node))

    def tuple_(self, items: tuple[ex.Expr, ...]) -> str:
        return "(" + "".join((self.index(i) if is_index_term(i) else self.value(i)) + "," for i in items) + ")"

    def _num(self, node: ex.Num) -> str:
        value = node.value
        return str(value.numerator) if value.denominator == 1 else f"F({value.numerator},{value.denominator})"

    def _infinity(self, node: ex.Infinity) -> str:
        return f"({node.sign}*INF)"

    def _idx(self, node: ex.Idx) -> str:
        return self.name(node)

    def _size(self, node: ex.Size) -> str:
        return f"P.sizes[{node.name!r}]"

    def _entry(self, node: ex.Entry) -> str:
        definition = self.definitions.tensors.get(node.tensor)
        if definition is None:
            if not node.indices and self.ranks.get(node.tensor, 0):
                return f"P.whole({node.tensor!r})"
            return self._looked_up(node.tensor, self.tuple_(node.indices))
        params, value = definition
        if len(params) != len(node.indices):
            if node.indices:
                raise UnsupportedError(f"{node.tensor} is defined entry by entry")
            return f"P.whole({node.tensor!r})"
        text = self.value(ex.subst(value, dict(zip(params, node.indices, strict=True))))
        read = {i for n in ex.walk(value) if isinstance(n, ex.Entry) for i in n.indices}
        return text if {*params} <= read else f"(P.inside({self.tuple_(node.indices)}) or {text})"

    def _looked_up(self, tensor: str, at: str) -> str:
        there = self.module is not None and tensor in (*self.module.given, *self.module.defined)
        return f"P.values[{tensor!r}][{at}]" if there else f"P.tensor({tensor!r})[{at}]"

    def _star(self, node: ex.Star) -> str:
        if node.name not in self.definitions.stars:
            raise UnsupportedError(f"nothing defines {node.name}^*")
        arg, place, at = self.definitions.stars[node.name]
        if len(at) != len(node.at):
            raise UnsupportedError(f"{node.name}^* depends on {len(at)} indices, not on {len(node.at)}")
        found = self.value(ex.subst(arg, dict(zip(at, node.at, strict=True))))
        return f"{found}[{place}]" if len(arg.binder.variables) > 1 else found

    def _add(self, node: ex.Add) -> str:
        return "(" + "+".join(map(self.value, node.terms)) + ")"

    def _mul(self, node: ex.Mul) -> str:
        guards = [f.cond for f in node.factors if isinstance(f, ex.Bracket)]
        rest = "*".join(self.value(f) for f in node.factors if not isinstance(f, ex.Bracket)) or "1"
        return self._where(guards, rest) if guards else f"({rest})"

    def _where(self, guards: list[ex.Cond], value: str) -> str:
        """A value where the guards hold, else 0; those on indices first: they guard what the others read."""
        return f"(({value}) if {' and '.join(map(self._guard, sorted(guards, key=is_of_values)))} else 0)"

    def constant(self, value: Any) -> str:
        """The name of what is made once."""
        name = f"C{len(self.keys)}"
        self.keys[name] = value
        return name

    def _pow(self, node: ex.Pow) -> str:
        exponent = node.exponent
        if not self.exact:
            first = len(self.marks)
            power = self.value(exponent)
            if isinstance(exponent, ex.Num):
                whole = exponent.value.denominator == 1
                power = f"({exponent.value})" if whole else self.constant(exponent.value)
            return self.remembered(node, f"POWER({self.value(node.base)},{power})", first)
        if not isinstance(exponent, ex.Num) or exponent.value.denominator != 1:
            raise UnsupportedError("only whole powers are evaluated exactly")
        base = self.value(node.base)
        return f"(F(1)/{base})" if exponent.value == -1 else f"(F({base})**{exponent.value.numerator})"

    def _fn(self, node: ex.Fn) -> str:
        if node.name in ("floor", "ceil"):
            return self._rounded(node)
        if node.name == "mod":
            args = [self.value(a) for a in node.args]
            return f"({args[0]}%{args[1]})"
        name = node.name.rstrip("'")
        own = None if self.module is None else self.module.function(name)
        function = known(name)
        if own is None and function is None and name != "pi":
            raise UnsupportedError(f"the function `{name}` has no known value")
        if node.name != name:
            args_ = "".join(self.value(a) + "," for a in node.args)
            return f"P.slope_of({name!r},({args_}),{len(node.name) - len(name)})"
        if own is not None:
            if len(own.parameters) != len(node.args):
                raise UnsupportedError(f"`{name}` takes {len(own.parameters)} arguments")
            return self.value(own.at(node.args))
        if function is not None and function.corners:
            return self._applied(name, self.value(node.args[0]))
        first = len(self.marks)
        return self.remembered(node, f"FUNCTIONS[{name!r}]({','.join(map(self.value, node.args))})", first)

    def _applied(self, name: str, argument: str) -> str:
        """|v| or sign v, and on which side of 0 the argument lies."""
        above, below = (self.mark(f"the {side} side of its {name}", needed=False) for side in ("upper", "lower"))
        return f"side(HITS,{above},{below},{argument},FUNCTIONS[{name!r}])"

    def _rounded(self, node: ex.Fn) -> str:
        """⌊t/d⌋ by whole division, which is much faster than a fraction rounded."""
        inside = node.args[0]
        if isinstance(inside, ex.Mul) and isinstance(inside.factors[0], ex.Num) and (
                inside.factors[0].value.numerator == 1):
            top, d = self.value(ex.Mul(inside.factors[1:])), inside.factors[0].value.denominator
            return f"({top}//{d})" if node.name == "floor" else f"(-(-{top}//{d}))"
        return f"{node.name}({self.value(inside)})"

    def _extremum(self, node: ex.Extremum) -> str:
        if self.exact or len(node.args) == 1:
            return f"{node.op}({','.join(map(self.value, node.args))},)" if node.args[1:] else self.value(node.args[0])
        marks = [self.mark(f"term {n + 1} of its {node.op}", needed=False) for n in range(len(node.args))]
        return f"extreme(HITS,{marks[0]},{node.op},({','.join(map(self.value, node.args))},))"

    def _tuple(self, node: ex.Tuple) -> str:
        return self.tuple_(node.items)

    def _matrix(self, node: ex.Matrix) -> str:
        return "(" + "".join(self.tuple_(row) + "," for row in node.rows) + ")"

    def _cases(self, node: ex.Cases) -> str:
        """All cases that hold must agree: cases on paper have no order."""
        branches, other = [], "no_case()"
        for n, (value, cond) in enumerate(node.branches):
            mark = self.mark(f"case {n + 1} of its cases")
            holds = "" if isinstance(cond, ex.Otherwise) else self.value(cond)
            outer, self.inner = self.inner, True
            inside = self.value(value)
            self.inner = outer
            if holds:
                branches.append((mark, holds, inside))
            else:
                other = f"hit(HITS,{mark},{inside})"
        return self._chosen(branches, other)

    def _chosen(self, branches: list[tuple[int, str, str]], other: str) -> str:
        """The value of the case that holds; what one case holds alone agrees with itself."""
        if len(branches) == 1:
            (mark, cond, value), = branches
            return f"(hit(HITS,{mark},{value}) if {cond} else {other})"
        return self._agreed(branches, other)

    def _agreed(self, branches: list[tuple[int, str, str]], other: str) -> str:
        parts = "".join(f"({mark},lambda: {cond},lambda: {value})," for mark, cond, value in branches)
        return f"agreed(HITS,({parts}),lambda: {other},SAME)"

    def _guard(self, cond: ex.Node) -> str:
        text = self.value(cond)
        if is_index_term(cond):
            return text
        return f"(hit(HITS,{self.mark('the condition of its bracket')},True) if {text} else False)"

    def _bracket(self, node: ex.Bracket) -> str:
        return self._where([node.cond], "1")

    def _partial(self, node: ex.Partial) -> str:
        if not isinstance(node.wrt, ex.Entry):
            raise UnsupportedError("a derivative is taken with respect to an entry")
        if not isinstance(node.of, ex.Entry) or node.of.tensor in self.definitions.tensors:
            first = len(self.marks)  # the expression tells its derivatives by all entries at once
            value = self.remembered(node.of, self.value(node.of), first, object())
            return f"P.slope(lambda P: {value},{node.wrt.tensor!r},{self.tuple_(node.wrt.indices)})"
        return (f"P.partial({node.of.tensor!r},{self.tuple_(node.of.indices)},"
                f"{node.wrt.tensor!r},{self.tuple_(node.wrt.indices)})")

    def _directional(self, node: ex.Directional) -> str:
        if not isinstance(node.of, ex.Entry):
            raise UnsupportedError("only the directional derivative of an entry is evaluated")
        return f"P.directional({node.of.tensor!r},{node.at!r},{node.direction!r})"

    def _reduce(self, node: ex.Reduce) -> str:
        first = len(self.marks)
        binder, inside = ex.opened(node)
        loops = self.clauses(binder, inside)
        if node.op == "prod" and isinstance(inside, ex.Bracket):
            return self._all(inside, loops)
        terms, source = f"[{self.value(inside)} {loops}]", REDUCTIONS[node.op].source
        text = source.format(terms) if source else f"reduced({node.op!r},{terms})"
        return self.remembered(node, text, first) if self._kept(node) else text

    def _all(self, bracket: ex.Bracket, loops: str) -> str:
        """Π [cond]: nothing is compared behind the first that is false, as in a window of many entries."""
        return f"(1 if all({self._guard(bracket.cond)} {loops}) else 0)"

    def _kept(self, node: ex.Reduce) -> bool:
        """Whether its value is kept in the point: an extreme one is, and a sum that takes long."""
        costly = any(isinstance(n, (ex.Fn, ex.Pow, ex.Partial, ex.Reduce)) for n in ex.walk(node.body))
        return node.op not in ("sum", "prod") or costly and not self.exact

    def _arg(self, node: ex.Arg) -> str:
        first = len(self.marks)
        binder, inside = ex.opened(node)
        loops = self.clauses(binder, inside)
        at = self.tuple_(binder.variables) if len(binder.variables) > 1 else self.name(binder.variables[0])
        pick = "middle" if is_middle(node.op) else "best"
        text = f"{pick}([({self.value(inside)},{at}) {loops}],{1 if node.op == 'max' else -1})"
        return self.remembered(node, text, first)

    def remembered(self, node: ex.Expr, text: str, first: int, own: object = None) -> str:
        """The value kept in the point, with what it leaves in HITS: many statements ask for the same power.

        Under a key of its ``own`` for this statement alone.
        """
        free = sorted(ex.free_indices(node), key=lambda v: v.name)
        key = own or ex.subst(node, {v: ex.Idx(f"#{n}") for n, v in enumerate(free)})
        used = list(ex.walk(node))
        if own is None and any(isinstance(n, ex.Entry) and n.tensor in self.definitions.tensors for n in used):
            return text
        # what the sheet defines is part of what is remembered: another sheet may define it otherwise
        sets = [self.definitions.sets.get(n.name) for n in used if isinstance(n, ex.SetApp)]
        stars = [self.definitions.stars.get(n.name) for n in used if isinstance(n, ex.Star)]
        name = f"K{len(self.keys)}"
        self.keys[name] = (key, *sets, *stars) if sets or stars else key
        place = f"({name},{''.join(self.name(v) + ',' for v in free)})"
        if len(self.marks) > first:
            return f"noted(P,{place},HITS,{first},lambda HITS: {text})"
        return f"P.remember({place}, lambda: {text})"

    # bound variables

    def clauses(self, binder: ex.Binder, body: ex.Expr) -> str:
        """``for`` clauses for the variables and an ``if`` for the condition."""
        conds = ex.conditions(binder.cond)
        text, left, told = "", list(binder.variables), set[ex.Cond]()
        for cond in conds:
            if isinstance(cond, ex.In) and left:
                loop, holds = self._through(cond, left)
                text, told = text + loop, told | ({cond} if holds else set())
        for variable in left[:]:
            place = binder.variables.index(variable)
            low, high = binder.lower[place], binder.upper[place]
            text += f"for {self.name(variable)} in {self._range(variable, low, high, conds, body)} "
        test = " and ".join(self.value(c) for c in conds if c not in told)
        return text + (f"if {test}" if test else "")

    def _through(self, cond: ex.In, left: list[ex.Idx]) -> tuple[str, bool]:
        """The loop that a membership gives, and whether it then holds: over a set's elements, or over the windows."""
        element = ex.items(cond.element)
        own = [e for e in element if isinstance(e, ex.Idx) and e in left]
        if len(own) == len(element):
            names = ",".join(map(self.name, own))
            for variable in own:
                left.remove(variable)
            return f"for {names if len(own) == 1 else f'({names})'} in {self.value(cond.set)} ", True
        if isinstance(cond.set, ex.SetApp) and cond.set.args and _distinct(cond.set.args, left):
            text = ""
            for place, argument in enumerate(cond.set.args):
                assert isinstance(argument, ex.Idx)
                left.remove(argument)
                text += f"for {self.name(argument)} in range(P.outputs({cond.set.name!r})[{place}]) "
            return text, False
        return "", False

    def _range(self, variable: ex.Idx, low: ex.Expr | None, high: ex.Expr | None, conds: tuple[ex.Cond, ...],
               body: ex.Expr) -> str:
        if low is not None and high is not None:
            return f"range(ceil({self.index(low)}),floor({self.index(high)})+1)"
        for cond in conds:
            found = self._bounds(variable, cond)
            if found:
                return found
        places = tuple(s for s in stands(variable, body, *conds) if s[0] not in self.definitions.tensors)
        if places:
            return f"P.span({places!r})"
        if windows := counts(variable, body, *conds):
            return f"range(min(({''.join(f'P.outputs({name!r})[{d}],' for name, d in windows)})))"
        raise UnsupportedError("a summation index has no range")

    def _bounds(self, variable: ex.Idx, cond: ex.Cond) -> str | None:
        """range(a, b) from a chain a ≤ t < b."""
        if not (isinstance(cond, ex.Rel) and len(cond.terms) == 3 and cond.terms[1] is variable):
            return None
        low = self.value(cond.terms[0]) + ("+1" if cond.ops[0] == "<" else "")
        high = self.value(cond.terms[2]) + ("+1" if cond.ops[1] == "≤" else "")
        return f"range({low},{high})"

    # sets

    def _setof(self, node: ex.SetOf) -> str:
        binder, element = ex.opened(node)
        return f"[{self.value(element)} {self.clauses(binder, element)}]"

    def _setapp(self, node: ex.SetApp) -> str:
        if node.name in self.definitions.sets:
            return self.value(self.definitions.sets[node.name])
        if self.module is None or node.name not in dict(self.module.fields):
            raise UnsupportedError(f"nothing tells the elements of the set `{node.name}`")
        return f"P.elements({node.name!r},{self.tuple_(node.args)})"

    def _without(self, node: ex.Without) -> str:
        return f"[e for e in {self.value(node.base)} if e not in {self.tuple_(node.elements)}]"

    def _cardinality(self, node: ex.Cardinality) -> str:
        return f"len({self.value(node.of)})"

    def _unit(self, node: ex.Unit) -> str:
        return self.value(node.index)

    def _hull(self, node: ex.Hull) -> str:
        return f"frozenset({self.value(node.of)})"

    # conditions

    def _rel(self, node: ex.Rel) -> str:
        """Index terms are compared exactly, values as the arithmetic compares them."""
        first = node.terms[0]
        if isinstance(first, ex.Subdifferential) and isinstance(first.of, ex.Entry):
            if node.ops != ("=",) or not isinstance(node.terms[1], ex.Hull):
                raise UnsupportedError("a subdifferential is equal to the convex hull of a set")
            return f"P.supports({first.of.tensor!r},{self.value(node.terms[1])})"
        if all(map(is_index_term, node.terms)):
            sides = [self.index(t) for t in node.terms]
            rest = (f" {ex.PYTHON[op]} {t}" for op, t in zip(node.ops, sides[1:], strict=True))
            return f"({sides[0]}{''.join(rest)})"
        sides = [self.value(t) for t in node.terms]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        return "(" + " and ".join(f"SAME({a},{b})" if op == "=" else f"(not SAME({a},{b}))" if op == "≠" else
                                  f"({a} {ex.PYTHON[op]} {b})" for a, op, b in pairs) + ")"

    def _in(self, node: ex.In) -> str:
        return f"({self.value(node.element)} in {self.value(node.set)})"

    def _and(self, node: ex.And) -> str:
        return "(" + " and ".join(map(self.value, node.conds)) + ")"

    def _iff(self, node: ex.Iff) -> str:
        return f"({self.value(node.left)} == {self.value(node.right)})"

    def _otherwise(self, node: ex.Otherwise) -> str:
        return "True"


def is_of_values(cond: ex.Node) -> bool:
    return not is_index_term(cond)


def _distinct(args: tuple[ex.Expr, ...], left: list[ex.Idx]) -> bool:
    """Whether the arguments are different variables that still want a range."""
    return len(set(args)) == len(args) and all(a in left for a in args)
