"""Numbers that a question gives for letters: a slope or a stride is put in, the input x = 2 is a point and stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from derive.expr import Entry, Expr, Mul, Node, Size, mul, subst, transform, walk
from derive.notation.formulas import Formula
from derive.question.lexicon import named
from derive.question.prose import Prose
from derive.specify.layer import Computed
from derive.specify.roles import Role


def with_numbers(layer: Computed, roles: dict[str, Role], differentiated: Iterable[Expr],
                 prose: Prose) -> tuple[Computed, dict[str, Role], tuple[str, ...]]:
    """The definitions with the numbers of constants and strides, and what was put in; inputs and parameters stay."""
    asked = {e.tensor for e in differentiated if isinstance(e, Entry)}
    known: dict[Node, Node] = {}
    for name, (number, formula) in layer.found.numbers.items():
        if name not in layer.given:
            if not _is_point(formula, prose, of_size=True):
                known[Size(name)] = number
            continue
        role = roles[name]
        kept = name in asked or (role.said and role.role != "constants")
        if not kept and not _is_point(formula, prose):
            known[Entry(name, ())] = number
    gone = {e.tensor for e in known if isinstance(e, Entry)}
    used = tuple(replace(d, value=transform(subst(d.value, known), _number_first)) for d in layer.used)
    there = known.keys() & {node for d in layer.used for node in walk(d.value)}
    said = (f"the number of ${formula.latex.strip()}$ is put in (line {formula.line})"
            for name, (_, formula) in layer.found.numbers.items() if {Size(name), Entry(name, ())} & there)
    return (replace(layer, used=used, given=tuple(n for n in layer.given if n not in gone)),
            {n: role for n, role in roles.items() if n not in gone}, tuple(said))


def _is_point(formula: Formula, prose: Prose, of_size: bool = False) -> bool:
    """The sentence speaks of values at one point, or of a special case; of sizes the latter alone."""
    for gap in prose.gaps:
        whole = gap.formula
        if whole.line == formula.line and whole.column <= formula.column <= whole.column + len(whole.latex):
            start, stop = prose.sentence(gap.start)
            before, behind = prose.text[start : gap.start], prose.text[gap.start + 1 : stop]
            if of_size:
                if named(behind, "point.special"):
                    return True
            elif (_ends(before, "point.set") and _goes_on(behind)) or behind.endswith("?") or _ends(
                    before, "point.at") or named(prose.text[start:stop], "point.value", "point.special"):
                return True
    return False


def _ends(words: str, concept: str) -> bool:
    return any(span.stop == len(words.rstrip()) for span in named(words, concept))


def _goes_on(words: str) -> bool:
    """«with $T = 1$ it is the usual softmax», «with $p = 2$ we get the Euclidean norm»."""
    first = next(iter(named(words, "point.main", "between.article")), None)
    opens = first is not None and not words[: first.start].replace("and", "").strip(" ,∎")
    return first is not None and opens and (first.of("point.main") or bool(named(words, "point.is")))


def _number_first(node: Node) -> Node | None:
    """x_{2k+i} for x_{k2+i}."""
    def ordered(term: Node) -> Node | None:
        return mul(*term.factors) if isinstance(term, Mul) else None

    return Entry(node.tensor, tuple(transform(i, ordered) for i in node.indices)) if isinstance(node, Entry) else None
