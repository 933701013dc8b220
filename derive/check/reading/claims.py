"""The formulas of a solution: what each claims in the letters of the question, which define letters, which restrict."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from derive.axes import with_axes
from derive.calculus.one_window import Windowed, windowed
from derive.check.judging.equalities import of_values
from derive.check.judging.kinks import compared
from derive.check.letters import (
    Letters,
    arrives,
    called,
    defines_function,
    kroneckers,
    numeric,
    of_a_number,
    own_letters,
    runs,
    shaped,
    spared,
    squared,
    told,
    upstream,
)
from derive.check.reading.parts import continued, descended, implied, links, numbered, unboxed
from derive.check.reading.texts import rounded
from derive.check.reading.worded import (
    arguments,
    classed,
    identities,
    labelled,
    respelled,
    with_argument,
    with_functions,
)
from derive.errors import CardError, DeriveError
from derive.expr import (
    ZERO,
    Add,
    And,
    Arg,
    Cond,
    Entry,
    Expr,
    Fn,
    Given,
    Idx,
    Mul,
    Node,
    Num,
    Partial,
    Rel,
    SetApp,
    SetOf,
    Size,
    Star,
    Unit,
    conditions,
    free_indices,
    items,
    joined,
    subst,
    walk,
)
from derive.formulas import formulas
from derive.limits import MOST_CHECKED
from derive.module import Module
from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten
from derive.notation.rules.kinds import Said, is_range, kind_of
from derive.notation.rules.signs import said_kroneckers
from derive.notation.symbols import Kind, SymbolTable
from derive.notation.tree import Scripted, base_of, inside, is_token, names_in
from derive.question.words.reading import read_parts
from derive.records import dataclass
from derive.sheet import Math
from derive.verify.check import of_indices, unbound
from derive.verify.report import Verdict
from derive.verify.windows import check_listing

_OF_CLASS = re.compile("^an equation of a number and a vector")
_INDEX = re.compile("is an index here; it has no subscript")
_SHAPES = "state the shapes|state shapes"
_OWN_SHAPES = re.compile(f"(?:{_SHAPES})")
_SLOPE = re.compile(r"[^=]*\\(?:partial|nabla)")
_UNKNOWN = re.compile("nothing says what `(.*)` is")
DELTA = "delta"
_DEMANDED = re.compile(r"\\(?:overset|stackrel)\s*\{\s*!\s*\}")
_BEFORE = -(10**7)  # where the lines of the question are counted from: below those of any solution
# f(s) = s, for s > 0
_PART = re.compile(r"\$([^$]++)\$++[\s,]*+(?:for|if|when|whenever|provided|and)\s+\$")
_UPSTREAM = re.compile(r"(?:upstream|incoming)\s+(?:gradient|derivative|error|message)s?\s+\$\\delta", re.IGNORECASE)
_DELTA = re.compile(r"\\delta_\{?\w+,?\s*\w?\}?")
# δ, δ_i, and δ_{y_i}, δ_{y,i} of a letter y
_ALONE = re.compile(r"\\delta(?:_\{\w(?:_\w|,\s*\w|_\{\w\})?\}|_\w|(?![A-Za-z_^]))(?!\w)")
_PARTIAL = re.compile(r"\\partial\s*\\?\w+?_\{?(\w+)")
_PAIRS = re.compile(r"\\delta_\{\s*(\w)\s*(\w)\s*\}")  # δ_{ij}
_TOLD_PAIR = re.compile(rf"\\partial\s*{_PAIRS.pattern}|{_PAIRS.pattern}\s*&?\s*=")
_RELATION = re.compile(r"[=<>≤≥≠∈]|\\(?:approx|doteq|equiv|le|ge|leq|geq|lt|gt|ne|neq|in|notin|not)(?![A-Za-z])")
# σ(s) = … of y = σ(s) = …
# where δ_{ij} is 1 if i = j and 0 otherwise
KRONECKER = re.compile(r"(?:(?:with|where|and)\s+)?\$\\delta_\{?(\w)\s*,?\s*(\w)\}?"
                       r"(?:\s*=\s*1\$?|\$?\s+(?:is|equals)\s+\$?1\$?)\s*,?\s*(?:if|for|when)\s+\$\1\s*=\s*\2\$"
                       r"(?:,?\s+and\s+\$?(?:0|zero)\$?\s+(?:otherwise|else))?")
_FUNCTION = re.compile(r"[^=]+=\s*((?:\\?[A-Za-z]+)\s*\((?:\\?[A-Za-z]+)\)\s*=[^=]+)")


class Kind_(StrEnum):
    """What a formula of a solution does."""

    CLAIM = "claim"
    DEFINITION = "definition"
    CONDITION = "condition"
    UNREAD = "not read"


@dataclass(frozen=True)
class Reading:
    """The letters in which formulas are read, and the layer that they are about.

    ``unsure``: what holds of them is accepted, and what fails is not read; ``refutes``: the other way round.
    """

    module: Module
    table: SymbolTable
    unsure: bool = False
    refutes: bool = False
    window: Windowed | None = None
    definitions: tuple[Node, ...] = ()  # of sets and letters of one window


@dataclass(frozen=True)
class Item:
    """A formula, or one link ``head = value`` of a chain, and where it says that it holds (``cond``)."""

    formula: Formula
    kind: Kind_
    node: Cond | None = None
    reason: str = ""
    cond: Cond | None = None
    doubt: str = ""  # why it is not refuted where it fails
    written: Rel | None = None  # the link with all its indices, where one of them says nothing
    reading: Reading | None = None  # another one than that of the solution, for the ``reason``
    again: int | None = None  # the line in which its letter is defined otherwise
    letter: str = ""  # its name
    step: Rel | None = None  # b = c of the link a = c of a chain a = b = c
    uses: frozenset[str] = frozenset()  # the letters in it that the solution, or the question beside the layer, defines
    shown: str = ""  # the link as it is written, where the formula is a chain

    @property
    def link(self) -> Rel:
        """The equation that a claim is."""
        assert isinstance(self.node, Rel)
        return self.node

    @property
    def otherwise(self) -> str:
        return "" if self.again is None else f"its letter is defined otherwise in line {self.again}"

    @property
    def supposes(self) -> bool:
        """Not ∂y/∂x = …, δ_x = …, σ'(s) = …, y_k = w_k x_k: no supposition has such a left side."""
        head, value = self.node.terms if isinstance(self.node, Rel) else (None, None)
        told = value is not None and any(isinstance(n, Entry) for n in walk(value))
        return not (self.slope or isinstance(head, Entry) and told)

    @property
    def slope(self) -> bool:
        """∂y/∂x = …, δ_x = …, σ'(s) = …"""
        head = self.node.terms[0] if isinstance(self.node, Rel) else None
        return isinstance(head, Entry) and head.tensor.startswith("delta_") or head is not None and any(
            isinstance(n, Partial) or isinstance(n, Fn) and n.name.endswith("'") for n in walk(head))


@dataclass(frozen=True)
class Solution:
    """The formulas in order, the layer with the letters that the solution defines, what the question supposes."""

    items: tuple[Item, ...]
    reading: Reading
    given: tuple[Cond, ...] = ()  # w = 2

    def changed(self, change: Callable[[Any], Any]) -> Solution:
        """With each statement changed."""
        def one(item: Item) -> Item:
            parts = {key: change(part) for key in ("node", "cond", "written", "step")
                     if (part := getattr(item, key)) is not None}
            return replace(item, **parts)

        return replace(self, items=tuple(map(one, self.items)), given=tuple(map(change, self.given)))


def solution(text: str, first: int, question: str, module: Module) -> Solution:
    """Each formula of the solution, chains link by link, in order.

    Raises :class:`CardError` where there are too many.
    """
    kronecker = "kronecker" in f"{question}{text}".lower() or KRONECKER.search(f"{question}{text}") is not None or (
        _beside_upstream(f"{question}{text}", module))
    parts = [p for f in formulas(text, first) for p in implied(f)]
    output = module.table.named(module.output)
    loss = output.latex if output is not None and not output.axes else ""
    steps = [descended(p, loss) if loss else p for p in parts]
    pairs = [(p, whole) for p, whole in zip(parts, continued(map(unboxed, steps)), strict=True)
             if _RELATION.search(whole.latex) or not kronecker and _DELTA.fullmatch(p.latex)]
    found = [replace(f, latex=rounded(f.latex)) for _, p in pairs for f in numbered(p)]
    spelt = {(p.line, p.column): p for p, _ in pairs}
    if len(found) > MOST_CHECKED:
        raise CardError(f"{len(found):,} formulas, and at most {MOST_CHECKED} of a solution are checked: part it")
    asked = [f for f in formulas(question, _BEFORE) if "=" in f.latex or not kronecker and _DELTA.fullmatch(f.latex)]
    asked += [replace(f, latex=m[1]) for f in asked if (m := _FUNCTION.fullmatch(f.latex)) is not None]
    functions, found, module = with_functions(asked, [*map(with_argument, found)], question, text, module)
    asked += functions
    letters = Letters(called(module, asked), kronecker, upstream=_UPSTREAM.search(f"{question}\n{text}") is not None,
                      parts=frozenset(m[1].strip(", \t\n") for m in _PART.finditer(f"{question}\n{text}")))
    stated = rewritten(asked)
    letters.table = gather(stated, letters.module.table)
    read = [node for formula in stated for _, node in read_parts(formula, letters.table)]
    for node in read:
        if not isinstance(node, DeriveError):
            told(node, letters)
    extents = replace(letters, module=with_axes(letters.module, spare=False), own={**letters.own},
                      loose={**letters.loose}, sizes={})
    letters.module = spared(extents.module, module, text)
    for node in read:
        for part in node.conds if isinstance(node, And) else (node,):
            if isinstance(part, Rel):
                runs(part, letters)
    shaped(letters)
    applied_to = arguments([*asked, *found])
    found = [respelled(f, letters.module, applied_to) for f in identities(found, letters.module)]
    spelt_out = [*asked, *labelled(found, letters.module)]
    written, each = rewritten(spelt_out), classed(spelt_out, module)
    of_class = written if each == spelt_out else rewritten(each)
    if kronecker:
        written, of_class = said_kroneckers(written), said_kroneckers(of_class)
    tensors = {s.name for s in letters.module.table.of_kind(Kind.TENSOR)}
    defining = [f for f in written if kind_of(f) in (Said.DEFINITION, Said.FUNCTION)
                and not (is_range(f.tree or ()) and tensors.isdisjoint(names_in(f.tree or ())))  # i = k is a condition
                and not f.latex.lstrip().startswith("\\delta")]  # a of δ_{a,k} is what its own definition says
    entries = _running(written)
    defining = [f for f in defining if entries.isdisjoint(names_in(f.tree or ()))]
    table = letters.table = gather(written, gather(defining, letters.module.table))
    groups = _groups(written, letters)
    for reasons, other, reading in _others(letters, extents):
        if any(_unread(item, reasons) for group in groups for item in group) and _lists(groups, reading.window):
            other.table = gather(written, other.module.table) if other.module is not letters.module else _apart(letters)
            if reasons is _OF_CLASS:
                other.table = gather(of_class, other.module.table)
            if reasons is _OWN_SHAPES:
                other.table = gather([f for f in written if not _SLOPE.match(f.latex)], other.module.table)
            again = _groups(of_class if reasons is _OF_CLASS else written, other)
            defined = tuple(i.node for group in again for i in group if i.kind is Kind_.DEFINITION and i.node
                            and not _of_another(i.node))
            reading = replace(reading, module=other.module, table=other.table, definitions=defined)
            groups = [_better(group, read, reasons, reading) for group, read in zip(groups, again, strict=True)]
    whole = [[replace(i, formula=spelt.get((i.formula.line, i.formula.column), i.formula)) for i in g] for g in groups]
    found_ = (replace(item, shown=shown) for group, own in zip(whole, groups, strict=True)
              for item, shown in zip(group, _shown(own, group), strict=True))
    own = Reading(letters.module, table, definitions=tuple(letters.stars))
    return Solution(tuple(i for i in found_ if not _DELTA.fullmatch(i.formula.latex)), own,
                    tuple(node for node in (*read, *_listed(asked, letters)) if isinstance(node, Cond)))


def _shown(group: Sequence[Item], written: Sequence[Item]) -> Sequence[str]:
    """The links of a chain one by one, where each is an item and none is rounded."""
    plain = len(group) > 1 and "\\approx" not in written[0].formula.latex
    each = (links(items[0].formula.latex) for items in (written, group) if plain)
    return next((found for found in each if len(found) == len(group)), [""] * len(group))


def _listed(asked: Sequence[Formula], letters: Letters) -> Iterator[Node | DeriveError]:
    """g = (1, 2, -1) of the question, where g_i is the gradient that comes in."""
    lists = [new for f in asked if (new := respelled(f, letters.module)) is not f]
    yield from (node for f in rewritten(lists) for _, node in read_parts(f, letters.module.table))


def _beside_upstream(text: str, module: Module) -> bool:
    r"""Beside \delta_i of a vector, \delta_{ij} of ∂y_i/∂x_j is Kronecker's, where no formula tells \delta_{ij}."""
    output, pairs = module.table.named(module.output), [{m[1], m[2]} for m in _PAIRS.finditer(text)]
    places = {i for m in _PARTIAL.finditer(text) for i in m[1]}
    return output is not None and len(output.axes) == 1 and bool(pairs) and all(p <= places for p in pairs) and (
        _ALONE.search(text) is not None and _TOLD_PAIR.search(text) is None)


def _groups(written: Sequence[Formula], letters: Letters) -> list[list[Item]]:
    """The items of each formula of the solution; a letter may be defined behind the formula in which it stands.

    So may a δ, which is the gradient that comes in where no formula tells it.
    """
    def read(formula: Formula) -> list[Item]:
        return [item for part, node in read_parts(formula, letters.table) for item in _items(part, node, letters)]

    def open_(formula: Formula, group: list[Item], known: bool) -> bool:
        names = {m[1] for i in group if i.kind is Kind_.UNREAD and (m := _UNKNOWN.fullmatch(i.reason))}
        letters_ = (t for top in formula.tree or () for t in inside(top))
        if not known and any(is_token(t, "NAME") and str(t) == DELTA for t in letters_):
            names.add(DELTA)
        return not names.isdisjoint(letters.own)

    own = [formula for formula in written if formula.line > 0]
    groups, known = list[list[Item]](), list[bool]()
    for formula in own:
        groups.append(read(formula))
        known.append(DELTA in letters.own)  # behind its own definition, too
    return [read(f) if open_(f, group, k) else group for f, group, k in zip(own, groups, known, strict=True)]


def _others(letters: Letters, extents: Letters) -> Iterator[tuple[re.Pattern[str], Letters, Reading]]:
    """In what else formulas may be read, and the reasons for which it is tried.

    With shapes that no claimed derivative, which may be wrong, says; with L for L_c, without index letters that begin
    a name.  With all axes equally long: wrong there, an equation is
    wrong.  With letters for extents, with those of one window.
    """
    for reasons in (_OWN_SHAPES, _OF_CLASS, _INDEX):
        yield reasons, replace(letters), Reading(letters.module, letters.table)
    square = squared(letters.module)
    yield re.compile(_SHAPES), replace(letters, module=square), Reading(square, square.table, refutes=True)
    names = "|".join(s.name for s in extents.module.table.of_kind(Kind.SIZE))
    plain = Reading(extents.module, extents.module.table, unsure=True)
    yield re.compile(f"^nothing says what `(?:{names})` is$"), extents, plain
    for w in windowed(letters.module):
        one = w.window.module
        yield re.compile(f"^nothing (?:says what|tells)|{_SHAPES}"), Letters(one), replace(plain, window=w)


def _apart(letters: Letters) -> SymbolTable:
    """W of δ_{W_1} is no index: the letters without those that names of the layer begin with."""
    names = {n for s in letters.module.table.of_kind(Kind.TENSOR) for n in itertools.accumulate(
        s.name.split("_"), lambda a, b: f"{a}_{b}") if n != s.name}
    return replace(letters.table, symbols=tuple(
        s for s in letters.table.symbols if s.kind is not Kind.INDEX or s.name not in names))


def _lists(groups: Sequence[Sequence[Item]], w: Windowed | None) -> bool:
    """Where z_1, z_2, … are told, they are the entries of one window."""
    told = [] if w is None else [item.link for group in groups for item in group if item.kind is Kind_.DEFINITION
                                 and isinstance(item.node, Rel) and isinstance(head := item.link.terms[0], Entry)
                                 and head.tensor == w.window.entries]
    return w is None or not told or check_listing(Math("", told[0], ""), joined(told), w).verdict == Verdict.PROVED


def _running(written: Iterable[Formula]) -> set[str]:
    """z of z_1 and z_q: its numbers are indices."""
    numbered, running = set[str](), set[str]()
    for item in (i for f in written for top in f.tree or () for i in inside(top) if isinstance(i, Scripted) and i.subs):
        (numbered if all(is_token(i, "NUMBER", "COMMA") for i in item.subs[0]) else running).add(str(base_of(item)))
    return numbered & running


def _of_another(node: Cond) -> bool:
    """δ_x = …, where the layer has no x."""
    head = node.terms[0] if isinstance(node, Rel) else None
    return isinstance(head, Entry) and head.tensor.startswith("own_delta_")


def _unread(item: Item, reasons: re.Pattern[str]) -> bool:
    return item.kind is Kind_.UNREAD and reasons.search(item.reason) is not None


def _better(group: list[Item], again: list[Item], reasons: re.Pattern[str], reading: Reading) -> list[Item]:
    """What is not read, as it is read in another way."""
    if len(group) == 1 and _unread(group[0], reasons) and not any(i.kind is Kind_.UNREAD for i in again):
        return [replace(i, reason=group[0].reason, reading=reading) for i in again]
    pairs = zip(group, again, strict=True) if len(group) == len(again) else ((i, i) for i in group)
    return [replace(new, reason=old.reason, reading=reading)
            if _unread(old, reasons) and new.kind in (Kind_.CLAIM, Kind_.CONDITION) else old for old, new in pairs]


def _items(formula: Formula, node: Node | DeriveError, letters: Letters) -> Iterator[Item]:
    if isinstance(node, DeriveError):
        text = node.problems[0].message
        yield Item(formula, Kind_.UNREAD, None, text.partition(": ")[2] or text)
        return
    claim, cond = (node.claim, node.cond) if isinstance(node, Given) else (node, None)
    parts = claim.conds if isinstance(claim, And) else (claim,)
    if _DEMANDED.search(formula.latex):
        yield Item(formula, Kind_.UNREAD, None, "it demands, and claims nothing")
        return
    runs_ = [_runs(p) for p in parts]
    parts = tuple(part for run in runs_ for part in run if len(run) == 1 or {*part.ops} == {"="})
    if any(len(run) > 1 for run in runs_):
        yield Item(formula, Kind_.UNREAD, None, "the inequality in it is not judged")
    equations = [p for p in parts if isinstance(p, Rel) and {*p.ops} == {"="} and not _restricts(p, letters)]
    if all(map(_beyond, parts)):
        yield Item(formula, Kind_.DEFINITION)
        return
    others = [p for p in parts if p not in equations and isinstance(p, Cond)]
    for part in (*conditions(cond), *others):
        if isinstance(part, Rel):
            runs(part, letters)
    said = [own_letters(c, letters) for c in (*conditions(cond), *others)]
    known = [part for c in said for part in _known(c, letters)]
    if not equations:
        yield from (Item(formula, Kind_.CONDITION, c) for c in known)
        return
    missing = "" if known == said else letters.unknown(joined(said))
    for equation in equations:
        uses = frozenset(n.tensor for n in walk(equation) if isinstance(n, Entry))
        for item in _links(formula, equation, joined(known) if known else None, letters):
            doubt = item.doubt or f"nothing says what `{missing}` is" if missing else item.doubt
            yield replace(item, doubt=doubt, uses=uses.intersection(letters.own))


def _runs(part: Node) -> list[Any]:
    """∂p/∂s = p(1-p) and p(1-p) > 0 of ∂p/∂s = p(1-p) > 0."""
    slope = isinstance(part, Rel) and any(isinstance(n, Partial) for n in walk(part))
    if not slope or not isinstance(part, Rel) or len({*part.ops}) < 2 or "=" not in part.ops:
        return [part]
    found, at = [], 0
    for _, run in itertools.groupby(part.ops, lambda op: op == "="):
        size = len([*run])
        found.append(Rel(part.terms[at:at + size + 1], part.ops[at:at + size]))
        at += size
    return found


def _known(cond: Cond, letters: Letters) -> Iterator[Cond]:
    """Of t = 2, …, T - 1 that t is at least 2, where nothing says what T is."""
    unknown = letters.unknown(cond)
    if not unknown or not isinstance(cond, Rel) or any(isinstance(n, Entry) for n in walk(cond)):
        yield cond
        return
    for a, op, b in zip(cond.terms, cond.ops, cond.terms[1:], strict=False):
        pair = Rel((a, b), (op,))
        if not letters.unknown(pair):
            yield pair


def _restricts(node: Rel, letters: Letters) -> bool:
    """i = j, a = 1, x_k = 0, w = v, δ_y = (1, 2): what an equation of what is free says is a supposition.

    n = ⌊m/2⌋ is none.
    """
    head, module = node.terms[0], letters.module
    free = isinstance(head, Entry) and head.tensor in module.given
    if isinstance(head, Size) and any(isinstance(n, Fn) and n.name == "floor" for n in walk(node.terms[-1])):
        return False
    if arrives(own_letters(node, letters).terms[0], module) is not None and numeric(node.terms[-1]):
        return True
    indexed = any(isinstance(n, Idx) for n in walk(head)) and of_indices(node)  # (i - k) mod 2 = 0
    return isinstance(head, (Idx, Size, Num)) or free or not isinstance(head, Expr) or indexed


def _beyond(node: Node) -> bool:
    """x_{t-k} = 0, δ_{i-a} = 0: what stands beyond the edge."""
    head, value = node.terms if isinstance(node, Rel) and node.ops == ("=",) else (None, None)
    return value is ZERO and isinstance(head, Entry) and any(isinstance(i, Add) for i in head.indices)


def _links(formula: Formula, equation: Rel, cond: Cond | None, letters: Letters) -> Iterator[Item]:
    head = equation.terms[0]
    for before, term in itertools.pairwise(equation.terms):
        if isinstance(head, SetApp) and isinstance(term, SetOf) and not letters.unknown(term):
            letters.own[head.name] = Rel((head, term), ("=",))
            yield Item(formula, Kind_.DEFINITION, Rel((head, term), ("=",)))
            continue
        if isinstance(term, Arg) and all(isinstance(i, Star) for i in items(head)) and letters.maximises(head, term):
            yield Item(formula, Kind_.DEFINITION, Rel((head, term), ("=",)))
            continue
        link = own_letters(Rel((head, term), ("=",)), letters)
        if cond is None and letters.defines(link) and of_a_number(link) and "_" not in formula.latex:
            yield Item(formula, Kind_.DEFINITION)
            continue
        if cond is None and (letters.defines(link) or formula.latex not in letters.parts and defines_function(
                link, letters)):
            if isinstance(link.terms[0], Entry):
                letters.define(link)
                letters.told[link.terms[0].tensor] = formula
            yield Item(formula, Kind_.DEFINITION, link)
            continue
        first = letters.told.get(head.tensor) if isinstance(head, Entry) and term is equation.terms[1] else None
        again = None if first is None or first is formula else first.line
        letter = "" if again is None or not isinstance(head, Entry) else head.tensor
        if _entry_named(link, letters):
            yield Item(formula, Kind_.DEFINITION, link)
            continue
        bound, doubt = upstream(link, formula.latex, letters)
        bound = kroneckers(bound, letters.module)
        if any(isinstance(i, Size) for n in walk(head) if isinstance(n, Entry) for i in n.indices):
            doubt = doubt or "an extent stands where an index does"
        loose = [i for i in free_indices(bound.terms[1]) - free_indices(bound.terms[0]) if isinstance(i, Idx)]
        if isinstance(head, (Partial, Entry)) and any(isinstance(n, Unit) for n in walk(bound)):
            yield Item(formula, Kind_.UNREAD, None, "a unit vector, of which the entry that is meant is not written")
        elif (name := letters.unknown(bound) or (letters.unknown(cond) if cond is not None else "")):
            single = isinstance(head, Entry) and loose and not any(isinstance(n, Entry) for n in walk(link.terms[1]))
            yield Item(formula, Kind_.CONDITION) if single else Item(  # the term p = l
                formula, Kind_.UNREAD, None, f"nothing says what `{name}` is")
        elif unbound(bound) and (not loose or any(_compared(i, bound) for i in loose)):
            yield Item(formula, Kind_.UNREAD, None, f"{unbound(bound)} is free on the right and absent on the left")
        elif loose:
            zero: dict[Node, Node] = {i: letters.first(i, bound) for i in loose}
            yield Item(formula, Kind_.CLAIM, subst(bound, zero), "", cond, doubt, bound, again=again, letter=letter)
        else:
            step = None if before is head else own_letters(Rel((before, term), ("=",)), letters)
            yield Item(formula, Kind_.CLAIM, bound, "", cond, doubt, again=again, letter=letter, step=step)


def _entry_named(link: Rel, letters: Letters) -> bool:
    """z_1 = x_{2k,2l}: one entry of a new letter."""
    head, value = link.terms
    return isinstance(head, Entry) and not letters.known(head.tensor) and bool(head.indices) and all(
        isinstance(i, Num) for i in head.indices) and not letters.unknown(value) and isinstance(value, Entry)


def _compared(index: Idx, node: Rel) -> bool:
    """δ_{kl} [x_{ij} = y_{kl}]: one window k, l may be meant."""
    return any(index in free_indices(rel) and "=" in rel.ops for rel in compared(node) if of_values(rel))


def repeated(item: Item) -> bool:
    """δ_i W_{ij}, with no i on the left: a sum over i may be meant."""
    left, right = item.written.terms if item.written is not None else (None, None)
    loose = free_indices(right) - free_indices(left) if left is not None and right is not None else frozenset()
    return right is not None and any(sum(i in free_indices(f) for f in n.factors) > 1 for i in loose
                                     for n in walk(right) if isinstance(n, Mul))
