"""A listing executed: its functions against the derived formulas, at random and at tied inputs."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from derive.calculus.messages import Messages
from derive.errors import CardError, DeriveError, UnsupportedError, VerificationError
from derive.expr import Reduce, walk
from derive.listing.layer import function_name, targets
from derive.listing.scope import symbol
from derive.numbers import Numbers
from derive.records import dataclass
from derive.reductions import is_middle
from derive.verify.points.arrays import UPSTREAM, Arrays, tied_trials, trials

_TIMES = 5  # of each kind of input, at each size of windows
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
    tensors = [t for t in messages.letters if symbol(messages.module, t).axes]
    single = len(messages.module.equations) == 1 == len(tensors)
    field = messages.module.receptive_field
    rank = len(symbol(messages.module, tensors[0]).axes) if single else 0
    if single and (_median(messages) if field is None else len(field.axes) == rank):
        yield from _windows(messages)
        return
    yield from ((arrays, False) for arrays in trials(messages.module))
    try:
        yield from ((arrays, True) for arrays in tied_trials(messages.module))
    except DeriveError:
        return


def _windows(messages: Messages) -> Iterator[tuple[Arrays, bool]]:
    """Whole images with several windows and a rest, of distinct entries and of zeros and ones."""
    import numpy as np

    module, source = messages.module, random.Random(7)
    field = module.receptive_field
    if field is None:
        sizes = [[3, 5, 7, 9, 11]] * max(len(symbol(module, n).axes) for n in messages.letters)
    else:
        sizes = [[n for n in range(2, 60) if a.output_size(n) >= 2 and n > a.output_size(1)][:12] for a in field.axes]
    if not all(sizes):
        raise UnsupportedError("no size was found at which to try it")
    for which, kind, _ in itertools.product((2, -1), range(2), range(_TIMES)):
        shape = tuple(n[min(which + d, len(n) - 1)] if which > 0 else n[-1 - d % len(n)] for d, n in enumerate(sizes))
        cells = int(np.prod(shape))
        values = source.sample(range(-cells, cells), cells) if kind == 0 else source.choices((0, 1), k=cells)
        out = field.output_shape(shape) if field is not None else ()
        x = np.array(values, float).reshape(shape) / (1 if kind else max(1, cells // 4))
        upstream = np.array(source.choices(range(1, 50), k=int(np.prod(out))), float).reshape(out)
        letters = {n: x if symbol(module, n).axes else np.array(source.choice((0.5, 1.5, 2.0)))
                   for n in messages.letters}
        yield {**letters, UPSTREAM: upstream}, kind == 1


def _median(messages: Messages) -> bool:
    """The layer is the median of a whole input: of an odd number of entries only."""
    return any(isinstance(n, Reduce) and is_middle(n.op) for e in messages.module.equations for n in walk(e))
