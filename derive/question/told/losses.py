"""Losses and penalties told by words."""

from __future__ import annotations

from typing import Any

from derive.notation.symbols import latex_of, name_of
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Token
from derive.question.told.state import Told, pairs
from derive.question.told.values import Axis, Unread, Value

_OF_PROBABILITIES = ("cross_entropy", "negative_log_likelihood", "binary_cross_entropy", "categorical_cross_entropy")


class Losses(Told):
    """The part of a telling that makes losses."""

    def on_loss(self, said: Say, tail: Any = None) -> None:
        self.compute_loss(said, self.current, tail)

    def on_batchloss(self, said: Say, batch: Say) -> None:
        self.on_batch(batch)
        self.compute_loss(said, self.current)

    def on_lossname(self, letter: Token | None, said: Say) -> None:
        """«the loss L is …»"""
        self.compute_loss(said, self.current)
        if isinstance(letter, Token) and self.loss is not None:
            self.named(self.loss, letter)

    def on_reduce(self, said: Any) -> None:
        if self.loss is None:
            raise Unread("the loss that is averaged")
        self.reduced(self.loss, said)

    def verb_loss(self, value: Value, said: Say) -> Value:
        self.compute_loss(said, self.current)
        return value

    def verb_batchloss(self, value: Value, said: Say, batch: Say) -> Value:
        self.on_batch(batch)
        return self.verb_loss(value, said)

    def verb_losswith(self, value: Value, said: Say, target: Any) -> Value:
        self.target = self.value(target)
        self.compute_loss(said, value)
        return value

    def verb_lossis(self, value: Value, said: Say) -> Value:
        """«L is the cross entropy»"""
        self.compute_loss(said, self.current)
        if value.made is None and value.letter is not None and self.loss is not None:
            self.replaced(value, self.loss)
        return value

    def compute_loss(self, said: Say, prediction: Value | None, tail: Any = None) -> None:
        """The loss of a prediction."""
        if prediction is None or self.loss is not None or said.kind not in ("losses", "penalised"):
            raise Unread("a loss")
        parts = said.of[:-1] if said.kind == "penalised" else said.of
        one = parts[0]
        name, *others = [item for item in one.of if isinstance(item, str)]
        if not set(others) <= (set(_OF_PROBABILITIES) if name in _OF_PROBABILITIES else {name}):
            raise Unread("two losses")
        for item in (*parts[1:], tail):
            if isinstance(item, Say) and item.kind == "tail":
                prediction = self.compared(name, prediction, item)
        self.target = self.target or self.new(None, None)
        if self.target is prediction:  # «the hinge loss of $f$» says of what, not with which target
            raise Unread("the target of the loss")
        self.loss = self.new(None, "loss", prediction, self.target, name=name)
        for item in (one, *parts[1:], tail):
            self.reduced(self.loss, item)
        if isinstance(one[1], Token):
            self.named(self.loss, one[1])
        if said.kind == "penalised":
            self.penalised(said.of[-1])

    def compared(self, name: str, prediction: Value, tail: Say) -> Value:
        """The prediction; “between a and b” names it and the target in any order."""
        if tail[0] != "between":
            self.target = self.value(tail[1])
            return prediction
        one, other = self.value(tail[1]), self.value(tail[2])
        made = [v for v in (one, other) if v.made is not None]
        if len(made) == 2 and name in _OF_PROBABILITIES:
            made = [v for v in made if v.made == "softmax" or v.options.get("name") == "sigmoid"]
        if len(made) != 1:
            raise Unread("which of both is the prediction")
        self.target = other if made[0] is one else one
        return made[0]

    def reduced(self, loss: Value, said: Any) -> None:
        """Mean or sum over the batch, and a factor ½."""
        for key, value in pairs(said):
            if key == "batch":
                self.on_batch(value)
            elif key == "letter":
                self.named(loss, value)
            elif key == "reduce" and value == "divided":
                self.divided(loss)
            elif key == "size":
                self.on_batch(Say("batch", (None, value)))
            elif key in ("reduce", "half") and loss.options.setdefault(key, value) != value:
                raise Unread("the mean or the sum")

    def divided(self, loss: Value) -> None:
        """«the sum of squared errors, divided by the batch size»"""
        if loss.options["name"] == "mean_squared_error" or loss.options.get("reduce", "sum") != "sum":
            raise Unread("a mean that is divided")
        loss.options["reduce"] = "mean"

    def on_reduce_sum(self) -> None:
        if self.loss is None:
            raise Unread("the loss that is averaged")
        self.loss.options["reduce"] = "sum"

    def on_addpenalty(self, said: Say) -> None:
        if self.loss is None:
            raise Unread("a penalty of what")
        self.penalised(said)

    def penalised(self, said: Say) -> None:
        assert self.loss is not None
        if "penalty" in self.loss.options:
            raise Unread("two penalties")
        self.loss.options["penalty"] = dict(pairs(said))

    def weights_written(self) -> list[Value]:
        """The weights in the card's own formulas, w and W with and without a label."""
        found = [s for s in self.table.symbols if s.name in self.in_formulas and s.name.partition("_")[0] in ("w", "W")]
        axes = {s.name: [Axis("", None if size is None else str(size)) for size in (s.sizes or [None] * len(s.axes))]
                for s in found}
        return [Value(latex_of(s.name), "weights", axes=axes[s.name],
                      options={"weights": latex_of(s.name), "places": axes[s.name]}) for s in found if s.axes]

    def weights_of_penalty(self, given: dict[str, Any]) -> Value:
        """The linear layer whose weights are penalised."""
        norm = given.get("norm")
        letter = norm[0] if isinstance(norm, Say) and isinstance(norm[0], Token) else None
        found = [v for v in self.values if v.made == "dense" and (
            letter is None or name_of(v.options.get("weights") or letter.letters[0]) == name_of(letter.letters[0]))]
        found = found or [v for v in self.weights_written() if letter is None or v.letter == letter.letters[0]]
        if len(found) != 1:
            raise Unread("which weights are penalised")
        if letter is not None and found[0].made == "dense":
            found[0].options["weights"] = letter.letters[0]
        return found[0]
