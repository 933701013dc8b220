"""Checks of the sheet of any layer: several tensors, any size, any function."""

from derive.verify.layer import check, routes
from derive.verify.layer.sheet import verify

__all__ = ["forget", "verify"]


def forget() -> None:
    """Drop the verdicts kept in this process."""
    check.forget()
    routes.forget()
