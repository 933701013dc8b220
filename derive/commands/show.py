"""``derive show``: solutions in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click

from derive.bank import OUTPUT, files_in, jobs
from derive.card import Card
from derive.commands.running import (
    bounded,
    debug_option,
    detail_option,
    ended,
    language_option,
    reported,
    timeout_option,
    usual,
    watch,
    with_settings,
)
from derive.commands.sheets import Task
from derive.pool import Limits
from derive.sheet import rank


@click.command(no_args_is_help=True, short_help="Show solutions in the terminal.")
@click.argument("paths", nargs=-1, required=True, metavar="CARD|DIR...", type=click.Path(path_type=Path),
                is_eager=True, callback=with_settings("detail"))
@detail_option
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie; overrides the card.")
@language_option
@click.option("--code", is_flag=True, default=None, help="The layer in NumPy code, too, executed against the formulas.")
@click.option("--watch", "watching", is_flag=True, help="Show a card again whenever it is saved, until Ctrl-C.")
@timeout_option
@debug_option
def show(paths: tuple[Path, ...], detail: str, tie_rule: str | None, language: str | None, code: bool | None,
         watching: bool, limits: Limits, debug: bool) -> None:  # fmt: skip
    """Show solutions in the terminal, every equation verified, with formulas in Unicode.

    \b
    Examples:
      derive show cards/max_pooling_backward.md
      derive show cards --detail short | less -R
      derive show cards/max_pooling_backward.md --watch
    """
    settings = usual()
    task = Task("", "", (), detail, tie_rule, code, None, settings.tie_rule, language, settings.language)
    with ended(debug) as codes:
        rank(detail)
        bounds = Limits(0) if debug else limits
        if watching:
            if limits.seconds:
                import_module("derive.warm")
            watch(lambda: files_in(paths, OUTPUT), lambda changed: _again(paths, changed, task, bounds, debug))
        else:
            codes += _all(paths, None, task, bounds, debug)


def _again(paths: tuple[Path, ...], changed: list[Path], task: Task, limits: Limits, debug: bool) -> Iterable[Path]:
    if sys.stdout.isatty():
        click.clear()
    _all(paths, changed, task, limits, debug)
    return ()


def _all(paths: tuple[Path, ...], only: list[Path] | None, task: Task, limits: Limits, debug: bool) -> list[int]:
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
                show_one(replace(task, text=job.card.text, path=str(job.path)), limits)
    return codes


def show_one(task: Task, limits: Limits) -> None:
    """Print the solution of a card, or of a statement alone."""
    click.echo(bounded(_shown, task, limits), nl=False)


def _shown(task: Task) -> str:
    from rich.console import Console

    from derive.render.terminal import render
    from derive.solve import solve

    layer = Card.parse(task.text, task.path) if task.text else task.statement
    console = Console(highlight=False)
    with console.capture() as captured:
        solution = solve(layer, tie_rule=task.tie_rule, usual_tie_rule=task.usual_tie_rule, code=task.code,
                         language=task.language, usual_language=task.usual_language)
        console.print(render(solution, task.detail))
    return captured.get()
