"""A card's declarations: which letter is a tensor, set, index, size or function. No letter's name decides."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from derive.notation import tree as tr
from derive.notation.elaboration import stated
from derive.notation.faces import Faces
from derive.notation.formulas import Formula, NotationError
from derive.notation.grammar import tree_of
from derive.notation.inference import inferred, softmaxes
from derive.notation.labels import below
from derive.notation.occurrences import Occurrence, Occurrences, Place
from derive.notation.pieces import Definition, split_runs
from derive.notation.ranks import SPARE, Ranks, Runs, letters_of
from derive.notation.shapes import ARRANGED
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, is_capital, labelled, lexicon

EMPTY = SymbolTable(())
_LOGARITHM = re.compile(r"\\(ln|log)(?![A-Za-z])")
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
    kept = [(f.source, tree) for f in formulas if not tr.has(tree := _tree(f), "ARROW")]  # an update says nothing
    seen, faced = Occurrences(), Occurrences()
    kept = [(source, tree) for n, (source, tree) in enumerate(kept) if not names_value(
        tree, (other for m, (_, other) in enumerate(kept) if m != n))]
    trees = [(source, tree) for source, tree in kept if not lists_letters(tree)]
    for _, tree in kept:
        faced.formula(tree)
    for _, tree in trees:
        seen.formula(tree)
    known = {o.name for o in seen.all}
    for source, tree in kept:  # lists say what letters there are, and nothing of those that stand elsewhere
        if lists_letters(tree) and not known.issuperset(tr.sampled(name)[0] for name in tr.names_in(tree)):
            seen.formula(tree)
            trees.append((source, tree))
    gathering = _Gathering(seen, table, Faces.of(faced, ranks))
    found = replace(gathering.table(), rows=rows or gathering.rows, pointers=frozenset(gathering.pointers))
    nodes = [node for source, items in trees if (node := stated(found, source, items)) is not None]
    shaped = inferred(
        replace(found, softmax="rows"), nodes, gathering.undecided() - found.pointers, gathering.plain(),
        gathering.decided() | gathering.of_numbers)
    return replace(shaped, open=(*shaped.open, *gathering.open.items()), vectors=gathering.has_vectors(shaped),
                   softmax=softmax or softmaxes(nodes, shaped), ln=table.ln or _writes_ln(formulas))


def _writes_ln(formulas: Iterable[Formula]) -> bool:
    r"""\ln stands in the formulas, and no \log."""
    found = {name for f in formulas for name in _LOGARITHM.findall(f.source.latex)}
    return found == {"ln"}


def _tree(formula: Formula) -> tr.Items:
    """The tree; empty where the formula has none.  As it is written, signs that a rule is about may stand in it."""
    try:
        return tree_of(formula)
    except (NotationError, RecursionError):
        return ()


def lists_letters(items: tr.Items) -> bool:
    """Letters alone, with scripts or without: $W, b$, $x_i$ or $x^1, \\dots, x^m$."""
    return bool(items) and all(tr.is_token(tr.base_of(i), "NAME", "COMMA", "DOTS") for i in items) and all(
        tr.is_token(b, "COMMA") or tr.is_token(a, "COMMA") for a, b in itertools.pairwise(items))


def names_value(items: tr.Items, others: Iterable[tr.Items]) -> bool:
    """q(i) or k^*(i) by itself, of a letter that no other formula has so: it says nothing of i."""
    if not (len(items) == 2 and tr.is_token(tr.base_of(items[0]), "NAME") and tr.is_group(items[1], "LPAREN")):
        return False
    starred = any(tr.is_token(sup[0], "STAR") for sup in tr.scripted(items[0]).sups if sup)
    return starred or not any(str(tr.base_of(items[0])) in tr.names_in(other) for other in others)


class _Gathering(Ranks):
    """What each letter is: decided by one pass after the other."""

    def __init__(self, seen: Occurrences, known: SymbolTable, faces: Faces) -> None:
        super().__init__(seen, known, faces)
        self.signatures: dict[str, tuple[str, ...]] = {}  # of functions of numbers
        self.open: dict[str, tuple[str, ...]] = {}  # letters that are one of two things

    def table(self) -> SymbolTable:
        for decide in PASSES:
            decide(self)
        return self.known.extended(self.ordered(), self.stars())

    def ordered(self) -> list[Symbol]:
        """The new symbols in the order in which the letters occur."""
        order = {name: n for n, name in enumerate(dict.fromkeys(o.name for o in self.seen.all))}
        return [self.symbols[key] for key in sorted(
            self.symbols, key=lambda key: order.get(key, order.get(key.split("_")[0], len(order))))]

    def has_vectors(self, found: SymbolTable) -> bool:
        """Whether a mark of vector notation or a whole vector stands in the formulas."""
        ranked = {name for name, s in lexicon(found).items() if s.kind is Kind.TENSOR and s.axes and not s.above}
        left_out = bool(self.seen.marked) or any(s.unwritten for s in found.symbols)
        return left_out or any(o.bare and o.is_value and o.name in ranked for o in self.seen.all)

    def plain(self) -> set[str]:
        """The letters that are not bold where vectors are; not the b_2 beside a bold b_1."""
        bold = 1 in self.faces.bold.values()
        return {identifier(o.name) for o in self.seen.all if o.name not in self.faces.unsaid} if bold else set()

    def undecided(self) -> set[str]:
        """The new tensors that may be vectors: without subscripts, and not said to be numbers."""
        tensors = {s.name for s in self.symbols.values() if s.kind is Kind.TENSOR and not s.sizes}
        shown = {o.name for o in self.seen.all if o.sub is not None and (
            o.name in self.set_names or not self.entry(o)[1])} | {n for n, a in self.above.items() if a[0] != "("}
        right = [o for o in self.seen.all if o.at.right and o.is_value and not o.derived]
        whole = {o.name for o in right if o.sub is None} - {o.name for o in right if o.sub is not None}
        whole = (whole - self.above.keys()) | self.axes.keys()
        marked = (self.seen.marked | self.seen.beside) - whole  # w^⊤x and ∂y/∂w_j
        return tensors - {identifier(n) for n in shown if n not in marked} - self.decided()

    def decided(self) -> set[str]:
        """The letters that are said to be numbers, vectors or matrices, or were declared before."""
        return {identifier(n) for n in self.scalars | self.settled | self.words.keys()}

    # Functions of numbers.

    def defined_functions(self) -> None:
        """Letters with a signature, applied elsewhere, whose parameters have no subscripts in the definition."""
        for d in self.seen.definitions:
            if d.local and d.local[0] not in {*self.words, *ARRANGED} and not self.is_tensor(d) and self.is_applied(d):
                self.signatures.setdefault(d.local[0], d.local[1:])
        self.functions |= self.signatures.keys()

    def is_tensor(self, d: Definition) -> bool:
        """x_i in f(x) = …, s(x) of a vector x, Ω(k, l), y(m, n): f is no function of a number."""
        name, *parameters = d.local
        running = {*self.seen.bound, *(n for items, _ in self.seen.sets for n in tr.names_in(items))}
        shaped = {str(tr.base_of(item)) for items, extents in self.seen.shapes if extents for item in items}
        label = tr.labels_of(d.left[0])
        index = label and (label[1:] in self.seen.bound or not any(
            o.name == label[1:] and o.bare and o.is_value and not o.at.cond for o in self.seen.all))
        return bool(index) or name in running or not {*parameters}.isdisjoint(running | shaped) or (
            name in tr.names_in(d.right)) or any(
            o.sub is not None and o.name in parameters and o.at.local == d.local or
            o.name == name and (o.sub is not None or o.above is not None) for o in self.seen.all)

    def is_applied(self, d: Definition) -> bool:
        """f(s) on a right-hand side, or f at anything else than its parameters."""
        for o in self.seen.all:
            label = tr.variable(o.sub[0]) if o.sub is not None and len(o.sub) == 1 else None
            called = o.name if label is None else f"{o.name}_{label}"  # \ell_\delta(a)
            if called != d.local[0] or o.following is None or o.derived or o.following.bracket != "LPAREN":
                continue
            names = tuple(map(tr.parameter, tr.arguments_of(o.following)))
            if o.primes and not tr.has(o.following.items, "SEMI") and names != d.local[1:]:
                return True
            if not o.primes and len(names) == len(d.local) - 1 and (names != d.local[1:] or o.at.right):
                return True
        return False

    def declared_functions(self) -> None:
        for name, parameters in self.signatures.items():
            base, _, mark = name.rpartition("_")
            if base and mark in {o.name for o in self.seen.all if o.bare}:
                self.latex[name] = labelled(base, mark)
            self.add(name, Kind.FUNCTION, parameters)

    # Sets, indices and sizes.

    def sets(self) -> None:
        for items, members in self.seen.sets:
            head, behind = tr.scripted(items[0]), items[1] if len(items) > 1 else None
            name = str(head.base)
            if not tr.is_token(head.base, "NAME") or name in self.words:
                continue
            runs: Runs = []
            if head.subs:
                runs = split_runs(head.subs[0], None)
            elif tr.is_group(behind, "LPAREN"):
                runs = [tuple(p) for p in tr.split(behind.items, "COMMA") if p]
            self.set_names.add(name)
            self.indices |= {n for run in runs for n in tr.names_in(run)}
            if name not in self.symbols:
                letters = tuple(a or SPARE[n] for n, a in enumerate(letters_of(runs)))
                self.add(name, Kind.SET, letters, tuple(members))

    def bound(self) -> None:
        """What runs; i and j of S(i, j) = Σ_m Σ_n I(i+m, j+n): parameters in a sum with an index that runs."""
        bound = {n.rstrip("'") for n in (*self.seen.bound, *self.seen.starred)}
        bound |= {*self.seen.listed} & {o.name for o in self.seen.all if o.at.index}
        bound |= {m.rstrip("'") for _, members in self.seen.sets for m in members}
        own = {p for d in self.seen.definitions for p in d.local[1:]}
        arguments = [{*tr.names_in(run)} for o in self.seen.all if o.following is not None and o.at.right
                     and o.sub is None and o.name not in self.functions for run in tr.split(o.following.items, "COMMA")]
        bound |= {n for names in arguments if len(names) > 1 and names & bound and names <= bound | own
                  for n in names & own}
        self.indices |= bound - self.subscripted - self.tensors  # what has subscripts of its own is a tensor

    def conditions(self) -> None:
        """In subscripts, and else in conditions only: an index. Only in the conditions of sums: a size.

        S of x_{Sn+p}, of which S < P is said and which is no subscript by itself, is a size, too.
        """
        below = {o.name for o in self.seen.all if o.at.cond and o.bare and o.is_value}
        value = {o.name for o in self.seen.all if o.bare and o.is_value and not o.at.cond} | self.tensors | self.sizes
        in_subs = {o.name for o in self.seen.all if o.at.index}
        other = value | self.subscripted | self.functions
        ends = {n for items in self.seen.bounds for n in tr.names_in(items)}
        alone = {n for o in self.seen.all if o.sub is not None for run in split_runs(o.sub, None) if len(run) == 1
                 for n in tr.names_in(run)}
        self.indices |= (below & in_subs) - other - (ends - alone)  # not n of x_{n+1} where i = 1, …, n
        runs = {n for r in self.seen.running for n in r.names} | {*self.seen.bound, *self.seen.listed}
        steps = (below & in_subs) - other - alone - runs - {n for d in self.seen.definitions for n in d.local[1:]}
        self.indices -= steps
        self.sizes |= steps
        for running in self.seen.running:
            if self.indices & {*running.names, running.beside}:
                self.seen.bounds += running.ends
        self.sizes |= {o.name for o in self.seen.all if o.at.limit and o.bare} - in_subs - other - self.indices

    def constants_in_indices(self) -> None:
        """s of x_{sk+p}: a letter that runs nowhere and is no index by itself is a size, whatever number it equals."""
        single: set[str] = set()
        composite: set[str] = set()
        for run in (run for o in self.seen.all if o.sub is not None for run in split_runs(o.sub, None)):
            (single if len(run) == 1 else composite).update(tr.names_in(run))
        other = [d.left for d in self.seen.definitions if not "".join(map(str, d.right)).isdigit()]  # not s = 2
        left = {n for items in other for n in tr.names_in(items)}
        left -= {n for items in self.seen.bounds for n in tr.names_in(items)}  # n of x_{n+1} = 0
        self.sizes |= composite - single - left - self.indices - self.tensors - self.labels - set(self.seen.bound)

    def numbers_or_indices(self) -> None:
        """k of y_k = k x_k and y_k = Σ_{i=1}^k x_i, i of x_i = i beside x: an index that has a value, or a label."""
        known = self.declared | self.heads | self.faces.ranks.keys() | self.subscripted | self.words.keys()
        values = {o.name for o in self.seen.all if o.bare and o.is_value and not (o.at.cond or o.at.extent)}
        whole = {o.name for o in self.seen.all if o.bare and o.is_value}
        extents = {n for _, extents in self.seen.shapes for e in extents for n in tr.names_in(e)}
        for d in self.seen.definitions:
            inside = [tr.scripted(i) for item in d.right for i in tr.inside(item)]
            carried = {n for i in inside if not is_capital(str(i.base)) for sub in i.subs for n in tr.names_in(sub)}
            own = {n for item in d.left for n in below(item)} - known - self.indices
            both = own & values & {str(i.base) for i in inside}
            self.open |= dict.fromkeys(both if d.name in whole else both & carried, ("a number", "an index"))
            ends = {n for i in inside if tr.is_token(i.base, "BIG") for sup in i.sups for n in tr.names_in(sup)}
            self.open |= dict.fromkeys([n for n in own & ends - extents if not is_capital(n)], ("a size", "an index"))

    # Tensors with their entries.

    @cached_property
    def pointers(self) -> set[str]:
        """y of s_{i,y_i} and of p_y, w of E_{w_t d}: letters whose entries are indices; that of δ_{f_{kl}} is a label.

        One without subscripts runs nowhere, and is in a set or a number by words, y ∈ {1, …, K}, or stands below
        letters that the card defines and nowhere else: c of L = -log p_c with p = softmax(z).
        """
        inner = (tr.scripted(run[0]) for o in self.seen.all if o.sub is not None and o.name not in ("delta", "e")
                 for run in split_runs(o.sub, None) if len(run) == 1)
        found = {i.base.text for i in inner if i.subs and not i.sups and tr.is_token(i.base, "NAME")} - {
            *self.seen.bound}
        left = {n for d in self.seen.definitions for item in d.left for n in below(item)}
        called = {n for n, rank in self.faces.ranks.items() if rank == 0}
        said = {*self.seen.listed, *self.seen.ranged} | called
        right = {n for d in self.seen.definitions for item in d.right for i in map(tr.scripted, tr.inside(item))
                 if not tr.is_token(i.base, "BIG") for sub in i.subs for n in tr.names_in(sub)}
        right |= {n for d in self.seen.definitions for item in d.right for i in tr.inside(item)  # t of [k = t]
                  if tr.is_group(i, "LBRACK") and tr.has(i.items, "REL") for n in tr.names_in(i.items)}
        right |= {n for d in self.seen.definitions for item in d.right for i in tr.inside(item)  # c of a case k = c
                  if isinstance(i, tr.Env) for n in _compared(i, left)}
        asked = {n for o in self.seen.all if o.derived and o.sub is not None for n in tr.names_in(o.sub)}
        said |= self.only_below(right)
        alone = right & said - left - (asked - called - {*self.seen.ranged}) - self.seen.under - self.subscripted
        return (found | alone) - self.heads - {*self.words} | self.known.pointers

    def only_below(self, letters: set[str]) -> set[str]:
        """Of these letters those that stand as an index of what the card defines, and nowhere else."""
        above: dict[str, set[str]] = {}
        for o in self.seen.all:
            for run in split_runs(o.sub, None) if o.sub is not None else ():
                for n in tr.names_in(run):
                    above.setdefault(n, set()).add(o.name if len(run) == 1 and o.is_value else "")
        others = {o.name for o in self.seen.all if not o.at.index} | self.sizes | {*self.seen.bound}
        return {n for n in letters - others if above.get(n, {""}) <= self.heads}

    def entry(self, o: Occurrence) -> tuple[str, str | None, Runs]:
        """The name, label and index terms of a subscripted letter."""
        assert o.sub is not None
        if any(len(run) == 1 and str(tr.base_of(run[0])) in self.pointers for run in split_runs(o.sub, None)):
            return o.name, None, split_runs(o.sub, None)
        if o.name not in self.above and o.above in self.subscripted - self.indices and o.above is not None:
            return o.name, o.above, split_runs(o.sub, None)  # \delta^f_{kl}
        first, *others = tr.split(o.sub, "COMMA", "SEMI")
        head = tr.scripted(first[0]) if len(first) == 1 else None
        inner = tr.label_of(head.subs[0][0]) if head is not None and head.subs and len(head.subs[0]) == 1 else None
        if head is not None and inner is not None and f"{head.base}_{inner}" in self.words:
            runs = split_runs(list(o.sub)[2:], None) if others else []
            return o.name, f"{head.base}_{inner}", runs  # \delta_{W_o,kl}
        if head is not None and not others and head.subs and not head.sups:
            return o.name, tr.label_of(head.base), split_runs(head.subs[0], None)  # \delta_{f_{kl}}
        label = tr.label_of(first[0]) if head is not None else None
        if label is not None and (tr.is_token(first[0], "TEXT") or self.is_label(o.name, label)):
            rest = list(o.sub)[2:]
            return o.name, label, split_runs(rest, None) if rest else []
        return o.name, None, split_runs(o.sub, None)

    def is_label(self, name: str, label: str) -> bool:
        """f of δ_f, where f is a letter with a value."""
        if label in self.labels or f"{name}_{label}" in self.words:
            return True
        return label not in self.indices and (
            label in self.bare or label in self.tensors | self.subscripted or label in self.unlabelled.values())

    @cached_property
    def bare(self) -> set[str]:
        """The letters that stand by themselves as a value."""
        return {o.name for o in self.seen.all
                if o.bare and o.is_value and not o.at.cond and o.name not in o.at.local}

    def subscripts(self) -> None:
        """What stands in subscripts is an index; a letter has the axes that its subscripts show."""
        entries = [self.entry(o) for o in self.seen.all if o.sub is not None and o.name not in self.set_names]
        below = {n for *_, runs in entries for run in runs for n in tr.names_in(run)}
        self.pointing = self.pointers
        self.indices |= below - self.sizes - self.tensors - self.pointers
        other = self.indices | self.tensors | self.set_names | self.subscripted
        self.sizes |= {n for items in self.seen.bounds for n in tr.names_in(items)} - other
        written: dict[str, list[Runs]] = {}
        for name, label, runs in entries:
            own = f"{name}_{label}" if label else name
            if label:
                self.latex[own] = labelled(name, label)
            written.setdefault(own, []).append(runs)
        for name in self.pointers - self.subscripted - {*self.words}:
            self.indices.discard(name)
            self.add(name, Kind.TENSOR)
        for o in self.seen.all:
            if o.name in self.above and o.sub is None:
                written.setdefault(o.name, []).append([])
        for name, all_ in written.items():
            self.shown(name, sorted(all_, key=lambda runs: any({*tr.names_in(run)} & self.pointers for run in runs)))

    def applied(self) -> None:
        """y(m, n) with index letters is an entry of y; so is x[m] behind ∂, where m stands nowhere else."""
        for o in self.seen.all:
            if o.sub is not None or o.following is None or (
                    o.name in self.set_names | self.indices | self.functions | self.sizes):
                continue
            runs: Runs = [p for p in tr.split(o.following.items, "COMMA") if p]
            letters = {n for run in runs for n in tr.names_in(run)}
            square = o.following.bracket == "LBRACK" and (len(runs) > 1 or (o.derived and sum(
                p.name in letters and p.bare for p in self.seen.all) == len(runs)))
            if square and not letters & (self.tensors | self.subscripted | self.sizes):
                self.indices |= letters
            if runs and all({*tr.names_in(run)} and {*tr.names_in(run)} <= self.indices for run in runs) and not tr.has(
                    o.following.items, "REL", "IN"):
                self.shown(o.name, [runs])

    def letters(self) -> None:
        """Letters that nothing else declares: indices, sizes, or numbers (tensors of rank 0)."""
        for o in self.seen.all:
            local = {o.name, f"{o.name}^2"} & {*o.at.local[1:]} and o.at.local[0] in self.functions
            if local or o.name in {*self.words, *self.symbols} | self.functions or o.name.endswith("_bb"):
                continue
            if o.name in self.indices | self.sizes:
                self.add(o.name, Kind.INDEX if o.name in self.indices else Kind.SIZE)
            elif o.bare and o.is_value and not self.reserved(o):
                self.add(o.name, Kind.TENSOR)

    def reserved(self, o: Occurrence) -> bool:
        """e of e^x, π; I of I(a > b); the root of what is defined by its square."""
        if o.name not in self.heads and f"{o.name}^2" in self.squares:
            return True
        indicator = o.name == "I" and o.following is not None and tr.has(o.following.items, "REL", "IN")
        return indicator or (o.name in ("e", "pi") and o.name not in self.heads and not any(
            p.name == o.name and p.bare and (p.derived or p.opens or (p.name == "e" and not p.raised)) and p.is_value
            for p in self.seen.all))

    def stars(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """The free indices of the maximisers (i^*, j^*)."""
        known = dict(self.known.stars)
        for letters, items in self.seen.maximisers:
            inner = Occurrences()
            inner.run(items, Place())
            outer = tuple(n for n in dict.fromkeys(tr.names_in(items)) if n in self.indices and n not in inner.bound)
            new = {letter: outer for letter in letters if letter not in known}
            known |= new
            yield from new.items()


# What is decided of the letters, in this order: a pass sees what those before it decided.
PASSES: tuple[Callable[[_Gathering], None], ...] = (
    _Gathering.defined_functions, _Gathering.marks, _Gathering.labelled_sizes,
    _Gathering.sets, _Gathering.bound, _Gathering.conditions, _Gathering.constant_labels,
    _Gathering.labels_of_pairs, _Gathering.known_steps, _Gathering.steps, _Gathering.labels_at_rest,
    _Gathering.constants_in_indices, _Gathering.numbers_or_indices, _Gathering.samples, _Gathering.number_labels,
    _Gathering.stated, _Gathering.declared_functions, _Gathering.said_or_bold, _Gathering.subscripts,
    _Gathering.applied, _Gathering.letters,
)


def _compared(cases: tr.Env, indices: set[str]) -> Iterator[str]:
    r"""c of the cases k = c and k \ne c, with k one of the indices."""
    for cell in (cell for row in tr.split(cases.items, "CR") for cell in tr.split(row, "AMP")[1:]):
        bare = [i for i in cell if tr.is_token(i, "NAME", "REL")]
        if len(bare) == 3 and tr.is_token(bare[1], "REL") and str(bare[1]) in ("=", "≠"):
            names = {str(bare[0]), str(bare[2])}
            yield from names - indices if names & indices else ()
