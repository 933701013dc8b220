"""What a question asks for: messages in words, derivatives by letters, or the list of ``derive``."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Node, Partial, walk
from derive.layers.forward import WindowForm
from derive.limits import MOST_ASKED
from derive.notation import write
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates, is_case
from derive.notation.symbols import Kind, SymbolTable, name_of
from derive.notation.tree import Scripted, is_derivative, is_torn_derivative
from derive.question.letters.naming import letters_of, written_letters
from derive.question.requests.adjoints import asked_messages
from derive.question.requests.at_entry import entry_named
from derive.question.requests.of_what import is_spelt_out, letter_of_noun, nouns
from derive.question.words.lexicon import Span, ends, last_before, named, only
from derive.question.words.prose import GAP, Gap, PlainText, Prose
from derive.records import dataclass
from derive.specify.applied import arguments_of
from derive.specify.stated import KINDS
from derive.specify.wanted import NAMES, Asking, Of, Wanted, partials, spoken

_TWICE = re.compile(  # a squared letter d is none: d^2 stands above another d
    r"\\nabla\s*(?:_\s*(?:\{[^{}]*\}|\\?\w+))?\s*\^\s*\{?\s*2|\\partial\s*\^\s*\{?\s*2"
    r"|(?<![a-z])d\s*\^\s*(?:2|\{\s*2\s*\})\s*\\?\w*\s*(?:\}\s*\{|/\s*\{?)\s*d"
)


def asked_second(prose: Prose) -> tuple[str, int] | None:
    """What the question says or writes of second derivatives, and in which line; None where it does not."""
    for found in named(prose.text, "topic.second"):
        return f"“{prose.plain.quote(found.start, found.stop)}”", prose.plain.line(found.start)
    squared = next((gap.formula for gap in prose.gaps if twice(gap.formula)), None)
    return None if squared is None else (f"${squared.latex.strip()}$", squared.line)


def twice(formula: Formula) -> bool:
    return _TWICE.search(formula.latex) is not None


def begins_second(text: str, at: int) -> bool:
    """The word at this place is the derivative of «second derivative»."""
    return ends(text[:at], "slot.second")


def alone(words: str) -> bool:
    """The words speak of second derivatives and of no first one."""
    return bool(named(words, "topic.second")) and not named(words, "request.gradient", "request.jacobian")


_NABLA = re.compile(r"\s*\\nabla\s*(?P<of>\\?[A-Za-z]+)\s*(?:\([^()]*\))?\s*")  # not \nabla_x f
_NEAR = 60  # characters between a derivative and what is trained
_ORDER = ("jacobian", "vjp", "forward", "parameters")
_OF_KIND = {"backward": "vjp", "forward": "forward", "parameter": "parameters"}


@dataclass(frozen=True)
class Item:
    """A kind of message or derivative that the words name, and where."""

    kind: str
    start: int
    stop: int
    by_letters: bool  # a noun that the letters behind it say more of: «gradient», «derivative»
    at: int = -1  # what it is of, where that is in a list of letters: «the gradients by $x$ and the *weights*»


def _sentence(text: str, at: int) -> int:
    """Where the sentence around a place begins."""
    return max(text.rfind(end, 0, at) for end in ".?!;¶") + 1


def requested(text: str, at: int) -> bool:
    """A verb of asking stands before this place in its sentence."""
    verb = last_before(text, at, "ask.verb")
    return verb is not None and _sentence(text, at) <= verb.start


def discussed(text: str, at: int) -> bool:
    """The sentence around this place asks to explain or discuss, and nothing in front of the place asks to derive."""
    verb = last_before(text, at, "ask.explain")
    return verb is not None and _sentence(text, at) <= verb.start and not requested(text, at)


def besides(prose: Prose) -> Iterator[str]:
    """What is asked in prose besides, and is not answered: «explain why …», «also state the complexity»."""
    for start, stop in itertools.pairwise(dict.fromkeys(prose.ends)):
        words = prose.text[start:stop]
        asks = [s.start for s in named(words, "ask.explain") if _opens(words[: s.start])]
        asks += [0 for _ in named(words, "ask.prose")[:1] if named(words, "ask.verb")]
        if asks and not named(words, "ask.heeded"):
            first = start + min(asks) if named(words[: min(asks)], "ask.verb") else start  # «and compare» of an order
            yield f"not answered, since it asks for words or a count: {prose.said(first, stop)}"


def _opens(words: str) -> bool:
    """A verb behind these words of its sentence asks: nothing stands before it but an item's number, or «and»."""
    before = words.rstrip().rsplit(")", 1)[-1].strip(" -*,0123456789")
    return not before or bool(named(before.rsplit(" ", 1)[-1], "naming.and", "naming.also"))


def answers_in(prose: Prose, formula: Formula) -> bool:
    """«using only ∂L/∂z and $v$», «no leftover ∂L/∂μ»: the answer is written with it, and it is not asked for."""
    place = formula.line, formula.column
    at = next((gap.start for gap in prose.gaps if (gap.formula.line, gap.formula.column) == place), None)
    if at is None:
        return False
    start, _ = prose.sentence(at)
    words = prose.text[start:at].replace(GAP, " ").replace(",", " ")
    return any(only(words, span.stop, len(words), "naming.and", "naming.article", "naming.only")
               for span in named(words, "slot.written_in"))


# «for the widths, ∂y/∂β»
_FOR_WHAT = re.compile(r" for (?:the|its|all|each|every)(?: (?!and\b)[\w-]+){1,3}[,:] ?")
_NONE = re.compile(r"\bno (?:\w+ )?\Z")


class Spoken:
    """The request of a question's words, as items and as the letters beside them."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, *kinds: str) -> tuple[Span, ...]:
        """The words of these kinds, but for «there is no backward message»."""
        found = named(self.text, *(f"request.{kind}" for kind in kinds))
        return tuple(span for span in found if not _NONE.search(self.text[max(0, span.start - 30) : span.start]))

    def _starts(self, kind: str) -> dict[int, Span]:
        return {span.start: span for span in self.of(kind)}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every message and derivative that the words name, in their order."""
        found = [Item("jacobian", s.start, s.stop, self.text.startswith("d", s.start)) for s in self.of("jacobian")]
        found += [Item("vjp", s.start, s.stop, s.of("request.gradient")) for s in self.of("vjp", "back", "gradient")
                  if s.start not in self._of_trained_alone]
        found += self._messages()
        found += [Item("parameters", a.start, b.stop, b.of("request.gradient", "request.jacobian"), b.start)
                  for a, b in self._of_trained()]
        return tuple(sorted(found, key=lambda item: (item.start, item.stop)))

    def _messages(self) -> Iterator[Item]:
        """«the forward, backward and parameter messages»: each adjective of the list has the noun; else a bare noun."""
        nouns = self.of("message", "pass", "everything")
        starts = [noun.start for noun in nouns]
        taken = set()
        for adjective in self.of(*_OF_KIND):
            noun = next((n for n in nouns[bisect_left(starts, adjective.stop) :] if only(
                self.text, adjective.stop, n.start, "request.backward", "request.forward", "request.parameter",
                "between.and", "between.article")), None)
            kind = _OF_KIND[adjective.concept.partition(".")[2]]
            if noun is not None and not (noun.of("request.pass") and kind == "parameters"):
                taken.add(noun)
                if kind == "vjp" or requested(self.text, adjective.start):
                    yield Item(kind, adjective.start, noun.stop, False)
            elif kind != "parameters" and requested(self.text, adjective.start) and self._ends(adjective.stop):
                yield Item(kind, adjective.start, adjective.stop, False)  # «derive forward and backward.»
        yield from (Item("vjp", n.start, n.stop, False) for n in nouns if n not in taken and not n.of("request.pass"))

    def _ends(self, at: int) -> bool:
        words = self.text[at:].split(maxsplit=1)
        return not words or words[0][0] in ".,;:¶" or bool(named(words[0], "between.and"))

    def _of_trained(self) -> Iterator[tuple[Span, Span]]:
        """«the gradient of … the weights», «the weight update»."""
        nouns, messages = self.of("gradient", "jacobian", "message"), self._starts("message")
        stops = [noun.stop for noun in nouns]
        adjectives = {t.start for t in self.of("parameter") if t.stop + 1 in messages and self.text[t.stop] == " "}
        for trained in (t for t in self.of("trained", "filter") if t.start not in adjectives):
            far = _NEAR if trained.of("request.trained") else 20
            for noun in nouns[bisect_left(stops, trained.start - far) : bisect_left(stops, trained.start)]:
                if not set(self.text[noun.stop : trained.start]) & set(".?!;¶"):
                    yield noun, trained
        trained_by_stop = {t.stop: t for t in reversed(self.of("trained"))}
        for update in self.of("update", "gradient"):
            before = trained_by_stop.get(update.start - 1)
            if before is not None and self.text[before.stop] == " ":
                yield before, update

    @cached_property
    def _of_trained_alone(self) -> frozenset[int]:
        """Where the nouns begin that are of the parameters and of nothing else: «the gradient by all weights.»"""
        return frozenset(noun.start for noun, trained in self._of_trained() if noun.start < trained.start and only(
            self.text, noun.stop, trained.start, "between", "wrt") and self._ends_list(trained.stop))

    def _ends_list(self, at: int) -> bool:
        """Nothing but further parameters goes on behind this place: «the weight matrix and the biases.»"""
        stop = next((n for n in range(at, len(self.text)) if self.text[n] in ".;:?!¶"), len(self.text))
        return only(self.text, at, stop, "request.trained", "naming.and", "naming.article", "between.pause",
                    "rank.matrix", "rank.vector")

    @cached_property
    def whole(self) -> dict[str, bool]:
        """The roles of which all messages are asked for, «for its weights», and whether no letters follow."""
        backward, parameter = self._starts("backward"), self._starts("parameter")
        places = [("inputs", i) for i in self.items if i.kind == "vjp" and self.text[i.start : i.stop] != "backward"
                  and i.start in backward]
        places += [("parameters", i) for i in self.items if i.kind == "parameters" and i.start in parameter]
        places += [("parameters", Item("parameters", noun.start, trained.stop, False))
                   for noun, trained in self._of_trained() if not trained.of("request.filter") and only(
                       self.text.replace("∎", " "), noun.stop, trained.start, "between", "wrt")]
        found: dict[str, bool] = {}
        for role, item in places:
            spelt_out = role == "inputs" and self.text.startswith(f" {GAP}", item.stop)  # «the backward messages ∂L/∂h»
            if requested(self.text, item.start) and not spelt_out:
                found[role] = found.get(role, False) or not self._letters_follow(item.stop)
        return found

    def _letters_follow(self, at: int) -> bool:
        """«… of this layer, with respect to $W$», «… to the descriptor $x$»."""
        gap = self.text.find("∎", at)
        to = next((s.stop for s in named(self.text, "between.to") if s.start == at + 1), gap)
        noun = self.text[to:gap]
        far = len(noun.split()) > 3 or named(noun, "naming.and", "between.of", "request") or set(noun) & set(".;:?!¶")
        apart = _FOR_WHAT.fullmatch(self.text, at, gap) and not named(self.text[at:gap], "part", "request.layer")
        return gap >= 0 and (only(self.text, at, gap, "between.pause", "between.of", "wrt", "between.layer") or (
            to < gap and not far) or bool(apart))

    @cached_property
    def everything(self) -> Span | None:
        """«all messages», also «the messages of this layer»."""
        for span in self.of("everything"):
            of = next((s for s in named(self.text, "between.of") if self.text[span.stop : s.start] == " "), None)
            if of is None or any(of.stop <= w.start and only(self.text, of.stop, w.start, "between.article", "part")
                                 for w in self.of("layer")):
                return span
        return None


class AskingInWords(Asking):
    """Gathers what is wanted from words, too."""

    def by_words(self, prose: Prose, in_words: bool) -> None:
        """«the gradient with respect to $W$ and $b$», «derive the backward message».

        With ``in_words`` (the layer is named and not written) a verb of asking must stand before.
        """
        said = Spoken(prose.text)
        self.arrives = self.arrives or bool(named(prose.text, "upstream.letter"))
        self.given = self.given or self.arrives
        by_letter = [*self._by_letters(prose)]
        self._of_letters(prose, said)
        for kind in ("forward", "jacobian", "vjp", "parameters") if said.everything else ():
            assert said.everything is not None
            place = prose.plain.origin[said.everything.start]
            self._kind(kind, prose.said(said.everything.start, said.everything.stop), place)
        for kind in _ORDER:
            for item in said.items:
                if item.kind == kind and self._counts(item, prose, in_words, by_letter):
                    place = prose.plain.origin[max(item.start, item.at)]
                    self._kind(kind, prose.said(item.start, item.stop), place)
                    self.message |= kind == "vjp" and "message" in prose.text[item.start : item.stop]
                    break
        self.whole |= said.whole
        if self.named or self.of_loss or self.by_name or {*self.kinds} <= {"forward"}:
            letters = {*self.roles, *self.defined} - {self.output.tensor}
            for gap, name in asked_messages(prose, letters, not self.kinds):
                self._message_of(name, prose.plain.place(gap.formula), prose.said(gap.start, gap.start + 1))
        self._beside(prose)
        for gap in prose.gaps:
            if _derived(gap.formula) and not self.kinds and not twice(gap.formula):
                self.kinds["jacobian"] = f"asked for ${gap.formula.latex}$ (line {gap.formula.line})"
            elif (own := _NABLA.fullmatch(gap.formula.latex)) is not None and requested(prose.text, gap.start):
                self._of_nabla(own, gap, prose)
        self.everything = said.everything is not None
        self._of_arguments(prose, said)

    def _of_nabla(self, found: re.Match[str], gap: Gap, prose: Prose) -> None:
        r"""\nabla f(x) and \nabla f beside other derivatives: by the letters that f is applied to."""
        letters = arguments_of(self.output.tensor, prose.formulas)
        if name_of(found["of"]) != self.output.tensor or not (self.named or self.of_loss or self.by_name):
            return
        if not letters or not {*letters} <= self.roles.keys():
            raise CardError(Problem(f"`{gap.formula.latex}`: the derivative by which letters? Write them, as in "
                                    r"`\nabla_x f`", line=gap.formula.line, key="derive"))
        self._letters(letters, prose.said(gap.start, gap.start + 1), Of.OUTPUT, prose.plain.place(gap.formula))

    def _message_of(self, name: str, place: int, said: str) -> None:
        """δ_x is ∂L/∂x, of a loss that the card computes its derivative."""
        for derivative in self.of_name(name, Of.LOSS):
            of_loss = isinstance(derivative.of, Entry) and derivative.of.tensor == "loss"
            (self.of_loss if of_loss else self.named)[derivative] = None
            self.at(place, derivative)
        if not self.kinds:
            self.kinds["vjp"] = f"asked for the message of `{name}` ({said})"

    @property
    def beside_a_message(self) -> set[str]:
        """The letters whose derivatives are asked for beside a backward message that words ask for."""
        if not self.message:
            return set()
        return {*self.by_name} | {d.wrt.tensor for d in (*self.named, *self.of_loss) if isinstance(d.wrt, Entry)}

    def _of_arguments(self, prose: Prose, said: Spoken) -> None:
        """The gradient of J(w), with nothing further said, is the one by w."""
        letters = arguments_of(self.output.tensor, prose.formulas)
        particular = self.named or self.of_loss or self.by_name or said.everything or "parameters" in self.kinds
        derived = self.kinds.keys() & {"jacobian", "vjp"}
        others = {name for name, role in self.roles.items() if role.role != "constants"} - {*letters}
        narrower = bool(letters and others) and {*letters} <= self.roles.keys()
        if narrower and derived and not particular and not self.output.indices:
            applied = f"{self.output.tensor}({', '.join(letters)})"
            self._letters(letters, f"the question writes {applied}", Of.OUTPUT, 0)

    def _by_letters(self, prose: Prose) -> Iterator[int]:
        """Where «with respect to $W$» begins, for each letter of the layer behind it."""
        found = named(prose.text, "wrt")
        if len(found) > MOST_ASKED:
            said = prose.plain.quote(found[0].start, found[0].stop)
            raise CardError(f"the question says “{said}” {len(found):,} times, and at most {MOST_ASKED} are read")
        for by in found:
            start, stop = prose.sentence(by.start)
            before = prose.text[start : by.start]
            argued = named(before, "request.argued") and not named(before, "request.jacobian", "request.gradient",
                                                                   "request.message")
            of = self._of_letter(prose, start, by.start) or _of(before)
            ahead = next((g for g in prose.gaps if g.start + 2 == by.start), None)  # «of $y_2$ with respect to $x_1$»
            one = entry_named(ahead.formula, self.table) if ahead is not None else None
            one = one if one is not None and one.tensor in self.defined else None
            written = next((s.stop for s in named(prose.text, "slot.written_in") if s.start >= by.stop), stop)
            left = next((s.start for s in named(prose.text, "slot.leaves_list") if s.start >= by.stop), stop)
            for gap in prose.gaps if not argued and not alone(before) else ():
                told = named(prose.text[gap.start + 1 : gap.start + 6], "naming.is")  # «($b$ is a constant)»
                if by.stop <= gap.start < min(stop, written, left) and not is_case(gap.formula.tree or ()) and not (
                        told and not told[0].start > 1):
                    words = prose.said(by.start, gap.start + 1)
                    place = prose.plain.place(gap.formula)
                    entry = entry_named(gap.formula, self.table)
                    if one is not None and entry is None and (letters := letters_of(gap.formula, self.table)):
                        entry = Entry(letters[0], ())
                    if entry is not None and entry.tensor in self.roles:
                        self._at_entry(entry, words, (one,) if one is not None else self._ends(self.meant(of)), place)
                        yield by.start
                    elif self._letters(letters_of(gap.formula, self.table), words, of, place):
                        yield by.start
            for start, name in self._called(prose, by.stop, stop) if not argued and not alone(before) else ():
                if self._letters((name,), prose.said(by.start, start + 1), of, prose.plain.origin[start]):
                    yield by.start
            given = named(before.rpartition(",")[2], "upstream.given")  # not «for a given message, compute …»
            if not argued and requested(prose.text, by.start) and not given:
                self._refuse_others(prose, by)

    def _at_entry(self, entry: Entry, said: str, ends_: Iterable[Entry], place: int) -> None:
        """Ask for the derivatives of these by an entry of a letter."""
        for end in ends_:
            own = self._indexed(end, entry)
            loss = end.tensor == "loss"
            (self.of_loss if loss else self.named)[own] = None
            self.at(place, own)
            self._spoken_by("vjp" if loss else "jacobian", entry.tensor, said)

    def _of_letter(self, prose: Prose, start: int, stop: int) -> Of | None:
        """«the gradients of $L$ with respect to»: of the loss, where the layer has no such letter."""
        gap = next((g for g in prose.gaps if start <= g.start and not prose.text[g.start + 1 : stop].strip()), None)
        letter = name_of(gap.formula.latex.strip()) if gap is not None else ""
        known = self.table.named(letter)
        if letter in {*self.roles, *self.defined} or known is None or known.kind is not Kind.TENSOR or known.axes:
            return None
        self.losses[letter] = None
        self.given = True
        return Of.LOSS

    def _refuse_others(self, prose: Prose, by: Span) -> None:
        """Raise :class:`CardError` for a letter of the list behind «with respect to» that the layer does not have."""
        at = by.stop
        for gap in (g for g in prose.gaps if g.start >= by.stop):
            between = prose.text[at : gap.start].strip(" ,")
            ends_ = {*between} & {*".;:?!¶("} or len(between.split()) > 4 or named(between, "naming.apart")
            further = {between[s.start : s.stop] for s in named(between, "naming.further")} - {"and"}
            if ends_ or (further and at > by.stop):  # «and $x$ from the column $δ$»
                break
            written = map(name_of, written_letters(gap.formula))
            for name in letters_of(gap.formula, self.table) or written:
                if name not in {*self.roles, *self.defined, self.output.tensor}:
                    raise CardError(Problem(f"the question asks for the derivative by `{name}`, and the layer has no "
                                            f"`{name}`: write the forward formulas with it", line=gap.formula.line,
                                            key="derive"))
            at = gap.start + 1

    def _called(self, prose: Prose, start: int, stop: int) -> Iterator[tuple[int, str]]:
        """Where a noun without a letter stands in the list behind «by», «of», and the layer's letter that it calls."""
        for noun in nouns(prose):
            name = letter_of_noun(prose, noun) if start <= noun.start < stop and not is_spelt_out(prose, noun) else None
            if name is not None and name in {*self.roles, *self.defined}:
                yield noun.start, name
            elif name is not None and requested(prose.text, noun.start):
                quoted = prose.plain.quote(noun.start, noun.stop)
                raise CardError(Problem(f"the question asks for the derivative by “{quoted}”, and the layer has no "
                                        f"`{name}`", line=prose.plain.line(noun.start), key="derive"))

    def _beside(self, prose: Prose) -> None:
        """«the gradients for $W$, $b$ and the input»: a noun beside letters is of all that it may call."""
        for noun in nouns(prose):
            words = prose.text[noun.start : noun.stop]
            beside = noun.beside or self.of_loss or self.named
            if beside and letter_of_noun(prose, noun) is None and requested(prose.text, noun.start):
                if words.startswith("bias") and not any(name.startswith(("b", "beta", "c")) for name in self.roles):
                    raise CardError(Problem(f"the question asks for the derivative by “{words}”, and no letter of the "
                                            "layer is called so", line=prose.plain.line(noun.start), key="derive"))
                self.whole |= {"inputs": True} if named(words, "letter.input") else {}
                self.whole |= {"parameters": True} if named(words, "request.trained", "request.filter") else {}

    def _of_letters(self, prose: Prose, said: Spoken) -> None:
        """«the gradients for $W$ and $b$», «how the error is propagated back to $x$»."""
        all_of = {s.start: s for s in reversed(named(prose.text, "between.of"))}
        for noun in said.of("gradient", "jacobian", "message", "everything", "back"):
            of = all_of.get(noun.stop + 1)
            if of is None or prose.text[noun.stop] != " " or (
                    noun.of("request.back") and not requested(prose.text, noun.start)):
                continue
            stop = min((by.start for by in named(prose.text, "wrt") if by.start >= of.stop),
                       default=len(prose.text))
            stop = min(stop, prose.sentence(of.start)[1])
            found = [(gap.start, prose.plain.place(gap.formula), name) for gap in prose.gaps
                     if of.stop <= gap.start < stop and not is_case(gap.formula.tree or ())
                     for name in letters_of(gap.formula, self.table)]
            found += [(at, prose.plain.origin[at], name) for at, name in self._called(prose, of.stop, stop)]
            for at, place, name in (f for f in found if f[-1] in self.roles):
                self.by_name[name] = Of.OUTPUT if noun.of("request.jacobian") else self.meant(Of.BOTH)
                self.at(place, name)
                if self._trained(name):
                    self.at(place, "parameters")
                    words = prose.said(noun.start, at + 1)
                    self.kinds.setdefault("parameters", f"asked for the message of `{name}` ({words})")

    def _counts(self, item: Item, prose: Prose, in_words: bool, by_letter: list[int]) -> bool:
        """The item is asked for as such; of a scalar layer, not where its letters follow in the sentence."""
        asked = not in_words or requested(prose.text, item.stop)
        if not asked or discussed(prose.text, item.start) or begins_second(prose.text, item.start):
            return False
        sentence = prose.sentence(item.start)
        particular = any(sentence == prose.sentence(at) and item.stop <= at for at in by_letter)
        return self.output.indices != () or not particular or not item.by_letters

    def second(self, prose: Prose) -> None:
        """Say that second derivatives, and what is asked in prose besides, are not answered, where first ones are.

        Raises :class:`UnsupportedError` where nothing else is asked for.
        """
        self.unanswered += besides(prose) if self.kinds else ()
        found = asked_second(prose)
        if found is not None and not self.kinds:
            raise UnsupportedError(Problem(f"{found[0]}: second derivatives are not covered; ask for the gradient",
                                           line=found[1]))
        if found is not None and not any(found[0] in told for told in self.unanswered):
            self.unanswered.append(f"not answered, since it is a second derivative: {found[0]} (line {found[1]})")

    def unread(self, failures: Iterable[tuple[Formula, DeriveError]]) -> None:
        """Say that a second derivative is not answered, where first ones are.

        Raises the error of a first one that could not be read: it is asked for, or it is given.
        """
        for formula, error in failures:
            bare = formula.latex.replace(" ", "").lstrip("\\dt")
            if self.kinds and bare.startswith(r"frac{\partial^") and not equates(formula):
                self.unanswered.append(f"not answered, since it is outside the notation: ${formula.latex.strip()}$ "
                                       f"(line {formula.line})")
            else:
                _refuse_derivative(formula, error)


def refuse_torn(formulas: Iterable[Formula]) -> None:
    """Raise :class:`CardError` for half a derivative, which would be left out of what is asked."""
    for formula in formulas:
        if formula.tree and is_torn_derivative(formula.tree) and not equates(formula) and not twice(formula):
            raise CardError(Problem(f"`{formula.latex.strip()}`: a part of a derivative; write "
                                    r"`\frac{\partial y}{\partial x}`", line=formula.line, key="derive"))


def _refuse_derivative(formula: Formula, error: DeriveError) -> None:
    """Raise where a formula that could not be read is a first derivative."""
    if formula.tree and is_derivative(formula.tree[0]) and not equates(formula) and not twice(formula):
        raise error


def _of(words: str) -> Of:
    """What the last noun of a request is of: «the derivative» of the output, «the gradient» of a loss too."""
    nouns = named(words, "request.jacobian", "request.gradient", "request.message", "request.vjp")
    last = max(nouns, key=lambda s: s.start, default=None)
    said = named(words[last.stop :] if last else "", "letter")
    if last is not None and any(span.of("letter.loss") for span in said):
        return Of.LOSS
    none = last is not None and last.of("request.jacobian") or any(span.of("letter.output") for span in said)
    return Of.OUTPUT if none else Of.BOTH


def is_primed(formula: Formula) -> bool:
    """$f'$ or $f'(x)$."""
    first = (formula.tree or (None,))[0]
    return isinstance(first, Scripted) and first.primes > 0 and len(formula.tree or ()) <= 2


def _derived(formula: Formula) -> bool:
    r"""$\nabla f$, $f'$ or $f'(x)$."""
    return is_primed(formula) or formula.latex.lstrip().startswith(r"\nabla")


def differentiated_in_words(prose: Prose, table: SymbolTable) -> set[str]:
    """The letters of «the gradient of the loss $L$», «the output is the state $c$», «$m$ is the output».

    «The derivatives of $f(z) = z^2$ and of $g$»: those of both.
    """
    found, before = set[str](), None
    for gap in prose.gaps:
        goes_on = before is not None and only(prose.text, before.start + 1, gap.start, "between.and", "between.of",
                                              "between.article")
        before = gap if goes_on or _is_differentiated(prose.text, gap) else None
        found |= {*letters_of(gap.formula, table)} if before is not None else set()
    return found


def _is_differentiated(text: str, gap: Gap) -> bool:
    start = _sentence(text, gap.start)
    nouns = [n for n in named(text, "request.jacobian", "request.gradient", "request.result") if start <= n.start]
    for noun in nouns:
        words = text[noun.stop : gap.start]
        said = not noun.of("request.result") or bool(named(words, "between.is"))
        if said and noun.stop <= gap.start and not set(words) & set(",:()∎") and len(words.split()) <= 6 and not named(
                words, "wrt", "between.and"):
            return True
    return any(only(text, gap.start + 1, n.start, "between.is") for n in named(text, "request.result")
               if n.start > gap.start)


# windows


@dataclass(frozen=True)
class Asked:
    """Messages as in :class:`Module`, the one that the question names first in front; how that was read; the loss."""

    messages: tuple[str, ...]
    readings: tuple[str, ...]
    loss: str | None = None
    parts: tuple[str, ...] = ()


def asked_by_statement(card: Card) -> Asked | None:
    """What stands for the request of the front matter until it is read; None where there is none."""
    return None if card.front_matter.get("derive") is None else Asked(("jacobian", "vjp"), ())


def asked(
    form: WindowForm,
    table: SymbolTable,
    derivatives: tuple[tuple[Formula, Partial], ...],
    plain: PlainText,
    in_words: bool,
    unread: tuple[tuple[Formula, DeriveError], ...] = (),
) -> Asked:
    """The messages that a question on windows wants.

    With ``in_words`` (no formula on the card) it must want them, not merely mention them.
    ``unread`` are the formulas that could not be read: what is wanted may stand there.

    Raises :class:`UnsupportedError` where it wants a derivative of something else, or none.
    """
    wanted = dict(_by_derivatives(form, table, derivatives))
    places = {kind: plain.place(f) for f, d in reversed(derivatives) if (kind := _kind(form, d))}
    for formula, error in unread:
        _refuse_derivative(formula, error)
        bare = formula.latex.replace(" ", "")
        if bare.startswith(r"\nabla_") and form.source in bare[7:].partition("}")[0]:
            wanted.setdefault("vjp", f"asked for the gradient ${formula.latex}$ (line {formula.line})")
    local = "vjp" not in wanted  # the course's backward message is ∂f/∂x, unless the question writes ∂L/∂x
    for item in _first_items(plain, in_words):
        if item.kind != "jacobian" or "vjp" not in wanted:
            said = f"line {plain.line(item.start)}: “{plain.quote(item.start, item.stop)}”"
            wanted.setdefault(item.kind, f"asked for {NAMES[item.kind]} ({said})")
            places.setdefault(item.kind, plain.origin[item.start])
    if local and "vjp" in wanted and "jacobian" not in wanted:
        wanted = {"jacobian": wanted["vjp"], **wanted}
    if not wanted and unread:
        raise CardError(*(p for _, error in unread for p in error.problems))
    if not wanted:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        raise UnsupportedError(Problem(message, line=plain.first_line))
    losses = {d.of.tensor for _, d in derivatives if _kind(form, d) in ("vjp", "") and isinstance(d.of, Entry)}
    kinds = sorted(wanted, key=lambda kind: places.get("vjp" if kind == "jacobian" else kind, places.get(kind, 0)))
    parts = tuple(plain.part(places.get(kind, places.get("vjp", 0))) for kind in kinds)
    loss = losses.pop() if len(losses) == 1 else None
    return Asked(tuple(kinds), tuple(dict.fromkeys(wanted.values())), loss, parts)


def _first_items(plain: PlainText, in_words: bool) -> Iterator[Item]:
    """The first item of each kind that the words name; with ``in_words`` those that a verb asks for."""
    items = [i for i in Spoken(plain.text).items if not in_words or requested(plain.text, i.start)]
    yield from (item for kind in _ORDER if (item := next((i for i in items if i.kind == kind), None)) is not None)


def _by_derivatives(
    form: WindowForm, table: SymbolTable, derivatives: tuple[tuple[Formula, Partial], ...]
) -> Iterator[tuple[str, str]]:
    """(kind, how it was read) of the derivatives that formulas mention."""
    for formula, derivative in derivatives:
        kind = _kind(form, derivative)
        if kind is None:
            raise CardError(Problem(f"the question speaks of {spoken(derivative)}, and the formula has only the output "
                                    f"`{form.output.tensor}` and the input `{form.source}`", line=formula.line,
                                    key="derive"))
        if kind:
            known = all(table.named(n.tensor) is not None for n in walk(derivative) if isinstance(n, Entry))
            said = f"${write(derivative, table)}$" if known else spoken(derivative)
            yield kind, f"asked for {said} (line {formula.line})"


def _kind(form: WindowForm, derivative: Partial) -> str | None:
    """'jacobian' for ∂f/∂x, 'vjp' for ∂L/∂x, '' for the given ∂L/∂f, None for what belongs to another layer."""
    of, wrt = derivative.of, derivative.wrt
    if not isinstance(of, Entry) or not isinstance(wrt, Entry):
        return None
    loss = not of.indices and of.tensor not in (form.output.tensor, form.source)
    if wrt.tensor == form.source:
        return "jacobian" if of.tensor == form.output.tensor else "vjp" if loss else None
    return "" if loss and wrt.tensor == form.output.tensor else None


# the front matter


Items = Callable[[int], list[tuple[Formula, Node]]]  # the formulas of an item of ``derive``


def request(asking: Asking, given: Items, items: tuple[str, ...], windows: bool) -> Wanted:
    """The request of a list; kinds beside derivatives are the derivatives by all letters of their role.

    Raises :class:`CardError` for an empty list and for ∂ℓ/∂y of the output, which is given.
    """
    kinds: dict[str, None] = {}
    named_: dict[Partial, None] = {}
    for n, item in enumerate(items):
        if item in KINDS:
            kinds |= dict.fromkeys(KINDS[item] if windows or item != "backward" else ("vjp",))
        for formula, derivative in partials(tuple(given(n))):
            asking.derivative(formula, derivative)
            new = [d for d in (*asking.named, *asking.of_loss) if d not in named_]
            if not new and not any(d.wrt == derivative.wrt for d in named_):
                message = f"`derive: {item}` is the upstream gradient, which is given"
                raise CardError(Problem(message, line=formula.line))
            named_ |= dict.fromkeys(new)
    if not items:
        raise CardError("`derive` lists nothing; write e.g. `derive: [backward]`")
    if len(asking.losses) > 1:
        raise CardError(f"`derive` names the losses {', '.join(f'`{n}`' for n in asking.losses)}; keep one")
    loss = next(iter(asking.losses), None)
    if windows:
        return Wanted(tuple(kinds | dict.fromkeys(asking.kinds)), (), _listed(given, items), loss)
    if named_:
        named_ |= dict.fromkeys(d for kind in kinds for d in _whole(asking, kind))
        kinds = {kind: None for kind in kinds if kind == "forward"} | dict.fromkeys(asking.kinds)
    return Wanted(tuple(kinds), tuple(named_), _listed(given, items), loss)


def _whole(asking: Asking, kind: str) -> Iterator[Partial]:
    """The derivatives of a kind of message, each by its letter."""
    roles = {"jacobian": "inputs", "vjp": "inputs", "parameters": "parameters"}
    for name, role in asking.roles.items():
        if role.role == roles.get(kind):
            yield from asking.of_name(name, Of.OUTPUT if kind == "jacobian" else Of.BOTH)


def _listed(given: Items, items: tuple[str, ...]) -> tuple[str, ...]:
    lines = sorted({f.line for n in range(len(items)) for f, _ in given(n)})
    where = f" (line {lines[0]})" if lines else ""
    return (f"asked for as `derive` lists it{where}: {', '.join(i if i in KINDS else f'${i}$' for i in items)}",)
