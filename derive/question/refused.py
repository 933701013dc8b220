"""What a layer is refused for: formulas not read or left open, unknown functions, branches that overlap."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import And, Cases, Cond, Entry, Expr, Infinity, Num, Rel, free_indices, walk
from derive.notation import write
from derive.notation.formulas import Formula, Source
from derive.notation.grammar import parse
from derive.notation.symbols import GREEK, SymbolTable, identifier, name_of
from derive.notation.tree import Command, Env, Group, Item, Items, Scripted, Token, is_group, normal, split, unwrap
from derive.question.claims import computes_nothing, is_claimed
from derive.question.definitions import Definition
from derive.question.naming import Mention
from derive.question.places import place
from derive.question.prose import Prose, one_of

_COMPARE = {"<": lambda a, b: a < b, "≤": lambda a, b: a <= b, ">": lambda a, b: a > b, "≥": lambda a, b: a >= b,
            "=": lambda a, b: a == b, "≠": lambda a, b: a != b}  # fmt: skip


def refuse_branches(used: Iterable[Definition], table: SymbolTable) -> None:
    """Raise :class:`CardError` where conditions on one value and numbers overlap, or leave an interval out."""
    for definition in used:
        for cases in (n for n in walk(definition.value) if isinstance(n, Cases)):
            conds = [cond for _, cond in cases.branches]
            subjects = {s for cond in conds for s in _subjects(cond)}
            if len(subjects) != 1 or (subject := subjects.pop()) is None:
                continue
            for value in _between({n.value for cond in conds for n in walk(cond) if isinstance(n, Num)}):
                holding = {v for v, cond in cases.branches if _holds(cond, value)}
                if len(holding) != 1:
                    what = "have two values" if holding else "have no value"
                    where = f"{write(subject, table)} = {value}"
                    raise CardError(Problem(f"{place(definition.formula)}: the cases {what} at {where}; give every "
                                            "value exactly one branch", line=definition.formula.line))


def _subjects(cond: Cond) -> Iterator[Expr | None]:
    """What is compared with numbers; None for any other condition."""
    for part in cond.conds if isinstance(cond, And) else (cond,):
        if not isinstance(part, Rel):
            yield None
            continue
        yield from (t for t in part.terms if not isinstance(t, (Num, Infinity)))


def _between(numbers: set[Fraction]) -> list[Fraction]:
    """A value inside each interval that the numbers part."""
    ends = sorted(numbers)
    middle = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
    return [ends[0] - 1, *middle, ends[-1] + 1] if ends else []


def _holds(cond: Cond, value: Fraction) -> bool:
    parts = cond.conds if isinstance(cond, And) else (cond,)
    return all(_COMPARE[op](_value(a, value), _value(b, value)) for part in parts if isinstance(part, Rel)
               for a, op, b in zip(part.terms, part.ops, part.terms[1:], strict=False))


def _value(term: Expr, value: Fraction) -> Fraction | float:
    return term.value if isinstance(term, Num) else term.sign * float("inf") if isinstance(term, Infinity) else value


Failure = tuple[Formula, DeriveError]

_PROBABILITY = re.compile(r"\s*[pP]\s*\(")
_EQUATES = re.compile(r"&?\s*:?=|\\(?:coloneqq|triangleq|equiv|doteq)(?![a-z])")
_LETTER = re.compile(
    r"\s*((?:\\(?:mathbf|boldsymbol|bm|mathcal|hat|bar|tilde)\s*)?(?:\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]+))\s*"
    r"(?:_\s*(?:\{[^{}]*\}|\w)\s*)?(?:\([^()]*\)\s*)?"
)
_SCRIPT = re.compile(r"[_^]\s*\{[^{}]*\}")
_OUTSIDE = one_of(  # integrals, expectations, probabilities, distributions
    r"\\i*int(?![a-z])", r"\\oint", r"\\mathbb\s*\{?\s*[EPV]\b", r"\\mathcal\s*\{?\s*[NLO]\b",
    r"\\(?:operatorname|mathrm)\s*\{\s*(?:Var|Cov|E|KL|Pr)", r"\\Pr(?![a-z])", r"\\mid(?![a-z])", r"\\sim(?![a-z])",
    r"(?<![A-Za-z\\])[pP]\s*\([^()]*\|", r"\\lim(?![a-z])", r"\\propto", r"\\det(?![a-z])",
)  # fmt: skip


def refuse_unread(failures: Iterable[Failure]) -> None:
    """Raise the errors of the formulas that could not be read and may say what the layer computes."""
    unread = [(f, error) for f, error in failures if _EQUATES.search(_SCRIPT.sub("", f.latex))]
    outside = [(f, e) for f, e in unread if _OUTSIDE.search(f.latex)]
    if outside:
        formula = outside[0][0]
        raise UnsupportedError(Problem(f"{place(formula)} is outside the notation of layers", line=formula.line))
    if unread:
        raise CardError(*(p for _, error in unread for p in error.problems))


def of_the_layer(
    failures: Iterable[Failure], prose: Prose, letters: Iterable[str], asked: Iterable[str]
) -> Iterator[Failure]:
    """The unread formulas that may change a layer with these given ``letters``; ``asked`` is differentiated.

    A probability p(y = 1 | x) = …, an update and an equation between derivatives do not; what the question claims or
    recalls does where it begins with a letter that nothing else defines.
    """
    open_ = {*letters, *asked}
    for formula, error in failures:
        head = _head(formula)
        silent = _PROBABILITY.match(formula.latex) or (computes_nothing(formula) and head not in {*asked}) or (
            is_claimed(formula, prose) and head not in open_)
        if not silent:
            yield formula, error


def _head(formula: Formula) -> str | None:
    """y of y_k = …, σ of σ(s) = …; None where something else stands left of =."""
    left = _EQUATES.split(formula.latex)[0]
    match = _LETTER.fullmatch(left)
    return None if match is None else identifier(name_of(match[1]))


def refuse_unplaced(unplaced: Iterable[tuple[Rel, Formula]], prose: Prose, output: str, known: Iterable[str]) -> None:
    """Raise :class:`CardError` for an equation that computes something of the layer, and defines no letter."""
    known = {*known}
    for claim, formula in unplaced:
        tensors = {n.tensor for n in walk(claim) if isinstance(n, Entry)}
        computed = any(isinstance(n, Entry) for value in claim.terms[1:] for n in walk(value))
        if formula.display and computed and (output in tensors or tensors - known) and not is_claimed(formula, prose):
            raise CardError(Problem(f"{place(formula)}: what stands left of = is no letter, so that it is unclear "
                                    "whether the layer goes on with it; give its value a letter, as in `E = …`",
                                    line=formula.line))


def refuse_open(used: list[Definition]) -> None:
    """Raise :class:`CardError` for an index on the right that is neither summed over nor on the left."""
    for definition in used:
        left = free_indices(definition.value) - free_indices(definition.entry)
        if left:
            names = ", ".join(f"`{i.name}`" for i in sorted(left, key=lambda i: i.name))
            held = dict.fromkeys(f"`{n.tensor}`" for n in walk(definition.value) if isinstance(n, Entry)
                                 and left & {*n.indices})
            otherwise = (f"a label of {', '.join(held)}, give what it labels a letter of its own" if held else
                         "a number such as a stride, state its value, as in `s = 2`")
            raise CardError(Problem(
                f"{place(definition.formula)}: the index {names} stands on the right and not on the left; write it on "
                f"the left, or sum over it; if it is no index but {otherwise}", line=definition.formula.line))


def refuse_unknown(formulas: Iterable[Formula], given: Iterable[str], tensors: Iterable[str]) -> None:
    """Raise :class:`UnsupportedError` where a letter that nothing defines stands before tensors: g(x), g(x, W)."""
    given, tensors = {*given}, {*tensors}
    for formula, items in _parsed(formulas):
        for name, arguments in _applied(items):
            if name in given and arguments and set(arguments) <= tensors - {name}:
                listed = ", ".join(arguments)
                raise UnsupportedError(Problem(
                    f"`{name}({listed})`: what does the function `{name}` compute? Define it, as in "
                    rf"`{name}(s) = \max(0, s)`, or write `\cdot` for a product", line=formula.line))


def refuse_unknown_outputs(aliases: Iterable[Formula], known: Iterable[str]) -> None:
    """Raise :class:`UnsupportedError` for y = a(f) where nothing defines a: what the layer's output goes through."""
    known = {*known}
    for formula, items in _parsed(aliases):
        for name, arguments in _applied(items):
            if name not in known and arguments and set(arguments) <= known:
                raise UnsupportedError(Problem(
                    f"`{name}({', '.join(arguments)})`: what does the function `{name}` compute? Define it, as in "
                    rf"`{name}(s) = \max(0, s)`", line=formula.line))


def refuse_two_readings(formulas: Iterable[Formula], given: Iterable[str]) -> None:
    """Raise :class:`UnsupportedError` for σ(a + b) where nothing defines σ, and it is a factor nowhere else."""
    parsed = list(_parsed(formulas))
    factors = {n for _, items in parsed for n, group in _letters(items) if group is None}
    suspects = {n for n in given if n in _FUNCTIONS or _is_word(n)} - factors
    for formula, items in parsed:
        for name, group in _letters(items):
            if group is not None and name in suspects and any(_letters(group.items)):
                raise UnsupportedError(Problem(
                    f"`{name}(…)`: a function, or the number `{name}` times what stands in the bracket? Define the "
                    rf"function, as in `{name}(s) = \max(0, s)`, or write `\cdot` for a product", line=formula.line))


def _parsed(formulas: Iterable[Formula]) -> Iterator[tuple[Formula, Items]]:
    for formula in formulas:
        try:
            yield formula, parse(Source(formula.latex))
        except (DeriveError, RecursionError):
            continue


def _letters(items: Items) -> Iterator[tuple[str, Group | None]]:
    """Every letter outside subscripts, with the parenthesis behind it."""
    for n, item in enumerate(items):
        base = item.base if isinstance(item, Scripted) else item
        if isinstance(base, Token) and base.type == "NAME":
            following = normal(items[n + 1]) if n + 1 < len(items) else None
            group = following.base if isinstance(following, Scripted) else following
            yield identifier(base.text), group if is_group(group, "LPAREN") else None
        for run in _inside(item, base):
            yield from _letters(run)


def _inside(item: Item, base: Item) -> Iterator[Items]:
    if isinstance(base, (Group, Env)):
        yield base.items
    yield from base.arguments if isinstance(base, Command) else ()
    yield from item.sups if isinstance(item, Scripted) else ()


_FUNCTIONS = frozenset("sigma phi varphi psi f g h".split())  # the field's letters for functions


def _is_word(name: str) -> bool:
    """softmax and net: no letter of an alphabet."""
    return len(name) > 2 and name.isascii() and name.isalpha() and name not in GREEK


_FUNCTION = one_of(
    r"\b(?:activation|transfer|nonlinear|non-linear|aktivační)\w* fun\w+", r"\bnon-?linearity", r"\bnelinearit\w*"
)


def refuse_undefined(named: Iterable[Mention], given: Iterable[str]) -> None:
    """Raise :class:`UnsupportedError` for a letter that the words call a function, and that nothing defines."""
    given = {*given}
    for mention in named:
        called = _FUNCTION.search(mention.after) or _FUNCTION.search(mention.before)
        for name in mention.letters if called and len(mention.letters) == 1 else ():
            if name in given:
                raise UnsupportedError(Problem(
                    f"`{name}` is called a function ({mention.said}) and is not defined; write what it computes, "
                    rf"e.g. `{name}(s) = \max(0, s)`", line=mention.formula.line))


_SIGNED = re.compile(r"^[^^]+\^\{[+-]\}$")
_PART = one_of(r"\b(?:positive|negative) parts?\b", r"\bpseudo-?inverse", r"\bmoore\b")


def refuse_parts(given: Iterable[str], table: SymbolTable, prose: Prose) -> None:
    """Raise :class:`UnsupportedError` for an x^+ that nothing defines where the words speak of parts or inverses."""
    called = _PART.search(prose.text)
    for name in given if called else ():
        symbol = table.named(name)
        if called and symbol is not None and _SIGNED.match(symbol.latex):
            quoted = prose.plain.quote(*called.span())
            raise UnsupportedError(Problem(
                f"`{symbol.latex}`: a letter of its own, or the “{quoted}”? Define it, as in `x^+ = \\max(0, x)`",
                line=prose.plain.line(called.start())))


def _applied(items: Items) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(letter, the letters in the parenthesis behind it) wherever only letters stand there."""
    for n, item in enumerate(items):
        base = item.base if isinstance(item, Scripted) else item
        following = normal(items[n + 1]) if n + 1 < len(items) else None
        group = following.base if isinstance(following, Scripted) else following
        if isinstance(base, Token) and base.type == "NAME" and is_group(group, "LPAREN"):
            parts = [unwrap(p) for p in split(group.items, "COMMA", "SEMI")]
            letters = [p[0].text for p in parts if len(p) == 1 and isinstance(p[0], Token) and p[0].type == "NAME"]
            if len(letters) == len(parts):
                yield identifier(base.text), tuple(map(identifier, letters))
        if isinstance(base, (Group, Env)):
            yield from _applied(base.items)
        for run in base.arguments if isinstance(base, Command) else ():
            yield from _applied(run)
        for run in (*item.subs, *item.sups) if isinstance(item, Scripted) else ():
            yield from _applied(run)
