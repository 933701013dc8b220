"""A new question card for any layer with numbers: its formulas, numbers for their letters, what to compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from derive.calculus.messages import Messages
from derive.errors import UnsupportedError
from derive.exposition.example import printed
from derive.exposition.subject import Subject
from derive.exposition.worked import worked
from derive.expr import Entry, Partial, Rel, eq
from derive.layers import layer
from derive.layers.catalogue import Layer
from derive.magnitudes import held
from derive.module import Module
from derive.notation import write
from derive.numeric.arithmetic import EXACT, precision
from derive.specify.writing import statement_of
from derive.statement import SIZES, written
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.point import Point
from derive.words import environment

_AXES = 2  # of numbers on a page
_NAMED = frozenset("layer step error loss entropy likelihood hinge".split())  # a word for it stands in its name


def numbers_card(spec: Layer, arguments: Mapping[str, Any], seed: int) -> str:
    """The card's text: the forward formulas, small numbers that follow from the ``seed``, and the gradients asked for.

    Raises :class:`UnsupportedError` where no numbers fit a page.
    """
    module = replace(layer(spec.name, **arguments), key=f"{spec.name}:{seed}", asked=("vjp", "parameters"))
    messages = Messages(module)
    kind = arithmetic_of((*module.equations, *(f.body for f in module.functions)))
    with precision():
        found = worked(Subject(messages), kind)
    if not found or any(len(at) > _AXES for values in found[0].point.given.values() for at in values):
        raise UnsupportedError(f"the numbers of `{spec.name}` do not fit a page; leave out --numeric")
    module, table = messages.module, messages.module.table
    sizes = [line for key, items in statement_of(module).given() if key in SIZES and arguments
             for line in written(key, items)]
    return environment("en").get_template("numbers.md.j2").render(
        id=f"{spec.name}_numbers_{seed}", name=spec.name, words=spec.words, sizes=sizes,
        noun="" if _NAMED & {*spec.words.lower().split()} else " layer",
        formulas=[f"$$ {write(e, table)} $$" for e in module.equations],
        values=[f"${write(e, table)}$" for e in _given(module, found[0].point)],
        output=f"${write(Entry(module.output, ()), table, display=False)}$",
        asked=[f"${write(p, table, display=False)}$" for p in _asked(module)]).rstrip("\n") + "\n"


def _given(module: Module, point: Point) -> Iterator[Rel]:
    """x = (…) for each letter, and what comes in at an output of several entries."""
    for name in module.given:
        yield eq(Entry(name, ()), printed(_exact(point.tensor(name)), len(next(iter(point.tensor(name)))) == 1))
    output = point.tensor(module.output)
    if () not in output:
        delta = point.tensor(f"delta_{module.output}")
        yield eq(Partial(Entry("loss", ()), Entry(module.output, ())), printed(_exact(delta), True))


def _exact(values: Mapping[Any, Any]) -> dict[Any, Any]:
    return {at: EXACT.number(v) for at, v in values.items()}


def _asked(module: Module) -> Iterator[Partial]:
    """∂ℓ/∂x, ∂ℓ/∂W: by all that is given but targets."""
    scalar = not module.definition(module.output)[0].indices
    for name in (*module.inputs, *module.parameters):
        if name not in held(module):
            yield Partial(Entry(module.output if scalar else "loss", ()), Entry(name, ()))
