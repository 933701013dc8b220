"""Derivatives by the chain rule, from the input forward or from the output back: those below before those above."""

from __future__ import annotations

from typing import cast

from derive.calculus.brackets import decided
from derive.calculus.derivation import Step, neat
from derive.calculus.ranges import ranged
from derive.exposition.builder import Builder
from derive.exposition.local import cancelling, local, reasoned
from derive.exposition.printed import equation, printed, with_limits
from derive.exposition.stages import printable
from derive.exposition.subject import Subject, Target
from derive.expr import ZERO, Entry, Expr, Idx, Mul, Node, Num, Partial, Reduce, add, free_indices, subst
from derive.notation.writer import choose
from derive.sheet import Block, Prose

Edge = tuple[str, str]  # a tensor and one that it is computed from


def chains(b: Builder, subject: Subject, targets: tuple[Target, ...], *, rules: bool) -> None:
    """∂y/∂x of each target, after the derivatives that it is made of; ``rules``: with local derivatives."""
    shown, before, letter, leads = set[Edge](), len(b.blocks), "", set[Block]()
    for target in targets:
        if (target.of, target.wrt) in shown:
            continue  # it stands above, on the way of another
        if rules and (len(targets) > 1 or subject.backward) and letter != (letter := target.wrt):
            b.prose("chain_by", wrt=b.m(target.before.wrt))
            leads.add(b.blocks[-1])
        _total(b, subject, target, (target.of, target.wrt), shown, rules)
    b.blocks[before:] = _paragraphs(b.blocks[before:], leads)


def _paragraphs(blocks: list[Block], leads: set[Block]) -> list[Block]:
    """What leads to a display as one paragraph; some begin one."""
    made = list[Block]()
    for block in blocks:
        if made and isinstance(block, Prose) and isinstance(last := made[-1], Prose) and block not in leads:
            made[-1] = Prose(f"{last.text} {block.text}")
        else:
            made.append(block)
    return made


def _total(b: Builder, subject: Subject, target: Target, edge: Edge, shown: set[Edge], rules: bool) -> None:
    """∂t/∂u, after the derivatives that it is made of."""
    if edge in shown:
        return
    shown.add(edge)
    of, wrt = edge
    step = subject.messages.jacobian(wrt, None if of == subject.module.output else of)
    step = step.premises[0] if step.rule == "cases" else step  # that the answer writes [c] as cases is no step
    before, inner = cast(Partial, step.before), step.premises[0]
    theirs = _theirs(before, target) if wrt == target.wrt else {}
    if inner.rule not in ("composition", "reverse"):
        if rules:
            local(b, subject, step, theirs)
        if rules and edge == (target.of, target.wrt) and isinstance(b.blocks[-1], Prose):  # it is like one before
            own = subst(before, theirs)
            b.math("local", equation(own, printed(subst(cast(Expr, step.after), theirs), own, subject.module)))
        return
    for premise in inner.premises:
        if premise.held == step.held:
            _total(b, subject, target, _edge(premise), shown, rules)
    for premise in (p for p in inner.premises if p.held != step.held and rules):
        if _edge(premise) not in shown and printable(premise, subject):
            shown.add(_edge(premise))
            show = cancelling if premise.after is ZERO else local
            asked = theirs if _edge(premise)[1] == target.wrt else {}
            show(b, subject, premise, _letters(premise, step, subject, asked) | asked)
    if _through(step):
        link(b, subject, step, theirs)


def _edge(step: Step) -> Edge:
    before = cast(Partial, step.before)
    return cast(Entry, before.of).tensor, cast(Entry, before.wrt).tensor


def _through(step: Step) -> list[Entry]:
    """The tensors s of Σ_s Σ_m ∂y/∂s_m ∂s_m/∂x in whose terms neither factor is 0."""
    before, premises = cast(Partial, step.before), step.premises[0].premises
    ends = {before.of, before.wrt}
    found = dict.fromkeys(cast(Entry, e) for p in premises for e in p.before.children() if e not in ends)
    zero = {p.before for p in premises if p.after is ZERO}
    return [s for s in found if not zero & {Partial(before.of, s), Partial(s, before.wrt)}]


def link(b: Builder, subject: Subject, step: Step, letters: dict[Node, Node]) -> None:
    """∂y/∂x = Σ_s Σ_m ∂y/∂s_m ∂s_m/∂x = the derivatives put in = in the lecturer's form."""
    before, inner = cast(Partial, step.before), step.premises[0]
    through = _through(step)
    held = [p for p in inner.premises if p.held != step.held and p.after is not ZERO]
    direct = any(p.before is before for p in held)
    shown = subst(before, letters)
    b.prose("chain", of=b.m(shown.of), wrt=b.m(shown.wrt), direct=direct,
            through=[b.letter(known) for s in through if (known := subject.module.table.named(s.tensor))])
    symbolic = None
    if not direct and all(printable(p, subject) for p in held):
        symbolic = with_limits(add(*(_term(before, s, subject) for s in through)), subject.module)
    raw, after = subst(neat(cast(Expr, inner.after)), letters), subst(cast(Expr, step.after), letters)
    if any(isinstance(at, Num) for at in letters.values()):
        raw, after = decided(raw), decided(after)
    reasoned(b, subject, "chain", shown, None if symbolic is None else subst(symbolic, letters), raw, after)


def _theirs(before: Partial, target: Target) -> dict[Node, Node]:
    """The letters of x as the question writes it, where they are not those of t; at a label s_y those of any s_k."""
    own, asked = cast(Entry, before.wrt).indices, cast(Entry, target.before.wrt).indices
    clash = free_indices(before.of) & frozenset().union(*map(free_indices, asked))
    labelled = any(isinstance(i, Entry) for i in asked)
    return {} if clash or labelled or len(own) != len(asked) else dict(zip(own, asked, strict=True))


def _term(before: Partial, inner: Entry, subject: Subject) -> Expr:
    """Σ_m ∂y/∂s_m ∂s_m/∂x."""
    product = Mul((Partial(before.of, inner), Partial(inner, before.wrt)))
    return Reduce("sum", ranged(inner, product, subject.module), product) if inner.indices else product


def _letters(premise: Step, step: Step, subject: Subject, asked: dict[Node, Node]) -> dict[Node, Node]:
    """The letters of s_m in ∂y_k/∂s_m or ∂s_m/∂x as they stand below the sum over m."""
    ends, before = cast(Partial, step.before).children(), cast(Partial, premise.before)
    inner = next((cast(Entry, e) for e in before.children() if e not in ends), None)
    term = ZERO if inner is None else _term(cast(Partial, step.before), inner, subject)
    if inner is None or not isinstance(term, Reduce):
        return {}
    taken = free_indices(step.before).union(*map(free_indices, asked.values()))
    names = choose(term, subject.module.table, {}, frozenset(i.name for i in taken))
    return dict(zip(inner.indices, [Idx(names[v]) for v in term.binder.variables], strict=True))
