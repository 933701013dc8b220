"""Which choices a card leaves open, and what it declares of them; every mistake in that is one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from derive.card import Card
from derive.errors import CardError, Problem, did_you_mean
from derive.records import dataclass
from derive.sections import header_end, lines_of
from derive.variants.numbers import EXAMPLE, Numbers, numbers

PREFIX = "vary_"
OPEN = re.compile(r"\{\{[ \t]*([A-Za-z]\w*(?:\.\w+)*)[ \t]*\}\}")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]|\\begin\{(equation|align|gather)(\*?)\}.*?"
                     r"\\end\{\1\2\}", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_NAME = re.compile(r"[A-Za-z]\w*(?:\.\w+)*")
_ARGUMENT = re.compile(r"(?:[_^]|\\[A-Za-z]+|\})\s*$")  # in front of the braces of an argument: \mathbf{{w}}
Options = tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """The choices of a card by name, each a list of texts or numbers to be drawn, and the lines of their keys."""

    choices: Mapping[str, Options | Numbers]
    lines: Mapping[str, int]


def has_choices(card: Card) -> bool:
    """The card declares choices."""
    return any(str(key).startswith(PREFIX) for key in card.front_matter)


def declared(card: Card) -> Declared:
    """The choices that a card leaves open.

    Raises :class:`CardError` with each that is undeclared, unused or impossible.
    """
    choices: dict[str, Options | Numbers] = {}
    lines: dict[str, int] = {}
    problems: list[Problem] = []
    for key, value in card.front_matter.items():
        if not str(key).startswith(PREFIX):
            continue
        name = str(key).removeprefix(PREFIX)
        lines[name] = card.key_line(key) or 1
        try:
            if not _NAME.fullmatch(name):
                raise ValueError("a choice has a name of letters, digits and `_`, as in `vary_kernel_size`")
            choices[name] = _choice(value)
        except ValueError as error:
            problems.append(Problem(f"`{key}`: {error}", card.path, lines[name]))
    problems += _shapes(card, choices, lines)
    used = {found[1] for found in OPEN.finditer(_open_text(card))}
    used |= {n for c in choices.values() if isinstance(c, Numbers) for n in c.shape if isinstance(n, str)}
    problems += [Problem(f"`{PREFIX}{name}` is declared, and `{{{{{name}}}}}` stands nowhere: use it, or delete the "
                         "key", card.path, line) for name, line in lines.items() if name in choices.keys() - used]
    problems += _undeclared(card, {*lines})
    if problems:
        raise CardError(*problems)
    return Declared(choices, lines)


def _choice(value: Any) -> Options | Numbers:
    if isinstance(value, str):
        return numbers(value)
    if not isinstance(value, list):
        raise ValueError(f"choices are a list, as in `[2, 3]`, or numbers as in {EXAMPLE}")
    if not value:
        raise ValueError("the list is empty: write at least one choice")
    if not all(isinstance(item, str | int | float) for item in value):
        raise ValueError("a choice is a text or a number; write a text in single quotes")
    found = tuple(str(item).lower() if isinstance(item, bool) else str(item).strip() for item in value)
    if any(OPEN.search(text) for text in found):
        raise ValueError("a choice holds no other choice: write it out")
    if any("\n" in text for text in found):
        raise ValueError("a choice is a single line")
    return found


def _shapes(card: Card, choices: Mapping[str, Options | Numbers], lines: Mapping[str, int]) -> Iterator[Problem]:
    """What is wrong with shapes that other choices give, for each of their values."""
    for name, choice in choices.items():
        named = [n for n in choice.shape if isinstance(n, str)] if isinstance(choice, Numbers) else []
        for size in named:
            given = choices.get(size, ())
            if isinstance(given, Numbers) or not given or not all(text.isdecimal() for text in given):
                yield Problem(f"`{PREFIX}{name}`: its shape needs `{PREFIX}{size}: [2, 3]`, a list of sizes", card.path,
                              lines[name])
                break
            try:
                assert isinstance(choice, Numbers)
                for text in given:
                    choice.extents(dict.fromkeys(named, text))
            except ValueError as error:
                yield Problem(f"`{PREFIX}{name}`: {error}", card.path, lines[name])
                break


def _open_text(card: Card) -> str:
    """All that a choice may stand in: the card without its declarations."""
    lines = lines_of(card.text)
    skipped = declared_lines(card)
    return "".join(line for n, line in enumerate(lines, 1) if n not in skipped)


def declared_lines(card: Card) -> dict[int, str]:
    """line ↦ name of the choice that it declares; of lines that belong to it as its value, too."""
    lines = lines_of(card.text)
    end = header_end(lines)
    starts = sorted(card.header.lines.items(), key=lambda pair: pair[1])
    found: dict[int, str] = {}
    for (key, first), (_, after) in zip(starts, [*starts[1:], ("", end)], strict=True):
        if key.startswith(PREFIX):
            own = (n for n in range(first, after) if n == first or lines[n - 1].strip() and lines[n - 1][0] != "#")
            found |= dict.fromkeys(own, key.removeprefix(PREFIX))
    return found


def _undeclared(card: Card, known: set[str]) -> Iterator[Problem]:
    """Names that stand open in the header or the question, and are not declared.

    ``\\mathbf{{w}}`` in a formula of a card that declares nothing is an argument in braces.
    """
    lines = lines_of(card.text)
    skipped = declared_lines(card)
    end = header_end(lines)
    question = CODE.sub(lambda found: " " * len(found[0]), card.question)
    formulas = [found.span() for found in FORMULA.finditer(question)]
    header = ((n, m[1]) for n in range(1, end) if n not in skipped for m in OPEN.finditer(lines[n - 1]))
    asked = ((card.question_line + question.count("\n", 0, m.start()), m[1]) for m in OPEN.finditer(question)
             if not (_ARGUMENT.search(question, 0, m.start()) and not known and _inside(m.start(), formulas)))
    for line, name in (*(header if known else ()), *asked):
        if name not in known:
            near = f" ({did_you_mean(name, sorted(known))})" if known else ""
            yield Problem(f"`{{{{{name}}}}}` is not declared{near}: add `{PREFIX}{name}: […]` to the front matter",
                          card.path, line)


def _inside(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < stop for start, stop in spans)


def refuse_open(card: Card) -> None:
    """Raise :class:`CardError` for a card that leaves choices open: it is read once one of its variants is drawn."""
    if not has_choices(card) and "{{" not in card.question:
        return
    found = declared(card)
    if found.choices:
        names = ", ".join(f"`{name}`" for name in found.choices)
        message = (f"{names} {'is' if len(found.choices) == 1 else 'are'} left open: `derive solve --variant 1` solves "
                   "one variant of the card, `derive handout --variants 30` makes exams of them")
        raise CardError(Problem(message, card.path, min(found.lines.values())))
