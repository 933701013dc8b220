"""What nothing hangs on, set aside before anything is read: side questions, which are not answered, and remarks.

Remarks say where a letter stands (“note that $x$ enters twice”), what becomes of the layer in a limit (“for
$\\beta \\to \\infty$ one recovers the maximum”), how an answer is to be written (“as simply as possible”).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.card import Card
from derive.errors import DeriveError
from derive.notation.rules.kinds import Said
from derive.question.posed import LIMIT
from derive.question.sentences.actions import ACTIONS
from derive.question.sentences.atoms import ATOMS
from derive.question.sentences.grammar import Parse, words_of
from derive.question.sentences.meaning import ROWS
from derive.question.sentences.runs import RUNS
from derive.question.sentences.tokens import Sentence, Token, asks, in_english, orders, sentences
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose
from derive.question.words.reading import lettered_prose
from derive.sections import lines_of

Place = tuple[int, int]
_ORDERS, _OTHERS = words_of("en", "SIDE_ORDER"), words_of("en", "OTHER_ORDER")
_ANSWERED = words_of("en", "BACKWARD_SAID")
_TAKES = words_of("en", "TAKES_A_LIMIT")
_SHORT = 5  # tokens
_THAT_IS = ["i", "e"]
_ASKS_WHAT = frozenset("what how where which".split())
_NAMES_MORE = frozenset("and forward backward parameter message messages jacobian second hessian negative".split())
_LEADS_A_LIST = words_of("en", "LEADS_A_LIST")
_MANNER = frozenset("also then now finally briefly bonus note side question remark and next please".split())
_MARK = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\(?(?:\d{1,2}|[a-h]|i{1,3}|iv|vi{0,3})[.)])[ \t]")
_MESSAGES = ("request.backward", "request.forward", "request.parameter", "request.filter", "request.everything")


def set_aside(card: Card) -> tuple[Card, tuple[str, ...]]:
    """The card without its side questions, and what is said of them.

    «What is the role of the factor?», «Verify that it is continuous.»: no layer hangs on them, where the question
    writes formulas and asks for derivatives of letters in other sentences.
    """
    try:
        prose = lettered_prose(card)
    except DeriveError:
        return card, ()
    if not in_english(prose.text):
        return card, ()
    places, slopes = [*_side(prose)], tuple(_slopes_taken(prose))
    question = card.question
    for start, stop in _remarks(prose):
        question = _blank(question, start, stop)
    for start, stop in places:
        question = _blank(question, start, stop - 1, ".")
    if question == card.question:
        return card, slopes
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    text = card.text[:at] + question + card.text[at + len(question) :]
    said = [(card.question_line + card.question.count("\n", 0, start), " ".join(card.question[start:stop].split()))
            for start, stop in places]
    return replace(card, text=text), tuple(
        f"not answered, since it asks for no derivative: line {line}: “{words}”" for line, words in said) + slopes


_SLOPE = re.compile(r"-?(?:[1-9]\d*(?:\.\d+)?|0\.\d+|\\[dt]?frac\s*\{?\d\}?\s*\{?\d\}?|\d/\d)")  # 1 or ½, not 0
_IN_WORDS = re.compile(r"\b(?:one|half|1)\b")


def _slopes_taken(prose: Prose) -> Iterator[str]:
    """«Use $1$ as the derivative at $0$»: slopes at a kink that the question takes, and the sheet does not."""
    for start, stop in itertools.pairwise(dict.fromkeys(prose.ends)):
        words = prose.text[start:stop]
        if all(named(words, concept) for concept in ("kink.taken", "kink.slope", "kink.at")) and (
                _IN_WORDS.search(words) or any(_SLOPE.fullmatch(gap.formula.latex.strip()) for gap in prose.gaps
                                               if start <= gap.start < stop)):
            yield f"not answered, since the slope at a kink is the one that the sheet names: {prose.said(start, stop)}"


def _blank(text: str, start: int, stop: int, sign: str = "") -> str:
    """The text with spaces there, and this sign in place of what follows them."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:stop]) + sign + text[stop + len(sign) :]


def _remarks(prose: Prose) -> Iterator[Place]:
    """Where remarks stand in the source: whole sentences, and in others how an answer is to be written."""
    origin = (*prose.plain.origin, len(prose.plain.source))
    for one in sentences(prose):
        if (said := _explained(one)) is not None:
            yield origin[said[0].start], origin[said[-1].stop]
        parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, one)
        if parse.whole("remark") or _is_limit(one):
            start, stop = _place(one, prose)
            yield start, stop - 1
            continue
        for n, token in enumerate(one):
            end = max((end for end, _ in parse.runs("manner", n)), default=0)
            if end:
                last = one[end - 1]
                yield origin[token.start], origin[last.stop]


def _explained(one: Sentence) -> Sentence | None:
    """«the update directions, i.e.» of «Derive the update directions, i.e. ∂E/∂w», where the derivatives say it.

    «How is it routed back, i.e.» of «How is it routed back, i.e. what is ∂L/∂x?»
    """
    texts = [t.text for t in one]
    for at in (n for n, t in enumerate(one) if t.formulas and t.said is Said.DERIVATIVE):
        if texts[at - 2 : at] == _THAT_IS:
            verb = next((n for n in range(at) if orders(one, n)), None)
            said = one[verb + 1 : at] if verb is not None else ()
            plain = said and not any(t.formulas or t.text in _NAMES_MORE for t in said) and len(said) < _SHORT + 2
            return said if plain else None
        if texts[at - 4 : at] in ([*_THAT_IS, "what", "is"], [*_THAT_IS, "what", "are"]):
            said = one[: at - 2]
            plain = texts[0] in _ASKS_WHAT and not any(t.formulas and not t.letters for t in said)
            return said if plain else None
    return None


def _is_limit(one: Sentence) -> bool:
    """It says what becomes of the layer in a limit, and takes none: it defines and orders nothing."""
    limits = any(t.formulas and LIMIT.search(t.formula.latex) for t in one)
    return limits and not asks(one) and not any(map(_defines, one)) and _TAKES.isdisjoint(t.text for t in one)


def _side(prose: Prose) -> Iterator[Place]:
    """Where side questions stand in the source: sentences, and what else is said in an item of nothing but these."""
    found = [one for one in sentences(prose) if one]
    asked = [{*_derivatives(one)} if asks(one) and not _is_question(one, prose) else set() for one in found]
    named_ = {latex for own in asked for latex in own}
    if not named_ or not any(map(_defines, (t for one in found for t in one))):
        return
    side = [not own and _is_side(one, named_, prose) for one, own in zip(found, asked, strict=True)]
    places = [_place(one, prose) for one in found]
    for first, last in _items(prose):
        own = [n for n, (start, _) in enumerate(places) if first <= start < last]
        if any(side[n] for n in own) and not any(asks(found[n]) and not side[n] or any(
                map(_defines, found[n])) or {*_derivatives(found[n])} - named_ for n in own):
            for n in own:
                side[n] = True
    yield from (place for place, aside in zip(places, side, strict=True) if aside and place[0] < place[1] - 1)


def _is_side(one: Sentence, asked: set[str], prose: Prose) -> bool:
    """It asks for words, or orders something that is no derivative; what it differentiates is asked for elsewhere."""
    if any(map(_defines, one)) or {*_derivatives(one)} - asked:
        return False
    start, stop = one[0].start, one[-1].stop
    words = prose.text[start:stop]
    nouns = named(words, "derivative", "message")
    of_role = any(named(words[noun.stop :], "slot.said_of") for noun in nouns)  # «the gradient of the weights»
    if of_role or named(words, "wrt", *_MESSAGES) or not _ANSWERED.isdisjoint(t.text for t in one):
        return False
    if _LEADS_A_LIST.issuperset(t.text for t in one if t.kind == "word"):
        return False  # «Write down, in this order,»
    short = any(t.formulas and t.letters for t in one) and len(one) < _SHORT  # «And $b$?»
    opening = _opening(one)
    if opening in ("which", "what") and nouns and one[-1].formulas and one[-1].said is Said.LETTERS:
        return False  # «Which gradient arrives at $b$?»
    claims = any(t.text == "that" for t in one)  # «show that the local derivative can be written …»
    return _is_question(one, prose) and not short or opening in _ORDERS or opening in _OTHERS and (claims or not nouns)


def _defines(token: Token) -> bool:
    return token.kind == "formula" and token.equates


def _opening(one: Sequence[Token]) -> str:
    """The first word that is not small: «verify» of «(b) Then verify …»."""
    return next((t.text for t in one if t.kind == "word" and len(t.text) > 1 and t.text not in _MANNER), "")


def _is_question(one: Sentence, prose: Prose) -> bool:
    """It ends with a question mark, and does not ask what a derivative is."""
    after = prose.text[one[-1].stop :].lstrip()
    return after.startswith("?") and not any(
        t.text in ("is", "are") and n + 1 < len(one) and one[n + 1].formulas and one[n + 1].said in (
            Said.DERIVATIVE, Said.GRADIENT) and n and one[n - 1].text == "what" for n, t in enumerate(one))


def _derivatives(one: Sentence) -> Iterator[str]:
    for token in one:
        for formula in token.formulas[:1]:
            if token.said in (Said.DERIVATIVE, Said.GRADIENT):
                yield formula.latex.replace(" ", "").strip(".,")


def _place(one: Sentence, prose: Prose) -> Place:
    """From its first token to the sign that ends it, in the source."""
    last = one[-1].stop
    stop = next((n for n in range(last, len(prose.text)) if not prose.text[n].isspace()), len(prose.text))
    closed = stop < len(prose.text) and prose.text[stop] in ".?!;"
    source = prose.plain.source
    origin = (*prose.plain.origin, len(source))
    first = origin[one[0].start]
    mark = _MARK.match(source, source.rfind("\n", 0, first) + 1)
    return max(first, mark.end() if mark else 0), origin[stop] + 1 if closed else origin[last]


def _items(prose: Prose) -> Iterator[Place]:
    """Where the items of a list begin and end in the source."""
    marks = [m.start() for m in _MARK.finditer(prose.plain.source)]
    yield from itertools.pairwise((*marks, len(prose.plain.source)))
