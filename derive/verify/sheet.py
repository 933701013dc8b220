"""Verify a sheet: read every formula back, gather the definitions, check the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from derive.calculus.messages import Messages
from derive.calculus.one_window import WHOLE, scope_name, scope_tables, windowed
from derive.errors import DeriveError, UnsupportedError
from derive.expr import Entry, Node, Partial, Rel, walk
from derive.module import Module
from derive.notation import read
from derive.notation.formulas import TooHigh
from derive.notation.reader import HIGHEST
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import precision
from derive.numeric.point import Definitions
from derive.numeric.statements import componentwise
from derive.sheet import Math, Sheet
from derive.verify.answered import answered
from derive.verify.check import checked, unbound
from derive.verify.decided import refuse_undecided, undecided
from derive.verify.example import Parsed, displayed, example
from derive.verify.meant import written_out
from derive.verify.pictures import pictures
from derive.verify.points.claims import Undecided
from derive.verify.points.sizes import shrunk
from derive.verify.provers.cases import Proofs, proofs
from derive.verify.provers.smt import Own
from derive.verify.report import Check, Report, Verdict, remembered
from derive.verify.routes import routes
from derive.verify.scope import Scope, gather, letters_of, localised
from derive.verify.tables import tabled
from derive.verify.ties import apart, clarke
from derive.verify.windows import check_listing, geometry, window_routes
from derive.verify.words import words

Tables = Mapping[str, SymbolTable]


def verify(sheet: Sheet, messages: Messages) -> Report:
    """Check every formula of the sheet and the agreement of the routes."""
    parsed, unread = parsed_of(sheet, scope_tables(messages.module))
    with precision():
        try:
            checks = (*unread, *checks_of(sheet, parsed, messages))
        except Undecided as found:
            raise undecided(messages.module, found) from None
    defined = (m.latex for m, _ in parsed if m.definition and not m.scope.startswith("entries"))
    return Report(checks, tuple(defined))


def checks_of(sheet: Sheet, parsed: list[Parsed], messages: Messages) -> Iterator[Check]:
    """One check after another, of what could be read."""
    module, scopes = messages.module, scopes_of(parsed, messages)
    refuse_undecided(scopes["layer"])
    z3 = Own()
    able = {name: cache(partial(proofs, scope, z3)) for name, scope in scopes.items()}
    for math, node in parsed:
        found = _checked(math, node, scopes, module, able)
        claims = not math.definition or math.scope.startswith("entries")
        if found is not None and (claims or found.verdict in (Verdict.REFUTED, Verdict.NOT_READ)):
            yield found
    yield from example(parsed, scopes["layer"])
    yield from tabled(sheet, *displayed(parsed, scopes["layer"]))
    yield from routes(scopes["layer"], messages)
    for number, w in enumerate(windowed(module)):
        own = scopes["layer"] if w.whole else Scope(w.layer, w.layer.table, (), Definitions({}, {}, {}))
        yield from window_routes(w, own, scopes[scope_name("window", number)])
    if len(module.equations) == 1 and module.receptive_field is not None:
        size = module.receptive_field, module.input_size
        yield remembered(("geometry", *size), partial(geometry, *size))
    if messages_of(sheet):
        yield from clarke(module)
        field = module.receptive_field
        if any(m.name == "subdifferential" for m in sheet.formulas()) and field is not None and field.overlaps:
            yield apart()
    yield from words(sheet, module, scopes)
    yield from answered(sheet, module) if sheet.claims else ()
    yield from pictures(sheet, module)


def _checked(math: Math, node: Node, scopes: Mapping[str, Scope], module: Module,
             able: Mapping[str, Callable[[], Proofs]]) -> Check | None:
    """The check of one formula; None in examples, and for a definition of what the layer does not have."""
    if math.scope in ("example", "tied"):
        return None
    if math.scope.startswith("entries"):
        w = next(w for n, w in enumerate(windowed(module)) if scope_name("entries", n) == math.scope)
        return replace(remembered(("listing", node, w), partial(check_listing, math, node, w)),
                       name=math.name, latex=math.latex)
    scope = scopes[_home(math)]
    node = componentwise(localised(node, module), scope.table)
    found = _circular(math, node, scope.module)
    node = written_out(node, module)
    if found is None and math.definition and (loose := unbound(node)):
        return Check(math.name, math.latex, Verdict.NOT_READ, f"{loose} is free on the right and absent on the left")
    if found is None and _claims(math, node, scope):
        return checked(math, node, scope, able[_home(math)])
    return found


def _home(math: Math) -> str:
    """The scope that a formula is about: a matrix form is read into entries of the layer."""
    return "layer" if math.scope == WHOLE else math.scope


def messages_of(sheet: Sheet) -> bool:
    """The sheet has the message of a letter."""
    return any(m.name.startswith("message_") for m in sheet.formulas())


def _claims(math: Math, node: Node, scope: Scope) -> bool:
    """A definition is a claim where it defines a letter of the layer: it must be the layer's own."""
    if not math.definition:
        return True
    left = node.terms[0] if isinstance(node, Rel) else None
    return not (isinstance(left, Entry) and left.tensor in scope.definitions.tensors) and isinstance(left, Entry)


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


def scopes_of(parsed: list[Parsed], messages: Messages) -> dict[str, Scope]:
    """The layer, and each window in it, with what the sheet states and defines of them."""
    module = messages.module
    known = scope_tables(module)
    statements, defined = _read("layer", parsed, module)
    statements = tuple(written_out(localised(node, module), module) for node in statements)
    derived = [step.after for wrt in letters_of(statements, module)
               for step in (messages.jacobian(wrt), messages.message(wrt))]
    found = {"layer": Scope(shrunk(module, (*statements, *derived)), known["layer"], statements, defined)}
    for number, w in enumerate(windowed(module)):
        name = scope_name("window", number)
        found[name] = Scope(w.window.module, known[name], *_read(name, parsed, w.window.module), w)
    return found


def _read(scope: str, parsed: list[Parsed], module: Module) -> tuple[tuple[Node, ...], Definitions]:
    """The statements of a scope, and what its definitions define."""
    definitions = (node for math, node in parsed if math.definition and _home(math) == scope and not unbound(node))
    defined = gather(definitions, module)
    return tuple(node for math, node in parsed if _home(math) == scope), defined


def parsed_of(sheet: Sheet, tables: Tables) -> tuple[list[Parsed], list[Check]]:
    """Every formula as it reads back, and those that do not."""
    parsed: list[Parsed] = []
    checks: list[Check] = []
    for math in (*sheet.formulas(), *sheet.inline):
        try:
            node = read(math.latex, tables[math.scope])
        except TooHigh:
            raise UnsupportedError(f"the derivative has an exponent beyond {HIGHEST}, as the layer's are multiplied, "
                                   "added and lowered; take smaller exponents, or give one a letter") from None
        except DeriveError as error:
            checks.append(Check(math.name, math.latex, Verdict.NOT_READ, str(error)))
            continue
        # nothing else in the sheet need depend on a letter of a sentence, or on one of an example's numbers
        alone = math.name == "inline" or (math.definition and math.scope in ("example", "tied"))
        if alone and node is not math.expr:
            checks.append(Check(math.name, math.latex, Verdict.NOT_READ, "it reads back as something else"))
        elif math.name != "inline":
            parsed.append(Parsed(math, node))
    return parsed, checks
