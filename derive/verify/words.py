"""Formulas inside sentences: each was derived and read back, or is quoted from the card."""

from __future__ import annotations

import re
from collections.abc import Iterable

from derive.sheet import Bullets, Prose, Sheet, Table
from derive.verify.report import Check, Verdict

_INLINE = re.compile(r"\$([^$]+)\$")


def words(sheet: Sheet, readings: Iterable[str]) -> list[Check]:
    """Formulas in sentences that were neither derived and read back nor quoted from the card: none is a template's."""
    known = {m.latex for m in sheet.inline}
    known |= {formula for reading in readings for formula in _INLINE.findall(reading)}
    texts: list[str] = []
    for block in sheet.blocks():
        if isinstance(block, Prose):
            texts.append(block.text)
        elif isinstance(block, Bullets):
            texts += block.items
        elif isinstance(block, Table):
            texts += [cell for row in (block.header, *block.rows) for cell in row]
    return [Check("words", formula, Verdict.NOT_READ, "it stands in the words and was not derived")
            for text in texts for formula in _INLINE.findall(text) if formula not in known]
