"""Modules built from nodes, without the reader: one window reduction over any geometry."""

from __future__ import annotations

from derive.expr import Arg, Bracket, Entry, Expr, Idx, In, Mul, Partial, Reduce, SetApp, Star, eq, over, tuple_of
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.receptive_field import receptive_field

LETTERS = {1: ("i", "k"), 2: ("ij", "kl"), 3: ("hij", "mkl")}


def indices(letters: str) -> tuple[Idx, ...]:
    return tuple(map(Idx, letters))


def sizes(letter: str, axes: str) -> tuple[str, ...]:
    return tuple(f"{letter}_{d}" for d in range(1, len(axes) + 1))


def pooling(kernel: tuple[int, ...], stride: tuple[int, ...] | None = None, padding: tuple[int, ...] | None = None,
            op: str = "max", tie_rule: str = "first") -> Module:
    inner, outer = LETTERS[len(kernel)]
    i, k = indices(inner), indices(outer)
    window = over(i, In(tuple_of(i), SetApp("Omega", k)))
    table = SymbolTable((
        Symbol("x", "x", Kind.TENSOR, tuple(inner), sizes=sizes("n", inner)),
        Symbol("f", "f", Kind.TENSOR, tuple(outer), sizes=sizes("m", outer)),
        Symbol("delta_f", r"\delta_f", Kind.TENSOR, tuple(outer)), Symbol("delta_x", r"\delta_x", Kind.TENSOR, tuple(inner)),
        Symbol("Omega", r"\Omega", Kind.SET, tuple(outer), tuple(inner)),
    ), tuple((letter, tuple(outer)) for letter in inner))
    forward = eq(Entry("f", k), Reduce(op, window, Entry("x", i)))
    return Module((forward,), table, "f", ("x",), fields=(("Omega", receptive_field(kernel, stride, padding)),),
                  tie_rule=tie_rule)


def arg(module: Module, at: tuple[Expr, ...]) -> Arg:
    """argmax over Ω(at) of x."""
    inner, _ = LETTERS[len(at)]
    t = tuple(Idx(f"{v}'") for v in inner)
    op = module.equations[0].terms[1].op  # type: ignore[attr-defined]
    return Arg(op, over(t, In(tuple_of(t), SetApp("Omega", at))), Entry("x", t))


def jacobian(module: Module) -> tuple[Partial, Expr]:
    """∂f_k/∂x_i = [i = argmax over Ω(k)]."""
    inner, outer = LETTERS[len(module.fields[0][1].axes)]
    i, k = indices(inner), indices(outer)
    return Partial(Entry("f", k), Entry("x", i)), Bracket(eq(tuple_of(i), arg(module, k)))


def message(module: Module) -> tuple[Entry, Expr]:
    """δ_x,i = Σ over the windows k that cover i of δ_f,k [i = argmax over Ω(k)]."""
    inner, outer = LETTERS[len(module.fields[0][1].axes)]
    i, k = indices(inner), indices(outer)
    covering = over(k, In(tuple_of(i), SetApp("Omega", k)))
    hit = Bracket(eq(tuple_of(i), arg(module, k)))
    return Entry("delta_x", i), Reduce("sum", covering, Mul((Entry("delta_f", k), hit)))


def starred(module: Module) -> tuple[tuple[Expr, ...], dict[str, tuple[Expr, int]]]:
    """(i^*, j^*) and the definitions of its components."""
    inner, outer = LETTERS[len(module.fields[0][1].axes)]
    k = indices(outer)
    return tuple(Star(v, k) for v in inner), {v: (arg(module, k), d) for d, v in enumerate(inner)}
