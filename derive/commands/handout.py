"""``derive handout``: cards as one exam sheet, with or without their answers."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import click

from derive.bank import OUTPUT, write_all
from derive.bank import jobs as cards_in
from derive.card import Card
from derive.commands.running import (
    bounded,
    debug_option,
    detail_option,
    ended,
    jobs_option,
    language_option,
    printable,
    progress,
    reported,
    timeout_option,
    usual,
    with_settings,
)
from derive.errors import CardError, DeriveError, known
from derive.pool import Limits
from derive.records import dataclass
from derive.variants import refuse_open

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
@click.option("--variants", type=click.IntRange(1, 1000), metavar="N", help="So many exams of cards that leave choices "
              "open, each on sheets of its own, and a table of who has what.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the choices are drawn from.")
@click.option("--roster", type=click.Path(path_type=Path), metavar="FILE", help="Names for the exams: a CSV file with "
              "a column `name`.")
@detail_option
@language_option
@jobs_option
@timeout_option
@click.option("--no-cache", is_flag=True, help="Of variants: solve each anew, and keep none for the next time.")
@debug_option
def handout(paths: tuple[Path, ...], output: Path, mode: str, title: str, date: str, courses: tuple[str, ...],
            tags: tuple[str, ...], difficulty: str | None, order: str, variants: int | None, seed: int,
            roster: Path | None, detail: str, language: str | None, jobs: int, limits: Limits, no_cache: bool,
            debug: bool) -> None:  # fmt: skip
    """Make one document of many cards: an exam, its solutions, a key, or a guide to marking.

    A card that cannot be solved keeps its own solution, with a warning. The cards share their time: --timeout for each.

    With --variants or --roster everyone has an exam of their own; all are solved, and the same seed gives the same
    exams in the same order, with --solutions, --key and --marking, too.

    \b
    Examples:
      derive handout cards -o exam.pdf --title "Final exam" --date "3 June"
      derive handout cards --tag cnn --difficulty 2-3 --solutions -o solutions.pdf
      derive handout cards --marking -o marking.tex
      derive handout cards/variants --variants 30 --seed 7 --roster names.csv -o exam.pdf
    """
    with ended(debug) as codes:
        from derive.handout import MODES, ORDERS, Selection, bounds

        form = output.suffix.lower()
        if form not in (".tex", ".pdf"):
            raise CardError(f"a handout is `.tex` or `.pdf`, not `{output.suffix}`; name it so with -o")
        range_ = bounds(difficulty) if difficulty is not None else None
        chosen = Selection(courses, tags, range_, known("order", order, ORDERS)).of(_cards(paths, codes, debug))
        if not chosen and codes:
            return
        if not chosen:
            raise CardError("no card is left; ask for other tags, courses or difficulties")
        spoken = language, usual().language
        if variants is not None or roster is not None:
            from derive.commands.exams import Solving, made

            solving = Solving(seed, MODES, detail, usual().tie_rule, spoken, limits, jobs, not no_cache, debug)
            count, files = made(chosen, variants, roster, solving, output, (mode, title, date, order == "course"))
            write_all({file: _pdf(text) if file == output and form == ".pdf" else text for file, text in files.items()})
            click.echo(f"{', '.join(map(str, files))}: {count}")
            return
        task = _Task(tuple((card.text, card.path) for card in chosen), mode, title, date, order == "course", detail,
                     usual().tie_rule, spoken)
        together = Limits(0 if debug else limits.seconds * len(chosen), limits.megabytes * len(chosen))
        text, count, said, more = bounded(_document, task, together)
        for line in said:
            click.echo(line, err=True)
        codes += more
        write_all({output: text if form == ".tex" else _pdf(text)})
        left_out = f"; {len(codes)} card{' is' if len(codes) == 1 else 's are'} left out" if codes else ""
        click.echo(f"{output}: {count}{left_out}")


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
    spoken: tuple[str | None, str | None]  # the language, and that of cards which say none


def _document(task: _Task) -> tuple[str, str, list[str], list[int]]:
    """(the document, what is in it, what is said of cards, exit codes of those that are left out)."""
    from derive.commands.exams import count_of
    from derive.handout import Head, document

    said: list[str] = []
    codes: list[int] = []
    items = _items([Card.parse(text, path) for text, path in task.cards], task, said, codes)
    names = {item.card.course for item in items}
    head = Head(task.title, names.pop() if len(names) == 1 else "", task.date)
    return document(items, head, task.mode, by_course=task.by_course, detail=task.detail), count_of(items), said, codes


def _pdf(text: str) -> bytes:
    from derive.render.pdf import compile_latex

    return compile_latex(text, seconds=300).pdf


def _cards(paths: tuple[Path, ...], codes: list[int], debug: bool) -> list[Card]:
    found, errors, notes = cards_in(paths, OUTPUT)
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
    from derive.solve import language_of

    items = []
    with progress(len(cards) if task.mode != "space" else 1) as at:
        for card in cards:
            at(card.id)
            try:
                refuse_open(card)
                question(card, blocks)
                items.append(Item(card, language=language_of(card, *task.spoken)) if task.mode == "space"
                             else _solved(card, task, said))
            except DeriveError as error:
                said.append(printable(str(error)))
                codes.append(error.exit_code)
    return items


def _solved(card: Card, task: _Task, said: list[str]) -> Item:
    from derive.handout import Item
    from derive.render.guard import refuse_failures
    from derive.solve import language_of, solve

    language = language_of(card, *task.spoken)
    try:
        solution = solve(card, usual_tie_rule=task.usual_tie_rule, language=language)
        refuse_failures(solution.report)
        return Item(card, solution, language)
    except DeriveError as error:
        kept = "keeps its own solution" if card.solution.strip() else "has no solution of its own"
        reason = shorten(str(error.located(card.path)).splitlines()[0], 200, placeholder=" …")
        said.append(printable(f"{reason}; not solved, the card {kept}"))
        return Item(card, language=language)
