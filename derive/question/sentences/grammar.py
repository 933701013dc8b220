"""Rows of a grammar over tokens, and all ways in which a run of tokens can be one of their names.

A row is a pattern and what it makes:

    loss:
      [A] squared error [{of}]        => loss squared_error of

``a/b`` is either word, ``[…]`` may be left out, ``(… | …)`` is one of several, ``{name}`` or ``{name:x}`` is a run of
that name, bound to it, ``{name+}`` a list of such runs with commas and “and”, ``NAME`` a run whose value is not needed,
``NAME*`` any number of them.  A comma may stand before each piece.  ``units=count`` among what is made is a pair; the
action ``words`` makes the words themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from derive.question.sentences.tokens import Token
from derive.records import dataclass

_TOKEN = re.compile(r"\{[^}]*\}|[\[\]()|]|[^\s\[\]{}()|]+")
_NAMED = re.compile(r"\{(\w+)([+*]?)(?::(\w+))?\}|([A-Z_]+)(\*?)")
_NAME = re.compile(r"\n(?=[^\s#])")  # before a line that begins with a name
Env = tuple[tuple[str, Any], ...]
Runs = Callable[[Sequence[Token], int], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class Word:
    """One of several words or signs."""

    choices: frozenset[str]


@dataclass(frozen=True)
class Ref:
    """A run of a name, bound to ``bound`` ('' for none); ``several`` with commas and “and” between, ``any`` number."""

    name: str
    bound: str
    several: bool = False
    any: bool = False


@dataclass(frozen=True)
class Choice:
    """One of several sequences; () is nothing."""

    ways: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Row:
    """A pattern, and the action with its arguments: names of what the pattern binds, or words."""

    pieces: tuple[Any, ...]
    action: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A piece of a row, or ways to go on, and what comes behind it; None behind the last."""

    piece: Word | Ref | None
    ways: tuple[Step | None, ...]
    then: Step | None


@dataclass(frozen=True)
class Way:
    """A row to be followed: its steps, the names that it binds, and sets of words of each of which it has one."""

    row: Row
    step: Step | None
    names: frozenset[str]
    needs: tuple[frozenset[str], ...]


ANY = "any word"


@dataclass(frozen=True)
class First:
    """With what a run may begin: words or signs, kinds of tokens; whether it may be empty."""

    words: frozenset[str]
    kinds: frozenset[str]
    empty: bool

    def fits(self, kind: str, text: str) -> bool:
        """Whether a run may begin with a token of this kind and text, '' and '' behind the last."""
        if self.empty or ANY in self.kinds or not kind:
            return self.empty or bool(kind)
        return text in self.words or kind in self.kinds or text in (",", ":")


Lead = tuple[Row, bool, list[Word | Ref]]  # a row, whether it may be nothing, and what may stand first in it


class Grammar(Mapping[str, tuple[Row, ...]]):
    """The rows by name; those of a name are read when they are asked for, as a card needs a tenth of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts: dict[str, str] = {}  # the lines under each name, comments and all
        for text in texts:
            for block in _NAME.split(f"\n{text}")[1:]:
                name, _, lines = block.partition("\n")
                name = name.partition("#")[0].rstrip().rstrip(":")
                self.texts[name] = f"{self.texts.get(name, '')}\n{lines}"
        self._rows: dict[str, tuple[Row, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Row, ...]:
        if name not in self._rows:
            lines = (line.partition("#")[0].rstrip() for line in self.texts[name].splitlines())
            self._rows[name] = tuple(map(_row, filter(None, lines)))
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)


@cache
def grammar(language: str) -> Grammar:
    """The rows of a language by name."""
    files = sorted((Path(__file__).parent / "rows").glob(f"{language}_*.rows"))
    return Grammar(file.read_text(encoding="utf-8") for file in files)


@cache
def words_of(language: str, name: str) -> frozenset[str]:
    """All words of the rows of a name that hold nothing but words."""
    return frozenset(word for row in grammar(language)[name] for piece in row.pieces for word in piece.choices)


def _row(line: str) -> Row:
    pattern, _, action = line.partition("=>")
    name, *arguments = action.split() or [""]
    return Row(_pieces(pattern), name, tuple(arguments))


@cache
def _piece(token: str) -> Word | Ref:
    """What is written without brackets; rows share most of it."""
    named = _NAMED.fullmatch(token)
    if named is None:
        return Word(frozenset(token.split("/")))
    name, several, bound, upper, star = named.groups()
    if upper:
        return Ref(upper, "", False, bool(star))
    return Ref(name, "" if several == "*" else bound or name, several == "+", several == "*")


def _pieces(pattern: str) -> tuple[Any, ...]:
    stack: list[list[list[Any]]] = [[[]]]
    kinds: list[str] = []
    for token in _TOKEN.findall(pattern):
        if token in "[(":
            stack.append([[]])
            kinds.append(token)
        elif token == "|":
            stack[-1].append([])
        elif token in "])":
            ways = [tuple(way) for way in stack.pop()]
            ways += [()] if kinds.pop() == "[" else []
            stack[-1][-1].append(Choice(tuple(ways)))
        else:
            stack[-1][-1].append(_piece(token))
    return tuple(stack[0][0]) if len(stack[0]) == 1 else (Choice(tuple(tuple(way) for way in stack[0])),)


class Rows:
    """A language's rows, and with what each of their names may begin, found for a name when it is asked for."""

    def __init__(self, rows: Grammar, kinds: Mapping[str, frozenset[str]]) -> None:
        self.rows, self.kinds = rows, kinds
        self.empty: set[str] = set()  # the names met so far of which a run may be nothing
        self._leads: dict[str, list[Lead]] = {}  # of the names met so far
        self.begins = cache(self._begins)
        self.fitting = lru_cache(maxsize=20_000)(self._fitting)
        self._of = cache(lambda name: tuple((row, self._first(e, leads)) for row, e, leads in self._led_by(name)))
        self._way = cache(lambda row: Way(
            row, _steps(row.pieces), frozenset(_bound(row.pieces)), tuple(self._needed(row.pieces))))
        self._needs: dict[str, frozenset[str] | None] = {}

    def _fitting(self, name: str, kind: str, text: str) -> tuple[Way, ...]:
        """The rows of a name that may begin with a token of this kind and text."""
        return tuple(self._way(row) for row, first in self._of(name) if first.fits(kind, text))

    def _needed(self, pieces: tuple[Any, ...]) -> Iterator[frozenset[str]]:
        """Sets of words; whatever these pieces make of a sentence has a word of each of them."""
        for piece in pieces:
            if isinstance(piece, Choice):
                needs = [next(self._needed(way), None) for way in piece.ways]
            else:
                own = None if isinstance(piece, Word) or piece.any else self._needed_by(piece.name)
                needs = [piece.choices if isinstance(piece, Word) else own]
            known = [need for need in needs if need is not None]
            if len(known) == len(needs):
                yield frozenset().union(*known)

    def _needed_by(self, name: str) -> frozenset[str] | None:
        """Words of which each run of a name has one; None where such are not known, as of what is not made by rows."""
        if name not in self._needs:
            self._needs[name] = None  # of a name inside of itself
            rows = self.rows[name] if name in self.rows and name not in self.kinds else ()
            needs = [next(self._needed(row.pieces), None) for row in rows]
            known = [need for need in needs if need is not None]
            self._needs[name] = frozenset().union(*known) if rows and len(known) == len(needs) else None
        return self._needs[name]

    def _first(self, empty: bool, leads: list[Word | Ref]) -> First:
        words = (piece.choices if isinstance(piece, Word) else self.begins(piece.name).words for piece in leads)
        kinds = (self.begins(piece.name).kinds for piece in leads if isinstance(piece, Ref))
        return First(frozenset().union(*words), frozenset().union(*kinds), empty)

    def _begins(self, name: str) -> First:
        """With what a run of the name may begin: the words and kinds of all names that may stand first in it."""
        words: set[str] = set()
        reached, waiting = {name}, [name]
        while waiting:
            for _, _, leads in self._led_by(waiting.pop()):
                for piece in leads:
                    if isinstance(piece, Word):
                        words |= piece.choices
                    elif piece.name not in reached:
                        reached.add(piece.name)
                        waiting.append(piece.name)
        kinds = frozenset().union(*(self.kinds.get(n, ()) for n in reached))
        return First(frozenset(words), kinds, name in self.empty)

    def _led_by(self, name: str) -> list[Lead]:
        """The rows of a name, none of an atom's, each with what may stand first in it."""
        if name not in self._leads:
            self._meet(name)
        return self._leads[name]

    def _meet(self, name: str) -> None:
        """Find which of the names that may stand first in this one, and in those, may be nothing: the fewest that fit.

        What is behind a piece that may be nothing may stand first, too: so until no more of them are found.
        """
        met = set(self._leads)  # before what of them is empty: another thread adds that first
        empty, more = set(self.empty), True
        found: dict[str, list[Lead]] = {}
        while more:
            found, waiting, more = {}, [name], False
            while waiting:
                if (one := waiting.pop()) in found or one in met:
                    continue
                own = self.rows[one] if one in self.rows or one not in self.kinds else ()
                found[one] = [(row, *_leads(row.pieces, empty)) for row in own]
                if one not in empty and any(nothing for _, nothing, _ in found[one]):
                    empty.add(one)
                    more = True
                waiting += (p.name for _, _, leads in found[one] for p in leads if isinstance(p, Ref))
        self.empty |= empty
        self._leads |= found


@cache
def indexed(language: str, atoms: tuple[tuple[str, frozenset[str]], ...]) -> Rows:
    """The rows of a language; ``atoms`` are the kinds of tokens with which the names begin that rows do not make."""
    return Rows(grammar(language), dict(atoms))


def _steps(pieces: tuple[Any, ...], then: Step | None = None) -> Step | None:
    for piece in reversed(pieces):
        ways = piece.ways if isinstance(piece, Choice) else ()
        then = Step(None, tuple(_steps(way, then) for way in ways), None) if ways else Step(piece, (), then)
    return then


def _bound(pieces: tuple[Any, ...]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Choice):
            for way in piece.ways:
                yield from _bound(way)
        elif isinstance(piece, Ref) and piece.bound:
            yield piece.bound


def _leads(pieces: tuple[Any, ...], empty: Collection[str]) -> tuple[bool, list[Word | Ref]]:
    leads: list[Word | Ref] = []
    return _led(pieces, empty, leads), leads


def _led(pieces: tuple[Any, ...], empty: Collection[str], leads: list[Word | Ref]) -> bool:
    """Whether all pieces may be nothing; with which a run may begin is added to ``leads``."""
    for piece in pieces:
        if isinstance(piece, Choice):
            ways = [_led(way, empty, leads) for way in piece.ways]  # all are gone through, whichever may be nothing
            if not any(ways):
                return False
            continue
        leads.append(piece)
        if isinstance(piece, Word) or not (piece.any or piece.name in empty):
            return False
    return True


MOST_STEPS = 60_000  # of a sentence; those of cards take up to ten thousand


class TooLong(Exception):
    """A sentence that takes more steps than any has."""


class Parse:
    """All that the rows make of the runs of one sentence's tokens; nothing of one that takes too many steps."""

    def __init__(self, rows: Rows, actions: Mapping[str, Callable[..., Any]],
                 atoms: Mapping[str, Callable[[Token], Any]], own: Mapping[str, Runs], tokens: Sequence[Token]) -> None:
        self.rows, self.actions, self.atoms, self.own, self.tokens = rows, actions, atoms, own, tokens
        self.known: dict[tuple[str, int], tuple[tuple[int, Any], ...]] = {}
        self.steps = 0
        self.words = frozenset(token.text for token in tokens)
        self.possible: dict[int, bool] = {}  # whether the sentence has the words that a row needs
        self.joined = [*range(len(tokens) + 1)]  # where the commas and colons end that begin at each token
        for at in reversed(range(1, len(tokens))):
            self.joined[at] = self.joined[at + 1] if tokens[at].text in (",", ":") else at

    def whole(self, name: str) -> list[Any]:
        """The values of all tokens as one run of this name, in the order of the rows."""
        try:
            return [value for end, value in self.runs(name, 0) if end == len(self.tokens)]
        except (TooLong, RecursionError):
            return []

    def runs(self, name: str, at: int) -> tuple[tuple[int, Any], ...]:
        """(end, value) of each run of this name that begins here."""
        key = name, at
        if key not in self.known:
            self.known[key] = ()  # a row that begins with its own name finds nothing
            if name in self.atoms:
                value = self.atoms[name](self.tokens[at]) if at < len(self.tokens) else None
                found = [] if value is None else [(at + 1, value)]
            elif name in self.own:
                found = list(self.own[name](self.tokens, at))
            else:
                found = list(self._by_rows(name, at))
            self.known[key] = tuple(dict.fromkeys(found))
        return self.known[key]

    def _by_rows(self, name: str, at: int) -> Iterator[tuple[int, Any]]:
        token = self.tokens[at] if at < len(self.tokens) else None
        for way in self.rows.fitting(name, token.kind if token else "", token.text if token else ""):
            possible = self.possible.get(id(way))
            if possible is None:
                possible = self.possible[id(way)] = not any(map(self.words.isdisjoint, way.needs))
            if not possible:
                continue
            found: list[tuple[int, Env]] = []
            self._follow(way.step, at, (), found)
            for end, env in found:
                if not way.row.action:
                    yield end, None if len(env) != 1 else env[0][1]
                    continue
                if way.row.action == "words":
                    yield end, " ".join(token.text for token in self.tokens[at:end])
                    continue
                bound = dict(env)
                value = self.actions[way.row.action](*(_argument(a, bound, way.names) for a in way.row.arguments))
                if value is not None:
                    yield end, value

    def _follow(self, step: Step | None, at: int, env: Env, found: list[tuple[int, Env]]) -> None:
        """Add where each run of this step and those behind it ends, with what they bind, in the order of the rows."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        if step is None:
            found.append((at, env))
        elif step.ways:
            for way in step.ways:
                self._follow(way, at, env, found)
        elif isinstance(step.piece, Word):
            for start in self._starts(at):
                if start < len(self.tokens) and self.tokens[start].text in step.piece.choices:
                    self._follow(step.then, start + 1, env, found)
        elif step.piece is not None:
            bound = step.piece.bound
            for end, value in self._piece(step.piece, at):
                self._follow(step.then, end, (*env, (bound, value)) if bound else env, found)

    def _piece(self, piece: Ref, at: int) -> Iterable[tuple[int, Any]]:
        if piece.any:
            return self._repeated(piece.name, at)
        if piece.several:
            return self._listed(piece.name, at)
        end = self.joined[at]
        return self.runs(piece.name, at) if end == at else (*self.runs(piece.name, at), *self.runs(piece.name, end))

    def _starts(self, at: int) -> tuple[int, ...]:
        """Here, or behind commas and colons."""
        end = self.joined[at]
        return (at, end) if end > at else (at,)

    def _repeated(self, name: str, at: int) -> Iterator[tuple[int, None]]:
        yield at, None
        seen, ends = {at}, [at]
        while ends:
            for end, _ in self.runs(name, ends.pop()):
                if end not in seen:
                    seen.add(end)
                    ends.append(end)
                    yield end, None

    def _listed(self, name: str, at: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Runs with commas, “and” or both between, the longest list first."""
        for end, value in self.runs(name, at):
            yield from self._further(name, end, (value,))

    def _further(self, name: str, end: int, values: tuple[Any, ...]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        for start in self._after_join(end):
            for stop, value in self.runs(name, start):
                yield from self._further(name, stop, (*values, value))
        yield end, values

    def _after_join(self, at: int) -> Iterator[int]:
        words = [t.text for t in self.tokens[at : at + 4]]
        for join in (["as", "well", "as"], [",", "as", "well", "as"], [",", "and"], ["and"], [","], ["&"], ["or"]):
            if words[: len(join)] == join:
                yield at + len(join)


def _argument(text: str, bound: Mapping[str, Any], names: frozenset[str]) -> Any:
    """What the pattern binds, or the word itself; ``units=count`` is a pair, and nothing where count is not said."""
    key, equals, name = text.rpartition("=")
    value = bound.get(name) if name in names else name
    return ((key, value) if value is not None else None) if equals else value
