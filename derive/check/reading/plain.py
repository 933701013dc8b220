"""What a text says beside its formulas, as formulas: numbers in tables and words, conditions, the other case."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial

from derive.check.reading.texts import SLOPE
from derive.check.reading.worded import rows
from derive.formulas import beside

_MINUS = "\N{MINUS SIGN}"
_NUMBER = rf"[-{_MINUS}]?\d+(?:\.\d+)?(?:/\d+)?"
_ENTRIES = rf"\([ \t]*{_NUMBER}(?:,[ \t]*{_NUMBER})*[ \t]*\)"
_ROW = re.compile(rf"^[ \t]*\|[ \t]*\$([^$|=<>\n]+)\$[ \t]*\|[ \t]*({_NUMBER}|{_ENTRIES})[ \t]*\|[ \t]*$", re.MULTILINE)
_IF, _ELSE = r"(?:if|for|when|whenever|where)", r"(?:otherwise|else|elsewhere)"
_PAIR = re.compile(  # $g_k = 1$ if $s_k > 0$ and $g_k = a$ otherwise, or if $s_k < 0$
    rf"(?P<edge>\$\$?)(?P<head>[^$=<>]+)=(?P<a>[^$=<>]+)(?P=edge),?\s+\(?{_IF}\s+\$(?P<c>[^$,]+)\$[,;.]?\s+"
    rf"(?P<first>(?:and|but|or|,)?\s*{_ELSE}[\s,]+)?(?:and\s+|but\s+)?\$(?:(?P<again>[^$=<>]+)=)?(?P<b>[^$=<>]+)\$,?"
    rf"(?(first)|\s+(?:{_ELSE}\b|{_IF}\s+\$(?P<d>[^$,]+)\$))", re.IGNORECASE)
_AHEAD = re.compile(  # if $s > 0$, then $g = 1$, else $0$
    rf"{_IF}\s+\$(?P<c>[^$]+)\$,?\s+(?:then\s+|we\s+have\s+)*(?P<edge>\$\$?)(?P<head>[^$=<>]+)=(?P<a>[^$=<>]+)(?P=edge)"
    rf"[,;]?\s+(?P<first>(?:and\s+|but\s+)?{_ELSE}[\s,]+)(?:(?:it|this)\s+is\s+)?\$(?P<again>)(?P<b>[^$=<>]+)\$(?!\s+{_IF})",
    re.IGNORECASE)
_WORD_NUMBERS = {"zero": "0", "one": "1", "minus one": "-1"}
_IN_WORDS = rf"(?P<number>{'|'.join(_WORD_NUMBERS)})".replace(" ", r"\s+")
_GETS = (r"(?:(?:it|they|this|these|we|the\s+(?:derivative|gradient|slope))\s+)?"
         r"(?:is|are|equals?|gets?|gives?|becomes?)(?:\s+equal\s+to)?\s+")
_OTHERS = (r"(?:all\s+)?(?:the\s+)?(?:others?|remaining)"
           r"(?:\s+(?:entries|components|derivatives|elements|terms|gradients|cases|inputs))?")
_NUMBERS_IN_WORDS = tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in (
    (rf"\b(?:{_GETS})?{_IN_WORDS}(?P<rest>\s+{_ELSE}\b)", "${n}${rest}"),
    (rf"\b(?P<rest>{_ELSE},?\s+)(?:{_GETS})?{_IN_WORDS}(?=\s*(?:[.,;)\n]|\Z))", "{rest}${n}$"),
    (rf"\b(?:(?:it|they)\s+)?vanish(?:es)?(?P<rest>\s+{_ELSE}\b)", "$0${rest}"),
    (rf"\b(?P<rest>{_ELSE},?\s+)(?:(?:it|they|the\s+derivative|the\s+gradient)\s+)?vanish(?:es)?\b", "{rest}$0$"),
    (rf"(?<=\$)(?:[,;.]\s+(?:and\s+|while\s+|but\s+)?|\s+(?:and|while|but)\s+){_OTHERS}\s+"
     rf"(?:vanish(?:es)?|(?:are|is)\s+{_IN_WORDS})\b", ", and ${n}$ otherwise"),
    (rf"(?<=\$)(?P<rest>,?\s+(?:and|but)\s+)(?:{_GETS})?{_IN_WORDS}(?=\s+{_IF}\s+\$)", "{rest}${n}$"),
))
_SIGN = r"(?:<=|>=|[<>≤≥])"
_SIGNS = {"<=": r"\le ", ">=": r"\ge ", "≤": r"\le ", "≥": r"\ge "}
_PLAIN = re.compile(  # x > 0 and 0 < x < 1
    rf"(?<![\w\\$.])(?P<rel>(?:{_NUMBER}[ \t]*{_SIGN}[ \t]*)?(?P<letter>[A-Za-z])[ \t]*{_SIGN}[ \t]*{_NUMBER})"
    r"(?![\w^]|\.\d)")


def valued(text: str) -> str:
    """The rows | $p$ | 0.5622 | of tables as | $p = 0.5622$ |."""
    return _ROW.sub(lambda row: f"| ${row[1].strip()} = {row[2].replace(_MINUS, '-')}$ |", text)


def plainly(text: str) -> str:
    """«In the case», «as long as» in front of a formula as «if», «for all other inputs» as «otherwise»; lines stay."""
    behind = {"AS_IF": r"(?=\s+\$)", "AS_ELSE": r"(?=[\s,:]+(?:\$|(?:we|it|the)\b))"}
    for name, word in (("AS_IF", "if"), ("AS_ELSE", "otherwise")):
        text = re.sub(rows(f"CLAIM_{name}") + behind[name], lambda m, word=word: (  # type: ignore[misc]
            word.capitalize() if m[0][0].isupper() else word) + "\n" * m[0].count("\n"), text, flags=re.IGNORECASE)
    return text


def cased(text: str) -> str:
    """Two cases in words, of a letter or of a derivative that is written once, as one formula; lines stay.

    $r'(z) = 1$ if $z > 0$ and $0$ otherwise, or «zero otherwise», «all others vanish».
    """
    def one(found: re.Match[str]) -> str:
        head = found["head"].strip()
        if SLOPE.search(head) and found["again"] or (found["again"] or head).strip() != head:
            return found[0]
        parts = found.groupdict()
        other = rf"\text{{if }} {parts['d']}" if parts.get("d") else r"\text{otherwise}"
        first = rf"{found['a'].rstrip(' .,')} & \text{{if }} {found['c']}"
        edge, value = found["edge"], rf"\begin{{cases}} {first} \\ {found['b']} & {other} \end{{cases}}"
        return f"{edge}{head} = {value}{edge}" + "\n" * found[0].count("\n")

    for pattern, put in _NUMBERS_IN_WORDS:
        text = pattern.sub(partial(_number_of, put=put), text)
    return _AHEAD.sub(one, _PAIR.sub(one, text))


def _number_of(found: re.Match[str], put: str) -> str:
    """A number word as a formula; lines stay."""
    parts = found.groupdict()
    number = _WORD_NUMBERS[" ".join(parts["number"].lower().split())] if parts.get("number") else "0"
    new = put.format(n=number, rest=parts.get("rest", ""))
    return new + "\n" * (found[0].count("\n") - new.count("\n"))


def dollared(text: str, letters: Collection[str]) -> str:
    """x < 0 and 0 ≤ x ≤ 1 of these letters that stand in the text without dollars, as formulas; lines stay."""
    parts, at = list[str](), 0
    for found in _PLAIN.finditer(beside(text)) if _PLAIN.search(text) is not None else ():
        if found["letter"] in letters:
            latex = re.sub(_SIGN, lambda sign: _SIGNS.get(sign[0], sign[0]), found["rel"].replace(_MINUS, "-"))
            parts += text[at:found.start()], f"${latex}$"
            at = found.end()
    return "".join((*parts, text[at:]))
