r"""A chain over the samples of a batch: L = \frac{1}{N} \sum_{n=1}^{N} \ell_n of x_{nj}, s_{nk}, t_{nk}.

What a layer computes has an index more, of the sample; its parameters have none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from derive.errors import CardError
from derive.layers.catalogue import Layer
from derive.layers.layout import Laid
from derive.layers.lettering import indices
from derive.layers.linear import TIMES
from derive.records import dataclass

SIZE = r"\samples"  # stands for the number of samples
EXTENTS = tuple(rf"\extent{c}" for c in "abcd")  # … for the extents of one of them
_CHOICES = "nmirpquv"
_PLACES = re.compile(
    r"\\(?:text|operatorname|begin|end)\s*\{[^{}]*\}|\\mathbb\s*\{R\}"
    r"|(?P<letter>\\hat\{[A-Za-z]\}|\\[A-Za-z]+|[A-Za-z])(?:_(?:\{(?P<axes>[^{}]*)\}|(?P<axis>[A-Za-z])))?")
_SHAPE = re.compile(r"(?P<letter>\\?[A-Za-z]+) \\in \\mathbb\{R\}\^\{(?P<sizes>.*)\}")


@dataclass(frozen=True)
class Samples:
    """So many samples, a letter or a number, and how a loss takes them: ``"mean"``, ``"sum"``, or not at all.

    With ``last`` they are the columns of what a layer takes.
    """

    size: str = ""
    loss: str = ""
    last: bool = False


def over_samples(laid: Sequence[Laid], samples: Samples) -> list[Laid]:
    """The parts with an index of the sample in all that they compute, in their inputs and targets.

    Raises :class:`CardError` for a loss of which nothing says how it takes the samples.
    """
    taken = {c for p in laid for t in (*p.forward.formulas, *p.forward.ranges) for c in indices(t)}
    taken |= {c for p in laid if isinstance(p.spec, Layer) for c in p.spec.letters}
    index = next(c for c in _CHOICES if c not in taken)
    found = [_over(part, index, samples) for part in laid]
    first = found[0].forward
    if not samples.loss and not any(s.startswith("x ") for s in first.shapes):
        sizes = [SIZE, *EXTENTS[: found[0].rank]]
        shape = rf"x \in \mathbb{{R}}^{{{TIMES.join(sizes[::-1] if samples.last else sizes)}}}"
        found[0] = replace(found[0], forward=replace(first, shapes=(*first.shapes, shape)))
    return found


def _over(part: Laid, index: str, samples: Samples) -> Laid:
    if isinstance(part.spec, Layer) and part.spec.of_batch:
        return part
    varying = _varying(part)

    def indexed(text: str) -> str:
        return _indexed(text, varying, index, samples.last)

    whole = part.forward.axes is not None  # Y = X W^T
    if whole and samples.last:
        raise CardError(f"`{part.spec.name}` with a label in its matrix, and samples in columns; write its formula")
    formulas = [text if whole else indexed(text) for text in part.forward.formulas]
    if isinstance(part.spec, Layer) and part.spec.kind == "loss":
        formulas[-1] = _taken(formulas[-1], index, samples.loss)
    shapes = tuple(_with_size(text, varying, samples.last) for text in part.forward.shapes)
    forward = replace(part.forward, formulas=tuple(formulas), shapes=shapes)
    return replace(part, forward=forward, facts=tuple(map(indexed, part.facts)))


def _varying(part: Laid) -> set[str]:
    """The letters of a declaration that differ from sample to sample."""
    if not isinstance(part.spec, Layer):
        return {"x", "f"}
    own = {c for c, letter in part.spec.letters.items() if letter.role in ("", "inputs") or letter.what == "target"}
    return {"x", "y", r"\hat{x}", *own} - {"L"}


def _indexed(latex: str, varying: Collection[str], index: str, last: bool) -> str:
    """x_{nj} of x_{j}."""

    def with_index(match: re.Match[str]) -> str:
        if match["letter"] not in varying:
            return match[0]
        axes = match["axes"] or match["axis"] or ""
        apart = "," if re.search(r"[^A-Za-z]", axes) else ""
        return f"{match['letter']}_{{{axes + apart + index if last else index + apart + axes}}}"

    return _PLACES.sub(with_index, latex)


def _with_size(shape: str, varying: Collection[str], last: bool) -> str:
    found = _SHAPE.fullmatch(shape)
    if found is None or found["letter"] not in varying:
        return shape
    sizes = (found["sizes"], SIZE) if last else (SIZE, found["sizes"])
    return rf"{found['letter']} \in \mathbb{{R}}^{{{TIMES.join(sizes)}}}"


def _taken(formula: str, index: str, how: str) -> str:
    r"""L = \frac{1}{N} \sum_{n=1}^{N} of what one sample loses."""
    if how not in ("mean", "sum"):
        raise CardError("a loss of several samples: is it their mean, or their sum?")
    head, _, body = formula.partition(" = ")
    sign = "-" if body.startswith("-") else ""
    body = body[len(sign):]
    if _is_sum(body):
        sign, body = "", rf"\left({sign}{body}\right)"
    share = rf"\frac{{1}}{{{SIZE}}} " if how == "mean" else ""
    return rf"{head} = {sign}{share}\sum_{{{index}=1}}^{{{SIZE}}} {body}"


def _is_sum(latex: str) -> bool:
    """A + or − stands outside of all brackets, cases and absolute values."""
    depth, inside = 0, False
    for sign in re.findall(r"\\(?:begin|end)|[(){}|+-]", latex):
        inside ^= sign == "|"
        depth += (sign in "({" or sign == r"\begin") - (sign in ")}" or sign == r"\end")
        if sign in "+-" and not depth and not inside:
            return True
    return False
