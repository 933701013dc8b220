"""Work ends at its limits, alone; what the limits leave alone comes back in order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from derive.errors import CardError, DeriveError, LimitError, Problem
from derive.pool import Limits, results

SOON = Limits(seconds=0.2, megabytes=256)


def work(name: str) -> str:
    """What a card may do to its process."""
    if name == "loops":
        while True:
            pass
    if name == "too large":
        return "x" * (1 << 32)
    if name == "ends":
        os.abort()
    if name == "is wrong":
        raise CardError(Problem("wrong", "a.md", 3))
    if name == "fails":
        raise ZeroDivisionError("a\nbug")
    return name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("loops", "more than 0.2 s of processor time: stopped; "),
        ("too large", "the memory that a card may take is used up; "),
        ("ends", "stopped by SIGABRT, "),
        ("is wrong", "a.md:3: wrong"),
        ("fails", "unexpected ZeroDivisionError: a bug (--debug shows where)"),
    ],
)
def test_one_card_that_cannot_be_done(name: str, said: str) -> None:
    (error,) = results(work, [name], SOON)
    assert isinstance(error, DeriveError) and str(error).startswith(said)
    assert isinstance(error, LimitError) == (name in ("loops", "too large", "ends"))


def test_several_come_back_in_order_and_one_that_ends_takes_no_other_along() -> None:
    found = [*results(work, ["a", "loops", "b", "ends", "c", "is wrong"], SOON, jobs=2)]
    assert [f if isinstance(f, str) else type(f).__name__ for f in found] == \
        ["a", "LimitError", "b", "LimitError", "c", "CardError"]
    assert found[-1].problems == (Problem("wrong", "a.md", 3),)  # type: ignore[union-attr]


def test_without_a_limit_one_card_needs_no_process() -> None:
    assert [*results(lambda _: os.getpid(), [1, 2], Limits(0))] == [os.getpid()] * 2


def test_a_process_says_in_which_stage_it_was_stopped(tmp_path: Path) -> None:
    (error,) = results(_derive, ["x_i"], Limits(0.3))
    assert "s of processor time in the derivation: stopped; " in str(error)


def _derive(_: str) -> None:
    scope = {"__name__": "derive.calculus.rules"}
    exec("def rule():\n    while True: pass", scope)
    scope["rule"]()  # type: ignore[operator]
