r"""f(x_k) = \max(0, x_k): an output f_k for each entry of x, or a function of one number that other formulas apply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from derive.notation.formulas import Formula
from derive.question.patterns import CLOSED, OPENED

_LETTER = r"(?:\\(?:hat|bar|tilde)\s*(?:\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]+)|\\[A-Za-z]+|[A-Za-z])"
_NAME = rf"(?:\\(?:mathrm|operatorname|mathit|mathsf|mathcal)\s*\{{\s*[A-Za-z]+\s*\}}|{_LETTER})"
_BELOW = r"\s*_\s*(?:\{\s*([a-z](?:\s*,?\s*[a-z])*)\s*\}|([a-z]))"
_ARGUMENT = rf"\s*{_LETTER}(?:{_BELOW})?\s*"
_LIST = rf"{_ARGUMENT}(?:[,;]{_ARGUMENT})*"
_SIGNATURE = re.compile(
    rf"(?:^|[,;&]|\\\\|quad)\s*(?![pPq]\s*\()(?P<name>{_NAME}){OPENED}(?P<arguments>{_LIST}){CLOSED}"  # no p(x_i)
    r"\s*&?\s*:?=(?P<body>.*)", re.DOTALL)
_PART = re.compile(rf"\s*(?P<letter>{_LETTER})(?:{_BELOW})?\s*")
_DIFFERENTIATED = re.compile(r"\\partial\s*\{?\s*$")  # δ_i = ∂L/∂f(x_i) applies nothing
_SPARE = "uvrzqa"


@dataclass(frozen=True)
class _Function:
    """A name, the letters of its arguments, and the indices that they share."""

    name: str
    letters: tuple[str, ...]
    index: str
    body: str
    formula: Formula

    @property
    def call(self) -> re.Pattern[str]:
        """f(…) and f'(…) of a list of entries and letters, or of anything else that opens a bracket."""
        return re.compile(rf"(?<![A-Za-z\\]){re.escape(self.name)}(?P<prime>'|\s*\^\s*\\prime)?{OPENED}"
                          rf"(?:(?P<arguments>{_LIST}){CLOSED})?")


def without_entry_functions(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with f(u) = … defined where other equations apply f, else with f_k for each f(x_k)."""
    found = list(formulas)
    for function in [f for formula in found for f in _defined(formula)]:
        calls = [match for f in found for match in function.call.finditer(f.latex)]
        entries = all(not m["prime"] and _at_entries(m["arguments"] or "", function.letters) for m in calls)
        applied = any("=" in m.string[: m.start()] and not _DIFFERENTIATED.search(m.string[: m.start()]) for m in calls)
        local = _local(function, found) if applied or not entries else None
        if local is not None:
            found = [local if f is function.formula else f for f in found]
        elif entries:
            found = [replace(f, latex=_as_entries(f.latex, function)) for f in found]
    return found


def _defined(formula: Formula) -> Iterator[_Function]:
    match = _SIGNATURE.search(formula.latex)
    parts = _parts(match["arguments"]) if match else []
    indices = {index for _, index in parts if index}
    if match and len(indices) == 1 and len({letter for letter, _ in parts}) == len(parts):
        yield _Function(match["name"], tuple(p for p, _ in parts), indices.pop(), match["body"], formula)


def _parts(arguments: str) -> list[tuple[str, str]]:
    """The letters of a list of arguments, each with its index."""
    found = [_PART.fullmatch(part) for part in re.split(r"[;,](?![^{}]*\})", arguments)]
    return [(m["letter"], re.sub(r"\s", "", m[2] or m[3] or "")) for m in found if m]


def _at_entries(arguments: str, letters: tuple[str, ...]) -> bool:
    parts = _parts(arguments)
    return tuple(p for p, _ in parts) == letters and len({index for _, index in parts if index}) == 1


def _as_entries(latex: str, function: _Function) -> str:
    def entry(match: re.Match[str]) -> str:
        index = next(index for _, index in _parts(match["arguments"]) if index)
        return rf"{function.name}_{{{index}}}"

    return function.call.sub(entry, latex)


def _local(function: _Function, formulas: list[Formula]) -> Formula | None:
    """f(u) = … for f(x_k) = …, where nothing on the right but x_k has an index."""
    if len(function.letters) > 1 or not _SIGNATURE.match(function.formula.latex) or "=" in function.body:
        return None
    used = {c for f in formulas for c in re.findall(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])", f.latex)}
    letter = next((c for c in _SPARE if c not in used), None)
    argument = re.compile(rf"(?<![A-Za-z\\]){re.escape(function.letters[0])}\s*_\s*"
                          rf"(?:\{{\s*{re.escape(function.index)}\s*\}}|{re.escape(function.index)}(?![A-Za-z]))")
    body = argument.sub(lambda _: letter or "", function.body)
    if letter is None or "_" in body:
        return None
    return replace(function.formula, latex=f"{function.name}({letter}) ={body}")
