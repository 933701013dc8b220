"""Values with their shapes: a number, a vector, a row or a matrix, and its entry at given indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from derive.expr import Binder, Entry, Expr, Idx, Reduce, fresh_index, mul
from derive.notation.symbols import Kind, SymbolTable

Extent = int | str | None
At = Callable[..., Expr]


class ShapeError(Exception):
    """Two shapes that do not fit, or two readings of a product."""


@dataclass(frozen=True)
class Shaped:
    """A value of rank ``len(sizes)``; ``row`` for a transposed vector; ``at`` gives the entry at its indices."""

    sizes: tuple[Extent, ...]
    at: At
    row: bool = False

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def described(self) -> str:
        if not self.rank:
            return "a number"
        return "a row" if self.row else "a vector" if self.rank == 1 else "a matrix" if self.rank == 2 else "a tensor"


def number(value: Expr) -> Shaped:
    return Shaped((), lambda: value)


@dataclass(frozen=True)
class Shapes:
    """The shapes that a symbol table declares; ``ranks`` supposes how many axes a letter leaves out."""

    table: SymbolTable
    ranks: Mapping[str, int]

    @property
    def strict(self) -> bool:
        """Whether a number plus a vector is refused: ranks are being inferred."""
        return bool(self.ranks)

    def entry(self, node: Entry) -> Shaped:
        """w, w_k or w_{kj}: what its indices leave open."""
        known = self.table.named(node.tensor)
        axes = len(known.axes) if known is not None and known.kind is Kind.TENSOR else len(node.indices)
        if node.tensor in self.ranks and len(node.indices) <= axes:
            rank = self.ranks[node.tensor] + axes - len(node.indices)
        else:
            rank = max(axes - len(node.indices), 0)
        sizes = known.sizes if known is not None and len(known.sizes) == axes else ()
        own: tuple[Extent, ...] = tuple(s or None for s in sizes[len(node.indices) :]) if sizes else (None,) * rank
        return Shaped(own if len(own) == rank else (None,) * rank,
                      lambda *more: Entry(node.tensor, (*node.indices, *more)), self.table.rows and rank == 1)


def agreed(left: Extent, right: Extent) -> Extent:
    """The common extent of two axes.

    Raises :class:`ShapeError` where they differ.
    """
    if left is not None and right is not None and left != right:
        raise ShapeError(f"lengths {left} and {right} do not fit")
    return left if left is not None else right


def together(parts: list[Shaped], build: Callable[..., Expr], strict: bool, what: str) -> Shaped:
    """Entry by entry; a number goes with every entry."""
    shaped = [p for p in parts if p.rank]
    if not shaped:
        return number(build(*(p.at() for p in parts)))
    first = shaped[0]
    if any(p.rank != first.rank or p.row != first.row for p in shaped):
        raise ShapeError(f"{what} of {' and '.join(dict.fromkeys(p.described() for p in shaped))}")
    if strict and len(shaped) != len(parts):
        raise ShapeError(f"{what} of a number and {first.described()}")
    sizes = first.sizes
    for other in shaped[1:]:
        sizes = tuple(map(agreed, sizes, other.sizes))
    return Shaped(sizes, lambda *idx: build(*(p.at(*idx) if p.rank else p.at() for p in parts)), first.row)


def spread(parts: list[Shaped]) -> list[Shaped]:
    """The terms of a sum, a bias vector among matrices at each row or column: where its stated length fits only one."""
    matrices = [p for p in parts if p.rank == 2]
    sizes = [next((p.sizes[axis] for p in matrices if p.sizes[axis] is not None), None) for axis in (0, 1)]
    if not matrices or None in sizes or sizes[0] == sizes[1]:
        return parts

    def along(part: Shaped) -> Shaped:
        if part.rank != 1 or part.sizes[0] not in sizes:
            return part
        axis = sizes.index(part.sizes[0])
        return Shaped((sizes[0], sizes[1]), lambda *idx: part.at(idx[axis]))

    return list(map(along, parts))


def summed(body: Callable[[Idx], Expr], op: str = "sum") -> Expr:
    """Σ_j body(j), over all j that keep every index in range."""
    j = fresh_index()
    return Reduce(op, Binder((j,), (None,), (None,), None), body(j))


def times(left: Shaped, right: Shaped) -> Shaped:
    """The product of two neighbours: number, matrix, row and vector."""
    if not left.rank or not right.rank:
        return together([left, right], mul, False, "a product")
    match (left.rank, left.row, right.rank, right.row):
        case (1, True, 1, False):
            agreed(left.sizes[0], right.sizes[0])
            return number(summed(lambda j: mul(left.at(j), right.at(j))))
        case (2, _, 1, False):
            agreed(left.sizes[1], right.sizes[0])
            return Shaped(left.sizes[:1], lambda k: summed(lambda j: mul(left.at(k, j), right.at(j))))
        case (1, True, 2, _):
            agreed(left.sizes[0], right.sizes[0])
            return Shaped(right.sizes[1:], lambda k: summed(lambda j: mul(left.at(j), right.at(j, k))), True)
        case (2, _, 2, _):
            agreed(left.sizes[1], right.sizes[0])
            return Shaped((left.sizes[0], right.sizes[1]),
                          lambda k, m: summed(lambda j: mul(left.at(k, j), right.at(j, m))))
        case (1, False, 1, True):
            return Shaped((*left.sizes, *right.sizes), lambda k, j: mul(left.at(k), right.at(j)))
        case (1, False, 1, False):
            raise ShapeError("a product of two vectors: the inner product, or entry by entry? Write `w^\\top x` or "
                             "`w \\odot x`")
    raise ShapeError(f"a product of {left.described()} and {right.described()}")


def transposed(of: Shaped) -> Shaped:
    match of.rank:
        case 1:
            return Shaped(of.sizes, of.at, not of.row)
        case 2:
            return Shaped(of.sizes[::-1], lambda i, j: of.at(j, i))
    raise ShapeError(f"a transpose of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^{{n}}`")
