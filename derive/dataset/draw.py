"""A layer for a seed and a number: a chain over the catalogue with windows, sizes, letters, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from derive.dataset.functions import drawn as drawn_function
from derive.layers import LAYERS
from derive.layers.catalogue import Layer, Pooling
from derive.layers.modules import compose
from derive.module import Module
from derive.records import dataclass

_LETTERS = {"input": "xuvX", "weights": "WVAUM", "bias": "bcd", "target": "ytd", "loss": (r"\ell", "L", "E"),
            "output": "yzh", "preactivation": "sza"}
_DRAWN = ("linear", "residual", "softmax", "log_softmax")  # by kinds of chains of their own
_OWN = 0.3  # of the activations are functions of the row's own
_NUMBERS = {"slope": ("0.1", "0.2", "0.01", "0.25", "1/3"), "frequency": ("2", "3", "4"),
            "quantile": ("0.9", "0.1", "1/4"), "focusing": ("2", "3")}


@dataclass(frozen=True)
class Drawn:
    """The ``number``-th layer of a seed: a chain, functions that it applies, its letters, its input's axes."""

    seed: int
    number: int
    chain: str
    functions: tuple[str, ...] = ()
    letters: tuple[tuple[str, str], ...] = ()
    rank: int | None = None

    @property
    def id(self) -> str:
        return f"{self.seed}-{self.number}"

    @property
    def source(self) -> Random:
        """What further choices are drawn from."""
        return Random(f"{self.id} and on")

    def module(self) -> Module:
        """What the chain computes; raises :class:`DeriveError` where its parts do not fit."""
        return compose(self.chain, letters=dict(self.letters), functions=self.functions, rank=self.rank, key=self.id)


def drawn(seed: int, number: int) -> Drawn:
    """The layer of this number; whether its parts fit one another is seen when it is composed."""
    pick = Random(f"{seed}-{number}")
    functions: list[str] = []
    kind = pick.choices([*_KINDS], [weight for _, weight in _KINDS.values()])[0]
    rank, parts = _KINDS[kind][0](pick, functions)
    letters = {what: pick.choice(choices) for what, choices in _LETTERS.items() if pick.random() < 0.5}
    return Drawn(seed, number, " -> ".join(parts), tuple(functions), tuple(letters.items()), rank)


# --- parts ------------------------------------------------------------------------------------------------------------


def _named(pick: Random, spec: Layer, **more: str) -> str:
    """The layer with some of its letters as numbers."""
    given = dict(more)
    for letter in spec.letters.values():
        if letter.what in _NUMBERS and letter.role == "constants" and pick.random() < 0.5:
            given[letter.what] = pick.choice(_NUMBERS[letter.what])
    for option, usual in spec.options.items():
        if usual is False and option in ("half", "approximate", "smoothing", "temperature", "causal") and (
                pick.random() < 0.3):
            given[option] = "true"
    return _with(spec.name, given)


def _with(name: str, given: Mapping[str, object]) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in given.items())
    return f"{name}({inside})" if inside else name


def _of_kind(kind: str) -> list[Layer]:
    return [spec for spec in LAYERS if isinstance(spec, Layer) and spec.kind == kind and spec.name != "identity"]


def _activation(pick: Random, functions: list[str]) -> str:
    if pick.random() < _OWN:
        name = (r"\phi", r"\psi", r"\rho")[len(functions)]
        functions.append(rf"{name}(s) = {drawn_function(pick)}")
        return f"tanh(function={name})"
    return _named(pick, pick.choice(_of_kind("activation")))


def _linear(pick: Random) -> str:
    given = {"units": pick.choice(("2", "3", "4", "5"))} if pick.random() < 0.2 else {}
    return _with("linear", given | ({"bias": "false"} if pick.random() < 0.4 else {}))


def _ending(pick: Random) -> list[str]:
    """A loss, behind what keeps its input in range."""
    spec = pick.choice(_of_kind("loss"))
    before = {"binary_cross_entropy": ["sigmoid"], "binary_focal": ["sigmoid"], "focal": ["softmax"],
              "categorical_cross_entropy": ["softmax"], "negative_log_likelihood": ["log_softmax"],
              "squared_logarithmic": ["softplus"]}.get(spec.name, [])
    return [*before, _named(pick, spec)]


def _windows(pick: Random, axes: int, odd: bool = False) -> dict[str, str]:
    def each(low: int, high: int, step: int = 1) -> str:
        found = [str(pick.randrange(low, high + 1, step)) for _ in range(axes)]
        return f"({', '.join(found if pick.random() < 0.5 else found[:1] * axes)})"

    given = {"kernel_size": each(3, 5 if axes == 1 else 3, 2) if odd else each(2, 5 if axes == 1 else 3)}
    if pick.random() < 0.8:
        given["stride"] = each(1, 4 if axes == 1 else 3)
    if pick.random() < 0.3 and not odd:
        given["padding"] = each(0, 1)
    if pick.random() < 0.25:
        given["dilation"] = each(1, 3 if axes == 1 else 2)
    return given


def _pool(pick: Random) -> tuple[int, str]:
    """The number of its axes, and a pooling: over windows, all of its input, or so many parts of it."""
    form = pick.choices(("window", "global", "adaptive"), (8, 1, 1))[0]
    spec = pick.choice([s for s in LAYERS if isinstance(s, Pooling) and s.form == form])
    odd = "median" in spec.name  # is one of the entries where their number is odd
    axes = pick.choice((1, 1, 2))
    given = _windows(pick, axes, odd) if form == "window" else {}
    if form == "adaptive":
        given["output_size"] = f"({', '.join(str(pick.randint(2, 3)) for _ in range(axes))})"
    if "norm" in spec.options and pick.random() < 0.5:
        given["norm"] = pick.choice(("1", "3", "4"))
    if "sharpness" in spec.options and pick.random() < 0.5:
        given["sharpness"] = pick.choice(("2", "3", "1/2"))
    return axes, _with(spec.name, given)


def _catalogued(pick: Random, spec: Layer) -> tuple[int | None, str]:
    """The number of its input's axes, and the layer with some of its options."""
    given: dict[str, str] = {}
    if "kernel_size" in spec.options:
        given = _windows(pick, spec.ranks({**spec.options, "channels": False})[0])
    for option, value in spec.options.items():
        if option in ("pieces", "filters", "units") and (pick.random() < 0.2 or option == "pieces"):
            given[option] = pick.choice(("2", "3"))
        elif option in ("bias", "channels", "inverted") and pick.random() < 0.4:
            given[option] = "false"
        elif option == "causal" and value is False and pick.random() < 0.3:
            given[option] = "true"
    own = spec.ranks({**spec.options, **{option: value != "false" for option, value in given.items()}})
    return (pick.choice(own) if own else 1), _with(spec.name, given)


# --- kinds of chains: the number of the input's axes, and the parts ---------------------------------------------------

Parts = tuple[int | None, list[str]]


def _elementwise(pick: Random, functions: list[str]) -> Parts:
    return 1, [_activation(pick, functions) for _ in range(pick.choice((1, 2)))]


def _neurons(pick: Random, functions: list[str]) -> Parts:
    return 1, [_linear(pick), _activation(pick, functions)]


def _network(pick: Random, functions: list[str]) -> Parts:
    inner = [_linear(pick), _activation(pick, functions)] if pick.random() < 0.3 else []
    last = [_linear(pick)] + ([_activation(pick, functions)] if pick.random() < 0.6 else [])
    return 1, [*inner, *last, *_ending(pick)]


def _deep(pick: Random, functions: list[str]) -> Parts:
    parts = [_linear(pick), _activation(pick, functions), _linear(pick), _activation(pick, functions)]
    return 1, parts[:pick.choice((3, 4))]


def _readout(pick: Random, functions: list[str]) -> Parts:
    return 1, [_activation(pick, functions), *_ending(pick)]


def _pooled(pick: Random, functions: list[str]) -> Parts:
    axes, pool = _pool(pick)
    if pick.random() < 0.5:
        return axes, [pool]
    other = _activation(pick, functions)
    return axes, [pool, other] if pick.random() < 0.6 else [other, pool]


def _of_one(pick: Random, functions: list[str], among: Callable[[Layer], bool], after: float) -> Parts:
    """A layer of the catalogue, and behind it an activation with this probability."""
    axes, layer = _catalogued(pick, pick.choice([*filter(among, _of_kind("layer"))]))
    return axes, [layer, *([_activation(pick, functions)] if pick.random() < after else [])]


def _convolved(pick: Random, functions: list[str]) -> Parts:
    return _of_one(pick, functions, lambda spec: "kernel_size" in spec.options, 0.7)


def _other(pick: Random, functions: list[str]) -> Parts:
    """Whatever else the catalogue has, by itself and before others: what is added to it is drawn."""
    return _of_one(pick, functions, lambda spec: "kernel_size" not in spec.options and spec.name not in _DRAWN, 0.8)


def _softmaxed(pick: Random, functions: list[str]) -> Parts:
    soft = _named(pick, pick.choice([s for s in LAYERS if isinstance(s, Layer) and "softmax" in s.name]))
    before = [_linear(pick)] if pick.random() < 0.5 else [_activation(pick, functions)]
    return 1, [*before, soft]


def _residual(pick: Random, functions: list[str]) -> Parts:
    return 1, [f"residual({_activation(pick, functions)})", _activation(pick, functions)]


_KINDS = {"elementwise": (_elementwise, 17), "neurons": (_neurons, 15), "network": (_network, 24), "deep": (_deep, 3),
          "readout": (_readout, 13), "pooled": (_pooled, 14), "convolved": (_convolved, 5),
          "other": (_other, 6), "softmaxed": (_softmaxed, 4), "residual": (_residual, 4)}  # fmt: skip
