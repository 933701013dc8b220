"""The catalogue: layers by name, each declared by its forward formula alone."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import cache
from operator import index

from derive.errors import CardError
from derive.expr import Rel
from derive.layers import pooling
from derive.layers.catalogue import Layer
from derive.layers.forward import WindowForm, window_form
from derive.layers.naming import module_over
from derive.module import TIE_RULES, Module
from derive.notation.symbols import SymbolTable
from derive.receptive_field import receptive_field

LAYERS: tuple[Layer, ...] = pooling.LAYERS


def find(name: str) -> Layer:
    """The layer of a name or alias; raises :class:`CardError` for an unknown one."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    for spec in LAYERS:
        if plain == spec.name or name.strip().lower() == spec.words:
            return spec
    near = [spec.name for spec in LAYERS if plain in spec.aliases]
    near += difflib.get_close_matches(plain, [spec.name for spec in LAYERS], 1, 0.6)
    hint = f"did you mean `{near[0]}`?" if near else "there are " + ", ".join(f"`{s.name}`" for s in LAYERS)
    raise CardError(f"unknown layer `{name}`; {hint}")


@cache
def forward_of(spec: Layer, rank: int) -> tuple[WindowForm, SymbolTable]:
    """The layer's formula, read like any card's."""
    from derive.notation import gather, read

    latex = spec.latex(rank)
    table = gather([latex])
    equation = read(latex, table)
    assert isinstance(equation, Rel)
    return window_form(equation), table


def check_tie_rule(tie_rule: object) -> str:
    """The tie rule; raises :class:`CardError` for an unknown one."""
    if isinstance(tie_rule, str) and tie_rule in TIE_RULES:
        return tie_rule
    near = difflib.get_close_matches(str(tie_rule).lower(), TIE_RULES, 1, 0.5)
    hint = f"did you mean `{near[0]}`?" if near else "there are " + ", ".join(f"`{r}`" for r in TIE_RULES)
    raise CardError(f"unknown tie rule `{tie_rule}`; {hint}")


def layer(
    name: str,
    *,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    tie_rule: str = "first",
) -> Module:
    """y_k = op over Ω(k) of x, with Ω(k) = {s k − p + a : 0 ≤ a < K} on each axis.

    ``len(kernel_size)`` axes, a plain integer means two; ``stride`` defaults to
    ``kernel_size``.  Raises :class:`CardError` for an unknown name or tie rule and
    for sizes out of range.
    """
    spec = find(name)
    kernel = _sizes("kernel_size", kernel_size, None)
    rank = len(kernel)
    field = receptive_field(
        kernel,
        None if stride is None else _sizes("stride", stride, rank),
        _sizes("padding", padding, rank),
    )
    form, table = forward_of(spec, rank)
    return module_over(form, table, field, tie_rule=check_tie_rule(tie_rule), name=spec.name, key=spec.name)


def _sizes(what: str, value: int | Sequence[int], rank: int | None) -> tuple[int, ...]:
    try:
        sizes = tuple(map(index, value)) if isinstance(value, Sequence) else (index(value),) * (rank or 2)
    except TypeError:
        raise CardError(f"`{what}: {value!r}` is not an integer or a sequence of integers") from None
    if not sizes or (rank is not None and len(sizes) != rank):
        raise CardError(f"`{what}: {value!r}` has {len(sizes)} numbers; kernel_size has {rank or 'at least 1'}")
    return sizes
