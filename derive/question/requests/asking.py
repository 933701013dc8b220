"""What a question asks for, in formulas and in words: derivatives by letters and kinds of messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry
from derive.limits import MOST_ASKED
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates, is_case
from derive.notation.symbols import Kind, SymbolTable, name_of
from derive.question.letters.naming import letters_of, written_letters
from derive.question.requests.adjoints import asked_messages
from derive.question.requests.at_entry import entry_named
from derive.question.requests.in_formulas import derived, refuse_derivative
from derive.question.requests.of_what import is_spelt_out, letter_of_noun, nouns
from derive.question.requests.second import alone, asked_second, begins_second, twice
from derive.question.requests.spoken import ORDER, Item, Spoken
from derive.question.requests.verbs import _sentence, besides, discussed, requested
from derive.question.words.lexicon import Span, ends, named, only
from derive.question.words.prose import Gap, Prose
from derive.specify.applied import arguments_of
from derive.specify.wanted import Asking, Of

_NABLA = re.compile(r"\s*\\nabla\s*(?P<of>\\?[A-Za-z]+)\s*(?:\([^()]*\))?\s*")  # not \nabla_x f


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
        for kind in ORDER:
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
            if derived(gap.formula) and not self.kinds and not twice(gap.formula):
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
            argued = not named(before, "request.jacobian", "request.gradient", "request.message") and (
                named(before, "request.argued") or ends(before, "request.measured") and not requested(
                    prose.text, by.start))
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
                refuse_derivative(formula, error)


def _of(words: str) -> Of:
    """What the last noun of a request is of: «the derivative» of the output, «the gradient» of a loss too."""
    nouns = named(words, "request.jacobian", "request.gradient", "request.message", "request.vjp")
    last = max(nouns, key=lambda s: s.start, default=None)
    said = named(words[last.stop :] if last else "", "letter")
    if last is not None and any(span.of("letter.loss") for span in said):
        return Of.LOSS
    none = last is not None and last.of("request.jacobian") or any(span.of("letter.output") for span in said)
    return Of.OUTPUT if none else Of.BOTH


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
