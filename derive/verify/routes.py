"""What no single printed equation of a layer shows: adjointness, slopes at kinks, the steps of the derivations."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from derive.axes import axes
from derive.calculus.derivation import Step
from derive.calculus.messages import Messages
from derive.expr import Entry, Expr, Partial
from derive.module import Module
from derive.numeric.point import Index, Undefined
from derive.numeric.source import windows_of
from derive.verify.kinks import borders, claims
from derive.verify.points.claims import MOST, Compiler
from derive.verify.points.point import Point
from derive.verify.report import ENOUGH, Check, Verdict, remembered
from derive.verify.scope import Scope, letters_of

Formula = Callable[[Point, Index], Any]


def routes(scope: Scope, messages: Messages) -> list[Check]:
    """The checks of the derivations behind a sheet, for the letters that it mentions."""
    letters = tuple(letters_of(scope.statements, messages.module))
    if not letters:
        return []
    derivations = [step for wrt in letters
                   for step in (messages.jacobian(wrt), messages.message(wrt), *messages.stages(wrt))]
    agreements = [_adjoint(scope, messages, wrt) for wrt in letters]
    told = [remembered((scope.module, scope.table.symbols, claim), partial(borders, claim, scope))
            for claim in claims(messages.module)]
    return [*agreements, *told, steps(derivations, messages.module)]


def steps(derivations: Iterable[Step], module: Module) -> Check:
    """Every step of the derivation concludes again what it says; equal ones are one, whoever made them."""
    found = list(dict.fromkeys(step for derivation in derivations for step in derivation))
    broken = [step.rule for step in found if step.recompute(module) is not step.after]
    evidence = f"Each of the {len(found)} steps of the derivation follows again by its rule"
    if broken:
        return Check("derivation", "", Verdict.REFUTED, evidence, f"the step `{broken[0]}` does not follow")
    return Check("derivation", "", Verdict.PROVED, evidence)


def _adjoint(scope: Scope, messages: Messages, wrt: str) -> Check:
    derived, back = messages.jacobian(wrt), messages.message(wrt)
    key = scope.key(derived.before, derived.after, back.before, back.after)
    found = remembered(key, partial(adjointness, scope, messages, wrt))
    return replace(found, evidence=found.evidence.replace(_LETTER, wrt))


_LETTER = "{wrt}"


def adjointness(scope: Scope, messages: Messages, wrt: str) -> Check:
    """⟨δ_y, J v⟩ = ⟨δ_x, v⟩, J from the derived Jacobian and δ_x from the derived message."""
    evidence = f"⟨δ, J v⟩ = ⟨Jᵀδ, v⟩ for the Jacobian and the message of `{_LETTER}`"
    jacobian, message = _formulas(scope, messages, wrt)
    points = 0
    for point in scope.points():
        if points >= max(scope.base, ENOUGH):
            break
        source, delta = random.Random(points), point.tensor(f"delta_{messages.module.output}")
        cells = list(point.tensor(wrt))
        v = {at: source.randint(-9, 9) or 1 for at in source.sample(cells, min(len(cells), MOST))}
        try:
            left = sum(d * sum(jacobian(point, (*out, *at)) * v[at] for at in v) for out, d in delta.items()
                       if not _misses(point, out))
            right = sum(message(point, at) * v[at] for at in v)
        except Undefined:
            continue
        except (LookupError, ArithmeticError, ValueError, TypeError, NameError) as error:
            return Check("adjointness", "", Verdict.REFUTED, evidence, f"{error!r} for {point.describe()}")
        if not scope.compiler.same(left, right):
            found = f"{left} and {right} for {point.describe()}"
            return Check("adjointness", "", Verdict.REFUTED, evidence, found)
        points += 1
    if points < ENOUGH:
        return Check("adjointness", "", Verdict.NOT_READ, f"{evidence}: only {points} points say anything about it")
    return Check("adjointness", "", Verdict.TESTED, f"{evidence} at {points} points", points=points)


def _misses(point: Point, out: Index) -> bool:
    """The window of this output has no entry: it does not depend on the input."""
    return any(not point.elements(name, tuple(out[d] for d in places)) for name, places in _windows(point.module))


@lru_cache(maxsize=64)
def _windows(module: Module) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Each window set whose windows an output's indices number, and the places of these among them."""
    known = axes(module)
    symbol = module.table.named(module.output)
    classes = [known.of(module.output, d) for d in range(len(symbol.axes) if symbol is not None else 0)]
    found = []
    for equation in module.equations:
        own, head = windows_of(equation, module), equation.terms[0]
        along = [known.of(head.tensor, d) for d in own[1]] if own is not None and isinstance(head, Entry) else []
        if own is not None and along and all(c in classes for c in along):
            found.append((own[0], tuple(map(classes.index, along))))
    return tuple(found)


def _formulas(scope: Scope, messages: Messages, wrt: str) -> tuple[Formula, Formula]:
    """∂y/∂x by output and input index, and δ_x by input index."""
    compiler = Compiler.of(messages, scope.kind)

    def compiled(step: Step, params: tuple[Expr, ...]) -> Formula:
        assert isinstance(step.after, Expr)
        return compiler.function(params, step.after)

    derived, back = messages.jacobian(wrt), messages.message(wrt)
    assert isinstance(derived.before, Partial) and isinstance(back.before, Entry)
    assert isinstance(derived.before.of, Entry) and isinstance(derived.before.wrt, Entry)
    return (compiled(derived, (*derived.before.of.indices, *derived.before.wrt.indices)),
            compiled(back, back.before.indices))

