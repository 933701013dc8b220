"""Sums collapsed: Σ_m f_m [m = k] = f_k, with what is left of the range; free factors in front; Σ 1 counted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from derive.calculus.algebra import Monomial, key, monomial, size
from derive.calculus.arithmetic import Arithmetic, over
from derive.calculus.brackets import as_bracket, unclipped
from derive.calculus.extremum import extremisers
from derive.calculus.ranges import Affine, Range, axis_range, binder_of, conditions, ranges_of, solve, within
from derive.expr import (
    ONE,
    ZERO,
    Add,
    Arg,
    Bracket,
    Cardinality,
    Cases,
    Cond,
    Entry,
    Expr,
    Idx,
    In,
    Mul,
    Node,
    Otherwise,
    Reduce,
    Rel,
    SetApp,
    Star,
    Tuple,
    eq,
    free_indices,
    open_binder,
    subst,
    tuple_of,
    walk,
)
from derive.module import Module

Variables = tuple[Idx, ...]
Conds = tuple[Cond, ...]


class Contraction(Arithmetic, ABC):
    """The sums, maxima and cases of a simplification; ``self(node)`` simplifies a part."""

    @abstractmethod
    def __call__(self, node: Expr) -> Expr: ...

    def total(self, variables: Variables, conds: Conds, body: Expr) -> Expr:
        """Σ over the variables, where the conditions hold, of the body."""
        if body is ZERO:
            return ZERO
        if not variables:
            return self.product([*map(self, map(Bracket, conds)), body])
        if isinstance(body, Add):
            return _of_sum(self, variables, conds, body)
        whole = monomial(body)
        bound = set(variables)
        outside = [a for a, e in whole.powers.items() if not (free_indices(a) | free_indices(e)) & bound]
        if outside or whole.number != 1:
            front = Monomial(whole.number, {a: whole.powers[a] for a in outside})
            inner = whole.without(outside)
            inner.number /= whole.number
            return self.product([front.expr(), self.total(variables, conds, inner.expr())])
        for step in (_delta, _joined, _condition, _expanded, _in_cases, _attained, _counted):
            found = step(self, variables, conds, whole)
            if found is not None:
                return found
        return self.closed("sum", variables, conds, body)

    def closed(self, op: str, variables: tuple[Idx, ...], conds: tuple[Cond, ...], body: Expr) -> Expr:
        binder = binder_of(variables, self.ranges, conds, body, self.module)
        node = Reduce(op, binder, body)
        return self.folded(monomial(self.known.setdefault(key(node), node))).expr()

    def cases(self, branches: list[tuple[Expr, Cond]]) -> Expr:
        """Equal branches joined, common factors in front; { v if c, 0 otherwise } is v [c]."""
        branches = [(v, unclipped(c, self.ranges)) for v, c in branches]
        while len(branches) > 1 and isinstance(branches[-1][1], Otherwise) and branches[-2][0] is branches[-1][0]:
            branches = [*branches[:-2], branches[-1]]
        values = [v for v, _ in branches]
        complete = isinstance(branches[-1][1], Otherwise)
        if complete and len(values) == 1:
            return values[0]
        if all(v is ZERO for v in values):
            return ZERO
        some_zero = len(values) > 2 and any(v is ZERO for v in values)
        front = self.common([monomial(v) for v in values if v is not ZERO], some_zero) or Monomial()
        front.number = Fraction(-1 if front.number < 0 else 1)
        rests = [ZERO if v is ZERO else over(monomial(v), front).expr() for v in values]
        rest = as_bracket([(r, c) for r, (_, c) in zip(rests, branches, strict=True)])
        return self.product([front.expr(), rest])


def _of_sum(form: Contraction, variables: Variables, conds: Conds, body: Add) -> Expr:
    """Σ (u + v) = Σ u + Σ v: where a delta needs it, or where it is shorter."""
    split = form.sum_of([form.total(variables, conds, t) for t in body.terms])
    if has_delta(body, variables):
        return split
    kept = form.closed("sum", variables, conds, body)
    return split if size(split) < size(kept) else kept


def _delta(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Σ_v f(v) [v = e] = f(e) where e lies in the range of v."""
    for atom in whole.powers:
        if not isinstance(atom, Bracket):
            continue
        parts = conditions(atom.cond)
        for n, part in enumerate(parts):
            found = _solved(part, variables)
            if found is None:
                continue
            v, e, others = found
            rest = [*parts[:n], *others, *parts[n + 1:], *conds]
            if v in form.ranges and not _is_place(e, form.ranges[v], form.module):
                rest += filter(None, [within(e, form.ranges[v], form.ranges)])
            here: dict[Node, Node] = {v: e}
            left = tuple(w for w in variables if w is not v)
            guards = [form(Bracket(subst(c, here))) for c in rest]
            body = form(subst(whole.without([atom]).expr(), here))
            return form.total(left, (), form.product([*guards, body]))
    return None


def _is_place(term: Expr, bounds: Range, module: Module) -> bool:
    """2k + a^*(k) of max_a h_{2k+a}: where a maximum is attained, so an index of h in range."""
    for star in (n for n in walk(term) if isinstance(n, Star)):
        known = next((e for e in extremisers(module) if star.name in e.definitions), None)
        if known is None or not isinstance(known.arg.body, Entry):
            continue
        binder, body = open_binder(known.arg)
        here: dict[Node, Node] = dict(zip(module.parameters_of(known.arg), star.at, strict=True))
        here |= {v: Star(s.name, star.at) for v, s in zip(binder.variables, known.stars, strict=True)}
        assert isinstance(body, Entry)
        if any(Affine.of(subst(place, here)).expr() is Affine.of(term).expr() and axis_range(body.tensor, d, module)
               == bounds for d, place in enumerate(body.indices)):
            return True
    return False


def _solved(cond: Cond, variables: Variables) -> tuple[Idx, Expr, list[Cond]] | None:
    """(v, e, the other equations) where one of the equations says v = e."""
    if not isinstance(cond, Rel) or cond.ops != ("=",) or any(isinstance(t, Arg) for t in cond.terms):
        return None
    left, right = (t.items if isinstance(t, Tuple) else (t,) for t in cond.terms)
    for n, (a, b) in enumerate(zip(left, right, strict=True)):
        found = solve(a, b, variables)
        if found is not None and found[0] not in free_indices(found[1]):
            others: list[Cond] = [eq(c, d) for m, (c, d) in enumerate(zip(left, right, strict=True)) if m != n]
            return (*found, others)
    return None


def _joined(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Σ_v Σ_w f = Σ_{v,w} f; Σ_v f(v) Σ_{w : v = e(w)} g(w) likewise, so that the equation can be solved for v."""
    for atom, exponent in whole.powers.items():
        if not isinstance(atom, Reduce) or atom.op != "sum" or exponent is not ONE:
            continue
        alone = len(whole.powers) == 1
        if not alone and not any(_solved(c, variables) for c in conditions(atom.binder.cond)):
            continue
        binder, body = open_binder(atom)
        own = tuple(v for v in binder.variables if isinstance(v, Idx))
        ranges = ranges_of(binder, body, form.module)
        bounds = [b for r in ranges.values() for b in (r.lower, r.upper)]
        if len(own) < len(binder.variables) or any(free_indices(b) & set(variables) for b in bounds):
            continue
        form.ranges |= ranges
        inner = conditions(binder.cond)
        if alone:
            return form.total((*variables, *own), (*conds, *inner), body)
        guards = [form(Bracket(c)) for c in inner]
        return form.total((*variables, *own), conds, form.product([whole.without([atom]).expr(), *guards, body]))
    return None


def _condition(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Σ_v f(v) [c(v)] = Σ_{v : c(v)} f(v), for a condition on indices alone."""
    for atom in whole.powers:
        if isinstance(atom, Bracket) and not any(isinstance(n, (Entry, Star, Arg)) for n in walk(atom)):
            return form.total(variables, (*conds, *conditions(atom.cond)), whole.without([atom]).expr())
    return None


def _expanded(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Multiplied out only where a delta stands inside."""
    for atom, exponent in whole.powers.items():
        if isinstance(atom, Add) and exponent is ONE and has_delta(atom, variables):
            rest = whole.without([atom]).expr()
            return form.sum_of([form.total(variables, conds, form.product([rest, t])) for t in atom.terms])
    return None


def _in_cases(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Σ_v { f(v) if c, g(v) otherwise } = { Σ f if c, Σ g otherwise } for c free of v, where a delta needs it."""
    for atom, exponent in whole.powers.items():
        if not isinstance(atom, Cases) or exponent is not ONE or not has_delta(atom, variables):
            continue
        if any(free_indices(c) & set(variables) for _, c in atom.branches):
            continue
        rest = whole.without([atom]).expr()
        return form.cases([(form.total(variables, conds, form.product([rest, v])), c) for v, c in atom.branches])
    return None


def _attained(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Σ_k f(k) [i = i^*(k)] runs over the k with i ∈ Ω(k) only: the maximiser over Ω(k) lies in it."""
    for atom in whole.powers:
        member = _member(atom, variables, form.module) if isinstance(atom, Bracket) else None
        if member is not None and member not in conds:
            return form.closed("sum", variables, (*conds, member), whole.expr())
    return None


def _member(atom: Bracket, variables: Variables, module: Module) -> In | None:
    """(i, j) ∈ Ω(k, l), where the bracket is [(i, j) = (i^*(k, l), j^*(k, l))] and k, l are summed over."""
    if not isinstance(atom.cond, Rel) or atom.cond.ops != ("=",):
        return None
    place, stars = atom.cond.terms
    items = stars.items if isinstance(stars, Tuple) else (stars,)
    named = [s for s in items if isinstance(s, Star) and s.at == variables]
    if len(named) < len(items) or free_indices(place) & set(variables):
        return None
    for known in extremisers(module):
        if tuple(s.name for s in known.stars) == tuple(s.name for s in named):
            domain = known.arg.binder.cond
            if isinstance(domain, In) and domain.element is tuple_of(known.arg.binder.variables) and (
                    isinstance(domain.set, SetApp) and domain.set.args == known.stars[0].at):
                return In(place, SetApp(domain.set.name, variables))
    return None


def _counted(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> Expr | None:
    """Σ_{v=a}^{b} c = (b − a + 1) c, and Σ_{v∈Ω} c = |Ω| c."""
    used = frozenset[Idx]().union(*(free_indices(n) for n in (*whole.powers, *whole.powers.values(), *conds)))
    for v in variables:
        if v not in used and v in form.ranges:
            left = tuple(w for w in variables if w is not v)
            return form.product([form.ranges[v].length, form.total(left, conds, whole.expr())])
    if len(conds) == 1 and isinstance(conds[0], In) and not whole.powers:
        element = conds[0].element
        items = element.items if isinstance(element, Tuple) else (element,)
        if items == variables and not free_indices(conds[0].set) & set(variables):
            return form.product([Cardinality(conds[0].set), whole.expr()])
    return None


def has_delta(node: Expr, variables: Variables) -> bool:
    """A factor [v = …] stands in a term, not below a reduction."""
    if isinstance(node, Bracket):
        return any(_solved(c, variables) is not None for c in conditions(node.cond))
    if isinstance(node, Cases):
        return any(has_delta(v, variables) for v, _ in node.branches)
    return isinstance(node, (Add, Mul)) and any(has_delta(c, variables) for c in _operands(node))


def _operands(node: Add | Mul) -> tuple[Expr, ...]:
    return node.terms if isinstance(node, Add) else node.factors
