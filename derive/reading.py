"""What a card says, as a statement: its own front matter, and what its question says besides."""

from __future__ import annotations

from derive.card import Card
from derive.errors import CardError, DeriveError, OpenError, UnsupportedError
from derive.module import ROLES, Module
from derive.question import module_of
from derive.specify.writing import statement_of
from derive.statement import KEYS, Source, Statement

# how a reading begins, and the key of what it says
_SAYS = (("layer (", "forward"), ("layer:", "forward"), ("layers:", "layers"), ("function (", "functions"),
         ("window ", "kernel_size"), ("stride ", "stride"), ("padding ", "padding"), ("no padding", "padding"),
         ("dilation ", "dilation"),
         ("tie rule", "tie_rule"), ("input of size", "input_size"), ("asked for", "derive"),
         ("numbers of", "values"))  # fmt: skip
_SINGULAR = {role[:-1]: role for role in ROLES}


def statement_read(card: Card) -> tuple[Statement, DeriveError | None]:
    """The statement of a card, each item with its source; where something is open, what is given, and the error.

    Raises :class:`CardError` where the front matter itself is wrong.
    """
    own = Statement.of(card)
    try:
        module = module_of(card)
    except (CardError, UnsupportedError) as error:
        from derive.question.understood import understood  # only where something is open

        layer = error.found if isinstance(error, OpenError) else None
        return understood(card, own, error, _sources(layer, statement_of(layer)) if layer else {}), error
    found = statement_of(module)
    if own.layers is not None or "layer" in card.front_matter:
        found = Statement(derive=found.derive)  # what the names say is not said again
    values = {key: getattr(found if getattr(own, key) is None else own, key) for key in KEYS}
    sources = _sources(module, found)
    return Statement(**values, sources={key: own.sources.get(key) or sources.get(key, ()) for key in KEYS
                                        if values[key] is not None}), None


def _sources(module: Module, statement: Statement) -> dict[str, tuple[Source, ...]]:
    """The readings of a module by the keys that they are about; those of letters in the order of their lists."""
    found: dict[str, list[str]] = {}
    for reading in module.readings:
        key = next((key for begins, key in _SAYS if reading.startswith(begins)), None)
        if key is not None:
            found.setdefault(key, []).append(reading)
    for singular, role in _SINGULAR.items():
        said = {r.split("`")[1]: r for r in module.readings if r.startswith(f"{singular} `")}
        found[role] = [said.get(name, "") for name in getattr(module, role)]
    return {key: tuple(map(_source, texts)) for key, texts in found.items()}


def _source(reading: str) -> Source:
    _, _, line = reading.partition("(line ")
    number = line.partition(":")[0].rstrip(")")
    return Source(int(number) if number.isdigit() else None, reading)
