"""The answer that the question asks for, complete: its items in their order, and what stands in them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from derive.axes import extent
from derive.calculus.derivation import Step
from derive.calculus.extremum import Extremiser, extremisers
from derive.calculus.messages import upstream
from derive.calculus.one_window import windowed
from derive.exposition import masks, numbers, reading, stages, updates, whole, windows
from derive.exposition.builder import Builder
from derive.exposition.kinks import remark
from derive.exposition.printed import equation, printed
from derive.exposition.stages import renamed
from derive.exposition.subject import Item, Subject
from derive.expr import Entry, Expr, Fn, Node, Partial, Rel, Size, Star, eq, free_indices, tuple_of, walk
from derive.notation import read
from derive.sheet import Math, Prose


def build(b: Builder, subject: Subject) -> None:
    """What is asked for, item by item; before it what the card does not write, behind it what its signs mean."""
    module = subject.module
    told = replace(b, blocks=[])
    part = ""
    for item in subject.items:
        before = len(told.blocks)
        if item.kind == "forward":
            told.prose("answer_forward", output=b.m(subject.output), several=len(module.equations) > 1)
            for equation_ in module.equations:
                told.math("forward", equation_, definition=True)
        elif item.targets:
            derivatives(told, subject, item)
            messages(told, subject, item)
        elif item.kind == "parameter":
            told.prose("answer_parameters")
        first = told.blocks[before] if len(told.blocks) > before else None
        if item.part not in ("", part) and isinstance(first, Prose):
            told.blocks[before] = Prose(told.say("answer_part", part=item.part, words=first.text))
        part = item.part
    updates.build(told, subject)
    masks.build(told, subject)
    named = replace(b, blocks=[])
    stars(named, subject, [m.expr for m in told.blocks if isinstance(m, Math)])
    told.blocks[:0] = named.blocks
    if module.renumbered:
        here, there = ([*map(b.m, entries)] for entries in zip(*module.renumbered, strict=True))
        b.prose("answer_recounted", here=here, there=there, zero=module.recounted is None)
    definitions(b, subject, told)
    b.blocks += told.blocks
    numbers.asked(b, subject)
    whole.picked(b, subject)
    shaped = whole.shapes(b, subject)
    meanings(b, subject)
    extents(b, subject, shaped)
    if subject.held:
        b.prose("answer_held", letters=[b.m(Entry(name, ())) for name in subject.held])
    remark(b, subject)
    if module.claims:
        b.prose("answer_claims")
        for claim, _ in module.claims:
            b.math("claim", claim)
    for why in module.unanswered:
        b.prose("answer_unanswered", why=why)


def definitions(b: Builder, subject: Subject, told: Builder) -> None:
    """The letters and functions of the answer that the card does not write: what they are."""
    module, shown = subject.module, [m.expr for m in told.blocks if isinstance(m, Math)]
    if any(m.name == "forward" for m in told.blocks if isinstance(m, Math)):
        shown = [n for n in shown if n not in module.equations]
    used = {n.tensor.removeprefix("delta_") for e in shown for n in walk(e) if isinstance(n, Entry)}
    needed: list[int] = []
    for place, equation_ in reversed(list(enumerate(module.equations))):
        head = cast(Entry, equation_.terms[0]).tensor
        if head in used and not subject.on_card(head) and not any(equation_ is m.expr for m in told.blocks
                                                                   if isinstance(m, Math)):
            needed.insert(0, place)
            used |= {n.tensor for n in walk(equation_) if isinstance(n, Entry)}
    given = {role: [b.m(e) for n in names if n in used and not subject.on_card(n) and (e := subject.entry(n))]
             for role, names in (("inputs", module.inputs), ("parameters", module.parameters),
                                 ("constants", module.constants))}
    b.prose("answer_letters", **given, defined=bool(needed))
    whole.defined(b, subject, (module.equations[place] for place in needed))
    applied = {n.name for e in (*shown, *(module.equations[p] for p in needed)) for n in walk(e) if isinstance(n, Fn)}
    for function in module.functions:
        if function.name in applied and not subject.on_card(function.name):
            reading.function(b, function)


def meanings(b: Builder, subject: Subject) -> None:
    """What windows cover, what a bracket means, and how many outputs there are, where the answer speaks of them."""
    shown = [block for block in b.blocks if isinstance(block, Math)]
    reading.windows(b, subject, reading.sets(b))
    bracket(b, shown, "answer_bracket")
    if any(isinstance(n, Size) for m in (*shown, *b.inline) for n in walk(m.expr)):
        reading.sizes(b, subject)


def extents(b: Builder, subject: Subject, shaped: set[str]) -> None:
    """Sizes that neither the question nor the answer has told: numbers of entries, and letters that the card lacks."""
    shown = [n for m in b.blocks if isinstance(m, Math) for n in walk(m.expr)]
    names = {n.name for n in shown if isinstance(n, Size)}
    names -= {n.name for m in b.inline for n in walk(m.expr) if isinstance(n, Size)}
    names = {name for name in names if not subject.on_card(name)}
    used = {n.tensor.removeprefix("delta_") for n in shown if isinstance(n, Entry)} - shaped
    rows: list[tuple[str, list[str]]] = []
    for symbol in map(subject.module.table.named, (*subject.module.given, *subject.module.defined)):
        brought = symbol is not None and symbol.name in used and symbol.sizes and not subject.on_card(symbol.name)
        if symbol is not None and (brought or names & {*symbol.sizes}):
            names -= {*map(str, symbol.sizes)}
            rows.append((b.letter(symbol), [b.m(extent(size)) for size in symbol.sizes]))
    b.prose("answer_extents", rows=rows)


def bracket(b: Builder, shown: list[Math], macro: str = "bracket_meaning") -> Math | None:
    """What a bracket means, by the first that stands in these formulas: the formula, None where there is none."""
    for block in shown:
        if text := _bracket(block.latex):
            b.inline.append(Math(text, read(text, b.tables[block.scope]), "inline", block.scope))
            b.prose(macro, bracket=f"${text}$")
            return block
    return None


def _bracket(latex: str) -> str:
    """The first 𝕀[…] that stands in a formula; "" where there is none, or a line ends in it."""
    _, begin, rest = latex.partition(r"\mathbb{I}[")
    end = next((n + 1 for n, c in enumerate(rest) if c == "]" and rest[:n].count("[") == rest[:n].count("]")), 0)
    return "" if r"\\" in rest[:end] else begin + rest[:end]


def stars(b: Builder, subject: Subject, answered: list[Node]) -> None:
    """r^*(k) of each maximum: the answer, its remark on ties or the derivation names it, also where terms cancel."""
    found = [cast(Expr, subject.messages.message(t.wrt).after) for t in subject.targets if t in subject.backward]
    shown = dict.fromkeys(n for value in (*found, *(t.value for t in subject.targets), *answered) for n in walk(value)
                          if isinstance(n, Star))
    for extremiser in extremisers(subject.module) if subject.targets else ():
        maximiser(b, subject, extremiser, [s for s in shown if s not in extremiser.stars
                                           and s.name == extremiser.stars[0].name and not _is_bound(s)])


def _is_bound(star: Star) -> bool:
    return any(i.name.startswith("§") for i in free_indices(star))


def maximiser(b: Builder, subject: Subject, extremiser: Extremiser, others: list[Star]) -> None:
    """(i^*, j^*) = argmax …; and f = x_{i^*j^*} where that is the whole layer."""
    at = extremiser.stars[0].at
    b.prose("answer_maximiser", op=extremiser.arg.op, stars=b.m(tuple_of(extremiser.stars)), at=[b.m(a) for a in at],
            others=[b.m(s) for s in others], rule=subject.module.tie_rule)
    b.math("maximiser", eq(tuple_of(extremiser.stars), extremiser.arg), definition=True)
    if any(w.whole for w in windowed(subject.module)):
        b.math("attained", eq(subject.output, Entry(subject.module.inputs[0], extremiser.stars)), general=True)


def derivatives(b: Builder, subject: Subject, item: Item) -> None:
    """∂y_k/∂x_i = … for each of the letters.

    Not where ∂L/∂x_i alone is asked for, nor by parameters whose messages go by way of the tensors between.
    """
    if subject.is_named(item) or item.kind == "parameter" and stages.by_stages(subject):
        return
    shown = {m.expr.terms[0] for m in b.blocks if isinstance(m, Math) and isinstance(m.expr, Rel)}
    targets = [t for t in item.targets if t.before not in shown]
    if stages.by_stages(subject):  # those of the loss by way of the tensors between, which stand in front of them
        targets.sort(key=lambda t: t.loss)
    if targets:
        loss = any(t.loss for t in targets)
        kind = "output" if item.kind == "input" and subject.module.jacobian_apart else item.kind
        b.prose("answer_derivatives", kind=kind, output=b.m(subject.output), scalar=subject.is_scalar,
                letters=[b.m(t.before.wrt) for t in targets],
                loss=b.m(Entry("loss", ())) if loss else "", delta=b.m(upstream(subject.module)) if loss else "")
    for target in targets:
        stage = between(b, subject).get(target.wrt) if target.loss and len(subject.path(target)) > 1 else None
        value = target.value if stage is None else renamed(cast(Expr, stage.after), stage.before, target.before.wrt)
        whole.stated(b, subject, f"jacobian_{target.wrt}", target.before, value, brief=stages.by_stages(subject))
        if target.loss:
            windows.here(b, subject, target.before, target.value)
            whole.linear(b, subject, target.wrt, Partial(target.before.of, Entry(target.wrt, ())))


def between(b: Builder, subject: Subject) -> dict[str, Step]:
    """δ of what lies between, told once, where messages are told by them; then these messages, by their letters."""
    found = stages.stages_of(subject) if stages.by_stages(subject) else {}
    asked = {t.wrt for t in subject.backward}
    if found and not any(isinstance(m, Math) and m.name == "between" for m in b.blocks):
        b.prose("answer_between", loss=b.m(Entry("loss", ())), output=b.m(subject.output))
        inner = [(cast(Expr, s.before), cast(Expr, s.after)) for name, s in found.items() if name not in asked]
        if subject.module.table.vectors:
            for before, after in inner:
                whole.stated(b, subject, "between", before, after, brief=True)
        else:
            b.joined("between", (equation(before, printed(after, before, subject.module)) for before, after in inner))
        b.prose("answer_staged")
    return found


def messages(b: Builder, subject: Subject, item: Item) -> None:
    """δ_x = … for each of the letters; of a scalar layer, its derivatives are its messages."""
    if not item.messages or subject.is_scalar:
        return
    delta = upstream(subject.module)
    if subject.is_named(item):  # of a maximum over windows, by the card's ∂L/∂x
        (target,) = item.targets
        message = subject.message(target)
        asked = Partial(Entry("loss", ()), target.before.wrt)
        b.prose("answer_derivatives", kind="named", output=b.m(subject.output), scalar=False,
                letters=[b.m(target.before.wrt)], loss=b.m(Entry("loss", ())), delta=b.m(delta))
        value = renamed(cast(Expr, message.after), message.before, target.before.wrt)
        whole.stated(b, subject, f"message_{target.wrt}", asked, value)
        windows.here(b, subject, asked, value)
        if not subject.module.values:  # the numbers are the answer
            whole.masked(b, subject, target.wrt, Partial(asked.of, Entry(target.wrt, ())))
        return
    again = any(isinstance(m, Math) and m.name.startswith("message_") for m in b.blocks)
    b.prose("answer_messages", delta=b.m(delta), gradient=b.m(Partial(Entry("loss", ()), subject.output)),
            letter=b.gradient, loss=b.m(Entry("loss", ())),
            several=len(item.targets) > 1, again=again, staged=stages.by_stages(subject),
            alone=item.kind == "parameter" and stages.by_stages(subject))
    staged = between(b, subject)
    for target in item.targets:
        step = staged.get(target.wrt) or subject.message(target)
        before, after = cast(Expr, step.before), cast(Expr, step.after)
        whole.stated(b, subject, f"message_{target.wrt}", before, after, brief=bool(staged))
        windows.here(b, subject, before, after)
        if subject.is_window:
            whole.masked(b, subject, target.wrt, Entry(cast(Entry, before).tensor, ()))
        else:
            whole.linear(b, subject, target.wrt, Entry(cast(Entry, before).tensor, ()))
