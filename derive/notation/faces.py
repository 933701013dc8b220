"""What the faces of the letters say of their axes: bold small letters are vectors, bold capitals matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from derive.notation import tree as tr
from derive.notation.occurrences import Occurrence, Occurrences
from derive.notation.symbols import ACCENTS, layered
from derive.records import dataclass


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
    def of(seen: Occurrences, said: Mapping[str, int]) -> Faces:
        bold: dict[str, list[Occurrence]] = {}
        plain: dict[str, list[Occurrence]] = {}
        for o in seen.all:
            (bold if o.bold else plain).setdefault(layered(o.name), []).append(o)
        open_ = {*_of_vectors(seen)}
        keys = {_key(o): o.bold for n, own in bold.items() for o in own if n not in open_}
        numbered = {n for n, own in bold.items() if any(o.sub for o in own) and not any(
            o.sub for o in plain.get(n, ())) and said.get(n, 1)}
        if seen.summed & {
                names[-1] for own in bold.values() for o in own if len(names := [*tr.names_in(o.sub or ())]) == 2}:
            numbered = set()  # \sum_j \mathbf{W}_{ij} \mathbf{x}_j: what is bold are entries
        many = {n[:-1]: rank for n, rank in said.items() if n.endswith("_")}  # «vectors $h_t$»
        said = {n: rank for n, rank in said.items() if not n.endswith("_")}
        numbered |= many.keys()
        extents = {name for _, extents in seen.shapes for e in extents for name in tr.names_in(e)}
        values = {n for n, own in plain.items() if any(not (o.sub or o.at.extent or o.at.cond) for o in own)}
        return Faces(
            keys, {**keys, **said, **many}, frozenset(numbered),
            frozenset(n for n in numbered if any(_key(o) != n and o.bold == 1 for o in bold.get(n, ()))),
            frozenset(n for n, own in bold.items() if any(o.above is not None and o.above.islower() for o in own)),
            frozenset(_plain_beside(bold, plain) - said.keys()), frozenset(bold.keys() & extents - values))


def _of_vectors(seen: Occurrences) -> Iterable[str]:
    """A bold capital that an equation computes from vectors, as a gate T = σ(W x + b), is what the equation says."""
    for d in seen.definitions:
        base = tr.base_of(d.left[0]) if len(d.left) == 1 else None
        if tr.is_token(base, "NAME") and base.bold == 2 and any(
                tr.is_token(i, "NAME") and i.bold == 1 for item in d.right for i in tr.inside(item)):
            yield layered(base.text)


def _key(o: Occurrence) -> str:
    """c̃_t with its label: a vector if t is a step, not if it is an index."""
    name = layered(o.name)
    accented = name.rpartition("_")[2] in ACCENTS.values() and o.sub
    return f"{name}_{''.join(map(str, tr.unwrap(o.sub or ())))}" if accented else name


def _plain_beside(bold: Mapping[str, Iterable[Occurrence]], plain: Mapping[str, Iterable[Occurrence]]) -> set[str]:
    r"""b_2 beside \mathbf{b}_1, w_0 beside \mathbf{w}: its face says of no vector, so its equation has to."""
    found: set[str] = set()
    for name in bold.keys() & plain.keys():
        numbers, others = ({_number(o) for o in own[name]} for own in (bold, plain))
        numbers, others = {n or "" for n in numbers}, {n for n in others if n}
        if numbers == {""}:
            found |= {f"{name}_0"} if others == {"0"} else set()
        elif "" not in numbers:
            found |= {f"{name}_{n}" for n in others - numbers}
    return found


def _number(o: Occurrence) -> str | None:
    """1 of b_1, nothing of b."""
    sub = tr.unwrap(o.sub or ())
    return "" if not sub else str(sub[0]) if len(sub) == 1 and tr.is_token(sub[0], "NUMBER") else None
