"""The letters in the formulas of a text, and whether it writes a symbol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$]+\$")
_LETTER = re.compile(r"\\(?:mathrm|text|textrm|operatorname\*?|mathit|mathsf)\s*\{\s*([A-Za-z]{2,})\s*\}"
                     r"|\\[A-Za-z]+|[A-Za-z]")
_FONTS = {rf"\{font}" for font in ("mathbf", "boldsymbol", "bm", "mathrm", "mathcal", "text", "vec", "hat")}


def letters_of(latex: str) -> list[str]:
    """The letters and macros of a formula, in order; a word, as in \\mathrm{softmax}, is one."""
    return [found[1] or found[0] for found in _LETTER.finditer(latex)]


@lru_cache(maxsize=16)
def letters_in(text: str) -> tuple[str, ...]:
    """Those of all formulas in a text."""
    return tuple(letter for formula in _FORMULA.findall(text) for letter in letters_of(formula))


def first_written(text: str, latexes: Sequence[str]) -> list[int] | None:
    """The places in the order in which the text's formulas first write these letters; None where they lack one."""
    written, places = [*letters_in(text)], dict[int, int]()
    for place, own in enumerate(map(letters_of, latexes)):
        first = next((n for n in range(len(written)) if written[n:n + len(own)] == own), None)
        if first is not None:
            places[first] = place
    return [places[n] for n in sorted(places)] if len(places) == len(latexes) else None


def writes(text: str, latex: str) -> bool:
    """The letters of a symbol stand in the text's formulas."""
    written = letters_in(text)
    plain = "".join(letter for letter in written if len(letter) == 1)
    return all(letter in written or len(letter) > 1 and letter in plain for letter in {*letters_of(latex)} - _FONTS)
