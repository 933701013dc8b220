"""What a formula is, before any word or letter is looked at."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.rules.lists import collected


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
    return Said.UNREADABLE if not formula.tree else _kind_of(formula.tree)


@lru_cache(maxsize=1024)
def _kind_of(tree: trees.Run) -> Said:
    if any(tr.has(run, "ARROW") for run in (tree, *(i.items for i in tree if isinstance(i, tr.Env)))):
        return Said.UPDATE
    if is_derived(tree):
        return Said.GRADIENT if _equates(tree) else Said.DERIVATIVE
    if collected(tree) and not tr.has(tree, "IN"):
        return Said.NAMES
    if is_declaration(tree):
        return Said.DECLARATION
    parts = [trees.sides(part) for part in trees.statements(tree)]
    if is_range(tree) and tr.has(tree, "REL", "IN", "RANGE") and not _computes(parts[0]):
        return Said.RANGE
    first = next((p for p in parts if len(p) > 1), None)
    if first is None or not first[0]:
        letters = all(len(p) == 1 and tr.is_token(tr.base_of(p[0]), "NAME", "DOTS") for p in trees.statements(tree))
        return Said.LETTERS if letters else Said.FACT if tr.has(tree, "REL", "IN", "RANGE") else Said.VALUE
    if first[1] and tr.is_group(tr.base_of(first[1][0]), "LSET"):
        return Said.SET
    own = trees.called(first[0], 0) if len(first[0]) == 2 and trees.letter(first[0][0]) else None
    return Said.FUNCTION if own is not None else Said.DEFINITION


def _computes(two: list[trees.Run]) -> bool:
    """y = W x: made of letters as a range may be, but no number, list or chain of bounds."""
    return len(two) > 1 and any(True for _ in tr.names_in(two[-1])) and not any(
        tr.has(run, "DOTS", "RANGE", "COMMA") for run in two)


def equates(formula: Formula) -> bool:
    """Whether an equality sign stands in the formula, outside scripts and brackets."""
    return "=" in formula.latex if formula.tree is None else _equates(formula.tree)


def _equates(tree: trees.Run) -> bool:
    return any(len(trees.sides(part)) > 1 or tr.has(part, "RANGE") for part in trees.statements(tree))


def entry_set(tree: trees.Run) -> str | None:
    """The number that the formula gives an entry: 1 of x_1 = 1."""
    parts = trees.statements(tree)
    return str(trees.sides(parts[0])[1][0]) if is_case(tree) and isinstance(parts[0][0], tr.Scripted) else None


def is_case(tree: trees.Run) -> bool:
    """γ = 0, x_1 = 1: one side is a letter, the other a number."""
    parts = trees.statements(tree)
    runs = trees.sides(parts[0]) if len(parts) == 1 else []
    return len(runs) == 2 and len(runs[0]) == 1 and len(runs[1]) == 1 and tr.is_token(runs[1][0], "NUMBER")


def is_derived(tree: tr.Items) -> bool:
    r"""∂, ∇ or d/dx stands in it."""
    items = [item for top in tree for item in tr.inside(top)]
    above = [tr.unwrap(i.arguments[0]) for i in items if isinstance(i, tr.Command) and i.type == "FRAC"]
    return tr.has(items, "PARTIAL", "NABLA") or any(str(run[0]) == "d" for run in above if run)


def is_declaration(tree: tr.Items) -> bool:
    r"""x \in \mathbb{R}^n, and no equation beside it."""
    spaces = any(tr.is_token(item, "IN") and n + 1 < len(tree) and str(tr.base_of(tree[n + 1])).endswith("_bb")
                 for n, item in enumerate(tree))
    return spaces and not any(tr.is_token(item, "REL") and item.text == "=" for item in tree)


_OF_RANGES = "NAME NUMBER REL IN DOTS RANGE COMMA SEMI COLON PLUS MINUS FORALL QUAD".split()


def is_range(tree: tr.Items) -> bool:
    """What may stand apart from an equation without changing it: 0 ≤ k, l < n or k, l ∈ {1, …, n}."""
    return all(tr.has((item,), *_OF_RANGES) or (tr.is_group(item, "LSET") and is_range(item.items))
               or vocabulary.opens_range(item) for item in tree)


def is_bounded(tree: tr.Items) -> bool:
    """A range with both its ends."""
    signs = sum(tr.is_token(item, "REL") and item.text in ("<", "≤") for item in tree)
    return signs > 1 or any(tr.has(run, "IN", "DOTS", "RANGE") for run in trees.all_runs(tree))
