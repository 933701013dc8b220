r"""What a question says of the letters that are given and no fact of its layer holds: «a symmetric matrix $A$»."""

from __future__ import annotations

import re
from collections.abc import Iterable

from derive.check.words.properties import Property
from derive.check.words.sentences import phrases
from derive.expr import Entry, walk
from derive.formulas import formulas
from derive.module import Module
from derive.notation.symbols import name_of

_NEAR = 40  # characters between a word and the letter of which it is said
_LETTER = re.compile(r"\s*(\\?(?:mathbf|boldsymbol)?\s*\{?\\?[A-Za-z]+\}?)\s*(?:[_\\,]|\Z)")
_CLAUSE = re.compile(r"[.;:,]|\b(?:and|with|by|of)\b")
_NORMALISED = re.compile(r"\b(?:normali[sz]ed|unit)\s*\Z")  # with normalised $u$
_IS = re.compile(r"(?:is|are|be|being)\b")
_TO_ONE = re.compile(r"\b(?:sum|sums|summing|summed|add|adds)\s+(?:up\s+)?to\s+(?:one|\$?1\$?)\b"
                     r"|\bconvex\s+combination\b")
_RELATIONS = re.compile(r"(?<![A-Za-z\\])([A-Za-z])\s*(?:=\s*\1\s*\^|\^\S{0,12}\s*\1\s*=)"
                        r"|\\\|\s*[A-Za-z\\]+\s*\\\|\s*=\s*1")  # A = A^T, |u| = 1


def unused(question: str, module: Module, used: Iterable[Property] = ()) -> str:
    """The words, or "": an equation that fails may hold by them, and is not refuted.

    ``used``: what is looked at.
    """
    for p in used:
        if p.exact:
            question = question[:p.start] + re.sub(r"[^\n]", " ", question[p.start:p.stop]) + question[p.stop:]
    known = {n.tensor for fact in module.facts for n in walk(fact) if isinstance(n, Entry)}
    given = {*module.given} - known
    said = _RELATIONS.search(question) or (_TO_ONE.search(question) if not module.facts else None)
    if said is not None:
        return said[0].strip("$ ")
    starts = [0, *(m.end() for m in re.finditer("\n", question))]
    places = [(f, starts[f.line - 1] + f.column) for f in formulas(question)]
    chars = [*question]
    for formula, at in places:
        chars[at:at + len(formula.latex)] = " " * len(formula.latex)
    hidden = "".join(chars)
    for formula, at in places:
        letter = _LETTER.match(formula.latex)
        if letter is None or "=" in formula.latex or name_of(letter[1]) not in given:
            continue
        stop = at + len(formula.latex)
        before = _CLAUSE.split(hidden[max(0, at - _NEAR):at].replace("$", " "))[-1]
        behind = _CLAUSE.split(hidden[stop:stop + _NEAR].replace("$", " "))[0].lstrip()
        symbol = module.table.named(name_of(letter[1]))
        names = ("CLAIM_OF_GIVEN", "CLAIM_OF_ENTRIES") if symbol is not None and symbol.axes else ("CLAIM_OF_GIVEN",)
        told = _NORMALISED.search(before) or next((m for name in names if (m := _said(name, before, behind))), None)
        if told is not None:
            return told[0]
    return ""


def _said(name: str, before: str, behind: str) -> re.Match[str] | None:
    """In front of a letter, right behind it, or behind «is»."""
    words = phrases(name)
    return words.search(before) or (words.search(behind) if _IS.match(behind) else words.match(behind))
