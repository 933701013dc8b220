"""What stands at a letter: subscripts as index terms, what is part of its name above, arguments or the next factor."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

from derive.expr import Directional, Entry, Expr, Fn, Num, Partial, Pow
from derive.notation import tree as tr
from derive.notation.pieces import split_runs
from derive.notation.reader import Reader
from derive.notation.shapes import ARRANGED, AXES, SOFTMAX, SOFTMAX_OVER
from derive.notation.symbols import Kind, Symbol, identifier, is_capital, latex_of
from derive.records import replace


def _terms(r: Reader, runs: list[tr.Items], end: int) -> tuple[Expr, ...]:
    for run in runs:
        _refuse_marks(r, run)
    return r.terms(runs, end)


def _refuse_marks(r: Reader, run: tr.Items) -> None:
    r"""Raise :class:`NotationError` for x_{(1)}, the smallest entry or the first, and x_{\pi(i)} of an unknown π."""
    first = run[0]
    if len(run) == 1 and tr.is_group(first, "LPAREN") and len(first.items) == 1:
        raise r.error(first, f"`{r.shown(first)}`: an order, a layer, or an index? Leave out the brackets for an index")
    for own, at in itertools.pairwise(run):
        if not tr.is_token(own, "NAME") or not tr.is_group(at, "LPAREN") or len(at.items) != 1:
            continue
        known, inner = r.words.get(own.text), at.items[0]
        if tr.is_token(inner, "NAME") and (known is None or known.kind is not Kind.FUNCTION):
            product = rf"{r.shown(own)} \cdot {r.shown(inner)}"
            raise r.error(own, f"`{r.shown(own, at)}`: a function of the index, or a product? Write `{product}`, or "
                               "define the function")


def natural(r: Reader, sub: tr.Items, end: int, rank: int | None = None) -> tuple[Expr, ...]:
    """Index terms, none empty, where no declaration says how many there are."""
    found = split_runs(sub, rank)
    if not all(found):
        raise r.error(sub[0] if sub else end, "an index is missing here")
    return _terms(r, found, end)


def indices(r: Reader, sub: tr.Items, of: Symbol, item: tr.Item, rank: int | None = None) -> tuple[Expr, ...]:
    """The index terms of a subscript.

    Raises :class:`NotationError` where their number is not the symbol's.
    """
    rank = len(of.axes) if rank is None else rank
    found = natural(r, sub, item.end, rank)
    if len(found) != rank and not (of.unwritten and len(found) == rank - of.unwritten):
        digits = r.shown(*tr.unwrap(sub)) if len(found) == 1 and tr.is_token(tr.unwrap(sub)[0], "NUMBER") else ""
        hint = f"; write `{','.join(digits)}` for {rank} indices" if rank == len(digits) else ""
        raise _wrong_number(r, of, rank, len(found), item, hint)
    return found


def arguments(r: Reader, group: tr.Group, of: Symbol | None = None) -> tuple[Expr, ...]:
    """The index terms in ``(k, l)``, each parted by a comma."""
    parts = tr.split(group.items, "COMMA", "SEMI") if group.items else []
    if of is not None and len(parts) != len(of.axes):
        raise _wrong_number(r, of, len(of.axes), len(parts), group, "")
    return _terms(r, [*parts], group.end - 1)


def _wrong_number(r: Reader, of: Symbol, rank: int, found: int, item: tr.Item, hint: str) -> Exception:
    axes = "".join(map(latex_of, of.axes))
    usual = f" (`{of.latex}` with {axes})" if axes else ""
    return r.error(item, f"`{r.shown(item)}` has {found} ind{'ex' if found == 1 else 'ices'}, "
                         f"`{of.latex}` has {rank}{usual}{hint}")


def applied(r: Reader, found: Symbol, sub: tr.Items | None, item: tr.Item, c: tr.Cursor) -> Expr:
    """σ(s), σ'(s), σ^2(s), σ(s)^2: a function that the card defines, at its arguments."""
    following, own = c.peek(), tr.scripted(item)
    group = tr.base_of(following) if following is not None else None
    usual = ", ".join(found.axes)
    if not tr.is_group(group, "LPAREN", "LBRACK"):
        raise r.error(item, f"`{found.latex}` is a function; of what? Write `{found.latex}({usual})`")
    if sub is not None:
        raise r.error(item, f"`{found.latex}` is a function; it has no subscript")
    c.take()
    parts = tr.arguments_of(group)
    if len(parts) != len(found.axes):
        raise r.error(group, f"`{r.shown(item, group)}` has {len(parts)} arguments, `{found.latex}({usual})` has "
                             f"{len(found.axes)}")
    if own.primes and len(parts) > 1:
        raise r.error(item, f"a derivative of `{found.latex}` with respect to which of its arguments?")
    node: Expr = Fn(found.name + "'" * own.primes, tuple(r.value(part, group.end - 1) for part in parts))
    return r.raised(r.power(node, own), following)


def dependency(r: Reader, group: tr.Group) -> bool:
    """(x), (x, W), (x; θ): only whole tensors, as in f_{kl}(x)."""
    parts = [tr.unwrap(p) for p in tr.arguments_of(group)]
    names = [(tr.variable(p[0]) or "") if len(p) == 1 else "" for p in parts]
    known = [r.words.get(f"{name[:-1]}_prime" if name.endswith("'") else name) for name in names]
    return all(symbol is not None and symbol.kind is Kind.TENSOR and not r.is_index(name)
               for symbol, name in zip(known, names, strict=True))


def lists_indices(r: Reader, group: tr.Group) -> bool:
    """(m, n), (i + 1): no tensor stands in the bracket, so the letters are indices."""
    if tr.has(group.items, "REL", "IN"):
        return False
    names = {name for name in tr.names_in(group.items) if name not in r.words or not r.is_index(name)}
    known = [symbol for word, symbol in r.words.items() if word in names or (
        word.partition("_")[0] in names - r.words.keys())]  # r_t, where r alone is nothing
    return not any(symbol.kind in (Kind.TENSOR, Kind.FUNCTION) for symbol in known)


def lists_arguments(r: Reader, group: tr.Group) -> bool:
    """(x_1, …, x_n), (s, c), (w, w_0): entries and letters parted by commas, of which one at least is a tensor."""
    parts = [tr.unwrap(part) for part in tr.split(group.items, "COMMA", "SEMI")]
    named = [p[0] for p in parts if len(p) == 1 and tr.is_token(tr.base_of(p[0]), "NAME", "DOTS")]
    known = (r.words.get(n) for i in named for n in (str(tr.base_of(i)), f"{tr.base_of(i)}{tr.labels_of(i)}"))
    tensors = any(symbol is not None and symbol.kind is Kind.TENSOR for symbol in known)
    return len(parts) > 1 and len(named) == len(parts) and tensors


def refuse_scalars(r: Reader, found: Symbol, group: tr.Group, c: tr.Cursor, at_start: bool) -> None:
    """f(c) with a number c is f at c or f times c, unless it stands alone left of =."""
    names = [i.text for p in tr.split(group.items, "COMMA", "SEMI") for i in tr.unwrap(p) if tr.is_token(i, "NAME")]
    alone = at_start and (c.peek(1) is None or tr.is_token(c.peek(1), "REL"))
    if len(names) > 1 or alone or any(r.words[n].axes for n in names) or tuple(names) == found.members:
        return
    raise r.error(group, f"`{r.shown(group)}`: an argument of `{found.latex}` or a factor? "
                         rf"Write `\cdot` before it for a factor; a function is defined, as in "
                         rf"`{found.latex}(u) = …`; or leave the argument out")


def refuse_unless_product(r: Reader, found: Symbol, group: tr.Group, item: tr.Item) -> None:
    """L(a + b) multiplies, and so does the capital of R(u ⊙ h); L(2), L(a, b) and L[a] have two readings."""
    if group.bracket == "LPAREN" and is_capital(found.name) and tr.has(group.items, "ODOT"):
        return
    if group.bracket == "LBRACK" and tr.has(group.items, "REL", "IN"):
        return
    if tr.has(group.items, "PLUS", "MINUS") and group.bracket == "LPAREN" and not tr.has(group.items, "COMMA", "SEMI"):
        return
    raise r.error(group, f"`{r.shown(item, group)}` is `{found.latex}` at {r.shown(group)} or a product; "
                         rf"define the function, as in `{found.latex}(u) = …`, or write `\cdot` for a product")


def directional(r: Reader, of: Entry, item: tr.Item, primes: int, c: tr.Cursor) -> Expr:
    """f'(x); f'(z; v): the one-sided derivative at z along v."""
    group = c.peek()
    parts = tr.split(group.items, "SEMI") if tr.is_group(group, "LPAREN") else []
    known = [r.words.get(str(tr.normal(part[0]))) if len(part) == 1 else None for part in parts]
    names = [symbol.name for symbol in known if symbol is not None and symbol.kind is Kind.TENSOR]
    if primes == len(parts) == len(names) == 1 and not known[0].axes and not of.indices:  # type: ignore[union-attr]
        c.take()
        return Partial(of, Entry(names[0], ()))
    if primes != 1 or len(parts) != 2:
        raise r.error(item, f"`{r.shown(item)}`: a derivative needs its argument and direction, `f'(z; v)`; "
                            "a renamed tensor needs a declaration")
    if len(names) != 2:
        raise r.error(c.take(), "a directional derivative names two tensors: `f'(z; v)`")
    c.take()
    return Directional(of, *names)


def squared(r: Reader, name: str, scripts: tr.Scripted) -> tr.Scripted | None:
    """The scripts without the 2 of σ^2, where σ^2 is a symbol; None where it is not."""
    own = any(word == f"{name}^2" or word.startswith(f"{name}^2_") for word in r.words)
    two = [*map(str, next(iter(scripts.sups), ()))] == ["2"]
    return replace(scripts, sups=scripts.sups[1:]) if own and two else None


def local(r: Reader, token: tr.Token, item: tr.Item) -> Expr:
    """s, σ^2 or σ, where a function is defined at s or at σ^2."""
    scripts = tr.scripted(item)
    if scripts.subs or scripts.primes:
        raise r.error(item, f"`{r.shown(token)}` is a number here: the function's argument; it has no such script")
    if token.text in r.local:
        return r.raised(Entry(identifier(token.text), ()), item)
    square = Entry(identifier(f"{token.text}^2"), ())
    if tr.parameter((replace(scripts, sups=scripts.sups[:1]),)) == f"{token.text}^2":
        return r.power(square, replace(scripts, sups=scripts.sups[1:]))
    return r.raised(Pow(square, Num(Fraction(1, 2))), item)


def root(r: Reader, token: tr.Token, scripts: tr.Scripted, c: tr.Cursor) -> Expr:
    """σ, where only σ^2 is defined: its root."""
    two = (tr.Token("NUMBER", "2", token.start, token.end),)
    if scripts.primes:
        raise r.error(scripts, f"`{r.shown(scripts)}`: this prime is outside the notation")
    square = tr.Scripted(token, scripts.subs, (two,), 0, token.start, token.end)
    found = r.factor(tr.Cursor((square,), token.end))[0]
    return r.power(Pow(found, Num(Fraction(1, 2))), scripts)


def softmax(r: Reader, item: tr.Item, c: tr.Cursor) -> Expr:
    r"""softmax(z), softmax(z)_k, softmax_j(s_{ij}), softmax_{row}(S)."""
    following, own = c.peek(), tr.scripted(item)
    group = tr.base_of(following) if following is not None else None
    if following is None or not tr.is_group(group, "LPAREN", "LBRACK") or own.sups or own.primes:
        raise r.error(item, r"a softmax of what? Write `\operatorname{softmax}(z)`")
    c.take()
    of, after = r.value(group.items, group.end - 1), tr.scripted(following)
    sub = tr.unwrap(own.subs[0]) if own.subs else ()
    along = next((a for a in AXES if len(sub) == 1 and str(sub[0]).strip().startswith(a[:3])), None)
    if along is not None:
        found: Expr = Fn(AXES[along], (of,))
    else:
        found = Fn(SOFTMAX_OVER, (of, *natural(r, sub, item.end))) if sub else Fn(SOFTMAX, (of,))
    return r.raised(found, after)


def arranged(r: Reader, item: tr.Item, c: tr.Cursor) -> Expr:
    r"""diag(p), vec(X)."""
    name, group = str(tr.base_of(item)), c.take()
    if isinstance(item, tr.Scripted) or not isinstance(group, tr.Group):
        raise r.error(item, rf"`\mathrm{{{name}}}` of what? Write `\mathrm{{{name}}}(p)`")
    return Fn(ARRANGED[name], (r.value(group.items, group.end - 1),))


_PIECES = re.compile(r"[^\W\d]+|\d+|[+-]")


def raised_in(name: str, at: tr.Token) -> tuple[str, tuple[tr.Token, ...]]:
    """``x^(n-1)`` → x and the tokens of n − 1."""
    base, _, above = name.partition("^")
    if above[:1] not in ("(", "["):
        return name, ()
    kinds = {"+": "PLUS", "-": "MINUS"}
    return base, tuple(tr.Token(kinds.get(p) or ("NUMBER" if p.isdigit() else "NAME"), p, at.start, at.end)
                           for p in _PIECES.findall(above))


def sample(r: Reader, found: Symbol, sub: tr.Items | None, item: tr.Item, c: tr.Cursor) -> Expr:
    """x^i_j, x^{(i)}_j: the sample's number is the first index."""
    scripts = tr.scripted(item)
    if not scripts.sups or scripts.primes:
        raise r.error(item, f"`{r.shown(item)}`: which sample? Write `{found.latex}` with its number above")
    up = tr.unwrap(scripts.sups[0])
    if len(up) == 1 and tr.is_group(up[0], "LPAREN", "LBRACK"):
        up = up[0].items
    elif len(up) == 1 and tr.is_token(up[0], "NUMBER"):
        raise r.error(item, f"`{r.shown(item)}`: sample {r.shown(up[0])} or a power? Write `({found.latex}^"
                            f"{{{found.axes[0]}}})^{r.shown(up[0])}`, or `{found.latex}^{{({r.shown(up[0])})}}`")
    rank = len(found.axes) - 1
    rest = () if sub is None else indices(r, sub, found, item, rank)
    if sub is None and rank - found.unwritten > 0:
        raise r.error(item, f"`{r.shown(item)}` has no subscript, `{found.latex}` has {rank}")
    following = c.peek()
    if tr.is_group(following, "LPAREN") and dependency(r, following):
        c.take()
    return r.power(Entry(found.name, (*_terms(r, [up], item.end), *rest)), replace(scripts, sups=scripts.sups[1:]))
