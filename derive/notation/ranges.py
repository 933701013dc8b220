"""Binders: the sorted pieces below a sum or in a set, read as ranges and conditions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.expr import MINUS_ONE, ONE, Add, And, Binder, Cond, Expr, Idx, In, Mul, Num, SetApp, add, over, tuple_of
from derive.notation import conditions
from derive.notation.pieces import Bound, Pieces, divided, lines, listed_values, variable, variables
from derive.notation.products import product
from derive.notation.symbols import Kind
from derive.notation.tree import Group, Item, Items, Scripted, Token, has, inside, is_token, split

if TYPE_CHECKING:
    from derive.notation.reader import Reader


def read(r: Reader, sub: Items, sup: Items | None, item: Item) -> tuple[Binder, list[str]] | None:
    """The binder below a sum and its names; None where a set alone stands there."""
    items = lines(sub)
    if not items:
        raise r.error(item, "what runs here? Write it below")
    parts = divided(items)
    head, rest = parts if parts is not None else (items, [])
    if parts is None and not has(head, "REL", "IN", "NI", "COMMA") and variables(head) is None:
        return None
    found = Pieces(r.source)
    found.sort(head, item)
    if parts is not None:
        _conditions(r, found, rest, item)
    _last_values(r, found, sup, item)
    return elaborated(r, found, item), found.names


def members(over_set: SetApp, letters: tuple[str, ...]) -> Binder:
    """The binder of a set that stands alone below a maximum."""
    variables_ = tuple(map(Idx, letters))
    return over(variables_, In(tuple_of(variables_), over_set))


def _conditions(r: Reader, found: Pieces, rest: Items, item: Item) -> None:
    """The conditions behind the colon; ``q \\in \\{1, \\dots, n\\}`` among them is a range."""
    kept: list[Item] = []
    for part in split(rest, "COMMA"):
        names = variables(split(part, "IN")[0]) if has(part, "IN") else None
        if names and set(names) <= set(found.names) and listed_values(split(part, "IN")[1]):
            found.member(part, [])
            continue
        if kept and part:
            kept.append(Token("COMMA", ",", part[0].start, part[0].start))
        kept += part
    if kept:
        found.conditions.append(kept)
    elif not rest:
        raise r.error(item, "a condition is missing here")


def _last_values(r: Reader, found: Pieces, sup: Items | None, item: Item) -> None:
    """The values above: one for all of ``k = …``, or one each; of Σ_i^n, which runs over n values, the last."""
    above = split(sup, "COMMA") if sup else []
    said = (found.lower, found.upper, found.members, found.listed, found.conditions)
    if len(above) == len(found.names) == len(above[0] if above else ()) == 1 and variable(above[0][0]) is not None and (
            not any(said)):
        found.lower[found.names[0]] = ((Token("NUMBER", "1", item.start, item.start),), False)
        found.starts.append(found.names[0])
    if not found.starts:
        if above:
            raise r.error(item, "an upper limit needs a lower one, as in `k=1`")
        return
    if not above:
        raise r.error(item, f"the last value of `{found.starts[0]}` is missing above")
    if len(above) not in (1, len(found.starts)):
        raise r.error(item, f"{len(found.starts)} indices start below and {len(above)} end above")
    for n, name in enumerate(found.starts):
        found.upper[name] = (above[n if len(above) > 1 else 0], False)


def elaborated(r: Reader, found: Pieces, item: Item) -> Binder:
    """The binder; its bounds and conditions may mention its variables."""
    _indices_only(r, found, item)
    inner = r.binding(found.names)
    bounds = [[_bound(inner, side.get(name), step, item) for name in found.names]
              for side, step in ((found.lower, ONE), (found.upper, MINUS_ONE))]
    for name, values in found.listed:
        place = found.names.index(name)
        bounds[0][place], bounds[1][place] = _ends(inner, values, item)
    conds: list[Cond] = []
    for names, is_tuple, right in found.members:
        conds += _memberships(inner, names, is_tuple, right, item)
    for left, right in found.contains:
        conds.append(In(inner.value(right, item.end), inner.value(left, item.end)))
    for items in found.conditions:
        cond = conditions.condition(inner, items, item.end)
        conds += cond.conds if isinstance(cond, And) else (cond,)
    cond_ = None if not conds else conds[0] if len(conds) == 1 else And(tuple(conds))
    return Binder(tuple(map(Idx, found.names)), tuple(bounds[0]), tuple(bounds[1]), cond_)


def _bound(r: Reader, bound: Bound | None, step: Expr, item: Item) -> Expr | None:
    """An inclusive bound: a strict one moves by one."""
    if bound is None:
        return None
    found = r.value(bound[0], item.end)
    return add(found, step) if bound[1] else found


def _ends(r: Reader, values: list[Items], item: Item) -> tuple[Expr, Expr]:
    """First and last of whole numbers in a row."""
    dots = [n for n, value in enumerate(values) if len(value) == 1 and is_token(value[0], "DOTS")]
    if dots and dots != [len(values) - 2]:
        raise r.error(item, r"a range is `\{a, \dots, b\}`")
    found = [r.value(value, item.end) for n, value in enumerate(values) if n not in dots]
    steps = found[: len(found) - 1] if dots else found
    if any(_terms(add(a, ONE)) != _terms(b) for a, b in itertools.pairwise(steps)):
        raise r.error(item, "a list whose values are not in a row is outside the notation")
    return found[0], found[-1]


def _terms(node: Expr) -> dict[Expr, Fraction]:
    """The coefficient of each term of a sum."""
    found: dict[Expr, Fraction] = {}
    for term in node.terms if isinstance(node, Add) else (node,):
        factors = term.factors if isinstance(term, Mul) else (term,)
        first = factors[0].value if isinstance(factors[0], Num) else Fraction(1)
        rest = product(list(factors[1:] if isinstance(factors[0], Num) else factors)) if (
            len(factors) > 1 or not isinstance(factors[0], Num)) else ONE
        found[rest] = found.get(rest, Fraction(0)) + first
    return {rest: value for rest, value in found.items() if value}


def _memberships(r: Reader, names: list[str], is_tuple: bool, right: Items, item: Item) -> list[Cond]:
    """``i, j \\in S``: the pair where S has pairs, each of them where it has not."""
    of = r.value(right, item.end)
    letters = tuple(map(Idx, names))
    if is_tuple or len(names) == 1:
        return [In(tuple_of(letters), of)]
    known = r.table.named(of.name) if isinstance(of, SetApp) else None
    if known is not None and len(known.members) == 1:
        return [In(letter, of) for letter in letters]
    if known is not None and len(known.members) == len(names):
        return [In(tuple_of(letters), of)]
    raise r.error(item, f"is ({', '.join(names)}) an element, or each of them? Write brackets, or one `\\in` each")


def _indices_only(r: Reader, found: Pieces, item: Item) -> None:
    for name in found.names:
        known = r.words.get(name.rstrip("'"))
        if known is not None and known.kind is not Kind.INDEX:
            raise r.error(item, f"`{known.latex}` is bound here, but it is declared as a {known.kind.value}")
    if not found.names:
        raise r.error(item, "which index runs here? Write `k : condition`")


def set_builder(r: Reader, g: Group) -> tuple[Binder, Expr]:
    r"""``\{ element : conditions \}``: the letters of the element are bound."""
    parts = divided(g.items)
    if parts is None or not parts[0]:
        raise r.error(g, r"a list in braces is outside the notation here; a set is `\lbrace q : condition \rbrace`")
    head, rest = parts
    found = Pieces(r.source)
    element = split(head, "IN")[0]
    if has(head, "IN"):
        found.sort(head, g)
    else:
        found.bind(_set_variables(r, element, rest, g), g)
    _conditions(r, found, rest, g)
    binder = elaborated(r, found, g)
    return binder, r.binding(found.names).value(element, g.end - 1)


def _set_variables(r: Reader, element: Items, rest: Items, g: Group) -> list[str]:
    """The element itself, else what the conditions say is in a set, else the letters that both share."""
    own = variables(element)
    if own is not None:
        return own
    inside_element = _indices_in(r, element)
    stated: list[str] = []
    for part in split(rest, "COMMA"):
        names = variables(split(part, "IN")[0]) if has(part, "IN") else None
        stated += [n for n in names or () if n in inside_element and n not in stated]
    if stated:
        return stated
    shared = [name for name in inside_element if name in _indices_in(r, rest)]
    if not shared:
        raise r.error(g, "which index runs through this set? Write it before the colon, or `q \\in …` behind it")
    return shared


def _indices_in(r: Reader, items: Items) -> list[str]:
    """The index letters of the items, in order."""
    found: list[str] = []
    for item in (below for top in items for below in inside(top)):
        base = item.base if isinstance(item, Scripted) else item
        if isinstance(base, Token) and base.type == "NAME" and not (isinstance(item, Scripted) and item.subs):
            known = r.words.get(base.text)
            name = base.text + "'" * (item.primes if isinstance(item, Scripted) else 0)
            if (known.kind is Kind.INDEX if known is not None else base.text != "e") and name not in found:
                found.append(name)
    return found


