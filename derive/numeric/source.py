"""A forward equation as Python source: sums and maxima become generator expressions.

Printed statements have a writer of their own (:mod:`derive.numeric.coder`): they look their values and derivatives
up at a point, tell which of their cases hold, and keep what they ask for twice.  A forward equation says where its
output runs, computes each entry anew, and knows none of that: it is what the rest is checked by.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from derive.axes import axes
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
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    In,
    Infinity,
    Mul,
    Node,
    Num,
    Otherwise,
    Pow,
    Reduce,
    Rel,
    SetApp,
    Size,
    Tuple,
    free_indices,
    open_as,
    walk,
)
from derive.module import Module
from derive.reductions import REDUCTIONS

Places = dict[tuple[str, int], tuple[str, int]]  # (set, axis) -> (tensor, axis) whose extent its elements keep to

_OPS = {"=": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}



def members(cond: Cond | None, variables: Sequence[Idx]) -> list[tuple[tuple[Idx, ...], SetApp]]:
    """The memberships (v_1, …) ∈ S(…) of a condition whose elements are exactly bound variables."""
    found = []
    for part in cond.conds if isinstance(cond, And) else () if cond is None else (cond,):
        if isinstance(part, In) and isinstance(part.set, SetApp):
            items = part.element.items if isinstance(part.element, Tuple) else (part.element,)
            if all(v in variables for v in items):
                found.append((tuple(v for v in items if isinstance(v, Idx)), part.set))
    return found


@lru_cache(maxsize=256)
def window_places(equations: tuple[Rel, ...]) -> Places:
    """Which tensor axis each axis of a window set runs along, from the formula itself."""
    places: Places = {}
    for node in (n for equation in equations for n in walk(equation)):
        if isinstance(node, (Reduce, Arg)):
            for variables, which in members(node.binder.cond, node.binder.variables):
                for axis, v in enumerate(variables):
                    stands = _stands(v, node.body)
                    if stands:
                        places[which.name, axis] = stands[0]
    return places


def _stands(v: Idx, body: Node) -> list[tuple[str, int]]:
    """The tensor axes along which an index variable stands by itself."""
    return [(e.tensor, d) for e in walk(body) if isinstance(e, Entry) for d, t in enumerate(e.indices) if t is v]


def windows_of(equation: Rel, module: Module) -> tuple[str, tuple[int, ...]] | None:
    """Ω(k, l) in the definition of y_{…k…l…}: its name, and the places of k and l among the indices of y."""
    entry, value = equation.terms
    for node in walk(value):
        if isinstance(entry, Entry) and isinstance(node, SetApp) and node.name in dict(module.fields) \
                and set(node.args) <= set(entry.indices):
            return node.name, tuple(map(entry.indices.index, node.args))
    return None


class _Source:
    def __init__(self, module: Module) -> None:
        self.module, self.axes = module, axes(module)
        self.names: dict[Idx, str] = {}

    def fresh(self, v: Idx) -> Idx:
        self.names[v] = f"i{len(self.names)}"
        return v

    def spans(self, v: Idx, body: Node) -> str:
        """Where a variable without a written range runs: wherever every factor exists."""
        slots = _stands(v, body)
        extents = [f"run.extent({t!r}, {d})" for t, d in dict.fromkeys(slots)]
        windows = [(s.name, d) for s in walk(body) if isinstance(s, SetApp) for d, t in enumerate(s.args) if t is v]
        extents += [f"run.windows({name!r}, {d})" for name, d in dict.fromkeys(windows)]
        if not extents:
            raise UnsupportedError("an index has no range: no tensor axis and no set is indexed by it alone")
        count = f"min({', '.join(extents)})" if len(extents) > 1 else extents[0]
        start = self.axes.origin(*slots[0]) if slots else 0
        return f"range({start}, {start} + {count})" if start else f"range({count})"

    def outputs(self, v: Idx, start: int, value: Expr) -> str:
        """Where an output's index runs: from the first value on, while all indices are in range."""
        checks = [c for c in self.checks(v, value, "{}") if c]
        shifted = [f"0 <= {self.names[v]} - {self.axes.origin(t, d)} < run.extent({t!r}, {d})"
                   for t, d in _stands(v, value)]
        if not checks and not shifted:
            checks = self.reached(v, value)
        if not checks:
            return self.spans(v, value)
        test = " and ".join((*shifted, *checks))
        return f"list(takewhile(lambda {self.names[v]}: {test}, run.counted({start})))"

    def reached(self, v: Idx, value: Expr) -> list[str]:
        """For every sum under a condition on v, such as 0 ≤ v − p < n: it has a term."""
        found = []
        for node in walk(value):
            relations = walk(node.binder.cond) if isinstance(node, Reduce) and node.binder.cond is not None else ()
            if isinstance(node, Reduce) and any(isinstance(c, Rel) and v in free_indices(c) for c in relations):
                binder, body = open_as(node, tuple(self.fresh(_unused(self)) for _ in node.binder.variables))
                found.append(f"any(True {self.clauses(binder, body)})")
        return found

    def checks(self, v: Idx, node: Node, around: str) -> list[str]:
        """For every index term with v in it, which no bracket, case or condition guards: it is in range."""
        if isinstance(node, Entry):
            terms = [(d, t) for d, t in enumerate(node.indices) if t is not v and v in free_indices(t)]
            return [around.format(f"0 <= {self.index(t)} - {self.axes.origin(node.tensor, d)} < "
                                  f"run.extent({node.tensor!r}, {d})") for d, t in terms]
        if isinstance(node, Reduce):
            if node.binder.cond is not None or v not in free_indices(node):
                return []
            binder, body = open_as(node, tuple(self.fresh(_unused(self)) for _ in node.binder.variables))
            loops = self.clauses(binder, body).replace("{", "{{").replace("}", "}}")
            return self.checks(v, body, around.format(f"all({{}} {loops})"))
        if isinstance(node, Cases) or (isinstance(node, Mul) and any(isinstance(f, Bracket) for f in node.factors)):
            return []
        return [c for child in node.children() for c in self.checks(v, child, around)]

    def clauses(self, binder: Binder, body: Expr) -> str:
        """`for … in … if …` of a binder whose variables have names already."""
        taken = members(binder.cond, binder.variables)
        loops: dict[Idx, str] = {}
        for variables, which in taken:
            for axis, (v, k) in enumerate(zip(variables, which.args, strict=True)):
                loops[v] = f"run.window({which.name!r}, {axis}, {self.index(k)})"
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
            if low is not None and high is not None:
                loops[v] = f"range(ceil({self.index(low)}), floor({self.index(high)}) + 1)"
            elif v not in loops:
                loops[v] = self.spans(v, Tuple((body, *_terms(binder.cond))))
        text = " ".join(f"for {self.names[v]} in {loops[v]}" for v in binder.variables)
        consumed = {(tuple(v), s) for v, s in taken}
        for part in binder.cond.conds if isinstance(binder.cond, And) else filter(None, (binder.cond,)):
            if not (isinstance(part, In) and any(part.set is s for _, s in consumed)):
                text += f" if {self.cond(part)}"
        return text

    def index(self, node: Expr) -> str:
        return self.value(node, exact=True)

    def value(self, node: Expr, exact: bool = False) -> str:
        """A value as source; ``exact`` for index terms, whose numbers stay fractions."""
        def go(part: Expr) -> str:
            return self.value(part, exact)

        match node:
            case Num(value):
                whole = str(value) if value.denominator == 1 else f"Fraction({value.numerator}, {value.denominator})"
                return whole if exact else f"num({whole})"
            case Infinity(sign):
                return "inf" if sign > 0 else "(-inf)"
            case Idx():
                return self.names[node] if exact else f"num({self.names[node]})"
            case Size(name):
                return f"run.size({name!r})" if exact else f"num(run.size({name!r}))"
            case Entry(tensor, indices):
                return f"run.tensors[{tensor!r}][{self.tuple(indices)}]"
            case Add(terms):
                return "(" + " + ".join(map(go, terms)) + ")"
            case Mul(factors):
                return "(" + " * ".join(map(go, factors)) + ")"
            case Pow(base, exponent):
                return f"power({go(base)}, {self.index(exponent) if isinstance(exponent, Num) else go(exponent)})"
            case Fn() if (written_out := self.module.applied(node)) is not None:
                return go(written_out)
            case Cardinality(SetApp(name, args)):
                counts = (f"len(run.window({name!r}, {d}, {self.index(k)}))" for d, k in enumerate(args))
                return f"num({' * '.join(counts)})"
            case Fn(name, args):
                return f"{name if exact else f'fn[{name!r}]'}({', '.join(map(go, args))})"
            case Extremum(op, args):
                return f"{op}({', '.join(map(go, args))})"
            case Reduce(op):
                binder, body = open_as(node, tuple(self.fresh(_unused(self)) for _ in node.binder.variables))
                values, source = f"({self.value(body)} {self.clauses(binder, body)})", REDUCTIONS[op].source
                return source.format(values) if source else f"reduced({op!r}, list({values}))"
            case Cases(branches):
                tests = (f"{go(v)} if {self.cond(c)} else " for v, c in branches)
                return "(" + "".join(tests) + "undefined())"
            case Bracket(cond):
                return f"(1 if {self.cond(cond)} else 0)"
        raise UnsupportedError(f"`{type(node).__name__}` is not part of a forward formula")

    def cond(self, node: Cond) -> str:
        match node:
            case Otherwise():
                return "True"
            case And(conds):
                return "(" + " and ".join(map(self.cond, conds)) + ")"
            case Rel(terms, ops):
                pairs = zip(ops, terms[1:], strict=True)
                return "(" + self.side(terms[0]) + "".join(f" {_OPS[op]} {self.side(t)}" for op, t in pairs) + ")"
            case In(element, SetApp(name, args)):
                items = element.items if isinstance(element, Tuple) else (element,)
                tests = (f"{self.index(i)} in run.window({name!r}, {d}, {self.index(k)})"
                         for d, (i, k) in enumerate(zip(items, args, strict=True)))
                return "(" + " and ".join(tests) + ")"
        raise UnsupportedError(f"`{type(node).__name__}` is not a condition of a forward formula")

    def side(self, node: Expr) -> str:
        return self.tuple(node.items) if isinstance(node, Tuple) else self.value(node)

    def tuple(self, items: Sequence[Expr]) -> str:
        return "(" + "".join(f"{self.index(i)}, " for i in items) + ")"


def _unused(source: _Source) -> Idx:
    return Idx(f"${len(source.names)}")


def _terms(cond: Cond | None) -> tuple[Expr, ...]:
    return () if cond is None else tuple(n for n in walk(cond) if isinstance(n, SetApp))


def equation_source(equation: Rel, module: Module) -> str:
    """``equation(run)``: the indices of the tensor defined, and its entry as a function of the index."""
    entry, value = equation.terms
    if not isinstance(entry, Entry) or not all(isinstance(v, Idx) for v in entry.indices):
        raise UnsupportedError("a forward equation must define one tensor entry, such as y_k or f_kl")
    writer = _Source(module)
    free = [writer.fresh(v) for v in entry.indices if isinstance(v, Idx)]
    starts = [writer.axes.origin(entry.tensor, d) for d in range(len(free))]
    names = "".join(f"{writer.names[v]}, " for v in free)
    stated = {axis: length for tensor, axis, length in module.ranges if tensor == entry.tensor}
    ranges = ", ".join(f"range({start}, {start} + int({writer.index(stated[d])}))" if d in stated else
                       writer.outputs(v, start, value) for d, (v, start) in enumerate(zip(free, starts, strict=True)))
    unpack = f"        ({names}) = index\n" if free else ""
    return ("def equation(run):\n"
            f"    def entry(index):\n{unpack}        return {writer.value(value)}\n"
            f"    return product({ranges}), entry\n")
