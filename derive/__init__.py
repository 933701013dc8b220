"""Symbolic derivation and verified exam solutions for neural-network layers.

    card = derive.Card.read("cards/max_pooling_backward.md")
    solution = derive.solve(card)
    print(derive.render(solution, "md"))
"""

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
