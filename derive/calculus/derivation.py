"""∂of/∂wrt as a tree of steps; each names its rule and can recompute its conclusion: raw, simplified, as shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import cast

from derive.axes import with_axes
from derive.calculus.algebra import monomial, size
from derive.calculus.brackets import decided
from derive.calculus.dependence import between, entry_of, reached, tensors_in, users_of
from derive.calculus.form import polished, simplified
from derive.calculus.ranges import entry_ranges, ranged
from derive.calculus.rules import RULES, rule_for
from derive.errors import LimitError
from derive.expr import (
    ONE,
    ZERO,
    Entry,
    Expr,
    Fn,
    Idx,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    Size,
    add,
    eq,
    free_indices,
    mul,
    subst,
    transform,
    walk,
)
from derive.limits import MOST_SIGNS
from derive.module import Function, Module
from derive.notation.symbols import Kind, Symbol
from derive.records import dataclass

Conclude = Callable[[Node, tuple["Step", ...], Module], Node]
CONCLUSIONS: dict[str, Conclude] = {}  # rule name -> how it concludes; filled where the rules live


def concludes(name: str) -> Callable[[Conclude], Conclude]:
    """Register how the rule ``name`` turns what is before, and its premises, into what is after."""

    def register(function: Conclude) -> Conclude:
        CONCLUSIONS[name] = function
        return function

    return register


@dataclass(frozen=True)
class Step:
    """``before`` becomes ``after`` by ``rule``, given the conclusions of ``premises``.

    ``held`` names the tensors that a partial derivative holds constant.
    """

    rule: str
    before: Node
    after: Node
    premises: tuple[Step, ...] = field(default=())
    held: tuple[str, ...] = ()

    def recompute(self, module: Module) -> Node:
        """What the rule concludes now from ``before`` and the premises."""
        within = module.holding(self.held)
        return CONCLUSIONS[self.rule](self.before, self.premises, within)

    def holds(self, module: Module) -> bool:
        """The stored conclusion is the recomputed one, here and in every premise."""
        return self.recompute(module) is self.after and all(p.holds(module) for p in self.premises)

    def __iter__(self) -> Iterator[Step]:
        """All steps, premises first."""
        for premise in self.premises:
            yield from premise
        yield self

    def last(self, rule: str) -> Step:
        """The last step of that rule."""
        return [step for step in self if step.rule == rule][-1]


def step(rule: str, before: Node, module: Module, *premises: Step) -> Step:
    """Apply a rule."""
    return Step(rule, before, CONCLUSIONS[rule](before, premises, module), premises, module.held)


def differentiate(of: Expr, wrt: Entry, module: Module) -> Step:
    """∂of/∂wrt as a tree of steps, a premise for each smaller derivative used."""
    rule = rule_for(of, wrt, module)
    premises: list[Step] = []

    def noted(found: Step) -> Expr:
        premises.append(found)
        return cast(Expr, found.after)

    after = rule.conclude(of, wrt, module, _Derivatives(
        lambda smaller: noted(differentiate(smaller, wrt, module)),
        lambda entry, by, held: noted(derivative(entry, by, holding(entry, module) if held else module)), module))
    return Step(rule.name, Partial(of, wrt), after, tuple(premises), module.held)


class _Derivatives:
    """What :class:`derive.calculus.rules.Derivatives` asks for, however it is found."""

    def __init__(self, smaller: Callable[[Expr], Expr], entry: Callable[[Entry, Entry, bool], Expr],
                 module: Module) -> None:
        self.smaller, self.entry, self.module = smaller, entry, module

    def __call__(self, of: Expr) -> Expr:
        return self.smaller(of)

    def slope(self, function: Function, place: int) -> Expr:
        return slope(function, place, self.module)


def holding(entry: Entry, module: Module) -> Module:
    """The module for ∂y/∂s where y alone is a function: every other tensor is held constant."""
    return module.holding(tuple(t for t in module.defined if t != entry.tensor))


def derivative(of: Entry, wrt: Entry, module: Module) -> Step:
    """∂y_k/∂x_i in the lecturer's form; the premise is the derivation by rules.

    Through other tensors it is derived from the input forward and from the output back; what is less to read is kept,
    and of a single number the way back, whose derivatives serve the next letter too.
    """
    return _derivative(of, wrt, module.anonymous)


@lru_cache(maxsize=4096)
def _derivative(of: Entry, wrt: Entry, module: Module) -> Step:
    before = Partial(of, wrt)
    forward = step("form", before, module, differentiate(of, wrt, module))
    users = [entry_of(t, module, (of, wrt)) for t in users_of(of, wrt, module)]
    if not any(between(of.tensor, user, module) for user in users):
        return forward  # both ways are the same sum
    total = [derivative(of, user, module) for user in users if user.tensor != of.tensor]
    local = [derivative(of if user.tensor == of.tensor else user, wrt, holding(user, module)) for user in users]
    back = step("form", before, module, step("reverse", before, module, *total, *local))
    gain = size(cast(Expr, forward.after)) - size(cast(Expr, back.after))
    return back if gain > 0 or gain == 0 and not of.indices else forward


@concludes("reverse")
def _reverse(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """∂y/∂x = ∂y/∂x|_u + Σ_u Σ_m (∂y/∂u_m)(∂u_m/∂x|), over the tensors u in whose definitions x stands."""
    known = {cast(Partial, p.before).wrt: cast(Expr, p.after) for p in premises if p.held == module.held}
    terms: list[Expr] = []
    for premise in (p for p in premises if p.held != module.held):
        user = cast(Entry, cast(Partial, premise.before).of)
        product = mul(known.get(user, ONE), cast(Expr, premise.after))
        summed = user in known and user.indices and product is not ZERO
        terms.append(Reduce("sum", ranged(user, product, module), product) if summed else product)
    return add(*terms)


@concludes("form")
def _form(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """Deltas contracted, definitions folded back, common factors in front."""
    entries = (before,) if isinstance(before, Entry) else (before.of, before.wrt) if isinstance(before, Partial) else ()
    ranges = {i: r for e in entries if isinstance(e, Entry) for i, r in entry_ranges(e, module).items()}
    found = cast(Expr, premises[-1].after)
    if size(found) > MOST_SIGNS:
        raise LimitError(f"a derivative of {size(found):,} signs, and at most {MOST_SIGNS:,} are simplified: define "
                         "parts of the formula by letters of their own")
    return simplified(found, ranges, module)


def slope(function: Function, place: int, module: Module) -> Expr:
    """f'(s) of a card's function, in terms of f and its parameters: σ' = σ(s)(1 − σ(s))."""
    found = cast(Expr, slope_step(function, place, module)[0].after)
    applied = Fn(function.name, tuple(Entry(p, ()) for p in function.parameters))
    return subst(found, {Entry(function.name, ()): applied})


@lru_cache(maxsize=64)
def slope_step(function: Function, place: int, module: Module) -> tuple[Step, Module]:
    """∂f/∂s of a card's function, a scalar f computed from scalars; and the module of that one equation."""
    symbols = [Symbol(n, n, Kind.TENSOR) for n in (function.name, *function.parameters)]
    others = tuple(f for f in module.functions if f is not function)
    here = with_axes(replace(
        module, equations=(eq(Entry(function.name, ()), function.body),), output=function.name, held=(), facts=(),
        inputs=function.parameters, parameters=(), constants=(), functions=others,
        table=module.table.extended(symbols)))
    return derivative(Entry(function.name, ()), Entry(function.parameters[place], ()), here), here


def _conclude_again(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """The rule applied anew, the smaller derivatives taken from the premises."""
    assert isinstance(before, Partial) and isinstance(before.wrt, Entry)
    known = {(p.before, p.held != module.held): cast(Expr, p.after) for p in premises}
    wrt = before.wrt
    rule = rule_for(before.of, wrt, module)
    return rule.conclude(before.of, wrt, module, _Derivatives(
        lambda smaller: known[Partial(smaller, wrt), False],
        lambda entry, by, held: known[Partial(entry, by), held], module))


for _rule in RULES:
    concludes(_rule.name)(_conclude_again)


@dataclass(frozen=True)
class Shown:
    """∂of/∂wrt = ``raw`` = ``after``: what the rule gives from its premises, and that in the lecturer's form."""

    rule: str
    before: Partial
    raw: Expr
    after: Expr
    premises: tuple[Shown, ...]

    @property
    def silent(self) -> bool:
        return is_silent(self.rule, self.premises)

    def __iter__(self) -> Iterator[Shown]:
        """All steps, premises first."""
        for premise in self.premises:
            yield from premise
        yield self

    def renamed(self, letters: Mapping[Node, Node]) -> Shown:
        """The same step with other index letters, or numbers: brackets that compare these are decided."""
        raw, after = subst(self.raw, letters), subst(self.after, letters)
        if any(isinstance(at, Num) for at in letters.values()):
            raw, after = decided(raw), decided(after)
        premises = tuple(p.renamed(letters) for p in self.premises)
        return Shown(self.rule, subst(self.before, letters), raw, after, premises)


@lru_cache(maxsize=1024)
def shown(step: Step, module: Module) -> Shown:
    """A differentiation by rules, from simplified premises; definitions are folded back at the end, by a ``form`` step.

    A silent step, and one below a sum, does not simplify what it is made of: the rules below it are seen in ``raw``.
    """
    if step.rule == "form":
        found = shown(step.premises[0], module)
        return Shown(found.rule, found.before, found.raw, cast(Expr, step.after), found.premises)
    assert isinstance(step.before, Partial)
    within = module.holding(step.held)
    premises = tuple(shown(p, module) for p in step.premises if p.rule != "form")
    kept = tuple(p for p in step.premises if p.rule == "form")

    def concluded(values: Iterable[Expr]) -> Expr:
        given = (Step(p.rule, p.before, v, (), step.held) for p, v in zip(premises, values, strict=True))
        return cast(Expr, CONCLUSIONS[step.rule](step.before, (*given, *kept), within))

    after = concluded(p.after for p in premises)
    seen = step.rule == "sum" or is_silent(step.rule, premises)
    raw = concluded(p.raw for p in premises) if seen else after
    ranges = {i: r for e in (step.before.of, step.before.wrt) if isinstance(e, Entry)
              for i, r in entry_ranges(e, within).items()}
    return Shown(step.rule, step.before, neat(raw), simplified(after, ranges, within, fold=False), premises)


_SILENT = frozenset(("constant", "entry", "definition", "linearity", "bracket"))


def is_silent(rule: str, premises: tuple[Shown, ...] | tuple[Step, ...]) -> bool:
    """Nothing is said of it: linearity, a constant factor, what does not depend on x."""
    return rule in _SILENT or (rule == "product" and sum(p.after is not ZERO for p in premises) < 2)


def neat(value: Expr) -> Expr:
    """The same products, their powers gathered and below a fraction bar; nothing contracted, nothing folded."""
    return polished(transform(value, lambda node: monomial(cast(Expr, node)).expr(), Mul, Pow))


def is_total(of: Expr, wrt: Entry, module: Module) -> bool:
    """∂of/∂wrt with all other tensors held is the total derivative: none of them changes with ``wrt``."""
    free = module.holding(())
    others = (t for t in tensors_in(of) if t != wrt.tensor and wrt.tensor in reached(Entry(t, ()), free))
    return all(derivative(entry_of(t, free, (wrt,)), wrt, free).after is ZERO for t in others)


def lettered(statement: Rel) -> Rel:
    """The statement with its indices numbered as they occur: the same for another choice of letters."""
    free = free_indices(statement)
    found = dict.fromkeys(n for n in walk(statement) if n in free)
    return subst(statement, {index: Idx(f"#{number}") for number, index in enumerate(found)})


def unlettered(statement: Rel, known: dict[str, str] | None = None) -> Node:
    """The statement with tensors and sizes, too, numbered as they occur: the same for another layer like this one.

    ``known`` has the numbers of statements before it, and gets those of this one.
    """
    numbers = {} if known is None else known

    def number(node: Node) -> Node | None:
        if isinstance(node, Entry) and not node.tensor.startswith("#"):
            return Entry(numbers.setdefault(node.tensor, f"#{len(numbers)}"), node.indices)
        if isinstance(node, Size) and not node.name.startswith("#"):
            return Size(numbers.setdefault(node.name, f"#{len(numbers)}"))
        return None

    return transform(lettered(statement), number, Entry, Size)
