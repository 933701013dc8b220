"""The geometry of a window: front matter, words and what the formula spells out, weighed against each other."""

from __future__ import annotations

import ast
from typing import Any

from derive.errors import CardError
from derive.layers.arguments import window_field
from derive.layers.intervals import Interval
from derive.module import FROM_ONE
from derive.question.windows.stated import Reader, Sizes, Stated, per_axis, times
from derive.question.windows.wording import Found
from derive.question.words.lexicon import named
from derive.receptive_field import ReceptiveField, WindowAxis, adaptive_field
from derive.records import dataclass

_LOW = {"left": -1, "top": 0, "start": None, "beginning": None, "front": None}
_HIGH = {"right": -1, "bottom": 0, "end": None, "back": None}
_FLAT = ("left", "right", "top", "bottom")


@dataclass(frozen=True)
class Padding:
    """The cells ``before`` and ``behind`` the input on each axis; ``same`` where the other sizes decide."""

    before: Sizes
    behind: Sizes
    source: str
    line: int | None
    same: bool = False

    @property
    def argument(self) -> Any:
        """As :func:`derive.layer` takes it."""
        return "same" if self.same else list(zip(self.before, self.behind, strict=True))

    @property
    def words(self) -> str:
        """1 in each axis, or where the ends differ: 0 before and 1 behind along the first axis, …"""
        if self.same:
            return "“same”"
        if self.before == self.behind:
            return per_axis(self.before)
        ends = zip(self.before, self.behind, ("first", "second", "third"), strict=False)
        return ", ".join(f"{a} before and {b} behind along the {axis} axis" for a, b, axis in ends)


def padding_of(reader: Reader) -> Padding | None:
    """What the front matter says, else the words; two different values are a problem that quotes both."""
    if "padding" in reader.card.front_matter:
        return _key(reader)
    plain = reader.said("padding", reader.words.about("padding"))
    found = [] if plain is None else [Padding(plain.value, plain.value, plain.source, plain.line)]
    found += [p for f in reader.words.about("padding at ends") if (p := _at_ends(reader, f))]
    found += [Padding((), (), str(f), f.line, same=True) for f in reader.words.about("same")[:1]]
    other = next((p for p in found[1:] if p.argument != found[0].argument), None)
    if other is not None:
        reader.refuse(f"two values of padding: {found[0].source} and {other.source}; keep one, or set `padding` in the "
                      "front matter", other.line)
    return found[0] if found else None


def _key(reader: Reader) -> Padding | None:
    """``padding: 1``, ``[1, 0]``, ``[[0, 1], [2, 0]]`` or ``same``."""
    value = reader.card.front_matter["padding"]
    line = reader.card.key_line("padding")
    source = f"line {line}: `padding: {value}`"
    if value == "same":
        return Padding((), (), source, line, same=True)
    if isinstance(value, str) and "(" in value:
        value = _literal(value)
    if not isinstance(value, list) or not any(isinstance(v, list) for v in value):
        stated = reader.key("padding")
        return None if stated is None else Padding(stated.value, stated.value, source, line)
    return _pairs(reader, value, source, line)


def _pairs(reader: Reader, value: list[Any], source: str, line: int | None) -> Padding | None:
    """[[0, 1], 2]: a pair (before, behind) or one number for each axis."""
    pairs = [v if isinstance(v, list) else [v, v] for v in value]
    if any(len(p) != 2 or not all(type(n) is int for n in p) for p in pairs):
        reader.refuse(f"`padding: {value}` is not a number, one an axis, or a pair [before, behind] an axis", line)
        return None
    if len(pairs) != reader.rank:
        axes = "one axis" if reader.rank == 1 else f"{reader.rank} axes"
        reader.refuse(f"`padding: {value}` is for {len(pairs)} axes, and the layer has {axes}", line)
        return None
    return Padding(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), source, line)


def _literal(text: str) -> Any:
    """((0, 1), 2) as lists."""
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return [list(v) if isinstance(v, tuple) else v for v in found] if isinstance(found, tuple) else text


def _at_ends(reader: Reader, found: Found) -> Padding | None:
    """«one cell on the left and two at the bottom»: columns are the last axis, rows the first."""
    text = str(found.value)
    if text.startswith("("):
        value = _literal(text)
        return _pairs(reader, value, str(found), found.line) if isinstance(value, list) else None
    before, behind = [0] * reader.rank, [0] * reader.rank
    count = 0
    for word in text.split():
        if word.isdecimal():
            count = int(word)
            continue
        if reader.rank > 2 and word in _FLAT or reader.rank == 1 and word in ("top", "bottom"):
            reader.refuse(f"“{found.quote}”: of which axis? add `padding` to the front matter, a pair [before, behind] "
                          "for each axis", found.line)
            return None
        axis, side = (_LOW[word], before) if word in _LOW else (_HIGH[word], behind)
        for d in range(reader.rank) if axis is None else (axis,):
            side[d] = count
    return Padding(tuple(before), tuple(behind), str(found), found.line)


Said = tuple[Stated | None, Stated | None, Padding | None]


def dilation_spelt(reader: Reader, spelt: tuple[Interval, ...], formula: str, said: Stated | None) -> Stated:
    """The formula's own dilation, held against what the words say of it."""
    own = tuple(a.dilation for a in spelt)
    if said is not None and said.value != own:
        reader.refuse(f"dilation {times(said.value)} ({said.source}) contradicts the formula, which has {times(own)} "
                      f"({formula})", said.line)
    return Stated(own, f"{formula.partition(':')[0]}: the formula", None)


def window_spelt(
    reader: Reader, spelt: tuple[Interval, ...], formula: str, said: Said
) -> tuple[Stated, Stated, Padding]:
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
    if reader.first is not None:
        own_count = (zero_based, one_based)[reader.first]
        fits = min(own_count) >= 0 and (padding is None or padding.same or padding.before == own_count)
        choice = own_count if fits else None
    else:
        choice = _padding(zero_based, one_based, padding, counts, own[0].value == own[1].value)
    if choice is None:
        stated = f"padding {padding.words} ({padding.source})" if padding else "no padding is stated"
        reader.refuse(
            f"{stated}, and the formula ({formula}) has padding {times(zero_based)} where coordinates count from 0, "
            f"{times(one_based)} where they count from 1; say which padding is meant",
            padding.line if padding else None,
        )
        choice = tuple(max(0, p) for p in zero_based)  # one problem is enough
    elif choice != zero_based or reader.first == 1:
        reader.readings.append(FROM_ONE)
    return own[0], own[1], padding or Padding(choice, choice, place, None)


def _padding(
    zero_based: Sizes, one_based: Sizes, padding: Padding | None, counts: set[int | None], tiles: bool
) -> Sizes | None:
    """Which counting fits: the one with the stated padding; unstated, see below; None where both may be meant."""
    both = (zero_based, one_based)
    if padding is not None and not padding.same:
        return next((p for p in both if p == padding.before), None)
    if not any(zero_based) or zero_based == one_based:
        return zero_based if min(zero_based) >= 0 else None
    if not any(one_based) and (tiles or counts == {1}):
        return one_based
    if counts == {0} and min(zero_based) >= 0 and not tiles:  # the window counts from 0, so do coordinates
        return zero_based
    possible = [p for p in both if min(p) >= 0]
    return possible[0] if len(possible) == 1 else None


def window_geometry(
    reader: Reader, spelt: tuple[Interval, ...] | None, formula: str, declared: Sizes = ()
) -> tuple[ReceptiveField, Sizes | None]:
    """Ω of a formula over windows: adaptive where the card says so and gives no window, else as :func:`geometry`."""
    front, words = reader.card.front_matter, reader.words
    windowed = spelt is not None or "kernel_size" in front or words.about("kernel_size") or words.about("length")
    if "output_size" in front or (words.about("adaptive") and not windowed):
        return adaptive_geometry(reader)
    return geometry(reader, spelt, formula, declared)


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
    padding = padding_of(reader)
    dilation = reader.stated("dilation")
    ceil_mode = _ceil_mode(reader)
    size = input_size(reader, declared)
    if spelt is not None:
        dilation = dilation_spelt(reader, spelt, formula, dilation)
        kernel, stride, padding = window_spelt(reader, spelt, formula, (kernel, stride, padding))
    elif kernel is None and not reader.problems:
        reader.problems += reader.unread
        reader.refuse(
            "the window's size is not stated; write e.g. “2×2”, or add `kernel_size: 2` to the front matter",
            reader.card.question_line,
        )
    _refuse_impossible(reader, kernel, stride, padding, dilation)
    raise_problems(reader)
    assert kernel is not None
    found = _field(reader, kernel, stride, padding, dilation, ceil_mode, size)
    _refuse_unfounded(reader, found, size)
    _refuse_too_large(reader, found, size)
    _refuse_other_output(reader, found, size)
    raise_problems(reader)
    _say(reader, kernel, stride, padding, dilation, ceil_mode, size)
    return found, None if size is None else size.value


def adaptive_geometry(reader: Reader) -> tuple[ReceptiveField, Sizes | None]:
    """The windows of adaptive pooling, and the input's size where it is stated; raises as :func:`geometry`."""
    if "output_size" in reader.card.front_matter:
        target = reader.key("output_size")
    else:
        target = reader.said("output_size", (*reader.words.about("target"), *reader.words.about("output_size")))
    size = input_size(reader, ())
    if target is None and not reader.problems:
        reader.refuse("the size of the output is not stated; write e.g. “adaptive pooling to 3×3”, or add "
                      "`output_size: 3` to the front matter", reader.card.question_line)
    raise_problems(reader)
    assert target is not None
    reader.readings.append(f"output of size {times(target.value)} ({target.source})")
    _say_size(reader, size)
    return adaptive_field(target.value), None if size is None else size.value


def raise_problems(reader: Reader) -> None:
    """Raise :class:`CardError` where there are any."""
    if reader.problems:
        raise CardError(*dict.fromkeys(reader.problems))


def _field(reader: Reader, kernel: Stated, stride: Stated | None, padding: Padding | None, dilation: Stated | None,
           ceil_mode: tuple[bool, str], size: Stated | None) -> ReceptiveField:
    try:
        return window_field(kernel.value, stride.value if stride else None, padding.argument if padding else 0,
                            dilation.value if dilation else 1, ceil_mode[0], size.value if size else None)
    except CardError as error:
        raise error.located(reader.card.path, padding.line if padding else reader.line) from None


def _ceil_mode(reader: Reader) -> tuple[bool, str]:
    """Whether the last window may run beyond the padded input, and where that is said."""
    if "ceil_mode" in reader.card.front_matter:
        value, line = reader.card.front_matter["ceil_mode"], reader.card.key_line("ceil_mode")
        if not isinstance(value, bool):
            reader.refuse(f"`ceil_mode: {value}` is neither true nor false", line)
        return value is True, f"line {line}: `ceil_mode: {str(value).lower()}`"
    said = reader.words.about("ceil_mode")
    return bool(said), str(said[0]) if said else ""


# what words leave open: the key that decides it, and what to write
_VAGUE = {
    "number": ("kernel_size", "of what? write e.g. “2×2 windows” or “a 4×4 input”, leave the remark out"),
    "extent": ("kernel_size", "write rows and columns as one size, e.g. “2×3 windows” or “a 4×4 input”"),
    "padding without number": ("padding", "how many cells? write “padding 1” or “no padding”"),
    "stride without number": ("stride", "by how much? write “stride 2”"),
    "direction": ("stride", "which axis is meant? write the numbers in the order of the indices, e.g. “stride (2, 1)”"),
    "dilation without number": ("dilation", "by how much? write “dilation 2”"),
}


def _refuse_vague(reader: Reader) -> None:
    for found in reader.words.about("which layer"):
        if found.value not in reader.card.front_matter:
            hint = f"is it the pooling's? add `{found.value}` to the front matter"
            reader.refuse(f"“{found.quote}” stands after a convolution; {hint}", found.line)
    for what, (key, hint) in _VAGUE.items():
        if what in ("number", "extent") and reader.words.about("kernel_size"):
            continue  # held against the windows
        given = key in reader.card.front_matter or (key == "dilation" and reader.words.about("dilation"))
        for found in () if given else reader.words.about(what)[:1]:
            reader.refuse(f"“{found.quote}”: {hint}, or add `{key}` to the front matter", found.line)


def _refuse_unfounded(reader: Reader, found: ReceptiveField, size: Stated | None) -> None:
    """Numbers without a noun are those of the output, «thus a 3×3 map», or nothing says of what."""
    shapes = [size.value, found.output_shape(size.value)] if size is not None else []
    for what in ("number", "extent"):
        for f in reader.words.about(what) if "kernel_size" not in reader.card.front_matter else ():
            if len(f.value) < 2 or f.value not in shapes:
                reader.refuse(f"“{f.quote}”: {_VAGUE[what][1]}, or add `{_VAGUE[what][0]}` to the front matter", f.line)
                break


def _kernel(reader: Reader) -> Stated | None:
    if "kernel_size" in reader.card.front_matter:
        return reader.key("kernel_size")
    found = reader.words.about("kernel_size")
    lengths = reader.words.about("length")
    if reader.rank == 1:
        found += lengths
    elif lengths and not found:
        reader.refuse(f"“{lengths[0].quote}” is one length, and the layer has {reader.rank} axes; write e.g. “2×2”",
                      lengths[0].line)
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
    overlap = reader.said("overlap", reader.words.about("overlap"))
    if overlap is not None:
        rest = tuple(k - o for k, o in zip(kernel.value, overlap.value, strict=True))
        if stride is not None and stride.value != rest:
            reader.refuse(f"{overlap.source}: windows {times(kernel.value)} then move by {times(rest)}, not by "
                          f"{times(stride.value)} ({stride.source})", overlap.line)
        return Stated(rest, overlap.source, overlap.line)
    if stride is None:
        if overlapping:
            reader.refuse(f"“{overlapping[0].quote}”: by how much? write the stride", overlapping[0].line)
        plain = reader.words.plain
        for moves in named(plain.text, "geometry.move"):
            reader.refuse(f"“{plain.quote(moves.start, moves.stop)}”: by how much? write the stride",
                          plain.line(moves.start))
        return None
    larger = all(s >= k for s, k in zip(stride.value, kernel.value, strict=True))
    if (same and stride.value != kernel.value) or (disjoint and not larger) or (
            overlapping and not disjoint and larger):
        other = (*same, *disjoint, *overlapping)[0]
        reader.refuse(
            f"“{other.quote}” (line {other.line}) contradicts stride {times(stride.value)} ({stride.source}) "
            f"with the window {times(kernel.value)} ({kernel.source})",
            stride.line,
        )
    return stride


def input_size(reader: Reader, declared: Sizes) -> Stated | None:
    """The input's size, where the card states it."""
    if "input_size" in reader.card.front_matter:
        return reader.key("input_size")
    fitting = tuple(f for f in reader.words.about("input_size") if len(f.value) in (1, reader.rank))
    reader.readings += [f"no input size is taken from “{f.quote}” (line {f.line}): it has other axes"
                        for f in reader.words.about("input_size") if f not in fitting]
    stated = reader.said("input_size", fitting)
    if not declared:
        return stated
    if stated is not None and stated.value != declared:
        reader.refuse(
            f"input of size {times(stated.value)} ({stated.source}) and {times(declared)} in a formula", stated.line
        )
    return Stated(declared, "a formula gives its shape", None)


def _refuse_impossible(reader: Reader, kernel: Stated | None, stride: Stated | None, padding: Padding | None,
                       dilation: Stated | None) -> None:
    stated = [(what, s.value, s.source, s.line, 1, "a positive integer") for what, s in
              (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)) if s]
    if padding:
        stated.append(("padding", (*padding.before, *padding.behind), padding.source, padding.line, 0,
                       "0 or more cells"))
    for what, values, source, line, least, rule in stated:
        bad = [v for v in values if v < least]
        if bad:
            reader.refuse(f"`{what}: {bad[0]}` is not {rule} ({source})", line)


def _refuse_too_large(reader: Reader, found: ReceptiveField, size: Stated | None) -> None:
    if size is None:
        return
    for axis, n in zip(found.axes, size.value, strict=True):
        assert isinstance(axis, WindowAxis)
        if n < 1:
            reader.refuse(f"`input_size: {n}` is not a positive integer ({size.source})", size.line)
        elif not axis.output_size(n):
            reader.refuse(
                f"the {'dilated ' if axis.dilation > 1 else ''}kernel spans {axis.span} cells, but the padded input "
                f"has only {n + axis.padding + axis.padding_after} ({size.source}): make the input "
                "larger or the kernel smaller",
                size.line,
            )


def _refuse_other_output(reader: Reader, found: ReceptiveField, size: Stated | None) -> None:
    output = reader.said("output size", (*reader.words.about("output_size"), *reader.words.about("target")))
    if size is not None and output is not None and found.output_shape(size.value) != output.value:
        reader.refuse(
            f"an input of size {times(size.value)} ({size.source}) gives an output of size "
            f"{times(found.output_shape(size.value))}, not {times(output.value)} ({output.source})",
            output.line,
        )


def _say(reader: Reader, kernel: Stated, stride: Stated | None, padding: Padding | None, dilation: Stated | None,
         ceil_mode: tuple[bool, str], size: Stated | None) -> None:
    said = reader.readings
    said.append(f"window {times(kernel.value)} ({kernel.source})")
    if stride is None:
        said.append(f"stride {times(kernel.value)}, as large as the window (the card states none)")
    else:
        said.append(f"stride {per_axis(stride.value)} ({stride.source})")
    said.append(f"padding {padding.words} ({padding.source})" if padding else "no padding (the card states none)")
    if dilation is not None and max(dilation.value) > 1:
        said.append(f"dilation {per_axis(dilation.value)} ({dilation.source})")
    if ceil_mode[0]:
        said.append(f"the last window may run beyond the padded input ({ceil_mode[1]})")
    _say_size(reader, size)


def _say_size(reader: Reader, size: Stated | None) -> None:
    if size is not None:
        reader.readings.append(f"input of size {times(size.value)} ({size.source})")
