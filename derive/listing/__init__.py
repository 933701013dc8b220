"""A layer in code: NumPy functions of its forward value and its messages, from its formulas, executed before use."""

from __future__ import annotations

from dataclasses import dataclass

from derive.calculus.results import Messages
from derive.errors import UnsupportedError
from derive.listing import all_windows, arrays, gathered, layer, loops, one_window
from derive.listing.layout import module_source
from derive.listing.run import Trial, executed
from derive.listing.windows import Windowed
from derive.window_axis import WindowAxis


@dataclass(frozen=True)
class Listed:
    """A listing that agreed with the derivation; ``style``: loops or arrays."""

    style: str
    source: str
    trial: Trial


def listings(messages: Messages) -> tuple[tuple[Listed, ...], str]:
    """The layer in plain loops and in array operations, each executed, and why one is missing.

    Raises :class:`derive.errors.VerificationError` where a listing does not give what the formulas give.
    """
    found: list[Listed] = []
    reason = ""
    for style in ("loops", "arrays"):
        try:
            source = module_source(_functions(messages, style))
            trial = executed(source, messages)
        except UnsupportedError as error:
            reason = str(error)
            continue
        if source not in [f.source for f in found]:
            found.append(Listed(style, source, trial))
    return tuple(found), reason


def _functions(messages: Messages, style: str) -> str:
    if messages.module.receptive_field is not None or _whole(messages):
        windowed = Windowed(messages)
        if style == "loops" or not windowed.axes:
            return one_window.functions(windowed)
        alike = all(isinstance(a, WindowAxis) for a in windowed.axes)
        return (all_windows if alike else gathered).functions(windowed)
    return layer.functions(messages, (loops if style == "loops" else arrays).lines)


def _whole(messages: Messages) -> bool:
    """One maximum over several indices of the whole input: a window without neighbours."""
    return any(len(arg.binder.variables) > 1 for arg, _ in messages.star_definitions.values())
