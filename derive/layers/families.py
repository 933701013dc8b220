"""All layers of the catalogue, and the one of a name."""

from __future__ import annotations

from derive.errors import CardError, did_you_mean
from derive.layers import activations, convolutions, linear, losses, normalisations, pooling, sequences
from derive.layers.catalogue import Layer, Pooling

POOLINGS: tuple[Pooling, ...] = pooling.LAYERS
LAYERS: tuple[Layer | Pooling, ...] = (*POOLINGS, *linear.LAYERS, *convolutions.LAYERS, *normalisations.LAYERS,
                                        *sequences.LAYERS, *activations.LAYERS, *losses.LAYERS)


def find(name: str) -> Layer | Pooling:
    """The layer of a name or alias; raises :class:`CardError` for an unknown one."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    for spec in LAYERS:
        if plain == spec.name or name.strip().lower() == spec.words.lower() or (
                isinstance(spec, Layer) and plain in spec.aliases):
            return spec
    meant = next((spec.name for spec in POOLINGS if plain in spec.aliases), plain)
    raise CardError(f"unknown layer `{name}`; {did_you_mean(meant, [spec.name for spec in LAYERS], 0.6)}")


_GIVEN = {"own": "given function", "stated": "given loss"}  # parts that the question writes itself


def spoken(name: str | None) -> str | None:
    """What prose calls a layer of the catalogue, or a part that the question writes; any other name as it is."""
    return next((spec.words for spec in LAYERS if spec.name == name), _GIVEN.get(name or "", name))
