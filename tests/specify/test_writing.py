"""Whatever a question says: the statement of its layer, in the front matter of «Derive.», gives the layer again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from derive.axes import with_axes
from derive.calculus.messages import with_letters
from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of
from derive.specify.writing import statement_of
from derive.statement import Statement
from tests.bank import CARDS, SAMPLES, understood

# a letter that only the question makes an index; a range that begins behind the first entry of an input of unknown size
LOST = ("response_normalisation", "filter_of_samples", "dilated_causal")


def said(module: Module) -> dict[str, Any]:
    """What a module says, without how it was read; the sizes and the loss as the sheet writes them."""
    letters = {*module.inputs, *module.parameters, *module.constants, *module.defined}
    table = module.table if module.fields else with_letters(with_axes(module)).table
    asked = {*module.asked} - {"jacobian"} if "vjp" in module.asked and not module.fields else {*module.asked}
    loss = table.named("loss")
    return {
        "equations": module.equations, "output": module.output, "fields": module.fields, "functions": module.functions,
        "roles": (module.inputs, module.parameters, module.constants), "facts": {*module.facts},
        "tie rule": module.tie_rule, "input size": module.input_size, "recounted": module.recounted,
        "ranges": module.ranges, "asked": asked & {"forward"} if module.wanted else asked, "wanted": module.wanted,
        "letters": {(s.name, s.latex, len(s.axes), s.sizes if all(s.sizes) else ()) for s in table.symbols if s.name in letters},
        "loss": loss and loss.latex,
    }  # fmt: skip


@pytest.mark.some(8)
@pytest.mark.parametrize("path", [*CARDS, *SAMPLES], ids=lambda path: path.stem)
def test_the_statement_gives_the_layer_again(path: Path) -> None:
    if path.stem in LOST:
        pytest.xfail("the notation has no text for this yet")
    try:
        module = understood(path.stem)
    except DeriveError:
        return
    statement = statement_of(module)
    assert Statement.parse(statement.text) == statement
    again = module_of(Card.parse(f"---\nid: q\n{statement.text}---\n# Question\nDerive.\n", "again.md"))
    assert said(again) == said(module)
