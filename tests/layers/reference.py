"""Every pooling layer once more, window by window in PyTorch: the oracle for values and gradients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from derive.module import Module
from derive.receptive_field import AdaptiveAxis, Axis, WindowAxis

Options = dict[str, Any]


def axis_windows(axis: Axis, n: int) -> list[tuple[list[int], int]]:
    """(the cells of each window, how many cells it has in the padded input), by definition."""
    if isinstance(axis, AdaptiveAxis):
        m = axis.outputs
        cells = [[i for i in range(n) if k * n < (i + 1) * m and i * m < (k + 1) * n] for k in range(m)]
        return [(c, len(c)) for c in cells]
    assert isinstance(axis, WindowAxis)
    found = []
    for k in range(axis.output_size(n)):
        all_cells = [axis.stride * k - axis.padding + axis.dilation * a for a in range(axis.kernel_size)]
        found.append(([i for i in all_cells if 0 <= i < n], sum(i < n + axis.padding_after for i in all_cells)))
    return found


def windows(module: Module, shape: tuple[int, ...]) -> tuple[tuple[int, ...], list[tuple[list[tuple[int, ...]], int]]]:
    """(output shape, (cells, padded count) of each window in row-major order)."""
    if module.receptive_field is None:
        cells = list(itertools.product(*map(range, shape)))
        return (), [(cells, len(cells))]
    per_axis = [axis_windows(a, n) for a, n in zip(module.receptive_field.axes, shape, strict=True)]
    found = []
    for parts in itertools.product(*per_axis):
        count = 1
        for _, c in parts:
            count *= c
        found.append((list(itertools.product(*(cells for cells, _ in parts))), count))
    return tuple(map(len, per_axis)), found


def reductions() -> dict[str, Callable[[Any, int, Options], Any]]:
    """z (the entries of a window), its padded count, the options → the value, in PyTorch."""
    import torch

    def average(z: Any, count: int, o: Options) -> Any:
        divisor = o.get("divisor_override") or (count if o.get("count_include_pad", True) else len(z))
        return z.sum() / divisor

    def norm(z: Any, count: int, o: Options) -> Any:
        p = float(o.get("norm", 2))
        total = (z.abs() ** p).sum()
        return total ** (1 / p) if total > 0 else total * 0

    def sharp(o: Options) -> float:
        return float(o.get("sharpness", 1))

    return {
        "max_pool": lambda z, c, o: z.max(), "min_pool": lambda z, c, o: z.min(),
        "avg_pool": average, "sum_pool": lambda z, c, o: z.sum(), "lp_pool": norm,
        "lse_pool": lambda z, c, o: torch.logsumexp(sharp(o) * z, 0) / sharp(o),
        "lme_pool": lambda z, c, o: (torch.logsumexp(sharp(o) * z, 0) - math.log(len(z))) / sharp(o),
        "softmax_pool": lambda z, c, o: (z * torch.softmax(sharp(o) * z, 0)).sum(),
        "max_abs_pool": lambda z, c, o: z.abs().max(), "median_pool": lambda z, c, o: z.median(),
    }


def reference(module: Module, x: Any, upstream: Any, options: Options) -> tuple[Any, Any]:
    """(forward, backward) of a layer of the catalogue at x (float64, no batch axes), where no window is empty."""
    import torch

    name = str(module.name).removeprefix("global_").removeprefix("adaptive_")
    shape, cells = windows(module, x.shape)
    t = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    reduce = reductions()[name]
    values = torch.stack([reduce(torch.stack([t[c] for c in own]), count, options) for own, count in cells])
    (values * torch.tensor(upstream, dtype=torch.float64).reshape(-1)).sum().backward()
    assert t.grad is not None
    return values.detach().numpy().reshape(shape), t.grad.numpy()
