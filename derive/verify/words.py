"""What sentences claim: their formulas were derived, and what they say of slopes, rules and boundaries holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from derive.axes import extent
from derive.calculus.dependence import reached
from derive.calculus.kinks import Jump, kinks
from derive.calculus.one_window import scope_name, windowed
from derive.expr import Node
from derive.module import Module
from derive.notation import write
from derive.receptive_field import window_facts
from derive.records import dataclass
from derive.sheet import Bullets, Prose, Sheet, Table
from derive.verify.phrases import phrases, told
from derive.verify.report import Check, Verdict
from derive.verify.scope import Scope
from derive.window_axis import WindowAxis
from derive.words import environment

_INLINE = re.compile(r"\$([^$]+)\$")
_QUOTED = re.compile(r"“[^”]*”")  # the card's own words
_SENTENCE = re.compile(r"(?<=[.:])\s+(?=[A-Z*])")


def words(sheet: Sheet, module: Module, scopes: Mapping[str, Scope]) -> list[Check]:
    """The checks of a sheet's sentences; those that hold leave none."""
    texts = list(_texts(sheet))
    said = [*texts, *(figure.caption for figure in sheet.figures())]
    derived = {m.name.partition("_")[2] for m in sheet.formulas() if m.name.startswith(("jacobian_", "message_"))}
    return [*_formulas(sheet, texts, module.readings), *_sayings(said, module, scopes), *phrases(said, module),
            *_titled(sheet.title, module),
            *_boundaries(texts, module, derived if texts and not module.wanted else set())]


def _titled(title: str, module: Module) -> Iterator[Check]:
    """The messages that a title names are those asked for, in their order; the layer's extreme is its own."""
    known = {"jacobian": "backward", "vjp": "backward", "forward": "forward", "parameters": "parameter"}
    asked = list(dict.fromkeys(known[a] for a in module.asked if not module.wanted or a == "forward"))
    said = re.findall(r"forward|backward|parameter", title.rpartition(":")[2])
    other = {"max": "Min ", "min": "Max "}.get(_op(module) if any(w.whole for w in windowed(module)) else "", "—")
    if title and (said != asked or other in title):
        yield Check("words", "", Verdict.REFUTED, "What the title says is asked for", title)


def _texts(sheet: Sheet) -> Iterator[str]:
    for block in sheet.blocks():
        if isinstance(block, Prose):
            yield block.text
        elif isinstance(block, Bullets):
            yield from block.items
        elif isinstance(block, Table):
            yield from (cell for row in (block.header, *block.rows) for cell in row)


def _formulas(sheet: Sheet, texts: Iterable[str], readings: Iterable[str]) -> list[Check]:
    """Formulas in sentences that were neither derived and read back nor quoted from the card: none is a template's."""
    known = {m.latex for m in sheet.inline}
    known |= {formula for reading in readings for formula in _INLINE.findall(reading)}
    return [Check("words", formula, Verdict.NOT_READ, "it stands in the words and was not derived")
            for text in texts for formula in _INLINE.findall(text) if formula not in known]


@dataclass(frozen=True)
class Saying:
    """How a claim in words is recognised, and what must stand in its groups: by the layer and its scopes."""

    name: str
    pattern: str
    holds: Callable[[Module, Mapping[str, Scope]], set[tuple[str, ...]]]


def _rule(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    return {(module.tie_rule,)}


def _shapes(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """x, whether it is a row or a column, n; W, m, n."""
    ways, found = ["row" if module.table.rows else "column"], set()
    for symbol in module.table.symbols:
        sizes = [write(extent(size), module.table) for size in symbol.sizes]
        found.add((symbol.latex, *(ways if len(sizes) == 1 else ()), *sizes))
    return found


def _extreme(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """By its name what the layer takes of a window."""
    return {(word,) for w in windowed(module) for word in _EXTREMES[_op(w.layer)]}


def _op(layer: Module) -> str:
    return str(getattr(layer.equations[-1].terms[1], "op", ""))


def _slopes(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """The slopes of a window's output by the entry that it attains, and by the others, as the evaluator has them."""
    found: set[tuple[str, ...]] = set()
    for number, w in enumerate(windowed(module)):
        entries, out = w.window.entries, w.window.module.output
        for point in islice(scopes[scope_name("window", number)].points(), 5):
            values, value = point.given[entries], point.values[out][()]
            if len(set(values.values())) == len(values):
                slopes = {at: point.partial(out, (), entries, at) for at in values}
                others = {str(s) for at, s in slopes.items() if values[at] != value} or {"0"}
                found |= {(str(s), other) for at, s in slopes.items() if values[at] == value for other in others}
    return found


def _jumps(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """A boundary, what has a kink there by which letter, the slopes that meet and the one that is taken."""
    return {tuple(write(n, module.table, display=False) for n in (j.boundary, j.of, j.wrt, *j.slopes, j.chosen))
            for tensor in module.defined for kink in kinks(tensor, module) for j in kink.jumps}


def _kinks(among: Callable[[Jump], bool]) -> Callable[[Module, Mapping[str, Scope]], set[tuple[str, ...]]]:
    """The boundaries with such a jump, what jumps, and where it does not after all."""
    def found(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
        def text(node: Node) -> str:
            return f"${write(node, module.table, display=False)}$"

        return {(text(j.boundary), text(j.of), " or ".join(map(text, j.equal)))
                for tensor in module.defined for kink in kinks(tensor, module) for j in kink.jumps if among(j)}

    return found


def _generalised(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """The slope taken is one of them, of some kinks none."""
    jumps = (j for tensor in module.defined for kink in kinks(tensor, module) for j in kink.jumps)
    return {("one",), *(("none",) for j in jumps if j.between is False)}


def _lying(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """How windows lie, and how many hold an entry, as they were counted."""
    found: set[tuple[str, ...]] = set()
    for _, field in module.fields:
        facts = window_facts(field, module.input_size if len(module.equations) == 1 else None)
        kind = "tile" if facts.tiles else "overlap" if facts.most > 1 else "leave gaps" if facts.gaps else "meet"
        alone = ("No two windows", "exactly one", "at most one", "one")
        found |= {(said,) for said in (kind, _count(facts.most), *(("Windows",) if facts.most > 1 else alone))}
    return found


def _geometry(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    """The extent of a window and its stride, «3 × 3» and «2»."""
    found: set[tuple[str, ...]] = set()
    for axes in ([a for a in field.axes if isinstance(a, WindowAxis)] for _, field in module.fields):
        extents, steps = [str(a.kernel_size) for a in axes], [str(a.stride) for a in axes]
        whole = " × ".join(extents) if len(axes) > 1 else f"length {extents[0]}" if axes else ""
        found.add((whole, steps[0] if len({*steps}) == 1 else " × ".join(steps)))
    return found


def _entries(module: Module, scopes: Mapping[str, Scope]) -> set[tuple[str, ...]]:
    return {(_count(w.window.n),) for w in windowed(module)}


def _count(number: int) -> str:
    common: Any = environment("en").get_template("common.j2").module
    return str(common.count(number))


_EXTREMES = {"max": ("largest", "maximum", "maximiser", "maximal"),
             "min": ("smallest", "minimum", "minimiser", "minimal")}
_REST = r"(?:(?!\. |, and what)[^;:])*?"  # of a sentence up to where it goes on
_WHERE = (r"[Ww]here (\$[^$]+\$), (\$[^$]+\$) has \w+ derivative with respect to " + _REST
          + rf"(?: unless ({_REST}))?")
SAYINGS = (
    Saying("the rule at a tie", r"rule (?:used|in use) here(?: is|,) `(\w+)`", _rule),
    Saying("who wins a tie", r"takes the (first|last) active", _rule),
    Saying("who wins a tie", r"the (first|last) of the indices, in order, takes", _rule),
    Saying("who wins a tie", r"the (first|last) of them if there are several", _rule),
    Saying("the shape of a letter", r"\$([^$]+)\$ (?:is a|are) (row|column)s? of \$([^$]+)\$", _shapes),
    Saying("the shape of a letter", r"\$([^$]+)\$ (?:is|are) \$([^$]+)\$ × \$([^$]+)\$", _shapes),
    Saying("the slope of an entry", r"slope (\d+) at the entry that attains it, slope (\d+) at the others", _slopes),
    Saying("the slope of an entry",
           r"has slope (\d+) with respect to itself, and .* has slope (\d+) with respect to", _slopes),
    Saying("the slopes at a kink", r"At \$([^$]+)\$ the slope of \$([^$]+)\$ with respect to \$([^$]+)\$ jumps between"
           r" \$([^$]+)\$ and \$([^$]+)\$; the formulas take \$([^$]+)\$", _jumps),
    Saying("a kink", _WHERE + r"(?=[;:])", _kinks(lambda j: bool(j.between))),
    Saying("a slope that is none", _WHERE + r", and what", _kinks(lambda j: j.between is False)),
    Saying("a kink", r"has (\w+) derivative with respect to", lambda module, scopes: {("no",)}),
    Saying("generalised derivatives", r"(one|none) of (?:its|the) generalised derivatives", _generalised),
    Saying("generalised derivatives", r"What the formulas take is (\w+) of these", _generalised),
    Saying("how the windows lie", r"Here the windows \(.*?\) (tile|overlap|leave gaps)", _lying),
    Saying("how the windows lie", r"lies in (?:none or in )?up to (\w+) windows", _lying),
    Saying("how the windows lie", r"lies in (exactly one|at most \w+|no|several) windows?\b", _lying),
    Saying("how the windows lie", r"The sum has (?:at most )?(\w+) term", _lying),
    Saying("how the windows lie", r"(Windows|No two windows) share (?:an )?entr", _lying),
    Saying("the size of a window", r"\((length \d+|\d+(?: × \d+)+), stride (\d+(?: × \d+)*)", _geometry),
    Saying("how many entries a window has", r"into (\w+) open regions", _entries),
    Saying("how many entries a window has", r"for the (\w+) entries that its window covers", _entries),
)


def _sayings(texts: list[str], module: Module, scopes: Mapping[str, Scope]) -> list[Check]:
    """Claims in words that do not hold; of a layer that is a maximum, a word for a minimum."""
    checks, plain = [], [text.replace("\u00a0", " ") for text in texts]
    for saying in SAYINGS:
        said = [found.groups("") for found in told(saying.pattern, plain)]
        wrong = [groups for groups in said if groups not in saying.holds(module, scopes)] if said else []
        checks += [Check("words", "", Verdict.REFUTED, f"What the words say of {saying.name}",
                         f"they say {', '.join(groups)}") for groups in wrong]
    if any(w.whole for w in windowed(module)):
        able = {word for word, in _extreme(module, scopes)}
        others = {w for names in _EXTREMES.values() for w in names} - able
        found = [w for text in texts for w in re.findall(r"[a-z]+", _QUOTED.sub("", _INLINE.sub("", text)))
                 if w in others]
        checks += [Check("words", "", Verdict.REFUTED, "What the layer takes of a window", f"the words say {word}")
                   for word in dict.fromkeys(found)]
    return checks


# what a sentence says of a boundary, by a phrase of it
_PHRASES = {"jumps": "jumps between", "smooth": "there the derivative exists", "broken": "no derivative of any kind",
            "missed": "and do not hold"}


def _boundaries(texts: list[str], module: Module, derived: set[str]) -> list[Check]:
    """Each boundary is said to be what it is, by name of what is defined, and nothing else.

    Something must be said of it where the sheet has a derivative by a letter of ``derived`` that stands behind it.
    """
    sentences = [s for text in texts for s in _SENTENCE.split(text)]
    checks = []
    for tensor in module.defined:
        needed = bool(derived & reached(module.definition(tensor)[0], module))
        for kind, boundary, of in _facts(tensor, module):
            formulas = {f"${write(node, module.table, display=False)}$" for node in (boundary, of)}
            about = [s for s in sentences if all(f in s for f in formulas)]
            said = {name for name, phrase in _PHRASES.items() if any(phrase in s for s in about)}
            if (about or needed) and said != {kind}:
                checks.append(Check("words", "", Verdict.REFUTED, f"What the words say of a boundary of `{tensor}`",
                                    f"{' and '.join(sorted(said)) or 'nothing'}; it is {kind}"))
    return checks


def _facts(tensor: str, module: Module) -> Iterator[tuple[str, Node, Node]]:
    """What is so on the boundaries of a definition: of which kind, where, of what."""
    for kink in kinks(tensor, module):
        for jumps, name in ((kink.jumps, "jumps"), (kink.missed, "missed")):
            yield from ((name, j.boundary, j.of) for j in jumps)
        for places, name in ((kink.smooth, "smooth"), (kink.broken, "broken")):
            yield from ((name, r, kink.of) for r in places)
