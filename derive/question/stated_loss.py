"""The formula that stands behind a loss's name: what it computes, and of which letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.notation.symbols import ACCENTS, ALPHABETS, GREEK
from derive.question.claims import computes_nothing
from derive.question.prose import Prose
from derive.records import dataclass


class Placed(Protocol):
    """What words name from ``start`` to ``end``."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


_BETWEEN = re.compile(r"[\s,:(]*(?:(?:loss|error|function|term|is|given|defined|by|as|i\.?e\.?|=)[\s,:]*)*")
_HEAD = re.compile(
    r"\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?(?:\s*_\s*(?:\{[^{}]*\}|\w))?)\s*(?:\([^()=]*\)\s*)?&?\s*:?="
    r"\s*(.*)", re.DOTALL)
_RELATION = re.compile(r"[=<>]|\\(?:in|leq?|geq?|neq?|to|mapsto|sim|times|mathbb)(?![a-zA-Z])")
_COMPUTED = re.compile(r"[+\-/^(|]|\\(?:[dt]?frac|max|min|log|ln|exp|sqrt|tanh|sum)(?![a-zA-Z])")
_ACCENT = "|".join(sorted({*ACCENTS, *ALPHABETS, "mathbf", "boldsymbol", "bm", "mathrm", "vec"}))
_LETTER = re.compile(
    rf"\\(?:{_ACCENT})(?:\s*\{{\s*\\?[A-Za-z]+\s*\}}|\s+[A-Za-z](?![A-Za-z]))|\\[A-Za-z]+"
    r"|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_SCRIPTED = r"(?:\\?[A-Za-z]+\s*|\{[^{}]*\}|_\w|\s)+"
_DISTANCE = re.compile(
    rf"\({_SCRIPTED}-{_SCRIPTED}(?:\\right\s*)?\)\s*\^\s*(?:2|\{{\s*2\s*\}})"
    rf"|\|{_SCRIPTED}-{_SCRIPTED}(?:\\right)?[|\\]")
_SUM = re.compile(
    r"\\sum\s*(?:\\limits\s*)?_\s*(?:\{[^{}]*\}|\w)(?:\s*\^\s*(?:\{[^{}]*\}|\w))?")
_SUBSCRIPT = re.compile(r"_\s*(?:\{[^{}]*\}|\w)")


@dataclass(frozen=True)
class StatedLoss:
    """The formula behind a loss's name: what it computes, of which two letters, and its own letter if it has one."""

    formula: Formula
    letter: str | None
    value: str
    letters: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """It sums over the outputs, or takes the length of their vector."""
        return re.search(r"\\sum|\\\||\|\||\\[lr]?Vert|\\left\\\|", self.value) is not None

    def prediction(self, target: str | None) -> tuple[str, str]:
        """Which letter is computed and which the target: as the words say, else in the order of (s − y)^2 or |s − y|.

        Raises :class:`CardError` where the formula has other letters than two, or nothing says which is which.
        """
        if len(self.letters) != 2:
            raise CardError(Problem(f"`${self.formula.latex.strip()}$`: a loss of a prediction and a target has two "
                                    "letters; write the forward formulas of the whole network", line=self.formula.line))
        first, second = self.letters
        if target not in self.letters and _DISTANCE.search(self.value) is None:
            raise CardError(Problem(f"`${self.formula.latex.strip()}$`: which letter is the target? Write e.g. “with "
                                    f"target ${second}$”", line=self.formula.line))
        return (second, first) if first == target else (first, second)


def stated_loss(prose: Prose, named: Placed, others: Sequence[Placed]) -> StatedLoss | None:
    """The formula that stands right behind the loss's name, with no other part between."""
    for gap in prose.gaps:
        between = prose.text[named.end : gap.start] if gap.start >= named.end else None
        if between is not None and _BETWEEN.fullmatch(between) and not any(
                named.end <= other.start < gap.start for other in others):
            return _as_loss(gap.formula)
    return None


def _as_loss(formula: Formula) -> StatedLoss | None:
    head = _HEAD.fullmatch(formula.latex)
    letter, value = (head[1], head[2]) if head else (None, formula.latex)
    value = value.strip(" .,;")
    if not _computes(value) or computes_nothing(formula):
        return None
    bare = _SUBSCRIPT.sub("", _SUM.sub("", value))
    found = [m[0] for m in _LETTER.finditer(bare)]
    found = [re.sub(r"^(\\[A-Za-z]+)\s+([A-Za-z])$", r"\1{\2}", c) for c in found]
    letters = [c for c in found if not c.startswith("\\") or c[1:] in GREEK or "{" in c]
    return StatedLoss(formula, letter, value, tuple(dict.fromkeys(letters)))


def _computes(latex: str) -> bool:
    scripts = re.sub(r"\\sum\s*_\s*(?:\{[^{}]*\}|\w)", "", latex)
    return _COMPUTED.search(latex) is not None and _RELATION.search(scripts) is None
