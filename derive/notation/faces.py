"""Letters set in bold: the field's sign for vectors (small) and matrices (capital)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from derive.notation.symbols import name_of

_BOLD = re.compile(
    r"\\(mathbf|boldsymbol|bm|pmb|bf|vec)(?![A-Za-z])\s*(?:\{\s*(\\?[A-Za-z]+)\s*\}|(\\[A-Za-z]+|[A-Za-z]))(\s*_)?"
)
_CAPITALS = frozenset("Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega Upsilon".split())

_ACCENTED = re.compile(r"\\(hat|bar|tilde)§\{(\\?[A-Za-z]+)\}(?:\s*_\s*(?:\{([^{}]*)\}|(\w)))?")
_BOLD_INSIDE = re.compile(
    r"\\(hat|bar|tilde|widehat|widetilde|overline)\s*\{\s*\\(?:mathbf|boldsymbol|bm)\s*\{?\s*(\\?[A-Za-z]+)\s*\}?\s*\}"
)
_BOLD_OUTSIDE = re.compile(r"\\(?:mathbf|boldsymbol|bm)\s*\{\s*\\(hat|bar|tilde)\s*\{?\s*(\\?[A-Za-z]+)\s*\}?\s*\}")
_SHORT = {"widehat": "hat", "widetilde": "tilde", "overline": "bar"}


def _unaccented(latex: str) -> str:
    """Bold letters under an accent marked by §, so that the letter alone is not taken for bold."""
    for pattern in (_BOLD_INSIDE, _BOLD_OUTSIDE):
        latex = pattern.sub(lambda m: rf"\{_SHORT.get(m[1], m[1])}§{{{m[2]}}}", latex)
    return latex


def is_capital(name: str) -> bool:
    """W, Σ, and W^{(1)}."""
    base = layered(name)
    return base in _CAPITALS or (len(base) == 1 and base.isupper())


def layered(name: str) -> str:
    """W of W^{(1)} and of W_1, s of s^+."""
    return re.sub(r"\^[(\[<].*|\^[+-]$|_\d+$", "", name)


_SAMPLED = re.compile(
    _BOLD.pattern.removesuffix(r"(\s*_)?") + r"\s*\^\s*(?:\{\s*[(\[]?\s*[a-z]\s*[)\]]?\s*\}|[a-z](?![a-z]))"
)


def numbered_above(latexes: Iterable[str]) -> set[str]:
    """The letters whose superscripts number whole vectors or matrices: bold x^{(n)}."""
    return {name_of(m[2] or m[3]) for latex in latexes for m in _SAMPLED.finditer(_unaccented(latex))}


def ranks_by_face(latexes: Iterable[str]) -> tuple[dict[str, int], set[str]]:
    """(axes of each letter that is set bold, the letters whose subscripts number whole vectors: bold x_n)."""
    latexes = list(latexes)
    ranks: dict[str, int] = {}
    bold_subscripts: set[str] = set()
    plain_subscripts: set[str] = set()
    for latex in map(_unaccented, latexes):
        for accent, letter, *subs in _ACCENTED.findall(latex):
            label = re.sub(r"\s", "", "".join(subs))  # \tilde{c}_t is a vector if t is a step, not if it is an index
            name = name_of(rf"\{accent}{{{letter}}}") + (f"_{label}" if label else "")
            ranks[name] = 2 if is_capital(name_of(letter)) else 1
        for command, braced, single, subscript in _BOLD.findall(latex):
            letter = braced or single
            name = name_of(letter)
            if len(name) > 1 and letter[0] != "\\":
                continue  # a word
            ranks[name] = 2 if is_capital(name) and command != "vec" else 1
            if subscript:
                bold_subscripts.add(name)
        plain = _BOLD.sub(" ", latex)
        plain_subscripts |= {name_of(m) for m in re.findall(r"(?<![A-Za-z\\])(\\?[A-Za-z]+)\s*_", plain)}
    return ranks, set() if any(map(_has_bold_entries, latexes)) else bold_subscripts - plain_subscripts


_NUMBERED = r"\s*_\s*(?:\{\s*(\d+)\s*\}|(\d))"
_BOLD_NUMBERED = re.compile(_BOLD.pattern.removesuffix(r"(\s*_)?") + f"(?:{_NUMBERED})?")
_PLAIN_NUMBERED = re.compile(r"(?<![A-Za-z\\])(\\?[A-Za-z]+)" + _NUMBERED)


def plain_beside_bold(latexes: Iterable[str]) -> set[str]:
    r"""b_2 beside \mathbf{b}_1, w_0 beside \mathbf{w}: its face says of no vector, so its equation has to."""
    bold: dict[str, set[str]] = {}
    plain: dict[str, set[str]] = {}
    for latex in map(_unaccented, latexes):
        for match in _BOLD_NUMBERED.finditer(latex):
            bold.setdefault(name_of(match[2] or match[3]), set()).add(match[4] or match[5] or "")
        for match in _PLAIN_NUMBERED.finditer(_BOLD.sub(" ", latex)):
            plain.setdefault(name_of(match[1]), set()).add(match[2] or match[3])
    biases = {f"{name}_0" for name, numbers in plain.items() if bold.get(name) == {""} and numbers == {"0"}}
    return biases | {f"{name}_{number}" for name, numbers in plain.items() if "" not in bold.get(name, {""})
                     for number in numbers - bold[name]}


_BOLD_ENTRY = re.compile(_BOLD.pattern.removesuffix(r"(\s*_)?") + r"\s*_\s*\{\s*[a-z]\s*,?\s*([a-z])\s*\}")


def _has_bold_entries(latex: str) -> bool:
    r"""\sum_j \mathbf{W}_{ij} \mathbf{x}_j: what is bold are entries."""
    return any(re.search(rf"\\sum\s*(?:\\limits\s*)?_\s*\{{?\s*{match[4]}(?![a-zA-Z])", latex)
               for match in _BOLD_ENTRY.finditer(latex))


_SPACE_OF = re.compile(r"\\mathbb\s*\{?\s*R\s*\}?\s*\^\s*(?:\{([^{}]*)\}|([A-Za-z]))")


def sizes_beside_bold(latexes: Iterable[str]) -> set[str]:
    r"""h of \mathbf{W} \in \mathbb{R}^{h \times d} beside a bold \mathbf{h}: plain, it is a size and nothing else.

    Sheets write the vector plain, so the size goes without its letter.
    """
    latexes = list(map(_unaccented, latexes))
    bold = {name_of(m[2] or m[3]) for latex in latexes for m in _BOLD.finditer(latex)}
    extents = {name for latex in latexes for m in _SPACE_OF.finditer(latex) for name in _plain(m[1] or m[2])}
    shown = [latex for latex in latexes if len(latex.strip()) > 1]  # «of $h$ units» computes nothing
    elsewhere = {name for latex in shown for name in _plain(_SPACE_OF.sub(" ", latex))}
    return (bold & extents) - elsewhere


def _plain(latex: str) -> set[str]:
    """The letters without a subscript that are not bold."""
    return {name_of(m) for m in re.findall(r"(?<![A-Za-z\\])(\\?[A-Za-z])(?![A-Za-z])(?!\s*_)", _BOLD.sub(" ", latex))}
