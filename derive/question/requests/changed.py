"""What is asked for that is no derivative of the layer, but made of one: «the negative gradient», «∂L/∂x v»."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

from derive.errors import RequestError
from derive.expr import Entry
from derive.module import Module
from derive.notation import tree as tr
from derive.notation.rules import trees
from derive.notation.rules.kinds import Said, is_case
from derive.notation.symbols import name_of
from derive.notation.tree import is_derivative
from derive.question.posed_request import is_of_all_layers
from derive.question.requests.in_formulas import is_primed
from derive.question.requests.slots import before_nouns, not_asked_so, of_others
from derive.question.sentences.grammar import words_of
from derive.question.sentences.meaning import reads
from derive.question.sentences.tokens import Sentence, Token, asks, in_english, orders, sentences
from derive.question.words.lexicon import Span, named
from derive.question.words.prose import Prose

_words = partial(words_of, "en")
_CHANGES, _CLAIMS, _AT = _words("CHANGES_GRADIENT"), _words("CLAIMS"), _words("STANDS_BEFORE_A_VALUE")
_TRANSPOSED = re.compile(
    r"\\(?:partial|nabla).*[)\]]\s*\^\s*\{?\s*(?:\\top|\\mathsf|\\intercal|T\b)")
_ACTIVATIONS = frozenset("sigmoid tanh relu leaky_relu prelu elu softplus softmax softsign gelu silu".split())
_WITH, _GIVEN = _words("TELLS_WITH_WHAT"), _words("TELLS_OF_WHAT_IS_GIVEN")
_ORDERED, _TOWARDS = _words("STANDS_BEFORE_WHAT_IS_ASKED"), _words("TOWARDS") | {"by"}
_NARROWS, _END = _words("NARROWS"), Token("sign", "", -1)
_JOINS = _words("JOINS_ITEMS") | frozenset("as plus together along".split())


def refuse_changed(tokens: Sentence, prose: Prose, module: Module, read: bool) -> None:
    """Raise :class:`RequestError` for a request of something else than derivatives of the layer; the rows ``read`` it.

    Where they do not, words may change what is asked for, and several things may be differentiated.
    """
    behind = tokens[next((n for n, _ in enumerate(tokens) if orders(tokens, n) and "order" not in {
        t.text for t in tokens[max(0, n - 2) : n]}), 0) :]  # not «in order to obtain …»
    found = next(chain(_formulas(behind, module), _others(behind, prose)), None)
    if found is None and not read:
        several = len(module.equations) > 1
        found = next(chain(_words_in(behind, prose), _modified(behind, prose), _parts(behind, prose) if several else (),
                           _several(behind, module), _tails(behind, prose)), None)
    if found is not None:
        (problem,) = not_asked_so(prose, found.start, found.stop).problems
        raise RequestError(replace(problem, key="derive"))


def values_left(prose: Prose, module: Module) -> Iterator[str]:
    """What is said of a derivative «at $w = 0$», of letters that stay letters."""
    for tokens in filter(asks, sentences(prose) if in_english(prose.text) else ()):
        for before, token in pairwise(tokens):
            letter = next(tr.names_in(token.formula.tree or ()), "") if token.formulas else ""
            if before.text in _AT and letter in module.given and _is_number(token.formula.tree or ()):
                said = prose.said(before.start, token.start + 1)
                yield f"not answered, since the formulas hold for any number there: {said}"


def _is_number(tree: trees.Run) -> bool:
    """w = 0, w = b = 0, x_1 = π"""
    sides = trees.sides(tree)
    last = sides[-1][0] if len(sides) > 1 and all(len(side) == 1 for side in sides) else None
    return is_case(tree) or tr.is_token(last, "NUMBER") or str(last) in ("pi", "e")


def _formulas(tokens: Sentence, module: Module) -> Iterator[Token]:
    """−η ∂L/∂w, (∂y/∂x)^⊤, ∂y/∂x v: of which no side is a derivative; σ'(y) of a function on the way."""
    claimed = any(t.text in _CLAIMS for t in tokens)
    own = {module.output, *(e.tensor for w in module.wanted for e in (w.of,) if isinstance(e, Entry))}
    for before, token in pairwise((*tokens[:1], *tokens)):
        if not token.formulas or claimed or before.text in _GIVEN:
            continue
        tree = token.formula.tree or ()
        if _TRANSPOSED.search(token.formula.latex) and token.said in (Said.DERIVATIVE, Said.LETTERS, Said.VALUE):
            yield token
        elif token.said is Said.GRADIENT or token.equates and tr.has(tree, "PARTIAL", "NABLA"):
            if not all(_is_answer(part) for part in trees.statements(tree) if tr.has(part, "PARTIAL", "FRAC", "NABLA")):
                yield token
        elif is_primed(token.formula) and name_of(str(tr.base_of(tree[0]))) not in own and before.text in (
                _ORDERED):
            yield token


def _is_answer(part: trees.Run) -> bool:
    """∂L/∂w = ?, δ = ∂L/∂y, ∂L/∂w = δ x: a side begins with a derivative."""
    return any(bool(side) and (is_derivative(side[0]) or tr.is_token(tr.base_of(side[0]), "PARTIAL", "NABLA"))
               for side in trees.sides(part))


def _others(tokens: Sentence, prose: Prose) -> Iterator[Token]:
    """«the total derivative», «as a row vector», «in numerator layout»"""
    starts = {span.start for span in named(prose.text, "slot.another")}
    yield from (t for t in tokens if t.start in starts)


def _words_in(tokens: Sentence, prose: Prose) -> Iterator[Token]:
    """«the negative gradient», «averaged over $N$ samples», not the squares of «the squared error»."""
    parts = [p for p in named(prose.text, "part") if not p.of("part.dropout", "part.penalty")]
    yield from (t for before, t in pairwise(tokens) if t.text in _CHANGES and before.text not in ("to", "held")
                and not any(p.start <= t.start < p.stop for p in parts))
    yield from (a for a, b in pairwise(tokens) if (a.text, b.text) in (("set", "it"), ("set", "them")))
    yield from (t for n, t in enumerate(tokens) if t.text in ("units", "neurons") and any(  # «for linear hidden units»
        before.text in ("for", "with") for before in tokens[max(0, n - 3) : n]))


def _modified(tokens: Sentence, prose: Prose) -> Iterator[Token]:
    """«the transposed Jacobian», «the time derivative», «the sum of the derivatives», not where a claim is shown."""
    asked = frozenset({prose.sentence(tokens[0].start)})
    starts = {start for start, _ in chain(before_nouns(prose, asked), of_others(prose, asked))}
    products = {b.start for a, b in pairwise(tokens) if a.text == "jacobian"}  # «the Jacobian-transpose message»
    yield from (t for t in tokens if t.start in starts - products and not any(t.text in _CLAIMS for t in tokens))


def asks_of_parts(prose: Prose) -> bool:
    """«derive the backward message of the ReLU», «the Jacobians of both layers», of one layer of several."""
    told = filter(asks, sentences(prose) if in_english(prose.text) else ())
    return any(next(_parts(tokens, prose), None) is not None or is_of_all_layers(tokens) for tokens in told)


def _parts(tokens: Sentence, prose: Prose) -> Iterator[Token]:
    """The softmax of «the Jacobian of the softmax and …», not of «using the derivative of the softmax»."""
    spans: list[Span] = [p for p in named(prose.text, "part") if p.concept.partition(".")[2] in _ACTIVATIONS]
    for n, token in enumerate(tokens):
        before = [t.text for t in tokens[:n]]
        with_ = next((t for t in reversed(before) if t in _WITH or t in ("and", ",")), "")
        if any(s.start == token.start for s in spans) and with_ not in _WITH and (
                before[-2:] == ["of", "the"] or before[-1:] == ["of"]):
            yield token


def _tails(tokens: Sentence, prose: Prose) -> Iterator[Token]:
    """«∂y/∂x to first order», «by $W$ for one window only»: words behind what is asked that no row reads."""
    if any(t.text in _CLAIMS for t in tokens):  # «show that ∂y/∂x = 1 at the origin» is judged as a claim
        return
    entries = {span.start for span in named(prose.text, "entry")}
    run: list[Token] | None = None
    for before, token in pairwise((tokens[0], *tokens, _END)):
        joins = token.kind == "sign" or token.text in _JOINS
        asked = bool(token.formulas) and (token.said in (Said.DERIVATIVE, Said.GRADIENT)
                                          or token.said is Said.LETTERS and before.text in _TOWARDS)
        if joins or asked or orders((before, token), 1):
            if run and run[0].text in _NARROWS and run[0].start not in entries and not reads(tuple(run), "afters"):
                yield run[0]
            run = [] if asked else None
        elif token.formulas:  # a condition, which is held against the layer
            run = None
        elif run is not None:
            run.append(token)


def _several(tokens: Sentence, module: Module) -> Iterator[Token]:
    """«the derivative of $y$ by $w$ and of $L$ by $y$», «of $y$ and $L$»: more than one thing is differentiated."""
    defined = {*module.defined, module.output}
    of: list[Token] = []
    for n, token in enumerate(tokens):
        letters = {*map(name_of, token.letters)} if token.formulas and token.said is Said.LETTERS else set()
        before = [t.text for t in tokens[max(0, n - 2) : n]]
        if letters and letters <= defined and (before[-1:] == ["of"] or of and of[-1] is tokens[n - 2] and (
                before[-1:] in (["and"], [","]))):
            of.append(token)
    names = {name_of(letter) for token in of for letter in token.letters}
    yield from of[1:2] if len(names) > 1 else ()
