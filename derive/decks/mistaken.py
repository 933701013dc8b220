"""The numbers that known mistakes give in place of those that are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from derive.check.judging.mistakes import changes
from derive.errors import DeriveError
from derive.exposition.numbers import Answered
from derive.exposition.story import whole
from derive.exposition.subject import LOSS, Subject
from derive.exposition.worked import Result
from derive.expr import Entry, Expr, Num, Partial, Reduce
from derive.numeric.arithmetic import precision
from derive.numeric.point import Index, Undefined
from derive.verify.mistakes import messages
from derive.verify.points.claims import Compiler

Values = Mapping[Index, Any]
Evaluate = Callable[[Expr], Values | None]
# by these a right side is multiplied, each entry by its own: what is wrong is what is right, divided by it
_MULTIPLIED = ("the sign is wrong", "a factor", "the upstream gradient is left out", "the chain is cut short")
_COMMON = re.compile("a factor [24] |.* stands where ")  # what fits many numbers is told last
_QUOTED = re.compile(r"`(∂?)(\w+)(?:/∂(\w+))?`")


def mistaken(subject: Subject, found: Answered) -> list[list[tuple[str, Values]]]:
    """Of each result (what went wrong, all numbers that this gives); none that are those of another or right.

    The letters in the words are formulas as the question writes them.
    """
    story = whole(subject.messages)
    compiler = Compiler.of(subject.messages, found.kind)
    made = []
    with precision():
        for result in found.results:
            if result.part == "update":
                candidates = _upwards(result, subject, found)
            elif story is None:
                candidates = _of_formulas(result, subject, found, compiler)
            else:
                candidates = messages(story.windowed, found.point) if result.part == "backward" else iter(())
            known = _apart(result.values, candidates)
            made.append([(_lettered(words, subject), values) for words, values in known])
    return made


def _lettered(words: str, subject: Subject) -> str:
    """``∂p/∂s`` in the names of tensors as a formula in the question's letters."""
    def latex(name: str) -> str:
        symbol = subject.module.table.named(name)
        return name if symbol is None else symbol.latex

    def formula(found: re.Match[str]) -> str:
        if found[3]:
            return rf"$\partial {latex(found[2])} / \partial {latex(found[3])}$"
        return f"${latex(found[2])}$"

    return _QUOTED.sub(formula, words)


def _apart(right: Values, candidates: Iterator[tuple[str, Values]]) -> list[tuple[str, Values]]:
    """Those that differ from what is right and from one another."""
    made: list[tuple[str, Values]] = []
    for words, values in candidates:
        if values.keys() == right.keys() and not any(_same(values, other) for other in (right, *(v for _, v in made))):
            made.append((words, values))
    return sorted(made, key=lambda pair: _COMMON.match(pair[0]) is not None)


def _same(one: Values, other: Values) -> bool:
    return all(abs(float(one[at]) - float(other[at])) < 1e-9 for at in one)


def _upwards(result: Result, subject: Subject, found: Answered) -> Iterator[tuple[str, Values]]:
    """θ + η ∂ℓ/∂θ in place of θ − η ∂ℓ/∂θ."""
    (theta,) = (found.point.tensor(u.wrt) for u in subject.module.updates if result.node == Entry(u.new, ()))
    yield "the sign of a term is wrong", {at: 2 * theta[at] - value for at, value in result.values.items()}


def _of_formulas(result: Result, subject: Subject, found: Answered, compiler: Compiler) -> Iterator[tuple[str, Values]]:
    known = _formula(result.node, subject)
    if known is None:
        return
    head, value, indices, place = known

    def evaluate(formula: Expr) -> Values | None:
        try:
            function = compiler.function(indices, formula)
            return {at: function(found.point, (*place, *at)) for at in result.values}
        except (DeriveError, Undefined, ArithmeticError, LookupError, ValueError, TypeError, NameError):
            return None  # another letter may have another shape, or no value there

    forward = result.part == "forward"
    for words, other in changes(head, value, subject.module):
        undone = next((said for said, back in changes(head, other, subject.module) if back == value), None)
        values = evaluate(other)
        if values is None:
            continue
        if undone is not None:  # made of the other, and so the other of it
            if not forward or not undone.startswith("a factor") and not _later(undone, head, subject):
                yield undone, values
        elif words.startswith(_MULTIPLIED) and not forward and not isinstance(other, Reduce):
            divided = _divided(result.values, values)
            if divided is not None:
                yield words, divided


def _later(words: str, head: Expr, subject: Subject) -> bool:
    """A letter in place of another is itself computed of what is to be computed here."""
    defined, found = subject.module.defined, _QUOTED.match(words)
    return found is not None and found[2] in defined[defined.index(cast(Entry, head).tensor):]


def _divided(right: Values, multiplied: Values) -> Values | None:
    """v / f of v and v f, entry by entry; None where f may be 0."""
    if any(right[at] and not multiplied[at] for at in right):
        return None
    return {at: v * v / multiplied[at] if v else v for at, v in right.items()}


def _formula(node: Expr, subject: Subject) -> tuple[Expr, Expr, tuple[Expr, ...], Index] | None:
    """What a result is and by which formula, its indices, and the places that the first of them have."""
    match node:
        case Entry(tensor, ()) if tensor in subject.module.defined:
            entry, value = subject.module.definition(tensor)
            return entry, value, entry.indices, ()
        case Entry(tensor, ()):
            return _gradient(tensor, subject)
        case Partial(Entry(of, _), Entry(wrt, ())) if of == LOSS:
            return _gradient(f"delta_{wrt}", subject)
        case Partial(Entry(of, at), Entry(wrt, ())):
            for target in subject.forward:
                top, under = cast(Entry, target.before.of), cast(Entry, target.before.wrt)
                if (top.tensor, under.tensor) == (of, wrt):
                    place = tuple(int(i.value) for i in at if isinstance(i, Num))
                    return target.before, target.value, (*top.indices, *under.indices), place
    return None


def _gradient(tensor: str, subject: Subject) -> tuple[Expr, Expr, tuple[Expr, ...], Index] | None:
    return next(((before, cast(Expr, step.after), before.indices, ()) for before, step in subject.gradients.items()
                 if before.tensor == tensor), None)
