"""A Jupyter notebook: the sheet in cells of text, and cells that compute its worked example and assert the numbers."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from derive.errors import DeriveError
from derive.exposition.example import in_lists
from derive.exposition.shown import Shown, shown
from derive.exposition.worked import Result
from derive.expr import Entry, Num, Partial
from derive.listing import broken, listings
from derive.listing.layer import function_name, results, targets
from derive.listing.scope import Scope
from derive.numeric.point import Index
from derive.render.dialect import question
from derive.render.guard import Solved, guard, guard_sentences, in_cells, in_dollars
from derive.render.notes import Writer, sheet
from derive.render.pictures import figure_name, svg
from derive.sheet import Block, Figure, sections
from derive.words import wording

if TYPE_CHECKING:
    from derive.calculus.messages import Messages

_NUMPY = "import numpy as np\n"
_TOLERANCE = 1e-9  # of numbers that are rounded to float64 as they are written


class Derived(Solved, Protocol):
    """A solution with its messages."""

    @property
    def messages(self) -> Messages: ...


def render(solution: Derived, detail: str = "standard") -> str:
    """A notebook of format 4.5 without outputs; the same solution gives the same text.

    Raises :class:`VerificationError` where the finished notebook displays other formulas, or the example's numbers are
    not the sheet's.
    """
    say: Any = wording(solution.sheet.language, "notes")
    card, (answer, *rest) = solution.card, solution.sheet.parts(detail)
    asked = question(card, lambda text, line: Writer(line).document(text))
    head = [f"# {Writer().paragraph(solution.sheet.title)}"]
    if card is not None and asked is not None:
        head += [f"## {say.question(card.points)}", asked]
    cells = [_text("\n\n".join(head)), _written(solution, say.answer(), answer)]
    at = len(cells)
    for heading, blocks in sections(block for part in rest for block in part):
        cells.append(_written(solution, heading.text if heading else say.solution(), blocks))
        at = len(cells) if heading and heading.name == "example" else at
    cells[at:at] = _computed(solution, say)
    text = json.dumps({
        "cells": [cell | {"id": f"cell-{n}"} for n, cell in enumerate(cells, 1)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                     "language_info": {"name": "python"}},
        "nbformat": 4, "nbformat_minor": 5,
    }, ensure_ascii=False, indent=1) + "\n"  # fmt: skip
    guard(text, solution.sheet, detail, in_cells)
    said = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    guard_sentences(in_dollars(said), solution.sheet, detail)
    return text


def _text(markdown: str, attachments: Mapping[str, Any] | None = None) -> dict[str, Any]:
    found = {"attachments": attachments} if attachments else {}
    return {"cell_type": "markdown", "metadata": {}, **found, "source": markdown.splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "source": source.rstrip("\n").splitlines(keepends=True)}


def _written(solution: Derived, heading: str, blocks: Sequence[Block]) -> dict[str, Any]:
    """A section with its figures inside."""
    pictures = {figure_name(solution, b.scene): {"image/svg+xml": base64.b64encode(svg(b.scene).encode()).decode()}
                for b in blocks if isinstance(b, Figure)}  # fmt: skip
    body = sheet(blocks, solution, Writer, "attachment:")
    return _text(f"## {Writer().paragraph(heading)}\n\n{body}", pictures)


def _computed(solution: Derived, say: Any) -> list[dict[str, Any]]:
    """The layer in NumPy, and the worked example by it."""
    try:
        found, reason = listings(solution.messages)
    except DeriveError as error:
        found, reason = (), str(error).partition(": ")[0]
    if not found:
        return [_text(Writer().document(say.no_code(reason)))]
    source = found[-1].source
    cells = [_text(say.code()), _code(source if _NUMPY in source else f"{_NUMPY}\n\n{source}")]
    example = shown(solution.sheet, solution.messages, solution.card.question if solution.card else "")
    if example is not None:
        cells += [_text(say.asserted()), *map(_code, _asserted(example, solution.messages))]
    return cells


def _asserted(example: Shown, messages: Messages) -> list[str]:
    """The given numbers; the value; the gradients for the one that comes in; each derivative of an output."""
    scope, module, name = Scope(messages), messages.module, function_name(messages)
    delta, arguments = f"delta_{module.output}", ", ".join(scope.name(t) for t in messages.letters)
    given = {_tensor(r): r.values for r in example.given}
    made = ["\n".join(_lines(f"{'upstream' if t == delta else scope.name(t)} = {_array(v)}" for t, v in given.items()))]
    known = {_tensor(r): r.values for r in example.results if isinstance(r.node, Entry)}
    output = scope.name(module.output)
    if module.output in known:
        made.append("\n".join(_lines([f"{output} = {name}({arguments})", _equal(output, known[module.output])])))
    called = dict(zip(targets(messages), results(messages), strict=True))
    gradients: dict[str, list[str]] = {}  # what is asserted, by the gradient that comes in
    for t, d in called.items() if delta in given else ():
        gradients.setdefault("upstream", []).extend([_equal(d, known[f"delta_{t}"])] if f"delta_{t}" in known else [])
    for result in example.results:
        match result.node:
            case Partial(Entry(of, at), Entry(wrt, _)) if of == module.output and wrt in called:
                place = tuple(i.value for i in at if isinstance(i, Num))
                ones = _array({i: int(i == place) for i in known[of]})  # the upstream gradient 1 at one output alone
                gradients.setdefault(ones, []).append(_equal(called[wrt], result.values))
    for upstream, claims in gradients.items():
        call = f"{', '.join(called.values())} = {name}_backward({upstream}, {arguments})"
        made += ["\n".join(_lines([call, *claims]))] if claims else []
    return made


def _lines(statements: Iterable[str]) -> Iterator[str]:
    return (line for statement in statements for line in broken(statement))


def _tensor(result: Result) -> str:
    assert isinstance(result.node, Entry)
    return result.node.tensor


def _equal(name: str, values: Mapping[Index, Any]) -> str:
    return f"np.testing.assert_allclose({name}, {in_lists(values, _number)}, rtol={_TOLERANCE}, atol={_TOLERANCE})"


def _array(values: Mapping[Index, Any]) -> str:
    return f"np.array({in_lists(values, _number)}, dtype=float)" if () not in values else _number(values[()])


def _number(value: Any) -> str:
    """A float64 as Python writes it; a whole number without a point."""
    found = float(value)
    if found in (float("inf"), float("-inf")):
        return "np.inf" if found > 0 else "-np.inf"
    return str(int(found)) if found == int(found) and abs(found) < 2**53 else repr(found)
