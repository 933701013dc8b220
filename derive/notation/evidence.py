"""What a card's formulas say of their letters without declaring them: functions, variances, labels, samples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from derive.notation.cursor import normal
from derive.notation.definitions import Definition, base_of
from derive.notation.occurrences import Occurrence, Occurrences, label_of, names_in
from derive.notation.pieces import variable
from derive.notation.subscripts import split_runs
from derive.notation.symbols import Kind, Symbol
from derive.notation.tree import Items, Scripted, has, inside, is_token, split

_NEIGHBOUR = re.compile(r"^(.+)\^[(\[]([^\W\d_]+)[+-]\d+[)\]]$")

def called(o: Occurrence) -> str:
    r"""The function's name with its label: ``\ell_\delta(a)``."""
    label = variable(o.sub[0]) if o.sub is not None and len(o.sub) == 1 else None
    return o.name if label is None else f"{o.name}_{label}"


class Evidence:
    """The letters of a card by what they are; ``words`` are those declared before."""

    def __init__(self, seen: Occurrences, words: dict[str, Symbol]) -> None:
        self.seen, self.words = seen, words
        self.indices, self.tensors, self.set_names, self.sizes = (
            self.of_kind(k) for k in (Kind.INDEX, Kind.TENSOR, Kind.SET, Kind.SIZE))
        self.functions = self.of_kind(Kind.FUNCTION) | set(self.defined_functions())
        self.seen.all = self.renamed()
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}
        self.labels: set[str] = set()
        self.above: dict[str, str] = {}  # how a tensor's first axis is written above

    def of_kind(self, kind: Kind) -> set[str]:
        return {name for name, symbol in self.words.items() if symbol.kind is kind}

    @cached_property
    def heads(self) -> set[str]:
        """The letters that an equation defines as they are."""
        bases = [base_of(d.left[0]) for d in self.seen.definitions if not _is_square(d.left)]
        return {base.text for base in bases if is_token(base, "NAME")}

    @cached_property
    def squares(self) -> set[str]:
        """σ^2 of σ^2 = …"""
        known = {name for name in self.words if "^2" in name}
        bases = [base_of(d.left[0]) for d in self.seen.definitions if _is_square(d.left)]
        return known | {f"{base.text}^2" for base in bases if is_token(base, "NAME") and base.text not in self.words
                        and (base.text not in self.heads or self.is_root(base.text))}

    def is_root(self, name: str) -> bool:
        """σ = √(σ^2 + ε)."""
        return any(label_of(base_of(d.left[0])) == name and not _is_square(d.left) and name in names_in(d.right)
                   for d in self.seen.definitions)

    def defined_functions(self) -> dict[str, tuple[str, ...]]:
        """Letters with a signature, applied elsewhere, whose parameters have no subscripts in the definition."""
        found: dict[str, tuple[str, ...]] = {}
        for d in self.seen.definitions:
            if d.local and d.local[0] not in self.words and not self.is_tensor(d) and self.is_applied(d):
                found.setdefault(d.local[0], d.local[1:])
        return found

    def is_tensor(self, d: Definition) -> bool:
        """x_i in f(x) = …: f is no function of a number."""
        name, *parameters = d.local
        running = {*self.seen.bound, *(n for items, _ in self.seen.sets for n in names_in(items))}
        if name in running or running & {*parameters}:
            return True  # Ω(k, l), y(m, n)
        if "_" in name and not self.is_value(name.rsplit("_", 1)[1]):
            return True
        subscripted = any(o.name in parameters and o.sub is not None and o.local == d.local for o in self.seen.all)
        return subscripted or name in names_in(d.right) or any(
            o.name == name and (o.sub is not None or o.above is not None) for o in self.seen.all)

    def is_value(self, label: str) -> bool:
        """Whether the letter stands bare outside subscripts, so that it is no index where it is one."""
        bare = any(o.name == label and o.bare and not o.in_index for o in self.seen.all)
        return bare and label not in self.seen.bound

    def is_applied(self, d: Definition) -> bool:
        """f(s) on a right-hand side, or f at anything else than its parameters."""
        for o in self.seen.all:
            if called(o) != d.local[0] or o.following is None or o.derived or o.following.bracket != "LPAREN":
                continue
            parts = split(o.following.items, "COMMA", "SEMI")
            names = [variable(p[0]) if len(p) == 1 else None for p in parts]
            if len(parts) == len(d.local) - 1 and not o.primes and (tuple(names) != d.local[1:] or o.right):
                return True
            if o.primes and has(o.following.items, "SEMI") is False and tuple(names) != d.local[1:]:
                return True
        return False

    def renamed(self) -> list[Occurrence]:
        """σ^2 is a letter of its own where an equation defines it."""
        def go(o: Occurrence) -> Occurrence:
            square = f"{o.name}^2"
            return replace(o, name=square, bare=o.sub is None) if o.squared and square in self.squares else o

        return list(map(go, self.seen.all))

    def conditions(self) -> None:
        """In subscripts, and else in conditions only: an index. Only in the conditions of sums: a size."""
        below = {o.name for o in self.seen.all if o.cond and o.bare and not o.in_index}
        value = {o.name for o in self.seen.all if o.bare and not o.in_index and not o.cond} | self.tensors | self.sizes
        in_subs = {o.name for o in self.seen.all if o.in_index}
        other = value | self.subscripted | self.functions
        self.indices |= (below & in_subs) - other
        self.sizes |= {o.name for o in self.seen.all if o.limit and o.bare} - in_subs - other - self.indices

    def constant_labels(self) -> None:
        """B of μ_B = …, where no B stands on the right and none runs: a label."""
        for d in self.seen.definitions:
            head = normal(d.left[0])
            if len(d.left) == 1 and isinstance(head, Scripted) and len(head.subs) == 1 and len(head.subs[0]) == 1:
                label = variable(head.subs[0][0])
                if label is None or label in self.indices | self.tensors | self.sizes or label in names_in(d.right):
                    continue
                reduced = any(is_token(below, "BIG") for item in d.right for below in inside(item))
                alone = reduced and all(o.in_index and o.sub is None for o in self.seen.all if o.name == label)
                tensor = label_of(base_of(d.left[0]))
                indexed = {o.name for o in self.seen.all if o.sub is not None and label in names_in(o.sub)}
                if alone and indexed <= {tensor, f"{tensor}^2"} | self.squares | self.heads:
                    self.labels.add(label)

    def constants_in_indices(self) -> None:
        """s of x_{sk+p}: a letter that runs nowhere and is no index by itself is a size."""
        single: set[str] = set()
        composite: set[str] = set()
        for o in self.seen.all:
            for run in split_runs(o.sub, None) if o.sub is not None else []:
                (single if len(run) == 1 else composite).update(names_in(run))
        left = {n for d in self.seen.definitions for n in names_in(d.left)}
        self.sizes |= composite - single - left - self.indices - self.tensors - self.labels - set(self.seen.bound)

    def samples(self) -> None:
        """x^i: a numbered sample, where i runs, or stands so on the left, and is never a subscript."""
        used = [o for o in self.seen.all if o.above is not None]
        lower = {o.name for o in self.seen.all if o.in_index}
        on_left = {n for d in self.seen.definitions for n in _letters_above(d.left)}
        layers = {m[2] for o in self.seen.all if (m := _NEIGHBOUR.match(o.name))}
        for letter in dict.fromkeys(o.above for o in used if o.above is not None):
            bases = {o.name for o in used if o.above == letter}
            round_ = all(o.round for o in used if o.above == letter)
            bare = any(o.name == letter and o.bare and not o.in_index and not o.cond for o in self.seen.all)
            runs = letter in self.indices
            several = len(bases) > 1 or any(o.sub is not None for o in used if o.above == letter)
            plain = runs and several or letter in on_left
            if letter in layers or letter in lower or bare or not (runs if round_ else plain):
                continue
            steady = {b for b in bases if all(o.above == letter for o in self.seen.all if o.name == b)}
            if steady == bases:
                self.indices.add(letter)
                self.above |= dict.fromkeys(bases, f"({letter})" if round_ else letter)
        closing = {"(": ")", "[": "]"}
        self.seen.all = [
            replace(o, name=f"{o.name}^{o.round}{o.above}{closing[o.round]}", above=None, bare=o.sub is None)
            if o.round and o.name not in self.above else o for o in self.seen.all]
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}


def _is_square(left: Items) -> bool:
    """Whether a square stands left of =, and nothing else."""
    item = normal(left[0])
    return len(left) == 1 and isinstance(item, Scripted) and len(item.sups) == 1 and len(item.sups[0]) == 1 and (
        is_token(item.sups[0][0], "NUMBER") and str(item.sups[0][0]) == "2" and is_token(item.base, "NAME"))


def _letters_above(left: Items) -> Iterable[str]:
    """i of y^i, where it stands left of =."""
    item = normal(left[0])
    if len(left) == 1 and isinstance(item, Scripted) and len(item.sups) == 1 and len(item.sups[0]) == 1:
        name = variable(item.sups[0][0])
        if name is not None:
            yield name
