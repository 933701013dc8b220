"""Spellings of textbooks brought to the notation's own: a[z] for a(z), ← for =, a function of each entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from derive.notation.formulas import Formula
from derive.question.naming import collected
from derive.question.prose import CLOSED, OPENED
from derive.records import dataclass

_ANY_LETTER = r"(?:\\(?:hat|bar|tilde)\s*(?:\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]+)|\\[A-Za-z]+|[A-Za-z])"
_NAME = rf"(?:\\(?:mathrm|operatorname|mathit|mathsf|mathcal)\s*\{{\s*[A-Za-z]+\s*\}}|{_ANY_LETTER})"
_BELOW = r"\s*_\s*(?:\{\s*([a-z](?:\s*,?\s*[a-z])*)\s*\}|([a-z]))"
_ARGUMENT = rf"\s*{_ANY_LETTER}(?:{_BELOW})?\s*"
_LIST = rf"{_ARGUMENT}(?:[,;]{_ARGUMENT})*"
_OF_ENTRIES = re.compile(
    rf"(?:^|[,;&]|\\\\|quad)\s*(?![pPq]\s*\()(?P<name>{_NAME}){OPENED}(?P<arguments>{_LIST}){CLOSED}"  # no p(x_i)
    r"\s*&?\s*:?=(?P<body>.*)", re.DOTALL)
_PART = re.compile(rf"\s*(?P<letter>{_ANY_LETTER})(?:{_BELOW})?\s*")
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
    match = _OF_ENTRIES.search(formula.latex)
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
    if len(function.letters) > 1 or not _OF_ENTRIES.match(function.formula.latex) or "=" in function.body:
        return None
    used = {c for f in formulas for c in re.findall(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])", f.latex)}
    letter = next((c for c in _SPARE if c not in used), None)
    argument = re.compile(rf"(?<![A-Za-z\\]){re.escape(function.letters[0])}\s*_\s*"
                          rf"(?:\{{\s*{re.escape(function.index)}\s*\}}|{re.escape(function.index)}(?![A-Za-z]))")
    body = argument.sub(lambda _: letter or "", function.body)
    if letter is None or "_" in body:
        return None
    return replace(function.formula, latex=f"{function.name}({letter}) ={body}")


_LETTER = r"(?:\\[a-zA-Z]+|[a-zA-Z])"
_FACE = r"\\(?:mathbf|mathrm|boldsymbol|bm|mathsf|text|operatorname)"
_WORD = r"\\(?:mathrm|operatorname|mathsf|text)\s*\{\s*[A-Za-z]+\s*\}"
_BOLD = r"\\(?:mathbf|boldsymbol|bm)\s*\{\s*\\?[A-Za-z]+\s*\}"
_SIZE = r"(?:\s|\\!|\\(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z]))*"
_WHOLE = rf"\s*(?:{_FACE}\{{\s*\\?\w+\s*\}}|{_LETTER})\s*"
_SIGNATURE = re.compile(
    rf"(?:^|,|&|\\\\|quad)\s*({_WORD}|{_BOLD}|{_LETTER})(?:\s*_\s*\{{?\w\}}?)?{_SIZE}\[{_WHOLE}(?:,{_WHOLE})*{_SIZE}\]\s*&?\s*=")
_NAMED_FUNCTION = re.compile(r"\\(?:mathrm|operatorname|text)\s*\{\s*[A-Za-z]{3,}\s*\}(?=" + _SIZE + r"\[)")
_HELD = re.compile(rf"\s*({_BOLD}|{_LETTER}){_SIZE}\[\s*\\(?:bullet|cdot)\s*\][\s.,]*")  # a[\bullet]
_LEFT = rf"({_FACE}\{{[^{{}}]*\}}|\\hat\s*\{{?\w\}}?|{_LETTER})"
_ASSIGNED = re.compile(rf"{_LEFT}([^=]*?)&?\s*(\\leftarrow)(?![a-z])(.*)", re.DOTALL)
_LABEL = re.compile(
    r"([_^])\s*\{\s*(out|new|old|pred|true|target|hid|hidden|max|min|total|prev|next|data|reg|avg)\s*\}")
_OUT = re.compile(r"_\s*\{\s*(?:\\(?:text|mathrm|textrm|rm|mathit)\s*\{?)?\s*out\s*\}")
_IN = re.compile(r"_\s*\{\s*in\s*\}")
_BESIDE = re.compile(  # D(p \| q)
    r"\(([^()|=]*?)(?:\\[,;! ]\s*)*(?:\\\||\|\||\\parallel(?![a-z])|\\Vert(?![a-z]))(?:\\[,;! ])*([^()|=]*)\)")
_ZERO_AND = r"(?:\(|\\?\{)\s*0\s*,\s*\1\s*(?:\)|\\?\})"
_POSITIVE_PART = re.compile(
    rf"\s*[(\[]\s*({_LETTER})\s*[)\]]\s*_\s*\{{?\+\}}?\s*:?=\s*\\max\s*{_ZERO_AND}[\s.,]*")
_RAISED = rf"((?:{_FACE}\s*\{{\w\}}|{_LETTER})\s*\^\s*(?:\{{[^{{}}]*\}}|\w))"
_SAMPLE = re.compile(
    rf"\s*{_RAISED}\s*=\s*\(\s*\1\s*_1\s*,\s*\\[cl]?dots\s*,\s*\1\s*_(?:\w|\{{\w+\}})\s*\)"
    r"\s*(?:\^\s*\{?\s*(?:T|\\top)\s*\}?)?[\s.,]*")
_DEFINED = re.compile(r":=|\\(?:coloneqq|triangleq|doteq|equiv)(?![a-z])")
_LISTED = re.compile(  # x^1, \dots, x^m \in
    rf"({_FACE}\{{\s*\w\s*\}}|{_LETTER})\s*\^\s*\{{?1\}}?\s*,\s*\\[cl]?dots[bc]?\s*,\s*\1\s*\^\s*\{{?([a-zA-Z])\}}?\s*\\in(?![a-z])")
_NUMBER = r"-?\d+(?:\.\d+)?"
_INTERVAL = re.compile(
    rf"\s*(?P<letter>{_LETTER}(?:\s*[_^]\s*(?:\{{[^{{}}]*\}}|\w))*)\s*\\in\s*(?:\\left\s*)?(?P<open>[(\[\]])\s*"
    rf"(?P<low>{_NUMBER}|-\s*\\infty)\s*,\s*(?P<high>{_NUMBER}|\+?\s*\\infty)\s*(?:\\right\s*)?(?P<close>[)\]\[])[\s.,]*")
_HALF_LINE = re.compile(
    rf"\s*(?P<letter>{_LETTER}(?:\s*_\s*(?:\{{[^{{}}]*\}}|\w))*)\s*\\in\s*\\mathbb\s*\{{?\s*R\s*\}}?\s*"
    r"(?:[_^]\s*\{?\s*\+{1,2}\s*\}?|_\s*\{\s*>\s*0\s*\}|_\s*\{\s*(?P<zero>\\geq?(?:slant)?)\s*0\s*\})[\s.,]*")
_DIAGONAL = re.compile(  # diag(γ) x
    r"\\(?:(?:operatorname|mathrm|text|textrm)\*?\s*\{\s*diag\s*\}|diag(?![a-z]))\s*(?:\\left\s*)?\(\s*"
    rf"((?:{_FACE}\s*\{{\s*\\?[A-Za-z]+\s*\}}|{_LETTER})(?:_\w)?)\s*(?:\\right\s*)?\)(?:\\[,;! ]|\s|\\cdot)*"
    rf"(?=(?:{_FACE}\s*\{{?\s*)?(?:\(|[a-z]|\\(?!cdot|right|quad|in)[a-z]+))")
_NAMED = re.compile(r"\\text(?=\s*\{\s*[A-Za-z]{2,}\s*\}" + OPENED + ")")


def in_notation(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with the same meaning in the notation's spelling; lines stay, columns nearly.

    [z]_+ = max(0, z) and x^i = (x^i_1, …, x^i_n) say what the notation knows, and are left out; so is θ = (W, b) where
    no formula computes with θ.
    """
    formulas = [replace(f, latex=_equated(f.latex)) for f in formulas]
    found = [f for f in formulas if not _POSITIVE_PART.fullmatch(f.latex) and not _SAMPLE.fullmatch(f.latex)]
    found = [replace(f, latex=_LISTED.sub(partial(_any_sample, found), f.latex)) for f in found]
    found = [f for f in found if not _names_only(f, found)]
    found = [replace(f, latex=_between(f.latex)) for f in found]
    outs = any(_OUT.search(f.latex) for f in found)
    found = [replace(f, latex=_labelled(f.latex, outs)) for f in found]
    applied = {name for f in found for p in (_SIGNATURE, _NAMED_FUNCTION) for name in p.findall(f.latex)}
    applied |= {held[1] for f in found if (held := _HELD.fullmatch(f.latex))}
    return without_entry_functions(replace(f, latex=_assigned(_named(_applied(f.latex, applied)))) for f in found)


def _any_sample(formulas: Iterable[Formula], listed: re.Match[str]) -> str:
    r"""x^1, \dots, x^m \in \mathbb{R}^n → x^i \in \mathbb{R}^n, with the letter that stands above x elsewhere."""
    above = re.compile(rf"(?<![A-Za-z\\]){re.escape(listed[1])}\s*\^\s*(?:\{{\s*([a-z])\s*\}}|([a-z])(?![a-z]))")
    letters = [m[1] or m[2] for f in formulas for m in above.finditer(f.latex)]
    letter = next((c for c in letters if c not in (listed[2], "T")), None)
    return listed[0] if letter is None else rf"{listed[1]}^{letter} \in"


def _names_only(formula: Formula, formulas: Iterable[Formula]) -> bool:
    """θ = (W, b), a name for all the parameters, where θ stands elsewhere as in J(θ), in f_θ or alone."""
    if not collected(formula.latex):
        return False
    name = formula.latex.partition("=")[0].strip()
    letter = re.escape(name) if name.endswith("}") else re.escape(name) + r"(?![A-Za-z])"
    aside = re.compile(rf"{OPENED}\s*{letter}\s*{CLOSED}|_\s*\{{?\s*{letter}\s*\}}?")
    rest = [aside.sub("", f.latex) for f in formulas if f is not formula and f.latex.strip() != name]
    return not any(re.search(rf"(?<![A-Za-z\\]){letter}" if name[0] != "\\" else letter, latex) for latex in rest)


def _equated(latex: str) -> str:
    r"""y := …, y \triangleq … and y \equiv … → y = …; x \equiv 0 \pmod 2 is no equation."""
    return latex if "mod" in latex and r"\equiv" in latex else _DEFINED.sub(lambda m: "=".ljust(len(m[0])), latex)


def _between(latex: str) -> str:
    r"""\alpha \in (0, 1] → 0 < \alpha \le 1; \varepsilon \in \mathbb{R}_{>0} → \varepsilon > 0."""
    if match := _HALF_LINE.fullmatch(latex):
        sign = r"\ge" if match["zero"] else ">"
        return f"{match['letter']} {sign} 0"
    match = _INTERVAL.fullmatch(latex)
    if match is None or all("infty" in match[end] for end in ("low", "high")):
        return latex
    below, above = "<" if match["open"] in "(]" else r"\le", "<" if match["close"] in ")[" else r"\le"
    low = "" if "infty" in match["low"] else f"{match['low']} {below} "
    high = "" if "infty" in match["high"] else f" {above} {match['high']}"
    if not high:
        sign = ">" if below == "<" else r"\ge"
        return f"{match['letter']} {sign} {match['low']}"
    return f"{low}{match['letter']}{high}"


def _applied(latex: str, names: set[str]) -> str:
    """a[z] → a(z) for the functions that are defined with such brackets, and for words."""
    for name in names:
        start = re.compile(rf"(?<![a-zA-Z\\]){re.escape(name)}\}}?(?:\s*_\s*\{{?\w\}}?)?{_SIZE}\[")
        at = 0
        while match := start.search(latex, at):
            opening = match.end() - 1
            closing = _closing(latex, opening)
            at = opening + 1
            if closing is not None:
                latex = f"{latex[:opening]}({latex[opening + 1:closing]}){latex[closing + 1:]}"
    return latex


def _closing(latex: str, opening: int) -> int | None:
    depth = 0
    for at in range(opening, len(latex)):
        depth += {"[": 1, "]": -1}.get(latex[at], 0)
        if depth == 0:
            return at
    return None


def _assigned(latex: str) -> str:
    r"""\mu \leftarrow … → \mu = …, unless the letter stands on the right too: then it is an update."""
    rows = re.split(r"(\\\\|\\q?quad(?![a-z]))", latex)
    for n, row in enumerate(rows):
        match = _ASSIGNED.search(row)
        if match and re.search(rf"(?<![a-zA-Z\\]){re.escape(match[1])}(?![a-zA-Z])", match[4]) is None:
            rows[n] = row[: match.start(3)] + "=".ljust(len(match[3])) + row[match.end(3):]
    return "".join(rows)


def _labelled(latex: str, outs: bool) -> str:
    r"""diag(γ) x → γ \odot x; D(p \| q) → D(p, q); y_{out} → y_{\text{out}}, and y_{in} beside such an output."""
    latex = _DIAGONAL.sub(r"\1 \\odot ", latex)
    latex = _BESIDE.sub(r"(\1, \2)", latex)
    latex = _LABEL.sub(r"\1{\\text{\2}}", latex)
    return _IN.sub(r"_{\\text{in}}", latex) if outs else latex


def _named(latex: str) -> str:
    r"""\text{softmax}(…) → \mathrm{softmax}(…)."""
    return _NAMED.sub(r"\\mathrm", latex)
