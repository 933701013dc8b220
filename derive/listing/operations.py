"""A definition in array operations: one line, or for each place within windows the cells there of all of them."""

from __future__ import annotations

from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.listing.arrays import Arrays, widened
from derive.listing.code import tuple_text
from derive.listing.scope import Definition, Loop, Scope
from derive.listing.views import View, at_tap
from derive.listing.windows import Scatter, scattered


def lines(definition: Definition, scope: Scope) -> tuple[list[str], list[str]]:
    """The lines of a definition, and the sizes that they name."""
    scatter = scattered(definition, scope)
    spread = None if scatter is None else _spread(definition, scatter, scope)
    if spread is not None:
        return spread
    printer = Arrays(scope, definition)
    code = printer.value(definition.value)
    text = code.text
    if code.axes != definition.indices:
        size = printer.shape(definition.counts)
        spread_out = f"np.broadcast_to({widened(code, definition.indices).text}, {size})"
        text = spread_out if code.axes else f"np.full({size}, {text})"
    return [*printer.before(), f"{definition.name} = {text}"], list(printer.sizes)


def _spread(definition: Definition, scatter: Scatter, scope: Scope) -> tuple[list[str], list[str]] | None:
    """np.add.at for places that are selected; else for each a entries a, a + s, … of what is defined."""
    inner = Definition(definition.name, tuple(scatter.counts), tuple(scatter.counts.values()), scatter.body)
    printer, name = Arrays(scope, inner), definition.name
    if not scatter.taps and not scatter.cells:
        (*at, body), axes = printer.align(map(printer.value, (*scatter.places, scatter.body)))
        if axes != inner.indices:
            return None
        return [*printer.before(), f"{name} = np.zeros({printer.shape(definition.counts)})",
                f"np.add.at({name}, {tuple_text([p.text for p in at])}, {body.text})"], list(printer.sizes)
    tapped = printer.tapped(Loop(tuple(scatter.cells), tuple(c.extent for c in scatter.cells.values()), None,
                                 ex.Tuple((scatter.body, *scatter.places)), scatter.cells))
    value, *places = cast(ex.Tuple, tapped.body).items
    body = printer.value(value)
    if body.axes != inner.indices:
        return None
    views = [_view(place, scatter, tapped, printer) for place in places]
    sizes = [ex.add(size, ex.Num(sum(v.around))) for size, v in zip(definition.counts, views, strict=True)]
    cut = [f"{v.around[0] or ''}:{-v.around[1] or ''}" for v in views]
    runs = scatter.taps | dict(zip(tapped.variables, tapped.counts, strict=True))
    letters, counts = ", ".join(v.name for v in runs), [printer.value(n).text for n in runs.values()]
    run = f"range({counts[0]})" if len(counts) == 1 else f"np.ndindex({', '.join(counts)})"
    written = [*printer.before(), f"{name} = np.zeros({printer.shape(sizes)})", f"for {letters} in {run}:",
               f"    {name}[{at_tap(views)}] += {body.text}"]
    written += [f"{name} = {name}[{', '.join(cut)}]"] if {*cut} != {":"} else []
    return written, list(printer.sizes)


def _view(place: ex.Expr, scatter: Scatter, tapped: Loop, printer: Arrays) -> View:
    """The entries s k + d a − p for a loop's a, or all along k."""
    form = Affine.of(place)
    tap = next((v for v in form.coefficients if v in scatter.taps or v in tapped.cells), None)
    if tap is None or tap in tapped.cells:
        return printer.cells(place, tap)
    outer = next(cast(ex.Idx, v) for v in form.coefficients if v is not tap)
    reach = printer.value(ex.mul(ex.Num(form.coefficients[outer]), printer.counts[outer])).text
    return View(outer, tap, int(form.coefficients[outer]), reach=reach)
