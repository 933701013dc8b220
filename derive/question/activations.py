"""Elementwise functions that words name: what each computes, and what the card writes behind its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from derive.errors import CardError
from derive.functions import FUNCTIONS
from derive.question.part_words import Named
from derive.question.prose import Gap

# What each computes of a number {x}; {a} is its slope.
ELEMENTWISE = {"tanh": r"\tanh({x})", "modulus": "|{x}|"} | {
    word: FUNCTIONS[name].defined("{x}", sloped=True).replace(r"\alpha", "{a}") for word, name in {
        "relu": "relu", "sigmoid": "sigmoid", "softplus": "softplus", "prelu": "prelu", "leaky": "leakyrelu",
        "elu": "elu"}.items()
}  # fmt: skip
_BODY = re.compile(r"[(+]|\\m(?:ax|in)|\\begin")
_A, _S = r"(?P<a>\\?[A-Za-z]+)", r"(?P<s>[A-Za-z])"
_BRANCHES = rf"\\begin{{cases}}{_S}&[^&]*\\\\(?P<a>[a-z]|\\[a-z]+?)(?P=s)&.*"
_WRITTEN = {  # without spaces; what stands behind the names of parts that have a slope
    "prelu": [re.compile(rf"\\max[({{]{_S},(?P<a>[a-z]|\\[a-z]+?)(?P=s)[)}}]"), re.compile(_BRANCHES)],
    "elu": [re.compile(rf"\\begin{{cases}}{_S}&[^&]*\\\\{_A}\(e\^\{{?(?P=s)\}}?-1\)&.*")],
}
_WRITTEN["leaky"] = _WRITTEN["prelu"]


def function_near(named: Named, behind: Sequence[Gap], functions: Sequence[tuple[str, str]]) -> str | None:
    """The card's own function among the formulas ``behind`` the part's name."""
    near = [gap.formula.latex for gap in behind if gap.start <= named.end + 30]
    return next((name for found in near for latex, name in functions if latex == found), None)


def other_letters(function: str, functions: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """a of f(s) = max(s, a s)"""
    latex = next(latex for latex, name in functions if name == function)
    head, _, body = latex.partition("=")
    body = re.sub(r"\\(?:text|begin|end)\{[^}]*\}", "", body)
    letters = re.findall(r"(?<![A-Za-z\\{])(\\?[a-z]+)(?![A-Za-z}])", body)
    symbols = [c for c in letters if len(c) == 1 or c in (r"\alpha", r"\beta", r"\lambda")]
    return tuple(dict.fromkeys(c for c in symbols if c not in re.findall(r"\\?[A-Za-z]+", head)))


def slope_written(named: Named, quoted: str, behind: Sequence[Gap]) -> str | None:
    r"""a of «PReLU $\max(s, a s)$»; raises :class:`CardError` for another formula behind the name."""
    for gap in behind:
        if gap.start <= named.end + 20 and _BODY.search(gap.formula.latex):
            latex = _plain(gap.formula.latex)
            found = next((m for p in _WRITTEN[named.part.name] if (m := p.fullmatch(latex))), None)
            if found is None:
                raise CardError(f"{quoted} is followed by ${gap.formula.latex}$: write the function with its "
                                "argument, as in `f(s) = …`")
            return found["a"]
    return None


def _plain(latex: str) -> str:
    return re.sub(r"\s|\\(?:left|right|[,;:! ])(?![a-z])", "", latex).replace(r"\{", "{").replace(r"\}", "}")
