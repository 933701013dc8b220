"""What formulas show that they compute: bends, sums, quotients, and with them the parts that words name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from derive.expr import Add, Bracket, Cases, Entry, Expr, Extremum, Fn, Mul, Node, Num, Pow, Reduce, walk
from derive.records import dataclass


@dataclass(frozen=True)
class Formulas:
    """What the formulas that lead to the output are made of."""

    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, values: Iterable[Expr]) -> Formulas:
        return cls(tuple(node for value in values for node in walk(value)))

    def calls(self, *names: str) -> bool:
        return any(isinstance(n, Fn) and n.name in names for n in self.nodes)

    def reduces(self, *ops: str) -> bool:
        return any(isinstance(n, Reduce) and n.op in ops for n in self.nodes)

    def numbers(self, *values: float) -> bool:
        """One of these numbers stands in a formula."""
        return any(isinstance(n, Num) and float(n.value) in values for n in self.nodes)

    def uses(self, tensor: str) -> int:
        """How many entries of a tensor stand in the formulas."""
        return sum(isinstance(n, Entry) and n.tensor == tensor for n in self.nodes)

    @property
    def bends(self) -> bool:
        """max(u, v), min(u, v), |u|, cases or brackets."""
        return self.calls("abs", "sign") or any(isinstance(n, (Extremum, Cases, Bracket)) for n in self.nodes)

    @property
    def branches(self) -> bool:
        """What bends, or a maximum over many."""
        return self.reduces("max", "min") or self.bends

    def powers(self, *exponents: float) -> bool:
        return any(isinstance(n, Pow) and isinstance(n.exponent, Num) and abs(float(n.exponent.value)) in exponents
                   for n in self.nodes)

    @property
    def weighs(self) -> bool:
        """A product of two letters: w_j x_j."""
        products = ([{e.tensor for e in walk(f) if isinstance(e, Entry)} for f in n.factors] for n in self.nodes
                    if isinstance(n, Mul))
        return any(len(set().union(*letters)) > 1 and sum(map(bool, letters)) > 1 for letters in products)

    @property
    def penalised(self) -> bool:
        """The square or the absolute value of a single entry: ‖w‖², w^⊤ w, Σ_j |w_j|."""
        if any(isinstance(n, Mul) and len(own := [f for f in n.factors if isinstance(f, Entry)]) > len({*own})
               for n in self.nodes):
            return True
        bases = [n.base for n in self.nodes if isinstance(n, Pow)]
        bases += [n.args[0] for n in self.nodes if isinstance(n, Fn) and n.name == "abs"]
        return any(isinstance(base, Entry) for base in bases)

    def adds(self, exponentials: int, numbers: int = 0) -> int:
        """How many sums add at least so many exponentials, and numbers."""
        sums = [n.terms for n in self.nodes if isinstance(n, Add)]
        return sum(sum(any(isinstance(e, Fn) and e.name == "exp" for e in walk(t)) for t in terms) >= exponentials
                   and sum(isinstance(t, Num) for t in terms) >= numbers for terms in sums)

    @property
    def logistic(self) -> bool:
        """1/(1 + e^{-u}), e^u/(1 + e^u), ½(1 + tanh(u/2))."""
        halved = (n for n in self.nodes if isinstance(n, Fn) and n.name == "tanh")
        return self.adds(1, 1) > 0 or any(Formulas.of(n.args).numbers(0.5) for n in halved)

    @property
    def hyperbolic(self) -> bool:
        """tanh u, (e^u − e^{-u})/(e^u + e^{-u}), (e^{2u} − 1)/(e^{2u} + 1), 2/(1 + e^{-2u}) − 1."""
        return self.calls("tanh") or self.adds(2) > 1 or (self.adds(1, 1) > 0 and self.numbers(2, -2))

    @property
    def normalises(self) -> bool:
        """e^{u_k} beside a sum of them."""
        return self.adds(2) > 0 or any(isinstance(n, Reduce) and n.op == "sum" and Formulas.of([n.body]).calls("exp")
                                       for n in self.nodes)

    @property
    def rooted(self) -> bool:
        return self.powers(0.5) or self.calls("sqrt")


# How a formula shows that it computes the part; without one here a part is taken as written.
SHOWN: dict[str, Callable[[Formulas], bool]] = {
    **dict.fromkeys(("relu", "prelu", "leaky_relu", "elu", "hinge", "squared_hinge", "absolute_error", "huber",
                     "cases"), lambda f: f.bends or f.rooted),
    "sigmoid": lambda f: f.logistic,
    "tanh": lambda f: f.hyperbolic,
    **dict.fromkeys(("softplus", "cross_entropy", "binary_cross_entropy", "categorical_cross_entropy"),
                    lambda f: f.calls("log")),
    "softmax": lambda f: f.normalises,
    **dict.fromkeys(("squared_error", "mean_squared_error"), lambda f: f.powers(2)),
    **dict.fromkeys(("max_pool", "maxout"), lambda f: f.reduces("max") or f.branches),
    **dict.fromkeys(("avg_pool", "global_avg_pool"), lambda f: f.reduces("sum")),
    **dict.fromkeys(("batch_norm", "layer_norm", "instance_norm", "group_norm", "rms_norm"), lambda f: f.rooted),
    **dict.fromkeys(("focal", "log_cosh", "squared_logarithmic", "negative_log_likelihood"), lambda f: f.calls("log")),
    **dict.fromkeys(("glu", "attention", "rnn", "lstm", "gru"), lambda f: f.calls("exp", "tanh")),
    **dict.fromkeys(("pinball", "relu6"), lambda f: f.bends),
    "sine": lambda f: f.calls("sin"),
    **dict.fromkeys(("gelu", "selu", "celu", "silu", "mish", "softsign", "hard_tanh", "hard_sigmoid", "hard_swish",
                     "modulus", "log_softmax", "logistic_loss"),
                    lambda f: f.bends or f.calls("exp", "tanh", "log", "erf")),
    "linear": lambda f: f.weighs,
    "penalty": lambda f: f.penalised,
    "activation": lambda f: f.branches or f.powers(2, 1, 0.5) or any(isinstance(n, Fn) for n in f.nodes),
}


def shown(name: str, values: Iterable[Expr]) -> bool:
    """Whether these formulas show that they compute the part of this name."""
    return name in SHOWN and SHOWN[name](Formulas.of(values))
