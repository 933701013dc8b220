"""A formula's layout in a terminal: signs, boxes of lines on a common baseline, the spaces between items."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from derive.records import dataclass
from derive.render.tex import MATHS

_OTHER = {
    "le": "≤", "ge": "≥", "ne": "≠", "leqslant": "≤", "geqslant": "≥", "to": "→", "gets": "←", "iff": "⟺",
    "implies": "⟹", "impliedby": "⟸", "lbrace": "{", "rbrace": "}", "{": "{", "}": "}", "lbrack": "[", "rbrack": "]",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "|": "‖", "lVert": "‖", "rVert": "‖", "Vert": "‖",
    "dots": "…", "dotsc": "…", "dotsb": "⋯", "colon": ":", "coloneqq": "≔", "prime": "′", "emptyset": "∅", "lnot": "¬",
    "land": "∧", "lor": "∨", "ast": "*", "top": "⊤", "backslash": "\\", "sim": "∼", "cdotp": "·", "bullet": "•",
    "rightarrow": "→", "longrightarrow": "⟶", "Rightarrow": "⇒", "mapsto": "↦", "longmapsto": "⟼", "triangleq": "≜",
    "bigcup": "⋃", "bigcap": "⋂", "coprod": "∐", "iint": "∬", "oint": "∮", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ", "wp": "℘",
    "%": "%", "#": "#", "&": "&", "_": "_", "$": "$", "omicron": "ο", "varnothing": "∅", "square": "□", "notin": "∉",
    "atop": ",",
}  # fmt: skip
SIGNS = {macro[1:]: sign for sign, macro in reversed(MATHS.items()) if re.fullmatch(r"\\[A-Za-z]+", macro)} | _OTHER
FUNCTIONS = frozenset(
    "max min sup inf lim arg argmax argmin det dim lg tan cot sec csc arcsin arccos coth gcd Pr deg ker hom limsup"
    " liminf mod bmod".split()
)
WITH_LIMITS = frozenset("sum prod coprod bigcup bigcap max min sup inf lim limsup liminf argmax argmin".split())
SPACES = {",": "", "!": "", ":": " ", ";": " ", " ": " ", ">": " ", "quad": "   ", "qquad": "     ", "enspace": "  ",
          "thinspace": "", "space": " ", "nobreakspace": " ", "hfill": "   ", "/": ""}  # fmt: skip
ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304",
           "overline": "\u0304", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7", "check": "\u030c",
           "acute": "\u0301", "grave": "\u0300", "breve": "\u0306", "underline": "\u0332"}  # fmt: skip
# they change how a formula looks, not what it says
IGNORED = frozenset(
    "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits displaylimits big Big bigg Bigg bigl Bigl"
    " biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm middle notag nonumber allowbreak nobreak mathstrut strut"
    " hline boxed underbrace overbrace smash mathbin mathrel mathord mathopen mathclose mathinner boldsymbol"
    " mathbf bm pmb mathit mathnormal mathsf mathtt mathclap bf it rm sf tt cal - /".split()
)
_ALPHABETS = {"mathbb": "DOUBLE-STRUCK", "mathds": "DOUBLE-STRUCK", "mathcal": "SCRIPT", "mathscr": "SCRIPT",
              "mathfrak": "FRAKTUR"}  # fmt: skip
_BINARY = frozenset("+−±∓·×÷∗∘∖∪∩⊙⊗⊕∧∨")
_RELATIONS = frozenset("=<>≤≥≠≈≡∼≃≅∝≪≫→←↔↦⟶⟼⇒⇐⇔⟹⟸⟺∈∉∋⊂⊆⊃⊇:≔≜∣")
_KINDS = {"bin": _BINARY, "rel": _RELATIONS, "punct": ",;", "open": "([{⌊⌈⟨", "close": ")]}⌋⌉⟩!", "prefix": "∂∇¬√",
          "slash": "/", "op": "∑∏∫⋃⋂∐"}  # fmt: skip
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_RAISED = str.maketrans("0123456789−+⊤T′*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᵀ′*")


def kind_of(sign: str) -> str:
    """How a sign behaves in a row: see :class:`derive.render.unicode.boxes.Item`."""
    return next((kind for kind, signs in _KINDS.items() if sign in signs), "ord")


def letter(alphabet: str, character: str) -> str:
    """A letter of an alphabet such as ``mathbb``; the letter itself where Unicode has no such one."""
    style = _ALPHABETS.get(alphabet, "")
    case = "CAPITAL" if character.isupper() else "SMALL"
    name = f"{style} {case} {character.upper()}" if character.isalpha() else f"{style} DIGIT {_digit(character)}"
    for full in (name, f"MATHEMATICAL {name}", name.replace("FRAKTUR", "BLACK-LETTER")):
        try:
            return unicodedata.lookup(full)
        except KeyError:
            continue
    return character


def _digit(character: str) -> str:
    return unicodedata.name(character, "").removeprefix("DIGIT ")


def marked(written: str, mark: str) -> str:
    """Each character under a combining mark, as one character where Unicode has it: ŷ."""
    return unicodedata.normalize("NFC", "".join(c + mark for c in written))


def is_alphabet(name: str) -> bool:
    return name in _ALPHABETS


def subscript(written: str) -> str:
    """``₁``, ``_kl``, ``_{2k+1,2l}``, ``_{i*,j*}``, ``_{i′,j′}``, whose marks are no products."""
    if written.isascii() and written.isdigit():
        return written.translate(_DIGITS)
    if "*" in written and re.fullmatch(r"(?:\w[*′]*)+", written) or re.fullmatch(r"(?:\w′){2,}", written):
        written = ",".join(re.findall(r"\w[*′]*", written))
    return f"_{written}" if re.fullmatch(r"[^\W_]+′*", written) else f"_{{{written}}}"


def superscript(written: str) -> str:
    """``²``, ``*``, ``ᵀ``, ``^{−s_k}``."""
    if re.fullmatch(r"[−+]?\d+|[⊤T]|[*′]+", written):
        return written.translate(_RAISED)
    return f"^{written}" if re.fullmatch(r"[^\W\d_]|\([^\W_]\)", written) else f"^{{{written}}}"


# one line, and the pieces of a tall one: top, extension, bottom, middle (where it has one)
_FENCES = {
    "(": "⎛⎜⎝", ")": "⎞⎟⎠", "[": "⎡⎢⎣", "]": "⎤⎥⎦", "{": "⎧⎪⎩⎨", "}": "⎫⎪⎭⎬", "|": "│││", "‖": "‖‖‖",
    "⌊": "⎢⎢⎣", "⌋": "⎥⎥⎦", "⌈": "⎡⎢⎢", "⌉": "⎤⎥⎥",
}  # fmt: skip


def width(line: str) -> int:
    """The cells that a line takes: a mark over a letter takes none, a wide letter two."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def padded(line: str, to: int, align: str = "l") -> str:
    """The line filled up with spaces; ``align`` is l, c or r."""
    gap = max(0, to - width(line))
    left = {"l": 0, "c": gap // 2, "r": gap}[align]
    return " " * left + line + " " * (gap - left)


@dataclass(frozen=True)
class Box:
    """Lines, and the number of the one that stands on the baseline."""

    lines: tuple[str, ...]
    baseline: int = 0

    @property
    def width(self) -> int:
        return max(map(width, self.lines), default=0)

    @property
    def below(self) -> int:
        return len(self.lines) - 1 - self.baseline


def text(line: str) -> Box:
    return Box((line,))


def beside(boxes: Iterable[Box]) -> Box:
    """Boxes in a row, their baselines at one height."""
    row = list(boxes)
    if all(len(box.lines) == 1 for box in row):
        return text("".join(box.lines[0] for box in row))
    above = max(box.baseline for box in row)
    below = max(box.below for box in row)
    columns = []
    for box in row:
        lines = [""] * (above - box.baseline) + list(box.lines) + [""] * (below - box.below)
        columns.append([padded(line, box.width) for line in lines])
    return Box(tuple("".join(parts).rstrip() for parts in zip(*columns, strict=True)), above)


def stacked(base: Box, over: Box | None = None, under: Box | None = None) -> Box:
    """A sign with its limits above and below, centred."""
    wide = max(box.width for box in (over, base, under) if box is not None)
    lines = [padded(line, wide, "c") for box in (over, base, under) if box is not None for line in box.lines]
    return Box(tuple(lines), (len(over.lines) if over is not None else 0) + base.baseline)


def grid(rows: Sequence[Sequence[Box]], align: str = "", gap: int = 2, *, centred: bool = False) -> Box:
    """Cells in aligned columns; the baseline in the middle.

    ``centred`` makes the number of lines odd, for a fence with a middle.
    """
    columns = max((len(row) for row in rows), default=0)
    wide = [max((row[n].width for row in rows if n < len(row)), default=0) for n in range(columns)]
    made = []
    for row in rows:
        cells = [Box(tuple(padded(line, wide[n], align[n] if n < len(align) else "l") for line in cell.lines),
                     cell.baseline) for n, cell in enumerate(row)]  # fmt: skip
        made.append(beside([part for cell in cells for part in (text(" " * gap), cell)][1:] or [text("")]))
    if centred and sum(len(box.lines) for box in made) % 2 == 0:
        made.insert((len(made) + 1) // 2, text(""))
    lines = tuple(line.rstrip() for box in made for line in box.lines) or ("",)
    return Box(lines, (len(lines) - 1) // 2)


def fenced(inside: Box, left: str, right: str) -> Box:
    """The box between brackets as tall as it is; an empty bracket draws nothing."""
    return beside([_fence(left, inside), inside, _fence(right, inside)])


def _fence(sign: str, inside: Box) -> Box:
    if not sign:
        return text("")
    height = len(inside.lines)
    pieces = _FENCES.get(sign)
    if height == 1 or pieces is None:
        return text(sign)
    top, extension, bottom = pieces[0], pieces[1], pieces[2]
    lines = [top, *[extension] * (height - 2), bottom]
    if len(pieces) > 3 and height > 2:
        lines[inside.baseline if 0 < inside.baseline < height - 1 else height // 2] = pieces[3]
    return Box(tuple(lines), inside.baseline)


INDENT = 4
_LETTERS = ("ord", "word", "group", "frac", "op", "prefix")


@dataclass(frozen=True)
class Item:
    """A box and how it behaves in a row.

    ``kind``: ord (a letter), num, bin (+), rel (=), punct (,), open, close, op (max, ∑), prefix (∂),
    frac, group (in brackets), word, row (aligned lines) or space.
    """

    box: Box
    kind: str
    scripted: bool = False
    limits: bool = False  # its scripts stand above and below it


def bracketed(item: Item) -> Item:
    return replace(item, box=fenced(item.box, "(", ")"), kind="group")


def atomic(items: Sequence[Item]) -> list[Item]:
    """The items, in brackets unless they are one: x, ∂f, (a + b), not −x or a b."""
    seen = [item for item in items if item.kind != "space"]
    single = len(seen) == 1 and seen[0].kind not in ("frac", "row")
    single = single or (len(seen) == 2 and seen[0].kind == "prefix" and seen[1].kind in ("ord", "group"))
    return seen if single else [bracketed(Item(joined(seen), "row"))]


def joined(items: Sequence[Item], tight: bool = False, before: str = "") -> Box:
    """The items in a row; ``tight`` leaves out the spaces, ``before`` is the kind of what came first."""
    return beside(list(_spaced(items, tight, before))) if items else text("")


def _spaced(items: Sequence[Item], tight: bool, before: str) -> Iterator[Box]:
    settled = [replace(bracketed(item), kind="ord") if _mistakable(items, n) else item
               for n, item in enumerate(items)]  # fmt: skip
    last: Item | None = Item(text(""), before) if before else None
    for item in settled:
        if item.kind == "bin" and (last is None or last.kind in ("bin", "rel", "open", "punct", "op", "sign")):
            item = replace(item, kind="sign")  # −x
        if last is not None and last.box.lines != ("",) and _gap(last, item, tight):
            yield text(" ")
        yield item.box
        last = item


def _mistakable(items: Sequence[Item], n: int) -> bool:
    """A fraction beside which something stands that could be read into it."""
    if items[n].kind != "frac":
        return False
    last = items[n - 1].kind if n else ""
    following = items[n + 1].kind if n + 1 < len(items) else ""
    named = n > 0 and last == "op" and items[n - 1].box.lines[0].isalpha()  # log a/b
    return named or last in ("ord", "num", "close", "group", "frac", "prefix") or following in (
        "ord", "num", "open", "op", "group", "frac", "prefix")


def _gap(last: Item, item: Item, tight: bool) -> bool:
    one, two = last.kind, item.kind
    if "space" in (one, two):
        return False
    if "rel" in (one, two) or one == "bin" or two == "bin":
        return not tight
    if one == "punct":
        return not tight
    if two in ("punct", "close", "slash") or one in ("open", "sign", "prefix", "slash"):
        return False
    if "word" in (one, two):
        return not tight
    if two in ("open", "group"):
        tall = len(item.box.lines) > 1
        return (one in ("group", "frac", "close") or (one == "op" and last.scripted) or tall) and not tight
    if tight:
        return False
    if one == "num":
        return two == "num" or two == "op"
    return one in (*_LETTERS, "close") and two in (*_LETTERS, "num", "close")


def broken(items: Sequence[Item], columns: int) -> Box:
    """The items in as many rows as they need: broken after commas, and only within a part too wide before signs."""
    whole = joined(items)
    if whole.width <= columns:
        return whole
    rows: list[list[Item]] = [[]]
    for part in _parts(items):
        for piece in [part] if joined(part).width <= columns - INDENT else _pieces(part):
            _append(rows, piece, columns)
    lines: list[str] = []
    for n, row in enumerate(rows):
        box = joined(row, before="ord" if n else "")
        lines += (" " * (INDENT if n else 0) + line for line in box.lines)
    return Box(tuple(line.rstrip() for line in lines))


def _append(rows: list[list[Item]], piece: list[Item], columns: int) -> None:
    """Put the piece at the end of the last row, or into a new one where that helps."""
    limit = columns - (INDENT if len(rows) > 1 else 0)
    seen = piece[next((n for n, item in enumerate(piece) if item.kind != "space"), 0) :]
    helps = joined(seen).width <= columns - INDENT or joined(rows[-1]).width > columns // 3
    if rows[-1] and joined([*rows[-1], *piece]).width > limit and helps:
        rows.append([])
        piece = seen
    rows[-1] += piece


def _parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What commas outside brackets part; the comma and the space after it end a part."""
    part: list[Item] = []
    for n, item in enumerate(items):
        part.append(item)
        more = n + 1 < len(items) and items[n + 1].kind in ("punct", "space")
        if item.kind in ("punct", "space") and not more and _depth(items[:n]) == 0:
            yield part
            part = []
    if part:
        yield part


def _pieces(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What the signs outside brackets part; the sign begins a piece."""
    piece: list[Item] = []
    for n, item in enumerate(items):
        if item.kind in ("rel", "bin") and piece and _depth(items[:n]) == 0:
            yield piece
            piece = []
        piece.append(item)
    if piece:
        yield piece


def _depth(items: Sequence[Item]) -> int:
    return sum((item.kind == "open") - (item.kind == "close") for item in items)
