"""Parts of a network where a question's words name them: which, in what order, and the formula behind a loss's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Protocol

from derive.errors import CardError, Problem
from derive.layers import LAYERS
from derive.layers.catalogue import Layer
from derive.limits import MOST_NAMED
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.symbols import ACCENTS, ALPHABETS, GREEK
from derive.question.letters.claims import computes_nothing
from derive.question.letters.naming import Mention, mentions, written_letters
from derive.question.requests.quotients import without_fonts
from derive.question.requests.verbs import requested
from derive.question.words.lexicon import NUMBERS, Span, named, only, spans
from derive.question.words.prose import Prose
from derive.records import dataclass


class Placed(Protocol):
    """What words name from ``start`` to ``end``."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


_OPEN = str.maketrans("=(", "  ")
_HEAD = re.compile(
    r"\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?(?:\s*_\s*(?:\{[^{}]*\}|\w))?)\s*(?:\([^()=]*\)\s*)?&?\s*:?="
    r"\s*(.*)", re.DOTALL)
_RELATION = re.compile(r"[=<>]|\\(?:in|leq?|geq?|neq?|to|mapsto|sim|times|mathbb)(?![a-zA-Z])")
_COMPUTED = re.compile(r"[+\-/^(|]|\\(?:[dt]?frac|max|min|log|ln|exp|sqrt|tanh|sum)(?![a-zA-Z])")
_ACCENT = "|".join(sorted({*ACCENTS, *ALPHABETS, "mathbf", "boldsymbol", "bm", "mathrm", "vec"}))
_LETTER = re.compile(
    rf"\\(?:{_ACCENT})(?:\s*\{{\s*\\?[A-Za-z]+\s*\}}|\s+[A-Za-z](?![A-Za-z]))|\\[A-Za-z]+"
    r"|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_SCRIPTED = r"(?:\\?[A-Za-z]+\s*|\{[^{}]*\}|_\w|\s)+"
_DISTANCE = re.compile(
    rf"\({_SCRIPTED}-{_SCRIPTED}(?:\\right\s*)?\)\s*\^\s*(?:2|\{{\s*2\s*\}})"
    rf"|\|{_SCRIPTED}-{_SCRIPTED}(?:\\right)?[|\\]")
_SUM = re.compile(
    r"\\sum\s*(?:\\limits\s*)?_\s*(?:\{[^{}]*\}|\w)(?:\s*\^\s*(?:\{[^{}]*\}|\w))?")
_SUBSCRIPT = re.compile(r"_\s*(?:\{[^{}]*\}|\w)")


@dataclass(frozen=True)
class StatedLoss:
    """The formula behind a loss's name: what it computes, of which two letters, and its own letter if it has one."""

    formula: Formula
    letter: str | None
    value: str
    letters: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """It sums over the outputs, or takes the length of their vector."""
        return re.search(r"\\sum|\\\||\|\||\\[lr]?Vert|\\left\\\|", self.value) is not None

    def prediction(self, target: str | None) -> tuple[str, str]:
        """Which letter is computed and which the target: as the words say, else in the order of (s − y)^2 or |s − y|.

        Raises :class:`CardError` where the formula has other letters than two, or nothing says which is which.
        """
        if len(self.letters) != 2:
            raise CardError(Problem(f"`${self.formula.latex.strip()}$`: a loss of a prediction and a target has two "
                                    "letters; write the forward formulas of the whole network", line=self.formula.line))
        first, second = self.letters
        if target not in self.letters and _DISTANCE.search(self.value) is None:
            raise CardError(Problem(f"`${self.formula.latex.strip()}$`: which letter is the target? Write e.g. “with "
                                    f"target ${second}$”", line=self.formula.line))
        return (second, first) if first == target else (first, second)


def stated_loss(prose: Prose, named: Placed, others: Sequence[Placed]) -> StatedLoss | None:
    """The formula that stands right behind the loss's name, with no other part between."""
    for gap in prose.gaps:
        between = prose.text[named.end : gap.start] if gap.start >= named.end else None
        words = _TARGET.sub(" ", between or "")  # «the squared difference to the target $t$, $L = …$»
        if between is not None and only(words.translate(_OPEN), 0, len(words), "slot.of_loss") and not any(
                named.end <= other.start < gap.start for other in others):
            return _as_loss(gap.formula)
    return None


def _as_loss(formula: Formula) -> StatedLoss | None:
    head = _HEAD.fullmatch(formula.latex)
    letter, value = (head[1], head[2]) if head else (None, formula.latex)
    value = value.strip(" .,;")
    if not _computes(value) or computes_nothing(formula):
        return None
    bare = _SUBSCRIPT.sub("", _SUM.sub("", value))
    found = [m[0] for m in _LETTER.finditer(bare)]
    found = [re.sub(r"^(\\[A-Za-z]+)\s+([A-Za-z])$", r"\1{\2}", c) for c in found]
    letters = [c for c in found if not c.startswith("\\") or c[1:] in GREEK or "{" in c]
    return StatedLoss(formula, letter, value, tuple(dict.fromkeys(letters)))


def _computes(latex: str) -> bool:
    scripts = re.sub(r"\\sum\s*_\s*(?:\{[^{}]*\}|\w)", "", latex)
    return _COMPUTED.search(latex) is not None and _RELATION.search(scripts) is None


LOSSES = frozenset(("mean_squared_error", "cross_entropy", "stated", *(
    s.name for s in LAYERS if isinstance(s, Layer) and s.kind == "loss")))
UNITS = frozenset("sigmoid tanh relu softplus leaky_relu prelu elu".split())  # «a logistic unit», «tanh neurons»
ELEMENTWISE = frozenset(s.name for s in LAYERS if isinstance(s, Layer) and s.kind == "activation")
NORMS = frozenset(("layer_norm", "batch_norm", "instance_norm", "rms_norm"))
SLOPED = frozenset("prelu leaky_relu elu celu".split())
OWN = {s.name: {letter.what.replace(" ", "_") for letter in s.letters.values() if letter.role and not letter.labels
                and letter.role != "sizes"} - {"target"}
       for s in LAYERS if isinstance(s, Layer) and s.name not in SLOPED and s.name != "linear"}
OWN["convolution"] = {"weights", "bias"}
OWN["cross_entropy"] = OWN["categorical_cross_entropy"]
_FAR = 200  # characters in which the last words before a place are looked for
WORD = re.compile(r"[^\W_]+|∎|½")
_THE = frozenset("the this that its these those of tato této tuto".split())  # names again what was named
_NEW = frozenset("second another further third".split())
_CLAUSE = re.compile(r"[^.,;:¶?!]+")
_MODIFIER = re.compile(r"\b(?:an?|the|one) ((?:non[ -])?[^\W\d_]{3,}(?:-[^\W\d_]+)?)\s+$")
_NONLINEAR = ("nonlinear", "non linear", "non-linear")
_OUTPUT_LAYER = re.compile(r"\boutput layer\b(?! (?:is|are)\b)")
_TARGET = re.compile(r"\b(?:to|from|against|between) (?:the |its |a )?(?:prediction |output )?(?:∎ and )?"
                     r"(?:the |its |a )?(?:target|label)(?: value| vector)? ∎")
ONE_EACH = re.compile(r"\bone (row|column) (?:per|for each|for every|for) (?:class|unit|output|neuron)"
                      r"(?: of (?:their|its|the) layer)?\b")  # of a weight matrix
_FUNCTION = re.compile(r"\s*\\?[A-Za-z]+\s*\(\s*\\?[a-z]+\s*\)\s*=")  # f(s) = …
_DERIVED = re.compile(r"\\partial|\\nabla|\\delta")
_SUBSCRIPTS = re.compile(r"(\\?[A-Za-z]++)\s*_\s*(?:\{([a-z]{1,4}|[a-z](?:\s*,\s*[a-z])+)\}|([a-z]))")
_ENTRIES = re.compile(r"\s*(?:(?P<whole>\\?[A-Za-z]+)\s*=\s*\()?\s*(?P<own>\\?[A-Za-z]+)_\{?1\}?\s*,\s*"
                      r"(?:(?P=own)_\{?2\}?\s*,\s*)?\\[lc]?dots\s*,\s*(?P=own)_\{?\w\}?\s*\)?"
                      r"(?:\s*\^\s*\{?\s*(?:\\top|T)\s*\}?)?\s*")


def letters_said(formula: Formula) -> tuple[str, ...]:
    r"""The letters that a formula merely lists, with their labels: W_1 of $W_1 \in \mathbb{R}^m$.

    x of $x_1, \dots, x_n$ and of $x = (x_1, \dots, x_n)$ too.
    """
    entries = _ENTRIES.fullmatch(without_fonts(formula.latex))
    if entries is not None and entries["whole"] in (None, entries["own"]):
        return (entries["own"],)
    return written_letters(formula)


@dataclass(frozen=True)
class Part:
    """A layer by its catalogue's name, where the words name it, and what they say of it.

    ``letters`` are LaTeX by what they are (weight, bias, slope, output), ``options`` say what is
    not a letter: units, bias ("yes", "no"), slope, half, fixed; ``geometry`` has the catalogue's options of a kernel.
    """

    name: str
    start: int
    end: int
    letters: Mapping[str, str] = field(default_factory=dict, hash=False)
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    geometry: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def loss(self) -> bool:
        return self.name in LOSSES


class Recognised:
    """The parts that the words name, each where it is named for the first time."""

    def __init__(self, prose: Prose) -> None:
        self.prose = prose
        self.spoken = tuple(mentions(prose, letters_said))
        self.places = {id(gap.formula): gap.start for gap in prose.gaps}
        self.understood: list[tuple[int, int]] = []
        self.regions: dict[int, list[tuple[int, int]]] = {}  # by the place of a part, where it is named again
        self.found = self._found()
        if self.found and not any(p.loss for p in self.found) and (place := self._unnamed_loss(self.found)) is not None:
            self.found.append(Part("stated", *place))

    @cached_property
    def asides(self) -> tuple[tuple[int, int], ...]:
        """Where the words tell of other layers, up to the next comma, and the sentences that tell of habits."""
        found = []
        for span in named(self.prose.text, "aside.other", "aside.habit"):
            start, stop = self.prose.sentence(span.start)
            comma = self.prose.text.find(",", span.stop, stop) if span.concept == "aside.other" else -1
            if "∎" in self.prose.text[span.stop : comma if comma >= 0 else stop] and "compar" in self.prose.text[
                    span.start : span.stop]:
                continue  # with a letter, as a loss does it
            found.append((span.start if span.concept == "aside.other" else start, comma if comma >= 0 else stop))
        return tuple(found)

    @cached_property
    def indices(self) -> frozenset[str]:
        """The letters that stand below others, and above none: «the output $i$»."""
        found = [m for f in self.prose.formulas for m in _SUBSCRIPTS.finditer(without_fonts(f.latex))]
        return frozenset(c for m in found for c in (m[2] or m[3]) if c.isalpha()) - {m[1] for m in found}

    def aside(self, at: int) -> bool:
        return any(start <= at < stop for start, stop in self.asides)

    @property
    def asked(self) -> bool:
        """Something is asked that a layer has: a message, a gradient."""
        return bool(named(self.prose.text, "derivative", "message", "wrt")) or any(
            kind_of(f) in (Said.DERIVATIVE, Said.GRADIENT) or _DERIVED.search(f.latex) for f in self.prose.formulas)

    @cached_property
    def models(self) -> list[Span]:
        """«logistic regression»: where a chain is named by one name, and no formula says what it computes."""
        if any(equates(f) and not computes_nothing(f) for f in self.prose.formulas):
            return []
        return [s for s in named(self.prose.text, "model") if not self.aside(s.start)]

    def _found(self) -> list[Part]:
        """Every part where it is named for the first time, in the order of the text."""
        found: list[Part] = []
        spans = *named(self.prose.text, "part"), *self._of_its_own(), *self._residual(), *self._output_layer()
        for span in sorted(spans, key=lambda s: s.start):
            name = span.concept.partition(".")[2]
            denied = named(" ".join(self._before(span.start, 2)), "not.no")
            if name == "none" or any(s.start <= span.start < s.stop for s in self.models):
                continue
            if denied or self.aside(span.start):
                continue
            if self._again(name, span, found):
                first = next(p for p in reversed(found) if p.name == name)
                self.regions.setdefault(first.start, []).append((span.start, span.stop))
                self.understood.append((span.start, span.stop))
            elif len(found) == MOST_NAMED:
                raise CardError(Problem(f"the question names more than {MOST_NAMED} layers in words, and no more are "
                                        "read: write the forward formulas", line=self.prose.plain.line(span.start)))
            else:
                found.append(Part(name, span.start, span.stop))
                self.understood += [(span.start, span.stop)] if name == "own" else []
        return [*self._weighing(self._with_model(found))]

    def _with_model(self, found: list[Part]) -> list[Part]:
        """«logistic regression»: its parts, unless the words name them one by one."""
        self.understood += [(s.start, s.stop) for s in self.models]
        if not self.models or any(not p.loss for p in found):
            return found
        names, at, stop = self.models[0].concept.partition(".")[2].split("-"), self.models[0].start, self.models[0].stop
        own = [Part(name, at + n, stop if n == len(names) - 1 else at + n + 1) for n, name in enumerate(names)]
        return sorted([*own, *found], key=lambda p: p.start)

    def _weighing(self, found: Sequence[Part]) -> Iterator[Part]:
        """A unit that has weights weighs its inputs first: «one logistic unit with weights $w$», «a neuron with … »;
        also where the gradient of the weights is asked for."""
        text, last = self.prose.text, Part("", -1, -1)
        places = [self.places.get(id(m.formula), -1) for m in self.spoken if role_of(m) == "weight"]
        asked = not named(text, "part.linear") and any(
            s.of("letter.weight") and requested(text, s.start) for s in named(text, "letter"))
        for part in found:
            start, stop = self.prose.sentence(part.start)
            linear = named(text, "part.linear")
            nouns = [s for s in named(text, "unit") if start <= s.start < stop
                     and not any(p.start <= s.start < p.stop for p in linear)]
            beside = next((s for s in nouns if part.start <= s.start <= part.end + 1), None)
            before = next((s for s in nouns if s.start < part.start and last.start < start), None)
            noun = beside or before
            direct = last.name == "linear" and not named(text[last.end : part.start], "join.then", "join.through")
            hidden = "hidden" in self._before(part.start)  # «a hidden layer of tanh units»
            within = (noun.start, stop if beside else part.start) if noun else (0, 0)
            weighs = hidden or any(within[0] < at < within[1] for at in places)
            if noun and not direct and part.name in UNITS and (weighs or asked):
                options = {"units": "1"} if noun.concept == "unit.one" else self._counted(part.start)
                if beside and noun.start > part.start:
                    yield Part("linear", part.start, noun.start - 1, options=options)
                    part = replace(part, start=noun.start - 1, end=noun.stop)
                else:
                    yield Part("linear", noun.start, noun.stop, options=options)
            yield part
            last = part

    def _counted(self, at: int) -> dict[str, str]:
        """«$K$ tanh units», «3 tanh units», «three tanh units»"""
        said = self._before(at, 1)
        word = next((s.concept.partition(".")[2] for s in named(" ".join(said), *NUMBERS)), *said)
        if word.isdecimal() and word != "1":
            self.understood.append((at - len(said[0]) - 1, at))
            return {"units": word}
        gap = next((g for g in self.prose.gaps if not self.prose.text[g.start + 1 : at].strip() and g.start < at), None)
        self.understood += [(gap.start, gap.start + 1)] if gap else []
        return {"units": gap.formula.latex.strip()} if gap else {}

    def _residual(self) -> Iterator[Span]:
        """«a skip connection around …», «a shortcut adds the input to the output of …»: a part around those before it,
        or where there are none, around those behind it."""
        for clause in _CLAUSE.finditer(self.prose.text):
            connection = next(iter(named(clause[0], "skip.connection")), None)
            goes = named(clause[0][connection.stop :], "skip.around", "skip.whole") if connection is not None else ()
            if connection is not None and goes:
                start, stop = clause.start() + connection.start, clause.start() + connection.stop
                self.understood.append((start, stop + goes[-1].stop))
                yield Span("part.residual", start, stop)

    def _output_layer(self) -> Iterator[Span]:
        """«an output layer with 3 units (weights $V$, bias $c$)»: with weights, and no activation of its units."""
        text, parts = self.prose.text, named(self.prose.text, "part")
        weights = [self.places.get(id(m.formula), -1) for m in self.spoken if role_of(m) == "weight"]
        for noun in _OUTPUT_LAYER.finditer(text):
            stop = self.prose.sentence(noun.start())[1]
            own = next((at for at in weights if noun.end() <= at < stop), None)
            beside = any(p.start < noun.end() and noun.start() <= p.stop + 1 for p in parts)  # «linear output layer»
            if own is not None and not beside and not any(noun.end() <= p.start < own for p in parts):
                yield Span("part.linear", noun.start(), noun.end())

    def _of_its_own(self) -> Iterator[Span]:
        """«a Zorb layer», «a nonlinear layer», where the card has a function f(s) = …: a part by that formula."""
        if not any(_FUNCTION.match(f.latex) for f in self.prose.formulas):
            return
        text, parts = self.prose.text, named(self.prose.text, "part")
        for noun in named(text, "head.layer"):
            said = _MODIFIER.search(text, *sorted((self.prose.sentence(noun.start)[0], noun.start)))
            if said is None or any(p.start < noun.stop and said.start(1) < p.stop and p.concept != "part.none"
                                   for p in parts):
                continue
            known = (f for f in ("small", "common", "noun", "role", "size", "fact") if spans(said[1].lower(), f))
            if said[1].lower() in _NONLINEAR or next(known, None) is None:
                yield Span("part.own", said.start(1), noun.stop)

    def _before(self, at: int, count: int = 3) -> list[str]:
        """The last words in front of a place, within its sentence."""
        start, _ = self.prose.sentence(at)
        return WORD.findall(self.prose.text, max(start, at - _FAR), at)[-count:]

    def _again(self, name: str, span: Span, found: list[Part]) -> bool:
        """«the ReLU», of one that was named; in another sentence also «ReLU»."""
        same = [p for p in found if p.name == name]
        words = self._before(span.start)
        if len(same) == 2 and words[-2:] == ["the", "second"]:
            return True
        if not same or _NEW & {*words}:
            return False
        between = self.prose.text[same[-1].end : span.start]
        if between.rstrip().endswith("("):
            return True  # «a gated linear unit (GLU)»
        apart = self.prose.sentence(same[-1].start) != self.prose.sentence(span.start)
        return bool(_THE & {*words[-2:]}) or ":" in between and not apart or apart and name != "linear"

    def _unnamed_loss(self, found: list[Part]) -> tuple[int, int] | None:
        """«the loss $…$», where no words say which loss it is."""
        for span in named(self.prose.text, "head.loss"):
            part = Part("stated", span.start, span.stop)
            if span.start > found[0].start and stated_loss(self.prose, part, found) is not None:
                return span.start, span.stop
        return None


def role_of(mention: Mention) -> str | None:
    """What the words call a letter: the noun in front of it, else the first behind it."""
    starts = [s.stop for s in named(mention.before, "join.then", "join.through", "part")]
    near = mention.before[max(starts, default=0) :]  # «no bias, followed by a norm with gain $g$»
    before = [s.concept.partition(".")[2] for s in named(near, "letter")]
    joined = [s.start for s in named(mention.after, "join.then", "join.through", "part")]
    after = [s.concept.partition(".")[2] for s in named(mention.after[: min(joined, default=None)], "letter")]
    found = before[-1] if before else after[0] if after else None
    return {"none": None, "one_hot": "target"}.get(found or "", found)
