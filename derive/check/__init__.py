"""Check what others wrote: the solution on a card, equation by equation, against the layer of its question."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from derive.calculus.messages import Messages
from derive.card import Card
from derive.check.beside import Beside, Readings
from derive.check.claims import Item, Kind_, solution
from derive.check.report import Judged, Report
from derive.check.verdict import Found, Judge
from derive.errors import DeriveError
from derive.expr import Rel
from derive.module import Module
from derive.verify.report import Verdict

__all__ = ["Judged", "Report", "check"]


def check(card: Card | str | Path, text: str | None = None) -> Report:
    """A verdict on each equation of the card's solution, or of the ``text`` of an answer.

    Raises :class:`derive.errors.DeriveError` where the question is not understood, or a formula is not closed.
    """
    from derive.question import module_of

    read = card if isinstance(card, Card) else Card.read(card)
    module = module_of(read)
    body, first = (read.solution, read.solution_line or 1) if text is None else (text, 1)
    path = read.path if text is None else None
    try:
        return _report(body, first, read.question, module, path)
    except DeriveError as error:
        raise error.located(path, first) from None


@lru_cache(maxsize=64)
def _derived(module: Module) -> tuple[Module, Messages]:
    """The layer in the letters of its question, with those for extents where it is one maximum over windows."""
    from derive.calculus.kinks import settled
    from derive.calculus.one_window import derivation, windowed

    own = settled(module)
    messages = derivation(own)
    return messages.module if any(w.whole for w in windowed(own)) else own, messages


def _report(text: str, first: int, question: str, module: Module, path: str | None) -> Report:
    layer, messages = _derived(module)
    found = solution(text, first, question, layer)
    judge, alike = Judge(found.module, messages, found.table), Judge(found.square, messages, found.square_table)
    beside = Beside(text, first, found.items, (*messages.module.parameters, *messages.module.constants))
    checks, definitions = list[Judged](), list[Judged]()
    for number, item in enumerate(found.items):
        if item.kind is Kind_.DEFINITION:
            definitions.append(_judged(item, Found(Verdict.NOT_READ, "a definition"), definition=True))
        elif item.kind is Kind_.UNREAD and "=" in item.formula.latex:
            checks.append(_judged(item, Found(Verdict.NOT_READ, item.reason)))
        elif item.kind is Kind_.CLAIM:
            checks.append(_judged(item, _claimed(item, beside.readings(number), alike if item.square else judge)))
    return Report(tuple(checks), tuple(definitions), path)


def _claimed(item: Item, readings: Readings, judge: Judge) -> Found:
    """What holds where the text says that it holds; what fails wherever the text may mean it is refuted."""
    assert isinstance(item.node, Rel)
    if readings.denied:
        return Found(Verdict.NOT_READ, f"“{readings.denied}” beside it may deny it")
    found = judge(item.node, readings.first)
    if found.verdict != Verdict.REFUTED:
        return Found(Verdict.NOT_READ, item.square) if item.square else found
    doubt = item.doubt or readings.doubt or ("it may be a supposition" if item.supposes else "")
    for cond in readings.others:
        doubt = doubt or judge.saved(item.node, cond)
    return Found(Verdict.NOT_READ, f"it does not hold everywhere: {doubt}") if doubt else found


def _judged(item: Item, found: Found, definition: bool = False) -> Judged:
    return Judged(item.formula.line, item.formula.latex, found.verdict, found.reason, found.counterexample, definition)
