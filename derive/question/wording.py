"""What a question's words say of its layer, as patterns: window, stride, padding, input, kind of pooling."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from derive.question.prose import PlainText, plain_text
from derive.records import dataclass

NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "jedna": 1, "jednu": 1, "jeden": 1, "dva": 2, "dvě": 2, "tři": 3, "čtyři": 4, "pět": 5,
}  # fmt: skip
N = rf"(?:(?<![\d.])-?\d{{1,4}}(?!\d|\.\d)|\b(?:{'|'.join(NUMBERS)})\b)"
_BY = r"[\s-]*(?:x|×|\*|\bby\b|\bkrát\b)[\s-]*"
DIMS = rf"{N}(?:{_BY}{N}){{1,3}}"
PAIR = rf"[(\[]\s*{N}(?:\s*,\s*{N})+\s*[)\]]"
AND = rf"{N}\s+(?:and|a)\s+{N}(?=\s*(?:[.,;:)¶]|in\b|along\b|resp|for\b|$))"
ALONE = rf"{N}(?!{_BY}{N})"
VALUE = rf"(?:{DIMS}|{PAIR}|{AND}|{ALONE})"
_OPEN = r"\s*(?:\((?![^()]*,))?\s*"  # a parenthesis that opens a remark, not a pair
IS = (
    rf"{_OPEN}(?:(?:is|are|be|of|to|a|the|equals?|equal|set|=|:|(?<=\w)-|with|has|je|o|rovn\w+|both){_OPEN}){{0,4}}"
    r"(?:[a-z]\w?\s*=\s*)?"
)
OF = r"(?:(?:of|with|has|have|is|are|a|the|o|der) )*"
SIZE = r"(?:sizes?|shapes?|dimensions?|extents?|velikost\w*|rozměr\w*|größe)"
LENGTH = r"(?:lengths?|délk\w*|délce)"
KIND = r"(?:max(?:imum|imal|imový|imové)?|min(?:imum|imal|imový|imové)?|average|avg|mean|sum|l2|lp|median|stochastic)"
_PLAIN_WINDOW = (
    r"(?:kernels?|windows?|filters?|receptive fields?|(?:sub-?)?regions?|neighbou?rhoods?|blocks?|patch(?:es)?|masks?"
    r"|squares?|cubes?|boxes|areas?|tiles?|structuring elements?|okn\w*|oken|jádr\w*|jader|filtr\w*"
    r"|oblast\w*|blok\w*|fenster\w*)"
)
WINDOW = (
    rf"(?:{_PLAIN_WINDOW}|(?:{KIND}[ -]?)?pool(?:ing|er|ed|s)?(?: layers?| operations?| units?)?"
    r"|sub-?sampling|down-?sampling)"
)
ADJECTIVES = (
    r"(?:(?:non-?overlapping|overlapping|disjoint|square|rectangular|spatial|sliding|local|pixel|adjacent|contiguous"
    rf"|receptive|pooling|{KIND})[ -]+){{0,4}}"
)
INPUT = (
    r"(?:inputs?|images?|feature maps?|input maps?|matri(?:x|ces)|arrays?|grids?|tensors?|signals?"
    r"|vstup\w*|obráz\w*|obraz\w*|matic\w*)"
)
NOT_INPUT = rf"(?![ -]+(?:\w+[ -])?{INPUT}\b(?! pixel| cell| entr| unit| neuron| value| element))(?![ -]+outputs?\b)"
STRIDE = (
    r"(?:(?:strid(?:es?|ing)|step size|step length|step(?=s? (?:of|=))|kro(?:kem|ku|ky|k)|schrittweite)"
    r"(?:[ _-]?(?:sizes?|lengths?))?s?)"
)
_THINGS = (
    r"(?:(?:consecutive|adjacent|neighbou?ring) )?"
    r"(?:elements|entries|inputs|values|samples|pixels|cells|units|neurons)"
)

# The value is the first group.
VALUED = {
    "kernel_size": (
        rf"({DIMS})\s*[- ]\s*{ADJECTIVES}{WINDOW}\b",
        rf"\b{WINDOW}[ _-]?{SIZE}{IS}({VALUE}){NOT_INPUT}",
        rf"\b{WINDOW}(?: ∎)? {OF}{SIZE}{IS}({VALUE}){NOT_INPUT}",
        rf"\b{WINDOW}[\s(]*(?:(?:of|is|are|over|covers?|has|:|=)[\s(]*)?({DIMS}|{PAIR}){NOT_INPUT}",
        rf"\b{_PLAIN_WINDOW} (?:of|covers?|spans?|over|contains?) ({DIMS}) {_THINGS}\b",
        rf"\b{WINDOW} ∎,? (?:(?:is|are|be|being|each|all|a|of|have|has|both|{SIZE}|non-?overlapping|disjoint|square)"
        rf"(?: and)? )+({DIMS}){NOT_INPUT}",
        rf"\b{_PLAIN_WINDOW} (?:of|with) (?:side|edge)(?: {LENGTH})?s?{IS}({ALONE})",
        rf"\b{SIZE} (?:of )?(?:the |each |a )?(?:{KIND}[ -])?(?:pooling )?{WINDOW}{IS}({VALUE}){NOT_INPUT}",
        rf"\b{WINDOW} [a-z]\w?\s*=\s*({VALUE})",
        rf"({DIMS})\s*/\s*{N}",
        rf"\b{WINDOW}\s*[,:]\s*({DIMS}){NOT_INPUT}",
        rf"\b{_PLAIN_WINDOW} (?:of|for) (?:the |an? |each )?(?:output|unit|neuron|entry|cell|pixel) ∎,? \(?here"
        rf"(?: of {SIZE})?{IS}({DIMS}){NOT_INPUT}",
        rf"\(\s*({DIMS})\s*[,;]\s*(?:with )?(?:a )?{STRIDE}\b",
    ),
    "length": (
        rf"\b{WINDOW}(?: ∎)? {OF}{LENGTH}{IS}({N})",
        rf"\b{WINDOW}(?: ∎)? (?:of|over|covers?|spans?|contains?|holds?|with) ({N}) {_THINGS}",
        rf"({N})[- ](?:element|sample|entry)s? {WINDOW}\b",
        rf"∎ (?:contains?|covers?|spans?|holds?|consists? of) ({N}) {_THINGS}",
    ),
    "stride": (
        rf"\b{STRIDE}{IS}({VALUE})(?!\s*(?:x|×)\s*\d)",
        rf"\bstrides{IS}({N}(?:\s*,\s*{N})*,?\s+and\s+{ALONE})",
        rf"{DIMS}\s*/\s*({N})",
        rf"\b(?:shift|mov|slid|advanc|posun|posouv)\w*(?: \w+){{0,3}}? (?:by|o) ({N})\b",
        rf"({N})[- ](?:(?:pixel|cell)s? )?stride\b",
    ),
    "padding": (
        rf"\bpadding(?:[ _-]?(?:size|width))?{IS}({VALUE})(?!s)",
        r"\bpad(?:ded|ding)\b(?:(?!strid|step|kernel|window|filter|pool|input|size)[^.;,¶]){0,40}?"
        rf"\b(?:by|with|of) (?:an? )?(?:(?:border|frame|margin|ring) of )?({N})\b(?!s)",
        rf"\b(?:doplně\w+|doplňuj\w*)(?: nul\w*)?(?: o)? ({N})\b",
        rf"({N})[- ](?:pixel|cell)s?(?:[- ]wide)? (?:zero )?(?:border|frame|padding)\b",
    ),
    "input_size": (
        rf"({DIMS})[ -]+(?:(?:pixels?|gr[ae]yscale|input|two-dimensional|2d|square|real)[ -]+){{0,3}}{INPUT}\b"
        r"(?! pixel)",
        rf"\b(?<!output )(?<!pooled ){INPUT}(?: ∎)?(?:(?:[ _-]|\b)(?:of|has|have|is|are|a|the|o|{SIZE}))*{IS}"
        rf"({DIMS}|{PAIR})(?![ -]+{ADJECTIVES}{WINDOW}\b)(?![ -]+(?:\w+ )?(?:outputs?|výstup))",
        rf"\b(?<!output ){INPUT}(?: ∎)?[ _]{OF}(?:{SIZE}|{LENGTH}){IS}({ALONE})\b",
    ),
    "output_size": (rf"({DIMS})[ -]+(?:pooled )?(?:outputs?|výstup\w*)\b",),
    "dilation": (
        rf"\bdilation(?: (?:rate|factor|step))?{IS}({VALUE})",
        rf"\bdilated (?:by|with)(?: (?:a |the )?(?:rate|factor|step)(?: of)?)? ({VALUE})",
        rf"\b({N})-dilated\b",
    ),
    # what adaptive pooling is told
    "target": (
        rf"\badaptive [^.;¶]{{0,30}}?\bpool\w*(?: layers?)? (?:to|into|onto)(?: an?| the)?"
        rf"(?: output| grid| map)?{IS}({VALUE})",
        rf"\boutputs?[ _-]?(?:{SIZE}|{LENGTH}){IS}({VALUE})",
        rf"\boutputs? (?:of|with) (?:{SIZE}|{LENGTH}){IS}({VALUE})",
        rf"(?<![x×])(?<![x×*] )(?<!by )({N})[ -]+(?:pooled )?outputs?\b",
    ),
}

_SIDE = r"(?:left|right|top|bottom|start|beginning|front|end|back)"
_CELLS = r"(?:[- ](?:\w+ )?(?:cells?|pixels?|zero(?:e?s)?|rows?|columns?|entr\w+|samples?|elements?|steps?))?"
_AT = rf"(?: only)?,? (?:only )?(?:on|at|to|in) (?:the |each )?{_SIDE}(?:(?:,| and|, and) (?:the )?{_SIDE})*\b"
_SIDES = rf"{N}{_CELLS}(?: of padding)?{_AT}(?: (?:side|edge|border|end)s?)?"
# The text itself is the value.
TEXTS = {
    "padding at ends": (
        rf"\bpad(?:ded|ding)\b(?:(?!strid|step|kernel|window|filter|pool|input|size|padd|\d)[^.;¶]){{0,20}}?"
        rf"({_SIDES}(?:(?:,| and|, and) {_SIDES})*)",
        rf"({N}{_CELLS} of (?:zero )?padding{_AT}(?:(?:,| and|, and) {_SIDES})*)",
        r"\bpadding\s*(?:of|is|:|=)?\s*(?=\([^()]*\()"
        r"(\(\s*(?:\(\s*\d+\s*,\s*\d+\s*\)|\d+)(?:\s*,\s*(?:\(\s*\d+\s*,\s*\d+\s*\)|\d+))*\s*,?\s*\))",
    ),
}

# The words themselves are the value.
FIXED: dict[str, tuple[tuple[int, ...] | str, str]] = {
    "unit stride": ((1,), r"\bunit[- ]strides?\b"),
    "stride as window": (
        "kernel_size",
        rf"\b{STRIDE}{IS}(?:the )?(?:same as )?(?:the )?(?:kernel|window|filter|pool\w*)(?: size)?\b",
    ),
    "no padding": (
        (0,),
        r"\b(?:no|without|bez|ignor\w+|neglect\w*)(?: any| the)?(?: zero)?[ -](?:padding\w*|doplnění)"
        r"|\bunpadded\b|\bnot padded\b|\bvalid[\"'”)]* padding|\bpadding [\"'“(]*valid",
    ),
    "disjoint": ("", r"\bnon-? ?overlapping|\bdisjoint|\b(?:not|n't|without) overlap\w*|\bnepřekrýv\w*"),
    "overlapping": ("", r"(?<!non-)(?<!non )(?<!not )\boverlapping|(?<!ne)\bpřekrývaj\w*"),
    "no dilation": ((1,), r"\b(?:no|without(?: any)?) dilation\b"),
    "dilation without number": ("", r"\bdilat\w+|\bà trous\b|\batrous\b"),
    "ceil_mode": (
        "",
        r"\bceil(?:ing)?[ _-]?mode\b(?!\s*(?:=|:|is|set to)?\s*(?:false|off|0))"
        r"|\blast window (?:may|can|is allowed to) (?:run|reach|extend|stick)\w* (?:out )?(?:beyond|over|past|out)"
        r"|\b(?:output|its) (?:size|length|number of outputs) (?:is |being )?rounded up",
    ),
    "same": ("", r"\bsame[\"'”)]*[ -]padding|\bpadding\s*[:=]?\s*[\"'“(]*same\b|\bpadded to (?:keep|the same)"),
    "other layer": (
        "",
        r"\bconvolution(?:s|al)?\b(?! (?:neural )?net)|\bfully[- ]connected|\b(?:dense|linear|affine) layer"
        r"|\bsoftmax(?![ -]pool)|\brelu\b|\bsigmoid|\bbatch norm\w*|\bdropout"
        r"|\bcross-entropy|\battention\b|\bkonvolučn\w+ vrstv\w+|\btanh\b|\bp?relu\b|\bsoft-?plus"
        r"|\bpool\w* (?:of|over|applied to|on) (?:the |all )?(?:absolute|magnitud|squar|exponential|logarithm)\w*",
    ),
    "whole": ("global", r"\bglobal(?:ly)?[ -](?:[\w-]+[ -]){0,2}?pool\w*"),
    "adaptive": ("adaptive", r"\badaptive(?:ly)?[ -](?:[\w-]+[ -]){0,2}?pool\w*"),
    "unpooling": ("", r"\b(?:fractional|roi|region of interest|stochastic)[ -](?:\w+[ -])?pool\w*|\bunpool\w*"),
}
_SIZED = "a size is said"  # no stem: a size with its number
_SIZES = "size|shape|dimension|extent|velikost|rozměr|größe"
_LENGTHS = "length|délk|délc"
_COUNTED = "elements|entries|inputs|values|samples|pixels|cells|units|neurons"
_STRIDES = "strid|step|kro|schritt"
# A phrase has one of these, of each of its patterns or of all: without them a pattern need not be compiled, which takes
# longer than the search.
STEMS: dict[str, str | tuple[str, ...]] = {
    "kernel_size": ("", _SIZED, _SIZED, "", _COUNTED, "∎", "side|edge", _SIZES, "=", "/", ",|:", "here", _STRIDES),
    "length": (_LENGTHS, _COUNTED, "element|sample|entry", _COUNTED),
    "stride": (_STRIDES, "strides", "/", "shift|mov|slid|advanc|posun|posouv", "stride"),
    "padding": "pad|dopl|border|frame",
    "padding at ends": "pad",
    "input_size": ("", "", f"{_SIZED}|{_LENGTHS}"),
    "output_size": "output|výstup",
    "dilation": "dilat",
    "target": ("adaptive", f"{_SIZED}|{_LENGTHS}", f"{_SIZED}|{_LENGTHS}", "output"),
    "unit stride": "unit",
    "stride as window": _STRIDES,
    "no padding": "pad|dopl",
    "disjoint": "overlap|disjoint|překrýv",
    "overlapping": "overlap|překrýv",
    "no dilation": "dilat",
    "dilation without number": "dilat|trous",
    "ceil_mode": "ceil|last window|rounded up",
    "same": "same|padded to",
    "whole": "global",
    "adaptive": "adaptive",
    "unpooling": "pool",
}
# What a phrase is about, where it is not its own name.
ABOUT = {"unit stride": "stride", "stride as window": "stride", "no padding": "padding", "no dilation": "dilation"}

# in front of the name of a layer that the question compares its own with
OTHER_LAYER = re.compile(
    r"(?:\bunlike|\bin contrast (?:to|with)|\bcontrary to|\bas opposed to|\binstead of|\brather than"
    r"|\b(?:compared|similar|analogous|related) (?:to|with)|\bdiffer\w* from"
    r"|\b(?:versions?|variants?|approximations?|generali[sz]ations?|relaxations?|analogues?|alternatives?|modifications?"
    r"|extensions?|relatives?) (?:of|to)|\b(?:approximat\w+|generali[sz]\w+|replac\w+|resembl\w+)"
    r"|\bna rozdíl od|\bmísto)"
    r"\s+(?:(?:the|a|an|ordinary|usual|standard|classical|plain|common|well-known|hard) ){0,3}$"
)
# what says how many axes the input has, where no size does
RANKS = (
    (1, re.compile(r"\b(?:one|1)[- ]?(?:d\b|dim)|\b(?:sequence|signal)s?\b|\btime series\b")),
    (3, re.compile(r"\b(?:three|3)[- ]?(?:d\b|dim)|\bvolum\w+|\bvideos?\b")),
    (2, re.compile(r"\b(?:two|2)[- ]?(?:d\b|dim)|\bimages?\b")),
)
POOLING = re.compile(rf"\b({KIND})[ -]?pool\w*")
# the last of these in a sentence is what a size after it belongs to
LAYER = re.compile(r"\b(?:(?P<convolution>convol\w+|konvol\w+)(?! neural)(?! net)|\w*pool\w*|(?:sub|down)-?sampl\w+)")
PADDING = re.compile(r"\bzero[- ]padd\w+|\bpadd(?:ed|ing)\w*|\bdoplně\w+ nul\w*")
DIRECTION = re.compile(r"horizontal|vertical|vodorovn|svisl")


Size = tuple[int, ...]
Span = tuple[int, int]
Match = tuple[str, Span, Size | str]
_HOLDS = {"input_size": "kernel_size", "padding": "padding at ends", "dilation without number": "dilation"}


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

    def about(self, what: str) -> tuple[Found, ...]:
        return tuple(f for name, f in self.found if name == what)


def rank_said(words: Words) -> int:
    """How many axes the sizes or the words give the input; two where they say nothing."""
    sizes = [f.value for what in ("kernel_size", "stride", "target", "input_size") for f in words.about(what)]
    counts = [len(value) for value in sizes if len(value) > 1]
    if counts:
        return counts[0]
    if words.about("length"):
        return 1
    return next((rank for rank, pattern in RANKS if pattern.search(words.plain.text)), 2)


def words_of(source: str, first_line: int = 1, known: Mapping[str, int] | None = None) -> Words:
    """The sizes and kinds that a question's prose names (``known`` as in :func:`plain_text`); nothing is decided."""
    plain = plain_text(source, first_line, known)
    matches = sorted(_of_pooling(plain, set(_matches(plain))), key=lambda m: (m[1][0], -m[1][1], m[0], str(m[2])))
    return Words(
        tuple((what, Found(value, plain.quote(*span), plain.line(span[0]))) for what, span, value in _longest(matches)),
        plain,
    )


def _longest(matches: list[Match]) -> Iterator[Match]:
    """Matches without those inside a longer one about the same: “strides 2 and 1” holds “strides 2”.

    And “windows of 2×2 inputs” says nothing of the input's size, “padding 1 on the left” nothing of the right.
    """
    reached: dict[str, Span] = {}
    for match in matches:
        what, span = match[0], match[1]
        outer = [reached[name] for name in (what, _HOLDS.get(what)) if name in reached]
        if all(span[1] > end or span == (start, end) for start, end in outer):
            yield match
        if span[1] > reached.get(what, (0, 0))[1]:
            reached[what] = span


class Phrase(NamedTuple):
    """What a pattern is about, its source, the stems of which its phrases have one, and its value if that is fixed."""

    name: str
    source: str
    stems: str
    value: Size | str | None

    def may_occur(self, text: str) -> bool:
        return any(_sized(text) if stem == _SIZED else stem in text for stem in self.stems.split("|"))


def phrases() -> Iterator[Phrase]:
    for name, patterns in (VALUED | TEXTS).items():
        stems = STEMS.get(name, "")
        each = (stems,) * len(patterns) if isinstance(stems, str) else stems
        yield from (Phrase(name, p, s, "" if name in TEXTS else None) for p, s in zip(patterns, each, strict=True))
    for name, (value, pattern) in FIXED.items():
        yield Phrase(name, pattern, str(STEMS.get(name, "")), value)


@lru_cache(maxsize=64)
def _sized(text: str) -> bool:
    """Whether a size is followed by a number, with or without a bracket before it."""
    return _compiled(rf"{SIZE}{IS}[(\[]?\s*{N}").search(text) is not None


_compiled = cache(re.compile)


def _matches(plain: PlainText) -> Iterator[Match]:
    padded = False
    for phrase in phrases():
        if not phrase.may_occur(plain.text):
            continue
        what, pattern, fixed = ABOUT.get(phrase.name, phrase.name), _compiled(phrase.source), phrase.value
        for m in pattern.finditer(plain.text):
            value = _numbers(m[1]) if fixed is None else m[1] if what in TEXTS else fixed
            yield what, m.span(), value
            padded = padded or what in ("padding", "padding at ends", "same")
            around = plain.text[max(0, m.start() - 12) : m.end() + 16]
            if what in ("kernel_size", "stride", "padding") and DIRECTION.search(around):
                yield "direction", m.span(), value
    for m in POOLING.finditer(plain.text):
        if not OTHER_LAYER.search(plain.text, max(0, m.start() - 60), m.start()):
            yield "pooling", m.span(), m[1][:3] if m[1][:3] in ("max", "min") else m[1]
    if not padded:
        for m in PADDING.finditer(plain.text):
            yield "padding without number", m.span(), m[0]


def _of_pooling(plain: PlainText, matches: set[Match]) -> set[Match]:
    """Where a convolution's window is given besides the pooling's: the matches without those of the convolution."""
    sizes = {m for m in matches if m[0] in ("kernel_size", "stride", "padding", "padding at ends", "dilation")}
    named = _named_layers(plain.text)
    other = {m for m in sizes if named[bisect_right(named, (m[1][1], False)) - 1][1]}
    if {m in other for m in sizes if m[0] == "kernel_size"} != {True, False}:
        return matches
    given = {what for what, _, _ in sizes - other}
    unclear = {("which layer", span, what) for what, span, _ in other if what not in given}
    return (matches - other) | unclear


def _named_layers(text: str) -> list[tuple[int, bool]]:
    """(place, whether it is a convolution) from which on a sentence speaks of a layer; a sentence begins with none."""
    found = [(m.end(), m["convolution"] is not None) for m in LAYER.finditer(text)]
    return sorted([(0, False), *found, *((m.end(), False) for m in re.finditer(r"[.?!¶]", text))])


def _numbers(text: str) -> Size:
    found = re.findall(rf"(?<![a-z])-\d+|\d+|{'|'.join(NUMBERS)}", text)
    return tuple(NUMBERS[n] if n in NUMBERS else int(n) for n in found)
