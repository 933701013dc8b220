"""Plain sheets of layers: definitions, Jacobians raw and simplified, messages, stages."""

from __future__ import annotations

from functools import cache

from derive.calculus.messages import Messages
from derive.exposition.builder import Builder
from derive.expr import Expr, Star, eq, tuple_of
from derive.notation import read
from derive.notation.symbols import SymbolTable
from derive.sheet import Math, Sheet
from derive.verify.check import fresh
from derive.verify.provers.cases import Proofs
from derive.verify.report import Check
from derive.verify.scope import Scope, localised
from derive.verify.sheet import parsed_of, scopes_of
from tests.calculus.zoo import messages_of


def table_of(messages: Messages) -> SymbolTable:
    return messages.module.table


@cache
def sheet_of(name: str) -> Sheet:
    messages = messages_of(name)
    b = Builder({"layer": table_of(messages)})
    for equation in messages.module.equations:
        b.math("forward", equation, definition=True)
    groups: dict[Expr, dict[int, Star]] = {}
    for star, (arg, place) in messages.star_definitions.items():
        groups.setdefault(arg, {})[place] = Star(star, messages.module.parameters_of(arg))
    for arg, items in groups.items():
        b.math("argmax", eq(tuple_of(tuple(items[n] for n in sorted(items))), arg), definition=True)
    for wrt in messages.letters:
        derived, back = messages.jacobian(wrt), messages.message(wrt)
        raw = derived.premises[0].after
        b.math(f"jacobian_{wrt}", eq(derived.before, *dict.fromkeys((raw, derived.after))))  # type: ignore[arg-type]
        for step in (back, *messages.stages(wrt)):
            b.math(f"message_{wrt}", eq(step.before, step.after))  # type: ignore[arg-type]
    return Sheet("", tuple(b.blocks), ())


@cache
def subject(name: str) -> Scope:
    """What statements on the layer's sheet are checked against."""
    messages = messages_of(name)
    tables = {"layer": table_of(messages)}
    parsed, _ = parsed_of(sheet_of(name), tables)
    return scopes_of(parsed, messages)["layer"]


def verdict(name: str, latex: str, proofs: Proofs = ()) -> Check:
    """The check of one more equation on a layer's sheet."""
    node = localised(read(latex, table_of(messages_of(name))), messages_of(name).module)
    return fresh(Math(latex, node, "stated"), node, subject(name), lambda: proofs)
