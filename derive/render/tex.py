"""Plain text and a question's formulas as LaTeX: macros from an allow-list, groups closed, nothing else executed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from pylatex.utils import NoEscape, escape_latex

from derive.errors import CardError, Problem, RenderError


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


_TOKEN = re.compile(
    r"\\(?P<end>begin|end)\s*\{(?P<env>[^{}]*)\}|\\(?P<name>[a-zA-Z]+)|\\(?P<symbol>.)"
    r"|(?P<script>[⁰¹²³⁴-ⁿᵀ₀-ₜⱼ]+)|(?P<char>.)",
    re.S,
)
_CONTROL_SYMBOLS = frozenset("\\{}|,:;>! _#%&$-/\n")
_ACCENTS = frozenset("'`^\"~=.")  # in text only
_ARGUMENTS = {  # what must follow \begin{…}: a column list can hold TeX of its own
    "array": re.compile(r"\s*(\[[tbc]\])?\s*\{(?:[lcr|\s]|@\{\s*\})*\}"),
    "subarray": re.compile(r"\s*\{[lc]\}"),
    "alignedat": re.compile(r"\s*\{\d{1,2}\}"),
}
# Display environments stand inside a display here: their inner forms.
_INNER = {"align": "aligned", "flalign": "aligned", "eqnarray": "aligned", "gather": "gathered",
          "multline": "multlined", "alignat": "alignedat", "equation": "", "displaymath": ""}  # fmt: skip
# A formula's number stands beside it; nothing refers to its label.
_NUMBERS = {"label": re.compile(r"\s*\{([^{}]*)\}"), "tag": re.compile(r"\*?\s*\{([\w.,' *-]*)\}")}
_HATS = frozenset("^⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᵀ")  # a superscript, as a character of its own too
_DEEPEST = 60


@cache
def allowed() -> dict[str, frozenset[str]]:
    """The allow-list by heading: macros under "macros", "text" and "environments"."""
    groups: dict[str, set[str]] = {"macros": set(), "text": set(), "environments": set()}
    heading = "macros"
    for line in Path(__file__).with_name("macros.txt").read_text("utf-8").splitlines():
        if line.endswith(":"):
            heading = line[:-1] if line[:-1] in groups else "macros"
        elif not line.startswith("#"):
            groups[heading] |= set(line.split())
    return {name: frozenset(words) for name, words in groups.items()}


@lru_cache(4096)
def formula(latex: str, display: bool = False) -> NoEscape:
    """A formula ready to stand between ``$…$`` (or in a display), made of allowed macros only.

    Raises :class:`CardError` with the line, counted from 0 in the formula, of a macro that is
    not allowed, of an unclosed group, and of a character that TeX would execute.
    """
    written = _Scan(latex, display).run()
    if written != latex.strip():  # what was put in or left out must not have joined into something else
        _Scan(written, display).run()
    return NoEscape(written)


class _Scan:
    """One pass over a formula: what is open, and what has been written."""

    def __init__(self, latex: str, display: bool) -> None:
        self.source, self.display, self.at = latex.strip(), display, 0
        self.skipped = latex[: len(latex) - len(latex.lstrip())].count("\n")
        self.out: list[str] = []
        self.open: list[tuple[str, bool]] = []  # what closes it; whether text is inside
        self.text_next = self.breaks = self.columns = False

    def run(self) -> str:
        while self.at < len(self.source):
            token = _TOKEN.match(self.source, self.at)
            assert token is not None
            kind = token.lastgroup if token["end"] is None else "env"
            start, self.at = self.at, token.end()
            self.out.append(getattr(self, f"_{kind}")(token, start))
        if self.open:
            raise self.refuse(f"`{self.open[-1][0]}` is missing at the end of the formula", self.at)
        body = re.sub(r"\n\s*\n", "\n", "".join(self.out).strip())
        if self.columns or self.breaks:
            inner = "aligned" if self.columns else "gathered"
            body = f"\\begin{{{inner}}}\n{body}\n\\end{{{inner}}}"
        return body

    def refuse(self, what: str, at: int) -> CardError:
        return CardError(Problem(what, line=self.skipped + self.source.count("\n", 0, at)))

    @property
    def in_text(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    def push(self, closing: str, text: bool, at: int) -> None:
        if len(self.open) >= _DEEPEST:
            raise self.refuse(f"the formula nests more than {_DEEPEST} groups", at)
        self.open.append((closing, text))

    def pop(self, closing: str, at: int) -> None:
        if not self.open or self.open[-1][0] != closing:
            wanted = f"`{self.open[-1][0]}` must come first" if self.open else "nothing is open there"
            raise self.refuse(f"`{closing}` closes nothing in this formula; {wanted}", at)
        self.open.pop()

    def _env(self, token: re.Match[str], at: int) -> str:
        env = token["env"].strip()
        if env not in allowed()["environments"]:
            raise self.refuse(f"the environment `{env}` is not one of a formula", at)
        inner = _INNER.get(env.rstrip("*"), env)
        if token["end"] == "end":
            self.pop(f"\\end{{{env}}}", at)
            return f"\\end{{{inner}}}" if inner else " "
        self.push(f"\\end{{{env}}}", False, at)
        argument = ""
        if inner in _ARGUMENTS:
            found = _ARGUMENTS[inner].match(self.source, self.at)
            if found is None:
                raise self.refuse(f"`\\begin{{{env}}}` lacks a plain list of columns such as `{{ccc}}`", at)
            argument, self.at = found[0].strip(), found.end()
        return f"\\begin{{{inner}}}{argument}" if inner else " "

    def _name(self, token: re.Match[str], at: int) -> str:
        name = token["name"]
        if name == "left":
            self.push(r"\right", False, at)
        elif name == "right":
            self.pop(r"\right", at)
        elif name in _NUMBERS:
            found = _NUMBERS[name].match(self.source, self.at)
            if found is None:
                raise self.refuse(f"`\\{name}` lacks a plain `{{…}}`", at)
            self.at = found.end()
            return rf" \qquad ({found[1]})" if name == "tag" else " "
        elif name not in allowed()["macros"] and name not in allowed()["text"]:
            raise self.refuse(f"`\\{name}` is not a macro of a formula; write the formula without it", at)
        self.text_next = name in allowed()["text"]
        return token[0]

    def _symbol(self, token: re.Match[str], at: int) -> str:
        symbol = token["symbol"]
        if symbol not in _CONTROL_SYMBOLS and not (symbol in _ACCENTS and self.in_text):
            raise self.refuse(f"`\\{symbol}` does not belong in a formula", at)
        if symbol == "\\" and not self.open:
            self.breaks = self.display
        return token[0]

    def _script(self, token: re.Match[str], at: int) -> str:
        marks = [MATHS.get(c, "?") for c in token["script"]]
        if self.in_text or "?" in marks or len({m[0] for m in marks}) > 1:
            return "".join(self._shown(c) for c in token["script"])
        return f"{marks[0][0]}{{{''.join(m[1:] for m in marks)}}}"

    def _char(self, token: re.Match[str], at: int) -> str:
        char = token["char"]
        if char == "{":
            self.push("}", self.in_text or self.text_next, at)
        elif char == "}":
            self.pop("}", at)
        elif char == "$":
            return self._dollar(at)
        elif char == "&" and not self.in_text:
            self._column(at)
        elif char == "\\":
            raise self.refuse("the formula ends in a lone `\\`", at)
        elif char in "%#" and not self.in_text:
            raise self.refuse(f"`{char}` alone is a command to TeX; write `\\{char}`", at)
        elif char == "^" and not self.in_text and self.source[at + 1 : at + 2] in _HATS:
            raise self.refuse("`^^` is a command to TeX; write one superscript, in braces", at)
        elif not char.isascii() or (self.in_text and char in "%#&_^"):
            return self._shown(char)
        self.text_next = self.text_next and char.isspace()
        return char

    def _shown(self, char: str) -> str:
        if self.in_text:
            return f"{{{text(char)}}}"
        if char in MATHS:
            return MATHS[char] + " "
        return rf"\text{{{text(char)}}}" if char.strip() else " "

    def _dollar(self, at: int) -> str:
        if self.open and self.open[-1][0] == "$":
            self.open.pop()
        elif self.in_text:
            self.push("$", False, at)
        else:
            raise self.refuse("`$` stands inside a formula; close the formula first", at)
        return "$"

    def _column(self, at: int) -> None:
        if not self.open and self.display:
            self.columns = True
        elif not any(closing.startswith(r"\end") for closing, _ in self.open):
            raise self.refuse("`&` stands outside an aligned environment", at)


_BOX = re.compile(
    r"\\begin\{(\w+)\}(?:(?!\\begin\{).)*?\\end\{\1\}|\\left(?:(?!\\left\b).)*?\\right(?:\\?[^\\\s]|\\[a-zA-Z]+)|\{[^{}]*\}",
    re.DOTALL,
)
_BETWEEN = re.compile(r"(?<=,)\s*\\q?quad(?![a-zA-Z])\s*")
_ROWS = re.compile(r"\\\\|(?<!\\)&")  # has lines of its own
_MACRO = re.compile(r"\\(?:left|right|quad|d?frac|text|math[a-z]+)(?![a-zA-Z])|[{}_^\s]")
_NAMED = re.compile(r"\\[a-zA-Z]+|\\.")
LONGEST, PHONE = 44, 26  # signs of a line, and of a phone's


def masked(latex: str) -> str:
    """The formula with all that stands in groups, brackets and environments blotted out, each sign in its place."""
    while (found := _BOX.sub(lambda box: "x" * len(box[0]), latex)) != latex:
        latex = found
    return latex


def parts(latex: str) -> list[str]:
    r"""A formula's parts between commas and ``\quad``, each with its comma; of one in rows the whole."""
    found, at = [], 0
    bare = masked(latex)
    for gap in _BETWEEN.finditer(bare) if not in_rows(latex) else ():
        found.append(latex[at:gap.start()])
        at = gap.end()
    return [*found, latex[at:]]


def in_lines(latex: str, longest: int = LONGEST) -> str:
    """The formula as it is, or its parts in as few lines as hold them."""
    lines = rows(latex, longest)
    return latex if len(lines) == 1 else gathered(lines)


def rows(latex: str, longest: int) -> list[str]:
    """A formula's parts put together as long as they fit a line."""
    lines: list[str] = []
    for part in parts(latex):
        if lines and _wide(lines[-1]) + _wide(part) <= longest:
            lines[-1] += rf" \quad {part}"
        else:
            lines.append(part)
    return lines


def gathered(lines: Iterable[str]) -> str:
    """Lines below one another."""
    return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"


def in_rows(latex: str) -> bool:
    """Whether a formula has rows or columns of its own."""
    return bool(_ROWS.search(masked(latex)))


def is_wide(latex: str) -> bool:
    """More than a line of a phone holds."""
    return _wide(latex) > PHONE


def _wide(latex: str) -> int:
    """How many signs a formula has, about."""
    return len(_NAMED.sub("m", _MACRO.sub("", latex)))
