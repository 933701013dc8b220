"""Losses that clauses name, as formulas: “the mean squared difference between $y$ and $t$”."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from derive.layers import compose
from derive.layers.chain import Part
from derive.layers.samples import Samples
from derive.notation.symbols import name_of
from derive.question.sentences.actions import Say
from derive.question.sentences.atoms import ATOMS
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Token, sentences
from derive.question.told.clauses import Clause, of
from derive.question.told.named_values import Value, Values, letter_of, stands
from derive.question.told.state import pairs
from derive.question.told.values import Unread

Taking = tuple[str, Say | None]  # mean or sum, and over what
_COUNT = r"\aleph"  # stands for the number of samples that are not counted from 1
_TARGETS = words_of("en", "CALLED_TARGETS")
_SAMPLES = words_of("en", "SAMPLES")
_OUTPUTS = words_of("en", "OF_SEVERAL")
_SIGNED = frozenset({"hinge", "squared_hinge", "logistic_loss"})
_PROBABILITY = re.compile(r"softmax|\\sigma|\\frac.*(?:e\^|\\exp)|(?:e\^|\\exp).*/")
_LOGARITHM = re.compile(r"\\(?:log|ln)\b")
_CLASSES = {"cross_entropy": ("softmax", "categorical_cross_entropy"),
            "categorical_cross_entropy": ("softmax", "categorical_cross_entropy"),
            "binary_cross_entropy": ("sigmoid", "binary_cross_entropy")}


class Costs(Values):
    """The part of a writing that makes losses."""

    def cost(self, clause: Clause, said: Say) -> tuple[list[str], list[str]]:
        """A loss of what comes before, or of what is named, and of its target."""
        own: dict[str, Any] = {}
        items = [[item] if isinstance(item, tuple) else [*pairs(item)] for item in said.of if item is not None]
        for key, value in (one for item in items for one in item if one[0] not in ("taken", "over")):
            if own.setdefault(key, value) is not value:
                raise Unread(f"two values of {key}")
        target = clause.parts.get("target") or own.get("target") or clause.parts.get("aim")
        prediction = clause.parts.get("in") or own.get("of")
        source = self.value(prediction, clause)
        aim = of(target).get("letter") if target is not None else self.target_said()
        if not isinstance(aim, Token):
            raise Unread("the target")
        fitted = of(clause.parts.get("aim")).get("letter", aim)
        if not isinstance(fitted, Token) or self.letter(fitted) != self.letter(aim):
            raise Unread("two targets")
        axes = source.axes or ()
        if not axes and self.is_over_outputs(items) and source.letter.islower():
            axes = ("k",)  # of a vector that no formula has
        name, parts = self.loss_named(str(own["name"]), source, of(target).get("noun", ""))
        given: dict[str, Any] = {"half": True} if own.get("half") == "yes" else {}
        if given and name != "squared_error":
            raise Unread("half of what")
        aimed = self.table.named(name_of(self.letter(aim)))
        if aimed is not None and aimed.axes and len(aimed.axes) != len(axes):
            raise Unread("the axes of the target")
        self.refuse_labels(name, aim)
        mean = own["name"] == "mean_squared_error"
        rank, samples = self.taken_over(_takings(items, "mean" if mean else ""), axes, name, mean)
        letter = self.loss_letter(clause, own)
        composed = compose([*parts, Part(name, (), given)], rank=rank, letters={
            **self.letters(source.letter, letter), "target": self.letter(aim), "loss": letter}, samples=samples)
        formulas = [*composed.formulas]
        if samples is not None and samples.size == _COUNT:
            formulas[-1] = _counted(formulas[-1], *self.range_of(axes[0]))
        mentioned = [*self.mention(source), f"target ${self.written[aim.start]}$"]
        if "penalty" in own:
            formulas[-1] += self.penalty(own["penalty"])
        self.makes(clause, letter, "loss", (), "loss")
        return formulas, mentioned

    def is_over_outputs(self, items: list[list[Any]]) -> bool:
        """«averaged over all $N$ components»"""
        nouns = (str(of(value).get("noun") or "").split()[-1:] for own in items for key, value in own if key == "over")
        return any(noun and noun[0] in _OUTPUTS for noun in nouns)

    def loss_named(self, name: str, source: Value, target: str) -> tuple[str, list[Part]]:
        """The catalogue's loss; a cross-entropy is of probabilities, which something has made."""
        if name == "softmax_cross_entropy":
            if source.made == "softmax" or self.is_probability(source):
                raise Unread("a softmax of probabilities")
            return "categorical_cross_entropy", [Part("softmax")]
        if name not in _CLASSES:
            return ("squared_error" if name == "mean_squared_error" else name), []
        made, loss = _CLASSES[name]
        if name == "cross_entropy" and (source.made == "sigmoid" or "binary" in target):
            made, loss = _CLASSES["binary_cross_entropy"]
        written = not source.made and self.is_probability(source) and (name != "cross_entropy" or "hot" in target)
        if source.made != made and not written:
            raise Unread("the probabilities of a cross-entropy")
        return loss, []

    def is_probability(self, source: Value) -> bool:
        """A formula makes it by exponentials and a quotient."""
        latex = self.defined.get(name_of(source.letter), "")
        return bool(_PROBABILITY.search(latex)) and not _LOGARITHM.search(latex)

    def refuse_labels(self, name: str, aim: Token) -> None:
        """Raise :class:`Unread` for labels of which the loss has another formula: ±1 of a hinge loss, else 0 and 1."""
        sets = [f.latex for f in self.prose.formulas if r"\in" in f.latex and r"\{" in f.latex and stands(
            letter_of(aim), f.latex.partition(r"\in")[0])]
        if any(("-" in latex or r"\pm" in latex) != (name in _SIGNED) for latex in sets):
            raise Unread("the labels of the loss")

    def target_said(self) -> Token | None:
        """$t_n$ of «labels $t_n$», where no formula has such a letter: one letter that is called so."""
        told = (pair for own in sentences(self.prose) for pair in pairwise(own))
        called = (b if b.letters else ATOMS["letter"](b) for a, b in told if a.text in _TARGETS and b.formulas)
        found = {letter_of(token): token for token in called if token is not None}
        found = {c: t for c, t in found.items() if name_of(c) not in {*self.written_names, *self.made}}
        return next(iter(found.values())) if len(found) == 1 else None

    def taken_over(self, takings: list[Taking], axes: tuple[str, ...], name: str, mean: bool) -> tuple[
            int, Samples | None]:
        """The number of axes of one sample, and how the samples are taken: words say it where there are several."""
        classes = name == "categorical_cross_entropy"
        free = axes[:-1] if classes else axes
        if len(axes) > 2 or classes and not axes or mean and len(axes) > 1:
            raise Unread("the axes of the loss")
        how = {self.axis(over, free, classes): (taken, over) for taken, over in takings}
        if len(how) < len(takings) or not free and any(taken != "sum" for taken, _ in how.values()):
            raise Unread("of what is the mean")
        if not free:
            return len(axes), None
        if len(free) == 2 and how.get(free[1], ("sum", None))[0] != "sum" or free[0] not in how:
            raise Unread("is it the mean, or the sum")
        taken, over = how[free[0]]
        first, last = self.range_of(free[0])
        size = _COUNT if first not in ("", "1") else last
        if size == "" and isinstance(letter := of(over).get("letter"), Token):
            size = letter_of(letter)
        if taken == "sum" and not (size or classes):
            return len(axes), None
        return len(axes) - 1, Samples(size, taken)

    def axis(self, over: Say | None, free: tuple[str, ...], classes: bool) -> str:
        """The index over which words sum: that they name, that runs so far, that of the samples or of the outputs."""
        said = of(over)
        noun = str(said.get("noun") or "").split()[-1:]
        index, letter, count = said.get("index"), said.get("letter"), said.get("count")
        if isinstance(index, Token) and letter_of(index) not in free:
            raise Unread(f"the sum over {index}")
        found = [c for c in free if not isinstance(index, Token) or letter_of(index) == c]
        number = letter_of(letter) if isinstance(letter, Token) else count
        if number is not None:
            found = [c for c in found if self.range_of(c) == ("", "") or number == _number(*self.range_of(c))]
            found = [c for c in found if number == _number(*self.range_of(c))] or found
        several = bool(noun) and noun[0] in _OUTPUTS and not classes
        if noun and index is None and (number is None or len(found) > 1):
            if not several and not (noun[0] in _SAMPLES and (number or any(map(self.counts_samples, free[:1])))):
                raise Unread(f"the mean over the {noun[0]}")
            found = [c for c in (free[-1:] if several else free[:1]) if c in found]
        if len(found) != 1 and (over is not None or free):
            raise Unread("of what is the mean")
        return found[0] if found else ""

    def counts_samples(self, index: str) -> bool:
        """It is n, or a word for samples stands before it: «each patient $i$», «the $i$-th case»."""
        told = [pair for own in sentences(self.prose) for pair in pairwise(own)]
        return index == "n" or any(a.text in _SAMPLES and _is(b, index) or _is(a, index) and b.text == "th" and any(
            c.text in _SAMPLES for _, c in told[n + 1 : n + 3]) for n, (a, b) in enumerate(told))

    def loss_letter(self, clause: Clause, own: dict[str, Any]) -> str:
        """L of «the loss $L$ is …», of ∂L/∂w where nothing computes it; else a letter that is free."""
        out = clause.parts.get("out")
        token = of(out).get("letter") or own.get("letter")
        if isinstance(token, Token):
            return self.letter(token)
        tops = {top for top in self.losses().values() if name_of(top) not in self.defined and
                name_of(top) not in self.made}
        if len(tops) > 1:
            raise Unread("two losses")
        return tops.pop() if tops else next(c for c in ("L", "J", "E") if c not in self.taken)

    def losses(self) -> dict[str, str]:
        """What is differentiated: L of ∂L/∂w."""
        tops = [above for above, _ in self.derived()]
        return {name_of(top): top for top in tops if top}

    def penalty(self, said: Say) -> str:
        """λ/2 times the sum of squares of weights."""
        own = dict(pairs(said))
        norm, factor = own.get("norm"), own.get("factor")
        token = norm[0] if isinstance(norm, Say) else None
        if not isinstance(token, Token) or not isinstance(factor, Token):
            raise Unread("a penalty of what")
        symbol = self.table.named(name_of(self.letter(token)))
        count = len(symbol.axes) if symbol is not None else 0
        if count not in (1, 2):
            raise Unread("the axes of the penalty")
        indices = "".join([c for c in "ijkl" if c not in self.taken][:count])
        half = r"\frac{1}{2} " if own.get("half") else ""
        weights = rf"\sum_{{{','.join(indices)}}} {self.letter(token)}_{{{indices}}}^2"
        latex = re.sub(r"^(\\?\w+)\s*/\s*(\w+)$", r"\\frac{\1}{\2}", factor.formula.latex.strip())
        return rf" + {half}{latex} {weights}"


def _is(token: Token, index: str) -> bool:
    return bool(token.formulas) and token.letters == (index,)


def _takings(items: list[list[tuple[str, Any]]], known: str) -> list[Taking]:
    """Mean or sum, and over what; «the mean …, over all cases» says both apart. The name of a loss may say how."""
    each = ({key: value for key, value in item if key in ("taken", "over")} for item in items)
    said = [own for own in each if own]
    if known:
        said = [{"taken": known, **own} for own in said] or [{"taken": known}]
        if any(own["taken"] != known for own in said):
            raise Unread("two ways to take the samples")
    how, where = ([own for own in said if key not in own] for key in ("over", "taken"))
    if len(how) == len(where) == 1:
        said = [own for own in said if len(own) > 1] + [{**how[0], **where[0]}]
    if any("taken" not in own for own in said):
        raise Unread("is it the mean, or the sum")
    return [(own["taken"], own.get("over")) for own in said]


def _number(first: str, last: str) -> str:
    """26 of 4, …, 29, N of 0, …, N - 1."""
    if first.isdecimal() and last.isdecimal():
        return str(int(last) - int(first) + 1)
    return last if first == "1" else last.removesuffix("-1") if first == "0" and last.endswith("-1") else ""


def _counted(formula: str, first: str, last: str) -> str:
    """The sum from the first to the last, and their number."""
    if not (number := _number(first, last)):
        raise Unread("the number of samples")
    return formula.replace("=1}^{" + _COUNT + "}", f"={first}}}^{{{last}}}").replace(_COUNT, number)
