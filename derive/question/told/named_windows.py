"""Normalisations and poolings that clauses name, as formulas: “is layer-normalised …, the result is $u$”."""

from __future__ import annotations

import itertools
import re
from typing import Any

from derive.layers import compose
from derive.layers.chain import Part
from derive.notation.symbols import name_of
from derive.question.sentences.tokens import Token
from derive.question.told.clauses import Clause, of
from derive.question.told.named_costs import Costs
from derive.question.told.named_values import Value
from derive.question.told.values import Unread

NORMS = frozenset({"layer_norm", "batch_norm"})
_MEAN = re.compile(r"\\frac\{1\}\{(\w)\} \\sum_\{(\w)\}")
_LISTED = re.compile(r"_\s*\{?(\d+)\}?\s*,")  # x_1, \dots, x_{2J}
_BELOW = re.compile(r"_\s*(?:\{([A-Za-z, ]+)\}|([A-Za-z]))")  # m_c
_ALL = frozenset("all global scalar single whole entire every".split())
_MOST = 9  # entries of a window that are written one by one


class Windows(Costs):
    """The part of a writing that takes means and maxima over axes and windows."""

    def normalised(self, part: Part, source: Value, letter: str) -> tuple[list[str], tuple[str, ...]]:
        r"""\mu = \frac{1}{C} \sum_{k=1}^{C} x_k, …: the extents are those of what is normalised."""
        out = self.table.named(name_of(letter))
        axes = source.axes or (tuple(out.axes) if out is not None else ()) or ("k",)
        batch = part.name == "batch_norm"
        if len(axes) != (2 if batch else 1) or batch and not self.counts_samples(axes[0]):
            raise Unread("what is normalised")
        composed = compose([part], rank=len(axes), letters=self.letters(source.letter, letter))
        found = _MEAN.search(composed.formulas[0])
        if found is None:
            raise Unread("the mean")
        symbol = self.table.named(name_of(source.letter))
        known = symbol.sizes[0] if symbol is not None and symbol.sizes else None
        size = self.extent(axes[0]) or (str(known) if known is not None else found[1])
        mean = rf"\frac{{1}}{{{size}}} \sum_{{{found[2]}=1}}^{{{size}}}"
        return [_MEAN.sub(lambda _: mean, text) for text in composed.formulas], axes

    def reduced(self, clause: Clause, op: str, over: Any) -> tuple[list[str], list[str]]:
        r"""y_c = \operatorname{mean}_{i,j} x_{cij}: over the axes that what comes out does not have."""
        source = self.value(clause.parts.get("in"), clause)
        letter, noun = self.output(clause.parts.get("out"), clause)
        token = of(clause.parts.get("out")).get("letter", clause.behind)
        kept = self.subscripts(token)
        known = self.table.named(name_of(letter))
        kept = kept or (tuple(known.axes) if known is not None else ())
        axes = source.axes or (("k",) if source.letter.islower() and not source.latex else ())
        gone = [a for a in axes if a not in kept]
        whole = not {t.text for t in clause.tokens[clause.first : clause.last]}.isdisjoint(_ALL)
        told = isinstance(over, Token) and gone != [over.formula.latex.strip()]
        if not gone or not {*kept} <= {*axes} or len(gone) > 1 and not (kept or whole) or told:
            raise Unread("over what")
        mentioned = self.mention(source)
        self.makes(clause, letter, noun, tuple(a for a in axes if a in kept), op)
        sign = r"\operatorname{mean}" if op == "mean" else rf"\{op}"
        left = f"{letter}_{{{''.join(kept)}}}" if kept else letter
        return [rf"{left} = {sign}_{{{','.join(gone)}}} {source.letter}_{{{''.join(axes)}}}"], mentioned

    def scaled(self, clause: Clause, by: dict[str, Any]) -> tuple[list[str], list[str]]:
        r"""y_k = g_k x_k of a vector or of gains with subscripts, y_k = a x_k of a factor."""
        source = self.value(clause.parts.get("in"), clause)
        letter, noun = self.output(clause.parts.get("out"), clause)
        token, called = by["letter"], str(by["noun"]).split()
        own, axes = self.subscripts(token), source.axes or (("k",) if source.letter.islower() else ())
        each = bool(own) or "vector" in called
        if source.latex or not each and called[-1] not in ("factor", "scalar", "number", "constant") or (
                each and own not in ((), axes[-1:])) or not axes or "matrix" in called:
            raise Unread("by what is scaled")
        mentioned = [*self.mention(source), f"{by['noun']} ${self.written[token.start]}$"]
        self.makes(clause, letter, noun, axes, "scaled")
        below = "".join(axes)
        gain = f"{self.letter(token)}_{{{axes[-1]}}}" if each else self.letter(token)
        return [f"{letter}_{{{below}}} = {gain} {source.letter}_{{{below}}}"], mentioned

    def added(self, clause: Clause) -> tuple[list[str], list[str]]:
        r"""y_k = h_k + x_k, of two values that are written with one and the same index."""
        more = of(clause.parts["more"]).get("letter")
        if not isinstance(more, Token):
            raise Unread("what is added")
        other = self.known(self.letter(more), more, of(clause.parts["more"]).get("noun", ""))
        source = self.value(clause.parts.get("in"), clause)
        self.used.add(name_of(other.letter))
        letter, noun = self.output(clause.parts["out"], clause)
        axes = source.axes or other.axes or (("k",) if source.letter.islower() and other.letter.islower() else ())
        same = {len(own) for own in (source.axes, other.axes) if own}
        if source.latex or other.letter == source.letter or not axes or len(same) > 1:
            raise Unread("what is added to what")
        mentioned = [*self.mention(source), *self.mention(other)]
        self.makes(clause, letter, noun, axes, "added")
        below = "".join(axes)
        return [f"{letter}_{{{below}}} = {source.letter}_{{{below}}} + {other.letter}_{{{below}}}"], mentioned

    def subscripts(self, token: Token | None) -> tuple[str, ...]:
        """c of $m_c$, as the card writes it."""
        found = _BELOW.search(self.written.get(token.start, "")) if token is not None and token.formulas else None
        return tuple(re.findall(r"[A-Za-z]", found[1] or found[2])) if found else ()

    def pooled(self, given: dict[str, Any], source: Value, letter: str, op: str, said: Any) -> tuple[
            list[str], tuple[str, ...]]:
        r"""p_{ij} = \frac{1}{4} \sum_{a=0}^{1} \sum_{b=0}^{1} x_{2i+a,2j+b}; counted from 1, x_{2j-1} and x_{2j}."""
        kernel, stride = given["kernel_size"], given["stride"]
        if given.keys() - {"kernel_size", "stride", "dilation"} or {*given["dilation"]} != {1}:
            raise Unread("the windows")
        out = self.table.named(name_of(letter))
        axes = tuple(out.axes) if out is not None and out.axes else source.axes or ()
        if len(axes) < len(kernel) or source.axes and len(source.axes) != len(axes):
            raise Unread("the axes of the windows")
        lead, own = axes[: -len(kernel)], axes[-len(kernel) :]
        base = self.first_index([source.token, of(said).get("letter")], own)
        offsets = [c for c in "abpqr" if c not in (*self.taken, *axes)][: len(kernel)]
        apart = "," if len(axes) > 1 else ""

        def entry(at: tuple[Any, ...]) -> str:
            inner = (_affine(s, i, base, a) for s, i, a in zip(stride, own, at, strict=True))
            return rf"{source.letter}_{{{apart.join((*lead, *inner))}}}"

        count = 1
        for k in kernel:
            count *= k
        if base:
            if count > _MOST:
                raise Unread("a window of so many entries")
            entries = [entry(at) for at in itertools.product(*map(range, kernel))]
            listed = rf"\{op}({', '.join(entries)})" if op in ("max", "min") else f"({' + '.join(entries)})"
        else:
            each = rf"\{op}_{{0 \le %s \le %s}}" if op in ("max", "min") else r"\sum_{%s=0}^{%s}"
            listed = " ".join([*(each % (c, k - 1) for c, k in zip(offsets, kernel, strict=True)), entry((*offsets,))])
        share = rf"\frac{{1}}{{{count}}} " if op == "avg" else ""
        return [rf"{letter}_{{{apart.join(axes)}}} = {share}{listed}"], axes

    def first_index(self, tokens: list[Token | None], axes: tuple[str, ...]) -> int:
        """0 or 1, with which what is pooled begins, and what comes out with it."""
        listed = (_LISTED.search(self.written[token.start]) for token in tokens if token is not None)
        said = {found[1] for found in listed if found} | {first for i in axes if (first := self.range_of(i)[0])}
        said = said or {"0"}
        if len(said) > 1 or not said <= {"0", "1"}:
            raise Unread("with which number the windows begin")
        return int(said.pop())


def _affine(stride: int, index: str, base: int, offset: Any) -> str:
    """2i + a of windows that begin with 0; 2j - 1 and 2j of those that begin with 1."""
    scaled = index if stride == 1 else f"{stride}{index}"
    if isinstance(offset, str):
        return f"{scaled}+{offset}"
    shift = offset + base - stride * base
    return f"{scaled}{shift:+d}" if shift else scaled
