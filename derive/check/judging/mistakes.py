"""Known mistakes: what a wrong right side would be without one, and what follows from an earlier mistake."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

from derive.expr import (
    MINUS_ONE,
    ONE,
    Add,
    Binder,
    Bracket,
    Cases,
    Entry,
    Expr,
    Idx,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    Size,
    eq,
    free_indices,
    joined,
    mul,
    open_binder,
    rebuild,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.verify.points.point import LOSS

Changed = Iterator[tuple[str, Expr]]  # what went wrong, in words, and what would be right then
_TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
_FACTORS = (2, 4)


def _signs(head: Node, value: Expr, module: Module) -> Changed:
    yield "the sign is wrong", mul(MINUS_ONE, value)
    if isinstance(value, Add):
        for n, term in enumerate(value.terms):
            other = (*value.terms[:n], mul(MINUS_ONE, term), *value.terms[n + 1:])
            yield "the sign of a term is wrong", Add(other)


def _relations(head: Node, value: Expr, module: Module) -> Changed:
    def turned(node: Node) -> Node | None:
        return Rel(node.terms, tuple(_TURNED.get(op, op) for op in node.ops)) if isinstance(node, Rel) else None

    yield "an inequality is flipped", transform(value, turned, Rel)


def _values(head: Node, value: Expr, module: Module) -> Changed:
    def slope(node: Node) -> Node | None:
        if not isinstance(node, Cases):
            return None
        return Cases(tuple((ONE if isinstance(v, Entry) else v, c) for v, c in node.branches))

    yield "the value stands where its slope 1 belongs", transform(value, slope, Cases)
    if isinstance(value, Mul):
        for n, factor in enumerate(value.factors):
            if isinstance(factor, Entry) and len(value.factors) > 1:
                rest = (*value.factors[:n], *value.factors[n + 1:])
                yield (f"a factor too many: `{factor.tensor}`", mul(*rest))


def _factors(head: Node, value: Expr, module: Module) -> Changed:
    for number in _FACTORS:
        yield f"a factor {number} is lost", mul(Num(number), value)
        yield f"a factor {number} too many", mul(Num(Fraction(1, number)), value)
    for size in dict.fromkeys(n for s in module.table.symbols for n in s.sizes if isinstance(n, str)):
        yield f"a factor `1/{size}` is lost", mul(Pow(Size(size), MINUS_ONE), value)
    upstream = module.table.named(module.output)
    key = head.wrt if isinstance(head, Partial) and isinstance(head.of, Entry) and head.of.tensor == LOSS else None
    if (key is not None or isinstance(head, Entry)) and upstream is not None:
        for at in _places(head, value, len(upstream.axes)):
            yield "the upstream gradient is left out", mul(Entry(f"delta_{module.output}", at), value)
            yield "what passes by directly is left out", Add((value, Entry(f"delta_{module.output}", at)))


def _places(head: Node, value: Expr, count: int) -> Iterator[tuple[Expr, ...]]:
    own = sorted((i for i in free_indices(head) if isinstance(i, Idx)), key=lambda i: i.name)
    if count == 0:
        yield ()
    elif count == 1:
        yield from ((i,) for i in own)
    elif len(own) >= count:
        yield tuple(own[:count])


def _indices(head: Node, value: Expr, module: Module) -> Changed:
    for tensor in dict.fromkeys(n.tensor for n in walk(value) if isinstance(n, Entry) and len(n.indices) == 2):
        words = "a transpose is lost, or one too many" if tensor[:1].isupper() else "two indices are swapped"
        yield f"{words}: `{tensor}`", transform(value, lambda n, t=tensor: Entry(n.tensor, n.indices[::-1]) if (  # type: ignore[misc]
            isinstance(n, Entry) and n.tensor == t) else None, Entry)
    free = sorted((i for i in free_indices(value) if isinstance(i, Idx)), key=lambda i: i.name)
    for n, first in enumerate(free):
        for second in free[n + 1:]:
            yield "two indices are swapped", subst(value, {first: second, second: first})


def _offsets(head: Node, value: Expr, module: Module) -> Changed:
    """x_{t-k} for x_{t+k}"""
    def turned(index: Expr) -> Expr:
        terms = index.terms if isinstance(index, Add) else ()
        return Add((*terms[:-1], mul(MINUS_ONE, terms[-1]))) if len(terms) > 1 else index

    for tensor in dict.fromkeys(n.tensor for n in walk(value) if isinstance(n, Entry)):
        yield f"the sign in an index of `{tensor}` is wrong", transform(
            value, lambda n, t=tensor: Entry(n.tensor, tuple(map(turned, n.indices))) if (  # type: ignore[misc]
                isinstance(n, Entry) and n.tensor == t) else None, Entry)


def _sums(head: Node, value: Expr, module: Module) -> Changed:
    for index in free_indices(value) - free_indices(head):
        if isinstance(index, Idx):
            yield "the sum is missing", Reduce("sum", Binder((index,), (None,), (None,), None), value)
    if isinstance(value, Add):
        for n in range(len(value.terms)):
            rest = (*value.terms[:n], *value.terms[n + 1:])
            yield "a term too many", Add(rest) if len(rest) > 1 else rest[0]


def _letters(head: Node, value: Expr, module: Module) -> Changed:
    ranks = {s.name: len(s.axes) for s in module.table.symbols}
    known = [*module.given, *module.defined]
    for tensor in dict.fromkeys(n.tensor for n in walk(value) if isinstance(n, Entry) and n.tensor in known):
        for other in known:
            if other != tensor and ranks.get(other) == ranks.get(tensor):
                yield (f"`{tensor}` stands where `{other}` belongs",
                       transform(value, lambda n, a=tensor, b=other: Entry(b, n.indices) if (  # type: ignore[misc]
                           isinstance(n, Entry) and n.tensor == a) else None, Entry))


def _chains(head: Node, value: Expr, module: Module) -> Changed:
    """A factor ∂u_i/∂t_i of the way from the output to the letter."""
    for t in module.defined:
        entry, _ = module.definition(t)
        for s in dict.fromkeys((*module.sources(t),)):
            symbol = module.table.named(s)
            own = {len(entry.indices), len(symbol.axes) if symbol is not None else -1}
            if len(own) > 1 or s in module.constants:
                continue
            if {e.tensor for e in _derivative(head) or ()} == {t, s}:
                continue
            for at in _places(head, value, own.pop()):
                factor = Partial(Entry(t, at), Entry(s, at))
                yield f"the chain is cut short: a factor `∂{t}/∂{s}` is missing", mul(value, factor)
                if isinstance(value, Reduce) and value.op == "sum" and len(at) == 1:
                    inner = Partial(Entry(t, value.binder.variables[:1]), Entry(s, value.binder.variables[:1]))
                    yield (f"the chain is cut short: a factor `∂{t}/∂{s}` is missing",
                           rebuild(value, lambda c, v=value, f=inner: mul(v.body, f) if c is v.body else c))


def _lost(head: Node, value: Expr, module: Module) -> Changed:
    own = sorted((i for i in free_indices(head) | free_indices(value) if isinstance(i, Idx)), key=lambda i: i.name)
    for tensor in (*module.given, *module.defined):
        symbol = module.table.named(tensor)
        for at in itertools.permutations(own, len(symbol.axes)) if symbol is not None else ():
            yield f"a factor `{tensor}` is lost", mul(value, Entry(tensor, at))


def _windows(head: Node, value: Expr, module: Module) -> Changed:
    """What comes from one output is there, and not what comes from the others."""
    upstream, derived = f"delta_{module.output}", _derivative(head)
    found = {n for n in walk(value) if isinstance(n, Entry) and n.tensor == upstream and n.indices}
    if len(found) != 1 or derived is None or derived[0].tensor != LOSS or _has_sum(value):
        return
    at = found.pop().indices
    other = tuple(Idx(f"$w{d}") for d in range(len(at)))
    same = Bracket(joined([eq(a, b) for a, b in zip(at, other, strict=True)]))
    slope, none = Partial(Entry(module.output, other), derived[1]), (None,) * len(at)
    rest = mul(Add((ONE, mul(MINUS_ONE, same))), Entry(upstream, other), slope)
    yield ("the sum over the outputs, of windows that overlap for instance, is missing",
           Add((value, Reduce("sum", Binder(other, none, none, None), rest))))


def _has_sum(value: Expr) -> bool:
    return any(isinstance(n, Reduce) for n in walk(value))


def _inside(head: Node, value: Expr, module: Module) -> Changed:
    """In one case, in one term, in a sum."""
    if isinstance(value, Cases):
        for n, (branch, cond) in enumerate(value.branches):
            yield from ((words, Cases((*value.branches[:n], (other, cond), *value.branches[n + 1:])))
                        for words, other in _of_part(head, branch, module))
    elif isinstance(value, Add):
        for n, term in enumerate(value.terms):
            yield from ((words, Add((*value.terms[:n], other, *value.terms[n + 1:])))
                        for words, other in _of_part(head, term, module))
    elif isinstance(value, Reduce) and value.op == "sum":
        binder, body = open_binder(value)
        yield from ((words, Reduce("sum", binder, other)) for words, other in _of_part(head, body, module))
    elif isinstance(value, Mul):
        for n, factor in enumerate(value.factors):
            yield from ((words, Mul((*value.factors[:n], other, *value.factors[n + 1:])))
                        for words, other in _inside(head, factor, module))


def _of_part(head: Node, part: Expr, module: Module) -> Changed:
    for kind in (_signs, _factors, _values, _lost, _inside):
        yield from kind(head, part, module)


# each gives, of a wrong right side# each gives, of a wrong right side, what would stand there without one mistake
MISTAKES: tuple[Callable[[Node, Expr, Module], Changed], ...] = (
    _signs, _relations, _factors, _values, _indices, _offsets, _sums, _windows, _chains, _letters, _lost, _inside)


def changes(head: Node, value: Expr, module: Module) -> Changed:
    """All that one known mistake may have made of something right."""
    for kind in MISTAKES:
        for words, other in kind(head, value, module):
            if other is not value:
                yield words, other


def follows(link: Rel, wrong: Rel, module: Module) -> Rel | None:
    """That a right side is what the chain rule makes of an earlier, wrong derivative: then it is no mistake of its own.

    ∂L/∂w = Σ_k v_k ∂s_k/∂w of the wrong ∂L/∂s_k = v_k.
    """
    own, other = _derivative(link.terms[0]), _derivative(wrong.terms[0])
    if own is None or other is None:
        return None
    (top, wrt), (over, under) = own, other
    value = wrong.terms[1]
    fresh: dict[Node, Node] = {}
    for n, index in enumerate(dict.fromkeys((*over.indices, *under.indices))):
        fresh[index] = Idx(f"$f{n}")
    factors: list[Expr] = []
    for end, mine, factor in ((over, top, lambda e: Partial(top, e)), (under, wrt, lambda e: Partial(e, wrt))):
        if end.tensor == mine.tensor:
            fresh |= dict(zip(end.indices, mine.indices, strict=True))
        else:
            factors.append(factor(subst(end, fresh)))
    taken = [i for i in dict.fromkeys(fresh.values()) if isinstance(i, Idx) and i.name.startswith("$f")]
    if any(not isinstance(i, Idx) for i in (*over.indices, *under.indices)):
        return None
    product = mul(subst(value, fresh), *factors)
    none = (None,) * len(taken)
    total = Reduce("sum", Binder(tuple(taken), none, none, None), product) if taken else product
    return Rel((total, link.terms[1]), ("=",))


def _derivative(head: Node) -> tuple[Entry, Entry] | None:
    if isinstance(head, Partial) and isinstance(head.of, Entry) and isinstance(head.wrt, Entry):
        return head.of, head.wrt
    if isinstance(head, Entry) and head.tensor.startswith("delta_"):
        return Entry(LOSS, ()), Entry(head.tensor.removeprefix("delta_"), head.indices)
    return None
