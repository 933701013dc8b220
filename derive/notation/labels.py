"""Labels and steps: what stands in a subscript and runs nowhere makes a letter of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

from derive.notation import tree as tr
from derive.notation.evidence import Evidence
from derive.notation.occurrences import Occurrence
from derive.notation.pieces import Definition, behind, is_word, label_text, leading, split_runs
from derive.notation.symbols import identifier, is_capital, labelled, latex_of

_NUMBERING = frozenset("ijklmnpqruvabc")


class Labels(Evidence):
    """Letters with labels, and those of single steps, as letters of their own."""

    def constant_labels(self) -> None:
        """B of μ_B = …, where no B stands on the right and none runs: a label."""
        for d in self.seen.definitions:
            head = tr.normal(d.left[0])
            if len(d.left) == 1 and isinstance(head, tr.Scripted) and len(head.subs) == 1 and len(head.subs[0]) == 1:
                label = tr.variable(head.subs[0][0])
                if label is None or label in self.indices | self.tensors | self.sizes or label in tr.names_in(d.right):
                    continue
                reduced = any(tr.is_token(below, "BIG") for item in d.right for below in tr.inside(item))
                alone = reduced and all(o.in_index and o.sub is None for o in self.seen.all if o.name == label)
                tensor = tr.label_of(tr.base_of(d.left[0]))
                indexed = {o.name for o in self.seen.all if o.sub is not None and label in tr.names_in(o.sub)}
                if alone and indexed <= {tensor, f"{tensor}^2"} | self.squares | self.heads:
                    self.labels.add(label)

    def labels_at_rest(self) -> None:
        """out of y_{\\text{out}}; o of W_o, W_{o,kj}, h of W_{hh}: they run nowhere, and no W has others."""
        self.label(lambda o: is_word(o.sub or ()))
        values = [o for o in self.seen.all if not o.in_index and not o.derived and o.name not in self.words]
        plain = {o.name for o in values if o.sub is None and not is_capital(o.name)} | {*self.words, *self.above}
        subs: dict[str, list[tr.Items]] = {}
        for o in values:
            used = o.right or o.declared or o.name in self.heads  # a letter that is only named shows nothing,
            if o.sub is not None and (used or {*_joined(o.sub)} & self.subscripted):  # but for the h of W_{hy}
                subs.setdefault(o.name, []).append(o.sub)
        heads = {n for d in self.seen.definitions for item in d.left for n in _below(item)}
        running = self.indices | self.sizes | heads
        while True:
            at_rest = {name for name, all_ in subs.items() if name not in plain and all(map(_joined, all_))}
            moving = {n for o in values if o.sub is not None
                      for n in tr.names_in(behind(o.sub, leading(o.sub)) or () if o.name in at_rest else o.sub)}
            new = {name for name in at_rest if {*itertools.chain(*map(_joined, subs[name]))} & (running | moving)}
            if not new:
                break
            plain |= new
        self.label(lambda o: o.name in at_rest)

    def labels_of_pairs(self) -> None:
        """i and j of ℓ = f(s_i − s_j), p and n of z_p = W x_p, z_n = W x_n: they run nowhere, and ℓ has none."""
        running = {*self.seen.bound, *self.indices, *(o.name for o in self.seen.all if o.bare and not o.in_index)}
        running |= {n for o in self.seen.all if o.sub and not o.in_index and len(o.sub) > 1 for n in tr.names_in(o.sub)}
        labels: set[str] = set()
        for d in self.seen.definitions:
            if any(True for item in d.left for _ in _below(item)) or d.local:
                continue
            free: dict[str, set[str]] = {}
            for i in (i for item in d.right for i in tr.inside(item) if isinstance(i, tr.Scripted)):
                if tr.is_token(i.base, "NAME"):
                    free.setdefault(str(i.base), set()).update(n for s in i.subs for n in tr.names_in(s))
            labels |= {n for pair in free.values() if len(pair) > 1 and not pair & running for n in pair}
        self.renamed(o for o in self.seen.all if not (o.in_index and o.name in labels))
        self.label(lambda o: not labels.isdisjoint(tr.names_in(o.sub or ())))

    def steps(self) -> None:
        """h_{t-1} of h_t = f(h_{t-1}, x_t), where t runs nowhere: one step, with a letter for each h."""
        for d in self.seen.definitions:
            head = tr.normal(d.left[0])
            own = head.subs[0] if len(d.left) == 1 and isinstance(head, tr.Scripted) and len(head.subs) == 1 else ()
            time = _time(split_runs(own, None)[0]) if own else None
            base = tr.label_of(tr.base_of(d.left[0]))
            if time is None or time in self.indices | self.sizes | self.tensors:
                continue
            timed = [o for o in self.seen.all if o.sub is not None and not o.in_index and time in tr.names_in(o.sub)]
            firsts = [(o, split_runs(o.sub or (), None)) for o in timed]
            single = all(_step(runs[0], time) and time not in tr.names_in([*itertools.chain(*runs[1:])])
                         for _, runs in firsts)
            later = len(split_runs(own, None)[0]) > 1  # h_{t+1} from h_t
            back = any(o.name == base and o.right and (len(runs[0]) == 1) is later for o, runs in firsts)
            written = {(o.name, "".join(map(str, runs[0]))) for o, runs in firsts}
            single = single and len(written) == len({identifier(f"{name}_{step}") for name, step in written})
            plain = {o.name for o in self.seen.all if not o.in_index and o not in timed and not o.derived}
            if single and back and self.leads(d) and not plain & {o.name for o in timed}:
                self.label(timed.__contains__, lambda sub: split_runs(sub, None)[0])

    def leads(self, d: Definition) -> bool:
        """Whether the right-hand side, written out by the other definitions, has the letter that is defined."""
        base = tr.label_of(tr.base_of(d.left[0]))
        reached: set[str] = set()
        found = {*tr.names_in(d.right)}
        while found - reached:
            reached |= found
            found = {n for e in self.seen.definitions if tr.label_of(tr.base_of(e.left[0])) in reached - {base}
                     for n in tr.names_in(e.right)}
        return base in reached

    def label(self, which: Callable[[Occurrence], bool], leading: Callable[[tr.Items], tr.Items] = leading) -> None:
        """W_o, W_{hh}, W_1 and h_{t-1} as letters of their own: what their subscripts begin with labels them."""
        def with_label(o: Occurrence) -> Occurrence:
            if not o.sub or o.in_index or not which(o):
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


def _time(run: tr.Items) -> str | None:
    """t of h_t and of h_{t+1}; not the k of h_{k+1}, as sheets number entries with such letters."""
    further = len(run) == 3 and tr.is_token(run[1], "PLUS") and str(run[2]) == "1" and str(run[0]) not in _NUMBERING
    return tr.variable(run[0]) if len(run) == 1 or further else None


def _step(run: tr.Items, time: str) -> bool:
    """t, t − 1, t + 1."""
    kinds = [i.type if isinstance(i, tr.Token) else "" for i in run]
    return kinds in (["NAME"], ["NAME", "MINUS", "NUMBER"], ["NAME", "PLUS", "NUMBER"]) and str(run[0]) == time


def _joined(sub: tr.Items) -> list[str]:
    """h, h of W_{hh} and of W_{hh,kj}; nothing where the subscript opens with more than letters side by side."""
    items = leading(sub)
    return list(map(str, items)) if all(tr.is_token(item, "NAME") for item in items) else []


def _below(item: tr.Item) -> Iterable[str]:
    """The letters in the subscripts of a head."""
    item = tr.normal(item)
    for sub in item.subs if isinstance(item, tr.Scripted) else ():
        yield from tr.names_in(sub)
