"""The output of a layer, and its definitions in the order of evaluation."""

from __future__ import annotations

from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import Entry, Fn, walk
from derive.question.definitions import Definition, Definitions
from derive.question.places import place


def output_of(found: Definitions, asked: set[str]) -> str:
    """The tensor that no other uses; of several, the one whose derivative is asked for."""
    used = {n.tensor for d in found.tensors.values() for n in walk(d.value) if isinstance(n, Entry)}
    last = [name for name in found.tensors if name not in used]
    if not last:
        raise _cycle(found)
    chosen = [name for name in last if name in asked] if len(last) > 1 else last
    if len(chosen) != 1:
        names = " and ".join(f"`{name}` ({place(found.tensors[name].formula)})" for name in last)
        raise CardError(f"the question defines {names}, and none is computed from the other: which is the layer's "
                        r"output? Ask for its derivative, e.g. `\frac{\partial " + last[0] + r"}{\partial …}`")
    return chosen[0]


def _cycle(found: Definitions) -> UnsupportedError:
    names = ", ".join(f"`{name}`" for name in found.tensors)
    return UnsupportedError(f"{names} are computed from one another; a layer's formulas lead from input to output")


def in_order(output: str, found: Definitions) -> list[Definition]:
    """The definitions that the output needs, each behind those it uses."""
    done: dict[str, Definition] = {}
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in done or name not in found.tensors:
            return
        if name in open_:
            names = " → ".join(f"`{n}`" for n in (*open_[open_.index(name):], name))
            raise UnsupportedError(Problem(f"{names}: computed from one another; a layer's formulas lead from input "
                                           "to output", line=found.tensors[name].formula.line))
        open_.append(name)
        definition = found.tensors[name]
        for node in walk(definition.value):
            if isinstance(node, Entry):
                visit(node.tensor)
            elif isinstance(node, Fn) and node.name in found.functions:
                for inner in walk(found.functions[node.name][0].body):
                    if isinstance(inner, Entry):
                        visit(inner.tensor)
        open_.pop()
        done[name] = definition

    visit(output)
    return list(done.values())
