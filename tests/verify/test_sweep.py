"""Every fact of every sentence, changed one at a time so that its words change, turns a check red."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest
from jinja2 import UndefinedError

from derive.calculus.one_window import scope_tables
from derive.numeric.arithmetic import precision
from derive.sheet import Block, Claim, Figure, Heading, Prose, Sheet
from derive.solve import Solution
from derive.verify import pictures, words
from derive.verify.report import Verdict
from derive.verify.said import Said, holds
from derive.verify.sheet import parsed_of, scopes_of
from derive.words import environment
from tests.bank import solved

# what may change, since the words stay true: by another order, with or without indices, one truth for another
TRUE = {
    "title.output": "y or y_k", "title.letters": "y or y_k", "title.wrt": "x or x_i", "title.of": "L or L_i",
    "stage_used.used": "y_i or y_k", "title.kinds": "not said", "stage_message.held": "a reason is left out",
    "upstream.meant": "what δ means is said once more", "answer_maximiser.others": "an aside is left out",
    "answer_kinks.alone": "the rule gives a generalised derivative", "here.formula": "“at most one term” is left out",
    "here.larger": "a reason is left out", "stage_message.collapsed": "a reason is left out",
    "rule_elementwise.name": "the rule was used beside this one", "rule_alike.of": "one is left out",
    "answer_messages.several": "product or products", "answer_messages.alone": "not said", "rule_product.quotient": "a quotient is a product",
    "inserted.joined": "all is told by δ_y", "curve_caption.given": "in any order",
}
# which nothing in a sheet tells: what stands on the card, and so needs no words
ON_CARD = {"answer_letters.inputs", "answer_letters.parameters", "answer_letters.constants"}
FILES = ("layer", "windows", "geometry", "figures", "common")
KINDS = (("max", "min", "median"), ("first", "last", "split"), ("pair", "terms", "function", "cases"),
         ("input", "parameter", "constant", "intermediate", "output", "named", "forward"), ("entries", "cells", "own"),
         ("reciprocal", "root", "number", "general"), ("exp", "log", "tanh", "abs", "sign", "sqrt"))
SENTENCE = re.compile(r"(?<=[.:])\s+(?=[A-Z*$])")
CARDS = ("max_pooling_backward", "overlapping_max_pooling", "leaky_slope", "softmax_cross_entropy", "mini_batch",
         "layer_norm_by_name", "huber", "recurrent_step", "max_pooling_numbers", "swish_neuron")


def said(file: str, macro: str, facts: dict[str, Any]) -> str:
    own, common = (environment("en").get_template(f"{name}.j2").module for name in (file, "common"))
    found = getattr(own if hasattr(own, macro) else common, macro)
    return " ".join(line.strip() for line in str(found(**facts)).split("\n")).strip()


def home(claim: Claim) -> str:
    """The file whose macro makes these words of these facts."""
    for file in FILES:
        try:
            if said(file, claim.macro, dict(claim.facts)) == claim.words:
                return file
        except (AttributeError, TypeError, UndefinedError):
            pass
    raise AssertionError(claim)


def others(value: Any, pool: list[str]) -> Iterator[Any]:
    """Values like this one: the formulas of sentences are in the ``pool``."""
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case None:
            yield True
        case str() if value.startswith("$"):
            yield from (p for p in pool if p != value)
        case str():
            yield from (o for kinds in KINDS if value in kinds for o in kinds if o != value) if value else pool[:1]
        case list() | tuple():
            made = getattr(type(value), "_make", type(value))
            if not value and pool:
                yield made(pool[:1])
            if value and not hasattr(value, "_fields"):
                yield made(value[1:])
            for n, item in enumerate(value):
                yield from (made([*value[:n], o, *value[n + 1:]]) for o in islice(others(item, pool), 2))
        case dict():
            yield from ({**value, k: o} for k, v in value.items() for o in islice(others(v, pool), 2))
        case _ if dataclasses.is_dataclass(value):
            yield from (dataclasses.replace(value, **{f.name: o}) for f in dataclasses.fields(value)  # type: ignore[type-var]
                        for o in islice(others(getattr(value, f.name), pool), 2))


def altered(sheet: Sheet, claim: Claim, other: Claim) -> Sheet:
    """The sheet that makes the other claim in the place of one."""
    def text(old: str) -> str:
        if claim.words in old:
            return old.replace(claim.words, other.words)
        ours, theirs = SENTENCE.split(claim.words), SENTENCE.split(other.words)
        for mine, new in zip(ours, theirs, strict=True) if len(ours) == len(theirs) else ():
            old = old.replace(mine, new) if "$" in mine else old
        return old

    def blocks(found: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(dataclasses.replace(b, caption=text(b.caption)) if isinstance(b, Figure) else
                     dataclasses.replace(b, text=text(b.text)) if isinstance(b, Heading | Prose) else b for b in found)

    claims = tuple(other if c is claim else c for c in sheet.claims)
    return dataclasses.replace(sheet, answer=blocks(sheet.answer), details=blocks(sheet.details),
                               closing=blocks(sheet.closing), claims=claims)


@cache
def layer(name: str) -> tuple[Solution, Said]:
    solution = solved(name)
    module = solution.messages.module
    with precision():
        parsed, _ = parsed_of(solution.sheet, scope_tables(module))
        return solution, Said(module, scopes_of(parsed, solution.messages), solution.sheet)


def refuted(claim: Claim, other: Claim, solution: Solution, known: Said) -> bool:
    sheet = altered(solution.sheet, claim, other)
    if claim.macro == "checked":
        return bool(words.closed(sheet, solution.report))
    now = Said(known.module, known.scopes, sheet)
    now.__dict__.update({k: v for k, v in known.__dict__.items() if k not in ("sheet", "blocks", "texts", "answer")})
    try:
        if any(holds(other, now)):
            return True
        told, before = ([fact for c in each.claims for fact in words._told(c)] for each in (sheet, solution.sheet))
        if told != before:
            return True  # the boundaries of a layer are compared with what is said of them
        return "caption" in claim.macro and any(
            c.verdict is Verdict.REFUTED for c in pictures.pictures(sheet, known.module))
    except (TypeError, ValueError, LookupError, AttributeError):
        return True  # nothing was said that could be true


def silent(name: str, most: int) -> dict[str, list[tuple[str, str]]]:
    """The facts of a sheet of which a change is not noticed, with the words before and after."""
    solution, known = layer(name)
    pool = list(dict.fromkeys(f"${m.latex}$" for m in solution.sheet.inline))[:4]
    found: dict[str, list[tuple[str, str]]] = {}
    with precision():
        for claim in {(c.macro, c.words): c for c in solution.sheet.claims if c.words}.values():
            file = home(claim)
            for fact, value in claim.facts.items():
                for other in islice(others(value, pool), most):
                    try:
                        now = said(file, claim.macro, {**claim.facts, fact: other})
                    except (TypeError, LookupError, AttributeError, ValueError, UndefinedError):
                        continue
                    if now not in ("", claim.words) and not refuted(
                            claim, Claim(claim.macro, {**claim.facts, fact: other}, now), solution, known):
                        found.setdefault(f"{claim.macro}.{fact}", []).append((claim.words, now))
    return found


@pytest.mark.parametrize("name", CARDS)
def test_no_fact_of_a_sentence_changes_in_silence(name: str) -> None:
    assert {k: v for k, v in silent(name, 4).items() if k not in TRUE and k not in ON_CARD} == {}
