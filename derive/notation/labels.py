"""The letters of a card by their names: squares, primes, labels, steps and layers are part of a name, indices are not.

A label and an index are told apart by use: an index runs somewhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from derive.notation import tree as tr
from derive.notation.faces import Faces
from derive.notation.occurrences import Occurrence, Occurrences
from derive.notation.pieces import Definition, behind, is_word, label_text, labelled_name, leading, split_runs
from derive.notation.shapes import ARRANGED
from derive.notation.symbols import GREEK, Kind, Symbol, identifier, is_capital, labelled, latex_of
from derive.notation.vocabulary import LETTERS_TOO, OPERATORS, is_divided

_NEIGHBOUR = re.compile(r"^(.+)\^[(\[]([^\W\d_]+)[+-]\d+[)\]]$")
_NUMBERING = frozenset("ijklmnpqruvabc")
_LABELLED = re.compile(r"([^\W_]+)_([^\W\d_])")  # h_t


class Labels:
    """The letters of a card; ``words`` are those declared before, ``faces`` what bold print and words say."""

    def __init__(self, seen: Occurrences, words: dict[str, Symbol], faces: Faces) -> None:
        self.seen, self.words, self.faces = seen, words, faces
        self.indices, self.tensors, self.set_names, self.sizes, self.functions = (
            {name for name, symbol in words.items() if symbol.kind is kind}
            for kind in (Kind.INDEX, Kind.TENSOR, Kind.SET, Kind.SIZE, Kind.FUNCTION))
        self.labels: set[str] = set()
        self.latex: dict[str, str] = {}
        self.unlabelled: dict[str, str] = {}  # W_o ↦ W
        self.above: dict[str, str] = {}  # how a tensor's first axis is written above

    def renamed(self, occurrences: Iterable[Occurrence]) -> None:
        """The occurrences anew; ``subscripted`` are the letters with subscripts among them."""
        self.seen.all = list(occurrences)
        self.subscripted = {o.name for o in self.seen.all if o.sub is not None}

    def subs_of(self) -> dict[str, list[tr.Items]]:
        """The subscripts of each letter outside subscripts, empty where it has none."""
        found: dict[str, list[tr.Items]] = {}
        for o in self.seen.all:
            if o.is_value:
                found.setdefault(o.name, []).append(o.sub or ())
        return found

    @cached_property
    def heads(self) -> set[str]:
        """The letters that an equation defines as they are."""
        bases = [tr.base_of(d.left[0]) for d in self.seen.definitions if not d.is_square]
        return {base.text for base in bases if tr.is_token(base, "NAME")}

    def stands_as_value(self, letter: str) -> bool:
        """The letter stands as a value somewhere, other than in front of its range i = 1, …, m."""
        return any(o.name == letter and o.bare and o.is_value and not o.at.cond
                   and not (o.opens and letter in self.seen.bound) for o in self.seen.all)

    # What is no letter, and what is a letter with its mark.

    def marks(self) -> None:
        """σ^2 and h' are letters of their own where an equation defines them; 𝔼, softmax and D(p ‖ q) are none."""
        squares, primed = self.squares, self.primed

        def marked(o: Occurrence) -> Occurrence:
            if o.squared and f"{o.name}^2" in squares:
                o = replace(o, name=f"{o.name}^2", bare=o.sub is None)
            if o.primes == 1 and o.is_value and o.name in primed:
                o = replace(o, name=f"{o.name}_prime", primes=0, bare=o.sub is None)
            return o

        self.renamed(map(marked, self.seen.all))
        self.renamed([o for o in self.seen.all if o.name in self.words or not self.is_operator(o)])

    def is_operator(self, o: Occurrence) -> bool:
        """𝔼, Var; E of E[x] and P of P(x), where no E stands by itself; softmax, diag, vec; D_{KL}(p ‖ q); f(a)_i.

        So are words that always stand before a bracket, and that nothing defines: concat(a, b).
        """
        if o.name in LETTERS_TOO:
            return o.name not in self.heads | self.declared and all(
                p.following is not None and not _indexed(p.following) and not (
                    o.name == "P" and tr.has(p.following.items, "ODOT", "PLUS", "MINUS"))  # a matrix times a vector
                for p in self.seen.all if p.name == o.name)
        if o.name in self.unexplained:
            return True
        defined = o.name in self.heads and not o.name.endswith("_bb")
        if o.following is not None and (o.name in ARRANGED or not defined and (
                is_divided(o.following) or o.name.lower() == "softmax")):
            return True
        return (o.name in OPERATORS and not defined) or o.name in self.of_vectors

    @cached_property
    def unexplained(self) -> set[str]:
        """Words in front of a bracket wherever they stand, which nothing defines."""
        words = {o.name for o in self.seen.all if len(o.name) > 2 and o.name.isalpha() and o.name not in GREEK}
        return words - self.heads - self.declared - {o.name for o in self.seen.all if (
            o.following is None or o.following.bracket != "LPAREN")}

    @cached_property
    def declared(self) -> set[str]:
        """x of x ∈ R and x ∈ R^n."""
        return {str(tr.base_of(item)) for items, _ in self.seen.shapes for item in items}

    @cached_property
    def of_vectors(self) -> set[str]:
        """f of f(a)_i = …, where f stands before another bracket: neither a number's function nor a factor."""
        heads = [(str(d.left[0]), list(tr.names_in(group.items))) for d in self.seen.definitions if len(d.left) == 2
                 and tr.is_token(d.left[0], "NAME") and tr.scripted(d.left[1]).subs
                 and tr.is_group(group := tr.base_of(d.left[1]), "LPAREN")]
        return {name for name, own in heads for o in self.seen.all if o.name == name and o.following is not None
                and list(tr.names_in(o.following.items)) != own}

    @cached_property
    def squares(self) -> set[str]:
        """σ^2 of σ^2 = …, where σ is nothing else or √(σ^2 + ε)."""
        roots = {d.name for d in self.seen.definitions if not d.is_square and d.name in [*tr.names_in(d.right)]}
        return {name for name in self.words if "^2" in name} | {
            f"{d.name}^2" for d in self.seen.definitions if d.is_square and d.name not in self.words
            and (d.name not in self.heads or d.name in roots)}

    @cached_property
    def primed(self) -> set[str]:
        """h of h' = … of a given h, o of a given o'_j, c of c = f c' + g; the prime of f'(x) is a derivative."""
        firsts = [tr.scripted(d.left[0]) for d in self.seen.definitions]
        plain, heads = ({str(i.base) for i in firsts if i.primes == n} for n in (0, 1))
        given = {o.name for o in self.seen.all if not o.primes} - plain - heads
        before = {d.name for d in self.seen.definitions for top in d.right for i in tr.inside(top)
                  if isinstance(i, tr.Scripted) and i.primes == 1 and str(i.base) == d.name}
        found = before | {o.name for o in self.seen.all if o.primes == 1 and o.is_value and (
            o.name in heads - plain or (o.at.right and (o.sub is not None and o.name not in heads or o.name in given)))}
        applied = {o.name for o in self.seen.all if o.primes and o.following is not None
                   and o.following.bracket == "LPAREN"}
        running = {n.rstrip("'") for n in self.seen.bound}
        return found - applied - self.functions - self.indices - running - {*self.words}

    # Labels.

    def label(self, which: Callable[[Occurrence], bool], leading: Callable[[tr.Items], tr.Items] = leading) -> None:
        """W_o, W_{hh}, W_1 and h_{t-1} as letters of their own: what their subscripts begin with labels them."""
        def with_label(o: Occurrence) -> Occurrence:
            if not o.sub or o.at.index or not which(o):
                return o
            first = leading(o.sub)
            label = label_text(first)
            name = f"{o.name}_{label}"
            below = label if len(label) == 1 else f"{{{label}}}"
            self.latex[name] = labelled(o.name, label) if is_word(first) else f"{latex_of(o.name)}_{below}"
            self.unlabelled[name] = o.name
            rest = behind(o.sub, first)
            return replace(o, name=name, sub=rest, bare=rest is None)

        self.renamed(map(with_label, self.seen.all))

    def labelled_sizes(self) -> None:
        """d_k of R^{n × d_k}, N_y of n = 0, …, N_y − 1: a letter of its own."""
        ends = [end for one in self.seen.running if one.names and len(one.ends) > 1 for end in one.ends]
        own = {name for _, extents in self.seen.shapes for e in extents if len(e) == 1 and (name := label_size(e[0]))}
        own |= {name for end in (*self.seen.bounds, *ends) for e in end[:1]
                if (name := label_size(e)) and is_capital(name)}
        self.label(lambda o: labelled_name(o.name, o.sub or ()) in own)
        self.sizes |= own

    def constant_labels(self) -> None:
        """B of μ_B = …, where no B stands on the right and none runs: a label."""
        for d in self.seen.definitions:
            subs = d.head.subs if d.head is not None else ()
            label = tr.variable(subs[0][0]) if len(subs) == 1 and len(subs[0]) == 1 else None
            if label is None or label in self.indices | self.tensors | self.sizes or label in tr.names_in(d.right):
                continue
            reduced = any(tr.is_token(i, "BIG") for item in d.right for i in tr.inside(item))
            alone = reduced and all(o.at.index and o.sub is None for o in self.seen.all if o.name == label)
            indexed = {o.name for o in self.seen.all if o.sub is not None and label in tr.names_in(o.sub)}
            if alone and indexed <= {f"{d.name}^2"} | self.squares | self.heads:
                self.labels.add(label)

    def labels_of_pairs(self) -> None:
        """i and j of ℓ = f(s_i − s_j), p and n of z_p = W x_p, z_n = W x_n: they run nowhere, and ℓ has none."""
        running = {*self.seen.bound, *self.indices, *(o.name for o in self.seen.all if o.bare and o.is_value)}
        running |= {n for o in self.seen.all if o.sub and o.is_value and len(o.sub) > 1 for n in tr.names_in(o.sub)}
        labels: set[str] = set()
        for d in self.seen.definitions:
            free: dict[str, set[str]] = {}
            for i in (i for item in d.right for i in tr.inside(item) if isinstance(i, tr.Scripted)):
                if tr.is_token(i.base, "NAME"):
                    free.setdefault(str(i.base), set()).update(n for s in i.subs for n in tr.names_in(s))
            if not d.local and not any(True for item in d.left for _ in below(item)):
                labels |= {n for pair in free.values() if len(pair) > 1 and not pair & running for n in pair}
        self.renamed(o for o in self.seen.all if not (o.at.index and o.name in labels))
        self.label(lambda o: not labels.isdisjoint(tr.names_in(o.sub or ())))

    def known_steps(self) -> None:
        """t of a_t, where h_t was declared before and no h was, and t runs nowhere."""
        known = {m[2] for n in self.tensors if (m := _LABELLED.fullmatch(n)) is not None and m[1] not in self.words}
        for time in sorted(known - {*self.words, *self.seen.bound, *self.indices, *self.sizes}):
            timed = self.timed(time)
            if not self.stands_as_value(time) and _all_steps([o.sub or () for o in timed], time):
                self.label(timed.__contains__, lambda sub: split_runs(sub, None)[0])

    def timed(self, time: str) -> list[Occurrence]:
        return [o for o in self.seen.all if o.sub is not None and o.is_value and time in tr.names_in(o.sub)]

    def steps(self) -> None:
        """h_{t-1} of h_t = f(h_{t-1}, x_t), where t runs nowhere: one step, with a letter for each h."""
        for d in self.seen.definitions:
            subs = d.head.subs if d.head is not None else ()
            own = split_runs(subs[0], None)[0] if len(subs) == 1 else ()
            time = _time(own) if own else None
            if time is None or time in self.indices | self.sizes | self.tensors or not self.leads(d):
                continue
            timed = self.timed(time)
            firsts = [(o, split_runs(o.sub or (), None)) for o in timed]
            single = _all_steps([o.sub or () for o in timed], time)
            later = len(own) > 1  # h_{t+1} from h_t
            back = any(o.name == d.name and o.at.right and (len(runs[0]) == 1) is later for o, runs in firsts)
            written = {(o.name, "".join(map(str, runs[0]))) for o, runs in firsts}
            distinct = len(written) == len({identifier(f"{name}_{step}") for name, step in written})
            plain = {o.name for o in self.seen.all if o.is_value and o not in timed and not o.derived}
            if single and distinct and back and not plain & {o.name for o in timed}:
                self.label(timed.__contains__, lambda sub: split_runs(sub, None)[0])

    def leads(self, d: Definition) -> bool:
        """Whether the right-hand side, written out by the other definitions, has the letter that is defined."""
        reached: set[str] = set()
        found = {*tr.names_in(d.right)}
        while found - reached:
            reached |= found
            found = {n for e in self.seen.definitions if e.name in reached - {d.name} for n in tr.names_in(e.right)}
        return d.name in reached

    def labels_at_rest(self) -> None:
        """out of y_{\\text{out}}; o of W_o, W_{o,kj}, h of W_{hh}: they run nowhere, and no W has others."""
        self.label(lambda o: is_word(o.sub or ()))
        values = [o for o in self.seen.all if o.is_value and not o.derived and o.name not in self.words]
        plain = {o.name for o in values if o.sub is None and not is_capital(o.name)} | {*self.words, *self.above}
        subs: dict[str, list[tr.Items]] = {}
        for o in values:
            used = o.at.right or o.at.declared or o.name in self.heads  # a letter that is only named shows nothing,
            if o.sub is not None and (used or {*_joined(o.sub)} & self.subscripted):  # but for the h of W_{hy}
                subs.setdefault(o.name, []).append(o.sub)
        running = self.indices | self.sizes | {n for d in self.seen.definitions for i in d.left for n in below(i)}
        while True:
            at_rest = {name for name, all_ in subs.items() if name not in plain and all(map(_joined, all_))}
            moving = {n for o in values if o.sub is not None
                      for n in tr.names_in(behind(o.sub, leading(o.sub)) or () if o.name in at_rest else o.sub)}
            new = {name for name in at_rest if {*itertools.chain(*map(_joined, subs[name]))} & (running | moving)}
            if not new:
                break
            plain |= new
        self.label(lambda o: o.name in at_rest)

    def number_labels(self) -> None:
        """W_1 and W_{2,ij}, w_0 and w_1 are letters of their own, where no W and no w has another subscript."""
        subs = {name: all_ for name, all_ in self.subs_of().items() if name not in self.words}
        biases = {name for name, all_ in subs.items() if self.is_bias(all_) or self.is_offset(name, all_)}
        stated = {str(item) for items, _ in self.seen.shapes for item in items}
        single = {name for name, all_ in subs.items() if any(all_) and name not in stated
                  and all(_numbered(s) for s in all_ if s or not is_capital(name))}
        self.label(lambda o: o.name in biases and _is_zero(o.sub or ()))
        self.label(lambda o: o.name in single)

    def is_bias(self, subs: list[tr.Items]) -> bool:
        """w_0 + Σ_j w_j x_j: beside the w_j a letter of its own, where nothing counts from 0."""
        rest = [tr.unwrap(s) for s in subs if s and not _is_zero(s)]
        letters = bool(rest) and all(len(s) == 1 and tr.is_token(s[0], "NAME") for s in rest)
        return any(map(_is_zero, subs)) and letters and not any(_is_zero(items) for items in self.seen.lowest)

    def is_offset(self, name: str, subs: list[tr.Items]) -> bool:
        """θ^⊤x + θ_0: beside the whole θ a letter of its own."""
        values = [o.sub for o in self.seen.all if o.name == name and o.at.right and o.is_value]
        return None in values and any(_is_zero(s or ()) for s in values) and all(not s or _is_zero(s) for s in subs)

    # Samples and layers.

    def samples(self) -> None:
        """x^i: a numbered sample, where i runs, or stands so on the left.

        Where i is a subscript elsewhere, as in Σ_i a_i k_j^i, only letters that always stand with both scripts, or are
        declared so, k^i ∈ R^d.
        """
        lower = {o.name for o in self.seen.all if o.at.index}
        on_left = {name for d in self.seen.definitions if d.head is not None and [*map(len, d.head.sups)] == [1]
                   and (name := tr.variable(d.head.sups[0][0]))}
        heads = {n for d in self.seen.definitions if d.head is not None for s in d.head.subs for n in tr.names_in(s)}
        layers = {m[2] for o in self.seen.all if (m := _NEIGHBOUR.match(o.name))}
        for letter in dict.fromkeys(o.above for o in self.seen.all if o.above is not None):
            own = [o for o in self.seen.all if o.above == letter]
            bases, round_ = {o.name for o in own}, all(o.round for o in own)
            runs = letter in self.indices or (round_ and letter in heads)  # y_k = w^{(k)⊤} x
            several = len(bases) > 1 or any(o.sub is not None for o in own)
            plain = runs and (several or bases <= self.declared_above) or letter in on_left
            transposed = letter == "T" and not round_  # y^T = x^T W
            if transposed or letter in layers or self.stands_as_value(letter) or not (runs if round_ else plain):
                continue
            if not runs and letter in self.subscripted:  # \delta^z_{kl} beside z_{kl}: a label
                continue
            if letter in lower and not (runs and (round_ or any(o.at.right for o in own))):
                continue
            others = {o.above for o in self.seen.all if o.name in bases and o.above is not None and o.above not in (
                lower | layers) and not self.stands_as_value(o.above)}  # ∂y^i/∂x^j
            if all(o.above in {letter, *others} or o.name in o.at.local[1:]
                   for o in self.seen.all if o.name in bases):
                self.indices |= {letter, *others}
                self.above |= dict.fromkeys(bases, f"({letter})" if round_ else letter)
        self.renamed(map(self.with_layer, self.seen.all))

    def with_layer(self, o: Occurrence) -> Occurrence:
        """h^{(l)}: a letter of its own where l numbers no samples."""
        if not o.round or o.name in self.above or o.above in self.indices:
            return o
        closing = {"(": ")", "[": "]"}[o.round]
        return replace(o, name=f"{o.name}^{o.round}{o.above}{closing}", above=None, bare=o.sub is None)

    @cached_property
    def declared_above(self) -> set[str]:
        """k of k^i ∈ R^d."""
        return {str(tr.base_of(i)) for items, _ in self.seen.shapes for i in items if tr.scripted(i).sups}


def _indexed(group: tr.Group) -> bool:
    """[i, j] and (m, n): places of entries."""
    parts = tr.split(group.items, "COMMA")
    return len(parts) > 1 and all(len(p) == 1 and tr.variable(p[0]) is not None for p in parts)


def _time(run: tr.Items) -> str | None:
    """t of h_t and of h_{t+1}; not the k of h_{k+1}, as sheets number entries with such letters."""
    further = len(run) == 3 and tr.is_token(run[1], "PLUS") and str(run[2]) == "1" and str(run[0]) not in _NUMBERING
    return tr.variable(run[0]) if len(run) == 1 or further else None


def _all_steps(subs: Iterable[tr.Items], time: str) -> bool:
    """Each opens with t, t − 1 or t + 1, and has no further t."""
    split = (split_runs(sub, None) for sub in subs)
    return all(tr.is_step(runs[0]) and str(runs[0][0]) == time and time not in tr.names_in(
        [*itertools.chain(*runs[1:])]) for runs in split)


def _joined(sub: tr.Items) -> list[str]:
    """h, h of W_{hh} and of W_{hh,kj}; nothing where the subscript opens with more than letters side by side, or has
    all of an axis, as W_{k,:}."""
    items = leading(sub)
    letters = all(tr.is_token(item, "NAME") for item in items) and not tr.has(sub, "COLON")
    return list(map(str, items)) if letters else []


def below(item: tr.Item) -> Iterable[str]:
    """The letters in the subscripts of a head."""
    for sub in tr.scripted(item).subs:
        yield from tr.names_in(sub)


def label_size(item: tr.Item) -> str | None:
    """d_k of d_k, n_1 of n_1, where it is a size: a letter with a label or a number."""
    item = tr.scripted(item)
    sub = item.subs[0][0] if len(item.subs) == 1 and len(item.subs[0]) == 1 and not item.sups else None
    label = str(sub) if tr.is_token(sub, "NUMBER") else tr.label_of(sub)
    return None if label is None or not tr.is_token(item.base, "NAME") else f"{item.base}_{label}"


def is_number(items: tr.Items) -> bool:
    items = tr.unwrap(items)
    return len(items) == 1 and tr.is_token(items[0], "NUMBER")


def _numbered(sub: tr.Items) -> bool:
    """1 of W_1, and of W_{1,ij} with letters behind it: not of W_{1,2}."""
    rest = behind(sub, leading(sub)) or ()
    return is_number(leading(sub)) and all(tr.is_token(item, "NAME", "COMMA") for item in rest)


def _is_zero(items: tr.Items) -> bool:
    return is_number(items) and str(tr.unwrap(items)[0]) == "0"
