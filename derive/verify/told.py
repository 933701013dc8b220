"""The facts of sentences that lead through a derivation: who stands in whose definition, what a rule is applied to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, cast

import derive.expr as ex
from derive.axes import extent
from derive.calculus.dependence import between
from derive.calculus.derivation import derivative, holding, unlettered
from derive.calculus.extremum import extremisers
from derive.calculus.kinks import norm
from derive.calculus.messages import stages, upstream
from derive.calculus.one_window import MASK, WHOLE, scope_tables, windowed
from derive.calculus.whole_arrays import by_entries, lettered
from derive.calculus.windows import covers, inverses
from derive.magnitudes import held
from derive.notation.symbols import is_own
from derive.numeric.arithmetic import EXACT
from derive.numeric.evaluator import evaluate
from derive.numeric.point import Undefined
from derive.numeric.shapes import extents
from derive.receptive_field import WindowAxis
from derive.sheet import Heading, Math, Prose, Table
from derive.verify.beside import by, lefts
from derive.verify.edges import value_of_nothing
from derive.verify.points.draw import arithmetic_of
from derive.verify.readings import placed

_DIGITS = re.compile(r"\d+")
_ROUNDED = 4  # decimals of what is not rational
Said = Any  # what is known of a layer, see derive.verify.said
Together = Callable[[Said, Mapping[str, Any]], bool]
Alone = Callable[[Said, Any], bool]


def _tensors(layer: Said, texts: str | Iterable[str]) -> list[str]:
    """What entries, or the gradients of what, stand in a sentence; "" for what is none."""
    found = (layer.nodes.get(t) for t in ([texts] if isinstance(texts, str) else texts))
    return [n.tensor.removeprefix("delta_") if isinstance(n, ex.Entry) else "" for n in found]


def _in(inner: str, outer: str, layer: Said) -> bool:
    """A letter stands in the definition of another."""
    return outer in layer.module.defined and inner in layer.module.sources(outer)


def _stand(inner: str, outer: str) -> Together:
    """What the fact ``inner`` names stands in the definitions of all that ``outer`` names."""
    return lambda layer, said: all(_in(own, t, layer) for own in _tensors(layer, said[inner])
                                   for t in _tensors(layer, said[outer]))


def _used(layer: Said, said: Mapping[str, Any]) -> bool:
    several = len(layer.module.equations) > 1
    known = layer.named(said["used"]) <= {*layer.module.defined}
    return bool(said["used"]) and known and _stand("here", "used")(layer, said) and said["several"] == several


def _acting(layer: Said, said: Mapping[str, Any]) -> bool:
    """It stands in the definitions through which it acts; it is held in some where it is in what these stand on."""
    here = layer.nodes.get(said["here"])
    held = isinstance(here, ex.Entry) and any(between(t, here, layer.module) for t in layer.named(said["users"]))
    return _stand("here", "users")(layer, said) and (held or not said["held"])


def _chained(layer: Said, said: Mapping[str, Any]) -> bool:
    """What is derived stands in the definition of what lies between, if only by way of others; or in its own."""
    (of,), (wrt,) = _tensors(layer, said["of"]), _tensors(layer, said["wrt"])
    between = _tensors(layer, said["through"])
    return said["direct"] <= _in(wrt, of, layer) and all(
        t in layer.reached(of) and wrt in layer.reached(t) for t in between)


def _alike(layer: Said, said: Mapping[str, Any]) -> bool:
    """Each derivative is one of those that it follows like, but for the letters."""
    if {*said["of"]} & {*said["like"]} or not all(
            isinstance(layer.nodes.get(text), ex.Partial) for text in (*said["of"], *said["like"])):
        return False

    def found(texts: list[str]) -> set[ex.Node]:
        nodes = [cast(ex.Partial, layer.nodes[text]) for text in texts]
        known = ((n, derivative(n.of, n.wrt, holding(n.of, layer.module)).after) for n in nodes
                 if isinstance(n.of, ex.Entry) and isinstance(n.wrt, ex.Entry))
        return {unlettered(ex.eq(n, cast(ex.Expr, after))) for n, after in known}

    return {*()} < found(said["of"]) <= found(said["like"])


def _alikes(layer: Said, said: Mapping[str, Any]) -> bool:
    """Each gradient is that of a letter which it follows like, but for the letters."""
    def found(texts: list[str]) -> set[ex.Node]:
        steps = [stages(layer.module, t)[-1] for t in _tensors(layer, texts) if t]
        return {unlettered(ex.eq(cast(ex.Expr, s.before), cast(ex.Expr, s.after))) for s in steps}

    like = layer.named(said["like"])
    apart = like <= {*layer.module.given, *layer.module.defined} - layer.named(said["here"])
    return apart and {*()} < found(said["here"]) <= found(said["like"])


def _linear(layer: Said, said: Mapping[str, Any]) -> bool:
    """The definition is linear in the letter where nothing that is not stands around it; 0 where it is not there."""
    (of,), (wrt,) = _tensors(layer, said["of"]), _tensors(layer, said["wrt"])
    return bool(said["zero"]) != _in(wrt, of, layer)


def _kinked(layer: Said, said: Mapping[str, Any]) -> bool:
    """These boundaries are those of that node, and it is of that kind."""
    return any(said["kind"] == _kind(k.node) and said["node"] == layer.text(
        k.of if isinstance(k.node, ex.Cases) else k.node) and said["of"] == layer.text(k.of) and all(
        [*map(layer.text, places)] == said[name] for name, places in (
            ("boundaries", k.boundaries), ("broken", k.broken), ("smooth", k.smooth), ("untold", k.untold)))
        for k in layer.kinks)


def _kind(node: ex.Expr) -> str:
    terms = len(node.args) if isinstance(node, ex.Extremum) else 0
    return "pair" if terms == 2 else "terms" if terms else "cases" if isinstance(node, ex.Cases) else "function"


def _maximiser(layer: Said, said: Mapping[str, Any]) -> bool:
    """r^*, of which indices, and the same for others."""
    found = {layer.text(ex.tuple_of(e.stars)): e.stars[0] for e in extremisers(layer.module)}
    star = found.get(said["stars"])
    others = [layer.nodes.get(other) for other in said["others"]]
    shown = {n for m in layer.answer for n in ex.walk(m.expr) if isinstance(n, ex.Star) and star is not None
             and n.name == star.name and n.at != star.at and not any(i.name[0] == "§" for i in ex.free_indices(n))}
    return shown <= {*others} and star is not None and said["at"] == [*map(layer.text, star.at)] and all(
        isinstance(o, ex.Star) and o.name == star.name and o.at != star.at for o in others)


def _shaped(layer: Said, said: Mapping[str, Any]) -> bool:
    """All letters of the matrix forms that have axes are named, and gradients where there are some."""
    forms = [m for m in layer.answer if m.scope == WHOLE and r"\mathrm{vec}" not in m.latex]
    table = layer.module.table
    names = {(n.tensor, m.latex) for m in forms for n in ex.walk(m.expr) if isinstance(n, ex.Entry)}
    sized = {found[0].tensor for name, latex in names if (found := lettered(name, table, latex)) is not None}
    deltas = any(name.startswith("delta_") and not is_own(table.named(name)) for name, _ in names)
    vectors = [c.terms[1].rows for m in layer.sheet.formulas() if m.scope == "example" for c in ex.conditions(m.expr)
               if isinstance(c, ex.Rel) and isinstance(c.terms[1], ex.Matrix) and 1 in (
                   len(c.terms[1].rows), len(c.terms[1].rows[0])) and not _is_matrix(c.terms[0], layer)]
    if any(len(rows) > 1 if said["rows"] else len(rows[0]) > 1 for rows in vectors):
        return False
    return said["deltas"] == deltas and sized == layer.named([x for _, xs in said["shapes"] for x in xs])


def _is_matrix(left: ex.Node, layer: Said) -> bool:
    """A tensor of two axes, or a derivative by one: perhaps of a single row."""
    name = cast(ex.Entry, left.wrt if isinstance(left, ex.Partial) else left).tensor.removeprefix("delta_")
    symbol = layer.module.table.named(name)
    return symbol is not None and len(symbol.axes) > 1


def _single(layer: Said) -> bool:
    return not layer.module.definition(layer.module.output)[0].indices


def _masked(layer: Said, said: Mapping[str, Any]) -> bool:
    """The matrix has the places of the display, and so many rows and columns as there are outputs and inputs."""
    places = [cast(ex.Rel, m.expr).terms[0] for m in layer.answer if m.name == "mask_matrix"]
    indices = places[0].indices if len(places) == 1 and isinstance(places[0], ex.Entry) else ()
    symbol, output = (layer.module.table.named(n) for n in (MASK, layer.module.output))
    if symbol is None or output is None:
        return False
    n, sizes = len(output.axes), [*map(extent, symbol.sizes)]
    parts = [layer.text(ex.tuple_of(part)) for part in (indices[:n], indices[n:])]
    large = "sizes" not in said or said["sizes"] == [layer.text(ex.mul(*part)) for part in (sizes[:n], sizes[n:])]
    return large and [said["rows"], said["columns"]] == parts and said["column"] == (
        max(n, len(indices) - n) > 1) and said["matrix"] == f"${symbol.latex}$"


def _picked(layer: Said, said: Mapping[str, Any]) -> bool:
    """The letters that are defined below, by these maximisers."""
    shown = [c for m in layer.answer if m.name == "picked" for c in ex.conditions(m.expr) if isinstance(c, ex.Rel)]
    heads = [layer.module.table.named(c.terms[0].tensor) for c in shown if isinstance(c.terms[0], ex.Entry)]
    stars = dict.fromkeys(layer.text(n) for c in shown for n in ex.walk(c.terms[1]) if isinstance(n, ex.Star))
    return said["letters"] == [f"${s.latex}$" for s in heads if s] and said["stars"] == [*stars]


def _counted(layer: Said, at: str) -> bool:
    """The place of an entry: as many letters as windows have axes."""
    node = layer.nodes.get(at)
    items = node.items if isinstance(node, ex.Tuple) else (node,)
    return all(isinstance(i, ex.Idx) for i in items) and len(items) in {len(f.axes) for _, f in layer.module.fields}


def _placed(layer: Said, at: str) -> bool:
    """The place of the entry by which the answer is."""
    return at in {layer.text(ex.tuple_of(wrt.indices)) for _, wrt in lefts(layer.answer)
                  if isinstance(wrt, ex.Entry) and wrt.tensor in layer.module.given}


def _cancelled(layer: Said, by: list[str]) -> bool:
    """A factor of a product, with denominators in a bracket beside it that are its own."""
    def below(term: ex.Node) -> set[ex.Node]:
        return {n.base for n in ex.walk(term) if isinstance(n, ex.Pow) and n.exponent != ex.Num(2)}

    (node,) = map(layer.nodes.get, by)
    own = {*(node.factors if isinstance(node, ex.Mul) else (node,))}
    products = (n for m in layer.sheet.formulas() for n in ex.walk(m.expr) if isinstance(n, ex.Mul))
    return any(own <= {*p.factors} and any(isinstance(f, ex.Add) and below(f) & own for f in p.factors)
               for p in products)


def _raised(layer: Said, said: Mapping[str, Any]) -> bool:
    """The rule of a power is that of its exponent."""
    exponent = layer.nodes.get(said["exponent"])
    if not isinstance(exponent, ex.Num):
        varies = exponent is None or any(n.tensor not in layer.module.constants for n in ex.walk(exponent)
                                         if isinstance(n, ex.Entry))
        return bool(said["kind"] == ("general" if varies else "number"))
    return bool(said["kind"] == (
        "reciprocal" if exponent.value == -1 else "root" if 2 * exponent.value == 1 else "number"))


def _again(layer: Said, said: Mapping[str, Any]) -> bool:
    """What an upstream gradient is, is said the first time that it is spoken of."""
    found = [c.facts["again"] for c in layer.sheet.claims if c.macro == "answer_messages"]
    return found == [n > 0 for n in range(len(found))]


def _fields(layer: Said, said: Mapping[str, Any]) -> bool:
    """Each window is named with the output that it gives, and the tensor in which they lie."""
    sources = {layer.text(ex.Entry(w.source, ())) for w in windowed(layer.module)}
    placed = [*map(_DIGITS.findall, said["windows"])] == [*map(_DIGITS.findall, said["outputs"])]
    return placed and (not sources or said["source"] in sources)


def _drawn(layer: Said, said: Mapping[str, Any]) -> bool:
    """The function, its derivative, and every other letter with the same number."""
    function, given = layer.text(ex.Entry(layer.module.output, ())), [g.strip("$").split(" = ") for g in said["given"]]
    others = {layer.text(ex.Entry(n, ())).strip("$") for n in layer.module.given if n != layer.module.inputs[0]}
    named = [said["function"], said["derivative"]] == [function, f"{function[:-1]}'$"]
    return named and {n for n, _ in given} == others and len({value for _, value in given}) < 2


def _covered(layer: Said, said: Mapping[str, Any]) -> bool:
    """The cells of a window, as its field has them."""
    module, found = layer.module, []
    for name, _ in module.fields:
        symbol = module.table.named(name)
        if symbol is not None and len(symbol.members) == len(symbol.axes):
            members, at = (tuple(map(ex.Idx, letters)) for letters in (symbol.members, symbol.axes))
            cells = ex.conditions(covers(members, at, module, name).right)
            found.append((layer.text(ex.SetApp(name, at)), layer.text(ex.tuple_of(members)), [*map(layer.text, cells)]))
    return (said["window"], said["members"], said["ranges"]) in found


def _tipped(layer: Said, said: Mapping[str, Any]) -> bool:
    tips = [tip for t in layer.module.defined if (tip := norm(t, layer.module)) is not None]
    return any(said["tip"] == layer.text(tip) and said.get("of") in (None, layer.text(tip.terms[0])) for tip in tips)


def _sign(sign: str) -> Alone:
    """It stands in a matrix form of the answer."""
    return lambda layer, said: bool(said) == any(sign in m.latex for m in layer.answer if m.scope == WHOLE)


def _function(layer: Said, name: str) -> bool:
    return any(isinstance(n, ex.Fn) and n.name == name for n in layer.everywhere)


def _divided(layer: Said, divisor: str) -> bool:
    """What an average of ones is at the edge: 1, or the part of the cells of a window that are in the input."""
    module, field = layer.module, layer.module.receptive_field
    axes = [a for a in field.axes if isinstance(a, WindowAxis)] if field is not None else []
    if not divisor or field is None or not axes or any(a.ceil_mode for a in axes):
        return True
    shape, (wrt,) = tuple(2 * a.kernel_size * a.dilation for a in axes), module.inputs
    ones = dict.fromkeys(product(*map(range, shape)), Fraction(1))
    try:
        found = evaluate(module, {wrt: ones}, {wrt: shape})[module.output]
    except (Undefined, ArithmeticError):  # an average over nothing
        return divisor == "entries"
    parts = {at: Fraction(n, math.prod(field.kernel_size)) for at in found if (n := len(field.window(at, shape)))}
    inside = {at: found[at] for at in parts}
    known = [kind for kind, at_edge in (("entries", dict.fromkeys(parts, 1)), ("cells", parts)) if inside == at_edge]
    return divisor in known if known else divisor == "own"


def _rounded(layer: Said, digits: int | None) -> bool:
    bodies = (*layer.module.equations, *(f.body for f in layer.module.functions))
    return digits in (None, _ROUNDED) and bool(digits) == (arithmetic_of(bodies) is not EXACT)


def _parted(layer: Said, wrt: str) -> bool:
    """A part of the derivation is by the letter; a display of each such part is, too."""
    leads = {c.words: layer.named([c.facts["wrt"]]) for c in layer.sheet.claims if c.macro == "chain_by"}
    found: list[tuple[set[str], list[Math]]] = []
    for block in layer.blocks:
        lead = next((own for words, own in leads.items() if isinstance(block, Prose) and block.text.startswith(words)),
                    None)
        if lead is not None or isinstance(block, Heading):
            found.append((lead or set(), []))
        elif found and isinstance(block, Math):
            found[-1][1].append(block)
    asked = by(layer, [m for m in layer.answer if m.name not in ("between", "forward", "definition")])
    parts = [own <= by(layer, shown) for own, shown in found if own == layer.named([wrt])]
    return layer.named([wrt]) <= asked and bool(parts) and all(parts)


def _bracket(layer: Said, bracket: str, shown: Iterable[Math]) -> bool:
    """It is one, and stands in one of the formulas."""
    return isinstance(layer.nodes.get(bracket), ex.Bracket) and any(bracket.strip("$") in m.latex for m in shown)


def _stars(layer: Said) -> list[str]:
    return [layer.text(ex.tuple_of(e.stars)) for e in extremisers(layer.module)]


def _conditional(layer: Said, said: Mapping[str, Any]) -> bool:
    at = layer.nodes.get(said["at"])
    indices = at.items if isinstance(at, ex.Tuple) else (at,) if isinstance(at, ex.Expr) else ()
    field = layer.module.receptive_field
    if field is None or len(indices) != len(field.axes):
        return False
    return bool(said["conditional"]) == any(inv.conds for inv in inverses(indices, layer.module))


def _sized(layer: Said, said: Mapping[str, Any]) -> bool:
    """The card's own size, and that of the output by the evaluator's count."""
    module = layer.module
    if not said["own"]:
        return module.input_size is None and not said["outputs"]
    shapes = extents(module, {module.inputs[0]: tuple(said["own"])}).shapes
    return tuple(said["own"]) == module.input_size and tuple(said["outputs"]) == shapes[module.output]


ALONE: dict[str, Alone] = {
    "answer_held.letters": lambda layer, letters: {*_tensors(layer, letters)} == {*held(layer.module)},
    "answer_maximiser.stars": lambda layer, stars: stars in _stars(layer),
    "ties.stars": lambda layer, stars: stars in _stars(layer),
    "answer_kinks.tied": lambda layer, tied: tied == (_stars(layer) if layer.derived else []),
    "answer_shapes.rows": lambda layer, rows: rows == layer.module.table.rows,
    "answer_shapes.hadamard": _sign(r"\odot"), "answer_shapes.diagonal": _sign(r"\mathrm{diag}"),
    "answer_shapes.ones": _sign(r"\mathbf{1}"),
    "answer_shapes.functions": lambda layer, said: said == any(
        by_entries(m.expr, scope_tables(layer.module)[WHOLE], m.latex) for m in layer.answer if m.scope == WHOLE),
    "answer_bracket.bracket": lambda layer, bracket: _bracket(layer, bracket, layer.answer),
    "bracket_meaning.bracket": lambda layer, bracket: _bracket(layer, bracket, layer.sheet.formulas()),
    "digits": lambda layer, digits: digits == max(map(len, layer.decimals), default=_ROUNDED),
    "readings": placed, "here.at": _placed, "message_covering.at": _counted, "message_inverse.at": _counted,
    "here.formula": lambda layer, formula: not formula or any(
        m.name.startswith("message_here_") for m in layer.sheet.formulas()),
    "decisive_cancel.by": _cancelled, "chain_by.wrt": _parted,
    "answer_letters.defined": lambda layer, defined: defined == any(m.name == "definition" for m in layer.answer),
    "example_sliced.rank": lambda layer, rank: rank == max(
        len(s.axes) for s in map(layer.module.table.named, (*layer.module.given, *layer.module.defined)) if s),
    "example_sliced.digits": lambda layer, digits: digits == (
        _ROUNDED if _ROUNDED in map(len, layer.decimals) else None),
    "example_elsewhere.digits": lambda layer, digits: digits in (None, _ROUNDED) and bool(digits) == any(
        "." in cell for table in [b for b in layer.blocks if isinstance(b, Table)][-1:] for row in table.rows
        for cell in row[1:]),
    "example_elsewhere.several": lambda layer, several: several == any(
        len(b.header) > 2 for b in layer.blocks if isinstance(b, Table)),
    "answer_messages.staged": lambda layer, staged: staged == any(m.name == "between" for m in layer.answer),
    "answer_messages.alone": lambda layer, alone: not alone or bool(layer.module.parameters),
    "stage_message.whole": lambda layer, whole: whole == (len(layer.module.equations) == 1),
    "answer_messages.delta": lambda layer, delta: delta == layer.text(upstream(layer.module)),
    "outputs_alone.delta": lambda layer, delta: delta == layer.text(upstream(layer.module)),
    "tied_given.upstream": lambda layer, delta: delta == layer.text(ex.Entry(f"delta_{layer.module.output}", ())),
    "tied_given.same": lambda layer, same: same != _single(layer),
    "tied_output.single": lambda layer, single: single == _single(layer),
    "inserted.delta": lambda layer, delta: delta == layer.text(upstream(layer.module)),
    "upstream.delta": lambda layer, delta: delta == layer.text(ex.eq(upstream(layer.module), ex.Partial(
        ex.Entry("loss", ()), layer.module.definition(layer.module.output)[0]))),
    "upstream.meant": lambda layer, meant: meant == (len(layer.module.equations) > 1 or all(
        c.macro != "answer_messages" for c in layer.sheet.claims)),
    "upstream.own": lambda layer, own: own == is_own(layer.module.table.named(f"delta_{layer.module.output}")),
    "upstream.several": lambda layer, several: several == (len(layer.module.equations) > 1),
    "loss": lambda layer, loss: loss in ("", layer.text(ex.Entry("loss", ()))),
    "divisor": _divided,
    "edge.empty": lambda layer, empty: not empty or (
        (value := value_of_nothing(layer.module)) is not None and empty == layer.text(value)),
    "here.size": lambda layer, size: size in (None, layer.module.input_size),
    "here.identity": lambda layer, alone: not alone or any(
        all(a.kernel_size == a.stride == 1 for a in axes) for axes in layer.axes),
    "answer_numbers.digits": _rounded, "example_between.digits": _rounded,
    "answer_rounded.digits": lambda layer, digits: digits == _ROUNDED,
    "answer_numbers.tied": lambda layer, tied: tied == any(
        m.scope == "tied" for m in layer.answer if m.name == "numbers"),
    "example_given.own": lambda layer, own: own == (f"delta_{layer.module.output}" in dict(layer.module.values)),
    "example_given.given": lambda layer, given: given == bool(layer.module.values),
    "example_given.stated": lambda layer, stated: not stated or layer.module.input_size is not None,
    "ties.absolute": lambda layer, absolute: absolute == _function(layer, "abs"),
    "tied_gradient.absolute": lambda layer, absolute: absolute == _function(layer, "abs"),
    "ties.one": lambda layer, one: one == _single(layer),
}

TOGETHER: dict[str, Together] = {
    "stage_used": _used, "stage_message": _acting, "cancels": _stand("here", "of"), "chain": _chained,
    "rule_alike": _alike, "stages_alike": _alikes, "rule_direct": _linear, "kink": _kinked,
    "sizes": _sized, "windows": _covered, "tip": _tipped, "here": _conditional,
    "receptive_fields_caption": _fields, "curve_caption": _drawn,
    "answer_messages": _again, "rule_power": _raised,
    "answer_tip": _tipped, "answer_maximiser": _maximiser, "answer_shapes": _shaped,
    "answer_mask": _masked, "answer_matrix": _masked, "answer_picked": _picked,
}
