"""Windows one at a time: a loop over the outputs, and NumPy on the entries of each window."""

from __future__ import annotations

from derive.expr import Arg
from derive.listing.code import PRODUCT, SIGN, Code
from derive.listing.layer import results as results_of
from derive.listing.windows import Entries, Slope, Windowed, head, output_size, unpacked
from derive.receptive_field import Axis, WindowAxis


def functions(layer: Windowed) -> str:
    """``def max_pool(x): …`` and ``def max_pool_backward(upstream, x): …`` with a loop over the windows."""
    return "\n\n\n".join(("\n".join(_forward(layer)), "\n".join(_backward(layer)))) + "\n"


def _forward(layer: Windowed) -> list[str]:
    printer = _printer(layer)
    value = printer.value(layer.forward).text
    if not layer.axes:
        return [head(layer, False), *sizes_of(layer, printer.used), f"    return {value.replace('region', layer.x)}"]
    counts = [output_size(a, n) for a, n in zip(layer.axes, layer.extents, strict=True)]
    shape = counts[0] if len(counts) == 1 else f"({', '.join(counts)})"
    every = _sized(counts) or _slices_need_sizes(layer)
    return [
        head(layer, False), *sizes_of(layer, {*layer.extents} if every else printer.used),
        f"    {layer.f} = np.zeros({shape})",
        *_loop(layer, f"{layer.f}.shape"),
        f"        region = {layer.x}[{_slices(layer)}]",
        f"        {layer.f}[{', '.join(layer.outputs)}] = {value}",
        f"    return {layer.f}",
    ]


def _sized(counts: list[str]) -> bool:
    return not all(c.isdigit() for c in counts)


def _backward(layer: Windowed) -> list[str]:
    whole = not layer.axes
    printer = _printer(layer)
    slope = layer.slope(layer.source)
    indent = "    " if whole else "        "
    upstream = "upstream" if whole else f"upstream[{', '.join(layer.outputs)}]"
    inner = [f"{indent}{line}" for line in _contribution(slope, printer, upstream, whole)]
    sums = [f"{indent}{layer.scope.name(f'delta_{t}')} += {times(upstream, printer.value(layer.slope(t).factors))}"
            for t in layer.scalars]
    if layer.f in printer.used:
        inner.insert(0, f"{indent}{layer.f} = {_printer(layer).value(layer.forward).text}")
    dx = layer.scope.name(f"delta_{layer.source}")
    results = list(results_of(layer.messages))
    start = [f"    {dx} = np.zeros({layer.x}.shape)",
             *(f"    {layer.scope.name(f'delta_{t}')} = 0" for t in layer.scalars)]
    end = [f"    return {', '.join(results)}"]
    if whole:
        lines = [*sizes_of(layer, printer.used), *start, *inner, *sums, *end]
        return [head(layer, True), *(line.replace("region", layer.x).replace(f"{dx}[...]", dx) for line in lines)]
    wanted = printer.used | ({*layer.extents} if _slices_need_sizes(layer) else set())
    return [head(layer, True), *sizes_of(layer, wanted), *start, *_loop(layer, "upstream.shape"),
            f"        window = np.s_[{_slices(layer)}]", f"        region = {layer.x}[window]", *inner, *sums, *end]


def _contribution(slope: Slope, printer: Entries, upstream: str, whole: bool) -> list[str]:
    """What a window adds to the gradient."""
    dx = printer.layer.scope.name(f"delta_{printer.layer.source}")
    window = dx if whole else f"{dx}[window]"
    if slope.selected is None:
        return [f"{window}{'[...]' if whole else ''} += {times(upstream, printer.value(slope.factors))}"]
    score = printer.value(slope.selected.body).text
    if printer.module.tie_rule == "split":
        return [f"chosen = {score} == np.{slope.selected.op}({score})",
                f"{window}{'[...]' if whole else ''} += "
                f"{times(upstream, printer.value(slope.factors))} * chosen / np.sum(chosen)"]
    at_best = Entries(printer.layer, "region", printer.f, entry="region[best]")
    value = times(upstream, at_best.value(slope.factors))
    printer.used |= at_best.used
    return [f"best = np.unravel_index({_place(slope.selected, score, printer)}, region.shape)",
            f"{window}[best] += {value}"]


def _place(arg: Arg, score: str, printer: Entries) -> str:
    """The first (last) place of the extreme entry, row by row."""
    if printer.module.tie_rule == "last":
        return f"region.size - 1 - np.arg{arg.op}(np.flip({score}))"
    return f"np.arg{arg.op}({score})"


def times(upstream: str, slope: Code) -> str:
    if slope.text == "1":
        return upstream
    first, _, rest = slope.text.partition(" / ")
    if first == "1" and slope.level == PRODUCT:
        return f"{upstream} / {rest}"
    return f"{upstream} * {slope.at(SIGN)}" if slope.level != PRODUCT else f"{upstream} * {slope.text}"


def _printer(layer: Windowed) -> Entries:
    return Entries(layer, "region", layer.f)


def _loop(layer: Windowed, shape: str) -> list[str]:
    letters = layer.outputs
    if len(letters) == 1:
        return [f"    for {letters[0]} in range({shape.removesuffix('.shape')}.size):"]
    return [f"    for {', '.join(letters)} in np.ndindex({shape}):"]


def sizes_of(layer: Windowed, used: set[str]) -> list[str]:
    wanted = [n if n in used else "_" for n in layer.extents]
    if set(wanted) == {"_"} or all(n.isdigit() for n in wanted):
        return []
    return [f"    {unpacked(wanted, f'{layer.x}.shape')}"]


def _slices_need_sizes(layer: Windowed) -> bool:
    return not all(isinstance(a, WindowAxis) for a in layer.axes)


def _slices(layer: Windowed) -> str:
    return ", ".join(_slice(a, k, n) for a, k, n in zip(layer.axes, layer.outputs, layer.extents, strict=True))


def _slice(axis: Axis, k: str, n: str) -> str:
    """The cells of window k within the input; a slice may end behind it, and must not begin before it."""
    if not isinstance(axis, WindowAxis):
        m = axis.output_size(1)
        return f"{k} * {n} // {m}:-(-({k} + 1) * {n} // {m})"
    at = k if axis.stride == 1 else f"{axis.stride} * {k}"
    start = _shifted(at, -axis.padding)
    if axis.padding:
        start = f"max(0, {start})" if axis.dilation == 1 else f"max({start}, ({start}) % {axis.dilation})"
    stop = _shifted(at, axis.span - axis.padding)
    if axis.span <= axis.padding:
        stop = f"max(0, {stop})"
    return f"{start}:{stop}" + (f":{axis.dilation}" if axis.dilation > 1 else "")


def _shifted(text: str, by: int) -> str:
    return text if not by else f"{text} {'+' if by > 0 else '-'} {abs(by)}"
