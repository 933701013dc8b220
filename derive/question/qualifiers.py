"""What words say of a part beside its name: «with bias», «with the fixed slope $a = 0.1$», its loss as a formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.notation.symbols import ACCENTS, ALPHABETS, GREEK
from derive.question.claims import computes_nothing, is_claimed
from derive.question.naming import Mention, bare_letters
from derive.question.part_words import SLOPED, Named, Part
from derive.question.prose import Gap, Prose, one_of
from derive.records import dataclass

_WITH = r"(?:\b(?:with|and|of|has|having|a|an|the|its|s|se|a)\s+|[(,]\s*)*"
_HOW = r"(?:\b(?:fixed|constant|given|trainable|learnable|learned|learnt|negative|same|common|shared)\s+)*"
_NUMBER = r"\d+(?:[. ]\d+)?"  # the prose has a space for the point of 0.1
_NO_BIAS = one_of(
    r"\b(?:without|with no|has no|and no|no|omitting) (?:a |the |any )?bias(?:es)?\b(?: terms?| vectors?)?",
    r"\bbez (?:biasu|prahu)\b",
)
_BIAS = one_of(
    rf"{_WITH}(?:trainable |learnable )?\bbias(?:es)?\b(?: terms?| vectors?)?(?:\s+∎)?",
    rf"{_WITH}\b(?:bias(?:em|y)|prahem|prahy)\b(?:\s+∎)?",
)
_WEIGHTS = one_of(
    rf"{_WITH}(?:trainable |learnable )?\bweights?\b(?: vectors?| matri(?:x|ces))?(?:\s+∎)?",
    rf"{_WITH}\bv[aá]h\w*(?:\s+∎)?"
)
_PARAMETERS = one_of(
    rf"{_WITH}(?:trainable |learnable )?\bparam(?:eter)?s?\s+(?P<first>∎)(?:\s*(?:,\s*and|,|and)\s*(?P<second>∎))?",
    rf"{_WITH}\bparametr\w*\s+(?P<one>∎)(?:\s*(?:,|a)\s*(?P<two>∎))?",
)
_SLOPE = one_of(
    rf"{_WITH}{_HOW}\b(?:slopes?|param(?:eter)?s?|coefficients?|leak|constant|hyper-?param(?:eter)?|value)\b"
    rf"(?:\s+(?:of|equal to|being))?(?:\s*(?P<gap>∎)(?:\s*=\s*(?P<equal>{_NUMBER}))?|\s+(?P<number>{_NUMBER}))?"
    r"(?P<shared>\s+(?:that is |which is )?shared (?:by|among|across|between) (?:all |the )*"
    r"(?:units|neurons|channels|outputs))?",
    rf"{_WITH}(?:\b(?:pevn\w+|konstantn\w+|učen\w+)\s+)?\b(?:sklon|koeficient|parametr|konstant)\w*"
    r"(?:\s+(?P<mezera>∎))?",
    r"(?:\bwith\s+|[(,]\s*)(?:an? |the )?(?:(?:fixed|constant|given|trainable|learnable|learned|learnt) )?"
    r"(?P<bare>∎)(?!\s*(?:output |input )?(?:units|neurons|outputs|inputs|channels|features))"
    r"(?:\s*=\s*(?P<bare_equal>\d+(?:[. ]\d+)?))?",
)
_TRAINED = re.compile(r"^(?!not ).*(?:train|learn)|učen|trénov")
_DECIDED = one_of(
    r"\b(?:fixed|constant|given|hyper-?param\w*|pevn\w+|konstant\w+|not (?:trainable|learn\w*|trained))\b",
    r"\b(?:trainable|trained|learn(?:able|ed|t)|učen\w+|trénovateln\w+)\b",
)
_HALF = one_of(r"\b(?:(?:one|a)[- ])?half (?:of )?(?:the |a |an )?", r"\bhalved ", r"\bpolovin\w+ ")
_SCALED = re.compile(r"[\s,(]*\b(?:(?:scaled|multiplied) by (?:a factor of )?(?:(?:one|a) half|½|1/2|0\.5|(?P<gap>∎))"
                     r"|divided by (?:two|2))")
_TIMES = re.compile(r"(?P<gap>∎)\s*(?:of |times )?(?:the )?$")
_HALF_FORMULA = re.compile(r"\s*(?:\\[dt]?frac\s*(?:12|\{1\}\s*\{2\}|1\s*\{2\}|\{1\}\s*2)|1/2|0\.5)\s*")
_OUTPUT = re.compile(rf"{_WITH}(?:whose )?\boutputs?\s+(?P<gap>∎)")
_IS = r"(?:is|be|being|denotes|je|značí)"
_VALUE = re.compile(r"\s*(?:(?P<letter>\\?[A-Za-z]+)\s*=\s*)?(?P<number>\d+(?:\.\d+)?)\s*")


@dataclass
class Qualifiers:
    """What is said of each part, and where: the words that this module understood."""

    prose: Prose
    parts: Sequence[Named]
    spoken: Sequence[Mention]
    understood: list[tuple[int, int]] = field(default_factory=list)
    bias: bool | None = None
    parameters: tuple[str, ...] = ()
    half: bool = False
    slopes: dict[str, str] = field(default_factory=dict)  # letter or number of the part of this name
    fixed: dict[str, bool] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for n, part in enumerate(self.parts):
            start, stop = behind(self.prose, self.parts, n)
            if (found := self._take(_OUTPUT, start, stop)) and (letters := self._letters(found, "gap")):
                self.outputs[part.part.name] = letters[0]
            self._named_output(part)
            if part.part.name == "linear":
                self._linear(start, stop)
            elif part.part.name in SLOPED:
                self._sloped(part, start, stop)
            elif part.part.loss:
                self._halved(part, self.parts[n - 1].end if n else 0, start, stop)
        if any(p.part.name == "linear" for p in self.parts) and self.bias is None and not self.parameters:
            apart = _NO_BIAS.search(self.prose.text) is None
            self.bias = apart if _BIAS.search(self.prose.text) else None

    def _take(self, pattern: re.Pattern[str], start: int, stop: int) -> re.Match[str] | None:
        """The first match, whose words are understood from now on."""
        found = pattern.search(self.prose.text, start, stop)
        if found is not None:
            self.understood.append(found.span())
        return found

    def _formula(self, found: re.Match[str], *groups: str) -> Formula | None:
        at = next((found.start(g) for g in groups if found.groupdict().get(g)), None)
        return next((gap.formula for gap in self.prose.gaps if gap.start == at), None)

    def _letters(self, found: re.Match[str], *groups: str) -> tuple[str, ...]:
        formula = self._formula(found, *groups)
        return bare_letters(formula) if formula else ()

    def _named_output(self, part: Named) -> None:
        """«$z$ is the output of PReLU»"""
        words = part.part.words.pattern
        for pattern in (rf"(?P<gap>∎),? {_IS} (?:the )?(?:outputs? of|výstup\w*) (?:the )?(?:{words})",
                        rf"\boutput (?P<gap>∎) of (?:the )?(?:{words})"):
            if (found := self._take(re.compile(pattern), 0, len(self.prose.text))) and (
                    letters := self._letters(found, "gap")):
                self.outputs[part.part.name] = letters[0]

    def _linear(self, start: int, stop: int) -> None:
        if self._take(_NO_BIAS, start, stop):
            self.bias = False
        elif self._take(_BIAS, start, stop):
            self.bias = True
        self._take(_WEIGHTS, start, stop)
        if found := self._take(_PARAMETERS, start, stop):
            self.parameters = (*self._letters(found, "first", "one"), *self._letters(found, "second", "two"))

    def _sloped(self, part: Named, start: int, stop: int) -> None:
        found = self._take(_SLOPE, start, stop)
        if found is None:
            return
        name = part.part.name
        if decided := _DECIDED.search(found[0]):
            self.fixed[name] = _TRAINED.search(decided[0]) is None
        number = found["equal"] or found["bare_equal"] or found["number"]
        formula = self._formula(found, "gap", "mezera", "bare")
        if formula is not None and (value := _VALUE.fullmatch(formula.latex)):
            number = value["number"]
        letters = bare_letters(formula) if formula is not None and "=" not in formula.latex else ()
        if number is None and formula is not None and len(letters) != 1:
            self.understood.pop()  # a function behind the name, not a slope
        elif number is not None:
            self.slopes[name] = f"{float(number.replace(' ', '.')):g}"
        elif formula is not None:
            index = re.search(rf"{re.escape(letters[0])}\s*\}}?\s*(_\s*(?:\{{[^{{}}]*\}}|\w))", formula.latex)
            self.slopes[name] = letters[0] + (index[1] if index else "")

    def _halved(self, part: Named, before: int, start: int, stop: int) -> None:
        found = [self._take(_HALF, before, part.start), self._take(_TIMES, before, part.start),
                 self._take(_SCALED, start, stop)]
        for match in filter(None, found):
            formula = self._formula(match, "gap")
            if formula is not None and not _HALF_FORMULA.fullmatch(formula.latex):
                quoted = self.prose.plain.quote(*match.span())
                raise CardError(Problem(f"“{quoted.strip()}”: write the loss with its factor, e.g. "
                                        r"`\ell = \frac{1}{2} (h - y)^2`", line=formula.line))
            if self.half:
                raise CardError(Problem(f"“{self.prose.plain.quote(part.start, part.end)}” is halved twice; write the "
                                        "loss with its factor", line=self.prose.plain.line(part.start)))
            self.half = True


    def is_fixed(self, part: Named, letter: str) -> bool:
        """Whether the slope of this letter is a constant: as the words say, else that of PReLU alone is learnt."""
        said = [self.fixed[part.part.name]] if part.part.name in self.fixed else []
        for mention in self.spoken:
            if letter in mention.letters and (words := _DECIDED.search(f"{mention.before} {mention.after}")):
                said.append(_TRAINED.search(words[0]) is None)
        if len({*said}) > 1:
            quoted = self.prose.plain.quote(part.start, part.end)
            raise CardError(Problem(f"“{quoted}”: `{letter}` is called fixed and trainable; keep one",
                                    line=self.prose.plain.line(part.start)))
        return said[0] if said else part.part.name != "prelu"


def behind(prose: Prose, parts: Sequence[Named], n: int) -> tuple[int, int]:
    """From the end of a part's name to the next part, within the sentence."""
    start = parts[n].end
    following = [p.start for p in parts if p.start >= start]
    return start, min([prose.sentence(parts[n].start)[1], *following])


_WORDS = one_of(r"\b(?:loss|cost|error|objective)(?: function)?", r"\bztrát\w*")
STATED = Part("stated", _WORDS, True)
_BETWEEN = re.compile(r"[\s,:(]*(?:(?:loss|error|function|term|is|given|defined|by|as|i\.?e\.?|=)[\s,:]*)*")
_HEAD = re.compile(
    r"\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?(?:\s*_\s*(?:\{[^{}]*\}|\w))?)\s*(?:\([^()=]*\)\s*)?&?\s*:?="
    r"\s*(.*)", re.DOTALL)
_RELATION = re.compile(r"[=<>]|\\(?:in|leq?|geq?|neq?|to|mapsto|sim|times|mathbb)(?![a-zA-Z])")
_COMPUTED = re.compile(r"[+\-/^(|]|\\(?:[dt]?frac|max|min|log|ln|exp|sqrt|tanh|sum)(?![a-zA-Z])")
_ACCENT = "|".join(sorted({*ACCENTS, *ALPHABETS, "mathbf", "boldsymbol", "bm", "mathrm", "vec"}))
_LETTER = re.compile(rf"\\(?:{_ACCENT})\s*\{{\s*\\?[A-Za-z]+\s*\}}|\\[A-Za-z]+|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
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


def stated_loss(prose: Prose, named: Named, others: Sequence[Named]) -> StatedLoss | None:
    """The formula that stands right behind the loss's name, with no other part between."""
    for gap in prose.gaps:
        between = prose.text[named.end : gap.start] if gap.start >= named.end else None
        if between is not None and _BETWEEN.fullmatch(between) and not any(
                named.end <= other.start < gap.start for other in others):
            return _as_loss(gap.formula)
    return None


def unnamed_loss(prose: Prose, others: Sequence[Named]) -> Named | None:
    """«the loss $…$», where no words say which loss it is."""
    for match in _WORDS.finditer(prose.text):
        named = Named(STATED, match.start(), match.end())
        if others and match.start() > others[0].start and stated_loss(prose, named, others) is not None:
            return named
    return None


def _as_loss(formula: Formula) -> StatedLoss | None:
    head = _HEAD.fullmatch(formula.latex)
    letter, value = (head[1], head[2]) if head else (None, formula.latex)
    value = value.strip(" .,;")
    if not _computes(value) or computes_nothing(formula):
        return None
    bare = _SUBSCRIPT.sub("", _SUM.sub("", value))
    found = [m[0] for m in _LETTER.finditer(bare)]
    letters = [c for c in found if not c.startswith("\\") or c[1:] in GREEK or "{" in c]
    return StatedLoss(formula, letter, value, tuple(dict.fromkeys(letters)))


def _computes(latex: str) -> bool:
    scripts = re.sub(r"\\sum\s*_\s*(?:\{[^{}]*\}|\w)", "", latex)
    return _COMPUTED.search(latex) is not None and _RELATION.search(scripts) is None


def refuse_unused(prose: Prose, parts: Sequence[Named], used: Sequence[Formula]) -> None:
    """Raise :class:`CardError` for a formula beside the parts that computes something and that none of them takes."""
    places = {prose.sentence(part.start) for part in parts}
    for gap in prose.gaps:
        if prose.sentence(gap.start) in places and _is_open(gap, prose, used):
            raise CardError(Problem(f"`${gap.formula.latex.strip()}$` stands beside layers that only words name: what "
                                    "does it compute? Write the forward formulas of all of them",
                                    line=gap.formula.line))


def _is_open(gap: Gap, prose: Prose, used: Sequence[Formula]) -> bool:
    formula = gap.formula
    known = formula in used or computes_nothing(formula) or is_claimed(formula, prose)
    applied = re.fullmatch(r"\s*\\?[A-Za-z]+(?:_\{?\w\}?)?\s*\([^()]*\)\s*", formula.latex)  # σ(s) names a function
    return not known and applied is None and _computes(formula.latex) and len(_LETTER.findall(formula.latex)) > 1
