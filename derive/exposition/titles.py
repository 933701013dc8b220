"""The title of a sheet: the layer, and what is derived of it."""

from __future__ import annotations

from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.layers import spoken

_MOST = 5  # letters that a title names


def title(b: Builder, subject: Subject) -> str:
    """«Linear layer and PReLU: forward, backward, parameter messages»; without names, by the layer's letters."""
    module = subject.module
    names = module.name.split(" → ") if module.name else module.called
    parts = [str(spoken(name)) for name in names]
    output, *letters = (b.letter(s) for name in (module.output, *module.inputs, *module.parameters)
                        if name not in subject.held and (s := module.table.named(name)))
    return b.say("title", parts=parts, output=output, letters=letters[:_MOST], more=len(letters) > _MOST,
                 kinds=list(dict.fromkeys(i.kind for i in subject.items)))
