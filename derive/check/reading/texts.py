"""The text of an answer: of Markdown without its front matter, of LaTeX what stands in the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
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
    rf"(?P<edge>\$\$?)(?P<head>[^$=<>]+)=(?P<a>[^$=<>]+)(?P=edge),?\s+{_IF}\s+\$(?P<c>[^$,]+)\$[,;.]?\s+"
    rf"(?P<first>(?:and|but|or|,)?\s*{_ELSE}[\s,]+)?(?:and\s+|but\s+)?\$(?:(?P<again>[^$=<>]+)=)?(?P<b>[^$=<>]+)\$,?"
    rf"(?(first)|\s+(?:{_ELSE}\b|{_IF}\s+\$(?P<d>[^$,]+)\$))", re.IGNORECASE)
_WORD_NUMBERS = {"zero": "0", "one": "1", "minus one": "-1"}
_IN_WORDS = rf"(?P<number>{'|'.join(_WORD_NUMBERS)})".replace(" ", r"\s+")
_GETS = (r"(?:(?:it|they|this|these|we|the\s+(?:derivative|gradient|slope))\s+)?"
         r"(?:is|are|equals?|gets?|gives?|becomes?)(?:\s+equal\s+to)?\s+")
_OTHERS = (r"(?:all\s+)?(?:the\s+)?(?:others?|remaining)"
           r"(?:\s+(?:entries|components|derivatives|elements|terms|gradients|cases|inputs))?")
_NUMBERS_IN_WORDS = tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in (
    (rf"\b(?:{_GETS})?{_IN_WORDS}(?P<rest>\s+{_ELSE}\b)", "${n}${rest}"),
    (rf"\b(?P<rest>{_ELSE},?\s+)(?:{_GETS})?{_IN_WORDS}(?=\s*(?:[.,;)\n]|\Z))", "{rest}${n}$"),
    (rf"\b(?:(?:it|they)\s+)?vanish(?:es)?(?P<rest>\s+{_ELSE}\b)", "$0${rest}"),
    (rf"\b(?P<rest>{_ELSE},?\s+)(?:(?:it|they|the\s+derivative|the\s+gradient)\s+)?vanish(?:es)?\b", "{rest}$0$"),
    (rf"(?<=\$)(?:[,;.]\s+(?:and\s+|while\s+|but\s+)?|\s+(?:and|while|but)\s+){_OTHERS}\s+"
     rf"(?:vanish(?:es)?|(?:are|is)\s+{_IN_WORDS})\b", ", and ${n}$ otherwise"),
    (rf"(?<=\$)(?P<rest>,?\s+(?:and|but)\s+)(?:{_GETS})?{_IN_WORDS}(?=\s+{_IF}\s+\$)", "{rest}${n}$"),
))
_DELTA = r"\$\s*(?P<delta>\\delta(?:_\{?\w+\}?)?)\s*\$,?\s+"
_DENOTES = r"(?:is|are|denotes?|denoting|stands\s+for|being|be|as)\s+"
_IS_PARTIAL = re.compile(rf"{_DELTA}{_DENOTES}\$\s*(?P<value>\\[dt]?frac\s*\{{\s*\\partial[^$=]*)\$")
_IS_GRADIENT = re.compile(
    rf"{_DELTA}(?:{_DENOTES})?(?:the\s+)?(?:partial\s+)?(?:gradient|derivative)s?\s+"
    r"(?:of\s+(?:\$\s*(?P<loss>\w)\s*\$|the\s+(?:loss|cost|error))\s+)?"
    r"(?:with\s+respect\s+to|w\.?\s?r\.?\s?t\.?|by)\s+(?:the\s+\w+\s+)?\$\s*(?P<by>[^$=]+?)\s*\$", re.IGNORECASE)
_ALMOST = re.compile(r"\\(?:approx|simeq|cong)(?=\s*&?\s*(?:[-(]?\s*\d|[-(]?\\frac\s*\{?\s*\d|\\begin\{.?matrix))"
                     r"|\\(?:doteq|equiv|triangleq)(?![A-Za-z])")
_STRUCK = re.compile(r"~~(?=\S).*?~~", re.DOTALL)
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

    $r'(z) = 1$ if $z > 0$ and $0$ otherwise, or «zero otherwise», «all others vanish».
    """
    def one(found: re.Match[str]) -> str:
        head = found["head"].strip()
        if _SLOPE.search(head) and found["again"] or (found["again"] or head).strip() != head:
            return found[0]
        other = rf"\text{{if }} {found['d']}" if found["d"] else r"\text{otherwise}"
        first = rf"{found['a'].rstrip(' .,')} & \text{{if }} {found['c']}"
        edge, value = found["edge"], rf"\begin{{cases}} {first} \\ {found['b']} & {other} \end{{cases}}"
        return f"{edge}{head} = {value}{edge}" + "\n" * found[0].count("\n")

    for pattern, put in _NUMBERS_IN_WORDS:
        text = pattern.sub(partial(_number_of, put=put), text)
    return _PAIR.sub(one, text)


def _number_of(found: re.Match[str], put: str) -> str:
    """A number word as a formula; lines stay."""
    parts = found.groupdict()
    number = _WORD_NUMBERS[" ".join(parts["number"].lower().split())] if parts.get("number") else "0"
    new = put.format(n=number, rest=parts.get("rest", ""))
    return new + "\n" * (found[0].count("\n") - new.count("\n"))


def unstruck(text: str) -> str:
    """Without what is struck out, ~~…~~; lines and columns stay."""
    return _STRUCK.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def rounded(latex: str) -> str:
    r"""\approx in front of a number, \doteq and \equiv as =."""
    return _ALMOST.sub("=", latex)


def told_deltas(text: str) -> str:
    r"""«$\delta_k$ is the gradient with respect to $s_k$», «$\delta_k$ denotes $∂L/∂s_k$» as definitions."""
    def one(found: re.Match[str]) -> str:
        parts = found.groupdict()
        value = parts.get("value") or rf"\frac{{\partial {parts['loss'] or 'L'}}}{{\partial {parts['by']}}}"
        return f"${found['delta']} = {value}$" + "\n" * found[0].count("\n")

    return _IS_GRADIENT.sub(one, _IS_PARTIAL.sub(one, text))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda m: re.sub(r"[^\n]", "", m[0]), text)


def answers_in(paths: Iterable[Path]) -> list[Path]:
    """Files as they are, and of folders the Markdown, LaTeX and text files in them, by name."""
    return [file for path in paths for file in (
        sorted(f for f in path.rglob("*") if f.suffix in _SUFFIXES and f.is_file()) if path.is_dir() else [path])]


def repeated(question: str) -> Callable[[str], bool]:
    """Whether a formula, or a part of one, stands in the question and is about no derivative: it is no claim."""
    given = [f"={bare(f.latex)}=" for f in formulas(question)]

    def stands(latex: str) -> bool:
        part = re.escape(bare(latex))
        return _SLOPE.search(latex) is None and any(re.search(f"[=,]{part}[=,]", whole) for whole in given)

    return stands


def bare(latex: str) -> str:
    """A formula without its spaces and the signs behind it."""
    return _LOOSE.sub("", latex).rstrip(".,;:")
