"""A forward equation as Python source: sums and maxima become generator expressions.

Printed statements have a writer of their own (:mod:`derive.numeric.coder`): they look their values and derivatives
up at a point, tell which of their cases hold, and keep what they ask for twice.  A forward equation says where its
output runs, computes each entry anew, and knows none of that: it is what the rest is checked by.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import derive.expr as ex
from derive.axes import axes
from derive.errors import UnsupportedError
from derive.module import Module
from derive.reductions import REDUCTIONS

Places = dict[tuple[str, int], tuple[str, int]]  # (set, axis) -> (tensor, axis) whose extent its elements keep to




def members(cond: ex.Cond | None, variables: Sequence[ex.Idx]) -> list[tuple[tuple[ex.Idx, ...], ex.SetApp]]:
    """The memberships (v_1, …) ∈ S(…) of a condition whose elements are exactly bound variables."""
    found = []
    for part in cond.conds if isinstance(cond, ex.And) else () if cond is None else (cond,):
        if isinstance(part, ex.In) and isinstance(part.set, ex.SetApp):
            items = part.element.items if isinstance(part.element, ex.Tuple) else (part.element,)
            if all(v in variables for v in items):
                found.append((tuple(v for v in items if isinstance(v, ex.Idx)), part.set))
    return found


@lru_cache(maxsize=256)
def window_places(equations: tuple[ex.Rel, ...]) -> Places:
    """Which tensor axis each axis of a window set runs along, from the formula itself."""
    places: Places = {}
    for node in (n for equation in equations for n in ex.walk(equation)):
        if isinstance(node, (ex.Reduce, ex.Arg)):
            for variables, which in members(node.binder.cond, node.binder.variables):
                for axis, v in enumerate(variables):
                    stands = _stands(v, node.body)
                    if stands:
                        places[which.name, axis] = stands[0]
    return places


def _stands(v: ex.Idx, body: ex.Node) -> list[tuple[str, int]]:
    """The tensor axes along which an index variable stands by itself."""
    return [(e.tensor, d) for e in ex.walk(body) if isinstance(e, ex.Entry) for d, t in enumerate(e.indices) if t is v]


def windows_of(equation: ex.Rel, module: Module) -> tuple[str, tuple[int, ...]] | None:
    """Ω(k, l) in the definition of y_{…k…l…}: its name, and the places of k and l among the indices of y."""
    entry, value = equation.terms
    for node in ex.walk(value):
        if isinstance(entry, ex.Entry) and isinstance(node, ex.SetApp) and node.name in dict(module.fields) \
                and set(node.args) <= set(entry.indices):
            return node.name, tuple(map(entry.indices.index, node.args))
    return None


class _Source:
    def __init__(self, module: Module) -> None:
        self.module, self.axes = module, axes(module)
        self.names: dict[ex.Idx, str] = {}

    def fresh(self, v: ex.Idx) -> ex.Idx:
        self.names[v] = f"i{len(self.names)}"
        return v

    def spans(self, v: ex.Idx, body: ex.Node) -> str:
        """Where a variable without a written range runs: wherever every factor exists."""
        slots = _stands(v, body)
        extents = [f"run.extent({t!r}, {d})" for t, d in dict.fromkeys(slots)]
        windows = [(s.name, d) for s in ex.walk(body) if isinstance(s, ex.SetApp) for d, t in enumerate(s.args)
                   if t is v]
        extents += [f"run.windows({name!r}, {d})" for name, d in dict.fromkeys(windows)]
        if not extents:
            raise UnsupportedError("an index has no range: no tensor axis and no set is indexed by it alone")
        count = f"min({', '.join(extents)})" if len(extents) > 1 else extents[0]
        start = self.axes.origin(*slots[0]) if slots else 0
        return f"range({start}, {start} + {count})" if start else f"range({count})"

    def outputs(self, v: ex.Idx, start: int, value: ex.Expr) -> str:
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

    def reached(self, v: ex.Idx, value: ex.Expr) -> list[str]:
        """For every sum under a condition on v, such as 0 ≤ v − p < n: it has a term."""
        found = []
        for node in ex.walk(value):
            if not isinstance(node, ex.Reduce) or node.binder.cond is None:
                continue
            if any(isinstance(c, ex.Rel) and v in ex.free_indices(c) for c in ex.walk(node.binder.cond)):
                binder, body = ex.open_as(node, tuple(self.fresh(_unused(self)) for _ in node.binder.variables))
                found.append(f"any(True {self.clauses(binder, body)})")
        return found

    def checks(self, v: ex.Idx, node: ex.Node, around: str) -> list[str]:
        """For every index term with v in it, which no bracket, case or condition guards: it is in range."""
        if isinstance(node, ex.Entry):
            terms = [(d, t) for d, t in enumerate(node.indices) if t is not v and v in ex.free_indices(t)]
            return [around.format(f"0 <= {self.index(t)} - {self.axes.origin(node.tensor, d)} < "
                                  f"run.extent({node.tensor!r}, {d})") for d, t in terms]
        if isinstance(node, ex.Reduce):
            if node.binder.cond is not None or v not in ex.free_indices(node):
                return []
            binder, body = ex.open_as(node, tuple(self.fresh(_unused(self)) for _ in node.binder.variables))
            loops = self.clauses(binder, body).replace("{", "{{").replace("}", "}}")
            return self.checks(v, body, around.format(f"all({{}} {loops})"))
        if isinstance(node, ex.Cases) or (isinstance(node, ex.Mul)
                                          and any(isinstance(f, ex.Bracket) for f in node.factors)):
            return []
        return [c for child in node.children() for c in self.checks(v, child, around)]

    def clauses(self, binder: ex.Binder, body: ex.Expr) -> str:
        """`for … in … if …` of a binder whose variables have names already."""
        taken = members(binder.cond, binder.variables)
        loops: dict[ex.Idx, str] = {}
        for variables, which in taken:
            for axis, (v, k) in enumerate(zip(variables, which.args, strict=True)):
                loops[v] = f"run.window({which.name!r}, {axis}, {self.index(k)})"
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
            if low is not None and high is not None:
                loops[v] = f"range(ceil({self.index(low)}), floor({self.index(high)}) + 1)"
            elif v not in loops:
                loops[v] = self.spans(v, ex.Tuple((body, *_terms(binder.cond))))
        text = " ".join(f"for {self.names[v]} in {loops[v]}" for v in binder.variables)
        consumed = {(tuple(v), s) for v, s in taken}
        for part in binder.cond.conds if isinstance(binder.cond, ex.And) else filter(None, (binder.cond,)):
            if not (isinstance(part, ex.In) and any(part.set is s for _, s in consumed)):
                text += f" if {self.cond(part)}"
        return text

    def index(self, node: ex.Expr) -> str:
        return self.value(node, exact=True)

    def value(self, node: ex.Expr, exact: bool = False) -> str:
        """A value as source; ``exact`` for index terms, whose numbers stay fractions."""
        def go(part: ex.Expr) -> str:
            return self.value(part, exact)

        match node:
            case ex.Num(value):
                whole = str(value) if value.denominator == 1 else f"Fraction({value.numerator}, {value.denominator})"
                return whole if exact else f"num({whole})"
            case ex.Infinity(sign):
                return "inf" if sign > 0 else "(-inf)"
            case ex.Idx():
                return self.names[node] if exact else f"num({self.names[node]})"
            case ex.Size(name):
                return f"run.size({name!r})" if exact else f"num(run.size({name!r}))"
            case ex.Entry(tensor, indices):
                return f"run.tensors[{tensor!r}][{self.tuple(indices)}]"
            case ex.Add(terms):
                return "(" + " + ".join(map(go, terms)) + ")"
            case ex.Mul(factors):
                return "(" + " * ".join(map(go, factors)) + ")"
            case ex.Pow(base, exponent):
                return f"power({go(base)}, {self.index(exponent) if isinstance(exponent, ex.Num) else go(exponent)})"
            case ex.Fn() if (written_out := self.module.applied(node)) is not None:
                return go(written_out)
            case ex.Cardinality(ex.SetApp(name, args)):
                counts = (f"len(run.window({name!r}, {d}, {self.index(k)}))" for d, k in enumerate(args))
                return f"num({' * '.join(counts)})"
            case ex.Fn(name, args):
                return f"{name if exact else f'fn[{name!r}]'}({', '.join(map(go, args))})"
            case ex.Extremum(op, args):
                return f"{op}({', '.join(map(go, args))})"
            case ex.Reduce(op):
                binder, body = ex.open_as(node, tuple(self.fresh(_unused(self)) for _ in node.binder.variables))
                values, source = f"({self.value(body)} {self.clauses(binder, body)})", REDUCTIONS[op].source
                return source.format(values) if source else f"reduced({op!r}, list({values}))"
            case ex.Cases(branches):
                tests = (f"{go(v)} if {self.cond(c)} else " for v, c in branches)
                return "(" + "".join(tests) + "undefined())"
            case ex.Bracket(cond):
                return f"(1 if {self.cond(cond)} else 0)"
        raise UnsupportedError(f"`{type(node).__name__}` is not part of a forward formula")

    def cond(self, node: ex.Cond) -> str:
        match node:
            case ex.Otherwise():
                return "True"
            case ex.And(conds):
                return "(" + " and ".join(map(self.cond, conds)) + ")"
            case ex.Rel(terms, ops):
                pairs = zip(ops, terms[1:], strict=True)
                return "(" + self.side(terms[0]) + "".join(f" {ex.PYTHON[op]} {self.side(t)}" for op, t in pairs) + ")"
            case ex.In(element, ex.SetApp(name, args)):
                items = element.items if isinstance(element, ex.Tuple) else (element,)
                tests = (f"{self.index(i)} in run.window({name!r}, {d}, {self.index(k)})"
                         for d, (i, k) in enumerate(zip(items, args, strict=True)))
                return "(" + " and ".join(tests) + ")"
        raise UnsupportedError(f"`{type(node).__name__}` is not a condition of a forward formula")

    def side(self, node: ex.Expr) -> str:
        return self.tuple(node.items) if isinstance(node, ex.Tuple) else self.value(node)

    def tuple(self, items: Sequence[ex.Expr]) -> str:
        return "(" + "".join(f"{self.index(i)}, " for i in items) + ")"


def _unused(source: _Source) -> ex.Idx:
    return ex.Idx(f"${len(source.names)}")


def _terms(cond: ex.Cond | None) -> tuple[ex.Expr, ...]:
    return () if cond is None else tuple(n for n in ex.walk(cond) if isinstance(n, ex.SetApp))


def equation_source(equation: ex.Rel, module: Module) -> str:
    """``equation(run)``: the indices of the tensor defined, and its entry as a function of the index."""
    entry, value = equation.terms
    if not isinstance(entry, ex.Entry) or not all(isinstance(v, ex.Idx) for v in entry.indices):
        raise UnsupportedError("a forward equation must define one tensor entry, such as y_k or f_kl")
    writer = _Source(module)
    free = [writer.fresh(v) for v in entry.indices if isinstance(v, ex.Idx)]
    starts = [writer.axes.origin(entry.tensor, d) for d in range(len(free))]
    names = "".join(f"{writer.names[v]}, " for v in free)
    stated = {axis: length for tensor, axis, length in module.ranges if tensor == entry.tensor}
    ranges = ", ".join(f"range({start}, {start} + int({writer.index(stated[d])}))" if d in stated else
                       writer.outputs(v, start, value) for d, (v, start) in enumerate(zip(free, starts, strict=True)))
    unpack = f"        ({names}) = index\n" if free else ""
    return ("def equation(run):\n"
            f"    def entry(index):\n{unpack}        return {writer.value(value)}\n"
            f"    return product({ranges}), entry\n")
