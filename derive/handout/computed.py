"""What a question asks for in numbers: which values, and where its answer shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from derive.expr import Entry, Expr, Partial, Rel, conditions
from derive.lines import write_lines
from derive.module import Module
from derive.notation import write
from derive.question.words.lexicon import named
from derive.sheet import Block, Math, Prose, Table
from derive.solve import Solution

_FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
_FONT = re.compile(r"\\(?:mathbf|boldsymbol|bm|mathrm|mathcal)\s*|[{}\s]")
_END = re.compile(r"[.?!](?=\s|$)")


def computed(question: str, module: Module) -> tuple[str, ...]:
    """The tensors whose numbers are asked for, by their letters alone or as the output: «compute $p$ and …»."""
    words = _FORMULA.sub(lambda m: "·" * len(m[0]), question).lower()
    letters = {_bare(s.latex): name for name in module.defined if (s := module.table.named(name)) is not None}
    found: dict[str, int] = {}
    for verb in named(words, "ask.verb"):
        end = _END.search(words, verb.stop)
        stop = end.start() if end is not None else len(words)
        asked = {letters[_bare(m[1])]: m.start() for m in _FORMULA.finditer(question, verb.stop, stop)
                 if _bare(m[1]) in letters}
        outputs = [span.start for span in named(words, "geometry.output") if verb.stop <= span.start < stop]
        if outputs and module.output not in asked:
            asked[module.output] = outputs[0]
        for name, place in asked.items():
            found.setdefault(name, place)
    return tuple(sorted(found, key=found.__getitem__))


def _bare(latex: str) -> str:
    return _FONT.sub("", latex)


def numbers(solution: Solution) -> Iterator[tuple[Expr, Block]]:
    """Each value that the answer gives: of what, and the display or the row of a table that has it."""
    table = solution.messages.module.table
    for block in solution.sheet.answer:
        if isinstance(block, Math) and block.name == "numbers":
            for statement in (c for c in conditions(block.expr) if isinstance(c, Rel)):
                yield statement.terms[0], replace(block, expr=statement, latex=write_lines(statement, table))
        elif isinstance(block, Table):
            for row in block.rows:
                node = next((n for n in _nodes(solution) if f"${write(n, table, display=False)}$" == row[0]), None)
                if node is not None:
                    yield node, Prose(": ".join(row))


def _nodes(solution: Solution) -> Iterator[Expr]:
    """What sentences and tables of the sheet name."""
    return (m.expr for m in solution.sheet.inline if isinstance(m.expr, Entry | Partial))
