"""``derive solve`` and ``derive show``: the sheets of cards and folders as files, and the solution in the terminal."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import click

from derive.bank import OUTPUT, Job, files_in, jobs, keep_hand_written, unchanged, write_all
from derive.card import Card
from derive.commands.running import debug_option, detail_option, progress, reported, watch, worst
from derive.commands.stated import stated
from derive.errors import CardError, DeriveError, Problem, known
from derive.records import dataclass
from derive.sheet import rank
from derive.statement import Statement


@click.command(no_args_is_help=True, short_help="Derive, verify and write the sheets of cards.")
@click.argument("paths", nargs=-1, metavar="CARD|DIR...", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=OUTPUT, show_default=True,
              help="Folder for the finished sheets.")
@click.option("--format", "formats", metavar="md,tex,pdf,html",
              help="Formats, separated by commas. [default: all that work here]")
@detail_option
@click.option("--in-place", is_flag=True, help="Write the solution into the card itself; other formats on request.")
@click.option("--force", is_flag=True, help="Overwrite a solution that was written or edited by hand.")
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie; overrides the card.")
@click.option("--code", is_flag=True, default=None, help="The layer in NumPy code, too, executed against the formulas.")
@click.option("--watch", "watching", is_flag=True, help="Solve a card again whenever it is saved, until Ctrl-C.")
@click.option("--statement", "source", metavar="FILE", help="Lines as in front matter that count over the card; - for "
              "standard input.")
@click.option("--formula", "formulas", multiple=True, metavar="LATEX", help="Without a card: what the layer computes.")
@click.option("--inputs", metavar="x,…", help="Letters that are inputs.")
@click.option("--parameters", metavar="W,b", help="Letters that are trained.")
@click.option("--constants", metavar="t,…", help="Letters that are fixed, such as targets.")
@click.option("--derive", "request", metavar="forward,backward,…", help="What is asked for.")
@debug_option
def solve(paths: tuple[Path, ...], output: Path, formats: str | None, detail: str, in_place: bool, force: bool,
          tie_rule: str | None, code: bool | None, watching: bool, source: str | None, formulas: tuple[str, ...],
          inputs: str | None, parameters: str | None, constants: str | None, request: str | None,
          debug: bool) -> None:  # fmt: skip
    """Solve cards: derive, verify every equation as printed, and write the sheets.

    A folder is searched for cards, with its folders. One card that cannot be solved does not stop
    the others.

    \b
    Examples:
      derive solve cards/max_pooling_backward.md
      derive solve cards --format md,tex -o sheets
      derive solve cards/max_pooling_backward.md --in-place --force
      derive solve cards --watch
      derive solve cards/mish.md --statement mish.yaml
      derive solve --formula 'y_k = \\max(s_k, a s_k)' --parameters a
    """
    gc.set_threshold(1_000_000, 20, 20)  # start-up makes many objects that stay: visiting them again is waste
    codes: list[int] = []
    with reported(codes, debug):
        _check(detail, tie_rule)
        outside = stated(source, formulas, {"inputs": inputs, "parameters": parameters, "constants": constants,
                                            "derive": request})
        if outside is not None and not paths:
            _show(outside, detail, tie_rule, code)
            sys.exit(worst(codes))
        if not paths:
            raise CardError("name a card or a folder of cards, or give a `--formula`")
        run = _Run(paths, output, _formats(formats, in_place), detail, in_place, force, tie_rule, code, debug, outside)
        if watching:
            watch(lambda: files_in(paths, output), run.again)
            codes.clear()  # what was wrong has been said, and may be mended
        else:
            codes += run.all()
    gc.freeze()  # nor does leaving visit them once more to free what goes with the process
    sys.exit(worst(codes))


@dataclass(frozen=True)
class _Run:
    """The options of a run."""

    paths: tuple[Path, ...]
    output: Path
    formats: tuple[str, ...]
    detail: str
    in_place: bool
    force: bool
    tie_rule: str | None
    code: bool | None
    debug: bool
    outside: Statement | None = None

    def all(self) -> list[int]:
        """Solve every card; the exit codes of what went wrong."""
        found, errors, notes = jobs(self.paths, self.output)
        for note in notes:
            click.echo(note, err=True)
        return self.solve(found, errors)

    def again(self, changed: list[Path]) -> Iterable[Path]:
        """Solve the cards among the changed files; those that were themselves written."""
        names = {str(file) for file in changed}
        found, errors, _ = jobs(self.paths, self.output)
        here = [job for job in found if str(job.path) in names]
        self.solve(here, [e for e in errors if any(p.file in names for p in e.problems)])
        return [job.path for job in here] if self.in_place else []

    def solve(self, found: list[Job], errors: list[DeriveError]) -> list[int]:
        codes: list[int] = []
        for error in errors:
            with reported(codes, self.debug):
                raise error
        with progress(len(found)) as advance:
            for job in found:
                with reported(codes, self.debug):
                    click.echo(self.one(job))
                advance()
        return codes

    def one(self, job: Job) -> str:
        """The summary line of a card whose files have been written."""
        from derive.render import files, render
        from derive.solve import solve as solve_card
        from derive.verify.report import Verdict

        start = time.perf_counter()
        card = job.card
        targets = {f: job.path if self.in_place and f == "md" else self.output / f"{job.stem}.{f}"
                   for f in self.formats}  # fmt: skip
        if "md" in targets and not self.force:
            keep_hand_written(targets["md"], job)
        try:
            solution = solve_card(card, statement=self.outside, tie_rule=self.tie_rule, code=self.code)
        except CardError as error:
            if all((p.line or 0) < card.question_line for p in error.problems):
                raise
            hint = f"`derive read {job.path}` lists what is understood; what is open may be written in the front matter"
            raise CardError(*error.problems, Problem(hint, str(job.path))) from error
        try:
            contents = {path: render(solution, f, self.detail) for f, path in targets.items()}
        except DeriveError as error:
            raise error.located(str(job.path), card.question_line) from error
        beside = {path.parent / name: figure for f, path in targets.items()
                  for name, figure in files(solution, f, self.detail).items()}  # fmt: skip
        unchanged(job)
        write_all(contents | beside)
        report = solution.report
        counts = ", ".join(f"{len(report.equations(v))} {v}" for v in (Verdict.PROVED, Verdict.TESTED))
        written = ", ".join(map(str, targets.values()))
        return f"{card.id}: {solution.derived}; {counts}; {written}; {time.perf_counter() - start:.1f} s"


def _formats(given: str | None, in_place: bool) -> tuple[str, ...]:
    from derive.render import FORMATS, available

    if given is None:
        return ("md",) if in_place else available()
    names = tuple(dict.fromkeys(name.strip().lower() for name in given.split(",") if name.strip()))
    if not names:
        raise CardError(f"no format in `{given}`; there are " + ", ".join(f"`{n}`" for n in FORMATS))
    return tuple(known("format", name, FORMATS) for name in names)


def _check(detail: str, tie_rule: str | None) -> None:
    from derive.module import TIE_RULES

    rank(detail)
    if tie_rule is not None:
        known("tie rule", tie_rule, TIE_RULES)


@click.command(no_args_is_help=True, short_help="Show solutions in the terminal.")
@click.argument("paths", nargs=-1, required=True, metavar="CARD|DIR...", type=click.Path(path_type=Path))
@detail_option
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
        rank(detail)
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
    _show(job.card, detail, tie_rule, code)


def _show(layer: Card | Statement, detail: str, tie_rule: str | None, code: bool | None) -> None:
    from rich.console import Console

    from derive.render.terminal import render
    from derive.solve import solve

    Console(highlight=False).print(render(solve(layer, tie_rule=tie_rule, code=code), detail))
