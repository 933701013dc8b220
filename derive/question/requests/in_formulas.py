"""Derivatives that the formulas of a request write, and those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable

from derive.errors import CardError, DeriveError, Problem
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates
from derive.notation.tree import Scripted, is_derivative, is_torn_derivative
from derive.question.requests.second import twice


def refuse_torn(formulas: Iterable[Formula]) -> None:
    """Raise :class:`CardError` for half a derivative, which would be left out of what is asked."""
    for formula in formulas:
        if formula.tree and is_torn_derivative(formula.tree) and not equates(formula) and not twice(formula):
            raise CardError(Problem(f"`{formula.latex.strip()}`: a part of a derivative; write "
                                    r"`\frac{\partial y}{\partial x}`", line=formula.line, key="derive"))


def refuse_derivative(formula: Formula, error: DeriveError) -> None:
    """Raise where a formula that could not be read is a first derivative."""
    if formula.tree and is_derivative(formula.tree[0]) and not equates(formula) and not twice(formula):
        raise error


def is_primed(formula: Formula) -> bool:
    """$f'$ or $f'(x)$."""
    first = (formula.tree or (None,))[0]
    return isinstance(first, Scripted) and first.primes > 0 and len(formula.tree or ()) <= 2


def derived(formula: Formula) -> bool:
    r"""$\nabla f$, $f'$ or $f'(x)$."""
    return is_primed(formula) or formula.latex.lstrip().startswith(r"\nabla")
