"""Brackets and gaps between written pieces."""

from __future__ import annotations

_TALL = (r"\frac", r"\sum", r"\prod", r"\begin", r"\max_", r"\min_")


def tall(inside: str) -> bool:
    """Whether brackets around this should grow."""
    return any(sign in inside for sign in _TALL)


def parenthesised(inside: str) -> str:
    return rf"\left({inside}\right)" if tall(inside) else f"({inside})"


def juxtaposed(pieces: list[str]) -> str:
    """Pieces side by side, with a space where a command would swallow the next letter."""
    out = ""
    for piece in pieces:
        space = out and piece[:1].isalpha() and out.rsplit("\\", 1)[-1].isalpha() and "\\" in out
        out += (" " if space else "") + piece
    return out
