"""A new question card for a layer of the catalogue, in the words of an exam."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from derive.axes import with_axes
from derive.errors import UnsupportedError
from derive.expr import Entry, Idx, Partial, SetApp, tuple_of
from derive.layers import find, layer
from derive.layers.catalogue import Pooling
from derive.layers.refused import refuse_even_medians
from derive.module import Module
from derive.notation import write
from derive.receptive_field import AdaptiveAxis, ReceptiveField, WindowAxis
from derive.words import environment


def question_card(name: str, arguments: Mapping[str, Any]) -> str:
    """The card's text: what the layer is, its forward formula, and the messages that are asked for.

    ``arguments`` as :func:`derive.layer` takes them; raises :class:`CardError` as it does,
    and for medians that may be of an even number of entries.
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
    text = environment("en").get_template("card.md.j2").render(
        id=_id(spec.name, stated), name=spec.name, words=spec.words, form=spec.form, rank=rank,
        keys={key: _yaml(value) for key, value in stated.items()},
        formula=f"$$ {write(module.equations[0], sized.table)} $$",
        input=f"${source.latex}$", partial=f"${write(Partial(output, entry), sized.table)}$",
        at=f"${write(tuple_of(output.indices), sized.table)}$" if output.indices else "",
        windows=f"${write(SetApp(module.fields[0][0], output.indices), sized.table)}$" if module.fields else "",
        **_said(module, geometry))
    return text.rstrip("\n") + "\n"


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
