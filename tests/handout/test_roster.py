"""Names for exams, whoever has written them."""

from __future__ import annotations

import pytest

from derive.errors import CardError
from derive.handout.roster import Student, roster

READ = [
    ("Ada Lovelace\nKarel Čapek\n", [Student("Ada Lovelace"), Student("Karel Čapek")]),
    ("\ufeffname\nAda\n\n  Karel   Čapek \n", [Student("Ada"), Student("Karel Čapek")]),
    ("id;name\n17;Ada\n18;Karel\n", [Student("Ada", "17"), Student("Karel", "18")]),
    ("First name\tSurname\tID number\nAda\tLovelace\t17\n", [Student("Ada Lovelace", "17")]),
    ('name,id\n"Lovelace, Ada",17\n"two\nlines",18\n', [Student("Lovelace, Ada", "17"), Student("two lines", "18")]),
    ("Name,seat\r\nAda,3\r\n", [Student("Ada")]),
    ("name,id\nAda\n", [Student("Ada")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), READ)
def test_a_roster_is_read(text: str, found: list[Student]) -> None:
    assert roster(text, "names.csv") == found


WRONG = [
    ("", "names.csv: names nobody; write a name in each row"),
    ("name\n", "names.csv: names 0 people; a roster has 1 to 1,000"),
    ("name\n" + "Ada\n" * 1001, "names.csv: names 1,001 people; a roster has 1 to 1,000"),
    ("Ada,17\n", "names.csv:1: which column has the names? Write a first row with `name` above it, and `id` above the one with numbers"),
    ("name,id\nAda,1\n,2\n", "names.csv:3: there is no name in this row"),
    ("name\n陳大文\n", "names.csv:2: `陳大文` has letters that the exam's font lacks; write it in Latin ones"),
    ("name\n" + "x" * 99 + "\n", f"names.csv:2: `{'x' * 20} …` has 99 characters; a name has at most 80"),
    ('name\n"Ada\n', "names.csv: is not CSV: unexpected end of data"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_what_is_no_roster_is_one_line(text: str, said: str) -> None:
    with pytest.raises(CardError) as found:
        roster(text, "names.csv")
    assert str(found.value) == said
