"""What the texts of a statement stand for: formulas with their lines, the output, kinds of messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from derive.errors import CardError, Problem, did_you_mean
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.specify.definitions import Definitions
from derive.specify.roles import letter_of
from derive.statement import Statement

KINDS: Mapping[str, tuple[str, ...]] = {
    "forward": ("forward",), "backward": ("jacobian", "vjp"), "jacobian": ("jacobian",), "vjp": ("vjp",),
    "parameters": ("parameters",),
}  # fmt: skip
_DOLLARS = re.compile(r"\s*(\$\$?)(?P<inside>[^$]*)\1\s*", re.DOTALL)


def written(statement: Statement, *keys: str) -> Iterator[tuple[str, int, Formula]]:
    """(key, place in it, formula) of each formula; ``$`` around one is left out."""
    for key in keys:
        for n, text in enumerate(getattr(statement, key) or ()):
            if key != "derive" or text not in KINDS:
                latex = _DOLLARS.sub(lambda m: m["inside"], text).strip()
                yield key, n, Formula(latex, statement.line(key, n) or 1, 0, True)


def formulas_of(statement: Statement, *keys: str) -> list[Formula]:
    """The formulas that stand under these keys."""
    return [formula for _, _, formula in written(statement, *keys)]


def output_of(statement: Statement, found: Definitions, table: SymbolTable) -> str | None:
    """The output that the statement names; raises :class:`CardError` for a letter that nothing defines."""
    if statement.output is None:
        return None
    name = letter_of(statement.output, table)
    if name is None or name not in found.tensors:
        hint = did_you_mean(statement.output, tuple(found.tensors), 0.4, "defined are")
        raise CardError(Problem(f"`output: {statement.output}` is defined by no formula; {hint}",
                                line=statement.line("output")))
    return name
