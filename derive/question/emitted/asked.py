"""What a telling's requests ask for, as derivatives and kinds of messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from derive.notation.rules.kinds import Said
from derive.notation.symbols import name_of
from derive.question.emitted.lettered import Lettered
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Token
from derive.question.told.values import Unread

DERIVED = re.compile(r"\s*d\s*(?P<letter>\\?[A-Za-z]+(?:_\{?\w+\}?)?)\s*")
_ACCENTS = re.compile(r"\\(?:mathbf|boldsymbol|bm|mathrm|mathcal|vec)\s*\{?\s*([A-Za-z]|\\[A-Za-z]+)\s*\}?")
_ABOVE = re.compile(r"\\[dt]?frac\s*\{\s*\\partial\s*(.+?)\s*\}\s*\{\s*\\partial\s*(.+)\}\s*$"
                    r"|\\partial\s*(.+?)\s*/\s*\\partial\s*(.+)$", re.DOTALL)
_NABLA = re.compile(r"\\nabla_(?:\{(?P<a>.+?)\}|(?P<b>\\?\w+))\s*(?P<of>.*)$", re.DOTALL)

_PLACES = {"first": 0, "hidden": 0, "second": 1, "output": 1, "last": 1, "final": 1}
_INPUTS = ("image", "signal", "featuremap", "input sequence", "sequence", "input signal")
_KERNELS = frozenset("kernel filter taps tap".split()) | {
    f"{of} {what}" for of in ("kernel", "filter", "convolution")
    for what in ("weights", "taps", "coefficients", "entries", "kernel", "filter")}
_NOUNS = {"feature matrix": "input", "feature map": "featuremap", "image": "input", "data matrix": "input"}


class Asked(Lettered):
    """The part of an emission that reads requests."""

    def _asked(self) -> Iterator[str]:
        if not self.told.asks:
            raise Unread("what is asked for")
        for said in self.told.asks:
            match said.kind:
                case "messages":
                    kinds = said[0] if isinstance(said[0], tuple) else (said[0],)
                    every = ("forward", "backward", *(["parameters"] if self.parameters else ()))
                    named = (every if kind.kind == "all" else (kind.kind,) for kind in kinds)
                    yield from dict.fromkeys(k for some in named for k in some)
                case "named":
                    for letter in said[0] if isinstance(said[0], tuple) else (said[0],):
                        yield from self._by(Say("wrtletters", (letter,)), None)
                case "noungrads":
                    yield from self._by(Say("wrtnoun", (said[0],)), None)
                case "messagesin":
                    kinds = said[0] if isinstance(said[0], tuple) else (said[0],)
                    linear = [v for v in self.told.values if v.made in ("dense", "conv")]
                    if [k.kind for k in kinds] != ["parameters"] or len(linear) != 1:
                        raise Unread("the messages of one layer of several")
                    yield "parameters"
                case "messages_forward":
                    yield "forward"
                case "messages_jacobian":
                    yield "jacobian"
                case "messages_vjp" | "asks_back" | "grads_input":
                    yield "backward"
                case "grads":
                    yield from self._by(said[0], None)
                case "gradsof":
                    yield from self._by(said[0], letter_of(said[1]) if said[1] is not None else None)
                case "derivs":
                    for token in said[0]:
                        yield from (self._derivative(token, latex) for latex in each(token))
                case "besides" | "skip" | "case":
                    continue
                case _:
                    raise Unread(f"“{said.kind}”")

    def _derivative(self, token: Token, latex: str) -> str:
        if derived := DERIVED.fullmatch(latex):
            return self._quotient_of(derived["letter"])
        if token.said is Said.GRADIENT:
            raise Unread(f"${latex}$")
        below = derivative_parts(latex)[1]
        if below is not None and not self._known(plain(below)):
            raise Unread(f"${latex}$")
        return latex

    def _known(self, letter: str) -> bool:
        name = name_of(plain(letter))
        return name in self.told.letters or name in self.told.in_formulas

    def _quotient_of(self, letter: str) -> str:
        return rf"\frac{{\partial {self.loss_letter}}}{{\partial {letter}}}"

    def _by(self, wanted: Any, loss: str | None) -> Iterator[str]:
        if loss is not None and name_of(loss) != name_of(self.loss_letter):
            raise Unread(f"the derivative of ${loss}$")
        for said in wanted if isinstance(wanted, tuple) else (wanted,):
            yield from map(self._quotient_of, self._letters_by(said))

    def _letters_by(self, said: Say) -> Iterator[str]:
        """The letters by which is differentiated."""
        source = self.told.input
        lists = {"weights": self.weights, "biases": self.biases, "parameters": self.parameters,
                 "input": [source.letter] if source is not None and source.letter else []}
        match said.kind:
            case "wrtletter" | "wrtletters":
                for letter in said[0].letters:
                    if not self._known(letter):
                        raise Unread(f"the derivative by ${letter}$")
                    yield letter
            case "wrtinput":
                yield from _some(lists["input"])
            case "wrtnoun" | "wrtnouns" | "wrtnoun2":
                for noun in said.of or (Say("weights"), Say("biases")):
                    if isinstance(noun, Say):
                        yield from _some(lists[noun.kind])
            case "wrtsome":
                found, which = _some(lists[said[0].kind]), str(said[1]).split()
                places = {_PLACES[word] for word in which if word in _PLACES}
                if not places and len(found) == 1:
                    yield found[0]
                    return
                if len(places) != 1 or len(found) != 2 and said[0].kind != "input":
                    raise Unread(f"“{said[1]}”")
                yield found[places.pop() if len(found) == 2 else 0]
            case "wrtthing" | "wrtword" | "wrtthat":
                letter = said[1] if isinstance(said[1], Token) else None
                if letter is not None:
                    yield letter.letters[0]
                    return
                noun = said[0].kind if isinstance(said[0], Say) else _NOUNS.get(said[0], said[0])
                if noun == "thing":
                    raise Unread("the derivative by what")
                if noun in _INPUTS and noun not in self.told.nouns:
                    yield from _some(lists["input"])
                    return
                if noun.startswith("pooled"):
                    yield from _some([v.letter for v in self.told.values if v.made == "pool" and v.letter])
                    return
                if noun in _KERNELS:
                    yield from _some([v.options["weights"] for v in self.told.values if v.made == "conv"])
                    return
                value = self.told.ref(noun)
                if value.letter is None:
                    raise Unread("the derivative by what has no letter")
                yield value.letter
            case _:
                raise Unread(f"“{said.kind}”")


def _some(letters: list[str]) -> list[str]:
    if not letters:
        raise Unread("the derivative by what is not there")
    return letters


def letter_of(token: Token) -> str:
    """L of L(w)."""
    return token.letters[0] if token.letters else token.formula.latex.partition("(")[0].replace(r"\left", "").strip()


def each(token: Token) -> list[str]:
    """The derivatives of a list in one formula."""
    found, depth = [""], 0
    for char in token.formula.latex.strip().rstrip(".,;"):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [text.removesuffix("\\quad").strip(" ~") for text in found if text.strip(" ~")]


def plain(latex: str) -> str:
    """A letter without its font and its index."""
    latex = _ACCENTS.sub(r"\1", latex).strip().strip("{}").strip()
    return re.sub(r"_\{?[a-z]{1,3}\}?$", "", latex)


def derivative_parts(latex: str) -> tuple[str | None, str | None]:
    """Above and below of a derivative: L and W of ∂L/∂W."""
    latex = latex.strip().rstrip(".,;")
    latex = latex if latex.startswith("\\") else latex.partition("=")[-1].strip()
    if match := _ABOVE.match(latex):
        above, below = (match[1], match[2]) if match[1] else (match[3], match[4])
        return plain(above), plain(below)
    if match := _NABLA.match(latex):
        return (plain(match["of"]) or None), plain(match["a"] or match["b"])
    return None, None
