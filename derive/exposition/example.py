"""The worked example of any layer: given numbers, what the definitions make of them, and the messages there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.exposition import tied_example
from derive.exposition.builder import Builder
from derive.exposition.matrices import in_rows
from derive.exposition.subject import Subject
from derive.exposition.worked import Result, worked
from derive.expr import And, Entry, Expr, Matrix, Num, Partial, Rel, eq
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import EXACT, precision
from derive.sheet import Math
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.point import Values

_PARTS = ("forward", "backward", "derivatives")
_DIGITS = 4
_A_LINE = 3  # derivatives


def build(b: Builder, subject: Subject, statements: tuple[Math, ...]) -> None:
    """Exact numbers as equations where the layer is rational, else rounded ones in a table; nothing where none fit."""
    module = subject.module
    bodies = [f.body for f in module.functions]
    kind = arithmetic_of((*module.equations, *bodies, *(m.expr for m in statements)))
    with precision():
        found = worked(subject, kind)
        if found is None:
            return
        point, results = found
        b.heading("heading_example")
        names = (*module.given, *([f"delta_{module.output}"] if subject.backward else []))
        if any(len(at) > 2 for name in names for at in point.tensor(name)):
            sliced(b, [Result(Entry(name, ()), point.tensor(name), "given") for name in names] + results)
            return
        b.prose("example_given", upstream=bool(subject.backward))
        for name in names:
            b.math("example_given", eq(Entry(name, ()), _value(point.tensor(name))), "example", definition=True)
        if kind is EXACT:
            exact(b, results)
            if subject.backward:
                tied_example.build(b, module, point)
        else:
            rounded(b, results)


def exact(b: Builder, results: list[Result]) -> None:
    """t = (…) for each tensor, each δ; a derivative entry by entry."""
    for part in _PARTS:
        own = [r for r in results if r.part == part]
        if own:
            b.prose(f"example_{part}")
        for node, values, _ in own:
            statements = _entries(node, values, b.tables["layer"]) if isinstance(node, Partial) else [
                eq(node, _value(values))]
            for n in range(0, len(statements), _A_LINE):
                line = tuple(statements[n:n + _A_LINE])
                b.math(f"example_{part}", line[0] if len(line) == 1 else And(line), "example")


def rounded(b: Builder, results: list[Result]) -> None:
    """A row for each tensor, each δ, each derivative."""
    b.prose("example_rounded", digits=_DIGITS)
    rows = tuple((b.m(node), in_rows(values, _rounded)) for node, values, _ in results)
    b.table(tuple(b.say("example_header").split(" ~ ")), rows, "ll")


def sliced(b: Builder, results: list[Result]) -> None:
    """A row for each tensor of three axes: its rows, one matrix after another."""
    b.prose("example_sliced", digits=_DIGITS)
    rows = tuple((b.m(node), in_rows(values, _number)) for node, values, part in results if part != "derivatives")
    b.table(tuple(b.say("example_header").split(" ~ ")), rows, "ll")


def _entries(node: Partial, values: Values, table: SymbolTable) -> list[Rel]:
    """The derivative by each entry; beside a letter x_0 without the entry 0 of x, which is written so too."""
    wrt = node.wrt
    assert isinstance(wrt, Entry)
    own = {at: value for at, value in values.items() if table.named(f"{wrt.tensor}_{''.join(map(str, at))}") is None}
    return [eq(Partial(node.of, Entry(wrt.tensor, tuple(map(Num, at)))), Num(value)) for at, value in own.items()]


def _rows(values: Values) -> list[list[object]]:
    """A vector as one row, a matrix as its rows."""
    if len(next(iter(values))) < 2:
        return [[values[at] for at in sorted(values)]]
    return [[values[at] for at in sorted(values) if at[0] == row] for row in sorted({at[0] for at in values})]


def _value(values: Values) -> Expr:
    if () in values:
        return Num(values[()])
    return Matrix(tuple(tuple(Num(v) for v in row) for row in _rows(values)))  # type: ignore[arg-type]


def _rounded(value: Any) -> str:
    return f"{float(value) + 0:.{_DIGITS}f}".replace("-", "−")


def _number(value: Any) -> str:
    """A number that is whole or a fraction as it is, another one rounded."""
    whole = isinstance(value, (int, Fraction)) or value == int(value)
    return str(Fraction(value)).replace("-", "−") if whole else _rounded(value)
