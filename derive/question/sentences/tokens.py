"""A question's sentences as tokens: words, numbers, signs, and formulas of a known kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache

from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, entry_set, kind_of
from derive.question.letters.naming import bare_letters, written_letters
from derive.question.words.prose import BREAK, GAP, Prose
from derive.records import dataclass

_TOKEN = re.compile(r"(?:component|element|entry|coordinate)[ -]?wise\b|"
                    rf"\d+[ .]\d+|\d+|[^\W\d_]+(?:'s\b)?|[{GAP}{BREAK}½.,:;?!()×→+=/&]")
_COUNT = r"\d+(?:[ .]\d)?(?:\s*\+\s*\d+)*"
_EACH = ("component", "element", "entry", "coordinate")
_WORTH = rf"{_COUNT}\s*(?:p|pts?|points?|marks?)\b\.?"
_OF_POINTS = r"each|per|for|the|one|first|second|third|last|others?|and|every|part|item|derivative|gradient|total|in"
_POINTS = re.compile(rf"[(\[]\s*{_WORTH}(?:[\s,;:+]|{_WORTH}|(?:{_OF_POINTS})\b)*[)\]]"  # (1p each, the third one 3p)
                     rf"|(?:^\s*|[(\[]\s*){_WORTH}\s*[)\]:]?|\[\s*{_COUNT}\s*%?\s*\]")
_MARK = re.compile(r"(?<![\w(])\(?(?P<mark>[a-h]|i{1,3}|iv|v|vi|\d)\)(?=\s)")  # (ii)
_POINTING = re.compile(r"(?:parts?|items?|from|in|of|using|with|by|see|step|equations?|use|to|result|question)\s+$")
_IZE = re.compile(r"(?<=[a-z]{3})iz(e|ed|es|er|ing|ation|ations)$")
_ABBREVIATED = frozenset("al cf eq eqs fig sec ref".split())
_SIGNED = re.compile(r"(?:^|(?<=[\s(]))[-−]\Z")
_PER_CENT = re.compile(r"\s?[%‰]")
_TIMES = re.compile(r"\s*\d+(?:\s*\\times\s*\d+)+\s*")
_NUMERAL = re.compile(r"\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Token:
    """A word in lower case, a number, a sign or a formula, and where it begins in the prose."""

    kind: str  # word, number, sign, formula
    text: str
    start: int
    formulas: tuple[Formula, ...] = ()

    @property
    def stop(self) -> int:
        """Where it ends; a formula is one character of the prose."""
        return self.start + max(1, len(self.text))

    @property
    def formula(self) -> Formula:
        return self.formulas[0]

    @cached_property
    def said(self) -> Said:
        """What its first formula says."""
        return kind_of(self.formulas[0])

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters that it names, and nothing else stands in it."""
        return (written_letters(self.formula) or bare_letters(self.formula)) if self.said in (
            Said.LETTERS, Said.DECLARATION) else ()

    @cached_property
    def equates(self) -> bool:
        """It defines a letter or a function."""
        return bool(self.formulas) and self.said in (Said.DEFINITION, Said.FUNCTION) and (
            len(self.formulas) > 1 or not self.sets)

    @cached_property
    def sets(self) -> bool:
        """x_1 = 1: it gives an entry a number."""
        return entry_set(self.formula.tree or ()) is not None

    def __str__(self) -> str:
        return f"${self.formula.latex.strip()}$" if self.formulas else self.text


Sentence = tuple[Token, ...]


def gives_number(token: Token, known: Collection[tuple[int, int]]) -> bool:
    """x_1 = 1, but for formulas ``known`` by their line and column."""
    return bool(token.formulas) and token.sets and (token.formula.line, token.formula.column) not in known


def sentences(prose: Prose) -> tuple[Sentence, ...]:
    """The sentences in their order without marks of points; a displayed formula belongs to the words around it."""
    if "sentences" not in prose.kept:  # each clause asks for them
        prose.kept["sentences"] = tuple(_sentences(prose))
    return prose.kept["sentences"]


def _sentences(prose: Prose) -> list[Sentence]:
    found: list[Sentence] = []
    run: list[Token] = []
    tokens = list(_tokens(prose))
    inside = _bracketed(tokens)
    for n, token in enumerate(tokens):
        ends = token.text in (".", "?", "!", ";") and token.kind == "sign" and not (
            n and tokens[n - 1].text in _ABBREVIATED) and not (token.text == ";" and n in inside)
        if token.kind == "blank":
            ends = not (n and tokens[n - 1].formulas and _displayed(tokens[n - 1])) and not (
                n + 1 < len(tokens) and _displayed(tokens[n + 1]))
        elif not ends:
            token = Token("sign", ",", token.start) if token.text == ";" and n in inside else token
            if token.text != "," or (run and run[-1].text != ","):
                run.append(token)
            ends = _displayed(token) and _closes(token, tokens[n + 1 :], prose)
        if ends and run:
            found.append(tuple(run))
            run = []
    return [whole for each in (*found, tuple(run)) if (whole := _without_comma(each)) and not _numbers_item(whole)]


def _numbers_item(run: Sentence) -> bool:
    """«1.» of a list"""
    return len(run) == 1 and run[0].kind == "number"


def _bracketed(tokens: Sequence[Token]) -> set[int]:
    """The places inside brackets that close in their sentence."""
    found: set[int] = set()
    opened: int | None = None
    for n, token in enumerate(tokens):
        if token.text == "(":
            opened = n
        elif token.text == ")" and opened is not None:
            found.update(range(opened, n))
            opened = None
        elif token.kind == "blank" or token.text in (".", "?", "!"):
            opened = None
    return found


def _without_comma(run: Sentence) -> Sentence:
    return run[:-1] if run and run[-1].text == "," else run


def _displayed(token: Token) -> bool:
    return any(f.display for f in token.formulas)


def _closes(token: Token, rest: list[Token], prose: Prose) -> bool:
    """A displayed formula ends its sentence: with a full stop, or a capital letter behind it."""
    if token.formulas[-1].latex.rstrip(" \n}$\\").endswith(".") or token.formulas[-1].latex.rstrip().endswith("."):
        return True
    after = next((t for t in rest if t.kind != "blank"), None)
    return after is None or (after.kind == "word" and prose.source_at(after.start).isupper())


def _tokens(prose: Prose) -> Iterator[Token]:
    """The tokens without marks of points, (5p) and [3 + 4], and without those of items, (a) and (ii)."""
    gaps = {gap.start: gap.formula for gap in prose.gaps}
    text = prose.text
    text = _POINTS.sub(lambda mark: " " * len(mark[0]), text)
    text = _MARK.sub(lambda mark: mark[0] if _POINTING.search(text[: mark.start()]) or _closing(mark) else
                     " " * len(mark[0]), text)
    for match in _TOKEN.finditer(text):
        start, word = match.start(), match[0]
        if word == GAP and start in gaps:
            yield _of_formula(start, (gaps[start],))
        elif word == BREAK:
            shown = prose.displayed(start)
            yield Token("formula", "", start, shown) if shown else Token("blank", "", start)
        elif word[0].isdecimal():
            before = prose.plain.text[max(0, start - 2) : start]
            if _SIGNED.search(before) or _PER_CENT.match(prose.plain.text, match.end()):
                yield Token("sign", "±", start)  # no row has it
            point = "." in prose.plain.text[start : match.end()]
            if point or " " not in word:
                yield Token("number", word.replace(" ", ".") if point else word, start)
            else:
                one, two = word.split()
                yield Token("number", one, start)
                yield Token("number", two, start + len(one) + 1)
        elif word.endswith("wise") and word.startswith(_EACH):
            yield Token("word", "elementwise", start)
        elif word == "please":
            continue
        elif word[0].isalpha():
            yield Token("word", _IZE.sub(r"is\1", word.removesuffix("'s")), start)
        else:
            yield Token("sign", word, start)


def _closing(mark: re.Match[str]) -> bool:
    """The bracket of «2)» was opened before: (stride 2)."""
    before = mark.string[: mark.start()]
    return not mark[0].startswith("(") and before.rfind("(") > max(before.rfind(")"), before.rfind("."))


def _of_formula(start: int, found: tuple[Formula, ...]) -> Token:
    latex = found[0].latex
    if number := _NUMERAL.fullmatch(latex):
        return Token("number", number[1], start, found)
    if _TIMES.fullmatch(latex):
        return Token("size", "×".join(re.findall(r"\d+", latex)), start, found)
    return Token("formula", "", start, found)


_FOREIGN = re.compile(r"[ěščřžýáíéůúťďňäöüß]|\b(?:je|jsou|der|die|das|und|vrstv\w*|leiten)\b")


@lru_cache(maxsize=64)
def in_english(text: str) -> bool:
    """The rows are those of English."""
    return _FOREIGN.search(text) is None


_ALWAYS = frozenset("derive differentiate".split())
_ASKING = frozenset("compute calculate find determine give write express formulate obtain work evaluate provide "
                    "establish present list simplify deduce state show define backprop backpropagate".split())
_NEAR = 8  # characters
_ROLES = frozenset("""forward backward parameter parameters input inputs weight weights bias biases the and also then
    finally for of to in terms""".split())  # as headings of what is wanted
_VERBS = frozenset("is are has have can flows arrives comes denotes known given".split())
_SOON = 6
_PASSES = frozenset("send pass hand return propagate".split())
_SOUGHT = frozenset("message messages gradient gradients derivative derivatives jacobian jacobians".split())
_BEFORE = frozenset("and then to first also please finally now next hence or it them therefore thus explicitly".split())


def asks(tokens: Sequence[Token]) -> bool:
    """An order to derive stands in it, or a question for what something is, or nothing but what is wanted."""
    if any(t.text == "hint" for t in tokens[:2]):
        return False
    if _is_wanted(tokens):
        return True
    defines = any(t.kind == "formula" and t.equates for t in tokens)  # «define the norm of $u$ by $r = …$»
    for n, token in enumerate(tokens):
        behind = tokens[n + 1].text if n + 1 < len(tokens) else ""
        if orders(tokens, n) and not (defines and token.text == "define") and not _writes(tokens, n):
            return True
        if token.text in ("what", "which") and _opens(tokens, n):
            soon = {t.text for t in tokens[n : n + 3]}
            if soon & _SOUGHT or token.text == "what" and soon & {"is", "are"} and _seeks(tokens[n:]):
                return True
        if token.text == "what" and behind in ("does", "do") and any(t.text in _PASSES for t in tokens[n + 2 : n + 6]):
            return True
    return False


def _is_wanted(tokens: Sequence[Token]) -> bool:
    """«Gradient w.r.t. the inputs $x$?», «Messages to $x$ and to $W$.»: no verb stands there."""
    first = next((t for t in tokens if t.text not in ("the", "(", ")")), None)
    if first is None or any(t.equates or t.text in _VERBS for t in tokens):
        return False
    plain = all(t.text in _SOUGHT | _ROLES for t in tokens if t.kind == "word")
    return first.text in _SOUGHT and first.start - tokens[0].start < _NEAR and any(t.formulas for t in tokens) or (
        plain and any(t.formulas and t.said is Said.DERIVATIVE for t in tokens))


def _writes(tokens: Sequence[Token], n: int) -> bool:
    r"""«Write $g_i = \partial L/\partial y_i$» gives a letter and orders nothing."""
    behind = tokens[n + 1] if n + 1 < len(tokens) else None
    given = behind is not None and bool(behind.formulas) and (behind.equates or behind.said is Said.GRADIENT or (
        behind.said is not Said.DERIVATIVE and any(t.text == "for" for t in tokens[n + 2 : n + 3])))
    return tokens[n].text == "write" and given


def orders(tokens: Sequence[Token], n: int) -> bool:
    """A verb of asking stands here where an order begins: in front, behind a sign, an “and”, a formula.

    “proposed to give the unit a slope” asks for nothing.
    """
    if tokens[n].text in _ALWAYS or tokens[n].text not in _ASKING:
        return tokens[n].text in _ALWAYS
    if tokens[n].text == "list" and [t.text for t in tokens[n + 1 : n + 2]] == ["of"]:
        return False  # «list of what is to be given»
    return _opens(tokens, n) and (not n or tokens[n - 1].text != "to" or _seeks(tokens[n:]))


def _seeks(tokens: Sequence[Token]) -> bool:
    """Derivatives stand there, messages, or a letter soon."""
    derived = (Said.DERIVATIVE, Said.GRADIENT)
    return any(t.text in _SOUGHT or bool(t.formulas) and t.said in derived for t in tokens) or any(
        bool(t.formulas) and not t.equates for t in tokens[:_SOON])


def _opens(tokens: Sequence[Token], n: int) -> bool:
    before = tokens[n - 1] if n else None
    that_is = [t.text for t in tokens[max(0, n - 2) : n]] == ["i", "e"]
    return before is None or that_is or before.kind in ("sign", "formula") or before.text in _BEFORE
