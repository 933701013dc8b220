"""Operations that the words name and that no formula of the layer computes: «the result is then squared»."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from derive.errors import OpenError, Problem
from derive.expr import Add, Binder, Bracket, Cases, Entry, Expr, Fn, Mul, Num, Pow, Reduce, Size, walk
from derive.module import Module
from derive.notation.symbols import name_of
from derive.question.lexicon import Span, named
from derive.question.naming import bare_letters, letters_of, mentions
from derive.question.prose import Prose
from derive.question.request import discussed, requested
from derive.question.unaccounted import Formulas, without_asides

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


Open = tuple[int, int, str]  # where it is said, and what is wrong with it
_OF = re.compile(r"(?: [\w-]+){0,2}? (?:of|between|over)\b")
_DENOTES = re.compile(r"\s*(?:is|are|denotes?|stands? for|means?|represents?)\b")
_SIGNS = {"norm": re.compile(r"\s*(?:\\[lr]?Vert|\\\||\||\\[lr]vert)\s*\\cdot\s*(?:\\[lr]?Vert|\\\||\||\\[lr]vert)\s*"),
          "product": re.compile(r"\s*(?:\*|\\(?:ast|odot|circ|otimes|star))\s*")}
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
    "restrict": lambda f: any(isinstance(n, (Cases, Bracket)) or (isinstance(n, Binder) and n.cond is not None)
                              for n in f.nodes),
    "round": lambda f: f.calls("sign", "floor", "ceil", "round") or any(isinstance(n, Bracket) for n in f.nodes),
}


def refuse_unformulated(prose: Prose, module: Module) -> None:
    """Raise :class:`OpenError` for the first thing that the words say is computed and no formula of the module does."""
    for start, stop, problem in (*_operations(prose, module), *_statistics(prose, module),
                                 *_undefined(prose, module), *_signs(prose)):
        raise OpenError(Problem(f"“{prose.plain.quote(start, stop)}” {problem}", line=prose.plain.line(start),
                                key="forward"), found=module)


def _operations(prose: Prose, module: Module) -> Iterator[Open]:
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
            done = _settled(kind, span, prose, module)
        if not done:
            yield (span.start, number.end() if number else span.stop,
                   "is said, and no formula of the layer does it: write the forward formulas with it")


def _settled(kind: str, span: Span, prose: Prose, module: Module) -> bool:
    """Whether a kind that no formula shows is settled: by the module, or by a formula of its sentence."""
    sentence = prose.sentence(span.start)
    here = [gap.formula for gap in prose.gaps if sentence[0] <= gap.start < sentence[1]]
    match kind:
        case "quantity":
            return True
        case "pad":
            return bool(module.fields)
        case "batch":
            elsewhere = " ".join(formula.latex for formula in prose.formulas if formula not in here)
            sizes = [gap.formula.latex.strip() for gap in prose.gaps if span.start <= gap.start < span.stop]
            return all(re.search(rf"(?<![A-Za-z\\]){size}(?![A-Za-z])", elsewhere) for size in sizes if size.isalpha())
        case "log":
            return any(r"\log_" in formula.latex for formula in prose.formulas)
        case "over":
            output, _ = module.definition(module.output)
            return not output.indices or not named(prose.text[slice(*sentence)], "head.loss", "letter.loss")
        case "form":
            named_here = {name for formula in here for name in letters_of(formula, module.table)}
            matrices = {s.name for s in module.table.symbols if s.name in named_here and len(s.axes) == 2}
            return not matrices - {*module.constants}
    return bool(here)


def _statistics(prose: Prose, module: Module) -> Iterator[Open]:
    """«$\\mu$ the mean», «the variance $v$» of a letter that nothing defines, and that is not asked for."""
    asked = {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)}
    given = {*module.given} - {*module.parameters} - asked
    known = {*module.given, *module.defined}
    for name in sorted(name for name in given if name.endswith("_bar") and name.removesuffix("_bar") in known):
        for span in named(prose.text, "statistic.mean"):
            yield span.start, span.stop, f"is said, and no formula computes `{name}`: write it"
    for mention in mentions(prose, partial(letters_of, table=module.table)):
        if not given & {*mention.letters} or named(f"{mention.before} ∎ {mention.after}", "statistic.held"):
            continue
        before, after = (named(words, "statistic.of", "statistic.mean") for words in (mention.before, mention.after))
        called = [s for s in before if s.stop == len(mention.before)] + [
            s for s in after if len(mention.after[: s.start].split()) < 3 or _OF.match(mention.after, s.stop)]
        at = next(gap.start for gap in prose.gaps if gap.formula is mention.formula) if called else 0
        for span in called[:1]:
            words = mention.before[span.start : span.stop] or mention.after[span.start : span.stop]
            yield at, at + 1, f"is computed, the {words}, and no formula says how: write it"


def _undefined(prose: Prose, module: Module) -> Iterator[Open]:
    """«the loss $L$ is the sum of these contributions», where no formula computes L."""
    known = {*module.given, *module.defined}
    for mention in mentions(prose, bare_letters):
        said = named(mention.after, "statistic.mean", "statistic.of")
        if known.isdisjoint(map(name_of, mention.letters)) and said and not named(mention.after, "statistic.held") and (
                named(mention.before, "letter.loss") and len(mention.after[: said[0].start].split()) < 3):
            at = next(gap.start for gap in prose.gaps if gap.formula is mention.formula)
            what = mention.after[said[0].start : said[0].stop]
            yield at, at + 1, f"is computed, the {what}, and no formula says how: write it"


def _signs(prose: Prose) -> Iterator[Open]:
    """«where $*$ denotes convolution»: the sign of an operation that means another one than here."""
    for gap in prose.gaps:
        sign = next((name for name, latex in _SIGNS.items() if latex.fullmatch(gap.formula.latex)), None)
        _, stop = prose.sentence(gap.start)
        if sign and _DENOTES.match(prose.text, gap.start + 1) and not named(
                prose.text[gap.start : stop], f"sign.{sign}"):
            yield gap.start, stop, "is another meaning than the sign has here: write the formulas without it"


def _said(prose: Prose) -> Iterator[Span]:
    """What the words say is done in the layer: no requests, asides, conditions, claims or talk of derivatives."""
    text = prose.text
    parts = named(text, "part", "operation.none")
    for span in named(text, "operation"):
        if span.of("operation.none") or any(p.start <= span.start < p.stop for p in parts):
            continue
        start, stop = prose.sentence(span.start)
        told = without_asides(text[start:stop])
        around = f"{told[: span.start - start]} ∎ {told[span.stop - start :]}"
        silent = (not told[span.start - start : span.stop - start].strip()
                  or named(around, "claim.shown", "aside.habit", "request.jacobian", "request.gradient", "request.vjp")
                  or named(text[max(start, span.start - 20) : span.start], "not")
                  or _CONDITION.search(text, start, stop) or discussed(text, span.start)
                  or requested(text, span.start))
        if not silent:
            yield span
