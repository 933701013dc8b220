"""Derivatives that are asked for and 0 whatever the letters are: then a formula was read that computes nothing."""

from __future__ import annotations

from derive.calculus.messages import Messages
from derive.errors import CardError, Problem
from derive.expr import ZERO, Entry
from derive.notation import write


def refuse_nothing(messages: Messages) -> None:
    """Raise :class:`CardError` where ∂L/∂β = 0 is asked for: of y = xβ + ε and L = (y − xβ)², y is data."""
    module = messages.module
    for asked in module.wanted if len(module.equations) > 1 else ():  # not of 0 x²
        if not isinstance(asked.wrt, Entry) or asked.wrt.tensor not in module.given:
            continue
        inner = asked.of.tensor if isinstance(asked.of, Entry) and asked.of.tensor in module.defined else None
        if messages.jacobian(asked.wrt.tensor, None if inner == module.output else inner).after is ZERO:
            said = write(asked, module.table, display=False)
            raise CardError(Problem(f"`{said}` is 0 whatever the letters are, since the formulas cancel: does one of "
                                    "them only tell where data come from? Leave it out, or give what it defines "
                                    "another letter", key="forward"))
