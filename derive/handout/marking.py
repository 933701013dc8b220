"""Points for the steps of an answer, which sum to those of the card, and what mistakes typical of the layer cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from derive.exposition.story import Story, whole
from derive.exposition.window_example import example_point
from derive.expr import Cases, Entry, Expr, Extremum, Fn, Mul, Num, Partial, Pow, Reduce, Rel, walk
from derive.records import dataclass
from derive.sheet import Math
from derive.solve import Solution
from derive.verify.mistakes import jacobians, messages, values_of
from derive.words import environment

if TYPE_CHECKING:
    from derive.solve import Solution

_SLIPS = ("the sign", "an inequality", "two indices", "the indices")


def of(solution: Solution) -> Iterator[tuple[str, str, bool]]:
    """(words, the kind of the step that it spoils, whether it is a slip)."""
    story = whole(solution.messages)
    yield from _of_formulas(solution) if story is None else _of_windows(story)


def _of_windows(story: Story) -> Iterator[tuple[str, str, bool]]:
    """The known mistakes that show in the worked example: where windows tile, no overlap can be lost."""
    w, point = story.windowed, example_point(story)
    pick = max if story.op == "max" else min
    windows = {out: values_of(w, point, out) for out in point.tensor(story.module.output)}
    wanted = {(out, pick(values, key=values.__getitem__)): 1 for out, values in windows.items() if values}
    wrong = [words for words, entries in jacobians(w, point) if dict(entries) != wanted]
    for words in wrong:
        yield words, "jacobian", words.startswith(_SLIPS)
    if "vjp" not in story.module.asked:
        return
    truth = point.tensor(f"delta_{story.wrt}")
    found = [words for words, values in messages(w, point)
             if words not in wrong and any(values.get(at, 0) != value for at, value in truth.items())]  # fmt: skip
    for words in dict.fromkeys(found):
        yield words, "message", words.startswith(_SLIPS)


def _of_formulas(solution: Solution) -> Iterator[tuple[str, str, bool]]:
    """What the layer's derivatives give occasion to."""
    say: Any = environment("en").get_template("mistakes.j2").module
    module = solution.messages.module
    targets = (*module.inputs, *module.parameters)
    after = [step for wrt in targets if isinstance(step := solution.messages.message(wrt).after, Expr)]
    nodes = [node for value in after for node in walk(value)]
    forward = [node for equation in module.equations for node in walk(equation)]
    if any(isinstance(n, Reduce) and n.op == "sum" for n in nodes):
        yield say.sum_lost(), "message", False
    if len(module.equations) > 1:
        yield say.factor_lost(), "message", False
    if any(isinstance(n, Cases | Extremum) or (isinstance(n, Reduce) and n.op in ("max", "min")) for n in forward):
        yield say.cases_wrong(), "jacobian", False
    sums = [n for n in forward if isinstance(n, Reduce) and n.op == "sum"]
    if any(isinstance(n, Fn) for total in sums for n in walk(total)):
        yield say.diagonal_only(), "jacobian", False
    if any(isinstance(n, Entry) and len(n.indices) > 1 for n in nodes):
        yield say.indices_swapped(), "message", True
    if any(isinstance(n, Mul) and any(isinstance(f, Num) and f.value < 0 for f in n.factors) for n in nodes):
        yield say.sign(), "jacobian", True
    if any(isinstance(n, Pow | Fn) for n in forward):
        yield say.inner_derivative(), "jacobian", False


UNSTATED = 5  # what a card that states no points is marked out of
HALF = Fraction(1, 2)
# what the parts of an answer weigh against each other
_WEIGHTS = {"forward": 1, "reasons": 1, "again": 1, "jacobian": 2, "message": 2}

_Group = tuple[tuple[str, ...], tuple[Math, ...], int]


@dataclass(frozen=True)
class Step:
    """What earns ``points``: of a ``kind``, by its formulas; ``letters`` are those of its left side."""

    kinds: tuple[str, ...]
    formulas: tuple[Math, ...]
    points: Fraction


@dataclass(frozen=True)
class Mistake:
    """What goes wrong, in words, and the points that it loses."""

    words: str
    cost: Fraction


@dataclass(frozen=True)
class Marking:
    """Steps whose points sum to ``points``."""

    points: int
    steps: tuple[Step, ...]
    mistakes: tuple[Mistake, ...]


def marking(solution: Solution, points: int | None) -> Marking:
    """The marking guide of an answer: its formulas in order, then the reasons for them.

    A mistake costs the points of the step that it spoils, a slip half of them.
    """
    total = UNSTATED if points is None else points
    parts: list[tuple[str, tuple[Math, ...]]] = [(kind, (formula,)) for kind, formula in _kinds(solution)]
    parts.append(("reasons", ()))
    steps = tuple(_shared(parts, total))
    costs = {kind: step.points for step in reversed(steps) for kind in step.kinds}
    found = []
    for words, kind, slip in of(solution):
        cost = costs.get(kind) or costs.get("jacobian") or costs.get("message") or Fraction(0)
        found.append(Mistake(words, _rounded(cost / 2) if slip else cost))
    return Marking(total, steps, tuple(sorted(found, key=lambda m: -m.cost)))


def _kinds(solution: Solution) -> list[tuple[str, Math]]:
    """The formulas of the answer that claim something, each with the kind of what it gives."""
    found: list[tuple[str, Math]] = []
    seen = set()
    for block in solution.sheet.answer:
        if not isinstance(block, Math) or block.definition:
            continue
        left = block.expr.terms[0] if isinstance(block.expr, Rel) else None
        kind = "forward"
        if isinstance(left, Partial):
            kind = "jacobian"
        elif isinstance(left, Entry) and left.tensor.startswith("delta_"):
            kind = "message"
        found.append(("again" if left is not None and left in seen else kind, block))
        seen.add(left)
    return found


def _shared(parts: Sequence[tuple[str, tuple[Math, ...]]], total: int) -> list[Step]:
    """The points shared out by weight, in whole points or else in halves; no step gets none.

    Where there are more parts than half points, neighbours share theirs.
    """
    groups: list[_Group] = [((kind,), formulas, _WEIGHTS[kind]) for kind, formulas in parts]
    while len(groups) > max(1, 2 * total):
        n = min(range(len(groups) - 1), key=lambda n: groups[n][2] + groups[n + 1][2])
        (k1, f1, w1), (k2, f2, w2) = groups[n : n + 2]
        groups[n : n + 2] = [((*k1, *k2), (*f1, *f2), w1 + w2)]
    unit = Fraction(1) if total >= len(groups) else HALF
    shares = apportioned([weight for _, _, weight in groups], int(total / unit))
    return [Step(kinds, formulas, unit * share) for (kinds, formulas, _), share in zip(groups, shares, strict=True)]


def apportioned(weights: Sequence[int], units: int) -> list[int]:
    """Whole numbers that sum to ``units``, in proportion to the weights; each at least 1 if there are enough."""
    if units < len(weights):
        return [1] * units + [0] * (len(weights) - units)
    rest = units - len(weights)
    exact = [Fraction(rest * weight, sum(weights)) for weight in weights]
    shares = [int(share) for share in exact]
    largest = sorted(range(len(weights)), key=lambda n: (shares[n] - exact[n], n))
    for n in largest[: rest - sum(shares)]:
        shares[n] += 1
    return [1 + share for share in shares]


def _rounded(points: Fraction) -> Fraction:
    """To half points, and no less than one of them."""
    return max(HALF, Fraction(round(points * 2), 2)) if points else points
