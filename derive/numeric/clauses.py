"""What bound variables run through, as Python ``for`` clauses."""

from __future__ import annotations

from abc import ABC, abstractmethod

from derive.errors import UnsupportedError
from derive.expr import (
    And,
    Binder,
    Cond,
    Entry,
    Expr,
    Idx,
    In,
    Node,
    Rel,
    SetApp,
    Tuple,
    walk,
)


class Clauses(ABC):
    """Writes the clauses of a binder; how values are written is the subclass's part."""

    @abstractmethod
    def value(self, node: Node) -> str:
        """Python source for a node."""

    @abstractmethod
    def name(self, variable: Idx) -> str:
        """The Python name of an index variable."""

    def clauses(self, binder: Binder, body: Expr) -> str:
        """``for`` clauses for the variables and an ``if`` for the condition."""
        conds = binder.cond.conds if isinstance(binder.cond, And) else (binder.cond,) if binder.cond else ()
        text, left = "", list(binder.variables)
        for cond in conds:
            if isinstance(cond, In) and left:
                text += self._through(cond, left)
        for variable in left[:]:
            place = binder.variables.index(variable)
            low, high = binder.lower[place], binder.upper[place]
            text += f"for {self.name(variable)} in {self._range(variable, low, high, conds, body)} "
        test = " and ".join(map(self.value, conds))
        return text + (f"if {test}" if test else "")

    def _through(self, cond: In, left: list[Idx]) -> str:
        """The loop that a membership gives: over a set's elements, or over the windows themselves."""
        element = cond.element.items if isinstance(cond.element, Tuple) else (cond.element,)
        own = [e for e in element if isinstance(e, Idx) and e in left]
        if len(own) == len(element):
            names = ",".join(map(self.name, own))
            for variable in own:
                left.remove(variable)
            return f"for {names if len(own) == 1 else f'({names})'} in {self.value(cond.set)} "
        if isinstance(cond.set, SetApp) and cond.set.args and _distinct(cond.set.args, left):
            text = ""
            for place, argument in enumerate(cond.set.args):
                assert isinstance(argument, Idx)
                left.remove(argument)
                text += f"for {self.name(argument)} in range(P.outputs({cond.set.name!r})[{place}]) "
            return text
        return ""

    def _range(self, variable: Idx, low: Expr | None, high: Expr | None, conds: tuple[Cond, ...], body: Expr) -> str:
        if low is not None and high is not None:
            return f"range({self.value(low)},{self.value(high)}+1)"
        for cond in conds:
            found = self._bounds(variable, cond)
            if found:
                return found
        nodes = [n for part in (body, *conds) for n in walk(part)]
        places = [(e.tensor, n) for e in nodes if isinstance(e, Entry)
                  for n, index in enumerate(e.indices) if index is variable]
        if places:
            return self.spans(variable, list(dict.fromkeys(places)))
        windows = [(s.name, n) for s in nodes if isinstance(s, SetApp) for n, a in enumerate(s.args) if a is variable]
        if not windows:
            raise UnsupportedError("a summation index has no range")
        return self.windows(list(dict.fromkeys(windows)))

    def spans(self, variable: Idx, places: list[tuple[str, int]]) -> str:
        """The range of a variable from the tensor axes along which it stands."""
        extents = ",".join(f"P.extent({tensor!r},{axis})" for tensor, axis in places)
        return f"range(P.origin,P.origin+min(({extents},)))"

    def windows(self, places: list[tuple[str, int]]) -> str:
        """The range of a variable from the window sets of which it is an argument."""
        raise UnsupportedError("a summation index has no range")

    def _bounds(self, variable: Idx, cond: Cond) -> str | None:
        """range(a, b) from a chain a ≤ t < b."""
        if not (isinstance(cond, Rel) and len(cond.terms) == 3 and cond.terms[1] is variable):
            return None
        low = self.value(cond.terms[0]) + ("+1" if cond.ops[0] == "<" else "")
        high = self.value(cond.terms[2]) + ("+1" if cond.ops[1] == "≤" else "")
        return f"range({low},{high})"


def _distinct(args: tuple[Expr, ...], left: list[Idx]) -> bool:
    """Whether the arguments are different variables that still want a range."""
    return len(set(args)) == len(args) and all(a in left for a in args)
