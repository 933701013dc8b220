"""``derive show``: the solution in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from derive.bank import OUTPUT, Job, files_in, jobs
from derive.commands.running import debug_option, reported, watch, worst
from derive.errors import known


@click.command(no_args_is_help=True, short_help="Show solutions in the terminal.")
@click.argument("paths", nargs=-1, required=True, metavar="CARD|DIR...", type=click.Path(path_type=Path))
@click.option("--detail", default="full", show_default=True, metavar="short|full",
              help="The answer alone, or all of it.")
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie; overrides the card.")
@click.option("--code", is_flag=True, default=None, help="The layer in NumPy code, too, executed against the formulas.")
@click.option("--watch", "watching", is_flag=True, help="Show a card again whenever it is saved, until Ctrl-C.")
@debug_option
def show(paths: tuple[Path, ...], detail: str, tie_rule: str | None, code: bool | None, watching: bool,
         debug: bool) -> None:  # fmt: skip
    """Show solutions in the terminal, every equation verified, with formulas in Unicode.

    \b
    Examples:
      derive show cards/max_pooling_backward.md
      derive show cards --detail short | less -R
      derive show cards/max_pooling_backward.md --watch
    """
    codes: list[int] = []
    with reported(codes, debug):
        from derive.render import DETAILS

        known("detail", detail, DETAILS)
        if watching:
            watch(lambda: files_in(paths, OUTPUT),
                  lambda changed: _again(paths, changed, detail, tie_rule, code, debug))
        else:
            codes += _all(paths, None, detail, tie_rule, code, debug)
    sys.exit(worst(codes))


def _again(paths: tuple[Path, ...], changed: list[Path], detail: str, tie_rule: str | None, code: bool | None,
           debug: bool) -> Iterable[Path]:  # fmt: skip
    if sys.stdout.isatty():
        click.clear()
    _all(paths, changed, detail, tie_rule, code, debug)
    return ()


def _all(paths: tuple[Path, ...], only: list[Path] | None, detail: str, tie_rule: str | None, code: bool | None,
         debug: bool) -> list[int]:  # fmt: skip
    codes: list[int] = []
    found, errors, notes = jobs(paths, OUTPUT)
    names = None if only is None else {str(file) for file in only}
    for note in notes if only is None else ():
        click.echo(note, err=True)
    for error in errors:
        if names is None or any(p.file in names for p in error.problems):
            with reported(codes, debug):
                raise error
    for job in found:
        if names is None or str(job.path) in names:
            with reported(codes, debug):
                _one(job, detail, tie_rule, code)
    return codes


def _one(job: Job, detail: str, tie_rule: str | None, code: bool | None) -> None:
    from rich.console import Console

    from derive.render.terminal import render
    from derive.solve import solve

    Console(highlight=False).print(render(solve(job.card, tie_rule=tie_rule, code=code), detail))
