"""What a question's words say of its windows: chunks (numbers and nouns of the lexicon), then one meaning a number."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise

from derive.question.words.lexicon import only, phrases
from derive.question.words.prose import PlainText, plain_text
from derive.records import dataclass

Size = tuple[int, ...]
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:'[^\W\d_]+)?|(?<![\w)])-(?=\d)|[^\w\s\"'“”-]")
_ENDS = frozenset(".;?!¶")
# phrases that stand for themselves, with their value, under the name of what they say
_FIXED: dict[str, tuple[str, Size | str]] = {
    "unit_stride": ("stride", (1,)), "no_padding": ("padding", (0,)), "no_dilation": ("dilation", (1,)),
    "disjoint": ("disjoint", ""), "overlapping": ("overlapping", ""), "ceil_mode": ("ceil_mode", ""),
    "same": ("same", ""), "whole": ("whole", "global"), "adaptive": ("adaptive", "adaptive"),
    "unpooling": ("unpooling", ""), "layer": ("other layer", ""), "dilated": ("dilation without number", ""),
    "dilation": ("dilation without number", ""),
}  # fmt: skip
# what has a number beside its nouns, unless one of these words settles it
_COUNTED = (("padding", ("padding", "padded"), ("same", "no_padding")),
            ("stride", ("stride",), ("unit_stride", "disjoint", "overlap")))
_ONLY = re.compile(r"\b(?:only|just|exactly|precisely)(?: (?:to|at))?\s*\Z")  # «attained at exactly one pixel»
_CHANNEL = re.compile(r"\s+(?:input )?channel\b")
_DOES = re.compile(r"\s+[a-z]+ (?:can|may|could|might|wins|learns|lies|belongs)\b")  # «one pixel can win twice»
_OF_A_WINDOW = ("kernel_size", "stride", "padding", "padding at ends", "dilation")


@dataclass(frozen=True)
class Found:
    """A value (sizes, or a word) with the words that say it and their line."""

    value: Size | str
    quote: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: “{self.quote}”"


@dataclass(frozen=True)
class Words:
    """All that was found, by what it is about, in the order of the text."""

    found: tuple[tuple[str, Found], ...]
    plain: PlainText
    rank: int | None  # the axes that the words give the input: «image», «signal»

    def about(self, what: str) -> tuple[Found, ...]:
        return tuple(f for name, f in self.found if name == what)


def rank_said(words: Words) -> int:
    """How many axes the sizes or the words give the input; two where they say nothing."""
    sizes = [f.value for what in ("kernel_size", "stride", "target", "input_size") for f in words.about(what)]
    counts = [len(value) for value in sizes if len(value) > 1]
    return counts[0] if counts else 1 if words.about("length") else words.rank or 2


def words_of(source: str, first_line: int = 1, known: Mapping[str, int] | None = None) -> Words:
    """The sizes and kinds that a question's prose names (``known`` as in :func:`plain_text`); nothing is decided."""
    plain = plain_text(source, first_line, known)
    text = _chunked(plain.text)
    said = sorted(text.of_pooling([*text.measures, *text.phrases_alone()]), key=lambda s: (s.start, -s.stop, s.what))
    found = tuple((s.what, Found(s.value, plain.quote(s.start, s.stop), plain.line(s.start))) for s in said)
    rank = next((n for n in (1, 3, 2) if any(c.of(f"rank_{n}") for c in text.chunks)), None)
    return Words(found, plain, rank)


def unmeasured(text: str) -> Iterator[int]:
    """Where numbers begin that measure nothing of windows."""
    chunked = _chunked(text)
    spans = [(s.start, s.stop) for s in chunked.measures]
    for before, chunk in pairwise((_NOTHING, *chunked.chunks)):
        lone = chunk.value == (1,) and _CHANNEL.match(text, chunk.stop)
        if chunk.of("count") and not (lone or before.of("option") or any(a <= chunk.start < b for a, b in spans)):
            yield chunk.start


@dataclass(frozen=True)
class Chunk:
    """A number, a pair, 2×2, a phrase of the lexicon, a sign or a word, and where it stands."""

    kinds: frozenset[str]
    start: int
    stop: int
    value: Size = ()

    def of(self, *kinds: str) -> bool:
        return not self.kinds.isdisjoint(kinds)


@dataclass(frozen=True)
class Said:
    """What a place of the text says of a window."""

    what: str
    start: int
    stop: int
    value: Size | str


_NOTHING = Chunk(frozenset(), -1, -1)


class _Text:
    """The chunks of a text, and what its numbers mean."""

    def __init__(self, text: str) -> None:
        self.text = text
        crossed = _joined(_across(_chunks(text)), "dims", "times")
        self.chunks = _joined(_joined(crossed, "pair", ",", "(", ")"), "pair", ",", "[", "]")

    def at(self, n: int) -> Chunk:
        return self.chunks[n] if 0 <= n < len(self.chunks) else _NOTHING

    def skip(self, n: int, step: int, *kinds: str, most: int = 9) -> int:
        """The first place from n on, forwards or back, that is none of these kinds."""
        while most and self.at(n).of(*kinds):
            n, most = n + step, most - 1
        return n

    def noun(self, n: int, kinds: Sequence[str], *over: str, most: int = 5) -> int:
        """The last of the chunks from n on that is of these kinds, over others; -1 where none is."""
        run = range(n, self.skip(n, 1, *kinds, *over, most=most))
        return max((k for k in run if self.at(k).of(*kinds)), default=-1)

    def links(self, n: int) -> int:
        """The place of the noun in front of n: over «is», «of», «=», brackets and «K =»."""
        while self.at(n).of("link", "(", "both") or (self.at(n).of("word") and self.at(n + 1).of("=")
                                                      and self.at(n).stop - self.at(n).start < 3):
            n -= 1
        return n

    def value(self, n: int) -> tuple[Size, int]:
        """The sizes from chunk n on, «2 and 1 along …» too, and their last chunk."""
        sizes, last, listed = self.at(n).value, n, self._lists.get(n, n)
        ends = self.at(listed + 3)
        if self.at(n).of("count") and self.at(listed + 1).of("and") and self.at(listed + 2).of("count") and (
                ends is _NOTHING or ends.of(*_ENDS, ",", ":", ")", "along", "and")):
            last = listed + 2
            sizes = tuple(v for c in self.chunks[n : last + 1] for v in c.value)
        return sizes, last

    @cached_property
    def _lists(self) -> dict[int, int]:
        """The last number of the list by commas from a chunk on."""
        found = dict[int, int]()
        for n in reversed(range(len(self.chunks) - 2)):
            if self.at(n + 1).of(",") and self.at(n + 2).of("count"):
                found[n] = found.get(n + 2, n + 2)
        return found

    @cached_property
    def measures(self) -> tuple[Said, ...]:
        """Each number with its noun."""
        said, last, sides = [*self._literals()], -1, {}
        ends = [s for s in said if s.what == "padding at ends"]
        directions = [c for c in self.chunks if c.of("direction")]
        for n, chunk in enumerate(self.chunks):
            inside = n <= last or any(s.start <= chunk.start < s.stop for s in ends)
            if inside or not chunk.of("count", "dims", "pair"):
                continue
            if behind := self._sides(n):
                sides[n] = behind
                continue
            sizes, final = self.value(n)
            rules = (self._before, self._behind) if chunk.of("count") else (self._behind, self._before)
            found = next((f for rule in rules if (f := rule(n, final)) is not None), None)
            one = chunk.value == (1,)
            lone = one and (_ONLY.search(self.text[: chunk.start]) or _DOES.match(self.text, chunk.stop))
            if found is None and chunk.of("count") and (lone or not self.at(final + 1).of("cell")):
                continue
            what, first, last = found or ("number", n, final)
            item = Said(what, self.at(min(first, n)).start, self.at(max(last, final)).stop, sizes)
            last = final
            said.append(item)
            if what in ("kernel_size", "stride", "padding") and any(
                    c.stop > item.start - 12 and c.start < item.stop + 16 for c in directions):
                said.append(replace(item, what="direction"))
        return *said, *self._at_sides(sides)

    def _behind(self, n: int, last: int) -> tuple[str, int, int] | None:
        """2×2 windows, a 4×4 input, 3×3/2, two-pixel stride."""
        here, thing = self.at(n), self.skip(last + 1, 1, "thing", most=1)
        if here.of("count"):
            if thing > last + 1 and self.at(thing).of("apart"):
                return "stride", n, thing
            border = self.skip(thing, 1, "wide", most=2)
            for what, k, kind in (("stride", thing, "stride"), ("padding", border, "border"),
                                  ("padding", border, "padding"), ("dilation", thing, "dilated"),
                                  ("target", self.skip(last + 1, 1, "pooled"), "output")):
                if self.at(k).of(kind):
                    return what, n, k
            return ("length", n, thing) if thing > last + 1 and self.at(thing).of("window", "pool") else None
        window = self.noun(last + 1, ("window", "pool"), "adjective", "max", "min", "other")
        given = self.noun(last + 1, ("input",), "of_input")
        output = self.skip(last + 1, 1, "pooled")
        before = self.links(n - 1)
        if self.at(before).of("window") and self.at(last + 1).of("thing", "neighbouring"):
            return "kernel_size", before, last + 1  # windows of 2×2 inputs
        if window > 0:
            return "kernel_size", n, window
        if given > 0 and not self.at(given + 1).of("pixel"):
            return "input_size", n, given
        if self.at(output).of("output"):
            return "output_size", n, output
        if self.at(last + 1).of("/") and self.at(last + 2).of("count"):
            return "kernel_size", n, last + 2
        strided = self.at(n - 1).of("(") and self.at(last + 1).of(",", ";") and self.at(
            self.skip(last + 2, 1, "link")).of("stride")
        return ("kernel_size", n, last) if strided else None

    def _before(self, n: int, last: int) -> tuple[str, int, int] | None:
        """Stride 2, a window of size 3×3, an input of length 8, moved by 2, padded by one cell."""
        here = self.at(n)
        noun = self.links(n - 1)
        kind = self.at(noun)
        thing = self.skip(last + 1, 1, "neighbouring", most=1)
        things = self.at(thing).of("thing") and not self.at(thing + 1).of("apart")
        whole = here.of("dims", "pair")
        if kind.of("size", "length", "side_noun") and (found := self._sized(noun, n)) is not None:
            return found
        if kind.of("/") and self.at(noun - 1).of("dims"):
            return "stride", noun - 1, n
        for what in ("stride", "padding", "dilation", "overlap"):
            if kind.of(what):
                return what, noun, n
        if kind.of("by") and self.at(noun - 1).of("dilated"):
            return "dilation", noun - 1, n
        if kind.of("window", "pool"):
            size = self.skip(noun - 1, -1, "link", "max", "min", "other", "adjective")
            if self.at(size).of("size") and self.at(size + 1).of("link"):
                return "kernel_size", size, n
            lettered = self.at(n - 1).of("=") and self.at(n - 2).of("word")
            if whole or lettered or (noun == n - 1 and kind.of("window")):
                return "kernel_size", noun, n
            return ("length", noun, n + 1) if things else None
        counted = whole or (kind.of("signal") and things)
        if kind.of("input") and counted and not self.at(noun - 1).of("output", "pooled"):
            return "input_size", noun, n
        return self._named(noun, n, things) if whole or things else self._moved(n)

    def _sized(self, size: int, n: int) -> tuple[str, int, int] | None:
        """«the window $Ω$ has length 3»: what the size is of."""
        noun = self.skip(size - 1, -1, "link", "gap")
        kind, lengths = self.at(noun), self.at(size).of("length")
        counted = self.at(n).of("count")
        if kind.of("window", "pool"):
            return ("length" if lengths and counted else "kernel_size"), noun, n
        if kind.of("input") and not self.at(noun - 1).of("output"):
            return "input_size", noun, n
        return ("target", noun, n) if kind.of("output") else None

    def _named(self, noun: int, n: int, things: bool) -> tuple[str, int, int] | None:
        """«the windows $Ω(k, l)$ are 2×2», «the window of the output $y_k$, here of size 3×2», «$Ω$ has 3 inputs»."""
        gap = noun
        while self.at(gap).of("link", "adjective", ",", "here", "size", "and", "each", "that"):
            gap -= 1
        if self.at(n).of("count"):
            if not (self.at(noun).of("gap") and noun < n - 1):
                return self._moved(n)
            return ("input_size" if self.at(noun - 1).of("signal") else "length"), noun, n + 1
        if self.at(gap).of("gap") and gap < n - 1:
            owner = self.skip(gap - 1, -1, "link", "output", "thing") if self.at(gap + 1).of(",") else gap - 1
            here = owner == gap - 1 or any(self.at(k).of("here") for k in range(gap, n))
            if self.at(owner).of("window", "pool") and here:
                return "kernel_size", owner, n
            whose = self.skip(gap - 1, -1, "link")
            if self.at(whose).of("output") or (self.at(whose).of("input") and not self.at(whose - 1).of("output")):
                return "output_size" if self.at(whose).of("output") else "input_size", whose, n
        listed = self.at(noun).of(",") and self.at(noun - 1).of("window", "pool")
        return ("kernel_size", noun - 1, n) if listed else self._moved(n)

    def _moved(self, n: int) -> tuple[str, int, int] | None:
        """«moved by 2», «slides two cells at a time», «padded with a border of one zero», «adaptive pooling to 3»."""
        by = self.skip(n - 1, -1, "link", "border")
        first = next((k for k in range(n - 1, max(-1, n - 8), -1) if self.at(k).of(
            "move", "padded", "adaptive", *_ENDS, ",", "count", "dims", "stride", "window")), -1)
        kind = self.at(first)
        given = any(self.at(k).of("by") for k in range(max(by, first), n))
        if kind.of("adaptive"):
            return ("target", first, n) if any(self.at(k).of("to") for k in range(first, n)) else None
        if kind.of("move") and n - first < 6 and (given or self.at(n + 1).of("thing")):
            return "stride", first, n
        return ("padding", first, n) if kind.of("padded") and given else None

    def _sides(self, n: int) -> list[str]:
        """The sides behind a number of cells: «one cell on the left and right»."""
        k = self.skip(n + 1, 1, "thing", "padding", "wide", "link")
        found: list[str] = []
        while self.at(k).of("side") and self.at(n).of("count"):
            found.append(self.text[self.at(k).start : self.at(k).stop])
            k = self.skip(k + 1, 1, "and", ",", "link", "side_noun")
        return found

    def _at_sides(self, sides: Mapping[int, Sequence[str]]) -> Iterator[Said]:
        """The cells at each end, a sentence at a time: 1 left 2 bottom."""
        for n in sides:
            start = self.chunks[n].start
            begins = max(self.text.rfind(end, 0, start) for end in _ENDS)
            if any(begins < self.chunks[m].start < start for m in sides):
                continue
            ends = next((c.start for c in self.chunks[n:] if c.of(*_ENDS)), len(self.text))
            mine = [m for m in sides if start <= self.chunks[m].start < ends]
            padded = [c for c in self.chunks if begins < c.start < ends and c.of("padding", "padded")]
            if padded:
                value = " ".join(f"{self.chunks[m].value[0]} {side}" for m in mine for side in sides[m])
                last = self.chunks[mine[-1]].stop
                yield Said("padding at ends", min(padded[0].start, start), max(padded[0].stop, last), value)

    def _literals(self) -> Iterator[Said]:
        """Padding ((0, 1), 2)."""
        for n, chunk in enumerate(self.chunks):
            first = self.at(self.skip(n + 1, 1, "link"))
            if chunk.of("padding") and first.of("("):
                values = (self.text[first.start : stop + 1] for stop in range(first.start, len(self.text)))
                value = next((v for v in values if v.count("(") == v.count(")")), "")
                if value.count("(") > 1:
                    yield Said("padding at ends", chunk.start, first.start + len(value), value)

    def phrases_alone(self) -> Iterator[Said]:
        """What needs no number: «non-overlapping», «same padding», kinds of pooling."""
        for n, chunk in enumerate(self.chunks):
            for what, value in (_FIXED[kind] for kind in chunk.kinds if kind in _FIXED):
                inside = any(s.start <= chunk.start < s.stop and s.what == "dilation" for s in self.measures)
                if not inside or what != "dilation without number":
                    yield Said(what, chunk.start, chunk.stop, value)
            kind = next((k for k in ("max", "min", "other") if chunk.of(k)), None)
            if kind and self.at(n + 1).of("pool", "pooled") and not self._compared(chunk.start):
                word = self.text[chunk.start : chunk.stop]
                yield Said("pooling", chunk.start, self.at(n + 1).stop, word if kind == "other" else kind)
            if chunk.of("count") and self.at(n + 1).of(*_EXTENTS) and not self._sides(n):
                yield Said("extent", chunk.start, self.at(n + 1).stop, chunk.value)
        as_window = [*self._as_window()]
        yield from as_window
        for what, nouns, settled in _COUNTED:
            counted = any(s.what.startswith(what) for s in (*self.measures, *as_window))
            if not counted and not any(c.of(*settled) for c in self.chunks):
                yield from (Said(f"{what} without number", c.start, c.stop, self.text[c.start : c.stop])
                            for c in self.chunks if c.of(*nouns))

    def _as_window(self) -> Iterator[Said]:
        """«stride equal to the kernel size»"""
        for n, chunk in enumerate(self.chunks):
            last = self.skip(n + 1, 1, "link", "same_as")
            if chunk.of("stride") and last > n + 1 and self.at(last).of("window", "pool"):
                yield Said("stride", chunk.start, self.at(last).stop, "kernel_size")

    def _compared(self, at: int) -> bool:
        """«unlike ordinary max pooling», «lies between sum pooling and max pooling»: another layer."""
        last = bisect_right(self._comparisons, at) - 1
        between = self.text[self._comparisons[last] : at] if last >= 0 else ""
        return last >= 0 and only(between, 0, len(between), "small.article", *(f"geometry.{name}" for name in (
            "plain", "max", "min", "other", "pool", "and")))

    @cached_property
    def _comparisons(self) -> list[int]:
        """Where «unlike», «than» and the like end, in order."""
        return sorted(c.stop for c in self.chunks if c.of("compared"))

    def of_pooling(self, said: Sequence[Said]) -> list[Said]:
        """Where a convolution's window is given besides the pooling's: what is said without that of the convolution."""
        sizes = [s for s in said if s.what in _OF_A_WINDOW]
        other = [s for s in sizes if self._named_layers[bisect_right(self._named_layers, (s.stop, False)) - 1][1]]
        if {s in other for s in sizes if s.what == "kernel_size"} != {True, False}:
            return list(said)
        given = {s.what for s in sizes if s not in other}
        unclear = [Said("which layer", s.start, s.stop, s.what) for s in other if s.what not in given]
        return [s for s in said if s not in other] + unclear

    @cached_property
    def _named_layers(self) -> list[tuple[int, bool]]:
        """(place, whether it is a convolution) from which on a sentence speaks of a layer; it begins with none."""
        found = [(c.stop, c.of("convolution")) for c in self.chunks if c.of("convolution", "pool", "pooled")]
        ends = [(c.stop, False) for c in self.chunks if c.of(".", "?", "!", "¶")]
        return sorted([(0, False), *found, *ends])


@lru_cache(maxsize=8)
def _chunked(text: str) -> _Text:
    """Asked for by each way to read a question."""
    return _Text(text)


def _chunks(text: str) -> list[Chunk]:
    """The tokens of a text, those of a phrase together, numbers with their value."""
    tokens = [*_TOKEN.finditer(text)]
    words = tuple(t[0] for t in tokens)
    named: dict[int, tuple[int, set[str]]] = {}
    for n, length, concept in phrases(words, "geometry"):
        named.setdefault(n, (length, set()))[1].add(concept.partition(".")[2])
    found, n = [], 0
    while n < len(tokens):
        length, kinds = named.get(n, (1, set()))
        sign = words[n] == "-"  # before a digit
        digits = next(filter(str.isdigit, kinds), words[n + sign] if length == 1 else "")
        n, first = n + sign, tokens[n].start()
        stop = tokens[n + length - 1].end()
        value: Size = ()
        if digits.isdecimal() and len(digits) < 5 and text[stop : stop + 1] != "s":
            kinds, value = {"count"}, (-int(digits) if sign else int(digits),)
        elif words[n] == "∎":
            kinds = {"gap"}
        found.append(Chunk(frozenset(kinds | {words[n]} if not words[n].isalnum() else kinds or {"word"}), first, stop,
                           value))
        n += length
    return found


def _across(chunks: Sequence[Chunk]) -> list[Chunk]:
    """7 rows and 9 columns, two rows high and three columns wide, 5 pixels high by 7 wide: 7×9, 2×3, 5×7."""
    found: list[Chunk] = []
    n = 0
    while n < len(chunks):
        first, stop = _extent(chunks, n)
        over = stop + (stop < len(chunks) and chunks[stop].of("and", ",", "by", "times"))
        second, last = _extent(chunks, over)
        if first and second and first != second:
            counts = (chunks[n], chunks[over]) if first == "rows" else (chunks[over], chunks[n])
            found.append(Chunk(frozenset({"dims"}), chunks[n].start, chunks[last - 1].stop,
                               tuple(v for c in counts for v in c.value)))
            n = last
        else:
            found.append(chunks[n])
            n += 1
    return found


_EXTENTS = ("rows", "columns")


def _extent(chunks: Sequence[Chunk], n: int) -> tuple[str, int]:
    """What a number from n on counts, rows or columns, and where that ends: «two rows high», «5 pixels wide»."""
    if n >= len(chunks) or not chunks[n].of("count"):
        return "", n
    stop = n + 1
    while stop < len(chunks) and chunks[stop].of("thing", *_EXTENTS):
        stop += 1
    what = {kind for c in chunks[n + 1 : stop] for kind in _EXTENTS if c.of(kind)}
    return (what.pop(), stop) if len(what) == 1 else ("", n)


def _joined(chunks: Sequence[Chunk], kind: str, between: str, opening: str = "", closing: str = "") -> list[Chunk]:
    """2 × 2, or (2, 2), as one."""
    found: list[Chunk] = []
    n = 0
    while n < len(chunks):
        first = last = n + bool(opening)
        kinds = ("count", between, "count")
        while (not opening or chunks[n].of(opening)) and last + 2 < len(chunks) and all(
                map(Chunk.of, chunks[last : last + 3], kinds)):
            last += 2
        ends = chunks[n], chunks[min(last + bool(closing), len(chunks) - 1)]
        if last > first and (not opening or ends[1].of(closing)):
            sizes = tuple(v for c in chunks[first : last + 1] for v in c.value)
            found.append(Chunk(frozenset({kind}), ends[0].start, ends[1].stop, sizes))
            n = last + bool(closing) + 1
        else:
            found.append(chunks[n])
            n += 1
    return found
