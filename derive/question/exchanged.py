"""Requests that change the layer: «replace the tanh by a ReLU and derive …», «derive … for a ReLU instead»."""

from __future__ import annotations

from derive.errors import CardError, Problem
from derive.expr import Expr
from derive.module import Module
from derive.question.parts.shown import SHOWN, Formulas
from derive.question.sentences.tokens import Sentence
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose

_EXCHANGES = frozenset("""replace replaces replaced replacing substitute substituted exchange exchanged swap swapped
    instead""".split())
_COMPARES = frozenset("compare compared comparing comparison like unlike as contrast than".split())
_ACTIVATIONS = frozenset("relu leaky_relu elu sigmoid tanh softplus softmax gelu selu silu".split())


def refuse_exchanged(tokens: Sentence, prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for a request that exchanges a part, or names an activation that no formula computes."""
    parts = [span.concept.partition(".")[2] for span in named(" ".join(t.text for t in tokens), "part")]
    values = [*(e.terms[1] for e in module.equations), *(f.body for f in module.functions)]
    formulas = Formulas.of(value for value in values if isinstance(value, Expr))
    others = [name for name in parts if name in _ACTIVATIONS and not SHOWN[name](formulas)]
    texts = {t.text for t in tokens}
    if parts and texts & _EXCHANGES or others and not texts & _COMPARES:
        quoted = prose.plain.quote(tokens[0].start, tokens[-1].stop)
        raise CardError(Problem(f"“{quoted}”: the formulas compute another layer; write those of the one that is meant",
                                key="forward", line=prose.plain.line(tokens[0].start)))
