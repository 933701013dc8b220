"""The values that clauses name: letters of the card with their axes, nouns that call them, and what was made last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from derive.notation import gather
from derive.notation.rules.kinds import Said
from derive.notation.symbols import Kind, latex_of, name_of
from derive.question.emitted.asked import derivative_parts, each
from derive.question.sentences.actions import Say
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Token, sentences
from derive.question.told.clauses import Clause, is_equation, of
from derive.question.told.state import heads
from derive.question.told.values import Unread
from derive.question.words.prose import Prose
from derive.records import dataclass

_GOES_ON = words_of("en", "GOES_ON_WITH")
_FIRST = re.compile(r"(.+?)_\{?\d+\}?$")
_NEAR = 4  # words
_CALLED_SO = frozenset("is are the a an vector matrix number signal sequence called denoted by its".split())


@dataclass(frozen=True)
class Value:
    """A letter, its axes where they are known, the noun that calls it, and by what it was made."""

    letter: str = ""
    axes: tuple[str, ...] | None = None
    noun: str = ""
    made: str = ""
    token: Token | None = field(default=None, hash=False)
    latex: str = ""  # of a formula without a letter of its own: V x + S h


class Values:
    """What clauses have named so far: letters, nouns, and the value that was made last."""

    def __init__(self, prose: Prose, clauses: Sequence[Clause]) -> None:
        self.prose, self.clauses = prose, clauses
        self.table = gather(prose.formulas)
        self.written = {t.start: t.formula.latex.strip() for tokens in sentences(prose) for t in tokens if t.formulas}
        self.taken = [s.latex for s in self.table.symbols if s.kind is not Kind.INDEX]
        self.defined = {name: f.latex for f in prose.formulas if Token("formula", "", 0, (f,)).equates
                        for name in heads(f)}
        equations = [f for f in prose.formulas if Token("formula", "", 0, (f,)).equates]
        self.written_names = {s.name for s in gather(equations).symbols}
        self.nouns: dict[str, str] = {}  # the letter that a noun calls
        self.made: dict[str, str] = {}  # by which layer
        self.used: set[str] = set()
        self.axes: dict[str, tuple[str, ...]] = {}
        self.current: Value | None = None
        self.stated: list[str] = []  # the equation that stands in a clause
        self.behind_all = ""  # what went into the last layer
        self.waiting: set[str] = set()  # nouns of what no clause has made so far

    def refuse_loose(self) -> None:
        """Raise :class:`Unread` for what goes in and nothing makes, and for what is made and goes nowhere."""
        written = " ".join(self.defined.values())
        loose = [name for name in self.made if name not in self.used | self.written_names and not stands(
            latex_of(name), written)]
        last = self.current is not None and loose == [name_of(self.current.letter)]
        if self.waiting or loose and not last:
            raise Unread("what goes into which layer")
        if loose and self.table.named(loose[0]) is None and self.made[loose[0]] != "loss" and self.behind_all in {
                name_of(below) for _, below in self.derived() if below}:
            raise Unread(f"what arrives at ${latex_of(self.behind_all)}$")

    # -- values --------------------------------------------------------------------------------------------------------

    def pass_formulas(self, clause: Clause) -> None:
        """What comes before the clause: the letter that a formula in front of it defines, and no other uses."""
        before = self.current.token.start if self.current is not None and self.current.token is not None else -1
        at = clause.tokens[clause.first].start
        tokens = [t for own in sentences(self.prose) for t in own if t.start < at and is_equation(t)]
        if not any(t.start > before for t in tokens):
            return
        known = {name: (t, f) for t in tokens for f in t.formulas for name in heads(f)}
        needs = {name: {s.name for s in gather([f]).symbols} - {name} for name, (_, f) in known.items()}
        used = self.used.union(*needs.values())
        last = [name for name in known if name not in used]
        self.current = self.known(latex_of(last[0]), known[last[0]][0]) if len(last) == 1 else None

    def known(self, latex: str, token: Token | None = None, noun: str = "") -> Value:
        name = name_of(latex)
        symbol = self.table.named(name)
        axes = self.axes.get(name, symbol.axes if symbol is not None else None)
        return Value(latex, axes, noun, self.made.get(name, ""), token)

    def value(self, said: Say | None, clause: Clause) -> Value:
        """What goes in: a letter, what a noun calls, or what comes before."""
        parts = of(said)
        if isinstance(count := parts.get("count"), Token) and not self.is_size(count):
            raise Unread(f"“{count}”")
        if isinstance(formula := parts.get("value"), Token):
            self.used |= {s.name for s in gather(formula.formulas).symbols}
            return Value(latex=formula.formula.latex.strip(), token=formula)
        if isinstance(equation := parts.get("equation"), Token) and len(defined := heads(equation.formula)) == 1:
            self.stated.append(equation.formula.latex.strip())
            self.call(parts.get("noun"), latex_of(defined[0]))
            found = self.known(latex_of(defined[0]), None, parts.get("noun", ""))
        elif isinstance(token := parts.get("letter"), Token):
            found = self.known(self.letter(token), token, parts.get("noun", ""))
            if "log" in found.noun.split():
                raise Unread(f"“{found.noun}”")
            self.call(parts.get("noun"), found.letter)
        elif (noun := _own(parts.get("noun"))) and noun in self.nouns:
            found = self.known(self.nouns[noun], None, noun)
        elif noun and (self.current is None or not self.is_next(noun)):
            letter = self.free()
            self.waiting.add(letter)
            self.call(noun, letter)
            found = self.known(letter, None, noun)
        elif self.current is not None or (only := self.only_letter(clause)) is None:
            called = self.called_by("input", "inputs") if self.current is None else None
            if self.current is None and called is None:
                raise Unread("what goes in")
            found = self.current if called is None and self.current is not None else self.known(called or "")
        else:
            found = only
        self.used.add(name_of(found.letter))
        self.behind_all = name_of(found.letter)
        return found

    def only_letter(self, clause: Clause) -> Value | None:
        """The one letter that the text in front of the first clause names: «let $x_{nc}$ be the features»."""
        at = clause.tokens[clause.first].start
        told = [t for own in sentences(self.prose) for t in own if t.start < at and t.formulas and t.letters]
        found = {self.letter(t): t for t in told if (s := self.table.named(name_of(self.letter(t)))) is not None and
                 s.kind is Kind.TENSOR}
        return self.known(*found.popitem()) if len(found) == 1 else None

    def called_by(self, *nouns: str) -> str | None:
        """$x$ of «its input is the vector $x$», «takes the input vector $x$»: one letter that is called so."""
        found: dict[str, None] = {}
        for own in sentences(self.prose):
            for n, token in enumerate(own):
                before = [t.text for t in own[max(0, n - _NEAR) : n]]
                at = max((m for m, text in enumerate(before) if text in nouns), default=None)
                if token.formulas and token.letters and at is not None and {*before[at + 1 :]} <= _CALLED_SO:
                    found[self.letter(token)] = None
        return next(iter(found)) if len(found) == 1 else None

    def letter(self, token: Token) -> str:
        r"""The letter that a formula names, with a label where the card's formulas have it so: x_t, W_c."""
        written = self.written.get(token.start, "")
        labelled = self.table.named(name_of(re.sub(r"(\\[a-z]+) ([A-Za-z])", r"\1{\2}", written)))
        return labelled.latex if labelled is not None and labelled.kind is Kind.TENSOR else letter_of(token)

    def is_size(self, token: Token) -> bool:
        symbol = self.table.named(name_of(letter_of(token)))
        return symbol is None or symbol.kind is Kind.SIZE

    def is_next(self, noun: str) -> bool:
        """«the logits», «these scores»: of what comes before, where it has no noun of its own."""
        assert self.current is not None
        return not self.current.noun or self.current.noun.split()[-1] == noun.split()[-1]

    def call(self, noun: str | None, letter: str) -> None:
        if noun and self.nouns.setdefault(noun, letter) != letter:
            raise Unread(f"“{noun}”")

    def output(self, said: Say | None, clause: Clause) -> tuple[str, str]:
        """The letter of what comes out, and its noun."""
        parts = of(said)
        token, noun = parts.get("letter", clause.behind), _own(parts.get("noun")) or ""
        noun = "" if noun.endswith("function") else noun  # «its activation function is …»
        if isinstance(token, Token):
            letter = self.letter(token)
        elif noun in self.nouns and self.nouns[noun] in self.waiting:
            letter = self.nouns[noun]
        else:
            named, own = self.result_behind(clause), clause.tokens[clause.first : clause.last]
            if named is None and not noun and self.behind_all in self.defined and _GOES_ON.isdisjoint(
                    t.text for t in own):
                raise Unread("is it the layer of the formula, or one behind it")
            last = clause.tokens is self.clauses[-1].tokens and clause.first == self.clauses[-1].first
            letter = named or last and self.called_by("output", "outputs") or self.free()
        self.waiting.discard(letter)
        if name_of(letter) in self.defined or name_of(letter) in self.made:
            raise Unread(f"${letter}$ is computed by a formula")
        if noun and noun.split()[-1] in words_of("en", "TAKEN"):
            raise Unread(f"“{noun}”")
        self.call(noun, letter)
        return letter, noun

    def result_behind(self, clause: Clause) -> str | None:
        """$u$ of «Call the result $u$.» in the next clause."""
        n = next(n for n, one in enumerate(self.clauses) if (one.tokens, one.first) == (clause.tokens, clause.first))
        after = self.clauses[n + 1] if n + 1 < len(self.clauses) else None
        if after is None or after.said.kind != "result":
            return None
        if _own(after.parts.get("noun")) not in (None, of(clause.parts.get("out")).get("noun")):
            raise Unread("the result of what")
        return self.letter(after.parts["out"])

    def free(self) -> str:
        for letter in "shuqvrzg":
            if letter not in self.taken and self.table.named(letter) is None:
                self.taken.append(letter)
                return letter
        raise Unread("a free letter")

    def derived(self) -> Iterator[tuple[str | None, str | None]]:
        """L and w of each ∂L/∂w that the card writes."""
        for token in (Token("formula", "", 0, (f,)) for f in self.prose.formulas):
            if token.said is Said.DERIVATIVE:
                yield from map(derivative_parts, each(token))

    def makes(self, clause: Clause, letter: str, noun: str, axes: Sequence[str] | None, made: str) -> None:
        name = name_of(letter)
        self.made[name] = made
        if axes is not None:
            self.axes[name] = tuple(axes)
        self.current = replace(self.known(letter, clause.tokens[clause.last - 1], noun))

    def mention(self, value: Value) -> list[str]:
        """«feature vector $x$», of what no formula computes."""
        name = name_of(value.letter)
        if value.latex or value.token is None or name in {*self.defined, *self.made} or value.letter in self.waiting:
            return []
        return [f"{value.noun or 'input'} ${self.written[value.token.start]}$"]

    def letters(self, source: str, output: str) -> dict[str, Any]:
        bound = [c for c in self.taken if c not in (source, output)]
        return {"input": source, "output": output, "reserved": bound}

    def extent(self, index: str) -> str:
        """N of an index that counts from 1."""
        first, last = self.range_of(index)
        return last if first == "1" else ""

    def range_of(self, index: str) -> tuple[str, str]:
        r"""1 and N of n = 1, \dots, N, where the card says it."""
        text = " ".join(f.latex for f in self.prose.formulas)
        own, stop = rf"(?<![A-Za-z\\]){re.escape(index)}\s*", r"(\d+|[A-Za-z](?:\s*-\s*1)?)(?![\w\\])"
        listed = rf"{own}=\s*(\d+)\s*,(?:\s*\d+\s*,)*\s*\\[lc]?dots\s*,\s*{stop}"
        found = {(a, b.replace(" ", "")) for written in (
            listed, rf"{own}=\s*(\d+)\s*\}}\s*\^\s*\{{?\s*{stop}") for a, b in re.findall(written, text)}
        if len(found) > 1:
            raise Unread(f"two extents of {index}")
        return found.pop() if found else ("", "")


def _own(noun: str | None) -> str | None:
    """The noun, unless it calls whatever comes before."""
    return None if noun is None or noun in words_of("en", "GENERIC") else noun


def letter_of(token: Token) -> str:
    r"""\pi of \pi_1, \dots, \pi_E."""
    letters = {(m[1] if (m := _FIRST.match(c)) else c) for c in token.letters}
    if len(letters) != 1:
        raise Unread(f"${token.formula.latex.strip()}$")
    return letters.pop()


def stands(letter: str, latex: str) -> bool:
    """The letter stands in the formula."""
    return re.search(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])", latex) is not None
