"""Figures of a layer as scenes: its windows, the way its gradients take, its graph, its curve."""

from derive.figures.curve import elementwise
from derive.figures.graph import graph
from derive.figures.windows import receptive_fields, routing

__all__ = ["elementwise", "graph", "receptive_fields", "routing"]
