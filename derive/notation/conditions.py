"""Statements and conditions: chains of relations, membership, «and», «if», «⟺»; stated shapes claim nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import derive.expr as ex
from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.pieces import divided
from derive.notation.reader import SETS, Reader
from derive.notation.symbols import Kind
from derive.notation.vocabulary import ALIGNED
from derive.records import replace

SEPARATORS = ("COMMA", "SEMI", "AND")


def without_declarations(r: Reader, items: list[tr.Item]) -> list[tr.Item]:
    """The items without «, where x, t ∈ R^n»: that says shapes, and claims nothing."""
    segments: list[list[tr.Item]] = [[]]  # each opens with its separator
    for item in items:
        if tr.is_token(item, *SEPARATORS) or vocabulary.kind(item) in ("IF", "AND"):
            segments.append([])
        segments[-1].append(item)
    drop = [any(tr.is_token(i, "IN") and str(tr.base_of(after)) == "R_bb" for i, after in itertools.pairwise(s))
            for s in segments]
    if not any(drop):
        return items
    for n in range(len(segments) - 1, 0, -1):
        names = [i for i in segments[n - 1] if not tr.is_token(i, *SEPARATORS) and vocabulary.kind(i) is None]
        drop[n - 1] |= drop[n] and tr.is_token(segments[n][0], "COMMA") and len(names) == 1  # the x of x, t ∈ R^n
    kept = [item for segment, gone in zip(segments, drop, strict=True) if not gone for item in segment]
    while kept and tr.is_token(kept[0], *SEPARATORS):
        kept.pop(0)
    while kept and (tr.is_token(kept[-1], *SEPARATORS) or vocabulary.kind(kept[-1]) in ("IF", "AND")):
        kept.pop()
    if not kept:
        at = segments[drop.index(True)][-1]
        raise r.error(at, rf"`{r.shown(at)}` declares a shape and claims nothing")
    return kept


_UPWARD, _DOWNWARD = ("≤", "<"), ("≥", ">")


def statement(r: Reader, items: tr.Items) -> ex.Expr | ex.Cond:
    """A formula: claim [if condition], condition ⟺ condition, or a value."""
    items = _flat(list(items))
    while items and isinstance(items[0], tr.Token) and items[0].type == "TEXT" and items[0].text.rstrip().endswith(":"):
        items = items[1:]  # a label: \text{Backward: }
    end = len(r.source.latex)
    items = without_declarations(r, items)
    if len(items) == 1 and tr.is_group(items[0], "LPAREN") and tr.has(items[0].items, "REL", "RANGE"):
        items = list(items[0].items)  # (k = 1, …, K)
    for n, item in enumerate(items):
        if vocabulary.kind(item) in ("IF", "ALL"):
            return _given(r, items, n, end)
    if any(vocabulary.kind(i) == "IFF" for i in items) or _is_condition(items):
        return _equivalence(r, items, end)
    parts = tr.split(items, "COMMA", "AND")
    if len(parts) > 1 and all(part and tr.is_derivative(part[0]) for part in parts):
        return ex.Tuple(tuple(r.value(part, end) for part in parts))
    return r.value(items, end)


def _is_condition(items: tr.Items) -> bool:
    return tr.has(items, "REL", "IN", "RANGE") or any(
        vocabulary.kind(i) == "IN" or vocabulary.extremal(i) for i in items)


def _flat(items: list[tr.Item]) -> list[tr.Item]:
    """Aligned rows as one line: a row that opens with a relation goes on, others are joined by «and»."""
    if len(items) == 1 and isinstance(items[0], tr.Env) and items[0].name in ALIGNED:
        items = list(items[0].items)
    if not tr.has(items, "AMP", "CR"):
        return items
    found: list[tr.Item] = []
    for row in tr.rows(items):
        cells = tr.stripped([i for i in row if not tr.is_token(i, "AMP")], "COMMA", "DOT", "SEMI")
        if not cells:
            continue
        goes_on = tr.is_token(cells[0], "REL", "PLUS", "MINUS", "TIMES") or vocabulary.kind(cells[0]) is not None
        if found and not goes_on:
            found.append(tr.Token("AND", "and", cells[0].start, cells[0].start))
        found += cells
    return found


def _given(r: Reader, items: list[tr.Item], n: int, end: int) -> ex.Cond:
    claim, cond = tr.stripped(items[:n], "COMMA", "SEMI"), items[n + 1 :]
    if not claim or not _is_condition(claim):
        raise r.error(items[n], f"`{r.shown(items[n])}` needs a claim before it")
    found = _equivalence(r, claim, items[n].start)
    if vocabulary.kind(items[n]) == "ALL" and not _is_condition(cond):
        return found  # «for all k, l»: as every claim with free indices
    given = condition(r, cond, end)
    if vocabulary.defining(items[n]) and _all_define(found, given):
        return ex.And((*_parts(found), *_parts(given)))  # where s_k = …
    return ex.Given(found, given)


def _parts(cond: ex.Cond) -> tuple[ex.Cond, ...]:
    return cond.conds if isinstance(cond, ex.And) else (cond,)


def _all_define(claim: ex.Cond, given: ex.Cond) -> bool:
    """Whether what is «given» defines letters of the claim, from other letters."""
    used, own = {*_names(claim)}, claim.terms[0] if isinstance(claim, ex.Rel) else None
    for cond in _parts(given):
        if not isinstance(cond, ex.Rel) or {*cond.ops} != {"="} or len(_parts(claim)) > 1:
            return False
        head, inside = cond.terms[0], {n for t in cond.terms[1:] for n in _names(t, ex.Entry)}
        name = next(_names(head)) if isinstance(head, (ex.Entry, ex.Fn)) else None
        if name not in used or name in inside or (isinstance(own, ex.Entry) and own.tensor in {name, *inside}):
            return False
    return True


def _names(node: ex.Node, *kinds: type[ex.Node]) -> Iterator[str]:
    """The letters of entries and functions."""
    for n in ex.walk(node):
        if isinstance(n, kinds or (ex.Entry, ex.Fn)):
            yield n.tensor if isinstance(n, ex.Entry) else n.name  # type: ignore[attr-defined]


def _equivalence(r: Reader, items: tr.Items, end: int) -> ex.Cond:
    places = [n for n, item in enumerate(items) if vocabulary.kind(item) == "IFF"]
    if len(places) > 1:
        raise r.error(items[places[1]], "one equivalence at a time")
    for n in places:
        return ex.Iff(condition(r, items[:n], items[n].start), condition(r, items[n + 1 :], end))
    return condition(r, items, end)


def condition(r: Reader, items: tr.Items, end: int) -> ex.Cond:
    """All of the items as one condition; commas and «and» join conditions."""
    items = list(items)
    if items and vocabulary.kind(items[0]) in ("IF", "ALL"):
        items = items[1:]
    if not items:
        raise r.error(end, "a condition is missing here")
    c = r.cursor(items, end)
    found = _units(r, c)
    commas = []
    while tr.is_token(c.peek(), *SEPARATORS) or vocabulary.kind(c.peek()) == "AND":
        separator = c.take()
        commas.append(tr.is_token(separator, "COMMA"))
        if vocabulary.kind(c.peek()) == "AND":
            c.take()
            commas[-1] = False
        # y = a, b, c > 0
        of_list = isinstance(found[-1], ex.Rel) and isinstance(found[-1].terms[-1], (ex.Entry, ex.Idx))
        found += _units(r, c, of_list)
    r.finish(c)
    for first, second, comma in zip(found, found[1:], commas, strict=False):
        if comma:
            _refuse_shared_bounds(r, first, second, items[0])
    return found[0] if len(found) == 1 else ex.And(tuple(found))


def _units(r: Reader, c: tr.Cursor, of_list: bool = False) -> list[ex.Cond]:
    r"""One condition; i, j = 1, …, n and y_i, \hat{y}_i \ge 0 are one for each letter, but not behind y = a."""
    if isinstance(range_ := c.peek(), tr.Command) and range_.type == "RANGE":
        c.take()
        return list(_ranged(r, range_))
    start, items = c.at, []
    while (item := c.peek()) is not None and tr.is_token(tr.base_of(item), "NAME") and tr.is_token(c.peek(1), "COMMA"):
        items.append(item)
        c.at += 2
    sign, first = c.peek(1), c.place
    ends = tr.is_token(c.peek(2), "NUMBER") and (c.peek(3) is None or tr.is_token(c.peek(3), *SEPARATORS))
    if items and ends and not of_list and tr.is_token(sign, "REL") and sign.text in (*_UPWARD, *_DOWNWARD):
        heads = [r.value([item], first) for item in items]
        fact = _unit(r, c)
        if isinstance(fact, ex.Rel) and all(isinstance(head, ex.Entry) for head in (*heads, fact.terms[0])):
            return [*(ex.Rel((head, fact.terms[1]), fact.ops) for head in heads), fact]
    c.at = start
    return [_unit(r, c)]


def _unit(r: Reader, c: tr.Cursor) -> ex.Cond:
    """One chain, or a condition in brackets."""
    item, after = c.peek(), c.peek(1)
    closed = after is None or tr.is_token(after, *SEPARATORS) or vocabulary.kind(after) == "AND"
    if tr.is_group(item, "LPAREN", "LBRACE") and closed and tr.has(item.items, "REL", "IN"):
        c.take()
        return condition(r, item.items, item.end - 1)
    return chain(r, c)


def chain(r: Reader, c: tr.Cursor) -> ex.Cond:
    """t_0 op t_1 op t_2 …, element ∈ set, or «x_{ij} is the largest in Ω(k, l)»."""
    start = c.place
    r = _defining(r, c)
    first = r.sum(c)
    r = replace(r, outer=r.outer | {i.name for i in ex.free_indices(first)})
    following = c.peek()
    if tr.is_token(following, "IN") or vocabulary.kind(following) == "IN":
        c.take()
        listed = c.peek()
        if tr.is_group(listed, "LSET") and divided(listed.items) is None:
            c.take()
            return _listed(r, first, listed)
        return ex.In(first, _set(r, c))
    if vocabulary.extremal(following):
        return _largest(r, first, c)
    if not tr.is_token(following, "REL"):
        if following is not None and not tr.is_token(following, *SEPARATORS):
            r.finish(c)
        raise r.error(start, "a condition is expected here (`=`, `<`, `\\in` …); this is a value only")
    terms, ops = [first], []
    while tr.is_token(c.peek(), "REL"):
        op = c.take()
        assert isinstance(op, tr.Token)
        ops.append(op.text)
        terms.append(r.sum(c))
    if tr.is_token(c.peek(), "IN"):
        raise r.error(c.place, r"`\in` after a relation: part the two conditions by a comma")
    return ex.Rel(tuple(terms), tuple(ops))


def _ranged(r: Reader, item: tr.Command) -> Iterator[ex.Rel]:
    """First ≤ k ≤ last of each letter."""
    names, *ends = item.arguments
    first, last = (r.value(end, item.end) for end in ends)
    for name in (i for i in names if not tr.is_token(i, "COMMA")):
        index = r.value((name,), item.end)
        if not isinstance(index, (ex.Idx, ex.Entry)):  # the label y of s_y
            raise r.error(item, r"a range of an index is `k \in \{1, \dots, K\}`")
        yield ex.Rel((first, index, last), ("≤", "≤"))


def _defining(r: Reader, c: tr.Cursor) -> Reader:
    """The reader of σ(s) = …, where s is the function's own."""
    head, group = c.peek(), c.peek(1)
    name = tr.scripted(head) if head is not None else None
    known = r.words.get(f"{name.base}{tr.labels_of(name)}") if name is not None and not name.sups else None
    if known is None or known.kind is not Kind.FUNCTION or not tr.is_group(group, "LPAREN") or not tr.is_token(
            c.peek(2), "REL"):
        return r
    names = {n for p in tr.arguments_of(group) if (n := tr.parameter(p)) in known.axes or n is None or (
        n.removesuffix("^2") not in r.words)}  # not φ(L^2) = 0 of a letter L
    if None in names or len(tr.arguments_of(group)) != len(known.axes) or len(names) < len(known.axes):
        return r
    return replace(r, local=frozenset(n for n in names if n is not None))


def _listed(r: Reader, element: ex.Expr, g: tr.Group) -> ex.Cond:
    r"""y ∈ {−1, 1}."""
    parts = tr.split(g.items, "COMMA")
    if tr.has(g.items, "DOTS"):
        raise r.error(g, r"a range of an index is `k \in \{1, \dots, K\}`: values in a row")
    return ex.In(element, ex.Listed(tuple(r.value(part, g.end - 1) for part in parts)))


def _set(r: Reader, c: tr.Cursor) -> ex.Expr:
    start = c.place
    found = r.sum(c)
    if not isinstance(found, SETS):
        raise r.error(start, "a set is expected here")
    return found


def _largest(r: Reader, first: ex.Expr, c: tr.Cursor) -> ex.Cond:
    words = c.take()
    op = vocabulary.extremal(words) or "max"
    window = _set(r, c) if c.peek() is not None else None
    if not isinstance(window, ex.SetApp) or not isinstance(first, ex.Entry) or not first.indices:
        raise r.error(words, r"name the window: `x_{ij} \text{ is the maximum in } \Omega(k, l)`")
    variables = tuple(ex.fresh_index() for _ in first.indices)
    body = ex.Entry(first.tensor, variables)
    return ex.rel(first, "=", ex.Reduce(op, ex.over(variables, ex.In(ex.tuple_of(variables), window)), body))


def _refuse_shared_bounds(r: Reader, first: ex.Cond, second: ex.Cond, at: tr.Item) -> None:
    """``0 \\le i, j < n``: both bounds for both, or one each?"""
    if not (isinstance(first, ex.Rel) and isinstance(second, ex.Rel) and len(first.ops) == len(second.ops) == 1):
        return
    same = all(op in _UPWARD for op in (*first.ops, *second.ops)) or all(
        op in _DOWNWARD for op in (*first.ops, *second.ops)
    )
    last, opening = first.terms[1], second.terms[0]
    if same and isinstance(last, ex.Idx) and isinstance(opening, ex.Idx) and last is not opening:
        a, b = last.name, opening.name
        raise r.error(at, f"two readings: both bounds for `{a}` and for `{b}`, or one each; write a chain for each "
                          r"index, or `\land` between the two")
