"""What a question asks for, and whether a solution gives it: given, implied by what it gives, or missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from derive.check.reading.claims import Item
from derive.expr import Cond, Entry, Idx, Node, Partial, Rel, walk
from derive.magnitudes import held
from derive.module import Module
from derive.records import dataclass
from derive.verify.points.point import LOSS

Key = tuple[str, str]  # ∂of/∂wrt, of the loss for a message


class Given(StrEnum):
    """How far a solution answers one thing that is asked."""

    GIVEN = "given"
    IMPLIED = "implied"
    OPEN = "open"  # what may be the answer was not read, or does not hold where it is read
    MISSING = "missing"


@dataclass(frozen=True)
class Asked:
    """∂of/∂wrt, in any of the forms in which it may be given."""

    of: Entry
    wrt: Entry
    keys: tuple[Key, ...]


def asked(module: Module) -> tuple[Asked, ...]:
    """What the question asks for, in its order."""
    found = [p for p in module.wanted if isinstance(p.of, Entry) and isinstance(p.wrt, Entry)]
    if not found:
        names = module.inputs if {"jacobian", "vjp"} & {*module.asked} else ()
        names = tuple(n for n in names if n not in held(module))
        names += module.parameters if "parameters" in module.asked else ()
        found = [Partial(_entry(module.output, module), _entry(n, module)) for n in dict.fromkeys(names)]
    return tuple(_asked(p.of, p.wrt, module) for p in found if isinstance(p.of, Entry) and isinstance(p.wrt, Entry))


def _asked(of: Entry, wrt: Entry, module: Module) -> Asked:
    ends = (of.tensor in (LOSS, module.output))
    return Asked(of, wrt, ((LOSS, wrt.tensor), (module.output, wrt.tensor)) if ends else ((of.tensor, wrt.tensor),))


def _entry(name: str, module: Module) -> Entry:
    symbol = module.table.named(name)
    return Entry(name, tuple(map(Idx, symbol.axes)) if symbol is not None else ())


def keys_of(node: Node) -> Iterator[Key]:
    """The derivatives that stand in it."""
    for n in walk(node):
        if isinstance(n, Partial) and isinstance(n.of, Entry) and isinstance(n.wrt, Entry):
            yield n.of.tensor, n.wrt.tensor
        elif isinstance(n, Entry) and n.tensor.startswith("delta_"):
            yield LOSS, n.tensor.removeprefix("delta_")


def head_of(item: Item) -> Key | None:
    """The derivative that an equation is about."""
    return next(keys_of(item.node.terms[0]), None) if isinstance(item.node, Rel) else None


def answers(wanted: Iterable[Asked], held: Iterable[Item], module: Module) -> dict[Asked, Given]:
    """For each thing asked whether the equations that hold give it, or say it together."""
    whole, known = set[Key](), {(LOSS, module.output)}
    parts: dict[Key, list[Cond]] = {}
    claims = [i for i in held if isinstance(i.node, Rel) and head_of(i) is not None]
    for item in claims:
        key = head_of(item)
        assert key is not None and isinstance(item.node, Rel)
        if item.cond is not None:
            parts.setdefault(key, []).append(item.cond)
        elif {*keys_of(item.node.terms[1])} <= {(LOSS, module.output)}:
            whole.add(key)
    whole |= {key for key, conds in parts.items() if len({*conds}) > 1}
    known |= whole
    more = True
    while more:  # what chains of derivatives that are known give
        new = {key for i in claims if isinstance(i.node, Rel) and (key := head_of(i)) is not None
               and i.cond is None and {*keys_of(i.node.terms[1])} <= known}
        new |= {(of, wrt) for of, t in known for by, wrt in known if by == t and _all_through(wrt, t, module)}
        new -= known
        more, known = bool(new), known | new
    return {a: _given(a, whole, known, module) for a in wanted}


def _all_through(name: str, user: str, module: Module) -> bool:
    """Whether nothing but one letter is computed of another, which is not the output itself."""
    return [n for n in module.defined if name in module.sources(n)] == [user]


def _given(one: Asked, whole: set[Key], known: set[Key], module: Module) -> Given:
    if any(k in whole for k in one.keys):
        return Given.GIVEN
    joined = any((LOSS, t) in known and (t, one.wrt.tensor) in known or (
        one.of.tensor, t) in known and (t, one.wrt.tensor) in known for t in module.defined)
    return Given.IMPLIED if joined or any(k in known for k in one.keys) else Given.MISSING
