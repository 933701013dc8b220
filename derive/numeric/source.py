"""A forward equation as Python source, for plain loops over any number type; where its windows run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import derive.expr as ex
from derive.axes import stands
from derive.errors import UnsupportedError
from derive.module import Module
from derive.numeric.coder import Coder
from derive.numeric.point import Definitions

Places = dict[tuple[str, int], tuple[str, int]]  # (set, axis) -> (tensor, axis) whose extent its elements keep to


def members(cond: ex.Cond | None, variables: Sequence[ex.Idx]) -> list[tuple[tuple[ex.Idx, ...], ex.SetApp]]:
    """The memberships (v_1, …) ∈ S(…) of a condition whose elements are exactly bound variables."""
    found = []
    for part in ex.conditions(cond):
        if isinstance(part, ex.In) and isinstance(part.set, ex.SetApp):
            items = ex.items(part.element)
            if all(v in variables for v in items):
                found.append((tuple(v for v in items if isinstance(v, ex.Idx)), part.set))
    return found


@lru_cache(maxsize=256)
def window_places(equations: tuple[ex.Rel, ...]) -> Places:
    """Which tensor axis each axis of a window set runs along, from the formula itself."""
    places: Places = {}
    for node in (n for equation in equations for n in ex.walk(equation)):
        if isinstance(node, (ex.Reduce, ex.Arg)):
            for variables, which in members(node.binder.cond, node.binder.variables):
                for axis, v in enumerate(variables):
                    if slots := stands(v, node.body):
                        places[which.name, axis] = slots[0]
    return places


def windows_of(equation: ex.Rel, module: Module) -> tuple[str, tuple[int, ...]] | None:
    """Ω(k, l) in the definition of y_{…k…l…}: its name, and the places of k and l among the indices of y."""
    entry, value = equation.terms
    for node in ex.walk(value):
        if isinstance(entry, ex.Entry) and isinstance(node, ex.SetApp) and node.name in dict(module.fields) \
                and set(node.args) <= set(entry.indices):
            return node.name, tuple(map(entry.indices.index, node.args))
    return None


class Forward(Coder):
    """Each entry is computed anew, and of several cases the first that holds counts: nothing is looked up or noted."""

    def __init__(self, module: Module) -> None:
        super().__init__(Definitions({}, {}, {}), {}, module)

    def _written(self, node: ex.Node) -> str:
        if isinstance(node, (ex.Arg, ex.Partial, ex.Directional, ex.Matrix, ex.SetOf, ex.Without)):
            raise UnsupportedError(f"`{type(node).__name__}` is not part of a forward formula")
        return super()._written(node)

    def remembered(self, node: ex.Expr, text: str, first: int, own: object = None) -> str:
        return text

    def _looked_up(self, tensor: str, at: str) -> str:
        return f"P.tensors[{tensor!r}][{at}]"

    def _applied(self, name: str, argument: str) -> str:
        return f"FUNCTIONS[{name!r}]({argument})"

    def _extremum(self, node: ex.Extremum) -> str:
        return f"{node.op}({','.join(map(self.value, node.args))})"

    def _guard(self, cond: ex.Node) -> str:
        return self.value(cond)

    def _cases(self, node: ex.Cases) -> str:
        return "(" + "".join(f"{self.value(v)} if {self.value(c)} else " for v, c in node.branches) + "undefined())"

    def _bounds(self, variable: ex.Idx, cond: ex.Cond) -> None:
        """A condition says where a term counts; an index runs wherever every factor exists."""


def equation_source(equation: ex.Rel, module: Module) -> tuple[str, Coder]:
    """``entry(P)``: the entry of the tensor defined as a function of its index."""
    head, value = equation.terms
    if not isinstance(head, ex.Entry) or not all(isinstance(v, ex.Idx) for v in head.indices):
        raise UnsupportedError("a forward equation must define one tensor entry, such as y_k or f_kl")
    coder = Forward(module)
    names = "".join(coder.name(v) + "," for v in head.indices if isinstance(v, ex.Idx))
    unpack = f"        {names} = index\n" if names else ""
    return f"def entry(P):\n    def at(index):\n{unpack}        return {coder.value(value)}\n    return at\n", coder
