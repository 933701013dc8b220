"""Requests in words about a layer that formulas compute: each noun in them is of what stands on the card, or is open.

«Derive the message to the input and the gradients for its two matrices and the intercept» has no letters. A noun is
that of the letters that the card calls so; where it calls none so, and the noun can only be of what the layer is given
or computes, the answer has the derivatives by all of it, and says so. Every other word beside what is asked for must
be known to change nothing: what may make another thing of it (“the averaged gradient”, “when they are shared”) is open.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property, partial

from derive.errors import CardError
from derive.expr import Entry
from derive.notation.rules.kinds import Said, is_case
from derive.notation.symbols import Kind, name_of
from derive.question.letters.naming import Mention, bare_letters, computed_letters, with_usual_parameters
from derive.question.letters.naming import mentions as mentions_of
from derive.question.posed_request import items
from derive.question.requests.excepted import excepted
from derive.question.requests.of_what import is_spelt_out, letter_of_noun, nouns, tails
from derive.question.requests.slots import not_asked_so, of_others, understood
from derive.question.requests.verbs import requested
from derive.question.sentences.acts import DONE_BESIDES
from derive.question.sentences.grammar import words_of
from derive.question.sentences.meaning import is_settled
from derive.question.sentences.tokens import Sentence, Token, asks, orders, sentences
from derive.question.words.lexicon import FAMILIES, named, spans
from derive.question.words.prose import Prose
from derive.records import dataclass
from derive.specify.layer import Computed
from derive.specify.roles import Role
from derive.specify.wanted import Asking, Wanted

_words = partial(words_of, "en")
_HEADS, _KINDS, _AND = _words("HEADS_OF_ITEMS"), _words("KINDS_OF_MESSAGES"), _words("JOINS_ITEMS")
_PLAIN, _BARE, _HOW = _words("SAYS_NOTHING_OF_WHICH"), _words("IS_GIVEN"), _words("HOW_IT_IS_WRITTEN")
_TRAINED, _GIVEN, _INNER = _words("IS_TRAINED"), _words("GOES_IN"), _words("IS_COMPUTED_BETWEEN")
_LOSS, _LAYER, _PASSED = _words("OF_WHAT_IT_IS"), _words("THE_LAYER"), _words("PASSED_ON")
_OTHER, _ANOTHER, _ABOVE = _words("SOMETHING_ELSE"), _words("OF_ANOTHER_LAYER"), _words("STANDS_FOR_ANSWERS")
_CHANGED = DONE_BESIDES | _words("HELD") | _ANOTHER | _words("CHANGES_WHAT_IS_ASKED")
_SCALES, _OF_PARTS = _words("SCALES_OR_SHIFTS"), _words("OF_SOME_LAYERS")
_WHICH_LAYER = _words("WHICH_OF_SEVERAL")
_SHOWN, _ENDS_CLAIM = _words("SHOWS"), _words("ENDS_A_CLAIM")
_IF, _HARMLESS = _words("ONLY_IF"), _words("HOLDS_ANYWAY")
_TOWARD, _NUMBERS = frozenset("of for to on at".split()), (None, None, "two", "three", "four", "five", "six")
_CUTS = _TOWARD | frozenset("in by with using via through from as over into".split())
_THAT_IS = frozenset({"i", "e", "namely", "that", "is"})
_ORDINALS = {"first": 1, "second": 2, "third": 3}
_RANKS = {"matri": 2, "vecto": 1, "bias": 1, "biase": 1, "offse": 1}
_SOUGHT = tuple(f"request.{kind}" for kind in ("jacobian", "gradient", "vjp", "back", "message", "backward"))
_WORD = re.compile(r"[^\W\d_]{2}")
_NAMED_ELSE = ("part", "operation", "change", "twist", "topic", "role.constant", "role.fixed", "statistic")
_OF_NEIGHBOURS = re.compile(r"(?:weights?|bias(?:es)?|parameters?|matrix|matrices) of the "
                            r"(?:previous|preceding|next|following|other) "
                            r"layers?|layers? (?:that|which) (?:undoes|inverts|follows|precedes)")


@dataclass(frozen=True)
class Worded:
    """What nouns ask for: the ``letters`` that they are of, and the nouns that no letter of the card is called by."""

    letters: frozenset[str] = frozenset()
    unnamed: tuple[str, ...] = ()
    manner: tuple[str, ...] = ()  # how the answer is to be written

    @property
    def everything(self) -> bool:
        """The letters are asked for whatever their roles."""
        return bool(self.letters)

    def widened(self, wanted: Wanted, asking: Asking, given: Sequence[str]) -> Wanted:
        """The request, with the derivatives by all letters of its nouns where it lacks one."""
        names = ", ".join(f"`{n}`" for n in (*given, *asking.defined) if n in self.letters)
        told = [f"not followed in how the answer is written: {said}" for said in self.manner]
        told += [f"{noun} is no name of a letter on the card: the derivatives by {names} are all given"
                 for noun in self.unnamed]
        wanted = replace(wanted, readings=(*wanted.readings, *told))
        kinds = {"inputs": {"jacobian", "vjp"}, "parameters": {"parameters"}}
        covered = {d.wrt.tensor for d in wanted.derivatives if isinstance(d.wrt, Entry)} or {
            n for n, role in asking.roles.items() if kinds.get(role.role, set()) & {*wanted.kinds}}
        if self.letters <= covered:
            return wanted
        backwards = (*reversed(asking.defined), *given)  # from the output
        letters = [n for n in backwards if n in self.letters | covered]
        trained = any(asking.roles[n].role == "parameters" for n in letters if n in asking.roles)
        found = dict.fromkeys((*wanted.kinds, "vjp", *(("parameters",) if trained else ())))
        own = [n for n, role in asking.roles.items() if role.role != "constants"]
        each = () if {*letters} == {*own} else tuple(d for n in letters for d in asking.of_name(n))
        derivatives = tuple(dict.fromkeys((*wanted.derivatives, *each))) if each else ()
        return replace(wanted, kinds=tuple(found), derivatives=derivatives, places=(), parts=())


def refuse_another(prose: Prose) -> None:
    """Raise :class:`CardError` where what is asked for is of another layer: «the weights of the previous layer»."""
    read = {at for family in ("part", "request") for span in spans(prose.text, family)
            for at in range(span.start, span.stop)}
    asking = [tokens for tokens in sentences(prose) if asks(tokens)]
    for tokens in asking:
        place = _OF_NEIGHBOURS.search(prose.text, *prose.sentence(tokens[0].start))
        if place is not None:
            raise not_asked_so(prose, place.start(), place.end())
    for item in (i for tokens in asking for i in items(tokens)):
        for one, other in itertools.pairwise(item):  # «the gradients for the first layer»
            if one.text in _WHICH_LAYER and other.text in ("layer", "layers") and not any(
                    t.formulas and t.said is Said.LETTERS for t in item):
                raise not_asked_so(prose, one.start, other.start + len(other.text))
        for token in item:
            if token.text in _ANOTHER and token.start not in read and not (_names(item, token) or _is_vjp(item, token)):
                raise not_asked_so(prose, token.start, token.start + len(token.text))


def calls_letters(prose: Prose) -> bool:
    """A request names a letter by its noun alone: «the gradient with respect to the scores»."""
    return any(letter_of_noun(prose, noun) is not None and requested(prose.text, noun.start)
               and not is_spelt_out(prose, noun) for noun in nouns(prose))


def worded(prose: Prose, layer: Computed, mentions: Sequence[Mention], roles: Mapping[str, Role]) -> Worded:
    """What the words of a request ask for.

    Raises :class:`CardError` for a word that may say something else.
    """
    asking = [tokens for tokens in sentences(prose) if asks(tokens)]
    places = frozenset(prose.sentence(tokens[0].start) for tokens in asking)
    for start, stop in (*excepted(prose), *tails(prose, places), *of_others(prose, places)):
        raise not_asked_so(prose, start, stop)
    reader = _Reader(prose, layer, mentions, roles)
    derived = any(map(_derived, itertools.chain(*asking))) or any(
        named(prose.text[start:stop], "wrt", *_SOUGHT) for start, stop in places)
    for tokens in asking if derived else ():
        doubtful = any(t.text in _NUMBERS or t.formulas and is_case(t.formula.tree or ()) for t in tokens)
        if doubtful or not is_settled(tokens):
            reader.sentence(tokens)
        else:
            own = _Reader(prose, layer, mentions, roles)
            try:
                reader.found |= own.sentence(tokens).letters
            except CardError:
                if own.outside:
                    raise  # else the rows read it
    return Worded(reader.letters, tuple(dict.fromkeys(reader.unnamed)), tuple(reader.manner))


class _Reader:
    """Reads requests; gathers the letters that nouns are of."""

    def __init__(self, prose: Prose, layer: Computed, mentions: Sequence[Mention], roles: Mapping[str, Role]) -> None:
        self.prose, self.layer, self.roles = prose, layer, roles
        self.found: set[str] = set()
        self.exact: set[str] = set()  # of a noun or a letter of their own
        self.owned = False  # the noun before is of what is trained, or goes in: «the weights of the gate»
        self.between = False  # a noun may be of what is computed in between
        self.unnamed: list[str] = []
        self.left: list[Sequence[Token]] = []  # nouns that nothing else on the card has
        self.manner: list[str] = []
        self.listing = False  # by what derivatives are asked for
        self.writes = False  # what stands there tells how
        self.inner = [d.entry.tensor for d in layer.used if d.entry.tensor != layer.output]
        self.usual = roles
        if all(role.role != "parameters" for role in roles.values()):
            with contextlib.suppress(CardError):  # then nothing is left out
                self.usual = with_usual_parameters(roles)
        self.free = [n for n in layer.given if roles[n].role != "constants"]
        self.outer = [(n, noun) for m in mentions for noun in _nouns_of(m) for n in m.letters]
        self.nouns = [(n, noun) for n, noun in self.outer if n in {*self.free, *self.inner}]
        running = {s.name for s in layer.table.symbols if s.kind is not Kind.TENSOR}
        self.idle = [(n, noun) for m in mentions_of(prose, bare_letters) for noun in _nouns_of(m)
                     for n in map(name_of, m.letters) if n not in layer.letters and n not in running]
        self.outside = False

    @property
    def letters(self) -> frozenset[str]:
        """The letters that the nouns are of.

        Where each letter that is given but one has its noun, the one noun that is left is its.
        """
        rest = {*self.free} - self.exact
        if self.left and (len(self.left) > 1 or len(rest) != 1):
            raise self.refuse(*self.left[0])
        self.found |= rest if self.left else set()
        return frozenset(self.found | ({*self.inner} if self.between else set()))

    @cached_property
    def said(self) -> Set[str]:
        """The words of the sentences that ask for nothing, but those that the lexicon knows as something else."""
        own = {t.text for tokens in sentences(self.prose) if not asks(tokens) for t in tokens if t.kind == "word"}
        return {_singular(word) for word in own if word in _OF_PARTS or not named(word, *_NAMED_ELSE)}

    def refuse(self, *tokens: Token) -> CardError:
        return not_asked_so(self.prose, tokens[0].start, tokens[-1].stop)

    def sentence(self, tokens: Sentence) -> _Reader:
        """Read an order: its items, and that what it tells besides changes nothing."""
        found = [*items(tokens, with_manner=True)]
        read = {t.start for item in found for t in item}
        told = [t for t in tokens if t.start not in read]
        self._told(told)
        found += _claims(tokens, read)
        headed = self.writes = self.listing = False
        for item in found:
            at = next((n for n, t in enumerate(item) if t.text not in _AND and not orders(item, n)), len(item))
            ordered = any(orders(item, n) for n in range(at))
            at += ordered and at < len(item) and item[at].text in ("down", "out")
            headed = self._item(item, item[at:], ordered, headed)
        return self

    def _told(self, tokens: Sequence[Token]) -> None:
        """«…, which is given», «when $g$ arrives», not «…, when they are shared»."""
        harmless = max((n for n, t in enumerate(tokens) if t.text in _HARMLESS or (
            t.formulas and t.said is not Said.LETTERS)), default=-1)
        for n, token in enumerate(tokens):
            ends = n + 1 == len(tokens) or tokens[n + 1].kind == "sign"  # «run it backwards once: derive …»
            if token.text in _CHANGED or token.text in _IF and not (ends or n <= harmless):
                raise self.refuse(token)

    def _item(self, item: Sentence, rest: Sentence, ordered: bool, headed: bool) -> bool:
        """Read an item, what is asked for behind its order; whether derivatives are asked for there or before."""
        at = next((n for n, t in enumerate(rest) if t.text in _HEADS or t.text == "those" and n + 1 < len(rest)
                   and rest[n + 1].text in _CUTS), None)
        if at is None:
            further = [*itertools.dropwhile(lambda t: t.text in _THAT_IS, rest)]
            if headed and len(further) < len(rest) and further and further[0].text in _TOWARD:
                self._behind(further)  # «all gradients, i.e. for $W$ and $b$»
                return headed
            derived = any(map(_derived, rest))
            words = [t for t in rest if _WORD.match(t.text)]
            texts = {t.text for t in words}
            if not (derived or words or self.listing):
                self._letters(rest)
            if self.listing and not words:
                self._phrase(rest, "", False)
            plain = ordered and texts <= _PLAIN | _LOSS | {"following", "through"}
            if derived or texts <= _KINDS or texts <= _SHOWN or plain:
                return headed or not derived
            if ordered and self._stands_for(item, words) or self.writes and not ordered:
                self._written(item, words)
                self.writes = True
            elif ordered and "what" not in texts:
                raise self.refuse(*rest)
            elif self.listing or "what" in texts or headed and any(
                    t.text in _CUTS or t.kind == "number" for t in rest):  # not «derive ∂L/∂w and the intercepts»
                self._behind(rest)
            else:
                raise self.refuse(*rest)
            return headed
        self.writes = False
        last = max([at, *(n for n, t in enumerate(rest) if t.text in _HEADS | {"product"} and not any(
            u.text in _CUTS or u.formulas for u in rest[at:n]))])
        if wrong := next((t for t in rest[at:last] if t.text == "transpose" and not _is_vjp(rest, t)), None):
            raise self.refuse(wrong)
        self.listing = False
        self._front(rest[:at])
        self._behind(rest[last + 1 :])
        return True

    def _letters(self, tokens: Sequence[Token]) -> None:
        """«derive ∂L/∂W and $g_x$»: a letter is asked for that something computes, or it is open."""
        known = computed_letters(self.prose.formulas)
        for token in tokens:
            if token.formulas and not understood(token.formula, known):
                raise self.refuse(token)

    def _stands_for(self, item: Sentence, words: Sequence[Token]) -> bool:
        """«write the first as», «express it by», not «give the first weight»."""
        if any(t.text == "express" for t in item):
            return True
        own = [t.text for t in words if t.text not in ("the", "all", "both", "each", "your", "its")] or ["it"]
        return own[0] in _ABOVE and (len(own) == 1 or own[1] in _CUTS | _HOW)

    def _front(self, tokens: Sequence[Token]) -> None:
        """«the three», «the weight and bias», «expressions for the», not «the averaged», «the variance of the»."""
        for token in tokens:
            known = _KINDS | _PLAIN | _HOW | _TRAINED | _GIVEN | {"for", "of", "from"}
            if _WORD.match(token.text) and token.text not in known:
                raise self.refuse(token)
        self._noun([t for t in tokens if t.text in _TRAINED | _GIVEN and t.text not in _KINDS])

    def _written(self, item: Sentence, words: Sequence[Token]) -> None:
        """«write the first as a projection»"""
        for token in words:
            if token.text in _CHANGED | _IF:
                raise self.refuse(token)
        case = next((n for n, t in enumerate(words) if t.text in ("for", "at")), len(words))
        if not {t.text for t in words[case + 1 :]} <= _PLAIN | _HOW | _BARE | _CUTS:
            raise self.refuse(*words[case:])  # «for the case of a softmax»
        self.manner.append(self.prose.said(item[0].start, item[-1].stop))

    def _behind(self, tokens: Sequence[Token]) -> None:
        """What stands behind «the gradients»: of what, by what, and how."""
        run: list[Token] = []
        cut = ""
        for n, token in enumerate((*tokens, None)):
            if token is None or token.text in _CUTS:
                self._phrase(run, cut, any(t.text == "respect" for t in tokens[n + 1 :]))
            if token is not None and token.text in _CUTS:
                written = cut == "in" or any(t.text.startswith("function") for t in run)  # «in terms of $x$»
                run, cut = [], "in" if written and token.text == "of" else token.text
                self.listing = cut in _TOWARD
            elif token is not None:
                run.append(token)

    def _phrase(self, tokens: Sequence[Token], cut: str, by_more: bool) -> None:
        """The words behind a preposition, up to the next; where “with respect to” is to come, of what it is."""
        words = [t for t in tokens if _WORD.match(t.text) and t.text not in _AND]
        texts = {t.text for t in words}
        gap = next((t for t in tokens if t.formulas), None)
        if gap is not None and is_case(gap.formula.tree or ()):
            raise self.refuse(*tokens)  # «at $x = 0$»
        letters = {*map(name_of, itertools.chain(*(t.letters for t in tokens if t.formulas)))}
        self.exact |= letters
        self.found |= letters & {*self.free, *self.inner} if cut in _TOWARD or not cut and self.listing else set()
        manner = bool(cut) and cut not in _TOWARD
        if texts <= _PLAIN | _HOW | (_LOSS if manner else _PASSED | _LAYER | _KINDS):
            return
        if texts and all(named(t, "geometry") for t in texts) and any(t.kind in ("number", "size") for t in tokens):
            return  # read where windows are
        if cut in ("of", "at") and texts <= _PLAIN | _LOSS | _LAYER:
            if texts & _LOSS and ("both" in texts or any(t in _NUMBERS for t in texts)):
                raise self.refuse(*words)  # «the gradients of the two losses»
            return
        if gap is None and cut == "of" and by_more:
            own = [t.text for t in words if t.text not in _PLAIN | _LAYER | _BARE]
            if self._is_output(own):
                return
            if not self._called(own, self.outer):
                raise self.refuse(*tokens)  # «the gradients of the weights with respect to the input»
        if gap is not None:
            for token in words:
                called = _names(tokens, token) and named(token.text, "statistic")  # «the mean $m$»
                known = token.text in _PLAIN | _HOW | _PASSED | _LAYER | _TRAINED | _GIVEN | _INNER | _LOSS | _BARE
                near = tokens.index(gap) - tokens.index(token) in (1, 2, 3)
                if not called and (token.text in _OTHER | _CHANGED or named(token.text, "twist.front")) or not (
                        known or near or _singular(token.text) in self.said):
                    raise self.refuse(token)
            return
        updates = cut == "to" and words[0].text == "update"  # «the one used to update its gains»
        self._noun([t for t in words[updates:] if t.text not in _PASSED], cut)

    def _is_output(self, noun: Sequence[str]) -> bool:
        """«the gradient of this energy with respect to …», of the one number that is computed in the end."""
        return bool(noun) and not self.layer.entry.indices and not any(named(word, *FAMILIES) for word in noun)

    def _noun(self, words: Sequence[Token], cut: str = "") -> None:
        """Take the letters that a noun is of: those called so, those of its role, or all that it may be of."""
        own = [t for t in words if t.text not in _PLAIN | _LAYER]
        of_owned, self.owned = self.owned and cut == "of", False
        if not own:
            return
        if wrong := next((t for t in words if t.text in _OTHER | _CHANGED), None):
            raise self.refuse(wrong)
        self._count(words)
        texts = {t.text for t in own}
        noun = [t.text for t in own if t.text not in _BARE]
        if named_ := self._called(noun, self.nouns) or self._called(noun, self.outer) & {*self.layer.given}:
            self.exact |= named_
            self.found |= named_
            return
        if self._called([t.text for t in own if t.text not in _BARE | _TRAINED | _GIVEN | _INNER][-1:], self.idle):
            self.outside = True  # «the embedding table», of «a table $E$» that no formula has
            raise self.refuse(*own)
        for token in own:
            known = token.text in _TRAINED | _GIVEN | _INNER | _BARE | _HOW | (_SCALES if len(own) == 1 else set())
            if not known and _singular(token.text) not in self.said:
                if named(token.text, *FAMILIES) or own[-1].text not in _TRAINED | _GIVEN:
                    raise self.refuse(*own)
                self.left.append(own)
                return
        if texts & _INNER and not self.inner:
            raise self.refuse(*own)
        self.owned = of_owned or bool(texts & (_TRAINED | _GIVEN))
        if texts <= _TRAINED | _SCALES | _BARE or texts <= _GIVEN | _BARE:
            self.found |= self._of_role(bool(texts & (_TRAINED | _SCALES)), bool(texts & _GIVEN)) or {*self.free}
            return
        quoted = self.prose.plain.quote(own[0].start, own[-1].start + len(own[-1].text))
        self.unnamed.append(f"“{quoted}”")
        self.found |= {*self.free}
        self.between |= not self.owned

    def _of_role(self, trained: bool, given: bool) -> set[str]:
        """The letters of a role, as far as the card says it."""
        own = {n for n in self.free if self.usual[n].role == "parameters"}
        said = {n for n in self.free if self.roles[n].role == "inputs" and self.roles[n].said}
        return own if trained else (said or {*self.free} - own) if given else {*self.free}

    @staticmethod
    def _called(noun: Sequence[str], nouns_: Sequence[tuple[str, tuple[str, ...]]]) -> set[str]:
        """The letters whose noun ends as this one does, and has its words."""
        words = [_singular(word) for word in noun]
        return {n for n, own in nouns_ if words and own[-1] == words[-1] and {*words} <= {*own}}

    def _count(self, words: Sequence[Token]) -> None:
        """«the three weight matrices», «the second bias vector»: there are so many."""
        texts = [t.text for t in words]
        count = 2 if "both" in texts else next((_NUMBERS.index(t) for t in texts if t in _NUMBERS), 0)
        rank = next((r for t in texts for stem, r in _RANKS.items() if t.startswith(stem)), None)
        sizes = {s.name: len(s.axes) for s in self.layer.table.symbols}
        alike = [n for n in self.free if rank is None or sizes.get(n, 0) == rank or sizes.get(n, 0) > rank > 1]
        nth = next((_ORDINALS[t] for t in texts[:-1] if t in _ORDINALS), 0)  # not «the weights first»
        labelled = [sum(n.partition("_")[0] == m.partition("_")[0] for n in self.free) for m in self.free]
        if count > len(alike) or nth > max(labelled, default=0) or nth and max(labelled) < 2:
            raise self.refuse(*words)


def _nouns_of(mention: Mention) -> Iterator[tuple[str, ...]]:
    """«covariates» of «cases with covariates $x$», «score» of «$s$ is the score of the anchor»."""
    after = re.split(r"\b(?:of|for|with|in|from|to|and|at|by)\b|[,;]", mention.after)[0]
    for text in (mention.before, after):
        words = [_singular(w) for w in re.findall(r"[^\W\d_]+", text) if w not in _PLAIN]
        while len(words) > 1 and words[-1] in _SINGULAR_BARE:
            words.pop()  # «gate vectors»
        if words and (text is mention.before or len(words) < 3):  # not «a classifier computes the scores»
            yield tuple(words)


def _names(item: Sequence[Token], token: Token) -> bool:
    """«the mean $m$»: it calls a letter."""
    at = item.index(token) + 1
    return at < len(item) and bool(item[at].formulas)


def _derived(token: Token) -> bool:
    return bool(token.formulas) and token.said in (Said.DERIVATIVE, Said.GRADIENT)


def _claims(tokens: Sentence, read: Set[int]) -> Iterator[Sentence]:
    """«the gradients for $W$» of «(show) how the gradients for $W$ follow», «that the gradient … is $g$»."""
    for n, token in enumerate(tokens):
        told = token.start not in read and n > 0 and tokens[n - 1].text in _SHOWN
        if told and token.text in ("how", "that") and any(t.text in _HEADS for t in tokens[n + 1 : n + 4]):
            yield tuple(itertools.takewhile(lambda t: t.text not in _ENDS_CLAIM, tokens[n + 1 :]))


def _is_vjp(item: Sequence[Token], token: Token) -> bool:
    """«the Jacobian-transpose message», «the Jacobian transpose product»"""
    at = item.index(token)
    around = [t.text for t in item[max(0, at - 1) : at + 2]]
    return len(around) == 3 and around[0].startswith("jacobian") and around[2].startswith(("message", "product"))


def _singular(word: str) -> str:
    return word.removesuffix("s")


_SINGULAR_BARE = frozenset(map(_singular, _BARE))
