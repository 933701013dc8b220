r"""Gradients that are written with a bar, as in automatic differentiation: \bar x is ∂L/∂x."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from derive.card import Card
from derive.errors import DeriveError
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.rules.kinds import equates
from derive.notation.symbols import name_of, split_label
from derive.question.words.lexicon import ends, named
from derive.question.words.prose import Gap, Prose
from derive.question.words.reading import question_formulas
from derive.sections import lines_of

_LETTER = r"\\bar\s*(?:\{\s*(?P<braced>\\?[A-Za-z]+(?:_\w|_\{\w+\})?)\s*\}|(?P<bare>\\[A-Za-z]+|\s*[A-Za-z]))"
_INDEX = r"(?:\s*_\s*(?:\w|\{[^{}]*\}))?"
_BARRED = re.compile(_LETTER)
_GIVEN = r"(?:(?::|\\coloneqq|\\equiv)?=?[^=]*\\partial[^=]*|=[^=]*)?"  # := ∂L/∂y
_ALONE = re.compile(rf"\s*{_LETTER}{_INDEX}\s*[.,;]?\s*{_GIVEN}", re.DOTALL)
_LOSS = re.compile(r"\\partial\s*(\\?[A-Za-z]+)\s*(?:\}|/)")
_LOSSES = ("L", r"\ell", "J", "E", "C")


def unbarred(card: Card) -> Card:
    r"""The card with ∂L/∂x for each \bar x; as it is where one is computed, or only one letter has a bar (a mean)."""
    if card.question.count(r"\bar") < 2:
        return card
    try:
        formulas = trees.with_trees(question_formulas(card))
    except DeriveError:
        return card
    barred = [f for f in formulas if _BARRED.search(f.latex)]
    letters = {_base(m) for f in barred for m in _BARRED.finditer(f.latex)}
    known = {name for f in formulas if f not in barred and equates(f) for name in re.findall(r"\\?[A-Za-z]+", f.latex)}
    bases = {letter.partition("_")[0] for letter in letters}
    if len(letters) < 2 or not bases <= known or not all(map(_listed, barred)):
        return card
    loss = _loss(card.question, formulas)
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    question = _BARRED.sub(lambda m: rf"\partial {loss}/\partial {_base(m)}", card.question)
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :])


def _base(match: re.Match[str]) -> str:
    return (match["braced"] or match["bare"]).strip()


def _listed(formula: Formula) -> bool:
    """Nothing but such letters stands in it, and their numbers."""
    latex, parted = formula.source.latex, trees.statements(formula.tree or ())
    parts = (latex[part[0].start : part[-1].end] for part in parted if part)
    return all(_ALONE.fullmatch(part) or r"\bar" not in part for part in parts)


def _loss(question: str, formulas: Sequence[Formula]) -> str:
    """The letter of the loss in a derivative on the card, else one that no formula has."""
    written = _LOSS.search(question)
    taken = trees.letters(formulas)
    return written[1] if written else next(c for c in (*_LOSSES, "L") if c.lstrip("\\") not in taken)


def asked_messages(prose: Prose, letters: Collection[str]) -> Iterator[tuple[Gap, str]]:
    r"""Where a request names \delta_x of one of these letters: «derive the message $\delta_x$», «… and $\delta_x$»."""
    for gap in prose.gaps:
        base, label = split_label(gap.formula.latex.strip())
        name = name_of((label or "").partition(",")[0])
        if base != r"\delta" or name not in letters or f"delta_{name}" in letters:
            continue
        asked = prose.text[prose.sentence(gap.start)[0] : gap.start]
        if named(asked, "ask.verb") and not ends(asked, "adjoint.given"):
            yield gap, name
