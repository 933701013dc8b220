"""A number of a worked example's table that does not follow from those given is refuted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from derive.numeric.arithmetic import precision
from derive.sheet import Sheet, Table
from derive.verify.report import Check, Verdict
from derive.verify.sheet import verify
from derive.verify.tables import tabled
from tests.bank import solved

CARDS = ["huber", "maxout_unit"]  # other branches in columns; of three axes
_NUMBER = re.compile(r"\d+(?:/\d+)?")


def checked(card: str, sheet: Sheet) -> list[Check]:
    with precision():
        return list(tabled(sheet, {}, solved(card).messages.module))


@pytest.mark.parametrize("card", CARDS)
def test_the_numbers_of_a_table_follow(card: str) -> None:
    assert checked(card, solved(card).sheet) == []


@pytest.mark.parametrize("card", CARDS)
def test_each_other_number_that_follows_is_refuted(card: str) -> None:
    sheet, given = solved(card).sheet, solved(card).messages.module.given
    *_, table = [b for b in sheet.details if isinstance(b, Table)]  # of three axes what is given has a table of its own
    count = 0
    for n, row in enumerate(table.rows):
        if row[0].strip("$") in (*given, r"\kappa", r"\delta_y"):
            continue
        for place in range(1, len(row)):
            other = _NUMBER.sub(lambda m: f"{m[0]}1", row[place], count=1)
            rows = (*table.rows[:n], (*row[:place], other, *row[place + 1:]), *table.rows[n + 1:])
            wrong = replace(sheet, details=tuple(replace(b, rows=rows) if b is table else b for b in sheet.details))
            assert [c.verdict for c in checked(card, wrong)] == [Verdict.REFUTED], (row, other)
            count += 1
    assert count >= 4


def test_a_rounded_number_is_wrong_in_its_last_digit() -> None:
    solution = solved("softmax_cross_entropy")
    (table,) = [b for b in solution.sheet.details if isinstance(b, Table)]
    name, cell = table.rows[-1]
    last = max(m.end() for m in re.finditer(r"\.\d{4}", cell)) - 1
    for digit in ((int(cell[last]) + n) % 10 for n in (1, 9)):
        wrong = replace(table, rows=(*table.rows[:-1], (name, f"{cell[:last]}{digit}{cell[last + 1:]}")))
        sheet = replace(solution.sheet, details=tuple(wrong if b is table else b for b in solution.sheet.details))
        assert {c.name for c in verify(sheet, solution.messages).failures} == {"example_table"}
