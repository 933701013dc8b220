"""The title of a sheet: the layer, and what is derived of it."""

from __future__ import annotations

from derive.calculus.called import names
from derive.exposition import whole
from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.expr import Entry, Rel
from derive.layers import spoken
from derive.lines import WIDTH, width
from derive.notation import write
from derive.sheet import Math

_MOST = 5  # letters that a title names


def title(b: Builder, subject: Subject) -> str:
    """«Linear layer and PReLU: forward, backward, parameter messages»; else the output's formula, or letters alone."""
    module = subject.module
    parts = [formula(b, subject, n) if isinstance(n, Rel) else str(spoken(n)) for n in names(module)]
    parts = parts if all(parts) else []
    output, *letters = (b.letter(s) for name in (module.output, *module.inputs, *module.parameters)
                        if name not in subject.held and (s := module.table.named(name)))
    named = [t for item in subject.items if item.kind == "named" for t in item.targets]
    of = dict.fromkeys(b.m(Entry("loss" if t.loss else t.of, ())) for t in named)
    wrt = dict.fromkeys(b.letter(s) for t in named if (s := module.table.named(t.wrt)))
    asked = "output" if module.jacobian_apart and "vjp" not in module.asked else "input"  # no message is meant
    kinds = list(dict.fromkeys(asked if i.kind == "input" else i.kind for i in subject.items))
    only = kinds == ["named"]
    apart = parts or any(not t.loss and t.of != module.output for t in named if only)  # an inner letter's derivative
    return b.say("title", parts=parts, kinds=kinds, of=[*of], wrt=[*wrt],
                 formula="" if apart else formula(b, subject, module.equations[-1], WIDTH / 2 if only else WIDTH),
                 output=output, letters=letters[:_MOST], more=len(letters) > _MOST)


def formula(b: Builder, subject: Subject, definition: Rel, room: float = WIDTH / 2) -> str:
    """A definition in half a line; "" of one that is wider."""
    form = whole.written(b, subject, definition) or Math(
        write(definition, subject.module.table, display=False), definition, "inline")
    if width(form.latex) > room or r"\begin" in form.latex:
        return ""
    b.inline.append(form)
    return f"${form.latex}$"
