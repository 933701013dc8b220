"""The sheet of any layer: from its definitions to the messages that are asked for."""

from derive.compose.layer.sheet import compose, with_checks

__all__ = ["compose", "with_checks"]
