"""What stands at a letter: subscripts as index terms, what is part of its name above, arguments or the next factor."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from derive.expr import Directional, Entry, Expr, Fn, Num, Partial, Pow
from derive.notation import tree as tr
from derive.notation.pieces import split_runs
from derive.notation.reader import Reader
from derive.notation.shapes import AXES, DIAGONAL, SOFTMAX, SOFTMAX_AT, SOFTMAX_OVER
from derive.notation.symbols import Kind, Symbol, identifier, is_capital, latex_of


def runs(r: Reader, sub: tr.Items, rank: int | None, end: int) -> list[tr.Items]:
    """The items of each index; none may be empty."""
    found = split_runs(sub, rank)
    if not all(found):
        raise r.error(sub[0] if sub else end, "an index is missing here")
    return found


def natural(r: Reader, sub: tr.Items, end: int) -> tuple[Expr, ...]:
    """Index terms where no declaration says how many there are."""
    inner = replace(r, in_index=True)
    return tuple(inner.value(run, end) for run in runs(r, sub, None, end))


def indices(r: Reader, sub: tr.Items, rank: int, of: Symbol, item: tr.Item) -> tuple[Expr, ...]:
    """The index terms of a subscript.

    Raises :class:`NotationError` where their number is not the symbol's.
    """
    found = runs(r, sub, rank, item.end)
    if len(found) != rank and not (of.unwritten and len(found) == rank - of.unwritten):
        number = len(found) == 1 and rank == len(r.shown(*found[0])) and tr.is_token(found[0][0], "NUMBER")
        hint = f"; write `{','.join(r.shown(*found[0]))}` for {rank} indices" if number else ""
        raise _wrong_number(r, of, rank, len(found), item, hint)
    inner = replace(r, in_index=True)
    return tuple(inner.value(run, item.end) for run in found)


def arguments(r: Reader, group: tr.Group, rank: int | None = None, of: Symbol | None = None) -> tuple[Expr, ...]:
    """The index terms in ``(k, l)``, each parted by a comma."""
    parts = tr.split(group.items, "COMMA", "SEMI") if group.items else []
    if of is not None and rank is not None and len(parts) != rank:
        raise _wrong_number(r, of, rank, len(parts), group, "")
    inner = replace(r, in_index=True)
    return tuple(inner.value(part, group.end - 1) for part in parts)


def _wrong_number(r: Reader, of: Symbol, rank: int, found: int, item: tr.Item, hint: str) -> Exception:
    axes = "".join(map(latex_of, of.axes))
    usual = f" (`{of.latex}` with {axes})" if axes else ""
    return r.error(item, f"`{r.shown(item)}` has {found} ind{'ex' if found == 1 else 'ices'}, "
                         f"`{of.latex}` has {rank}{usual}{hint}")


def applied(r: Reader, found: Symbol, sub: tr.Items | None, item: tr.Item, c: tr.Cursor) -> Expr:
    """σ(s), σ'(s), σ^2(s), σ(s)^2: a function that the card defines, at its arguments."""
    following = c.peek()
    group = following.base if isinstance(following, tr.Scripted) else following
    usual = ", ".join(found.axes)
    if not isinstance(group, tr.Group) or group.bracket not in ("LPAREN", "LBRACK"):
        raise r.error(item, f"`{found.latex}` is a function; of what? Write `{found.latex}({usual})`")
    if sub is not None:
        raise r.error(item, f"`{found.latex}` is a function; it has no subscript")
    c.take()
    parts = tr.arguments_of(group)
    if len(parts) != len(found.axes):
        raise r.error(group, f"`{r.shown(item, group)}` has {len(parts)} arguments, `{found.latex}({usual})` has "
                             f"{len(found.axes)}")
    primes = item.primes if isinstance(item, tr.Scripted) else 0
    if primes and len(parts) > 1:
        raise r.error(item, f"a derivative of `{found.latex}` with respect to which of its arguments?")
    node: Expr = Fn(found.name + "'" * primes, tuple(r.value(part, group.end - 1) for part in parts))
    if isinstance(item, tr.Scripted) and item.sups:
        node = r.power(node, item)
    return r.raised(node, following) if isinstance(following, tr.Scripted) else node


def dependency(r: Reader, group: tr.Group) -> bool:
    """(x), (x, W), (x; θ): only whole tensors, as in f_{kl}(x)."""
    parts = [list(tr.unwrap(p)) for p in tr.arguments_of(group)]
    names = [_whole(p[0]) if len(p) == 1 else None for p in parts]
    return all(name in r.words and r.words[name].kind is Kind.TENSOR and not r.is_index(name)
               for name in (n or "" for n in names))


def _whole(item: tr.Item) -> str | None:
    """The name of x, and of x' where that is a letter by itself."""
    name = tr.variable(item)
    return None if name is None else f"{name[:-1]}_prime" if name.endswith("'") else name


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
    names = {name for i in named for name in (str(tr.base_of(i)), f"{tr.base_of(i)}{tr.labels_of(i)}")}
    tensors = any(r.words[n].kind is Kind.TENSOR for n in names & r.words.keys())
    return len(parts) > 1 and len(named) == len(parts) and tensors


def refuse_scalars(
    r: Reader, found: Symbol, group: tr.Group, indices: tuple[Expr, ...] | None, c: tr.Cursor, at_start: bool
) -> None:
    """f(c) with a number c is f at c or f times c, unless it stands alone left of =."""
    names = [i.text for p in tr.split(group.items, "COMMA", "SEMI") for i in tr.unwrap(p) if tr.is_token(i, "NAME")]
    scalar = all(not r.words[n].axes for n in names)
    if not scalar or len(names) > 1 or (at_start and (c.peek(1) is None or tr.is_token(c.peek(1), "REL"))):
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
    """f'(z; v): the one-sided derivative at z along v."""
    group = c.peek()
    if primes == 1 and tr.is_group(group, "LPAREN") and not tr.has(group.items, "SEMI", "COMMA"):
        wrt = r.words.get(str(tr.normal(group.items[0]))) if len(group.items) == 1 else None
        if wrt is not None and wrt.kind is Kind.TENSOR and not wrt.axes and not of.indices:
            c.take()
            return Partial(of, Entry(wrt.name, ()))  # f'(x)
    parts = tr.split(group.items, "SEMI") if isinstance(group, tr.Group) and group.bracket == "LPAREN" else []
    if primes != 1 or len(parts) != 2 or not isinstance(group, tr.Group):
        raise r.error(item, f"`{r.shown(item)}`: a derivative needs its argument and direction, `f'(z; v)`; "
                            "a renamed tensor needs a declaration")
    c.take()
    names = []
    for part in parts:
        token = tr.normal(part[0]) if len(part) == 1 else None
        known = r.words.get(token.text) if isinstance(token, tr.Token) and token.type == "NAME" else None
        if known is None or known.kind is not Kind.TENSOR:
            raise r.error(group, "a directional derivative names two tensors: `f'(z; v)`")
        names.append(known.name)
    return Directional(of, *names)


def squared(r: Reader, name: str, scripts: tr.Scripted) -> tr.Scripted | None:
    """The scripts without the 2 of σ^2, where σ^2 is a symbol; None where it is not."""
    if not scripts.sups or len(scripts.sups[0]) != 1 or str(scripts.sups[0][0]) != "2":
        return None
    if not any(word == f"{name}^2" or word.startswith(f"{name}^2_") for word in r.words):
        return None
    return replace(scripts, sups=scripts.sups[1:])


def local(r: Reader, token: tr.Token, item: tr.Item) -> Expr:
    """s, σ^2 or σ, where a function is defined at s or at σ^2."""
    scripts = item if isinstance(item, tr.Scripted) else None
    if scripts is not None and (scripts.subs or scripts.primes):
        raise r.error(item, f"`{r.shown(token)}` is a number here: the function's argument; it has no such script")
    if token.text in r.local:
        return r.raised(Entry(identifier(token.text), ()), item)
    square = Entry(identifier(f"{token.text}^2"), ())
    if scripts is not None and tr.parameter((replace(scripts, sups=scripts.sups[:1]),)) is not None:
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
    following = c.peek()
    group = tr.base_of(following) if following is not None else None
    sub = tr.unwrap(item.subs[0]) if isinstance(item, tr.Scripted) and len(item.subs) == 1 else ()
    if not tr.is_group(group, "LPAREN", "LBRACK") or (isinstance(item, tr.Scripted) and (item.sups or item.primes)):
        raise r.error(item, r"a softmax of what? Write `\operatorname{softmax}(z)`")
    c.take()
    of = r.value(group.items, group.end - 1)
    along = next((a for a in AXES if len(sub) == 1 and str(sub[0]).strip().startswith(a[:3])), None)
    if along is not None:
        found: Expr = Fn(AXES[along], (of,))
    elif sub:
        found = Fn(SOFTMAX_OVER, (of, *natural(r, sub, item.end)))
    else:
        found = Fn(SOFTMAX, (of,))
    if isinstance(following, tr.Scripted) and following.subs:
        found = Fn(SOFTMAX_AT, (found, *natural(r, following.subs[0], following.end)))
        following = replace(following, subs=following.subs[1:])
    return r.raised(found, following if isinstance(following, tr.Scripted) else None)


def diagonal(r: Reader, item: tr.Item, c: tr.Cursor) -> Expr:
    r"""diag(p)."""
    group = c.take()
    if isinstance(item, tr.Scripted) or not isinstance(group, tr.Group):
        raise r.error(item, r"a diagonal matrix of what? Write `\mathrm{diag}(p)`")
    return Fn(DIAGONAL, (r.value(group.items, group.end - 1),))


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
    scripts = item if isinstance(item, tr.Scripted) else None
    if scripts is None or not scripts.sups or scripts.primes:
        raise r.error(item, f"`{r.shown(item)}`: which sample? Write `{found.latex}` with its number above")
    up = tr.unwrap(scripts.sups[0])
    if len(up) == 1 and tr.is_group(up[0], "LPAREN", "LBRACK"):
        up = up[0].items
    elif len(up) == 1 and tr.is_token(up[0], "NUMBER"):
        raise r.error(item, f"`{r.shown(item)}`: sample {r.shown(up[0])} or a power? Write `({found.latex}^"
                            f"{{{found.axes[0]}}})^{r.shown(up[0])}`, or `{found.latex}^{{({r.shown(up[0])})}}`")
    inner = replace(r, in_index=True)
    rank = len(found.axes) - 1
    rest = () if sub is None else indices(r, sub, rank, found, item)
    if sub is None and rank - found.unwritten > 0:
        raise r.error(item, f"`{r.shown(item)}` has no subscript, `{found.latex}` has {rank}")
    node = Entry(found.name, (inner.value(up, item.end), *rest))
    following = c.peek()
    if isinstance(following, tr.Group) and following.bracket == "LPAREN" and dependency(r, following):
        c.take()
    return r.power(node, replace(scripts, sups=scripts.sups[1:]))
