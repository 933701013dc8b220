"""All messages of a module, each derived when it is first asked for: Jacobian, vector–Jacobian product, stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import cast

import derive.expr as ex
from derive.axes import unused, with_axes
from derive.calculus.dependence import entry_of, reached
from derive.calculus.derivation import Step, concludes, derivative, holding, step
from derive.calculus.extremum import extremisers, star_definitions
from derive.calculus.ranges import ranged
from derive.calculus.selection import selected
from derive.calculus.windows import in_closed_form
from derive.errors import CardError
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, latex_of
from derive.records import dataclass


def upstream(module: Module) -> ex.Entry:
    """δ_{f,kl} = ∂L/∂f_{kl}."""
    entry, _ = module.definition(module.output)
    return ex.Entry(f"delta_{module.output}", entry.indices)


_LETTERS = "ijklmpqruv"


def variable(module: Module, tensor: str) -> ex.Entry:
    """x_{ij}: the entry of a tensor with the letters of its axes, or others where the output has them."""
    symbol = module.table.named(tensor)
    if symbol is None or symbol.kind is not Kind.TENSOR:
        raise CardError(f"the layer has no tensor `{tensor}`")
    entry, _ = module.definition(module.output)
    taken = {i.name for i in ex.free_indices(entry)}
    known = [s.name for s in module.table.of_kind(Kind.INDEX) if s.name not in taken and s.name not in symbol.axes]
    elsewhere = {letter for s in module.table.of_kind(Kind.TENSOR) for letter in s.axes}  # c of the channels
    free = [letter for letter in known if letter not in elsewhere]
    spare = [*free, *unused(module.table, _LETTERS, len(symbol.axes)), *(k for k in known if k in elsewhere)]
    letters: list[str] = []
    for letter in symbol.axes:
        chosen = letter if letter not in taken else spare.pop(0) if spare else letter + "'"
        letters.append(chosen)
    return ex.Entry(tensor, tuple(map(ex.Idx, letters)))


def chained_jacobian(module: Module, wrt: str, of: str | None = None) -> Step:
    """∂y_k/∂x_i, simplified; its premise is the derivation by rules.

    ``of`` another tensor than the output: what was derived on the way to the output's is there already.
    """
    module = with_axes(module)
    entry, _ = module.definition(of or module.output)
    return derivative(entry, variable(replace(module, output=of) if of else module, wrt), module)


def chained_message(module: Module, wrt: str) -> Step:
    """δ_{x,i}: ``chain`` (Σ_k δ_{y,k} ∂y_k/∂x_i), ``inserted`` (the derivative put in), ``form`` (simplified)."""
    module = with_axes(module)
    target = ex.Entry(f"delta_{wrt}", variable(module, wrt).indices)
    summed = step("chain", target, module)
    inserted = step("inserted", target, module, summed, chained_jacobian(module, wrt))
    return step("form", target, module, inserted)


@concludes("chain")
def _chain(before: ex.Node, premises: tuple[Step, ...], module: Module) -> ex.Node:
    """∂L/∂x_{ij} = Σ_{k,l} ∂L/∂f_{kl} · ∂f_{kl}/∂x_{ij}."""
    assert isinstance(before, ex.Entry)
    entry, _ = module.definition(module.output)
    body = ex.Mul((upstream(module), ex.Partial(entry, ex.Entry(before.tensor.removeprefix("delta_"), before.indices))))
    return ex.Reduce("sum", ranged(entry, body, module), body) if entry.indices else body


@concludes("inserted")
def _inserted(before: ex.Node, premises: tuple[Step, ...], module: Module) -> ex.Node:
    """The derived ∂y_k/∂x_i in place of its name."""
    summed, derived = premises
    return ex.transform(summed.after, lambda node: instance(cast(ex.Partial, node), derived), ex.Partial)


def instance(node: ex.Partial, derived: Step) -> ex.Expr:
    """A derived ∂f_k/∂x_i at the indices of another."""
    pattern = cast(ex.Partial, derived.before)
    mapping: dict[ex.Node, ex.Node] = {}
    for mine, theirs in ((pattern.of, node.of), (pattern.wrt, node.wrt)):
        assert isinstance(mine, ex.Entry) and isinstance(theirs, ex.Entry)
        mapping |= dict(zip(mine.indices, theirs.indices, strict=True))
    return ex.subst(cast(ex.Expr, derived.after), mapping)


@lru_cache(maxsize=256)
def stages(module: Module, wrt: str) -> tuple[Step, ...]:
    """δ of each intermediate tensor between the output and ``wrt``, the last δ_{wrt}, each from those before it."""
    module = with_axes(module)
    variable(module, wrt)
    path = [t for t in module.defined if t != module.output and _through(t, wrt, module)]
    return tuple(_stage(t, wrt, module) for t in (*reversed(path), wrt))


def _through(tensor: str, wrt: str, module: Module) -> bool:
    """The tensor lies between ``wrt`` and the output."""
    own = reached(ex.Entry(tensor, ()), module)
    return tensor != wrt and wrt in own and tensor in reached(ex.Entry(module.output, ()), module)


def _stage(tensor: str, wrt: str, module: Module) -> Step:
    here = variable(module, tensor) if tensor == wrt else _own(tensor, module)
    used = reached(ex.Entry(module.output, ()), module)
    users = [t for t in module.defined if tensor in module.sources(t) and t in used]
    premises = [derivative(entry_of(t, module, (here,)), here, holding(ex.Entry(t, ()), module)) for t in users]
    target = ex.Entry(f"delta_{tensor}", here.indices)
    return step("form", target, module, step("stage", target, module, *premises))


def _own(tensor: str, module: Module) -> ex.Entry:
    entry, _ = module.definition(tensor)
    return entry


@concludes("stage")
def _staged(before: ex.Node, premises: tuple[Step, ...], module: Module) -> ex.Node:
    """δ_{s,m} = Σ_t Σ_k δ_{t,k} ∂t_k/∂s_m over the tensors t that are computed from s."""
    terms: list[ex.Expr] = []
    for premise in premises:
        of = cast(ex.Entry, cast(ex.Partial, premise.before).of)
        delta = ex.Entry(f"delta_{of.tensor}", of.indices)
        product = ex.mul(delta, cast(ex.Expr, premise.after))
        if product is not ex.ZERO:
            terms.append(ex.Reduce("sum", ranged(delta, product, module), product) if of.indices else product)
    return ex.add(*terms)


@lru_cache(maxsize=256)
def jacobian(module: Module, wrt: str, of: str | None = None) -> Step:
    """∂y_k/∂x_i for an input, parameter or constant, simplified; of one equation that selects an entry in cases."""
    found = chained_jacobian(module, wrt, of)
    selects = len(module.equations) == 1 and _is_selection(found.after, module)
    return step("cases", found.before, module, found) if selects else found


@concludes("cases")
def _as_cases(before: ex.Node, premises: tuple[Step, ...], module: Module) -> ex.Node:
    """[c] = { 1 if c, 0 otherwise }."""
    after = premises[0].after
    return ex.Cases(((ex.ONE, after.cond), (ex.ZERO, ex.OTHERWISE))) if isinstance(after, ex.Bracket) else after


@lru_cache(maxsize=256)
def message(module: Module, wrt: str) -> Step:
    """δ_{x,ij}: the vector–Jacobian product with the upstream gradient, simplified.

    A sum over the windows that selected (i, j) goes on: ``covering``, the maximiser written
    out, since it is another one for each window; ``geometry``, the windows in closed form.
    """
    found = chained_message(module, wrt)
    total = found.after
    if len(module.equations) > 1 or not isinstance(total, ex.Reduce) or not isinstance(total.binder.cond, ex.In):
        return found
    guards = [f for f in (total.body.factors if isinstance(total.body, ex.Mul) else ()) if isinstance(f, ex.Bracket)]
    if len(guards) != 1 or not _is_selection(guards[0], module):
        return found
    return step("geometry", found.before, module, step("covering", found.before, module, found))


def _is_selection(node: ex.Node, module: Module) -> bool:
    """[(i, j) = (i^*, j^*)], where the maximum is taken over a window."""
    if not isinstance(node, ex.Bracket) or not isinstance(node.cond, ex.Rel) or node.cond.ops != ("=",):
        return False
    right = node.cond.terms[1]
    stars = ex.items(right)
    known = star_definitions(module)
    args = [known[s.name][0] for s in stars if isinstance(s, ex.Star) and s.name in known]
    return len(args) == len(stars) and all(isinstance(a.binder.cond, ex.In) and isinstance(a.body, ex.Entry)
                                           for a in args)


@concludes("covering")
def _covering(before: ex.Node, premises: tuple[Step, ...], module: Module) -> ex.Node:
    """(i^*, j^*) replaced by the argmax that defines it."""
    definitions = star_definitions(module)

    def whole(node: ex.Node) -> ex.Node | None:
        items = ex.items(node)
        if not all(isinstance(item, ex.Star) for item in items):
            return None
        stars = cast("tuple[ex.Star, ...]", items)
        args = {definitions[s.name][0] for s in stars}
        places = [definitions[s.name][1] for s in stars]
        arg = args.pop()
        if args or places != list(range(len(arg.binder.variables))):
            return None
        return ex.subst(arg, dict(zip(module.parameters_of(arg), stars[0].at, strict=True)))

    return ex.transform(cast(ex.Expr, premises[0].after), whole)


@concludes("geometry")
def _geometry(before: ex.Node, premises: tuple[Step, ...], module: Module) -> ex.Node:
    """The sum over the covering windows, axis by axis: one window ⌊(i+p)/s⌋, or a range."""
    total = cast(ex.Expr, premises[0].after)
    value = in_closed_form(total, module) or total
    if isinstance(value, ex.Mul) and isinstance(value.factors[-1], ex.Bracket):
        return ex.Cases(((ex.mul(*value.factors[:-1]), value.factors[-1].cond), (ex.ZERO, ex.OTHERWISE)))
    return value


@dataclass(frozen=True)
class Messages:
    """∂y/∂x, δ_x and the δ of every tensor in between, for every letter of a module."""

    given: Module
    spare: bool = True  # further index letters for bound variables, rather than primes
    _kept: dict[tuple[str | None, ...], Step] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def module(self) -> Module:
        """The module with a size for every axis and a symbol for all that its statements name."""
        return with_letters(with_axes(self.given, self.spare))

    @property
    def letters(self) -> tuple[str, ...]:
        """Everything that is given to the layer: inputs, parameters, constants."""
        return self.given.given

    def jacobian(self, wrt: str, of: str | None = None) -> Step:
        """∂y_k/∂x_i, of the output or of any tensor that the equations define; ``wrt`` may be defined too."""
        return self._once(("jacobian", wrt, of), lambda: jacobian(self.module.anonymous, wrt, of))

    def message(self, wrt: str) -> Step:
        """δ_x for an upstream gradient δ_y."""
        return self._once(("message", wrt), lambda: message(self.module.anonymous, wrt))

    def stages(self, wrt: str) -> tuple[Step, ...]:
        """δ of each tensor between the output and ``wrt``, δ_{wrt} last, each from those before it."""
        return stages(self.module.anonymous, wrt)

    def _once(self, key: tuple[str | None, ...], derive: Callable[[], Step]) -> Step:
        if key not in self._kept:
            self._kept[key] = derive()
        return self._kept[key]

    @cached_property
    def star_definitions(self) -> dict[str, tuple[ex.Arg, int]]:
        """Star letter → the argmax it is a component of, and which component."""
        return star_definitions(self.module)


def with_letters(module: Module) -> Module:
    """The module with symbols for its functions and their arguments, for sizes, maximisers r^*(k), and the loss L."""
    table = module.table
    new = [Symbol(f.name, latex_of(f.name), Kind.FUNCTION, f.parameters) for f in module.functions
           if table.named(f.name) is None]
    arguments = dict.fromkeys(p for f in module.functions for p in f.parameters if len(f.parameters) == 1)
    new += [Symbol(p, latex_of(p), Kind.TENSOR) for p in arguments if table.named(p) is None]
    sizes = {size for s in table.of_kind(Kind.TENSOR) for size in s.sizes if isinstance(size, str)}
    new += [Symbol(size, latex_of(size), Kind.SIZE) for size in sorted(sizes) if table.named(size) is None]
    if table.named("loss") is None:
        new += [Symbol("loss", letter, Kind.TENSOR) for letter in unused(table, "LEJCQ")]
    new += [s.symbol for s in selected(replace(module, table=table.extended(new)))]
    stars = {s.name: tuple(i.name for i in s.at if isinstance(i, ex.Idx)) for e in extremisers(module) for s in e.stars}
    known = dict(table.stars)
    indices = dict.fromkeys(name.rstrip("'") for name in stars)
    new += [Symbol(name, latex_of(name), Kind.INDEX) for name in indices if table.named(name) is None]
    return replace(module, table=table.extended(new, [(n, at) for n, at in stars.items() if n not in known]))
