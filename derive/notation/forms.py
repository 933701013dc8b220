"""Brackets, fractions, functions, cases, matrices, indicators and derivatives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import derive.expr as ex
from derive.notation import binders, conditions, vocabulary
from derive.notation import tree as tr
from derive.notation.pieces import divided
from derive.notation.reader import SETS, Reader, product
from derive.notation.shapes import FROBENIUS, INNER, NORM, ONES
from derive.notation.symbols import Kind


def group(r: Reader, c: tr.Cursor) -> ex.Expr:
    """A bracketed value, tuple, indicator, floor, ceiling, absolute value or set, with its scripts."""
    item = tr.scripted(c.take())
    g = item.base
    assert isinstance(g, tr.Group)
    scripts = bool(item.subs or item.sups or item.primes)
    match g.bracket:
        case "LFLOOR" | "LCEIL":
            found: ex.Expr = ex.Fn("floor" if g.bracket == "LFLOOR" else "ceil", (r.value(g.items, g.end - 1),))
        case "LBAR":
            inner = r.value(g.items, g.end - 1)
            found = ex.Cardinality(inner) if isinstance(inner, SETS) else ex.Fn("abs", (inner,))
        case "LNORM":
            return _norm(r, g, item)
        case "LANGLE":
            parts = tr.split(g.items, "COMMA", "MID")
            if len(parts) != 2:
                raise r.error(g, r"an inner product has two sides: `\langle w, x \rangle`")
            found = ex.Fn(INNER, tuple(r.value(part, g.end - 1) for part in parts))
        case "LSET" if scripts and (item.subs or divided(g.items) or tr.has(g.items, "COMMA", "REL", "IN")):
            raise r.error(item, "a set carries no scripts here")
        case "LSET" if scripts or _encloses_factor(g, c):
            found = r.value(g.items, g.end - 1)  # \{ w^T x - t \}^2
        case "LSET":
            found = ex.SetOf(*binders.set_builder(r, g))
        case "LBRACK" if tr.has(g.items, "REL", "IN"):
            found = ex.Bracket(conditions.condition(r, g.items, g.end - 1))
        case _:
            if tr.has(g.items, "STAR") and tr.is_group(c.peek(), "LPAREN"):
                raise r.error(g, f"`{r.shown(g)}(…)`: a convolution, or a product? Write its entries, as in "
                                 r"`y_t = \sum_j f_j g_{t-j}`, or `\cdot`")
            found = _parenthesised(r, g)
            if tr.is_positive_part(item):
                found = ex.Extremum("max", (ex.ZERO, found))  # [u]_+
                item = replace(item, subs=())
    return r.raised(found, item)


def _encloses_factor(g: tr.Group, c: tr.Cursor) -> bool:
    r"""-\{ t \ln y + … \}, \sum_n \{ a_n + b_n \}: braces as brackets around a sum, where no set can stand.

    Behind a letter they may hold its argument, behind a maximum its list, behind = a set: those are left.
    """
    if divided(g.items) is not None or not tr.has(g.items, "PLUS", "MINUS") or tr.has(
            g.items, "COMMA", "SEMI", "REL", "IN", "TEXT", "DOTS", "BAR", "MID", "COLON"):
        return False
    before = tr.base_of(c.items[c.at - 2]) if c.at > 1 else None
    summed = tr.is_token(before, "BIG") and before.text in ("sum", "prod")
    number = isinstance(before, tr.Command) and before.type == "FRAC"
    return summed or number or tr.is_token(before, "PLUS", "MINUS", "NUMBER", "TIMES")


def _norm(r: Reader, g: tr.Group, item: tr.Scripted) -> ex.Expr:
    r"""\|w\|, \|w\|_1, \|W\|_F, \|w\|_2^2."""
    args: tuple[ex.Expr, ...] = (r.value(g.items, g.end - 1),)
    if len(item.subs) == 1:
        sub = tr.unwrap(item.subs[0])
        known = r.words.get("F")  # a matrix F is no order either
        number = known is not None and known.kind is not Kind.SIZE and not (known.axes or known.sizes)
        frobenius = len(sub) == 1 and tr.is_token(sub[0], "NAME", "TEXT") and str(sub[0]) == "F" and not number
        order = FROBENIUS if frobenius else r.value(sub, item.end)
        args = args if order == ex.Num(2) else (*args, order)
    return r.raised(ex.Fn(NORM, args), replace(item, subs=item.subs[1:]))


def _parenthesised(r: Reader, g: tr.Group) -> ex.Expr:
    if tr.has(g.items, "REL", "IN"):
        raise r.error(g, "a condition stands where a value is expected; for 1 where it holds and else 0 write "
                         r"`\mathbb{I}[…]`")
    parts = tr.split(g.items, "COMMA")
    if len(parts) == 1:
        return r.value(g.items, g.end - 1)
    if g.bracket != "LPAREN":
        raise r.error(g, "a list in these brackets is outside the notation")
    return ex.Tuple(tuple(r.value(part, g.end - 1) for part in parts))


def root(r: Reader, c: tr.Cursor) -> ex.Expr:
    item = c.take()
    assert isinstance(item, tr.Command)
    return ex.Pow(r.value(item.arguments[0], item.end), ex.Num(Fraction(1, 2)))


def fraction(r: Reader, c: tr.Cursor) -> list[ex.Expr]:
    """A quotient, or a derivative."""
    item = c.take()
    assert isinstance(item, tr.Command)
    above, below = (tr.unwrap(a) for a in item.arguments)
    if above and isinstance(above[0], tr.Scripted) and tr.is_token(above[0].base, "PARTIAL"):
        raise r.error(item, "a derivative of higher order is outside the notation")
    partials = [bool(run) and tr.is_token(tr.normal(run[0]), "PARTIAL") for run in (above, below)]
    if is_total(r, above, below, item) or all(partials):
        if len(above) > 1:
            of = bare_function(r, above[1:]) or r.value(above[1:], item.end)
        elif tr.starts_factor(c.peek()):
            factors = r.factor(c)
            while tr.starts_factor(c.peek()) and not any(isinstance(n, ex.Entry) for f in factors for n in ex.walk(f)):
                factors = [*factors, *r.factor(c)]  # numbers and sizes in front of what is differentiated
            of = product(factors)
            if tr.starts_factor(c.peek()):
                raise r.error(item, "how far does this derivative reach? Put brackets around what is differentiated")
        else:
            raise r.error(item, "a derivative of what? Write it above, or in brackets behind")
        return [ex.Partial(of, differentiated_by(r, below[1:], item))]
    if any(tr.is_token(tr.normal(i), "PARTIAL") for i in (*above, *below)):
        raise r.error(item, r"a derivative is written `\frac{\partial f}{\partial x}`, with `\partial` above and below")
    return r.quotient(r.spread(above, item.end - 1), r.value(below, item.end - 1), item)


def function(r: Reader, c: tr.Cursor) -> ex.Expr:
    """exp(a), log x, tanh^2(a): a bracketed argument, or one factor that ends the product."""
    item = c.take()
    own = tr.scripted(item)
    assert isinstance(own.base, tr.Token)
    name = own.base.text
    if name == "log" and len(own.subs) == 1 and not own.sups:
        rest = tr.Cursor((own.base, *c.items[c.at :]), c.end)  # \log_2 x
        of = function(r, rest)
        c.at += rest.at - 1
        return ex.Mul((of, ex.Pow(ex.Fn("log", (r.value(own.subs[0], item.end),)), ex.MINUS_ONE)))
    argument, shown = c.peek(), r.shown(own.base)
    if argument is None or not tr.starts_factor(argument):
        raise r.error(item, f"`{shown}` of what?")
    if any("".join(map(str, sup)) == "-1" for sup in own.sups):
        raise r.error(item, rf"`{r.shown(item)}`: the inverse function, or one over `{shown}`? Write the function's "
                            rf"own name, or `\frac{{1}}{{{shown}(x)}}`")
    held = tr.base_of(argument) if not tr.scripted(argument).subs else argument
    if tr.is_group(argument, "LPAREN", "LBRACK", "LSET"):
        c.take()
        found = r.value(argument.items, argument.end - 1)
    elif tr.is_group(held, "LPAREN", "LBRACK") and name == "log":
        raise r.error(argument, f"`{r.shown(item, argument)}`: a power of the argument or of the logarithm? Write "
                                r"`\log^2(x)` or `\log((x)^2)`")
    elif tr.is_group(held, "LPAREN", "LBRACK") and own.base is item:
        c.take()
        return r.raised(ex.Fn(name, (r.value(held.items, held.end - 1),)), argument)
    else:
        doubled = tr.is_token(argument, "NUMBER")
        factors = r.factor(c)
        while doubled and (behind := c.peek()) is not None and tr.is_token(tr.base_of(behind), "NAME"):
            factors = [*factors, *r.factor(c)]  # \log 2\pi\sigma^2: a number opens the argument's product
        found = product(factors)
        goes_on = name != "log" and tr.is_token(tr.base_of(argument), "BIG") and tr.is_token(c.peek(), "PLUS", "MINUS")
        if goes_on or tr.starts_factor(c.peek()):  # \tanh \sum_j w_j x_j + b; \log \sum_k e^{z_k} - z_y is usual
            raise r.error(item, f"how far does `{shown}` reach? Put brackets around its argument")
    return r.raised(ex.Fn(name, (found,)), item)


def indicator(r: Reader, c: tr.Cursor) -> ex.Expr:
    r"""\mathbb{I}[…], \mathbb{1}\{…\}, \mathbf{1}_{…}; \mathbf{1} without a condition is the vector of ones."""
    item = tr.scripted(c.take())
    if (ones := _ones(r, item, c)) is not None:
        return ones
    if not (item.subs or item.sups or item.primes):
        return ex.Bracket(bracketed_condition(r, c))
    if len(item.subs) != 1 or item.sups or item.primes:
        raise r.error(item, "an indicator carries its condition and nothing else")
    sub = tr.unwrap(item.subs[0])
    if len(sub) == 1 and tr.is_group(sub[0], "LBRACK", "LPAREN", "LSET"):
        sub = sub[0].items
    return ex.Bracket(conditions.condition(r, sub, item.end))


def _ones(r: Reader, item: tr.Scripted, c: tr.Cursor) -> ex.Expr | None:
    r"""\mathbf{1}, \mathbf{1}^\top and \mathbf{1}_n; None for an indicator."""
    sub = tr.unwrap(item.subs[0]) if item.subs else ()
    size = r.words.get(tr.variable(sub[0]) or "") if len(sub) == 1 else None
    counted = not sub or (size is not None and size.kind is Kind.SIZE)
    if "1" not in r.shown(item.base) or isinstance(c.peek(), tr.Group) or not counted or item.primes:
        return None
    known = () if size is None else (ex.Size(size.name),)
    return r.raised(ex.Fn(ONES, known), replace(item, subs=()))


def bracketed_condition(r: Reader, c: tr.Cursor) -> ex.Cond:
    """The condition in the brackets at the cursor."""
    g = c.peek()
    if not isinstance(g, tr.Group):
        raise r.error(c.place, r"an indicator needs its condition in brackets: `\mathbb{I}[a > b]`")
    c.take()
    return conditions.condition(r, g.items, g.end - 1)


def hull(r: Reader, c: tr.Cursor) -> ex.Expr:
    r"""conv S."""
    item = c.take()
    if not isinstance(item, tr.Token) or not tr.starts_factor(c.peek()):
        raise r.error(item, r"`\operatorname{conv}` stands before a set")
    found = product(r.factor(c))
    if not isinstance(found, SETS):
        raise r.error(item, r"`\operatorname{conv}` stands before a set")
    return ex.Hull(found)


def environment(r: Reader, c: tr.Cursor) -> ex.Expr:
    """cases, or a matrix of numbers."""
    env = c.take()
    assert isinstance(env, tr.Env)
    if env.name in ("cases", "dcases"):
        return ex.Cases(tuple(_branch(r, row, env, n) for n, row in enumerate(tr.rows(env.items))))
    if env.name in ("pmatrix", "bmatrix", "matrix", "array", "smallmatrix"):
        found = tuple(tuple(r.value(cell, env.end) for cell in tr.split(row, "AMP")) for row in tr.rows(env.items))
        if len({len(row) for row in found}) != 1:
            raise r.error(env, "the rows of this matrix are not equally long")
        return ex.Matrix(found)
    raise r.error(env, rf"`\begin{{{env.name}}}` is not a value")


def _branch(r: Reader, row: list[tr.Item], env: tr.Env, number: int) -> tuple[ex.Expr, ex.Cond]:
    """value & if condition."""
    cells = tr.split(row, "AMP")
    if len(cells) == 1:
        start = next((n for n, i in enumerate(row) if vocabulary.kind(i) in ("IF", "ELSE", "ALL")), len(row))
        cells = [row[:start], row[start:]]
    if len(cells) == 3 and len(cells[1]) <= 1:
        cells = [cells[0], cells[1] + cells[2]]
    if len(cells) != 2 or not cells[0]:
        raise r.error(row[0] if row else env, r"a row of cases is `value & \text{if } condition`")
    value, cond = (tr.stripped(cell, "COMMA", "DOT", "SEMI") for cell in cells)
    found = r.value(value, env.end)
    if cond and vocabulary.kind(cond[0]) == "ELSE":
        if len(cond) > 1 or number != len(tr.rows(env.items)) - 1:
            raise r.error(cond[0], f"`{r.shown(cond[0])}` ends the cases; nothing follows it")
        return found, ex.OTHERWISE
    if not cond:
        raise r.error(row[0], r"this row has no condition; write `\text{if } …` or `\text{otherwise}`")
    return found, conditions.condition(r, cond, env.end)


def is_total(r: Reader, above: tr.Items, below: tr.Items, at: tr.Item) -> bool:
    """df/dx, where d is no symbol of its own."""
    letters = [i[0].text for i in (above, below) if i and isinstance(i[0], tr.Token) and i[0].type == "NAME"]
    if letters != ["d", "d"] or len(below) < 2:
        return False
    if "d" in r.words:
        raise r.error(at, r"a derivative, or quotients with the factor `d`? Write `\partial` for a derivative")
    return True


def bare_function(r: Reader, items: tr.Items) -> ex.Expr | None:
    """σ of dσ/ds: the card's function at its own arguments."""
    known = r.words.get(items[0].text) if len(items) == 1 and isinstance(items[0], tr.Token) else None
    if known is None or known.kind is not Kind.FUNCTION:
        return None
    return ex.Fn(known.name, tuple(ex.Entry(parameter, ()) for parameter in known.axes))


def is_derivative_sign(item: tr.Item) -> bool:
    r"""\frac{d}{dx}, with what is differentiated behind it."""
    if not isinstance(item, tr.Command) or item.type != "FRAC":
        return False
    above = tr.unwrap(item.arguments[0])
    return len(above) == 1 and (tr.is_token(above[0], "PARTIAL") or tr.variable(above[0]) == "d")


def differentiated_by(r: Reader, items: tr.Items, at: tr.Item) -> ex.Expr:
    r"""x of ∂y/∂x, also of \partial y / \partial x^\top: entry by entry that is the same."""
    if len(items) == 1 and isinstance(whole := tr.normal(items[0]), tr.Scripted) and tr.is_transposed(whole):
        items = (replace(whole, sups=()),)
    found = r.value(items, at.end - 1)
    if not isinstance(found, ex.Entry):
        raise r.error(at, "a derivative is taken with respect to one entry, such as `x_{ij}`")
    return found


def partial(r: Reader, c: tr.Cursor) -> ex.Expr:
    r"""∂f_{kl} / ∂x_{ij}, \partial_{x_{ij}} f_{kl}, or ∂f alone: the subdifferential."""
    sign = c.take()
    if isinstance(sign, tr.Scripted) and len(sign.subs) == 1 and not sign.sups and not sign.primes:
        return _by(r, sign, c, "derivative")
    if isinstance(sign, tr.Scripted):
        raise r.error(sign, "a derivative of higher order, or without one letter, is outside the notation")
    if not tr.starts_factor(c.peek()):
        raise r.error(sign, r"`\partial` of what?")
    of = product(r.factor(c))
    if tr.is_token(c.peek(), "SLASH") and tr.is_token(c.peek(1), "PARTIAL"):
        c.at += 2
        if not tr.starts_factor(c.peek()):
            raise r.error(sign, "a derivative with respect to what?")
        start = c.at
        r.factor(c)
        return ex.Partial(of, differentiated_by(r, c.items[start : c.at], sign))
    return ex.Subdifferential(of)


def gradient(r: Reader, c: tr.Cursor) -> ex.Expr:
    r"""\nabla_w L: the derivatives by every entry of w."""
    sign = c.take()
    if not isinstance(sign, tr.Scripted) or len(sign.subs) != 1 or sign.sups or sign.primes:
        raise r.error(sign, r"a gradient with respect to what? Write `\nabla_w L`")
    return _by(r, sign, c, "gradient")


def _by(r: Reader, sign: tr.Scripted, c: tr.Cursor, what: str) -> ex.Expr:
    """The derivative of the next factor by the letter in the subscript."""
    wrt = differentiated_by(r, sign.subs[0], sign)
    if not tr.starts_factor(c.peek()):
        raise r.error(sign, f"a {what} of what?")
    return ex.Partial(product(r.factor(c)), wrt)
