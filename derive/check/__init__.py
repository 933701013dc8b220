"""Check what others wrote, a solution or an answer: each equation against the layer of the question."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from derive.calculus.messages import Messages
from derive.card import Card
from derive.check.answered import Asked, Given, answers, asked
from derive.check.counting import (
    Shifts,
    counted_here,
    counts_as_the_layer,
    in_layer,
    of_other_letters,
    running,
    shifts,
)
from derive.check.examples import Numbers, at_numbers, counted_from_1, given, moved, told
from derive.check.geometries import geometries, is_open, merged
from derive.check.judging.mistakes import follows
from derive.check.judging.signs import positive
from derive.check.judging.supposed import compatible, fixing
from derive.check.judging.verdict import Found, Judge
from derive.check.letters import numeric, paired, sized
from derive.check.partly import partly
from derive.check.reading import spoken
from derive.check.reading.claims import Item, Kind_, Reading, Solution, solution
from derive.check.reading.plain import cased, dollared, plainly, valued
from derive.check.reading.texts import answer_of, repeated, told_deltas, unstruck
from derive.check.report import RIGHT, Answered, Definition, Judged, Points, Report
from derive.check.several import each, is_of_several, united
from derive.check.unasked import layer_of, unrefuted
from derive.check.words.beside import Beside, Readings
from derive.check.words.facts import unused
from derive.check.words.properties import told as told_of_letters
from derive.errors import CardError, DeriveError
from derive.expr import Add, Cond, Entry, Expr, Partial, Rel, add, conditions, walk
from derive.formulas import formulas
from derive.limits import MOST_IN_A_SOLUTION
from derive.module import Module
from derive.notation import write
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, name_of
from derive.question.words.reading import refuse_long
from derive.verify.report import Verdict

__all__ = ["Answered", "Judged", "Points", "Report", "check", "forget"]
_MOST = 64  # cards, and layers with the letters of a solution, that are remembered
_OTHER = re.compile(r"\\leftarrow|\\(?:partial|nabla).*(?:\\(?:approx|propto|sim|to|leq?|geq?)(?![A-Za-z])|[<>])",
                    re.DOTALL)  # claims that are no equations
_ARROW = re.compile(r"\\(?:leftarrow|gets)(?![A-Za-z])")
_UPDATES = re.compile(r"\s*(\\?[A-Za-z]+)\s*\\(?:leftarrow|gets)(?![A-Za-z])")
_EQUATES = re.compile(r"=|\\(?:approx|doteq|equiv)(?![A-Za-z])")
_judges: dict[tuple[Reading, tuple[Cond, ...]], Judge] = {}
_modules: dict[tuple[str, str, str | None], Module] = {}


def check(card: Card | str | Path, *, answer: str | Path | None = None, text: str | None = None) -> Report:
    """A verdict on each equation of the card's solution, of the file of an ``answer`` or of its ``text``.

    An answer has ``points``, too.
    Raises :class:`derive.errors.DeriveError` where the question is not understood, or a formula is not closed.
    """
    read = card if isinstance(card, Card) else Card.read(card)
    body, first, path = (read.solution, read.solution_line or 1, read.path) if text is None else (text, 1, None)
    if answer is not None:
        body, first, path = answer_of(Path(answer)), 1, str(answer)
    marked = answer is not None or text is not None
    try:
        refuse_long(body, first, "solution", MOST_IN_A_SOLUTION)
    except DeriveError as error:
        raise error.located(path, first) from None
    try:
        module = _understood(read)
    except DeriveError as error:
        return _of_open(read, body, first, path, marked, error)
    try:
        return _report(body, first, read, module, path, marked)
    except DeriveError as error:
        raise error.located(path, first) from None


def _of_open(card: Card, body: str, first: int, path: str | None, marked: bool, error: DeriveError) -> Report:
    """What can be said where the question leaves open which function, which windows, or what is asked for."""
    if isinstance(error, CardError) and is_of_several(error, card):
        return united([_report(body, first, c, _understood(c), path, marked) for c in each(card, error)])
    if isinstance(error, CardError) and is_open(error):
        return merged([(words, _report(body, first, c, _understood(c), path, marked))
                       for words, c in geometries(card, body)], body)
    layer = layer_of(card, error)
    if layer is None:
        raise error
    return unrefuted(_report(body, first, card, layer, path, False), error)


def forget() -> None:
    """Nothing is kept of the layers so far, whose points and proofs are large: they do not come again."""
    _judges.clear()
    _modules.clear()
    _derived.cache_clear()


def _understood(card: Card) -> Module:
    """The layer of a card, once for all answers to it."""
    from derive.question import module_of

    key = card.question, repr(card.front_matter), card.path
    if key not in _modules:
        while len(_modules) >= _MOST:
            del _modules[next(iter(_modules))]
        _modules[key] = module_of(card)
    return _modules[key]


@lru_cache(maxsize=64)
def _derived(module: Module) -> tuple[Module, Messages]:
    """The layer in the letters of its question, with those for extents where it is one maximum over windows."""
    from derive.calculus.kinks import settled
    from derive.calculus.one_window import derivation, windowed

    own = sized(settled(module))
    own = replace(own, facts=(*own.facts, *positive(own)))
    messages = derivation(own)
    return messages.module if any(w.whole for w in windowed(own)) else own, messages


def _report(text: str, first: int, card: Card, module: Module, path: str | None, marked: bool) -> Report:
    layer, messages = _derived(module)
    text = dollared(unstruck(text), {s.latex for s in layer.table.of_kind(Kind.TENSOR)})
    text = spoken.told(told_deltas(cased(plainly(valued(text) if module.values else text))), card.question, layer)
    found = solution(text, first, card.question, layer)
    by = {} if counts_as_the_layer(text) else shifts(layer)
    found = _recounted(found, by, layer)
    from_1 = counted_from_1([*found.given, *(i.node for i in found.items if i.node is not None)], module)
    if from_1:
        found = found.changed(partial(moved, by=-1, module=module))
    of_letters = told_of_letters(card.question, messages.module)
    stated = tuple(dict.fromkeys(c for p in of_letters for c in conditions(p.cond)))
    judge, assumed = _judge(found.reading, messages, stated), positive(module)
    beside = Beside(text, first, found.items, messages.module, card.question, stated)
    asked_for = repeated(card.question)
    checks, definitions = list[Judged](), list[Definition]()
    right, wrong = list[Item](), list[tuple[Item, bool]]()
    numbers: Numbers = {name: dict(entries) for name, entries in module.values}
    for node in found.given:
        numbers = told(node, numbers, judge.module)
    asked_at, ends = numbers, {id(p.item.formula) for p in beside.places if p.item.kind is Kind_.CLAIM and numeric(
        p.item.link.terms[-1])}
    doubts, again = partly(beside.behind(), judge), {*_updated(text)}
    of_given = unused(card.question, layer, of_letters)
    for number, item in enumerate(place.item for place in beside.places):
        unsure = (doubts[u] for u in sorted(item.uses) if u in doubts)
        doubt = item.doubt or next((d for of, d in unsure if of.formula is not item.formula), "")
        item = replace(item, doubt=doubt or (f"“{of_given}” of the question is not looked at" if of_given else
                                             beside.supposes(number, judge)))
        if item.kind is Kind_.DEFINITION or item.kind is Kind_.UNREAD and asked_for(item.formula.latex):
            definitions.append(Definition(item.formula.line, item.formula.latex))
        elif item.kind is Kind_.UNREAD and _EQUATES.search(item.formula.latex):
            checks.append(_judged(item, Found(Verdict.NOT_READ, item.reason)))
        elif item.kind is Kind_.CONDITION and item.node is not None:
            before, numbers = numbers, told(item.node, numbers, judge.module)
            if any(n in before and before[n] != numbers[n] for n in numbers) and beside.updates(number):
                checks.append(_judged(item, Found(Verdict.NOT_READ, "it gives a letter other numbers than before")))
            if isinstance(item.node, Rel) and "=" not in item.node.ops and any(
                    isinstance(n, Partial) for n in walk(item.node)):
                checks.append(_judged(item, Found(Verdict.NOT_READ, "it is no equation")))
        elif item.kind is Kind_.CLAIM:
            numbers = numbers if item.cond is None else told(item.cond, numbers, judge.module)
            own = judge if item.reading is None else _judge(item.reading, messages, stated)
            there = numbers != asked_at or id(item.formula) in ends
            if item.uses & again:
                checks.append(_judged(item, Found(Verdict.NOT_READ, "one of its letters is given a value twice")))
                continue
            readings = beside.readings(number)
            verdict = _claimed(item, readings, own, {} if readings.general else numbers, there, 1 if from_1 else -1)
            if verdict.verdict not in RIGHT and not _of_values(readings.first) and asked_for(item.formula.latex):
                definitions.append(Definition(item.formula.line, item.formula.latex))
                continue
            if item.letter and verdict.verdict == Verdict.NOT_READ:
                again.add(item.letter)
            verdict, mistake, line = _weighed(item, verdict, readings.first, own, right, wrong, bool(module.values))
            checks.append(_judged(item, _told(verdict, layer, by, assumed), mistake, line))
    checks += _no_equations(formulas(text, first), found)
    unread = any(c.verdict == Verdict.NOT_READ and c.follows is None for c in checks)
    held = [*right, *(item for item, derived in wrong if derived)]
    causes = [item for item, derived in wrong if not derived]
    mark = _points(card, held, causes, unread, module, judge.module) if marked else None
    statuses = _asked(messages, answers(asked(module), held, judge.module), unread)
    return Report(tuple(checks), tuple(definitions), statuses, mark, path)


def _updated(text: str) -> Iterator[str]:
    r"""δ of \delta \leftarrow …"""
    yield from (name_of(m[1]) for f in formulas(text) if (m := _UPDATES.match(f.latex)) is not None)


def _weighed(item: Item, found: Found, cond: Cond | None, judge: Judge, right: list[Item],
             wrong: list[tuple[Item, bool]], at_numbers_too: bool) -> tuple[Found, str, int | None]:
    """A verdict, its likely mistake and the line from which it follows; the item goes to those that are right or wrong.

    ``at_numbers_too``: the question asks for numbers, so that what holds at those alone is an answer.
    """
    if item.step is not None and any(w.formula is item.formula for w, _ in wrong) and (
            (judge(item.step, item.cond).verdict in RIGHT) != (found.verdict in RIGHT)):
        found, line = _behind(item, found, right, wrong)
        return found, "", line
    if found.verdict == Verdict.REFUTED:
        cause = _cause(item, [w for w, _ in wrong], judge)
        wrong.append((item, cause is not None))
        return found, "" if cause else item.otherwise or judge.mistake(item.written or item.link, cond), cause
    if found.verdict in RIGHT and (not found.single or at_numbers_too):
        everywhere = cond is None or judge(item.link).verdict in RIGHT
        right.append(replace(item, cond=None if everywhere else cond))
    return found, "", None


def _recounted(found: Solution, by: Shifts, layer: Module) -> Solution:
    """The statements in the numbers of the layer; what names new letters, whose numbers are not known, is not read."""
    if not by:
        return found
    elsewhere = running((i.node for i in found.items if i.node is not None), by)
    found = found.changed(partial(in_layer, by=by, elsewhere=elsewhere))
    reason = "the question counts otherwise than the layer, and this letter is new"
    new = {n for n, i in enumerate(found.items) if i.kind is Kind_.CLAIM and of_other_letters(i.link, layer)}
    return replace(found, items=tuple(
        replace(i, kind=Kind_.UNREAD, reason=reason) if n in new else i for n, i in enumerate(found.items)))


def _no_equations(written: Sequence[Formula], found: Solution) -> Iterator[Judged]:
    """w ← w - η ∂L/∂w, ∂L/∂w ∝ x: claims that nothing reads."""
    read = {(i.formula.line, i.formula.column) for i in found.items}
    for formula in written:
        if (formula.line, formula.column) not in read and _OTHER.search(formula.latex):
            yield Judged(formula.line, formula.latex, Verdict.NOT_READ, "it is no equation")


def _told(found: Found, layer: Module, by: Shifts, assumed: Sequence[Rel]) -> Found:
    """A verdict that says from where its counterexample counts, and what the question leaves out and it supposes."""
    if found.counterexample:
        return replace(found, counterexample=f"{found.counterexample}{counted_here(layer, by)}")
    supposed = " and ".join(f"${write(fact, layer.table)}$" for fact in assumed)
    return replace(found, reason=f"{found.reason}, for {supposed}") if supposed and found.holds else found


def _of_values(cond: Cond | None) -> bool:
    """Whether a condition is about values, not about indices alone."""
    return cond is not None and any(isinstance(n, Entry) for n in walk(cond))


def _judge(reading: Reading, messages: Messages, stated: tuple[Cond, ...]) -> Judge:
    """What judges equations of this layer: answers to one question have most of them in common."""
    key = reading, stated
    if key not in _judges:
        while len(_judges) >= _MOST:
            del _judges[next(iter(_judges))]
        _judges[key] = Judge(reading.module, messages, reading.table, reading.window, reading.definitions, stated)
    return _judges[key]


def _points(card: Card, held: Sequence[Item], wrong: Sequence[Item], unread: bool, module: Module,
            told: Module) -> Points | None:
    from derive.check.marks import points

    try:
        return points(card, held, wrong, unread, module, told)
    except DeriveError:  # a layer whose own sheet cannot be written has no guide
        return None


def _asked(messages: Messages, found: Mapping[Asked, Given], unread: bool) -> tuple[Answered, ...]:
    open_ = {Given.MISSING: Given.OPEN} if unread else {}
    return tuple(Answered(rf"\frac{{\partial {write(a.of, messages.module.table)}}}"
                          rf"{{\partial {write(a.wrt, messages.module.table)}}}", open_.get(status, status))
                 for a, status in found.items())


def _claimed(item: Item, readings: Readings, judge: Judge, numbers: Numbers, there: bool, by: int) -> Found:
    """What holds where the text says that it holds; what fails wherever the text may mean it is refuted.

    ``there``: it may be meant at the numbers alone, and their indices may be greater ``by`` one.
    """
    if readings.denied:
        return Found(Verdict.NOT_READ, f"“{readings.denied}” beside it may deny it")
    if readings.more:
        return Found(Verdict.NOT_READ, readings.more)
    if numbers and not compatible([*conditions(readings.first), *given(numbers)]):
        numbers = {}  # of another case
    if numeric(item.link.terms[-1]) and not judge.agrees(item.link):
        if readings.first is not None and (found := judge(item.link, readings.first)).verdict in RIGHT:
            return found  # whatever numbers the other letters have
        supposed = readings.first is not None and not readings.doubt and fixing(readings.first, item.link, judge.module)
        at = at_numbers(item.link, numbers, judge.module, judge.table, item.formula.latex, by)
        if at is not None:
            doubt = readings.here if at.verdict == Verdict.REFUTED else ""
            return Found(Verdict.NOT_READ, f"it is not so at the numbers before it: {doubt}") if doubt else at
        if not supposed and any(judge.module.table.named(name) for name in numbers):
            return Found(Verdict.NOT_READ, "it does not hold everywhere, and not all letters have a number before it")
    if readings.over is not None:
        found = judge(readings.over, readings.first)
        return found if found.verdict in RIGHT else Found(Verdict.NOT_READ, "over what its sum runs stands behind it, "
                                                          "and with it it could not be proved")
    found = judge(item.link, readings.first)
    if found.verdict == Verdict.REFUTED:
        found = next((f for other in _otherwise(item.link, judge.module)
                      if (f := judge(other, readings.first)).verdict in RIGHT), found)
    if found.verdict not in RIGHT and _ARROW.search(item.formula.latex):  # an update may have more in it
        return Found(Verdict.NOT_READ, "it is no equation")
    if found.verdict != Verdict.REFUTED:
        return Found(Verdict.NOT_READ, item.reason) if item.reading is not None and item.reading.refutes else found
    unsure = item.reason if item.reading is not None and item.reading.unsure and not judge.whatever(
        item.link, readings.first) else ""
    if readings.parts and not unsure and item.slope and judge.fails(item.link, readings.first):
        readings = replace(readings, doubt="")
    doubt = unsure or (item.otherwise if readings.defines else "") or item.doubt or readings.doubt or (
        "it may be a supposition" if item.supposes else "")
    for cond in readings.others:
        doubt = doubt or judge.saved(item.link, cond)
    at = None if doubt else at_numbers(item.link, numbers, judge.module, judge.table, item.formula.latex, by)
    if at is not None and at.verdict in RIGHT and there:  # a link of a chain that ends in a number
        doubt = "it holds at the numbers before it"
    if doubt:
        return Found(Verdict.NOT_READ, f"it does not hold everywhere: {doubt}")
    return replace(found, counterexample=judge.smaller(item.link, readings.first, found.counterexample or ""))


def _otherwise(link: Rel, module: Module) -> Iterator[Rel]:
    """δ_{ct} δ_{cd}: with one of two as Kronecker's; d/dx x² + 3x: the derivative of both."""
    head, value = link.terms
    for a, b in itertools.product(_reaching(head), _reaching(value)):
        if a is not head or b is not value:
            yield Rel((a, b), ("=",))
    many = sum(isinstance(n, Entry) and n.tensor == f"delta_{module.output}" for n in walk(value))
    for chosen in range(many if many > 1 else 0):
        met = itertools.count()
        other = paired(value, module, lambda *_, met=met, chosen=chosen: next(met) == chosen)
        if other is not value:
            yield Rel((head, other), ("=",))


def _reaching(side: Expr) -> Iterator[Expr]:
    """A sum as it is, and with each derivative without brackets in it reaching to its end."""
    yield side
    terms = side.terms if isinstance(side, Add) else ()
    for n, term in enumerate(terms[:-1]):
        if isinstance(term, Partial) and not isinstance(term.of, Entry):
            yield add(*terms[:n], Partial(add(term.of, *terms[n + 1:]), term.wrt))


def _behind(item: Item, found: Found, right: list[Item], wrong: list[tuple[Item, bool]]) -> tuple[Found, int]:
    """What stands behind a wrong step of a chain is right as a step or of the left side, and not as both."""
    line = item.formula.line
    if found.verdict in RIGHT:
        right.append(item)
        return Found(Verdict.NOT_READ, "it is so of the left side, and not of the step before, which is wrong"), line
    wrong.append((item, True))
    return Found(Verdict.NOT_READ, "it is so of the step before, which is wrong"), line


def _cause(item: Item, wrong: Sequence[Item], judge: Judge) -> int | None:
    """The line of the first wrong step from which this one follows."""
    for earlier in wrong:
        made = follows(item.link, earlier.link, judge.module) if item.cond is None and earlier.cond is None else None
        if made is not None and judge.agrees(made):
            return earlier.formula.line
    return None


def _judged(item: Item, found: Found, mistake: str = "", line: int | None = None) -> Judged:
    return Judged(item.formula.line, item.shown or item.formula.latex, found.verdict, found.reason,
                  found.counterexample, mistake or None, line)
