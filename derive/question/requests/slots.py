"""Places of a question at which every word counts: an unknown one there leaves open what is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.rules.letters import of_loss
from derive.notation.rules.trees import letter, sides, statements
from derive.notation.tree import base_of, has
from derive.question.letters.naming import Mention, written_letters
from derive.question.requests.excepted import excepted
from derive.question.requests.in_formulas import is_primed
from derive.question.requests.of_what import tails, unknown_nouns
from derive.question.requests.verbs import requested
from derive.question.words.lexicon import FAMILIES, Span, begins, ends, named, only, spans
from derive.question.words.prose import BREAK, Prose
from derive.specify.roles import Role

_ENDS_PHRASE = frozenset("a an the its this of for in with to by on and or is are where let given s se z k".split())
_LISTED_BEFORE = re.compile(r"([^\W\d_]{2,})\s*(?:,|\band\b|\bwith\b)\s+(?:(?:an?|the|then)\s+)*$")
_PARTICIPLE = re.compile(r"\w+(?:ed|ing)\s+(?:as|by|to|with|in|from|into|on|through|at|for)\b")  # «modelled as»
_WORD = re.compile(r"[^\W\d_]{2,}")
_MESSAGES = ("request.jacobian", "request.gradient", "request.message", "request.everything", "request.vjp",
             "request.backward", "request.forward", "request.parameter", "wrt.by", "ask.explain")
_NEAR = 300  # characters in front of a noun in which words modify it
Place = tuple[int, int]


_OF_FORMULAS = ("statistic", "sign", "ties")  # families that say nothing of a part, or of a loss
# families whose words in front of a derivative make another one of it
_CHANGES = ("beside", "change", "concept", "convolved", "convolving", "defines", "dropped", "factor", "kept",
            "operation", "quantity", "samples", "sign", "statistic", "twist")
_ELSEWHERE = (*_OF_FORMULAS, "quantity", "geometry", "point", "topic", "fact", "claim")


@lru_cache(maxsize=64)
def _known(text: str, without: tuple[str, ...]) -> frozenset[int]:
    """The places of a text that belong to a word of the lexicon."""
    return frozenset(at for family in FAMILIES if family not in without for span in spans(text, family)
                     for at in range(span.start, span.stop))


def unknown(text: str, start: int, stop: int, without: tuple[str, ...] = ()) -> Iterator[Place]:
    """The words between two places that are none of the lexicon's, or of families that do not count here."""
    known = _known(text, without)
    for word in _WORD.finditer(text, start, stop):
        if word.start() not in known:
            yield word.span()


def behind_joins(prose: Prose) -> Iterator[Place]:
    """«followed by a …»: the first word that is not small."""
    for join in named(prose.text, "join.through"):
        _, stop = prose.sentence(join.start)
        for word in _WORD.finditer(prose.text, join.stop, min(stop, join.stop + 60)):
            if not {*prose.text[join.stop : word.start()]}.isdisjoint("∎,;:("):
                break
            if any(s.start <= word.start() < s.stop for s in spans(prose.text, "small")):
                continue
            yield from unknown(prose.text, *word.span())
            if any(s.start <= word.start() < s.stop for s in spans(prose.text, "change")) and not any(
                    s.start <= word.start() < s.stop for s in spans(prose.text, "part")):
                yield word.span()
            break


def losses(prose: Prose) -> Iterator[Place]:
    """«trained with the … loss», «the loss is the … distance»: words that are not known, where no formula follows."""
    heads = named(prose.text, "head.loss", "head.measure")
    parts = [part for f in prose.formulas for part in statements(f.tree or ())]
    computed = {letter(base_of(run[0])) for part in parts if len(sides(part)) > 1 for run in sides(part)[:1] if run}
    if any(letter(own[1]) in computed for part in parts if (own := of_loss(part)) is not None):
        return  # of ∂L/∂a and $L = …$ the loss is written
    for by in named(prose.text, "training"):
        head = next((h for h in heads if by.stop <= h.start < prose.sentence(by.start)[1]), None)
        if head is not None and len(prose.text[by.stop : head.start].split()) <= 4:
            yield from _without_formula(prose, by.stop, head.stop, _ELSEWHERE)
    for head in heads:
        verb = next((s for s in named(prose.text, "naming.one") if prose.text[head.stop : s.start] == " "), None)
        if verb is not None and not begins(prose.text, verb.stop, "slot.compared"):
            yield from _without_formula(prose, verb.stop, prose.sentence(head.start)[1], _OF_FORMULAS)


def _without_formula(prose: Prose, start: int, stop: int, without: tuple[str, ...]) -> Iterator[Place]:
    """The words that are not known between two places, unless their sentence goes on with a formula or followed one."""
    for word in unknown(prose.text, start, stop, without):
        if not _has_formula(prose, word):
            again = (m.span() for m in _WORD.finditer(prose.text) if m[0] == prose.text[slice(*word)])
            yield from () if any(_has_formula(prose, place) for place in again) else (word,)


def _has_formula(prose: Prose, word: Place) -> bool:
    """«the focal loss $ℓ = …$», «$ℓ = …$ is the focal loss»."""
    start, stop = prose.sentence(word[0])
    here = [g for g in prose.gaps if start <= g.start < stop and equates(g.formula)]
    return prose.text[stop - 1] == BREAK or any(g.start > word[0] or only(
        prose.text, g.start + 1, word[0], "naming", "small") for g in here)


def before_parts(prose: Prose, computed: Callable[[str], bool]) -> Iterator[Place]:
    """«is … the squared error»: the word in front of the article of a part's name that no formula ``computed``."""
    for part in named(prose.text, "part"):
        if computed(part.concept.partition(".")[2]):
            continue
        start, _ = prose.sentence(part.start)
        for word in reversed([*_WORD.finditer(prose.text, max(start, part.start - 40), part.start)]):
            if not {*prose.text[word.end() : part.start]}.isdisjoint(",;:()∎"):
                break
            if not any(s.start <= word.start() < s.stop for s in spans(prose.text, "small")):
                if named(prose.text[word.end() : part.start], "naming.article"):
                    yield from unknown(prose.text, *word.span())
                break


def beside_parts(prose: Prose, parts: Sequence[Place]) -> Iterator[Place]:
    """The words of the sentences that name the parts of a network: up to the last part, and what is listed behind."""
    pooled = any("pool" in prose.text[a:b] for a, b in parts)
    without = tuple(family for family in _ELSEWHERE if family != "geometry" or not pooled)
    for start, stop in sorted({prose.sentence(a) for a, _ in parts}):
        here = [(a, b) for a, b in parts if start <= a < stop]
        whole = named(prose.text[start:stop], "join") or ":" in prose.text[start : here[0][0]]
        first, last = start if whole else here[0][0], here[-1][1]
        listed_before = _LISTED_BEFORE.search(prose.text, start, here[0][0])
        if listed_before:
            yield from unknown(prose.text, *listed_before.span(1), without)
        subject = max((first + s.stop for s in named(prose.text[first : here[0][0]], "naming.is", "naming.has",
                                                         "join.list")),
                      default=first)  # «the last stage of a classifier is …»
        yield from unknown(prose.text, first, subject)
        goes_on = {prose.text.rfind(" ", 0, s.start) for s in named(prose.text, "join.through")}  # «the sum passes …»
        yield from (place for place in unknown(prose.text, subject, last, without)
                    if place[1] not in goes_on or [*unknown(prose.text, *place)])
        for listed in re.finditer(r"(?:,|\band\b|\bwith\b|\bby\b|[+→]|\ba\b)((?:\s+[\w-]+)+)", prose.text[last:stop]):
            for word in _WORD.finditer(prose.text, last + listed.start(1), last + listed.end(1)):
                yield from unknown(prose.text, *word.span(), without)


def beside_letters(prose: Prose, said: Iterable[Mention], without: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """«the … $w$» and «$w$ is a …», of letters ``without`` a role: the noun."""
    without = {*without}
    places = {id(gap.formula): gap.start for gap in prose.gaps}
    for mention in said:
        at = places.get(id(mention.formula))
        if at is None or not without & {*mention.letters}:
            continue
        name = next(name for name in mention.letters if name in without)
        before = [*_WORD.finditer(prose.text, max(0, at - len(mention.before) - 2), at)]
        verb = len(before) == 1 and prose.text[: before[0].start()].rstrip().endswith("∎")  # «$b$ fuses $u$»
        if before and not verb and not prose.text[before[-1].end() : at].strip(" (") and mention.before:
            yield from ((name, place) for word in _phrase(before) for place in unknown(prose.text, *word))
        behind = re.match(r"\s+([^\W\d_]{2,})", prose.text[at + 1 : at + 40])
        if behind and only(mention.before, 0, len(mention.before), "naming.also", "naming.apart"):
            yield from ((name, p) for p in unknown(prose.text, at + 1 + behind.start(1), at + 1 + behind.end(1)))
        after = prose.text.find(mention.after, at) if mention.after else -1
        apart = min((s.stop for s in named(mention.after, "slot.apart")), default=len(mention.after))
        stop = after + len(re.split("[,(∎]", mention.after[:apart])[0])
        for word in _WORD.finditer(prose.text, after, stop) if after >= 0 else ():
            if not _PARTICIPLE.match(prose.text, word.start()):
                yield from ((name, place) for place in unknown(prose.text, *word.span()))


def _phrase(words: Sequence[re.Match[str]]) -> Iterator[Place]:
    """The last word; with it those in front of it, back to an article or a preposition, where it is «output» or so."""
    for n, word in enumerate(reversed(words)):
        if word[0] in _ENDS_PHRASE or (n and not named(words[-1][0], "letter", "role")):
            return
        yield word.span()


def refuse_requests(prose: Prose) -> None:
    """Raise :class:`CardError` where a word that is not known says what is asked, or what a layer is passed through.

    Of a layer with one input «the image» is that.
    """
    refuse_passed(prose)
    refuse_asked(prose, "geometry.input")


def refuse_passed(prose: Prose) -> None:
    """Raise :class:`CardError` where a word that is not known says what a layer is passed through, or its loss."""
    refuse_words(prose, behind_joins(prose))
    refuse_words(prose, losses(prose))


def refuse_asked(prose: Prose, *known: str) -> None:
    """Raise :class:`CardError` where a word says what is asked that is not known and no phrase of these concepts."""
    unread = _unread(prose)
    for start, stop in silent(prose) if unread == [(0, len(prose.text))] else ():
        raise not_asked_so(prose, start, stop)
    for start, stop in (place for place in in_requests(prose) if any(place[0] < b and a < place[1] for a, b in unread)):
        if not (known and named(prose.text[start:stop], *known)):
            raise not_asked_so(prose, start, stop)


def silent(prose: Prose) -> Iterator[Place]:
    """Sentences that ask, in which neither words nor a formula in them or behind them tell a derivative or message."""
    for verb in named(prose.text, "ask.verb"):
        _, stop = prose.sentence(verb.start)
        within = [gap.formula for gap in prose.gaps if verb.stop <= gap.start < stop]
        told = named(prose.text[verb.stop : stop], *_MESSAGES) or any(
            kind_of(f) in (Said.DERIVATIVE, Said.GRADIENT) or "=" in f.latex for f in within)
        if not told and prose.text[verb.stop : stop].strip(f" .:{BREAK}"):  # not «odvoďte» and a displayed formula
            yield verb.start, max(verb.stop, stop - 1)


def not_asked_so(prose: Prose, start: int, stop: int) -> CardError:
    """What is raised for words of a request that are not understood."""
    quoted = prose.plain.quote(start, stop)
    return CardError(Problem(f"“{quoted}” is not understood in what is asked; write the derivatives that are wanted, "
                             "or `derive` in the front matter", line=prose.plain.line(start)))


def _unread(prose: Prose) -> list[Place]:
    """The sentences of which rows do not settle what they ask for."""
    from derive.question.sentences.meaning import is_settled
    from derive.question.sentences.tokens import in_english, sentences

    if not in_english(prose.text):
        return [(0, len(prose.text))]
    return [(tokens[0].start, tokens[-1].stop) for tokens in sentences(prose)
            if not is_settled(tokens)]


def refuse_open(prose: Prose, computed: Callable[[str], bool]) -> None:
    """Raise :class:`CardError` where a word that is not known stands before a part that no formula ``computed``."""
    refuse_words(prose, before_parts(prose, computed))


def called(prose: Prose, said: Iterable[Mention], roles: Mapping[str, Role], parts: Sequence[Mention]
           ) -> Iterator[tuple[str, Place]]:
    """The letters that only a word which is not known says what they are, and the word."""
    of_parts = {m.said for m in parts}
    bare = [name for name, role in roles.items() if not role.said or role.said in of_parts]
    seen: set[str] = set()
    for name, place in beside_letters(prose, said, bare):
        if name not in seen:
            seen.add(name)
            yield name, place


def refuse_called(prose: Prose, letters: Iterable[tuple[str, Place]]) -> None:
    """Raise :class:`CardError` for letters of which the role matters, and a word that is not known says it."""
    for name, place in letters:
        quoted = prose.plain.quote(*place)
        raise CardError(Problem(f"`{name}` is called “{quoted}”, and the word is not known: is it an input, a "
                                "parameter or a constant? Say so, or list it under `inputs`, `parameters` or "
                                "`constants` in the front matter", line=prose.plain.line(place[0]), key="inputs"))


def refuse_words(prose: Prose, places: Iterable[Place]) -> None:
    """Raise :class:`CardError` for the first of these words."""
    for start, stop in places:
        quoted = prose.plain.quote(start, stop)
        raise CardError(Problem(f"“{quoted}” is not understood here: write the formula of what it names, or say in "
                                "the front matter what is meant", line=prose.plain.line(start)))


def in_requests(prose: Prose) -> Iterator[Place]:
    """The words beside what is asked for that are not known."""
    before = {verb: prose.text[: verb.start].rstrip().rsplit(" ", 1)[-1] for verb in named(prose.text, "ask.verb")}
    verbs = [verb for verb, word in before.items()  # «its hidden state», not «(a) Derive»
             if not word.isalpha() or not named(word, "small.article", "naming.article")]
    verbs = [verb for verb in verbs if not _is_hint(prose, verb.start)]
    asked = frozenset(prose.sentence(verb.start) for verb in verbs)
    yield from excepted(prose)
    yield from unknown_nouns(prose, asked)
    yield from tails(prose, asked)
    yield from before_nouns(prose, asked)
    yield from _behind_nouns(prose, asked)
    yield from of_others(prose, asked)
    yield from _behind_kinds(prose)


Sentences = frozenset[Place]  # that ask


def _is_hint(prose: Prose, at: int) -> bool:
    """The sentence around a place opens with «Hint:»."""
    start, _ = prose.sentence(at)
    first = _WORD.search(prose.text, start)
    return first is not None and bool(named(first[0], "slot.hint"))


def _listed_words(prose: Prose, start: int, at: int) -> Iterator[re.Match[str]]:
    """The words in front of a place back to an article, those of a list: «the forward, backward and … messages»."""
    words = [w for w in _WORD.finditer(prose.text, start, at) if not named(w[0], "between.and")]
    for word in reversed(words):
        if not only(prose.text, word.end(), at, "between.and") or named(word[0], "naming.article"):
            break
        yield word
        at = word.start()


def before_nouns(prose: Prose, asked: Sentences) -> Iterator[Place]:
    """«the … gradient», of a request «the … of the gradient»: it is a known one, and the whole."""
    for noun in _nouns(prose, asked):
        start, _ = sentence = prose.sentence(noun.start)
        at = noun.start
        for word in _listed_words(prose, start, noun.start):
            yield from unknown(prose.text, *word.span(), _CHANGES if sentence in asked else ())
            at = word.start()
        words = [*_WORD.finditer(prose.text, start, at)]
        of = next((n for n, word in enumerate(reversed(words)) if not named(word[0], "naming.article")), 0)
        before = words[: len(words) - of]
        if sentence in asked and len(before) > 1 and before[-1][0] == "of" and not named(before[-2][0], "slot.of_it"):
            yield before[-2].span()


def _nouns(prose: Prose, asked: Sentences) -> Iterator[Span]:
    """Of derivatives, not «an RNN updates its state»."""
    kinds = ("request.jacobian", "request.gradient", "request.message")
    for noun in named(prose.text, "derivative"):
        if prose.sentence(noun.start) in asked or named(prose.text[noun.start : noun.stop], *kinds):
            yield noun


def _behind_nouns(prose: Prose, asked: Sentences) -> Iterator[Place]:
    """«the gradients of the …», «the gradient of the … of the weights»"""
    for noun in _nouns(prose, asked):
        _, stop = sentence = prose.sentence(noun.start)
        for word in _WORD.finditer(prose.text, noun.stop, stop if sentence in asked else noun.stop):
            if only(prose.text, noun.stop, word.start(), "slot.small") or begins(
                    prose.text[:stop], word.end(), "slot.said_of"):
                yield from unknown(prose.text, *word.span())


def of_others(prose: Prose, asked: Sentences) -> Iterator[Place]:
    """«the negative gradient», «the inverse of the Jacobian», «the derivative of $\\log y$»: not the plain one."""
    nouns = named(prose.text, "request.jacobian", "request.gradient", "request.message")
    for noun in (n for n in nouns if prose.sentence(n.start) in asked and requested(prose.text, n.start)):
        start = max(prose.sentence(noun.start)[0], prose.text.rfind(" ", 0, max(0, noun.start - _NEAR)))
        for other in named(prose.text[start : noun.start], "slot.modifies"):
            before = prose.text[start : start + other.start]
            product = prose.text.startswith("transpose ", start + other.start) and ends(
                before.rstrip("- "), "request.jacobian")  # «the Jacobian-transpose message»
            if not product and only(prose.text, start + other.stop, noun.start, "naming.article", "between.of"):
                yield start + other.start, start + other.stop
        gap = next((g for g in prose.gaps if g.start >= noun.stop), None)
        if gap is not None and only(prose.text, noun.stop, gap.start, "between.of", "naming.article") and (
                kind_of(gap.formula) is Said.VALUE and has(gap.formula.tree or (), "PLUS", "MINUS", "FN")):
            yield gap.start, gap.start + 1


def _behind_kinds(prose: Prose) -> Iterator[Place]:
    """«the backward …», not «feed-forward …»"""
    for kind in (k for k in named(prose.text, "message") if not prose.text[: k.start].endswith("feed-")):
        word = next(_WORD.finditer(prose.text, kind.stop, prose.sentence(kind.start)[1]), None)
        if word and prose.text[kind.stop : word.start()].isspace():
            yield from unknown(prose.text, *word.span())


def understood(formula: Formula, computed: Collection[str]) -> bool:
    """A derivative, f', an equation, a range, a shape; a letter that some formula computes."""
    kind = kind_of(formula)
    if is_primed(formula):
        return True
    if kind is Said.LETTERS:
        return {*written_letters(formula)} <= {*computed}
    return kind not in (Said.VALUE, Said.UNREADABLE)
