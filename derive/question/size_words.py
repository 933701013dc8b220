"""The words that call a letter a number, a size or a dimension."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.question.patterns import one_of
from derive.question.prose import Prose

_LETTER = re.compile(r"\s*(\\?[A-Za-z]+(?:_\{?\\?[A-Za-z]+\}?)?)\s*")
_KIND = (
    r"(?:number of|total number|size of|batch size|mini-?batch size|dimension|length of|count of|depth of|\w* ?size\b"
    r"|počet|velikost|rozměr|dimenze|délka)"
)
_IS = re.compile(
    r"[\s,]*(?:is|are|denotes?|being|represents?|stands? for|je|značí|označuje|=|-|–)\s+(?:the |a |an )?(?:\w+ ){0,2}?"
    + _KIND
)
_OF = r"(?:batch|mini-?batch|vocabulary|sample|kernel|filter|window|input|output|hidden|layer)"
_BEFORE = one_of(
    r"number of [\w\s-]{1,30}\s*$", rf"{_OF} sizes?(?: of)?\s*$",
    r"dimension(?:s|ality)?(?: of)?(?: [\w-]+){0,3}\s*$", r"(?:of|with) (?:length|size)\s*$",
    r"počet [\w\s]{1,30}\s*$", r"(?:velikost|dimenz|rozměr|délk)\w*\s*$", r"(?:(?:mini-?)?batch of|set of)\s*$",
)  # fmt: skip
_AFTER = re.compile(
    r"(?:-dimensional|-dim\b|-element"
    r"| (?:samples|examples|classes|inputs|outputs|units|neurons|features|observations|data ?points|elements|entries"
    r"|training (?:samples|examples|patterns)|dimensions|components|channels|hidden units|keys|patterns"
    r"|tříd\w*|vzork\w*|prvk\w*|neuron\w*|jednot\w*|výstup\w*|vstup\w*))\b"
)


def sizes_said(prose: Prose) -> Iterator[str]:
    """The LaTeX of letters that the words call a size: «where $n$ is the number of samples», «$K$ classes»."""
    for gap in prose.gaps:
        latex = gap.formula.latex
        letter = _LETTER.fullmatch(latex)
        if letter is None:
            continue
        rest = prose.text[gap.start + 1 : gap.start + 80]
        before = prose.text[max(0, gap.start - 60) : gap.start]
        if _IS.match(rest) or _BEFORE.search(before) or _AFTER.match(rest):
            yield letter[1]
