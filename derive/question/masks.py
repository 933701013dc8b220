"""Masks that a question asks for: which entries the maxima of a layer pass, 1 where they do and 0 elsewhere.

«and the mask» asks for a derivative of the layer that has a letter of its own: M_{ij} = Σ ∂f_{kl}/∂x_{ij}.
"""

from __future__ import annotations

import re
from dataclasses import replace

from derive.axes import unused, with_axes
from derive.card import Card
from derive.errors import DeriveError, OpenError, Problem
from derive.expr import ZERO, Entry, Extremum, Fn, Node, Reduce
from derive.module import Mask, Module
from derive.notation.symbols import Kind, Symbol
from derive.question.sentences.tokens import asks, in_english, sentences
from derive.question.steps import ENDS, in_source, opens, with_question
from derive.question.words.prose import GAP
from derive.question.words.reading import question_prose
from derive.statement import Statement

_MASK = re.compile(r"(?:the |a |all )*(?:(?:binary|pooling|max|maximum|argmax|gradient|backward|relu)[ -])*masks?"
                   rf"(?: (?:of|for) (?:the )?(?:maxim(?:a|um)|pooling|max pooling|relu|windows?|layer|{GAP}))?")
_WHICH = re.compile(r"which (?:entries|inputs?|pixels|elements|cells|components)(?: of (?:the input|the image|"
                    rf"{GAP}))? (?:receives?|gets?|(?:is|are) passed|pass)(?: (?:an?|the|any|on|through|some|non zero|"
                    r"nonzero|gradients?))*")
_DERIVED = re.compile(r"gradient|backward|derivative|jacobian|message|\\partial|\\delta", re.IGNORECASE)


def apart(card: Card) -> tuple[Card, str]:
    """The card without its request for a mask, and the words of that; "" where there is none."""
    if not re.search(r"\bmasks?\b|\bwhich\b", card.question, re.IGNORECASE):
        return card, ""
    try:
        prose = question_prose(card)
    except DeriveError:
        return card, ""
    for tokens in sentences(prose) if in_english(prose.text) else ():
        last, asking = tokens[-1].stop, asks(tokens)
        for start in (t.start for t in tokens):
            whole = _WHICH.match(prose.text, start, last)
            found = whole or (_MASK.match(prose.text, start, last) if asking else None)
            if found and opens(prose.text, start) and ENDS.match(prose.text, found.end()):
                first, stop = in_source(prose, found.start(), found.end())
                rest = card.question[:first] + card.question[stop:]
                instead = "the output" if _DERIVED.search(rest) else "the Jacobian"
                verb = "Give " * (whole is not None)
                said = prose.plain.quote(found.start(), found.end())
                return with_question(card, card.question[:first] + verb + instead + card.question[stop:]), said
    return card, ""


def stated(statement: Statement) -> tuple[Statement, str]:
    """The statement without the kind ``mask``, and that; it then asks for derivatives, of which the mask is one."""
    derived = statement.derive or ()
    if "mask" not in derived:
        return statement, ""
    return replace(statement, derive=tuple(d for d in derived if d != "mask") or ("jacobian",)), "`derive: mask`"


def with_masks(module: Module, said: str) -> Module:
    """The layer with a letter for the mask of each of its maxima.

    Raises :class:`OpenError` where it has none, or one of a term that has no letter.
    """
    if not said:
        return module
    heads = [(head, value) for head, value in (e.terms for e in module.equations) if isinstance(head, Entry)]
    pairs = [(head.tensor, wrt, several) for head, value in heads
             for wrt, several in ((_picked(value), True), (_clipped(head, value), False)) if wrt]
    if not pairs:
        raise OpenError(Problem(f"“{said}”: no maximum of letters is taken, whose mask it could be: write it with a "
                                r"letter for what it is taken of, as in `y_k = \max(0, s_k)`", key="derive"),
                        found=module)
    letters = iter((*unused(with_axes(module).table, "MBQSGAEF", len(pairs)), *(f"M_{{{of}}}" for of, _, _ in pairs)))
    table, masks = module.table, []
    for of, wrt, windows in pairs:
        symbol = table.named(wrt)
        assert symbol is not None
        mask = Mask(of, wrt, windows)
        table = table.extended([Symbol(mask.name, next(letters), Kind.TENSOR, symbol.axes, (), symbol.sizes)])
        masks.append(mask)
    readings = (*module.readings, f"asked for the mask (“{said}”)")
    return replace(module, table=table, masks=tuple(masks), readings=readings)


def _picked(value: Node) -> str:
    """x of max x_i over a window or an axis; "" of any other definition."""
    body = value.body if isinstance(value, Reduce) and value.op in ("max", "min") else None
    return body.tensor if isinstance(body, Entry) else ""


def _clipped(head: Entry, value: Node) -> str:
    """s of max(0, s_k), whose derivative is 0 or 1; "" of any other definition."""
    args = value.args if isinstance(value, Extremum) or (isinstance(value, Fn) and value.name == "relu") else ()
    rest = [a for a in args if a is not ZERO]
    entry = rest[0] if len(rest) == 1 else None
    return entry.tensor if isinstance(entry, Entry) and entry.indices == head.indices else ""
