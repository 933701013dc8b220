"""The layer that a card's front matter names and none of its formulas computes: the catalogue's formulas."""

from __future__ import annotations

from typing import Any

from derive.card import Card
from derive.errors import CardError, Problem
from derive.layers import compose, find
from derive.layers.catalogue import Layer
from derive.layers.chain import Part
from derive.notation.formulas import Formula
from derive.notation.symbols import name_of
from derive.question.naming import Mention

_SAID = {"inputs": "input", "parameters": "trainable", "constants": "fixed"}


def keyed(card: Card, computes: bool) -> tuple[list[Formula], list[Mention]]:
    """The formulas of ``layer: prelu``, and what their letters are; nothing where no such layer is named.

    Raises :class:`CardError` where formulas of the card compute something beside it.
    """
    if "layer" not in card.front_matter:
        return [], []
    name, line = str(card.front_matter["layer"]), card.key_line("layer") or 1
    spec = find(name)
    if not isinstance(spec, Layer):
        return [], []
    if computes:
        raise CardError(Problem(f"`layer: {name}` stands beside formulas that compute something; leave one of them out",
                                card.path, line))
    options: dict[str, Any] = {key: card.front_matter[key] for key in spec.options if key in card.front_matter}
    found = compose([Part(spec.name, (), options)])
    latexes = (*found.formulas, *found.ranges, *found.facts, *found.shapes)
    written = [Formula(latex, card.question_line, 0, False) for latex in latexes]
    said = [Mention((name_of(letter),), what, "", f"line {line}: `layer: {name}`", written[0])
            for role, what in _SAID.items() for letter in getattr(found, role)]
    return written, said
