"""The derivative of one definition, rule by rule, with the words of each rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

import derive.expr as ex
from derive.calculus.decisive import decisive
from derive.calculus.dependence import reached
from derive.calculus.derivation import Shown, Step, is_total, lettered, shown, slope, slope_step, unlettered
from derive.calculus.ranges import solve
from derive.calculus.rules import bound
from derive.exposition.builder import Builder
from derive.exposition.printed import equation, presented, printed
from derive.exposition.subject import Subject
from derive.lines import WIDTH, width
from derive.module import Function, Module
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.notation.writer import choose
from derive.records import dataclass
from derive.sheet import Prose

_ROOM = WIDTH / 2  # what is wider is not displayed where the tensor's own letter stands for it in the next step
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z*])")


@dataclass(frozen=True)
class Line:
    """A rule at work; ``apart`` where its equation is displayed by itself, else it is seen in the last line.

    What is true in one branch of cases only is not displayed apart, if it may have no value elsewhere.
    """

    step: Shown
    apart: bool


def local(b: Builder, subject: Subject, step: Step, letters: dict[ex.Node, ex.Node], lead: str = "") -> None:
    """The rules by which a definition is differentiated, then ∂t_k/∂u_j = raw = in the lecturer's form.

    The words stand in one paragraph behind ``lead``; what a rule says of every layer is said once.
    """
    module = subject.module
    found, rules = _told(step, module, tuple(letters.items()))
    like = _like(b, found, rules)
    if like is not None:
        b.text(" ".join(filter(None, (lead, b.say("rule_alike", like=[b.m(like)], of=[b.m(found.before)])))))
        return
    b.derived[_steps(found, rules)] = found.before
    said: dict[object, None] = {}
    sentences = [s for line in rules for s in _SENTENCE.split(_words(b, line.step, module))]
    words = [s for s in dict.fromkeys(sentences) if s not in b.told]
    b.told.update(s for s in words if "$" not in s)
    if not rules and not (found.after is ex.ZERO and _stands(found.before, module)):  # a step function's slope is 0
        words = [b.say("rule_direct", wrt=b.m(found.before.wrt), of=b.m(found.before.of), zero=found.after is ex.ZERO)]
    folded = _folds(b, found, module)
    if folded:
        words.append(b.say("rule_folded", of=b.m(found.before.of)))
    b.text(" ".join(filter(None, (lead, *words))))
    for line in rules:
        statement = equation(line.step.before, line.step.raw, line.step.after)
        if line.apart and lettered(statement) not in said and _stands_alone(line.step.before, module):
            said[lettered(statement)] = None
            b.math(f"rule_{line.step.rule}", presented(statement, found.before, module))
    reasoned(b, subject, "local", found.before, None, found.after if folded else found.raw, found.after)


def _stands(before: ex.Partial, module: Module) -> bool:
    """What a tensor is computed from has the letter in it."""
    return isinstance(before.of, ex.Entry) and isinstance(before.wrt, ex.Entry) and (
        before.wrt.tensor in reached(ex.Entry(before.of.tensor, ()), module))


def alike(b: Builder, subject: Subject, step: Step,
          letters: dict[ex.Node, ex.Node]) -> tuple[ex.Partial, ex.Partial] | None:
    """A derivative and one that was derived before by the same rules, with the same result in other letters."""
    found, rules = _told(step, subject.module, tuple(letters.items()))
    like = _like(b, found, rules)
    return None if like is None else (found.before, cast(ex.Partial, like))


def steps(step: Step, subject: Subject, letters: dict[ex.Node, ex.Node]) -> tuple[ex.Node, ...]:
    """The rules by which a definition is differentiated, and the result, whatever the letters."""
    return _steps(*_told(step, subject.module, tuple(letters.items())))


@lru_cache(maxsize=256)
def _told(step: Step, module: Module, letters: tuple[tuple[ex.Node, ex.Node], ...]) -> tuple[Shown, tuple[Line, ...]]:
    """A derivation in these letters, and the rules of which something is said."""
    found = shown(step, module).renamed(dict(letters))
    return found, tuple(lines(found, module, {i.name for i in ex.free_indices(found.before)}))


def _like(b: Builder, found: Shown, rules: tuple[Line, ...]) -> ex.Node | None:
    like = b.derived.get(_steps(found, rules)) if rules else None
    return None if like is found.before else like


def _steps(found: Shown, rules: tuple[Line, ...]) -> tuple[ex.Node, ...]:
    """The rules of a derivation and its result, whatever the letters."""
    return ex.Fn(" ".join(line.step.rule for line in rules), ()), unlettered(ex.eq(found.before, found.after))


def _folds(b: Builder, found: Shown, module: Module) -> bool:
    """The raw derivative is wide, the tensor itself stands in the next form, and how that comes about was shown."""
    own = found.before.of
    if width(write(presented(found.raw, found.before, module), module.table)) <= _ROOM or not (isinstance(
            own, ex.Entry) and any(isinstance(n, ex.Entry) and n.tensor == own.tensor for n in ex.walk(found.after))):
        return False
    applied = {n.name for n in ex.walk(found.raw) if isinstance(n, ex.Fn)}
    told = f"folded {sorted(applied)}"
    before = told in b.told
    b.told.add(told)
    return before or any(f.name in applied for f in module.functions)


def reasoned(b: Builder, subject: Subject, name: str, before: ex.Expr, chain: ex.Expr | None, raw: ex.Expr,
             after: ex.Expr) -> None:
    """before = chain = raw = after, with what stands between the last two where that is not obvious, and its reason.

    What is put into a chain as into one before is not written out again.
    """
    module, found = subject.module, decisive(before, raw, after, subject.module)
    between = None if found is None else presented(found.form, before, module)
    again = chain is not None and _again(b, before, raw, after) is not None
    b.math(name, equation(before, chain, None if again else presented(raw, before, module), between,
                          printed(after, before, module)))
    words = "" if found is None else b.say(f"decisive_{found.rule}", by=[b.m(n) for n in found.by])
    if Prose(words) not in b.blocks:
        b.text(words)


def _again(b: Builder, before: ex.Expr, raw: ex.Expr, after: ex.Expr) -> ex.Node | None:
    """What was derived before by the same formulas in other letters."""
    like = b.derived.setdefault((unlettered(ex.eq(before, raw, after)),), before)
    return None if like is before else like


def cancelling(b: Builder, subject: Subject, step: Step, letters: dict[ex.Node, ex.Node]) -> None:
    """∂t/∂u = Σ … = 0, where terms cancel; nothing is said of what u does not stand in."""
    found = shown(step, subject.module).renamed(letters)
    if found.raw is not ex.ZERO:
        b.prose("cancels", here=b.m(found.before.wrt), of=b.m(found.before.of))
        b.math("local", equation(found.before, presented(found.raw, found.before, subject.module), ex.ZERO))


def lines(step: Shown, module: Module, taken: set[str]) -> Iterator[Line]:
    """The steps of which something is said, premises first; those that the last line shows are not displayed apart."""
    yield from _below(step, module, taken, carried=True)


def _below(step: Shown, module: Module, taken: set[str], carried: bool) -> Iterator[Line]:
    if step.after is ex.ZERO:
        return
    letters = _bound_letters(step, module, taken)
    inner = {i.name for v in letters.values() for i in ex.free_indices(v)}
    for premise in step.premises:
        found = [*_below(premise.renamed(letters), module, taken | inner, carried and step.silent)]
        for line in found[:-1] if step.rule == premise.rule == "sum" else found:  # a sum of sums is told as one
            everywhere = step.rule != "branches" or _has_value(line.step.before.of)
            yield Line(line.step, line.apart and everywhere)
    if not step.silent:
        yield Line(step, not carried)


def _has_value(value: ex.Expr) -> bool:
    """For all numbers: no logarithm, no root and nothing below a fraction bar but a size."""
    def partial(node: ex.Node) -> bool:
        if isinstance(node, ex.Pow):
            whole = isinstance(node.exponent, ex.Num) and (
                node.exponent.value >= 0 and node.exponent.value.denominator == 1)
            return not whole and not isinstance(node.base, (ex.Num, ex.Size))
        return isinstance(node, ex.Fn) and node.name in ("log", "sqrt")

    return not any(map(partial, ex.walk(value)))


def _bound_letters(step: Shown, module: Module, taken: set[str]) -> dict[ex.Node, ex.Node]:
    """The variables under a sum with the names that the sum is written with."""
    of = step.before.of
    if not isinstance(of, ex.Reduce) or step.rule not in ("sum", "prod", "extremum"):
        return {}
    assert isinstance(step.before.wrt, ex.Entry)
    names = choose(of, module.table, {}, frozenset(taken))
    own = bound(of, step.before.wrt, module)
    return {mine: ex.Idx(names[v]) for mine, v in zip(own, of.binder.variables, strict=True)}


def _stands_alone(before: ex.Partial, module: Module) -> bool:
    """The statement is true of itself: nothing in it is held, and each letter's range can be told from it."""
    assert isinstance(before.wrt, ex.Entry)
    entries = [n for n in ex.walk(before) if isinstance(n, ex.Entry)]
    plain = {i for e in entries for i in e.indices if isinstance(i, ex.Idx)}
    shifted = any(not isinstance(i, (ex.Idx, ex.Num)) for e in entries for i in e.indices)
    return not shifted and ex.free_indices(before) <= plain and is_total(before.of, before.wrt, module)


def _words(b: Builder, step: Shown, module: Module) -> str:
    """The words of a step's rule."""
    of = step.before.of
    match step.rule, of:
        case "elementwise", ex.Fn(name):
            return b.say("rule_elementwise", name=name, card=module.function(name) is not None)
        case "product", ex.Mul(factors):
            quotient = any(isinstance(f, ex.Pow) and isinstance(f.exponent, ex.Num) and f.exponent.value < 0
                           for f in factors)
            return b.say("rule_product", quotient=quotient)
        case "power", ex.Pow(_, exponent):
            kind = _power(exponent, module)
            return b.say("rule_power", kind=kind, exponent=b.m(exponent))
        case "sum", ex.Reduce():
            only, one = _only(b, step, module.table)
            return b.say("rule_sum", wrt=b.m(step.before.wrt), only=only, one=one)
        case "extremum", ex.Reduce(op):
            return b.say("rule_extremum", op=op)
        case "pair", ex.Extremum(op):
            return b.say("rule_pair", op=op)
        case _:
            return b.say(f"rule_{step.rule}")


def _power(exponent: ex.Expr, module: Module) -> str:
    if not isinstance(exponent, ex.Num):
        fixed = all(n.tensor in module.constants for n in ex.walk(exponent) if isinstance(n, ex.Entry))
        return "number" if fixed else "general"
    return "reciprocal" if exponent.value == -1 else "root" if exponent.value * 2 == 1 else "number"


def _only(b: Builder, step: Shown, table: SymbolTable) -> tuple[str, bool]:
    """``j = i``: the term of a sum that contains the variable, or the terms; empty where no such j is declared."""
    body, variables = step.raw, tuple[ex.Idx, ...]()
    taken = frozenset(i.name for i in ex.free_indices(equation(step.before, step.raw, step.after)))
    while isinstance(body, ex.Reduce):
        names = choose(body, table, {}, taken | {v.name for v in variables})
        own = tuple(ex.Idx(names[v]) for v in body.binder.variables)
        variables, (_, body) = (*variables, *own), ex.open_as(body, own)
    deltas = [f for f in (body.factors if isinstance(body, ex.Mul) else (body,)) if isinstance(f, ex.Bracket)]
    equations = [c for d in deltas for c in ex.conditions(d.cond) if isinstance(c, ex.Rel) and c.ops == ("=",)]
    pointed = isinstance(step.before.wrt, ex.Entry) and any(
        isinstance(t, ex.Entry) for e in equations for side in e.terms for t in getattr(side, "items", (side,)))
    if pointed or any(table.named(v.name.rstrip("'")) is None for v in variables):
        return "", False  # of Σ_i log p_{i,y_i} the i-th term contains p_{ik} only where k = y_i
    found, known = [], set[ex.Node]()  # Σ_i x_{ii} by x_{jk}: i = j, i = k
    sides = ([getattr(t, "items", (t,)) for t in e.terms] for e in equations)
    for one, other in (pair for left, right in sides for pair in zip(left, right, strict=True)):
        solved = solve(one, other, variables)
        if solved is not None and all(table.named(i.name.rstrip("'")) for i in ex.free_indices(ex.eq(*solved))):
            found.append(b.m(ex.eq(*solved)))  # an equation of letters that the card does not have says too little
            known.add(solved[0])
    return ", ".join(found), len(known) == len(variables)


def slopes(b: Builder, subject: Subject) -> None:
    """σ'(s) = raw = in terms of σ, for the functions of one number through which what is asked for goes."""
    ways = {tensor for t in subject.targets for tensor in subject.path(t)}
    used = {n.name for e in subject.module.equations if cast(ex.Entry, e.terms[0]).tensor in ways for n in ex.walk(e)
            if isinstance(n, ex.Fn)}
    for function in subject.module.functions:
        if function.name in used and len(function.parameters) == 1:
            _function_slope(b, subject, function)


def _function_slope(b: Builder, subject: Subject, function: Function) -> None:
    step, here = slope_step(function, 0, subject.module)
    (parameter,) = function.parameters
    primed = ex.Fn(function.name + "'", (ex.Entry(parameter, ()),))
    b.prose("slope")
    raw: ex.Expr | None = shown(step, here).raw
    after = slope(function, 0, subject.module)
    unknown = any(isinstance(n, ex.Entry) and n.tensor == function.name for n in ex.walk(cast(ex.Expr, raw)))
    b.math("slope", presented(equation(primed, None if unknown else raw, after), primed, subject.module))
