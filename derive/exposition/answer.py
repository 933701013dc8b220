"""The answer that the question asks for, complete."""

from __future__ import annotations

from typing import cast

from derive.calculus.extremum import Extremiser, extremisers
from derive.calculus.messages import upstream
from derive.exposition import whole, windows
from derive.exposition.builder import Builder
from derive.exposition.kinks import remark
from derive.exposition.subject import Subject, Target
from derive.expr import Bracket, Entry, Expr, Partial, Star, eq, free_indices, tuple_of, walk
from derive.sheet import Math


def build(b: Builder, subject: Subject) -> None:
    """The output, the derivatives and the messages asked for; first what stands in them without being on the card."""
    module = subject.module
    if module.recounted is not None:
        b.prose("answer_recounted", here=b.m(module.recounted[0]), there=b.m(module.recounted[1]))
    if "forward" in module.asked:
        b.prose("answer_forward", output=b.m(subject.output), several=len(module.equations) > 1)
        for equation_ in module.equations:
            b.math("forward", equation_, definition=True)
    stars(b, subject)
    if subject.inputs:
        derivatives(b, subject, subject.inputs, "named" if module.wanted else "input")
        if not module.wanted and "vjp" in module.asked:
            messages(b, subject, subject.inputs)
    if subject.parameters:
        derivatives(b, subject, subject.parameters, "parameter")
        messages(b, subject, subject.parameters, again="vjp" in module.asked and bool(subject.inputs))
    elif "parameters" in module.asked and not module.parameters:
        b.prose("answer_parameters")
    whole.shapes(b, subject)
    bracket(b, subject)
    remark(b, subject)


def bracket(b: Builder, subject: Subject) -> None:
    """What an indicator bracket means, where the answer has one."""
    shown = (n for block in b.blocks if isinstance(block, Math) for n in walk(block.expr) if isinstance(n, Bracket))
    first = next((n for n in shown if not any(i.name.startswith("§") for i in free_indices(n))), None)
    if first is not None:
        b.prose("answer_bracket", bracket=b.m(first))


def stars(b: Builder, subject: Subject) -> None:
    """r^*(k) of each maximum: the answer, its remark on ties or the derivation names it, also where terms cancel."""
    found = [cast(Expr, subject.messages.message(t.wrt).after) for t in subject.targets if t in subject.backward]
    shown = dict.fromkeys(n for value in (*found, *(t.value for t in subject.targets)) for n in walk(value)
                          if isinstance(n, Star))
    for extremiser in extremisers(subject.module) if subject.targets else ():
        maximiser(b, subject, extremiser, [s for s in shown if s not in extremiser.stars
                                           and s.name == extremiser.stars[0].name and not _is_bound(s)])


def _is_bound(star: Star) -> bool:
    return any(i.name.startswith("§") for i in free_indices(star))


def maximiser(b: Builder, subject: Subject, extremiser: Extremiser, others: list[Star]) -> None:
    at = extremiser.stars[0].at
    b.prose("answer_maximiser", op=extremiser.arg.op, stars=b.m(tuple_of(extremiser.stars)), at=[b.m(a) for a in at],
            others=[b.m(s) for s in others], rule=subject.module.tie_rule)
    b.math("maximiser", eq(tuple_of(extremiser.stars), extremiser.arg), definition=True)


def derivatives(b: Builder, subject: Subject, targets: tuple[Target, ...], kind: str) -> None:
    """∂y_k/∂x_i = … for each of the letters."""
    b.prose("answer_derivatives", kind=kind, output=b.m(subject.output), scalar=subject.is_scalar,
            letters=[b.m(t.before.wrt) for t in targets],
            delta=b.m(upstream(subject.module)) if any(t.loss for t in targets) else "")
    for target in targets:
        whole.stated(b, subject, f"jacobian_{target.wrt}", target.before, target.value)


def messages(b: Builder, subject: Subject, targets: tuple[Target, ...], *, again: bool = False) -> None:
    """δ_x = … for each of the letters."""
    delta, output = upstream(subject.module), subject.output
    b.prose("answer_messages", delta=b.m(delta), output=b.m(output), scalar=subject.is_scalar,
            gradient=b.m(Partial(Entry("loss", ()), output)), several=len(targets) > 1, again=again)
    for target in targets:
        step = subject.message(target)
        before, after = cast(Expr, step.before), cast(Expr, step.after)
        whole.stated(b, subject, f"message_{target.wrt}", before, after)
        windows.here(b, subject, before, after)
