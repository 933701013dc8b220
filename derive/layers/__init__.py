"""The catalogue: layers by name, each declared by its forward formula alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from derive.errors import CardError, did_you_mean
from derive.expr import Entry, Reduce, Rel, walk
from derive.layers.arguments import Paddings, Sizes, pooling_of, sizes
from derive.layers.catalogue import Layer, Letters, Pooling
from derive.layers.chain import Part
from derive.layers.composition import Composed, compose
from derive.layers.families import LAYERS, POOLINGS, find, spoken
from derive.layers.forward import WindowForm, window_form
from derive.layers.modules import module_of
from derive.layers.naming import module_over
from derive.module import TIE_RULES, Module
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.reductions import selects

__all__ = ["EXTREMA", "LAYERS", "POOLINGS", "Composed", "check_tie_rule", "compose", "find", "forward_of", "layer",
           "module_of", "op_of", "spoken"]

# what a card's words alone can name
EXTREMA = tuple(spec for spec in POOLINGS if spec.name in ("max_pool", "min_pool"))


@cache
def forward_of(spec: Pooling, rank: int) -> tuple[WindowForm, SymbolTable]:
    """The layer's formula as the maximum or minimum of a window, read like any card's.

    Raises :class:`UnsupportedError` where it is something else.
    """
    equation, table = _read(spec.latex(rank), ())
    return window_form(equation), table


@lru_cache(maxsize=256)
def _read(latex: str, sizes: tuple[str, ...]) -> tuple[Rel, SymbolTable]:
    """A forward formula of x, whose extents have these names."""
    from derive.notation import gather, read

    table = gather([latex], SymbolTable(tuple(Symbol(n, n, Kind.SIZE) for n in sizes)))
    source = table.named("x")
    assert source is not None
    table = table.extended([replace(source, sizes=sizes)])
    equation = read(latex, table)
    assert isinstance(equation, Rel)
    return equation, table


def check_tie_rule(tie_rule: object) -> str:
    """The tie rule; raises :class:`CardError` for an unknown one."""
    if isinstance(tie_rule, str) and tie_rule in TIE_RULES:
        return tie_rule
    raise CardError(f"unknown tie rule `{tie_rule}`; {did_you_mean(str(tie_rule).lower(), TIE_RULES)}")


def layer(
    name: str,
    *,
    kernel_size: Sizes | None = None,
    stride: Sizes | None = None,
    padding: Paddings = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    output_size: Sizes | None = None,
    dims: int | None = None,
    input_size: Sequence[int] | None = None,
    tie_rule: str | None = None,
    **options: Any,
) -> Module:
    """A layer of the catalogue; a pooling is y_k = op over Ω(k), Ω(k) = {s k − p + d a : 0 ≤ a < K} ∩ [0, n) by axis.

    Of a layer without windows ``options`` are its options, and letters or numbers for its letters by what they are
    called: ``layer("linear", units=3, weights="A")``; ``dims`` is the number of its input's axes.

    Of a pooling ``len(kernel_size)`` axes, a plain integer means ``dims`` (2); ``stride`` defaults to
    ``kernel_size``; ``padding`` is an integer, one an axis, a pair (before, behind) an
    axis, or ``"same"``.  A ``global_`` layer reduces the whole input of ``dims`` axes to
    one number; an ``adaptive_`` one takes ``output_size`` instead of a window.
    ``options``: those of the layer (``norm``, ``sharpness``, ``count_include_pad``,
    ``divisor_override``).  Raises :class:`CardError` for an unknown name, option or tie
    rule and for sizes out of range.
    """
    spec = find(name)
    given = {"kernel_size": kernel_size, "stride": stride, "output_size": output_size,
             "padding": padding or None, "dilation": None if dilation == 1 else dilation,
             "ceil_mode": ceil_mode or None}
    given = {what: value for what, value in given.items() if value is not None}
    if isinstance(spec, Layer):
        if input_size is not None:
            raise CardError(f"`{spec.name}` takes no `input_size`")
        module = module_of(compose([Part(spec.name, (), {**given, **options})], rank=dims), key=spec.name)
        return replace(module, name=spec.name, tie_rule=check_tie_rule(tie_rule or module.tie_rule))
    size = None if input_size is None else sizes("input_size", input_size, None)
    return _pooling(spec, 2 if dims is None else dims, size, _tie_rule(spec, tie_rule), {**given, **options})


def _pooling(spec: Pooling, dims: int, size: tuple[int, ...] | None, rule: str, given: Mapping[str, Any]) -> Module:
    """The module of a pooling with these windows and options, over an input of this size where it is known."""
    own, field = pooling_of(spec, {**given, "dims": dims, "input_size": size})
    rank = dims if field is None else len(field.axes)
    if size is not None and len(size) != rank:
        raise CardError(f"`input_size: {list(size)}` has {len(size)} numbers; the layer has {rank} axes")
    letters = Letters(rank, field is None)
    equation, table = _read(spec.latex(rank, {**own, "field": field}), letters.sizes)
    rest: dict[str, Any] = {"tie_rule": rule, "name": spec.name, "key": spec.name, "input_size": size}
    if field is not None and op_of(equation) in ("max", "min"):
        form = window_form(equation)
        return module_over(form, forward_of(spec, rank)[1], field, **rest)
    if any(isinstance(n, Reduce) and selects(n.op) for n in walk(equation)):
        stars = ((letter, () if field is None else letters.outputs) for letter in letters.indices)
        table = SymbolTable(table.symbols, tuple(stars))  # i^* need not say of which window it is
    fields = () if field is None else ((_set_name(table), field),)
    return Module((equation,), table, "f", ("x",), fields=fields, **rest)


def op_of(equation: Rel) -> str | None:
    """The operation of y_k = op over Ω(k) of x: ``"max"`` and so on; None where the formula is something else."""
    value = equation.terms[1]
    return value.op if isinstance(value, Reduce) and isinstance(value.body, Entry) else None


def _set_name(table: SymbolTable) -> str:
    (name,) = (s.name for s in table.of_kind(Kind.SET))
    return name


def _tie_rule(spec: Pooling, given: str | None) -> str:
    if given is None:
        return spec.tie_rules[0]
    if check_tie_rule(given) not in spec.tie_rules:
        raise CardError(f"`tie_rule: {given}` can leave the subdifferential of {spec.words}; "
                        f"it takes `{spec.tie_rules[0]}`")
    return given
