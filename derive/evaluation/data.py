"""An evaluation as plain lists and numbers: what ``--format json`` writes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from derive.evaluation import Evaluation, Jacobian, Tensor

Index = tuple[int, ...]


def data(found: Evaluation) -> dict[str, Any]:
    """All numbers, whole, by the names of the letters; ±∞ as the texts "Infinity" and "-Infinity"."""
    module = found.solution.module
    result: dict[str, Any] = {
        "card": module.key, "tie_rule": module.tie_rule,
        "given": _tensors(found.given), "upstream": finite(found.upstream.values.tolist()),
        "intermediate": _tensors(found.intermediates), "forward": _tensors((found.output,)),
    }  # fmt: skip
    if found.mask is not None:
        result["selected"] = [{"output": o, "inputs": i} for o, i in chosen(found.jacobians[0]).items()]
        result["mask"] = _tensors((found.mask,))
    result["jacobian"] = {j.wrt: _jacobian(j) for j in found.jacobians}
    result["gradients"] = _tensors(found.gradients)
    result["backward"] = _tensors(found.messages)
    return result


def chosen(jacobian: Jacobian) -> dict[Index, list[Index]]:
    """Output index → the input indices that its window passes on."""
    found: dict[Index, list[Index]] = {}
    for out, into, _ in jacobian.entries or ():
        found.setdefault(out, []).append(into)
    return found


def _tensors(tensors: Iterable[Tensor]) -> dict[str, Any]:
    return {t.name: finite(t.values.tolist()) for t in tensors}


def _jacobian(jacobian: Jacobian) -> dict[str, Any] | None:
    if jacobian.entries is None:
        return None
    entries = [{"output": o, "input": i, "value": finite(v)} for o, i, v in jacobian.entries]
    return {"shape": [list(shape) for shape in jacobian.shape], "entries": entries}


def finite(value: Any) -> Any:
    """A number or lists of numbers as JSON can hold them."""
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
