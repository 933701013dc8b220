"""Sums collapsed: Σ_m f_m [m = k] = f_k, with what is left of the range; free factors in front; Σ 1 counted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import derive.expr as ex
from derive.affine import Affine, Range
from derive.calculus.algebra import Monomial, key, monomial, size
from derive.calculus.arithmetic import Arithmetic, over
from derive.calculus.brackets import as_bracket, unclipped
from derive.calculus.extremum import extremisers
from derive.calculus.ranges import axis_range, binder_of, ranges_of, solve, within
from derive.module import Module

Variables = tuple[ex.Idx, ...]
Conds = tuple[ex.Cond, ...]


class Contraction(Arithmetic, ABC):
    """The sums, maxima and cases of a simplification; ``self(node)`` simplifies a part."""

    @abstractmethod
    def __call__(self, node: ex.Expr) -> ex.Expr: ...

    def total(self, variables: Variables, conds: Conds, body: ex.Expr) -> ex.Expr:
        """Σ over the variables, where the conditions hold, of the body."""
        if body is ex.ZERO:
            return ex.ZERO
        if not variables:
            return self.product([*map(self, map(ex.Bracket, conds)), body])
        if isinstance(body, ex.Add):
            return _of_sum(self, variables, conds, body)
        whole = monomial(body)
        bound = set(variables)
        outside = [a for a, e in whole.powers.items() if not (ex.free_indices(a) | ex.free_indices(e)) & bound]
        if outside or whole.number != 1:
            front = Monomial(whole.number, {a: whole.powers[a] for a in outside})
            inner = whole.without(outside)
            inner.number /= whole.number
            return self.product([front.expr(), self.total(variables, conds, inner.expr())])
        for step in (_delta, _joined, _condition, _expanded, _in_cases, _attained, _counted, _parted):
            found = step(self, variables, conds, whole)
            if found is not None:
                return found
        return self.closed("sum", variables, conds, body)

    def closed(self, op: str, variables: tuple[ex.Idx, ...], conds: tuple[ex.Cond, ...], body: ex.Expr) -> ex.Expr:
        binder = binder_of(variables, self.ranges, conds, body, self.module)
        node = ex.Reduce(op, binder, body)
        return self.folded(monomial(self.known.setdefault(key(node), node))).expr()

    def cases(self, branches: list[tuple[ex.Expr, ex.Cond]]) -> ex.Expr:
        """Equal branches joined, common factors in front; { v if c, 0 otherwise } is v [c]."""
        branches = [(v, self.compared(unclipped(c, self.ranges))) for v, c in branches]
        while len(branches) > 1 and isinstance(branches[-1][1], ex.Otherwise) and branches[-2][0] is branches[-1][0]:
            branches = [*branches[:-2], branches[-1]]
        values = [v for v, _ in branches]
        complete = isinstance(branches[-1][1], ex.Otherwise)
        if complete and len(values) == 1:
            return values[0]
        if all(v is ex.ZERO for v in values):
            return ex.ZERO
        some_zero = len(values) > 2 and any(v is ex.ZERO for v in values)
        front = self.common([monomial(v) for v in values if v is not ex.ZERO], some_zero) or Monomial()
        front.number = Fraction(-1 if front.number < 0 and not any(map(_turns, values)) else 1)
        rests = [ex.ZERO if v is ex.ZERO else over(monomial(v), front).expr() for v in values]
        rest = as_bracket([(r, c) for r, (_, c) in zip(rests, branches, strict=True)])
        return self.product([front.expr(), rest])

    def compared(self, cond: ex.Cond) -> ex.Cond:
        """τ (t − y) > (τ − 1) (t − y) is t > y: what both sides have is left out where that is shorter."""
        if not (isinstance(cond, ex.Rel) and len(cond.ops) == 1 and cond.ops[0] in "<≤>≥") or ex.ZERO in cond.terms:
            return cond
        left, right = cond.terms
        if not any(isinstance(n, ex.Entry) for n in ex.walk(cond)):
            return cond
        gap = self.sum_of([self(left), self(ex.mul(ex.MINUS_ONE, right))])
        terms = [monomial(t) for t in (gap.terms if isinstance(gap, ex.Add) else (gap,))]
        sides = [ex.add(*(ex.mul(ex.Num(sign), m.expr()) for m in terms if m.number * sign > 0)) for sign in (1, -1)]
        found = ex.rel(sides[0], cond.ops[0], sides[1])
        return found if size(found) < size(cond) else cond


def _turns(value: ex.Expr) -> bool:
    """−(a − b) loses its sign as b − a."""
    whole = monomial(value)
    return whole.number == -1 and any(isinstance(a, ex.Add) and any(monomial(t).number < 0 for t in a.terms)
                                      for a in whole.powers)


def _of_sum(form: Contraction, variables: Variables, conds: Conds, body: ex.Add) -> ex.Expr:
    """Σ (u + v) = Σ u + Σ v: where a delta needs it, or where it is shorter."""
    split = form.sum_of([form.total(variables, conds, t) for t in body.terms])
    if has_delta(body, variables):
        return split
    kept = form.closed("sum", variables, conds, body)
    return split if size(split) < size(kept) else kept


def _delta(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_v f(v) [v = e] = f(e) where e lies in the range of v."""
    for atom in whole.powers:
        if not isinstance(atom, ex.Bracket):
            continue
        parts = ex.conditions(atom.cond)
        for n, part in enumerate(parts):
            found = _solved(part, variables)
            if found is None:
                continue
            v, e, others = found
            rest = [*parts[:n], *others, *parts[n + 1:], *conds]
            if v in form.ranges and not _is_place(e, form.ranges[v], form.module):
                rest += filter(None, [within(e, form.ranges[v], form.ranges)])
            here: dict[ex.Node, ex.Node] = {v: e}
            left = tuple(w for w in variables if w is not v)
            guards = [form(ex.Bracket(ex.subst(c, here))) for c in rest]
            body = form(ex.subst(whole.without([atom]).expr(), here))
            return form.total(left, (), form.product([*guards, body]))
    return None


def _is_place(term: ex.Expr, bounds: Range, module: Module) -> bool:
    """2k + a^*(k) of max_a h_{2k+a}: where a maximum is attained, so an index of h in range."""
    for star in (n for n in ex.walk(term) if isinstance(n, ex.Star)):
        known = next((e for e in extremisers(module) if star.name in e.definitions), None)
        if known is None or not isinstance(known.arg.body, ex.Entry):
            continue
        binder, body = ex.open_binder(known.arg)
        here: dict[ex.Node, ex.Node] = dict(zip(module.parameters_of(known.arg), star.at, strict=True))
        here |= {v: ex.Star(s.name, star.at) for v, s in zip(binder.variables, known.stars, strict=True)}
        assert isinstance(body, ex.Entry)
        if any(Affine.of(ex.subst(place, here)).expr() is Affine.of(term).expr() and axis_range(body.tensor, d, module)
               == bounds for d, place in enumerate(body.indices)):
            return True
    return False


def _solved(cond: ex.Cond, variables: Variables) -> tuple[ex.Idx, ex.Expr, list[ex.Cond]] | None:
    """(v, e, the other equations) where one of the equations says v = e."""
    if not isinstance(cond, ex.Rel) or cond.ops != ("=",) or any(isinstance(t, ex.Arg) for t in cond.terms):
        return None
    left, right = (ex.items(t) for t in cond.terms)
    for n, (a, b) in enumerate(zip(left, right, strict=True)):
        found = solve(a, b, variables)
        if found is not None and found[0] not in ex.free_indices(found[1]):
            others: list[ex.Cond] = [ex.eq(c, d) for m, (c, d) in enumerate(zip(left, right, strict=True)) if m != n]
            return (*found, others)
    return None


def _joined(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_v Σ_w f = Σ_{v,w} f; Σ_v f(v) Σ_{w : v = e(w)} g(w) likewise, so that the equation can be solved for v."""
    for atom, exponent in whole.powers.items():
        if not isinstance(atom, ex.Reduce) or atom.op != "sum" or exponent is not ex.ONE:
            continue
        alone = len(whole.powers) == 1
        if not alone and not any(_solved(c, variables) for c in ex.conditions(atom.binder.cond)):
            continue
        binder, body = ex.open_binder(atom)
        own = tuple(v for v in binder.variables if isinstance(v, ex.Idx))
        ranges = ranges_of(binder, body, form.module)
        bounds = [b for r in ranges.values() for b in (r.lower, r.upper)]
        if len(own) < len(binder.variables) or any(ex.free_indices(b) & set(variables) for b in bounds):
            continue
        form.ranges |= ranges
        inner = ex.conditions(binder.cond)
        if alone:
            return form.total((*variables, *own), (*conds, *inner), body)
        guards = [form(ex.Bracket(c)) for c in inner]
        return form.total((*variables, *own), conds, form.product([whole.without([atom]).expr(), *guards, body]))
    return None


def _condition(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_v f(v) [c(v)] = Σ_{v : c(v)} f(v), for a condition on indices alone."""
    for atom in whole.powers:
        if isinstance(atom, ex.Bracket) and not any(isinstance(n, (ex.Entry, ex.Star, ex.Arg)) for n in ex.walk(atom)):
            return form.total(variables, (*conds, *ex.conditions(atom.cond)), whole.without([atom]).expr())
    return None


def _expanded(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Multiplied out only where a delta stands inside."""
    for atom, exponent in whole.powers.items():
        if isinstance(atom, ex.Add) and exponent is ex.ONE and has_delta(atom, variables):
            rest = whole.without([atom]).expr()
            return form.sum_of([form.total(variables, conds, form.product([rest, t])) for t in atom.terms])
    return None


def _in_cases(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_v { f(v) if c, g(v) otherwise } = { Σ f if c, Σ g otherwise } for c free of v, where a delta needs it."""
    for atom, exponent in whole.powers.items():
        if not isinstance(atom, ex.Cases) or exponent is not ex.ONE or not has_delta(atom, variables):
            continue
        if any(ex.free_indices(c) & set(variables) for _, c in atom.branches):
            continue
        rest = whole.without([atom]).expr()
        return form.cases([(form.total(variables, conds, form.product([rest, v])), c) for v, c in atom.branches])
    return None


def _attained(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_k f(k) [i = i^*(k)] runs over the k with i ∈ Ω(k) only: the maximiser over Ω(k) lies in it."""
    for atom in whole.powers:
        member = _member(atom, variables, form.module) if isinstance(atom, ex.Bracket) else None
        if member is not None and member not in conds:
            return form.closed("sum", variables, (*conds, member), whole.expr())
    return None


def _member(atom: ex.Bracket, variables: Variables, module: Module) -> ex.In | None:
    """(i, j) ∈ Ω(k, l), where the bracket is [(i, j) = (i^*(k, l), j^*(k, l))] and k, l are summed over."""
    if not isinstance(atom.cond, ex.Rel) or atom.cond.ops != ("=",):
        return None
    place, stars = atom.cond.terms
    items = ex.items(stars)
    named = [s for s in items if isinstance(s, ex.Star) and s.at == variables]
    if len(named) < len(items) or ex.free_indices(place) & set(variables):
        return None
    for known in extremisers(module):
        if tuple(s.name for s in known.stars) == tuple(s.name for s in named):
            domain = known.arg.binder.cond
            if isinstance(domain, ex.In) and domain.element is ex.tuple_of(known.arg.binder.variables) and (
                    isinstance(domain.set, ex.SetApp) and domain.set.args == known.stars[0].at):
                return ex.In(place, ex.SetApp(domain.set.name, variables))
    return None


def _counted(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_{v=a}^{b} c = (b − a + 1) c, and Σ_{v∈Ω} c = |Ω| c."""
    used = frozenset[ex.Idx]().union(*(ex.free_indices(n) for n in (*whole.powers, *whole.powers.values(), *conds)))
    for v in variables:
        if v not in used and v in form.ranges:
            left = tuple(w for w in variables if w is not v)
            return form.product([form.ranges[v].length, form.total(left, conds, whole.expr())])
    if len(conds) == 1 and isinstance(conds[0], ex.In) and not whole.powers:
        element = conds[0].element
        items = ex.items(element)
        if items == variables and not ex.free_indices(conds[0].set) & set(variables):
            return form.product([ex.Cardinality(conds[0].set), whole.expr()])
    return None


def _parted(form: Contraction, variables: Variables, conds: Conds, whole: Monomial) -> ex.Expr | None:
    """Σ_t [(v, d) = (w_t, i)] = [d = i] Σ_t [v = w_t]: what does not move with t stands in front."""
    for atom in (a for a in whole.powers if isinstance(a, ex.Bracket)):
        if not isinstance(atom.cond, ex.Rel) or atom.cond.ops != ("=",):
            continue
        pairs = [*zip(*map(ex.items, atom.cond.terms), strict=True)]
        still = [p for p in pairs if not (ex.free_indices(p[0]) | ex.free_indices(p[1])) & {*variables}]
        moving = [p for p in pairs if p not in still]
        if still and moving:
            front, inner = (ex.Bracket(ex.eq(*map(ex.tuple_of, zip(*own, strict=True)))) for own in (still, moving))
            rest = form.product([inner, whole.without([atom]).expr()])
            return form.product([front, form.total(variables, conds, rest)])
    return None


def has_delta(node: ex.Expr, variables: Variables) -> bool:
    """A factor [v = …] stands in a term, not below a reduction."""
    if isinstance(node, ex.Bracket):
        return any(_solved(c, variables) is not None for c in ex.conditions(node.cond))
    if isinstance(node, ex.Cases):
        return any(has_delta(v, variables) for v, _ in node.branches)
    return isinstance(node, (ex.Add, ex.Mul)) and any(has_delta(c, variables) for c in _operands(node))


def _operands(node: ex.Add | ex.Mul) -> tuple[ex.Expr, ...]:
    return node.terms if isinstance(node, ex.Add) else node.factors
