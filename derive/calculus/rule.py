"""What a differentiation rule is: ∂of/∂wrt for one form of ``of``, from smaller derivatives."""

from __future__ import annotations

from typing import ClassVar, Protocol

from derive.calculus.extremum import letters
from derive.expr import Entry, Expr, Idx, Reduce, free_indices
from derive.module import Function, Module


class Derivatives(Protocol):
    """The derivatives that a rule builds on."""

    def __call__(self, of: Expr) -> Expr:
        """∂of/∂x of a smaller expression, with respect to the same entry."""

    def entry(self, of: Entry, wrt: Entry, held: bool) -> Expr:
        """∂of/∂wrt of one tensor by another, simplified; ``held``: all other tensors constant."""

    def slope(self, function: Function, place: int) -> Expr:
        """The derivative of a card's function by one of its parameters, in its parameters."""


class Rule(Protocol):
    """∂of/∂wrt for one form of ``of``."""

    name: ClassVar[str]

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool: ...

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr: ...


def bound(of: Reduce, wrt: Entry, module: Module) -> tuple[Idx, ...]:
    """Readable letters for the bound variables of a reduction, none of them free around it."""
    return letters(of, module, free_indices(of) | free_indices(wrt))
