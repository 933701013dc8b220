"""Points for the steps of an answer, which sum to those of the card, and what typical mistakes cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from derive.expr import Entry, Partial, Rel
from derive.handout import mistakes
from derive.sheet import Math
from derive.solve import Solution

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
    for words, kind, slip in mistakes.of(solution):
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
