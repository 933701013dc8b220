"""What is asked of a layer, and the question in several wordings: those that read back as the same, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from derive.calculus.messages import Messages, variable
from derive.card import Card
from derive.dataset.draw import Drawn
from derive.errors import DeriveError
from derive.expr import Entry, Partial, SetApp, tuple_of
from derive.layers.chain import parse
from derive.layers.families import find
from derive.module import Module
from derive.notation import write
from derive.question import module_of
from derive.specify.writing import statement_of
from derive.statement import Statement
from derive.verify.points.point import LOSS
from derive.window_axis import AdaptiveAxis, WindowAxis
from derive.words import environment

WORDINGS = ("plain", "exam", "request_first", "called")
_EACH = 3  # of them for a row
_MOST = 2  # letters by which derivatives are asked for at once
_SEVERAL, _BACKWARD = 0.2, 0.5
_NUMBER = re.compile(r"\^\{[^}]*\d")
_SIZE = re.compile(r"(?<=[{ ])(?:[A-Za-z]|\\[a-z]+)(?=[ }])")
_VOWEL = re.compile("[aeioAE]|Lp|RMS|L[SE]")


def asked_of(drawn: Drawn, module: Module) -> Statement:
    """The layer's statement, and what is asked: the backward message, or derivatives of the loss by some letters.

    Of a pooling by itself the message is asked for, as where words say ∂L/∂x.
    """
    pick, letters = drawn.source, (*module.inputs, *module.parameters)
    table = Messages(module).module.table
    output = module.definition(module.output)[0]
    if output.indices and (pick.random() < _BACKWARD or module.fields and len(module.equations) == 1):
        derive: tuple[str, ...] = ("backward",)
    else:
        chosen = pick.sample(letters, min(len(letters), _MOST if pick.random() < _SEVERAL else 1))
        of = Entry(LOSS, ()) if output.indices else output
        derive = tuple(write(Partial(of, variable(Messages(module).module, wrt)), table)
                       for wrt in letters if wrt in chosen)
    loss = table.named(LOSS)
    stated = statement_of(module).overlaid(Statement(derive=derive))
    if output.indices and loss is not None and derive != ("backward",):
        stated = stated.overlaid(Statement(loss=loss.latex))
    return stated


def wordings(module: Module, drawn: Drawn) -> list[tuple[str, str]]:
    """(name, text) of each wording that says what the layer's statement says, no more and no less."""
    meant = said_by(module)
    said: Any = environment("en").get_template("question.j2").module
    question = _Question(module, drawn).facts
    found = []
    for name in sorted(drawn.source.sample(WORDINGS, _EACH)):
        text = "\n".join(" ".join(line.split()) for line in str(getattr(said, name)(question)).strip().split("\n"))
        try:
            read = said_by(module_of(Card.parse(f"---\nid: {drawn.id}\n---\n# Question\n{text}\n")))
        except DeriveError:
            continue
        if read == meant:
            found.append((name, text))
    return found


def said_by(module: Module) -> object:
    """All that a question says of a layer; letters for sizes, which it need not name, by their order."""
    shapes, order = [], dict[str, str]()
    for text in statement_of(module).shapes or ():
        letter, _, extents = text.partition("^")
        shapes.append(letter + _SIZE.sub(lambda m: order.setdefault(m[0], f"#{len(order)}"), extents))
    return (module.equations, module.output, module.inputs, module.parameters, module.constants, module.fields,
            module.functions, frozenset(module.facts), module.ranges, module.asked, module.wanted, module.tie_rule,
            module.input_size, module.values, shapes)


class _Question:
    """What the templates put into words: formulas within dollars."""

    def __init__(self, module: Module, drawn: Drawn) -> None:
        self.module, self.drawn = module, drawn
        self.stated = statement_of(module)

    @property
    def facts(self) -> dict[str, Any]:
        stated, module = self.stated, self.module
        output = module.definition(module.output)[0]
        return {
            "formulas": [f"$$ {f} $$" for f in stated.forward or ()],
            "functions": self.inline(stated.functions), "facts": self.inline(stated.facts),
            "inputs": self.inline(stated.inputs), "parameters": self.inline(stated.parameters),
            "constants": self.inline(stated.constants),
            "derivatives": self.inline([d for d in stated.derive or () if "\\" in d]),
            "displayed": [f"$$ {f} $$" for f in stated.functions or ()],
            "shapes": self.inline(self.shapes()), "geometry": self.geometry(), "words": [*self.words()],
            "set": f"${write(SetApp(module.fields[0][0], output.indices), module.table)}$" if module.fields else "",
            "at": f"${write(tuple_of(output.indices), module.table)}$" if output.indices else "",
        }

    def inline(self, texts: Any) -> list[str]:
        return [f"${text}$" for text in texts or ()]

    def shapes(self) -> tuple[str, ...]:
        """Those in which there are numbers: others follow from the formulas."""
        found = self.stated.shapes or ()
        return found if any(_NUMBER.search(text) for text in found) else ()

    def words(self) -> Iterator[str]:
        """«a linear layer»."""
        for part in parse(self.drawn.chain):
            words = "elementwise function" if "function" in part.given else find(part.name).words
            yield f"{'an' if _VOWEL.match(words) else 'a'} {words}"

    def geometry(self) -> dict[str, Any]:
        if not self.module.fields:
            return {}
        field = self.module.fields[0][1]
        axes = [a for a in field.axes if isinstance(a, WindowAxis)]
        return {"output_size": [a.outputs for a in field.axes if isinstance(a, AdaptiveAxis)],
                "kernel_size": [a.kernel_size for a in axes], "stride": [a.stride for a in axes],
                "dilation": [a.dilation for a in axes] if any(a.dilation > 1 for a in axes) else None,
                "paddings": [[a.padding, a.padding_after] for a in axes]}
