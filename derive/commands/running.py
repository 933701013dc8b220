"""What all commands share: errors as lines and exit codes, options by name, progress, files that change."""

from __future__ import annotations

import os
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from derive.errors import CardError, DeriveError, unexpected
from derive.pool import Limits, processors, results
from derive.settings import Settings, settings_of
from derive.words import languages

T = TypeVar("T")
R = TypeVar("R")

# what a run of several cards exits with: a refuted equation before a broken tool, a wrong card, an uncovered one
_WORST_FIRST = (1, 4, 2, 3, 0)


def worst(codes: Iterable[int]) -> int:
    """The exit code of a run."""
    found = {*codes, 0}
    return next(code for code in _WORST_FIRST if code in found)


@contextmanager
def reported(codes: list[int], debug: bool) -> Iterator[None]:
    """An error ends as its lines on stderr and its exit code among ``codes``."""
    try:
        yield
    except DeriveError as error:
        if debug:
            raise
        click.echo(printable(str(error)), err=True)
        codes.append(error.exit_code)
    except BrokenPipeError:  # the reader of a pipe has seen enough: click ends quietly
        raise
    except Exception as error:
        if debug:
            raise
        click.echo(printable(str(unexpected(error))), err=True)
        codes.append(1)


def printable(message: str) -> str:
    """A message in which nothing that it quotes commands the terminal."""
    return "".join(c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else "\ufffd" for c in message)


@contextmanager
def ended(debug: bool) -> Iterator[list[int]]:
    """Run a command's body and exit with the worst of its codes: of those that it adds, and of its error's."""
    codes: list[int] = []
    with reported(codes, debug):
        yield codes
    sys.exit(worst(codes))


def debug_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option("--debug", is_flag=True, help="Show the traceback of an error.")(command)


def detail_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option("--detail", default="standard", show_default=True, metavar="answer|standard|full",
                        help="The answer alone, with its derivation and an example, or all there is.")(command)


def language_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option("--language", metavar="|".join(languages()),
                        help="The sheets' language; overrides the card. [default: en]")(command)


def jobs_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option("-j", "--jobs", type=click.IntRange(1), default=processors, metavar="N",
                        help="Cards in work at once. [default: the processors]")(command)


def timeout_option(command: Callable[..., None], seconds: float = Limits.seconds,
                   of: str = "a card") -> Callable[..., None]:  # fmt: skip
    return click.option("--timeout", "limits", default=seconds, show_default=True, metavar="SECONDS",
                        callback=_limits, help=f"Processor time for {of}; 0: no limit.")(command)


def _limits(_: click.Context, __: click.Parameter, seconds: float) -> Limits:
    if not 0 <= seconds < 1e6:
        raise click.BadParameter(f"`{seconds:g}` is no number of seconds such as 10")
    return Limits(seconds)


def with_settings(*options: str) -> Callable[..., Any]:
    """The callback of the argument that names cards: their settings stand for options not given."""

    def settle(context: click.Context, _: click.Parameter, given: Any) -> Any:
        paths = given if isinstance(given, tuple) else (given,) if given else ()  # none while a shell completes
        try:
            found = settings_of(path for path in paths if path.exists())
        except CardError as error:
            click.echo(printable(str(error)), err=True)
            context.exit(error.exit_code)
        settings = {option: getattr(found, option.removesuffix("s")) for option in options}
        own = {option: value for option, value in settings.items() if value is not None}
        context.default_map = {**(context.default_map or {}), **own}
        context.meta[_SETTINGS] = found
        return given

    return settle


_SETTINGS = "derive.settings"


def usual() -> Settings:
    """The settings, whose tie rule and language count for cards that say none."""
    found: Settings | None = click.get_current_context().meta.get(_SETTINGS)
    return found or Settings()


def bounded(work: Callable[[T], R], task: T, limits: Limits) -> R:
    """The work on one card within the limits; here where there are none, with the traceback of its errors."""
    if not limits.seconds:
        return work(task)
    (found,) = results(work, [task], limits)
    if isinstance(found, DeriveError):
        raise found
    return found


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar on stderr for several cards, where stderr is a terminal; it names the card in work."""
    if total < 2 or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    with bar:
        task = bar.add_task("cards", total=total + 1)
        yield lambda name: bar.update(task, advance=1, description=escape(printable(name)))


def watch(look: Callable[[], Iterable[Path]], act: Callable[[list[Path]], Iterable[Path]]) -> None:
    """Call ``act`` with the files that are new or changed, now and whenever there are some, until Ctrl-C.

    ``look`` says which files to watch, and is asked again each time; ``act`` returns those that it has
    itself written.
    """
    seen: dict[Path, tuple[int, int] | None] = {}
    try:
        while True:
            now = {file: _stamp(file) for file in look()}
            changed = [file for file, stamp in now.items() if stamp is not None and seen.get(file) != stamp]
            seen = now
            if changed:
                seen |= {file: _stamp(file) for file in act(changed)}
            time.sleep(0.3)
    except KeyboardInterrupt:
        click.echo(err=True)


def _stamp(file: Path) -> tuple[int, int] | None:
    """What changes when a file is written; None where there is none, as between two steps of an editor's saving."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
