"""Numbers that a question gives for letters: a slope or a stride is put in, the input x = 2 is a point and stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from derive.errors import CardError, Problem
from derive.expr import Entry, Expr, Idx, Mul, Node, Size, mul, subst, transform, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import Symbol
from derive.question.lexicon import named
from derive.question.prose import Prose
from derive.question.reading import Read, equated, with_sizes_known
from derive.specify.layer import Computed
from derive.specify.places import place
from derive.specify.roles import Role


def with_numbers(layer: Computed, roles: dict[str, Role], differentiated: Iterable[Expr],
                 prose: Prose) -> tuple[Computed, dict[str, Role]]:
    """The definitions with the numbers of constants and strides; of inputs and parameters the letters stay."""
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
    if not known:
        return layer, roles
    gone = {e.tensor for e in known if isinstance(e, Entry)}
    used = tuple(replace(d, value=subst(d.value, known)) for d in layer.used)
    return (replace(layer, used=used, given=tuple(n for n in layer.given if n not in gone)),
            {n: role for n, role in roles.items() if n not in gone})


def _is_point(formula: Formula, prose: Prose, of_size: bool = False) -> bool:
    """The sentence speaks of values at one point, or of a special case; of sizes the latter alone."""
    for gap in prose.gaps:
        whole = gap.formula
        if whole.line == formula.line and whole.column <= formula.column <= whole.column + len(whole.latex):
            start, stop = prose.sentence(gap.start)
            before, behind = prose.text[start : gap.start], prose.text[gap.start + 1 : stop]
            if of_size:
                if named(behind, "point.special"):
                    return True
            elif (_ends(before, "point.set") and _goes_on(behind)) or behind.endswith("?") or _ends(
                    before, "point.at") or named(prose.text[start:stop], "point.value", "point.special"):
                return True
    return False


def _ends(words: str, concept: str) -> bool:
    return any(span.stop == len(words.rstrip()) for span in named(words, concept))


def _goes_on(words: str) -> bool:
    """«with $T = 1$ it is the usual softmax», «with $p = 2$ we get the Euclidean norm»."""
    first = next(iter(named(words, "point.main", "between.article")), None)
    opens = first is not None and not words[: first.start].replace("and", "").strip(" ,∎")
    return first is not None and opens and (first.of("point.main") or bool(named(words, "point.is")))


def with_stated_factors(read: Read) -> tuple[Read, tuple[str, ...]]:
    """The formulas with the number in place of each letter that multiplies an index, and how that was read.

    Raises :class:`CardError` for a letter with two numbers.
    """
    factors = {name for _, node in read.nodes for name in _factors(node)}
    known: dict[str, tuple[int, Formula]] = {}
    for formula, node in read.nodes:
        for letter, value in equated(node):
            if isinstance(letter, Size) and letter.name in factors:
                first, where = known.setdefault(letter.name, (value, formula))
                if first != value:
                    raise CardError(Problem(f"`{letter.name}` is {first} ({place(where)}) and {value} "
                                            f"({place(formula)}); keep one", line=formula.line))
    if not known:
        return read, ()
    numbers = {name: value for name, (value, _) in known.items()}
    table = replace(read.table, symbols=tuple(
        _sized(s, numbers) for s in read.table.symbols if s.name not in numbers))
    nodes = tuple((formula, transform(with_sizes_known(node, numbers), _number_first)) for formula, node in read.nodes)
    readings = (f"`{name}` is {value} ({place(formula)})" for name, (value, formula) in known.items())
    return replace(read, nodes=nodes, table=table, known={**read.known, **numbers}), tuple(readings)


def _sized(symbol: Symbol, numbers: dict[str, int]) -> Symbol:
    return replace(symbol, sizes=tuple(numbers.get(s, s) if isinstance(s, str) else s for s in symbol.sizes))


def _number_first(node: Node) -> Node | None:
    """x_{2k+i} for x_{k2+i}."""
    def ordered(term: Node) -> Node | None:
        return mul(*term.factors) if isinstance(term, Mul) else None

    return Entry(node.tensor, tuple(transform(i, ordered) for i in node.indices)) if isinstance(node, Entry) else None


def _factors(node: Node) -> Iterator[str]:
    """s of x_{st+k}: the sizes that multiply an index in an index term."""
    for entry in walk(node):
        for product in _products(entry.indices if isinstance(entry, Entry) else ()):
            sizes = [n.name for n in walk(product) if isinstance(n, Size)]
            if any(isinstance(n, Idx) for n in walk(product)):
                yield from sizes


def _products(terms: Iterable[Expr]) -> Iterator[Mul]:
    return (n for term in terms for n in walk(term) if isinstance(n, Mul))
