"""Formulas that a question claims, hints at or updates by: they do not say what the layer computes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from derive.expr import Entry, Node, Num, Rel
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.question.lexicon import named
from derive.question.prose import Prose
from derive.specify.definitions import statements

_CONDITION = re.compile(r"\b(?:at|when|whenever|where|if|unless|once|points?|places?|kde|pokud|když)\s+$")


def is_claimed(formula: Formula, prose: Prose) -> bool:
    """The sentence in which the formula stands asks to show it, recalls it or speaks of an update."""
    if formula.line < prose.plain.first_line:
        return False  # it stands in the front matter
    at = bisect_left(prose.plain.origin, prose.plain.place(formula) - 2)
    before = re.split(r"[.?!;]\s", prose.text[:at].rstrip("¶ "))[-1]
    return bool(named(before, "claim.shown"))


def computes_nothing(formula: Formula) -> bool:
    r"""An update w \leftarrow w − η ∂ℓ/∂w, or an equation between derivatives."""
    return kind_of(formula) in (Said.UPDATE, Said.DERIVATIVE, Said.GRADIENT)


def without_claims(nodes: Iterable[tuple[Formula, Node]], prose: Prose) -> tuple[tuple[Formula, Node], ...]:
    """The statements without those that are claimed of a letter which another formula defines."""
    nodes = tuple(nodes)
    heads = [_heads(node) for _, node in nodes]
    claimed = [bool(head) and (is_claimed(formula, prose) or _is_condition(formula, node, prose))
               for (formula, node), head in zip(nodes, heads, strict=True)]
    given = {name for (_, node), claim in zip(nodes, claimed, strict=True) if not claim
             for name in _heads(node, numbers=False)}
    return tuple(item for item, head, claim in zip(nodes, heads, claimed, strict=True) if not claim or not head & given)


def _is_condition(formula: Formula, node: Node, prose: Prose) -> bool:
    """«where $y_n = t_n$», «at $s = 0$»: of two letters, or a letter and a number, behind such a word."""
    if formula.display or not all(isinstance(claim.terms[-1], (Entry, Num)) for claim in statements(node)
                                  if isinstance(claim, Rel)):
        return False
    gap = next((g for g in prose.gaps if g.formula == formula), None)
    return gap is not None and _CONDITION.search(prose.text, 0, gap.start) is not None


def _heads(node: Node, numbers: bool = True) -> set[str]:
    """The letters that equations of the formula begin with, also those that give a number, y = 1."""
    firsts = [claim.terms[0] for claim in statements(node) if isinstance(claim, Rel) and set(claim.ops) == {"="}
              and (numbers or not isinstance(claim.terms[-1], Num))]
    return {first.tensor for first in firsts if isinstance(first, Entry)}
