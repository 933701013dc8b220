"""The numbers of a question: taken out of it before it is read, which leaves the layer, and bound to its letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from derive.axes import axes
from derive.card import Card
from derive.errors import CardError, DeriveError, OpenError, Problem
from derive.expr import Entry
from derive.module import Module, Numbers
from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.literals import Literal, literal
from derive.notation.rules import trees
from derive.notation.rules.kinds import is_derived
from derive.notation.symbols import Kind, name_of
from derive.question.steps import Step
from derive.question.words.lexicon import named
from derive.question.words.prose import GAP, Prose
from derive.question.words.reading import question_prose
from derive.records import dataclass
from derive.sections import lines_of
from derive.specify.stated import formulas_of
from derive.specify.wanted import NAMES
from derive.statement import Statement

MOST = 240  # numbers of one question: more do not fit a page
_MAY_STAND = re.compile(r"matrix|array|[(\[=]\s*+(?:(?:\{?[-+]|\\[td]?frac\s*+\{?)\s*+)?\d")
_NUMBER = r"[-−]?\d+(?:\.\d+)?"
_TABLE = re.compile(rf"^[ \t]*+\|?[ \t]*+{_NUMBER}[ \t]*(?:\|[ \t]*{_NUMBER}[ \t]*)+\|?[ \t]*$"
                    rf"|^[ \t]*+[\[(]*+[ \t]*+{_NUMBER}(?:[ \t,;]+{_NUMBER})+[ \t,;\])]*$", re.MULTILINE)
_LISTS = ("LPAREN", "LBRACK")
_PAIR = 2  # (2, 2) may be a stride, (1, 5, 2) is none
_ONLY = re.compile(rf" {GAP}(?: ?,? ?(?:and )?{GAP})* ?[.;?]")
_BEFORE = 60  # characters in which the noun of a letter stands


@dataclass(frozen=True)
class Given:
    """A letter with numbers, as the question writes it.

    ``letter`` is its LaTeX, of ∂L/∂y that of y, "" where numbers stand alone; ``role`` is "input" or "upstream" where
    the words before it say so.
    """

    letter: str
    role: str
    numbers: Literal
    line: int | None
    words: str


@dataclass(frozen=True)
class _Place:
    """Where numbers stand in the source, what stands there without them, and what they give."""

    start: int
    stop: int
    instead: str
    given: Given | None
    sure: bool  # no stride and no size is written so


def apart(card: Card, steps: Sequence[Step] = ()) -> tuple[Card, tuple[Given, ...]]:
    r"""The card with ``x \in \mathbb{R}^2`` for ``x = (1, 2)``, and what such formulas give; as it is without any.
    """
    if _MAY_STAND.search(card.question) is None:
        return card, ()
    try:
        prose = question_prose(card)
    except DeriveError:
        return card, ()
    rates = {name_of(step.rate) for step in steps if step.rate}
    places = [place for formula in prose.formulas for place in _places(formula, prose.formulas, prose)]
    places = [place for place in places if place.sure or (place.given and name_of(place.given.letter) in rates)]
    if not places:
        return card, ()
    places += [*_evaluated(places, prose), *_manners(prose)]
    question = card.question
    for place in sorted(places, key=lambda p: -p.start):
        kept = "\n" * question.count("\n", place.start, place.stop)
        question = question[: place.start] + place.instead + kept + question[place.stop :]
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    text = card.text[:at] + question + card.text[at + len(card.question) :]
    return replace(card, text=text), tuple(place.given for place in places if place.given)


def refuse_tables(card: Card) -> None:
    """Raise :class:`CardError` for numbers in a code block or a table, which are not read."""
    for found in _TABLE.finditer(card.question):
        line = card.question_line + card.question.count("\n", 0, found.start())
        raise CardError(Problem("numbers in a table or a code block are not read: write them as in "
                                r"`$x = (1, 2)$` or `$X = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$`", line=line,
                                key="values"))


def stated(statement: Statement) -> tuple[Given, ...]:
    """What the front matter gives; raises :class:`CardError` for what is no letter with numbers."""
    found = []
    for formula in trees.with_trees(formulas_of(statement, "values")):
        parts = [_parted(part) for part in trees.statements(formula.tree or ())]
        if not parts or any(part is None for part in parts):
            raise CardError(Problem(f"`values: {formula.latex}`: numbers are given as in `x = (1, 2)` or "
                                    r"`W = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`", line=formula.line))
        found += [Given(_letter(head, formula, begin), _of_message(head), numbers, formula.line, formula.latex)
                  for head, begin, _, numbers in filter(None, parts)]
    return tuple(found)


# --- where numbers stand ----------------------------------------------------------------------------------------------


def _places(formula: Formula, formulas: Sequence[Formula], prose: Prose) -> Iterator[_Place]:
    at, source = prose.plain.place(formula), prose.plain.source
    if formula.tree is None or not source.startswith(formula.latex, at):
        return
    ends = ". " if formula.latex.endswith(".") else " "
    alone = literal([i for i in formula.tree if str(i) != "."])
    if alone is not None and alone.axes and isinstance(_bare(formula.tree[0]), tr.Env):
        start, stop = _with_signs(source, at, at + len(formula.latex))
        role = _role(prose, at)
        given = Given("", role, alone, formula.line, formula.latex)
        yield _Place(start, stop, (" " if role else " an input") + ends, given, True)
        return
    others = [other for other in formulas if other is not formula]
    parts = trees.statements(formula.tree)
    for n, part in enumerate(parts):
        found = _parted(part)
        if found is None:
            continue
        head, begin, end, numbers = found
        derived, letter = is_derived(head), _letter(head, formula, begin)
        role = _of_message(head) or (_role(prose, at, len(parts) == 1) if n == 0 else "")
        computes = any(_computed_with(head, other) for other in others) or _is_label(head, others)
        long = numbers.axes and (prod(numbers.shape) > _PAIR or isinstance(_bare(part[-1]), tr.Env))
        plain = derived or role == "upstream"
        known = tr.has(part, "IN") or any(_declares(other, letter) for other in others)
        space = r" \in \mathbb{R}^{" + r" \times ".join(map(str, numbers.shape)) + "}"
        if not numbers.axes or plain or known or numbers.shape[0] == 1:  # a row may be a vector's or a matrix's
            space = ""
        if derived and formula.display and len(parts) == 1:  # it stands in a sentence then
            space = f" given ${formula.latex[:begin].strip()}${ends}"
            begin, end = (place - at for place in _with_signs(source, at, at + len(formula.latex)))
        yield _Place(at + begin, at + end, space,
                     Given(letter, role, numbers, formula.line, formula.latex[head[0].start : end].strip()),
                     bool(computes or long or derived or role == "upstream" or (numbers.axes and role)))


def _declares(formula: Formula, letter: str) -> bool:
    r"""z \in \mathbb{R}^K, x, z \in \mathbb{R}^K"""
    return any(tr.has(part, "IN", "RANGE") and len(trees.sides(part)) == 1 and name_of(letter) in tr.names_in(
        tr.split(part, "IN", "RANGE")[0]) for part in trees.statements(formula.tree or ()))


def _bare(item: tr.Item) -> tr.Item:
    """What stands in a pair of brackets alone, and without scripts."""
    item = tr.base_of(item)
    return item.items[0] if tr.is_group(item, *_LISTS) and len(item.items) == 1 else item


def _parted(part: trees.Run) -> tuple[trees.Run, int, int, Literal] | None:
    r"""(x, where = stands, where the numbers end, the numbers) of «x = (1, 2) \in \mathbb{R}^2».

    Of «δ = ∂L/∂y = (1, 2)» the derivative has the numbers, of «x = (x_0, …, x_4) = (1, 2, …)» the first letter.
    """
    bare = [i for i in tr.split(part, "IN")[0] if str(i) != "."]
    signs = [n for n, i in enumerate(bare) if tr.is_token(i, "REL")]
    if not signs or any(str(bare[n]) != "=" for n in signs):
        return None
    heads = [tuple(bare[a:b]) for a, b in zip((0, *(n + 1 for n in signs)), signs, strict=False)]
    derived = next((n for n, head in enumerate(heads) if is_derived(head)), 0)
    listed = all(len(head) == 1 and tr.is_group(head[0], *_LISTS) for head in heads[1:] if not is_derived(head))
    head, numbers = heads[derived], literal(bare[signs[-1] + 1 :])
    if not head or numbers is None or not listed:
        return None
    named_ = len(head) == 1 and tr.is_token(tr.base_of(head[0]), "NAME")
    return (head, bare[signs[derived]].start, bare[-1].end, numbers) if named_ or is_derived(head) else None


def _letter(head: trees.Run, formula: Formula, stop: int) -> str:
    r"""The LaTeX of x, and of y in ∂L/∂y."""
    if is_derived(head):
        below = head[0].arguments[1] if isinstance(head[0], tr.Command) and head[0].type == "FRAC" else head
        signs = [n for n, i in enumerate(below) if tr.is_token(i, "PARTIAL") or str(i) == "d"]
        head = tuple(below[signs[-1] + 1 :]) if signs else ()
        stop = head[-1].end if head else stop
    return formula.source.latex[head[0].start : stop].strip(" &") if head else ""


def _of_message(head: trees.Run) -> str:
    return "upstream" if is_derived(head) or str(tr.base_of(head[0])) == "delta" else ""


def _computed_with(head: trees.Run, other: Formula) -> bool:
    """Another formula computes with the letter: it stands on the right, and not as an index or a size only."""
    wanted = trees.spelt(head)
    return any(trees.spelt((item,)) == wanted or trees.spelt((tr.base_of(item),)) == wanted
               for part in trees.statements(other.tree or ()) for side in trees.sides(part)[1:]
               for top in side for item in _level(top))


def _level(item: tr.Item) -> Iterator[tr.Item]:
    """The item and what stands inside it, but in subscripts."""
    yield item
    item = tr.normal(item)
    runs = ((item.base,), *item.sups) if isinstance(item, tr.Scripted) else tr.below(item)
    inner = tuple(i for run in runs for i in run)
    for one in inner:
        yield from _level(one)


def _is_label(head: trees.Run, others: Sequence[Formula]) -> bool:
    """c of $p_c$, alone in its place, of what is computed; not where an index c runs, as in $p_c = …$ and $\\sum_c$."""
    wanted, found = trees.spelt(head), False
    parts = [trees.sides(part) for other in others for part in trees.statements(other.tree or ())]
    for n, item in ((n, i) for part in parts for n, side in enumerate(part) for top in side for i in _level(top)):
        item = tr.normal(item)
        if isinstance(item, tr.Scripted) and any(trees.spelt(sub[: len(head)]) == wanted for sub in item.subs):
            if n == 0 and not is_derived((item,)) or not tr.starts_factor(item.base):
                return False
            found = found or any(trees.spelt(sub) == wanted for sub in item.subs)
    return found


def _role(prose: Prose, at: int, alone: bool = True) -> str:
    """«the input $x = …$»: what the nearest words before say of it, back to another formula or a full stop."""
    start = max((n for n, place in enumerate(prose.plain.origin) if place < at), default=0)
    before = re.split(rf"[.?!;{GAP}]", prose.text[max(0, start - _BEFORE) : start])[-1]
    behind = re.split(rf"[.?!;,{GAP}]|\band\b", prose.text[start + 1 : start + 1 + _BEFORE])[0]
    if alone and named(behind, "numbers.is_upstream"):
        return "upstream"
    spans_ = (span for span in named(before, "numbers") if not span.of("numbers.at", "numbers.is_upstream"))
    found = max(spans_, key=lambda span: span.stop, default=None)
    role = found.concept.partition(".")[2] if found is not None else ""
    return role if role in ("input", "upstream") else ""


def _evaluated(places: Iterable[_Place], prose: Prose) -> Iterator[_Place]:
    """«, where $x$» for «and evaluate it at $x$»; «. Let $x$ and $w$.» where a sentence ends in such: they are not
    what it asks for, as in «the gradients with respect to $w$ for $w = 2$ and $x = 3$».
    """
    text, origin = prose.text, prose.plain.origin
    numbers_ = {gap.start for gap in prose.gaps if any(
        origin[gap.start] <= place.start < origin[gap.start] + len(gap.formula.latex) + 2 for place in places)}
    for span in named(text, "numbers.at", "numbers.for"):
        first, rest = span.stop + 1, _ONLY.match(text, span.stop)
        if first not in numbers_:
            continue
        if rest is not None and all(n in numbers_ for n in range(first, rest.end()) if text[n] == GAP) and (
                text[: span.start].rstrip(" ,")[-1:] not in ("", ".", "?", "¶", ":")):
            before = origin[span.start] - (len(text[: span.start]) - len(text[: span.start].rstrip(" ,")))
            yield _Place(before, origin[span.stop - 1] + 1, ". Let", None, True)
        elif not span.of("numbers.for"):
            yield _Place(origin[span.start], origin[span.stop - 1] + 1, ", where", None, True)


def _manners(prose: Prose) -> Iterator[_Place]:
    """«Compute» for «Evaluate», and nothing for «numerically», «to four decimals»: numbers are what is asked for."""
    origin = prose.plain.origin
    for span in named(prose.text, "numbers.manner", "numbers.evaluate"):
        start, stop = origin[span.start], origin[span.stop - 1] + 1
        verb = "compute" if span.of("numbers.evaluate") else ""
        yield _Place(start, stop, verb.capitalize() if prose.source_at(span.start).isupper() else verb, None, True)


def _with_signs(source: str, start: int, stop: int) -> tuple[int, int]:
    """The place with the signs around a formula, and the blanks in them."""
    while start and source[start - 1] in "$ \n":
        start -= 1
    return start, next((n for n in range(stop, len(source)) if source[n] not in "$ \n"), len(source))


# --- whose numbers they are -------------------------------------------------------------------------------------------


def with_numbers(module: Module, given: Iterable[Given], stated_: Iterable[Given] = (),
                 steps: Iterable[str] = ()) -> Module:
    """The layer with the numbers of its letters and of its upstream gradient, counted as the layer counts.

    Those that are ``stated_`` count over what the question gives; ``steps`` are the words that tell a step's size.

    Raises :class:`OpenError` for numbers of a letter that it does not have, and for a letter without numbers.
    """
    own = tuple(stated_)
    given = (*own, *given)
    sizes = {name_of(one.letter): one for one in given if any(u.rate == name_of(one.letter) for u in module.updates)}
    module = replace(module, updates=tuple(replace(u, size=sizes[u.rate].numbers.rows[0][0]) if u.rate in sizes else u
                                           for u in module.updates))
    given = tuple(one for one in given if one not in sizes.values())
    given = tuple(one for one in given if not _is_extent(one, given, module))
    if not given:
        return module
    if sum(prod(g.numbers.shape) for g in given) > MOST:
        raise CardError(Problem(f"more than {MOST} numbers: they do not fit a page", line=given[0].line))
    found: dict[str, Given] = {}
    for one in (*(g for g in given if g.letter), *(g for g in given if not g.letter)):
        tensor = _tensor(one, module, found)
        if tensor in found and found[tensor] in own and one not in own:
            continue
        if tensor is None or tensor in found:
            why = "has two values" if tensor in found else "is no letter of the layer, as it is read"
            raise OpenError(Problem(f"`{one.words}`: `{one.letter or one.words}` {why}", line=one.line, key="values"),
                            found=module)
        found[tensor] = one
    missing = [name for name in module.given if name not in found]
    if missing:
        raise OpenError(Problem(f"the question gives numbers, and none for `{missing[0]}`: write them, as in "
                                f"`{missing[0]} = …`, or list them under `values`", line=given[0].line, key="values"),
                        found=module)
    upstream = f"delta_{module.output}"
    if upstream not in found and _needs_upstream(module):
        raise OpenError(Problem("the question gives numbers, and none for the gradient that comes in: write them, as "
                                r"in `\delta = …`, or list them under `values`", line=given[0].line, key="values"),
                        found=module)
    if any(u.size is None for u in module.updates):
        raise OpenError(Problem("the question gives numbers, and none for the step size: write it, as in “with the "
                                "learning rate 0.1”", line=given[0].line, key="values"), found=module)
    values = tuple((tensor, _counted(one, tensor, module)) for tensor, one in found.items())
    if upstream in found and not module.wanted and "vjp" not in module.asked:
        module = replace(module, asked=(*module.asked, "vjp"), parts=(*module.parts, *module.parts[-1:]))
    said = (f"numbers of `{tensor}` (line {one.line})" for tensor, one in found.items() if one.line is not None)
    decimals = _in_decimals([*(one.words for one in (*given, *sizes.values())), *steps])
    return replace(module, values=values, decimals=decimals, rows=_by_itself(module),
                   readings=(*module.readings, *said))


def _is_extent(one: Given, given: Iterable[Given], module: Module) -> bool:
    """K = 3 beside the three numbers of $z$: raises :class:`CardError` where there are more or fewer."""
    size = module.table.named(name_of(one.letter)) if one.letter else None
    if size is None or size.kind is not Kind.SIZE or one.numbers.shape:
        return False
    lengths = {(other.letter, length) for other in given if other.letter and (
        own := module.table.named(name_of(other.letter))) is not None and len(own.sizes) == len(other.numbers.shape)
        for name, length in zip(own.sizes, other.numbers.shape, strict=True) if name == size.name}
    wrong = next((found for found in sorted(lengths) if found[1] != one.numbers.rows[0][0]), None)
    if wrong is not None:
        raise CardError(Problem(f"`{one.words}`, and `{wrong[0]}` has {wrong[1]} numbers: change one of them",
                                line=one.line, key="values"))
    return bool(lengths)


def _by_itself(module: Module) -> bool:
    """The derivative of the output is asked for as such: a backward message of windows has it, too."""
    symbol = module.table.named(module.output)
    own = (NAMES["jacobian"], "jacobian", *([rf"\partial {symbol.latex}"] if symbol is not None else []))
    return any(name in r for r in module.readings if r.startswith("asked for ") for name in own)


def _in_decimals(texts: Iterable[str]) -> bool:
    """The question writes 0.5, and no fraction."""
    found = " ".join(texts)
    return re.search(r"\d\.\d", found) is not None and re.search(r"frac\s*\{?\s*\d|\d\s*/\s*\d", found) is None


def _needs_upstream(module: Module) -> bool:
    """A gradient of the loss is asked for, of an output with entries."""
    asked = any(isinstance(w.of, Entry) and w.of.tensor == "loss" for w in module.wanted) if module.wanted else (
        {"vjp", "parameters"} & {*module.asked})
    return bool(asked) and bool(module.definition(module.output)[0].indices)


def _tensor(one: Given, module: Module, found: dict[str, Given]) -> str | None:
    """The letter that has these numbers; a layer that words name has only letters of ours: then its input."""
    name, upstream = name_of(one.letter) if one.letter else "", f"delta_{module.output}"
    message = module.table.named(upstream)
    own = next((n for n in module.given if (s := module.table.named(n)) and name_of(s.latex) == name), name)
    if own in module.given and one.role != "upstream":
        return own
    if one.role == "upstream" or (message is not None and one.letter == message.latex):
        return upstream if name not in module.given else None
    left = [wrt for wrt in module.inputs if wrt not in found and _fits(one, wrt, module)]
    named_ = module.name is not None or one.role == "input" or not name
    return left[0] if named_ and len(left) == 1 and name not in module.defined else None


def _fits(one: Given, tensor: str, module: Module) -> bool:
    symbol = module.table.named(tensor)
    return symbol is not None and one.numbers.of_rank(len(symbol.axes)) is not None


def _counted(one: Given, tensor: str, module: Module) -> Numbers:
    """The entries at the coordinates that the layer counts."""
    name = tensor.removeprefix("delta_")
    symbol = module.table.named(name)
    rank = len(symbol.axes) if symbol is not None else 0
    entries = one.numbers.of_rank(rank)
    if entries is None:
        raise CardError(Problem(f"`{one.words}`: `{one.letter or name}` has {rank} "
                                f"{'index' if rank == 1 else 'indices'}, and its numbers have the shape "
                                f"{one.numbers.shape}", line=one.line))
    starts = [axes(module).origin(name, d) for d in range(rank)]
    return tuple((tuple(i + s for i, s in zip(at, starts, strict=True)), Fraction(n)) for at, n in entries.items())
