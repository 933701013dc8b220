r"""What maxima select, as letters of matrix forms: \bar{W}_{kj} = W_{kr^*j}."""

from __future__ import annotations

from functools import lru_cache

import derive.expr as ex
from derive.calculus.extremum import Extremiser, extremisers
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, latex_of
from derive.records import dataclass


@dataclass(frozen=True)
class Selected:
    """A letter, and the entries that it is made of."""

    symbol: Symbol
    definition: ex.Rel


@lru_cache(maxsize=64)
def selected(module: Module) -> tuple[Selected, ...]:
    """The rows that each maximum over one index picks."""
    return tuple(s for e in extremisers(module) if len(e.stars) == 1 and e.arg.binder.cond is None
                 for s in _picked(e, module))


def _picked(e: Extremiser, module: Module) -> tuple[Selected, ...]:
    r"""\bar{W}_{kj} = W_{kr^*j} of each tensor whose entries are compared along the index."""
    (star,), (variable,), found = e.stars, e.arg.binder.variables, dict[str, Selected]()
    for entry in (n for n in ex.walk(e.arg.body) if isinstance(n, ex.Entry) and n.indices.count(variable) == 1):
        symbol, name = module.table.named(entry.tensor), f"picked_{entry.tensor}"
        if symbol is None or symbol.above or len(symbol.sizes) != len(entry.indices):
            continue
        whole = tuple(star if i is variable else i if i in star.at else ex.Idx(a)
                      for i, a in zip(entry.indices, symbol.axes, strict=True))
        letters = tuple(i for i in whole if isinstance(i, ex.Idx))
        latex = latex_of(f"{entry.tensor}_bar")
        free = (known := module.table.written(latex)) is None or known.name == name
        if free and {*star.at} <= {*letters} and 0 < len({*letters}) == len(letters) < 3:
            sizes = tuple(size for i, size in zip(whole, symbol.sizes, strict=True) if i is not star)
            made = Symbol(name, latex, Kind.TENSOR, tuple(i.name for i in letters), (), sizes)
            found[name] = Selected(made, ex.eq(ex.Entry(name, letters), ex.Entry(entry.tensor, whole)))
    return tuple(found.values())
