r"""Words beside formulas that say what a layer computes: they describe, name, motivate and warn.

What they may not do is to say that more is done than the formulas do: “the output is then masked”, “replace it by …”,
“treat $\mu$ as a constant” (:mod:`derive.question.sentences.acts`).  Operations that formulas may show, “added”,
“squared”, are read with the lexicon (``parts/unaccounted.py``). Where what is asked stands in letters that the formulas
compute, they *pose* the question.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile

from derive.errors import CardError, Problem
from derive.expr import Bracket, Entry, Reduce, walk
from derive.module import Module
from derive.notation.rules.kinds import Said, equates, is_case
from derive.notation.rules.trees import sides, statements
from derive.notation.symbols import latex_of, name_of
from derive.notation.tree import Item, below, names_in, split
from derive.question.contrary import contradicts
from derive.question.exchanged import refuse_exchanged
from derive.question.letters.outside import told_outside
from derive.question.sentences.acts import Told, acts, does, done, in_bracket, points, predicate
from derive.question.sentences.atoms import number_of
from derive.question.sentences.beside import is_taken
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token, asks, gives_number, in_english, sentences
from derive.question.words.lexicon import begins, named, only, spans
from derive.question.words.prose import BREAK, Prose
from derive.specify.layer import Computed
from derive.specify.wanted import Wanted

_words = partial(words_of, "en")
_NOT, _BE, _AGAIN, _NO_AXIS = _words("DENIES"), _words("IS_OR_GETS"), _words("AGAIN"), _words("NO_AXIS")
_GETS_THERE = _words("GETS_THERE")
_HELD, _THROUGH, _REGARD, _AS_WHAT = _words("HELD"), _words("GOES_THROUGH"), _words("REGARD"), _words("AS_WHAT")
_TOLD = ("aside.habit", "aside.other")  # of habits, of other layers
_WINDOWED = ("geometry", "zeros", "ties")  # families in which all is read of windows
# in front of «$x_1 = 1$»
_CASES = frozenset("if for when where whenever at case point points start starts starting initial initialised "
                   "initially".split())
_LEADS = frozenset(": by as via through follows to".split())  # to what is shown
_WHOLE = words_of("en", "THE_LAYER") | {"it", "activation", "nonlinearity", "function"}  # twice: another layer
_CHOOSES = frozenset("take takes use uses choose chooses consider minimise minimises".split())
_TAKES = _words("TAKES_A_LIMIT")
LIMIT = re.compile(r"\\(?:to|rightarrow|longrightarrow)\b(?!\s*\\mathbb)")
_FOR = frozenset({"for", "with", "at"})  # a special case
_SMALL = 3  # letters of a word between others
_DOES_SO = frozenset("can may must will holds should".split())
_SAYS, _WHETHER = _words("ASKS_FOR_WORDS"), _words("OPENS_A_QUESTION")
_REWRITES = frozenset("cancel simplify rewrite check verify confirm compare".split())  # of what is found
_RESULTS = frozenset("can possible result results answer answers terms everything your that".split())
_MORE = _words("SAYS_MORE")
_TAKEN = frozenset("taken set treated regarded".split())
_PRONOUNS = frozenset({"it", "they"})
_VARIABLES = frozenset("input inputs variable variables quantities values".split())
_EPSILON = frozenset("epsilon varepsilon eps".split())
_OCCURS = frozenset("used occurs appears enters".split())
_TURNS = frozenset().union(*(done(verb) | does(verb) for verb in _words("TURNS_INTO")))
_INTO, _AND = frozenset("to into by onto".split()), frozenset({"and", "then"})
_PREDICATES = _BE | _words("ENDS_WHAT_IS_TURNED")
_UNREAL, _OTHERS = _words("WOULD_BE"), _words("OTHERS")


def is_posed(wanted: Wanted, arrives: bool, layer: Computed) -> bool:
    """Each derivative is by a letter of the layer, and of one; of a loss that no formula computes where ∂L/∂y is given.

    Where it is not, words may say what the loss is: «a ReLU gives $h$ from $z$».
    """
    defined = {d.entry.tensor for d in layer.used}
    return all(isinstance(d.wrt, Entry) and d.wrt.tensor in defined | {*layer.given} and (
        arrives or isinstance(d.of, Entry) and d.of.tensor in defined) for d in wanted.derivatives)


def refuse_more(prose: Prose, module: Module, known: Collection[tuple[int, int]] = (),
                places: Sequence[tuple[int, int]] | None = None) -> None:
    """Raise :class:`CardError` where words say that more is done than the formulas do, some of words at ``places``."""
    told = sentences(prose) if in_english(prose.text) else []
    windows, attributes, behind = _of_windows(prose, module), _attributes(prose), False
    _refuse_zeros(prose, module, known)
    zeros = {t.start for clause in told_outside(prose) for t in clause}  # which are in the formulas
    for tokens in filter(asks, told):
        refuse_exchanged(tokens, prose, module)
    for tokens in told:
        follows, beside = behind or points(tokens), Told(tokens)
        equating = [t.start for t in tokens if t.equates]
        shown = equating[-1] if equating else 0  # words that a formula follows say what it shows
        for clause in () if asks(tokens) or _is_question(tokens, prose) else clauses(tokens):
            if _is_special(clause, module) or _is_label(clause, module) or is_taken(clause, prose, places or ()):
                continue
            said = _held(clause, module) or _takes_limit(clause)
            contrary = contradicts(tokens, clause, module, windows)
            if said is None and not (places is not None and _names_a_part(clause)):
                after = bool(equating) and equating[0] < clause[0].start
                found = itertools.chain(more(beside, clause, follows and shown <= clause[-1].start, known), (
                    t for t in more(beside, clause, after, known) if t.text in _MORE))  # «with periodic boundary»
                said = next((t for t in found
                             if t.start not in attributes and not (t.start in zeros and t.text in _TAKEN)
                             and not _is_shown(tokens, t)
                             and not _is_of_windows(clause, t, windows) and not _is_left_as_it_is(clause, t, module)
                             and not _is_of_given(clause, t, module)), None)
            if said is not None and (_is_told(clause, prose) or _is_one(tokens, said, module, prose)):
                said = None
            if (said := contrary or said) is not None:
                quoted = prose.plain.quote(clause[0].start, clause[-1].stop)
                raise CardError(Problem(f"“{quoted}” is not understood beside the layer: if it changes what is "
                                        "computed, write it into the formulas; if not, leave it out", key="forward",
                                        line=prose.plain.line(said.start)))
        behind |= bool(equating)


def _refuse_zeros(prose: Prose, module: Module, known: Collection[tuple[int, int]]) -> None:
    """Raise :class:`CardError` for «$x$ outside of the image counts as zero», where no formula says it."""
    if known or module.fields or any(isinstance(n, Bracket) or isinstance(n, Reduce) and n.binder.cond is not None
                                     for equation in module.equations for n in walk(equation)):
        return
    for tokens in told_outside(prose):
        quoted = prose.plain.quote(tokens[0].start, tokens[-1].stop)
        raise CardError(Problem(f"“{quoted}”: write it as a formula, as in `$x_s = 0$ for $s < 0$ and for $s > n$`",
                                line=prose.plain.line(tokens[0].start), key="forward"))


def _takes_limit(clause: Sentence) -> Token | None:
    r"""«let $\beta \to \infty$»: the layer is another one."""
    limit = any(t.formulas and LIMIT.search(t.formula.latex) for t in clause)
    return next((t for t in clause if limit and t.text in _TAKES), None)


def _is_special(clause: Sentence, module: Module) -> bool:
    """«for $p = 1$ this is the average», of a number $p$ that the layer is given: the formulas hold for any."""
    numbers = {s.name for s in module.table.symbols if not s.axes and s.name in module.given}
    return clause[0].text in _FOR and any(t.formulas and is_case(t.formula.tree or ()) and {
        *names_in(t.formula.tree or ())} <= numbers for t in clause[1:3])


def _is_label(clause: Sentence, module: Module) -> bool:
    """«$t_{nk} = 1$ if the sample belongs to the class $k$ and $t_{nk} = 0$ otherwise»: what a given letter means."""
    words, sets = {t.text for t in clause}, [t for t in clause if t.formulas and t.sets]
    return {"belongs", "class"} <= words and bool(sets) and all(
        next(names_in(t.formula.tree or ()), "") in module.given for t in sets)


def _names_a_part(clause: Sentence) -> bool:
    """It is read where parts are."""
    return bool(named(" ".join(t.text for t in clause), "part", "head.loss"))


def _is_of_windows(clause: Sentence, word: Token, windows: frozenset[int]) -> bool:
    """«the maximum over 2×2 windows is taken», «the windows are shifted by two pixels»: read where windows are."""
    found = [t for t in clause if t.start in windows and (t.kind != "word" or len(t.text) > _SMALL)]
    return bool(found) and word.text == "taken" or word in found and len(found) > 1


def _of_windows(prose: Prose, module: Module) -> frozenset[int]:
    """The places of the words that say what the windows of a layer are."""
    return frozenset().union(*(_places(prose, family) for family in _WINDOWED)) if module.fields else frozenset()


def _attributes(prose: Prose) -> frozenset[int]:
    """The places of «scaled dot product» in the name of an attention, of «skip» in that of a connection."""
    return frozenset(at for span in spans(prose.text, "part")
                     for at in range(span.start, span.start + prose.text[span.start : span.stop].rfind(" ")))


def _places(prose: Prose, family: str) -> frozenset[int]:
    return frozenset(at for span in spans(prose.text, family) for at in range(span.start, span.stop))


def _is_shown(tokens: Sentence, word: Token) -> bool:
    """«The units are standardised and then squashed: $$…$$»: what follows is how."""
    leads = _LEADS | ({","} if word.text in _CHOOSES else {"is", "are"} if word.text == "without" else set())
    colon = next((t.start for t in tokens if t.text == ":" and t.start > word.start), None)
    headed = {b.start for a, b in pairwise(tokens) if a.text == ":" and b.equates}  # «scale: $y_i = s x_i$»
    displayed = [t for t in tokens if t.equates and (t.start in headed or any(f.display for f in t.formulas))]
    return word.kind == "word" and (colon is not None and any(t.start > colon for t in displayed) or any(
        a.text in leads and a.start > word.start and b in displayed for a, b in pairwise(tokens)) or
        _is_turned(tokens, word) or _is_done_by(tokens, word, displayed) or _is_what_it_does(tokens, word, displayed))


def _is_what_it_does(tokens: Sentence, word: Token, displayed: Sequence[Token]) -> bool:
    """«Layer normalisation standardises the vector $x$, $$…$$»: what the layer of the formula does, in one verb."""
    before = " ".join(t.text for t in tokens[: tokens.index(word)])
    opens = next((s for s in named(before, "part") if len(before[: s.start].split()) < 2), None)
    clause = [t for n, t in enumerate(takewhile(lambda t: t not in displayed, tokens)) if not in_bracket(tokens, n)]
    return opens is not None and word in clause and bool(displayed) and _AND.isdisjoint(
        t.text for t in clause)


def _is_done_by(tokens: Sentence, word: Token, displayed: Sequence[Token]) -> bool:
    """«they are fused by a bilinear layer with $r$ outputs, $$…$$»: the layer of which the formula follows does it."""
    n = tokens.index(word)
    behind = [*takewhile(lambda t: t not in displayed, tokens[n + 1 :])]
    layer = " ".join(t.text for t in behind[1:])
    return n + 1 + len(behind) < len(tokens) and bool(behind) and behind[0].text in ("by", "with", "through") and (
        bool(named(layer, "head.layer")) and _AND.union({","}).isdisjoint(t.text for t in behind[:-1]))


def _is_turned(tokens: Sentence, word: Token) -> bool:
    """«… transforms the scores to probabilities $$…$$», «is shifted to zero mean and scaled to unit norm, $$…$$»."""
    if word.text not in _TURNS:
        return False
    behind = [t for t in tokens if t.start > word.start]
    shown = next((n for n, t in enumerate(behind) if t.equates and any(f.display for f in t.formulas)), 0)
    between = behind[: shown - 1] if shown and behind[shown - 1].text == "," else behind[:shown]
    goes_on = any(a.text in _AND and b.text not in _TURNS for a, b in pairwise(between))
    return not goes_on and any(t.text in _INTO for t in between) and not any(
        t.kind == "sign" or t.equates or t.text in _PREDICATES for t in between)


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


def more(beside: Told, clause: Sequence[Token], behind: bool,
         known: Collection[tuple[int, int]] = ()) -> Iterator[Token]:
    """The words of a clause that say that something is done, and the entries that are given numbers not ``known``.

    ``beside`` is its sentence.  ``behind`` the formulas any word that acts says so, in front of them the predicate.
    """
    if any(t.formulas and (t.equates or t.said is Said.GRADIENT) for t in clause):
        told = {t.start for t in clause}  # a formula says what is done
    else:
        told = beside.places(clause) | _denied(clause)
    for n, token in enumerate(clause):
        if gives_number(token, known):
            at = next(m for m, t in enumerate(beside.sentence) if t is token)
            said = _CASES.isdisjoint(t.text for t in beside.sentence[:at]) and not in_bracket(beside.sentence, at)
        else:
            said = _lacks(clause, n, beside.sentence) or token.start not in told and (
                _repeats(clause, n) or behind and acts(clause, n) or predicate(clause, n))
        if said:
            yield token


def _repeats(clause: Sequence[Token], n: int) -> bool:
    """«counts three times», «is applied twice», not «$x$ is used twice»."""
    text = clause[n].text
    again = clause[n + 1].text in _AGAIN if n + 1 < len(clause) else False
    if text == "times":
        occurs = {t.text for t in clause[:n]} & _OCCURS and any(t.formulas for t in clause[:n])
        return n > 0 and number_of(clause[n - 1]) is not None and not occurs
    whole = text == "used" and not _WHOLE.isdisjoint(t.text for t in clause)
    return (text == "applied" or whole) and again or text == "applied" and any(t.text == "batch" for t in clause[n:])


def _denied(clause: Sequence[Token]) -> set[int]:
    """Where words stand that are denied: «is not masked», «multiplying it does not alter …», not «is $g$, not $h$»."""
    first = next((m for m, t in enumerate(clause) if t.text in _NOT and not (clause[m + 1 : m + 2] and (
        clause[m + 1].text in ("longer", "only") or clause[m + 1].formulas))), len(clause))
    return {t.start for m, t in enumerate(clause) if first < len(clause) and (m > first or t.text.endswith("ing"))}


def _lacks(clause: Sequence[Token], n: int, sentence: Sequence[Token]) -> bool:
    """«without the bias», but for «a dense layer without bias computes $y = W x$», whose formula has none."""
    behind = " ".join(t.text for t in clause[n + 1 : n + 4] if t.kind == "word")
    if clause[n].text != "without" or not named(behind, "letter"):
        return False
    shown = [side for t in sentence for f in t.formulas if t.equates for part in statements(f.tree or ())
             for side in sides(part)[1:]]
    bare = shown and not any(map(_adds_a_letter, shown))
    return not (bare and named(behind, "bias"))


def _adds_a_letter(run: Sequence[Item]) -> bool:
    r"""b of W x + b, wherever it stands, but for the \epsilon of a root"""
    return any(len(term) == 1 and _EPSILON.isdisjoint(names_in(term)) for term in split(tuple(run), "PLUS")[1:]) or any(
        _adds_a_letter(inner) for item in run for inner in below(item))


def _held(clause: Sequence[Token], module: Module) -> Token | None:
    r"""«treat $\mu$ as a constant», «no gradient flows through $\mu$», of what the formulas compute or words name."""
    letters = {name_of(letter) for t in clause if t.formulas for letter in t.letters}
    texts = {t.text for t in clause}
    if letters and not letters & ({*module.defined} | _trained(module) if texts & _REGARD else {*module.defined}):
        return None
    if _is_independent(clause, letters, module):
        return None
    if not _OTHERS.isdisjoint(texts):
        return None  # «every year somebody treats the mean as a constant»
    if texts & _NOT - {"without"}:
        held = _THROUGH if letters or texts & _GETS_THERE else frozenset()
    else:
        held = (_HELD if letters else frozenset()) | (_AS_WHAT if texts & _REGARD else frozenset())
    return next((t for t in clause if t.text in held), None)


def _is_independent(clause: Sequence[Token], letters: set[str], module: Module) -> bool:
    """«take $f$ and $i$ as independent inputs», of what is given, or by which derivatives are asked for."""
    apart = any(a.text == "independent" and b.text in _VARIABLES for a, b in pairwise(clause))
    asked = {e.tensor for w in module.wanted for e in walk(w.wrt) if isinstance(e, Entry)}
    all_of = any(number_of(t) == str(len(asked)) for t in clause)  # «the five vectors», by which it is asked
    return apart and (bool(letters) or all_of) and not (letters & {*module.defined}) - asked


def _is_left_as_it_is(clause: Sentence, word: Token, module: Module) -> bool:
    r"""«fine-tuned with $\mu$ frozen», of letters that the layer is given and by which no derivative is asked for."""
    asked = {e.tensor for w in module.wanted for e in walk(w.wrt) if isinstance(e, Entry)}
    letters = {name_of(letter) for t in clause if t.formulas for letter in t.letters}
    return word.text in _HELD and bool(asked and letters) and letters <= {*module.given} - asked


def _is_of_given(clause: Sentence, word: Token, module: Module) -> bool:
    """«a random mask $m_1, …, m_n$», of letters that the layer is given."""
    at = next((n for n, t in enumerate(clause) if t is word), 0)
    letters = {name_of(letter).partition("_")[0] for t in clause[at + 2 : at + 3] if t.formulas
               for letter in t.letters}
    return word.text in _MORE and bool(letters) and letters <= {*module.given} and clause[at + 1].kind == "word"


def _trained(module: Module) -> set[str]:
    return {*module.given} - {*module.constants}


def _is_one(tokens: Sentence, said: Token, module: Module, prose: Prose) -> bool:
    """«the slope $a$ is shared by all units»: the formulas write that letter without an index, or with those it has."""
    if said.text not in ("shared", "share"):
        return False
    if any(t.text in _NO_AXIS for t in tokens):
        return True
    whole = [*_before(tokens, prose), *tokens] if tokens[0].text in _PRONOUNS else tokens
    named_ = [[*(t.letters or _of_facts(t))] for t in whole if t.formulas and t.start < said.start]
    nearest: list[str] = next(filter(None, reversed(named_)), [])  # «$a$ is learned; it is shared by …»
    letters = {letter for t in tokens if t.formulas and t.start > said.start for letter in t.letters or _of_facts(t)}
    letters |= {*nearest}
    written = " ".join(f.latex for f in prose.formulas if equates(f))
    number = any(named(t.text, "rank.scalar") for t in tokens)  # «the same scalar $b$», not $b_i$
    return bool(letters) and all((symbol := module.table.named(name_of(letter))) is not None and not (
        symbol.axes and (number or _is_bare(letter, written))) for letter in letters)


def _before(tokens: Sentence, prose: Prose) -> Sentence:
    """The sentence in front of a sentence."""
    return next((a for a, b in pairwise(sentences(prose)) if b[0].start == tokens[0].start), ())


def _of_facts(token: Token) -> Iterator[str]:
    r"""\beta of $\beta > 0$."""
    return (latex_of(name) for f in token.formulas if not equates(f) for name in names_in(f.tree or ()))


def _is_bare(letter: str, latex: str) -> bool:
    """The letter stands there without an index."""
    return re.search(rf"{re.escape(letter)}(?![A-Za-z]|\s*\}}?\s*_)", latex) is not None


def _is_question(tokens: Sentence, prose: Prose) -> bool:
    """«Is it continuous at $x_i = 0$?», «Say which of the two is the flipped filter.»"""
    _, stop = prose.sentence(tokens[-1].start)
    told = tokens[0].text in _SAYS and any(t.text in _WHETHER for t in tokens[1:3])
    rewrites = tokens[0].text in _REWRITES and any(t.text in _RESULTS for t in tokens)  # «cancel what can be cancelled»
    return told or rewrites or prose.text[stop - 1 : stop] == "?"


def _is_told(clause: Sentence, prose: Prose) -> bool:
    """The clause speaks of habits, of what would be or is an error, of other layers; its sentence is a hint."""
    start, stop = prose.sentence(clause[0].start)
    words = " ".join(t.text for t in clause)
    paragraph = prose.text[prose.text.rfind(BREAK, 0, start) + 1 :].lstrip(" *_>-")
    if begins(paragraph, 0, "slot.hint", "slot.remark") and not any(t.equates for t in clause):
        return True  # of a paragraph that begins so
    if named(words, "ties.none") and only(words, 0, len(words), "ties.none", "small"):
        return True  # «ties do not occur»
    return bool(named(words, *_TOLD) or named(prose.text[start:stop], "slot.hint")) or not _UNREAL.isdisjoint(
        prose.text[start:stop].split())
