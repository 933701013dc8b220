"""Mistakes that are typical of a layer: in its windows, or by what its formulas hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from derive.compose.story import Story, whole
from derive.compose.window_example import example_point
from derive.expr import Cases, Entry, Expr, Extremum, Fn, Mul, Num, Pow, Reduce, walk
from derive.verify.mistakes import jacobians, messages, values_of
from derive.words import environment

if TYPE_CHECKING:
    from derive.solve import Solution

_SLIPS = ("the sign", "an inequality", "two indices", "the indices")


def of(solution: Solution) -> Iterator[tuple[str, str, bool]]:
    """(words, the kind of the step that it spoils, whether it is a slip)."""
    story = whole(solution.messages)
    yield from _of_formulas(solution) if story is None else _of_windows(story)


def _of_windows(story: Story) -> Iterator[tuple[str, str, bool]]:
    """The known mistakes that show in the worked example: where windows tile, no overlap can be lost."""
    w, point = story.windowed, example_point(story)
    pick = max if story.op == "max" else min
    windows = {out: values_of(w, point, out) for out in point.tensor(story.module.output)}
    wanted = {(out, pick(values, key=values.__getitem__)): 1 for out, values in windows.items() if values}
    wrong = [words for words, entries in jacobians(w, point) if dict(entries) != wanted]
    for words in wrong:
        yield words, "jacobian", words.startswith(_SLIPS)
    if "vjp" not in story.module.asked:
        return
    truth = point.tensor(f"delta_{story.wrt}")
    found = [words for words, values in messages(w, point)
             if words not in wrong and any(values.get(at, 0) != value for at, value in truth.items())]  # fmt: skip
    for words in dict.fromkeys(found):
        yield words, "message", words.startswith(_SLIPS)


def _of_formulas(solution: Solution) -> Iterator[tuple[str, str, bool]]:
    """What the layer's derivatives give occasion to."""
    say: Any = environment("en").get_template("mistakes.j2").module
    module = solution.messages.module
    targets = (*module.inputs, *module.parameters)
    after = [step for wrt in targets if isinstance(step := solution.messages.message(wrt).after, Expr)]
    nodes = [node for value in after for node in walk(value)]
    forward = [node for equation in module.equations for node in walk(equation)]
    if any(isinstance(n, Reduce) and n.op == "sum" for n in nodes):
        yield say.sum_lost(), "message", False
    if len(module.equations) > 1:
        yield say.factor_lost(), "message", False
    if any(isinstance(n, Cases | Extremum) or (isinstance(n, Reduce) and n.op in ("max", "min")) for n in forward):
        yield say.cases_wrong(), "jacobian", False
    sums = [n for n in forward if isinstance(n, Reduce) and n.op == "sum"]
    if any(isinstance(n, Fn) for total in sums for n in walk(total)):
        yield say.diagonal_only(), "jacobian", False
    if any(isinstance(n, Entry) and len(n.indices) > 1 for n in nodes):
        yield say.indices_swapped(), "message", True
    if any(isinstance(n, Mul) and any(isinstance(f, Num) and f.value < 0 for f in n.factors) for n in nodes):
        yield say.sign(), "jacobian", True
    if any(isinstance(n, Pow | Fn) for n in forward):
        yield say.inner_derivative(), "jacobian", False
