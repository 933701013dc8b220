"""Indices of which the prose says which one is meant: c of p_c, where «c is the correct class»."""

from __future__ import annotations

import re
from collections.abc import Collection

from derive.check.reading.claims import Item, repeated
from derive.expr import Idx, free_indices
from derive.records import dataclass

_BARE = re.compile(r"(?:(?<!\w)(\w++)\s+)?(?:(?<!\w)(\w++)\s+)?\$\s*(\\?[A-Za-z]+)\s*\$")  # $c$, and two words before
_EACH, _OVER = frozenset("all each every any".split()), frozenset("over in to from across along".split())
_IS = re.compile(r",?\s*(?:is|be|being|denotes?|marks?|stands\s+for)(?:\s+[a-z-]+){1,4}", re.IGNORECASE)
_CLASS = frozenset("class classes label labels target targets".split())
# a sum is meant, or one of its terms
_SUMMED = re.compile(r"\b(?:summ?(?:ed|ing|ation)?\b|repeated\b|convention\b|impli(?:ed|cit)|one\b|single\b|per\b"
                     r"|fixed\b|particular\b|contribut|samples?\b|examples?\b|terms?\b)", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """The letters that prose names by themselves, and those of them of which it means a certain one."""

    mentioned: frozenset[str]
    certain: frozenset[str]
    convention: bool  # that sums over repeated indices are left out

    @classmethod
    def of(cls, text: str, usual: Collection[str]) -> Named:
        """Not those of «for each $k$ and $l$», «sum over $k$»; ``usual``: words that single out nothing."""
        mentioned, certain, any_ = set[str](), set[str](), False
        for bare in _BARE.finditer(text):
            before, name = [w.lower() for w in (bare[1], bare[2]) if w], bare[3].removeprefix("\\")
            goes_on = any_ and before[-1:] == ["and"]
            any_ = goes_on or not _EACH.isdisjoint(before) or not _OVER.isdisjoint(before[-1:])
            if not any_:
                said = _IS.match(text, bare.end())
                near = {*before, *re.findall(r"[a-z]{2,}", said[0].lower() if said else "")}
                mentioned.add(name)
                if near & _CLASS or near.difference(usual):
                    certain.add(name)
        return cls(frozenset(mentioned), frozenset(certain), "einstein" in text.lower())

    def doubt(self, item: Item, sentence: str) -> str:
        """Whether the text says which index is meant, or that a sum is."""
        here = free_indices(item.node) if item.node is not None else frozenset()
        loose = free_indices(item.written) - here if item.written is not None else frozenset()
        for index in (*loose, *here):
            name = index.name if isinstance(index, Idx) else ""
            if name in self.certain or index in loose and name in self.mentioned:
                return f"the text may say which `{name}` is meant"
        return "a sum may be meant" if repeated(item) and (self.convention or _SUMMED.search(sentence)) else ""
