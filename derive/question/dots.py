r"""Sums, products and lists with dots as ranges: w_1 x_1 + \dots + w_n x_n, \max(x_1, \dots, x_n)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.records import dataclass

_DOTS = r"\\(?:dots[bcm]?|ldots|cdots)(?![A-Za-z])|…|⋯"
_LIST = re.compile(
    r"(?P<op>\\(?:max|min))\s*(?:\\left\s*)?(?:\(|\\\{|\\lbrace|\[)\s*(?P<first>[^(){}\[\],]*(?:\{[^{}]*\}[^(){}\[\],]*)*)"
    rf",(?:(?:[^(){{}}\[\],]|\{{[^{{}}]*\}})*,)?\s*(?:{_DOTS})\s*,\s*(?P<last>[^(){{}}\[\],]*(?:\{{[^{{}}]*\}}[^(){{}}\[\],]*)*?)"
    r"\s*(?:\\right\s*)?(?:\)|\\\}|\\rbrace|\])"
)  # fmt: skip
_ENTRY = r"\\?[A-Za-z]+_\s*(?:\{[^{}]*\}|\w)"
_SUM = re.compile(rf"\+\s*(?:{_DOTS})\s*\+")
_PRODUCT = re.compile(
    rf"(?P<first>{_ENTRY})\s*(?:(?:\\cdot\s*)?(?P<second>{_ENTRY})\s*)?(?:\\cdot\s*)?\\cdots\s*(?:\\cdot\s*)?(?P<last>{_ENTRY})")
_INDEX = re.compile(r"_\s*(?:\{([^{}]*)\}|(\w))")
_ENDS = re.compile(  # k1|kn, 0|n-1
    r"(?P<lead>(?:\\?[A-Za-z]+[\s,]*)?)(?P<low>\d)\|(?P=lead)(?P<high>\\[A-Za-z]+|[A-Za-z](?:\s*[-+]\s*\d+)?|\d+)")
_LETTERS = "ijlmrsuvpqabc"
_SPACE = re.compile(r"\s|\\[,;:! ]")
_OPENING, _CLOSING = "([{", ")]}"


def without_dots(formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas with such dots as a sum, a maximum or a minimum over an index; others stay as they are."""
    written = "".join(f.latex for f in formulas)
    free = next((c for c in _LETTERS if not re.search(rf"(?<![A-Za-z\\]){c}(?![A-Za-z])", written)), None)
    if free is None:
        return list(formulas)
    return [replace(f, latex=_summed(_multiplied(_listed(f.latex, free), free), free)) for f in formulas]


def _listed(latex: str, free: str) -> str:
    def range_of(match: re.Match[str]) -> str:
        found = _general(match["first"].strip(), match["last"].strip(), free)
        if found is None or found.low > 1:
            return match[0]
        return rf"{match['op']}_{{{found.range(free)}}} {found.term}"

    return _LIST.sub(range_of, latex)


def _multiplied(latex: str, free: str) -> str:
    def product(match: re.Match[str]) -> str:
        found = _general(match["first"], match["last"], free)
        second = _general(match["second"], match["last"], free) if match["second"] else None
        if found is None or found.low > 1 or (match["second"] and second != replace(found, low=found.low + 1)):
            return match[0]
        return rf"\prod_{{{found.range(free)}}} {found.term}"

    return _PRODUCT.sub(product, latex)


def _summed(latex: str, free: str) -> str:
    while match := _SUM.search(latex):
        end, last = _term_behind(latex, match.end())
        start, first = _term_before(latex, match.start())
        found = _general(first, last, free)
        while found is not None and latex[:start].rstrip().endswith("+"):  # a_1 + a_2 + … + a_n
            earlier, first = _term_before(latex, latex.rfind("+", 0, start))
            before = _general(first, last, free)
            if before is None or before != replace(found, low=found.low - 1):
                break
            start, found = earlier, before
        if found is None or found.low > 1 or latex[:start].rstrip().endswith("-"):
            return latex
        latex = rf"{latex[:start]} \sum_{{{found.range(free)}}} {found.term} {latex[end:]}"
    return latex


@dataclass(frozen=True)
class _General:
    """The term at the new index, and where the index runs."""

    term: str
    low: int
    high: str

    def range(self, free: str) -> str:
        return rf"{self.low} \le {free} \le {self.high}"


def _general(first: str, last: str, free: str) -> _General | None:
    """What the first and the last term have in common; None where they differ in more than one index."""
    if _SPACE.sub("", _INDEX.sub("_", first)) != _SPACE.sub("", _INDEX.sub("_", last)):
        return None
    ends = [(_index(a), _index(b)) for a, b in zip(_INDEX.finditer(first), _INDEX.finditer(last), strict=True)]
    cuts = [_ENDS.fullmatch(f"{a}|{b}") for a, b in ends if a != b]
    if not cuts or None in cuts or len({(m["low"], m["high"]) for m in cuts if m}) != 1:
        return None
    cut = cuts[0]
    assert cut is not None
    differs = iter([a != b for a, b in ends])
    term = _INDEX.sub(lambda m: f"_{{{_with(free, _index(m))}}}" if next(differs) else m[0], first)
    return _General(term, int(cut["low"]), cut["high"])


def _index(match: re.Match[str]) -> str:
    return (match[1] or match[2] or "").strip()


def _with(free: str, index: str) -> str:
    """k1 → ki."""
    return re.sub(r"\d+$", f" {free}", index).strip()


def _term_before(latex: str, end: int) -> tuple[int, str]:
    """The term that ends here, up to the + or the bracket before it."""
    depth, at = 0, end
    while at:
        char = latex[at - 1]
        if char in _CLOSING:
            depth += 1
        elif char in _OPENING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and char in "+-=,&":
            break
        at -= 1
    return at, latex[at:end].strip()


def _term_behind(latex: str, start: int) -> tuple[int, str]:
    depth, at = 0, start
    while at < len(latex):
        char = latex[at]
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (char in "+-=,&.;" or latex.startswith(("\\right", "\\quad", "\\qquad", "\\\\"), at)):
            break
        at += 1
    return at, latex[start:at].strip()
