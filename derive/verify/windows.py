"""What a sheet states of its windows, counted window by window: how they lie, and the list of a window's entries."""

from __future__ import annotations

import itertools
from collections import Counter

from derive.calculus.one_window import Windowed
from derive.expr import Entry, Expr, Given, Idx, Node, Num, Rel, conditions
from derive.numeric.evaluator import cells, inside
from derive.numeric.statements import index_value
from derive.receptive_field import ReceptiveField, WindowFacts, at_many, of_axes, sizes_of, window_facts
from derive.sheet import Math
from derive.verify.report import Check, Verdict
from derive.window_axis import Axis


def geometry(field: ReceptiveField, size: tuple[int, ...] | None) -> Check:
    """Tile, overlap, leave gaps, are clipped, lie wholly in padding: stated by closed forms, counted by definitions."""
    sizes = [(n,) for n in size] if size else [tuple(sizes_of(axis)) for axis in field.axes]
    counted = of_axes(at_many(_counted(axis, n) for n in along) for axis, along in zip(field.axes, sizes, strict=True))
    runs = dict.fromkeys(f"{along[0]} to {along[-1]}" for along in sizes)
    where = f"size {'×'.join(map(str, size))}" if size else f"{' and '.join(runs)} entries a side"
    evidence = f"How the windows lie, counted window by window at {where}"
    stated = window_facts(field, size)
    if counted != stated:
        return Check("geometry", "", Verdict.REFUTED, evidence, f"stated {stated}, counted {counted}")
    return Check("geometry", "", Verdict.PROVED if size else Verdict.TESTED, evidence)


def _counted(axis: Axis, n: int) -> WindowFacts:
    windows = [inside(axis, k, n) for k in range(axis.output_size(n))]
    counts = Counter(i for window in windows for i in window)
    within = {counts[i] for i in range(max(counts, default=-1) + 1)}
    clipped = any(len(window) < len(cells(axis, k, n)) for k, window in enumerate(windows))
    return WindowFacts(max(counts.values(), default=0), within == {1} and not clipped, 0 in within, clipped,
                       not all(windows))


def check_listing(printed: Math, node: Node, w: Windowed) -> Check:
    """z_1, z_2, … name the entries of a window inside the input, row by row, each once."""
    module, n = w.layer, w.window.n
    entry, _ = module.definition(module.output)
    outputs = tuple(i for i in entry.indices if isinstance(i, Idx))
    field = module.receptive_field
    assert field is not None
    shape = tuple(a.kernel_size + 2 * a.stride + 1 for a in field.axes)  # a whole window lies inside the input
    for at in itertools.product(*map(range, field.output_shape(shape))):
        window = list(itertools.product(*itertools.starmap(inside, zip(field.axes, at, shape, strict=True))))
        if len(window) != n:
            continue
        try:
            named = _named(node, dict(zip(outputs, at, strict=True)))
        except (NameError, ValueError, TypeError):
            return Check(printed.name, printed.latex, Verdict.NOT_READ, "it does not list entries of one window")
        if named != dict(enumerate(window, start=1)):
            return Check(printed.name, printed.latex, Verdict.REFUTED, "a counterexample",
                         f"the window of output {at} covers {window}, but the list names {named}")
    sizes = "×".join(map(str, shape))
    return Check(printed.name, printed.latex, Verdict.PROVED, f"by enumeration of the windows at size {sizes}")


def _named(node: Node, env: dict[Idx, int]) -> dict[int, tuple[int, ...]]:
    """q → the entry that the listing gives z_q."""
    claims = conditions(node)
    free: list[dict[Idx, int]] = [env]
    if isinstance(node, Given):
        claims = (node.claim,)
        bounds = conditions(node.cond)
        letters = [(c.terms[1], c.terms[2]) for c in bounds if isinstance(c, Rel) and len(c.terms) == 3]
        runs = [[(i, n) for n in range(int(top.value) + 1)] for i, top in letters if isinstance(top, Num)
                and isinstance(i, Idx)]
        free = [{**env, **dict(pick)} for pick in itertools.product(*runs)]
    found = {}
    for inner in free:
        for claim in claims:
            if not (isinstance(claim, Rel) and claim.ops == ("=",)):
                raise ValueError("a list of names is a list of equations")
            if isinstance(claim.terms[0], Entry) and isinstance(claim.terms[1], Entry):
                place, *_ = (_index(i, inner) for i in claim.terms[0].indices)
                found[place] = tuple(_index(i, inner) for i in claim.terms[1].indices)
    return found


def _index(term: Expr, env: dict[Idx, int]) -> int:
    return int(index_value(term, env, {}))
