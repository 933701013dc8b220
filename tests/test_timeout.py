"""Work from Python ends after the time that it is given, and nothing of it is left behind."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

import derive
from derive.errors import LimitError
from derive.timeout import within


def _ends() -> str:
    try:
        with within(0.05):
            while True:
                with suppress(Exception):
                    sum(range(1000))
    except LimitError as error:
        return str(error)


def test_a_block_ends_in_the_main_thread_and_in_others() -> None:
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(_ends()))
    thread.start()
    said.append(_ends())
    thread.join()
    assert len(said) == 2 and all(words.startswith("more than 0.05 s: stopped; ") for words in said)


def test_what_ends_in_time_is_as_without_a_limit() -> None:
    with within(60), within(None):
        assert derive.solve(formula=r"y_i = x_i^2", timeout=60).report.ok
    with pytest.raises(LimitError, match=r"more than 0\.0001 s"):
        derive.solve(formula=r"y_k = \max_j (W_{kj} x_j + b_k)", timeout=0.0001)
    with pytest.raises(ZeroDivisionError), within(60):
        _ = 1 / 0
