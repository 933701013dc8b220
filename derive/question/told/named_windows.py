"""Normalisations and poolings that clauses name, as formulas: “is layer-normalised …, the result is $u$”."""

from __future__ import annotations

import itertools
import re
from typing import Any

from derive.layers import compose
from derive.layers.chain import Part
from derive.notation.symbols import name_of
from derive.question.sentences.tokens import Token
from derive.question.told.clauses import of
from derive.question.told.named_entries import Entries
from derive.question.told.named_values import Value
from derive.question.told.values import Unread

NORMS = frozenset({"layer_norm", "batch_norm"})
_MEAN = re.compile(r"\\frac\{1\}\{(\w)\} \\sum_\{(\w)\}")
_LISTED = re.compile(r"_\s*\{?(\d+)\}?\s*,")  # x_1, \dots, x_{2J}
_MOST = 9  # entries of a window that are written one by one


class Windows(Entries):
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
