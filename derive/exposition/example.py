"""The worked example of any layer: given numbers, what the definitions make of them, and the messages there."""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from derive.calculus.one_window import WHOLE
from derive.errors import UnsupportedError
from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.exposition.worked import Result, worked
from derive.expr import Entry, Expr, Fn, Infinity, Matrix, Num, Partial, Rel, Size, eq
from derive.module import Module
from derive.numeric.arithmetic import EXACT, precision
from derive.numeric.clarke import active_sets, selection
from derive.numeric.point import Index
from derive.sheet import Block, Math
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.point import Point, Values
from derive.verify.ties import Message


def matrix(tensor: Mapping[Index, Any], column: bool = False) -> Matrix:
    """A tensor of rank 1, as one row or one column, or of rank 2."""
    if len(next(iter(tensor))) == 1:
        entries = tuple(_entry(tensor[at]) for at in sorted(tensor))
        return Matrix(tuple((e,) for e in entries) if column else (entries,))
    rows = sorted({at[0] for at in tensor})
    return Matrix(tuple(tuple(_entry(tensor[at]) for at in sorted(tensor) if at[0] == row) for row in rows))


def printed(values: Mapping[Index, Any], column: bool = False) -> Expr:
    """A tensor as a matrix, a single number as it is."""
    return Num(values[()]) if () in values else matrix(values, column)


def columns(blocks: Iterable[Block], subject: Subject) -> bool:
    """Vectors are columns beside matrix forms, unless they are rows in these."""
    return not (subject.module.table.rows or subject.is_window) and any(
        isinstance(m, Math) and m.scope == WHOLE for m in blocks)


def _entry(value: Any) -> Expr:
    """A number; a maximum or minimum over nothing is infinite."""
    return Infinity(1 if value > 0 else -1) if value in (math.inf, -math.inf) else Num(value)


def plain(value: Any) -> str:
    """A number as it is written; −∞ for a maximum over nothing."""
    return str(value).replace("-", "−").replace("inf", "∞")


def in_rows(tensor: Mapping[Index, Any], number: Callable[[Any], str] = plain) -> str:
    """(1, 2), (3, 4) for a matrix, its rows; of more axes such for each value of the first index, parted by ; and /."""
    if () in tensor:
        return number(tensor[()])
    rank, places = len(next(iter(tensor))), sorted(tensor)
    if rank == 1:
        return "(" + ", ".join(number(tensor[at]) for at in places) + ")"
    parts = (in_rows({at[1:]: tensor[at] for at in places if at[0] == first}, number)
             for first in sorted({at[0] for at in places}))
    return (", ", "; ", " / ")[rank - 2].join(parts)


def in_lists(tensor: Mapping[Index, Any], number: Callable[[Any], str]) -> str:
    """3, [1, -2], [[1, 2], [3, 4]]: numbers in lists of lists, by their places in order."""
    if () in tensor:
        return number(tensor[()])
    firsts = sorted({at[0] for at in tensor})
    parts = (in_lists({at[1:]: v for at, v in tensor.items() if at[0] == n}, number) for n in firsts)
    return f"[{', '.join(parts)}]"


DIGITS = 4
_ROUNDED = re.compile(rf"\.\d{{{DIGITS}}}")
_PARTS = ("forward", "between", "backward", "derivatives")
_MANY = 9  # letters that are given, of which a table says the numbers
_FEW = 16  # rows of a table that stands in every sheet


def build(b: Builder, subject: Subject, statements: tuple[Math, ...]) -> None:
    """Exact numbers as equations where the layer is rational, else rounded ones in a table; nothing where none fit."""
    module = subject.module
    bodies = [f.body for f in module.functions]
    kind = arithmetic_of((*module.equations, *bodies, *(m.expr for m in statements)))
    with precision():
        found = worked(subject, kind)
        if not found:
            return
        (point, results), *others = found
        column = columns(statements, subject)
        b.heading("heading_example")
        delta = f"delta_{module.output}"
        names = (*module.given, *([delta] if subject.backward and delta in point.values else []))
        given = [[Result(Entry(name, ()), p.tensor(name), "given") for name in names] for p, _ in found]
        if len(names) > _MANY or any(len(at) > 2 for _, values, _ in given[0] + results for at in values):
            sliced(b, given[0], results, point.module)
            return
        b.prose("example_given", upstream=names[-1] not in module.given, given=bool(module.values))
        numbers = (eq(Entry(name, ()), printed(point.tensor(name), column)) for name in names)
        rates = (eq(Entry(u.rate, ()), Num(u.size)) for u in module.updates[:1] if u.size is not None and module.values)
        b.joined("example_given", (*steps(point.module), *numbers, *rates), "example", definition=True)
        if module.values:  # the answer has all but what lies between
            wanted = {f"delta_{t.wrt}" for t in subject.backward}
            results = [r for r in results if r.part == "between" or (
                r.part == "backward" and isinstance(r.node, Entry) and r.node.tensor not in wanted)]
            if not results:
                return
        if kind is EXACT:
            exact(b, results, column)
            if (subject.backward or subject.is_scalar) and not module.values:
                tied(b, module, point)
        else:
            rounded(b, results, "between" if module.values else "rounded")
        if others:
            elsewhere(b, [first + r for first, (_, r) in zip(given[1:], others, strict=True)])


def elsewhere(b: Builder, columns: list[list[Result]]) -> None:
    """A column of numbers for each of the branches that the first example does not visit."""
    rows = tuple((b.m(row[0].node), *(in_rows(r.values, number) for r in row)) for row in zip(*columns, strict=True))
    b.heading("heading_others" if len(rows) <= _FEW else "heading_elsewhere", 3)
    rounds = any("." in cell for row in rows for cell in row[1:])
    b.prose("example_elsewhere", several=len(columns) > 1, digits=DIGITS if rounds else None)
    name, value = b.say("example_header").split(" ~ ")
    b.table((name, *[value] * len(columns)), rows, "l" * (1 + len(columns)))


def exact(b: Builder, results: list[Result], column: bool) -> None:
    """t = (…) for each tensor, each δ, each derivative."""
    for part in _PARTS:
        own = [r for r in results if r.part == part]
        if own:
            several = of_many(own, results) if part == "derivatives" else len(own) > 1
            facts: dict[str, Any] = {"digits": None} if part == "between" else {"several": several}
            b.prose(f"example_{part}", **facts)
        b.joined(f"example_{part}", (eq(node, printed(values, column)) for node, values, _ in own), "example")


def of_many(derivatives: list[Result], results: list[Result]) -> bool:
    """Some of the outputs have no derivatives here."""
    entries = {r.node.tensor: len(r.values) for r in results if isinstance(r.node, Entry)}
    of = {r.node.of for r in derivatives if isinstance(r.node, Partial) and isinstance(r.node.of, Entry)}
    return any(sum(o.tensor == tensor for o in of) < entries.get(tensor, 0) for tensor in {o.tensor for o in of})


def rounded(b: Builder, results: list[Result], words: str) -> None:
    """A row for each tensor, each δ, each derivative."""
    b.prose(f"example_{words}", digits=DIGITS)
    rows = tuple((b.m(node), in_rows(values, in_decimals)) for node, values, _ in results)
    b.table(tuple(b.say("example_header").split(" ~ ")), rows, "ll")


def steps(module: Module) -> Iterator[Rel]:
    """S = 2 of a stride by a letter."""
    return (eq(Size(name), Num(n)) for name, n in module.steps if n is not None)


def sliced(b: Builder, given: list[Result], results: list[Result], module: Module) -> None:
    """A row for each tensor: its rows, of three axes one matrix after another."""
    if module.steps:
        b.joined("example_given", tuple(steps(module)), "example", definition=True)
    first, then = ([(b.m(node), in_rows(values, number)) for node, values, part in found if part != "derivatives"]
                   for found in (given, results))
    rounds = any(_ROUNDED.search(cell) for _, cell in (*first, *then))
    b.prose("example_sliced", rank=max(len(at) for r in given + results for at in r.values),
            digits=DIGITS if rounds else None)
    header = tuple(b.say("example_header").split(" ~ "))
    b.table(header, tuple(first), "ll")
    b.prose("example_follows")
    b.table(header, tuple(then), "ll")


def in_decimals(value: Any) -> str:
    return f"{float(value) + 0:.{DIGITS}f}".replace("-", "−")


def number(value: Any) -> str:
    """A number that is whole, a fraction or of few digits as it is, another one rounded."""
    if isinstance(value, (int, Fraction)) or value == int(value):
        return str(Fraction(value)).replace("-", "−")
    rounded = in_decimals(value)
    return rounded.rstrip("0") if value == float(rounded.replace("−", "-")) else rounded


_TRIES, _BEST = 60, 3
_NUMBERS = {False: (0, 1, 1, 2), True: (0, 1, -1, 2, -2)}  # of the entries; where their size is what counts


def tied(b: Builder, module: Module, first: Point) -> None:
    """An input of few different numbers, its output, and the gradient that the first example's upstream gives.

    A single output has none there: its upstream is 1.
    """
    if len(module.inputs) != 1 or module.parameters or module.constants:
        return
    try:
        node = selection(module)
    except UnsupportedError:
        return
    (wrt,) = module.inputs
    absolute = isinstance(node.body, Fn) and node.body.name == "abs"
    delta = f"delta_{module.output}"
    drawn = _tied(module, list(first.tensor(wrt)), first.shapes[wrt], _NUMBERS[absolute])
    alone = module.definition(module.output)[1] is node and (absolute or isinstance(node.body, Entry))
    if not alone or drawn is None:
        return
    message, single = Message(module), () in first.tensor(module.output)
    point = message.point(drawn).with_upstream({(): 1} if single else first.tensor(delta))
    output, back = point.tensor(module.output), message.at(point)
    b.heading("heading_tied", 3)
    b.prose("tied_given", upstream=b.m(Entry(delta, ())), same=not single)
    upstream = (eq(Entry(delta, ()), Num(1)),) if single else ()
    b.joined("tied_input", (eq(Entry(wrt, ()), matrix(drawn)), *upstream), "tied", definition=True)
    b.prose("tied_output", single=single)
    b.math("tied_output", eq(Entry(module.output, ()), printed(output)), "tied")
    b.prose("tied_gradient", rule=module.tie_rule, op=node.op, absolute=absolute, rank=len(first.shapes[wrt]))
    b.math("tied_gradient", eq(Entry(f"delta_{wrt}", ()), printed(back)), "tied")


def _tied(module: Module, cells: list[Index], shape: Index, pool: tuple[int, ...]) -> Values | None:
    """Drawn from the card's id until a window has several active entries, and another only one."""
    seed = hashlib.sha256(f"{module.key}:{module.receptive_field}:tied".encode()).digest()
    source = random.Random(int.from_bytes(seed[:8], "big"))
    found: tuple[int, Values] | None = None
    for _ in range(_TRIES):
        values = {cell: source.choice(pool) for cell in cells}
        counts = [len(s.active) for s in active_sets(module, {module.inputs[0]: values}, {module.inputs[0]: shape})]
        score = sum(n > 1 for n in counts) and 1 + (1 in counts) + (2 in counts)
        if score and (found is None or score > found[0]):
            found = score, values
            if score == _BEST:
                break
    return None if found is None else found[1]
