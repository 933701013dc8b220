"""What is refused of a formula: a median of an even number of entries, windows and sums too large for a sheet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from derive.errors import CardError, LimitError, UnsupportedError
from derive.expr import Cases, Entry, Extremum, In, Node, Num, Reduce, SetApp, Tuple, conditions, walk
from derive.limits import MOST_COMPARED, MOST_DEFINED, MOST_IN_A_WINDOW, MOST_NESTED, MOST_TERMS
from derive.module import Module
from derive.receptive_field import ReceptiveField
from derive.reductions import REDUCTIONS, is_middle
from derive.window_axis import WindowAxis


def has_even_median(module: Module, shape: Sequence[int]) -> bool:
    """At this shape of the input some median is taken of an even number of entries, or of none."""
    return any(_even(field, shape) for field in _of_medians(module))


def refuse_layer(module: Module) -> None:
    """Raise what a layer is refused for before it is derived: a median of an even number, work without measure."""
    refuse_more_axes(module)
    refuse_even_medians(module)
    refuse_long_sums(module)
    refuse_deep_layers(module)
    refuse_large_windows(module)


def refuse_more_axes(module: Module) -> None:
    """Raise :class:`CardError` where (i, lj) ∈ Ω(k, l) has more letters than the windows have axes."""
    fields = dict(module.fields)
    for node in (n for e in module.equations for n in walk(e) if isinstance(n, In)):
        name = node.set.name if isinstance(node.set, SetApp) else ""
        field = fields.get(name)
        letters = len(node.element.items) if isinstance(node.element, Tuple) else 1
        if field is not None and letters > len(field.axes):
            raise CardError(f"{letters} letters are in `{name}`, and its windows have {len(field.axes)} axes: "
                            "write as many, with commas between them")


def refuse_even_medians(module: Module) -> None:
    """Raise :class:`CardError` where the windows of a median do not all have an odd number of cells."""
    for field in _of_medians(module):
        known = module.input_size
        if known is not None and _even(field, known):
            sizes = "×".join(map(str, known))
            raise CardError(f"at an input of size {sizes} a window has an even number of entries: the median is one of "
                            "them only where their number is odd; choose other windows, or no padding")
        if known is not None or field is None:
            continue
        if not all(isinstance(a, WindowAxis) for a in field.axes):
            raise CardError("whether each window has an odd number of entries, as a median needs, depends on the size "
                            "of the input; add `input_size`")
        if field.padded or math.prod(field.kernel_size) % 2 == 0:
            size = "×".join(map(str, field.kernel_size))
            clipped = ", clipped at the edge," if field.padded else ""
            raise CardError(f"windows of size {size}{clipped} can have an even number of entries: the median is one of "
                            "them only where their number is odd; take an odd `kernel_size` and no padding")


def _of_medians(module: Module) -> list[ReceptiveField | None]:
    """The windows of each median of the forward formula; None where it takes the whole input."""
    medians = [n for e in module.equations for n in walk(e) if isinstance(n, Reduce) and is_middle(n.op)]
    found: list[ReceptiveField | None] = []
    for node in medians:
        cond = node.binder.cond
        windows = cond.set if isinstance(cond, In) and isinstance(cond.set, SetApp) else None
        whole = isinstance(node.body, Entry) and node.body.indices == node.binder.variables
        if windows is not None or whole:
            found.append(module.field(windows.name) if windows is not None else None)
    return found


def _even(field: ReceptiveField | None, shape: Sequence[int]) -> bool:
    if field is None:
        return math.prod(shape) % 2 == 0
    return any(len(axis.covered(k, n)) % 2 == 0 for axis, n in zip(field.axes, shape, strict=True)
               for k in range(axis.output_size(n)))


_TESTED = "each equation is tested at every entry of several windows, which takes too long"


def refuse_large_windows(module: Module) -> None:
    """Raise :class:`UnsupportedError` for windows of too many entries, fewer where they are compared, or too wide."""
    compared = {cond.set.name for node in _reductions(module) if REDUCTIONS[node.op].selects
                for cond in conditions(node.binder.cond) if isinstance(cond, In) and isinstance(cond.set, SetApp)}
    for name, field in module.fields:
        most = MOST_COMPARED if name in compared else MOST_IN_A_WINDOW
        axes = [axis for axis in field.axes if isinstance(axis, WindowAxis)]
        entries = math.prod(axis.kernel_size for axis in axes)
        if entries > most:
            what = " that are compared" if name in compared else ""
            raise UnsupportedError(f"a window of {entries:,} entries{what}: a sheet has at most {most}, for {_TESTED}")
        widest = max((max(a.span, a.stride, a.padding, a.padding_after) for a in axes), default=0)
        if widest > MOST_IN_A_WINDOW:
            raise UnsupportedError(f"a kernel, stride or padding that spans {widest:,} cells: a sheet has at most "
                                   f"{MOST_IN_A_WINDOW}, for {_TESTED}")


def _reductions(module: Module) -> Iterator[Reduce]:
    return (n for equation in module.equations for n in walk(equation) if isinstance(n, Reduce))


_NAMES = {"prod": "product", "max": "maximum", "min": "minimum"}


def refuse_long_sums(module: Module) -> None:
    """Raise :class:`LimitError` where sums or products between numbers have more terms than are calculated with.

    So an entry whose number is beyond these.
    """
    for node in (*module.equations, *module.wanted):
        _counted(node, 1)


def refuse_deep_layers(module: Module) -> None:
    """Raise :class:`LimitError` where more tensors are defined one by the other than are differentiated."""
    if len(module.equations) > MOST_DEFINED:
        raise LimitError(f"{len(module.equations)} formulas lead to `{module.output}`, and at most {MOST_DEFINED} are "
                         "differentiated: write fewer layers, or ask for the messages of a part")
    nested = max(map(_nested, module.equations), default=0)
    if nested > MOST_NESTED:
        raise LimitError(f"{nested} maxima or cases stand within one another, and at most {MOST_NESTED} are "
                         "differentiated; give the inner ones letters, as in `u_i = \\max(0, x_i)`")


def _nested(node: Node) -> int:
    return isinstance(node, (Cases, Extremum)) + max(map(_nested, node.children()), default=0)


def _counted(node: Node, times: int) -> None:
    if isinstance(node, Reduce):
        limits = zip(node.binder.lower, node.binder.upper, strict=True)
        times *= math.prod(max(1, int(high.value - low.value) + 1) for low, high in limits
                           if isinstance(low, Num) and isinstance(high, Num))
        if times > MOST_TERMS:
            what = _NAMES.get(node.op, node.op)
            raise LimitError(f"a {what} of {times:,} terms: at most {MOST_TERMS:,} are calculated with; write a letter "
                             "for its limit")
    if isinstance(node, Entry) and any(isinstance(i, Num) and i.value > MOST_TERMS for i in node.indices):
        raise LimitError(f"an entry of `{node.tensor}` beyond the {MOST_TERMS:,}th is not calculated with: write a "
                         "letter for its index")
    for child in node.children():
        _counted(child, times)
