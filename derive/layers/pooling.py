"""Pooling: a reduction of each window to one number."""

from __future__ import annotations

from derive.layers.catalogue import Layer

LAYERS = (
    Layer(
        "max_pool",
        ("maxpool", "max_pooling", "max_pool2d", "maximum_pooling"),
        r"f_{OUT} = \max_{(IN) \in \Omega(OUT)} x_{IN}",
        "max pooling",
    ),
    Layer(
        "min_pool",
        ("minpool", "min_pooling", "min_pool2d", "minimum_pooling"),
        r"f_{OUT} = \min_{(IN) \in \Omega(OUT)} x_{IN}",
        "min pooling",
    ),
)
