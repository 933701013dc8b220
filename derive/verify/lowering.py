"""A printed statement at an instance as a Z3 term: concrete indices, real values.

∂f/∂x is what SymPy says: the derivative of each case's value on its region.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import z3

from derive.errors import UnsupportedError
from derive.expr import (
    Add,
    Arg,
    Binder,
    Bracket,
    Cases,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    SetOf,
    Size,
    Star,
    Tuple,
    free_indices,
    open_binder,
    subst,
)
from derive.functions import known
from derive.module import Module
from derive.numeric.point import Definitions, Index
from derive.symbolic.window import Case, case_list
from derive.verify.conditions import Conditions, Env
from derive.verify.instance import Instance
from derive.verify.smt import every, related, some, when
from derive.verify.terms import Choice, Guarded, choose, compare, conjunction, plus, real, times


class Lowering(Conditions):
    """A statement's value at an instance; ``axioms`` collects what the new symbols satisfy."""

    def __init__(self, instance: Instance, definitions: Definitions) -> None:
        self.instance, self.definitions = instance, definitions
        self.axioms: list[Any] = []
        self._choices: dict[Any, Choice] = {}
        self._outputs: dict[Index, Any] = {}
        self._slopes: dict[Index, dict[Index, list[tuple[Any, Any]]]] = {}
        self._reals: dict[tuple[str, Index], Any] = {}
        self._names = itertools.count()
        self._lowered: dict[Any, Any] = {}
        self._frees: dict[Node, tuple[Idx, ...]] = {}
        self._opened: dict[Node, tuple[Binder, Expr]] = {}

    def lower(self, node: Node, env: Env) -> Any:
        """The value of a node; computed once for each assignment of its free indices."""
        if isinstance(node, Idx):
            return env[node]
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

    def opened(self, node: Reduce | Arg | SetOf) -> tuple[Binder, Expr]:
        """The binder opened once, so that what is under it can be remembered."""
        if node not in self._opened:
            self._opened[node] = open_binder(node)
        return self._opened[node]

    # index terms and values

    def _num(self, node: Num, env: Env) -> Any:
        return node.value.numerator if node.value.denominator == 1 else node.value

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
            value = found if value is None else when(holds, found, value)
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
            return Guarded([(region, times(g, self._value(f"delta_{instance.module.output}", out)))
                            for out in instance.outputs() for region, g in self._slope(out, at)])
        if not instance.has(tensor, at):
            raise KeyError((tensor, at))
        if (tensor, at) not in self._reals:
            self._reals[tensor, at] = z3.Real(f"{tensor}{list(at)}")
        return self._reals[tensor, at]

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
                region = every([self._sympy(r, cells) for r in case.region])
                regions.append(region)
                for cell, g in zip(cells, case.gradient, strict=True):
                    if g != 0:
                        found.setdefault(cell, []).append((region, _plain(g)))
            if regions:
                self.axioms.append(some(regions))
            self._slopes[out] = found
        return self._slopes[out].get(by, [])

    def _sympy(self, relation: Any, cells: list[Index]) -> Any:
        def side(symbol: Any) -> Any:
            return self._value(self.instance.wrt, cells[int(str(symbol).rsplit("_", 1)[1]) - 1])

        left, right = side(relation.lhs), side(relation.rhs)
        return related(left, ">" if type(relation).__name__ == "StrictGreaterThan" else "<", right)

    def _add(self, node: Add, env: Env) -> Any:
        return reduce(plus, [self.lower(t, env) for t in node.terms])

    def _mul(self, node: Mul, env: Env) -> Any:
        cond = conjunction([self.lower(f.cond, env) for f in node.factors if isinstance(f, Bracket)])
        rest = [f for f in node.factors if not isinstance(f, Bracket)]

        def product() -> Any:
            values = [self.lower(factor, env) for factor in rest] or [1]
            return reduce(times, values)

        if cond is True or cond is False:
            return product() if cond else 0
        return times(Guarded([(cond, 1)]), product())

    def _pow(self, node: Pow, env: Env) -> Any:
        exponent = node.exponent
        if not isinstance(exponent, Num) or exponent.value.denominator != 1:
            raise UnsupportedError("no proof over this power")
        base, power = self.lower(node.base, env), exponent.value.numerator
        if isinstance(base, (int, Fraction)):
            return Fraction(base) ** power
        if power == -1:
            return 1 / real(base)
        raise UnsupportedError("no proof over this power")

    def _fn(self, node: Fn, env: Env) -> Any:
        import math

        args = [self.lower(a, env) for a in node.args]
        if not all(isinstance(a, (int, Fraction)) for a in args):
            raise UnsupportedError(f"no proof over {node.name} of a value")
        table: dict[str, Callable[..., Any]] = {"floor": math.floor, "ceil": math.ceil, "mod": lambda a, b: a % b}
        function = known(node.name)
        exact = function.exact if function is not None else table.get(node.name)
        if exact is None:
            raise UnsupportedError(f"no proof over {node.name}")
        return exact(*args)

    def _extremum(self, node: Extremum, env: Env) -> Any:
        return self._best(node.op, [self.lower(a, env) for a in node.args])

    def _best(self, op: str, values: list[Any]) -> Any:
        if not values:
            raise UnsupportedError("an empty maximum")
        if all(isinstance(v, (int, Fraction)) for v in values):
            return max(values) if op == "max" else min(values)
        if len(values) == 2:
            a, b = map(real, values)
            return when(related(a, "≥" if op == "max" else "≤", b), a, b)
        best = z3.Real(f"best{next(self._names)}")
        values = [real(v) for v in values]
        for v in values:
            self.axioms.append(related(best, "≥" if op == "max" else "≤", v))
        self.axioms.append(some([related(best, "=", v) for v in values]))
        return best

    def _bracket(self, node: Bracket, env: Env) -> Any:
        cond = self.lower(node.cond, env)
        return int(cond) if cond is True or cond is False else Guarded([(cond, 1)])

    def _cases(self, node: Cases, env: Env) -> Any:
        if not node.branches:
            self._unique()
            return z3.Real(f"undefined{next(self._names)}")
        (value, cond), *rest = node.branches
        return choose(self.lower(cond, env), lambda: self.lower(value, env),
                   lambda: self._cases(Cases(tuple(rest)), env))

    def _unique(self) -> None:
        """Cases without "otherwise" must cover every input whose maximum is unique."""
        for out in self.instance.outputs():
            self._slope(out, ())

    def _reduce(self, node: Reduce, env: Env) -> Any:
        binder, body = self.opened(node)
        parts = []
        for inner, cond in self.run_through(binder, body, env):
            parts.append((cond, self.lower(body, inner)))
        if node.op in ("max", "min"):
            if any(cond is not True for cond, _ in parts):
                raise UnsupportedError("an extremum over a set that depends on values")
            return self._best(node.op, [v for _, v in parts])
        if node.op not in ("sum", "prod"):
            raise UnsupportedError(f"no proof over a {node.op}")
        unit = 0 if node.op == "sum" else 1
        if node.op == "prod" and all(c is True and isinstance(v, Guarded) and len(v.terms) == 1 for c, v in parts):
            return Guarded([(every([v.terms[0][0] for _, v in parts]), 1)])
        values = [choose(c, lambda v=v: v, lambda: unit) for c, v in parts]  # type: ignore[misc]
        return reduce(plus if node.op == "sum" else times, values or [unit])

    def _arg(self, node: Arg, env: Env) -> Any:
        """A choice with strict winners: the maximum is taken to be unique here."""
        binder, body = self.opened(node)
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
            self.axioms.append(some(list(holds.values())))
            for at, b in holds.items():
                wins = [compare(found[at], ">" if node.op == "max" else "<", v) for o, v in found.items() if o != at]
                self.axioms.append(z3.Implies(b, every(wins)))
        return self._choices[key]


def _plain(number: Any) -> Any:
    """A SymPy number as an int or Fraction."""
    return int(number.p) if number.q == 1 else Fraction(int(number.p), int(number.q))


@cache
def _cases(module: Module, n: int) -> tuple[Case, ...]:
    return case_list(module, n) if n else ()
