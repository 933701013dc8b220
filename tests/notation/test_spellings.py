"""A random layer reads as the same layer in every style it is written in, or is open or refused; never as another."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

import numpy as np

from derive.expr import (
    Add,
    And,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Idx,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    Rel,
    Size,
    open_binder,
    walk,
)
from derive.notation import NotationError, gather, read_formula
from derive.notation.formulas import Formula
from derive.notation.rules import SPELLINGS, rewritten
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import identifier, name_of
from tests.notation import spellings


class Other(AssertionError):
    """Read as another layer."""


def evaluated(node: Expr, of: dict[str, np.ndarray], env: dict[str, int]) -> float:
    """The value of an expression at indices, with sums over all that their factors have."""
    match node:
        case Num(number):
            return float(number)
        case Size(name):
            return spellings.SIZES[name]
        case Entry(tensor, at):
            array = of[tensor]
            if array.ndim != len(at):
                raise Other(f"{tensor} has {len(at)} indices and not {array.ndim}")
            return float(array[tuple(env[i.name] for i in at)])
        case Add(terms):
            return sum(evaluated(t, of, env) for t in terms)
        case Mul(factors):
            return math.prod(evaluated(f, of, env) for f in factors)
        case Pow(base, exponent):
            return evaluated(base, of, env) ** evaluated(exponent, of, env)
        case Fn(name, args):
            return float(getattr(np, name)(*(evaluated(a, of, env) for a in args)))
        case Extremum(_, args):
            return max(evaluated(a, of, env) for a in args)
        case Reduce("sum", _, _):
            binder, body = open_binder(node)
            (j,) = binder.variables
            extents = {of[e.tensor].shape[n] for e in walk(body) if isinstance(e, Entry) and of[e.tensor].ndim == len(
                e.indices) for n, i in enumerate(e.indices) if i is j}
            if len(extents) != 1:
                raise Other(f"a sum over {extents}")
            return sum(evaluated(body, of, {**env, j.name: n}) for n in range(*extents))
    raise Other(f"{type(node).__name__}")


def claims(node: Node) -> Iterable[Rel]:
    match node:
        case And(conds):
            for cond in conds:
                yield from claims(cond)
        case Given(claim, _):
            yield from claims(claim)
        case Rel():
            yield node


def compare(formulas: list[str], turned: set[str], layer: spellings.Layer, of: dict[str, np.ndarray]) -> None:
    """Raises :class:`Other` where the formulas are read, and not as the layer."""
    trees = rewritten([Formula(latex, 1, 0, True) for latex in formulas], SPELLINGS)
    table = gather(trees)
    arrays = {identifier(name_of(key)): array.T if key in turned else array for key, array in of.items()}
    heads = {identifier(name_of(h.key)) for h, _ in layer.definitions}
    for formula in trees:
        if kind_of(formula) is Said.DECLARATION:
            continue
        for claim in claims(read_formula(formula, table)):
            head, body = claim.terms
            if not isinstance(head, Entry) or head.tensor not in heads:
                raise Other(f"{head} is defined")
            unknown = {e.tensor for e in walk(claim) if isinstance(e, Entry)} - arrays.keys()
            if unknown:
                raise Other(f"letters {unknown} beside {sorted(arrays)}")
            array = arrays[head.tensor]
            if array.ndim != len(head.indices) or not all(isinstance(i, Idx) for i in head.indices):
                raise Other(f"{head.tensor} at {len(head.indices)} indices and not {array.ndim}")
            for at in spellings.indices(array.shape):
                env = {i.name: n for i, n in zip(head.indices, at, strict=True)}
                try:
                    found = evaluated(body, arrays, env)
                except (IndexError, KeyError) as error:
                    raise Other(f"out of range: {error!r}") from None
                overflown = not math.isfinite(found) and not math.isfinite(array[at])
                if not overflown and not math.isclose(found, array[at], rel_tol=1e-9, abs_tol=1e-9):
                    raise Other(f"{formula.latex}: {found} and not {array[at]}")


def one(seed: int) -> tuple[str, list[str], str]:
    """The style, the formulas, and what became of them: read, or why not."""
    rng = random.Random(seed)
    style = spellings.STYLES[seed % len(spellings.STYLES)]
    layer = spellings.layer(rng, style)
    formulas, turned = spellings.written(rng, style, layer)
    try:
        compare(formulas, turned, layer, spellings.values(rng, layer))
    except NotationError as error:
        return style, formulas, f"refused: {error}"
    except Other as error:
        return style, formulas, f"OTHER: {error}"
    return style, formulas, "read"


def test_no_style_is_read_as_another_layer() -> None:
    found = [one(seed) for seed in range(300)]
    assert not [f for f in found if f[2].startswith("OTHER")]
    assert sum(f[2] == "read" for f in found) > 200
