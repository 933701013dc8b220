"""A formula as array operations: an index is an axis, a sum of products a matrix product."""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.errors import UnsupportedError
from derive.listing.code import AND, ATOM, COMPARE, PRODUCT, ArrayPrinter, Code
from derive.listing.scope import Cells, Definition, Loop, Scope, star_name
from derive.listing.views import View, at_tap, axes, padded, sliding
from derive.listing.windows import between, refuse, worst
from derive.receptive_field import WindowAxis
from derive.reductions import REDUCTIONS, is_middle, is_short


class Arrays(ArrayPrinter):
    """Whole arrays; ``order`` lists the indices that are axes here, outermost first."""

    def __init__(self, scope: Scope, definition: Definition) -> None:
        super().__init__(scope.module)
        self.scope, self.order = scope, list(definition.indices)
        self.counts = dict(zip(definition.indices, definition.counts, strict=True))
        self.ranges: dict[ex.Idx, ex.Expr] = {}
        self.taps: dict[ex.Idx, Cells] = {}  # a of the cells s k + d a − p of a window
        self.named: dict[str, str] = {}  # what has a line of its own
        self.places: dict[ex.Idx, Code] = {}

    # --- shapes -------------------------------------------------------------

    def align(self, parts: Iterable[Code]) -> tuple[list[Code], tuple[ex.Idx, ...]]:
        """New axes where a part lacks one that stands behind its first."""
        found = list(parts)
        axes = tuple(v for v in self.order if any(v in p.axes for p in found))
        return [widened(p, axes) for p in found], axes

    def condition(self, node: ex.Cond) -> Code:
        if isinstance(node, ex.And):
            return self.joined(" & ", AND, [Code(c.at(ATOM), ATOM, c.axes) for c in map(self.condition, node.conds)])
        return super().condition(node)

    def compared(self, parts: list[Code], ops: list[str]) -> Code:
        pairs = [super(Arrays, self).compared([a, b], [op]) for a, op, b in zip(parts, ops, parts[1:], strict=False)]
        if len(pairs) == 1:
            return pairs[0]
        return self.joined(" & ", AND, [Code(p.at(ATOM), ATOM, p.axes) for p in pairs])

    # --- entries ------------------------------------------------------------

    def index(self, node: ex.Idx) -> Code:
        if node not in self.order:  # a loop's
            return self.places.get(node, Code(node.name))
        self.ranges[node] = self.counts[node]
        return Code(node.name, ATOM, (node,))

    def bound(self, node: ex.Expr) -> Code:
        match node:
            case ex.Entry():
                return self.transposed(self.raw(node))
            case ex.Star(name):
                at = self.scope.star_place(node)
                if not all(isinstance(v, ex.Idx) and v in self.order for v in at):
                    raise UnsupportedError("a maximiser at a shifted index is not written as array operations")
                return self.transposed(Code(star_name(name), ATOM, cast("tuple[ex.Idx, ...]", tuple(at))))
            case ex.Reduce():
                return self.reduced(node)
            case ex.Arg():
                return self.selected(node)
        return super().bound(node)

    def raw(self, entry: ex.Entry) -> Code:
        """An entry's array with its axes in their own order."""
        name, place = self.scope.name(entry.tensor), self.scope.place(entry)
        if not place:
            return Code(name)
        if any(v in self.taps for t in place for v in ex.free_indices(t)):
            return self.view(name, place)
        lines = [self.line(t, self.scope.extent(entry.tensor, d)) for d, t in enumerate(place)]
        known = [line for line in lines if line is not None]
        axes = tuple(v for v, _ in known if v is not None)
        if len(known) == len(lines) and len(set(axes)) == len(axes):
            slices = [text for _, text in known]
            while slices and slices[-1] == ":":
                slices.pop()
            return Code(f"{name}[{', '.join(slices)}]" if slices else name, ATOM, axes)
        return self.windows(name, place) or self.picked(name, place)

    def line(self, term: ex.Expr, size: ex.Expr) -> tuple[ex.Idx | None, str] | None:
        """(v, slice) for v + c, (None, number) for what is no axis here; None for all else.

        Raises :class:`UnsupportedError` where a slice leaves the array.
        """
        form = Affine.of(term)
        if not any(v in self.order for v in ex.free_indices(term)):
            return None if any(isinstance(n, ex.Star) for n in ex.walk(term)) else (None, self.value(term).text)
        v, c = next(iter(form.coefficients.items())) if len(form.coefficients) == 1 else (None, 0)
        if not isinstance(v, ex.Idx) or c != 1 or form.constant.denominator != 1:
            return None
        end = Affine.of(ex.add(self.counts[v], ex.Num(form.constant)))
        beyond = Affine.of(ex.sub(end.expr(), size))
        if form.constant < 0 or (not beyond.coefficients and beyond.constant > 0):
            raise UnsupportedError("an index that leaves its array is not written as array operations")
        start = "" if form.constant == 0 else str(form.constant)
        stop = "" if not beyond.coefficients and beyond.constant == 0 else self.value(end.expr()).text
        return v, f"{start}:{stop}"

    def windows(self, name: str, place: list[ex.Expr]) -> Code | None:
        """x_{s k + a, t l + b} as windows of x: axes k, l, a, b."""
        if self.module.ranges:  # the output may end before the windows do
            return None
        found: list[View] = []
        for term in place:
            form = Affine.of(term)
            letters = [v for v in form.coefficients if isinstance(v, ex.Idx)]
            letters.sort(key=lambda v: (-form.coefficients[v], self.order.index(v)))
            if len(letters) != 2 or len(form.coefficients) != 2 or form.constant or form.coefficients[letters[1]] != 1:
                return None
            (outer, inner), step = letters, int(form.coefficients[letters[0]])
            if step == 1 and self._is_output(inner) and not self._is_output(outer):  # that one counts the windows
                outer, inner = inner, outer
            found.append(View(outer, inner, step, span=self.value(self.counts[inner]).text))
        if len({*axes(found)}) < 2 * len(place):
            return None
        return Code(sliding(name, found), ATOM, axes(found))

    def _is_output(self, v: ex.Idx) -> bool:
        symbol = self.module.table.named(self.module.output)
        return symbol is not None and any(self.counts[v] == self.scope.extent(self.module.output, d)
                                          for d in range(len(symbol.sizes)))

    def view(self, name: str, place: list[ex.Expr]) -> Code:
        """x_{s k + d a − p, …} as windows of x: axes k, then a; or, for a loop's a, the cells at a of all windows."""
        found = [self.cells(t, next((v for v in ex.free_indices(t) if v in self.taps), None)) for t in place]
        name = name if name == (around := padded(name, found)) else self.line_of("padded", around)
        if any(v.tap is not None and v.tap not in self.order for v in found):
            return Code(f"{name}[{at_tap(found)}]", ATOM, tuple(v.outer for v in found))
        return Code(self.line_of("windows", sliding(name, found)), ATOM, axes(found))

    def inside(self, loop: Loop) -> Code:
        """Which cells of the windows lie in the input."""
        found = [self.cells(c.at, v) for v, c in loop.cells.items()]
        ones = f"np.ones({self.shape(c.extent for c in loop.cells.values())}, bool)"
        return Code(self.line_of("inside", sliding(padded(ones, found), found)), ATOM, axes(found))

    def cells(self, place: ex.Expr, tap: ex.Idx | None) -> View:
        """The cells of windows along an axis; the whole axis where no letter a stands for them."""
        outer = place if tap is None else self.taps[tap].at
        if not isinstance(outer, ex.Idx) or outer not in self.order:
            raise UnsupportedError("windows at other places than those of their output are no array operations yet")
        if tap is None:
            return View(outer)
        axis = cast(WindowAxis, self.taps[tap].axis)
        reach = self.value(ex.mul(ex.Num(axis.stride), self.counts[outer])).text
        return View(outer, tap, axis.stride, axis.dilation, str(axis.span), reach, axis.ceil_mode,
                    (axis.padding, axis.span - 1 if axis.ceil_mode else axis.padding_after))

    def line_of(self, name: str, text: str) -> str:
        """The name of what has a line of its own."""
        while self.named.get(name, text) != text:
            name += "_"
        self.named[name] = text
        return name

    def before(self) -> list[str]:
        """The lines of what is used."""
        ranges = [f"{v.name} = np.arange({self.value(n).text})" for v, n in self.ranges.items()]
        return [*ranges, *(f"{name} = {text}" for name, text in self.named.items())]

    def picked(self, name: str, place: list[ex.Expr]) -> Code:
        """x at arrays of indices; those under a condition are evaluated where it does not hold, too."""
        if any(c < 0 for term in place for c in Affine.of(term).coefficients.values()):
            raise UnsupportedError("an index that leaves its array is not written as array operations")
        aligned, axes = self.align(map(self.value, place))
        return Code(f"{name}[{', '.join(p.text for p in aligned)}]", ATOM, axes)

    def transposed(self, code: Code) -> Code:
        """The array with its axes in the order of the indices here."""
        wanted = tuple(sorted(code.axes, key=self.order.index))
        if wanted == code.axes:
            return code
        if len(wanted) == 2:
            return Code(code.text.removesuffix(".T") if code.text.endswith(".T") else f"{code.text}.T", ATOM, wanted)
        return Code(f"{code.text}.transpose({', '.join(str(code.axes.index(v)) for v in wanted)})", ATOM, wanted)

    # --- binders ------------------------------------------------------------

    def entered(self, node: ex.Reduce | ex.Arg) -> Loop:
        loop = self.tapped(self.scope.opened(node, self.order))
        if any(ex.free_indices(n) for n in loop.counts):
            raise UnsupportedError("a range that depends on an index is not written as array operations")
        self.order += loop.variables
        self.counts |= dict(zip(loop.variables, loop.counts, strict=True))
        return loop

    def tapped(self, loop: Loop) -> Loop:
        """Cells i of windows as s k + d a − p for 0 ≤ a < K; ``cells`` are then those of the letters a."""
        taken, taps, places = {v.name for v in (*self.order, *loop.variables)}, {}, dict[ex.Node, ex.Node]()
        for v, cells in loop.cells.items():
            if not isinstance(cells.axis, WindowAxis):
                raise UnsupportedError("windows of different sizes are not written as array operations")
            tap = self.scope.spare(taken)
            taken |= {tap.name}
            taps[v], places[v], self.taps[tap] = tap, place_of(cells, tap), cells
        variables = tuple(taps.get(v, v) for v in loop.variables)
        counts = tuple(ex.Num(loop.cells[v].axis.kernel_size) if v in taps else n
                       for v, n in zip(loop.variables, loop.counts, strict=True))
        cond = None if loop.cond is None else ex.subst(loop.cond, places)
        return Loop(variables, counts, cond, ex.subst(loop.body, places), {taps[v]: c for v, c in loop.cells.items()})

    def recounted(self, loop: Loop) -> Loop:
        """Σ over k under 0 ≤ k − p < n as the sum over i = k − p."""
        found = None if loop.cond is None else between(loop.cond)
        if found is None or len(loop.variables) != 1:
            return loop
        (v,), (term, count) = loop.variables, found
        if term.coefficients.get(v) != 1:
            return loop
        rest = term.times(-1).plus(Affine({v: Fraction(1)}, Fraction(0)))
        self.counts[v] = count
        return Loop((v,), (count,), None, ex.subst(loop.body, {v: ex.sub(v, ex.mul(ex.Num(-1), rest.expr()))}))

    def left(self, loop: Loop) -> None:
        del self.order[-len(loop.variables):]

    def reduced(self, node: ex.Reduce) -> Code:
        if is_short(node.op):
            raise UnsupportedError(f"a {REDUCTIONS[node.op].words} is not written as array operations")
        loop = self.entered(node)
        loop = self.recounted(loop)
        while node.op == "sum" and loop.cond is None and isinstance(loop.body, ex.Reduce) and (
                loop.body.op == "sum" and loop.body.binder.cond is None):
            inner = self.entered(loop.body)
            loop = replace(loop, variables=(*loop.variables, *inner.variables),
                           counts=(*loop.counts, *inner.counts), body=inner.body)
        body = loop.body
        if loop.padded and loop.cond is None:
            found = self.within(node.op, loop)
        elif loop.cond is not None:
            found = self.over(node.op, self.masked(node.op, loop), loop)
        else:
            found = (self.contracted(body, loop) if node.op == "sum" else None) or self.summed(node.op, body, loop)
        self.left(loop)
        return found

    def summed(self, op: str, body: ex.Expr, loop: Loop) -> Code:
        """The body reduced along its last axes, or along its first where that is written more shortly."""
        behind = self.over(op, self.counted(op, body), loop)
        order = self.order
        self.order = [*loop.variables, *order[: -len(loop.variables)]]
        before = self.over(op, self.counted(op, body), loop)
        self.order = order
        return before if len(before.text) < len(behind.text) else behind

    def within(self, op: str, loop: Loop) -> Code:
        """The body reduced over the cells within the input."""
        inside = self.inside(loop)
        if loop.body is ex.ONE:
            return self.over(op, inside, loop)
        (body, where), axes = self.align([self.counted(op, loop.body), inside])
        if is_middle(op):
            return self.over("nanmedian", Code(f"np.where({where.text}, {body.text}, np.nan)", ATOM, axes), loop)
        initial = f", initial={worst(op)}" if op in ("max", "min") else ""
        return self.over(op, Code(body.text, ATOM, axes), loop, f", where={where.text}{initial}")

    def masked(self, op: str, loop: Loop) -> Code:
        assert loop.cond is not None
        neutral = {"sum": "0", "prod": "1", "max": "-np.inf", "min": "np.inf"}.get(op)
        if neutral is None:
            raise UnsupportedError("a median under a condition is not written as array operations")
        parts, axes = self.align([self.condition(loop.cond), self.value(loop.body)])
        return Code(f"np.where({parts[0].text}, {parts[1].text}, {neutral})", ATOM, axes)

    def over(self, op: str, code: Code, loop: Loop, options: str = "") -> Code:
        """np.sum(body, axis=…); an index that the body lacks counts how often it is added."""
        missing = [n for v, n in zip(loop.variables, loop.counts, strict=True) if v not in code.axes]
        gone = [d - len(code.axes) for d, v in enumerate(code.axes) if v in loop.variables]
        if gone:
            rest = tuple(v for v in code.axes if v not in loop.variables)
            if gone[0] == -len(code.axes):
                gone = [d + len(code.axes) for d in gone]
            where = "" if not rest else f", axis={gone[0] if len(gone) == 1 else tuple(gone)}"
            code = Code(f"np.{op}({code.text}{where}{options})", ATOM, rest)
        if missing and op == "sum":
            counted = self.value(ex.mul(*missing))
            return counted if code.text == "1" else self.joined(" * ", PRODUCT, [counted, code])
        if missing and op == "prod":
            raise UnsupportedError("a power of a product is not written as array operations")
        return code

    def contracted(self, body: ex.Expr, loop: Loop) -> Code | None:
        """Σ_v a_v b_v as a matrix product or ``einsum``."""
        factors = body.factors if isinstance(body, ex.Mul) else ()
        if any(isinstance(f, ex.Bracket) for f in factors):
            return None
        raws = [(f, self.raw(f) if isinstance(f, ex.Entry) else self.value(f)) for f in factors
                if not isinstance(f, ex.Num)]
        inside = [(f, c) for f, c in raws if set(c.axes) & set(loop.variables)]
        numbers = [self.value(f) for f in factors if isinstance(f, ex.Num)]
        if len(inside) < 2 or not all(isinstance(f, ex.Entry) or c.level == ATOM for f, c in inside):
            return None
        codes = [c for _, c in inside]
        found = self.product_of(codes, loop)
        if found is None:
            return None
        outside = [*numbers, *(self.transposed(c) if isinstance(f, ex.Entry) else c for f, c in raws
                               if (f, c) not in inside)]
        return self.joined(" * ", PRODUCT, [*outside, found], ATOM) if outside else found

    def product_of(self, codes: list[Code], loop: Loop) -> Code | None:
        bound = set(loop.variables)
        rest = tuple(v for v in self.order if v not in bound and any(v in c.axes for c in codes))
        if bound - {v for c in codes for v in c.axes}:
            return None
        if not rest and all(c.axes == codes[0].axes for c in codes) and (len(codes) > 2 or len(codes[0].axes) > 1):
            return Code(f"np.sum({' * '.join(c.text for c in codes)})")
        if len(codes) == 2 and len(bound) == 1 and all(len(c.axes) <= 2 for c in codes):
            return self.matrix_product(codes[0], codes[1], loop.variables[0], rest)
        letters = dict(zip(dict.fromkeys(v for c in codes for v in c.axes), string.ascii_lowercase, strict=False))
        if all(len(v.name) == 1 for v in letters):
            letters = {v: v.name for v in letters}
        subscripts = ",".join("".join(letters[v] for v in c.axes) for c in codes)
        result = "".join(letters[v] for v in rest)
        return Code(f'np.einsum("{subscripts}->{result}", {", ".join(c.text for c in codes)})', ATOM, rest)

    def matrix_product(self, a: Code, b: Code, v: ex.Idx, rest: tuple[ex.Idx, ...]) -> Code | None:
        if len(rest) < len(a.axes) + len(b.axes) - 2:
            return None  # an index that both keep: no matrix product
        if len(a.axes) == 1 and len(b.axes) == 2 and b.axes[1] is v:
            a, b = b, a
        if len(a.axes) == 2 and len(b.axes) == 2 and rest[0] not in a.axes:
            a, b = b, a
        left = a if a.axes[-1] is v else self._turned(a)
        right = b if b.axes[0] is v else self._turned(b)
        return Code(f"{left.at(ATOM)} @ {right.at(ATOM)}", PRODUCT, rest)

    @staticmethod
    def _turned(code: Code) -> Code:
        text = code.text.removesuffix(".T") if code.text.endswith(".T") else f"{code.text}.T"
        return Code(text, ATOM, code.axes[::-1])

    def selected(self, node: ex.Arg) -> Code:
        """np.argmax along the axes of the bound indices, under the layer's tie rule."""
        opened = self.scope.opened(node, self.order)
        refuse(opened, node.op, self.module.tie_rule)
        loop = self.entered(node)
        body = self.value(loop.body)
        if loop.padded:
            (inside, body), axes = self.align([self.inside(loop), body])
            body = Code(f"np.where({inside.text}, {body.text}, {worst(node.op)})", ATOM, axes)
        rest = tuple(w for w in body.axes if w not in loop.variables)
        if len(loop.variables) == 1:
            text, last = f"{body.text}", ex.sub(loop.counts[0], ex.ONE)
            where = body.axes.index(loop.variables[0]) - len(body.axes)
        else:
            text, where, last = body.at(ATOM), -1, ex.sub(ex.mul(*loop.counts), ex.ONE)
            text += f".reshape({', '.join([*(self.value(self.counts[v]).text for v in rest), '-1'])})"
        best = f"np.arg{node.op}({text}, axis={where})"
        if self.module.tie_rule == "last":
            best = f"{self.value(last).text} - np.arg{node.op}(np.flip({text}, axis={where}), axis={where})"
        self.left(loop)
        if len(loop.variables) > 1:
            best = f"np.unravel_index({best}, {self.shape(loop.counts)})"
        if not loop.cells:
            return Code(best, PRODUCT if best.startswith("np") else COMPARE, rest)
        self.named[", ".join(v.name for v in loop.variables)] = best
        self.places |= {v: Code(v.name, ATOM, rest) for v in loop.variables}
        return Code(", ".join(self.value(place_of(c, v)).text for v, c in loop.cells.items()), ATOM, rest)

    def times(self, factors: list[ex.Expr]) -> Code:
        """a_k b_j of two vectors as an outer product."""
        parts = [self.value(f) for f in factors]
        if len(parts) == 2 and all(len(p.axes) == 1 and p.level == ATOM for p in parts) and (
                parts[0].axes != parts[1].axes):
            first, second = sorted(parts, key=lambda p: self.order.index(p.axes[0]))
            return Code(f"np.outer({first.text}, {second.text})", ATOM, (*first.axes, *second.axes))
        return super().times(factors)


def widened(code: Code, axes: tuple[ex.Idx, ...]) -> Code:
    if not code.axes or code.axes == axes[-len(code.axes):]:
        return code
    behind = axes[axes.index(code.axes[0]):]
    subscripts = ", ".join(":" if v in code.axes else "None" for v in behind)
    return Code(f"{code.at(ATOM)}[{subscripts}]", ATOM, code.axes)


def place_of(cells: Cells, tap: ex.Idx) -> ex.Expr:
    """s k + d a − p."""
    axis = cast(WindowAxis, cells.axis)
    return ex.add(ex.mul(ex.Num(axis.stride), cells.at), ex.mul(ex.Num(axis.dilation), tap), ex.Num(-axis.padding))
