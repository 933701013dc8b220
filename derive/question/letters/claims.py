"""What formulas say besides what a layer computes: claims, facts, numbers; what is refused, and what stays open."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import derive.expr as ex
from derive.errors import CardError, DeriveError, OpenError, Problem, UnsupportedError
from derive.expr import (
    Binder,
    Entry,
    Expr,
    Mul,
    Node,
    Num,
    Reduce,
    Rel,
    Size,
    mul,
    open_binder,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import SymbolTable, identifier, name_of
from derive.question.letters.naming import Mention
from derive.question.words.lexicon import begins, ends, named
from derive.question.words.prose import Prose, one_of
from derive.specify.definitions import Definitions, statements
from derive.specify.facts import facts_given
from derive.specify.layer import Computed
from derive.specify.places import place
from derive.specify.roles import Role

_QUOTED = re.compile(r"“[^”]*”|`[^`]*`")


class Doubts:
    """The refusals of a question, in their order."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    @contextmanager
    def over(self, key: str) -> Iterator[None]:
        """Keep what is refused within where a ``key`` of the front matter settles it."""
        try:
            yield
        except CardError as error:
            if not key:
                raise
            self.problems += [p if p.key else replace(p, key=key) for p in error.problems]

    def settled(self, module: Module) -> Module:
        """The module; raises :class:`OpenError` with it where something is open."""
        if self.problems:
            raise OpenError(*self.told(), found=module)
        return module

    def with_error(self, error: DeriveError) -> DeriveError:
        """The error that ended the reading, behind all that was open before.

        What is not covered stays so, but that nothing is asked for is no news where a request is open.
        """
        asked = any(p.key == "derive" for p in self.problems)
        if not self.problems or isinstance(error, OpenError) or (isinstance(error, UnsupportedError) and not asked):
            return error
        if isinstance(error, UnsupportedError):
            return OpenError(*self.told())
        self.problems += error.problems
        return OpenError(*self.told())

    def told(self) -> Iterator[Problem]:
        """Each problem once, and one about the same words."""
        seen: set[object] = set()
        for problem in self.problems:
            quoted = _QUOTED.search(problem.message)
            about = (problem.line, quoted[0].strip("“”`")) if quoted else problem
            if about not in seen:
                seen.add(about)
                yield problem




def is_claimed(formula: Formula, prose: Prose) -> bool:
    """The sentence in which the formula stands asks to show it, recalls it or speaks of an update."""
    if formula.line < prose.plain.first_line:
        return False  # it stands in the front matter
    at = bisect_left(prose.plain.origin, prose.plain.place(formula) - 2)
    before = re.split(r"[.?!;]\s", prose.text[:at].rstrip("¶ "))[-1]
    return bool(named(before, "claim.shown"))


def computes_nothing(formula: Formula) -> bool:
    r"""An update w \leftarrow w − η ∂ℓ/∂w, or an equation between derivatives."""
    return kind_of(formula) in (Said.UPDATE, Said.DERIVATIVE, Said.GRADIENT)


def without_claims(nodes: Iterable[tuple[Formula, Node]], prose: Prose) -> tuple[tuple[Formula, Node], ...]:
    """The statements without those that are claimed of a letter which another formula defines."""
    nodes = tuple(nodes)
    heads = [_heads(node) for _, node in nodes]
    claimed = [bool(head) and (is_claimed(formula, prose) or _is_condition(formula, node, prose))
               for (formula, node), head in zip(nodes, heads, strict=True)]
    given = {name for (_, node), claim in zip(nodes, claimed, strict=True) if not claim
             for name in _heads(node, numbers=False)}
    return tuple(item for item, head, claim in zip(nodes, heads, claimed, strict=True) if not (
        claim and head & given or head and _is_asked_at(*item, prose)))


def _is_condition(formula: Formula, node: Node, prose: Prose) -> bool:
    """«where $y_n = t_n$», «at $s = 0$»: of two letters, or a letter and a number, behind such a word."""
    if formula.display or not all(isinstance(claim.terms[-1], (Entry, Num)) for claim in statements(node)
                                  if isinstance(claim, Rel)):
        return False
    gap = next((g for g in prose.gaps if g.formula == formula), None)
    return gap is not None and ends(prose.text[: gap.start], "slot.condition")


def _is_asked_at(formula: Formula, node: Node, prose: Prose) -> bool:
    r"""«derive ∂y/∂x_1 at $x_1 = \pi$»: where the derivative is wanted, and no layer."""
    gap = next((g for g in prose.gaps if g.formula == formula), None)
    constant = not any(isinstance(n, Entry) for claim in statements(node) if isinstance(claim, Rel)
                       for n in walk(claim.terms[-1]))
    if gap is None or formula.display or not constant:
        return False
    before = prose.text[prose.sentence(gap.start)[0] : gap.start]
    return bool(named(before, "ask.verb")) and _ends(before, "point.at")


def _heads(node: Node, numbers: bool = True) -> set[str]:
    """The letters that equations of the formula begin with, also those that give a number, y = 1."""
    firsts = [claim.terms[0] for claim in statements(node) if isinstance(claim, Rel) and set(claim.ops) == {"="}
              and (numbers or not isinstance(claim.terms[-1], Num))]
    return {first.tensor for first in firsts if isinstance(first, Entry)}


Failure = tuple[Formula, DeriveError]

_PROBABILITY = re.compile(r"\s*[pP]\s*\(")
_EQUATES = re.compile(r"&?\s*:?=|\\(?:coloneqq|triangleq|equiv|doteq)(?![a-z])")
_LIKE = re.compile(r"\\(?:approx|simeq|propto|cong)(?![a-z])")  # as good as a definition of what stands left of it
_VALUE = re.compile(_LIKE.pattern + r"[^A-Za-z=]*$")
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
    unread = [(f, error) for f, error in failures
              if any(sign.search(_SCRIPT.sub("", f.latex)) for sign in (_EQUATES, _LIKE))]
    outside = [error for f, error in unread if _OUTSIDE.search(f.latex)]
    if outside:
        raise UnsupportedError(*outside[0].problems)
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
        aside = _PROBABILITY.match(formula.latex) or is_claimed(formula, prose) or not _EQUATES.search(formula.latex)
        silent = (aside and head not in open_) or (computes_nothing(formula) and head not in {*asked})
        if not silent and not _VALUE.search(formula.latex):
            yield formula, error


def _head(formula: Formula) -> str | None:
    """y of y_k = …, σ of σ(s) = …; None where something else stands left of =."""
    left = _LIKE.split(_EQUATES.split(formula.latex)[0])[0]
    match = _LETTER.fullmatch(left)
    return None if match is None else identifier(name_of(match[1]))


def refuse_unplaced(unplaced: Iterable[tuple[Rel, Formula]], prose: Prose, output: str, known: Iterable[str]) -> None:
    """Raise :class:`CardError` for an equation that computes something of the layer, and defines no letter."""
    known = {*known}
    for claim, formula in unplaced:
        tensors = {n.tensor for n in walk(claim) if isinstance(n, Entry)}
        computed = any(isinstance(n, Entry) for value in claim.terms[1:] for n in walk(value))
        more = tensors - known or (formula.display and output in tensors)
        if computed and more and not is_claimed(formula, prose):
            raise CardError(Problem(f"{place(formula)}: what stands left of = is no letter, so that it is unclear "
                                    "whether the layer goes on with it; give its value a letter, as in `E = …`",
                                    line=formula.line))


def refuse_undefined(said: Iterable[Mention], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for a letter that the words call a function, and that nothing defines."""
    given = {*given}
    for mention in said:
        called = named(mention.after, "called.function") or ends(mention.before, "called.function", most=3)
        for name in mention.letters if called and len(mention.letters) == 1 else ():
            if name in given:
                raise CardError(Problem(
                    f"`{name}` is called a function ({mention.said}) and is not defined; write what it computes, "
                    rf"e.g. `{name}(s) = \max(0, s)`", line=mention.formula.line))


_SIGNED = re.compile(r"^[^^]+\^\{[+-]\}$")


def refuse_parts(given: Iterable[str], table: SymbolTable, prose: Prose) -> None:
    """Raise :class:`CardError` for an x^+ that nothing defines where the words speak of parts or inverses."""
    called = next(iter(named(prose.text, "called.part")), None)
    for name in given if called else ():
        symbol = table.named(name)
        if called and symbol is not None and _SIGNED.match(symbol.latex):
            quoted = prose.plain.quote(called.start, called.stop)
            raise CardError(Problem(
                f"`{symbol.latex}`: a letter of its own, or the “{quoted}”? Define it, as in `x^+ = \\max(0, x)`",
                line=prose.plain.line(called.start)))


def facts_of(found: Definitions, prose: Prose, named: list[Mention], given: tuple[str, ...],
             table: SymbolTable) -> tuple[ex.Rel | ex.In, ...]:
    """The facts about letters that are given, each once, in a form from which samples can be drawn."""
    facts: dict[ex.Node, None] = {}
    values = [*(d.value for d in found.tensors.values()), *(f.body for f, _ in found.functions.values())]
    branching = {n.tensor for value in values for part in ex.walk(value) if isinstance(part, (ex.Cases, ex.Extremum))
                 for n in ex.walk(part) if isinstance(n, ex.Entry)}
    claims = (c for c, formula in found.facts if not _is_case(c, formula, branching, prose))
    facts |= dict.fromkeys(facts_given(claims, given))
    for mention in named:
        for fact in _facts_in_words(mention, given, table):
            facts.setdefault(fact, None)
    return tuple(f for f in facts if isinstance(f, (ex.Rel, ex.In)))


def _is_case(claim: ex.Rel | ex.In, formula: Formula, branching: set[str], prose: Prose) -> bool:
    """«Express the derivative for $x \\le 0$ by f»: a branch of what is computed of x, not a fact."""
    letters = {n.tensor for n in ex.walk(claim) if isinstance(n, ex.Entry)}
    if formula.display or not letters & branching:
        return False
    here = (gap.start for gap in prose.gaps if (gap.formula.line, gap.formula.column) == (formula.line, formula.column))
    if isinstance(claim, ex.In):
        here = (start for start in here if not prose.text[:start].rstrip().endswith("where"))  # «where $t ∈ (0, 1)$»
    return any(ends(prose.text[:start], "slot.case") and not begins(prose.text, start + 1, "slot.described")
               for start in here)


def _facts_in_words(mention: Mention, given: tuple[str, ...], table: SymbolTable) -> Iterator[ex.Rel | ex.In]:
    text = f"{mention.before} {mention.after}"
    for name in mention.letters:
        symbol = table.named(name)
        if name not in given or symbol is None:
            continue
        entry = ex.Entry(name, tuple(map(ex.Idx, symbol.axes)))
        hot, simplex = named(text, "fact.one_hot"), named(text, "fact.simplex")
        if (hot or simplex) and len(entry.indices) == 1:
            variable = entry.indices[0]
            assert isinstance(variable, ex.Idx)
            yield ex.rel(ex.Reduce("sum", ex.Binder((variable,), (None,), (None,), None), entry), "=", ex.Num(1))
        if hot and entry.indices:
            yield ex.In(entry, ex.Listed((ex.Num(0), ex.Num(1))))
        if not entry.indices and named(text, "fact.positive"):
            yield ex.rel(entry, ">", ex.Num(0))


def with_numbers(layer: Computed, roles: dict[str, Role], differentiated: Iterable[Expr],
                 prose: Prose) -> tuple[Computed, dict[str, Role], tuple[str, ...]]:
    """The definitions with the numbers of constants and strides, and what was put in; inputs and parameters stay."""
    asked = {e.tensor for e in differentiated if isinstance(e, Entry)}
    known: dict[Node, Node] = {}
    for name, (number, formula) in layer.found.numbers.items():
        if name not in layer.given:
            if not _is_point(formula, prose, of_size=True):
                known[Size(name)] = number
            continue
        role = roles[name]
        kept = name in asked or (role.said and role.role != "constants")
        if not kept and not _is_point(formula, prose):
            known[Entry(name, ())] = number
    gone = {e.tensor for e in known if isinstance(e, Entry)}
    used = tuple(replace(d, value=transform(subst(d.value, known), _number_first)) for d in layer.used) if known else (
        layer.used)
    there = known.keys() & {node for d in layer.used for node in walk(d.value)}
    said = (f"the number of ${formula.latex.strip()}$ is put in (line {formula.line})"
            for name, (_, formula) in layer.found.numbers.items() if {Size(name), Entry(name, ())} & there)
    return (replace(layer, used=used, given=tuple(n for n in layer.given if n not in gone)),
            {n: role for n, role in roles.items() if n not in gone}, tuple(said))


def _is_point(formula: Formula, prose: Prose, of_size: bool = False) -> bool:
    """The sentence speaks of values at one point, or of a special case; of sizes the latter alone."""
    for gap in prose.gaps:
        whole = gap.formula
        if whole.line == formula.line and whole.column <= formula.column <= whole.column + len(whole.latex):
            start, stop = prose.sentence(gap.start)
            before, behind = prose.text[start : gap.start], prose.text[gap.start + 1 : stop]
            if of_size:
                asks = _ends(before, "point.at") and named(before, "ask.verb") and (  # «(a) Give $y$ for $M = 1$. (b)»
                    named(prose.text[:start], "ask.verb") or named(prose.text[stop:], "ask.verb"))
                if asks or named(behind, "point.special"):
                    return True
            elif (_ends(before, "point.set") and _goes_on(behind)) or behind.endswith("?") or _ends(
                    before, "point.at") or named(
                    prose.text[start:stop], "point.value", "point.special", "aside.habit") or named(
                    before, "claim.shown", "ask.explain"):  # «verify that $γ = 0$ gives …»
                return True
    return False


def _ends(words: str, concept: str) -> bool:
    return any(span.stop == len(words.rstrip()) for span in named(words, concept))


def _goes_on(words: str) -> bool:
    """«with $T = 1$ it is the usual softmax», «with $p = 2$ we get the Euclidean norm»."""
    first = next(iter(named(words, "point.main", "between.article")), None)
    opens = first is not None and not words[: first.start].replace("and", "").strip(" ,∎")
    return first is not None and opens and (first.of("point.main") or bool(named(words, "point.is")))


def _number_first(node: Node) -> Node | None:
    """x_{2k+i} for x_{k2+i}, x for 1 x; in the limits of a sum, too."""
    if isinstance(node, Reduce):
        binder, body = open_binder(node)
        low, high = (tuple(None if e is None else transform(e, _number_first) for e in end)
                     for end in (binder.lower, binder.upper))
        return Reduce(node.op, Binder(binder.variables, low, high, binder.cond), body)
    return mul(*node.factors) if isinstance(node, Mul) else None
