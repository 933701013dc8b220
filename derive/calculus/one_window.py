"""One window as a layer of its own: f = max_{1≤q≤n} z_q, and what is true of it.

The letters (z, q, …) are chosen so that they do not meet the card's.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from string import ascii_lowercase

import derive.expr as ex
from derive.axes import unused, with_axes, with_size_letters
from derive.calculus.linear_maps import moves
from derive.calculus.messages import Messages, variable
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
    q: ex.Idx
    r: ex.Idx

    def z(self, at: ex.Expr | int) -> ex.Entry:
        return ex.Entry(self.entries, (ex.Num(at) if isinstance(at, int) else at,))

    @property
    def z_all(self) -> ex.Entry:
        """The column of all entries."""
        return ex.Entry(self.entries, ())

    @property
    def f(self) -> ex.Entry:
        return ex.Entry(self.module.output, ())

    def named(self, name: str, at: ex.Expr | None = None) -> ex.Entry:
        """A tensor that the sheet defines (S_q, m_q, g_q) or the whole of it, or the step h."""
        return ex.Entry(name, () if at is None else (at,))

    @property
    def active(self) -> ex.SetApp:
        return ex.SetApp("active", ())

    @property
    def beats(self) -> str:
        """The relation of the value that wins to one that loses."""
        return ">" if self.op == "max" else "<"

    @property
    def loses(self) -> str:
        return "<" if self.op == "max" else ">"

    @property
    def unique(self) -> ex.Cond:
        """|A| = 1."""
        return ex.eq(ex.Cardinality(self.active), ex.ONE)


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


def _layer(equation: ex.Rel, module: Module) -> Module | None:
    """The equation alone, with the tensor that its windows read as input; None where it is no such maximum."""
    entry, value = equation.terms
    if not isinstance(entry, ex.Entry) or not isinstance(value, ex.Reduce) or value.op not in ("max", "min"):
        return None
    body, cond = value.body, value.binder.cond
    if not isinstance(body, ex.Entry) or not isinstance(cond, ex.In) or not isinstance(cond.set, ex.SetApp):
        return None
    field, element = dict(module.fields).get(cond.set.name), cond.element
    members = ex.items(element)
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

    Of one that is a maximum over windows: the extents of input and output, the mask as it lies over the input and as
    a matrix from inputs to outputs, primes for bound coordinates. Of a linear one that matrix.
    """
    if not any(w.whole for w in windowed(module)):
        return Messages(_with_matrix(with_axes(module), "ABCSTMG") if moves(module) else module)
    sized, (wrt,) = with_size_letters(module), module.inputs
    source, (mask,) = sized.table.named(wrt), unused(sized.table, "CBGTXYZ")
    assert source is not None
    axes = tuple(i.name for i in variable(module, wrt).indices if isinstance(i, ex.Idx))
    found = _with_matrix(sized, "SPQAD", axes)
    table = found.table.extended((Symbol("mask", mask, Kind.TENSOR, axes, (), source.sizes),))
    return Messages(replace(found, table=table), spare=False)


def _with_matrix(module: Module, letters: str, axes: tuple[str, ...] = ()) -> Module:
    """The module with a letter for the matrix of its derivatives: a row for each output, a column for each input."""
    source, output, found = module.table.named(module.inputs[0]), module.table.named(module.output), unused(
        module.table, letters)
    assert source is not None and output is not None
    return replace(module, table=module.table.extended((Symbol(
        MASK, found[0], Kind.TENSOR, (*output.axes, *(axes or source.axes)), (), (*output.sizes, *source.sizes)),)))


MASK = "selected"  # the name of S_{klij} = ∂f_{kl}/∂x_{ij}, which of a maximum is 1 where f_{kl} takes x_{ij}
WHOLE = "whole"  # the scope of matrix forms: the layer's letters, whole vectors and matrices among them


def scope_tables(module: Module) -> dict[str, SymbolTable]:
    """The letters of each scope of a sheet: of the layer, of its examples, of its windows and their entries' names."""
    numbers = replace(module.table, decimals=module.decimals)
    found = {"layer": module.table, "example": numbers, "tied": numbers}
    found[WHOLE] = replace(module.table, vectors=True)
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
    assert isinstance(value, ex.Reduce) and field is not None
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
    ), language=module.language)
    body = ex.subst(value.body, {node: ex.Entry(z, (ex.Idx(q),)) for node in ex.walk(value.body)
                              if isinstance(node, ex.Entry) and node.tensor in module.inputs})
    formula = ex.Reduce(value.op, ex.ranging(ex.Idx(q), ex.ONE, ex.Num(n)), body)
    window = Module((ex.eq(ex.Entry(module.output, ()), formula),), table, module.output, (z,),
                    tie_rule=module.tie_rule, name=module.name, key=module.key)
    return OneWindow(window, n, z, value.op, ex.Idx(q), ex.Idx(r))


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


def rival(w: OneWindow) -> ex.Rel:
    """m_q = max_{r ≠ q} z_r: the best of the others."""
    return ex.eq(w.named("rival", w.q), ex.Reduce(w.op, ex.over((w.r,), ex.rel(w.r, "≠", w.q)), w.z(w.r)))


def duel(w: OneWindow) -> ex.Rel:
    """max(z_q, m_q) = f."""
    return ex.eq(ex.Extremum(w.op, (w.z(w.q), w.named("rival", w.q))), w.f)


def quotients(w: OneWindow) -> tuple[ex.Given, ex.Given]:
    """(max(z_q + h, m_q) − max(z_q, m_q))/h is 0 below m_q and 1 above it, for small h."""
    z, m, h = w.z(w.q), w.named("rival", w.q), w.named("step")
    change = ex.sub(ex.Extremum(w.op, (ex.add(z, h), m)), ex.Extremum(w.op, (z, m)))
    quotient = ex.Mul((change, ex.Pow(h, ex.MINUS_ONE)))
    below = ex.And((ex.rel(z, w.loses, m), ex.rel(ex.add(z, h), {"<": "≤", ">": "≥"}[w.loses], m),
                    ex.rel(h, "≠", ex.ZERO)))
    above = ex.And((ex.rel(z, w.beats, m), ex.rel(ex.add(z, h), {"<": "≤", ">": "≥"}[w.beats], m),
                    ex.rel(h, "≠", ex.ZERO)))
    return ex.Given(ex.eq(quotient, ex.ZERO), below), ex.Given(ex.eq(quotient, ex.ONE), above)


def indicator(w: OneWindow) -> ex.Rel:
    """S_q = Π_{r ≠ q} [z_q > z_r]."""
    test = ex.Bracket(ex.rel(w.z(w.q), w.beats, w.z(w.r)))
    return ex.eq(w.named("indicator", w.q), ex.Reduce("prod", ex.over((w.r,), ex.rel(w.r, "≠", w.q)), test))


def active_set(w: OneWindow) -> ex.Rel:
    """A = {q : z_q = f}."""
    return ex.eq(w.active, ex.SetOf(ex.over((w.q,), ex.eq(w.z(w.q), w.f)), w.q))


def linear_form(w: OneWindow) -> ex.Given:
    """f = Σ_q S_q z_q where the maximum is unique."""
    total = ex.Reduce("sum", ex.ranging(w.q, ex.ONE, ex.Num(w.n)), ex.Mul((w.named("indicator", w.q), w.z(w.q))))
    return ex.Given(ex.eq(w.f, total), w.unique)


def one_winner(w: OneWindow) -> ex.Given:
    """Σ_q S_q = 1 where the maximum is unique."""
    return ex.Given(ex.eq(ex.Reduce("sum", ex.ranging(w.q, ex.ONE, ex.Num(w.n)), w.named("indicator", w.q)), ex.ONE),
                    w.unique)


def matrix_form(w: OneWindow) -> ex.Given:
    """f = S z where the maximum is unique: a row of one 1 times the column of entries."""
    return ex.Given(ex.eq(w.f, ex.Mul((w.named("indicator"), w.z_all))), w.unique)


def matrix_slope(w: OneWindow) -> ex.Rel:
    """∂(S z)/∂z_q = S_q off ties."""
    return ex.eq(ex.Partial(ex.Mul((w.named("indicator"), w.z_all)), w.z(w.q)), w.named("indicator", w.q))


def locally_constant(w: OneWindow) -> ex.Rel:
    """∂S_q/∂z_r = 0 off ties."""
    return ex.eq(ex.Partial(w.named("indicator", w.q), w.z(w.r)), ex.ZERO)


def slope_is_indicator(w: OneWindow) -> ex.Rel:
    """∂f/∂z_q = S_q off ties."""
    return ex.eq(ex.Partial(w.f, w.z(w.q)), w.named("indicator", w.q))


def matrix_message(w: OneWindow) -> ex.Rel:
    """∂L/∂z_q = S_q ∂L/∂f off ties: S^⊤ times the upstream gradient."""
    loss = ex.Entry("loss", ())
    return ex.eq(ex.Partial(loss, w.z(w.q)), ex.Mul((w.named("indicator", w.q), ex.Partial(loss, w.f))))


def subdifferential(w: OneWindow) -> ex.Rel:
    """∂f = conv{e_q : q ∈ A}."""
    return ex.eq(ex.Subdifferential(w.f), ex.Hull(ex.SetOf(ex.over((w.q,), ex.In(w.q, w.active)), ex.Unit(w.q))))


def directional(w: OneWindow) -> ex.Rel:
    """f'(z; v) = max_{q ∈ A} v_q (min for a min)."""
    along = ex.Reduce(w.op, ex.over((w.q,), ex.In(w.q, w.active)), w.named("direction", w.q))
    return ex.eq(ex.Directional(w.f, w.entries, "direction"), along)


def tie_choice(w: OneWindow) -> ex.Rel:
    """g_q: the subgradient that the tie rule takes (first or last active entry, or equal shares)."""
    rule = w.module.tie_rule
    if rule == "split":
        share: ex.Expr = ex.mul(ex.Bracket(ex.In(w.q, w.active)), ex.Pow(ex.Cardinality(w.active), ex.MINUS_ONE))
    else:
        end = ex.Reduce("min" if rule == "first" else "max", ex.over((w.r,), ex.In(w.r, w.active)), w.r)
        share = ex.Bracket(ex.eq(w.q, end))
    return ex.eq(w.named("subgradient", w.q), share)


def tie_membership(w: OneWindow) -> ex.And:
    """g ∈ ∂f: g_q ≥ 0, Σ g_q = 1, and g_q (f − z_q) = 0."""
    g = w.named("subgradient", w.q)
    total = ex.Reduce("sum", ex.ranging(w.r, ex.ONE, ex.Num(w.n)), w.named("subgradient", w.r))
    return ex.And((ex.rel(g, "≥", ex.ZERO), ex.eq(total, ex.ONE), ex.eq(ex.Mul((g, ex.sub(w.f, w.z(w.q)))), ex.ZERO)))
