"""Dropout with a given mask in words: whether what is kept is divided, and by the probability of keeping or of not."""

from __future__ import annotations

import re
from typing import Any

from derive.question.parts.chain import Chain
from derive.question.parts.recognised import Part
from derive.question.requests.quotients import without_fonts
from derive.question.words.lexicon import ends, named

_VALUE = re.compile(r"\s*(\\?[A-Za-z]+)(?:_\{?\w+\}?)?\s*=\s*([01])\s*")
_KEPT = re.compile(r"(1\s*/\s*|\\[dt]?frac\s*\{?1\}?\s*)?[({]*\s*(1\s*-\s*)?(\\?[A-Za-z]+)\s*[)}]*")
_CLAUSE = re.compile(r"[^,;:.¶()]*")
_TO_WRITE = (": write “with the mask $m$”, and “inverted dropout … with keep probability $p$” (or “drop probability”) "
             "where what is kept is divided by it, or its forward formula")


def dropout_said(chain: Chain, part: Part) -> dict[str, Any]:
    """The options of the catalogue's dropout; the words that say them are understood.

    Raises :class:`CardError` where the mask, or a probability that what is kept is divided by, is not named, or what
    is said of them is something else.
    """
    rates = [what for what in ("keep", "drop") if what in part.letters]
    text = chain.prose.text
    divided = bool(named(text, "own.inverted"))
    for gap in chain.prose.gaps:
        latex = without_fonts(gap.formula.latex).strip()
        if (value := _VALUE.fullmatch(latex)) and value[1] == part.letters.get("mask"):
            start = max(text.rfind(sign, 0, gap.start) for sign in ",;:.¶()") + 1
            stop = gap.start + 1 + len(_CLAUSE.match(text, gap.start + 1)[0])  # type: ignore[index]
            said = {s.concept for s in named(text[start:stop], "kept")}
            if said != {"kept.no" if value[2] == "0" else "kept.yes"} or named(text[start:stop], "not.no"):
                raise chain.unclear(part, f": what does `{latex}` mean? Write “where $m_i = 1$ means that unit $i$ is "
                                          "kept”")
            chain.understood.append((start, stop))
        elif ends(text[: gap.start], "own.scaled", "own.divided") and (by := _KEPT.fullmatch(latex)):
            of_rate = [by[3]] == [part.letters[what] for what in rates] and bool(by[2]) == (rates == ["drop"])
            if not of_rate or bool(by[1]) != ends(text[: gap.start], "own.scaled"):
                raise chain.unclear(part, f": is what is kept divided by the probability of keeping it, and not by "
                                          f"`{latex}`? Write its forward formula")
            divided = True
            chain.understood.append((gap.start, gap.start + 1))
    if "mask" not in part.letters or len(rates) != divided or len(rates) > 1:
        raise chain.unclear(part, _TO_WRITE)
    chain.understood += [(s.start, s.stop) for s in named(text, "dropped", "own.scaled", "own.divided", "own.inverted")]
    return {"inverted": divided, "drop": rates == ["drop"]}
