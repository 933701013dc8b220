"""Checks that no single printed equation holds: the routes to the Jacobian agree, adjointness, the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from sympy import StrictGreaterThan

from derive.calculus.derivation import Step
from derive.expr import Entry, Expr, Partial
from derive.module import Module
from derive.numeric.point import Definitions, Index, NoCase, Undefined
from derive.numeric.statements import compile_value
from derive.symbolic.window import case_list
from derive.verify.report import ENOUGH, Check, Verdict
from derive.verify.samples import DIRECTION, Sample

Derivatives = dict[tuple[Index, Index], Any]
# comparisons that hold (position, greater?, position), and the slopes (position, number)
PlainCase = tuple[tuple[tuple[int, bool, int], ...], tuple[tuple[int, int], ...]]


def _verdict(name: str, evidence: str, failure: str | None, points: int) -> Check:
    if failure is not None:
        return Check(name, "", Verdict.REFUTED, evidence, failure)
    if points < ENOUGH:
        return Check(name, "", Verdict.NOT_READ, f"{evidence}: only {points} points say anything about it")
    return Check(name, "", Verdict.TESTED, f"{evidence} at {points} points", points=points)


def by_formula(jacobian: Step, definitions: Definitions, ranks: dict[str, int]) -> Callable[[Sample], Derivatives]:
    """The derived ∂f/∂x at a point, zeros left out."""
    before, after = jacobian.before, jacobian.after
    assert isinstance(before, Partial) and isinstance(before.of, Entry) and isinstance(after, Expr)
    assert isinstance(before.wrt, Entry)
    outputs, inputs = before.of.indices, before.wrt.indices
    function = compile_value((*outputs, *inputs), after, definitions, ranks)

    known: dict[int, Derivatives] = {}

    def evaluate(sample: Sample) -> Derivatives:
        if id(sample) in known:
            return known[id(sample)]
        found: Derivatives = {}
        for out in sample.tensor(sample.module.output):
            for cell in sample.arrays[sample.wrt] if sample.window(out) else ():  # of no entry there is no derivative
                value = function(sample, (*out, *cell))
                if value:
                    found[out, cell] = value
        known[id(sample)] = found
        return found

    return evaluate


@cache
def plain_cases(module: Module, n: int) -> tuple[PlainCase, ...]:
    """SymPy's cases of a window of n entries as comparisons of positions and numbers."""
    def place(symbol: Any) -> int:
        return int(str(symbol).rsplit("_", 1)[1]) - 1

    found = []
    for case in case_list(module, n) if n else ():
        region = tuple((place(r.lhs), isinstance(r, StrictGreaterThan), place(r.rhs)) for r in case.region)
        found.append((region, tuple((t, int(g)) for t, g in enumerate(case.gradient) if g != 0)))
    return tuple(found)


def by_sympy(sample: Sample) -> Derivatives:
    """∂f/∂x from the SymPy case whose region holds in each window, zeros left out."""
    found: Derivatives = {}
    for out in sample.tensor(sample.module.output):
        cells = sample.window(out)
        values = [sample.arrays[sample.wrt][cell] for cell in cells]
        for region, slopes in plain_cases(sample.module, len(cells)):
            if all((values[a] > values[b]) if greater else (values[a] < values[b]) for a, greater, b in region):
                found |= {(out, cells[t]): g for t, g in slopes}
    return found


def routes(samples: Iterable[Sample], formula: Callable[[Sample], Derivatives]) -> Check:
    """Index calculus, SymPy's cases and difference quotients give the same Jacobian."""
    evidence, points = "Index calculus, SymPy's cases and exact difference quotients give the same Jacobian", 0
    for sample in samples:
        if not sample.smooth:
            continue
        points += 1
        numbers = sample.sides()[0]
        for name, found in (("index calculus", _safely(formula, sample)), ("SymPy", by_sympy(sample))):
            if found != numbers:
                place = next(iter(set(numbers.items()) ^ set(found.items())))[0]
                return _verdict("routes", evidence, f"{name} has {found.get(place, 0)}, the difference quotient "
                                f"{numbers.get(place, 0)} at output {place[0]}, input {place[1]}, "
                                f"for {sample.describe()}", points)
    return _verdict("routes", evidence, None if points else "no point without a tie", points)


def _safely(formula: Callable[[Sample], Derivatives], sample: Sample) -> Derivatives:
    try:
        return formula(sample)
    except (Undefined, NoCase, KeyError):
        return {}


def adjointness(samples: Iterable[Sample], formula: Callable[[Sample], Derivatives], message: Step,
                definitions: Definitions, ranks: dict[str, int]) -> Check:
    """⟨δ, J v⟩ = ⟨Jᵀδ, v⟩, J from the derived Jacobian and Jᵀδ from the derived message."""
    evidence, points = "⟨δ, J v⟩ = ⟨Jᵀδ, v⟩ for the Jacobian and the backward message", 0
    before, after = message.before, message.after
    assert isinstance(before, Entry) and isinstance(after, Expr)
    back = compile_value(before.indices, after, definitions, ranks)
    for sample in samples:
        if not sample.smooth:
            continue
        points += 1
        delta, v = sample.tensor(f"delta_{sample.module.output}"), sample.tensor(DIRECTION)
        try:
            left = sum(delta[out] * g * v[cell] for (out, cell), g in formula(sample).items())
            right = sum(back(sample, cell) * v[cell] for cell in v)
        except (Undefined, NoCase, KeyError):
            left, right = 0, None
        if left != right:
            return _verdict("adjointness", evidence, f"{left} and {right} for {sample.describe()}", points)
    return _verdict("adjointness", evidence, None if points else "no point without a tie", points)


def tie_rule(samples: Iterable[Sample], chosen: Callable[[Sample, Index], Any], rule: str) -> Check:
    """The printed subgradient is that of the tie rule at every tie pattern: first, last, or equal shares."""
    evidence, points = f"The choice at ties is the rule `{rule}`, every tie pattern among the inputs,", 0
    for sample in samples:
        active = _active(sample)
        equal = dict.fromkeys(active, Fraction(1, len(active)))
        shares: dict[str, Mapping[Index, Any]] = {"first": {active[0]: 1}, "last": {active[-1]: 1}, "split": equal}
        points += 1
        for at in sample.arrays[sample.wrt]:
            try:
                found = chosen(sample, at)
            except (Undefined, NoCase, LookupError, ValueError, TypeError):
                found = None
            if found != shares[rule].get(at, 0):
                return _verdict("tie_rule", evidence, f"entry {at[0]} gets {found} for {sample.describe()}", points)
    return _verdict("tie_rule", evidence, None, points)


def _active(sample: Sample) -> list[Index]:
    """The entries that attain the output of one window, in order."""
    best = sample.tensor(sample.module.output)[()]
    return [at for at, value in sample.arrays[sample.wrt].items() if value == best]


def steps(derivations: Iterable[Step], module: Module) -> Check:
    """Every step of the derivation concludes again what it says."""
    found = [step for derivation in derivations for step in derivation]
    broken = [step.rule for step in found if step.recompute(module) is not step.after]
    evidence = f"Each of the {len(found)} steps of the derivation follows again from its premises by its rule"
    if broken:
        return Check("derivation", "", Verdict.REFUTED, evidence, f"the step `{broken[0]}` does not follow")
    return Check("derivation", "", Verdict.PROVED, evidence)

