"""All windows at once: array operations on windows of one size, and on the gathered cells of windows that differ."""

from __future__ import annotations

from derive.errors import UnsupportedError
from derive.expr import Arg, Entry, Reduce, walk
from derive.listing.code import SIGN, Code
from derive.listing.layer import results
from derive.listing.layer import results as results_of
from derive.listing.one_window import sizes_of, times
from derive.listing.windows import Entries, Slope, Windowed, head, output_size, tuple_text, unpacked
from derive.receptive_field import WindowAxis
from derive.reductions import is_middle

_OFFSETS = "abcuvwpq"


def functions(layer: Windowed) -> str:
    """``def max_pool(x): …`` and ``def max_pool_backward(upstream, x): …`` without a loop over the windows.

    The windows must be of one size, but for those that the input's edge cuts.
    """
    writer = Writer(layer)
    return "\n\n\n".join(("\n".join(writer.forward()), "\n".join(writer.backward()))) + "\n"


class Writer:
    """The lines of both functions for windows of one size."""

    def __init__(self, layer: Windowed) -> None:
        self.layer = layer
        self.axes = [a for a in layer.axes if isinstance(a, WindowAxis)]
        self.rank = len(self.axes)
        self.kernel = [a.kernel_size for a in self.axes]
        taken = {*layer.given, layer.f, *layer.outputs, *layer.extents}
        self.taps = [c for c in _OFFSETS if c not in taken][: self.rank]
        self.counts = [output_size(a, n) for a, n in zip(self.axes, layer.extents, strict=True)]
        self.ceil = any(a.ceil_mode for a in self.axes)

    # --- the windows ----------------------------------------------------------

    @property
    def array(self) -> str:
        """What the windows are views of: the input, with room for those that reach beyond it."""
        return "padded" if self.layer.clipped else self.layer.x

    def padded(self, what: str, fill: str = "") -> str:
        pairs = [f"({a.padding}, {a.span - 1 if a.ceil_mode else a.padding_after})" for a in self.axes]
        width = pairs[0] if len(set(pairs)) == 1 else tuple_text(pairs)
        same = set(pairs) == {f"({self.axes[0].padding}, {self.axes[0].padding})"}
        width = str(self.axes[0].padding) if same else width
        return f"np.pad({what}, {width}{f', constant_values={fill}' if fill else ''})"

    def view(self, what: str) -> str:
        """All windows: axes of the outputs, then those of a window."""
        spans = [str(a.span) for a in self.axes]
        text = f"sliding_window_view({what}, {spans[0] if self.rank == 1 else tuple_text(spans)})"
        slices = [self._stop(a, n) + (f":{a.stride}" if a.stride > 1 else "")
                  for a, n in zip(self.axes, self.rows, strict=True)]
        slices = [s if ":" in s else s + ":" for s in slices]
        within = [f"::{a.dilation}" if a.dilation > 1 else ":" for a in self.axes]
        if set(within) != {":"}:
            slices += within
        return text if set(slices) == {":"} else f"{text}[{', '.join(slices)}]"

    def _stop(self, axis: WindowAxis, rows: str) -> str:
        if not axis.ceil_mode:
            return ":"
        return f":{axis.stride} * {rows}" if axis.stride > 1 else f":{rows}"

    @property
    def rows(self) -> list[str]:
        names = ["rows", "columns", "layers"]
        return names[: self.rank] if self.rank > 1 else ["count"]

    def setup(self, used: set[str], backward: bool) -> list[str]:
        """The lines that make the windows, and mark the entries within the input."""
        x, lines = self.layer.x, []
        needs = used & {"windows", "inside"}
        if self.ceil and (needs or not backward) or backward or used & set(self.layer.outputs):
            counts = "upstream.shape" if backward else ", ".join(self.counts)
            lines.append(unpacked(self.rows, counts) if backward or self.rank > 1 else f"{self.rows[0]} = {counts}")
        if not needs:
            return lines
        if not self.layer.clipped:
            return [*lines, f"windows = {self.view(x)}"]
        if "windows" in used:
            lines.append(f"windows = {self.view(self.padded(x))}")
        if "inside" in used:
            lines.append(f"inside = {self.view(self.padded(f'np.ones({x}.shape, bool)'))}")
        return lines

    def printer(self, f: str, kept: bool) -> Entries:
        axis = "-1" if self.rank == 1 else str(tuple(range(-self.rank, 0)))
        count = 1
        for n in self.kernel:
            count *= n
        return Entries(self.layer, "windows", f, axis, "inside" if self.layer.clipped else "", str(count), kept)

    # --- forward --------------------------------------------------------------

    def forward(self) -> list[str]:
        printer = self.printer(self.layer.f, False)
        value = printer.value(self.layer.forward).text
        lines = self.setup(printer.used, False)
        if printer.used & set(self.layer.outputs):
            lines.append(self.grid())
        sizes = sizes_of(self.layer, {*self.layer.extents} if any("rows" in x or "count" in x for x in lines)
                       else printer.used)
        return [head(self.layer, False), *sizes, *indented([*lines, f"return {value}"])]

    def grid(self) -> str:
        if self.rank == 1:
            return f"{self.layer.outputs[0]} = np.arange({self.rows[0]})"
        return f"{', '.join(self.layer.outputs)} = np.ogrid[{', '.join(':' + r for r in self.rows)}]"

    # --- backward -------------------------------------------------------------

    def backward(self) -> list[str]:
        layer = self.layer
        slope = layer.slope(layer.source)
        sums = [self.scalar(t) for t in layer.scalars]
        single = slope.selected is not None and layer.module.tie_rule != "split"
        body, used = self.selected(slope) if single else self.tapped(slope)
        used |= {n for _, names in sums for n in names}
        lines = self.setup(used, True)
        if used & set(layer.outputs):
            lines.append(self.grid())
        if layer.f in used:
            lines.append(f"{layer.f} = {head(layer, False).removeprefix('def ').removesuffix(':')}")
        lines += [*body, *(text for text, _ in sums)]
        dx = layer.scope.name(f"delta_{layer.source}")
        results = [self.cropped(dx, used) if name == dx else name for name in results_of(layer.messages)]
        sizes = sizes_of(layer, used | ({*layer.extents} if layer.clipped else set()))
        return [head(layer, True), *sizes, *indented([*lines, f"return {', '.join(results)}"])]

    def scalar(self, wrt: str) -> tuple[str, set[str]]:
        name = self.layer.scope.name(f"delta_{wrt}")
        printer = self.printer(self.layer.f, False)
        return f"{name} = np.sum({times('upstream', printer.value(self.layer.slope(wrt).factors))})", printer.used

    def tapped(self, slope: Slope) -> tuple[list[str], set[str]]:
        """For each place in a window, what all windows add there."""
        layer = self.layer
        dx = layer.scope.name(f"delta_{layer.source}")
        behind = ", ".join([":"] * self.rank + ["None"] * self.rank)
        varies = slope.varies(layer)
        printer = self.printer(f"{layer.f}[{behind}]" if varies else layer.f, varies)
        upstream = f"upstream[{behind}]" if varies else "upstream"
        added = times(upstream, printer.value(slope.factors))
        lines = []
        if slope.selected is not None:
            lines.append(f"chosen = {self.tied(slope.selected, printer)}")
            added = f"{added} * chosen / np.sum(chosen{printer.options(True)})"
        used = printer.used | ({layer.f} if printer.f in printer.used else set())
        at = ", ".join([":"] * self.rank + self.taps)
        slices = ", ".join(self.reach(t, a, r) for t, a, r in zip(self.taps, self.axes, self.rows, strict=True))
        run = f"range({self.kernel[0]})" if self.rank == 1 else f"np.ndindex({', '.join(map(str, self.kernel))})"
        lines += [f"slopes = {added}"] if varies else [f"share = {added}"] if added != "upstream" else []
        what = f"slopes[{at}]" if varies else "share" if added != "upstream" else "upstream"
        return [*lines, f"{dx} = np.zeros({self.room()})", f"for {', '.join(self.taps)} in {run}:",
                f"    {dx}[{slices}] += {what}"], used

    def tied(self, arg: Arg, printer: Entries) -> str:
        """All entries at which the body is as large as anywhere in the window."""
        score = printer.value(arg.body).text
        if is_middle(arg.op):
            if self.layer.clipped:
                middle = f"np.nanmedian(np.where(inside, {score}, np.nan){printer.options(True)})"
                printer.used.add("inside")
                return f"inside & ({score} == {middle})"
            return f"{score} == np.median({score}{printer.options(True)})"
        if not self.layer.clipped:
            return f"{score} == np.{arg.op}({score}{printer.options(True)})"
        printer.used.add("inside")
        worst = "-np.inf" if arg.op == "max" else "np.inf"
        best = f"np.{arg.op}({score}{printer.options(True)}, where=inside, initial={worst})"
        return f"inside & ({score} == {best})"

    def reach(self, tap: str, axis: WindowAxis, rows: str) -> str:
        at = tap if axis.dilation == 1 else f"{axis.dilation} * {tap}"
        step = axis.stride
        return f"{at}:{at} + {rows if step == 1 else f'{step} * {rows}'}" + (f":{step}" if step > 1 else "")

    def room(self) -> str:
        """The shape of the gradient with the cells around the input."""
        if not self.layer.clipped:
            return f"{self.layer.x}.shape"
        sizes = [_plus(n, a.padding + (a.span - 1 if a.ceil_mode else a.padding_after))
                 for n, a in zip(self.layer.extents, self.axes, strict=True)]
        return sizes[0] if self.rank == 1 else tuple_text(sizes)

    def cropped(self, dx: str, used: set[str]) -> str:
        if not self.layer.clipped:
            return dx
        slices = [f"{a.padding}:{_plus(n, a.padding)}" if a.padding else f":{n}"
                  for n, a in zip(self.layer.extents, self.axes, strict=True)]
        return f"{dx}[{', '.join(slices)}]"

    def selected(self, slope: Slope) -> tuple[list[str], set[str]]:
        """The one entry of each window that its output follows."""
        layer, arg = self.layer, slope.selected
        assert arg is not None
        dx = layer.scope.name(f"delta_{layer.source}")
        if not isinstance(arg.body, Entry) and any(isinstance(n, Reduce) for n in walk(slope.factors)):
            raise UnsupportedError("a selection and a sum in one slope are not written as array operations")
        score = Entries(layer, layer.x, layer.f).value(arg.body).text
        worst = "-np.inf" if arg.op == "max" else "np.inf"
        source = self.padded(score, worst) if layer.clipped else score
        best = self.best(arg)
        shape = str(self.kernel[0]) if self.rank == 1 else tuple_text([str(n) for n in self.kernel])
        lines = [f"windows = {self.view(source)}", *best]
        if self.rank > 1:
            lines.append(f"{', '.join(self.taps)} = np.unravel_index(best, {shape})")
        taps = self.taps if self.rank > 1 else ["best"]
        outputs = [layer.outputs[d] for d in range(self.rank)]
        lines.append(f"{outputs[0]} = np.arange({self.rows[0]})" if self.rank == 1 else self.grid())
        places = [self.place(k, t, a) for k, t, a in zip(outputs, taps, self.axes, strict=True)]
        padding = layer.clipped
        lines.append(f"at = {places[0] if self.rank == 1 else ', '.join(places)}")
        printer = self.printer(layer.f, False)
        printer.entry = f"{'padded' if padding else layer.x}[at]"
        value = times("upstream", printer.value(slope.factors))
        if printer.entry in value and padding:
            lines.append(f"padded = {self.padded(layer.x)}")
        lines += [f"{dx} = np.zeros({self.room()})", f"np.add.at({dx}, at, {value})"]
        return lines, printer.used - {printer.entry, "windows"} | ({layer.f} if any(
            isinstance(n, Entry) and n.tensor == layer.module.output for n in walk(slope.factors)) else set())

    def best(self, arg: Arg) -> list[str]:
        flat = "windows" if self.rank == 1 else "flat"
        lines = [] if self.rank == 1 else [f"flat = windows.reshape({', '.join(self.rows)}, -1)"]
        if self.layer.module.tie_rule == "last":
            size = Code(f"{flat}.shape[-1]", SIGN).text
            return [*lines, f"best = {size} - 1 - np.arg{arg.op}({flat}[..., ::-1], axis=-1)"]
        return [*lines, f"best = np.arg{arg.op}({flat}, axis=-1)"]

    def place(self, k: str, tap: str, axis: WindowAxis) -> str:
        start = k if axis.stride == 1 else f"{axis.stride} * {k}"
        return f"{start} + {tap}" if axis.dilation == 1 else f"{start} + {axis.dilation} * {tap}"


def _plus(n: str, by: int) -> str:
    return n if not by else f"{n} + {by}"


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def gathered(layer: Windowed) -> str:
    """``def adaptive_max_pool(x): …`` and its backward function without a loop over the windows."""
    writer = _Gathered(layer)
    return "\n\n\n".join(("\n".join(writer.forward()), "\n".join(writer.backward()))) + "\n"


class _Gathered(Writer):
    """``at`` holds the indices of every window's cells, filled up to one number; ``inside`` marks the real ones."""

    def __init__(self, layer: Windowed) -> None:
        self.layer, self.rank = layer, len(layer.axes)
        self.outputs = [a.output_size(1) for a in layer.axes]

    def setup(self, used: set[str], backward: bool) -> list[str]:
        layer = self.layer
        if used & set(layer.outputs):
            raise UnsupportedError("a formula that names the window's place is not written for windows that differ")
        lines, inside, at = [], [], []
        for d, (k, n, m) in enumerate(zip(layer.outputs, layer.extents, self.outputs, strict=True)):
            cells = "ijh"[d] if "ijh"[d] not in {*layer.given, layer.f} else "ijh"[d] + "_"
            lines.append(f"{k} = np.arange({m})[:, None]")
            lines.append(f"{cells} = {k} * {n} // {m} + np.arange({n} // {m} + 2)")
            behind = self._spread(d)
            inside.append(f"({cells} < -(-({k} + 1) * {n} // {m})){behind}")
            at.append(f"np.minimum({cells}, {n} - 1){behind}")
        lines.append(f"inside = {' & '.join(inside)}")
        lines.append(f"at = {at[0] if self.rank == 1 else ', '.join(at)}")
        return [*lines, f"windows = {layer.x}[at]"] if "windows" in used else lines

    def _spread(self, d: int) -> str:
        """The axes k and i of (k, i) among k, l, i, j."""
        if self.rank == 1:
            return ""
        behind = ["None"] * (2 * self.rank)
        behind[d] = behind[d + self.rank] = ":"
        return f"[{', '.join(behind[d:])}]"

    def printer(self, f: str, kept: bool) -> Entries:
        axis = "-1" if self.rank == 1 else str(tuple(range(-self.rank, 0)))
        return Entries(self.layer, "windows", f, axis, "inside", "", kept)

    def forward(self) -> list[str]:
        printer = self.printer(self.layer.f, False)
        value = printer.value(self.layer.forward).text
        return [head(self.layer, False), *sizes_of(self.layer, {*self.layer.extents}),
                *indented([*self.setup(printer.used, False), f"return {value}"])]

    def backward(self) -> list[str]:
        layer = self.layer
        slope, sums = layer.slope(layer.source), [self.scalar(t) for t in layer.scalars]
        behind = ", ".join([":"] * self.rank + ["None"] * self.rank)
        printer = self.printer(f"{layer.f}[{behind}]", True)
        added = times(f"upstream[{behind}]", printer.value(slope.factors))
        body = []
        if slope.selected is not None:
            body = self.chosen(slope.selected, printer)
            added += " * chosen"
            if layer.module.tie_rule == "split":
                added += f" / np.sum(chosen{printer.options(True)})"
        used = printer.used | {n for _, names in sums for n in names}
        lines = self.setup(used, True)
        if used & {layer.f, printer.f}:
            lines.append(f"{layer.f} = {head(layer, False).removeprefix('def ').removesuffix(':')}")
        dx = layer.scope.name(f"delta_{layer.source}")
        lines += [*body, f"slopes = {added}", f"{dx} = np.zeros({layer.x}.shape)",
                  f"np.add.at({dx}, at, np.where(inside, slopes, 0))", *(text for text, _ in sums)]
        return [head(layer, True), *sizes_of(layer, {*layer.extents}),
                *indented([*lines, f"return {', '.join(results(layer.messages))}"])]

    def chosen(self, arg: Arg, printer: Entries) -> list[str]:
        """Which entries of each window its output follows."""
        if self.layer.module.tie_rule == "split":
            return [f"chosen = {self.tied(arg, printer)}"]
        score = printer.value(arg.body).text
        worst = "-np.inf" if arg.op == "max" else "np.inf"
        shape = tuple_text([*map(str, self.outputs), "-1"]).strip("()")
        flat = f"np.where(inside, {score}, {worst})" + (f".reshape({shape})" if self.rank > 1 else "")
        best = f"np.arg{arg.op}(flat, axis=-1)"
        if self.layer.module.tie_rule == "last":
            best = f"flat.shape[-1] - 1 - np.arg{arg.op}(flat[..., ::-1], axis=-1)"
        chosen = "np.arange(flat.shape[-1]) == best[..., None]"
        return [f"flat = {flat}", f"best = {best}",
                f"chosen = ({chosen}).reshape(inside.shape)" if self.rank > 1 else f"chosen = {chosen}"]
