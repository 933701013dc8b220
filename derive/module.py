"""What a layer computes: its forward equations, who is who in them, and the window."""

from __future__ import annotations

from dataclasses import dataclass, replace

from derive.expr import Entry, Expr, Rel
from derive.notation.symbols import SymbolTable
from derive.receptive_field import ReceptiveField

TIE_RULES = ("first", "last", "split")


@dataclass(frozen=True)
class Module:
    """y = F(x; θ): forward equations in the order of evaluation, and their letters.

    ``equations`` are ``Rel`` of two terms: the entry defined, and its value; the
    last defines ``output``.  ``fields`` names the receptive field of each window
    set.  ``asked`` holds what the question wants: ``"forward"``, ``"jacobian"``,
    ``"vjp"`` (the full backward message), ``"parameters"``.  ``readings`` says in
    words how each of these was understood.
    """

    equations: tuple[Rel, ...]
    table: SymbolTable
    output: str
    inputs: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    fields: tuple[tuple[str, ReceptiveField], ...] = ()
    tie_rule: str = "first"
    name: str | None = None
    key: str = "layer"  # the card's id: seeds the worked example
    input_size: tuple[int, ...] | None = None
    asked: tuple[str, ...] = ("jacobian", "vjp")
    readings: tuple[str, ...] = ()

    def definition(self, tensor: str) -> tuple[Entry, Expr]:
        """The defining equation of a tensor: (entry with its index variables, value)."""
        for equation in self.equations:
            entry, value = equation.terms
            if isinstance(entry, Entry) and entry.tensor == tensor:
                return entry, value
        raise KeyError(tensor)

    @property
    def receptive_field(self) -> ReceptiveField | None:
        """The one receptive field, or None where the layer has no windows."""
        return self.fields[0][1] if self.fields else None

    def field(self, set_name: str) -> ReceptiveField:
        return dict(self.fields)[set_name]

    def with_field(self, field: ReceptiveField) -> Module:
        """The same layer over other windows."""
        return replace(self, fields=tuple((name, field) for name, _ in self.fields))
