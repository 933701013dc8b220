"""Layers that weigh all of their inputs."""

from __future__ import annotations

from derive.layers.catalogue import Forward, Layer, Letter, Options

WEIGHTS = Letter("weights", ("W", "V", "U", "A", "R", "M"), "parameters")
UNIT = Letter("weights", ("w", "v", "u"), "parameters")
BIAS = Letter("bias", ("b", "c", "d"), "parameters")
TIMES = r" \times "
_EXTENTS = (r"\n", r"\m", r"\h", r"\q")  # no letters, which units may have
_SIZES = {c: Letter("", (c[1:], "n", "m", "N", "M", "P"), "sizes") for c in _EXTENTS}
_ENDING = {True: r" + b_{\K}", False: ""}


def _linear(rank: int, options: Options) -> Forward:
    r"""y_k = \sum_j W_{kj} x_j + b_k; one unit has weights w, and no bias unless one is named.

    A ``whole`` matrix is one with a label, W_1, which no index stands beside; the ``rows`` of x are samples.
    """
    units, bias = options["units"], options["bias"]
    if options["whole"] and options["rows"]:
        product = "x w" if units == 1 else "x W" if options["transposed"] else r"x W^\top"
        ending = " + b" * bool(bias) if units == 1 else r" + b^\top" * (bias is not False)
        return Forward((f"y = {product}{ending}",), (r"x \in \mathbb{R}^{\n}",), axes=int(units != 1))
    if options["whole"] and rank == 1:
        product, ending = (r"w^\top", " + b" * bool(bias)) if units == 1 else ("W", " + b" * (bias is not False))
        return Forward((f"y = {product} x{ending}",), axes=int(units != 1))
    if units == 1:
        return Forward((r"y = \sum_{\J} w_{\J} x_{\J}" + " + b" * bool(bias),))
    bias = bias is not False
    weight, shapes = (r"W_{\J\K}", ()) if options["transposed"] else (r"W_{\K\J}", _rows(units, rank))
    return Forward((rf"y_{{\K}} = \sum_{{\J}} {weight} x_{{\J}}" + _ENDING[bias],), shapes)


def _rows(units: object, rank: int) -> tuple[str, ...]:
    r"""W \in \mathbb{R}^{10 \times n}, where the number of units is said."""
    sizes = TIMES.join([str(units), *_EXTENTS[:rank]])
    return () if units is None else (rf"W \in \mathbb{{R}}^{{{sizes}}}",)


def _maxout(rank: int, options: Options) -> Forward:
    pieces, bias = options["pieces"], r" + b_{\K r}" * (options["bias"] is not False)
    most = rf"0 \le r < {pieces}" if pieces else "r"
    return Forward((rf"y_{{\K}} = \max_{{{most}}} \left(\sum_{{\J}} W_{{\K r \J}} x_{{\J}}{bias}\right)",))


def _glu(rank: int, options: Options) -> Forward:
    bias = options["bias"] is not False
    ends = (r" + b_{\K}", r" + c_{\K}") if bias else ("", "")
    return Forward((rf"s_{{\K}} = \sum_{{\J}} W_{{\K\J}} x_{{\J}}{ends[0]}",
                    rf"g_{{\K}} = \frac{{1}}{{1 + e^{{-\left(\sum_{{\J}} V_{{\K\J}} x_{{\J}}{ends[1]}\right)}}}}",
                    r"y_{\K} = s_{\K} g_{\K}"))


def _dropout(rank: int, options: Options) -> Forward:
    r"""y = m x; ``inverted``, m x / p, or m x / (1 - q) where q is the probability to ``drop`` an entry."""
    rate = "1 - q" if options["drop"] else "p"
    kept = rf"\frac{{m_{{\I}} x_{{\I}}}}{{{rate}}}" if options["inverted"] else r"m_{\I} x_{\I}"
    return Forward((rf"y_{{\I}} = {kept}",))


LAYERS = (
    Layer("linear", "linear layer", _linear, {"W": WEIGHTS, "w": UNIT, "b": BIAS, **_SIZES},
          ("affine", "dense", "fully_connected", "fc"),
          options={"units": None, "bias": None, "whole": False, "transposed": False, "rows": False},
          first="units"),
    Layer("maxout", "maxout layer", _maxout, {"W": WEIGHTS, "b": BIAS}, options={"pieces": None, "bias": None},
          first="pieces", source="Goodfellow et al. 2013"),
    Layer("glu", "gated linear unit", _glu,
          {"W": WEIGHTS, "V": Letter("gate weights", ("V", "U", "A"), "parameters"), "b": BIAS,
           "c": Letter("gate bias", ("c", "d"), "parameters"), "s": Letter("", ("s", "z", "a")),
           "g": Letter("", ("g", "h", "q"))}, ("gated_linear_unit",), options={"bias": None},
          source="Dauphin et al. 2017"),
    Layer("dropout", "dropout", _dropout,
          {"m": Letter("mask", ("m", "r", "d"), "constants"), "p": Letter("keep", ("p", "q"), "constants"),
           "q": Letter("drop", ("p", "q"), "constants")},
          facts=(r"m_{\I} \in \{0, 1\}", "0 < p < 1", "0 < q < 1"), options={"inverted": True, "drop": False},
          source="Srivastava et al. 2014; with a mask that is given, and the probability p of keeping an entry"),
    Layer("residual", "residual connection", r"y_{\I} = r_{\I} + x_{\I}", {"r": Letter("", ("r",))}, ("skip",),
          source="He, Zhang, Ren and Sun 2016"),
    Layer("embedding", "embedding", r"y_{\K} = \sum_{j} E_{j\K} x_{j}",
          {"E": Letter("weights", ("E", "W"), "parameters")}, ("embedding_layer",), rank=1,
          source="x is the one-hot vector of the word"),
)
