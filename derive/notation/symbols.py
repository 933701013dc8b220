"""The symbol table: what each letter stands for, and its name in ASCII and in LaTeX: ``y_hat`` and ``\\hat{y}``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from enum import StrEnum
from functools import lru_cache

from derive.records import dataclass


class Kind(StrEnum):
    TENSOR = "tensor"  # x, f, delta_f; rank = len(axes); rank 0 is a scalar
    SET = "set"  # Ω; arity = len(axes), 0 for a plain set
    INDEX = "index"  # i, j, k, l
    SIZE = "size"  # n, H, W: extents known from arrays' shapes
    FUNCTION = "function"  # σ of σ(s) = …: of numbers, one parameter per axis


@dataclass(frozen=True)
class Symbol:
    """One symbol: ASCII ``name`` (``y_hat``), its ``latex`` (``\\hat{y}``), kind and axes.

    ``axes`` names the index letters that usually stand in each place: ``("i", "j")``
    for x_{ij}, ``("k", "l")`` for f_{kl} and for Ω(k, l).  ``members`` names, for a
    set, the letters of its elements: ``("i", "j")`` for Ω(k, l) ∋ (i, j); for a number
    that is written f(x), its argument.
    ``sizes`` holds, for a tensor, an extent per axis: a number or a size's name.
    ``above`` says how the first axis is written where it stands in a superscript:
    ``"i"`` for x^i, ``"(i)"`` for x^{(i)}.  ``unwritten`` counts the last axes that
    may be left out: 1 for the vectors w_k of w_k^T x; ``row``: a vector that is one,
    as y of y = x^T W.  For a function, ``axes`` names its parameters.
    """

    name: str
    latex: str
    kind: Kind
    axes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    sizes: tuple[int | str, ...] = ()
    above: str = ""
    unwritten: int = 0
    row: bool = False


@dataclass(frozen=True)
class SymbolTable:
    """Symbols by name and by LaTeX; stars by the letters of the maximiser they belong to.

    ``stars`` maps an index letter to the free letters its star depends on:
    ``{"i": ("k", "l"), "j": ("k", "l")}`` for (i^*, j^*) = argmax over Ω(k, l).
    """

    symbols: tuple[Symbol, ...]
    stars: tuple[tuple[str, tuple[str, ...]], ...] = ()
    vectors: bool = False  # whole tensors in equations are vectors and matrices, read into indices
    rows: bool = False  # vectors are rows: x W
    softmax: str = ""  # what the softmax of a matrix is taken of: its rows or its columns
    pointers: frozenset[str] = frozenset()  # letters whose entries are indices: the label y of p_y
    open: tuple[tuple[str, tuple[str, ...]], ...] = ()  # letters that two shapes fit, and which
    ln: bool = False  # the logarithm is written so
    decimals: bool = False  # numbers are written as decimals where these end
    language: str = "en"  # of the words in formulas, and of those around them
    _by_name: dict[str, Symbol] = field(init=False, repr=False, compare=False, default_factory=dict)
    _by_latex: dict[str, Symbol] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for symbol in self.symbols:
            self._by_name[symbol.name] = symbol
            self._by_latex[symbol.latex] = symbol

    def named(self, name: str) -> Symbol | None:
        return self._by_name.get(name)

    def written(self, latex: str) -> Symbol | None:
        return self._by_latex.get(latex)

    def of_kind(self, kind: Kind) -> tuple[Symbol, ...]:
        return tuple(s for s in self.symbols if s.kind is kind)

    def extended(self, symbols: Iterable[Symbol], stars: Iterable[tuple[str, tuple[str, ...]]] = ()) -> SymbolTable:
        """The table with more symbols; a symbol of the same name is replaced."""
        new = tuple(symbols)
        names = {s.name for s in new}
        kept = (s for s in self.symbols if s.name not in names)
        return replace(self, symbols=(*kept, *new), stars=(*self.stars, *stars))


GREEK = frozenset(
    """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi varpi rho varrho
    sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    ell hbar imath jmath""".split()
)
UNICODE_LETTERS = dict(
    zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩℓ",
        """alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi
        chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell""".split(), strict=True)
)
ACCENTS = {"hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "bar", "overline": "bar",
           "dot": "dot", "ddot": "ddot", "check": "check", "breve": "breve"}
ALPHABETS = {"mathcal": "cal", "mathscr": "scr", "mathfrak": "frak", "mathbb": "bb"}
_COMMAND_OF = {"cal": "mathcal", "scr": "mathscr", "frak": "mathfrak", "bb": "mathbb"}

_SIGNS = {"^+": "_plus", "^-": "_minus", "_+": "_plus", "_-": "_minus"}
_SQUARE = re.compile(r"^(.+)\^2(?:_(.+))?$")
_LAYER = re.compile(r"^([^^]+)\^([(\[][^)\]]*[)\]]|[+-])$")
_WORD_ABOVE = re.compile(r"^([^^]+)\^<([A-Za-z]+)>$")


def latex_of(name: str) -> str:
    """The LaTeX of a name: ``y_hat`` → ``\\hat{y}``, ``delta_f`` → ``\\delta_f``, ``x_in`` → ``x_{\\text{in}}``."""
    if match := _LAYER.match(name):
        inner = re.sub(r"[A-Za-z]{2,}", lambda m: latex_of(m[0]), match[2])
        return f"{latex_of(match[1])}^{{{inner}}}"
    if match := _WORD_ABOVE.match(name):
        return rf"{latex_of(match[1])}^{{\text{{{match[2]}}}}}"
    if match := _SQUARE.match(name):
        latex = latex_of(match[1]) + "^2"
        return latex if match[2] is None else _subscripted(latex, match[2])
    if name.endswith("2") and _is_letter(name[:-1]):
        return latex_of(name[:-1]) + "^2"
    base, *marks = name.split("_")
    latex = "\\" + base if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    labels = []
    for mark in marks:
        if mark in _COMMAND_OF:
            latex = f"\\{_COMMAND_OF[mark]}{{{latex}}}"
        elif mark == "prime":
            latex = f"{latex}'"
        elif mark in ACCENTS:
            latex = f"\\{mark}{{{latex}}}"
        else:
            labels.append(mark)
    if not labels:
        return latex
    return _subscripted(latex, "_".join(labels))


def labelled(base: str, label: str) -> str:
    """The LaTeX of a symbol with a label: ``delta`` and ``y_hat`` → ``\\delta_{\\hat{y}}``."""
    return _subscripted(latex_of(base), label)


def _subscripted(latex: str, label: str) -> str:
    if len(label) == 1:
        return f"{latex}_{label}"
    symbol = _is_letter(label) or _LAYER.match(label)
    inner = latex_of(label) if symbol else rf"\text{{{label}}}"
    return f"{latex}_{{{inner}}}"


def identifier(name: str) -> str:
    """The name as Python can write it: ``h^(l-1)`` is ``h_l_1``, ``sigma^2`` is ``sigma2``, ``s^+`` is ``s_plus``."""
    if name[-2:] in _SIGNS:
        return identifier(name[:-2]) + _SIGNS[name[-2:]]
    return re.sub(r"\W+", "_", name.replace("^2", "2")).strip("_")


def _is_letter(name: str) -> bool:
    base, *marks = name.split("_")
    known = all(mark in ACCENTS or mark in _COMMAND_OF or mark == "prime" for mark in marks)
    return known and (base in GREEK or (len(base) == 1 and base.isalpha()))


_CAPITALS = frozenset("Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega Upsilon".split())


def is_capital(name: str) -> bool:
    """W, Σ, W^{(1)}, and W_a with a label."""
    base = layered(name).partition("_")[0]
    return base in _CAPITALS or (len(base) == 1 and base.isupper())


def layered(name: str) -> str:
    """W of W^{(1)} and of W_1, s of s^+."""
    return re.sub(r"\^[(\[<].*|\^[+-]$|_\d+$", "", name)


_SUBSCRIPTED = re.compile(r"^(.*?)_(?:\{(.*)\}|(.|\\[A-Za-z]+))$", re.DOTALL)
_RAISED = re.compile(r"^([^_^]*)\^\{([(\[][^)\]]*[)\]]|[+-])\}$")
_RAISED_WORD = re.compile(r"^([^_^]*)\^\{\\(?:text|mathrm|textrm|mathit)\{([A-Za-z]+)\}\}$")
_ACCENTED = re.compile(r"^\\([A-Za-z]+) *\{(.*)\}$", re.DOTALL)
_FACED = re.compile(r"^\\(?:mathbf|boldsymbol|bm|mathrm|mathit|mathsf|mathtt)\s*(\\[A-Za-z]+|(?<=\s)[A-Za-z])$")
_TEXT = re.compile(r"^\\(?:text|mathrm|textrm|mathit|operatorname|mbox)\{(.*)\}$")


def split_label(latex: str) -> tuple[str, str | None]:
    """``\\delta_f`` or ``\\delta_{f}`` → (``\\delta``, ``f``); (latex, None) where there is no label."""
    match = _SUBSCRIPTED.match(latex)
    return (latex, None) if match is None else (match[1], match[2] if match[2] is not None else match[3])


@lru_cache(maxsize=4096)
def name_of(latex: str) -> str:
    """The ASCII name of a symbol's LaTeX; the inverse of :func:`latex_of`."""
    latex = latex.strip()
    if match := _RAISED.match(latex):
        return f"{name_of(match[1])}^{match[2].replace(chr(92), '')}"
    if match := _RAISED_WORD.match(latex):
        return f"{name_of(match[1])}^<{match[2]}>"
    base, label = split_label(latex)
    if label is not None:
        return f"{name_of(base)}_{name_of(label)}"
    if latex.endswith("'"):
        return name_of(latex[:-1]) + "_prime"
    if latex.endswith("^2"):
        return name_of(latex[:-2]) + "^2"
    if text := _TEXT.match(latex):
        return text[1].strip().replace(" ", "_")
    if match := _FACED.match(latex):
        return name_of(match[1])  # \mathbf x, \boldsymbol\beta
    if match := _ACCENTED.match(latex):
        command, inner = match.groups()
        if command in ACCENTS:
            return f"{name_of(inner)}_{ACCENTS[command]}"
        if command in ALPHABETS:
            return f"{name_of(inner)}_{ALPHABETS[command]}"
        return name_of(inner)  # \mathbf{x}, \boldsymbol{x}: weight is layout
    return UNICODE_LETTERS.get(latex, latex.removeprefix("\\"))


@lru_cache(maxsize=256)
def lexicon(table: SymbolTable) -> dict[str, Symbol]:
    """The table's symbols by the name that their LaTeX reads as (a symbol ``rival`` written ``m`` is at ``m``)."""
    return {name_of(s.latex): s for s in table.symbols}


def message(of: Symbol, table: SymbolTable) -> Symbol:
    """The symbol of δ_x, by the letter that the card gives it."""
    known = table.named(f"delta_{of.name}")
    latex = known.latex if known else f"{gradient(table)}_{of.latex if len(of.latex) == 1 else f'{{{of.latex}}}'}"
    return Symbol(f"delta_{of.name}", latex, Kind.TENSOR, of.axes, (), of.sizes, unwritten=of.unwritten)


def is_own(symbol: Symbol | None) -> bool:
    """A gradient that has a letter of its own: g, ``dO`` or ``\\bar y``, and not δ_y."""
    return symbol is not None and symbol.name.startswith("delta_") and split_label(symbol.latex)[1] is None


def gradient(table: SymbolTable) -> str:
    """δ; beside a δ that is something else, as a threshold, another letter."""
    if all(s.latex != r"\delta" for s in table.symbols):
        return r"\delta"
    bases = {split_label(s.latex)[0]: s for s in table.symbols}
    taken = {*bases, *(a for s in table.symbols for a in (*s.axes, *map(str, s.sizes)))}
    known = (base for base, s in bases.items() if s.name.startswith("delta_"))
    return next(known, None) or next(letter for letter in "gGDUVvq" if letter not in taken)
