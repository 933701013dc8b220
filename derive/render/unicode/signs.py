"""Which Unicode sign a macro stands for, and how a sign behaves in a row."""

from __future__ import annotations

import re
import unicodedata

from derive.render.characters import MATHS

_OTHER = {
    "le": "≤", "ge": "≥", "ne": "≠", "leqslant": "≤", "geqslant": "≥", "to": "→", "gets": "←", "iff": "⟺",
    "implies": "⟹", "impliedby": "⟸", "lbrace": "{", "rbrace": "}", "{": "{", "}": "}", "lbrack": "[", "rbrack": "]",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "|": "‖", "lVert": "‖", "rVert": "‖", "Vert": "‖",
    "dots": "…", "dotsc": "…", "dotsb": "⋯", "colon": ":", "coloneqq": "≔", "prime": "′", "emptyset": "∅", "lnot": "¬",
    "land": "∧", "lor": "∨", "ast": "*", "top": "⊤", "backslash": "\\", "sim": "∼", "cdotp": "·", "bullet": "•",
    "rightarrow": "→", "longrightarrow": "⟶", "Rightarrow": "⇒", "mapsto": "↦", "longmapsto": "⟼", "triangleq": "≜",
    "bigcup": "⋃", "bigcap": "⋂", "coprod": "∐", "iint": "∬", "oint": "∮", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ", "wp": "℘",
    "%": "%", "#": "#", "&": "&", "_": "_", "$": "$", "omicron": "ο", "varnothing": "∅", "square": "□", "notin": "∉",
    "atop": ",",
}  # fmt: skip
SIGNS = {macro[1:]: sign for sign, macro in reversed(MATHS.items()) if re.fullmatch(r"\\[A-Za-z]+", macro)} | _OTHER
FUNCTIONS = {name: name for name in (
    "max min sup inf lim arg argmax argmin det dim exp log ln lg sin cos tan cot sec csc arcsin arccos arctan sinh cosh"
    " tanh coth gcd Pr deg ker hom limsup liminf mod bmod"
).split()}  # fmt: skip
WITH_LIMITS = frozenset("sum prod coprod bigcup bigcap max min sup inf lim limsup liminf argmax argmin".split())
SPACES = {",": "", "!": "", ":": " ", ";": " ", " ": " ", ">": " ", "quad": "   ", "qquad": "     ", "enspace": "  ",
          "thinspace": "", "space": " ", "nobreakspace": " ", "hfill": "   ", "/": ""}  # fmt: skip
ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304",
           "overline": "\u0304", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7", "check": "\u030c",
           "acute": "\u0301", "grave": "\u0300", "breve": "\u0306", "underline": "\u0332"}  # fmt: skip
# they change how a formula looks, not what it says
IGNORED = frozenset(
    "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits displaylimits big Big bigg Bigg bigl Bigl"
    " biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm middle notag nonumber allowbreak nobreak mathstrut strut"
    " hline boxed underbrace overbrace smash mathop mathbin mathrel mathord mathopen mathclose mathinner boldsymbol"
    " mathbf bm pmb mathit mathnormal mathsf mathtt mathclap bf it rm sf tt cal - /".split()
)
_ALPHABETS = {"mathbb": "DOUBLE-STRUCK", "mathds": "DOUBLE-STRUCK", "mathcal": "SCRIPT", "mathscr": "SCRIPT",
              "mathfrak": "FRAKTUR"}  # fmt: skip
_BINARY = frozenset("+−±∓·×÷∗∘∖∪∩⊙⊗⊕∧∨")
_RELATIONS = frozenset("=<>≤≥≠≈≡∼≃≅∝≪≫→←↔↦⟶⟼⇒⇐⇔⟹⟸⟺∈∉∋⊂⊆⊃⊇:≔≜∣")
_KINDS = {"bin": _BINARY, "rel": _RELATIONS, "punct": ",;", "open": "([{⌊⌈⟨", "close": ")]}⌋⌉⟩!", "prefix": "∂∇¬√",
          "slash": "/", "op": "∑∏∫⋃⋂∐"}  # fmt: skip
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_RAISED = str.maketrans("0123456789−+⊤T′*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᵀ′*")


def kind_of(sign: str) -> str:
    """How a sign behaves in a row: see :class:`derive.render.unicode.spacing.Item`."""
    return next((kind for kind, signs in _KINDS.items() if sign in signs), "ord")


def letter(alphabet: str, character: str) -> str:
    """A letter of an alphabet such as ``mathbb``; the letter itself where Unicode has no such one."""
    style = _ALPHABETS.get(alphabet, "")
    case = "CAPITAL" if character.isupper() else "SMALL"
    name = f"{style} {case} {character.upper()}" if character.isalpha() else f"{style} DIGIT {_digit(character)}"
    for full in (name, f"MATHEMATICAL {name}", name.replace("FRAKTUR", "BLACK-LETTER")):
        try:
            return unicodedata.lookup(full)
        except KeyError:
            continue
    return character


def _digit(character: str) -> str:
    return unicodedata.name(character, "").removeprefix("DIGIT ")


def marked(written: str, mark: str) -> str:
    """Each character under a combining mark, as one character where Unicode has it: ŷ."""
    return unicodedata.normalize("NFC", "".join(c + mark for c in written))


def is_alphabet(name: str) -> bool:
    return name in _ALPHABETS


def subscript(written: str) -> str:
    """``₁``, ``_kl``, ``_{2k+1,2l}``."""
    if written.isascii() and written.isdigit():
        return written.translate(_DIGITS)
    return f"_{written}" if re.fullmatch(r"[^\W_]+[*′]*|(?:\w[*′])+", written) else f"_{{{written}}}"


def superscript(written: str) -> str:
    """``²``, ``*``, ``ᵀ``, ``^{−s_k}``."""
    if re.fullmatch(r"[−+]?\d+|[⊤T]|[*′]+", written):
        return written.translate(_RAISED)
    return f"^{written}" if re.fullmatch(r"[^\W\d_]|\([^\W_]\)", written) else f"^{{{written}}}"
