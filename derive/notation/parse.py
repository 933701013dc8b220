"""Tokens → flat tree, by the LALR grammar in grammar.lark."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from derive.notation.errors import Source
from derive.notation.lalr import UnexpectedToken, run
from derive.notation.tokens import tokenise
from derive.notation.tree import Command, Env, Group, Item, Scripted, Token, is_token
from derive.notation.vocabulary import CLOSING

# A token's terminal; what is not named is an OP.
_TERMINALS = {
    **dict.fromkeys("NAME NUMBER BIG FN IND TEXT INFTY CONV DOTS PARTIAL NABLA".split(), "ATOM"),
    **dict.fromkeys(("PLUS", "MINUS", "STAR", "TOP"), "MARK"),
    **dict.fromkeys(CLOSING, "OPEN"),
    **dict.fromkeys(CLOSING.values(), "CLOSE"),
    "SQRT": "ONE", "FRAC": "TWO", "UNDER": "TWO",
    **{name: name for name in ("LBRACE", "SUB", "SUP", "PRIME")},
}


def _terminal(token: Token) -> str:
    return _TERMINALS.get(token.type, "OP")


def _group(parts: list[Any]) -> Group | Env:
    opening, *items, closing = parts
    if opening.type == "BEGIN":
        return Env(opening.text, tuple(items), opening.start, closing.end)
    return Group(opening.type, tuple(items), opening.start, closing.end)


def _command(parts: list[Any]) -> Command:
    head, *arguments = parts
    return Command(head.type, tuple(map(_items, arguments)), head.start, arguments[-1].end)


def _scripted(parts: list[Any]) -> Item:
    base, *scripts = parts
    subs = tuple(_items(s[1]) for s in scripts if s[0].type == "SUB")
    sups = [_items(s[1]) for s in scripts if s[0].type == "SUP"]
    base = _named(base) if subs and not is_token(subs[0][0], "PLUS") else base
    if subs or not is_token(base, "NAME") or base.text != "e":  # e^{(a)} is a power
        base, sups = _symbol(base, sups)
    primed = [s for s in sups if s and all(isinstance(i, Token) and i.type == "PRIME" for i in s)]
    primes = sum(s[0].type == "PRIME" for s in scripts) + sum(map(len, primed))
    marks = tuple(s for s in sups if s not in primed)
    if not (subs or marks or primes):
        return base
    return Scripted(base, subs, marks, primes, base.start, scripts[-1][-1].end)


# The nodes of tree.py that the grammar's rules build.
_BUILD: dict[str, Callable[[list[Any]], Any]] = {
    "start": tuple, "script": list, "group": _group, "command": _command, "scripted": _scripted,
}


def _items(argument: Item) -> tuple[Item, ...]:
    return argument.items if isinstance(argument, Group) and argument.bracket == "LBRACE" else (argument,)


_WORD = re.compile(r"[A-Za-z]{2,}")
_LAYERS = (["NAME"], ["NUMBER"], ["NAME", "PLUS", "NUMBER"], ["NAME", "MINUS", "NUMBER"])


def _named(base: Item) -> Item:
    """H of [H]_{ij}."""
    alone = isinstance(base, Group) and base.bracket == "LBRACK" and len(base.items) == 1
    return base.items[0] if alone and is_token(base.items[0], "NAME") else base  # type: ignore[union-attr]


def _symbol(base: Item, sups: list[tuple[Item, ...]]) -> tuple[Item, list[tuple[Item, ...]]]:
    r"""A word with scripts is a symbol; so are h^{(l-1)}, c^{\text{old}}, s^+ and s^- with these superscripts."""
    if is_token(base, "TEXT") and base.text.strip().isalpha():
        base = Token("NAME", base.text.strip(), base.start, base.end)
    for sup in sups:
        group = sup[0] if len(sup) == 1 else None
        if is_token(base, "NAME") and is_token(group, "PLUS", "MINUS"):  # s^+ and s^-
            sign = "+" if group.type == "PLUS" else "-"
            return Token("NAME", f"{base.text}^{sign}", base.start, base.end), [s for s in sups if s is not sup]
        if is_token(base, "NAME") and is_token(group, "TEXT") and _WORD.fullmatch(group.text.strip()):
            text = f"{base.text}^<{group.text.strip()}>"
            return Token("NAME", text, base.start, base.end), [s for s in sups if s is not sup]
        if is_token(base, "NAME") and isinstance(group, Group) and group.bracket in ("LPAREN", "LBRACK"):
            inner = [i for i in group.items if isinstance(i, Token)]
            if len(inner) == len(group.items) and [i.type for i in inner] in _LAYERS:
                opening, closing = ("(", ")") if group.bracket == "LPAREN" else ("[", "]")
                text = f"{base.text}^{opening}{''.join(i.text for i in inner)}{closing}"
                return Token("NAME", text, base.start, base.end), [s for s in sups if s is not sup]
    return base, sups


def parse(source: Source) -> tuple[Item, ...]:
    """The flat tree of a formula.

    Raises :class:`NotationError` where tokens do not fit together.
    """
    try:
        tree: tuple[Item, ...] = run([(_terminal(token), token) for token in tokenise(source)], _BUILD)
    except UnexpectedToken as error:
        found = error.token
        if found is None:
            raise source.error(len(source.latex), "the formula ends too early") from None
        shown = source.latex[found.start : found.end]
        what = "has nothing to stand on" if found.type in ("SUB", "SUP", "PRIME") else "does not belong here"
        raise source.error(found.start, f"`{shown}` {what}") from None
    return tree
