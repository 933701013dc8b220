"""Card or module in, solution out: derive, compose, verify."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.card import Card
from derive.errors import CardError, UnsupportedError
from derive.expr import Entry, Expr, Partial
from derive.module import Module
from derive.sheet import Sheet
from derive.verify.report import Report

if TYPE_CHECKING:
    import sympy

    from derive.compose.sheet import Derived


@dataclass(frozen=True)
class Solution:
    """The derived messages of a layer, their sheet, and the report on every printed equation.

    Arrays are passed by the names of ``module.inputs``; see :func:`derive.solve.solve`.
    """

    card: Card | None
    module: Module
    sheet: Sheet
    report: Report
    derived_: Derived

    @property
    def derived(self) -> str:
        """What was derived, in a word or two each: ``∂f_kl/∂x_ij, δ_x``."""
        entry, wrt = self.derived_.output, self.derived_.source
        names = ["".join((e.tensor, "_", *(getattr(i, "name", "") for i in e.indices))) for e in (entry, wrt)]
        return f"∂{names[0]}/∂{names[1]}" + (f", δ_{wrt.tensor}" if "vjp" in self.module.asked else "")

    def forward(self, **arrays: Any) -> Any:
        """y = F(x): float64 arrays of any size; leading axes beyond the layer's own are batch axes."""
        from derive.numeric.functions import forward

        return forward(self.module, arrays)

    def jacobian(self, wrt: str, *, sparse: bool = False, **arrays: Any) -> Any:
        """∂y/∂x, the derived formula evaluated: output axes, then input axes (no batch axes).

        ``sparse``: (output indices, input indices, values) of the non-zero entries.
        """
        from derive.numeric.functions import jacobian

        self._known(wrt)
        before, after = self.derived_.jacobian.before, self.derived_.jacobian.after
        assert isinstance(before, Partial) and isinstance(after, Expr)
        return jacobian(self.module, (before, after), wrt, arrays, sparse, self.derived_.star_definitions)

    def backward(self, wrt: str, *, upstream: Any, **arrays: Any) -> Any:
        """δ_x = Jᵀ δ_y, the derived formula evaluated; batch axes as in :meth:`forward`."""
        from derive.numeric.functions import backward

        self._known(wrt)
        step = self.derived_.message.last("covering")
        assert isinstance(step.before, Entry) and isinstance(step.after, Expr)
        return backward(self.module, (step.before, step.after), wrt, upstream, arrays, self.derived_.star_definitions)

    def window(self) -> sympy.Expr:
        """One whole window as a SymPy Max (or Min) of z_1, …, z_n."""
        from derive.symbolic.window import window_max

        return window_max(self.module)[1]

    def cases(self) -> sympy.Piecewise:
        """The cases of one window: (entry, open region where it is the extreme one)."""
        from derive.symbolic.window import cases

        return cases(self.module)

    def symbolic_jacobian(self, input_size: tuple[int, ...]) -> list[tuple[Any, Any, sympy.Expr]]:
        """(output index, input index, SymPy expression) of every non-zero entry at a size."""
        from derive.symbolic.instance import symbolic_jacobian

        return symbolic_jacobian(self.module, tuple(input_size))

    def _known(self, wrt: str) -> None:
        if wrt not in self.module.inputs:
            names = ", ".join(f"`{name}`" for name in self.module.inputs)
            raise CardError(f"`{wrt}` is no input of this layer; its inputs are {names}")


def solve(card: Card | Module | str | Path, *, tie_rule: str | None = None) -> Solution:
    """Derive, compose and verify the solution of a card, a path to one, or a module.

    ``tie_rule`` overrides the card's.  Raises :class:`derive.errors.DeriveError` with
    the command's own message; a refuted equation shows in ``solution.report``.
    """
    read: Card | None = None
    if isinstance(card, Module):
        module = card
    else:
        from derive.question import module_of

        read = card if isinstance(card, Card) else Card.read(card)
        module = module_of(read)
    if tie_rule is not None:
        from derive.layers import check_tie_rule

        check_tie_rule(tie_rule)
        module = replace(module, tie_rule=tie_rule)
    _covered(module)
    from derive.compose import compose, with_checks
    from derive.verify.sheet import Subject, verify

    sheet, derived = compose(module)
    subject = Subject(derived.sized, derived.window, derived.jacobian, derived.message, derived.tables)
    report = verify(sheet, subject)
    return Solution(read, module, with_checks(sheet, report, derived), report, derived)


def _covered(module: Module) -> None:
    """Raise :class:`UnsupportedError` where a window can lie wholly in padding: it has no largest entry."""
    field = module.receptive_field
    for axis in field.axes if field is not None else ():
        if axis.padding >= axis.kernel_size:
            raise UnsupportedError(
                f"padding {axis.padding} is not smaller than kernel_size {axis.kernel_size}: some windows would lie"
                " wholly in padding, which is not covered yet"
            )
