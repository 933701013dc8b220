"""Questions that are not answered: not about a layer, told by their subject, or on second derivatives."""

from __future__ import annotations

import re

from derive.card import Card
from derive.errors import Problem, UnsupportedError
from derive.notation.formulas import Formula
from derive.question.prose import Prose, one_of

_TOPICS = {
    "a dual problem": one_of(
        r"\bdual (?:problem|formulation|form|function|task)", r"\bits dual\b", r"\blagrang\w*", r"\bkkt\b", r"\bkarush",
        r"\bduáln\w*",
    ),
    "the EM algorithm": one_of(r"\bem[- ]algorithm", r"\bexpectation[- ]maximi[sz]ation", r"\b[em]-step\b"),
    "a posterior": one_of(
        r"\bposterior\w*", r"\bnaive[- ]bayes\b", r"\bprior (?:distribution|probab\w*)", r"\baposteriorn\w*",
        r"\bbayes(?:ian|ov\w*|['’]s?)? (?:rule|theorem|formula|law|classif\w*|decision|risk|estimat\w*|inference"
        r"|optimal\w*|error|strateg\w*|network|learning|approach|regression|model\w*|vět\w*|vzor\w*)", r"\bbayes['’]",
    ),
    "an estimate from samples": one_of(
        r"\bmaximum[- ](?:likelihood|a posteriori)[- ]estimat\w*", r"\bmle\b",
        r"\bmaximum likelihood (?:solution|param\w*)", r"\bunbiased\b", r"\bi\.? ?i\.? ?d\b", r"\bestimator\b",
        r"\bmaximálně věrohodn\w*",
    ),
    "a bound": one_of(
        r"\bhoeffding\w*", r"\bvc[- ]dimension", r"\bpac\b", r"\bgenerali[sz]ation bound", r"\bsample complexity"
    ),
    "an expectation": one_of(
        r"\bbias[- ]variance", r"\bexpect(?:ation|ed) value", r"\bmarkov", r"\bbellman",
        r"\bvalue iteration",
    ),
    "a closed-form solution": one_of(
        r"\bclosed[- ]form", r"\bnormal equations?\b",
        r"\bset(?:ting)? (?:the |its )?(?:derivatives?|gradient)\b[^.?!]{0,60}\bzero", r"\bkernel trick",
        r"\beigen(?:value|vector)s?\b", r"\bprincipal component",
    ),
}  # fmt: skip
_IN_TIME = one_of(r"\bback-?propagation through time", r"\bbptt\b")
_LAYER = one_of(
    r"\blayer\b", r"\bnetwork\b", r"\bneuron\w*", r"\bactivation\b", r"\bbackward\b", r"\bmessage", r"\bback-?prop",
    r"\bupstream", r"\bvrstv\w*", r"\bneuronov\w*",
)  # fmt: skip
_CHOICES = re.compile(r"(?m)^\s*(?:[-*]\s*)?\(?[A-E]\)\s")  # (a), (b), (c) are parts of a question


def refuse_other_topics(card: Card, prose: Prose) -> None:
    """Raise :class:`UnsupportedError` for a question whose words say that it is not about a layer."""
    if str(card.front_matter.get("type", "")).startswith("multiple") or len(_CHOICES.findall(card.question)) > 2:
        raise UnsupportedError("a question with answers to choose from; only derivations are covered")
    for topic, pattern in _TOPICS.items():
        found = pattern.search(prose.text)
        if found and not _LAYER.search(prose.text):
            quoted = prose.plain.quote(*found.span())
            raise UnsupportedError(Problem(f"“{quoted}”: the question is about {topic}, not about a layer's messages",
                                           line=prose.plain.line(found.start())))
    recurrent = _IN_TIME.search(prose.text)
    if recurrent:
        raise UnsupportedError(Problem(f"“{prose.plain.quote(*recurrent.span())}”: recursions are not covered",
                                       line=prose.plain.line(recurrent.start())))


_SAID = one_of(
    r"\bhessians?\b", r"\bsecond(?:[- ]order)? (?:partial )?derivatives?", r"\bhesián\w*", r"\bdruh\w+ derivac\w*"
)
_BEFORE = re.compile(r"\bsecond(?:[- ]order)? (?:partial )?$|\bdruh\w+ $")
_FIRST = re.compile(r"\bgradients?\b|\bjacobian|(?<!second )(?<!order )(?<!partial )\bderivatives?\b")
_WRITTEN = re.compile(
    r"\\nabla\s*(?:_\s*(?:\{[^{}]*\}|\\?\w+))?\s*\^\s*\{?\s*2|(?:\\partial|(?<![a-z])d)\s*\^\s*\{?\s*2"
)


def asked(prose: Prose) -> tuple[str, int] | None:
    """What the question says or writes of second derivatives, and in which line; None where it does not."""
    found = _SAID.search(prose.text)
    if found is not None:
        return f"“{prose.plain.quote(*found.span())}”", prose.plain.line(found.start())
    squared = next((gap.formula for gap in prose.gaps if written(gap.formula)), None)
    return None if squared is None else (f"${squared.latex.strip()}$", squared.line)


def written(formula: Formula) -> bool:
    return _WRITTEN.search(formula.latex) is not None


def begins(text: str, at: int) -> bool:
    """The word at this place is the derivative of «second derivative»."""
    return _BEFORE.search(text, 0, at) is not None


def alone(words: str) -> bool:
    """The words speak of second derivatives and of no first one."""
    return _SAID.search(words) is not None and _FIRST.search(words) is None
