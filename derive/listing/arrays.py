"""A formula as array operations: an index is an axis, a sum of products a matrix product."""

from __future__ import annotations

import string
from collections.abc import Iterable
from fractions import Fraction
from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.errors import UnsupportedError
from derive.listing import window_lines
from derive.listing.code import AND, ATOM, COMPARE, PRODUCT, ArrayPrinter, Code
from derive.listing.scope import Definition, Loop, Scope, between, star_name, taps
from derive.listing.windows import Pass
from derive.reductions import REDUCTIONS, is_middle, is_short


class Arrays(ArrayPrinter):
    """Whole arrays; ``order`` lists the indices that are axes here, outermost first."""

    def __init__(self, scope: Scope, definition: Definition) -> None:
        super().__init__(scope.module)
        self.scope, self.order = scope, list(definition.indices)
        self.counts = dict(zip(definition.indices, definition.counts, strict=True))
        self.ranges: dict[ex.Idx, ex.Expr] = {}

    # --- shapes -------------------------------------------------------------

    def align(self, parts: Iterable[Code]) -> tuple[list[Code], tuple[ex.Idx, ...]]:
        """New axes where a part lacks one that stands behind its first."""
        found = list(parts)
        axes = tuple(v for v in self.order if any(v in p.axes for p in found))
        return [_widened(p, axes) for p in found], axes

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
            return Code(node.name)
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
        lines = [self.line(t, self.scope.extent(entry.tensor, d)) for d, t in enumerate(place)]
        known = [line for line in lines if line is not None]
        axes = tuple(v for v, _ in known if v is not None)
        if len(known) == len(lines) and len(set(axes)) == len(axes):
            slices = [text for _, text in known]
            while slices and slices[-1] == ":":
                slices.pop()
            return Code(f"{name}[{', '.join(slices)}]" if slices else name, ATOM, axes)
        return self.windows(name, place, entry) or self.picked(name, place)

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

    def windows(self, name: str, place: list[ex.Expr], entry: ex.Entry) -> Code | None:
        """x_{s k + a, t l + b} as windows of x: axes k, l, a, b."""
        if self.module.ranges:  # the output may end before the windows do
            return None
        steps: list[int] = []
        outer: list[ex.Idx] = []
        inner: list[ex.Idx] = []
        for term in place:
            form = Affine.of(term)
            letters = [v for v in form.coefficients if isinstance(v, ex.Idx)]
            letters.sort(key=lambda v: (-form.coefficients[v], self.order.index(v)))
            if len(letters) != 2 or len(form.coefficients) != 2 or form.constant or form.coefficients[letters[1]] != 1:
                return None
            # the one whose range is shorter by the other's is that of the window's position
            outer.append(letters[0])
            inner.append(letters[1])
            steps.append(int(form.coefficients[letters[0]]))
        if len({*outer, *inner}) < 2 * len(place):
            return None
        outer, inner = self._positions(outer, inner, steps, entry)
        shape = self.shape(self.counts[v] for v in inner)
        slices = ", ".join("::" + str(s) if s > 1 else ":" for s in steps)
        strided = f"[{slices}]" if any(s > 1 for s in steps) else ""
        return Code(f"sliding_window_view({name}, {shape}){strided}", ATOM, (*outer, *inner))

    def _positions(self, outer: list[ex.Idx], inner: list[ex.Idx], steps: list[int],
                   entry: ex.Entry) -> tuple[list[ex.Idx], list[ex.Idx]]:
        """With stride 1 the output's index counts the windows, and the other runs within them."""
        found = [(b, a) if s == 1 and self._is_output(b) and not self._is_output(a) else (a, b)
                 for a, b, s in zip(outer, inner, steps, strict=True)]
        return [a for a, _ in found], [b for _, b in found]

    def _is_output(self, v: ex.Idx) -> bool:
        symbol = self.module.table.named(self.module.output)
        return symbol is not None and any(self.counts[v] == self.scope.extent(self.module.output, d)
                                          for d in range(len(symbol.sizes)))

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
        loop = self.scope.opened(node, self.order)
        if any(ex.free_indices(n) for n in loop.counts):
            raise UnsupportedError("a range that depends on an index is not written as array operations")
        self.order += loop.variables
        self.counts |= dict(zip(loop.variables, loop.counts, strict=True))
        return loop

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
            loop = Loop((*loop.variables, *inner.variables), (*loop.counts, *inner.counts), None, inner.body)
        body = loop.body
        if loop.cond is not None:
            found = self.over(node.op, self.masked(node.op, loop), loop)
        else:
            found = (self.contracted(body, loop) if node.op == "sum" else None) or self.summed(node.op, body, loop)
        self.left(loop)
        return found

    def summed(self, op: str, body: ex.Expr, loop: Loop) -> Code:
        """The body reduced along its last axes, or along its first where that is written more shortly."""
        behind = self.over(op, self.value(body), loop)
        order = self.order
        self.order = [*loop.variables, *order[: -len(loop.variables)]]
        before = self.over(op, self.value(body), loop)
        self.order = order
        return before if len(before.text) < len(behind.text) else behind

    def masked(self, op: str, loop: Loop) -> Code:
        assert loop.cond is not None
        neutral = {"sum": "0", "prod": "1", "max": "-np.inf", "min": "np.inf"}.get(op)
        if neutral is None:
            raise UnsupportedError("a median under a condition is not written as array operations")
        parts, axes = self.align([self.condition(loop.cond), self.value(loop.body)])
        return Code(f"np.where({parts[0].text}, {parts[1].text}, {neutral})", ATOM, axes)

    def over(self, op: str, code: Code, loop: Loop) -> Code:
        """np.sum(body, axis=…); an index that the body lacks counts how often it is added."""
        missing = [n for v, n in zip(loop.variables, loop.counts, strict=True) if v not in code.axes]
        gone = [d - len(code.axes) for d, v in enumerate(code.axes) if v in loop.variables]
        if gone:
            rest = tuple(v for v in code.axes if v not in loop.variables)
            if gone[0] == -len(code.axes):
                gone = [d + len(code.axes) for d in gone]
            where = "" if not rest else f", axis={gone[0] if len(gone) == 1 else tuple(gone)}"
            code = Code(f"np.{op}({code.text}{where})", ATOM, rest)
        if missing and op == "sum":
            return self.joined(" * ", PRODUCT, [*map(self.value, missing), code])
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
        """np.argmax along the axis of the bound index, under the layer's tie rule."""
        if self.module.tie_rule == "split" or is_middle(node.op) or node.binder.cond is not None:
            raise UnsupportedError("shares among tied entries are written as code for windows only")
        loop = self.entered(node)
        body = self.value(loop.body)
        (v,), (count,) = loop.variables, loop.counts
        where, rest = body.axes.index(v) - len(body.axes), tuple(w for w in body.axes if w is not v)
        text = f"np.arg{node.op}({body.text}, axis={where})"
        if self.module.tie_rule == "last":
            last = self.value(ex.sub(count, ex.Num(1))).text
            text = f"{last} - np.arg{node.op}(np.flip({body.text}, axis={where}), axis={where})"
        self.left(loop)
        return Code(text, PRODUCT if text.startswith("np") else COMPARE, rest)

    def times(self, factors: list[ex.Expr]) -> Code:
        """a_k b_j of two vectors as an outer product."""
        parts = [self.value(f) for f in factors]
        if len(parts) == 2 and all(len(p.axes) == 1 and p.level == ATOM for p in parts) and (
                parts[0].axes != parts[1].axes):
            first, second = sorted(parts, key=lambda p: self.order.index(p.axes[0]))
            return Code(f"np.outer({first.text}, {second.text})", ATOM, (*first.axes, *second.axes))
        return super().times(factors)


def _widened(code: Code, axes: tuple[ex.Idx, ...]) -> Code:
    if not code.axes or code.axes == axes[-len(code.axes):]:
        return code
    behind = axes[axes.index(code.axes[0]):]
    subscripts = ", ".join(":" if v in code.axes else "None" for v in behind)
    return Code(f"{code.at(ATOM)}[{subscripts}]", ATOM, code.axes)


def lines(definition: Definition | Pass, scope: Scope) -> tuple[list[str], list[str]]:
    """The lines of a definition, and the sizes that they name."""
    if isinstance(definition, Pass):
        return window_lines.arrays(definition)
    taps = scattered(definition, scope)
    if taps is not None:
        return taps
    printer = Arrays(scope, definition)
    code = printer.value(definition.value)
    text = code.text
    if code.axes != definition.indices:
        size = printer.shape(definition.counts)
        spread = f"np.broadcast_to({_widened(code, definition.indices).text}, {size})"
        text = spread if code.axes else f"np.full({size}, {text})"
    ranges = [f"{v.name} = np.arange({printer.value(n).text})" for v, n in printer.ranges.items()]
    return [*ranges, f"{definition.name} = {text}"], list(printer.sizes)


def scattered(definition: Definition, scope: Scope) -> tuple[list[str], list[str]] | None:
    """A sum over k under 0 ≤ i − s k < A, …: for each a = i − s k, entries a, a + s, … of what is defined."""
    found = taps(definition, scope)
    if found is None:
        return None
    steps, inner = found
    printer = Arrays(scope, inner)
    body = printer.value(inner.value)
    if printer.ranges or body.axes != inner.indices:
        return None
    slices = []
    for v, at in zip(definition.indices, inner.indices, strict=True):
        if v not in steps:
            slices.append(":")
            continue
        tap, step, _ = steps[v]
        reach = printer.value(ex.mul(ex.Num(step), printer.counts[at])).text
        slices.append(f"{tap.name}:{tap.name} + {reach}" + (f":{step}" if step > 1 else ""))
    letters = ", ".join(tap.name for tap, _, _ in steps.values())
    counts = [printer.value(n).text for _, _, n in steps.values()]
    run = f"range({counts[0]})" if len(counts) == 1 else f"np.ndindex({', '.join(counts)})"
    written = [f"{definition.name} = np.zeros({printer.shape(definition.counts)})", f"for {letters} in {run}:",
               f"    {definition.name}[{', '.join(slices)}] += {body.text}"]
    return written, list(printer.sizes)
