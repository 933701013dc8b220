"""``derive handout``: cards as one exam sheet, with or without their answers."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import click

from derive.bank import OUTPUT, jobs, write_all
from derive.card import Card
from derive.commands.running import (
    bounded,
    debug_option,
    detail_option,
    printable,
    progress,
    reported,
    timeout_option,
    usual_tie_rule,
    with_settings,
    worst,
)
from derive.errors import CardError, DeriveError, known
from derive.pool import Limits
from derive.records import dataclass

if TYPE_CHECKING:
    from derive.handout import Item


@click.command(no_args_is_help=True, short_help="Make one document of many cards.")
@click.argument("paths", nargs=-1, required=True, metavar="CARD|DIR...", type=click.Path(path_type=Path),
                is_eager=True, callback=with_settings("detail"))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("handout.pdf"), show_default=True,
              metavar="FILE", help="The document: .tex or .pdf.")
@click.option("--no-solutions", "mode", flag_value="space", default="space",
              help="Questions with space to write, in proportion to their points. [default]")
@click.option("--solutions", "mode", flag_value="solutions", help="Questions, each with its solution.")
@click.option("--key", "mode", flag_value="key", help="The answers alone.")
@click.option("--marking", "mode", flag_value="marking", help="Points for each step, and what mistakes cost.")
@click.option("--title", default="", help="The title. [default: what the document is]")
@click.option("--date", default="", help="The date, as it shall stand there. [default: none]")
@click.option("--course", "courses", multiple=True, help="Cards of this course; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Cards with this tag; where it is repeated, with all of them.")
@click.option("--difficulty", metavar="2|2-3", help="Cards of this difficulty.")
@click.option("--order", default="course", show_default=True, metavar="course|difficulty|points|id|given",
              help="The order of the cards.")
@detail_option
@timeout_option
@debug_option
def handout(paths: tuple[Path, ...], output: Path, mode: str, title: str, date: str, courses: tuple[str, ...],
            tags: tuple[str, ...], difficulty: str | None, order: str, detail: str,
            limits: Limits, debug: bool) -> None:  # fmt: skip
    """Make one document of many cards: an exam, its solutions, a key, or a guide to marking.

    A card that cannot be solved keeps its own solution, with a warning. The cards share their time: --timeout for each.

    \b
    Examples:
      derive handout cards -o exam.pdf --title "Final exam" --date "3 June"
      derive handout cards --tag cnn --difficulty 2-3 --solutions -o solutions.pdf
      derive handout cards --marking -o marking.tex
    """
    codes: list[int] = []
    with reported(codes, debug):
        from derive.handout import ORDERS, Selection, bounds

        form = output.suffix.lower()
        if form not in (".tex", ".pdf"):
            raise CardError(f"a handout is `.tex` or `.pdf`, not `{output.suffix}`; name it so with -o")
        range_ = bounds(difficulty) if difficulty is not None else None
        chosen = Selection(courses, tags, range_, known("order", order, ORDERS)).of(_cards(paths, codes, debug))
        if not chosen and codes:
            sys.exit(worst(codes))
        if not chosen:
            raise CardError("no card is left; ask for other tags, courses or difficulties")
        task = _Task(tuple((card.text, card.path) for card in chosen), mode, title, date, order == "course", detail,
                     usual_tie_rule())
        together = Limits(0 if debug else limits.seconds * len(chosen), limits.megabytes * len(chosen))
        text, count, said, more = bounded(_document, task, together)
        for line in said:
            click.echo(line, err=True)
        codes += more
        write_all({output: text if form == ".tex" else _pdf(text)})
        left_out = f"; {len(codes)} card{' is' if len(codes) == 1 else 's are'} left out" if codes else ""
        click.echo(f"{output}: {count}{left_out}")
    sys.exit(worst(codes))


@dataclass(frozen=True)
class _Task:
    """The cards of a document, text and path of each, and how it is set."""

    cards: tuple[tuple[str, str | None], ...]
    mode: str
    title: str
    date: str
    by_course: bool
    detail: str
    usual_tie_rule: str | None


def _document(task: _Task) -> tuple[str, str, list[str], list[int]]:
    """(the document, what is in it, what is said of cards, exit codes of those that are left out)."""
    from derive.handout import Head, document

    said: list[str] = []
    codes: list[int] = []
    items = _items([Card.parse(text, path) for text, path in task.cards], task, said, codes)
    names = {item.card.course for item in items}
    head = Head(task.title, names.pop() if len(names) == 1 else "", task.date)
    return document(items, head, task.mode, by_course=task.by_course, detail=task.detail), _count(items), said, codes


def _count(items: list[Item]) -> str:
    """12 questions, 40 points (2 state none)."""
    none = sum(item.points is None for item in items)
    text = f"{len(items)} question{'' if len(items) == 1 else 's'}, {sum(item.points or 0 for item in items)} points"
    return text + (f" ({none} state{'s' if none == 1 else ''} none)" if none else "")


def _pdf(text: str) -> bytes:
    from derive.render.pdf import compile_latex

    return compile_latex(text, seconds=300).pdf


def _cards(paths: tuple[Path, ...], codes: list[int], debug: bool) -> list[Card]:
    found, errors, notes = jobs(paths, OUTPUT)
    for note in notes:
        click.echo(note, err=True)
    for error in errors:
        with reported(codes, debug):
            raise error
    return [job.card for job in found]


def _items(cards: list[Card], task: _Task, said: list[str], codes: list[int]) -> list[Item]:
    """The cards whose question can be typeset, with their solutions where the document needs them."""
    from derive.handout import Item
    from derive.render.dialect import question
    from derive.render.prose import blocks

    items = []
    with progress(len(cards) if task.mode != "space" else 1) as at:
        for card in cards:
            at(card.id)
            try:
                question(card, blocks)
                items.append(Item(card) if task.mode == "space" else _solved(card, task, said))
            except DeriveError as error:
                said.append(printable(str(error)))
                codes.append(error.exit_code)
    return items


def _solved(card: Card, task: _Task, said: list[str]) -> Item:
    from derive.handout import Item
    from derive.render.guard import refuse_failures
    from derive.solve import solve

    try:
        solution = solve(card, usual_tie_rule=task.usual_tie_rule)
        refuse_failures(solution.report)
        return Item(card, solution)
    except DeriveError as error:
        kept = "keeps its own solution" if card.solution.strip() else "has no solution of its own"
        reason = shorten(str(error.located(card.path)).splitlines()[0], 200, placeholder=" …")
        said.append(printable(f"{reason}; not solved, the card {kept}"))
        return Item(card)
