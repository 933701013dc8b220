"""The figures of any layer's sheet: its curve, its graph, its windows."""

from __future__ import annotations

from derive.compose.builder import Builder
from derive.compose.layer.subject import Subject
from derive.expr import Entry, Reduce, SetApp, walk
from derive.figures import elementwise, graph, receptive_fields
from derive.figures.curve import given
from derive.figures.letters import Letters, letter, say
from derive.figures.sampling import curve
from derive.figures.windows import picture_shape, shown

FEWEST, MOST = 2, 7  # tensors defined: one is no chain, more do not fit the page


def pictures(b: Builder, subject: Subject) -> None:
    """The function and its slope where entries do not mix; else the graph of a chain, and the windows."""
    module = subject.module
    scene, sampled = elementwise(module), curve(module)
    if scene is not None and sampled is not None:
        function = letter(module.table, module.output)
        b.figure(scene, say("curve_caption", function=function, derivative=f"{function[:-1]}'$", given=given(module),
                            kinks=[k.at for k in sampled.kinks]))
    if FEWEST <= len(module.defined) <= MOST:
        b.figure(graph(module), say("graph_caption"))
    windows(b, subject)


def windows(b: Builder, subject: Subject) -> None:
    """The receptive fields of a layer that reduces windows of one tensor."""
    module = subject.module
    found = _windowed(subject)
    if found is None:
        return
    letters, operation = found
    field = module.field(letters.windows)
    shape = picture_shape(field, module.input_size)
    scene = receptive_fields(field, shape, letters, operation) if shape else None
    if scene is not None and shape is not None:
        outputs = shown(field, shape)
        b.figure(scene, say("fields_caption", source=letters.tensor(letters.source),
                            windows=[letters.window(at) for at in outputs],
                            outputs=[letters.entry(letters.output, at) for at in outputs]))


def _windowed(subject: Subject) -> tuple[Letters, str] | None:
    """The one equation that reads a tensor through a window set, and what it does with the window where it says so."""
    for equation in subject.module.equations:
        target, value = equation.terms
        for node in walk(value):
            if not isinstance(node, Reduce) or not isinstance(target, Entry):
                continue
            sets = [n for n in walk(node.binder) if isinstance(n, SetApp) and n.args == target.indices]
            read = [n for n in walk(node.body) if isinstance(n, Entry) and n.indices == node.binder.variables]
            if sets and read and sets[0].name in dict(subject.module.fields):
                letters = Letters(subject.module.table, read[0].tensor, target.tensor, sets[0].name)
                return letters, node.op if node is value and node.op in ("max", "min", "sum") else ""
    return None
