"""What a question asks for, held against what its layer's module answers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import Entry
from derive.module import Module
from derive.notation.rules.kinds import Said
from derive.notation.rules.trees import called
from derive.notation.symbols import name_of
from derive.notation.tree import base_of, normal
from derive.question.posed_request import is_explained
from derive.question.posed_request import items as items_of
from derive.question.requests.changed import refuse_changed
from derive.question.requests.quotients import derivative_parts
from derive.question.sentences.actions import Say
from derive.question.sentences.grammar import words_of
from derive.question.sentences.meaning import Unread, meaning
from derive.question.sentences.request_atoms import arguments, head
from derive.question.sentences.tokens import Sentence, Token, asks, in_english, sentences
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose

_TROUBLE, _EXCEPTS = words_of("en", "CHANGES_REQUEST"), words_of("en", "EXCEPTS")
_DERIVED_NOUNS = words_of("en", "HEADS_OF_ITEMS")
_SIDE_QUESTIONS = frozenset("is are does do why when where can could would".split())
_NEED = frozenset({"need", "want"})
_DERIVED = frozenset("""asks_back bare derivs grads grads_input gradsdefined gradsin gradsof innerof jacobianof messages
    messages_jacobian messages_vjp messagesin messagesof named noungrads outputof ownderivative ownjacobian primes
    """.split())


def refuse_unread_requests(prose: Prose, module: Module, posed: bool = False) -> None:
    """Raise :class:`CardError` for a request that the rows do not read whole, or that the module does not answer.

    Of a question ``posed`` by its formulas words may say how the answer is to look, and where it holds.
    """
    asked = False
    for tokens in sentences(prose):
        line, first, last = prose.plain.line(tokens[0].start), tokens[0], tokens[-1]
        asked = asked or _shows(tokens) or _needs(tokens)
        if not asks(tokens):
            continue
        asked = asked or bool(named(prose.text[first.start : last.start + len(last.text)], "request.back"))
        derived = any(t.formulas and t.said in (Said.DERIVATIVE, Said.GRADIENT) for t in tokens)
        if first.text == "express" and not derived and _DERIVED_NOUNS.isdisjoint(t.text for t in tokens):
            continue  # how what is asked for elsewhere is to be written
        quoted = prose.plain.quote(first.start, last.stop)
        try:
            said = meaning(tokens)
        except Unread:
            asked_for = [t for item in items_of(tokens) for t in item] if posed else _outside_parts(tokens, prose)
            names = {b.start for a, b in itertools.pairwise(tokens) if a.text in ("write", "call", "denote")}
            values = any(t.formulas and (t.said is Said.VALUE and t.start not in names or t.sets) and not (
                _is_output(t, module)) for t in asked_for)
            excepted = any(t.text in _EXCEPTS and after.formulas for t, after in itertools.pairwise(tokens))
            if not (values or excepted or {t.text for t in asked_for} & (_EXCEPTS if posed else _TROUBLE)):
                asked = True
                if posed:
                    refuse_changed(tokens, prose, module, read=False)
                continue  # what else stands there is accounted for where requests are read
            raise CardError(Problem(f"“{quoted}” is not understood in what is asked; write the derivatives that are "
                                    "wanted, or `derive` in the front matter", line=line, key="derive")) from None
        if posed:
            refuse_changed(tokens, prose, module, read=True)
        for wrong in _unanswered(said, module):
            raise CardError(Problem(f"“{quoted}”: {wrong}", line=line, key="derive"))
        asked = asked or any(item.kind in _DERIVED for item in items(said))
    if not asked:
        raise UnsupportedError(Problem("the question asks for no message or derivative; write e.g. “Derive the "
                                       "backward message.”", line=prose.plain.first_line, key="derive"))


def _is_output(token: Token, module: Module) -> bool:
    """The layer's own f_{kl}(x)."""
    tree = token.formula.tree or ()
    applied = called(tree, 0) is not None and len(tree) == 2
    return applied and str(base_of(normal(tree[0]))) == module.output


def besides_left(prose: Prose, told: Iterable[str]) -> Iterator[str]:
    """What is asked for besides derivatives and is not ``told`` yet: «write the update rule», «and the number of …»."""
    quoted = " ".join(told)
    for tokens in sentences(prose) if in_english(prose.text) else ():
        whole = prose.said(tokens[0].start, tokens[-1].stop)
        if _is_side_question(tokens, prose) and _words(whole) not in quoted:
            yield f"not answered, since it asks for no derivative: {whole}"
        if not asks(tokens):
            continue
        try:
            said = meaning(tokens)
        except Unread:
            continue
        kinds = {item.kind for item in items(said)}
        if kinds.isdisjoint(("besides", "besidesnoun")):
            continue
        alone = kinds <= {"besides", "besidesnoun"}
        for item in [tokens] if alone else items_of(tokens):
            derived = any(t.formulas and t.said in (Said.DERIVATIVE, Said.GRADIENT, Said.LETTERS) for t in item)
            words = prose.said(item[0].start, item[-1].stop)
            back = bool(named(words, "request.back", "request.vjp"))
            plain = alone and not back or len(item) > 2 and not (derived or back) and _DERIVED_NOUNS.isdisjoint(
                t.text for t in item)
            if plain and not is_explained(item, tokens) and _words(words) not in quoted:
                yield f"not answered, since no derivative is asked for: {words}"


def _is_side_question(tokens: Sentence, prose: Prose) -> bool:
    """«For which $w$ is the gradient zero?», «Is it bounded?»"""
    last = tokens[-1].stop
    first = [t.text for t in tokens[:2]]
    opens = first[0] in _SIDE_QUESTIONS or first in (["for", "which"], ["at", "which"], ["in", "which"])
    return opens and prose.text[last:].lstrip().startswith("?")


def _words(said: str) -> str:
    """The words of “line 6: “the words””."""
    return said.partition(": ")[2].strip("“”")


_BY_NOUN = re.compile(r"(?:respect to|wrt) (?:the |its )?(?:(?P<other>next state|quantile|threshold)|"
                      r"(?P<own>parameters?|bias(?:es)?|weights?|slopes?|temperature))\b(?!\s*\$)")


def refuse_unanswered_nouns(prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for «with respect to its parameter» of a layer in words that has none."""
    found = next((m for m in _BY_NOUN.finditer(prose.plain.text) if m["other"] or not module.parameters), None)
    if found is not None:
        quoted = prose.plain.quote(*found.span())
        raise CardError(Problem(f"“{quoted}”: the layer has no letter for it, or does not answer it; write its formula",
                                line=prose.plain.line(found.start()), key="derive"))


def _outside_parts(tokens: Sentence, prose: Prose) -> Sentence:
    """The words that name no part: «squared» of «squared error» squares no gradient."""
    parts = named(prose.text, "part")
    return tuple(t for t in tokens if not any(p.start <= t.start < p.stop for p in parts))


def _shows(tokens: Sentence) -> bool:
    """«Show that f' = …», «how do you back-propagate through it?»: what is shown is asked for."""
    words = {t.text for t in tokens}
    primed = any(t.formulas and (t.said is Said.GRADIENT or "'" in t.formula.latex) for t in tokens)
    return (bool(words & {"show", "prove", "insert"}) and primed) or bool(
        words & {"backpropagate", "propagate", "insert", "backpropagated", "propagated"})


def _needs(tokens: Sentence) -> bool:
    """«For training we need ∂L/∂w», not «∂L/∂y is needed»."""
    wants = [t.start for t in tokens if t.text in _NEED]
    return bool(wants) and any(t.formulas and t.said is Said.DERIVATIVE and t.start > wants[0] for t in tokens)


def _unanswered(said: Any, module: Module) -> Iterator[str]:
    for item in items(said):
        match item.kind:
            case "ownderivative" | "ownjacobian":
                yield from _of(item[0] if isinstance(item[0], Token) else None, module)
            case "outputof" if not isinstance(item[1], Token) and _is_loss(module):
                yield "the derivative of the output is asked for, and the formulas end with a loss: write its letter"
            case "gradsof" | "jacobianof" | "outputof" | "grads" | "gradsin":
                yield from _of(item[1] if isinstance(item[1], Token) else None, module)
                for said_ in item[0] if isinstance(item[0], tuple) else (item[0],):
                    of_one = said_.kind == "wrtsome" and said_[0].kind == "input" and str(said_[1]) != "current"
                    if of_one and len(module.equations) > 1:
                        yield "the derivative by what goes into one layer of several is asked for"
                for letter in _letters(item[0]):
                    if not _answered(letter, module):
                        yield f"the derivative by `{letter}` is asked for, and the layer does not answer it"
            case "innerof":
                yield "the derivative of what is inside the layer is asked for"
            case "derivs":
                for token in item[0]:
                    _, below = derivative_parts(token.formula.latex)
                    if below is not None and not _answered(below, module):
                        yield f"the derivative by `{below}` is asked for, and the layer does not answer it"
            case "messages":
                kinds = {k.kind for k in (item[0] if isinstance(item[0], tuple) else (item[0],))}
                if "parameters" in kinds and "parameters" not in module.asked and module.parameters:
                    yield "the parameter messages are asked for"


def _is_loss(module: Module) -> bool:
    """L = …, behind other formulas: a number with the letter of a loss."""
    entry, _ = module.definition(module.output)
    return len(module.equations) > 1 and not entry.indices and module.output in ("ell", *"CEJLR")


def _of(token: Token | None, module: Module) -> Iterator[str]:
    """Asked is the derivative of the output, or of the loss behind it: not that of another quantity of the layer."""
    if token is None or (letter := head(token)) is None:
        return
    name = name_of(letter)
    inner = name in module.defined and name != module.output
    of_output = name not in module.defined and any(a in module.defined for a in arguments(token))
    if of_output or inner and not any(isinstance(w.of, Entry) and w.of.tensor == name for w in module.wanted):
        yield f"the derivative of `{token.formula.latex.strip()}` is asked for, which is not the output"


def _answered(letter: str, module: Module) -> bool:
    name = name_of(letter)
    if any(w.wrt.tensor == name for w in module.wanted if isinstance(w.wrt, Entry)):
        return True
    if name not in {*module.given, *module.defined}:
        return True  # other letters are the old reader's to judge
    if module.wanted:
        return False
    kinds = {"jacobian", "vjp"} & set(module.asked) if name in module.inputs else {"parameters"} & set(module.asked)
    return bool(kinds) or name in module.defined


def _letters(wanted: Any) -> Iterator[str]:
    for said in wanted if isinstance(wanted, tuple) else (wanted,):
        if isinstance(said, Say) and said.kind in ("wrtletter", "wrtletters"):
            yield from said[0].letters


def items(said: Any) -> Iterator[Say]:
    """All that a sentence says, one by one."""
    if isinstance(said, tuple):
        for item in said:
            yield from items(item)
    elif isinstance(said, Say):
        if said.kind in ("asks", "asks2", "both_ask"):
            for item in said.of:
                yield from items(item)
        else:
            yield said
