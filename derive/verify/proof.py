"""Z3 proofs of printed statements at an instance.

A statement is proved where its negation has no model for any assignment of its indices.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import z3

from derive.expr import Idx, Node
from derive.numeric.point import Definitions
from derive.verify.instance import Instance
from derive.verify.lowering import Lowering
from derive.verify.smt import every

_RLIMIT = 20_000_000  # of Z3, a few seconds: what is proved does not depend on the machine


class Prover:
    """Proves statements at one instance.

    With ``shared`` what was lowered serves later statements too, and so do its
    axioms, that maxima are unique among them.
    """

    def __init__(self, instance: Instance, shared: bool) -> None:
        self.instance, self.shared = instance, shared
        self._lowering: Lowering | None = None

    def prove(self, node: Node, definitions: Definitions, variables: tuple[Idx, ...],
              ranges: Mapping[Idx, range]) -> bool:
        """Whether the statement holds identically at this instance, for every value of its free indices.

        False where Z3 finds a model of the negation or gives up; raises
        :class:`UnsupportedError` where the statement is outside its theory.
        """
        if self._lowering is None or not self.shared:
            self._lowering = Lowering(self.instance, definitions)
        claims = []
        for at in itertools.product(*(ranges[v] for v in variables)):
            claim = self._lowering.lower(node, dict(zip(variables, at, strict=True)))
            if claim is False:
                return False
            if claim is not True:
                claims.append(claim)
        if not claims:
            return True
        solver = z3.SimpleSolver()
        solver.set("rlimit", _RLIMIT)
        solver.set("arith.nl", False)  # a product is any number at all: its own rules may run without end
        solver.add(*self._lowering.axioms)
        solver.add(z3.Not(every(claims)))
        return bool(solver.check() == z3.unsat)
