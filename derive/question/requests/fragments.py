"""Requests without a verb: “Forward, backward and parameter message. (4p)” is read as if “Derive the” stood there."""

from __future__ import annotations

import re
from dataclasses import replace

from derive.card import Card
from derive.sections import lines_of

_TO = r"(?:\s+(?:for|to|of|w\.r\.t\.|with respect to)\s+\$[^$\n]+\$(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)\$[^$\n]+\$)*)"
_KIND = rf"(?:(?:forward|backward|parameter)(?:\s+(?:messages?|pass(?:es)?))?{_TO}?|(?:three\s+)?messages)"
_OF = r"(?:\s+(?:of|for)\s+(?:the|this)(?:\s+whole)?\s+(?:layer|unit|block|network|cell|module))?"
_AND = r"(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*/\s*)"
_LISTED = rf"(?:(?:the|all(?:\s+the)?)\s+)?{_KIND}(?:{_AND}(?:the\s+)?{_KIND})*(?<=[\w$]){_OF}"
_BEGINS = r"\A\s*|[.?!)]\s+|\$\$\s+|\n[ \t]*\n[ \t]*|\n[ \t]*(?:[-*]|\d+[.)]|\([a-z]\))[ \t]*"
_ENDS = r"(?:\s+(?:please|pls))?(?=\s*(?:[.?!(\[]|\Z|\n))"
_FRAGMENT = re.compile(rf"(?P<before>{_BEGINS})(?P<asked>{_LISTED}){_ENDS}", re.IGNORECASE)
_LISTS = re.compile(r"(?i)\b(?:derive|give|find|compute|calculate|determine|state|write)\b[^.?!]*:\s*\Z")  # Derive: - …


def with_verbs(card: Card) -> Card:
    """The card with a verb in front of each list of messages that is a sentence by itself."""
    if "message" not in card.question.lower():
        return card

    def verbed(found: re.Match[str]) -> str:
        asked = found["asked"]
        if "message" not in asked.lower() or _LISTS.search(card.question[: found.start()]):
            return found[0]
        article = "" if asked[:4].lower() in ("the ", "all ") else "the "
        asked = re.sub(r"\s*/\s*(?=[a-z])", ", ", asked)
        return f"{found['before']}Derive {article}{asked[0].lower()}{asked[1:]}"

    question = _FRAGMENT.sub(verbed, card.question)
    if question == card.question:
        return card
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :])
