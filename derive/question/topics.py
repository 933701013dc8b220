"""Questions that are not answered: not about a layer, told by their subject, or on second derivatives."""

from __future__ import annotations

import re

from derive.card import Card
from derive.errors import Problem, UnsupportedError
from derive.notation.formulas import Formula
from derive.question.lexicon import named
from derive.question.prose import Prose

_TOPICS = {
    "dual": "a dual problem", "em": "the EM algorithm", "posterior": "a posterior",
    "estimate": "an estimate from samples", "bound": "a bound", "expectation": "an expectation",
    "closed": "a closed-form solution",
}  # fmt: skip
_CHOICES = re.compile(r"(?m)^\s*(?:[-*]\s*)?\(?[A-E]\)\s")  # (a), (b), (c) are parts of a question


def refuse_other_topics(card: Card, prose: Prose) -> None:
    """Raise :class:`UnsupportedError` for a question whose words say that it is not about a layer."""
    if str(card.front_matter.get("type", "")).startswith("multiple") or len(_CHOICES.findall(card.question)) > 2:
        raise UnsupportedError("a question with answers to choose from; only derivations are covered")
    for span in named(prose.text, "topic"):
        kind = span.concept.partition(".")[2]
        if kind in _TOPICS and not named(prose.text, "topic.layer"):
            quoted = prose.plain.quote(span.start, span.stop)
            raise UnsupportedError(Problem(f"“{quoted}”: the question is about {_TOPICS[kind]}, not about a layer's "
                                           "messages", line=prose.plain.line(span.start)))
        if kind == "recurrent" and not named(prose.text, "topic.steps"):
            raise UnsupportedError(Problem(f"“{prose.plain.quote(span.start, span.stop)}”: recursions are not covered",
                                           line=prose.plain.line(span.start)))


_BEFORE = re.compile(r"\bsecond(?:[- ]order)? (?:partial )?$|\bdruh\w+ $")
_FIRST = re.compile(r"\bgradients?\b|\bjacobian|(?<!second )(?<!order )(?<!partial )\bderivatives?\b")
_WRITTEN = re.compile(
    r"\\nabla\s*(?:_\s*(?:\{[^{}]*\}|\\?\w+))?\s*\^\s*\{?\s*2|(?:\\partial|(?<![a-z])d)\s*\^\s*\{?\s*2"
)


def asked(prose: Prose) -> tuple[str, int] | None:
    """What the question says or writes of second derivatives, and in which line; None where it does not."""
    for found in named(prose.text, "topic.second"):
        return f"“{prose.plain.quote(found.start, found.stop)}”", prose.plain.line(found.start)
    squared = next((gap.formula for gap in prose.gaps if written(gap.formula)), None)
    return None if squared is None else (f"${squared.latex.strip()}$", squared.line)


def written(formula: Formula) -> bool:
    return _WRITTEN.search(formula.latex) is not None


def begins(text: str, at: int) -> bool:
    """The word at this place is the derivative of «second derivative»."""
    return _BEFORE.search(text, 0, at) is not None


def alone(words: str) -> bool:
    """The words speak of second derivatives and of no first one."""
    return bool(named(words, "topic.second")) and _FIRST.search(words) is None
