"""``derive handout``: cards as one exam sheet, with or without their answers."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import click

from derive.bank import OUTPUT, jobs, write_all
from derive.commands.running import debug_option, detail_option, printable, progress, reported, worst
from derive.errors import CardError, DeriveError, known

if TYPE_CHECKING:
    from derive.card import Card
    from derive.handout import Item


@click.command(no_args_is_help=True, short_help="Make one document of many cards.")
@click.argument("paths", nargs=-1, required=True, metavar="CARD|DIR...", type=click.Path(path_type=Path))
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
@debug_option
def handout(paths: tuple[Path, ...], output: Path, mode: str, title: str, date: str, courses: tuple[str, ...],
            tags: tuple[str, ...], difficulty: str | None, order: str, detail: str,
            debug: bool) -> None:  # fmt: skip
    """Make one document of many cards: an exam, its solutions, a key, or a guide to marking.

    A card that cannot be solved keeps its own solution, with a warning.

    \b
    Examples:
      derive handout cards -o exam.pdf --title "Final exam" --date "3 June"
      derive handout cards --tag cnn --difficulty 2-3 --solutions -o solutions.pdf
      derive handout cards --marking -o marking.tex
    """
    codes: list[int] = []
    with reported(codes, debug):
        from derive.handout import ORDERS, Head, Selection, bounds, document
        from derive.handout.document import course

        form = output.suffix.lower()
        if form not in (".tex", ".pdf"):
            raise CardError(f"a handout is `.tex` or `.pdf`, not `{output.suffix}`; name it so with -o")
        range_ = bounds(difficulty) if difficulty is not None else None
        chosen = Selection(courses, tags, range_, known("order", order, ORDERS)).of(_cards(paths, codes, debug))
        if not chosen and codes:
            sys.exit(worst(codes))
        if not chosen:
            raise CardError("no card is left; ask for other tags, courses or difficulties")
        items = _items(chosen, mode, codes, debug)
        names = {course(item.card) for item in items}
        head = Head(title, names.pop() if len(names) == 1 else "", date)
        text = document(items, head, mode, by_course=order == "course", detail=detail)
        write_all({output: text if form == ".tex" else _pdf(text)})
        click.echo(f"{output}: {_count(items, len(codes))}")
    sys.exit(worst(codes))


def _count(items: list[Item], left_out: int) -> str:
    """12 questions, 40 points (2 state none); 1 card is left out."""
    none = sum(item.points is None for item in items)
    text = f"{len(items)} question{'' if len(items) == 1 else 's'}, {sum(item.points or 0 for item in items)} points"
    text += f" ({none} state{'s' if none == 1 else ''} none)" if none else ""
    return text + (f"; {left_out} card{' is' if left_out == 1 else 's are'} left out" if left_out else "")


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


def _items(cards: list[Card], mode: str, codes: list[int], debug: bool) -> list[Item]:
    """The cards whose question can be typeset, with their solutions where the document needs them."""
    from derive.handout import Item
    from derive.render.dialect import question
    from derive.render.prose import blocks

    items = []
    with progress(len(cards) if mode != "space" else 1) as at:
        for card in cards:
            at(card.id)
            with reported(codes, debug):
                question(card, blocks)
                items.append(Item(card) if mode == "space" else _solved(card))
    return items


def _solved(card: Card) -> Item:
    from derive.handout import Item
    from derive.render.guard import refuse_failures
    from derive.solve import solve

    try:
        solution = solve(card)
        refuse_failures(solution.report)
        return Item(card, solution)
    except DeriveError as error:
        kept = "keeps its own solution" if card.solution.strip() else "has no solution of its own"
        reason = shorten(str(error.located(card.path)).splitlines()[0], 200, placeholder=" …")
        click.echo(printable(f"{reason}; not solved, the card {kept}"), err=True)
        return Item(card)
