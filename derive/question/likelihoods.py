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


_PROBABILITY = (
    r"(?:\\Pr(?![A-Za-z])|\\(?:mathbb|mathrm|operatorname|mathbf)\s*\{\s*[Pp]\s*\}|(?<![A-Za-z\\])[Pp])\s*(?:\\left\s*)?"
    r"\((?P<of>[^()|]*?)(?:\\mid(?![A-Za-z])|\\vert(?![A-Za-z])|\|)[^()=]*?(?:\\right\s*)?\)"
)
_POSTERIOR = re.compile(rf"(?:^|(?<=[,&])|\\\\)\s*{_PROBABILITY}\s*&?\s*:?=\s*(?P<rest>[^=]+(?P<more>=)?)")
_ONE = re.compile(r"\s*(?:[A-Za-z]\s*(?:=\s*[+-]?\d+)?)\s*")
_P = re.compile(r"(?<![A-Za-z\\])p(?![A-Za-z])")


def with_posteriors(formulas: Sequence[Formula]) -> list[Formula]:
    r"""The formulas with p for p(y = 1 \mid x), where that is what they define and nothing else is called p.

    Of p(y = 1 \mid x) = \hat{p} = σ(…) the next letter is the name, and the first side is left out.
    """
    head = _posterior(formulas)
    if head is None:
        return list(formulas)
    if head["more"]:
        whole = head[0][: head.start("rest") - head.start()]
        return [replace(f, latex=f.latex.replace(whole, "", 1)) for f in formulas]
    return [replace(f, latex=re.sub(_PROBABILITY, "p", f.latex)) for f in formulas]


def _posterior(formulas: Sequence[Formula]) -> re.Match[str] | None:
    """The one equation that begins with such a probability, where a letter for it is free."""
    heads = [m for f in formulas for m in _POSTERIOR.finditer(f.latex) if _ONE.fullmatch(m["of"])]
    taken = any(_P.search(re.sub(_PROBABILITY, "", f.latex)) for f in formulas)
    return heads[0] if len(heads) == 1 and (heads[0]["more"] or not taken) else None


def likelihoods_said(formulas: Sequence[Formula]) -> list[str]:
    """What the letter is short for."""
    found, head = _defined(formulas), _posterior(formulas)
    said = [] if found is None else [f"$\\ell$ is short for ${found[0]}$"]
    if head is not None and not head["more"] and (whole := re.search(_PROBABILITY, head[0])):
        said.append(f"$p$ is short for ${whole[0]}$")
    return said


def _defined(formulas: Sequence[Formula]) -> tuple[str, str] | None:
    """log L(w) as it is written left of =, and L; nothing where two are defined, or a letter is called so."""
    heads = [(m[1], m[2]) for f in formulas for m in _HEAD.finditer(f.latex)]
    taken = any(re.search(r"\\ell(?![A-Za-z])", f.latex) for f in formulas)
    return heads[0] if len({letter for _, letter in heads}) == 1 and not taken else None
