"""Layers by name, one behind the other: their forward formulas in letters that nothing else has.

    composed = compose("linear -> prelu(slope=a) -> squared_error", letters={"target": "t"})
    composed.formulas   # (s = \\sum_{j} w_{j} x_{j}, h = …, \\ell = (h - t)^2)
    composed.parameters, composed.constants, composed.facts, composed.parts
    composed.module()   # what derive.solve takes

Conventions: a linear layer with nothing but activations between it and a scalar loss is one unit w without a bias,
unless its units or its bias are given; other linear layers have K units, W and b.  ``cross_entropy`` is categorical
behind softmax and binary behind sigmoid.  Pre-activations are s, z, a, v; outputs y, z, h, g, those inside h, z, g, u;
the loss is ℓ, its target y, t or d.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from derive.errors import CardError, did_you_mean
from derive.layers.arguments import pooling_of
from derive.layers.catalogue import Forward, Layer, Letter, Pooling
from derive.layers.chain import Part, parse
from derive.layers.families import find
from derive.layers.lettering import free, indices, letters, renamed, written_out
from derive.receptive_field import ReceptiveField
from derive.records import dataclass

Given = Mapping[str, str | Sequence[str]]
_SETS = (r"\Omega", r"\Lambda", r"\Gamma", r"\Phi")
_LOSS_BEHIND = {"softmax": "categorical_cross_entropy", "sigmoid": "binary_cross_entropy",
                "log_softmax": "negative_log_likelihood"}


@dataclass(frozen=True)
class Placed:
    """A layer in its place: its formulas, its letters by what they are called, and where the formulas are from."""

    spec: Layer | Pooling
    formulas: tuple[str, ...]
    letters: Mapping[str, str]
    source: str


@dataclass(frozen=True)
class Composed:
    r"""The forward formulas of a chain in order of evaluation, as LaTeX, and what their letters are.

    ``facts``, ``shapes`` and ``ranges`` hold of these letters: ``\epsilon > 0``, ``W \in \mathbb{R}^{10 \times n}``,
    ``0 \le i < n``.  ``fields`` names the receptive field of each window set, by its LaTeX.
    """

    parts: tuple[Placed, ...]
    formulas: tuple[str, ...]
    output: str
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    fields: tuple[tuple[str, ReceptiveField], ...] = ()


@dataclass(frozen=True)
class _Laid:
    """A part, its options all given, its formulas for the axes it has, and the letters it was given."""

    part: Part
    spec: Layer | Pooling
    forward: Forward
    rank: int
    given: Mapping[str, Any]
    field: ReceptiveField | None = None


def compose(chain: str | Sequence[Part], *, letters: Given | None = None, taken: Collection[str] = (),
            rank: int | None = None) -> Composed:
    """The formulas of a chain of layers by name.

    ``letters`` binds by what letters are called (``input``, ``output``, ``preactivation``, ``outputs``, ``weights``,
    ``bias``, ``slope``, ``target``, ``loss``, …); of several, each part that has such a letter takes the next.  The
    brackets of a part bind its letters alone: ``prelu(slope=a, output=h)``; ``prelu(function=f)`` applies the card's f.
    ``taken`` are letters that stand for something else; ``rank`` is the number of the input's axes where the parts
    leave it open.  Raises :class:`CardError` for unknown names and options, and for parts that do not fit.
    """
    parts = parse(chain) if isinstance(chain, str) else tuple(chain)
    return _Lettering(_laid(parts, rank), letters or {}, taken).composed()


# ---- which formulas: names, options, and the axes of what passes between the parts


def _laid(parts: Sequence[Part], rank: int | None) -> list[_Laid]:
    specs = _specs(parts)
    options = [_options(part, spec) for part, spec in zip(parts, specs, strict=True)]
    scalar = _scalar_from(specs)
    now = _first_rank(specs, options, scalar) if rank is None else rank
    laid: list[_Laid] = []
    for n, (part, spec) in enumerate(zip(parts, specs, strict=True)):
        own, given, field = options[n]
        if spec.name == "linear" and own["units"] is None and n >= scalar:
            own = {**own, "units": 1}
        _refuse_axes(laid[-1] if laid else None, spec, field, now)
        forward = _forward(spec, own, given, field, now)
        laid.append(_Laid(part, spec, forward, now, given, field))
        now = _axes(forward.formulas[-1])
    return laid


def _specs(parts: Sequence[Part]) -> list[Layer | Pooling]:
    specs: list[Layer | Pooling] = []
    for part in parts:
        name = part.name.replace("-", "_").replace(" ", "_").lower()
        if name == "cross_entropy":
            before = specs[-1].name if specs else ""
            if before not in _LOSS_BEHIND:
                raise CardError(f"`cross_entropy` behind {f'`{before}`' if before else 'nothing'}: it is categorical "
                                "behind `softmax` and binary behind `sigmoid`; write `categorical_cross_entropy` or "
                                "`binary_cross_entropy`")
            name = _LOSS_BEHIND[before]
        specs.append(find(name))
        if len(specs) > 1 and _is_loss(specs[-2]):
            raise CardError(f"`{specs[-1].name}` behind `{specs[-2].name}`: a loss stands at the end of the chain")
    return specs


def _is_loss(spec: Layer | Pooling) -> bool:
    return isinstance(spec, Layer) and spec.kind == "loss"


def _of_entries(spec: Layer | Pooling) -> bool:
    return isinstance(spec, Layer) and spec.kind == "activation"


def _scalar_from(specs: Sequence[Layer | Pooling]) -> int:
    """The place from which on all is one number, as a scalar loss wants it; beyond the end where there is none."""
    last = specs[-1]
    if not isinstance(last, Layer) or last.kind != "loss" or last.rank is not None:
        return len(specs)
    place = len(specs) - 1
    while place and _of_entries(specs[place - 1]):
        place -= 1
    if place == 0:
        return 0
    return place - 1 if specs[place - 1].name == "linear" else len(specs)


def _first_rank(specs: Sequence[Layer | Pooling], options: Sequence[tuple[Any, Any, Any]], scalar: int) -> int:
    """The number of the input's axes: of the first part that says it, as long as those before keep them."""
    for spec, (_, _, field) in zip(specs, options, strict=True):
        if isinstance(spec, Pooling):
            axes = len(field.axes) if field is not None else 2
            later = specs[specs.index(spec) + 1 :]
            return axes + 1 if any(isinstance(s, Layer) and s.rank == axes + 1 for s in later[:1]) else axes
        if spec.rank is not None:
            return spec.rank
        if not _of_entries(spec):
            break
    return 0 if scalar == 0 and specs[0].name != "linear" else 1


def _options(part: Part, spec: Layer | Pooling) -> tuple[dict[str, Any], dict[str, Any], ReceptiveField | None]:
    """The part's options with their values, the letters and numbers given for its letters, and its windows."""
    given = {k.replace("-", "_"): v for k, v in part.given.items()}
    first = spec.first if isinstance(spec, Layer) else {"window": "kernel_size", "adaptive": "output_size"}.get(
        spec.form, "")
    if part.plain:
        if len(part.plain) > 1 or not first or first in given:
            raise CardError(f"`{spec.name}` takes " + (f"`{first}` alone without its name" if first else
                                                       "no value without a name"))
        given[first] = part.plain[0]
    shared: dict[str, Any] = {k: given.pop(k) for k in ("input", "output", "function") if k in given}
    if isinstance(spec, Pooling):
        own, field = pooling_of(spec, given)
        return own, shared, field
    called = {letter.what: letter for letter in spec.letters.values() if letter.what}
    bound = {k: given.pop(k) for k in list(given) if k in called and k not in spec.options}
    unknown = next((k for k in given if k not in spec.options), None)
    if unknown is not None:
        raise CardError(f"`{spec.name}` takes no `{unknown}`; "
                        + did_you_mean(unknown, [*spec.options, *called, "output"], 0.6, "it takes"))
    for key in ("bias",):
        if isinstance(given.get(key), str):  # bias=b says that there is one, and its letter
            bound[key], given[key] = given[key], True
    return {**spec.options, **given}, {**bound, **shared}, None


def _refuse_axes(before: _Laid | None, spec: Layer | Pooling, field: ReceptiveField | None, rank: int) -> None:
    """Raise :class:`CardError` where a part does not take what the one before gives."""
    if isinstance(spec, Pooling):
        axes = len(field.axes) if field is not None else rank
        fits = rank in (axes, axes + 1) and rank > 0
        wanted = f"{axes} axes, or {axes + 1} with channels"
    else:
        fits = spec.rank in (None, rank)
        wanted = f"{spec.rank} axes" if spec.rank != 1 else "a vector"
    if not fits:
        gives = {0: "a number", 1: "a vector"}.get(rank, f"{rank} axes")
        origin = f"`{before.spec.name}` gives {gives}" if before is not None else f"the input has {gives}"
        raise CardError(f"`{spec.name}` takes {wanted}, and {origin}")


def _forward(spec: Layer | Pooling, own: Mapping[str, Any], given: Mapping[str, Any], field: ReceptiveField | None,
             rank: int) -> Forward:
    if isinstance(spec, Pooling):
        axes = len(field.axes) if field is not None else rank
        return Forward((spec.latex(axes, {**own, "field": field}, rank > axes),))
    if "function" in given and spec.kind == "activation":
        return Forward((written_out(rf"y_{{\I}} = {given['function']}(x_{{\I}})", rank),))
    found = spec.written(rank, own)
    return Forward(*(tuple(written_out(t, rank) for t in texts)
                     for texts in (found.formulas, found.shapes, found.ranges)))


def _axes(formula: str) -> int:
    """The number of indices of what a formula defines."""
    head = re.match(r"\s*(?:\\[A-Za-z]+|[A-Za-z])'?(?:_\{([^{}]*)\})?\s*=", formula)
    assert head is not None, formula
    return len([*letters(head[1] or "")])


# ---- which letters


class _Lettering:
    """The letters of each part: those that are given, then the first that nothing else has."""

    def __init__(self, laid: Sequence[_Laid], given: Given, taken: Collection[str]) -> None:
        self.laid = laid
        self.given = {k: [v] if isinstance(v, str) else list(v) for k, v in given.items()}
        bound = {v for vs in self.given.values() for v in vs} | {
            v for part in laid for v in part.given.values() if isinstance(v, str)}
        self.bound = {c for v in bound for c in letters(v)} | set(bound)
        self.indices = self.index_letters()
        self.taken = {*self.bound, *taken, *self.indices.values()}
        self.roles: dict[str, str] = {}
        self.facts: list[str] = []

    def index_letters(self) -> dict[str, str]:
        """Each index letter of the formulas, and the one for it where a letter is bound that is written like it."""
        found = dict.fromkeys(c for part in self.laid for text in (*part.forward.formulas, *part.forward.ranges)
                              for c in indices(text) if c not in _own(part.spec))
        names: dict[str, str] = {}
        for c in found:
            names[c] = c if c not in self.bound else free("ijklmpqruv", {*self.bound, *found, *names.values()})
        return names

    def composed(self) -> Composed:
        source = self.next("input") or self.laid[0].given.get("input") or "x"
        self.taken.add(source)
        if source not in self.roles:
            self.roles[source] = "inputs"
        parts: list[Placed] = []
        shapes: list[str] = []
        ranges: list[str] = []
        fields: list[tuple[str, ReceptiveField]] = []
        for n, part in enumerate(self.laid):
            names, called = self.names(part, source, n)
            def now(texts: Iterable[str], names: Mapping[str, str] = names) -> tuple[str, ...]:
                return tuple([renamed(_without_factor(t, names), names) for t in texts])
            formulas = now(part.forward.formulas)
            shapes += now(part.forward.shapes)
            ranges += now(part.forward.ranges)
            if isinstance(part.spec, Layer):
                self.facts_of(part.spec, part.rank, names, source)
            if part.field is not None:
                fields.append((names[r"\Omega"], part.field))
            own = "the card's function" if "function" in part.given else f"`{part.spec.name}` of the catalogue"
            parts.append(Placed(part.spec, formulas, called, own))
            source = called["output"]
        by_role = {role: tuple(n for n, r in self.roles.items() if r == role)
                   for role in ("inputs", "parameters", "constants")}
        return Composed(tuple(parts), tuple(f for p in parts for f in p.formulas), source, **by_role,
                        facts=tuple(self.facts), shapes=tuple(shapes), ranges=tuple(ranges), fields=tuple(fields))

    def next(self, what: str) -> str | None:
        waiting = self.given.get(what)
        return waiting.pop(0) if waiting else None

    def own(self, choices: Iterable[str]) -> str:
        letter = free(choices, self.taken)
        self.taken.add(letter)
        return letter

    def names(self, part: _Laid, source: str, place: int) -> tuple[dict[str, str], dict[str, str]]:
        """What each letter of the part's declaration is here, and the letters by what they are called."""
        used = {c for text in (*part.forward.formulas, *part.forward.shapes) for c in letters(text)}
        names = {c: new for c, new in self.indices.items() if c in used and c not in _own(part.spec)}
        called = {"input": source}
        names["x"] = source
        for letter, what in _own(part.spec).items():
            if letter not in used or what.what == "loss":
                continue
            value = part.given.get(what.what, self.next(what.what) if what.what else None)
            if value is None:
                value = self.own(what.choices)
            elif isinstance(value, str):
                self.taken.add(value)
            names[letter] = value if isinstance(value, str) else _number(value)
            if isinstance(value, str) and what.role in ("inputs", "parameters", "constants"):
                self.roles[value] = what.role
            if what.what:
                called[what.what] = names[letter]
        if isinstance(part.spec, Pooling) and part.field is not None:
            names[r"\Omega"] = self.own(_SETS)
        out = self.output(part, place)
        names["f" if isinstance(part.spec, Pooling) else "L" if _is_loss(part.spec) else "y"] = out
        called["output"] = out
        return names, called

    def output(self, part: _Laid, place: int) -> str:
        if _is_loss(part.spec):
            choices: tuple[str, ...] = _own(part.spec)["L"].choices
            kinds = ["loss", "output"]
        elif place == len(self.laid) - 1:
            choices, kinds = ("y", "z", "h", "g"), ["output", "outputs"]
        elif part.spec.name == "linear":
            choices, kinds = ("s", "z", "a", "v"), ["preactivation"]
        else:
            choices, kinds = ("h", "z", "g", "u", "q", "r"), ["outputs"]
        given = part.given.get("output") or next(filter(None, map(self.next, kinds)), None)
        if given is not None:
            self.taken.add(given)
            return str(given)
        return self.own(choices)

    def facts_of(self, spec: Layer, rank: int, names: Mapping[str, str], source: str) -> None:
        """What holds of letters that are given."""
        if "function" in names:
            return
        for fact in spec.facts:
            written = written_out(fact, rank)
            now = {c: names[c] for c in letters(written) if c in names}
            if all(c in names for c in letters(written) if c in _own(spec) or c == "x"):
                subject = next(c for c in letters(written) if c in _own(spec) or c == "x")
                if self.roles.get(names[subject]) is not None:
                    self.facts.append(renamed(written, {**self.indices, **now}))


def _own(spec: Layer | Pooling) -> Mapping[str, Letter]:
    return spec.letters if isinstance(spec, Layer) else {}


def _number(value: int | Fraction) -> str:
    """0.1 as 0.1, and 1/3 as a fraction."""
    if isinstance(value, int) or value.denominator == 1:
        return str(value)
    decimal = f"{float(value):g}"
    if Fraction(decimal) == value and "e" not in decimal:
        return decimal
    return rf"{'-' if value < 0 else ''}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _without_factor(latex: str, names: Mapping[str, str]) -> str:
    """The formula without letters that are 1 in front of a factor."""
    for letter in (c for c, name in names.items() if name == "1"):
        latex = re.sub(re.escape(letter) + r" (?=[A-Za-z(]|\\(?:left|frac)\b)", "", latex)
    return latex
