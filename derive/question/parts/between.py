"""Layers that words put between a letter that is asked about and the one letter that the card's formulas take.

«A sigmoid maps the scores $z_{nk}$ to probabilities $p_{nk}$», «… is followed by a ReLU; call the result $y$»: beside a
formula of $y$ and a request for ∂L/∂x the letters say what goes in and what comes out. Of the words up to that formula
only those count that act, change a layer or give numbers: with one of them nothing is put there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from derive.expr import Entry, walk
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import Kind, SymbolTable, name_of, split_label
from derive.notation.tree import Items, Scripted, inside, names_in
from derive.question.letters.naming import Mention, bare_letters
from derive.question.parts.around import computed_by
from derive.question.parts.chain import Chain
from derive.question.parts.doubtful import doubtful
from derive.question.parts.loose import cut_numbers
from derive.question.parts.network import network
from derive.question.parts.recognised import LOSSES, SLOPED, Part, role_of
from derive.question.parts.unwritten import changing
from derive.question.requests.quotients import derivative_parts
from derive.question.sentences.acts import CHANGING, acts, is_told
from derive.question.sentences.atoms import number_of
from derive.question.sentences.tokens import Sentence, asks, sentences
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose
from derive.question.words.reading import Read
from derive.specify.definitions import Definitions

_PLAIN = frozenset("sigmoid tanh relu softplus silu softsign linear softmax".split())  # without options


def parts_between(prose: Prose, written: Sequence[Formula], defined: Definitions, read: Read
                  ) -> tuple[list[Formula], list[Mention]]:
    """The formulas of the parts that words put in front of the card's formulas, and what their letters are.

    Nothing where the letters do not say what goes in and what comes out, or the words say more.
    """
    chain = Chain(prose)
    told = [s for s in sentences(prose) if s[0].start < _first(prose)]
    values = [d.value for d in defined.tensors.values()]
    parts = [p for p in chain.parts if p.name not in LOSSES and p.end <= _first(prose) and not computed_by(p, values)]
    if not parts or not all(p.name in _PLAIN or p.name in SLOPED and "slope" in {**p.letters, **p.options}
                            for p in parts):
        return [], []
    told = [s for s in told if s[-1].start >= parts[0].start]
    entries = {n.tensor: len(n.indices) for v in values for n in walk(v) if isinstance(n, Entry)}
    ends = _ends(chain, parts, told, entries, defined, read)
    if ends is None or _says_more(chain, parts, told, ends):
        return [], []
    source, output = ends
    rank = entries[output]
    if rank > 1 and not {p.name for p in parts}.isdisjoint({"linear", "softmax"}):
        return [], []
    last = parts[-1]
    chain.parts = [*parts[:-1], replace(last, letters={**last.letters, "output": _latex(read.table, output)})]
    chain.continued = True
    if chain.batch is not None:  # of which letters are not vectors
        return [], []
    taken = {s.latex for s in read.table.symbols} - {_latex(read.table, output)}
    found = network(chain, written, [], several=rank > 0, source=_latex(read.table, source), rank=rank, taken=taken)
    return found.formulas, found.mentions


def _first(prose: Prose) -> int:
    """Where the first equation stands."""
    return next((t.start for s in sentences(prose) for t in s if t.equates), len(prose.text))


def _ends(chain: Chain, parts: Sequence[Part], told: Sequence[Sentence], entries: Collection[str],
          defined: Definitions, read: Read) -> tuple[str, str] | None:
    """What goes in and what comes out: a letter that is asked about and that no formula has, and one that formulas take
    and nothing defines, both named where the parts are; None where other letters stand there, too."""
    own = {name_of(c) for p in parts for what, c in p.letters.items() if what != "output"}
    targets = {name_of(c) for m in chain.spoken if role_of(m) == "target" for c in m.letters}
    running = {s.name for s in read.table.symbols if s.kind is not Kind.TENSOR} | {
        axis for s in read.table.symbols for axis in s.axes} | {*chain.sizes, *_indices(chain.prose)}
    known, here = {*defined.tensors} | own | running, {*itertools.chain(*(_names(s) for s in told))}
    asked = {*itertools.chain(*(_wanted(s) for s in sentences(chain.prose) if asks(s)))}
    given, taken = asked - {*entries} - known, (here & {*entries}) - known - targets
    taken = taken & {*_results(chain, parts[-1], told)} or taken
    if not all(t.said in _NAMED or t.equates for s in told for t in s if t.kind == "formula" and any(
            s[0].start <= p.start <= s[-1].start for p in parts)):
        return None  # $z_i + 1$
    if len(given) != 1 or len(taken) != 1 or here - given - known - targets - {*entries}:
        return None
    source, output = given.pop(), taken.pop()
    places = {name: t.start for s in reversed(told) for t in reversed(s) for name in _names((t,))}  # the first
    return (source, output) if max(places.get(source, 0), parts[-1].start) < places[output] else None


def _results(chain: Chain, last: Part, told: Sequence[Sentence]) -> Iterator[str]:
    """y of «with output $y$», «call the result $y$», «which gives $y$»."""
    yield _base(name_of(last.letters.get("output", "")))
    for sentence in told:
        for n, token in enumerate(sentence):
            before = itertools.takewhile(lambda t: t.kind == "word" and t.text != "and", reversed(sentence[:n]))
            if token.formulas and not _RESULT.isdisjoint(t.text for t in itertools.islice(before, _NEAR)):
                yield from _names((token,))


_NEAR = 3  # words
_NAMED = (Said.LETTERS, Said.DECLARATION, Said.RANGE, Said.NAMES)
_RESULT = frozenset("""result output outputs gives give giving yields yield yielding produces producing call called
    into""".split())


def _names(sentence: Sentence) -> Iterator[str]:
    for formula in (f for t in sentence for f in t.formulas if not t.equates):
        yield from (_base(name) for name in (*map(name_of, bare_letters(formula)), *names_in(formula.tree or ()))
                    if not name.endswith("_bb"))


def _indices(prose: Prose) -> Iterator[str]:
    """k of $x_k$ and of $k = 1, …, n$"""
    for formula in prose.formulas:
        if kind_of(formula) is Said.RANGE:
            yield from itertools.islice(names_in(formula.tree or ()), 1)
        yield from (name for sub in _subscripts(formula) for name in names_in(sub))


def _subscripts(formula: Formula) -> Iterator[Items]:
    for item in (below for top in formula.tree or () for below in inside(top)):
        if isinstance(item, Scripted):
            yield from item.subs


def _wanted(sentence: Sentence) -> Iterator[str]:
    """x of ∂L/∂x_i and of «with respect to $x$»"""
    for formula in (f for t in sentence for f in t.formulas if not t.equates):
        _, below = derivative_parts(formula.latex)
        yield from map(name_of, bare_letters(formula)) if below is None else (split_label(name_of(below))[0],)


def _base(name: str) -> str:
    """x of x_1"""
    return split_label(name)[0] if name[-1:].isdecimal() else name


def _says_more(chain: Chain, parts: Sequence[Part], told: Sequence[Sentence], ends: Collection[str]) -> bool:
    """A word acts, changes a layer, or a number stands there that is no part's.

    From what goes in to what comes out each word counts that may change a layer.
    """
    read = (*((p.start, p.end) for p in parts), *chain.understood)
    places = {at for a, b in read for at in range(a, b)}
    goes = {at for s in named(chain.prose.text, "join", "goes") for at in range(s.start, s.stop)}
    chain.parts, chain.continued = list(parts), True
    start, stop = told[0][0].start, told[-1][-1].start
    doubts = (*changing(chain), *cut_numbers(chain), *doubtful(chain))
    if any(start <= at <= stop for at, _ in doubts):
        return True
    return any(_counts(sentence, n, parts, places | goes, _region(sentence, parts, ends))
               for sentence in told for n, _ in enumerate(sentence))


def _counts(sentence: Sentence, n: int, parts: Sequence[Part], known: Collection[int], region: range) -> bool:
    token = sentence[n]
    if token.formulas:
        return any(_SHIFTED.search(f.latex) for f in token.formulas) and not token.equates
    if token.start in known:
        first = any(p.start == token.start for p in parts) and n > 0
        return first and sentence[n - 1].kind == "word" and not (
            sentence[n - 1].text in _BEFORE_A_PART or sentence[n - 1].start in known) or first and [
                t.text for t in sentence[max(0, n - 2) : n]] == ["of", "the"]
    if token.text in _LEADS:
        return False
    if number_of(token) is not None or acts(sentence, n) and not is_told(sentence, n):
        return True
    other = named(token.text, *_OTHER) and not (token.text in ("weight", "bias") and parts[0].name == "linear")
    return token.start in region and bool(token.text in CHANGING or other)


def _region(sentence: Sentence, parts: Sequence[Part], ends: Collection[str]) -> range:
    """From the phrase of what goes in, or of the first part, to what comes out."""
    own = [n for n, t in enumerate(sentence) if {*_names((t,))} & {*ends} or any(
        p.start <= t.start < p.end for p in parts)]
    if not own:
        return range(0)
    signs = [n for n, t in enumerate(sentence[: own[0]]) if t.kind == "sign"]
    return range(sentence[max(signs, default=-1) + 1].start, sentence[own[-1]].start + 1)


_SHIFTED = re.compile(r"_\s*\{[^{}]*[-+][^{}]*\}")  # z_{i-1}
_OTHER = ("operation", "twist", "statistic", "change", "factor", "bias")  # than to lead from one letter to the other
_BEFORE_A_PART = frozenset("""a an the through by of to with and then into elementwise single ordinary usual standard
    plain simple common one""".split())
_LEADS = frozenset("""passes pass passed follow follows followed feeds feed fed turns turned squashes squashed
    transforms transformed converts converted one first next of from gives give giving maps map mapped applied sent
    against result results output outputs negative""".split())  # from one letter to the other


def _latex(table: SymbolTable, name: str) -> str:
    symbol = table.named(name)
    return symbol.latex if symbol else name
