"""What a question states of its letters: Σ_i t_i = 1, t ∈ {0, 1}, ε > 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

import derive.expr as ex
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
             table: SymbolTable) -> tuple[ex.Rel | ex.In, ...]:
    """The facts about letters that are given, each once, in a form from which samples can be drawn."""
    facts: dict[ex.Node, None] = {}
    values = [*(d.value for d in found.tensors.values()), *(f.body for f, _ in found.functions.values())]
    branching = {n.tensor for value in values for part in ex.walk(value) if isinstance(part, (ex.Cases, ex.Extremum))
                 for n in ex.walk(part) if isinstance(n, ex.Entry)}
    claims = (c for c, formula in found.facts if not _is_case(c, formula, branching, prose))
    facts |= dict.fromkeys(facts_given(claims, given))
    for mention in named:
        for fact in _in_words(mention, given, table):
            facts.setdefault(fact, None)
    return tuple(f for f in facts if isinstance(f, (ex.Rel, ex.In)))


def _is_case(claim: ex.Rel | ex.In, formula: Formula, branching: set[str], prose: Prose) -> bool:
    """«Express the derivative for $x \\le 0$ by f»: a branch of what is computed of x, not a fact."""
    letters = {n.tensor for n in ex.walk(claim) if isinstance(n, ex.Entry)}
    if formula.display or not letters & branching:
        return False
    here = (gap.start for gap in prose.gaps if (gap.formula.line, gap.formula.column) == (formula.line, formula.column))
    return any(_FOR.search(prose.text, 0, start) and not _DESCRIBED.match(prose.text, start + 1) for start in here)


def _in_words(mention: Mention, given: tuple[str, ...], table: SymbolTable) -> Iterator[ex.Rel | ex.In]:
    text = f"{mention.before} {mention.after}"
    for name in mention.letters:
        symbol = table.named(name)
        if name not in given or symbol is None:
            continue
        entry = ex.Entry(name, tuple(map(ex.Idx, symbol.axes)))
        hot, simplex = named(text, "fact.one_hot"), named(text, "fact.simplex")
        if (hot or simplex) and len(entry.indices) == 1:
            variable = entry.indices[0]
            assert isinstance(variable, ex.Idx)
            yield ex.rel(ex.Reduce("sum", ex.Binder((variable,), (None,), (None,), None), entry), "=", ex.Num(1))
        if hot and entry.indices:
            yield ex.In(entry, ex.Listed((ex.Num(0), ex.Num(1))))
        if not entry.indices and named(text, "fact.positive"):
            yield ex.rel(entry, ">", ex.Num(0))
