"""The facts of which sentences are made: what each must be for the layer, whoever says it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice, product
from typing import Any

from derive.axes import axes, extent
from derive.calculus.called import names
from derive.calculus.dependence import reached
from derive.calculus.kinks import Jump, Kink, kinks
from derive.calculus.matrix_form import matrix_form
from derive.calculus.messages import upstream
from derive.calculus.one_window import WHOLE, OneWindow, scope_name, scope_tables, windowed
from derive.calculus.whole_arrays import lettered
from derive.expr import ZERO, Entry, Extremum, Idx, Node, Num, Partial, Reduce, Rel, walk
from derive.layers import spoken
from derive.lines import WIDTH, width
from derive.magnitudes import held
from derive.module import Module
from derive.notation import write
from derive.notation.symbols import gradient
from derive.receptive_field import AdaptiveAxis, WindowAxis, window_facts
from derive.records import dataclass
from derive.sheet import Block, Claim, Math, Sheet, Table
from derive.verify import beside, told
from derive.verify.scope import Scope
from derive.words import words

_DECIMALS = re.compile(r"\d\.(\d+)")


def formula(node: Node, module: Module) -> str:
    """As it stands in a sentence."""
    return f"${write(node, module.table, display=False)}$"


@dataclass(frozen=True)
class Said:
    """What may be said of a layer."""

    module: Module
    scopes: Mapping[str, Scope]
    sheet: Sheet

    def text(self, node: Node) -> str:
        """As it stands in a sentence."""
        return formula(node, self.module)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """What stands in sentences, by its text."""
        return {f"${m.latex}$": m.expr for m in self.sheet.inline}

    @cached_property
    def blocks(self) -> list[Block]:
        return list(self.sheet.blocks())

    @cached_property
    def texts(self) -> list[tuple[int, str]]:
        """The places of sentences among the blocks."""
        return beside.texts(self.blocks)

    @cached_property
    def answer(self) -> list[Math]:
        """The formulas of the answer."""
        return [block for block in self.sheet.answer if isinstance(block, Math)]

    @cached_property
    def decimals(self) -> list[str]:
        """What stands behind the points of the numbers in tables."""
        cells = (cell for b in self.blocks if isinstance(b, Table) for row in b.rows for cell in row[1:])
        return [d for cell in cells for d in _DECIMALS.findall(cell)]

    @property
    def gradient(self) -> str:
        """What gradients are called in a sentence."""
        letter = gradient(scope_tables(self.module)["layer"])
        return "δ" if letter == r"\delta" else f"*{letter}*"

    @property
    def derived(self) -> bool:
        """The answer has derivatives."""
        return any(m.name.startswith(("jacobian_", "message_", "between")) for m in self.answer)

    @cached_property
    def everywhere(self) -> list[Node]:
        """All that stands in the definitions, those of functions too, and in what is derived from them."""
        bodies = (*self.module.equations, *(f.body for f in self.module.functions))
        return [n for body in (*bodies, *(m.expr for m in self.sheet.formulas())) for n in walk(body)]

    @property
    def output(self) -> str:
        return self.text(self.module.definition(self.module.output)[0])

    def reached(self, tensor: str) -> frozenset[str]:
        """All that a tensor is computed from, with itself."""
        return reached(Entry(tensor, ()), self.module) | {tensor}

    def names(self, letters: list[str]) -> set[str]:
        """The tensors of letters in a sentence, with their indices or without."""
        return self.named(letters) - {""}

    def named(self, letters: list[str]) -> set[str]:
        """The same, with "" for what is none."""
        entries = {letter: self.nodes.get(letter) for letter in letters}
        return {n.tensor if isinstance(n, Entry) else self._names.get(letter, "") for letter, n in entries.items()}

    @cached_property
    def _names(self) -> dict[str, str]:
        module, found = self.module, {}
        for symbol in module.table.symbols:
            for entry in (Entry(symbol.name, ()), Entry(symbol.name, tuple(map(Idx, symbol.axes)))):
                found[formula(entry, module)] = symbol.name
        return found

    @cached_property
    def roles(self) -> dict[str, set[str]]:
        module = self.module
        return {"input": {*module.inputs}, "assumed": {*module.assumed}, "parameter": {*module.parameters},
                "constant": {*module.constants, *held(module)},
                "intermediate": {*module.defined} - {module.output}, "output": {module.output}}

    def extents(self, tensor: str) -> list[str]:
        """How far the axes of a tensor go."""
        symbol = self.module.table.named(tensor)
        return [self.text(extent(size)) for size in symbol.sizes] if symbol is not None else []

    @property
    def lettered(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Each letter, its role, and where its indices run."""
        for role, tensors in self.roles.items():
            own = tensors - ({*held(self.module)} if role in ("input", "assumed") else {*()})
            own -= self.roles["assumed"] if role == "input" else {*()}
            for symbol in filter(None, map(self.module.table.named, own)):
                starts = [axes(self.module).origin(symbol.name, d) for d in range(len(symbol.axes))]
                runs = [Rel((Num(1), Idx(a), extent(n)), ("≤", "≤")) if start else Rel(
                    (ZERO, Idx(a), extent(n)), ("≤", "<")) for a, n, start in zip(
                        symbol.axes, symbol.sizes, starts, strict=True)]
                yield (self.text(Entry(symbol.name, tuple(map(Idx, symbol.axes)))),
                       (role, ", ".join(map(self.text, runs)) or words(self.module.language, "layer", "scalar")))

    @cached_property
    def defining(self) -> set[str]:
        """The forms in which a title may give the definition of the output, or none."""
        entry, value = self.module.equations[-1].terms
        whole = matrix_form(entry, value, self.module)
        return {"", *(formula(f, self.module) for f in (self.module.equations[-1], *([whole] if whole else [])))}

    @cached_property
    def kinks(self) -> list[Kink]:
        return [kink for tensor in self.module.defined for kink in kinks(tensor, self.module)]

    @cached_property
    def jumps(self) -> list[Jump]:
        return [jump for kink in self.kinks for jump in kink.jumps]

    @cached_property
    def ops(self) -> set[str]:
        """The extremes that the layer takes."""
        bodies = (*self.module.equations, *(f.body for f in self.module.functions))
        taken = {n.op for body in bodies for n in walk(body) if isinstance(n, (Reduce, Extremum))}
        return {w.window.op for w in windowed(self.module)} or taken

    @cached_property
    def axes(self) -> list[list[WindowAxis]]:
        return [[a for a in field.axes if isinstance(a, WindowAxis)] for _, field in self.module.fields]

    @cached_property
    def lying(self) -> list[Any]:
        """How the windows lie, as they were counted."""
        size = self.module.input_size if len(self.module.equations) == 1 else None
        return [window_facts(field, size) for _, field in self.module.fields]

    @cached_property
    def slopes(self) -> set[tuple[str, str]]:
        """Of a window's output by the entry that it attains, and by the others, as the evaluator has them."""
        found: set[tuple[str, str]] = set()
        for number, w in enumerate(windowed(self.module)):
            entries, out = w.window.entries, w.window.module.output
            for point in islice(self.scopes[scope_name("window", number)].points(), 5):
                values, value = point.given[entries], point.values[out][()]
                if len(set(values.values())) == len(values):
                    slopes = {at: str(point.partial(out, (), entries, at)) for at in values}
                    others = {s for at, s in slopes.items() if values[at] != value} or {"0"}
                    found |= {(s, other) for at, s in slopes.items() if values[at] == value for other in others}
        return found


def _window(number: str) -> Callable[[Said, Any], bool]:
    """A list of one number for each axis of some windows."""
    return lambda layer, value: list(value) in [[getattr(a, number) for a in axes] for axes in layer.axes]


def _role(role: str) -> Callable[[Said, Any], bool]:
    return lambda layer, letters: layer.named(letters) <= layer.roles[role]


def _of_window(*nodes: Callable[[OneWindow], Node]) -> Callable[[Said, Any], bool]:
    """The formulas of a fact are these, of some window."""
    return lambda layer, text: [*map(layer.nodes.get, beside.FORMULA.findall(text))] in [
        [node(w.window) for node in nodes] for w in windowed(layer.module)]


def _entries(layer: Said, text: str) -> bool:
    """All entries of a window, or the first and the last of them."""
    return any(_of_window(*(lambda w, at=at: w.z(at) for at in places))(layer, text) for w in windowed(layer.module)
               for places in [range(1, w.window.n + 1) if "…" not in text else (1, w.window.n)])


def _recounted(place: int) -> Callable[[Said, Any], bool]:
    return lambda layer, texts: texts == [layer.text(pair[place]) for pair in layer.module.renumbered]


def _overlap(layer: Said, value: bool) -> bool:
    return value in {field.overlaps for _, field in layer.module.fields} | {facts.most > 1 for facts in layer.lying}


def _shape(layer: Said, shapes: list[tuple[tuple[str, ...], list[str]]]) -> bool:
    table = scope_tables(layer.module)[WHOLE]
    forms = (lettered(n.tensor, table, m.latex) for m in layer.sheet.answer if isinstance(m, Math)
             and m.scope == WHOLE for n in walk(m.expr) if isinstance(n, Entry))
    known = {(tuple(formula(extent(size), layer.module) for size in sizes), f"${write(letter, table, display=False)}$")
             for letter, sizes in filter(None, forms)}
    return all((sizes, letter) in known for sizes, letters in shapes for letter in letters)


# what a fact of that name must be, in all macros or in one
FACTS: dict[str, Callable[[Said, Any], bool]] = {
    "op": lambda layer, op: op in layer.ops,
    "zeros": lambda layer, op: not op or op in layer.ops,
    "rule": lambda layer, rule: rule == layer.module.tie_rule,
    "n": lambda layer, n: n in {w.window.n for w in windowed(layer.module)},
    "window_entries.output": lambda layer, output: output in {
        layer.text(w.layer.definition(w.layer.output)[0]) for w in windowed(layer.module)},
    "window_entries.f": _of_window(lambda w: w.f), "window_entries.entries": _entries,
    "axes": lambda layer, axes: axes in {len(field.axes) for _, field in layer.module.fields},
    "window_derivative.other": _of_window(lambda w: w.z(2)), "window_derivative.z": _of_window(lambda w: w.z(1)),
    "why_below.h": _of_window(lambda w: w.named("step")), "row": _of_window(lambda w: w.named("indicator")),
    "locally_constant.name": _of_window(lambda w: w.named("indicator", w.q)), "active": _of_window(lambda w: w.active),
    "one_winner.unique": _of_window(lambda w: w.unique),
    "ties_directional.v": _of_window(lambda w: w.named("direction")),
    "matrix_form.z": _of_window(lambda w: w.z_all), "z": _of_window(lambda w: w.z(w.q)),
    "example_mask.mask": lambda layer, mask: layer.named([mask]) == {"mask"},
    "window_derivative.slopes": lambda layer, slopes: slopes in layer.slopes,
    "why_remark.slopes": lambda layer, slopes: slopes in layer.slopes,
    "kernel_size": _window("kernel_size"), "stride": _window("stride"), "dilation": _window("dilation"),
    "padding": lambda layer, ends: ends in [[(a.padding, a.padding_after) for a in axes] for axes in layer.axes],
    "larger": lambda layer, larger: not larger or any(all(a.kernel_size >= a.stride for a in x) for x in layer.axes),
    "facts": lambda layer, facts: facts in layer.lying,
    "overlaps": _overlap,
    "padded": lambda layer, padded: padded in {f.padded for _, f in layer.module.fields} | {
        any(a.padding or a.padding_after for a in axes) for axes in layer.axes},
    "dilated": lambda layer, dilated: dilated in {max(field.dilation) > 1 for _, field in layer.module.fields},
    "gaps": lambda layer, gaps: gaps in {facts.gaps for facts in layer.lying},
    "ceil_mode": lambda layer, ceil: ceil in {any(a.ceil_mode for a in axes) for axes in layer.axes},
    "rank": lambda layer, rank: rank in {len(symbol.axes) for symbol in layer.module.table.symbols} | {
        len(field.axes) for _, field in layer.module.fields},
    "scalar": lambda layer, scalar: scalar == (not layer.module.definition(layer.module.output)[0].indices),
    "inputs": _role("input"), "parameters": _role("parameter"), "constants": _role("constant"),
    "output": lambda layer, output: layer.named([output]) <= {
        layer.module.output, *(w.layer.output for w in windowed(layer.module))},
    "output_size": lambda layer, sizes: sizes in [
        [a.outputs for a in field.axes if isinstance(a, AdaptiveAxis)] for _, field in layer.module.fields],
    "windowed": lambda layer, windowed: windowed == bool(layer.module.fields),
    "here.sizes": lambda layer, sizes: sizes in ([], layer.extents(layer.module.output)),
    "sizes.sizes": lambda layer, sizes: sizes == layer.extents(layer.module.output),
    "sizes.extents": lambda layer, sizes: sizes == layer.extents(layer.module.inputs[0]),
    "letters.facts": lambda layer, facts: facts == [formula(f, layer.module) for f in layer.module.facts],
    "decisive_fact.by": lambda layer, by: {*()} < {*by} <= {formula(f, layer.module) for f in layer.module.facts},
    "letters.rows": lambda layer, rows: {row for letters, *row in rows for row in product(letters, [tuple(row)])} == {
        *layer.lettered},
    "answer_forward.several": lambda layer, several: several == (len(layer.module.equations) > 1),
    "forward.several": lambda layer, several: several == (len(layer.module.equations) > 1),
    "answer_messages.gradient": lambda layer, gradient: gradient == formula(Partial(
        Entry("loss", ()), layer.module.definition(layer.module.output)[0]), layer.module),
    "alone": lambda layer, alone: not alone or any(w.whole for w in windowed(layer.module)) or (
        len(layer.module.equations) == 1 and not layer.module.definition(layer.module.output)[0].indices),
    "answer_kinks.jumps": lambda layer, jumps: _jumping(layer, jumps, True),
    "answer_off.jumps": lambda layer, jumps: _jumping(layer, jumps, False),
    "answer_recounted.here": _recounted(0), "answer_recounted.there": _recounted(1),
    "answer_extents.rows": lambda layer, rows: {(letter, *sizes) for letter, sizes in rows} <= {
        (layer.text(Entry(s.name, ())), *(layer.text(extent(size)) for size in s.sizes))
        for s in layer.module.table.symbols if s.axes},
    "answer_recounted.zero": lambda layer, zero: zero == (layer.module.recounted is None),
    "answer_part.words": lambda layer, words: True,  # another sentence, with facts of its own
    "letter": lambda layer, letter: letter == layer.gradient,
    "answer_mask_of.output": lambda layer, output: output in {
        layer.text(layer.module.definition(m.of)[0]) for m in layer.module.masks},
    "answer_mask_of.input": lambda layer, entry: layer.named([entry]) <= {m.wrt for m in layer.module.masks},
    "answer_mask_of.several": lambda layer, several: several in {
        m.windows and any(f.overlaps for _, f in layer.module.fields) for m in layer.module.masks},
    "answer_updates.rate": lambda layer, rate: {rate} == {layer.text(Entry(u.rate, ())) for u in layer.module.updates},
    "answer_updates.letters": lambda layer, letters: layer.named(letters) == {u.wrt for u in layer.module.updates},
    "answer_unanswered.why": lambda layer, why: why in layer.module.unanswered,
    "shapes": _shape, **told.ALONE,
}


def _jumping(layer: Said, places: Any, between: bool) -> bool:
    """Boundaries with jumps by these letters, and where the slopes agree after all."""
    known = {tuple(formula(n, layer.module) for n in (j.boundary, j.of, j.wrt, *j.equal)) for j in layer.jumps
             if bool(j.between) == between and (between or j.between is False)}
    return all((p.boundary, p.of, wrt, *p.unless) in known for p in places for wrt in p.wrt)


def _jump(layer: Said, jump: Mapping[str, Any]) -> bool:
    """The two slopes that meet, by which letter, and the one that is taken."""
    found = {(*(formula(n, layer.module) for n in (j.boundary, j.of, j.wrt, *j.slopes, j.chosen)), j.between)
             for kink in layer.kinks for j in (*kink.jumps, *kink.missed)}
    said = (jump["boundary"], jump["of"], jump["wrt"], *jump["slopes"], jump["chosen"], jump["between"])
    return said in found


def _derivatives(layer: Said, said: Mapping[str, Any]) -> bool:
    """By all inputs, or by parameters, or what is named; for a loss that is not on the card."""
    given = (said["delta"], said["loss"]) in (("", ""), (
        layer.text(upstream(layer.module)), layer.text(Entry("loss", ()))))
    if layer.module.wanted or (any(w.whole for w in windowed(layer.module)) and said["kind"] == "named"):
        return given and said["kind"] == "named" and (layer.module.wanted != () or said["loss"] != "")
    inputs = "output" if layer.module.jacobian_apart else "input"
    known = {inputs: layer.roles["input"], "parameter": layer.roles["parameter"]}
    return given and layer.named(said["letters"]) <= known.get(said["kind"], {*()})


def _named_parts(layer: Said, parts: tuple[str | Rel, ...]) -> list[str]:
    """The layers by their names; what has none by its formula, in vectors where the card writes these; none if wide."""
    found = list[str]()
    for name in parts:
        if isinstance(name, Rel):
            left, right = name.terms
            form = matrix_form(left, right, layer.module) if layer.module.table.vectors else None
            found.append(formula(form or name, layer.module))
            if width(found[-1].strip("$")) > WIDTH / 2 or r"\begin" in found[-1]:
                return []
        else:
            found.append(str(spoken(name)))
    return found


def _titled(layer: Said, said: Mapping[str, Any]) -> bool:
    """The messages that a title names are those asked for, in their order; the layer's extreme is its own."""
    module = layer.module
    alone = module.jacobian_apart and "vjp" not in module.asked
    known = {"jacobian": "output" if alone else "input", "vjp": "input", "forward": "forward",
             "parameters": "parameter"}
    asked = list(dict.fromkeys(known[a] for a in module.asked if not module.wanted or a == "forward"))
    named = _named_parts(layer, names(module))
    taken = layer.ops if any(w.whole for w in windowed(module)) else {"max", "min"}
    extremes = {part[:3].lower() for part in said["parts"]} & {"max", "min"}
    ends = [({e.tensor for p in module.wanted if isinstance(e := getattr(p, end), Entry)}, layer.named(said[end]))
            for end in ("of", "wrt")]
    given = (n for n in (*module.inputs, *module.parameters) if n not in held(module))
    letters = [layer.named([letter]) for letter in said["letters"]]
    named_so = said["parts"] == named and said["formula"] in layer.defining
    kinds = [k for k in said["kinds"] if k != "named"]
    listed = [*islice(({name} for name in given), len(letters) + 1)]
    return named_so and extremes <= taken and kinds == asked and all(given == wanted for wanted, given in ends) and (
        listed == letters + listed[len(letters):]) and said["more"] == (len(listed) > len(letters))


def _routed(layer: Said, said: Mapping[str, Any]) -> bool:
    """Gradients come from the output's message and go to that of what it is computed from."""
    named = tuple(said[name] for name in ("source", "output", "upstream", "gradient"))
    return named in {tuple(formula(Entry(name, ()), layer.module) for name in (
        w.source, w.layer.output, f"delta_{w.layer.output}", f"delta_{w.source}")) for w in windowed(layer.module)}


# what the facts of a macro must be together
TOGETHER: dict[str, Callable[[Said, Mapping[str, Any]], bool]] = {
    "jump": _jump, "missed": _jump, "title": _titled, "answer_derivatives": _derivatives,
    "routing_caption": _routed,
    "clarke": lambda layer, said: any(j.between for j in layer.jumps),
    "answer_parameters": lambda layer, said: not layer.module.parameters, **told.TOGETHER,
}


def holds(claim: Claim, layer: Said) -> Iterator[str]:
    """The names of the facts that do not hold."""
    for name, value in claim.facts.items():
        check = FACTS.get(f"{claim.macro}.{name}", FACTS.get(name))
        if check is not None and not check(layer, value):
            yield name
    if claim.macro in TOGETHER and not TOGETHER[claim.macro](layer, claim.facts):
        yield "it"
    yield from beside.amiss(claim, layer, lambda name: claim.macro in TOGETHER or f"{claim.macro}.{name}" in FACTS
                            or name in FACTS)
