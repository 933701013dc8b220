"""A long chain of equalities over several lines, one side below the other."""

from __future__ import annotations

import re

from derive.expr import Node, Rel, free_indices
from derive.notation.condition_writer import RELATIONS
from derive.notation.symbols import SymbolTable
from derive.notation.writer import Writer, write

WIDTH = 72  # about a line of a page, in characters as :func:`width` counts them

_CASES = re.compile(r"\\begin\{cases\}(.*?)\\end\{cases\}")
_FRACTION = re.compile(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_SCRIPT = re.compile(r"[_^]\{((?:[^{}]|\{[^{}]*\})*)\}")
_BELOW = re.compile(r"\\(sum|prod|max|min)_\{((?:[^{}]|\{[^{}]*\})*)\}(\^\{[^{}]*\})?")


def write_lines(node: Node, table: SymbolTable) -> str:
    """As :func:`derive.notation.write` for a display; a chain wider than a line is broken at its relations."""
    latex = write(node, table)
    if not isinstance(node, Rel) or len(node.terms) < 3 or width(latex) <= WIDTH:
        return latex
    w = Writer(table, taken=frozenset(i.name for i in free_indices(node)))
    first, *rest = map(w.write, node.terms)
    signs = [RELATIONS[op] for op in node.ops]
    rows = r" \\ ".join(f"&{sign} {term}" for sign, term in zip(signs, rest, strict=True))
    return rf"\begin{{aligned}} {first} {rows} \end{{aligned}}"


def width(latex: str) -> float:
    """How wide a formula is, in letters: scripts count half, of what stands above one another only the wider."""
    latex = _CASES.sub(lambda m: "{" + max(m[1].split(r"\\"), key=width, default="") + "(if)xx", latex)
    latex = _BELOW.sub(lambda m: "W" * max(4, round(0.7 * width(m[2]))), latex)
    while _FRACTION.search(latex):
        latex = _FRACTION.sub(lambda m: max(m[1], m[2], key=width), latex)
    scripts = sum(0.6 * width(m[1]) for m in _SCRIPT.finditer(latex))
    plain = _SCRIPT.sub("", latex)
    plain = re.sub(r"\\(?:text|mathbb|operatorname|left|right|mathrm)\b", "", plain)
    plain = re.sub(r"\\[A-Za-z]+", "w", plain)
    signs = len(re.findall(r"[=<>+]|(?<=\s)-", plain))
    return scripts + len(re.sub(r"[\s{}\\&]", "", plain)) + 1.5 * signs
