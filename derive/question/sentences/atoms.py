"""Tokens that stand for themselves: numbers, letters, formulas of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from derive.notation.rules.kinds import Said, is_case
from derive.question.sentences import request_atoms
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Token

NUMBERS = dict(zip("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
                   "sixteen".split(), map(str, range(1, 17)), strict=True))


def number_of(token: Token) -> str | None:
    return token.text if token.kind == "number" else NUMBERS.get(token.text) if token.kind == "word" else None


def _count(token: Token) -> str | None:
    if token.kind == "formula" and token.letters and len(token.letters) == 1 and token.said is Said.LETTERS:
        return token.formula.latex.strip()
    if token.kind == "word" and len(token.text) == 1 and token.text in "kmnd":
        return token.text.upper()
    return number_of(token)


def _letter(token: Token) -> Token | None:
    """x, x ∈ ℝ^n or t of t ∈ {0, 1}."""
    if token.kind != "formula" or "dots" in token.formula.latex:
        return None
    if len(token.letters) == 1:
        return token
    found = _MEMBER.match(token.formula.latex)
    tree = token.formula.tree if found else None
    return Token("formula", "", token.start, (token.formula.part(tree[:1], False),)) if tree else None


_MEMBER = re.compile(r"\s*([^=<>,]+?)\s*\\in\s*\\\{")




def _equation(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.equates else None


def _formula_value(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.said is Said.VALUE else None


def _letter_word(token: Token) -> str | None:
    return token.text if token.kind == "word" and len(token.text) == 1 else None


def _letters(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.letters else None


def _formula(token: Token) -> Token | None:
    return token if token.kind in ("formula", "number") and token.formulas else None


def _nameable(token: Token) -> Token | None:
    """A formula that names, declares or bounds letters, and computes nothing."""
    known = token.kind in ("formula", "number") and token.formulas
    return token if known and not token.equates and not token.sets else None


UNSAFE = words_of("en", "UNSAFE")


ATOMS: dict[str, Callable[[Token], Any]] = {
    "number": number_of, "count": _count, "letter": _letter, "equation": _equation,
    "derivative": request_atoms.derivative, "formulavalue": _formula_value, "called": request_atoms.called_letter,
    "prime": request_atoms.primed, "facts": request_atoms.facts, "size": request_atoms.size,
    "timed": request_atoms.timed, "raised": request_atoms.raised, "nonzero": request_atoms.nonzero,
    "definition": request_atoms.definition, "nameable": _nameable,
    "several": lambda token: token if token.kind == "formula" and len(token.letters) > 1 else None,
    "special": lambda token: token if token.formulas and is_case(token.formula.tree or ()) else None,
    "SLASH": lambda token: "" if token.text == "/" else None,
    "LB": lambda token: "" if token.text == "(" else None, "RB": lambda token: "" if token.text == ")" else None,
    "letterword": _letter_word, "letters": _letters, "formula": _formula,
}
