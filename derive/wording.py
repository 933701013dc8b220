"""What a question's words say of its layer: window, stride, padding, input, kind of pooling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from derive.plain_text import PlainText, plain_text

Size = tuple[int, ...]

_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "jedna": 1, "jednu": 1, "jeden": 1, "dva": 2, "dvě": 2, "tři": 3, "čtyři": 4, "pět": 5,
}  # fmt: skip
_N = rf"(?:(?<![\d.])-?\d{{1,4}}(?!\d|\.\d)|\b(?:{'|'.join(_NUMBERS)})\b)"
_DIMS = rf"{_N}(?:\s*(?:x|×|\*|\bby\b|\bkrát\b)\s*{_N})+"
_PAIR = rf"[(\[]\s*{_N}(?:\s*,\s*{_N})+\s*[)\]]"
_AND = rf"{_N}\s+(?:and|a)\s+{_N}(?=\s*(?:[.,;:)¶]|in\b|along\b|resp|for\b|$))"
_ALONE = rf"{_N}(?!\s*(?:x|×|\*|by\b|krát\b)\s*{_N})"
_VALUE = rf"(?:{_DIMS}|{_PAIR}|{_AND}|{_ALONE})"
_OPEN = r"\s*(?:\((?![^()]*,))?\s*"  # a parenthesis that opens a remark, not a pair
_IS = (
    rf"{_OPEN}(?:(?:is|are|be|of|to|a|the|equals?|equal|set|=|:|(?<=\w)-|with|has|je|o|rovn\w+|both){_OPEN}){{0,4}}"
    r"(?:[a-z]\w?\s*=\s*)?"
)
_SIZE = r"(?:sizes?|shapes?|dimensions?|extents?|velikost\w*|rozměr\w*)"
_LENGTH = r"(?:lengths?|délk\w*|délce)"
_KIND = r"(?:max(?:imum|imal|imový|imové)?|min(?:imum|imal|imový|imové)?|average|avg|mean|sum|l2|lp|median|stochastic)"
_WINDOW = (
    r"(?:kernels?|windows?|filters?|receptive fields?|(?:sub-?)?regions?|neighbou?rhoods?|blocks?|patch(?:es)?|masks?"
    rf"|squares?|areas?|tiles?|(?:{_KIND}[ -]?)?pool(?:ing|er|ed|s)?(?: layers?| operations?| units?)?|sub-?sampling|down-?sampling"
    r"|okn\w*|oken|jádr\w*|jader|filtr\w*|oblast\w*|blok\w*)"
)
_ADJECTIVE = (
    r"(?:(?:non-?overlapping|overlapping|disjoint|square|rectangular|spatial|sliding|local|pixel|adjacent|contiguous|receptive"
    rf"|pooling|{_KIND})[ -]+){{0,4}}"
)
_INPUT = r"(?:inputs?|images?|feature maps?|input maps?|matri(?:x|ces)|arrays?|grids?|tensors?|signals?|vstup\w*|obráz\w*|obraz\w*|matic\w*)"
_NOT_INPUT = rf"(?![ -]+(?:\w+[ -])?{_INPUT}\b(?! pixel| cell| entr| unit| neuron| value| element))(?![ -]+outputs?\b)"
_STRIDE = r"(?:(?:strid(?:es?|ing)|step size|step length|step(?=s? (?:of|=))|kro(?:kem|ku|ky|k))(?:[ _-]?(?:sizes?|lengths?))?s?)"

# (what, pattern): the first group is the value; a pattern without group has the value that stands third
_PATTERNS: tuple[tuple[str, str, Size | str | None], ...] = (
    ("kernel_size", rf"({_DIMS})\s*[- ]\s*{_ADJECTIVE}{_WINDOW}\b", None),
    ("kernel_size", rf"\b{_WINDOW}[ _-]?{_SIZE}{_IS}({_VALUE}){_NOT_INPUT}", None),
    ("kernel_size", rf"\b{_WINDOW}(?: {'∎'})? (?:(?:of|with|has|have|is|are|a|the|o) )*{_SIZE}{_IS}({_VALUE}){_NOT_INPUT}", None),
    ("kernel_size", rf"\b{_WINDOW}[\s(]*(?:(?:of|is|are|over|covers?|has|:|=)[\s(]*)?({_DIMS}|{_PAIR}){_NOT_INPUT}", None),
    ("kernel_size", rf"({_DIMS})\s*/\s*{_N}", None),
    ("length", rf"\b{_WINDOW} (?:(?:of|with|has|have|o) )*{_LENGTH}{_IS}({_N})", None),
    ("length", rf"\b{_WINDOW} (?:of|over) ({_N}) (?:(?:consecutive|adjacent|neighbou?ring) )?(?:elements|entries|inputs|values|samples)", None),
    ("length", rf"({_N})[- ](?:element|sample|entry)s? {_WINDOW}\b", None),
    ("stride", rf"\b{_STRIDE}{_IS}({_VALUE})(?!\s*(?:x|×)\s*\d)", None),
    ("stride", rf"{_DIMS}\s*/\s*({_N})", None),
    ("stride", rf"\b(?:shift|mov|slid|advanc|posun|posouv)\w*(?: \w+){{0,3}}? (?:by|o) ({_N})\b", None),
    ("stride", rf"({_N})[- ](?:(?:pixel|cell)s? )?stride\b", None),
    ("stride", r"\bunit[- ]strides?\b", (1,)),
    ("stride", rf"\b{_STRIDE}{_IS}(?:the )?(?:same as )?(?:the )?(?:kernel|window|filter|pool\w*)(?: size)?\b", "kernel_size"),
    ("padding", rf"\bpadding(?:[ _-]?(?:size|width))?{_IS}({_VALUE})(?!s)", None),
    (
        "padding",
        (r"\bpad(?:ded|ding)\b(?:(?!strid|step|kernel|window|filter|pool|input|size)[^.;,¶]){0,40}?\b(?:by|with|of) (?:an? )?"
        rf"(?:(?:border|frame|margin|ring) of )?({_N})\b(?!s)"),
        None,
    ),
    ("padding", rf"\b(?:doplně\w+|doplňuj\w*)(?: nul\w*)?(?: o)? ({_N})\b", None),
    ("padding", rf"({_N})[- ](?:pixel|cell)s?(?:[- ]wide)? (?:zero )?(?:border|frame|padding)\b", None),
    (
        "padding",
        (r"\b(?:no|without|bez|ignor\w+|neglect\w*)(?: any| the)?(?: zero)?[ -](?:padding\w*|doplnění)|\bunpadded\b|\bnot padded\b"
        r"|\bvalid[\"'”)]* padding|\bpadding [\"'“(]*valid"),
        (0,),
    ),
    ("input_size", rf"({_DIMS})[ -]+(?:(?:pixels?|gr[ae]yscale|input|two-dimensional|2d|square|real)[ -]+){{0,3}}{_INPUT}\b(?! pixel)", None),
    (
        "input_size",
        (rf"\b(?<!output )(?<!pooled ){_INPUT}(?: ∎)?(?:(?:[ _-]|\b)(?:of|has|have|is|are|a|the|o|{_SIZE}))*{_IS}({_DIMS}|{_PAIR})"
        rf"(?![ -]+{_ADJECTIVE}{_WINDOW}\b)"),
        None,
    ),
    ("input_size", rf"\b{_INPUT}(?: ∎)?[ _](?:(?:of|has|with|a|the) )*(?:{_SIZE}|{_LENGTH}){_IS}({_ALONE})\b", None),
    ("output_size", rf"({_DIMS})[ -]+(?:pooled )?(?:outputs?|výstup\w*)\b", None),
    ("disjoint", r"\bnon-? ?overlapping|\bdisjoint|\b(?:not|n't|without) overlap\w*|\bnepřekrýv\w*", (1,)),
    ("overlapping", r"(?<!non-)(?<!non )(?<!not )\boverlapping|(?<!ne)\bpřekrývaj\w*", (1,)),
    ("dilation", r"\bdilat\w+(?!\w*\s*(?:of|is|=|:)?\s*(?:1\b|one\b))", (1,)),
    ("ceil_mode", r"\bceil[ _-]?mode\b", (1,)),
    ("same", r"\bsame[\"'”)]*[ -]padding|\bpadding\s*[:=]?\s*[\"'“(]*same\b|\bpadded to (?:keep|the same)", (1,)),
    (
        "other layer",
        r"\bconvolution(?:s|al)?\b(?! (?:neural )?net)|\bfully[- ]connected|\b(?:dense|linear|affine) layer|\bsoftmax|\brelu\b"
        r"|\bsigmoid|\bbatch norm\w*|\bdropout|\bcross-entropy|\battention\b|\bkonvolučn\w+ vrstv\w+",
        (1,),
    ),
    ("global", r"\b(?:global|adaptive|fractional|roi)[ -](?:\w+[ -])?pool\w*|\bunpool\w*", (1,)),
)  # fmt: skip
_COMPILED = tuple((what, re.compile(pattern), value) for what, pattern, value in _PATTERNS)
_POOLING = re.compile(rf"\b({_KIND})[ -]?pool\w*")
_PAD = re.compile(r"\bzero[- ]padd\w+|\bpadd(?:ed|ing)\w*|\bdoplně\w+ nul\w*")
_DIRECTION = re.compile(r"horizontal|vertical|vodorovn|svisl")
_OPS = {"max": "max", "min": "min"}


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


def words_of(source: str, first_line: int = 1) -> Words:
    """The sizes and kinds that a question's prose names; nothing is decided here."""
    plain = plain_text(source, first_line)
    found = sorted(_matches(plain), key=lambda item: item[1])
    return Words(tuple((what, Found(value, plain.quote(a, b), plain.line(a))) for what, (a, b), value in found), plain)


def _matches(plain: PlainText) -> Iterator[tuple[str, tuple[int, int], Size | str]]:
    padded: list[tuple[int, int]] = []
    for what, pattern, fixed in _COMPILED:
        for m in pattern.finditer(plain.text):
            value = _numbers(m[1]) if fixed is None else fixed
            yield what, m.span(), value
            if what in ("padding", "same"):
                padded.append(m.span())
            around = plain.text[max(0, m.start() - 12) : m.end() + 16]
            if what in ("kernel_size", "stride", "padding") and _DIRECTION.search(around):
                yield "direction", m.span(), value
    for m in _POOLING.finditer(plain.text):
        yield "pooling", m.span(), _OPS.get(m[1][:3], m[1])
    for m in _PAD.finditer(plain.text):
        if not padded:
            yield "padding without number", m.span(), m[0]


def _numbers(text: str) -> Size:
    return tuple(_NUMBERS[n] if n in _NUMBERS else int(n) for n in re.findall(rf"-?\d+|{'|'.join(_NUMBERS)}", text))
