"""Layers that a question names without a formula, alone or behind one: which they are, and their letters on a card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import Entry, Expr, Mul, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.ignored import refuse_ignored
from derive.question.naming import Mention, bare_letters, mentions
from derive.question.network import Network
from derive.question.part_words import JOINED, LETTERS, REFERENCE, SEVERAL, UNWRITTEN, Named, named_parts
from derive.question.prose import Gap, Prose, one_of
from derive.question.qualifiers import Qualifiers, StatedLoss, refuse_unused, stated_loss, unnamed_loss
from derive.question.roles import sizes_said
from derive.question.unaccounted import shown
from derive.specify.definitions import Definition, Definitions

_CHAINED = one_of(r"\bfollow\w*", r"\bconsist\w*", r"\bcompos\w+")
_LISTED = re.compile(r"[,→]|\b(?:a|and)\b")
_ASIDE = re.compile(r"\b(?:to|by|over|per|for|podle|w\s*r\s*t)\b")
_COMPARED = re.compile(  # «Unlike ReLU, ELU has …»
    r"\b(?:unlike|contrary to|in contrast (?:to|with)|as opposed to|similar(?:ly)? to|instead of|rather than|than"
    r"|such as|na rozdíl od|místo)\s+(?:the |an? )?$")
_LETTER = r"\\?[A-Za-z]+"
_SIGNATURE = re.compile(
    rf"\s*({_LETTER}(?:_\{{?{_LETTER}\}}?)?)\s*\(\s*{_LETTER}(?:\s*[,;]\s*{_LETTER})*\s*\)\s*="
)


def stated_parts(
    prose: Prose, written: Sequence[Formula], defined: Definitions, derived: bool = False
) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that only words name, in the order named, and what their letters are.

    Nothing where the formulas define the layer (``derived``: and name derivatives); a function f(s) = … of the
    card is the part behind whose name it stands.  Raises :class:`UnsupportedError` for
    parts that have no formula here, and :class:`CardError` where the order is not clear.
    """
    named = [n for n in named_parts(prose) if not _COMPARED.search(prose.text[prose.sentence(n.start)[0] : n.start])]
    if not any(n.part.loss for n in named) and (unnamed := unnamed_loss(prose, named)) is not None:
        named.append(unnamed)
    loss = next((stated_loss(prose, n, named) for n in named if n.part.loss), None)
    if not named or not _in_words(prose, named, defined, loss):
        if not derived:
            _refuse_linear(prose, named, defined)
        return [], []
    for pattern in (SEVERAL, UNWRITTEN):
        other = pattern.search(prose.text)
        if other:
            quoted = prose.plain.quote(*other.span())
            raise UnsupportedError(Problem(f"“{quoted}”: write the forward formulas of these layers",
                                           line=prose.plain.line(other.start())))
    _refuse_repeated(prose, named)
    functions = [(formula.latex, _head(formula)) for _, formula in defined.functions.values()]
    functions += [(d.formula.latex, _head(d.formula)) for d in defined.tensors.values()
                  if not (loss and d.formula == loss.formula)]
    spoken = list(mentions(prose, bare_letters))
    qualifiers = Qualifiers(prose, named, spoken)
    letters = {c for slope in qualifiers.slopes.values() for c in (slope, slope.partition("_")[0])}
    free = [m for m in spoken if not letters & {*m.letters}]
    network = Network(prose, named, partial(letter_said, spoken=free), written, functions, qualifiers, loss)
    found = network.formulas()
    used = [formula for _, formula in defined.functions.values()] + [d.formula for d in defined.tensors.values()]
    used += [loss.formula] if loss else []
    refuse_unused(prose, named, used)
    understood = [*qualifiers.understood, *_references(prose, named)]
    refuse_ignored(prose, named, understood, found, used, [*sizes_said(prose)])
    return found, network.mentions


def _in_words(prose: Prose, named: list[Named], defined: Definitions, loss: StatedLoss | None) -> bool:
    """The card has no formulas of the layer but for functions f(s) = … of its parts, and that of its loss."""
    if defined.aliases or defined.known or any(
        _SIGNATURE.match(d.formula.latex) is None and not (loss and d.formula == loss.formula)
        for d in defined.tensors.values()
    ):
        return False
    functions = bool(defined.functions or defined.tensors)
    if len(named) == 1:
        return not functions
    listed = _LISTED.search(prose.text, named[0].end, named[1].start)
    joined = listed or JOINED.search(prose.text, named[0].end)
    return joined is not None and (not functions or any(n.part.loss or n.part.name == "linear" for n in named))


def _refuse_linear(prose: Prose, named: list[Named], defined: Definitions) -> None:
    """A linear layer that is followed by others and that none of the card's formulas computes."""
    linear = next((n for n in named if n.part.name == "linear"), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    products = any(isinstance(n, Mul) and sum(any(isinstance(e, Entry) for e in walk(f)) for f in n.factors) > 1
                   for value in values for n in walk(value))
    if linear and values and not products and _CHAINED.search(prose.text[slice(*prose.sentence(linear.start))]):
        quoted = prose.plain.quote(linear.start, linear.end)
        raise CardError(Problem(f"“{quoted}” is named, and no formula computes it: write the forward formulas of all "
                                "layers", line=prose.plain.line(linear.start)))


def _refuse_repeated(prose: Prose, named: list[Named]) -> None:
    for n in named:
        _, stop = prose.sentence(n.start)
        others = (m for m in n.part.words.finditer(prose.text, n.end, stop) if not REFERENCE.search(
            prose.text, 0, m.start()))
        again = next(others, None)
        if again and n.part.name != "softmax":
            quoted = prose.plain.quote(*again.span())
            raise CardError(Problem(f"“{quoted}” is named twice: write the forward formulas, so that the order is "
                                    "clear", line=prose.plain.line(again.start())))


def _references(prose: Prose, named: list[Named]) -> list[tuple[int, int]]:
    """Where the parts are named again."""
    return [m.span() for n in named for m in n.part.words.finditer(prose.text, n.end)]


def _head(formula: Formula) -> str:
    """f of f(s) = …"""
    match = _SIGNATURE.match(formula.latex)
    return match[1] if match else formula.latex.split("(")[0].strip()


def letter_said(what: str, spoken: list[Mention]) -> str | None:
    """The letter that the words call an input, a weight, a bias or a target."""
    for mention in spoken:
        before = _ASIDE.split(mention.before)[-1]  # «the gradient of the loss with respect to $w$»: w is no loss
        for text, last in ((mention.after, False), (before, True)):
            places = {name: [m.start() for m in pattern.finditer(text)] for name, pattern in LETTERS.items()}
            said = {name: at[-1] if last else -at[0] for name, at in places.items() if at}
            if said and len(mention.letters) == 1:
                if max(said, key=lambda name: said[name]) == what:
                    return mention.letters[0]
                break
    return None


_KIND = r"(?:\s+(?:activations?|functions?|layers?|units?|non-?linearit(?:y|ies)|loss|aktivac\w+|funkc\w+|vrstv\w+))?"
_SLOPE = r"(?:,?\s*with (?:an? |the )?(?:trainable |learn(?:ed|t|able) |fixed )*(?:slope |parameter )?∎)?"
_TARGET = r"(?:\s+∎)?(?:,?\s*with (?:the |a |binary |one-hot )*(?:targets?|labels?) ∎)?"
_AFTER = rf"{_KIND}{_SLOPE}{_TARGET}"
_ARTICLE = r"(?:an? |the |another |then |element-?wise )*"
_THEN = re.compile(
    rf"{_AFTER}\s*,?\s*(?:(?:which |that )?(?:is|are|be|its output is|and|and is)\s+)?(?:all |then |and )*"
    r"(?:follow(?:ed|s) by|pass(?:ed|es)? (?:on )?(?:through|to|into)"
    r"|(?:fed|put|sent|goes|go|run) (?:in)?(?:to|through)"
    rf"|and then|then|and(?: finally)?|→|,)\s*{_ARTICLE}"
)
_OF = re.compile(r"\\frac\s*\{\s*\\partial\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?)\s*\}")
_OF_LOSS = re.compile(r",?\s*(?:derive|compute|calculate|find|determine) the (?:gradients?|derivatives?) of the $")
_USED = r"(?:(?:is|are) (?:used|applied|minimi[sz]ed|taken)\s*)?"
_END = re.compile(rf"{_AFTER}\s*{_USED}(?:[.;¶]|$|with respect|for \b|\()")


def continued_parts(prose: Prose, written: Sequence[Formula], defined: Definitions, table: SymbolTable,
                    named: Sequence[Named]) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that words join to the output of the card's formulas, and what their letters are.

    Nothing where other words stand between, or where a formula computes one of the parts already.
    """
    last = _last(defined)
    gap = next((g for g in prose.gaps if last is not None and g.formula == last.formula), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    if last is None or gap is None:
        return [], []
    parts = [n for n in named if n.start > gap.start]
    if not parts or any(shown(n.part.name, values) for n in parts) or not _joined(prose, gap, parts):
        return [], []
    symbol = table.named(last.entry.tensor)
    spoken = list(mentions(prose, bare_letters))
    taken = {known.latex for name in defined.tensors if (known := table.named(name)) is not None}
    used = {s.latex for s in table.symbols}
    loss = next((stated_loss(prose, n, parts) for n in parts if n.part.loss), None)
    if loss is not None and loss.prediction(letter_said("target", spoken))[0] in taken:
        return [], []  # «a sigmoid behind $s$ and the error $(s - y)^2$»: which s?

    def letter(what: str) -> str | None:
        if what == "loss":
            asked = {m[1].strip() for f in written for m in _OF.finditer(f.latex)} - taken
            return asked.pop() if len(asked) == 1 else None
        found = letter_said(what, spoken)
        return None if found in (used if what in ("input", "preactivation") else taken) else found

    network = Network(prose, parts, letter, written, [], Qualifiers(prose, parts, spoken), loss)
    return network.formulas(symbol.latex if symbol else last.entry.tensor, not last.entry.indices and not (
        symbol and symbol.axes)), network.mentions


def _last(defined: Definitions) -> Definition | None:
    """The one definition that no other uses."""
    used = {n.tensor for d in defined.tensors.values() for n in _entries(d.value)}
    found = [d for name, d in defined.tensors.items() if name not in used]
    return found[0] if len(found) == 1 else None


def _entries(value: Expr) -> list[Entry]:
    return [n for n in walk(value) if isinstance(n, Entry)]


def _joined(prose: Prose, gap: Gap, parts: Sequence[Named]) -> bool:
    """Nothing but words that join stands between the formula and the parts, and nothing but their letters behind."""
    at = gap.start + 1
    for part in parts:
        between = prose.text[at : part.start]
        if not (_THEN.fullmatch(between) or (part.part.loss and len(parts) == 1 and _OF_LOSS.fullmatch(between))):
            return False
        at = part.end
    return _END.match(prose.text, at) is not None
