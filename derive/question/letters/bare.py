r"""Letters without a shape that come out smaller than they are meant: a capital as a vector, $b$ of $a^\top b$."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from derive.errors import Problem, RequestError
from derive.expr import Entry, Idx, walk
from derive.module import Module
from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.rules.kinds import Said, entry_set, kind_of
from derive.notation.symbols import name_of
from derive.question.words.prose import Prose

_MATRICES = frozenset("WVUABMXYZQHPRSG")  # no losses, sizes or constants
_LOSSES = frozenset("LEJC") | {"ell"}
_STATE = r"state its shape, as in `%s \in \mathbb{R}^{%s}`"


def refuse_small(prose: Prose, module: Module) -> None:
    """Raise :class:`RequestError` for a letter that comes out smaller than it may be meant, its shape not stated."""
    indexed = {name_of(str(i.base)) for f in prose.formulas for run in trees.all_runs(f.tree or ()) for i in run
               if isinstance(i, tr.Scripted) and i.subs}
    indexed |= {n for f in prose.formulas if kind_of(f) is Said.DECLARATION for n in tr.names_in(f.tree or ())}
    for line, problem in (*_capitals(module, indexed), *_identity(prose, module), *_beside_transposed(prose, module),
                          *_before_matrix(prose, module), *_turned(prose, module), *_losses(prose, module),
                          *_set_entries(prose, module), *_repeated(prose, module)):
        raise RequestError(Problem(problem, line=line, key="shapes"))


Found = tuple[int | None, str]


def _capitals(module: Module, indexed: set[str]) -> Iterator[Found]:
    r"""W of $x^\top W$ as a vector, of $W x^{(n)}$ as a number; I, which is the identity."""
    for name in module.given:
        symbol, base = module.table.named(name), re.split(r"[_^]", name)[0]
        if symbol is None or base in indexed or name in indexed or any(symbol.sizes):
            continue
        if base in _MATRICES and len(symbol.axes) < 2:
            is_ = "a vector" if symbol.axes else "a number"
            yield None, f"`{name}` comes out as {is_}, and a capital may be a matrix: " + (
                _STATE % (name, r"m \times n") + ", and the shapes of the letters beside it")


def _identity(prose: Prose, module: Module) -> Iterator[Found]:
    """I of $(I + W) x$ as an input."""
    said = any(f.latex.strip() == "I" or re.match(r"\s*I\s*(?:\\in|_)", f.latex) for f in prose.formulas)
    symbol = module.table.named("I")
    if "I" in module.given and symbol is not None and len(symbol.axes) == 2 and not said:
        yield None, "`I` comes out as an input: if it is the identity, write `x + W x` for `(I + W) x`; else " + (
            _STATE % ("I", r"m \times n"))


def _before_matrix(prose: Prose, module: Module) -> Iterator[Found]:
    """x of $x W$ as a number."""
    declared = {n for f in prose.formulas if kind_of(f) is Said.DECLARATION for n in tr.names_in(f.tree or ())}
    for formula in prose.formulas:
        for one, other in (pair for run in trees.all_runs(formula.tree or ()) for pair in pairwise(run)):
            names = [name_of(str(tr.base_of(i))) for i in (one, other)] if all(
                tr.is_token(tr.base_of(i), "NAME") for i in (one, other)) else ["", ""]
            x, matrix = (module.table.named(n) if n in module.given else None for n in names)
            small = names[0] not in declared and len(names[0]) == 1 and names[0].islower()
            if small and x is not None and matrix is not None and (
                    not x.axes and len(matrix.axes) == 2 and names[1] in _MATRICES and isinstance(one, tr.Token)):
                yield formula.line, f"`{names[0]}` of `{names[0]} {names[1]}` comes out as a number: " + (
                    _STATE % (names[0], "n"))


def _set_entries(prose: Prose, module: Module) -> Iterator[Found]:
    """x of $x_1 = 1$ as a constant, all of it."""
    for formula in prose.formulas:
        name = name_of(str(tr.base_of(formula.tree[0]))) if formula.tree else ""
        symbol = module.table.named(name)
        fixed = name in module.constants and entry_set(formula.tree or ()) is not None
        if fixed and symbol is not None and symbol.axes:
            yield formula.line, (f"`{formula.latex.strip()}` fixes one entry of `{name}`: write the formulas with it, "
                                 f"or list `{name}` under `inputs`")


_REPEATED = re.compile(r"\b(?:layer|network|unit|map)\b[^.;]*\b(?:applied (?:to|at)|shared by) (?:each|every|all)\b"
                       r"[^.;]*\b(?:steps?|pixels?|positions?|tokens?|patch(?:es)?)\b")


def _repeated(prose: Prose, module: Module) -> Iterator[Found]:
    """«the same layer is applied to each of $T$ time steps», of a formula for one of them."""
    found = _REPEATED.search(prose.text)
    if found is not None and len(module.definition(module.output)[0].indices) < 2:
        yield prose.plain.line(found.start()), (
            f"“{prose.plain.quote(*found.span())}”: the formula is of one of them; write it with their index, as in "
            r"`y_t = W x_t + b`, `t = 1, \dots, T`, and the shapes")


def _beside_transposed(prose: Prose, module: Module) -> Iterator[Found]:
    r"""b of $a^\top b$ as a number."""
    own = {*module.given, *module.defined}
    declared = {n for f in prose.formulas if kind_of(f) is Said.DECLARATION for n in tr.names_in(f.tree or ())}
    for formula, one, other in _pairs(prose):
        symbol = module.table.named(other)
        if one in own and symbol is not None and other in own and not symbol.axes and other not in declared:
            yield formula.line, f"`{other}` of `{one}^\\top {other}` comes out as a number: " + _STATE % (other, "n")


def _pairs(prose: Prose) -> Iterator[tuple[Formula, str, str]]:
    for formula in prose.formulas:
        for run in trees.all_runs(formula.tree or ()):
            for n, item in enumerate(run[:-1]):
                behind = run[n + 1]
                if tr.is_transposed(item) and tr.is_token(tr.base_of(item), "NAME") and tr.is_token(behind, "NAME"):
                    yield formula, name_of(str(tr.base_of(item))), name_of(str(behind))


def _turned(prose: Prose, module: Module) -> Iterator[Found]:
    """T of $y^T = x^T W$ as an index that runs."""
    runs = any(i.name == "T" for e in module.equations for n in walk(e) if isinstance(n, Entry) for i in n.indices
               if isinstance(i, Idx))
    found = next((f for f in prose.formulas if re.search(r"\^\s*\{?\s*T\s*\}?(?![A-Za-z(])", f.latex)), None)
    if runs and found is not None:
        yield found.line, r"`T` of `^T` comes out as an index: write a transpose as `^\top`"


def _losses(prose: Prose, module: Module) -> Iterator[Found]:
    """L of ∂L/∂W as a vector, because a letter in it is one."""
    entry, _ = module.definition(module.output)
    of = any(isinstance(w.of, Entry) and w.of.tensor == module.output for w in module.wanted)
    plain = next((f for f in prose.formulas if f.tree and len(f.tree) > 1 and tr.is_token(f.tree[0], "NAME") and (
        tr.is_token(f.tree[1], "REL") and name_of(str(f.tree[0])) == module.output)), None)  # not ℓ(s, c) = …
    if module.output in _LOSSES and entry.indices and of and plain is not None:
        yield plain.line, f"`{module.output}` comes out as a vector, and its gradient is asked for: state the shapes"
