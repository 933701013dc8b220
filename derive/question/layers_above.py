r"""Layers numbered above without brackets: z^l_j = Σ_k W^l_{jk} a^{l-1}_k is read as z^{(l)}_j = …"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from derive.notation.formulas import Formula

_FACE = r"\\(?:mathbf|boldsymbol|bm|vec|mathrm|hat|tilde|bar)"
_LETTER = rf"(?:{_FACE}\s*\{{\s*\\?[A-Za-z]+\s*\}}|{_FACE}\s+[A-Za-z]|\\[A-Za-z]+|[A-Za-z])"
_BELOW = r"\s*_\s*(?:\{[^{}]*\}|\\[A-Za-z]+|\w)"
_ABOVE = r"\s*\^\s*(?:\{\s*([A-Za-z0-9]+(?:\s*[+-]\s*\d)?)\s*\}|([A-Za-z0-9]))"
_RAISED = re.compile(rf"(?<![\\A-Za-z])(?P<letter>{_LETTER})(?P<below>{_BELOW})?{_ABOVE}(?P<after>{_BELOW})?")
_STEP = re.compile(r"([A-Za-z])\s*[+-]\s*\d")
_HEAD = re.compile(r"(?:^|[,;&]|\\\\|\\q?quad|\\begin\{\w+\})\s*$")
_DEFINED = re.compile(r"\s*&?\s*(?::?=|\\in(?![A-Za-z]))")


def with_layers(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with brackets around the superscripts that number layers.

    Of letters, l numbers layers where an equation defines some z^l, an l − 1 or l + 1 stands
    above too, and l is no subscript.  Of digits, those of letters that an equation defines so,
    or that some 0 or 1 stands above: nobody writes a first power.
    """
    found = list(formulas)
    raised = [(f, match) for f in found for match in _RAISED.finditer(f.latex)]
    heads = {(_base(m), _script(m)) for f, m in raised if _is_head(f.latex, m)}
    steps = {step[1] for _, m in raised if (step := _STEP.fullmatch(_script(m)))}
    below = {c for _, m in raised for c in re.findall(r"[A-Za-z]", (m["below"] or "") + (m["after"] or ""))}
    layers = {letter for letter in steps - below if any(letter in script for _, script in heads)}
    digits = {_base(m) for _, m in raised if _script(m) in ("0", "1")} | {b for b, s in heads if s.isdigit()}
    listed = set(_listed(found))  # the 1 of x^1, \dots, x^m is no layer's number, and says nothing of σ^2
    if not any(s.isdigit() for _, s in heads) or not any(
            _script(m) in ("0", "1") and _base(m) not in listed for _, m in raised):
        digits = set()
    lettered = {_base(m) for _, m in raised if _script(m)[0].isalpha()} | listed
    numbered = digits - lettered - {"e"}
    if not layers and not numbered:
        return found

    def bracketed(match: re.Match[str]) -> str:
        script = _script(match)
        own = script[0] in layers if script[0].isalpha() else _base(match) in numbered and script.isdigit()
        if not own:
            return match[0]
        return f"{match['letter']}{match['below'] or ''}^{{({script})}}{match['after'] or ''}"

    return [replace(f, latex=_RAISED.sub(bracketed, f.latex)) for f in found]


def _base(match: re.Match[str]) -> str:
    return re.sub(rf"{_FACE}|[{{}}\s\\]", "", match["letter"])


def _script(match: re.Match[str]) -> str:
    return (match[3] or match[4] or "").replace(" ", "")


def _is_head(latex: str, match: re.Match[str]) -> bool:
    """z^l_j = … or A^0 ∈ …"""
    opens = _HEAD.search(latex, 0, match.start()) or not latex[: match.start()].strip()
    return opens is not None and opens is not False and _DEFINED.match(latex, match.end()) is not None


def _listed(formulas: Iterable[Formula]) -> Iterator[str]:
    r"""x of x^1, \dots, x^m: numbered samples."""
    for formula in formulas:
        if "dots" in formula.latex:
            yield from (_base(m) for m in _RAISED.finditer(formula.latex))
