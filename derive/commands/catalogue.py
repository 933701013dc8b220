"""``derive layers`` and ``derive new``: the catalogue, and a question card for one of its layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from derive.bank import write_all
from derive.commands.running import debug_option, ended
from derive.errors import CardError


@click.command(short_help="List the layers that have names.")
def layers() -> None:
    """List the catalogue: each layer's name, its forward formulas (poolings in two axes), and its options.

    Options of ``derive new`` stand with --, those of a chain such as ``linear(units=3) -> relu`` in brackets.

    \b
    Example:
      derive layers
    """
    with ended(debug=False):
        _list()


def _list() -> None:
    from derive.layers import LAYERS, compose
    from derive.layers.catalogue import Pooling
    from derive.render.unicode import inline

    width = max(len(spec.name) for spec in LAYERS)
    for spec in LAYERS:
        if isinstance(spec, Pooling):
            options = "".join(f"  --{key.replace('_', '-')}" for key in spec.options)
            formulas: tuple[str, ...] = (spec.latex(2),)
        else:
            options = f"  ({', '.join(spec.options)})" if spec.options else ""
            formulas = compose(spec.name).formulas
        click.echo(f"{spec.name:{width}}  {', '.join(map(inline, formulas))}{options}")


def _sizes(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """``3``, ``3,2`` or ``3x2``; for padding also ``0+1,2+0`` (before and behind), and ``same``."""
    if text is None or text == "same":
        return text
    try:
        parts = [tuple(map(int, p.split("+"))) for p in text.lower().replace("×", "x").replace("x", ",").split(",")]
    except ValueError:
        raise click.BadParameter(f"`{text}` is not a list of integers such as 3 or 3,2") from None
    found = [p[0] if len(p) == 1 else p for p in parts]
    return found[0] if len(found) == 1 and isinstance(found[0], int) else found


def _number(context: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    from fractions import Fraction

    try:
        return None if text is None else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(f"`{text}` is not a number such as 2, 0.5 or 5/2") from None


@click.command(no_args_is_help=True, short_help="Write a question card for a layer of the catalogue.")
@click.argument("name", metavar="LAYER")
@click.option("--kernel-size", callback=_sizes, help="Sizes of the window: 3, or 3,2 for two axes.")
@click.option("--stride", callback=_sizes, help="Steps between windows. [default: the kernel size]")
@click.option("--padding", callback=_sizes, help="Cells added at each end: 1, or 1,0, or 0+1,2+0, or same.")
@click.option("--dilation", callback=_sizes, help="Distance between a window's cells.")
@click.option("--ceil-mode", is_flag=True, default=None, help="The last window may run beyond the padded input.")
@click.option("--output-size", callback=_sizes, help="Of adaptive pooling.")
@click.option("--input-size", callback=_sizes, help="The size of the input, where the question states one.")
@click.option("--dims", type=int, help="Axes of the input. [default: 2]")
@click.option("--norm", callback=_number, help="p of Lp pooling.")
@click.option("--sharpness", callback=_number, help="r of log-sum-exp, log-mean-exp and softmax pooling.")
@click.option("--count-include-pad/--no-count-include-pad", default=None, help="Whether an average counts padding.")
@click.option("--divisor-override", type=int, help="What an average divides by.")
@click.option("--tie-rule", metavar="first|last|split", help="Where the gradient goes at a tie.")
@click.option("--numeric", is_flag=True, help="Ask for numbers: an input and, for several outputs, a gradient "
              "that comes in.")
@click.option("--vary", is_flag=True, help="Leave these numbers open, for variants.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the numbers are drawn from.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The card's file. [default: print it]")
@debug_option
def new(name: str, output: Path | None, numeric: bool, vary: bool, seed: int, debug: bool, **arguments: Any) -> None:
    """Write a question card for a layer of the catalogue.

    \b
    Examples:
      derive new max_pool --kernel-size 3 --stride 2 -o cards/max_pool.md
      derive new avg_pool --kernel-size 2 --numeric --seed 7
      derive new max_pool --kernel-size 2 --vary -o cards/many.md
    """
    with ended(debug):
        own = {key: value for key, value in arguments.items() if value is not None}
        _write(name, output, own, numeric or vary, None if vary else seed)


def _write(name: str, output: Path | None, arguments: dict[str, Any], numeric: bool, seed: int | None) -> None:
    from derive.new import numeric_card, question_card

    text = numeric_card(name, arguments, seed) if numeric else question_card(name, arguments)
    if output is None:
        click.echo(text, nl=False)
        return
    if output.exists():
        raise CardError(f"`{output}` exists; name another file")
    write_all({output: text})
    click.echo(str(output))
