"""A listing executed: its functions against the derived formulas, at random and at tied inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from derive.calculus.messages import Messages
from derive.errors import CardError, DeriveError, UnsupportedError, VerificationError
from derive.listing.layer import function_name, targets
from derive.numbers import Numbers
from derive.records import dataclass
from derive.verify.points.arrays import UPSTREAM, Arrays, tied_trials, trials

_TOLERANCE = 1e-9
Values = list[Any]


@dataclass(frozen=True)
class Trial:
    """At how many inputs functions agreed with the derived formulas, how many with ties, shapes of the first letter."""

    points: int
    tied: int
    shapes: tuple[tuple[int, ...], ...]


def executed(source: str, messages: Messages) -> Trial:
    """The functions of a listing at random and at tied inputs.

    Raises :class:`VerificationError` with the input at which they do not.
    """
    import numpy as np

    name = function_name(messages)
    space: dict[str, Any] = {"np": np, "sliding_window_view": np.lib.stride_tricks.sliding_window_view}
    exec(compile(source, "<listing>", "exec"), space)
    count, ties, shapes = 0, 0, set()
    for arrays, tied, expected in _expected(messages):
        with np.errstate(all="ignore"):
            _compare(space[name], space[f"{name}_backward"], arrays, messages, expected)
        count, ties = count + 1, ties + tied
        shapes.add(arrays[messages.letters[0]].shape)
    if not count:
        raise UnsupportedError("no input was found on which to try it")
    return Trial(count, ties, tuple(sorted(shapes)))


@lru_cache(maxsize=1)  # each style of listing is compared with the same numbers
def _expected(messages: Messages) -> tuple[tuple[Arrays, bool, Values], ...]:
    """Inputs, whether they have ties, and the value and the gradients there by the derived formulas.

    What has the same shapes is evaluated at once, along a first axis.
    """
    import numpy as np

    numbers, batches = Numbers(messages.given), defaultdict[Any, list[tuple[Arrays, bool]]](list)
    for arrays, tied in inputs(messages):
        batches[tuple((n, a.shape) for n, a in arrays.items())].append((arrays, tied))
    found: list[tuple[Arrays, bool, Values]] = []
    for batch in batches.values():
        joined = {n: np.stack([arrays[n] for arrays, _ in batch]) for n in batch[0][0]}
        upstream = joined.pop(UPSTREAM)
        try:
            with np.errstate(all="ignore"):
                values = [numbers.forward(**joined),
                          *(numbers.backward(t, upstream=upstream, **joined) for t in targets(messages))]
        except CardError:  # such as the median of a window cut to an even number of entries
            continue
        found += [(arrays, tied, [v[n] for v in values]) for n, (arrays, tied) in enumerate(batch)]
    return tuple(found)


def _compare(forward: Callable[..., Any], backward: Callable[..., Any], arrays: Arrays, messages: Messages,
             expected: Values) -> None:  # fmt: skip
    """Raises :class:`VerificationError` where the functions give anything else."""
    letters = {n: a for n, a in arrays.items() if n != UPSTREAM}
    try:
        value = forward(*(a.copy() for a in letters.values()))
        found = backward(arrays[UPSTREAM].copy(), *(a.copy() for a in letters.values()))
    except Exception as error:
        raise VerificationError(f"the listing in code raised {type(error).__name__}: {error}") from None
    results = found if isinstance(found, tuple) else (found,)
    for what, right, got in zip(("value", *targets(messages)), expected, (value, *results), strict=True):
        _same(what, right, got, letters)


def _same(what: str, right: Any, got: Any, letters: Arrays) -> None:
    import numpy as np

    defined = ~np.isnan(right)
    if np.shape(got) != np.shape(right) or not np.allclose(
            np.asarray(got)[defined], np.asarray(right)[defined], rtol=_TOLERANCE, atol=_TOLERANCE):
        of = "the value" if what == "value" else f"the gradient of `{what}`"
        where = "; ".join(f"{n} = {np.asarray(a).tolist()}" for n, a in letters.items())
        raise VerificationError(f"the listing in code is wrong: {of} at {where}")


def inputs(messages: Messages) -> Iterator[tuple[Arrays, bool]]:
    """Random and tied inputs at two sizes or more, and whether each has ties."""
    yield from ((arrays, False) for arrays in trials(messages.module))
    try:
        yield from ((arrays, True) for arrays in tied_trials(messages.module))
    except DeriveError:
        return
