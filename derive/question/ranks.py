"""Which letters the words of a question call scalars, vectors or matrices."""

from __future__ import annotations

import re
from collections.abc import Sequence

from derive.notation.formulas import Formula
from derive.notation.symbols import name_of
from derive.question.naming import bare_letters, mentions
from derive.question.patterns import one_of
from derive.question.prose import Prose

_RANKS = (
    (2, one_of(r"\bmatri(?:x|ces)\b", r"\bmatic\w*")),
    (1, one_of(r"(?<!\bsupport[ -])\bvectors?\b(?![ -](?:machine|regression|space|quanti))", r"\bvektor\w*")),
    (0, one_of(r"\bscalars?\b", r"\bskalár\w*", r"\breal number", r"\bscalar-valued", r"\bslope\b")),
)
_ABOVE = r"\^\{?[(\[](?:[1-9]|l)[)\]]\}?|\^\{\\text\{\w+\}\}"
_TOP = r"\^\{?\s*(?:\\top|\\intercal|T|\\(?:mathrm|mathsf|text)\{T\})\s*\}?"
_PRODUCT = re.compile(rf"(?<![A-Za-z\\_^{{])([A-Z])(?:{_ABOVE}|_[1-9]|{_TOP})?\s*([a-z])(?![A-Za-z_^'(])")
_LABELLED = re.compile(  # W_o h: W_o is a matrix, if o labels it and runs nowhere
    r"(?<![A-Za-z\\_^{])([A-Z])_(?:([A-Za-z])|\{(?:\\(?:text|mathrm)\{)?([A-Za-z]+)\}?\})\s*[a-z](?![A-Za-z^'(])")
_ROW = re.compile(  # s = x W + b: a row times a matrix
    rf"(?:^|quad|[,;&])\s*[a-z](?:{_ABOVE}|_[1-9])?\s*&?\s*=\s*(?:\\?[a-z]+\s*(?:\\left\s*)?\(\s*)?"
    rf"([a-z])(?:{_ABOVE}|_[1-9])?\s*([A-Z])(?:{_ABOVE}|_[1-9])?\s*(?=$|[+),.;])")
_SINGLE = one_of(r"\bconstants?\b", r"\bhyper-?parameters?\b", r"\bscalars?\b", r"\bregulari[sz]\w*")
_NUMBERED = re.compile(r"\s*\\?[A-Za-z]+\s*_\s*\{?\d\}?(?:\s*,\s*\\?[A-Za-z]+\s*_\s*\{?\d\}?)*\s*(?:(?:>|\\geq?).*)?")
_ROWS = one_of(r"\brow[- ]vectors?\b", r"\bvectors? (?:are|is) (?:a )?rows?\b", r"\břádkov\w* vektor\w*")


def rows_said(prose: Prose) -> bool:
    """Whether the words call vectors rows."""
    return _ROWS.search(prose.text) is not None


def ranks_said(found: Sequence[Formula], prose: Prose) -> dict[str, int]:
    """name ↦ number of axes; also of W and x in a product W x: a capital letter before a small one is a matrix."""
    ranks: dict[str, int] = {}
    for mention in mentions(prose, bare_letters):
        for text in (mention.after, mention.before):
            rank = next((r for r, pattern in _RANKS if pattern.search(text)), None)
            if rank is not None:
                for latex in mention.letters:
                    ranks.setdefault(name_of(latex), rank)
                break
        if _SINGLE.search(f"{mention.before} {mention.after}") and _NUMBERED.fullmatch(mention.formula.latex):
            ranks |= dict.fromkeys(map(name_of, mention.letters), 0)
    for formula in found:
        for matrix, vector in _PRODUCT.findall(formula.latex):
            ranks.setdefault(matrix, 2)
            ranks.setdefault(vector, 1)
        for matrix, letter, word in _LABELLED.findall(formula.latex):
            ranks.setdefault(f"{matrix}_{letter or word}", 2)
    for formula in found:
        for vector, matrix in _ROW.findall(formula.latex):
            ranks.setdefault(matrix, 2)
            ranks.setdefault(vector, 1)
    return ranks
