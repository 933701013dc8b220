"""Words that say something else than the formulas beside them: of windows, of ties, of what is added."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from derive.expr import Add, Entry, Mul, Reduce, walk
from derive.module import Module
from derive.notation.symbols import name_of
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token

_words = partial(words_of, "en")
_NOT, _BE = _words("DENIES"), _words("IS_OR_GETS")
_PARTAKES, _IS_ZERO = _words("TAKES_PART"), _words("IS_ZERO")
_WINDOWS, _BESIDES = frozenset({"window", "windows"}), frozenset("also except additionally".split())
_EQUAL = frozenset("equal tie ties tied".split())
_GRADIENTS = frozenset("gradient derivative subgradient message".split())
_SHARES = frozenset("both split shared evenly equally goes sent passed routed first last halved".split())


def contradicts(sentence: Sentence, clause: Sentence, module: Module, windows: Collection[int]) -> Token | None:
    """The word of a clause that contradicts the formulas; ``windows`` are the places that are read of windows."""
    found = (_contains_more(clause, module, windows), _takes_part(clause, module), _shares(sentence, clause, module),
             _is_added(clause, module))
    return next(filter(None, found), None)


def _contains_more(clause: Sentence, module: Module, windows: Collection[int]) -> Token | None:
    """«every window also contains its right neighbour»"""
    about = bool(module.fields) and any(t.text in _WINDOWS for t in clause)
    return next((t for t in clause if about and t.text in _BESIDES and t.start not in windows), None)


def _takes_part(clause: Sentence, module: Module) -> Token | None:
    """«the zeros of the border take part in the maximum»: in windows they do not, unless a formula has them."""
    texts = {t.text for t in clause}
    extreme = module.fields and any(isinstance(n, Reduce) and n.op in ("max", "min") for e in module.equations
                                    for n in walk(e))
    around = extreme and texts & _IS_ZERO and not texts & _NOT
    return next((t for t in clause if around and t.text in _PARTAKES), None)


def _shares(sentence: Sentence, clause: Sentence, module: Module) -> Token | None:
    """«if both are equal, the gradient goes to both», where no windows have a rule for ties."""
    texts = {t.text for t in sentence}
    ties = not module.fields and not module.at_ties and texts & _EQUAL and texts & _GRADIENTS
    return next((t for t in clause if ties and t.text in _SHARES), None)


def _is_added(clause: Sentence, module: Module) -> Token | None:
    """«to which $x_k$ is added», where no formula has it as a summand."""
    for letter, is_, done_ in zip(clause, clause[1:], clause[2:], strict=False):
        if letter.formulas and is_.text in _BE and done_.text in ("added", "subtracted"):
            names = {name_of(c).partition("_")[0] for c in letter.letters} & {*module.given, *module.defined}
            if names and names.isdisjoint(_summands(module)):
                return done_
    return None


def _summands(module: Module) -> Iterator[str]:
    """x and a of a x + b"""
    return (n.tensor for e in module.equations for part in walk(e) if isinstance(part, Add) for term in part.terms
            for n in (term.factors if isinstance(term, Mul) else (term,)) if isinstance(n, Entry))
