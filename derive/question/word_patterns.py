"""The words in which questions give a window, as patterns over plain text in lower case."""

from __future__ import annotations

import re

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
    r"|squares?|cubes?|boxes|areas?|tiles?|okn\w*|oken|jádr\w*|jader|filtr\w*|oblast\w*|blok\w*|fenster\w*)"
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
        rf"\b{SIZE} (?:of )?(?:the |each |a )?(?:{KIND}[ -])?(?:pooling )?{WINDOW}{IS}({VALUE}){NOT_INPUT}",
        rf"\b{WINDOW} [a-z]\w?\s*=\s*({VALUE})",
        rf"({DIMS})\s*/\s*{N}",
        rf"\b{WINDOW}\s*[,:]\s*({DIMS}){NOT_INPUT}",
        rf"\(\s*({DIMS})\s*[,;]\s*(?:with )?(?:a )?{STRIDE}\b",
    ),
    "length": (
        rf"\b{WINDOW} {OF}{LENGTH}{IS}({N})",
        rf"\b{WINDOW} (?:of|over) ({N}) {_THINGS}",
        rf"({N})[- ](?:element|sample|entry)s? {WINDOW}\b",
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
    "dilation": ("", r"\bdilat\w+(?!\w*\s*(?:of|is|=|:)?\s*(?:1\b|one\b))(?:\s*(?:of|is|=|:)?\s*\d+)?"),
    "ceil_mode": ("", r"\bceil[ _-]?mode\b"),
    "same": ("", r"\bsame[\"'”)]*[ -]padding|\bpadding\s*[:=]?\s*[\"'“(]*same\b|\bpadded to (?:keep|the same)"),
    "other layer": (
        "",
        r"\bconvolution(?:s|al)?\b(?! (?:neural )?net)|\bfully[- ]connected|\b(?:dense|linear|affine) layer|\bsoftmax"
        r"|\brelu\b|\bsigmoid|\bbatch norm\w*|\bdropout|\bcross-entropy|\battention\b|\bkonvolučn\w+ vrstv\w+",
    ),
    "global": ("", r"\b(?:global|adaptive|fractional|roi)[ -](?:\w+[ -])?pool\w*|\bunpool\w*"),
}
# What a phrase is about, where it is not its own name.
ABOUT = {"unit stride": "stride", "stride as window": "stride", "no padding": "padding"}

POOLING = re.compile(rf"\b({KIND})[ -]?pool\w*")
# the last of these in a sentence is what a size after it belongs to
LAYER = re.compile(r"\b(?:(?P<convolution>convol\w+|konvol\w+)(?! neural)(?! net)|\w*pool\w*|(?:sub|down)-?sampl\w+)")
PADDING = re.compile(r"\bzero[- ]padd\w+|\bpadd(?:ed|ing)\w*|\bdoplně\w+ nul\w*")
DIRECTION = re.compile(r"horizontal|vertical|vodorovn|svisl")
