"""Verify a sheet: read every formula back, gather the definitions, check the claims."""

from __future__ import annotations

from dataclasses import dataclass, replace

from derive.calculus.derivation import Step
from derive.calculus.one_window import OneWindow
from derive.expr import And, Entry, Given, Idx, Matrix, Node, Num, Rel
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.exact import Definitions, compile_value
from derive.sheet import Math, Sheet
from derive.verify import routes, scopes
from derive.verify.check import check, read_back
from derive.verify.instance import Instance
from derive.verify.report import Check, Report, Verdict
from derive.verify.samples import Sample, nested
from derive.verify.scopes import Scope


@dataclass(frozen=True)
class Subject:
    """What a sheet is about: the layer, one window of it, its derivations, the letters of each scope."""

    module: Module
    window: OneWindow
    jacobian: Step
    message: Step
    tables: dict[str, SymbolTable]


def verify(sheet: Sheet, subject: Subject) -> Report:
    """Check every formula of the sheet and the agreement of the routes."""
    plain = _scopes(subject)
    formulas, checks, parsed = sheet.formulas(), [], {}
    for math in (*formulas, *sheet.inline):
        node, problem = read_back(math, plain[math.scope])
        if problem is not None:
            checks.append(problem)
        elif math.name == "inline" and node is not math.expr:
            checks.append(Check(math.name, math.latex, Verdict.NOT_READ, "it reads back as something else"))
        else:
            parsed[math] = node
    found = {name: scopes.gather((parsed[m] for m in formulas if m in parsed and m.definition and m.scope == name),
                                 _outputs(subject.module)) for name in plain}
    full = {name: _defined(scope, found[name if name != "example" else "layer"]) for name, scope in plain.items()}
    full["example"] = _example(full["layer"], formulas, parsed, subject)
    for math in formulas:
        if math in parsed and math.scope == "entries":
            checks.append(_entries(math, parsed[math], subject))
        elif math in parsed and not math.definition:
            checks.append(check(math, parsed[math], full[math.scope]))
    checks += _routes(full["layer"], subject)
    return Report(tuple(checks), tuple(m.latex for m in formulas if m.definition))


def _outputs(module: Module) -> tuple[Idx, ...]:
    entry, _ = module.definition(module.output)
    return tuple(i for i in entry.indices if isinstance(i, Idx))


def _scopes(subject: Subject) -> dict[str, Scope]:
    layer, one = subject.module, subject.window
    provers = scopes.layer_provers(layer)
    sizes = " and ".join("×".join(map(str, p.instance.shape)) for p in provers)
    window = scopes.window_provers(one.module, layer, one.n)
    return {
        "layer": Scope(subject.tables["layer"], scopes.layer_points(layer), scopes.companion_points(layer),
                       provers=provers, place=f"by Z3 for all inputs of size {sizes}"),
        "window": Scope(one.module.table if "window" not in subject.tables else subject.tables["window"],
                        scopes.window_points(one.module, one.n), tied=scopes.window_ties(one.module, one.n),
                        provers=window, place=f"by Z3 for all windows of {one.n} entries"),
        "entries": Scope(subject.tables["entries"], ()),
        "example": Scope(subject.tables["example"], (), place="example"),
    }


def _defined(scope: Scope, definitions: Definitions) -> Scope:
    for samples in (scope.points, scope.others, scope.tied):
        scopes.attach(samples, definitions, scope.ranks)
    return replace(scope, definitions=definitions)


def _example(layer: Scope, formulas: tuple[Math, ...], parsed: dict[Math, Node], subject: Subject) -> Scope:
    """The printed numbers as a point."""
    module = subject.module
    given = {}
    for math in formulas:
        node = parsed.get(math)
        if math.scope == "example" and math.definition and isinstance(node, Rel):
            left, right = node.terms
            if isinstance(left, Entry) and isinstance(right, Matrix):
                given[left.tensor] = _tensor(right, len(module.fields[0][1].axes))
    wrt, delta = module.inputs[0], f"delta_{module.output}"
    if wrt not in given or delta not in given:
        return replace(layer, points=(), others=(), provers=(), place="example")
    shape = tuple(max(c) + 1 for c in zip(*given[wrt], strict=True))
    sample = Sample(module, {wrt: given[wrt]}, {wrt: shape}, {"loss": 0}).with_upstream(given[delta])
    mask = layer.definitions.tensors.get("mask")
    if mask is not None:
        function = compile_value(*mask, layer.definitions, layer.ranks)
        sample.put("mask", {cell: function(sample, cell) for cell in given[wrt]})
    definitions = replace(layer.definitions, tensors={})
    return replace(layer, points=(sample,), others=(), provers=(), definitions=definitions, place="example")


def _tensor(matrix: Matrix, rank: int) -> dict[tuple[int, ...], object]:
    values = {(r, c): e.value.numerator if e.value.denominator == 1 else e.value
              for r, row in enumerate(matrix.rows) for c, e in enumerate(row) if isinstance(e, Num)}
    return dict(values) if rank == 2 else {(c,): v for (_, c), v in values.items()}


def _entries(math: Math, node: Node, subject: Subject) -> Check:
    """z_1, z_2, … name the entries of a window inside the input, row by row, each once."""
    instance = _roomy(subject.module)
    for at in instance.outputs():
        cells = instance.window(at)
        if len(cells) != subject.window.n:
            continue
        named = _named(node, dict(zip(_outputs(subject.module), at, strict=True)), subject)
        if named != dict(enumerate(cells, start=1)):
            return Check(math.name, math.latex, Verdict.REFUTED, "a counterexample",
                         f"the window of output {at} covers {cells}, but the list names {named}")
    sizes = "×".join(map(str, instance.shape))
    return Check(math.name, math.latex, Verdict.PROVED, f"by enumeration of the windows at size {sizes}")


def _roomy(module: Module) -> Instance:
    """A size at which a whole window lies inside the input."""
    field = module.receptive_field
    assert field is not None
    shape = tuple(a.kernel_size + 2 * a.stride + 1 for a in field.axes)
    return Instance(module, module, shape, field.output_shape(shape))


def _named(node: Node, env: dict[Idx, int], subject: Subject) -> dict[int, tuple[int, ...]]:
    """q → the entry that the listing gives z_q."""
    import itertools

    claims = node.conds if isinstance(node, And) else (node,)
    free: list[dict[Idx, int]] = [env]
    if isinstance(node, Given):
        claims = (node.claim,)
        bounds = node.cond.conds if isinstance(node.cond, And) else (node.cond,)
        letters = [(c.terms[1], c.terms[2]) for c in bounds if isinstance(c, Rel) and len(c.terms) == 3]
        runs = [[(i, n) for n in range(int(top.value) + 1)] for i, top in letters if isinstance(top, Num)
                and isinstance(i, Idx)]
        free = [{**env, **dict(pick)} for pick in itertools.product(*runs)]
    found = {}
    for inner in free:
        for claim in claims:
            if isinstance(claim, Rel) and isinstance(claim.terms[0], Entry) and isinstance(claim.terms[1], Entry):
                left, right = (tuple(_index(i, inner, subject) for i in e.indices) for e in claim.terms)  # type: ignore[union-attr]
                found[left[0]] = right
    return found


def _index(node: Node, env: dict[Idx, int], subject: Subject) -> int:
    params = tuple(env)
    function = compile_value(params, node, Definitions({}, {}, {}), {})  # type: ignore[arg-type]
    return int(function(None, tuple(env.values())))  # type: ignore[arg-type]


def _routes(layer: Scope, subject: Subject) -> list[Check]:
    formula = routes.by_formula(subject.jacobian, layer.definitions, layer.ranks)
    samples = (*layer.points, *layer.others)
    found = [routes.routes(samples, formula),
             routes.adjointness(layer.points, formula, subject.message, layer.definitions, layer.ranks)]
    return [*found, routes.steps((subject.jacobian, subject.message), subject.module)]
