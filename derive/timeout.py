"""An end for work that takes too long, in whatever thread it runs; the command line ends a process (derive.pool)."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from derive.errors import LimitError


class _Late(BaseException):
    """Time is up: no ``except Exception`` on the way takes it for a failure of its own."""


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Raise :class:`LimitError` where the block has not ended after so many seconds by the clock.

    A library's own call is ended as it returns.  What was being computed is kept nowhere.
    """
    if seconds is None:
        yield
        return
    raised, here = ctypes.pythonapi.PyThreadState_SetAsyncExc, threading.get_ident()
    lock, ended = threading.Lock(), list[bool]()

    def late() -> None:
        with lock:
            if not ended:
                raised(ctypes.c_ulong(here), ctypes.py_object(_Late))

    timer = threading.Timer(seconds, late)
    timer.daemon = True
    try:
        timer.start()
        try:
            yield
        finally:
            with lock:
                ended.append(True)
            timer.cancel()
            raised(ctypes.c_ulong(here), None)  # one that is on its way comes too late
    except _Late:
        raise LimitError(f"more than {seconds:g} s: stopped; write fewer or smaller terms, windows and layers, or give "
                         "more time with `timeout=`") from None
