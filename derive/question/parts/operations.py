"""Operations that the words say are done, and that no formula of the layer does: «is then squared», «the mean of»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from derive.errors import OpenError, Problem
from derive.expr import Add, Binder, Bracket, Cases, Entry, Expr, Fn, Mul, Num, Pow, Reduce, Size, walk
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.trees import letters as letters_in
from derive.notation.rules.trees import sides, statements
from derive.notation.symbols import Kind, name_of
from derive.notation.tree import Scripted, has, is_group, is_token, names_in, normal
from derive.question.letters.claims import is_claimed
from derive.question.letters.naming import bare_letters, letters_of, mentions, written_letters
from derive.question.parts.shown import Formulas
from derive.question.parts.unaccounted import is_aside, without_asides
from derive.question.requests.verbs import discussed, requested
from derive.question.sentences.acts import is_background
from derive.question.words.lexicon import Span, begins, ends, is_near, named, only
from derive.question.words.prose import BREAK, GAP, Prose

_BESIDE = 24  # characters in front of a formula: with the rows $w_k$ of $W$
_BOTH_GIVEN = "is said, and the layer takes both as given: write the formulas with one of them"
_IN_WORDS = dict(zip("two three four five six seven eight nine ten".split(), range(2, 11), strict=True))
_NUMBER = re.compile(rf"\s+(?:(?:by|with|of|is|equal to)\s+)?(?:a factor of\s+)?"
                     rf"(?P<number>{'|'.join(_IN_WORDS)}|\d+(?:\.\d+)?)\b(?!\s*[×x%]|\.\d|\s+[a-z])")


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
_SIGNS = {"norm": re.compile(r"\s*(?:\\[lr]?Vert|\\\||\||\\[lr]vert)\s*\\cdot\s*(?:\\[lr]?Vert|\\\||\||\\[lr]vert)\s*"),
          "product": re.compile(r"\s*(?:\*|\\(?:ast|odot|circ|otimes|star))\s*")}
_STARRED = re.compile(r"[A-Za-z0-9)}\]]\s*(?:\*|\\ast\b|\\star\b|\\circledast\b)\s*[\w(\\]")  # w * x, not x^* y
_NOT_WRITTEN = "is said, and no formula of the layer does it: write the forward formulas with it"
_NOUNS = frozenset({"mean_of", "difference", "quantity", "noise"})
# How a formula shows that it computes the operation; of those that are not here only a formula in their sentence does.
_OPERATIONS: dict[str, Callable[[Formulas], bool]] = {
    "square": lambda f: f.powers(2),
    "cube": lambda f: f.powers(3),
    "root": lambda f: f.rooted,
    **dict.fromkeys(("mean", "mean_of"), lambda f: any(map(_averages, f.nodes))),
    "divide": lambda f: any(_divides(n) or (isinstance(n, Num) and n.value.denominator > 1) for n in f.nodes),
    **dict.fromkeys(("subtract", "difference"), lambda f: any(isinstance(n, Add) and any(map(_is_negative, n.terms))
                                                             for n in f.nodes)),
    "add": lambda f: f.reduces("sum") or any(isinstance(n, Add) for n in f.nodes),
    "joined": lambda f: any(isinstance(n, Add) and any(isinstance(t, Entry) for t in n.terms) for n in f.nodes),
    "around": lambda f: any(isinstance(n, Add) and any(isinstance(t, Entry) and f.uses(t.tensor) > 1 for t in n.terms)
                            for n in f.nodes),
    "multiply": lambda f: any(isinstance(n, Mul) and sum(not isinstance(x, Num) for x in n.factors) > 1
                              for n in f.nodes),
    "double": lambda f: f.numbers(2, 0.5),
    "cut": lambda f: f.branches,
    "extremum": lambda f: f.branches,
    "tied": lambda f: any(f.uses(n.tensor) > 1 for n in f.nodes if isinstance(n, Entry)),
    "restrict": lambda f: any(isinstance(n, (Cases, Bracket)) or (isinstance(n, Binder) and n.cond is not None)
                              for n in f.nodes),
    "round": lambda f: f.calls("sign", "floor", "ceil", "round") or any(isinstance(n, Bracket) for n in f.nodes),
}


def refuse_unformulated(prose: Prose, module: Module, posed: bool = False) -> None:
    """Raise :class:`OpenError` for the first thing that the words say is computed and no formula of the module does.

    Beside formulas by which a question is ``posed`` nouns, «the mean of …», may be of anything.
    """
    for start, stop, problem in (*_operations(prose, module, posed), *_statistics(prose, module),
                                 *_undefined(prose, module), *_of_others(prose, module), *_views(prose, module),
                                 *_signs(prose), *_values(prose, module), *_equations(prose, module),
                                 *_fixed(prose, module)):
        raise OpenError(Problem(f"“{prose.plain.quote(start, stop)}” {problem}", line=prose.plain.line(start),
                                key="forward"), found=module)


def _operations(prose: Prose, module: Module, posed: bool) -> Iterator[Open]:
    values = [equation.terms[1] for equation in module.equations]
    formulas = Formulas.of([*values, *(function.body for function in module.functions)])
    for span in _said(prose):
        kind = span.concept.partition(".")[2]
        attribute = kind in _NOUNS or _is_attribute(span, prose) or is_background(prose, span.start)
        if posed and kind != "form" and attribute:  # «a diagonal matrix $W$»
            continue
        number = _NUMBER.match(prose.text, span.stop) if kind in ("multiply", "divide", "quantity") else None
        if number is not None:
            value = float(_IN_WORDS.get(number["number"], 0) or number["number"])
            done = formulas.numbers(value, -value, 1 / value if value else 0)
        elif kind in _OPERATIONS:
            done = _OPERATIONS[kind](formulas)
        else:
            done = _settled(kind, span, prose, module)
        if not done:
            yield span.start, number.end() if number else span.stop, _NOT_WRITTEN


def _is_attribute(span: Span, prose: Prose) -> bool:
    """«the smoothed modulus»: a participle between an article and its noun."""
    behind = prose.text[span.stop : span.stop + 2]
    before = prose.text[: span.start]
    article = ends(before, "naming.article") or _ADJECTIVES.search(before)
    return bool(article) and behind[:1] == " " and behind[1:].isalpha()


_ADJECTIVES = re.compile(r"\b(?:a|an|the|its) (?:fixed|given|known|constant|suitably|symmetrically|row) ?\Z")


def _settled(kind: str, span: Span, prose: Prose, module: Module) -> bool:
    """Whether a kind that no formula shows is settled: by the module, or by a formula of its sentence."""
    sentence = prose.sentence(span.start)
    here = [gap.formula for gap in prose.gaps if sentence[0] <= gap.start < sentence[1]]
    if prose.text[sentence[1] - 1] == BREAK:
        here += prose.displayed(sentence[1] - 1)
    match kind:
        case "quantity":
            return True
        case "pad":
            return bool(module.fields)
        case "batch":
            elsewhere = " ".join(formula.latex for formula in prose.formulas if formula not in here)
            sizes = [gap.formula.latex.strip() for gap in prose.gaps if span.start <= gap.start < span.stop]
            extents = {n.name for equation in module.equations for n in walk(equation) if isinstance(n, Size)}
            extents |= {str(size) for symbol in module.table.symbols for size in symbol.sizes}
            return all(size in extents or re.search(rf"(?<![A-Za-z\\]){size}(?![A-Za-z])", elsewhere)
                       for size in sizes if size.isalpha())
        case "log":
            return any(r"\log_" in formula.latex for formula in prose.formulas)
        case "over":
            output, _ = module.definition(module.output)
            return not output.indices or not named(prose.text[slice(*sentence)], "head.loss", "letter.loss")
        case "form":
            named_here = {name for formula in here for name in letters_of(formula, module.table)}
            every = not named_here and ends(prose.text[sentence[0] : span.start].rstrip(), "letter.weight", most=2)
            matrices = {s.name for s in module.table.symbols if (every or s.name in named_here) and len(s.axes) == 2}
            by = {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)}
            return not (matrices & by if by else matrices - {*module.constants})
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
        at = next((gap.start for gap in prose.gaps if gap.formula is mention.formula), 0)
        behind = "" if prose.text[at + 1 :].lstrip().startswith(":") else mention.after  # «the input $x$: the mean …»
        before = [mention.before[s.start : s.stop] for s in named(mention.before, "statistic.of", "statistic.mean")
                  if s.stop == len(mention.before)]
        after = [behind[s.start : s.stop] for s in named(behind, "statistic.of", "statistic.mean")
                 if len(behind[: s.start].split()) < 3 or any(
                     is_near(behind[s.stop : of.start], 2) for of in named(behind, "statistic.over"))]
        for words in (*before, *after)[:1]:
            yield at, at + 1, f"is computed, the {words}, and no formula says how: write it"


_NOTHING_COMPUTED = ("part.none", "operation.none", "operation.over")


def _undefined(prose: Prose, module: Module) -> Iterator[Open]:
    """«the loss $L$ is the sum of these violations», «$y$ is twice the tanh of $z$», where no formula computes it."""
    known = {*module.given, *module.defined}
    computed = {*module.defined, *(s.name for s in module.table.of_kind(Kind.SIZE)),
                *(axis for s in module.table.symbols for axis in s.axes)}
    for mention in mentions(prose, bare_letters):
        letters = {*map(name_of, mention.letters)}
        if letters <= computed or named(mention.after, "statistic.held") or is_claimed(mention.formula, prose):
            continue
        said = [s for s in named(mention.after, "statistic.mean", "statistic.of", "operation", "part", "computed.by")
                if len(mention.after[: s.start].split()) < 5 and not s.of(*_NOTHING_COMPUTED)]
        of = next((s for s in said if begins(mention.after, s.stop, "defines.of")), None)
        whole = known.isdisjoint(letters) and said and (named(mention.before, "letter.loss") or of or any(
            s.of("operation", "computed") for s in said))
        if whole or of is not None:
            at = next(gap.start for gap in prose.gaps if gap.formula is mention.formula)
            span = of or said[0]
            what = mention.after[span.start : span.stop]
            yield at, at + 1, f"is computed, the {what}, and no formula says how: write it"


def _views(prose: Prose, module: Module) -> Iterator[Open]:
    r"""«where $b_k$ is row $k$ of $B$», «the rows $w_k^\top$ of $W$», where the layer takes both as given."""
    given = {*module.given}
    for n, gap in enumerate(prose.gaps):
        for other in prose.gaps[n + 1 : n + 3]:
            words = prose.text[gap.start + 1 : other.start]
            near = prose.text[max(0, gap.start - _BESIDE) : other.start]
            pair = [{*names_in(g.formula.tree or ())} & given for g in (gap, other)]
            cased = any(a != b and a.lower() == b.lower() for a in pair[0] for b in pair[1])
            if cased and {*words}.isdisjoint(".;?!¶") and named(near, "samples.rows", "samples.columns"):
                yield gap.start, other.start + 1, _BOTH_GIVEN
            one, two = ({*map(name_of, bare_letters(g.formula))} & given for g in (gap, other))
            told = begins(words, 0, "naming.is") and ends(words, "view.of", over=("naming.article",))
            if one and two and one != two and told and not {*words} & {*",.;?!¶"} and " and " not in words:
                yield gap.start, other.start + 1, _BOTH_GIVEN


_OF_ITSELF = frozenset("row rows column columns entry entries component components element elements".split())


def _of_others(prose: Prose, module: Module) -> Iterator[Open]:
    """«$s_i$ is the cosine of the query $q$», where the layer takes s as given and has no q."""
    known = {*module.given, *module.defined, *(s.name for s in module.table.symbols if s.kind is not Kind.TENSOR)}
    for gap, other in itertools.pairwise(prose.gaps):
        letters, others = ({*map(name_of, bare_letters(g.formula))} for g in (gap, other))
        words = prose.text[gap.start + 1 : other.start]
        given = letters and others and letters <= {*module.given} and known.isdisjoint(others)
        told = given and begins(words, 0, "naming.is") and named(words, "between.of") and not {*words} & {*".;?!¶"}
        if told and not {*words.split()} & _OF_ITSELF:
            yield gap.start, other.start + 1, "is said, and no formula has it: write what it computes"


def _values(prose: Prose, module: Module) -> Iterator[Open]:
    """«The loss is $(y - t)^2$», «the layer returns $y + x$»: a value that no formula of the layer has."""
    _, value = module.definition(module.output)
    of_output = {n.tensor for n in walk(value) if isinstance(n, Entry)}
    for gap in prose.gaps:
        first = normal(gap.formula.tree[0]) if gap.formula.tree else None
        power = isinstance(first, Scripted) and any(is_token(i, "NUMBER") for sup in first.sups for i in sup)
        listed = has(gap.formula.tree or (), "COMMA", "DOTS")
        alone = listed or len(gap.formula.tree or ()) == 1 and (is_group(first) or not power)
        if kind_of(gap.formula) not in (Said.VALUE, Said.LETTERS) or alone or letters_in([gap.formula]) <= of_output:
            continue
        start, _ = prose.sentence(gap.start)
        before = prose.text[start : gap.start]
        verb = next((s for s in named(before, "computed.says") if only(
            before, s.stop, len(before), "naming.article")), None)
        subject = before if verb is None else before[: verb.start]
        own = ends(subject, "computed.whole", "head.loss", "letter.loss") or verb is not None and ends(
            subject, "computed.who")
        if own and not (_written(gap.formula, module) or discussed(prose.text, gap.start) or is_aside(before)
                        or named(before, "claim.shown")):
            yield gap.start, gap.start + 1, "is computed, and no formula gives it a letter: write it as an equation"


def _written(formula: Formula, module: Module) -> bool:
    """The formula is one of those of which the module is made."""
    return any(f"${formula.latex.strip()}$" in reading for reading in module.readings)


def _equations(prose: Prose, module: Module) -> Iterator[Open]:
    r"""«$V = W^\top$» of a letter that the layer takes as given."""
    known = {*module.given, *module.defined}
    for gap in prose.gaps:
        for two in map(sides, statements(gap.formula.tree or ())):
            plain = len(two) == 2 and two[1] and not any(has(two[1], s) for s in ("DOTS", "COMMA", "PARTIAL", "NABLA"))
            head = name_of("".join(written_letters(replace(gap.formula, tree=two[0])))) if plain else ""
            if head in module.given and known & {*names_in(two[1])} - {head} and not (
                    is_claimed(gap.formula, prose) or _written(gap.formula, module)
                    or ends(prose.text[: gap.start], "slot.condition")):
                yield (gap.start, gap.start + 1,
                       f"is said, and the layer takes `{head}` as given: write the formulas with it put in")


def _signs(prose: Prose) -> Iterator[Open]:
    """«where $*$ denotes convolution»: the sign of an operation that means another one than here."""
    for gap in prose.gaps:
        sign = next((name for name, latex in _SIGNS.items() if latex.fullmatch(gap.formula.latex)), None)
        _, stop = prose.sentence(gap.start)
        if sign and begins(prose.text, gap.start + 1, "sign.denotes") and not named(
                prose.text[gap.start : stop], f"sign.{sign}"):
            yield gap.start, stop, "is another meaning than the sign has here: write the formulas without it"
        if _STARRED.search(gap.formula.latex) and named(prose.text, "sign.convolved"):
            yield (gap.start, gap.start + 1, "may be a convolution or a product: write its entries, as in "
                                             r"`y_t = \sum_k w_k x_{t+k}`")


def _fixed(prose: Prose, module: Module) -> Iterator[Open]:
    """«treating $a$ as a constant» of a letter that is computed; the straight-through estimator; also in requests."""
    for span in named(prose.text, "operation.stop", "operation.held"):
        first = span.start if GAP in prose.text[span.start : span.stop] else prose.text.rfind(GAP, 0, span.start)
        gaps = (gap for gap in prose.gaps if first <= gap.start < span.stop)
        held = {*module.defined} & {n for gap in gaps for n in letters_of(gap.formula, module.table)}
        if held or span.of("operation.stop"):
            yield span.start, span.stop, _NOT_WRITTEN


_NOT_DONE = ("claim.shown", "aside.habit", "request.jacobian", "request.gradient", "request.vjp")


def _apart(text: str, start: int, stop: int, *concepts: str) -> bool:
    """The text names one of the concepts by words that do not stand between the places."""
    found = named(text, *concepts)
    return any(s.stop <= start or stop <= s.start for s in found) or bool(found) and bool(
        named(f"{text[:start]} ∎ {text[stop:]}", *concepts))


def _said(prose: Prose) -> Iterator[Span]:
    """What the words say is done in the layer: no requests, asides, conditions, claims or talk of derivatives."""
    text, sentence, told = prose.text, (0, 0), ""
    parts = {at for p in named(text, "part", "operation.none") for at in range(p.start, p.stop)}
    for span in named(text, "operation"):
        if span.of("operation.none") or span.start in parts:
            continue
        start, stop = prose.sentence(span.start)
        if (start, stop) != sentence:
            sentence, told = (start, stop), without_asides(text[start:stop])
        silent = (not told[span.start - start : span.stop - start].strip()
                  or _apart(told, span.start - start, span.stop - start, *_NOT_DONE)
                  or named(text[max(start, span.start - 20) : span.start], "not")
                  or named(text[start:stop], "aside.condition") or discussed(text, span.start)
                  or requested(text, span.start))
        if not silent:
            yield span
