"""Letters declared by their entries, x = (x_1, \\dots, x_n), and outputs defined one by one in turn, as one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from derive.expr import Add, And, Entry, Expr, Fn, Idx, Mul, Node, Num, Rel, eq, mul, subst
from derive.notation.formulas import Formula
from derive.records import dataclass

_LETTER = (r"(?:\\(?:mathbf|boldsymbol|bm|vec|hat|bar|tilde)\s*)?"
           r"(?:\{\s*\\?[A-Za-z]+\s*\}|\\(?!left|right|big|in|quad|dots|ldots)[A-Za-z]+|[A-Za-z])")
_BRACKET = r"(?:\\left|\\right|\\[bB]igg?[lr]?)?\s*"
_AT = r"(?:\s*\([^()]*\))?"  # f(x) = (f_1(x), …, f_m(x))
_DOTS = r"\\(?:dots[cb]?|ldots|cdots)(?![A-Za-z])"
_RAISED = r"(?:\s*\^\s*(?:\{[^{}]*(?:\{[^{}]*\})?[^{}]*\}|\\top|\\intercal|\w))?"  # transposed, or the last index
_RANGE = r"(?:\s*_\s*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\w))?"
_DECLARED = re.compile(
    rf"(?P<letter>{_LETTER}){_AT}\s*(?::?=)\s*{_BRACKET}[(\[]\s*"
    rf"(?P<entry>{_LETTER})\s*_\s*(?:\{{(?P<index>[^{{}}]*)\}}|(?P<short>\w)){_AT}"
    rf"(?P<others>(?:\s*,\s*(?P=entry)\s*_\s*(?:\{{[^{{}}]*\}}|\w){_AT})*)"
    rf"(?P<dots>\s*,\s*{_DOTS}\s*,\s*(?P=entry)\s*_\s*(?:\{{(?P<last>[^{{}}]*)\}}|(?P<end>\w)){_AT})?"
    rf"\s*{_BRACKET}[)\]]{_RAISED}{_RANGE}{_RAISED}"
    r"(?P<shape>\s*\\in\s*\\mathbb\s*\{?\s*[A-Z]\s*\}?(?:\s*\^\s*(?:\{[^{}]*\}|\w))?)?"
    r"(?=\s*(?:$|[,;.]|\\text|\\q?quad|\\ ))"
)  # fmt: skip
_BOLD = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec)(?![A-Za-z])")
_OPENS = re.compile(r"(?:^|[,;&]|\\q?quad|\\ |\}|\\\\)\s*$")
_PLAIN = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec)\s*|[{}\s]")


@dataclass(frozen=True)
class _Declared:
    letter: str
    entry: str
    axes: int
    size: str | None  # as LaTeX


def with_entries(formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas, each such declaration as the shape of the letter that its entries are written with.

    Where another letter stands for the whole, A for the a_{ij}, and is used, it takes the place of the entries' letter.
    """
    renamed: dict[str, str] = {}
    rest = [_DECLARED.sub(" ", f.latex) for f in formulas]

    def shape(match: re.Match[str]) -> str:
        declared = _declared(match)
        if declared is None or not _OPENS.search(match.string, 0, match.start()):
            return match[0]
        other = _PLAIN.sub("", declared.letter) != _PLAIN.sub("", declared.entry)
        used = other and any(_stands(declared.letter, text) for text in rest)
        if _BOLD.match(declared.entry):  # vectors side by side
            return match[0] if used else f"{declared.entry}_{{i}}"
        if used:
            renamed[declared.entry] = declared.letter
        return _shape(declared.letter if used or not other else declared.entry, declared, match["shape"])

    found = [replace(f, latex=_DECLARED.sub(shape, f.latex)) for f in formulas]
    for entry, letter in renamed.items():
        pattern = re.compile(rf"(?<![A-Za-z\\]){re.escape(entry)}(?=\s*_)")
        found = [replace(f, latex=pattern.sub(letter.replace("\\", r"\\"), f.latex)) for f in found]
    return found


def _declared(match: re.Match[str]) -> _Declared | None:
    index = (match["index"] or match["short"] or "").strip()
    if match["dots"] is None:
        if match["others"] or not re.fullmatch(r"\\?[A-Za-z](?:\s*,?\s*\\?[A-Za-z])*", index):
            return None  # (x_1, x_2): single entries
        return _Declared(match["letter"], match["entry"], len(re.findall(r"\\[A-Za-z]+|[A-Za-z]", index)), None)
    last = (match["last"] or match["end"]).strip()
    first = {"0": 0, "1": 1}.get(index)
    return None if first is None else _Declared(match["letter"], match["entry"], 1, _count(first, last))


def _count(first: int, last: str) -> str | None:
    """How many entries run from the first to the last: n of 1, …, n and of 0, …, n − 1."""
    if first == 1:
        return last
    shorter = re.fullmatch(r"(\\?[A-Za-z]+)\s*-\s*1", last)
    return shorter[1] if shorter else str(int(last) + 1) if last.isdigit() else None


def _shape(letter: str, declared: _Declared, shape: str | None) -> str:
    if shape is not None:
        return f"{letter}{shape}"
    if declared.size is not None and re.fullmatch(r"\\?[A-Za-z]+|\d+", declared.size):
        return rf"{letter} \in \mathbb{{R}}^{{{declared.size}}}"
    return f"{letter}_{{{','.join('ijkl'[:declared.axes])}}}"


def _stands(letter: str, latex: str) -> bool:
    """The letter by itself, neither part of a word nor of a command."""
    return re.search(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])", latex) is not None


Statements = tuple[tuple[Formula, Node], ...]
Place = tuple[int, Idx, int]  # a, i and r of a i + r


@dataclass(frozen=True)
class _Part:
    """y_{2i+1} = …: where it stands, and its indices."""

    claim: Rel
    tensor: str
    places: tuple[Place, ...]


def with_interleaved(nodes: Statements) -> Statements:
    """The statements with such definitions joined, where their values agree and no entry is left out."""
    heads: dict[str, list[_Part]] = {}
    for _, node in nodes:
        for claim in _claims(node):
            for entry in claim.terms[:-1]:
                places = [_place(i) for i in entry.indices] if isinstance(entry, Entry) else []
                known = tuple(p for p in places if p is not None)
                if isinstance(entry, Entry) and len(known) == len(places) and any(a > 1 for a, _, _ in known):
                    heads.setdefault(entry.tensor, []).append(_Part(claim, entry.tensor, known))
    joined = {part.claim: one for found in heads.values() if (one := _joined(found)) for part in found}
    return tuple((formula, _with(node, joined)) for formula, node in nodes)


def _claims(node: Node) -> Iterable[Rel]:
    parts = node.conds if isinstance(node, And) else (node,)
    return [p for p in parts if isinstance(p, Rel) and set(p.ops) == {"="}]


def _with(node: Node, joined: dict[Rel, Rel]) -> Node:
    if isinstance(node, And):
        return And(tuple(joined.get(c, c) if isinstance(c, Rel) else c for c in node.conds))
    return joined.get(node, node) if isinstance(node, Rel) else node


def _joined(found: list[_Part]) -> Rel | None:
    """y_i = value at ⌊i/a⌋, where the numbers 0, …, a − 1 are added to a i along each axis."""
    first = found[0].places
    same = all([p[:2] for p in part.places] == [p[:2] for p in first] for part in found)
    heads = [sum(part.claim is other.claim for other in found) for part in found]
    whole = all(count == len(part.claim.terms) - 1 for count, part in zip(heads, found, strict=True))
    values = {part.claim.terms[-1] for part in found}
    residues = itertools.product(*(range(a) for a, _, _ in first))
    covered = {tuple(r for _, _, r in part.places) for part in found}
    value = values.pop()
    if values or not same or not whole or covered != {*residues} or not isinstance(value, Expr):
        return None
    at: dict[Node, Node] = {i: Fn("floor", (mul(Num(Fraction(1, a)), i),)) for a, i, _ in first if a > 1}
    return eq(Entry(found[0].tensor, tuple(i for _, i, _ in first)), subst(value, at))


def _place(index: Node) -> Place | None:
    """2, i and 1 of 2i + 1."""
    rest = [t for t in index.terms if not isinstance(t, Num)] if isinstance(index, Add) else [index]
    shift = sum((t.value for t in index.terms if isinstance(t, Num)), Fraction(0)) if isinstance(index, Add) else 0
    match rest:
        case [Idx() as i]:
            return 1, i, int(shift)
        case [Mul((Num(value), Idx() as i))] if value.denominator == 1 and value > 0:
            return int(value), i, int(shift)
    return None
