"""Cards as one LaTeX document of the exam class: questions, answers, or a guide to their marking."""

from derive.handout.document import MODES, ORDERS, Head, Item, Paper, Selection, asked, bounds, document, papers

__all__ = ["MODES", "ORDERS", "Head", "Item", "Paper", "Selection", "asked", "bounds", "document", "papers"]
