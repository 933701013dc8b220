"""Signs and spellings as the notation has them: intervals, half-lines, arrows, labels, diagonal matrices, words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.pieces import with_ranges
from derive.notation.rules import trees
from derive.notation.rules.kinds import is_derived
from derive.notation.symbols import GREEK, is_capital
from derive.records import replace

_BELOW = {"LPAREN": "<", "LOPEN": "<", "LBRACK": "≤", "LSHUT": "≤"}
_ABOVE = {"LPAREN": "<", "LSHUT": "<", "LBRACK": "≤", "LOPEN": "≤"}
_OTHER_WAY = {"<": ">", "≤": "≥"}


def interval(part: trees.Run) -> trees.Run:
    r"""\alpha \in (0, 1] as 0 < \alpha \le 1, \varepsilon \in \mathbb{R}_{>0} as \varepsilon > 0."""
    if len(part) != 3 or not tr.is_token(part[1], "IN") or not tr.is_token(tr.base_of(part[0]), "NAME"):
        return part
    element, at, space = part
    above = _half_line(space)
    if above is not None:
        return element, trees.sign("REL", above, at), trees.sign("NUMBER", "0", at)
    ends = tr.split(space.items, "COMMA") if tr.is_group(space, *_BELOW) else []
    infinite = [tr.is_token(end[-1], "INFTY") for end in ends if _is_number(end)]
    if len(ends) != 2 or len(infinite) != 2 or all(infinite):
        return part
    assert isinstance(space, tr.Group)
    low, high = trees.sign("REL", _BELOW[space.bracket], at), trees.sign("REL", _ABOVE[space.bracket], at)
    if infinite[1]:
        return element, replace(low, text=_OTHER_WAY[low.text]), *ends[0]
    return (element, high, *ends[1]) if infinite[0] else (*ends[0], low, element, high, *ends[1])


def _is_number(end: tr.Items) -> bool:
    return bool(end) and tr.is_token(end[-1], "NUMBER", "INFTY") and (
        len(end) == 1 or (len(end) == 2 and tr.is_token(end[0], "MINUS", "PLUS")))


def _half_line(space: tr.Item) -> str | None:
    r"""> of \mathbb{R}_+, \mathbb{R}^+ and \mathbb{R}_{>0}, ≥ of \mathbb{R}_{\ge 0}."""
    item = tr.scripted(space)
    below = "".join(str(i) for sub in item.subs for i in sub) or str(item.base)
    return None if str(item.base) not in ("R_bb", "R_bb^+") or item.sups else {
        ">0": ">", "≥0": "≥", "+": ">", "++": ">", "R_bb^+": ">"}.get(below)


def positive_part(part: trees.Run) -> trees.Run:
    """[z]_+ = max(0, z) is left out: the notation knows it."""
    return () if tr.is_positive_part(part[0]) and [*map(len, trees.sides(part))][:-1] == [1] else part


def shaped_values(formulas: list[Formula]) -> list[Formula]:
    r"""h = … \in \mathbb{R}^K as h = …, h \in \mathbb{R}^K, and so where h(x) = … is a vector.

    \partial L/\partial y \in \mathbb{R}^m is \partial L/\partial y: it has the shape of y.
    """
    known = {name for name, axes in trees.stated(formulas).items() if axes}

    def apart(part: trees.Run) -> trees.Run:
        head, *values = trees.sides(part)
        if len(part) < 3 or not tr.is_token(part[-2], "IN") or not str(tr.base_of(part[-1])).endswith("_bb"):
            return part
        if is_derived((values or [head])[-1][:-2]):
            return part[:-2]
        shaped = isinstance(part[-1], tr.Scripted)
        named = len(head) == 1 or (len(head) == 2 and shaped and trees.called(head, 0) is not None)
        if not (values and named and len(values[-1]) > 2) or not tr.is_token(tr.base_of(head[0]), "NAME"):
            return part
        bold = getattr(tr.base_of(head[0]), "bold", 0)
        if trees.letter(head[0]) is None and shaped and not bold and not any(
                trees.spelt([i]) in known for i in trees.sides(part)[1]):
            return part  # of y_k = … \in \mathbb{R}^K, y_k may be the whole
        return *part[:-2], trees.sign("COMMA", ",", part[-2]), head[0], *part[-2:]

    return trees.in_statements(apart)(formulas)


def cells(part: trees.Run) -> trees.Run:
    r"""m \in \{0, 1\}^n as m \in \mathbb{R}^n: of what its entries are, nothing is used."""
    space = part[2] if len(part) == 3 and tr.is_token(part[1], "IN") else None
    base = tr.base_of(space) if space is not None else None
    if not isinstance(space, tr.Scripted) or len(space.sups) != 1 or space.subs or not isinstance(base, tr.Group):
        return part
    ends = tr.split(base.items, "COMMA")
    numbers = base.bracket in ("LSET", *_BELOW) and len(ends) > 1 and all(map(_is_number, ends))
    return (*part[:2], replace(space, base=trees.name("R_bb", space))) if numbers else part


def kroneckers(formulas: list[Formula]) -> list[Formula]:
    r"""\delta_{ik} as [i = k], where δ always stands so, and never by itself: no equation or word says what it is.

    \delta_{j,2i-1} is [j = 2i - 1] where j is the index of another letter.
    """
    runs = [run for f in formulas for run in trees.all_runs(f.tree or ())]
    own = [i for run in runs for i in run if str(tr.base_of(i)) == "delta"]
    heads = [i for part in trees.all_statements(formulas) for i in (part[:1] if len(trees.sides(part)) > 1 else part)]
    heads += [i for run in runs for sign, i in pairwise(run) if tr.is_token(tr.base_of(sign), "PARTIAL", "NABLA")]
    indices = {str(i) for run in runs for item in run if str(tr.base_of(item)) != "delta"
               for i in trees.below(item) if tr.is_token(i, "NAME")}
    if not own or not all(_two_indices(i, indices) for i in own) or any(str(tr.base_of(i)) == "delta" for i in heads):
        return formulas
    return _indicated(formulas, lambda _: True, indices)


def said_kroneckers(formulas: list[Formula]) -> list[Formula]:
    r"""\delta_{ik} as [i = k], where words say so; beside it \delta_{h,i} is another δ."""
    return _indicated(formulas, lambda item: not tr.has(trees.below(item), "COMMA"))


def _indicated(formulas: list[Formula], meant: Callable[[tr.Item], bool],
               indices: Collection[str] = ()) -> list[Formula]:
    def indicated(item: tr.Item) -> tr.Item:
        two = _two_indices(item, indices) if str(tr.base_of(item)) == "delta" and meant(item) else []
        return tr.group((tr.group((*two[0], trees.equals(item), *two[1]), "LBRACK"),), "LBRACE") if two else item

    return trees.changed(formulas, lambda tree: trees.each(tree, indicated))


def _two_indices(item: tr.Item, indices: Collection[str] = ()) -> list[trees.Run]:
    """i and k of δ_{ik}; j and 2i - 1 of δ_{j,2i-1}, for a j of these indices."""
    below = trees.below(item)
    two: list[trees.Run] = [*map(tuple, tr.split(below, "COMMA"))] if tr.has(below, "COMMA") else [(i,) for i in below]
    bold = getattr(tr.base_of(item), "bold", 0)
    if len(two) != 2 or bold or two[0] == two[1]:
        return []
    names = [trees.letter(run[0]) if len(run) == 1 else None for run in two]
    if None not in names:
        return two if names[0] != names[1] else []
    return two if names[0] in indices and tr.has(two[1], "PLUS", "MINUS", "NUMBER") else []


def circled(formulas: list[Formula]) -> list[Formula]:
    r"""a \otimes b as a \odot b where the value is a vector, as a b^\top where it is a matrix of two vectors."""
    axes = {name: 1 + (name[:1].isupper()) for name in trees.bold(formulas)} | trees.stated(formulas)

    def rank(item: tr.Item) -> int | None:
        return axes.get(trees.spelt([item]), axes.get(str(tr.base_of(item)) if not getattr(item, "subs", ()) else ""))

    def read(part: trees.Run) -> trees.Run:
        return within(part, rank(part[0]) if len(trees.sides(part)) > 1 and len(trees.sides(part)[0]) == 1 else None)

    def within(part: trees.Run, head: int | None) -> trees.Run:
        found = list(part)
        for n, item in enumerate(part):
            applied = tr.is_token(part[n - 1], "FN", "BIG") or str(part[n - 1]).lower() == "softmax" if n else False
            if applied and isinstance(item, tr.Group):  # the argument of a function has the shape of its value
                found[n] = replace(item, items=within(item.items, head))
            if tr.is_token(item, "UNKNOWN") and item.text == r"\otimes" and 0 < n < len(part) - 1:
                ranks = {rank(part[n - 1]), rank(part[n + 1])}
                if head == 1 or ranks == {2}:
                    found[n] = trees.sign("ODOT", "odot", item)
                elif head == 2 and ranks == {1}:
                    top = trees.sign("TOP", "top", item)
                    found[n : n + 2] = [tr.Scripted(part[n + 1], (), ((top,),), 0, item.start, part[n + 1].end)]
                    return within(tuple(found), head)
        return tuple(found)

    return trees.in_statements(read)(formulas)


_ASSIGNS = ("leftarrow", "gets", "←", "longleftarrow")


def indicated(formulas: list[Formula]) -> list[Formula]:
    r"""1\{y = k\} as [y = k]."""
    def bracket(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        at = run[n + 1] if n + 1 < len(run) else None
        one = tr.is_token(run[n], "NUMBER") and str(run[n]) == "1"
        claim = one and tr.is_group(at, "LSET") and tr.has(at.items, "REL")
        return ((tr.group(at.items, "LBRACK"),), 2) if claim and isinstance(at, tr.Group) else None

    return trees.replaced(formulas, bracket)


def arrow(part: trees.Run) -> trees.Run:
    r"""\mu \leftarrow … as \mu = …, unless the letter stands on the right too: then it is an update."""
    at = next((n for n, i in enumerate(part) if tr.is_token(i, "ARROW") and i.text in _ASSIGNS), 0)
    head = tr.base_of(part[0])
    if not at or not tr.is_token(head, "NAME") or head.text in tr.names_in(part[at + 1 :]):
        return part
    return *part[:at], trees.equals(part[at]), *part[at + 1 :]


_LABELS = frozenset("out new old pred true target hid hidden max min total prev next data reg avg".split())


def named_ranges(formulas: list[Formula]) -> list[Formula]:
    r"""i \in \Omega = \{1, \dots, N\} as i \in \{1, \dots, N\}; so is i \in \Omega wherever it stands."""
    known: dict[str, tr.Item] = {}
    for run in trees.all_statements(formulas):
        if len(run) > 2 and tr.is_token(run[-2], "REL") and str(run[-2]) == "=" and _is_range(run[-1]) and (
                name := trees.letter(run[-3])) is not None and (len(run) == 3 or tr.is_token(run[-4], "IN")):
            known[name] = run[-1]

    def unnamed(part: trees.Run) -> trees.Run:
        if len(part) > 2 and part[-1:] == (known.get(trees.letter(part[-3]) or ""),):
            return part[:-2] if len(part) > 3 else ()
        return part

    def members(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        own = known.get(trees.letter(run[n + 2]) or "") if n + 2 < len(run) and tr.is_token(run[n + 1], "IN") else None
        return None if own is None else (with_ranges((run[n], run[n + 1], own)), 3)

    return trees.replaced(trees.in_statements(unnamed)(formulas), members) if known else formulas


def _is_range(item: tr.Item) -> bool:
    ends = tr.split(item.items, "COMMA") if tr.is_group(item, "LSET") else []
    return len(ends) > 2 and all(ends) and len(ends[-2]) == 1 and tr.is_token(ends[-2][0], "DOTS")


def labels(formulas: list[Formula]) -> list[Formula]:
    r"""y_{out} as y_{\text{out}}, and y_{in} beside such an output; signs as labels: d_{+}, d_{-,k}, x_{\max}."""
    scripts = [s for f in formulas for run in trees.all_runs(f.tree or ()) for i in run if isinstance(i, tr.Scripted)
               for s in (*i.subs, *i.sups)]
    known = _LABELS | {"in"} if any("".join(map(str, tr.unwrap(s))) == "out" for s in scripts) else _LABELS

    def label(run: trees.Run) -> trees.Run:
        word = "".join(map(str, run))
        if len(run) < 2 or word not in known or not all(tr.is_token(i, "NAME") for i in run):
            return run
        return (tr.Token("TEXT", word, run[0].start, run[-1].end),)

    def signed(run: trees.Run) -> trees.Run:
        sign = run[0] if len(run) == 1 or tr.is_token(run[1], "COMMA") else None
        if not tr.is_token(sign, "PLUS", "MINUS", "BIG"):
            return run
        return tr.Token("TEXT", {"PLUS": "+", "MINUS": "-"}.get(sign.type, sign.text), sign.start, sign.end), *run[1:]

    def labelled(item: tr.Item) -> tr.Item:
        if not isinstance(item, tr.Scripted):
            return item
        if tr.is_token(item.base, "NAME"):
            item = replace(item, subs=tuple(map(signed, item.subs)))
        return replace(item, subs=tuple(map(label, item.subs)), sups=tuple(map(label, item.sups)))

    return trees.changed(formulas, lambda tree: trees.each(tree, labelled))


_OF_SETS = ("COMMA", "SEMI", "REL", "IN", "TEXT", "DOTS", "MID", "COLON")


def brackets(formulas: list[Formula]) -> list[Formula]:
    r"""a[z] as a(z), for what is defined with such brackets or shown so, a[\bullet], and for words.

    So is d_i \{a + b\} d_i (a + b): behind a letter a sum in braces is no set.
    """
    known = {*_with_brackets(formulas)}

    def round_(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        group = trees.called(run, n, "LBRACK", "LSET")
        is_sum = group is not None and tr.has(group.items, "PLUS", "MINUS") and not tr.has(group.items, *_OF_SETS)
        if group is None or not (str(tr.base_of(run[n])) in known if group.bracket == "LBRACK" else is_sum):
            return None
        return (run[n], tr.with_base(run[n + 1], replace(group, bracket="LPAREN"))), 2

    return trees.replaced(formulas, round_)


def _with_brackets(formulas: Iterable[Formula]) -> Iterator[str]:
    for part in trees.all_statements(formulas):
        head = trees.sides(part)[0]
        group = trees.called(head, 0, "LBRACK") if len(head) == 2 and len(head) < len(part) else None
        if group is not None and all(len(p) == 1 and tr.is_token(tr.base_of(p[0]), "NAME", "TEXT")
                                     for p in tr.split(group.items, "COMMA")):
            yield str(tr.base_of(head[0]))
        held = trees.called(part, 0, "LBRACK") if len(part) == 2 else None
        if held is not None and len(held.items) == 1 and tr.is_token(held.items[0], "TIMES", "BULLET"):
            yield str(tr.base_of(part[0]))
    for run in (run for formula in formulas for run in trees.all_runs(formula.tree or ())):
        for n, word in enumerate(map(tr.base_of, run)):
            spelt = len(str(word)) > 2 and word.end - word.start > len(str(word)) and "_" not in str(word)
            if spelt and str(word) not in GREEK and trees.called(run, n, "LBRACK") is not None:
                yield str(word)


def of_arguments(formulas: list[Formula]) -> list[Formula]:
    """Without L = L(y) of a computed y, and φ_n = φ(x_n) of a φ that nothing defines: they compute nothing."""
    sides = [two for part in trees.all_statements(formulas) if len(two := trees.sides(part)) > 1 and two[0]]
    heads = {str(tr.base_of(two[0][0])) for two in sides}
    defined = {str(two[0][0]) for two in sides if len(two[0]) == 2}

    def kept(part: trees.Run) -> trees.Run:
        two = trees.sides(part)
        group = trees.called(two[1], 0) if len(two) == 2 and len(two[1]) == 2 and len(two[0]) == 1 else None
        if group is None or str(tr.base_of(two[0][0])) != str(two[1][0]):
            return part
        item = tr.scripted(two[0][0])
        indexed = bool(item.subs) and not item.primes and str(item.base) not in defined
        return () if indexed or (item.base == two[0][0] and trees.spelt(group.items) in heads) else part

    return trees.in_statements(kept)(formulas)


def questioned(run: trees.Run) -> trees.Run:
    r"""\frac{\partial L}{\partial p} = ? as the derivative alone."""
    asked = len(run) > 2 and tr.is_token(run[-2], "REL") and tr.is_token(run[-1], "UNKNOWN") and run[-1].text == "?"
    return tuple(run[:-2]) if asked else run


def whole_axes(item: tr.Item) -> tr.Item:
    r"""W_{k:}, W_{k\cdot} and W_{k,\cdot} as W_{k,:}; x_{k:} may be all from k on, and stays as it is."""
    sub = trees.below(item)
    inner = [i for i in sub if not tr.is_token(i, "COMMA")]
    signs = [tr.is_token(i, "COLON", "TIMES") for i in inner]
    between = len(sub) == 3 and sub[1] not in inner
    if sorted(signs) != [False, True] or not (between or is_capital(str(tr.base_of(item)))):
        return item
    first, last = (trees.sign("COLON", ":", i) if whole else i for i, whole in zip(inner, signs, strict=True))
    return replace(tr.scripted(item), subs=((first, trees.sign("COMMA", ",", last), last),))
