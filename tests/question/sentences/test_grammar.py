"""Rows are read when their names are asked for: in any order the same, and each name that a row names is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from derive.question.sentences.grammar import Choice, Grammar, Ref, Rows, grammar
from derive.question.sentences.meaning import KINDS

SMALL = """
# a comment before the first name
order:   # and one behind it
  [please] {verb:v} {what+}      => asks v what
  MAYBE MAYBE {what}             => asks what

verb:
  derive/find
MAYBE:
  [kindly] MAYBE
  [now]
"""
MORE = """
what:
  {thing} # behind a name
  [the] (gradient | message)     => words
thing:
  {what} of it
order:
  so be it
"""


def refs(pieces: tuple[Any, ...]) -> Iterator[Ref]:
    for piece in pieces:
        if isinstance(piece, Choice):
            for way in piece.ways:
                yield from refs(way)
        elif isinstance(piece, Ref):
            yield piece


def test_rows_of_one_name_in_several_files_follow_each_other() -> None:
    rows = Grammar([SMALL, MORE])
    assert list(rows) == ["order", "verb", "MAYBE", "what", "thing"] and len(rows["order"]) == 3
    assert [(row.action, row.arguments) for row in rows["order"]] == [("asks", ("v", "what")), ("asks", ("what",)), ("", ())]


@pytest.mark.parametrize("first", ["order", "MAYBE", "what", "thing"])
def test_what_a_name_may_begin_with_does_not_depend_on_what_was_asked_before(first: str) -> None:
    rows = Rows(Grammar([SMALL, MORE]), {})
    rows.begins(first)
    assert rows.begins("order").words == {"please", "derive", "find", "kindly", "now", "the", "gradient", "message", "so"}
    assert rows.begins("thing").words == {"the", "gradient", "message"}
    assert rows.empty == {"MAYBE"} and not rows.begins("order").empty and rows.begins("MAYBE").empty


def test_each_name_that_a_row_names_is_there() -> None:
    rows = grammar("en")
    named = {ref.name for own in rows.values() for row in own for ref in refs(row.pieces)}
    assert named <= {*rows, *dict(KINDS)}


@pytest.mark.parametrize("backwards", [False, True])
def test_all_names_of_the_rows_have_a_beginning(backwards: bool) -> None:
    own = Rows(grammar("en"), dict(KINDS))
    found = {name: own.begins(name) for name in sorted(own.rows, reverse=backwards)}
    assert all(first.words or first.kinds for first in found.values())
    assert {name for name, first in found.items() if first.empty} == own.empty
