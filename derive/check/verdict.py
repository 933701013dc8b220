"""The verdict on one equation of somebody's: proved, tested, refuted, and in any doubt not read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from fractions import Fraction
from functools import cached_property, partial

from derive.calculus.messages import Messages
from derive.check import kinks
from derive.errors import DeriveError
from derive.expr import (
    Bracket,
    Cases,
    Cond,
    Entry,
    Extremum,
    Fn,
    Given,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    transform,
    walk,
)
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import precision
from derive.numeric.point import Definitions
from derive.numeric.statements import componentwise
from derive.records import dataclass
from derive.sheet import Math
from derive.verify.check import fresh
from derive.verify.points.claims import Compiler
from derive.verify.points.sizes import shrunk
from derive.verify.provers.cases import proofs
from derive.verify.report import Verdict
from derive.verify.scope import Scope, gather, localised

# refutations that a range or a domain left unsaid may explain
_UNDECIDED = ("out of range", "has no value", "no case applies", "never holds")


@dataclass(frozen=True)
class Found:
    """A verdict, its reason where it is open, and a counterexample."""

    verdict: Verdict
    reason: str = ""
    counterexample: str | None = None

    @property
    def holds(self) -> bool:
        return self.verdict in (Verdict.PROVED, Verdict.TESTED)


@dataclass
class Judge:
    """Judges equations about a layer, in the letters of a table and those that the solution defines."""

    module: Module
    messages: Messages
    table: SymbolTable
    defined: Iterable[Node]
    _known: dict[tuple[Rel, Cond | None], Found] = field(default_factory=dict)

    def __call__(self, link: Rel, cond: Cond | None = None) -> Found:
        key = link, cond
        if key not in self._known:
            try:
                with precision():
                    self._known[key] = self._judged(link, cond)
            except DeriveError as error:
                self._known[key] = Found(Verdict.NOT_READ, error.problems[0].message)
            except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
                self._known[key] = Found(Verdict.NOT_READ, f"it cannot be evaluated: {error}")
        return self._known[key]

    @cached_property
    def definitions(self) -> Definitions:
        """Stars of the layer, letters and stars of the solution."""
        own = gather(self.defined, self.module)
        module = self.messages.module
        stars = {name: (arg, place, module.parameters_of(arg))
                 for name, (arg, place) in self.messages.star_definitions.items()}
        return Definitions({**stars, **own.stars}, own.tensors, own.sets)

    def _judged(self, link: Rel, cond: Cond | None) -> Found:
        claim = componentwise(localised(_of_loss(link, self.module), self.module), self.table)
        if not isinstance(claim, Rel):
            return Found(Verdict.NOT_READ, "it is no equation of entries")
        node: Cond = claim if cond is None else Given(claim, componentwise(localised(cond, self.module), self.table))
        scope = Scope(shrunk(self.module, (node,)), self.table, (node,), self.definitions)
        found = fresh(Math("", node, "equation"), node, scope, partial(proofs, scope))
        if found.verdict == Verdict.REFUTED:
            told = found.counterexample or ""
            if any(words in told for words in _UNDECIDED):
                return Found(Verdict.NOT_READ, f"undecided {told}")
            return Found(Verdict.REFUTED, "", told)
        if found.verdict == Verdict.NOT_READ:
            return Found(found.verdict, found.evidence)
        return _held(claim, node, scope, found.verdict, found.evidence)


def _held(claim: Rel, node: Cond, scope: Scope, found: Verdict, evidence: str) -> Found:
    """What held at the points drawn, looked at on the boundaries and at the numbers that it names itself."""
    own: set[Fraction] = {abs(n.value) for e in scope.module.equations for n in walk(e) if isinstance(n, Num)}
    windows = {a for _, f in scope.module.fields for axis in f.axes
               for a in (getattr(axis, "kernel_size", 0), getattr(axis, "stride", 0))}
    known = own | {Fraction(n - d) for n in windows for d in (0, 1)}
    if kinks.far(node, known if scope.module.fields else set()):
        return Found(Verdict.NOT_READ, "it compares an index with a number that the sizes tried may not reach")
    if found == Verdict.TESTED and kinks.numbers(node) - own - {0, 1}:
        return Found(Verdict.NOT_READ, "it has a threshold of its own and could not be proved")
    if (unmet := kinks.unmet(claim, scope)):
        return Found(Verdict.NOT_READ, unmet)
    if not kinks.handled(claim) and any(isinstance(claim.terms[0], kind) for kind in (Partial, Fn)) and _has_cases(
            (claim, *scope.module.equations, *(f.body for f in scope.module.functions))):
        return Found(Verdict.NOT_READ, "its value at a kink was not looked at")
    if (beyond := kinks.outside(claim, node, scope)) is not None:
        what, smooth = beyond
        if smooth:
            return Found(Verdict.REFUTED, "", what)
        return Found(Verdict.NOT_READ, f"{found} off ties; at a kink no generalised derivative {what}")
    return Found(found, evidence)


def _has_cases(nodes: Iterable[Node]) -> bool:
    return any(isinstance(n, (Cases, Bracket, Extremum)) or isinstance(n, Reduce) and n.op != "sum"
               or isinstance(n, Fn) and n.name.rstrip("'") in ("abs", "sign") for node in nodes for n in walk(node))


def _of_loss(link: Rel, module: Module) -> Rel:
    """δ_t of a loss ℓ is ∂ℓ/∂t where no δ_ℓ stands beside it: the loss is the last."""
    output = module.table.named(module.output)
    upstream = f"delta_{module.output}"
    if output is None or output.axes or any(isinstance(n, Entry) and n.tensor == upstream
                                            for term in link.terms[1:] for n in walk(term)):
        return link

    def replaced(node: Node) -> Node | None:
        if isinstance(node, Entry) and node.tensor.startswith("delta_"):
            return Partial(Entry(module.output, ()), Entry(node.tensor.removeprefix("delta_"), node.indices))
        return None

    return transform(link, replaced, Entry)
