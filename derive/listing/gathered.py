"""Windows of different sizes as one array: their cells by index, and which of them count."""

from __future__ import annotations

from derive.errors import UnsupportedError
from derive.expr import Arg
from derive.listing.all_windows import Writer, indented
from derive.listing.layer import results
from derive.listing.one_window import sizes_of, times
from derive.listing.windows import Entries, Windowed, head, tuple_text


def functions(layer: Windowed) -> str:
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
