"""A letter with its scripts and what follows it: index, tensor entry, set, size, function."""

from __future__ import annotations

import re

from derive.expr import PI, Bracket, Entry, Expr, Fn, Idx, SetApp, Size, Star, Tuple, Unit
from derive.notation import arguments, forms
from derive.notation import tree as tr
from derive.notation.pieces import behind, labelled_name, leading
from derive.notation.reader import Reader
from derive.notation.shapes import ALL, ARRANGED, AT
from derive.notation.symbols import Kind, Symbol, is_capital, name_of
from derive.notation.vocabulary import LETTERS_TOO, OPERATORS, beyond, is_divided
from derive.records import replace


def symbol(r: Reader, c: tr.Cursor) -> Expr:
    """The letter at the cursor, with its scripts and arguments."""
    before = c.items[c.at - 1] if c.at else None
    at_start = before is None or (tr.is_token(before, "REL", "COMMA", "AND", "SEMI") and tr.is_token(
        c.peek(2), "REL")) or forms.is_derivative_sign(before)
    item = c.take()
    scripts = tr.scripted(item)
    token = scripts.base
    assert isinstance(token, tr.Token)
    if len(scripts.subs) > 1:
        raise r.error(item, "two subscripts; write one, parted by commas")
    if (known := _without_symbol(r, token, item, scripts, c)) is not None:
        return known
    if scripts.primes == 1 and f"{token.text}_prime" in r.words:
        token = replace(token, text=f"{token.text}_prime")
        scripts = replace(scripts, base=token, primes=0)
    name = token.text
    if (square := arguments.squared(r, name, scripts)) is not None:
        name, scripts = f"{name}^2", square
    elif name not in r.words and f"{name}^2" in r.words:
        return arguments.root(r, token, scripts, c)
    item = scripts if scripts.subs or scripts.sups or scripts.primes else token
    sub = scripts.subs[0] if scripts.subs else None
    found, rest = labelled(r, name, sub, scripts)
    if found is not None and found.above:
        return arguments.sample(r, found, rest, item, c)
    base, inner = arguments.raised_in(name, token)
    if found is None and inner and base in r.words and r.words[base].above:
        above = (tr.Group("LPAREN", inner, token.start, token.end),)
        return arguments.sample(r, r.words[base], sub, replace(scripts, sups=(above, *scripts.sups)), c)
    if found is None or (found.axes and _is_pi(item, c)):
        return undeclared(r, token, item, c)
    match found.kind:
        case Kind.FUNCTION:
            return arguments.applied(r, found, rest, item, c)
        case Kind.SET:
            return set_applied(r, found, rest, item, c)
        case Kind.SIZE:
            return size(r, found, rest, scripts)
        case Kind.INDEX:
            return index(r, token, scripts, c)
    return entry(r, found, rest, item, c, at_start)


def size(r: Reader, found: Symbol, sub: tr.Items | None, scripts: tr.Scripted) -> Expr:
    if sub is not None:
        raise r.error(scripts, f"`{r.shown(scripts.base)}` is a size; it has no subscript")
    refuse_open(r, found, scripts)
    return r.raised(Size(found.name), replace(scripts, subs=()))


def _without_symbol(r: Reader, token: tr.Token, item: tr.Item, scripts: tr.Scripted, c: tr.Cursor) -> Expr | None:
    """The function's own argument, softmax, diag, vec, e^x, an index; None where the symbol table says what it is."""
    if r.local & {token.text, f"{token.text}^2"}:
        return arguments.local(r, token, item)
    if token.text.lower() == "softmax" and token.text not in r.words:
        return arguments.softmax(r, item, c)
    if token.text in ARRANGED and token.text not in r.words and tr.is_group(c.peek(), "LPAREN"):
        return arguments.arranged(r, item, c)
    if token.text == "e" and scripts.sups and not scripts.subs and is_euler(r, item, scripts):
        return undeclared(r, token, item, c)
    primed = r.words.get(token.text + "_prime" * scripts.primes)  # i'' of y_{i'' j''}, where i alone is nothing
    is_index = r.is_index(token.text) or (scripts.primes and primed is not None and primed.kind is Kind.INDEX)
    return index(r, token, scripts, c) if is_index else None


def is_euler(r: Reader, item: tr.Item, scripts: tr.Scripted) -> bool:
    """Whether e^x is the exponential function; of a number e of the card, e^2 is the square, of a vector e^⊤ a row."""
    if tr.is_transposed(scripts):
        return False
    known = r.words.get("e")
    if known is None or known.kind is not Kind.TENSOR or known.axes:
        return not r.bound & {"e"}
    if all(tr.is_token(i, "NUMBER") for i in tr.unwrap(scripts.sups[0])):
        return False
    raise r.error(item, f"`{r.shown(item)}`: the exponential function, or a power of the number `e`? Write `\\exp(…)`, "
                        "or give the number another letter")


def _is_pi(item: tr.Item, c: tr.Cursor) -> bool:
    r"""The number of 2\pi, beside the entries \pi_k of a vector."""
    before = c.items[c.at - 2] if c.at > 1 else None
    return tr.is_token(item, "NAME") and str(item) == "pi" and tr.is_token(before, "NUMBER")


def index(r: Reader, token: tr.Token, scripts: tr.Scripted, c: tr.Cursor) -> Expr:
    """i, i', i^*, i^*(k, l), i^2."""
    name = token.text + "'" * scripts.primes
    if not any(tr.is_token(s[0], "STAR") for s in scripts.sups):
        if scripts.subs:
            raise r.error(scripts, f"`{r.shown(token)}` is an index here; it has no subscript")
        return r.power(Idx(name), scripts)
    if len(scripts.sups) > 1:
        raise r.error(scripts, "two superscripts")
    if scripts.subs:
        return Star(name, arguments.natural(r, scripts.subs[0], scripts.end))
    following, at = c.peek(), dict(r.table.stars).get(name)
    if tr.is_group(following, "LPAREN"):
        c.take()
        return Star(name, arguments.arguments(r, following))
    if at is None:
        raise r.error(scripts, rf"`{r.shown(scripts)}` is not declared; define it, as in "
                               r"`(i^*, j^*) = \arg\max_{…} …`")
    return Star(name, tuple(map(Idx, at)))


def labelled(
    r: Reader, name: str, sub: tr.Items | None, scripts: tr.Scripted
) -> tuple[Symbol | None, tr.Items | None]:
    """The symbol, and the subscript left when a label (``\\delta_{f,kl}``: f) is taken off."""
    if len(scripts.sups) == 1 and (own := f"{name}_{_label_above(scripts)}") in r.words:
        return r.words[own], sub
    if name not in r.words and name.endswith(")") and "^(" in name:
        name = name[:-1].replace("^(", "_")  # \delta^{(f)}: f is a label
    plain = r.words.get(name)
    if sub is None:
        return plain, None
    first = leading(sub)
    head = tr.normal(first[0]) if first else None
    if isinstance(head, tr.Scripted) and len(first) == 1:
        if (own := f"{name}_{name_of(r.shown(head))}") in r.words:
            return r.words[own], behind(sub, first)  # \delta_{\sigma^2}
        if len(sub) == len(head.subs) == 1 and not head.sups and (own := f"{name}_{tr.label_of(head.base)}") in r.words:
            return r.words[own], head.subs[0]  # \delta_{f_{kl}}
    known = r.words.get(labelled_name(name, sub)) if all(isinstance(i, tr.Token) for i in first) else None
    indexed = plain is not None and len(first) == 1 and r.is_index(str(head))
    if known is not None and (known.kind is Kind.SIZE or not indexed):
        return known, behind(sub, first)  # W_{hh,kj}, h_{t-1,i}
    own = f"{name}_{tr.label_of(head)}"
    return (r.words[own], list(sub)[1:]) if plain is None and len(first) > 1 and own in r.words else (plain, sub)


_STATED = {"a number": r"\in \mathbb{R}", "a vector": r"\in \mathbb{R}^{n}", "a matrix": r"\in \mathbb{R}^{m \times n}",
           "an index": r"= 1, \dots, n", "a size": r"= 3"}


def refuse_open(r: Reader, found: Symbol, item: tr.Item) -> None:
    """Raise where two things fit."""
    if readings := dict(r.table.open).get(found.name):
        shown = r.shown(item) if found.axes else found.latex
        raise r.error(item, f"`{shown}` is {' or '.join(readings)}: the formulas fit both ways. Write "
                            + " or ".join(rf"`{shown} {_STATED[reading]}`" for reading in readings))


def entry(r: Reader, found: Symbol, sub: tr.Items | None, item: tr.Item, c: tr.Cursor, at_start: bool) -> Expr:
    """x_{ij}, f_{kl}(x), f(x)_{kl}, f'(z; v), y(m, n)."""
    refuse_open(r, found, item)
    indices = () if sub is None else arguments.indices(r, sub, found, item)
    raised, following = _superscript(r, found, item), c.peek()
    if ALL in indices:  # E_{w,:} is a row
        return r.power(Fn(AT, (Entry(found.name, ()), *indices)), raised)
    node = Entry(found.name, indices)
    if primes := tr.scripted(item).primes:
        return arguments.directional(r, node, item, primes, c)
    group = tr.base_of(following) if following is not None else None
    inverse = ["".join(map(str, sup)) for sup in raised.sups] == ["-1"] and is_capital(found.name) and sub is None
    if inverse and (tr.is_token(group, "NAME") or isinstance(group, tr.Group)):
        raise r.error(item, rf"`{r.shown(item)}`: one over a number, or the inverse of a matrix? Write "
                            rf"`\frac{{1}}{{{found.latex}}}`; an inverse is outside the notation")
    if following is None or not tr.is_group(group, "LPAREN", "LBRACK") or (
            group.bracket == "LBRACK" and tr.is_positive_part(following)):
        return r.power(node, raised)
    after = tr.scripted(following)
    signature = at_start and len(indices) == len(found.axes) and tr.is_token(c.peek(1), "REL")
    if signature and group.bracket == "LPAREN" and arguments.lists_arguments(r, group):
        c.take()  # f(x_1, …, x_n) = …, f_k(x_1, …, x_n) = …, ℓ(s, c) = … with an index c
        return node
    if group.bracket == "LPAREN" and arguments.dependency(r, group):
        arguments.refuse_scalars(r, found, group, c, at_start)
        c.take()
        if after.subs:
            if sub is not None:
                raise r.error(following, "two subscripts")
            node = Entry(found.name, arguments.indices(r, after.subs[0], found, item))
        return r.power(node, after if after.sups else raised)
    if sub is None and found.axes and after.base is following and not raised.sups and arguments.lists_indices(r, group):
        c.take()
        return Entry(found.name, arguments.arguments(r, group, found))
    if sub is None and not found.axes:
        arguments.refuse_unless_product(r, found, group, item)
    return r.power(node, raised)


def _superscript(r: Reader, found: Symbol, item: tr.Item) -> tr.Scripted:
    """The item without a superscript that is the symbol's own label."""
    own = tr.scripted(item)
    label = len(own.sups) == 1 and r.words.get(f"{own.base}_{_label_above(own)}") is found
    return replace(own, sups=()) if label else own


def _label_above(item: tr.Scripted) -> str | None:
    """f of δ^f and of δ^{(f)}."""
    up = tr.unwrap(item.sups[0])
    up = up[0].items if len(up) == 1 and tr.is_group(up[0], "LPAREN") else up
    return tr.label_of(up[0]) if len(up) == 1 else None


def set_applied(r: Reader, found: Symbol, sub: tr.Items | None, item: tr.Item, c: tr.Cursor) -> Expr:
    """Ω(k, l), Ω_{kl}, or a plain set A."""
    following, own = c.peek(), tr.scripted(item)
    if own.sups or own.primes:
        raise r.error(item, f"`{r.shown(item)}`: a set carries no superscript")
    if sub is not None:
        return SetApp(found.name, arguments.indices(r, sub, found, item))
    if tr.is_group(following, "LPAREN"):
        c.take()
        return SetApp(found.name, arguments.arguments(r, following, found))
    if found.axes:
        raise r.error(item, f"`{r.shown(item)}` is the set of a window: which one? Write `{found.latex}"
                            f"({', '.join(found.axes)})`")
    return SetApp(found.name, ())


_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")


def undeclared(r: Reader, token: tr.Token, item: tr.Item, c: tr.Cursor) -> Expr:
    """e^x, e_q (with a hat where the card has an e), I(a > b); any other letter without a declaration is an error."""
    following, own, shown = c.peek(), tr.scripted(item), r.shown(token)
    bare = not (own.subs or own.sups or own.primes)
    if is_divided(following):
        raise r.error(token, beyond(r.shown(item), "KL"))
    if token.text in OPERATORS and (token.text not in LETTERS_TOO or (
            following is not None and isinstance(tr.base_of(following), tr.Group))):
        raise r.error(token, beyond(shown, token.text))
    if token.text == "pi" and not own.subs and not own.primes:
        return r.raised(PI, item)
    condition = isinstance(following, tr.Group) and tr.has(following.items, "REL", "IN")
    if token.text in ("I", "I_bb") and bare and condition:
        return Bracket(forms.bracketed_condition(r, c))
    if token.text == "e" and len(own.sups) == 1 and not own.subs and not own.primes:
        return Fn("exp", (r.value(own.sups[0], item.end),))
    if token.text in ("e", "e_hat") and len(own.subs) == 1 and not own.sups and not own.primes:
        at = arguments.natural(r, own.subs[0], item.end)
        return Unit(at[0] if len(at) == 1 else Tuple(at))
    if token.text.endswith("_bb"):
        raise r.error(token, f"`{shown}` declares a shape and claims nothing")
    if tr.is_group(following, "LPAREN") and bare:
        raise r.error(token, f"`{shown}{r.shown(following)}`: `{shown}` is not declared, so this is a function of "
                             rf"{r.shown(following)} or a product; define it, as in `{shown}(u) = \max(0, u)`, or "
                             rf"write `\cdot` for a product")
    if (word := _WORD.search(r.source.latex)) and word.start() <= token.start < word.end():
        raise r.error(word.start(), rf"`{word[0]}` is not declared: write `\mathrm{{{word[0]}}}` for one name")
    raise r.error(token, f"`{shown}` is not declared: give it subscripts where it is defined, state its "
                         rf"shape, as in `{shown} \in \mathbb{{R}}^{{n}}`, or say what it is")
