"""Z3 proofs of printed statements at an instance: concrete indices, real values.

∂f/∂x is what SymPy says: the derivative of each case's value on its region.  The
statement is proved where its negation has no model for any assignment of its indices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import z3

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
    Given,
    Idx,
    Iff,
    In,
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
    Tuple,
    Without,
    free_indices,
    open_binder,
    subst,
    walk,
)
from derive.module import Module
from derive.numeric.exact import Definitions, Index
from derive.symbolic.window import Case, case_list
from derive.verify.instance import Instance

TIMEOUT_MS = 2000
Env = Mapping[Idx, int]


class Choice:
    """An index tuple that depends on the values: alternatives, exactly one of which holds."""

    def __init__(self, alternatives: dict[Any, z3.BoolRef]) -> None:
        self.alternatives = alternatives

    def equals(self, other: Any) -> Any:
        if isinstance(other, Choice):
            pairs = [z3.And(mine, other.alternatives[at]) for at, mine in self.alternatives.items()
                     if at in other.alternatives]
            return z3.Or(pairs)
        return self.alternatives.get(other, False)

    def component(self, place: int) -> Choice:
        merged: dict[Any, list[z3.BoolRef]] = {}
        for at, holds in self.alternatives.items():
            merged.setdefault(at[place], []).append(holds)
        return Choice({at: holds[0] if len(holds) == 1 else z3.Or(holds) for at, holds in merged.items()})


def _and(conds: list[Any]) -> Any:
    if any(c is False for c in conds):
        return False
    open_ = [c for c in conds if c is not True]
    return True if not open_ else open_[0] if len(open_) == 1 else z3.And(open_)


def _if(cond: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Lazy in Python where the condition is known, so that a false guard hides an index out of range."""
    if cond is True or cond is False:
        return then() if cond else other()
    return z3.If(cond, _real(then()), _real(other()))


def _real(value: Any) -> Any:
    if isinstance(value, Guarded):
        return value.value
    if isinstance(value, Fraction):
        return z3.RealVal(f"{value.numerator}/{value.denominator}")
    return z3.RealVal(value) if isinstance(value, int) else value


class Guarded:
    """Σ g where its condition holds: a sum of guarded terms, kept apart so that equal sums are seen to be."""

    def __init__(self, terms: list[tuple[Any, Any]]) -> None:
        self.terms = terms

    def same(self, other: Guarded) -> bool:
        return self._key() == other._key()

    def _key(self) -> set[tuple[int, Any]]:
        return {(c.get_id(), g.get_id() if isinstance(g, z3.ExprRef) else g) for c, g in self.terms}

    @property
    def value(self) -> Any:
        return z3.Sum([z3.If(cond, _real(g), 0) for cond, g in self.terms] or [z3.RealVal(0)])


def _times(a: Any, b: Any) -> Any:
    if isinstance(a, Guarded) and isinstance(b, Guarded):
        return Guarded([(z3.And(c, d), _times(g, h)) for c, g in a.terms for d, h in b.terms])
    if isinstance(a, Guarded):
        return Guarded([(cond, _times(g, b)) for cond, g in a.terms])
    if isinstance(b, Guarded):
        return _times(b, a)
    if isinstance(a, (int, Fraction)) and a == 1:
        return b
    return a if isinstance(b, (int, Fraction)) and b == 1 else a * b


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, Guarded) and isinstance(b, Guarded):
        return Guarded(a.terms + b.terms)
    if isinstance(a, Guarded) or isinstance(b, Guarded):
        known, other = (a, b) if isinstance(a, Guarded) else (b, a)
        return known if isinstance(other, int) and other == 0 else known.value + other
    return a + b


class Lowering:
    """A statement's value at an instance; ``axioms`` collects what the new symbols satisfy."""

    def __init__(self, instance: Instance, definitions: Definitions) -> None:
        self.instance, self.definitions = instance, definitions
        self.axioms: list[Any] = []
        self._choices: dict[Any, Choice] = {}
        self._outputs: dict[Index, Any] = {}
        self._slopes: dict[Index, dict[Index, list[tuple[Any, Any]]]] = {}
        self._names = itertools.count()
        self._lowered: dict[Any, Any] = {}
        self._frees: dict[Node, tuple[Idx, ...]] = {}
        self._opened: dict[Node, tuple[Binder, Expr]] = {}

    def lower(self, node: Node, env: Env) -> Any:
        """The value of a node; computed once for each assignment of its free indices."""
        key = (node, *(env[v] for v in self._free(node)))
        if key not in self._lowered:
            method = getattr(self, "_" + type(node).__name__.lower(), None)
            if method is None:
                raise UnsupportedError(f"no proof over {type(node).__name__}")
            self._lowered[key] = method(node, env)
        return self._lowered[key]

    def _free(self, node: Node) -> tuple[Idx, ...]:
        found = self._frees.get(node)
        if found is None:
            found = self._frees[node] = tuple(sorted(free_indices(node), key=lambda v: v.name))
        return found

    def _open(self, node: Reduce | Arg | SetOf) -> tuple[Binder, Expr]:
        """The binder opened once, so that what is under it can be remembered."""
        if node not in self._opened:
            self._opened[node] = open_binder(node)
        return self._opened[node]

    # index terms and values

    def _num(self, node: Num, env: Env) -> Any:
        return node.value.numerator if node.value.denominator == 1 else node.value

    def _idx(self, node: Idx, env: Env) -> Any:
        return env[node]

    def _size(self, node: Size, env: Env) -> Any:
        return self.instance.sizes[node.name]

    def _tuple(self, node: Tuple, env: Env) -> Any:
        items = [self.lower(item, env) for item in node.items]
        if not any(isinstance(item, Choice) for item in items):
            return tuple(items)
        arg, at = self._common(node.items)
        return self._arg(subst(arg, at), env)

    def _common(self, items: tuple[Expr, ...]) -> tuple[Arg, dict[Node, Node]]:
        """The argmax whose components, in order, the items are."""
        found = [self.definitions.stars[i.name] for i in items if isinstance(i, Star)]
        if len(found) != len(items) or len({f[0] for f in found}) > 1 or [f[1] for f in found] != [*range(len(found))]:
            raise UnsupportedError("mixed star indices")
        star = items[0]
        assert isinstance(star, Star)
        return found[0][0], dict(zip(found[0][2], star.at, strict=True))

    def _star(self, node: Star, env: Env) -> Any:
        arg, place, at = self.definitions.stars[node.name]
        found = self._arg(subst(arg, dict(zip(at, node.at, strict=True))), env)
        return found.component(place) if len(arg.binder.variables) > 1 else found

    def _entry(self, node: Entry, env: Env) -> Any:
        if node.tensor in self.definitions.tensors:
            params, value = self.definitions.tensors[node.tensor]
            at = [self.lower(i, env) for i in node.indices]
            return self.lower(value, {p: v for p, v in zip(params, at, strict=True) if isinstance(p, Idx)})
        if any(isinstance(i, Star) for i in node.indices):
            arg, mapping = self._common(node.indices)
            choice = self._arg(subst(arg, mapping), env)
            return self._pick(choice, node.tensor)
        at_ = tuple(self.lower(i, env) for i in node.indices)
        return self._value(node.tensor, at_)

    def _pick(self, choice: Choice, tensor: str) -> Any:
        value: Any = None
        for at, holds in choice.alternatives.items():
            found = self._value(tensor, at if isinstance(at, tuple) else (at,))
            value = found if value is None else z3.If(holds, found, value)
        return value

    def _value(self, tensor: str, at: Index) -> Any:
        instance = self.instance
        if tensor == instance.module.output:
            if at not in self._outputs:
                entry, value = instance.module.definition(tensor)
                env = {i: a for i, a in zip(entry.indices, at, strict=True) if isinstance(i, Idx)}
                self._outputs[at] = self.lower(value, env)
            return self._outputs[at]
        if tensor == f"delta_{instance.wrt}":
            return Guarded([(region, _times(g, self._value(f"delta_{instance.module.output}", out)))
                            for out in instance.outputs() for region, g in self._slope(out, at)])
        if not instance.has(tensor, at):
            raise KeyError((tensor, at))
        return z3.Real(f"{tensor}{list(at)}")

    def _partial(self, node: Partial, env: Env) -> Any:
        of, wrt = node.of, node.wrt
        if not (isinstance(of, Entry) and isinstance(wrt, Entry)):
            raise UnsupportedError("no proof over the derivative of an expression")
        at, by = (tuple(self.lower(i, env) for i in e.indices) for e in (of, wrt))
        if of.tensor == wrt.tensor:
            return int(at == by)
        if of.tensor == "loss":
            return self._value(f"delta_{wrt.tensor}", by)
        if of.tensor != self.instance.module.output or wrt.tensor != self.instance.wrt:
            raise UnsupportedError("only ∂output/∂input has a symbolic derivative")
        if at not in set(self.instance.outputs()):
            raise KeyError(at)
        return Guarded(self._slope(at, by))

    def _slope(self, out: Index, by: Index) -> list[tuple[Any, Any]]:
        """(region, ∂value/∂x_by) of each of SymPy's cases of this window; one region holds."""
        if out not in self._slopes:
            cells = self.instance.window(out)
            found: dict[Index, list[tuple[Any, Any]]] = {}
            regions = []
            for case in _cases(self.instance.layer, len(cells)):
                region = z3.And([self._sympy(r, cells) for r in case.region])
                regions.append(region)
                for cell, g in zip(cells, case.gradient, strict=True):
                    if g != 0:
                        found.setdefault(cell, []).append((region, _plain(g)))
            if regions:
                self.axioms.append(z3.Or(regions))
            self._slopes[out] = found
        return self._slopes[out].get(by, [])

    def _sympy(self, relation: Any, cells: list[Index]) -> Any:
        def side(symbol: Any) -> Any:
            return self._value(self.instance.wrt, cells[int(str(symbol).rsplit("_", 1)[1]) - 1])

        left, right = side(relation.lhs), side(relation.rhs)
        return left > right if type(relation).__name__ == "StrictGreaterThan" else left < right

    def _add(self, node: Add, env: Env) -> Any:
        return reduce(_plus, [self.lower(t, env) for t in node.terms])

    def _mul(self, node: Mul, env: Env) -> Any:
        cond = _and([self.lower(f.cond, env) for f in node.factors if isinstance(f, Bracket)])
        rest = [f for f in node.factors if not isinstance(f, Bracket)]

        def product() -> Any:
            values = [self.lower(factor, env) for factor in rest] or [1]
            return reduce(_times, values)

        if cond is True or cond is False:
            return product() if cond else 0
        return _times(Guarded([(cond, 1)]), product())

    def _pow(self, node: Pow, env: Env) -> Any:
        exponent = node.exponent
        if not isinstance(exponent, Num) or exponent.value.denominator != 1:
            raise UnsupportedError("no proof over this power")
        base, power = self.lower(node.base, env), exponent.value.numerator
        if isinstance(base, (int, Fraction)):
            return Fraction(base) ** power
        if power == -1:
            return 1 / _real(base)
        raise UnsupportedError("no proof over this power")

    def _fn(self, node: Fn, env: Env) -> Any:
        import math

        args = [self.lower(a, env) for a in node.args]
        if not all(isinstance(a, (int, Fraction)) for a in args):
            raise UnsupportedError(f"no proof over {node.name} of a value")
        table: dict[str, Callable[..., Any]] = {"floor": math.floor, "ceil": math.ceil, "mod": lambda a, b: a % b,
                                                "abs": abs}
        return table[node.name](*args)

    def _extremum(self, node: Extremum, env: Env) -> Any:
        return self._best(node.op, [self.lower(a, env) for a in node.args])

    def _best(self, op: str, values: list[Any]) -> Any:
        if not values:
            raise UnsupportedError("an empty maximum")
        if all(isinstance(v, (int, Fraction)) for v in values):
            return max(values) if op == "max" else min(values)
        if len(values) == 2:
            a, b = map(_real, values)
            return z3.If(a >= b if op == "max" else a <= b, a, b)
        best = z3.Real(f"best{next(self._names)}")
        values = [_real(v) for v in values]
        for v in values:
            self.axioms.append(best >= v if op == "max" else best <= v)
        self.axioms.append(z3.Or([best == v for v in values]))
        return best

    def _bracket(self, node: Bracket, env: Env) -> Any:
        cond = self.lower(node.cond, env)
        return int(cond) if cond is True or cond is False else Guarded([(cond, 1)])

    def _cases(self, node: Cases, env: Env) -> Any:
        if not node.branches:
            self._unique()
            return z3.Real(f"undefined{next(self._names)}")
        (value, cond), *rest = node.branches
        return _if(self.lower(cond, env), lambda: self.lower(value, env),
                   lambda: self._cases(Cases(tuple(rest)), env))

    def _unique(self) -> None:
        """Cases without "otherwise" must cover every input whose maximum is unique."""
        for out in self.instance.outputs():
            self._slope(out, ())

    def _reduce(self, node: Reduce, env: Env) -> Any:
        binder, body = self._open(node)
        parts = []
        for inner, cond in self.run_through(binder, body, env):
            parts.append((cond, self.lower(body, inner)))
        if node.op in ("max", "min"):
            if any(cond is not True for cond, _ in parts):
                raise UnsupportedError("an extremum over a set that depends on values")
            return self._best(node.op, [v for _, v in parts])
        unit = 0 if node.op == "sum" else 1
        if node.op == "prod" and all(c is True and isinstance(v, Guarded) and len(v.terms) == 1 for c, v in parts):
            return Guarded([(z3.And([v.terms[0][0] for _, v in parts]), 1)])
        values = [_if(c, lambda v=v: v, lambda: unit) for c, v in parts]  # type: ignore[misc]
        return reduce(_plus if node.op == "sum" else _times, values or [unit])

    def _arg(self, node: Arg, env: Env) -> Any:
        """A choice with strict winners: the maximum is taken to be unique here."""
        binder, body = self._open(node)
        found = {}
        for inner, cond in self.run_through(binder, body, env):
            if cond is not True:
                raise UnsupportedError("an argmax over a set that depends on values")
            at = tuple(inner[v] for v in binder.variables)
            found[at if len(at) > 1 else at[0]] = self.lower(body, inner)
        key = (node.op, tuple((at, v.get_id() if hasattr(v, "get_id") else v) for at, v in found.items()))
        if key not in self._choices:
            self._choices[key] = Choice({at: z3.Bool(f"best{next(self._names)}{at}") for at in found})
            holds = self._choices[key].alternatives
            self.axioms.append(z3.Or(list(holds.values())))
            for at, b in holds.items():
                wins = [found[at] > v if node.op == "max" else found[at] < v for o, v in found.items() if o != at]
                self.axioms.append(z3.Implies(b, z3.And(wins)))
        return self._choices[key]

    # conditions

    def _rel(self, node: Rel, env: Env) -> Any:
        values = [self.lower(t, env) for t in node.terms]
        return _and([_compare(a, op, b) for a, op, b in zip(values, node.ops, values[1:], strict=False)])

    def _and(self, node: And, env: Env) -> Any:
        found = []
        for cond in node.conds:
            found.append(self.lower(cond, env))
            if found[-1] is False:
                return False
        return _and(found)

    def _iff(self, node: Iff, env: Env) -> Any:
        left, right = self.lower(node.left, env), self.lower(node.right, env)
        return left == right

    def _given(self, node: Given, env: Env) -> Any:
        cond = self.lower(node.cond, env)
        if cond is False:
            return True
        claim = self.lower(node.claim, env)
        return claim if cond is True else z3.Implies(cond, claim)

    def _otherwise(self, node: Otherwise, env: Env) -> Any:
        return True

    def _in(self, node: In, env: Env) -> Any:
        element = self.lower(node.element, env)
        if isinstance(node.set, SetApp) and node.set.name in self.definitions.sets:
            return self._in_set(self.definitions.sets[node.set.name], element, env)
        return element in self._elements(node.set, env)

    def _in_set(self, node: SetOf, element: Any, env: Env) -> Any:
        binder, shown = self._open(node)
        for inner, cond in self.run_through(binder, shown, env):
            if self.lower(shown, inner) == element:
                return cond
        return False

    def _elements(self, node: Expr, env: Env) -> list[Any]:
        if isinstance(node, Without):
            gone = [self.lower(e, env) for e in node.elements]
            return [e for e in self._elements(node.base, env) if e not in gone]
        if not isinstance(node, SetApp):
            raise UnsupportedError("no proof over this set")
        at = tuple(self.lower(a, env) for a in node.args)
        cells = self.instance.window(at)
        return [c[0] for c in cells] if cells and len(cells[0]) == 1 else cells

    def _cardinality(self, node: Cardinality, env: Env) -> Any:
        of = node.of
        if isinstance(of, SetApp) and of.name in self.definitions.sets:
            of = self.definitions.sets[of.name]
        if not isinstance(of, SetOf):
            return len(self._elements(of, env))
        binder, shown = self._open(of)
        return z3.Sum([_if(c, lambda: z3.IntVal(1), lambda: z3.IntVal(0)) for _, c in
                       self.run_through(binder, shown, env)])

    # bound variables

    def run_through(self, binder: Binder, body: Expr, env: Env) -> list[tuple[dict[Idx, int], Any]]:
        """(assignment, condition) for the variables of a binder; conditions known to be false are left out."""
        names = binder.variables
        found = []
        for at in itertools.product(*(self._range(v, n, binder, body, env) for n, v in enumerate(names))):
            inner = {**env, **dict(zip(names, at, strict=True))}
            try:
                cond = True if binder.cond is None else self.lower(binder.cond, inner)
            except KeyError:  # the window that a condition asks about does not exist
                continue
            if cond is not False:
                found.append((inner, cond))
        return found

    def _range(self, variable: Idx, place: int, binder: Binder, body: Expr, env: Env) -> range:
        low, high = binder.lower[place], binder.upper[place]
        if low is not None and high is not None:
            return range(self.lower(low, env), self.lower(high, env) + 1)
        parts = (body,) if binder.cond is None else (body, binder.cond)
        return self.instance.range_of(variable, [n for part in parts for n in walk(part)], self.definitions)


def _plain(number: Any) -> Any:
    """A SymPy number as an int or Fraction."""
    return int(number.p) if number.q == 1 else Fraction(int(number.p), int(number.q))


@cache
def _cases(module: Module, n: int) -> tuple[Case, ...]:
    return case_list(module, n) if n else ()


def _compare(left: Any, op: str, right: Any) -> Any:
    if isinstance(left, Choice) or isinstance(right, Choice):
        choice, other = (left, right) if isinstance(left, Choice) else (right, left)
        same = choice.equals(other)
        return same if op == "=" else (not same if isinstance(same, bool) else z3.Not(same))
    if isinstance(left, Guarded) and isinstance(right, Guarded) and op == "=" and left.same(right):
        return True
    if isinstance(left, Guarded) or isinstance(right, Guarded):
        left, right = _real(left), _real(right)
    table: dict[str, Callable[[Any, Any], Any]] = {
        "=": lambda a, b: a == b, "≠": lambda a, b: a != b, "<": lambda a, b: a < b, "≤": lambda a, b: a <= b,
        ">": lambda a, b: a > b, "≥": lambda a, b: a >= b,
    }
    return table[op](left, right)


class Prover:
    """Proves statements at one instance.

    With ``shared`` what was lowered serves later statements too, and so do its
    axioms, that maxima are unique among them.
    """

    def __init__(self, instance: Instance, shared: bool) -> None:
        self.instance, self.shared = instance, shared
        self._lowering: Lowering | None = None

    def prove(self, node: Node, definitions: Definitions, variables: tuple[Idx, ...],
              ranges: Mapping[Idx, range]) -> bool:
        """Whether the statement holds identically at this instance, for every value of its free indices.

        False where Z3 finds a model of the negation or gives up in time; raises
        :class:`UnsupportedError` where the statement is outside its theory.
        """
        if self._lowering is None or not self.shared:
            self._lowering = Lowering(self.instance, definitions)
        claims = []
        for at in itertools.product(*(ranges[v] for v in variables)):
            claim = self._lowering.lower(node, dict(zip(variables, at, strict=True)))
            if claim is False:
                return False
            if claim is not True:
                claims.append(claim)
        if not claims:
            return True
        solver = z3.SimpleSolver()
        solver.set("timeout", TIMEOUT_MS)
        solver.add(*self._lowering.axioms)
        solver.add(z3.Not(z3.And(claims)))
        return bool(solver.check() == z3.unsat)
