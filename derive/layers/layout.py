"""A chain of layers by name, laid out: options with their values, and formulas for the axes that pass between parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from derive.errors import CardError, did_you_mean
from derive.layers.arguments import pooling_of
from derive.layers.catalogue import Forward, Layer, Letters, Pooling
from derive.layers.chain import Part, parse
from derive.layers.families import find
from derive.layers.lettering import letters, written_out
from derive.receptive_field import ReceptiveField
from derive.records import dataclass

_COUNTS = ("units", "pieces", "filters", "input_channels", "group_size")
_ON_THE_WAY = {  # what a name means behind another layer
    "cross_entropy": {"softmax": "categorical_cross_entropy", "sigmoid": "binary_cross_entropy",
                      "log_softmax": "negative_log_likelihood"},
    "focal": {"softmax": "focal", "sigmoid": "binary_focal"},
}


@dataclass(frozen=True)
class Laid:
    """A part in its place: its formulas for an input of ``rank`` axes, and the letters and numbers it was given.

    ``behind``: a residual connection adds what went into so many parts before it.
    """

    spec: Layer | Pooling
    forward: Forward
    rank: int
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)
    windows: ReceptiveField | None = None
    behind: int = 0
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Chosen:
    """A part's layer, options, letters and windows; ``said`` is the number of axes of windows that stand elsewhere."""

    spec: Layer | Pooling
    options: Mapping[str, Any]
    given: Mapping[str, Any]
    windows: ReceptiveField | None = None
    behind: int = 0
    said: int | None = None
    geometry: Mapping[str, Any] = field(default_factory=dict, hash=False)  # of a pooling, as it was given

    def over(self, axes: int) -> _Chosen:
        """The pooling over so many axes, where its sizes in one number leave that open."""
        sizes = self.geometry.get("kernel_size", self.geometry.get("output_size"))
        if not isinstance(self.spec, Pooling) or not isinstance(sizes, int) or axes < 1:
            return self
        return replace(self, windows=pooling_of(self.spec, {**self.geometry, "dims": axes})[1])

    @property
    def axes(self) -> int | None:
        """How many axes its windows have; None without windows."""
        return len(self.windows.axes) if self.windows is not None else self.said

    @property
    def of_entries(self) -> bool:
        return isinstance(self.spec, Layer) and self.spec.kind == "activation"

    @property
    def loss(self) -> bool:
        return isinstance(self.spec, Layer) and self.spec.kind == "loss"

    @property
    def ranks(self) -> tuple[int, ...]:
        return self.spec.ranks(self.options) if isinstance(self.spec, Layer) else ()


def laid_out(parts: Sequence[Part], rank: int | None, channels: bool = False, settled: bool = False,
             batch: bool = False) -> list[Laid]:
    """The parts in their places; ``rank``, ``channels`` and ``settled`` as in :func:`derive.layers.compose`.

    ``batch``: they take several samples.  Raises :class:`CardError` for unknown names and options, and for parts that
    do not fit.
    """
    chosen = _chosen(parts)
    scalar = len(chosen) if settled else _scalar_from(chosen)
    now = _first_rank(chosen, scalar) if rank is None else rank
    channels = channels or bool(chosen[0].axes and now > chosen[0].axes)
    passed = [now]
    laid: list[Laid] = []
    for n, part in enumerate(chosen):
        if part.spec.name == "linear" and part.options["units"] is None and n >= scalar:
            part = replace(part, options={**part.options, "units": 1})
        if laid:
            part = part.over(now - channels)
        of_batch = batch and isinstance(part.spec, Layer) and part.spec.of_batch
        _refuse_axes(laid[-1] if laid else None, part, now + of_batch, channels)
        if part.behind and passed[-1 - part.behind] != now:
            raise CardError(f"`residual` adds {_called(passed[-1 - part.behind])} to {_called(now)}, which "
                            f"`{laid[-1].spec.name}` gives")
        part = replace(part, options={**part.options, "rows": batch})
        forward = _forward(part, now + of_batch, channels)
        laid.append(Laid(part.spec, forward, now, part.given, part.windows, part.behind, _facts(part.spec, now)))
        now = _axes(forward.formulas[-1]) - of_batch if forward.axes is None else forward.axes
        passed.append(now)
        channels = part.spec.name.startswith("conv") and now > 1 or channels and now > 0 and (
            part.of_entries or isinstance(part.spec, Pooling) or "norm" in part.spec.name or "conv" in part.spec.name)
    return laid


def _chosen(parts: Sequence[Part]) -> list[_Chosen]:
    found: list[_Chosen] = []
    for part, behind in _branches(parts):
        before = found[-1].spec.name if found else ""
        name = _meant(part.name.strip().replace("-", "_").replace(" ", "_").lower(), before)
        found.append(replace(_with_options(part, part.spec or find(name)), behind=behind))
        if len(found) > 1 and found[-2].loss:
            raise CardError(f"`{found[-1].spec.name}` behind `{before}`: a loss stands at the end of the chain")
    return found


def _branches(parts: Sequence[Part]) -> Iterator[tuple[Part, int]]:
    """The parts of a residual connection's branch, then the connection itself, with how many they were."""
    for part in parts:
        if part.name.lower() not in ("residual", "skip"):
            yield part, 0
            continue
        inner = part.plain[0] if part.plain else "linear -> relu"
        if len(part.plain) > 1 or not isinstance(inner, (str, tuple)):
            raise CardError("`residual` takes the chain that it goes around, as in `residual(linear -> relu)`")
        branch = [*_branches(parse(inner) if isinstance(inner, str) else inner)]
        yield from branch
        yield replace(part, plain=()), len(branch)


def _meant(name: str, before: str) -> str:
    known = _ON_THE_WAY.get(name, {})
    if name == "cross_entropy" and before not in known:
        raise CardError(f"`cross_entropy` behind {f'`{before}`' if before else 'nothing'}: it is categorical behind "
                        "`softmax` and binary behind `sigmoid`; write `categorical_cross_entropy` or "
                        "`binary_cross_entropy`")
    return known.get(before, name)


def _with_options(part: Part, spec: Layer | Pooling) -> _Chosen:
    """The part's options with their values, the letters and numbers given for its letters, and its windows."""
    given = {k.replace("-", "_"): v for k, v in part.given.items()}
    first = spec.first if isinstance(spec, Layer) else {"window": "kernel_size", "adaptive": "output_size"}.get(
        spec.form, "")
    if part.plain:
        if len(part.plain) > 1 or not first or first in given:
            raise CardError(f"`{spec.name}` takes {f'`{first}` alone' if first else 'no value'} without a name")
        given[first] = part.plain[0]
    bound: dict[str, Any] = {k: given.pop(k) for k in ("input", "output", "function") if k in given}
    if isinstance(spec, Pooling):
        bound |= {k: given.pop(k) for k in list(given) if k.startswith("size_")}
        if "axes" in given:
            return _Chosen(spec, spec.options, bound, said=given["axes"])
        own, windows = pooling_of(spec, given)
        return _Chosen(spec, own, bound, windows, geometry=given)
    called = {letter.what.replace(" ", "_") for letter in spec.letters.values() if letter.what}
    bound |= {k: given.pop(k) for k in list(given) if k in called and k not in spec.options}
    for key, value in given.items():
        if key not in spec.options:
            raise CardError(f"`{spec.name}` takes no `{key}`; "
                            + did_you_mean(key, [*spec.options, *sorted(called), "output"], 0.6, "it takes"))
        if key in called and not isinstance(value, bool) and value is not None:  # there is one, and this is its letter
            bound[key], given[key] = value, True
    _refuse_values(spec, given)
    if "whole" in spec.options:
        given["whole"] = any("_" in str(bound.get(what, "")) for what in ("weights", "bias"))
    return _Chosen(spec, {**spec.options, **given}, bound)


def _refuse_values(spec: Layer, given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if key in _COUNTS:
            count = isinstance(value, int) and not isinstance(value, bool) and value > 0
            if not count and value is not None and not (isinstance(value, str) and key != "group_size"):
                raise CardError(f"`{key}: {value}` is not a positive integer")
        elif (isinstance(spec.options[key], bool) or key == "bias") and not isinstance(value, bool):
            raise CardError(f"`{key}: {value}` is neither true nor false")


def _scalar_from(parts: Sequence[_Chosen]) -> int:
    """The place from which on all is one number, as a scalar loss wants it; beyond the end where there is none."""
    if not parts[-1].loss or parts[-1].ranks:
        return len(parts)
    place = len(parts) - 1
    while place and parts[place - 1].of_entries:
        place -= 1
    if place == 0:
        return 0
    return place - 1 if parts[place - 1].spec.name == "linear" else len(parts)


def _first_rank(parts: Sequence[_Chosen], scalar: int) -> int:
    """The number of the input's axes: of the first part that says it, as long as those before it keep them."""
    least = 0
    for part in parts:
        if isinstance(part.spec, Pooling):
            least = least or part.axes or 2
            if part.axes is None:
                return least
        elif part.ranks:
            return next((r for r in part.ranks if r >= least), part.ranks[0])
        elif not part.of_entries:
            break
    return least or (0 if scalar == 0 and parts[0].spec.name != "linear" else 1)


def _refuse_axes(before: Laid | None, part: _Chosen, rank: int, channels: bool) -> None:
    """Raise :class:`CardError` where a part does not take what the one before gives."""
    fitting = part.ranks
    if isinstance(part.spec, Pooling):
        axes = part.axes or rank - channels
        fitting = (axes, axes + 1) if axes > 0 else (1, 2, 3)
        wanted = f"{fitting[0]} axes, or {fitting[0] + 1} with channels" if axes > 0 else "a grid"
    else:
        if part.spec.name == "batch_norm" and before is not None:
            fitting = tuple(r for r in fitting if r > 1)  # the entries of a vector are no batch
        wanted = " or ".join(map(_called, fitting))
    if part.spec.name in ("softmax", "log_softmax") and not rank:
        fitting, wanted = (1,), "a vector"
    if fitting and rank not in fitting:
        origin = f"`{before.spec.name}` gives" if before is not None else "the input is"
        raise CardError(f"`{part.spec.name}` takes {wanted}, and {origin} {_called(rank)}")


def _called(rank: int) -> str:
    return {0: "a number", 1: "a vector"}.get(rank, f"{rank} axes")


def _forward(part: _Chosen, rank: int, channels: bool) -> Forward:
    if isinstance(part.spec, Pooling):
        axes = part.axes or rank - channels
        formula = part.spec.latex(axes, {**part.options, "field": part.windows}, rank > axes)
        sizes = Letters(axes).sizes
        if not set(sizes) & {*letters(formula)}:
            return Forward((formula,))
        extents = r" \times ".join([*["C"] * (rank > axes), *sizes])
        return Forward((formula,), (rf"x \in \mathbb{{R}}^{{{extents}}}",))
    if "function" in part.given:
        if not part.of_entries:
            raise CardError(f"`function: {part.given['function']}`: `{part.spec.name}` is no function of each entry")
        return Forward((written_out(rf"y_{{\I}} = {part.given['function']}(x_{{\I}})", rank),))
    found = part.spec.written(rank, part.options)
    formulas, shapes, ranges = (tuple([written_out(t, rank) for t in texts])
                                for texts in (found.formulas, found.shapes, found.ranges))
    return Forward(formulas, shapes, ranges, found.axes)


def _facts(spec: Layer | Pooling, rank: int) -> tuple[str, ...]:
    return tuple(written_out(fact, rank) for fact in spec.facts) if isinstance(spec, Layer) else ()


def _axes(formula: str) -> int:
    """The number of indices of what a formula defines."""
    head = re.match(r"\s*(?:\\[A-Za-z]+|[A-Za-z])(?:_\{([^{}]*)\})?\s*=", formula)
    assert head is not None, formula
    return len([*letters(head[1] or "")])
