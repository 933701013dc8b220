"""What no single printed equation of a layer shows: adjointness, slopes at kinks, the steps of the derivations."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from derive.calculus.derivation import Step
from derive.calculus.results import Messages
from derive.expr import Entry, Expr, Partial
from derive.numeric.point import Definitions, Index, Undefined
from derive.verify.layer.claims import MOST, Compiler
from derive.verify.layer.kinks import jumping, slopes
from derive.verify.layer.point import Point
from derive.verify.layer.subject import Subject, letters_of
from derive.verify.report import ENOUGH, Check, Verdict
from derive.verify.routes import steps

Formula = Callable[[Point, Index], Any]


def routes(subject: Subject, messages: Messages) -> list[Check]:
    """The checks of the derivations behind a sheet, for the letters that it mentions."""
    letters = tuple(letters_of(subject.statements, messages.module))
    if not letters:
        return []
    derivations = [step for wrt in letters
                   for step in (messages.jacobian(wrt), messages.message(wrt), *messages.stages(wrt))]
    agreements = [_remembered((subject.key, wrt, messages.jacobian(wrt).after, messages.message(wrt).after),
                              partial(adjointness, subject, messages, wrt)) for wrt in letters]
    jumps = [_remembered((subject.key, node, jump), partial(slopes, node, jump, subject))
             for node, jump in jumping(messages.module)]
    return [*agreements, *jumps, steps(derivations, messages.module)]


_passed: dict[Hashable, Check] = {}  # comparisons of this process, by what they rest on


def _remembered(key: Hashable, compare: Callable[[], Check]) -> Check:
    """The comparison, or its verdict on the same formulas of the same layer if it passed before."""
    if key not in _passed:
        found = compare()
        if found.verdict is not Verdict.TESTED:
            return found
        _passed[key] = found
    return _passed[key]


def forget() -> None:
    """Drop the comparisons kept in this process."""
    _passed.clear()


def adjointness(subject: Subject, messages: Messages, wrt: str) -> Check:
    """⟨δ_y, J v⟩ = ⟨δ_x, v⟩, J from the derived Jacobian and δ_x from the derived message."""
    evidence = f"⟨δ, J v⟩ = ⟨Jᵀδ, v⟩ for the Jacobian and the message of `{wrt}`"
    jacobian, message = _formulas(subject, messages, wrt)
    points = 0
    for point in subject.points():
        if points >= max(subject.base, ENOUGH):
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
        if not subject.compiler.same(left, right):
            found = f"{left} and {right} for {point.describe()}"
            return Check("adjointness", "", Verdict.REFUTED, evidence, found)
        points += 1
    if points < ENOUGH:
        return Check("adjointness", "", Verdict.NOT_READ, f"{evidence}: only {points} points say anything about it")
    return Check("adjointness", "", Verdict.TESTED, f"{evidence} at {points} points", points=points)


def _misses(point: Point, out: Index) -> bool:
    """The window of this output has no entry: it does not depend on the input."""
    return any(not point.elements(name, out) for name, field in point.module.fields if len(field.axes) == len(out))


def _formulas(subject: Subject, messages: Messages, wrt: str) -> tuple[Formula, Formula]:
    """∂y/∂x by output and input index, and δ_x by input index."""
    module = messages.module
    stars = {name: (arg, place, module.parameters_of(arg))
             for name, (arg, place) in messages.star_definitions.items()}
    compiler = Compiler(module, subject.kind, Definitions(stars, {}, {}), subject.compiler.ranks)

    def compiled(step: Step, params: tuple[Expr, ...]) -> Formula:
        assert isinstance(step.after, Expr)
        return compiler.function(params, step.after)

    derived, back = messages.jacobian(wrt), messages.message(wrt)
    assert isinstance(derived.before, Partial) and isinstance(back.before, Entry)
    assert isinstance(derived.before.of, Entry) and isinstance(derived.before.wrt, Entry)
    return (compiled(derived, (*derived.before.of.indices, *derived.before.wrt.indices)),
            compiled(back, back.before.indices))

