"""What is seen when many variants of a card are solved: which cannot be, which are alike, which give the game away."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import median

from derive.errors import DeriveError
from derive.handout.pieces import Answer, Piece
from derive.records import dataclass
from derive.variants import Variant

Numbers = tuple[int, ...]  # of variants


@dataclass(frozen=True)
class Spread:
    """Of what is asked for in ``name``: how many ``different`` answers, and its numbers from the least to the greatest.

    ``zeros``: the part of them that is 0.
    """

    name: str
    different: int
    least: float | None = None
    median: float | None = None
    greatest: float | None = None
    zeros: float = 0.0


@dataclass(frozen=True)
class Tried:
    """``count`` variants of a card; each field that is not a spread holds the numbers of the variants it is true of.

    ``unsolved`` by the reason; ``repeated``: an earlier one has the same choices; ``same_answer``: other choices, and
    the answers of an earlier one; ``all_zero`` and ``all_equal`` by what is asked for; ``tied``: the question's numbers
    tie; ``work``: steps of the derivation, and numbers to be computed.
    """

    card: str
    seed: int
    count: int
    unsolved: dict[str, Numbers]
    repeated: Numbers
    same_answer: Numbers
    all_zero: dict[str, Numbers]
    all_equal: dict[str, Numbers]
    tied: Numbers
    answers: tuple[Spread, ...]
    work: Spread

    @property
    def solved(self) -> int:
        return self.count - sum(map(len, self.unsolved.values()))


def tried(card: str, seed: int, found: Sequence[tuple[Variant, Piece | DeriveError]]) -> Tried:
    """What the variants and what was made of each show."""
    solved = [(variant, piece) for variant, piece in found if isinstance(piece, Piece)]
    unsolved: dict[str, Numbers] = {}
    for variant, error in found:
        if isinstance(error, DeriveError):
            reason = error.problems[0].message
            unsolved[reason] = (*unsolved.get(reason, ()), variant.number)
    repeated = _again((variant.number, variant.choices) for variant, _ in found)
    own = [(variant, piece) for variant, piece in solved if variant.number not in repeated]
    return Tried(
        card, seed, len(found), unsolved, repeated,
        _again((variant.number, piece.answers) for variant, piece in own),
        _told(solved, lambda numbers: not any(numbers)),
        _told(solved, lambda numbers: len(numbers) > 1 and len({*numbers}) == 1 and any(numbers)),
        tuple(variant.number for variant, piece in solved if piece.tied),
        tuple(_spread(name, answers) for name, answers in by_name(piece for _, piece in solved).items()),
        _of("work", [float(piece.work) for _, piece in solved], {piece.work for _, piece in solved}),
    )  # fmt: skip


def _again(keyed: Iterable[tuple[int, object]]) -> Numbers:
    """The numbers of those that an earlier one is like."""
    seen: set[object] = set()
    found = []
    for number, key in keyed:
        if key in seen:
            found.append(number)
        seen.add(key)
    return tuple(found)


def _told(solved: Iterable[tuple[Variant, Piece]], telling: Callable[[tuple[float, ...]], bool]) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    for variant, piece in solved:
        for answer in piece.answers:
            if answer.numbers and telling(answer.numbers):
                found[answer.name] = (*found.get(answer.name, ()), variant.number)
    return found


def by_name(pieces: Iterable[Piece]) -> dict[str, list[Answer]]:
    """The answers by what they are of."""
    found: dict[str, list[Answer]] = {}
    for piece in pieces:
        for answer in piece.answers:
            found.setdefault(answer.name, []).append(answer)
    return found


def _spread(name: str, answers: Sequence[Answer]) -> Spread:
    return _of(name, [n for answer in answers for n in answer.numbers], {answer.told for answer in answers})


def _of(name: str, numbers: Sequence[float], different: Collection[object]) -> Spread:
    if not numbers:
        return Spread(name, len(different))
    zeros = sum(not n for n in numbers) / len(numbers)
    return Spread(name, len(different), min(numbers), median(numbers), max(numbers), round(zeros, 4))
