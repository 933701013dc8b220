"""From a module to its sheet: which statements, in which order, with which words."""

from derive.compose.sheet import compose, with_checks

__all__ = ["compose", "with_checks"]
