"""Characters of a question's text as LaTeX: what T1 has stays, mathematical signs become macros."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from pylatex.utils import NoEscape, escape_latex

from derive.errors import RenderError


def _pairs() -> dict[str, str]:
    lines = Path(__file__).with_name("characters.txt").read_text("utf-8").splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    return dict(zip(words[::2], words[1::2], strict=True))


MATHS = _pairs()
# Text signs; a straight quotation mark would be set as a closing one.
_TEXT = {
    "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": r"\,", "\N{THIN SPACE}": r"\,", '"': r"\textquotedbl{}",
    "·": r"\textperiodcentered{}", "•": r"\textbullet{}", "°": r"\textdegree{}", "€": r"\texteuro{}", "…": r"\ldots{}",
    "′": r"\textquotesingle{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "‐": "-", "‑": "-", "‒": "--", "―": "---",
}  # fmt: skip
_KEPT = frozenset("–—‘’‚“”„«»‹›¡¿§¶†‡©®™£¥ß")
_SPECIAL = re.compile(r'[^a-zA-Z0-9 \n.,;:!?()\[\]/*+=@\'`-]')


def text(plain: str) -> NoEscape:
    """Plain text as LaTeX that sets the same characters.

    Raises :class:`RenderError` for a letter of a script that the sheet's fonts lack;
    a symbol that they lack is shown by its code point.
    """
    return NoEscape(_SPECIAL.sub(lambda m: _character(m[0]), unicodedata.normalize("NFC", plain)))


def code(plain: str) -> NoEscape:
    """Plain text for a typewriter font: quotes, dashes and spaces stand as they are."""
    shown = text(plain).replace("`", r"\textasciigrave{}").replace("'", r"\textquotesingle{}")
    return NoEscape(shown.replace("--", "-{}-").replace("  ", "~~"))


@cache
def _character(char: str) -> str:
    if char in _TEXT:
        return _TEXT[char]
    if char.isascii():
        return str(escape_latex(char)) if char.isprintable() else " "
    if char in _KEPT or in_t1(char):
        return char
    if char in MATHS:
        macro = MATHS[char]
        return f"${{}}{macro}$" if macro[0] in "_^" else f"${macro}$"
    return _missing(char)


def in_t1(char: str) -> bool:
    """A Latin letter of the T1 encoding: Western and Central European languages."""
    return char in "ȘșȚț" or (char.isalpha() and "\u00c0" <= char <= "\u017e" and char not in "ĦħĿŀŦŧĸŉ")


def _missing(char: str) -> str:
    kind = unicodedata.category(char)
    if kind in ("Cc", "Cf") or "\ufe00" <= char <= "\ufe0f":  # joiners, byte order marks, variation selectors
        return ""
    if kind.startswith("Z"):
        return " "
    plain = unicodedata.normalize("NFKC", char)  # ligatures, mathematical alphabets, full-width forms
    if plain != char:
        return text(plain)
    if kind[0] in "LM":
        name = f"U+{ord(char):04X}, {unicodedata.name(char, 'without a name')}"
        raise RenderError(f"the LaTeX sheet cannot set the letter `{char}` ({name}); use `--format md`")
    return rf"\texttt{{[U+{ord(char):04X}]}}"
