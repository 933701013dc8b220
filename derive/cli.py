"""The command ``derive``: the one place that prints and exits."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from derive.bank import Job, jobs, write_all
from derive.errors import CardError, DeriveError, Problem

# what a run of several cards exits with: a refuted equation before a broken tool, a wrong card, an uncovered one
_WORST_FIRST = (1, 4, 2, 3, 0)


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(version("derive-sheets"))
        except PackageNotFoundError:
            click.echo("a checkout that is not installed")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def main() -> None:
    """Derive, verify and typeset exam solutions for neural-network layers.

    \b
    Example:
      derive solve cards/max_pooling_backward.md
    """


@main.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="CARD|DIR...", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("output"), show_default=True,
              help="Folder for the finished sheets.")
@click.option("--format", "formats", metavar="md,tex,pdf",
              help="Formats, separated by commas. [default: all that work here]")
@click.option("--detail", default="full", show_default=True, metavar="short|full",
              help="The answer alone, or all of it.")
@click.option("--in-place", is_flag=True, help="Write the solution into the card itself; other formats on request.")
@click.option("--force", is_flag=True, help="With --in-place: overwrite a solution that was written by hand.")
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie; overrides the card.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def solve(paths: tuple[Path, ...], output: Path, formats: str | None, detail: str, in_place: bool, force: bool,
          tie_rule: str | None, debug: bool) -> None:  # fmt: skip
    """Solve cards: derive, verify every equation as printed, and write the sheets.

    \b
    Examples:
      derive solve cards/max_pooling_backward.md
      derive solve cards --format md,tex -o sheets
      derive solve cards/max_pooling_backward.md --in-place --force
    """
    codes: list[int] = []
    gc.set_threshold(1_000_000, 20, 20)  # start-up makes many objects that stay: visiting them again is waste
    with _reported(codes, debug):
        chosen = _formats(formats, in_place)
        _check_options(detail, tie_rule)
        found, errors, notes = jobs(paths, output)
        for note in notes:
            click.echo(note, err=True)
        for error in errors:
            with _reported(codes, debug):
                raise error
        with _progress(len(found)) as advance:
            for job in found:
                with _reported(codes, debug):
                    click.echo(_solve_one(job, chosen, output, detail, in_place, force, tie_rule))
                advance()
    gc.freeze()  # nor does leaving visit them once more to free what goes with the process
    sys.exit(next(code for code in _WORST_FIRST if code in (*codes, 0)))


def _solve_one(job: Job, formats: tuple[str, ...], output: Path, detail: str, in_place: bool, force: bool,
               tie_rule: str | None) -> str:  # fmt: skip
    """The summary line of a card whose files have been written."""
    from derive.render import render
    from derive.solve import solve as solve_card
    from derive.verify.report import Verdict

    start = time.perf_counter()
    card = job.card
    if in_place and not force and card.solution.strip() and not card.generated:
        raise CardError(
            Problem("the solution was written by hand; --force overwrites it", str(job.path), card.solution_line)
        )
    solution = solve_card(card, tie_rule=tie_rule)
    targets = {f: job.path if in_place and f == "md" else output / f"{job.stem}.{f}" for f in formats}
    write_all({path: render(solution, f, detail) for f, path in targets.items()})
    report = solution.report
    counts = f"{report.count(Verdict.PROVED)} proved, {report.count(Verdict.TESTED)} tested"
    files = ", ".join(map(str, targets.values()))
    return f"{card.id}: {solution.derived}; {counts}; {files}; {time.perf_counter() - start:.1f} s"


def _formats(given: str | None, in_place: bool) -> tuple[str, ...]:
    from derive.render import FORMATS, available

    if given is None:
        return ("md",) if in_place else available()
    names = tuple(dict.fromkeys(name.strip().lower() for name in given.split(",") if name.strip()))
    if not names:
        raise CardError(f"no format in `{given}`; there are " + ", ".join(f"`{n}`" for n in FORMATS))
    for name in names:
        _known("format", name, FORMATS)
    return names


def _check_options(detail: str, tie_rule: str | None) -> None:
    from derive.module import TIE_RULES
    from derive.render import DETAILS

    _known("detail", detail, DETAILS)
    if tie_rule is not None:
        _known("tie rule", tie_rule, TIE_RULES)


def _known(what: str, given: str, names: tuple[str, ...]) -> None:
    import difflib

    if given not in names:
        near = difflib.get_close_matches(given, names, 1, 0.5)
        hint = f"did you mean `{near[0]}`?" if near else "there are " + ", ".join(f"`{n}`" for n in names)
        raise CardError(f"unknown {what} `{given}`; {hint}")


@contextmanager
def _reported(codes: list[int], debug: bool) -> Iterator[None]:
    """An error ends as its lines on stderr and its exit code among ``codes``."""
    try:
        yield
    except DeriveError as error:
        if debug:
            raise
        click.echo(str(error), err=True)
        codes.append(error.exit_code)
    except Exception as error:
        if debug:
            raise
        text = " ".join(str(error).split())
        click.echo(f"unexpected {type(error).__name__}: {text} (--debug shows where)", err=True)
        codes.append(1)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr for several cards, where stderr is a terminal."""
    if total < 2 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    with bar:
        task = bar.add_task("cards", total=total)
        yield lambda: bar.advance(task)
