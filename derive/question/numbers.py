"""Numbers that a question gives for letters: the slope a = 0.01 is put in, the input x = 2 is a point and stays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from derive.expr import Entry, Expr, Node, Size, subst
from derive.notation.formulas import Formula
from derive.question.definitions import Definition, Definitions
from derive.question.patterns import one_of
from derive.question.prose import Prose
from derive.question.roles import Role

_POINT = one_of(
    r"\bevaluat\w*", r"\bnumeric\w*", r"\bat (?:the )?point", r"\bfor (?:the )?(?:inputs?|values?|numbers?)",
    r"\binitial\w*", r"\bspočt\w*", r"\bvyčísl\w*", r"\bcompar\w*", r"\bcases?\b", r"\bshow\b", r"\bdiscuss\w*",
    r"\bsketch\w*", r"\bplot\w*", r"\bderiv\w*", r"\breduc\w*", r"\bcorrespond\w*", r"\bobtain\w*", r"\brecover\w*",
    r"\blimit\b", r"\bbecomes?\b", r"\bsame as\b", r"\bequals?\b", r"\bhappens\b", r"\bexplain\w*",
)  # fmt: skip
_CLAUSE = re.compile(r"(?:^|[,:(]|\b(?:and|but|while|or))\s*(?:with|using|taking|choosing)\s*$")
_MAIN = re.compile(  # «with $T = 1$ it is the usual softmax», «with $p = 2$ we get the Euclidean norm»
    r"(?:\s*(?:,|and|∎))*\s*(?:it|this|we|one|they|that|recovers?|yields?|gives?|is|are|dostaneme|je|jde)\b"
    r"|\s*,?\s*the\b[^.?!;¶]*\b(?:is|are|becomes?|gives?|yields?|equals?)\b"
)
_SPECIAL = one_of(
    r"\breduc\w*", r"\bbecomes?\b", r"\brecover\w*", r"\bobtain\w*", r"\bspecial case", r"\bsame as\b",
    r"\bcorrespond\w*", r"\bwe get\b", r"\bit is (?:the|called)\b", r"\bequivalent\b",
)  # fmt: skip
_AT = re.compile(r"\b(?:at|when|if|for|setting|choosing)\s*$")


def with_numbers(
    used: list[Definition], found: Definitions, given: tuple[str, ...], roles: dict[str, Role],
    differentiated: Iterable[Expr], prose: Prose,
) -> tuple[list[Definition], tuple[str, ...], dict[str, Role]]:
    """The definitions with the numbers of constants and strides; of inputs and parameters the letters stay."""
    asked = {e.tensor for e in differentiated if isinstance(e, Entry)}
    known: dict[Node, Node] = {}
    for name, (number, formula) in found.numbers.items():
        if name not in given:
            if not _is_point(formula, prose, of_size=True):
                known[Size(name)] = number
            continue
        role = roles[name]
        kept = name in asked or (role.said and role.role != "constants")
        if not kept and not _is_point(formula, prose):
            known[Entry(name, ())] = number
    if not known:
        return used, given, roles
    gone = {e.tensor for e in known if isinstance(e, Entry)}
    return (
        [replace(d, value=subst(d.value, known)) for d in used],
        tuple(n for n in given if n not in gone),
        {n: role for n, role in roles.items() if n not in gone},
    )


def _is_point(formula: Formula, prose: Prose, of_size: bool = False) -> bool:
    """The sentence speaks of values at one point, or of a special case; of sizes the latter alone."""
    for gap in prose.gaps:
        whole = gap.formula
        if whole.line == formula.line and whole.column <= formula.column <= whole.column + len(whole.latex):
            start, stop = prose.sentence(gap.start)
            if of_size or _CLAUSE.search(prose.text[start : gap.start]):
                if (_SPECIAL if of_size else _MAIN).search(prose.text[gap.start + 1 : stop]):
                    return True
                if of_size:
                    continue
            asking = prose.text[stop - 1 : stop] == "?" or _AT.search(prose.text, start, gap.start)
            if asking or _POINT.search(prose.text, start, stop):
                return True
    return False
