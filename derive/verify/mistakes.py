"""Known mistakes in a backward pass, by what they compute: the one that fits is named to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from derive.calculus.one_window import Windowed
from derive.numeric.point import Index
from derive.verify.points.point import Point

MASK_ALONE = "the upstream gradient is left out: this is the mask"
Entries = Mapping[tuple[Index, Index], Any]


def _winners(values: Mapping[Index, Any], sign: int) -> list[Index]:
    top = max(v * sign for v in values.values())
    return [cell for cell, v in values.items() if v * sign == top]


def _rules(sign: int) -> dict[str, Callable[[Mapping[Index, Any]], dict[Index, Any]]]:
    """What one window passes back, by mistake."""
    def best(values: Mapping[Index, Any]) -> list[Index]:
        return _winners(values, sign)

    return {
        "the gradient goes to every entry of the window, not to the extreme one alone": lambda w: dict.fromkeys(w, 1),
        "an inequality is flipped: the gradient goes to the opposite extreme":
            lambda w: {_winners(w, -sign)[0]: 1},
        "the entry's value stands where its slope 1 belongs": lambda w: {best(w)[0]: w[best(w)[0]]},
        "the sign is wrong": lambda w: {best(w)[0]: -1},
        "the tie rule is another one: the last tied entry gets the gradient": lambda w: {best(w)[-1]: 1},
        "the tie rule is another one: the first tied entry gets the gradient": lambda w: {best(w)[0]: 1},
        "the tie rule is another one: tied entries share the gradient":
            lambda w: dict.fromkeys(best(w), 1 / len(best(w))),
        "at a tie every tied entry gets the whole gradient, which is no subgradient":
            lambda w: dict.fromkeys(best(w), 1),
        "two indices are swapped": lambda w: {best(w)[0][::-1]: 1},
        "no gradient is passed back at all": lambda w: {},
    }


def jacobians(w: Windowed, point: Point) -> Iterator[tuple[str, Entries]]:
    """(what went wrong, the Jacobian that this gives), zeros left out."""
    for words, rule in _rules(1 if w.window.op == "max" else -1).items():
        found: dict[tuple[Index, Index], Any] = {}
        for out in point.tensor(w.layer.output):
            window = values_of(w, point, out)
            if window:
                found |= {(out, cell): v for cell, v in rule(window).items() if v}
        yield words, found


def values_of(w: Windowed, point: Point, out: Index) -> dict[Index, Any]:
    """The entries of a window, row by row."""
    name, = dict(w.layer.fields)
    cells = (cell if isinstance(cell, tuple) else (cell,) for cell in point.elements(name, out))
    return {cell: point.tensor(w.source)[cell] for cell in cells}


def messages(w: Windowed, point: Point) -> Iterator[tuple[str, Mapping[Index, Any]]]:
    """(what went wrong, the backward message that this gives)."""
    delta, none = point.tensor(f"delta_{w.layer.output}"), dict.fromkeys(point.tensor(w.source), 0)
    for words, entries in jacobians(w, point):
        total = dict(none)
        for (out, cell), v in entries.items():
            total[cell] = total.get(cell, 0) + delta[out] * v
        yield words, total
        if words.startswith("the tie rule is another one: the first"):
            for keep in (1, -1):
                kept = dict(none)
                for out, cell in list(entries)[::-keep]:
                    kept[cell] = delta[out]
                yield "where windows overlap only one contribution is kept: the sum over them is lost", kept
            swapped, ones = dict(none), dict(none)
            for out, cell in entries:
                swapped[cell] += delta.get(out[::-1], 0)
                ones[cell] += 1
            yield "the indices of the upstream gradient are swapped", swapped
            yield MASK_ALONE, ones


def likely(found: Mapping[Any, Any], expected: Mapping[Any, Any],
           candidates: Iterator[tuple[str, Mapping[Any, Any]]]) -> str:
    """The known mistake that gives exactly what was found, or what can be said of the difference."""
    def same(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
        return all(abs(float(a.get(k, 0)) - float(b.get(k, 0))) < 1e-9 for k in {*a, *b})

    for words, values in candidates:
        if same(values, found) and not same(values, expected):
            return words
    ratios = {float(found.get(k, 0)) / float(v) for k, v in expected.items() if v}
    if len(ratios) == 1 and (ratio := ratios.pop()) not in (0.0, 1.0) and same(
            {k: float(v) * ratio for k, v in expected.items()}, found):
        return f"a factor: it is {ratio:g} times what it should be"
    return "the gradient is sent to the wrong entries" if any(found.values()) else "no gradient is passed back at all"
