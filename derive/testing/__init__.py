"""Symbolic verification inside other people's tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from derive.card import Card
from derive.compose.story import whole
from derive.module import Module
from derive.solve import Solution, solve
from derive.testing import layers, windows

__all__ = ["assert_backward", "assert_equation"]


def assert_backward(function: Callable[..., Any], layer: str | Path | Module, *, wrt: str | None = None,
                    tolerance: float = 1e-9, **options: Any) -> None:
    """``function(upstream, x)`` is the backward message of the layer, ties included.

    ``function`` takes and returns float64 arrays.  ``layer`` is a name of the catalogue
    with its ``options`` (kernel_size, stride, padding, tie_rule "first" unless given), a
    module, or the path of a card.  ``wrt`` names the letter whose message it is: the first
    input unless given.  A layer of several letters calls ``function(upstream, x=…, W=…, …)``.
    Raises AssertionError with the smallest input found at which the two differ, both
    values, and the likely mistake.
    """
    solution = solve(_module(layer, options))
    if whole(solution.messages) is None:
        layers.assert_message(function, solution, wrt or solution.module.inputs[0], tolerance)
        return
    for arrays in windows.trials(solution):
        if windows.differs(function, solution, arrays, tolerance) is not None:
            arrays = windows.smaller(arrays, lambda a: windows.differs(function, solution, a, tolerance) is not None)
            raise AssertionError(windows.explain(function, solution, arrays, tolerance))


def assert_equation(latex: str, layer: str | Path | Module | Solution, **options: Any) -> None:
    """The printed equation holds for the layer: read from its LaTeX, checked at every kind of point.

    Raises AssertionError with the smallest input found at which its sides differ, both
    values and the likely mistake, and :class:`derive.CardError` where it cannot be read.
    """
    from derive.verify import equation

    solution = layer if isinstance(layer, Solution) else solve(_module(layer, options))
    message = equation.refutation(latex, solution.messages)
    if message is not None:
        raise AssertionError(message)


def _module(layer: str | Path | Module, options: Mapping[str, Any]) -> Module:
    """A module as it is, the module of a card, or a layer of the catalogue."""
    if isinstance(layer, Module):
        return layer
    if isinstance(layer, Path) or layer.endswith(".md"):
        from derive.question import module_of

        return module_of(Card.read(layer))
    from derive.layers import layer as named

    return named(layer, **options)
