"""Frozen records at a fraction of what a dataclass of the standard library takes to make.

There six methods are written and compiled for each class, whether or not anything is ever made of it; a run makes
a hundred classes.  Here the methods are shared, and the constructor is compiled with the first object.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, **options):
        """As :func:`dataclasses.dataclass`, which this is for all but the plain frozen ones."""
        if not frozen or options or cls is not None:
            return dataclasses.dataclass(cls, frozen=frozen, **options)
        return _frozen


def _frozen(made: type[Any]) -> type[Any]:
    own = dict(vars(made))
    fields = _fields(made)
    made.__dataclass_fields__ = {f.name: f for f in fields}
    made.__dataclass_params__ = _PLAIN.__dataclass_params__
    methods: dict[str, Any] = {
        "_compared": _values(f.name for f in fields if f.compare),
        "_given": (given := tuple(f.name for f in fields if f.init)), "__match_args__": given,
        "_hashed": _values(f.name for f in fields if (f.compare if f.hash is None else f.hash)),
        "__init__": _constructor(made), "__repr__": _repr, "__eq__": _eq, "__setattr__": _fixed,
        "__delattr__": _fixed, "__getstate__": _state,
    }  # fmt: skip
    if own.get("__hash__") is None:  # which is what a class with an equality of its own has, too
        made.__hash__ = _hash  # type: ignore[assignment]
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Plain:
    """What the library says of a class that has fields alone."""

    field: None


_PLAIN: type[Any] = _Plain
_KIND = dataclasses.fields(_PLAIN)[0]._field_type  # type: ignore[attr-defined]


def _fields(cls: type[Any]) -> list[dataclasses.Field[Any]]:
    """The fields as the library finds them, which looks at each annotation three times, and at every base."""
    bases = (vars(base).get("__dataclass_fields__", {}) for base in reversed(cls.__mro__[1:]))
    found = {name: f for fields in bases for name, f in fields.items()}
    for name, kind in vars(cls).get("__annotations__", {}).items():
        if str(kind).startswith("ClassVar"):
            continue
        value = vars(cls).get(name, dataclasses.MISSING)
        own: Any = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
        own.name, own.type, own._field_type = name, kind, _KIND
        found[name] = own
        if own is value and own.default is dataclasses.MISSING:
            delattr(cls, name)
        elif own is value:
            setattr(cls, name, own.default)
    return list(found.values())


def _values(names: Iterable[str]) -> Callable[[Any], Any]:
    return attrgetter(*(tuple(names) or ("__class__",)))


def _constructor(cls: type[Any]) -> Callable[..., None]:
    """The constructor, compiled when it is called for the first time."""

    def first(self: Any, *args: Any, **named: Any) -> None:
        if vars(cls).get("__init__") is first:
            cls.__init__ = _compiled(cls)
        cls.__init__(self, *args, **named)

    return first


def _compiled(cls: type[Any]) -> Callable[..., None]:
    params, values = ["self"], []
    space: dict[str, Any] = {"MISSING": dataclasses.MISSING}
    for f in dataclasses.fields(cls):
        default, value = f"default_{f.name}", f.name
        if f.default_factory is not dataclasses.MISSING:
            space[default] = f.default_factory
            params.append(f"{f.name}=MISSING")
            value = f"{default}() if {f.name} is MISSING else {f.name}" if f.init else f"{default}()"
        elif f.default is not dataclasses.MISSING:
            space[default] = f.default
            params.append(f"{f.name}={default}")
        else:
            params.append(f.name)
        if not f.init:
            params.pop()
        values.append(f"own[{f.name!r}] = {value}")
    lines = ["own = self.__dict__", *values, *(["self.__post_init__()"] if hasattr(cls, "__post_init__") else [])]
    exec(f"def __init__({', '.join(params)}): {'; '.join(lines)}", space)
    found: Callable[..., None] = space["__init__"]
    found.__qualname__ = f"{cls.__qualname__}.__init__"
    return found


def replace(record: T, **changes: Any) -> T:
    """The record with other fields: as :func:`dataclasses.replace`, which looks at what each field is."""
    own, given = vars(record), vars(type(record)).get("_given")
    if given is None:  # a dataclass of the library
        return dataclasses.replace(record, **changes)  # type: ignore[type-var]
    return type(record)(**({name: own[name] for name in given} | changes))


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    """What was once found equal is known to be by a mark that both have: large records key the memos."""
    if self is other:
        return True
    if other.__class__ is not self.__class__:
        return NotImplemented
    mark = self.__dict__.get("_mark")
    if mark is not None and mark is other.__dict__.get("_mark"):
        return True
    same = self._compared(self) == self._compared(other)
    if same:
        other.__dict__["_mark"] = self.__dict__.setdefault("_mark", object())
    return same


def _hash(self: Any) -> int:
    """Worked out once: what is frozen keys the memos, and some of it is large."""
    known: int | None = self.__dict__.get("_hash")
    if known is None:
        known = self.__dict__["_hash"] = hash(self._hashed(self))
    return known


def _state(self: Any) -> dict[str, Any]:
    """All but the hash, which is another one in another process, and what it was compared with in this one."""
    return {name: value for name, value in self.__dict__.items() if name not in ("_hash", "_mark")}


def _fixed(self: Any, name: str, *_: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to or delete field {name!r}")
