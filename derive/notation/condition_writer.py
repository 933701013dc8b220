"""Relations, conditions and cases on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from derive.expr import And, Cases, Entry, Fn, Given, Idx, Iff, Node, Otherwise, Rel, free_indices
from derive.notation.symbols import Kind

if TYPE_CHECKING:
    from derive.notation.writer import Writer

RELATIONS = {"=": "=", "≠": r"\ne", "<": "<", "≤": r"\le", ">": ">", "≥": r"\ge"}


def cases(w: Writer, node: Cases) -> str:
    rows = []
    w = replace(w, tight=True)
    for value, cond in node.branches:
        test = r"\text{otherwise}" if isinstance(cond, Otherwise) else rf"\text{{if }} {w.write(cond)}"
        rows.append(f"{w.write(value)} & {test}")
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def relation(w: Writer, node: Rel) -> str:
    first = node.terms[0]
    if isinstance(first, Fn) and (names := _parameters(w, first)):
        w = replace(w, local=names)  # σ(s) = …
    out = w.write(first)
    for op, term in zip(node.ops, node.terms[1:], strict=True):
        out += f" {RELATIONS[op]} {w.write(term)}"
    return out


def _defines(cond: Node) -> bool:
    return isinstance(cond, Rel) and set(cond.ops) == {"="} and isinstance(cond.terms[0], (Entry, Fn))


def _parameters(w: Writer, node: Fn) -> frozenset[str]:
    """s of σ(s), where σ is a function that the card defines."""
    known = w.table.named(node.name.rstrip("'"))
    names = [a.tensor for a in node.args if isinstance(a, Entry) and not a.indices and known is not None and (
        a.tensor in known.axes or w.table.named(a.tensor) is None)]
    of_card = known is not None and known.kind is Kind.FUNCTION and len(names) == len(node.args)
    return frozenset(names) if of_card else frozenset()


def conjunction(w: Writer, node: And) -> str:
    out = ""
    apart = not w.names and not w.tight and all(map(_defines, node.conds))  # each has indices of its own
    for n, cond in enumerate(node.conds):
        own = replace(w, taken=frozenset(i.name for i in free_indices(cond))) if apart else w
        shown = w.round(own.write(cond)) if isinstance(cond, (And, Iff, Given)) else own.write(cond)
        gap = r",\ " if w.tight or w.in_index else r",\quad "
        joint = "" if n == 0 else r" \land " if _shares_bounds(node.conds[n - 1], cond) else gap
        out += joint + shown
    return out


def _shares_bounds(first: Node, second: Node) -> bool:
    """``0 \\le i,\\ j < n`` would read as bounds of both."""
    return (isinstance(first, Rel) and isinstance(second, Rel) and len(first.ops) == len(second.ops) == 1
            and isinstance(first.terms[1], Idx) and isinstance(second.terms[0], Idx))


def given(w: Writer, node: Given) -> str:
    return rf"{w.write(node.claim)} \quad \text{{if }} {replace(w, tight=True).write(node.cond)}"
