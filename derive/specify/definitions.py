"""What the formulas of a question say: definitions of tensors and functions, ranges, facts; the rest claims nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace
from fractions import Fraction

import derive.expr as ex
from derive.errors import CardError, Problem, UnsupportedError
from derive.functions import known, value
from derive.module import Function
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, SymbolTable
from derive.records import dataclass
from derive.specify.places import place
from derive.specify.same import same

_NO_VALUES = (ex.Partial, ex.Subdifferential, ex.Directional, ex.Star)


@dataclass(frozen=True)
class Definition:
    """entry = value, and the formula in which it stands."""

    entry: ex.Entry
    value: ex.Expr
    formula: Formula

    @property
    def equation(self) -> ex.Rel:
        return ex.eq(self.entry, self.value)


@dataclass
class Definitions:
    """The definitions of a question by what they define, and what else its formulas say."""

    tensors: dict[str, Definition] = field(default_factory=dict)
    functions: dict[str, tuple[Function, Formula]] = field(default_factory=dict)
    facts: list[tuple[ex.Rel | ex.In, Formula]] = field(default_factory=list)
    ranges: list[tuple[ex.Idx, ex.Expr, ex.Expr]] = field(default_factory=list)
    differentiated: list[tuple[ex.Expr, Formula]] = field(default_factory=list)  # ln(1 + x²) of d/dx ln(1 + x²)
    aliases: list[tuple[ex.Entry, Formula]] = field(default_factory=list)  # y_j = t_j, in a sentence
    sets: list[ex.Rel] = field(default_factory=list)  # Ω(k, l) = {…}
    numbers: dict[str, tuple[ex.Num, Formula]] = field(default_factory=dict)  # a = 0.01
    values: dict[str, dict[ex.Num, None]] = field(default_factory=dict)  # y = 0 here, y = 1 there: no number
    known: list[tuple[ex.Expr, Formula]] = field(default_factory=list)  # the value of tanh(x) = …
    unplaced: list[tuple[ex.Rel, Formula]] = field(default_factory=list)  # log L = …: equations that define no letter
    again: list[Definition] = field(default_factory=list)  # of a letter that another formula defines in other letters


def definitions(nodes: tuple[tuple[Formula, ex.Node], ...], table: SymbolTable) -> Definitions:
    """The definitions among the statements of a question.

    Raises :class:`CardError` for two different definitions of one letter, and
    :class:`UnsupportedError` for a value that depends on itself.
    """
    found = Definitions()
    for formula, node in nodes:
        for part in ex.walk(node):
            of_card = isinstance(part, ex.Partial) and isinstance(part.of, ex.Fn) and (
                table.named(part.of.name.rstrip("'")))
            if isinstance(part, ex.Partial) and not isinstance(part.of, ex.Entry) and not of_card:
                found.differentiated.append((part.of, formula))
        for claim in statements(node):
            _sort(claim, formula, found, table)
    for other in found.again:
        first = found.tensors[other.entry.tensor]
        if not same(_spelt_out(first.value, found), _spelt_out(other.value, found)):
            raise _two(other.entry.tensor, first.formula, other.formula)
    for name in found.values:
        del found.numbers[name]
    for head, formula in found.aliases:
        if head.tensor in found.tensors:
            raise _two(head.tensor, found.tensors[head.tensor].formula, formula)
    return found


def _two(name: str, first: Formula, second: Formula) -> CardError:
    return CardError(Problem(f"two definitions of `{name}` that differ: {place(first)} and {place(second)}; keep one, "
                             "or give one of them another letter", line=second.line))


def statements(node: ex.Node) -> Iterator[ex.Rel | ex.In]:
    """The single claims of a formula: y = …, s = …, where t ∈ {0, 1}."""
    if isinstance(node, ex.And):
        for part in node.conds:
            yield from statements(part)
    elif isinstance(node, ex.Given):
        conds = node.cond.conds if isinstance(node.cond, ex.And) else (node.cond,)
        ranges = len(conds) == 1 or all(isinstance(c, ex.Rel) and any(
            isinstance(t, ex.Idx) for t in c.terms[1:-1]) for c in conds)  # for 0 ≤ k, l < n
        if isinstance(node.claim, ex.Rel) and ranges and all(
                isinstance(c, ex.Rel) and not isinstance(c.terms[0], ex.Idx) for c in conds):
            yield node.claim
            for cond in conds:
                yield from statements(cond)
    elif isinstance(node, (ex.Rel, ex.In)):
        yield node


def _sort(claim: ex.Rel | ex.In, formula: Formula, found: Definitions, table: SymbolTable) -> None:
    if any(isinstance(n, _NO_VALUES) or (isinstance(n, ex.Fn) and n.name.endswith("'")) for n in ex.walk(claim)):
        return  # a derivative: asked for, given, or claimed
    if isinstance(claim, ex.In):
        found.facts.append((claim, formula))
        return
    head, *values = claim.terms
    if set(claim.ops) != {"="}:
        running = [t for t in claim.terms if isinstance(t, ex.Idx)]
        if len(claim.terms) == 3 and claim.terms[1] in running and set(claim.ops) == {"≤"}:
            found.ranges.append((running[0], claim.terms[0], claim.terms[2]))
        elif not running:
            found.facts.append((claim, formula))
    elif isinstance(head, ex.SetApp):
        found.sets.append(claim)
    elif isinstance(head, ex.Fn) and all(isinstance(a, ex.Entry) and not a.indices for a in head.args):
        _function(claim, head, formula, found, table)
    elif len(values) == 1 and (number := _number(values[0])) is not None and (isinstance(head, ex.Size) or (
        isinstance(head, ex.Entry) and not head.indices)):
        name = head.name if isinstance(head, ex.Size) else head.tensor
        _numbered(name, ex.Num(number), formula, found)
    elif isinstance(head, ex.Entry) and _defines(head, values, table):
        plain = isinstance(values[-1], ex.Entry) and all(isinstance(i, ex.Idx) for i in values[-1].indices)
        if plain and not formula.display:
            found.aliases.append((head, formula))
            return  # «what happens at $y_j = t_j$?»
        _tensor(head, values, formula, found)
    elif isinstance(head, ex.Entry) and _single(head, values):
        raise CardError(Problem(f"{place(formula)} defines single entries of `{head.tensor}`: write an index "
                                "letter, or give each entry a letter of its own", line=formula.line))
    elif isinstance(head, ex.Reduce):
        found.facts.append((claim, formula))
    elif not isinstance(head, (ex.Entry, ex.Idx, ex.Size, ex.Num)):
        found.unplaced.append((claim, formula))


def _numbered(name: str, number: ex.Num, formula: Formula, found: Definitions) -> None:
    """a = 0.01; of y = 0 and y = 1, in two places, neither is put in: y is one of them."""
    first = found.numbers.setdefault(name, (number, formula))
    values = dict.fromkeys([*found.values.get(name, {}), first[0], number])
    if len(values) > 1:
        found.values[name] = values
        listed = ex.In(ex.Entry(name, ()), ex.Listed(tuple(values)))
        found.facts = [f for f in found.facts if not (isinstance(f[0], ex.In) and f[0].element is listed.element)]
        found.facts.append((listed, formula))


def _single(head: ex.Entry, values: list[ex.Expr]) -> bool:
    """y_1 = something that is computed."""
    computed = any(isinstance(n, ex.Entry) for v in values for n in ex.walk(v))
    return computed and not head.tensor.startswith("delta_") and any(not isinstance(i, ex.Idx) for i in head.indices)


def _defines(head: ex.Entry, values: list[ex.Expr], table: SymbolTable) -> bool:
    """y_k = something that is computed; δ_x = … is a message, n = 4 a number."""
    message = head.tensor.startswith("delta_") and table.named(head.tensor.removeprefix("delta_")) is not None
    computed = any(not isinstance(v, (ex.Num, ex.Size)) for v in values)
    plain = all(isinstance(i, ex.Idx) for i in head.indices) and len(set(head.indices)) == len(head.indices)
    return not message and computed and plain


def _number(value: ex.Expr) -> Fraction | None:
    """The number of 0.01, of 10^{-5} and of 3 · 10^{-4}; None for what has letters."""
    match value:
        case ex.Num(number):
            return number
        case ex.Pow(ex.Num(base), ex.Num(exponent)) if exponent.denominator == 1 and base and abs(exponent) < 100:
            return Fraction(base) ** exponent.numerator
        case ex.Mul(factors):
            numbers = [_number(f) for f in factors]
            return math.prod((n for n in numbers if n is not None), start=Fraction(1)) if None not in numbers else None
    return None


def _function(claim: ex.Rel, head: ex.Fn, formula: Formula, found: Definitions, table: SymbolTable) -> None:
    parameters = tuple(a.tensor for a in head.args if isinstance(a, ex.Entry))
    body = claim.terms[-1]
    assert isinstance(body, ex.Expr)
    symbol = table.named(head.name)
    if symbol is None or symbol.kind is not Kind.FUNCTION:
        if any(isinstance(value, ex.Expr) and contradicts(head, value) for value in claim.terms[1:]):
            raise CardError(Problem(f"{place(formula)} is not the {head.name} that its sign means; correct it, or give "
                                    "the function another letter", line=formula.line))
        if any(isinstance(n, ex.Entry) and n.tensor in parameters for n in ex.walk(body)):
            found.known.append((body, formula))
        else:
            found.unplaced.append((claim, formula))
        return
    new = Function(head.name, parameters, body)
    old = found.functions.get(head.name)
    if old is not None and old[0].at(head.args) is not body:
        raise _two(head.name, old[1], formula)
    found.functions.setdefault(head.name, (new, formula))


def _tensor(head: ex.Entry, values: list[ex.Expr], formula: Formula, found: Definitions) -> None:
    value = _one_of(head, values)
    if any(isinstance(n, ex.Entry) and n.tensor == head.tensor for n in ex.walk(value)):
        raise UnsupportedError(Problem(f"`{head.tensor}` is computed from itself ({place(formula)}): recursions "
                                       "are not covered; give each step its own letter", line=formula.line))
    old = found.tensors.get(head.tensor)
    if old is None:
        found.tensors[head.tensor] = Definition(head, value, formula)
        return
    again = ex.subst(old.value, dict(zip(old.entry.indices, head.indices, strict=True)))
    if _bare(again) is not _bare(value):
        same = ex.subst(value, dict(zip(head.indices, old.entry.indices, strict=True)))
        found.again.append(Definition(old.entry, same, formula))
    elif _written(value) > _written(again):
        found.tensors[head.tensor] = Definition(head, value, formula)


def _one_of(head: ex.Entry, values: list[ex.Expr]) -> ex.Expr:
    """Of a chain y = a = b, which says that a and b are equal: the last that leaves no index open."""
    closed = [v for v in values if ex.free_indices(v) <= set(head.indices)] or values[-1:]
    best = closed[-1]
    same = [v for v in closed if _bare(v) is _bare(best)]
    return max(same, key=_written)


def _bare(node: ex.Expr) -> ex.Expr:
    """The value without the written ranges of its sums."""

    def go(n: ex.Node) -> ex.Node | None:
        if not isinstance(n, ex.Reduce):
            return None
        none = (None,) * len(n.binder.variables)
        binder = type(n.binder)(n.binder.variables, none, none, n.binder.cond)
        return ex.Reduce(n.op, binder, n.body)

    return ex.transform(node, go)


_MOST_NODES = 2_000  # of a definition in terms of what is given


def _spelt_out(node: ex.Expr, found: Definitions) -> ex.Expr:
    """The value in terms of what no formula defines: softmax(z/τ) and e^{z_i/τ} / Σ_j e^{z_j/τ} are one."""
    def go(n: ex.Node) -> ex.Node | None:
        own = found.tensors.get(n.tensor) if isinstance(n, ex.Entry) else None
        if own is None or not isinstance(n, ex.Entry) or len(own.entry.indices) != len(n.indices):
            return None
        return ex.subst(own.value, dict(zip(own.entry.indices, n.indices, strict=True)))

    for _ in found.tensors:
        if sum(1 for _ in ex.walk(node)) > _MOST_NODES:
            break  # of a chain in which each letter stands twice: then two definitions are taken to differ
        node = ex.transform(node, go)
    return ex.transform(_bare(node), _in_order)


def _in_order(node: ex.Node) -> ex.Node | None:
    """The factors and terms in one order."""
    if isinstance(node, ex.Mul):
        return ex.Mul(tuple(sorted(node.factors, key=repr)))
    return ex.Add(tuple(sorted(node.terms, key=repr))) if isinstance(node, ex.Add) else None


def _written(node: ex.Expr) -> int:
    """How many sums have a written range."""
    return sum(isinstance(n, ex.Reduce) and n.binder.upper[0] is not None for n in ex.walk(node))


def inlined(found: Definitions) -> Definitions:
    """Functions that use letters besides their arguments written out where they are applied."""
    open_ = {name: f for name, (f, _) in found.functions.items() if _others(f)}
    if not open_:
        return found

    def go(node: ex.Node) -> ex.Node | None:
        return open_[node.name].at(node.args) if isinstance(node, ex.Fn) and node.name in open_ else None

    def whole(value: ex.Expr) -> ex.Expr:
        for _ in open_:  # one function may apply another
            value = ex.transform(value, go)
        return value

    tensors = {name: replace(d, value=whole(d.value)) for name, d in found.tensors.items()}
    functions = {n: (replace(f, body=whole(f.body)), place_) for n, (f, place_) in found.functions.items()
                 if n not in open_}
    return replace(found, tensors=tensors, functions=functions)


def _others(function: Function) -> bool:
    return any(isinstance(n, ex.Entry) and n.tensor not in function.parameters for n in ex.walk(function.body))


_POINTS = (-1.7, -0.3, 0.4, 1.9)
_CLOSE = 1e-9


def contradicts(head: ex.Fn, body: ex.Expr) -> bool:
    """Whether the value differs from the known function somewhere; False where either cannot be computed."""
    if len(head.args) != 1 or known(head.name) is None:
        return False
    for point in _POINTS:
        at = {head.args[0]: point}
        try:
            expected, stated = value(ex.Fn(head.name, head.args), at), value(body, at)
        except (ValueError, ArithmeticError, KeyError):
            continue
        if not math.isclose(expected, stated, rel_tol=_CLOSE, abs_tol=_CLOSE):
            return True
    return False
