"""``derive read``: what a card says, formally, as front matter ready to paste, and where each item was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from derive.bank import Job, unchanged, write_all
from derive.card import Card
from derive.commands.running import bounded, debug_option, ended, printable, timeout_option
from derive.errors import DeriveError, known
from derive.pool import Limits
from derive.statement import Statement, written_into

FORMATS = ("yaml", "json")


@click.command(no_args_is_help=True, short_help="Print what a card says, as front matter.")
@click.argument("path", metavar="CARD", type=click.Path(path_type=Path))
@click.option("--write", "writing", is_flag=True, help="Write it into the card's front matter.")
@click.option("--format", "form", default="yaml", show_default=True, metavar="yaml|json",
              help="As front matter, or for programs.")
@timeout_option
@debug_option
def read(path: Path, writing: bool, form: str, limits: Limits, debug: bool) -> None:
    """Print what a card's question says, formally, as front matter ready to paste; where each item was read on stderr.

    What is undecided is listed on stderr as open, with the choices it has, and the exit code is 2: the lines printed
    have a ? there, which is to be replaced.  3 where no layer is recognised.

    \b
    Examples:
      derive read cards/max_pooling_backward.md
      derive read cards/max_pooling_backward.md --write
      derive read cards/max_pooling_backward.md --format json
    """
    with ended(debug) as codes:
        known("format", form, FORMATS)
        codes.append(_read(path, writing, form, Limits(0) if debug else limits))


def _statement(path: Path) -> tuple[Statement, DeriveError | None]:
    from derive.reading import statement_read

    return statement_read(Card.read(path))


def _read(path: Path, writing: bool, form: str, limits: Limits) -> int:
    card = Card.read(path)
    statement, error = bounded(_statement, path, limits)
    if form == "json":
        click.echo(json.dumps(_as_json(statement), ensure_ascii=False, indent=2))
    else:
        click.echo(statement.text, nl=False)
    for key, sources in statement.sources.items() if form != "json" else ():
        for source in sources:
            if source.words:
                click.echo(printable(f"{key}: {source.words}"), err=True)
    if error is not None:
        for problem, point in zip(error.problems, statement.open, strict=True):
            choices = " | ".join(c for c in point.choices if f"`{c}`" not in problem.message)
            click.echo(printable(f"open: {problem}" + (f"\n    {choices}" if choices else "")), err=True)
        return error.exit_code
    if writing:
        unchanged(Job(path, card, card.stem))
        write_all({path: written_into(card, statement)})
    return 0


def _as_json(statement: Any) -> dict[str, Any]:
    """The statement by key, the source of each item, and what is open."""
    return {
        "statement": dict(statement.header),
        "sources": {key: [{"line": s.line, "words": s.words} for s in sources]
                    for key, sources in statement.sources.items() if sources},
        "open": [{"key": o.key, "message": o.message, "choices": list(o.choices), "line": o.line}
                 for o in statement.open],
    }
