"""Functions that a question applies by their names, without writing them out: ReLU(s), the sigmoid σ, softmax(z)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.errors import Problem, UnsupportedError
from derive.functions import FUNCTIONS, SHORT, Function
from derive.notation.formulas import Formula
from derive.question.part_words import PARTS
from derive.question.prose import OPENED, Prose
from derive.question.softmax import softmax_apart, without_softmax


def _written(function: Function | None, argument: str, sloped: bool = False) -> str:
    """What a function computes of its argument; empty where that takes a slope that the card does not have."""
    if function is None:
        return ""
    return rf"{function.latex}({argument})" if function.elementary else function.defined(argument, sloped)


_WORDS = {part.name: part.words for part in PARTS if _written(FUNCTIONS.get(part.name), "u")} | {
    "swish": re.compile(r"\bswish\b|\bsilu\b"), "identity": re.compile(r"\bidentity\b")
}  # fmt: skip
_LOGISTIC = re.compile(r"\blogistic(?! (?:regression|loss|model))\b|\bsigmoid")
_WORD = re.compile(
    rf"(\\(?:mathrm|operatorname|text|textrm|mathit|mathsf)\*?\s*\{{([A-Za-z]{{3,}}\d?p?)\}}){OPENED}"
)
_LETTER = re.compile(
    rf"(\\(?:sigma|phi|varphi|psi|rho|theta|eta)(?![A-Za-z])|(?<![A-Za-z\\{{_])[fgh](?![A-Za-z]))()\s*'?{OPENED}"
)
_PLAIN = re.compile(r"(?:^|[,;&]|\\q?quad|\\\\)\s*([A-Za-z]{3,})\s*(?:_\s*(?:\{[^{}]*\}|\w)\s*)?&?\s*(?::?=)")


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


def with_words(formulas: Sequence[Formula]) -> list[Formula]:
    r"""The formulas with \mathrm{net} for the net of net = …: a letter of several letters that an equation defines."""
    words = {word for f in formulas for word in _PLAIN.findall(f.latex)}
    if not words:
        return list(formulas)
    pattern = re.compile(rf"(?<![A-Za-z\\{{])({'|'.join(sorted(words))})(?![A-Za-z])")
    return [replace(f, latex=pattern.sub(lambda m: rf"\mathrm{{{m[1]}}}", f.latex)) for f in formulas]


def with_named(formulas: Sequence[Formula], prose: Prose) -> list[Formula]:
    """The formulas, and a definition for each function that is applied by name and not written out."""
    apart = softmax_apart(formulas)
    found = [new for formula in apart for new in without_softmax(formula, apart)]
    return [*_missing(found, prose), *found]


def _missing(formulas: Sequence[Formula], prose: Prose) -> Iterator[Formula]:
    """σ(u) = … for each function that is applied and not defined, at the line where it is applied."""
    sloped = any(r"\alpha" in f.latex for f in formulas)
    seen: set[str] = set()
    used = {letter for f in formulas for letter in re.findall(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])", f.latex)}
    argument = next((letter for letter in "uvrzqa" if letter not in used), "u")
    held = dict(_held(prose, formulas))
    for name, meant in held.items():
        at = next(f for f in formulas if _applies(name, f.latex))
        yield Formula(f"{name}({argument}) = {_written(meant, argument)}", at.line, at.column, False)
    for formula in formulas:
        for match in (*_WORD.finditer(formula.latex), *_LETTER.finditer(formula.latex)):
            letter, word = match[1], match[2].lower()
            if letter in held or letter in seen or any(_defines(letter, f.latex) for f in formulas):
                continue
            seen.add(letter)
            function = FUNCTIONS.get(SHORT.get(word, "")) if word else _said(letter, prose)
            body = _written(function, argument, sloped and bool(word))
            if body:
                yield Formula(f"{letter}({argument}) = {body}", formula.line, formula.column, False)


def _held(prose: Prose, formulas: Sequence[Formula]) -> Iterator[tuple[str, Function]]:
    r"""«where $a[\bullet]$ is the ReLU function»: the letter and what it computes, where no formula defines it.

    Raises :class:`UnsupportedError` for the squared ReLU and the like.
    """
    for gap in prose.gaps:
        letter = _HELD.fullmatch(gap.formula.latex)
        said = _IS.match(prose.text, gap.start + 1)
        if letter is None or said is None or any(_defines(letter[1], f.latex) for f in formulas):
            continue
        if not any(_applies(letter[1], f.latex) for f in formulas):
            continue
        changed = _CHANGED.match(prose.text, said.end())
        if changed is not None and any(words.search(changed["of"]) for words in _WORDS.values()):
            quoted = prose.text[said.end() : changed.start("of")].strip()
            raise UnsupportedError(Problem(f"`{gap.formula.latex}` is called a changed function (“{quoted} …”); write "
                                           f"what it computes, as in `{letter[1]}(u) = …`", line=gap.formula.line))
        found = {name: m for name, words in _WORDS.items() if (m := words.match(prose.text, said.end()))}
        named = [name for name, m in found.items() if _ENDS.match(prose.text, m.end())]
        if len(found) == len(named) == 1:
            yield letter[1], FUNCTIONS[named[0]]


def _applies(letter: str, latex: str) -> bool:
    r"""a(…) of anything but the place that a(\cdot) shows."""
    pattern = rf"(?<![A-Za-z\\_]){re.escape(letter)}{OPENED}(?!\s*\\(?:cdot|bullet))"
    return re.search(pattern, latex) is not None


def _defines(letter: str, latex: str) -> bool:
    """f(…) = at the start of an equation, or f(…) = inside a chain whose next side is written out."""
    arguments = OPENED + r"[^()=]*(?:\([^()]*\)[^()=]*)*\)\s*(?:_\{?\w\}?)?"
    return re.search(rf"{re.escape(letter)}{arguments}\s*&?\s*(?::?=|\\equiv|\\coloneqq)", latex) is not None


def _said(letter: str, prose: Prose) -> Function | None:
    """What the words say of a letter: «the sigmoid σ», «σ is the logistic function»."""
    for gap in prose.gaps:
        if not re.fullmatch(re.escape(letter) + r"\s*(?:\(\s*(?:\\cdot|\w)?\s*\))?", gap.formula.latex.strip()):
            continue
        start, stop = prose.sentence(gap.start)
        around = prose.text[max(start, gap.start - 60) : min(stop, gap.start + 80)]
        named = [name for name, words in _WORDS.items() if words.search(around)]
        if len(named) == 1:
            return FUNCTIONS[named[0]]
        if not named and _LOGISTIC.search(around):
            return FUNCTIONS["sigmoid"]
    named = [name for name, words in _WORDS.items() if words.search(prose.text)]
    if letter == r"\sigma" and "sigmoid" in named:
        return FUNCTIONS["sigmoid"]
    mentioned = re.search(r"activation|nonlinear|non-linear|aktivač", prose.text)
    return FUNCTIONS[named[0]] if len(named) == 1 and mentioned else None
