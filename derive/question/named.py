"""Functions that a question applies by their names, without writing them out: ReLU(s), the sigmoid σ, softmax(z)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.functions import FUNCTIONS, SHORT, Function
from derive.notation.formulas import Formula
from derive.notation.rules.functions import applied, defined
from derive.notation.rules.trees import letters, with_trees
from derive.notation.symbols import GREEK, latex_of
from derive.question.lexicon import Span, named
from derive.question.prose import Prose


def _written(function: Function | None, argument: str, sloped: bool = False) -> str:
    """What a function computes of its argument; empty where that takes a slope that the card does not have."""
    if function is None:
        return ""
    return rf"{function.latex}({argument})" if function.elementary else function.defined(argument, sloped)


_KNOWN = {part: FUNCTIONS[name] for part in (
    "relu", "sigmoid", "tanh", "softplus", "silu", "mish", "gelu", "softsign", "hard_tanh", "hard_sigmoid",
    "hard_swish", "identity") if _written(FUNCTIONS.get(name := SHORT.get(part.replace("_", ""), "")), "u")}
_LOGISTIC = re.compile(r"\blogistic(?! (?:regression|loss|model))\b|\bsigmoid")
_LETTERS = frozenset("sigma phi varphi psi rho theta eta f g h".split())  # that usually stand for a function


def with_named(formulas: Sequence[Formula], prose: Prose) -> list[Formula]:
    """The formulas, and a definition for each function that is applied by name and not written out."""
    return [*with_trees(_missing(formulas, prose)), *formulas]


def _missing(formulas: Sequence[Formula], prose: Prose) -> Iterator[Formula]:
    """σ(u) = … for each function that is applied and not defined, at the line where it is applied."""
    used = letters(formulas)
    argument = next(c for c in ("u", "v", "r", "z", "q", "a") if c not in used or c == "a")
    settled = {name for f in formulas for name in defined(f)}
    places: dict[str, Formula] = {}
    for formula in formulas:
        for name in applied(formula):
            places.setdefault(name, formula)
    for name, place in places.items():
        word = len(name) > 2 and name not in GREEK
        if name not in settled and (word or name in _LETTERS):
            function = FUNCTIONS.get(SHORT.get(name.lower(), "")) if word else _said(latex_of(name), prose)
            body = _written(function, argument, r"alpha" in used and word)
            if body:
                yield _definition(name, argument, body, place)


def _definition(name: str, argument: str, body: str, at: Formula) -> Formula:
    return Formula(f"{latex_of(name)}({argument}) = {body}", at.line, at.column, False)


def _known(span: Span) -> str | None:
    """The part that a span names, where it is a function that is written without letters of its own."""
    name = span.concept.partition(".")[2]
    return name if name in _KNOWN else None


def _functions(text: str) -> list[str]:
    """The functions that a text names, each once."""
    return list(dict.fromkeys(name for span in named(text, "part") if (name := _known(span)) is not None))


def _said(letter: str, prose: Prose) -> Function | None:
    """What the words say of a letter: «the sigmoid σ», «σ is the logistic function»."""
    for gap in prose.gaps:
        if not re.fullmatch(re.escape(letter) + r"\s*(?:\(\s*(?:\\cdot|\w)?\s*\))?", gap.formula.latex.strip()):
            continue
        start, stop = prose.sentence(gap.start)
        around = prose.text[max(start, gap.start - 60) : min(stop, gap.start + 80)]
        found = _functions(around)
        if len(found) == 1:
            return _KNOWN[found[0]]
        if not found and _LOGISTIC.search(around):
            return FUNCTIONS["sigmoid"]
    found = _functions(prose.text)
    if letter == r"\sigma" and ("sigmoid" in found or named(prose.text, "gated")):
        return FUNCTIONS["sigmoid"]
    mentioned = re.search(r"activation|nonlinear|non-linear|aktivač", prose.text)
    return _KNOWN[found[0]] if len(found) == 1 and mentioned else None
