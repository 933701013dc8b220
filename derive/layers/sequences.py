"""Layers over sequences: attention, and one step of a recurrent network."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from derive.layers.catalogue import Forward, Layer, Letter, Options
from derive.layers.linear import BIAS, WEIGHTS


def _attention(rank: int, options: Options) -> Forward:
    r"""A = softmax(Q K^\top/\sqrt{d}) by rows, y = A V; a causal one looks at positions up to its own."""
    keys = r"m \le i" if options["causal"] else "m"
    own, every = (rf"\sum_{{{keys.replace('m', c)}}}" if c == "j" else rf"\sum_{{{keys}}}" for c in "jm")
    return Forward((r"s_{ij} = \frac{1}{\sqrt{d}} \sum_{c} x_{ic} K_{jc}",
                    rf"a_{{ij}} = \frac{{e^{{s_{{ij}}}}}}{{{every} e^{{s_{{im}}}}}}",
                    rf"y_{{ik}} = {own} a_{{ij}} V_{{jk}}"),
                   (r"x \in \mathbb{R}^{n \times d}",))


def _gate(name: str, function: str, state: str = "h_{j}") -> str:
    r"""i_k = \sigma(\sum_j W_{i,kj} x_j + \sum_j U_{i,kj} h_j + b_{i,k})"""
    sums = rf"\sum_{{j}} W_{{{name},kj}} x_{{j}} + \sum_{{j}} U_{{{name},kj}} {state} + b_{{{name},k}}"
    return rf"{name}_{{k}} = {function.replace('@', sums)}"


_SIGMOID, _TANH = r"\frac{1}{1 + e^{-\left(@\right)}}", r"\tanh\left(@\right)"
_STATE = Letter("state", ("h", "z"), "inputs")
_LENGTH = {"n": Letter("", ("n", "N", "M"), "sizes")}


def _step(*formulas: str) -> Callable[[int, Options], Forward]:
    """A step hands on a state of the length that it gets: the output is the next step's h."""
    return lambda rank, options: Forward(formulas, (r"h \in \mathbb{R}^{n}", r"y \in \mathbb{R}^{n}"))


def _cell(gates: Iterable[str]) -> dict[str, Letter]:
    """The weights, recurrent weights and biases of each gate: W_i, U_i, b_i."""
    named = tuple(gates)
    return {"h": _STATE, **{g: Letter("", (g, "u", "v", "q", "a")) for g in named},
            "W": Letter("weights", WEIGHTS.choices, "parameters", named),
            "U": Letter("recurrent weights", ("U", "R", "V"), "parameters", named),
            "b": Letter("bias", BIAS.choices, "parameters", named)}


LAYERS = (
    Layer("attention", "scaled dot-product attention", _attention,
          {"x": Letter("queries", ("Q", "X"), "inputs"),
           "K": Letter("keys", ("K",), "inputs"), "V": Letter("values", ("V",), "inputs"),
           "s": Letter("scores", ("S", "E")), "a": Letter("attention", ("A", "P")),
           **{c: Letter("", (c, "N", "M"), "sizes") for c in "nd"}},
          ("scaled_dot_product_attention", "dot_product_attention"), rank=2, input=("Q", "X"),
          output=("Y", "O", "Z"), options={"causal": False},
          source="Vaswani et al. 2017"),
    Layer("rnn", "recurrent step",
          _step(r"y_{k} = \tanh\left(\sum_{j} W_{kj} x_{j} + \sum_{j} U_{kj} h_{j} + b_{k}\right)"),
          {**_LENGTH, "h": _STATE, "W": WEIGHTS, "U": Letter("recurrent weights", ("U", "R", "V"), "parameters"),
           "b": BIAS},
          ("rnn_cell", "rnn_step", "elman"), rank=1, output=("h'",),
          source="Elman 1990"),
    Layer("lstm", "LSTM step",
          _step(_gate("i", _SIGMOID), _gate("f", _SIGMOID), _gate("o", _SIGMOID), _gate("g", _TANH),
                r"s_{k} = f_{k} c_{k} + i_{k} g_{k}", r"y_{k} = o_{k} \tanh(s_{k})"),
          {**_LENGTH, **_cell("ifog"), "c": Letter("cell state", ("c", "m"), "inputs"), "s": Letter("", ("c'", "s"))},
          ("lstm_cell", "lstm_step"), rank=1, output=("h'",),
          source="Hochreiter and Schmidhuber 1997, with a forget gate"),
    Layer("gru", "GRU step",
          (_gate("z", _SIGMOID), _gate("r", _SIGMOID), _gate("g", _TANH, "r_{j} h_{j}"),
           r"y_{k} = (1 - z_{k}) h_{k} + z_{k} g_{k}"),
          _cell("zrg"), ("gru_cell", "gru_step"), rank=1, output=("h'",), source="Chung et al. 2014"),
)
