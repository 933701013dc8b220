"""A letter that a solution defines, put into the layer where the layer computes its value: s of σ(w^⊤x + b)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar, cast

from derive.expr import ZERO, Add, Binder, Entry, Expr, Idx, Mul, Node, Reduce, Rel, Size, rebuild, subst, walk
from derive.module import Module
from derive.notation.symbols import SymbolTable

Found = dict[Node, Node]  # what the indices of a definition are
_N = TypeVar("_N", bound=Node)
_MOST = 6  # terms of a sum, factors of a product, of which some are looked for


def folded(module: Module, definition: Rel, table: SymbolTable) -> Module | None:
    """The module with an equation more, its value replaced by the letter wherever it stands; None where it does not.

    σ(Σ_j w_j x_j + b) with s = Σ_j w_j x_j + b is σ(s): then ∂L/∂s has a meaning.
    """
    head, value = definition.terms
    symbol = table.named(head.tensor) if isinstance(head, Entry) else None
    if not isinstance(head, Entry) or symbol is None or isinstance(value, (Entry, Idx, Size)):
        return None
    own = {n.tensor for n in walk(value) if isinstance(n, Entry)}
    if not own <= {*module.given, *module.defined}:
        return None
    fold = _Fold(head, value)
    equations = [Rel((e.terms[0], fold(e.terms[1])), ("=",)) for e in module.equations]
    first = next((n for n, (a, b) in enumerate(zip(equations, module.equations, strict=True)) if a is not b), None)
    if first is None:
        return None
    equations.insert(first, definition)
    return replace(module, equations=tuple(equations), table=module.table.extended((symbol,)))


class _Fold:
    """value → head, wherever it stands, its indices renamed."""

    def __init__(self, head: Entry, value: Expr) -> None:
        self.head, self.value = head, value
        self.free = frozenset(i for i in head.indices if isinstance(i, Idx))

    def __call__(self, node: _N) -> _N:
        if isinstance(node, (Idx, Size)):
            return node
        found = next(self.match(self.value, node, {}), None)
        if found is not None:
            return cast(_N, subst(self.head, found))
        if isinstance(node, (Add, Mul)) and type(node) is type(self.value):
            few, many = self.value.children(), cast(tuple[Expr, ...], node.children())
            for places, found in self._some(few, many, {}, ()) if len(few) < len(many) <= _MOST else ():
                rest = tuple(self(t) for n, t in enumerate(many) if n not in places)
                return cast(_N, type(node)((subst(self.head, found), *rest)))
        return rebuild(node, self)

    def match(self, pattern: Node, node: Node, known: Found) -> Iterator[Found]:
        """All ways to read the indices of the definition so that the pattern is the node."""
        if isinstance(pattern, Idx) and pattern in self.free:
            if known.get(pattern, node) is node and isinstance(node, Expr):
                yield {**known, pattern: node}
        elif pattern is node:
            yield known
        elif type(pattern) is type(node):
            if isinstance(pattern, (Add, Mul)):
                left, right = pattern.children(), node.children()
                if len(left) == len(right) <= _MOST:
                    yield from (found for _, found in self._some(left, right, known, ()))
            elif isinstance(pattern, Reduce) and isinstance(node, Reduce):
                if pattern.op == node.op and _alike(pattern.binder, node.binder):
                    yield from self.match(pattern.body, node.body, known)
            else:
                yield from self._each(pattern, node, known)

    def _each(self, pattern: Node, node: Node, known: Found) -> Iterator[Found]:
        left, right = pattern.children(), node.children()
        if not left or len(left) != len(right) or _frame(pattern) is not _frame(node):
            return
        ways = [known]
        for a, b in zip(left, right, strict=True):
            ways = [found for way in ways for found in self.match(a, b, way)]
        yield from ways

    def _some(self, left: tuple[Node, ...], right: tuple[Node, ...], known: Found,
              taken: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Found]]:
        """The terms on the left among those on the right, in any order."""
        if not left:
            yield taken, known
            return
        for n, node in enumerate(right):
            if n not in taken:
                for found in self.match(left[0], node, known):
                    yield from self._some(left[1:], right, found, (*taken, n))


def _frame(node: Node) -> Node:
    """The node with nothing in it."""
    return rebuild(node, lambda _: ZERO)


def _alike(one: Binder, other: Binder) -> bool:
    """Limits that are written in one place may be left out in the other."""
    limits = zip((*one.lower, *one.upper), (*other.lower, *other.upper), strict=True)
    return len(one.variables) == len(other.variables) and one.cond is other.cond and all(
        a is b or a is None or b is None for a, b in limits)
