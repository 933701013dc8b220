"""``derive solve``: the sheets of cards and folders as files."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from derive.bank import OUTPUT, Job, files_in, keep_hand_written, unchanged, write_all, written_at
from derive.bank import jobs as cards_in
from derive.card import file_stem
from derive.commands.report import OPEN, SOLVED, Ledger, Outcome, form_of, state, table, written
from derive.commands.running import (
    debug_option,
    detail_option,
    jobs_option,
    language_option,
    progress,
    reported,
    timeout_option,
    usual,
    watch,
    with_settings,
    worst,
)
from derive.commands.sheets import Sheets, Task, made
from derive.commands.stated import stated
from derive.errors import CardError, DeriveError, Problem, known
from derive.pool import Limits
from derive.records import dataclass
from derive.sheet import rank
from derive.variants import drawn, has_choices

if TYPE_CHECKING:
    from derive.render import Part


@click.command(no_args_is_help=True, short_help="Derive, verify and write the sheets of cards.")
@click.argument("paths", nargs=-1, metavar="CARD|DIR...", type=click.Path(path_type=Path), is_eager=True,
                callback=with_settings("formats", "output", "detail"))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=OUTPUT, show_default=True,
              help="Folder for the finished sheets.")
@click.option("--format", "formats", metavar="md,tex,pdf,html",
              help="Formats by commas; obsidian, qmd, ipynb, anki, moodle, too. [default: those that work here]")
@click.option("--spaced-repetition", "repeated", is_flag=True,
              help="Of obsidian: notes as cards of that plug-in.")
@detail_option
@click.option("--in-place", is_flag=True, help="Write the solution into the card itself; other formats on request.")
@click.option("--force", is_flag=True, help="Overwrite a solution that was written or edited by hand.")
@click.option("--dry-run", is_flag=True, help="Say which files would be written, and write none.")
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie; overrides the card.")
@language_option
@click.option("--variant", "variants", metavar="N|N-M", callback=lambda _, __, given: _numbers(given), default="",
              help="Of a card that leaves choices open the N-th variant, or several.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the choices are drawn from.")
@click.option("--code", is_flag=True, default=None, help="The layer in NumPy code, too, executed against the formulas.")
@click.option("--watch", "watching", is_flag=True, help="Solve a card again whenever it is saved, until Ctrl-C.")
@click.option("--statement", "source", metavar="FILE", help="Lines as in front matter that count over the card; - for "
              "standard input.")
@click.option("--formula", "formulas", multiple=True, metavar="LATEX", help="Without a card: what the layer computes.")
@click.option("--inputs", metavar="x,…", help="Letters that are inputs.")
@click.option("--parameters", metavar="W,b", help="Letters that are trained.")
@click.option("--constants", metavar="t,…", help="Letters that are fixed, such as targets.")
@click.option("--derive", "request", metavar="forward,backward,…", help="What is asked for.")
@jobs_option
@click.option("--cluster", metavar="ADDRESS", help="Have the cards worked on by a cluster of Dask's, such as "
              "tls://host:8786.")
@timeout_option
@click.option("--no-cache", is_flag=True, help="Make every sheet anew, and keep none for the next time.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE",
              help="What became of each card: .json, .md, .html, or .xml (JUnit's).")
@click.option("-v", "--verbose", is_flag=True, help="Name the files of a folder that are out of scope, or no cards.")
@debug_option
def solve(paths: tuple[Path, ...], output: Path, formats: str | None, repeated: bool, detail: str, in_place: bool,
          force: bool, dry_run: bool, tie_rule: str | None, language: str | None, variants: range,
          seed: int, code: bool | None, watching: bool, source: str | None, formulas: tuple[str, ...],
          inputs: str | None, parameters: str | None, constants: str | None, request: str | None, jobs: int,
          cluster: str | None, limits: Limits, no_cache: bool, report: Path | None, verbose: bool,
          debug: bool) -> None:  # fmt: skip
    """Solve cards: derive, verify every equation as printed, and write the sheets.

    A folder is searched for cards, with its folders. One card that cannot be solved does not stop
    the others. Each card has a process of its own, which ends at --timeout or at 1 GB; what was made of a card
    is kept, and made again only where the card, an option or this program has changed.

    Of a folder, cards that are no derivations are counted, and listed with -v; where their `type` says something else
    than `derivation`, they leave the exit code as it is. Of several exit codes 1 goes before 4, 2 and 3.

    \b
    Examples:
      derive solve cards/max_pooling_backward.md
      derive solve cards --format md,tex -o sheets --report report.html
      derive solve cards/max_pooling_backward.md --in-place --force
      derive solve cards --in-place --dry-run
      derive solve cards --watch
      derive solve cards/variants --variant 3 --seed 7
      derive solve cards/variants --variant 1-30 --format moodle
      derive solve cards/mish.md --statement mish.yaml
      derive solve --formula 'y_k = \\max(s_k, a s_k)' --parameters a
    """
    ledger = Ledger(verbose, debug)
    with reported(ledger.codes, debug):
        _check(detail, tie_rule)
        form = None if report is None else form_of(report)
        outside = stated(source, formulas, {"inputs": inputs, "parameters": parameters, "constants": constants,
                                            "derive": request})
        if outside is not None and not paths:
            from derive.commands.show import show_one

            alone = Task("", "", (), detail, tie_rule, code, outside, language=language)
            show_one(alone, Limits(0) if debug else limits)
            sys.exit(0)
        if not paths:
            raise CardError("name a card or a folder of cards, or give a `--formula`")
        settings = usual()
        task = Task("", "", _formats(formats, in_place, repeated), detail, tie_rule, code, outside,
                    settings.tie_rule, language, settings.language)
        if variants and in_place:
            raise CardError("a variant in its card's place would lose the choices: leave out --in-place")
        run = _Run(paths, output, task, in_place, force, dry_run, variants, seed, cluster or jobs, limits, not no_cache,
                   debug, ledger)
        if watching:
            if limits.seconds:
                import_module("derive.warm")
            watch(lambda: files_in(paths, output), run.again)
            ledger.codes.clear()  # what was wrong has been said, and may be mended
        else:
            run.all()
        if report is not None and form is not None:
            write_all({report: written(ledger.outcomes, form)})
    sys.exit(worst(ledger.codes))


_Key = tuple[Path, int | None]  # of a card, and of its variant


@dataclass(frozen=True)
class _Work:
    """A card, or the variant of this number of one with choices."""

    job: Job
    number: int | None = None

    @property
    def stem(self) -> str:
        return self.job.stem if self.number is None else file_stem(f"{self.job.card.id}_{self.number}")


@dataclass(frozen=True)
class _Run:
    """The options of a run; ``task`` is what is to be done with each card."""

    paths: tuple[Path, ...]
    output: Path
    task: Task
    in_place: bool
    force: bool
    dry_run: bool
    variants: range
    seed: int
    workers: int | str
    limits: Limits
    cached: bool
    debug: bool
    ledger: Ledger
    parts: dict[str, dict[_Key, Part]] = field(default_factory=dict)  # by format, of files of many cards

    def all(self) -> None:
        """Solve every card."""
        found, errors, notes = cards_in(self.paths, self.output)
        for note in notes if self.ledger.verbose or not found and not errors else ():
            click.echo(note, err=True)
        with reported(self.ledger.codes, self.debug):
            self.solve(found, errors)
        outcomes = self.ledger.outcomes
        for line in table(outcomes) if len(outcomes) > 1 and any(path.is_dir() for path in self.paths) else ():
            click.echo(line, err=True)

    def again(self, changed: list[Path]) -> Iterable[Path]:
        """Solve the cards among the changed files; those that were themselves written."""
        names = {str(file) for file in changed}
        found, errors, _ = cards_in(self.paths, self.output)
        here = [job for job in found if str(job.path) in names]
        there = {job.path for job in found}
        for parts in self.parts.values():
            for key in [key for key in parts if key[0] not in there]:
                del parts[key]
        self.solve(here, [e for e in errors if any(p.file in names for p in e.problems)])
        return [job.path for job in here] if self.in_place else []

    def solve(self, found: list[Job], errors: list[DeriveError]) -> None:
        for error in errors:
            file = next((p.file for p in error.problems if p.file), "")
            self.ledger.failed(error, file, Path(file).stem)
        works = [_Work(job, n) for job in found for n in (self.variants if has_choices(job.card) else ()) or (None,)]
        texts = [self._text(work) for work in works]
        tasks = [replace(self.task, text=text, path=str(work.job.path))
                 for work, text in zip(works, texts, strict=True) if isinstance(text, str)]
        with (closing(made(tasks, self.limits, self.workers, self.cached, self.debug)) as results,
              progress(len(works)) as at):  # fmt: skip
            for work, text in zip(works, texts, strict=True):
                at(work.job.card.id)
                result = next(results) if isinstance(text, str) else text
                try:
                    self.ledger.solved(self._written(work, result))
                except DeriveError as error:
                    told = self._hinted(work.job, error) if len(works) == 1 else error
                    self.ledger.failed(told, str(work.job.path), work.job.card.id, work.job)
        with reported(self.ledger.codes, self.debug):
            self._collect()

    def _collect(self) -> None:
        """Write the files that hold the cards of the whole run."""
        from derive.render import collection

        for format, parts in self.parts.items():
            path = self._collection(format)
            data = collection(format, [*parts.values()])
            if not self.dry_run:
                write_all({path: data})
            cards = f"{len(parts)} card{'' if len(parts) == 1 else 's'}"
            click.echo(f"{path}: {cards}" + (f" {_change(path, data)}" if self.dry_run else ""))

    def _collection(self, format: str) -> Path:
        """The file of many cards, called like the one folder or card that is named."""
        from derive.render import SUFFIXES

        only = self.paths[0] if len(self.paths) == 1 else None
        name = "cards" if only is None else only.resolve().name if only.is_dir() else only.stem
        return self.output / f"{file_stem(name)}.{SUFFIXES[format]}"

    def _text(self, work: _Work) -> str | DeriveError:
        """The card, of one with choices its variant; or why its sheet may not be written."""
        target = self._targets(work).get("md")
        try:
            if target is not None and not self.force:
                keep_hand_written(target, work.job)
            card = work.job.card
            return card.text if work.number is None else drawn(card, self.seed, work.number).named.text
        except DeriveError as error:
            return error

    def _targets(self, work: _Work) -> dict[str, Path]:
        from derive.render import COLLECTED, SUFFIXES

        return {f: work.job.path if self.in_place and f == "md" else self.output / f"{work.stem}.{SUFFIXES[f]}"
                for f in self.task.formats if f not in COLLECTED}  # fmt: skip

    def _hinted(self, job: Job, error: DeriveError) -> DeriveError:
        if state(error) != OPEN:
            return error
        hint = f"`derive read {job.path}` lists what is understood; what is open may be written in the front matter"
        return error.with_problems((*error.problems, Problem(hint, str(job.path))))

    def _written(self, work: _Work, result: Sheets | DeriveError) -> Outcome:
        """What became of a card whose files have been written."""
        if isinstance(result, DeriveError):
            raise result
        from derive.render import Part

        targets, job = self._targets(work), work.job
        contents = {(targets[f].parent / name if name else targets[f]): data
                    for f in targets for name, data in result.files[f].items()}  # fmt: skip
        unchanged(job)
        for f in (f for f in self.task.formats if f not in targets):
            part = Part(str(result.files[f][""]), written_at(job.path), "" if work.number is None else job.card.id)
            self.parts.setdefault(f, {})[job.path, work.number] = part
        if not self.dry_run:
            write_all(contents)
        names = ([f"{path} {_change(path, data)}" for path, data in contents.items()] if self.dry_run else
                 [*map(str, targets.values())])
        said = (result.derived, f"{result.proved} proved, {result.tested} tested", ", ".join(names),
                f"{result.seconds:.1f} s" if result.seconds else "from the cache")
        line = f"{job.card.id}: {'; '.join(filter(None, said))}"
        files = () if self.dry_run else tuple(map(str, contents))
        return Outcome(str(job.path), job.card.id, SOLVED, (line,), files, result.proved, result.tested,
                       result.seconds)


def _change(path: Path, data: str | bytes) -> str:
    """What writing would do to a file."""
    try:
        before = path.read_bytes()
    except OSError:
        return "(new)"
    return "(no change)" if before == (data.encode() if isinstance(data, str) else data) else "(would change)"


def _numbers(given: str) -> range:
    """``3`` ↦ 3, ``1-30`` ↦ 1, …, 30; nothing of nothing."""
    found = re.fullmatch(r"(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?", given.strip())
    if given and (found is None or not 1 <= int(found[1]) <= int(found[2] or found[1])):
        raise click.BadParameter(f"`{given}` is no number of a variant such as `3`, nor are they such as `1-30`")
    return range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)


def _formats(given: str | None, in_place: bool, repeated: bool) -> tuple[str, ...]:
    from derive.render import FORMATS, SUFFIXES, available, ready

    if given is None and not repeated:
        return ("md",) if in_place else available()
    names = tuple(dict.fromkeys(name.strip().lower() for name in (given or "").split(",") if name.strip()))
    if repeated:
        if "obsidian" not in names:
            raise CardError("`--spaced-repetition` is a way of `--format obsidian`; add it")
        names = tuple("spaced-repetition" if name == "obsidian" else name for name in names)
    if not names:
        raise CardError(f"no format in `{given}`; there are " + ", ".join(f"`{n}`" for n in FORMATS))
    found = {SUFFIXES[known("format", name, FORMATS)]: name for name in names}
    if len(found) < len(names):
        raise CardError("`obsidian` and `spaced-repetition` are two forms of one file; choose one")
    for name in names:
        ready(name)
    return names


def _check(detail: str, tie_rule: str | None) -> None:
    from derive.module import TIE_RULES

    rank(detail)
    if tie_rule is not None:
        known("tie rule", tie_rule, TIE_RULES)
