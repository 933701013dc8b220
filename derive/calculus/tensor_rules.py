"""Derivatives of tensor entries: constants, the entry itself, definitions, and composition through them."""

from __future__ import annotations

from typing import ClassVar

from derive.calculus.dependence import between, entry_of, is_defined, reached
from derive.calculus.ranges import ranged
from derive.calculus.rule import Derivatives
from derive.errors import UnsupportedError
from derive.expr import (
    ONE,
    ZERO,
    Bracket,
    Cardinality,
    Entry,
    Expr,
    Idx,
    Infinity,
    Num,
    Reduce,
    SetApp,
    Size,
    add,
    eq,
    mul,
    subst,
    tuple_of,
)
from derive.module import Module


class ConstantRule:
    """∂c/∂x = 0 for a number, a size, an index, |Ω|, and what x does not stand in."""

    name: ClassVar[str] = "constant"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        if isinstance(of, (Num, Infinity, Size, Idx, Cardinality, SetApp)):
            return True
        return not isinstance(of, Entry) and wrt.tensor not in reached(of, module)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        return ZERO


class EntryRule:
    """∂x_{ab}/∂x_{ij} = [(i, j) = (a, b)], and 0 for another tensor."""

    name: ClassVar[str] = "entry"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and (of.tensor == wrt.tensor or not is_defined(of, module))

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Entry)
        if of.tensor != wrt.tensor:
            return ZERO
        if len(of.indices) != len(wrt.indices):
            raise UnsupportedError(f"`{of.tensor}` has {len(wrt.indices)} axes and stands with {len(of.indices)}"
                                   " indices: write it with all its indices everywhere")
        return Bracket(eq(tuple_of(wrt.indices), tuple_of(of.indices))) if of.indices else ONE


class CompositionRule:
    """∂y/∂x = ∂y/∂x|_s + Σ_s Σ_m (∂y/∂s_m)(∂s_m/∂x), over the intermediate tensors s that y is computed from."""

    name: ClassVar[str] = "composition"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and is_defined(of, module) and bool(between(of.tensor, wrt, module))

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Entry)
        terms = [partial.entry(of, wrt, True)] if wrt.tensor in module.sources(of.tensor) else []
        for tensor in between(of.tensor, wrt, module):
            inner = entry_of(tensor, module, (of, wrt))
            through = partial.entry(of, inner, True)
            if through is not ZERO:
                product = mul(through, partial.entry(inner, wrt, False))
                terms.append(Reduce("sum", ranged(inner, product, module), product) if inner.indices else product)
        return add(*terms)


class DefinitionRule:
    """∂f_{kl}/∂x = ∂F(k, l)/∂x where f_{kl} = F(k, l) is a forward equation."""

    name: ClassVar[str] = "definition"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and is_defined(of, module)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Entry)
        entry, value = module.definition(of.tensor)
        return partial(subst(value, dict(zip(entry.indices, of.indices, strict=True))))
