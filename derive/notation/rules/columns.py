r"""What is set in rows and columns, or marked by the way: cases as aligned rows, braces above and below, remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.notation import vocabulary
from derive.notation.formulas import Formula
from derive.notation.rules.trees import (
    Run,
    by_statement,
    called,
    changed,
    each,
    equals,
    indexed,
    is_sum,
    letter,
    mapped,
    name,
    sides,
    sign,
    spelt,
    statements,
)
from derive.notation.tree import (
    Command,
    Env,
    Item,
    Items,
    Scripted,
    Token,
    base_of,
    has,
    is_token,
    normal,
    rows,
    split,
    starts_factor,
    unwrap,
)
from derive.notation.vocabulary import ALIGNED
from derive.records import dataclass


@dataclass(frozen=True)
class _Branch:
    """head = value if condition; no head where the row goes on with that of the row before."""

    head: Run
    value: Run
    condition: Run

    @staticmethod
    def of(row: Sequence[Item]) -> _Branch | None:
        bare = [i for i in row if not is_token(i, "AMP")]
        words = (n for n, i in enumerate(bare) if vocabulary.kind(i) in ("IF", "ELSE") or is_token(i, "COMMA", "QUAD"))
        cut = next(words, len(bare))
        if cut in (0, len(bare)):
            cells = [tuple(cell) for cell in split(row, "AMP") if cell]
            before, condition = tuple(i for cell in cells[:-1] for i in cell), cells[-1] if cells else ()
        else:
            before, condition = tuple(bare[:cut]), tuple(bare[cut:])
        while condition and is_token(condition[0], "COMMA", "QUAD"):
            condition = condition[1:]
        while condition and is_token(condition[-1], "COMMA", "DOT", "SEMI"):
            condition = condition[:-1]
        said = bool(condition) and (has(condition, "REL", "IN") or vocabulary.kind(condition[0]) in ("IF", "ELSE"))
        parts = sides(before)
        if not said or len(parts) > 2 or not parts[-1] or is_token(condition[0], "REL"):
            return None
        return _Branch(parts[0] if len(parts) == 2 else (), parts[-1], condition)


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

    for formula in changed(formulas, lambda tree: each(tree, _behind_equality)):
        own = _branches(formula)
        head = open_[0][1][0].head if open_ else ()
        if not own or not all(not b.head or spelt(b.head) == spelt(head or own[0].head) for b in own) or not (
                head or own[0].head):
            close()
        if own and (own[0].head or open_):
            open_.append((formula, own))
        else:
            found.append(formula)
    close()
    return found


def _branches(formula: Formula) -> list[_Branch]:
    """The rows of a formula, where all are branches; empty otherwise."""
    tree = formula.tree or ()
    inside = tree[0].items if len(tree) == 1 and isinstance(tree[0], Env) and tree[0].name in ALIGNED else tree
    own = [_Branch.of(row) for row in rows(inside)]
    return [] if None in own or not formula.display else [b for b in own if b is not None]


def _one(branches: Sequence[_Branch]) -> Run:
    """head = cases."""
    head, at = branches[0].head, branches[0].value[0]
    inside: list[Item] = []
    for b in branches:
        inside += [*([sign("CR", "\\\\", b.value[0])] if inside else []), *b.value, sign("AMP", "&", b.value[-1]),
                   *b.condition]
    return *head, equals(at), Env("cases", tuple(inside), at.start, branches[-1].condition[-1].end)


def _behind_equality(item: Item) -> Item:
    """Rows of values and conditions."""
    own = [_Branch.of(row) for row in rows(item.items)] if isinstance(item, Env) and item.name in ALIGNED else []
    if not own or any(b is None or b.head for b in own):
        return item
    return replace(_one([b for b in own if b is not None])[-1], start=item.start, end=item.end)


def braces(formulas: list[Formula]) -> list[Formula]:
    r"""\underbrace{a}_{\text{words}} as a, and \underbrace{a}_{s} as s with s = a in front."""
    found: list[Formula] = []
    for formula in formulas:
        new: list[Formula] = []

        def opened(run: Run, formula: Formula = formula, new: list[Formula] = new) -> Run:
            items: list[Item] = []
            for n, item in enumerate(run):
                marked = _marked(item)
                if marked is None or (is_sum(marked[0]) and _is_joined(run, n)):
                    items.append(item)
                elif marked[1]:
                    new.append(replace(formula, tree=(*marked[1], equals(item), *marked[0])))
                    items += marked[1]
                else:
                    items += marked[0]
            return tuple(items)

        whole = changed([formula], lambda tree, opened=opened: mapped(tree, opened))  # type: ignore[misc]
        found += [*new, *whole]
    return found


def _marked(item: Item) -> tuple[Run, Run] | None:
    """What stands over a brace, and the letter below it; None for anything else, and for a brace with a formula."""
    base = base_of(item)
    if not isinstance(base, Command) or base.type != "BRACE":
        return None
    notes = (*item.subs, *item.sups) if isinstance(item, Scripted) else ()
    note = tuple(unwrap(notes[0])) if notes else ()
    if note and is_token(note[0], "REL") and note[0].text == "=":
        note = note[1:]
    if len(notes) > 1 or (isinstance(item, Scripted) and item.primes):
        return None
    if all(is_token(i, "TEXT") for i in note):
        return base.arguments[0], ()
    return (base.arguments[0], note) if len(note) == 1 and is_token(base_of(note[0]), "NAME") else None


def _is_joined(run: Run, n: int) -> bool:
    """Whether the item at n is a factor, or has a minus in front."""
    before, after = run[n - 1] if n else None, run[n + 1] if n + 1 < len(run) else None
    return starts_factor(after) or starts_factor(before) or is_token(before, "MINUS", "TIMES", "SLASH", "ODOT", "STAR")


def remarks(formulas: list[Formula]) -> list[Formula]:
    r"""Without \text{(elementwise)} of a function of numbers; \text{(row-wise)} below the softmax that it is about."""
    def bare(tree: Run) -> Run:
        parts = statements(tree)
        along = [(i, said) for i in tree if (said := vocabulary.along(i))]
        calls = [i for part in parts for i in part if str(i).lower() == "softmax"]
        if len(along) == len(calls) == 1:
            below = indexed(name("softmax", calls[0]), sign("TEXT", along[0][1], along[0][0]))
            return tuple(below if i is calls[0] else i for i in tree if i is not along[0][0])
        told = {id(i) for _, i in roles(tree)}
        return tuple(i for n, i in enumerate(tree) if id(i) not in told and not (
            vocabulary.is_remark(i) and of_numbers(tree[:n])))

    def of_numbers(before: Run) -> bool:
        parts = statements(before)
        head = sides(parts[-1])[0] if parts else ()
        of = called(head, 0) if len(head) == 2 and len(sides(parts[-1])) > 1 else None
        return of is not None and len(of.items) == 1 and letter(of.items[0]) is not None

    return changed(formulas, bare)


def roles(tree: Items) -> Iterator[tuple[Token, Token]]:
    r"""γ and the words of \gamma > 0 \text{ fixed}: whoever reads words is told what they say of the letter."""
    for n, item in enumerate(tree):
        before = statements(tree[:n])[-1:] if vocabulary.is_role(item) else []
        head = normal(before[0][0]) if before else None
        if is_token(item, "TEXT") and is_token(head, "NAME") and len(sides(before[0])) == 1 and has(
                before[0], "REL", "IN"):
            yield head, item


_ALMOST = (r"\approx", r"\simeq", r"\cong")


def approximations(formulas: list[Formula]) -> list[Formula]:
    r"""f(x) \approx …, and a displayed y \approx …, as equations: none defines y, and more than a letter follows."""
    known = set(_defined(formulas))

    def defined(part: Run, display: bool) -> Run:
        at = next((n for n, i in enumerate(part) if is_token(i, "UNKNOWN") and i.text in _ALMOST), 0)
        head, value = part[:at], part[at + 1 :]
        own = len(head) == 1 and display or (len(head) == 2 and called(head, 0) is not None)
        if not own or has(part, "REL") or len(value) < 2 or not is_token(base_of(head[0]), "NAME") or not any(
                is_token(base_of(i), "NAME", "FN", "BIG") or isinstance(i, Command) for i in value) or (
                str(base_of(head[0])) in known):
            return part
        return *head, equals(part[at]), *value

    return [new for f in formulas for new in changed([f], lambda tree, f=f: by_statement(  # type: ignore[misc]
        tree, lambda part: defined(part, f.display)))]


def _defined(formulas: list[Formula]) -> Iterator[str]:
    for formula in formulas:
        for part in statements(formula.tree or ()):
            if len(sides(part)) > 1 and sides(part)[0]:
                yield str(base_of(normal(sides(part)[0][0])))
