"""Layers that words name beside the formulas and that no formula computes: «$s = w^T x + b$ followed by a sigmoid»."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from derive.errors import CardError, Problem
from derive.expr import Bracket, Cases, Entry, Expr, Extremum, Fn, Node, Num, Pow, Reduce, walk
from derive.question.asking import discussed
from derive.question.naming import Mention
from derive.question.part_words import PARTS
from derive.question.patterns import one_of
from derive.question.prose import Prose

_ELSEWHERE = re.compile(  # «unlike the sigmoid», «a smooth version of the ReLU», «the ReLU is a special case»
    r"\b(?:unlike|instead of|rather than|compar\w+ (?:to|with|it with)|than|without|not?|similar to|special cases?"
    r"|generali[sz]\w+|approximat\w+|version of|as opposed to|preced\w+|before|contrast\w*|místo|než|bez)\b"
    r"[^.?!;¶∎]{0,30}$"
)
_MASK = re.compile(r"\bmasks?\b|\bbernoulli|\brandom|\bmask\w*")
_OTHERS = {
    "max pooling": one_of(r"\bmax(?:imum)?[- ]?pool\w*"),
    "average pooling": one_of(r"\b(?:average|mean|avg)[- ]?pool\w*"),
    "normalisation": one_of(r"\b(?:batch|layer|instance|group)[- ]?norm(?:ali[sz]ation)?\b"),
    "penalty": one_of(
        r"\b(?:l_?[12]|ℓ_?[12]|∎|ridge|lasso|quadratic)[- ]?(?:penalt(?:y|ies)|regulari[sz]\w+)", r"\bweight decay",
        r"\bpenalty (?:term|on)\b", r"\bregulari[sz]ation term\b",
    ),
    "dropout": one_of(r"\bdropout\b"),
    "huber": one_of(r"\bhuber\b"),
    "cases": one_of(r"\b(?:otherwise|else|elsewhere|jinak)\b"),
}  # fmt: skip


@dataclass(frozen=True)
class _Formulas:
    """What the formulas that lead to the output are made of."""

    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, values: Iterable[Expr]) -> _Formulas:
        return cls(tuple(node for value in values for node in walk(value)))

    def calls(self, *names: str) -> bool:
        return any(isinstance(n, Fn) and n.name in names for n in self.nodes)

    def reduces(self, *ops: str) -> bool:
        return any(isinstance(n, Reduce) and n.op in ops for n in self.nodes)

    @property
    def branches(self) -> bool:
        """max(u, v), min, |u|, cases or brackets."""
        return self.reduces("max", "min") or self.calls("abs", "sign") or any(
            isinstance(n, (Extremum, Cases, Bracket)) for n in self.nodes)

    def powers(self, *exponents: float) -> bool:
        return any(isinstance(n, Pow) and isinstance(n.exponent, Num) and abs(float(n.exponent.value)) in exponents
                   for n in self.nodes)

    @property
    def penalised(self) -> bool:
        """The square or the absolute value of a single entry: ‖w‖², Σ_j |w_j|."""
        bases = [n.base for n in self.nodes if isinstance(n, Pow)]
        bases += [n.args[0] for n in self.nodes if isinstance(n, Fn) and n.name == "abs"]
        return any(isinstance(base, Entry) for base in bases)

    @property
    def rooted(self) -> bool:
        return self.powers(0.5) or self.calls("sqrt")


# How a formula shows that it computes the part; without one here a part is taken as written.
_SHOWN: dict[str, Callable[[_Formulas], bool]] = {
    **dict.fromkeys(("relu", "prelu", "leaky", "elu", "hinge", "absolute", "huber", "cases"),
                    lambda f: f.branches or f.rooted),
    **dict.fromkeys(("sigmoid", "tanh"), lambda f: f.calls("exp", "tanh")),
    **dict.fromkeys(("softplus", "cross_entropy"), lambda f: f.calls("log")),
    "softmax": lambda f: f.calls("exp"),
    "squared": lambda f: f.powers(2),
    "max pooling": lambda f: f.reduces("max"),
    "average pooling": lambda f: f.reduces("sum"),
    "normalisation": lambda f: f.rooted,
    "penalty": lambda f: f.penalised,
}


_COMPUTED = one_of(
    r"\b(?:(?:dot|inner|scalar|outer|matrix|vector) product|(?:weighted )?sum|mean|average|variance|(?:squared )?norm"
    r"|difference|product|convolution|ratio|maximum|minimum|square|softmax|logarithm|exponential|concatenation)\b"
    r"(?: [\w-]+){0,2}? (?:of|between|over)\b",
    r"\b(?:normali[sz]ed|standardi[sz]ed) (?:input|value|version|activation)",
)  # fmt: skip
_HELD = re.compile(r"\b(?:fixed|constant|given|running|known|precomputed)\b")


def refuse_computed(said: Iterable[Mention], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for a given letter of which the words say how it is computed: «$s$ is the sum of …»."""
    given = {*given}
    for mention in said:
        found = _COMPUTED.search(mention.after)
        for name in mention.letters if found and not _HELD.search(mention.after) else ():
            if name in given:
                raise CardError(Problem(f"`{name}` is computed ({mention.said}), and no formula says how: write it, "
                                        f"e.g. `{name} = …`", line=mention.formula.line))


def refuse_unaccounted(prose: Prose, values: Iterable[Expr], said: Iterable[Mention], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for a part that the words name and that none of the formulas computes.

    A dropout is shown by its mask: one of the letters ``given``, and called so.
    """
    formulas, given = _Formulas.of(values), {*given}
    masked = any(given & {*m.letters} and _MASK.search(f"{m.before} {m.after}") for m in said)
    for name, words in (*((part.name, part.words) for part in PARTS), *_OTHERS.items()):
        shown = _SHOWN.get(name)
        if masked if name == "dropout" else shown is None or shown(formulas):
            continue
        for match in words.finditer(prose.text):
            start, _ = prose.sentence(match.start())
            if not discussed(prose.text, match.start()) and not _ELSEWHERE.search(prose.text[start : match.start()]):
                quoted = prose.plain.quote(*match.span())
                raise CardError(Problem(f"“{quoted}” is named, and no formula computes it: write the forward formulas "
                                        "of all that the output goes through", line=prose.plain.line(match.start())))
