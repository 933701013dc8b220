"""The facts of sentences that lead through a derivation: who stands in whose definition, what a rule is applied to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import derive.expr as ex
from derive.calculus.derivation import derivative, holding, unlettered
from derive.calculus.extremum import extremisers
from derive.calculus.kinks import norm
from derive.calculus.messages import stages, upstream
from derive.calculus.one_window import WHOLE
from derive.calculus.windows import covers, inverses
from derive.magnitudes import held
from derive.numeric.shapes import extents

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
    return _stand("here", "used")(layer, said) and said["several"] == (len(layer.module.equations) > 1)


def _chained(layer: Said, said: Mapping[str, Any]) -> bool:
    """What is derived stands in the definition of what lies between, if only by way of others; or in its own."""
    (of,), (wrt,) = _tensors(layer, said["of"]), _tensors(layer, said["wrt"])
    between = _tensors(layer, said["through"])
    return said["direct"] <= _in(wrt, of, layer) and all(
        t in layer.reached(of) and wrt in layer.reached(t) for t in between)


def _alike(layer: Said, said: Mapping[str, Any]) -> bool:
    """Each derivative is one of those that it follows like, but for the letters."""
    def found(texts: list[str]) -> set[ex.Node]:
        nodes = [n for text in texts if isinstance(n := layer.nodes.get(text), ex.Partial)]
        known = ((n, derivative(n.of, n.wrt, holding(n.of, layer.module)).after) for n in nodes
                 if isinstance(n.of, ex.Entry) and isinstance(n.wrt, ex.Entry))
        return {unlettered(ex.eq(n, cast(ex.Expr, after))) for n, after in known}

    return {*()} < found(said["of"]) <= found(said["like"])


def _alikes(layer: Said, said: Mapping[str, Any]) -> bool:
    """Each gradient is that of a letter which it follows like, but for the letters."""
    def found(texts: list[str]) -> set[ex.Node]:
        steps = [stages(layer.module, t)[-1] for t in _tensors(layer, texts) if t]
        return {unlettered(ex.eq(cast(ex.Expr, s.before), cast(ex.Expr, s.after))) for s in steps}

    return {*()} < found(said["here"]) <= found(said["like"])


def _linear(layer: Said, said: Mapping[str, Any]) -> bool:
    """The definition is linear in the letter where nothing that is not stands around it; 0 where it is not there."""
    (of,), (wrt,) = _tensors(layer, said["of"]), _tensors(layer, said["wrt"])
    return bool(said["zero"]) != _in(wrt, of, layer)


def _kinked(layer: Said, said: Mapping[str, Any]) -> bool:
    """These boundaries are those of that node."""
    return any(said["node"] in (layer.text(k.node), layer.text(k.of)) and said["of"] == layer.text(k.of) and all(
        [*map(layer.text, places)] == said[name] for name, places in (
            ("boundaries", k.boundaries), ("broken", k.broken), ("smooth", k.smooth))) for k in layer.kinks)


def _covered(layer: Said, said: Mapping[str, Any]) -> bool:
    """The cells of a window, as its field has them."""
    module, found = layer.module, []
    for name, _ in module.fields:
        symbol = module.table.named(name)
        if symbol is not None and len(symbol.members) == len(symbol.axes):
            members, at = (tuple(map(ex.Idx, letters)) for letters in (symbol.members, symbol.axes))
            cells = ex.conditions(covers(members, at, module, name).right)
            found.append((layer.text(ex.SetApp(name, at)), [*map(layer.text, cells)]))
    return (said["window"], said["ranges"]) in found


def _tipped(layer: Said, said: Mapping[str, Any]) -> bool:
    known = {layer.text(tip) for t in layer.module.defined if (tip := norm(t, layer.module)) is not None}
    return said["tip"] in known


def _sign(sign: str) -> Alone:
    """It stands in a matrix form of the answer."""
    return lambda layer, said: bool(said) == any(sign in m.latex for m in layer.answer if m.scope == WHOLE)


def _function(layer: Said, name: str) -> bool:
    return any(isinstance(n, ex.Fn) and n.name == name for n in layer.everywhere)


def _exponent(layer: Said, said: Mapping[str, Any]) -> bool:
    """A power with that exponent stands somewhere, or one over something."""
    exponents = {n.exponent for n in layer.everywhere if isinstance(n, ex.Pow)}
    below = [e for e in exponents if isinstance(e, ex.Num) and e.value < 0]
    roots = [e for e in exponents if isinstance(e, ex.Num) and e.value.denominator == 2]
    kinds = {"reciprocal": bool(below), "root": bool(roots),
             "general": any(not isinstance(e, ex.Num) for e in exponents)}
    return kinds.get(said["kind"], layer.nodes.get(said["exponent"]) in exponents)


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
    "answer_kinks.tied": lambda layer, tied: tied in ([], _stars(layer)),
    "answer_shapes.rows": lambda layer, rows: rows == layer.module.table.rows,
    "answer_shapes.hadamard": _sign(r"\odot"), "answer_shapes.diagonal": _sign(r"\mathrm{diag}"),
    "answer_shapes.ones": _sign(r"\mathbf{1}"),
    "answer_bracket.bracket": lambda layer, bracket: any(bracket.strip("$") in m.latex for m in layer.answer),
    "answer_messages.staged": lambda layer, staged: staged == any(m.name == "between" for m in layer.answer),
    "answer_messages.alone": lambda layer, alone: not alone or bool(layer.module.parameters),
    "answer_forward.output": lambda layer, output: output == layer.output,
    "answer_derivatives.output": lambda layer, output: output == layer.output,
    "stage_message.output": lambda layer, output: output == layer.output,
    "stage_message.whole": lambda layer, whole: whole == (len(layer.module.equations) == 1),
    "answer_messages.delta": lambda layer, delta: delta == layer.text(upstream(layer.module)),
    "outputs_alone.delta": lambda layer, delta: delta == layer.text(upstream(layer.module)),
    "inserted.delta": lambda layer, delta: delta == layer.text(upstream(layer.module)),
    "upstream.delta": lambda layer, delta: delta == layer.text(ex.eq(upstream(layer.module), ex.Partial(
        ex.Entry("loss", ()), layer.module.definition(layer.module.output)[0]))),
    "upstream.several": lambda layer, several: several == (len(layer.module.equations) > 1),
    "loss": lambda layer, loss: loss in ("", layer.text(ex.Entry("loss", ()))),
    "rule_product.quotient": lambda layer, quotient: not quotient or any(
        isinstance(n, ex.Pow) and isinstance(n.exponent, ex.Num) and n.exponent.value < 0 for n in layer.everywhere),
    "here.size": lambda layer, size: size in (None, layer.module.input_size),
    "here.identity": lambda layer, alone: not alone or any(
        all(a.kernel_size == a.stride == 1 for a in axes) for axes in layer.axes),
    "example_given.stated": lambda layer, stated: not stated or layer.module.input_size is not None,
    "ties.absolute": lambda layer, absolute: absolute == _function(layer, "abs"),
    "tied_gradient.absolute": lambda layer, absolute: absolute == _function(layer, "abs"),
    "ties.one": lambda layer, one: one == (not layer.module.definition(layer.module.output)[0].indices),
}

TOGETHER: dict[str, Together] = {
    "stage_used": _used, "stage_message": _stand("here", "users"), "cancels": _stand("here", "of"), "chain": _chained,
    "rule_alike": _alike, "stages_alike": _alikes, "rule_direct": _linear, "kink": _kinked,
    "sizes": _sized, "windows": _covered, "tip": _tipped, "rule_power": _exponent, "here": _conditional,
    "rule_elementwise": lambda layer, said: _function(layer, said["name"]),
    "answer_tip": _tipped,
}
