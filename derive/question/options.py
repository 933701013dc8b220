"""What a layer takes besides its windows, from the front matter and the words: a norm, a sharpness, a divisor."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from derive.layers.catalogue import Layer
from derive.question.stated import Reader
from derive.question.word_patterns import IS

_NUMBER = r"(-?\d+(?:\.\d+)?(?:/\d+)?)"
_NUMBERED = {
    "norm": re.compile(rf"\bl(\d+)[ -]?(?:norm )?pool|\bnorm{IS}{_NUMBER}"
                       rf"|\bp\s*=\s*{_NUMBER}|\border{IS}{_NUMBER}|\bl(\d+)[- ]norm\b"),
    "sharpness": re.compile(rf"\bsharpness{IS}{_NUMBER}|\br\s*=\s*{_NUMBER}|\binverse temperature{IS}{_NUMBER}"),
    "divisor_override": re.compile(rf"\bdivisor{IS}{_NUMBER}|\bdivid(?:ed|ing|es?) by {_NUMBER}\b"),
}
_NOT_COUNTED = re.compile(
    r"\bcount[ _]include[ _]pad\w*\s*(?:=|:|is)?\s*(?:false|off|0)|\b(?:padding|padded (?:cells|entries|zero(?:e?s)?)) "
    r"(?:do(?:es)? not count|(?:is|are) not counted|(?:is|are) left out|(?:is|are) excluded)"
    r"|\bexclud\w+ (?:the )?padd\w+|\bonly (?:the )?(?:cells|entries) (?:in range|inside the input|that exist)"
)


def options(reader: Reader, spec: Layer) -> dict[str, Any]:
    """The options of the layer that the card gives; their values are checked by :func:`derive.layer`."""
    found: dict[str, Any] = {}
    for name in spec.options:
        if name in reader.card.front_matter:
            value, line = reader.card.front_matter[name], reader.card.key_line(name)
            found[name] = _fraction(value)
            reader.readings.append(f"`{name}: {value}` (line {line})")
        elif name == "count_include_pad":
            match = _NOT_COUNTED.search(reader.words.plain.text)
            if match:
                found[name] = False
                reader.readings.append(f"padded cells do not count ({_said(reader, match)})")
        else:
            match = _NUMBERED[name].search(reader.words.plain.text)
            if match:
                text = next(g for g in match.groups() if g)
                found[name] = int(text) if name == "divisor_override" and text.isdigit() else Fraction(text)
                reader.readings.append(f"{name.replace('_override', '')} {text} ({_said(reader, match)})")
    return found


def _fraction(value: Any) -> Any:
    """“5/2” as a number."""
    if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip()):
        return Fraction(value.strip())
    return value


def _said(reader: Reader, match: re.Match[str]) -> str:
    plain = reader.words.plain
    return f"line {plain.line(match.start())}: “{plain.quote(*match.span())}”"
