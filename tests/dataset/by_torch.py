"""A row once more in PyTorch: its formulas term by term, its derivatives by automatic differentiation."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from derive.axes import with_axes
from derive.calculus.messages import Messages
from derive.calculus.one_window import scope_tables
from derive.card import Card
from derive.expr import (
    PI,
    Add,
    And,
    Arg,
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
    Listed,
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
    Star,
    Tuple,
    free_indices,
    open_binder,
)
from derive.notation import read
from derive.question import module_of
from derive.window_axis import AdaptiveAxis, WindowAxis

Env = Mapping[Node, int]
Tensor = dict[tuple[int, ...], Any]


class Elsewhere(Exception):
    """An index leaves its tensor."""


class Unknown(Exception):
    """Not entry by entry: a matrix form."""


def torch() -> Any:
    import torch

    return torch


def functions() -> dict[str, Callable[[Any], Any]]:
    t = torch()
    return {"exp": t.exp, "log": t.log, "sqrt": t.sqrt, "tanh": t.tanh, "sinh": t.sinh, "cosh": t.cosh, "sin": t.sin,
            "cos": t.cos, "arctan": t.atan, "erf": t.erf, "abs": t.abs, "sign": t.sign}  # fmt: skip


class Layer:
    """The layer of a row, at numbers for what is given to it and for the gradient that comes in."""

    def __init__(self, row: Mapping[str, Any], given: dict[str, Tensor], upstream: Tensor | None) -> None:
        self.module = module_of(Card.parse(f"---\nid: {row['id']}\n{row['statement']}---\n# Question\nDerive.\n"))
        self.messages = Messages(self.module)
        self.table = with_axes(self.module).table
        self.tensors = given
        self.zero = torch().tensor(0.0, dtype=torch().float64, requires_grad=True)  # so that each entry has a slope
        self.sizes: dict[str, int] = {}
        self.windowed: dict[str, tuple[int, ...]] = {}  # the shape over which the windows of a set lie
        for name in given:
            self.learn(name)
        for equation in self.module.equations:
            head, value = equation.terms
            assert isinstance(head, Entry) and isinstance(value, Expr)
            self.tensors[head.tensor] = self.defined(head, value)
            self.learn(head.tensor)
        output = self.tensors[self.module.output]
        weights = dict.fromkeys(output, 1.0) if upstream is None else upstream
        self.loss = sum(output[at] * w for at, w in weights.items())

    def learn(self, name: str) -> None:
        """The extents that a tensor's numbers tell."""
        symbol = self.table.named(name)
        assert symbol is not None
        for d, size in enumerate(symbol.sizes):
            if isinstance(size, str) and size:
                self.sizes[size] = len({at[d] for at in self.tensors[name]})

    def extent(self, name: str, d: int) -> int | None:
        if name in self.tensors:
            return len({at[d] for at in self.tensors[name]})
        symbol = self.table.named(name.removeprefix("delta_"))
        size = symbol.sizes[d] if symbol is not None and d < len(symbol.sizes) else None
        return size if isinstance(size, int) else self.sizes.get(size or "")

    @property
    def most(self) -> int:
        return 1 + max(n for t in self.tensors.values() for at in t for n in (*at, 0))

    def defined(self, head: Entry, value: Expr) -> Tensor:
        """An equation entry by entry, as far as all that it reads is there."""
        field = dict(self.module.fields)
        bounds = [self.extent(head.tensor, d) for d in range(len(head.indices))]
        windows = [n for n in _below(value) if isinstance(n, SetApp) and n.name in field]
        for node in windows:
            source = next(e for e in _below(value) if isinstance(e, Entry) and e.indices)
            shape = tuple(len({at[d] for at in self.tensors[source.tensor]}) for d in range(len(node.args)))
            self.windowed[node.name] = shape
            for k, axis, n in zip(node.args, field[node.name].axes, shape, strict=True):
                bounds[head.indices.index(k)] = axis.output_size(n)
        for name, axis, length in self.module.ranges:
            if name == head.tensor:
                bounds[axis] = int(self.value(length, {}))
        found: Tensor = {}
        for at in itertools.product(*(range(self.most + 1 if n is None else n) for n in bounds)):
            try:
                found[at] = self.value(value, dict(zip(head.indices, at, strict=True))) + self.zero
            except Elsewhere:
                if None not in bounds:
                    raise
        return found

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, node: Expr, env: Env) -> Any:
        t = torch()
        match node:
            case Num(value):
                return t.tensor(float(value), dtype=t.float64)
            case Idx():
                return t.tensor(float(env[node]), dtype=t.float64)
            case Size(name):
                return t.tensor(float(self.sizes[name]), dtype=t.float64)
            case Entry(tensor, indices):
                return self.entry(tensor, tuple(self.index(i, env) for i in indices))
            case Star():
                return t.tensor(float(self.star(node, env)), dtype=t.float64)
            case Add(terms):
                return sum(self.value(term, env) for term in terms)
            case Mul(factors):
                product = t.tensor(1.0, dtype=t.float64)
                for factor in sorted(factors, key=lambda f: not isinstance(f, Bracket)):
                    if isinstance(factor, Bracket) and not self.holds(factor.cond, env):
                        return t.tensor(0.0, dtype=t.float64)
                    product = product * self.value(factor, env)
                return product
            case Pow(base, exponent):
                below = self.value(base, env)
                if isinstance(exponent, Num):
                    return below ** float(exponent.value)
                return below ** self.value(exponent, env)
            case Extremum(op, args):
                values = [self.value(a, env) for a in args]
                return (max if op == "max" else min)(values, key=lambda v: v.item())
            case Cases(branches):
                for value, cond in branches:
                    if self.holds(cond, env):
                        return self.value(value, env)
                raise AssertionError("no case applies")
            case Bracket(cond):
                return t.tensor(float(self.holds(cond, env)), dtype=t.float64)
            case Reduce():
                return self.reduced(node, env)
            case Partial(Entry(of, at), Entry(wrt, to)):
                return self.slope(of, tuple(self.index(i, env) for i in at), wrt, tuple(self.index(i, env) for i in to))
            case Fn(name, (argument,)) if name in functions():
                return functions()[name](self.value(argument, env))
            case Cardinality(SetApp(name)):
                every = itertools.product(*map(range, self.windowed[name]))
                return t.tensor(float(sum(self.within(node.of, at, env) for at in every)), dtype=t.float64)
            case Fn("floor" | "ceil" | "mod"):
                return t.tensor(float(self.index(node, env)), dtype=t.float64)
            case Fn() if (body := self.module.applied(node)) is not None:
                return self.value(body, env)
        if node is PI:
            return t.tensor(t.pi, dtype=t.float64)
        raise Unknown(type(node).__name__)

    def number(self, node: Expr, env: Env) -> float:
        return float(self.value(node, env).item())

    def entry(self, tensor: str, at: tuple[int, ...]) -> Any:
        if tensor.startswith("delta_") and tensor not in self.tensors:
            return self.gradient(tensor.removeprefix("delta_"), at)
        if tensor not in self.tensors:
            raise Unknown(tensor)
        if at not in self.tensors[tensor]:
            raise Elsewhere(tensor, at)
        return self.tensors[tensor][at]

    def gradient(self, tensor: str, at: tuple[int, ...]) -> Any:
        return self._slope(self.loss, self.entry(tensor, at))

    def slope(self, of: str, at: tuple[int, ...], wrt: str, to: tuple[int, ...]) -> Any:
        return self.gradient(wrt, to) if of == "loss" else self._slope(self.entry(of, at), self.entry(wrt, to))

    @staticmethod
    def _slope(top: Any, below: Any) -> Any:
        t = torch()
        if top is below:
            return t.tensor(1.0, dtype=t.float64)
        (found,) = t.autograd.grad(top, below, retain_graph=True, allow_unused=True)
        return t.tensor(0.0, dtype=t.float64) if found is None else found

    def index(self, node: Expr, env: Env) -> int:
        match node:
            case Fn("floor", (argument,)):
                return int(self.value(argument, env) // 1)
            case Fn("ceil", (argument,)):
                return int(-(-self.value(argument, env) // 1))
            case Fn("mod", (one, other)):
                return self.index(one, env) % self.index(other, env)
            case Star():
                return self.star(node, env)
            case Add(terms):
                return sum(self.index(term, env) for term in terms)
            case Idx():
                return env[node]
        return round(self.number(node, env))

    def star(self, star: Star, env: Env) -> int:
        """The place of the maximum that the letter stands for, the first of them."""
        arg, place = self.messages.star_definitions[star.name]
        own = dict(zip(self.messages.module.parameters_of(arg), (self.index(a, env) for a in star.at), strict=True))
        return self.arg(arg, own)[place]

    def arg(self, arg: Arg, env: Env) -> tuple[int, ...]:
        binder, body = open_binder(arg)
        found = [(at, self.number(body, own)) for at, own in self.bound(binder, body, env)]
        if not found:
            raise Elsewhere(arg.op)
        if arg.op == "median":
            return sorted(found, key=lambda pair: pair[1])[len(found) // 2][0]
        return (max if arg.op == "max" else min)(found, key=lambda pair: pair[1])[0]

    # --- sums and conditions ------------------------------------------------------------------------------------------

    def reduced(self, node: Reduce, env: Env) -> Any:
        t = torch()
        binder, body = open_binder(node)
        values, left, said = [], False, binder.cond is not None or any((*binder.lower, *binder.upper))
        for _, own in self.bound(binder, body, env):
            try:
                values.append(self.value(body, own))
            except Elsewhere:  # a sum without limits runs where every entry exists
                if said:
                    raise
                left = True
        if left and not values:
            raise Elsewhere(node.op)
        if node.op in ("max", "min"):
            return (max if node.op == "max" else min)(values, key=lambda v: v.item())
        if node.op == "prod":
            return t.stack(values).prod()
        if node.op == "median":
            assert len(values) % 2
            return sorted(values, key=lambda v: v.item())[len(values) // 2]
        if node.op != "sum":
            raise Unknown(node.op)
        return sum(values, t.tensor(0.0, dtype=t.float64))

    def bound(self, binder: Any, body: Expr, env: Env) -> Iterator[tuple[tuple[int, ...], Env]]:
        def each(n: int, own: dict[Node, int]) -> Iterator[dict[Node, int]]:
            if n == len(binder.variables):
                yield own
                return
            v, low, high = binder.variables[n], binder.lower[n], binder.upper[n]
            first = 0 if low is None else self.index(low, own)
            last = self.last(v, body) if high is None else self.index(high, own)
            for i in range(first, last + 1):
                yield from each(n + 1, {**own, v: i})

        for own in each(0, dict(env)):
            if binder.cond is None or self.holds(binder.cond, own):
                yield tuple(own[v] for v in binder.variables), own

    def last(self, v: Idx, body: Expr) -> int:
        ends = [n for e in _below(body) if isinstance(e, Entry) for d, i in enumerate(e.indices)
                if i is v and (n := self.extent(e.tensor, d)) is not None]
        return min(ends, default=self.most) - 1

    def holds(self, cond: Cond, env: Env) -> bool:
        match cond:
            case Otherwise():
                return True
            case And(conds):
                return all(self.holds(c, env) for c in conds)
            case In(element, SetApp() as windows):
                return self.within(windows, [self.index(i, env) for i in getattr(element, "items", (element,))], env)
            case In(element, Listed(items)):
                return any(self.number(element, env) == self.number(i, env) for i in items)
            case Rel(terms, ops):
                if any(isinstance(x, (Tuple, Arg)) for x in terms):
                    one, other = (self.places(x, env) for x in terms)
                    return one == other
                values = [self.value(x, env).item() for x in terms]
                return all(_COMPARED[op](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        raise Unknown(type(cond).__name__)

    def places(self, node: Expr, env: Env) -> tuple[int, ...]:
        if isinstance(node, Arg):
            return self.arg(node, env)
        return tuple(self.index(i, env) for i in getattr(node, "items", (node,)))

    def within(self, windows: SetApp, places: Sequence[int], env: Env) -> bool:
        axes, shape = dict(self.module.fields)[windows.name].axes, self.windowed[windows.name]
        return all(self.covers(axis, self.index(k, env), i, n)
                   for axis, k, i, n in zip(axes, windows.args, places, shape, strict=True))

    @staticmethod
    def covers(axis: Any, k: int, i: int, n: int) -> bool:
        if isinstance(axis, AdaptiveAxis):
            return k * n // axis.outputs <= i < -(-(k + 1) * n // axis.outputs)
        assert isinstance(axis, WindowAxis)
        return i in [axis.stride * k - axis.padding + axis.dilation * a for a in range(axis.kernel_size)]

    # --- lines --------------------------------------------------------------------------------------------------------

    def differs(self, latex: str) -> float:
        """By how much the two ends of a line differ, at most, over all its indices; :class:`Unknown` of other lines."""
        node = read(latex, scope_tables(self.messages.module)["layer"])
        if not isinstance(node, Rel):
            raise Unknown(latex)
        head, value = node.terms[0], node.terms[-1]
        if not isinstance(head, (Partial, Entry)):
            raise Unknown(latex)
        letters = [i for i in free_indices(head) if isinstance(i, Idx)]
        most, seen = 0.0, 0
        for at in itertools.product(*(range(self.most + 1) for _ in letters)):
            env = dict(zip(letters, at, strict=True))
            try:
                known = self.number(head, env)
            except Elsewhere:
                continue
            seen += 1
            try:
                most = max(most, abs(known - self.number(value, env)))
            except Elsewhere:  # of a tensor of another shape
                most = float("inf")
        assert seen, latex
        return most


_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "=": lambda a, b: a == b, "≠": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "≤": lambda a, b: a <= b, "≥": lambda a, b: a >= b}


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children():
        yield from _below(child)


def numbers(row: Mapping[str, Any], part: str) -> dict[str, Tensor]:
    """The tensors of a part of a row's numbers, entry by entry."""
    return {t["name"]: dict(zip(itertools.product(*map(range, t["shape"])), t["values"], strict=True))
            for t in row["numbers"]["tensors"] if t["part"] == part}


def at_its_numbers(row: Mapping[str, Any], moved: random.Random | None = None) -> Layer:
    """The layer at the row's own numbers; ``moved``: somewhere near them."""
    t = torch()
    constants = set(module_of(Card.parse(
        f"---\nid: {row['id']}\n{row['statement']}---\n# Question\nDerive.\n")).constants)

    def number(name: str, value: float) -> Any:
        more = moved.uniform(-0.9, 0.9) if moved and name not in constants else 0.0
        return t.tensor(value + more, dtype=t.float64, requires_grad=True)

    given = {name: {at: number(name, v) for at, v in values.items()} for name, values in numbers(row, "given").items()}
    upstream = next(iter(numbers(row, "upstream").values()), None)
    if upstream is not None and moved:
        upstream = {at: v + moved.uniform(-0.9, 0.9) for at, v in upstream.items()}
    return Layer(row, given, upstream)


def at_its_counterexample(row: Mapping[str, Any], told: str) -> Layer | None:
    """The layer at the input that a counterexample names; what it does not name is as in the row's numbers, cut to its sizes.

    An upstream gradient that it does not name is of ones, whatever the size of the output.
    """
    given, upstream = numbers(row, "given"), None
    named = dict[str, Tensor]()
    for name, text in re.findall(r"(\w+) = (\[[^:]*?\]|[-\d./]+)(?=, \w+ = |: )", told.partition("for ")[2]):
        values = dict(_entries(json.loads(re.sub(r"-?\d[\d./]*", lambda m: f'"{m[0]}"', text))))
        if name.startswith("delta_"):
            upstream = values
        elif name in given:
            named[name] = values
    shapes = _shapes(row)
    sizes = {n: 1 + max(at[d] for at in values) for name, values in named.items() for d, n in enumerate(shapes[name])}
    for name, values in given.items():
        given[name] = named.get(name) or {at: v for at, v in values.items() if all(
            i < sizes.get(n, i + 1) for i, n in zip(at, shapes[name], strict=False))}
    t = torch()
    try:
        return Layer(row, {name: {at: t.tensor(float(v), dtype=t.float64, requires_grad=True) for at, v in some.items()}
                           for name, some in given.items()}, upstream)
    except (Elsewhere, KeyError):  # of other sizes than the row's numbers
        return None


def _shapes(row: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The letters or numbers that the axes of what is given have."""
    module = module_of(Card.parse(f"---\nid: {row['id']}\n{row['statement']}---\n# Question\nDerive.\n"))
    table = with_axes(module).table
    return {name: symbol.sizes for name in module.given if (symbol := table.named(name)) is not None}


def _entries(found: Any, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float]]:
    if isinstance(found, list):
        for n, inner in enumerate(found):
            yield from _entries(inner, (*at, n))
    else:
        yield at, float(Fraction(found))
