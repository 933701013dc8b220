"""A network of parts that only words name: a formula for each, computed from the one before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.notation.symbols import name_of
from derive.question.activations import ELEMENTWISE, function_near, other_letters, slope_written
from derive.question.naming import Mention, bare_letters
from derive.question.part_words import ACTIVATIONS, ONE_UNIT, UNITS, Named
from derive.question.prose import Gap, Prose
from derive.question.qualifiers import Qualifiers, StatedLoss, behind

# The cross-entropies that do not follow these.
_OTHER = {"softmax": re.compile(r"(?i)binary"), "sigmoid": re.compile(r"(?i)categorical")}
# Sets of labels that the losses are not written for here.
_NOT_LABELS = {"cross_entropy": re.compile(r"-\s*1|\\pm"), "hinge": re.compile(r"(?<![\d.])0\s*,|,\s*0(?![\d.])")}
_SLOPES = {"prelu": "a", "leaky": "a", "elu": r"\alpha"}


class Network:
    """Formulas one after the other, with letters that nothing else has."""

    def __init__(
        self, prose: Prose, parts: list[Named], letter: Callable[[str], str | None], formulas: Sequence[Formula],
        functions: list[tuple[str, str]], qualifiers: Qualifiers, loss: StatedLoss | None = None,
    ) -> None:
        self.named, self.said = parts, qualifiers
        self.prose, self.parts, self.letter, self.functions = prose, parts, letter, functions
        self.taken = {c for f in formulas for c in re.findall(r"\\?[A-Za-z]+", f.latex)}
        self.found: list[Formula] = []
        self.mentions: list[Mention] = []
        losses = [n for n in parts if n.part.loss]
        if len(losses) > 1:
            raise CardError(f"the question names two losses, {self.quoted(losses[0])} and {self.quoted(losses[1])}; "
                            "write the forward formula of the one that is meant")
        if losses and losses[0] is not parts[-1]:
            self.parts = [*(n for n in parts if not n.part.loss), losses[0]]
        softmax = any(n.part.name == "softmax" for n in parts)
        several = UNITS.search(prose.text) or softmax or (loss and loss.whole)
        self.scalar = not several and (bool(losses) or ONE_UNIT.search(prose.text) is not None)
        self.stated = loss
        self.prediction: str | None = None
        self.target: str | None = None
        if loss is not None:
            self.prediction, self.target = loss.prediction(letter("target"))

    def quoted(self, named: Named) -> str:
        return f"“{self.prose.plain.quote(named.start, named.end)}”"

    def own(self, *letters: str) -> str:
        """The first of these letters that is free."""
        chosen = next((c for c in letters if c not in self.taken), letters[-1])
        self.taken.add(chosen)
        return chosen

    def formulas(self, source: str | None = None, scalar: bool | None = None) -> list[Formula]:
        """One formula for each part, the last that of the output; from the letter of a formula on the card, or x."""
        source = source or self.letter("input") or "x"
        self.scalar = self.scalar if scalar is None else scalar
        self.taken.add(source)
        for named in self.parts:
            source = self.add(named, source)
        return self.found

    def add(self, named: Named, source: str) -> str:
        """The formula of one part; what comes back is the letter of its output."""
        name, sub = named.part.name, "" if self.scalar else "_{k}"
        if name == "linear":
            return self.linear(named, source)
        if named.part.loss:
            return self.loss(named, source, sub)
        out = self.predicted(named) or (
            self.own("y", "z", "h", "g") if not self.ends_in_loss() else self.own("h", "z", "g", "u"))
        if name == "softmax":
            self.write(named, rf"{out}_{{k}} = \frac{{e^{{{source}_{{k}}}}}}{{\sum_{{j}} e^{{{source}_{{j}}}}}}")
            return out
        applied = self.applied(named)
        if applied is not None:
            self.write(named, f"{out}{sub} = {applied}({source}{sub})")
            if self.said.slopes.get(name, "a")[0].isdigit():
                raise self.unclear(named, " has its formula and a number beside it: write the number in the formula")
            for letter in other_letters(applied, self.functions) if name == "prelu" else ():
                self.role(named, "fixed" if self.said.is_fixed(named, letter) else "trainable", letter)
            return out
        body = ELEMENTWISE[name]
        if "{a}" in body:
            slope = self.slope_said(named, sub) or slope_written(named, self.quoted(named), self.behind(named)) or \
                self.own(_SLOPES[name], r"\alpha", "c")
            body = body.replace("{a} (" if slope == "1" else "{a}", "(" if slope == "1" else slope)
            if not slope[0].isdigit():
                letter, _, _ = slope.partition("_")
                self.role(named, "fixed" if self.said.is_fixed(named, letter) else "trainable", letter)
        self.write(named, f"{out}{sub} = {body.replace('{x}', source + sub)}")
        return out

    def predicted(self, named: Named) -> str | None:
        """The letter that the words, or the loss's own formula, give to the output of the part before it."""
        said = self.said.outputs.get(named.part.name)
        written = self.prediction if len(self.parts) > 1 and named is self.parts[-2] else None
        if said and written and said != written:
            raise CardError(Problem(f"the output of {self.quoted(named)} is `{said}`, and its loss has `{written}`: "
                                    "write the forward formulas", line=self.prose.plain.line(named.start)))
        return said or written

    def ends_in_loss(self) -> bool:
        return self.parts[-1].part.loss

    def linear(self, named: Named, source: str) -> str:
        out = self.predicted(named) or self.letter("preactivation") or self.own("s", "z", "a", "v")
        if len(self.parts) == 1:
            out = self.own("y") if "y" not in self.taken else out
        parameters = (*self.said.parameters, None, None)
        weight, bias = parameters[0] or self.letter("weight"), parameters[1] or self.letter("bias")
        if self.said.bias and bias is None:
            bias = self.own("b", "c")
        if self.scalar:
            weight = weight or self.own("w")
            ending = f" + {bias}" if bias else ""
            self.write(named, rf"{out} = \sum_{{j}} {weight}_{{j}} {source}_{{j}}{ending}")
            self.role(named, "weights", weight, *filter(None, [bias]))
        else:
            weight = weight or self.own("W")
            if self.said.bias is not False and not self.said.parameters:
                bias = bias or self.own("b")
            ending = f" + {bias}_{{k}}" if bias else ""
            self.write(named, rf"{out}_{{k}} = \sum_{{j}} {weight}_{{kj}} {source}_{{j}}{ending}")
            self.role(named, "weights", weight, *filter(None, [bias]))
        return out

    def loss(self, named: Named, source: str, sub: str) -> str:
        if self.stated is not None and self.target is not None:
            return self.written(named, self.stated, self.target, sub)
        target = self.letter("target") or self.own("y", "t", "d")
        self.role(named, "target", target)
        if any(_NOT_LABELS[named.part.name].search(g.formula.latex) for g in self.prose.gaps
               if named.part.name in _NOT_LABELS and target in bare_letters(g.formula)):
            raise self.unclear(named, f": its formula for these labels `{target}` is not covered; write it")
        out = self.letter("loss") or self.own(r"\ell", "L", "E")
        x, t = f"{source}{sub}", f"{target}{sub}"
        total = r"\sum_{k} " if sub else ""
        before = [n.part.name for n in self.parts][-2:-1]
        match named.part.name:
            case "squared" if sub and self.quoted(named).lower().startswith("“mean"):
                raise self.unclear(named, ": the mean over the outputs or over samples? Write its formula")
            case "squared":
                value = f"{total}({x} - {t})^2"
            case "absolute":
                value = f"{total}|{x} - {t}|"
            case "hinge" if sub:
                raise self.unclear(named, " of several units: write its formula")
            case "hinge":
                value = rf"{total}\max(0, 1 - {t} {x})"
            case _ if before not in (["softmax"], ["sigmoid"]) or _OTHER[before[0]].search(self.quoted(named)):
                raise self.unclear(named, " is covered behind softmax, and the binary one behind a logistic sigmoid; "
                                   "write its formula")
            case _ if before == ["softmax"]:
                value = rf"-\sum_{{k}} {t} \log {x}"
            case _:
                value = rf"-{total}({t} \log {x} + (1 - {t}) \log(1 - {x}))"
        self.write(named, f"{out} = {self.halved(value)}")
        return out

    def unclear(self, named: Named, why: str) -> CardError:
        return CardError(Problem(f"{self.quoted(named)}{why}", line=self.prose.plain.line(named.start)))

    def halved(self, value: str) -> str:
        return rf"\frac{{1}}{{2}} {value}" if self.said.half else value

    def written(self, named: Named, stated: StatedLoss, target: str, sub: str) -> str:
        """The loss as the card writes it, summed over the outputs where it is that of one."""
        if self.said.half:
            raise CardError(Problem(f"{self.quoted(named)} is halved in words, and its formula stands beside it; write "
                                    "the loss with its factor", line=self.prose.plain.line(named.start)))
        out = stated.letter or self.letter("loss") or self.own(r"\ell", "L", "E")
        value = stated.value
        if sub and not stated.whole:
            for letter in stated.letters:
                value = re.sub(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z_])", lambda m: f"{m[0]}_{{k}}", value)
            value = rf"\sum_{{k}} \left({value}\right)"
        self.role(named, "target", target)
        if stated.letter is None:
            self.write(named, f"{out} = {value}")
        return out

    def write(self, named: Named, latex: str) -> None:
        self.found.append(Formula(latex, self.prose.plain.line(named.start), 0, False))

    def role(self, named: Named, what: str, *letters: str) -> None:
        names = tuple(map(name_of, letters))
        self.mentions.append(Mention(names, what, "", self.prose.said(named.start, named.end), self.found[-1]
                                     if self.found else Formula("", 0, 0, False)))

    def applied(self, named: Named) -> str | None:
        """The card's own function: right behind the part's name, or anywhere where there is one for one activation."""
        near = function_near(named, self.behind(named), self.functions)
        alone = len(self.functions) == 1 == sum(n.part.name in ACTIVATIONS for n in self.parts)
        return near or (self.functions[0][1] if alone else None)

    def slope_said(self, named: Named, sub: str) -> str | None:
        """The slope's letter or number: «PReLU with slope $a$», with an index where each output has its own."""
        slope = self.said.slopes.get(named.part.name)
        if slope is None or "_" not in slope:
            return slope
        if not sub:
            raise CardError(Problem(f"{self.quoted(named)}: `{slope}` has an index, and the network one unit; write "
                                    "the forward formulas", line=self.prose.plain.line(named.start)))
        return slope.partition("_")[0] + sub

    def behind(self, named: Named) -> list[Gap]:
        """The formulas between this part's name and the next."""
        start, stop = behind(self.prose, self.named, self.named.index(named))
        return [gap for gap in self.prose.gaps if start <= gap.start < stop]
