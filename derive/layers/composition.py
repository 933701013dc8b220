r"""Layers by name, one behind the other: their forward formulas in letters that nothing else has.

    composed = compose("linear -> prelu(slope=a) -> squared_error", letters={"target": "t"})
    composed.formulas   # ("s = \\sum_{j} w_{j} x_{j}", "h = …", "\\ell = (h - t)^2")
    composed.inputs, composed.parameters, composed.constants, composed.facts, composed.parts
    module_of(composed)   # what derive.solve takes

Conventions: a linear layer with nothing but activations between it and a scalar loss is one unit w without a bias,
unless its units or its bias are given; other linear layers have K units, W and b.  ``cross_entropy`` is categorical
behind softmax and binary behind sigmoid.  Pre-activations are s, z, a, v; the output is y, z, h or g, what is inside
h, z, g, u; the loss is ℓ, its target y, t or d.  ``residual(linear -> relu)`` adds what goes into the chain around
which it goes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from derive.errors import CardError
from derive.layers.catalogue import Layer, Letter, Pooling
from derive.layers.chain import Part, parse
from derive.layers.layout import Laid, laid_out
from derive.layers.lettering import free, indices, letters, renamed
from derive.layers.samples import EXTENTS, SIZE, Samples, over_samples
from derive.module import ROLES
from derive.receptive_field import ReceptiveField
from derive.records import dataclass

Given = Mapping[str, str | Sequence[str]]
_SETS = (r"\Omega", r"\Lambda", r"\Gamma", r"\Phi")
_POOLED = {c: Letter(f"size {c}", (c, "H", "D", "Q"), "sizes") for c in "nmNMPC"}


@dataclass(frozen=True)
class Placed:
    """A layer in its place: its formulas, its letters by what they are called, where the formulas are from, facts."""

    spec: Layer | Pooling
    formulas: tuple[str, ...]
    letters: Mapping[str, str]
    source: str
    facts: tuple[str, ...] = ()


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


def compose(chain: str | Sequence[Part], *, letters: Given | None = None, taken: Collection[str] = (),
            rank: int | None = None, channels: bool = False, settled: bool = False,
            samples: Samples | None = None) -> Composed:
    """The formulas of a chain of layers by name.

    ``letters`` binds by what letters are called (``input``, ``output``, ``preactivation``, ``outputs``, ``weights``,
    ``bias``, ``slope``, ``target``, ``loss``, …); of several, each part that has such a letter takes the next.  The
    brackets of a part bind its letters alone: ``prelu(slope=a, output=h)``; ``prelu(function=f)`` applies the card's f.
    ``taken`` are letters that stand for something else; ``rank`` is the number of the input's axes where the parts
    leave it open, the first one of ``channels`` or not; ``settled``: a linear layer is one unit where it is said alone.
    With ``samples`` all that is computed has an index of the sample, and ``rank`` is that of one of them.
    Raises :class:`CardError` for unknown names and options, and for parts that do not fit.
    """
    parts = parse(chain) if isinstance(chain, str) else tuple(chain)
    if not parts:
        raise CardError("the chain has no layers; write e.g. `linear -> relu`")
    laid = laid_out(parts, rank, channels, settled, samples is not None)
    return _Lettering(laid, letters or {}, taken, samples).composed()


class _Lettering:
    """The letters of each part: those that are given, then the first that nothing else has."""

    def __init__(self, laid: Sequence[Laid], given: Given, taken: Collection[str],
                 samples: Samples | None = None) -> None:
        self.laid = laid if samples is None else over_samples(laid, samples)
        given = {**given, "samples": samples.size} if samples is not None and samples.size else given
        self.given = {k: [v] if isinstance(v, str) else list(v) for k, v in given.items()}
        bound = {v for vs in self.given.values() for v in vs} | {
            v for part in self.laid for v in part.given.values() if isinstance(v, str)}
        self.bound = {c for v in bound for c in letters(v)} | bound
        self.indices = self.index_letters()
        self.taken = {*self.bound, *taken, *self.indices.values()}
        self.roles: dict[str, str] = {}
        self.passed: list[str] = []  # what goes into each part
        self.samples = "" if samples is None else self.next("samples") or self.own(("N", "M", "B"))

    def index_letters(self) -> dict[str, str]:
        """Each index letter of the formulas, and the one for it where a letter is bound that is written like it."""
        found = dict.fromkeys(c for part in self.laid for text in (*part.forward.formulas, *part.forward.ranges)
                              for c in indices(text) if c not in _own(part.spec))
        names: dict[str, str] = {}
        for c in found:
            names[c] = c if c not in self.bound else free("ijklmpqruv", {*self.bound, *found, *names.values()})
        return names

    def composed(self) -> Composed:
        first = self.laid[0]
        source = self.next("input") or first.given.get("input") or self.own(
            first.spec.input if isinstance(first.spec, Layer) else ("x",))
        self.taken.add(source)
        self.roles[source] = "inputs"
        parts: list[Placed] = []
        said: dict[str, list[str]] = {"shapes": [], "ranges": []}
        fields: list[tuple[str, ReceptiveField]] = []
        for n, part in enumerate(self.laid):
            self.passed.append(source)
            names, called = self.names(part, n)
            said["shapes"] += _in_letters(part.forward.shapes, names)
            said["ranges"] += _in_letters(part.forward.ranges, names)
            facts = tuple(self.facts_of(part, names))
            if part.windows is not None:
                fields.append((names[r"\Omega"], part.windows))
            origin = "the card's function" if "function" in part.given else f"`{part.spec.name}` of the catalogue"
            parts.append(Placed(part.spec, tuple(_in_letters(part.forward.formulas, names)), called, origin, facts))
            source = called["output"]
        self.refuse_twice([p.letters["output"] for p in parts])
        said["shapes"] += _of_labelled(self.roles, [f for p in parts for f in p.formulas], said["shapes"])
        by_role = {role: tuple(n for n, r in self.roles.items() if r == role) for role in ROLES}
        return Composed(tuple(parts), tuple(f for p in parts for f in p.formulas), source, **by_role,
                        facts=tuple(dict.fromkeys(f for p in parts for f in p.facts)), shapes=tuple(said["shapes"]),
                        ranges=tuple(said["ranges"]), fields=tuple(fields))

    def refuse_twice(self, outputs: Sequence[str]) -> None:
        """Raise :class:`CardError` for a letter that is computed, and given or computed again."""
        for n, letter in enumerate(outputs):
            if letter in self.roles or letter in outputs[:n]:
                raise CardError(f"`{letter}` is the output of `{self.laid[n].spec.name}` and stands for something else "
                                "too; give one of them another letter")

    def next(self, what: str) -> str | None:
        waiting = self.given.get(what)
        return waiting.pop(0) if waiting else None

    def own(self, choices: Iterable[str]) -> str:
        letter = free(choices, self.taken)
        self.taken.add(letter)
        return letter

    def names(self, part: Laid, place: int) -> tuple[dict[str, str], dict[str, str]]:
        """What each letter of the part's declaration is here, and the letters by what they are called."""
        used = {c for text in (*part.forward.formulas, *part.forward.shapes) for c in letters(text)}
        own = _own(part.spec)
        names = {c: new for c, new in self.indices.items() if c in used and c not in own}
        names |= {SIZE: self.samples, "x": self.passed[-1]}
        names |= {c: self.own(("D", "M", "H", "Q")) for c in EXTENTS if c in used}
        called = {"input": names["x"]}
        if part.behind:
            names["r"] = self.passed[-1 - part.behind]
        for letter, what in own.items():
            if letter in used and letter not in names and what.what != "loss":
                names[letter] = self.letter(part, what)
                if what.what:
                    called[what.what] = names[letter]
        for letter, what in own.items():
            if what.role in ROLES and letter in names and letter != "x" and _is_letter(names[letter]):
                self.roles |= dict.fromkeys(_labelled(names[letter], what, names), what.role)
        if part.windows is not None:
            names[r"\Omega"] = self.own(_SETS)
        called["output"] = self.output(part, place)
        names["f" if isinstance(part.spec, Pooling) else "L" if "L" in own else "y"] = called["output"]
        return names, called

    def letter(self, part: Laid, what: Letter) -> str:
        """The letter or the number for one of a layer's letters."""
        if what.what == "size N" and self.samples and isinstance(part.spec, Layer) and part.spec.of_batch:
            return self.samples
        value = part.given.get(what.what.replace(" ", "_"), self.next(what.what) if what.what else None)
        if value is None:
            return self.own(what.choices)
        if not isinstance(value, str):
            return _number(value)
        self.taken.add(value)
        return value

    def output(self, part: Laid, place: int) -> str:
        last = place == len(self.laid) - 1
        choices: tuple[str, ...] = ("h", "z", "g", "u", "q", "r")
        kinds = ["outputs"]
        if "L" in _own(part.spec):
            choices, kinds = _own(part.spec)["L"].choices, ["loss", "output"]
        elif last:
            choices, kinds = part.spec.output if isinstance(part.spec, Layer) else ("y", "f", "z", "h"), [
                "output", "outputs"]
        elif part.spec.name == "linear":
            choices, kinds = ("s", "z", "a", "v"), ["preactivation"]
        given = part.given.get("output") or next(filter(None, map(self.next, kinds)), None)
        if given is None:
            return self.own(choices)
        self.taken.add(given)
        return str(given)

    def facts_of(self, part: Laid, names: Mapping[str, str]) -> Iterable[str]:
        """What holds of letters that are given."""
        for fact in part.facts:
            about = next(c for c in letters(fact) if c in _own(part.spec) or c == "x")
            if names.get(about) in self.roles:
                yield renamed(fact, {**self.indices, **names})


def _own(spec: Layer | Pooling) -> Mapping[str, Letter]:
    return spec.letters if isinstance(spec, Layer) else _POOLED


def _is_letter(name: str) -> bool:
    return re.match(r"-?(?:\d|\\frac)", name) is None


def _labelled(letter: str, what: Letter, names: Mapping[str, str]) -> list[str]:
    """W_i, W_f and W_o of W; the letter itself where it has no labels."""
    return [f"{letter}_{names[label]}" for label in what.labels] or [letter]


def _of_labelled(letters: Iterable[str], formulas: Sequence[str], shapes: Sequence[str]) -> list[str]:
    r"""W_1 \in \mathbb{R}^{\cdot \times \cdot} of W_{1,kj}: the label of a letter is no index of it."""
    found = []
    for letter, _, label in (c.partition("_") for c in letters
                              if "_" in c and not any(s.startswith(c) for s in shapes)):
        place = re.search(rf"(?<![A-Za-z\\]){re.escape(letter)}_\{{{re.escape(label.strip('{}'))}(?:,([^{{}}]*))?\}}",
                          " ".join(formulas))
        if place is not None and place[1]:
            axes = r" \times ".join([r"\cdot"] * len([*indices(f"_{{{place[1]}}}")]))
            found.append(rf"{letter}_{label} \in \mathbb{{R}}^{{{axes}}}")
    return found


def _in_letters(texts: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """The formulas in other letters; a factor that is 1 is left out."""
    found = []
    for text in texts:
        for letter in (c for c, name in names.items() if name == "1"):
            text = re.sub(re.escape(letter) + r" (?=[A-Za-z(]|\\(?:left|frac)\b)", "", text)
        found.append(renamed(text, names))
    return found


def _number(value: Any) -> str:
    """0.1 as 0.1, and 1/3 as a fraction."""
    value = Fraction(str(value))
    if value.denominator == 1:
        return str(value)
    decimal = f"{float(value):g}"
    if "e" not in decimal and Fraction(decimal) == value:
        return decimal
    return rf"{'-' if value < 0 else ''}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
