"""Whether a sheet answers what is asked: each derivative, each message, the formulas, numbers where these are asked."""

from __future__ import annotations

from collections.abc import Iterator

from derive.expr import ZERO, Entry, Partial, Rel, conditions, walk
from derive.magnitudes import held
from derive.module import Module
from derive.notation import write
from derive.notation.in_text import first_written
from derive.sheet import Math, Prose, Sheet, Table
from derive.verify.report import Check, Verdict

LOSS = "loss"
Asked = tuple[str, str]  # of what and by what; of the loss for a message


def answered(sheet: Sheet, module: Module) -> Iterator[Check]:
    """What is asked for and not in the answer, and sentences of the answer that were made and are not there."""
    there = {left for m in sheet.answer if isinstance(m, Math) for left in _lefts(m)}
    heads = {m.expr.terms[0] for m in sheet.answer if isinstance(m, Math) and isinstance(m.expr, Rel)}
    missing = [f"∂{of}/∂{wrt}" for of, wrt in _asked(module) if (of, wrt) not in there]
    if "forward" in module.asked:
        missing += [f"`{e.terms[0].tensor}`" for e in module.equations  # type: ignore[attr-defined]
                    if e.terms[0] not in heads]
    new = {n.tensor for head in heads for n in walk(head) if isinstance(n, Entry)}
    missing += [f"`{u.wrt}` after the step" for u in module.updates if u.new not in new]
    missing += [f"the mask of `{m.of}`" for m in module.masks if m.name not in new]
    if module.values:
        cells = {row[0] for b in sheet.answer if isinstance(b, Table) for row in b.rows}
        given = {left for m in sheet.answer if isinstance(m, Math) and m.name == "numbers" for left in _lefts(m)}
        numbers = {n.tensor for m in sheet.answer if isinstance(m, Math) and m.name == "numbers"
                   for c in conditions(m.expr) if isinstance(c, Rel) and isinstance(n := c.terms[0], Entry)}
        missing += [f"the numbers of `{u.wrt}` after the step" for u in module.updates if u.new not in numbers
                    and f"${write(Entry(u.new, ()), module.table, display=False)}$" not in cells]
        missing += [f"the numbers of the mask of `{m.of}`" for m in module.masks if m.name not in numbers
                    and f"${write(Entry(m.name, ()), module.table, display=False)}$" not in cells]
        beside = {wrt for of, wrt in given if of == LOSS and not (module.wanted or module.rows)}
        missing += [f"the numbers of ∂{of}/∂{wrt}" for of, wrt in _asked(module)
                    if (of, wrt) not in given and not (of == module.output and wrt in beside)
                    and not cells & {*_texts(of, wrt, module)} and _is_known(of, module)]
    if missing:
        yield _refuted("What is asked for is in the answer", f"{missing[0]} is not")
    placed: dict[str, list[int]] = {}  # of each output by itself: the answer takes these one after the other
    for m in sheet.answer:
        if isinstance(m, Math) and m.name not in ("between", "numbers", "definition") and (
                place := _place(m, module)) is not None:
            placed.setdefault(next((of for of, _ in _lefts(m)), "") if module.wanted else "", []).append(place)
    for places in placed.values():
        if places != sorted(places):
            yield _refuted("The answer is in the order of the question", f"places {', '.join(map(str, places))}")
    yield from _misplaced(sheet, module)
    yield from _disordered(sheet, module)
    words = " ".join(b.text for b in sheet.answer if isinstance(b, Prose))
    for claim in sheet.claims:
        if claim.macro.startswith("answer_") and claim.words and claim.words not in words:
            yield _refuted("What the answer was to say is said", f"“{claim.words}”")


def _disordered(sheet: Sheet, module: Module) -> Iterator[Check]:
    """Parameters of which the question asks together, in another order than the one in which it writes them."""
    if module.wanted or sheet.question is None:
        return
    for name in ("jacobian", "message"):
        wrts = [wrt for m in sheet.answer if isinstance(m, Math) and m.name.startswith(f"{name}_")
                for _, wrt in _lefts(m) if wrt in module.parameters]
        symbols = [s for s in map(module.table.named, dict.fromkeys(wrts)) if s is not None]
        places = first_written(sheet.question, [s.latex for s in symbols])
        if places is not None and places != sorted(places):
            yield _refuted("The answer is in the order of the question", f"{', '.join(s.name for s in symbols)}")


def _misplaced(sheet: Sheet, module: Module) -> Iterator[Check]:
    """What stands under the mark of another part of the question than the one that asks for it."""
    marks = {c.words: c.facts["part"] for c in sheet.claims if c.macro == "answer_part"}
    several, here = len({*module.parts} - {""}) > 1, ""
    for block in sheet.answer if several else ():
        if isinstance(block, Prose):
            here = marks.get(block.text, here)
        elif isinstance(block, Math) and block.name not in ("between", "numbers", "definition", "claim"):
            parts = {module.parts[n] for n in _places(block, module)}
            if parts and here not in parts:
                yield _refuted("Each part of the answer is what that part of the question asks for",
                               f"{block.latex} stands in “{here}”, and is asked for in “{min(parts)}”")


def _refuted(name: str, evidence: str) -> Check:
    return Check("answer", "", Verdict.REFUTED, name, evidence)


def _is_known(of: str, module: Module) -> bool:
    """The gradient that comes in is given, or not asked of."""
    return of != LOSS or f"delta_{module.output}" in dict(module.values)


def _asked(module: Module) -> list[Asked]:
    """∂y/∂x, ∂L/∂x: what is asked for, in its order."""
    if module.wanted:
        return [(p.of.tensor, p.wrt.tensor) for p in module.wanted
                if isinstance(p.of, Entry) and isinstance(p.wrt, Entry)]
    inputs = [name for name in module.inputs if name not in held(module)]
    scalar = not module.definition(module.output)[0].indices
    of = module.output if scalar else LOSS
    found = [(module.output, name) for name in inputs if "jacobian" in module.asked]
    found += [(of, name) for name in inputs if "vjp" in module.asked]
    return found + [(of, name) for name in module.parameters if "parameters" in module.asked]


def _place(math: Math, module: Module) -> int | None:
    """Where a formula of the answer is asked for: of derivatives that are named by itself, else by its kind."""
    left = next(_lefts(math), None)
    if module.wanted:
        asked = _asked(module)
        return asked.index(left) if left in asked else None
    wrt = left[1] if left is not None else None
    kinds = ("forward",) if wrt is None else ("parameters",) if wrt in module.parameters else ("jacobian", "vjp")
    if wrt is None and math.name != "forward":
        return None
    return next((n for n, kind in enumerate(module.asked) if kind in kinds), None)


def _places(math: Math, module: Module) -> list[int]:
    """All places in ``module.parts`` of what a formula of the answer is."""
    left = next(_lefts(math), None)
    if left is not None and module.wanted:
        return [len(module.asked) + n for n, asked in enumerate(_asked(module)) if asked == left]
    of, wrt = left or ("", "")
    kinds = (("forward",) if left is None and math.name == "forward" else () if left is None
             else ("parameters",) if wrt in module.parameters else ("vjp",) if of == LOSS else ("jacobian", "vjp"))
    kind = next((k for k in kinds if k in module.asked), None)
    return [n for n, asked in enumerate(module.asked) if asked == kind]


def _lefts(math: Math) -> Iterator[Asked]:
    """(y, x) of ∂y_k/∂x_i = …, (loss, x) of δ_x = … and of ∂L/∂x = …"""
    for statement in conditions(math.expr):
        left = statement.terms[0] if isinstance(statement, Rel) else None
        if isinstance(left, Partial) and isinstance(left.of, Entry) and isinstance(left.wrt, Entry):
            yield left.of.tensor, left.wrt.tensor
        elif isinstance(left, Entry) and left.tensor.startswith("delta_"):
            yield LOSS, left.tensor.removeprefix("delta_")


def _texts(of: str, wrt: str, module: Module) -> Iterator[str]:
    """The cells that name it: of an output that has indices the derivative of its first entry."""
    first = (ZERO,) * len(module.definition(of)[0].indices) if of in module.defined else ()
    nodes = [Partial(Entry(of, first), Entry(wrt, ())), *([Entry(f"delta_{wrt}", ())] if of == LOSS else [])]
    for node in nodes:
        yield f"${write(node, module.table, display=False)}$"
