"""Functions that a card defines: their arguments are letters of their own, those of vectors are written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from derive.functions import FUNCTIONS, SHORT
from derive.notation import tree as tr
from derive.notation.formulas import Formula, Source
from derive.notation.grammar import skeleton
from derive.notation.rules import trees
from derive.notation.symbols import is_capital
from derive.records import dataclass, replace


@dataclass(frozen=True)
class _Function:
    """f(a, b) = body, or f(a)_i = body of a_i: its name as it is spelt, and its arguments."""

    head: tr.Item
    arguments: tuple[tr.Item, ...]
    body: trees.Run
    part: trees.Run
    formula: Formula

    @property
    def name(self) -> str:
        return trees.spelt([self.head])

    @property
    def of_entry(self) -> bool:
        """f(a)_i = …"""
        return isinstance(tr.normal(self.part[1]), tr.Scripted)

    @property
    def is_equation(self) -> bool:
        return len(trees.sides(self.part)) == 2

    def calls(self, formulas: list[Formula]) -> Iterator[tuple[Formula, tr.Item, tr.Group, tr.Item | None]]:
        """Every f(…), with the bracket and what stands before it."""
        base = str(tr.base_of(self.head))
        for formula in formulas:
            for run in trees.all_runs(formula.tree or ()):
                for n, item in enumerate(run):
                    found = trees.called(run, n) if str(tr.base_of(item)) == base else None
                    if found is not None:
                        yield formula, item, found, run[n - 1] if n else None

    def without(self, formulas: list[Formula]) -> list[Formula]:
        return trees.in_statements(lambda part: () if part == self.part else part)(formulas)

    def at(self, values: Mapping[str | None, tr.Items], indices: Mapping[str, str]) -> trees.Run:
        """The body with the values in place of the parameters, and other indices."""
        def value(item: tr.Item) -> tr.Item:
            text = item.text if tr.is_token(item, "NAME") else ""
            found = values.get(text)
            if found is None:
                return trees.name(indices[text], item) if text in indices else item
            return found[0] if len(found) == 1 and isinstance(found[0], (tr.Token, tr.Group)) else tr.group(
                found, "LBRACE" if len(found) == 1 else "LPAREN")

        return trees.each(self.body, value)


def _defined(formulas: list[Formula], of_entries: bool = False) -> list[_Function]:
    found = []
    for formula in formulas:
        for part in trees.statements(formula.tree or ()):
            head, *values = trees.sides(part)
            own = trees.called(head, 0) if len(head) == 2 and values else None
            if own is None or not (of_entries or tr.is_group(head[1], "LPAREN")):
                continue
            arguments = [tr.unwrap(a) for a in tr.arguments_of(own)]
            if all(len(a) == 1 and tr.is_token(tr.base_of(a[0]), "NAME") for a in arguments):
                sub = (tuple(trees.below(head[1])),)
                at = tuple(replace(tr.scripted(a[0]), subs=sub) if sub[0] else tr.normal(a[0]) for a in arguments)
                found.append(_Function(head[0], at, part[3:], part, formula))
    return found


def by_name(formulas: list[Formula]) -> list[Formula]:
    r"""h(u) = \tanh(u) for h = \tanh, σ(u) = \max(0, u) for σ = ReLU."""
    spare = next(trees.free(formulas), "u")

    def written(part: trees.Run) -> trees.Run:
        head, *rest = trees.sides(part)
        if len(head) != 1 or len(rest) != 1 or len(rest[0]) != 1 or trees.letter(head[0]) is None:
            return part
        own = rest[0][0]
        at = tr.group((trees.name(spare, own),))
        if tr.is_token(own, "FN"):
            return (part[0], at, *part[1:], at)
        known = FUNCTIONS.get(SHORT.get(str(own).strip().lower(), "")) if tr.is_token(own, "NAME", "TEXT") else None
        if known is None or not known.definition:
            return part
        value = trees.each(skeleton(Source(known.defined(spare))), lambda i: replace(i, start=own.start, end=own.end))
        return (part[0], at, part[1], *value)

    return trees.in_statements(written)(formulas)


def of_several(formulas: list[Formula]) -> list[Formula]:
    """y(x) for y(x, w) = w_0 + w_1 x, f(x) for f(x; θ): an argument that the value does not hold itself."""
    for f in _defined(formulas):
        items = (i for run in trees.all_runs(f.body) for i in run)
        held = {str(tr.base_of(i)) for i in items if not (subs := tr.scripted(i).subs) or not all(
            tr.is_token(n, "NUMBER") for sub in subs for n in sub)}
        kept = [n for n, a in enumerate(f.arguments) if trees.letter(a) in {None, *held}]
        if 0 < len(kept) < len(f.arguments) and f.is_equation and isinstance(f.head, tr.Token):  # not f'(z; v)
            formulas = trees.replaced(formulas, partial(_with, f=f, kept=kept))
    return formulas


def _with(run: trees.Run, n: int, *, f: _Function, kept: list[int]) -> tuple[tr.Items, int] | None:
    """f(…) with these of its arguments."""
    at = trees.called(run, n) if trees.spelt([run[n]]) == f.name else None
    values = [tr.unwrap(a) for a in tr.arguments_of(at)] if at is not None else []
    if at is None or len(values) != len(f.arguments):
        return None
    comma = tr.Token("COMMA", ",", at.start, at.start)
    items = [i for place in kept for i in (comma, *values[place])][1:]
    return (run[n], tr.with_base(run[n + 1], replace(at, items=tuple(items)))), 2


def in_chains(formulas: list[Formula]) -> list[Formula]:
    """y = f(x) = … as f(x) = … and y = f(x), where f is applied elsewhere."""
    def apart(part: trees.Run) -> trees.Run:
        first, *rest = trees.sides(part)
        name = str(rest[0][0]) if len(rest) == 2 and len(rest[0]) == 2 and trees.called(rest[0], 0) else ""
        runs = (run for f in formulas for run in trees.all_runs(f.tree or ()))
        calls = (run[n] for run in runs for n in range(len(run)) if str(run[n]) == name and trees.called(run, n))
        if not name or not first or name == str(first[0]) or _multiplies(rest[0]) or all(
                call is rest[0][0] for call in calls):
            return part
        call, comma = rest[0], trees.sign("COMMA", ",", part[-1])
        return *call, trees.equals(call[-1]), *rest[1], comma, *first, trees.equals(call[0]), *call

    return trees.in_statements(apart)(formulas)


def _multiplies(call: trees.Run) -> bool:
    """y (1 + y)"""
    at = trees.called(call, 0)
    return at is not None and (tr.is_token(at.items[0], "NUMBER") or str(tr.base_of(call[0])) in tr.names_in(at.items))


def of_numbers(formulas: list[Formula]) -> list[Formula]:
    r"""f(x_k) = … as f(u) = …, where other equations apply f; so f(a)_i = … of a_i, and \sigma(v) = … of a bold v."""
    for f in _defined(formulas, of_entries=True):
        own, spare = f.arguments[0], next(trees.free(formulas), None)
        body = trees.each(f.body, lambda i, own=own, spare=spare: (  # type: ignore[misc]
            trees.name(spare, i) if trees.spelt([i]) == trees.spelt([own]) else i))
        alone = spare and len(f.arguments) == 1 and f.is_equation and not _has_vectors(body) and (
            not {*tr.names_in([own])} & {*tr.names_in(body)})
        if alone and spare and _is_of_numbers(f, formulas):
            new = (f.head, tr.group((trees.name(spare, own),)), f.part[2], *body)
            formulas = trees.in_statements(lambda part, f=f, new=new: new if part == f.part else part)(formulas)  # type: ignore[misc]
    return formulas


def _is_of_numbers(f: _Function, formulas: list[Formula]) -> bool:
    """Whether f is applied to something else than its parameter, or to that in another equation."""
    own = tr.base_of(f.arguments[0])
    calls = [c for c in f.calls(formulas) if c[0] is not f.formula or c[2] is not tr.base_of(f.part[1])]
    if f.of_entry:
        return any(trees.spelt(at.items) != str(own) for _, item, at, _ in calls if trees.spelt([item]) == f.name)
    if _index(f.arguments) is None:
        heavy = trees.bold(formulas) | {name for name, axes in trees.stated(formulas).items() if axes}
        return len(str(own)) == 1 and str(own) in heavy and not getattr(own, "bold", 0) and any(
            c[0] is not f.formula for c in calls)
    return f.name not in _PROBABILITIES and trees.statements(f.formula.tree or ())[0] == f.part and any(
        _behind_equality(o, item) and not tr.is_token(before, "PARTIAL") or not _at_entries(item, at, [str(own)])
        for o, item, at, before in calls)


_PROBABILITIES = ("p", "P", "q", "Q")


def _has_vectors(body: trees.Run) -> bool:
    return any(isinstance(i, tr.Scripted) and bool(i.subs) or getattr(i, "bold", 0) > 0 or tr.is_transposed(i)
               or tr.is_token(i, "BIG") and i.text in ("sum", "prod") or tr.is_group(i, "LNORM", "LANGLE")
               for item in body for i in tr.inside(item))


def of_entries(formulas: list[Formula]) -> list[Formula]:
    """f_k for each f(x_k), where f stands at such entries only."""
    for f in _defined(formulas):
        bases = [str(tr.base_of(a)) for a in f.arguments]
        if _index(f.arguments) is not None and f.name not in _PROBABILITIES and len({*bases}) == len(bases) and all(
                _at_entries(item, at, bases) for _, item, at, _ in f.calls(formulas)):
            formulas = trees.replaced(formulas, lambda run, n, f=f: _as_entry(run, n, f))  # type: ignore[misc]
    return formulas


def _index(arguments: tuple[tr.Item, ...]) -> tr.Items | None:
    """k of (x_k) and of (x_k, a), where all that have an index have this one."""
    subs = [a.subs[0] for a in arguments if isinstance(a, tr.Scripted) and a.subs]
    plain = all(trees.below(a) if isinstance(a, tr.Scripted) else True for a in arguments)
    small = all(tr.is_token(i, "NAME", "COMMA") and len(str(i)) == 1 for sub in subs for i in sub)
    return subs[0] if plain and small and len({trees.spelt(s) for s in subs}) == 1 else None


def _arguments(at: tr.Group) -> tuple[tr.Item, ...]:
    return tuple(tr.normal(a[0]) for a in tr.arguments_of(at) if len(a) == 1)


def _at_entries(head: tr.Item, at: tr.Group, bases: list[str]) -> bool:
    arguments = _arguments(at)
    primed = isinstance(tr.normal(head), tr.Scripted)
    return not primed and [str(tr.base_of(a)) for a in arguments] == bases and _index(arguments) is not None


def _behind_equality(formula: Formula, item: tr.Item) -> bool:
    signs = [i.start for top in formula.tree or () for i in tr.inside(top) if tr.is_token(i, "REL") and i.text == "="]
    return bool(signs) and item.start > min(signs)


def _as_entry(run: trees.Run, n: int, f: _Function) -> tuple[tr.Items, int] | None:
    at = trees.called(run, n) if trees.spelt([run[n]]) == f.name else None
    index, base = _index(_arguments(at)) if at is not None else None, tr.base_of(run[n])
    return ((trees.indexed(base, *index),), 2) if index is not None and isinstance(base, tr.Token) else None


def of_indices(formulas: list[Formula]) -> list[Formula]:
    """h_j(a) = … of an index j that stands below other letters, too, is written out where it is applied."""
    for f in _defined(formulas):
        own, others = _below(f.head), f.without(formulas)
        calls = [item for _, item, _, _ in f.calls(others)]
        plain = f.is_equation and None not in map(trees.letter, f.arguments)
        if own and {*own} <= trees.indices(f.body) and plain and calls and all(
                len(_below(c)) == len(own) for c in calls):
            formulas = _written_out(others, f)
    return formulas


def _below(head: tr.Item) -> list[str]:
    """j of h_j, where nothing else stands at h."""
    names = [trees.letter(i) for i in trees.below(head) if not tr.is_token(i, "COMMA")]
    return [n for n in names if n is not None and len(n) == 1] if all(names) else []


def of_vectors(formulas: list[Formula]) -> list[Formula]:
    """Functions of vectors are written out where they are applied to something else than their letter.

    Where a value holds f(x) at the function's own letters only, f is the name of that value.
    """
    for f in _defined(formulas):
        letters = [trees.letter(a) for a in f.arguments]
        if not f.is_equation or None in letters or not any(_is_vector(a, f.body) for a in f.arguments):
            continue
        others = f.without(formulas)
        calls = [(o, item, values) for o, item, at, _ in f.calls(others) if trees.spelt([item]) == f.name
                 and len(values := tr.arguments_of(at)) == len(letters)]
        if any({trees.spelt(tr.unwrap(value)) for value in values} != {*letters} for *_, values in calls):
            formulas = _declared_at(_written_out(others, f), f, [values for *_, values in calls])
        elif any(_behind_equality(o, item) for o, item, _ in calls):
            formulas = _written_out(formulas, replace(f, body=()))
    return formulas


def _declared_at(formulas: list[Formula], f: _Function, calls: list[list[list[tr.Item]]]) -> list[Formula]:
    r"""x_n \in \mathbb{R}^D for x \in \mathbb{R}^D, of a function of x that is applied to samples x_n alone."""
    sampled: dict[str | None, tr.Item] = {}
    for n, own in enumerate(f.arguments):
        values = {trees.spelt(tr.unwrap(values[n])): tr.unwrap(values[n]) for values in calls}
        value, *more = [*values.values()] or [()]
        found = tr.normal(value[0]) if len(value) == 1 else None
        if not more and isinstance(found, tr.Scripted) and trees.letter(found.base) == trees.letter(own) and [
                trees.letter(sub[0]) for sub in found.subs if len(sub) == 1] and not found.sups:
            sampled[trees.letter(own)] = found

    def declared(part: trees.Run) -> trees.Run:
        head = sampled.get(trees.letter(part[0])) if len(part) == 3 and tr.is_token(part[1], "IN") else None
        return part if head is None else (head, *part[1:])

    return trees.in_statements(declared)(formulas) if sampled else formulas


def _is_vector(argument: tr.Item, body: trees.Run) -> bool:
    r"""x of W x, \theta^\top x, x^\top w, \|x\| and \langle w, x \rangle; bold letters."""
    own = tr.base_of(argument)
    assert isinstance(own, tr.Token)
    for run in trees.all_runs(body):
        for before, item in zip((None, *run), run, strict=False):
            here = str(tr.base_of(item)) == own.text
            beside = here and (tr.is_transposed(item) or (before is not None and (
                tr.is_transposed(before) or _is_matrix(before))))
            if beside or (tr.is_group(tr.base_of(item), "LNORM", "LANGLE") and own.text in [*tr.names_in((item,))]):
                return True
    return own.bold > 0


def _is_matrix(item: tr.Item) -> bool:
    """W of W x."""
    base = tr.base_of(item)
    return tr.is_token(base, "NAME") and is_capital(base.text)


def _written_out(formulas: list[Formula], f: _Function) -> list[Formula]:
    """What f computes in place of each f(…); f itself where there is no body."""
    own, head = _below(f.head), str(tr.base_of(f.head))

    def body(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        item = run[n]
        same = trees.spelt([item]) == f.name or (own and str(tr.base_of(item)) == head and _below(item))
        at = trees.called(run, n) if same else None
        arguments = [tr.unwrap(a) for a in tr.arguments_of(at)] if at is not None else []
        if at is None or len(arguments) != len(f.arguments) or not all(arguments):
            return None
        values = dict(zip(map(trees.letter, f.arguments), arguments, strict=True))
        indices = dict(zip(own, _below(item), strict=True))
        value: tr.Item = tr.group(f.at(values, indices)) if f.body else item
        if isinstance(after := run[n + 1], tr.Scripted):
            base = value if isinstance(value, (tr.Token, tr.Group)) else tr.group((value,), "LBRACE")
            value = replace(after, base=base)
        return (value,), 2

    return trees.replaced(formulas, body)


def applied(formula: Formula) -> Iterator[str]:
    """f of every f(…) and f'(…)."""
    for run in trees.all_runs(formula.tree or ()):
        for n, item in enumerate(run):
            own = tr.scripted(item)
            if not own.subs and not own.sups and trees.called(run, n) is not None:
                yield str(own.base)


def defined(formula: Formula) -> Iterator[str]:
    """f of f(…) = …, at the start of an equation or inside a chain."""
    for part in trees.statements(formula.tree or ()):
        for side in trees.sides(part)[:-1]:
            if len(side) == 2 and trees.letter(side[0]) and trees.called(side, 0) is not None:
                yield str(side[0])
