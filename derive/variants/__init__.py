"""Variants of cards that leave choices open, ``{{kernel_size}}``, and declare them: ``vary_kernel_size: [2, 3]``."""

from derive.variants.declared import Declared, declared, has_choices, refuse_open
from derive.variants.draw import Variant, drawn

__all__ = ["Declared", "Variant", "declared", "drawn", "has_choices", "refuse_open"]
