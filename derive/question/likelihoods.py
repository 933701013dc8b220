r"""A logarithm that a question defines as a whole, \log L(w) = \sum_n …: its value by a letter of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from derive.notation.formulas import Formula

_LETTER = r"(?:\\(?:mathcal|mathrm|mathscr)\s*\{\s*[A-Z]\s*\}|[A-Z](?![A-Za-z]))"
_ARGUMENTS = r"(?:\s*(?:\\left\s*)?\((?:[^()=]|\([^()]*\))*\))?"
_LOGARITHM = rf"\\(?:log|ln)(?![A-Za-z])\s*(?:\\,\s*)?({_LETTER}){_ARGUMENTS}"
_HEAD = re.compile(rf"(?:^|&|\\\\)\s*({_LOGARITHM})\s*&?\s*:?=")
_NAME = r"\ell"


def with_likelihoods(formulas: Sequence[Formula]) -> list[Formula]:
    r"""The formulas with \ell for \log L, where that is what they define and nothing else is called \ell."""
    found = _defined(formulas)
    if found is None:
        return list(formulas)
    letter = re.escape(found[1])
    whole = re.compile(rf"\\(?:log|ln)(?![A-Za-z])\s*(?:\\,\s*)?{letter}(?![A-Za-z_^]){_ARGUMENTS}")
    return [replace(f, latex=whole.sub(lambda _: _NAME + " ", f.latex)) for f in formulas]


def likelihoods_said(formulas: Sequence[Formula]) -> list[str]:
    """What the letter is short for."""
    found = _defined(formulas)
    return [] if found is None else [f"$\\ell$ is short for ${found[0]}$"]


def _defined(formulas: Sequence[Formula]) -> tuple[str, str] | None:
    """log L(w) as it is written left of =, and L; nothing where two are defined, or a letter is called so."""
    heads = [(m[1], m[2]) for f in formulas for m in _HEAD.finditer(f.latex)]
    taken = any(re.search(r"\\ell(?![A-Za-z])", f.latex) for f in formulas)
    return heads[0] if len({letter for _, letter in heads}) == 1 and not taken else None
