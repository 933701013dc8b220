"""Frozen records are what frozen dataclasses of the standard library are."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from derive.records import dataclass


@dataclass(frozen=True)
class Ours:
    """A record."""

    name: str
    size: int = 2
    known: dict[str, int] = field(default_factory=dict, hash=False)
    note: str = field(default="", compare=False, repr=False)
    inner: list[int] = field(init=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        self.inner.append(self.size)


@dataclasses.dataclass(frozen=True)
class Theirs:
    """A dataclass."""

    name: str
    size: int = 2
    known: dict[str, int] = field(default_factory=dict, hash=False)
    note: str = field(default="", compare=False, repr=False)
    inner: list[int] = field(init=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        self.inner.append(self.size)


@dataclass(frozen=True)
class Below(Ours):
    """A record with more."""

    more: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return "below"


@dataclass(frozen=True)
class Empty:
    """Nothing."""


@pytest.mark.parametrize("made", [Ours, Theirs], ids=["ours", "theirs"])
def test_both_are_alike(made: Any) -> None:
    a = made("a")
    assert (a.size, a.known, a.inner) == (2, {}, [2])
    assert a == made("a", 2, note="other") and hash(a) == hash(made("a", note="other"))
    assert a != made("b") and a != made("a", known={"k": 1}) and a != "a" and a.known is not made("a").known
    assert replace(a, size=3) == made("a", size=3) and replace(a, size=3).inner == [3]
    assert repr(a) == f"{made.__name__}(name='a', size=2, known={{}}, inner=[2])"
    assert pickle.loads(pickle.dumps(a)) == a
    assert made.__match_args__ == ("name", "size", "known", "note")
    for wrong in (lambda: setattr(a, "size", 3), lambda: delattr(a, "size")):
        with pytest.raises(FrozenInstanceError):
            wrong()
    for arguments in ((), ("a", 1, {}, "", []), ()):
        with pytest.raises(TypeError):
            made(*arguments)
    with pytest.raises(ValueError):
        replace(a, inner=[])


def test_a_record_of_a_record() -> None:
    below = Below("a", more=(1,))
    assert (below.name, below.more, below.inner, repr(below)) == ("a", (1,), [2], "below")
    assert below != Below("a") and below != Ours("a") and hash(below) == hash(Below("a", more=(1,)))
    assert Empty() == Empty() and hash(Empty()) == hash(Empty()) and repr(Empty()) == "Empty()"
