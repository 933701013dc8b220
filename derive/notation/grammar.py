"""Tokens → flat tree: brackets, scripts, arguments.

    items     item*
    item      operator | + − * ⊤ | base script* | item !
    base      letter, number, \\max, \\log, words … | bracket items bracket | command argument …
    script    _ argument | ^ argument | ′
    argument  letter, number … | + − * ⊤ ′ | { items } | { ′ … } | command argument …

What a symbol means, and where a sum ends, is decided by the elaboration, which knows the card's declarations.
"""

from __future__ import annotations

import re
from functools import lru_cache

from derive.notation import tree as tr
from derive.notation.formulas import Formula, NotationError, Source
from derive.notation.pieces import with_ranges
from derive.notation.tokens import tokenise
from derive.notation.vocabulary import CLOSING, OPERATORS, SHOWN, beyond
from derive.records import replace

_BASES = frozenset("NAME NUMBER BIG FN IND TEXT INFTY CONV DOTS PARTIAL NABLA UNKNOWN".split())
_MARKS = frozenset(("PLUS", "MINUS", "STAR", "TOP"))  # operators, or alone in a script
_SCRIPTS = ("SUB", "SUP", "PRIME")
_COMMANDS = {"SQRT": 1, "BRACE": 1, "FRAC": 2, "UNDER": 2}  # how many arguments
_CLOSES = frozenset(CLOSING.values())
_DEEPEST = 80
_EXPECTED = r"a script or an argument is expected here, as in `x_{ij}` or `\frac{a}{b}`"
Script = tuple[tr.Token, tr.Item | None]  # _, ^ or a prime, and its argument


class _Parser:
    """The rules of the grammar, each from the token at ``at`` on."""

    def __init__(self, tokens: list[tr.Token], source: Source) -> None:
        self.tokens, self.source, self.at, self.depth = tokens, source, 0, 0

    def next(self) -> str:
        return self.tokens[self.at].type if self.at < len(self.tokens) else ""

    def take(self) -> tr.Token:
        if self.at == len(self.tokens):
            raise self.source.error(len(self.source.latex), f"the formula ends too early: {_EXPECTED}")
        self.at += 1
        return self.tokens[self.at - 1]

    def refused(self, token: tr.Token) -> NotationError:
        what = (r"has nothing to stand on: a letter or a bracket is expected before it, as in `x_{ij}`"
                if token.type in _SCRIPTS else f"does not belong here: {_EXPECTED}")
        return self.source.error(token.start, f"`{self.source.latex[token.start : token.end]}` {what}")

    def items(self) -> tuple[tr.Item, ...]:
        found: list[tr.Item] = []
        while self.next() and self.next() not in _CLOSES:
            found.append(self.item())
            if self.next() == "BANG":
                found[-1:] = self.factorial(found[-1])
        return with_ranges(found)

    def factorial(self, of: tr.Item) -> tuple[tr.Item, tr.Item]:
        """k! of the count k."""
        sign = self.take()
        if tr.is_token(of, *_MARKS) or self.next() == "BANG":
            raise self.refused(sign)
        inside = of.items if tr.is_group(of, "LPAREN") else (of,)
        return tr.Token("FN", "factorial", of.start, of.start), tr.Group("LPAREN", inside, of.start, sign.end)

    def item(self) -> tr.Item:
        token = self.take()
        base = self.base(token)
        if base is None and token.type in _SCRIPTS:
            raise self.refused(token)
        scripts: list[Script] = []
        while base is not None and self.next() in _SCRIPTS:
            sign = self.take()
            scripts.append((sign, None if sign.type == "PRIME" else self.argument()))
            if sign.type == "SUB" and isinstance(of := scripts[-1][1], tr.Group) and not of.items:
                raise self.source.error(sign.start, "an index is missing here")
        return token if base is None else _scripted(base, scripts) if scripts else base

    def base(self, token: tr.Token) -> tr.Item | None:
        """What may carry scripts; None for all that may not."""
        self.depth += 1
        found: tr.Item | None = token if token.type in _BASES else None
        if self.depth > _DEEPEST:
            raise self.source.error(0, "the formula is nested too deeply")
        if token.type in CLOSING:
            found = self.closed(token, self.items())
        elif token.type in _COMMANDS:
            arguments = [self.argument() for _ in range(_COMMANDS[token.type])]
            found = tr.Command(token.type, tuple(map(_items, arguments)), token.start, arguments[-1].end)
            found = self.above(found) if token.type == "UNDER" else found
        self.depth -= 1
        return found

    def above(self, under: tr.Command) -> tr.Item:
        r"""\max_{k} of \underset{k}{\max}."""
        below, base = under.arguments
        if len(base := tuple(tr.unwrap(base))) != 1 or not tr.is_token(base[0], "BIG"):
            raise self.source.error(under.start, r"`\underset` stands under `\max`, `\min` or `\arg\max` only")
        return tr.Scripted(base[0], (below,), (), 0, under.start, under.end)

    def argument(self) -> tr.Item:
        token = self.take()
        if token.type == "LBRACE" and self.next() == "PRIME":
            primes = []
            while self.next() == "PRIME":
                primes.append(self.take())
            return self.closed(token, tuple(primes))
        single = token.type in (*_BASES, *_MARKS, *_COMMANDS, "PRIME", "LBRACE")
        if not single:
            raise self.refused(token)
        return self.base(token) or token

    def closed(self, opening: tr.Token, items: tuple[tr.Item, ...]) -> tr.Item:
        if not self.next():
            raise self.source.error(opening.start, f"`{SHOWN[opening.type]}` is not closed")
        closing = self.take()
        if closing.type not in _CLOSES:
            raise self.refused(closing)
        if CLOSING[opening.type] != closing.type or (closing.type == "END" and opening.text != closing.text):
            raise self.source.error(closing.start, f"`{self.source.latex[closing.start : closing.end]}` does not close "
                                                   f"`{SHOWN[opening.type]}`, opened at column {opening.start + 1}")
        self.refuse_holes(opening, items, closing)
        if opening.type == "BEGIN":
            return tr.Env(opening.text, items, opening.start, closing.end)
        return tr.Group(opening.type, items, opening.start, closing.end)

    def refuse_holes(self, opening: tr.Token, items: tuple[tr.Item, ...], closing: tr.Token) -> None:
        r"""Raise :class:`NotationError` for `f()`, and where a comma or × has an empty side: `Ω(k,)`."""
        if opening.type == "BEGIN" or opening.type == "LBRACE" and len(items) == 1:  # the comma of 1{,}5
            return
        crosses = (r"\times", "×")
        signs = [i.type if tr.is_token(i, "COMMA") or (tr.is_token(i, "TIMES") and self.text(i) in crosses) else ""
                 for i in items]
        if not items and opening.type in ("LPAREN", "LBRACK"):
            raise self.source.error(closing.start, f"nothing stands in `{SHOWN[opening.type]}…`")
        if len(items) == 2 and signs[1] == "COMMA" and not self.applies(opening):
            return
        for n, sign in enumerate(signs):
            if sign and (n in (0, len(signs) - 1) or signs[n + 1] == sign):
                where = "before" if n == 0 else "behind"
                raise self.source.error(items[n].start, f"nothing stands {where} `{self.text(items[n])}`")

    def applies(self, opening: tr.Token) -> bool:
        """What stands before the bracket takes it as its arguments: all but a formula's beginning, `^` and `=`."""
        before = self.source.latex[: opening.start].rstrip(" {")
        return bool(before) and before[-1] not in "^="

    def text(self, item: tr.Item) -> str:
        return self.source.latex[item.start : item.end]


def _scripted(base: tr.Item, scripts: list[Script]) -> tr.Item:
    base = tr.group((base,), "LBRACE") if isinstance(base, tr.Scripted) else base
    subs = tuple(tuple(map(tr.normal, _items(of))) for sign, of in scripts if of is not None and sign.type == "SUB")
    sups = [sup for sign, of in scripts if of is not None and sign.type == "SUP" for sup in _marked(_items(of))]
    if subs and not tr.is_token(subs[0][0], "PLUS"):
        base, subs = _entry_of(_named(base), subs)
    if subs or not tr.is_token(base, "NAME") or base.text != "e":  # e^{(a)} is a power
        base, sups = _symbol(base, sups)
    primed = [s for s in sups if s and all(tr.is_token(i, "PRIME") for i in s)]
    primes = sum(sign.type == "PRIME" for sign, _ in scripts) + sum(map(len, primed))
    marks = tuple(s for s in sups if s not in primed)
    if tr.is_group(base, "LPAREN") and len(marks) == 1 and not subs and tr.is_token(next(iter(marks[0]), None), "STAR"):
        each = (i if tr.is_token(i, "COMMA") else tr.Scripted(i, (), marks, 0, i.start, i.end) for i in base.items)
        return replace(base, items=tuple(each))  # (i^*, j^*) of (i, j)^*
    if not (subs or marks or primes):
        return base
    sign, last = scripts[-1]
    return tr.Scripted(base, subs, marks, primes, base.start, (last or sign).end)


def _items(argument: tr.Item) -> tuple[tr.Item, ...]:
    return argument.items if isinstance(argument, tr.Group) and argument.bracket == "LBRACE" else (argument,)


_WORD = re.compile(r"[A-Za-z]{2,}")


def _marked(sup: tuple[tr.Item, ...]) -> list[tuple[tr.Item, ...]]:
    r"""(1) and ⊤ of w^{(1)\top}."""
    layer = len(sup) == 2 and isinstance(sup[0], tr.Group) and (tr.is_token(sup[1], "TOP") or str(sup[1]) == "T")
    return [sup[:1], sup[1:]] if layer else [sup]


def _named(base: tr.Item) -> tr.Item:
    """H of [H]_{ij}."""
    alone = isinstance(base, tr.Group) and base.bracket == "LBRACK" and len(base.items) == 1
    return base.items[0] if alone and tr.is_token(base.items[0], "NAME") else base  # type: ignore[union-attr]


def _entry_of(base: tr.Item, subs: tuple[tuple[tr.Item, ...], ...]) -> tuple[tr.Item, tuple[tuple[tr.Item, ...], ...]]:
    r"""x_{\text{c},ij} of (x_{\text{c}})_{ij}."""
    inner = base.items[0] if isinstance(base, tr.Group) and base.bracket in ("LPAREN", "LBRACK") and len(
        base.items) == 1 else None
    if not isinstance(inner, tr.Scripted) or not tr.is_token(inner.base, "NAME") or inner.sups or inner.primes or len(
            inner.subs) != 1 or not tr.is_token(inner.subs[0][0], "TEXT"):
        return base, subs
    comma = tr.Token("COMMA", ",", inner.end, inner.end)
    return inner.base, ((*inner.subs[0], comma, *subs[0]), *subs[1:])


def _symbol(base: tr.Item, sups: list[tuple[tr.Item, ...]]) -> tuple[tr.Item, list[tuple[tr.Item, ...]]]:
    r"""A word with scripts is a symbol; so are h^{(l-1)}, c^{\text{old}}, s^+ and s^- with these superscripts."""
    if tr.is_token(base, "TEXT") and base.text.strip().isalpha():
        base = tr.Token("NAME", base.text.strip(), base.start, base.end, base.bold)
    for sup in sups if tr.is_token(base, "NAME") else ():
        mark = _mark(sup[0]) if len(sup) == 1 else ""
        if mark and isinstance(base, tr.Token):
            return replace(base, text=f"{base.text}^{mark}"), [s for s in sups if s is not sup]
    return base, sups


def _mark(above: tr.Item) -> str:
    """What is part of a letter's name above it."""
    if tr.is_token(above, "PLUS", "MINUS"):
        return "+" if above.type == "PLUS" else "-"
    if tr.is_token(above, "TEXT") and _WORD.fullmatch(above.text.strip()):
        return f"<{above.text.strip()}>"
    if tr.is_group(above, "LPAREN", "LBRACK") and tr.is_step(above.items):
        inside = "".join(map(str, above.items))
        return f"({inside})" if above.bracket == "LPAREN" else f"[{inside}]"
    return ""


def tree_of(formula: Formula) -> tuple[tr.Item, ...]:
    """The tree that a rule made of the formula, or that of its text; raises as :func:`parse`."""
    return parse(formula.source) if formula.tree is None else _known(formula.source, formula.tree)


def parse(source: Source) -> tuple[tr.Item, ...]:
    """The flat tree of a formula.

    Raises :class:`NotationError` for signs outside the notation, and where tokens do not fit together.
    """
    return _known(source, skeleton(source))


def _known(source: Source, tree: tuple[tr.Item, ...]) -> tuple[tr.Item, ...]:
    unknown = next((i for item in tree for i in tr.inside(item) if tr.is_token(i, "UNKNOWN")), None)
    if unknown is not None:
        name = str(unknown).removeprefix("\\")
        raise source.error(unknown.start, beyond(str(unknown), name) if name in OPERATORS else (
            f"`{unknown}` is outside the notation; write what it stands for, as in `y_k = \\sum_j W_{{kj}} x_j`"))
    return tree


@lru_cache(maxsize=512)
def skeleton(source: Source) -> tuple[tr.Item, ...]:
    """The tree of a formula in which signs outside the notation may stand; raises where tokens do not fit."""
    parser = _Parser(tokenise(source), source)
    found = tuple(tr.unwrap(parser.items()))  # \boxed{…} is what stands in it
    if parser.next():
        at = parser.take()
        raise source.error(at.start, f"`{source.latex[at.start : at.end]}` closes a bracket that was not opened")
    if found and tr.is_token(found[0], "IN"):
        raise source.error(found[0].start, f"nothing stands before `{parser.text(found[0])}`")
    return found
