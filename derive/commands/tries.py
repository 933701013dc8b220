"""``derive try``: many variants of a card, and what is wrong with some of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from derive.bank import write_all
from derive.card import Card
from derive.commands.running import (
    debug_option,
    ended,
    jobs_option,
    printable,
    timeout_option,
    usual,
    with_settings,
)
from derive.errors import CardError, DeriveError, Problem, known
from derive.pool import Limits
from derive.variants import declared, drawn, has_choices

if TYPE_CHECKING:
    from derive.handout.pieces import Piece
    from derive.handout.tried import Spread, Tried

_FEW = 8  # numbers of variants that a line lists


@click.command("try", no_args_is_help=True, short_help="Solve many variants of a card, and say which are no good.")
@click.argument("card", metavar="CARD", type=click.Path(path_type=Path), is_eager=True, callback=with_settings())
@click.option("-n", "count", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N",
              help="So many variants.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the choices are drawn from.")
@click.option("--format", "form", default="table", show_default=True, metavar="table|json", help="How it is told.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.svg",
              help="The spread of the work and of the answers as a picture.")
@jobs_option
@timeout_option
@click.option("--no-cache", is_flag=True, help="Solve each variant anew, and keep none for the next time.")
@debug_option
def try_(card: Path, count: int, seed: int, form: str, plot: Path | None, jobs: int, limits: Limits, no_cache: bool,
         debug: bool) -> None:  # fmt: skip
    """Solve many variants of a card that leaves choices open, and say which are no good for an exam.

    Those that cannot be solved, that are like another, whose answer gives the game away (all zeros, all the same) or
    whose numbers tie; how far the answers spread, and the work: steps of the derivation, and numbers to be computed.

    \b
    Examples:
      derive try cards/variants/relu_network_numbers.md -n 200
      derive try cards/variants/pooling_numbers.md -n 200 --plot spread.svg
    """
    with ended(debug) as codes:
        from derive.commands.exams import Solving
        from derive.handout.pieces import Piece
        from derive.handout.tried import tried

        known("format", form, ("table", "json"))
        if plot is not None and plot.suffix.lower() != ".svg":
            raise CardError(f"a plot is `.svg`, not `{plot.suffix}`; name it so")
        read = Card.read(card)
        if not has_choices(read):
            raise CardError(Problem("the card leaves no choice open: there is one variant of it", read.path))
        open_ = declared(read)
        variants = [drawn(read, seed, n, open_) for n in range(1, count + 1)]
        solving = Solving(seed, (), "answer", usual().tie_rule, (None, None), limits, jobs, not no_cache, debug)
        pieces = solving.of(v.card for v in variants)
        found = tried(read.id, seed, list(zip(variants, pieces, strict=True)))
        if plot is not None:
            write_all({plot: _plot(found, [p for p in pieces if isinstance(p, Piece)])})
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=1) if form == "json" else
                   "\n".join(table(found)))
        codes += [p.exit_code for p in pieces if isinstance(p, DeriveError) and (p.exit_code == 1 or not found.solved)]


def _plot(found: Tried, pieces: Sequence[Piece]) -> str:
    from derive.figures.bars import bars
    from derive.handout.tried import by_name
    from derive.render.pictures import svg

    values = {"work": [float(p.work) for p in pieces]} | {
        name: [n for answer in answers for n in answer.numbers] for name, answers in by_name(pieces).items()}
    title = f"{found.card}: {found.solved} variants of seed {found.seed}"
    said = "; ".join(f"{s.name}: {' to '.join(_row(s)[2:5:2])}" for s in (found.work, *found.answers)
                     if s.least is not None)
    return svg(bars(values, "spread", title, said))


def table(found: Tried) -> Iterator[str]:
    """What there is to say, in lines."""
    yield printable(f"{found.card}: {found.count} variants of seed {found.seed}, {found.solved} solved")
    for reason, numbers in found.unsolved.items():
        yield _line("cannot be solved", numbers, printable(reason))
    yield _line("the same choices again", found.repeated)
    yield _line("other choices, the same answer", found.same_answer)
    yield from _named("all zeros", found.all_zero)
    yield from _named("all the same", found.all_equal)
    yield _line("ties", found.tied)
    yield ""
    rows = [("", "different", "least", "median", "greatest", "zeros"), *map(_row, (*found.answers, found.work))]
    widths = [max(len(row[n]) for row in rows) for n in range(6)]
    for row in rows:
        cells = (cell.ljust(width) if n == 0 else cell.rjust(width)
                 for n, (cell, width) in enumerate(zip(row, widths, strict=True)))
        yield "  ".join(cells).rstrip()


def _named(what: str, found: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    for name, numbers in found.items() or [("", ())]:
        yield _line(what, numbers, name)


def _line(what: str, numbers: tuple[int, ...], why: str = "") -> str:
    listed = ", ".join(map(str, numbers[:_FEW])) + (", …" if len(numbers) > _FEW else "")
    return f"  {what:32}{len(numbers):6}" + (f"  {why}" if why else "") + (f"  ({listed})" if numbers else "")


def _row(spread: Spread) -> tuple[str, ...]:
    from derive.figures.bars import short

    numbers = (spread.least, spread.median, spread.greatest)
    return (printable(spread.name), str(spread.different), *("" if n is None else short(n) for n in numbers),
            "" if spread.least is None else f"{100 * spread.zeros:.0f} %")
