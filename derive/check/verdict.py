"""The verdict on one equation of somebody's: proved, tested, refuted, and in any doubt not read."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial

from derive.calculus.messages import Messages
from derive.check import kinks
from derive.errors import DeriveError
from derive.expr import Bracket, Cases, Entry, Extremum, Fn, Node, Num, Partial, Reduce, Rel, transform, walk
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import precision
from derive.numeric.statements import componentwise
from derive.sheet import Math
from derive.verify.check import fresh
from derive.verify.points.claims import Compiler
from derive.verify.points.sizes import shrunk
from derive.verify.provers.cases import proofs
from derive.verify.report import Verdict
from derive.verify.scope import Scope, gather, localised

# refutations that a range or a domain left unsaid may explain
_UNDECIDED = ("out of range", "has no value", "no case applies", "never holds")
Found = tuple[Verdict, str, str | None]  # the reason, and a counterexample


def verdict(link: Rel, defined: Iterable[Node], messages: Messages, table: SymbolTable, latex: str) -> Found:
    """Whether the equation holds for the layer and the letters defined."""
    module = messages.module
    try:
        node = componentwise(localised(_of_loss(link, messages), module), table)
        if not isinstance(node, Rel):
            return Verdict.NOT_READ, "it is no equation of entries", None
        definitions = gather(defined, module)
        stars = Compiler.of(messages, Scope(module, table, (node,), definitions).kind).definitions.stars
        definitions = type(definitions)({**stars, **definitions.stars}, definitions.tensors, definitions.sets)
        scope = Scope(shrunk(module, (node,)), table, (node,), definitions)
        with precision():
            found = fresh(Math(latex, node, "equation"), node, scope, partial(proofs, scope))
            if found.verdict == Verdict.REFUTED:
                return _refuted(found.counterexample or "")
            if found.verdict == Verdict.NOT_READ:
                return found.verdict, found.evidence, None
            return _held(node, scope, found.verdict, found.evidence)
    except DeriveError as error:
        return Verdict.NOT_READ, error.problems[0].message, None
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        return Verdict.NOT_READ, f"it cannot be evaluated: {error}", None


def _refuted(counterexample: str) -> Found:
    if any(words in counterexample for words in _UNDECIDED):
        return Verdict.NOT_READ, f"undecided {counterexample}", None
    return Verdict.REFUTED, "", counterexample


def _held(node: Rel, scope: Scope, found: Verdict, evidence: str) -> Found:
    """What held at the points drawn, looked at on the boundaries and at the numbers that it names itself."""
    own: set[Fraction] = {abs(n.value) for e in scope.module.equations for n in walk(e) if isinstance(n, Num)}
    windows = {a for _, f in scope.module.fields for axis in f.axes
               for a in (getattr(axis, "kernel_size", 0), getattr(axis, "stride", 0))}
    known = own | {Fraction(n - d) for n in windows for d in (0, 1)}
    if kinks.far(node, known if scope.module.fields else set()):
        return Verdict.NOT_READ, "it compares an index with a number that the sizes tried may not reach", None
    if found == Verdict.TESTED and kinks.numbers(node) - own - {0, 1}:
        return Verdict.NOT_READ, "it has a threshold of its own and could not be proved", None
    if (unmet := kinks.unmet(node, scope)):
        return Verdict.NOT_READ, unmet, None
    if not kinks.handled(node) and any(isinstance(node.terms[0], kind) for kind in (Partial, Fn)) and _has_cases(
            (node, *scope.module.equations, *(f.body for f in scope.module.functions))):
        return Verdict.NOT_READ, "its value at a kink was not looked at", None
    if (beyond := kinks.outside(node, scope)) is not None:
        what, smooth = beyond
        if smooth:
            return Verdict.REFUTED, "", what
        return Verdict.NOT_READ, f"{found} off ties; at a kink no generalised derivative {what}", None
    return found, evidence, None


def _has_cases(nodes: Iterable[Node]) -> bool:
    return any(isinstance(n, (Cases, Bracket, Extremum)) or isinstance(n, Reduce) and n.op != "sum"
               or isinstance(n, Fn) and n.name.rstrip("'") in ("abs", "sign") for node in nodes for n in walk(node))


def _of_loss(link: Rel, messages: Messages) -> Node:
    """δ_t of a loss ℓ is ∂ℓ/∂t where no δ_ℓ stands beside it: the loss is the last."""
    module = messages.module
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
