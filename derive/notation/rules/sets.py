r"""Windows as lists, Ω(k) = {2k, 2k + 1}, {2k, …, 2k + 3}, and products of such: all coordinates between two ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.rules.dots import Terms, less, terms

_ONE: Terms = Counter({(): 1})
_Ends = tuple[trees.Run, trees.Run]


def windows(formulas: list[Formula]) -> list[Formula]:
    r"""\Omega(k) = \{2k, 2k + 1\} as \{i : 2k \le i \le 2k + 1\}, of the letters that are in \Omega elsewhere."""
    members = dict(_members(formulas))

    def defined(part: trees.Run) -> trees.Run:
        two = trees.sides(part)
        head: trees.Run = two[0] if len(two) == 2 and len(two[0]) == 2 else ()
        letters = members.get(str(head[0]), ()) if head and trees.called(head, 0) is not None else ()
        ends = _ends(two[1]) if letters else None
        if ends is None or len(ends) != len(letters):
            return part
        at = head[0]
        inner = (_element(letters, at), trees.sign("COLON", ":", at), *_between(letters, ends, at))
        return (*head, trees.equals(at), tr.group(inner, "LSET"))

    return trees.in_statements(defined)(formulas) if members else formulas


def products(formulas: list[Formula]) -> list[Formula]:
    r"""(i, j) \in \{2k, 2k + 1\} \times \{2l, 2l + 1\} as 2k \le i \le 2k + 1, 2l \le j \le 2l + 1."""
    def ranges(run: trees.Run) -> trees.Run:
        letters = _letters(run[0]) if len(run) > 2 and tr.is_token(run[1], "IN") else ()
        ends = _ends(run[2:]) if len(letters) > 1 else None
        return run if ends is None or len(ends) != len(letters) else tuple(_between(letters, ends, run[0]))

    return trees.changed(formulas, lambda tree: trees.mapped(tree, ranges))


def _members(formulas: list[Formula]) -> Iterator[tuple[str, tuple[str, ...]]]:
    r"""Ω and i, j of (i, j) \in Ω(k, l)."""
    for formula in formulas:
        for run in trees.all_runs(formula.tree or ()):
            for n, item in enumerate(run):
                if n > 1 and tr.is_token(run[n - 1], "IN") and trees.called(run, n) is not None and (
                        letters := _letters(run[n - 2])):
                    yield str(item), letters


def _letters(item: tr.Item) -> tuple[str, ...]:
    """i; i, j of (i, j)"""
    parts = tr.split(item.items, "COMMA") if tr.is_group(item, "LPAREN") else [[item]]
    plain = all(len(part) == 1 and tr.is_token(part[0], "NAME") for part in parts)
    return tuple(str(part[0]) for part in parts) if plain else ()


def _element(letters: Sequence[str], at: tr.Item) -> tr.Item:
    names = [i for c in letters for i in (trees.sign("COMMA", ",", at), trees.name(c, at))][1:]
    return names[0] if len(letters) == 1 else tr.group(tuple(names), "LPAREN")


def _between(letters: Sequence[str], ends: Sequence[_Ends], at: tr.Item) -> list[tr.Item]:
    """first ≤ i ≤ last, of each letter"""
    upto, comma = trees.sign("REL", "≤", at), trees.sign("COMMA", ",", at)
    return [i for letter, (first, last) in zip(letters, ends, strict=True)
            for i in (comma, *first, upto, trees.name(letter, at), upto, *last)][1:]


def _ends(run: trees.Run) -> list[_Ends] | None:
    r"""The least and the largest of each \{…\} of a product; None where one is no list of one after the other."""
    found = [_listed(factor[0].items) if len(factor) == 1 and tr.is_group(factor[0], "LSET") else None
             for factor in tr.split(run, "TIMES")]
    return None if None in found else [ends for ends in found if ends is not None]


def _listed(items: tr.Items) -> _Ends | None:
    """2k and 2k + 3 of 2k, 2k + 1, …, 2k + 3"""
    parts = [tuple(part) for part in tr.split(items, "COMMA")]
    dots = [n for n, part in enumerate(parts) if len(part) == 1 and tr.is_token(part[0], "DOTS")]
    if len(parts) < 2 or dots not in ([], [len(parts) - 2]) or not all(parts) or tr.has(items, "REL", "COLON", "MID"):
        return None
    values = [terms(part) for n, part in enumerate(parts) if n not in dots]
    steps = [less(b, a) if a is not None and b is not None else Counter() for a, b in pairwise(values)]
    last = steps.pop() if dots else _ONE
    return (parts[0], parts[-1]) if (any(last) or last > Counter()) and all(step == _ONE for step in steps) else None
