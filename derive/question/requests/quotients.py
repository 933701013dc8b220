"""What stands above and below in a derivative that a question writes."""

from __future__ import annotations

import re

_ACCENTS = re.compile(r"\\(?:mathbf|boldsymbol|bm|mathrm|mathcal|vec)\s*\{?\s*([A-Za-z]|\\[A-Za-z]+)\s*\}?")
_ABOVE = re.compile(r"\\[dt]?frac\s*\{\s*\\partial\s*(.+?)\s*\}\s*\{\s*\\partial\s*(.+)\}\s*$"
                    r"|\\partial\s*(.+?)\s*/\s*\\partial\s*(.+)$", re.DOTALL)
_DERIVED = re.compile(r"\\(?:partial|nabla)(?![A-Za-z])")
_NABLA = re.compile(r"\\nabla_(?:\{(?P<a>.+?)\}|(?P<b>\\?\w+))\s*(?P<of>.*)$", re.DOTALL)


def without_fonts(latex: str) -> str:
    r"""x of \mathbf{x}"""
    return _ACCENTS.sub(r"\1", latex)


def _plain(latex: str) -> str:
    """A letter without its font and its index."""
    latex = without_fonts(latex).strip().strip("{}").strip()
    return re.sub(r"_\{?[a-z]{1,3}\}?$", "", latex)


def derivative_parts(latex: str) -> tuple[str | None, str | None]:
    """Above and below of a derivative: L and W of ∂L/∂W."""
    latex = latex.strip().rstrip(".,;")
    head, equal, value = latex.partition("=")
    latex = value.strip() if equal and not _DERIVED.search(head) else latex
    if match := _ABOVE.match(latex):
        above, below = (match[1], match[2]) if match[1] else (match[3], match[4])
        return _plain(above), _plain(below)
    if match := _NABLA.match(latex):
        return (_plain(match["of"]) or None), _plain(match["a"] or match["b"])
    return None, None
