"""A card's declarations: which letter is a tensor, set, index or size. No letter's name decides."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from derive.notation import tree as tr
from derive.notation.elaboration import stated
from derive.notation.faces import Faces
from derive.notation.formulas import Formula, NotationError, Source
from derive.notation.grammar import skeleton, tree_of
from derive.notation.inference import inferred, softmaxes
from derive.notation.occurrences import Occurrence, Occurrences
from derive.notation.pieces import split_runs
from derive.notation.ranks import SPARE, Ranks, letters_of
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, labelled, lexicon

EMPTY = SymbolTable(())
_NONE: Mapping[str, int] = MappingProxyType({})


def gather(
    latexes: Sequence[Formula | str], table: SymbolTable = EMPTY, ranks: Mapping[str, int] = _NONE, rows: bool = False,
    softmax: str = "",
) -> SymbolTable:
    """The symbol table of a card's formulas, added to ``table``, whose declarations win.

    ``ranks`` are the axes of letters that words call scalars, vectors or matrices (0,
    1, 2); bold letters are vectors and matrices where nothing says otherwise.
    ``rows``: words call the vectors rows; ``softmax``: what they say that of a matrix is taken of.
    A formula that cannot be parsed declares nothing; reading it says why.
    """
    formulas = [f if isinstance(f, Formula) else Formula(f, 1, 0, True) for f in latexes]
    kept = [(f, tree) for f in formulas if not tr.has(tree := _tree(f), "ARROW")]  # an update says nothing of letters
    named = [(f.source, tree) for f, tree in kept if lists_letters(tree)]
    trees = [(f.source, tree) for f, tree in kept if not lists_letters(tree)]
    seen = Occurrences()
    for _, tree in trees:
        seen.formula(tree)
    known = {o.name for o in seen.all}
    for source, tree in named:  # they say what letters there are, and nothing of those that stand elsewhere
        if not known.issuperset(tr.sampled(name)[0] for name in tr.names_in(tree)):
            seen.formula(tree)
            trees.append((source, tree))
    # what a rule gave subscripts is still a whole vector as it is written
    faced = [(Source(f.latex), _tree(f.latex)) for f, _ in kept]
    gathering = _Gathering(seen, table, Faces.of(faced, ranks))
    found = replace(gathering.table(), rows=rows)
    nodes = [node for source, items in trees if (node := stated(found, source, items)) is not None]
    shaped = inferred(replace(found, softmax="rows"), nodes, gathering.undecided(), gathering.plain())
    return replace(shaped, vectors=gathering.has_vectors(shaped), softmax=softmax or softmaxes(nodes, shaped))


def _tree(formula: Formula | str) -> tr.Items:
    """The tree; empty where the formula has none.  As it is written, signs that a rule is about may stand in it."""
    try:
        return skeleton(Source(formula)) if isinstance(formula, str) else tree_of(formula)
    except (NotationError, RecursionError):
        return ()


def lists_letters(items: tr.Items) -> bool:
    """Letters alone, with scripts or without: $W, b$, $x_i$ or $x^1, \\dots, x^m$."""
    return bool(items) and all(tr.is_token(tr.base_of(i), "NAME", "COMMA", "DOTS") for i in items) and all(
        tr.is_token(b, "COMMA") or tr.is_token(a, "COMMA") for a, b in itertools.pairwise(items))


class _Gathering(Ranks):
    def has_vectors(self, found: SymbolTable) -> bool:
        """Whether a mark of vector notation or a whole vector stands in the formulas."""
        ranked = {name for name, s in lexicon(found).items() if s.kind is Kind.TENSOR and s.axes and not s.above}
        return bool(self.seen.marked) or any(o.bare and not o.in_index and o.name in ranked for o in self.seen.all)

    def plain(self) -> set[str]:
        """The letters that are not bold where vectors are; not the b_2 beside a bold b_1."""
        bold = 1 in self.faces.bold.values()
        return {identifier(o.name) for o in self.seen.all if o.name not in self.faces.unsaid} if bold else set()

    def undecided(self) -> set[str]:
        """The new tensors that may be vectors: without subscripts, and not said to be numbers."""
        tensors = {s.name for s in self.symbols.values() if s.kind is Kind.TENSOR and not s.sizes}
        shown = {identifier(o.name) for o in self.seen.all if o.sub is not None and not (
            o.name not in self.set_names and self.entry(o)[1])}
        right = [o for o in self.seen.all if o.right and not o.in_index and not o.derived]
        whole = {o.name for o in right if o.sub is None} - {o.name for o in right if o.sub is not None}
        whole = (whole - self.above.keys()) | self.axes.keys()
        marked = {identifier(name) for name in (self.seen.marked | self.seen.beside) - whole}  # w^⊤x and ∂y/∂w_j
        fixed = {identifier(n) for n in self.scalars | self.settled}
        return tensors - fixed - ((shown | {identifier(n) for n in self.above}) - marked)

    def table(self) -> SymbolTable:
        for decide in PASSES:
            decide(self)
        return self.known.extended(self.ordered(), self.stars())

    def declared_functions(self) -> None:
        for name, parameters in self.defined_functions().items():
            if name not in self.words:
                base, _, mark = name.rpartition("_")
                if base and mark in {o.name for o in self.seen.all if o.bare}:
                    self.latex[name] = labelled(base, mark)
                self.add(name, Kind.FUNCTION, parameters)

    def subscripts(self) -> None:
        """What stands in subscripts is an index; a letter has the axes that its subscripts show."""
        entries = [self.entry(o) for o in self.seen.all if o.sub is not None and o.name not in self.set_names]
        for _, _, runs in entries:
            self.indices |= {n for run in runs for n in tr.names_in(run)} - self.sizes - self.tensors
        self.size_letters()
        self.wholes([(name, runs) for name, label, runs in entries if not label])
        entries.sort(key=lambda e: -len(e[2]) if e[0] in self.axes else 0)
        for name, label, runs in entries:
            if label:
                self.latex[f"{name}_{label}"] = labelled(name, label)
            self.tensor(f"{name}_{label}" if label else name, runs)
        for o in self.seen.all:
            if o.name in self.above and o.sub is None:
                self.tensor(o.name, [])

    def sets(self) -> None:
        for items, members in self.seen.sets:
            head = tr.normal(items[0])
            base = head.base if isinstance(head, tr.Scripted) else head
            if not isinstance(base, tr.Token) or base.type != "NAME" or base.text in self.words:
                continue
            runs: list[tr.Items] = []
            if isinstance(head, tr.Scripted) and head.subs:
                runs = split_runs(head.subs[0], None)
            elif len(items) > 1 and isinstance(items[1], tr.Group) and items[1].bracket == "LPAREN":
                runs = [tuple(p) for p in tr.split(items[1].items, "COMMA") if p]
            self.set_names.add(base.text)
            self.indices |= {n for run in runs for n in tr.names_in(run)}
            old = self.symbols.get(base.text)
            axes = letters_of(runs)
            if old is None:
                letters = tuple(a or SPARE[n] for n, a in enumerate(axes))
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
                for run in tr.split(o.following.items, "COMMA"):
                    names = {*tr.names_in(run)}
                    if len(names) > 1 and names & bound and names <= bound | own:
                        found |= names & own
        return found

    def entry(self, o: Occurrence) -> tuple[str, str | None, list[tr.Items]]:
        """The name, label and index terms of a subscripted letter."""
        assert o.sub is not None
        if o.name not in self.above and o.above in self.subscripted - self.indices and o.above is not None:
            return o.name, o.above, split_runs(o.sub, None)  # \delta^f_{kl}
        first, *others = tr.split(o.sub, "COMMA", "SEMI")
        head = tr.normal(first[0]) if first else None
        if isinstance(head, tr.Scripted) and len(first) == 1 and not others and head.subs and not head.sups:
            return o.name, tr.label_of(head.base), split_runs(head.subs[0], None)  # \delta_{f_{kl}}
        label = tr.label_of(head) if len(first) == 1 else None
        if label is not None and self.is_label(o.name, label, head):
            rest = list(o.sub)[2:]
            return o.name, label, split_runs(rest, None) if rest else []
        return o.name, None, split_runs(o.sub, None)

    def is_label(self, name: str, label: str, head: object) -> bool:
        if isinstance(head, tr.Token) and head.type == "TEXT":
            return True
        if label in self.labels:
            return True
        if f"{name}_{label}" in self.words or label in self.indices:
            return f"{name}_{label}" in self.words
        bare = any(o.name == label and o.bare and not (o.in_index or o.cond) and label not in o.local
                   for o in self.seen.all)
        return label in self.tensors or label in self.subscripted or bare or label in self.unlabelled.values()

    def size_letters(self) -> None:
        for items in self.seen.bounds:
            for name in tr.names_in(items):
                if name not in self.indices | self.tensors | self.set_names | self.subscripted:
                    self.sizes.add(name)

    def applied(self) -> None:
        """y(m, n) with index letters is an entry of y; so is x[m] behind ∂, where m stands nowhere else."""
        for o in self.seen.all:
            if o.derived and o.sub is None and o.following is not None and o.following.bracket == "LBRACK":
                names = {tr.variable(item) for item in o.following.items}
                alone = [p for p in self.seen.all if p.name in names and p.bare]
                if None not in names and len(alone) == len(names) and not names & (self.tensors | self.sizes):
                    self.indices |= {n for n in names if n is not None}
        for o in self.seen.all:
            if o.sub is not None or o.following is None or o.name in self.set_names | self.indices | self.functions:
                continue
            runs: list[tr.Items] = [p for p in tr.split(o.following.items, "COMMA") if p]
            letters = [set(tr.names_in(run)) for run in runs]
            square = o.following.bracket == "LBRACK" and len(runs) > 1 and not any(
                ls & (self.tensors | self.subscripted) for ls in letters)
            if square:
                self.indices |= set().union(*letters)
            if runs and all(ls and ls <= self.indices for ls in letters) and not tr.has(o.following.items, "REL", "IN"):
                self.tensor(o.name, runs)

    def letters(self) -> None:
        for occurrence in self.seen.all:
            self.letter(occurrence)

    def letter(self, o: Occurrence) -> None:
        """A letter that nothing else declares: an index, a size, or a number (a tensor of rank 0)."""
        if o.name in self.words or o.name in self.symbols or o.name.endswith("_bb") or o.name in self.functions:
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
        indicator = o.name == "I" and o.following is not None and tr.has(o.following.items, "REL", "IN")
        return indicator or (o.name in ("e", "pi") and not self.is_letter(o.name))

    def stars(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        known = dict(self.known.stars)
        for letters, items in self.seen.maximisers:
            outer = [n for n in dict.fromkeys(tr.names_in(items)) if n in self.indices and n not in self.inner(items)]
            for letter in letters:
                if letter not in known:
                    known[letter] = tuple(outer)
                    yield letter, tuple(outer)

    def inner(self, items: tr.Items) -> set[str]:
        """The names that are bound in the items."""
        found = Occurrences()
        found.run(items)
        return set(found.bound)

    def ordered(self) -> list[Symbol]:
        """The new symbols in the order in which the letters occur."""
        order = {name: n for n, name in enumerate(dict.fromkeys(o.name for o in self.seen.all))}

        def place(key: str) -> int:
            return order.get(key, order.get(key.split("_")[0], len(order)))

        return [self.symbols[key] for key in sorted(self.symbols, key=place) if key not in self.words]


# What is decided of the letters, in this order: a pass sees what those before it decided.
PASSES: tuple[Callable[[_Gathering], None], ...] = (
    _Gathering.labelled_sizes,
    _Gathering.sets, _Gathering.strong_indices, _Gathering.conditions, _Gathering.constant_labels,
    _Gathering.labels_of_pairs, _Gathering.steps, _Gathering.labels_at_rest,
    _Gathering.constants_in_indices, _Gathering.samples, _Gathering.shapes,
    _Gathering.declared_functions, _Gathering.number_labels, _Gathering.said_or_bold, _Gathering.whole_samples,
    _Gathering.subscripts, _Gathering.applied, _Gathering.letters,
)
