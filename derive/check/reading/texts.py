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
SLOPE = re.compile(r"\\(?:partial|nabla|delta|prime|dot|ddot|mathrm\{d\})(?![A-Za-z])|'"
                   r"|\\frac\{?\s*d(?![a-z]{2})|\bd\w\s*/\s*d")
_LOOSE = re.compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z]))|[\s&]|\\(?:label|tag)\{[^{}]*\}")
_DELTA = r"\$\s*(?P<delta>\\delta(?:_\{?\w+\}?)?)\s*\$,?\s+"
_DENOTES = r"(?:is|are|denotes?|denoting|stands\s+for|being|be|as)\s+"
_IS_PARTIAL = re.compile(rf"{_DELTA}{_DENOTES}\$\s*(?P<value>\\[dt]?frac\s*\{{\s*\\partial[^$=]*)\$")
_IS_GRADIENT = re.compile(
    rf"{_DELTA}(?:{_DENOTES})?(?:the\s+)?(?:partial\s+)?(?:gradient|derivative)s?\s+"
    r"(?:of\s+(?:\$\s*(?P<loss>\w)\s*\$|the\s+(?:loss|cost|error))\s+)?"
    r"(?:with\s+respect\s+to|w\.?\s?r\.?\s?t\.?|by)\s+(?:the\s+\w+\s+)?\$\s*(?P<by>[^$=]+?)\s*\$", re.IGNORECASE)
_ALMOST = re.compile(r"\\(?:approx|simeq|cong)(?=\s*&?\s*(?:[-(\[\s]{0,4}\d|[-(]?\\frac\s*\{?\s*\d|\\begin\{.?matrix))"
                     r"|\\(?:doteq|equiv|triangleq)(?![A-Za-z])")
_BOTH = re.compile(r"(\\?[A-Za-z]+(?:_\w|_\{\w+\})?)\s*=\s*\\pm\s*(\d+(?:\.\d+)?|\\?[A-Za-z]+)(?=\s*[.,;]?\s*$)")
_STRUCK = re.compile(r"~~(?=\S).*?~~", re.DOTALL)
_SOLUTION = re.compile(r"\A.*?^#+\s*Solution[^\n]*$", re.DOTALL | re.MULTILINE)


def answer_of(file: Path) -> str:
    """The text of an answer, its lines where they were; raises :class:`derive.errors.CardError` for what is none."""
    text = text_of(file, "an answer").replace("\r\n", "\n")
    if file.suffix == ".tex":
        return _COMMENT.sub("", _blanked(_DOCUMENT, text))
    return _blanked(_SOLUTION, _blanked(_FRONT, text))


def unstruck(text: str) -> str:
    """Without what is struck out, ~~…~~; lines and columns stay."""
    return _STRUCK.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def rounded(latex: str) -> str:
    r"""\approx in front of a number, \doteq and \equiv as =; x = \pm 1 as |x| = 1."""
    return _BOTH.sub(r"|\1| = \2", _ALMOST.sub("=", latex))


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
        return SLOPE.search(latex) is None and any(re.search(f"[=,]{part}[=,]", whole) for whole in given)

    return stands


def bare(latex: str) -> str:
    """A formula without its spaces and the signs behind it."""
    return _LOOSE.sub("", latex).rstrip(".,;:")
