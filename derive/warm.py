"""Imported by a process that others are forked from: one small card is solved, so what each card needs is there."""

from contextlib import suppress

from derive.card import Card
from derive.collection import freeze
from derive.errors import DeriveError
from derive.render import render
from derive.solve import solve

_CARD = r"""---
id: warm
---
# Question
Consider the ReLU layer $y_k = \max(0, x_k)$. Derive its backward message.
"""

with suppress(DeriveError):
    render(solve(Card.parse(_CARD)), "md")
freeze()
