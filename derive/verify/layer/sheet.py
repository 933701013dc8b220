"""Verify the sheet of a layer that is no plain window."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from derive.calculus.results import Messages
from derive.errors import DeriveError
from derive.expr import Entry, Node, Partial, Rel, walk
from derive.module import Module
from derive.notation import read
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import precision
from derive.sheet import Math, Sheet
from derive.verify.geometry import geometry
from derive.verify.layer.check import remembered
from derive.verify.layer.example import Parsed, example
from derive.verify.layer.proof import provers
from derive.verify.layer.routes import routes
from derive.verify.layer.sizes import shrunk
from derive.verify.layer.subject import Subject, gather, letters_of, localised
from derive.verify.report import Check, Report, Verdict
from derive.verify.ties import clarke
from derive.verify.words import words

Tables = Mapping[str, SymbolTable]


def verify(sheet: Sheet, messages: Messages, tables: Tables | None = None) -> Report:
    """Check every formula of the sheet and the agreement of the routes.

    ``tables`` holds the letters of each scope where the sheet has more than the module.
    """
    module = messages.module
    known = tables or {"layer": module.table}
    parsed, checks = parsed_of(sheet, known, module.table)
    subject = subject_of(parsed, messages, known.get("layer", module.table))
    with precision():
        able = cache(partial(provers, subject))
        for math, node in parsed:
            if math.scope in ("example", "tied"):
                continue
            found = _circular(math, node, module)
            if found is None and _claims(math, node, subject):
                found = remembered(math, localised(node, module), subject, able)
            if found is not None and (not math.definition or found.verdict in (Verdict.REFUTED, Verdict.NOT_READ)):
                checks.append(found)
        checks += example(parsed, subject)
        checks += routes(subject, messages)
    if len(module.equations) == 1 and module.receptive_field is not None:
        checks.append(geometry(module.receptive_field, module.input_size))
    if messages_of(sheet):
        checks += clarke(module)
    checks += words(sheet, module.readings)
    return Report(tuple(checks), tuple(m.latex for m, _ in parsed if m.definition))


def messages_of(sheet: Sheet) -> bool:
    """The sheet has the message of a letter."""
    return any(m.name.startswith("message_") for m in sheet.formulas())


def _claims(math: Math, node: Node, subject: Subject) -> bool:
    """A definition is a claim where it defines a letter of the layer: it must be the layer's own."""
    if not math.definition:
        return True
    left = node.terms[0] if isinstance(node, Rel) else None
    return not (isinstance(left, Entry) and left.tensor in subject.definitions.tensors) and isinstance(left, Entry)


def _circular(math: Math, node: Node, module: Module) -> Check | None:
    """What is defined or derived by itself, or defined by letters that follow it, may be true and says nothing."""
    if not isinstance(node, Rel) or node.ops[0] != "=":
        return None
    own = _said(node.terms[0])
    later = {own}
    if math.definition and own in module.defined:
        later |= set(module.defined[module.defined.index(own):])
    used = [s for term in node.terms[1:] for n in walk(term) if (s := _said(n)) is not None and s in later]
    return Check(math.name, math.latex, Verdict.NOT_READ, f"`{own}` is told by `{used[0]}`") if used else None


def _said(node: Node) -> str | None:
    """What an equation with this on its left is about: a tensor, a message or a Jacobian."""
    if isinstance(node, Partial) and isinstance(node.of, Entry) and isinstance(node.wrt, Entry):
        return f"∂{node.of.tensor}/∂{node.wrt.tensor}"
    return node.tensor if isinstance(node, Entry) else None


def subject_of(parsed: list[Parsed], messages: Messages, table: SymbolTable) -> Subject:
    module = messages.module
    defined = gather((node for math, node in parsed if math.definition and math.scope == "layer"), module)
    statements = tuple(localised(node, module) for math, node in parsed if math.scope == "layer")
    derived = [step.after for wrt in letters_of(statements, module)
               for step in (messages.jacobian(wrt), messages.message(wrt))]
    return Subject(shrunk(module, (*statements, *derived)), table, statements, defined)


def parsed_of(sheet: Sheet, tables: Tables, table: SymbolTable) -> tuple[list[Parsed], list[Check]]:
    """Every formula as it reads back, and those that do not."""
    parsed: list[Parsed] = []
    checks: list[Check] = []
    for math in (*sheet.formulas(), *sheet.inline):
        try:
            node = read(math.latex, tables.get(math.scope, table))
        except DeriveError as error:
            checks.append(Check(math.name, math.latex, Verdict.NOT_READ, str(error)))
            continue
        if math.name == "inline":
            if node is not math.expr:
                checks.append(Check(math.name, math.latex, Verdict.NOT_READ, "it reads back as something else"))
        else:
            parsed.append(Parsed(math, node))
    return parsed, checks

