"""Losses that clauses name, as formulas: “the mean squared difference between $y$ and $t$”."""

from __future__ import annotations

import re
from typing import Any

from derive.layers import compose
from derive.layers.chain import Part
from derive.layers.samples import Samples
from derive.notation.symbols import name_of
from derive.question.sentences.actions import Say
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Token
from derive.question.told.clauses import Clause, of
from derive.question.told.named_values import Value, Values, letter_of, stands
from derive.question.told.state import pairs
from derive.question.told.values import Unread

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
        for key, value in (one for item in said.of if item is not None for one in (
                [item] if isinstance(item, tuple) else pairs(item))):
            if own.setdefault(key, value) is not value:
                raise Unread(f"two values of {key}")
        target = clause.parts.get("target") or own.get("target")
        prediction = clause.parts.get("in") or own.get("of")
        source = self.value(prediction, clause)
        if target is None or not isinstance(aim := of(target).get("letter"), Token):
            raise Unread("the target")
        fitted = of(clause.parts.get("aim")).get("letter", aim)
        if not isinstance(fitted, Token) or letter_of(fitted) != letter_of(aim):
            raise Unread("two targets")
        axes = source.axes or ()
        name, parts = self.loss_named(str(own["name"]), source, of(target).get("noun", ""))
        given: dict[str, Any] = {"half": True} if own.get("half") else {}
        if given and name != "squared_error":
            raise Unread("half of what")
        aimed = self.table.named(name_of(letter_of(aim)))
        if aimed is not None and aimed.axes and len(aimed.axes) != len(axes):
            raise Unread("the axes of the target")
        self.refuse_labels(name, aim)
        rank, samples = self.taken_over(own, axes, name)
        letter = self.loss_letter(clause, own)
        composed = compose([*parts, Part(name, (), given)], rank=rank, letters={
            **self.letters(source.letter, letter), "target": letter_of(aim), "loss": letter}, samples=samples)
        formulas = [*composed.formulas]
        mentioned = [*self.mention(source), f"target ${self.written[aim.start]}$"]
        if "penalty" in own:
            formulas[-1] += self.penalty(own["penalty"])
        self.makes(clause, letter, "loss", (), "loss")
        return formulas, mentioned

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

    def taken_over(self, own: dict[str, Any], axes: tuple[str, ...], name: str) -> tuple[int, Samples | None]:
        """The number of axes of one sample, and how the samples are taken: words say it where there are several."""
        taken = "mean" if own["name"] == "mean_squared_error" else own.get("taken", "")
        if own["name"] == "mean_squared_error" and own.get("taken") == "sum":
            raise Unread("a sum of means")
        classes = name == "categorical_cross_entropy"
        over = of(own.get("over"))
        noun, letter = str(over.get("noun", "")), over.get("letter")
        free = axes[:-1] if classes else axes
        if len(axes) > 2 or classes and not axes:
            raise Unread("the axes of the loss")
        if not free:
            if taken and not (taken == "sum" and len(axes) == 1):
                raise Unread("of what is the mean")
            return len(axes), None
        if len(axes) == 2 and not classes and not (taken and noun.split()[-1:] and noun.split()[-1] in _SAMPLES):
            raise Unread("of what is the mean")
        if not taken:
            raise Unread("is it the mean, or the sum")
        if noun and noun.split()[-1] not in (_SAMPLES if classes else _SAMPLES | _OUTPUTS):
            raise Unread(f"the mean over the {noun}")
        size = self.extent(free[0])
        if isinstance(letter, Token):
            said = letter_of(letter)
            if size not in ("", said):
                raise Unread("the mean over what")
            size = said
        return len(axes) - 1, Samples(size, taken)

    def loss_letter(self, clause: Clause, own: dict[str, Any]) -> str:
        """L of «the loss $L$ is …», of ∂L/∂w where nothing computes it; else a letter that is free."""
        out = clause.parts.get("out")
        token = of(out).get("letter") or own.get("letter")
        if isinstance(token, Token):
            return letter_of(token)
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
        symbol = self.table.named(name_of(letter_of(token)))
        count = len(symbol.axes) if symbol is not None else 0
        if count not in (1, 2):
            raise Unread("the axes of the penalty")
        indices = "".join([c for c in "ijkl" if c not in self.taken][:count])
        half = r"\frac{1}{2} " if own.get("half") else ""
        weights = rf"\sum_{{{','.join(indices)}}} {letter_of(token)}_{{{indices}}}^2"
        return rf" + {half}{factor.formula.latex.strip()} {weights}"
