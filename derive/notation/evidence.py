"""What a card's formulas say of their letters without declaring them: functions, variances, samples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from derive.notation import tree as tr
from derive.notation.occurrences import Occurrence, Occurrences
from derive.notation.pieces import Definition, split_runs
from derive.notation.symbols import Kind, Symbol
from derive.notation.vocabulary import LETTERS_TOO, OPERATORS, is_divided

_NEIGHBOUR = re.compile(r"^(.+)\^[(\[]([^\W\d_]+)[+-]\d+[)\]]$")


def called(o: Occurrence) -> str:
    r"""The function's name with its label: ``\ell_\delta(a)``."""
    label = tr.variable(o.sub[0]) if o.sub is not None and len(o.sub) == 1 else None
    return o.name if label is None else f"{o.name}_{label}"


class Evidence:
    """The letters of a card by what they are; ``words`` are those declared before."""

    def __init__(self, seen: Occurrences, words: dict[str, Symbol]) -> None:
        self.seen, self.words = seen, words
        self.indices, self.tensors, self.set_names, self.sizes = (
            self.of_kind(k) for k in (Kind.INDEX, Kind.TENSOR, Kind.SET, Kind.SIZE))
        self.functions = self.of_kind(Kind.FUNCTION) | set(self.defined_functions())
        self.renamed(map(self.with_square, map(self.with_prime, self.seen.all)))
        self.renamed(o for o in self.seen.all if not (
            self.is_operator(o.name) or self.is_of_vectors(o) or self.is_divergence(o) or o.name in self.of_vectors))
        self.labels: set[str] = set()
        self.latex: dict[str, str] = {}
        self.unlabelled: dict[str, str] = {}  # W_o ↦ W
        self.above: dict[str, str] = {}  # how a tensor's first axis is written above

    def of_kind(self, kind: Kind) -> set[str]:
        return {name for name, symbol in self.words.items() if symbol.kind is kind}

    @cached_property
    def heads(self) -> set[str]:
        """The letters that an equation defines as they are."""
        bases = [tr.base_of(d.left[0]) for d in self.seen.definitions if not _is_square(d.left)]
        return {base.text for base in bases if tr.is_token(base, "NAME")}

    def is_operator(self, name: str) -> bool:
        """𝔼, Var; E of E[x] and P of P(x), where no E stands by itself."""
        if name not in OPERATORS or name in self.words:
            return False
        if name in LETTERS_TOO:
            declared = {str(tr.base_of(item)) for items, _ in self.seen.shapes for item in items}
            return name not in self.heads | declared and all(
                o.following is not None and not _indexed(o.following) for o in self.seen.all if o.name == name)
        return name.endswith("_bb") or name not in self.heads

    @cached_property
    def of_vectors(self) -> set[str]:
        """f of f(a)_i = …, where f stands before another bracket: neither a number's function nor a factor."""
        heads = [(str(d.left[0]), list(tr.names_in(group.items))) for d in self.seen.definitions if len(d.left) == 2
                 and tr.is_token(d.left[0], "NAME") and tr.scripted(d.left[1]).subs
                 and tr.is_group(group := tr.base_of(d.left[1]), "LPAREN")]
        return {name for name, own in heads for o in self.seen.all if o.name == name and o.following is not None
                and list(tr.names_in(o.following.items)) != own} - self.words.keys()

    def is_divergence(self, o: Occurrence) -> bool:
        r"""D_{KL}(p \| q), which nothing defines."""
        return o.following is not None and is_divided(o.following) and o.name not in self.heads | self.words.keys()

    def is_of_vectors(self, o: Occurrence) -> bool:
        """softmax, diag: no letters where they stand before something."""
        of_vectors = o.name.lower() in ("softmax", "diag") and o.following is not None
        return of_vectors and not {o.name} & (self.heads | {*self.words})

    @cached_property
    def squares(self) -> set[str]:
        """σ^2 of σ^2 = …"""
        known = {name for name in self.words if "^2" in name}
        bases = [tr.base_of(d.left[0]) for d in self.seen.definitions if _is_square(d.left)]
        return known | {f"{base.text}^2" for base in bases if tr.is_token(base, "NAME") and base.text not in self.words
                        and (base.text not in self.heads or self.is_root(base.text))}

    def is_root(self, name: str) -> bool:
        """σ = √(σ^2 + ε)."""
        own = (d for d in self.seen.definitions if tr.label_of(tr.base_of(d.left[0])) == name)
        return any(not _is_square(d.left) and name in tr.names_in(d.right) for d in own)

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
        running = {*self.seen.bound, *(n for items, _ in self.seen.sets for n in tr.names_in(items))}
        if name in running or running & {*parameters}:
            return True  # Ω(k, l), y(m, n)
        if self.shaped & {*parameters}:
            return True  # s(x) of a vector x
        label = tr.labels_of(d.left[0])
        if label and not self.is_value(label[1:]):
            return True
        subscripted = any(o.name in parameters and o.sub is not None and o.local == d.local for o in self.seen.all)
        return subscripted or name in tr.names_in(d.right) or any(
            o.name == name and (o.sub is not None or o.above is not None) for o in self.seen.all)

    @cached_property
    def shaped(self) -> set[str]:
        """x of x ∈ R^n."""
        return {str(tr.base_of(item)) for items, extents in self.seen.shapes if extents for item in items}

    def is_value(self, label: str) -> bool:
        """Whether the letter stands bare outside subscripts, so that it is no index where it is one."""
        bare = any(o.name == label and o.bare and not o.in_index and not o.cond for o in self.seen.all)
        return bare and label not in self.seen.bound

    def is_applied(self, d: Definition) -> bool:
        """f(s) on a right-hand side, or f at anything else than its parameters."""
        for o in self.seen.all:
            if called(o) != d.local[0] or o.following is None or o.derived or o.following.bracket != "LPAREN":
                continue
            parts = tr.arguments_of(o.following)
            names = list(map(tr.parameter, parts))
            if len(parts) == len(d.local) - 1 and not o.primes and (tuple(names) != d.local[1:] or o.right):
                return True
            if o.primes and tr.has(o.following.items, "SEMI") is False and tuple(names) != d.local[1:]:
                return True
        return False

    def renamed(self, occurrences: Iterable[Occurrence]) -> None:
        """The occurrences anew; ``subscripted`` are the letters with subscripts among them."""
        self.seen.all = list(occurrences)
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}

    def with_square(self, o: Occurrence) -> Occurrence:
        """σ^2 is a letter of its own where an equation defines it."""
        square = f"{o.name}^2"
        return replace(o, name=square, bare=o.sub is None) if o.squared and square in self.squares else o

    def with_prime(self, o: Occurrence) -> Occurrence:
        """h' is a letter of its own."""
        own = o.name in self.primed and o.primes == 1 and not o.in_index
        return replace(o, name=f"{o.name}_prime", primes=0, bare=o.sub is None) if own else o

    @cached_property
    def primed(self) -> set[str]:
        """h of h' = …, where h itself is given, and o of an o'_j that is given; the prime of f'(x) is a derivative."""
        firsts = [tr.normal(d.left[0]) for d in self.seen.definitions]
        plain, heads = ({str(tr.base_of(i)) for i in firsts if getattr(i, "primes", 0) == n} for n in (0, 1))
        given = {o.name for o in self.seen.all if not o.primes} - plain - heads
        found = {o.name for o in self.seen.all if o.primes == 1 and not o.in_index and (
            o.name in heads - plain or (o.right and (o.sub is not None and o.name not in heads or o.name in given)))}
        applied = {o.name for o in self.seen.all if o.primes and o.following is not None
                   and o.following.bracket == "LPAREN"}
        running = {n.rstrip("'") for n in self.seen.bound}
        return found - applied - self.functions - self.indices - running - {*self.words}

    def conditions(self) -> None:
        """In subscripts, and else in conditions only: an index. Only in the conditions of sums: a size."""
        below = {o.name for o in self.seen.all if o.cond and o.bare and not o.in_index}
        value = {o.name for o in self.seen.all if o.bare and not o.in_index and not o.cond} | self.tensors | self.sizes
        in_subs = {o.name for o in self.seen.all if o.in_index}
        other = value | self.subscripted | self.functions
        self.indices |= (below & in_subs) - other
        for running in self.seen.running:
            if self.indices & {*running.names}:
                self.seen.bounds += running.ends
        self.sizes |= {o.name for o in self.seen.all if o.limit and o.bare} - in_subs - other - self.indices

    def constants_in_indices(self) -> None:
        """s of x_{sk+p}: a letter that runs nowhere and is no index by itself is a size, whatever number it equals."""
        single: set[str] = set()
        composite: set[str] = set()
        for o in self.seen.all:
            for run in split_runs(o.sub, None) if o.sub is not None else []:
                (single if len(run) == 1 else composite).update(tr.names_in(run))
        other = [d.left for d in self.seen.definitions if not "".join(map(str, d.right)).isdigit()]  # not s = 2
        left = {n for items in other for n in tr.names_in(items)}
        self.sizes |= composite - single - left - self.indices - self.tensors - self.labels - set(self.seen.bound)

    def samples(self) -> None:
        """x^i: a numbered sample, where i runs, or stands so on the left.

        Where i is a subscript elsewhere, as in Σ_i a_i k_j^i, only letters that always stand with both scripts, or are
        declared so, k^i ∈ R^d.
        """
        used = [o for o in self.seen.all if o.above is not None]
        lower = {o.name for o in self.seen.all if o.in_index}
        on_left = {n for d in self.seen.definitions for n in _letters_above(d.left)}
        layers = {m[2] for o in self.seen.all if (m := _NEIGHBOUR.match(o.name))}
        for letter in dict.fromkeys(o.above for o in used if o.above is not None):
            bases = {o.name for o in used if o.above == letter}
            round_ = all(o.round for o in used if o.above == letter)
            bare = self.stands_bare(letter)
            runs = letter in self.indices
            several = len(bases) > 1 or any(o.sub is not None for o in used if o.above == letter)
            plain = runs and (several or bases <= self.declared_above) or letter in on_left
            if letter in layers or bare or not (runs if round_ else plain):
                continue
            if letter in self.subscripted and not runs:  # \delta^z_{kl} beside z_{kl}: a label
                continue
            used_so = any(o.right for o in used if o.above == letter)
            if letter in lower and not (runs and (round_ or used_so)):
                continue
            others = {o.above for o in used if o.name in bases and o.above not in lower | layers | {letter}
                      and not self.stands_bare(o.above or "")}  # ∂y^i/∂x^j
            steady = {b for b in bases if all(o.above in {letter, *others} or b in o.local[1:]
                                              for o in self.seen.all if o.name == b)}
            if steady == bases:
                self.indices |= {letter, *(o for o in others if o is not None)}
                self.above |= dict.fromkeys(bases, f"({letter})" if round_ else letter)
        self.name_layers()

    @cached_property
    def declared_above(self) -> set[str]:
        """k of k^i ∈ R^d."""
        items = [tr.normal(item) for items, _ in self.seen.shapes for item in items]
        return {str(i.base) for i in items if isinstance(i, tr.Scripted) and i.sups and tr.is_token(i.base, "NAME")}

    def is_letter(self, name: str) -> bool:
        """Whether e or π is a letter of the card: defined, differentiated by, or e as a factor."""
        return any(o.name == name and o.bare and (o.derived or o.opens or (name == "e" and not o.raised))
                   and not o.in_index for o in self.seen.all) or name in self.heads

    def stands_bare(self, letter: str) -> bool:
        """The letter stands as a value somewhere, other than in front of its range i = 1, …, m."""
        return any(o.name == letter and o.bare and not o.in_index and not o.cond
                   and not (o.opens and letter in self.seen.bound) for o in self.seen.all)

    def name_layers(self) -> None:
        """h^{(l)}: a letter of its own where l numbers no samples."""
        closing = {"(": ")", "[": "]"}
        self.renamed(replace(o, name=f"{o.name}^{o.round}{o.above}{closing[o.round]}", above=None, bare=o.sub is None)
                     if o.round and o.name not in self.above and o.above not in self.indices else o
                     for o in self.seen.all)


def _indexed(group: tr.Group) -> bool:
    """[i, j] and (m, n): places of entries."""
    parts = tr.split(group.items, "COMMA")
    return len(parts) > 1 and all(len(p) == 1 and tr.variable(p[0]) is not None for p in parts)


def _is_square(left: tr.Items) -> bool:
    """Whether a square stands left of =, and nothing else."""
    item = tr.normal(left[0])
    return len(left) == 1 and isinstance(item, tr.Scripted) and len(item.sups) == 1 and len(item.sups[0]) == 1 and (
        tr.is_token(item.sups[0][0], "NUMBER") and str(item.sups[0][0]) == "2" and tr.is_token(item.base, "NAME"))


def _letters_above(left: tr.Items) -> Iterable[str]:
    """i of y^i, where it stands left of =."""
    item = tr.normal(left[0])
    if len(left) == 1 and isinstance(item, tr.Scripted) and len(item.sups) == 1 and len(item.sups[0]) == 1:
        name = tr.variable(item.sups[0][0])
        if name is not None:
            yield name
