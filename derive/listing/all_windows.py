"""All windows at once: views of windows, and scattering to the flat places of their cells."""

from __future__ import annotations

import math

from derive.expr import Arg, Expr
from derive.listing.code import Code
from derive.listing.one_window import lines as one_at_a_time
from derive.listing.windows import Entries, Pass, times, tuple_text, worst
from derive.receptive_field import WindowAxis


def lines(step: Pass) -> tuple[list[str], list[str]]:
    """Array operations without a loop over the windows, and the sizes that they name."""
    if not step.layer.axes:
        return one_at_a_time(step)
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
