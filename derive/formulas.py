r"""The formulas of a text: between dollars, in `\(…\)`, `\[…\]` and environments; letters and shapes in code."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.notation.symbols import GREEK

_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*+\n(?:.*?\n)??^ {0,3}\1[`~]*+[ \t]*$"
                    r"|^ {0,3}(?:`{3,}+|~{3,}+)[^\n]*+\n.*\Z", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<![`\\])(`++)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_NAME = rf"(?:{'|'.join(sorted(GREEK))}|[^\W\d_])(?:_?\d|_[A-Za-z]{{1,6}})?(?!\w)"
_QUOTIENT = rf"∂{_NAME}\s*/\s*∂{_NAME}|d[A-Z]\s*/\s*d{_NAME}"
# x, W1, h_prev, (N, D), dW and dL/dW1 between backticks: how a program spells letters, shapes and gradients; ∂L/∂W
SPELT = re.compile(rf"(?<![`\\])`(?:(?P<letter>{_NAME})|(?P<shape>\((?:\s*\w{{1,4}}\s*,)+(?:\s*\w{{1,4}})?\s*\))"
                   rf"|(?P<gradient>d{_NAME}|{_QUOTIENT}))`(?!`)|(?<![\w$`\\/])(?P<plain>{_QUOTIENT})")
_LETTER = re.compile(rf"(?<![^\W_])(?P<sign>[d∂]?)(?P<letter>{'|'.join(sorted(GREEK))}|[^\W\d_])_?(?P<label>\w*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NAMES = "equation|align(?:ed)?|gather(?:ed)?|multline|displaymath|eqnarray"
_ENVIRONMENT = re.compile(rf"\\begin\{{({_NAMES})(\*?)\}}(.*?)\\end\{{\1\2\}}", re.DOTALL)
_OPENING = re.compile(r"\\\\(?![(\[])|\\\$|\$\$|\$|\\\(|\\\["
                      rf"|\\begin\{{(?:{_NAMES})\*?\}}")
_CLOSING = {"$$": re.compile(r"(?<!\\)\$\$"), "\\(": re.compile(r"\\\)"), "\\[": re.compile(r"(?<!\\)\\\]")}
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\Z")
_DIGIT = re.compile(r"\d")
_DOLLAR = re.compile(r"(?<!\\)\$")
_ROW = re.compile(r"\\\\(?:\[[^\]]*\])?|\\begin\{|\\end\{")


def formulas(text: str, first_line: int = 1) -> list[Formula]:
    """All formulas in order, the letters and shapes in code among them; other code, comments, escaped dollars and
    «costs $5 and $6» are passed over.

    Raises :class:`CardError` with the line of each formula that is not closed.
    """
    scanner = _Scanner(text, first_line)
    scanner.run()
    if scanner.problems:
        raise CardError(*scanner.problems)
    return scanner.found


def beside(text: str) -> str:
    """The text with blanks for its formulas, code and comments: all else stands where it stood."""
    scanner = _Scanner(text, 1)
    scanner.run()
    parts, at = list[str](), 0
    for start, stop in sorted(scanner.spans):
        parts += scanner.text[at:start], " " * (stop - max(start, at))
        at = max(stop, at)
    return "".join((*parts, scanner.text[at:]))


class _Scanner:
    def __init__(self, text: str, first_line: int) -> None:
        self.raw, self.first = text, first_line
        blanked = text
        for pattern in (_FENCE, _COMMENT, _CODE):
            if pattern is _CODE:
                self.spelt = [*SPELT.finditer(blanked)]
            blanked = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), blanked)
        self.text = blanked
        self.line_starts = [0, *(m.end() for m in re.finditer("\n", blanked))]
        self.displays = [m.start() for m in _CLOSING["$$"].finditer(blanked)]
        self.paragraphs = [(m.start(), m.end()) for m in _PARAGRAPH.finditer(blanked)]
        self.absent: set[str] = set()  # closings that do not come any more
        self.found: list[Formula] = []
        self.spans: list[tuple[int, int]] = []  # of what is found, in the text
        self.problems: list[Problem] = []

    def run(self) -> None:
        at = 0
        while match := _OPENING.search(self.text, at):
            sign = match[0]
            if sign in ("\\\\", "\\$"):
                at = match.end()
            elif sign.startswith("\\begin"):
                at = self.environment(match.start(), match.end())
            elif sign == "$":
                at = self.dollar(match.end())
            else:
                at = self.closed(sign, match.end())
        within = [*self.spans]
        for spelt in (m for m in self.spelt if not any(a <= m.start() < b for a, b in within)):
            plain = spelt["plain"] is not None
            self.add(spelt.start() + (not plain), spelt.end() - (not plain), False, _in_latex(spelt))
        self.found.sort(key=lambda f: (f.line, f.column))

    def closed(self, sign: str, start: int) -> int:
        end = None if sign in self.absent else _CLOSING[sign].search(self.text, start)
        if end is None:
            self.absent.add(sign)
        closing = {"$$": "$$", "\\(": r"\)", "\\[": r"\]"}[sign]
        paragraph = self.paragraph(start)
        later = len(self.displays) - bisect_left(self.displays, start) if sign == "$$" else 1
        if end is None or (paragraph[1] <= end.start() and later % 2 == 0):
            self.unclosed(sign, start, closing)
            return paragraph[1]
        self.add(start, end.start(), display=sign != "\\(")
        return end.end()

    def paragraph(self, start: int) -> tuple[int, int]:
        """The blank line that ends the paragraph of ``start``, or the end of the text."""
        place = bisect_left(self.paragraphs, (start, 0))
        return self.paragraphs[place] if place < len(self.paragraphs) else (len(self.text), len(self.text))

    def dollar(self, start: int) -> int:
        """``$…$`` within a paragraph; an amount of money is left alone."""
        paragraph = self.paragraph(start)
        end = _DOLLAR.search(self.text, start, paragraph[0])
        money = _DIGIT.match(self.text, start) is not None
        if end is None:
            if not money:
                self.unclosed("$", start, "$")
                return paragraph[1]
            return start
        before, after = self.text[end.start() - 1], self.text[end.end() : end.end() + 1]
        if money and (before.isspace() or after.isdigit()):
            return start
        if end.start() == start:
            return end.end()
        self.add(start, end.start(), display=False)
        return end.end()

    def environment(self, start: int, inner: int) -> int:
        opening = self.text[start:inner]
        match = None if opening in self.absent else _ENVIRONMENT.match(self.text, start)
        if match is None:
            self.absent.add(opening)
            self.unclosed(self.text[start:inner], inner, r"\end{…}")
            return inner
        if match[1] not in ("align", "aligned", "gather", "gathered", "eqnarray"):
            self.add(match.start(3), match.end(3), display=True)
            return match.end()
        for low, high in _rows(self.text, match.start(3), match.end(3)):
            self.add(low, high, display=True)
        return match.end()

    def add(self, start: int, end: int, display: bool, latex: str = "") -> None:
        self.spans.append((start, end))
        latex = latex or self.raw[start:end]
        start += len(latex) - len(latex.lstrip())
        latex = latex.strip()
        if latex:
            line = bisect_right(self.line_starts, start) - 1
            column = start - self.line_starts[line]
            self.found.append(Formula(latex, self.first + line, column, display))

    def unclosed(self, sign: str, start: int, closing: str) -> None:
        line = self.first + bisect_right(self.line_starts, start - len(sign)) - 1
        self.problems.append(Problem(f"`{sign}` is not closed; end the formula with `{closing}`, "
                                     r"or write `\$` for a dollar sign", line=line))


def _in_latex(spelt: re.Match[str]) -> str:
    r"""W_1 of `W1`, h_{\text{prev}} of `h_prev`, d\gamma of `dgamma`, \partial L/\partial W of dL/dW."""
    def letter(m: re.Match[str]) -> str:
        sign = "" if not m["sign"] else r"\partial " if "/" in spelt[0] else "d "
        name = m["letter"] if len(m["letter"]) == 1 else "\\" + m["letter"]
        label = m["label"]
        return sign + name + ("" if not label else f"_{label}" if len(label) == 1 else (
            f"_{{{label}}}" if spelt["plain"] else rf"_{{\text{{{label}}}}}"))

    return spelt["shape"] or _LETTER.sub(letter, spelt["letter"] or spelt["gradient"] or spelt["plain"])


def _rows(text: str, start: int, end: int) -> list[tuple[int, int]]:
    r"""The equations of ``align``: a row that opens with a relation goes on with the one before."""
    cuts, depth = [start], 0
    for match in _ROW.finditer(text, start, end):
        if match[0].startswith("\\begin"):
            depth += 1
        elif match[0].startswith("\\end"):
            depth -= 1
        elif depth == 0 and re.match(r"\s*&?\s*(=|\\le|\\ge|<|>|\+|-|\\cdot|\\quad)", text[match.end() : end]) is None:
            cuts += [match.start(), match.end()]
    cuts.append(end)
    return list(zip(cuts[::2], cuts[1::2], strict=True))
