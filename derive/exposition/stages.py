"""From the output back: the local derivatives of each definition, the δ of each tensor, the message of each letter."""

from __future__ import annotations

from typing import cast

from derive.calculus.algebra import has_sum, key
from derive.calculus.dependence import between
from derive.calculus.derivation import Step, derivative, is_total, neat, unlettered
from derive.calculus.form import simplified
from derive.calculus.messages import upstream
from derive.calculus.ranges import entry_ranges, ranged
from derive.exposition.builder import Builder
from derive.exposition.local import alike, cancelling, local, reasoned, steps
from derive.exposition.printed import equation, presented, printed, with_limits
from derive.exposition.subject import Subject, Target
from derive.expr import ZERO, Entry, Expr, Idx, Mul, Node, Partial, Reduce, add, eq, mul, subst
from derive.lines import WIDTH, width
from derive.notation import write
from derive.notation.writer import choose
from derive.sheet import Prose


def backward(b: Builder, subject: Subject) -> None:
    """δ of each tensor from the output back to what is asked for."""
    stages, alikes = stages_of(subject), list[tuple[Step, Entry]]()
    shown: dict[object, Entry] = {}  # what each δ is of, by how it was derived
    for stage in stages.values():
        steps, here = _steps(stage, subject), Entry(_of(stage), cast(Entry, stage.before).indices)
        if steps in shown:
            alikes.append((stage, shown[steps]))
            continue
        if {_of(s) for s, _ in alikes} & {_own(p, subject).tensor for p in _users(stage)}:
            _listed(b, subject, alikes)
            alikes = []
        stage_of(b, subject, stage)
        if steps is not None:
            shown[steps] = here
    if alikes:
        _listed(b, subject, alikes)


def inserted(b: Builder, subject: Subject) -> None:
    """Each message in one formula."""
    stages = stages_of(subject)
    several = [] if by_stages(subject) else [
        t for t in subject.backward if len(subject.path(t)) > 1 and subject.messages.message(t.wrt).after
        is not stages[t.wrt].after]
    met = [t for t in several if len(_users(stages[t.wrt])) > 1]
    for heading, group in (("joined", met), ("inserted", [t for t in several if t not in met])):
        if group:
            b.heading(f"heading_{heading}", 3)
        for target in group:
            _inserted(b, subject, stages, target.wrt)


def _users(stage: Step) -> list[Step]:
    """The derivatives, other than 0, of the definitions in which a tensor stands."""
    return [p for p in stage.premises[0].premises if p.after is not ZERO]


def _steps(stage: Step, subject: Subject) -> object:
    """How δ of a letter is derived, but for the letters; None where not by derivatives that are printed."""
    users = _users(stage)
    if not users or not all(printable(p, subject) for p in users):
        return None
    rules = tuple(steps(p, subject, _letters(p, subject)) for p in users)
    return rules, unlettered(eq(cast(Expr, stage.before), cast(Expr, stage.after)))


def _listed(b: Builder, subject: Subject, alikes: list[tuple[Step, Entry]]) -> None:
    """The δ that follow like others, one beside the other."""
    b.prose("stages_alike", here=[b.m(Entry(_of(s), cast(Entry, s.before).indices)) for s, _ in alikes],
            like=[*dict.fromkeys(b.m(like) for _, like in alikes)])
    b.joined("stage", (equation(cast(Expr, s.before), printed(cast(Expr, s.after), s.before, subject.module))
                       for s, _ in alikes))


def stages_of(subject: Subject) -> dict[str, Step]:
    """δ of each tensor from the output back, then of what is asked for, by the names of these tensors."""
    found: dict[str, Step] = {}
    for target in subject.backward:
        for stage in subject.messages.stages(target.wrt):
            found.setdefault(_of(stage), stage)
    asked = {t.wrt: t for t in subject.backward}
    between = [t for t in reversed(subject.module.defined) if t in found and t not in asked]
    return {name: found[name] for name in (*between, *asked) if name in found}


def by_stages(subject: Subject) -> bool:
    """A message takes more than a line by itself: the gradients of the tensors between are the names of its parts."""
    def is_wide(target: Target) -> bool:
        step = subject.messages.message(target.wrt)
        value = printed(cast(Expr, step.after), step.before, subject.module)
        return width(write(eq(cast(Expr, step.before), value), subject.module.table)) > WIDTH

    return not subject.is_scalar and any(len(subject.path(t)) > 1 and is_wide(t) for t in subject.backward)


def _inserted(b: Builder, subject: Subject, stages: dict[str, Step], wrt: str) -> None:
    """δ_x with the gradients of the tensors between put in: a term for each way from x to the output, then joined."""
    message, module = subject.messages.message(wrt), subject.module
    before, stage = cast(Entry, message.before), stages[wrt]
    users = [p for p in stage.premises[0].premises if p.after is not ZERO]
    paths = [simplified(renamed(_way(p, subject), stage.before, before), entry_ranges(before, module), module)
             for p in users]
    after, whole = cast(Expr, message.after), add(*paths)
    joined = presented(whole, before, module) if len(paths) > 1 and key(whole) != key(after) else None
    words = b.say("inserted", users=[b.m(_own(p, subject)) for p in users], delta=b.m(upstream(module)),
                  joined=joined is not None, shared=isinstance(after, Mul))
    if Prose(words) not in b.blocks:
        b.text(words)
    b.math(f"message_{wrt}", equation(before, joined, printed(after, before, module)))


def renamed(value: Expr, own: Node, entry: Node) -> Expr:
    """What is said of one entry of a tensor, said of another one."""
    return subst(value, dict(zip(cast(Entry, own).indices, cast(Entry, entry).indices, strict=True)))


def _way(step: Step, subject: Subject) -> Expr:
    """Σ_k δ_{t,k} ∂t_k/∂u_j with both put in, δ_t as it follows from that of the output."""
    of = cast(Entry, cast(Partial, step.before).of)
    message = subject.messages.message(of.tensor)
    product = mul(renamed(cast(Expr, message.after), message.before, of), cast(Expr, step.after))
    return Reduce("sum", ranged(of, product, subject.module), product) if of.indices else product


def _of(stage: Step) -> str:
    return cast(Entry, stage.before).tensor.removeprefix("delta_")


def stage_of(b: Builder, subject: Subject, stage: Step) -> None:
    """The local derivatives of the definitions that use a tensor, and its δ from theirs."""
    module = subject.module
    target, inserted = cast(Entry, stage.before), stage.premises[0]
    users = _users(stage)
    whole = len(module.equations) == 1
    here = Entry(_of(stage), target.indices)
    total = [p for p in inserted.premises if printable(p, subject)]
    same = list[tuple[Partial, Partial]]()
    for user in total:
        found = None if user.after is ZERO else alike(b, subject, user, _letters(user, subject))
        if found is None:
            _local(b, subject, user, here, whole)
        else:
            same.append(found)
    if same:
        lead = b.say("stage_used", here=b.m(here), used=[b.m(own.of) for own, _ in same], several=not whole)
        likes = [*dict.fromkeys(b.m(like) for _, like in same)]
        b.text(f"{lead} {b.say('rule_alike', like=likes, of=[b.m(own) for own, _ in same])}")
    direct = all(p in total for p in users)
    chain = add(*(_chained(p, subject) for p in users)) if direct and users else None
    after = cast(Expr, stage.after)
    if not (whole and "stage_message" in b.told):  # of one equation it is the same for every letter
        b.prose("stage_message", here=b.m(here), users=[b.m(_own(p, subject)) for p in users], held=not direct,
                output=b.m(subject.output), whole=whole, scalar=subject.is_scalar, collapsed=chain is not None
                and isinstance(chain, Reduce) and not has_sum(after))
        b.told.add("stage_message")
    reasoned(b, subject, f"stage_{_of(stage)}", target, None if chain is None else with_limits(chain, module),
             neat(cast(Expr, inserted.after)), after)


def _local(b: Builder, subject: Subject, user: Step, here: Entry, whole: bool) -> None:
    """∂t_k/∂u_j where it stands in the definition of t; 0 is worth a line if terms cancel."""
    letters = _letters(user, subject)
    used = b.m(subst(cast(Partial, user.before).of, letters))
    if user.after is ZERO:
        cancelling(b, subject, user, letters)
        return
    local(b, subject, user, letters, b.say("stage_used", here=b.m(here), used=[used], several=not whole))


def _own(step: Step, subject: Subject) -> Entry:
    """The tensor that a local derivative is of, with its usual letters."""
    return subject.module.definition(cast(Entry, cast(Partial, step.before).of).tensor)[0]


def printable(step: Step, subject: Subject) -> bool:
    """A derivative with the other tensors held is also the total one, which ∂ stands for in print."""
    before = cast(Partial, step.before)
    of, wrt = cast(Entry, before.of), cast(Entry, before.wrt)
    if not between(of.tensor, wrt, subject.module):
        return True
    _, value = subject.module.definition(of.tensor)
    return is_total(value, wrt, subject.module) or derivative(of, wrt, subject.module).after is step.after


def _chained(step: Step, subject: Subject) -> Expr:
    """Σ_k δ_{t,k} ∂t_k/∂u_j."""
    before = cast(Partial, step.before)
    of = cast(Entry, before.of)
    delta = Entry(f"delta_{of.tensor}", of.indices)
    product = Mul((delta, before))
    return Reduce("sum", ranged(delta, product, subject.module), product) if of.indices else product


def _letters(step: Step, subject: Subject) -> dict[Node, Node]:
    """The letters of ∂t_k/∂u_j as they stand below the sum over k."""
    before = cast(Partial, step.before)
    wrt = cast(Entry, before.wrt)
    chain = _chained(step, subject)
    if not isinstance(chain, Reduce):
        return {}
    names = choose(chain, subject.module.table, {}, frozenset(i.name for i in wrt.indices if isinstance(i, Idx)))
    own = cast(Entry, before.of).indices
    return dict(zip(own, [Idx(names[v]) for v in chain.binder.variables], strict=True))

