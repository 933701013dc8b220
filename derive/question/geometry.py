"""The window of a card: front matter, words and formula weighed against each other, each named."""

from __future__ import annotations

from derive.errors import CardError
from derive.layers.intervals import Interval
from derive.question.stated import Reader, Sizes, Stated, per_axis, times
from derive.receptive_field import ReceptiveField, receptive_field


def geometry(
    reader: Reader, spelt: tuple[Interval, ...] | None, formula: str, declared: Sizes = ()
) -> tuple[ReceptiveField, Sizes | None]:
    """Ω, and the input's size where it is stated.

    ``spelt`` is the window that the ``formula`` itself spells out, ``declared`` the
    input's shape where a formula gives it in numbers.
    Raises :class:`CardError` with every problem of the window at once.
    """
    _refuse_vague(reader)
    kernel = _kernel(reader)
    stride = _stride(reader, kernel)
    padding = reader.stated("padding")
    size = _input_size(reader, declared)
    if spelt is not None:
        kernel, stride, padding = _spelt(reader, spelt, formula, (kernel, stride, padding))
    elif kernel is None and not reader.problems:
        reader.problems += reader.unread
        reader.refuse(
            "the window's size is not stated; write e.g. “2×2”, or add `kernel_size: 2` to the front matter",
            reader.card.question_line,
        )
    _refuse_impossible(reader, kernel, stride, padding)
    if reader.problems or kernel is None:
        raise CardError(*dict.fromkeys(reader.problems))
    found = receptive_field(kernel.value, stride.value if stride else None, padding.value if padding else None)
    _refuse_too_large(reader, found, size)
    _refuse_other_output(reader, found, size)
    if reader.problems:
        raise CardError(*dict.fromkeys(reader.problems))
    _say(reader, kernel, stride, padding, size)
    return found, None if size is None else size.value


def _refuse_vague(reader: Reader) -> None:
    for found in reader.words.about("which layer"):
        if found.value not in reader.card.front_matter:
            hint = f"is it the pooling's? add `{found.value}` to the front matter"
            reader.refuse(f"“{found.quote}” stands after a convolution; {hint}", found.line)
    for what, key in (("padding without number", "padding"), ("direction", "stride"), ("same", "padding")):
        if key in reader.card.front_matter:
            continue
        for found in reader.words.about(what)[:1]:
            hint = {
                "padding without number": "how many cells? write “padding 1” or “no padding”",
                "direction": "which axis is meant? write the numbers in the order of the indices, e.g. “stride (2, 1)”",
                "same": "write the number of cells instead, e.g. “padding 1”",
            }[what]
            reader.refuse(f"“{found.quote}”: {hint}, or add `{key}` to the front matter", found.line)


def _kernel(reader: Reader) -> Stated | None:
    if "kernel_size" in reader.card.front_matter:
        return reader.key("kernel_size")
    found = reader.words.about("kernel_size")
    lengths = reader.words.about("length")
    if reader.rank == 1:
        found += lengths
    elif lengths and not found:
        reader.refuse(
            f"“{lengths[0].quote}” is one length, and the layer has {reader.rank} axes; write e.g. “2×2”",
            lengths[0].line,
        )
    return reader.said("kernel_size", found)


def _stride(reader: Reader, kernel: Stated | None) -> Stated | None:
    if "stride" in reader.card.front_matter:
        return reader.key("stride")
    same = [f for f in reader.words.about("stride") if f.value == "kernel_size"]
    stride = reader.said("stride", reader.words.about("stride"))
    disjoint, overlapping = reader.words.about("disjoint"), reader.words.about("overlapping")
    if kernel is None:
        return stride
    if stride is None and (same or disjoint):
        return Stated(kernel.value, str((*same, *disjoint)[0]), (*same, *disjoint)[0].line)
    if stride is None:
        if overlapping:
            reader.refuse(f"“{overlapping[0].quote}”: by how much? write the stride", overlapping[0].line)
        return None
    larger = [s >= k for s, k in zip(stride.value, kernel.value, strict=True)]
    clash = (
        (bool(same) and stride.value != kernel.value)
        or (bool(disjoint) and not all(larger))
        or (bool(overlapping) and not disjoint and all(larger))
    )
    if clash:
        other = (*same, *disjoint, *overlapping)[0]
        reader.refuse(
            f"“{other.quote}” (line {other.line}) contradicts stride {times(stride.value)} ({stride.source}) "
            f"with the window {times(kernel.value)} ({kernel.source})",
            stride.line,
        )
    return stride


def _input_size(reader: Reader, declared: Sizes) -> Stated | None:
    if "input_size" in reader.card.front_matter:
        return reader.key("input_size")
    fitting = tuple(f for f in reader.words.about("input_size") if len(f.value) in (1, reader.rank))
    for other in reader.words.about("input_size"):
        if other not in fitting:
            reader.readings.append(
                f"no input size is taken from “{other.quote}” (line {other.line}): it has other axes"
            )
    stated = reader.said("input_size", fitting)
    if not declared:
        return stated
    if stated is not None and stated.value != declared:
        reader.refuse(
            f"input of size {times(stated.value)} ({stated.source}) and {times(declared)} in a formula", stated.line
        )
    return Stated(declared, "a formula gives its shape", None)


Three = tuple[Stated | None, Stated | None, Stated | None]


def _spelt(reader: Reader, spelt: tuple[Interval, ...], formula: str, said: Three) -> tuple[Stated, Stated, Stated]:
    """The formula's own window, held against what the words say of it."""
    kernel, stride, padding = said
    place = f"{formula.partition(':')[0]}: the formula"
    own = Stated(tuple(a.size for a in spelt), place, None), Stated(tuple(a.stride for a in spelt), place, None)
    for what, mine, theirs in (("window", own[0], kernel), ("stride", own[1], stride)):
        if theirs is not None and theirs.value != mine.value:
            reader.refuse(
                f"{what} {times(theirs.value)} ({theirs.source}) contradicts the formula, "
                f"which has {times(mine.value)} ({formula})",
                theirs.line,
            )
    zero_based = tuple(-a.start for a in spelt)
    one_based = tuple(1 - a.start - a.stride for a in spelt)
    counts = {a.base for a in spelt}
    choice = _padding(zero_based, one_based, padding, counts, own[0].value == own[1].value)
    if choice is None:
        stated = f"padding {times(padding.value)} ({padding.source})" if padding else "no padding is stated"
        reader.refuse(
            f"{stated}, and the formula ({formula}) has padding {times(zero_based)} where coordinates count from 0, "
            f"{times(one_based)} where they count from 1; say which padding is meant",
            padding.line if padding else None,
        )
        choice = tuple(max(0, p) for p in zero_based)  # one problem is enough
    elif choice != zero_based:
        reader.readings.append("the card counts coordinates from 1; here they count from 0")
    return own[0], own[1], padding or Stated(choice, place, None)


def _padding(
    zero_based: Sizes, one_based: Sizes, padding: Stated | None, counts: set[int | None], tiles: bool
) -> Sizes | None:
    """Which counting fits: the one with the stated padding; unstated, see below; None where both may be meant."""
    both = (zero_based, one_based)
    if padding is not None:
        return next((p for p in both if p == padding.value), None)
    if not any(zero_based) or zero_based == one_based:
        return zero_based if min(zero_based) >= 0 else None
    if not any(one_based) and (tiles or counts == {1}):
        return one_based
    if counts == {0} and min(zero_based) >= 0 and not tiles:  # the window counts from 0, so do coordinates
        return zero_based
    possible = [p for p in both if min(p) >= 0]
    return possible[0] if len(possible) == 1 else None


def _refuse_impossible(reader: Reader, kernel: Stated | None, stride: Stated | None, padding: Stated | None) -> None:
    for what, stated, least, rule in (
        ("kernel_size", kernel, 1, "a positive integer"),
        ("stride", stride, 1, "a positive integer"),
        ("padding", padding, 0, "0 or more cells"),
    ):
        bad = [v for v in stated.value if v < least] if stated else []
        if stated and bad:
            reader.refuse(f"`{what}: {bad[0]}` is not {rule} ({stated.source})", stated.line)


def _refuse_too_large(reader: Reader, found: ReceptiveField, size: Stated | None) -> None:
    if size is None:
        return
    for axis, n in zip(found.axes, size.value, strict=True):
        padded = n + 2 * axis.padding
        if n < 1:
            reader.refuse(f"`input_size: {n}` is not a positive integer ({size.source})", size.line)
        elif axis.kernel_size > padded:
            reader.refuse(
                f"the kernel spans {axis.kernel_size} cells, but the padded input has only {padded} ({size.source})",
                size.line,
            )


def _refuse_other_output(reader: Reader, found: ReceptiveField, size: Stated | None) -> None:
    output = reader.said("output size", reader.words.about("output_size"))
    if size is not None and output is not None and found.output_shape(size.value) != output.value:
        reader.refuse(
            f"an input of size {times(size.value)} ({size.source}) gives an output of size "
            f"{times(found.output_shape(size.value))}, not {times(output.value)} ({output.source})",
            output.line,
        )


def _say(reader: Reader, kernel: Stated, stride: Stated | None, padding: Stated | None, size: Stated | None) -> None:
    said = reader.readings
    said.append(f"window {times(kernel.value)} ({kernel.source})")
    if stride is None:
        said.append(f"stride {times(kernel.value)}, as large as the window (the card states none)")
    else:
        said.append(f"stride {per_axis(stride.value)} ({stride.source})")
    said.append(
        f"padding {per_axis(padding.value)} ({padding.source})" if padding else "no padding (the card states none)"
    )
    if size is not None:
        said.append(f"input of size {times(size.value)} ({size.source})")
