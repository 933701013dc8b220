r"""Gradients with letters of their own: \bar x as in automatic differentiation and g_x are ∂L/∂x; messages δ_x."""

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
from derive.question.letters.naming import computed_letters
from derive.question.words.lexicon import ends, named
from derive.question.words.prose import Gap, Prose, prose_of
from derive.question.words.reading import question_formulas
from derive.sections import lines_of

_BAR = r"\\bar\s*(?:\{\s*(?P<braced>\\?[A-Za-z]+(?:_\w|_\{\w+\})?)\s*\}|(?P<bare>\\[A-Za-z]+|\s*[A-Za-z]))"
_G = r"(?<![A-Za-z\\])g_(?:\{\s*(?P<group>\\?[A-Za-z]+(?:_\w)?)\s*\}|(?P<below>\\[A-Za-z]+|[A-Za-z]))"
_LETTER = rf"(?:{_BAR}|{_G})"
_INDEX = r"(?:\s*_\s*(?:\w|\{[^{}]*\}))?"
_BARRED = re.compile(_LETTER)
_GIVEN = r"(?:(?::|\\coloneqq|\\equiv)?=?[^=]*\\partial[^=]*|=[^=]*)?"  # := ∂L/∂y
_ALONE = re.compile(rf"\s*{_LETTER}{_INDEX}\s*[.,;]?\s*{_GIVEN}", re.DOTALL)
_LOSS = re.compile(r"\\partial\s*(\\?[A-Za-z]+)\s*(?:\}|/)")
_LOSSES = ("L", r"\ell", "J", "E", "C")


def unbarred(card: Card) -> Card:
    r"""The card with ∂L/∂x for each \bar x and g_x; as it is where one is computed, or one alone is not asked for."""
    if not _BARRED.search(card.question):
        return card
    try:
        formulas = trees.with_trees(question_formulas(card))
    except DeriveError:
        return card
    barred = [f for f in formulas if _BARRED.search(f.latex)]
    letters = {_base(m) for f in barred for m in _BARRED.finditer(f.latex)}
    known = {name for f in formulas if f not in barred and equates(f) for name in re.findall(r"\\?[A-Za-z]+", f.latex)}
    bases = {letter.partition("_")[0] for letter in letters}
    known -= {name for f in formulas if f not in barred for name in trees.indices(f.tree or ())}  # g_k of any k
    gradients = any(m["group"] or m["below"] for f in barred for m in _BARRED.finditer(f.latex))
    if not bases <= known or not all(map(_listed, barred)) or (len(letters) < 2 or gradients) and not (
            all(map(_told_as_derivative, barred)) and _asked(card, barred)) or gradients and "g" in known:
        return card
    loss = _loss(card.question, formulas)
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    question = _BARRED.sub(lambda m: rf"\partial {loss}/\partial {_base(m)}", card.question)
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :])


def _told_as_derivative(formula: Formula) -> bool:
    r"""\bar w, \bar w = ∂L/∂w, not the mean \bar x = 1/n Σ x_i."""
    return "=" not in formula.latex or r"\partial" in formula.latex


def _asked(card: Card, formulas: Sequence[Formula]) -> bool:
    """One of them stands behind an order in its sentence."""
    prose = prose_of(card.question, card.question_line, formulas)
    return any(_is_ordered(prose, gap) for gap in prose.gaps)


def _base(match: re.Match[str]) -> str:
    return next(filter(None, match.group("braced", "bare", "group", "below"))).strip()


def _listed(formula: Formula) -> bool:
    """Nothing but such letters stands in it, and their numbers."""
    latex, parted = formula.source.latex, trees.statements(formula.tree or ())
    parts = (latex[part[0].start : part[-1].end] for part in parted if part)
    return all(_ALONE.fullmatch(part) or not _BARRED.search(part) for part in parts)


def _loss(question: str, formulas: Sequence[Formula]) -> str:
    """The letter of the loss in a derivative on the card, that of one that a formula computes, one that none has."""
    written, taken, computed = _LOSS.search(question), trees.letters(formulas), computed_letters(formulas)
    own = next((c for c in _LOSSES if c in computed), None)
    return written[1] if written else own or next(c for c in (*_LOSSES, "L") if c.lstrip("\\") not in taken)


def message_of(formula: Formula) -> str:
    r"""x of \delta_x, empty for what is none."""
    base, label = split_label(formula.latex.strip())
    return name_of((label or "").partition(",")[0]) if base == r"\delta" else ""


def asked_messages(prose: Prose, letters: Collection[str], alone: bool) -> Iterator[tuple[Gap, str]]:
    r"""Where a request names \delta_x of one of these letters: «derive the message $\delta_x$», «… and $\delta_x$».

    ``alone``: nothing else asks for a derivative, and the request asks for such messages and nothing else.
    """
    for gap in prose.gaps:
        name, (start, stop) = message_of(gap.formula), prose.sentence(gap.start)
        if name not in letters or f"delta_{name}" in letters or not _is_ordered(prose, gap):
            continue
        others = (g for g in prose.gaps if start <= g.start < stop and not message_of(g.formula))
        if not alone or not any(_is_ordered(prose, other) for other in others):
            yield gap, name


def _is_ordered(prose: Prose, gap: Gap) -> bool:
    r"""Behind an order in its sentence, and not told with what, or of what: «from $\delta_y$»."""
    before = prose.text[prose.sentence(gap.start)[0] : gap.start]
    return bool(named(before, "ask.verb")) and not ends(before, "adjoint.given")
