"""``derive check``: the solutions that stand on cards, judged equation by equation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from derive.commands.running import debug_option, printable, reported, worst
from derive.errors import known


@click.command(no_args_is_help=True, short_help="Check the solutions on cards, equation by equation.")
@click.argument("paths", metavar="CARD|DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "written", default="text", show_default=True, metavar="text|json", help="How it is printed.")
@click.option("--strict", is_flag=True, help="Exit with 1 for an equation that is not read, too.")
@debug_option
def check(paths: tuple[Path, ...], written: str, strict: bool, debug: bool) -> None:
    """Check each equation of the cards' Solution: proved, tested, refuted with a counterexample, or not read.

    \b
    Examples:
      derive check card.md
      derive check bank --format json --strict
    """
    codes: list[int] = []
    with reported(codes, debug):
        known("format", written, ("text", "json"))
        from derive.bank import OUTPUT, files_in
        from derive.check import check as checked

        found: list[dict[str, Any]] = []
        for file in files_in(paths, OUTPUT):
            with reported(codes, debug):
                report = checked(file)
                found.append(report.data())
                if written == "text":
                    for judged in report.checks:
                        click.echo(printable(f"{file}:{judged}"))
                    if not report.checks:
                        click.echo(printable(f"{file}: no equation to check in the Solution"))
                codes.append(0 if report.ok and (report.complete or not strict) else 1)
        if written == "json":
            click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    sys.exit(worst(codes))
