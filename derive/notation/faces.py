"""What the faces of the letters say of their axes: bold small letters are vectors, bold capitals matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from derive.notation import tree as tr
from derive.notation.formulas import Source
from derive.notation.symbols import ACCENTS, is_capital, layered
from derive.records import dataclass


@dataclass(frozen=True)
class Face:
    """A letter where it stands: ``name`` without layers, its subscript, and whether a vector's dimensions hold it."""

    name: str
    bold: bool
    arrow: bool
    sub: tr.Items
    above: str | None  # n of x^{(n)}
    extent: bool

    @property
    def number(self) -> str | None:
        """1 of b_1, nothing of b."""
        sub = tr.unwrap(self.sub)
        return "" if not sub else str(sub[0]) if len(sub) == 1 and tr.is_token(sub[0], "NUMBER") else None

    @property
    def rank(self) -> int:
        return 2 if is_capital(self.name) and not self.arrow else 1

    @property
    def key(self) -> str:
        """c̃_t with its label: a vector if t is a step, not if it is an index."""
        accented = self.name.rpartition("_")[2] in ACCENTS.values() and self.sub
        return f"{self.name}_{''.join(map(str, tr.unwrap(self.sub)))}" if accented else self.name


def faces_in(source: Source, items: tr.Items, extent: bool = False) -> Iterator[Face]:
    """All letters of a formula, scripts included."""
    for raw in items:
        item = tr.normal(raw)
        base = tr.base_of(item)
        subs, sups = (item.subs, item.sups) if isinstance(item, tr.Scripted) else ((), ())
        if isinstance(base, tr.Token) and base.type == "NAME":
            name, above = tr.sampled(base.text)
            sample = tr.unwrap(sups[0]) if sups else ()
            inner = sample[0].items if len(sample) == 1 and isinstance(sample[0], tr.Group) else sample
            if above is None and len(inner) == 1 and tr.is_token(inner[0], "NAME") and str(inner[0]).islower():
                above = str(inner[0])
            arrow = source.latex.startswith("\\vec", base.start)
            yield Face(layered(name), base.bold, arrow, subs[0] if subs else (), above, extent)
        elif isinstance(base, (tr.Group, tr.Env)):
            yield from faces_in(source, base.items, extent)
        for run in (*(base.arguments if isinstance(base, tr.Command) else ()), *subs):
            yield from faces_in(source, run, extent)
        for run in sups:
            yield from faces_in(source, run, extent or str(base) == "R_bb")


@dataclass(frozen=True)
class Faces:
    """What the faces of the letters, and the words about them, say of their axes."""

    bold: Mapping[str, int]  # axes of letters that are set bold
    ranks: Mapping[str, int]  # of those, and of letters that words speak of
    numbered: frozenset[str]  # whose subscripts number whole vectors: bold x_n
    accented: frozenset[str]  # of those, c̃ of c̃_n
    raised: frozenset[str]  # whose superscripts do: bold x^{(n)}
    unsaid: frozenset[str]  # plain beside bold, b_2 beside a bold b_1
    unnamed: frozenset[str]  # sizes that a vector has the letter of

    @staticmethod
    def of(trees: Sequence[tuple[Source, tr.Items]], said: Mapping[str, int]) -> Faces:
        each = [(items, tuple(faces_in(source, items))) for source, items in trees]
        found = [face for _, faces in each for face in faces]
        bold, plain = [f for f in found if f.bold], [f for f in found if not f.bold]
        ranks = {f.key: f.rank for f in bold}
        entries = any(_has_entries(source, items) for source, items in trees)
        numbered = set() if entries else {f.name for f in bold if f.sub} - {f.name for f in plain if f.sub}
        shown = [f for items, faces in each if len(items) > 1 for f in faces]
        elsewhere = {f.name for f in shown if not (f.bold or f.sub or f.extent)}
        numbered -= {n for n, r in said.items() if not r}
        return Faces(ranks, {**ranks, **said}, frozenset(numbered),
                     frozenset(f.name for f in bold if f.name in numbered and f.key != f.name and f.rank == 1),
                     frozenset(f.name for f in bold if f.above is not None),
                     frozenset(_plain_beside(bold, plain) - said.keys()),
                     frozenset({f.name for f in bold} & {f.name for f in found if f.extent} - elsewhere))


def _plain_beside(bold: Iterable[Face], plain: Iterable[Face]) -> set[str]:
    r"""b_2 beside \mathbf{b}_1, w_0 beside \mathbf{w}: its face says of no vector, so its equation has to."""
    numbers: dict[str, set[str]] = {}
    others: dict[str, set[str]] = {}
    for face in bold:
        numbers.setdefault(face.name, set()).add(face.number or "")
    for face in plain:
        if face.number:
            others.setdefault(face.name, set()).add(face.number)
    biases = {f"{name}_0" for name, own in others.items() if numbers.get(name) == {""} and own == {"0"}}
    return biases | {f"{name}_{number}" for name, own in others.items() if "" not in numbers.get(name, {""})
                     for number in own - numbers[name]}


def _has_entries(source: Source, items: tr.Items) -> bool:
    r"""\sum_j \mathbf{W}_{ij} \mathbf{x}_j: what is bold are entries."""
    last = {names[-1] for face in faces_in(source, items) if face.bold and len(names := [*tr.names_in(face.sub)]) == 2}
    sums = (i for item in items for i in tr.inside(item) if isinstance(i, tr.Scripted) and tr.is_token(i.base, "BIG")
            and str(i.base) in ("sum", "prod") and i.subs)
    return any(name in last for total in sums for name in [*tr.names_in(total.subs[0])][:1])
