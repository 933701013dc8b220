"""The keys of the front matter that say what a layer is, and those that are written almost like one of them."""

from __future__ import annotations

from derive.card import Card
from derive.errors import CardError, Problem
from derive.layers import POOLINGS
from derive.statement import KEYS as STATED

# What changes a sheet or its marks. A note's own `id`, `title`, `course`, `type` and `tags` have many neighbours.
KEYS = ("layer", *STATED, *dict.fromkeys(key for spec in POOLINGS for key in spec.options), "code", "points",
        "difficulty")
_LONG = 8  # letters, from which on two of them may be wrong
# words that people and their programs use as keys of their own, close to one of ours
_WORDS = frozenset(
    "citation constraints contents core deletion donation duration form input input_file later mode node output_file "
    "player relation violation".split()
)  # fmt: skip


def refuse_near_misses(card: Card) -> None:
    """Raise :class:`CardError` for each key that is no key of ours and nearly one; all others are the user's."""
    problems = [
        Problem(f"unknown key `{key}`; did you mean `{meant}`?", card.path, card.key_line(key))
        for key in map(str, card.front_matter) if key not in KEYS and key.lower() not in _WORDS
        for meant in [k for k in KEYS if _near(key.lower(), k)][:1]
    ]  # fmt: skip
    if problems:
        raise CardError(*problems)


def _near(written: str, key: str) -> bool:
    """One letter is too many, missing, wrong or changed places with the next; of long words two."""
    most = 2 if min(len(written), len(key)) >= _LONG else 1
    return abs(len(written) - len(key)) <= most and distance(written, key) <= most


def distance(a: str, b: str) -> int:
    """How many letters must be put in, left out, changed or swapped with the next to make ``b`` of ``a``."""
    rows = [list(range(len(b) + 1))]
    for n, letter in enumerate(a, 1):
        row = [n]
        for m, other in enumerate(b, 1):
            row.append(min(rows[-1][m] + 1, row[-1] + 1, rows[-1][m - 1] + (letter != other)))
            if n > 1 and m > 1 and (letter, a[n - 2]) == (b[m - 2], other):
                row[m] = min(row[m], rows[-2][m - 2] + 1)
        rows.append(row)
    return rows[-1][-1]
