"""What PyTorch finds of a row: its numbers, each line of its solution, and the first wrong line of each wrong one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.dataset.by_torch import Unknown, at_its_counterexample, at_its_numbers, numbers

CLOSE, APART = 1e-7, 1e-5
_POINTS = 12  # at one of which what is wrong is seen to be


def recomputed(row: Mapping[str, Any]) -> dict[str, int]:
    """How many numbers, right and wrong lines are as they are said to be, wrong ones at their counterexample, too.

    Lines in whole matrices stand ``apart``; what is not seen to be wrong is ``unseen``.
    """
    found = dict.fromkeys(("numbers", "right", "wrong", "there", "apart", "unseen"), 0)
    here = at_its_numbers(row)
    for part in ("forward", "backward", "derivatives"):
        for name, values in numbers(row, part).items():
            for at, value in values.items():
                assert abs(_known(here, name, at).item() - value) <= CLOSE * max(1, abs(value)), (row["id"], name, at)
                found["numbers"] += 1
    points = [here, *(at_its_numbers(row, random.Random(n)) for n in range(_POINTS))]
    for line in row["solution"]:
        if line["verdict"]:
            try:
                for point in points[:3]:
                    assert point.differs(line["latex"]) < CLOSE, (row["id"], line["latex"])
                found["right"] += 1
            except Unknown:
                found["apart"] += 1
    for wrong in row["wrong"]:
        line = wrong["solution"][wrong["line"]]
        assert line["verdict"] == "refuted"
        try:
            there = at_its_counterexample(row, wrong["counterexample"])
            if there is not None and there.differs(line["latex"]) > APART:
                found["there"] += 1
            found["wrong" if any(p.differs(line["latex"]) > APART for p in (*filter(None, [there]), *points)) else
                  "unseen"] += 1
        except Unknown:
            found["apart"] += 1
    return found


def _known(here: Any, name: str, at: tuple[int, ...]) -> Any:
    if "/" in name:
        top, wrt = name.split("/")
        of, _, place = top.partition("[")
        return here.slope(of, tuple(map(int, filter(None, place.rstrip("]").split(",")))), wrt, at)
    return here.entry(name, at)
