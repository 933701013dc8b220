"""``derive evaluate``: a card's layer at numbers of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from derive.commands.running import (
    bounded,
    debug_option,
    ended,
    language_option,
    timeout_option,
    usual,
    with_settings,
)
from derive.errors import CardError, DeriveError, known
from derive.pool import Limits
from derive.settings import Settings


@click.command(no_args_is_help=True, short_help="Evaluate a card's layer at given numbers.")
@click.argument("card", metavar="CARD", type=click.Path(path_type=Path), is_eager=True, callback=with_settings())
@click.option("--values", metavar="FILE", type=click.Path(path_type=Path),
              help="Tensors by name: YAML, JSON or NumPy's .npz.")
@click.option("--random", "seed", type=int, metavar="SEED", help="Draw the numbers instead.")
@click.option("--format", "written", metavar="json|md|html", help="Write this on the output, not tables.")
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie; overrides the card.")
@language_option
@timeout_option
@debug_option
def evaluate(card: Path, values: Path | None, seed: int | None, written: str | None, tie_rule: str | None,
             language: str | None, limits: Limits, debug: bool) -> None:  # fmt: skip
    """Evaluate a card's layer: output, selected entries, Jacobian and messages at given numbers.

    The file holds an array for each input, parameter and constant, by its letter; `upstream`, or
    delta_y for an output y, is the upstream gradient (ones unless given):

    \b
      x: [[1, 5], [3, 2]]
      upstream: [[1]]

    \b
    Examples:
      derive evaluate cards/max_pooling_backward.md --values mine.yaml
      derive evaluate cards/max_pooling_backward.md --values mine.npz --format json
      derive evaluate cards/max_pooling_backward.md --random 1
    """
    with ended(debug):
        from derive.evaluation.formats import FORMATS

        if written is not None:
            known("format", written, tuple(FORMATS))
        if (values is None) == (seed is None):
            raise CardError("give the numbers with --values FILE, or draw them with --random SEED: one of the two")
        task = (card, values, seed, written, (tie_rule, language, usual()))
        click.echo(bounded(_evaluated, task, Limits(0) if debug else limits), nl=False)


def _evaluated(task: tuple[Path, Path | None, int | None, str | None,
                           tuple[str | None, str | None, Settings]]) -> str:
    from derive.evaluation import evaluate as at
    from derive.evaluation.draw import draw
    from derive.evaluation.formats import FORMATS, for_terminal
    from derive.evaluation.values import read_values
    from derive.solve import solve

    card, values, seed, written, (tie_rule, language, settings) = task
    given = read_values(values) if values is not None else None
    solution = solve(card, tie_rule=tie_rule, usual_tie_rule=settings.tie_rule, language=language,
                     usual_language=settings.language)
    try:
        found = at(solution, given if given is not None else draw(solution, seed or 0))
    except DeriveError as error:
        raise error.located(str(values) if values is not None else str(card)) from None
    if written is not None:
        return FORMATS[written](found)
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(for_terminal(found))
    return captured.get()
