"""Expression → LaTeX, so that reading it back gives the same one: binders, conditions, long chains in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import derive.expr as ex
from derive import reductions
from derive.notation import term_writer
from derive.notation.symbols import Kind, SymbolTable, lexicon
from derive.notation.term_writer import Writer, is_negative, product
from derive.records import replace
from derive.words import words

_POOL = "abcpqrstuvmnijkl"


def choose(
    node: ex.Reduce | ex.Arg | ex.SetOf, table: SymbolTable, names: Mapping[ex.Idx, str], taken: frozenset[str]
) -> dict[ex.Idx, str]:
    """A name for each variable of the node's binder; ``taken`` are the names in scope around it.

    A letter that is taken gets primes (all of a binder's the same number, so that a pair
    stays a pair), or gives way to a declared index that is the letter of no axis.  A name
    that is free in the node, bound around it or declared as something else is never used.
    """
    free = {names.get(i, i.name) for i in ex.free_indices(node)} | taken
    declared = lexicon(table)
    others = {name for name, symbol in declared.items() if symbol.kind is not Kind.INDEX}
    of_axes = {letter for s in table.symbols for letter in (*s.axes, *s.members)}
    loose = [s.name for s in table.of_kind(Kind.INDEX) if s.name not in of_axes]
    pool = [*loose, *_POOL, *(s.name for s in table.of_kind(Kind.INDEX))]
    hints = _hints(node, table)
    letters: list[str] = []
    for variable in node.binder.variables:
        hint = hints.get(variable)
        if hint is None or hint in others or hint in letters:
            usable = [c for c in pool if c not in others and c not in letters]
            hint = next((c for c in usable if c not in free), usable[0])
        letters.append(hint)
    spare = [c for c in loose if c not in free]
    if any(letter in free for letter in letters) and len(spare) >= len(letters):
        letters = spare[: len(letters)]
    primes = ""
    while any(letter + primes in free for letter in letters):
        primes += "'"
    return {v: letter + primes for v, letter in zip(node.binder.variables, letters, strict=True)}


def _hints(node: ex.Reduce | ex.Arg | ex.SetOf, table: SymbolTable) -> dict[ex.Idx, str]:
    """The letter of the first place where each variable stands; membership of a set says more than the body."""
    found: dict[ex.Idx, str] = {}
    inside = node.element if isinstance(node, ex.SetOf) else node.body
    for part in (node.binder.cond, inside):
        for below in ex.walk(part) if part is not None else ():
            for term, letter in _places(below, table):
                if isinstance(term, ex.Idx):
                    found.setdefault(term, letter.rstrip("'"))
    return found


def _places(node: ex.Node, table: SymbolTable) -> Iterator[tuple[ex.Expr, str]]:
    """The terms that stand where a symbol's own letters usually do."""
    match node:
        case ex.Entry(name, terms) | ex.SetApp(name, terms):
            known = table.named(name)
            letters = known.axes if known is not None else ()
        case ex.Star(name, terms):
            letters = dict(table.stars).get(name, ())
        case ex.In(element, ex.SetApp(name, _)):
            known = table.named(name)
            letters = known.members if known is not None else ()
            terms = getattr(element, "items", (element,))
        case _:
            return
    yield from zip(terms, letters, strict=False)


WIDE = 24  # characters below a sum from which on its condition has a line of its own


def named(w: Writer, node: ex.Reduce | ex.Arg | ex.SetOf) -> Writer:
    """The writer inside the node's binder."""
    chosen = choose(node, w.table, w.names, w.taken)
    return replace(w, names={**w.names, **chosen}, taken=w.taken | set(chosen.values()), in_index=False)


def reduction(w: Writer, node: ex.Reduce | ex.Arg) -> str:
    """sum, product, max, min, argmax with what runs below it."""
    inner = named(w, node)
    binder = node.binder
    if isinstance(node, ex.Reduce) and node.op in ("max", "min") and binder.variables == (node.body,) and (
        binder.cond is not None and _plain(binder) and not _membership(binder)
    ):
        condition = replace(inner, tight=True).write(binder.cond)
        return rf"\{node.op} \lbrace {inner.write(node.body)} : {condition} \rbrace"
    sign = reductions.REDUCTIONS[node.op].latex
    command = rf"\arg{sign}" if isinstance(node, ex.Arg) else sign
    low, high = binder.lower[0], binder.upper[0]
    one = len(binder.variables) == 1 and binder.cond is None
    if one and isinstance(node, ex.Reduce) and node.op in ("sum", "prod") and low is not None and high is not None:
        variable = binder.variables[0]
        below = rf"_{{{inner.write(variable)}={bound(inner, low)}}}^{{{bound(inner, high)}}}"
    else:
        below = f"_{{{below_sign(inner, binder)}}}"
    return f"{command}{below} {_body(inner, node)}"


def bound(w: Writer, limit: ex.Expr) -> str:
    return w.index_term(limit).replace(" + ", "+").replace(" - ", "-")


def _plain(binder: ex.Binder) -> bool:
    return all(b is None for b in (*binder.lower, *binder.upper))


def _membership(binder: ex.Binder) -> bool:
    return isinstance(binder.cond, ex.In) and binder.cond.element is ex.tuple_of(binder.variables)


def below_sign(w: Writer, binder: ex.Binder) -> str:
    """(i, j) ∈ Ω(k, l);  0 ≤ a ≤ 1, 0 ≤ b < K;  r ≠ q;  (k, l) : condition;  k, l."""
    cond, variables = binder.cond, binder.variables
    w = replace(w, tight=True)
    shown = ", ".join(map(w.write, variables))
    if _plain(binder) and cond is not None:
        if _membership(binder):
            return w.write(cond)
        unequal = isinstance(cond, ex.Rel) and cond.ops == ("≠",) and cond.terms[0] is variables[0]
        if unequal and len(variables) == 1:
            return w.write(cond)
        return f"{shown if len(variables) == 1 else f'({shown})'} : {w.write(cond)}"
    if _plain(binder):
        return shown
    pieces = [_range(w, v, low, high) for v, low, high in zip(variables, binder.lower, binder.upper, strict=True)]
    head = r",\ ".join(pieces)
    if cond is None:
        return head
    return rf"\substack{{{head} : \\ {w.write(cond)}}}" if len(head) > WIDE else f"{head} : {w.write(cond)}"


def _range(w: Writer, variable: ex.Idx, low: ex.Expr | None, high: ex.Expr | None) -> str:
    name = w.write(variable)
    upper = "" if high is None else _upper(w, high)
    if low is None:
        return f"{name}{upper}"
    return rf"{w.write(low)} \le {name}{upper}" if high is not None else rf"{name} \ge {w.write(low)}"


def _upper(w: Writer, high: ex.Expr) -> str:
    """``< K`` for K − 1, which a reader takes back to K − 1."""
    if isinstance(high, ex.Add) and high.terms[-1] == ex.MINUS_ONE:
        beyond = ex.add(high, ex.ONE)
        if ex.add(beyond, ex.MINUS_ONE) is high:
            return f" < {w.write(beyond)}"
    return rf" \le {w.write(high)}"


def _body(w: Writer, node: ex.Reduce | ex.Arg) -> str:
    body = node.body
    shown = w.write(body)
    if isinstance(body, ex.Add) or is_negative(body) or (isinstance(body, ex.Fn) and body.name == "mod"):
        return w.round(shown)
    loose = isinstance(body, ex.Mul) and not ex.free_indices(body.factors[-1]) & set(node.binder.variables)
    if loose and not (isinstance(node, ex.Reduce) and node.op == "sum"):
        return w.round(shown)
    return shown


def set_of(w: Writer, node: ex.SetOf) -> str:
    r"""\lbrace element : conditions \rbrace."""
    inner = replace(named(w, node), tight=True)
    binder = node.binder
    pieces = [
        rf"{inner.write(v)} \in \lbrace {inner.write(low)}, \dots, {inner.write(high)} \rbrace"
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True)
        if low is not None and high is not None
    ]
    if binder.cond is not None:
        pieces.append(inner.write(binder.cond))
    conditions = r",\ ".join(pieces)
    return rf"\lbrace {inner.write(node.element)} : {conditions} \rbrace"


RELATIONS = {"=": "=", "≠": r"\ne", "<": "<", "≤": r"\le", ">": ">", "≥": r"\ge"}


def cases(w: Writer, node: ex.Cases) -> str:
    rows = []
    w = replace(w, tight=True)
    for value, cond in node.branches:
        test = _text(w, "otherwise") if isinstance(cond, ex.Otherwise) else rf"{_text(w, 'condition')} {w.write(cond)}"
        rows.append(f"{w.write(value)} & {test}")
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def relation(w: Writer, node: ex.Rel) -> str:
    first = node.terms[0]
    if isinstance(first, ex.Fn) and (names := _parameters(w, first)):
        w = replace(w, local=names)  # σ(s) = …
    out = w.write(first)
    for op, term in zip(node.ops, node.terms[1:], strict=True):
        out += f" {RELATIONS[op]} {w.write(term)}"
    return out


def _defines(cond: ex.Node) -> bool:
    return isinstance(cond, ex.Rel) and set(cond.ops) == {"="} and isinstance(cond.terms[0], (ex.Entry, ex.Fn))


def _parameters(w: Writer, node: ex.Fn) -> frozenset[str]:
    """s of σ(s), where σ is a function that the card defines."""
    known = w.table.named(node.name.rstrip("'"))
    names = [a.tensor for a in node.args if isinstance(a, ex.Entry) and not a.indices and known is not None and (
        a.tensor in known.axes or w.table.named(a.tensor) is None)]
    of_card = known is not None and known.kind is Kind.FUNCTION and len(names) == len(node.args)
    return frozenset(names) if of_card else frozenset()


def conjunction(w: Writer, node: ex.And) -> str:
    out = ""
    apart = not w.names and not w.tight and all(map(_defines, node.conds))  # each has indices of its own
    for n, cond in enumerate(node.conds):
        own = replace(w, taken=frozenset(i.name for i in ex.free_indices(cond))) if apart else w
        shown = w.round(own.write(cond)) if isinstance(cond, (ex.And, ex.Iff, ex.Given)) else own.write(cond)
        gap = r",\ " if w.tight or w.in_index else r",\quad "
        joint = "" if n == 0 else r" \land " if _shares_bounds(node.conds[n - 1], cond) else gap
        out += joint + shown
    return out


def _shares_bounds(first: ex.Node, second: ex.Node) -> bool:
    """``0 \\le i,\\ j < n`` would read as bounds of both."""
    return (isinstance(first, ex.Rel) and isinstance(second, ex.Rel) and len(first.ops) == len(second.ops) == 1
            and isinstance(first.terms[1], ex.Idx) and isinstance(second.terms[0], ex.Idx))


def given(w: Writer, node: ex.Given) -> str:
    return rf"{w.write(node.claim)} \quad {_text(w, 'condition')} {replace(w, tight=True).write(node.cond)}"


def _text(w: Writer, macro: str) -> str:
    """The words inside a formula, in the language of the table."""
    return rf"\text{{{words(w.table.language, 'formulas', macro)}}}"


PARTS: Mapping[type, Callable[[Writer, Any], str]] = {
    ex.Add: term_writer.total,
    ex.And: conjunction,
    ex.Arg: reduction,
    ex.Cases: cases,
    ex.Directional: term_writer.directional,
    ex.Fn: term_writer.function,
    ex.Given: given,
    ex.Idx: Writer.idx,
    ex.Matrix: term_writer.matrix,
    ex.Mul: product,
    ex.Num: term_writer.number,
    ex.Partial: term_writer.partial,
    ex.Pow: term_writer.power,
    ex.Reduce: reduction,
    ex.Rel: relation,
    ex.SetApp: term_writer.set_applied,
    ex.SetOf: set_of,
    ex.Star: Writer.star,
    ex.Subdifferential: term_writer.subdifferential,
    ex.Unit: term_writer.unit,
    ex.Infinity: lambda w, n: r"\infty" if n.sign > 0 else r"-\infty",
    ex.Size: lambda w, n: w.symbol(n.name),
    ex.Entry: lambda w, n: w.indexed(n.tensor, n.indices),
    ex.Extremum: lambda w, n: rf"\{n.op}{w.round(w.items(n.args))}",
    ex.Tuple: lambda w, n: f"({w.items(n.items)})",
    ex.Bracket: lambda w, n: rf"\mathbb{{I}}[{replace(w, tight=True).write(n.cond)}]",
    ex.Listed: lambda w, n: rf"\lbrace {w.items(n.items)} \rbrace",
    ex.Hull: lambda w, n: rf"\mathop{{\mathrm{{conv}}}} {w.write(n.of)}",
    ex.Without: lambda w, n: rf"{w.write(n.base)} \setminus \lbrace {w.items(n.elements)} \rbrace",
    ex.Cardinality: lambda w, n: rf"\left|{w.write(n.of)}\right|",
    ex.In: lambda w, n: rf"{w.write(n.element)} \in {w.write(n.set)}",
    ex.Iff: lambda w, n: rf"{w.write(n.left)} \iff {w.write(n.right)}",
}


@lru_cache(maxsize=4096)
def write(node: ex.Node, table: SymbolTable, *, display: bool = True) -> str:
    """The LaTeX of an expression, with the symbols of the table; ``read`` gives the expression back.

    ``display=False`` writes for a line of text.  Raises :class:`NotationError` where a
    symbol is not in the table.
    """
    free = frozenset(i.name for i in ex.free_indices(node))
    return Writer(table, PARTS, display, taken=free).write(node)
