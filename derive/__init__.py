"""Symbolic derivation and verified exam solutions for neural-network layers.

    card = derive.Card.read("cards/max_pooling_backward.md")
    solution = derive.solve(card)
    print(derive.render(solution, "md"))
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from derive.collection import no_collection

if TYPE_CHECKING:
    from derive.card import Card
    from derive.check import check
    from derive.errors import CardError, DeriveError, RenderError, UnsupportedError, VerificationError
    from derive.layers import layer
    from derive.layers.modules import compose
    from derive.module import Module
    from derive.render import render
    from derive.solve import Solution, solve
    from derive.statement import Statement

__all__ = [
    "Card", "CardError", "DeriveError", "Module", "RenderError", "Solution", "Statement", "UnsupportedError",
    "VerificationError", "check", "compose", "layer", "render", "solve",
]  # fmt: skip

_HOMES = {
    "card": ("Card",), "check": ("check",), "layers": ("layer",), "layers.modules": ("compose",),
    "errors": ("CardError", "DeriveError", "RenderError", "UnsupportedError", "VerificationError"),
    "module": ("Module",), "render": ("render",), "solve": ("Solution", "solve"), "statement": ("Statement",),
}  # fmt: skip


class _Package(ModuleType):
    """The names are imported when they are first asked for; ``solve`` is the function, not the file of that name."""


def _found(home: str, name: str) -> property:
    def get(_: ModuleType) -> Any:
        with no_collection(stays=True):  # classes and tables that stay: a collector's passes over them are waste
            return getattr(import_module(f"derive.{home}"), name)

    return property(get, lambda *_: None)  # importing a file sets its name here


for _home, _names in _HOMES.items():
    for _name in _names:
        setattr(_Package, _name, _found(_home, _name))
sys.modules[__name__].__class__ = _Package
