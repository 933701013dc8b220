"""Operations that the words name and that no formula of the layer computes: «the result is then squared»."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from derive.errors import OpenError, Problem
from derive.expr import Add, Bracket, Entry, Expr, Fn, Mul, Num, Pow, Reduce, Size, walk
from derive.module import Module
from derive.question.lexicon import Span, named
from derive.question.prose import GAP, Prose
from derive.question.request import discussed, requested
from derive.question.unaccounted import Formulas

_IN_WORDS = dict(zip("two three four five six seven eight nine ten".split(), range(2, 11), strict=True))
_NUMBER = re.compile(rf"\s+(?:(?:by|with|of|is|equal to)\s+)?(?:a factor of\s+)?"
                     rf"(?P<number>{'|'.join(_IN_WORDS)}|\d+(?:\.\d+)?)\b(?!\s*[×x%]|\.\d|\s+[a-z])")
_CONDITION = re.compile(r"\b(?:if|when|suppose|assum\w*|would|could|let|pokud|kdyby|když)\b")


def _is_negative(term: Expr) -> bool:
    factors = term.factors if isinstance(term, Mul) else (term,)
    return any(isinstance(factor, Num) and factor.value < 0 for factor in factors)


def _is_share(node: Mul) -> bool:
    """1/n Σ, (u + v)/2, but not ½ (y − t)²."""
    summed = any(isinstance(factor, (Reduce, Add)) for factor in node.factors)
    fraction = [f.value for f in node.factors if isinstance(f, Num) and f.value.denominator > 1]
    return bool(fraction) and (summed or abs(fraction[0].numerator / fraction[0].denominator) != 0.5)


def _divides(node: object) -> bool:
    """By anything but a number or the 1 + e^u of a sigmoid."""
    if not (isinstance(node, Pow) and isinstance(node.exponent, Num) and node.exponent.value < 0):
        return False
    below = tuple(walk(node.base))
    return any(isinstance(n, (Reduce, Size)) for n in below) or not any(
        isinstance(n, Fn) and n.name == "exp" for n in below)


def _averages(node: object) -> bool:
    """Σ / n, or by a sum such as Σ m."""
    if isinstance(node, Mul):
        return _is_share(node)
    return isinstance(node, Pow) and _divides(node) and any(isinstance(n, (Reduce, Size)) for n in walk(node.base))


# How a formula shows that it computes the operation; of those that are not here only a formula in their sentence does.
_SHOWN: dict[str, Callable[[Formulas], bool]] = {
    "square": lambda f: f.powers(2),
    "cube": lambda f: f.powers(3),
    "root": lambda f: f.rooted,
    "mean": lambda f: any(map(_averages, f.nodes)),
    "divide": lambda f: any(_divides(n) or (isinstance(n, Num) and n.value.denominator > 1) for n in f.nodes),
    "subtract": lambda f: any(isinstance(n, Add) and any(map(_is_negative, n.terms)) for n in f.nodes),
    "add": lambda f: f.reduces("sum") or any(isinstance(n, Add) for n in f.nodes),
    "joined": lambda f: any(isinstance(n, Add) and any(isinstance(t, Entry) for t in n.terms) for n in f.nodes),
    "multiply": lambda f: any(isinstance(n, Mul) and sum(not isinstance(x, Num) for x in n.factors) > 1
                              for n in f.nodes),
    "double": lambda f: f.numbers(2, 0.5),
    "cut": lambda f: f.branches,
    "tied": lambda f: max(Counter(n.tensor for n in f.nodes if isinstance(n, Entry)).values(), default=0) > 1,
    "round": lambda f: f.calls("sign", "floor", "ceil", "round") or any(isinstance(n, Bracket) for n in f.nodes),
}


def refuse_operations(prose: Prose, module: Module) -> None:
    """Raise :class:`OpenError` for the first operation that the words say is done and no formula of the module does."""
    values = [equation.terms[1] for equation in module.equations]
    formulas = Formulas.of([*values, *(function.body for function in module.functions)])
    for span in _said(prose):
        kind = span.concept.partition(".")[2]
        number = _NUMBER.match(prose.text, span.stop) if kind in ("multiply", "divide", "quantity") else None
        if number is not None:
            value = float(_IN_WORDS.get(number["number"], 0) or number["number"])
            done = formulas.numbers(value, -value, 1 / value if value else 0)
        elif kind in _SHOWN:
            done = _SHOWN[kind](formulas)
        else:
            written = GAP in prose.text[slice(*prose.sentence(span.start))]
            done = kind == "quantity" or (bool(module.fields) if kind == "pad" else written)
        if not done:
            quoted = prose.plain.quote(span.start, number.end() if number else span.stop)
            raise OpenError(Problem(f"“{quoted}” is said, and no formula of the layer does it: write the forward "
                                    "formulas with it", line=prose.plain.line(span.start), key="forward"),
                            found=module)


def _said(prose: Prose) -> Iterator[Span]:
    """What the words say is done in the layer: no requests, asides, conditions, claims or talk of derivatives."""
    text = prose.text
    parts = named(text, "part", "operation.none")
    for span in named(text, "operation"):
        if span.of("operation.none") or any(p.start <= span.start < p.stop for p in parts):
            continue
        start, stop = prose.sentence(span.start)
        around = f"{text[start : span.start]} ∎ {text[span.stop : stop]}"
        silent = (named(around, "claim.shown", "aside.other", "aside.habit", "request.jacobian", "request.gradient",
                        "request.vjp")
                  or named(text[max(start, span.start - 20) : span.start], "not")
                  or _CONDITION.search(text, start, stop) or discussed(text, span.start)
                  or requested(text, span.start))
        if not silent:
            yield span
