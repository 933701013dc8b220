r"""The formulas of a Markdown text: ``$…$``, ``$$…$$``, ``\(…\)``, ``\[…\]`` and equation environments."""

from __future__ import annotations

import re
from dataclasses import dataclass

from derive.errors import CardError, Problem


@dataclass(frozen=True)
class Formula:
    """A formula and its place: ``line`` from 1, ``column`` from 0, of its first character."""

    latex: str
    line: int
    column: int
    display: bool


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(?:.*?\n)??^ {0,3}\1[`~]*[ \t]*$|^ {0,3}(`{3,}|~{3,})[^\n]*\n.*\Z",
                    re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\{(equation|align|gather|multline|displaymath|eqnarray)(\*?)\}(.*?)\\end\{\1\2\}",
                          re.DOTALL)
_OPENING = re.compile(r"\\\\(?![(\[])|\\\$|\$\$|\$|\\\(|\\\["
                      r"|\\begin\{(?:equation|align|gather|multline|displaymath|eqnarray)\*?\}")
_CLOSING = {"$$": re.compile(r"(?<!\\)\$\$"), "\\(": re.compile(r"\\\)"), "\\[": re.compile(r"(?<!\\)\\\]")}
_DOLLAR = re.compile(r"(?<!\\)\$")
_ROW = re.compile(r"\\\\(?:\[[^\]]*\])?|\\begin\{|\\end\{")


def formulas(text: str, first_line: int = 1) -> list[Formula]:
    """All formulas in order; code, comments and escaped dollars are passed over, and so is «costs $5 and $6».

    Raises :class:`CardError` with the line of each formula that is not closed.
    """
    scanner = _Scanner(text, first_line)
    scanner.run()
    if scanner.problems:
        raise CardError(*scanner.problems)
    return scanner.found


class _Scanner:
    def __init__(self, text: str, first_line: int) -> None:
        self.raw, self.first = text, first_line
        blanked = text
        for pattern in (_FENCE, _COMMENT, _CODE):
            blanked = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), blanked)
        self.text = blanked
        self.found: list[Formula] = []
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

    def closed(self, sign: str, start: int) -> int:
        end = _CLOSING[sign].search(self.text, start)
        closing = {"$$": "$$", "\\(": r"\)", "\\[": r"\]"}[sign]
        paragraph = re.compile(r"\n[ \t]*\n").search(self.text, start, end.start() if end else len(self.text))
        later = len(_CLOSING["$$"].findall(self.text, start)) if sign == "$$" else 1
        if end is None or (paragraph is not None and later % 2 == 0):
            self.unclosed(sign, start, closing)
            return paragraph.end() if paragraph is not None else len(self.text)
        self.add(start, end.start(), display=sign != "\\(")
        return end.end()

    def dollar(self, start: int) -> int:
        """``$…$`` within a paragraph; an amount of money is left alone."""
        paragraph = re.compile(r"\n[ \t]*\n|\Z").search(self.text, start)
        assert paragraph is not None
        end = _DOLLAR.search(self.text, start, paragraph.start())
        money = re.match(r"\d", self.text[start:]) is not None
        if end is None:
            if not money:
                self.unclosed("$", start, "$")
                return paragraph.end()
            return start
        before, after = self.text[end.start() - 1], self.text[end.end() : end.end() + 1]
        if money and (before.isspace() or after.isdigit()):
            return start
        if end.start() == start:
            return end.end()
        self.add(start, end.start(), display=False)
        return end.end()

    def environment(self, start: int, inner: int) -> int:
        match = _ENVIRONMENT.match(self.text, start)
        if match is None:
            self.unclosed(self.text[start:inner], inner, r"\end{…}")
            return inner
        if match[1] not in ("align", "gather", "eqnarray"):
            self.add(match.start(3), match.end(3), display=True)
            return match.end()
        for low, high in _rows(self.text, match.start(3), match.end(3)):
            self.add(low, high, display=True)
        return match.end()

    def add(self, start: int, end: int, display: bool) -> None:
        latex = self.raw[start:end]
        start += len(latex) - len(latex.lstrip())
        latex = latex.strip()
        if latex:
            line = self.text.count("\n", 0, start)
            column = start - (self.text.rfind("\n", 0, start) + 1)
            self.found.append(Formula(latex, self.first + line, column, display))

    def unclosed(self, sign: str, start: int, closing: str) -> None:
        line = self.first + self.text.count("\n", 0, start - len(sign))
        self.problems.append(Problem(f"`{sign}` is not closed; end the formula with `{closing}`, "
                                     r"or write `\$` for a dollar sign", line=line))


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
