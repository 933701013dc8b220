"""``derive check``: solutions on cards, and answers to them, judged equation by equation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from derive.commands.running import debug_option, ended, jobs_option, printable, reported, timeout_option
from derive.errors import CardError, DeriveError, UnsupportedError, known
from derive.pool import Limits, results

FORMATS = ("text", "json", "csv", "sarif")
_NO_CARD = (CardError.exit_code, UnsupportedError.exit_code)

if TYPE_CHECKING:
    from derive.check.report import Report

@click.command(no_args_is_help=True, short_help="Check solutions and answers, equation by equation.")
@click.argument("paths", metavar="CARD|DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--answer", "answers", metavar="FILE|DIR", multiple=True, type=click.Path(path_type=Path),
              help="Judge these answers to one card instead, and mark them; may be given again.")
@click.option("--format", "written", default="text", show_default=True, metavar="|".join(FORMATS),
              help="How it is printed.")
@click.option("--strict", is_flag=True, help="Exit with 1 for an equation that is not read, and for what is missing.")
@click.option("--lenient", is_flag=True, help="Exit with 0 for a card that is not understood or out of scope, too.")
@jobs_option
@timeout_option
@debug_option
def check(paths: tuple[Path, ...], answers: tuple[Path, ...], written: str, strict: bool, lenient: bool, jobs: int,
          limits: Limits, debug: bool) -> None:  # fmt: skip
    """Check each equation of the cards' Solution: proved, tested, refuted with a counterexample, or not read.

    \b
    Examples:
      derive check card.md
      derive check bank --format json --strict
      derive check card.md --answer answers --format csv
    """
    with ended(debug) as codes:
        known("format", written, FORMATS)
        pairs = [*_pairs(paths, answers)]
        reports = map(_report, pairs) if debug else results(_report, pairs, limits, jobs)
        from derive.check.tables import lines, table

        found: list[Report] = []
        for _, report in zip(pairs, reports, strict=True):
            own: list[int] = []
            with reported(own, debug):
                if isinstance(report, DeriveError):
                    raise report
                found.append(report)
                if written == "text":
                    for line in lines(report):
                        click.echo(printable(line))
                own.append(0 if report.ok and (report.complete or not strict) else 1)
            codes += [code for code in own if not lenient or code not in _NO_CARD]
        if written != "text":
            click.echo(table(found, written), nl=False)


def _report(pair: tuple[Path, Path | None]) -> Report:
    from derive.check import check as checked

    try:
        return checked(pair[0], answer=pair[1])
    except DeriveError as error:
        raise error.located(str(pair[1] or pair[0])) from None


def _pairs(paths: tuple[Path, ...], answers: tuple[Path, ...]) -> Iterator[tuple[Path, Path | None]]:
    """Each card for its own solution, or one card for each answer."""
    from derive.bank import OUTPUT, files_in
    from derive.check.reading.texts import answers_in

    if not answers:
        yield from ((file, None) for file in files_in(paths, OUTPUT))
        return
    if len(paths) > 1 or paths[0].is_dir():
        raise CardError("`--answer` needs one card: the answers are judged against its question")
    yield from ((paths[0], file) for file in answers_in(answers))
