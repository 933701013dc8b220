"""The formulas and words of a request that stand for themselves: ∂L/∂W, L(w), f′(x), conditions, asides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.notation import tree as tr
from derive.notation.rules.kinds import Said, is_bounded
from derive.notation.rules.trees import called, letter, sides, statements
from derive.notation.symbols import name_of
from derive.question.letters.naming import bare_letters
from derive.question.sentences.tokens import Token, orders

DERIVED = re.compile(r"\s*d\s*(?P<letter>\\?[A-Za-z]+(?:_\{?\w+\}?)?)\s*")
_CHANGED = re.compile(r"\\partial\s*\^|\\nabla\s*\^|\||\\[lr]?vert|\\bigg?|\\mid|\\frac\s*\{\s*d\s*\^", re.IGNORECASE)
_LETTER = r"(?:\\\w+\s*)?\{?\s*\w*\}?(?:_\{?\w+\}?)?"
_PRIMED = re.compile(rf"{_LETTER}\s*'\s*(?:\(\s*{_LETTER}\s*\))?[.,]?")
_TIMED = re.compile(rf"{_LETTER}\s*\(\s*[nkt]\s*[-+]\s*1\s*\)[.,]?")
_RAISED = re.compile(rf"{_LETTER}\s*\^\s*\{{?\s*[ijklmt]\s*\}}?[.,]?")
_NONZERO = re.compile(r"^[^=<>]*(?:\\neq?|\\not\s*=)\s*0[.,]?\s*$")
_POSITIVE = re.compile(r"\\(?:alpha|beta|gamma|epsilon|varepsilon|lambda|tau|kappa|delta)\s*(?:>|\\geq?)\s*0")
_INDICES = frozenset("abcdhijklmnpqrtuv")
_BETWEEN = frozenset("the its a an of and , stored output outputs input inputs only loss its activations quantities "
                     "normalised activation upstream incoming gradient gradients message messages given forward "
                     "pass layer at itself predictions prediction targets target labels by ( )".split())
_ENDS = (",", "and", ":")
_SETS = frozenset("assume suppose let take treat treating use using set setting ignore ignoring keep keeping "
                  "hold holding".split())
_SIGNS = {r"\neq": "≠", r"\ne": "≠", r"\not=": "≠", r"\leqslant": "≤", r"\leq": "≤", r"\le": "≤",
          r"\geqslant": "≥", r"\geq": "≥", r"\ge": "≥"}
_SIGN = re.compile("|".join(re.escape(s) + "(?![a-z])" for s in _SIGNS) + "|[=<>]")
_WHOLE = ({"=", "≠"}, {"<", "≥"}, {">", "≤"}, {"<", ">"})


def derivative(token: Token) -> Token | None:
    """∂L/∂W, and nothing that makes another thing of it: a power, a bar with a point, a sum."""
    if token.kind != "formula" or _CHANGED.search(token.formula.latex):
        return None
    if token.said is Said.DERIVATIVE:
        more = any(tr.is_token(tr.base_of(i), "PLUS", "MINUS", "BIG") for i in token.formula.tree or ())
        return None if more else token
    return token if token.said is Said.GRADIENT or DERIVED.fullmatch(token.formula.latex) else None


def called_letter(token: Token) -> Token | None:
    """L(W, b): a letter of letters, which stands for the letter."""
    tree = token.formula.tree if token.kind == "formula" and token.said is Said.VALUE else None
    own = called(tree, 0) if tree and len(tree) == 2 and letter(tree[0]) else None
    return token if own is not None and own.items and bare_letters(token.formula.part(own.items, False)) else None


def head(token: Token) -> str | None:
    """L of L, of L(w) and of L = …; None where no letter stands in front."""
    tree = token.formula.tree or ()
    return token.letters[0] if token.letters else letter(tr.base_of(tree[0])) if tree else None


def arguments(token: Token) -> tuple[str, ...]:
    """The names w and b in L(w, b)."""
    own = called(token.formula.tree, 0) if token.formula.tree and len(token.formula.tree) == 2 else None
    return tuple(map(name_of, bare_letters(token.formula.part(own.items, False)))) if own and own.items else ()


def timed(token: Token) -> Token | None:
    """s(n − 1): a letter at another time."""
    return token if token.kind == "formula" and _TIMED.fullmatch(token.formula.latex.strip()) else None


def raised(token: Token) -> Token | None:
    """k^i: a letter with its index above."""
    return token if token.kind == "formula" and _RAISED.fullmatch(token.formula.latex.strip()) else None


def nonzero(token: Token) -> Token | None:
    """w ≠ 0: what is asked for wherever it exists."""
    return token if token.kind == "formula" and _NONZERO.search(token.formula.latex) else None


def primed(token: Token) -> Token | None:
    """f′ or f′(x)."""
    return token if token.kind == "formula" and _PRIMED.fullmatch(token.formula.latex.strip()) else None


def facts(token: Token) -> Token | None:
    """What only says which numbers there are: x ∈ R^n, 0 ≤ k < n; a constant ε > 0."""
    if token.kind != "formula" or not token.formula.tree:
        return None
    index = letter(tr.base_of(token.formula.tree[0])) or token.formula.latex.strip()[-1:]
    bounded = token.said is Said.RANGE and is_bounded(token.formula.tree) and index in _INDICES
    positive = _POSITIVE.fullmatch(token.formula.latex.strip())
    return token if bounded or positive or token.said is Said.DECLARATION else None


def definition(token: Token) -> Token | None:
    """y = Wx + b; W = I is a condition."""
    if token.kind != "formula" or not token.equates:
        return None
    runs = sides(statements(token.formula.tree or ())[0])
    plain = len(runs[-1]) == 1 and letter(runs[-1][0]) is not None
    return token if not plain or token.said is Said.FUNCTION else None


def size(token: Token) -> str | None:
    """3 × 3 as one formula."""
    return token.text if token.kind == "size" else None


def complementary(one: Token, other: Token) -> tuple[Token, Token] | None:
    """Two conditions of which one holds wherever the other does not: both together ask for what holds anywhere."""
    a, b = _sides(one), _sides(other)
    if a is None or b is None:
        return None
    same = (a[0], a[2]) in ((b[0], b[2]), (b[2], b[0])) and {a[1], b[1]} in _WHOLE
    counted = a[0][:1] in _INDICES and a[0] == b[0] and a[1:] == ("=", "0") and b[1:] in ((">", "0"), ("≥", "1"))
    return (one, other) if same or counted else None


def _sides(token: Token) -> tuple[str, str, str] | None:
    latex = re.sub(r"[.,]|\\[ ,;]", "", token.formula.latex)
    signs = list(_SIGN.finditer(latex))
    if len(signs) != 1:
        return None
    below, above = (re.sub(r"\s|(?<=_)\{(?=.\})|(?<=_\{.)\}", "", s)
                    for s in (latex[: signs[0].start()], latex[signs[0].end() :]))
    return below, _SIGNS.get(signs[0][0], signs[0][0]), above


def rest(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words up to a comma, a colon, an “and” or the end, that ask for nothing."""
    for n in range(at, len(tokens) + 1):
        if n == len(tokens) or tokens[n].text in _ENDS:
            yield n, ""
        sets = at < n < len(tokens) and tokens[n].text in _SETS and tokens[n - 1].text in _ENDS
        if sets or (n < len(tokens) and orders(tokens, n)):
            return


def rest_of_words(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The same without an equation for a derivative, or one with respect to something: that is what is asked for."""
    for end, value in rest(tokens, at):
        if any(t.text == "respect" or t.kind == "formula" and t.said is Said.GRADIENT for t in tokens[at:end]):
            return
        yield end, value


def rest_of_letters(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Letters and formulas, and no derivative, with nothing but plain words between."""
    n = at
    while n < len(tokens) and (tokens[n].text in _BETWEEN or tokens[n].kind == "formula") and not derivative(tokens[n]):
        n += 1
        if n == len(tokens) or tokens[n].text in (",", "and", ")") or tokens[n - 1].kind == "formula":
            yield n, ""
