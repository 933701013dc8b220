"""A card's question: which layer it is about, with which window, and what is asked."""

from derive.question.module import module_of

__all__ = ["module_of"]
