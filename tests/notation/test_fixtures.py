"""The formulas of fixtures/read.txt are read, those of fixtures/refuse.txt refused, those of open.txt open."""

import pytest

from derive.notation import NotationError, read, write
from tests.notation.fixtures import Case, cases
from tests.notation.mutations import mutations

READ, REFUSED, OPEN = cases("read.txt"), cases("refuse.txt"), cases("open.txt")


def _title(case: Case) -> str:
    return case.title


@pytest.mark.parametrize("case", READ, ids=_title)
def test_reads(case):
    table = case.table
    node = read(case.formula, table)
    assert write(node, table) == case.expected
    assert read(case.expected, table) is node


@pytest.mark.parametrize("case", REFUSED, ids=_title)
def test_refuses(case):
    with pytest.raises(NotationError) as caught:
        read(case.formula, case.table, line=7)
    message = str(caught.value)
    assert case.expected in message
    assert message.startswith("line 7: column ") and message.rstrip().endswith("^")


@pytest.mark.parametrize("case", OPEN, ids=_title)
def test_names_both_readings(case):
    with pytest.raises(NotationError) as caught:
        read(case.formula, case.table, line=7)
    assert all(part in str(caught.value) for part in case.expected.split("|"))


@pytest.mark.parametrize("case", READ, ids=_title)
def test_a_changed_token_is_noticed(case):
    table = case.table
    node = read(case.expected, table)
    survivors = []
    for what, changed in mutations(case.expected):
        try:
            if read(changed, table) is node:
                survivors.append(what)
        except NotationError:
            continue
    assert not survivors


def test_as_many_are_refused_as_read():
    assert len(READ) >= 60 and len(REFUSED) >= 60
