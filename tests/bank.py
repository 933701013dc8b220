"""The cards that the tests hold: in folders by what they show, each found by its name alone."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from derive.calculus.kinks import settled
from derive.calculus.messages import Messages
from derive.calculus.one_window import derivation
from derive.card import Card
from derive.errors import DeriveError
from derive.exposition.sheet import compose, with_checks
from derive.module import Module
from derive.question import module_of
from derive.solve import Solution, solve
from derive.verify.report import Report

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "cards" / "max_pooling_backward.md"
VARIED = sorted((ROOT / "cards" / "variants").glob("*.md"))
SAMPLES = sorted(path for path in (ROOT / "cards").rglob("*.md") if path.name != "README.md" and path not in VARIED)
CARDS = sorted((ROOT / "tests" / "cards").rglob("*.md"))
_EXPECT = re.compile(r"^expect:.*$", re.MULTILINE)  # the text alone is searched: reading all cards takes its time
_ORACLE = re.compile(r"^oracle:", re.MULTILINE)


@cache
def named(name: str) -> Path:
    """The card of this name, wherever it lies."""
    (found,) = (path for path in (*CARDS, *SAMPLES) if path.stem == name)
    return found


@lru_cache(maxsize=32)
def solved(name: str, tie_rule: str | None = None) -> Solution:
    """The solution of the card of this name, as the tests of this process see it that run one after another."""
    return solve(named(name), tie_rule=tie_rule)


@cache
def understood(name: str) -> Module:
    """What the card of this name is read as."""
    return module_of(Card.read(named(name)))


@lru_cache(maxsize=32)
def derived(name: str) -> Messages:
    """The messages of the card of this name."""
    return derivation(settled(understood(name)))


def card_of(question: str) -> Card:
    """A card of this question, without a solution."""
    return Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n\n# Solution\n\nTODO\n")


def is_read(question: str) -> bool:
    """The card of this question is understood, not refused."""
    try:
        module_of(card_of(question))
    except DeriveError:
        return False
    return True


def unchecked(module: Module, card: Card | None = None) -> Solution:
    """A layer's sheet, of which nothing has been checked: for tests of what stands on it."""
    messages = derivation(settled(module))
    sheet = with_checks(compose(messages, card.question if card else ""), Report(()), messages)
    return Solution(card, module, sheet, Report(()), messages)


@lru_cache(maxsize=32)
def composed(name: str) -> Solution:
    """The card of this name with its sheet, unchecked."""
    return unchecked(understood(name), Card.read(named(name)))


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in CARDS}


def _expected(path: Path) -> str:
    found = _EXPECT.search(_texts()[path])
    return found[0] if found else ""


REFUSED = [path for path in CARDS if "Error: " in _expected(path)]
LAYERS = [path for path in CARDS if path not in {*REFUSED} and _ORACLE.search(_texts()[path])]
WINDOWS = [path for path in CARDS if path not in {*REFUSED, *LAYERS}]  # a maximum or minimum over windows, nothing else
