"""The exams of many: a variant of each card for everyone, each solved; who has what as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from derive.cache import hashed
from derive.card import Card, text_of
from derive.commands.running import printable, progress
from derive.commands.sheets import Work, looked_up
from derive.errors import CardError, DeriveError, LimitError, Problem, UnsupportedError
from derive.handout import Head, Item, Paper, papers
from derive.handout.pieces import Piece, Task, as_json, from_json, piece, unsolved
from derive.handout.roster import Student, roster
from derive.pool import Limits
from derive.records import dataclass
from derive.variants import Variant, declared, drawn, has_choices

_MORE = 20  # variants beyond those that are wanted, as many again at least, until too many cannot be solved
_SAID = 3


@dataclass(frozen=True)
class Solving:
    """How the variants of a run are solved, and what is made of each."""

    seed: int
    modes: tuple[str, ...]
    detail: str
    usual_tie_rule: str | None
    spoken: tuple[str | None, str | None]  # the language, and that of cards which say none
    limits: Limits
    jobs: int
    cached: bool
    debug: bool

    def of(self, cards: Iterable[Card]) -> list[Piece | DeriveError]:
        """What is made of each card, in order; of equal ones once."""
        found: dict[Task, Piece | DeriveError] = {}
        tasks = [Task(card.text, card.path, self.modes, self.detail, self.usual_tie_rule, self.spoken)
                 for card in cards]
        each = list(dict.fromkeys(tasks))
        keys = [hashed(*task.key) if self.cached else "" for task in each]
        made = looked_up(Work(piece, as_json, from_json), each, keys, self.limits, self.jobs, self.cached, self.debug)
        with progress(len(each)) as at:
            for task, result in zip(each, made, strict=True):
                at(task.path or "")
                found[task] = result
        return [found[task] for task in tasks]


@dataclass(frozen=True)
class Given:
    """What stands in an exam: a card's variant, None of a card without choices, and what was made of it."""

    card: Card
    variant: Variant | None
    piece: Piece


def exams(cards: Sequence[Card], count: int, solving: Solving) -> list[list[Given]]:
    """For each of ``count`` people the variant of each card: of those that can be solved one after another.

    What cannot be solved is told and left out.  Raises :class:`DeriveError` where too much of a card cannot, and for
    what is wrong with its declarations.
    """
    by_card: list[list[Given]] = [[] for _ in cards]
    left_out: dict[int, list[tuple[int, DeriveError]]] = {n: [] for n in range(len(cards))}
    known = [declared(card) if has_choices(card) else None for card in cards]
    for card, (result,) in ((n, solving.of([cards[n]])) for n, open_ in enumerate(known) if open_ is None):
        by_card[card] = [Given(cards[card], None, _own(cards[card], result, solving))] * count
    drawn_ = [0] * len(cards)
    while missing := [n for n in range(len(cards)) if len(by_card[n]) < count]:
        batch: list[tuple[int, Variant]] = []
        for n in missing:
            if drawn_[n] >= 2 * count + _MORE:
                raise _hopeless(cards[n], drawn_[n], left_out[n])
            more = count - len(by_card[n])
            batch += [(n, drawn(cards[n], solving.seed, drawn_[n] + i, known[n])) for i in range(1, more + 1)]
            drawn_[n] += more
        for (n, variant), result in zip(batch, solving.of(v.card for _, v in batch), strict=True):
            if isinstance(result, Piece):
                by_card[n].append(Given(cards[n], variant, result))
            elif isinstance(result, LimitError) or not isinstance(result, CardError | UnsupportedError):
                raise of_variant(result, variant)
            else:
                left_out[n].append((variant.number, result))
    for n, found in left_out.items():
        if found:
            click.echo(_told(cards[n], found), err=True)
    return [list(row) for row in zip(*by_card, strict=True)]


def _own(card: Card, result: Piece | DeriveError, solving: Solving) -> Piece:
    """What was made of a card without choices; its own solution where it cannot be solved."""
    if isinstance(result, Piece):
        return result
    if isinstance(result, LimitError) or not isinstance(result, CardError | UnsupportedError):
        raise result
    own = unsolved(Task(card.text, card.path, solving.modes, spoken=solving.spoken))
    first = str(result.located(card.path)).splitlines()[0]
    click.echo(printable(f"{first}; not solved, the card keeps what it has"), err=True)
    return own


def of_variant(error: DeriveError, variant: Variant) -> DeriveError:
    """The error of a variant, which says of which."""
    first, *others = error.problems
    message = f"variant {variant.number} ({variant.said}): {first.message}"
    return error.with_problems((Problem(message, first.file, first.line, first.excerpt, first.key), *others))


def _told(card: Card, found: Sequence[tuple[int, DeriveError]]) -> str:
    numbers = ", ".join(str(number) for number, _ in found[:_SAID]) + (", …" if len(found) > _SAID else "")
    which = f"variant {numbers} is" if len(found) == 1 else f"{len(found)} variants ({numbers}) are"
    return printable(f"{card.path}: {which} left out: {found[0][1].problems[0].message}")


def _hopeless(card: Card, count: int, found: Sequence[tuple[int, DeriveError]]) -> DeriveError:
    message = (f"{len(found)} of {count} variants cannot be solved: {found[0][1].problems[0].message}; "
               "`derive try` shows which")  # fmt: skip
    return CardError(Problem(message, card.path, found[0][1].problems[0].line))


def made(cards: list[Card], count: int | None, names: Path | None, solving: Solving, output: Path,
           how: tuple[str, str, str, bool]) -> tuple[str, dict[Path, str]]:  # fmt: skip
    """(what is in them, the document and the table of who has what)."""
    people = _people(count, names)
    rows = exams(cards, len(people), solving)
    mode, title, date, by_course = how
    courses = {card.course for card in cards}
    each = [Paper(tuple(given.piece.questions[mode] for given in row), number, student.name, student.id)
            for number, (student, row) in enumerate(zip(people, rows, strict=True), 1)]
    for line in _given_away(cards, rows):
        click.echo(line, err=True)
    text = papers(each, Head(title, courses.pop() if len(courses) == 1 else "", date), mode, by_course)
    texts = {given.variant.card.text for row in rows for given in row if given.variant}
    items = [Item(card) for card in cards]
    many = f"{len(people)} exam{'' if len(people) == 1 else 's'}"
    return (f"{many} of {count_of(items)}; {len(texts)} different variants",
            {output: text, output.with_suffix(".csv"): table(people, rows)})


def _given_away(cards: Sequence[Card], rows: Sequence[Sequence[Given]]) -> Iterable[str]:
    """In which exams an answer is zeros alone, which a guess finds."""
    for n, card in enumerate(cards):
        found = [exam for exam, row in enumerate(rows, 1) if any(
            a.numbers and not any(a.numbers) for a in row[n].piece.answers)]
        if found:
            listed = ", ".join(map(str, found[:_SAID])) + (", …" if len(found) > _SAID else "")
            yield printable(f"{card.path}: an answer is all zeros in {len(found)} of {len(rows)} exams ({listed}); "
                            "`derive try` shows more")


def _people(count: int | None, names: Path | None) -> list[Student]:
    """Those on the roster, and as many without a name as there are exams beyond them."""
    known = roster(text_of(names, "a roster"), str(names)) if names is not None else []
    if count is not None and count < len(known):
        raise CardError(f"`--variants {count}`, and {len(known)} names on the roster: leave it out, or write a larger "
                        "number for exams without a name")
    return known + [Student()] * ((count or 0) - len(known))


def count_of(items: Sequence[Item]) -> str:
    """12 questions, 40 points (2 state none)."""
    none = sum(item.points is None for item in items)
    text = f"{len(items)} question{'' if len(items) == 1 else 's'}, {sum(item.points or 0 for item in items)} points"
    return text + (f" ({none} state{'s' if none == 1 else ''} none)" if none else "")


def table(people: Sequence[Student], rows: Sequence[Sequence[Given]]) -> str:
    """Who has what, as CSV: a row for each question of each exam."""
    written = io.StringIO()
    out = csv.writer(written, lineterminator="\n")
    out.writerow(["exam", "name", "id", "question", "card", "variant", "choices", "answers"])
    for exam, (student, row) in enumerate(zip(people, rows, strict=True), 1):
        for question, given in enumerate(row, 1):
            variant, answers = given.variant, given.piece.answers
            out.writerow([exam, _cell(student.name), _cell(student.id), question, _cell(given.card.id),
                          variant.number if variant else "",
                          _cell("; ".join(f"{n} = {text}" for n, text in variant.choices) if variant else ""),
                          _cell("; ".join(f"{a.name} = {a.told}" for a in answers))])
    return written.getvalue()


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
