"""Activations: functions of each entry by itself, and the softmaxes of a vector."""

from __future__ import annotations

import re

from derive.functions import FUNCTIONS
from derive.layers.catalogue import Forward, Layer, Letter, Options

_POSITIVE = r"\alpha > 0"


def _of(name: str) -> str:
    r"""y = f(x), as the functions have it: y_\I = \max(0, x_\I)."""
    return _each(FUNCTIONS[name].defined("u", sloped=True))


def _each(body: str) -> str:
    """y = the body, of each entry u of x."""
    return r"y_{\I} = " + re.sub(r"(?<![A-Za-z\\])u(?![A-Za-z])", lambda _: r"x_{\I}", body)


def _slope(role: str, choices: tuple[str, ...] = (r"\alpha", "a", "c")) -> Letter:
    return Letter("slope", choices, role)


def _prelu(rank: int, options: Options) -> Forward:
    r"""One slope for all, for each entry, or for each of the ``channels``, which the first axis numbers."""
    own = r"\alpha_{\F}" if options["channels"] else r"\alpha" if options["shared"] else r"\alpha_{\I}"
    return Forward((_of("prelu").replace(r"\alpha", own),))


def _softmax(rank: int, options: Options) -> Forward:
    r"""y_k = e^{x_k} / \sum_j e^{x_j}; with a ``temperature`` of x/\tau."""
    own, other = (rf"e^{{\frac{{x_{{{axes}}}}}{{\tau}}}}" if options["temperature"] else rf"e^{{x_{{{axes}}}}}"
                  for axes in (r"\I", r"\L"))
    return Forward((rf"y_{{\I}} = \frac{{{own}}}{{\sum_{{\M}} {other}}}",))


def _gelu(rank: int, options: Options) -> Forward:
    exact = r"\frac{u}{2} \left(1 + \operatorname{erf}\left(\frac{u}{\sqrt{2}}\right)\right)"
    smooth = r"\frac{u}{2} \left(1 + \tanh\left(\sqrt{\frac{2}{\pi}} \left(u + 0.044715 u^{3}\right)\right)\right)"
    return Forward((_each(smooth if options["approximate"] else exact),))


def _activation(name: str, words: str, forward: object, *aliases: str, **more: object) -> Layer:
    return Layer(name, words, forward, aliases=aliases, kind="activation", **more)  # type: ignore[arg-type]


LAYERS = (
    _activation("relu", "ReLU", _of("relu"), "rectifier", "rectified_linear_unit", source="Nair and Hinton 2010"),
    _activation("leaky_relu", "leaky ReLU", _of("leakyrelu"), "leakyrelu", "lrelu", first="slope",
                letters={r"\alpha": _slope("constants")}, source="Maas, Hannun and Ng 2013"),
    _activation("prelu", "PReLU", _prelu, "parametric_relu", first="slope", options={"shared": True, "channels": False},
                letters={r"\alpha": _slope("parameters", ("a", r"\alpha", "c"))},
                source="He, Zhang, Ren and Sun 2015"),
    _activation("elu", "ELU", _of("elu"), "exponential_linear_unit", first="slope",
                letters={r"\alpha": _slope("constants")}, facts=(_POSITIVE,),
                source="Clevert, Unterthiner and Hochreiter 2016"),
    _activation("selu", "SELU", _each(r"\lambda \begin{cases} u & \text{if } u > 0 \\ \alpha (e^{u} - 1) & "
                                      r"\text{otherwise} \end{cases}"), "scaled_elu",
                letters={r"\lambda": Letter("scale", (r"\lambda", r"\gamma"), "constants"),
                         r"\alpha": _slope("constants")},
                facts=(r"\lambda > 1", _POSITIVE),
                source="Klambauer, Unterthiner, Mayr and Hochreiter 2017: λ ≈ 1.0507, α ≈ 1.6733"),
    _activation("celu", "CELU", _each(r"\max(0, u) + \min(0, \alpha (e^{\frac{u}{\alpha}} - 1))"), first="slope",
                letters={r"\alpha": _slope("constants")}, facts=(_POSITIVE,), source="Barron 2017"),
    _activation("sigmoid", "sigmoid", _of("sigmoid"), "logistic", "logistic_sigmoid"),
    _activation("tanh", "tanh", _each(r"\tanh(u)"), "hyperbolic_tangent"),
    _activation("softplus", "softplus", _of("softplus"), "soft_plus", source="Dugas et al. 2001"),
    _activation("softsign", "softsign", _of("softsign"), "soft_sign", source="Bergstra et al. 2009"),
    _activation("identity", "identity", _each("u"), "linear_activation"),
    _activation("modulus", "absolute value", "y_{\\I} = |x_{\\I}|", "absolute_value", "abs"),
    _activation("gelu", "GELU", _gelu, "gaussian_error_linear_unit", options={"approximate": False},
                source="Hendrycks and Gimpel 2016"),
    _activation("silu", "swish", _of("swish"), "swish", "sigmoid_linear_unit",
                source="Elfwing, Uchibe and Doya 2018; Ramachandran, Zoph and Le 2017"),
    _activation("mish", "Mish", _of("mish"), source="Misra 2019"),
    _activation("hard_tanh", "hard tanh", _of("hardtanh"), "hardtanh"),
    _activation("hard_sigmoid", "hard sigmoid", _each(r"\frac{\min(\max(u + 3, 0), 6)}{6}"), "hardsigmoid",
                source="Howard et al. 2019, as PyTorch has it"),
    _activation("hard_swish", "hard swish", _each(r"u \frac{\min(\max(u + 3, 0), 6)}{6}"), "hardswish",
                source="Howard et al. 2019"),
    _activation("relu6", "ReLU6", _each(r"\min(\max(u, 0), 6)"), source="Krizhevsky 2010"),
    _activation("sine", "sine", _each(r"\sin(\omega u)"), "siren", "sin", first="frequency",
                letters={r"\omega": Letter("frequency", (r"\omega", "a"), "constants")}, source="Sitzmann et al. 2020"),
    Layer("softmax", "softmax", _softmax, {r"\tau": Letter("temperature", (r"\tau", "T", r"\theta"), "constants")},
          aliases=("normalised_exponential",), facts=(r"\tau > 0",), options={"temperature": False}),
    Layer("log_softmax", "log-softmax", r"y_{\I} = x_{\I} - \log \sum_{\M} e^{x_{\L}}", aliases=("logsoftmax",)),
)
