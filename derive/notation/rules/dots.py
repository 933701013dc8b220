r"""Sums, products and maxima with dots, over an index that runs."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import islice, pairwise

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.records import dataclass, replace

_MOST = 64  # products that brackets are multiplied out to
Terms = Counter[tuple[str, ...]]
_INDICES = "ijlmrsuvpqabc"
_ENDS = ("REL", "COMMA", "AMP", "DOT", "SEMI", "CR", "QUAD", "TEXT", "IN")


def dots(formulas: list[Formula]) -> list[Formula]:
    r"""w_1 x_1 + \dots + w_n x_n, x_1 \cdots x_n and \max(x_1, \dots, x_n) over an index that runs."""
    index = next(trees.free(formulas, _INDICES), None)
    if index is None or not any(tr.has(run, "DOTS") for f in formulas for run in trees.all_runs(f.tree or ())):
        return formulas

    def ranged(run: trees.Run) -> trees.Run:
        return _summed(_multiplied(_listed(run, index), index), index)

    return trees.changed(formulas, lambda tree: trees.mapped(tree, ranged, scripts=False))


@dataclass(frozen=True)
class _General:
    """The term at the new index, and where the index runs."""

    term: trees.Run
    low: int
    high: trees.Run

    def follows(self, other: _General | None) -> bool:
        """The same with the first index one later."""
        return other is not None and (trees.spelt(self.term), self.low - 1, trees.spelt(self.high)) == (
            trees.spelt(other.term), other.low, trees.spelt(other.high))

    def over(self, op: str, at: tr.Item, index: str) -> trees.Run:
        r"""\sum_{1 \le i \le n} of the term."""
        low, below = trees.sign("NUMBER", str(self.low), at), trees.sign("REL", "≤", at)
        run = (low, below, trees.name(index, at), below, *self.high)
        big = tr.Scripted(trees.sign("BIG", op, at), (run,), (), 0, at.start, at.end)
        return big, *((tr.group(self.term),) if tr.has(self.term, "PLUS", "MINUS") else self.term)


def _listed(run: trees.Run, index: str) -> trees.Run:
    for n, (op, items) in enumerate(pairwise(run)):
        if tr.is_token(op, "BIG") and op.text in ("max", "min") and tr.is_group(items, "LPAREN", "LSET", "LBRACK"):
            parts = tr.split(items.items, "COMMA")
            between = len(parts) > 2 and tr.has(parts[-2], "DOTS")
            all_ = [_general(first, parts[-1], index) for first in (parts[:-2] if between else ())]
            found = all_[0] if all_ and all(b is not None and b.follows(a) for a, b in pairwise(all_)) else None
            if found is not None and found.low < 2:
                return *run[:n], *found.over(op.text, op, index), *_listed(run[n + 2 :], index)
    return run


def _multiplied(run: trees.Run, index: str) -> trees.Run:
    for n, item in enumerate(run):
        if not tr.is_token(item, "DOTS"):
            continue
        before = [*islice((i for i in reversed(run[:n]) if not tr.is_token(i, "TIMES")), 2)][::-1]
        after = [*islice((i for i in run[n + 1 :] if not tr.is_token(i, "TIMES")), 1)]
        if not before or not after or tr.is_token(before[-1], "COMMA", "PLUS", "MINUS"):
            continue
        firsts = before[-2:] if len(before) > 1 and isinstance(before[-2], tr.Scripted) else before[-1:]
        found, second = (_general([i], after[:1], index) for i in (firsts[0], firsts[-1]))
        if found is None or found.low > 1 or (len(firsts) > 1 and (second is None or not second.follows(found))):
            continue
        start, end = run.index(firsts[0]), run.index(after[0])
        return *run[:start], *found.over("prod", item, index), *_multiplied(run[end + 1 :], index)
    return run


def _summed(run: trees.Run, index: str) -> trees.Run:
    for n, item in enumerate(run):
        if not tr.is_token(item, "DOTS") or not (tr.is_token(run[n - 1] if n else None, "PLUS")) or not (
                tr.is_token(run[n + 1] if n + 1 < len(run) else None, "PLUS")):
            continue
        end = next((m for m in range(n + 2, len(run)) if tr.is_token(run[m], "PLUS", "MINUS", *_ENDS)), len(run))
        start = _opening(run, n - 1)
        found = _general(run[start : n - 1], run[n + 2 : end], index)
        while found is not None and start and tr.is_token(run[start - 1], "PLUS"):  # a_1 + a_2 + … + a_n
            earlier = _opening(run, start - 1)
            before = _general(run[earlier : start - 1], run[n + 2 : end], index)
            if before is None or not found.follows(before):
                break
            start, found = earlier, before
        if found is not None and found.low < 2 and not (start and tr.is_token(run[start - 1], "MINUS")):
            return *run[:start], *found.over("sum", item, index), *_summed(run[end:], index)
    return run


def _opening(run: trees.Run, end: int) -> int:
    """Where the term that ends here begins."""
    return next((m + 1 for m in range(end - 1, -1, -1) if tr.is_token(run[m], "PLUS", "MINUS", *_ENDS)), 0)


def _general(first: tr.Items, last: tr.Items, index: str) -> _General | None:
    """What the first and the last term have in common; None where they differ in more than one index."""
    below = [_subscripts(first), _subscripts(last)]
    if not first or len(below[0]) != len(below[1]) or trees.spelt(_plain(first)) != trees.spelt(_plain(last)):
        return None
    cuts = {n: _cut(a, b) for n, (a, b) in enumerate(zip(*below, strict=True)) if trees.spelt(a) != trees.spelt(b)}
    ends = {(cut[1], trees.spelt(cut[2])) for cut in cuts.values() if cut is not None}
    if None in cuts.values() or len(ends) != 1:
        return None
    counted = iter(range(len(below[0])))

    def general(item: tr.Item) -> tr.Item:
        if not isinstance(item, tr.Scripted) or not item.subs:
            return item
        cut = cuts.get(next(counted))
        return item if cut is None else replace(item, subs=((*cut[0], trees.name(index, item)), *item.subs[1:]))

    cut = next(c for c in cuts.values() if c is not None)
    return _General(trees.each(first, general), cut[1], tuple(cut[2]))


def _subscripts(items: tr.Items) -> list[trees.Run]:
    found: list[trees.Run] = []

    def keep(item: tr.Item) -> tr.Item:
        if isinstance(item, tr.Scripted) and item.subs:
            found.append(item.subs[0])
        return item

    trees.each(items, keep)
    return found


def _plain(items: tr.Items) -> trees.Run:
    """The items without what is in subscripts."""
    return trees.each(items, lambda i: replace(i, subs=((),)) if isinstance(i, tr.Scripted) and i.subs else i)


def _cut(first: trees.Run, last: trees.Run) -> tuple[trees.Run, int, trees.Run] | None:
    """k, 1 and n of k1 and kn; (), 0 and n − 1; (k − 1)s +, 1 and p of (k − 1)s + 1 and (k − 1)s + p."""
    lead = first[:-1]
    high = last[len(lead) :]
    low = first[-1] if first else None
    same = trees.spelt(lead) == trees.spelt(last[: len(lead)]) and all(tr.is_token(i, "NAME", "COMMA") for i in lead)
    if same and tr.is_step(high) and tr.is_token(low, "NUMBER"):
        return lead, int(low.text), high
    ends = terms(first), terms(last)
    if ends[0] is None or ends[1] is None:
        return None
    added = len(first) > 2 and tr.is_token(first[-2], "PLUS") and str(first[-1]).isdigit()
    lead, start = (first[:-2], int(str(first[-1]))) if added else (first, 0)
    between = less(ends[1], ends[0])
    if not any(between):
        return None  # a window of a known size has its padding to be told
    return (*lead, trees.sign("PLUS", "+", first[-1])), start, _written(less(between, Counter({(): -start})), last[-1])


def terms(run: tr.Items) -> Terms | None:
    """The coefficients of a sum of products of letters and whole numbers, brackets multiplied out."""
    found: Terms = Counter()
    product: Terms | None = None
    sign = 1
    for item in (*run, None):
        if item is None or tr.is_token(item, "PLUS", "MINUS"):
            if product is None and (item is None or found):
                return None
            for letters, count in (product or {}).items():
                found[letters] += sign * count
            sign, product = -1 if tr.is_token(item, "MINUS") else 1, None
        elif not tr.is_token(item, "TIMES"):
            inner = terms(item.items) if tr.is_group(item, "LPAREN") else Counter({(str(item),): 1}) if tr.is_token(
                item, "NAME") else Counter({(): int(str(item))}) if str(item).isdigit() else None
            if inner is None or len(product or ()) > _MOST:
                return None
            own = {(): 1} if product is None else product
            product = Counter()
            for (a, m), (b, n) in itertools.product(own.items(), inner.items()):
                product[tuple(sorted((*a, *b)))] += m * n
    return found


def less(one: Terms, other: Terms) -> Terms:
    """What is left of a sum without another."""
    found = Counter(one)
    found.subtract(other)
    return Counter({letters: count for letters, count in found.items() if count})


def _written(of: Terms, at: tr.Item) -> trees.Run:
    """2p − 1, the letters first."""
    found: list[tr.Item] = []
    for letters, count in sorted(((k, n) for k, n in of.items() if n), key=lambda term: (not term[0], term)):
        sign = ("MINUS", "-") if count < 0 else ("PLUS", "+")
        found += [trees.sign(*sign, at)] if found or count < 0 else []
        found += [trees.sign("NUMBER", str(abs(count)), at)] if abs(count) != 1 or not letters else []
        found += [trees.name(letter, at) for letter in letters]
    return tuple(found) or (trees.sign("NUMBER", "0", at),)
