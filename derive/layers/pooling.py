"""Pooling: a reduction of each window to one number."""

from __future__ import annotations

from fractions import Fraction

from derive.layers.catalogue import Formula, Letters, Options, Pooling
from derive.receptive_field import ReceptiveField, WindowAxis


def _plain(sign: str, body: str = "X") -> Formula:
    r"""\max_{(i,j) \in \Omega(k,l)} x_{ij}; ``body`` has X for the entry."""
    return lambda letters, options: _reduced(sign, body, letters)


def _reduced(sign: str, body: str, letters: Letters) -> str:
    return f"{sign}_{{{letters.members}}} {body.replace('X', letters.entry)}"


def _total(body: str, letters: Letters) -> str:
    return _reduced(r"\sum", body, letters)


def _average(letters: Letters, options: Options) -> str:
    r"""\frac{1}{|\Omega(k,l)|} \sum x_{ij}; cells of the padding count too unless the options say otherwise."""
    field, override = options.get("field"), options["divisor_override"]
    divisor = letters.count
    if override is not None:
        divisor = str(override)
    elif options.get("count_include_pad") and isinstance(field, ReceptiveField):
        divisor = _padded_count(letters, field)
    return rf"\frac{{1}}{{{divisor}}} {_total('X', letters)}"


def _padded_count(letters: Letters, field: ReceptiveField) -> str:
    """How many cells a window has in the padded input: K, or min(K, n + p + p' − s k) where the last may run beyond."""
    number, varying = 1, []
    for axis, n, k in zip(field.axes, letters.sizes, letters.outputs, strict=True):
        assert isinstance(axis, WindowAxis)  # padding counts only where there is some
        if not axis.ceil_mode:
            number *= axis.kernel_size
            continue
        room, d = axis.padding + axis.padding_after, axis.dilation
        ahead = f" + {room + d - 1}" if room + d > 1 else ""
        left = f"{n}{ahead} - {axis.stride if axis.stride > 1 else ''} {k}"
        left = left if d == 1 else rf"\lfloor ({left}) / {d} \rfloor"
        varying.append(rf"\min({axis.kernel_size}, {left})")
    return " ".join(([str(number)] if number > 1 or not varying else []) + varying)


def _norm(letters: Letters, options: Options) -> str:
    r"""(\sum |x_{ij}|^p)^{1/p}."""
    p = Fraction(options["norm"])
    if p == 1:
        return _total("|X|", letters)
    if p == 2:
        return rf"\sqrt{{{_total('X^2', letters)}}}"
    total = _total(f"|X|^{{{_number(p)}}}", letters)
    return rf"\left( {total} \right)^{{{_number(1 / p)}}}"


def _log_sum_exp(letters: Letters, options: Options) -> str:
    r"""\frac{1}{r} \log \sum e^{r x_{ij}}."""
    return _scaled_log(_exponentials(letters, options), options)


def _log_mean_exp(letters: Letters, options: Options) -> str:
    r"""\frac{1}{r} \log( \frac{1}{|\Omega|} \sum e^{r x_{ij}} )."""
    return _scaled_log(rf"\frac{{1}}{{{letters.count}}} {_exponentials(letters, options)}", options)


def _softmax(letters: Letters, options: Options) -> str:
    r"""\sum x_{ij} \frac{e^{r x_{ij}}}{\sum e^{r x_{ij}}}."""
    weighted = _total("X " + _exponential(options), letters)
    return rf"\frac{{{weighted}}}{{{_exponentials(letters, options)}}}"


def _exponentials(letters: Letters, options: Options) -> str:
    return _total(_exponential(options), letters)


def _exponential(options: Options) -> str:
    return f"e^{{{_factor(Fraction(options['sharpness']))}X}}"


def _scaled_log(inner: str, options: Options) -> str:
    return rf"{_factor(1 / Fraction(options['sharpness']))}\log\left( {inner} \right)"


def _number(value: Fraction) -> str:
    """5/2 as a fraction, 3 as itself."""
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _factor(value: Fraction) -> str:
    """A number in front of a product: nothing for 1."""
    return {Fraction(1): "", Fraction(-1): "-"}.get(value, _number(value) + " ")


_SHARP = {"sharpness": 1}
WINDOWED = (
    Pooling("max_pool", ("maxpool", "max_pooling", "max_pool2d", "maximum_pooling"), _plain(r"\max"), "max pooling"),
    Pooling("min_pool", ("minpool", "min_pooling", "min_pool2d", "minimum_pooling"), _plain(r"\min"), "min pooling"),
    Pooling("avg_pool", ("avgpool", "average_pool", "average_pooling", "mean_pool", "avg_pool2d"), _average,
            "average pooling", {"count_include_pad": True, "divisor_override": None}),
    Pooling("sum_pool", ("sumpool", "sum_pooling"), _plain(r"\sum"), "sum pooling"),
    Pooling("lp_pool", ("lppool", "lp_pooling", "l2_pool", "norm_pool", "lp_pool2d"), _norm, "Lp pooling", {"norm": 2}),
    Pooling("lse_pool", ("lsepool", "log_sum_exp_pool", "logsumexp_pool"), _log_sum_exp, "log-sum-exp pooling", _SHARP),
    Pooling("lme_pool", ("lmepool", "log_mean_exp_pool", "logmeanexp_pool"), _log_mean_exp, "log-mean-exp pooling",
            _SHARP),
    Pooling("softmax_pool", ("softmaxpool", "soft_pool", "softpool", "softmax_pooling"), _softmax, "softmax pooling",
            _SHARP),
    Pooling("max_abs_pool", ("maxabs_pool", "abs_max_pool", "max_abs_pooling"), _plain(r"\max", "|X|"),
            "max-abs pooling"),
    Pooling("median_pool", ("medianpool", "median_pooling"), _plain(r"\operatorname{median}"), "median pooling",
            tie_rules=("split",)),
)
LAYERS = (*WINDOWED, *(spec.over(form) for form in ("global", "adaptive") for spec in WINDOWED))
