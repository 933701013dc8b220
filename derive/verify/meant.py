"""What the letters mean that a question asks for beside messages, whatever a sheet says of them.

θ_new = θ − η ∂ℓ/∂θ after a step of gradient descent; M = Σ ∂f/∂x, the mask of a maximum.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from derive.calculus.ranges import ranged
from derive.expr import MINUS_ONE, Entry, Expr, Node, Partial, Reduce, add, mul, transform
from derive.module import Mask, Module, Update
from derive.numeric.point import Undefined
from derive.verify.points.point import Point
from derive.verify.ties import by_rule


def written_out(node: Node, module: Module) -> Node:
    """θ_i − η ∂ℓ/∂θ_i for each θ_new,i: what is printed of it is then proved like any other equation."""
    known: dict[str, Update | Mask] = {**{u.new: u for u in module.updates}, **{m.name: m for m in module.masks}}

    def value(n: Node) -> Node | None:
        found = known.get(n.tensor) if isinstance(n, Entry) else None
        if found is None or not isinstance(n, Entry):
            return None
        entry = Entry(found.wrt, n.indices)
        if isinstance(found, Mask):
            return _passed(found, entry, module)
        return add(entry, mul(MINUS_ONE, Entry(found.rate, ()), Partial(Entry(found.of, ()), entry)))

    return transform(node, value, Entry) if known else node


def _passed(mask: Mask, entry: Entry, module: Module) -> Expr:
    """Σ_{k,l} ∂f_{kl}/∂x_{ij}; of a maximum entry by entry ∂f_i/∂x_i."""
    head, _ = module.definition(mask.of)
    if mask.windows:
        body = Partial(head, entry)
        return Reduce("sum", ranged(head, body, module), body)
    return Partial(Entry(mask.of, entry.indices), entry)


def put(point: Point, sizes: Mapping[str, Any], tied: bool = False) -> None:
    """Their values at a point, from the forward formula alone; ``sizes`` are those of η that are printed.

    ``tied``: a window's maximum is attained by several entries, of which the rule chooses.
    """
    module = point.module
    for update in module.updates:
        size = sizes.get(update.rate, update.size)
        if size is not None:
            eta = point.kind.number(Fraction(size))
            point.put(update.rate, {(): eta})
            point.put(update.new, {at: value - eta * point.partial(update.of, (), update.wrt, at)
                                   for at, value in point.tensor(update.wrt).items()})
    for mask in module.masks:
        outputs, entries = point.tensor(mask.of), point.tensor(mask.wrt)
        if tied and module.inputs == (mask.wrt,):
            shapes = {mask.wrt: point.shapes[mask.wrt]}
            point.put(mask.name, by_rule(module, point.given, shapes, dict.fromkeys(outputs, 1)))
            continue
        with suppress(Undefined):  # without a value the printed one is refuted
            point.put(mask.name, {at: sum(point.partial(mask.of, k, mask.wrt, at) for k in (
                outputs if mask.windows else [at])) for at in entries})
