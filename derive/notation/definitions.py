"""The equations of a formula: what stands left and right, and whether a function is defined."""

from __future__ import annotations

import re
from dataclasses import dataclass

from derive.notation.cursor import normal
from derive.notation.pieces import variable
from derive.notation.tree import Env, Item, Items, Scripted, is_group, is_token, split
from derive.notation.vocabulary import ALIGNED


@dataclass(frozen=True)
class Definition:
    """left = right; ``local`` is a function and its parameters, where it defines one."""

    left: Items
    right: Items
    local: tuple[str, ...]


def definitions(items: Items) -> list[Definition]:
    """The equations of a formula."""
    found = []
    if len(items) == 1 and isinstance(items[0], Env) and items[0].name in ALIGNED:
        return [d for row in split(items[0].items, "CR") for d in definitions(row)]
    for part in split([i for i in items if not is_token(i, "AMP")], "COMMA", "SEMI", "TEXT", "AND", "IFF", "CR"):
        sides = split(part, "REL")
        if len(sides) < 2 or not sides[0] or not sides[1]:
            continue
        local: tuple[str, ...] = ()
        head = normal(sides[0][0])
        name = head.base if isinstance(head, Scripted) and not head.sups else head
        label = labels_of(head)
        group = sides[0][1] if len(sides[0]) == 2 else None
        if is_token(name, "NAME") and is_group(group, "LPAREN") and label is not None:
            parameters = [variable(p[0]) if len(p) == 1 else None for p in split(group.items, "COMMA", "SEMI")]
            if None not in parameters and len(set(parameters)) == len(parameters):
                local = (name.text + label, *(p for p in parameters if p is not None))
        found.append(Definition(sides[0], [i for side in sides[1:] for i in side], local))
    return found


def labels_of(item: Item) -> str | None:
    r"""``_delta`` of ``\ell_\delta``, nothing of ``f``; None for any other subscript."""
    item = normal(item)
    if not isinstance(item, Scripted) or not item.subs:
        return ""
    name = variable(item.subs[0][0]) if len(item.subs) == 1 and len(item.subs[0]) == 1 else None
    return None if name is None else f"_{name}"


def base_of(item: Item) -> Item:
    item = normal(item)
    return item.base if isinstance(item, Scripted) else item


def sampled(name: str) -> tuple[str, str | None]:
    """``x^(i)`` → x, i: a letter alone in a bracketed superscript."""
    match = _SAMPLE.match(name)
    return (name, None) if match is None else (match[1], match[2])


_SAMPLE = re.compile(r"^([^^]+)\^[(\[]([^\W\d_]+)[)\]]$")
