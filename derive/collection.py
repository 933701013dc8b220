"""Python's collector of cycles, kept still while much is made: each of its passes would visit all of it again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_frozen: list[bool] = []  # all that there was has been put aside; to ask the collector is to have it counted, each time


def freeze() -> None:
    """Put all that there is aside: a collection would visit, and so copy, what the processes share."""
    gc.collect()
    gc.freeze()
    _frozen.append(True)


@contextmanager
def no_collection(stays: bool = False) -> Iterator[None]:
    """No garbage collection meanwhile, unless it is off or frozen anyway.

    ``stays``: what is made holds no cycles and joins the oldest generation without a visit.
    """
    if _frozen or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if stays and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()
