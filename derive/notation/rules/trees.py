"""What rules on trees are made of: runs of items changed one by one, statements, letters that are free, spellings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, wraps
from operator import is_

from derive.errors import DeriveError
from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.grammar import skeleton
from derive.notation.vocabulary import ALIGNED
from derive.records import replace

Run = tuple[tr.Item, ...]
Change = Callable[[Run], tr.Items]
At = Callable[[Run, int], "tuple[tr.Items, int] | None"]
SPARE = "uvrzqa"  # for the argument of a function
BETWEEN = ("COMMA", "SEMI", "QUAD", "CR", "TEXT", "AND")


def _of_these(most: int) -> Callable[[Callable[[Run], tuple[Run, ...]]], Callable[[Run], tuple[Run, ...]]]:
    """Keeps the parts of a run.  They are made of its very items: rules tell an item from one that is equal to it."""
    def keeping(parted: Callable[[Run], tuple[Run, ...]]) -> Callable[[Run], tuple[Run, ...]]:
        @lru_cache(maxsize=most)
        def kept(run: Run) -> list[tuple[Run, tuple[Run, ...]]]:
            return [(run, parted(run))]

        @wraps(parted)
        def of(run: Run) -> tuple[Run, ...]:
            holder = kept(run)
            own, parts = holder[0]
            if not all(map(is_, run, own)):  # of an equal run that was read before
                parts = parted(run)
                holder[0] = run, parts
            return parts

        return of

    return keeping


def with_trees(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with their trees, where they have one."""
    return [formula if formula.tree is not None else replace(formula, tree=_tree(formula)) for formula in formulas]


def _tree(formula: Formula) -> Run | None:
    try:
        return skeleton(formula.source)
    except DeriveError:
        return None


def changed(formulas: Iterable[Formula], change: Change) -> list[Formula]:
    """The formulas, their trees changed by what changes a whole one; what it leaves empty goes."""
    found = []
    for formula in formulas:
        tree = None if formula.tree is None else tuple(change(tuple(formula.tree)))
        if tree is None or tree:
            found.append(formula if tree is None or tree == formula.tree else replace(formula, tree=tree))
    return found


def in_statements(change: Change) -> Callable[[list[Formula]], list[Formula]]:
    """The rule that changes every statement by itself."""
    return lambda formulas: changed(formulas, lambda tree: by_statement(tree, change))


def mapped(items: tr.Items, change: Change, scripts: bool = True) -> Run:
    """The items with every run of them changed, the innermost first; without ``scripts`` none in sub- and superscripts.
    """
    return tuple(change(tuple([_below(item, change, scripts) for item in items])))


def _below(item: tr.Item, change: Change, scripts: bool) -> tr.Item:
    """The item with what is below it changed; itself where nothing is."""
    if isinstance(item, tr.Token):
        return item
    if isinstance(item, tr.Command):
        arguments = tuple([mapped(a, change, scripts) for a in item.arguments])
        return item if arguments == item.arguments else replace(item, arguments=arguments)
    if isinstance(item, tr.Scripted):
        base = _below(item.base, change, scripts)
        subs, sups = (tuple([mapped(s, change) for s in runs]) if scripts else runs for runs in (item.subs, item.sups))
        same = base is item.base and subs == item.subs and sups == item.sups
        return item if same else replace(item, base=base, subs=subs, sups=sups)
    inner = mapped(item.items, change, scripts)
    return item if inner == item.items else replace(item, items=inner)


def replaced(formulas: Iterable[Formula], at: At, scripts: bool = True) -> list[Formula]:
    """The formulas with other items wherever they stand: ``at`` says which, and how many from there on they replace."""
    def change(run: Run) -> Run:
        found: list[tr.Item] = []
        n = 0
        while n < len(run):
            new, length = at(run, n) or (run[n : n + 1], 1)
            found += new
            n += length
        return tuple(found)

    return changed(formulas, lambda tree: mapped(tree, change, scripts))


def each(items: tr.Items, change: Callable[[tr.Item], tr.Item]) -> Run:
    """The items, every one at any depth changed, the innermost first."""
    def below(item: tr.Item) -> tr.Item:
        return change(replace(item, base=change(item.base)) if isinstance(item, tr.Scripted) else item)

    return mapped(items, lambda run: tuple(map(below, run)))


def by_statement(items: Run, change: Change) -> Run:
    """The items with each statement among them changed: what stands between commas, wide spaces, rows and words."""
    if len(items) == 1 and isinstance(items[0], tr.Env) and items[0].name in ALIGNED:
        inner = by_statement(items[0].items, change)
        return (replace(items[0], items=inner),) if inner else ()
    found: list[tr.Item] = []
    part: list[tr.Item] = []
    for item in (*items, None):
        if item is not None and not (isinstance(item, tr.Token) and item.type in BETWEEN):
            part.append(item)
            continue
        bare = tuple(i for i in part if not tr.is_token(i, "AMP"))
        new = tuple(change(bare)) if bare else ()
        found += part if new == bare else new
        gone = bool(bare) and not new
        if item is not None and not gone:
            found.append(item)
        elif gone and item is None and found and tr.is_token(found[-1], *BETWEEN):
            found.pop()
        part = []
    return tuple(found)


def statements(items: tr.Items) -> list[Run]:
    """The statements of a formula, each without the marks of columns."""
    return list(_statements(tuple(items)))


@_of_these(1024)
def _statements(items: Run) -> tuple[Run, ...]:
    found: list[Run] = []

    def keep(part: Run) -> Run:
        found.append(part)
        return part

    by_statement(items, keep)
    return tuple(found)


def all_statements(formulas: Iterable[Formula]) -> Iterator[Run]:
    for formula in formulas:
        yield from statements(formula.tree or ())


def all_runs(items: tr.Items) -> Iterator[Run]:
    """Every run of items, at any depth, the innermost first."""
    for item in items:
        yield from _runs_in(item)
    yield tuple(items)


def _runs_in(item: tr.Item) -> Iterator[Run]:
    if isinstance(item, tr.Scripted):
        yield from _runs_in(item.base)
    for run in (*item.subs, *item.sups) if isinstance(item, tr.Scripted) else tr.below(item):
        yield from all_runs(run)


def sides(part: tr.Items) -> list[Run]:
    """What stands between the equality signs; one run where other relations stand there too."""
    return list(_sides(tuple(part)))


@_of_these(2048)
def _sides(part: Run) -> tuple[Run, ...]:
    found: list[list[tr.Item]] = [[]]
    for item in part:
        if tr.is_token(item, "REL") and item.text == "=":
            found.append([])
        elif tr.is_token(item, "REL"):
            return (part,)
        else:
            found[-1].append(item)
    return tuple([tuple(side) for side in found])


def is_sum(items: tr.Items) -> bool:
    """More than one term, or a statement."""
    return any(tr.is_token(item, "PLUS", "MINUS", "REL", "COMMA") for item in items)


def spelt(items: tr.Items) -> str:
    """The items as one text, wherever they stand: equal for equal trees."""
    return " ".join(map(_spelt, items))


def _spelt(item: tr.Item) -> str:
    item = tr.normal(item)
    if isinstance(item, tr.Token):
        return item.text
    if isinstance(item, (tr.Group, tr.Env)):
        return f"{item.bracket if isinstance(item, tr.Group) else item.name}[{spelt(item.items)}]"
    if isinstance(item, tr.Command):
        return item.type + "".join(f"[{spelt(a)}]" for a in item.arguments)
    scripts = "".join(f"_[{spelt(s)}]" for s in item.subs) + "".join(f"^[{spelt(s)}]" for s in item.sups)
    return _spelt(item.base) + "'" * item.primes + scripts


def letters(formulas: Iterable[Formula]) -> set[str]:
    """All letters that stand in the formulas."""
    return {name for formula in formulas for name in tr.names_in(formula.tree or ())}


def indices(items: tr.Items) -> set[str]:
    """The letters that stand in subscripts."""
    scripted = (i for item in items for i in tr.inside(item) if isinstance(i, tr.Scripted))
    return {name for i in scripted for sub in i.subs for name in tr.names_in(sub)}


def bold(formulas: Iterable[Formula]) -> set[str]:
    """The letters that are set bold somewhere."""
    return {below.text for formula in formulas for item in formula.tree or () for below in tr.inside(item)
            if isinstance(below, tr.Token) and below.bold}


def stated(formulas: Iterable[Formula]) -> dict[str, int]:
    r"""The numbers of axes of the letters in front of \in \mathbb{R}^{m \times n}, those of x_i with the subscript."""
    found: dict[str, int] = {}
    for part in all_statements(formulas):
        left, *spaces = tr.split(part, "IN")
        space = tr.normal(spaces[0][0]) if len(spaces) == 1 and len(spaces[0]) == 1 else None
        if space is not None and str(tr.base_of(space)) == "R_bb" and not tr.has(left, "REL"):
            sup = space.sups[0] if isinstance(space, tr.Scripted) and space.sups else None
            axes = 0 if sup is None else len(tr.split(tr.unwrap(sup), "TIMES"))
            found |= {spelt([item]): axes for item in left if tr.is_token(tr.base_of(item), "NAME")}
    return found


def free(formulas: Iterable[Formula], among: str = SPARE) -> Iterator[str]:
    """The letters that stand nowhere in the formulas."""
    taken = letters(formulas)
    return (c for c in among if c not in taken)


def name(text: str, at: tr.Item) -> tr.Token:
    """A letter at the place of an item."""
    return tr.Token("NAME", text, at.start, at.end)


def sign(type_: str, text: str, at: tr.Item) -> tr.Token:
    return tr.Token(type_, text, at.start, at.end)


def equals(at: tr.Item) -> tr.Token:
    return sign("REL", "=", at)


def indexed(base: tr.Token, *indices: tr.Item) -> tr.Scripted:
    """x_{ij}."""
    return tr.Scripted(base, (indices,), (), 0, base.start, base.end)


def letter(item: tr.Item | None) -> str | None:
    """The name of a letter that carries nothing."""
    item = None if item is None else tr.normal(item)
    return item.text if tr.is_token(item, "NAME") else None


def below(item: tr.Item) -> tr.Items:
    """What stands below a letter that carries nothing else; empty for all other items."""
    item = tr.normal(item)
    plain = isinstance(item, tr.Scripted) and len(item.subs) == 1 and not item.sups and not item.primes
    return tr.unwrap(item.subs[0]) if plain and isinstance(item, tr.Scripted) else ()


def called(run: Run, n: int, *brackets: str) -> tr.Group | None:
    """The bracket behind the letter at n."""
    if not tr.is_token(tr.base_of(run[n]), "NAME"):
        return None
    base = tr.base_of(run[n + 1]) if n + 1 < len(run) else None
    return base if tr.is_group(base, *(brackets or ("LPAREN",))) else None
