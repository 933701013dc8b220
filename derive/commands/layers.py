"""``derive layers``: the catalogue."""

from __future__ import annotations

import click

from derive.commands.running import ended


@click.command(short_help="List the layers that have names.")
def layers() -> None:
    """List the catalogue: each layer's name, its forward formula in two axes, and its options.

    \b
    Example:
      derive layers
    """
    with ended(debug=False):
        _list()


def _list() -> None:
    from derive.layers import LAYERS
    from derive.render.unicode import inline

    width = max(len(spec.name) for spec in LAYERS)
    for spec in LAYERS:
        options = "".join(f"  --{key.replace('_', '-')}" for key in spec.options)
        click.echo(f"{spec.name:{width}}  {inline(spec.latex(2))}{options}")
