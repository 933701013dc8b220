r"""Letters declared by their entries: x = (x_1, \dots, x_n), A = (a_{ij}) \in \mathbb{R}^{m \times n}."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from derive.notation.formulas import Formula

_LETTER = (r"(?:\\(?:mathbf|boldsymbol|bm|vec|hat|bar|tilde)\s*)?"
           r"(?:\{\s*\\?[A-Za-z]+\s*\}|\\(?!left|right|big|in|quad|dots|ldots)[A-Za-z]+|[A-Za-z])")
_BRACKET = r"(?:\\left|\\right|\\[bB]igg?[lr]?)?\s*"
_AT = r"(?:\s*\([^()]*\))?"  # f(x) = (f_1(x), …, f_m(x))
_DOTS = r"\\(?:dots[cb]?|ldots|cdots)(?![A-Za-z])"
_RAISED = r"(?:\s*\^\s*(?:\{[^{}]*(?:\{[^{}]*\})?[^{}]*\}|\\top|\\intercal|\w))?"  # transposed, or the last index
_RANGE = r"(?:\s*_\s*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\w))?"
_DECLARED = re.compile(
    rf"(?P<letter>{_LETTER}){_AT}\s*(?::?=)\s*{_BRACKET}[(\[]\s*"
    rf"(?P<entry>{_LETTER})\s*_\s*(?:\{{(?P<index>[^{{}}]*)\}}|(?P<short>\w)){_AT}"
    rf"(?P<others>(?:\s*,\s*(?P=entry)\s*_\s*(?:\{{[^{{}}]*\}}|\w){_AT})*)"
    rf"(?P<dots>\s*,\s*{_DOTS}\s*,\s*(?P=entry)\s*_\s*(?:\{{(?P<last>[^{{}}]*)\}}|(?P<end>\w)){_AT})?"
    rf"\s*{_BRACKET}[)\]]{_RAISED}{_RANGE}{_RAISED}"
    r"(?P<shape>\s*\\in\s*\\mathbb\s*\{?\s*[A-Z]\s*\}?(?:\s*\^\s*(?:\{[^{}]*\}|\w))?)?"
    r"(?=\s*(?:$|[,;.]|\\text|\\q?quad|\\ ))"
)  # fmt: skip
_BOLD = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec)(?![A-Za-z])")
_OPENS = re.compile(r"(?:^|[,;&]|\\q?quad|\\ |\}|\\\\)\s*$")
_PLAIN = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec)\s*|[{}\s]")


@dataclass(frozen=True)
class _Declared:
    letter: str
    entry: str
    axes: int
    size: str | None  # as LaTeX


def with_entries(formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas, each such declaration as the shape of the letter that its entries are written with.

    Where another letter stands for the whole, A for the a_{ij}, and is used, it takes the place of the entries' letter.
    """
    renamed: dict[str, str] = {}
    rest = [_DECLARED.sub(" ", f.latex) for f in formulas]

    def shape(match: re.Match[str]) -> str:
        declared = _declared(match)
        if declared is None or not _OPENS.search(match.string, 0, match.start()):
            return match[0]
        other = _PLAIN.sub("", declared.letter) != _PLAIN.sub("", declared.entry)
        used = other and any(_stands(declared.letter, text) for text in rest)
        if _BOLD.match(declared.entry):  # vectors side by side
            return match[0] if used else f"{declared.entry}_{{i}}"
        if used:
            renamed[declared.entry] = declared.letter
        return _shape(declared.letter if used or not other else declared.entry, declared, match["shape"])

    found = [replace(f, latex=_DECLARED.sub(shape, f.latex)) for f in formulas]
    for entry, letter in renamed.items():
        pattern = re.compile(rf"(?<![A-Za-z\\]){re.escape(entry)}(?=\s*_)")
        found = [replace(f, latex=pattern.sub(letter.replace("\\", r"\\"), f.latex)) for f in found]
    return found


def _declared(match: re.Match[str]) -> _Declared | None:
    index = (match["index"] or match["short"] or "").strip()
    if match["dots"] is None:
        if match["others"] or not re.fullmatch(r"\\?[A-Za-z](?:\s*,?\s*\\?[A-Za-z])*", index):
            return None  # (x_1, x_2): single entries
        return _Declared(match["letter"], match["entry"], len(re.findall(r"\\[A-Za-z]+|[A-Za-z]", index)), None)
    last = (match["last"] or match["end"]).strip()
    first = {"0": 0, "1": 1}.get(index)
    return None if first is None else _Declared(match["letter"], match["entry"], 1, _count(first, last))


def _count(first: int, last: str) -> str | None:
    """How many entries run from the first to the last: n of 1, …, n and of 0, …, n − 1."""
    if first == 1:
        return last
    shorter = re.fullmatch(r"(\\?[A-Za-z]+)\s*-\s*1", last)
    return shorter[1] if shorter else str(int(last) + 1) if last.isdigit() else None


def _shape(letter: str, declared: _Declared, shape: str | None) -> str:
    if shape is not None:
        return f"{letter}{shape}"
    if declared.size is not None and re.fullmatch(r"\\?[A-Za-z]+|\d+", declared.size):
        return rf"{letter} \in \mathbb{{R}}^{{{declared.size}}}"
    return f"{letter}_{{{','.join('ijkl'[:declared.axes])}}}"


def _stands(letter: str, latex: str) -> bool:
    """The letter by itself, neither part of a word nor of a command."""
    return re.search(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])", latex) is not None
