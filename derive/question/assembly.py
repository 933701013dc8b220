"""A chain of named layers as forward formulas: one for each part, computed from the one before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from derive.errors import CardError
from derive.layers import LAYERS
from derive.layers.catalogue import Layer, Letters, Pooling
from derive.notation.formulas import Formula
from derive.notation.symbols import name_of
from derive.question.chain import SLOPED, Chain, Part
from derive.question.naming import Mention, bare_letters
from derive.question.stated_loss import StatedLoss
from derive.records import dataclass

ACTIVATIONS = frozenset(s.name for s in LAYERS if isinstance(s, Layer) and (
    s.kind == "activation" or s.name == "softmax"))
_SPOKEN_LOSSES = {"softmax": "categorical_cross_entropy", "sigmoid": "binary_cross_entropy"}
# Sets of labels that the losses are not written for.
_SIGNS = re.compile(r"-\s*1|\\pm")
_NOT_LABELS = {"binary_cross_entropy": _SIGNS, "categorical_cross_entropy": _SIGNS,
               "hinge": re.compile(r"(?<![\d.])0\s*,|,\s*0(?![\d.])")}
_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*\^\s*\{([^{}]*)\}")
_MATRIX = re.compile(r"\\?(?:math\w+\{)?[A-Z]")
_BODY = re.compile(r"[(+]|\\m(?:ax|in)|\\begin")
_A, _S = r"(?P<a>\\?[A-Za-z]+)", r"(?P<s>[A-Za-z])"
_BRANCHES = rf"\\begin{{cases}}{_S}&[^&]*\\\\(?P<a>[a-z]|\\[a-z]+?)(?P=s)&.*"
_SLOPED_AS = {  # without spaces; what stands behind the names of parts that have a slope
    "prelu": [re.compile(rf"\\max[({{]{_S},(?P<a>[a-z]|\\[a-z]+?)(?P=s)[)}}]"), re.compile(_BRANCHES)],
    "elu": [re.compile(rf"\\begin{{cases}}{_S}&[^&]*\\\\{_A}\(e\^\{{?(?P=s)\}}?-1\)&.*")],
}
_SLOPED_AS["leaky_relu"] = _SLOPED_AS["prelu"]


@dataclass(frozen=True)
class Own:
    """A function that the card defines: its name, its formula, and the letters besides its argument."""

    name: str
    formula: Formula
    letters: tuple[str, ...]


class Assembly:
    """Formulas one after the other, with letters that nothing else has."""

    def __init__(self, chain: Chain, written: Sequence[Formula], functions: Sequence[Own], several: bool) -> None:
        self.chain, self.parts, self.functions = chain, list(chain.parts), functions
        tokens = {c for f in written for c in re.findall(r"\\?[A-Za-z]+", f.latex)}
        self.taken = {*tokens, *(c for token in tokens if token[0] != "\\" for c in token)}
        self.found: list[Formula] = []
        self.mentions: list[Mention] = []
        self.used: list[Formula] = []
        self.sizes: list[str] = []  # letters of extents that the formulas bring
        losses = [p for p in self.parts if p.loss]
        if len(losses) > 1:
            raise CardError(f"the question names two losses, {chain.quoted(losses[0])} and {chain.quoted(losses[1])}; "
                            "write the forward formula of the one that is meant")
        if losses:
            self.parts = [*(p for p in self.parts if not p.loss), losses[0]]
        self.stated = chain.losses.get(losses[0].start) if losses else None
        softmax = any(p.name == "softmax" for p in self.parts)
        self.several = several or softmax or bool(self.stated and self.stated.whole)
        self.prediction: str | None = None
        self.target: str | None = None
        if self.stated is not None:
            self.prediction, self.target = self.stated.prediction(chain.letter("target"))

    def formulas(self, source: str, axes: str) -> list[Formula]:
        """One formula for each part, the last that of the output; ``axes`` are the letters of the input's indices."""
        self.taken.add(source)
        for n, part in enumerate(self.parts):
            source, axes = self.add(n, part, source, axes)
        return self.found

    def own(self, *letters: str) -> str:
        """The first of these letters that is free."""
        chosen = next((c for c in letters if c not in self.taken), None)
        if chosen is None:
            chosen = next(c + "'" for c in letters if c + "'" not in self.taken)
        self.taken.add(chosen)
        return chosen

    def add(self, n: int, part: Part, source: str, axes: str) -> tuple[str, str]:
        """The formula of one part; what comes back is the letter of its output, and those of its indices."""
        if part.name == "linear":
            return self.linear(n, part, source, axes)
        if part.loss:
            return self.loss(part, source, axes), ""
        spec = next((spec for spec in LAYERS if spec.name == part.name), None)
        own = self.applied(n, part)
        if isinstance(spec, Pooling):
            return self.pooled(n, part, spec, source, axes)
        if (spec is None and (own is None or part.name != "own")) or (
                spec is not None and spec.kind != "activation" and spec.name != "softmax"):
            raise self.chain.unclear(part, ": write the forward formulas of these layers")
        out = self.named_output(n, part) or self.between(n)
        if part.name == "softmax":
            axes = axes or "k"
            total = rf"\sum_{{j}} e^{{{source}_{{j}}}}"
            self.write(part, rf"{out}_{{{axes}}} = \frac{{e^{{{source}_{{{axes}}}}}}}{{{total}}}")
        elif own is not None:
            self.by_function(part, own, out + _sub(axes), source + _sub(axes))
        else:
            assert spec is not None
            self.write(part, f"{out}{_sub(axes)} = {self.body(part, spec, source, axes)}")
        return out, axes

    def between(self, n: int) -> str:
        """A letter for what a part gives to the next, or for the output."""
        inner = self.parts[-1].loss or n < len(self.parts) - 1
        return self.own("h", "z", "g", "u") if inner else self.own("y", "z", "h", "g")

    def pooled(self, n: int, part: Part, spec: Pooling, source: str, axes: str) -> tuple[str, str]:
        """A pooling: of each channel by itself, where there are channels."""
        letters = Letters(len(axes), spec.form == "global")
        if part.options.get("channels"):
            letters = Letters(2, spec.form == "global", True)
        out = self.named_output(n, part) or self.between(n)
        latex = spec.formula(letters, spec.options)
        entry = letters.entry.replace("x", source, 1)
        latex = latex.replace(letters.entry, entry)
        if spec.form == "global":  # the sizes are tied to the axes
            sizes = self.declared(source, len(letters.sizes)) or letters.sizes
            latex = re.sub("|".join(rf"(?<![A-Za-z\\]){n}(?![A-Za-z])" for n in letters.sizes),
                           lambda m: dict(zip(letters.sizes, sizes, strict=True))[m[0]], latex)
            summed = "".join(rf"\sum_{{{i}=1}}^{{{n}}} " for i, n in zip(letters.indices, sizes, strict=False))
            latex = re.sub(r"\\sum_\{[\w,]*\} ?", lambda _: summed, latex)
            self.sizes += sizes
        given = letters.output.replace("f", out, 1)
        self.write(part, f"{given} = {latex}")
        return out, re.sub(r"\W", "", given.partition("_")[2])

    def declared(self, letter: str, count: int) -> tuple[str, ...]:
        r"""H and W of X \in \mathbb{R}^{C \times H \times W}: the last extents that the card states of a letter."""
        for gap in self.chain.prose.gaps:
            space = _SPACE.search(gap.formula.latex)
            if space and letter in re.findall(r"\\?[A-Za-z]+", gap.formula.latex[: space.start()]):
                sizes = tuple(part.strip() for part in space[1].split(r"\times"))[-count:]
                if len(sizes) == count and all(re.fullmatch(r"\\?[A-Za-z]+", n) for n in sizes):
                    return sizes
        return ()

    def named_output(self, n: int, part: Part) -> str | None:
        """The letter that the words, or the loss's own formula, give to the output of the part before it."""
        said = part.letters.get("output")
        written = self.prediction if self.parts[-1].loss and n == len(self.parts) - 2 else None
        if said and written and said != written:
            raise self.chain.unclear(part, f": its output is `{said}`, and its loss has `{written}`: write the forward "
                                     "formulas")
        return said or written

    def linear(self, n: int, part: Part, source: str, axes: str) -> tuple[str, str]:
        last = not any(p.name == "linear" for p in self.parts[n + 1 :])
        scalar = self.is_scalar(part, last)
        activated = n + 1 < len(self.parts) and not self.parts[n + 1].loss
        out = self.named_output(n, part) or part.letters.get("preactivation") or (
            self.own("s", "z", "a", "v", "r", "q") if activated or self.parts[-1].loss else
            self.own("y", "s", "z", "a"))
        weight = part.letters.get("weight") or self.own("w" if scalar else "W", "V", "U")
        bias = part.letters.get("bias")
        wanted = part.options.get("bias") == "yes" or (not scalar and part.options.get("bias") != "no"
                                                      and not ("weight" in part.letters and "bias" in part.letters))
        if bias is None and wanted:
            bias = self.own("b", "c", "d")
        ending = f" + {bias}" if bias else ""
        if "_" in weight + (bias or ""):  # labelled letters, W_1: whole
            turned = r"^\top" if scalar else ""
            self.write(part, f"{out} = {weight}{turned} {source}{ending}")
        elif scalar:
            over = "j" if len(axes) < 2 else axes
            self.write(part, rf"{out} = \sum_{{{','.join(over)}}} {weight}_{{{over}}} {source}_{{{over}}}{ending}")
        else:
            over = "j" if len(axes) < 2 else "".join("ijlm"[n] for n, _ in enumerate(axes))
            ending = f" + {bias}_{{k}}" if bias else ""
            product = f"{weight}_{{k{over}}} {source}_{{{over}}}"
            self.write(part, rf"{out}_{{k}} = \sum_{{{','.join(over)}}} {product}{ending}")
        self.role(part, "weights", weight, *filter(None, [bias]))
        return out, "" if scalar else "k"

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

    def body(self, part: Part, spec: Layer, source: str, axes: str) -> str:
        """What an elementwise part computes, with its slope."""
        body = spec.written(0, spec.options).formulas[0].partition("=")[2].strip()
        letter = next((c for c, letter in spec.letters.items() if letter.what == "slope"), None)
        if letter is not None:
            slope = self.slope(part, spec.letters[letter].choices, axes)
            if not slope[0].isdigit():
                self.role(part, "fixed" if self.is_fixed(part) else "trainable", re.split(r"_\{k\}$|_k$", slope)[0])
            body = body.replace(f"{letter} (", "(") if slope == "1" else body
            body = re.sub(rf"{re.escape(letter)}(?![A-Za-z])", lambda _: slope, body)
        elif spec.letters:
            raise self.chain.unclear(part, ": write its formula")
        return re.sub(r"x_\{\\I\}", lambda _: source + _sub(axes), body)

    def slope(self, part: Part, choices: tuple[str, ...], axes: str) -> str:
        """The slope's letter or number: «PReLU with slope $a$», with an index where each output has its own."""
        said = part.letters.get("slope") or part.options.get("slope") or self.slope_written(part)
        if said is None:
            return self.own(*choices)
        if "_" in said and not axes:
            raise self.chain.unclear(part, f": `{said}` has an index, and the network one unit; write the forward "
                                     "formulas")
        return said.partition("_")[0] + _sub(axes) if "_" in said else said

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

    def applied(self, n: int, part: Part) -> Own | None:
        """The card's own function: right behind the part's name, or anywhere where there is one for one activation."""
        near = [g.formula for g in self.chain.gaps_behind(part) if g.start <= part.end + 30]
        found = next((f for f in self.functions if any(f.formula.latex == near_.latex for near_ in near)), None)
        alone = len(self.functions) == 1 == sum(p.name in (*ACTIVATIONS, "own") for p in self.parts)
        return found or (self.functions[0] if alone else None)

    def by_function(self, part: Part, own: Own, out: str, argument: str) -> None:
        if part.options.get("slope"):
            raise self.chain.unclear(part, " has its formula and a number beside it: write the number in the formula")
        self.write(part, f"{out} = {own.name}({argument})")
        self.used.append(own.formula)
        for letter in own.letters if part.name in SLOPED else ():
            fixed = self.chain.fixed(part, letter)
            self.role(part, "fixed" if (self.is_fixed(part) if fixed is None else fixed) else "trainable", letter)

    def loss(self, part: Part, source: str, axes: str) -> str:
        if self.stated is not None and self.target is not None:
            return self.stated_formula(part, self.stated, self.target, _sub(axes))
        spec = self.loss_named(part, axes)
        target = self.chain.letter("target") or self.own("y", "t", "d")
        self.role(part, "target", target)
        labels = _NOT_LABELS.get(spec.name)
        if labels and any(labels.search(g.formula.latex) for g in self.chain.prose.gaps
                          if target in bare_letters(g.formula)):
            raise self.chain.unclear(part, f": its formula for these labels `{target}` is not covered; write it")
        out = self.chain.letter("loss") or self.own(r"\ell", "L", "E")
        options = {**spec.options, **({"half": True} if part.options.get("half") else {})}
        if part.options.get("half") and "half" not in spec.options:
            raise self.chain.unclear(part, " is halved; write the loss with its factor")
        value = spec.written(0, options).formulas[0].partition("=")[2].strip()
        value = value.replace(r"\sum_{\I} ", r"\sum_{k} " if axes else "")
        for letter in (c for c, known in spec.letters.items() if known.role == "constants" and c != "t"):
            own = self.chain.letter("threshold") or letter
            self.role(part, "fixed", own)
            value = re.sub(rf"{re.escape(letter)}(?![A-Za-z])", lambda _, own=own: own, value)  # type: ignore[misc]
        value = value.replace(r"x_{\I}", source + _sub(axes)).replace(r"t_{\I}", target + _sub(axes))
        self.write(part, f"{out} = {value}")
        return out

    def loss_named(self, part: Part, axes: str) -> Layer:
        """The catalogue's loss: a cross-entropy is that of what stands before it."""
        name, before = part.name, self.parts[-2].name if len(self.parts) > 1 else ""
        if name.endswith("cross_entropy"):
            name = _SPOKEN_LOSSES.get(before, "")
            if not name or part.name not in ("cross_entropy", name):
                raise self.chain.unclear(part, " is covered behind softmax, and the binary one behind a logistic "
                                         "sigmoid; write its formula")
        spec = next((s for s in LAYERS if s.name == name), None)
        if name == "hinge" and axes:
            raise self.chain.unclear(part, " of several units: write its formula")
        if not isinstance(spec, Layer) or spec.kind != "loss":
            raise self.chain.unclear(part, ": write the forward formulas of these layers")
        return spec

    def stated_formula(self, part: Part, stated: StatedLoss, target: str, sub: str) -> str:
        """The loss as the card writes it, summed over the outputs where it is that of one."""
        if part.options.get("half"):
            raise self.chain.unclear(part, " is halved in words, and its formula stands beside it; write the loss with "
                                     "its factor")
        out = stated.letter or self.chain.letter("loss") or self.own(r"\ell", "L", "E")
        value = stated.value
        if sub and not stated.whole:
            for letter in stated.letters:
                value = re.sub(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z_])", lambda m: f"{m[0]}_{{k}}", value)
            value = rf"\sum_{{k}} \left({value}\right)"
        self.role(part, "target", target)
        self.used.append(stated.formula)
        if stated.letter is None:
            self.write(part, f"{out} = {value}")
        return out

    def write(self, part: Part, latex: str) -> None:
        self.found.append(Formula(latex, self.chain.prose.plain.line(part.start), 0, False))

    def role(self, part: Part, what: str, *letters: str) -> None:
        said = self.chain.prose.said(part.start, part.end)
        self.mentions.append(Mention(tuple(map(name_of, letters)), what, "", said, self.found[-1] if self.found else
                                     Formula("", 0, 0, False)))


def _sub(axes: str) -> str:
    """_{k} of k; nothing of a number."""
    return f"_{{{axes}}}" if axes else ""
