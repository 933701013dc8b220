"""The list that names a window's entries z_1, z_2, …, against the windows by their definition."""

from __future__ import annotations

import itertools

from derive.expr import And, Entry, Expr, Given, Idx, Node, Num, Rel
from derive.module import Module
from derive.numeric.point import Definitions
from derive.numeric.statements import compile_value
from derive.sheet import Math
from derive.verify.instance import Instance
from derive.verify.report import Check, Verdict


def check_listing(math: Math, node: Node, module: Module, n: int) -> Check:
    """z_1, z_2, … name the entries of a window inside the input, row by row, each once."""
    entry, _ = module.definition(module.output)
    outputs = tuple(i for i in entry.indices if isinstance(i, Idx))
    instance = _roomy(module)
    for at in instance.outputs():
        cells = instance.window(at)
        if len(cells) != n:
            continue
        try:
            named = _named(node, dict(zip(outputs, at, strict=True)))
        except (NameError, ValueError, TypeError):
            return Check(math.name, math.latex, Verdict.NOT_READ, "it does not list entries of one window")
        if named != dict(enumerate(cells, start=1)):
            return Check(math.name, math.latex, Verdict.REFUTED, "a counterexample",
                         f"the window of output {at} covers {cells}, but the list names {named}")
    sizes = "×".join(map(str, instance.shape))
    return Check(math.name, math.latex, Verdict.PROVED, f"by enumeration of the windows at size {sizes}")


def _roomy(module: Module) -> Instance:
    """A size at which a whole window lies inside the input."""
    field = module.receptive_field
    assert field is not None
    shape = tuple(a.kernel_size + 2 * a.stride + 1 for a in field.axes)
    return Instance(module, module, shape, field.output_shape(shape))


def _named(node: Node, env: dict[Idx, int]) -> dict[int, tuple[int, ...]]:
    """q → the entry that the listing gives z_q."""
    claims = node.conds if isinstance(node, And) else (node,)
    free: list[dict[Idx, int]] = [env]
    if isinstance(node, Given):
        claims = (node.claim,)
        bounds = node.cond.conds if isinstance(node.cond, And) else (node.cond,)
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
    function = compile_value(tuple(env), term, Definitions({}, {}, {}), {})
    return int(function(None, tuple(env.values())))  # type: ignore[arg-type]  # an index term asks nothing of a point
