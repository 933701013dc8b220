"""Each phrase that is recognised, replaced by a word that does not exist: a card opens or stays what it was."""

from __future__ import annotations

import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.formulas import formulas
from derive.module import Module
from derive.question import module_of
from derive.question.words import lexicon
from derive.question.words.prose import Prose, prose_of
from tests.bank import CARDS

EVERY = 8  # with --every-card all of them
SAYS_NOTHING = {"small", "neutral", "change", "ask", "not", "aside"}
MOST = 0.02  # silent changes, of all replacements
MOST_OF_SOME = 0.04  # of a sample
Said = tuple[object, ...]


def test_a_lexicon_is_read_as_the_toml_that_it_is_and_has_no_phrase_twice_in_a_concept() -> None:
    for language in lexicon.LANGUAGES:
        whole = tomllib.loads((Path(lexicon.__file__).parents[1] / "lexicon" / f"{language}.toml").read_text("utf-8"))
        assert lexicon.tables(language) == {
            family: [(f"{family}.{concept}", phrase) for concept, phrases in table.items() for phrase in phrases]
            for family, table in whole.items()}
        for rows in lexicon.tables(language).values():
            known = [(concept, words) for concept, phrase in rows for words in lexicon._spelt(phrase)]
            assert [item for item, count in Counter(known).items() if count > 1] == []


def test_what_is_not_recognised_opens_a_card(pytestconfig: pytest.Config) -> None:
    whole = pytestconfig.getoption("--every-card")
    paths = [p for p in CARDS if whole or zlib.crc32(p.stem.encode()) % EVERY == 0]
    outcomes = Counter(outcome for path in paths for outcome in blinded(path))
    silent = sum(count for (_, kind), count in outcomes.items() if kind == "changed")
    assert sum(outcomes.values()) > len(paths)
    assert [family for (family, kind) in outcomes if kind == "changed" and family in ("part", "join", "message")] == []
    assert silent <= (MOST if whole else MOST_OF_SOME) * sum(outcomes.values()), outcomes


def blinded(path: Path) -> Iterator[tuple[str, str]]:
    """(family of the phrase, what became of the card) for each phrase that the card's words are recognised by."""
    try:
        card = Card.read(path)
        prose = prose_of(card.question, card.question_line, formulas(card.question, card.question_line))
        base = said(module_of(card))
    except DeriveError:
        return
    for family, start, stop in recognised(prose):
        text = f"{card.question[:start]}blorp{card.question[stop:]}"
        try:
            module = module_of(Card.parse(card.text.replace(card.question, text, 1), str(path)))
        except DeriveError:
            yield family, "open"
        else:  # a letter of unknown role, on which what is asked does not depend, is told on the sheet
            told = any("blorp" in reading and "does not depend" in reading for reading in module.readings)
            yield family, "same" if said(module) == base else "told" if told else "changed"


def recognised(prose: Prose) -> Iterator[tuple[str, int, int]]:
    """(family, begin, end in the question) of each phrase, once."""
    seen: set[tuple[int, int]] = set()
    for family in (f for f in lexicon.FAMILIES if f not in SAYS_NOTHING):
        for span in lexicon.spans(prose.text, family):
            place = prose.plain.origin[span.start], prose.plain.origin[span.stop - 1] + 1
            if not span.concept.endswith(".none") and "∎" not in prose.text[span.start : span.stop] and place not in seen:
                seen.add(place)
                yield family, *place


def said(module: Module) -> Said:
    """What was read: formulas, roles, what is asked, windows, facts."""
    roles = (frozenset(names) for names in (module.inputs, module.parameters, module.constants))
    return (module.equations, *roles, frozenset(module.asked), module.wanted, module.fields, frozenset(module.facts),
            module.ranges, module.input_size)
