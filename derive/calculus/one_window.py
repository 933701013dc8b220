"""One window as a layer of its own: f = max_{1≤q≤n} z_q, and what is true of it.

The letters (z, q, …) are chosen so that they do not meet the card's.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from string import ascii_lowercase

from derive.axes import unused, with_size_letters
from derive.calculus.messages import Messages, variable
from derive.expr import (
    MINUS_ONE,
    ONE,
    ZERO,
    And,
    Bracket,
    Cardinality,
    Cond,
    Directional,
    Entry,
    Expr,
    Extremum,
    Given,
    Hull,
    Idx,
    In,
    Mul,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    SetApp,
    SetOf,
    Subdifferential,
    Tuple,
    Unit,
    add,
    eq,
    mul,
    over,
    ranging,
    rel,
    sub,
    subst,
    walk,
)
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.records import dataclass
from derive.window_axis import WindowAxis


@dataclass(frozen=True)
class OneWindow:
    """A window of ``n`` entries as a module, and the names of what the sheet defines on it."""

    module: Module
    n: int
    entries: str  # z
    op: str  # max or min
    q: Idx
    r: Idx

    def z(self, at: Expr | int) -> Entry:
        return Entry(self.entries, (Num(at) if isinstance(at, int) else at,))

    @property
    def z_all(self) -> Entry:
        """The column of all entries."""
        return Entry(self.entries, ())

    @property
    def f(self) -> Entry:
        return Entry(self.module.output, ())

    def named(self, name: str, at: Expr | None = None) -> Entry:
        """A tensor that the sheet defines (S_q, m_q, g_q) or the whole of it, or the step h."""
        return Entry(name, () if at is None else (at,))

    @property
    def active(self) -> SetApp:
        return SetApp("active", ())

    @property
    def beats(self) -> str:
        """The relation of the value that wins to one that loses."""
        return ">" if self.op == "max" else "<"

    @property
    def loses(self) -> str:
        return "<" if self.op == "max" else ">"

    @property
    def unique(self) -> Cond:
        """|A| = 1."""
        return eq(Cardinality(self.active), ONE)


@dataclass(frozen=True)
class Windowed:
    """t_{kl} = max_{(i, j) ∈ Ω(k, l)} u_{ij}: an equation of a module as a layer of its own, and one of its windows."""

    layer: Module
    window: OneWindow
    whole: bool  # the module is this equation and nothing else

    @property
    def source(self) -> str:
        """u, whose entries are compared."""
        return self.layer.inputs[0]

    @property
    def offsets(self) -> tuple[str, ...]:
        """Letters that count the cells of a window along each axis."""
        assert self.layer.receptive_field is not None
        return unused(self.layer.table, "abcdguvw", len(self.layer.receptive_field.axes))

    @property
    def names(self) -> SymbolTable:
        """The letters of the list z_1 = x_{2k,2l}, …"""
        entries = self.window.module.table.named(self.window.entries)
        assert entries is not None
        return self.layer.table.extended((entries, *(Symbol(a, a, Kind.INDEX) for a in self.offsets)))


@lru_cache(maxsize=64)
def windowed(module: Module) -> tuple[Windowed, ...]:
    """The maxima and minima over windows of one size that the equations of a module are."""
    layers = (_layer(equation, module) for equation in module.equations)
    return tuple(Windowed(layer, one_window(layer), layer is module) for layer in layers if layer is not None)


def _layer(equation: Rel, module: Module) -> Module | None:
    """The equation alone, with the tensor that its windows read as input; None where it is no such maximum."""
    entry, value = equation.terms
    if not isinstance(entry, Entry) or not isinstance(value, Reduce) or value.op not in ("max", "min"):
        return None
    body, cond = value.body, value.binder.cond
    if not isinstance(body, Entry) or not isinstance(cond, In) or not isinstance(cond.set, SetApp):
        return None
    field, element = dict(module.fields).get(cond.set.name), cond.element
    members = element.items if isinstance(element, Tuple) else (element,)
    if cond.set.args != entry.indices or members != body.indices:
        return None
    if field is None or not all(isinstance(a, WindowAxis) for a in field.axes):
        return None
    if len(module.equations) == 1 and module.inputs == (body.tensor,):
        return module
    return replace(module, equations=(equation,), inputs=(body.tensor,), parameters=(), constants=(),
                   output=entry.tensor, fields=((cond.set.name, field),), functions=(), facts=(), held=(), wanted=(),
                   asked=("jacobian", "vjp"), input_size=None, recounted=None, ranges=())


def derivation(module: Module) -> Messages:
    """The messages of a module, with letters for what its sheet names.

    Of one that is a maximum over windows: the extents of input and output, the mask, primes for bound coordinates.
    """
    if not any(w.whole for w in windowed(module)):
        return Messages(module)
    sized, (wrt,) = with_size_letters(module), module.inputs
    source, (mask,) = sized.table.named(wrt), unused(sized.table, "CBGTSXYZ")
    assert source is not None
    axes = tuple(i.name for i in variable(module, wrt).indices if isinstance(i, Idx))
    table = sized.table.extended((Symbol("mask", mask, Kind.TENSOR, axes, (), source.sizes),))
    return Messages(replace(sized, table=table), spare=False)


def scope_tables(module: Module) -> dict[str, SymbolTable]:
    """The letters of each scope of a sheet: of the layer, of its examples, of each window and of its entries' names."""
    found = dict.fromkeys(("layer", "example", "tied"), module.table)
    for number, w in enumerate(windowed(module)):
        found[scope_name("window", number)] = w.window.module.table
        found[scope_name("entries", number)] = w.names
    return found


def scope_name(scope: str, number: int) -> str:
    """``window``, ``window 2``, …"""
    return scope if not number else f"{scope} {number + 1}"


def one_window(module: Module) -> OneWindow:
    """The window module of a layer whose output is one max or min over a window."""
    _, value = module.definition(module.output)
    field = module.receptive_field
    assert isinstance(value, Reduce) and field is not None
    n = 1
    for size in field.kernel_size:
        n *= size
    z, q, r, h, v, w, m, g, active, loss = _letters(module)
    output = module.table.named(module.output)
    assert output is not None
    tensor = Kind.TENSOR
    table = SymbolTable((
        Symbol(module.output, output.latex, tensor),
        Symbol(z, z, tensor, (q,), (), (n,)),
        Symbol("direction", v, tensor, (q,), (), (n,)),
        Symbol("indicator", w, tensor, (q,), (), (n,)),
        Symbol("rival", m, tensor, (q,), (), (n,)),
        Symbol("subgradient", g, tensor, (q,), (), (n,)),
        Symbol("step", h, tensor),
        Symbol("active", active, Kind.SET, (), (q,)),
        Symbol("loss", loss, tensor),
        Symbol(q, q, Kind.INDEX),
        Symbol(r, r, Kind.INDEX),
    ))
    body = subst(value.body, {node: Entry(z, (Idx(q),)) for node in walk(value.body)
                              if isinstance(node, Entry) and node.tensor in module.inputs})
    formula = Reduce(value.op, ranging(Idx(q), ONE, Num(n)), body)
    window = Module((eq(Entry(module.output, ()), formula),), table, module.output, (z,),
                    tie_rule=module.tie_rule, name=module.name, key=module.key)
    return OneWindow(window, n, z, value.op, Idx(q), Idx(r))


def _letters(module: Module) -> tuple[str, ...]:
    table = module.table
    found: list[str] = []
    for pool in ("zuvycab", "qrtpuvmn", "qrtpuvmn", "ht", "vdsc", "SPGE", "mMcd", "gs"):
        found.append(next(c for c in unused(table, pool + "abcdghosuvw" + ascii_lowercase, 60) if c not in found))
    active = next(c for c in unused(table, "ABCSTQ", 6))
    own = table.named("loss")
    loss = own.latex if own is not None else next(c for c in unused(table, "LEJ", 3))
    return (*found, rf"\mathcal{{{active}}}", loss)


# --- the statements ---------------------------------------------------------


def rival(w: OneWindow) -> Rel:
    """m_q = max_{r ≠ q} z_r: the best of the others."""
    return eq(w.named("rival", w.q), Reduce(w.op, over((w.r,), rel(w.r, "≠", w.q)), w.z(w.r)))


def duel(w: OneWindow) -> Rel:
    """max(z_q, m_q) = f."""
    return eq(Extremum(w.op, (w.z(w.q), w.named("rival", w.q))), w.f)


def quotients(w: OneWindow) -> tuple[Given, Given]:
    """(max(z_q + h, m_q) − max(z_q, m_q))/h is 0 below m_q and 1 above it, for small h."""
    z, m, h = w.z(w.q), w.named("rival", w.q), w.named("step")
    change = sub(Extremum(w.op, (add(z, h), m)), Extremum(w.op, (z, m)))
    quotient = Mul((change, Pow(h, MINUS_ONE)))
    below = And((rel(z, w.loses, m), rel(add(z, h), {"<": "≤", ">": "≥"}[w.loses], m), rel(h, "≠", ZERO)))
    above = And((rel(z, w.beats, m), rel(add(z, h), {"<": "≤", ">": "≥"}[w.beats], m), rel(h, "≠", ZERO)))
    return Given(eq(quotient, ZERO), below), Given(eq(quotient, ONE), above)


def indicator(w: OneWindow) -> Rel:
    """S_q = Π_{r ≠ q} [z_q > z_r]."""
    test = Bracket(rel(w.z(w.q), w.beats, w.z(w.r)))
    return eq(w.named("indicator", w.q), Reduce("prod", over((w.r,), rel(w.r, "≠", w.q)), test))


def active_set(w: OneWindow) -> Rel:
    """A = {q : z_q = f}."""
    return eq(w.active, SetOf(over((w.q,), eq(w.z(w.q), w.f)), w.q))


def linear_form(w: OneWindow) -> Given:
    """f = Σ_q S_q z_q where the maximum is unique."""
    total = Reduce("sum", ranging(w.q, ONE, Num(w.n)), Mul((w.named("indicator", w.q), w.z(w.q))))
    return Given(eq(w.f, total), w.unique)


def one_winner(w: OneWindow) -> Given:
    """Σ_q S_q = 1 where the maximum is unique."""
    return Given(eq(Reduce("sum", ranging(w.q, ONE, Num(w.n)), w.named("indicator", w.q)), ONE), w.unique)


def matrix_form(w: OneWindow) -> Given:
    """f = S z where the maximum is unique: a row of one 1 times the column of entries."""
    return Given(eq(w.f, Mul((w.named("indicator"), w.z_all))), w.unique)


def matrix_slope(w: OneWindow) -> Rel:
    """∂(S z)/∂z_q = S_q off ties."""
    return eq(Partial(Mul((w.named("indicator"), w.z_all)), w.z(w.q)), w.named("indicator", w.q))


def locally_constant(w: OneWindow) -> Rel:
    """∂S_q/∂z_r = 0 off ties."""
    return eq(Partial(w.named("indicator", w.q), w.z(w.r)), ZERO)


def slope_is_indicator(w: OneWindow) -> Rel:
    """∂f/∂z_q = S_q off ties."""
    return eq(Partial(w.f, w.z(w.q)), w.named("indicator", w.q))


def subdifferential(w: OneWindow) -> Rel:
    """∂f = conv{e_q : q ∈ A}."""
    return eq(Subdifferential(w.f), Hull(SetOf(over((w.q,), In(w.q, w.active)), Unit(w.q))))


def directional(w: OneWindow) -> Rel:
    """f'(z; v) = max_{q ∈ A} v_q (min for a min)."""
    along = Reduce(w.op, over((w.q,), In(w.q, w.active)), w.named("direction", w.q))
    return eq(Directional(w.f, w.entries, "direction"), along)


def tie_choice(w: OneWindow) -> Rel:
    """g_q: the subgradient that the tie rule takes (first or last active entry, or equal shares)."""
    rule = w.module.tie_rule
    if rule == "split":
        share: Expr = mul(Bracket(In(w.q, w.active)), Pow(Cardinality(w.active), MINUS_ONE))
    else:
        end = Reduce("min" if rule == "first" else "max", over((w.r,), In(w.r, w.active)), w.r)
        share = Bracket(eq(w.q, end))
    return eq(w.named("subgradient", w.q), share)


def tie_membership(w: OneWindow) -> And:
    """g ∈ ∂f: g_q ≥ 0, Σ g_q = 1, and g_q (f − z_q) = 0."""
    g = w.named("subgradient", w.q)
    total = Reduce("sum", ranging(w.r, ONE, Num(w.n)), w.named("subgradient", w.r))
    return And((rel(g, "≥", ZERO), eq(total, ONE), eq(Mul((g, sub(w.f, w.z(w.q)))), ZERO)))
