"""The lines for windows: one window at a time, or views of all of them and scattering to their cells' flat places."""

from __future__ import annotations

import math

from derive.expr import Arg, Expr
from derive.listing.code import Code, tuple_text
from derive.listing.windows import Entries, Pass, Windowed, times, worst
from derive.receptive_field import Axis, WindowAxis


def loops(step: Pass) -> tuple[list[str], list[str]]:
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
    counts = printer.shape(layer.counts)
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


def arrays(step: Pass) -> tuple[list[str], list[str]]:
    """Array operations without a loop over the windows, and the sizes that they name."""
    if not step.layer.axes:
        return loops(step)
    writer = _Writer(step)
    return writer.backward() if step.targets else writer.forward(), list(writer.printer.sizes)


_LONG = 55  # characters of an expression that gets a line of its own


def _flattened(view: str, flat: str) -> list[str]:
    together = len(view + flat) <= _LONG + 20
    return [f"cells = {view}{flat}"] if together or not flat else [f"cells = {view}", f"cells = cells{flat}"]


class _Writer:
    """``cells`` holds where the entries of each window stand in the flattened input, −1 for those outside it."""

    def __init__(self, step: Pass) -> None:
        self.step, self.layer = step, step.layer
        self.axes, rank = self.layer.axes, len(self.layer.axes)
        self.rows = ["count"] if rank == 1 else ["rows", "columns", "layers"][:rank]
        self.alike = [a for a in self.axes if isinstance(a, WindowAxis)]
        self.ceil = any(a.ceil_mode for a in self.alike)
        inside = "inside" if self.layer.clipped else ""
        count = "" if self.layer.clipped else str(math.prod(a.kernel_size for a in self.alike))
        axis = "-1" if step.targets or rank == 1 else str(tuple(range(-rank, 0)))
        self.printer = Entries(self.layer, "windows", self.layer.f, axis, inside, count)

    # --- the windows ----------------------------------------------------------

    def setup(self, used: set[str]) -> list[str]:
        """The lines that make the windows, and mark the entries within the input."""
        layer, backward = self.layer, bool(self.step.targets)
        used, found = used | ({"cells"} if used & {"inside"} or (layer.clipped and "windows" in used) else set()), []
        letters = used & set(layer.outputs)
        if letters or (self.ceil and used & {"cells", "windows"}):
            counts = [] if backward else list(map(self.text, layer.counts))
            value = ", ".join(counts) or f"{layer.upstream}.shape"
            found.append(f"{', '.join(self.rows)}{',' if backward and len(self.rows) == 1 else ''} = {value}")
        if letters and len(self.rows) == 1:
            found.append(f"{layer.outputs[0]} = np.arange({self.rows[0]})")
        elif letters:
            found.append(f"{', '.join(layer.outputs)} = np.ogrid[{', '.join(':' + r for r in self.rows)}]")
        if "cells" in used or backward and "windows" in used:
            found += self.cells(f".reshape(*{layer.upstream}.shape, -1)" if backward else "")
            found += ["inside = cells >= 0"] if "inside" in used else []
            found += [f"windows = {layer.x}.ravel()[cells]"] if "windows" in used else []
        elif "windows" in used:
            found.append(f"windows = {self.view(layer.x)}")
        return found

    def text(self, size: Expr) -> str:
        return self.printer.value(size).text

    def cells(self, flat: str) -> list[str]:
        x = self.layer.x
        places = f"np.arange({x}.size).reshape({x}.shape)"
        if not self.layer.clipped:
            return [f"places = {places}", *_flattened(self.view("places"), flat)]
        if not self.alike:
            return [f"places = np.pad({places}, (0, 1), constant_values=-1)", *self.gathered(flat)]
        pairs = [f"({a.padding}, {a.span - 1 if a.ceil_mode else a.padding_after})" for a in self.alike]
        same = {(a.padding, a.span - 1 if a.ceil_mode else a.padding_after) for a in self.alike}
        width = tuple_text(pairs) if len(same) > 1 else pairs[0]
        if same == {(self.alike[0].padding,) * 2}:
            width = str(self.alike[0].padding)
        return [f"places = np.pad({places}, {width}, constant_values=-1)", *_flattened(self.view("places"), flat)]

    def view(self, what: str) -> str:
        """All windows: axes of the outputs, then those of a window."""
        ends = [("" if not a.ceil_mode else r if a.stride == 1 else f"{a.stride} * {r}")
                for a, r in zip(self.alike, self.rows, strict=True)]
        slices = [f":{end}" + (f":{a.stride}" if a.stride > 1 else "") for end, a in zip(ends, self.alike, strict=True)]
        if any(a.dilation > 1 for a in self.alike):
            slices += [f"::{a.dilation}" if a.dilation > 1 else ":" for a in self.alike]
        text = f"sliding_window_view({what}, {tuple_text([str(a.span) for a in self.alike])})"
        return text if set(slices) == {":"} else f"{text}[{', '.join(slices)}]"

    def gathered(self, flat: str) -> list[str]:
        """The cells of windows that differ, filled up to one number by the place behind the input's end."""
        rank, found, at = len(self.axes), [], []
        taken = {*self.layer.outputs, *(s.name for s in self.layer.module.table.symbols if s.sizes)}
        for d, (axis, extent) in enumerate(zip(self.axes, self.layer.extents, strict=True)):
            k, n, m = self.layer.outputs[d], self.text(extent), axis.output_size(1)
            i = next(i for i in "ijhabc"[d:] if i not in taken)
            taken |= {i}
            found += [f"{k} = np.arange({m})[:, None]", f"{i} = {k} * {n} // {m} + np.arange({n} // {m} + 2)",
                      f"{i} = np.where({i} < -(-({k} + 1) * {n} // {m}), {i}, {n})"]
            behind = ["None"] * (2 * rank)
            behind[d] = behind[d + rank] = ":"
            at.append(i if rank == 1 else f"{i}[{', '.join(behind[d:])}]")
        return [*found, *_flattened(f"places[{', '.join(at)}]", flat)]

    # --- the functions --------------------------------------------------------

    def forward(self) -> list[str]:
        value = self.printer.value(self.layer.value).text
        return [*self.setup(self.printer.used), f"{self.layer.f} = {value}"]

    def backward(self) -> list[str]:
        layer, printer, found = self.layer, self.printer, []
        for t in (t for t in self.step.targets if t != layer.source):
            held = f"{layer.gradient(t)} + " if self.step.added else ""
            value = times(layer.upstream, printer.value(layer.slope(t).factors))
            found.append(f"{layer.gradient(t)} = {held}np.sum({value})")
        scattered = self.scattered() if layer.source in self.step.targets else []
        return [*self.setup(printer.used), *found, *scattered]

    def scattered(self) -> list[str]:
        """What the windows add at the flat places of their cells."""
        layer, printer, slope = self.layer, self.printer, self.layer.slope(self.layer.source)
        printer.kept, printer.behind, printer.f = True, "[..., None]", f"{layer.f}[..., None]"
        printer.used.add("cells")
        upstream, at, found = f"{layer.upstream}[..., None]", "cells", []
        if slope.selected is not None and layer.module.tie_rule != "split":
            found, at = self.best(slope.selected), "at"
            printer.entry = f"{layer.x}.ravel()[at]"
        added = times(upstream, printer.value(slope.factors))
        if slope.selected is not None and layer.module.tie_rule == "split":
            found.append(f"chosen = {printer.tied(slope.selected)}")
            added += f" * chosen / np.sum(chosen{printer.options(True)})"
        dx = layer.gradient(layer.source)
        flat = "gradient" if self.step.added else dx
        room, rest = (" + 1", "[:-1]") if layer.clipped else ("", "")  # the place of cells outside the input
        if len(added) > _LONG:
            found, added = [*found, f"slopes = {added}"], "slopes"
        return [*found, f"{flat} = np.zeros({layer.x}.size{room})", f"np.add.at({flat}, {at}, {added})",
                f"{dx} = {f'{dx} + ' if self.step.added else ''}{flat}{rest}.reshape({layer.x}.shape)"]

    def best(self, arg: Arg) -> list[str]:
        """The one entry of each window that its output follows."""
        score: Code = self.printer.value(arg.body)
        if self.layer.clipped:
            score = Code(f"np.where({self.printer.taken('inside').text}, {score.text}, {worst(arg.op)})")
        best = f"np.arg{arg.op}({score.text}, axis=-1, keepdims=True)"
        if self.layer.module.tie_rule == "last":
            flipped = f"np.flip({score.text}, axis=-1)"
            best = f"cells.shape[-1] - 1 - np.arg{arg.op}({flipped}, axis=-1, keepdims=True)"
        return [f"best = {best}", "at = np.take_along_axis(cells, best, axis=-1)"]
