"""The verdict on one equation of somebody's: proved, tested, refuted, and in any doubt not read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice

from derive.axes import axes
from derive.calculus.messages import Messages
from derive.calculus.one_window import Windowed
from derive.check.judging import kinks, reach
from derive.check.judging.equalities import entrywise, of_values, placed
from derive.check.judging.local import of_function
from derive.check.judging.mistakes import changes
from derive.check.judging.ranges import bounded, exists
from derive.check.judging.ranges import padded as padded_
from derive.check.judging.smaller import smallest
from derive.check.judging.supposed import supposing
from derive.check.letters import squared
from derive.check.report import OFF_TIES
from derive.errors import DeriveError
from derive.expr import (
    ONE,
    Cases,
    Cond,
    Directional,
    Entry,
    Fn,
    Given,
    Idx,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    SetApp,
    Size,
    Subdifferential,
    add,
    conditions,
    free_indices,
    joined,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import precision
from derive.numeric.point import Definitions
from derive.numeric.statements import componentwise
from derive.records import dataclass
from derive.sheet import Math
from derive.verify.check import fresh
from derive.verify.points.claims import Refuted
from derive.verify.points.draw import thresholds
from derive.verify.points.point import LOSS
from derive.verify.points.sizes import shrunk
from derive.verify.provers.cases import Proofs, proofs
from derive.verify.report import ENOUGH, Verdict
from derive.verify.scope import Scope, gather, localised

_WITHIN = 12  # points at which the entries that exist are compared
_EXTENTS = 16  # meanings of letters for extents that are tried
_FEW, _MANY = 8, 32  # points at which a guess is tried
_GUESSES = 100  # what one known mistake may have made


@dataclass(frozen=True)
class Found:
    """A verdict, its reason where it is open, and a counterexample; ``single``: it is about some numbers alone."""

    verdict: str
    reason: str = ""
    counterexample: str | None = None
    single: bool = False

    @property
    def holds(self) -> bool:
        return self.verdict in (Verdict.PROVED, Verdict.TESTED, OFF_TIES)


@dataclass
class Judge:
    """Judges equations about a layer, in the letters of a table and those that the solution defines."""

    module: Module
    messages: Messages
    table: SymbolTable
    window: Windowed | None = None  # of which the layer is one
    defined: tuple[Node, ...] = ()  # sets and maximisers that the text defines
    stated: tuple[Cond, ...] = ()  # what the question says of its letters, and no fact of the layer does
    _known: dict[tuple[Rel, Cond | None], Found] = field(default_factory=dict)
    _mistakes: dict[tuple[Rel, Cond | None], str] = field(default_factory=dict)
    _small: dict[tuple[Rel, Cond | None], str | None] = field(default_factory=dict)
    _scopes: dict[Hashable, Scope] = field(default_factory=dict)
    _proofs: dict[int, Proofs] = field(default_factory=dict)

    def __call__(self, link: Rel, cond: Cond | None = None) -> Found:
        key = link, cond = _plain(link, cond)
        if key not in self._known:
            try:
                with precision():
                    found = self._judged(link, cond)
                    self._known[key] = self._as_stated(link, cond) if self.stated and (
                        found.verdict == Verdict.REFUTED) else found
            except DeriveError as error:
                self._known[key] = Found(Verdict.NOT_READ, error.problems[0].message)
            except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
                self._known[key] = Found(Verdict.NOT_READ, f"it cannot be evaluated: {error}")
        return self._known[key]

    def _as_stated(self, link: Rel, cond: Cond | None) -> Found:
        """The verdict on what fails somewhere, where the letters are as the question says."""
        found = self._judged(link, joined([*conditions(cond), *self.stated]))
        if found.holds:
            return replace(found, reason=f"{found.reason}, letters as the question says")
        of = {n.tensor for c in self.stated for n in walk(c) if isinstance(n, Entry)}
        by = {e.tensor for n in walk(link) if isinstance(n, Partial) for e in walk(n.wrt) if isinstance(e, Entry)}
        by |= {n.tensor.removeprefix("delta_") for n in walk(link) if isinstance(n, Entry) and "delta_" in n.tensor}
        if found.verdict == Verdict.REFUTED and of & by:  # of a symmetric matrix there are two conventions
            return Found(Verdict.NOT_READ, f"it differentiates by `{min(of & by)}`, of which the question says more")
        return found

    def mistake(self, link: Rel, cond: Cond | None = None) -> str:
        """The known mistake without which a refuted equation would hold; "" where none is."""
        if (link, cond) not in self._mistakes:
            self._mistakes[link, cond] = self._likely(link, cond)
        return self._mistakes[link, cond]

    def smaller(self, link: Rel, cond: Cond | None, told: str) -> str:
        """The smallest counterexample that is found to what is refuted."""
        key = _plain(link, joined([*conditions(cond), *self.stated]) if self.stated else cond)
        if key not in self._small:
            alone = of_function(*key, self.module)
            judge = self if alone is None else Judge(alone[0], self.messages, alone[0].table)
            link, cond = key if alone is None else alone[1:]
            if (set_ := supposing(link, cond, judge.module, judge.table)) is not None:
                link, cond, module, table = set_
                judge = Judge(module, self.messages, table)
            link, found = _of_loss(link, judge.module), None
            for read in (link, padded_(link, judge.module)):
                node = componentwise(localised(read if cond is None else Given(read, cond), judge.module), judge.table)
                with precision():
                    found = found or (smallest(node, judge._scope(node)) if isinstance(node, Cond) else None)
            self._small[key] = found
        return self._small[key] or told

    def _likely(self, link: Rel, cond: Cond | None) -> str:
        head, value = link.terms
        if self.agrees(link, cond):  # the points tell nothing
            return ""
        found, left = axes(self.module), free_indices(head)
        bounds = [c for n in dict.fromkeys(walk(value)) if isinstance(n, Entry) and n.tensor.startswith("delta_")
                  for c in exists(n, found, left) if free_indices(c) <= left]  # where what is told exists
        there = joined([*conditions(cond), *bounds]) if bounds else cond
        for words, other in islice(changes(head, value, self.module), _GUESSES):
            right = Rel((head, other), ("=",))
            if self.agrees(right, there) and self(right, there).holds:
                return words
        for number in (s.name for s in self.module.table.symbols if s.name in self.module.given and not s.axes):
            below, above = (joined([*conditions(cond), Rel((Entry(number, ()), ONE), (op,))]) for op in "<>")
            for inside, words in ((below, "> 1"), (above, "< 1")):  # max(s, a s) is right for a < 1 alone
                if self.agrees(link, inside) and self(link, inside).holds:
                    return f"the case `{number} {words}` is forgotten"
        return ""

    def agrees(self, link: Rel, cond: Cond | None = None) -> bool:
        """Whether an equation holds at a few points: no proof is asked for."""
        link = _of_loss(link, self.module)
        try:
            with precision():
                node = localised(link if cond is None else Given(link, cond), self.module)
                scope = self._scope(node)
                claims = scope.compiler.claims(node)
                said = [claim.holds(point, set()) for point in islice(scope.points(), _FEW if cond is None else _MANY)
                        for claim in claims]
        except (Refuted, DeriveError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
            return False
        return sum(map(bool, said)) >= _FEW // 2

    def fails(self, link: Rel, cond: Cond | None = None) -> bool:
        """Whether an equation holds at none of many points: then it holds in no region."""
        link = _of_loss(link, self.module)
        try:
            with precision():
                node = componentwise(localised(link if cond is None else Given(link, cond), self.module), self.table)
                return kinks.nowhere(node, self._scope(node))
        except (DeriveError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
            return False

    def whatever(self, link: Rel, cond: Cond | None) -> bool:
        """Whether an equation is wrong whatever extents its letters for extents are, or one more or less."""
        names = dict.fromkeys(n for part in (link, *conditions(cond)) for n in walk(part) if isinstance(n, Size))
        extents = dict.fromkeys(axes(self.module).sizes.values())
        if not names or len(extents) ** len(names) > _EXTENTS:
            return False
        for chosen in itertools.product(extents, repeat=len(names)):
            for more in (0, 1, -1):
                found = dict[Node, Node](zip(names, (add(e, Num(more)) for e in chosen), strict=True))
                if self(subst(link, found), None if cond is None else subst(cond, found)).verdict != Verdict.REFUTED:
                    return False
        return True

    def _scope(self, node: Node) -> Scope:
        """The points at which a statement is tried: the same for all that name no further number and letter."""
        module = shrunk(self.module, (node,))
        found = Scope(module, self.table, (node,), self.definitions, self.window)
        key = found.kind, thresholds((node,)), found.free, module is self.module
        return self._scopes.setdefault(key, found)

    def _provers(self, scope: Scope) -> Proofs:
        if id(scope) not in self._proofs:  # the scope is kept as long as they are
            self._proofs[id(scope)] = proofs(scope)
        return self._proofs[id(scope)]

    def saved(self, link: Rel, cond: Cond) -> str:
        """Whether an equation that fails may hold where this condition does: of what indices say that is known."""
        found = self(link, cond)
        about_values = any(isinstance(n, Rel) and "=" in n.ops and of_values(n) for n in walk(cond))
        if found.holds or found.verdict == Verdict.NOT_READ and about_values:
            return "a condition before or behind it may say where"
        return ""

    @cached_property
    def definitions(self) -> Definitions:
        """Stars of the layer, or the sets of one window."""
        if self.window is not None:
            return gather(self.defined, self.module)
        module = self.messages.module
        stars = {name: (arg, place, module.parameters_of(arg))
                 for name, (arg, place) in self.messages.star_definitions.items()}
        return Definitions({**stars, **gather(self.defined, module).stars}, {}, {})

    def _judged(self, link: Rel, cond: Cond | None, padded: bool = False) -> Found:
        if (alone := of_function(link, cond, self.module)) is not None:
            module, link, cond = alone
            return Judge(module, self.messages, module.table)._judged(link, cond)
        if (set_ := supposing(link, cond, self.module, self.table)) is not None:  # no point would be drawn there
            supposed, (link, rest, module, table) = self._supposed(cond, set_[1]), set_
            there = Judge(module, self.messages, table, self.window, self.defined)._judged(link, rest, padded)
            return replace(there, reason=f"{there.reason}, {supposed}") if there.holds else there
        link = _of_loss(link, self.module)
        whole = componentwise(localised(link if cond is None else Given(link, cond), self.module), self.table)
        claim = whole.claim if isinstance(whole, Given) else whole
        if not isinstance(claim, Rel) or not isinstance(whole, Cond):
            return Found(Verdict.NOT_READ, "it is no equation of entries")
        node: Cond = whole
        scope = self._scope(node)
        ties = any(isinstance(n, (Subdifferential, Directional, SetApp)) for n in walk(node))
        printed = Math("", node, "equation", ties=ties and self.window is not None)
        found = fresh(printed, node, scope, partial(self._provers, scope))
        if found.verdict == Verdict.REFUTED:
            told = found.counterexample or ""
            if "out of range" in told and not padded and not bounded(link) and (
                    wide := padded_(link, self.module)) is not link:
                return self._judged(wide, cond, padded=True)
            if "out of range" in told and (unknown := _unknown_size(node, self.module)):
                return Found(Verdict.NOT_READ, f"nothing says what `{unknown}` is")
            if "out of range" in told and (against := _within(node, scope)) is not None:
                return Found(Verdict.REFUTED, "", against)
            if "no case applies" in told and (left_out := kinks.left_out(claim, node, scope)):
                return Found(Verdict.REFUTED, "", left_out)
            if "no case applies" in told and (off := _off_ties(link, cond)) != cond:
                return self._judged(link, off, padded)
            if any(words in told for words in kinks.UNDECIDED) and not ("out of range" in told and _by_letters(node)):
                moved = _at_places(claim, node, cond, scope) if cond is not None and "never holds" in told else None
                return moved or self._square(link, cond) or Found(Verdict.NOT_READ, f"undecided {told}")
            return Found(Verdict.REFUTED, "", told.removeprefix("at ") if told.startswith("at for") else told)
        if found.verdict == Verdict.NOT_READ:
            return (_at_places(claim, node, cond, scope) if cond is not None else None) or Found(
                found.verdict, found.evidence)
        return _held(claim, node, scope, found.verdict, scope.located(found.evidence), self._proved)

    def _supposed(self, cond: Cond | None, rest: Cond | None) -> str:
        """For $w_j = 0$: what an equation holds for, beside what is left of its condition."""
        fixed = (c for c in conditions(cond) if c not in conditions(rest))
        return "for " + " and ".join(f"${write(entrywise(c, self.table), self.table)}$" for c in fixed)

    def _proved(self, node: Cond) -> bool:
        """Whether it holds for all inputs."""
        scope = self._scope(node)
        return fresh(Math("", node, ""), node, scope, partial(self._provers, scope)).verdict == Verdict.PROVED

    def _square(self, link: Rel, cond: Cond | None) -> Found | None:
        """What is wrong where all axes are equally long is wrong; those of windows never are."""
        if self.module.fields:
            return None
        square, sizes = squared(self.module), [n for s in self.module.table.symbols for n in s.sizes]
        if len({n for n in sizes if isinstance(n, str)}) < 2:
            return None
        found = Judge(square, self.messages, square.table)._judged(link, cond)
        return found if found.verdict == Verdict.REFUTED else None


def _unknown_size(node: Node, module: Module) -> str:
    known = {n for s in module.table.symbols for n in s.sizes} | {name for name, _ in module.steps} | {
        n.name for size in axes(module).sizes.values() for n in walk(size) if isinstance(n, Size)}
    return next((n.name for n in walk(node) if isinstance(n, Size) and n.name not in known), "")


def _within(node: Node, scope: Scope) -> str | None:
    """A counterexample where every entry exists."""
    found = (kinks.disproof(claim, point) for claim in scope.compiler.claims(node)
             for point in islice(scope.points(), _WITHIN))
    return next(filter(None, found), None)


def _off_ties(link: Rel, cond: Cond | None) -> Cond | None:
    """The condition, and a ≠ b for cases with a > b and a < b: they say nothing of ties."""
    strict = [r for r in kinks.compared(link) if of_values(r) and {*r.ops} <= {"<", ">"} and len(r.ops) == 1]
    apart = [Rel(r.terms, ("≠",)) for r in strict]
    return joined(dict.fromkeys((*conditions(cond), *apart))) if apart else cond


def _by_letters(node: Node) -> bool:
    """Every index is a letter and no sum has limits: then one out of range is out of place."""
    return all(all(isinstance(i, Idx) for i in n.indices) for n in walk(node) if isinstance(n, Entry)) and all(
        b is None for n in walk(node) if isinstance(n, Reduce) for b in (*n.binder.lower, *n.binder.upper))


def _plain(link: Rel, cond: Cond | None) -> tuple[Rel, Cond | None]:
    """Without «i = j» where one of them does not stand; with the argument s of f'(s) = … for s_k, too."""
    own = free_indices(link)
    kept = [c for c in conditions(cond) if not (isinstance(c, Rel) and c.ops == ("=",) and all(
        isinstance(t, Idx) for t in c.terms) and not own.issuperset(c.terms))]
    head = link.terms[0]
    if isinstance(head, Fn) and all(isinstance(a, Entry) and not a.indices for a in head.args):
        names = {a.tensor for a in head.args if isinstance(a, Entry)}
        kept = [transform(c, lambda n: Entry(n.tensor, ()) if isinstance(n, Entry) and n.tensor in names else None,
                          Entry) for c in kept]
    return link, joined(kept) if kept else None


def _held(claim: Rel, node: Cond, scope: Scope, found: Verdict, evidence: str,
          proved: Callable[[Cond], bool]) -> Found:
    """What held at the points drawn, looked at on the boundaries and at the numbers that it names itself."""
    own = _own_numbers(scope)
    windows = {vars(axis).get(name, 0) for _, f in scope.module.fields for axis in f.axes
               for name in ("kernel_size", "stride", "outputs")}
    known = own | {Fraction(n - d) for n in windows for d in (0, 1)}
    if any(isinstance(n, Cases) for n in walk(claim)) and kinks.contradictory(node, scope):
        return Found(Verdict.NOT_READ, "two of its cases hold at one point, and differ")
    if reach.far(node, known if scope.module.fields else set(), scope):
        return Found(Verdict.NOT_READ, "it compares an index with a number that the sizes tried may not reach")
    if found == Verdict.TESTED and (numbers := kinks.numbers(node) - own - {0, 1}):
        if (against := kinks.between(node, scope, numbers | own)) is not None:
            return Found(Verdict.REFUTED, "", against)
        return Found(Verdict.NOT_READ, "it has a threshold of its own and could not be proved")
    if found == Verdict.TESTED and kinks.faint(node, scope):
        return Found(Verdict.NOT_READ, "it has a number that is too small to be seen, and could not be proved")
    further = kinks.boundaries(claim, scope, proved, found == Verdict.TESTED)
    if further is None:
        return Found(Verdict.NOT_READ, "no point was tried on the boundary of one of its conditions")
    against = kinks.refuted(node, further, scope)
    if against is not None:
        return Found(Verdict.REFUTED, "", against)
    head = claim.terms[0]
    slope = isinstance(head, Partial) or isinstance(head, Fn) and head.name.endswith("'")
    if slope and not kinks.handled(claim) and kinks.has_cases(
            (claim, *scope.module.equations, *(f.body for f in scope.module.functions))):
        return Found(Verdict.NOT_READ, "its value at a kink was not looked at")
    if (beyond := kinks.outside(claim, node, scope, further)) is not None:
        what, smooth = beyond
        if smooth:
            return Found(Verdict.REFUTED, "", what)
        equal = [rel for rel in kinks.compared(claim) if rel.ops == ("=",) and of_values(rel)]
        if equal and (against := kinks.refuted(node, placed(joined(equal), node, scope), scope)) is not None:
            return Found(Verdict.REFUTED, "", against)  # at values that it calls equal, and the layer is smooth there
        return Found(OFF_TIES, f"{found} off ties; at a kink no generalised derivative {what}")
    return Found(found, evidence)


def _own_numbers(scope: Scope) -> set[Fraction]:
    return {abs(n.value) for e in scope.module.equations for n in walk(e) if isinstance(n, Num)}


def _at_places(claim: Rel, node: Cond, cond: Cond, scope: Scope) -> Found | None:
    """Of what is said where values are equal, at points that are moved there: at p = t, at a kink."""
    places = placed(cond, node, scope)
    if not places or kinks.numbers(claim) - kinks.numbers(cond) - _own_numbers(scope) - {0, 1}:
        return None  # nothing is said of what lies beyond its thresholds
    against = kinks.refuted(node, places, scope)
    if against is not None:
        return Found(Verdict.REFUTED, "", against)
    if kinks.handled(claim) and (beyond := kinks.outside(claim, node, scope, places)) is not None:
        return Found(Verdict.REFUTED, "", beyond[0])
    said = kinks.said(node, places, scope, kinks.handled(claim) and scope.module.elementwise)  # of a tie all count
    return Found(Verdict.TESTED, f"at {said} points where it says that it holds") if said >= ENOUGH else None


def _of_loss(link: Rel, module: Module) -> Rel:
    """δ_t of a loss ℓ is ∂ℓ/∂t where no δ_ℓ stands beside it: the loss is the last."""
    output = module.table.named(module.output)
    upstream = f"delta_{module.output}"
    if output is None or output.axes or any(isinstance(n, Entry) and n.tensor in (upstream, LOSS) for n in walk(link)):
        return link

    def replaced(node: Node) -> Node | None:
        if isinstance(node, Entry) and node.tensor.startswith("delta_"):
            return Partial(Entry(module.output, ()), Entry(node.tensor.removeprefix("delta_"), node.indices))
        return None

    return transform(link, replaced, Entry)
