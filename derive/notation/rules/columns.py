r"""What is set in rows and columns, or marked by the way: cases as aligned rows, braces above and below, remarks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from derive.functions import SHORT, SPELLINGS
from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.rules.kinds import is_derived, is_range
from derive.notation.symbols import is_capital
from derive.notation.vocabulary import ALIGNED
from derive.records import dataclass, replace


@dataclass(frozen=True)
class _Branch:
    """head = value if condition; no head where the row goes on with that of the row before."""

    head: trees.Run
    value: trees.Run
    condition: trees.Run

    @staticmethod
    def of(row: Sequence[tr.Item]) -> _Branch | None:
        bare = [i for i in row if not tr.is_token(i, "AMP")]
        cut = next((n for n, i in enumerate(bare) if vocabulary.kind(i) in ("IF", "ELSE") or tr.is_token(
            i, "COMMA", "QUAD")), len(bare))
        if cut in (0, len(bare)):
            cells = [tuple(cell) for cell in tr.split(row, "AMP") if cell]
            before, condition = tuple(i for cell in cells[:-1] for i in cell), cells[-1] if cells else ()
        else:
            before, condition = tuple(bare[:cut]), tuple(bare[cut:])
        while condition and tr.is_token(condition[0], "COMMA", "QUAD"):
            condition = condition[1:]
        condition = tuple(tr.stripped(condition, "COMMA", "DOT", "SEMI"))
        said = bool(condition) and (tr.has(condition, "REL", "IN") or vocabulary.kind(condition[0]) in ("IF", "ELSE"))
        parts = trees.sides(before)
        declared = any(tr.is_token(i, "IN") for i in before)  # w \in \mathbb{R}^3, c \in \mathbb{R}
        if not said or declared or len(parts) > 2 or not parts[-1] or tr.is_token(condition[0], "REL"):
            return None
        return _Branch(parts[0] if len(parts) == 2 else (), parts[-1], condition)


def in_one_line(formulas: list[Formula]) -> list[Formula]:
    r"""y = a \text{ if } s > 0 \text{ and } b \text{ otherwise} as cases."""
    return trees.changed(formulas, _in_one_line)


def _in_one_line(tree: trees.Run) -> trees.Run:
    run = tr.stripped(tree, "COMMA", "DOT", "SEMI")
    at = {k: [n for n, i in enumerate(run) if vocabulary.kind(i) == k] for k in ("IF", "ELSE")}
    if any(len(places) != 1 for places in at.values()) or any(tr.is_token(i, "AMP", "CR") for i in run):
        return tree
    (first,), (last,) = at.values()
    cut, value = last, run[last + 1:]
    if not value:  # a if s > 0, b otherwise
        cut = max([n for n in range(first, last) if _parts(run[n])], default=first)
        value = run[cut + 1:last]
    while cut > first and _parts(run[cut - 1]):
        cut -= 1
    value = tuple(tr.stripped(value, "COMMA", "QUAD", "SEMI"))
    branch = _Branch.of(run[:cut]) if cut > first else None
    if branch is None or not branch.head or not value or tr.has(value, "REL", "IN"):
        return tree
    return _one([branch, _Branch((), value, (run[last],))])


def _parts(item: tr.Item) -> bool:
    return tr.is_token(item, "COMMA", "QUAD", "SEMI") or vocabulary.kind(item) == "AND"


def cases(formulas: list[Formula]) -> list[Formula]:
    r"""Rows y &= value && condition as the cases of one definition; so are such rows behind an equality sign."""
    found: list[Formula] = []
    open_: list[tuple[Formula, list[_Branch]]] = []

    def close() -> None:
        branches = [b for _, own in open_ for b in own]
        if len(branches) > 1:
            found.append(replace(open_[0][0], tree=_one(branches)))
        else:
            found.extend(formula for formula, _ in open_)
        open_.clear()

    for formula in trees.changed(formulas, lambda tree: trees.each(_system(tree), _behind_equality)):
        own = _branches(formula)
        head = open_[0][1][0].head if open_ else ()
        head = head or (own[0].head if own else ())
        if not head or not own or {trees.spelt(b.head) for b in own if b.head} - {trees.spelt(head)}:
            close()
        if own and (own[0].head or open_):
            open_.append((formula, own))
        else:
            found.append(formula)
    close()
    return found


def _system(tree: trees.Run) -> trees.Run:
    """Equations in rows behind a brace, or of an array, as aligned ones."""
    env = tree[0] if len(tree) == 1 else None
    rows = tr.rows(env.items) if isinstance(env, tr.Env) and env.name in ("cases", "dcases", "array") else []
    equations = rows and all(len(trees.sides([i for i in row if not tr.is_token(i, "AMP")])) == 2 for row in rows)
    return (replace(env, name="aligned"),) if equations and isinstance(env, tr.Env) else tree


def _branches(formula: Formula) -> list[_Branch]:
    """The rows of a formula, where all are branches; empty otherwise."""
    tree = formula.tree or ()
    inside = tree[0].items if len(tree) == 1 and isinstance(tree[0], tr.Env) and tree[0].name in ALIGNED else tree
    own = [_Branch.of(row) for row in tr.rows(inside)]
    found = [b for b in own if b is not None]
    one = len({trees.spelt(b.head) for b in found if b.head}) < 2  # a &= 1, & b &= 2 \\\\ c &= 3, & d &= 4 are four
    return found if one and len(found) == len(own) and formula.display else []


def _one(branches: Sequence[_Branch]) -> trees.Run:
    """head = cases."""
    head, at = branches[0].head, branches[0].value[0]
    inside: list[tr.Item] = []
    for b in branches:
        inside += [trees.sign("CR", "\\\\", b.value[0])] if inside else []
        inside += [*b.value, trees.sign("AMP", "&", b.value[-1]), *b.condition]
    return *head, trees.equals(at), tr.Env("cases", tuple(inside), at.start, branches[-1].condition[-1].end)


def _behind_equality(item: tr.Item) -> tr.Item:
    """Rows of values and conditions."""
    own = [_Branch.of(row) for row in tr.rows(item.items)] if isinstance(item, tr.Env) and item.name in ALIGNED else []
    if not own or any(b is None or b.head for b in own):
        return item
    return replace(_one([b for b in own if b is not None])[-1], start=item.start, end=item.end)


def braces(formulas: list[Formula]) -> list[Formula]:
    r"""\underbrace{a}_{\text{words}} as a, and \underbrace{a}_{s} as s with s = a in front."""
    found: list[Formula] = []
    for formula in formulas:
        new: list[Formula] = []

        def opened(run: trees.Run, formula: Formula = formula, new: list[Formula] = new) -> trees.Run:
            items: list[tr.Item] = []
            for n, item in enumerate(run):
                marked = _marked(item)
                if marked is None or (trees.is_sum(marked[0]) and _is_joined(run, n)):
                    items.append(item)
                elif marked[1]:
                    new.append(replace(formula, tree=(*marked[1], trees.equals(item), *marked[0])))
                    items += marked[1]
                else:
                    items += marked[0]
            return tuple(items)

        whole = trees.changed([formula], lambda tree, opened=opened: trees.mapped(tree, opened))  # type: ignore[misc]
        found += [*new, *whole]
    return found


def _marked(item: tr.Item) -> tuple[trees.Run, trees.Run] | None:
    """What stands over a brace, and the letter or derivative below it; None for anything else."""
    base = tr.base_of(item)
    if not isinstance(base, tr.Command) or base.type != "BRACE":
        return None
    notes = (*item.subs, *item.sups) if isinstance(item, tr.Scripted) else ()
    note = tuple(tr.unwrap(notes[0])) if notes else ()
    if note and tr.is_token(note[0], "REL") and note[0].text == "=":
        note = note[1:]
    if len(notes) > 1 or (isinstance(item, tr.Scripted) and item.primes):
        return None
    if all(tr.is_token(i, "TEXT") for i in note):
        return base.arguments[0], ()
    if is_derived(note) and not tr.has(note, "REL"):  # \underbrace{2y}_{\partial z/\partial y}
        return base.arguments[0], (tr.group(note, "LPAREN"),)
    return (base.arguments[0], note) if len(note) == 1 and tr.is_token(tr.base_of(note[0]), "NAME") else None


def _is_joined(run: trees.Run, n: int) -> bool:
    """Whether the item at n is a factor, or has a minus in front."""
    before, after = run[n - 1] if n else None, run[n + 1] if n + 1 < len(run) else None
    signed = tr.is_token(before, "MINUS", "TIMES", "SLASH", "ODOT", "STAR")
    return tr.starts_factor(after) or tr.starts_factor(before) or signed


def remarks(formulas: list[Formula]) -> list[Formula]:
    r"""Without \text{(elementwise)} of a function of numbers; \text{(row-wise)} below the softmax that it is about."""
    def bare(tree: trees.Run) -> trees.Run:
        tree = tuple(one for i in tree for one in _parted(i))
        parts = trees.statements(tree)
        along = [(i, said) for i in tree if (said := vocabulary.along(i))]
        calls = [i for part in parts for i in part if str(i).lower() == "softmax"]
        if len(along) == len(calls) == 1:
            below = trees.indexed(trees.name("softmax", calls[0]), trees.sign("TEXT", along[0][1], along[0][0]))
            return tuple(below if i is calls[0] else i for i in tree if i is not along[0][0])
        told = {id(i) for _, i in roles(tree)}
        return tuple(i for n, i in enumerate(tree) if id(i) not in told and not (
            vocabulary.REMARK.fullmatch(vocabulary.said(i)) and (of_numbers(tree[:n]) or of_one_function(tree[:n]))))

    def of_one_function(before: trees.Run) -> bool:
        r"""h = \max(0, W x), h_k = …: it is elementwise as it stands."""
        parts = [i for i in before if not tr.is_token(i, "QUAD", "TEXT")]
        head, *values = trees.sides(trees.statements(parts)[-1]) if parts else ((),)
        side = values[-1] if values else ()
        called = bool(before) and bool(_functions(before[-1]))
        own = len(side) == 2 and (called or tr.is_token(side[0], "FN") or str(side[0]) in ("max", "min", "sigma"))
        return (own and tr.is_group(side[1], "LPAREN")) or (
            bool(values) and len(head) == 1 and bool(trees.below(head[0])))

    def of_numbers(before: trees.Run) -> bool:
        parts = trees.statements(before)
        head = trees.sides(parts[-1])[0] if parts else ()
        of = trees.called(head, 0) if len(head) == 2 and len(trees.sides(parts[-1])) > 1 else None
        return of is not None and len(of.items) == 1 and trees.letter(of.items[0]) is not None

    return trees.changed(formulas, lambda tree: trees.mapped(tree, bare, scripts=False))


def _parted(item: tr.Item) -> Iterator[tr.Item]:
    r"""\text{(sigmoid)} and \text{(elementwise)} of \text{(sigmoid, elementwise)}."""
    words = item.text.strip() if tr.is_token(item, "TEXT") else ""
    listed = "," in words and words[0] + words[-1] == "()"
    yield from (trees.sign("TEXT", f"({part.strip()})", item) for part in words[1:-1].split(",")) if listed else (item,)


def stages(formulas: list[Formula]) -> list[Formula]:
    r"""Without \text{(update gate)} at the end of a line; h = \sigma(z) \text{(ReLU)} says what σ is."""
    defined = {str(head[0]) for part in trees.all_statements(formulas) for head in trees.sides(part)[:-1]
               if len(head) == 2 and trees.called(head, 0) is not None}

    def bare(run: trees.Run) -> trees.Run:
        def ends(n: int) -> bool:
            before, last = run[n - 1] if n else None, n + 1 == len(run)
            apart = before is not None and (tr.is_token(before, "AMP", "QUAD", "COMMA", "TEXT") or (
                run[n].start > before.end))
            return apart and (last or tr.is_token(run[n + 1], *trees.BETWEEN, "DOT"))

        return tuple(i for n, item in enumerate(run) for i in (
            _named(item, run[:n], defined) if vocabulary.is_stage(item) and ends(n) else (item,)))

    return trees.changed(formulas, lambda tree: trees.mapped(tree, bare, scripts=False))


def _functions(stage: tr.Item) -> set[str]:
    """relu of «(ReLU activation)»."""
    return {word for word in vocabulary.words(stage) if word in SHORT or word in SPELLINGS}


def _named(stage: tr.Item, before: trees.Run, defined: Collection[str]) -> trees.Run:
    """σ = ReLU of the line h = σ(z) that is called so; nothing of lines without such a letter.

    The words stay, and are outside the notation, where they may say another function.
    """
    names = _functions(stage)
    value = trees.sides(trees.statements(before)[-1])[-1] if trees.statements(before) else ()
    letters = {str(i) for n, i in enumerate(value) if trees.letter(i) is not None and not is_capital(str(i))
               and trees.called(value, n) is not None} - {*defined}
    if letters and (len(names) > 1 or not vocabulary.words(stage) - names <= vocabulary.OF_ANY_LINE):
        return (stage,)
    if not letters or not names:
        return ()
    name = names.pop()
    known = trees.sign("FN", SPELLINGS[name], stage) if name in SPELLINGS else trees.name(name, stage)
    return trees.sign("COMMA", ",", stage), *map(partial(trees.name, at=stage), letters), trees.equals(stage), known


def ranges(formulas: list[Formula]) -> list[Formula]:
    r"""y_i = … \quad (i = 1, \dots, n) as y_i = … \quad i = 1, \dots, n."""
    def bare(run: trees.Run) -> trees.Run:
        return tuple(i for n, item in enumerate(run) for i in (
            item.items if n > 0 and tr.is_token(run[n - 1], "QUAD", "COMMA") and tr.is_group(item, "LPAREN")
            and tr.has(item.items, "RANGE", "IN") and is_range(item.items) else (item,)))

    return trees.changed(formulas, lambda tree: trees.mapped(tree, bare, scripts=False))


def roles(tree: tr.Items) -> Iterator[tuple[tr.Token, tr.Token]]:
    r"""γ and the words of \gamma > 0 \text{ fixed}: whoever reads words is told what they say of the letter."""
    for n, item in enumerate(tree):
        before = trees.statements(tree[:n])[-1:] if vocabulary.ROLE.fullmatch(vocabulary.said(item)) else []
        head = tr.normal(before[0][0]) if before else None
        if tr.is_token(item, "TEXT") and tr.is_token(head, "NAME") and len(trees.sides(before[0])) == 1 and tr.has(
                before[0], "REL", "IN"):
            yield head, item


_ALMOST = (r"\approx", r"\simeq", r"\cong")


def approximations(formulas: list[Formula]) -> list[Formula]:
    r"""f(x) \approx … and y \approx … as equations, where none defines y, and more than a letter follows."""
    known = set(_defined(formulas))

    def defined(part: trees.Run) -> trees.Run:
        at = next((n for n, i in enumerate(part) if tr.is_token(i, "UNKNOWN") and i.text in _ALMOST), 0)
        head, value = part[:at], part[at + 1 :]
        own = len(head) == 1 or (len(head) == 2 and trees.called(head, 0) is not None)
        letter = len(value) == 1 and tr.is_token(tr.base_of(value[0]), "NAME")
        if not own or tr.has(part, "REL") or not tr.is_token(tr.base_of(head[0]), "NAME") or letter or not any(
                tr.names_in(value)) or str(tr.base_of(head[0])) in known:
            return part
        return *head, trees.equals(part[at]), *value

    return trees.in_statements(defined)(formulas)


def _defined(formulas: list[Formula]) -> Iterator[str]:
    for formula in formulas:
        for part in trees.statements(formula.tree or ()):
            if len(trees.sides(part)) > 1 and trees.sides(part)[0]:
                yield str(tr.base_of(tr.normal(trees.sides(part)[0][0])))
