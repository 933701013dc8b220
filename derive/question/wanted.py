"""What a question on any layer asks for: kinds of messages, and the derivatives that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from derive.errors import DeriveError, Problem, UnsupportedError
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates
from derive.notation.symbols import SymbolTable
from derive.question import topics
from derive.question.asking import KINDS, discussed, requested
from derive.question.lexicon import named
from derive.question.naming import letters_of
from derive.question.prose import Prose, one_of
from derive.specify.wanted import Asking

_FOR = re.compile(r"(?:gradients?|derivatives?|messages?) (?:for|of|by|to)((?:(?!with respect|wrt)[^.?!;¶])*)")
_PARAMETERS = one_of(
    r"\bparameters? messages?", r"\b(?:weights?|parameters?) (?:update|gradient)",
    r"\b(?:gradient|derivative|message)\w*[^.?!;¶]{0,60}\b(?:parameters?|weights?|bias|váh\w*|parametr\w*)\b",
    r"\b(?:zpráv|gradient|derivac)\w* (?:pro|podle|vzhledem k) (?:\w+ )?(?:váh|vah|parametr|prah|práh)\w*",
    r"\bparametrick\w+ zpráv\w*",
    r"\bgradients? (?:of|for|on) (?:the )?(?:\w+ )?(?:filters?|kernels?|coefficients?)\b",
)
_WHOLE = (
    ("parameters", one_of(
        r"\bparameters? messages?", r"\b(?:messages?|gradients?|derivatives?) (?:of|for|with respect to|by) "
        r"(?:all |the |its |both |these )*(?:trainable |learnable )?(?:parameters|weights)\b",
        r"\b(?:zpráv|gradient|derivac)\w* (?:pro|podle) (?:\w+ )?(?:parametr|váh|vah)\w*")),
    ("inputs", re.compile(r"\bbackward message|\bzpětn\w+ zpráv")),
)
_ARGUED = re.compile(  # «Show that $J$ is convex with respect to $w$»: no derivative
    r"\b(?:prove|show|convex\w*|minim\w*|maxim\w*|decreas\w*|increas\w*|dokaž\w*|ukaž\w*)\b")
_DIFFERENTIATED = re.compile(
    r"\b(?:gradients?(?! descent)|derivatives?|differentiat\w*|jacobians?|messages?|derivac\w*)\b")
_LETTERS_FOLLOW = re.compile(r"s?\s*(?:of (?:the|this) [\w-]+\s*)?(?:,|:|to|for|with respect to|w\s*r\s*t|i\s*e)?\s*∎")
_OF_LETTERS = re.compile(r"(?:sub)?gradients?\b|derivatives?\b|differentiat")  # by the letters named behind it
_ALL = re.compile(r"\b(?:all|three|the) (?:the )?messages\b(?! (?:of|for|with)\b(?! (?:the|this|such an?|an?) "
    r"(?:[\w-]+ )?(?:layer|network|module|unit|neuron|cell|block|model)))|\bvšechny zprávy|\bvšech zpráv")
_BACKWARD = re.compile(r"\bbackward\b(?: and (?:the )?(?:forward|parameters?))|\bmessages\b|\bzpráv\w*")


class AskingInWords(Asking):
    """Gathers what is wanted from words, too."""

    def by_words(self, prose: Prose, in_words: bool) -> None:
        """«the gradient with respect to $W$ and $b$», «derive the backward message».

        With ``in_words`` (the layer is named and not written) a verb of asking must stand before.
        """
        by_letter: list[int] = []  # where «with respect to $w$» begins
        for by in named(prose.text, "wrt"):
            start, stop = prose.sentence(by.start)
            for gap in prose.gaps:
                if by.stop <= gap.start < stop:
                    said = prose.said(by.start, gap.start + 1)
                    before = prose.text[start : by.start]
                    if topics.alone(before) or (_ARGUED.search(before) and not _DIFFERENTIATED.search(before)):
                        continue
                    if self._letters(letters_of(gap.formula, self.table), said, "deriv" not in before):
                        by_letter.append(by.start)

        for found in _FOR.finditer(prose.text):
            for gap in prose.gaps:
                if found.start(1) <= gap.start < found.end(1):
                    for name in (n for n in letters_of(gap.formula, self.table) if n in self.roles):
                        self.by_name[name] = not found[0].startswith("deriv")
                        if self._trained(name):
                            said = prose.said(found.start(), gap.start + 1)
                            self.kinds.setdefault("parameters", f"asked for the message of `{name}` ({said})")

        def counts(match: re.Match[str]) -> bool:
            if in_words and not requested(prose.text, match.end()) or discussed(prose.text, match.start()):
                return False
            if topics.begins(prose.text, match.start()):
                return False
            sentence = prose.sentence(match.start())
            particular = any(sentence == prose.sentence(at) and match.end() <= at for at in by_letter)
            return self.output.indices != () or not particular or _OF_LETTERS.match(match[0]) is None

        for kind, pattern in (*KINDS, ("vjp", _BACKWARD), ("parameters", _PARAMETERS)):
            match = next(filter(counts, pattern.finditer(prose.text)), None)
            if match:
                self._kind(kind, prose.said(*match.span()))
        for role, pattern in _WHOLE:
            places = [m for m in pattern.finditer(prose.text) if requested(prose.text, m.start())]
            if places:
                self.whole[role] = any(not _LETTERS_FOLLOW.match(prose.text, m.end()) for m in places)
        for gap in prose.gaps:
            if _DERIVED.match(gap.formula.latex) and not self.kinds and not topics.written(gap.formula):
                self.kinds["jacobian"] = f"asked for ${gap.formula.latex}$ (line {gap.formula.line})"
        match = _ALL.search(prose.text)
        self.everything = match is not None
        for kind in ("forward", "jacobian", "vjp", "parameters") if match else ():
            assert match is not None
            self._kind(kind, prose.said(*match.span()))

    def second(self, prose: Prose) -> None:
        """Say that second derivatives are not answered, where first ones are.

        Raises :class:`UnsupportedError` where nothing else is asked for.
        """
        found = topics.asked(prose)
        if found is not None and not self.kinds:
            raise UnsupportedError(Problem(f"{found[0]}: second derivatives are not covered; ask for the gradient",
                                           line=found[1]))
        if found is not None:
            self.unanswered.append(f"not answered, since it is a second derivative: {found[0]} (line {found[1]})")

    def unread(self, failures: Iterable[tuple[Formula, DeriveError]]) -> None:
        """Say of each derivative that could not be read that it is not answered, where others are."""
        for formula, _ in failures:
            if self.kinds and _QUOTIENT.match(formula.latex) and not equates(formula):
                self.unanswered.append(f"not answered, since it is outside the notation: ${formula.latex.strip()}$ "
                                       f"(line {formula.line})")

_OF = re.compile(r"\b(?:gradients?|derivatives?|subgradients?|jacobian|differentiate|derivac\w*)(?: of)?(?: the| its)?"
                 r"(?: [\w-]+){0,4} $")


_OUTPUT = re.compile(r"\b(?:its|the) (?:final |overall )?(?:output|result)(?: of the [\w-]+(?: [\w-]+)?)? (?:is|are)"
                     r"(?: [\w-]+){0,4} $")
_AS_OUTPUT = re.compile(r"\s(?:is|are) (?:the|its) (?:final |overall )?(?:output|result)\b")


def differentiated_in_words(prose: Prose, table: SymbolTable) -> set[str]:
    """The letters of «the gradient of the loss $L$», «the output is the state $c$», «$m$ is the output»."""
    return {name for gap in prose.gaps if _AS_OUTPUT.match(prose.text, gap.start + 1) or any(
                pattern.search(prose.text, max(0, gap.start - 80), gap.start) for pattern in (_OF, _OUTPUT))
            for name in letters_of(gap.formula, table)}


_QUOTIENT = re.compile(r"\s*\\[dt]?frac\s*\{\s*\\partial")
_DERIVED = re.compile(r"\\nabla|\\?[A-Za-z]+\s*(?:'|\^\s*\{?\s*\\prime)(?:\s*\(.*\))?\s*$")
