"""Whether a weight matrix that words name has a row for each unit or a column, and the spaces that the card states."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.question.parts.chain import Chain
from derive.question.parts.recognised import ONE_EACH, Part
from derive.question.requests.quotients import without_fonts

_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*\^\s*(?:\{([^{}]*)\}|([A-Za-z]))")
_NUMBER = re.compile(r"\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?)\s*\\in\s*"
                     r"(?:\\mathbb\s*\{?\s*R\s*\}?|\\\{\s*(?:0|-\s*1)\s*,\s*\+?\s*1\s*\\\})\s*")
_FROM_TO = re.compile(
    r"\b(?:goes |leads )?from (?:the )?(?:input|unit|neuron|feature) (∎) to (?:the )?(?:output|unit|neuron) (∎)")
_INDEXED = re.compile(r"\s*(\\?[A-Za-z]+)\s*_\s*(?:\{([a-z](?:\s*,?\s*[a-z])*)\}|([a-z]))\s*")
_BY_ENTRY = re.compile(r"\\partial\s*\\?[A-Za-z]+_(\{?\w\}?)\s*(?:\}\s*\{|/)\s*\\partial\s*\\?[A-Za-z]+_(\{?\w\}?)")


def declared(chain: Chain, letter: str) -> tuple[str, ...]:
    r"""C, H and W of X \in \mathbb{R}^{C \times H \times W}: the extents that the card states of a letter."""
    return next((sizes for listed, sizes in spaces(chain) if letter in listed), ())


def is_number(chain: Chain, *letters: str | None) -> bool:
    r"""Whether one of the letters is a number: z of $z \in \mathbb{R}$, t of $t \in \{0, 1\}$."""
    return any(found[1] in letters for gap in chain.prose.gaps
               if (found := _NUMBER.fullmatch(without_fonts(gap.formula.latex))) is not None)


def spaces(chain: Chain) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """The letters and the extents of each space that the card states."""
    for gap in chain.prose.gaps:
        if space := _SPACE.search(gap.formula.latex):
            listed = re.findall(r"\\?[A-Za-z]+", gap.formula.latex[: space.start()])
            yield listed, tuple(part.strip() for part in (space[1] or space[2]).split(r"\times"))


def turned(chain: Chain, part: Part, weight: str | None, bias: str | None, source: str | None) -> bool:
    r"""Whether W has a column for each unit, as the spaces and the indices of $W$, $x$ and $b$ say.

    ``source`` is the letter of the input of a first layer.
    Raises :class:`CardError` for a matrix of samples where they do not.
    """
    if (rows := _by_index(chain, part, weight, bias, source)) is not None:
        return rows
    if (said := ONE_EACH.search(chain.prose.text)) is not None:
        return said[1] == "column"
    extents, units = declared(chain, weight or ""), declared(chain, bias or "")
    batch = chain.batch
    taken = declared(chain, source or "")[-1:]
    if batch is not None and batch.matrix is not None and batch.samples.last:
        taken = declared(chain, source or "")[:1]
    if len(extents) == 2 and extents[0] != extents[1]:
        if taken and taken[0] in extents:
            return taken[0] == extents[0]
        if len(units) == 1 and units[0] in extents:
            return units[0] == extents[1]
    if batch is not None and batch.matrix is not None:
        raise chain.unclear(part, ": has its matrix a row for each unit, or a column? State its shape, e.g. "
                                 rf"`{weight or 'W'} \in \mathbb{{R}}^{{K \times D}}`, and that of its input")
    return False


def _by_index(chain: Chain, part: Part, weight: str | None, bias: str | None, source: str | None) -> bool | None:
    r"""Whether $w_{ij}$ has a column for each unit, as $b_j$ and «from the input $i$ to the output $j$» say.

    Raises :class:`CardError` where they say both; None where no letter has such an index.
    """
    own = _indices_of(chain, weight)
    if len(own) != 2 or own[0] == own[1]:
        return None
    asked = {tuple(re.sub(r"[{}\s,]", "", c) for c in found.groups()) for gap in chain.prose.gaps
             if (found := _BY_ENTRY.search(without_fonts(gap.formula.latex)))}
    said = _FROM_TO.search(chain.prose.text)
    chain.understood += [said.span()] if said is not None else []
    places = [gap.formula.latex.strip() for gap in chain.prose.gaps
              if said is not None and gap.start in (said.start(1), said.start(2))]
    outer = {*_indices_of(chain, bias), *_indices_of(chain, part.letters.get("output")), *places[1:]} & {*own}
    inner = {*_indices_of(chain, source), *places[:1]} & {*own}
    turned = {own[0] in inner} if inner else set()
    turned |= {own[1] in outer} if outer else set()
    if source and not turned and (own[1], own[0]) in asked:  # ∂y_j/∂x_i of $w_{ij}$
        turned = {True, False}
    if len({*outer, *inner}) < len(outer) + len(inner) or len(turned) > 1:
        raise chain.unclear(part, f": which index of `{weight}` counts the units? Write the forward formulas")
    return next(iter(turned), None)


def _indices_of(chain: Chain, letter: str | None) -> str:
    r"""ij of $w_{ij}$, where the card first writes the letter with indices, and not in a derivative."""
    for gap in chain.prose.gaps:
        found = _INDEXED.fullmatch(without_fonts(gap.formula.latex))
        if found is not None and found[1] == letter:
            return re.sub(r"[\s,]", "", found[2] or found[3])
    return ""
