"""The title of a sheet: the layer, and what is derived of it."""

from __future__ import annotations

from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.layers import spoken


def title(b: Builder, subject: Subject) -> str:
    """«Linear layer and PReLU: forward, backward, parameter messages»."""
    return b.say("title", name=spoken(subject.module.name), kinds=list(dict.fromkeys(i.kind for i in subject.items)))
