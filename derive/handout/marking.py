"""Points for what a question asks for, which sum to those of the card, and what mistakes typical of the layer cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

from derive.calculus.dependence import reached
from derive.calculus.derivation import Step, is_silent, unlettered
from derive.exposition.story import Story, whole
from derive.exposition.window_example import example_point
from derive.expr import (
    Add,
    Bracket,
    Cases,
    Entry,
    Expr,
    Extremum,
    Fn,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    conditions,
    eq,
    walk,
)
from derive.handout.apportioned import apportioned
from derive.handout.computed import computed, numbers
from derive.module import Module
from derive.question.words.lexicon import named
from derive.records import dataclass
from derive.sheet import Block, Math
from derive.solve import Solution
from derive.verify.mistakes import MASK_ALONE, jacobians, messages, values_of
from derive.verify.report import Check, Verdict
from derive.words import wording

UNSTATED = 5  # what a card that states no points is marked out of
WHOLE, HALF, QUARTER = Fraction(1), Fraction(1, 2), Fraction(1, 4)
_ASKED = re.compile(r"^asked for the (derivative of the output|backward message) \((.*)\)")
_CONDITIONS = re.compile(r"\\text\{(if|pokud) \}.*?(?=\\\\|\\end)|\\mathbb\{I\}\[.*?\]", re.S)
_QUOTED = re.compile("“(.*)”")
_SLIPS = ("the sign", "an inequality", "two indices", "the indices")


@dataclass(frozen=True)
class Item:
    """What is asked for: of ``kind``, in the forms that the answer gives it, by these ``steps`` of the derivation.

    Kinds: "forward", "jacobian", "message", and "either", a derivative or the message that it gives; "value" of what
    a question with numbers asks for. Of such a question the ``numbers`` stand beside the formulas.
    """

    kind: str
    formulas: tuple[Math, ...]
    steps: tuple[Step, ...] = ()
    written: int = 1
    numbers: tuple[Block, ...] = ()
    tensor: str = ""  # whose value it is
    wrt: str = ""  # by which the derivative

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is to be written for it."""
        return (*self.formulas, *self.numbers)

    @property
    def weight(self) -> int:
        """What writing it down takes, and one for each step."""
        return self.written + len(self.steps)

    @property
    def values(self) -> tuple[Expr, ...]:
        """The right sides of its formulas."""
        return tuple(f.expr.terms[-1] for f in self.formulas if isinstance(f.expr, Rel))


@dataclass(frozen=True)
class Share:
    """What earns ``points``: one item, or several where there are more of them than half points."""

    items: tuple[Item, ...]
    points: Fraction


@dataclass(frozen=True)
class Mistake:
    """What goes wrong, in words, and the points that it loses."""

    words: str
    cost: Fraction


@dataclass(frozen=True)
class Marking:
    """Shares whose points sum to ``points``."""

    points: int
    shares: tuple[Share, ...]
    mistakes: tuple[Mistake, ...]


def marking(solution: Solution, points: int | None) -> Marking:
    """The marking guide of an answer: all points are for what is asked, in proportion to the steps that each takes.

    A mistake costs its part of the points of the item that it spoils, and of several such the dearest.
    """
    total = UNSTATED if points is None else points
    asked = items(solution)
    shares = tuple(_shared(asked, total))
    worth = {item: share.points for share in shares for item in share.items}
    costs: dict[str, Fraction] = {}
    for words, item, part in mistakes(solution, asked):
        costs[words] = max(costs.get(words, HALF), Fraction(round(worth[item] * part * 2), 2))
    return Marking(total, shares, tuple(Mistake(w, c) for w, c in sorted(costs.items(), key=lambda c: -c[1])))


def unfair(guide: Marking, solution: Solution, points: int | None) -> Iterator[Check]:
    """What is wrong with a guide: its points, what earns them and in which order, in which proportion, its mistakes."""
    def wrong(what: str, evidence: str) -> Check:
        return Check("marks", "", Verdict.REFUTED, what, evidence)

    total, shares = UNSTATED if points is None else points, guide.shares
    if {total} != {guide.points, sum(s.points for s in shares)} or any(s.points <= 0 for s in shares):
        yield wrong("The points sum to those of the question", f"they are {', '.join(str(s.points) for s in shares)}")
    asked = [(item, s) for s in shares for item in s.items]
    places = [[n for n, block in enumerate(solution.sheet.answer) if block in item.formulas
               and block.name != "between"] for item, _ in asked if item.formulas]
    known = [item.blocks for item in items(solution)]
    if [item.blocks for item, _ in asked] != known or any(not p for p in places) or sorted(places) != places:
        yield wrong("Each thing asked for earns points once, in the answer's order", f"{len(asked)} of {len(known)}")
    if any((_kind(item.formulas) if item.formulas else "value") != item.kind for item, _ in asked):
        yield wrong("What earns points is called what it is", ", ".join(item.kind for item, _ in asked))
    groups = [(sum(item.weight for item in s.items), s.points) for s in shares]
    exact = [(points, Fraction(total * weight, sum(w for w, _ in groups))) for weight, points in groups]
    raised = sum(max(0 * WHOLE, 1 - own) for _, own in exact)  # what small items get beyond their part
    if any(not own - 1 - raised <= points <= max(WHOLE, own + 1) for points, own in exact):
        yield wrong("The points are in proportion to the steps", ", ".join(f"{p} for {w} steps" for w, p in groups))
    alone = sorted(((s.items[0].weight, s.points) for s in shares if len(s.items) == 1), key=lambda pair: pair)
    if [p for _, p in alone] != sorted(p for _, p in alone):
        yield wrong("What takes more steps earns no less", ", ".join(f"{p} for {w} steps" for w, p in alone))
    possible: dict[str, Fraction] = {}
    for words, item, part in mistakes(solution, [item for item, _ in asked]):
        worth = next(s.points for own, s in asked if own is item)
        possible[words] = max(possible.get(words, HALF), Fraction(round(worth * part * 2), 2))
    never = set() if whole(solution.messages) else impossible(
        solution, [f for item, _ in asked for f in item.formulas if item.kind != "forward"])
    for mistake in guide.mistakes:
        if possible.get(mistake.words) != mistake.cost or mistake.words in never:
            yield wrong("A mistake can be made here and costs its part", f"{mistake.words}: {mistake.cost}")


def impossible(solution: Solution, formulas: Sequence[Math]) -> set[str]:
    """The mistakes to which neither the answer as it is printed nor the formulas of the layer give occasion."""
    module, printed = solution.module, " ".join(f.latex for f in formulas)
    rights = " ".join(f.latex.partition("=")[2] for f in formulas)
    bodies = (*module.equations, *(f.body for f in module.functions))
    apart = _CONDITIONS.sub("", rights)
    bent = {type(n) for body in bodies for n in walk(body)} & {Fn, Pow, Extremum, Cases, Bracket}
    say: Any = wording("en", "mistakes")  # each a phrase, which a page tells in its language
    occasion = {say.sign(): "-" in rights, say.sum_lost(): re.search(r"\\sum|\\top", apart),
                say.index_reversed(): re.search(r"_\{[^{}]*-", rights),
                say.cases_wrong(): re.search(r"cases|\\max|\\min", rights), say.inner_derivative(): bent,
                say.factor_lost(): bent or len(module.equations) > 1,
                say.indices_swapped(): re.search(r"_\{[^{}]*\w[^{}]*\w|\\top|[A-Z]", printed),
                say.diagonal_only(): re.search(r"\\mathbb|\\mathrm|\\sum|-|\+", rights)}
    return {words for words, found in occasion.items() if not found}


def _kind(formulas: Iterable[Math]) -> str:
    """What formulas of the same are, by their left sides."""
    lefts = [cast(Rel, f.expr).terms[0] for f in formulas if f.name != "between"]
    if len({cast(Entry, left.of).tensor for left in lefts if isinstance(left, Partial)}) > 1:  # ∂y/∂x and ∂L/∂x
        return "either"
    kinds = {"jacobian" if isinstance(left, Partial) else "message" if cast(Entry, left).tensor.startswith("delta_")
             else "forward" for left in lefts}
    return kinds.pop() if len(kinds) == 1 else "either"


def items(solution: Solution) -> tuple[Item, ...]:
    """What the question asks for, in the answer's order; forms of the same are one item."""
    module = solution.messages.module
    apart = both_asked(module, "" if solution.card is None else solution.card.question)
    between = tuple(b for b in solution.sheet.answer if isinstance(b, Math) and b.name == "between")
    found: dict[tuple[str, ...], list[Math]] = {}
    for block in solution.sheet.answer:
        left = (block.expr.terms[0] if isinstance(block, Math) and isinstance(block.expr, Rel)
                and block.name != "numbers" else None)
        key: tuple[str, ...] | None = None
        if isinstance(left, Partial):
            of, wrt = (cast(Entry, end).tensor for end in (left.of, left.wrt))
            named = (module.wanted and _spelt(module)) or (apart and wrt in module.inputs)
            key = ("either", wrt, *((of,) if named else ()))
        elif isinstance(left, Entry) and left.tensor.startswith("delta_") and block not in between:
            key = ("either", left.tensor.removeprefix("delta_"))
        elif isinstance(left, Entry) and left.tensor in module.defined and "forward" in module.asked:
            key = ("forward",)
        if key is not None:
            found.setdefault(key, []).append(cast(Math, block))
    made = [_item(key, tuple(forms), solution, apart) for key, forms in found.items()]
    made = [replace(item, steps=tuple(beyond(item, made, module))) for item in made]
    if module.values:
        made = list(in_numbers(made, solution))
    return tuple(_with_between(made, between))


def _with_between(made: Iterable[Item], between: Sequence[Math]) -> Iterator[Item]:
    """Each gradient between with the first item that goes by it."""
    for item in made:
        used, own = {n.tensor for value in item.values for n in walk(value) if isinstance(n, Entry)}, list[Math]()
        for block in reversed(between):
            if used & {cast(Entry, s.terms[0]).tensor for s in conditions(block.expr) if isinstance(s, Rel)}:
                used |= {n.tensor for n in walk(block.expr) if isinstance(n, Entry)}
                own.insert(0, block)
        between = [block for block in between if block not in own]
        yield replace(item, formulas=(*own, *item.formulas))


def beyond(item: Item, asked: Sequence[Item], module: Module) -> Iterator[Step]:
    """The steps of an item but for those that earn their points where they are asked for: by a tensor on its way."""
    def plain(step: Step) -> Node:
        return unlettered(eq(cast(Expr, step.before), cast(Expr, step.after)))

    told = {plain(step) for other in asked if other.wrt in module.defined and other.wrt != item.wrt
            and item.wrt in reached(Entry(other.wrt, ()), module) for step in other.steps}
    return (step for step in item.steps if plain(step) not in told)


def in_numbers(made: Sequence[Item], solution: Solution) -> Iterator[Item]:
    """Of a question with numbers: the values that it asks for, by what is evaluated for them, others with theirs."""
    module, shown = solution.messages.module, dict(numbers(solution))
    question, evaluated = solution.card.question if solution.card is not None else "", set[str]()
    for tensor in computed(question, module):
        new = {*reached(Entry(tensor, ()), module), tensor} & {*module.defined} - evaluated
        own = [module.definition(t)[1] for t in new]
        evaluated |= new
        if (value := shown.get(Entry(tensor, ()))) is not None:
            yield Item("value", (), (), sum(1 + _signs(v) for v in own), (value,), tensor)
    for item in made:
        lefts = {_unlettered(cast(Rel, f.expr).terms[0]) for f in item.formulas}
        yield replace(item, numbers=tuple(block for node, block in shown.items() if _unlettered(node) in lefts))


def _unlettered(left: Node) -> tuple[str, ...]:
    """(y, W) of ∂y_k/∂W_{ij}, also of ∂y_0/∂W."""
    ends = (left.of, left.wrt) if isinstance(left, Partial) else (left,)
    return tuple(cast(Entry, end).tensor for end in ends)


def _signs(value: Expr) -> int:
    """The sums and functions in it."""
    return sum(isinstance(n, Reduce | Fn | Cases | Extremum) for n in walk(value))


def both_asked(module: Module, question: str = "") -> bool:
    """The question asks for the derivative and for the message: not where “the message ∂y/∂x” or “by x” names one."""
    said = {what: quote for r in module.readings for what, quote in _ASKED.findall(r)}
    listed = any("`derive` lists it" in r for r in module.readings)
    joined = module.jacobian_apart or _joined(question, module.readings)
    return {"jacobian", "vjp"} <= {*module.asked} and not module.wanted and (
        listed or joined or len({*said.values()}) > 1)


def _joined(question: str, readings: Iterable[str]) -> bool:
    """“$∂y/∂x$ and the backward message”, in this order or in the other one."""
    for quote in (found[1] for r in readings if r.startswith("asked for") and (found := _QUOTED.search(r))):
        before, _, behind = question.partition(quote)
        *_, formula, words = ("", *before.split("$"))
        after, _, rest = behind.partition(r"\partial")
        between = (words if r"\partial" in formula else "", after if rest else "")
        if any(named(text, "geometry.and") for text in between):
            return True
    return False


def _spelt(module: Module) -> bool:
    """The derivatives are asked for one by one, not “the messages to $X$”: that are ∂y/∂X, or the ∂L/∂X it gives."""
    return any(r.startswith("asked for $") or "`derive` lists it" in r for r in module.readings)


def _item(key: tuple[str, ...], forms: tuple[Math, ...], solution: Solution, apart: bool) -> Item:
    if key == ("forward",):
        made = Item("forward", forms)
        each = [f for f in forms if f.name != "attained"]  # f = x_{i*j*} says again what the maximum is
        # of a layer that is only named the formulas are to be known: each sum and each function in them counts, too
        signs = sum(_signs(cast(Rel, f.expr).terms[-1]) for f in each)
        return replace(made, written=len(each) + (signs if solution.messages.module.name else 0))
    kind = _kind(forms)
    _, wrt, *of = key
    derivation, output = solution.messages, solution.module.output
    known = derivation.jacobian(wrt, of[0] if of and of[0] in derivation.module.defined and of[0] != output else None)
    total = derivation.message(wrt) if kind == "message" and apart else known
    # beside the Jacobian that is asked for, too, the message takes but the steps from there
    before = tuple(steps(known)) if total is not known and wrt in derivation.module.inputs else ()
    return Item(kind, forms, tuple(s for s in steps(total) if s not in before), wrt=wrt)


def steps(derived: Step, seen: set[Step] | None = None) -> Iterator[Step]:
    """The steps that a derivation would name, each once: none that is silent, only rearranges, or gives a number."""
    seen = set() if seen is None else seen
    if derived in seen:
        return
    seen.add(derived)
    for premise in derived.premises:
        yield from steps(premise, seen)
    silent = is_silent(derived.rule, derived.premises)
    if not silent and derived.rule != "form" and not isinstance(derived.after, Num):
        yield derived


def mistakes(solution: Solution, asked: Sequence[Item]) -> Iterator[tuple[str, Item, Fraction]]:
    """(words, the item that it spoils, which part of its points it loses): such as this question gives occasion to."""
    story = whole(solution.messages)
    if story is not None:
        yield from _of_windows(story, [item for item in asked if item.kind not in ("forward", "value")])
        return
    for item in asked:
        for words, part in _of_formulas(item) if item.kind != "forward" else ():
            yield words, item, part


def _of_windows(story: Story, asked: Sequence[Item]) -> Iterator[tuple[str, Item, Fraction]]:
    """The known mistakes that show in the worked example: where windows tile, no overlap can be lost."""
    w, point = story.windowed, example_point(story)
    pick = max if story.op == "max" else min
    windows = {out: values_of(w, point, out) for out in point.tensor(story.module.output)}
    wanted = {(out, pick(values, key=values.__getitem__)): 1 for out, values in windows.items() if values}
    truth = point.tensor(f"delta_{story.wrt}")
    wrong = [words for words, entries in jacobians(w, point) if dict(entries) != wanted]
    back = [words for words, values in messages(w, point)
            if words not in wrong and any(values.get(at, 0) != value for at, value in truth.items())]  # fmt: skip
    for item in asked:
        for words in (*(wrong if item.kind != "message" or len(asked) == 1 else ()),
                      *(w for w in back if item.kind == "message" or item.kind == "either" and w != MASK_ALONE)):
            slip = words.startswith(_SLIPS) or item.kind == "either" and words in back  # the derivative alone is right
            yield words, item, HALF if slip else WHOLE


def _of_formulas(item: Item) -> Iterator[tuple[str, Fraction]]:
    """What an item's derivation and its formulas give occasion to."""
    say: Any = wording("en", "mistakes")  # each a phrase, which a page tells in its language
    nodes = [node for value in item.values for node in walk(value)]
    if any(isinstance(n, Reduce) and n.op == "sum" for value in item.values for n in _outside(value, Fn, Pow)):
        yield say.sum_lost(), HALF
    if _factors(item.steps, 2, "composition", "reverse"):
        yield say.factor_lost(), HALF
    if any(isinstance(n, Cases | Extremum) for n in nodes):
        yield say.cases_wrong(), HALF
    if any(isinstance(n, Add) and 0 < sum(map(_has_delta, n.terms)) < len(n.terms)
           for n in (*nodes, *(n for s in item.steps for n in walk(s.after)))):
        yield say.diagonal_only(), HALF
    if any(isinstance(n, Entry) and len(n.indices) > 1 for n in nodes):
        yield say.indices_swapped(), QUARTER
    if any(_negative(i) for n in nodes if isinstance(n, Entry) for index in n.indices for i in walk(index)):
        yield say.index_reversed(), QUARTER
    if any(_negative(n) for value in item.values for n in _outside(value)):
        yield say.sign(), QUARTER
    if _factors(item.steps, 1, "elementwise", "power"):
        yield say.inner_derivative(), HALF


def _factors(taken: Iterable[Step], least: int, *rules: str) -> bool:
    """By one of these rules so many derivatives are multiplied that are neither 0 nor 1, nor a delta alone."""
    return any(sum(not isinstance(p.after, Num | Bracket) or isinstance(p.after, Num) and p.after.value not in (0, 1)
                   for p in step.premises) >= least for step in taken if step.rule in rules)


def _outside(value: Node, *kinds: type[Node]) -> Iterator[Node]:
    """The terms and factors of a value, not what stands in indices, in conditions and in nodes of these kinds."""
    yield value
    for child in () if isinstance(value, (Entry, Bracket, Rel, *kinds)) else value.children():
        yield from _outside(child, *kinds)


def _negative(value: Node) -> bool:
    return isinstance(value, Mul) and any(isinstance(f, Num) and f.value < 0 for f in value.factors)


def _has_delta(value: Expr) -> bool:
    return any(isinstance(n, Bracket) and isinstance(n.cond, Rel) and n.cond.ops == ("=",) for n in walk(value))


def _shared(asked: Sequence[Item], total: int) -> list[Share]:
    """The points shared out by weight, in whole points, or in halves where these leave one of two like items with less.

    No item gets none; where there are more items than half points, neighbours share theirs, and like ones where halves
    would not do, either.
    """
    groups: list[tuple[tuple[Item, ...], int]] = [((item,), item.weight) for item in asked]
    while True:
        weights = [weight for _, weight in groups]
        whole, halves = ([unit * share for share in apportioned(weights, int(total / unit))] for unit in (WHOLE, HALF))
        found = whole if total >= len(groups) and _even(groups, whole) >= _even(groups, halves) else halves
        many = len(groups) > max(1, 2 * total)
        pairs = [n for n, (one, other) in enumerate(pairwise(groups))
                 if many or len({item.weight for item in (*one[0], *other[0])}) == 1]
        if not pairs or not (many or not _even(groups, found)):
            return [Share(group, points) for (group, _), points in zip(groups, found, strict=True)]
        n = min(pairs, key=lambda n: groups[n][1] + groups[n + 1][1])
        (first, mine), (second, theirs) = groups[n : n + 2]
        groups[n : n + 2] = [((*first, *second), mine + theirs)]


def _even(groups: Sequence[tuple[tuple[Item, ...], int]], shares: Sequence[Fraction]) -> bool:
    """Items of equal weight have equal points, those that share theirs too."""
    each = {(item.weight, points / len(group)) for (group, _), points in zip(groups, shares, strict=True)
            for item in group if len({i.weight for i in group}) == 1}
    return len(each) == len({weight for weight, _ in each})
