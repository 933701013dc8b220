"""What a process keeps, dropped, so that a mistake that a test plants is met."""

from __future__ import annotations

from derive.calculus import derivation, messages
from derive.verify import report


def forget_derivations() -> None:
    for kept in (messages.jacobian, messages.message, messages.stages, derivation._derivative):
        kept.cache_clear()


def forget_verdicts() -> None:
    report._passed.clear()
