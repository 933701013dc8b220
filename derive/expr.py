"""The printed language as data: frozen, hash-consed, alpha-canonical nodes.

Two expressions that differ only in the names of their bound variables are the
same object, so ``==`` is ``is`` and a node can key a dictionary.  Order is kept
as written (``a + b`` is not ``b + a``): what is printed, read back and checked
is this data, never a SymPy object.

Values, index terms, tuples, sets and conditions are all nodes; a condition is
any subclass of :class:`Cond`.  This module imports nothing of ours.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from operator import is_
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform
from weakref import ref

_table: dict[tuple[Any, ...], Node] = {}  # the last nodes that were made, by class and fields
_older: dict[tuple[Any, ...], ref[Node]] = {}  # those before them, held by nobody here
_MOST = 60_000  # of the last; letting go of them makes those that stay slow to find
_making = RLock()
_fresh = itertools.count()
_N = TypeVar("_N", bound="Node")


def _made(cls: type[_N], args: tuple[Any, ...], key: tuple[Any, ...]) -> _N:
    with _making:  # one node for all threads: the table alone would let two of them each make one
        older = _older.get(key)
        node: Any = _table.get(key) or (older and older())
        if node is None:
            node = object.__new__(cls)
            fields = node.__dict__
            fields["_parts"] = args
            for name, value in zip(cls.__match_args__, args, strict=True):
                fields[name] = value
        _table[key] = node
        if len(_table) > _MOST:
            _let_go()
    return node


def _let_go() -> None:
    """Nodes that nobody holds are gone then: first those made last, which hold the others."""
    _older.update((key, ref(node)) for key, node in _table.items())
    _table.clear()
    waiting = [*_older]
    while waiting:
        key = waiting.pop()
        if _older[key]() is None:
            del _older[key]


@dataclass_transform(frozen_default=True)
def _node(cls: type[_N]) -> type[_N]:
    """A kind of node and its fields; a dataclass of the standard library takes longer to make than all else here."""
    cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]
    return cls


class Node:
    """A node; its fields are nodes, tuples of nodes, strings or numbers."""

    __match_args__: ClassVar[tuple[str, ...]] = ()
    _parts: tuple[Any, ...]  # the fields' values in order
    normalise: ClassVar[Callable[..., tuple[Any, ...]] | None] = None

    if not TYPE_CHECKING:  # a metaclass would make every ``isinstance`` of a node take three times as long

        def __new__(cls, *args):
            """The one node with these fields."""
            if cls is Num:  # a Fraction's hash takes long
                value = args[0] if type(args[0]) in (int, Fraction) else Fraction(args[0])
                key = (cls, *value.as_integer_ratio())
                node = _table.get(key)
                return _made(cls, (Fraction(value),), key) if node is None else node
            if cls.normalise is not None:
                args = cls.normalise(*args)
            key = (cls, *args)
            node = _table.get(key)
            return _made(cls, args, key) if node is None else node

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a node cannot be changed: {name}")

    def parts(self) -> tuple[Any, ...]:
        return self._parts

    def children(self) -> tuple[Node, ...]:
        cached: tuple[Node, ...] | None = self.__dict__.get("_children")
        if cached is None:
            cached = self.__dict__["_children"] = tuple(_nodes_in(self._parts, []))
        return cached

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.parts()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts()))})"


def _nodes_in(parts: tuple[Any, ...], found: list[Node]) -> list[Node]:
    for part in parts:
        if isinstance(part, Node):
            found.append(part)
        elif type(part) is tuple:
            _nodes_in(part, found)
    return found


class Expr(Node):
    """A value, an index term, a tuple or a set."""


class Cond(Node):
    """A condition: true or false at a point."""


# --- values and index terms -------------------------------------------------


@_node
class Num(Expr):
    """An exact number."""

    value: Fraction

    if TYPE_CHECKING:

        def __init__(self, value: Fraction | int) -> None: ...


@_node
class Infinity(Expr):
    """+∞ (``sign`` 1) or −∞ (``sign`` −1)."""

    sign: int


@_node
class Idx(Expr):
    """An integer index variable, free or bound."""

    name: str


@_node
class Size(Expr):
    """The extent of a tensor axis, known from the arrays' shapes (``n``)."""

    name: str


@_node
class Entry(Expr):
    """x_{ij}: one entry of a tensor; without indices, a scalar or the whole tensor.

    The upstream gradient of ``f`` is the tensor ``delta_f``.
    """

    tensor: str
    indices: tuple[Expr, ...]


@_node
class Star(Expr):
    """i^*(k, l): one coordinate of a maximiser, for the indices it depends on."""

    name: str
    at: tuple[Expr, ...]


@_node
class Add(Expr):
    """t_1 + … + t_n, in the order written; −t is ``Mul((Num(-1), t))``."""

    terms: tuple[Expr, ...]


@_node
class Mul(Expr):
    """c_1 · … · c_n, in the order written."""

    factors: tuple[Expr, ...]


@_node
class Pow(Expr):
    """base^exponent; a quotient a/b is ``Mul((a, Pow(b, Num(-1))))``."""

    base: Expr
    exponent: Expr


@_node
class Fn(Expr):
    """A named function: floor, ceil, mod, abs, exp, log, …"""

    name: str
    args: tuple[Expr, ...]


@_node
class Extremum(Expr):
    """max(a, b, …) or min(a, b, …) of listed terms; ``op`` is 'max' or 'min'."""

    op: str
    args: tuple[Expr, ...]


@_node
class Tuple(Expr):
    """(i, j)."""

    items: tuple[Expr, ...]


@_node
class Matrix(Expr):
    """A matrix of numbers, written out."""

    rows: tuple[tuple[Expr, ...], ...]


@_node
class Cases(Expr):
    """The value of the first branch whose condition holds; undefined if none does."""

    branches: tuple[tuple[Expr, Cond], ...]


@_node
class Bracket(Expr):
    """[c]: 1 where the condition holds, else 0."""

    cond: Cond


@_node
class Partial(Expr):
    """∂of/∂wrt, both tensor entries."""

    of: Expr
    wrt: Expr


@_node
class Directional(Expr):
    """of'(at; direction): the one-sided derivative along a tensor ``direction``."""

    of: Expr
    at: str
    direction: str


@_node
class Unit(Expr):
    """e_q: the unit vector whose entry q is 1."""

    index: Expr


@_node
class Subdifferential(Expr):
    """∂f: the set of subgradients (Clarke) of a scalar at the point at hand."""

    of: Expr


# --- sets -------------------------------------------------------------------


@_node
class SetApp(Expr):
    """Ω(k, l): a named set, applied; a set without arguments is ``SetApp(A, ())``."""

    name: str
    args: tuple[Expr, ...]


@_node
class Listed(Expr):
    """{a, b, …}: a set of the values listed."""

    items: tuple[Expr, ...]


@_node
class Without(Expr):
    """base ∖ {elements}."""

    base: Expr
    elements: tuple[Expr, ...]


@_node
class Cardinality(Expr):
    """|S|."""

    of: Expr


# --- conditions -------------------------------------------------------------


@_node
class Otherwise(Cond):
    """The last branch of cases: where none of those above holds."""


@_node
class Rel(Cond):
    """A chain t_0 op_1 t_1 op_2 t_2 …; ops are = ≠ < ≤ > ≥."""

    terms: tuple[Expr, ...]
    ops: tuple[str, ...]


@_node
class In(Cond):
    """element ∈ set."""

    element: Expr
    set: Expr


@_node
class And(Cond):
    """All hold (written with commas)."""

    conds: tuple[Cond, ...]


@_node
class Iff(Cond):
    """left ⟺ right."""

    left: Cond
    right: Cond


@_node
class Given(Cond):
    """``claim`` wherever ``cond`` holds (written: claim if cond)."""

    claim: Cond
    cond: Cond


# --- binders ----------------------------------------------------------------


@_node
class Binder(Node):
    """Bound variables, a range per variable, and a condition.

    ``lower`` and ``upper`` (inclusive) hold ``None`` where no range is written:
    the variable then runs through its condition, or wherever every entry exists.
    """

    variables: tuple[Idx, ...]
    lower: tuple[Expr | None, ...]
    upper: tuple[Expr | None, ...]
    cond: Cond | None


class _Over(Expr):
    """A binder and what stands under it: alpha-equal nodes are one."""

    @classmethod
    def normalise(cls, *args: Any) -> tuple[Any, ...]:
        return (args[0], *_canonical(args[1], args[2]))


@_node
class Reduce(_Over):
    """sum, prod, max, min or median (``op``) of ``body`` over a binder."""

    op: str
    binder: Binder
    body: Expr


@_node
class Arg(_Over):
    """The tuple of bound variables at which ``body`` is largest (``op`` 'max'), smallest or the median."""

    op: str
    binder: Binder
    body: Expr


@_node
class SetOf(Expr):
    """{element : binder}, e.g. {q : z_q = f}; its variables are bound."""

    binder: Binder
    element: Expr

    @classmethod
    def normalise(cls, *args: Any) -> tuple[Any, ...]:
        return _canonical(args[0], args[1])


@_node
class Hull(Expr):
    """conv S: the convex hull of a set of vectors."""

    of: Expr


BINDING = (Reduce, Arg, SetOf)
HOLDS: dict[str, Callable[[Any, Any], Any]] = {  # what the signs of a chain of relations mean, of arrays too
    "=": operator.eq, "≠": operator.ne, "<": operator.lt, "≤": operator.le, ">": operator.gt, "≥": operator.ge}
TURNED = {"=": "=", "≠": "≠", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}  # a op b is b TURNED[op] a
PYTHON = {"=": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}  # how Python spells them
_BOUND = "§"


def is_bound(index: Idx) -> bool:
    """A variable that a binder outside the node has, not a letter of the formula."""
    return index.name.startswith(_BOUND)


def _height(node: Node) -> int:
    """One more than the largest variable number that a binder inside the node uses."""
    cached: int | None = node.__dict__.get("_height")
    if cached is None:
        cached = max(map(_height, node.children()), default=0)
        if isinstance(node, BINDING):
            cached = max(cached, *(int(v.name[1:]) + 1 for v in node.binder.variables))
        node.__dict__["_height"] = cached
    return cached


def _canonical(binder: Binder, body: Expr) -> tuple[Binder, Expr]:
    """Number the variables above those of every binder inside: alpha-equal nodes agree.

    An inner binder's numbers are smaller than an outer one's, so neither captures.
    """
    inner = (*binder.lower, *binder.upper, binder.cond, body)
    base = max((_height(part) for part in inner if part is not None), default=0)
    wanted = tuple(Idx(f"{_BOUND}{base + n}") for n in range(len(binder.variables)))
    if wanted == binder.variables:
        return binder, body
    fresh: dict[Node, Node] = dict(zip(binder.variables, wanted, strict=True))
    return _rename(binder, fresh), subst(body, fresh)


def _rename(binder: Binder, mapping: Mapping[Any, Any]) -> Binder:
    def go(part: Expr | None) -> Expr | None:
        return None if part is None else subst(part, mapping)

    return Binder(
        tuple([mapping.get(v, v) for v in binder.variables]),
        tuple(map(go, binder.lower)),
        tuple(map(go, binder.upper)),
        None if binder.cond is None else subst(binder.cond, mapping),
    )


def fresh_index() -> Idx:
    """An index variable that occurs nowhere else; a writer gives it a pretty name."""
    return Idx(f"$t{next(_fresh)}")


def _body(node: Reduce | Arg | SetOf) -> Expr:
    return node.element if isinstance(node, SetOf) else node.body


def open_binder(node: Reduce | Arg | SetOf) -> tuple[Binder, Expr]:
    """The binder and body with fresh variables, for work under the binder."""
    return open_as(node, tuple(fresh_index() for _ in node.binder.variables))


# with the same variables each time, for what looks at it only
opened = lru_cache(maxsize=4096)(open_binder)


def open_as(node: Reduce | Arg | SetOf, variables: tuple[Idx, ...]) -> tuple[Binder, Expr]:
    """The binder and body with the given variables, which must not be free in the node."""
    body = _body(node)
    mapping: dict[Node, Node] = dict(zip(node.binder.variables, variables, strict=True))
    return _rename(node.binder, mapping), subst(body, mapping)


_NONE: frozenset[Idx] = frozenset()


def free_indices(node: Node) -> frozenset[Idx]:
    """The index variables that are free in a node."""
    if isinstance(node, Idx):  # which does not keep itself alive
        return frozenset((node,))
    cached: frozenset[Idx] | None = node.__dict__.get("_free")
    if cached is None:
        cached = _NONE.union(*map(free_indices, node.children()))
        if isinstance(node, BINDING):
            cached -= frozenset(node.binder.variables)
        node.__dict__["_free"] = cached
    return cached


def subst(node: _N, mapping: Mapping[Node, Node]) -> _N:
    """Replace nodes (index variables above all) by others, without capture."""
    found: _N = _subst(node, mapping, all(isinstance(key, Idx) for key in mapping))
    return found


def _subst(node: Any, mapping: Mapping[Node, Node], of_indices: bool) -> Any:
    hit = mapping.get(node)
    if hit is not None:
        return hit
    if isinstance(node, Idx) or of_indices and free_indices(node).isdisjoint(mapping):
        return node
    if isinstance(node, BINDING):
        if not any(_occurs(key, node) for key in mapping):
            return node
        own = set(node.binder.variables)
        outer = {k: v for k, v in mapping.items() if k not in own}
        captured = any(own & free_indices(value) for value in outer.values())
        binder, body = open_binder(node) if captured else (node.binder, _body(node))
        binder, body = _rename(binder, outer), subst(body, outer)
        if isinstance(node, SetOf):
            return SetOf(binder, body)
        return type(node)(node.op, binder, body)
    return rebuild(node, _subst, mapping, of_indices)


def _occurs(key: Node, node: Node) -> bool:
    if isinstance(key, Idx):
        return key in free_indices(node)
    return any(part is key for part in walk(node))


def rebuild(node: _N, change: Callable[..., Any], *rest: Any) -> _N:
    """The node with ``change(child, *rest)`` for each child (not for binding nodes' variables)."""
    parts = _changed(node._parts, change, rest)
    return node if parts is node._parts else type(node)(*parts)


# A function inside of another that calls itself would be garbage of which the collector alone gets rid.

def _changed(parts: tuple[Any, ...], change: Callable[..., Any], rest: tuple[Any, ...]) -> tuple[Any, ...]:
    changed = [change(p, *rest) if isinstance(p, Node) else _changed(p, change, rest) if type(p) is tuple else p
               for p in parts]
    return parts if all(map(is_, parts, changed)) else tuple(changed)


def transform(node: _N, rule: Callable[[Node], Node | None], *kinds: type[Node]) -> _N:
    """Rewrite bottom-up: ``rule`` returns a replacement, or None to leave a node.

    ``kinds``: it leaves all other nodes; what has none of them is passed over.
    """
    found: _N = _rewritten(node, rule, frozenset(kinds))
    return found


def _rewritten(node: Any, rule: Callable[[Node], Node | None], wanted: frozenset[type[Node]]) -> Any:
    if wanted and wanted.isdisjoint(_kinds(node)):
        return node
    new: Any
    if isinstance(node, BINDING):
        binder, body = open_binder(node)
        cond = None if binder.cond is None else _rewritten(binder.cond, rule, wanted)
        inside = _rewritten(body, rule, wanted)
        if inside is body and cond is binder.cond:
            new = node
        else:
            binder = Binder(binder.variables, binder.lower, binder.upper, cond)
            new = SetOf(binder, inside) if isinstance(node, SetOf) else type(node)(node.op, binder, inside)
    else:
        new = rebuild(node, _rewritten, rule, wanted)
    return (rule(new) if not wanted or type(new) in wanted else None) or new


def _kinds(node: Node) -> frozenset[type[Node]]:
    """The kinds of the node and of all below it."""
    cached: frozenset[type[Node]] | None = node.__dict__.get("_kinds")
    if cached is None:
        cached = node.__dict__["_kinds"] = frozenset((type(node),)).union(*map(_kinds, node.children()))
    return cached


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    cached: tuple[Node, ...] | None = node.__dict__.get("_below")
    if cached is None:
        found, waiting = [], [*reversed(node.children())]
        while waiting:
            part = waiting.pop()
            found.append(part)
            waiting.extend(reversed(part.children()))
        cached = node.__dict__["_below"] = tuple(found)  # without the node itself: it would keep itself alive
    return itertools.chain((node,), cached)


# --- small builders ---------------------------------------------------------

ZERO, ONE, MINUS_ONE = Num(0), Num(1), Num(-1)
PI = Fn("pi", ())
OTHERWISE = Otherwise()


def add(*terms: Expr) -> Expr:
    """A sum; numbers are gathered at the end, zero is dropped, nested sums are flattened."""
    flat: list[Expr] = []
    number = ZERO.value
    for term in terms:
        for part in term.terms if isinstance(term, Add) else (term,):
            if isinstance(part, Num):
                number = number + part.value if number else part.value
            else:
                flat.append(part)
    if number or not flat:
        flat.append(Num(number))
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*factors: Expr) -> Expr:
    """A product; numbers are gathered in front, one is dropped, zero wins."""
    flat: list[Expr] = []
    number = one = ONE.value
    for factor in factors:
        for part in factor.factors if isinstance(factor, Mul) else (factor,):
            if isinstance(part, Num):
                number = part.value if number is one else number * part.value
            else:
                flat.append(part)
    if number is not one and number == 0:
        return ZERO
    if number is not one and number != 1 or not flat:
        flat.insert(0, Num(number))
    return flat[0] if len(flat) == 1 else Mul(tuple(flat))


def sub(left: Expr, right: Expr) -> Expr:
    """left − right."""
    return add(left, mul(MINUS_ONE, right))


def rel(left: Expr, op: str, right: Expr) -> Rel:
    """left op right."""
    return Rel((left, right), (op,))


def eq(*terms: Expr) -> Rel:
    """t_0 = t_1 = …"""
    return Rel(terms, ("=",) * (len(terms) - 1))


def over(variables: tuple[Idx, ...], cond: Cond) -> Binder:
    """A binder whose variables run through a condition."""
    none = (None,) * len(variables)
    return Binder(variables, none, none, cond)


def ranging(variable: Idx, lower: Expr, upper: Expr) -> Binder:
    """A binder of one variable from ``lower`` to ``upper`` inclusive."""
    return Binder((variable,), (lower,), (upper,), None)


def tuple_of(items: tuple[Expr, ...]) -> Expr:
    """(i, j), or i alone where there is one."""
    return items[0] if len(items) == 1 else Tuple(items)


def items(node: Node) -> tuple[Expr, ...]:
    """The components of a tuple; a single index is its own."""
    return node.items if isinstance(node, Tuple) else (cast(Expr, node),)


def conditions(node: Node | None) -> tuple[Cond, ...]:
    """The parts that all must hold."""
    return node.conds if isinstance(node, And) else () if node is None else (cast(Cond, node),)


def joined(conds: Iterable[Cond]) -> Cond:
    """The conditions, one or more, as one."""
    found = tuple(conds)
    return found[0] if len(found) == 1 else And(found)
