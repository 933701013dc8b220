"""A card's declarations: which letter is a tensor, set, index or size. No letter's name decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from derive.notation.cursor import normal
from derive.notation.errors import NotationError, Source
from derive.notation.evidence import Evidence
from derive.notation.formulas import Formula
from derive.notation.inference import inferred
from derive.notation.names import identifier, labelled, latex_of, lexicon
from derive.notation.occurrences import Occurrence, Occurrences, label_of, names_in
from derive.notation.parse import parse
from derive.notation.pieces import variable
from derive.notation.subscripts import split_runs
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.notation.tree import Group, Items, Scripted, Token, has, is_token, split

EMPTY = SymbolTable(())
_SPARE = "ijklmnpqrstuvwab"


def gather(latexes: Sequence[Formula | str], table: SymbolTable = EMPTY) -> SymbolTable:
    """The symbol table of a card's formulas, added to ``table``, whose declarations win.

    A formula that cannot be parsed declares nothing; reading it says why.
    """
    seen = Occurrences()
    trees: list[tuple[Source, Items]] = []
    for formula in latexes:
        latex = formula if isinstance(formula, str) else formula.latex
        source = Source(latex)
        try:
            tree = parse(source)
            seen.formula(source, tree)
        except (NotationError, RecursionError):
            continue
        trees.append((source, tree))
    gathering = _Gathering(seen, table)
    found = gathering.table()
    return inferred(found, trees, gathering.undecided()) if gathering.has_vectors(found) else found


class _Gathering(Evidence):
    def __init__(self, seen: Occurrences, known: SymbolTable) -> None:
        super().__init__(seen, lexicon(known))
        self.known = known
        self.symbols: dict[str, Symbol] = {}  # by the name that their LaTeX reads as
        self.latex: dict[str, str] = {}
        self.letter_of: dict[int | str, str] = {}  # an axis letter for each extent
        self.unwritten: dict[str, int] = {}  # axes that are left out, as in w_k ∈ R^n
        self.scalars: set[str] = set()  # said to be numbers
        self.usual: set[str] = set()  # tensors seen with plain letters

    def has_vectors(self, found: SymbolTable) -> bool:
        """Whether a mark of vector notation or a whole vector stands in the formulas."""
        ranked = {name for name, s in lexicon(found).items() if s.kind is Kind.TENSOR and s.axes and not s.above}
        return bool(self.seen.marked) or any(o.bare and not o.in_index and o.name in ranked for o in self.seen.all)

    def undecided(self) -> set[str]:
        """The new tensors that may be vectors: without subscripts, and not said to be numbers."""
        tensors = {s.name for s in self.symbols.values() if s.kind is Kind.TENSOR and not s.sizes}
        shown = {identifier(o.name) for o in self.seen.all if o.sub is not None}
        marked = {identifier(name) for name in self.seen.marked | self.seen.beside}
        return tensors - self.scalars - ((shown | {identifier(n) for n in self.above}) - marked)

    def table(self) -> SymbolTable:
        self.sets()
        self.strong_indices()
        self.conditions()
        self.constant_labels()
        self.constants_in_indices()
        self.samples()
        self.shapes()
        for name, parameters in self.defined_functions().items():
            if name not in self.words:
                base, _, mark = name.rpartition("_")
                if base and mark in {o.name for o in self.seen.all if o.bare}:
                    self.latex[name] = labelled(base, mark)
                self.add(name, Kind.FUNCTION, parameters)
        entries = [self.entry(o) for o in self.seen.all if o.sub is not None and o.name not in self.set_names]
        for _, _, runs in entries:
            self.indices |= {n for run in runs for n in names_in(run)} - self.sizes - self.tensors
        self.size_letters()
        for name, label, runs in entries:
            if label:
                self.latex[f"{name}_{label}"] = labelled(name, label)
            self.tensor(f"{name}_{label}" if label else name, runs)
        for o in self.seen.all:
            if o.name in self.above and o.sub is None:
                self.tensor(o.name, [])
        self.applied()
        for occurrence in self.seen.all:
            self.letter(occurrence)
        return self.known.extended(self.ordered(), self.stars())

    def sets(self) -> None:
        for items, members in self.seen.sets:
            head = normal(items[0])
            base = head.base if isinstance(head, Scripted) else head
            if not isinstance(base, Token) or base.type != "NAME" or base.text in self.words:
                continue
            runs: list[Items] = []
            if isinstance(head, Scripted) and head.subs:
                runs = split_runs(head.subs[0], None)
            elif len(items) > 1 and isinstance(items[1], Group) and items[1].bracket == "LPAREN":
                runs = [tuple(p) for p in split(items[1].items, "COMMA") if p]
            self.set_names.add(base.text)
            self.indices |= {n for run in runs for n in names_in(run)}
            old = self.symbols.get(base.text)
            axes = _letters(runs)
            if old is None:
                letters = tuple(a or _SPARE[n] for n, a in enumerate(axes))
                self.add(base.text, Kind.SET, letters, tuple(members))

    def strong_indices(self) -> None:
        bound = {n.rstrip("'") for n in (*self.seen.bound, *self.seen.starred)}
        bound |= {*self.seen.listed} & {o.name for o in self.seen.all if o.in_index}
        bound |= {m.rstrip("'") for _, members in self.seen.sets for m in members}
        self.indices |= bound - self.subscripted - self.tensors  # what has subscripts of its own is a tensor

    def shapes(self) -> None:
        for items, extents in self.seen.shapes:
            sizes = tuple(_extent(e) for e in extents)
            self.sizes |= {s for s in sizes if isinstance(s, str)}
            for item in items:
                base = item.base if isinstance(item, Scripted) else item
                if not is_token(base, "NAME") or base.text in self.words or base.text in self.indices or None in sizes:
                    continue
                known = tuple(s for s in sizes if s is not None)
                leading = split_runs(item.subs[0], None) if isinstance(item, Scripted) and item.subs else []
                self.tensors.add(base.text)
                if leading:  # w_k ∈ R^n: the axis along n is left out
                    self.unwritten[base.text] = len(known)
                    continue
                self.add(base.text, Kind.TENSOR, self.along(known), (), known)
                self.scalars |= {base.text} if not known else set()

    def entry(self, o: Occurrence) -> tuple[str, str | None, list[Items]]:
        """The name, label and index terms of a subscripted letter."""
        assert o.sub is not None
        if o.name not in self.above and o.above in self.subscripted - self.indices and o.above is not None:
            return o.name, o.above, split_runs(o.sub, None)  # \delta^f_{kl}
        first, *others = split(o.sub, "COMMA", "SEMI")
        head = normal(first[0]) if first else None
        if isinstance(head, Scripted) and len(first) == 1 and not others and head.subs and not head.sups:
            return o.name, label_of(head.base), split_runs(head.subs[0], None)  # \delta_{f_{kl}}
        label = label_of(head) if len(first) == 1 else None
        if label is not None and self.is_label(o.name, label, head):
            rest = list(o.sub)[2:]
            return o.name, label, split_runs(rest, None) if rest else []
        return o.name, None, split_runs(o.sub, None)

    def is_label(self, name: str, label: str, head: object) -> bool:
        if isinstance(head, Token) and head.type == "TEXT":
            return True
        if label in self.labels:
            return True
        if f"{name}_{label}" in self.words or label in self.indices:
            return f"{name}_{label}" in self.words
        bare = any(o.name == label and o.bare and not o.in_index and label not in o.local for o in self.seen.all)
        return label in self.tensors or label in self.subscripted or bare

    def tensor(self, name: str, runs: list[Items]) -> None:
        if name in self.words or name in self.set_names or name in self.indices or name in self.functions:
            return
        if name in ("e", "e_q") and "e" not in self.heads:
            return
        style = self.above.get(name) or self.above.get(name.split("_")[0])
        if style:
            runs = [(Token("NAME", style.strip("()"), 0, 0),), *runs]
        self.tensors.add(name)
        old, axes = self.symbols.get(name), _letters(runs)
        if not runs and old is not None:
            return
        letters = tuple(a for a in axes if a is not None)
        usual = len(letters) == len(runs) and len(set(letters)) == len(letters)
        if name in self.unwritten and runs and (old is None or len(old.axes) == len(runs)):
            extra = self.unwritten[name]
            self.add(name, Kind.TENSOR, (*letters, *self.spare(extra, letters)), unwritten=extra)
            return
        if old is not None and old.axes and (len(old.axes) != len(runs) or not usual or name in self.usual):
            return
        if usual:
            self.usual.add(name)
        sizes = old.sizes if old is not None else ()
        self.add(name, Kind.TENSOR, letters if usual else self.spare(len(runs)), (), sizes, self.above_of(style))

    @staticmethod
    def above_of(style: str | None) -> str:
        return "" if not style else "(i)" if style.startswith("(") else "i"

    def spare(self, count: int, besides: Iterable[str] = ()) -> tuple[str, ...]:
        used = {o.name for o in self.seen.all if not o.in_index} | {*besides}
        return tuple([c for c in _SPARE if c not in used][:count])

    def along(self, sizes: tuple[int | str, ...]) -> tuple[str, ...]:
        """A letter for each extent: axes of one extent share theirs, but for those of one tensor."""
        found: list[str] = []
        for size in sizes:
            known = self.letter_of.get(size)
            if known is None or known in found:
                taken = {*found, *self.letter_of.values()}
                known = next((c for c in self.spare(len(_SPARE)) if c not in taken), _SPARE[len(found)])
                self.letter_of.setdefault(size, known)
            found.append(known)
        return tuple(found)

    def size_letters(self) -> None:
        for items in self.seen.bounds:
            for name in names_in(items):
                if name not in self.indices | self.tensors | self.set_names | self.subscripted:
                    self.sizes.add(name)

    def applied(self) -> None:
        """y(m, n) with index letters is an entry of y."""
        for o in self.seen.all:
            if o.sub is not None or o.following is None or o.name in self.set_names | self.indices | self.functions:
                continue
            runs: list[Items] = [p for p in split(o.following.items, "COMMA") if p]
            letters = [set(names_in(run)) for run in runs]
            square = o.following.bracket == "LBRACK" and len(runs) > 1 and not any(
                ls & (self.tensors | self.subscripted) for ls in letters)
            if square:
                self.indices |= set().union(*letters)
            if runs and all(ls and ls <= self.indices for ls in letters) and not has(o.following.items, "REL", "IN"):
                self.tensor(o.name, runs)

    def letter(self, o: Occurrence) -> None:
        """A letter that nothing else declares: an index, a size, or a number (a tensor of rank 0)."""
        if o.name in self.words or o.name in self.symbols or o.name.endswith("_bb") or o.name in self.functions:
            return
        if o.name in o.local[1:] and o.local[0] in self.functions:
            return
        if o.name in self.indices:
            self.add(o.name, Kind.INDEX)
        elif o.name in self.sizes:
            self.add(o.name, Kind.SIZE)
        elif o.bare and not o.in_index and not self.reserved(o):
            self.add(o.name, Kind.TENSOR)

    def reserved(self, o: Occurrence) -> bool:
        """e of e^x; I of I(a > b); a transposition's mark; the root of what is defined by its square."""
        if f"{o.name}^2" in self.squares and o.name not in self.heads:
            return True
        indicator = o.name == "I" and o.following is not None and has(o.following.items, "REL", "IN")
        return o.name == "e" or indicator

    def stars(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        known = dict(self.known.stars)
        for letters, items in self.seen.maximisers:
            outer = [n for n in dict.fromkeys(names_in(items)) if n in self.indices and n not in self.inner(items)]
            for letter in letters:
                if letter not in known:
                    known[letter] = tuple(outer)
                    yield letter, tuple(outer)

    def inner(self, items: Items) -> set[str]:
        """The names that are bound in the items."""
        found = Occurrences()
        found.run(Source(""), items, False)
        return set(found.bound)

    def add(
        self, key: str, kind: Kind, axes: tuple[str, ...] = (), members: tuple[str, ...] = (),
        sizes: tuple[int | str, ...] = (), above: str = "", unwritten: int = 0,
    ) -> None:
        latex = self.latex.get(key) or latex_of(key)
        self.symbols[key] = Symbol(identifier(key), latex, kind, axes, members, sizes, above, unwritten)

    def ordered(self) -> list[Symbol]:
        """The new symbols in the order in which the letters occur."""
        order = {name: n for n, name in enumerate(dict.fromkeys(o.name for o in self.seen.all))}

        def place(key: str) -> int:
            return order.get(key, order.get(key.split("_")[0], len(order)))

        return [self.symbols[key] for key in sorted(self.symbols, key=place) if key not in self.words]


def _letters(runs: list[Items]) -> list[str | None]:
    return [variable(run[0]) if len(run) == 1 and "'" not in (variable(run[0]) or "'") else None for run in runs]


def _extent(items: Items) -> int | str | None:
    item = normal(items[0]) if len(items) == 1 else None
    if not isinstance(item, Token):
        return None
    if item.type == "NUMBER" and item.text.isdigit():
        return int(item.text)
    return item.text if item.type == "NAME" else None
