"""A solved card as a document of many needs it: what is set of it in each mode, its answers in numbers, its work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from pylatex.utils import NoEscape

from derive.calculus.one_window import scope_tables
from derive.card import Card
from derive.exposition.example import DIGITS, in_lists
from derive.exposition.numbers import answered
from derive.exposition.subject import Subject
from derive.expr import Rel
from derive.handout.document import Item, asked
from derive.handout.marking import items
from derive.notation import write
from derive.numeric.arithmetic import EXACT
from derive.records import dataclass
from derive.render.guard import refuse_failures
from derive.render.unicode import inline
from derive.solve import Solution, language_of, solve
from derive.verify.report import Verdict


@dataclass(frozen=True)
class Task:
    """A card, how its solution is shown, and in which modes of a handout."""

    text: str
    path: str | None
    modes: tuple[str, ...]
    detail: str = "standard"
    usual_tie_rule: str | None = None
    spoken: tuple[str | None, str | None] = (None, None)  # the language, and that of cards which say none

    @property
    def key(self) -> tuple[Any, ...]:
        """All that the piece depends on."""
        return "piece", self.text, self.path, self.modes, self.detail, self.usual_tie_rule, *self.spoken


@dataclass(frozen=True)
class Answer:
    """``∂L/∂X``, what it is, and its numbers in the order of its entries; none of a formula."""

    name: str
    told: str
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class Piece:
    """``questions`` by mode, as :func:`derive.handout.asked` gives them; ``tied``: at the question's numbers there is
    a tie; ``steps`` of the derivation, and its ``proved`` and ``tested`` equations."""

    questions: Mapping[str, Mapping[str, Any]]
    answers: tuple[Answer, ...]
    tied: bool = False
    steps: int = 0
    equations: int = 0

    @property
    def work(self) -> int:
        """Steps of the derivation, and numbers to be computed."""
        return self.steps + sum(len(answer.numbers) for answer in self.answers)


def piece(task: Task) -> Piece:
    """Solve the card; raises :class:`DeriveError` as :func:`derive.solve` does, and for a refuted equation."""
    card = Card.parse(task.text, task.path)
    language = language_of(card, *task.spoken)
    solution = solve(card, usual_tie_rule=task.usual_tie_rule, language=language)
    refuse_failures(solution.report)
    item = Item(card, solution, language)
    wanted = items(solution)
    numeric = bool(solution.messages.module.values)
    equations = sum(len(solution.report.equations(v)) for v in (Verdict.PROVED, Verdict.TESTED))
    tied, answers = _computed(solution) if numeric else (False, tuple(_derived(solution)))
    return Piece({mode: asked(item, mode, task.detail) for mode in task.modes}, answers, tied,
                 sum(i.weight for i in wanted), equations)


def unsolved(task: Task) -> Piece:
    """A card with the solution that it already has."""
    card = Card.parse(task.text, task.path)
    item = Item(card, language=language_of(card, *task.spoken))
    return Piece({mode: asked(item, mode, task.detail) for mode in task.modes}, ())


def _computed(solution: Solution) -> tuple[bool, tuple[Answer, ...]]:
    """Whether there is a tie, and what the question asks for in numbers."""
    found = answered(Subject(solution.messages, solution.card.question if solution.card else None))
    assert found is not None
    table = scope_tables(solution.messages.module)[found.scope]
    number = _exact if found.kind is EXACT else _rounded
    return found.scope == "tied", tuple(
        Answer(inline(write(r.node, table, display=False)), in_lists(r.values, number),
               tuple(float(v) for _, v in sorted(r.values.items()))) for r in found.results)


def _derived(solution: Solution) -> Iterator[Answer]:
    """What it asks for in formulas, in the first form of each."""
    for item in items(solution):
        block = next((f for f in item.formulas if f.name != "between"), None)
        if block is None:
            continue
        left, _, right = inline(block.latex).partition(" = ")
        assert isinstance(block.expr, Rel)
        yield Answer(left, right)


def _exact(value: Any) -> str:
    return str(Fraction(value))


def _rounded(value: Any) -> str:
    return f"{float(value) + 0:.{DIGITS}f}"


def as_json(found: Piece) -> Any:
    """What a cache keeps of it."""
    return {"questions": _packed(found.questions), "tied": found.tied, "steps": found.steps,
            "equations": found.equations, "answers": [[a.name, a.told, a.numbers] for a in found.answers]}


def from_json(found: Any) -> Piece:
    """The inverse of :func:`as_json`."""
    answers = tuple(Answer(name, told, tuple(numbers)) for name, told, numbers in found["answers"])
    return Piece(_unpacked(found["questions"]), answers, found["tied"], found["steps"], found["equations"])


_LATEX = "latex:"  # a key that no page has


def _packed(value: Any) -> Any:
    """LaTeX is told apart from text, which a page escapes."""
    match value:
        case NoEscape():
            return {_LATEX: str(value)}
        case Mapping():
            return {key: _packed(v) for key, v in value.items()}
        case list() | tuple():
            return [_packed(v) for v in value]
    return value


def _unpacked(value: Any) -> Any:
    match value:
        case {"latex:": latex}:
            return NoEscape(cast(str, latex))
        case dict():
            return {key: _unpacked(v) for key, v in value.items()}
        case list():
            return [_unpacked(v) for v in value]
    return value
