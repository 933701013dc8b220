"""What a formula is, before any word or letter is looked at."""

from __future__ import annotations

from enum import StrEnum

from derive.notation import vocabulary
from derive.notation.formulas import Formula
from derive.notation.rules.lists import collected
from derive.notation.rules.trees import all_runs, called, letter, sides, statements
from derive.notation.tree import Item, Items, base_of, has, inside, is_group, is_token, unwrap


class Said(StrEnum):
    """What a formula says."""

    UNREADABLE = "unreadable"  # its tokens do not fit together
    LETTERS = "letters"  # W, b: named, and nothing more
    NAMES = "name of several"  # θ = (W, b)
    SET = "set"  # D = {(x_n, t_n)}
    DECLARATION = "declaration"  # x ∈ R^n
    RANGE = "range"  # 0 ≤ k < n; k = 1, …, K
    UPDATE = "update"  # w ← w − η g
    DERIVATIVE = "derivative"  # ∂y/∂x: asked for
    GRADIENT = "derivative given"  # ∂y/∂x = …
    FUNCTION = "function"  # σ(s) = …
    DEFINITION = "definition"  # y_k = …
    FACT = "fact"  # ε > 0
    VALUE = "value"  # (y − t)^2


def kind_of(formula: Formula) -> Said:
    """What the formula is; the first statement decides where several stand in it."""
    tree = formula.tree
    if not tree:
        return Said.UNREADABLE
    if any(has(run, "ARROW") for run in all_runs(tree)):
        return Said.UPDATE
    if is_derived(tree):
        return Said.GRADIENT if equates(formula) else Said.DERIVATIVE
    if collected(tree):
        return Said.NAMES
    if is_declaration(tree):
        return Said.DECLARATION
    if is_range(tree) and (has(tree, "REL", "IN")):
        return Said.RANGE
    parts = [sides(part) for part in statements(tree)]
    first = next((p for p in parts if len(p) > 1), None)
    if first is None or not first[0]:
        letters = all(len(part) == 1 and is_token(base_of(part[0]), "NAME", "DOTS") for part in statements(tree))
        return Said.LETTERS if letters else Said.FACT if has(tree, "REL", "IN") else Said.VALUE
    if first[1] and is_group(base_of(first[1][0]), "LSET"):
        return Said.SET
    own = called(first[0], 0) if len(first[0]) == 2 and letter(first[0][0]) else None
    return Said.FUNCTION if own is not None else Said.DEFINITION


def equates(formula: Formula) -> bool:
    """Whether an equality sign stands in the formula, outside scripts and brackets."""
    if formula.tree is None:
        return "=" in formula.latex
    return any(len(sides(part)) > 1 for part in statements(formula.tree))


def is_derived(tree: Items) -> bool:
    r"""∂, ∇ or d/dx stands in it."""
    for top in tree:
        for item in inside(top):
            fraction = not is_token(item) and getattr(item, "type", "") == "FRAC"
            if is_token(item, "PARTIAL", "NABLA"):
                return True
            if fraction and (above := unwrap(item.arguments[0])) and str(above[0]) == "d":  # type: ignore[union-attr]
                return True
    return False


def is_declaration(tree: Items) -> bool:
    r"""x \in \mathbb{R}^n, and no equation beside it."""
    spaces = any(is_token(item, "IN") and n + 1 < len(tree) and str(base_of(tree[n + 1])).endswith("_bb")
                 for n, item in enumerate(tree))
    return spaces and not any(is_token(item, "REL") and item.text == "=" for item in tree)


_OF_RANGES = ("NAME", "NUMBER", "REL", "IN", "DOTS", "COMMA", "SEMI", "COLON", "PLUS", "MINUS", "FORALL", "QUAD")


def is_range(tree: Items) -> bool:
    """What may stand apart from an equation without changing it: 0 ≤ k, l < n or k, l ∈ {1, …, n}."""
    return all(is_token(item, *_OF_RANGES) or (is_group(item, "LSET") and is_range(item.items))
               or opens_range(item) for item in tree)


def opens_range(item: Item) -> bool:
    """«for», «for all», «with», «where»: a range may follow; never «if»."""
    return vocabulary.kind(item) == "ALL" or (is_token(item, "TEXT") and vocabulary.plain(item.text) in (
        "for", "with", "where", "pro", "kde"))


def is_bounded(tree: Items) -> bool:
    """A range with both its ends."""
    signs = sum(is_token(item, "REL") and item.text in ("<", "≤") for item in tree)
    return signs > 1 or has(tree, "IN") or any(has(run, "DOTS") for run in all_runs(tree))
