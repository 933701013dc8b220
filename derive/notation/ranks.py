"""How many axes each letter has: what its face says (bold small vectors, capital matrices), shapes and subscripts."""

from __future__ import annotations

from collections.abc import Iterable

from derive.notation import tree as tr
from derive.notation.faces import Faces
from derive.notation.labels import Labels
from derive.notation.occurrences import Occurrences
from derive.notation.pieces import labelled_name, split_runs
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, is_capital, latex_of, layered, lexicon

SPARE = "ijklmnpqrstuvwab"


class Ranks(Labels):
    """How many axes each letter has, with the letters of its axes."""

    def __init__(self, seen: Occurrences, known: SymbolTable, faces: Faces) -> None:
        super().__init__(seen, lexicon(known))
        self.known, self.faces = known, faces
        self.symbols: dict[str, Symbol] = {}  # by the name that their LaTeX reads as
        self.letter_of: dict[int | str, str] = {}  # an axis letter for each extent
        self.unwritten: dict[str, int] = {}  # axes that are left out, as in w_k ∈ R^n
        self.extents: dict[str, tuple[int | str, ...]] = {}  # of those, each axis's; empty where nothing says it
        self.axes: dict[str, int] = {}  # of letters that leave some out here and there, how many there are
        self.scalars: set[str] = set()  # said to be numbers
        self.settled: set[str] = set()  # said to be vectors or matrices
        self.usual: set[str] = set()  # tensors seen with plain letters

    def numbered_alone(self) -> set[str]:
        """The letters of W_1 and W_2, where no W has another subscript, or none if it is no capital."""
        subs: dict[str, list[tr.Items]] = {}
        for o in self.seen.all:
            if not o.in_index:
                subs.setdefault(o.name, []).append(o.sub or ())
        return {name for name, all_ in subs.items() if name not in self.words and name not in self.symbols
                and any(all_) and all(_is_number(s) for s in all_ if s or not is_capital(name))}

    def labelled_sizes(self) -> None:
        """d_k of R^{n × d_k}: a letter of its own."""
        own = {name for _, extents in self.seen.shapes for e in extents if len(e) == 1 and (name := label_size(e[0]))}
        if own:
            self.label(lambda o: labelled_name(o.name, o.sub or ()) in own)
            self.sizes |= own

    def shapes(self) -> None:
        alone = self.numbered_alone()
        for items, extents in self.seen.shapes:
            sizes = tuple("" if (size := _extent(e)) in self.faces.unnamed else size for e in extents)
            self.sizes |= {s for s in sizes if isinstance(s, str) and s}
            for item in items:
                base = item.base if isinstance(item, tr.Scripted) else item
                if not tr.is_token(base, "NAME") or base.text in {*self.words, *self.indices} or None in sizes:
                    continue
                known = tuple(s for s in sizes if s is not None)
                if len(known) == 2 and 1 in known and not is_capital(base.text):
                    known = tuple(s for s in known if s != 1) or (1,)  # a row x ∈ R^{1×n}, a column
                if isinstance(item, tr.Scripted) and item.subs and (
                        own := labelled_name(base.text, item.subs[0])) in self.unlabelled:
                    self.tensors.add(own)
                    self.add(own, Kind.TENSOR, self.along(known), (), known)
                    continue
                leading = len(split_runs(item.subs[0], None)) if isinstance(item, tr.Scripted) and item.subs else 0
                if leading == 1 and isinstance(item, tr.Scripted) and base.text in alone and _is_number(item.subs[0]):
                    self.add(f"{base.text}_{tr.unwrap(item.subs[0])[0]}", Kind.TENSOR, self.along(known), (), known)
                    continue
                name, sample = tr.sampled(base.text)
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
        subs: dict[str, list[tr.Items]] = {}
        for o in self.seen.all:
            if not o.in_index:
                subs.setdefault(o.name, []).append(o.sub or ())
        biases = {name for name, all_ in subs.items() if name not in self.words and (
            self.is_bias(all_) or self.is_offset(name, all_))}
        if biases:
            self.label(lambda o: o.name in biases and _is_zero(o.sub or ()))
        shaped = any(extents for _, extents in self.seen.shapes) or any(map(is_capital, self.seen.factors))
        if not shaped and not any(is_capital(name) for name in single):
            single = {name for name in single if name in self.faces.ranks}
        if single:
            self.label(lambda o: o.name in single)

    def is_bias(self, subs: list[tr.Items]) -> bool:
        """w_0 + Σ_j w_j x_j: beside the w_j a letter of its own, where nothing counts from 0."""
        zero = [s for s in subs if _is_zero(s)]
        rest = [tr.unwrap(s) for s in subs if s and not _is_zero(s)]
        letters = bool(rest) and all(len(s) == 1 and tr.is_token(s[0], "NAME") for s in rest)
        return bool(zero) and letters and not any(_is_zero(items) for items in self.seen.lowest)

    def is_offset(self, name: str, subs: list[tr.Items]) -> bool:
        """θ^⊤x + θ_0: beside the whole θ a letter of its own."""
        values = [o for o in self.seen.all if o.name == name and o.right and not o.in_index]
        whole = any(o.sub is None for o in values)
        return whole and any(_is_zero(o.sub or ()) for o in values) and all(not s or _is_zero(s) for s in subs)

    def said_or_bold(self) -> None:
        """The axes of letters without subscripts that are bold, or that words call vectors or matrices."""
        bases = {o.name: layered(self.unlabelled.get(o.name, o.name)) for o in self.seen.all if not o.in_index}
        for name, rank in [(n, self.faces.ranks[n if n in self.faces.ranks else b]) for n, b in bases.items()
                           if n in self.faces.ranks or (b in self.faces.ranks and n not in self.faces.unsaid)] + [
                               (n, 1) for n in bases if n in self.faces.accented - self.faces.ranks.keys()]:
            here = [o for o in self.seen.all if o.name == name and not o.in_index]
            if not here or name in self.words or name in self.symbols or name in self.indices | self.functions:
                continue
            if name in self.above and name in self.faces.raised and rank and name not in self.unwritten:
                self.unwritten[name], self.extents[name] = rank, ("",) * (rank + 1)
                self.settled.add(name)
            if name in self.set_names or name in self.sizes or name in self.above or self.is_limit(name):
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
                if name in self.faces.numbered and (rank == 1 or single):
                    self.tensors.add(name)
                    self.unwritten[name] = rank

    def whole_samples(self) -> None:
        r"""x of \theta^\top x^{(i)}, where x^{(i)}_j may stand too: the vector's axis is left out."""
        for name in (self.seen.marked | self.seen.beside) & self.above.keys() - self.unwritten.keys():
            runs = {0 if o.sub is None else len(split_runs(o.sub, None)) for o in self.seen.all if o.name == name}
            if runs in ({0}, {0, 1}):
                self.unwritten[name], self.extents[name] = 1, ("", "")

    def wholes(self, entries: list[tuple[str, list[tr.Items]]]) -> None:
        """x_n beside x_{ni}: what stands in a product of vectors leaves its last axes out."""
        vectors = self.faces.ranks.keys() | self.seen.marked | self.seen.beside
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
            len(items) == 1 and tr.is_token(items[0], "NAME") and str(items[0]) == name for items in self.seen.bounds)

    def tensor(self, name: str, runs: list[tr.Items]) -> None:
        if name in self.words or name in self.set_names or name in self.indices or name in self.functions:
            return
        if name in ("e", "e_q") and "e" not in self.heads and "e" not in self.unwritten:
            return
        style = self.above.get(name) or self.above.get(name.split("_")[0])
        if style:
            runs = [(tr.Token("NAME", style.strip("()"), 0, 0),), *runs]
        self.tensors.add(name)
        old, axes = self.symbols.get(name), letters_of(runs)
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
        own = names & self.unlabelled.keys()
        labels = {n.removeprefix(f"{self.unlabelled[n]}_") for n in own}
        used = names | {self.unlabelled[n] for n in own} | labels | self.sizes | {*besides}
        return tuple([c for c in SPARE if c not in used][:count])

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


def _is_number(items: tr.Items) -> bool:
    items = tr.unwrap(items)
    return len(items) == 1 and tr.is_token(items[0], "NUMBER")


def label_size(item: tr.Item) -> str | None:
    """d_k of d_k, where it is a size: a letter with a label."""
    item = tr.normal(item)
    label = tr.label_of(item.subs[0][0]) if isinstance(item, tr.Scripted) and len(item.subs) == 1 and len(
        item.subs[0]) == 1 and not item.sups else None
    return None if label is None or not tr.is_token(tr.base_of(item), "NAME") else f"{tr.base_of(item)}_{label}"


def _is_zero(items: tr.Items) -> bool:
    return _is_number(items) and str(tr.unwrap(items)[0]) == "0"


def letters_of(runs: list[tr.Items]) -> list[str | None]:
    return [tr.variable(run[0]) if len(run) == 1 and "'" not in (tr.variable(run[0]) or "'") else None for run in runs]


def _extent(items: tr.Items) -> int | str | None:
    item = tr.normal(items[0]) if len(items) == 1 else None
    if isinstance(item, tr.Scripted):
        return label_size(item) or ""
    if not isinstance(item, tr.Token):
        return "" if items else None  # 2n, K + 1
    if item.type == "NUMBER" and item.text.isdigit():
        return int(item.text)
    return item.text if item.type == "NAME" else None
