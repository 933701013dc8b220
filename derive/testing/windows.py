"""A backward function of a layer of windows, tried on small inputs; the likely mistake of a wrong one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from derive.calculus.one_window import windowed
from derive.solve import Solution

Index = tuple[int, ...]


def trials(solution: Solution) -> Iterator[dict[str, Any]]:
    """Inputs from small to larger: distinct entries, then ties, at sizes with and without a rest."""
    import numpy as np

    field = solution.module.receptive_field
    assert field is not None
    source = random.Random(3)
    fits = [[n for n in range(1, a.kernel_size + 3 * a.stride + 2) if a.output_size(n) > 0] for a in field.axes]
    shapes = sorted(itertools.product(*(sizes[:8] for sizes in fits)), key=lambda s: (int(np.prod(s)), s))
    for shape in shapes[:: max(1, len(shapes) // 24)]:
        out, cells = field.output_shape(shape), int(np.prod(shape))
        for kind in range(4):
            values = source.sample(range(-cells, cells), cells) if kind % 2 == 0 else source.choices((0, 1), k=cells)
            upstream = source.sample(range(1, 3 * int(np.prod(out)) + 2), int(np.prod(out)))
            yield {"x": np.array(values, float).reshape(shape), "upstream": np.array(upstream, float).reshape(out)}


def _expected(solution: Solution, arrays: Mapping[str, Any]) -> Any:
    wrt = solution.module.inputs[0]
    return solution.backward(wrt, upstream=arrays["upstream"], **{wrt: arrays["x"]})


def differs(function: Callable[[Any, Any], Any], solution: Solution, arrays: Mapping[str, Any],
             tolerance: float) -> str | None:
    """What is wrong with the function's answer, or None."""
    import numpy as np

    expected = _expected(solution, arrays)
    try:
        found = np.asarray(function(arrays["upstream"].copy(), arrays["x"].copy()))
    except Exception as error:  # whatever somebody's function raises is its answer
        return f"the function raised {type(error).__name__}: {error}"
    if found.shape != expected.shape:
        return f"the function returned shape {found.shape}, the input has shape {expected.shape}"
    return None if np.allclose(found, expected, rtol=0, atol=tolerance) else "the two differ"


def smaller(arrays: dict[str, Any], fails: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Entries put to 0, 1 or −1 one by one while the failure stays."""
    for name in ("upstream", *(n for n in arrays if n != "upstream")):
        for at in itertools.product(*map(range, arrays[name].shape)):
            for simple in (0.0, 1.0, -1.0):
                if arrays[name][at] == simple:
                    break
                trial = {**arrays, name: arrays[name].copy()}
                trial[name][at] = simple
                if fails(trial):
                    arrays = trial
                    break
    return arrays


def explain(function: Callable[[Any, Any], Any], solution: Solution, arrays: dict[str, Any], tolerance: float) -> str:
    import numpy as np

    what = differs(function, solution, arrays, tolerance)
    expected = _expected(solution, arrays)
    lines = [f"the backward message is wrong: {what}", f"x =\n{arrays['x']}", f"upstream =\n{arrays['upstream']}",
             f"expected (tie rule `{solution.module.tie_rule}`) =\n{expected}"]
    if what == "the two differ":
        found = np.asarray(function(arrays["upstream"].copy(), arrays["x"].copy()))
        lines += [f"found =\n{found}", f"likely mistake: {_mistake(solution, arrays, found, expected)}"]
    return "\n".join(lines)


def _mistake(solution: Solution, arrays: Mapping[str, Any], found: Any, expected: Any) -> str:
    from derive.numeric.arithmetic import FLOAT
    from derive.verify import mistakes
    from derive.verify.point import Point

    def entries(array: Any) -> dict[Index, Any]:
        return {at: array[at].item() for at in itertools.product(*map(range, array.shape))}

    (w,), wrt = windowed(solution.messages.module), solution.module.inputs[0]
    point = Point(w.layer, FLOAT, {wrt: entries(arrays["x"])}, {wrt: arrays["x"].shape}, {})
    point = point.with_upstream(entries(arrays["upstream"]))
    return mistakes.likely(entries(found), entries(expected), mistakes.messages(w, point))
