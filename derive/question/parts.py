"""Layers that a question names without a formula, alone or behind one: their formulas, and their letters on a card."""

from __future__ import annotations

import re
from collections.abc import Sequence

from derive.errors import CardError, Problem
from derive.expr import Entry, Expr, Mul, walk
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates
from derive.notation.symbols import SymbolTable, name_of
from derive.question.accounting import refuse_mixed, refuse_unaccounted_words
from derive.question.chain import Chain
from derive.question.doubts import Doubts
from derive.question.lexicon import named, only
from derive.question.naming import Mention, written_letters
from derive.question.network import Own, network
from derive.question.prose import Gap, Prose
from derive.question.recognised import Part
from derive.question.roles import sizes_said
from derive.question.unaccounted import shown
from derive.specify.definitions import Definition, Definitions

_LETTER = r"\\?[A-Za-z]+"
_NAME = rf"{_LETTER}(?:_\{{?{_LETTER}\}}?)?|\\(?:mathrm|operatorname|text)\{{\w+\}}"
_SIGNATURE = re.compile(rf"\s*({_NAME})\s*\(\s*{_LETTER}(?:\s*[,;]\s*{_LETTER})*\s*\)\s*=")
_SEVERAL = re.compile(
    r"\b(?:output|target|bias|weight) vectors?\b|\bone-hot\b|\b(?:weight|parameter) matri(?:x|ces)\b"
    r"|\bmati[cč]\w+ vah\b|(?:∎|\b[kmn]|\b\d+) (?:output )?(?:units|neurons|outputs|jednot\w*|neuron\w*|výstup\w*)")
_OF = re.compile(r"\\frac\s*\{\s*\\partial\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?)\s*\}")


def stated_parts(
    prose: Prose, written: Sequence[Formula], defined: Definitions, doubts: Doubts
) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that only words name, in the order named, and what their letters are.

    Nothing where the formulas define the layer; a function f(s) = … of the card is the part behind whose name it
    stands.  Raises :class:`UnsupportedError` for parts that have no formula here, and :class:`CardError` where the
    order is not clear.
    """
    chain = Chain(prose)
    if not chain.asked:
        return [], []
    if not chain.parts or not _in_words(chain, defined):
        return [], []
    refuse_mixed(chain.parts, chain)
    functions = [_own(formula) for _, formula in defined.functions.values()]
    losses = [loss.formula for loss in chain.losses.values()]
    functions += [_own(d.formula) for d in defined.tensors.values() if d.formula not in losses]
    found = network(chain, written, functions, several=_SEVERAL.search(prose.text) is not None)
    with doubts.over("forward"):
        refuse_unaccounted_words(chain, found.formulas, found.used, [*sizes_said(prose), *_units(chain)])
    return found.formulas, found.mentions


def _units(chain: Chain) -> list[str]:
    return [p.options["units"] for p in chain.parts if "units" in p.options]


def _in_words(chain: Chain, defined: Definitions) -> bool:
    """The card has no formulas of the layer but for functions f(s) = … of its parts, and that of its loss."""
    losses = [loss.formula for loss in chain.losses.values()]
    if defined.aliases or defined.known or any(
            _SIGNATURE.match(d.formula.latex) is None and d.formula not in losses for d in defined.tensors.values()):
        return False
    functions = bool(defined.functions or defined.tensors)
    if len(chain.parts) == 1:
        return not functions
    return not functions or any(p.loss or p.name == "linear" for p in chain.parts)


def refuse_linear(prose: Prose, defined: Definitions) -> None:
    """Raise :class:`CardError` for a linear layer that is followed by others and that no formula computes."""
    chain = Chain(prose)
    linear = next((p for p in chain.parts if p.name == "linear" and chain.asked), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    products = any(isinstance(n, Mul) and sum(any(isinstance(e, Entry) for e in walk(f)) for f in n.factors) > 1
                   for value in values for n in walk(value))
    if linear and values and not products and named(
            chain.prose.text[slice(*chain.prose.sentence(linear.start))], "join"):
        raise CardError(Problem(f"{chain.quoted(linear)} is named, and no formula computes it: write the forward "
                                "formulas of all layers", line=chain.prose.plain.line(linear.start)))


def _own(formula: Formula) -> Own:
    r"""f of f(s) = \max(s, a s), with a."""
    match = _SIGNATURE.match(formula.latex)
    name = match[1] if match else formula.latex.split("(")[0].strip()
    head, _, body = formula.latex.partition("=")
    body = re.sub(r"\\(?:text|begin|end)\{[^}]*\}", "", body)
    letters = re.findall(r"(?<![A-Za-z\\{])(\\?[a-z]+)(?![A-Za-z}])", body)
    symbols = [c for c in letters if len(c) == 1 or c in (r"\alpha", r"\beta", r"\lambda")]
    own = tuple(dict.fromkeys(c for c in symbols if c not in re.findall(r"\\?[A-Za-z]+", head)))
    return Own(name, formula, own)


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
_OF_LOSS = re.compile(r",?\s*(?:derive|compute|calculate|find|determine) the (?:gradients?|derivatives?) of the $")
_USED = r"(?:(?:is|are) (?:used|applied|minimi[sz]ed|taken)\s*)?"
_END = re.compile(rf"{_AFTER}\s*{_USED}(?:[.;¶]|$|with respect|for \b|\()")


def continued_parts(prose: Prose, written: Sequence[Formula], defined: Definitions,
                    table: SymbolTable, doubts: Doubts) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that words join to the output of the card's formulas, and what their letters are.

    Nothing where nothing joins them, or where a formula computes one of the parts already.
    """
    last = _last(defined)
    gap = next((g for g in prose.gaps if last is not None and g.formula == last.formula), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    if last is None:
        return [], []
    chain = Chain(prose)
    symbol = table.named(last.entry.tensor)
    source = symbol.latex if symbol else last.entry.tensor
    parts = [p for p in chain.parts if prose.plain.place(last.formula) < prose.plain.origin[p.start]]
    plainly = gap is not None and not any(shown(p.name, values) for p in parts) and _joined(prose, gap, parts)
    before = all(p in parts or shown({"convolution": "linear"}.get(p.name, p.name), values) for p in chain.parts)
    if not parts or not plainly and not (before and (_fed(prose, source, parts) or _follows(prose, last, parts))):
        return [], []
    chain.parts, chain.continued = parts, True
    taken = {known.latex for name in defined.tensors if (known := table.named(name)) is not None}
    used = {s.latex for s in table.symbols}
    loss = next((chain.losses[p.start] for p in parts if p.start in chain.losses), None)
    if loss is not None and loss.prediction(chain.letter("target"))[0] in taken:
        return [], []  # «a sigmoid behind $s$ and the error $(s - y)^2$»: which s?
    chain.bound |= taken
    asked = {m[1].strip() for f in written for m in _OF.finditer(f.latex)} - taken
    if len(asked) == 1:
        chain.loss_letter = asked.pop()
    rank = len(last.entry.indices) or (len(symbol.axes) if symbol else 0)
    found = network(chain, written, [], source=source, rank=rank, taken=used)
    if not plainly:
        refuse_mixed(parts, chain)
        chain.understood.append((0, parts[0].start))  # what leads to the formulas' output
        with doubts.over("forward"):
            refuse_unaccounted_words(chain, [*found.formulas, *written], [*found.used, *written],
                                     [*sizes_said(prose), *_units(chain)])
    return found.formulas, found.mentions


def _fed(prose: Prose, source: str, parts: Sequence[Part]) -> bool:
    """«the average $\\bar{e}$ is fed to a linear layer»: the letter of the formulas' output stands before a join."""
    before = [g for g in prose.gaps if g.start < parts[0].start]
    letters = written_letters(before[-1].formula) if before else ()
    between = prose.text[before[-1].start + 1 : parts[0].start] if before else ""
    joined = named(between, "join.through", "join.then") and not re.search(r"[.;¶]", between)
    return bool(joined) and [_name(c) for c in letters] == [_name(source)]


def _follows(prose: Prose, last: Definition, parts: Sequence[Part]) -> bool:
    """«It is followed by a ReLU»: the sentence right behind the formulas begins so."""
    start, _ = prose.sentence(parts[0].start)
    words = prose.text[start : parts[0].start]
    joins = named(words, "join.through")
    between = (prose.plain.place(g.formula) for g in prose.gaps if equates(g.formula))
    nearest = not any(prose.plain.place(last.formula) < at < prose.plain.origin[start] for at in between)
    return bool(joins) and nearest and only(words, 0, joins[0].start, "anaphor") and "∎" not in words


def _name(latex: str) -> str:
    r"""bar{e} of \bar e."""
    return name_of(re.sub(r"(\\[A-Za-z]+)\s+([A-Za-z])", r"\1{\2}", latex))


def _last(defined: Definitions) -> Definition | None:
    """The one definition that no other uses."""
    used = {n.tensor for d in defined.tensors.values() for n in _entries(d.value)}
    found = [d for name, d in defined.tensors.items() if name not in used]
    return found[0] if len(found) == 1 else None


def _entries(value: Expr) -> list[Entry]:
    return [n for n in walk(value) if isinstance(n, Entry)]


def _joined(prose: Prose, gap: Gap, parts: Sequence[Part]) -> bool:
    """Nothing but words that join stands between the formula and the parts, and nothing but their letters behind."""
    at = gap.start + 1
    for part in parts:
        between = prose.text[at : part.start]
        if not (_THEN.fullmatch(between) or (part.loss and len(parts) == 1 and _OF_LOSS.fullmatch(between))):
            return False
        at = part.end
    return _END.match(prose.text, at) is not None
