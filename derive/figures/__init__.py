"""Figures of a layer as scenes: its windows, the way of its gradients, its graph (its curve: derive.figures.curve)."""

from derive.figures.graph import graph
from derive.figures.windows import receptive_fields, routing

__all__ = ["graph", "receptive_fields", "routing"]
