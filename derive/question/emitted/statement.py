"""A telling as a statement: its values in the order in which the words make them, roles, shapes, requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from derive.notation.rules.kinds import Said
from derive.notation.symbols import latex_of, name_of
from derive.question.emitted.asked import DERIVED, Asked, derivative_parts, each, plain
from derive.question.emitted.convolved import WindowFormulas
from derive.question.emitted.formulas import Formulas
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Token
from derive.question.told.telling import Unread
from derive.question.told.values import Misread, Value
from derive.statement import Statement

_WEIGHTS, _BIASES = "WwVvUuAQRM", "bcde"


class Emitted(Formulas, WindowFormulas, Asked):
    """The formulas of a telling's values, one after the other."""

    def statement(self) -> Statement:
        """The statement; raises :class:`Unread` where the words leave it open."""
        told, raw = self.told, self.told.raw
        self._letters_of_messages()
        self._letters_of_weights()
        needed = self._needed()
        for value in told.values:
            if value in needed and value.made is None:
                self._given(value)
        for value in told.values:
            if value in needed and value.made not in (None, "formula", "latex"):
                self.forward.append(self._formula(value))
                self.said[self.forward[-1]] = value.words
        unused = [v for v in told.values if v not in needed and v.made not in (None, "formula")]
        if unused:
            raise Misread(f"“{unused[0].words[1]}”: what is it for")
        if left := self._left_out(needed):
            raise Unread(f"${latex_of(left[0])}$: what is it for")
        if told.depth is not None and not raw["forward"] and told.depth != (
                sum(v.made == "dense" for v in told.values)):
            raise Unread("how many layers there are")
        self._claimed()
        derive = tuple(dict.fromkeys(self._asked()))
        if not derive:
            raise Unread("what is asked for")
        self._roles()
        if "parameters" in derive and not self.parameters:
            raise Unread("which letters are parameters")
        values: dict[str, Any] = {
            "forward": (*raw["forward"], *self.forward), "functions": raw["functions"],
            "ranges": (*raw["ranges"], *self.ranges), "shapes": (*raw["shapes"], *self._shapes(), *self.shaped_besides),
            "facts": raw["facts"], "inputs": self.inputs, "parameters": self.parameters, "constants": self.constants,
            "derive": derive,
        }
        given: dict[str, Any] = {k: tuple(dict.fromkeys(v)) for k, v in values.items() if v}
        return Statement(**given, output=self.output.letter, input_size=self.input_size,
                         origin="the question's words")

    def _claimed(self) -> None:
        """A residual block adds, a gated one multiplies, labels are those of the loss; raises :class:`Unread` else."""
        told = self.told
        sets = [f.latex for f in told.formulas if r"\in" in f.latex and r"\{" in f.latex]
        signed = any(re.search(r"-\s*1|\\pm", latex) for latex in sets)
        loss = str(told.loss.options.get("name", "")) if told.loss is not None else ""
        if (signed and "cross_entropy" in loss) or (sets and not signed and loss in ("hinge", "logistic_loss")):
            raise Unread("the labels of the loss")
        written = " ".join(told.raw["forward"])
        source = re.escape(told.input.letter) if told.input is not None and told.input.letter else "x"
        letter = rf"(?:\\mathbf\s*)?\{{?{source}\}}?(?:_\{{?\w+\}}?)?\s*"
        adds = any(v.made == "sum" for v in told.values) or re.search(
            rf"[=+]\s*{letter}(?:\+|$)|\+\s*{letter}$", written)
        multiplies = any(v.made == "product" for v in told.values) or len(told.raw["forward"]) > 2 or re.search(
            r"\\odot|\(\s*(?:\\mathbf\s*\{?)?1\}?\s*-", written)
        if ("residual_block" in told.claimed and not adds) or ("gated_block" in told.claimed and not multiplies):
            raise Unread("the block: what does it add or gate")

    def _left_out(self, needed: set[Value]) -> list[str]:
        """The letters that formulas of the card define and that do not lead to the output."""
        told = self.told
        queue = [name_of(v.letter) for v in needed if v.letter and v.made not in (None, "formula")]
        queue += [name_of(v.letter) for value in needed for v in value.of if isinstance(v, Value) and v.letter]
        queue += [name_of(self.output.letter)] if self.output.letter else []
        seen: set[str] = set()
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += told.needs.get(name, ())
        return [name for name in told.needs if name not in seen]

    # --- letters --------------------------------------------------------------------------------------------------

    def _roles(self) -> None:
        lists = {"constants": self.constants, "parameters": self.parameters, "inputs": self.inputs}
        for name, role in self.told.roles.items():
            latex = latex_of(name)
            for other in lists.values():
                if latex in other:
                    other.remove(latex)
            lists[role].append(latex)

    def _letters_of_messages(self) -> None:
        """∂L/∂y of a message names the loss, and the output where the words give it no letter."""
        told = self.told
        tokens = [t for t in _tokens([told.asks, told.given]) if t.said in (Said.DERIVATIVE, Said.GRADIENT)
                  or DERIVED.fullmatch(t.formula.latex)]
        above = {top for t in tokens for latex in each(t) for top in [derivative_parts(latex)[0]] if top}
        undefined = [a for a in above if name_of(a) not in told.letters and name_of(a) not in told.in_formulas]
        if len(undefined) > 1:
            raise Unread("two losses")
        if undefined:
            self.loss_letter = undefined[0]
            self.used.add(name_of(undefined[0]))
        if told.loss is not None:
            if told.loss.letter is None:
                told.loss.letter = undefined[0] if undefined else self._free(("L", "J", "E"))
                told.letters[name_of(told.loss.letter)] = told.loss
            self.loss_letter = told.loss.letter
        for said in told.given:
            self._check_given(said)

    def _letters_of_weights(self) -> None:
        """Letters that only the question's requests name are those of the weights and biases, in their order."""
        told = self.told
        found: list[str] = []
        for token in _tokens([told.asks]):
            below = [derivative_parts(text)[1] for text in each(token)] if token.said in (
                Said.DERIVATIVE, Said.GRADIENT) else []
            derived = DERIVED.fullmatch(token.formula.latex)
            found += [derived["letter"]] if derived else [c for c in below if c] or list(token.letters)
        free = [c for c in dict.fromkeys(found)
                if name_of(c) not in told.letters and name_of(c) not in told.in_formulas]
        linear = [v for v in told.values if v.made == "dense"]
        self._shared_out([c for c in free if plain(c)[0] in _WEIGHTS], linear, "weights")
        self._shared_out([c for c in free if plain(c)[0] in _BIASES],
                         [v for v in linear if v.options.get("bias", True)], "bias")
        if len(linear) > 1 and not any("weights" in v.options or v.options.get("units") == "1" for v in linear):
            for n, value in enumerate(linear, 1):
                self._numbered(value, "weights", f"W_{n}")
                self._numbered(value, "bias", f"b_{n}")
        inputs = [c for c in free if plain(c)[0] in "xX"]
        if told.input is not None and told.input.letter is None and len(inputs) == 1:
            told.input.letter = inputs[0]
            told.letters[name_of(inputs[0])] = told.input

    def _shared_out(self, letters: list[str], linear: list[Value], key: str) -> None:
        nameless = [v for v in linear if not isinstance(v.options.get(key), str)]
        if letters and len(letters) == len(nameless):
            for value, letter in zip(nameless, sorted(letters, key=_label), strict=True):
                value.options |= {key: letter, "asked": key == "weights" or value.options.get("asked", False)}
                self.told.letters[name_of(letter)] = Value(letter)

    def _numbered(self, value: Value, key: str, letter: str) -> None:
        """W_1, b_1 of the first of several layers, where no letter is said."""
        if value.options.get(key, True) is True and name_of(letter) not in self.used:
            value.options |= {"weights": letter, "asked": True} if key == "weights" else {}
            if key == "bias" and (value.options.get("units") != "1" or "bias" in value.options):
                value.options["bias"] = letter

    def _check_given(self, said: Any) -> None:
        """The upstream gradient is that of the output; a letter that nothing else has is the output's."""
        told, output = self.told, self.output
        if isinstance(said, tuple):
            for item in said:
                self._check_given(item)
        elif isinstance(said, Token):
            latex = said.formula.latex
            derived = DERIVED.fullmatch(latex)
            below = derived["letter"] if derived else derivative_parts(latex)[1]
            if below is None:
                raise Unread("what is given")
            self._is_output(below)
        elif said.kind == "upof":
            of = said[0]
            if of.kind == "upletter" and of[0] is not None:
                self._is_output(of[0].letters[0])
            elif of.kind == "upvalue" and told.value(of[0]) is not output:
                raise Unread("the gradient given is not that of the output")
        elif said.kind != "upstream":
            raise Unread("what is given")

    def _is_output(self, letter: str) -> None:
        output = self.output
        name = name_of(plain(letter))
        if output.letter is None and name not in self.told.letters:
            output.letter = plain(letter)
            self.told.letters[name] = output
        if output.letter is None or name_of(output.letter) != name:
            raise Unread(f"∂/∂{letter} is given, and it is not the output")

    def _needed(self) -> set[Value]:
        """What the output is made of."""
        needed: set[Value] = set()
        queue: list[Value | None] = [self.output]
        while queue:
            value = queue.pop()
            if value is None or value in needed:
                continue
            needed.add(value)
            queue += [v for v in value.of if isinstance(v, Value)]
            if value.made == "formula":
                needs = self.told.needs.get(name_of(value.letter or ""), set())
                queue += [v for name, v in self.told.letters.items() if name in needs]
        return needed

    # --- shapes ---------------------------------------------------------------------------------------------------


def _label(latex: str) -> tuple[str, str]:
    base, _, label = latex.partition("_")
    return label.strip("{}"), base


def _tokens(said: Any) -> Iterator[Token]:
    if isinstance(said, Token):
        if said.kind == "formula":
            yield said
    elif isinstance(said, Say):
        for item in said.of:
            yield from _tokens(item)
    elif isinstance(said, (list, tuple)):
        for item in said:
            yield from _tokens(item)
