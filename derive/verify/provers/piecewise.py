"""A printed statement at an instance as numbers with cases: concrete indices, all inputs at once.

∂s/∂t is what SymPy says: the derivative of each smooth piece on its region.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from operator import add, mul
from typing import Any, cast

import sympy

import derive.expr as ex
from derive.axes import counts, stands
from derive.numeric.point import Index
from derive.numeric.source import window_places
from derive.reductions import REDUCTIONS
from derive.symbolic.pieces import KIND, expression
from derive.verify.points.claims import Compiler, elements
from derive.verify.provers.guarded import ALWAYS, Choice, Guard, Truth, both, conjunction, unsupported
from derive.verify.provers.layer import Layer

Env = Mapping[ex.Idx, int]


class Lowering:
    """The value of a statement's nodes; each is computed once for each assignment of its free indices."""

    def __init__(self, layer: Layer, compiler: Compiler) -> None:
        self.layer, self.definitions, self.compiler = layer, compiler.definitions, replace(compiler, kind=KIND)
        self.space, self.point = layer.space, layer.point
        self._lowered: dict[Any, Any] = {}
        self._frees: dict[ex.Node, tuple[ex.Idx, ...]] = {}
        self._choices: dict[Any, Choice] = {}
        self._functions: dict[ex.Node, Any] = {}
        self._expressions: dict[Any, sympy.Expr] = {}

    def lower(self, node: ex.Node, env: Env) -> Any:
        """The value of a node: a number, a tuple or choice of indices, a truth."""
        if isinstance(node, ex.Idx):
            return env[node]
        key = (node, *[env[v] for v in self._letters(node)])
        if key not in self._lowered:
            method = getattr(self, "_" + type(node).__name__.lower(), None)
            if method is None:
                raise unsupported(type(node).__name__)
            self._lowered[key] = method(node, env)
        return self._lowered[key]

    def _letters(self, node: ex.Node) -> tuple[ex.Idx, ...]:
        if node not in self._frees:
            self._frees[node] = tuple(sorted(ex.free_indices(node), key=lambda v: v.name))
        return self._frees[node]

    # index terms and entries

    def _num(self, node: ex.Num, env: Env) -> Any:
        return node.value.numerator if node.value.denominator == 1 else node.value

    def _size(self, node: ex.Size, env: Env) -> Any:
        return self.point.sizes[node.name]

    def _tuple(self, node: ex.Tuple, env: Env) -> Any:
        at = self._index(node.items, env)
        return at.get(ALWAYS) if at.keys() == {ALWAYS} else Choice({i: guard for guard, i in at.items()}, self.space)

    def _index(self, items: tuple[ex.Expr, ...], env: Env) -> dict[Guard, Index]:
        """Where an entry is: the places that it can be at, each where its guard holds."""
        found: dict[Guard, Index] = {ALWAYS: tuple(0 for _ in items)}
        argmaxes: dict[ex.Arg, list[tuple[int, int]]] = {}  # with the items that are its components
        for n, item in enumerate(items):
            if isinstance(item, ex.Star):
                arg, place = self._argmax(item)
                argmaxes.setdefault(arg, []).append((n, place))
            else:
                value = self.lower(item, env)
                found = {guard: (*at[:n], value, *at[n + 1:]) for guard, at in found.items()}
        for arg, components in argmaxes.items():
            before, found = found, {}
            for guard, at in before.items():
                for best, holds in self._arg(arg, env).alternatives.items():
                    joint = both(guard, holds)
                    picked = {n: best[place] if isinstance(best, tuple) else best for n, place in components}
                    if joint is not None:
                        found[joint] = tuple(picked.get(n, i) for n, i in enumerate(at))
        return found

    def _argmax(self, star: ex.Star) -> tuple[ex.Arg, int]:
        """What a star is a component of, and which."""
        if star.name not in self.definitions.stars:
            raise unsupported(f"{star.name}^*")
        arg, place, at = self.definitions.stars[star.name]
        found = ex.subst(arg, dict(zip(at, star.at, strict=True)))
        assert isinstance(found, ex.Arg)
        return found, place

    def _star(self, node: ex.Star, env: Env) -> Any:
        arg, place = self._argmax(node)
        found = self._arg(arg, env)
        return found.component(place) if len(arg.binder.variables) > 1 else found

    def _entry(self, node: ex.Entry, env: Env) -> Any:
        if node.tensor in self.definitions.tensors:
            params, value = self.definitions.tensors[node.tensor]
            at = [self.lower(i, env) for i in node.indices]
            if any(isinstance(i, Choice) for i in at):
                raise unsupported(f"{node.tensor} at an argmax")
            return self.lower(value, {p: v for p, v in zip(params, at, strict=True) if isinstance(p, ex.Idx)})
        entry = self.layer.value
        places = self._index(node.indices, env)
        if places.keys() == {ALWAYS}:
            return entry(node.tensor, places[ALWAYS])
        return reduce(add, [self.space.lift(entry(node.tensor, at)).where(guard) for guard, at in places.items()])

    def _partial(self, node: ex.Partial, env: Env) -> Any:
        of, wrt = node.of, node.wrt
        assert isinstance(wrt, ex.Entry)
        by = tuple(self.lower(i, env) for i in wrt.indices)
        if isinstance(of, ex.Entry) and of.tensor not in self.definitions.tensors:
            return self.layer.slope(of.tensor, tuple(self.lower(i, env) for i in of.indices), wrt.tensor, by)
        if by not in self.point.tensor(wrt.tensor):
            raise KeyError(by)
        return self.layer.derivative(self._expression(of, env, wrt.tensor), wrt.tensor, by)

    def _expression(self, node: ex.Expr, env: Env, wrt: str) -> sympy.Expr:
        """A value in pieces, in terms of the given tensors and of ``wrt``."""
        letters = self._letters(node)
        at = tuple([env[v] for v in letters])
        if (node, at, wrt) not in self._expressions:
            if node not in self._functions:
                self._functions[node] = self.compiler.function(letters, node)
            twin = self.point.twin(wrt, self.layer.cased)
            value = self.layer.pieces.entry(lambda: self._functions[node](twin, at))
            self._expressions[node, at, wrt] = expression(value)
        return self._expressions[node, at, wrt]

    # values

    def _add(self, node: ex.Add, env: Env) -> Any:
        return reduce(add, [self.lower(t, env) for t in node.terms])

    def _mul(self, node: ex.Mul, env: Env) -> Any:
        truth = conjunction(self._guards(node, env))
        if truth is False:
            return 0
        values = [self.lower(f, env) for f in node.factors if not isinstance(f, ex.Bracket)]
        value = reduce(mul, values) if values else 1
        return value if truth is True else self.space.lift(value).where(truth)

    def _guards(self, node: ex.Mul, env: Env) -> Iterator[Truth]:
        """Its brackets, up to the first that is false: what comes after may not exist."""
        for factor in node.factors:
            if isinstance(factor, ex.Bracket):
                found = self.lower(factor.cond, env)
                yield found
                if found is False:
                    return

    def _pow(self, node: ex.Pow, env: Env) -> Any:
        return self.space.power(self.lower(node.base, env), self.lower(node.exponent, env))

    def _fn(self, node: ex.Fn, env: Env) -> Any:
        own = self.layer.module.applied(node)
        if own is not None:
            return self.lower(own, env)
        args = [self.lower(a, env) for a in node.args]
        name = node.name.rstrip("'")
        if len(node.name) == len(name) + 1 and len(args) == 1 and self.layer.module.function(name) is not None:
            return self.layer.slope_of(name, args[0])
        indices = {"floor": math.floor, "ceil": math.ceil, "mod": lambda a, b: a % b}
        if node.name in indices:
            return indices[node.name](*args)  # type: ignore[operator]
        if node.name not in self.space.kind.functions:
            raise unsupported(node.name)
        return self.space.kind.functions[node.name](*args)

    def _extremum(self, node: ex.Extremum, env: Env) -> Any:
        return self.space.extremum(node.op, [self.lower(a, env) for a in node.args])

    def _bracket(self, node: ex.Bracket, env: Env) -> Any:
        truth = self.lower(node.cond, env)
        return int(truth) if isinstance(truth, bool) else self.space.lift(1).where(truth)

    def _cases(self, node: ex.Cases, env: Env) -> Any:
        if not node.branches:  # they must cover what lies on no boundary
            for p in self.layer.pieces.pieces:
                self.layer.smooth(p)
            return self.space.of(self.space.fresh())
        (value, cond), *rest = node.branches
        truth = self.lower(cond, env)
        then = self.lower(value, env) if truth is not False else 0
        return self.space.choose(truth, then, self._cases(ex.Cases(tuple(rest)), env) if truth is not True else 0)

    def _reduce(self, node: ex.Reduce, env: Env) -> Any:
        binder, body = ex.opened(node)
        parts = [(truth, self.lower(body, inner)) for inner, truth in self._through(binder, body, env)]
        if node.op in ("sum", "prod"):
            unit = 0 if node.op == "sum" else 1
            values = [self.space.choose(truth, value, unit) for truth, value in parts]
            return reduce(add if node.op == "sum" else mul, values, unit)
        loop = REDUCTIONS[node.op].loop
        if (loop is None and node.op not in ("max", "min")) or not parts or any(t is not True for t, _ in parts):
            raise unsupported(f"this {node.op}")
        if loop is not None:
            return loop([value for _, value in parts], self.space.kind)
        return self.space.extremum(node.op, [value for _, value in parts])

    def _arg(self, node: ex.Arg, env: Env) -> Choice:
        """A choice with strict winners: the maximum is taken to be unique here."""
        binder, body = ex.opened(node)
        found = {}
        for inner, truth in self._through(binder, body, env):
            if truth is not True or node.op not in ("max", "min"):
                raise unsupported("this argmax")
            at = tuple(inner[v] for v in binder.variables)
            found[at if len(at) > 1 else at[0]] = self.lower(body, inner)
        key = (node, *(env[v] for v in self._letters(node)))
        if key not in self._choices:
            op = ">" if node.op == "max" else "<"
            wins = {at: conjunction(self.space.compare(v, op, w) for o, w in found.items() if o != at)
                    for at, v in found.items()}
            self.space.axioms.append(self.space.truth(self.space.some(list(wins.values()))))
            self._choices[key] = Choice({at: ALWAYS if t is True else t for at, t in wins.items() if t is not False},
                                        self.space)
        return self._choices[key]

    # conditions and sets

    def _rel(self, node: ex.Rel, env: Env) -> Truth:
        quotient = _quotient(node)
        if quotient is not None:  # a/b = c as b ≠ 0 and a = c b: nothing is divided
            above, below, right = quotient
            return conjunction((self.lower(ex.Rel((below, ex.ZERO), ("≠",)), env),
                                self.lower(ex.Rel((above, ex.Mul((right, below))), ("=",)), env)))
        values = [self.lower(t, env) for t in node.terms]
        return conjunction(self.space.compare(a, op, b) for a, op, b in zip(values, node.ops, values[1:], strict=False))

    def _and(self, node: ex.And, env: Env) -> Truth:
        found: list[Truth] = []
        for cond in node.conds:
            found.append(self.lower(cond, env))
            if found[-1] is False:
                return False
        return conjunction(found)

    def _iff(self, node: ex.Iff, env: Env) -> Truth:
        left, right = self.lower(node.left, env), self.lower(node.right, env)
        if isinstance(left, bool) or isinstance(right, bool):
            known, other = (left, right) if isinstance(left, bool) else (right, left)
            return other if known else self.space.negated(other)
        return left == right or self.space.condition(self.space.truth(left) == self.space.truth(right))

    def _given(self, node: ex.Given, env: Env) -> Truth:
        cond = self.lower(node.cond, env)
        if cond is False:
            return True
        claim = self.lower(node.claim, env)
        return claim if cond is True else self.space.some([self.space.negated(cond), claim])

    def _otherwise(self, node: ex.Otherwise, env: Env) -> Truth:
        return True

    def _in(self, node: ex.In, env: Env) -> Truth:
        element = self.lower(node.element, env)
        if isinstance(node.set, ex.SetApp) and node.set.name in self.definitions.sets:
            binder, shown = ex.opened(self.definitions.sets[node.set.name])
            return next((truth for inner, truth in self._through(binder, shown, env)
                         if self.lower(shown, inner) == element), False)
        return element in self._elements(node.set, env)

    def _elements(self, node: ex.Expr, env: Env) -> list[Any]:
        if isinstance(node, ex.Without):
            gone = [self.lower(e, env) for e in node.elements]
            return [e for e in self._elements(node.base, env) if e not in gone]
        if not isinstance(node, ex.SetApp):
            raise unsupported("this set")
        return self.point.elements(node.name, tuple(self.lower(a, env) for a in node.args))

    def _cardinality(self, node: ex.Cardinality, env: Env) -> Any:
        of: ex.Expr | None = node.of
        if isinstance(of, ex.SetApp):
            of = self.definitions.sets.get(of.name, of)
        if not isinstance(of, ex.SetOf):
            return len(self._elements(node.of, env))
        binder, shown = ex.opened(of)
        return reduce(add, [self.space.choose(truth, 1, 0) for _, truth in self._through(binder, shown, env)], 0)

    # bound variables

    def _through(self, binder: ex.Binder, body: ex.Expr, env: Env) -> list[tuple[dict[ex.Idx, int], Truth]]:
        """(assignment, condition) for the variables of a binder; conditions known to be false are left out."""
        found = []
        for at in itertools.product(*(self._run(v, n, binder, body, env) for n, v in enumerate(binder.variables))):
            inner = {**env, **dict(zip(binder.variables, at, strict=True))}
            try:
                truth = True if binder.cond is None else self.lower(binder.cond, inner)
            except KeyError:  # the window that a condition asks about does not exist
                continue
            if truth is not False:
                found.append((inner, truth))
        return found

    def _run(self, variable: ex.Idx, place: int, binder: ex.Binder, body: ex.Expr, env: Env) -> range:
        """As written; else along the axes and windows where the variable stands."""
        low, high = binder.lower[place], binder.upper[place]
        if low is not None and high is not None:
            return range(math.ceil(self.lower(low, env)), math.floor(self.lower(high, env)) + 1)
        where = body, *((binder.cond,) if binder.cond else ())
        places = window_places(self.point.module.equations)
        if slots := stands(variable, *where) or tuple(s for n in where for s in elements(variable, n, places)):
            return self.point.span(slots)
        if windows := [s for s in counts(variable, *where) if s[0] not in self.definitions.sets]:
            return range(min(self.point.outputs(name)[d] for name, d in windows))
        raise unsupported("an index without a range")


def _quotient(node: ex.Rel) -> tuple[ex.Expr, ex.Expr, ex.Expr] | None:
    """(a, b, c) of a/b = c, where b is a value."""
    left = node.terms[0]
    if node.ops != ("=",) or not isinstance(left, ex.Mul) or not isinstance(left.factors[-1], ex.Pow):
        return None
    below = left.factors[-1]
    if below.exponent != ex.MINUS_ONE or not isinstance(below.base, ex.Entry):
        return None
    return ex.mul(*left.factors[:-1]), below.base, node.terms[1]


def parts_of(node: ex.Node) -> tuple[tuple[ex.Cond, ex.Node], ...]:
    """The claims of a statement that are made together, each with the whole that it is: under its condition."""
    claim, cond = (node.claim, node.cond) if isinstance(node, ex.Given) else (node, None)
    claims = ex.conditions(claim)
    return tuple((part, part if cond is None else ex.Given(part, cond)) for part in cast("tuple[ex.Cond]", claims))
