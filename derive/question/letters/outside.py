"""Zeros outside that words tell: «where $x_{ij}$ outside of the image counts as zero»."""

from __future__ import annotations

from collections.abc import Iterator

import derive.expr as ex
from derive.axes import Slot
from derive.notation.formulas import Formula
from derive.notation.pieces import running
from derive.notation.rules.kinds import Said, is_bounded
from derive.notation.rules.trees import statements
from derive.notation.symbols import Kind, SymbolTable
from derive.notation.tree import names_in
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token, asks, in_english, sentences
from derive.question.words.prose import Prose
from derive.specify.zeros import Inside, Nodes, outside

_OUTSIDE, _ZERO = words_of("en", "OUTSIDE"), words_of("en", "IS_ZERO")


def told_outside(prose: Prose) -> Iterator[Sentence]:
    """The clauses that say that something outside is zero: up to the signs and the equations around."""
    for tokens in sentences(prose) if in_english(prose.text) else ():
        for n, token in enumerate(tokens) if not asks(tokens) else ():
            of = tokens[n + 1] if n + 1 < len(tokens) else None
            other = token.text == "other" and of is not None and bool(of.formulas) and of.said is Said.LETTERS
            end = token.text in ("for", "if") and of is not None and bool(of.formulas) and _is_one_end(of.formula)
            if token.text not in _OUTSIDE and not other and not end:  # «0 for any other $t$», «zero for $n < 0$»
                continue
            ends = [m for m, t in enumerate(tokens) if t.kind == "sign" or t.equates]
            first = max((m + 1 for m in ends if m < n), default=0)
            clause = tokens[first : min((m for m in ends if m > n), default=len(tokens))]
            said = any(t.text in _ZERO or t.text == "0" for t in clause)
            if said and (not end or all(map(_is_range, clause))) or not end and any(map(_sets_zero, clause)):
                yield clause


def _is_range(token: Token) -> bool:
    """It is no formula, or names letters, or says where something runs: not s ≠ 3."""
    return not token.formulas or bool(token.letters) or all(
        is_bounded(f.tree or ()) or _is_one_end(f) or len(f.tree or ()) == 1 for f in token.formulas)


def _is_one_end(formula: Formula) -> bool:
    """n < 0: one side of what runs."""
    found = [r for r in running(formula.tree or ()) if len(r.ends) == 1]
    return bool(found) and len(statements(formula.tree or ())) == 1


def _sets_zero(token: Token) -> bool:
    return bool(token.formulas) and token.sets and token.formula.latex.rstrip(" .,").endswith("0")


def zeros_told(prose: Prose, table: SymbolTable, nodes: Nodes) -> tuple[dict[Slot, Inside], tuple[Formula, ...]]:
    """The axes of the tensor that is zero outside, each with its range, and the formulas «$x_{ij} = 0$» of the words.

    The range is that of the index by which the card counts the axis; where it states none, nothing is said here.
    """
    ranges = dict(_ranges(nodes))
    found: dict[Slot, Inside] = {}
    said: list[Formula] = []
    for tokens in told_outside(prose):
        formulas = [f for t in tokens for f in t.formulas]
        letters = {name for f in formulas for name in names_in(f.tree or ())}
        named = [s for s in table.of_kind(Kind.TENSOR) if s.name in letters and s.axes]
        if len(named) != 1:
            continue
        mentioned = [e.indices for _, e in nodes if isinstance(e, ex.Entry) and e.tensor == named[0].name]
        ends = [c for f, node in nodes if f in formulas for c in ex.conditions(node)]
        axes = [*mentioned, tuple(map(ex.Idx, named[0].axes))]  # $x_{ij}$ by itself says by what it is counted
        own = {(named[0].name, d): ranges[i.name] for indices in reversed(axes) for d, i in enumerate(indices)
               if isinstance(i, ex.Idx) and i.name in ranges}
        own |= {(named[0].name, d): inside for indices in reversed(axes) for d, i in enumerate(indices)
                if isinstance(i, ex.Idx) and (inside := outside(i, ends)) is not None}
        found |= own
        said += [t.formula for t in tokens if own and t.formulas and t.sets]
    return found, tuple(said)


def _ranges(nodes: Nodes) -> Iterator[tuple[str, Inside]]:
    """0 ≤ m < H and m = 0, …, H − 1, by the index."""
    for _, node in nodes:
        for part in node.conds if isinstance(node, ex.And) else (node,):
            match part:
                case ex.Rel((ex.Expr() as low, ex.Idx(name=name), ex.Expr() as high), ("≤", "≤" | "<" as op)):
                    yield name, Inside(low, high if op == "≤" else ex.add(high, ex.MINUS_ONE))
