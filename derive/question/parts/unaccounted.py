"""Parts and operations that the words name and that no formula computes: «followed by a sigmoid», «is then squared»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

from derive.errors import CardError, OpenError, Problem
from derive.expr import Add, Binder, Bracket, Cases, Entry, Expr, Fn, Mul, Num, Pow, Reduce, Size, walk
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.rules.trees import letters as letters_in
from derive.notation.rules.trees import sides, statements
from derive.notation.symbols import Kind, name_of
from derive.notation.tree import Scripted, has, is_group, is_token, names_in, normal
from derive.question.letters.claims import is_claimed
from derive.question.letters.naming import Mention, bare_letters, lettered, letters_of, mentions, written_letters
from derive.question.parts.recognised import LOSSES
from derive.question.parts.shown import SHOWN, Formulas
from derive.question.requests.verbs import discussed, requested
from derive.question.sentences.acts import in_brackets, is_background
from derive.question.words.lexicon import Span, begins, ends, is_near, named, only
from derive.question.words.prose import BREAK, GAP, Prose

_NESTED = re.compile(r"\s*\\?[A-Za-z]+\s*\([^()]*\\?[A-Za-z]+\s*\([^()]*\)")  # ℓ(φ(s), y)


_OBJECTIVE = re.compile(r"\s*([A-Z]|\\ell|\\math\w+\s*\{\s*\w\s*\})\s*\(([^()]*)\)\s*")  # F(w, b)
_STATED = re.compile(r"\\partial|\\in(?![a-z])")  # of ∂L/∂y, of a shape
_ALLOWED = re.compile(r"\b(?:may|can) (?:use|write|introduce|abbreviate)\b")  # a letter for the answer
_TAKEN = ("letter.target", "letter.weight", "letter.bias")  # what some formula must take
_NORM = re.compile(r"\s*(?:L|\\ell)_\{?[12]\}?\s*")  # $L_2$ regularisation
_NEAR = 150  # characters between a name and the formula that is what it names
_FAR = 500  # characters of its sentence that are read on either side of a part's name


def refuse_other_output(prose: Prose, letters: Iterable[str], declared: Iterable[str]) -> None:
    """Raise :class:`CardError` for «its output $h$», «the target $t$», «the bias $b$» that no formula has."""
    letters, declared = {*letters}, {*declared}
    for mention in mentions(prose, bare_letters):
        at = next((g.start for g in prose.gaps if g.formula is mention.formula), 0)
        allowed = _ALLOWED.search(prose.text[prose.sentence(at)[0] : at])
        called = () if mention.before.endswith("time") or allowed else named(mention.before, "letter")  # «at time $t$»
        for latex in mention.letters if called and called[-1].of("letter.output", *_TAKEN) else ():
            known = letters if called[-1].of(*_TAKEN) else letters | declared
            labelled = called[-1].of("letter.weight", "letter.bias")  # W of W_{xh}
            has = name_of(latex) in known or (labelled and any(k.startswith(f"{name_of(latex)}_") for k in known))
            ranges = labelled and "=" in mention.formula.latex  # «weights $w_k$ and $v_k$, $k = 1, …, K$»
            behind = prose.text[at + 1 :].lstrip(" -")
            norm = _NORM.fullmatch(mention.formula.latex) and behind.startswith(("regulari", "penal", "norm"))
            if not has and not norm and not ranges and not _STATED.search(mention.formula.latex):
                raise CardError(Problem(f"`{latex}` is named ({mention.said}), and no formula has it: write the "
                                        "forward formulas of all that is named", line=mention.formula.line))


def refuse_other_labels(prose: Prose, known: Iterable[str]) -> None:
    """Raise :class:`CardError` for «the weights $W_h$» beside formulas with W_g and no W_h."""
    known = {*known}
    families = {name.partition("_")[0] for name in known if _LABELLED.fullmatch(name)}
    for gap in prose.gaps:
        for latex in lettered(gap.formula):
            name = name_of(latex)
            if _LABELLED.fullmatch(name) and name not in known and name.partition("_")[0] in families - known:
                raise CardError(Problem(f"`{latex}` is named, and no formula has it: write the forward formulas of all "
                                        "that is named", line=gap.formula.line))


_LABELLED = re.compile(r"[A-Za-z]+_[A-Za-z]")  # W_h, not w_1


def refuse_objective(prose: Prose, known: Iterable[str], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for «we minimise $F(w, b)$» of the layer's own letters, where no formula computes F.

    With ∂F/∂w in the question it is a loss further on, of which nothing more need be known.
    """
    known, given = {*known}, {*given}
    for gap in prose.gaps:
        found = _OBJECTIVE.fullmatch(gap.formula.latex)
        letters = [name_of(part) for part in found[2].split(",") if part.strip()] if found else []
        if found is None or name_of(found[1]) in known or not letters or not {*letters} <= given:
            continue
        if not any(re.search(rf"\\(?:partial|nabla)[\s{{]*{re.escape(found[1])}", f.latex) for f in prose.formulas):
            latex = gap.formula.latex.strip()
            raise CardError(Problem(f"`{latex}` is named, and no formula computes it: write it, e.g. `{latex} = …`",
                                    line=gap.formula.line))


def refuse_unaccounted(prose: Prose, values: Iterable[Expr], said: Iterable[Mention], given: Iterable[str],
                       described: bool = False) -> None:
    """Raise :class:`CardError` for a part that the words name and that none of the formulas computes.

    A dropout is shown by its mask: one of the letters ``given``, and called so.  ``given`` has the layer's letters.
    With ``described`` words may name the formulas as they like, unless the layer goes on through the part.
    """
    formulas, given = Formulas.of(values), {*given}
    for gap in (g for g in prose.gaps if not equates(g.formula)):
        before, letters = prose.text[: gap.start], {*map(name_of, bare_letters(gap.formula))}
        followed = not letters & given and ends(before, "goes.followed", over=("between.article",))
        if followed or (_NESTED.match(gap.formula.latex) and ends(before, "letter.loss", over=("goes.is",))):
            raise CardError(Problem(f"`{gap.formula.latex.strip()}`: what does it compute? Write its formula",
                                    line=gap.formula.line))
    masked = any(given & {*m.letters} and named(f"{m.before} {m.after.partition('dropout')[0]}", "goes.mask")
                 for m in said)
    places = [(span.concept.partition(".")[2], span.start, span.stop)
              for span in named(prose.text, "part", "unnamed.cases", "unnamed.activation")]
    for name, start, stop in places:
        shown = SHOWN.get(name)
        own = name in LOSSES and _is_lettered(prose, stop, given)
        if ends(prose.text[:start], "goes.plus", over=("goes.adjective",)):
            raise _unwritten(prose, start, stop)  # «$L = …$ plus an L2 penalty»
        if masked if name == "dropout" else not own and (shown is None or shown(formulas)):
            continue
        if name == "cases" and _is_drawn(prose, start, given):
            continue
        if name == "negative_log_likelihood" and _stands_behind(prose, stop):
            continue  # of any distribution
        told = is_background(prose, start) if described else in_brackets(prose, start)
        if not (told or discussed(prose.text, start)) and (
                name == "cases" or own or _goes_on(prose, start, stop, described and name not in _ADDED)):
            raise _unwritten(prose, start, stop)


def _unwritten(prose: Prose, start: int, stop: int) -> CardError:
    quoted = prose.plain.quote(start, stop)
    return CardError(Problem(f"“{quoted}” is named, and no formula computes it: write the forward formulas of all that "
                             "the output goes through", line=prose.plain.line(start)))


def _is_drawn(prose: Prose, start: int, given: Collection[str]) -> bool:
    """«$m_i = 0$ with probability $p$ and $m_i = 1$ otherwise», of a mask that the layer is given; «$t_{nk} = 1$ if the
    sample belongs to the class $k$ and $t_{nk} = 0$ otherwise», of a label."""
    first, last = prose.sentence(start)
    gap = next((g for g in prose.gaps if start <= g.start < last), None)
    head = next(names_in(gap.formula.tree or ()), "") if gap is not None else ""
    words = prose.text[first:start].split()
    return ("probability" in words or "belongs" in words and "class" in words) and name_of(head) in given


def _is_lettered(prose: Prose, stop: int, known: Collection[str]) -> bool:
    """«the hinge loss $H$»: it has a letter of its own, and no formula has that."""
    gap = next((gap for gap in prose.gaps if gap.start >= stop), None)
    letters = {*map(name_of, bare_letters(gap.formula))} if gap is not None and not equates(gap.formula) else set()
    between = prose.text[stop : gap.start].strip() if gap is not None else ""
    return bool(letters) and letters.isdisjoint(known) and between in ("", "loss", "error", "cost")


def _stands_behind(prose: Prose, stop: int) -> bool:
    """«… is $E = …$», «… of the counts, constants dropped, is» in front of a displayed formula."""
    at = next((n for n in range(stop, len(prose.text)) if prose.text[n] in (GAP, BREAK)), stop)
    inline = next((gap for gap in prose.gaps if gap.start == at), None)
    if at > stop and only(prose.text, stop, at, "naming.is") and (inline is None or equates(inline.formula)):
        return True
    between = prose.text[stop : prose.text.find(BREAK, stop)] if BREAK in prose.text[stop : stop + _NEAR] else "."
    return not {*between} & {*".?!¶:"} and ends(between, "naming.is") and not named(between, "part", "operation")


def refuse_other_layers(prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for a part beside the windows, unless «of the pooling layer» is asked."""
    asks = {prose.sentence(verb.start) for verb in named(prose.text, "ask.verb")}
    of_pooling = (pool for pool in named(prose.text, "geometry.pool", "geometry.whole", "geometry.adaptive")
                  if ends(prose.text[: pool.start], "goes.of_the", most=1))
    if asks.isdisjoint(prose.sentence(pool.start) for pool in of_pooling):
        letters = (symbol.name for symbol in module.table.symbols)
        refuse_unaccounted(prose, [equation.terms[1] for equation in module.equations], (), letters)


_ADDED = frozenset({"penalty", "dropout"})  # no name of formulas, but what is done besides
_HABITS = ("aside.habit", "aside.told", "elsewhere.told")  # tell of habits, whatever joins the part there
_ELSEWHERE = ("aside.other", "aside.elsewhere", "elsewhere.of")  # of other layers and of special cases


def without_asides(text: str) -> str:
    """The words with blanks for those that tell of other layers: «unlike …», up to the comma or to «we use»."""
    for span in named(text, "aside.other"):
        ends = (n for n in range(span.stop, len(text)) if text[n] in ",;" or text.startswith(" we ", n))
        stop = next(ends, len(text))
        text = text[: span.start] + " " * (stop - span.start) + text[stop:]
    return text


def is_aside(words: str) -> bool:
    """The words tell of other layers, of habits or of special cases."""
    return bool(named(words, *_HABITS, *_ELSEWHERE))


def _goes_on(prose: Prose, first: int, last: int, described: bool) -> bool:
    """The words say that the output of the formulas goes through the part that they name here, ``described`` or not."""
    start, stop = prose.sentence(first)
    start, stop = max(start, first - _FAR), min(stop, last + _FAR)
    told = without_asides(prose.text[start:stop])
    if not told[first - start : last - start].strip():
        return False
    before, after = _without_targets(told[: first - start]), _without_targets(told[last - start :])
    denied = any(is_near(after[: s.start], 3) for s in named(after, "not.no")) or ends(before, "not.no", most=2)
    if denied or "not part of" in after.partition(",")[0] or named(f"{before} ∎ {after}", *_HABITS):
        return False
    if ends(before, "goes.on", "goes.followed", over=("goes.adjective",)) or any(
            is_near(after[: s.start], 2) for s in named(after, "goes.applied")) or named(after, "goes.around"):
        return True
    return not described and not named(f"{before} ∎ {after}", *_ELSEWHERE)


def _without_targets(words: str) -> str:
    """The words without «compared with the target»."""
    for span in reversed(named(words, "aside.none")):
        words = words[: span.start] + words[span.stop :]
    return words


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
            matrices = {s.name for s in module.table.symbols if s.name in named_here and len(s.axes) == 2}
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
                if len(mention.after[: s.start].split()) < 5 and not s.of("part.none", "operation.none")]
        of = next((s for s in said if begins(mention.after, s.stop, "defines.of")), None)
        whole = known.isdisjoint(letters) and said and (named(mention.before, "letter.loss") or of or any(
            s.of("operation", "computed") for s in said))
        if whole or of is not None:
            at = next(gap.start for gap in prose.gaps if gap.formula is mention.formula)
            span = of or said[0]
            what = mention.after[span.start : span.stop]
            yield at, at + 1, f"is computed, the {what}, and no formula says how: write it"


def _views(prose: Prose, module: Module) -> Iterator[Open]:
    """«where $b_k$ is row $k$ of $B$», where the layer takes both as given."""
    given = {*module.given}
    for n, gap in enumerate(prose.gaps):
        for other in prose.gaps[n + 1 : n + 3]:
            words = prose.text[gap.start + 1 : other.start]
            one, two = ({*map(name_of, bare_letters(g.formula))} & given for g in (gap, other))
            told = begins(words, 0, "naming.is") and ends(words, "view.of", over=("naming.article",))
            if one and two and one != two and told and not {*words} & {*",.;?!¶"} and " and " not in words:
                yield (gap.start, other.start + 1,
                       "is said, and the layer takes both as given: write the formulas with one of them")


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
