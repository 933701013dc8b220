r"""Lists: letters that stand for several or for their entries, samples, ranges, derivatives with dots."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, takewhile

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.pieces import Running, running
from derive.notation.rules import trees
from derive.records import dataclass, replace


def samples(formulas: list[Formula]) -> list[Formula]:
    r"""x^1, \dots, x^m as x^i, x^{(1)}, \dots, x^{(N)} as x^{(n)}, with the letter that stands above x elsewhere."""
    above = [found for f in formulas for top in f.tree or () for i in tr.inside(top) if (found := _above(i, True))]

    def declared(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        if len(run) < n + 5 or not tr.is_token(run[n + 2], "DOTS"):
            return None
        own, first, last = run[n], _above(run[n]), _above(run[n + 4])
        if not isinstance(own, tr.Token) and (len(run) < n + 6 or not tr.is_token(run[n + 5], "IN")):
            return None
        index = next((c for base, c in above if first and last and base == first[0] == last[0] and first[1] == "1"
                      and c.isalpha() and c not in (last[1], "T")), None)
        if index is None or first is None:
            return None
        numbered = trees.name(f"{first[0]}^({index})", own) if isinstance(own, tr.Token) else replace(
            tr.scripted(own), sups=((trees.name(index, own),),))
        return (numbered,), 5

    return trees.replaced(formulas, declared)


_ROUND = re.compile(r"(\w+)\^\((\w+)\)")


def _above(item: tr.Item, indexed: bool = False) -> tuple[str, str] | None:
    """x and i of x^i, x^{(i)}, and of x^i_j."""
    base = tr.base_of(item)
    if tr.is_token(base, "NAME") and (round_ := _ROUND.fullmatch(base.text)) is not None:
        return round_[1], round_[2]
    item = tr.scripted(item)
    alone = len(item.sups) == 1 and len(item.sups[0]) == 1 and (indexed or not item.subs)
    above = item.sups[0][0] if alone else None
    return (str(item.base), str(above)) if tr.is_token(item.base, "NAME") and tr.is_token(
        above, "NAME", "NUMBER") else None


def collected(tree: tr.Items) -> list[tr.Item]:
    r"""The letters of \theta = (W, b), \theta \in \{W, b\}: one name for several; empty for any other formula."""
    two = trees.sides(tuple(tree)) if not tr.has(tree, "IN") else [tuple(run) for run in tr.split(tree, "IN")]
    members = two[1][0] if len(two) == 2 and len(two[0]) == len(two[1]) == 1 else None
    if trees.letter(two[0][0] if two[0] else None) is None or not tr.is_group(members, "LPAREN", "LSET"):
        return []
    parts = tr.split(members.items, "COMMA", "TEXT")
    if len(parts) > 2 and tr.has(parts[-1], "DOTS"):
        parts.pop()
    if len(parts) < 2 or not all(len(p) == 1 and tr.is_token(tr.base_of(p[0]), "NAME") for p in parts):
        return []
    return [part[0] for part in parts]


def names_of_several(formulas: list[Formula]) -> list[Formula]:
    """θ = (W, b) is left out where θ stands elsewhere as in J(θ), in f_θ or alone: nothing computes with it.

    A derivative by θ that is asked for is one by each of them.
    """
    for formula in formulas:
        members = collected(formula.tree or ())
        own = trees.letter((formula.tree or ())[0]) if members else None
        others = [f for f in formulas if f is not formula]
        if own is None or any(_stands(own, f.tree or ()) for f in others if len(f.tree or ()) > 1 or not f.tree
                              or trees.letter(f.tree[0]) != own):
            continue
        formulas = [new for f in others for new in (_by_each(own, members, f) if _by(own, f.tree or ()) else [f])]
    return formulas


def _by_each(own: str, members: list[tr.Item], formula: Formula) -> list[Formula]:
    """The formula with each of the members in place of the letter."""
    def with_(member: tr.Item) -> trees.Run:
        return trees.each(formula.tree or (), lambda item: member if trees.letter(item) == own else item)

    return [replace(formula, tree=with_(member)) for member in members]


def _by(own: str, items: tr.Items) -> bool:
    r"""Whether a derivative is taken by the letter: \partial \theta, \nabla_\theta."""
    return any(tr.is_token(tr.base_of(item), "PARTIAL", "NABLA") and own in (
        *map(trees.letter, run[n + 1 : n + 2]), *map(trees.letter, trees.below(item)))
        for run in trees.all_runs(items) for n, item in enumerate(run))


def _stands(own: str, items: tr.Items) -> bool:
    """The letter, other than alone in a bracket, below another or behind ∂."""
    for n, item in enumerate(items := [*map(tr.normal, items)]):
        bare = 1 if isinstance(item, tr.Scripted) else 0  # its base is no bracket
        held = len(item.subs) + 1 if isinstance(item, tr.Scripted) else isinstance(item, (tr.Group, tr.Env))
        behind = n and tr.is_token(items[n - 1], "PARTIAL")
        if (trees.letter(item) == own and not behind) or any(
                _stands(own, run) for n, run in enumerate(tr.below(item)) if not (
                bare <= n < held and len(run) == 1 and trees.letter(run[0]) == own)):
            return True
    return False


@dataclass(frozen=True)
class _Entries:
    """x = (x_1, …, x_n): the letter, that of its entries, how many axes, how many entries, and what shape is stated.

    ``below`` is the k of v_k = (v_{k1}, …, v_{kd}).
    """

    letter: tr.Token
    entry: tr.Token
    axes: int
    size: tr.Items | None
    shape: tr.Items
    below: tr.Items = ()

    def declared(self, own: tr.Token) -> trees.Run:
        """The shape of the letter; x_i where no size is known."""
        head = trees.indexed(own, *self.below) if self.below else own
        if self.shape:
            return head, *self.shape
        if self.size is not None:
            space = tr.Scripted(trees.name("R_bb", own), (), (tuple(self.size),), 0, own.start, own.end)
            return head, trees.sign("IN", "in", own), space
        return (trees.indexed(own, *self.below, *(trees.name(c, own) for c in "ijkl"[: self.axes])),)


def entries(formulas: list[Formula]) -> list[Formula]:
    """x = (x_1, …, x_n) and A = (a_{ij}) as the shape of the letter that the entries are written with.

    Where another letter stands for the whole, A for the a_{ij}, and is used, it takes the place of the entries' letter.
    """
    rest = trees.in_statements(lambda part: () if _entries(part) else part)(formulas)
    renamed: dict[str, str] = {}

    def shape(part: trees.Run) -> trees.Run:
        if _is_sample(part):
            return ()
        found = _entries(part)
        if found is None:
            return part
        other = found.letter.text != found.entry.text
        used = other and found.letter.text in trees.letters(rest)
        if found.entry.bold:  # vectors side by side
            return part if used else (trees.indexed(found.entry, trees.name("i", found.entry)),)
        if used:
            renamed[found.entry.text] = found.letter.text
        return found.declared(found.letter if used or not other else found.entry)

    formulas = trees.in_statements(shape)(formulas)

    def named(item: tr.Item) -> tr.Item:
        base = item.base if isinstance(item, tr.Scripted) and item.subs else None
        if tr.is_token(base, "NAME") and base.text in renamed and isinstance(item, tr.Scripted):
            return replace(item, base=replace(base, text=renamed[base.text]))
        return item

    return trees.changed(formulas, lambda tree: trees.each(tree, named)) if renamed else formulas


def in_diagonals(formulas: list[Formula]) -> list[Formula]:
    r"""\mathrm{diag}(d_1, \dots, d_n) as \mathrm{diag}(d), and the shape of d."""
    shapes: dict[str, trees.Run] = {}

    def whole(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        group = trees.called(run, n) if trees.letter(run[n]) == "diag" else None
        if group is None or not tr.has(group.items, "DOTS"):
            return None
        listed = _entries((tr.base_of(group.items[0]), trees.equals(group), group))
        if listed is None:
            return None
        shapes[listed.entry.text] = listed.declared(listed.entry)
        return (run[n], replace(group, items=(listed.entry,))), 2

    found = trees.replaced(formulas, whole)
    return [*(replace(formulas[0], tree=shape) for shape in shapes.values()), *found]


_AT = "NAME NUMBER PLUS MINUS TIMES COMMA".split()
_PLACES = "LPAREN", "LBRACK"


def in_brackets(formulas: list[Formula]) -> list[Formula]:
    r"""u_c(i, j) as u_{c,i,j}, where i and j run, or stand beside what runs: u_c(i + m, j + n); x(n - Dk) as x_{n-Dk}.
    """
    items = [i for f in formulas for run in trees.all_runs(f.tree or ()) for i in run]
    bound = {n for i in items for n in _bound_at(i)}
    arguments = ({*tr.names_in(p)} for i in items if tr.is_group(i, "LPAREN") for p in tr.split(i.items, "COMMA")
                 if all(tr.is_token(part, *_AT) for part in p))  # not those of σ(β x_i)
    beside = bound.union(*(own for own in arguments if len(own) > 1 and own & bound))
    sequences = _sequences(formulas, beside)

    def joined(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        at, sub = trees.called(run, n, *_PLACES), trees.below(run[n])
        parts = tr.split(at.items, "COMMA") if at is not None and run[n + 1] is at else []
        several = sub and len(parts) > 1 and all({*tr.names_in(part)} & beside for part in parts)
        if at is None or not parts or not all(tr.is_token(i, *_AT) for i in at.items) or not (
                several or str(tr.base_of(run[n])) in sequences):
            return None
        sub = (*sub, trees.sign("COMMA", ",", at), *at.items) if sub else at.items
        return (tr.Scripted(tr.base_of(run[n]), (sub,), (), 0, run[n].start, at.end),), 2

    return trees.replaced(formulas, joined) if bound or sequences else formulas


def _sequences(formulas: list[Formula], beside: set[str]) -> set[str]:
    """The letters x that stand with their place wherever more than x is written: x(n), x(n - Dk), x_i(m), n and m run.
    """
    trees_ = [f.tree for f in formulas if f.tree is not None and len(f.tree) > 1]
    chains = [r for tree in trees_ for r in running(tree) if len(r.ends) > 1 and not _of_values(r)]
    ranged = {id(i) for r in chains for i in r.items}
    found: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
    values = (i for tree in trees_ for part in trees.statements(tree) for own, *others in (trees.sides(part),)
              for run in others if len(own) > 1 for i in run)
    runs = beside.union(*(r.names for r in chains)) - {
        str(i) for i in values if tr.is_token(i, "NAME") and id(i) not in ranged}  # x of f(x) = x
    every = [run for tree in trees_ for run in trees.all_runs(tree)]
    below = {id(sub) for run in every for i in run if isinstance(i, tr.Scripted) for sub in i.subs}
    for run in every:
        for n, item in enumerate(run):
            if tr.is_token(tr.base_of(item), "NAME") and (
                    id(run) not in below or trees.called(run, n, *_PLACES) is not None):
                found[_in_place(run, n, runs)].add(str(tr.base_of(item)))
    return found[True] - found[False]


def _of_values(chain: Running) -> bool:
    """-1 ≤ x ≤ 1, 0 < x < 1: no index lies below 0, or strictly between numbers."""
    ends = [i for end in chain.ends for i in end]
    return all(tr.is_token(i, "NUMBER", "MINUS") for i in ends) and (
        tr.has(ends, "MINUS") or all(i.text in "<>" for i in chain.items if tr.is_token(i, "REL")))


def _in_place(run: trees.Run, n: int, runs: set[str]) -> bool | None:
    """x(n - Dk): index terms in which something runs stand behind it; None for x(m), where m may run or not."""
    at = trees.called(run, n, *_PLACES)
    parts = tr.split(at.items, "COMMA") if at is not None and run[n + 1] is at else []
    if not parts or (n and tr.is_token(run[n - 1], "IN")) or not all(
            tr.has(part, "NAME", "NUMBER") and all(tr.is_token(i, *_AT) for i in part) for part in parts):
        return False  # i ∈ Ω(k), σ(·)
    if all({*tr.names_in(part)} & runs or not tr.has(part, "NAME") for part in parts):
        return True
    return None if all(len(part) == 1 for part in parts) else False


def _bound_at(item: tr.Item) -> Iterator[str]:
    """What a sum or a range binds."""
    if isinstance(item, tr.Command) and item.type == "RANGE":
        yield from tr.names_in(item.arguments[0])
    elif isinstance(item, tr.Scripted) and tr.is_token(item.base, "BIG"):
        for part in (p for sub in item.subs for p in tr.split(sub, "COMMA")):
            yield from tr.names_in(tr.split(part, "REL", "IN")[0])
            yield from (n for i in part for n in _bound_at(i))


def _is_sample(part: trees.Run) -> bool:
    """x^i = (x^i_1, …, x^i_n): a sample and its entries, as whoever writes x^i means."""
    two = trees.sides(part)
    listed = tr.base_of(two[1][0]) if len(two) == 2 and len(two[0]) == len(two[1]) == 1 else None
    if not tr.is_group(listed, "LPAREN") or _above(two[0][0]) is None or not tr.has(listed.items, "DOTS"):
        return False
    heads = [tr.scripted(i) for i in listed.items if not tr.is_token(i, "DOTS", "COMMA")]
    return all(h.subs and trees.spelt([replace(h, subs=())]) == trees.spelt(two[0]) for h in heads)


def _entries(part: trees.Run) -> _Entries | None:
    two = trees.sides(part)
    own = tr.base_of(two[0][0]) if len(two) == 2 and two[0] and two[1] else None
    listed = tr.base_of(two[1][0]) if own is not None else None
    shape = two[1][1:] if own is not None else ()
    below = [str(i) for i in trees.below(two[0][0])] if own is not None else []  # of v_k = (v_{k1}, …, v_{kd})
    alone = own is not None and (own is tr.normal(two[0][0]) or bool(below)) and (
        len(two[0]) == 1 or (len(two[0]) == 2 and tr.is_group(two[0][1], "LPAREN")))
    if not alone or not tr.is_token(own, "NAME") or not tr.is_group(listed, "LPAREN", "LBRACK"):
        return None
    if shape and not (len(shape) == 2 and tr.is_token(shape[0], "IN")):
        return None
    raised = tr.normal(two[1][0]) is not listed and not tr.is_transposed(two[1][0])
    if raised or any(len(p) > 1 for p in tr.split(listed.items, "COMMA")):
        return None  # (y_k - t_k)^2
    heads = [tr.normal(p[0]) for p in tr.split(listed.items, "COMMA") if p and not tr.is_token(p[0], "DOTS")]
    bases = [h.base for h in heads if isinstance(h, tr.Scripted) and len(h.subs) == 1 and tr.is_token(h.base, "NAME")]
    if not bases or len(bases) < len(heads) or len({b.text for b in bases}) > 1:
        return None
    subs = [tr.unwrap(h.subs[0]) for h in heads if isinstance(h, tr.Scripted)]
    if below and (bases[0].text != own.text or any(
            [*map(str, s)][: len(below)] != below or len(s) == len(below) for s in subs)):
        return None
    subs = [s[len(below) + tr.is_token(s[len(below)], "COMMA") :] if below else s for s in subs]
    if not tr.has(listed.items, "DOTS"):
        plain = [i for i in subs[0] if not tr.is_token(i, "COMMA")]
        single = len(heads) == 1 and all(tr.is_token(i, "NAME") for i in plain)
        return _Entries(own, bases[0], len(plain), None, shape) if single else None
    if trees.spelt(subs[0]) not in ("0", "1"):
        return None
    return _Entries(own, bases[0], 1, _count(trees.spelt(subs[0]), subs[-1]), shape, trees.below(two[0][0]))


def _count(first: str, last: tr.Items) -> tr.Items | None:
    """How many entries run from the first to the last: n of 1, …, n and of 0, …, n − 1."""
    if first == "0" and len(last) == 3 and tr.is_token(last[1], "MINUS") and trees.spelt(last[2:]) == "1":
        last, first = last[:1], "1"
    if len(last) != 1 or not tr.is_token(last[0], "NAME", "NUMBER") or (first == "0" and last[0].type == "NAME"):
        return None
    return last if first == "1" else (replace(last[0], text=str(int(last[0].text) + 1)),)


def ranges(formulas: list[Formula]) -> list[Formula]:
    r"""The index k = 1, 2, 3 as k = 1, \dots, 3; q = 0, 1, 2, \dots as q \ge 0."""
    below = {n for f in formulas for n in trees.indices(f.tree or ())}

    def counted(run: trees.Run) -> trees.Run:
        for n, (own, at) in enumerate(pairwise(run)):
            if trees.letter(own) is None or not tr.is_token(at, "REL") or at.text != "=":
                continue
            rest = run[n + 2 :]
            values = tr.split(rest, "COMMA")
            if not rest or (first := _whole(values[0])) is None:
                continue
            listed = [*takewhile(lambda two: _whole(two[1]) == first + two[0], enumerate(values))]
            behind = rest[sum(len(value) + 1 for _, value in listed) - 1 :]  # a comma and what follows
            if len(listed) > 1 and str(own) in below and (not behind or trees.letter(behind[1])):
                last = tuple(listed[-1][1])
                range_ = tr.Command("RANGE", ((own,), tuple(values[0]), last), own.start, last[-1].end)
                return *run[:n], range_, *counted(behind)
            if len(listed) == len(values) - 1 and len(behind) == 2 and tr.is_token(behind[-1], "DOTS"):
                return (*_each(run[: n + 1], trees.sign("REL", "≥", at), tuple(values[0]), below),)
        return run

    return trees.changed(formulas, lambda tree: trees.mapped(tree, counted, scripts=False))


def _whole(value: Sequence[tr.Item]) -> int | None:
    """−1, 2"""
    number = str(value[-1]) if value else ""
    sign = -1 if len(value) == 2 and tr.is_token(value[0], "MINUS") else 1 if len(value) == 1 else 0
    return sign * int(number) if sign and number.isdigit() else None


def _each(run: trees.Run, sign: tr.Item, low: trees.Run, below: Collection[str]) -> Iterator[tr.Item]:
    r"""i \ge 0, j \ge 0 of the indices i, j at the end of a run."""
    first = len(run) - 1
    while first > 1 and str(run[first - 1]) == "," and str(run[first - 2]) in below:
        first -= 2
    yield from run[:first]
    for item in run[first:]:
        yield from (item, sign, *low) if trees.letter(item) is not None else (item,)


def derivatives_listed(formulas: list[Formula]) -> list[Formula]:
    r"""\partial L/\partial y_1, \dots, \partial L/\partial y_K as \partial L/\partial y."""
    def bare(run: trees.Run) -> trees.Run:
        parts = tr.split(run, "COMMA")
        dotted = len(parts) in (3, 4) and len(parts[-2]) == 1 and tr.is_token(parts[-2][0], "DOTS")
        if not dotted or not parts[0] or not tr.is_derivative(parts[0][0]):
            return run
        found = [trees.each(tuple(part), _without_number) for part in (*parts[:-2], parts[-1])]
        return found[0] if len({trees.spelt(part) for part in found}) == 1 else run

    return trees.changed(formulas, bare)


def _without_number(item: tr.Item) -> tr.Item:
    """y of y_1, of y_K and of y_{n-2}"""
    own = tr.scripted(item)
    counted = len(own.subs) == 1 and all(tr.is_token(i, "NUMBER", "NAME", "PLUS", "MINUS") for i in own.subs[0])
    return own.base if counted and not (own.sups or own.primes) else item
