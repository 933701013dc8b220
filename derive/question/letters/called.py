"""The letters that nouns call: s of «the scores», where the question has scores $s$ and no others."""

from __future__ import annotations

from collections.abc import Iterator

from derive.notation.rules.trees import sides, statements
from derive.notation.tree import base_of, is_token, normal, split
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose


def letter_called(prose: Prose, noun: str) -> str | None:
    """The letter behind a noun, where it is that of one letter alone: the scores $s$."""
    letters = {letter for called, letter in _called(prose) if called == _singular(noun)}
    return letters.pop() if len(letters) == 1 else None


def _called(prose: Prose) -> Iterator[tuple[str, str]]:
    """The noun in front of each letter."""
    for at, letter in _letters(prose):
        words = prose.text[max(0, at - 40) : at].split()
        for word in words[-2 if named(" ".join(words[-1:]), "naming.is") else -1 :][:1]:  # «the scores are $s$»
            other = named(word, "neutral.small", "naming.is", "ask", "small", "part", "defines")
            if len(word) > 3 and word.isalpha() and not other:
                yield _singular(word), letter


def _letters(prose: Prose) -> Iterator[tuple[int, str]]:
    """The letters that formulas name or define, behind their places in the text; a displayed one stands at a break."""
    starts = {prose.plain.place(f): f for f in prose.formulas}
    for n in (n for n, char in enumerate(prose.text) if char in "∎¶"):
        origin = prose.plain.origin[n]
        formula = next((starts[at] for at in range(origin, origin + 8) if at in starts), None)
        part = next(iter(statements(formula.tree or ())), ()) if formula is not None else ()
        head = split(sides(part)[0], "IN")[0] if part else []
        base = base_of(normal(head[0])) if len(head) == 1 else None
        if base is not None and is_token(base, "NAME"):
            yield n, str(base)


def _singular(word: str) -> str:
    return word.removesuffix("s")
