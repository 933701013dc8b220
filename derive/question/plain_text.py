"""A question's prose without its markup, each character knowing where it stood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

GAP = "∎"  # stands for a formula that is no plain number
BREAK = "¶"  # stands for a blank line or a displayed formula
_TOKEN = re.compile(
    r"""(?P<code>```.*?```|~~~.*?~~~|<!--(?:(?!<!--).)*?-->)
      | (?P<display>\$\$.*?\$\$|\\\[(?:(?!\\\[).)*?\\\]
          |\\begin\{(?P<env>equation|align|gather)\*?\}(?:(?!\\begin\{(?P=env)).)*?\\end\{(?P=env)\*?\})
      | (?P<inline>\$(?!\s*\$)[^$]+\$|\\\((?:(?!\\\().)*?\\\))
      | (?P<blank>\r?\n[ \t]*\r?\n\s*)
      | (?P<space>\s+)
      | (?P<mark>\*\*|__|`|(?<!\d)\*|\*(?!\s*\d)|!?\[\[[^\[\]]*\]\])
      | (?P<char>.)""",
    re.VERBOSE | re.DOTALL,
)
_NUMERIC = re.compile(r"(?!.*\\(?:max|min|frac|sum|partial|in\b))[^_^&]*\d[^_^&]*", re.DOTALL)
_SIZES = re.compile(r"(?:\$|\\\()\s*\(?\w+(?:\s*(?:\\times|,|\\cdot)\s*\w+)*\s*\)?\s*(?:\$|\\\))")  # K, K \times K
_ARROW = re.compile(r"(?:\$|\\\()\s*\\(?:to|[Ll]?(?:ong)?[Rr]ightarrow)\s*(?:\$|\\\))")  # linear layer $\to$ ELU
_MATH = re.compile(
    r"(?P<times>\\times|\\cdot)|(?P<drop>\\text|\\mathrm|[{}$]|\\[()!])|(?P<space>\\[,;: ]|~|\s+)|(?P<char>.)",
    re.DOTALL,
)
_PLAIN = {"‐": "-", "‑": "-", "–": "-", "—": "-", "’": "'", "∗": "*", "✕": "×", "╳": "×",
          "|": ":"}  # fmt: skip


@dataclass(frozen=True)
class PlainText:
    """``text`` in lower case; ``origin[n]`` is where its character n stands in ``source``."""

    source: str
    first_line: int
    text: str
    origin: tuple[int, ...]

    def quote(self, start: int, stop: int) -> str:
        """The source behind text[start:stop], on one line."""
        first, last = self.origin[start], self.origin[stop - 1] + 1
        if self.text[stop - 1] == GAP and (whole := _TOKEN.match(self.source, last - 1)):
            last = whole.end()
        if self.source.count("$", first, last) % 2:  # a formula is quoted with both its signs
            before = self.source[first - 1 : first] == "$"
            first, last = (first - 1, last) if before else (first, last + (self.source[last : last + 1] == "$"))
        return " ".join(re.sub(r"\*\*|`|\|", " ", self.source[first:last]).split())

    def line(self, start: int) -> int:
        """The line of text[start] in the file."""
        return self.first_line + self.source.count("\n", 0, self.origin[start])


def plain_text(
    source: str, first_line: int = 1, known: Mapping[str, int] | None = None, *, gaps: bool = False
) -> PlainText:
    """The prose of a Markdown text; formulas that hold no size become a gap (with ``gaps`` all do).

    ``known`` are sizes that the text calls by a letter: $K \\times K$ then reads as 2 × 2.
    """
    pieces: list[tuple[str, int]] = []
    for found in _TOKEN.finditer(source):
        kind, at = found.lastgroup or "", found.start()
        if found["display"] or found["code"] or kind == "blank":
            pieces.append((BREAK, at))
        elif kind == "inline":
            joins = _ARROW.fullmatch(found[0]) is not None
            pieces += [("→" if joins else GAP, at)] if gaps else _inline(found[0], at, known or {})
        elif kind == "space":
            pieces.append((" ", at))
        elif kind == "char":
            pieces.append((_PLAIN.get(found[0], found[0]).lower()[:1], at))
    return PlainText(source, first_line, "".join(c for c, _ in pieces), tuple(at for _, at in pieces))


def _inline(formula: str, start: int, known: Mapping[str, int]) -> list[tuple[str, int]]:
    letters = re.findall(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", formula) if _SIZES.fullmatch(formula) else []
    if not _NUMERIC.fullmatch(formula) and not (letters and all(c in known for c in letters)):
        return [(GAP, start)]
    pieces = []
    for found in _MATH.finditer(formula):
        at = start + found.start()
        if found.lastgroup == "times":
            pieces.append(("×", at))
        elif found.lastgroup == "space":
            pieces.append((" ", at))
        elif found.lastgroup == "char":
            char = str(known[found[0]]) if letters and found[0] in known else found[0].lower()[:1]
            pieces += [(c, at) for c in char]
    return pieces
