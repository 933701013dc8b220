"""Python's collector of cycles, kept still while much is made: each of its passes would visit all of it again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection(stays: bool = False) -> Iterator[None]:
    """No garbage collection meanwhile, unless it is off or frozen anyway.

    ``stays``: what is made holds no cycles and joins the oldest generation without a visit.
    """
    if not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if stays:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
