"""Parts in words behind a formula: «$s = w^T x + b$ is followed by a sigmoid and the squared error with target $t$»."""

from __future__ import annotations

import re
from collections.abc import Sequence

from derive.expr import Entry, Expr, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.definitions import Definition, Definitions
from derive.question.naming import Mention, bare_letters, mentions
from derive.question.network import Network
from derive.question.part_words import Named
from derive.question.parts import letter_said
from derive.question.prose import Gap, Prose
from derive.question.qualifiers import Qualifiers
from derive.question.stated_loss import stated_loss
from derive.question.unaccounted import shown

_KIND = r"(?:\s+(?:activations?|functions?|layers?|units?|non-?linearit(?:y|ies)|loss|aktivac\w+|funkc\w+|vrstv\w+))?"
_SLOPE = r"(?:,?\s*with (?:an? |the )?(?:trainable |learn(?:ed|t|able) |fixed )*(?:slope |parameter )?∎)?"
_TARGET = r"(?:\s+∎)?(?:,?\s*with (?:the |a |binary |one-hot )*(?:targets?|labels?) ∎)?"
_AFTER = rf"{_KIND}{_SLOPE}{_TARGET}"
_ARTICLE = r"(?:an? |the |another |then |element-?wise )*"
_THEN = re.compile(
    rf"{_AFTER}\s*,?\s*(?:(?:which |that )?(?:is|are|be|its output is|and|and is)\s+)?(?:all |then |and )*"
    r"(?:follow(?:ed|s) by|pass(?:ed|es)? (?:on )?(?:through|to|into)"
    r"|(?:fed|put|sent|goes|go|run) (?:in)?(?:to|through)"
    rf"|and then|then|and(?: finally)?|→|,)\s*{_ARTICLE}"
)
_OF = re.compile(r"\\frac\s*\{\s*\\partial\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?)\s*\}")
_OF_LOSS = re.compile(r",?\s*(?:derive|compute|calculate|find|determine) the (?:gradients?|derivatives?) of the $")
_USED = r"(?:(?:is|are) (?:used|applied|minimi[sz]ed|taken)\s*)?"
_END = re.compile(rf"{_AFTER}\s*{_USED}(?:[.;¶]|$|with respect|for \b|\()")


def continued_parts(prose: Prose, written: Sequence[Formula], defined: Definitions, table: SymbolTable,
                    named: Sequence[Named]) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that words join to the output of the card's formulas, and what their letters are.

    Nothing where other words stand between, or where a formula computes one of the parts already.
    """
    last = _last(defined)
    gap = next((g for g in prose.gaps if last is not None and g.formula == last.formula), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    if last is None or gap is None:
        return [], []
    parts = [n for n in named if n.start > gap.start]
    if not parts or any(shown(n.part.name, values) for n in parts) or not _joined(prose, gap, parts):
        return [], []
    symbol = table.named(last.entry.tensor)
    spoken = list(mentions(prose, bare_letters))
    taken = {known.latex for name in defined.tensors if (known := table.named(name)) is not None}
    used = {s.latex for s in table.symbols}
    loss = next((stated_loss(prose, n, parts) for n in parts if n.part.loss), None)
    if loss is not None and loss.prediction(letter_said("target", spoken))[0] in taken:
        return [], []  # «a sigmoid behind $s$ and the error $(s - y)^2$»: which s?

    def letter(what: str) -> str | None:
        if what == "loss":
            asked = {m[1].strip() for f in written for m in _OF.finditer(f.latex)} - taken
            return asked.pop() if len(asked) == 1 else None
        found = letter_said(what, spoken)
        return None if found in (used if what in ("input", "preactivation") else taken) else found

    network = Network(prose, parts, letter, written, [], Qualifiers(prose, parts, spoken), loss)
    return network.formulas(symbol.latex if symbol else last.entry.tensor, not last.entry.indices and not (
        symbol and symbol.axes)), network.mentions


def _last(defined: Definitions) -> Definition | None:
    """The one definition that no other uses."""
    used = {n.tensor for d in defined.tensors.values() for n in _entries(d.value)}
    found = [d for name, d in defined.tensors.items() if name not in used]
    return found[0] if len(found) == 1 else None


def _entries(value: Expr) -> list[Entry]:
    return [n for n in walk(value) if isinstance(n, Entry)]


def _joined(prose: Prose, gap: Gap, parts: Sequence[Named]) -> bool:
    """Nothing but words that join stands between the formula and the parts, and nothing but their letters behind."""
    at = gap.start + 1
    for part in parts:
        between = prose.text[at : part.start]
        if not (_THEN.fullmatch(between) or (part.part.loss and len(parts) == 1 and _OF_LOSS.fullmatch(between))):
            return False
        at = part.end
    return _END.match(prose.text, at) is not None
