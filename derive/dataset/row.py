"""A row: a layer, its question in several wordings, a right solution, numbers at a point, and wrong solutions.

All that it claims is the checker's: a line's verdict, a counterexample, which line is wrong first.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from itertools import count
from random import Random
from typing import Any, cast

from derive.calculus.kinks import settled
from derive.calculus.messages import Messages
from derive.calculus.one_window import derivation
from derive.card import Card
from derive.check import forget
from derive.collection import no_collection
from derive.dataset.draw import Drawn
from derive.dataset.judged import Told, judged
from derive.dataset.key import key
from derive.dataset.planted import Edge, Planted, edge_of, wrong_ways
from derive.dataset.steps import ASKED, Line, lines
from derive.dataset.wording import asked_of, wordings
from derive.errors import DeriveError, UnsupportedError, VerificationError
from derive.exposition.subject import Subject
from derive.exposition.worked import Result, worked
from derive.expr import Entry, Expr, Node, Num, Partial, Rel
from derive.layers.refused import refuse_layer
from derive.numeric.arithmetic import EXACT, precision
from derive.numeric.point import Undefined
from derive.question import module_of
from derive.verify.points.draw import arithmetic_of

WRONG = 2  # wrong solutions of a row, where so many are refuted
_TRIES = 5  # mistakes that are planted for them
_TOGETHER = 16  # rows, after which what went with them is collected
_rows = count(1)
_CANNOT = (DeriveError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, Undefined)


def row(drawn: Drawn) -> str:
    """The row of a layer as one line of JSON.

    Raises :class:`DeriveError` where the layer is not covered, or not all that the row would claim is proved or tested.
    """
    try:
        with no_collection():
            return _row(drawn)
    finally:
        forget()  # no layer comes twice
        if next(_rows) % _TOGETHER == 0:
            gc.collect()


def _row(drawn: Drawn) -> str:
    composed = drawn.module()
    stated = asked_of(drawn, composed)
    module = module_of(Card.parse(f"---\nid: {drawn.id}\n{stated.text}---\n# Question\nDerive.\n"))
    if key(module) != key(composed):
        raise VerificationError("the statement reads back as another layer")
    refuse_layer(module)
    messages = derivation(settled(module))
    solution = tuple(lines(messages))
    told = judged(stated.text, solution)
    if not told.right:
        raise VerificationError("a line of the solution is neither proved nor tested")
    asked = wordings(module, drawn)
    if not asked:
        raise UnsupportedError("no wording reads back as the layer")
    numbers = _numbers(messages)
    found = {
        "id": drawn.id, "key": key(composed), "layer": drawn.chain, "functions": list(stated.functions or ()),
        "questions": [{"wording": name, "text": text} for name, text in asked], "statement": stated.text,
        "solution": _lines(solution, told),
        "answer": [{"latex": line.latex, "verdict": verdict}
                   for line, verdict in zip(solution, told.verdicts, strict=True) if line.part == ASKED],
        "numbers": numbers, "wrong": list(_wrong(messages, solution, stated.text, drawn.source)),
    }
    return json.dumps(found, ensure_ascii=False)


def _lines(solution: Sequence[Line], told: Told) -> list[dict[str, Any]]:
    return [{"part": line.part, "rules": list(line.rules), "latex": line.latex, "verdict": verdict, "follows": follows}
            for line, verdict, follows in zip(solution, told.verdicts, told.follows, strict=True)]


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(messages: Messages) -> dict[str, Any]:
    """Given numbers and what follows from them by the formulas and, to the same values, by the evaluator."""
    subject = Subject(messages, "")
    module = subject.module
    kind = arithmetic_of((*module.equations, *(f.body for f in module.functions)))
    with precision():
        found = worked(subject, kind)
        if not found:
            raise UnsupportedError("no numbers are small enough, and off the kinks")
        point, results = found[0]
        delta = f"delta_{module.output}"
        given = [Result(Entry(name, ()), point.tensor(name), "given") for name in module.given]
        given += [Result(Entry(delta, ()), point.tensor(delta), "upstream")] if delta in point.values else []
        return {"exact": kind is EXACT, "tensors": [_tensor(r) for r in (*given, *results)]}


def _tensor(result: Result) -> dict[str, Any]:
    """The numbers of a tensor, row by row."""
    places = sorted(result.values)
    shape = [len({at[d] for at in places}) for d in range(len(places[0]))]
    return {"name": _name(result.node), "part": result.part, "shape": shape,
            "values": [_number(result.values[at]) for at in places]}


def _number(value: Any) -> float:
    return float(value) + 0.0


def _name(node: Expr) -> str:
    """``W``; ``delta_W`` for ∂L/∂W; ``y[0]/x`` for the derivative of y_0 by x."""
    match node:
        case Entry(tensor, _):
            return tensor
        case Partial(Entry(of, at), Entry(wrt, _)):
            place = ",".join(str(int(cast(Num, i).value)) for i in at)
            return f"{of}[{place}]/{wrt}" if at else f"{of}/{wrt}"
    raise UnsupportedError("a number of something without a name")


# --- wrong solutions --------------------------------------------------------------------------------------------------


def _wrong(messages: Messages, solution: Sequence[Line], header: str, pick: Random) -> Iterator[dict[str, Any]]:
    """Solutions that the checker refutes, each with one known mistake; what it does not refute is left out."""
    seen = {tuple(line.latex for line in solution)}
    made = 0
    for edge, before, number in _places(messages, solution, pick):
        if made == WRONG:
            return
        try:
            planted = Planted(given=messages.given, spare=messages.spare, edge=edge, number=number)
            mistaken = tuple(lines(planted, before))
            written = tuple(line.latex for line in mistaken)
            if len({*planted.made}) != 1 or written in seen:
                continue
            seen.add(written)
            told = judged(header, mistaken)
        except _CANNOT:
            continue
        found = _refuted(planted.made[0], mistaken, told)
        if found is not None:
            made += 1
            yield found


def _places(messages: Messages, solution: Sequence[Line], pick: Random) -> list[tuple[Edge, Node, int]]:
    """Where a mistake may be made, and the how-manieth: a few, of different kinds first."""
    found: dict[str, list[tuple[Edge, Node, int]]] = {}
    for line in solution:
        if not isinstance(line.node, Rel) or (edge := edge_of(before := line.node.terms[0])) is None:
            continue
        for number, (name, _) in enumerate(wrong_ways(before, line.node.terms[-1], messages.module)):
            found.setdefault(name, []).append((edge, before, number))
    names = pick.sample([*found], len(found))
    return [pick.choice(found[name]) for name in names][:_TRIES]


def _refuted(name: str, mistaken: Sequence[Line], told: Told) -> dict[str, Any] | None:
    """The wrong solution with its verdicts; None where it is not refuted, or a line of it is neither."""
    if not told.refuted or not {*told.verdicts} <= {"proved", "tested", "refuted", ""}:
        return None
    first, why = told.refuted[0]
    if not why.counterexample:
        return None
    return {"mistake": name, "likely": why.mistake or "", "line": first, "counterexample": why.counterexample,
            "solution": _lines(mistaken, told)}
