"""At which entry a derivative is asked for: ∂L/∂s_k «for $k = y$», ∂p_i/∂z_j «for $i = j$»; «with respect to $s_y$»."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from derive.errors import DeriveError
from derive.expr import Entry, Idx, Node, Num, Partial, Rel, subst, walk
from derive.notation import read_formula
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import is_derived
from derive.notation.symbols import SymbolTable
from derive.question.words.lexicon import named
from derive.question.words.prose import Gap, Prose

Read = tuple[Formula, Node]


def in_case(formula: Formula, derivative: Partial, nodes: Iterable[Read], prose: Prose) -> tuple[Partial, str]:
    """The derivative at the index that words behind it name, and what is said where they name all but one."""
    cases = [(gap, case) for gap, case in _cases(formula, nodes, prose) if case.terms[0] in _indices(derivative)]
    signs = {case.ops[0] for _, case in cases}
    if signs == {"="} and len(cases) == 1:
        return subst(derivative, {cases[0][1].terms[0]: cases[0][1].terms[1]}), ""
    if signs == {"≠"}:
        return derivative, _one_case(f"${cases[0][0].formula.latex.strip()}$", cases[0][0].formula.line)
    return (derivative, "") if cases else _in_words(formula, derivative, nodes, prose)


def _one_case(said: str, line: int) -> str:
    return f"{said} is one case of the formula, which holds in all (line {line})"


def _in_words(formula: Formula, derivative: Partial, nodes: Iterable[Read], prose: Prose) -> tuple[Partial, str]:
    """«∂L/∂s_k for the correct class», «for the wrong classes», where one letter is a label."""
    labels = {i for _, node in nodes for e in walk(node) if isinstance(e, Entry) for i in e.indices
              if isinstance(i, Entry) and not i.indices}
    own = [i for i in _indices(derivative) if isinstance(i, Idx)]
    gap = next((g for g in prose.gaps if (g.formula.line, g.formula.column) == (formula.line, formula.column)), None)
    if len(labels) != 1 or len(own) != 1 or gap is None:
        return derivative, ""
    stop = min([prose.sentence(gap.start)[1], *(g.start for g in prose.gaps if g.start > gap.start)])
    found = named(prose.text[gap.start + 1 : stop], "entry.right", "entry.wrong")
    if {span.concept for span in found} == {"entry.right"}:
        return subst(derivative, {own[0]: labels.pop()}), ""
    if found and all(span.of("entry.wrong") for span in found):
        start, stop = (gap.start + 1 + at for at in (found[0].start, found[0].stop))
        return derivative, _one_case(f"“{prose.plain.quote(start, stop)}”", gap.formula.line)
    return derivative, ""


def _indices(derivative: Partial) -> set[Node]:
    return {i for e in (derivative.of, derivative.wrt) if isinstance(e, Entry) for i in e.indices}


def _cases(formula: Formula, nodes: Iterable[Read], prose: Prose) -> Iterator[tuple[Gap, Rel]]:
    """«for the true class $k = y$», «when $i = j$» behind a derivative, up to the next one."""
    read = {(f.line, f.column): node for f, node in nodes}
    places = {(g.formula.line, g.formula.column): n for n, g in enumerate(prose.gaps)}
    at = places.get((formula.line, formula.column))
    own, behind = ((), ()) if at is None else (prose.gaps[at : at + 1], prose.gaps[at + 1 :])
    for before, gap in ((before, gap) for before in own for gap in behind):
        node, between = read.get((gap.formula.line, gap.formula.column)), prose.text[before.start + 1 : gap.start]
        if is_derived(gap.formula.tree or ()) or prose.sentence(gap.start) != prose.sentence(before.start):
            return
        match node:
            case Rel((Idx(), Idx() | Entry()), ("=" | "≠",)) if named(between, "slot.case"):
                yield gap, node


def entry_named(formula: Formula, table: SymbolTable) -> Entry | None:
    """s_y at a label, x_1: one entry of an array that has more."""
    with suppress(DeriveError):
        node = read_formula(formula, table)
        if isinstance(node, Entry) and any(isinstance(i, (Entry, Num)) for i in node.indices):
            return node
    return None
