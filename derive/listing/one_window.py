"""Windows one at a time: a loop over the outputs, and NumPy on the entries of each window."""

from __future__ import annotations

from derive.expr import Arg, Expr
from derive.listing.windows import Entries, Pass, Windowed, times, tuple_text
from derive.receptive_field import Axis, WindowAxis


def lines(step: Pass) -> tuple[list[str], list[str]]:
    """A loop over the windows, and the sizes that it names."""
    layer = step.layer
    f = f"{layer.f}[{', '.join(layer.outputs)}]" if layer.axes else layer.f
    printer = Entries(layer, "region" if layer.axes else layer.x, f)
    found = _backward(step, printer) if step.targets else _forward(layer, printer)
    return found, list(printer.sizes)


def _forward(layer: Windowed, printer: Entries) -> list[str]:
    value = f"{printer.f} = {printer.value(layer.value).text}"
    if not layer.axes:
        return [value]
    counts = tuple_text([printer.value(n).text for n in layer.counts])
    return [f"{layer.f} = np.zeros({counts})", _loop(layer, layer.f),
            f"    region = {layer.x}[{_slices(layer, printer)}]", f"    {value}"]


def _backward(step: Pass, printer: Entries) -> list[str]:
    layer = step.layer
    upstream = f"{layer.upstream}[{', '.join(layer.outputs)}]" if layer.axes else layer.upstream
    start, inner = [], []
    for t in step.targets:
        start.append(f"{layer.gradient(t)} = " + (f"np.zeros({layer.x}.shape)" if t == layer.source else "0"))
        inner += _contribution(step, printer, upstream) if t == layer.source else [
            f"{layer.gradient(t)} += {times(upstream, printer.value(layer.slope(t).factors))}"]
    if step.added:
        start = []
    if not layer.axes:
        return [*start, *inner]
    region = [f"window = np.s_[{_slices(layer, printer)}]"]
    if "region" in printer.used:
        region.append(f"region = {layer.x}[window]")
    return [*start, _loop(layer, layer.upstream), *(f"    {line}" for line in (*region, *inner))]


def _contribution(step: Pass, printer: Entries, upstream: str) -> list[str]:
    """What a window adds to the gradient."""
    layer = step.layer
    slope, dx = layer.slope(layer.source), layer.gradient(layer.source)
    window, every = (f"{dx}[window]",) * 2 if layer.axes else (dx, f"{dx}[...]")
    if slope.selected is None:
        return [f"{every} += {times(upstream, printer.value(slope.factors))}"]
    if layer.module.tie_rule == "split":
        return [f"chosen = {printer.tied(slope.selected)}",
                f"{every} += {times(upstream, printer.value(slope.factors))} * chosen / np.sum(chosen)"]
    place = _place(slope.selected, printer)
    printer.entry = f"{printer.name}[best]"
    added = f"{window}[best] += {times(upstream, printer.value(slope.factors))}"
    printer.entry = ""
    found = [f"best = np.unravel_index({place}, {printer.name}.shape)", added]
    return ["if region.size:", *(f"    {line}" for line in found)] if layer.missed else found


def _place(arg: Arg, printer: Entries) -> str:
    """The first (last) place of the extreme entry, row by row."""
    score = printer.value(arg.body).text
    if printer.module.tie_rule == "last":
        return f"{printer.name}.size - 1 - np.arg{arg.op}(np.flip({score}))"
    return f"np.arg{arg.op}({score})"


def _loop(layer: Windowed, over: str) -> str:
    letters = layer.outputs
    run = f"range({over}.size)" if len(letters) == 1 else f"np.ndindex({over}.shape)"
    return f"for {', '.join(letters)} in {run}:"


def _slices(layer: Windowed, printer: Entries) -> str:
    return ", ".join(_slice(a, k, n, printer)
                     for a, k, n in zip(layer.axes, layer.outputs, layer.extents, strict=True))


def _slice(axis: Axis, k: str, extent: Expr, printer: Entries) -> str:
    """The cells of window k within the input; a slice may end behind it, and must not begin before it."""
    if not isinstance(axis, WindowAxis):
        n, m = printer.value(extent).text, axis.output_size(1)
        return f"{k} * {n} // {m}:-(-({k} + 1) * {n} // {m})"
    at = k if axis.stride == 1 else f"{axis.stride} * {k}"
    start = shifted(at, -axis.padding)
    if axis.padding:
        start = f"max(0, {start})" if axis.dilation == 1 else f"max({start}, ({start}) % {axis.dilation})"
    stop = shifted(at, axis.span - axis.padding)
    if axis.span < axis.padding + 1:
        stop = f"max(0, {stop})"
    return f"{start}:{stop}" + (f":{axis.dilation}" if axis.dilation > 1 else "")


def shifted(text: str, by: int) -> str:
    return text if not by else f"{text} {'+' if by > 0 else '-'} {abs(by)}"
