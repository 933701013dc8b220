r"""Words beside formulas that say what a layer computes: they describe, name, motivate and warn.

What they may not do is to say that more is done than the formulas do: “the output is then masked”, “replace it by …”,
“treat $\mu$ as a constant”. A verb says that where it is the predicate of its clause, and not where it stands before a
noun (“the masked entries”); behind the formulas a clause on what goes through the layer describes it or is open
(:mod:`derive.question.described`). Operations that formulas may show, “added”, “squared”, are read with the lexicon
(``parts/unaccounted.py``). Where what is asked stands in letters that the formulas compute, they *pose* the question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import pairwise

from derive.errors import CardError, Problem
from derive.expr import Entry
from derive.module import Module
from derive.notation.rules.kinds import equates
from derive.notation.symbols import latex_of, name_of
from derive.notation.tree import names_in
from derive.question.described import Describing, is_remark, points
from derive.question.sentences.atoms import number_of
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token, asks, gives_number, in_english, sentences
from derive.question.words.lexicon import named, spans
from derive.question.words.prose import Prose
from derive.specify.layer import Computed
from derive.specify.wanted import Wanted

_words = partial(words_of, "en")
_DONE, _DO, _OBJECT = _words("DONE"), _words("DO"), _words("WHAT_IT_IS_DONE_TO")
_MANNER, _BE, _HAVE = _words("IN_WHAT_ORDER"), _words("IS_OR_GETS"), _words("HAS_BEEN")
_WHO, _NOT, _NOUN, _ENDS = _words("WHO_DOES"), _words("DENIES"), _words("BEFORE_A_NOUN"), _words("BEHIND_A_PREDICATE")
_ALONE, _AGAIN, _NO_AXIS = _words("MORE_BY_ITSELF"), _words("AGAIN"), _words("NO_AXIS")
_ADDITIVE = _words("ADDITIVE")
_GETS_THERE = _words("GETS_THERE")
_HELD, _THROUGH, _REGARD, _AS_WHAT = _words("HELD"), _words("GOES_THROUGH"), _words("REGARD"), _words("AS_WHAT")
_TOLD = ("aside.habit", "aside.other", "slot.hint")  # of habits, of other layers
_WINDOWED = ("geometry", "zeros", "ties")  # families in which all is read of windows
_DOES_SO = frozenset("can may must will holds should".split())
_OCCURS = frozenset("used occurs appears enters".split())
_UNREAL = _words("WOULD_BE")


def is_posed(wanted: Wanted, arrives: bool, layer: Computed) -> bool:
    """Each derivative is by a letter of the layer, and of one; of a loss that no formula computes where ∂L/∂y is given.

    Where it is not, words may say what the loss is: «a ReLU gives $h$ from $z$».
    """
    defined = {d.entry.tensor for d in layer.used}
    return all(isinstance(d.wrt, Entry) and d.wrt.tensor in defined | {*layer.given} and (
        arrives or isinstance(d.of, Entry) and d.of.tensor in defined) for d in wanted.derivatives)


def refuse_more(prose: Prose, module: Module, known: Collection[tuple[int, int]] = (), of_words: bool = False) -> None:
    """Raise :class:`CardError` where words say that more is done than the formulas do, some of these ``of_words``."""
    told = sentences(prose) if in_english(prose.text) else []
    describing, behind = Describing.of(module, told, of_words, _of_windows(prose, module)), False
    for tokens in told:
        remark = is_remark(tokens)
        pointing = points(tokens) and not behind
        for clause in () if asks(tokens) or _is_question(tokens, prose) else clauses(tokens):
            said = _held(clause, module)
            if said is None and describing.read.isdisjoint(t.start for t in clause):
                said = next((t for t in more(clause, known) if not _is_shown(tokens, t)), None)
            if said is None and (behind or pointing) and not (remark or _leads(tokens, clause)):
                said = describing.more(clause, pointing)
            if said is not None and not (_is_told(clause, prose) or _is_one(tokens, said, module, prose)):
                quoted = prose.plain.quote(clause[0].start, clause[-1].start + max(1, len(clause[-1].text)))
                raise CardError(Problem(f"“{quoted}” is not understood beside the layer: if it changes what is "
                                        "computed, write it into the formulas; if not, leave it out", key="forward",
                                        line=prose.plain.line(said.start)))
        behind |= any(t.formulas and t.equates for t in tokens)


def _of_windows(prose: Prose, module: Module) -> frozenset[int]:
    """The places of the words that say what the windows of a layer are."""
    found = (span for family in _WINDOWED for span in spans(prose.text, family)) if module.fields else ()
    return frozenset(at for span in found for at in range(span.start, span.stop))


def _leads(tokens: Sentence, clause: Sentence) -> bool:
    """«The loss is $$…$$»: words that a formula follows say what it shows."""
    return any(t.formulas and t.equates for t in tokens if t.start > clause[-1].start)


def _is_shown(tokens: Sentence, word: Token) -> bool:
    """«The units are standardised and then squashed: $$…$$»: what follows is how."""
    behind = pairwise(tokens)
    return word.kind == "word" and any(a.text == ":" and a.start > word.start and b.equates and any(
        f.display for f in b.formulas) for a, b in behind)


def clauses(tokens: Sentence) -> Iterator[Sentence]:
    """The parts of a sentence between its signs and displayed formulas; an equation ends the part that leads to it."""
    start = 0
    for n, token in enumerate(tokens):
        shown, equates = any(f.display for f in token.formulas), bool(token.formulas) and token.equates
        behind = tokens[n + 1].text if n + 1 < len(tokens) else ""
        if token.kind == "sign" or shown or (equates and behind not in _BE | _DOES_SO):  # «$a = 0$ is excluded»
            end = n + 1 if equates and not shown else n
            if end > start:
                yield tokens[start:end]
            start = n + 1
    if start < len(tokens):
        yield tokens[start:]


def more(clause: Sequence[Token], known: Collection[tuple[int, int]] = ()) -> Iterator[Token]:
    """The words of a clause that say that something is done, and the entries that are given numbers not ``known``."""
    denied = any(t.text in _NOT or (t.formulas and t.equates) for t in clause)  # a formula says what is done
    for n, token in enumerate(clause):
        behind = clause[n + 1].text if n + 1 < len(clause) else ""
        times = token.text == "times" and n > 0 and number_of(clause[n - 1]) is not None and not (
            {t.text for t in clause[:n]} & _OCCURS and any(t.formulas for t in clause[:n]))  # «$x$ is used three times»
        whole = token.text == "used" and not any(t.formulas or t.text == "input" for t in clause)  # «$x$ is used twice»
        again = (token.text == "applied" or whole) and behind in _AGAIN or token.text == "applied" and any(
            t.text == "batch" for t in clause[n:])
        alone = token.text in _ALONE and behind in _BE | _ENDS | {""}  # not «a noise word»
        does = alone or times or again or _is_done(clause, n) or _does(clause, n)
        if gives_number(token, known) or _lacks(clause, n) or (does and not denied):
            yield token


def _is_done(clause: Sequence[Token], n: int) -> bool:
    """«is then masked», «…, iterated twice», «with large weights penalised», not «has been dropped»."""
    beside = {t.text for t in clause if t is not clause[n]}
    if clause[n].text not in _DONE or beside <= _ADDITIVE and beside & {"constant", "constants"}:
        return False
    before = [t for t in clause[:n] if t.text not in _MANNER]
    if before and before[-1].text in _BE:
        return not {t.text for t in before[-2:-1]} & _HAVE
    ends = n + 1 == len(clause) or clause[n + 1].text in _MANNER | _ENDS
    return ends and not (before and before[-1].text in _NOUN)


def _does(clause: Sequence[Token], n: int) -> bool:
    """«we add the …», «then halve it», «the layer negates $x$», not «with gain $g$ and shift $c$»."""
    if clause[n].text not in _DO:
        return False
    before = [t for t in clause[:n] if t.text not in _MANNER]
    behind = next((t for t in clause[n + 1 :] if t.text not in _MANNER), None)
    does = not before or before[-1].text in _WHO or before[-1].kind == "formula"
    noun = any(t.text in ("is", "are") for t in clause[n + 2 : n + 3])  # «the scales $a$ and shifts $b$ are learned»
    of_letter = behind is not None and behind.kind == "formula" and clause[n].text.endswith("s") and not noun
    return does and (behind is None or behind.text in _OBJECT or of_letter)


def _lacks(clause: Sequence[Token], n: int) -> bool:
    """«without the bias»"""
    behind = " ".join(t.text for t in clause[n + 1 : n + 4] if t.kind == "word")
    return clause[n].text == "without" and bool(named(behind, "letter"))


def _held(clause: Sequence[Token], module: Module) -> Token | None:
    r"""«treat $\mu$ as a constant», «no gradient flows through $\mu$», of what the formulas compute or words name."""
    letters = {name_of(letter) for t in clause if t.formulas for letter in t.letters}
    texts = {t.text for t in clause}
    if letters and not letters & ({*module.defined} | _trained(module) if texts & _REGARD else {*module.defined}):
        return None
    if texts & _NOT:
        held = _THROUGH if letters or texts & _GETS_THERE else frozenset()
    else:
        held = _HELD if letters else _AS_WHAT if texts & _REGARD else frozenset()
    return next((t for t in clause if t.text in held), None)


def _trained(module: Module) -> set[str]:
    return {*module.given} - {*module.constants}


def _is_one(tokens: Sentence, said: Token, module: Module, prose: Prose) -> bool:
    """«the slope $a$ is shared by all units»: the formulas write that letter without an index, or with those it has."""
    if not said.text.startswith("share"):
        return False
    if any(t.text in _NO_AXIS for t in tokens):
        return True
    letters = {letter for t in tokens if t.formulas for letter in t.letters or _of_facts(t)}
    written = " ".join(f.latex for f in prose.formulas if equates(f))
    return bool(letters) and all(
        (symbol := module.table.named(name_of(letter))) is not None and not (symbol.axes and _is_bare(letter, written))
        for letter in letters)


def _of_facts(token: Token) -> Iterator[str]:
    r"""\beta of $\beta > 0$."""
    return (latex_of(name) for f in token.formulas if not equates(f) for name in names_in(f.tree or ()))


def _is_bare(letter: str, latex: str) -> bool:
    """The letter stands there without an index."""
    return re.search(rf"{re.escape(letter)}(?![A-Za-z]|\s*\}}?\s*_)", latex) is not None


def _is_question(tokens: Sentence, prose: Prose) -> bool:
    """«Is it continuous at $x_i = 0$?»"""
    _, stop = prose.sentence(tokens[-1].start)
    return prose.text[stop - 1 : stop] == "?"


def _is_told(clause: Sentence, prose: Prose) -> bool:
    """The sentence speaks of habits, of what would be or is an error, of other layers."""
    start, stop = prose.sentence(clause[0].start)
    return bool(named(prose.text[start:stop], *_TOLD)) or not _UNREAL.isdisjoint(
        prose.text[start:stop].split())
