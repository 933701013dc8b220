"""A chain in words as a chain of the catalogue: the options and letters of each part, as the words give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derive.errors import CardError
from derive.layers import LAYERS, compose
from derive.layers.catalogue import Layer, Letters, Pooling
from derive.layers.chain import Part as Named
from derive.layers.composition import Composed
from derive.layers.lettering import letters
from derive.layers.losses import TARGET
from derive.notation.formulas import Formula
from derive.notation.symbols import identifier, name_of
from derive.question.letters.naming import Mention, bare_letters
from derive.question.parts.chain import Chain
from derive.question.parts.convolution import convolution_said
from derive.question.parts.dropout import dropout_said
from derive.question.parts.layout import declared, is_number, spaces, turned
from derive.question.parts.recognised import NORMS, OWN, SLOPED, Part, StatedLoss
from derive.question.words.lexicon import named
from derive.records import dataclass

ACTIVATIONS = frozenset(s.name for s in LAYERS if isinstance(s, Layer) and (
    s.kind == "activation" or s.name == "softmax"))
_SPOKEN_LOSSES = {"softmax": "categorical_cross_entropy", "sigmoid": "binary_cross_entropy"}
# Sets of labels that the losses are not written for.
_SIGNS = re.compile(r"-\s*1|\\pm")
_NOT_LABELS = {"binary_cross_entropy": _SIGNS, "categorical_cross_entropy": _SIGNS,
               "hinge": re.compile(r"(?<![\d.])0\s*,|,\s*0(?![\d.])")}
_MATRIX = re.compile(r"\\?(?:math\w+\{)?[A-Z]")
_HALVED = re.compile(r"\\[dt]?frac\s*\{?\s*1\s*\}?\s*\{?\s*2|/\s*2(?!\d)|0\.5")
_BODY = re.compile(r"[(+]|\\m(?:ax|in)|\\begin")
_A, _S = r"(?P<a>\\?[A-Za-z]+)", r"(?P<s>[A-Za-z])"
_BRANCHES = rf"\\begin{{cases}}{_S}&[^&]*\\\\(?P<a>[a-z]|\\[a-z]+?)(?P=s)&.*"
_SLOPED_AS = {  # without spaces; what stands behind the names of parts that have a slope
    "prelu": [re.compile(rf"\\max[({{]{_S},(?P<a>[a-z]|\\[a-z]+?)(?P=s)[)}}]"), re.compile(_BRANCHES)],
    "elu": [re.compile(rf"\\begin{{cases}}{_S}&[^&]*\\\\{_A}\(e\^\{{?(?P=s)\}}?-1\)&.*")],
}
_SLOPED_AS["leaky_relu"] = _SLOPED_AS["prelu"]
_ROLES = {"parameters": "weights", "constants": "fixed", "inputs": "input"}
_COUNTED = {"maxout": "pieces", "categorical_cross_entropy": "classes"}
_OPEN = frozenset("lstm gru residual embedding".split())  # what each is, a name alone does not say
_TO_WRITE = ": write the forward formulas of these layers"


@dataclass(frozen=True)
class Own:
    """A function that the card defines: its name, its formula, and the letters besides its argument."""

    name: str
    formula: Formula
    letters: tuple[str, ...]


@dataclass(frozen=True)
class Network:
    """The formulas of a chain in words, what their letters are, and the card's formulas that are some of them."""

    formulas: list[Formula]
    mentions: list[Mention]
    used: list[Formula]


def network(chain: Chain, written: Sequence[Formula], functions: Sequence[Own], *, several: bool = False,
            source: str = "", rank: int | None = None, taken: Collection[str] = ()) -> Network:
    """The chain's formulas, in letters that neither the ``written`` formulas have nor ``taken`` holds.

    ``source`` and ``rank`` are those of the formulas that the chain continues; ``several``: the words speak of
    several outputs.  Raises :class:`CardError` for parts that have no formula here.
    """
    return _Chained(chain, functions, several, source or chain.letter("input") or "x",
                    chain.rank if rank is None else rank).network({*_letters_of(written), *taken})


def _letters_of(written: Sequence[Formula]) -> set[str]:
    tokens = {c for f in written for c in re.findall(r"\\?[A-Za-z]+", f.latex)}
    return {*tokens, *(c for token in tokens if token[0] != "\\" for c in token)}


class _Chained:
    """Each part's options and letters."""

    def __init__(self, chain: Chain, functions: Sequence[Own], several: bool, source: str, rank: int) -> None:
        self.chain, self.functions = chain, functions
        self.parts = [convolution_said(chain, p) if p.name == "convolution" else p for p in chain.parts]
        self.used: list[Formula] = []
        self.rank, self.batch = rank, chain.batch
        self.source = (self.batch and not chain.continued and self.batch.matrix) or source
        self.source = self.parts[0].letters.get("queries", self.source)
        first = next((s for s in LAYERS if s.name == self.parts[0].name), None)
        if isinstance(first, Layer) and first.kind == "layer" and (ranks := first.ranks(first.options)):
            self.rank = self.extents or ranks[0]
            if self.parts[0].geometry:
                self.rank = ranks[0] - (self.parts[0].geometry.get("channels") is False)
        elif isinstance(first, Pooling) and first.form == "global" and self.extents > self.rank:
            self.rank += 1  # x ∈ R^{C × H × W}
            self.parts[0] = replace(self.parts[0], options={**self.parts[0].options, "channels": "yes"})
        weighed = any(p.name in ("linear", "softmax") for p in self.parts)
        if not (chain.continued or self.extents or weighed) and is_number(chain, self.source, chain.letter("target")):
            self.rank = 0
        self.of_functions: dict[int, list[tuple[str, str]]] = {}  # by a part's place, letters of the card's function
        losses = [p for p in self.parts if p.loss]
        if len(losses) > 1:
            raise CardError(f"the question names two losses, {chain.quoted(losses[0])} and {chain.quoted(losses[1])}; "
                            "write the forward formula of the one that is meant")
        if losses:
            self.parts = [*(p for p in self.parts if not p.loss), losses[0]]
        self.stated = chain.losses.get(losses[0].start) if losses else None
        vector = any(p.name == "softmax" for p in self.parts)
        self.several = several or vector or bool(self.stated and self.stated.whole)
        self.prediction: str | None = None
        self.target: str | None = None
        if self.stated is not None:
            self.prediction, self.target = self.stated.prediction(chain.letter("target"))

    @property
    def extents(self) -> int:
        """How many axes the card states of the input."""
        return len(declared(self.chain, self.source))

    def network(self, taken: Collection[str]) -> Network:
        rank, channels = self.rank, any("channels" in p.options for p in self.parts)
        parts: list[Named] = []
        for n, part in enumerate(self.parts):
            found = self.part(n, part)
            parts = [replace(found, plain=(tuple(parts),))] if part.name == "residual" else [*parts, found]
        counts = [*self.chain.sizes, *(p.options["units"] for p in self.parts if "units" in p.options)]
        samples = self.batch.samples if self.batch is not None else None
        composed = compose(parts, letters={"input": self.source, "counts": counts}, taken=taken, rank=rank,
                           channels=channels, settled=True, samples=samples)
        formulas, mentions = self.written(composed)
        if self.stated is not None and self.stated.letter is not None:  # the card's own formula is the last
            formulas.pop()
        return Network(formulas, mentions, self.used)

    def written(self, composed: Composed) -> tuple[list[Formula], list[Mention]]:
        """The formulas with their lines, and what their letters are."""
        plain, declared = self.chain.prose.plain, {c for listed, _ in spaces(self.chain) for c in listed}
        first = plain.line(self.parts[0].start)
        shares = self.batch is not None and named(self.chain.prose.text, "fact.one_hot", "fact.simplex")
        said = [*(s for s in composed.shapes if s.partition(r" \in")[0] not in declared),
                *(f for p in composed.parts if isinstance(p.spec, Layer) for f in p.facts if p.spec.kind == "layer"
                  or shares or {*letters(f)} & {p.letters.get(what) for what in OWN.get(p.spec.name, ())})]
        found = [Formula(latex, first, 0, False) for latex in (*composed.ranges, *said)]
        mentions: list[Mention] = []
        roles = {letter: what for role, what in _ROLES.items() for letter in getattr(composed, role)}
        for part, placed in zip(self.parts, composed.parts, strict=True):
            found += [Formula(latex, plain.line(part.start), 0, False) for latex in placed.formulas]
            words = self.chain.prose.said(part.start, part.end)
            for called, letter in placed.letters.items():
                if letter in roles and called not in ("input", "output"):
                    what = "target" if called == "target" else roles[letter]
                    if called == "slope":
                        what = "fixed" if self.is_fixed(part) else "trainable"
                    mentions.append(Mention((identifier(name_of(letter)),), what, "", words, found[-1]))
            mentions += [Mention((identifier(name_of(letter)),), what, "", words, found[-1])
                         for letter, what in self.of_functions.get(part.start, ())]
        return found, mentions

    # -- the parts -----------------------------------------------------------------------------------------------

    def part(self, n: int, part: Part) -> Named:
        """The part with the options and letters that the words give it."""
        given: dict[str, Any] = {}
        if (out := self.named_output(n, part)) is not None:
            given["output"] = out
        if part.name == "linear":
            return Named("linear", (), {**self.linear(n, part), **given})
        if part.loss:
            return self.loss(n, part)
        spec = next((spec for spec in LAYERS if spec.name == part.name), None)
        own = self.applied(part)
        if isinstance(spec, Pooling):
            return Named(spec.name, (), {**self.pooled(part, spec), **given})
        if own is not None and (part.name == "own" or spec is not None and spec.kind == "activation"):
            return Named(spec.name if spec else "identity", (), {**given, "function": self.by_function(part, own)})
        if part.name == "residual":
            self.refuse_around(n, part)
            return Named("residual", (), given)
        if isinstance(spec, Layer) and part.name in NORMS:
            return Named(spec.name, (), {**self.normalised(part, spec), **given})
        if spec is None or spec.name in _OPEN:
            raise self.chain.unclear(part, _TO_WRITE)
        if any(letter.what == "slope" for letter in spec.letters.values()) and part.name in SLOPED:
            given |= self.slope(part)
        if isinstance(spec, Layer) and "bias" in spec.options and (said := part.options.get("bias")) is not None:
            given["bias"] = said == "yes"
        given |= part.geometry
        if spec.name == "dropout":
            given |= dropout_said(self.chain, part)
        return Named(spec.name, (), {**given, **self.own(part), **self.counted(part, spec.name)})

    def counted(self, part: Part, name: str) -> dict[str, int | str]:
        """«with $3$ pieces»: the options that count."""
        what = _COUNTED.get(name, "")
        value = part.options.get(what)
        return {} if value is None else {what: int(value) if value.isdecimal() else value}

    def own(self, part: Part) -> dict[str, str | Fraction]:
        """The letters and numbers of a part's own, as the words give them."""
        said = {what: part.letters[what] for what in OWN.get(part.name, ()) if what in part.letters}
        return {what: Fraction(value) if value[0].isdecimal() else value for what, value in said.items()}

    def refuse_around(self, n: int, part: Part) -> None:
        """A residual connection goes around all parts before it: there is one."""
        if not n or any(p.name == "residual" for p in self.parts[:n]):
            raise self.chain.unclear(part, ": around which layers? Write the forward formulas")

    def normalised(self, part: Part, spec: Layer) -> dict[str, Any]:
        """Gain, shift and the number below the root, all of which the words must name, and the extents of its input."""
        formulas = " ".join(spec.written(self.rank, spec.options).formulas)
        for what in (letter.what for c, letter in spec.letters.items() if c in formulas):
            if what in ("gain", "shift", "epsilon") and part.options.get(what) != "yes":
                raise self.chain.unclear(part, f": has it {what}? Write “with gain $g$, shift $b$ and a small "
                                         "$\\epsilon$ added to the variance”, or its forward formulas")
        sizes = declared(self.chain, self.source) if part is self.parts[0] else ()
        axes = {"batch_norm": "NC", "instance_norm": "CHW"}.get(spec.name, "C" if self.rank == 1 else "NC")
        return {**self.own(part), **{f"size_{c}": size for c, size in zip(axes, sizes, strict=False)}}

    def named_output(self, n: int, part: Part) -> str | None:
        """The letter that the words, or the loss's own formula, give to the output of the part before it."""
        said = part.letters.get("output")
        written = self.prediction if self.parts[-1].loss and n == len(self.parts) - 2 else None
        if said and written and said != written:
            raise self.chain.unclear(part, f": its output is `{said}`, and its loss has `{written}`: write the forward "
                                     "formulas")
        return said or written or (part.letters.get("preactivation") if part.name == "linear" else None)

    def pooled(self, part: Part, spec: Pooling) -> dict[str, Any]:
        """The number of the windows' axes, which the words give; of a whole input its extents, as the card has them."""
        axes = self.rank - ("channels" in part.options)
        if spec.form != "global":
            return {"axes": axes}
        later = any(p.name == "linear" for p in self.parts[self.parts.index(part) :])
        if later and axes == self.rank and not (part is self.parts[0] and declared(self.chain, self.source)):
            raise self.chain.unclear(part, ": one number, or one of each channel? Write “of each channel”, or state "
                                     r"the shape of its input, `$x \in \mathbb{R}^{C \times H \times W}$`")
        self.rank -= axes
        sizes = declared(self.chain, self.source)[-axes:] if part is self.parts[0] else ()
        return {f"size_{c}": size for c, size in zip(Letters(axes).sizes, sizes, strict=False)}

    def linear(self, n: int, part: Part) -> dict[str, Any]:
        """Units, weights and bias: one unit has weights alone, several a bias too, unless the words say otherwise."""
        if self.rank > 1 and not any("pool" in p.name for p in self.parts[:n]):
            raise self.chain.unclear(part, ": of each row, or of all entries? Write the forward formulas")
        scalar = self.is_scalar(part, not any(p.name == "linear" for p in self.parts[n + 1 :]))
        self.rank = 0 if scalar else 1
        weight, bias = part.letters.get("weight"), part.letters.get("bias")
        said = part.options.get("bias")
        wanted = said == "yes" or not scalar and said != "no" and not (weight and bias)
        columns = None if scalar else turned(self.chain, part, weight, bias, self.source if not n else None) or None
        sized = any(declared(self.chain, letter or "") for letter in (weight, bias))
        named = "" if self.batch or columns or sized else (
            part.options.get("units", ""))  # the card's letter for their number, not one that it has for something else
        units = 1 if scalar else named if named.isalpha() and named not in self.chain.bound else None
        given = {"units": units, "weights": weight, "bias": bias or wanted, "transposed": columns}
        return {key: value for key, value in given.items() if value is not None}

    def is_scalar(self, part: Part, last: bool) -> bool:
        """One unit: said so, or the last before a loss of one number, with no number of units."""
        if part.options.get("units") == "1":
            return True
        units = part.options.get("units") is not None
        if not last or units or (self.several and len([p for p in self.parts if p.name == "linear"]) == 1):
            return False
        weight = part.letters.get("weight")
        if any(p.name == "softmax" for p in self.parts) or (weight is not None and _MATRIX.match(weight)):
            return False
        return self.parts[-1].loss

    # -- activations ---------------------------------------------------------------------------------------------

    def slope(self, part: Part) -> dict[str, Any]:
        """The slope's letter or number: «PReLU with slope $a$», with an index where each output has its own."""
        said = part.letters.get("slope") or part.options.get("slope") or self.slope_written(part)
        if said is None:
            return {}
        letter, _, index = said.partition("_")
        if index and (not self.rank or part.name != "prelu"):
            raise self.chain.unclear(part, f": `{said}` has an index, and the network one unit; write the forward "
                                     "formulas")
        return {"slope": Fraction(letter) if letter[0].isdecimal() else letter, **({"shared": False} if index else {})}

    def slope_written(self, part: Part) -> str | None:
        r"""a of «PReLU $\max(s, a s)$»; raises :class:`CardError` for another formula behind the name."""
        for gap in self.chain.gaps_behind(part):
            if gap.start <= part.end + 20 and _BODY.search(gap.formula.latex):
                latex = re.sub(r"\s|\\(?:left|right|[,;:! ])(?![a-z])", "", gap.formula.latex)
                latex = latex.replace(r"\{", "{").replace(r"\}", "}")
                found = next((m for p in _SLOPED_AS[part.name] if (m := p.fullmatch(latex))), None)
                if found is None:
                    raise self.chain.unclear(part, f" is followed by ${gap.formula.latex}$: write the function with "
                                             "its argument, as in `f(s) = …`")
                self.used.append(gap.formula)
                return found["a"]
        return None

    def is_fixed(self, part: Part) -> bool:
        """Whether the slope is a constant: as the words say, else that of PReLU alone is learnt."""
        return part.options["fixed"] == "yes" if "fixed" in part.options else part.name != "prelu"

    def applied(self, part: Part) -> Own | None:
        """The card's own function: right behind the part's name, or anywhere where there is one for one activation."""
        near = [g.formula for g in self.chain.gaps_behind(part) if g.start <= part.end + 30]
        found = next((f for f in self.functions if any(f.formula.latex == near_.latex for near_ in near)), None)
        alone = len(self.functions) == 1 == sum(p.name in (*ACTIVATIONS, "own") for p in self.parts)
        return found or (self.functions[0] if alone else None)

    def by_function(self, part: Part, own: Own) -> str:
        """The function's name; what its letters are is known of parts that have a slope."""
        if part.options.get("slope"):
            raise self.chain.unclear(part, " has its formula and a number beside it: write the number in the formula")
        self.used.append(own.formula)
        for letter in own.letters if part.name in SLOPED else ():
            fixed = self.chain.fixed(part, letter)
            held = self.is_fixed(part) if fixed is None else fixed
            self.of_functions.setdefault(part.start, []).append((letter, "fixed" if held else "trainable"))
        return own.name

    # -- the loss ------------------------------------------------------------------------------------------------

    def loss(self, n: int, part: Part) -> Named:
        """The catalogue's loss, or the card's own formula as a part."""
        given: dict[str, Any] = {"output": letter} if (letter := self.chain.letter("loss")) else {}
        if self.stated is not None and self.target is not None:
            return self.stated_formula(part, self.stated, self.target, given)
        name = self.loss_named(part, self.parts[n - 1].name if n else "")
        target = self.chain.letter("target")
        labels = _NOT_LABELS.get(name)
        if labels and any(labels.search(g.formula.latex) for g in self.chain.prose.gaps
                          if (target or "y") in bare_letters(g.formula)):
            raise self.chain.unclear(part, f": its formula for these labels `{target}` is not covered; write it")
        if part.options.get("half"):
            if name != "squared_error":
                raise self.chain.unclear(part, " is halved; write the loss with its factor")
            given["half"] = True
        own = {"target": target, **self.own(part), **self.counted(part, name)}
        return Named(name, (), {**given, **{key: value for key, value in own.items() if value is not None}})

    def loss_named(self, part: Part, before: str) -> str:
        """The catalogue's loss: a cross-entropy is that of what stands before it, a mean one of all samples."""
        name = part.name
        if name == "mean_squared_error" and self.batch and self.batch.samples.loss == "mean" and not self.rank:
            return "squared_error"
        if name.endswith("cross_entropy"):
            name = _SPOKEN_LOSSES.get(before, "")
            if not name or part.name not in ("cross_entropy", name):
                raise self.chain.unclear(part, " is covered behind softmax, and the binary one behind a logistic "
                                         "sigmoid; write its formula")
        spec = next((s for s in LAYERS if s.name == name), None)
        if name == "hinge" and self.rank:
            raise self.chain.unclear(part, " of several units: write its formula")
        if not isinstance(spec, Layer) or spec.kind != "loss":
            raise self.chain.unclear(part, _TO_WRITE)
        return name

    def stated_formula(self, part: Part, stated: StatedLoss, target: str, given: dict[str, Any]) -> Named:
        """The loss as the card writes it, summed over the outputs where it is that of one."""
        if part.options.get("half") and not _HALVED.search(stated.value):
            raise self.chain.unclear(part, " is halved in words, and its formula stands beside it; write the loss with "
                                     "its factor")
        value = stated.value
        index = r"_{\I}" if self.rank and not stated.whole else ""
        for letter in stated.letters:
            own = ("t" if letter == target else "x") + index
            value = re.sub(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z_])", lambda _, own=own: own, value)  # type: ignore[misc]
        value = rf"\sum_{{\I}} \left({value}\right)" if index else value
        self.used.append(stated.formula)
        given |= {"target": target, **({"output": stated.letter} if stated.letter else {})}
        return Named("stated", (), given, Layer("stated", "loss", f"L = {value}", TARGET, kind="loss"))
