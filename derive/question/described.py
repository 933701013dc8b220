"""Beside a layer's formulas a clause on what goes through it describes that, in words that do nothing else.

“The output is a column vector”, “its weights are trainable” describe; “the input passes a ReLU”, “the same weights
serve a second layer” may do more, and more ways to say so exist than a list of verbs has.  So the words that describe
are listed, not those that do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from derive.module import Module
from derive.notation.rules.kinds import Said
from derive.notation.symbols import name_of
from derive.notation.tree import names_in
from derive.question.letters.naming import bare_letters
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token
from derive.question.words.lexicon import named
from derive.records import dataclass

_words = partial(words_of, "en")
_FLOW, _REMARKS = _words("OF_THE_FLOW"), _words("OPENS_A_REMARK")
_DESCRIBES = _words("DESCRIBES") | _words("NO_AXIS")
_WORTH, _POINTS, _COMPUTED = _words("WORTH_A_REMARK"), _words("POINTS_TO_FORMULAS"), _words("IS_COMPUTED")
_DENIED = _words("DENIES") - {"nothing"} | _words("HAS_BEEN") | {"may", "might"}  # or is not so, or not always
_BEGINS, _FROM = frozenset("begin start proceed".split()), frozenset("with from at".split())
_CHANGED = _words("DONE") | _words("CHANGES_WHAT_IS_ASKED")
_SUBJECT = 5  # words within which a clause names what it is about
_SHORT = 3  # without a verb
_NAME = 2  # words of a name, in front of its letter or behind “is the”


@dataclass(frozen=True)
class Describing:
    """What clauses beside the formulas of a ``module`` may be about: its letters, and the words that tell of these."""

    module: Module
    told: frozenset[str]
    of_words: bool  # some formulas are of parts that words name
    read: frozenset[int]  # the places of words that are read where windows are

    @classmethod
    def of(cls, module: Module, sentences: Iterable[Sentence], of_words: bool, read: frozenset[int]) -> Describing:
        """The words with which the formulas are told, but those that describe anything."""
        return cls(module, frozenset(
            t.text for tokens in sentences if any(map(_is_equation, tokens)) for t in tokens
            if t.kind == "word" and len(t.text) > 3 and t.text not in _DESCRIBES | _REMARKS), of_words, read)

    def more(self, clause: Sequence[Token], pointing: bool = False) -> Token | None:
        """The first word that does more than describe, in a clause on what goes through the layer.

        A sentence ``pointing`` to the formulas is about them as a whole.
        """
        told = any(_is_equation(t) or _is_case(t) or _arrives(t) for t in clause)
        if told or len(clause) < _SHORT or not self._is_of_flow(clause if pointing else clause[:_SUBJECT]):
            return None
        if self.of_words and named(" ".join(t.text for t in clause), "part"):
            return None  # read where parts are
        names = _names(clause)
        return next((t for part in _joined(clause) if not any(u.text in _DENIED for _, u in part)
                     for n, t in part if t.kind == "word" and t.text not in _DESCRIBES
                     and n not in names and t.start not in self.read), None)

    def _is_of_flow(self, subject: Sequence[Token]) -> bool:
        names = _names(subject)
        about = {t.text for n, t in enumerate(subject) if n not in names}
        if subject[0].text == "what" or not about.isdisjoint(_FLOW | self.told):
            return True
        letters = {name for t in subject for f in t.formulas
                   for name in (*map(name_of, bare_letters(f)), *names_in(f.tree or ()))}
        return bool(letters & {*self.module.given, *self.module.defined} - {*self.module.constants})


def is_remark(tokens: Sentence) -> bool:
    """The sentence says how to work, what is supposed, or asks."""
    texts = [t.text for t in tokens if t.kind == "word"]
    if texts[:1] and texts[0] in _BEGINS and texts[1:2] and texts[1] in _FROM:  # «begin with the pre-activations $a$»
        at = next((n for n, t in enumerate(tokens) if t.formulas), 0)
        return 2 <= at <= _SUBJECT and _CHANGED.isdisjoint(texts)
    return bool(texts) and (texts[0] in _REMARKS or texts[:2] == ["it", "is"] and not _WORTH.isdisjoint(texts[2:3]))


def points(tokens: Sentence) -> bool:
    """It says of what follows: «In the network below, …», «Before it meets the keys, …»."""
    return tokens[0].text == "before" or any(t.text in _POINTS for t in tokens)


def _is_equation(token: Token) -> bool:
    return bool(token.formulas) and token.equates


def _joined(clause: Sequence[Token]) -> list[list[tuple[int, Token]]]:
    """What “and” and “but” join, with their places."""
    found: list[list[tuple[int, Token]]] = [[]]
    for n, token in enumerate(clause):
        if token.text in ("and", "but"):
            found.append([])
        found[-1].append((n, token))
    return found


def _arrives(token: Token) -> bool:
    """∂L/∂y, of which a clause says whence it comes."""
    return bool(token.formulas) and token.said in (Said.DERIVATIVE, Said.GRADIENT)


def _is_case(token: Token) -> bool:
    """«With $T = 1$ it is …»"""
    return any("=" in f.latex for f in token.formulas)


def _names(clause: Sequence[Token]) -> set[int]:
    """The words that name letters: «the hidden threshold $\\lambda$», «where $\\Delta$ is the margin»."""
    found = set[int]()
    for n, token in enumerate(clause):
        if token.formulas and not (token.equates or _is_case(token)):
            found |= {m for m in range(max(0, n - _NAME), n) if clause[m].text not in _COMPUTED}
            behind = [t.text for t in clause[n + 1 : n + 3]]
            if len(behind) == 2 and behind[0] in ("is", "are", "be") and behind[1] in ("the", "a", "an"):
                found |= {m for m in range(n + 3, n + 3 + _NAME) if m < len(clause) and clause[m].text not in _COMPUTED}
    return found
