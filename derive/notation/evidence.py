"""What a card's formulas say of their letters without declaring them: functions, variances, labels, samples."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from derive.notation.occurrences import Occurrence, Occurrences
from derive.notation.pieces import Definition, split_runs
from derive.notation.symbols import Kind, Symbol, identifier, is_capital, labelled, latex_of
from derive.notation.tree import (
    Group,
    Item,
    Items,
    Scripted,
    Token,
    arguments_of,
    base_of,
    has,
    inside,
    is_token,
    label_of,
    labels_of,
    names_in,
    normal,
    parameter,
    split,
    unwrap,
    variable,
)
from derive.notation.vocabulary import LETTERS_TOO, OPERATORS

_NEIGHBOUR = re.compile(r"^(.+)\^[(\[]([^\W\d_]+)[+-]\d+[)\]]$")
_NUMBERING = frozenset("ijklmnpqruvabc")


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
        self.seen.all = [o for o in self.renamed() if not (self.is_operator(o.name) or self.is_softmax(o))]
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}
        self.labels: set[str] = set()
        self.latex: dict[str, str] = {}
        self.unlabelled: dict[str, str] = {}  # W_o ↦ W
        self.above: dict[str, str] = {}  # how a tensor's first axis is written above

    def of_kind(self, kind: Kind) -> set[str]:
        return {name for name, symbol in self.words.items() if symbol.kind is kind}

    @cached_property
    def heads(self) -> set[str]:
        """The letters that an equation defines as they are."""
        bases = [base_of(d.left[0]) for d in self.seen.definitions if not _is_square(d.left)]
        return {base.text for base in bases if is_token(base, "NAME")}

    def is_operator(self, name: str) -> bool:
        """𝔼, Var; E of E[x] and P of P(x), where no E stands by itself."""
        if name not in OPERATORS or name in self.words:
            return False
        if name in LETTERS_TOO:
            declared = {str(base_of(item)) for items, _ in self.seen.shapes for item in items}
            return name not in self.heads | declared and all(
                o.following is not None and not _indexed(o.following) for o in self.seen.all if o.name == name)
        return name.endswith("_bb") or name not in self.heads

    def is_softmax(self, o: Occurrence) -> bool:
        return o.name.lower() == "softmax" and o.following is not None and not {o.name} & (self.heads | {*self.words})

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
        if self.shaped & {*parameters}:
            return True  # s(x) of a vector x
        label = labels_of(d.left[0])
        if label and not self.is_value(label[1:]):
            return True
        subscripted = any(o.name in parameters and o.sub is not None and o.local == d.local for o in self.seen.all)
        return subscripted or name in names_in(d.right) or any(
            o.name == name and (o.sub is not None or o.above is not None) for o in self.seen.all)

    @cached_property
    def shaped(self) -> set[str]:
        """x of x ∈ R^n."""
        return {str(base_of(item)) for items, extents in self.seen.shapes if extents for item in items}

    def is_part(self, name: str) -> bool:
        """x^+ beside a bare x: a part of x or its inverse, unless an equation defines it; s^+ alone is a letter."""
        signed = name[-2:] in ("^+", "^-") and name not in self.heads
        return signed and any(o.name == name[:-2] and o.sub is None for o in self.seen.all)

    def is_value(self, label: str) -> bool:
        """Whether the letter stands bare outside subscripts, so that it is no index where it is one."""
        bare = any(o.name == label and o.bare and not o.in_index and not o.cond for o in self.seen.all)
        return bare and label not in self.seen.bound

    def is_applied(self, d: Definition) -> bool:
        """f(s) on a right-hand side, or f at anything else than its parameters."""
        for o in self.seen.all:
            if called(o) != d.local[0] or o.following is None or o.derived or o.following.bracket != "LPAREN":
                continue
            parts = arguments_of(o.following)
            names = list(map(parameter, parts))
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

        return list(map(go, map(self.with_prime, self.seen.all)))

    def with_prime(self, o: Occurrence) -> Occurrence:
        """h' is a letter of its own."""
        own = o.name in self.primed and o.primes == 1 and not o.in_index
        return replace(o, name=f"{o.name}_prime", primes=0, bare=o.sub is None) if own else o

    @cached_property
    def primed(self) -> set[str]:
        """h of h' = …, where h itself is given, and o of an o'_j that is given; the prime of f'(x) is a derivative."""
        plain = {str(base_of(d.left[0])) for d in self.seen.definitions if not _primes(d.left[0])}
        heads = {str(base_of(d.left[0])) for d in self.seen.definitions if _primes(d.left[0]) == 1}
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

    def labels_at_rest(self) -> None:
        """out of y_{\\text{out}}; o of W_o, W_{o,kj}, h of W_{hh}: they run nowhere, and no W has others."""
        self.seen.all = [self.with_label(o) if _is_word(o.sub or ()) and not o.in_index else o for o in self.seen.all]
        values = [o for o in self.seen.all if not o.in_index and not o.derived and o.name not in self.words]
        plain = {o.name for o in values if o.sub is None and not is_capital(o.name)} | {*self.words, *self.above}
        subs: dict[str, list[Items]] = {}
        for o in values:
            if o.sub is not None:
                subs.setdefault(o.name, []).append(o.sub if o.right or o.declared or o.name in self.heads else ())
        heads = {n for d in self.seen.definitions for item in d.left for n in _below(item)}
        running = self.indices | self.sizes | heads
        while True:
            at_rest = {name for name, all_ in subs.items() if name not in plain and all(map(_joined, all_))}
            moving = {n for o in values if o.sub is not None
                      for n in names_in(_behind(o.sub) if o.name in at_rest else o.sub)}
            new = {name for name in at_rest if {*itertools.chain(*map(_joined, subs[name]))} & (running | moving)}
            if not new:
                break
            plain |= new
        self.seen.all = [self.with_label(o) if o.name in at_rest and o.sub is not None else o for o in self.seen.all]
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}

    def labels_of_pairs(self) -> None:
        """i and j of ℓ = f(s_i − s_j), p and n of z_p = W x_p, z_n = W x_n: they run nowhere, and ℓ has none."""
        running = {*self.seen.bound, *self.indices, *(o.name for o in self.seen.all if o.bare and not o.in_index)}
        running |= {n for o in self.seen.all if o.sub and not o.in_index and len(o.sub) > 1 for n in names_in(o.sub)}
        labels: set[str] = set()
        for d in self.seen.definitions:
            if any(True for item in d.left for _ in _below(item)) or d.local:
                continue
            free: dict[str, set[str]] = {}
            for i in (i for item in d.right for i in inside(item) if isinstance(i, Scripted)):
                if is_token(i.base, "NAME"):
                    free.setdefault(str(i.base), set()).update(n for s in i.subs for n in names_in(s))
            labels |= {n for pair in free.values() if len(pair) > 1 and not pair & running for n in pair}
        if not labels:
            return
        self.seen.all = [self.with_label(o) if o.sub and not o.in_index and {*names_in(o.sub)} & labels else o
                         for o in self.seen.all if not (o.in_index and o.name in labels)]
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}

    def steps(self) -> None:
        """h_{t-1} of h_t = f(h_{t-1}, x_t), where t runs nowhere: one step, with a letter for each h."""
        for d in self.seen.definitions:
            head = normal(d.left[0])
            own = head.subs[0] if len(d.left) == 1 and isinstance(head, Scripted) and len(head.subs) == 1 else ()
            time = _time(split_runs(own, None)[0]) if own else None
            base = label_of(base_of(d.left[0]))
            if time is None or time in self.indices | self.sizes | self.tensors:
                continue
            timed = [o for o in self.seen.all if o.sub is not None and not o.in_index and time in names_in(o.sub)]
            firsts = [(o, split_runs(o.sub or (), None)) for o in timed]
            single = all(_step(runs[0], time) and not any(time in names_in(r) for r in runs[1:]) for _, runs in firsts)
            later = len(split_runs(own, None)[0]) > 1  # h_{t+1} from h_t
            back = any(o.name == base and o.right and (len(runs[0]) == 1) is later for o, runs in firsts)
            written = {(o.name, "".join(map(str, runs[0]))) for o, runs in firsts}
            single = single and len(written) == len({identifier(f"{name}_{step}") for name, step in written})
            plain = {o.name for o in self.seen.all if not o.in_index and o not in timed and not o.derived}
            if single and back and self.leads(d) and not plain & {o.name for o in timed}:
                self.seen.all = [self.at_step(o) if o in timed else o for o in self.seen.all]

    def leads(self, d: Definition) -> bool:
        """Whether the right-hand side, written out by the other definitions, has the letter that is defined."""
        base = label_of(base_of(d.left[0]))
        reached: set[str] = set()
        found = {*names_in(d.right)}
        while found - reached:
            reached |= found
            found = {n for e in self.seen.definitions if label_of(base_of(e.left[0])) in reached - {base}
                     for n in names_in(e.right)}
        return base in reached

    def at_step(self, o: Occurrence) -> Occurrence:
        """h_{t-1,i} as the entry i of the letter h_{t-1}."""
        first, *rest = split_runs(o.sub or (), None)
        step = "".join(map(str, first))
        name = f"{o.name}_{step}"
        self.latex[name] = _below_as_written(o.name, step)
        self.unlabelled[name] = o.name
        sub: list[Item] = []
        for run in rest:
            sub += [*([Token("COMMA", ",", run[0].start, run[0].start)] if sub else []), *run]
        return replace(o, name=name, sub=tuple(sub) or None, bare=not rest)

    def with_label(self, o: Occurrence) -> Occurrence:
        """W_o as a letter of its own."""
        label = self.label_in(o.sub or ())
        name = f"{o.name}_{label}"
        self.latex[name] = labelled(o.name, label) if _is_word(o.sub or ()) else _below_as_written(o.name, label)
        self.unlabelled[name] = o.name
        rest = _behind(o.sub or ()) or None
        return replace(o, name=name, sub=rest, bare=rest is None)

    def own_letter(self, name: str, sub: Items) -> str | None:
        """W_o, where o labels it."""
        own = f"{name}_{self.label_in(sub)}"
        return own if own in self.unlabelled else None

    @staticmethod
    def label_in(sub: Items) -> str:
        word = label_of(unwrap(sub)[0]) if _is_word(sub) else None
        return word or "".join(_joined(sub))

    def constants_in_indices(self) -> None:
        """s of x_{sk+p}: a letter that runs nowhere and is no index by itself is a size, whatever number it equals."""
        single: set[str] = set()
        composite: set[str] = set()
        for o in self.seen.all:
            for run in split_runs(o.sub, None) if o.sub is not None else []:
                (single if len(run) == 1 else composite).update(names_in(run))
        left = {n for d in self.seen.definitions if not _is_whole_number(d.right) for n in names_in(d.left)}
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
            if letter in lower and not (runs and (round_ or (
                    used_so and all(self.has_samples(b, letter) for b in bases)))):
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
        items = [normal(item) for items, _ in self.seen.shapes for item in items]
        return {str(i.base) for i in items if isinstance(i, Scripted) and i.sups and is_token(i.base, "NAME")}

    def has_samples(self, name: str, letter: str) -> bool:
        """The letter is declared as k^i ∈ R^d, or has a subscript and this superscript wherever it stands."""
        return name in self.declared_above or all(
            o.sub is not None and o.above is not None and letter not in names_in(o.sub)
            for o in self.seen.all if o.name == name)

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
        self.seen.all = [
            replace(o, name=f"{o.name}^{o.round}{o.above}{closing[o.round]}", above=None, bare=o.sub is None)
            if o.round and o.name not in self.above and o.above not in self.indices else o for o in self.seen.all]
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}


def _indexed(group: Group) -> bool:
    """[i, j] and (m, n): places of entries."""
    parts = split(group.items, "COMMA")
    return len(parts) > 1 and all(len(p) == 1 and variable(p[0]) is not None for p in parts)


def _below_as_written(name: str, label: str) -> str:
    """W_o, W_{hh}, h_{t-1}."""
    return f"{latex_of(name)}_{label}" if len(label) == 1 else f"{latex_of(name)}_{{{label}}}"


def _time(run: Items) -> str | None:
    """t of h_t and of h_{t+1}; not the k of h_{k+1}, as sheets number entries with such letters."""
    further = len(run) == 3 and is_token(run[1], "PLUS") and str(run[2]) == "1" and str(run[0]) not in _NUMBERING
    return variable(run[0]) if len(run) == 1 or further else None


def _step(run: Items, time: str) -> bool:
    """t, t − 1, t + 1."""
    kinds = [i.type if isinstance(i, Token) else "" for i in run]
    return kinds in (["NAME"], ["NAME", "MINUS", "NUMBER"], ["NAME", "PLUS", "NUMBER"]) and str(run[0]) == time


def _is_word(sub: Items) -> bool:
    """out of y_{\\text{out}}."""
    items = unwrap(sub)
    return len(items) == 1 and is_token(items[0], "TEXT")


def _joined(sub: Items) -> list[str]:
    """h, h of W_{hh} and of W_{hh,kj}; nothing where the subscript opens with more than letters side by side."""
    items = split(unwrap(sub), "COMMA")[0]
    return [item.text for item in items if isinstance(item, Token)] if items and all(
        is_token(item, "NAME") for item in items) else []


def _behind(sub: Items) -> Items:
    """k, j of W_{hh,kj}."""
    first, *_ = split(unwrap(sub), "COMMA")
    return tuple(unwrap(sub)[len(first) + 1 :])


def _below(item: Item) -> Iterable[str]:
    """The letters in the subscripts of a head."""
    item = normal(item)
    for sub in item.subs if isinstance(item, Scripted) else ():
        yield from names_in(sub)


def _primes(item: Item) -> int:
    item = normal(item)
    return item.primes if isinstance(item, Scripted) else 0


def _is_whole_number(items: Items) -> bool:
    return len(items) == 1 and is_token(items[0], "NUMBER") and str(items[0]).isdigit()


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
