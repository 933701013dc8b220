"""Characters of a question's text as LaTeX: what T1 has stays, mathematical signs become macros."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from pylatex.utils import NoEscape, escape_latex

from derive.errors import RenderError

# Signs that are mathematics wherever they stand.
_SIGNS = dict(
    zip(
        "×÷±∓·⋅∗∘•≤≥≠≈≡∼≃≅∝≪≫→←↔↦⇒⇐⇔⟹⟸⟺↑↓↗↘∈∉∋⊂⊆⊃⊇∪∩∖∅∀∃¬∧∨∑∏∫∂∇∞√°′″⌊⌋⌈⌉⟨⟩‖∣⊙⊗⊕⊤⊥∠△…⋯⋮⋱ℝℕℤℚℂ𝟙𝔼ℙℓℒ−✓✔✗✘★☆■□▪▶",
        r"\times \div \pm \mp \cdot \cdot \ast \circ \bullet \leq \geq \neq \approx \equiv \sim \simeq \cong \propto \ll "
        r"\gg \rightarrow \leftarrow \leftrightarrow \mapsto \Rightarrow \Leftarrow \Leftrightarrow \Longrightarrow "
        r"\Longleftarrow \Longleftrightarrow \uparrow \downarrow \nearrow \searrow \in \notin \ni \subset \subseteq "
        r"\supset \supseteq \cup \cap \setminus \varnothing \forall \exists \neg \wedge \vee \sum \prod \int \partial "
        r"\nabla \infty \surd {}^{\circ} {}^{\prime} {}^{\prime\prime} \lfloor \rfloor \lceil \rceil \langle \rangle \| "
        r"\mid \odot \otimes \oplus \top \perp \angle \triangle \ldots \cdots \vdots \ddots \mathbb{R} \mathbb{N} "
        r"\mathbb{Z} \mathbb{Q} \mathbb{C} \mathbb{1} \mathbb{E} \mathbb{P} \ell \mathcal{L} - \checkmark \checkmark "
        r"\times \times \star \star \blacksquare \square \blacksquare \triangleright".split(),
        strict=True,
    )
)
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩϵϑϕϱςµ",
        r"\alpha \beta \gamma \delta \varepsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho \sigma \tau "
        r"\upsilon \varphi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega "
        r"\epsilon \vartheta \phi \varrho \varsigma \mu".split(),
        strict=True,
    )
)
_SCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᵀ", "^0 ^1 ^2 ^3 ^4 ^5 ^6 ^7 ^8 ^9 ^+ ^- ^n ^i ^{\\top}".split(), strict=True))
_SCRIPTS |= dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₗₙₘ", "_0 _1 _2 _3 _4 _5 _6 _7 _8 _9 _+ _- _i _j _k _l _n _m".split(), strict=True))
MATHS = _SIGNS | _GREEK | {c: "{}" + script for c, script in _SCRIPTS.items()}

# Text signs; a straight quotation mark would be set as a closing one.
_TEXT = {
    "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": r"\,", "\N{THIN SPACE}": r"\,", "…": r"\ldots{}", "·": r"\textperiodcentered{}",
    '"': r"\textquotedbl{}", "€": r"\texteuro{}", "•": r"\textbullet{}", "°": r"\textdegree{}", "‑": "-", "‐": "-",
    "‒": "--", "―": "---", "′": r"\textquotesingle{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
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
        return f"${MATHS[char]}$"
    return _missing(char)


def in_t1(char: str) -> bool:
    """A Latin letter of the T1 encoding: Western and Central European languages."""
    return char.isalpha() and "\u00c0" <= char <= "\u017e" and char not in "ĦħĿŀŦŧĸŉĲĳŒœ" or char in "ŒœĲĳȘșȚț"


def _missing(char: str) -> str:
    kind = unicodedata.category(char)
    if kind in ("Cc", "Cf", "Mn", "Me"):  # joiners, variation selectors, byte order marks: nothing to see
        return ""
    if kind.startswith("Z"):
        return " "
    if kind.startswith("L"):
        name = unicodedata.name(char, "without a name")
        raise RenderError(f"the LaTeX sheet cannot set the letter `{char}` (U+{ord(char):04X}, {name}); use `--format md`")
    return rf"\texttt{{[U+{ord(char):04X}]}}"
