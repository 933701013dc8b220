"""The notation: reading and writing the printed language."""

from derive.notation.elaboration import read, read_formula
from derive.notation.formulas import NotationError
from derive.notation.gathering import gather
from derive.notation.writer import write

__all__ = ["NotationError", "gather", "read", "read_formula", "write"]
