"""A printed claim as Python source over numbers with cases: concrete indices, all inputs at once.

What indices decide is decided as everywhere; what a comparison of values decides is a truth of its own, and a term that
counts where one holds has its case for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any

import derive.expr as ex
from derive.numeric.coder import Coder, is_index_term
from derive.numeric.point import Index
from derive.numeric.statements import made, names, variables_of
from derive.records import replace
from derive.symbolic.pieces import KIND
from derive.verify.points.claims import Compiler
from derive.verify.provers.guarded import Space, Truth, conjunction, unsupported
from derive.verify.provers.layer import Layer


def truth(whole: ex.Node, variables: tuple[ex.Idx, ...], compiler: Compiler, layer: Layer) -> Callable[[Index], Truth]:
    """Where a claim holds, for each value of its variables."""
    source, coder = _written(whole, variables, compiler)
    found: Callable[[Layer, Index], Truth] = made("truth", source, coder, _names(layer), layer.space.kind)
    return partial(found, layer)


def claims_of(node: ex.Node) -> tuple[ex.Cond, ...]:
    """The claims of a statement that are made together, each under its condition."""
    if isinstance(node, ex.Given):
        return tuple(ex.Given(claim, node.cond) for claim in ex.conditions(node.claim))
    return ex.conditions(node)


@lru_cache(maxsize=256)  # once for all sizes
def _written(whole: ex.Node, variables: tuple[ex.Idx, ...], compiler: Compiler) -> tuple[str, Coder]:
    coder = Guards(compiler)
    unpacked = "".join(coder.name(v) + "," for v in variables)
    source = "def truth(P, AT, HITS=set()):\n" + (f"    {unpacked} = AT\n" if unpacked else "")
    return f"{source}    return {coder.value(whole)}\n", coder


def _names(layer: Layer) -> dict[str, Any]:
    """What the source refers to."""
    space = layer.space
    return names(space.kind, None) | _OF_NONE | {
        "no_case": layer.anything, "best": space.best, "compare": space.compare, "same": space.same,
        "where": space.where, "max": partial(_extremum, space, "max"), "min": partial(_extremum, space, "min"),
        **{name: partial(function, space) for name, function in _OF_SPACE.items()}}


def _extremum(space: Space, op: str, *values: Any, **_: Any) -> Any:
    return space.extremum(op, values if values[1:] else tuple(values[0]))


def _agreed(space: Space, hits: Any, branches: Iterable[Any], other: Callable[[], Any], same: Any) -> Any:
    (_, holds, value), *rest = branches or ((None, lambda: True, other),)
    found = holds()
    then = value() if found is not False else 0
    return space.choose(found, then, _agreed(space, hits, rest, other, same) if found is not True else 0)


def _given(space: Space, cond: Truth, claim: Callable[[], Truth]) -> Truth:
    return cond is False or space.some([space.negated(cond), claim()])


def _chain(space: Space, left: Any, *links: tuple[str, Callable[[], Any]]) -> Truth:
    def truths(before: Any) -> Iterator[Truth]:
        for op, side in links:
            after = side()
            yield space.compare(before, op, after)
            before = after

    return conjunction(truths(left))


def _member(space: Space, element: Any, found: Iterable[tuple[Any, Truth]]) -> Truth:
    return space.some([holds for at, holds in found if at == element])


def _no_median(*_: Any) -> Any:
    raise unsupported("a median")


_OF_SPACE: dict[str, Callable[..., Any]] = {"agreed": _agreed, "given": _given, "chain": _chain, "member": _member}
_OF_NONE = {"extreme": lambda hits, first, pick, values: pick(*values),
            "side": lambda hits, above, below, value, function: function(value),
            "middle": _no_median, "median": _no_median, "every": lambda *parts: conjunction(part() for part in parts)}


class Guards(Coder):
    """Conditions on values are truths over all inputs, which Python cannot branch on."""

    def __init__(self, compiler: Compiler) -> None:
        super().__init__(compiler.definitions, {}, compiler.module)
        self._inner = replace(compiler, kind=KIND)

    def _written(self, node: ex.Node) -> str:
        if isinstance(node, (ex.Matrix, ex.Unit, ex.Hull, ex.Infinity, ex.Directional)):
            raise unsupported(type(node).__name__)
        return super()._written(node)

    def _is_decided(self, node: ex.Node) -> bool:
        """Whether the values of indices alone decide it."""
        return is_index_term(node) and not any(isinstance(n, ex.Star) or isinstance(n, ex.SetApp)
                                               and n.name in self.definitions.sets for n in ex.walk(node))

    def value(self, node: ex.Node) -> str:
        """Python source for a node; how many elements a set has is a value where the set depends on them."""
        counted = isinstance(node, ex.Expr) and is_index_term(node) and not self._is_decided(node)
        return self._under(node, exact=False) if counted else super().value(node)

    def _looked_up(self, tensor: str, at: str) -> str:
        return f"P.at({tensor!r},{at})"

    def _where(self, guards: list[ex.Cond], value: str) -> str:
        open_ = [c for c in guards if not self._is_decided(c)]
        text = f"where(lambda: {value},{self._every(open_)})" if open_ else value
        decided = " and ".join(self.value(c) for c in guards if c not in open_)
        return f"(({text}) if {decided} else 0)" if decided else text

    def _chosen(self, branches: list[tuple[int, str, str]], other: str) -> str:
        return self._agreed(branches, other)

    def _every(self, conds: Iterable[ex.Cond]) -> str:
        """Their conjunction, up to the first that is false: what comes after may not exist."""
        return f"every({''.join(f'lambda: {self.value(c)},' for c in conds)})"

    def _partial(self, node: ex.Partial) -> str:
        of, wrt = node.of, node.wrt
        if not isinstance(wrt, ex.Entry) or isinstance(of, ex.Entry) and of.tensor not in self.definitions.tensors:
            return super()._partial(node)
        letters = variables_of(of)
        function = self.constant(self._inner.function(letters, of))
        return f"P.slope({function},{self.tuple_(letters)},{wrt.tensor!r},{self.tuple_(wrt.indices)})"

    # bound variables and sets

    def _opened(self, binder: ex.Binder) -> tuple[ex.Binder, tuple[ex.Cond, ...]]:
        """The binder with the conditions that indices decide, and the others."""
        conds = ex.conditions(binder.cond)
        kept = tuple(c for c in conds if self._is_decided(c))
        cond = ex.joined(kept) if kept else None
        return ex.Binder(binder.variables, binder.lower, binder.upper, cond), tuple(c for c in conds if c not in kept)

    def clauses(self, binder: ex.Binder, body: ex.Expr) -> str:
        if self._opened(binder)[1]:
            raise unsupported("places that depend on values")
        return super().clauses(binder, body)

    def _reduce(self, node: ex.Reduce) -> str:
        """A term that counts where a condition on values holds carries that condition itself."""
        binder, open_ = self._opened(node.binder)
        if not open_:
            return super()._reduce(node)
        if node.op not in ("sum", "prod"):
            raise unsupported(f"this {node.op}")
        guard = ex.joined(open_)
        body = ex.mul(ex.Bracket(guard), node.body) if node.op == "sum" else \
            ex.Cases(((node.body, guard), (ex.ONE, ex.OTHERWISE)))
        return super()._reduce(ex.Reduce(node.op, binder, body))

    def _all(self, bracket: ex.Bracket, loops: str) -> str:
        return f"prod([{self.value(bracket)} {loops}])"

    def _elements(self, node: ex.SetOf) -> str:
        """Each element that a set may have, and where it has it."""
        whole, shown = ex.opened(node)
        binder, open_ = self._opened(whole)
        loops = self.clauses(binder, ex.Tuple((shown, *map(ex.Bracket, open_))))
        return f"[({self.value(shown)},{self._every(open_)}) {loops}]"

    def _in(self, node: ex.In) -> str:
        if isinstance(node.set, ex.Without):
            others = (ex.Rel((node.element, e), ("≠",)) for e in node.set.elements)
            return self._every((ex.In(node.element, node.set.base), *others))
        if isinstance(node.set, ex.SetApp) and node.set.name in self.definitions.sets:
            return f"member({self.value(node.element)},{self._elements(self.definitions.sets[node.set.name])})"
        return super()._in(node)

    def _cardinality(self, node: ex.Cardinality) -> str:
        of = self.definitions.sets.get(node.of.name, node.of) if isinstance(node.of, ex.SetApp) else node.of
        if not isinstance(of, ex.SetOf):
            return super()._cardinality(node)
        return f"sum([where(lambda: 1,holds) for _,holds in {self._elements(of)}])"

    # conditions

    def _rel(self, node: ex.Rel) -> str:
        if self._is_decided(node):
            return super()._rel(node)
        quotient = _quotient(node)
        if quotient is not None:  # a/b = c as b ≠ 0 and a = c b: nothing is divided
            above, below, right = quotient
            return self._every((ex.Rel((below, ex.ZERO), ("≠",)), ex.Rel((above, ex.Mul((right, below))), ("=",))))
        first, *sides = map(self.value, node.terms)
        if len(sides) == 1:
            return f"compare({first},{node.ops[0]!r},{sides[0]})"
        links = (f"({op!r},lambda: {side})," for op, side in zip(node.ops, sides, strict=True))
        return f"chain({first},{''.join(links)})"

    def _and(self, node: ex.And) -> str:
        return self._every(node.conds)

    def _iff(self, node: ex.Iff) -> str:
        return f"same({self.value(node.left)},{self.value(node.right)})"

    def _given(self, node: ex.Given) -> str:
        return f"given({self.value(node.cond)},lambda: {self.value(node.claim)})"


def _quotient(node: ex.Rel) -> tuple[ex.Expr, ex.Expr, ex.Expr] | None:
    """(a, b, c) of a/b = c, where b is a value."""
    left = node.terms[0]
    if node.ops != ("=",) or not isinstance(left, ex.Mul) or not isinstance(left.factors[-1], ex.Pow):
        return None
    below = left.factors[-1]
    if below.exponent != ex.MINUS_ONE or not isinstance(below.base, ex.Entry):
        return None
    return ex.mul(*left.factors[:-1]), below.base, node.terms[1]
