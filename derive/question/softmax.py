"""softmax(z) of a whole vector, written out entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.question.prose import CLOSED, OPENED, inside

_NAME = r"\\(?:mathrm|operatorname|text|textrm|mathit|mathsf)\*?\s*\{\s*[sS]oft[mM]ax\s*\}\s*"
_INDEX = r"(?:_\{?\w\}?\s*)?"
_SOFTMAX = re.compile(
    r"(?P<left>(?:^|(?<=[,;&])|(?<=\\quad)|(?<=\\\\)|(?<=\\ ))\s*[^=,;&]*?)=\s*" + _NAME + _INDEX
    + OPENED + r"(?P<inner>[^()]*(?:\([^()]*\)[^()]*)*?)" + CLOSED + r"\s*" + _INDEX
    + r"(?=\s*(?:[.,;&]|\\q?quad|\\\\|\\text|\\end|$))"
)  # fmt: skip
_DEFINED = re.compile(_NAME + _INDEX + OPENED + r"[^()]*\)\s*" + _INDEX + r"&?\s*=")
_BOLD = re.compile(r"^\\(?:mathbf|boldsymbol|bm|vec)\s*\{\s*(\\?[A-Za-z]+)\s*\}$")
_BASE = re.compile(r"^(?:\s|\\q?quad|\\text\{[^{}]*\}|\\begin\{\w+\*?\})*(.*?)(?:_\{?\w+\}?)?\s*$", re.DOTALL)


def without_softmax(formula: Formula, formulas: Sequence[Formula]) -> Iterator[Formula]:
    r"""p = softmax(z) as p_i = e^{z_i} / Σ_j e^{z_j}; z = … in front where it is not a letter."""
    match = _SOFTMAX.search(formula.latex)
    if match is None or any(_DEFINED.search(f.latex) for f in formulas):
        yield formula
        return
    left, inner = _BASE.match(match["left"]), inside(match["inner"])
    assert left is not None
    written = "".join(f.latex for f in formulas)
    used = set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", written))
    free = [c for c in "ijklmn" if c not in used]
    i, j = free[:2] if len(free) > 1 else ("i", "j")
    letter = re.fullmatch(r"(?:\\(?:mathbf|boldsymbol|bm|vec)\s*\{\s*)?(\\?[A-Za-z]+)\s*\}?(?:_\{?\w\}?)?", inner)
    name = letter[1] if letter else next(c for c in "zasuvo" if c not in used)
    if letter is None:
        yield replace(formula, latex=rf"\mathbf{{{name}}} = {inner}")
    head = match["left"][: left.start(1)]
    out = _BOLD.sub(r"\1", left[1])
    exponent = rf"e^{{{name}_{{%s}}}}"
    written_out = rf"{out}_{{{i}}} = \frac{{{exponent % i}}}{{\sum_{{{j}}} {exponent % j}}}"
    latex = formula.latex[: match.start()] + head + written_out + formula.latex[match.end() :]
    yield replace(formula, latex=latex)


_SIGN = re.compile(r"(?:[=+\-,;({\[]|\\(?:left|cdot|times|odot)|&)\s*$")  # no factor stands before
_FACTOR = re.compile(r"(?P<before>[^=]*=\s*[^=]*?[^=\s&])\s*(?P<call>" + _NAME + OPENED + ")")


def softmax_apart(formulas: Sequence[Formula]) -> list[Formula]:
    r"""c = V^\top softmax(z) as a = softmax(z) and c = V^\top a, with a letter that nothing else has."""
    used = set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", " ".join(f.latex for f in formulas)))
    found: list[Formula] = []
    for formula in formulas:
        match = _FACTOR.match(formula.latex)
        end = _closing(formula.latex, match.end()) if match else None
        free = next((c for c in "apruvz" if c not in used), None)
        if match is None or end is None or free is None or formula.latex[end:].strip(" .,;") or _SIGN.search(
                match["before"]):
            found.append(formula)
            continue
        used.add(free)
        vector = rf"\mathbf{{{free}}}"
        found.append(replace(formula, latex=f"{vector} = {formula.latex[match.start('call') : end]}"))
        found.append(replace(formula, latex=f"{match['before']} {vector}"))
    return found


def _closing(latex: str, at: int) -> int | None:
    """Where the bracket that was opened before this place is closed."""
    depth = 1
    for n in range(at, len(latex)):
        depth += {"(": 1, ")": -1}.get(latex[n], 0)
        if not depth:
            return n + 1
    return None
