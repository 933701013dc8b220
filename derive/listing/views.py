"""Windows of an array as NumPy shows them: a view of all of them, or the cells at one place of each."""

from __future__ import annotations

from collections.abc import Sequence

import derive.expr as ex
from derive.listing.code import tuple_text
from derive.records import dataclass


@dataclass(frozen=True)
class View:
    """Along an axis of an array the cells s k + d a − p: axes k and a; without a ``tap`` a, the whole axis k.

    ``span`` says how far a window reaches and ``reach`` s times how many there are, as source; ``ends``: there may be
    room for more windows; ``around``: how many cells are to be added before and behind.
    """

    outer: ex.Idx
    tap: ex.Idx | None = None
    step: int = 1
    dilation: int = 1
    span: str = ""
    reach: str = ""
    ends: bool = False
    around: tuple[int, int] = (0, 0)


def axes(views: Sequence[View]) -> tuple[ex.Idx, ...]:
    return (*(v.outer for v in views), *(v.tap for v in views if v.tap is not None))


def padded(array: str, views: Sequence[View]) -> str:
    """The array with the cells around it that its windows reach."""
    widths = [v.around for v in views]
    if not any(map(any, widths)):
        return array
    same = len({n for pair in widths for n in pair}) == 1
    return f"np.pad({array}, {widths[0][0] if same else tuple_text(list(map(str, widths)))})"


def sliding(array: str, views: Sequence[View]) -> str:
    """All windows: their axes, then those within them."""
    along = [(d, v) for d, v in enumerate(views) if v.tap is not None]
    slices = [":" + (v.reach if v.ends else "") + (f":{v.step}" if v.step > 1 else "") for v in views]
    if any(v.dilation > 1 for v in views):
        slices += [f"::{v.dilation}" if v.dilation > 1 else ":" for _, v in along]
    where = "" if len(along) == len(views) else f", axis={tuple_text([str(d) for d, _ in along])}"
    text = f"sliding_window_view({array}, {tuple_text([v.span for _, v in along])}{where})"
    return text if {*slices} == {":"} else f"{text}[{', '.join(slices)}]"


def at_tap(views: Sequence[View]) -> str:
    """The slices of the cells at a loop's a of all windows: a, a + s, …"""
    return ", ".join(":" if v.tap is None else _from(v.tap.name, v) for v in views)


def _from(tap: str, view: View) -> str:
    first = tap if view.dilation == 1 else f"{view.dilation} * {tap}"
    return f"{first}:{first} + {view.reach}" + (f":{view.step}" if view.step > 1 else "")
