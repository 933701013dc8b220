"""The rows of a seed in the order of their numbers, however many work on them, and each layer once."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import count

from derive import cluster, pool
from derive.dataset.draw import Drawn, drawn
from derive.dataset.journal import Journal
from derive.dataset.key import key
from derive.dataset.row import row
from derive.errors import DeriveError
from derive.pool import Limits

_AHEAD = 4  # layers for each process that are handed over before they are wanted
_CLUSTER = 200


def new_layers(seed: int, first: int, seen: set[str]) -> Iterator[tuple[Drawn, str]]:
    """Layers from a number on whose parts fit, and which are not like one before them."""
    known = {*seen}
    for number in count(first):
        layer = drawn(seed, number)
        try:
            found = key(layer.module())
        except DeriveError:
            continue
        if found not in known:
            known.add(found)
            yield layer, found


def fill(journal: Journal, seed: int, wanted: int, workers: int | str, limits: Limits) -> Generator[str, None, None]:
    """Go on until the journal has so many rows; what was drawn is told as it is noted.

    ``workers`` is a number of processes, or the address of a cluster; raises :class:`DeriveError` where that is lost.
    """
    if journal.rows >= wanted:
        return
    waiting = deque[tuple[Drawn, str]]()

    def tasks() -> Iterator[Drawn]:
        for layer, found in new_layers(seed, journal.last + 1, journal.seen):
            waiting.append((layer, found))
            yield layer

    done: Generator[str | DeriveError, None, None] = (
        cluster.results(row, tasks(), limits, workers, _CLUSTER) if isinstance(workers, str)
        else pool.streamed(row, tasks(), limits, workers, _AHEAD * workers))
    with closing(done):
        for result in done:
            layer, found = waiting.popleft()
            if isinstance(result, DeriveError):
                journal.left(layer.number, found, str(result).split("\n")[0])
            else:
                journal.add(layer.number, found, result)
            yield layer.chain
            if journal.rows >= wanted:
                return
