"""Ranks by unification: the shapes under which all formulas of a card fit, and where two are left, both.

A letter leaves out 0, 1 or 2 axes.  Sums, equations and functions make shapes equal, products follow the rules of
matrices; of what fits, what agrees best with the letters' faces is taken: capitals beside letters are matrices, small
letters are none, and numbers unless something makes them vectors.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property

from derive.expr import (
    MINUS_ONE,
    Add,
    Entry,
    Expr,
    Fn,
    Infinity,
    Mul,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    open_binder,
    walk,
)
from derive.notation.elaboration import claims, fits, marked, rank_of, wholes
from derive.notation.shapes import ALL, AT, HADAMARD, INNER, MARKS, NORM, SOFTMAX, STARRED, TRANSPOSE, is_row, is_square
from derive.notation.symbols import GREEK, SymbolTable, is_capital
from derive.records import dataclass

NUMBER, COLUMN, MATRIX = 0, 1, 2
_LITERALS = (Num, Infinity)
LOSSES = frozenset(("L", "E", "J", "C", "ell", "L_cal", "E_cal", "J_cal", "C_cal"))  # numbers, where they are computed
_MOST = 1000  # choices that are weighed for the letters of one component
_SPARE = "ijklmpqr"
Ranks = dict[str, int]
Cost = tuple[int, ...]
Choices = dict[str, tuple[int, ...]]


def inferred(
    table: SymbolTable, nodes: Sequence[Node], undecided: set[str], plain: set[str], decided: Set[str] = frozenset(),
) -> SymbolTable:
    """The table with the ranks that follow; ``table.open`` names what has two, with both.

    ``plain`` are letters that are not bold where vectors are: they may be numbers that go with every entry.
    ``decided`` are those of which it is said what they are.

    Vectors are columns, or rows where ``table.rows`` says so; the other way where the formulas fit only then, or where
    capital letters are matrices only then: s = x W.
    """
    claimed = [claim for node in nodes for claim in claims(node, table)]
    way = _Way.best(table, claimed, undecided)
    if way.table != table and way.open_to(columns := _Way.of(table, claimed, undecided)):
        return replace(way.settled(plain), open=way.open_to(columns))
    numbered = set() if plain else _numbered(claimed, table, decided)
    wide = _Way.best(table, claimed, undecided | numbered) if numbered else way
    if any(wide.faults) or wide is way:
        return way.settled(plain)
    narrow = () if way.faults[0] else [name for name, rank in wide.first.items() if rank == MATRIX and (
        way.first.get(name, NUMBER) == NUMBER)]
    shaped = wide.settled(plain)  # h_i = W x_i
    return replace(shaped, open=(*shaped.open, *((name, (_SHAPES[NUMBER], _SHAPES[MATRIX])) for name in narrow)))


def _numbered(claimed: Sequence[Rel], table: SymbolTable, decided: Set[str]) -> set[str]:
    """x and h of h_i = W x_i with a whole W: vectors, if that is a matrix, of which i is the number.

    So is m of m_i = Σ_j a_{ij} v_j, where v_j ∈ R^d, and v of o = Σ_i a_i v_i, where the a_i are computed from vectors;
    V of V_e x may be a matrix for each e.
    """
    at: dict[str, set[bool]] = {}
    for entry in (n for claim in claimed for n in walk(claim) if isinstance(n, Entry)):
        at.setdefault(entry.tensor, set()).add(len(entry.indices) == 1)
    known = {s.name for s in table.symbols if s.sizes or s.unwritten or s.above} | decided
    single = {name for name, own in at.items() if own == {True}} - known
    found = {other.tensor for claim in claimed for m in walk(claim) if isinstance(m, Mul)
             for pair in itertools.pairwise(m.factors) for own, other in (pair, pair[::-1])
             if isinstance(other, Entry) and is_capital(_letter(own) or "") and _letter(own) not in decided} & single
    found |= {own.tensor for claim in claimed for m in walk(claim) if isinstance(m, Mul)
              for own, other in itertools.pairwise(m.factors) if isinstance(own, Entry) and own.tensor in single
              and is_capital(own.tensor) and _letter(other) not in {None, *decided}}
    vectors = {s.name for s in table.symbols if s.unwritten} | {ALL.tensor}  # of h_t = E_{w_t,:}
    found |= _weighted(claimed) & single
    own = [{n.tensor for n in walk(claim) if isinstance(n, Entry)} for claim in claimed]
    found |= {name for names in own if names & vectors for name in names & single}
    while True:
        more = {name for names in own if names & found for name in names & single}
        if more <= found:
            return found
        found |= more


def _weighted(claimed: Sequence[Rel]) -> set[str]:
    """v of o = Σ_i a_i v_i, where the a_i are computed from vectors and the v_i are given."""
    made: dict[str, set[str]] = {}  # what a letter is computed from; "" for products and norms of vectors
    for claim in claimed:
        if isinstance(claim.terms[0], Entry):
            made.setdefault(claim.terms[0].tensor, set()).update(_made_of(claim))
    for _ in made:
        made = {name: own.union(*(made.get(n, ()) for n in own)) for name, own in made.items()}
    sums = (open_binder(n)[1] for claim in claimed for n in walk(claim) if isinstance(n, Reduce) and n.op == "sum")
    return {last.tensor for body in sums if isinstance(body, Mul) and isinstance(last := body.factors[-1], Entry)
            and last.tensor not in made and any(
                "" in made.get(n, {n}) for factor in body.factors[:-1] for n in _made_of(factor))}


def _made_of(node: Node) -> Iterator[str]:
    return (n.tensor if isinstance(n, Entry) else "" for n in walk(node) if isinstance(n, Entry) or (
        isinstance(n, Fn) and n.name in (TRANSPOSE, NORM, INNER)))


@dataclass(frozen=True)
class _Way:
    """The best solutions of each component, with vectors as columns or as rows."""

    table: SymbolTable
    claimed: Sequence[Rel]
    components: tuple[_Component, ...]
    solutions: tuple[tuple[Ranks, ...], ...]
    faults: Cost  # claims that do not fit; what the solutions cost

    @staticmethod
    def best(table: SymbolTable, claimed: Sequence[Rel], undecided: set[str]) -> _Way:
        way = _Way.of(table, claimed, undecided)
        others = (replace(table, rows=not table.rows), with_rows(table, claimed, undecided))
        return min((way, *(_Way.of(t, claimed, undecided) for t in others if any(way.faults) and t != table)),
                   key=lambda w: w.faults)

    @property
    def first(self) -> Ranks:
        return {name: rank for found in self.solutions for name, rank in found[0].items()}

    @staticmethod
    def of(table: SymbolTable, claimed: Sequence[Rel], undecided: set[str]) -> _Way:
        beside = {n for claim in claimed for n in _beside(claim, undecided)} & undecided
        components = tuple(_Component(table, tuple(part), tuple(names), frozenset(beside))
                           for part, names in _components(claimed, undecided))
        solutions = tuple(component.best() for component in components)
        first = {name: rank for found in solutions for name, rank in found[0].items()}
        unfit = sum(not fits(claim, with_ranks(table, first)) for claim in claimed)
        costs = [c.against(found[0])[:-1] for c, found in zip(components, solutions, strict=True)]
        return _Way(table, claimed, components, solutions, (unfit, *map(sum, zip(*costs, strict=True))))

    def open_to(self, other: _Way) -> tuple[tuple[str, tuple[str, ...]], ...]:
        r"""What z of z = x y^\top is: a number of rows, a matrix of columns, for which its face alone is too small."""
        unfit, *cost = other.faults
        both = {} if unfit or any(cost[1:]) else {n: {rank, other.first[n]} for n, rank in self.first.items()}
        return tuple((name, tuple(_SHAPES[r] for r in sorted(ranks))) for name, ranks in both.items()
                     if len(ranks) > 1 and self.first[name] == NUMBER)

    def settled(self, plain: set[str]) -> SymbolTable:
        both = {name: ranks for best in self.solutions for name in best[0] if len(ranks := {s[name] for s in best}) > 1}
        found = {name: rank for best in self.solutions for name, rank in best[0].items() if name not in both}
        starred = {n.tensor for claim in self.claimed for m in walk(claim) if isinstance(m, Fn) and m.name == STARRED
                   for n in walk(m) if isinstance(n, Entry)} - plain
        weighted = _weighted(self.claimed)
        for component, best in zip(self.components, self.solutions, strict=True):
            both |= {name: {best[0][name], rank} for name, rank in component.larger(best[0], plain | starred, weighted)}
        vectors = {name.partition("_")[0] for name, rank in found.items() if rank == COLUMN}  # c_{t-1} beside c_t
        found |= {name: COLUMN for name in starred & found.keys() if name.partition("_")[0] in vectors
                  and self.goes_with_entries(name, found, COLUMN)}
        both |= {name: {NUMBER, COLUMN} for name in (plain | starred | self.beside_scaled(found)) & found.keys()
                 if self.goes_with_entries(name, found, COLUMN if name in starred else NUMBER)}
        readings = tuple((name, tuple(_SHAPES[r] for r in sorted(ranks))) for name, ranks in both.items())
        return replace(with_ranks(self.table, {n: r for n, r in found.items() if n not in both}), open=readings)

    def beside_scaled(self, found: Ranks) -> set[str]:
        """b of y = a x + b, where a is a number."""
        sums = [n for claim in self.claimed for n in walk(claim) if isinstance(n, Add)]
        return {n for s in sums for t in s.terms if (n := _letter(t)) is not None and any(
            isinstance(o, Mul) and any(found.get(_letter(f) or "") == NUMBER for f in o.factors) for o in s.terms)}

    def goes_with_entries(self, name: str, found: Ranks, other: int) -> bool:
        """b of z = X w + b, where the vectors are bold and b is not: a number fits as well; c of h = o * c a vector."""
        if found[name] != COLUMN - other or is_capital(name):
            return False
        table = with_ranks(self.table, {**found, name: other})
        own = [c for c in self.claimed if any(isinstance(n, Entry) and n.tensor == name for n in walk(c))]
        return all(fits(claim, table) for claim in own)


_SHAPES = ("a number", "a vector", "a matrix")


class _TooManyChoices(Exception):
    """The letters stay open."""


@dataclass(frozen=True)
class _Component:
    """Claims that share letters, and the letters whose ranks they have to settle."""

    table: SymbolTable
    claimed: tuple[Rel, ...]
    names: tuple[str, ...]
    beside: frozenset[str]  # capitals that stand beside a letter

    @cached_property
    def behind(self) -> set[str]:
        """x of W x and W_{k,:} x: small letters on which such a capital, or a row of one, acts."""
        pairs = (pair for claim in self.claimed for node in walk(claim) if isinstance(node, Mul)
                 for pair in itertools.pairwise(node.factors))
        return {after.tensor for own, after in pairs if isinstance(after, Entry) and (
            is_row(own) or isinstance(own, Entry) and own.tensor in self.beside)
                and after.tensor in self.names and not is_capital(after.tensor)}

    def best(self) -> tuple[Ranks, ...]:
        """The least ranks that fit and agree best with the letters' faces; numbers where none fit.

        Fewer axes are no reason: of r v either may be the vector, however many letters go with one of them.
        """
        if not self.beside & {*self.names} and not any(marked(c) or wholes(c, self.table) for c in self.claimed):
            return (dict.fromkeys(self.names, 0),)
        try:
            found = [(self.against(ranks), ranks) for ranks in self.fitting()]
        except _TooManyChoices:
            return tuple(dict.fromkeys(self.names, rank) for rank in (NUMBER, COLUMN, MATRIX))
        best = min((cost[:-1] for cost, _ in found), default=())
        return tuple(ranks for cost, ranks in found if cost[:-1] == best) or (dict.fromkeys(self.names, 0),)

    def larger(self, chosen: Ranks, faced: Set[str], weighted: Set[str]) -> Iterator[tuple[str, int]]:
        r"""What a letter may be as well, at no higher cost: D of \tanh(D) a matrix, u of u v^\top x a vector.

        A letter that is computed follows the others; but a loss that comes out as a vector may be meant as a number.
        """
        heads, most = self.heads, self.against(chosen)[:-1]
        known = {n.tensor for claim in self.claimed for n in walk(claim) if isinstance(n, Entry) and (
            n.indices or any(isinstance(t, Num) and t.value for t in claim.terms))}  # of x_i, of F = S = 2
        for name in (n for n in self.names if n in weighted or n not in known):
            rank = MATRIX if is_capital(name) else COLUMN if name not in GREEK else NUMBER
            if name in heads:
                if name in LOSSES and chosen[name] == COLUMN and self.fits_with(name, NUMBER, None):
                    yield name, NUMBER
            elif name not in faced and chosen[name] < rank and (
                    is_capital(name) or name in weighted or any(chosen.values())) and (
                    self.fits_with(name, rank, most)):
                yield name, rank

    def fits_with(self, name: str, rank: int, most: Cost | None) -> bool:
        """Whether the claims fit with the letter of this rank, at no higher cost."""
        try:
            return any(most is None or self.against(ranks)[:-1] <= most for ranks in self.fitting({name: (rank,)}))
        except _TooManyChoices:
            return True

    @cached_property
    def heads(self) -> set[str]:
        """y of y = W x and of ∂y/∂x."""
        of = (n.of for claim in self.claimed for n in walk(claim) if isinstance(n, Partial))
        return {n.tensor for n in (*of, *(c.terms[0] for c in self.claimed if c.ops[0] == "=")) if isinstance(n, Entry)}

    def against(self, ranks: Ranks) -> Cost:
        """Small letters that are matrices; capitals that act and are none; losses that are no numbers; numbers on which
        they act; vectors added to matrices; axes in all."""
        acting = {name for claim in self.claimed for name in _acting(claim, self.table, ranks)} | self.beside
        spread = sum(_spread(claim, self.table, ranks) for claim in self.claimed)
        return self.cost({name: (rank,) for name, rank in ranks.items()}, acting, spread)

    def cost(self, choices: Choices, acting: Set[str], spread: int = 0) -> Cost:
        """The least that the choices left may cost."""
        small = sum(min(ranks) == MATRIX for name, ranks in choices.items() if not is_capital(name))
        wrong = sum(MATRIX not in ranks for name, ranks in choices.items() if name in acting)
        loss = sum(NUMBER not in ranks for name, ranks in choices.items() if name in LOSSES & self.heads)
        idle = sum(ranks == (NUMBER,) for name, ranks in choices.items() if name in self.behind)
        return small, wrong, loss, idle, spread, sum(map(min, choices.values()))

    def fitting(self, fixed: Choices | None = None) -> Iterator[Ranks]:
        """Choices of ranks under which each claim fits, until all others cost more than the best or have no rank less.

        A claim is tried once for a choice of its own letters, and before that for those of some of its terms.
        """
        marks = MARKS - {STARRED}
        marked = {a.tensor for claim in self.claimed for m in walk(claim) if isinstance(m, Fn) and m.name in marks
                  for a in m.args[: 1 if m.name == AT else None] if isinstance(a, Entry)}
        marked |= {b.tensor for claim in self.claimed for m in walk(claim) if isinstance(m, Mul)
                   for a, b in itertools.pairwise(m.factors) if isinstance(b, Entry) and isinstance(a, Fn)
                   and a.name == TRANSPOSE and not is_capital(_letter(a) or "W")}  # x of w^⊤ x
        choices: Choices = {name: (1, 2) if name in marked else (0, 1, 2) for name in self.names} | (fixed or {})
        own = {claim: tuple(dict.fromkeys(n.tensor for n in walk(claim) if isinstance(n, Entry)
                                          and n.tensor in choices)) for claim in self.claimed}
        tried: dict[tuple[Rel, tuple[tuple[int, ...], ...]], bool] = {}

        def fitted(claim: Rel, now: Choices) -> bool:
            key = claim, tuple(now[name] for name in own[claim])
            if key not in tried:
                ranks = {name: now[name][0] for name in own[claim] if len(now[name]) == 1}
                settled = len(ranks) == len(own[claim])
                tried[key] = fits(claim, self.table, ranks) if settled else self.may_fit(claim, ranks)
            return tried[key]

        waiting = [(self.cost(choices, self.beside), 0, 0, choices)] if all(fitted(c, choices) for c in own) else []
        found: list[tuple[Cost, Ranks]] = []
        for place in range(_MOST):  # A*: what is settled of a choice costs no more than all of it
            if not waiting or any(waiting[0][0][:-1] > cost for cost, _ in found):
                return
            least, *_, now = heapq.heappop(waiting)
            if any(least[:-1] >= cost and all(now[n][0] >= rank for n, rank in ranks.items()) for cost, ranks in found):
                continue
            name = next((n for n in self.names if len(now[n]) > 1), "")
            if not name:
                ranks = {n: own[0] for n, own in now.items()}
                found.append((self.against(ranks)[:-1], ranks))
                yield ranks
            for rank in now[name] if name else ():
                new = {**now, name: (rank,)}
                if all(fitted(claim, new) for claim in self.claimed if name in own[claim]):
                    heapq.heappush(waiting, (self.cost(new, self.beside), -place, rank, new))
        raise _TooManyChoices

    def may_fit(self, claim: Rel, ranks: Ranks) -> bool:
        """Whether the terms whose letters are settled have values, and none has more axes than a whole side."""
        sides = [(t, own) for t in claim.terms if not isinstance(t, _LITERALS)
                 and (own := _settled(t, {*self.names}, ranks)) is not None]
        found = {own: rank_of(own, self.table, ranks) for _, own in sides}
        known = [rank for rank in found.values() if rank is not None]
        whole = [found[own] or NUMBER for t, own in sides if own is t]
        return len(known) == len(found) and (NUMBER not in known or not any(known)) and max(known, default=0) <= min(
            whole, default=MATRIX)


def _settled(node: Expr, undecided: Set[str], ranks: Ranks) -> Expr | None:
    """What is left of a value without the terms in which a letter is open, or none is undecided."""
    own = {n.tensor for n in walk(node) if isinstance(n, Entry)} & undecided
    if own <= ranks.keys():
        return node if own else None
    if isinstance(node, Fn) and len(node.args) == 1 and node.name not in MARKS:
        inner = _settled(node.args[0], undecided, ranks)
        return None if inner is None else Fn(node.name, (inner,))
    terms = [t for term in node.terms if (t := _settled(term, undecided, ranks))] if isinstance(node, Add) else []
    return Add(tuple(terms)) if len(terms) > 1 else terms[0] if terms else None


def _components(claimed: Sequence[Rel], undecided: set[str]) -> list[tuple[list[Rel], list[str]]]:
    found: list[tuple[list[Rel], list[str]]] = []
    for claim in claimed:
        own = [n.tensor for n in walk(claim) if isinstance(n, Entry) and n.tensor in undecided]
        if not own:
            continue
        touched = [part for part in found if {*part[1]} & {*own}]
        found = [part for part in found if part not in touched]
        names = dict.fromkeys([*(n for part in touched for n in part[1]), *own])
        found.append(([*(c for part in touched for c in part[0]), claim], list(names)))
    return found


def _beside(claim: Rel, undecided: Set[str]) -> Iterator[str]:
    """W of W x, x W and W (x + z), under a transpose or not; of W x_i where x_i may be a vector.
    """
    for node in walk(claim):
        starred = isinstance(node, Fn) and node.name == STARRED
        for pair in itertools.pairwise(node.factors if isinstance(node, Mul) else node.args if starred else ()):  # type: ignore[attr-defined]
            for own, other in (pair, pair[::-1]):
                names, whole = _letters(own), bool(_letters(other))
                if whole and isinstance(own, Entry) and own.tensor in undecided:
                    names = [own.tensor]  # V_e x
                if (own is pair[0] or not is_square(own)) and (
                        whole or (isinstance(other, Entry) and other.tensor in undecided)):
                    yield from filter(is_capital, names)


def _acting(claim: Rel, table: SymbolTable, ranks: Ranks) -> Iterator[str]:
    """W of W σ(V x), B of W X + B: capitals beside what is a vector or a matrix, or added to a matrix.

    So are S of softmax(S), A and B of A ⊙ B: where all letters are capitals.
    """
    for node in walk(claim):
        inside = [_letter(a) for a in node.args] if isinstance(node, Fn) and node.name in (SOFTMAX, HADAMARD) else []
        yield from (name for name in inside if name and all(is_capital(n or "") for n in inside))
        if isinstance(node, Add) and any(rank_of(term, table, ranks) == MATRIX for term in node.terms):
            yield from (name for term in node.terms if (name := _letter(term)) is not None and is_capital(name))
        for pair in itertools.pairwise(node.factors) if isinstance(node, Mul) else ():
            for own, other in (pair, pair[::-1]):
                name = _letter(own)
                if name is not None and is_capital(name) and rank_of(other, table, ranks):
                    yield name


def _spread(claim: Rel, table: SymbolTable, ranks: Ranks) -> int:
    """The vectors that are added to a matrix: to each of its rows or columns."""
    sums = ([rank_of(t, table, ranks) for t in node.terms] for node in walk(claim) if isinstance(node, Add))
    return sum(found.count(COLUMN) for found in sums if MATRIX in found)


def with_rows(table: SymbolTable, claimed: Sequence[Rel], undecided: Set[str]) -> SymbolTable:
    r"""The table with y and b of y = x^\top W + b as rows, as a transposed vector makes them."""
    rows: set[str] = set()

    def is_row(node: Expr) -> bool:
        match node:
            case Entry(name, ()):
                return name in rows
            case Fn(name, (Entry(letter, ()),)) if name == TRANSPOSE:
                return letter not in rows and not is_capital(letter)
            case Fn(name, (inner,)) if name == SOFTMAX or name not in MARKS:
                return is_row(inner)
            case Mul(factors):
                own = [f for f in factors if not isinstance(f, _LITERALS)]
                return bool(own) and is_row(own[0]) and all(is_capital(_letter(f) or "") for f in own[1:])
            case Add(terms):
                return any(map(is_row, terms))
        return False

    for claim in (*claimed, *claimed):
        sums = [n for n in walk(claim) if isinstance(n, Add) and is_row(n)]
        letters = [claim.terms[0]] if any(map(is_row, claim.terms[1:])) else []
        rows |= {n.tensor for n in (*letters, *(t for s in sums for t in s.terms)) if isinstance(n, Entry)
                 and not n.indices and n.tensor in undecided and not is_capital(n.tensor)}
    return table.extended(replace(s, row=True) for s in table.symbols if s.name in rows) if rows else table


def softmaxes(nodes: Sequence[Node], table: SymbolTable) -> str:
    """Rows where A of A = softmax(S) stands in A V, whose weights add up to 1 then, columns where it stands in V A."""
    found = [claim for node in nodes for claim in claims(node, table)]
    own = {c.terms[0].tensor for c in found if isinstance(c.terms[0], Entry) and any(
        isinstance(t, Fn) and t.name == SOFTMAX for t in c.terms[1:])}
    products = (n for claim in found for n in walk(claim) if isinstance(n, Mul))
    ways = {isinstance(node, Fn) is not first for n in products for pair in itertools.pairwise(n.factors)
            for node, first in zip(pair, (True, False), strict=True) if _letter(node) in own}
    return "" if len(ways) != 1 else "rows" if ways == {True} else "columns"


def _letter(node: Expr) -> str | None:
    """W of W, W^⊤ and W^2."""
    inner = node.args[0] if isinstance(node, Fn) and node.name == TRANSPOSE else node.base if is_square(node) else node
    return inner.tensor if isinstance(inner, Entry) and not inner.indices else None


def _letters(node: Expr) -> list[str]:
    """W of W, x and z of x − z: the letters of which nothing but a sum is made."""
    terms = node.terms if isinstance(node, Add) else (node,)
    found = [_letter(t.factors[1] if isinstance(t, Mul) and t.factors[0] == MINUS_ONE and len(t.factors) == 2 else t)
             for t in terms]
    return [name for name in found if name is not None] if None not in found else []


def with_ranks(table: SymbolTable, found: Ranks) -> SymbolTable:
    """The table with the new axes; letters of axes are indices."""
    changed = []
    taken = {part for s in table.symbols for part in (s.name, s.name.rpartition("_")[2], s.name.partition("_")[0])}
    for name, rank in found.items():
        symbol = table.named(name)
        if symbol is not None and rank:
            spare = [c for c in _SPARE if c not in (*taken, *symbol.axes)][:rank]
            changed.append(replace(symbol, axes=(*symbol.axes, *spare), unwritten=rank if symbol.axes else 0))
    return table.extended(changed) if changed else table
