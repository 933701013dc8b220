"""What a question states of its letters: Σ_i t_i = 1, t ∈ {0, 1}, ε > 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.expr import (
    Binder,
    Cases,
    Entry,
    Extremum,
    Idx,
    In,
    Listed,
    Node,
    Num,
    Reduce,
    Rel,
    rel,
    walk,
)
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.lexicon import named
from derive.question.naming import Mention
from derive.question.prose import Prose
from derive.specify.definitions import Definitions
from derive.specify.facts import facts_given

_FOR = re.compile(r"\b(?:for|when|if|case|at|where)\s*$")
_DESCRIBED = re.compile(r"\s+(?:is|are|denotes?|being|je|jsou|značí)\b")  # «where $δ > 0$ is a hyperparameter»


def facts_of(found: Definitions, prose: Prose, named: list[Mention], given: tuple[str, ...],
             table: SymbolTable) -> tuple[Rel | In, ...]:
    """The facts about letters that are given, each once, in a form from which samples can be drawn."""
    facts: dict[Node, None] = {}
    values = [*(d.value for d in found.tensors.values()), *(f.body for f, _ in found.functions.values())]
    branching = {n.tensor for value in values for part in walk(value) if isinstance(part, (Cases, Extremum))
                 for n in walk(part) if isinstance(n, Entry)}
    claims = (c for c, formula in found.facts if not _is_case(c, formula, branching, prose))
    facts |= dict.fromkeys(facts_given(claims, given))
    for mention in named:
        for fact in _in_words(mention, given, table):
            facts.setdefault(fact, None)
    return tuple(f for f in facts if isinstance(f, (Rel, In)))


def _is_case(claim: Rel | In, formula: Formula, branching: set[str], prose: Prose) -> bool:
    """«Express the derivative for $x \\le 0$ by f»: a branch of what is computed of x, not a fact."""
    letters = {n.tensor for n in walk(claim) if isinstance(n, Entry)}
    if formula.display or not letters & branching:
        return False
    here = (gap.start for gap in prose.gaps if (gap.formula.line, gap.formula.column) == (formula.line, formula.column))
    return any(_FOR.search(prose.text, 0, start) and not _DESCRIBED.match(prose.text, start + 1) for start in here)


def _in_words(mention: Mention, given: tuple[str, ...], table: SymbolTable) -> Iterator[Rel | In]:
    text = f"{mention.before} {mention.after}"
    for name in mention.letters:
        symbol = table.named(name)
        if name not in given or symbol is None:
            continue
        entry = Entry(name, tuple(map(Idx, symbol.axes)))
        hot, simplex = named(text, "fact.one_hot"), named(text, "fact.simplex")
        if (hot or simplex) and len(entry.indices) == 1:
            variable = entry.indices[0]
            assert isinstance(variable, Idx)
            yield rel(Reduce("sum", Binder((variable,), (None,), (None,), None), entry), "=", Num(1))
        if hot and entry.indices:
            yield In(entry, Listed((Num(0), Num(1))))
        if not entry.indices and named(text, "fact.positive"):
            yield rel(entry, ">", Num(0))
