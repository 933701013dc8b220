"""Sums, products, maxima, minima, argmax and set-builders: what is bound, where it runs, how far the body goes."""

from __future__ import annotations

import itertools

import derive.expr as ex
from derive import reductions
from derive.affine import Affine
from derive.notation import conditions
from derive.notation import tree as tr
from derive.notation.pieces import Bound, Pieces, divided, lines
from derive.notation.reader import Reader, negated, product
from derive.notation.shapes import EXTREMES
from derive.notation.symbols import Kind


def running_below(r: Reader, sub: tr.Items, sup: tr.Items | None, item: tr.Item) -> tuple[ex.Binder, list[str]] | None:
    """The binder below a sum and its names; None where a set alone stands there."""
    items = lines(sub)
    if not items:
        raise r.error(item, "what runs here? Write it below")
    parts = divided(items)
    head, rest = parts if parts is not None else (items, [])
    if parts is None and not tr.has(head, "REL", "IN", "NI", "COMMA", "RANGE") and tr.variables(head) is None:
        return None
    found = Pieces(r.source)
    found.sort(head, item)
    if parts is not None:
        _conditions(r, found, rest, item)
    _last_values(r, found, sup, item)
    return elaborated(r, found, item), found.names


def _conditions(r: Reader, found: Pieces, rest: tr.Items, item: tr.Item) -> None:
    """The conditions behind the colon; ``q \\in \\{1, \\dots, n\\}`` among them is a range."""
    if not rest:
        raise r.error(item, "a condition is missing here")
    kept: list[tr.Item] = []
    for part in tr.split(rest, "COMMA"):
        range_ = part[0] if len(part) == 1 and tr.has(part, "RANGE") else None
        if isinstance(range_, tr.Command) and {*(tr.variables(range_.arguments[0]) or ())} <= {*found.names}:
            found.ranged(range_, [])
            continue
        kept += [*([tr.Token("COMMA", ",", part[0].start, part[0].start)] if kept and part else []), *part]
    if kept:
        found.conditions.append(kept)


def _last_values(r: Reader, found: Pieces, sup: tr.Items | None, item: tr.Item) -> None:
    """The values above: one for all of ``k = …``, or one each; of Σ_i^n, which runs over n values, the last."""
    above = tr.split(sup, "COMMA") if sup else []
    said = (found.lower, found.upper, found.members, found.listed, found.conditions)
    if len(above) == len(found.names) == 1 and not any(said) and len(above[0]) == 1 and tr.variable(above[0][0]):
        found.lower[found.names[0]] = ((tr.Token("NUMBER", "1", item.start, item.start),), False)
        found.starts.append(found.names[0])
    if above and not found.starts:
        raise r.error(item, "an upper limit needs a lower one, as in `k=1`")
    if found.starts and not above:
        raise r.error(item, f"the last value of `{found.starts[0]}` is missing above")
    if len(above) not in (1, len(found.starts)):
        raise r.error(item, f"{len(found.starts)} indices start below and {len(above)} end above")
    for n, name in enumerate(found.starts):
        found.upper[name] = (above[n if len(above) > 1 else 0], False)


def elaborated(r: Reader, found: Pieces, item: tr.Item) -> ex.Binder:
    """The binder; its bounds and conditions may mention its variables."""
    _indices_only(r, found, item)
    inner = r.binding(found.names)
    bounds = [[_bound(inner, side.get(name), step, item) for name in found.names]
              for side, step in ((found.lower, ex.ONE), (found.upper, ex.MINUS_ONE))]
    for name, values in found.listed:
        place = found.names.index(name)
        bounds[0][place], bounds[1][place] = _ends(inner, values, item)
    for name, low, high in zip(found.names, *bounds, strict=True):
        if any(ex.Idx(name) in ex.walk(bound) for bound in (low, high) if bound is not None):
            raise r.error(item, f"`{name}` stands in its own limits: write another letter for what runs")
        if isinstance(low, ex.Num) and isinstance(high, ex.Num) and high.value < low.value:
            raise r.error(item, f"`{name}` runs from {low.value} down to {high.value}: exchange its limits")
    conds: list[ex.Cond] = _one_sided(found, bounds)
    for names, is_tuple, right in found.members:
        conds += _memberships(inner, names, is_tuple, right, item)
    for items in found.conditions:
        cond = conditions.condition(inner, items, item.end)
        conds += cond.conds if isinstance(cond, ex.And) else (cond,)
    cond_ = None if not conds else conds[0] if len(conds) == 1 else ex.And(tuple(conds))
    return ex.Binder(tuple(map(ex.Idx, found.names)), tuple(bounds[0]), tuple(bounds[1]), cond_)


def _one_sided(found: Pieces, bounds: list[list[ex.Expr | None]]) -> list[ex.Cond]:
    """j ≤ i without a first value is a condition on j, not its range; k ≥ 0 and k < n are all of an axis."""
    lower, upper = bounds
    conds: list[ex.Cond] = []
    for n, name in enumerate(found.names):
        low, high = lower[n], upper[n]
        if low is not None and high is None and low not in (ex.Num(0), ex.ONE):
            lower[n] = None
            conds.append(ex.rel(low, "≤", ex.Idx(name)))
        elif high is not None and low is None and (
                ex.free_indices(high) or not any(isinstance(part, ex.Size) for part in ex.walk(high))):
            upper[n] = None
            conds.append(ex.rel(ex.Idx(name), "≤", high))
    return conds


def _bound(r: Reader, bound: Bound | None, step: ex.Expr, item: tr.Item) -> ex.Expr | None:
    """An inclusive bound: a strict one moves by one."""
    if bound is None:
        return None
    found = r.value(bound[0], item.end)
    return ex.add(found, step) if bound[1] else found


def _ends(r: Reader, values: list[tr.Items], item: tr.Item) -> tuple[ex.Expr, ex.Expr]:
    """First and last of whole numbers in a row."""
    found = [r.value(value, item.end) for value in values]
    if any(Affine.of(ex.add(a, ex.ONE)) != Affine.of(b) for a, b in itertools.pairwise(found)):
        raise r.error(item, "a list whose values are not in a row is outside the notation")
    return found[0], found[-1]


def _memberships(r: Reader, names: list[str], is_tuple: bool, right: tr.Items, item: tr.Item) -> list[ex.Cond]:
    """``i, j \\in S``: the pair where S has pairs, each of them where it has not."""
    of = r.value(right, item.end)
    letters = tuple(map(ex.Idx, names))
    if is_tuple or len(names) == 1:
        return [ex.In(ex.tuple_of(letters), of)]
    known = r.table.named(of.name) if isinstance(of, ex.SetApp) else None
    if known is not None and len(known.members) == 1:
        return [ex.In(letter, of) for letter in letters]
    if known is not None and len(known.members) == len(names):
        return [ex.In(ex.tuple_of(letters), of)]
    raise r.error(item, f"is ({', '.join(names)}) an element, or each of them? Write brackets, or one `\\in` each")


def _indices_only(r: Reader, found: Pieces, item: tr.Item) -> None:
    for name in found.names:
        known = r.words.get(name.rstrip("'"))
        if known is not None and known.kind is not Kind.INDEX:
            raise r.error(item, f"`{known.latex}` is bound here, but it is declared as a {known.kind.value}")
    if not found.names:
        raise r.error(item, "which index runs here? Write `k : condition`")


def set_builder(r: Reader, g: tr.Group) -> tuple[ex.Binder, ex.Expr]:
    r"""``\{ element : conditions \}``: the letters of the element are bound."""
    parts = divided(g.items)
    if parts is None or not parts[0]:
        raise r.error(g, r"a list in braces is outside the notation here; a set is `\lbrace q : condition \rbrace`")
    head, rest = parts
    found = Pieces(r.source)
    element = tr.split(head, "IN")[0]
    if tr.has(head, "IN"):
        found.sort(head, g)
    else:
        found.bind(_set_variables(r, element, rest, g), g)
    _conditions(r, found, rest, g)
    binder = elaborated(r, found, g)
    return binder, r.binding(found.names).value(element, g.end - 1)


def _set_variables(r: Reader, element: tr.Items, rest: tr.Items, g: tr.Group) -> list[str]:
    """The element itself, else what the conditions say is in a set, else the letters that both share."""
    own, inside = tr.variables(element), _indices_in(r, element)
    sets = (tr.variables(tr.split(p, "IN")[0]) or () for p in tr.split(rest, "COMMA") if tr.has(p, "IN"))
    stated = dict.fromkeys(n for names in sets for n in names if n in inside)
    shared = own or [*stated] or [name for name in inside if name in _indices_in(r, rest)]
    if not shared:
        raise r.error(g, "which index runs through this set? Write it before the colon, or `q \\in …` behind it")
    return shared


def _indices_in(r: Reader, items: tr.Items) -> list[str]:
    """The index letters of the items, in order."""
    found: dict[str, None] = {}
    for item in (tr.scripted(below) for top in items for below in tr.inside(top)):
        known = r.words.get(str(item.base))
        own = known.kind is Kind.INDEX if known is not None else str(item.base) != "e"
        if tr.is_token(item.base, "NAME") and not item.subs and own:
            found[item.base.text + "'" * item.primes] = None
    return [*found]


def reduction(r: Reader, c: tr.Cursor) -> ex.Expr:
    r"""\sum_{…}^{…} body, \max_{…} body, \arg\max_{…} body, \max(a, b), \min\{r : …\}."""
    item = c.take()
    base = item.base if isinstance(item, tr.Scripted) else item
    assert isinstance(base, tr.Token)
    if not isinstance(item, tr.Scripted):
        return _without_binder(r, base, c)
    if len(item.subs) != 1 or len(item.sups) > 1 or item.primes:
        raise r.error(item, f"`{r.shown(base)}` needs what it runs over below it")
    return _over(r, base, item.subs[0], item.sups[0] if item.sups else None, item, c)


def _over(r: Reader, base: tr.Token, sub: tr.Items, sup: tr.Items | None, item: tr.Item, c: tr.Cursor) -> ex.Expr:
    found = running_below(r, sub, sup, item)
    if found is None:
        return _over_set(r, base, sub, item, c)
    binder, names = found
    c.opened += [(name, r.shown(base)) for name in names]
    inside = body(r, base, names, c)
    if any(tr.is_group(i, "LBRACK") for i in sub) and not _indexed(inside) >= {ex.Idx(name) for name in names}:
        raise r.error(item, r"whole numbers or all numbers between the two? Write `j \in \{1, \dots, n\}` for an index")
    return _node(base.text, binder, inside)


def _indexed(inside: ex.Expr) -> set[ex.Idx]:
    """The letters that stand in indices."""
    terms = (term for n in ex.walk(inside) if isinstance(n, ex.Entry) for term in n.indices)
    return {i for term in terms for i in ex.free_indices(term)}


def _node(op: str, binder: ex.Binder, inside: ex.Expr) -> ex.Expr:
    return ex.Arg(op[3:], binder, inside) if op.startswith("arg") else ex.Reduce(op, binder, inside)


def _over_set(r: Reader, base: tr.Token, sub: tr.Items, item: tr.Item, c: tr.Cursor) -> ex.Expr:
    r"""\max_{\Omega(k,l)} x_{ij}: the members' own letters are bound, or the body is a whole tensor."""
    over = r.value(tr.unwrap(sub), item.end)
    known = r.table.named(over.name) if isinstance(over, ex.SetApp) else None
    if known is None or not known.members:
        raise r.error(item, "which index runs here? Write `(i, j) \\in …` or `k = 1`")
    variables = tuple(map(ex.Idx, known.members))
    inside = body(r, base, list(known.members), c, whole=True)
    if isinstance(inside, ex.Entry) and not inside.indices:
        if r.rank(inside) != len(variables):
            raise r.error(item, f"`{known.latex}` has elements of {len(variables)} indices; the body does not fit")
        inside = ex.Entry(inside.tensor, variables)
    elif not ex.free_indices(inside) & {*variables}:
        raise r.error(item, f"which index runs over `{r.shown(*sub)}`? Write `(i, j) \\in …`")
    return _node(base.text, ex.over(variables, ex.In(ex.tuple_of(variables), over)), inside)


def body(r: Reader, base: tr.Token, names: list[str], c: tr.Cursor, whole: bool = False) -> ex.Expr:
    """The product up to the next + or −; for max, min and argmax it must end with a bound variable."""
    inner = r.binding(names)
    negative = c.taken("MINUS")
    first = c.peek()
    if not tr.starts_factor(first):
        raise r.error(c.place, f"`{r.shown(base)}` of what?")
    if isinstance(first, tr.Group) and first.bracket == "LSET" and not tr.starts_factor(c.peek(1)):
        c.take()  # \max_{…} \{ x_{ij} \}
        if tr.has(first.items, "COMMA", "COLON", "MID"):
            raise r.error(first, f"`{r.shown(base)}` over an index and of a list: write one or the other")
        return inner.value(first.items, first.end - 1)
    factors = inner.factors(c)
    bound = {ex.Idx(name) for name in names}
    if base.text != "sum" and len(factors) > 1 and not ex.free_indices(factors[-1]) & bound:
        raise r.error(base, f"how far does `{r.shown(base)}` reach? Put brackets around its body")
    found = product(negated(factors) if negative else factors)
    if not whole and not ex.free_indices(found) & bound and base.text.startswith("arg"):
        raise r.error(base, "the body does not depend on what runs")
    return found


def _without_binder(r: Reader, base: tr.Token, c: tr.Cursor) -> ex.Expr:
    r"""\max(a, b, c), \max\{a, b\}, \max\{x_{ij} : …\}; \max(\mathbf c)."""
    following = c.peek()
    own = tr.scripted(following) if following is not None else None
    shown = r.shown(base)
    nothing = r.error(base, f"`{shown}` over what? Write the indices below it, `{shown}_{{…}}`")
    g = own.base if own is not None and not own.subs and not own.primes else None
    if own is None or not reductions.is_pairwise(base.text) or not tr.is_group(g, "LPAREN", "LSET", "LBRACK"):
        raise nothing
    if g is following and g.bracket == "LSET" and divided(g.items):
        c.take()
        binder, element = set_builder(r, g)
        return ex.Reduce(base.text, binder, element)
    parts = tr.split(g.items, "COMMA")
    if not all(parts):
        raise nothing
    values = tuple(r.value(part, g.end - 1) for part in parts)
    whole = values[0] if isinstance(values[0], ex.Entry) else None
    if len(values) == 1 and (whole is None or len(whole.indices) == r.rank(whole) > 0):
        raise nothing
    c.take()
    found = ex.Extremum(base.text, values) if len(values) > 1 else ex.Fn(EXTREMES[base.text], values)
    return r.raised(found, own)
