"""A batch in words: how many samples, of what rows or columns, and whether a loss is their mean or their sum."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import field

from derive.errors import CardError, Problem
from derive.layers.samples import Samples
from derive.notation.rules.kinds import equates
from derive.question.letters.naming import bare_letters
from derive.question.parts.recognised import LOSSES
from derive.question.words.lexicon import NUMBERS, Span, named, only
from derive.question.words.prose import Gap, Prose
from derive.records import dataclass

_NUMBER = re.compile(r"\s*(\d+)\s*")
_COUNT_BEFORE = re.compile(r"\b(\d+)((?:\s+[\w-]+){0,2}\s+)$")
_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*\^\s*\{([^{}]*\\times[^{}]*)\}")
_NEAR = 70  # characters between a sum and what it runs over


@dataclass(frozen=True)
class Batch:
    """The samples, the letter of the matrix that holds them where there is one, and the words that say so."""

    samples: Samples
    matrix: str | None
    places: tuple[tuple[int, int], ...] = field(default=(), hash=False)
    start: int = 0


def batch_said(prose: Prose, lossy: bool, taken: Collection[str] = ()) -> Batch | None:
    """The batch that the words speak of; None where they speak of none, or of a single sample.

    ``lossy``: the layers end in a loss; ``taken`` are letters of theirs, none of which is the input.  Raises
    :class:`CardError` where two sizes are said, or how the loss takes the samples is not.
    """
    return _Reader(prose, taken).batch(lossy)


class _Reader:
    def __init__(self, prose: Prose, letters: Collection[str]) -> None:
        self.prose, self.text = prose, prose.text
        self.letters = letters
        self.places: list[tuple[int, int]] = []

    def batch(self, lossy: bool) -> Batch | None:
        marks = named(self.text, "samples.of", "samples.batch")
        if not marks:
            return None
        sizes = dict.fromkeys(filter(None, map(self.size, marks)))
        how = dict.fromkeys(self.taken(marks))
        if not how and named(self.text, "samples.single"):
            return None
        if len(sizes) > 1:
            first, second = [*sizes][:2]
            raise self.unclear(marks[0], f": are there `{first}` samples, or `{second}`?")
        if lossy and len(how) != 1:
            raise self.unclear(marks[0], ": is the loss the mean over the samples, or their sum? Write e.g. “averaged "
                               "over the samples”, or the forward formulas")
        size = next(iter(sizes), "")
        matrix, last = self.matrix(size)
        loss = next(iter(how)) if lossy else ""
        return Batch(Samples(size, loss, last), matrix, tuple(self.places), marks[0].start)

    def unclear(self, at: Span, why: str) -> CardError:
        quoted = self.prose.plain.quote(at.start, at.stop)
        return CardError(Problem(f"“{quoted}”{why}", line=self.prose.plain.line(at.start), key="forward"))

    def size(self, mark: Span) -> str | None:
        """N of «$N$ training samples», «batch of $N$», «batch size $N$»; the words between are small."""
        self.places.append((mark.start, mark.stop))
        for gap in self.prose.gaps:
            before = gap.start < mark.start and self.small(gap.start + 1, mark.start)
            behind = mark.of("samples.batch") and gap.start >= mark.stop and self.small(mark.stop, gap.start)
            if (before and mark.of("samples.of") or behind) and (found := _counted(gap)):
                self.places.append((min(gap.start, mark.start), max(gap.start + 1, mark.stop)))
                return found
        said = _COUNT_BEFORE.search(self.text, self.prose.sentence(mark.start)[0], mark.start)
        if said and mark.of("samples.of") and self.small(said.start(2), mark.start):
            self.places.append((said.start(), mark.stop))
            return said[1]
        for number in named(self.text, *NUMBERS) if mark.of("samples.of") else ():
            if self.prose.sentence(mark.start)[0] <= number.start < mark.start and self.small(number.stop, mark.start):
                self.places.append((number.start, mark.stop))
                return number.concept.partition(".")[2]
        return None

    def small(self, start: int, stop: int) -> bool:
        return only(self.text, start, stop, "neutral.batch", "samples.of", "samples.batch")

    def taken(self, marks: tuple[Span, ...]) -> Iterator[str]:
        """Mean or sum: «averaged over the $N$ samples», «the mean loss», «the average of the losses»."""
        heads = named(self.text, "head.loss", "part")
        for span in named(self.text, "samples.mean", "samples.sum", "samples.total"):
            _, stop = self.prose.sentence(span.start)
            over = next((s for s in named(self.text, "neutral.over") if span.stop <= s.start < stop), None)
            mark = next((m for m in marks if over and over.stop <= m.start < min(stop, span.stop + _NEAR)
                         and self.small_but_gaps(over.stop, m.start)), None)
            near = over is not None and only(self.text, span.stop, over.start, "neutral.batch", "head.loss", "part")
            head = next((h for h in heads if h.start >= span.start and self.small(span.stop, max(h.start, span.stop))
                         and _is_loss(h)), None)
            if mark is not None and near:
                self.places.append((span.start, mark.stop))
            elif head is not None:
                self.places.append((span.start, max(span.stop, head.start)))
            if span.of("samples.total") and (mark is None or not near) or mark is None and head is None:
                continue  # «the total loss» may be a mean
            yield "mean" if span.of("samples.mean") else "sum"

    def small_but_gaps(self, start: int, stop: int) -> bool:
        return all(self.small(start + m.start(), start + m.end()) for m in re.finditer(r"[^∎]+", self.text[start:stop]))

    def matrix(self, size: str) -> tuple[str | None, bool]:
        r"""X of «the rows of $X$» and of $X \in \mathbb{R}^{N \times D}$, and whether the samples are its columns."""
        for span in named(self.text, "samples.rows", "samples.columns"):
            start, stop = self.prose.sentence(span.start)
            near = [g for g in self.prose.gaps if start <= g.start < stop and self.input(g)
                    and g.formula.latex.strip() != size]
            behind = [g for g in near if g.start > span.stop and self.small(span.stop, g.start)]
            if near:
                self.places.append((span.start, span.stop))
                return bare_letters((behind or near)[0].formula)[0], span.of("samples.columns")
        for gap in self.prose.gaps:
            space = _SPACE.search(gap.formula.latex)
            extents = [part.strip() for part in space[1].split(r"\times")] if space else []
            if size and extents.count(size) == 1 and self.input(gap):
                return bare_letters(gap.formula)[0], extents[-1] == size
        return None, False

    def input(self, gap: Gap) -> bool:
        """One letter that is none of the layers'."""
        bare = bare_letters(gap.formula)
        return len(bare) == 1 and bare[0] not in self.letters and not equates(gap.formula)


def _counted(gap: Gap) -> str | None:
    number = _NUMBER.fullmatch(gap.formula.latex)
    bare = bare_letters(gap.formula)
    plain = len(bare) == 1 and gap.formula.latex.strip() == bare[0]
    return number[1] if number else bare[0] if plain else None


def _is_loss(span: Span) -> bool:
    return span.of("head.loss") or span.concept.partition(".")[2] in LOSSES
