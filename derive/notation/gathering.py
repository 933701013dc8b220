"""A card's declarations: which letter is a tensor, set, index or size. No letter's name decides."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from derive.notation.elaboration import inferred
from derive.notation.evidence import Evidence
from derive.notation.faces import (
    is_capital,
    layered,
    numbered_above,
    plain_beside_bold,
    ranks_by_face,
    sizes_beside_bold,
)
from derive.notation.formulas import Formula, NotationError, Source
from derive.notation.grammar import parse
from derive.notation.occurrences import Occurrence, Occurrences
from derive.notation.pieces import split_runs
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, labelled, latex_of, lexicon
from derive.notation.tree import (
    Group,
    Items,
    Scripted,
    Token,
    base_of,
    has,
    is_token,
    label_of,
    names_in,
    normal,
    sampled,
    split,
    unwrap,
    variable,
)

EMPTY = SymbolTable(())
_NONE: Mapping[str, int] = MappingProxyType({})
_SPARE = "ijklmnpqrstuvwab"


def gather(
    latexes: Sequence[Formula | str], table: SymbolTable = EMPTY, ranks: Mapping[str, int] = _NONE, rows: bool = False
) -> SymbolTable:
    """The symbol table of a card's formulas, added to ``table``, whose declarations win.

    ``ranks`` are the axes of letters that words call scalars, vectors or matrices (0,
    1, 2); bold letters are vectors and matrices where nothing says otherwise.
    ``rows``: words call the vectors rows.
    A formula that cannot be parsed declares nothing; reading it says why.
    """
    seen = Occurrences()
    trees: list[tuple[Source, Items]] = []
    lists: list[tuple[Source, Items]] = []
    written = []
    for formula in latexes:
        latex = formula if isinstance(formula, str) else formula.latex
        source = Source(latex)
        written.append(latex)
        try:
            tree = parse(source)
            if lists_letters(tree):
                lists.append((source, tree))
                continue
            seen.formula(source, tree)
        except (NotationError, RecursionError):
            continue
        trees.append((source, tree))
    known = {o.name for o in seen.all}
    for source, named in lists:  # they say what letters there are, and nothing of those that stand elsewhere
        if not known.issuperset(sampled(name)[0] for name in names_in(named)):
            seen.formula(source, named)
            trees.append((source, named))
    by_face, numbered = ranks_by_face(written)
    gathering = _Gathering(seen, table, {**by_face, **ranks}, numbered - {n for n, r in ranks.items() if not r},
                           numbered_above(written), plain_beside_bold(written) - ranks.keys(),
                           sizes_beside_bold(written))
    found = replace(gathering.table(), rows=rows)
    return inferred(found, trees, gathering.undecided()) if gathering.has_vectors(found) else found


def lists_letters(items: Items) -> bool:
    """Letters alone, with scripts or without: $W, b$, $x_i$ or $x^1, \\dots, x^m$."""
    return bool(items) and all(is_token(base_of(i), "NAME", "COMMA", "DOTS") for i in items) and all(
        is_token(b, "COMMA") or is_token(a, "COMMA") for a, b in itertools.pairwise(items))


class _Gathering(Evidence):
    def __init__(self, seen: Occurrences, known: SymbolTable, ranks: Mapping[str, int], numbered: set[str],
                 raised: set[str], unsaid: set[str], unnamed: set[str]) -> None:
        super().__init__(seen, lexicon(known))
        self.ranks, self.numbered, self.raised, self.unsaid = ranks, numbered, raised, unsaid
        self.unnamed = unnamed  # sizes that a vector has the letter of
        self.known = known
        self.symbols: dict[str, Symbol] = {}  # by the name that their LaTeX reads as
        self.letter_of: dict[int | str, str] = {}  # an axis letter for each extent
        self.unwritten: dict[str, int] = {}  # axes that are left out, as in w_k ∈ R^n
        self.extents: dict[str, tuple[int | str, ...]] = {}  # of those, each axis's; empty where nothing says it
        self.axes: dict[str, int] = {}  # of letters that leave some out here and there, how many there are
        self.scalars: set[str] = set()  # said to be numbers
        self.settled: set[str] = set()  # said to be vectors or matrices
        self.usual: set[str] = set()  # tensors seen with plain letters
        self.numbered_shapes: set[str] = set()  # W of W_1 ∈ R^{m×n}

    def has_vectors(self, found: SymbolTable) -> bool:
        """Whether a mark of vector notation or a whole vector stands in the formulas."""
        ranked = {name for name, s in lexicon(found).items() if s.kind is Kind.TENSOR and s.axes and not s.above}
        return bool(self.seen.marked) or any(o.bare and not o.in_index and o.name in ranked for o in self.seen.all)

    def undecided(self) -> set[str]:
        """The new tensors that may be vectors: without subscripts, and not said to be numbers."""
        tensors = {s.name for s in self.symbols.values() if s.kind is Kind.TENSOR and not s.sizes}
        shown = {identifier(o.name) for o in self.seen.all if o.sub is not None and not (
            o.name not in self.set_names and self.entry(o)[1])}
        right = [o for o in self.seen.all if o.right and not o.in_index and not o.derived]
        whole = {o.name for o in right if o.sub is None} - {o.name for o in right if o.sub is not None}
        whole = (whole - self.above.keys()) | self.axes.keys()
        marked = {identifier(name) for name in (self.seen.marked | self.seen.beside) - whole}  # w^⊤x and ∂y/∂w_j
        return tensors - self.scalars - self.settled - ((shown | {identifier(n) for n in self.above}) - marked)

    def table(self) -> SymbolTable:
        self.sets()
        self.strong_indices()
        self.conditions()
        self.constant_labels()
        self.steps()
        self.labels_at_rest()
        self.constants_in_indices()
        self.samples()
        self.shapes()
        for name, parameters in self.defined_functions().items():
            if name not in self.words:
                base, _, mark = name.rpartition("_")
                if base and mark in {o.name for o in self.seen.all if o.bare}:
                    self.latex[name] = labelled(base, mark)
                self.add(name, Kind.FUNCTION, parameters)
        self.number_labels()
        self.said_or_bold()
        self.whole_samples()
        entries = [self.entry(o) for o in self.seen.all if o.sub is not None and o.name not in self.set_names]
        for _, _, runs in entries:
            self.indices |= {n for run in runs for n in names_in(run)} - self.sizes - self.tensors
        self.size_letters()
        self.wholes([(name, runs) for name, label, runs in entries if not label])
        entries.sort(key=lambda e: -len(e[2]) if e[0] in self.axes else 0)
        for name, label, runs in entries:
            if label:
                self.latex[f"{name}_{label}"] = labelled(name, label)
                self.labelled_rank(name, f"{name}_{label}", runs)
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
        bound |= self.coordinates(bound)
        self.indices |= bound - self.subscripted - self.tensors  # what has subscripts of its own is a tensor

    def coordinates(self, bound: set[str]) -> set[str]:
        """i and j of S(i, j) = Σ_m Σ_n I(i+m, j+n): parameters that stand in a sum with an index that runs."""
        own = {p for d in self.seen.definitions for p in d.local[1:]}
        found: set[str] = set()
        for o in self.seen.all:
            if o.following is not None and o.right and o.sub is None and o.name not in self.functions:
                for run in split(o.following.items, "COMMA"):
                    names = {*names_in(run)}
                    if len(names) > 1 and names & bound and names <= bound | own:
                        found |= names & own
        return found

    def numbered_alone(self) -> set[str]:
        """The letters of W_1 and W_2, where no W has another subscript or none."""
        subs: dict[str, list[Items]] = {}
        for o in self.seen.all:
            if not o.in_index:
                subs.setdefault(o.name, []).append(o.sub or ())
        return {name for name, all_ in subs.items() if name not in self.words and name not in self.symbols
                and all(_is_number(s) for s in all_)}

    def shapes(self) -> None:
        alone = self.numbered_alone()
        for items, extents in self.seen.shapes:
            sizes = tuple("" if (size := _extent(e)) in self.unnamed else size for e in extents)
            self.sizes |= {s for s in sizes if isinstance(s, str) and s}
            for item in items:
                base = item.base if isinstance(item, Scripted) else item
                if not is_token(base, "NAME") or base.text in self.words or base.text in self.indices or None in sizes:
                    continue
                known = tuple(s for s in sizes if s is not None)
                if len(known) == 2 and 1 in known and not is_capital(base.text):
                    known = tuple(s for s in known if s != 1) or (1,)  # a row x ∈ R^{1×n}, a column
                leading = len(split_runs(item.subs[0], None)) if isinstance(item, Scripted) and item.subs else 0
                if leading == 1 and isinstance(item, Scripted) and base.text in alone and _is_number(item.subs[0]):
                    self.numbered_shapes.add(base.text)
                    self.add(f"{base.text}_{unwrap(item.subs[0])[0]}", Kind.TENSOR, self.along(known), (), known)
                    continue
                name, sample = sampled(base.text)
                name = name if sample is not None and name in self.above else base.text
                leading += name in self.above
                self.tensors.add(name)
                if leading and (known or name not in self.above):  # w_k, x^i ∈ R^n: the axis along n is left out
                    self.unwritten[name] = len(known)
                    self.extents[name] = ("",) * leading + known
                    continue
                self.add(name, Kind.TENSOR, self.along(known), (), known)
                self.scalars |= {name} if not known else set()

    def number_labels(self) -> None:
        """W_1 and W_2 are letters of their own, where no W has another subscript; b_1 and b_2 beside them too."""
        single = self.numbered_alone()
        subs: dict[str, list[Items]] = {}
        for o in self.seen.all:
            if not o.in_index:
                subs.setdefault(o.name, []).append(o.sub or ())
        biases = {name for name, all_ in subs.items() if name not in self.words and (
            self.is_bias(all_) or self.is_offset(name, all_))}
        if biases:
            self.seen.all = [replace(o, name=f"{o.name}_0", sub=None, bare=True)
                             if o.name in biases and _is_zero(o.sub or ()) and not o.in_index else o
                             for o in self.seen.all]
        if not any(is_capital(name) or name in self.numbered_shapes for name in single):
            single = {name for name in single if name in self.ranks}
        if single:
            self.seen.all = [replace(o, name=f"{o.name}_{unwrap(o.sub or ())[0]}", sub=None, bare=True)
                             if o.name in single and not o.in_index else o for o in self.seen.all]
        if biases or single:
            self.subscripted = {o.name for o in self.seen.all if o.sub is not None}

    def is_bias(self, subs: list[Items]) -> bool:
        """w_0 + Σ_j w_j x_j: beside the w_j a letter of its own, where nothing counts from 0."""
        zero = [s for s in subs if _is_zero(s)]
        rest = [unwrap(s) for s in subs if s and not _is_zero(s)]
        letters = bool(rest) and all(len(s) == 1 and is_token(s[0], "NAME") for s in rest)
        return bool(zero) and letters and not any(_is_zero(items) for items in self.seen.lowest)

    def is_offset(self, name: str, subs: list[Items]) -> bool:
        """θ^⊤x + θ_0: beside the whole θ a letter of its own."""
        values = [o for o in self.seen.all if o.name == name and o.right and not o.in_index]
        whole = any(o.sub is None for o in values)
        return whole and any(_is_zero(o.sub or ()) for o in values) and all(not s or _is_zero(s) for s in subs)

    def said_or_bold(self) -> None:
        """The axes of letters without subscripts that are bold, or that words call vectors or matrices."""
        bases = {o.name: layered(self.unlabelled.get(o.name, o.name)) for o in self.seen.all if not o.in_index}
        for name, rank in [(n, self.ranks[n if n in self.ranks else b]) for n, b in bases.items()
                           if n in self.ranks or (b in self.ranks and n not in self.unsaid)]:
            here = [o for o in self.seen.all if o.name == name and not o.in_index]
            if not here or name in self.words or name in self.symbols or name in self.indices | self.functions:
                continue
            if name in self.above and name in self.raised and rank and name not in self.unwritten:
                self.unwritten[name], self.extents[name] = rank, ("",) * (rank + 1)
                self.settled.add(name)
            if name in self.set_names or name in self.sizes or name in self.above or self.is_limit(name) or (
                    rank == 2 and self.is_part(name)):
                continue
            if not rank:
                self.scalars.add(name)
            elif name not in self.subscripted:
                self.tensors.add(name)
                self.settled.add(name)
                self.add(name, Kind.TENSOR, self.spare(rank))
            else:
                self.settled.add(name)
                single = all(len(split_runs(o.sub, None)) == 1 for o in here if o.sub is not None)
                if name in self.numbered and (rank == 1 or single):
                    self.tensors.add(name)
                    self.unwritten[name] = rank

    def labelled_rank(self, base: str, name: str, runs: list[Items]) -> None:
        """W_z h of a W_z beside a W: a matrix as well."""
        rank = self.ranks.get(name, 2 if self.ranks.get(base) == 2 else 0)
        if rank and not runs and name not in self.symbols and name not in self.words:
            self.tensors.add(name)
            self.settled.add(name)
            self.add(name, Kind.TENSOR, self.spare(rank))

    def whole_samples(self) -> None:
        r"""x of \theta^\top x^{(i)}, where x^{(i)}_j may stand too: the vector's axis is left out."""
        for name in (self.seen.marked | self.seen.beside) & self.above.keys() - self.unwritten.keys():
            runs = {0 if o.sub is None else len(split_runs(o.sub, None)) for o in self.seen.all if o.name == name}
            if runs in ({0}, {0, 1}):
                self.unwritten[name], self.extents[name] = 1, ("", "")

    def wholes(self, entries: list[tuple[str, list[Items]]]) -> None:
        """x_n beside x_{ni}: what stands in a product of vectors leaves its last axes out."""
        vectors = self.ranks.keys() | self.seen.marked | self.seen.beside
        counts: dict[str, set[int]] = {}
        for name, runs in entries:
            counts.setdefault(name, set()).add(len(runs))
        for name, found in counts.items():
            if len(found) == 2 and name in vectors and name not in self.extents and name not in self.words:
                self.axes[name] = max(found)
                self.unwritten[name] = max(found) - min(found)
                self.tensors.add(name)

    def is_limit(self, name: str) -> bool:
        """K of Σ_{k=1}^K, whatever «the vectors of $K$ words» says."""
        return name not in self.subscripted and any(
            len(items) == 1 and is_token(items[0], "NAME") and str(items[0]) == name for items in self.seen.bounds)

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
        bare = any(o.name == label and o.bare and not (o.in_index or o.cond) and label not in o.local
                   for o in self.seen.all)
        return label in self.tensors or label in self.subscripted or bare or label in self.unlabelled.values()

    def tensor(self, name: str, runs: list[Items]) -> None:
        if name in self.words or name in self.set_names or name in self.indices or name in self.functions:
            return
        if self.is_part(name):
            return
        if name in ("e", "e_q") and "e" not in self.heads and "e" not in self.unwritten:
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
        if name in self.axes and old is not None:
            return
        if name in self.unwritten and runs and (old is None or len(old.axes) == len(runs)):
            extents = self.extents.get(name, ())
            left = max(len(extents) - len(runs), 0) if extents else self.unwritten[name]
            left = self.axes[name] - len(runs) if name in self.axes else left
            first = letters if usual else self.spare(len(runs))
            axes_ = (*first, *self.spare(left, first))
            sizes = extents if len(extents) == len(axes_) else ()
            self.add(name, Kind.TENSOR, axes_, (), sizes, self.above_of(style), self.unwritten[name])
            return
        if old is not None and old.axes and (len(old.axes) != len(runs) or not usual or name in self.usual):
            return
        if usual:
            self.usual.add(name)
        sizes = old.sizes if old is not None else ()
        own = letters if usual else self.beside(axes)
        self.add(name, Kind.TENSOR, own, (), sizes, self.above_of(style))

    def beside(self, axes: list[str | None]) -> tuple[str, ...]:
        """Letters of the axes of x_{c,2k+p,2l+q}: c where it stands alone, spare ones elsewhere."""
        spare = iter(self.spare(len(axes), (a for a in axes if a is not None)))
        known = [a if a is not None and axes.count(a) == 1 else None for a in axes]
        return tuple(a or next(spare) for a in known)

    @staticmethod
    def above_of(style: str | None) -> str:
        return "" if not style else "(i)" if style.startswith("(") else "i"

    def spare(self, count: int, besides: Iterable[str] = ()) -> tuple[str, ...]:
        names = {o.name for o in self.seen.all if not o.in_index}
        used = names | {self.unlabelled[n] for n in names & self.unlabelled.keys()} | self.sizes | {*besides}
        return tuple([c for c in _SPARE if c not in used][:count])

    def along(self, sizes: tuple[int | str, ...]) -> tuple[str, ...]:
        """A letter for each extent: axes of one extent share theirs, but for those of one tensor."""
        found: list[str] = []
        for size in sizes:
            known = self.letter_of.get(size)
            if known is None or known in found:
                taken = {*found, *self.letter_of.values()}
                known = next((c for c in self.spare(len(_SPARE)) if c not in taken), _SPARE[len(found)])
                if size != "":
                    self.letter_of.setdefault(size, known)
            found.append(known)
        return tuple(found)

    def size_letters(self) -> None:
        for items in self.seen.bounds:
            for name in names_in(items):
                if name not in self.indices | self.tensors | self.set_names | self.subscripted:
                    self.sizes.add(name)

    def applied(self) -> None:
        """y(m, n) with index letters is an entry of y; so is x[m] behind ∂, where m stands nowhere else."""
        for o in self.seen.all:
            if o.derived and o.sub is None and o.following is not None and o.following.bracket == "LBRACK":
                names = {variable(item) for item in o.following.items}
                alone = [p for p in self.seen.all if p.name in names and p.bare]
                if None not in names and len(alone) == len(names) and not names & (self.tensors | self.sizes):
                    self.indices |= {n for n in names if n is not None}
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
        if self.is_part(o.name):
            return
        if {o.name, f"{o.name}^2"} & {*o.local[1:]} and o.local[0] in self.functions:
            return
        if o.name in self.indices:
            self.add(o.name, Kind.INDEX)
        elif o.name in self.sizes:
            self.add(o.name, Kind.SIZE)
        elif o.bare and not o.in_index and not self.reserved(o):
            self.add(o.name, Kind.TENSOR)

    def reserved(self, o: Occurrence) -> bool:
        """e of e^x, π; I of I(a > b); a transposition's mark; the root of what is defined by its square."""
        if f"{o.name}^2" in self.squares and o.name not in self.heads:
            return True
        indicator = o.name == "I" and o.following is not None and has(o.following.items, "REL", "IN")
        return indicator or (o.name in ("e", "pi") and not self.is_letter(o.name))

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


def _is_number(items: Items) -> bool:
    items = unwrap(items)
    return len(items) == 1 and is_token(items[0], "NUMBER")


def _is_zero(items: Items) -> bool:
    return _is_number(items) and str(unwrap(items)[0]) == "0"


def _letters(runs: list[Items]) -> list[str | None]:
    return [variable(run[0]) if len(run) == 1 and "'" not in (variable(run[0]) or "'") else None for run in runs]


def _extent(items: Items) -> int | str | None:
    item = normal(items[0]) if len(items) == 1 else None
    if not isinstance(item, Token):
        return None
    if item.type == "NUMBER" and item.text.isdigit():
        return int(item.text)
    return item.text if item.type == "NAME" else None
