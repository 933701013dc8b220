"""The formulas of fixtures/layers.txt are read under the letters that they share."""

import pytest

from derive.expr import And, Entry, Fn, Given, In, Reduce, Rel, walk
from derive.notation import NotationError, gather, read, write
from derive.notation.shapes import MARKS
from derive.notation.symbols import Kind
from tests.notation.fixtures import Group, groups
from tests.notation.mutations import mutations

GROUPS = groups("layers.txt")


def _title(group: Group) -> str:
    return group.title


@pytest.mark.parametrize("group", GROUPS, ids=_title)
def test_reads(group):
    table = gather(group.formulas)
    for formula, expected in zip(group.formulas, group.expected, strict=True):
        if expected is None:
            with pytest.raises(NotationError, match="declares a shape"):
                read(formula, table)
            continue
        node = read(formula, table)
        assert write(node, table) == (expected.replace(r"\log", r"\ln") if table.ln else expected)
        assert read(expected, table) is node
        assert not any(isinstance(n, Fn) and n.name in MARKS for n in walk(node))


@pytest.mark.parametrize("group", GROUPS, ids=_title)
def test_every_entry_has_all_its_indices(group):
    table = gather(group.formulas)
    own = {p for s in table.of_kind(Kind.FUNCTION) for p in s.axes}  # a function's parameters are numbers
    for formula, expected in zip(group.formulas, group.expected, strict=True):
        for node in walk(read(formula, table)) if expected is not None else ():
            known = table.named(node.tensor) if isinstance(node, Entry) else None
            assert known is None or node.tensor in own or len(node.indices) == len(known.axes)


@pytest.mark.parametrize("group", GROUPS, ids=_title)
def test_a_changed_token_is_noticed(group):
    table = gather(group.formulas)
    survivors = []
    for expected in filter(None, group.expected):
        node = read(expected, table)
        for what, changed in mutations(expected):
            try:
                if read(changed, table) is node:
                    survivors.append((expected, what))
            except NotationError:
                continue
    assert not survivors


def test_definitions_are_statements():
    table = gather([r"s = w^T x + b, \quad y = \max(0, s)"])
    node = read(r"s = w^T x + b, \quad y = \max(0, s)", table)
    assert isinstance(node, And) and all(isinstance(c, Rel) for c in node.conds)


def test_a_range_behind_a_definition_is_a_condition():
    table = gather([r"y_k = x_k \text{ for } k = 1, \dots, K"])
    assert isinstance(read(r"y_k = x_k \text{ for } k = 1, \dots, K", table), Given)


def test_a_listed_set():
    table = gather([r"y \in \{-1, 1\}", "L = y s"])
    assert isinstance(read(r"y \in \{-1, 1\}", table), In)


def test_an_inner_product_is_a_sum():
    table = gather([r"s = w^\top x"])
    node = read(r"s = w^\top x", table)
    assert isinstance(node, Rel) and isinstance(node.terms[1], Reduce) and node.terms[1].op == "sum"


@pytest.mark.parametrize("name", ["x", "w", "q", "a", "theta"])
def test_no_letters_name_decides(name):
    """The same formula with any letter has the same ranks."""
    latex = rf"\{name}" if len(name) > 1 else name
    table = gather([rf"s = {latex}^\top v + b"])
    assert len(table.named(name).axes) == 1 and table.named("b").axes == ()


@pytest.mark.parametrize("name", ["W", "A", "Sigma"])
def test_a_capital_beside_a_letter_is_a_matrix(name):
    latex = rf"\{name}" if len(name) > 1 else name
    table = gather([rf"s = {latex}^\top v + b"])
    assert len(table.named(name).axes) == 2 and len(table.named("b").axes) == 1
