"""What a question asks to show: refused with a counterexample where it is false, kept for its sheet where it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from derive.calculus.kinks import settled
from derive.calculus.one_window import derivation
from derive.errors import CardError, DeriveError, Problem
from derive.expr import Rel
from derive.magnitudes import facts_expected
from derive.module import Module
from derive.notation import write
from derive.verify import equation

# refutations that a range or a domain left unsaid may explain
UNDECIDED = ("out of range", "has no value", "no case applies", "never holds", "nothing definite", "claims nothing")


def judged(module: Module) -> Module:
    """The module with those claims that hold at every point; what cannot be judged is said to be unanswered.

    Raises :class:`CardError` for a claim that fails at a point off ties, whatever labels a reader expects.
    """
    holding: list[tuple[Rel, int]] = []
    said: list[str] = []
    for claim, line in module.claims:
        wrong = _wrong(claim, module)
        if wrong is None:
            holding.append((claim, line))
            continue
        latex = write(claim, module.table, display=False)
        expected = tuple(f for f in facts_expected(module) if f not in module.facts)
        unsure = next((words for words in UNDECIDED if words in wrong), "")
        if not unsure and expected and _wrong(claim, replace(module, facts=(*module.facts, *expected))) is None:
            where = ", ".join(f"${write(fact, module.table, display=False)}$" for fact in expected)
            said.append(f"not answered, since it holds only where {where}: ${latex}$ (line {line})")
        elif not unsure:
            raise CardError(Problem(f"`{latex}` is to be shown, and it is false: {wrong}; correct it", line=line))
        else:
            said.append(f"not answered, since where it holds is open: ${latex}$ (line {line})")
    said += _contradicted(module)
    return replace(module, claims=tuple(holding), written=(), readings=(*module.readings, *said)) if (
        module.claims or module.written) else module


def _contradicted(module: Module) -> Iterator[str]:
    """What the question says of a letter that the statement defines otherwise: the sheet answers the statement."""
    for claim, line in module.written:
        wrong = _wrong(claim, module)
        if wrong is not None and not any(words in wrong for words in UNDECIDED):
            latex = write(claim, module.table, display=False)
            yield f"not answered, since the statement in the front matter says otherwise: ${latex}$ (line {line})"


def _wrong(claim: Rel, module: Module) -> str | None:
    try:
        return equation.counterexample(claim, derivation(settled(module)), ties=False)
    except DeriveError as error:
        return f"{UNDECIDED[0]}: {error}"
