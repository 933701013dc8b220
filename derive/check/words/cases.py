"""Cases of a layer that words name: «on the diagonal», «for inactive units», «a positive example»."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from derive.axes import axes
from derive.check.judging.equalities import of_values
from derive.check.reading.worded import rows
from derive.expr import (
    ONE,
    ZERO,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    In,
    Listed,
    Node,
    Num,
    Partial,
    Rel,
    eq,
    free_indices,
    subst,
    walk,
)
from derive.module import Module
from derive.records import dataclass

_PAIR = 2  # indices
_OPPOSITE = {"<": ">", ">": "<", "≤": ">", "≥": "<"}
_NUMBERS = {"one": 1, "zero": 0, "1": 1, "0": 0}


@dataclass(frozen=True)
class Case:
    """Where words name a case, and which."""

    start: int
    stop: int
    name: str


_INPUTS, _UNITS = "SAME OTHER POSITIVE NEGATIVE SMALL LARGE".split(), ("INACTIVE", "ACTIVE")


@cache
def _core() -> re.Pattern[str]:
    """What each of the phrases has in it."""
    return re.compile("|".join(rows(f"CASE_{name}") for name in (*_INPUTS, *_UNITS, "CLASS", "LABEL")), re.IGNORECASE)


@cache
def _phrases() -> tuple[re.Pattern[str], ...]:
    opens = (rf"(?:\b(?:{rows('CLAIM_WHERE')}|in|to|and|of|that)\s+){{0,4}}"
             r"(?:(?:all|any|every|both|each|the|an?)\s+){0,2}")
    of_inputs = "|".join(f"(?P<{n}>{rows(f'CASE_{n}')})" for n in _INPUTS)
    of_units = "|".join(f"(?P<{n}>{rows(f'CASE_{n}')})" for n in _UNITS)
    number = r"(?P<number>one|zero|1|0|\$\s*-?[01]\s*\$)"
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
        rf"{opens}(?:{of_inputs})",
        rf"{opens}(?:{of_units})\s+{rows('CASE_UNIT')}",
        rf"{opens}{rows('CASE_UNIT')}\s+(?:[$\0]+\s+)?(?:is|are|be)\s+(?:{of_units})(?!\s+[a-z])",
        rf"{opens}(?P<LABEL>positive|negative)\s+{rows('CASE_CLASS')}",
        rf"{opens}{rows('CASE_CLASS')}\s+(?:is|are|be)\s+(?P<LABEL>positive|negative)(?!\s+[a-z])",
        rf"{opens}{rows('CASE_LABEL')}\s+(?:is|of|be|equals|being)\s+(?P<VALUE>{number})"))


def cases(text: str) -> tuple[Case, ...]:
    """The cases that a text names, in order; a longer name before those in it."""
    found = list[Case]()
    for pattern in _phrases() if _core().search(text) is not None else ():
        for m in pattern.finditer(text):
            name = next(n for n, words in m.groupdict().items() if words and n.isupper())
            said = (m[name] if name in ("LABEL", "VALUE") else name).strip("$ ").upper()
            if name == "LABEL":
                said = {"POSITIVE": "FIRST_CLASS", "NEGATIVE": "SECOND_CLASS"}[said]
            found.append(Case(m.start(), m.end(), said))
    inside = {c for c in found for other in found if c is not other and other.start <= c.start and c.stop <= other.stop
              and (c.start, c.stop) != (other.start, other.stop)}
    return tuple(sorted((c for c in found if c not in inside), key=lambda c: c.start))


def condition_of(case: str, link: Rel, module: Module) -> Cond | None:
    """The condition that a case is beside an equation of the layer; None where the layer has no such case."""
    return _MEANT[case](link, module)


def _indices(link: Rel, module: Module) -> tuple[Idx, Idx] | None:
    """i and j of ∂y_i/∂x_j"""
    head = link.terms[0]
    if not isinstance(head, Partial) or not isinstance(head.of, Entry) or not isinstance(head.wrt, Entry):
        return None
    found = (*head.of.indices, *head.wrt.indices)
    i, j = found if len(found) == _PAIR else (None, None)
    return (i, j) if isinstance(i, Idx) and isinstance(j, Idx) and len(head.of.indices) == 1 else None


def _same(link: Rel, module: Module) -> Cond | None:
    pair = _indices(link, module)
    return eq(*pair) if pair is not None else None


def _other(link: Rel, module: Module) -> Cond | None:
    pair = _indices(link, module)
    return Rel(pair, ("≠",)) if pair is not None and pair[0] is not pair[1] else None


def _sign(op: str) -> Callable[[Rel, Module], Cond | None]:
    """Of what an equation differentiates by, where the layer compares that with 0."""
    def of(link: Rel, module: Module) -> Cond | None:
        head = link.terms[0]
        about = head.wrt if isinstance(head, Partial) else head.args[0] if isinstance(head, Fn) and head.args else None
        if isinstance(head, Entry) and head.tensor.startswith("delta_"):
            about = Entry(head.tensor.removeprefix("delta_"), head.indices)
        return Rel((about, ZERO), (op,)) if isinstance(about, Entry) else None

    return of


def _compared(module: Module) -> Iterator[Rel]:
    """What the layer compares: z_i > 0 for max(0, z_i), also within functions that it applies."""
    bodies: list[Expr] = [e.terms[1] for e in module.equations if isinstance(e, Rel)]
    for applied in [n for body in bodies for n in walk(body) if isinstance(n, Fn)]:
        function = module.function(applied.name)
        if function is not None and len(function.parameters) == len(applied.args):
            bodies.append(function.at(applied.args))
    for node in (n for body in bodies for n in walk(body)):
        if isinstance(node, Extremum) and len(node.args) == _PAIR and ZERO in node.args and node.op == "max":
            yield Rel((next(a for a in node.args if a is not ZERO), ZERO), (">",))
        elif isinstance(node, Rel) and len(node.ops) == 1 and of_values(node):
            yield node


def _rectifier(active: bool) -> Callable[[Rel, Module], Cond | None]:
    def of(link: Rel, module: Module) -> Cond | None:
        arguments = {rel.terms[0] for rel in _compared(module) if rel.terms[1] is ZERO}
        argument = arguments.pop() if len(arguments) == 1 else None
        own = _as_in(argument, link, module) if isinstance(argument, Entry) else None
        return Rel((own, ZERO), (">" if active else "<",)) if own is not None else None

    return of


def _as_in(entry: Entry, link: Rel, module: Module) -> Entry | None:
    """The entry with the indices of an equation that run along its axes; None where several or none do."""
    found, mapping = axes(module), dict[Node, Node]()
    letters = [(n.tensor.removeprefix("delta_"), d, i) for n in walk(link) if isinstance(n, Entry)
               for d, i in enumerate(n.indices) if isinstance(i, Idx) and i in free_indices(link)]
    for d, i in enumerate(entry.indices):
        here = {j for t, e, j in letters if found.of(t, e) == found.of(entry.tensor, d)}
        if not isinstance(i, Idx) or len(here) != 1:
            return None
        mapping[i] = here.pop()
    return subst(entry, mapping)


def _bounded(small: bool) -> Callable[[Rel, Module], Cond | None]:
    """|r| < c, where the layer compares one |r| with a bound."""
    def of(link: Rel, module: Module) -> Cond | None:
        told = {(inside, bound) for rel in _compared(module) for inside, bound in _sized(rel)}
        if len(told) != 1:
            return None
        (inside, bound), = told
        return Rel((inside, bound), ("<" if small else ">",)) if not free_indices(inside) - free_indices(link) else None

    return of


def _sized(rel: Rel) -> Iterator[tuple[Expr, Expr]]:
    """|r| and c of |r| ≤ c"""
    a, b = rel.terms
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Fn) and one.name == "abs" and isinstance(other, (Num, Entry)):
            yield one, other


def _label(value: int | None, first: bool = True) -> Callable[[Rel, Module], Cond | None]:
    """Of the only number that is one of two labels, or of the only target."""
    def of(link: Rel, module: Module) -> Cond | None:
        lists = {f.element: {i.value for i in f.set.items if isinstance(i, Num)} for f in module.facts
                 if isinstance(f, In) and isinstance(f.element, Entry) and isinstance(f.set, Listed)}
        labels = [e for e, values in lists.items() if not e.indices and len(values) == _PAIR and 1 in values]
        if value is None:
            found = (max if first else min)(lists[labels[0]]) if len(labels) == 1 else None
            return eq(labels[0], Num(found)) if found is not None else None
        symbols = [s for s in map(module.table.named, module.constants) if s is not None]
        targets = labels or [Entry(s.name, ()) for s in symbols if not s.axes]
        return eq(targets[0], ONE if value else ZERO) if len(targets) == 1 else None

    return of


_MEANT: Mapping[str, Callable[[Rel, Module], Cond | None]] = {
    "SAME": _same, "OTHER": _other, "POSITIVE": _sign(">"), "NEGATIVE": _sign("<"),
    "ACTIVE": _rectifier(True), "INACTIVE": _rectifier(False), "SMALL": _bounded(True), "LARGE": _bounded(False),
    "FIRST_CLASS": _label(None), "SECOND_CLASS": _label(None, first=False),
    "ONE": _label(1), "1": _label(1), "ZERO": _label(0), "0": _label(0),
}
