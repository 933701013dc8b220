"""Normalisations told by words: y = γ (x − μ)/√(σ² + ε) + β, of what, over what, with which gain and shift."""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any

from derive.layers.chain import Part
from derive.question.sentences.tokens import Token
from derive.question.told.values import Unread
from derive.records import dataclass

Options = dict[str, Any]
_POWER = re.compile(r"\s*(?:\\(?:var)?epsilon\s*=\s*)?(?:(?P<n>\d+(?:\.\d+)?)|10\^\s*\{?\s*-\s*(?P<e>\d+)\s*\}?)\s*")
_LETTER = re.compile(r"\s*\+?\s*(?:\\[,;: ])?\s*(\\(?:var)?epsilon|[a-z])\s*(?:>\s*0\s*)?")


@dataclass(frozen=True)
class _Norm:
    """A normalisation over ``rank`` axes: for each of what by itself, over what, a gain for each of what."""

    name: str
    rank: int
    per: frozenset[str]
    over: frozenset[str]
    each: str
    kinds: frozenset[str]
    must: frozenset[str] = frozenset()  # one of these is said of each


def _norm(name: str, rank: int, per: str, over: str, each: str, kinds: str, must: str = "") -> _Norm:
    return _Norm(name, rank, frozenset(per.split()), frozenset(over.split()), each, frozenset(kinds.split()),
                 frozenset(must.split()))


# the first that fits what is said
_NORMS = tuple(_norm(*row) for row in (
    ("batch_norm", 2, "feature", "batch", "feature", "matrix"),
    ("batch_norm", 4, "channel", "batch pixels", "channel", "images"),
    ("layer_norm", 1, "token sample vector", "features", "feature", "vector"),
    ("layer_norm", 2, "row token sample", "features", "feature", "matrix", "row token sample"),
    ("instance_norm", 3, "channel", "pixels", "channel", "image"),
    ("instance_norm", 4, "channel image", "pixels", "channel", "images image", "image"),
    ("rms_norm", 1, "token sample vector", "features", "feature", "vector"),
    ("rms_norm", 2, "row token sample", "features", "feature", "matrix", "row token sample"),
))
NORMS = frozenset(norm.name for norm in _NORMS)


def unnamed(own: Options, kinds: Collection[str]) -> str | None:
    """The normalisation that words describe and do not name, of the only kind that fits of what and over what it is."""
    said = bool(own.get("per")) or "vector" in kinds
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    found = {norm.name for norm in _NORMS if norm.name != "rms_norm" and said and _fits(norm, own, kind)}
    return found.pop() if len(found) == 1 else None


def _fits(norm: _Norm, own: Options, kind: str | None) -> bool:
    per = {*own.get("per", ())}
    gains = {"feature": {"feature"}, "channel": {"channel", "output"}}[norm.each]
    return (per <= norm.per and {*own.get("over", ())} <= norm.over and {*own.get("each", ())} <= gains
            and (kind is None or kind in norm.kinds) and (not norm.must or bool(per & norm.must)))


def normalised(name: str, own: Options, kind: str | None) -> tuple[Part, int]:
    """The part with its gain, its shift and the number below the root, and the number of axes of what goes in."""
    fits = [norm for norm in _NORMS if norm.name == name and _fits(norm, own, kind)]
    does, root = own.get("does", ()), name == "rms_norm"
    if not fits or len(fits) > 1 and kind is None and name == "batch_norm" and not {*own.get("over", ())}:
        raise Unread("of what the mean and the variance are taken")
    needs = {"gain", "epsilon"} if root else {"gain", "shift", "epsilon"}
    if needs - {*own}:
        raise Unread(f"the {min(needs - {*own})} of the normalisation")
    if len(does) not in (0, 2) or root and (does or own.get("shift", "no") != "no") or bool(own.get("square")) > root:
        raise Unread("what is normalised")
    given = {what: {"no": False, "yes": True}.get(own[what], own[what]) for what in sorted(needs)}
    return Part(name, (), given), fits[0].rank


def below_the_root(said: Any) -> Fraction | str:
    r"""0.001 of 10^{-3}, \epsilon of \epsilon > 0 and of + \epsilon."""
    latex = said.formula.latex if isinstance(said, Token) and said.formulas else str(getattr(said, "text", said))
    if found := _POWER.fullmatch(latex):
        return Fraction(found["n"]) if found["n"] else Fraction(1, 10 ** int(found["e"]))
    if letter := _LETTER.fullmatch(latex):
        return letter[1]
    raise Unread("the number below the root")
