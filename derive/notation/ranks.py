"""How many axes each letter has: what is stated, what words and bold print say, what its subscripts show."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from derive.notation import tree as tr
from derive.notation.faces import Faces
from derive.notation.labels import Labels, is_number, label_size
from derive.notation.occurrences import Occurrences
from derive.notation.pieces import labelled_name, split_runs
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, is_capital, latex_of, layered, lexicon

SPARE = "ijklmnpqrstuvwab"
Runs = list[tr.Items]


class Ranks(Labels):
    """How many axes each letter has, with the letters of its axes."""

    def __init__(self, seen: Occurrences, known: SymbolTable, faces: Faces) -> None:
        super().__init__(seen, lexicon(known), faces)
        self.known = known
        self.symbols: dict[str, Symbol] = {}  # by the name that their LaTeX reads as
        self.letter_of: dict[int | str, str] = {}  # an axis letter for each extent
        self.unwritten: dict[str, int] = {}  # axes that are left out, as in w_k ∈ R^n
        self.extents: dict[str, tuple[int | str, ...]] = {}  # of those, each axis's; empty where nothing says it
        self.axes: dict[str, int] = {}  # of letters that leave some out here and there, how many there are
        self.rows = False  # x ∈ R^{1×n} is stated
        self.scalars: set[str] = set()  # said to be numbers
        self.settled: set[str] = set()  # said to be vectors or matrices
        self.of_numbers: set[str] = set()  # whose entries are said to be numbers
        self.pointing: set[str] = set()  # labels, whose entries are indices

    def stated(self) -> None:
        """x ∈ R^n, and the vectors w_k ∈ R^n, x^i ∈ R^n, whose axis along n is left out."""
        for items, extents in self.seen.shapes:
            sizes = ["" if (size := _extent(e)) in self.faces.unnamed else size for e in extents]
            self.sizes |= {s for s in sizes if isinstance(s, str) and s}
            for item in map(tr.scripted, items):
                if tr.is_token(item.base, "NAME") and item.base.text not in {*self.words, *self.indices} and (
                        None not in sizes):
                    self.shaped(item, item.base.text, tuple(s for s in sizes if s is not None))

    def shaped(self, item: tr.Scripted, text: str, known: tuple[int | str, ...]) -> None:
        if len(known) == 2 and 1 in known and not is_capital(text):
            self.rows |= known[0] == 1 and known[1] != 1
            known = tuple(s for s in known if s != 1) or (1,)  # a row x ∈ R^{1×n}, a column
        sub = item.subs[0] if item.subs else ()
        own, (name, sample) = labelled_name(text, sub) if sub else "", tr.sampled(text)
        if own in self.unlabelled:
            text, sub = own, ()
        elif sample is not None and name in self.above:
            text = name
        leading = (len(split_runs(sub, None)) if sub else 0) + (text in self.above)
        self.tensors.add(text)
        if leading and (known or text not in self.above):
            self.unwritten[text], self.extents[text] = len(known), ("",) * leading + known
            self.of_numbers |= set() if known else {text}
            return
        self.add(text, Kind.TENSOR, self.along(known), (), known)
        self.scalars |= {text} if not (known or sub or own) else set()

    def said_or_bold(self) -> None:
        """The axes of letters without subscripts that are bold, or that words call vectors or matrices."""
        ranks = self.faces.ranks
        for name, subs in self.subs_of().items():
            base = layered(self.unlabelled.get(name, name))
            rank = ranks.get(name, ranks.get(base) if name not in self.faces.unsaid else None)
            rank = 1 if rank is None and name in self.faces.accented else rank
            if rank is None or name in {*self.words, *self.symbols} | self.indices | self.functions:
                continue
            if name in self.above and name in self.faces.raised and rank and name not in self.unwritten:
                self.unwritten[name], self.extents[name] = rank, ("",) * (rank + 1)
                self.settled.add(name)
            if name in self.set_names | self.sizes | self.above.keys() or self.is_limit(name):
                continue
            (self.settled if rank else self.scalars).add(name)
            if rank and name not in self.subscripted:
                self.tensors.add(name)
                self.add(name, Kind.TENSOR, self.spare(rank))
            elif rank and name in self.faces.numbered and (
                    rank == 1 or all(len(split_runs(s, None)) == 1 for s in subs if s)):
                self.tensors.add(name)
                self.unwritten[name] = rank

    def is_limit(self, name: str) -> bool:
        """K of Σ_{k=1}^K, whatever «the vectors of $K$ words» says."""
        return name not in self.subscripted and any(
            len(items) == 1 and tr.is_token(items[0], "NAME") and str(items[0]) == name for items in self.seen.bounds)

    def is_unit_vector(self) -> bool:
        """e_k is one where nothing else is said: no formula or word of it, nor an entry y_k on the left of it."""
        if "e" in {*self.heads} | self.unwritten.keys() | self.faces.ranks.keys() or any(
                o.name == "e" and o.derived and o.sub for o in self.seen.all):
            return False
        entries = (d for d in self.seen.definitions if d.head is not None and d.head.subs and not getattr(
            d.head.base, "bold", 0))
        return not any(tr.has_entries(d.right, "e") for d in entries)

    def shown(self, name: str, written: list[Runs]) -> None:
        """The axes that a letter's subscripts show, with the letters that usually stand there."""
        if name in ("e", "e_q") and self.is_unit_vector():
            return
        if name in {*self.words} | self.set_names | self.indices | self.functions:
            return
        self.tensors.add(name)
        style = self.above.get(name) or self.above.get(name.split("_")[0], "")
        first: Runs = [(tr.Token("NAME", style.strip("()"), 0, 0),)] if style else []
        counts, old = {len(runs) for runs in written}, self.symbols.get(name)
        whole = self.faces.ranks.keys() | self.seen.marked | self.seen.beside
        if style and counts == {0, 1} and name in (
                self.seen.marked | self.seen.beside) - self.unwritten.keys():
            # x of \theta^\top x^{(i)}, where x^{(i)}_j stands too: the vector's axis is left out
            self.unwritten[name], self.extents[name] = 1, ("", "")
        elif len(counts) == 2 and name in whole - self.extents.keys():
            # x_n beside x_{ni}: what stands in a product of vectors leaves its last axes out
            self.axes[name], self.unwritten[name] = max(counts), max(counts) - min(counts)
            written = sorted(written, key=len, reverse=True)
        own = old.axes if old is not None else ()
        count = len(own) or len(first) + len(written[0])
        same = [runs for shown in written if len(runs := [*first, *shown]) == count]
        runs = next(filter(_usual, same), None if own or not same else same[0])  # type: ignore[arg-type]
        if runs is None or (old is not None and (not runs or name in self.axes)):
            return
        running = [None if a in self.pointing else a for a in letters_of(runs)]  # c of p_c names no axis
        letters, sizes = tuple(a or "" for a in running) if _usual(runs) and None not in running else (), (
            old.sizes if old else ())
        unwritten = self.unwritten.get(name, 0) if runs else 0
        if unwritten:
            extents = self.extents.get(name, ("",) * self.axes.get(name, len(runs) + unwritten))
            axes = letters or self.spare(len(runs))
            axes += self.spare(len(extents) - len(runs), axes)
            sizes = self.extents.get(name, ())
        else:
            axes = letters or self.beside(running)
        above = "" if not style else "(i)" if style.startswith("(") else "i"
        self.add(name, Kind.TENSOR, axes, (), sizes, above, unwritten)

    def beside(self, axes: list[str | None]) -> tuple[str, ...]:
        """Letters of the axes of x_{c,2k+p,2l+q}: c where it stands alone, spare ones elsewhere."""
        spare = iter(self.spare(len(axes), (a for a in axes if a is not None)))
        return tuple(a if a is not None and axes.count(a) == 1 else next(spare) for a in axes)

    def spare(self, count: int, besides: Iterable[str] = ()) -> tuple[str, ...]:
        names = {o.name for o in self.seen.all if o.is_value}
        own = names & self.unlabelled.keys()
        labels = {n.removeprefix(f"{self.unlabelled[n]}_") for n in own}
        used = names | {self.unlabelled[n] for n in own} | labels | self.sizes | {*besides}
        free = (c for c in (*SPARE, *(f"{c}'" for c in SPARE)) if c not in used)
        return tuple(itertools.islice(free, count))

    def along(self, sizes: tuple[int | str, ...]) -> tuple[str, ...]:
        """A letter for each extent: axes of one extent share theirs, but for those of one tensor."""
        found: list[str] = []
        for size in sizes:
            known = self.letter_of.get(size)
            if known is None or known in found:
                taken = {*found, *self.letter_of.values()}
                known = next((c for c in self.spare(len(SPARE)) if c not in taken), SPARE[len(found)])
                if size != "":
                    self.letter_of.setdefault(size, known)
            found.append(known)
        return tuple(found)

    def add(
        self, key: str, kind: Kind, axes: tuple[str, ...] = (), members: tuple[str, ...] = (),
        sizes: tuple[int | str, ...] = (), above: str = "", unwritten: int = 0,
    ) -> None:
        latex = self.latex.get(key) or latex_of(key)
        self.symbols[key] = Symbol(identifier(key), latex, kind, axes, members, sizes, above, unwritten)


def letters_of(runs: Runs) -> list[str | None]:
    return [tr.variable(run[0]) if len(run) == 1 and "'" not in (tr.variable(run[0]) or "'") else None for run in runs]


def _usual(runs: Runs) -> bool:
    """Whether each index is a letter by itself."""
    letters = letters_of(runs)
    return None not in letters and len({*letters}) == len(letters)


def _extent(items: tr.Items) -> int | str | None:
    """n of ℝ^n; nothing of 2n and K + 1; None where no size can stand."""
    item = tr.scripted(items[0]) if len(items) == 1 else None
    if item is None or item.subs or item.sups or not isinstance(item.base, tr.Token):
        return (label_size(item) if item is not None else None) or ("" if items else None)
    if is_number([item.base]) and item.base.text.isdigit():
        return int(item.base.text)
    return item.base.text if item.base.type == "NAME" else None
