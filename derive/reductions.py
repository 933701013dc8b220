r"""What is known of the reductions over a binder: one record each, and everything else loops over them.

A record with a ``definition`` is short for a formula of sums, which the calculus differentiates; what checks it
takes its value from ``loop``, the arrays from ``numpy``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from derive.expr import MINUS_ONE, ONE, Binder, Entry, Expr, Fn, Node, Pow, Reduce, mul, subst, transform
from derive.records import dataclass

G = Entry("g", ())  # the body, in definitions


@dataclass(frozen=True)
class Reduction:
    r"""R_{t∈T} g(t).

    ``selects``: the value is one of the terms, so that it has a place; ``pairwise``: R(a, b, …) of listed terms, too.
    ``join`` names NumPy's function of two terms, ``empty`` is the value over nothing; a reduction without ``join``
    needs all terms at once.  ``source`` and ``numpy`` are text with ``{}`` for the terms, of an
    array along its first axis.
    """

    name: str
    spellings: tuple[str, ...]  # \sum and \operatorname{sum}
    latex: str
    words: str
    source: str = ""
    numpy: str = ""
    join: str = ""
    empty: float | None = None
    selects: bool = False
    pairwise: bool = False
    loop: Callable[[list[Any], Any], Any] | None = None  # of the terms and their arithmetic
    definition: Expr | None = None  # in G, with Fn("sum", (…,)) for sums over the binder

    def written_out(self, node: Reduce, counting: Binder) -> Expr:
        """The definition of this node; ``counting`` is its binder with the ranges that its body gives."""
        assert self.definition is not None

        def over(part: Node) -> Expr | None:
            if not (isinstance(part, Fn) and part.name == "sum"):
                return None
            body = subst(part.args[0], {G: node.body})
            return Reduce("sum", node.binder if part.args[0] is not ONE else counting, body)

        return transform(self.definition, over)


def total(body: Expr) -> Expr:
    """Σ of a body over the reduction's binder, in definitions."""
    return Fn("sum", (body,))


MEAN = mul(Pow(total(ONE), MINUS_ONE), total(G))
_ALL = (
    Reduction("sum", ("sum",), r"\sum", "sum", "sum({})", "np.sum({})", "add", 0.0),
    Reduction("prod", ("prod",), r"\prod", "product", "prod({})", "np.prod({})", "multiply", 1.0),
    Reduction("max", ("max",), r"\max", "maximum", "max({}, default=-inf)", "np.max({})", "maximum", -math.inf,
              selects=True, pairwise=True),
    Reduction("min", ("min",), r"\min", "minimum", "min({}, default=inf)", "np.min({})", "minimum", math.inf,
              selects=True, pairwise=True),
    Reduction("median", ("median",), r"\mathop{\mathrm{median}}", "median", "median({})", "np.median({})",
              selects=True),
    Reduction("mean", ("mean",), r"\mathop{\mathrm{mean}}", "mean", numpy="np.mean({}, axis=0)",
              loop=lambda terms, kind: kind.quotient(sum(terms), len(terms)), definition=MEAN),
)  # fmt: skip
REDUCTIONS: dict[str, Reduction] = {record.name: record for record in _ALL}
SPELLINGS: dict[str, str] = {}


def written_out(node: Reduce, counting: Binder) -> Expr | None:
    """The sums that a reduction is short for; None for one that stands for itself."""
    record = REDUCTIONS[node.op]
    return None if record.definition is None else record.written_out(node, counting)


def selects(op: str) -> bool:
    """The value is one of the terms."""
    return op in REDUCTIONS and REDUCTIONS[op].selects


def is_middle(op: str) -> bool:
    """It is the middle one of an odd number of terms."""
    return op in REDUCTIONS and REDUCTIONS[op].selects and not REDUCTIONS[op].join


def is_pairwise(op: str) -> bool:
    """It is taken of a list of terms, too."""
    return op in REDUCTIONS and REDUCTIONS[op].pairwise


def is_short(op: str) -> bool:
    """It is short for a formula of sums."""
    return op in REDUCTIONS and REDUCTIONS[op].definition is not None


def register(record: Reduction) -> None:
    """Add a record, or put it in the place of one with its name."""
    REDUCTIONS[record.name] = record
    _spell()


def forget(name: str) -> None:
    """Remove a record."""
    del REDUCTIONS[name]
    _spell()


def _spell() -> None:
    SPELLINGS.clear()
    for record in REDUCTIONS.values():
        SPELLINGS.update(dict.fromkeys(record.spellings, record.name))
        SPELLINGS.update({f"arg{s}": f"arg{record.name}" for s in record.spellings if record.pairwise})


_spell()
