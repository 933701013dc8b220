r"""The argument of a card's function is a number of its own: σ(v) = 1/(1 + e^{-v}) beside a bold vector \mathbf{v}."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.question.patterns import CLOSED, OPENED

_NAME = r"(?:\\(?:mathrm|operatorname|mathit)\s*\{\s*[A-Za-z]+\s*\}|\\[A-Za-z]+|[A-Za-z])"
_SIGNATURE = re.compile(
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
        match = _SIGNATURE.fullmatch(formula.latex)
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
