"""Tokens → flat tree by the LALR grammar in grammar.lark.

Lark makes the table from the grammar, which takes longer than to read any card: what it made is kept in
grammar.json, and used only where the grammar's text is still the one it was made from (:func:`keep`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from derive.notation import tree as tr
from derive.notation.formulas import Formula, Source
from derive.notation.tokens import tokenise
from derive.notation.vocabulary import CLOSING, OPERATORS, beyond

GRAMMAR = Path(__file__).with_name("grammar.lark")
KEPT = GRAMMAR.with_suffix(".json")
END = "$END"


class UnexpectedToken(Exception):
    """The first token that cannot follow what was read; ``None`` for the end of the formula."""

    def __init__(self, token: Any) -> None:
        super().__init__(token)
        self.token = token


@cache
def table() -> dict[str, Any]:
    """The rules (origin, name, length), the states, and where to start and end.

    A state maps a symbol to an action: n ≥ 0 goes to state n, −1 − r reduces by rule r.
    """
    text = GRAMMAR.read_text(encoding="utf-8")
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    return kept if kept.get("grammar") == text else made(text)


def made(text: str, **options: Any) -> dict[str, Any]:
    """The table of a grammar by Lark; ``options`` are Lark's."""
    import lark

    class NoLexer(lark.lexer.Lexer):
        """The tokens are ours."""

        def __init__(self, conf: Any) -> None:
            pass

        def lex(self, text: Any) -> Any:
            return iter(())

    parser = lark.Lark(text, parser="lalr", lexer=NoLexer, maybe_placeholders=False, **options)
    found, rules = parser.parser.parser._parse_table, {rule: -1 - n for n, rule in enumerate(parser.rules)}
    start, end = found.start_states["start"], found.end_states["start"]
    reached = {start: 0}  # numbered in the order of a walk, so that the same grammar gives the same table
    for state in (queue := [start]):
        for _, (_, target) in sorted(found.states[state].items()):
            if target not in rules and target not in reached:
                reached[target] = len(reached)
                queue.append(target)
    states = [{symbol: rules[target] if target in rules else reached[target]
               for symbol, (_, target) in sorted(found.states[state].items())} for state in queue]
    lengths = [[rule.origin.name, _name(rule), len(rule.expansion)] for rule in parser.rules]
    return {"grammar": text, "rules": lengths, "states": states, "start": 0, "end": reached[end]}


def _name(rule: Any) -> str:
    """What a rule builds: "" for what it is made of, "*" for one more of a repetition."""
    if rule.origin.name.startswith("_"):
        return "*"
    return "" if rule.options.expand1 and len(rule.expansion) == 1 else str(rule.alias or rule.origin.name)


class _Many(list[Any]):
    """The parts of a repetition."""


def run(tokens: Iterable[tuple[str, Any]], build: Mapping[str, Callable[[list[Any]], Any]]) -> Any:
    """The tree of (terminal, token) pairs; the parts of each rule go to the function of its name.

    Raises :class:`UnexpectedToken`.
    """
    states, end = table()["states"], table()["end"]
    path: list[int] = [table()["start"]]
    values: list[Any] = []
    for terminal, token in (*tokens, (END, None)):
        while (action := states[path[-1]].get(terminal)) is not None and action < 0:
            origin, name, length = table()["rules"][-1 - action]
            parts = values[len(values) - length:]
            del values[len(values) - length:], path[len(path) - length:]
            values.append(_reduced(name, parts, build))
            path.append(states[path[-1]][origin])
            if terminal == END and path[-1] == end:
                return values[-1]
        if action is None:
            raise UnexpectedToken(token)
        path.append(action)
        values.append(token)
    raise AssertionError("the end is reduced or refused")


def _reduced(name: str, parts: list[Any], build: Mapping[str, Callable[[list[Any]], Any]]) -> Any:
    if not name:
        return parts[0]
    many = parts[0] if parts and isinstance(parts[0], _Many) else None
    if name == "*":
        if many is None:
            return _Many(parts)
        many.extend(parts[1:])  # in place: a long formula stays linear
        return many
    return build[name]([item for part in parts for item in (part if isinstance(part, _Many) else (part,))])


def keep() -> None:
    """Write the table of the grammar as it is now."""
    KEPT.write_text(json.dumps(made(GRAMMAR.read_text(encoding="utf-8"))) + "\n", encoding="utf-8")


# A token's terminal; what is not named is an OP.
_TERMINALS = {
    **dict.fromkeys("NAME NUMBER BIG FN IND TEXT INFTY CONV DOTS PARTIAL NABLA UNKNOWN".split(), "ATOM"),
    **dict.fromkeys(("PLUS", "MINUS", "STAR", "TOP"), "MARK"),
    **dict.fromkeys(CLOSING, "OPEN"),
    **dict.fromkeys(CLOSING.values(), "CLOSE"),
    "SQRT": "ONE", "BRACE": "ONE", "FRAC": "TWO", "UNDER": "TWO",
    **{name: name for name in ("LBRACE", "SUB", "SUP", "PRIME")},
}


def _terminal(token: tr.Token) -> str:
    return _TERMINALS.get(token.type, "OP")


def _group(parts: list[Any]) -> tr.Group | tr.Env:
    opening, *items, closing = parts
    if opening.type == "BEGIN":
        return tr.Env(opening.text, tuple(items), opening.start, closing.end)
    return tr.Group(opening.type, tuple(items), opening.start, closing.end)


def _command(parts: list[Any]) -> tr.Command:
    head, *arguments = parts
    return tr.Command(head.type, tuple(map(_items, arguments)), head.start, arguments[-1].end)


def _scripted(parts: list[Any]) -> tr.Item:
    base, *scripts = parts
    subs = tuple(_items(s[1]) for s in scripts if s[0].type == "SUB")
    sups = [sup for s in scripts if s[0].type == "SUP" for sup in _marked(_items(s[1]))]
    if subs and not tr.is_token(subs[0][0], "PLUS"):
        base, subs = _entry_of(_named(base), subs)
    if subs or not tr.is_token(base, "NAME") or base.text != "e":  # e^{(a)} is a power
        base, sups = _symbol(base, sups)
    primed = [s for s in sups if s and all(isinstance(i, tr.Token) and i.type == "PRIME" for i in s)]
    primes = sum(s[0].type == "PRIME" for s in scripts) + sum(map(len, primed))
    marks = tuple(s for s in sups if s not in primed)
    if not (subs or marks or primes):
        return base
    return tr.Scripted(base, subs, marks, primes, base.start, scripts[-1][-1].end)


# The nodes of tree.py that the grammar's rules build.
_BUILD: dict[str, Callable[[list[Any]], Any]] = {
    "start": tuple, "script": list, "group": _group, "command": _command, "scripted": _scripted,
}


def _items(argument: tr.Item) -> tuple[tr.Item, ...]:
    return argument.items if isinstance(argument, tr.Group) and argument.bracket == "LBRACE" else (argument,)


_SCRIPTS = r"a script or an argument is expected here, as in `x_{ij}` or `\frac{a}{b}`"
_WORD = re.compile(r"[A-Za-z]{2,}")
_LAYERS = (["NAME"], ["NUMBER"], ["NAME", "PLUS", "NUMBER"], ["NAME", "MINUS", "NUMBER"])


def _marked(sup: tuple[tr.Item, ...]) -> list[tuple[tr.Item, ...]]:
    r"""(1) and ⊤ of w^{(1)\top}."""
    layer = len(sup) == 2 and isinstance(sup[0], tr.Group) and (tr.is_token(sup[1], "TOP") or str(sup[1]) == "T")
    return [sup[:1], sup[1:]] if layer else [sup]


def _named(base: tr.Item) -> tr.Item:
    """H of [H]_{ij}."""
    alone = isinstance(base, tr.Group) and base.bracket == "LBRACK" and len(base.items) == 1
    return base.items[0] if alone and tr.is_token(base.items[0], "NAME") else base  # type: ignore[union-attr]


def _entry_of(base: tr.Item, subs: tuple[tuple[tr.Item, ...], ...]) -> tuple[tr.Item, tuple[tuple[tr.Item, ...], ...]]:
    r"""x_{\text{c},ij} of (x_{\text{c}})_{ij}."""
    inner = base.items[0] if isinstance(base, tr.Group) and base.bracket in ("LPAREN", "LBRACK") and len(
        base.items) == 1 else None
    if not isinstance(inner, tr.Scripted) or not tr.is_token(inner.base, "NAME") or inner.sups or inner.primes or len(
            inner.subs) != 1 or not tr.is_token(inner.subs[0][0], "TEXT"):
        return base, subs
    comma = tr.Token("COMMA", ",", inner.end, inner.end)
    return inner.base, ((*inner.subs[0], comma, *subs[0]), *subs[1:])


def _symbol(base: tr.Item, sups: list[tuple[tr.Item, ...]]) -> tuple[tr.Item, list[tuple[tr.Item, ...]]]:
    r"""A word with scripts is a symbol; so are h^{(l-1)}, c^{\text{old}}, s^+ and s^- with these superscripts."""
    if tr.is_token(base, "TEXT") and base.text.strip().isalpha():
        base = tr.Token("NAME", base.text.strip(), base.start, base.end, base.bold)
    for sup in sups:
        group = sup[0] if len(sup) == 1 else None
        if tr.is_token(base, "NAME") and tr.is_token(group, "PLUS", "MINUS"):  # s^+ and s^-
            sign = "+" if group.type == "PLUS" else "-"
            return replace(base, text=f"{base.text}^{sign}"), [s for s in sups if s is not sup]
        if tr.is_token(base, "NAME") and tr.is_token(group, "TEXT") and _WORD.fullmatch(group.text.strip()):
            text = f"{base.text}^<{group.text.strip()}>"
            return replace(base, text=text), [s for s in sups if s is not sup]
        if tr.is_token(base, "NAME") and isinstance(group, tr.Group) and group.bracket in ("LPAREN", "LBRACK"):
            inner = [i for i in group.items if isinstance(i, tr.Token)]
            if len(inner) == len(group.items) and [i.type for i in inner] in _LAYERS:
                opening, closing = ("(", ")") if group.bracket == "LPAREN" else ("[", "]")
                text = f"{base.text}^{opening}{''.join(i.text for i in inner)}{closing}"
                return replace(base, text=text), [s for s in sups if s is not sup]
    return base, sups


def tree_of(formula: Formula) -> tuple[tr.Item, ...]:
    """The tree that a rule made of the formula, or that of its text; raises as :func:`parse`."""
    return parse(formula.source) if formula.tree is None else _known(formula.source, formula.tree)


def parse(source: Source) -> tuple[tr.Item, ...]:
    """The flat tree of a formula.

    Raises :class:`NotationError` for signs outside the notation, and where tokens do not fit together.
    """
    return _known(source, skeleton(source))


def _known(source: Source, tree: tuple[tr.Item, ...]) -> tuple[tr.Item, ...]:
    unknown = next((i for item in tree for i in tr.inside(item) if tr.is_token(i, "UNKNOWN")), None)
    if unknown is not None:
        name = str(unknown).removeprefix("\\")
        raise source.error(unknown.start, beyond(str(unknown), name) if name in OPERATORS else (
            f"`{unknown}` is outside the notation; write what it stands for, as in `y_k = \\sum_j W_{{kj}} x_j`"))
    return tree


@lru_cache(maxsize=512)
def skeleton(source: Source) -> tuple[tr.Item, ...]:
    """The tree of a formula in which signs outside the notation may stand; raises where tokens do not fit."""
    try:
        tree: tuple[tr.Item, ...] = run([(_terminal(token), token) for token in tokenise(source)], _BUILD)
    except UnexpectedToken as error:
        found = error.token
        if found is None:
            raise source.error(len(source.latex), f"the formula ends too early: {_SCRIPTS}") from None
        shown = source.latex[found.start : found.end]
        what = (r"has nothing to stand on: a letter or a bracket is expected before it, as in `x_{ij}`"
                if found.type in ("SUB", "SUP", "PRIME") else f"does not belong here: {_SCRIPTS}")
        raise source.error(found.start, f"`{shown}` {what}") from None
    return tuple(tr.unwrap(tree))  # \boxed{…} is what stands in it
