"""Normalisations: what is normalised has mean 0 and variance 1 over some axes; a gain and a shift are learnt."""

from __future__ import annotations

from typing import Any

from derive.errors import CardError
from derive.layers.catalogue import Forward, Layer, Letter, Options
from derive.layers.linear import TIMES

_LETTERS = {
    r"\gamma": Letter("gain", (r"\gamma", "g", "a"), "parameters"),
    r"\beta": Letter("shift", (r"\beta", "b"), "parameters"),
    r"\epsilon": Letter("epsilon", (r"\epsilon", r"\varepsilon"), "constants"),
    r"\mu": Letter("mean", (r"\mu", "m")), r"\sigma": Letter("deviation", (r"\sigma", "s")),
    **{c: Letter(f"size {c}", (c, "M", "D", "P", "Q"), "sizes") for c in "NCHW"},
}
_LEARNT = {"gain": True, "shift": True}  # false: what is normalised is neither multiplied nor moved
_POSITIVE = (r"\epsilon > 0",)
_EXTENT = {"n": "N", "c": "C", "k": "C", "i": "H", "j": "W"}  # of the axis with this letter


def _normalised(axes: str, over: str, gain: str, options: Options) -> Forward:
    r"""y = \gamma (x - \mu)/\sqrt{\sigma^2 + \epsilon} + \beta for an x with these axes, ``over`` some of them."""
    kept = "".join(c for c in axes if c not in over)
    count = " ".join(_EXTENT[c] for c in over)
    mean = rf"\frac{{1}}{{{count}}} \sum_{{{','.join(over)}}}"
    return _scaled(axes, gain, options, (
        rf"\mu_{{{kept}}} = {mean} x_{{{axes}}}",
        rf"\sigma_{{{kept}}}^2 = {mean} (x_{{{axes}}} - \mu_{{{kept}}})^2",
        rf"\hat{{x}}_{{{axes}}} = \frac{{x_{{{axes}}} - \mu_{{{kept}}}}}{{\sqrt{{\sigma_{{{kept}}}^2 + \epsilon}}}}"))


def _scaled(axes: str, gain: str, options: Options, before: tuple[str, ...]) -> Forward:
    extents = TIMES.join(_EXTENT[c] for c in axes)
    scale = rf"\gamma_{{{gain}}} " * bool(options["gain"])
    shift = rf" + \beta_{{{gain}}}" * bool(options["shift"])
    output = rf"y_{{{axes}}} = {scale}\hat{{x}}_{{{axes}}}{shift}"
    if not scale and not shift:
        before, output = before[:-1], rf"y_{{{axes}}} = {before[-1].partition(' = ')[2]}"
    return Forward((*before, output), (rf"x \in \mathbb{{R}}^{{{extents}}}",))


def _batch(rank: int, options: Options) -> Forward:
    return _normalised(*{1: ("n", "n", ""), 2: ("nk", "n", "k"), 4: ("ncij", "nij", "c")}[rank], options)


def _layer(rank: int, options: Options) -> Forward:
    """Over the last axis."""
    axes = {1: "k", 2: "nk", 3: "njk"}[rank]
    return _normalised(axes, "k", "k", options)


def _instance(rank: int, options: Options) -> Forward:
    return _normalised(*{2: ("ci", "i", "c"), 3: ("cij", "ij", "c"), 4: ("ncij", "ij", "c")}[rank], options)


def _group(rank: int, options: Options) -> Forward:
    r"""The channels of a group stand one behind the other: channel c is in group \lfloor c/m \rfloor."""
    size = options["group_size"]
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise CardError(f"`group_size: {size}` is not a positive integer")
    group = rf"\lfloor c / {size} \rfloor"
    mean = rf"\frac{{1}}{{{size} H W}} \sum_{{r=0}}^{{{size - 1}}} \sum_{{i,j}}"
    return _scaled("cij", "c", options, (
        rf"\mu_{{g}} = {mean} x_{{{size}g + r,i,j}}", rf"\sigma_{{g}}^2 = {mean} (x_{{{size}g + r,i,j}} - \mu_{{g}})^2",
        rf"\hat{{x}}_{{cij}} = \frac{{x_{{cij}} - \mu_{{{group}}}}}{{\sqrt{{\sigma_{{{group}}}^2 + \epsilon}}}}"))


def _rms(rank: int, options: Options) -> Forward:
    axes = {1: "k", 2: "nk", 3: "njk"}[rank]
    extents = TIMES.join(_EXTENT[c] for c in axes)
    gain = r"\gamma_{k} " * bool(options["gain"])
    root = rf"\sigma_{{{axes[:-1]}}} = \sqrt{{\frac{{1}}{{C}} \sum_{{k}} x_{{{axes}}}^2 + \epsilon}}"
    return Forward((root, rf"y_{{{axes}}} = {gain}\frac{{x_{{{axes}}}}}{{\sigma_{{{axes[:-1]}}}}}"),
                   (rf"x \in \mathbb{{R}}^{{{extents}}}",))


def _norm(name: str, words: str, forward: Any, ranks: tuple[int, ...], *aliases: str, **more: Any) -> Layer:
    options = {**more.pop("options", {}), **_LEARNT}
    return Layer(name, words, forward, _LETTERS, aliases, rank=ranks, facts=_POSITIVE, options=options, **more)


LAYERS = (
    _norm("batch_norm", "batch normalisation", _batch, (2, 4, 1), "batch_normalisation", "batch_normalization",
          "batchnorm", of_batch=True,
          source="Ioffe and Szegedy 2015"),
    _norm("layer_norm", "layer normalisation", _layer, (1, 2, 3), "layer_normalisation", "layer_normalization",
          "layernorm", source="Ba, Kiros and Hinton 2016"),
    _norm("instance_norm", "instance normalisation", _instance, (3, 2, 4), "instance_normalisation",
          "instance_normalization",
          source="Ulyanov, Vedaldi and Lempitsky 2016"),
    _norm("group_norm", "group normalisation", _group, (3,), "group_normalisation", "group_normalization",
          options={"group_size": 2}, first="group_size",
          source="Wu and He 2018"),
    _norm("rms_norm", "RMS normalisation", _rms, (1, 2, 3), "rmsnorm", "rms_normalisation", "rms_normalization",
          source="Zhang and Sennrich 2019"),
)
