"""Functions that a card defines: their arguments are letters of their own, those of vectors are written out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.question.prose import CLOSED, OPENED, inside
from derive.question.reading import one_equation
from derive.records import dataclass

_NAME = r"(?:\\(?:mathrm|operatorname|mathit)\s*\{\s*[A-Za-z]+\s*\}|\\[A-Za-z]+|[A-Za-z])"
_OF_A_NUMBER = re.compile(
    rf"\s*(?P<name>{_NAME}){OPENED}\s*(?P<letter>[A-Za-z])\s*{CLOSED}\s*&?\s*:?=(?P<body>.*)", re.DOTALL)
_BOLD = r"\\(?:mathbf|boldsymbol|bm|pmb|vec)\s*\{?\s*"
_OF_VECTORS = re.compile(_BOLD + r"|_|\\(?:sum|prod|top|langle|lVert|intercal)(?![A-Za-z])|\\\|")
_SPARE = "uvrzqa"


def with_local_arguments(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with a letter of its own for such an argument, where the same letter is bold elsewhere.

    What has subscripts, sums or products of vectors on its right is left as it is.
    """
    found = list(formulas)
    taken = {c for f in found for c in re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", f.latex)}
    for n, formula in enumerate(found):
        match = _OF_A_NUMBER.fullmatch(formula.latex)
        if match is None or _OF_VECTORS.search(match["body"]):
            continue
        letter = match["letter"]
        vector = re.compile(rf"{_BOLD}{letter}(?![A-Za-z])")
        spare = next((c for c in _SPARE if c not in taken), None)
        applied = re.compile(rf"(?<![A-Za-z\\]){re.escape(match['name'])}{OPENED}")
        others = [f for f in found if f is not formula]
        if spare is not None and any(vector.search(f.latex) for f in found) and any(
                applied.search(f.latex) for f in others):
            alone = re.compile(rf"(?<![A-Za-z\\]){letter}(?![A-Za-z])")
            found[n] = replace(formula, latex=alone.sub(spare, formula.latex))
    return found


_FACE = r"\\(?:mathbf|boldsymbol|bm|vec|mathrm|hat|tilde|bar)"
_LETTER = rf"(?:{_FACE}\s*\{{\s*\\?[A-Za-z]+\s*\}}|\\[A-Za-z]+|[A-Za-z])"
_LABEL = r"(?:_\s*(?:\{[^{}]*\}|\\[A-Za-z]+|\w))?"
_SIGNATURE = re.compile(
    rf"\s*(?P<name>{_LETTER}{_LABEL}){OPENED}(?P<arguments>\s*{_LETTER}(?:\s*[,;|]\s*{_LETTER})*\s*){CLOSED}"
    r"\s*&?\s*(?::?=|\\coloneqq)\s*(?P<body>.*?)[\s.,;]*",
    re.DOTALL)
_PARTS = re.compile(r"\s*[,;|]\s*")
_TRANSPOSED = r"\s*\^\s*(?:\{\s*)?(?:T|\\top|\\intercal)(?![a-zA-Z])"


@dataclass(frozen=True)
class _Function:
    name: str
    parameters: tuple[str, ...]
    body: str
    formula: Formula

    def at(self, arguments: Sequence[str]) -> str:
        body = self.body
        for n, (parameter, argument) in enumerate(zip(self.parameters, arguments, strict=True)):
            held = rf"{{{argument}}}" if "^" in argument or "_" in argument else argument
            body = re.sub(rf"(?<![A-Za-z\\]){re.escape(parameter)}(?![A-Za-z])",
                          lambda _, n=n: f"\0{n}\0", body)  # type: ignore[misc]
            body = body.replace(f"\0{n}\0", held)
        return rf"\left({body}\right)"


def without_vector_functions(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with functions of vectors written out where they are applied to something else than their letter.

    Where a value holds f(x) at the function's own letters only, f is the name of that value.
    """
    formulas = list(formulas)
    for function in [f for formula in formulas for f in _defined(formula)]:
        others = [f for f in formulas if f is not function.formula]
        if any(set(call) != set(function.parameters) for f in others for call, _, _ in _calls(f.latex, function)):
            formulas = [replace(f, latex=_applied(f.latex, function)) for f in others]
        elif any(_calls(f.latex.partition("=")[2], function) for f in others):
            formulas = [replace(f, latex=_named(f.latex, function)) for f in formulas]
    return formulas


def _defined(formula: Formula) -> list[_Function]:
    match = _SIGNATURE.fullmatch(formula.latex)
    if match is None or not one_equation(formula.latex) or "=" in match["body"]:
        return []
    parameters = tuple(_PARTS.split(match["arguments"].strip()))
    found = _Function(match["name"].strip(), parameters, match["body"], formula)
    return [found] if any(_is_vector(p, match["body"]) for p in parameters) else []


def _is_vector(letter: str, body: str) -> bool:
    r"""x of \theta^\top x, x^\top w, \|x\| and \langle w, x \rangle; bold letters."""
    here = re.escape(letter)
    marked = rf"{here}{_TRANSPOSED}|{_TRANSPOSED}\}}?\s*{here}|\\langle[^<>]*{here}|\\\|[^|]*{here}"
    return letter.startswith((r"\mathbf", r"\boldsymbol", r"\bm", r"\vec")) or re.search(marked, body) is not None


def _calls(latex: str, function: _Function) -> list[tuple[tuple[str, ...], int, int]]:
    """(arguments, begin, end) of each h(…)."""
    found = []
    opened = re.compile(rf"(?<![A-Za-z\\]){re.escape(function.name)}{OPENED}")
    for match in opened.finditer(latex):
        depth, at = 1, match.end()
        while at < len(latex) and depth:
            depth += {"(": 1, ")": -1}.get(latex[at], 0)
            at += 1
        arguments = tuple(_PARTS.split(inside(latex[match.end() : at - 1])))
        if not depth and len(arguments) == len(function.parameters):
            found.append((arguments, match.start(), at))
    return found


def _named(latex: str, function: _Function) -> str:
    for _, start, end in reversed(_calls(latex, function)):
        latex = f"{latex[:start]}{function.name} {latex[end:]}"
    return latex


def _applied(latex: str, function: _Function) -> str:
    for arguments, start, end in reversed(_calls(latex, function)):
        latex = latex[:start] + function.at(arguments) + latex[end:]
    return latex
