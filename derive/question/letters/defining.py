r"""Sentences that define a letter: «$p$ is the softmax of $z$», «$a$ is passed through a ReLU, which gives $h$»."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from derive.notation.formulas import Formula
from derive.notation.rules.trees import letters, sides, statements
from derive.notation.symbols import latex_of
from derive.notation.tree import Item, Scripted, base_of, is_token, normal, split, unwrap
from derive.question.letters.applied import KNOWN
from derive.question.words.lexicon import named
from derive.question.words.prose import BREAK, Prose
from derive.records import dataclass

# Clauses over what their words are: L a letter, D a letter with its formula, P a function by name, C a cross-entropy,
# & what joins, I is, T turned into, V turns, N into, O of, B by, J passed through, A applied, G which gives, S the sum,
# M the mean, W weighted by, U between; a an article or the like, x what changes the value; w any other word.
_SOME = "(L(?:&+[wa]{0,4}L)*|D)"
_W = "[wa]*"
_CLAUSES = (
    (re.compile(f"{_SOME}Ia*(P){_W}O{_W}{_SOME}"), "yfx"),  # p is the softmax of z
    (re.compile(f"{_SOME}I*T{_W}{_SOME}{_W}Ba*(P)"), "xyf"),  # z is turned into p by a softmax
    (re.compile(f"(P){_W}V{_W}{_SOME}a*N{_W}{_SOME}"), "fxy"),  # a softmax turns z into p
    (re.compile(f"{_SOME}I*[JB]a*(P)[a&]*G{_W}{_SOME}"), "xfy"),  # z is passed through a softmax, which gives p
    (re.compile(f"Aa*(P){_W}[OB]{_W}{_SOME}[a&]*G{_W}{_SOME}"), "fxy"),  # applying ReLU to a gives h
    (re.compile(f"{_SOME}[IGBa]*Aa*(P){_W}[OB]{_W}{_SOME}"), "yfx"),  # h is obtained by applying ReLU to a
    (re.compile(f"(P){_W}[IA]+a*O{_W}{_SOME}[a&]*G{_W}{_SOME}"), "fxy"),  # a ReLU is applied to a, which gives h
)
_WEIGHED = re.compile(f"(L)Ia*([SM])a*O{_W}(L)a*W{_W}(L)")  # c is the sum of the h_t weighted by the α_t
_COMPARED = re.compile(f"(L)Ia*(C){_W}U{_W}(L)&{_W}(L)")  # L is the cross-entropy between q and p
_WORD = re.compile(r"[^\W_]+|∎|¶|[,.;:()?!]")
_OF = {"naming.is": "I", "defines.turned": "T", "defines.turns": "V", "defines.into": "N", "defines.of": "O",
       "defines.by": "B", "defines.through": "J", "defines.apply": "A", "defines.gives": "G", "defines.sum": "S",
       "defines.mean": "M", "defines.weighted": "W", "defines.between": "U"}
_FUNCTIONS = {"softmax", "cross_entropy", *filter(str.isalpha, KNOWN)}  # a formula may apply them
_KINDS = {"x": ("operation", "defines.changes"),
          "a": ("small.article", "naming.article", "naming.also", "defines.noun"),
          "&": ("naming.and",)}  # the last counts


@dataclass(frozen=True)
class _Letter:
    """A letter with its index: α and t of $α_t$."""

    name: str
    index: str = ""

    def at(self, index: str) -> str:
        """The letter as LaTeX with this index."""
        return rf"{latex_of(self.name)}_{{{index}}}" if index else latex_of(self.name)


@dataclass(frozen=True)
class _Token:
    kind: str
    start: int
    letter: _Letter | None = None
    function: str = ""
    noun: bool = False  # it stands for a letter that it is called by


def defined_in_words(prose: Prose, written: Sequence[Formula]) -> Iterator[Formula]:
    """The formulas of letters that sentences define by a function's name, where formulas define others."""
    heads = [(two[0][0], f) for f in written for part in statements(f.tree or ())
             if len(two := sides(part)) > 1 and two[0]]
    free = next((c for c in "rquvm" if c not in letters(written)), None)
    if free is None:
        return
    reader = _Reader({str(base_of(normal(head))): "softmax" in f.latex for head, f in heads}, free)
    for sentence in _sentences(prose) if heads else ():
        for start, latex in reader.definitions(sentence):
            yield Formula(latex, prose.plain.line(start), 0, False)


def _found(clause: re.Pattern[str], order: str, kinds: str) -> Iterator[re.Match[str]]:
    """Where the clause stands and nothing beside it changes the value: of «p is the softmax of z, and L …» up to z."""
    at = 0
    while (found := clause.search(kinds, at)) is not None:
        last, other = found[len(order)], found[order.index({"x": "y", "y": "x", "f": "x"}[order[-1]]) + 1]
        stop, letters_ = found.start(len(order)), 0
        for kind in last:
            letters_ += kind in "LDP"
            stop += 1
            if letters_ == sum(k in "LD" for k in other):
                break
        behind = kinds[stop : stop + 1]
        if order[-1] == "f":
            stop = found.end(len(order))
            behind = kinds[stop : stop + 1].replace("w", "")  # «by a softmax over the classes»
        whole = clause.search(kinds[:stop], at)
        changed = kinds[: found.start()].rstrip("waO").endswith("x") or behind in ("x", "w", "B", "O", "A")
        if whole is not None and not changed:
            yield whole
        at = max(stop, found.start() + 1)


class _Reader:
    """Reads sentences; ``known`` are the letters that are computed, and whether by a softmax."""

    def __init__(self, known: dict[str, bool], fresh: str) -> None:
        self.known, self.fresh = known, fresh

    def definitions(self, tokens: Sequence[_Token]) -> Iterator[tuple[int, str]]:
        """Where a sentence defines a letter that no formula computes, and how."""
        kinds = "".join(t.kind for t in tokens)

        def of(found: re.Match[str], n: int) -> list[_Letter]:
            return [t.letter for t in tokens[found.start(n) : found.end(n)] if t.letter is not None]

        for clause, order in _CLAUSES:
            for found in _found(clause, order, kinds):
                outputs, inputs = (of(found, order.index(c) + 1) for c in "yx")
                function = tokens[found.start(order.index("f") + 1)].function
                if len(outputs) == len(inputs) and {y.name for y in outputs}.isdisjoint(x.name for x in inputs):
                    yield from ((tokens[found.start()].start, self.applied(y, function, x))
                                for y, x in zip(outputs, inputs, strict=True) if y.name not in self.known)
                    self.known |= {y.name: function == "softmax" for y in outputs}
        for found in _WEIGHED.finditer(kinds):
            (output,), (summed,), (weight,) = of(found, 1), of(found, 3), of(found, 4)
            index = weight.index or summed.index
            shares = self.known.get(weight.name, False)
            if index and (found[2] == "S" or shares) and output.name not in self.known:
                value = rf"\sum_{{{index}}} {weight.at(index)} {summed.at(index)}"
                yield tokens[found.start()].start, f"{output.at(output.index)} = {value}"
        for found in _COMPARED.finditer(kinds):
            (loss,), *two = of(found, 1), *of(found, 3), *of(found, 4)
            shares_ = [c for c in two if self.known.get(c.name)]
            if len(shares_) == 1 and loss.name not in self.known:
                target = two[shares_[0] is two[0]]
                entries = rf"{target.at(self.fresh)} \log {shares_[0].at(self.fresh)}"
                yield tokens[found.start()].start, rf"{loss.at('')} = -\sum_{{{self.fresh}}} {entries}"

    def applied(self, y: _Letter, function: str, x: _Letter) -> str:
        """y = f(x), entry by entry; a softmax over the index of its argument."""
        index = y.index or x.index
        if function == "softmax" and index:
            above, below = x.at(index), rf"\sum_{{{self.fresh}}} e^{{{x.at(self.fresh)}}}"
            return rf"{y.at(index)} = \frac{{e^{{{above}}}}}{{{below}}}"
        alike = bool(y.index) == bool(x.index)
        return rf"{y.at(y.index if alike else '')} = \mathrm{{{function}}}({x.at(x.index if alike else '')})"


def _sentences(prose: Prose) -> Iterator[list[_Token]]:
    """The words of each sentence by what they are."""
    spans = {s.start: (_OF[s.concept], s.stop) for s in named(prose.text, *_OF)}
    parts = {s.start: (part, s.stop) for s in named(prose.text, "part")
             if (part := s.concept.partition(".")[2]) in _FUNCTIONS}
    changing: dict[int, str] = {at: kind for kind, concepts in _KINDS.items() for s in named(prose.text, *concepts)
                for at in range(s.start, s.stop)}
    own = _letters(prose)
    nouns = _nouns(prose, own)
    tokens: list[_Token] = []
    at = 0
    for word in _WORD.finditer(prose.text):
        start = word.start()
        if start < at:
            continue
        at = word.end()
        if start in own:
            if tokens and tokens[-1].noun and tokens[-1].letter == own[start].letter:
                tokens.pop()  # «the scores $s$»
            tokens.append(own[start])
        elif start in parts:
            function, at = parts[start]
            tokens.append(_Token("C" if function == "cross_entropy" else "P", start, function=function))
        elif start in spans:
            kind, at = spans[start]
            tokens.append(_Token(kind, start))
        elif (meant := nouns.get(_singular(word[0]))) is not None:
            tokens.append(_Token("L", start, meant, noun=True))
        elif word[0] in ".?!" or word[0] == BREAK:
            yield tokens
            tokens = []
        else:
            tokens.append(_Token(changing.get(start) or {",": "&", ";": "|", ":": "|"}.get(word[0], "w"), start))
    yield tokens


def _letters(prose: Prose) -> dict[int, _Token]:
    """The letters that formulas name or define, by their places in the text; a displayed formula stands at a break."""
    starts = {prose.plain.place(f): f for f in prose.formulas}
    found = {}
    for n in (n for n, char in enumerate(prose.text) if char in "∎¶"):
        origin = prose.plain.origin[n]
        formula = next((starts[at] for at in range(origin, origin + 8) if at in starts), None)
        part = next(iter(statements(formula.tree or ())), ()) if formula is not None else ()
        head = split(sides(part)[0], "IN")[0] if part else []
        if len(head) == 1 and (letter := _letter(head[0])) is not None:
            found[n] = _Token("D" if len(sides(part)) > 1 else "L", n, letter)
    return found


def _letter(item: Item) -> _Letter | None:
    item = normal(item)
    base = base_of(item)
    if not is_token(base, "NAME"):
        return None
    if not isinstance(item, Scripted):
        return _Letter(base.text)
    if item.sups or item.primes or len(item.subs) != 1:
        return None
    below = unwrap(item.subs[0])
    plain = len(below) == 1 and is_token(below[0], "NAME") and len(str(below[0])) == 1
    return _Letter(base.text, str(below[0])) if plain else None


def letter_called(prose: Prose, noun: str) -> str | None:
    """The letter that a noun calls: s of «the scores», where the question has scores $s$ and no others."""
    found = _nouns(prose, _letters(prose)).get(_singular(noun))
    return None if found is None else found.name


def _nouns(prose: Prose, own: Mapping[int, _Token]) -> dict[str, _Letter]:
    """The noun in front of a letter, where it is that of one letter alone: the scores $s$."""
    found: dict[str, dict[str, _Letter]] = {}
    for at, token in own.items():
        words = prose.text[max(0, at - 40) : at].split()
        for word in words[-2 if named(" ".join(words[-1:]), "naming.is") else -1 :][:1]:  # «the scores are $s$»
            other = named(word, "neutral.small", "naming.is", "ask", "small", "part", "defines")
            if len(word) > 3 and word.isalpha() and not other and token.letter is not None:
                found.setdefault(_singular(word), {})[token.letter.name] = token.letter
    return {noun: next(iter(letters_.values())) for noun, letters_ in found.items() if len(letters_) == 1}


def _singular(word: str) -> str:
    return word.removesuffix("s")
