"""What a letter is after a step of gradient descent, whatever a sheet says of it: θ − η ∂ℓ/∂θ."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from derive.expr import MINUS_ONE, Entry, Node, Partial, add, mul, transform
from derive.module import Module
from derive.verify.points.point import Point


def written_out(node: Node, module: Module) -> Node:
    """θ_i − η ∂ℓ/∂θ_i for each θ_new,i: what is printed of it is then proved like any other equation."""
    updates = {u.new: u for u in module.updates}

    def value(n: Node) -> Node | None:
        update = updates.get(n.tensor) if isinstance(n, Entry) else None
        if update is None or not isinstance(n, Entry):
            return None
        theta = Entry(update.wrt, n.indices)
        return add(theta, mul(MINUS_ONE, Entry(update.rate, ()), Partial(Entry(update.of, ()), theta)))

    return transform(node, value, Entry) if updates else node


def put(point: Point, sizes: Mapping[str, Any]) -> None:
    """The new values at a point, from the forward formula alone; ``sizes`` are those of η that are printed."""
    for update in point.module.updates:
        size = sizes.get(update.rate, update.size)
        if size is not None:
            eta = point.kind.number(Fraction(size))
            point.put(update.rate, {(): eta})
            point.put(update.new, {at: value - eta * point.partial(update.of, (), update.wrt, at)
                                   for at, value in point.tensor(update.wrt).items()})
