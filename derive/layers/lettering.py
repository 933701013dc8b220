"""The letters of a layer's formulas in a chain: multi-indices written out, tensors renamed, indices kept apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from derive.errors import CardError
from derive.notation.symbols import GREEK

_I = {0: "", 1: "k", 2: "ij", 3: "kij", 4: "nkij"}
_J = {0: "", 1: "j", 2: "ij", 3: "cij", 4: "ncij"}
_SPARE = "jmlrpquv"
_LETTER = re.compile(r"\\(?:text|operatorname|begin|end)\s*\{[^{}]*\}|\\mathbb\s*\{R\}|\\[A-Za-z]+|[A-Za-z]")
_SUBSCRIPT = re.compile(r"_(?:\{([^{}]*)\}|([A-Za-z]))")
_TWICE = re.compile(r"_\{?(\w|\\text\{\w+\})\}?_\{?((?<=\{)[^{}]+(?=\})|\w)\}?")  # W_1 with _{kj} is W_{1,kj}
_LATIN = "abcdfghopqrstuvwxyz"
_COMMON = [f"\\{g}" for g in sorted(GREEK)]


def written_out(template: str, rank: int) -> str:
    r"""The template with indices for \I, \J, \K, \L, \M, \H and \F at an input of this many axes."""
    if rank not in _I:
        raise CardError(f"an input of {rank} axes: layers of the catalogue have at most {max(_I)}")
    own = _I[rank]
    other = next(c for c in _SPARE if c not in own)
    summed = _J[rank]
    meant = {"I": own, "J": summed, "K": next(c for c in "klr" if c not in summed), "M": other,
             "L": own[:-1] + other if own else "", "H": own[:-1], "F": own[:1]}
    latex = re.sub(r"\\sum_\{\\([IJM])\}\s*", lambda m: _sum(meant[m[1]]), template)
    latex = re.sub(r"\\([IJKLMHF])(?![A-Za-z])\s*", lambda m: meant[m[1]], latex)
    return re.sub(r"_\{\s*\}", "", latex)


def _sum(letters: str) -> str:
    return rf"\sum_{{{','.join(letters)}}} " if letters else ""


def indices(latex: str) -> tuple[str, ...]:
    """The Latin letters of subscripts."""
    return tuple(dict.fromkeys(c for m in _SUBSCRIPT.finditer(latex) for c in letters(m[1] or m[2]) if len(c) == 1))


def letters(latex: str) -> Iterator[str]:
    r"""Every letter and command of a formula, words apart: W, x, \alpha."""
    for match in _LETTER.finditer(latex):
        if "{" not in match[0]:
            yield match[0]


def renamed(latex: str, names: Mapping[str, str]) -> str:
    """The formula with other letters, all at once."""

    def new(match: re.Match[str]) -> str:
        return names.get(match[0], match[0])

    return _TWICE.sub(r"_{\1,\2}", _LETTER.sub(new, latex))


def free(choices: Iterable[str], taken: Collection[str]) -> str:
    """The first of the choices that is not taken, else another letter of their kind.

    Raises :class:`CardError` where no letter is left.
    """
    choices = tuple(choices)
    pool = _LATIN.upper() if choices[0].isupper() else _LATIN
    for letter in (*choices, *pool, *_COMMON):
        if letter not in taken and letter != "e":
            return letter
    raise CardError("the chain has more letters than there are; write its formulas")
