"""A solution line by line: the steps of the derivation with their rules, then what is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass as plain
from dataclasses import field
from typing import Any

from derive.calculus.messages import Messages
from derive.calculus.one_window import scope_tables
from derive.exposition import answer
from derive.exposition.builder import Builder
from derive.exposition.sheet import derivation
from derive.exposition.subject import Subject
from derive.expr import Node, Rel, eq
from derive.notation import write
from derive.records import dataclass
from derive.sheet import Math

STATED, STEP, ASKED = "definition", "step", "answer"  # what a line is
_CHAIN = "chain"
_RULE = "rule_"
_APART = ("output_size", "mask_matrix", "numbers", "claim")  # of the sheet's answer, what is no derivative asked for


@dataclass(frozen=True)
class Line:
    """An equation of a solution, the rules that give it, and what it is."""

    latex: str
    node: Node
    rules: tuple[str, ...]
    part: str


def lines(messages: Messages, alone: Node | None = None) -> Iterator[Line]:
    """What the solution of a layer writes, each equation once, in its order; ``alone`` stands by its last form only.

    Equations of one rule each stay out: the line that they lead to names the rule.
    """
    subject, tables = Subject(messages), scope_tables(messages.module)
    front, body = _Noted(tables), _Noted(tables)
    answer.build(front.worded("layer"), subject)
    derivation(body.worded("layer"), subject)
    seen: set[str] = set()
    for part, noted in ((STATED, front.noted), (STEP, body.noted), (ASKED, front.noted)):
        for math, rules in noted:
            if math.name in _APART or part != STEP and math.definition != (part == STATED):
                continue
            node = math.expr
            if alone is not None and isinstance(node, Rel) and node.terms[0] is alone:
                node = eq(node.terms[0], node.terms[-1])
            latex = write(node, tables[math.scope])
            if latex not in seen:
                seen.add(latex)
                yield Line(latex, node, rules, part)


@plain
class _Noted(Builder):
    """A part of a sheet that notes by which rules each of its formulas follows."""

    rules: list[str] = field(default_factory=list)
    noted: list[tuple[Math, tuple[str, ...]]] = field(default_factory=list)

    def say(self, macro: str, **facts: Any) -> str:
        if macro.startswith(_RULE):
            self.rules.append(macro.removeprefix(_RULE))
        return super().say(macro, **facts)

    def math(self, name: str, node: Node, scope: str = "layer", *, definition: bool = False, general: bool = False,
             ties: bool = False) -> None:
        if name.startswith(_RULE):
            return
        super().math(name, node, scope, definition=definition, general=general, ties=ties)
        math, rules = self.blocks[-1], tuple[str, ...]()
        assert isinstance(math, Math)
        if name == "local":
            rules = tuple(dict.fromkeys(self.rules))
            self.rules.clear()
        elif name.startswith(("chain", "stage", "message", "between")):
            rules = (_CHAIN,)
        self.noted.append((math, rules))
