r"""Lists: letters that stand for several or for their entries, samples, sums and maxima with dots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from derive.notation.formulas import Formula
from derive.notation.rules.trees import (
    Run,
    by_statement,
    changed,
    each,
    equals,
    free,
    group,
    indexed,
    indices,
    letter,
    letters,
    mapped,
    name,
    sides,
    sign,
    spelt,
)
from derive.notation.tree import (
    Env,
    Group,
    Item,
    Items,
    Scripted,
    Token,
    base_of,
    has,
    inside,
    is_group,
    is_token,
    is_transposed,
    normal,
    split,
    unwrap,
)
from derive.records import dataclass


def samples(formulas: list[Formula]) -> list[Formula]:
    r"""x^1, \dots, x^m \in \mathbb{R}^n as x^i \in \mathbb{R}^n, with the letter that stands above x elsewhere."""
    def declared(tree: Run) -> Run:
        for n in range(len(tree) - 5):
            first, _, dots, _, last, member = tree[n : n + 6]
            base, above = _above(first), _above(last)
            if not (base and above and is_token(dots, "DOTS") and is_token(member, "IN") and base[0] == above[0]):
                continue
            others = [found[1] for f in formulas for found in _all_above(f.tree or ()) if found[0] == base[0]]
            index = next((c for c in others if c.isalpha() and c not in (above[1], "T")), None)
            if base[1] == "1" and index is not None and isinstance(first, Scripted):
                one = replace(first, sups=((name(index, first),),))
                return *tree[:n], one, *tree[n + 5 :]
        return tree

    return changed(formulas, declared)


def _above(item: Item) -> tuple[str, str] | None:
    """x and i of x^i."""
    item = normal(item)
    alone = isinstance(item, Scripted) and not item.subs and len(item.sups) == 1 and len(item.sups[0]) == 1
    if not alone or not isinstance(item, Scripted) or not is_token(item.sups[0][0], "NAME", "NUMBER"):
        return None
    return (item.base.text, item.sups[0][0].text) if is_token(item.base, "NAME") else None


def _all_above(items: Items) -> Iterator[tuple[str, str]]:
    for item in (i for top in items for i in inside(top) if isinstance(i, Scripted)):
        above = _above(replace(item, subs=()))
        if above is not None:
            yield above


def collected(tree: Items) -> list[Item]:
    r"""The letters of \theta = (W, b): one name for several tensors; empty for any other formula."""
    two = sides(tuple(tree))
    members = two[1][0] if len(two) == 2 and len(two[0]) == len(two[1]) == 1 else None
    if letter(two[0][0] if two[0] else None) is None or not is_group(members, "LPAREN", "LSET"):
        return []
    parts = split(members.items, "COMMA", "TEXT")
    if len(parts) < 2 or not all(len(p) == 1 and is_token(base_of(p[0]), "NAME") for p in parts):
        return []
    return [part[0] for part in parts]


def names_of_several(formulas: list[Formula]) -> list[Formula]:
    """θ = (W, b) is left out where θ stands elsewhere as in J(θ), in f_θ or alone: nothing computes with it."""
    found = []
    for formula in formulas:
        tree = formula.tree or ()
        own = letter(tree[0]) if collected(tree) else None
        if own is None or any(_stands(own, f.tree or ()) for f in formulas if f is not formula and not (
                len(f.tree or ()) == 1 and letter((f.tree or ())[0]) == own)):
            found.append(formula)
    return found


def _stands(own: str, items: Items) -> bool:
    """The letter, other than alone in a bracket or below another."""
    for item in map(normal, items):
        if isinstance(item, Token):
            found = item.type == "NAME" and item.text == own
        elif isinstance(item, (Group, Env)):
            found = not (len(item.items) == 1 and letter(item.items[0]) == own) and _stands(own, item.items)
        elif isinstance(item, Scripted):
            below = [s for s in item.subs if not (len(s) == 1 and letter(s[0]) == own)]
            found = any(_stands(own, run) for run in ((item.base,), *below, *item.sups))
        else:
            found = any(_stands(own, argument) for argument in item.arguments)
        if found:
            return True
    return False


@dataclass(frozen=True)
class _Entries:
    """x = (x_1, …, x_n): the letter, that of its entries, how many axes, how many entries, and what shape is stated."""

    letter: Token
    entry: Token
    axes: int
    size: Items | None
    shape: Items

    def declared(self, own: Token) -> Run:
        """The shape of the letter; x_i where no size is known."""
        if self.shape:
            return own, *self.shape
        if self.size is not None:
            space = Scripted(name("R_bb", own), (), (tuple(self.size),), 0, own.start, own.end)
            return own, sign("IN", "in", own), space
        return (indexed(own, *(name(c, own) for c in "ijkl"[: self.axes])),)


def entries(formulas: list[Formula]) -> list[Formula]:
    """x = (x_1, …, x_n) and A = (a_{ij}) as the shape of the letter that the entries are written with.

    Where another letter stands for the whole, A for the a_{ij}, and is used, it takes the place of the entries' letter.
    """
    rest = changed(formulas, lambda tree: by_statement(tree, lambda part: () if _entries(part) else part))
    renamed: dict[str, str] = {}

    def shape(part: Run) -> Run:
        if _is_sample(part):
            return ()
        found = _entries(part)
        if found is None:
            return part
        other = found.letter.text != found.entry.text
        used = other and found.letter.text in letters(rest)
        if found.entry.bold:  # vectors side by side
            return part if used else (indexed(found.entry, name("i", found.entry)),)
        if used:
            renamed[found.entry.text] = found.letter.text
        return found.declared(found.letter if used or not other else found.entry)

    formulas = changed(formulas, lambda tree: by_statement(tree, shape))

    def named(item: Item) -> Item:
        base = item.base if isinstance(item, Scripted) and item.subs else None
        if is_token(base, "NAME") and base.text in renamed and isinstance(item, Scripted):
            return replace(item, base=replace(base, text=renamed[base.text]))
        return item

    return changed(formulas, lambda tree: each(tree, named)) if renamed else formulas


def _is_sample(part: Run) -> bool:
    """x^i = (x^i_1, …, x^i_n): a sample and its entries, as whoever writes x^i means."""
    two = sides(part)
    listed = base_of(two[1][0]) if len(two) == 2 and len(two[0]) == len(two[1]) == 1 else None
    if not isinstance(listed, Group) or _above(two[0][0]) is None:
        return False
    parts = split(listed.items, "COMMA") if is_group(listed, "LPAREN") else []
    heads = [replace(i, subs=()) for p in parts for i in map(normal, p) if isinstance(i, Scripted) and i.subs]
    return len(parts) > 1 and has(listed.items, "DOTS") and len(heads) == len(
        parts) - sum(is_token(p[0], "DOTS") for p in parts if p) and {spelt([h]) for h in heads} == {spelt(two[0])}


def _entries(part: Run) -> _Entries | None:
    two = sides(part)
    own = base_of(two[0][0]) if len(two) == 2 and two[0] and two[1] else None
    listed = base_of(two[1][0]) if own is not None else None
    shape = two[1][1:] if own is not None else ()
    if not is_token(own, "NAME") or own is not normal(two[0][0]) or not is_group(listed, "LPAREN", "LBRACK") or not (
            len(two[0]) == 1 or (len(two[0]) == 2 and is_group(two[0][1], "LPAREN"))):
        return None
    if shape and not (len(shape) == 2 and is_token(shape[0], "IN")):
        return None
    raised = normal(two[1][0]) is not listed and not is_transposed(two[1][0])
    if raised or any(len(p) > 1 for p in split(listed.items, "COMMA")):
        return None  # (y_k - t_k)^2
    heads = [normal(p[0]) for p in split(listed.items, "COMMA") if p and not is_token(p[0], "DOTS")]
    bases = [h.base for h in heads if isinstance(h, Scripted) and len(h.subs) == 1 and is_token(h.base, "NAME")]
    if not bases or len(bases) < len(heads) or len({b.text for b in bases}) > 1:
        return None
    subs = [unwrap(h.subs[0]) for h in heads if isinstance(h, Scripted)]
    if not has(listed.items, "DOTS"):
        plain = [i for i in subs[0] if not is_token(i, "COMMA")]
        single = len(heads) == 1 and all(is_token(i, "NAME") for i in plain)
        return _Entries(own, bases[0], len(plain), None, shape) if single else None
    if spelt(subs[0]) not in ("0", "1"):
        return None
    return _Entries(own, bases[0], 1, _count(spelt(subs[0]), subs[-1]), shape)


def _count(first: str, last: Items) -> Items | None:
    """How many entries run from the first to the last: n of 1, …, n and of 0, …, n − 1."""
    if first == "0" and len(last) == 3 and is_token(last[1], "MINUS") and spelt(last[2:]) == "1":
        last, first = last[:1], "1"
    if len(last) != 1 or not is_token(last[0], "NAME", "NUMBER") or (first == "0" and last[0].type == "NAME"):
        return None
    return last if first == "1" else (replace(last[0], text=str(int(last[0].text) + 1)),)


def ranges(formulas: list[Formula]) -> list[Formula]:
    r"""k \in [K] and k = 1:K as k = 1, \dots, K, so the index k = 1, 2, 3; q = 0, 1, 2, \dots as q \ge 0."""
    below = {n for f in formulas for n in indices(f.tree or ())}

    def counted(run: Run) -> Run:
        for n, (own, at) in enumerate(pairwise(run)):
            rest = run[n + 2 :]
            ends = split(rest[0].items, "COMMA") if rest and is_group(rest[0], "LBRACK") and is_token(at, "IN") else []
            if letter(own) is None or not rest:
                continue
            if len(ends) == len(ends[0] if ends else ()) == 1 and letter(ends[0][0]) is not None:
                return *run[: n + 1], *_to(own, sign("NUMBER", "1", at), ends[0][0]), *counted(rest[1:])
            if not is_token(at, "REL") or at.text != "=" or not str(rest[0]).isdigit():
                continue
            if len(rest) > 2 and is_token(rest[1], "COLON"):
                return *run[: n + 1], *_to(own, rest[0], rest[2]), *counted(rest[3:])
            values = split(rest, "COMMA")
            listed = [str(v[0]) for v in values if len(v) == 1]
            known = [str(int(str(rest[0])) + m) for m in range(len(values))]
            if listed == known and len(values) > 2 and str(own) in below:
                return *run[: n + 1], *_to(own, rest[0], values[-1][0])  # k = 0, 1, 2
            if len(listed) == len(values) > 1 and listed[:-1] == known[:-1] and is_token(values[-1][0], "DOTS"):
                return *run[: n + 1], sign("REL", "≥", at), rest[0]
        return run

    return changed(formulas, lambda tree: mapped(tree, counted, scripts=False))


def _to(own: Item, first: Item, last: Item) -> Run:
    r"""= 1, \dots, K."""
    return equals(own), first, sign("COMMA", ",", first), sign("DOTS", "dots", first), sign("COMMA", ",", first), last


_INDICES = "ijlmrsuvpqabc"
_ENDS = ("REL", "COMMA", "AMP", "DOT", "SEMI", "CR", "QUAD", "TEXT", "IN")


def dots(formulas: list[Formula]) -> list[Formula]:
    r"""w_1 x_1 + \dots + w_n x_n, x_1 \cdots x_n and \max(x_1, \dots, x_n) over an index that runs."""
    index = next(free(formulas, _INDICES), None)
    if index is None or not any(_has_dots(f.tree or ()) for f in formulas):
        return formulas

    def ranged(run: Run) -> Run:
        return _summed(_multiplied(_listed(run, index), index), index)

    return changed(formulas, lambda tree: mapped(tree, ranged, scripts=False))


def _has_dots(items: Items) -> bool:
    return any(is_token(i, "DOTS") for item in items for i in inside(item))


@dataclass(frozen=True)
class _General:
    """The term at the new index, and where the index runs."""

    term: Run
    low: int
    high: Run

    def follows(self, other: _General | None) -> bool:
        """The same with the first index one later."""
        return other is not None and (spelt(self.term), self.low - 1, spelt(self.high)) == (
            spelt(other.term), other.low, spelt(other.high))

    def over(self, op: str, at: Item, index: str) -> Run:
        r"""\sum_{1 \le i \le n} of the term."""
        run = (sign("NUMBER", str(self.low), at), sign("REL", "≤", at), name(index, at), sign("REL", "≤", at),
               *self.high)
        big = Scripted(sign("BIG", op, at), (run,), (), 0, at.start, at.end)
        return big, *((group(self.term),) if has(self.term, "PLUS", "MINUS") else self.term)


def _listed(run: Run, index: str) -> Run:
    for n, (op, items) in enumerate(pairwise(run)):
        if is_token(op, "BIG") and op.text in ("max", "min") and is_group(items, "LPAREN", "LSET", "LBRACK"):
            parts = split(items.items, "COMMA")
            if len(parts) > 2 and len(parts[-2]) == 1 and is_token(parts[-2][0], "DOTS"):
                found = _general(parts[0], parts[-1], index)
                if found is not None and found.low < 2:
                    return *run[:n], *found.over(op.text, op, index), *_listed(run[n + 2 :], index)
    return run


def _multiplied(run: Run, index: str) -> Run:
    for n, item in enumerate(run):
        before = [i for i in run[:n] if not is_token(i, "TIMES")]
        after = [i for i in run[n + 1 :] if not is_token(i, "TIMES")]
        if not is_token(item, "DOTS") or not before or not after or is_token(before[-1], "COMMA", "PLUS", "MINUS"):
            continue
        firsts = before[-2:] if len(before) > 1 and isinstance(before[-2], Scripted) else before[-1:]
        found, second = (_general([i], after[:1], index) for i in (firsts[0], firsts[-1]))
        if found is None or found.low > 1 or (len(firsts) > 1 and (second is None or not second.follows(found))):
            continue
        start, end = run.index(firsts[0]), run.index(after[0])
        return *run[:start], *found.over("prod", item, index), *_multiplied(run[end + 1 :], index)
    return run


def _summed(run: Run, index: str) -> Run:
    for n, item in enumerate(run):
        if not is_token(item, "DOTS") or not (is_token(run[n - 1] if n else None, "PLUS")) or not (
                is_token(run[n + 1] if n + 1 < len(run) else None, "PLUS")):
            continue
        end = next((m for m in range(n + 2, len(run)) if is_token(run[m], "PLUS", "MINUS", *_ENDS)), len(run))
        start = _opening(run, n - 1)
        found = _general(run[start : n - 1], run[n + 2 : end], index)
        while found is not None and start and is_token(run[start - 1], "PLUS"):  # a_1 + a_2 + … + a_n
            earlier = _opening(run, start - 1)
            before = _general(run[earlier : start - 1], run[n + 2 : end], index)
            if before is None or not found.follows(before):
                break
            start, found = earlier, before
        if found is not None and found.low < 2 and not (start and is_token(run[start - 1], "MINUS")):
            return *run[:start], *found.over("sum", item, index), *_summed(run[end:], index)
    return run


def _opening(run: Run, end: int) -> int:
    """Where the term that ends here begins."""
    return next((m + 1 for m in range(end - 1, -1, -1) if is_token(run[m], "PLUS", "MINUS", *_ENDS)), 0)


def _general(first: Items, last: Items, index: str) -> _General | None:
    """What the first and the last term have in common; None where they differ in more than one index."""
    below = [_subscripts(first), _subscripts(last)]
    if not first or len(below[0]) != len(below[1]) or spelt(_plain(first)) != spelt(_plain(last)):
        return None
    cuts = {n: _cut(a, b) for n, (a, b) in enumerate(zip(*below, strict=True)) if spelt(a) != spelt(b)}
    ends = {(cut[1], spelt(cut[2])) for cut in cuts.values() if cut is not None}
    if None in cuts.values() or len(ends) != 1:
        return None
    counted = iter(range(len(below[0])))

    def general(item: Item) -> Item:
        if not _is_below(item) or not isinstance(item, Scripted):
            return item
        cut = cuts.get(next(counted))
        return item if cut is None else replace(item, subs=((*cut[0], name(index, item)), *item.subs[1:]))

    cut = next(c for c in cuts.values() if c is not None)
    return _General(each(first, general), cut[1], tuple(cut[2]))


def _is_below(item: Item) -> bool:
    return isinstance(item, Scripted) and bool(item.subs)


def _subscripts(items: Items) -> list[Run]:
    found: list[Run] = []

    def keep(item: Item) -> Item:
        if isinstance(item, Scripted) and item.subs:
            found.append(item.subs[0])
        return item

    each(items, keep)
    return found


def _plain(items: Items) -> Run:
    """The items without what is in subscripts."""
    return each(items, lambda i: replace(i, subs=((),)) if isinstance(i, Scripted) and i.subs else i)


def _cut(first: Run, last: Run) -> tuple[Run, int, Run] | None:
    """k, 1 and n of k1 and kn; (), 0 and n − 1."""
    lead = first[:-1]
    high = last[len(lead) :]
    kinds = [i.type if isinstance(i, Token) else "" for i in high]
    end = kinds in (["NAME"], ["NUMBER"], ["NAME", "PLUS", "NUMBER"], ["NAME", "MINUS", "NUMBER"])
    low = first[-1] if first else None
    if not end or not is_token(low, "NUMBER") or spelt(lead) != spelt(last[: len(lead)]) or not all(
            is_token(i, "NAME", "COMMA") for i in lead):
        return None
    return lead, int(low.text), high


