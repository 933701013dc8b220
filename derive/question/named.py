"""Functions that a question applies by their names, without writing them out: ReLU(s), the sigmoid σ, softmax(z)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from derive.errors import CardError, Problem
from derive.functions import FUNCTIONS, SHORT, Function
from derive.notation.formulas import Formula
from derive.notation.rules.functions import applied, defined
from derive.notation.rules.trees import letters, with_trees
from derive.notation.symbols import GREEK, latex_of, name_of
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
# a(\cdot) and a[\bullet] alone: a letter that the words call a function
_HELD = re.compile(
    r"\s*(\\(?:mathbf|boldsymbol|bm)\s*\{\s*\\?[A-Za-z]+\s*\}|\\[A-Za-z]+|[A-Za-z])"
    r"\s*[(\[]\s*\\(?:cdot|bullet)\s*[)\]][\s.,]*")
_IS = re.compile(
    r"\s*,?\s*(?:is|denotes|represents|stands for|being)\s+(?:the |an? )?"
    r"(?:(?:usual|standard|ordinary|well-known|(?:element|component|entry)-?wise) )*")
_CHANGED = re.compile(
    r"[^.;,:¶]{0,30}?\b(?:squared?|cubed?|scaled|shifted|clipped|capped|truncated|negat\w+|reversed|derivative|inverse"
    r"|modified|noisy|randomi[sz]ed|smooth\w*)\b(?P<of>[^.;,:¶]{0,30})")
_ENDS = re.compile(
    r"(?:[\s-]+(?:activation|function|non-?linearity|unit|applied|acting|(?:element|component|entry)-?wise|separately"
    r"|to|on|each|every|all|of|its|the|arguments?|entry|entries|components?|elements?|coordinates?))*\s*(?:[.,;:)¶]|$)")


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
    for name, meant in _held(prose, places.keys() - settled):
        settled.add(name)
        yield _definition(name, argument, _written(meant, argument), places[name])
    for name, place in places.items():
        word = len(name) > 2 and name not in GREEK
        if name not in settled and (word or name in _LETTERS):
            function = FUNCTIONS.get(SHORT.get(name.lower(), "")) if word else _said(latex_of(name), prose)
            body = _written(function, argument, r"alpha" in used and word)
            if body:
                yield _definition(name, argument, body, place)


def _definition(name: str, argument: str, body: str, at: Formula) -> Formula:
    return Formula(f"{latex_of(name)}({argument}) = {body}", at.line, at.column, False)


def _held(prose: Prose, names: Iterable[str]) -> Iterator[tuple[str, Function]]:
    r"""«where $a[\bullet]$ is the ReLU function»: the letter and what it computes, of these that no formula defines.

    Raises :class:`CardError` for the squared ReLU and the like.
    """
    for gap in prose.gaps:
        letter = _HELD.fullmatch(gap.formula.latex)
        said = _IS.match(prose.text, gap.start + 1)
        if letter is None or said is None or name_of(letter[1]) not in names:
            continue
        changed = _CHANGED.match(prose.text, said.end())
        if changed is not None and _functions(changed["of"]):
            quoted = prose.text[said.end() : changed.start("of")].strip()
            raise CardError(Problem(f"`{gap.formula.latex}` is called a changed function (“{quoted} …”); write "
                                    f"what it computes, as in `{letter[1]}(u) = …`", line=gap.formula.line))
        found = [span for span in named(prose.text, "part") if span.start == said.end() and _known(span) is not None]
        if len(found) == 1 and _ENDS.match(prose.text, found[0].stop):
            yield name_of(letter[1]), _KNOWN[_known(found[0]) or ""]


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
