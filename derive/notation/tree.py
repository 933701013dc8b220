"""The flat tree of a formula: tokens, groups, scripts, and a place in a run of them. It knows no meanings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TypeGuard

from derive.records import dataclass, replace


@dataclass(frozen=True)
class Token:
    """``type`` is its class in vocabulary.py; ``text`` the canonical text (a NAME's ASCII name).

    ``bold`` are the axes that its face says: 1 of a bold small letter and of one under an arrow, 2 of a bold capital.
    """

    type: str
    text: str
    start: int
    end: int
    bold: int = 0

    def __str__(self) -> str:
        return self.text


class _Whole:
    """What is no token has no name; its text is its place, which is told faster than all that stands in it."""

    start: int

    def __str__(self) -> str:
        return f"_{type(self).__name__}_{self.start}"


@dataclass(frozen=True)
class Group(_Whole):
    """``bracket`` is the opening terminal: LBRACE (invisible), LPAREN, LBRACK, LSET, LFLOOR, LCEIL or LBAR."""

    bracket: str
    items: tuple[Item, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Scripted(_Whole):
    """base_{sub}^{sup}′; more than one sub or sup is an error for the elaboration to report."""

    base: Item
    subs: tuple[tuple[Item, ...], ...]
    sups: tuple[tuple[Item, ...], ...]
    primes: int
    start: int
    end: int


@dataclass(frozen=True)
class Command(_Whole):
    """A command with arguments: FRAC (two), SQRT and BRACE (one); RANGE has letters, a first and a last value."""

    type: str
    arguments: tuple[tuple[Item, ...], ...]
    start: int
    end: int


@dataclass(frozen=True)
class Env(_Whole):
    """``\\begin{name} … \\end{name}``; AMP and CR stand among the items."""

    name: str
    items: tuple[Item, ...]
    start: int
    end: int


Item = Token | Group | Scripted | Command | Env
Items = Sequence[Item]


def group(items: Items, bracket: str = "LPAREN") -> Group:
    """The items in brackets."""
    return Group(bracket, tuple(items), items[0].start, items[-1].end)


def is_token(item: Item | None, *types: str) -> TypeGuard[Token]:
    return isinstance(item, Token) and item.type in types


def is_group(item: Item | None, *brackets: str) -> TypeGuard[Group]:
    return isinstance(item, Group) and item.bracket in brackets


def split(items: Items, *types: str) -> list[list[Item]]:
    """The runs of items between tokens of the given types."""
    runs: list[list[Item]] = [[]]
    for item in items:
        if isinstance(item, Token) and item.type in types:
            runs.append([])
        else:
            runs[-1].append(item)
    return runs


def has(items: Items, *types: str) -> bool:
    """Whether a token or command of these types stands among the items themselves (not inside their groups)."""
    return any(isinstance(item, (Token, Command)) and item.type in types for item in items)


def unwrap(items: Items) -> Items:
    """The items inside a lone pair of braces."""
    while len(items) == 1 and isinstance(items[0], Group) and items[0].bracket == "LBRACE":
        items = items[0].items
    return items


def inside(item: Item) -> Iterator[Item]:
    """The item and all below it, from left to right."""
    open_ = [item]
    while open_:
        top = open_.pop()
        yield top
        if runs := below(top):
            open_ += [child for run in reversed(runs) for child in reversed(run)]


def below(item: Item) -> tuple[tuple[Item, ...], ...]:
    """The runs of items of which an item is made."""
    if isinstance(item, Token):  # most are
        return ()
    if isinstance(item, (Group, Env)):
        return (item.items,)
    if isinstance(item, Scripted):
        return ((item.base,), *item.subs, *item.sups)
    return item.arguments


_STARTS = frozenset("NAME NUMBER BIG FN IND INFTY CONV PARTIAL NABLA FRAC SQRT BRACE".split())


def stripped(items: Items, *types: str) -> Items:
    """The items without tokens of the given types at their end."""
    while items and is_token(items[-1], *types):
        items = items[:-1]
    return items


def is_step(items: Items) -> bool:
    """l, 1, l + 1 or l − 1."""
    kinds = [item.type if isinstance(item, Token) else "" for item in items]
    return kinds in (["NAME"], ["NUMBER"], ["NAME", "PLUS", "NUMBER"], ["NAME", "MINUS", "NUMBER"])


def starts_factor(item: Item | None) -> bool:
    return item is not None and (not isinstance(item, (Token, Command)) or item.type in _STARTS)


def normal(item: Item) -> Item:
    """The item without invisible braces around a lone item: ``{z_i}^l`` is ``z_i^l``."""
    if isinstance(item, Token):
        return item
    while isinstance(item, Group) and item.bracket == "LBRACE" and len(item.items) == 1:
        item = item.items[0]
    if isinstance(item, Scripted) and isinstance(item.base, Group) and item.base.bracket == "LBRACE":
        base = normal(item.base)
        if isinstance(base, Scripted):
            return Scripted(base.base, base.subs + item.subs, base.sups + item.sups, base.primes + item.primes,
                            item.start, item.end)
        if base is not item.base:
            return replace(item, base=base)
    return item


@dataclass
class Cursor:
    """A place in a run of items."""

    items: Items
    end: int  # where the run ends in the source
    at: int = 0
    opened: list[tuple[str, str]] = field(default_factory=list)  # what sums and maxima bind, with their sign

    def peek(self, ahead: int = 0) -> Item | None:
        place = self.at + ahead
        if place >= len(self.items):
            return None
        item = self.items[place]
        return item if isinstance(item, Token) else normal(item)

    def take(self) -> Item:
        self.at += 1
        return normal(self.items[self.at - 1])

    def taken(self, *types: str) -> bool:
        """Take the next item if it is such a token."""
        if is_token(self.peek(), *types):
            self.at += 1
            return True
        return False

    @property
    def place(self) -> int:
        return self.items[self.at].start if self.at < len(self.items) else self.end


def variable(item: Item) -> str | None:
    """The name of a letter, with its primes."""
    item = normal(item)
    if isinstance(item, Scripted) and not item.subs and not item.sups and isinstance(item.base, Token):
        return item.base.text + "'" * item.primes if item.base.type == "NAME" else None
    return item.text if isinstance(item, Token) and item.type == "NAME" else None


def variables(items: Items) -> list[str] | None:
    """The letters of ``k``, ``k,l``, ``(k, l)`` or ``kl``; None where there is anything else."""
    items = unwrap(items)
    if len(items) == 1 and isinstance(items[0], Group) and items[0].bracket == "LPAREN":
        items = items[0].items
    found = [variable(item) for item in items if not is_token(item, "COMMA")]
    if not all(split(items, "COMMA")):
        return None
    names = [name for name in found if name is not None]
    return names if names and len(names) == len(found) else None


def parameter(items: Items) -> str | None:
    """s, or σ^2 as one letter: what a function may be defined at."""
    item = normal(items[0]) if len(items) == 1 else None
    if isinstance(item, Scripted) and is_token(item.base, "NAME") and not item.subs and not item.primes:
        return f"{item.base.text}^2" if [str(unwrap(s)[0]) for s in item.sups if len(unwrap(s)) == 1] == ["2"] else None
    return variable(item) if item is not None else None


def arguments_of(group: Group) -> list[list[Item]]:
    r"""t, μ and σ^2 of \mathcal{N}(t \mid \mu, \sigma^2)."""
    return split(group.items, "COMMA", "SEMI", "MID")


def labels_of(item: Item) -> str | None:
    r"""``_delta`` of ``\ell_\delta``, nothing of ``f``; None for any other subscript."""
    item = normal(item)
    if not isinstance(item, Scripted) or not item.subs:
        return ""
    name = variable(item.subs[0][0]) if len(item.subs) == 1 and len(item.subs[0]) == 1 else None
    name = item.subs[0][0].text if len(item.subs) == 1 and is_token(item.subs[0][0], "NUMBER") else name
    return None if name is None else f"_{name}"


def base_of(item: Item) -> Item:
    if isinstance(item, Token):  # most are
        return item
    item = normal(item)
    return item.base if isinstance(item, Scripted) else item


def with_base(item: Item, base: Item) -> Item:
    """The base with the item's scripts."""
    return replace(item, base=base) if isinstance(item, Scripted) else base


def scripted(item: Item) -> Scripted:
    """The item with its scripts, of which there may be none."""
    item = normal(item)
    return item if isinstance(item, Scripted) else Scripted(item, (), (), 0, item.start, item.end)


def sampled(name: str) -> tuple[str, str | None]:
    """``x^(i)`` → x, i: a letter alone in a bracketed superscript."""
    base, _, above = name.partition("^")
    return (base, above[1:-1]) if above[:1] in ("(", "[") and above[1:-1].isalpha() else (name, None)


def is_transposed(item: Item) -> bool:
    item = normal(item)
    return isinstance(item, Scripted) and any(len(s) == 1 and (is_token(s[0], "TOP") or str(s[0]) == "T")
                                              for s in item.sups)


def is_positive_part(item: Item) -> bool:
    """[z]_+ and (z)_+."""
    item = normal(item)
    return isinstance(item, Scripted) and is_group(item.base, "LBRACK", "LPAREN") and len(item.subs) == 1 and all(
        is_token(i, "PLUS") for i in item.subs[0])


def is_derivative(item: Item) -> bool:
    r"""∂ of \partial L / \partial x, or the quotient of two ∂."""
    above = item.arguments[0] if isinstance(item, Command) and item.type == "FRAC" else (item,)
    return bool(unwrap(above)) and is_token(unwrap(above)[0], "PARTIAL")


def is_torn_derivative(items: Items) -> bool:
    r"""\frac{y}{\partial x}, {\partial y}{\partial x}, \nabla{x} y: half a bar, or none; ∇ by nothing."""
    if len(items) > 2 and is_token(items[0], "NABLA") and is_group(items[1], "LBRACE"):
        return True
    for item in items:
        parts = [unwrap(part) for part in item.arguments] if isinstance(item, Command) and item.type == "FRAC" else []
        if len({bool(part) and is_token(base_of(part[0]), "PARTIAL") for part in parts}) == 2:
            return True
    run = [inner for item in items for inner in (item.items if is_group(item, "LBRACE") else (item,))]
    bare = [n for n, item in enumerate(run) if is_token(base_of(item), "PARTIAL") and not scripted(item).subs]
    return len(bare) != 2 * sum(is_token(run[n - 1], "SLASH") for n in bare if n)


def label_of(item: Item | None) -> str | None:
    """The letter or word that labels a symbol: f of ``δ_{f,kl}``."""
    item = normal(item) if item is not None else None
    if isinstance(item, Token) and item.type in ("NAME", "TEXT"):
        return item.text.strip().replace(" ", "_")
    return None


def has_entries(items: Items, letter: str) -> bool:
    """x_k stands there, for the letter x."""
    return any(isinstance(item, Scripted) and item.subs and str(item.base) == letter
               for top in items for item in inside(top))


def names_in(items: Items) -> Iterator[str]:
    """All letters of the items, in order."""
    for top in items:
        for item in (top,) if isinstance(top, Token) else inside(top):
            if isinstance(item, Token) and item.type == "NAME":
                yield item.text


def rows(items: Items) -> list[list[Item]]:
    found = split(items, "CR")
    return found[:-1] if found and not found[-1] else found
