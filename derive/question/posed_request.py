"""What a request asks for whose letters say it: each of its items has a letter, and what stands beside them is told.

«Derive ∂L/∂W and, since a second stage comes before this one, also ∂L/∂x; arrange the last so that …» asks for two
derivatives. «… and the intercepts», «… with respect to the templates» ask for something of which no letter says what.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import partial

from derive.errors import CardError, Problem
from derive.expr import Entry, walk
from derive.module import Module
from derive.notation import tree as tr
from derive.notation.rules.kinds import Said
from derive.notation.symbols import Kind, name_of
from derive.question.letters.naming import letters_of
from derive.question.requests.adjoints import message_of
from derive.question.requests.of_what import letter_of_noun, nouns
from derive.question.requests.slots import losses, not_asked_so, refuse_words
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token, asks, in_english, orders, sentences
from derive.question.words.lexicon import named, spans
from derive.question.words.prose import Prose

_words = partial(words_of, "en")
_TOLD, _HOW, _VALUED = _words("TELLS_MORE"), _words("SAID_WITH"), _words("ASKS_FOR_VALUES")
_LEADS_A_LIST = _words("LEADS_A_LIST")
_ASIDE, _AND, _TOWARDS = _words("TELLS_UP_TO_AN_ORDER"), _words("JOINS_ITEMS"), _words("TOWARDS")
_TELLS_ON = _words("TELLS_ON")
_WHAT, _ABOVE = _words("OPENS_A_NOUN"), _words("MEANS_ABOVE")
_HEADS = _words("HEADS_OF_ITEMS")
_MEANS_HEADS, _WANTS, _THEM = _words("MEANS_HEADS"), _words("IS_WANTED"), _words("STANDS_FOR_ANSWERS")
_NOUNS = _words("IS_TRAINED") | _words("SCALES_OR_SHIFTS") | _words("GOES_IN") | _words("IS_COMPUTED_BETWEEN")
_SOUGHT = _HEADS | _NOUNS | _words("IS_SOUGHT")
_OF_REQUESTS = ("request", "derivative", "message", "wrt", "between", "naming", "ask", "small", "geometry")
_SAYS = _words("IS_OR_GETS") | frozenset("has have stands denotes uses maps takes means gives computes holds".split())
_ALIKE = frozenset("same likewise similarly analogously analogous".split())
_RECEIVES = _HEADS | frozenset("receive receives get gets arrive arrives reach reaches obtain obtains".split())
_SEVERAL, _TOO = frozenset("both all each every".split()), frozenset("too also well".split())
_TRAINED = _words("IS_TRAINED") | _words("SCALES_OR_SHIFTS")
_SMALL_WORDS = frozenset("and for what about how with the of to then or also finally now by on".split())
_EXAMPLE = frozenset("example instance including".split())
_SOON = 5  # words up to what something is expressed by
_WORD = re.compile(r"[^\W\d_]{2}")


def in_items(prose: Prose) -> set[tuple[int, int]]:
    """The lines and columns of the formulas that stand in what is asked."""
    return {(f.line, f.column) for tokens in sentences(prose) if asks(tokens) for item in items(tokens)
            for token in item for f in token.formulas}


def refuse_unbound(prose: Prose) -> None:
    """Raise :class:`CardError` for what is asked for without a letter: a noun in a list, or behind “by”."""
    refuse_words(prose, losses(prose))
    called = (noun for noun in nouns(prose) if letter_of_noun(prose, noun) is not None)
    known = {at for noun in called for at in range(noun.start, noun.stop)}
    for tokens in sentences(prose):
        found = [*items(tokens)] if asks(tokens) else []
        for n, item in enumerate(found):
            if unbound(item, prose, known) and not (
                    _is_named(item, found[n + 1] if n + 1 < len(found) else ()) or _is_told_as(item, tokens)):
                first, last = item[0], item[-1]
                raise not_asked_so(prose, first.start, last.stop)


def items(tokens: Sentence, with_manner: bool = False) -> Iterator[Sentence]:
    """The items behind the first order of a sentence that ask for what a layer has, not for words: «and compare …».

    ``with_manner``: and what tells with, in or as what it is to be said.
    """
    yield from (item for item in _items(tokens, with_manner) if not _tells_on(item))


def not_answered(prose: Prose) -> Iterator[str]:
    """What is asked for besides: «and test the case $c = 0$», «give the sum a name»."""
    for tokens in sentences(prose):
        for item in _items(tokens) if asks(tokens) else ():
            words = {t.text for t in item if t.kind == "word"} - _AND
            other = not words & _SOUGHT and not any(t.formulas and _is_sought(t) for t in item) and any(
                orders(item, n) for n, _ in enumerate(item))
            if is_explained(item, tokens) or words <= _LEADS_A_LIST:
                continue
            if (_tells_on(item) or other) and len(words) > 1 and not _is_them(item) and not named(
                    " ".join(t.text for t in item), "ask.explain", "request.vjp", "request.back"):  # else it is told
                said = prose.said(item[0].start, item[-1].stop)
                yield f"not answered, since no derivative is asked for: {said}"


def is_explained(item: Sentence, tokens: Sentence) -> bool:
    """«what does it pass on, i.e. what is ∂L/∂x?»: the derivative is asked for."""
    derived = any(t.formulas and t.said in (Said.DERIVATIVE, Said.GRADIENT) for t in tokens)
    that_is = " i e " in f" {' '.join(t.text for t in tokens)} "
    return derived and that_is and item[0].text in ("what", "i")


def _is_sought(token: Token) -> bool:
    return token.said is not Said.LETTERS or any(map(message_of, token.formulas))


def _tells_on(item: Sentence) -> bool:
    first = next((t for n, t in enumerate(item) if t.text not in _AND and not orders(item, n)), None)
    return first is not None and first.text in _TELLS_ON


def _items(tokens: Sentence, with_manner: bool = False) -> Iterator[Sentence]:
    """All items, without clauses that tell why, where or how, and brackets."""
    first = next((n for n, _ in enumerate(tokens) if orders(tokens, n) and "order" not in {
        t.text for t in tokens[max(0, n - 2) : n]}), 0)  # not «in order to obtain …»
    found: list[Token] = []
    told: int = 0
    depth = 0
    for n, token in enumerate(tokens[first:], first):
        depth += (token.text == "(") - (token.text == ")")
        if token.text in _ASIDE:  # up to the next order
            told = 2
        elif told == 1 and _names_another(tokens, n):
            told = 0
            found.append(token)
            continue
        elif told == 2:
            told = 0 if token.text == ":" or orders(tokens, n) else 2
        else:
            goes_on = bool(told) and (token.text not in (",", ";") or _is_letter(tokens, n + 1))
            behind = tokens[n + 1].text if n + 1 < len(tokens) else ""
            of_item = token.text in ("that", "which") and (
                n == first or tokens[n - 1].text in _HEADS | _MEANS_HEADS or behind in ("by", "of", "for"))
            told = int(goes_on or token.text in _TOLD and not of_item or (not with_manner and _tells_how(tokens, n)))
        ends = token.kind == "sign" or token.text in ("and", "well") or any(f.display for f in token.formulas)
        if ends and token.formulas and not (told or depth):
            found.append(token)
        if ends and found:
            yield tuple(found)
            found = []
        elif not (ends or told or depth):
            found.append(token)
    if found:
        yield tuple(found)


def _names_another(tokens: Sentence, n: int) -> bool:
    """«through the softmax to $W$», «through the softmax that of $W$», not «with respect to $W$»."""
    towards = tokens[n].text in _TOWARDS and tokens[n - 1].text != "respect" and _is_letter(tokens, n + 1)
    of = tokens[n + 1].text if n + 1 < len(tokens) else ""
    return towards or tokens[n].text in ("that", "those", "one") and of in ("of", "for") and _is_letter(tokens, n + 2)


def _is_letter(tokens: Sentence, n: int) -> bool:
    return n < len(tokens) and bool(tokens[n].formulas) and tokens[n].said is Said.LETTERS


def _tells_how(tokens: Sentence, n: int) -> bool:
    """«using $z$», «in terms of $δ$», «∂L/∂w for $x$», not «with respect to $x$», «as well as», «gradients for $x$»."""
    if tokens[n].text == "for":
        heads = _HEADS | _MEANS_HEADS - {"what"} | _ALIKE
        about = [t for t in tokens[:n] if t.text in heads or t.formulas and t.said is Said.DERIVATIVE]
        return bool(about) and bool(about[-1].formulas)  # not «∂L/∂w and the message for the widths»
    if tokens[n].text == "by" and "express" in {t.text for t in tokens[:n]}:  # «express it by $y$ and $g = ∂L/∂s$»
        return any(t.formulas for t in tokens[n + 1 : n + 1 + _SOON])
    around = {t.text for t in tokens[max(0, n - 1) : n + 2]} - {tokens[n].text}
    return tokens[n].text in _HOW and not around & {"respect", "well", "arrives", "arrive"}


def unbound(item: Sentence, prose: Prose, known: set[int]) -> bool:
    """A noun in it has no letter: «the intercepts», «the gradient by the templates», «that of the bias»."""
    at = next((n for n, t in enumerate(item) if t.text not in _AND and not orders(item, n)), len(item))
    rest = item[at:]
    if not rest or any(t.formulas for t in rest) or any(t.start in known for t in rest):
        return False
    heads = [n for n, t in enumerate(rest) if t.text in _HEADS | _MEANS_HEADS - {"what"}]
    read = {at for family in _OF_REQUESTS for span in spans(prose.text, family) for at in range(span.start, span.stop)}
    own = [t for t in rest if _WORD.match(t.text) and t.start not in read]
    if heads and any(t.text in _NOUNS for t in rest[heads[0] + 1 :]):  # «with respect to the six weight matrices»
        return True
    ordered = any(orders(item, n) for n in range(at))  # «give the sum a name», not «derive ∂L/∂w and the templates»
    return (not ordered or any(t.text in _SOUGHT for t in rest)) and (
        rest[0].text in _WHAT and bool(own) and own[0].text not in _ABOVE)


def _is_told_as(item: Sentence, tokens: Sentence) -> bool:
    """«the score equations, that is, find ∂L/∂w»"""
    behind = [t for t in tokens[tokens.index(item[-1]) + 1 :] if t.kind != "sign"]
    meant = [t.text for t in behind[:2]] in (["that", "is"], ["i", "e"]) or [t.text for t in behind[:1]] == ["namely"]
    return meant and any(t.formulas and t.said is Said.DERIVATIVE for t in behind[:5])


def _is_named(item: Sentence, after: Sequence[Token]) -> bool:
    """«the gradient on the weights, ∂L/∂W»"""
    derived = bool(after) and bool(after[0].formulas) and after[0].said is Said.DERIVATIVE
    return derived and bool(named(" ".join(t.text for t in item), "derivative", "wrt"))


def refuse_unasked(prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for a letter of the layer in a request that asks for something, and not by it.

    «Give what is handed over to $h$»; not «…, where $h$ is fixed», «written with $h$».
    """
    asked = {e.tensor for w in module.wanted for n in (w.of, w.wrt) for e in walk(n) if isinstance(e, Entry)}
    asked |= set() if module.wanted else {*module.inputs, *module.parameters}
    given, defined = {*module.given} - asked, {*module.defined} - asked - {module.output}
    for tokens in sentences(prose):
        for item in items(tokens) if asks(tokens) and in_english(prose.text) else ():
            valued = any(t.text in _VALUED for t in item)  # «compute $p$ and …», not «give what is passed to $p$»
            told = itertools.takewhile(lambda t: t.text != "until", item)  # «until no derivative of $m$ is left»
            for before, token in itertools.pairwise((item[0], *told)):
                if token.formulas and _is_power(token, module):
                    raise not_asked_so(prose, token.start, token.start + 1)
                if not token.formulas or token.said is not Said.LETTERS:
                    continue
                letters = given if valued and before.text not in _TOWARDS else given | defined
                if token is item[0] or before.text in _TOWARDS | _AND | {"by"}:
                    _refuse_unknown(token, module, prose)
                if wrong := letters & {*letters_of(token.formula, module.table), *map(name_of, token.letters)}:
                    raise CardError(Problem(f"`{sorted(wrong)[0]}` stands in what is asked, and no derivative by it is "
                                            "understood; write the derivatives that are wanted, or `derive` in the "
                                            "front matter", line=prose.plain.line(token.start), key="derive"))


def _is_power(token: Token, module: Module) -> bool:
    """y^2, which is no letter of the layer"""
    tree = token.formula.tree or ()
    raised = token.said is Said.LETTERS and not token.letters and any(
        len(sup) == 1 and tr.is_token(sup[0], "NUMBER") for i in tree for sup in tr.scripted(i).sups)
    return raised and name_of(token.formula.latex.strip()) not in {*module.given, *module.defined}


def refuse_half(prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for what is asked without an order: «the one of $W$ is needed, too», «… Derive them.»"""
    told = sentences(prose) if in_english(prose.text) else ()
    roles = {"vjp": module.inputs, "jacobian": module.inputs, "parameters": module.parameters}
    answered = {e.tensor for w in module.wanted for e in walk(w.wrt) if isinstance(e, Entry)} if module.wanted else {
        name for kind in module.asked for name in roles.get(kind, ())}
    open_, asked = {*module.inputs, *module.parameters} - answered, False
    for tokens, behind in zip(told, (*told[1:], ()), strict=False):
        texts = {t.text for t in tokens}
        wants = bool(texts & _WANTS and texts & (_HEADS | _MEANS_HEADS)) and not asks(tokens)
        item = not asks(tokens) and (_is_item(tokens, prose, asked) or asked and _goes_on(tokens, prose))
        asked = asked or asks(tokens)
        more = asks(tokens) and (_gives_an_example(tokens) or is_of_all_layers(tokens)) or (
            wants and bool(texts & _TOO) and not any(t.formulas for t in tokens))
        if open_ and more:
            raise not_asked_so(prose, tokens[0].start, tokens[-1].stop)
        if not (wants or item or asks(behind) and _is_them(behind) and texts & _HEADS):
            continue
        letters = {name for t in tokens if t.formulas and t.said is Said.LETTERS for name in (
            *letters_of(t.formula, module.table), *map(name_of, t.letters))}
        trained = texts & {"parameter", "parameters"} and open_ & {*module.parameters}
        if letters & open_ or trained or item and texts & _TRAINED and open_:  # «the bias works the same»
            raise not_asked_so(prose, tokens[0].start, tokens[-1].stop)


def _is_item(tokens: Sentence, prose: Prose, behind: bool) -> bool:
    """«(2) through the softmax to $W$», of a list that is asked for: no verb says anything of it, and no derivative.

    «Then go on to $W$» ``behind`` what is asked for.
    """
    said = any(t.text in _SAYS for t in tokens) or any(t.formulas and t.said is not Said.LETTERS for t in tokens)
    goes = behind and any(a.text in _TOWARDS and b.formulas for a, b in itertools.pairwise(tokens))
    return not said and (goes or bool(prose.plain.part(prose.plain.origin[tokens[0].start])))


def _goes_on(tokens: Sentence, prose: Prose) -> bool:
    """«$b$ is treated in the same way», «What does $b$ receive?», «And for $b$?»"""
    texts = {t.text for t in tokens if t.kind == "word"}
    _, stop = prose.sentence(tokens[-1].start)
    question = prose.text[stop - 1 : stop] == "?"
    return bool(texts & _ALIKE or "forget" in texts) or question and bool(texts & _RECEIVES or texts <= _SMALL_WORDS)


def _gives_an_example(tokens: Sentence) -> bool:
    """«all gradients, e.g. ∂L/∂a»"""
    places = [n for n, t in enumerate(tokens) if t.formulas and t.said is Said.DERIVATIVE]
    before = [[t.text for t in tokens[max(0, n - 3) : n]] for n in places]
    return any(_EXAMPLE & {*texts} or texts[-2:] == ["e", "g"] for texts in before)


def is_of_all_layers(tokens: Sentence) -> bool:
    """«the gradients of both layers», not «of a network with two layers»"""
    words = [t.text for t in tokens if t.text != "the"]
    return any(of in ("of", "for") and which in _SEVERAL and what in ("layer", "layers") for of, which, what in zip(
        words, words[1:], words[2:], strict=False))


def _is_them(tokens: Sentence) -> bool:
    """«Derive them.»"""
    words = [t.text for n, t in enumerate(tokens) if t.kind == "word" and not orders(tokens, n)]
    return not any(t.formulas for t in tokens) and bool(words) and {*words} <= _THEM | _AND | {"all", "please", "now"}


def _refuse_unknown(token: Token, module: Module, prose: Prose) -> None:
    """Raise :class:`CardError` for letters of a list in a request that no formula has."""
    own = {*module.given, *module.defined}
    symbols = [s for s in module.table.symbols if s.kind is not Kind.TENSOR or s.name in own or s.name.startswith(
        ("delta", "loss"))]
    known = {"delta", *(axis for s in symbols for axis in s.axes)} | {s.name.partition("_")[0] for s in symbols} | {
        s.name for s in symbols}
    named_ = [n for n in letters_of(token.formula, module.table) if n in known]  # W_2 of $W^{(2)}$, no \bar W
    unknown = {*map(name_of, token.letters)} - known - {*named_}
    if unknown and len(named_) < len(token.letters):
        raise CardError(Problem(f"the question asks for the derivative by `{sorted(unknown)[0]}`, and the layer has no "
                                f"`{sorted(unknown)[0]}`: write the forward formulas with it",
                                line=prose.plain.line(token.start), key="derive"))
