"""The notation: reading and writing the printed language."""

from derive.notation.errors import NotationError
from derive.notation.gathering import gather
from derive.notation.reading import read
from derive.notation.writer import write

__all__ = ["NotationError", "gather", "read", "write"]
