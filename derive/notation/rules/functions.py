"""Functions that a card defines: their arguments are letters of their own, those of vectors are written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from derive.notation.formulas import Formula
from derive.notation.rules.trees import (
    Run,
    all_runs,
    bold,
    by_statement,
    called,
    changed,
    each,
    free,
    group,
    indexed,
    indices,
    letter,
    mapped,
    name,
    sides,
    spelt,
    stated,
    statements,
)
from derive.notation.tree import (
    Group,
    Item,
    Items,
    Scripted,
    Token,
    arguments_of,
    base_of,
    inside,
    is_group,
    is_token,
    is_transposed,
    names_in,
    normal,
    unwrap,
)
from derive.records import dataclass


@dataclass(frozen=True)
class _Function:
    """f(a, b) = body: its name as it is spelt, and its arguments."""

    head: Item
    arguments: tuple[Item, ...]
    body: Run
    part: Run
    formula: Formula

    @property
    def name(self) -> str:
        return spelt([self.head])

    def calls(self, tree: Items) -> Iterator[tuple[Run, int, Group]]:
        """Every f(…): the run in which it stands, where, and the bracket."""
        base = str(base_of(self.head))
        for run in all_runs(tree):
            for n in range(len(run)):
                found = called(run, n) if str(base_of(run[n])) == base else None
                if found is not None:
                    yield run, n, found


def _defined(formulas: list[Formula]) -> Iterator[_Function]:
    for formula in formulas:
        for part in statements(formula.tree or ()):
            head, *values = sides(part)
            own = called(head, 0) if len(head) == 2 and is_group(head[1], "LPAREN") else None
            arguments = [unwrap(a) for a in arguments_of(own)] if own is not None else []
            if values and arguments and all(len(a) == 1 and is_token(base_of(a[0]), "NAME") for a in arguments):
                yield _Function(head[0], tuple(normal(a[0]) for a in arguments), part[3:], part, formula)


def own_arguments(formulas: list[Formula]) -> list[Formula]:
    r"""\sigma(v) = … as \sigma(u) = …, where v is bold elsewhere and the right-hand side is one of numbers."""
    heavy = bold(formulas) | {name for name, axes in stated(formulas).items() if axes}
    for f in list(_defined(formulas)):
        own = letter(f.arguments[0])
        numbers = not any(_of_vectors(i) for item in f.body for i in inside(item))
        elsewhere = [o for o in formulas if o is not f.formula and any(True for _ in f.calls(o.tree or ()))]
        spare = next(free(formulas), None)
        argument = base_of(f.arguments[0])
        if own in heavy and len(f.arguments) == 1 and len(own) == 1 and numbers and elsewhere and spare and not (
                isinstance(argument, Token) and argument.bold):
            formulas = _with_argument(formulas, f, spare)
    return formulas


def _of_vectors(item: Item) -> bool:
    subscripted = isinstance(item, Scripted) and bool(item.subs)
    heavy = isinstance(item, Token) and (item.bold or (item.type == "BIG" and item.text in ("sum", "prod")))
    return subscripted or heavy or is_transposed(item) or is_group(item, "LNORM", "LANGLE")


def _with_argument(formulas: list[Formula], f: _Function, spare: str) -> list[Formula]:
    """The definition with another letter for its argument."""
    own = spelt(f.arguments)

    def renamed(item: Item) -> Item:
        return name(spare, item) if spelt([item]) == own else item

    found = []
    for formula in formulas:
        if formula.tree is not None and formula.source == f.formula.source:
            tree = by_statement(tuple(formula.tree), lambda part: each(part, renamed) if part == f.part else part)
            formula = replace(formula, tree=tree)
        found.append(formula)
    return found


def of_entries(formulas: list[Formula]) -> list[Formula]:
    """f(x_k) = … as f(u) = …, where other equations apply f; else f_k stands for each f(x_k)."""
    for f in list(_defined(formulas)):
        index = _index(f.arguments)
        bases = [str(base_of(a)) for a in f.arguments]
        if index is None or f.name in ("p", "P", "q", "Q") or len({*bases}) < len(bases):
            continue
        calls = [(o, run, n, g) for o in formulas for run, n, g in f.calls(o.tree or ())]
        at_entries = all(_at_entries(run[n], g, bases) for _, run, n, g in calls)
        applied = any(_behind_equality(o, run[n]) and not (n and is_token(run[n - 1], "PARTIAL"))
                      for o, run, n, _ in calls)
        spare = next(free(formulas), None)
        local = spare is not None and _is_local(f)
        if (applied or not at_entries) and local and spare is not None:
            formulas = _with_argument(formulas, f, spare)
        elif at_entries:
            formulas = changed(formulas, partial(_with_entries, f))
    return formulas


def _index(arguments: tuple[Item, ...]) -> Items | None:
    """k of (x_k) and of (x_k, a), where all that have an index have this one."""
    subs = [a.subs[0] for a in arguments if isinstance(a, Scripted) and a.subs]
    plain = all(not isinstance(a, Scripted) or (len(a.subs) == 1 and not a.sups and not a.primes) for a in arguments)
    small = all(is_token(i, "NAME", "COMMA") and len(str(i)) == 1 for sub in subs for i in sub)
    return subs[0] if plain and small and len({spelt(s) for s in subs}) == 1 else None


def _at_entries(head: Item, at: Group, bases: list[str]) -> bool:
    arguments = tuple(normal(a[0]) for a in arguments_of(at) if len(a) == 1)
    primed = isinstance(normal(head), Scripted)
    return not primed and [str(base_of(a)) for a in arguments] == bases and _index(arguments) is not None


def _behind_equality(formula: Formula, item: Item) -> bool:
    signs = [i.start for top in formula.tree or () for i in inside(top) if is_token(i, "REL") and i.text == "="]
    return bool(signs) and item.start > min(signs)


def _is_local(f: _Function) -> bool:
    """Nothing on the right but the argument has an index."""
    own = spelt(f.arguments)
    rest = each(f.body, lambda i: name("u", i) if spelt([i]) == own else i)
    below = any(isinstance(i, Scripted) and i.subs for item in rest for i in inside(item))
    first = statements(f.formula.tree or ())[0] == f.part
    return len(f.arguments) == 1 and first and len(sides(f.part)) == 2 and not below


def _with_entries(f: _Function, tree: Run) -> Run:
    return mapped(tree, lambda run: _as_entries(run, f))


def _as_entries(run: Run, f: _Function) -> Run:
    for n, item in enumerate(run):
        at = called(run, n) if spelt([item]) == f.name else None
        index = _index(tuple(normal(a[0]) for a in arguments_of(at) if len(a) == 1)) if at is not None else None
        base = base_of(item)
        if index is not None and isinstance(base, Token):
            return *run[:n], indexed(base, *index), *_as_entries(run[n + 2 :], f)
    return run


def of_indices(formulas: list[Formula]) -> list[Formula]:
    """h_j(a) = … of an index j that stands below other letters, too, is written out where it is applied."""
    for f in list(_defined(formulas)):
        own = _below(f.head)
        within = indices((*f.body,))
        others = changed(formulas, partial(_without, f.part))
        calls = [run[n] for o in others for run, n, _ in f.calls(o.tree or ())]
        plain = len(sides(f.part)) == 2 and None not in map(letter, f.arguments)
        if own and {*own} <= within and plain and calls and all(len(_below(c)) == len(own) for c in calls):
            formulas = _applied(others, f)
    return formulas


def _below(head: Item) -> list[str]:
    """j of h_j, where nothing else stands at h."""
    head = normal(head)
    plain = isinstance(head, Scripted) and len(head.subs) == 1 and not head.sups and not head.primes
    names = [letter(i) for i in unwrap(head.subs[0]) if not is_token(i, "COMMA")] if plain else []  # type: ignore[union-attr]
    return [n for n in names if n is not None and len(n) == 1] if all(names) else []


def of_vectors(formulas: list[Formula]) -> list[Formula]:
    """Functions of vectors are written out where they are applied to something else than their letter.

    Where a value holds f(x) at the function's own letters only, f is the name of that value.
    """
    for f in list(_defined(formulas)):
        letters = [letter(a) for a in f.arguments]
        if len(sides(f.part)) != 2 or None in letters or not any(_is_vector(a, f.body) for a in f.arguments):
            continue
        others = changed(formulas, partial(_without, f.part))
        calls = [(o, at) for o in others for run, n, g in f.calls(o.tree or ()) if spelt([run[n]]) == f.name
                 and len(at := arguments_of(g)) == len(letters)]
        if any({spelt(unwrap(a)) for a in at} != {*letters} for _, at in calls):
            formulas = _applied(others, f)
        elif any(any(spelt([run[n]]) == f.name for run, n, _ in f.calls(part[len(sides(part)[0]) :]))
                 for o in others for part in statements(o.tree or ()) if len(sides(part)) > 1):
            formulas = _applied(formulas, replace(f, body=()))
    return formulas


def _without(part: Run, tree: Run) -> Run:
    return by_statement(tree, lambda other: () if other == part else other)


def _is_vector(argument: Item, body: Run) -> bool:
    r"""x of \theta^\top x, x^\top w, \|x\| and \langle w, x \rangle; bold letters."""
    own = base_of(argument)
    assert isinstance(own, Token)
    for run in all_runs(body):
        for n, item in enumerate(run):
            transposed = is_transposed(item) and str(base_of(item)) == own.text
            behind = n and is_transposed(run[n - 1]) and str(base_of(item)) == own.text
            if transposed or behind or (is_group(base_of(item), "LNORM", "LANGLE") and own.text in names_in((item,))):
                return True
    return own.bold


def _applied(formulas: list[Formula], f: _Function) -> list[Formula]:
    """What f computes in place of each f(…); f itself where there is no body."""
    def written_out(run: Run) -> Run:
        own = _below(f.head)
        for n, item in enumerate(run):
            same = spelt([item]) == f.name or (own and str(base_of(item)) == str(base_of(f.head)) and _below(item))
            at = called(run, n) if same else None
            arguments = arguments_of(at) if at is not None else []
            if at is None or len(arguments) != len(f.arguments):
                continue
            after = run[n + 1]
            value: Item = group(_at(f, arguments, dict(zip(own, _below(item), strict=True)))) if f.body else item
            if isinstance(after, Scripted):
                base = value if isinstance(value, (Token, Group)) else group((value,), "LBRACE")
                value = replace(after, base=base)
            return *run[:n], value, *written_out(run[n + 2 :])
        return run

    return changed(formulas, lambda tree: mapped(tree, written_out))


def _at(f: _Function, arguments: list[list[Item]], new: Mapping[str, str]) -> Run:
    """The body with the arguments in place of the parameters, and ``new`` indices."""
    body = each(f.body, lambda i: name(new[i.text], i) if is_token(i, "NAME") and i.text in new else i)
    values = {letter(p): unwrap(a) for p, a in zip(f.arguments, arguments, strict=True)}

    def value(item: Item) -> Item:
        found = values.get(item.text) if is_token(item, "NAME") else None
        if found is None:
            return item
        return found[0] if len(found) == 1 and isinstance(found[0], (Token, Group)) else group(
            found, "LBRACE" if len(found) == 1 else "LPAREN")

    return each(body, value)




def applied(formula: Formula) -> Iterator[str]:
    """f of every f(…) and f'(…)."""
    for run in all_runs(formula.tree or ()):
        for n, item in enumerate(run):
            base = base_of(item)
            if is_token(base, "NAME") and not _scripts(item) and called(run, n) is not None:
                yield base.text


def defined(formula: Formula) -> Iterator[str]:
    """f of f(…) = …, at the start of an equation or inside a chain."""
    for part in statements(formula.tree or ()):
        for side in sides(part)[:-1]:
            if len(side) == 2 and letter(side[0]) and called(side, 0) is not None:
                yield str(side[0])


def _scripts(item: Item) -> bool:
    item = normal(item)
    return isinstance(item, Scripted) and bool(item.subs or item.sups)
