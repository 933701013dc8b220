r"""What stands beside the equations and restricts them, and no equation has it: i ≠ j of a sum, A_{ii} = 0, W = W^⊤."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.errors import Problem, RequestError
from derive.expr import Entry, Idx, In, walk
from derive.module import Module
from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.rules.kinds import is_case, is_derived
from derive.notation.symbols import name_of
from derive.question.sentences.tokens import asks, sentences
from derive.question.words.lexicon import begins, named
from derive.question.words.prose import Prose

_LABEL = re.compile(r"\^\{\([a-z]\)\}")  # x^{(n)}
_RELATIONS = frozenset(("≠", "≤", "<", "≥", ">"))


def refuse_numbered(prose: Prose, module: Module) -> None:
    """Raise :class:`RequestError` for s_c beside s_j, where c = 2: it is the entry 2 of s, or a letter of its own."""
    cases = {str(run[0][0]): (str(run[1][0]), f.line) for f in prose.formulas
             if f.tree and is_case(f.tree) and (run := trees.sides(f.tree))}
    for name in module.given:
        base, _, label = name.rpartition("_")
        whole = module.table.named(base) if label in cases else None
        if whole is not None and whole.axes:
            number, line = cases[label]
            raise RequestError(Problem(f"`{name}` with `{label} = {number}`: the entry of `{base}`, or a letter of its "
                                       f"own? Write `{base}_{number}`, or give it another letter", line=line,
                                       key="forward"))


def refuse_restricted(prose: Prose, module: Module) -> None:
    """Raise :class:`RequestError` for a formula that leaves out terms or entries, or makes entries equal."""
    if (one := _of_one_sample(prose, module)) is not None:
        raise RequestError(Problem(f"`{one[0]}` for each sample: of one of them, or summed over all? Write their "
                                   "range, as in $n = 1, \\dots, N$, or “for one sample”", line=one[1], key="forward"))
    for formula in _told(prose):
        if _is_certain(formula.tree or (), prose, module) and _held(formula, prose):
            raise RequestError(Problem(f"`{formula.latex.strip()}` is fixed: write it as a case of its formula, or "
                                       "below the sums", line=formula.line, key="forward"))
        for part in trees.statements(formula.tree or ()):
            problem = _of_sum(part, prose) or _of_entries(part, prose, module) or _of_letter(part, module)
            if problem:
                raise RequestError(Problem(f"`{formula.latex.strip()}` {problem}", line=formula.line, key="forward"))


def _of_one_sample(prose: Prose, module: Module) -> tuple[str, int] | None:
    """«$y^{(n)} = W x^{(n)}$ for each sample»: one of them, or all, where no formula says over which n they run."""
    labelled = next((s.latex for s in module.table.symbols if s.name in module.defined and _LABEL.search(s.latex)), "")
    each = named(prose.text, "of_each.sample") if labelled else ()
    by = {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} or {*module.parameters}
    shared = [n for n in by if (s := module.table.named(n)) is not None and not _LABEL.search(s.latex)]
    return (labelled, prose.plain.line(each[0].start)) if each and shared else None


def _is_certain(run: trees.Run, prose: Prose, module: Module) -> bool:
    """z_K, z_1 of a letter of the layer, with indices that run nowhere."""
    head = tr.normal(run[0]) if len(run) == 1 else None
    if not isinstance(head, tr.Scripted) or len(head.subs) != 1 or name_of(str(head.base)) not in module.given:
        return False
    running = _running(prose, module)
    return running.isdisjoint(map(str, head.subs[0])) and all(tr.is_token(i, "NAME", "NUMBER") for i in head.subs[0])


def _held(formula: Formula, prose: Prose) -> bool:
    """«is fixed to zero», «is held at ∎» behind it."""
    at = next((gap.start for gap in prose.gaps if gap.formula is formula), None)
    return at is not None and begins(prose.text, at + 1, "holds.entry")


def _told(prose: Prose) -> Iterator[Formula]:
    """The formulas that are not in what is asked."""
    asked = [(ts[0].start, ts[-1].start) for ts in sentences(prose) if asks(ts)]
    places = {id(gap.formula): gap.start for gap in prose.gaps}
    for formula in prose.formulas:
        start = places.get(id(formula), -1)
        if not any(first <= start <= last for first, last in asked):
            yield formula


def _of_sum(part: trees.Run, prose: Prose) -> str:
    r"""i ≠ j, j ≤ i, k \in \{-1, 0, 1\}, k = -1, …, 1 of letters over which nothing but a sum without limits runs."""
    names = [*tr.names_in(part)]
    relation = next((i for i in part if tr.is_token(i, "REL", "IN")), None)
    if relation is None or not names or any(isinstance(tr.normal(i), tr.Scripted) for i in part):
        return ""
    summed, heads = _summed(prose)
    own = [n for n in names if n in summed - heads]
    if not own or not {*names} <= summed | heads:
        return ""
    negative = tr.has(part, "MINUS") and {*names} == {*own}  # k = -1, 0, 1
    compares = str(relation) in _RELATIONS and len(names) == 2 and len(part) == 3
    if compares or negative or tr.is_token(relation, "IN"):
        return f"says over which `{own[0]}` is summed: write it below the sum, as in `\\sum_{{j \\neq i}}`"
    return ""


def _summed(prose: Prose) -> tuple[set[str], set[str]]:
    r"""The letters below \sum that stand there alone, and those of the entries that are computed."""
    summed: set[str] = set()
    heads: set[str] = set()
    for formula in prose.formulas:
        for run in trees.all_runs(formula.tree or ()):
            for item in run:
                if isinstance(item, tr.Scripted) and str(item.base) == "sum" and item.subs and not item.sups and (
                        not tr.has(item.subs[0], "REL", "IN")):
                    summed |= {*tr.names_in(item.subs[0])}
        heads |= trees.indices(formula.tree or ()) if is_derived(formula.tree or ()) else set()
        for part in trees.statements(formula.tree or ()):
            if len(trees.sides(part)) > 1:
                heads |= trees.indices(trees.sides(part)[0])
    return summed, heads


def _running(prose: Prose, module: Module) -> set[str]:
    """The letters that are indices, also of sums."""
    return _summed(prose)[0] | {n.name for e in module.equations for n in walk(e) if isinstance(n, Idx)}


def _of_entries(part: trees.Run, prose: Prose, module: Module) -> str:
    """A_{ii} = 0, x_{n0} = 1, z_K = 0: some entries of a letter."""
    two = trees.sides(part)
    head = tr.normal(two[0][0]) if len(two) == 2 and len(two[0]) == 1 and len(two[1]) == 1 else None
    if not isinstance(head, tr.Scripted) or not head.subs or not tr.is_token(two[1][0], "NUMBER"):
        return ""
    name, subs = name_of(str(head.base)), [str(i) for i in head.subs[0] if tr.is_token(i, "NAME", "NUMBER")]
    mixed = any(tr.is_token(i, "NUMBER") for i in head.subs[0]) and any(tr.is_token(i, "NAME") for i in head.subs[0])
    shifted = any(isinstance(n, Entry) and n.tensor == name and any(not isinstance(i, Idx) for i in n.indices)
                  for e in module.equations for n in walk(e))
    binary = any(isinstance(f, In) and isinstance(f.element, Entry) and f.element.tensor == name for f in module.facts)
    known = (name in module.given or name in module.defined) and not (binary and not mixed)  # $m_i = 0$ of a mask
    running = _running(prose, module)
    certain = any(not i.isdecimal() for i in subs) and running.isdisjoint(subs)  # z_K = 0
    if known and not shifted and (mixed or certain or len({*subs}) < len(subs)):
        return f"fixes some entries of `{name}`: write it as a case of its formula, or below the sums"
    return ""


def _of_letter(part: trees.Run, module: Module) -> str:
    """W = W^⊤, w_{ij} = w_{ji}."""
    two = trees.sides(part)
    names = {str(tr.base_of(side[0])) for side in two if len(side) == 1}
    if len(two) == 2 and all(len(side) == 1 for side in two) and len(names) == 1 and two[0] != two[1] and (
            not {name := name_of(*names), name.swapcase()}.isdisjoint(module.given)):
        return f"makes entries of `{name_of(*names)}` equal, so that its derivative is another: it is not covered"
    return ""
