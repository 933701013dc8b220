"""All messages of a module, each derived when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from derive.axes import unused, with_axes
from derive.calculus import messages
from derive.calculus.derivation import Step
from derive.calculus.extremum import extremisers, star_definitions
from derive.calculus.stages import stages
from derive.expr import Arg, Idx
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, latex_of


@dataclass(frozen=True)
class Messages:
    """∂y/∂x, δ_x and the δ of every tensor in between, for every letter of a module."""

    given: Module
    spare: bool = True  # further index letters for bound variables, rather than primes
    _kept: dict[tuple[str, str | None, str], Step] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def module(self) -> Module:
        """The module with a size for every axis and a symbol for all that its statements name."""
        return with_letters(with_axes(self.given, self.spare))

    @property
    def letters(self) -> tuple[str, ...]:
        """Everything that is given to the layer: inputs, parameters, constants."""
        return (*self.given.inputs, *self.given.parameters, *self.given.constants)

    def jacobian(self, wrt: str, of: str | None = None) -> Step:
        """∂y_k/∂x_i, of the output or of any tensor that the equations define; ``wrt`` may be defined too."""
        return self._once("jacobian", of, wrt, messages.jacobian)

    def message(self, wrt: str) -> Step:
        """δ_x for an upstream gradient δ_y."""
        return self._once("message", None, wrt, messages.message)

    def stages(self, wrt: str) -> tuple[Step, ...]:
        """δ of each tensor between the output and ``wrt``, δ_{wrt} last, each from those before it."""
        return stages(self.module, wrt)

    def _once(self, what: str, of: str | None, wrt: str, derive: Callable[[Module, str], Step]) -> Step:
        key = (what, of, wrt)
        if key not in self._kept:
            self._kept[key] = derive(self.module if of is None else replace(self.module, output=of), wrt)
        return self._kept[key]

    @cached_property
    def star_definitions(self) -> dict[str, tuple[Arg, int]]:
        """Star letter → the argmax it is a component of, and which component."""
        return star_definitions(self.module)


def with_letters(module: Module) -> Module:
    """The module with symbols for its functions and their arguments, for sizes, maximisers r^*(k), and the loss L."""
    table = module.table
    new = [Symbol(f.name, latex_of(f.name), Kind.FUNCTION, f.parameters) for f in module.functions
           if table.named(f.name) is None]
    arguments = dict.fromkeys(p for f in module.functions for p in f.parameters)
    new += [Symbol(p, latex_of(p), Kind.TENSOR) for p in arguments if table.named(p) is None]
    sizes = {size for s in table.of_kind(Kind.TENSOR) for size in s.sizes if isinstance(size, str)}
    new += [Symbol(size, latex_of(size), Kind.SIZE) for size in sorted(sizes) if table.named(size) is None]
    if table.named("loss") is None:
        new += [Symbol("loss", letter, Kind.TENSOR) for letter in unused(table, "LEJCQ")]
    stars = {s.name: tuple(i.name for i in s.at if isinstance(i, Idx)) for e in extremisers(module) for s in e.stars}
    known = dict(table.stars)
    return replace(module, table=table.extended(new, [(n, at) for n, at in stars.items() if n not in known]))
