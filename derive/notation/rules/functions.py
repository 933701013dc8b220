"""Functions that a card defines: their arguments are letters of their own, those of vectors are written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.records import dataclass


@dataclass(frozen=True)
class _Function:
    """f(a, b) = body: its name as it is spelt, and its arguments."""

    head: tr.Item
    arguments: tuple[tr.Item, ...]
    body: trees.Run
    part: trees.Run
    formula: Formula

    @property
    def name(self) -> str:
        return trees.spelt([self.head])

    def calls(self, tree: tr.Items) -> Iterator[tuple[trees.Run, int, tr.Group]]:
        """Every f(…): the run in which it stands, where, and the bracket."""
        base = str(tr.base_of(self.head))
        for run in trees.all_runs(tree):
            for n in range(len(run)):
                found = trees.called(run, n) if str(tr.base_of(run[n])) == base else None
                if found is not None:
                    yield run, n, found


def _defined(formulas: list[Formula]) -> Iterator[_Function]:
    for formula in formulas:
        for part in trees.statements(formula.tree or ()):
            head, *values = trees.sides(part)
            own = trees.called(head, 0) if len(head) == 2 and tr.is_group(head[1], "LPAREN") else None
            arguments = [tr.unwrap(a) for a in tr.arguments_of(own)] if own is not None else []
            if values and arguments and all(len(a) == 1 and tr.is_token(tr.base_of(a[0]), "NAME") for a in arguments):
                yield _Function(head[0], tuple(tr.normal(a[0]) for a in arguments), part[3:], part, formula)


def own_arguments(formulas: list[Formula]) -> list[Formula]:
    r"""\sigma(v) = … as \sigma(u) = …, where v is bold elsewhere and the right-hand side is one of numbers."""
    heavy = trees.bold(formulas) | {name for name, axes in trees.stated(formulas).items() if axes}
    for f in list(_defined(formulas)):
        own = trees.letter(f.arguments[0])
        numbers = not any(_of_vectors(i) for item in f.body for i in tr.inside(item))
        elsewhere = [o for o in formulas if o is not f.formula and any(True for _ in f.calls(o.tree or ()))]
        spare = next(trees.free(formulas), None)
        argument = tr.base_of(f.arguments[0])
        of_number = numbers and elsewhere and not (isinstance(argument, tr.Token) and argument.bold)
        if own in heavy and len(f.arguments) == 1 and len(own) == 1 and spare and of_number:
            formulas = _with_argument(formulas, f, spare)
    return formulas


def _of_vectors(item: tr.Item) -> bool:
    subscripted = isinstance(item, tr.Scripted) and bool(item.subs)
    heavy = isinstance(item, tr.Token) and (item.bold > 0 or (item.type == "BIG" and item.text in ("sum", "prod")))
    return subscripted or heavy or tr.is_transposed(item) or tr.is_group(item, "LNORM", "LANGLE")


def _with_argument(formulas: list[Formula], f: _Function, spare: str) -> list[Formula]:
    """The definition with another letter for its argument."""
    own = trees.spelt(f.arguments)

    def renamed(item: tr.Item) -> tr.Item:
        return trees.name(spare, item) if trees.spelt([item]) == own else item

    found = []
    for formula in formulas:
        if formula.tree is not None and formula.source == f.formula.source:
            tree = trees.by_statement(
                tuple(formula.tree), lambda part: trees.each(part, renamed) if part == f.part else part)
            formula = replace(formula, tree=tree)
        found.append(formula)
    return found


def by_entries(formulas: list[Formula]) -> list[Formula]:
    """f(a)_i = … of a_i alone as f(u) = …, where f is applied to something else."""
    spare = next(trees.free(formulas), None)
    runs = (run for f in formulas for run in trees.all_runs(f.tree or ()))
    calls = {(str(run[n]), trees.letter(g.items[0]) if len(g.items) == 1 else None)
             for run in runs for n in range(len(run)) if (g := trees.called(run, n)) is not None}

    def of_number(part: trees.Run) -> trees.Run:
        head, *values = trees.sides(part)
        at = tr.normal(head[1]) if len(head) == 2 and len(values) == 1 and spare else None
        group = tr.base_of(at) if at is not None and trees.letter(head[0]) else None
        own = trees.letter(group.items[0]) if tr.is_group(group, "LPAREN") and len(group.items) == 1 else None
        elsewhere = any(name == str(head[0]) and of != own for name, of in calls) if own is not None else False
        if own is None or spare is None or not elsewhere or not isinstance(at, tr.Scripted) or len(
                at.subs) != 1 or at.sups:
            return part
        entry = trees.spelt([trees.indexed(trees.name(own, at), *at.subs[0])])
        body = trees.each(values[0], lambda i: trees.name(spare, i) if trees.spelt([i]) == entry else i)
        if {own, *tr.names_in(at.subs[0])} & {*tr.names_in(body)} or trees.indices(body):
            return part
        return head[0], tr.group((trees.name(spare, at),)), trees.equals(at), *body

    return trees.changed(formulas, lambda tree: trees.by_statement(tree, of_number))


def of_entries(formulas: list[Formula]) -> list[Formula]:
    """f(x_k) = … as f(u) = …, where other equations apply f; else f_k stands for each f(x_k)."""
    for f in list(_defined(formulas)):
        index = _index(f.arguments)
        bases = [str(tr.base_of(a)) for a in f.arguments]
        if index is None or f.name in ("p", "P", "q", "Q") or len({*bases}) < len(bases):
            continue
        calls = [(o, run, n, g) for o in formulas for run, n, g in f.calls(o.tree or ())]
        at_entries = all(_at_entries(run[n], g, bases) for _, run, n, g in calls)
        applied = any(_behind_equality(o, run[n]) and not (n and tr.is_token(run[n - 1], "PARTIAL"))
                      for o, run, n, _ in calls)
        spare = next(trees.free(formulas), None)
        local = spare is not None and _is_local(f)
        if (applied or not at_entries) and local and spare is not None:
            formulas = _with_argument(formulas, f, spare)
        elif at_entries:
            formulas = trees.changed(formulas, partial(trees.mapped, change=partial(_as_entries, f=f)))
    return formulas


def _index(arguments: tuple[tr.Item, ...]) -> tr.Items | None:
    """k of (x_k) and of (x_k, a), where all that have an index have this one."""
    subs = [a.subs[0] for a in arguments if isinstance(a, tr.Scripted) and a.subs]
    plain = all(not isinstance(a, tr.Scripted) or (len(a.subs) == 1 and not a.sups and not a.primes) for a in arguments)
    small = all(tr.is_token(i, "NAME", "COMMA") and len(str(i)) == 1 for sub in subs for i in sub)
    return subs[0] if plain and small and len({trees.spelt(s) for s in subs}) == 1 else None


def _at_entries(head: tr.Item, at: tr.Group, bases: list[str]) -> bool:
    arguments = tuple(tr.normal(a[0]) for a in tr.arguments_of(at) if len(a) == 1)
    primed = isinstance(tr.normal(head), tr.Scripted)
    return not primed and [str(tr.base_of(a)) for a in arguments] == bases and _index(arguments) is not None


def _behind_equality(formula: Formula, item: tr.Item) -> bool:
    signs = [i.start for top in formula.tree or () for i in tr.inside(top) if tr.is_token(i, "REL") and i.text == "="]
    return bool(signs) and item.start > min(signs)


def _is_local(f: _Function) -> bool:
    """Nothing on the right but the argument has an index."""
    own = trees.spelt(f.arguments)
    rest = trees.each(f.body, lambda i: trees.name("u", i) if trees.spelt([i]) == own else i)
    below = any(isinstance(i, tr.Scripted) and i.subs for item in rest for i in tr.inside(item))
    first = trees.statements(f.formula.tree or ())[0] == f.part
    return len(f.arguments) == 1 and first and len(trees.sides(f.part)) == 2 and not below


def _as_entries(run: trees.Run, f: _Function) -> trees.Run:
    for n, item in enumerate(run):
        at = trees.called(run, n) if trees.spelt([item]) == f.name else None
        index = _index(tuple(tr.normal(a[0]) for a in tr.arguments_of(at) if len(a) == 1)) if at is not None else None
        base = tr.base_of(item)
        if index is not None and isinstance(base, tr.Token):
            return *run[:n], trees.indexed(base, *index), *_as_entries(run[n + 2 :], f)
    return run


def of_indices(formulas: list[Formula]) -> list[Formula]:
    """h_j(a) = … of an index j that stands below other letters, too, is written out where it is applied."""
    for f in list(_defined(formulas)):
        own = _below(f.head)
        within = trees.indices((*f.body,))
        others = trees.changed(formulas, partial(_without, f.part))
        calls = [run[n] for o in others for run, n, _ in f.calls(o.tree or ())]
        plain = len(trees.sides(f.part)) == 2 and None not in map(trees.letter, f.arguments)
        if own and {*own} <= within and plain and calls and all(len(_below(c)) == len(own) for c in calls):
            formulas = _applied(others, f)
    return formulas


def _below(head: tr.Item) -> list[str]:
    """j of h_j, where nothing else stands at h."""
    names = [trees.letter(i) for i in trees.below(head) if not tr.is_token(i, "COMMA")]
    return [n for n in names if n is not None and len(n) == 1] if all(names) else []


def of_vectors(formulas: list[Formula]) -> list[Formula]:
    """Functions of vectors are written out where they are applied to something else than their letter.

    Where a value holds f(x) at the function's own letters only, f is the name of that value.
    """
    for f in list(_defined(formulas)):
        letters = [trees.letter(a) for a in f.arguments]
        if len(trees.sides(f.part)) != 2 or None in letters or not any(_is_vector(a, f.body) for a in f.arguments):
            continue
        others = trees.changed(formulas, partial(_without, f.part))
        calls = [(o, at) for o in others for run, n, g in f.calls(o.tree or ()) if trees.spelt([run[n]]) == f.name
                 and len(at := tr.arguments_of(g)) == len(letters)]
        if any({trees.spelt(tr.unwrap(a)) for a in at} != {*letters} for _, at in calls):
            formulas = _applied(others, f)
        elif any(any(trees.spelt([run[n]]) == f.name for run, n, _ in f.calls(part[len(trees.sides(part)[0]) :]))
                 for o in others for part in trees.statements(o.tree or ()) if len(trees.sides(part)) > 1):
            formulas = _applied(formulas, replace(f, body=()))
    return formulas


def _without(part: trees.Run, tree: trees.Run) -> trees.Run:
    return trees.by_statement(tree, lambda other: () if other == part else other)


def _is_vector(argument: tr.Item, body: trees.Run) -> bool:
    r"""x of \theta^\top x, x^\top w, \|x\| and \langle w, x \rangle; bold letters."""
    own = tr.base_of(argument)
    assert isinstance(own, tr.Token)
    for run in trees.all_runs(body):
        for n, item in enumerate(run):
            transposed = tr.is_transposed(item) and str(tr.base_of(item)) == own.text
            behind = n and tr.is_transposed(run[n - 1]) and str(tr.base_of(item)) == own.text
            held = tr.is_group(tr.base_of(item), "LNORM", "LANGLE") and own.text in tr.names_in((item,))
            if transposed or behind or held:
                return True
    return own.bold > 0


def _applied(formulas: list[Formula], f: _Function) -> list[Formula]:
    """What f computes in place of each f(…); f itself where there is no body."""
    def written_out(run: trees.Run) -> trees.Run:
        own, head = _below(f.head), str(tr.base_of(f.head))
        for n, item in enumerate(run):
            same = trees.spelt([item]) == f.name or (own and str(tr.base_of(item)) == head and _below(item))
            at = trees.called(run, n) if same else None
            arguments = tr.arguments_of(at) if at is not None else []
            if at is None or len(arguments) != len(f.arguments):
                continue
            after = run[n + 1]
            new = dict(zip(own, _below(item), strict=True))
            value: tr.Item = tr.group(_at(f, arguments, new)) if f.body else item
            if isinstance(after, tr.Scripted):
                base = value if isinstance(value, (tr.Token, tr.Group)) else tr.group((value,), "LBRACE")
                value = replace(after, base=base)
            return *run[:n], value, *written_out(run[n + 2 :])
        return run

    return trees.changed(formulas, lambda tree: trees.mapped(tree, written_out))


def _at(f: _Function, arguments: list[list[tr.Item]], new: Mapping[str, str]) -> trees.Run:
    """The body with the arguments in place of the parameters, and ``new`` indices."""
    body = trees.each(f.body, lambda i: trees.name(new[i.text], i) if tr.is_token(i, "NAME") and i.text in new else i)
    values = {trees.letter(p): tr.unwrap(a) for p, a in zip(f.arguments, arguments, strict=True)}

    def value(item: tr.Item) -> tr.Item:
        found = values.get(item.text) if tr.is_token(item, "NAME") else None
        if found is None:
            return item
        return found[0] if len(found) == 1 and isinstance(found[0], (tr.Token, tr.Group)) else tr.group(
            found, "LBRACE" if len(found) == 1 else "LPAREN")

    return trees.each(body, value)


def applied(formula: Formula) -> Iterator[str]:
    """f of every f(…) and f'(…)."""
    for run in trees.all_runs(formula.tree or ()):
        for n, item in enumerate(run):
            base = tr.base_of(item)
            if tr.is_token(base, "NAME") and not _scripts(item) and trees.called(run, n) is not None:
                yield base.text


def defined(formula: Formula) -> Iterator[str]:
    """f of f(…) = …, at the start of an equation or inside a chain."""
    for part in trees.statements(formula.tree or ()):
        for side in trees.sides(part)[:-1]:
            if len(side) == 2 and trees.letter(side[0]) and trees.called(side, 0) is not None:
                yield str(side[0])


def _scripts(item: tr.Item) -> bool:
    item = tr.normal(item)
    return isinstance(item, tr.Scripted) and bool(item.subs or item.sups)
