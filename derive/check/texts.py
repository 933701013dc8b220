"""The text of an answer: of Markdown without its front matter, of LaTeX what stands in the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from derive.card import text_of
from derive.formulas import formulas

_SUFFIXES = (".md", ".tex", ".txt")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_DOCUMENT = re.compile(r"\A.*?\\begin\{document\}|\\end\{document\}.*\Z", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_SLOPE = re.compile(r"\\(?:partial|nabla|delta|prime|dot|ddot|mathrm\{d\})(?![A-Za-z])|'"
                    r"|\\frac\{?\s*d(?![a-z]{2})|\bd\w\s*/\s*d")
_LOOSE = re.compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z]))|[\s&]|\\(?:label|tag)\{[^{}]*\}")
_MINUS = "\N{MINUS SIGN}"
_NUMBER = rf"[-{_MINUS}]?\d+(?:\.\d+)?(?:/\d+)?"
_ENTRIES = rf"\([ \t]*{_NUMBER}(?:,[ \t]*{_NUMBER})*[ \t]*\)"
_ROW = re.compile(rf"^[ \t]*\|[ \t]*\$([^$|=<>\n]+)\$[ \t]*\|[ \t]*({_NUMBER}|{_ENTRIES})[ \t]*\|[ \t]*$", re.MULTILINE)
_IF, _ELSE = r"(?:if|for|when|whenever|where)", r"(?:otherwise|else|elsewhere)"
_PAIR = re.compile(  # $g_k = 1$ if $s_k > 0$ and $g_k = a$ otherwise, or if $s_k < 0$
    rf"\$(?P<head>[^$=<>]+)=(?P<a>[^$=<>]+)\$,?\s+{_IF}\s+\$(?P<c>[^$,]+)\$[,;]?\s+(?P<first>(?:and|but|or|,)?\s*{_ELSE}[\s,]+)?"
    rf"(?:and\s+|but\s+)?\$(?:(?P<again>[^$=<>]+)=)?(?P<b>[^$=<>]+)\$,?(?(first)|\s+(?:{_ELSE}\b|{_IF}\s+\$(?P<d>[^$,]+)\$))",
    re.IGNORECASE)
_SOLUTION = re.compile(r"\A.*?^#+\s*Solution[^\n]*$", re.DOTALL | re.MULTILINE)


def answer_of(file: Path) -> str:
    """The text of an answer, its lines where they were; raises :class:`derive.errors.CardError` for what is none."""
    text = text_of(file, "an answer").replace("\r\n", "\n")
    if file.suffix == ".tex":
        return _COMMENT.sub("", _blanked(_DOCUMENT, text))
    return _blanked(_SOLUTION, _blanked(_FRONT, text))


def valued(text: str) -> str:
    """The rows | $p$ | 0.5622 | of tables as | $p = 0.5622$ |."""
    return _ROW.sub(lambda row: f"| ${row[1].strip()} = {row[2].replace(_MINUS, '-')}$ |", text)


def cased(text: str) -> str:
    """Two cases in words, of a letter or of a derivative that is written once, as one formula; lines stay.

    $r'(z) = 1$ if $z > 0$ and $0$ otherwise.
    """
    def one(found: re.Match[str]) -> str:
        head = found["head"].strip()
        if _SLOPE.search(head) and found["again"] or (found["again"] or head).strip() != head:
            return found[0]
        other = rf"\text{{if }} {found['d']}" if found["d"] else r"\text{otherwise}"
        first = rf"{found['a']} & \text{{if }} {found['c']}"
        whole = rf"${head} = \begin{{cases}} {first} \\ {found['b']} & {other} \end{{cases}}$"
        return whole + "\n" * found[0].count("\n")

    return _PAIR.sub(one, text)


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda m: re.sub(r"[^\n]", "", m[0]), text)


def answers_in(paths: Iterable[Path]) -> list[Path]:
    """Files as they are, and of folders the Markdown, LaTeX and text files in them, by name."""
    return [file for path in paths for file in (
        sorted(f for f in path.rglob("*") if f.suffix in _SUFFIXES and f.is_file()) if path.is_dir() else [path])]


def repeated(question: str) -> Callable[[str], bool]:
    """Whether a formula, or a part of one, stands in the question and is about no derivative: it is no claim."""
    given = [f"={_bare(f.latex)}=" for f in formulas(question)]

    def stands(latex: str) -> bool:
        part = re.escape(_bare(latex))
        return _SLOPE.search(latex) is None and any(re.search(f"[=,]{part}[=,]", whole) for whole in given)

    return stands


def _bare(latex: str) -> str:
    return _LOOSE.sub("", latex).rstrip(".,;:")
