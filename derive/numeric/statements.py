"""Printed statements at a point: a formula becomes a small Python function, exact or over any number type.

Used on what the reader read back.  Nothing here knows calculus: a derivative is
looked up in the point, which has it from difference quotients or dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import CodeType
from typing import Any

from derive.errors import UnsupportedError
from derive.expr import (
    ONE,
    Add,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Idx,
    Iff,
    Mul,
    Node,
    Num,
    Otherwise,
    Partial,
    Pow,
    Reduce,
    Rel,
    SetApp,
    Size,
    Subdifferential,
    free_indices,
    ranging,
    transform,
    walk,
)
from derive.functions import known
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import EXACT, Arithmetic, in_full
from derive.numeric.coder import RELATIONS, Coder
from derive.numeric.point import (
    Definitions,
    Index,
    Point,
    TwoCases,
    best,
    choose,
    first_best,
    median,
    middle,
    no_case,
    noted,
    whole,
)


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

        _GLOBALS.update(F=Fraction, EXACT=EXACT.functions, INF=math.inf, inf=math.inf, reduced=in_full(EXACT),
                        floor=math.floor, ceil=math.ceil,
                        prod=math.prod, best=best, middle=middle, median=median, whole=whole, no_case=no_case,
                        choose=choose, noted=noted)
    return _GLOBALS


@lru_cache(maxsize=4096)
def bytecode(source: str) -> CodeType:
    """The compiled text of a function; the text is our own: names and numbers only."""
    return compile(source, "<statement>", "exec")


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
    exec(bytecode(source), space)
    return Statement(variables, coder.branches, space["evaluate"])


def _body(claim: Node, coder: Coder) -> str:
    """Statements that return (holds, sides)."""
    if isinstance(claim, Rel) and not isinstance(claim.terms[0], Subdifferential):
        lines = [f"    t{n} = {coder.value(term)}\n" for n, term in enumerate(claim.terms)]
        chain = "t0" + "".join(f" {RELATIONS[op]} t{n + 1}" for n, op in enumerate(claim.ops))
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
    exec(bytecode(source), space)
    function = space["value"]
    return lambda point, at: function(point, at, set())


# Printed statements over real numbers: any function, any number type, tensors with ranges of their own.

@lru_cache(maxsize=8192)
def is_index_term(node: Node) -> bool:
    """Made of numbers, sizes and indices alone: its value is exact in every arithmetic."""
    return not any(isinstance(n, (Entry, Partial, Bracket, Cases))
                   or (isinstance(n, Fn) and n.name not in ("floor", "ceil", "mod"))
                   or (isinstance(n, Pow) and not (isinstance(n.exponent, Num) and n.exponent.value.denominator == 1))
                   for n in walk(node))


@dataclass(frozen=True)
class Mark:
    """A part of a formula that holds at some points only; ``needed``: a claim whose part holds nowhere is no claim."""

    words: str
    needed: bool


class RealCoder(Coder):
    """Writes source in which index terms are exact and values belong to the point's arithmetic.

    ``marks`` tells the parts that hold at some points only, by the number that they leave in HITS.
    """

    def __init__(self, definitions: Definitions, ranks: Mapping[str, int], module: Module, kind: Arithmetic) -> None:
        super().__init__(definitions, ranks)
        self.module, self.kind = module, kind
        self.exact = False
        self.marks: list[Mark] = []

    def mark(self, words: str, needed: bool = True) -> int:
        self.marks.append(Mark(words, needed))
        return len(self.marks) - 1

    def value(self, node: Node) -> str:
        if self.exact or isinstance(node, Idx) or not isinstance(node, Expr) or not is_index_term(node):
            return super().value(node)
        if isinstance(node, Num) and node.value.denominator != 1:
            name = f"C{len(self.keys)}"
            self.keys[name] = self.kind.number(node.value)
            return name
        text = self.index(node)
        return f"NUMBER({text})" if isinstance(node, (Add, Mul, Pow, Fn, Reduce)) else text

    def index(self, node: Node) -> str:
        """An index term: integers and fractions."""
        before, self.exact = self.exact, True
        try:
            return super().value(node)
        finally:
            self.exact = before

    def tuple_(self, items: tuple[Expr, ...]) -> str:
        return "(" + "".join((self.index(i) if is_index_term(i) else self.value(i)) + "," for i in items) + ")"

    def _entry(self, node: Entry) -> str:
        before, self.exact = self.exact, False
        try:
            if not node.indices and self.ranks.get(node.tensor, 0):
                return f"P.whole({node.tensor!r})"
            return super()._entry(node)
        finally:
            self.exact = before

    def _pow(self, node: Pow) -> str:
        if self.exact:
            return super()._pow(node)
        exponent = repr(node.exponent.value) if isinstance(node.exponent, Num) else self.value(node.exponent)
        return f"POWER({self.value(node.base)},{exponent})"

    def _fn(self, node: Fn) -> str:
        if self.exact or node.name in ("floor", "ceil", "mod"):
            return super()._fn(node)
        name = node.name.rstrip("'")
        own = self.module.function(name)
        function = known(name)
        if own is None and function is None and name != "pi":
            raise UnsupportedError(f"the function `{name}` has no known value")
        if node.name != name:
            args = "".join(self.value(a) + "," for a in node.args)
            return f"P.slope_of({name!r},({args}),{len(node.name) - len(name)})"
        if own is not None:
            if len(own.parameters) != len(node.args):
                raise UnsupportedError(f"`{name}` takes {len(own.parameters)} arguments")
            return self.value(own.at(node.args))
        if function is not None and function.corners:
            above, below = (self.mark(f"the {side} side of its {name}", needed=False) for side in ("upper", "lower"))
            return f"side(HITS,{above},{below},{self.value(node.args[0])},FUNCTIONS[{name!r}])"
        return f"FUNCTIONS[{name!r}]({','.join(map(self.value, node.args))})"

    def _extremum(self, node: Extremum) -> str:
        if self.exact or len(node.args) == 1:
            return super()._extremum(node)
        marks = [self.mark(f"term {n + 1} of its {node.op}", needed=False) for n in range(len(node.args))]
        return f"extreme(HITS,{marks[0]},{node.op},({','.join(map(self.value, node.args))},))"

    def _cases(self, node: Cases) -> str:
        """All cases that hold must agree: cases on paper have no order."""
        branches, other = [], "no_case()"
        for n, (value, cond) in enumerate(node.branches):
            if isinstance(cond, Otherwise):
                mark = self.mark(f"case {n + 1} of its cases")
                other = f"hit(HITS,{mark},{self.value(value)})"
                continue
            mark = self.mark(f"case {n + 1} of its cases")
            branches.append(f"({mark},lambda: {self.value(cond)},lambda: {self.value(value)}),")
        return f"agreed(HITS,({''.join(branches)}),lambda: {other},SAME)"

    def _guard(self, cond: Node) -> str:
        text = self.value(cond)
        if is_index_term(cond):
            return text
        return f"(hit(HITS,{self.mark('the condition of its bracket')},True) if {text} else False)"

    def _bracket(self, node: Bracket) -> str:
        return f"(1 if {self._guard(node.cond)} else 0)"

    def _mul(self, node: Mul) -> str:
        guards = [f.cond for f in node.factors if isinstance(f, Bracket)]
        rest = "*".join(self.value(f) for f in node.factors if not isinstance(f, Bracket)) or "1"
        if not guards:
            return f"({rest})"
        return f"(({rest}) if {' and '.join(map(self._guard, sorted(guards, key=_cost)))} else 0)"

    def kept(self, node: Reduce) -> bool:
        """A sum that takes long is kept too: at other indices it is asked for again."""
        costly = any(isinstance(n, (Fn, Pow, Partial, Reduce)) for n in walk(node.body))
        return super().kept(node) or costly and not self.exact

    @property
    def noted(self) -> int:
        return len(self.marks)

    def _rel(self, node: Rel) -> str:
        """Index terms are compared exactly, values as the arithmetic compares them."""
        if isinstance(node.terms[0], Subdifferential):
            return super()._rel(node)
        if all(map(is_index_term, node.terms)):
            sides = [self.index(t) for t in node.terms]
            rest = (f" {RELATIONS[op]} {t}" for op, t in zip(node.ops, sides[1:], strict=True))
            return f"({sides[0]}{''.join(rest)})"
        sides = [self.value(t) for t in node.terms]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        return "(" + " and ".join(f"SAME({a},{b})" if op == "=" else f"(not SAME({a},{b}))" if op == "≠" else
                                  f"({a} {RELATIONS[op]} {b})" for a, op, b in pairs) + ")"

    def _setapp(self, node: SetApp) -> str:
        if node.name not in self.definitions.sets and node.name not in dict(self.module.fields):
            raise UnsupportedError(f"nothing tells the elements of the set `{node.name}`")
        return super()._setapp(node)

    def _range(self, variable: Idx, low: Expr | None, high: Expr | None, conds: tuple[Cond, ...], body: Expr) -> str:
        if low is not None and high is not None:
            return f"range(ceil({self.index(low)}),floor({self.index(high)})+1)"
        return super()._range(variable, low, high, conds, body)

    def spans(self, variable: Idx, places: list[tuple[str, int]]) -> str:
        return f"P.span({tuple(places)!r})"

    def windows(self, places: list[tuple[str, int]]) -> str:
        return f"range(min(({''.join(f'P.outputs({name!r})[{d}],' for name, d in places)})))"


def _cost(cond: Node) -> bool:
    """Conditions on indices first: they guard the entries that the others read."""
    return not is_index_term(cond)


def names(kind: Arithmetic, same: Any) -> dict[str, Any]:
    """What the source refers to."""
    import math

    return {
        "F": Fraction, "EXACT": EXACT.functions, "INF": math.inf, "inf": math.inf, "reduced": in_full(kind),
        "floor": math.floor, "ceil": math.ceil,
        "prod": math.prod, "best": first_best, "middle": middle, "median": median, "noted": noted,
        "agreed": agreed, "no_case": no_case, "extreme": extreme, "side": side, "hit": hit, "Fraction": Fraction,
        "NUMBER": kind.number, "POWER": kind.power, "FUNCTIONS": kind.functions, "SAME": same,
    }


def hit(hits: set[int], number: int, value: Any) -> Any:
    """The value, noted as used."""
    hits.add(number)
    return value


def agreed(hits: set[int], branches: tuple[tuple[int, Any, Any], ...], other: Any, same: Any) -> Any:
    """The value of the cases that hold, else ``other``; :class:`TwoCases` where two of them differ."""
    values = [hit(hits, number, value()) for number, holds, value in branches if holds()]
    if not all(same(values[0], value) for value in values[1:]):
        raise TwoCases
    return values[0] if values else other()


def extreme(hits: set[int], first: int, pick: Any, values: tuple[Any, ...]) -> Any:
    """The extreme value; which of them it is is noted."""
    found = pick(values)
    hits.update(first + n for n, value in enumerate(values) if value is found)
    return found


def side(hits: set[int], above: int, below: int, value: Any, function: Any) -> Any:
    """|v| or sign v; on which side of 0 the argument lies is noted."""
    found = function(value)
    hits.add(above if value > 0 else below)
    return found


def variables_of(node: Node) -> tuple[Idx, ...]:
    return tuple(sorted(free_indices(node), key=lambda v: v.name))


# Matrix notation in components: S z is Σ_q S_q z_q.

def componentwise(node: Node, table: SymbolTable) -> Node:
    """The statement with each product of two whole vectors written as a sum over their components."""
    def product(part: Node) -> Node | None:
        if not (isinstance(part, Mul) and len(part.factors) == 2):
            return None
        sizes = [_length(factor, table) for factor in part.factors]
        if sizes[0] is None or sizes[0] != sizes[1]:
            return None
        t, n = Idx("$component"), sizes[0]
        top = Num(n) if isinstance(n, int) else Size(n)
        entries = tuple(Entry(f.tensor, (t,)) for f in part.factors if isinstance(f, Entry))
        return Reduce("sum", ranging(t, ONE, top), Mul(entries))

    return transform(node, product)


def _length(factor: Node, table: SymbolTable) -> int | str | None:
    """The extent of a whole vector; None for anything else."""
    if not isinstance(factor, Entry) or factor.indices:
        return None
    symbol = table.named(factor.tensor)
    return symbol.sizes[0] if symbol is not None and len(symbol.axes) == 1 and symbol.sizes else None
