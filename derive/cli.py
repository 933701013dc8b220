"""The command ``derive``: the one place that prints and exits, with the files of ``derive/commands/``."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import Any

import click

# a command is a function of its name in that module; it is imported when it is called
_COMMANDS = {
    "solve": "derive.commands.solve",
    "show": "derive.commands.show",
    "read": "derive.commands.read",
    "check": "derive.commands.check",
    "evaluate": "derive.commands.evaluate",
    "handout": "derive.commands.handout",
    "try": "derive.commands.tries",
    "dataset": "derive.commands.dataset",
    "new": "derive.commands.catalogue",
    "layers": "derive.commands.catalogue",
}


class _Commands(click.Group):
    """The commands by name, each imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name + "_" * iskeyword(cmd_name)
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name]), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes of a pool end, too
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # as shells expect it, and nothing is half written
            click.echo(err=True)
            sys.exit(130)


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(version("derive-sheets"))
        except PackageNotFoundError:
            click.echo("a checkout that is not installed")
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def main() -> None:
    """Derive, verify and typeset exam solutions for neural-network layers.

    \b
    Examples:
      derive solve cards/max_pooling_backward.md
      derive show cards/max_pooling_backward.md
      derive read cards/max_pooling_backward.md
      derive check cards/max_pooling_backward.md
      derive evaluate cards/max_pooling_backward.md --random 1
      derive handout cards --no-solutions -o exam.pdf
      derive try cards/variants/pooling_numbers.md -n 200
      derive dataset -n 1000 --seed 1 -o rows.jsonl

    \b
    Exit codes:
      0  everything was done
      1  an equation was refuted, or the program failed
      2  the input is wrong: a card, a value, an option
      3  the input is valid, and not covered
      4  an outside tool or a template failed
    130  interrupted
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a letter that the terminal's encoding lacks is `?`
