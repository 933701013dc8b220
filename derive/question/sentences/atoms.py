"""Tokens that stand for themselves: numbers, letters, formulas of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from derive.notation.rules.kinds import Said, is_case
from derive.notation.tree import Scripted, base_of, inside, is_token
from derive.question.sentences import request_atoms
from derive.question.sentences.actions import Say
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


_ENUMERATED = re.compile(
    r"\s*(?:(?P<whole>[^=<>]+?)\s*=\s*)?\(?\s*(?P<l>\\?[A-Za-z]+)_\{?(?P<first>\d+)\}?\s*(?:,\s*(?P=l)_\{?\d+\}?\s*)*"
    r"(?:,\s*\\[lc]?dots\s*)?,\s*(?P=l)_\{?(?P<last>\d+)\}?\s*\)?\s*(?:\^\{?(?:T|\\top)\}?)?\s*[.,]?\s*")


def _enumerated(token: Token) -> Say | None:
    r"""x_0, \dots, x_8: a signal of nine values."""
    found = _ENUMERATED.fullmatch(token.formula.latex) if token.kind == "formula" else None
    tree = token.formula.tree or () if found else ()
    base = next((base_of(i) for top in tree for i in (top, *inside(top)) if isinstance(i, Scripted)), None)
    count = int(found["last"]) - int(found["first"]) + 1 if found else 0
    listed = found is not None and (r"dots" in found[0] or found[0].count("_") == count)
    if found is None or base is None or count < 2 or not listed:
        return None
    return Say("signal1", (Token("formula", "", token.start, (token.formula.part((base,), False),)), str(count)))


def _equation(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.equates else None


def _function(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.said is Said.FUNCTION else None


def _formula_value(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.said is Said.VALUE else None


def _by(token: Token) -> Token | None:
    r"""m \times d."""
    return token if token.formulas and _BY.fullmatch(token.formula.latex) else None


_BY = re.compile(r"\s*\w+(?:\s*\\times\s*\w+)+\s*")


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


def _complement(token: Token) -> Say | None:
    """1 - z, of z."""
    found = _COMPLEMENT.fullmatch(token.formula.latex) if token.kind == "formula" else None
    tree = token.formula.tree if found else None
    rest = next((tree[n + 1 :] for n, item in enumerate(tree) if is_token(item, "MINUS")), ()) if tree else ()
    own = Token("formula", "", token.start, (token.formula.part(rest, False),)) if rest else None
    return Say("ref", ("", own)) if own is not None and len(own.letters) == 1 else None


_COMPLEMENT = re.compile(r"\s*(?:\\(?:mathbf|mathbb|bm)\s*\{?\s*)?1\}?\s*-.*")


_EXTENTS = re.compile(r"\s*\(?\s*(?:[A-Z]\s*(?:\\times|,)\s*)+[A-Z]\s*\)?\s*")
TINY = re.compile(r"\s*\\(?:var)?epsilon\s*(?:=.*|>\s*0\s*)?")


def _of_extents(token: Token) -> tuple[str, ...] | None:
    r"""N, C, H and W of N \times C \times H \times W."""
    found = _EXTENTS.fullmatch(token.formula.latex) if token.kind == "formula" else None
    return tuple(re.findall(r"[A-Z]", found[0])) if found else None


def _tiny(token: Token) -> Token | None:
    r"""\epsilon, \epsilon > 0, \epsilon = 10^{-5}."""
    return token if token.kind == "formula" and TINY.fullmatch(token.formula.latex) else None


_SIGNS = re.compile(r"\s*\\pm\s*1\s*|\s*\\\{\s*-1\s*,\s*\+?1\s*\\\}\s*")
_TAKEN_DOWN = frozenset("measured recorded sampled observed digitised discretised".split())
UNSAFE, _ALTERED = words_of("en", "UNSAFE"), words_of("en", "ALTERED")


def _datum(token: Token) -> str | None:
    """A word before an image or a signal that changes nothing of it."""
    other = token.kind != "word" or number_of(token) is not None or token.text in UNSAFE or token.text in _ALTERED
    return None if other or token.text.endswith("ed") and token.text not in _TAKEN_DOWN else ""


ATOMS: dict[str, Callable[[Token], Any]] = {
    "number": number_of, "count": _count, "letter": _letter, "equation": _equation, "function": _function,
    "derivative": request_atoms.derivative, "formulavalue": _formula_value, "called": request_atoms.called_letter,
    "prime": request_atoms.primed, "facts": request_atoms.facts, "size": request_atoms.size,
    "timed": request_atoms.timed, "raised": request_atoms.raised, "nonzero": request_atoms.nonzero,
    "definition": request_atoms.definition, "enumerated": _enumerated, "nameable": _nameable, "datum": _datum,
    "extents": _of_extents, "tiny": _tiny,
    "plusminus": lambda token: "" if token.kind == "formula" and _SIGNS.fullmatch(token.formula.latex) else None,
    "several": lambda token: token if token.kind == "formula" and len(token.letters) > 1 else None,
    "declared": lambda token: token if token.kind == "formula" and token.said is Said.DECLARATION else None,
    "special": lambda token: token if token.formulas and is_case(token.formula.tree or ()) else None,
    "SLASH": lambda token: "" if token.text == "/" else None,
    "LB": lambda token: "" if token.text == "(" else None, "RB": lambda token: "" if token.text == ")" else None,
    "added": lambda token: token if token.kind == "formula" and token.formula.latex.lstrip()[:1] == "+" else None,
    "letterword": _letter_word, "letters": _letters, "formula": _formula, "complement": _complement,
    "mbyd": _by, "positive": request_atoms.positive,
}
