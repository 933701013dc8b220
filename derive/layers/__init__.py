"""The catalogue: layers by name, each declared by its forward formula alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from derive.errors import CardError, did_you_mean
from derive.expr import Entry, Reduce, Rel, walk
from derive.layers import pooling
from derive.layers.arguments import TAKES, Paddings, Sizes, options_of, sizes, window_field
from derive.layers.catalogue import Layer, Letters
from derive.layers.forward import WindowForm, window_form
from derive.layers.naming import module_over
from derive.module import TIE_RULES, Module
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.receptive_field import ReceptiveField, adaptive_field
from derive.reductions import selects

LAYERS: tuple[Layer, ...] = pooling.LAYERS
EXTREMA = tuple(spec for spec in LAYERS if spec.name in ("max_pool", "min_pool"))  # what a card's words alone can name


def find(name: str) -> Layer:
    """The layer of a name or alias; raises :class:`CardError` for an unknown one."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    for spec in LAYERS:
        if plain == spec.name or name.strip().lower() == spec.words:
            return spec
    meant = next((spec.name for spec in LAYERS if plain in spec.aliases), plain)
    raise CardError(f"unknown layer `{name}`; {did_you_mean(meant, [spec.name for spec in LAYERS], 0.6)}")


def spoken(name: str | None) -> str | None:
    """What prose calls a layer of the catalogue; any other name as it is."""
    return next((spec.words for spec in LAYERS if spec.name == name), name)


@cache
def forward_of(spec: Layer, rank: int) -> tuple[WindowForm, SymbolTable]:
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
    dims: int = 2,
    input_size: Sequence[int] | None = None,
    tie_rule: str | None = None,
    **options: Any,
) -> Module:
    """y_k = op over Ω(k) of x, with Ω(k) = {s k − p + d a : 0 ≤ a < K} ∩ [0, n) on each axis.

    ``len(kernel_size)`` axes, a plain integer means ``dims``; ``stride`` defaults to
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
    _fitting(spec, {what for what, value in given.items() if value is not None})
    own = options_of(spec, options)
    rule = _tie_rule(spec, tie_rule)
    size = None if input_size is None else sizes("input_size", input_size, None)
    field: ReceptiveField | None = None
    if spec.form == "window":
        kernel = sizes("kernel_size", kernel_size, None, dims)
        field = window_field(kernel, stride, padding, dilation, ceil_mode, size)
    elif spec.form == "adaptive":
        field = adaptive_field(sizes("output_size", output_size, None, dims))
    rank = dims if field is None else len(field.axes)
    if size is not None and len(size) != rank:
        raise CardError(f"`input_size: {input_size}` has {len(size)} numbers; the layer has {rank} axes")
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


def _fitting(spec: Layer, given: set[str]) -> None:
    """Raise :class:`CardError` where an argument is not one of this form of pooling, or is missing."""
    takes = set(TAKES[spec.form])
    needs = {"window": "kernel_size", "global": None, "adaptive": "output_size"}[spec.form]
    problems = [f"`{spec.name}` takes no `{what}`" + (f"; it takes `{needs}`" if needs else "")
                for what in sorted(given - takes)]
    if needs and needs not in given:
        problems.append(f"`{spec.name}` needs `{needs}`, e.g. `{needs}: 2`")
    if problems:
        raise CardError(*problems)


def _tie_rule(spec: Layer, given: str | None) -> str:
    if given is None:
        return spec.tie_rules[0]
    if check_tie_rule(given) not in spec.tie_rules:
        raise CardError(f"`tie_rule: {given}` can leave the subdifferential of {spec.words}; "
                        f"it takes `{spec.tie_rules[0]}`")
    return given
