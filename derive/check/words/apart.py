"""Words beside an equation that put it elsewhere: to another layer, to some terms of a sum, to a part of the cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from derive.check.reading.texts import repeated
from derive.check.reading.worded import rows
from derive.expr import Bracket, Cond, Expr, Idx, Mul, Node, Reduce, Rel, free_indices, subst, transform, walk
from derive.module import Module
from derive.question.parts.shown import SHOWN, Formulas
from derive.question.sentences.atoms import NUMBERS
from derive.question.sentences.grammar import words_of
from derive.question.words.lexicon import named

_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_DIGITS = {word: digits for word, digits in NUMBERS.items() if word != "one"}  # «one gets»
_VERBS = r"we|it|this|that|the gradient|is|are|has|have|would|must|will|can|may|should|gives|need|needs|only|one gets"
_LEAD = re.compile(rf"[^:;\0]*?(?=[,:;\0]|\b(?:{_VERBS})\b|\Z)", re.IGNORECASE)
_FORMULA = re.compile(r"\$\$?[^$]*\$")
_VALUE = re.compile(r"[A-Za-z]\s*=\s*(\d+)\s*\$")  # $s = 2$
SUM = re.compile(r"\\sum\s*(?:\\limits)?\s*_(?:\{\s*(?=\w\s*\})|(?!\{))(\w)")
_SIZED = re.compile(r"(?:for|with|at)\s+\$\s*([A-Za-z])\s*=\s*\d+\s*\$", re.IGNORECASE)  # for $n = 2$
_UNREAL = re.compile(r"\b(?!we\b|one\b|you\b|it\b|this\b|i\b)\w+\s+would\s+(?:give|have|be|yield|get)\b", re.IGNORECASE)
_MORE = re.compile(r"\b(?:and|while|to which)\s[^.;\0]{0,80}?\b(adds|contributes)\b", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:loss|cost|error|activation)\s+\$([^$=]*[^$=\w\s][^$=]*)\$", re.IGNORECASE)
_TELLS_DELTA = re.compile(r"\$\s*\\delta(?:_\{?\w+\}?)?\s*\$,?\s+"
                          r"(?:is|are|denotes?|denoting|stands\s+for|being|be|the)\s+([^.;:,$]+)", re.IGNORECASE)


def _words(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(text)]


def _lead(before: str) -> str:
    """«with stride 1», «for unit vectors» at the beginning of a sentence, up to a formula, a comma or a verb."""
    words = [*_WORD.finditer(before)]
    opens = next((w for w in words[:4] if w[0].lower() in words_of("en", "CLAIM_OF_LAYER")), None)
    found = _LEAD.match(before, opens.start()) if opens is not None else None
    return " ".join(found[0].split()) if found is not None else ""


def of_another(before: str, near: str, written: str, question: str, module: Module) -> str:
    """What says that an equation is of another layer than the question's: «with stride 1», «with the cross-entropy».

    ``before``: the words of its sentence in front of it, ``written``: with formulas; ``near``: those of its clause.
    """
    sized = _SIZED.search(written)
    asked_of = " ".join(_FORMULA.findall(question))
    if sized is not None and not re.search(rf"(?<![A-Za-z\\]){sized[1]}(?![A-Za-z])", asked_of):
        return sized[0]
    if (found := re.search(rows("CLAIM_ASIDE"), before, re.IGNORECASE)) is not None:
        return found[0]
    phrase = _lead(before.replace("$", " "))
    inside = {*_words(phrase)}
    own = _NAMED.search(written) if phrase else None
    if own is not None and not repeated(question)(own[1]):
        return f"{phrase} `{own[1].strip()}`"
    if phrase and words_of("en", "CLAIM_UNREAL") & {*_words(before)}:
        return phrase
    if (unreal := _UNREAL.search(near)) is not None:
        return unreal[0]
    asked = {_DIGITS.get(w, w) for w in _words(_FORMULA.sub(" ", question))}
    asked |= {m[1] for m in _VALUE.finditer(question)}
    strange = words_of("en", "CLAIM_SIZE") & inside and any(
        _DIGITS.get(w, w) not in asked for w in inside if w in _DIGITS or w.isdigit())
    return phrase if strange else _another_part(near, question, module)


def _another_part(words: str, question: str, module: Module) -> str:
    """The name of a part that the formulas of the layer do not show, and the question does not name."""
    own, text = {span.concept for span in named(question.lower(), "part")}, words.lower().replace("$", " ")
    return next((text[span.start:span.stop] for span in named(text, "part") if span.concept not in own
                 and span.concept.partition(".")[2] in SHOWN and not _is_shown(span.concept, module)), "")


def of_part(before: str, near: str, names: frozenset[str], module: Module) -> str:
    """What may say that it is of some inputs, entries or terms alone: «for unit vectors», «the first term gives».

    ``before``: the words of its sentence in front of it; ``near``: those of its clause.
    """
    lead = _lead(before.replace("$", " ")).lower()
    for span in reversed([s for s in named(lead, "part") if _is_shown(s.concept, module)]):
        lead = lead[:span.start] + lead[span.stop:]
    known = names | words_of("en", "CLAIM_LEAD") | words_of("en", "CLAIM_OF_LAYER")
    strange = [w for w in _words(lead) if len(w) > 1 and w not in known]
    words = [w for w in _words(near) if len(w) > 1 or w.isdigit()]
    while words and words[-1] in words_of("en", "CLAIM_GIVES"):
        words.pop()
    if words_of("en", "CLAIM_CONCLUDES") & {*words[-1:]} and not words_of("en", "CLAIM_GIVES") & {*words[-2:-1]}:
        words, near = [], ""  # what stands before it is a reason
    told = [w for w in words[-5:] if w in words_of("en", "CLAIM_PARTIAL")]
    told += re.findall(rows("CLAIM_PIECE"), near, re.IGNORECASE)[-1:]
    told += [w for w in words[-2:] if w in words_of("en", "CLAIM_SINGLE")]
    return next(iter((*strange, *told)), "")


def _is_shown(concept: str, module: Module) -> bool:
    name = concept.partition(".")[2]
    values = [*(e.terms[1] for e in module.equations), *(f.body for f in module.functions)]
    return name in SHOWN and SHOWN[name](Formulas.of(value for value in values if isinstance(value, Expr)))


def done_with(behind: str) -> str:
    """What is done with an equation behind it: «times the slope», «is then summed»."""
    found = re.match(rf"[\s$\0,]*(?:which\s+|and\s+)?({rows('CLAIM_DONE_WITH')})", behind, re.IGNORECASE)
    found = found or _MORE.search(behind)
    return found[1] if found is not None else ""


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
