"""The words that name a layer, and those that join several."""

from __future__ import annotations

import re

from derive.question.prose import Prose, one_of
from derive.records import dataclass

_PLAIN = r"(?<!hard )(?<!hard-)"


@dataclass(frozen=True)
class Part:
    """A layer, and the words that name it."""

    name: str
    words: re.Pattern[str]
    loss: bool = False


PARTS = (
    Part("linear", one_of(
        r"(?<!exponential )(?<!rectified )(?<!gated )(?<!error )(?<!non-)(?<!non)"
        r"\b(?:fully[- ]connected|dense|linear|affine) "
        r"(?:layer|unit|neuron|transformation|combination|part|module)s?",
        r"\blineární\w* (?:vrstv\w*|jednotk\w*|neuron\w*)", r"\bplně propojen\w* vrstv\w*",
    )),
    Part("prelu", one_of(r"\bprelu\b", r"\bparametric (?:relu|rectified linear unit|rectifier)")),
    Part("leaky", one_of(r"\bleaky[- ](?:relu|rectified linear unit|rectifier)")),
    Part("elu", one_of(r"\belu\b", r"\bexponential linear unit")),
    Part("relu", re.compile(
        r"(?<!leaky )(?<!leaky-)(?<!parametric )"
        r"(?:\brelu\b|\brectified linear (?:unit|activation)|\brectifier\b)"
    )),
    Part("sigmoid", one_of(
        rf"{_PLAIN}\b(?:logistic[- ])?sigmoid\w*", r"\blogistic (?:activation|function|unit)",
        r"\blogistick\w+ sigmoid\w*",
    )),
    Part("tanh", one_of(rf"{_PLAIN}\btanh\b", r"\bhyperbolic tangent", r"\bhyperbolick\w+ tangen\w*")),
    Part("modulus", one_of(r"\babsolute value\b(?! (?:loss|error))", r"\babsolutní hodnot\w*")),
    Part("softplus", one_of(r"\bsoft-?plus\b")),
    Part("softmax", one_of(r"\bsoft-?max(?:u|em|ov\w+)?\b")),
    Part("squared", one_of(
        r"\b(?:mean[- ])?squared?[- ](?:error|loss|difference)", r"\bquadratic (?:loss|error)",
        r"\b(?:kvadratick|čtvercov)\w+ ztrátov\w+ funkc\w*",
        r"\bkvadratick\w+ (?:chyb\w*|ztrát\w*)", r"\bčtvercov\w+ (?:chyb\w*|ztrát\w*)",
    ), True),
    Part("cross_entropy", one_of(r"\b(?:binary |categorical )?cross[- ]entropy", r"\bkřížov\w+ entropi\w*"), True),
    Part("hinge", one_of(r"\bhinge\b"), True),
    Part("absolute", one_of(r"\babsolute (?:error|loss)"), True),
)  # fmt: skip
JOINED = one_of(
    r"\bfollow\w*", r"\bconsist\w*", r"\bthen\b", r"\bcompos\w+", r"\bnetwork\b", r"\bwith\b", r"\band\b", "→",
    r"\+", r"\bskládá", r"\bnásled(?:ova|uj)\w*", r"\bsí[tť]\w*", r"\bslož\w*", r"\b(?:pak|potom|poté)\b",
)  # fmt: skip
UNITS = one_of(
    r"∎ (?:output )?(?:units|neurons|outputs|jednot\w*|neuron\w*|výstup\w*)",
    r"\b(?:k|m|n|\d+) (?:output )?(?:units|neurons|outputs)", r"\b(?:output|target) vectors?\b", r"\bone-hot\b",
    r"\b(?:weight|parameter) matri(?:x|ces)\b", r"\bbias vectors?\b", r"\bmati[cč]\w+ vah\b",
)
ONE_UNIT = one_of(r"\b(?:one|a single|single|1) (?:output )?(?:unit|neuron|output)\b", r"\bscalar output\b",
                  r"\bjedn\w+ (?:výstupn\w+ )?(?:jednotk\w*|neuron\w*|výstup\w*)")  # fmt: skip
SEVERAL = one_of(
    r"\b(?:two|three|four|several|dv[ěa]|tři|[2-9])\b[^.?!;¶]{0,30}\blayers?\b",
    r"\bsecond (?:linear |hidden )?layer",
)
UNWRITTEN = one_of(  # parts that have no formula here
    r"\bconvolution\w*", r"\bpool\w*", r"\bbatch[- ]?norm\w*", r"\blayer[- ]norm\w*", r"\bnormali[sz]ation",
    r"\bdropout", r"\battention\b", r"\blstm\b", r"\bgru\b", r"\brecurrent", r"\bembedding", r"\bresidual",
    r"\bskip connection", r"\bmaxout", r"\bkonvol\w*",
)  # fmt: skip
REFERENCE = re.compile(r"\b(?:the|this|that|its|outputs? of|výstup\w*|tato|této)\s*$")  # «the output of the PReLU»
LETTERS = {
    "input": one_of(r"\binputs?\b", r"\bvstup\w*"),
    "weight": one_of(r"\bweights?\b", r"\bvah\w*", r"\bváh\w*"),
    "bias": one_of(r"\bbias(?:es|em)?\b", r"\bpráh\w*"),
    "target": one_of(
        r"\btargets?\b", r"\blabels?\b", r"\bground[- ]truth\b", r"\bdesired\b", r"\bcílov\w*", r"\bpožadovan\w*"
    ),
    "loss": one_of(r"\bloss\b", r"\berror\b", r"\bztrát\w*", r"\bchyb\w*"),
    "preactivation": one_of(r"\bpre-?activations?\b"),
}


@dataclass(frozen=True)
class Named:
    """A part that the words name, and where."""

    part: Part
    start: int
    end: int


SLOPED = ("prelu", "leaky", "elu")
ACTIVATIONS = (*SLOPED, "relu", "sigmoid", "tanh", "modulus", "softplus", "softmax")


def named_parts(prose: Prose) -> list[Named]:
    """The parts in the order in which they are first named."""
    found = [Named(part, *m.span()) for part in PARTS if (m := part.words.search(prose.text)) is not None]
    return sorted(found, key=lambda n: n.start)
