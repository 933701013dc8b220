"""Words beside an equation that put it elsewhere: to another layer, to some terms of a sum, to a part of the cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from derive.check.texts import repeated
from derive.check.worded import rows
from derive.expr import Bracket, Cond, Expr, Idx, Mul, Node, Reduce, Rel, free_indices, subst, transform, walk
from derive.module import Module
from derive.question.parts.shown import SHOWN, Formulas
from derive.question.sentences.atoms import NUMBERS
from derive.question.sentences.grammar import words_of
from derive.question.words.lexicon import named

_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_DIGITS = {word: digits for word, digits in NUMBERS.items() if word != "one"}  # «one gets»
_LEAD = re.compile(r"[^:;]*?(?=[,:;]|\b(?:we|it|this|that|the gradient|is|are|has|would|gives|one)\b|\Z)",
                   re.IGNORECASE)
_FORMULA = re.compile(r"\$\$?[^$]*\$")
_VALUE = re.compile(r"[A-Za-z]\s*=\s*(\d+)\s*\$")  # $s = 2$
SUM = re.compile(r"\\sum\s*(?:\\limits)?\s*_(?:\{\s*(?=\w\s*\})|(?!\{))(\w)")
_SIZED = re.compile(r"(?:for|with|at)\s+\$\s*([A-Za-z])\s*=\s*\d+\s*\$", re.IGNORECASE)  # for $n = 2$
_NAMED = re.compile(r"\b(?:loss|cost|error|activation)\s+\$([^$=]*[^$=\w\s][^$=]*)\$", re.IGNORECASE)
_TELLS_DELTA = re.compile(r"\$\s*\\delta(?:_\{?\w+\}?)?\s*\$,?\s+"
                          r"(?:is|are|denotes?|denoting|stands\s+for|being|be|the)\s+([^.;:,$]+)", re.IGNORECASE)


def _words(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(text)]


def of_another(before: str, written: str, question: str, module: Module) -> str:
    """What says that an equation is of another layer than the question's: «with stride 1», «with the cross-entropy».

    ``before``: the words of its sentence in front of it, ``written``: with their formulas.
    """
    sized = _SIZED.search(written)
    asked_of = " ".join(_FORMULA.findall(question))
    if sized is not None and not re.search(rf"(?<![A-Za-z\\]){sized[1]}(?![A-Za-z])", asked_of):
        return sized[0]
    text = re.sub("[\0$\\s]+", " ", before).strip()
    if (found := re.search(rows("CLAIM_ASIDE"), text, re.IGNORECASE)) is not None:
        return found[0]
    words = _words(text)
    opens = next((n for n, w in enumerate(words[:4]) if w in words_of("en", "CLAIM_OF_LAYER")), None)
    if opens is None:
        return ""
    at = next(islice(_WORD.finditer(text), opens, None)).start()
    lead = _LEAD.match(text, at)
    phrase = lead[0].strip() if lead is not None else ""
    if words_of("en", "CLAIM_UNREAL") & {*words}:
        return phrase or text
    inside = {*_words(phrase)}
    if not phrase or words_of("en", "CLAIM_OF_PART") & inside:
        return ""
    asked = {_DIGITS.get(w, w) for w in _words(_FORMULA.sub(" ", question))}
    asked |= {m[1] for m in _VALUE.finditer(question)}
    own = _NAMED.search(written)
    if own is not None and not repeated(question)(own[1]):
        return f"{phrase} `{own[1].strip()}`"
    strange = words_of("en", "CLAIM_SIZE") & inside and any(
        _DIGITS.get(w, w) not in asked for w in inside if w in _DIGITS or w.isdigit())
    return phrase if strange or _names_another(phrase, question, module) else ""


def _names_another(phrase: str, question: str, module: Module) -> bool:
    """A part that the formulas of the layer do not show, and the question does not name."""
    values = [*(e.terms[1] for e in module.equations), *(f.body for f in module.functions)]
    formulas = Formulas.of(value for value in values if isinstance(value, Expr))
    own = {span.concept for span in named(question.lower(), "part")}
    names = {span.concept for span in named(phrase.lower(), "part")} - own
    return any(not SHOWN[name](formulas) for concept in names if (name := concept.partition(".")[2]) in SHOWN)


def of_terms(node: Node, behind: str) -> str:
    """What says over which terms the sum of an equation runs, where its formula does not."""
    words = _words(behind)
    runs = words_of("en", "CLAIM_RUNS") & {*words}
    return next((w for w in words if w in words_of("en", "CLAIM_TERMS")), "") if runs and unlimited(node) else ""


def unlimited(node: Node) -> Sequence[Reduce]:
    """Its sums that say no limits."""
    return [n for n in walk(node) if isinstance(n, Reduce) and n.op == "sum" and n.binder.cond is None
            and len(n.binder.variables) == 1 and not any((*n.binder.lower, *n.binder.upper))]


@cache
def _rest() -> re.Pattern[str]:
    return re.compile(rf"{rows('CLAIM_ELSE')}|{rows('CLAIM_REST')}", re.IGNORECASE)


def of_rest(behind: str, goes_on: bool = False) -> str:
    """What says in words what an equation is where its condition does not hold.

    ``goes_on``: a further equation follows, and «otherwise» in front of it is about that.
    """
    if goes_on:
        *_, last = (None, *_rest().finditer(behind))
        behind = behind[:last.start()] if last is not None else behind
    found = _rest().search(behind)
    return " ".join(behind[found.start():].replace("\0", " ").split()[:4]) if found is not None else ""


def of_delta(text: str) -> str:
    """What says in words that δ is something else than the gradient that comes in."""
    for found in _TELLS_DELTA.finditer(text):
        words = {w for w in _words(found[1]) if len(w) > 1}
        if words & words_of("en", "CLAIM_SHAPE"):
            continue
        if not words & words_of("en", "CLAIM_COMES_IN") or not words <= words_of("en", "CLAIM_INCOMING"):
            return " ".join(found[0].replace("$", "").split())
    return ""


def over(node: Rel, latex: str, cond: Cond) -> Rel | None:
    """An equation with a condition put into its sum without limits whose index it names; None where there is none.

    ``latex``: the equation as it is written, with the names of these indices.
    """
    names, sums = [Idx(m[1]) for m in SUM.finditer(latex)], unlimited(node)
    bound = dict(zip(names, sums, strict=True)) if len(names) == len(sums) else {}
    meant = [bound[i] for i in free_indices(cond) - free_indices(node) if i in bound]
    if len(meant) != 1:
        return None
    own: dict[Node, Node] = {name: n.binder.variables[0] for name, n in bound.items()}
    limited = Reduce("sum", meant[0].binder, Mul((Bracket(subst(cond, own)), meant[0].body)))
    return transform(node, lambda part: limited if part is meant[0] else None, Reduce)
