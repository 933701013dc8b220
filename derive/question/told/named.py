r"""Layers that words name between a question's formulas, as their formulas: “a ReLU maps $a$ to $z$” is z = max(0, a).

A clause says what goes in, which layer, what comes out; its letters are those of the catalogue's formulas. The clause
is put into the formulas of its layer, and the question is then read as one that writes them. A clause is read whole or
not at all, and what stands beside it in its sentence may do nothing more. Where a value has no letter, it is the one
that comes before, or the one that another clause calls by the same noun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from derive.card import Card
from derive.layers import compose
from derive.layers.chain import Part
from derive.layers.samples import Samples
from derive.notation.symbols import name_of
from derive.question.sentences.actions import Say
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Token, sentences
from derive.question.told.clauses import Clause, clauses_in, of
from derive.question.told.named_values import Value
from derive.question.told.named_windows import NORMS, Windows
from derive.question.told.options import Named
from derive.question.told.state import pairs
from derive.question.told.values import Unread
from derive.question.words.lexicon import spans
from derive.question.words.prose import Prose
from derive.sections import lines_of

_HEAD = frozenset({"name", "over", "act"})
_APPLIED = frozenset({"sigmoid", "tanh", "relu", "softplus", "softmax"})  # as formulas write them
_SUBSCRIPT = re.compile(r"_\s*(?:\{([^{}]*)\}|(\\?[A-Za-z]))")


def with_formulas(card: Card, prose: Prose) -> tuple[Card, tuple[str, ...]]:
    """The card with formulas in place of the clauses that name layers, and how these were read.

    Raises :class:`Unread` where no clause names one, or where it is open what goes in or comes out.
    """
    clauses = clauses_in(sentences(prose))
    if not clauses:
        raise Unread("no clause names a layer")
    writing = Writing(prose, clauses)
    texts = [writing.text(clause) for clause in clauses]
    writing.refuse_loose()
    question, said = card.question, []
    for clause, (lead, formulas) in reversed([*zip(clauses, texts, strict=True)]):
        start, stop = _place(clause, prose)
        written = ", ".join(f"${formula}$" for formula in formulas)
        if formulas:
            said.append(f"layer ({prose.said(clause.tokens[clause.first].start, clause.end)}): {written}")
        question = question[:start] + lead + written + question[stop:]
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :]), tuple(reversed(said))


def _place(clause: Clause, prose: Prose) -> tuple[int, int]:
    """From the first character to behind the last, in the source."""
    origin = (*prose.plain.origin, len(prose.plain.source))
    return origin[clause.tokens[clause.first].start], origin[min(clause.end, len(origin) - 1)]


class Writing(Windows):
    """The formulas of clauses, one after the other."""

    def text(self, clause: Clause) -> tuple[str, list[str]]:
        """What the letters of the clause are, in words, and its formulas."""
        self.pass_formulas(clause)
        parts = clause.parts
        beside = of(parts.get("beside"))
        if isinstance(beside.get("letter"), Token):
            self.call(beside.get("noun"), self.letter(beside["letter"]))
        match clause.said.kind:
            case "result":
                if self.current is None or self.current.letter != self.letter(parts["out"]):
                    raise Unread("the result of what")
                return "so", []
            case "unit":
                formulas, mentioned = self.unit(clause)
            case "named":
                formulas, mentioned = self.layer(clause, parts["by"])
            case "scaled":
                formulas, mentioned = self.scaled(clause, of(parts["by"]))
            case "added":
                formulas, mentioned = self.added(clause)
            case "reduced":
                op = parts.get("op") or of(parts["by"])["name"]
                formulas, mentioned = self.reduced(clause, str(op), of(parts.get("over")).get("index"))
            case "summed":
                of_letters = Say("nlayer", (("name", "linear"), parts.get("with"), parts.get("more")))
                own = tuple(one for one in clause.said.of if one is not None and one[0] not in ("with", "more"))
                formulas, mentioned = self.layer(replace(clause, said=Say("named", own)), of_letters)
            case "classes":
                scores = Say("named", (*clause.said.of, ("out", Say("val", (("noun", "scores"),)))))
                formulas, mentioned = self.layer(replace(clause, said=scores), Say("nlayer", (("name", "linear"),)))
            case "cost" | "compared":
                formulas, mentioned = self.cost(clause, parts["by"])
        formulas, self.stated = self.stated + formulas, []
        return "with " + ", ".join(mentioned) + ", " if mentioned else "", formulas

    def layer(self, clause: Clause, said: Say) -> tuple[list[str], list[str]]:
        parts: dict[str, Any] = dict(one for one in said.of if isinstance(one, tuple) and one[0] in _HEAD)
        name = str(parts["name"])
        options = [Say("opts", (one,)) if isinstance(one, tuple) and isinstance(one[0], str) else one for one in (
            *said.of, clause.parts.get("with")) if one and isinstance(one, (Say, tuple)) and one[0] not in _HEAD]
        taken = [one for one in _flat(options) if one.kind == "wletter" and _role(of(one)["noun"], name) == "input"]
        if len(taken) + ("in" in clause.parts) > 1:
            raise Unread("two inputs")
        options = [one for one in _flat(options) if one not in taken]
        source = self.value(Say("val", taken[0].of) if taken else clause.parts.get("in"), clause)
        if name_of(source.letter) in self.losses():
            raise Unread("a layer behind the loss")
        named = Named()
        named.layer(name)
        mentioned = self.mention(source)
        letters: dict[str, tuple[Token, str]] = {}
        for one in _flat(options):
            if one.kind == "wletter":
                what = of(one)
                key = _role(what["noun"], name)
                letters[key] = what["letter"], what["noun"]
                named.once(named.layers[0][1], key, self.letter(what["letter"]))
                mentioned.append(_called(what["noun"], self.written[what["letter"].start], key))
            else:
                for key, value in pairs(one):
                    named.option(key, value)
        if named.waiting or {"share", "extent"} & {*named.layers[0][1]}:  # numbers that are held against nothing here
            raise Unread("an option of what")
        if name == "linear" and "bias" not in named.layers[0][1]:
            self.refuse_bias(clause, named)
        (part,) = named.chain()
        letter, noun = self.output(clause.parts.get("out"), clause)
        axes: tuple[str, ...] | None
        if source.latex:
            formulas, axes = [self.of_formula(part, source, clause.parts.get("out"), letter)], None
        elif name == "linear" and "act" in parts:
            formulas, axes = self.linear(part, source, inner := self.free(), letters)
            behind, _ = self.of_entries(Part(str(parts["act"])), Value(inner, axes), letter, None)
            formulas, name = formulas + behind, str(parts["act"])
        elif name == "linear":
            formulas, axes = self.linear(part, source, letter, letters)
        elif name == "pool":
            formulas, axes = self.pooled(dict(part.given), source, letter, part.name.partition("_")[0],
                                        clause.parts.get("out"))
        elif name in NORMS:
            formulas, axes = self.normalised(part, source, letter)
            mentioned += [f"constant ${part.given['epsilon']}$"] * isinstance(part.given["epsilon"], str)
        else:
            formulas, axes = self.of_entries(part, source, letter, parts.get("over"))
        self.makes(clause, letter, noun, axes, name)
        return formulas, mentioned

    def of_formula(self, part: Part, source: Value, out: Any, letter: str) -> str:
        r"""z = \operatorname{sigmoid}(V x + S h)"""
        if part.name not in _APPLIED or part.given:
            raise Unread("the layer of a formula")
        token = of(out).get("letter")
        written = self.written[token.start] if isinstance(token, Token) and _SUBSCRIPT.search(
            self.written[token.start]) else letter
        return rf"{written} = \operatorname{{{part.name}}}\left({source.latex}\right)"

    @staticmethod
    def refuse_bias(clause: Clause, named: Named) -> None:
        """A linear map has no bias; raises :class:`Unread` for a layer of which nothing says whether it has one."""
        words = {t.text for t in clause.tokens[clause.first : clause.last]}
        if "linear" not in words or words.isdisjoint(words_of("en", "LINEAR_HEADS")):
            raise Unread("a layer's bias")
        named.option("bias", "no")

    def linear(self, part: Part, source: Value, letter: str, letters: dict[str, tuple[Token, str]]) -> tuple[
            list[str], tuple[str, ...]]:
        """s = Σ w x + b of a vector of weights, s_k = Σ W x + b of a matrix; what numbers samples stays."""
        token, noun = letters.get("weights", (None, ""))
        symbol = self.table.named(name_of(self.letter(token))) if token is not None else None
        weights = len(symbol.axes) if symbol is not None else 0
        if "matrix" in noun or "vector" in noun:
            said = 2 if "matrix" in noun else 1
            if weights not in (0, said):
                raise Unread("the shape of the weights")
            weights = said
        given = source.axes or ()
        out = self.table.named(name_of(letter))
        known = tuple(out.axes) if out is not None else ()
        index = _index(source.token)
        vector = "vector" in source.noun and len(index) == 1 and index[0] in known
        own = len(given) + 1 if vector else max(1, len(given))
        if not given and source.letter.isupper() or own > 2:
            raise Unread("the rows of the input")
        samples = given[: own - 1]
        if not weights:
            weights = 1 + len(known) - len(samples) if known else 0
        if weights not in (1, 2) or known and len(known) != len(samples) + weights - 1 or (
                samples and (not known or known[0] != samples[0])):
            raise Unread("the axes of what comes out")
        if weights == 1:
            part = replace(part, given={**part.given, "units": 1})
        composed = compose([part], rank=1, letters=self.letters(source.letter, letter),
                           samples=Samples(self.extent(samples[0]), "") if samples else None)
        return [*composed.formulas], known or (*samples, *("k",) * (weights - 1))

    def of_entries(self, part: Part, source: Value, letter: str, over: Any) -> tuple[list[str], tuple[str, ...]]:
        """A layer of which what comes out has the axes of what goes in."""
        out = self.table.named(name_of(letter))
        axes = source.axes or (tuple(out.axes) if out is not None else ())
        if part.name == "softmax" and not axes:
            axes = ("k",)
        if part.name == "softmax" and len(axes) > 1 and (
                not isinstance(over, Token) or _index_said(over) != axes[-1]) or isinstance(over, Token) and (
                part.name != "softmax" or _index_said(over) != axes[-1]):
            raise Unread("over which axis")
        if out is not None and out.axes and len(out.axes) != len(axes):
            raise Unread("the axes of what comes out")
        composed = compose([part], rank=len(axes), letters=self.letters(source.letter, letter))
        return [*composed.formulas], axes

    def unit(self, clause: Clause) -> tuple[list[str], list[str]]:
        r"""u_i = x_i / \|x\|"""
        source = self.value(clause.parts["in"], clause)
        letter, noun = self.output(clause.parts.get("out"), clause)
        if len(source.axes or ()) > 1 or source.letter.isupper():
            raise Unread("the length of what")
        mentioned = self.mention(source)
        index, other = [c for c in "ijklm" if c not in self.taken][:2]
        self.makes(clause, letter, noun, (index,), "unit")
        x = source.letter
        text = rf"{letter}_{{{index}}} = \frac{{{x}_{{{index}}}}}{{\sqrt{{\sum_{{{other}}} {x}_{{{other}}}^2}}}}"
        return [text], mentioned


def _index(token: Token | None) -> tuple[str, ...]:
    """The letters of the first subscript: n of x_n."""
    found = _SUBSCRIPT.search(token.formula.latex) if token is not None and token.formulas else None
    return tuple(re.findall(r"[A-Za-z]", found[1] or found[2])) if found else ()


def _index_said(token: Token) -> str:
    return token.formula.latex.strip()


def _role(noun: str, name: str) -> str:
    """What of its layer a noun calls."""
    words = noun.split()
    rows = {"input": "TAKEN", "bias": "BIASES", "slope": "SLOPES", "gain": "GAINS", "shift": "SHIFTS"}
    for key, row in rows.items():
        if not words_of("en", row).isdisjoint(words) and not (key == "bias" and name != "linear"):
            return key
    if name == "linear" and words[-1] in words_of("en", "WEIGH"):
        return "weights"
    raise Unread(f"“{noun}”")


def _called(noun: str, latex: str, role: str) -> str:
    """«weight matrix $W$»: as the card calls it, and as what."""
    own = {"weights": "weight", "bias": "bias"}.get(role, "")
    known = not own or own in noun or any(s.concept.startswith(f"letter.{own}") for s in spans(noun, "letter"))
    return f"{'' if known else own + ' '}{noun} ${latex}$"


def _flat(said: Any) -> Iterator[Say]:
    for one in said:
        if isinstance(one, Say):
            yield one
        elif isinstance(one, (tuple, list)):
            yield from _flat(one)
