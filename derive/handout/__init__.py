"""Cards as one LaTeX document of the exam class: questions, answers, or a guide to their marking."""

from derive.handout.document import MODES, Head, Item, document
from derive.handout.selection import ORDERS, Selection, bounds

__all__ = ["MODES", "ORDERS", "Head", "Item", "Selection", "bounds", "document"]
