"""Tokens without layout: argmax joined, numbers and punctuation at the end cut, bars paired, brackets balanced."""

from __future__ import annotations

from derive.notation.errors import Source
from derive.notation.tree import Token
from derive.notation.vocabulary import CLOSING, SHOWN

_OPENING = {closing: opening for opening, closing in CLOSING.items()}
_DEEPEST = 40
_AROUND_QUAD = frozenset(
    "COMMA SEMI COLON TEXT REL IN AMP CR PLUS MINUS TIMES IFF AND BMOD FORALL MID BEGIN END".split()
)


def tidy(tokens: list[Token], source: Source) -> list[Token]:
    """What is left when the layout is gone."""
    tokens = _cut_end(_join_arg(tokens))
    tokens = _without_quads(tokens, source)
    tokens = _pair_bars(tokens, source)
    _balanced(tokens, source)
    return tokens


def _join_arg(tokens: list[Token]) -> list[Token]:
    out: list[Token] = []
    for token in tokens:
        if out and out[-1].type == "ARG" and token.type == "BIG" and token.text in ("max", "min", "median"):
            out[-1] = Token("BIG", f"arg{token.text}", out[-1].start, token.end)
        else:
            out.append(token)
    return out


def _cut_end(tokens: list[Token]) -> list[Token]:
    """Without ``, \\quad (2).`` at the end."""
    while tokens:
        kinds = [t.type for t in tokens[-4:]]
        if kinds[-1] in ("COMMA", "DOT", "SEMI", "QUAD"):
            tokens = tokens[:-1]
        elif kinds in (["QUAD", "LPAREN", "NUMBER", "RPAREN"], ["QUAD", "LPAREN", "STAR", "RPAREN"]):
            tokens = tokens[:-4]
        else:
            break
    return tokens


def _without_quads(tokens: list[Token], source: Source) -> list[Token]:
    out: list[Token] = []
    for n, token in enumerate(tokens):
        if token.type != "QUAD":
            out.append(token)
            continue
        around = {t.type for t in (*tokens[max(n - 1, 0) : n], *tokens[n + 1 : n + 2])}
        if n and not around & (_AROUND_QUAD | {"QUAD"}) and _depth(tokens[:n]) == 0:
            if not (_relates(out) and _relates(tokens[n:])):
                raise source.error(token.start, "a wide space parts two formulas here; put a comma between them")
            out.append(Token("COMMA", ",", token.start, token.end))
    return out


def _relates(tokens: list[Token]) -> bool:
    return any(t.type in ("REL", "IN") for t in tokens)


def _depth(tokens: list[Token]) -> int:
    return sum((t.type in CLOSING) - (t.type in _OPENING) for t in tokens)


def _pair_bars(tokens: list[Token], source: Source) -> list[Token]:
    """``|`` becomes LBAR, RBAR, or MID where one stands alone between its brackets; ‖ LNORM or RNORM."""
    out = _pair_norms(tokens)
    open_bars: list[list[int]] = [[]]

    def close() -> None:
        bars = open_bars.pop()
        if len(bars) > 1 and len(bars) % 2:
            raise source.error(tokens[bars[-1]].start, r"these bars do not pair; write \left| … \right|, or \mid")
        for place, n in enumerate(bars):
            kind = "MID" if len(bars) == 1 else "RBAR" if place % 2 else "LBAR"
            out[n] = Token(kind, "|", tokens[n].start, tokens[n].end)

    for n, token in enumerate(tokens):
        if token.type == "BAR":
            open_bars[-1].append(n)
        elif out[n].type in CLOSING:
            open_bars.append([])
        elif out[n].type in _OPENING and len(open_bars) > 1:
            close()
    while open_bars:
        close()
    return out


def _pair_norms(tokens: list[Token]) -> list[Token]:
    """‖ opens and closes by turns."""
    out, opened = [], False
    for token in tokens:
        if token.type == "NBAR":
            out.append(Token("RNORM" if opened else "LNORM", "‖", token.start, token.end))
            opened = not opened
        else:
            out.append(token)
    return out


def _balanced(tokens: list[Token], source: Source) -> None:
    stack: list[Token] = []
    for token in tokens:
        if token.type in CLOSING:
            stack.append(token)
            if len(stack) > _DEEPEST:
                raise source.error(token.start, f"more than {_DEEPEST} brackets inside each other")
        elif token.type in _OPENING:
            shown = source.latex[token.start : token.end]
            if not stack:
                raise source.error(token.start, f"`{shown}` closes a bracket that was not opened")
            opened = stack.pop()
            if CLOSING[opened.type] != token.type or (token.type == "END" and opened.text != token.text):
                raise source.error(token.start, f"`{shown}` does not close `{SHOWN[opened.type]}`, "
                                                f"opened at column {opened.start + 1}")
    if stack:
        raise source.error(stack[-1].start, f"`{SHOWN[stack[-1].type]}` is not closed")
