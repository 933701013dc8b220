"""Verify a sheet: read every formula back, gather the definitions, check the claims."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from derive.calculus.derivation import Step
from derive.calculus.extremum import star_definitions
from derive.calculus.one_window import OneWindow
from derive.errors import UnsupportedError
from derive.expr import Entry, Idx, Matrix, Node, Num, Rel
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.point import Definitions, Undefined
from derive.numeric.statements import compile_value
from derive.sheet import Math, Sheet
from derive.verify import routes, scopes
from derive.verify.canonical import Renaming
from derive.verify.check import check, read_back, unbound
from derive.verify.geometry import geometry
from derive.verify.listing import check_listing
from derive.verify.report import Check, Report, Verdict
from derive.verify.samples import Sample
from derive.verify.scopes import Scope
from derive.verify.ties import apart, by_rule, clarke
from derive.verify.words import words


@dataclass(frozen=True)
class Subject:
    """What a sheet is about: the layer, one window of it, its derivations, the letters of each scope."""

    module: Module
    window: OneWindow
    jacobian: Step
    message: Step
    tables: dict[str, SymbolTable]


_passed: dict[Any, Check] = {}  # verdicts of this process, by statement up to letters and by what it rests on


def verify(sheet: Sheet, subject: Subject) -> Report:
    """Check every formula of the sheet and the agreement of the routes."""
    formulas = sheet.formulas()
    parsed, checks = _read(sheet, subject)
    full = _with_definitions(_scopes(subject), formulas, parsed, subject)
    for math in formulas:
        if math not in parsed:
            continue
        if math.scope == "entries":
            checks.append(check_listing(math, parsed[math], subject.module, subject.window.n))
        elif not math.definition:
            checks.append(_remembered(math, parsed[math], full[math.scope], subject))
    checks += words(sheet, subject.module.readings)
    field = subject.module.receptive_field
    if field is not None:
        checks.append(geometry(field, subject.module.input_size))
    if any(m.name == "subdifferential" for m in formulas):
        checks += [*clarke(subject.module), *([apart()] if field is not None and field.overlaps else [])]
    checks += [*_routes(full["layer"], subject), *_tie_rule(full["window"], subject)]
    return Report(tuple(checks), tuple(m.latex for m in formulas if m.definition and m.scope != "entries"))


def scopes_of(sheet: Sheet, subject: Subject) -> dict[str, Scope]:
    """The scopes of a sheet with the definitions that it prints."""
    return _with_definitions(_scopes(subject), sheet.formulas(), _read(sheet, subject)[0], subject)


def _read(sheet: Sheet, subject: Subject) -> tuple[dict[Math, Node], list[Check]]:
    """Every formula as it reads back, and those that do not."""
    plain = _scopes(subject)
    parsed: dict[Math, Node] = {}
    checks: list[Check] = []
    for math in (*sheet.formulas(), *sheet.inline):
        node, problem = read_back(math, plain[math.scope])
        if problem is not None:
            checks.append(problem)
        elif math.name == "inline" and node is not math.expr:
            checks.append(Check(math.name, math.latex, Verdict.NOT_READ, "it reads back as something else"))
        elif math.definition and math.scope != "entries" and (fault := _fault(node)):
            checks.append(Check(math.name, math.latex, Verdict.NOT_READ, fault))
        elif node is not None:
            parsed[math] = node
    return parsed, checks


def _fault(node: Node | None) -> str:
    """Why a statement defines nothing."""
    if not (isinstance(node, Rel) and node.ops == ("=",)):
        return "a definition is one equation"
    loose = unbound(node)
    return f"{loose} is free on the right and absent on the left" if loose else ""


def _with_definitions(plain: dict[str, Scope], formulas: tuple[Math, ...], parsed: dict[Math, Node],
                      subject: Subject) -> dict[str, Scope]:
    """The scopes with the definitions that were read back, and what verdicts in them depend on."""
    full = {}
    for name, scope in plain.items():
        statements = [parsed[m] for m in formulas if m in parsed and m.definition and m.scope == name]
        module = subject.window.module if name == "window" else subject.module
        rename = Renaming(module, scope.table)
        base = (name, module.receptive_field, subject.module.input_size, subject.window.n,
                tuple(map(rename, subject.module.equations)), tuple(map(rename, statements)))
        full[name] = replace(scope, definitions=scopes.gather(statements, _outputs(subject.module)),
                             key=(base, rename))
    full["example"] = _example("example", full["layer"], formulas, parsed, subject)
    full["tied"] = _example("tied", full["layer"], formulas, parsed, subject)
    return full


def _remembered(math: Math, node: Node, scope: Scope, subject: Subject) -> Check:
    """The check, or the verdict on the same statement in other letters if it passed before."""
    if not isinstance(scope.key, tuple):
        return check(math, node, scope)
    base, rename = scope.key
    key = (base, rename(node), math.general, math.ties)
    if key not in _passed:
        found = check(math, node, scope)
        if found.verdict not in (Verdict.PROVED, Verdict.TESTED):
            return found
        _passed[key] = found
    return replace(_passed[key], name=math.name, latex=math.latex)


def _outputs(module: Module) -> tuple[Idx, ...]:
    entry, _ = module.definition(module.output)
    return tuple(i for i in entry.indices if isinstance(i, Idx))


def _scopes(subject: Subject) -> dict[str, Scope]:
    layer, one, tables = subject.module, subject.window, subject.tables
    provers = scopes.layer_provers(layer)
    sizes = " and ".join("×".join(map(str, p.instance.shape)) for p in provers)
    return {
        "layer": Scope(tables["layer"], partial(scopes.layer_points, layer), partial(scopes.companion_points, layer),
                       provers=provers, place=f"by Z3 for all inputs of size {sizes}"),
        "window": Scope(tables["window"], partial(scopes.window_points, one.module, one.n),
                        tie=partial(scopes.window_ties, one.module, one.n),
                        provers=scopes.window_provers(one.module, layer, one.n),
                        place=f"by Z3 for all windows of {one.n} entries"),
        "entries": Scope(tables["entries"]),
        "example": Scope(tables["example"]),
        "tied": Scope(tables["tied"]),
    }


def _example(name: str, layer: Scope, formulas: tuple[Math, ...], parsed: dict[Math, Node], subject: Subject) -> Scope:
    """The printed numbers as a point; the tied input has the other's upstream gradient, and its message by the rule."""
    module = subject.module
    given = {}
    for math in formulas:
        node = parsed.get(math)
        if math.scope in ("example", name) and math.definition and isinstance(node, Rel):
            left, right = node.terms
            if isinstance(left, Entry) and isinstance(right, Matrix):
                given[left.tensor] = _tensor(right, len(module.fields[0][1].axes))
    wrt, delta = module.inputs[0], f"delta_{module.output}"
    if wrt not in given or delta not in given:
        return replace(layer, own=scopes.none, other=scopes.none, provers=(), place="example", key=None)
    shape = tuple(max(c) + 1 for c in zip(*given[wrt], strict=True))
    sample = Sample(module, {wrt: given[wrt]}, {wrt: shape}, {"loss": 0}).with_upstream(given[delta])
    if name == "tied":
        sample.put(f"delta_{wrt}", by_rule(sample))
    mask = layer.definitions.tensors.get("mask")
    if mask is not None:
        with suppress(Undefined, LookupError, UnsupportedError):  # without a value the printed one is refuted
            function = compile_value(*mask, layer.definitions, layer.ranks)
            sample.put("mask", {cell: function(sample, cell) for cell in given[wrt]})
    definitions = replace(layer.definitions, tensors={})
    return replace(layer, own=lambda: (sample,), other=scopes.none, provers=(), definitions=definitions,
                   place="example", key=None)


def _tensor(matrix: Matrix, rank: int) -> dict[tuple[int, ...], object]:
    values: dict[tuple[int, ...], object] = {(r, c): e.value.numerator if e.value.denominator == 1 else e.value
              for r, row in enumerate(matrix.rows) for c, e in enumerate(row) if isinstance(e, Num)}
    return values if rank == 2 else {at[1:]: v for at, v in values.items()}


def _routes(layer: Scope, subject: Subject) -> list[Check]:
    """The comparisons, or their verdicts on the same formulas in other letters; the steps are always concluded anew."""
    assert isinstance(layer.key, tuple)
    base, rename = layer.key
    key = (base, rename(subject.jacobian.after), rename(subject.message.after))
    found = _passed_routes.get(key) or _compare_routes(layer, subject)
    if all(c.verdict in (Verdict.PROVED, Verdict.TESTED) for c in found):
        _passed_routes[key] = found
    return [*found, routes.steps((subject.jacobian, subject.message), subject.module)]


def forget() -> None:
    """Drop the verdicts kept in this process."""
    _passed.clear()
    _passed_routes.clear()


_passed_routes: dict[Any, list[Check]] = {}


def _compare_routes(layer: Scope, subject: Subject) -> list[Check]:
    own = Definitions({name: (arg, place, _outputs(subject.module))
                       for name, (arg, place) in star_definitions(subject.module).items()}, {}, {})
    formula = routes.by_formula(subject.jacobian, own, layer.ranks)
    samples = (*layer.own(), *layer.other())
    return [routes.routes(samples, formula),
            routes.adjointness(layer.own(), formula, subject.message, own, layer.ranks)]


def _tie_rule(window: Scope, subject: Subject) -> list[Check]:
    """The printed choice at a tie, where the sheet has one, against the module's rule."""
    chosen = window.definitions.tensors.get("subgradient")
    if chosen is None:
        return []
    try:
        function = compile_value(*chosen, window.definitions, window.ranks)
    except UnsupportedError as error:
        return [Check("tie_rule", "", Verdict.NOT_READ, str(error))]
    return [routes.tie_rule((*window.points, *window.tied), function, subject.module.tie_rule)]
