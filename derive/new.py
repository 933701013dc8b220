"""A new question card for a layer of the catalogue, in the words of an exam."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import count
from math import prod
from typing import Any

from derive.axes import with_axes
from derive.card import Card
from derive.errors import UnsupportedError
from derive.expr import Entry, Fn, Idx, Partial, SetApp, tuple_of, walk
from derive.layers import find, layer
from derive.layers.catalogue import Pooling
from derive.layers.refused import refuse_even_medians
from derive.module import Module
from derive.notation import write
from derive.notation.symbols import Symbol
from derive.numeric_card import numbers_card
from derive.receptive_field import AdaptiveAxis, ReceptiveField, WindowAxis
from derive.variants import drawn
from derive.window_axis import Axis
from derive.words import environment


def numeric_card(name: str, arguments: Mapping[str, Any], seed: int | None) -> str:
    """The card's text with numbers for x, W, … and ∂L/∂f, drawn from the ``seed``; None: they are left open, and vary.

    Raises as :func:`question_card`, and for inputs of three axes, whose numbers have no place on a page.
    """
    spec = find(name)
    if not isinstance(spec, Pooling):
        if seed is None:
            raise UnsupportedError(f"numbers of `{spec.name}` are drawn and not left open: leave out --vary")
        return numbers_card(spec, arguments, seed)
    text = question_card(name, arguments, numeric=True)
    if seed is None:
        return text
    lines = drawn(Card.parse(text), seed, 1).card.text.split("\n")
    return "\n".join(line for line in lines if not line.startswith("# values."))


def question_card(name: str, arguments: Mapping[str, Any], numeric: bool = False) -> str:
    """The card's text: what the layer is, its forward formula, and the messages that are asked for.

    ``arguments`` as :func:`derive.layer` takes them; ``numeric``: numbers for them are asked for, which are left open.
    Raises :class:`CardError` as :func:`derive.layer` does, and for medians that may be of an even number of entries.
    """
    spec = find(name)
    if not isinstance(spec, Pooling):
        raise UnsupportedError(f"`{spec.name}` has no card of its own yet; write a question and `layer: {spec.name}`")
    module = layer(name, **arguments)
    refuse_even_medians(module)
    sized = with_axes(module)
    output, _ = module.definition(module.output)
    source = sized.table.named(module.inputs[0])
    assert source is not None
    rank = len(source.axes)
    entry = Entry(source.name, tuple(map(Idx, source.axes)))
    options = {key: arguments[key] for key in spec.options if key in arguments}
    geometry = _geometry(module.receptive_field)
    size = {} if module.input_size is None else {"input_size": list(module.input_size)}
    rule = {"tie_rule": module.tie_rule} if module.tie_rule != spec.tie_rules[0] else {}
    stated = {**geometry, **size, **options, **rule}
    open_ = _left_open(module, source, output) if numeric else {}
    varied = {f"vary_values.{letter}": kind for letter, kind in open_.items()}
    text = environment("en").get_template("card.md.j2").render(
        id=_id(spec.name + "_numbers" * numeric, stated), name=spec.name, words=spec.words, form=spec.form, rank=rank,
        keys={key: _yaml(value) for key, value in (stated | varied).items()},
        formula=f"$$ {write(module.equations[0], sized.table)} $$",
        input=f"${source.latex}$", partial=f"${write(Partial(output, entry), sized.table)}$",
        at=f"${write(tuple_of(output.indices), sized.table)}$" if output.indices else "",
        windows=f"${write(SetApp(module.fields[0][0], output.indices), sized.table)}$" if module.fields else "",
        numbers=_given(source.latex, output.tensor, open_), letters=_wanted(source.latex, output.tensor, open_),
        **_said(module, geometry))
    return text.rstrip("\n") + "\n"


_SIDES = {1: 6, 2: 4}  # of an input whose size is not said, by its axes
_GLOBAL = {1: 5, 2: 3}  # where all of it is one window; of odd numbers of entries there is a median
_MOST = 8  # that is still computed by hand


def _left_open(module: Module, source: Symbol, output: Entry) -> dict[str, str]:
    """The letters of x and of the gradient that comes in, and which numbers may stand for them."""
    rank = len(source.axes)
    if rank > 2:
        raise UnsupportedError("numbers of an input with three axes do not fit a page; leave out --numeric")
    field = module.receptive_field
    shape = module.input_size or tuple(_side(axis, rank) for axis in (field.axes if field else [None] * rank))
    if max(shape) > _MOST:
        raise UnsupportedError(f"an input of {' × '.join(map(str, shape))} is more than is computed by hand; "
                               f"state a smaller one, of at most {_MOST} on a side, with --input-size")
    found = {source.latex: f"{_kind(module, prod(shape))}, {' x '.join(map(str, shape))}"}
    if output.indices and field is not None:
        outputs = " x ".join(map(str, field.output_shape(shape)))
        found["delta"] = f"nonzero integers -4..4, {outputs}"
    return found


def _kind(module: Module, cells: int) -> str:
    """Numbers at which no maximum ties, no exponential is beyond reading, and no absolute value has a kink."""
    functions = {node.name for equation in module.equations for node in walk(equation) if isinstance(node, Fn)}
    if "exp" in functions:
        return "integers -2..2"
    return f"distinct integers {1 if 'abs' in functions else -(cells // 4)}..{cells + 4}"


def _side(axis: Axis | None, rank: int) -> int:
    """The smallest extent with two windows; of a layer without windows a small one."""
    if axis is None:
        return _GLOBAL[rank]
    if isinstance(axis, AdaptiveAxis):
        return axis.outputs + 2
    return next(n for n in count(_SIDES[rank]) if axis.output_size(n) >= 2)


def _given(source: str, output: str, open_: Mapping[str, str]) -> str:
    r"""``x = …, \qquad \frac{\partial L}{\partial f} = …``, to be drawn."""
    upstream = rf", \qquad \frac{{\partial L}}{{\partial {output}}} = {{{{values.delta}}}}" * ("delta" in open_)
    return f"$$ {source} = {{{{values.{source}}}}}{upstream}. $$" if open_ else ""


def _wanted(source: str, output: str, open_: Mapping[str, str]) -> tuple[str, str]:
    loss = "L" if "delta" in open_ else output
    return f"${output}$", rf"$\frac{{\partial {loss}}}{{\partial {source}}}$"


def _geometry(field: ReceptiveField | None) -> dict[str, Any]:
    """The front matter's keys for the windows, those with their usual value left out."""
    if field is None:
        return {}
    adaptive = [a for a in field.axes if isinstance(a, AdaptiveAxis)]
    if adaptive:
        return {"output_size": [a.outputs for a in adaptive]}
    axes = [a for a in field.axes if isinstance(a, WindowAxis)]
    found: dict[str, Any] = {"kernel_size": [a.kernel_size for a in axes], "stride": [a.stride for a in axes],
                             "padding": [a.padding if a.padding_after == a.padding else [a.padding, a.padding_after]
                                         for a in axes]}
    if any(a.dilation > 1 for a in axes):
        found["dilation"] = [a.dilation for a in axes]
    if any(a.ceil_mode for a in axes):
        found["ceil_mode"] = True
    return found


def _said(module: Module, geometry: Mapping[str, Any]) -> dict[str, Any]:
    """What the words say of the windows."""
    padding = [p if isinstance(p, list) else [p, p] for p in geometry.get("padding", [])]
    return {"kernel_size": geometry.get("kernel_size"), "stride": geometry.get("stride"),
            "paddings": padding,
            "dilation": geometry.get("dilation"), "ceil_mode": geometry.get("ceil_mode", False),
            "output_size": geometry.get("output_size"), "input_size": module.input_size}


def _id(name: str, stated: Mapping[str, Any]) -> str:
    """The name and every number of the card."""
    numbers = ("".join(c if c.isalnum() else " " for c in str(value)).split() for value in stated.values())
    return "_".join([name, *("x".join(n) for n in numbers)]).lower()


def _yaml(value: object) -> str:
    if isinstance(value, Fraction) and abs(value) < 2**53 and Fraction(f"{float(value):g}") == value:
        return f"{float(value):g}"
    return str(value).lower() if isinstance(value, bool) else str(value)
