"""Layers that a question names in words: which, one behind the other, and what the words say of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from derive.errors import CardError, Problem
from derive.notation.rules.kinds import equates
from derive.question.letters.naming import Mention, bare_letters, sizes_said, written_letters
from derive.question.parts.order import in_order
from derive.question.parts.recognised import (
    NORMS,
    OWN,
    SLOPED,
    WORD,
    Part,
    Recognised,
    StatedLoss,
    role_of,
    stated_loss,
)
from derive.question.parts.remarks import remarks
from derive.question.parts.samples import Batch, batch_said
from derive.question.windows.wording import rank_said, words_of
from derive.question.words.lexicon import NUMBERS, counted, named, only
from derive.question.words.prose import Gap, Prose

_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*\^")
_NUMBER = re.compile(r"\s*(?:(?P<letter>\\?[A-Za-z]+)\s*=\s*)?(?P<number>\d+(?:\.\d+)?)\s*")
_SAID_NUMBER = re.compile(r"\s+(?:(?:of|equal to|being)\s+)?(\d+(?:[. ]\d+)?)")  # the prose has a space for the point
_KIND = ("rank.vector", "rank.matrix")  # «its output is the vector $y$»
_BRACKET = re.compile(r"\([^()∎]*\)")
_UNITS = re.compile(r"\\?[A-Za-z]+|\d+")
_HALF = re.compile(r"\s*(?:\\[dt]?frac\s*(?:12|\{1\}\s*\{2\}|1\s*\{2\}|\{1\}\s*2)|1/2|0\.5)\s*")


class Chain(Recognised):
    """The parts that a question names, in the order of their layers, and the words that were understood."""

    def __init__(self, prose: Prose) -> None:
        super().__init__(prose)
        self.bound: set[str] = set()  # letters that are some part's
        self.loss_letter: str | None = None  # of a derivative that is asked for
        self.continued = False  # behind formulas of the card
        found = self.found
        self.losses: dict[int, StatedLoss] = {
            p.start: stated for p in found if p.loss and (stated := stated_loss(prose, p, found)) is not None}
        self.parts = [self._described(n, p, found) for n, p in enumerate(found)]
        self._inputs_counted()
        self._distribute()
        self.understood += remarks(self.prose, self.parts)
        self.parts = in_order(self.parts, prose, self.unclear)

    @cached_property
    def sizes(self) -> frozenset[str]:
        """The letters of numbers: those that the words call so, and the extents of spaces."""
        spaces = (g.formula.latex.partition("R")[2] for g in self.prose.gaps if _SPACE.search(g.formula.latex))
        extents = (c for latex in spaces for c in re.findall(r"(?<![\\A-Za-z])[A-Za-z]\b", latex))
        return frozenset((*sizes_said(self.prose), *extents))

    @cached_property
    def batch(self) -> Batch | None:
        """The samples that the words speak of; a norm over the batch has them of its own."""
        if self.parts[0].name in NORMS:
            return None
        targets = {c for m in self.spoken if role_of(m) == "target" for c in m.letters}
        found = batch_said(self.prose, any(p.loss for p in self.parts), self.bound | targets)
        self.understood += found.places if found is not None else ()
        return found

    # -- what is said of each ------------------------------------------------------------------------------------

    def behind(self, n: int, parts: Sequence[Part]) -> tuple[int, int]:
        """From the end of a part's name to the next part, within the sentence."""
        stop = min([self.prose.sentence(parts[n].start)[1], *(p.start for p in parts if p.start >= parts[n].end)])
        return parts[n].end, stop

    def _reach(self, n: int, parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
        """Where weights, biases and units of a linear part are named: up to the next part that is no activation."""
        other = [p.start for p in parts if p.start > parts[n].start and (p.loss or p.name in ("linear", "softmax"))]
        for start in (parts[n].end, *(b for _, b in self.regions.get(parts[n].start, ()))):
            yield start, min([self.prose.sentence(start)[1], *(at for at in other if at >= start)])

    def _described(self, n: int, part: Part, parts: Sequence[Part]) -> Part:
        start, stop = self.behind(n, parts)
        letters: dict[str, str] = {}
        options = {**part.options}
        gaps = [g for g in self.prose.gaps if start <= g.start < stop]
        each = [s for s in named(self.prose.text, "each.map", "each.time") if "pool" in part.name]
        self.understood += [(s.start, s.stop) for s in each]
        if any(s.concept == "each.map" for s in each):
            options["channels"] = "yes"
        if part.name == "linear":
            for first, last in self._reach(n, parts):
                self._linear(part, first, last, letters, options)
        elif part.name in SLOPED:
            self._sloped(part, start, stop, gaps, letters, options)
        elif OWN.get(part.name):
            last = parts[n + 1].start if n + 1 < len(parts) else len(self.prose.text)
            self._with_own(part, last if n + 1 == len(parts) or part.name == "convolution" else stop, letters, options)
        if part.loss:
            self._halved(part, parts[n - 1].end if n else 0, stop, options)
            named_so = next((m for m in self._mentions(start, stop) if _BRACKET.sub("", self.prose.text[
                start : self.places[id(m.formula)]]).strip() in ("", "loss", "error", "function", "cost")), None)
            named_so = named_so or self._equal_to(part)
            if named_so is not None and not equates(named_so.formula):
                self.loss_letter = self._own(named_so)
        for mention in self._mentions(start, stop):
            what = role_of(mention)
            if (what == "output" or what == "preactivation" and part.name == "linear") and not part.loss and (
                    mention.letters[0] not in letters.values()):
                letters.setdefault(what, self._own(mention))
        self.bound |= {*letters.values()}
        return replace(part, letters=letters, options=options)

    def _equal_to(self, part: Part) -> Mention | None:
        """J of «let $J$ be the squared error»."""
        text, (start, _) = self.prose.text, self.prose.sentence(part.start)
        return next((m for m in self._mentions(start, part.start) for at in [self.places[id(m.formula)] + 1] if only(
            text, at, part.start, "naming.is", "naming.article") and named(text[at : part.start], "naming.is")), None)

    def _with_own(self, part: Part, stop: int, letters: dict[str, str], options: dict[str, str]) -> None:
        """«with gain $g$ and shift $b$»: what the words say that a part has of its own, and by which letter."""
        for noun in named(self.prose.text[part.end : stop], "count.pieces", "count.classes"):
            number = self._number_before(part.end + noun.start)
            if number is None and noun.of("count.pieces"):
                raise self.unclear(part, ": of how many pieces? Write e.g. “with $3$ pieces”")
            if number is not None:
                options[noun.concept.partition(".")[2]] = number
                self.understood.append((part.end + noun.start, part.end + noun.stop))
        concepts = tuple(f"own.{what}" for what in OWN[part.name])
        for span in named(self.prose.text[part.end : stop], *concepts):
            denied = named(" ".join(self._before(part.end + span.start, 4)), "not.no")
            options[span.concept.partition(".")[2]] = "no" if denied else "yes"
            self.understood.append((part.end + span.start, part.end + span.stop))
            if (number := self._number_behind(part.end + span.stop)) is not None:
                letters[span.concept.partition(".")[2]] = number
        for mention in self._mentions(part.end, stop):
            for said in named(mention.before, *concepts)[-1:] or named(mention.after.partition(",")[0], *concepts)[:1]:
                letters.setdefault(said.concept.partition(".")[2], self._own(mention))

    def _number_behind(self, at: int) -> str | None:
        """2 of «temperature $2$» and «temperature of 2»."""
        gap = next((g for g in self.prose.gaps if g.start >= at), None)
        said = _SAID_NUMBER.match(self.prose.text, at)
        value = _NUMBER.fullmatch(gap.formula.latex) if gap is not None and only(
            self.prose.text, at, gap.start, "small", "letter") else None
        if gap is not None and value is not None and value["letter"] is None:
            self.understood.append((at, gap.start + 1))
            return value["number"]
        if said is not None:
            self.understood.append((at, said.end()))
        return said[1].replace(" ", ".") if said is not None else None

    def _number_before(self, at: int) -> str | None:
        """3 of «$3$ pieces», «3 pieces» and «three pieces»."""
        gap = next((g for g in self.prose.gaps if g.start < at and not self.prose.text[g.start + 1 : at].strip()), None)
        word = next(iter(self._before(at, 1)), "")
        said = next((s.concept.partition(".")[2] for s in named(word, "geometry")), word)
        if gap is not None:
            self.understood.append((gap.start, at))
            return gap.formula.latex.strip()
        self.understood.append((at - len(word) - 1, at))
        return said if said.isdecimal() else None

    def _mentions(self, start: int, stop: int) -> Iterator[Mention]:
        for mention in self.spoken:
            at = self.places.get(id(mention.formula))
            if at is not None and start <= at < stop and len(mention.letters) == 1 and (
                    mention.letters[0] not in self.indices):
                yield mention

    def _own(self, mention: Mention) -> str:
        """The letter of a mention, as the card writes it; its words are understood."""
        at = self.places[id(mention.formula)]
        start = max(0, at - len(mention.before) - 1)
        nouns = [start + s.start for s in named(self.prose.text[start:at], "letter", "own")]
        self.understood.append((min(nouns, default=start), at + 1))
        return mention.letters[0]

    def _linear(self, part: Part, start: int, stop: int, letters: dict[str, str], options: dict[str, str]) -> None:
        text = self.prose.text[start:stop]
        if self.prose.text[: part.end].endswith((" units", " neurons")):  # «2 linear neurons»
            said = self._before(part.start, 1)
            number = next((s.concept.partition(".")[2] for s in named(" ".join(said), *NUMBERS)), "".join(said))
            if number.isdecimal():
                options.setdefault("units", number)
                self.understood.append((part.start - len(said[0]) - 1, part.start))
        for span in named(text, "bias"):
            options["bias"] = span.concept.partition(".")[2]
            self.understood.append((start + span.start, start + span.stop))
            break
        for mention in self._mentions(start, stop):
            what = role_of(mention)
            if what in ("weight", "bias"):
                if "scalar" in mention.before.split() and what == "weight":
                    raise self.unclear(part, f": is `{mention.letters[0]}` a number? Write the forward formulas")
                if "scalar" in mention.before.split():
                    options.setdefault("units", "1")
                letters.setdefault(what, self._own(mention))
        if options.get("bias") == "no":
            letters.pop("bias", None)
        for span in named(text, "count.single")[:1]:
            options.setdefault("units", "1")
            self.understood.append((start + span.start, start + span.stop))
        for number, noun in counted(text, "count.units"):
            if options.setdefault("units", number) != number:
                raise self.unclear(part, f": has it {options['units']} units, or {number}? Name each layer, or write "
                                   "the forward formulas")
            self.understood.append((start + noun.start, start + noun.stop))
        own = [g for g in self.prose.gaps if start <= g.start < stop]
        pair = own[:2] if own and re.fullmatch(r"\s*\(", self.prose.text[start : own[0].start]) else []
        if len(pair) == 2 and re.fullmatch(r"\s*(?:,|and)\s*", self.prose.text[pair[0].start + 1 : pair[1].start]):
            for what, gap in zip(("weight", "bias"), pair, strict=True):  # «a linear layer ($W$, $b$)»
                for letter in written_letters(gap.formula):
                    letters.setdefault(what, letter)
                    self.bound.add(letter)
        for gap in own:
            after = " ".join(WORD.findall(self.prose.text[gap.start + 1 : stop])[:4]).partition("∎")[0]
            units = gap.formula.latex.strip()
            counts = _UNITS.fullmatch(units) is not None and units not in letters.values()
            if counts and named(after, "letter.units", "count.units"):
                options.setdefault("units", units)
                self.understood.append((gap.start, gap.start + 1))

    def layers_counted(self) -> Iterator[tuple[int, int]]:
        """«a two-layer network», where so many are named."""
        linear = sum(p.name == "linear" for p in self.parts)
        for number, noun in counted(self.prose.text, "count.layers"):
            if int(number) == linear:
                yield noun.start, noun.stop

    def _inputs_counted(self) -> None:
        """«four input features», said once: how long the input of the first layer is."""
        linear = self.parts and self.parts[0].name == "linear"
        said = [(number, noun) for number, noun in counted(self.prose.text, "count.inputs")
                if any(self.prose.sentence(noun.start) == self.prose.sentence(p.start) for p in self.parts)]
        if linear and len({number for number, _ in said}) == 1:
            self.understood += [(noun.start, noun.stop) for _, noun in said]

    def _sloped(self, part: Part, start: int, stop: int, gaps: list[Gap], letters: dict[str, str],
                options: dict[str, str]) -> None:
        for gap in gaps[:1]:
            bare = bare_letters(gap.formula) if not equates(gap.formula) else ()
            value = _NUMBER.fullmatch(gap.formula.latex)
            before = self.prose.text[start : gap.start]
            said = next((role_of(m) for m in self.spoken if m.formula is gap.formula), None)
            other = [w for w in WORD.finditer(before) if w[0] not in ("with", "s", "of") and not any(
                s.start <= w.start() < s.stop for s in named(before, "head", "letter.slope", "letter.parameter", "role",
                                                             "small"))]
            if said not in (None, "slope", "parameter") or other or not ("(" in before or named(before, "slot.sloped")):
                continue
            if value:
                options["slope"] = f"{float(value['number']):g}"
            elif len(bare) == 1:
                index = re.search(rf"{re.escape(bare[0])}\s*\}}?\s*(_\s*(?:\{{[^{{}}]*\}}|\w))", gap.formula.latex)
                letters["slope"] = bare[0] + (index[1] if index else "")
            else:
                continue
            self.understood.append((start, gap.start + 1))
        text = self.prose.text[start:stop]
        number = next((m for span in named(text, "letter.slope", "letter.parameter")
                       if (m := _SAID_NUMBER.match(text, span.stop))), None)
        if number and "slope" not in letters and "slope" not in options:
            options["slope"] = f"{float(number[1].replace(' ', '.')):g}"
            self.understood.append((start, start + number.end()))
        held = {s.concept for s in named(text.partition("∎")[0], "role.fixed", "role.trained")}
        if held or "slope" in letters:
            fixed = self.fixed(part, letters.get("slope", "").partition("_")[0], held)
            if fixed is not None:
                options["fixed"] = "yes" if fixed else "no"

    def fixed(self, part: Part, letter: str, said: Iterable[str] = ()) -> bool | None:
        """Whether words call the letter of a part fixed or trained; None where they call it neither."""
        spoken = [f"{m.before} {m.after}" for m in self.spoken if letter in m.letters]
        held = {*said, *(s.concept for words in spoken for s in named(words, "role.fixed", "role.trained"))}
        if len(held) > 1:
            raise self.unclear(part, f": `{letter}` is called fixed and trainable; keep one")
        return held == {"role.fixed"} if held else None

    def _halved(self, part: Part, before: int, stop: int, options: dict[str, str]) -> None:
        """«one half of the squared error», «squared error scaled by $\\frac{1}{2}$»."""
        ahead, text = self.prose.text[before : part.start], self.prose.text[part.end : stop]
        said = [before + s.start for s in named(ahead, "factor.half")] + [part.end + s.start for s in named(
            text, "factor.half")]
        for gap in self.prose.gaps:
            if before <= gap.start < stop and _HALF.fullmatch(gap.formula.latex):
                said.append(gap.start)
                self.understood.append((gap.start, gap.start + 1))
        if len(said) > 1 and not (len(said) == 2 and abs(said[0] - said[1]) < 25):
            raise self.unclear(part, " is halved twice; write the loss with its factor")
        if said:
            options["half"] = "yes"
            self.understood.append((min(said), max(said) + 1))
            self.understood += [(s.start + a, s.stop + a) for a, t in ((before, ahead), (part.end, text))
                                for s in named(t, "factor")]

    def gaps_behind(self, part: Part) -> list[Gap]:
        """The formulas between this part's name and the next."""
        stop = min([self.prose.sentence(part.start)[1], *(p.start for p in self.parts if p.start >= part.end)])
        return [gap for gap in self.prose.gaps if part.end <= gap.start < stop]

    # -- letters that stand apart from the names -----------------------------------------------------------------

    def _distribute(self) -> None:
        """Weights and biases that the words name elsewhere, to the linear parts that have none, in their order."""
        linear = [n for n, p in enumerate(self.parts) if p.name == "linear"]
        self._biases_of_all(linear)
        said = next(iter(named(self.prose.text, "bias")), None)
        if len(linear) == 1 and said is not None and "bias" not in self.parts[linear[0]].options:
            options = {**self.parts[linear[0]].options, "bias": said.concept.partition(".")[2]}
            self.parts[linear[0]] = replace(self.parts[linear[0]], options=options)
        for what in ("weight", "bias"):
            lacking = [n for n in linear if what not in self.parts[n].letters
                       and self.parts[n].options.get("bias" if what == "bias" else "") != "no"]
            free = [c for m in self.spoken if role_of(m) == what and not self._behind_loss(m) for c in m.letters
                    if c not in self.bound]
            free = list(dict.fromkeys(free))
            if lacking and len(free) == len(lacking):
                for n, letter in zip(lacking, free, strict=True):
                    self.parts[n] = replace(self.parts[n], letters={**self.parts[n].letters, what: letter})
                    self.bound.add(letter)
        self._slope_apart()
        last = next((n for n in reversed(range(len(self.parts))) if not self.parts[n].loss), None)
        whole = [m for m in self.spoken if len(m.letters) == 1 and m.letters[0] not in self.bound | self.indices
                 and self._of_whole(m)]
        if last is not None and "output" not in self.parts[last].letters and len({m.letters[0] for m in whole}) == 1:
            letters = {**self.parts[last].letters, "output": self._own(whole[0])}
            self.parts[last] = replace(self.parts[last], letters=letters)
            self.bound.add(letters["output"])

    def _slope_apart(self) -> None:
        """The letter that is called the slope in another sentence, or in a table, to the one part that has one."""
        sloped = [n for n, p in enumerate(self.parts) if p.name in SLOPED]
        slopes = {m.letters[0] for m in self.spoken if role_of(m) == "slope" and len(m.letters) == 1} - self.bound
        if len(sloped) != 1 or len(slopes) != 1:
            return
        part = self.parts[sloped[0]]
        if "slope" not in {*part.letters, *part.options}:
            slope = slopes.pop()
            held = self.fixed(part, slope)
            options = part.options if held is None else {**part.options, "fixed": "yes" if held else "no"}
            self.parts[sloped[0]] = replace(part, letters={**part.letters, "slope": slope}, options=options)
            self.bound.add(slope)

    def _biases_of_all(self, linear: Sequence[int]) -> None:
        """«both layers are without biases»"""
        for span in named(self.prose.text, "bias"):
            start, _ = self.prose.sentence(span.start)
            first = max(start, *(self.prose.text.rfind(sign, start, span.start) for sign in ";,:"))
            said = [s.concept for s in named(self.prose.text[first : span.stop], "every")]
            if len(linear) > 1 and said:
                self.understood.append((span.start, span.stop))
                for n in linear:
                    bias = "no" if "every.no" in said else span.concept.partition(".")[2]
                    options = {**self.parts[n].options, "bias": bias}
                    self.parts[n] = replace(self.parts[n], options=options)

    def _of_whole(self, mention: Mention) -> bool:
        """«denote the output of the module by $u$», «its forward message $u$»"""
        text, at = self.prose.text, self.places.get(id(mention.formula), 0)
        between = ("naming.is", "small.article", *_KIND)
        return any(self.prose.sentence(at)[0] <= s.start and only(text, s.stop, at, *between)
                   and not text[at + 1 :].startswith(" of ") for s in named(text, "whole"))

    def _target(self) -> str | None:
        """The letter that is called a target or a label; of several, the one in the sentence of the loss.

        Raises :class:`CardError` where two are.
        """
        said = [m for m in self.spoken if role_of(m) == "target" and len(m.letters) == 1
                and m.letters[0] not in self.bound and m.formula not in [s.formula for s in self.losses.values()]]
        plain = [m for m in said if named(f"{m.before} {m.after}", "letter.target")] or said
        losses = {self.prose.sentence(p.start) for p in self.parts if p.loss}
        beside = [m for m in plain if self.prose.sentence(self.places[id(m.formula)]) in losses] or plain
        letters = dict.fromkeys(m.letters[0] for m in beside)
        if len(letters) > 1 and losses:
            first, second = [*letters][:2]
            loss = next(p for p in self.parts if p.loss)
            raise self.unclear(loss, f": is its target `{first}` or `{second}`? Say which, or write its formula")
        return next(iter(letters), None)

    def _fed(self) -> str | None:
        """h of «the vector $h$ is fed to a linear layer», in front of the first part."""
        for mention in self.spoken:
            at, first = self.places.get(id(mention.formula), -1), self.parts[0].start
            joins = [s.start for s in named(self.prose.text[:first], "join.through") if s.start > at]
            near = len(joins) == 1 and len(self.prose.text[at + 1 : joins[0]].split()) < 3
            if near and len(mention.letters) == 1 and self.prose.sentence(at) == self.prose.sentence(first):
                return mention.letters[0]
        return None

    def _behind_loss(self, mention: Mention) -> bool:
        """«squared error with weights $v$»"""
        at = self.places[id(mention.formula)]
        return any(p.loss and p.end <= at < self.prose.sentence(p.start)[1] for p in self.parts)

    def letter(self, what: str) -> str | None:
        """The one letter that the words call the input, the target or the loss, and that is no part's."""
        if what == "loss" and self.loss_letter is not None:
            return self.loss_letter
        if what == "target":
            return self._target()
        if what == "input" and (fed := self._fed()):
            return fed
        weighed = what != "input" or any(p.name == "linear" for p in self.parts)
        roles = (what,) if weighed else (what, "preactivation")  # the logits of a softmax alone
        if what == "input" and self.parts[0].loss:
            roles = (*roles, "output")  # the prediction
        found = (m.letters[0] for m in self.spoken if len(m.letters) == 1 and m.letters[0] not in self.bound
                 and not named(m.before, "size") and m.letters[0] not in self.sizes | self.indices
                 and role_of(m) in roles)
        return next(found, None)

    @property
    def rank(self) -> int:
        """The number of the input's axes: of windows as many as their sizes or the words give, else one."""
        pooled = [p for p in self.parts if "pool" in p.name]
        if any("channels" in p.options for p in pooled):
            return 2 if named(self.prose.text, "each.time") else 3
        return rank_said(words_of(self.prose.plain.source, self.prose.plain.first_line)) if pooled else 1

    @property
    def from_zero(self) -> bool:
        """The formulas of a part count its entries from 0."""
        return any("pool" in p.name or "conv" in p.name for p in self.parts)

    # -- what is not clear ---------------------------------------------------------------------------------------

    def quoted(self, part: Part) -> str:
        return f"“{self.prose.plain.quote(part.start, part.end)}”"

    def unclear(self, part: Part, why: str) -> CardError:
        return CardError(Problem(f"{self.quoted(part)}{why}", line=self.prose.plain.line(part.start)))
