"""``derive dataset``: rows of layers with right solutions and wrong ones, each told apart by the check."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import click

from derive.commands.running import debug_option, ended, jobs_option, printable, progress, timeout_option
from derive.pool import Limits

_SECONDS = 60.0  # of processor time for a row: far more than any takes, so that all machines write the same


@click.command(no_args_is_help=True, short_help="Write layers with right and wrong solutions as data.")
@click.option("-n", "count", type=click.IntRange(1, 10_000_000), default=1000, show_default=True, metavar="N",
              help="So many rows.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the layers are drawn from.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True,
              metavar="FILE.jsonl|.parquet", help="Where to write them; the data card stands beside it.")
@jobs_option
@click.option("--cluster", metavar="ADDRESS", help="Have the rows made by a cluster of Dask's, such as "
              "tls://host:8786.")
@partial(timeout_option, seconds=_SECONDS, of="a row")
@debug_option
def dataset(count: int, seed: int, output: Path, jobs: int, cluster: str | None, limits: Limits, debug: bool) -> None:
    """Write rows of data: layers drawn over the catalogue, each with its question in several wordings, a solution, line
    by line with rule and verdict, numbers at a point, and wrong solutions by known mistakes.

    No two rows are the same layer up to letters. Every line of a solution is proved or tested, every wrong solution
    refuted, with a counterexample and its first wrong line; nothing else is written. The data card (.md) beside the
    rows counts them. The same seed gives the same bytes, with any number of processes. A run that was stopped goes on
    where it was: what is done so far stands in FILE.part.

    \b
    Examples:
      derive dataset -n 10000 --seed 1 -o rows.jsonl
      derive dataset -n 200 -o rows.parquet -j 4
    """
    with ended(debug):
        from derive.bank import write_all
        from derive.dataset.card import Counts
        from derive.dataset.formats import ready, write
        from derive.dataset.journal import Journal
        from derive.dataset.made import fill

        ready(output)
        journal = Journal(output.with_name(f"{output.name}.part"), seed, count)
        with closing(journal), closing(fill(journal, seed, count, cluster or jobs, limits)) as made:
            with progress(count) as at:
                rows = journal.rows
                for chain in made:
                    if journal.rows > rows:
                        at(chain)
                    rows = journal.rows
            counts = Counts()
            write(counts.of(journal), output)
            card = output.with_suffix(".md")
            write_all({card: counts.card(seed, output.stem, _version())})
            journal.remove()
        click.echo(printable(f"{output}: {counts.rows:,} rows, {counts.wrong:,} wrong solutions; {card}: data card"))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("derive-sheets")
    except PackageNotFoundError:
        return "of a checkout"
