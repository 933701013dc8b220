"""The LALR table of grammar.lark, and the parser that it drives.

Lark makes the table from the grammar, which takes longer than to read any card: what it made is kept in
grammar.json, and used only where the grammar's text is still the one it was made from (:func:`keep`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

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
