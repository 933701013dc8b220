"""The worked example of a finished sheet as numbers: what is given, what follows, each as the sheet shows it."""

from __future__ import annotations

from collections.abc import Iterator

from derive.calculus.messages import Messages
from derive.errors import VerificationError
from derive.exposition.example import in_decimals, in_rows, number, printed
from derive.exposition.story import whole
from derive.exposition.subject import LOSS, Subject
from derive.exposition.window_example import example_point, gradient_of
from derive.exposition.worked import Result, worked
from derive.expr import And, Entry, Expr, Node, Partial, eq
from derive.numeric.arithmetic import precision
from derive.records import dataclass
from derive.sheet import Math, Sheet, Table
from derive.verify.points.draw import arithmetic_of

_SCOPES = ("example", "tied")


@dataclass(frozen=True)
class Shown:
    """The given tensors, the gradient that comes in among them where one does, and what follows from them."""

    given: tuple[Result, ...]
    results: tuple[Result, ...]


def shown(sheet: Sheet, messages: Messages, question: str) -> Shown | None:
    """The numbers of the worked example; None where the sheet has none.

    Raises :class:`VerificationError` where the sheet shows other numbers.
    """
    subject, story = Subject(messages, question), whole(messages)
    module, formulas = subject.module, sheet.formulas()
    if not any(m.name.startswith("example") or m.scope in _SCOPES for m in formulas) and not any(_numbers(sheet)):
        return None
    delta = f"delta_{module.output}"
    if story is not None:
        point = example_point(story)
        found = [Result(Entry(module.output, ()), point.tensor(module.output), "forward"),
                 Result(Entry(f"delta_{story.wrt}", ()), gradient_of(story, point), "backward")]
        names: tuple[str, ...] = (story.wrt, delta)
    else:
        statements = (m.expr for m in formulas if m.scope not in _SCOPES)
        kind = arithmetic_of((*module.equations, *(f.body for f in module.functions), *statements))
        with precision():
            points = worked(subject, kind)
        if not points:
            return None
        point, found = points[0]
        names = (*module.given, *([delta] if subject.backward and delta in point.values else []))
    made = Shown(tuple(Result(Entry(name, ()), point.tensor(name), "given") for name in names), tuple(found))
    _refuse_others(made, sheet)
    return made


def _refuse_others(made: Shown, sheet: Sheet) -> None:
    """Raise :class:`VerificationError` unless each tensor's numbers stand on the sheet, exact or as rounded there."""
    stated = {part for m in sheet.formulas() if m.scope in _SCOPES for part in _parts(m)}
    cells = {*_numbers(sheet)}
    for node, values, _ in (*made.given, *made.results):
        texts = {in_rows(values), in_rows(values, in_decimals), in_rows(values, number)}
        small = max((len(at) for at in values), default=0) <= 2  # of more axes there is no matrix
        forms = {eq(name, printed(values, column)) for name in _names(node) for column in (False, True) if small}
        if isinstance(node, Entry) and not forms & stated and not texts & cells:
            raise VerificationError(f"the worked example of `{node.tensor}` is not that of the sheet")


def _names(node: Expr) -> tuple[Expr, ...]:
    """δ_x, which is ∂L/∂x where the question calls it so."""
    if isinstance(node, Entry) and node.tensor.startswith("delta_"):
        return node, Partial(Entry(LOSS, ()), Entry(node.tensor.removeprefix("delta_"), ()))
    return (node,)


def _parts(math: Math) -> tuple[Node, ...]:
    return math.expr.conds if isinstance(math.expr, And) else (math.expr,)


def _numbers(sheet: Sheet) -> Iterator[str]:
    """The cells beside a quantity, of the tables of numbers."""
    for block in sheet.blocks():
        if isinstance(block, Table) and block.align.startswith("ll"):
            yield from (row[1] for row in block.rows)
