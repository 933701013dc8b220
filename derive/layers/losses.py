"""Losses: a number from outputs x and targets t, summed over the outputs; no factor that is not asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from derive.layers.catalogue import Forward, Layer, Letter, Options

_BINARY, _SIGN, _ONE_HOT = r"t_{\I} \in \{0, 1\}", r"t_{\I} \in \{-1, 1\}", r"\sum_{\M} t_{\L} = 1"
_PROBABILITY = r"0 < x_{\I} < 1"
TARGET = {"t": Letter("target", ("y", "t", "d"), "constants"),
           "L": Letter("loss", (r"\ell", "L", "E"))}


def _total(body: str) -> Callable[[int, Options], Forward]:
    r"""The sum of the body over the outputs, halved where the options say so."""

    def forward(rank: int, options: Options) -> Forward:
        factor = r"\frac{1}{2} " if options.get("half") else ""
        return Forward((rf"L = {factor}\sum_{{\I}} {body}",))

    return forward


def _categorical(rank: int, options: Options) -> Forward:
    r"""L = -\sum_k t_k \log x_k; with ``smoothing`` of (1 - \epsilon) t_k + \epsilon/K."""
    target = r"\left((1 - \epsilon) t_{\I} + \frac{\epsilon}{\classes}\right)" if options["smoothing"] else r"t_{\I}"
    shapes = (r"t \in \mathbb{R}^{\classes}",) if options["smoothing"] else ()
    return Forward((rf"L = -\sum_{{\I}} {target} \log(x_{{\I}})",), shapes)


def _loss(name: str, words: str, body: str, *aliases: str, **more: Any) -> Layer:
    letters = {**TARGET, **more.pop("letters", {})}
    return Layer(name, words, _total(body), letters, aliases, "loss", **more)


_ERROR = r"(x_{\I} - t_{\I})"
_DISTANCE = r"|x_{\I} - t_{\I}|"
LAYERS = (
    _loss("squared_error", "squared error", _ERROR + "^2", "squared_loss", "sse", "quadratic_loss",
          options={"half": False}),
    _loss("absolute_error", "absolute error", _DISTANCE, "absolute_loss", "l1_loss"),
    _loss("huber", "Huber loss", r"\begin{cases} \frac{1}{2} " + _ERROR + r"^2 & \text{if } " + _DISTANCE
          + r" \le \delta \\ \delta (" + _DISTANCE + r" - \frac{1}{2} \delta) & \text{otherwise} \end{cases}",
          "huber_loss", first="threshold", letters={r"\delta": Letter("threshold", (r"\kappa", r"\tau"), "constants")},
          facts=(r"\delta > 0",), source="Huber 1964"),
    _loss("log_cosh", "log-cosh loss", r"\log(\cosh(x_{\I} - t_{\I}))", "log_cosh_loss", "logcosh"),
    _loss("pinball", "pinball loss", r"\max(\tau (t_{\I} - x_{\I}), (\tau - 1) (t_{\I} - x_{\I}))", "pinball_loss",
          "quantile_loss", "quantile", first="quantile",
          letters={r"\tau": Letter("quantile", (r"\tau", r"\rho"), "constants")}, facts=(r"0 < \tau < 1",),
          source="Koenker and Bassett 1978"),
    _loss("hinge", "hinge loss", r"\max(0, 1 - t_{\I} x_{\I})", "hinge_loss", facts=(_SIGN,)),
    _loss("squared_hinge", "squared hinge loss", r"\max(0, 1 - t_{\I} x_{\I})^2", "squared_hinge_loss",
          facts=(_SIGN,)),
    _loss("logistic_loss", "logistic loss", r"\log(1 + e^{-t_{\I} x_{\I}})", "log_loss", facts=(_SIGN,)),
    Layer("binary_cross_entropy", "binary cross-entropy",
          r"L = -\sum_{\I} (t_{\I} \log(x_{\I}) + (1 - t_{\I}) \log(1 - x_{\I}))", TARGET, ("bce",), "loss",
          facts=(_BINARY, _PROBABILITY)),
    Layer("categorical_cross_entropy", "categorical cross-entropy", _categorical,
          {**TARGET, r"\epsilon": Letter("smoothing", (r"\epsilon", r"\alpha"), "constants"),
           r"\classes": Letter("classes", ("K", "C", "M"), "sizes")},
          ("cce",), "loss", 1, facts=(_ONE_HOT, _PROBABILITY, r"0 < \epsilon < 1"), options={"smoothing": False},
          source="smoothed targets: Szegedy et al. 2016"),
    Layer("negative_log_likelihood", "negative log-likelihood", r"L = -\sum_{\I} t_{\I} x_{\I}", TARGET,
          ("nll", "nll_loss"), "loss", 1, facts=(_ONE_HOT,), source="of log-probabilities, as PyTorch has it"),
    Layer("focal", "focal loss", r"L = -\sum_{\I} t_{\I} (1 - x_{\I})^{\gamma} \log(x_{\I})",
          {**TARGET, r"\gamma": Letter("focusing", (r"\gamma",), "constants")}, ("focal_loss",), "loss", 1,
          first="focusing", facts=(_ONE_HOT, _PROBABILITY, r"\gamma > 0"), source="Lin et al. 2017"),
    Layer("binary_focal", "binary focal loss",
          r"L = -\sum_{\I} (t_{\I} (1 - x_{\I})^{\gamma} \log(x_{\I}) + (1 - t_{\I}) x_{\I}^{\gamma} \log(1 - x_{\I}))",
          {**TARGET, r"\gamma": Letter("focusing", (r"\gamma",), "constants")}, kind="loss", first="focusing",
          facts=(_BINARY, _PROBABILITY, r"\gamma > 0"), source="Lin et al. 2017"),
    _loss("squared_logarithmic", "squared logarithmic error",
          r"(\log(1 + x_{\I}) - \log(1 + t_{\I}))^2", "squared_logarithmic_error", "sle",
          facts=(r"x_{\I} > 0", r"t_{\I} > 0")),
)
