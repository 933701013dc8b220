"""Random expressions, built by the builders of derive.expr, over the letters of tables.LETTERS."""

from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from derive.expr import (
    MINUS_ONE,
    OTHERWISE,
    And,
    Arg,
    Binder,
    Bracket,
    Cardinality,
    Cases,
    Directional,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Hull,
    Idx,
    Iff,
    In,
    Infinity,
    Matrix,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    SetApp,
    SetOf,
    Size,
    Star,
    Subdifferential,
    Tuple,
    Unit,
    Without,
    add,
    mul,
    over,
    ranging,
    tuple_of,
)

FREE = tuple(map(Idx, ("i", "j", "k", "l", "q", "r", "i'", "alpha")))
RANKS = {"x": 2, "f": 2, "delta_x": 2, "delta_f": 2, "y_hat": 2, "loss": 0, "step": 0, "z": 1, "direction": 1, "t": 3,
         "variance": 1, "sample": 2, "label": 1}
OPS = ("=", "≠", "<", "≤", ">", "≥")

integers = st.integers(-5, 9).map(Num)
numbers = st.one_of(integers, st.builds(Fraction, st.integers(-4, 7), st.integers(1, 4)).map(Num))


@cache
def index_terms(scope: tuple[Idx, ...]) -> st.SearchStrategy[Expr]:
    letters = st.sampled_from(scope)
    plain = st.one_of(letters, letters, letters, st.integers(0, 12).map(Num), st.sampled_from((Size("H"), Size("N"))))
    affine = st.builds(lambda n, i, m: add(mul(Num(n), i), Num(m)), st.integers(-2, 3), letters, st.integers(-2, 2))
    rounded = st.builds(
        lambda name, term, n: Fn(name, (mul(Num(Fraction(1, n)), term),)),
        st.sampled_from(("floor", "ceil")), st.one_of(letters, affine), st.integers(2, 3))
    stars = st.builds(Star, st.sampled_from("ij"), st.one_of(
        st.just((Idx("k"), Idx("l"))), st.tuples(letters, letters)))
    return st.one_of(plain, plain, affine, rounded, stars, st.builds(lambda a, b: add(a, b), letters, letters))


@cache
def entries(scope: tuple[Idx, ...]) -> st.SearchStrategy[Entry]:
    def indexed(name: str) -> st.SearchStrategy[Entry]:
        terms = st.tuples(*[index_terms(scope)] * RANKS[name])
        return st.builds(Entry, st.just(name), terms)

    return st.sampled_from(sorted(RANKS)).flatmap(indexed)


@cache
def windows(scope: tuple[Idx, ...]) -> st.SearchStrategy[Expr]:
    two = st.tuples(index_terms(scope), index_terms(scope))
    omega = st.builds(lambda args: SetApp("Omega", args), two)
    return st.one_of(omega, st.builds(lambda s, e: Without(s, (Tuple(e),)), omega, two))


@st.composite
def conditions(draw, scope: tuple[Idx, ...], depth: int):
    kind = draw(st.sampled_from(("rel", "rel", "chain", "in", "tuple", "and")))
    value = expressions(scope, depth - 1)
    if kind == "rel":
        return Rel((draw(value), draw(value)), (draw(st.sampled_from(OPS)),))
    if kind == "chain":
        terms = tuple(draw(index_terms(scope)) for _ in range(3))
        return Rel(terms, tuple(draw(st.sampled_from(OPS)) for _ in range(2)))
    if kind == "in":
        return In(draw(st.sampled_from(scope)), draw(st.sampled_from((SetApp("active", ()), SetApp("R_cal", (scope[0],))))))
    if kind == "tuple":
        two = st.tuples(index_terms(scope), index_terms(scope)).map(Tuple)
        return draw(st.one_of(st.builds(lambda a, b: Rel((a, b), ("=",)), two, two),
                              st.builds(In, two, windows(scope))))
    parts = draw(st.lists(conditions(scope, 0).filter(lambda c: not isinstance(c, And)), min_size=2, max_size=3))
    return And(tuple(parts))


@st.composite
def binders(draw, scope: tuple[Idx, ...]):
    count = draw(st.integers(1, 2))
    variables = tuple(Idx(f"v{len(scope)}{n}") for n in range(count))
    inner = (*scope, *variables)
    kind = draw(st.sampled_from(("member", "covering", "range", "ranges", "free", "unequal", "cond", "both", "half")))
    if kind == "member":
        of = draw(windows(scope)) if count == 2 else SetApp("active", ())
        return over(variables, In(tuple_of(variables), of)), inner
    if kind == "covering" and count == 2:
        return over(variables, In(Tuple((Idx("i"), Idx("j"))), SetApp("Omega", variables))), inner
    low, high = draw(integers), draw(st.one_of(integers, st.sampled_from((Size("H"), add(Size("N"), MINUS_ONE)))))
    if isinstance(low, Num) and isinstance(high, Num):  # a sum over nothing is refused
        low, high = sorted((low, high), key=lambda n: n.value)
    if kind == "range":
        return ranging(variables[0], low, high), (*scope, variables[0])
    if kind == "half":  # where an axis starts; any other bound alone is a condition
        return Binder(variables, (draw(st.sampled_from((Num(0), Num(1)))),) * count, (None,) * count, None), inner
    if kind in ("ranges", "both"):
        upper = (high,) * count
        cond = draw(conditions(inner, 0)) if kind == "both" else None
        return Binder(variables, (low,) * count, upper, cond), inner
    if kind == "unequal":
        return over(variables[:1], Rel((variables[0], Idx("q")), ("≠",))), (*scope, variables[0])
    if kind == "cond":
        return over(variables, draw(conditions(inner, 0))), inner
    return Binder(variables, (None,) * count, (None,) * count, None), inner


@st.composite
def reductions(draw, scope: tuple[Idx, ...], depth: int):
    binder, inner = draw(binders(scope))
    op = draw(st.sampled_from(("sum", "prod", "max", "min")))
    letters = st.sampled_from(binder.variables)
    own = st.builds(lambda v, e: mul(e, Entry("z", (v,))), letters, expressions(inner, depth - 1))
    return Reduce(op, binder, draw(st.one_of(own, letters, expressions(inner, depth - 1))))


@st.composite
def arguments_of(draw, scope: tuple[Idx, ...]):
    binder, _ = draw(binders(scope))
    return Arg(draw(st.sampled_from(("max", "min"))), binder, Entry("x", (binder.variables[0], binder.variables[-1])))


@cache
def expressions(scope: tuple[Idx, ...], depth: int) -> st.SearchStrategy[Expr]:
    atoms = st.one_of(numbers, entries(scope), entries(scope), st.sampled_from((*scope, Size("H"))))
    if depth <= 0:
        return atoms
    below = st.deferred(lambda: expressions(scope, depth - 1))
    some = st.lists(below, min_size=2, max_size=3)
    return st.one_of(
        atoms,
        some.map(lambda ts: add(*ts)),
        some.map(lambda ts: mul(*ts)),
        st.builds(lambda a, b: mul(a, Pow(b, MINUS_ONE)), below, below.filter(lambda e: not isinstance(e, Num))),
        st.builds(Pow, below, st.sampled_from((Num(2), Num(-2), Num(3), Num(Fraction(1, 2))))),
        st.builds(lambda n, a: Fn(n, (a,)), st.sampled_from(("abs", "floor", "ceil", "exp", "log", "tanh")), below),
        st.builds(lambda n, a: Fn(n, (a,)), st.sampled_from(("phi", "phi'", "sign")), below),
        st.builds(lambda a, b: Fn("mod", (a, b)), below, below),
        st.builds(Extremum, st.sampled_from(("max", "min")), some.map(tuple)),
        st.builds(Bracket, conditions(scope, depth - 1)),
        st.builds(lambda a, c, b: Cases(((a, c), (b, OTHERWISE))), below, conditions(scope, depth - 1), below),
        st.builds(Partial, entries(scope), entries(scope)),
        st.builds(Partial, below, entries(scope)),
        st.builds(Cardinality, st.one_of(windows(scope), st.just(SetApp("active", ())))),
        reductions(scope, depth),
        reductions(scope, depth),
    )


@st.composite
def statements(draw):
    kind = draw(st.sampled_from(("rel", "given", "iff", "arg", "set", "hull", "directional", "matrix", "value", "and", "limit")))
    value, cond = expressions(FREE, 2), conditions(FREE, 1)
    match kind:
        case "given":
            return Given(draw(cond), draw(cond))
        case "iff":
            return Iff(draw(cond), draw(cond))
        case "arg":
            stars = Tuple((Star("i", (Idx("k"), Idx("l"))), Star("j", (Idx("k"), Idx("l")))))
            return Rel((stars, draw(arguments_of(FREE))), ("=",))
        case "set":
            v = Idx("v")
            return Rel((SetApp("active", ()), SetOf(over((v,), draw(conditions((*FREE, v), 0))), v)), ("=",))
        case "hull":
            v = Idx("v")
            hull = Hull(SetOf(over((v,), In(v, SetApp("active", ()))), Unit(v)))
            return Rel((Subdifferential(Entry("loss", ())), hull), ("=",))
        case "directional":
            of = draw(st.sampled_from((Entry("loss", ()), Entry("f", (Idx("k"), Idx("l"))))))
            return Rel((Directional(of, "z", "direction"), draw(value)), ("=",))
        case "matrix":
            rows = draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=3))
            return Rel((Entry("x", ()), Matrix(tuple(rows))), ("=",))
        case "and":
            return And((draw(conditions(FREE, 1).filter(lambda c: not isinstance(c, And))), Rel((draw(value), draw(value)), ("=",))))
        case "limit":
            return Rel((draw(value), draw(st.sampled_from((Infinity(1), Infinity(-1))))), ("<",))
        case "value":
            return draw(value)
    terms = tuple(draw(st.lists(value, min_size=2, max_size=3)))
    return Rel(terms, tuple(draw(st.sampled_from(OPS)) for _ in terms[1:]))
