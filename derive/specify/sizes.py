"""Letters that are sizes, the axis that each belongs to, where sums and outputs run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import derive.expr as ex
from derive.affine import Affine
from derive.axes import Slot, axes, reaches_on, stands, stepping
from derive.axes import counts as counts_windows
from derive.errors import CardError, Problem, UnsupportedError
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.symbols import GREEK, Kind, Symbol, SymbolTable, name_of
from derive.pointers import pointers
from derive.specify.definitions import Definition, Definitions
from derive.specify.places import place


def with_extents(module: Module, found: Definitions) -> Module:
    """The module with each size at the axis it is the extent of.

    Raises :class:`CardError` for a size that belongs to no axis.
    """
    module = _with_own_sizes(module)
    used = dict.fromkeys(n.name for e in module.equations for n in ex.walk(e) if isinstance(n, ex.Size))
    steps = _steps(module)
    for name in used:
        if not _attached(name, module):
            slot = None if steps.get(name) else _slot(name, module, found, name in steps)
            if slot is None and name in found.values:
                numbers = " and ".join(str(n.value) for n in found.values[name])
                raise CardError(Problem(f"`{name}` stands in an index and is said to be {numbers}: keep one, or state "
                                        f"it in the front matter, `facts: ['{name} = 2']`", key="facts"))
            if slot is None and name in steps:
                module = replace(module, steps=(*module.steps, (name, None)))
                continue
            if slot is None:
                raise CardError(f"the size `{name}` belongs to no axis: write it at the sum whose terms it counts, "
                                rf"e.g. `\sum_{{i=1}}^{{{name}}}`, or state a shape, `x \in \mathbb{{R}}^{{{name}}}`, "
                                f"or a number, `facts: ['{name} = 2']`")
            module = _sized(module, slot, name)
    return module


def _steps(module: Module) -> dict[str, bool]:
    """The sizes in index terms, and whether one can be no extent: s and d of x_{s k + d a}, P of x_{s k + p}, p < P."""
    found: dict[str, bool] = {}
    for node in (n for e in module.equations for t in e.terms for n in ex.walk(t)):
        terms: list[tuple[ex.Expr, bool]] = [(t, False) for t in node.indices] if isinstance(node, ex.Entry) else []
        if isinstance(node, ex.BINDING):
            inner = [t for e in ex.walk(node) if isinstance(e, ex.Entry) for t in e.indices]
            ends = zip(node.binder.variables, node.binder.lower, node.binder.upper, strict=True)
            terms = [(end, True) for v, *own in ends for end in own
                     if end is not None and any(t is not v and v in ex.free_indices(t) for t in inner)]
        elif isinstance(node, ex.Rel) and not any(isinstance(n, ex.Entry) for n in ex.walk(node)):
            terms = [(t, False) for t in node.terms]
        for term, limit in terms:
            for letter in Affine.of(term).coefficients:
                parts = letter.factors if isinstance(letter, ex.Mul) else (letter,)
                found |= {p.name: found.get(p.name, False) or limit or len(parts) > 1
                          for p in parts if isinstance(p, ex.Size)}
    return found


def _with_own_sizes(module: Module) -> Module:
    r"""The module with the shapes of its own tensors: X \in \mathbb{R}^{N \times D} of entries x_{nd} is x's.

    W of H × W beside weights W is no letter for a size.
    """
    own = {*module.given, *module.defined}
    twice = [replace(s, sizes=tuple("" if n in own else n for n in s.sizes)) for s in module.table.symbols
             if s.name in own and own.intersection(n for n in s.sizes if isinstance(n, str))]
    module = replace(module, table=module.table.extended(twice)) if twice else module
    changed = []
    for symbol in (s for s in module.table.of_kind(Kind.TENSOR) if s.sizes and s.name not in own):
        base = symbol.name.partition("_")[0]
        twin = module.table.named(symbol.name.replace(base, base.swapcase(), 1)) if len(base) == 1 else None
        if twin is not None and twin.name in own and not twin.sizes and len(twin.axes) == len(symbol.sizes):
            changed.append(replace(twin, sizes=symbol.sizes))
        changed.append(replace(symbol, sizes=()))
    return replace(module, table=module.table.extended(changed)) if changed else module


def _attached(name: str, module: Module) -> bool:
    """A tensor that is given has an axis of this extent, or of one that a written range compares with it."""
    own = {*module.given, *module.defined}
    return any(s is ex.Size(name) for s in axes(module).sizes.values()) or any(
        name in symbol.sizes for symbol in module.table.of_kind(Kind.TENSOR) if symbol.name in own)


def _slot(name: str, module: Module, found: Definitions, added: bool) -> Slot | None:
    """The axis of the sum that is divided by n or √n; else of an index said to run up to n; else the only axis.

    Where n is ``added`` to an index, the only axis is that of this index, as in x_{n-1-i}: of x_{St+k-P} P is none.
    """
    for equation in module.equations:
        for node in ex.walk(equation):
            slot = _counted(node, name, module)
            if slot is not None:
                return slot
    for letter, _, upper in found.ranges:
        if ex.Size(name) in ex.walk(upper):
            for equation in module.equations:
                for slot in stands(letter, equation):
                    return slot
    known = axes(module)
    open_ = [c for c in dict.fromkeys(known.classes.values()) if c not in known.sizes]
    read = {known.of(e.tensor, d) for equation in module.equations for e in ex.walk(equation)
            if isinstance(e, ex.Entry) for d, t in enumerate(e.indices) if ex.Size(name) in ex.walk(t)}
    return open_[0] if len(open_) == 1 and (not added or open_[0] in read) else None


def _counted(node: ex.Node, name: str, module: Module) -> Slot | None:
    """The axis along which the sum of (1/n) Σ_i x_i runs."""
    if not isinstance(node, ex.Mul) or not any(_has_size(f, name) for f in node.factors):
        return None
    for factor in node.factors:
        inner = factor.terms[0] if isinstance(factor, ex.Add) else factor
        for part in ex.walk(inner):
            if isinstance(part, ex.Reduce) and part.op == "sum" and None in part.binder.upper:
                binder, body = ex.open_binder(part)
                slots = [s for v in binder.variables for s in stands(v, body)]
                bare = [s for s in slots if not _is_sized(s, module)]  # the second of H W is that of the second sum
                if bare:
                    return bare[0]
    return None


def _is_sized(slot: Slot, module: Module) -> bool:
    """The axis, or one that is as long, has its extent."""
    known, symbol = axes(module), module.table.named(slot[0])
    return known.of(*slot) in known.sizes or (symbol is not None and any(symbol.sizes[slot[1] : slot[1] + 1]))


def _has_size(factor: ex.Expr, name: str) -> bool:
    base = factor
    while isinstance(base, ex.Pow):
        base = base.base
    return base is not factor and any(n is ex.Size(name) for n in ex.walk(base)) and not isinstance(base, ex.Reduce)


def _sized(module: Module, slot: Slot, name: str) -> Module:
    tensor, axis = slot
    symbol = module.table.named(tensor)
    assert symbol is not None
    sizes: list[int | str] = list(symbol.sizes) or [""] * len(symbol.axes)
    sizes[axis] = name
    return replace(module, table=module.table.extended([replace(symbol, sizes=tuple(sizes))]))


def counts(nodes: Iterable[tuple[Formula, ex.Node]], said: set[str]) -> list[str]:
    """The letters n of (1/n) Σ_i x_i and d of (1/√d) Σ_c q_c k_c that nothing else says anything of, no Greek ones."""
    heads: set[str] = set()
    found: dict[str, None] = {}
    inside: set[str] = set()
    for _, node in nodes:
        for part in ex.walk(node):
            if isinstance(part, ex.Rel) and isinstance(part.terms[0], ex.Entry):
                heads.add(part.terms[0].tensor)
            if not isinstance(part, ex.Mul):
                continue
            if any(isinstance(f, ex.Reduce) and f.op == "sum" and None in f.binder.upper for f in part.factors):
                found |= dict.fromkeys(d.tensor for f in part.factors if isinstance(f, ex.Pow) for d in _divided(f))
        divisors = {d for p in ex.walk(node) if isinstance(p, ex.Pow) for d in _divided(p)}
        inside |= {n.tensor for n in ex.walk(node) if isinstance(n, ex.Entry) and n not in divisors}
    return [name for name in found if name not in heads | said | inside | GREEK]


def steps(nodes: Iterable[tuple[Formula, ex.Node]]) -> list[str]:
    """The letters s of x_{st+k} and d of x_{i+du}: in a product with an index, and nothing runs through them."""
    found: dict[str, None] = {}
    runs: set[str] = set()
    for _, node in nodes:
        for definition in ex.conditions(node):
            if not isinstance(definition, ex.Rel):
                continue
            head = definition.terms[0]
            for entry in (n for n in ex.walk(definition) if isinstance(n, ex.Entry)):
                runs |= {i.name for i in entry.indices if isinstance(i, ex.Idx)}
                for product in (n for term in entry.indices for n in ex.walk(term) if isinstance(n, ex.Mul)):
                    own = [f for f in product.factors if isinstance(f, ex.Idx)]
                    left = [f for f in own if f in ex.free_indices(definition) - ex.free_indices(head)]
                    found |= {left[0].name: None} if len(own) > 1 and len(left) == 1 else {}
    return [name for name in found if name not in runs]


def _divided(power: ex.Pow) -> tuple[ex.Entry, ...]:
    """n of n^{−1}, (n − 1)^{−1}, (n (n − 1))^{−1}, (2 n)^{−1} and (n^{1/2})^{−1}, H and W of (H W)^{−1}."""
    base = power.base
    if isinstance(base, ex.Pow) and base.exponent is ex.Num(Fraction(1, 2)):
        base = base.base
    parts = [_above(f) for f in (base.factors if isinstance(base, ex.Mul) else (base,)) if not isinstance(f, ex.Num)]
    plain = tuple(part for part in parts if isinstance(part, ex.Entry) and not part.indices)
    return plain if power.exponent is ex.Num(-1) and len(plain) == len(parts) else ()


def refuse_overruns(used: Iterable[Definition], table: SymbolTable) -> None:
    """Raise :class:`CardError` where a written range has more values than a declared axis has entries."""
    for definition in used:
        for node in (n for n in ex.walk(definition.value) if isinstance(n, ex.Reduce)):
            binder, body = ex.open_binder(node)
            for variable, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
                if not isinstance(low, ex.Num) or not isinstance(high, ex.Num):
                    continue
                count = high.value - low.value + 1
                for tensor, axis in stands(variable, body):
                    symbol = table.named(tensor)
                    size = symbol.sizes[axis] if symbol is not None and axis < len(symbol.sizes) else ""
                    if isinstance(size, int) and count > size:
                        raise CardError(Problem(
                            f"{place(definition.formula)}: an index runs through {count} values, and `{tensor}` has "
                            f"{size} along that axis; change the range or the shape", line=definition.formula.line))


Stated = tuple[str, int, ex.Expr, ex.Expr | None]  # tensor, axis, first and last value
_LIST = re.compile(  # u_0, \dots, u_{N-1}
    r"(?P<letter>\\?[A-Za-z]++(?:\{\w\})?)\s*_\s*\{?(?P<low>[01])\}?\s*,(?:[^=]*,)?\s*\\[cl]?dots\s*,\s*(?P=letter)\s*_\s*"
    r"(?:\{\s*(?P<high>[A-Za-z])\s*(?P<less>-\s*1)?\s*\}|(?P<last>[A-Za-z]))")


def with_output_ranges(module: Module, nodes: Sequence[tuple[Formula, ex.Node]], latexes: Iterable[str]) -> Module:
    """The module with the stated range of its outputs' indices; y counts from 0 where its range does not.

    ``latexes`` are all formulas of the question: u_0, …, u_{N−1} says what N is, x_1, …, x_m that x counts from 1.
    Raises :class:`UnsupportedError` where a tensor whose range begins elsewhere is used further.
    """
    latexes = tuple(latexes)
    if module.first is None and not module.fields and _from_one(module, latexes):
        module = replace(module, first=1)
    stated = list(_stated(module, nodes))
    starts = tuple((t, axis, int(low.value)) for t, axis, low, _ in stated if isinstance(low, ex.Num))
    if {first for *_, first in starts} == {0, 1} and module.first is None and not module.fields:
        module = replace(module, starts=starts)
    for tensor, axis, low, high in stated:
        entry, value = module.definition(tensor)
        variable = entry.indices[axis]
        assert isinstance(variable, ex.Idx)
        module = module if module.starts else _counted_from(module, entry, variable, low)
        runs = stands(variable, value) and not reaches_on(variable, value)
        if runs and low is ex.ONE and not module.fields and module.first is None and not module.starts:
            module = replace(module, first=1)
        one = runs and low is ex.ONE and module.first == 1 and not module.fields
        if one and axes(module).origin(tensor, axis) == 0:
            module = replace(module, starts=(*module.starts, (tensor, axis, 1)))  # beside w_0, w_1 that count from 0
        if high is None or module.fields and counts_windows(variable, value):
            continue  # of windows as many as the input has
        length = ex.add(high, ex.ONE,
                        *(ex.mul(ex.MINUS_ONE, t) for t in (low.terms if isinstance(low, ex.Add) else (low,))))
        if runs:  # it runs along that axis
            module = _sized(module, (tensor, axis), length.name) if isinstance(length, ex.Size) else module
            continue
        by = ex.add(low, ex.Num(-axes(module).origin(tensor, axis)))
        if isinstance(low, ex.Num) and not stands(variable, value) and (tensor, axis) in pointers(module).values():
            module = replace(module, starts=(*module.starts, (tensor, axis, int(low.value))))  # as y does in [c = y]
        elif by is not ex.ZERO:
            module = _shifted(module, entry, variable, by)
        module = replace(module, ranges=(*module.ranges, (tensor, axis, length)))
    sizes = {n.name for _, _, length in module.ranges for n in ex.walk(length) if isinstance(n, ex.Size)}
    module = _with_extents(module, sizes, [*_lengths(nodes), *_listed(latexes)]) if sizes else module
    return _with_pointers(module, nodes, latexes)


_POINTS = re.compile(  # c_t ∈ {1, …
    r"\s*+(?P<letter>\\?[A-Za-z]++)\s*(?:_\s*(?:\{[^{}]*\}|\w))?\s*\\in\s*\\(?:\{|lbrace)\s*(?P<low>[01])\s*,")


def _with_pointers(module: Module, nodes: Sequence[tuple[Formula, ex.Node]], latexes: Iterable[str]) -> Module:
    """The module in which the axis of a label y ∈ {1, …, K} begins where the question says, and has K entries.

    Raises :class:`CardError` for a derivative by a label.
    """
    for wanted in module.wanted:
        if isinstance(wanted.wrt, ex.Entry) and wanted.wrt.tensor in pointers(module):
            raise CardError(f"the derivative by `{wanted.wrt.tensor}` is asked for, whose entries are indices")
    for _, node in nodes:
        for part in node.conds if isinstance(node, ex.And) else (node,):
            match part:
                case ex.Rel((ex.Num(low), ex.Entry(tensor), high), ("≤", "≤")) if tensor in pointers(module):
                    slot = pointers(module)[tensor]
                    module = replace(module, starts=(*module.starts, (*slot, int(low))))
                    if isinstance(high, ex.Size) and low == 1 and not _is_sized(slot, module):
                        module = _sized(module, slot, high.name)
    for found in filter(None, map(_POINTS.match, latexes)):  # c_t ∈ {1, …, N}
        of = pointers(module).get(name_of(found["letter"]))
        if of is not None and of not in [start[:2] for start in module.starts]:
            module = replace(module, starts=(*module.starts, (*of, int(found["low"]))))
    return module


def _counted_from(module: Module, entry: ex.Entry, variable: ex.Idx, low: ex.Expr) -> Module:
    """The module counted from 1 where u_{2j-1} or x_{t-2} is 1 or more all along a range that begins later than at 0.

    Raises :class:`CardError` where an index begins at 0, and an entry is there from 1 on only.
    """
    value = module.definition(entry.tensor)[1]
    if not isinstance(low, ex.Num) or module.fields:
        return module
    firsts = [Affine({}, a * low.value + c) for a, c in stepping(variable, value)] or _blocks(variable, value, low)
    if firsts and low.value > 0 and all(f.minus(Affine.of(ex.ONE)).never_negative for f in firsts):
        return replace(module, first=1)
    if low.value == 0 and not all(f.never_negative for f in firsts) and reaches_on(variable, value):
        least = min(f.constant for f in firsts)
        raise CardError(f"the question lets `{variable.name}` start at 0, where an entry of index {least} is used: "
                        f"state another range of `{variable.name}`")
    return module


def _blocks(variable: ex.Idx, value: ex.Expr, low: ex.Expr) -> list[Affine]:
    """1 of x_{3(k−1)+j} and of x_{S(k−1)+j} at k = 1, where j runs from 1 on: their first entries, where all are told.
    """
    found = []
    sums = (n for n in ex.walk(value) if isinstance(n, ex.Reduce) and all(l is ex.ONE for l in n.binder.lower) or
            isinstance(n, ex.Reduce) and _from_one_on(n.binder.cond))
    for node in sums:
        binder, body = ex.open_binder(node)
        for term in (t for n in ex.walk(body) if isinstance(n, ex.Entry) for t in n.indices if variable in ex.walk(t)):
            falls = any(c < 0 and ex.free_indices(v) & {*binder.variables}
                        for v, c in Affine.of(term).coefficients.items())
            first = Affine.of(ex.subst(term, dict.fromkeys(binder.variables, ex.ONE) | {variable: low}))
            if falls or first.coefficients or term is variable:
                return []
            found.append(first)
    return found


def _from_one_on(cond: ex.Cond | None) -> bool:
    """1 ≤ j ≤ S"""
    return isinstance(cond, ex.Rel) and cond.terms[0] is ex.ONE and cond.ops[0] == "≤" and isinstance(
        cond.terms[1], ex.Idx)


def with_known_ranges(module: Module) -> Module:
    """The module whose ranges speak of known sizes: T of t = 0, …, T − 1, which no tensor has, is left out.

    Where entries outside are zero, t may run as far as it likes: T is a number of its own then, as a stride is.
    """
    found = axes(module)
    known = {s.name for (tensor, d) in found.classes if tensor not in module.defined
             and isinstance(s := found.size(tensor, d), ex.Size)} | {*dict(module.steps)}
    unknown = [{n.name for n in ex.walk(length) if isinstance(n, ex.Size)} - known for _, _, length in module.ranges]
    free = {name for (tensor, axis, _), names in zip(module.ranges, unknown, strict=True)
            if _runs_freely(module, tensor, axis) for name in names}
    return replace(module, steps=(*module.steps, *((name, None) for name in sorted(free))), ranges=tuple(
        one for one, names in zip(module.ranges, unknown, strict=True) if names <= free))


def _runs_freely(module: Module, tensor: str, axis: int) -> bool:
    """Nothing that is read says how far the index runs: it stands where both ends are guarded."""
    entry, value = module.definition(tensor)
    variable = entry.indices[axis]
    assert isinstance(variable, ex.Idx)
    guards = [c for node in ex.walk(value) for c in ex.conditions(
        node.cond if isinstance(node, ex.Bracket) else node.binder.cond if isinstance(node, ex.Reduce) else None)
        if variable in ex.free_indices(c)]
    return bool(guards) and all(isinstance(c, ex.Rel) and len(c.terms) == 3 for c in guards) and not (
        stands(variable, value) or counts_windows(variable, value) or reaches_on(variable, value))


def _stated(module: Module, nodes: Sequence[tuple[Formula, ex.Node]]) -> Iterator[Stated]:
    """The ranges of the outputs' indices: in one statement with an equation or beside it, else the one that is stated.
    """
    found = [*_stated_beside(module, nodes)]
    yield from found
    alone: dict[ex.Idx, set[tuple[ex.Expr, ex.Expr]]] = {}
    for _, node in nodes:
        for part in node.conds if isinstance(node, ex.And) else (node,):
            match part:
                case ex.Rel((low, ex.Idx() as v, high), ("≤", ("≤" | "<") as op)):
                    alone.setdefault(v, set()).add((low, high if op == "≤" else ex.add(high, ex.MINUS_ONE)))
    known = {(tensor, axis) for tensor, axis, *_ in found}
    for tensor in module.defined:
        for axis, index in enumerate(module.definition(tensor)[0].indices):
            ends = alone.get(index, set()) if isinstance(index, ex.Idx) else set()
            if len(ends) == 1 and (tensor, axis) not in known:
                yield tensor, axis, *next(iter(ends))


def _stated_beside(module: Module, nodes: Sequence[tuple[Formula, ex.Node]]) -> Iterator[Stated]:
    """The ranges that stand in one statement with the equation of an output, right behind it, or in front of it."""
    pairs = [*itertools.pairwise(nodes)]
    behind = [(one, other, *_ranges_behind(nodes[n + 2 :])) for n, ((_, one), (formula, other)) in enumerate(pairs)
              if not formula.display]
    front = [(one, *(other.conds if isinstance(other, ex.And) else (other,))) for (formula, one), (_, other) in pairs
             if not formula.display and isinstance(one, ex.Rel) and len(one.terms) == 3]
    for parts in [*(node.conds for _, node in nodes if isinstance(node, ex.And)), *behind, *front]:
        for head in (p.terms[0] for p in parts if isinstance(p, ex.Rel) and p.ops == ("=",)):
            if not isinstance(head, ex.Entry) or head.tensor not in module.defined:
                continue
            own, _ = module.definition(head.tensor)
            for part in parts:
                match part:
                    case ex.Rel((low, ex.Idx() as v, high), ("≤", ("≤" | "<") as op)) if v in head.indices and (
                            own.indices == head.indices):
                        yield head.tensor, head.indices.index(v), low, high if op == "≤" else ex.add(high, ex.MINUS_ONE)
                    case ex.Rel((ex.Idx() as v, low), ("≥",)) if v in own.indices and own.indices == head.indices:
                        yield head.tensor, head.indices.index(v), low, None


def _ranges_behind(nodes: Sequence[tuple[Formula, ex.Node]]) -> Iterator[ex.Node]:
    """j = 1, …, W of «for $i = 1, …, H$ and $j = 1, …, W$»"""
    for formula, node in nodes:
        if formula.display or not isinstance(node, ex.Rel) or len(node.terms) != 3:
            return
        yield node


def _shifted(module: Module, entry: ex.Entry, variable: ex.Idx, first: ex.Expr) -> Module:
    """y_{t + first} called y_t, so that y counts as everything else does."""
    if entry.tensor != module.output:
        raise UnsupportedError(f"the index `{variable.name}` of `{entry.tensor}` starts at another number than the "
                               "indices of what it is computed from, and it is used further; let it start there too")

    def moved(equation: ex.Rel) -> ex.Rel:
        head, value = equation.terms
        assert isinstance(value, ex.Expr)
        shifted = ex.transform(ex.subst(value, {variable: ex.add(variable, first)}), _flat)
        return ex.eq(head, shifted) if head is entry else equation

    before = ex.subst(entry if module.recounted is None else module.recounted[1], {variable: ex.add(variable, first)})
    return replace(module, equations=tuple(map(moved, module.equations)), recounted=(entry, before))


def _flat(node: ex.Node) -> ex.Node | None:
    nested = isinstance(node, ex.Add) and any(isinstance(t, ex.Add) for t in node.terms)
    return ex.add(*node.terms) if nested and isinstance(node, ex.Add) else None


def _lengths(nodes: Sequence[tuple[Formula, ex.Node]]) -> Iterator[tuple[str, ex.Expr]]:
    """x and T of $x_t$, $t = 0, \\dots, T - 1$."""
    for (_, one), (_, other) in itertools.pairwise(nodes):
        match one, other:
            case ex.Entry(tensor, (ex.Idx() as v,)), ex.Rel((ex.Num(low), w, high), ("≤", "≤")) if v is w:
                yield tensor, ex.add(high, ex.Num(1 - low))


def _listed(latexes: Iterable[str]) -> Iterator[tuple[str, ex.Expr]]:
    r"""u and N of u_0, \dots, u_{N-1}."""
    for found in (match for latex in latexes for match in _LIST.finditer(latex)):
        counted = found["high"] if found["less"] else found["last"] or found["high"]
        if (found["low"] == "0") == bool(found["less"]):
            yield name_of(found["letter"]), ex.Size(counted)


def _from_one(module: Module, latexes: Iterable[str]) -> bool:
    r"""x_1, \dots, x_m lists the entries of a tensor of one axis."""
    listed = (m for latex in latexes for m in _LIST.finditer(latex) if m["low"] == "1" and not m["less"])
    return any(symbol is not None and len(symbol.axes) == 1 and not symbol.above
               for symbol in (module.table.named(name_of(m["letter"])) for m in listed))


def with_listed(module: Module, latexes: Iterable[str]) -> Module:
    r"""The module of windows over x_0, \dots, x_{T-1}, in which T is the extent of x."""
    found = [(t, length) for t, length in _listed(latexes) if module.fields and t in module.inputs]
    names = {length.name for _, length in found if isinstance(length, ex.Size)}
    symbols = [s for s in module.table.symbols if s.name not in names]
    table = replace(module.table, symbols=(*symbols, *(Symbol(n, n, Kind.SIZE) for n in names)))
    return _with_extents(replace(module, table=table), names, found) if names else module


def _with_extents(module: Module, sizes: set[str], extents: Iterable[tuple[str, ex.Expr]]) -> Module:
    """The module with the extents of tensors of one axis that ranges speak of."""
    for tensor, length in extents:
        symbol = module.table.named(tensor)
        if isinstance(length, ex.Size) and length.name in sizes and symbol is not None and len(symbol.axes) == 1 and (
                not any(symbol.sizes)):
            module = replace(module, table=module.table.extended([replace(symbol, sizes=(length.name,))]))
    return module


def _above(factor: ex.Expr) -> ex.Expr:
    """n of n − 1."""
    terms = [t for t in factor.terms if not isinstance(t, ex.Num)] if isinstance(factor, ex.Add) else []
    return terms[0] if len(terms) == 1 else factor
