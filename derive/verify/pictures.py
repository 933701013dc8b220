"""What a picture says, read back from what is drawn: whom arrows join, numbers, slopes, whose windows cells are in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import cache
from itertools import compress, pairwise, product
from typing import Any

from derive.axes import with_axes
from derive.errors import DeriveError
from derive.expr import Entry, Matrix, Num, Reduce, Rel, conditions, walk
from derive.magnitudes import held
from derive.module import Module
from derive.notation import write
from derive.numeric.clarke import active_sets
from derive.numeric.evaluator import windows
from derive.numeric.point import Index
from derive.numeric.shapes import rank
from derive.receptive_field import ReceptiveField, WindowAxis
from derive.sheet import Cell, Figure, Label, Line, Outline, Point, Scene, Sheet, Trial
from derive.verify.curves import GIVEN, curves
from derive.verify.grids import misdrawn
from derive.verify.report import Check, Verdict
from derive.words import pattern, templates, wording

_NEAR = 0.1  # how far beside its cell an arrow may end
_BRACES = re.compile("[{}]")  # of \delta_{a^{(l)}} an entry shows \delta_{a^{(l)}, ij}
_DIGITS, _FORMULA = re.compile(r"\d+"), re.compile(r"\$[^$]+\$")
_COORDINATE = re.compile(r"\$-?\d+\$")
_NUMBER = re.compile(r"-?\d+(?:[./]\d+)?")
_ADDEND = re.compile(r"[+-]?\d+(?:/\d+)?")
_WORD = re.compile(r"[^\W\d_]{3,}")
_COMPUTED = {"target": r"(\$[^$]+\$)", "sources": r"([^.]*)"}
_WAY = {"output": r"(?P<output>\$[^$]+\$)", "source": r"(?P<source>\$[^$]+\$)",
        "value": rf"(?P<value>{_NUMBER.pattern})", "gradient": rf"(?P<gradient>{_NUMBER.pattern})"}
_SPAN = {"low": r"(-?\d+)", "high": r"(-?\d+)"}


def pictures(sheet: Sheet, module: Module) -> list[Check]:
    """The checks of ways and slopes; of graphs, windows, captions and the page's numbers those that fail."""
    found = [c for c in (tried(sheet, sheet.trial, module),) if c.verdict is Verdict.REFUTED] if sheet.trial else []
    for figure in sheet.figures():
        name, scene = figure.scene.name, figure.scene
        if name in ("routing", "curve"):
            said = next((c.facts for c in sheet.claims if c.words == figure.caption), None)
            found += curves(figure, module, said) if name == "curve" else [
                *routing(scene, said, module.language), *numbers(scene, module, sheet)]
        else:
            found += [check for check in (edges(scene, module) if name == "graph" else fields(figure, module),)
                      if check.verdict is Verdict.REFUTED]
        said = next((c.facts for c in sheet.claims if c.words == figure.caption), {})
        if wrong := _mislabelled(scene, module) or _mistitled(scene, module, said):
            found.append(_verdict("The titles and the legend of a picture name what is drawn", wrong, 1))
        drawn = " ".join(i.text for i in scene.items if isinstance(i, (Cell, Label)))
        alien = [f for f in _FORMULA.findall(figure.caption)
                 if not GIVEN.search(f) and _BRACES.sub("", f[:-1]) not in _BRACES.sub("", drawn)]
        strange = _strange(scene, module)
        if strange:
            found.append(_verdict("The words of a picture are those that were read, of this layer", strange, 1))
        if alien:
            found.append(_verdict("The formulas of a picture's caption", f"{', '.join(alien)} is not in it", 1))
    return found


def _mislabelled(scene: Scene, module: Module) -> str | None:
    """Whether a mark has no name in the legend, or another mark's."""
    words: Any = wording(module.language, "figures")
    ops = {n.op for e in module.equations for n in walk(e) if isinstance(n, Reduce)} & {"max", "min"}
    names = {role: {getattr(words, f"legend_{role}")().strip()} for role in ("both", "padding", "gap", "shared")}
    names["chosen"] = {words.legend_chosen(op).strip() for op in ops}
    legend = [(c.role, after.text) for c, after in pairwise(scene.items)
              if isinstance(c, Cell) and isinstance(after, Label) and after.role == "legend" and c.width < 1]
    wrong = [f"“{text}” stands beside the mark of {role}" for role, text in legend
             if role in names and text not in names[role]]
    marked = {c.role for c in scene.items if isinstance(c, Cell)} & {*names}
    wrong += [f"the legend does not name the mark of {role}" for role in sorted(marked - {role for role, _ in legend})]
    return wrong[0] if wrong else None


def _mistitled(scene: Scene, module: Module, said: Mapping[str, Any]) -> str | None:
    """Whether the tensors of windows, or the graphs of a function and its derivative, have each other's names."""
    titles = [i for i in scene.items if isinstance(i, Label) and i.role == "title"]
    found, known = [t.text for t in titles], list[str]()
    if scene.name == "receptive-fields":
        outputs = {text.partition("_")[0].strip("$") for text in said.get("outputs", ())}
        known = [said["source"], *(f"${name}$" for name in outputs)] if said else []
        found = [*found[:1], f"${found[1].strip('$').partition('_')[0]}$"] if len(found) > 1 else found
    elif scene.name == "curve" and said:
        ends = {i.role: (i.points[0][0], i.points[-1][0]) for i in scene.items if isinstance(i, Line)}
        variable = f"${write(Entry(module.inputs[0], ()), module.table, display=False)}$"
        known = [name for role, name in (("curve", said["function"]), ("slope", said["derivative"])) if role in ends
                 for name in (variable, name)]
    return f"{' and '.join(found)} stand for {' and '.join(known)}" if known and found != known else None


@cache
def _vocabulary(language: str) -> frozenset[str]:
    return frozenset(_WORD.findall((templates() / language / "figures.j2").read_text("utf-8")))


def _strange(scene: Scene, module: Module) -> str:
    """A word of a picture that no template has, or what it says of the other extreme."""
    words: Any = wording(module.language, "figures")
    texts = [scene.title, scene.description, *(i.text for i in scene.items if isinstance(i, Label))]
    ops = {n.op for e in module.equations for n in walk(e) if isinstance(n, Reduce)}
    wrong = {words.legend_chosen(op).strip() for op in {"max", "min"} - ops}
    known = _vocabulary(module.language) | ops
    own = {*_WORD.findall(" ".join(s.latex for s in module.table.symbols))}
    said = (w for text in texts for w in _WORD.findall(_FORMULA.sub("", text)))
    return next((w for w in said if w not in known | own), "") or next((t for t in texts if t in wrong), "")


def _read(language: str, macro: str, facts: Mapping[str, str], description: str) -> list[Any]:
    """The facts of each sentence of a description that this macro makes."""
    return pattern(language, "figures", macro, **facts).findall(description.replace("−", "-"))


def edges(scene: Scene, module: Module) -> Check:
    """An arrow forward joins each tensor and what is computed from it, one back all that is learnt from."""
    known = {f"${write(Entry(n, ()), module.table, display=False)}$": n for n in (*module.given, *module.defined)}
    names = {c.text: [known[part] for part in c.text.split(", ") if part in known] for c in scene.items
             if isinstance(c, Cell)}
    joined: dict[str, set[tuple[str, str]]] = {"forward": set(), "backward": set()}
    for line in scene.items:
        if isinstance(line, Line) and line.role in joined:
            ends = [_cell(scene, line.points[n], names) for n in (0, -1)]
            joined[line.role] |= set(product(*(names[end.text] if end else [""] for end in ends)))  # type: ignore[arg-type]
    forward = {(s, t) for t in module.defined for s in module.sources(t)}
    back = {(t, s) for s, t in forward if s not in (*module.constants, *held(module))} | {("", module.output)}
    said = {(known.get(source), known.get(target))
            for target, sources in _read(module.language, "computed", _COMPUTED, scene.description)
            for source in _FORMULA.findall(sources)}
    wrong = [f"`{a}` and `{b}`" for a, b in sorted(joined["forward"] ^ forward | joined["backward"] ^ back)]
    wrong += ["what the words say"] if said != forward else []
    constant, table = {*module.constants, *held(module)}, with_axes(module).table
    for cell in (c for c in scene.items if isinstance(c, Cell) and names[c.text]):
        role = ("parameter" if {*names[cell.text]} <= {*module.parameters} else
                "constant" if {*names[cell.text]} <= constant else "tensor")
        notes = [f"${write(Entry(f'delta_{n}', ()), table, display=False)}$" for n in names[cell.text]]
        wrong += [f"{cell.text}, drawn as {cell.role} with {cell.note or 'no message'}"] if (cell.role, cell.note) != (
            role, "" if role == "constant" else ", ".join(notes)) else []
    return _verdict("The picture's arrows join what is computed from each other",
                    f"an arrow is wrong or missing between {wrong[0]}" if wrong else None, len(forward))


def fields(figure: Figure, module: Module) -> Check:
    """The cells marked are those of the windows, by the evaluator, of the outputs marked; so say the words."""
    cells = [c for c in figure.scene.items if isinstance(c, Cell) and c.width == 1]
    source = cells[:1]
    for cell in cells[1:]:
        source += [cell] if any(abs(cell.x - c.x) + abs(cell.y - c.y) == 1 for c in source) else []
    left, top = min(c.x for c in source), min(c.y for c in source)
    right, bottom = max(c.x for c in source) + 1, max(c.y for c in source) + 1
    marks = [i for i in figure.scene.items if isinstance(i, Label) and i.role == "coordinate"]
    if not all(_COORDINATE.fullmatch(m.text) for m in marks):
        return _verdict("The cells that the picture marks are those of the windows", "a coordinate is none", len(marks))
    across = {round(m.x - 0.5, 3): int(m.text[1:-1]) for m in marks if 0 < top - m.y < 0.5 and left < m.x < right}
    down = {round(m.y - 0.5, 3): int(m.text[1:-1]) for m in marks
            if 0 < left - m.x < 0.5 and top < m.y < bottom}
    axes = [down, across] if down else [across]
    at = {tuple(axis.get(round(v, 3)) for axis, v in zip(axes, (c.y, c.x)[-len(axes):], strict=True)): c
          for c in source}
    outputs = [c for c in cells if c not in source]
    if wrong := misdrawn(figure.scene, source, outputs):
        return _verdict("The cells that the picture marks are those of the windows", wrong, len(at))
    start = min(c.y for c in outputs), min(c.x for c in outputs)
    marked = {c.role: tuple(round(v - o) for v, o in zip((c.y, c.x), start, strict=True))[-len(axes):]
              for c in outputs if c.role != "cell"}
    shapes = dict.fromkeys((*module.given, *module.defined), tuple(map(len, axes)))
    found = [_misread(figure, at, marked, windows(module, shapes, name)[0], field, module.language)
             for name, field in module.fields if len(field.axes) == len(axes)]
    wrong = None if None in found else found[0] if found else "the layer has no such windows"
    sizes = [1 + max(i for i in axis if i is not None) for axis in zip(*at, strict=True)]
    sizes += [len({c.y for c in outputs}), len({c.x for c in outputs})][-len(axes):]
    if [*map(int, _DIGITS.findall(figure.scene.description.partition(".")[0]))] != sizes:  # the first sentence
        wrong = wrong or "the words name other sizes"
    return _verdict("The cells that the picture marks are those of the windows", wrong, len(at))


def _misread(figure: Figure, at: Mapping[tuple[int | None, ...], Cell], marked: Mapping[str, Index],
             windows: list[list[Index]], field: ReceptiveField, language: str) -> str | None:
    """What of the marks, the outlines or the words is not so for these windows; ``marked`` holds outputs by role."""
    outlines = [o for o in figure.scene.items if isinstance(o, Outline)]
    for place, cell in at.items():
        inside = [role for role, out in marked.items()
                  if all(i in axis[k] for i, axis, k in zip(place, windows, out, strict=True))]
        free = "cell" if all(any(i in w for w in axis) for i, axis in zip(place, windows, strict=True)) else "gap"
        if cell.role != ("padding" if None in place else "both" if len(inside) == 2 else (*inside, free)[0]):
            return f"the cell {place} is marked as {cell.role}"
        around = {o.role for o in outlines if o.x <= cell.x < o.x + o.width and o.y <= cell.y < o.y + o.height}
        if None not in place and around != {*inside}:
            return f"the cell {place} is outlined as {' and '.join(sorted(around)) or 'nothing'}"
    named = [(c.role, c.text or (after.text if isinstance(after, Label) else ""))
             for c, after in pairwise(figure.scene.items) if isinstance(c, Cell)]
    wrong = next((text for role, text in named if role in marked and "$" in text
                  and tuple(map(int, _DIGITS.findall(text)))[-len(windows):] != marked[role]), None)
    said = [tuple(map(int, span)) for span in _read(language, "span", _SPAN, figure.scene.description)]
    covered = [axis[k] for out in marked.values() for axis, k in zip(windows, out, strict=True)]
    lengths = [1 + max(i for i in axis if i is not None) for axis in zip(*at, strict=True)] * len(marked)
    named_others = [max(a, 0) > w[0] or b < w[-1] if w else b >= 0 and a < n
                    for (a, b), w, n in zip(said, covered, lengths, strict=True)]
    starts = [(a.stride * k - a.padding, a.dilation * (a.kernel_size - 1)) for out in marked.values()
              for k, a in zip(out, field.axes, strict=True) if isinstance(a, WindowAxis)]
    named_others += [span not in ((start, start + reach), (w[0], w[-1]) if w else ())
                     for span, w, (start, reach) in zip(said, covered, starts, strict=False)]
    if wrong is None and any(named_others):
        return "the words name other cells"
    return wrong and f"{wrong} stands at another window"


def tried(sheet: Sheet, trial: Trial, module: Module) -> Check:
    """What a page lets its reader change: the windows are the evaluator's, the numbers those of the example."""
    wrt, output = module.inputs[0], module.output
    names = (wrt, output, f"delta_{output}", f"delta_{wrt}")
    numbers = _stated(sheet, wrt, names[2])
    shape = (len(trial.source), len(trial.source[0]))[-rank(module, wrt):]
    known = windows(module, dict.fromkeys((*module.given, *module.defined), shape), module.fields[0][0])[0]
    ops = {n.op for n in walk(module.equations[0]) if isinstance(n, Reduce)}
    wrong = [what for what, ours, theirs in (
        ("the windows", [[tuple(w) for w in axis] for axis in known], [[*axis] for axis in trial.windows]),
        ("the numbers", numbers, [trial.source, trial.upstream]), ("the rule", module.tie_rule, trial.tie_rule),
        ("the letters", [write(Entry(n, ()), module.table, display=False) for n in names], [*trial.letters]),
        ("the extreme", ops, {trial.op})) if ours != theirs]
    return _verdict("The numbers that a page lets its reader change", wrong[0] if wrong else None, len(wrong))


def _stated(sheet: Sheet, *names: str) -> list[tuple[tuple[Fraction | int, ...], ...]]:
    """The rows of these tensors in the worked example."""
    shown = {n.terms[0]: n.terms[1] for m in sheet.formulas() if m.name == "example_given"
             for n in conditions(m.expr) if isinstance(n, Rel)}
    return [tuple(tuple(e.value for e in row if isinstance(e, Num)) for row in m.rows)
            for m in (shown.get(Entry(name, ())) for name in names) if isinstance(m, Matrix)]


def routing(scene: Scene, said: Mapping[str, Any] | None = None, language: str = "en") -> list[Check]:
    """Each way forward joins equal numbers, and what comes back to an entry is the sum of the gradients sent to it."""
    ways = [(line, _cell(scene, line.points[0]), _cell(scene, line.points[-1])) for line in scene.items
            if isinstance(line, Line) and line.smooth]
    if not ways:
        return []  # one arrow for all
    evidence = f"The picture's {len(ways)} arrows join each output and the entry that it selected"
    wrong = next((f"an arrow from {line.points[0]} ends at no entry" for line, start, end in ways
                  if start is None or end is None), None)
    came: dict[Cell, list[Fraction]] = {}
    for line, start, end in ways:
        if start is None or end is None:
            continue
        if line.role == "forward" and _number(start) != _number(end):
            wrong = wrong or f"an arrow joins {_number(start)} and {_number(end)}"
        if line.role == "backward":
            came.setdefault(end, []).append(_number(start))
        if (start if line.role == "forward" else end).role not in ("chosen", "shared"):
            wrong = wrong or "an arrow ends at an entry that is not marked"
    told = [(way["value"], way["gradient"]) for way in _ways(scene, language)]
    drawn = [sorted(_number(start) for line, start, _ in ways if line.role == role and start is not None)
             for role in ("forward", "backward")]
    if told and [sorted(map(Fraction, numbers)) for numbers in zip(*told, strict=True)] != drawn:
        wrong = wrong or "the words name other numbers"
    if said is not None and said["shared"] != any(len(parts) > 1 for parts in came.values()):
        wrong = wrong or "the caption says otherwise whether several gradients arrive at an entry"
    for cell, parts in came.items():
        if sum(parts) != _number(cell):
            wrong = wrong or f"the gradients {', '.join(map(str, parts))} come to an entry with {_number(cell)}"
        if cell.note and sorted(map(Fraction, _ADDEND.findall(cell.note.replace("−", "-")))) != sorted(parts):
            wrong = wrong or f"{cell.note} stands where {', '.join(map(str, parts))} come"
        if cell.role != ("chosen" if len(parts) == 1 else "shared"):
            wrong = wrong or f"an entry to which {len(parts)} gradients come is marked as {cell.role}"
    return [_verdict(evidence, wrong, len(ways))]


def _ways(scene: Scene, language: str) -> list[dict[str, str]]:
    """Output, value, input and gradient of each way, as the words have it."""
    return [found.groupdict() for op in ("max", "min") for found in pattern(
        language, "figures", "way", op=f"={op}", **_WAY).finditer(scene.description.replace("−", "-"))]


def numbers(scene: Scene, module: Module, sheet: Sheet | None = None) -> list[Check]:
    """What is drawn as an output, by the evaluator, or as a gradient, by the entries selected, and is another."""
    drawn = [c for c in scene.items if isinstance(c, Cell) and _NUMBER.search(_tail(c))]
    titles = [i for i in scene.items if isinstance(i, Label) and i.role == "title"]
    wrt, output = module.inputs[0], module.output
    named = (f"${write(Entry(n, ()), module.table, display=False)}$" for n in (
        wrt, f"delta_{wrt}", output, f"delta_{output}"))
    grids = [_grid([i for i in titles if i.text == name], drawn, rank(module, wrt)) for name in named]
    source, gradient, *others = ({at: _number(cell) for at, cell in grid.items()} for grid in grids)
    try:
        active = active_sets(module, {wrt: source}, {wrt: tuple(1 + max(axis) for axis in zip(*source, strict=True))})
    except DeriveError:
        return []
    strange = [c.text for c in drawn if _NUMBER.fullmatch(_tail(c).strip(" $")) is None]
    if strange:
        return [_verdict("The picture's numbers", f"{strange[0]} is none", len(drawn))]
    aside = [_number(c) for c in drawn if c.width > 1]  # in a column: those forward, then those backward
    outputs, upstream = ([*grid.values()] or part for grid, part in zip(
        others, (aside[:len(active)], aside[len(active):]), strict=True))
    if not source or not len(outputs) == len(upstream) == len(active):
        return [_verdict("The picture's numbers", "one is missing", len(drawn))]
    sent = dict.fromkeys(source, Fraction(0))
    for window, value in zip(active, upstream, strict=True):
        sent[window.active[0]] += value
    selected = [source[window.active[0]] for window in active]
    wrong = [f"{a} stands where {b} is selected" for a, b in zip(outputs, selected, strict=True) if a != b]
    wrong += [f"{gradient.get(at)} stands at {at}, and {come} comes" for at, come in sent.items()
              if come != gradient.get(at)]
    taken = [window.active[0] for window in active]
    wrong += [f"an entry that {taken.count(at)} outputs take is marked as {cell.role}" for grid in grids[:2]
              for at, cell in grid.items() if cell.role != ("cell", "chosen", "shared")[min(2, taken.count(at))]]
    def entries(name: str, places: Iterable[Index]) -> list[str]:
        return [f"${write(Entry(name, tuple(map(Num, at))), module.table, display=False)}$" for at in places]

    places = [w.output for w in active]
    labels = entries(output, places) + entries(f"delta_{output}", places)
    wrong += [f"{c.text} stands beside the way of {label}" for c, label in zip(
        (c for c in drawn if c.width > 1), labels, strict=False) if c.text.partition(" = ")[0] != label[:-1]]
    told, known_ways = _ways(scene, module.language), zip(labels, entries(wrt, taken), strict=False)
    if told and [(way["output"], way["source"]) for way in told] != [*known_ways]:
        wrong.append("the words name other entries")
    known = _stated(sheet, wrt, f"delta_{output}") if sheet is not None else []
    if known and [[*source.values()], upstream] != [[n for row in rows for n in row] for rows in known]:
        wrong.append("the numbers of the example are others")
    return [_verdict("The picture's numbers", wrong[0], len(drawn))] if wrong else []


def _grid(titles: list[Label], cells: list[Cell], axes: int) -> dict[Index, Cell]:
    """The cells, by place, of the grid whose title stands above its middle, or of one axis at its left."""
    rest = sorted((c for c in cells if c.width == 1), key=lambda c: (c.y, c.x))
    while titles and rest:
        found, rest = rest[:1], rest[1:]
        for cell in found:
            beside = [abs(c.x - cell.x) + abs(c.y - cell.y) < 1.01 for c in rest]
            found += compress(rest, beside)
            rest = [c for c, near in zip(rest, beside, strict=True) if not near]
        left, right, top = min(c.x for c in found), max(c.x for c in found) + 1, min(c.y for c in found)
        at = ((left + right) / 2, top - 0.4) if axes == 2 else (left - 0.55, top + 0.5)
        if any(abs(title.x - at[0]) + abs(title.y - at[1]) < 0.1 for title in titles):
            return {(round(c.y - top), round(c.x - left))[-axes:]: c
                    for c in sorted(found, key=lambda c: (c.y, c.x))}
    return {}


def _verdict(evidence: str, wrong: str | None, count: int) -> Check:
    return Check("picture", "", Verdict.TESTED if wrong is None else Verdict.REFUTED, evidence, wrong, points=count)


def _cell(scene: Scene, end: Point, texts: Collection[str] = ()) -> Cell | None:
    """The cell, with a number or one of the texts, in or beside which an arrow ends."""
    return next((c for c in scene.items if isinstance(c, Cell)
                 and (c.text in texts if texts else _NUMBER.search(_tail(c)))
                 and c.x - _NEAR <= end[0] <= c.x + c.width + _NEAR
                 and c.y - _NEAR <= end[1] <= c.y + c.height + _NEAR), None)


def _tail(cell: Cell) -> str:
    """The number of a cell: behind the equals sign, where it has one."""
    return cell.text.replace("−", "-").rpartition("=")[2]


def _number(cell: Cell) -> Fraction:
    found = _NUMBER.search(_tail(cell))
    assert found is not None
    return Fraction(found[0])
